# The kernel library against plain C, one program asked for one device after the other. It is the conformance
# suite's rig with other cases.
TEST_PACKAGES += tests/kernels/gantry-kernels.gpk
# The same kernels with an image for the host alone: the others are in kernels/gantry-kernels.gpk.
tests/kernels/gantry-kernels.gpk: kernels/gantry-kernels.gk $(KERNEL_LIBRARY)
	$(COMPILE_KERNEL)

check_PROGRAMS += tests/kernels/kernels_test
tests_kernels_kernels_test_SOURCES = \
	tests/conform/program.c tests/conform/conform.h tests/conform/run.h tests/conform/run.c \
	tests/conform/checks.c tests/conform/objects.c \
	tests/kernels/main.c tests/kernels/rig.c tests/kernels/rig.h tests/kernels/reference.h \
	tests/kernels/test_copy.c tests/kernels/reference_elementwise.c \
	tests/kernels/test_sum.c tests/kernels/test_scan.c tests/kernels/reference_sum.c \
	tests/kernels/ordered.c \
	tests/kernels/test_sort.c tests/kernels/reference_sort.c \
	tests/kernels/test_big.c \
	tests/kernels/dense.c tests/kernels/dense.h \
	tests/kernels/reference_dense.c tests/kernels/reference_dense.h \
	tests/kernels/test_dense_transpose.c tests/kernels/test_dense_rows.c \
	tests/kernels/test_dense_matmul.c tests/kernels/test_dense_linear.c \
	tests/kernels/test_dense_convolution.c tests/kernels/test_dense_particles.c \
	tests/kernels/test_dense_fold.c tests/kernels/test_dense_big.c
tests_kernels_kernels_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/kernels \
	-DPACKAGES='"$(abs_top_builddir)/kernels"'
tests_kernels_kernels_test_LDADD = libgantry.la -lm

$(tests_kernels_kernels_test_OBJECTS): kernels/gantry-kernels.h

EXTRA_DIST += tests/kernels/README.md
