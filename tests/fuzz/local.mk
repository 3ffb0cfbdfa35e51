# Fuzz targets, each a program file with one function. tests/fuzz/README.md says how to add one.
FUZZ_SECONDS = 60
FUZZ_TARGETS = ini match package scan section profile
FUZZ_COMMON = tests/fuzz/fuzz.h
FUZZ_REPLAY = tests/fuzz/replay.c $(FUZZ_COMMON)
FUZZ_PAPER = tests/fuzz/paper_device.c tests/fuzz/paper_device.h
FUZZ_SCANNER = \
	tools/compile/unit.c tools/compile/pool.c tools/compile/token.c tools/compile/scan.c \
	tools/compile/scan_kernel.c tools/compile/scan_pointer.c tools/compile/scan_record.c \
	tools/compile/words.c tools/compile/lint.c tools/compile/flow.c
FUZZ_WRITER = tools/tune/section.c tools/tune/ini_lines.c tools/tune/tuned.c
FUZZ_READER = tools/profile.c tools/output.c

# Every build replays the corpus.
check_PROGRAMS += tests/fuzz/replay_ini tests/fuzz/replay_match tests/fuzz/replay_package \
	tests/fuzz/replay_scan tests/fuzz/replay_section tests/fuzz/replay_profile

tests_fuzz_replay_ini_SOURCES = tests/fuzz/fuzz_ini.c $(FUZZ_REPLAY)
tests_fuzz_replay_ini_LDADD = libgantry_core.la
tests_fuzz_replay_match_SOURCES = tests/fuzz/fuzz_match.c $(FUZZ_REPLAY)
tests_fuzz_replay_match_LDADD = libgantry_core.la
tests_fuzz_replay_package_SOURCES = tests/fuzz/fuzz_package.c $(FUZZ_PAPER) $(FUZZ_REPLAY)
tests_fuzz_replay_package_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
tests_fuzz_replay_package_LDADD = libgantry_core.la
tests_fuzz_replay_scan_SOURCES = tests/fuzz/fuzz_scan.c $(FUZZ_SCANNER) $(FUZZ_REPLAY)
tests_fuzz_replay_section_SOURCES = tests/fuzz/fuzz_section.c $(FUZZ_WRITER) $(FUZZ_REPLAY)
tests_fuzz_replay_section_LDADD = libgantry_core.la
tests_fuzz_replay_profile_SOURCES = tests/fuzz/fuzz_profile.c $(FUZZ_READER) $(FUZZ_REPLAY)
tests_fuzz_replay_profile_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_replay_profile_LDADD = libgantry_core.la $(JANSSON_LIBS)

# Needs the validator as a library, which a distribution may lack.
FUZZ_REFLECTOR = $(FUZZ_SCANNER) tools/compile/reflect.c tools/compile/spirv.c tools/compile/writes.c
if HAVE_SPIRV_TOOLS
FUZZ_TARGETS += reflection
check_PROGRAMS += tests/fuzz/replay_reflection
tests_fuzz_replay_reflection_SOURCES = tests/fuzz/fuzz_reflection.c $(FUZZ_REFLECTOR) $(FUZZ_REPLAY)
tests_fuzz_replay_reflection_CFLAGS = \
	$(AM_CFLAGS) $(SPIRV_CROSS_CFLAGS) $(SPIRV_TOOLS_CFLAGS) $(XXHASH_CFLAGS)
tests_fuzz_replay_reflection_LDADD = \
	libgantry_core.la $(SPIRV_CROSS_LIBS) $(SPIRV_TOOLS_LIBS) -lstdc++ $(XXHASH_LIBS)
endif

# Writes corpus/package.
check_PROGRAMS += tests/fuzz/package_seeds
tests_fuzz_package_seeds_SOURCES = tests/fuzz/package_seeds.c tests/unit/gpk_builder.c \
	tests/unit/gpk_builder.h $(FUZZ_COMMON)
tests_fuzz_package_seeds_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
tests_fuzz_package_seeds_LDADD = libgantry_core.la

# libFuzzer is clang's, whatever compiler makes the rest: core is compiled anew, once for all targets.
FUZZ_CHECKS = address,undefined -fno-sanitize-recover=undefined
FUZZ_FLAGS = -std=c11 -D_GNU_SOURCE $(INIH_CFLAGS) $(XXHASH_CFLAGS) -g -O1
FUZZ_LIBS = $(abs_top_builddir)/tests/fuzz/core.a $(INIH_LIBS) $(XXHASH_LIBS) -ldl -lpthread -lm
FUZZ_COMPILE = $(AM_V_GEN)cd $(srcdir) && $(CLANG) -Iinclude -I. $(FUZZ_FLAGS) \
	-fsanitize=fuzzer,$(FUZZ_CHECKS) -o $(abs_top_builddir)/$@

