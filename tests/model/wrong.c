/* Steps that call gantry wrongly: each call has one right answer and changes nothing else. */
#include "model.h"

#include <stdint.h>
#include <string.h>

static const struct gantry_size one = {.x = 1};

static struct buffer *draw_live_buffer(struct world *world)
{
    struct buffer *buffer = &world->buffers[below(world, BUFFERS)];

    return buffer->handle ? buffer : NULL;
}

/* ---- Objects -------------------------------------------------------------------------------- */

static void wrong_buffer(struct world *world)
{
    static const struct {
        struct gantry_buffer_params params;
        enum gantry_status status;
    } wrong[] = {
        {{.size = 0}, GANTRY_E_INVALID_ARGUMENT},
        {{.size = 4, .memory = (enum gantry_memory)7}, GANTRY_E_INVALID_ARGUMENT},
        {{.size = 4, .memory = GANTRY_MEMORY_REGISTERED}, GANTRY_E_INVALID_ARGUMENT},
        {{.size = UINT64_MAX}, GANTRY_E_LIMIT},
    };
    struct gantry_buffer *buffer = world->foreign_buffer;
    uint32_t i = below(world, sizeof(wrong) / sizeof(wrong[0]));

    EXPECT(world, wrong[i].status, gantry_buffer_create(world->device, &wrong[i].params, &buffer));
    if (buffer)
        DIFFER(world, "a buffer that was refused has a handle");
}

static void wrong_kernel(struct world *world)
{
    const struct gantry_kernel_params layout = {.layout_hash = 1}, huge = {.block = {1u << 20}};
    struct gantry_kernel *kernel;

    EXPECT(world, GANTRY_E_NOT_FOUND,
           gantry_kernel_create(world->module, "nothing", NULL, &kernel));
    EXPECT(world, GANTRY_E_LAYOUT, gantry_kernel_create(world->module, "step", &layout, &kernel));
    EXPECT(world, GANTRY_E_LIMIT, gantry_kernel_create(world->module, "step", &huge, &kernel));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT,
           gantry_kernel_create(world->module, NULL, NULL, &kernel));
}

static void wrong_point(struct world *world)
{
    struct gantry_point point = {world->queues[any_queue(world)].handle, UINT64_MAX};

    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_wait(point, 0));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_poll(point));
    EXPECT(world, GANTRY_OK, gantry_poll((struct gantry_point){NULL, 3}));
}

void step_wrong_object(struct world *world)
{
    struct gantry_queue *queue;
    struct gantry_list *list;

    switch (below(world, 4)) {
    case 0:
        wrong_buffer(world);
        break;
    case 1:
        wrong_kernel(world);
        break;
    case 2:
        wrong_point(world);
        break;
    default:
        EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_queue_create(NULL, NULL, &queue));
        EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_list_create(NULL, NULL, &list));
        EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_queue_flush(NULL));
    }
}

/* ---- Streamed commands ---------------------------------------------------------------------- */

static enum gantry_status wrong_launch(struct world *world, struct gantry_queue *queue,
                                       bool transfer, struct gantry_point *point)
{
    const struct step_args args = {0};
    const struct gantry_size plane = {1, 2, 1};

    if (transfer)
        return gantry_queue_launch(queue, world->step, one, &args, sizeof(args), point);
    switch (below(world, 4)) {
    case 0:
        return gantry_queue_launch(queue, NULL, one, &args, sizeof(args), point);
    case 1:
        return gantry_queue_launch(queue, world->step, one, &args, sizeof(args) - 1, point);
    case 2:
        return gantry_queue_launch(queue, world->step, one, NULL, sizeof(args), point);
    default:
        return gantry_queue_launch(queue, world->step, plane, &args, sizeof(args), point);
    }
}

