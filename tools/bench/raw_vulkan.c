/* What the bench makes on the Vulkan device: pipelines, memory, submission. */
#include "raw_vulkan.h"

#include <stdio.h>
#include <stdlib.h>

#include "../output.h"

bool raw_vulkan_check(VkResult result, const char *call)
{
    if (result != VK_SUCCESS)
        output_error("bench: raw Vulkan: %s failed: VkResult %d", call, (int)result);
    return result == VK_SUCCESS;
}

/* ---- Pipelines ------------------------------------------------------------------------------ */

static bool make_layout(struct raw_vulkan *vulkan)
{
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct tiny_args)};
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };

    return VK(vulkan->vk.vkCreatePipelineLayout(vulkan->device, &info, NULL, &vulkan->layout));
}

static bool make_pipeline(struct raw_vulkan *vulkan, const void *code, size_t size,
                          VkPipeline *pipeline)
{
    static const uint32_t block[] = {BLOCK_THREADS, 1, 1};
    static const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
    const VkSpecializationInfo constants = {3, entries, sizeof block, block};
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = size,
        .pCode = code,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = vulkan->layout,
    };
    bool made;

    if (!VK(vulkan->vk.vkCreateShaderModule(vulkan->device, &module, NULL, &info.stage.module)))
        return false;
    made = VK(vulkan->vk.vkCreateComputePipelines(vulkan->device, VK_NULL_HANDLE, 1, &info, NULL,
                                                  pipeline));
    vulkan->vk.vkDestroyShaderModule(vulkan->device, info.stage.module, NULL);
    return made;
}

/* Each kernel is made from the image that gantry took for it. */
static bool make_pipelines(struct raw_vulkan *vulkan, const struct gantry_side *side,
                           const struct package *package)
{
    for (int i = 0; i < KERNEL_COUNT; i++) {
        struct gantry_kernel_info kernel;
        struct gantry_image_info image;
        const void *code;

        if (gantry_kernel_describe(side->kernels[i], &kernel) != GANTRY_OK)
            return gantry_side_failed();
        if (!package_code(package, kernel.name, kernel.image, &image, &code)) {
            output_error("bench: the package has no image '%s' of %s for the raw side",
                         kernel.image, kernel.name);
            return false;
        }
        if (!make_pipeline(vulkan, code, image.size, &vulkan->pipelines[i]))
            return false;
    }
    return true;
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* The first type with all of these properties: drivers list the faster of equal ones first. */
static uint32_t memory_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t allowed,
                            VkMemoryPropertyFlags wanted)
{
    uint32_t type = 0;

    while (type < memory->memoryTypeCount &&
           (!(allowed >> type & 1) || (memory->memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    return type;
}

/* What the host reads is cached where there is such memory: there may be none. */
static uint32_t choose_type(const struct raw_vulkan *vulkan, uint32_t allowed,
                            VkMemoryPropertyFlags wanted)
{
    const VkPhysicalDeviceMemoryProperties *memory = &vulkan->memory;
    uint32_t type = memory->memoryTypeCount;

    if (wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
        type = memory_type(memory, allowed, wanted | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    return type < memory->memoryTypeCount ? type : memory_type(memory, allowed, wanted);
}

bool raw_vulkan_make_memory(struct raw_vulkan *vulkan, VkDeviceSize size,
                            VkMemoryPropertyFlags wanted, struct raw_memory *made)
{
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags};
    VkMemoryRequirements needs;
    VkDevice device = vulkan->device;

    if (!VK(vulkan->vk.vkCreateBuffer(device, &buffer, NULL, &made->buffer)))
        return false;
    vulkan->vk.vkGetBufferMemoryRequirements(device, made->buffer, &needs);
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = choose_type(vulkan, needs.memoryTypeBits, wanted);
    return VK(vulkan->vk.vkAllocateMemory(device, &memory, NULL, &made->memory)) &&
           VK(vulkan->vk.vkBindBufferMemory(device, made->buffer, made->memory, 0));
}

void raw_vulkan_free_memory(struct raw_vulkan *vulkan, struct raw_memory *memory)
{
    if (memory->buffer)
        vulkan->vk.vkDestroyBuffer(vulkan->device, memory->buffer, NULL);
    if (memory->memory)
        vulkan->vk.vkFreeMemory(vulkan->device, memory->memory, NULL);
}

/* ---- Commands ------------------------------------------------------------------------------- */

VkCommandBuffer raw_vulkan_commands(struct raw_vulkan *vulkan)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = vulkan->pool,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands = NULL;

    VK(vulkan->vk.vkAllocateCommandBuffers(vulkan->device, &info, &commands));
    return commands;
}

void raw_vulkan_free_commands(struct raw_vulkan *vulkan, VkCommandBuffer commands)
{
    vulkan->vk.vkFreeCommandBuffers(vulkan->device, vulkan->pool, 1, &commands);
}

void raw_vulkan_barrier(struct raw_vulkan *vulkan, VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    };

    vulkan->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL,
                                    0, NULL);
}

bool raw_vulkan_submit(struct raw_vulkan *vulkan, VkCommandBuffer commands)
{
    const uint64_t value = vulkan->submitted + 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &vulkan->timeline,
    };

    vulkan->submitted = value;
    return VK(vulkan->vk.vkQueueSubmit(vulkan->queue, 1, &info, VK_NULL_HANDLE));
}

