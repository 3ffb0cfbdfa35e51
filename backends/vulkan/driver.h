/* The plugin's own structs, and what its files offer each other. */
#ifndef GANTRY_VULKAN_DRIVER_H
#define GANTRY_VULKAN_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "status.h"
#include "symbols.h"

/* Every address that is handed out is a multiple of this. */
#define BLOCK_ALIGNMENT 256

/* Argument structs above inline_args_bytes go through a table, which sets no limit of its own. This
 * is what CUDA passes by value, so that a kernel that fits one backend fits the other. */
#define MAX_ARGS_BYTES 4096

/* VkQueues taken of one family: more only cost memory, gantry's queues share them. */
#define MAX_SLOTS 8

/* Families that one device opens: one for compute and one for transfers. */
#define MAX_FAMILIES 2

/* ---- Physical devices (physical.c) ---------------------------------------------------------- */

/* Device extensions that gantry knows: member, name, whether opening a device enables it. The
 * others only tell more about the device. */
#define EXTENSION_MAP(X)                                                           \
    X(atomic_float, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, true)               \
    X(memory_budget, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, true)                    \
    X(external_memory_host, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, true)      \
    X(device_fault, VK_EXT_DEVICE_FAULT_EXTENSION_NAME, true)                      \
    X(maintenance4, VK_KHR_MAINTENANCE_4_EXTENSION_NAME, false)                    \
    X(pci_bus_info, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, false)                     \
    X(subgroup_size_control, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, false)   \
    X(nv_sm_builtins, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, false)              \
    X(amd_core_properties, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, false)    \
    X(amd_core_properties2, VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME, false) \
    X(arm_core_builtins, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, false)

struct extensions {
#define X(member, name, enable) bool member;
    EXTENSION_MAP(X)
#undef X
};

/* The features that gantry uses where the device has them. Linked by features_chain(). */
struct features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float;
    VkPhysicalDeviceFaultFeaturesEXT fault;
};

/* What is known of a device before it is opened. */
struct physical {
    VkPhysicalDevice handle;
    struct gantry_backend_device_info info;
    struct extensions has;
    struct features features;        /* supported and used */
    VkSubgroupFeatureFlags subgroup; /* operations in compute shaders */
    uint64_t promised_allocation;    /* maxMemoryAllocationSize */
    uint32_t max_allocations;        /* maxMemoryAllocationCount */
    uint64_t import_alignment;       /* of host memory; where it has external_memory_host */
    VkPhysicalDeviceMemoryProperties memory;
    VkQueueFamilyProperties *families; /* info.family_count of them */
};

/* Fills `physical`. A device that can't be used, for whatever reason, is told by info.skipped and
 * never a failure: it must not hide the others. */
void physical_probe(const struct gantry_backend_services *services, VkPhysicalDevice handle,
                    struct physical *physical);
void physical_free(const struct gantry_backend_services *services, struct physical *physical);

/* Sets the types and links the structs of the extensions that the device has; returns the head. */
VkPhysicalDeviceFeatures2 *features_chain(struct features *features, const struct extensions *has);

/* Puts `other` behind `head` in a pNext chain. */
static inline void link_struct(void *head, void *other)
{
    VkBaseOutStructure *first = head;
    VkBaseOutStructure *added = other;

    added->pNext = first->pNext;
    first->pNext = added;
}

/* ---- Occupancy (occupancy.c) ---------------------------------------------------------------- */

/* Fills the compute units and their threads into the limits, and the sentence on where they come
 * from; zeros where the driver has no extension that tells them. */
void occupancy_probe(struct physical *physical);

enum gantry_status kernel_block(struct gantry_drv_device *device,
                                const struct gantry_backend_kernel_params *params,
                                uint32_t *threads);

/* ---- Instance (instance.c) ------------------------------------------------------------------ */

struct gantry_drv_instance {
    struct gantry_backend_services services;
    VkInstance handle;
    bool debug_utils; /* names and labels reach someone */
    uint32_t device_count;
    struct physical *devices;
};

