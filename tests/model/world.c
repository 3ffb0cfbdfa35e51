/* A world's life, its random numbers, and its steps. */
#include "model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Random numbers (splitmix64) ------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint32_t draw(struct world *world)
{
    world->random += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mix(world->random) >> 32);
}

uint32_t below(struct world *world, uint32_t limit)
{
    return limit ? draw(world) % limit : 0;
}

bool one_in(struct world *world, uint32_t times)
{
    return below(world, times) == 0;
}

void draw_bytes(struct world *world, uint8_t *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)draw(world);
}

/* ---- Differences ----------------------------------------------------------------------------- */

void differ(struct world *world, const char *file, int line, const char *format, ...)
{
    const char *name = strrchr(file, '/');
    va_list list;
    int size;

    if (world->difference[0])
        return;
    size = snprintf(world->difference, sizeof(world->difference), "%s:%d: ", name ? name + 1 : file,
                    line);
    va_start(list, format);
    vsnprintf(world->difference + size, sizeof(world->difference) - (size_t)size, format, list);
    va_end(list);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(struct world *world);
    uint32_t weight;
} steps[] = {
    {"buffer", step_buffer, 8},
    {"queue", step_queue, 2},
    {"kernel", step_kernel, 1},
    {"write as the host", step_write_host, 3},
    {"look", step_look, 12},
    {"record", step_record, 24},
    {"section", step_section, 14},
    {"finish", step_finish, 24},
    {"submit", step_submit, 20},
    {"patch", step_patch, 12},
    {"list", step_list, 8},
    {"stream", step_stream, 12},
    {"flush", step_flush, 2},
    {"record wrongly", step_wrong_record, 2},
    {"stream wrongly", step_wrong_stream, 3},
    {"wrong object", step_wrong_object, 1},
    {"patch wrongly", step_wrong_patch, 2},
    {"submit wrongly", step_wrong_submit, 1},
    {"settle", settle, 2},
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static uint32_t draw_step(struct world *world)
{
    uint32_t total = 0, i = 0, at;

    for (uint32_t s = 0; s < STEPS; s++)
        total += steps[s].weight;
    for (at = below(world, total); at >= steps[i].weight; i++)
        at -= steps[i].weight;
    return i;
}

void world_run(struct world *world, uint64_t first, uint64_t last)
{
    for (world->at = first; world->at < last && !world->difference[0]; world->at++) {
        uint32_t step;

        world->random = mix(world->seed) ^ mix(world->at + 1);
        step = draw_step(world);
        if (world->trace)
            printf("%" PRIu64 " %s\n", world->at, steps[step].name);
        steps[step].run(world);
    }
    if (!world->difference[0])
        settle(world);
}

/* ---- Life ------------------------------------------------------------------------------------ */

void world_open(struct world *world, struct gantry_device *device, struct gantry_device *foreign,
                const char *package, uint64_t seed)
{
    const struct gantry_module_params params = {.file = package};
    const struct gantry_buffer_params small = {.size = 64};

    *world = (struct world){.device = device, .foreign = foreign, .seed = seed};
    EXPECT(world, GANTRY_OK, gantry_module_load(device, &params, &world->module));
    EXPECT(world, GANTRY_OK, gantry_queue_create(device, NULL, &world->queues[0].handle));
    EXPECT(world, GANTRY_OK, gantry_buffer_create(foreign, &small, &world->foreign_buffer));
    EXPECT(world, GANTRY_OK, gantry_list_create(foreign, NULL, &world->foreign_list));
    EXPECT(world, GANTRY_OK, gantry_queue_create(foreign, NULL, &world->foreign_queue));
    while (!world->difference[0] && (!world->step || !world->hop))
        step_kernel(world);
}

static void free_expected(struct world *world)
{
    while (world->deliveries) {
        struct delivery *delivery = world->deliveries;

        world->deliveries = delivery->next;
        free(delivery->expected);
        free(delivery);
    }
    while (world->litter) {
        struct litter *litter = world->litter;

        world->litter = litter->next;
        free(litter->memory);
        free(litter);
    }
}

/* What runs still uses host memory, which goes last. */
void world_close(struct world *world)
{
    for (uint32_t i = 0; i < LISTS; i++) {
        forget_commands(world, &world->lists[i]);
        gantry_list_destroy(&world->lists[i].handle);
    }
    for (uint32_t b = 0; b < BUFFERS; b++)
        gantry_buffer_destroy(&world->buffers[b].handle);
    gantry_kernel_destroy(&world->step);
    gantry_kernel_destroy(&world->hop);
    gantry_module_unload(&world->module);
    for (uint32_t q = 0; q < QUEUES; q++)
        gantry_queue_destroy(&world->queues[q].handle);
    gantry_buffer_destroy(&world->foreign_buffer);
    gantry_list_destroy(&world->foreign_list);
    gantry_queue_destroy(&world->foreign_queue);
    free_expected(world);
}
