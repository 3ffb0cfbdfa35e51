#include "scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "launch.h"

enum {
    ROUNDS = 3000000, /* of the kernel that keeps a device busy: some ten milliseconds */
    BYTES = CELLS * 4,
    STREAMED = 5, /* launches of the open batch */
};

const char *scene_device;

noreturn void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    _exit(1);
}

void must(const char *call, enum gantry_status status)
{
    if (status != GANTRY_OK)
        die("%s: %s: %s", call, gantry_status_name(status), gantry_last_error());
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void make_buffer(struct scene *scene, enum gantry_memory memory,
                        struct gantry_buffer **buffer)
{
    struct gantry_buffer_params params = {.size = BYTES, .memory = memory, .zero = true};

    OK(gantry_buffer_create(scene->device, &params, buffer));
}

static void record(struct scene *scene)
{
    struct spin_args spin = {.cell = gantry_buffer_address(scene->busy), .rounds = ROUNDS};
    struct step_args step = {.cells = gantry_buffer_address(scene->cells), .n = CELLS, .add = 7};
    struct gantry_size one = {1, 1, 1}, all = {.x = CELLS};

    OK(gantry_list_create(scene->device, NULL, &scene->list));
    gantry_list_launch(scene->list, scene->spin, one, &spin, sizeof(spin));
    gantry_list_launch(scene->list, scene->step, all, &step, sizeof(step));
    scene->patchable =
        gantry_list_launch_patchable(scene->list, scene->step, all, all, &step, sizeof(step));
    gantry_list_download(scene->list, scene->cells, 0, scene->found, BYTES);
    OK(gantry_list_finish(scene->list));
}

void scene_open(struct scene *scene, const char *policy)
{
    struct gantry_params params = {.app_name = "life", .override_text = policy};
    struct gantry_device_params device = {.device = scene_device};
    struct gantry_module_params module = {.file = PACKAGES "/launch.gpk"};

    *scene = (struct scene){0};
    OK(gantry_open(&params, &scene->g));
    OK(gantry_device_open(scene->g, &device, &scene->device));
    OK(gantry_queue_create(scene->device, NULL, &scene->queue));
    OK(gantry_queue_create(scene->device, NULL, &scene->other));
    OK(gantry_module_load(scene->device, &module, &scene->module));
    OK(gantry_kernel_create(scene->module, "spin", NULL, &scene->spin));
    OK(gantry_kernel_create(scene->module, "step", NULL, &scene->step));
    make_buffer(scene, GANTRY_MEMORY_DEVICE, &scene->busy);
    make_buffer(scene, GANTRY_MEMORY_DEVICE, &scene->cells);
    make_buffer(scene, GANTRY_MEMORY_UPLOAD, &scene->upload);
    record(scene);
}

/* ---- Working --------------------------------------------------------------------------------- */

void scene_start(struct scene *scene)
{
    struct spin_args spin = {.cell = gantry_buffer_address(scene->busy) + 4, .rounds = ROUNDS / 10};

    for (int i = 0; i < REPLAYS; i++)
        OK(gantry_queue_submit(scene->queue, scene->list, NULL, 0, &scene->replayed));
    for (int i = 0; i < STREAMED; i++)
        OK(gantry_queue_launch(scene->other, scene->spin, (struct gantry_size){1, 1, 1}, &spin,
                               sizeof(spin), &scene->streamed));
}

void scene_check(struct scene *scene)
{
    uint32_t expected = 0;

    for (int i = 0; i < 2 * REPLAYS; i++) /* the list changes each cell twice */
        expected = expected * 3 + 7;
    OK(gantry_wait(scene->replayed, GANTRY_FOREVER));
    OK(gantry_wait(scene->streamed, GANTRY_FOREVER));
    for (int i = 0; i < CELLS; i++)
        CHECK(scene->found[i] == expected, "cell %d is %u instead of %u", i, scene->found[i],
              expected);
}

void scene_close(struct scene *scene)
{
    gantry_list_destroy(&scene->list);
    gantry_buffer_destroy(&scene->upload);
    gantry_buffer_destroy(&scene->cells);
    gantry_buffer_destroy(&scene->busy);
    gantry_kernel_destroy(&scene->step);
    gantry_kernel_destroy(&scene->spin);
    gantry_module_unload(&scene->module);
    gantry_queue_destroy(&scene->other);
    gantry_queue_destroy(&scene->queue);
    gantry_device_close(&scene->device);
    gantry_close(&scene->g);
}

void scene_whole(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_start(&scene);
    scene_check(&scene);
    scene_close(&scene);
}
