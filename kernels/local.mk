# Kernel packages. NAME.gk is compiled by the program that this build has just made, into NAME.gpk and
# the header NAME.h, beside each other in the build tree. A header is made with its package, so an
# object whose source includes it depends on it:
#
#     tests/conform/suite-launch.$(OBJEXT): tests/conform/launch.h
#
# A test's packages are added to TEST_PACKAGES, their sources to EXTRA_DIST. They have an image for the
# host's processor as well, for the plugins and drivers of the tests; it lies beside the package by
# itself, as NAME.so. A package of a .gk file in another folder is
#
#     tests/tools/edge.gpk: kernels/edge.gk
#     	$(COMPILE_KERNEL)
#
# With --with-packages=DIR nothing is compiled: the same files are copied from the other build.
SUFFIXES += .gk .gpk .h

KERNEL_LANGUAGE = include/gantry/kernel.h include/gantry/kernel_glsl.h \
	include/gantry/kernel_cuda.h include/gantry/kernel_host.h \
	include/gantry/kernel_host_math.h include/gantry/kernel_host_run.h

# $@ is the package, $< its source.
KERNEL_BASE = $(@:.gpk=)
if REUSE_PACKAGES
COMPILE_KERNEL = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	case $@ in tests/*) cp $(PACKAGES_DIR)/$(KERNEL_BASE).so $(KERNEL_BASE).so;; esac && \
	cp $(PACKAGES_DIR)/$@ $@ && \
	cp $(PACKAGES_DIR)/$(KERNEL_BASE).h $(KERNEL_BASE).h
else
COMPILE_KERNEL = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	case $@ in \
	tests/kernels/*) more="--targets host --host-so $(KERNEL_BASE).so --prefix gantry_";; \
	tests/*) more="--targets $(TEST_TARGETS) --host-so $(KERNEL_BASE).so";; \
	*/gantry-kernels.gpk) more="--prefix gantry_";; \
	*) more=--embed;; \
	esac && \
	tools/gantry$(EXEEXT) compile $< -o $@ --header $(KERNEL_BASE).h -I $(top_srcdir)/include \
		$$more && \
	touch $(KERNEL_BASE).h
endif
if HAVE_NVCC
TEST_TARGETS = spirv,cuda,source,host
else
TEST_TARGETS = spirv,source,host
endif

.gk.gpk:
	$(COMPILE_KERNEL)

# The header came with the package and is younger; here it only comes back when it was removed.
.gpk.h:
	@test -f $@ || { rm -f $<; $(MAKE) $(AM_MAKEFLAGS) $<; }

KERNELS = kernels/bench.gpk kernels/edge.gpk kernels/motion.gpk kernels/saxpy.gpk kernels/gantry-kernels.gpk
TEST_PACKAGES =
EXTRA_DIST += $(KERNELS:.gpk=.gk) $(KERNEL_LIBRARY)

# The kernel library: what gantry-kernels.gk includes, a file a noun. Its C names begin with gantry_, and
# its package is too large to lie in the header.
KERNEL_LIBRARY = \
	kernels/library/vector.gk \
	kernels/library/block.gk \
	kernels/library/copy.gk \
	kernels/library/saxpy.gk \
	kernels/library/sum.gk \
	kernels/library/scan.gk \
	kernels/library/scan_tile.gk \
	kernels/library/histogram.gk \
	kernels/library/sort.gk \
	kernels/library/transpose.gk \
	kernels/library/rows.gk \
	kernels/library/softmax.gk \
	kernels/library/layer_norm.gk \
	kernels/library/product.gk \
	kernels/library/matmul.gk \
	kernels/library/linear.gk \
	kernels/library/convolution.gk \
	kernels/library/particles.gk
kernels/gantry-kernels.gpk: $(KERNEL_LIBRARY)
check_DATA += $(TEST_PACKAGES)

# Or make removes a package that it made only for the sake of its header.
.SECONDARY: $(KERNELS) $(TEST_PACKAGES)

CLEANFILES += $(KERNELS) $(KERNELS:.gpk=.h) \
	$(TEST_PACKAGES) $(TEST_PACKAGES:.gpk=.h) $(TEST_PACKAGES:.gpk=.so)

if !REUSE_PACKAGES
$(KERNELS) $(TEST_PACKAGES): tools/gantry$(EXEEXT) $(KERNEL_LANGUAGE)
endif

# What another build's --with-packages needs beside `make all`.
.PHONY: test-packages
test-packages: $(TEST_PACKAGES)

kernelsdir = $(pkgdatadir)/kernels
kernels_DATA = $(KERNELS)

# Installed as <gantry/kernels/NAME.h>; in the smaller ones are the package's bytes.
kernelsincludedir = $(includedir)/gantry/kernels
kernelsinclude_HEADERS = kernels/algorithms.h
nodist_kernelsinclude_HEADERS = $(KERNELS:.gpk=.h)
