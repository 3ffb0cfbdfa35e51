/* The backends, and the ways in which their entries fail. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <link.h>

#include "torture.h"

static const struct code host_codes[] = {
    {.text = "E_DRIVER", .name = "GANTRY_HOST_FAIL"},
    {.text = "E_OUT_OF_MEMORY", .name = "GANTRY_HOST_FAIL", .status = "GANTRY_E_OUT_OF_MEMORY"},
    {.text = "E_OUT_OF_HOST_MEMORY", .name = "GANTRY_HOST_FAIL"},
    {.text = "E_DEVICE_LOST", .name = "GANTRY_HOST_FAIL"},
    {.text = "E_DRIVER", .name = "GANTRY_HOST_FAIL", .onwards = true},
    {0},
};

/* The driver refuses, has no memory, gives no reason, or loses the device. */
static const struct code cuda_codes[] = {
    {.text = "801", .name = "CUDA_ERROR_NOT_SUPPORTED"},
    {.text = "2", .name = "CUDA_ERROR_OUT_OF_MEMORY", .status = "GANTRY_E_OUT_OF_MEMORY"},
    {.text = "999", .name = "CUDA_ERROR_UNKNOWN"},
    {.text = "801", .name = "CUDA_ERROR_NOT_SUPPORTED", .onwards = true},
    {.text = "2",
     .name = "CUDA_ERROR_OUT_OF_MEMORY",
     .status = "GANTRY_E_OUT_OF_MEMORY",
     .onwards = true},
    {.text = "700", .name = "CUDA_ERROR_ILLEGAL_ADDRESS", .sticky = true},
    {.text = "719", .name = "CUDA_ERROR_LAUNCH_FAILED", .sticky = true},
    {0},
};

/* Queries may say that there was more than fitted. */
static const struct code vulkan_codes[] = {
    {.text = "-1", .name = "VK_ERROR_OUT_OF_HOST_MEMORY"},
    {.text = "-2", .name = "VK_ERROR_OUT_OF_DEVICE_MEMORY", .status = "GANTRY_E_OUT_OF_MEMORY"},
    {.text = "-3", .name = "VK_ERROR_INITIALIZATION_FAILED"},
    {.text = "-4", .name = "VK_ERROR_DEVICE_LOST"},
    {.text = "-2",
     .name = "VK_ERROR_OUT_OF_DEVICE_MEMORY",
     .status = "GANTRY_E_OUT_OF_MEMORY",
     .onwards = true},
    {.text = "-4", .name = "VK_ERROR_DEVICE_LOST", .onwards = true},
    {.text = "5", .name = "VK_INCOMPLETE", .beginning = "vkEnumerate"},
    {0},
};

static const struct code memory_codes[] = {
    {.text = "", .name = "host memory", .status = "OUT_OF_HOST_MEMORY"},
    {.text = "", .name = "host memory", .status = "OUT_OF_HOST_MEMORY", .onwards = true},
    {0},
};

static const char *const none[] = {NULL};

static const char *const cuda_may_leak[] = {
    "cuGraphDestroy",      "cuGraphExecDestroy",
    "cuEventDestroy",      "cuStreamDestroy",
    "cuMemFree",           "cuMemHostUnregister",
    "cuModuleUnload",      "cuDevicePrimaryCtxRelease",
    "cuCtxPushCurrent",    "cuCtxPopCurrent",
    "cuCtxGetCurrent",     "cuThreadExchangeStreamCaptureMode",
    "cuStreamSynchronize", NULL,
};

static const struct injector injectors[] = {
    {"host", "host:0", "GANTRY_HOST_FAIL", "GANTRY_HOST_REPORT", false, host_codes, none},
    {"cuda", "cuda:0", "STANDIN_FAIL", "STANDIN_REPORT", false, cuda_codes, cuda_may_leak},
    {"vulkan", "vulkan:0", "FAULTS_VULKAN_FAIL", "FAULTS_VULKAN_REPORT", false, vulkan_codes, none},
    {"memory-host", "host:0", "FAULTS_MALLOC_FAIL", "GANTRY_HOST_REPORT", true, memory_codes, none},
    {"memory-cuda", "cuda:0", "FAULTS_MALLOC_FAIL", "STANDIN_REPORT", true, memory_codes, none},
    {"memory-vulkan", "vulkan:0", "FAULTS_MALLOC_FAIL", "FAULTS_VULKAN_REPORT", true, memory_codes,
     none},
};

const struct injector *injector_find(const char *name)
{
    for (size_t i = 0; i < sizeof(injectors) / sizeof(injectors[0]); i++)
        if (strcmp(injectors[i].name, name) == 0)
            return &injectors[i];
    return NULL;
}

/* ---- Where the backends are ------------------------------------------------------------------ */

static void set_path(const char *variable, const char *build, const char *rest)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", build, rest);
    setenv(variable, path, 1);
}

static void prepare_host(const char *build)
{
    set_path("GANTRY_PLUGIN_PATH", build, "tests/plugins/.libs");
    setenv("GANTRY_BACKEND", "host", 1);
    setenv("GANTRY_HOST_DEVICES", "type=discrete", 1);
    /* LeakSanitizer can't read the thread-local memory of kernels that were unloaded. */
    setenv("LSAN_OPTIONS", "use_tls=0", 1);
}

static void prepare_cuda(const char *build)
{
    setenv("GANTRY_BACKEND", "cuda", 1);
    set_path("LD_LIBRARY_PATH", build, "tests/faults/libcuda/.libs");
    set_path("STANDIN_KERNELS", build, "tests/conform/launch.so");
}

/* The interposed loader is told where the real one is, before it takes its name. */
static bool prepare_vulkan(const char *build)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    struct link_map *map;

    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        printf("skipped: there is no Vulkan loader: %s\n", dlerror());
        return false;
    }
    setenv("FAULTS_VULKAN_LOADER", map->l_name, 1);
    setenv("GANTRY_BACKEND", "vulkan", 1);
    set_path("LD_LIBRARY_PATH", build, "tests/faults/vulkan/.libs");
    return true;
}

/* AddressSanitizer has its own allocator, in front of which nothing may be loaded, and its own
 * books: those of drivers are left out, because their leaks would drown ours. */
#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

bool injector_prepare(const struct injector *injector, const char *build)
{
    bool vulkan = strstr(injector->name, "vulkan") != NULL;

    if (SANITIZED && injector->own_memory) {
        printf("skipped: AddressSanitizer has taken malloc's place\n");
        return false;
    }
    setenv("GANTRY_CONFIG", "none", 1);
    if (strstr(injector->name, "host"))
        prepare_host(build);
    else if (strstr(injector->name, "cuda"))
        prepare_cuda(build);
    else if (!prepare_vulkan(build))
        return false;
    if (vulkan)
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    if (!SANITIZED)
        set_path("LD_PRELOAD", build, "tests/faults/malloc/.libs/malloc.so");
    return true;
}
