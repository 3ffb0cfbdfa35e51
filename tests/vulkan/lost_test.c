/* C32: submissions that fail, and devices that are lost. The device table is answered by this file.
 */
#include "machine.h"

/* ---- A driver whose next results are set by the test ------------------------------------------
 */

static struct driver {
    VkResult submit, wait, counter_result, fault;
    uint64_t counter, copied;
    uint64_t resets;                              /* that give memory back */
    uint32_t submits, buffers, semaphores, pools; /* calls; objects alive */
} driver;

static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice device,
                                                       const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *callbacks,
                                                       VkSemaphore *semaphore)
{
    (void)device;
    (void)info;
    (void)callbacks;
    driver.semaphores++;
    *semaphore = (VkSemaphore)&driver;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks *callbacks)
{
    (void)device;
    (void)semaphore;
    (void)callbacks;
    driver.semaphores--;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device,
                                                  const VkCommandPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *callbacks,
                                                  VkCommandPool *pool)
{
    (void)device;
    (void)info;
    (void)callbacks;
    driver.pools++;
    *pool = (VkCommandPool)&driver;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice device, VkCommandPool pool,
                                               const VkAllocationCallbacks *callbacks)
{
    (void)device;
    (void)pool;
    (void)callbacks;
    driver.pools--;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_commands(VkDevice device,
                                                        const VkCommandBufferAllocateInfo *info,
                                                        VkCommandBuffer *commands)
{
    (void)device;
    (void)info;
    driver.buffers++;
    *commands = (VkCommandBuffer)&driver;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands,
                                            const VkCommandBufferBeginInfo *info)
{
    (void)commands;
    (void)info;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL end(VkCommandBuffer commands)
{
    (void)commands;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                          VkPipelineStageFlags to, VkDependencyFlags flags,
                                          uint32_t count, const VkMemoryBarrier *memory,
                                          uint32_t buffers, const VkBufferMemoryBarrier *buffer,
                                          uint32_t images, const VkImageMemoryBarrier *image)
{
    (void)commands;
    (void)from;
    (void)to;
    (void)flags;
    (void)count;
    (void)memory;
    (void)buffers;
    (void)buffer;
    (void)images;
    (void)image;
}

static VKAPI_ATTR void VKAPI_CALL fill(VkCommandBuffer commands, VkBuffer buffer,
                                       VkDeviceSize offset, VkDeviceSize size, uint32_t pattern)
{
    (void)commands;
    (void)buffer;
    (void)offset;
    (void)size;
    (void)pattern;
}

static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                       uint32_t count, const VkBufferCopy *region)
{
    (void)commands;
    (void)from;
    (void)to;
    for (uint32_t i = 0; i < count; i++)
        driver.copied += region[i].size;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset(VkCommandBuffer commands,
                                            VkCommandBufferResetFlags flags)
{
    (void)commands;
    assert_int_equal(flags, VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT);
    driver.resets++;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submits(VkQueue queue, uint32_t count,
                                                    const VkSubmitInfo *info, VkFence fence)
{
    (void)queue;
    (void)info;
    assert_int_equal(count, 1);
    assert_true(fence == VK_NULL_HANDLE);
    driver.submits++;
    return driver.submit;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_counter(VkDevice device, VkSemaphore semaphore,
                                                  uint64_t *value)
{
    (void)device;
    (void)semaphore;
    *value = driver.counter;
    return driver.counter_result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout)
{
    (void)device;
    (void)info;
    (void)timeout;
    return driver.wait;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fault(VkDevice device, VkDeviceFaultCountsEXT *counts,
                                                VkDeviceFaultInfoEXT *info)
{
    (void)device;
    if (driver.fault != VK_SUCCESS && driver.fault != VK_INCOMPLETE)
        return driver.fault;
    assert_true(counts->addressInfoCount >= 2 && counts->vendorInfoCount >= 1);
    assert_int_equal(counts->vendorBinarySize, 0); /* was not enabled */
    counts->addressInfoCount = 2;
    counts->vendorInfoCount = 1;
    strcpy(info->description, "page fault");
    info->pAddressInfos[0] =
        (VkDeviceFaultAddressInfoEXT){VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, 0x12345,
                                      0x1000};
    info->pAddressInfos[1] =
        (VkDeviceFaultAddressInfoEXT){VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT,
                                      0x80, 1};
    strcpy(info->pVendorInfos[0].description, "MMU");
    info->pVendorInfos[0].vendorFaultCode = 7;
    info->pVendorInfos[0].vendorFaultData = 0x1f;
    return driver.fault;
}

/* ---- The device ----------------------------------------------------------------------------- */

static struct gantry_drv_instance instance;
static struct physical physical;
static struct gantry_drv_device device;
static struct gantry_drv_queue *queue;
static struct gantry_queue_stats stats;
static struct block block;
static struct gantry_drv_memory memory = {.driver = &block};
static struct gantry_op op = {.kind = GANTRY_OP_FILL, .fill = {&memory, 0, 4, 0}};
static const struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};

static int setup(void **state)
{
    struct gantry_backend_queue_params params = {.stats = &stats};

    machine_setup(state);
    memset(&driver, 0, sizeof(driver));
    memset(&stats, 0, sizeof(stats));
    physical = machine_probe();
    device = (struct gantry_drv_device){
        .services = &machine_services,
        .instance = &instance,
        .physical = &physical,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .family_count = 1,
        .families = {{.slot_count = 1, .slots = {{.lock = PTHREAD_MUTEX_INITIALIZER}}}},
        .vk = {.vkCreateSemaphore = create_semaphore,
               .vkDestroySemaphore = destroy_semaphore,
               .vkCreateCommandPool = create_pool,
               .vkDestroyCommandPool = destroy_pool,
               .vkAllocateCommandBuffers = allocate_commands,
               .vkBeginCommandBuffer = begin,
               .vkEndCommandBuffer = end,
               .vkCmdPipelineBarrier = barrier,
               .vkCmdFillBuffer = fill,
               .vkCmdCopyBuffer = copy,
               .vkResetCommandBuffer = reset,
               .vkQueueSubmit = queue_submits,
               .vkGetSemaphoreCounterValue = get_counter,
               .vkWaitSemaphores = wait_semaphores,
               .vkGetDeviceFaultInfoEXT = get_fault},
    };
    machine_memory_calls(&device.vk);
    device.compute = device.transfer = &device.families[0];
    return queue_create(&device, &params, &queue);
}

/* Destroying works in every state and leaves nothing. */
static int teardown(void **state)
{
    (void)state;
    queue_destroy(queue);
    tables_close(&device);
    return driver.semaphores + driver.pools == 0 && machine.blocks == 0 ? 0 : -1;
}

static enum gantry_status submit_value(uint64_t value)
{
    struct gantry_backend_submission submission = {.value = value};

    return submit_once(queue, &plan, &submission);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

/* Nothing was submitted: the value, and the command buffer, are used by the next attempt. */
static void failed_submission_can_be_repeated(void **state)
{
    uint64_t completed;

    (void)state;
    driver.submit = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    assert_int_equal(submit_value(1), GANTRY_E_OUT_OF_MEMORY);
    assert_string_equal(machine_error, "vkQueueSubmit: VK_ERROR_OUT_OF_DEVICE_MEMORY (-2): no "
                                       "device memory is left");
    assert_int_equal(stats.driver_submits, 0);
    driver.submit = VK_SUCCESS;
    assert_int_equal(submit_value(1), GANTRY_OK);
    assert_int_equal(stats.driver_submits, 1);
    assert_int_equal(driver.buffers, 1);
    driver.counter = 1;
    assert_int_equal(queue_completed(queue, &completed), GANTRY_OK);
    assert_int_equal(completed, 1);
}

static void assert_lost(void)
{
    uint32_t submits = driver.submits;
    struct gantry_drv_memory other;
    uint64_t completed;

    driver.submit = driver.wait = driver.counter_result = VK_SUCCESS;
    driver.counter = 0;
    assert_int_equal(submit_value(3), GANTRY_E_DEVICE_LOST);
    assert_non_null(strstr(machine_error, "was lost by an earlier failure"));
    assert_int_equal(driver.submits, submits); /* the driver was not asked again */
    assert_int_equal(queue_wait(queue, 2, GANTRY_FOREVER), GANTRY_E_DEVICE_LOST);
    assert_int_equal(queue_completed(queue, &completed), GANTRY_E_DEVICE_LOST);
    assert_int_equal(memory_allocate(&device, GANTRY_MEMORY_DEVICE, 4, &other),
                     GANTRY_E_DEVICE_LOST);
}

static void loss_at_submission_is_remembered(void **state)
{
    (void)state;
    assert_int_equal(submit_value(1), GANTRY_OK);
    driver.submit = VK_ERROR_DEVICE_LOST;
    assert_int_equal(submit_value(2), GANTRY_E_DEVICE_LOST);
    assert_lost();
}

static void loss_at_wait_is_remembered(void **state)
{
    (void)state;
    assert_int_equal(submit_value(1), GANTRY_OK);
    driver.wait = VK_ERROR_DEVICE_LOST;
    assert_int_equal(queue_wait(queue, 1, GANTRY_FOREVER), GANTRY_E_DEVICE_LOST);
    assert_lost();
}

/* Drivers may signal everything when they give up. */
static void impossible_counter_is_a_loss(void **state)
{
    (void)state;
    assert_int_equal(submit_value(1), GANTRY_OK);
    driver.counter = UINT64_MAX;
    assert_int_equal(queue_wait(queue, 1, GANTRY_FOREVER), GANTRY_E_DEVICE_LOST);
    assert_lost();
}

/* The device is opened with the extension and the feature where it has both. */
static void fault_is_told_where_it_can_be(void **state)
{
    static const char *const extensions[] = {VK_EXT_DEVICE_FAULT_EXTENSION_NAME};
    char text[1000], cut[20];

    (void)state;
    device_fault(&device, text, sizeof(text));
    assert_string_equal(text, "the driver tells no more: it lacks VK_EXT_device_fault");

    machine.extensions = extensions;
    machine.extension_count = 1;
    physical = machine_probe();
    assert_false(physical.features.fault.deviceFault);
    machine.device_fault = VK_TRUE;
    physical = machine_probe();
    assert_true(physical.features.fault.deviceFault);
    assert_false(physical.features.fault.deviceFaultVendorBinary);

    driver.fault = VK_INCOMPLETE;
    device_fault(&device, text, sizeof(text));
    assert_string_equal(text, "VK_EXT_device_fault: page fault; a write to address 0x12000 to "
                              "0x12fff; an instruction at address 0x80; MMU (code 0x7, data 0x1f)");
    device_fault(&device, cut, sizeof(cut));
    assert_string_equal(cut, "VK_EXT_device_fault");
    driver.fault = VK_ERROR_OUT_OF_HOST_MEMORY;
    device_fault(&device, text, sizeof(text));
    assert_string_equal(text,
                        "vkGetDeviceFaultInfoEXT: VK_ERROR_OUT_OF_HOST_MEMORY: no host memory "
                        "is left");
}

static void timeout_is_no_loss(void **state)
{
    (void)state;
    assert_int_equal(submit_value(1), GANTRY_OK);
    driver.wait = VK_TIMEOUT;
    assert_int_equal(queue_wait(queue, 1, 1000), GANTRY_TIMEOUT);
    assert_int_equal(submit_value(2), GANTRY_OK);
}

/* The second submission needs a command buffer of its own until the first one is known to be over.
 */
static void shots_wait_for_the_counter(void **state)
{
    (void)state;
    assert_int_equal(submit_value(1), GANTRY_OK);
    assert_int_equal(submit_value(2), GANTRY_OK);
    assert_int_equal(driver.buffers, 2);
    driver.counter = 1;
    assert_int_equal(submit_value(3), GANTRY_OK);
    assert_int_equal(driver.buffers, 2);
    assert_int_equal(submit_value(4), GANTRY_OK);
    assert_int_equal(driver.buffers, 3);
    driver.counter = 4;
    assert_int_equal(submit_value(5), GANTRY_OK);
    assert_int_equal(driver.buffers, 3);
}

/* A plan with a table, as core makes them for folded launches; the operation doesn't matter. */
static struct gantry_plan plan_with_table(uint64_t size)
{
    static const char table[300000];
    struct gantry_plan made = plan;

    made.table = table;
    made.table_size = size;
    made.patchable = true;
    return made;
}

static void failed_patch_can_be_repeated(void **state)
{
    struct gantry_plan tabled = plan_with_table(1000);
    struct gantry_backend_submission submission = {.value = 1,
                                                   .patch = "12345678",
                                                   .patch_offset = 16,
                                                   .patch_size = 8};
    struct gantry_drv_plan *built;

    (void)state;
    assert_int_equal(plan_build(&device, &tabled, &built), GANTRY_OK);
    driver.submit = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(submit(queue, built, &submission), GANTRY_E_OUT_OF_HOST_MEMORY);
    driver.submit = VK_SUCCESS;
    driver.copied = 0;
    assert_int_equal(submit(queue, built, &submission), GANTRY_OK);
    assert_int_equal(driver.copied, 8);
    assert_int_equal(stats.driver_submits, 1);
    assert_int_equal(driver.buffers, 2); /* the plan's and the patch's */
    assert_int_equal(stats.allocations, 1);
    plan_destroy(built);
}

static void submit_table(uint64_t value, uint64_t size, VkResult result)
{
    struct gantry_plan tabled = plan_with_table(size);
    struct gantry_backend_submission submission = {.value = value};

    driver.submit = result;
    assert_int_equal(submit_once(queue, &tabled, &submission) == GANTRY_OK, result == VK_SUCCESS);
}

/* Rings that hold a place: the queue's own, and those that it has outgrown. */
static uint32_t rings_alive(void)
{
    uint32_t count = queue->shots.ring.place.chunk != NULL;

    for (const struct shot *shot = queue->shots.busy; shot; shot = shot->next)
        count += shot->outgrown.chunk != NULL;
    for (const struct shot *shot = queue->shots.idle; shot; shot = shot->next)
        count += shot->outgrown.chunk != NULL;
    return count;
}

/* The old ring lives as long as a submission that uses it, and not longer; one that no submission
 * came to use goes at once. */
static void outgrown_rings_are_freed_in_time(void **state)
{
    (void)state;
    submit_table(1, 1000, VK_SUCCESS);
    assert_int_equal(rings_alive(), 1);
    submit_table(2, 100000, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(rings_alive(), 2);
    submit_table(2, 300000, VK_SUCCESS);
    assert_int_equal(rings_alive(), 2);
    driver.counter = 1;
    submit_table(3, 250000, VK_SUCCESS); /* too much beside the one before */
    assert_int_equal(rings_alive(), 2);
    driver.counter = 3;
    submit_table(4, 200000, VK_SUCCESS);
    submit_table(5, 200000, VK_SUCCESS);
    submit_table(6, 200000, VK_SUCCESS);
    assert_int_equal(rings_alive(), 1);
    assert_int_equal(machine.blocks, 1);
    assert_int_equal(stats.allocations, 4);
}

/* Taking a slice may make other shots idle; it still goes to the shot that asked. */
static void slices_go_to_their_shots(void **state)
{
    (void)state;
    for (uint64_t value = 1; value <= 3; value++)
        assert_int_equal(submit_value(value), GANTRY_OK);
    driver.counter = 3;
    submit_table(4, 40000, VK_SUCCESS);
    assert_non_null(queue->shots.idle);
    driver.counter = 4;
    submit_table(5, 40000, VK_SUCCESS); /* no room beside the one before */
    assert_int_equal(driver.buffers, 3);
    assert_int_equal(stats.allocations, 1);
    assert_int_equal(queue->shots.youngest->slice.end, queue->shots.ring.head);
    assert_true(queue->shots.youngest->slice.end > queue->shots.ring.tail);
}

/* A rectangle makes a command buffer as large as that many copies would, and a small submission
 * after it must not pay for that. */
static void command_buffers_shrink_after_rectangles(void **state)
{
    struct gantry_op rectangle = {.kind = GANTRY_OP_COPY,
                                  .copy = {.to = &memory,
                                           .from = &memory,
                                           .size = 4,
                                           .rows = 10000,
                                           .to_pitch = 8,
                                           .from_pitch = 16}};
    struct gantry_plan large = {.ops = &rectangle, .op_count = 1, .stage_count = 1};
    struct gantry_backend_submission submission = {.value = 1};

    (void)state;
    assert_int_equal(submit_once(queue, &large, &submission), GANTRY_OK);
    assert_int_equal(driver.copied, 40000);
    driver.counter = 1;
    assert_int_equal(submit_value(2), GANTRY_OK);
    assert_int_equal(driver.resets, 1);
    driver.counter = 2;
    assert_int_equal(submit_value(3), GANTRY_OK);
    assert_int_equal(driver.resets, 1);
    assert_int_equal(driver.buffers, 1);
}

int run_lost_tests(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(failed_submission_can_be_repeated),
        TEST(loss_at_submission_is_remembered),
        TEST(loss_at_wait_is_remembered),
        TEST(impossible_counter_is_a_loss),
        TEST(fault_is_told_where_it_can_be),
        TEST(timeout_is_no_loss),
        TEST(shots_wait_for_the_counter),
        TEST(failed_patch_can_be_repeated),
        TEST(outgrown_rings_are_freed_in_time),
        TEST(slices_go_to_their_shots),
        TEST(command_buffers_shrink_after_rectangles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
