# gantry compile. It runs the kernel compilers that configure found; the environment can name others.
tools_gantry_SOURCES += \
	tools/compile/compile.c \
	tools/compile/archs.c tools/compile/settings.c tools/compile/settings.h \
	tools/compile/file.c tools/compile/file.h \
	tools/compile/pool.c tools/compile/pool.h \
	tools/compile/process.c tools/compile/process.h \
	tools/compile/unit.c tools/compile/unit.h \
	tools/compile/token.c tools/compile/token.h \
	tools/compile/scan.c tools/compile/scan_kernel.c tools/compile/scan_pointer.c \
	tools/compile/scan_record.c tools/compile/scan.h \
	tools/compile/words.c tools/compile/words.h \
	tools/compile/lint.c tools/compile/lint.h \
	tools/compile/flow.c tools/compile/flow.h \
	tools/compile/includes.c tools/compile/includes.h \
	tools/compile/wrapper.c tools/compile/wrapper.h \
	tools/compile/reflect.c tools/compile/reflect.h \
	tools/compile/spirv.c tools/compile/spirv.h \
	tools/compile/writes.c tools/compile/writes.h \
	tools/compile/contraction.c tools/compile/contraction.h \
	tools/compile/optimise.c tools/compile/optimise.h \
	tools/compile/image.c tools/compile/image_cuda.c tools/compile/image_spirv.c \
	tools/compile/image.h \
	tools/compile/package.c tools/compile/package.h \
	tools/compile/header.c tools/compile/header.h
tools_gantry_CFLAGS += $(SPIRV_CROSS_CFLAGS) $(XXHASH_CFLAGS)
tools_gantry_LDADD += $(SPIRV_CROSS_LIBS) $(XXHASH_LIBS)
tools_gantry_CPPFLAGS += \
	-DGANTRY_GLSLC='"$(GLSLC)"' \
	-DGANTRY_SPIRV_OPT='"$(SPIRV_OPT)"' -DGANTRY_SPIRV_VAL='"$(SPIRV_VAL)"' \
	-DGANTRY_NVCC='"$(NVCC)"' -DGANTRY_PTXAS='"$(PTXAS)"' \
	-DGANTRY_CUDA_ARCHS='"$(CUDA_ARCHS)"' -DGANTRY_CXX='"$(CXX)"' \
	-DGANTRY_INCLUDEDIR='"$(includedir)"'
