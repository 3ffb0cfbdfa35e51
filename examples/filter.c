#include <time.h>

#include <edge.h>

#include "filter.h"

/* ---- Objects -------------------------------------------------------------------------------- */

static enum gantry_status make_kernels(struct filter *filter, const char *file)
{
    static enum gantry_status (*const create[FILTER_KERNEL_COUNT])(struct gantry_module *,
                                                                   struct gantry_size,
                                                                   struct gantry_kernel **) = {
        [FILTER_LUMA] = luma_create,
        [FILTER_HISTOGRAM] = histogram_create,
        [FILTER_LEVELS] = levels_create,
        [FILTER_BLUR_ROWS] = blur_rows_create,
        [FILTER_BLUR_COLUMNS] = blur_columns_create,
        [FILTER_SOBEL] = sobel_create,
        [FILTER_BLEND] = blend_create,
    };
    const struct gantry_module_params own = {.data = edge_gpk, .size = edge_gpk_size};
    const struct gantry_module_params other = {.file = file};
    enum gantry_status status =
        gantry_module_load(filter->device, file ? &other : &own, &filter->module);

    for (int i = 0; i < FILTER_KERNEL_COUNT && status == GANTRY_OK; i++)
        status = create[i](filter->module, (struct gantry_size){0}, &filter->kernels[i]);
    return status;
}

static enum gantry_status make_buffers(struct filter *filter)
{
    uint64_t count = (uint64_t)filter->width * filter->height;
    const struct {
        struct gantry_buffer **buffer;
        uint64_t size;
        const char *label;
    } buffers[] = {
        {&filter->pixels, count * 8, "pixels"}, {&filter->luma, count * 4, "luma"},
        {&filter->bins, EDGE_BINS * 4, "bins"}, {&filter->levels, 2 * 4, "levels"},
        {&filter->rows, count * 4, "rows"},     {&filter->blurred, count * 4, "blurred"},
        {&filter->edges, count * 4, "edges"},   {&filter->painted, count * 8, "painted"},
    };
    enum gantry_status status = GANTRY_OK;

    for (size_t i = 0; i < sizeof buffers / sizeof *buffers && status == GANTRY_OK; i++)
        status = gantry_buffer_create(filter->device,
                                      &(struct gantry_buffer_params){.size = buffers[i].size,
                                                                     .label = buffers[i].label},
                                      buffers[i].buffer);
    return status;
}

/* ---- The list ------------------------------------------------------------------------------- */

static void record_levels(struct filter *filter, gantry_ptr luma, uint32_t count)
{
    gantry_ptr bins = gantry_buffer_address(filter->bins);

    histogram_launch(filter->list, filter->kernels[FILTER_HISTOGRAM],
                     (struct gantry_size){.x = count},
                     &(struct histogram_args){.luma = luma, .bins = bins, .n = count});
    levels_launch(filter->list, filter->kernels[FILTER_LEVELS],
                  (struct gantry_size){.x = EDGE_BINS},
                  &(struct levels_args){.bins = bins,
                                        .levels = gantry_buffer_address(filter->levels),
                                        .n = count});
}

static void record_edges(struct filter *filter, gantry_ptr luma)
{
    const struct gantry_size size = {filter->width, filter->height, 1};
    struct blur_args blur = {.luma = luma,
                             .rows = gantry_buffer_address(filter->rows),
                             .blurred = gantry_buffer_address(filter->blurred),
                             .width = (int32_t)filter->width,
                             .height = (int32_t)filter->height};
    struct sobel_args sobel = {.blurred = blur.blurred,
                               .edges = gantry_buffer_address(filter->edges),
                               .width = blur.width,
                               .height = blur.height};

    edge_weights(blur.weights);
    blur_rows_launch(filter->list, filter->kernels[FILTER_BLUR_ROWS], size, &blur);
    blur_columns_launch(filter->list, filter->kernels[FILTER_BLUR_COLUMNS], size, &blur);
    sobel_launch(filter->list, filter->kernels[FILTER_SOBEL], size, &sobel);
}

/* A failure to record stays in the list and comes out of finish. */
static enum gantry_status record(struct filter *filter, const struct filter_params *params)
{
    struct gantry_list *list = filter->list;
    uint32_t count = filter->width * filter->height;
    gantry_ptr pixels = gantry_buffer_address(filter->pixels);
    gantry_ptr luma = gantry_buffer_address(filter->luma);

    gantry_list_begin_concurrent(list);
    gantry_list_upload(list, filter->pixels, 0, params->from->pixels, (uint64_t)count * 8);
    gantry_list_fill(list, filter->bins, 0, EDGE_BINS * 4, 0);
    gantry_list_end_concurrent(list);

