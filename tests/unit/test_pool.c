/* Memory through the pools: who shares what with whom, when memory is used anew, when it goes back,
 * and what is said when there is none. Over a plugin whose work completes when the test says so. */
#include "unit.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/queue.h"
#include "core/retire.h"
#include "fake_device.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

/* Blocks of 8 MiB at most. */
static int open_pools(void **state)
{
    int result = fake_open(state);
    struct fake_device *fake = *state;

    fake->device.policy.pool_block_mib = 8;
    memory_open(&fake->device);
    return result;
}

static enum gantry_status create(struct fake_device *fake, uint64_t size,
                                 struct gantry_buffer **buffer)
{
    const struct gantry_buffer_params params = {.size = size};

    return gantry_buffer_create(&fake->device, &params, buffer);
}

static struct gantry_buffer *create_host(struct fake_device *fake, uint64_t size)
{
    const struct gantry_buffer_params params = {.size = size, .memory = GANTRY_MEMORY_UPLOAD};
    struct gantry_buffer *buffer;

    assert_int_equal(gantry_buffer_create(&fake->device, &params, &buffer), GANTRY_OK);
    return buffer;
}

static struct gantry_memory_info info_of(struct fake_device *fake)
{
    struct gantry_memory_info info;

    assert_int_equal(gantry_device_memory(&fake->device, &info), GANTRY_OK);
    return info;
}

static uint8_t *bytes_of(const struct gantry_buffer *buffer)
{
    return (uint8_t *)(uintptr_t)gantry_buffer_address(buffer);
}

/* ---- Sharing -------------------------------------------------------------------------------- */

/* C23: ten thousand buffers, in a few blocks that double. */
static void small_buffers_share_blocks(void **state)
{
    static struct gantry_buffer *buffers[10000];
    struct fake_device *fake = *state;

    fake->device.info.max_memory_blocks = 64;
    for (int i = 0; i < 10000; i++) {
        buffers[i] = fake_buffer(fake, KIB);
        assert_int_equal(gantry_buffer_address(buffers[i]) % 256, 0);
        memset(bytes_of(buffers[i]), i & 255, KIB);
    }
    assert_int_equal(fake->memories, 4); /* 1 + 2 + 4 MiB are too little */
    assert_int_equal(info_of(fake).blocks, 4);
    assert_int_equal(info_of(fake).buffers, 10000);
    assert_int_equal(info_of(fake).used, 10000 * KIB);
    for (int i = 0; i < 10000; i++) {
        for (uint64_t k = 0; k < KIB; k++)
            assert_int_equal(bytes_of(buffers[i])[k], i & 255);
        gantry_buffer_destroy(&buffers[i]);
    }
    assert_int_equal(info_of(fake).buffers, 0);
}

static void large_buffers_have_blocks_of_their_own(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *half = fake_buffer(fake, 4 * MIB);
    struct gantry_buffer *more = fake_buffer(fake, 4 * MIB + 1);
    struct gantry_buffer *small = fake_buffer(fake, 1);

    assert_ptr_not_equal(buffer_block(half), buffer_block(more));
    assert_int_equal(buffer_block(more)->size, 4 * MIB + 256);
    assert_ptr_not_equal(buffer_block(small), buffer_block(more));
    gantry_buffer_destroy(&half);
    gantry_buffer_destroy(&more);
    gantry_buffer_destroy(&small);
}

static void kinds_do_not_mix(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *device = fake_buffer(fake, 64), *host = create_host(fake, 64);

    assert_ptr_not_equal(buffer_block(device), buffer_block(host));
    assert_int_equal(buffer_kind(host), GANTRY_MEMORY_UPLOAD);
    assert_null(gantry_buffer_host(device));
    assert_ptr_equal(gantry_buffer_host(host), bytes_of(host));
    assert_int_equal(info_of(fake).used, 64);
    assert_int_equal(info_of(fake).host_used, 64);
    gantry_buffer_destroy(&device);
    gantry_buffer_destroy(&host);
}