/* One of each kind of mistake; *status gets the answer to it. */
static enum gantry_status wrong_transfer(struct world *world, struct gantry_queue *queue,
                                         const struct buffer *buffer, enum gantry_status *status,
                                         struct gantry_point *point)
{
    const struct gantry_rect narrow = {.width = 8, .rows = 2, .to_pitch = 4};
    const struct gantry_rect endless = {.width = 8, .rows = UINT64_MAX / 4, .to_pitch = 8};
    struct gantry_buffer *handle = buffer->handle;
    uint64_t size = buffer->size;
    uint32_t word = 0;

    *status = GANTRY_E_INVALID_ARGUMENT;
    switch (below(world, 11)) {
    case 0:
        return gantry_queue_fill(queue, handle, size / 4 * 4, 4, 0, point);
    case 1:
        return gantry_queue_fill(queue, handle, 1, 0, 0, point);
    case 2:
        return gantry_queue_fill(queue, NULL, 0, 4, 0, point);
    case 3:
        return gantry_queue_copy(queue, handle, 0, handle, 0, 1, point);
    case 4:
        return gantry_queue_upload(queue, handle, size, &word, 1, point);
    case 5:
        return gantry_queue_download(queue, handle, 0, NULL, 1, point);
    case 6:
        return gantry_queue_upload_rect(queue, handle, 0, &word, &narrow, point);
    case 7:
        return gantry_queue_upload_rect(queue, handle, 0, &word, NULL, point);
    case 8:
        *status = GANTRY_E_OVERFLOW;
        return gantry_queue_download_rect(queue, handle, 0, &word, &endless, point);
    case 9:
        *status = GANTRY_E_OVERFLOW;
        return gantry_queue_upload(queue, handle, 2, &word, UINT64_MAX, point);
    default:
        *status = GANTRY_E_WRONG_DEVICE;
        return gantry_queue_copy(queue, world->foreign_buffer, 0, handle, 0, 1, point);
    }
}

void step_wrong_stream(struct world *world)
{
    struct queue *queue = &world->queues[any_queue(world)];
    const struct buffer *buffer = draw_live_buffer(world);
    enum gantry_status status = GANTRY_E_INVALID_ARGUMENT;
    struct gantry_point point = {queue->handle, 1};

    if (!buffer || one_in(world, 4))
        EXPECT(world, status, wrong_launch(world, queue->handle, queue->transfer, &point));
    else
        /* The answer is known only after the call. */
        for (enum gantry_status found =
                 wrong_transfer(world, queue->handle, buffer, &status, &point);
             found != GANTRY_OK; found = GANTRY_OK)
            EXPECT(world, status, found);
    if (point.queue || point.value)
        DIFFER(world, "a refused command has a point");
}

/* ---- Recording ------------------------------------------------------------------------------ */

/* A mistake that the list keeps. */
static enum gantry_status spoil(struct world *world, struct list *list)
{
    const struct buffer *buffer = draw_live_buffer(world);
    struct gantry_list *handle = list->handle;
    const struct step_args args = {0};
    uint32_t id = 0;

    if (!buffer || one_in(world, 3)) {
        bool begin = one_in(world, 2);

        if (begin == list->concurrent)
            EXPECT(world, GANTRY_E_INVALID_STATE,
                   begin ? gantry_list_begin_concurrent(handle)
                         : gantry_list_end_concurrent(handle));
        else
            EXPECT(world, GANTRY_E_INVALID_STATE,
                   list->ordered ? gantry_list_begin_ordered(handle)
                                 : gantry_list_end_ordered(handle));
        return GANTRY_E_INVALID_STATE;
    }
    switch (below(world, 5)) {
    case 0:
        id = gantry_list_launch(handle, world->step, one, &args, 3);
        break;
    case 1:
        id = gantry_list_launch_patchable(handle, NULL, one, one, &args, sizeof(args));
        break;
    case 2:
        id = gantry_list_launch_blocks(handle, world->step, one, &args, sizeof(args));
        break;
    case 3:
        id = gantry_list_upload(handle, buffer->handle, buffer->size, &args, 1);
        break;
    default:
        id = gantry_list_copy(handle, buffer->handle, 0, NULL, 0, 1);
    }
    if (id)
        DIFFER(world, "a wrong command was recorded as %u", id);
    return GANTRY_E_INVALID_ARGUMENT;
}

