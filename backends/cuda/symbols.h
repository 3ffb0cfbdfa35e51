/* The part of the CUDA driver's interface that this plugin uses: types, constants, entries.
 *
 * The declarations are our own so that the plugin builds without a toolkit. Where there is one from
 * CUDA 12.4 on, symbols_check.c includes cuda.h first, compiles the tables below against NVIDIA's
 * declarations instead of ours, and asserts that values, layouts, pinned versions and prototypes
 * agree. */
#ifndef GANTRY_CUDA_SYMBOLS_H
#define GANTRY_CUDA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The oldest driver that gantry works with: CUDA 11.4, R470. It has explicit graphs with
 * instantiation flags, UUIDs of MIG instances and cuGetProcAddress. */
#define OLDEST_DRIVER 11040

/* X(NAME, value): every constant that the plugin passes to the driver or compares with. */
#define CUDA_CONSTANT_MAP(X)                                        \
    X(CUDA_SUCCESS, 0)                                              \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                  \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                  \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                \
    X(CUDA_ERROR_DEINITIALIZED, 4)                                  \
    X(CUDA_ERROR_NO_DEVICE, 100)                                    \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                                \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                              \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)                            \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                         \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                       \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                      \
    X(CUDA_ERROR_CONTAINED, 226)                                    \
    X(CUDA_ERROR_NOT_FOUND, 500)                                    \
    X(CUDA_ERROR_NOT_READY, 600)                                    \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                              \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                               \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                         \
    X(CUDA_ERROR_ASSERT, 710)                                       \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)               \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                         \
    X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                          \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)                           \
    X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                        \
    X(CUDA_ERROR_INVALID_PC, 718)                                   \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                                \
    X(CUDA_ERROR_NOT_PERMITTED, 800)                                \
    X(CUDA_ERROR_NOT_SUPPORTED, 801)                                \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                             \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                       \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)               \
    X(CUDA_ERROR_EXTERNAL_DEVICE, 911)                              \
    X(CUDA_ERROR_UNKNOWN, 999)                                      \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                 \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                       \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                       \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                       \
    X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                        \
    X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                        \
    X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7)                        \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                            \
    X(CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11)                            \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                 \
    X(CU_DEVICE_ATTRIBUTE_INTEGRATED, 18)                           \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20)                         \
    X(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                           \
    X(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                        \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)       \
    X(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                        \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)             \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)             \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81) \
    X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)     \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)    \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106)       \
    X(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 111)    \
    X(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 122)       \
    X(CU_COMPUTEMODE_PROHIBITED, 2)                                 \
    X(CU_STREAM_NON_BLOCKING, 1)                                    \
    X(CU_STREAM_WRITE_VALUE_DEFAULT, 0)                             \
    X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                            \
    X(CU_EVENT_BLOCKING_SYNC, 1)                                    \
    X(CU_EVENT_DISABLE_TIMING, 2)                                   \
    X(CU_MEMHOSTALLOC_PORTABLE, 1)                                  \
    X(CU_MEMHOSTALLOC_DEVICEMAP, 2)                                 \
    X(CU_MEMHOSTREGISTER_PORTABLE, 1)                               \
    X(CU_MEMHOSTREGISTER_DEVICEMAP, 2)                              \
    X(CU_MEMORYTYPE_UNIFIED, 4)                                     \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                   \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                        \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                   \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                       \
    X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                        \
    X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)           \
    X(CU_LAUNCH_PARAM_END_AS_INT, 0)                                \
    X(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT, 1)                     \
    X(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT, 2)                        \
    X(CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 1)                    \
    X(CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, 1)

/* X(TYPE, member, offset, end): where the members that the plugin fills lie; end is the type's
 * size. */
