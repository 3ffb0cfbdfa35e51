/* The steps of the main job, and its end. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum {
    CELLS = 1024,
    BYTES = CELLS * 4,
    WIDTH = 64, /* bytes of a row of the rectangles */
    ROWS = 16,
    PITCH = 96,
};

#define TRY(call)                          \
    do {                                   \
        enum gantry_status tried = (call); \
        if (tried != GANTRY_OK)            \
            return tried;                  \
    } while (0)

/* A recording call's failure stays in its list. */
#define RECORD(list, call)                     \
    do {                                       \
        if ((call) == 0)                       \
            return gantry_list_finish((list)); \
    } while (0)

static uint32_t result[CELLS];   /* what downloads write */
static uint32_t expected[CELLS]; /* what they should have written */
static uint32_t foreign[CELLS];  /* lent to the device */

/* ---- Cells that tell in which order they were changed ---------------------------------------- */

static void expect_all(uint32_t value)
{
    for (uint32_t i = 0; i < CELLS; i++)
        expected[i] = value;
}

static void expect_step(uint32_t n, uint32_t add)
{
    for (uint32_t i = 0; i < n; i++)
        expected[i] = expected[i] * 3 + add;
}

static enum gantry_status compare(struct job *job, const char *what, const uint32_t *found)
{
    for (uint32_t i = 0; i < CELLS && !job->wrong[0]; i++)
        if (found[i] != expected[i])
            snprintf(job->wrong, sizeof(job->wrong), "%s: cell %u is %u instead of %u", what, i,
                     found[i], expected[i]);
    return GANTRY_OK;
}

static struct step_args step_of(struct gantry_buffer *cells, uint32_t n, uint32_t add)
{
    return (struct step_args){.cells = gantry_buffer_address(cells), .n = n, .add = add};
}

static uint32_t record_step(struct job *job, struct gantry_list *list, uint32_t add)
{
    struct step_args args = step_of(job->cells, CELLS, add);

    return gantry_list_launch(list, job->step, (struct gantry_size){.x = CELLS}, &args,
                              sizeof(args));
}

/* Polls once, so that every way of looking is taken, and waits. */
static enum gantry_status finish(struct gantry_point point)
{
    enum gantry_status status = gantry_poll(point);

    if (status == GANTRY_NOT_READY)
        status = gantry_wait(point, 1000);
    return status == GANTRY_OK || status == GANTRY_TIMEOUT ? gantry_wait(point, GANTRY_FOREVER)
                                                           : status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* A plugin that checks its contract says so in the log. */
static void take_message(void *user, enum gantry_log_level level, const char *text)
{
    struct job *job = user;

    if (level > GANTRY_LOG_ERROR || !strstr(text, "broken contract"))
        return;
    if (job->broken++ == 0)
        snprintf(job->broken_text, sizeof(job->broken_text), "%s", text);
}

/* Small values, so that the pool grows and batches go out for every reason. */
static enum gantry_status open_gantry(struct job *job)
{
    struct gantry_params params = {
        .app_name = "main job",
        .override_text = "[policy]\npool_block_mib = 1\nstaging_mib = 1\nbatch_size = 4\n"
                         "batch_max_ms = 1000\nspin_us = 0\n",
        .log = take_message,
        .log_user = job,
        .log_level = GANTRY_LOG_ERROR,
    };

    return gantry_open(&params, &job->g);
}

static enum gantry_status describe(struct job *job)
{
    struct gantry_backend_info backend;
    struct gantry_device_info info;
    struct gantry_config_value value;

    for (uint32_t i = 0; i < gantry_backend_count(job->g); i++)
        TRY(gantry_backend_describe(job->g, i, &backend));
    for (uint32_t i = 0; i < gantry_device_count(job->g); i++) {
        TRY(gantry_device_describe(job->g, i, &info));
        for (uint32_t k = 0; k < gantry_config_count(job->g, i); k++)
            TRY(gantry_config_get(job->g, i, k, &value));
    }
    return GANTRY_OK;
}

/* What programs ask before they open a device, or without one. */
static enum gantry_status ask(struct job *job)
{
    static const char text[] = "[policy]\nbatch_size = 8\n[gpu RTX *]\nblock_size.step = 64\n";
    struct gantry_package_params file = {.file = PACKAGES "/launch.gpk"};
    struct gantry_config_check_params check = {.file = "text",
                                               .text = text,
                                               .size = sizeof(text) - 1,
                                               .package_count = 1};
    struct gantry_package *package;
    enum gantry_status status;

