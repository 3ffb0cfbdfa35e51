# A randomised test of the API beside a model in plain C. It launches kernels of the conformance suite.
check_PROGRAMS += tests/model/model
tests_model_model_SOURCES = \
	tests/model/main.c tests/model/model.h tests/model/world.c tests/model/memory.c \
	tests/model/draw.c tests/model/order.c tests/model/objects.c tests/model/lists.c \
	tests/model/streams.c tests/model/wrong.c
tests_model_model_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/tests/conform \
	-DKERNELS='"$(abs_top_builddir)/tests/conform/launch.gpk"'
tests_model_model_CFLAGS = $(AM_CFLAGS) -pthread
tests_model_model_LDADD = libgantry.la -lpthread

$(tests_model_model_OBJECTS): tests/conform/launch.h
