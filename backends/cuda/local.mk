# The CUDA plugin. It declares what it uses of the driver itself, so that it is always built; where
# there is a toolkit symbols_check.c compares the declarations with cuda.h.
CUDA_PLUGIN_SOURCES = \
	backends/cuda/driver.h backends/cuda/plugin.c \
	backends/cuda/symbols.h backends/cuda/symbols.c backends/cuda/symbols_check.c \
	backends/cuda/status.h backends/cuda/status.c backends/cuda/fault.h backends/cuda/fault.c \
	backends/cuda/instance.c backends/cuda/describe.c backends/cuda/device.c \
	backends/cuda/context.h backends/cuda/context.c backends/cuda/memory.c \
	backends/cuda/report.h backends/cuda/report.c \
	backends/cuda/nvrtc.h backends/cuda/nvrtc.c \
	backends/cuda/image_check.h backends/cuda/image_check.c \
	backends/cuda/image.h backends/cuda/image.c \
	backends/cuda/occupancy.h backends/cuda/occupancy.c backends/cuda/kernel.c \
	backends/cuda/mark.h backends/cuda/mark.c backends/cuda/queue.h backends/cuda/queue.c \
	backends/cuda/staging.h backends/cuda/staging.c \
	backends/cuda/operation.h backends/cuda/operation.c \
	backends/cuda/graph.h backends/cuda/graph.c backends/cuda/plan.c \
	backends/cuda/shape.h backends/cuda/shape.c \
	backends/cuda/recycled.h backends/cuda/recycled.c \
	backends/cuda/pool.h backends/cuda/pool.c backends/cuda/once.c

pkglib_LTLIBRARIES += gantry-cuda.la
gantry_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
gantry_cuda_la_CFLAGS = $(AM_CFLAGS) -pthread
gantry_cuda_la_LDFLAGS = $(PLUGIN_LINK)
gantry_cuda_la_SOURCES = $(CUDA_PLUGIN_SOURCES)
