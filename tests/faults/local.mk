# A stand-in for NVIDIA's driver, found as libcuda.so.1 through LD_LIBRARY_PATH.
check_LTLIBRARIES += tests/faults/libcuda/libcuda.la
tests_faults_libcuda_libcuda_la_SOURCES = \
	tests/faults/libcuda/standin.h tests/faults/libcuda/settings.c \
	tests/faults/libcuda/books.c tests/faults/libcuda/device.c \
	tests/faults/libcuda/memory.c tests/faults/libcuda/image.c \
	tests/faults/libcuda/module.c tests/faults/libcuda/work.c \
	tests/faults/libcuda/stream.c tests/faults/libcuda/graph.c \
	tests/faults/libcuda/table.c
tests_faults_libcuda_libcuda_la_LDFLAGS = -version-info 1:0:0 -no-undefined -rpath /nowhere
tests_faults_libcuda_libcuda_la_LIBADD = -ldl -lpthread
EXTRA_DIST += tests/faults/libcuda/README.md

if HAVE_CMOCKA
check_PROGRAMS += tests/faults/libcuda/selftest
tests_faults_libcuda_selftest_SOURCES = tests/faults/libcuda/selftest.c backends/cuda/symbols.c
tests_faults_libcuda_selftest_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_faults_libcuda_selftest_LDADD = $(CMOCKA_LIBS) -ldl
endif
