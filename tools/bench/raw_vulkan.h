/* Vulkan without gantry, but on gantry's device and queue: a GPU that is given work from two
 * VkDevices in turn changes contexts each time, which takes longer than what is measured. The bench
 * has one thread, so the queue needs no lock. */
#ifndef GANTRY_BENCH_RAW_VULKAN_H
#define GANTRY_BENCH_RAW_VULKAN_H

#include <volk.h>

#include "raw.h"

/* Memory with a buffer over all of it. */
struct raw_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
};

struct raw_vulkan {
    struct raw raw;
    VkPhysicalDevice physical; /* gantry's, down to the queue's family */
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    struct VolkDeviceTable vk;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkPipelineLayout layout;
    VkPipeline pipelines[KERNEL_COUNT];
    VkSemaphore timeline;
    uint64_t submitted; /* the timeline's latest value to come */
    struct raw_memory y, readback;
    uint64_t y_address;
    const float *readback_host;
    struct raw_memory copied[2], copied_host; /* memory of copies */
};

/* True for VK_SUCCESS; else says which call failed, and how. */
bool raw_vulkan_check(VkResult result, const char *call);
#define VK(call) raw_vulkan_check(call, #call)

/* raw_vulkan_device.c: takes over gantry's device and queue, and loads the driver's calls for them.
 * False: that can't be, and the reason says why. */
bool raw_vulkan_device(struct raw_vulkan *vulkan, const struct gantry_side *side, char *reason);

/* Submits the command buffer; polls until it is complete. */
bool raw_vulkan_submit(struct raw_vulkan *vulkan, VkCommandBuffer commands);
bool raw_vulkan_wait(struct raw_vulkan *vulkan);

/* A buffer with memory of the first type that has all of these properties; host memory that is
 * cached where there is such. Free takes a half-made one. */
bool raw_vulkan_make_memory(struct raw_vulkan *vulkan, VkDeviceSize size,
                            VkMemoryPropertyFlags wanted, struct raw_memory *made);
void raw_vulkan_free_memory(struct raw_vulkan *vulkan, struct raw_memory *memory);

VkCommandBuffer raw_vulkan_commands(struct raw_vulkan *vulkan);
void raw_vulkan_free_commands(struct raw_vulkan *vulkan, VkCommandBuffer commands);

/* Makes all that was done before visible to all that follows. */
void raw_vulkan_barrier(struct raw_vulkan *vulkan, VkCommandBuffer commands);

/* The entries of struct raw_ops; raw_vulkan_ways.c. */
bool raw_vulkan_replay(struct raw *raw, const struct work *work, struct ways *ways);
bool raw_vulkan_oneshot(struct raw *raw, const struct work *work, struct ways *ways);

/* Likewise; raw_vulkan_copy.c. */
bool raw_vulkan_reserve_copies(struct raw *raw, uint64_t device, uint64_t host);
bool raw_vulkan_copy(struct raw *raw, const struct raw_copy *copy, struct ways *ways);

#endif
