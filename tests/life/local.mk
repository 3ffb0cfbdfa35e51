# The life of gantry in a process: one program, whose cases each run in a process of their own, and a
# program that loads the library with a plug-in of its own.
check_PROGRAMS += tests/life/life tests/life/unload
tests_life_life_SOURCES = \
	tests/life/life.h tests/life/scene.h tests/life/end.h \
	tests/life/main.c tests/life/scene.c tests/life/close.c tests/life/end.c tests/life/destructor.cpp \
	tests/life/fork.c tests/life/fork_calls.c tests/life/instances.c tests/life/threads.c \
	tests/life/surroundings.c
LIFE_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/tests/conform \
	-DPACKAGES='"$(abs_top_builddir)/tests/conform"'
tests_life_life_CPPFLAGS = $(LIFE_CPPFLAGS)
tests_life_life_CFLAGS = $(AM_CFLAGS) -pthread
tests_life_life_LDFLAGS = -no-install # cases start /proc/self/exe
tests_life_life_LDADD = libgantry.la -lpthread -ldl -lm

check_LTLIBRARIES += tests/life/guest.la
tests_life_guest_la_SOURCES = tests/life/guest.c tests/life/scene.c
tests_life_guest_la_CPPFLAGS = $(LIFE_CPPFLAGS)
tests_life_guest_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_life_guest_la_LIBADD = libgantry.la

tests_life_unload_SOURCES = tests/life/unload.c
tests_life_unload_CFLAGS = $(AM_CFLAGS) -pthread
tests_life_unload_LDADD = -ldl -lpthread

$(tests_life_life_OBJECTS) $(tests_life_guest_la_OBJECTS): $(CONFORM_STRUCTS)
dist_check_SCRIPTS += tests/life/calls.sh