bool raw_vulkan_wait(struct raw_vulkan *vulkan)
{
    uint64_t value = 0;

    while (value < vulkan->submitted) {
        if (!VK(vulkan->vk.vkGetSemaphoreCounterValue(vulkan->device, vulkan->timeline, &value)))
            return false;
    }
    return true;
}

/* ---- The entries ---------------------------------------------------------------------------- */

/* y is copied to the readback memory and then cleared. */
static bool read_and_clear(struct raw_vulkan *vulkan)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    const VkBufferCopy copy = {.size = (VkDeviceSize)vulkan->raw.cells.count * BLOCK_THREADS *
                                       sizeof(float)};
    VkCommandBuffer commands = raw_vulkan_commands(vulkan);
    bool done = commands && VK(vulkan->vk.vkBeginCommandBuffer(commands, &begin));

    for (int i = 0; done && i < 3; i++) {
        vulkan->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
                                            VK_PIPELINE_STAGE_HOST_BIT,
                                        0, 1, &barrier, 0, NULL, 0, NULL);
        if (i == 0)
            vulkan->vk.vkCmdCopyBuffer(commands, vulkan->y.buffer, vulkan->readback.buffer, 1,
                                       &copy);
        else if (i == 1)
            vulkan->vk.vkCmdFillBuffer(commands, vulkan->y.buffer, 0, VK_WHOLE_SIZE, 0);
    }
    done = done && VK(vulkan->vk.vkEndCommandBuffer(commands)) &&
           raw_vulkan_submit(vulkan, commands) && raw_vulkan_wait(vulkan);
    if (commands)
        raw_vulkan_free_commands(vulkan, commands);
    return done;
}

static bool reserve(struct raw *raw, uint32_t blocks)
{
    struct raw_vulkan *vulkan = (struct raw_vulkan *)raw;
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkDeviceSize size = (VkDeviceSize)blocks * BLOCK_THREADS * sizeof(float);
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    void *mapped;

    if (!cells_open(&raw->cells, blocks) ||
        !raw_vulkan_make_memory(vulkan, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &vulkan->y) ||
        !raw_vulkan_make_memory(vulkan, size, host, &vulkan->readback) ||
        !VK(vulkan->vk.vkMapMemory(vulkan->device, vulkan->readback.memory, 0, VK_WHOLE_SIZE, 0,
                                   &mapped)))
        return false;
    vulkan->readback_host = mapped;
    address.buffer = vulkan->y.buffer;
    vulkan->y_address = vulkan->vk.vkGetBufferDeviceAddress(vulkan->device, &address);
    return read_and_clear(vulkan);
}

