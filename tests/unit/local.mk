# Unit tests: a program a module, linked with the core's objects. A new one needs its name in
# UNIT_TESTS, its three lines below, and an entry in CTestTestfile.cmake.in.
UNIT_TESTS = \
	tests/unit/test_status tests/unit/test_arena tests/unit/test_ini tests/unit/test_options \
	tests/unit/test_match tests/unit/test_sources tests/unit/test_policy \
	tests/unit/test_utf8 tests/unit/test_tie tests/unit/test_config_check

UNIT_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
UNIT_LIBS = libgantry_core.la $(CMOCKA_LIBS) -lpthread
UNIT_COMMON = tests/unit/unit.h
UNIT_SCRATCH = tests/unit/scratch.h tests/unit/scratch.c
UNIT_POLICY = tests/unit/policy_rig.h tests/unit/policy_rig.c $(UNIT_SCRATCH)

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

tests_unit_test_arena_SOURCES = tests/unit/test_arena.c $(UNIT_COMMON) $(UNIT_POLICY)
tests_unit_test_arena_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_arena_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc
tests_unit_test_arena_LDADD = $(UNIT_LIBS)

tests_unit_test_sources_SOURCES = tests/unit/test_sources.c $(UNIT_COMMON) $(UNIT_POLICY)
tests_unit_test_sources_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_sources_LDADD = $(UNIT_LIBS)

tests_unit_test_utf8_SOURCES = tests/unit/test_utf8.c $(UNIT_COMMON)
tests_unit_test_utf8_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_utf8_LDADD = $(UNIT_LIBS)

tests_unit_test_tie_SOURCES = tests/unit/test_tie.c $(UNIT_COMMON)
tests_unit_test_tie_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tie_LDADD = $(UNIT_LIBS)

tests_unit_test_config_check_SOURCES = tests/unit/test_config_check.c $(UNIT_COMMON) \
	$(UNIT_SCRATCH) tests/unit/gpk_builder.h tests/unit/gpk_builder.c
tests_unit_test_config_check_CFLAGS = $(UNIT_CFLAGS) $(XXHASH_CFLAGS)
tests_unit_test_config_check_LDADD = $(UNIT_LIBS) $(XXHASH_LIBS)

tests_unit_test_policy_SOURCES = tests/unit/test_policy.c $(UNIT_COMMON) $(UNIT_POLICY)
tests_unit_test_policy_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_policy_LDADD = $(UNIT_LIBS)

# Packages, plugins, devices and what belongs to them: on made-up machines, through the host plugin.
CORE_TESTS = \
	tests/unit/test_package tests/unit/test_block tests/unit/test_plugin tests/unit/test_devices \
	tests/unit/test_configuration \
	tests/unit/test_objects tests/unit/test_kernel tests/unit/test_examine tests/unit/test_effects
MACHINE = tests/unit/machine.h tests/unit/machine.c
BUILDER = tests/unit/gpk_builder.h tests/unit/gpk_builder.c

if HAVE_CMOCKA
check_PROGRAMS += $(CORE_TESTS)
endif

tests_unit_test_package_SOURCES = tests/unit/test_package.c $(UNIT_COMMON) $(UNIT_SCRATCH) $(BUILDER)
tests_unit_test_package_CFLAGS = $(UNIT_CFLAGS) $(XXHASH_CFLAGS)
tests_unit_test_package_LDADD = $(UNIT_LIBS) $(XXHASH_LIBS)

tests_unit_test_block_SOURCES = tests/unit/test_block.c $(UNIT_COMMON)
tests_unit_test_block_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_block_LDADD = $(UNIT_LIBS)

tests_unit_test_plugin_SOURCES = tests/unit/test_plugin.c $(UNIT_COMMON) $(UNIT_SCRATCH) $(MACHINE)
tests_unit_test_plugin_CPPFLAGS = $(AM_CPPFLAGS) -DGANTRY_PKGLIBDIR='"$(pkglibdir)"'
tests_unit_test_plugin_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_plugin_LDADD = $(UNIT_LIBS)

tests_unit_test_devices_SOURCES = tests/unit/test_devices.c $(UNIT_COMMON) $(MACHINE)
tests_unit_test_devices_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_devices_LDADD = $(UNIT_LIBS)

tests_unit_test_configuration_SOURCES = tests/unit/test_configuration.c $(UNIT_COMMON) \
	$(UNIT_SCRATCH) $(MACHINE)
