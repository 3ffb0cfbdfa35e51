#include "paper_device.h"

#include <string.h>

#include "core/block.h"
#include "core/context.h"
#include "core/device.h"
#include "core/memory.h"
#include "core/retire.h"
#include "core/status.h"

#include "fuzz.h"

static unsigned kernels;

/* ---- The plugin ----------------------------------------------------------------------------- */

static const struct gantry_limits limits = {
    .max_buffer_size = 1 << 30,
    .max_threads_per_block = 1024,
    .max_block = {1024, 1024, 64},
    .max_blocks = {0x7fffffff, 65535, 65535},
    .max_shared_bytes = 48 << 10,
    .max_args_bytes = 4096,
    .inline_args_bytes = 128,
    .compute_units = 8,
    .threads_per_unit = 2048,
};

static const uint32_t features = GANTRY_FEATURE_HALF | GANTRY_FEATURE_INT64 | GANTRY_FEATURE_INT16;

/* A number that every byte counts in, so that all of them are read. */
static uint32_t digest(const void *data, size_t size)
{
    uint32_t sum = 1;

    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + ((const uint8_t *)data)[i];
    return sum;
}

static uint32_t check_image(const struct gantry_backend_image *image)
{
    const char *text = image->data;

    HOLDS(image->data && image->size && image->name && strlen(image->name) < 1024);
    HOLDS((image->features & ~features) == 0);
    if (image->kind == GANTRY_IMAGE_PTX || image->kind == GANTRY_IMAGE_SOURCE)
        HOLDS(text[image->size] == '\0');
    return digest(image->data, image->size);
}

/* The digest of the first image that is to the device's taste; 0: none is. */
static uint32_t check_params(const struct gantry_backend_kernel_params *params)
{
    uint32_t taken = 0;

    HOLDS(params->image_count > 0);
    HOLDS(strncmp(params->symbol, params->source->name, strlen(params->source->name)) == 0);
    HOLDS(params->source->args_size <= limits.max_args_bytes);
    for (uint32_t i = 0; i < params->image_count; i++) {
        uint32_t sum = check_image(&params->images[i]);

        taken = taken == 0 && sum % 8 ? sum : taken;
    }
    return taken;
}

static enum gantry_status propose(struct gantry_drv_device *device,
                                  const struct gantry_backend_kernel_params *params,
                                  uint32_t *threads)
{
    (void)device;
    *threads = 1 + check_params(params) % 2048;
    return GANTRY_OK;
}

static enum gantry_status create(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info)
{
    const struct block_rules rules = {.source = params->source, .limits = &limits};
    uint32_t sum = check_params(params);
    char why[BLOCK_WHY_SIZE];

    (void)device;
    HOLDS(params->block.x && params->block.y && params->block.z);
    HOLDS(block_allowed(&rules, params->block, why));
    if (sum == 0)
        return fail(GANTRY_E_NO_IMAGE, "kernel %s: no image is to the paper's taste",
                    params->symbol);
    *info = (struct gantry_backend_kernel_info){
        .max_threads = sum & 64 ? 0 : 1 + sum / 128 % 1024,
        .blocks_per_unit = sum % 3,
    };
    snprintf(info->image, sizeof(info->image), "paper %u", sum);
    kernels++;
    *kernel = malloc(1); /* what is not destroyed is a leak */
    HOLDS(*kernel);
    return GANTRY_OK;
}

static void destroy(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel)
{
    (void)device;
    free(kernel);
    kernels--;
}

static const struct gantry_backend_ops ops = {
    .size = sizeof(ops),
    .kernel_block = propose,
    .kernel_create = create,
    .kernel_destroy = destroy,
};

/* ---- The device ----------------------------------------------------------------------------- */

static struct gantry_device *open_paper(void)
{
    static struct gantry_device device;
    static struct view view;
    static struct gantry *g;

    setenv("GANTRY_CONFIG", "none", 1);
    setenv("GANTRY_BACKEND", "paper", 1); /* so that no plugin is loaded */
    HOLDS(gantry_open(NULL, &g) == GANTRY_OK);
    view.subject = (struct policy_subject){.name = "Paper", .type = GANTRY_DEVICE_DISCRETE};
    device.g = g;
    device.view = &view;
    device.ops = &ops;
    device.backend = "paper";
    device.label = (char *)"Paper";
    device.process = process_id();
    device.info.limits = limits;
    device.info.features = features;
    pthread_mutex_init(&device.lock, NULL);
    policy_for_device(g->policy, &view.subject, &device.policy);
    memory_open(&device);
    return &device;
}

struct gantry_device *paper_device(void)
{
    static struct gantry_device *device;

    if (!device)
        device = open_paper();
    return device;
}

unsigned paper_kernels(void)
{
    return kernels;
}

void paper_collect(void)
{
    retire_collect(paper_device());
}
