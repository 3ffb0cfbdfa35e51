#include "races.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "addresses.h"
#include "buffer.h"
#include "context.h"
#include "list.h"
#include "module.h"
#include "reach.h"

/* Bytes first to end - 1 that a command can touch. */
struct access {
    uint64_t first, end;
    const struct command *command;
    uint32_t field; /* of a launch: which argument; of a copy: 0 for the target */
    bool write;
    bool stated; /* the kernel says how far it reaches */
};

struct accesses {
    struct access *all;
    uint32_t count;
};

/* ---- What a section touches ----------------------------------------------------------------- */

static void add(struct accesses *accesses, const struct command *command, uint32_t field,
                bool write, uint64_t first, uint64_t size)
{
    if (size)
        accesses->all[accesses->count++] = (struct access){.first = first,
                                                           .end = first + size,
                                                           .command = command,
                                                           .field = field,
                                                           .write = write,
                                                           .stated = true};
}

/* With the device's lock held. A pointer that holds nothing reaches nothing. */
static void add_launch(struct accesses *accesses, const struct gantry_list *list,
                       const struct command *command)
{
    const struct gantry_kernel_source *source = command->launch.kernel->source;
    const uint8_t *args = patch_args(list, &command->launch);
    const struct address_range *range;
    struct reach reach;

    for (uint32_t i = 0; args && i < source->field_count; i++) {
        if (!reach_read(source, i, args, &reach) || reach.bytes == 0)
            continue;
        range = addresses_find(&list->object.device->addresses, reach.address);
        if (!range)
            continue;
        add(accesses, command, i, reach.field->written, reach.address,
            reach.stated ? reach.bytes : range->end - reach.address);
        accesses->all[accesses->count - 1].stated = reach.stated;
    }
}

/* From the first byte of a rectangle to its last. */
static uint64_t span(uint64_t size, uint64_t rows, uint64_t pitch)
{
    return rows > 1 ? (rows - 1) * pitch + size : size;
}

static void add_copy(struct accesses *accesses, const struct command *command)
{
    const struct command_copy *copy = &command->copy;

    add(accesses, command, 0, true, gantry_buffer_address(copy->to) + copy->to_offset,
        span(copy->size, copy->rows, copy->to_pitch));
    add(accesses, command, 1, false, gantry_buffer_address(copy->from) + copy->from_offset,
        span(copy->size, copy->rows, copy->from_pitch));
}

static void add_command(struct accesses *accesses, const struct gantry_list *list,
                        const struct command *command)
{
    const struct command_transfer *transfer = &command->transfer;

    switch (command->kind) {
    case COMMAND_LAUNCH:
        add_launch(accesses, list, command);
        break;
    case COMMAND_COPY:
        add_copy(accesses, command);
        break;
    case COMMAND_FILL:
        add(accesses, command, 0, true,
            gantry_buffer_address(command->fill.buffer) + command->fill.offset, command->fill.size);
        break;
    case COMMAND_UPLOAD:
    case COMMAND_DOWNLOAD:
        add(accesses, command, 0, command->kind == COMMAND_UPLOAD,
            gantry_buffer_address(transfer->buffer) + transfer->offset,
            span(transfer->size, transfer->rows, transfer->pitch));
        break;
    }
}

/* How many ranges the commands can have. */
static size_t most_accesses(const struct command *first, const struct command *end)
{
    size_t most = 0;

    for (const struct command *command = first; command < end; command++)
        most += command->kind == COMMAND_LAUNCH ? command->launch.kernel->source->field_count : 2;
    return most;
}

/* ---- Telling -------------------------------------------------------------------------------- */

static struct race_side side_of(const struct access *access)
{
    /* Other commands have no object of their kind: its number will do. */
    static const char kinds[COMMAND_DOWNLOAD + 1];

    return access->command->kind == COMMAND_LAUNCH
               ? (struct race_side){access->command->launch.kernel->source, access->field}
               : (struct race_side){&kinds[access->command->kind], access->field};
}

static bool same(const struct race_side *a, const struct race_side *b)
{
    return a->what == b->what && a->which == b->which;
}

/* Whether the pair is the first of its kind; then it no longer is. */
static bool is_new(struct races *races, const struct access *a, const struct access *b)
{
    struct race_side x = side_of(a), y = side_of(b);

    for (uint32_t i = 0; i < races->count; i++) {
        const struct race_side *pair = races->pairs[i];

        if ((same(&pair[0], &x) && same(&pair[1], &y)) ||
            (same(&pair[0], &y) && same(&pair[1], &x)))
            return false;
    }
    if (races->count == RACES_MAX)
        return false;
    races->pairs[races->count][0] = x;
    races->pairs[races->count++][1] = y;
    return true;
}