FUZZ_ALL = tests/fuzz/fuzz_ini tests/fuzz/fuzz_match tests/fuzz/fuzz_package \
	tests/fuzz/fuzz_scan tests/fuzz/fuzz_section tests/fuzz/fuzz_profile

if HAVE_SPIRV_TOOLS
FUZZ_ALL += tests/fuzz/fuzz_reflection
endif
if HAVE_LIBFUZZER
FUZZERS = $(FUZZ_ALL)
check_DATA += $(FUZZERS)
endif
CLEANFILES += tests/fuzz/core.a $(FUZZ_ALL)

# The library stands for its sources and headers.
tests/fuzz/core.a: libgantry_core.la
	$(AM_V_GEN)rm -rf $@ tests/fuzz/core && $(MKDIR_P) tests/fuzz/core && \
	for file in $(libgantry_core_la_SOURCES); do \
		case $$file in *.h) continue ;; esac; \
		$(CLANG) $(CORE_CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_CHECKS) \
			-c $(srcdir)/$$file -o tests/fuzz/$${file%.c}.o || exit 1; \
	done && \
	$(AR) rc $@ tests/fuzz/core/*.o && rm -rf tests/fuzz/core

tests/fuzz/fuzz_ini: tests/fuzz/fuzz_ini.c $(FUZZ_COMMON) tests/fuzz/core.a
	$(FUZZ_COMPILE) tests/fuzz/fuzz_ini.c $(FUZZ_LIBS)
tests/fuzz/fuzz_match: tests/fuzz/fuzz_match.c $(FUZZ_COMMON) tests/fuzz/core.a
	$(FUZZ_COMPILE) tests/fuzz/fuzz_match.c $(FUZZ_LIBS)
tests/fuzz/fuzz_package: tests/fuzz/fuzz_package.c tests/fuzz/mutate_package.c $(FUZZ_PAPER) \
		$(FUZZ_COMMON) tests/fuzz/core.a
	$(FUZZ_COMPILE) tests/fuzz/fuzz_package.c tests/fuzz/mutate_package.c \
		tests/fuzz/paper_device.c $(FUZZ_LIBS)
tests/fuzz/fuzz_scan: tests/fuzz/fuzz_scan.c $(FUZZ_SCANNER) $(FUZZ_COMMON) tests/fuzz/core.a
	$(FUZZ_COMPILE) tests/fuzz/fuzz_scan.c $(FUZZ_SCANNER) $(FUZZ_LIBS)
tests/fuzz/fuzz_section: tests/fuzz/fuzz_section.c $(FUZZ_WRITER) $(FUZZ_COMMON) tests/fuzz/core.a
	$(FUZZ_COMPILE) tests/fuzz/fuzz_section.c $(FUZZ_WRITER) $(FUZZ_LIBS)
tests/fuzz/fuzz_profile: tests/fuzz/fuzz_profile.c $(FUZZ_READER) $(FUZZ_COMMON) tests/fuzz/core.a
	$(FUZZ_COMPILE) $(JANSSON_CFLAGS) tests/fuzz/fuzz_profile.c $(FUZZ_READER) $(FUZZ_LIBS) \
		$(JANSSON_LIBS)
tests/fuzz/fuzz_reflection: tests/fuzz/fuzz_reflection.c tests/fuzz/mutate_spirv.c $(FUZZ_REFLECTOR) \
		$(FUZZ_COMMON) tests/fuzz/core.a
	$(FUZZ_COMPILE) $(SPIRV_CROSS_CFLAGS) $(SPIRV_TOOLS_CFLAGS) tests/fuzz/fuzz_reflection.c \
		tests/fuzz/mutate_spirv.c $(FUZZ_REFLECTOR) $(FUZZ_LIBS) $(SPIRV_CROSS_LIBS) \
		$(SPIRV_TOOLS_LIBS) -lstdc++

# For longer than the tests do, a target after the other: make fuzz FUZZ_SECONDS=3600
.PHONY: fuzz
fuzz: $(FUZZERS)
	@for target in $(FUZZ_TARGETS); do \
		echo "fuzzing $$target for $(FUZZ_SECONDS) seconds"; \
		$(srcdir)/tests/fuzz/run.sh $(GANTRY_HAVE_LIBFUZZER) tests/fuzz/fuzz_$$target \
			$(srcdir)/tests/fuzz/corpus/$$target tests/fuzz/found/$$target $(FUZZ_SECONDS) \
			$(srcdir)/tests/fuzz/$$target.dict || exit 1; \
	done

EXTRA_DIST += tests/fuzz/README.md tests/fuzz/run.sh tests/fuzz/ini.dict tests/fuzz/match.dict \
	tests/fuzz/scan.dict tests/fuzz/section.dict tests/fuzz/profile.dict \
	tests/fuzz/mutate_package.c tests/fuzz/mutate_spirv.c tests/fuzz/corpus