static bool check(struct raw *raw)
{
    struct raw_vulkan *vulkan = (struct raw_vulkan *)raw;
    bool right =
        read_and_clear(vulkan) && cells_match(&raw->cells, vulkan->readback_host, "raw Vulkan");

    cells_clear(&raw->cells);
    return right;
}

static void free_objects(struct raw_vulkan *vulkan)
{
    VkDevice device = vulkan->device;

    vulkan->vk.vkQueueWaitIdle(vulkan->queue);
    for (int i = 0; i < KERNEL_COUNT; i++)
        vulkan->vk.vkDestroyPipeline(device, vulkan->pipelines[i], NULL);
    vulkan->vk.vkDestroyPipelineLayout(device, vulkan->layout, NULL);
    vulkan->vk.vkDestroyCommandPool(device, vulkan->pool, NULL);
    vulkan->vk.vkDestroySemaphore(device, vulkan->timeline, NULL);
    raw_vulkan_free_memory(vulkan, &vulkan->y);
    raw_vulkan_free_memory(vulkan, &vulkan->readback);
    raw_vulkan_free_memory(vulkan, &vulkan->copied[0]);
    raw_vulkan_free_memory(vulkan, &vulkan->copied[1]);
    raw_vulkan_free_memory(vulkan, &vulkan->copied_host);
}

static bool come_and_go(struct raw *raw, uint64_t size, unsigned rounds)
{
    struct raw_vulkan *vulkan = (struct raw_vulkan *)raw;
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    bool done = true;

    for (unsigned i = 0; i < rounds && done; i++) {
        struct raw_memory memory = {0};

        done = raw_vulkan_make_memory(vulkan, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &memory);
        address.buffer = memory.buffer;
        if (done)
            vulkan->vk.vkGetBufferDeviceAddress(vulkan->device, &address);
        raw_vulkan_free_memory(vulkan, &memory);
    }
    return done;
}

/* Takes a half-made side. */
static void close_side(struct raw *raw)
{
    struct raw_vulkan *vulkan = (struct raw_vulkan *)raw;

    if (vulkan->device)
        free_objects(vulkan);
    cells_close(&raw->cells);
    free(vulkan);
}

/* A launch and back is a work like others here: there is nothing faster than the recorded one. */
static const struct raw_ops ops = {
    .come_and_go = come_and_go,
    .come_and_go_how = "vkAllocateMemory with a buffer, vkFreeMemory",
    .close = close_side,
    .reserve = reserve,
    .check = check,
    .replay = raw_vulkan_replay,
    .oneshot = raw_vulkan_oneshot,
    .roundtrip = raw_vulkan_replay,
    .reserve_copies = raw_vulkan_reserve_copies,
    .copy = raw_vulkan_copy,
};

static bool make_pool_and_timeline(struct raw_vulkan *vulkan)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = vulkan->family,
    };
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};

    return VK(vulkan->vk.vkCreateCommandPool(vulkan->device, &pool, NULL, &vulkan->pool)) &&
           VK(vulkan->vk.vkCreateSemaphore(vulkan->device, &semaphore, NULL, &vulkan->timeline));
}

struct raw *raw_vulkan_open(const struct gantry_side *side, const struct package *package,
                            char *reason)
{
    struct raw_vulkan *vulkan = calloc(1, sizeof *vulkan);

    if (!vulkan) {
        snprintf(reason, REASON_SIZE, "out of memory");
        return NULL;
    }
    vulkan->raw.ops = &ops;
    if (raw_vulkan_device(vulkan, side, reason)) {
        if (make_pool_and_timeline(vulkan) && make_layout(vulkan) &&
            (!package || make_pipelines(vulkan, side, package)))
            return &vulkan->raw;
        snprintf(reason, REASON_SIZE, "the Vulkan driver could not be used without gantry");
    }
    close_side(&vulkan->raw);
    return NULL;
}