/* C27: zeros where they were asked for, of odd sizes too, and nowhere else. */
static void zeros_stay_inside(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 5, 255, 256, 257, 511, 1023};
    struct fake_device *fake = *state;

    fake->complete_in_submit = true;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct gantry_buffer_params params = {.size = sizes[i], .zero = true};
        struct gantry_buffer *before = fake_buffer(fake, sizes[i]), *zeros;
        struct gantry_buffer *hole = fake_buffer(fake, sizes[i]);
        struct gantry_buffer *behind = fake_buffer(fake, sizes[i]);

        memset(bytes_of(before), 0xab, sizes[i]);
        memset(bytes_of(hole), 0xab, sizes[i]);
        memset(bytes_of(behind), 0xab, sizes[i]);
        gantry_buffer_destroy(&hole);
        assert_int_equal(gantry_buffer_create(&fake->device, &params, &zeros), GANTRY_OK);
        for (uint64_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(bytes_of(before)[k], 0xab);
            assert_int_equal(bytes_of(zeros)[k], 0);
            assert_int_equal(bytes_of(behind)[k], 0xab);
        }
        gantry_buffer_destroy(&before);
        gantry_buffer_destroy(&zeros);
        gantry_buffer_destroy(&behind);
    }
}

static void without_a_block_size_nothing_is_shared_or_kept(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *a, *b;

    fake->device.policy.pool_block_mib = 0;
    memory_open(&fake->device);
    a = fake_buffer(fake, 5);
    b = fake_buffer(fake, 5);
    assert_int_equal(fake->memories, 2);
    gantry_buffer_destroy(&a);
    assert_int_equal(fake->memories, 1);
    gantry_buffer_destroy(&b);
    assert_int_equal(fake->memories, 0);
}

/* Each buffer holds its own byte; who meets another's has a wrong place. */
static void a_random_crowd(void **state)
{
    static struct gantry_buffer *buffers[512];
    struct fake_device *fake = *state;
    uint32_t random = 7;

    for (int step = 0; step < 20000; step++) {
        uint32_t i = (random = random * 1664525 + 1013904223) >> 23;
        uint64_t size = random % 16 ? 1 + random / 16 % 3000 : 1 + random / 16 % (5 * MIB);

        if (!buffers[i]) {
            buffers[i] = fake_buffer(fake, size);
            memset(bytes_of(buffers[i]), (int)(i & 255), size < 4096 ? size : 4096);
            continue;
        }
        size = gantry_buffer_size(buffers[i]);
        for (uint64_t k = 0; k < size && k < 4096; k++)
            assert_int_equal(bytes_of(buffers[i])[k], i & 255);
        gantry_buffer_destroy(&buffers[i]);
    }
    for (int i = 0; i < 512; i++)
        gantry_buffer_destroy(&buffers[i]);
    assert_int_equal(info_of(fake).used, 0);
    assert_int_equal(info_of(fake).cached, info_of(fake).reserved);
}

/* ---- Used anew ------------------------------------------------------------------------------ */

static void steady_state_asks_nobody(void **state)
{
    static const uint64_t sizes[] = {1, 4096, MIB, 4 * MIB, 6 * MIB, 16 * MIB};
    struct fake_device *fake = *state;
    unsigned asked, looks;

    fake_queue(fake);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct gantry_buffer *buffer = fake_buffer(fake, sizes[i]);

        gantry_buffer_destroy(&buffer);
        asked = fake->memory_asked;
        looks = fake->looks;
        for (int round = 0; round < 100; round++) {
            buffer = fake_buffer(fake, sizes[i]);
            gantry_buffer_destroy(&buffer);
        }
        assert_int_equal(fake->memory_asked, asked);
        assert_int_equal(fake->looks, looks);
    }
}

