# Unit tests: a program a module, linked with the core's objects. A new one needs its name in
# UNIT_TESTS, its three lines below, and an entry in CTestTestfile.cmake.in.
UNIT_TESTS = \
	tests/unit/test_status tests/unit/test_ini tests/unit/test_options tests/unit/test_match \
	tests/unit/test_policy

UNIT_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
UNIT_LIBS = libgantry_core.la $(CMOCKA_LIBS) -lpthread
UNIT_COMMON = tests/unit/unit.h
UNIT_SCRATCH = tests/unit/scratch.h tests/unit/scratch.c

if HAVE_CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
endif

tests_unit_test_status_SOURCES = tests/unit/test_status.c $(UNIT_COMMON)
tests_unit_test_status_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_status_LDADD = $(UNIT_LIBS)

tests_unit_test_ini_SOURCES = tests/unit/test_ini.c $(UNIT_COMMON)
tests_unit_test_ini_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_ini_LDADD = $(UNIT_LIBS)

tests_unit_test_options_SOURCES = tests/unit/test_options.c $(UNIT_COMMON) $(UNIT_SCRATCH)
tests_unit_test_options_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_options_LDADD = $(UNIT_LIBS)

tests_unit_test_match_SOURCES = tests/unit/test_match.c $(UNIT_COMMON)
tests_unit_test_match_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_match_LDADD = $(UNIT_LIBS)

tests_unit_test_policy_SOURCES = tests/unit/test_policy.c $(UNIT_COMMON) $(UNIT_SCRATCH)
tests_unit_test_policy_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_policy_LDADD = $(UNIT_LIBS)