#define CUDA_LAYOUT_MAP(X)                                \
    X(CUuuid, bytes, 0, 16)                               \
    X(CUDA_KERNEL_NODE_PARAMS_v1, func, 0, 56)            \
    X(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX, 8, 56)        \
    X(CUDA_KERNEL_NODE_PARAMS_v1, gridDimY, 12, 56)       \
    X(CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ, 16, 56)       \
    X(CUDA_KERNEL_NODE_PARAMS_v1, blockDimX, 20, 56)      \
    X(CUDA_KERNEL_NODE_PARAMS_v1, blockDimY, 24, 56)      \
    X(CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ, 28, 56)      \
    X(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes, 32, 56) \
    X(CUDA_KERNEL_NODE_PARAMS_v1, kernelParams, 40, 56)   \
    X(CUDA_KERNEL_NODE_PARAMS_v1, extra, 48, 56)          \
    X(CUDA_MEMCPY3D_v2, srcMemoryType, 32, 200)           \
    X(CUDA_MEMCPY3D_v2, srcDevice, 48, 200)               \
    X(CUDA_MEMCPY3D_v2, srcPitch, 72, 200)                \
    X(CUDA_MEMCPY3D_v2, srcHeight, 80, 200)               \
    X(CUDA_MEMCPY3D_v2, dstMemoryType, 120, 200)          \
    X(CUDA_MEMCPY3D_v2, dstDevice, 136, 200)              \
    X(CUDA_MEMCPY3D_v2, dstPitch, 160, 200)               \
    X(CUDA_MEMCPY3D_v2, dstHeight, 168, 200)              \
    X(CUDA_MEMCPY3D_v2, WidthInBytes, 176, 200)           \
    X(CUDA_MEMCPY3D_v2, Height, 184, 200)                 \
    X(CUDA_MEMCPY3D_v2, Depth, 192, 200)                  \
    X(CUDA_MEMSET_NODE_PARAMS_v1, dst, 0, 40)             \
    X(CUDA_MEMSET_NODE_PARAMS_v1, pitch, 8, 40)           \
    X(CUDA_MEMSET_NODE_PARAMS_v1, value, 16, 40)          \
    X(CUDA_MEMSET_NODE_PARAMS_v1, elementSize, 20, 40)    \
    X(CUDA_MEMSET_NODE_PARAMS_v1, width, 24, 40)          \
    X(CUDA_MEMSET_NODE_PARAMS_v1, height, 32, 40)         \
    X(CUgraphEdgeData, from_port, 0, 8)                   \
    X(CUgraphEdgeData, to_port, 1, 8)                     \
    X(CUgraphEdgeData, type, 2, 8)

#ifndef CUDA_VERSION

#define X(name, value) name = value,
enum { CUDA_CONSTANT_MAP(X) };
#undef X

typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUjit_option;
typedef int CUmemorytype;
typedef int CUstreamCaptureMode;
typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

/* A parameter buffer goes through `extra`: kernels with one struct and kernels with several
 * parameters (which users may bring) then look alike. */