enum gantry_status instance_open(const struct gantry_backend_services *services,
                                 const char *app_name, struct gantry_drv_instance **instance);
void instance_close(struct gantry_drv_instance *instance);
uint32_t device_count(struct gantry_drv_instance *instance);
enum gantry_status device_describe(struct gantry_drv_instance *instance, uint32_t index,
                                   struct gantry_backend_device_info *info);

/* ---- Queue families (family.c) -------------------------------------------------------------- */

/* A VkQueue. Several of gantry's queues may share it, so it carries the lock. */
struct slot {
    VkQueue handle;
    pthread_mutex_t lock;
    uint32_t users; /* under the device's lock */
};

struct family {
    uint32_t index;
    VkQueueFlags flags;
    uint32_t slot_count;
    struct slot slots[MAX_SLOTS];
};

/* Chooses the family for `wish`, an index or a GANTRY_FAMILY_ constant. `compute` is the family
 * already chosen for compute, which a transfer queue falls back to; pass UINT32_MAX to choose that
 * one. A wish that can't be met is GANTRY_E_CONFIG with the list of families. */
enum gantry_status family_choose(const struct gantry_backend_services *services,
                                 const struct physical *physical, int32_t wish, uint32_t compute,
                                 uint32_t *index);

/* The priority that the family's VkQueue number `i` is created with. */
float slot_priority(uint32_t slot_count, uint32_t i);

/* Lends the least used VkQueue whose priority suits. */
struct slot *slot_take(struct gantry_drv_device *device, struct family *family, int priority);
void slot_return(struct gantry_drv_device *device, struct slot *slot);

/* ---- Devices (device.c) --------------------------------------------------------------------- */

struct gantry_drv_device {
    const struct gantry_backend_services *services;
    struct gantry_drv_instance *instance;
    const struct physical *physical;
    VkDevice handle;
    struct VolkDeviceTable vk;
    VkPipelineCache cache;
    pthread_mutex_t lock; /* guards the slots' users and the tables */
    struct table_chunk *tables;
    atomic_bool lost;
    uint32_t family_count;
    struct family families[MAX_FAMILIES];
    struct family *compute, *transfer; /* may be the same */
};

enum gantry_status device_open(struct gantry_drv_instance *instance, uint32_t index,
                               const struct gantry_backend_device_params *params,
                               struct gantry_drv_device **device);
void device_close(struct gantry_drv_device *device);
void device_native(struct gantry_drv_device *device, struct gantry_native_device *native);
enum gantry_status device_memory(struct gantry_drv_device *device, uint64_t *available,
                                 uint64_t *total);

/* fault.c */
void device_fault(struct gantry_drv_device *device, char *text, size_t size);

/* Names an object for validation messages and debuggers; NULL and "" do nothing. */
void device_name(struct gantry_drv_device *device, VkObjectType type, uint64_t handle,
                 const char *name);

/* Zeroed host memory; NULL after reporting GANTRY_E_OUT_OF_HOST_MEMORY with `what` it was for. */
void *host_allocate(const struct gantry_backend_services *services, size_t size, const char *what);

/* ---- Memory (memory.c) ---------------------------------------------------------------------- */

enum use {
    USE_DEVICE = GANTRY_MEMORY_DEVICE,
    USE_UPLOAD = GANTRY_MEMORY_UPLOAD,
    USE_READBACK = GANTRY_MEMORY_READBACK,
    USE_TABLE, /* written by the host, read by every thread of a folded launch */
};

/* A buffer with memory of its own. */
struct block {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t address; /* a multiple of BLOCK_ALIGNMENT, except for the caller's own memory */
    uint64_t shift;   /* the buffer's offset at that address */
    uint64_t size;    /* bytes from there on */
    void *host;       /* of that address; for USE_DEVICE only where the host writes it directly */
};

/* What kernels and copies may do with a buffer. */
#define BUFFER_USAGE                                                         \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)

