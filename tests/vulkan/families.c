/* C28: what users write as queue_family and transfer_family, from the text to work that is done on
 * the queues. Under VK_INSTANCE_LAYERS every message of the layer appears on the output.
 * Exit status 77: skipped, for the reason printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/gantry.h>

enum {
    SKIPPED = 77,
    COMPUTE_QUEUES = 4,
    QUEUES = COMPUTE_QUEUES + 2,
    WORDS = 100,
    SIZE = WORDS * 4,
};

#define assert_ok(call)                                          \
    do {                                                         \
        enum gantry_status status_ = (call);                     \
        if (status_ != GANTRY_OK)                                \
            print_error("%s: %s\n", #call, gantry_last_error()); \
        assert_int_equal(status_, GANTRY_OK);                    \
    } while (0)

static const struct gantry_device_params first_vulkan = {.device = "vulkan:0"};

/* Opens with the line, whatever files the user has; NULL, and the reason, when that is refused. */
static enum gantry_status open_with(const char *line, struct gantry **g,
                                    struct gantry_device **device)
{
    char text[128];
    struct gantry_params params = {.override_text = text};
    enum gantry_status status;

    snprintf(text, sizeof(text), "[policy]\n%s\n", line);
    *device = NULL;
    status = gantry_open(&params, g);
    return status == GANTRY_OK ? gantry_device_open(*g, &first_vulkan, device) : status;
}

static void close_all(struct gantry **g, struct gantry_device **device)
{
    gantry_device_close(device);
    gantry_close(g);
}

static void assert_refused(const char *line, const char *words)
{
    struct gantry_device *device;
    struct gantry *g;

    assert_int_equal(open_with(line, &g, &device), GANTRY_E_CONFIG);
    assert_null(device);
    if (!strstr(gantry_last_error(), words))
        fail_msg("\"%s\" is not in: %s", words, gantry_last_error());
    close_all(&g, &device);
}

static void open_queues(struct gantry_device *device, struct gantry_queue *queues[QUEUES])
{
    for (int i = 0; i < QUEUES; i++) {
        struct gantry_queue_params params = {
            .kind = i < COMPUTE_QUEUES ? GANTRY_QUEUE_COMPUTE : GANTRY_QUEUE_TRANSFER,
        };
        assert_ok(gantry_queue_create(device, &params, &queues[i]));
    }
}

/* Each queue writes a part of its own, then hands it to the next queue, which passes it on. */
static void use_queues(struct gantry_device *device, struct gantry_queue *queues[QUEUES])
{
    struct gantry_buffer_params params = {.size = (QUEUES + 1) * SIZE};
    struct gantry_buffer *buffer;
    struct gantry_point points[QUEUES], done;
    uint32_t found[WORDS];

    assert_ok(gantry_buffer_create(device, &params, &buffer));
    for (uint32_t i = 0; i < QUEUES; i++)
        assert_ok(
            gantry_queue_fill(queues[i], buffer, (uint64_t)i * SIZE, SIZE, i + 1, &points[i]));
    for (uint32_t i = 0; i < QUEUES; i++)
        assert_ok(gantry_wait(points[i], GANTRY_FOREVER));
    for (uint32_t i = 0; i < QUEUES; i++) {
        assert_ok(gantry_queue_copy(queues[i], buffer, QUEUES * SIZE, buffer, (uint64_t)i * SIZE,
                                    SIZE, NULL));
        assert_ok(gantry_queue_download(queues[i], buffer, QUEUES * SIZE, found, SIZE, &done));
        assert_ok(gantry_wait(done, GANTRY_FOREVER));
        for (uint32_t word = 0; word < WORDS; word++)
            assert_int_equal(found[word], i + 1);
    }
    gantry_buffer_destroy(&buffer);
}

static uint32_t family_of(struct gantry_queue *queue)
{
    struct gantry_native_queue native = {0};

    assert_ok(gantry_queue_native(queue, &native));
    return native.vk_family;
}

/* More queues than lavapipe has: they share its only one. `compute` and `transfer` are the families
 * that must be used, -1 for any. */
static void assert_works(const char *line, int compute, int transfer)
{
    struct gantry_queue *queues[QUEUES];
    struct gantry_device *device;
    struct gantry *g;

    assert_ok(open_with(line, &g, &device));
    open_queues(device, queues);
    for (int i = 0; i < QUEUES; i++) {
        int expected = i < COMPUTE_QUEUES ? compute : transfer;
        if (expected >= 0)
            assert_int_equal(family_of(queues[i]), expected);
    }
    use_queues(device, queues);
    for (int i = 0; i < QUEUES; i++)
        gantry_queue_destroy(&queues[i]);
    close_all(&g, &device);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void words_are_understood(void **state)
{
    (void)state;
    assert_works("queue_family = auto", -1, -1);
    assert_works("queue_family = compute", -1, -1);
    assert_works("transfer_family = compute", -1, -1);
    assert_works("vulkan.queue_family = compute", -1, -1);
}

static void indices_are_taken(void **state)
{
    (void)state;
    assert_works("queue_family = 0", 0, -1);
    assert_works("transfer_family = 0", -1, 0);
    assert_works("queue_family = 0\ntransfer_family = 0", 0, 0);
}

static void other_words_are_refused(void **state)
{
    static const char *const words[] = {"transfer", "dedicated", "-1", "99", "1.5", "0x1"};
    char line[64];

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        snprintf(line, sizeof(line), "queue_family = %s", words[i]);
        assert_refused(line, words[i]);
        assert_non_null(strstr(gantry_last_error(), ":2"));
        snprintf(line, sizeof(line), "transfer_family = %s", words[i]);
        assert_refused(line, words[i]);
    }
}

/* The configuration can't know how many there are: the device says it, with those that it has. */
static void missing_families_are_refused(void **state)
{
    (void)state;
    assert_refused("queue_family = 63", "queue family 63 does not exist");
    assert_non_null(strstr(gantry_last_error(), "has the families 0 ("));
    assert_refused("transfer_family = 63", "queue family 63 does not exist");
}

/* lavapipe has one family, with one queue. */
static void second_family_is_refused_where_there_is_one(void **state)
{
    struct gantry_device_info info;
    struct gantry_device *device;
    struct gantry *g;
    bool cpu;

    (void)state;
    assert_ok(open_with("queue_family = auto", &g, &device));
    assert_ok(gantry_device_info(device, &info));
    cpu = info.type == GANTRY_DEVICE_CPU;
    close_all(&g, &device);
    if (!cpu) {
        print_message("skipped: vulkan:0 is no CPU device\n");
        skip();
    }
    assert_refused("queue_family = 1", "queue family 1 does not exist");
    assert_works("queue_family = graphics", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_understood),
        cmocka_unit_test(indices_are_taken),
        cmocka_unit_test(other_words_are_refused),
        cmocka_unit_test(missing_families_are_refused),
        cmocka_unit_test(second_family_is_refused_where_there_is_one),
    };
    struct gantry_device *device;
    struct gantry *g;
    enum gantry_status status = open_with("", &g, &device);

    if (status != GANTRY_OK)
        printf("skipped: %s\n", gantry_last_error());
    close_all(&g, &device);
    return status == GANTRY_OK ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
