/* Copies as one would write them by hand. */
#include "raw_vulkan.h"

#include <stdio.h>
#include <stdlib.h>

#include "../output.h"
#include "stopwatch.h"

struct copy_way {
    struct way way;
    struct raw_vulkan *vulkan;
    VkCommandBuffer commands;
};

static bool run(struct way *way, struct timing *timing)
{
    struct copy_way *self = (struct copy_way *)way;
    uint64_t start = stopwatch_read();
    bool done = raw_vulkan_submit(self->vulkan, self->commands) && raw_vulkan_wait(self->vulkan);

    timing->ns = stopwatch_between(start, stopwatch_read());
    return done;
}

static void destroy(struct way *way)
{
    struct copy_way *self = (struct copy_way *)way;

    if (self->commands)
        raw_vulkan_free_commands(self->vulkan, self->commands);
    free(self);
}

/* A region a row. NULL: out of memory. */
static VkBufferCopy *make_regions(const struct raw_copy *copy)
{
    VkBufferCopy *regions = calloc(copy->rows, sizeof *regions);
    VkDeviceSize from_pitch = copy->route == RAW_UP ? copy->width : copy->pitch;
    VkDeviceSize to_pitch = copy->route == RAW_UP ? copy->pitch : copy->width;

    for (uint64_t i = 0; regions && i < copy->rows; i++)
        regions[i] = (VkBufferCopy){i * from_pitch, i * to_pitch, copy->width};
    return regions;
}

static void barrier(struct raw_vulkan *vulkan, VkCommandBuffer commands)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };

    vulkan->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                    VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0,
                                    1, &all, 0, NULL, 0, NULL);
}

static bool record(struct copy_way *self, const struct raw_copy *copy, const VkBufferCopy *regions)
{
    struct raw_vulkan *vulkan = self->vulkan;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBuffer host = vulkan->copied_host.buffer;
    VkBuffer from = copy->route == RAW_UP ? host : vulkan->copied[0].buffer;
    VkBuffer to = copy->route == RAW_UP     ? vulkan->copied[0].buffer
                  : copy->route == RAW_DOWN ? host
                                            : vulkan->copied[1].buffer;

    if (!VK(vulkan->vk.vkBeginCommandBuffer(self->commands, &begin)))
        return false;
    for (unsigned i = 0; i < copy->times; i++) {
        barrier(vulkan, self->commands);
        vulkan->vk.vkCmdCopyBuffer(self->commands, from, to, (uint32_t)copy->rows, regions);
    }
    barrier(vulkan, self->commands);
    return VK(vulkan->vk.vkEndCommandBuffer(self->commands));
}

bool raw_vulkan_copy(struct raw *raw, const struct raw_copy *copy, struct ways *ways)
{
    struct copy_way *self;
    VkBufferCopy *regions;
    bool made = false;

    if (copy->route == RAW_UP_PAGEABLE)
        return true;
    self = calloc(1, sizeof *self);
    regions = make_regions(copy);
    if (self && regions) {
        *self = (struct copy_way){.way = {.run = run, .destroy = destroy},
                                  .vulkan = (struct raw_vulkan *)raw};
        snprintf(self->way.how, sizeof self->way.how, "vkCmdCopyBuffer, %s",
                 copy->rows > 1 ? "a region a row" : "recorded once");
        self->commands = raw_vulkan_commands(self->vulkan);
        made = self->commands && record(self, copy, regions);
    } else {
        output_error("bench: out of memory for a raw copy");
    }
    free(regions);
    if (made)
        return ways_add(ways, &self->way);
    if (self)
        destroy(&self->way);
    return false;
}

/* What was never written may not be there yet: a page of zeros that is mapped everywhere. */
static bool touch(struct raw_vulkan *vulkan, VkBuffer buffer)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = raw_vulkan_commands(vulkan);
    bool done = commands && VK(vulkan->vk.vkBeginCommandBuffer(commands, &begin));

    if (done)
        vulkan->vk.vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 1);
    done = done && VK(vulkan->vk.vkEndCommandBuffer(commands)) &&
           raw_vulkan_submit(vulkan, commands) && raw_vulkan_wait(vulkan);
    if (commands)
        raw_vulkan_free_commands(vulkan, commands);
    return done;
}

static bool reserve(struct raw_vulkan *vulkan, VkDeviceSize size, VkMemoryPropertyFlags wanted,
                    struct raw_memory *memory)
{
    return raw_vulkan_make_memory(vulkan, size, wanted, memory) && touch(vulkan, memory->buffer);
}

bool raw_vulkan_reserve_copies(struct raw *raw, uint64_t device, uint64_t host)
{
    struct raw_vulkan *vulkan = (struct raw_vulkan *)raw;
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

    return reserve(vulkan, device, local, &vulkan->copied[0]) &&
           reserve(vulkan, device, local, &vulkan->copied[1]) &&
           (host == 0 || reserve(vulkan, host, visible, &vulkan->copied_host));
}
