#include <inttypes.h>
#include <string.h>

#include "driver.h"

/* ---- Memory types --------------------------------------------------------------------------- */

#define HOST_COHERENT (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

/* Types for other purposes, or with features that gantry does not enable. */
#define UNUSABLE                                                                               \
    (VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |              \
     VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD | \
     VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV)

/* What each use must have, and what it would rather have or not have. Vulkan promises a coherent
 * host-visible type on every device, so nothing here flushes. */
static const struct wish {
    const char *name;
    VkMemoryPropertyFlags required, preferred, avoided;
} wishes[] = {
    [USE_DEVICE] = {"device", VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, 0},
    [USE_UPLOAD] = {"upload", HOST_COHERENT, 0,
                    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    [USE_READBACK] = {"readback", HOST_COHERENT, VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
    [USE_TABLE] = {"table", HOST_COHERENT, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                   VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
};

enum { FARTHEST = 3 }; /* of all distances */

/* The host sees the device's own memory through this type, all of it and not just a window. */
static bool is_direct(const struct physical *physical, uint32_t type)
{
    const VkMemoryType *t = &physical->memory.memoryTypes[type];

    return (t->propertyFlags & HOST_COHERENT) == HOST_COHERENT &&
           (t->propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) &&
           physical->memory.memoryHeaps[t->heapIndex].size >= physical->info.limits.memory_size;
}

/* Device memory is never taken from the host: a kernel that silently runs at a tenth of its speed
 * is worse than an error. A window into device memory is small, and others need it; what the host
 * caches must be asked for at each access. */
static int device_distance(const struct physical *physical, uint32_t type)
{
    VkMemoryPropertyFlags flags = physical->memory.memoryTypes[type].propertyFlags;

    if (!(flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
        return 1;
    if (!is_direct(physical, type))
        return FARTHEST;
    return flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT ? 2 : 0;
}

int memory_distance(const struct physical *physical, enum use use, uint32_t type)
{
    VkMemoryPropertyFlags flags = physical->memory.memoryTypes[type].propertyFlags;
    const struct wish *wish = &wishes[use];

    if ((flags & wish->required) != wish->required || (flags & UNUSABLE))
        return -1;
    if (use == USE_DEVICE)
        return device_distance(physical, type);
    return __builtin_popcount((wish->preferred & ~flags) | (wish->avoided & flags));
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static enum gantry_status out_of_memory(struct gantry_drv_device *device, enum use use,
                                        uint64_t size)
{
    const struct gantry_backend_services *services = device->services;
    const char *name = device->physical->info.name;
    uint64_t promised = device->physical->promised_allocation;
    uint64_t available, total;

    if (use == USE_DEVICE && device->physical->has.memory_budget &&
        device_memory(device, &available, &total) == GANTRY_OK)
        return services->fail(services->context, GANTRY_E_OUT_OF_MEMORY,
                              "out of device memory on %s: %" PRIu64 " bytes were asked for, "
                              "%" PRIu64 " of %" PRIu64 " are free (the driver promises single "
                              "blocks up to %" PRIu64 ")",
                              name, size, available, total, promised);
    return services->fail(services->context, GANTRY_E_OUT_OF_MEMORY,
                          "out of %s memory on %s: %" PRIu64 " bytes were asked for (the driver "
                          "promises single blocks up to %" PRIu64 ")",
                          wishes[use].name, name, size, promised);
}

static enum gantry_status no_allocation(struct gantry_drv_device *device, enum use use,
                                        uint64_t size)
{
    return device->services->fail(
        device->services->context, GANTRY_E_OUT_OF_MEMORY,
        "out of %s memory on %s: %" PRIu64 " bytes were asked for, and all of the %" PRIu32
        " allocations that the driver allows exist (destroy some, or raise pool_block_mib)",
        wishes[use].name, device->physical->info.name, size, device->physical->max_allocations);
}

VkResult buffer_create(struct gantry_drv_device *device, const void *next, uint64_t size,
                       VkBuffer *buffer)
{
    uint32_t families[MAX_FAMILIES] = {0};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = next,
        .size = size,
        .usage = BUFFER_USAGE,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };

    for (uint32_t i = 0; i < device->family_count; i++)
        families[i] = device->families[i].index;
    if (device->family_count > 1) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = device->family_count;
        info.pQueueFamilyIndices = families;
    }
    return device->vk.vkCreateBuffer(device->handle, &info, NULL, buffer);
}

/* Tries the types nearest to the wish first; *type is the one taken. */
static enum gantry_status allocate(struct gantry_drv_device *device, enum use use,
                                   const VkMemoryRequirements *needs, struct block *block,
                                   uint32_t *type)
{
    const VkPhysicalDeviceMemoryProperties *memory = &device->physical->memory;
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = needs->size,
    };
    VkResult result;

    for (int wanted = 0; wanted <= FARTHEST; wanted++)
        for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
            if (!(needs->memoryTypeBits >> i & 1) ||
                memory_distance(device->physical, use, i) != wanted ||
                memory->memoryHeaps[memory->memoryTypes[i].heapIndex].size < needs->size)
                continue;
            info.memoryTypeIndex = *type = i;
            result = device->vk.vkAllocateMemory(device->handle, &info, NULL, &block->memory);
            if (result == VK_SUCCESS)
                return GANTRY_OK;
            if (result == VK_ERROR_TOO_MANY_OBJECTS)
                return no_allocation(device, use, needs->size);
            if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY)
                return device_call_failed(device, result, "vkAllocateMemory");
        }
    return out_of_memory(device, use, needs->size);
}

enum gantry_status block_bind(struct gantry_drv_device *device, struct block *block)
{
    VkBufferDeviceAddressInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = block->buffer,
    };
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkBindBufferMemory(device->handle, block->buffer, block->memory, 0));
    block->address = device->vk.vkGetBufferDeviceAddress(device->handle, &info);
