/* The yardstick: the same launches recorded and submitted straight on the driver, on the plugin's
 * own VkDevice and VkQueue. */
#ifndef GANTRY_TEST_VULKAN_RAW_H
#define GANTRY_TEST_VULKAN_RAW_H

#include <vulkan/vulkan.h>

#include "rig.h"

#define RAW_CALLS(X)                 \
    X(vkAllocateCommandBuffers)      \
    X(vkAllocateMemory)              \
    X(vkBeginCommandBuffer)          \
    X(vkBindBufferMemory)            \
    X(vkCmdBindPipeline)             \
    X(vkCmdCopyBuffer)               \
    X(vkCmdDispatch)                 \
    X(vkCmdPipelineBarrier)          \
    X(vkCmdPushConstants)            \
    X(vkCreateBuffer)                \
    X(vkCreateCommandPool)           \
    X(vkCreateComputePipelines)      \
    X(vkCreatePipelineLayout)        \
    X(vkCreateSemaphore)             \
    X(vkCreateShaderModule)          \
    X(vkDestroyBuffer)               \
    X(vkDestroyCommandPool)          \
    X(vkDestroyPipeline)             \
    X(vkDestroyPipelineLayout)       \
    X(vkDestroySemaphore)            \
    X(vkDestroyShaderModule)         \
    X(vkEndCommandBuffer)            \
    X(vkFreeMemory)                  \
    X(vkGetBufferDeviceAddress)      \
    X(vkGetBufferMemoryRequirements) \
    X(vkGetSemaphoreCounterValue)    \
    X(vkMapMemory)                   \
    X(vkQueueSubmit)                 \
    X(vkResetCommandPool)

struct raw {
#define X(name) PFN_##name name;
    RAW_CALLS(X)
#undef X
    VkDevice device;
    VkQueue queue;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkSemaphore timeline;
    uint64_t value; /* of the last submission */
    VkCommandPool pool;
    VkCommandBuffer commands;
};

/* What a recorded buffer has beside the barriers between its launches. */
enum {
    RAW_FIRST = 1,        /* a barrier from earlier launches and transfers to its own launches */
    RAW_FIRST_ALL = 2,    /* the same by ALL_COMMANDS and MEMORY accesses */
    RAW_HOST = 4,         /* a barrier to the host at the end */
    RAW_SIMULTANEOUS = 8, /* it may be submitted again while it runs */
};

/* A command buffer in a pool of its own, on the line's VkQueue. */
void raw_open(struct raw *raw, const struct line *line);
void raw_close(struct raw *raw);

/* Records `count` dependent launches of `blocks` blocks, resetting what was recorded before: the
 * buffer alone, or its pool. */
void raw_record(struct raw *raw, const struct step_args *args, uint32_t blocks, uint32_t count,
                uint32_t extras);
void raw_reset_pool(struct raw *raw);

/* The same with copies of `size` bytes by the driver. */
void raw_record_copies(struct raw *raw, VkBuffer to, VkBuffer from, uint64_t size, uint32_t count);

void raw_submit(struct raw *raw);
bool raw_reached(struct raw *raw);

/* The memory types of the device under test. */
void raw_memory_types(VkPhysicalDeviceMemoryProperties *memory);

/* A buffer in memory of one type. */
struct raw_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    gantry_ptr address;
};

/* False when the type can't be used for such a buffer, or is full. */
bool raw_memory_open(struct raw *raw, uint32_t type, uint64_t size, struct raw_memory *memory);
void raw_memory_close(struct raw *raw, struct raw_memory *memory);

#endif
