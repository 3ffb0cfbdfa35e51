/* NULL, objects of another device, and other mistakes of the caller: a status, a sentence, and
 * nothing changed. */
#include <string.h>

#include "conform.h"
#include "launch.h"

static void nulls(struct conform *c)
{
    struct gantry_buffer_params buffer_params = {.size = 4};
    struct gantry_buffer *buffer = make_buffer(c, 4);
    struct gantry_list *list = make_list(c);
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_device_info device_info;
    struct gantry_queue_stats stats;
    struct gantry_list_info list_info;
    void *made;

    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_device_open(NULL, NULL, (struct gantry_device **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_open(c->g, NULL, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_info(NULL, &device_info));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_info(c->device, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_describe(NULL, 0, &device_info));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_queue_create(NULL, NULL, (struct gantry_queue **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_create(c->device, NULL, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_stats(NULL, &stats));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_stats(c->queue, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_native(NULL, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_native(c->device, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_buffer_create(NULL, &buffer_params, (struct gantry_buffer **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_buffer_create(c->device, &buffer_params, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_module_load(NULL, NULL, (struct gantry_module **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_module_load(c->device, NULL, (struct gantry_module **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_kernel_create(NULL, "step", NULL, (struct gantry_kernel **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_kernel_create(load_module(c, "launch"), NULL, NULL,
                                                           (struct gantry_kernel **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_kernel_describe(kernel, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_kernel_describe(NULL, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_create(NULL, NULL, (struct gantry_list **)&made));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_create(c->device, NULL, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_describe(list, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_describe(NULL, &list_info));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_begin_concurrent(NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(NULL, list, NULL, 0, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(c->queue, NULL, NULL, 0, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(c->queue, list, NULL, 3, NULL));
    CHECK(gantry_list_fill(NULL, buffer, 0, 4, 0) == 0, "a fill into no list");
    CHECK(gantry_list_label(NULL, "x") == 0, "a label in no list");
}

/* A command that can't be recorded spoils its list, so each has one of its own. */
static void nulls_in_commands(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *buffer = make_buffer(c, 4);
    struct step_args args = {0};
    uint32_t word = 0;

#define REFUSED(call)                                                \
    do {                                                             \
        struct gantry_list *list = make_list(c);                     \
        CHECK((call) == 0, #call " was recorded");                   \
        CHECK(gantry_last_error()[0], #call " left no sentence");    \
        EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(list)); \
    } while (0)
    REFUSED(gantry_list_launch(list, NULL, (struct gantry_size){1, 1, 1}, &args, sizeof(args)));
    REFUSED(gantry_list_launch(list, kernel, (struct gantry_size){1, 1, 1}, NULL, sizeof(args)));
    REFUSED(gantry_list_launch_blocks(list, NULL, (struct gantry_size){1, 1, 1}, &args, 16));
    REFUSED(gantry_list_copy(list, NULL, 0, buffer, 0, 4));
    REFUSED(gantry_list_copy(list, buffer, 0, NULL, 0, 4));
    REFUSED(gantry_list_fill(list, NULL, 0, 4, 0));
    REFUSED(gantry_list_upload(list, NULL, 0, &word, 4));
    REFUSED(gantry_list_upload(list, buffer, 0, NULL, 4));
    REFUSED(gantry_list_download(list, NULL, 0, &word, 4));
#undef REFUSED
}

static void destroying_nothing(struct conform *c)
{
    struct gantry *g = NULL;
    struct gantry_device *device = NULL;
    struct gantry_queue *queue = NULL;
    struct gantry_module *module = NULL;
    struct gantry_kernel *kernel = NULL;
    struct gantry_list *list = NULL;

    (void)c;
    gantry_close(NULL);
    gantry_close(&g);
    gantry_device_close(NULL);
    gantry_device_close(&device);
    gantry_queue_destroy(NULL);
    gantry_queue_destroy(&queue);
    gantry_module_unload(NULL);
    gantry_module_unload(&module);
    gantry_kernel_destroy(NULL);
    gantry_kernel_destroy(&kernel);
    gantry_list_destroy(NULL);
    gantry_list_destroy(&list);
}

/* ---- Another device ------------------------------------------------------------------------- */

/* Everything that a second open device has, mixed into the first one's work. */
static void mix_devices(struct conform *c, struct gantry_device *other)
{
    struct gantry_buffer_params params = {.size = 64, .memory = GANTRY_MEMORY_DEVICE};
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *buffer = make_buffer(c, 64), *others;
    struct gantry_list *list, *fine = make_list(c);
    struct gantry_queue *queue;
    struct step_args args = {0};
    struct gantry_point point;

    OK(gantry_queue_create(other, NULL, &queue));
    OK(gantry_buffer_create(other, &params, &others));
    OK(gantry_list_create(other, NULL, &list));
    EXPECT(GANTRY_E_WRONG_DEVICE, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
    OK(gantry_queue_submit(queue, list, NULL, 0, &point));
    EXPECT(GANTRY_E_WRONG_DEVICE, gantry_queue_submit(c->queue, fine, &point, 1, NULL));
    CHECK(LAUNCH(fine, kernel, 0, &args) == 1, "a refused submission changed the list");
    CHECK(gantry_list_launch(list, kernel, (struct gantry_size){1, 1, 1}, &args, sizeof(args)) == 0,
          "a kernel of another device was recorded");
    EXPECT(GANTRY_E_WRONG_DEVICE, gantry_list_finish(list));
    CHECK(gantry_list_copy(fine, buffer, 0, others, 0, 4) == 0,
          "a buffer of another device was recorded");
    EXPECT(GANTRY_E_WRONG_DEVICE, gantry_list_finish(fine));
    OK(gantry_wait(point, GANTRY_FOREVER));
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&others);
    gantry_queue_destroy(&queue);
}

static void objects_of_another_device(struct conform *c)
{
    struct gantry_device_params params = {.device = c->options->device};
    struct gantry_device *other;

    OK(gantry_device_open(c->g, &params, &other));
    mix_devices(c, other);
    gantry_device_close(&other);
}

/* ---- Sentences ------------------------------------------------------------------------------ */

static void sentences(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 64);
    struct gantry_list *list = make_list(c);
    const char *text;

    CHECK(gantry_list_fill(list, buffer, 0, 68, 0) == 0, "a fill past the end was recorded");
    text = gantry_last_error();
    CHECK(strstr(text, "68") && strstr(text, "64"),
          "the sentence does not name what was asked for and the limit: %s", text);
    CHECK(!strchr(text, '\n'), "the sentence has a newline: %s", text);
    OK(gantry_device_info(c->device, &c->info));
    CHECK(gantry_last_error()[0], "a call that succeeded took the sentence away");
}

static void names(struct conform *c)
{
    static const enum gantry_status all[] = {
#define X(name, value, text) GANTRY_##name,
        GANTRY_STATUS_MAP(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        CHECK(strncmp(gantry_status_name(all[i]), "GANTRY_", 7) == 0, "status %d is called %s",
              (int)all[i], gantry_status_name(all[i]));
        CHECK(gantry_status_text(all[i])[0], "status %d has no text", (int)all[i]);
    }
    CHECK(gantry_status_name((enum gantry_status) - 999) &&
              gantry_status_text((enum gantry_status)999),
          "unknown statuses have no name");
}

const struct conform_case error_cases[] = {
    {"errors/nulls", NULL, nulls},
    {"errors/nulls-in-commands", NULL, nulls_in_commands},
    {"errors/destroying-nothing", NULL, destroying_nothing},
    {"errors/objects-of-another-device", NULL, objects_of_another_device},
    {"errors/sentences", NULL, sentences},
    {"errors/names", NULL, names},
    {0},
};
