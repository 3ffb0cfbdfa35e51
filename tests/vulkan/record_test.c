/* What a plan is recorded as, call by call, with a device table of our own: lavapipe runs
 * dispatches one after the other, so a missing barrier would not show in any result there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/vulkan/driver.h"

/* ---- The device that writes down what it is told --------------------------------------------- */

/* One letter a call: ( begin, ) end, P pipeline, a push of arguments, D dispatch, C copy, Z fill. A
 * barrier is written as what it orders: "ct>c;" means launches and transfers before launches, h
 * stands for the host. */
static char calls[256];
static unsigned char pushed[256];
static struct {
    VkBufferCopy regions[1000];
    uint32_t count;
} copied;

static void note(char call)
{
    size_t length = strlen(calls);

    assert_true(length + 1 < sizeof(calls));
    calls[length] = call;
}

static VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands,
                                            const VkCommandBufferBeginInfo *info)
{
    (void)commands;
    (void)info;
    note('(');
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL end(VkCommandBuffer commands)
{
    (void)commands;
    note(')');
    return VK_SUCCESS;
}

static void note_kinds(VkPipelineStageFlags kinds)
{
    if (kinds & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT)
        note('c');
    if (kinds & VK_PIPELINE_STAGE_TRANSFER_BIT)
        note('t');
    if (kinds & VK_PIPELINE_STAGE_HOST_BIT)
        note('h');
}

static VkAccessFlags accesses(VkPipelineStageFlags kinds, bool reads)
{
    VkAccessFlags flags = 0;

    if (kinds & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT)
        flags |= VK_ACCESS_SHADER_WRITE_BIT | (reads ? VK_ACCESS_SHADER_READ_BIT : 0);
    if (kinds & VK_PIPELINE_STAGE_TRANSFER_BIT)
        flags |= VK_ACCESS_TRANSFER_WRITE_BIT | (reads ? VK_ACCESS_TRANSFER_READ_BIT : 0);
    if (kinds & VK_PIPELINE_STAGE_HOST_BIT)
        flags |= VK_ACCESS_HOST_READ_BIT;
    return flags;
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                          VkPipelineStageFlags to, VkDependencyFlags flags,
                                          uint32_t count, const VkMemoryBarrier *memory,
                                          uint32_t buffers, const VkBufferMemoryBarrier *buffer,
                                          uint32_t images, const VkImageMemoryBarrier *image)
{
    (void)commands;
    (void)buffer;
    (void)image;
    assert_int_equal(flags + buffers + images, 0);
    assert_int_equal(count, 1);
    assert_int_equal(memory->srcAccessMask, accesses(from, false));
    assert_int_equal(memory->dstAccessMask, accesses(to, true));
    note_kinds(from);
    note('>');
    note_kinds(to);
    note(';');
}

static VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer commands, VkPipelineBindPoint point,
                                       VkPipeline pipeline)
{
    (void)commands;
    (void)pipeline;
    assert_int_equal(point, VK_PIPELINE_BIND_POINT_COMPUTE);
    note('P');
}

static VKAPI_ATTR void VKAPI_CALL push(VkCommandBuffer commands, VkPipelineLayout layout,
                                       VkShaderStageFlags stage, uint32_t offset, uint32_t size,
                                       const void *values)
{
    (void)commands;
    (void)layout;
    assert_int_equal(stage, VK_SHADER_STAGE_COMPUTE_BIT);
    assert_int_equal(offset % 4 + size % 4, 0);
    memcpy(pushed + offset, values, size);
    note('a');
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                           uint32_t z)
{
    (void)commands;
    assert_int_equal(x * y * z, 24);
    note('D');
}

static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                       uint32_t count, const VkBufferCopy *region)
{
    (void)commands;
    (void)from;
    (void)to;
    assert_true(count > 0 && copied.count + count <= 1000);
    memcpy(copied.regions + copied.count, region, count * sizeof(*region));
    copied.count += count;
    note('C');
}

static VKAPI_ATTR void VKAPI_CALL fill(VkCommandBuffer commands, VkBuffer buffer,
                                       VkDeviceSize offset, VkDeviceSize size, uint32_t pattern)
{
    (void)commands;
    (void)buffer;
    assert_int_equal(offset, 64 + 8);
    assert_int_equal(size, 12);
    assert_int_equal(pattern, 13);
    note('Z');
}

/* ---- Plans ---------------------------------------------------------------------------------- */

static struct gantry_drv_kernel kernel = {.pipeline = (VkPipeline)1};
static struct block blocks[2] = {{.shift = 64}, {.shift = 128}};
static struct gantry_drv_memory memory[2] = {{.driver = &blocks[0]}, {.driver = &blocks[1]}};
static const char args[6] = "12345";

