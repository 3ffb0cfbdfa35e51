# The programs from outside: the tool, the examples, and the pictures that one of them reads.
TEST_PACKAGES += tests/tools/edge.gpk tests/tools/bench.gpk tests/tools/motion.gpk tests/tools/tune.gpk
EXTRA_DIST += tests/tools/tune.gk tests/long/tune_check.sh
tests/tools/edge.gpk: kernels/edge.gk
	$(COMPILE_KERNEL)
tests/tools/bench.gpk: kernels/bench.gk
	$(COMPILE_KERNEL)
tests/tools/motion.gpk: kernels/motion.gk
	$(COMPILE_KERNEL)

if HAVE_CMOCKA
check_PROGRAMS += tests/tools/test_tool tests/tools/test_edge tests/tools/test_png \
	tests/tools/test_bench tests/tools/test_config_check tests/tools/test_tune \
	tests/tools/test_tune_contest tests/tools/test_tune_section
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

if HAVE_CMOCKA
check_PROGRAMS += tests/tools/test_bench_rates
endif
tests_tools_test_bench_rates_SOURCES = tests/tools/test_bench_rates.c $(TOOLS_COMMON)
tests_tools_test_bench_rates_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_bench_rates_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS) -lm

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

tests_tools_test_tune_SOURCES = tests/tools/test_tune.c $(TOOLS_COMMON)
tests_tools_test_tune_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_tune_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)

tests_tools_test_tune_contest_SOURCES = tests/tools/test_tune_contest.c \
	tools/tune/contest.h tools/tune/contest.c tools/tune/estimate.h tools/tune/estimate.c \
	tools/bench/statistics.h tools/bench/statistics.c
tests_tools_test_tune_contest_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_tune_contest_LDADD = $(CMOCKA_LIBS) -lm

tests_tools_test_tune_section_SOURCES = tests/tools/test_tune_section.c \
	tests/unit/scratch.h tests/unit/scratch.c tools/output.h tools/output.c \
	tools/tune/section.h tools/tune/section.c tools/tune/ini_lines.h tools/tune/ini_lines.c \
	tools/tune/tuned.h tools/tune/tuned.c tools/tune/userfile.h tools/tune/userfile.c \
	core/ascii.h core/ascii.c core/model.h core/model.c
tests_tools_test_tune_section_CFLAGS = $(TOOLS_CFLAGS)
tests_tools_test_tune_section_LDADD = libgantry.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