    (void)job;
    TRY(gantry_package_open(&file, &package));
    check.packages = (const struct gantry_package *const *)&package;
    status = gantry_config_check(&check);
    gantry_package_close(&package);
    return status;
}

static enum gantry_status open_device(struct job *job)
{
    struct gantry_device_params params = {.device = job->device};
    struct gantry_device_info info;
    uint32_t index;

    TRY(gantry_config_device(job->g, &params, &index));
    if (!job->opened)
        TRY(gantry_device_open(job->g, &params, &job->opened));
    return gantry_device_info(job->opened, &info);
}

static enum gantry_status make_queues(struct job *job)
{
    struct gantry_queue_params compute = {.label = "first"}, urgent = {.priority = 1};
    struct gantry_queue_params transfer = {.kind = GANTRY_QUEUE_TRANSFER};

    if (!job->queue)
        TRY(gantry_queue_create(job->opened, &compute, &job->queue));
    if (!job->other)
        TRY(gantry_queue_create(job->opened, &urgent, &job->other));
    return job->transfer ? GANTRY_OK : gantry_queue_create(job->opened, &transfer, &job->transfer);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static enum gantry_status make_buffer(struct job *job, enum gantry_memory memory, uint64_t size,
                                      struct gantry_buffer **buffer)
{
    struct gantry_buffer_params params = {.size = size, .memory = memory, .zero = true};

    return *buffer ? GANTRY_OK : gantry_buffer_create(job->opened, &params, buffer);
}

static enum gantry_status make_buffers(struct job *job)
{
    struct gantry_memory_info info;

    TRY(make_buffer(job, GANTRY_MEMORY_DEVICE, BYTES, &job->cells));
    TRY(make_buffer(job, GANTRY_MEMORY_DEVICE, BYTES, &job->spare));
    TRY(make_buffer(job, GANTRY_MEMORY_UPLOAD, BYTES, &job->upload));
    TRY(make_buffer(job, GANTRY_MEMORY_READBACK, ROWS * PITCH + BYTES, &job->readback));
    for (int i = 0; i < GROWTH; i++) /* the last has a block to itself */
        TRY(make_buffer(job, GANTRY_MEMORY_DEVICE, UINT64_C(400000) * (i + 1), &job->growth[i]));
    for (int i = 0; i < GROWTH; i++)
        gantry_buffer_destroy(&job->growth[i]);
    TRY(gantry_device_memory(job->opened, &info));
    return gantry_device_trim(job->opened);
}

/* Not every driver takes the caller's memory; then the job does without. */
static enum gantry_status lend_memory(struct job *job)
{
    struct gantry_host_params params = {.pointer = foreign, .size = sizeof(foreign)};
    enum gantry_status status = GANTRY_OK;

    if (!job->registered)
        status = gantry_host_register(job->opened, &params, &job->registered);
    return status == GANTRY_E_UNSUPPORTED ? GANTRY_OK : status;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static enum gantry_status make_kernels(struct job *job)
{
    struct gantry_module_params params = {.file = PACKAGES "/launch.gpk"};
    struct gantry_kernel_params fixed = {.block = {.x = 64}};
    struct gantry_kernel_info info;

    if (!job->module)
        TRY(gantry_module_load(job->opened, &params, &job->module));
    if (!job->step)
        TRY(gantry_kernel_create(job->module, "step", NULL, &job->step));
    if (!job->hop)
        TRY(gantry_kernel_create(job->module, "hop", &fixed, &job->hop));
    return gantry_kernel_describe(job->step, &info);
}

static void take_verdict(void *user, const struct gantry_image_verdict *verdict)
{
    *(bool *)user = *(bool *)user || verdict->used || verdict->text;
}

/* A device that is described after the choice does not change it. On CUDA every image includes the
 * source, which NVRTC would compile for a second. */
static enum gantry_status examine(struct job *job)
{
    struct gantry_device_info profile = {.name = "Made up",
                                         .type = GANTRY_DEVICE_DISCRETE,
                                         .backend_count = 1};
    bool told = false;
    uint32_t index;