    luma_launch(list, filter->kernels[FILTER_LUMA], (struct gantry_size){.x = count},
                &(struct luma_args){.pixels = pixels, .luma = luma, .n = count});

    /* Levels and edges need luma, but not each other. */
    gantry_list_begin_concurrent(list);
    gantry_list_begin_ordered(list);
    record_levels(filter, luma, count);
    gantry_list_end_ordered(list);
    gantry_list_begin_ordered(list);
    record_edges(filter, luma);
    gantry_list_end_ordered(list);
    gantry_list_end_concurrent(list);

    blend_launch(list, filter->kernels[FILTER_BLEND], (struct gantry_size){.x = count},
                 &(struct blend_args){.pixels = pixels,
                                      .levels = gantry_buffer_address(filter->levels),
                                      .edges = gantry_buffer_address(filter->edges),
                                      .painted = gantry_buffer_address(filter->painted),
                                      .threshold = params->threshold,
                                      .n = count});
    gantry_list_download(list, filter->painted, 0, params->to->pixels, (uint64_t)count * 8);
    return gantry_list_finish(list);
}

/* ---- Interface ------------------------------------------------------------------------------ */

enum gantry_status filter_open(struct filter *filter, struct gantry_device *device,
                               const struct filter_params *params)
{
    enum gantry_status status;

    *filter = (struct filter){.device = device,
                              .width = params->from->width,
                              .height = params->from->height};
    status = gantry_queue_create(device, NULL, &filter->queue);
    if (status == GANTRY_OK)
        status = make_kernels(filter, params->kernels);
    if (status == GANTRY_OK)
        status = make_buffers(filter);
    if (status == GANTRY_OK)
        status = gantry_list_create(device, &(struct gantry_list_params){.label = "edge"},
                                    &filter->list);
    if (status == GANTRY_OK)
        status = record(filter, params);
    return status;
}

void filter_close(struct filter *filter)
{
    gantry_list_destroy(&filter->list);
    gantry_buffer_destroy(&filter->pixels);
    gantry_buffer_destroy(&filter->luma);
    gantry_buffer_destroy(&filter->bins);
    gantry_buffer_destroy(&filter->levels);
    gantry_buffer_destroy(&filter->rows);
    gantry_buffer_destroy(&filter->blurred);
    gantry_buffer_destroy(&filter->edges);
    gantry_buffer_destroy(&filter->painted);
    for (int i = 0; i < FILTER_KERNEL_COUNT; i++)
        gantry_kernel_destroy(&filter->kernels[i]);
    gantry_module_unload(&filter->module);
    gantry_queue_destroy(&filter->queue);
}

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static enum gantry_status submit_and_wait(struct filter *filter, uint32_t repeat)
{
    struct gantry_point point = {0};
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; i < repeat && status == GANTRY_OK; i++)
        status = gantry_queue_submit(filter->queue, filter->list, NULL, 0, &point);
    return status == GANTRY_OK ? gantry_wait(point, GANTRY_FOREVER) : status;
}

enum gantry_status filter_run(struct filter *filter, uint32_t repeat, struct filter_times *times)
{
    struct gantry_queue_stats stats;
    double start = milliseconds(), first;
    enum gantry_status status = submit_and_wait(filter, 1);

    first = milliseconds();
    if (status == GANTRY_OK && repeat > 1)
        status = submit_and_wait(filter, repeat - 1);
    times->first_ms = first - start;
    times->frame_ms = repeat > 1 ? (milliseconds() - first) / (repeat - 1) : times->first_ms;
    if (status == GANTRY_OK)
        status = gantry_queue_stats(filter->queue, &stats);
    if (status == GANTRY_OK)
        times->launches_per_submit = (double)stats.launches / (double)stats.submissions;
    return status;
}

enum gantry_status filter_fetch(struct filter *filter, struct filter_findings *findings)
{
    uint64_t count = (uint64_t)filter->width * filter->height;
    struct gantry_point point;
    struct gantry_list *list;
    enum gantry_status status = gantry_list_create(filter->device, NULL, &list);

    if (status != GANTRY_OK)
        return status;
    gantry_list_download(list, filter->luma, 0, findings->luma, count * 4);
    gantry_list_download(list, filter->bins, 0, findings->bins, sizeof findings->bins);
    gantry_list_download(list, filter->levels, 0, findings->levels, sizeof findings->levels);
    status = gantry_queue_submit(filter->queue, list, NULL, 0, &point);
    if (status == GANTRY_OK)
        status = gantry_wait(point, GANTRY_FOREVER);
    gantry_list_destroy(&list);
    return status;
}
