/* Steps that record, finish, submit and patch lists. */
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct list *draw_list(struct world *world)
{
    int number = any_list(world);

    return number < 0 ? NULL : &world->lists[number];
}

void forget_commands(struct world *world, struct list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        drop_host(world, &list->commands[i]);
    list->count = list->ids = list->section = list->strand = 0;
}

/* ---- Recording ------------------------------------------------------------------------------ */

static bool is_launch(const struct command *command)
{
    return command->kind == STEP || command->kind == HOP;
}

/* Commands of a section that don't wait for each other must not care. */
static bool fits_section(const struct list *list, const struct command *command)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct command *other = &list->commands[i];

        if (list->concurrent && other->section == command->section &&
            other->strand != command->strand && conflict(other, command))
            return false;
    }
    return true;
}

static uint32_t record_launch(struct world *world, struct list *list, const struct command *command)
{
    struct gantry_kernel *kernel = command->kind == STEP ? world->step : world->hop;
    struct gantry_size threads = {.x = command->threads}, most = {.x = command->max_threads};
    union arguments arguments;
    size_t size = arguments_of(world, command, &arguments);

    return command->patchable
               ? gantry_list_launch_patchable(list->handle, kernel, threads, most, &arguments, size)
               : gantry_list_launch(list->handle, kernel, threads, &arguments, size);
}

static uint32_t record_rows(const struct world *world, struct list *list,
                            const struct command *command)
{
    struct gantry_buffer *to = world->buffers[command->to.buffer].handle;
    struct gantry_buffer *from = world->buffers[command->from.buffer].handle;

    if (command->kind == COPY)
        return gantry_list_copy_rect(list->handle, to, command->to.offset, from,
                                     command->from.offset, &command->rect);
    if (command->kind == UPLOAD)
        return gantry_list_upload_rect(list->handle, to, command->to.offset, command->host,
                                       &command->rect);
    return gantry_list_download_rect(list->handle, from, command->from.offset, command->host,
                                     &command->rect);
}

static uint32_t record(struct world *world, struct list *list, const struct command *command)
{
    struct gantry_buffer *to = world->buffers[command->to.buffer].handle;
    struct gantry_buffer *from = world->buffers[command->from.buffer].handle;
    uint64_t size = command->rect.width;

    if (is_launch(command))
        return record_launch(world, list, command);
    if (command->kind == FILL)
        return gantry_list_fill(list->handle, to, command->to.offset, size, command->add);
    if (command->rectangle)
        return record_rows(world, list, command);
    if (command->kind == COPY)
        return gantry_list_copy(list->handle, to, command->to.offset, from, command->from.offset,
                                size);
    if (command->kind == UPLOAD)
        return gantry_list_upload(list->handle, to, command->to.offset, command->host, size);
    return gantry_list_download(list->handle, from, command->from.offset, command->host, size);
}

static void check_id(struct world *world, struct list *list, uint32_t id)
{
    struct gantry_list_info info;

    if (id != ++list->ids)
        DIFFER(world, "a command's id is %u instead of %u: %s", id, list->ids, gantry_last_error());
    EXPECT(world, GANTRY_OK, gantry_list_describe(list->handle, &info));
    if (info.commands != list->ids || info.finished != list->finished)
        DIFFER(world, "a list says that it has %u commands instead of %u", info.commands,
               list->ids);
}

/* Does nothing, and so holds nothing. */
static bool is_empty(const struct command *command)
{
    if (is_launch(command))
        return command->threads == 0 && !command->patchable;
    return command->rect.width == 0 || command->rect.rows == 0;
}

static void record_one(struct world *world, struct list *list)
{
    struct command command;
    bool drawn = draw_command(world, true, &command);

    command.concurrent = list->concurrent;
    command.section = list->section;
    command.strand = list->strand;
    command.patchable = one_in(world, 2);
    if (!drawn || list->count == COMMANDS || !fits_section(list, &command)) {
        drop_host(world, &command);
        return;
    }
    command.id = record(world, list, &command);
    check_id(world, list, command.id);
    if (!list->concurrent)
        list->section++;
    else if (!list->ordered)
        list->strand++;
    if (is_empty(&command))
        drop_host(world, &command);
    else
        list->commands[list->count++] = command;
}

void step_record(struct world *world)
{
    struct list *list = draw_list(world);

    if (!list || list->finished || list->failure != GANTRY_OK)
        return;
    if (one_in(world, 6))
        check_id(world, list, gantry_list_label(list->handle, one_in(world, 2) ? "label" : NULL));
    for (uint32_t left = 1 + below(world, 12); left && !world->difference[0]; left--)
        record_one(world, list);
}

