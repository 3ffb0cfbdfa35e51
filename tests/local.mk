TEST_FOLDERS = unit plugins faults language vulkan cuda conform kernels tools doctor profiles headers consumer life fuzz

# ctest stops at a folder that it can't enter, so the list is in one place: tests/CTestTestfile.cmake.in.
CTEST_FLAGS = --output-on-failure -j2

check-local:
	@test -n "$(CTEST)" || { echo "make check needs ctest (Debian: apt install cmake)" >&2; exit 1; }
	$(CTEST) --test-dir tests $(CTEST_FLAGS)

# Not part of check: tests/long/CTestTestfile.cmake.in.
.PHONY: check-long
check-long: all $(check_PROGRAMS) $(check_LTLIBRARIES) $(check_DATA)
	$(CTEST) --test-dir tests/long $(CTEST_FLAGS)

clean-local:
	rm -rf tests/Testing tests/long/Testing tests/fuzz/found

dist_check_SCRIPTS += tests/cases.sh
EXTRA_DIST += tests/README.md

include tests/unit/local.mk
include tests/plugins/local.mk
include tests/faults/local.mk
include tests/language/local.mk
include tests/vulkan/local.mk
include tests/cuda/local.mk
include tests/conform/local.mk
include tests/kernels/local.mk
include tests/tools/local.mk
include tests/doctor/local.mk
include tests/profiles/local.mk
include tests/headers/local.mk
include tests/consumer/local.mk
include tests/life/local.mk
include tests/fuzz/local.mk
include tests/model/local.mk
