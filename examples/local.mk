# Small complete programs. They carry their kernels in them, and see no more of gantry than a user does.
noinst_PROGRAMS += examples/saxpy examples/edge examples/stream

examples_saxpy_SOURCES = examples/saxpy.c
examples_saxpy_CFLAGS = $(AM_CFLAGS)
examples_saxpy_LDADD = libgantry.la
examples/saxpy-saxpy.$(OBJEXT): kernels/saxpy.h

examples_edge_SOURCES = examples/edge.c examples/options.h examples/options.c \
	examples/compare.h examples/compare.c examples/filter.h examples/filter.c \
	examples/reference.h examples/reference.c examples/png.h examples/png.c \
	examples/testpicture.h examples/testpicture.c
examples_edge_CFLAGS = $(AM_CFLAGS) $(LIBPNG_CFLAGS)
examples_edge_LDADD = libgantry.la $(LIBPNG_LIBS) -lm
examples/edge-filter.$(OBJEXT): kernels/edge.h

examples_stream_SOURCES = examples/stream.c examples/pipeline.h examples/pipeline.c
examples_stream_CFLAGS = $(AM_CFLAGS)
examples_stream_LDADD = libgantry.la
examples/stream-pipeline.$(OBJEXT): kernels/motion.h
