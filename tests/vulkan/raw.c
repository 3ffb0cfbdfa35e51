#include "raw.h"

#include <dlfcn.h>
#include <string.h>

static PFN_vkVoidFunction instance_call(VkInstance instance, const char *name)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    PFN_vkGetInstanceProcAddr get;

    assert_non_null(loader);
    *(void **)&get = dlsym(loader, "vkGetInstanceProcAddr");
    assert_non_null(get);
    return get(instance, name);
}

static void load_calls(struct raw *raw, VkInstance instance)
{
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)instance_call(instance, "vkGetDeviceProcAddr");

#define X(name) raw->name = (PFN_##name)get(raw->device, #name);
    RAW_CALLS(X)
#undef X
}

static void create_pipeline(struct raw *raw)
{
    static const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
    static const struct gantry_size block = {STEP_BLOCK, 1, 1};
    VkSpecializationInfo constants = {3, entries, sizeof(block), &block};
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct step_args)};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = step_images[0].size,
        .pCode = step_images[0].data,
    };
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
    };

    assert_ok(raw->vkCreatePipelineLayout(raw->device, &layout, NULL, &raw->layout));
    assert_ok(raw->vkCreateShaderModule(raw->device, &module, NULL, &pipeline.stage.module));
    pipeline.layout = raw->layout;
    assert_ok(raw->vkCreateComputePipelines(raw->device, VK_NULL_HANDLE, 1, &pipeline, NULL,
                                            &raw->pipeline));
    raw->vkDestroyShaderModule(raw->device, pipeline.stage.module, NULL);
}

static void create_commands(struct raw *raw, uint32_t family)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };

    assert_ok(raw->vkCreateCommandPool(raw->device, &pool, NULL, &raw->pool));
    commands.commandPool = raw->pool;
    assert_ok(raw->vkAllocateCommandBuffers(raw->device, &commands, &raw->commands));
}

static void create_timeline(struct raw *raw)
{
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };

    assert_ok(raw->vkCreateSemaphore(raw->device, &info, NULL, &raw->timeline));
}

void raw_open(struct raw *raw, const struct line *line)
{
    struct gantry_native_device device = {0};
    struct gantry_native_queue queue = {0};

    memset(raw, 0, sizeof(*raw));
    rig.ops->device_native(rig.device, &device);
    rig.ops->queue_native(line->queue, &queue);
    raw->device = device.vk_device;
    raw->queue = queue.vk_queue;
    load_calls(raw, device.vk_instance);
    create_pipeline(raw);
    create_commands(raw, queue.vk_family);
    create_timeline(raw);
}

void raw_close(struct raw *raw)
{
    raw->vkDestroySemaphore(raw->device, raw->timeline, NULL);
    raw->vkDestroyCommandPool(raw->device, raw->pool, NULL);
    raw->vkDestroyPipeline(raw->device, raw->pipeline, NULL);
    raw->vkDestroyPipelineLayout(raw->device, raw->layout, NULL);
}

static void barrier(struct raw *raw, VkPipelineStageFlags from, VkAccessFlags writes,
                    VkPipelineStageFlags to, VkAccessFlags accesses)
{
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = writes,
        .dstAccessMask = accesses,
    };

    raw->vkCmdPipelineBarrier(raw->commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

#define COMPUTE     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
#define SHADER_BOTH (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT)

void raw_record(struct raw *raw, const struct step_args *args, uint32_t blocks, uint32_t count,
                uint32_t extras)
{
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = extras & RAW_SIMULTANEOUS ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0,
    };

    raw->vkBeginCommandBuffer(raw->commands, &begin);
    if (extras & RAW_FIRST)
        barrier(raw, COMPUTE | VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, COMPUTE, SHADER_BOTH);
    if (extras & RAW_FIRST_ALL)
        barrier(raw, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT, COMPUTE,
                VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    raw->vkCmdBindPipeline(raw->commands, VK_PIPELINE_BIND_POINT_COMPUTE, raw->pipeline);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            barrier(raw, COMPUTE, VK_ACCESS_SHADER_WRITE_BIT, COMPUTE, SHADER_BOTH);
        raw->vkCmdPushConstants(raw->commands, raw->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                sizeof(*args), args);
        raw->vkCmdDispatch(raw->commands, blocks, 1, 1);
    }
    if (extras & RAW_HOST)
        barrier(raw, COMPUTE, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_HOST_READ_BIT);
    raw->vkEndCommandBuffer(raw->commands);
}

void raw_record_copies(struct raw *raw, VkBuffer to, VkBuffer from, uint64_t size, uint32_t count)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBufferCopy region = {.size = size};

    raw->vkBeginCommandBuffer(raw->commands, &begin);
    for (uint32_t i = 0; i < count; i++) {
        barrier(raw, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        raw->vkCmdCopyBuffer(raw->commands, from, to, 1, &region);
    }
    raw->vkEndCommandBuffer(raw->commands);
}

void raw_reset_pool(struct raw *raw)
{
    raw->vkResetCommandPool(raw->device, raw->pool, 0);
}

void raw_submit(struct raw *raw)
{
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &raw->value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .commandBufferCount = 1,
        .pCommandBuffers = &raw->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &raw->timeline,
    };

    raw->value++;
    assert_ok(raw->vkQueueSubmit(raw->queue, 1, &info, VK_NULL_HANDLE));
}

bool raw_reached(struct raw *raw)
{
    uint64_t value;

    assert_ok(raw->vkGetSemaphoreCounterValue(raw->device, raw->timeline, &value));
    return value >= raw->value;
}

/* ---- Memory --------------------------------------------------------------------------------- */

void raw_memory_types(VkPhysicalDeviceMemoryProperties *memory)
{
    struct gantry_native_device device = {0};
    PFN_vkGetPhysicalDeviceMemoryProperties get;

    rig.ops->device_native(rig.device, &device);
    get = (PFN_vkGetPhysicalDeviceMemoryProperties)
        instance_call(device.vk_instance, "vkGetPhysicalDeviceMemoryProperties");
    get(device.vk_physical_device, memory);
}

bool raw_memory_open(struct raw *raw, uint32_t type, uint64_t size, struct raw_memory *memory)
{
    VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .memoryTypeIndex = type,
    };
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    VkMemoryRequirements needs;

    memset(memory, 0, sizeof(*memory));
    assert_ok(raw->vkCreateBuffer(raw->device, &buffer, NULL, &memory->buffer));
    raw->vkGetBufferMemoryRequirements(raw->device, memory->buffer, &needs);
    info.allocationSize = needs.size;
    if (!(needs.memoryTypeBits >> type & 1) ||
        raw->vkAllocateMemory(raw->device, &info, NULL, &memory->memory) != VK_SUCCESS) {
        raw_memory_close(raw, memory);
        return false;
    }
    assert_ok(raw->vkBindBufferMemory(raw->device, memory->buffer, memory->memory, 0));
    address.buffer = memory->buffer;
    memory->address = raw->vkGetBufferDeviceAddress(raw->device, &address);
    return true;
}

void raw_memory_close(struct raw *raw, struct raw_memory *memory)
{
    raw->vkDestroyBuffer(raw->device, memory->buffer, NULL);
    raw->vkFreeMemory(raw->device, memory->memory, NULL);
    memset(memory, 0, sizeof(*memory));
}
