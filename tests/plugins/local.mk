# The host plugin, its look-alikes, and plugins that must be refused.
HOST_PLUGIN_SOURCES = \
	tests/plugins/host/host.h tests/plugins/host/plugin.c tests/plugins/host/spec.c \
	tests/plugins/host/fail.c tests/plugins/host/books.c tests/plugins/host/device.c \
	tests/plugins/host/memory.c tests/plugins/host/kernel.c tests/plugins/host/plan.c \
	tests/plugins/host/schedule.c tests/plugins/host/queue.c tests/plugins/host/check.c
HOST_PLUGIN_LINK = -module -avoid-version -no-undefined -rpath /nowhere \
	-export-symbols-regex '^gantry_(backend|host_faults)$$'
HOST_PLUGIN_LIBADD = -ldl -lpthread

check_LTLIBRARIES += tests/plugins/gantry-host.la
tests_plugins_gantry_host_la_SOURCES = $(HOST_PLUGIN_SOURCES)
tests_plugins_gantry_host_la_LDFLAGS = $(HOST_PLUGIN_LINK)
tests_plugins_gantry_host_la_LIBADD = $(HOST_PLUGIN_LIBADD)

# The same code under other backends' names: one machine's GPU as two backends see it.
check_LTLIBRARIES += tests/plugins/twins/gantry-cuda.la tests/plugins/twins/gantry-vulkan.la
tests_plugins_twins_gantry_cuda_la_SOURCES = $(HOST_PLUGIN_SOURCES)
tests_plugins_twins_gantry_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DGANTRY_HOST_NAME='"cuda"'
tests_plugins_twins_gantry_cuda_la_LDFLAGS = $(HOST_PLUGIN_LINK)
tests_plugins_twins_gantry_cuda_la_LIBADD = $(HOST_PLUGIN_LIBADD)
tests_plugins_twins_gantry_vulkan_la_SOURCES = $(HOST_PLUGIN_SOURCES)
tests_plugins_twins_gantry_vulkan_la_CPPFLAGS = $(AM_CPPFLAGS) -DGANTRY_HOST_NAME='"vulkan"'
tests_plugins_twins_gantry_vulkan_la_LDFLAGS = $(HOST_PLUGIN_LINK)
tests_plugins_twins_gantry_vulkan_la_LIBADD = $(HOST_PLUGIN_LIBADD)

check_LTLIBRARIES += tests/plugins/host/image.la
tests_plugins_host_image_la_SOURCES = tests/plugins/host/image.cpp
tests_plugins_host_image_la_LDFLAGS = -module -avoid-version -rpath /nowhere

if HAVE_CMOCKA
check_PROGRAMS += tests/plugins/host/selftest
tests_plugins_host_selftest_SOURCES = \
	tests/plugins/host/selftest.c tests/plugins/host/selftest_fold.c \
	tests/plugins/host/selftest_rig.c tests/plugins/host/selftest.h
tests_plugins_host_selftest_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugins_host_selftest_LDADD = $(CMOCKA_LIBS) -ldl
endif

# ---- Plugins that must be refused -----------------------------------------------------------------
BAD_PLUGIN = $(AM_V_CCLD)$(MKDIR_P) tests/plugins/bad && \
	$(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS)
BAD_SOURCE = $(srcdir)/tests/plugins/bad/descriptor.c
check_DATA += tests/plugins/bad/gantry-abi.so tests/plugins/bad/gantry-newer.so \
	tests/plugins/bad/gantry-magic.so \
	tests/plugins/bad/gantry-size.so tests/plugins/bad/gantry-table.so \
	tests/plugins/bad/gantry-entry.so tests/plugins/bad/gantry-name.so \
	tests/plugins/bad/gantry-descriptor.so tests/plugins/bad/gantry-dependency.so \
	tests/plugins/bad/gantry-undefined.so tests/plugins/bad/gantry-text.so
CLEANFILES += tests/plugins/bad/gantry-*.so
EXTRA_DIST += tests/plugins/bad/descriptor.c tests/plugins/bad/notalibrary.txt \
	tests/plugins/host/README.md

tests/plugins/bad/gantry-abi.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"abi"' -DABI_MAJOR=99 $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-newer.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"newer"' '-DABI_MAJOR=(GANTRY_BACKEND_ABI_MAJOR + 1)' $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-magic.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"magic"' -DMAGIC=0x12345678 $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-size.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"size"' -DSIZE=16 $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-table.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"table"' -DTABLE_SIZE=16 $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-entry.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"entry"' $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-name.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"nobody"' $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-descriptor.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"descriptor"' -DNO_DESCRIPTOR $(BAD_SOURCE) -o $@
tests/plugins/bad/gantry-undefined.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"undefined"' -DUNDEFINED_SYMBOL $(BAD_SOURCE) -o $@
# The library that it needs is removed again.
tests/plugins/bad/gantry-dependency.so: $(BAD_SOURCE)
	$(BAD_PLUGIN) -DNAME='"other"' -DNO_DESCRIPTOR -Wl,-soname,libgantry-not-there.so.9 \
		$(BAD_SOURCE) -o $@.needed.so
	$(BAD_PLUGIN) -DNAME='"dependency"' $(BAD_SOURCE) -Wl,--no-as-needed ./$@.needed.so -o $@
	rm -f $@.needed.so
tests/plugins/bad/gantry-text.so: $(srcdir)/tests/plugins/bad/notalibrary.txt
	$(AM_V_GEN)$(MKDIR_P) tests/plugins/bad && cp $(srcdir)/tests/plugins/bad/notalibrary.txt $@
