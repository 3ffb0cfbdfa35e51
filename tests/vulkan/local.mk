# The Vulkan plugin driven without core, and a mutation of it without barriers between stages; what it
# makes of machines that are not here; what plans are recorded as, with and without the mutation.
VULKAN_SHADERS = tests/vulkan/step_direct.inc tests/vulkan/step_folded.inc \
	tests/vulkan/step_chained.inc

if HAVE_VULKAN
if HAVE_CMOCKA
check_PROGRAMS += tests/vulkan/vulkan_plugin tests/vulkan/vulkan_machine \
	tests/vulkan/vulkan_record tests/vulkan/vulkan_record_dropped \
	tests/vulkan/vulkan_families
check_LTLIBRARIES += tests/vulkan/dropped/gantry-vulkan.la
endif
endif
tests_vulkan_vulkan_plugin_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir) \
	-DSOURCE_DIR='"$(abs_top_srcdir)"'
tests_vulkan_vulkan_plugin_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
tests_vulkan_vulkan_plugin_LDADD = $(CMOCKA_LIBS)
tests_vulkan_vulkan_plugin_SOURCES = \
	tests/vulkan/main.c tests/vulkan/rig.h tests/vulkan/rig.c \
	tests/vulkan/device_test.c tests/vulkan/memory_test.c tests/vulkan/kernel_test.c \
	tests/vulkan/plan_test.c tests/vulkan/fold_test.c tests/vulkan/queue_test.c \
	tests/vulkan/raw.h tests/vulkan/raw.c tests/vulkan/bench.c tests/vulkan/memory_bench.c

tests_vulkan_dropped_gantry_vulkan_la_CPPFLAGS = $(VULKAN_CPPFLAGS) -DGANTRY_TEST_DROP_BARRIER
tests_vulkan_dropped_gantry_vulkan_la_CFLAGS = $(gantry_vulkan_la_CFLAGS)
tests_vulkan_dropped_gantry_vulkan_la_LDFLAGS = $(PLUGIN_LINK) -rpath /nowhere
tests_vulkan_dropped_gantry_vulkan_la_SOURCES = $(VULKAN_SOURCES)

tests_vulkan_vulkan_machine_CPPFLAGS = $(VULKAN_CPPFLAGS) -I$(top_srcdir)
tests_vulkan_vulkan_machine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
tests_vulkan_vulkan_machine_LDADD = $(CMOCKA_LIBS)
tests_vulkan_vulkan_machine_SOURCES = \
	tests/vulkan/machine.h tests/vulkan/machine.c \
	tests/vulkan/machine_test.c tests/vulkan/heap_test.c tests/vulkan/register_test.c \
	tests/vulkan/ring_test.c tests/vulkan/lost_test.c \
	backends/vulkan/physical.c backends/vulkan/occupancy.c backends/vulkan/family.c \
	backends/vulkan/memory.c backends/vulkan/register.c \
	backends/vulkan/device.c backends/vulkan/fault.c backends/vulkan/status.c backends/vulkan/symbols.c \
	backends/vulkan/record.c backends/vulkan/table.c backends/vulkan/plan.c \
	backends/vulkan/ring.c backends/vulkan/shot.c backends/vulkan/queue.c

VULKAN_RECORD_SOURCES = tests/vulkan/record_test.c \
	backends/vulkan/record.c backends/vulkan/status.c backends/vulkan/symbols.c
tests_vulkan_vulkan_record_CPPFLAGS = $(VULKAN_CPPFLAGS) -I$(top_srcdir)
tests_vulkan_vulkan_record_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
tests_vulkan_vulkan_record_LDADD = $(CMOCKA_LIBS)
tests_vulkan_vulkan_record_SOURCES = $(VULKAN_RECORD_SOURCES)
tests_vulkan_vulkan_record_dropped_CPPFLAGS = $(tests_vulkan_vulkan_record_CPPFLAGS) \
	-DGANTRY_TEST_DROP_BARRIER
tests_vulkan_vulkan_record_dropped_CFLAGS = $(tests_vulkan_vulkan_record_CFLAGS)
tests_vulkan_vulkan_record_dropped_LDADD = $(CMOCKA_LIBS)
tests_vulkan_vulkan_record_dropped_SOURCES = $(VULKAN_RECORD_SOURCES)

# The configuration's part of it, through the public API.
tests_vulkan_vulkan_families_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_vulkan_vulkan_families_LDADD = libgantry.la $(CMOCKA_LIBS)
tests_vulkan_vulkan_families_SOURCES = tests/vulkan/families.c

tests/vulkan/step_direct.inc: tests/vulkan/step.comp
	@$(MKDIR_P) tests/vulkan
	$(AM_V_GEN)$(GLSLC) -O --target-env=vulkan1.2 -mfmt=num -o $@ $(srcdir)/tests/vulkan/step.comp
tests/vulkan/step_folded.inc: tests/vulkan/step.comp
	@$(MKDIR_P) tests/vulkan
	$(AM_V_GEN)$(GLSLC) -O -DFOLDED --target-env=vulkan1.2 -mfmt=num -o $@ \
		$(srcdir)/tests/vulkan/step.comp
tests/vulkan/step_chained.inc: tests/vulkan/step.comp
	@$(MKDIR_P) tests/vulkan
	$(AM_V_GEN)$(GLSLC) -O -DFOLDED -DCHAINED --target-env=vulkan1.2 -mfmt=num -o $@ \
		$(srcdir)/tests/vulkan/step.comp
tests/vulkan/vulkan_plugin-rig.$(OBJEXT): $(VULKAN_SHADERS)

CLEANFILES += $(VULKAN_SHADERS)
EXTRA_DIST += tests/vulkan/step.comp tests/vulkan/broken_icd.json
