# gantry config on machines that are described, and the shipped gpu.d.
PROFILES = h200 a100 rtx-4060-laptop rtx-4060-ti rx-7900-xtx arc-a770 apple-m2 llvmpipe made-up

if HAVE_CMOCKA
check_PROGRAMS += tests/profiles/test_profiles
endif

tests_profiles_test_profiles_SOURCES = tests/profiles/test_profiles.c $(TOOLS_COMMON)
tests_profiles_test_profiles_CFLAGS = $(TOOLS_CFLAGS)
tests_profiles_test_profiles_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)

EXTRA_DIST += tests/profiles/README.md tests/profiles/rules.ini \
	$(PROFILES:%=tests/profiles/%.json) $(PROFILES:%=tests/profiles/%.expected) \
	tests/profiles/h200.vulkan.expected tests/profiles/rtx-4060-laptop.vulkan.expected
