/* A job on a device. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "../bench/stopwatch.h"
#include "../output.h"

struct job_way {
    struct way way;
    struct gantry_side *side;
    const struct job *job;
    struct gantry_module *module;
    struct gantry_kernel *kernel;
    struct gantry_buffer *buffers[JOB_BUFFERS];
    struct gantry_list *list; /* finished: the job's launches */
    unsigned char *args;
};

static void destroy(struct way *way)
{
    struct job_way *self = (struct job_way *)way;

    gantry_list_destroy(&self->list);
    for (unsigned i = 0; i < self->job->buffer_count; i++)
        gantry_buffer_destroy(&self->buffers[i]);
    gantry_kernel_destroy(&self->kernel);
    gantry_module_unload(&self->module);
    free(self->args);
    free(self);
}

static bool run(struct way *way, struct timing *timing)
{
    struct job_way *self = (struct job_way *)way;
    struct gantry_point point;
    uint64_t start = stopwatch_read();
    bool done = gantry_queue_submit(self->side->queue, self->list, NULL, 0, &point) == GANTRY_OK ||
                gantry_side_failed();

    done = done && gantry_side_wait(point);
    timing->ns = stopwatch_between(start, stopwatch_read());
    return done;
}

/* ---- Making --------------------------------------------------------------------------------- */

static bool make_kernel(struct job_way *self, struct gantry_size block)
{
    const struct gantry_module_params module = {.file = self->job->file};
    const struct gantry_kernel_params kernel = {.block = block};

    return gantry_module_load(self->side->device, &module, &self->module) == GANTRY_OK &&
           gantry_kernel_create(self->module, self->job->source.name, &kernel, &self->kernel) ==
               GANTRY_OK;
}

/* In the arguments the addresses take their places. */
static bool make_buffers(struct job_way *self)
{
    for (unsigned i = 0; i < self->job->buffer_count; i++) {
        const struct job_buffer *buffer = &self->job->buffers[i];
        const struct gantry_buffer_params params = {.size = buffer->size, .label = buffer->name};
        gantry_ptr address;

        if (gantry_buffer_create(self->side->device, &params, &self->buffers[i]) != GANTRY_OK)
            return false;
        address = gantry_buffer_address(self->buffers[i]);
        memcpy(self->args + buffer->offset, &address, sizeof address);
    }
    return true;
}

static void record_launch(const struct job_way *self, struct gantry_list *list)
{
    gantry_list_launch(list, self->kernel, self->job->threads, self->args,
                       self->job->source.args_size);
}

static void record_initial(const struct job_way *self, struct gantry_list *list)
{
    for (unsigned i = 0; i < self->job->buffer_count; i++) {
        const struct job_buffer *buffer = &self->job->buffers[i];
        uint64_t whole = buffer->size & ~UINT64_C(3);
        static const uint32_t zeros;

        if (buffer->initial) {
            gantry_list_upload(list, self->buffers[i], 0, buffer->initial, buffer->size);
        } else {
            gantry_list_fill(list, self->buffers[i], 0, whole, 0);
            gantry_list_upload(list, self->buffers[i], whole, &zeros, buffer->size - whole);
        }
    }
}

/* Submits what was recorded, and waits; takes the list. */
static bool finish_once(const struct job_way *self, struct gantry_list *list)
{
    struct gantry_point point;
    bool done = gantry_queue_submit(self->side->queue, list, NULL, 0, &point) == GANTRY_OK &&
                gantry_wait(point, GANTRY_FOREVER) == GANTRY_OK;

    gantry_list_destroy(&list);
    return done;
}

static bool initialise(struct job_way *self)
{
    struct gantry_list *list;

    if (gantry_list_create(self->side->device, NULL, &list) != GANTRY_OK)
        return false;
    record_initial(self, list);
    return finish_once(self, list);
}

static bool make_list(struct job_way *self)
{
    if (gantry_list_create(self->side->device, NULL, &self->list) != GANTRY_OK)
        return false;
    for (unsigned i = 0; i < self->job->repeats; i++)
        record_launch(self, self->list);
    return gantry_list_finish(self->list) == GANTRY_OK;
}

struct way *job_way(struct gantry_side *side, const struct job *job, struct gantry_size block)
{
    struct job_way *self = calloc(1, sizeof *self);

    if (!self)
        return NULL;
    *self = (struct job_way){.way = {.run = run, .destroy = destroy}, .side = side, .job = job};
    self->args = malloc(job->source.args_size ? job->source.args_size : 1);
    if (self->args)
        memcpy(self->args, job->args, job->source.args_size);
    if (self->args && make_kernel(self, block) && make_buffers(self) && initialise(self) &&
        make_list(self))
        return &self->way;
    destroy(&self->way);
    return NULL;
}

bool job_way_result(struct way *way, void *result)
{
    struct job_way *self = (struct job_way *)way;
    unsigned char *to = result;
    struct gantry_list *list;

    if (gantry_list_create(self->side->device, NULL, &list) != GANTRY_OK)
        return gantry_side_failed();
    record_initial(self, list);
    record_launch(self, list);
    for (unsigned i = 0; i < self->job->buffer_count; i++) {
        gantry_list_download(list, self->buffers[i], 0, to, self->job->buffers[i].size);
        to += self->job->buffers[i].size;
    }
    return finish_once(self, list) || gantry_side_failed();
}