void step_wrong_record(struct world *world)
{
    int number = any_list(world);
    struct list *list = number < 0 ? NULL : &world->lists[number];

    if (gantry_list_label(NULL, "label") || gantry_list_fill(NULL, NULL, 0, 0, 0))
        DIFFER(world, "something was recorded into no list");
    if (!list)
        return;
    if (!list->finished && list->failure == GANTRY_OK) {
        if (one_in(world, 3))
            list->failure = spoil(world, list);
        return;
    }
    if (gantry_list_label(list->handle, "late") ||
        gantry_list_launch(list->handle, world->step, one, &one, 0))
        DIFFER(world, "something was recorded into a list that was finished, or had failed");
    EXPECT(world, list->finished ? GANTRY_E_INVALID_STATE : list->failure,
           gantry_list_begin_concurrent(list->handle));
}

/* ---- Patches -------------------------------------------------------------------------------- */

/* The first launch of the list that can be patched, or that can't. */
static const struct command *find_launch(const struct list *list, bool patchable)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct command *command = &list->commands[i];

        if ((command->kind == STEP || command->kind == HOP) && command->patchable == patchable)
            return command;
    }
    return NULL;
}

static void patch_wrongly(struct world *world, struct list *list)
{
    const struct command *good = find_launch(list, true), *fixed = find_launch(list, false);
    const uint32_t words[8] = {0};

    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_list_set_arg(list->handle, 0, 0, words, 4));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT,
           gantry_list_set_threads(list->handle, list->ids + 1, one));
    if (fixed)
        EXPECT(world, GANTRY_E_INVALID_ARGUMENT,
               gantry_list_set_threads(list->handle, fixed->id, one));
    if (!good)
        return;
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT,
           gantry_list_set_args(list->handle, good->id, words, 1));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT,
           gantry_list_set_arg(list->handle, good->id, 20, words, 8));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT,
           gantry_list_set_arg(list->handle, good->id, 0, NULL, 4));
    if (good->max_threads)
        EXPECT(world, GANTRY_E_LIMIT,
               gantry_list_set_threads(list->handle, good->id,
                                       (struct gantry_size){.x = good->max_threads + 1}));
}

void step_wrong_patch(struct world *world)
{
    int number = any_list(world);
    struct list *list = number < 0 ? NULL : &world->lists[number];

    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_list_set_threads(NULL, 1, one));
    if (!list)
        return;
    if (list->finished)
        patch_wrongly(world, list);
    else
        EXPECT(world, list->failure != GANTRY_OK ? list->failure : GANTRY_E_INVALID_STATE,
               gantry_list_set_arg(list->handle, 1, 0, &one, 4));
}

/* ---- Submissions ---------------------------------------------------------------------------- */

void step_wrong_submit(struct world *world)
{
    struct gantry_queue *queue = world->queues[any_queue(world)].handle;
    const struct gantry_point never = {queue, UINT64_MAX}, foreign = {world->foreign_queue, 0};
    struct gantry_list *list = NULL;

    EXPECT(world, GANTRY_OK, gantry_list_create(world->device, NULL, &list));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(queue, NULL, NULL, 0, NULL));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(NULL, list, NULL, 0, NULL));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(queue, list, NULL, 1, NULL));
    EXPECT(world, GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(queue, list, &never, 1, NULL));
    EXPECT(world, GANTRY_E_WRONG_DEVICE, gantry_queue_submit(queue, list, &foreign, 1, NULL));
    EXPECT(world, GANTRY_E_WRONG_DEVICE,
           gantry_queue_submit(queue, world->foreign_list, NULL, 0, NULL));
    gantry_list_destroy(&list);
}
