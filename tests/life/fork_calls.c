/* Every call of the public API, in a child of the process that made the objects. calls.sh sees that
 * none is missing here. */
#include <stdio.h>
#include <string.h>

#include "life.h"

/* Sentences begin with the call that they are about. */
static void expect_sentence(const char *call)
{
    int length = (int)strcspn(call, "(");

    CHECK(strncmp(gantry_last_error(), call, (size_t)length) == 0 &&
              strstr(gantry_last_error(), "fork()"),
          "in a child, %.*s leaves the sentence \"%s\"", length, call, gantry_last_error());
}

static void expect_told(const char *call, enum gantry_status status)
{
    CHECK(status == GANTRY_E_FORKED, "in a child, %s returns %s", call, gantry_status_name(status));
    expect_sentence(call);
}

/* A call that returns a status; one that returns an id or a number; one that returns what was known
 * before the fork, or nothing; one that only forgets. */
#define TOLD(call) expect_told(#call, call)
#define NONE(call)                                       \
    do {                                                 \
        CHECK(!(call), "in a child, %s answers", #call); \
        expect_sentence(#call);                          \
    } while (0)
#define KNOWN(call) (void)(call)
#define FORGOTTEN(call, handle)                                               \
    do {                                                                      \
        call(&(handle));                                                      \
        CHECK(!(handle), "in a child, %s leaves the handle as it is", #call); \
    } while (0)

static uint32_t words[CELLS];
static const struct gantry_rect rect = {.width = 4, .rows = 1};
static const struct gantry_size one = {1, 1, 1};

static void ask_gantry(struct gantry *g)
{
    struct gantry_device_info info = {.name = "made up"};
    struct gantry_backend_attempt attempt;
    struct gantry_backend_info backend;
    struct gantry_config_value value;
    struct gantry_device *device;
    uint32_t index;

    NONE(gantry_backend_count(g));
    TOLD(gantry_backend_describe(g, 0, &backend));
    NONE(gantry_backend_attempt_count(g, 0));
    TOLD(gantry_backend_attempt(g, 0, 0, &attempt));
    NONE(gantry_device_count(g));
    TOLD(gantry_device_describe(g, 0, &info));
    NONE(gantry_config_count(g, 0));
    TOLD(gantry_config_get(g, 0, 0, &value));
    NONE(gantry_config_file(g, 0));
    TOLD(gantry_config_device(g, NULL, &index));
    TOLD(gantry_config_profile(g, &info, &index));
    TOLD(gantry_device_open(g, NULL, &device));
}

static void ask_device(struct gantry_device *device)
{
    struct gantry_host_params host = {.pointer = words, .size = sizeof(words)};
    struct gantry_buffer_params size = {.size = 4};
    struct gantry_module_params file = {.file = PACKAGES "/launch.gpk"};
    struct gantry_native_device native;
    struct gantry_memory_info memory;
    struct gantry_device_info info;
    struct gantry_buffer *buffer;
    struct gantry_module *module;
    struct gantry_queue *queue;
    struct gantry_list *list;

    TOLD(gantry_device_info(device, &info));
    TOLD(gantry_device_native(device, &native));
    TOLD(gantry_device_memory(device, &memory));
    TOLD(gantry_device_trim(device));
    KNOWN(gantry_device_loss(device));
    TOLD(gantry_queue_create(device, NULL, &queue));
    TOLD(gantry_buffer_create(device, &size, &buffer));
    TOLD(gantry_host_register(device, &host, &buffer));
    TOLD(gantry_module_load(device, &file, &module));
    TOLD(gantry_list_create(device, NULL, &list));
}

static void ignore(void *user, const struct gantry_image_verdict *verdict)
{
    (void)user;
    (void)verdict;
}

static void ask_objects(struct scene *scene)
{
    struct gantry_kernel_info info;
    struct gantry_kernel *kernel;

    KNOWN(gantry_buffer_address(scene->cells));
    KNOWN(gantry_buffer_host(scene->upload));
    KNOWN(gantry_buffer_size(scene->cells));
    TOLD(gantry_kernel_create(scene->module, "step", NULL, &kernel));
    TOLD(gantry_module_examine(scene->module, "step", ignore, NULL));
    TOLD(gantry_kernel_describe(scene->step, &info));
}

/* A list that was not finished can't be inherited in a scene, so this one is: what is said of the
 * fork comes before what is said of that. */
static void record(struct scene *scene)
{
    struct gantry_list *list = scene->list;
    struct gantry_buffer *buffer = scene->cells;
    struct gantry_list_info info;

    NONE(gantry_list_launch(list, scene->step, one, words, 16));
    NONE(gantry_list_launch_blocks(list, scene->spin, one, words, 16));
    NONE(gantry_list_launch_patchable(list, scene->step, one, one, words, 16));
    NONE(gantry_list_copy(list, buffer, 0, buffer, 64, 4));
    NONE(gantry_list_fill(list, buffer, 0, 4, 0));
    NONE(gantry_list_upload(list, buffer, 0, words, 4));
    NONE(gantry_list_download(list, buffer, 0, words, 4));
    NONE(gantry_list_copy_rect(list, buffer, 0, buffer, 64, &rect));
    NONE(gantry_list_upload_rect(list, buffer, 0, words, &rect));
    NONE(gantry_list_download_rect(list, buffer, 0, words, &rect));
    NONE(gantry_list_label(list, "label"));
    TOLD(gantry_list_begin_concurrent(list));
    TOLD(gantry_list_end_concurrent(list));
    TOLD(gantry_list_begin_ordered(list));
    TOLD(gantry_list_end_ordered(list));
    TOLD(gantry_list_set_arg(list, scene->patchable, 0, words, 4));
    TOLD(gantry_list_set_args(list, scene->patchable, words, 16));
    TOLD(gantry_list_set_threads(list, scene->patchable, one));
    TOLD(gantry_list_finish(list));
    TOLD(gantry_list_describe(list, &info));
}

static void submit(struct scene *scene)
{
    struct gantry_queue *queue = scene->other;
    struct gantry_buffer *buffer = scene->cells;
    struct gantry_native_queue native;
    struct gantry_queue_stats stats;
    struct gantry_point point;

    TOLD(gantry_queue_submit(queue, scene->list, &scene->replayed, 1, &point));
    TOLD(gantry_queue_launch(queue, scene->step, one, words, 16, &point));
    TOLD(gantry_queue_upload(queue, buffer, 0, words, 4, &point));
    TOLD(gantry_queue_download(queue, buffer, 0, words, 4, &point));
    TOLD(gantry_queue_copy(queue, buffer, 0, buffer, 64, 4, &point));
    TOLD(gantry_queue_fill(queue, buffer, 0, 4, 0, &point));
    TOLD(gantry_queue_copy_rect(queue, buffer, 0, buffer, 64, &rect, &point));
    TOLD(gantry_queue_upload_rect(queue, buffer, 0, words, &rect, &point));
    TOLD(gantry_queue_download_rect(queue, buffer, 0, words, &rect, &point));
    TOLD(gantry_queue_flush(queue));
    TOLD(gantry_queue_native(queue, &native));
    TOLD(gantry_queue_stats(queue, &stats));
    if (scene->replayed.queue) { /* the scene has begun to work */
        TOLD(gantry_wait(scene->replayed, GANTRY_FOREVER));
        TOLD(gantry_poll(scene->streamed));
    }
}

/* What has no parent works as ever. */
static void ask_nobody(void)
{
    struct gantry_package_params params = {.file = PACKAGES "/launch.gpk"};
    struct gantry_config_check_params check = {.text = "[policy]\n", .size = 9, .file = "text"};
    struct gantry_kernel_source kernel;
    struct gantry_package *package;
    struct gantry_image_info image;
    const void *data;

    OK(gantry_package_open(&params, &package));
    CHECK(gantry_package_name(package) && gantry_package_kernel_count(package) &&
              gantry_package_image_count(package),
          "in a child, a package is empty");
    OK(gantry_package_kernel(package, 0, &kernel));
    OK(gantry_package_image(package, 0, &image, &data));
    gantry_package_close(&package);
    OK(gantry_config_check(&check));
    CHECK(gantry_version()[0] && gantry_status_name(GANTRY_OK)[0] &&
              gantry_status_text(GANTRY_OK)[0] && gantry_attempt_name(GANTRY_ATTEMPT_LOADED)[0] &&
              gantry_device_type_name(GANTRY_DEVICE_CPU)[0] &&
              gantry_scalar_name(GANTRY_SCALAR_FLOAT)[0] &&
              gantry_image_kind_name(GANTRY_IMAGE_PTX)[0],
          "in a child, a name is empty");
}

void call_everything(struct scene *scene)
{
    ask_gantry(scene->g);
    ask_device(scene->device);
    ask_objects(scene);
    record(scene);
    submit(scene);
    ask_nobody();
    FORGOTTEN(gantry_list_destroy, scene->list);
    FORGOTTEN(gantry_kernel_destroy, scene->step);
    FORGOTTEN(gantry_kernel_destroy, scene->spin);
    FORGOTTEN(gantry_module_unload, scene->module);
    FORGOTTEN(gantry_buffer_destroy, scene->cells);
    FORGOTTEN(gantry_queue_destroy, scene->queue);
    FORGOTTEN(gantry_queue_destroy, scene->other);
    FORGOTTEN(gantry_device_close, scene->device);
    FORGOTTEN(gantry_close, scene->g);
}