void step_section(struct world *world)
{
    struct list *list = draw_list(world);

    if (!list || list->finished || list->failure != GANTRY_OK)
        return;
    if (!list->concurrent) {
        EXPECT(world, GANTRY_OK, gantry_list_begin_concurrent(list->handle));
        list->concurrent = true;
    } else if (list->ordered) {
        EXPECT(world, GANTRY_OK, gantry_list_end_ordered(list->handle));
        list->ordered = false;
        list->strand++;
    } else if (one_in(world, 2)) {
        EXPECT(world, GANTRY_OK, gantry_list_begin_ordered(list->handle));
        list->ordered = true;
    } else {
        EXPECT(world, GANTRY_OK, gantry_list_end_concurrent(list->handle));
        list->concurrent = false;
        list->section++;
    }
}

/* ---- Patching ------------------------------------------------------------------------------- */

static struct command *draw_patchable(struct world *world, struct list *list)
{
    uint32_t first = list->count ? below(world, list->count) : 0;

    for (uint32_t i = 0; i < list->count; i++) {
        struct command *command = &list->commands[(first + i) % list->count];

        if (is_launch(command) && command->patchable)
            return command;
    }
    return NULL;
}

static void patch_threads(struct world *world, struct list *list, struct command *command)
{
    command->threads = below(world, command->max_threads + 1);
    EXPECT(world, GANTRY_OK,
           gantry_list_set_threads(list->handle, command->id,
                                   (struct gantry_size){.x = command->threads}));
}

static void patch_add(struct world *world, struct list *list, struct command *command)
{
    size_t offset =
        command->kind == STEP ? offsetof(struct step_args, add) : offsetof(struct hop_args, add);

    command->add = draw(world) % 1000;
    EXPECT(world, GANTRY_OK,
           gantry_list_set_arg(list->handle, command->id, (uint32_t)offset, &command->add,
                               sizeof(command->add)));
}

/* Fewer words, elsewhere in the buffer where no other strand minds. */
static void patch_all(struct world *world, struct list *list, struct command *command)
{
    uint64_t room = world->buffers[command->to.buffer].size;
    union arguments arguments;
    size_t size;

    if (!is_alive(world, &command->to) ||
        (command->kind == HOP && !is_alive(world, &command->from)))
        return;
    command->n = command->kind == STEP
                     ? 1 + below(world, command->n)
                     : 1u << below(world, (uint32_t)__builtin_ctz(command->n) + 1);
    command->add = draw(world) % 1000;
    if (!command->concurrent)
        command->to.offset = below(world, (uint32_t)(room / 4 - command->n) + 1) * 4;
    size = arguments_of(world, command, &arguments);
    EXPECT(world, GANTRY_OK, gantry_list_set_args(list->handle, command->id, &arguments, size));
}

static void patch(struct world *world, struct list *list)
{
    struct command *command = draw_patchable(world, list);

    if (!command)
        return;
    switch (below(world, 3)) {
    case 0:
        patch_threads(world, list, command);
        break;
    case 1:
        patch_add(world, list, command);
        break;
    default:
        patch_all(world, list, command);
    }
}

void step_patch(struct world *world)
{
    struct list *list = draw_list(world);

    if (list && list->finished)
        patch(world, list);
}

/* ---- Finishing and submitting --------------------------------------------------------------- */

/* A launch knows only an address: to submit it after its buffer's end is the caller's mistake. */
static bool has_dead(const struct world *world, const struct list *list, bool launches)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct command *command = &list->commands[i];
        bool writes = command->kind != DOWNLOAD;
        bool reads = command->kind == HOP || command->kind == COPY || command->kind == DOWNLOAD;

        if (is_launch(command) == launches && ((writes && !is_alive(world, &command->to)) ||
                                               (reads && !is_alive(world, &command->from))))
            return true;
    }
    return false;
}

/* It will never run again. */
static bool is_stuck(const struct world *world, const struct list *list)
{
    return list->failure != GANTRY_OK || has_dead(world, list, true) ||
           has_dead(world, list, false);
}

void step_list(struct world *world)
{
    struct list *list = &world->lists[below(world, LISTS)];

    if (!list->handle) {
        *list = (struct list){0};
        EXPECT(world, GANTRY_OK, gantry_list_create(world->device, NULL, &list->handle));
    } else if (one_in(world, is_stuck(world, list) ? 2 : 16)) {
        forget_commands(world, list);
        gantry_list_destroy(&list->handle);
    }
}

/* Most lists are to grow before anything becomes of them. */
static bool is_short(struct world *world, const struct list *list)
{
    return !list->finished && list->count < COMMANDS / 4 && !one_in(world, 6);
}

