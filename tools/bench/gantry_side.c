#include "gantry_side.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../output.h"

bool gantry_side_failed(void)
{
    output_failure(output_subcommand());
    return false;
}

static bool open_device(struct gantry_side *side, const struct gantry_side_params *params)
{
    const struct gantry_params g = {.app_name = params->app,
                                    .config_text = params->config,
                                    .override_text = params->override};
    const struct gantry_device_params device = {.device = params->device,
                                                .backend = params->backend};

    return gantry_open(&g, &side->g) == GANTRY_OK &&
           gantry_device_open(side->g, &device, &side->device) == GANTRY_OK &&
           gantry_device_info(side->device, &side->info) == GANTRY_OK &&
           gantry_queue_create(side->device, NULL, &side->queue) == GANTRY_OK;
}

static bool make_kernels(struct gantry_side *side, const char *package)
{
    const struct gantry_module_params module = {.file = package};
    char name[16];

    if (gantry_module_load(side->device, &module, &side->module) != GANTRY_OK)
        return false;
    for (int i = 0; i < KERNEL_COUNT; i++) {
        snprintf(name, sizeof name, "tiny%d", i + 1);
        if (gantry_kernel_create(side->module, name, NULL, &side->kernels[i]) != GANTRY_OK)
            return false;
    }
    return true;
}

bool gantry_side_open(struct gantry_side *side, const struct gantry_side_params *params)
{
    bool opened =
        open_device(side, params) && (!params->package || make_kernels(side, params->package));

    return opened || (!params->quiet && gantry_side_failed());
}

static void drop_memory(struct gantry_side *side)
{
    gantry_buffer_destroy(&side->y);
    gantry_buffer_destroy(&side->readback);
    cells_close(&side->cells);
}

void gantry_side_close(struct gantry_side *side)
{
    gantry_queue_destroy(&side->queue);
    drop_memory(side);
    for (int i = 0; i < KERNEL_COUNT; i++)
        gantry_kernel_destroy(&side->kernels[i]);
    gantry_module_unload(&side->module);
    gantry_device_close(&side->device);
    gantry_close(&side->g);
}

bool gantry_side_reserve(struct gantry_side *side, uint32_t blocks)
{
    uint64_t size = (uint64_t)blocks * BLOCK_THREADS * sizeof(float);
    const struct gantry_buffer_params y = {.size = size, .zero = true, .label = "y"};
    const struct gantry_buffer_params readback = {.size = size,
                                                  .memory = GANTRY_MEMORY_READBACK,
                                                  .label = "readback"};

    drop_memory(side);
    if (!cells_open(&side->cells, blocks))
        return false;
    return (gantry_buffer_create(side->device, &y, &side->y) == GANTRY_OK &&
            gantry_buffer_create(side->device, &readback, &side->readback) == GANTRY_OK) ||
           gantry_side_failed();
}

bool gantry_side_wait(struct gantry_point point)
{
    return gantry_wait(point, GANTRY_FOREVER) == GANTRY_OK || gantry_side_failed();
}

/* y is copied to the host's memory and then cleared, in one list. */
bool gantry_side_check(struct gantry_side *side)
{
    uint64_t size = gantry_buffer_size(side->y);
    struct gantry_point point;
    struct gantry_list *list;
    bool right;

    if (gantry_list_create(side->device, NULL, &list) != GANTRY_OK)
        return gantry_side_failed();
    gantry_list_copy(list, side->readback, 0, side->y, 0, size);
    gantry_list_fill(list, side->y, 0, size, 0);
    right = gantry_queue_submit(side->queue, list, NULL, 0, &point) == GANTRY_OK ||
            gantry_side_failed();
    gantry_list_destroy(&list);
    right = right && gantry_side_wait(point) &&
            cells_match(&side->cells, gantry_buffer_host(side->readback), "gantry");
    cells_clear(&side->cells);
    return right;
}

const char *gantry_side_driver_version(const struct gantry_side *side)
{
    const struct gantry_device_info *info = &side->info;

    for (uint32_t i = 0; i < info->backend_count; i++) {
        if (strcmp(info->backends[i].backend, info->chosen_backend) == 0)
            return info->backends[i].driver_version;
    }
    return "";
}

uint32_t gantry_side_wave(const struct gantry_side *side)
{
    enum { GUESS = 1024 }; /* of the order of what large GPUs run */
    const struct gantry_limits *limits = &side->info.limits;
    struct gantry_kernel_info kernel;
    uint32_t per_unit = limits->threads_per_unit / BLOCK_THREADS;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (side->info.type == GANTRY_DEVICE_CPU && processors > 0)
        return (uint32_t)processors;
    if (gantry_kernel_describe(side->kernels[0], &kernel) == GANTRY_OK && kernel.blocks_per_unit)
        per_unit = kernel.blocks_per_unit;
    return limits->compute_units && per_unit ? limits->compute_units * per_unit : GUESS;
}

bool gantry_side_config(const struct gantry_side *side, const char *key,
                        struct gantry_config_value *value)
{
    uint32_t device = side->info.index, count = gantry_config_count(side->g, device);

    for (uint32_t i = 0; i < count; i++) {
        if (gantry_config_get(side->g, device, i, value) != GANTRY_OK)
            return gantry_side_failed();
        if (strcmp(value->key, key) == 0)
            return true;
    }
    output_error("%s: the library has no configuration key '%s'", output_subcommand(), key);
    return false;
}
