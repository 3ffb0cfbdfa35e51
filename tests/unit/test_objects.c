/* core/device.c, core/buffer.c, core/memory.c, core/process.c: what belongs to a device, and what
 * comes of it when memory runs out, the device is lost, or the process forks. */
#include "unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"

#define CARD "name=Card,type=discrete,max_buffer_size=1G"

static struct gantry *g;
static struct gantry_device *device;

static int open_device(void **state)
{
    machine_reset(state);
    machine_set(CARD, "none");
    /* A block for each buffer, so that every one asks the plugin for memory. */
    setenv("GANTRY_POOL_BLOCK_MIB", "0", 1);
    return 0;
}

static void start(const char *failures)
{
    setenv("GANTRY_HOST_FAIL_CUDA", failures, 1);
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
}

static void finish(void)
{
    gantry_device_close(&device);
    machine_close(&g, "cuda");
}

static enum gantry_status create(uint64_t size, enum gantry_memory memory, bool zero,
                                 struct gantry_buffer **buffer)
{
    const struct gantry_buffer_params params = {.size = size, .memory = memory, .zero = zero};

    return gantry_buffer_create(device, &params, buffer);
}

/* The bytes of a buffer of device memory. */
static void download(struct gantry_buffer *buffer, void *to, uint64_t size)
{
    struct gantry_queue *queue;
    struct gantry_list *list;
    struct gantry_point point;

    assert_int_equal(gantry_queue_create(device, NULL, &queue), GANTRY_OK);
    assert_int_equal(gantry_list_create(device, NULL, &list), GANTRY_OK);
    assert_int_not_equal(gantry_list_download(list, buffer, 0, to, size), 0);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* ---- Buffers ------------------------------------------------------------------------------- */

/* C21: size 0 never reaches a driver. */
static void test_c21_sizes(void **state)
{
    struct gantry_buffer *buffer = (void *)1;

    (void)state;
    start("");
    assert_int_equal(create(0, GANTRY_MEMORY_DEVICE, false, &buffer), GANTRY_E_INVALID_ARGUMENT);
    assert_null(buffer);
    assert_int_equal(gantry_buffer_create(device, NULL, &buffer), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(create((UINT64_C(1) << 30) + 1, GANTRY_MEMORY_DEVICE, false, &buffer),
                     GANTRY_E_LIMIT);
    assert_contains(gantry_last_error(), "1073741825");
    assert_contains(gantry_last_error(), "1073741824");
    assert_int_equal(create(UINT64_MAX, GANTRY_MEMORY_DEVICE, false, &buffer), GANTRY_E_LIMIT);
    assert_int_equal(create(4, (enum gantry_memory)3, false, &buffer), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(create(4, GANTRY_MEMORY_DEVICE, false, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_buffer_create(NULL, NULL, &buffer), GANTRY_E_INVALID_ARGUMENT);
    gantry_buffer_destroy(&buffer);
    gantry_buffer_destroy(NULL);
    finish();
}

static void test_what_a_buffer_says(void **state)
{
    struct gantry_buffer *buffer;

    (void)state;
    start("");
    assert_int_equal(create(13, GANTRY_MEMORY_DEVICE, false, &buffer), GANTRY_OK);
    assert_int_equal(gantry_buffer_size(buffer), 13);
    assert_int_not_equal(gantry_buffer_address(buffer), 0);
    assert_int_equal(gantry_buffer_address(buffer) % 256, 0);
    assert_null(gantry_buffer_host(buffer));
    gantry_buffer_destroy(&buffer);
    assert_null(buffer);
    assert_int_equal(create(13, GANTRY_MEMORY_UPLOAD, false, &buffer), GANTRY_OK);
    assert_non_null(gantry_buffer_host(buffer));
    memset(gantry_buffer_host(buffer), 1, 13);
    gantry_buffer_destroy(&buffer);
    assert_int_equal(gantry_buffer_size(NULL), 0);
    assert_int_equal(gantry_buffer_address(NULL), 0);
    assert_null(gantry_buffer_host(NULL));
    finish();
}

/* C27: zero works alike for every kind of memory and for odd sizes. */
static void test_c27_zero(void **state)
{
    static const enum gantry_memory kinds[] = {GANTRY_MEMORY_DEVICE, GANTRY_MEMORY_UPLOAD,
                                               GANTRY_MEMORY_READBACK};
    static const uint8_t zeros[4099];

    (void)state;
    start("");
    for (int kind = 0; kind < 3; kind++) {
        uint8_t bytes[sizeof(zeros)];
        struct gantry_buffer *buffer;

        assert_int_equal(create(sizeof(zeros), kinds[kind], true, &buffer), GANTRY_OK);
        if (kinds[kind] == GANTRY_MEMORY_DEVICE)
            download(buffer, bytes, sizeof(bytes));
        else
            memcpy(bytes, gantry_buffer_host(buffer), sizeof(bytes));
        assert_memory_equal(bytes, zeros, sizeof(zeros));
        gantry_buffer_destroy(&buffer);
    }
    finish();
}

/* ---- Out of memory ------------------------------------------------------------------------- */

/* C24: the error has the numbers, what is retired is given back first, and everything goes on. */
static void test_c24_out_of_memory(void **state)
{
    struct gantry_buffer *first, *second;

    (void)state;
    start("memory_allocate:2:E_OUT_OF_MEMORY");
    assert_int_equal(create(100, GANTRY_MEMORY_DEVICE, false, &first), GANTRY_OK);
    assert_int_equal(create(1000, GANTRY_MEMORY_DEVICE, false, &second), GANTRY_E_OUT_OF_MEMORY);
    assert_null(second);
    assert_contains(gantry_last_error(), "gantry_buffer_create: 1000 bytes");
    assert_contains(gantry_last_error(), "free of");
    assert_int_equal(create(1000, GANTRY_MEMORY_DEVICE, true, &second), GANTRY_OK);
    gantry_buffer_destroy(&second);
    gantry_buffer_destroy(&first);
    finish();
}

static void test_c24_retired_memory_is_collected(void **state)
{
    struct gantry_buffer *busy, *next;
    struct gantry_queue *queue;
    struct gantry_list *list;

    (void)state;
    start("memory_allocate:2:E_OUT_OF_MEMORY");
    assert_int_equal(gantry_queue_create(device, NULL, &queue), GANTRY_OK);
    assert_int_equal(gantry_list_create(device, NULL, &list), GANTRY_OK);
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, false, &busy), GANTRY_OK);
    /* Long enough to be running still when the memory is asked for. */
    for (uint32_t i = 0; i < 64; i++)
        assert_int_not_equal(gantry_list_fill(list, busy, 0, 64, i), 0);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    gantry_buffer_destroy(&busy);
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, false, &next), GANTRY_OK);
    gantry_buffer_destroy(&next);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    finish();
}