typedef struct CUDA_KERNEL_NODE_PARAMS_st {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUDA_MEMCPY3D_st {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_v2;

typedef struct CUDA_MEMSET_NODE_PARAMS_st {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value;
    unsigned int elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS_v1;

typedef struct CUgraphEdgeData_st {
    unsigned char from_port, to_port, type;
    unsigned char reserved[5];
} CUgraphEdgeData;

#endif /* CUDA_VERSION */

enum symbol_need {
    NEEDED,   /* the driver can't be used without it */
    OPTIONAL, /* NULL where the driver is older than its version */
};

/* X(member, base, version, suffix, need, prototype). cuGetProcAddress is asked for `base` at
 * `version`, which pins the prototype whatever the driver's or the toolkit's age; dlsym for `base`
 * with `suffix` behind it, which is the same function's name in the library. */
#define CUDA_DRIVER_MAP(X)                                                                         \
    X(cuGetErrorName, cuGetErrorName, 6000, "", NEEDED, (CUresult, const char **))                 \
    X(cuGetErrorString, cuGetErrorString, 6000, "", NEEDED, (CUresult, const char **))             \
    X(cuInit, cuInit, 2000, "", NEEDED, (unsigned int))                                            \
    X(cuDeviceGetCount, cuDeviceGetCount, 2000, "", NEEDED, (int *))                               \
    X(cuDeviceGet, cuDeviceGet, 2000, "", NEEDED, (CUdevice *, int))                               \
    X(cuDeviceGetName, cuDeviceGetName, 2000, "", NEEDED, (char *, int, CUdevice))                 \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000, "", NEEDED,                                \
      (int *, CUdevice_attribute, CUdevice))                                                       \
    X(cuDeviceTotalMem, cuDeviceTotalMem, 3020, "_v2", NEEDED, (size_t *, CUdevice))               \
    X(cuDeviceGetUuid, cuDeviceGetUuid, 11040, "_v2", NEEDED, (CUuuid *, CUdevice))                \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, "", NEEDED,                        \
      (CUcontext *, CUdevice))                                                                     \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 11000, "_v2", NEEDED, (CUdevice))      \
    X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, 7000, "", NEEDED,                    \
      (CUdevice, unsigned int *, int *))                                                           \
    X(cuCtxGetCurrent, cuCtxGetCurrent, 4000, "", NEEDED, (CUcontext *))                           \
    X(cuCtxPushCurrent, cuCtxPushCurrent, 4000, "_v2", NEEDED, (CUcontext))                        \
    X(cuCtxPopCurrent, cuCtxPopCurrent, 4000, "_v2", NEEDED, (CUcontext *))                        \
    X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, 5050, "", NEEDED, (int *, int *))  \
    X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 10010, "", NEEDED,     \
      (CUstreamCaptureMode *))                                                                     \
    X(cuMemGetInfo, cuMemGetInfo, 3020, "_v2", NEEDED, (size_t *, size_t *))                       \
    X(cuMemAlloc, cuMemAlloc, 3020, "_v2", NEEDED, (CUdeviceptr *, size_t))                        \
    X(cuMemFree, cuMemFree, 3020, "_v2", NEEDED, (CUdeviceptr))                                    \
    X(cuMemHostAlloc, cuMemHostAlloc, 2020, "", NEEDED, (void **, size_t, unsigned int))           \
    X(cuMemFreeHost, cuMemFreeHost, 2000, "", NEEDED, (void *))                                    \
    X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer, 3020, "_v2", NEEDED,                   \
      (CUdeviceptr *, void *, unsigned int))                                                       \
    X(cuMemHostRegister, cuMemHostRegister, 6050, "_v2", NEEDED, (void *, size_t, unsigned int))   \
    X(cuMemHostUnregister, cuMemHostUnregister, 4000, "", NEEDED, (void *))                        \
    X(cuMemcpyAsync, cuMemcpyAsync, 4000, "", NEEDED,                                              \
      (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                                \
    X(cuMemcpy3DAsync, cuMemcpy3DAsync, 3020, "_v2", NEEDED, (const CUDA_MEMCPY3D_v2 *, CUstream)) \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync, 3020, "_v2", NEEDED,                                   \
      (CUdeviceptr, const void *, size_t, CUstream))                                               \
    X(cuMemsetD32Async, cuMemsetD32Async, 3020, "", NEEDED,                                        \
      (CUdeviceptr, unsigned int, size_t, CUstream))                                               \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx, 2010, "", NEEDED,                                    \
      (CUmodule *, const void *, unsigned int, CUjit_option *, void **))                           \
    X(cuModuleUnload, cuModuleUnload, 2000, "", NEEDED, (CUmodule))                                \
    X(cuModuleGetFunction, cuModuleGetFunction, 2000, "", NEEDED,                                  \
      (CUfunction *, CUmodule, const char *))                                                      \
    X(cuFuncGetAttribute, cuFuncGetAttribute, 2020, "", NEEDED,                                    \
      (int *, CUfunction_attribute, CUfunction))                                                   \
    X(cuFuncGetParamInfo, cuFuncGetParamInfo, 12040, "", OPTIONAL,                                 \
      (CUfunction, size_t, size_t *, size_t *))                                                    \
    X(cuFuncSetAttribute, cuFuncSetAttribute, 9000, "", NEEDED,                                    \
      (CUfunction, CUfunction_attribute, int))                                                     \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,    \
      6050, "", NEEDED, (int *, CUfunction, int, size_t))                                          \
    X(cuLaunchKernel, cuLaunchKernel, 4000, "", NEEDED,                                            \
      (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,           \
       unsigned int, unsigned int, CUstream, void **, void **))                                    \
    X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, 5050, "", NEEDED,                    \
      (CUstream *, unsigned int, int))                                                             \
    X(cuStreamDestroy, cuStreamDestroy, 4000, "_v2", NEEDED, (CUstream))                           \
    X(cuStreamSynchronize, cuStreamSynchronize, 2000, "", NEEDED, (CUstream))                      \
    X(cuStreamQuery, cuStreamQuery, 2000, "", NEEDED, (CUstream))                                  \
    X(cuStreamWaitEvent, cuStreamWaitEvent, 3020, "", NEEDED, (CUstream, CUevent, unsigned int))   \
    X(cuStreamWriteValue64, cuStreamWriteValue64, 11070, "_v2", OPTIONAL,                          \
      (CUstream, CUdeviceptr, cuuint64_t, unsigned int))                                           \
    X(cuEventCreate, cuEventCreate, 2000, "", NEEDED, (CUevent *, unsigned int))                   \
    X(cuEventDestroy, cuEventDestroy, 4000, "_v2", NEEDED, (CUevent))                              \
    X(cuEventRecord, cuEventRecord, 2000, "", NEEDED, (CUevent, CUstream))                         \
    X(cuEventQuery, cuEventQuery, 2000, "", NEEDED, (CUevent))                                     \
    X(cuEventSynchronize, cuEventSynchronize, 2000, "", NEEDED, (CUevent))                         \
    X(cuGraphCreate, cuGraphCreate, 10000, "", NEEDED, (CUgraph *, unsigned int))                  \
    X(cuGraphDestroy, cuGraphDestroy, 10000, "", NEEDED, (CUgraph))                                \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode, 10000, "", NEEDED,                               \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *))   \
    X(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode, 10000, "", NEEDED,                               \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D_v2 *, CUcontext))  \
    X(cuGraphAddMemsetNode, cuGraphAddMemsetNode, 10000, "", NEEDED,                               \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS_v1 *,    \
       CUcontext))                                                                                 \
    X(cuGraphAddEmptyNode, cuGraphAddEmptyNode, 10000, "", NEEDED,                                 \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t))                                       \
    X(cuGraphAddDependencies, cuGraphAddDependencies, 10000, "", NEEDED,                           \
      (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t))                                 \
    X(cuGraphAddDependencies_12030, cuGraphAddDependencies, 12030, "_v2", OPTIONAL,                \
      (CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t))        \
    X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, "", NEEDED,                 \
      (CUgraphExec *, CUgraph, unsigned long long))                                                \
    X(cuGraphUpload, cuGraphUpload, 11010, "", NEEDED, (CUgraphExec, CUstream))                    \
    X(cuGraphLaunch, cuGraphLaunch, 10000, "", NEEDED, (CUgraphExec, CUstream))                    \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, 10010, "", NEEDED,           \
      (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *))                              \
    X(cuGraphExecDestroy, cuGraphExecDestroy, 10000, "", NEEDED, (CUgraphExec))

struct symbols {
    void *library;
    int version; /* of the driver, as cuDriverGetVersion() writes it: 13000; 0: unknown */
#define X(member, base, pinned, suffix, need, prototype) CUresult(*member) prototype;
    CUDA_DRIVER_MAP(X)
#undef X
};

/* Opens libcuda.so.1 and fills the table. On failure `reason` holds the sentence, the table is
 * closed but keeps the version if that could be found. Calls nothing of the driver but its version.
 */
bool symbols_open(struct symbols *symbols, char *reason, size_t size);

/* Only before cuInit(): afterwards the driver has threads and exit handlers, and stays. */
void symbols_close(struct symbols *symbols);

#endif /* GANTRY_CUDA_SYMBOLS_H */
