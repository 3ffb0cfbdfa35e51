/* A machine that is not here: Vulkan's calls on a physical device are answered from this struct. */
#ifndef GANTRY_TEST_VULKAN_MACHINE_H
#define GANTRY_TEST_VULKAN_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "backends/vulkan/driver.h"

#define GIB (UINT64_C(1) << 30)

struct machine {
    uint32_t version;
    VkResult extensions_result;
    const char *const *extensions;
    uint32_t extension_count;
    VkPhysicalDeviceFeatures core;
    VkPhysicalDeviceVulkan12Features v12;
    VkBool32 device_fault;
    uint8_t uuid[VK_UUID_SIZE];
    uint64_t max_allocation, max_buffer;
    uint32_t max_allocations;    /* alive at once */
    uint64_t largest_allocation; /* that succeeds */
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv;
    VkPhysicalDeviceShaderCorePropertiesAMD amd;
    VkPhysicalDeviceShaderCoreProperties2AMD amd2;
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm;
    VkPhysicalDeviceLimits limits; /* those that gantry asks for */
    uint32_t subgroup_size;
    VkPhysicalDeviceMemoryProperties memory;
    VkQueueFamilyProperties families[8];
    uint32_t family_count;
    uint32_t full_types; /* bits: memory types without room */
    int32_t blocks;      /* of memory, alive */
    VkResult map_result;
    VkExternalMemoryFeatureFlags host_import; /* what buffers over host memory may do */
    VkResult pointer_result, import_result;
    uint32_t pointer_types; /* bits: memory types that host pointers may have */
    const void *imported;   /* the pages of the latest import */
    uint64_t imported_size;
};

/* Set up before each test as a usable GPU with a window into its memory, like many desktops have,
 * and the queue families of an NVIDIA GPU. */
extern struct machine machine;
int machine_setup(void **state);

/* The latest error sentence. */
extern char machine_error[1024];
extern const struct gantry_backend_services machine_services;

/* What the plugin makes of the machine; without its list of families. */
struct physical machine_probe(void);

/* Sets a device's calls for memory. Every block is mapped to the same place. */
void machine_memory_calls(struct VolkDeviceTable *vk);
extern char machine_mapping[1 << 20];

int run_heap_tests(void);
int run_register_tests(void);
int run_lost_tests(void);
int run_ring_tests(void);

#endif