    profile.backends[0].backend = "vulkan";
    TRY(gantry_config_profile(job->g, &profile, &index));
    if (strncmp(job->device, "cuda", 4) == 0)
        return GANTRY_OK;
    TRY(gantry_module_examine(job->module, "hop", take_verdict, &told));
    if (!told)
        snprintf(job->wrong, sizeof(job->wrong), "no image is used, and none was refused");
    return GANTRY_OK;
}

/* ---- A finished list ------------------------------------------------------------------------- */

/* Sixteen pieces that fold, between steps that depend on each other. */
static enum gantry_status record_pieces(struct job *job)
{
    struct step_args args;

    TRY(gantry_list_begin_concurrent(job->list));
    for (uint32_t i = 0; i < 16; i++) {
        args = step_of(job->cells, CELLS / 16, 5);
        args.cells += i * (BYTES / 16);
        RECORD(job->list,
               gantry_list_launch(job->list, job->step, (struct gantry_size){.x = CELLS / 16},
                                  &args, sizeof(args)));
    }
    return gantry_list_end_concurrent(job->list);
}

/* A run of single blocks, which becomes a chain where the device folds them. */
static enum gantry_status record_chain(struct job *job)
{
    struct step_args args = step_of(job->cells, 8, 1);

    for (uint32_t i = 0; i < 6; i++)
        RECORD(job->list, gantry_list_launch(job->list, job->step, (struct gantry_size){.x = 8},
                                             &args, sizeof(args)));
    return GANTRY_OK;
}

static enum gantry_status record_list(struct job *job)
{
    struct gantry_list_params params = {.label = "frame"};
    struct step_args args = step_of(job->cells, CELLS, 2);
    struct gantry_size all = {.x = CELLS};

    gantry_list_destroy(&job->list);
    TRY(gantry_list_create(job->opened, &params, &job->list));
    RECORD(job->list, gantry_list_label(job->list, "fill"));
    RECORD(job->list, gantry_list_fill(job->list, job->cells, 0, BYTES, 7));
    for (uint32_t add = 1; add <= 3; add++)
        RECORD(job->list, record_step(job, job->list, add));
    TRY(record_pieces(job));
    TRY(record_chain(job));
    job->patchable =
        gantry_list_launch_patchable(job->list, job->step, all, all, &args, sizeof(args));
    RECORD(job->list, job->patchable);
    RECORD(job->list, gantry_list_download(job->list, job->cells, 0, result, BYTES));
    return gantry_list_finish(job->list);
}

/* What the list makes of the cells; its patchable launch has `n` threads and adds `add`. */
static void expect_list(uint32_t n, uint32_t add)
{
    expect_all(7);
    for (uint32_t step = 1; step <= 3; step++)
        expect_step(CELLS, step);
    expect_step(CELLS, 5);
    for (uint32_t i = 0; i < 6; i++)
        expect_step(8, 1);
    expect_step(n, add);
}

static enum gantry_status replay(struct job *job)
{
    struct gantry_point point;

    for (int i = 0; i < 3; i++)
        TRY(gantry_queue_submit(job->queue, job->list, NULL, 0, &point));
    TRY(finish(point));
    expect_list(CELLS, 2);
    return compare(job, "replay", result);
}

static enum gantry_status set(struct job *job, uint32_t n, uint32_t add)
{
    struct step_args args = step_of(job->cells, n, add);

    TRY(gantry_list_set_args(job->list, job->patchable, &args, sizeof(args)));
    return gantry_list_set_threads(job->list, job->patchable, (struct gantry_size){.x = n});
}

static enum gantry_status patch(struct job *job)
{
    struct gantry_point point;

