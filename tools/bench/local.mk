# gantry bench. It talks to the drivers itself, to have something to compare with; like the plugins it
# opens them at run time and links none. CUDA's declarations are the plugin's.
tools_gantry_SOURCES += \
	tools/bench/bench.c tools/bench/bench.h tools/bench/submit.c tools/bench/options.c \
	tools/bench/case_names.c tools/bench/case_names.h \
	tools/bench/memory.c tools/bench/memory.h tools/bench/memory_measure.c \
	tools/bench/bandwidth.c tools/bench/bandwidth.h tools/bench/bandwidth_cases.c \
	tools/bench/bandwidth_simple.c tools/bench/bandwidth_ordered.c \
	tools/bench/bandwidth_dense.c tools/bench/bandwidth_particles.c \
	tools/bench/bandwidth_products.c \
	tools/bench/copy.c tools/bench/copy.h tools/bench/copy_cases.c tools/bench/copy_contents.c \
	tools/bench/library.c tools/bench/library.h kernels/algorithms.h \
	tools/bench/pattern.c tools/bench/pattern.h tools/bench/arrays.c tools/bench/arrays.h \
	tools/bench/rates.c tools/bench/rates.h tools/bench/rates_show.c tools/bench/rates_plot.c \
	tools/bench/gnuplot.c tools/bench/gnuplot.h \
	tools/bench/cases.c tools/bench/sweep.c \
	tools/bench/work.c tools/bench/work.h tools/bench/cells.c tools/bench/cells.h \
	tools/bench/way.c tools/bench/way.h \
	tools/bench/stopwatch.c tools/bench/stopwatch.h \
	tools/bench/statistics.c tools/bench/statistics.h \
	tools/bench/results.c tools/bench/results.h \
	tools/bench/table.c tools/bench/json.c tools/bench/plot.c \
	tools/bench/package.c tools/bench/package.h \
	tools/bench/gantry_side.c tools/bench/gantry_side.h \
	tools/bench/gantry_ways.c tools/bench/gantry_stream.c \
	tools/bench/raw.c tools/bench/raw.h \
	tools/bench/raw_cuda.c tools/bench/raw_cuda_graph.c tools/bench/raw_cuda_ways.c \
	tools/bench/raw_cuda_copy.c \
	tools/bench/raw_cuda.h backends/cuda/symbols.c backends/cuda/symbols.h
tools_gantry_CPPFLAGS += -DGANTRY_KERNELSDIR='"$(kernelsdir)"'

if HAVE_VULKAN
tools_gantry_SOURCES += \
	tools/bench/raw_vulkan.c tools/bench/raw_vulkan_device.c \
	tools/bench/raw_vulkan_ways.c tools/bench/raw_vulkan_copy.c tools/bench/raw_vulkan.h
tools_gantry_CPPFLAGS += -DGANTRY_BENCH_VULKAN=1 -idirafter $(VOLK_DIR)
endif
