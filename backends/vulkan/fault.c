/* What the driver tells of a lost device, where it has VK_EXT_device_fault. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "driver.h"

/* Faults that are told; a driver knows of few, and mostly of one. */
#define MOST 8

struct writer {
    char *text;
    size_t size, used;
};

static void add(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct writer *writer, const char *format, ...)
{
    size_t room = writer->size - writer->used;
    va_list args;
    int added;

    va_start(args, format);
    added = vsnprintf(writer->text + writer->used, room, format, args);
    va_end(args);
    if (added > 0)
        writer->used += (size_t)added < room ? (size_t)added : room - 1;
}

static const char *address_meaning(VkDeviceFaultAddressTypeEXT type)
{
    switch (type) {
    case VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT:
        return "a read of";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT:
        return "a write to";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT:
        return "code run at";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_UNKNOWN_EXT:
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_INVALID_EXT:
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT:
        return "an instruction at";
    default:
        return "something at";
    }
}

/* The precision is a power of two: the address may be any that shares the bits above it. */
static void add_address(struct writer *writer, const VkDeviceFaultAddressInfoEXT *fault)
{
    uint64_t mask = fault->addressPrecision ? fault->addressPrecision - 1 : 0;

    add(writer, "; %s address %#" PRIx64, address_meaning(fault->addressType),
        fault->reportedAddress & ~mask);
    if (mask)
        add(writer, " to %#" PRIx64, fault->reportedAddress | mask);
}

void device_fault(struct gantry_drv_device *device, char *text, size_t size)
{
    struct writer writer = {text, size, 0};
    VkDeviceFaultAddressInfoEXT addresses[MOST] = {{0}};
    VkDeviceFaultVendorInfoEXT vendors[MOST] = {{{0}, 0, 0}};
    VkDeviceFaultCountsEXT counts = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT,
                                     .addressInfoCount = MOST,
                                     .vendorInfoCount = MOST};
    VkDeviceFaultInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT,
                                 .pAddressInfos = addresses,
                                 .pVendorInfos = vendors};
    VkResult result;

    if (!device->physical->features.fault.deviceFault) {
        add(&writer, "the driver tells no more: it lacks VK_EXT_device_fault");
        return;
    }
    result = device->vk.vkGetDeviceFaultInfoEXT(device->handle, &counts, &info);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
        add(&writer, "vkGetDeviceFaultInfoEXT: %s: %s", result_name(result), result_text(result));
        return;
    }
    add(&writer, "VK_EXT_device_fault: %.255s",
        info.description[0] ? info.description : "the driver has no words for it");
    for (uint32_t i = 0; i < counts.addressInfoCount && i < MOST; i++)
        add_address(&writer, &addresses[i]);
    for (uint32_t i = 0; i < counts.vendorInfoCount && i < MOST; i++)
        add(&writer, "; %.255s (code %#" PRIx64 ", data %#" PRIx64 ")", vendors[i].description,
            vendors[i].vendorFaultCode, vendors[i].vendorFaultData);
}
