/* The commands of Vulkan that the plugin uses and that the interposed loader stands in front of. */
#ifndef GANTRY_TESTS_FAULTS_COMMANDS_H
#define GANTRY_TESTS_FAULTS_COMMANDS_H

#include <vulkan/vulkan.h>

/* X(command, parameters, arguments): everything that returns a VkResult. */
#define PLAIN_MAP(X)                                                                              \
    X(vkEnumerateInstanceVersion, (uint32_t * version), (version))                                \
    X(vkEnumerateInstanceExtensionProperties,                                                     \
      (const char *layer, uint32_t *count, VkExtensionProperties *properties),                    \
      (layer, count, properties))                                                                 \
    X(vkEnumeratePhysicalDevices,                                                                 \
      (VkInstance instance, uint32_t * count, VkPhysicalDevice * devices),                        \
      (instance, count, devices))                                                                 \
    X(vkEnumerateDeviceExtensionProperties,                                                       \
      (VkPhysicalDevice device, const char *layer, uint32_t *count,                               \
       VkExtensionProperties *properties),                                                        \
      (device, layer, count, properties))                                                         \
    X(vkBindBufferMemory,                                                                         \
      (VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset),             \
      (device, buffer, memory, offset))                                                           \
    X(vkMapMemory,                                                                                \
      (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,            \
       VkMemoryMapFlags flags, void **data),                                                      \
      (device, memory, offset, size, flags, data))                                                \
    X(vkGetMemoryHostPointerPropertiesEXT,                                                        \
      (VkDevice device, VkExternalMemoryHandleTypeFlagBits type, const void *pointer,             \
       VkMemoryHostPointerPropertiesEXT *properties),                                             \
      (device, type, pointer, properties))                                                        \
    X(vkAllocateCommandBuffers,                                                                   \
      (VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers),       \
      (device, info, buffers))                                                                    \
    X(vkBeginCommandBuffer, (VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info),       \
      (buffer, info))                                                                             \
    X(vkEndCommandBuffer, (VkCommandBuffer buffer), (buffer))                                     \
    X(vkResetCommandBuffer, (VkCommandBuffer buffer, VkCommandBufferResetFlags flags),            \
      (buffer, flags))                                                                            \
    X(vkQueueSubmit, (VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence), \
      (queue, count, submits, fence))                                                             \
    X(vkQueueWaitIdle, (VkQueue queue), (queue))                                                  \
    X(vkWaitSemaphores, (VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout),     \
      (device, info, timeout))                                                                    \
    X(vkGetSemaphoreCounterValue, (VkDevice device, VkSemaphore semaphore, uint64_t * value),     \
      (device, semaphore, value))                                                                 \
    X(vkSetDebugUtilsObjectNameEXT, (VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info), \
      (device, info))

