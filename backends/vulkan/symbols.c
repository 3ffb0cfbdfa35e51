#define VOLK_IMPLEMENTATION
#include "symbols.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* Open for the rest of the process: drivers keep threads and exit handlers, and unloading them
 * under these is the classic crash at exit. */
static void *loader;

static void *open_loader(char *reason, size_t size)
{
    static const char *const names[] = {"libvulkan.so.1", "libvulkan.so"};
    size_t used = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
        int n = snprintf(reason + used, size - used, "%s%s", used ? "; " : "", dlerror());
        if (n > 0 && (size_t)n < size - used)
            used += (size_t)n;
    }
    return NULL;
}

static PFN_vkGetInstanceProcAddr loaders_own;

/* A program may export names of Vulkan's, its own or another copy of volk's. The loader's answers
 * for what it exports itself would then be the program's: dlsym on the loader alone is not misled.
 */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction function;

    /* ISO C has no conversion from object to function pointers. */
    *(void **)&function = dlsym(loader, name);
    return function ? function : loaders_own(instance, name);
}

/* The process that has opened an instance; 0: none has. */
static atomic_long user;

/* The plugin, which may be closed before the fork, stays in memory to remember this. */
void symbols_claim(void)
{
    Dl_info self;

    if (atomic_exchange(&user, (long)getpid()) == 0 && dladdr(&user, &self))
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

enum gantry_status symbols_open(const struct gantry_backend_services *services)
{
    long owner = atomic_load(&user);
    char reason[512] = "";
    void *symbol;

    if (owner && owner != (long)getpid())
        return services->fail(services->context, GANTRY_E_NO_DEVICE,
                              "process %ld had opened Vulkan before it forked this one, where "
                              "drivers lack their threads and hang or crash; fork before "
                              "gantry_open(), or start the child with exec()",
                              owner);
    if (!loader)
        loader = open_loader(reason, sizeof(reason));
    if (!loader)
        return services->fail(services->context, GANTRY_E_NO_DEVICE,
                              "the Vulkan loader can't be opened: %s (install libvulkan1)", reason);
    symbol = dlsym(loader, "vkGetInstanceProcAddr");
    if (!symbol)
        return services->fail(services->context, GANTRY_E_NO_DEVICE,
                              "the Vulkan loader has no vkGetInstanceProcAddr: %s (reinstall "
                              "libvulkan1)",
                              dlerror());
    *(void **)&loaders_own = symbol;
    volkInitializeCustom(find);
    return GANTRY_OK;
}