/* A buffer for all opened families; `next` are further structs. */
VkResult buffer_create(struct gantry_drv_device *device, const void *next, uint64_t size,
                       VkBuffer *buffer);

/* Joins the block's buffer and memory, and finds out their address. */
enum gantry_status block_bind(struct gantry_drv_device *device, struct block *block);

/* On failure *block is all zeros, which block_destroy accepts. */
enum gantry_status block_create(struct gantry_drv_device *device, enum use use, uint64_t size,
                                struct block *block);
void block_destroy(struct gantry_drv_device *device, struct block *block);

/* A piece of a block. */
struct span {
    VkBuffer buffer;
    uint64_t offset; /* in the buffer */
    uint64_t address;
    void *host;
};

/* What begins `offset` bytes behind the start of a span. */
static inline struct span span_from(const struct span *span, uint64_t offset)
{
    return (struct span){
        .buffer = span->buffer,
        .offset = span->offset + offset,
        .address = span->address + offset,
        .host = (char *)span->host + offset,
    };
}

/* How far memory type `type` is from what `use` wants; negative when it can't serve. */
int memory_distance(const struct physical *physical, enum use use, uint32_t type);

enum gantry_status memory_allocate(struct gantry_drv_device *device, enum gantry_memory kind,
                                   uint64_t size, struct gantry_drv_memory *memory);
void memory_free(struct gantry_drv_device *device, struct gantry_drv_memory *memory);

/* ---- The caller's memory (register.c) ------------------------------------------------------- */

enum gantry_status memory_register(struct gantry_drv_device *device, void *pointer, uint64_t size,
                                   struct gantry_drv_memory *memory);

/* ---- Tables (table.c) ----------------------------------------------------------------------- */

/* Drivers limit how many blocks there are, and round small ones up to pages. So everything that the
 * plugin keeps for itself is cut out of a few blocks, for which it holds back this part of the
 * driver's number; core gets the rest. */
#define OWN_BLOCKS(limit) ((limit) / 8)

/* A place for a plan's table or a queue's ring, cut out of a larger block. Safe from several
 * threads. */
struct table {
    struct table_chunk *chunk; /* NULL: no table */
    uint32_t first_unit, unit_count;
    struct span span;
};

enum gantry_status table_take(struct gantry_drv_device *device, uint64_t size, struct table *table);
void table_give(struct gantry_drv_device *device, struct table *table);
void tables_close(struct gantry_drv_device *device);

/* ---- Kernels (kernel.c) --------------------------------------------------------------------- */

struct gantry_drv_kernel {
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* Push constants count in words. */
static inline uint32_t push_size(uint32_t args_size)
{
    return (args_size + 3) & ~UINT32_C(3);
}

enum gantry_status kernel_create(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info);
void kernel_destroy(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel);

/* ---- Recording (record.c) ------------------------------------------------------------------- */

/* Whether there is anything to record; recording nothing is not allowed. */
bool plan_works(const struct gantry_plan *plan);

/* Records the whole plan into `commands`, for submission to `family`. `table` is the address of the
 * device's copy of the plan's table, 0 without one. */
enum gantry_status record(struct gantry_drv_device *device, const struct family *family,
                          VkCommandBuffer commands, VkCommandBufferUsageFlags usage,
                          const struct gantry_plan *plan, uint64_t table);

/* Records the copy of `size` bytes to `offset` in a plan's table, for submission in front of that
 * plan's commands. */
enum gantry_status record_patch(struct gantry_drv_device *device, VkCommandBuffer commands,
                                const struct span *from, const struct span *table, uint64_t offset,
                                uint64_t size);

/* ---- Plans (plan.c) ------------------------------------------------------------------------- */

enum gantry_status plan_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                              struct gantry_drv_plan **built);
void plan_destroy(struct gantry_drv_plan *built);

/* The plan's command buffer for `family`, recorded by the first call; VK_NULL_HANDLE for a plan
 * that does nothing. Safe from several threads. */
