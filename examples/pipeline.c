#include "pipeline.h"

#include <stdlib.h>

#include <motion.h>

enum { FIRST_RADIUS = 4 };

uint64_t pipeline_frame_size(const struct pipeline *p)
{
    return (uint64_t)p->width * p->height * sizeof(uint32_t);
}

static size_t pixels_of(const struct pipeline *p)
{
    return (size_t)p->width * p->height;
}

/* ---- Host memory ---------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Every page is written here, so that no run pays for the system's first touch. */
static bool make_frames(struct pipeline *p)
{
    size_t sources = pixels_of(p) * PIPELINE_SOURCES, results = pixels_of(p) * p->frames;
    uint32_t state = 1;

    p->sources = malloc(sources * sizeof(uint32_t));
    p->results = malloc(results * sizeof(uint32_t));
    if (!p->sources || !p->results)
        return false;
    for (size_t i = 0; i < sources; i++)
        p->sources[i] = next_random(&state);
    for (size_t i = 0; i < results; i++)
        p->results[i] = 0;
    return true;
}

static const uint32_t *source_of(const struct pipeline *p, uint32_t frame)
{
    return p->sources + pixels_of(p) * (frame % PIPELINE_SOURCES);
}

static uint32_t *result_of(const struct pipeline *p, uint32_t frame)
{
    return p->results + pixels_of(p) * frame;
}

const uint32_t *pipeline_result(const struct pipeline *p, uint32_t frame)
{
    return result_of(p, frame);
}

/* ---- Objects -------------------------------------------------------------------------------- */

static enum gantry_status make_queues(struct pipeline *p)
{
    const struct gantry_queue_params transfer = {.kind = GANTRY_QUEUE_TRANSFER};
    enum gantry_status status = gantry_queue_create(p->device, &transfer, &p->up);

    if (status == GANTRY_OK)
        status = gantry_queue_create(p->device, &transfer, &p->down);
    return status == GANTRY_OK ? gantry_queue_create(p->device, NULL, &p->compute) : status;
}

static enum gantry_status make_kernel(struct pipeline *p, const char *file)
{
    const struct gantry_module_params own = {.data = motion_gpk, .size = motion_gpk_size};
    const struct gantry_module_params other = {.file = file};
    enum gantry_status status = gantry_module_load(p->device, file ? &other : &own, &p->module);

    return status == GANTRY_OK ? motion_blur_create(p->module, (struct gantry_size){0}, &p->kernel)
                               : status;
}

static enum gantry_status make_slot(struct pipeline *p, struct slot *slot)
{
    const struct gantry_buffer_params params = {.size = pipeline_frame_size(p)};
    enum gantry_status status = gantry_buffer_create(p->device, &params, &slot->from);

    if (status == GANTRY_OK)
        status = gantry_buffer_create(p->device, &params, &slot->to);
    if (status == GANTRY_OK)
        status = gantry_list_create(p->device, NULL, &slot->upload);
    return status == GANTRY_OK ? gantry_list_create(p->device, NULL, &slot->download) : status;
}

enum gantry_status pipeline_open(struct pipeline *p, struct gantry_device *device,
                                 const struct pipeline_params *params)
{
    enum gantry_status status;

    *p = (struct pipeline){.device = device,
                           .width = params->width,
                           .height = params->height,
                           .frames = params->frames};
    if (!make_frames(p))
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = make_queues(p);
    if (status == GANTRY_OK)
        status = make_kernel(p, params->kernels);
    for (int i = 0; i < PIPELINE_DEPTH && status == GANTRY_OK; i++)
        status = make_slot(p, &p->slots[i]);
    return status == GANTRY_OK ? pipeline_set_radius(p, FIRST_RADIUS) : status;
}

static void close_slot(struct slot *slot)
{
    gantry_list_destroy(&slot->upload);
    gantry_list_destroy(&slot->filter);
    gantry_list_destroy(&slot->download);
    gantry_buffer_destroy(&slot->from);
    gantry_buffer_destroy(&slot->to);
}

void pipeline_close(struct pipeline *p)
{
    for (int i = 0; i < PIPELINE_DEPTH; i++)
        close_slot(&p->slots[i]);
    for (int i = 0; i < 2; i++)
        gantry_buffer_destroy(&p->registered[i]);
    gantry_kernel_destroy(&p->kernel);
    gantry_module_unload(&p->module);
    gantry_queue_destroy(&p->up);
    gantry_queue_destroy(&p->compute);
    gantry_queue_destroy(&p->down);
    free(p->sources);
    free(p->results);
}

enum gantry_status pipeline_register(struct pipeline *p)
{
    const struct gantry_host_params sources = {.pointer = p->sources,
                                               .size = pipeline_frame_size(p) * PIPELINE_SOURCES,
                                               .label = "sources"};
    const struct gantry_host_params results = {.pointer = p->results,
                                               .size = pipeline_frame_size(p) * p->frames,
                                               .label = "results"};
    enum gantry_status status = gantry_host_register(p->device, &sources, &p->registered[0]);

    return status == GANTRY_OK ? gantry_host_register(p->device, &results, &p->registered[1])
                               : status;
}

