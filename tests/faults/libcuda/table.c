/* The driver's table of entries: cuGetProcAddress. */
#include <stdlib.h>
#include <string.h>

#include "standin.h"

typedef void (*function)(void);

static const struct {
    const char *base;
    int version;
    function function;
} rows[ENTRY_COUNT] = {
#define X(member, base, pinned, suffix, need, prototype) {#base, pinned, (function)member},
    CUDA_DRIVER_MAP(X) EXTRA_MAP(X)
#undef X
};

/* STANDIN_WITHOUT lists entries, separated by commas. */
static bool is_withheld(const char *name)
{
    const char *list = getenv("STANDIN_WITHOUT");
    size_t length = strlen(name);
    for (const char *at = list ? list : ""; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    return false;
}

/* The newest variant that neither the driver nor the caller is too old for. */
static bool find(const char *base, int version, void *address)
{
    int newest = 0;
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (strcmp(rows[i].base, base) != 0 || rows[i].version > version ||
            rows[i].version > settings()->driver || rows[i].version < newest ||
            is_withheld(entry_names[i]))
            continue;
        newest = rows[i].version;
        memcpy(address, &rows[i].function, sizeof(rows[i].function));
    }
    return newest > 0;
}

CUresult cuGetProcAddress(const char *symbol, void **address, int version, cuuint64_t flags)
{
    VISIT_ANYTIME(cuGetProcAddress);
    if (flags != 0)
        return MISUSE(STANDIN_INVALID_VALUE, "cuGetProcAddress with flags");
    return find(symbol, version, address) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_12000(const char *symbol, void **address, int version, cuuint64_t flags,
                                int *found)
{
    CUresult result = cuGetProcAddress(symbol, address, version, flags);
    if (found)
        *found = result != CUDA_SUCCESS;
    return result;
}

/* NVIDIA's own libraries ask for tables of secret functions, NVRTC crashes without this entry. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    VISIT_ANYTIME(cuGetExportTable);
    (void)id;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

#define RESULT_MAP(X)                                                                     \
    X(CUDA_SUCCESS, 0, "no error")                                                        \
    X(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument")                                    \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory")                                       \
    X(CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error")                              \
    X(CUDA_ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")                    \
    X(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                           \
    X(CUDA_ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")                    \
    X(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid device context")                          \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209,                                                  \
      "no kernel image is available for execution on the "                                \
      "device")                                                                           \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered")           \
    X(CUDA_ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed")                        \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221, "PTX JIT compiler library not found")       \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222,                                            \
      "the provided PTX was compiled with an "                                            \
      "unsupported toolchain.")                                                           \
    X(CUDA_ERROR_INVALID_HANDLE, 400, "invalid resource handle")                          \
    X(CUDA_ERROR_NOT_FOUND, 500, "named symbol not found")                                \
    X(CUDA_ERROR_NOT_READY, 600, "device not ready")                                      \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")        \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch") \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")          \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712,                                     \
      "part or all of the requested memory range is already mapped")                      \
    X(CUDA_ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")                        \
    X(CUDA_ERROR_NOT_PERMITTED, 800, "operation not permitted")                           \
    X(CUDA_ERROR_NOT_SUPPORTED, 801, "operation not supported")                           \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802, "system not yet initialized")                     \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803,                                             \
      "system has unsupported display driver / cuda "                                     \
      "driver combination")                                                               \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804,                                     \
      "forward compatibility was attempted on "                                           \
      "non supported HW")                                                                 \
    X(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910,                                          \
      "the graph update was not performed because it "                                    \
      "included changes which violated constraints")                                      \
    X(CUDA_ERROR_UNKNOWN, 999, "unknown error")

static const struct {
    int result;
    const char *name, *text;
} results[] = {
#define X(name, value, text) {value, #name, text},
    RESULT_MAP(X)
#undef X
};

static CUresult describe(CUresult result, bool name, const char **text)
{
    *text = NULL;
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        if (results[i].result == (int)result)
            *text = name ? results[i].name : results[i].text;
    return *text ? CUDA_SUCCESS : (CUresult)STANDIN_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult result, const char **text)
{
    VISIT_ANYTIME(cuGetErrorName);
    return describe(result, true, text);
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    VISIT_ANYTIME(cuGetErrorString);
    return describe(result, false, text);
}
