#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

#define HOST_ALLOCATION VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

/* The pages that the caller's memory lies in: drivers take whole ones only. */
struct pages {
    char *begin;
    uint64_t size;
    uint64_t shift; /* of the caller's memory in them */
};

static struct pages pages_of(const struct physical *physical, void *pointer, uint64_t size)
{
    uint64_t alignment = physical->import_alignment;
    uint64_t shift = (uintptr_t)pointer % alignment;

    return (struct pages){
        .begin = (char *)pointer - shift,
        .size = (shift + size + alignment - 1) / alignment * alignment,
        .shift = shift,
    };
}

__attribute__((format(printf, 2, 3))) static enum gantry_status
refuse(struct gantry_drv_device *device, const char *format, ...)
{
    char why[256];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    return device->services->fail(device->services->context, GANTRY_E_UNSUPPORTED,
                                  "the Vulkan device %s can't take memory of the program: %s "
                                  "(upload and download copy it instead)",
                                  device->physical->info.name, why);
}

/* Running out of memory and losing the device have statuses of their own; everything else means
 * that this driver does not want this memory. */
static enum gantry_status refused(struct gantry_drv_device *device, VkResult result,
                                  const char *call)
{
    enum gantry_status status = result_status(result);

    if (status == GANTRY_E_OUT_OF_MEMORY || status == GANTRY_E_OUT_OF_HOST_MEMORY ||
        status == GANTRY_E_DEVICE_LOST)
        return device_call_failed(device, result, call);
    return refuse(device, "%s gave %s: %s", call, result_name(result), result_text(result));
}

/* ---- What the driver can do ----------------------------------------------------------------- */

static enum gantry_status check_driver(struct gantry_drv_device *device)
{
    VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = BUFFER_USAGE,
        .handleType = HOST_ALLOCATION,
    };
    VkExternalBufferProperties answer = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    VkExternalMemoryFeatureFlags features;

    if (!device->physical->has.external_memory_host)
        return refuse(device, "its driver lacks " VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    vkGetPhysicalDeviceExternalBufferProperties(device->physical->handle, &info, &answer);
    features = answer.externalMemoryProperties.externalMemoryFeatures;
    if (!(features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) ||
        (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT))
        return refuse(device, "its driver does not import it for buffers that kernels use");
    return GANTRY_OK;
}

/* A coherent type out of `bits`, rather a cached one. Its heap's size says nothing: the memory is
 * there already. */
static bool choose_type(const struct physical *physical, uint32_t bits, uint32_t *type)
{
    int best = -1;

    for (uint32_t i = 0; i < physical->memory.memoryTypeCount; i++) {
        int distance = memory_distance(physical, USE_READBACK, i);
        if (!(bits >> i & 1) || distance < 0 || (best >= 0 && distance >= best))
            continue;
        best = distance;
        *type = i;
    }
    return best >= 0;
}

/* ---- Importing ------------------------------------------------------------------------------ */

static enum gantry_status import(struct gantry_drv_device *device, const struct pages *pages,
                                 uint32_t type, struct block *block)
{
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = HOST_ALLOCATION,
        .pHostPointer = pages->begin,
    };
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .pNext = &import,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = pages->size,
        .memoryTypeIndex = type,
    };
    VkResult result = device->vk.vkAllocateMemory(device->handle, &info, NULL, &block->memory);

    if (result != VK_SUCCESS)
        return refused(device, result, "vkAllocateMemory");
    return block_bind(device, block);
}

/* The buffer over the pages, and the memory types that both it and the pages can have. */
static enum gantry_status create_buffer(struct gantry_drv_device *device, const struct pages *pages,
                                        struct block *block, uint32_t *types)
{
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = HOST_ALLOCATION,
    };
    VkMemoryHostPointerPropertiesEXT answer = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT,
    };
    VkMemoryRequirements needs;
    VkResult result;

    result = device->vk.vkGetMemoryHostPointerPropertiesEXT(device->handle, HOST_ALLOCATION,
                                                            pages->begin, &answer);
    if (result != VK_SUCCESS)
        return refused(device, result, "vkGetMemoryHostPointerPropertiesEXT");
    result = buffer_create(device, &external, pages->size, &block->buffer);
    if (result != VK_SUCCESS)
        return refused(device, result, "vkCreateBuffer");
    device->vk.vkGetBufferMemoryRequirements(device->handle, block->buffer, &needs);
    if (needs.size > pages->size)
        return refuse(device, "a buffer over its %" PRIu64 " bytes of pages needs %" PRIu64,
                      pages->size, (uint64_t)needs.size);
    *types = answer.memoryTypeBits & needs.memoryTypeBits;
    return GANTRY_OK;
}

static enum gantry_status import_block(struct gantry_drv_device *device, void *pointer,
                                       uint64_t size, struct block *block)
{
    struct pages pages;
    uint32_t types = 0, type = 0;
    enum gantry_status status;

    status = check_driver(device);
    if (status != GANTRY_OK)
        return status;
    pages = pages_of(device->physical, pointer, size);
    status = create_buffer(device, &pages, block, &types);
    if (status == GANTRY_OK && !choose_type(device->physical, types, &type))
        status = refuse(device, types ? "its driver offers only memory types that are not coherent"
                                      : "its driver has no memory type for a buffer over it");
    if (status == GANTRY_OK)
        status = import(device, &pages, type, block);
    if (status != GANTRY_OK) {
        block_destroy(device, block);
        return status;
    }
    block->shift = pages.shift;
    block->address += pages.shift;
    block->size = size;
    block->host = pointer;
    return GANTRY_OK;
}

enum gantry_status memory_register(struct gantry_drv_device *device, void *pointer, uint64_t size,
                                   struct gantry_drv_memory *memory)
{
    struct block *block;
    enum gantry_status status;

    status = device_check(device);
    if (status != GANTRY_OK)
        return status;
    block = host_allocate(device->services, sizeof(*block), "a memory block");
    if (!block)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = import_block(device, pointer, size, block);
    if (status != GANTRY_OK) {
        device->services->release(device->services->context, block);
        return status;
    }
    *memory = (struct gantry_drv_memory){
        .address = block->address,
        .host = block->host,
        .size = block->size,
        .kind = GANTRY_MEMORY_REGISTERED,
        .driver = block,
    };
    return GANTRY_OK;
}
