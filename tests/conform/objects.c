/* Objects that live as long as a case, and the steps that most cases take with them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* ---- What a case has made ------------------------------------------------------------------- */

static void *keep(struct conform *c, enum object_kind kind, void *object)
{
    struct run *run = c->run;

    if (run->made_count == run->made_capacity) {
        size_t capacity = run->made_capacity ? 2 * run->made_capacity : 64;
        struct made *made = realloc(run->made, capacity * sizeof(*made));

        CHECK(made, "no host memory to remember %zu objects", capacity);
        run->made = made;
        run->made_capacity = capacity;
    }
    run->made[run->made_count++] = (struct made){kind, object};
    return object;
}

static void destroy(struct made made)
{
    switch (made.kind) {
    case OBJECT_WORDS:
        free(made.object);
        break;
    case OBJECT_BUFFER:
        gantry_buffer_destroy((struct gantry_buffer **)&made.object);
        break;
    case OBJECT_LIST:
        gantry_list_destroy((struct gantry_list **)&made.object);
        break;
    case OBJECT_KERNEL:
        gantry_kernel_destroy((struct gantry_kernel **)&made.object);
        break;
    case OBJECT_QUEUE:
        gantry_queue_destroy((struct gantry_queue **)&made.object);
        break;
    case OBJECT_GANTRY:
        gantry_close((struct gantry **)&made.object);
        break;
    }
}

/* Host memory must outlive the downloads that a failed case may have left behind. */
static void finish_work(struct conform *c)
{
    struct gantry_point point;
    struct gantry_list *list;

    if (gantry_list_create(c->device, NULL, &list) != GANTRY_OK)
        return;
    if (gantry_queue_submit(c->queue, list, NULL, 0, &point) == GANTRY_OK)
        gantry_wait(point, GANTRY_FOREVER);
    gantry_list_destroy(&list);
}

void destroy_made(struct conform *c)
{
    struct run *run = c->run;

    finish_work(c);
    while (run->made_count)
        destroy(run->made[--run->made_count]);
}

static void drop(struct conform *c, void *object)
{
    struct run *run = c->run;
    size_t i = run->made_count;

    while (i > 0 && run->made[i - 1].object != object)
        i--;
    CHECK(i > 0, "the case drops an object that it did not make");
    destroy(run->made[i - 1]);
    memmove(&run->made[i - 1], &run->made[i], (run->made_count - i) * sizeof(*run->made));
    run->made_count--;
}

void drop_buffer(struct conform *c, struct gantry_buffer *buffer)
{
    drop(c, buffer);
}

void drop_list(struct conform *c, struct gantry_list *list)
{
    drop(c, list);
}

void drop_kernel(struct conform *c, struct gantry_kernel *kernel)
{
    drop(c, kernel);
}

void drop_queue(struct conform *c, struct gantry_queue *queue)
{
    drop(c, queue);
}

/* ---- Makers --------------------------------------------------------------------------------- */

struct gantry_buffer *make_memory(struct conform *c, enum gantry_memory kind, uint64_t size)
{
    struct gantry_buffer_params params = {.size = size, .memory = kind, .zero = true};
    struct gantry_buffer *buffer;

    OK(gantry_buffer_create(c->device, &params, &buffer));
    return keep(c, OBJECT_BUFFER, buffer);
}

struct gantry_buffer *make_buffer(struct conform *c, uint64_t size)
{
    return make_memory(c, GANTRY_MEMORY_DEVICE, size);
}

struct gantry_list *make_list(struct conform *c)
{
    struct gantry_list *list;

    OK(gantry_list_create(c->device, NULL, &list));
    return keep(c, OBJECT_LIST, list);
}

struct gantry_queue *make_queue(struct conform *c)
{
    struct gantry_queue *queue;

    OK(gantry_queue_create(c->device, NULL, &queue));
    return keep(c, OBJECT_QUEUE, queue);
}

void *make_words(struct conform *c, size_t size)
{
    void *words = calloc(1, size);

    CHECK(words, "no host memory: %zu bytes", size);
    return keep(c, OBJECT_WORDS, words);
}

struct gantry_device *make_device_with(struct conform *c, const char *policy)
{
    struct gantry_device *device = NULL;
    struct gantry *g = NULL;
    enum gantry_status status = open_again(c, policy, &g, &device);

    if (g)
        keep(c, OBJECT_GANTRY, g);
    OK(status);
    return device;
}

struct gantry_device *make_device(struct conform *c, const char *batch_size)
{
    char policy[128];

    snprintf(policy, sizeof(policy),
             "[policy]\nbatch_size = %s\nbatch_max_ms = 1000\nstaging_mib = 1\n", batch_size);
    return make_device_with(c, policy);
}

struct gantry_module *load_module(struct conform *c, const char *package)
{
    struct run *run = c->run;
    struct gantry_module_params params = {0};
    char file[4096];

    for (unsigned i = 0; i < run->package_count; i++)
        if (strcmp(run->packages[i].name, package) == 0)
            return run->packages[i].module;
    CHECK(run->package_count < MAX_PACKAGES, "more than %d packages", MAX_PACKAGES);
    snprintf(file, sizeof(file), "%s/%s.gpk", c->options->packages, package);
    params.file = file;
    OK(gantry_module_load(c->device, &params, &run->packages[run->package_count].module));
    snprintf(run->packages[run->package_count].name, sizeof(run->packages[0].name), "%s", package);
    return run->packages[run->package_count++].module;
}

struct gantry_kernel *keep_kernel(struct conform *c, struct gantry_kernel *kernel)
{
    return keep(c, OBJECT_KERNEL, kernel);
}

struct gantry_kernel *make_kernel(struct conform *c, const char *package, const char *name)
{
    return make_kernel_with(c, package, name, NULL);
}

struct gantry_kernel *make_kernel_with(struct conform *c, const char *package, const char *name,
                                       const struct gantry_kernel_params *params)
{
    struct gantry_kernel *kernel;
    enum gantry_status status =
        gantry_kernel_create(load_module(c, package), name, params, &kernel);

    if (status == GANTRY_E_UNSUPPORTED)
        skip(c, "%s", gantry_last_error());
    CHECK(status == GANTRY_OK, "kernel %s/%s: %s: %s", package, name, gantry_status_name(status),
          gantry_last_error());
    return keep(c, OBJECT_KERNEL, kernel);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

struct gantry_point submit(struct conform *c, struct gantry_list *list)
{
    struct gantry_point point;

    OK(gantry_queue_submit(c->queue, list, NULL, 0, &point));
    return point;
}

void submit_and_wait(struct conform *c, struct gantry_list *list)
{
    OK(gantry_wait(submit(c, list), GANTRY_FOREVER));
}

void finish(struct conform *c, struct gantry_list *list)
{
    OK(gantry_list_finish(list));
}

void write_buffer(struct conform *c, struct gantry_buffer *buffer, uint64_t offset,
                  const void *data, uint64_t size)
{
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_upload(list, buffer, offset, data, size));
    submit_and_wait(c, list);
    drop_list(c, list);
}

void read_buffer(struct conform *c, struct gantry_buffer *buffer, uint64_t offset, void *data,
                 uint64_t size)
{
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_download(list, buffer, offset, data, size));
    submit_and_wait(c, list);
    drop_list(c, list);
}

struct gantry_queue_stats stats_of(struct conform *c, struct gantry_queue *queue)
{
    struct gantry_queue_stats stats;

    OK(gantry_queue_stats(queue, &stats));
    return stats;
}