static struct gantry_op op(enum gantry_op_kind kind, uint32_t stage)
{
    struct gantry_op op = {.kind = kind, .stage = stage};

    if (kind == GANTRY_OP_LAUNCH)
        op.launch = (struct gantry_op_launch){.kernel = &kernel,
                                              .blocks = {2, 3, 4},
                                              .args = args,
                                              .args_size = 4};
    else if (kind == GANTRY_OP_COPY)
        op.copy = (struct gantry_op_copy){
            .to = &memory[1], .from = &memory[0], .to_offset = 6, .from_offset = 5, .size = 7};
    else if (kind == GANTRY_OP_FILL)
        op.fill = (struct gantry_op_fill){&memory[0], 8, 12, 13};
    return op;
}

static struct gantry_drv_instance instance;
static struct gantry_drv_device device = {
    .instance = &instance,
    .vk = {.vkBeginCommandBuffer = begin,
           .vkEndCommandBuffer = end,
           .vkCmdPipelineBarrier = barrier,
           .vkCmdBindPipeline = bind,
           .vkCmdPushConstants = push,
           .vkCmdDispatch = dispatch,
           .vkCmdCopyBuffer = copy,
           .vkCmdFillBuffer = fill},
};
static const struct family compute = {.flags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT};
static const struct family transfer = {.flags = VK_QUEUE_TRANSFER_BIT};

static void record_plan(const struct family *family, const struct gantry_op *ops, uint32_t count,
                        bool host_writes, uint64_t table)
{
    struct gantry_plan plan = {.ops = ops, .op_count = count, .host_writes = host_writes};

    memset(calls, 0, sizeof(calls));
    memset(&copied, 0, sizeof(copied));
    memset(pushed, 0xee, sizeof(pushed));
    assert_int_equal(record(&device, family, (VkCommandBuffer)&device, 0, &plan, table), GANTRY_OK);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void one_barrier_per_stage(void **state)
{
    struct gantry_op ops[] = {
        op(GANTRY_OP_LAUNCH, 0), op(GANTRY_OP_LAUNCH, 0), op(GANTRY_OP_LAUNCH, 1),
        op(GANTRY_OP_LAUNCH, 2), op(GANTRY_OP_LAUNCH, 2),
    };

    (void)state;
    record_plan(&compute, ops, 5, false, 0);
    assert_string_equal(calls, "(ct>c;PaDaDc>c;aDc>c;aDaD)");
}

/* Each barrier begins with what the one before it ended with, so that nothing falls between. */
static void transfers_are_ordered_with_launches(void **state)
{
    struct gantry_op ops[] = {
        op(GANTRY_OP_COPY, 0), op(GANTRY_OP_FILL, 0),   op(GANTRY_OP_LAUNCH, 1),
        op(GANTRY_OP_COPY, 2), op(GANTRY_OP_LAUNCH, 2),
    };

    (void)state;
    record_plan(&compute, ops, 5, true, 0);
    assert_string_equal(calls, "(ct>t;CZt>c;PaDc>ct;CaDct>h;)");
}

static void joins_are_nothing(void **state)
{
    struct gantry_op ops[] = {
        op(GANTRY_OP_JOIN, 0), op(GANTRY_OP_LAUNCH, 1), op(GANTRY_OP_JOIN, 2),
        op(GANTRY_OP_JOIN, 3), op(GANTRY_OP_LAUNCH, 3), op(GANTRY_OP_JOIN, 4),
    };

    (void)state;
    record_plan(&compute, ops, 6, true, 0);
    assert_string_equal(calls, "(ct>c;PaDc>c;aDc>h;)");
}

/* ---- Copies --------------------------------------------------------------------------------- */

static void assert_region(uint32_t i, uint64_t from, uint64_t to, uint64_t size)
{
    assert_int_equal(copied.regions[i].srcOffset, 64 + from);
    assert_int_equal(copied.regions[i].dstOffset, 128 + to);
    assert_int_equal(copied.regions[i].size, size);
}

/* From a block's start, wherever that lies in its buffer; pitches of one row say nothing. */
static void plain_copies_are_one_region(void **state)
{
    struct gantry_op plain = op(GANTRY_OP_COPY, 0);

    (void)state;
    for (plain.copy.rows = 0; plain.copy.rows <= 1; plain.copy.rows++) {
        plain.copy.to_pitch = plain.copy.from_pitch = plain.copy.rows;
        record_plan(&transfer, &plain, 1, false, 0);
        assert_string_equal(calls, "(t>t;C)");
        assert_int_equal(copied.count, 1);
        assert_region(0, 5, 6, 7);
    }
}

static void rectangles_are_a_region_per_row(void **state)
{
    static const struct {
        uint64_t rows;
        const char *calls; /* 128 regions each */
    } rows[] = {{2, "(t>t;C)"},    {127, "(t>t;C)"},  {128, "(t>t;C)"},
                {129, "(t>t;CC)"}, {256, "(t>t;CC)"}, {1000, "(t>t;CCCCCCCC)"}};
    struct gantry_op rectangle = op(GANTRY_OP_COPY, 0);

    (void)state;
    rectangle.copy.to_pitch = 7;
    rectangle.copy.from_pitch = UINT64_C(3) << 32;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rectangle.copy.rows = rows[i].rows;
        record_plan(&transfer, &rectangle, 1, false, 0);
        assert_string_equal(calls, rows[i].calls);
        assert_int_equal(copied.count, rows[i].rows);
        for (uint32_t row = 0; row < copied.count; row++)
            assert_region(row, 5 + (row * UINT64_C(3) << 32), 6 + 7 * row, 7);
    }
}

