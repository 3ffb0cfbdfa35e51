/* C32: what a program sees when its device is lost.
 *
 * lost DEVICE SCENARIO [--gpu | --injected]: loses the device DEVICE ("cuda:0"), with --injected
 * because the environment makes the driver say so, otherwise by a launch that writes to a bad
 * address. That takes the process with it on a CPU device, so it is skipped there; with --gpu also
 * on machines without the device. */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "launch.h"
#include "lost.h"

#define EXIT_SKIP 77

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void note_message(void *user, enum gantry_log_level level, const char *text)
{
    struct rig *rig = user;

    rig->reported += level == GANTRY_LOG_ERROR && strstr(text, "was lost") != NULL;
}

/* ---- Making and destroying ------------------------------------------------------------------ */

static enum gantry_status open_device(const struct rig *rig, const char *selector,
                                      struct gantry_device **device)
{
    const struct gantry_device_params params = {.device = selector};

    return gantry_device_open(rig->g, &params, device);
}

static void make_kernel(struct gantry_device *device, struct gantry_module **module,
                        struct gantry_kernel **mark)
{
    const struct gantry_module_params params = {.file = PACKAGES "/launch.gpk"};

    CHECK_OK(gantry_module_load(device, &params, module));
    CHECK_OK(gantry_kernel_create(*module, "mark", NULL, mark));
}

static void open_gantry(struct rig *rig, const struct scenario *scenario)
{
    const struct gantry_params params = {
        .app_name = "lost",
        .override_text = scenario->fold ? "[policy]\nfold = on\n" : "[policy]\nfold = off\n",
        .log = note_message,
        .log_user = rig,
        .log_level = GANTRY_LOG_ERROR,
    };

    CHECK_OK(gantry_open(&params, &rig->g));
}

/* Says why the device can't be lost here. */
static bool is_skipped(struct rig *rig)
{
    struct gantry_device_info info;

    if (open_device(rig, rig->selector, &rig->twin) != GANTRY_OK) {
        printf("skipped: %s\n", gantry_last_error());
        return true;
    }
    CHECK_OK(gantry_device_info(rig->twin, &info));
    printf("device: %s through %s\n", info.name, info.chosen_backend);
    if (info.type != GANTRY_DEVICE_CPU || rig->injected)
        return false;
    printf("skipped: on a CPU device a bad address ends the process\n");
    return true;
}

static void make_objects(struct rig *rig)
{
    const struct gantry_queue_params queue = {.label = "main"};
    const struct gantry_buffer_params cells = {.size = CELLS * 4, .label = "cells"};

    make_kernel(rig->device, &rig->module, &rig->mark);
    CHECK_OK(gantry_queue_create(rig->device, &queue, &rig->queue));
    CHECK_OK(gantry_buffer_create(rig->device, &cells, &rig->cells));
    CHECK(!gantry_device_loss(rig->device), "a healthy device has a loss");
}

static void close_device(struct rig *rig)
{
    double start = now();

    gantry_list_destroy(&rig->list);
    gantry_buffer_destroy(&rig->cells);
    gantry_queue_destroy(&rig->queue);
    gantry_kernel_destroy(&rig->mark);
    gantry_module_unload(&rig->module);
    gantry_device_close(&rig->device);
    CHECK(now() - start < 10, "closing took %.1f s", now() - start);
}

/* ---- After the loss ------------------------------------------------------------------------- */

static void check_contains(const char *text, const char *part)
{
    CHECK(strstr(text, part), "\"%s\" is missing in:\n%s\n", part, text);
}

static void check_sentence(const struct rig *rig, const struct scenario *scenario)
{
    const char *sentence = gantry_last_error();

    printf("%s\n", sentence);
    check_contains(sentence, "queue \"main\"");
    check_contains(sentence, scenario->named);
    check_contains(sentence, "kernel mark");
    check_contains(sentence, "gantry_device_loss()");
    if (!rig->injected)
        check_contains(sentence, "whose to points to no live buffer");
    CHECK(rig->reported == 1, "the loss was logged %u times", rig->reported);
}

static void check_report(const struct rig *rig)
{
    const char *report = gantry_device_loss(rig->device);

    CHECK(report, "there is no report");
    printf("---- the report\n%s----\n", report);
    check_contains(report, "found while ");
    check_contains(report, "kernel mark");
    check_contains(report, "(buffer \"cells\")");
    check_contains(report, "index = ");
    if (!rig->injected)
        check_contains(report,
                       "1 x 1 x 1 blocks of 1 x 1 x 1 threads: to = 0x8 (in no live buffer), "
                       "index = 0, value = 1057");
}