enum gantry_status plan_commands(struct gantry_drv_plan *built, const struct family *family,
                                 struct gantry_queue_stats *stats, VkCommandBuffer *commands);

/* Where the device keeps the plan's table. */
const struct span *plan_table(const struct gantry_drv_plan *built);

/* ---- The ring (ring.c) ---------------------------------------------------------------------- */

/* Memory for bytes that the host writes for one submission: taken and given back in the order of
 * submissions. */
struct ring {
    struct table place;
    uint64_t size;       /* a power of two; 0: there is no place yet */
    uint64_t head, tail; /* bytes taken and given back, ever; the place is the rest by the size */
};

struct slice {
    uint64_t begin, end; /* of the ring's count; equal: no bytes */
    struct span span;
};

/* False when the ring has no such room. */
bool ring_take(struct ring *ring, uint64_t size, struct slice *slice);

/* Gives back the oldest slice. */
void ring_give(struct ring *ring, const struct slice *slice);

/* Gives back the youngest slice, as if it had never been taken. */
void ring_untake(struct ring *ring, const struct slice *slice);

/* Takes a larger place with room for `size` bytes. The old one goes to *old: its slices stay in
 * use, and must not be given back. */
enum gantry_status ring_grow(struct gantry_drv_device *device, struct ring *ring, uint64_t size,
                             struct table *old);

/* ---- Command buffers of one submission (shot.c) --------------------------------------------- */

/* A command buffer and its bytes, used for one submission and then again. */
struct shot {
    struct shot *next;
    VkCommandBuffer commands;
    struct slice slice;
    struct table outgrown; /* a ring's that was replaced while this shot was the youngest */
    uint64_t value;        /* reusable when the queue's counter has reached it */
    uint64_t room;         /* operations that its command buffer has grown for */
};

struct shots {
    VkCommandPool pool;
    struct shot *idle;
    struct shot *busy, *youngest; /* in the order of submission, so that only the first needs to be
                                     looked at */
    struct ring ring;
};

enum gantry_status shots_open(struct gantry_drv_queue *queue);
void shots_close(struct gantry_drv_queue *queue);

/* Takes a shot that is not in use and records into it: the plan, or the submission's patch of the
 * built plan. Give it back as used, by the submission with that value, or as unused. */
enum gantry_status shot_record(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               struct shot **shot);
enum gantry_status shot_patch(struct gantry_drv_queue *queue, const struct gantry_drv_plan *built,
                              const struct gantry_backend_submission *submission,
                              struct shot **shot);
void shot_used(struct gantry_drv_queue *queue, struct shot *shot, uint64_t value);
void shot_unused(struct gantry_drv_queue *queue, struct shot *shot);

/* ---- Queues (queue.c) ----------------------------------------------------------------------- */

/* The semaphores of one submission's waits, in the shape that vkQueueSubmit wants. */
struct waits {
    uint32_t capacity;
    VkSemaphore *semaphores;
    uint64_t *values;
    VkPipelineStageFlags *stages;
};

struct gantry_drv_queue {
    struct gantry_drv_device *device;
    struct family *family;
    struct slot *slot;
    VkSemaphore timeline;
    atomic_uint_fast64_t submitted; /* the last value given to the driver */
    struct gantry_queue_stats *stats;
    struct waits waits;
    struct shots shots;
};

enum gantry_status queue_create(struct gantry_drv_device *device,
                                const struct gantry_backend_queue_params *params,
                                struct gantry_drv_queue **queue);
void queue_destroy(struct gantry_drv_queue *queue);
enum gantry_status queue_completed(struct gantry_drv_queue *queue, uint64_t *value);
enum gantry_status queue_wait(struct gantry_drv_queue *queue, uint64_t value, uint64_t timeout_ns);
void queue_native(struct gantry_drv_queue *queue, struct gantry_native_queue *native);
enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                          const struct gantry_backend_submission *submission);
enum gantry_status submit_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               const struct gantry_backend_submission *submission);

#endif