static void test_zeroing_fails_cleanly(void **state)
{
    struct gantry_buffer *buffer;

    (void)state;
    start("submit_once:1,queue_create:1");
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, true, &buffer), GANTRY_E_DRIVER);
    assert_null(buffer);
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, true, &buffer), GANTRY_E_DRIVER);
    assert_null(buffer);
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, true, &buffer), GANTRY_OK);
    gantry_buffer_destroy(&buffer);
    finish();
}

/* ---- Closing, losing, forking -------------------------------------------------------------- */

static void test_close_with_everything_left(void **state)
{
    struct gantry_buffer *buffers[3];
    struct gantry_queue *queue;
    struct gantry_list *lists[2];

    (void)state;
    start("");
    for (int i = 0; i < 3; i++)
        assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, true, &buffers[i]), GANTRY_OK);
    assert_int_equal(gantry_queue_create(device, NULL, &queue), GANTRY_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gantry_list_create(device, NULL, &lists[i]), GANTRY_OK);
        assert_int_not_equal(gantry_list_copy(lists[i], buffers[0], 0, buffers[1], 0, 64), 0);
    }
    assert_int_equal(gantry_list_finish(lists[0]), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(queue, lists[0], NULL, 0, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(queue, lists[1], NULL, 0, NULL), GANTRY_OK);
    gantry_buffer_destroy(&buffers[0]);
    /* gantry_close() closes the device, the device frees what it has. */
    machine_close(&g, "cuda");
}

