# libgantry. The objects are made once, in a convenience library that the unit tests link too.
CORE_CPPFLAGS = $(AM_CPPFLAGS) -DGANTRY_BUILDING \
	-DGANTRY_PKGLIBDIR='"$(pkglibdir)"' -DGANTRY_PKGDATADIR='"$(pkgdatadir)"' \
	-DGANTRY_SYSCONFDIR='"$(sysconfdir)/gantry"'

noinst_LTLIBRARIES += libgantry_core.la
libgantry_core_la_CPPFLAGS = $(CORE_CPPFLAGS)
libgantry_core_la_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS) $(XXHASH_CFLAGS) -pthread
libgantry_core_la_LIBADD = $(INIH_LIBS) $(XXHASH_LIBS) $(LIBS)
libgantry_core_la_SOURCES = \
	core/text.h core/text.c core/process.h core/process.c core/places.h core/places.c \
	core/services.h core/services.c core/library_file.h core/library_file.c \
	core/attempts.h core/attempts.c core/plugin.h core/plugin.c core/plugins.h core/plugins.c \
	core/registry.h core/registry.c core/context.h core/context.c core/report.h core/report.c \
	core/profile.h core/profile.c core/asked.h core/asked.c core/clamp.h core/clamp.c core/configuration.c \
	core/choose.h core/choose.c core/device.h core/device.c core/object.c \
	core/notice.h core/notice.c core/buffer.h core/buffer.c \
	core/memory.h core/memory.c core/memory_report.c core/pool.h core/pool.c core/ranges.h core/ranges.c \
	core/package_format.h core/package_hash.h core/package.h core/package.c core/package_parse.c \
	core/package_reader.h core/package_records.c \
	core/package_check.h core/package_check.c core/package_wrap.c core/block.h core/block.c \
	core/wish.h core/wish.c core/entry.h core/entry.c core/module.h core/module.c core/kernel.c core/examine.c \
	core/status.h core/status.c core/log.h core/log.c core/names.c \
	core/addresses.h core/addresses.c core/reach.h core/reach.c core/races.h core/races.c \
	core/validate.h core/validate.c \
	core/command.h core/list.h core/list.c core/list_instance.c core/patch.c \
	core/grid.h core/grid.c \
	core/record.h core/recorder.h core/recorder.c core/record_launch.h core/record_launch.c core/record_memory.c \
	core/record_transfer.c core/rect.h core/rect.c core/host_copy.h core/host_copy.c \
	core/host_register.h core/host_register.c \
	core/fold.h core/fold.c core/plan.h core/plan.c core/retire.h core/retire.c \
	core/lock.h core/lock.c core/clock.h core/meter.h core/meter.c core/losses.h core/losses.c \
	core/staging.h core/staging.c core/stream.h core/stream.c core/stream_call.h core/stream_commands.c \
	core/stream_transfer.c core/direct.h \
	core/queue.h core/queue.c core/submit.c core/wait.c \
	core/flight.h core/flight.c core/launch_text.h core/launch_text.c core/loss.h core/loss.c \
	core/arena.h core/arena.c core/ascii.h core/ascii.c core/utf8.h core/utf8.c \
	core/remarks.h core/remarks.c core/tie.h core/tie.c \
	core/ini.h core/ini.c core/match.h core/match.c core/model.h core/model.c \
	core/options.h core/options.c core/option_parse.c \
	core/rules.h core/rules.c core/rules_section.c core/rules_environment.c \
	core/config_file.h core/config_file.c core/config_check.c core/sources.h core/sources.c \
	core/resolve.h core/resolve.c core/interned.h core/interned.c core/policy.h core/policy.c

lib_LTLIBRARIES += libgantry.la
libgantry_la_SOURCES =
libgantry_la_LIBADD = libgantry_core.la
# Another copy of the library that the program has must not take over this one's own calls.
libgantry_la_LDFLAGS = -version-info $(GANTRY_LT_VERSION) -no-undefined -pthread \
	-Wl,-Bsymbolic-functions -export-symbols-regex '^gantry_'