/* Creates a buffer as large as `old` was while work that `old` was destroyed under is not over, and
 * again when it is. */
static void check_reuse(struct fake_device *fake, struct gantry_buffer *old,
                        struct gantry_queue *queue, uint64_t value)
{
    gantry_ptr address = gantry_buffer_address(old);
    uint64_t size = gantry_buffer_size(old);
    struct gantry_buffer *early, *late;

    gantry_buffer_destroy(&old);
    early = fake_buffer(fake, size);
    assert_int_not_equal(gantry_buffer_address(early), address);
    fake_complete(queue, value);
    assert_int_equal(gantry_wait((struct gantry_point){queue, value}, 0), GANTRY_OK);
    late = fake_buffer(fake, size);
    assert_int_equal(gantry_buffer_address(late), address);
    gantry_buffer_destroy(&early);
    gantry_buffer_destroy(&late);
}

static void not_while_a_list_is_pending(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);

    fake_launch(fake, list, 1);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    check_reuse(fake, fake_buffer(fake, 1000), queue, 1);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

static void not_while_a_batch_is_open(void **state)
{
    static const uint32_t args;
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_buffer *buffer = fake_buffer(fake, 1000), *early;
    gantry_ptr address = gantry_buffer_address(buffer);
    struct gantry_point point;

    /* The first one goes out at once, and keeps the next ones waiting. */
    for (int i = 0; i < 2; i++)
        assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){.x = 1},
                                             &args, sizeof(args), &point),
                         GANTRY_OK);
    assert_int_equal(point.value, 2);
    assert_int_equal(queue->submitted, 1);
    gantry_buffer_destroy(&buffer);
    fake_complete(queue, 1);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 1}, 0), GANTRY_OK);
    early = fake_buffer(fake, 1000);
    assert_int_not_equal(gantry_buffer_address(early), address);
    gantry_buffer_destroy(&early);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    fake_complete(queue, 2);
    assert_int_equal(gantry_wait(point, 0), GANTRY_OK);
    buffer = fake_buffer(fake, 1000);
    assert_int_equal(gantry_buffer_address(buffer), address);
    gantry_buffer_destroy(&buffer);
    gantry_queue_destroy(&queue);
}

static void not_while_another_queue_works(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *quick = fake_queue(fake), *slow = fake_queue(fake);
    struct gantry_list *list = fake_list(fake), *other = fake_list(fake);

    fake_launch(fake, list, 1);
    fake_launch(fake, other, 1);
    assert_int_equal(gantry_queue_submit(quick, list, NULL, 0, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(slow, other, NULL, 0, NULL), GANTRY_OK);
    fake_complete(quick, 1);
    assert_int_equal(gantry_wait((struct gantry_point){quick, 1}, 0), GANTRY_OK);
    check_reuse(fake, fake_buffer(fake, 1000), slow, 1);
    gantry_list_destroy(&list);
    gantry_list_destroy(&other);
    gantry_queue_destroy(&quick);
    gantry_queue_destroy(&slow);
}

static void not_while_a_list_names_it(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 512), *next;
    struct gantry_list *list = fake_list(fake);
    gantry_ptr address = gantry_buffer_address(buffer);

    gantry_list_fill(list, buffer, 0, 512, 1);
    gantry_buffer_destroy(&buffer);
    next = fake_buffer(fake, 512);
    assert_int_not_equal(gantry_buffer_address(next), address);
    gantry_buffer_destroy(&next);
    gantry_list_destroy(&list);
    next = fake_buffer(fake, 512);
    assert_int_equal(gantry_buffer_address(next), address);
    gantry_buffer_destroy(&next);
}