/* C32: a loss is logged once, later calls return at once, destroying and closing work. */
static void test_c32_lost(void **state)
{
    struct gantry_native_device native;
    struct gantry_device_info info;
    struct gantry_buffer *kept, *buffer;
    struct gantry_queue *queue;

    (void)state;
    start("memory_allocate:2:E_DEVICE_LOST");
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, false, &kept), GANTRY_OK);
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, false, &buffer), GANTRY_E_DEVICE_LOST);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, false, &buffer), GANTRY_E_DEVICE_LOST);
        assert_contains(gantry_last_error(), "was lost earlier");
    }
    assert_int_equal(gantry_queue_create(device, NULL, &queue), GANTRY_E_DEVICE_LOST);
    assert_int_equal(gantry_device_native(device, &native), GANTRY_E_DEVICE_LOST);
    assert_int_equal(gantry_device_info(device, &info), GANTRY_OK);
    assert_int_equal(machine_logged(GANTRY_LOG_ERROR, "\"Card\" was lost"), 1);
    gantry_buffer_destroy(&kept);
    finish();
}

/* Ends the child with 0 when all is as it should be there. */
static void in_child(struct gantry_buffer *buffer, struct gantry_queue *queue)
{
    struct gantry_point point = {queue, 1};
    struct gantry_device_info info;
    struct gantry_buffer *other;
    struct gantry *again;
    bool good;

    alarm(5);
    good = gantry_device_count(g) == 0 && strstr(gantry_last_error(), "fork") != NULL;
    good = good && gantry_device_describe(g, 0, &info) == GANTRY_E_FORKED;
    good = good && create(64, GANTRY_MEMORY_DEVICE, false, &other) == GANTRY_E_FORKED;
    good = good && gantry_device_info(device, &info) == GANTRY_E_FORKED;
    good = good && gantry_poll(point) == GANTRY_E_FORKED;
    gantry_buffer_destroy(&buffer);
    gantry_queue_destroy(&queue);
    gantry_device_close(&device);
    gantry_close(&g);
    good = good && !buffer && !queue && !device && !g;
    good = good && gantry_open(NULL, &again) == GANTRY_OK;
    gantry_close(&again);
    _exit(good ? 0 : 1);
}

/* C41: the child gets an error at once and may end; the parent goes on. */
static void test_c41_fork(void **state)
{
    struct gantry_buffer *buffer;
    struct gantry_queue *queue;
    int result;
    pid_t child;

    (void)state;
    start("");
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, true, &buffer), GANTRY_OK);
    assert_int_equal(gantry_queue_create(device, NULL, &queue), GANTRY_OK);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        in_child(buffer, queue);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    gantry_buffer_destroy(&buffer);
    gantry_queue_destroy(&queue);
    assert_int_equal(create(64, GANTRY_MEMORY_DEVICE, true, &buffer), GANTRY_OK);
    gantry_buffer_destroy(&buffer);
    finish();
}

static void test_native(void **state)
{
    struct gantry_native_device native;

    (void)state;
    start("");
    assert_int_equal(gantry_device_native(device, &native), GANTRY_OK);
    assert_string_equal(native.backend, "cuda");
    assert_int_equal(gantry_device_native(device, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_device_native(NULL, &native), GANTRY_E_INVALID_ARGUMENT);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_c21_sizes, open_device),
        cmocka_unit_test_setup(test_what_a_buffer_says, open_device),
        cmocka_unit_test_setup(test_c27_zero, open_device),
        cmocka_unit_test_setup(test_c24_out_of_memory, open_device),
        cmocka_unit_test_setup(test_c24_retired_memory_is_collected, open_device),
        cmocka_unit_test_setup(test_zeroing_fails_cleanly, open_device),
        cmocka_unit_test_setup(test_close_with_everything_left, open_device),
        cmocka_unit_test_setup(test_c32_lost, open_device),
        cmocka_unit_test_setup(test_c41_fork, open_device),
        cmocka_unit_test_setup(test_native, open_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