fail:
    return status;
}

/* Device memory that can't be mapped is device memory all the same. */
static enum gantry_status map(struct gantry_drv_device *device, enum use use, struct block *block)
{
    void *host = NULL;
    VkResult result =
        device->vk.vkMapMemory(device->handle, block->memory, 0, VK_WHOLE_SIZE, 0, &host);

    if (result == VK_SUCCESS)
        block->host = (char *)host + block->shift;
    else if (use != USE_DEVICE)
        return device_call_failed(device, result, "vkMapMemory");
    return GANTRY_OK;
}

/* A block of `size` bytes behind the first aligned address, if `padding` leaves room for one. */
static enum gantry_status create(struct gantry_drv_device *device, enum use use, uint64_t size,
                                 uint64_t padding, struct block *block)
{
    VkMemoryRequirements needs;
    enum gantry_status status;
    VkResult result;
    uint32_t type = 0;

    memset(block, 0, sizeof(*block));
    result = buffer_create(device, NULL, size + padding, &block->buffer);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) /* some drivers refuse large ones already here */
        return out_of_memory(device, use, size);
    if (result != VK_SUCCESS)
        return device_call_failed(device, result, "vkCreateBuffer");
    device->vk.vkGetBufferMemoryRequirements(device->handle, block->buffer, &needs);
    status = allocate(device, use, &needs, block, &type);
    if (status == GANTRY_OK)
        status = block_bind(device, block);
    if (padding > 0)
        block->shift = -block->address % BLOCK_ALIGNMENT;
    block->address += block->shift;
    block->size = size;
    if (status == GANTRY_OK && (use != USE_DEVICE || is_direct(device->physical, type)))
        status = map(device, use, block);
    if (status != GANTRY_OK)
        block_destroy(device, block);
    return status;
}

enum gantry_status block_create(struct gantry_drv_device *device, enum use use, uint64_t size,
                                struct block *block)
{
    enum gantry_status status = create(device, use, size, 0, block);

    /* GPUs hand out whole pages; lavapipe's addresses are those of malloc. */
    if (status == GANTRY_OK && block->address % BLOCK_ALIGNMENT != 0) {
        block_destroy(device, block);
        status = create(device, use, size, BLOCK_ALIGNMENT, block);
    }
    return status;
}

void block_destroy(struct gantry_drv_device *device, struct block *block)
{
    if (block->buffer)
        device->vk.vkDestroyBuffer(device->handle, block->buffer, NULL);
    if (block->memory)
        device->vk.vkFreeMemory(device->handle, block->memory, NULL); /* unmaps too */
    memset(block, 0, sizeof(*block));
}

/* ---- Entries -------------------------------------------------------------------------------- */

enum gantry_status memory_allocate(struct gantry_drv_device *device, enum gantry_memory kind,
                                   uint64_t size, struct gantry_drv_memory *memory)
{
    uint64_t rounded = (size + 3) & ~UINT64_C(3); /* fills count in words */
    struct block *block;
    enum gantry_status status;

    status = device_check(device);
    if (status != GANTRY_OK)
        return status;
    block = host_allocate(device->services, sizeof(*block), "a memory block");
    if (!block)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = block_create(device, (enum use)kind, rounded, block);
    if (status != GANTRY_OK) {
        device->services->release(device->services->context, block);
        return status;
    }
    *memory = (struct gantry_drv_memory){
        .address = block->address,
        .host = kind == GANTRY_MEMORY_DEVICE ? NULL : block->host,
        .direct = kind == GANTRY_MEMORY_DEVICE ? block->host : NULL,
        .size = block->size,
        .kind = kind,
        .driver = block,
    };
    return GANTRY_OK;
}

void memory_free(struct gantry_drv_device *device, struct gantry_drv_memory *memory)
{
    block_destroy(device, memory->driver);
    device->services->release(device->services->context, memory->driver);
    memset(memory, 0, sizeof(*memory));
}
