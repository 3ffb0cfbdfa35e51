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

# A loader in front of Vulkan's, likewise found as libvulkan.so.1; an object that lets gantry's own
# allocations fail; the main job, and what lets it fail.
if HAVE_VULKAN
check_LTLIBRARIES += tests/faults/vulkan/libvulkan.la
tests_faults_vulkan_libvulkan_la_SOURCES = tests/faults/vulkan/commands.h tests/faults/vulkan/loader.c
tests_faults_vulkan_libvulkan_la_LDFLAGS = -version-info 1:0:0 -no-undefined -rpath /nowhere
tests_faults_vulkan_libvulkan_la_LIBADD = -ldl
endif

check_LTLIBRARIES += tests/faults/malloc/malloc.la
tests_faults_malloc_malloc_la_SOURCES = tests/faults/malloc/malloc.c
tests_faults_malloc_malloc_la_LDFLAGS = -module -avoid-version -no-undefined -rpath /nowhere
tests_faults_malloc_malloc_la_LIBADD = -ldl -lpthread

check_PROGRAMS += tests/faults/job tests/faults/torture
tests_faults_job_SOURCES = tests/faults/job.h tests/faults/job.c tests/faults/job_steps.c
tests_faults_job_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/tests/conform \
	-DPACKAGES='"$(abs_top_builddir)/tests/conform"'
tests_faults_job_LDFLAGS = -no-install # not a script, which would be tortured too
tests_faults_job_LDADD = libgantry.la
$(tests_faults_job_OBJECTS): tests/conform/launch.h

tests_faults_torture_SOURCES = \
	tests/faults/torture.h tests/faults/torture.c tests/faults/injectors.c tests/faults/run.c
tests_faults_torture_LDADD = -ldl

# Losing a device.
check_PROGRAMS += tests/faults/lost
tests_faults_lost_SOURCES = tests/faults/lost.h tests/faults/lost.c tests/faults/lost_scenarios.c
tests_faults_lost_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/tests/conform \
	-DPACKAGES='"$(abs_top_builddir)/tests/conform"'
tests_faults_lost_LDADD = libgantry.la
$(tests_faults_lost_OBJECTS): tests/conform/launch.h
EXTRA_DIST += tests/faults/lost_vulkan.sh

# Drivers, compilers and images that don't fit each other.
check_LTLIBRARIES += tests/faults/half/libcuda.la tests/faults/libnvrtc/libnvrtc.la \
	tests/faults/libnvrtc/old/libnvrtc.la
tests_faults_half_libcuda_la_SOURCES = tests/faults/half/half.c
tests_faults_half_libcuda_la_LDFLAGS = -version-info 1:0:0 -no-undefined -rpath /nowhere
tests_faults_libnvrtc_libnvrtc_la_SOURCES = tests/faults/libnvrtc/nvrtc.c
tests_faults_libnvrtc_libnvrtc_la_LDFLAGS = -version-info 13:0:0 -no-undefined -rpath /nowhere
tests_faults_libnvrtc_old_libnvrtc_la_SOURCES = tests/faults/libnvrtc/nvrtc.c
tests_faults_libnvrtc_old_libnvrtc_la_CPPFLAGS = $(AM_CPPFLAGS) -DWITHOUT_CUBIN
tests_faults_libnvrtc_old_libnvrtc_la_LDFLAGS = -version-info 13:0:0 -no-undefined -rpath /nowhere

check_PROGRAMS += tests/faults/mismatch
tests_faults_mismatch_SOURCES = tests/faults/mismatch.c $(BUILDER)
tests_faults_mismatch_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) \
	-DPACKAGES='"$(abs_top_builddir)/tests/conform"'
tests_faults_mismatch_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
tests_faults_mismatch_LDADD = libgantry.la $(XXHASH_LIBS)

# docs/reliability.md from what the latest `make check` and `make check-long` of this folder printed.
EXTRA_DIST += tests/faults/table.sh tests/faults/README.md
.PHONY: reliability
reliability:
	$(srcdir)/tests/faults/table.sh $(srcdir)/docs/reliability.md \
		`ls tests/Testing/Temporary/LastTest.log tests/long/Testing/Temporary/LastTest.log 2>/dev/null`
