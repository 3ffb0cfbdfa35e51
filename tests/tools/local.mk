# The programs from outside: the tool, the examples, and the pictures that one of them reads.
TEST_PACKAGES += tests/tools/edge.gpk tests/tools/bench.gpk
tests/tools/edge.gpk: kernels/edge.gk
	$(COMPILE_KERNEL)
tests/tools/bench.gpk: kernels/bench.gk
	$(COMPILE_KERNEL)

if HAVE_CMOCKA
check_PROGRAMS += tests/tools/test_tool tests/tools/test_edge tests/tools/test_png \
	tests/tools/test_bench tests/tools/test_config_check
endif

TOOLS_COMMON = tests/tools/run.h tests/tools/run.c tests/unit/scratch.h tests/unit/scratch.c
TOOLS_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JANSSON_CFLAGS) $(LIBPNG_CFLAGS)

tests_tools_test_tool_SOURCES = tests/tools/test_tool.c $(TOOLS_COMMON)
tests_tools_test_tool_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_tool_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)

tests_tools_test_edge_SOURCES = tests/tools/test_edge.c $(TOOLS_COMMON) \
	examples/png.h examples/png.c
tests_tools_test_edge_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_edge_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS) $(LIBPNG_LIBS)

tests_tools_test_bench_SOURCES = tests/tools/test_bench.c $(TOOLS_COMMON)
tests_tools_test_bench_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_bench_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)

tests_tools_test_png_SOURCES = tests/tools/test_png.c examples/png.h examples/png.c \
	tests/unit/scratch.h tests/unit/scratch.c
tests_tools_test_png_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_png_LDADD = $(CMOCKA_LIBS) $(LIBPNG_LIBS)

tests_tools_test_config_check_SOURCES = tests/tools/test_config_check.c $(TOOLS_COMMON)
tests_tools_test_config_check_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_config_check_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)

EXTRA_DIST += tests/tools/readme.sh tests/tools/mistakes.ini

if HAVE_CMOCKA
check_PROGRAMS += tests/tools/test_discovery
endif
tests_tools_test_discovery_SOURCES = tests/tools/test_discovery.c $(TOOLS_COMMON)
tests_tools_test_discovery_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_discovery_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)
