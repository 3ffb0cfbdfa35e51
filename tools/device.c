#include "device.h"
#include "output.h"

bool device_open(const char *what, const char *selector, struct gantry **g,
                 struct gantry_device **device, struct gantry_device_info *info)
{
    *device = NULL;
    if (gantry_open(NULL, g) != GANTRY_OK)
        goto fail;
    if (gantry_device_open(*g, &(struct gantry_device_params){.device = selector}, device) !=
        GANTRY_OK)
        goto fail;
    if (gantry_device_info(*device, info) != GANTRY_OK)
        goto fail;
    return true;

fail:
    output_failure(what);
    gantry_device_close(device);
    gantry_close(g);
    return false;
}
