# The kernel language and gantry compile. The packages here are for other folders' tests too.
LANGUAGE_PACKAGES = \
	tests/language/saxpy.gpk tests/language/grid.gpk tests/language/atomics.gpk \
	tests/language/types.gpk tests/language/shared.gpk tests/language/subgroups.gpk \
	tests/language/maths.gpk tests/language/address.gpk tests/language/flow.gpk \
	tests/language/chain.gpk tests/language/pointers.gpk
TEST_PACKAGES += $(LANGUAGE_PACKAGES)

check_PROGRAMS += tests/language/nvrtc
tests_language_nvrtc_SOURCES = tests/language/nvrtc.c
tests_language_nvrtc_LDADD = libgantry.la -ldl

if HAVE_CMOCKA
check_PROGRAMS += tests/language/check_package tests/language/run tests/language/fold \
	tests/language/chain tests/language/check_chained tests/language/check_contraction
endif
tests_language_check_chained_SOURCES = tests/language/check_chained.c
tests_language_check_chained_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_language_check_chained_LDADD = libgantry.la $(CMOCKA_LIBS)

tests_language_check_contraction_SOURCES = tests/language/check_contraction.c
tests_language_check_contraction_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_language_check_contraction_LDADD = libgantry.la $(CMOCKA_LIBS)

tests_language_check_package_SOURCES = tests/language/check_package.c
tests_language_check_package_CPPFLAGS = $(AM_CPPFLAGS) -Itests/language
tests_language_check_package_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_language_check_package_LDADD = libgantry.la $(CMOCKA_LIBS)
$(tests_language_check_package_OBJECTS): tests/language/types.h

tests_language_run_SOURCES = tests/language/run.c
tests_language_run_CPPFLAGS = $(AM_CPPFLAGS) -Itests/language
tests_language_run_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_language_run_LDADD = libgantry.la $(CMOCKA_LIBS) -lm
$(tests_language_run_OBJECTS): tests/language/address.h tests/language/atomics.h tests/language/maths.h

tests_language_fold_SOURCES = tests/language/fold.c tests/language/rig.c tests/language/rig.h
tests_language_fold_CPPFLAGS = $(AM_CPPFLAGS) -Itests/language
tests_language_fold_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_language_fold_LDADD = libgantry.la $(CMOCKA_LIBS) -ldl
$(tests_language_fold_OBJECTS): tests/language/grid.h

tests_language_chain_SOURCES = tests/language/chain.c tests/language/rig.c tests/language/rig.h
tests_language_chain_CPPFLAGS = $(AM_CPPFLAGS) -Itests/language
tests_language_chain_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_language_chain_LDADD = libgantry.la $(CMOCKA_LIBS) -ldl
$(tests_language_chain_OBJECTS): tests/language/chain.h

EXTRA_DIST += $(LANGUAGE_PACKAGES:.gpk=.gk) tests/language/refuse \
	tests/language/refuse.sh tests/language/headers.sh tests/language/bytes.sh \
	tests/language/outputs.sh