/* However many there are: nobody wants millions of regions for one piece of memory. */
static void rows_without_gaps_are_one_region(void **state)
{
    struct gantry_op rectangle = op(GANTRY_OP_COPY, 0);

    (void)state;
    rectangle.copy.rows = UINT64_C(1) << 33;
    rectangle.copy.to_pitch = rectangle.copy.from_pitch = 7;
    record_plan(&transfer, &rectangle, 1, false, 0);
    assert_int_equal(copied.count, 1);
    assert_region(0, 5, 6, UINT64_C(7) << 33);
}

/* A family that only transfers has no other stages. */
static void transfers_alone_name_no_other_stage(void **state)
{
    struct gantry_op ops[] = {op(GANTRY_OP_COPY, 0), op(GANTRY_OP_FILL, 1)};

    (void)state;
    record_plan(&transfer, ops, 2, true, 0);
    assert_string_equal(calls, "(t>t;Ct>t;Zt>h;)");
}

/* After earlier launches, which may read the table; the plan's own first barrier does the rest. */
static void patches_wait_for_readers(void **state)
{
    struct span from = {.offset = 69}, table = {.offset = 100};

    (void)state;
    memset(calls, 0, sizeof(calls));
    assert_int_equal(record_patch(&device, (VkCommandBuffer)&device, &from, &table, 34, 7),
                     GANTRY_OK);
    assert_string_equal(calls, "(c>t;C)");
}

/* Push constants are words; the last one is filled up with zeros, not with what lies behind. */
static void odd_sizes_are_padded(void **state)
{
    struct gantry_op launch = op(GANTRY_OP_LAUNCH, 0);

    (void)state;
    launch.launch.args_size = 5;
    record_plan(&compute, &launch, 1, false, 0);
    assert_string_equal(calls, "(ct>c;PaaD)");
    assert_memory_equal(pushed, "12345\0\0\0\xee", 9);
    launch.launch.args_size = 0;
    record_plan(&compute, &launch, 1, false, 0);
    assert_string_equal(calls, "(ct>c;PD)");
}

static void folded_addresses_are_relocated(void **state)
{
    struct gantry_fold_args fold = {.launches = 16, .args = 4096, .blocks = 3, .count = 9};
    struct gantry_op launch = op(GANTRY_OP_LAUNCH, 0);
    struct gantry_fold_args seen;

    (void)state;
    launch.folded = true;
    launch.launch.args = &fold;
    launch.launch.args_size = sizeof(fold);
    record_plan(&compute, &launch, 1, false, UINT64_C(0x100000000));
    memcpy(&seen, pushed, sizeof(seen));
    assert_true(seen.launches == UINT64_C(0x100000010) && seen.args == UINT64_C(0x100001000));
    assert_true(seen.blocks == 3 && seen.count == 9);
    assert_int_equal(fold.launches, 16);
}

static void plans_without_work_are_known(void **state)
{
    struct gantry_op ops[] = {op(GANTRY_OP_JOIN, 0), op(GANTRY_OP_FILL, 1)};
    struct gantry_plan plan = {.ops = ops, .op_count = 1};

    (void)state;
    assert_false(plan_works(&plan));
    plan.op_count = 2;
    assert_true(plan_works(&plan));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_barrier_per_stage),
        cmocka_unit_test(transfers_are_ordered_with_launches),
        cmocka_unit_test(joins_are_nothing),
        cmocka_unit_test(plain_copies_are_one_region),
        cmocka_unit_test(rectangles_are_a_region_per_row),
        cmocka_unit_test(rows_without_gaps_are_one_region),
        cmocka_unit_test(transfers_alone_name_no_other_stage),
        cmocka_unit_test(patches_wait_for_readers),
        cmocka_unit_test(odd_sizes_are_padded),
        cmocka_unit_test(folded_addresses_are_relocated),
        cmocka_unit_test(plans_without_work_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
