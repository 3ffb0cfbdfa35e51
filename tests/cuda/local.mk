# The CUDA plugin driven through its table, without core; and the same plugin with the order of
# launches left out, whose chains must go wrong.
check_PROGRAMS += tests/cuda/selftest
tests_cuda_selftest_CFLAGS = $(AM_CFLAGS) -pthread
tests_cuda_selftest_LDADD = -ldl
tests_cuda_selftest_SOURCES = \
	tests/cuda/harness.h tests/cuda/harness.c tests/cuda/kernels.c tests/cuda/chain.c \
	tests/cuda/test_memory.c tests/cuda/test_kernel.c tests/cuda/test_plan.c \
	tests/cuda/test_table.c tests/cuda/test_once.c \
	tests/cuda/test_queue.c tests/cuda/test_lost.c tests/cuda/test_torture.c \
	tests/cuda/measure.c tests/cuda/measure_calls.c backends/cuda/symbols.c tests/cuda/selftest.c

check_LTLIBRARIES += tests/cuda/unordered/gantry-cuda.la
tests_cuda_unordered_gantry_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DGANTRY_TEST_DROP_BARRIER
tests_cuda_unordered_gantry_cuda_la_CFLAGS = $(AM_CFLAGS) -pthread
tests_cuda_unordered_gantry_cuda_la_LDFLAGS = $(PLUGIN_LINK) -rpath /nowhere
tests_cuda_unordered_gantry_cuda_la_SOURCES = $(CUDA_PLUGIN_SOURCES)

check_LTLIBRARIES += tests/cuda/host_kernels.la
tests_cuda_host_kernels_la_SOURCES = tests/cuda/host_kernels.c
tests_cuda_host_kernels_la_LDFLAGS = -module -avoid-version -rpath /nowhere
EXTRA_DIST += tests/cuda/torture.sh
