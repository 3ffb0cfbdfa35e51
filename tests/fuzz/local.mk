# Fuzz targets, each a program file with one function. tests/fuzz/README.md says how to add one.
FUZZ_SECONDS = 60
FUZZ_COMMON = tests/fuzz/fuzz.h
FUZZ_REPLAY = tests/fuzz/replay.c $(FUZZ_COMMON)

# Every build replays the corpus.
check_PROGRAMS += tests/fuzz/replay_ini tests/fuzz/replay_match

tests_fuzz_replay_ini_SOURCES = tests/fuzz/fuzz_ini.c $(FUZZ_REPLAY)
tests_fuzz_replay_ini_LDADD = libgantry_core.la
tests_fuzz_replay_match_SOURCES = tests/fuzz/fuzz_match.c $(FUZZ_REPLAY)
tests_fuzz_replay_match_LDADD = libgantry_core.la

# libFuzzer is clang's, whatever compiler makes the rest: what a target needs of core is compiled anew.
FUZZ_CONFIG_CORE = \
	core/arena.c core/ascii.c core/utf8.c core/remarks.c core/status.c core/names.c core/ini.c \
	core/match.c core/model.c core/tie.c core/options.c core/option_parse.c core/rules.c \
	core/rules_section.c core/resolve.c
FUZZ_FLAGS = -std=c11 -D_GNU_SOURCE -DGANTRY_BUILDING -Iinclude -I. $(INIH_CFLAGS) -g -O1 \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_COMPILE = $(AM_V_GEN)$(MKDIR_P) $(@D) && cd $(srcdir) && \
	$(CLANG) $(FUZZ_FLAGS) -o $(abs_top_builddir)/$@

if HAVE_LIBFUZZER
FUZZERS = tests/fuzz/fuzz_ini tests/fuzz/fuzz_match
check_DATA += $(FUZZERS)
endif
CLEANFILES += tests/fuzz/fuzz_ini tests/fuzz/fuzz_match

# The library stands for its sources and headers.
tests/fuzz/fuzz_ini: tests/fuzz/fuzz_ini.c $(FUZZ_COMMON) libgantry_core.la
	$(FUZZ_COMPILE) tests/fuzz/fuzz_ini.c $(FUZZ_CONFIG_CORE) $(INIH_LIBS)
tests/fuzz/fuzz_match: tests/fuzz/fuzz_match.c $(FUZZ_COMMON) libgantry_core.la
	$(FUZZ_COMPILE) tests/fuzz/fuzz_match.c $(FUZZ_CONFIG_CORE) $(INIH_LIBS)

# For longer than the tests do, a target after the other: make fuzz FUZZ_SECONDS=3600
.PHONY: fuzz
fuzz: $(FUZZERS)
	@for target in ini match; do \
		echo "fuzzing $$target for $(FUZZ_SECONDS) seconds"; \
		$(srcdir)/tests/fuzz/run.sh $(GANTRY_HAVE_LIBFUZZER) tests/fuzz/fuzz_$$target \
			$(srcdir)/tests/fuzz/corpus/$$target tests/fuzz/found/$$target $(FUZZ_SECONDS) \
			$(srcdir)/tests/fuzz/$$target.dict || exit 1; \
	done

EXTRA_DIST += tests/fuzz/README.md tests/fuzz/run.sh tests/fuzz/ini.dict tests/fuzz/match.dict \
	tests/fuzz/corpus
