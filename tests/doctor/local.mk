# gantry doctor on machines that are broken on purpose.
check_LTLIBRARIES += tests/doctor/libcuda.la
tests_doctor_libcuda_la_SOURCES = tests/doctor/crashing_driver.c
tests_doctor_libcuda_la_LDFLAGS = -version-info 1:0:0 -no-undefined -rpath /nowhere

if HAVE_CMOCKA
check_PROGRAMS += tests/doctor/test_setups tests/doctor/test_machines tests/doctor/test_isolate
endif

DOCTOR_COMMON = tests/doctor/setup.h tests/doctor/setup.c $(TOOLS_COMMON) $(BUILDER)

tests_doctor_test_setups_SOURCES = tests/doctor/test_setups.c $(DOCTOR_COMMON)
tests_doctor_test_setups_CFLAGS = $(TOOLS_CFLAGS) $(XXHASH_CFLAGS)
tests_doctor_test_setups_LDADD = libgantry.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(XXHASH_LIBS)

tests_doctor_test_machines_SOURCES = tests/doctor/test_machines.c $(DOCTOR_COMMON)
tests_doctor_test_machines_CFLAGS = $(TOOLS_CFLAGS) $(XXHASH_CFLAGS)
tests_doctor_test_machines_LDADD = libgantry.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(XXHASH_LIBS)

tests_doctor_test_isolate_SOURCES = tests/doctor/test_isolate.c \
	tools/doctor/isolate.h tools/doctor/isolate.c tools/doctor/report.h tools/doctor/report.c \
	core/utf8.h core/utf8.c
tests_doctor_test_isolate_CFLAGS = $(TOOLS_CFLAGS)
tests_doctor_test_isolate_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)

EXTRA_DIST += tests/doctor/codes.sh