tests_unit_test_configuration_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_configuration_LDADD = $(UNIT_LIBS)

tests_unit_test_objects_SOURCES = tests/unit/test_objects.c $(UNIT_COMMON) $(MACHINE)
tests_unit_test_objects_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_objects_LDADD = $(UNIT_LIBS)

tests_unit_test_effects_SOURCES = tests/unit/test_effects.c $(UNIT_COMMON) $(UNIT_SCRATCH) \
	$(MACHINE) $(BUILDER)
tests_unit_test_effects_CFLAGS = $(UNIT_CFLAGS) $(XXHASH_CFLAGS)
tests_unit_test_effects_LDADD = $(UNIT_LIBS) $(XXHASH_LIBS)

tests_unit_test_examine_SOURCES = tests/unit/test_examine.c $(UNIT_COMMON) $(MACHINE) $(BUILDER)
tests_unit_test_examine_CFLAGS = $(UNIT_CFLAGS) $(XXHASH_CFLAGS)
tests_unit_test_examine_LDADD = $(UNIT_LIBS) $(XXHASH_LIBS)

tests_unit_test_kernel_SOURCES = tests/unit/test_kernel.c $(UNIT_COMMON) $(UNIT_SCRATCH) \
	$(MACHINE) $(BUILDER)
tests_unit_test_kernel_CFLAGS = $(UNIT_CFLAGS) $(XXHASH_CFLAGS)
tests_unit_test_kernel_LDADD = $(UNIT_LIBS) $(XXHASH_LIBS)

# Lists and queues: recorded without a device, and over a plugin that completes work when the test
# says so.
LIST_TESTS = \
	tests/unit/test_fold tests/unit/test_plan tests/unit/test_patch tests/unit/test_list \
	tests/unit/test_queue tests/unit/test_stream tests/unit/test_transfer \
	tests/unit/test_grid tests/unit/test_ranges tests/unit/test_pool tests/unit/test_validate tests/unit/test_loss
RECORDING = tests/unit/recording.h tests/unit/recording.c
FAKE = tests/unit/fake_device.h tests/unit/fake_device.c

if HAVE_CMOCKA
check_PROGRAMS += $(LIST_TESTS)
endif

tests_unit_test_fold_SOURCES = tests/unit/test_fold.c $(UNIT_COMMON) $(RECORDING)
tests_unit_test_fold_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_fold_LDADD = $(UNIT_LIBS)

tests_unit_test_plan_SOURCES = tests/unit/test_plan.c $(UNIT_COMMON) $(RECORDING)
tests_unit_test_plan_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_plan_LDADD = $(UNIT_LIBS)

tests_unit_test_patch_SOURCES = tests/unit/test_patch.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_patch_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_patch_LDADD = $(UNIT_LIBS)

tests_unit_test_list_SOURCES = tests/unit/test_list.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_list_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_list_LDADD = $(UNIT_LIBS)

tests_unit_test_queue_SOURCES = tests/unit/test_queue.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_queue_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_queue_LDADD = $(UNIT_LIBS)

tests_unit_test_loss_SOURCES = tests/unit/test_loss.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_loss_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_loss_LDADD = $(UNIT_LIBS)

tests_unit_test_stream_SOURCES = tests/unit/test_stream.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_stream_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_stream_LDADD = $(UNIT_LIBS)

tests_unit_test_transfer_SOURCES = tests/unit/test_transfer.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_transfer_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_transfer_LDADD = $(UNIT_LIBS)

tests_unit_test_grid_SOURCES = tests/unit/test_grid.c $(UNIT_COMMON)
tests_unit_test_grid_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_grid_LDADD = $(UNIT_LIBS)

tests_unit_test_ranges_SOURCES = tests/unit/test_ranges.c $(UNIT_COMMON)
tests_unit_test_ranges_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_ranges_LDFLAGS = -Wl,--wrap=malloc
tests_unit_test_ranges_LDADD = $(UNIT_LIBS)

tests_unit_test_pool_SOURCES = tests/unit/test_pool.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_pool_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_pool_LDADD = $(UNIT_LIBS)

tests_unit_test_validate_SOURCES = tests/unit/test_validate.c $(UNIT_COMMON) $(FAKE)
tests_unit_test_validate_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_validate_LDADD = $(UNIT_LIBS)