static void check_later_calls(struct rig *rig)
{
    const struct gantry_buffer_params params = {.size = 64};
    const struct gantry_module_params file = {.file = PACKAGES "/launch.gpk"};
    struct mark_args args = {.to = gantry_buffer_address(rig->cells)};
    struct gantry_native_device native;
    struct gantry_buffer *buffer;
    struct gantry_queue *queue;
    struct gantry_list *list;
    struct gantry_module *module;
    struct gantry_kernel *kernel;
    uint32_t word = 0;

#define CHECK_LOST(call)                                                           \
    do {                                                                           \
        double start = now();                                                      \
        CHECK((call) == GANTRY_E_DEVICE_LOST, "this call must say what happened"); \
        CHECK(now() - start < 1, "%s took %.1f s", #call, now() - start);          \
    } while (0)
    CHECK_LOST(gantry_queue_launch(rig->queue, rig->mark, (struct gantry_size){.x = 1}, &args,
                                   sizeof(args), NULL));
    CHECK_LOST(gantry_queue_upload(rig->queue, rig->cells, 0, &word, sizeof(word), NULL));
    CHECK_LOST(gantry_queue_download(rig->queue, rig->cells, 0, &word, sizeof(word), NULL));
    CHECK_LOST(gantry_queue_flush(rig->queue));
    CHECK_LOST(gantry_wait((struct gantry_point){rig->queue, 1}, GANTRY_FOREVER));
    CHECK_LOST(gantry_poll((struct gantry_point){rig->queue, 1}));
    CHECK_LOST(gantry_buffer_create(rig->device, &params, &buffer));
    CHECK_LOST(gantry_queue_create(rig->device, NULL, &queue));
    CHECK_LOST(gantry_list_create(rig->device, NULL, &list));
    CHECK_LOST(gantry_module_load(rig->device, &file, &module));
    CHECK_LOST(gantry_kernel_create(rig->module, "mark", NULL, &kernel));
    CHECK_LOST(gantry_device_native(rig->device, &native));
    if (rig->list)
        CHECK_LOST(gantry_queue_submit(rig->queue, rig->list, NULL, 0, NULL));
#undef CHECK_LOST
    CHECK(rig->reported == 1, "the loss was logged %u times", rig->reported);
}

/* Devices of other cards don't notice. */
static void check_others(struct rig *rig, uint32_t lost)
{
    for (uint32_t i = 0; i < gantry_device_count(rig->g); i++) {
        struct gantry_device_info info;
        struct gantry_device *other;
        struct gantry_module *module;
        struct gantry_kernel *mark;
        char selector[16];

        CHECK_OK(gantry_device_describe(rig->g, i, &info));
        snprintf(selector, sizeof(selector), "%u", i);
        if (i == lost || open_device(rig, selector, &other) != GANTRY_OK)
            continue;
        make_kernel(other, &module, &mark);
        CHECK_OK(mark_all(other, mark));
        printf("beside it works: %s\n", info.name);
        gantry_kernel_destroy(&mark);
        gantry_module_unload(&module);
        gantry_device_close(&other);
    }
}

/* A second object of the same device, opened before: on CUDA it has the same context. */
static void check_twin(const struct rig *rig, struct gantry_kernel *mark)
{
    bool cuda = strncmp(rig->selector, "cuda", 4) == 0;
    enum gantry_status status = mark_all(rig->twin, mark);

    CHECK(status == GANTRY_OK || status == GANTRY_E_DEVICE_LOST, "%s", gantry_status_name(status));
    CHECK(!cuda || status == GANTRY_E_DEVICE_LOST, "CUDA's context is shared, but it works");
    printf("a second object of the device: %s\n",
           status == GANTRY_OK ? "works" : gantry_last_error());
}

/* True: it works again. */
static bool reopen(struct rig *rig)
{
    struct gantry_device *device;
    struct gantry_module *module;
    struct gantry_kernel *mark;

    if (open_device(rig, rig->selector, &device) != GANTRY_OK) {
        printf("can't be opened again: %s\n", gantry_last_error());
        return false;
    }
    make_kernel(device, &module, &mark);
    CHECK_OK(mark_all(device, mark));
    CHECK(!gantry_device_loss(device), "the new device has the loss of the old one");
    printf("was opened again, and works\n");
    gantry_kernel_destroy(&mark);
    gantry_module_unload(&module);
    gantry_device_close(&device);
    return true;
}

/* ---- Main ----------------------------------------------------------------------------------- */

/* The stand-in driver leaves a kernel that breaks the device where it was, with what its run had
 * allocated. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:gantry_host::\n";
}

static void check_loss(struct rig *rig, const struct scenario *scenario)
{
    struct gantry_module *module;
    struct gantry_kernel *mark;
    struct gantry_device_info info;
    bool cuda = strncmp(rig->selector, "cuda", 4) == 0;

    make_kernel(rig->twin, &module, &mark);
    CHECK_OK(open_device(rig, rig->selector, &rig->device));
    CHECK_OK(gantry_device_info(rig->device, &info));
    make_objects(rig);
    scenario->run(rig);
    check_sentence(rig, scenario);
    check_report(rig);
    check_later_calls(rig);
    check_others(rig, info.index);
    close_device(rig);
    check_twin(rig, mark);
    if (cuda) {
        CHECK(!reopen(rig), "the twin still holds the context, but a new device works");
        check_contains(gantry_last_error(), "something in this process still holds it");
    }
    gantry_kernel_destroy(&mark);
    gantry_module_unload(&module);
    gantry_device_close(&rig->twin);
    if (!reopen(rig))
        check_contains(gantry_last_error(), "restart the program");
}

int main(int argc, char **argv)
{
    struct rig rig = {.selector = argc > 1 ? argv[1] : ""};
    const struct scenario *scenario = scenarios;
    bool skipped;

    rig.injected = argc > 3 && strcmp(argv[3], "--injected") == 0;
    while (scenario->name && (argc < 3 || strcmp(scenario->name, argv[2]) != 0))
        scenario++;
    if (!scenario->name) {
        fprintf(stderr, "usage: lost DEVICE list|fold|once|stream [--injected]\n");
        return 2;
    }
    open_gantry(&rig, scenario);
    skipped = is_skipped(&rig);
    if (!skipped)
        check_loss(&rig, scenario);
    gantry_device_close(&rig.twin);
    gantry_close(&rig.g);
    return skipped ? EXIT_SKIP : EXIT_SUCCESS;
}