static void describe(const struct gantry_list *list, const struct access *access, char *text,
                     size_t size)
{
    static const char *const kinds[] = {"launch", "copy", "fill", "upload", "download"};
    const struct command *command = access->command;
    const char *label =
        command->label == NO_LABEL ? "" : (const char *)list->bytes.data + command->label;
    const struct gantry_kernel_source *source =
        command->kind == COMMAND_LAUNCH ? command->launch.kernel->source : NULL;

    snprintf(text, size, "%s %u%s%.60s%s%s%.60s%s%.60s (%s%s)", kinds[command->kind], command->id,
             label[0] ? " \"" : "", label, label[0] ? "\"" : "", source ? " of kernel " : "",
             source ? source->name : "", source ? ", argument " : "",
             source ? source->fields[access->field].name : "", access->write ? "writes" : "reads",
             access->stated ? "" : ", how far is not stated");
}

static void warn(const struct gantry_list *list, const struct access *a, const struct access *b)
{
    struct gantry_device *device = list->object.device;
    uint64_t first = a->first > b->first ? a->first : b->first;
    uint64_t end = a->end < b->end ? a->end : b->end;
    char earlier[400], later[400], buffer[100] = "a buffer";
    const struct address_range *range;

    describe(list, a->command->id < b->command->id ? a : b, earlier, sizeof(earlier));
    describe(list, a->command->id < b->command->id ? b : a, later, sizeof(later));
    pthread_mutex_lock(&device->lock);
    range = addresses_find(&device->addresses, first);
    if (range) {
        snprintf(buffer, sizeof(buffer), "buffer \"%.80s\"", range->buffer->label);
        first -= range->first;
        end -= range->first;
    }
    pthread_mutex_unlock(&device->lock);
    log_write(&device->g->log, GANTRY_LOG_WARNING,
              "list \"%s\": %s and %s run at the same time, and both can touch bytes %" PRIu64
              " to %" PRIu64 " of %s; order them%s",
              list->label, earlier, later, first, end - 1, buffer,
              a->stated && b->stated ? ""
                                     : ", or state in the kernel's source how far it reaches "
                                       "(REACH)");
}

/* ---- Looking -------------------------------------------------------------------------------- */

/* Of the ranges so far: the one that goes furthest, and the one that does so among those of other
 * strands. One of the two meets a range that begins later if any does that matters. */
struct furthest {
    const struct access *best, *other;
};

static void extend(struct furthest *furthest, const struct access *access)
{
    const struct access *best = furthest->best, *other = furthest->other;

    if (!best || access->end > best->end) {
        if (best && best->command->strand != access->command->strand)
            furthest->other = best;
        furthest->best = access;
    } else if (access->command->strand != best->command->strand &&
               (!other || access->end > other->end)) {
        furthest->other = access;
    }
}

/* A range of another strand that goes on behind the access's beginning; NULL: there is none. */
static const struct access *meet(const struct furthest *furthest, const struct access *access)
{
    const struct access *found = furthest->best;

    if (found && found->command->strand == access->command->strand)
        found = furthest->other;
    return found && found->end > access->first ? found : NULL;
}

static int compare(const void *left, const void *right)
{
    const struct access *a = left, *b = right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->command->id < b->command->id ? -1 : a->command->id > b->command->id;
}

static void sweep(struct gantry_list *list, struct accesses *accesses)
{
    struct furthest all = {0}, writes = {0};

    qsort(accesses->all, accesses->count, sizeof(*accesses->all), compare);
    for (uint32_t i = 0; i < accesses->count; i++) {
        const struct access *access = &accesses->all[i];
        const struct access *other = meet(access->write ? &all : &writes, access);

        if (other && is_new(&list->races, other, access))
            warn(list, other, access);
        extend(&all, access);
        if (access->write)
            extend(&writes, access);
    }
}

static void look_at_section(struct gantry_list *list, const struct command *first,
                            const struct command *end)
{
    struct accesses accesses = {0};

    accesses.all = malloc(most_accesses(first, end) * sizeof(*accesses.all));
    if (!accesses.all)
        return;
    pthread_mutex_lock(&list->object.device->lock);
    for (const struct command *command = first; command < end; command++)
        add_command(&accesses, list, command);
    pthread_mutex_unlock(&list->object.device->lock);
    sweep(list, &accesses);
    free(accesses.all);
}

void races_look(struct gantry_list *list)
{
    const struct command *command = list->commands, *end = command + list->command_count;

    if (list->races.looked || list->races.count == RACES_MAX ||
        list->object.device->g->log.level < GANTRY_LOG_WARNING)
        return;
    while (command < end) {
        const struct command *first = command;

        while (command < end && command->section == first->section)
            command++;
        if (command[-1].strand != first->strand)
            look_at_section(list, first, command);
    }
    list->races.looked = list->state == LIST_FINISHED;
}
