/* The ways in which one would use Vulkan by hand. */
#include "raw_vulkan.h"

#include <stdio.h>
#include <stdlib.h>

#include "../output.h"
#include "stopwatch.h"

struct vulkan_way {
    struct way way;
    struct raw_vulkan *vulkan;
    struct work work;
    struct launch *launches;
    VkCommandBuffer commands;
};

static void destroy(struct way *way)
{
    struct vulkan_way *self = (struct vulkan_way *)way;

    if (self->commands)
        raw_vulkan_free_commands(self->vulkan, self->commands);
    free(self->launches);
    free(self);
}

static struct vulkan_way *make(struct raw *raw, const struct work *work,
                               bool (*run)(struct way *, struct timing *))
{
    struct vulkan_way *self = calloc(1, sizeof *self);

    if (!self) {
        output_error("bench: out of memory for a way of running %u launches", work->launches);
        return NULL;
    }
    *self = (struct vulkan_way){.way = {.run = run, .destroy = destroy},
                                .vulkan = (struct raw_vulkan *)raw,
                                .work = *work};
    self->launches = work_launches(work, self->vulkan->y_address);
    self->commands = raw_vulkan_commands(self->vulkan);
    if (self->launches && self->commands)
        return self;
    destroy(&self->way);
    return NULL;
}

static void record_launch(struct vulkan_way *self, const struct launch *launch, bool bind)
{
    struct raw_vulkan *vulkan = self->vulkan;

    if (bind)
        vulkan->vk.vkCmdBindPipeline(self->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                     vulkan->pipelines[launch->kernel]);
    vulkan->vk.vkCmdPushConstants(self->commands, vulkan->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                  sizeof launch->args, &launch->args);
    vulkan->vk.vkCmdDispatch(self->commands, self->work.blocks, 1, 1);
}

/* One barrier a stage. The first one is for the submissions before. */
static bool record(struct vulkan_way *self, VkCommandBufferUsageFlags flags)
{
    struct raw_vulkan *vulkan = self->vulkan;
    const struct work *work = &self->work;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = flags,
    };

    if (!VK(vulkan->vk.vkBeginCommandBuffer(self->commands, &begin)))
        return false;
    for (uint32_t first = 0; first < work->launches; first += work->width) {
        raw_vulkan_barrier(vulkan, self->commands);
        for (uint32_t i = first; i < first + work->width; i++)
            record_launch(self, &self->launches[i], i == 0 || work->kernels > 1);
    }
    return VK(vulkan->vk.vkEndCommandBuffer(self->commands));
}

/* ---- Recorded once -------------------------------------------------------------------------- */

static bool replay(struct way *way, struct timing *timing)
{
    struct vulkan_way *self = (struct vulkan_way *)way;
    uint64_t start = stopwatch_read();
    bool done = raw_vulkan_submit(self->vulkan, self->commands) && raw_vulkan_wait(self->vulkan);

    timing->ns = stopwatch_between(start, stopwatch_read());
    cells_run(&self->vulkan->raw.cells, &self->work);
    return done;
}

bool raw_vulkan_replay(struct raw *raw, const struct work *work, struct ways *ways)
{
    struct vulkan_way *self = make(raw, work, replay);

    if (!self)
        return false;
    snprintf(self->way.how, sizeof self->way.how,
             "prerecorded commands, a barrier a stage, semaphore polling");
    return ways_add(ways, &self->way) && record(self, 0);
}

/* ---- Recorded each time --------------------------------------------------------------------- */

static bool oneshot(struct way *way, struct timing *timing)
{
    struct vulkan_way *self = (struct vulkan_way *)way;
    uint64_t start = stopwatch_read(), recorded, submitted;
    bool done = record(self, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);

    recorded = stopwatch_read();
    done = done && raw_vulkan_submit(self->vulkan, self->commands);
    submitted = stopwatch_read();
    timing->ns = stopwatch_between(start, submitted);
    timing->submit_ns = stopwatch_between(recorded, submitted);
    cells_run(&self->vulkan->raw.cells, &self->work);
    return done && raw_vulkan_wait(self->vulkan);
}

bool raw_vulkan_oneshot(struct raw *raw, const struct work *work, struct ways *ways)
{
    struct vulkan_way *self = make(raw, work, oneshot);

    if (!self)
        return false;
    snprintf(self->way.how, sizeof self->way.how, "commands recorded again, vkQueueSubmit");
    return ways_add(ways, &self->way);
}
