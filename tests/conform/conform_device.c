/* What a device says of itself, and its native handles. */
#include <string.h>

#include "conform.h"

static void limits(struct conform *c)
{
    const struct gantry_limits *l = &c->info.limits;

    CHECK(c->info.name && c->info.name[0], "the device has no name");
    CHECK(c->info.chosen_backend, "the device was opened through no backend");
    CHECK(c->info.chosen_section, "no section is named");
    CHECK(c->info.backend_count >= 1, "no backend sees the device");
    CHECK(l->max_threads_per_block >= 128, "only %u threads a block", l->max_threads_per_block);
    CHECK(l->max_block.x >= 128 && l->max_block.y >= 1 && l->max_block.z >= 1,
          "blocks of %u x %u x %u at most", l->max_block.x, l->max_block.y, l->max_block.z);
    CHECK(l->max_blocks.x >= 65535 && l->max_blocks.y >= 65535 && l->max_blocks.z >= 1,
          "grids of %u x %u x %u blocks at most", l->max_blocks.x, l->max_blocks.y,
          l->max_blocks.z);
    CHECK(l->max_shared_bytes >= 16384, "only %u bytes shared", l->max_shared_bytes);
    CHECK(l->inline_args_bytes >= 128, "only %u bytes of arguments inline", l->inline_args_bytes);
    CHECK(l->max_args_bytes >= l->inline_args_bytes, "arguments: %u bytes at most, %u inline",
          l->max_args_bytes, l->inline_args_bytes);
    CHECK(l->max_args_bytes >= 4096, "only %u bytes of arguments", l->max_args_bytes);
    CHECK(l->max_buffer_size > 0 && l->memory_size > 0, "no memory");
    CHECK(l->subgroup_min >= 1 && l->subgroup_min <= l->subgroup_size &&
              l->subgroup_size <= l->subgroup_max,
          "subgroups of %u to %u, usually %u", l->subgroup_min, l->subgroup_max, l->subgroup_size);
}

static void described_alike(struct conform *c)
{
    struct gantry_device_info listed;

    OK(gantry_device_describe(c->g, c->info.index, &listed));
    CHECK(strcmp(listed.name, c->info.name) == 0, "listed as \"%s\", opened as \"%s\"", listed.name,
          c->info.name);
    CHECK(listed.type == c->info.type, "listed as %s, opened as %s",
          gantry_device_type_name(listed.type), gantry_device_type_name(c->info.type));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_device_describe(c->g, gantry_device_count(c->g), &listed));
}

static void native_handles(struct conform *c)
{
    struct gantry_native_device device;
    struct gantry_native_queue queue;

    OK(gantry_device_native(c->device, &device));
    OK(gantry_queue_native(c->queue, &queue));
    CHECK(strcmp(device.backend, c->info.chosen_backend) == 0, "handles of backend %s",
          device.backend);
    CHECK(strcmp(queue.backend, c->info.chosen_backend) == 0, "handles of backend %s",
          queue.backend);
    if (strcmp(device.backend, "cuda") == 0)
        CHECK(device.cuda_context && queue.cuda_stream, "no CUDA context or no stream");
    if (strcmp(device.backend, "vulkan") == 0)
        CHECK(device.vk_instance && device.vk_physical_device && device.vk_device &&
                  queue.vk_queue && queue.vk_timeline,
              "a Vulkan handle is missing");
}

static void opened_again(struct conform *c)
{
    struct gantry_device_params params = {.device = c->options->device};
    struct gantry_device *device;

    for (int i = 0; i < 5; i++) {
        OK(gantry_device_open(c->g, &params, &device));
        gantry_device_close(&device);
        CHECK(!device, "closing left the handle");
    }
}

static void selectors_that_match_nothing(struct conform *c)
{
    static const char *const selectors[] = {"-1",
                                            "99999999999",
                                            "0x0",
                                            "0,0",
                                            "no such device",
                                            "uuid:GPU-00000000-0000-0000-0000-000000000000",
                                            "pci:ffff:ff:1f.7",
                                            "cuda:999",
                                            "nonsense:0"};
    struct gantry_device *device;

    for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
        struct gantry_device_params params = {.device = selectors[i]};
        enum gantry_status status = gantry_device_open(c->g, &params, &device);

        CHECK(status < 0 && !device, "selector \"%s\" opened a device", selectors[i]);
        CHECK(gantry_last_error()[0], "selector \"%s\" was refused without a sentence",
              selectors[i]);
    }
}

const struct conform_case device_cases[] = {
    {"device/limits", NULL, limits},
    {"device/described-alike", NULL, described_alike},
    {"device/native-handles", NULL, native_handles},
    {"device/opened-again", NULL, opened_again},
    {"device/selectors-that-match-nothing", "C06", selectors_that_match_nothing},
    {0},
};