    TRY(set(job, CELLS / 2, 9));
    TRY(gantry_queue_submit(job->queue, job->list, NULL, 0, &point));
    TRY(set(job, CELLS / 4, 11));
    TRY(gantry_queue_submit(job->queue, job->list, NULL, 0, &point));
    TRY(finish(point));
    expect_list(CELLS / 4, 11);
    TRY(compare(job, "patch", result));
    return set(job, CELLS, 2);
}

/* ---- Lists that run once ----------------------------------------------------------------------
 */

static const struct gantry_rect rect = {.width = WIDTH,
                                        .rows = ROWS,
                                        .to_pitch = PITCH,
                                        .from_pitch = WIDTH};

static enum gantry_status record_once(struct job *job)
{
    struct gantry_list *list = job->once;
    struct gantry_buffer *lent = job->registered ? job->registered : job->upload;
    uint32_t *source = gantry_buffer_host(lent);

    for (uint32_t i = 0; i < CELLS; i++)
        source[i] = i;
    RECORD(list, gantry_list_copy(list, job->spare, 0, lent, 0, BYTES));
    RECORD(list, gantry_list_upload(list, job->spare, 0, source, BYTES / 2));
    RECORD(list, gantry_list_copy(list, job->cells, 0, job->spare, 0, BYTES));
    RECORD(list, record_step(job, list, 1));
    RECORD(list, record_step(job, list, 2));
    RECORD(list, gantry_list_copy_rect(list, job->readback, BYTES, job->cells, 0, &rect));
    RECORD(list, gantry_list_copy(list, job->readback, 0, job->cells, 0, BYTES));
    return GANTRY_OK;
}

static void expect_once(void)
{
    for (uint32_t i = 0; i < CELLS; i++)
        expected[i] = i;
    expect_step(CELLS, 1);
    expect_step(CELLS, 2);
}

static enum gantry_status compare_rect(struct job *job, const char *what, const unsigned char *rows)
{
    for (uint32_t i = 0; i < ROWS && !job->wrong[0]; i++)
        if (memcmp(rows + i * PITCH, (const char *)expected + i * WIDTH, WIDTH) != 0)
            snprintf(job->wrong, sizeof(job->wrong), "%s: row %u is wrong", what, i);
    return GANTRY_OK;
}

static enum gantry_status run_once(struct job *job)
{
    const uint32_t *found = gantry_buffer_host(job->readback);
    struct gantry_point point;

    gantry_list_destroy(&job->once);
    TRY(gantry_list_create(job->opened, NULL, &job->once));
    for (int i = 0; i < 2; i++) { /* of one shape: what was built for the first serves the second */
        TRY(record_once(job));
        TRY(gantry_queue_submit(job->queue, job->once, NULL, 0, &point));
    }
    TRY(finish(point));
    expect_once();
    TRY(compare(job, "one-shot list", found));
    return compare_rect(job, "rectangle of a one-shot list", (const unsigned char *)found + BYTES);
}

/* ---- Streaming ------------------------------------------------------------------------------- */

static enum gantry_status stream_launches(struct job *job, uint32_t count)
{
    struct gantry_size all = {.x = CELLS};
    struct step_args args;

    for (uint32_t i = 0; i < count; i++) {
        args = step_of(job->cells, CELLS, i);
        TRY(gantry_queue_launch(job->queue, job->step, all, &args, sizeof(args), NULL));
    }
    return GANTRY_OK;
}

static enum gantry_status stream(struct job *job)
{
    static uint32_t source[CELLS];
    static unsigned char rows[ROWS * PITCH];
    struct gantry_point point;