/* The filter is the same for every frame of a slot: its list is finished and replayed. */
static enum gantry_status record_filter(struct pipeline *p, struct slot *slot)
{
    const struct motion_args args = {.from = gantry_buffer_address(slot->from),
                                     .to = gantry_buffer_address(slot->to),
                                     .width = (int32_t)p->width,
                                     .height = (int32_t)p->height,
                                     .radius = (int32_t)p->radius};
    enum gantry_status status;

    gantry_list_destroy(&slot->filter);
    status = gantry_list_create(p->device, NULL, &slot->filter);
    if (status != GANTRY_OK)
        return status;
    motion_blur_launch(slot->filter, p->kernel, (struct gantry_size){p->width, p->height, 1},
                       &args);
    return gantry_list_finish(slot->filter);
}

enum gantry_status pipeline_set_radius(struct pipeline *p, uint32_t radius)
{
    enum gantry_status status = GANTRY_OK;

    p->radius = radius;
    for (int i = 0; i < PIPELINE_DEPTH && status == GANTRY_OK; i++)
        status = record_filter(p, &p->slots[i]);
    return status;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* Submits, unless the step is left out. Serial runs wait here. */
static enum gantry_status step(struct gantry_queue *queue, struct gantry_list *list,
                               const struct gantry_point waits[2], bool overlapped,
                               struct gantry_point *point)
{
    enum gantry_status status = gantry_queue_submit(queue, list, waits, overlapped ? 2 : 0, point);

    return status == GANTRY_OK && !overlapped ? gantry_wait(*point, GANTRY_FOREVER) : status;
}

/* The points of a slot are those of the frame before in it, until its own take their place. */
static enum gantry_status run_frame(struct pipeline *p, uint32_t frame, unsigned steps,
                                    bool overlapped)
{
    struct slot *slot = &p->slots[frame % PIPELINE_DEPTH];
    uint64_t size = pipeline_frame_size(p);
    enum gantry_status status = GANTRY_OK;

    if (steps & STEP_UPLOAD) {
        gantry_list_upload(slot->upload, slot->from, 0, source_of(p, frame), size);
        status = step(p->up, slot->upload, (struct gantry_point[]){slot->filtered, {NULL, 0}},
                      overlapped, &slot->uploaded);
    }
    if (steps & STEP_FILTER && status == GANTRY_OK)
        status =
            step(p->compute, slot->filter, (struct gantry_point[]){slot->uploaded, slot->fetched},
                 overlapped, &slot->filtered);
    if (steps & STEP_DOWNLOAD && status == GANTRY_OK) {
        gantry_list_download(slot->download, slot->to, 0, result_of(p, frame), size);
        status = step(p->down, slot->download, (struct gantry_point[]){slot->filtered, {NULL, 0}},
                      overlapped, &slot->fetched);
    }
    return status;
}

static enum gantry_status wait_for_all(struct pipeline *p)
{
    enum gantry_status status = GANTRY_OK;

    for (int i = 0; i < PIPELINE_DEPTH && status == GANTRY_OK; i++) {
        struct slot *slot = &p->slots[i];

        status = gantry_wait(slot->uploaded, GANTRY_FOREVER);
        if (status == GANTRY_OK)
            status = gantry_wait(slot->filtered, GANTRY_FOREVER);
        if (status == GANTRY_OK)
            status = gantry_wait(slot->fetched, GANTRY_FOREVER);
        slot->uploaded = slot->filtered = slot->fetched = (struct gantry_point){NULL, 0};
    }
    return status;
}

enum gantry_status pipeline_run(struct pipeline *p, unsigned steps, bool overlapped)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t frame = 0; frame < p->frames && status == GANTRY_OK; frame++)
        status = run_frame(p, frame, steps, overlapped);
    return status == GANTRY_OK ? wait_for_all(p) : status;
}

/* ---- What must come out --------------------------------------------------------------------- */

static uint32_t share(uint32_t sum, uint32_t count)
{
    return (sum + count / 2) / count;
}

/* The pixel at x of a row that goes on as it ends. */
static uint32_t pixel_at(const uint32_t *row, int64_t x, uint32_t width)
{
    return row[x < 0 ? 0 : x >= width ? width - 1 : x];
}

static void add(uint32_t sums[3], uint32_t pixel, uint32_t sign)
{
    for (int channel = 0; channel < 3; channel++)
        sums[channel] += sign * (pixel >> 8 * channel & 0xff);
}

/* Each sum is that of the pixel before with one more at one end and one less at the other. */
static void blur_row(const uint32_t *from, uint32_t *to, uint32_t width, int64_t radius)
{
    uint32_t sums[3] = {0}, count = (uint32_t)(2 * radius + 1);

    for (int64_t x = -radius; x <= radius; x++)
        add(sums, pixel_at(from, x, width), 1);
    for (int64_t x = 0; x < width; x++) {
        to[x] = share(sums[0], count) | share(sums[1], count) << 8 | share(sums[2], count) << 16 |
                (from[x] & 0xff000000u);
        add(sums, pixel_at(from, x + radius + 1, width), 1);
        add(sums, pixel_at(from, x - radius, width), -1u);
    }
}

void pipeline_expect(const struct pipeline *p, uint32_t frame, uint32_t *expected)
{
    for (uint32_t y = 0; y < p->height; y++)
        blur_row(source_of(p, frame) + (size_t)y * p->width, expected + (size_t)y * p->width,
                 p->width, p->radius);
}