/* A thousand at one moment cost one look at the driver, and come back together. */
static void many_are_retired_at_one_moment(void **state)
{
    static struct gantry_buffer *buffers[1000];
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    unsigned looks;

    for (int i = 0; i < 1000; i++)
        buffers[i] = fake_buffer(fake, 256);
    fake_launch(fake, list, 1);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    looks = fake->looks;
    for (int i = 0; i < 1000; i++)
        gantry_buffer_destroy(&buffers[i]);
    assert_true(fake->looks - looks <= 2);
    assert_int_equal(info_of(fake).used, 1000 * 256);
    fake_complete(queue, 1);
    retire_collect(&fake->device);
    assert_int_equal(info_of(fake).used, 0);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* What was retired under more work, or under a queue that is new, waits for that as well. */
static void moments_are_told_apart(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *later;
    struct gantry_list *list = fake_list(fake), *other = fake_list(fake);
    struct gantry_buffer *buffers[3];

    for (int i = 0; i < 3; i++)
        buffers[i] = fake_buffer(fake, 256);
    fake_launch(fake, list, 1);
    fake_launch(fake, other, 1);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    gantry_buffer_destroy(&buffers[0]);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    gantry_buffer_destroy(&buffers[1]);
    later = fake_queue(fake);
    assert_int_equal(gantry_queue_submit(later, other, NULL, 0, NULL), GANTRY_OK);
    gantry_buffer_destroy(&buffers[2]);
    for (uint64_t value = 1; value <= 2; value++) {
        fake_complete(queue, value);
        retire_collect(&fake->device);
        assert_int_equal(info_of(fake).used, (3 - value) * 256);
    }
    fake_complete(later, 1);
    retire_collect(&fake->device);
    assert_int_equal(info_of(fake).used, 0);
    gantry_list_destroy(&list);
    gantry_list_destroy(&other);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&later);
}

/* ---- Going back ----------------------------------------------------------------------------- */

static void what_is_worth_keeping_is_kept(void **state)
{
    struct gantry_buffer *buffers[5];
    struct fake_device *fake = *state;

    for (int i = 0; i < 5; i++)
        buffers[i] = fake_buffer(fake, 5 * MIB);
    for (int i = 0; i < 5; i++)
        gantry_buffer_destroy(&buffers[i]);
    assert_int_equal(fake->memories, 3); /* two blocks of 8 MiB have room for 15 */
    assert_int_equal(info_of(fake).cached, 15 * MIB);
    buffers[0] = fake_buffer(fake, 17 * MIB);
    gantry_buffer_destroy(&buffers[0]);
    assert_int_equal(info_of(fake).cached, 15 * MIB); /* too large to keep, and keeps the others */
    assert_int_equal(gantry_device_trim(&fake->device), GANTRY_OK);
    assert_int_equal(fake->memories, 0);
    assert_int_equal(info_of(fake).reserved, 0);
}

/* Giving memory back may make a driver wait. */
static void nothing_goes_back_while_the_device_works(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    struct gantry_buffer *buffer = fake_buffer(fake, 20 * MIB);

    fake_launch(fake, list, 1);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    gantry_buffer_destroy(&buffer);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    fake_complete(queue, 1);
    retire_collect(&fake->device);
    assert_int_equal(info_of(fake).cached, 20 * MIB);
    fake_complete(queue, 2);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 2}, 0), GANTRY_OK);
    assert_int_equal(info_of(fake).cached, 0);
    assert_int_equal(fake->memories, 0);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

static void blocks_begin_small_again(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *a = fake_buffer(fake, MIB), *b = fake_buffer(fake, MIB);

    assert_int_equal(info_of(fake).reserved, 3 * MIB);
    gantry_buffer_destroy(&a);
    gantry_buffer_destroy(&b);
    assert_int_equal(gantry_device_trim(&fake->device), GANTRY_OK);
    a = fake_buffer(fake, 1);
    assert_int_equal(info_of(fake).reserved, MIB);
    gantry_buffer_destroy(&a);
}