    for (uint32_t i = 0; i < CELLS; i++)
        source[i] = expected[i] = i * 7;
    TRY(gantry_queue_fill(job->queue, job->spare, 0, BYTES, 3, NULL));
    TRY(gantry_queue_upload(job->queue, job->spare, 0, source, BYTES, NULL));
    TRY(gantry_queue_copy(job->queue, job->cells, 0, job->spare, 0, BYTES, NULL));
    TRY(stream_launches(job, 10));
    TRY(gantry_queue_flush(job->queue));
    TRY(gantry_queue_download(job->queue, job->cells, 0, result, BYTES, NULL));
    TRY(gantry_queue_download_rect(job->queue, job->cells, 0, rows, &rect, &point));
    TRY(finish(point));
    for (uint32_t i = 0; i < 10; i++)
        expect_step(CELLS, i);
    TRY(compare(job, "stream", result));
    return compare_rect(job, "streamed rectangle", rows);
}

/* ---- Queues that wait for each other --------------------------------------------------------- */

static enum gantry_status record_hop(struct job *job, struct gantry_buffer *to,
                                     struct gantry_buffer *from)
{
    struct hop_args args = {.from = gantry_buffer_address(from),
                            .to = gantry_buffer_address(to),
                            .mask = CELLS - 1,
                            .add = 1};

    RECORD(job->side, gantry_list_launch(job->side, job->hop, (struct gantry_size){.x = CELLS},
                                         &args, sizeof(args)));
    return GANTRY_OK;
}

/* There, on to the second queue, and home on the transfer queue. */
static enum gantry_status run_across(struct job *job)
{
    const uint32_t *found = gantry_buffer_host(job->readback);
    struct gantry_point first, second, third;

    gantry_list_destroy(&job->side);
    TRY(gantry_list_create(job->opened, NULL, &job->side));
    RECORD(job->side, gantry_list_fill(job->side, job->cells, 0, BYTES, 1));
    TRY(record_hop(job, job->spare, job->cells));
    TRY(gantry_queue_submit(job->queue, job->side, NULL, 0, &first));
    TRY(record_hop(job, job->cells, job->spare));
    TRY(gantry_queue_submit(job->other, job->side, &first, 1, &second));
    RECORD(job->side, gantry_list_copy(job->side, job->readback, 0, job->cells, 0, BYTES));
    TRY(gantry_queue_submit(job->transfer, job->side, &second, 1, &third));
    TRY(finish(third));
    expect_all(1 * 9 + 4);
    return compare(job, "three queues", found);
}

/* The finished list on another queue, which waits for it on the first. */
static enum gantry_status move_list(struct job *job)
{
    struct gantry_queue_stats stats;
    struct gantry_point point;

    TRY(gantry_queue_submit(job->queue, job->list, NULL, 0, &point));
    TRY(gantry_queue_submit(job->other, job->list, &point, 1, &point));
    TRY(finish(point));
    TRY(gantry_queue_stats(job->other, &stats));
    expect_list(CELLS, 2);
    return compare(job, "list on two queues", result);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Work is still pending when everything goes. */
static enum gantry_status leave_work(struct job *job)
{
    TRY(stream_launches(job, 2));
    return gantry_queue_submit(job->other, job->list, NULL, 0, NULL);
}

void job_close(struct job *job)
{
    gantry_module_unload(&job->module);
    gantry_kernel_destroy(&job->hop);
    gantry_kernel_destroy(&job->step);
    gantry_buffer_destroy(&job->registered);
    gantry_buffer_destroy(&job->spare);
    gantry_list_destroy(&job->once);
    gantry_list_destroy(&job->list);
    gantry_queue_destroy(&job->transfer);
    gantry_queue_destroy(&job->other);
    gantry_queue_destroy(&job->queue);
    gantry_list_destroy(&job->side);
    for (int i = 0; i < GROWTH; i++)
        gantry_buffer_destroy(&job->growth[i]);
    gantry_buffer_destroy(&job->readback);
    gantry_buffer_destroy(&job->upload);
    gantry_buffer_destroy(&job->cells);
    gantry_device_close(&job->opened);
    gantry_close(&job->g);
}

const struct step steps[] = {
    {"open", false, open_gantry},
    {"describe", true, describe},
    {"ask", true, ask},
    {"device", false, open_device},
    {"queues", true, make_queues},
    {"buffers", true, make_buffers},
    {"lend", true, lend_memory},
    {"kernels", true, make_kernels},
    {"examine", true, examine},
    {"record", true, record_list},
    {"replay", true, replay},
    {"patch", true, patch},
    {"once", true, run_once},
    {"stream", true, stream},
    {"across", true, run_across},
    {"move", true, move_list},
    {"leave", true, leave_work},
    {0},
};