void step_finish(struct world *world)
{
    struct list *list = draw_list(world);
    enum gantry_status expected = GANTRY_OK;

    if (!list || is_short(world, list))
        return;
    if (list->failure != GANTRY_OK)
        expected = list->failure;
    else if (list->finished || list->concurrent || has_dead(world, list, false))
        expected = GANTRY_E_INVALID_STATE;
    EXPECT(world, expected, gantry_list_finish(list->handle));
    list->finished = list->finished || expected == GANTRY_OK;
}

static bool launches_anything(const struct list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct command *command = &list->commands[i];

        if (is_launch(command) && (command->patchable ? command->max_threads : command->threads))
            return true;
    }
    return false;
}

static enum gantry_status expected_of(const struct world *world, const struct list *list,
                                      const struct queue *queue)
{
    if (list->failure != GANTRY_OK)
        return list->failure;
    if (list->concurrent)
        return GANTRY_E_INVALID_STATE;
    if (queue->transfer && launches_anything(list))
        return GANTRY_E_INVALID_ARGUMENT;
    return has_dead(world, list, false) ? GANTRY_E_INVALID_STATE : GANTRY_OK;
}

/* Two queues must not deliver to the same host memory at once. */
static void wait_for_downloads(struct world *world, const struct list *list,
                               const struct queue *queue)
{
    for (uint32_t q = 0; q < QUEUES; q++) {
        if (!list->latest.queue || world->queues[q].handle != list->latest.queue ||
            &world->queues[q] == queue)
            continue;
        EXPECT(world, GANTRY_OK, gantry_wait(list->latest, GANTRY_FOREVER));
        reached(world, q, list->latest.value);
    }
}

/* Waits that need not be: a point that may have been reached, one of the queue itself, none. */
static uint32_t add_waits(struct world *world, struct gantry_point *waits, uint32_t count)
{
    const struct queue *other = &world->queues[any_queue(world)];

    if (one_in(world, 3))
        waits[count++] = (struct gantry_point){NULL, 0};
    if (one_in(world, 3))
        waits[count++] = (struct gantry_point){other->handle, other->given};
    return count;
}

static void note_waits(struct world *world, struct queue *queue, const struct gantry_point *waits,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t q = 0; q < QUEUES; q++)
            if (waits[i].queue && world->queues[q].handle == waits[i].queue &&
                queue->known[q] < waits[i].value)
                queue->known[q] = waits[i].value;
}

static void submit(struct world *world, struct list *list, uint32_t number)
{
    struct queue *queue = &world->queues[number];
    struct gantry_point waits[QUEUES + 2], point = {NULL, 0};
    uint32_t count = find_waits(world, number, list->commands, list->count, waits);

    count = add_waits(world, waits, count);
    wait_for_downloads(world, list, queue);
    EXPECT(world, GANTRY_OK,
           gantry_queue_submit(queue->handle, list->handle, waits, count, &point));
    if (point.queue != queue->handle || point.value <= queue->given)
        DIFFER(world, "a submission's point is %" PRIu64 " after %" PRIu64, point.value,
               queue->given);
    note_waits(world, queue, waits, count);
    submitted(world, number, point.value, list->commands, list->count);
    list->latest = point;
    if (!list->finished)
        forget_commands(world, list);
}

/* Before it is read again, the host memory of uploads may change once the list has run. */
static void rewrite_uploads(struct world *world, struct list *list)
{
    for (uint32_t q = 0; list->latest.queue && q < QUEUES; q++) {
        if (world->queues[q].handle != list->latest.queue)
            continue;
        EXPECT(world, GANTRY_OK, gantry_wait(list->latest, GANTRY_FOREVER));
        reached(world, q, list->latest.value);
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (list->commands[i].kind == UPLOAD)
            draw_bytes(world, list->commands[i].host, list->commands[i].host_size);
}

void step_submit(struct world *world)
{
    struct list *list = draw_list(world);
    uint32_t number = (uint32_t)any_queue(world);
    struct queue *queue = &world->queues[number];
    struct gantry_point point = {queue->handle, 1};
    enum gantry_status expected;

    if (!list || is_short(world, list))
        return;
    expected = expected_of(world, list, queue);
    if (expected != GANTRY_OK) {
        EXPECT(world, expected, gantry_queue_submit(queue->handle, list->handle, NULL, 0, &point));
        if (point.queue || point.value)
            DIFFER(world, "a refused submission has a point");
        return;
    }
    if (has_dead(world, list, true))
        return;
    if (one_in(world, 3))
        rewrite_uploads(world, list);
    submit(world, list, number);
    for (uint32_t again = below(world, 4); list->finished && again; again--) {
        patch(world, list);
        submit(world, list, number);
    }
}
