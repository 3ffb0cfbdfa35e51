/* Modules and functions. A function's body comes from the host images that STANDIN_KERNELS lists.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "standin.h"

/* ---- Bodies ---------------------------------------------------------------------------------- */

enum { MAX_IMAGES = 32 };

static void *host_images[MAX_IMAGES];
static int host_image_count = -1; /* not opened yet */
static bool host_images_broken;

/* The same file once more, with data of its own. */
static void *open_copy(const char *path)
{
    char copy[64];
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("host image", MFD_CLOEXEC);
    void *image = NULL;
    while (from >= 0 && to >= 0 && sendfile(to, from, NULL, 1 << 20) > 0)
        ;
    snprintf(copy, sizeof(copy), "/proc/self/fd/%d", to);
    if (from >= 0 && to >= 0)
        image = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    close(from);
    close(to);
    return image;
}

void host_images_renew(void)
{
    host_images_broken = true;
    host_image_count = -1;
}

static void open_host_images(void)
{
    const char *list = getenv("STANDIN_KERNELS");
    char *copy = strdup(list ? list : ""), *rest = copy, *path;
    host_image_count = 0;
    while (copy && host_image_count < MAX_IMAGES && (path = strsep(&rest, ":")) != NULL) {
        if (!*path)
            continue;
        void *image = host_images_broken ? open_copy(path) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (image)
            host_images[host_image_count++] = image;
        else
            fault("STANDIN_KERNELS: %s", dlerror());
    }
    free(copy);
}

static gantry_host_entry *find_body(const char *symbol)
{
    char name[512];
    /* dlsym's void * is not a function pointer to ISO C; POSIX says that it is one. */
    union {
        void *object;
        gantry_host_entry *function;
    } found = {NULL};
    if (host_image_count < 0)
        open_host_images();
    snprintf(name, sizeof(name), GANTRY_HOST_PREFIX "%s", symbol);
    for (int i = 0; i < host_image_count && !found.object; i++)
        found.object = dlsym(host_images[i], name);
    return found.function;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static void write_log(unsigned count, const CUjit_option *options, void **values, const char *text)
{
    char *buffer = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            buffer = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            size = (size_t)(uintptr_t)values[i];
    }
    if (buffer && size)
        snprintf(buffer, size, "%s", text);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *data, unsigned count,
                            CUjit_option *options, void **values)
{
    VISIT_CONTEXT(cuModuleLoadDataEx);
    struct CUmod_st *made = calloc(1, sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = image_read(data, context->device, made);
    if (result != CUDA_SUCCESS) {
        write_log(count, options, values, made->refusal ? made->refusal : "");
        functions_free(made);
        free(made);
        return result;
    }
    for (struct CUfunc_st *function = made->functions; function; function = function->next)
        function->body = find_body(function->name);
    object_add(&made->object, KIND_MODULE, context);
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    VISIT_CONTEXT(cuModuleUnload);
    if (!object_check((struct object *)module, KIND_MODULE, context))
        return STANDIN_INVALID_HANDLE;
    if (work_is_queued_on(module))
        fault("a module was unloaded while queued work uses it");
    object_kill(&module->object);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    VISIT_CONTEXT(cuModuleGetFunction);
    if (!object_check((struct object *)module, KIND_MODULE, context))
        return STANDIN_INVALID_HANDLE;
    for (struct CUfunc_st *found = module->functions; found; found = found->next) {
        if (strcmp(found->name, name) == 0) {
            *function = found;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static bool check_function(const struct CUfunc_st *function, const struct CUctx_st *context)
{
    if (function)
        return object_check(&function->module->object, KIND_MODULE, context);
    fault("NULL was given as a function");
    return false;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    VISIT_CONTEXT(cuFuncGetAttribute);
    if (!check_function(function, context))
        return STANDIN_INVALID_HANDLE;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = function->max_threads;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = function->static_shared;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->max_dynamic_shared;
        return CUDA_SUCCESS;
    default:
        return STANDIN_INVALID_VALUE;
    }
}

/* All parameters as one: what is known of them is where they end. */
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    VISIT_CONTEXT(cuFuncGetParamInfo);
    if (!check_function(function, context))
        return STANDIN_INVALID_HANDLE;
    if (index > 0 || function->args_size == 0)
        return STANDIN_INVALID_VALUE;
    *offset = 0;
    *size = function->args_size;
    return CUDA_SUCCESS;
}

enum { SHARED_OPT_IN = 99 << 10, SHARED_PER_UNIT = 100 << 10, THREADS_PER_UNIT = 2048 };

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    VISIT_CONTEXT(cuFuncSetAttribute);
    if (!check_function(function, context))
        return STANDIN_INVALID_HANDLE;
    if ((int)attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value + function->static_shared > SHARED_OPT_IN)
        return STANDIN_INVALID_VALUE;
    function->max_dynamic_shared = value;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamic_shared)
{
    VISIT_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    if (!check_function(function, context) || threads < 1)
        return STANDIN_INVALID_VALUE;
    size_t shared = (size_t)function->static_shared + dynamic_shared;
    int by_shared = shared ? (int)(SHARED_PER_UNIT / (shared + 1024)) : INT32_MAX;
    *blocks = THREADS_PER_UNIT / threads;
    if (threads > function->max_threads)
        *blocks = 0;
    if (*blocks > by_shared)
        *blocks = by_shared;
    return CUDA_SUCCESS;
}