static void the_block_size_fits_the_device(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer;

    fake->device.info.limits.memory_size = 32 * MIB;
    memory_open(&fake->device);
    buffer = fake_buffer(fake, MIB + 1); /* more than half of 2 MiB */
    assert_int_equal(buffer_block(buffer)->size, MIB + 256);
    gantry_buffer_destroy(&buffer);
    memory_close(&fake->device);

    /* With the few blocks that the driver allows, buffers of all sizes can fill the memory. */
    fake->device.info.limits.memory_size = 1024 * MIB;
    fake->device.info.max_memory_blocks = 128;
    memory_open(&fake->device);
    buffer = fake_buffer(fake, 16 * MIB);
    assert_int_equal(buffer_block(buffer)->size, 16 * MIB);
    assert_false(((struct pool_block *)buffer_block(buffer))->own);
    gantry_buffer_destroy(&buffer);
}

static void what_a_device_says(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *a = fake_buffer(fake, 1000), *b = fake_buffer(fake, 5 * MIB);
    struct gantry_memory_info info = info_of(fake);

    assert_int_equal(info.total, 0);
    assert_int_equal(info.budget, 0);
    assert_int_equal(info.used, 1000 + 5 * MIB);
    assert_int_equal(info.reserved, 6 * MIB);
    assert_int_equal(info.cached, MIB - 1024);
    assert_int_equal(info.largest_free, MIB - 1024);
    gantry_buffer_destroy(&b);
    fake->memory_size = 100 * MIB;
    info = info_of(fake);
    assert_int_equal(info.total, 100 * MIB);
    assert_int_equal(info.budget, 100 * MIB);
    assert_int_equal(info.used, 1000);
    assert_int_equal(info.peak, 1000 + 5 * MIB);
    assert_int_equal(info.largest_free, 5 * MIB);
    gantry_buffer_destroy(&a);
    assert_int_equal(gantry_device_memory(&fake->device, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_device_memory(NULL, &info), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(info.used, 0);
    assert_int_equal(gantry_device_trim(NULL), GANTRY_E_INVALID_ARGUMENT);
}

/* ---- No memory left ------------------------------------------------------------------------- */

/* C24: what is cached goes back first, of every kind. */
static void caches_go_first(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *host = create_host(fake, 6 * MIB), *small = fake_buffer(fake, 6 * MIB);
    struct gantry_buffer *large;

    fake->memory_size = 16 * MIB;
    gantry_buffer_destroy(&host);
    gantry_buffer_destroy(&small);
    assert_int_equal(fake->memories, 2);
    assert_int_equal(create(fake, 16 * MIB, &large), GANTRY_OK);
    assert_int_equal(fake->memories, 1);
    gantry_buffer_destroy(&large);
}

static void smaller_blocks_are_tried(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *a = fake_buffer(fake, 4 * MIB), *b;

    fake->memory_size = 4 * MIB + 700;
    assert_int_equal(create(fake, 700, &b), GANTRY_E_OUT_OF_MEMORY); /* that makes 768 */
    fake->memory_size = 4 * MIB + 768;
    assert_int_equal(create(fake, 700, &b), GANTRY_OK);
    assert_int_equal(fake->memory_used, fake->memory_size);
    gantry_buffer_destroy(&a);
    gantry_buffer_destroy(&b);
}

/* C24: a thousand refusals change nothing. */
static void the_sentence_says_why(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *kept[3], *none;

    for (int i = 0; i < 3; i++)
        kept[i] = fake_buffer(fake, 2 * MIB);
    fake->memory_size = 8 * MIB;
    assert_int_equal(fake->memory_used, 6 * MIB); /* 2 + 4 */
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(create(fake, 100 * MIB, &none), GANTRY_E_OUT_OF_MEMORY);
        assert_null(none);
    }
    assert_contains(gantry_last_error(), "gantry_buffer_create: 104857600 bytes");
    assert_contains(gantry_last_error(), "2097152 bytes free of 8388608, and 0 more");
    assert_contains(gantry_last_error(), "it is too much");
    assert_int_equal(fake->memories, 2);

    gantry_buffer_destroy(&kept[1]); /* leaves a hole in a block */
    assert_int_equal(create(fake, 3 * MIB, &none), GANTRY_E_OUT_OF_MEMORY);
    assert_contains(gantry_last_error(), "2097152 more between buffers, 2097152 in the largest");
    assert_contains(gantry_last_error(), "not in one piece");
    kept[1] = fake_buffer(fake, 2 * MIB);
    fake->memory_size = 0;
    fake->fail_allocate = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(create(fake, 100 * MIB, &none), GANTRY_E_OUT_OF_MEMORY);
    assert_contains(gantry_last_error(), "does not tell how much is free");
    for (int i = 0; i < 3; i++)
        gantry_buffer_destroy(&kept[i]);
}

/* C23: the driver's limit on blocks is never tried. */
static void blocks_are_counted(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffers[4], *none;

    fake->device.info.max_memory_blocks = 4;
    for (int i = 0; i < 4; i++)
        buffers[i] = fake_buffer(fake, 5 * MIB);
    for (int i = 0; i < 100; i++)
        assert_int_equal(create(fake, 5 * MIB, &none), GANTRY_E_OUT_OF_MEMORY);
    assert_contains(gantry_last_error(), "allows 4 blocks");
    assert_contains(gantry_last_error(), "pool_block_mib");
    assert_int_equal(fake->memory_asked, 4);
    gantry_buffer_destroy(&buffers[0]);
    buffers[0] = fake_buffer(fake, 6 * MIB); /* the cached block goes back for it */
    assert_int_equal(fake->memories, 4);
    for (int i = 0; i < 4; i++)
        gantry_buffer_destroy(&buffers[i]);
}

/* ---- Threads -------------------------------------------------------------------------------- */

#define THREADS 4

static void *come_and_go(void *argument)
{
    struct fake_device *fake = argument;
    struct gantry_buffer *buffers[16] = {0};
    uint32_t random = (uint32_t)(uintptr_t)&buffers;

    for (int step = 0; step < 3000; step++) {
        uint32_t i = (random = random * 1664525 + 1013904223) >> 28;
        uint64_t size = 1 + random % (random & 64 ? 1000 : 6 * MIB);

        if (buffers[i])
            gantry_buffer_destroy(&buffers[i]);
        else
            buffers[i] = fake_buffer(fake, size);
        if (step % 500 == 0)
            gantry_device_trim(&fake->device);
    }
    for (int i = 0; i < 16; i++)
        gantry_buffer_destroy(&buffers[i]);
    return NULL;
}

static void threads_come_and_go(void **state)
{
    struct fake_device *fake = *state;
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, fake), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(info_of(fake).used, 0);
    assert_int_equal(info_of(fake).blocks, fake->memories);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pools, fake_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(small_buffers_share_blocks),
        TEST(large_buffers_have_blocks_of_their_own),
        TEST(kinds_do_not_mix),
        TEST(zeros_stay_inside),
        TEST(without_a_block_size_nothing_is_shared_or_kept),
        TEST(a_random_crowd),
        TEST(steady_state_asks_nobody),
        TEST(not_while_a_list_is_pending),
        TEST(not_while_a_batch_is_open),
        TEST(not_while_another_queue_works),
        TEST(not_while_a_list_names_it),
        TEST(many_are_retired_at_one_moment),
        TEST(moments_are_told_apart),
        TEST(what_is_worth_keeping_is_kept),
        TEST(nothing_goes_back_while_the_device_works),
        TEST(blocks_begin_small_again),
        TEST(the_block_size_fits_the_device),
        TEST(what_a_device_says),
        TEST(caches_go_first),
        TEST(smaller_blocks_are_tried),
        TEST(the_sentence_says_why),
        TEST(blocks_are_counted),
        TEST(threads_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
