# The conformance suite: one program, asked for one device after the other. It sees nothing of gantry
# but its header.
CONFORM_PACKAGES = tests/conform/launch.gpk tests/conform/args.gpk tests/conform/block.gpk \
	tests/conform/types.gpk
CONFORM_STRUCTS = $(CONFORM_PACKAGES:.gpk=.h)
TEST_PACKAGES += $(CONFORM_PACKAGES)
EXTRA_DIST += $(CONFORM_PACKAGES:.gpk=.gk)

check_PROGRAMS += tests/conform/conform
tests_conform_conform_SOURCES = \
	tests/conform/main.c tests/conform/program.c tests/conform/conform.h \
	tests/conform/run.h tests/conform/run.c \
	tests/conform/checks.c tests/conform/objects.c tests/conform/conform_device.c \
	tests/conform/conform_memory.c tests/conform/conform_pool.c tests/conform/conform_copy.c \
	tests/conform/conform_rect.c tests/conform/conform_transfer.c tests/conform/conform_launch.c \
	tests/conform/conform_kernel.c tests/conform/conform_language.c \
	tests/conform/conform_list.c tests/conform/conform_order.c tests/conform/conform_mixed.c \
	tests/conform/conform_fold.c tests/conform/conform_patch.c tests/conform/conform_stream.c \
	tests/conform/conform_wait.c tests/conform/conform_limits.c \
	tests/conform/conform_errors.c tests/conform/conform_threads.c \
	tests/conform/conform_process.c tests/conform/conform_validate.c
tests_conform_conform_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/tests/conform \
	-DPACKAGES='"$(abs_top_builddir)/tests/conform"'
tests_conform_conform_CFLAGS = $(AM_CFLAGS) -pthread
tests_conform_conform_LDADD = libgantry.la -lpthread -lm

$(tests_conform_conform_OBJECTS): $(CONFORM_STRUCTS)