/* X(command, parameters, arguments, kind): what makes one object; the last parameter gets it. */
#define CREATE_MAP(X)                                                                              \
    X(vkCreateInstance,                                                                            \
      (const VkInstanceCreateInfo *info, const VkAllocationCallbacks *callbacks,                   \
       VkInstance *made),                                                                          \
      (info, callbacks, made), INSTANCE)                                                           \
    X(vkCreateDevice,                                                                              \
      (VkPhysicalDevice device, const VkDeviceCreateInfo *info,                                    \
       const VkAllocationCallbacks *callbacks, VkDevice *made),                                    \
      (device, info, callbacks, made), DEVICE)                                                     \
    X(vkAllocateMemory,                                                                            \
      (VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *callbacks,  \
       VkDeviceMemory *made),                                                                      \
      (device, info, callbacks, made), MEMORY)                                                     \
    X(vkCreateBuffer,                                                                              \
      (VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *callbacks,    \
       VkBuffer *made),                                                                            \
      (device, info, callbacks, made), BUFFER)                                                     \
    X(vkCreateShaderModule,                                                                        \
      (VkDevice device, const VkShaderModuleCreateInfo *info,                                      \
       const VkAllocationCallbacks *callbacks, VkShaderModule *made),                              \
      (device, info, callbacks, made), SHADER)                                                     \
    X(vkCreatePipelineCache,                                                                       \
      (VkDevice device, const VkPipelineCacheCreateInfo *info,                                     \
       const VkAllocationCallbacks *callbacks, VkPipelineCache *made),                             \
      (device, info, callbacks, made), CACHE)                                                      \
    X(vkCreatePipelineLayout,                                                                      \
      (VkDevice device, const VkPipelineLayoutCreateInfo *info,                                    \
       const VkAllocationCallbacks *callbacks, VkPipelineLayout *made),                            \
      (device, info, callbacks, made), LAYOUT)                                                     \
    X(vkCreateComputePipelines,                                                                    \
      (VkDevice device, VkPipelineCache cache, uint32_t count,                                     \
       const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *callbacks,           \
       VkPipeline *made),                                                                          \
      (device, cache, count, infos, callbacks, made), PIPELINE)                                    \
    X(vkCreateCommandPool,                                                                         \
      (VkDevice device, const VkCommandPoolCreateInfo *info,                                       \
       const VkAllocationCallbacks *callbacks, VkCommandPool *made),                               \
      (device, info, callbacks, made), POOL)                                                       \
    X(vkCreateSemaphore,                                                                           \
      (VkDevice device, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *callbacks, \
       VkSemaphore *made),                                                                         \
      (device, info, callbacks, made), SEMAPHORE)

/* X(command, parameters, arguments, object, kind): what ends one. */
#define DESTROY_MAP(X)                                                                             \
    X(vkDestroyInstance, (VkInstance instance, const VkAllocationCallbacks *callbacks),            \
      (instance, callbacks), instance, INSTANCE)                                                   \
    X(vkDestroyDevice, (VkDevice device, const VkAllocationCallbacks *callbacks),                  \
      (device, callbacks), device, DEVICE)                                                         \
    X(vkFreeMemory,                                                                                \
      (VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *callbacks),            \
      (device, memory, callbacks), memory, MEMORY)                                                 \
    X(vkDestroyBuffer, (VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *callbacks), \
      (device, buffer, callbacks), buffer, BUFFER)                                                 \
    X(vkDestroyShaderModule,                                                                       \
      (VkDevice device, VkShaderModule shader, const VkAllocationCallbacks *callbacks),            \
      (device, shader, callbacks), shader, SHADER)                                                 \
    X(vkDestroyPipelineCache,                                                                      \
      (VkDevice device, VkPipelineCache cache, const VkAllocationCallbacks *callbacks),            \
      (device, cache, callbacks), cache, CACHE)                                                    \
    X(vkDestroyPipelineLayout,                                                                     \
      (VkDevice device, VkPipelineLayout layout, const VkAllocationCallbacks *callbacks),          \
      (device, layout, callbacks), layout, LAYOUT)                                                 \
    X(vkDestroyPipeline,                                                                           \
      (VkDevice device, VkPipeline pipeline, const VkAllocationCallbacks *callbacks),              \
      (device, pipeline, callbacks), pipeline, PIPELINE)                                           \
    X(vkDestroyCommandPool,                                                                        \
      (VkDevice device, VkCommandPool pool, const VkAllocationCallbacks *callbacks),               \
      (device, pool, callbacks), pool, POOL)                                                       \
    X(vkDestroySemaphore,                                                                          \
      (VkDevice device, VkSemaphore semaphore, const VkAllocationCallbacks *callbacks),            \
      (device, semaphore, callbacks), semaphore, SEMAPHORE)

/* X(KIND, text) */
#define KIND_MAP(X)               \
    X(INSTANCE, "instances")      \
    X(DEVICE, "devices")          \
    X(MEMORY, "blocks of memory") \
    X(BUFFER, "buffers")          \
    X(SHADER, "shader modules")   \
    X(CACHE, "pipeline caches")   \
    X(LAYOUT, "pipeline layouts") \
    X(PIPELINE, "pipelines")      \
    X(POOL, "command pools")      \
    X(SEMAPHORE, "semaphores")

#endif
