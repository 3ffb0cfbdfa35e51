# The program `gantry`. It lives in the build's tools/ folder, and uses the public API only; what its
# subcommand bench compares with lies in bench/.
bin_PROGRAMS += tools/gantry
tools_gantry_SOURCES = \
	tools/main.c tools/tool.h tools/arguments.h tools/arguments.c tools/output.h tools/output.c \
	tools/kernels.h tools/kernels.c tools/device.h tools/device.c tools/info.c tools/config.c tools/profile.h tools/profile.c \
	tools/config_check.h tools/config_check.c \
	tools/inspect.h tools/inspect.c tools/inspect_text.c tools/inspect_json.c
tools_gantry_CPPFLAGS = $(AM_CPPFLAGS)
tools_gantry_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tools_gantry_LDADD = libgantry.la $(JANSSON_LIBS)

dist_man_MANS = tools/gantry.1

include tools/bench/local.mk
include tools/tune/local.mk
include tools/doctor/local.mk
