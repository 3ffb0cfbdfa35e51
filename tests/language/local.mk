# The kernel language and gantry compile. The packages here are for other folders' tests too.
LANGUAGE_PACKAGES = \
	tests/language/saxpy.gpk tests/language/grid.gpk tests/language/atomics.gpk \
	tests/language/types.gpk tests/language/shared.gpk tests/language/subgroups.gpk \
	tests/language/maths.gpk tests/language/address.gpk tests/language/flow.gpk
check_DATA += $(LANGUAGE_PACKAGES)

if !REUSE_PACKAGES
$(LANGUAGE_PACKAGES): tools/gantry$(EXEEXT) $(KERNEL_LANGUAGE)
endif

check_PROGRAMS += tests/language/nvrtc
tests_language_nvrtc_SOURCES = tests/language/nvrtc.c
tests_language_nvrtc_LDADD = libgantry.la -ldl

if HAVE_CMOCKA
check_PROGRAMS += tests/language/check_package
tests_language_check_package_SOURCES = tests/language/check_package.c
tests_language_check_package_CPPFLAGS = $(AM_CPPFLAGS) -Itests/language
tests_language_check_package_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_language_check_package_LDADD = libgantry.la $(CMOCKA_LIBS)
tests/language/check_package-check_package.$(OBJEXT): tests/language/types.h
endif

EXTRA_DIST += $(LANGUAGE_PACKAGES:.gpk=.gk) tests/language/refuse \
	tests/language/refuse.sh tests/language/headers.sh tests/language/bytes.sh \
	tests/language/outputs.sh
CLEANFILES += $(LANGUAGE_PACKAGES) $(LANGUAGE_PACKAGES:.gpk=.h) $(LANGUAGE_PACKAGES:.gpk=.so)
