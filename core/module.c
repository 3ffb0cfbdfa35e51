/* Modules: packages on a device. Nothing is sent to the driver before a kernel is made. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"

static enum gantry_status load_package(const struct gantry_module_params *params,
                                       struct gantry_package **package)
{
    if (params->source && (params->file || params->data))
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "both a package and a source with images are given; give one of them");
    if (params->source)
        return package_wrap(params, package);
    if (params->images || params->image_count)
        return fail(GANTRY_E_INVALID_ARGUMENT, "images are given without the source that states "
                                               "their kernel");
    return package_load(params->file, params->data, params->size, package);
}

static enum gantry_status make(struct gantry_device *device,
                               const struct gantry_module_params *params,
                               struct gantry_module **out)
{
    struct gantry_module *module = calloc(1, sizeof(*module));
    enum gantry_status status;

    if (!module)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a module object");
    module->refs = 1;
    status = load_package(params, &module->package);
    if (status == GANTRY_OK) {
        module->label = strdup(params->label ? params->label : module->package->name);
        if (!module->label)
            status = fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for the label of a module");
    }
    if (status != GANTRY_OK) {
        module_free(module);
        return status;
    }
    object_link(&module->object, device, OBJECT_MODULE);
    *out = module;
    return GANTRY_OK;
}

enum gantry_status gantry_module_load(struct gantry_device *device,
                                      const struct gantry_module_params *params,
                                      struct gantry_module **module)
{
    static const struct gantry_module_params none;
    enum gantry_status status;

    if (module)
        *module = NULL;
    status = device_usable(device, "gantry_module_load");
    if (status != GANTRY_OK)
        return status;
    if (!module)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_module_load: the handle's address is NULL");
    status = make(device, params ? params : &none, module);
    if (status != GANTRY_OK)
        fail_context("gantry_module_load");
    return status;
}

void module_free(struct gantry_module *module)
{
    package_free(module->package);
    free(module->label);
    free(module);
}

void module_ref(struct gantry_module *module)
{
    struct gantry_device *device = module->object.device;

    pthread_mutex_lock(&device->lock);
    module->refs++;
    pthread_mutex_unlock(&device->lock);
}

/* Its memory is the host's alone, so nothing that runs needs it once its kernels are gone. */
void module_unref(struct gantry_module *module)
{
    struct gantry_device *device = module->object.device;
    bool last;

    pthread_mutex_lock(&device->lock);
    last = --module->refs == 0;
    pthread_mutex_unlock(&device->lock);
    if (!last)
        return;
    object_unlink(&module->object);
    module_free(module);
}

void gantry_module_unload(struct gantry_module **handle)
{
    struct gantry_module *module = handle ? *handle : NULL;

    if (!module)
        return;
    *handle = NULL;
    if (!device_forked(module->object.device))
        module_unref(module);
}
