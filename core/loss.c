/* What is known when a device is lost: the driver's words, and the launches that can have been in
 * flight. A driver says neither which queue nor which launch it was. Points are reached in order,
 * so it was something that had not completed; of a queue most likely the oldest. */
#include "loss.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "launch_text.h"
#include "module.h"
#include "queue.h"
#include "status.h"

enum {
    MOST_LAUNCHES = 64, /* of a submission */
    MOST_LINES = 512,   /* launches in all */
    MOST_FLIGHTS = 32,  /* of a queue */
    MOST_NAMED = 3,     /* in the sentence, of a submission */
    MOST_QUEUES = 4,    /* in the sentence */
    FAULT_SIZE = 4096,
};

struct report {
    struct gantry_device *device;
    struct live live;
    struct text text;
    struct text sentence; /* its end */
    const char *comma;    /* in front of the next launch there */
    uint32_t lines, queues;
};

/* The launches of a submission. */
struct set {
    const struct command *commands;
    const uint8_t *bytes;
    const struct gantry_list *list;
    bool patched;
    uint32_t count;            /* commands that are known */
    uint32_t launches, strays; /* of these, and with a pointer to nothing alive */
};

/* ---- Launches ------------------------------------------------------------------------------- */

/* The launch as it was submitted, or as it was patched since: the table of a list is its latest. */
static struct command read_launch(const struct set *set, uint32_t i, const uint8_t **args)
{
    const struct patches *patches = &set->list->patches;
    struct command command = set->commands[i];
    const struct plan_place *place;
    struct gantry_fold_launch grid;

    *args = set->bytes + command.launch.args;
    if (!set->patched || !command.launch.patchable)
        return command;
    place = &patches->places[command.launch.patchable - 1];
    memcpy(&grid, patches->table + place->launch, sizeof(grid));
    command.launch.blocks = (struct gantry_size){grid.x, grid.y, grid.z};
    *args = patches->table + place->args;
    return command;
}

static const struct gantry_field_info *stray_of(const struct report *report, const struct set *set,
                                                uint32_t i)
{
    const uint8_t *args;
    struct command command = read_launch(set, i, &args);

    return launch_stray(&report->live, &command, args);
}

static struct set read_set(const struct report *report, const struct flight *flight)
{
    struct set set = {.list = flight->list};

    set.commands = flight_commands(flight, &set.count, &set.bytes);
    set.patched = flight->finished && set.list->patches.table;
    for (uint32_t i = 0; i < set.count; i++) {
        if (set.commands[i].kind != COMMAND_LAUNCH)
            continue;
        set.launches++;
        set.strays += stray_of(report, &set, i) != NULL;
    }
    return set;
}

/* Calls `add` for up to `most` launches, first for those with a stray pointer; returns how many. */
static uint32_t each_launch(struct report *report, const struct set *set, uint32_t most,
                            void (*add)(struct report *report, const struct set *set, uint32_t i,
                                        const struct gantry_field_info *stray))
{
    uint32_t added = 0;

    for (int stray = 1; stray >= 0; stray--) {
        for (uint32_t i = 0; i < set->count && added < most; i++) {
            const struct gantry_field_info *field =
                set->commands[i].kind == COMMAND_LAUNCH ? stray_of(report, set, i) : NULL;

            if (set->commands[i].kind == COMMAND_LAUNCH && (field != NULL) == stray) {
                add(report, set, i, field);
                added++;
            }
        }
    }
    return added;
}

/* ---- The sentence --------------------------------------------------------------------------- */

static void name_launch(struct report *report, const struct set *set, uint32_t i,
                        const struct gantry_field_info *stray)
{
    const struct command *command = &set->commands[i];
    struct text *text = &report->sentence;

    text_add(text, "%scommand %" PRIu32 " (kernel %s", report->comma, command->id,
             command->launch.kernel->source->name);
    report->comma = ", ";
    if (command->label != NO_LABEL)
        text_add(text, " \"%s\"", (const char *)set->bytes + command->label);
    if (stray)
        text_add(text, ", whose %s points to no live buffer", stray->name);
    text_add(text, ")");
}

static void add_to_sentence(struct report *report, const struct gantry_queue *queue,
                            const struct flight *flight, const struct set *set)
{
    struct text *text = &report->sentence;
    uint32_t named;

    if (report->queues++ >= MOST_QUEUES)
        return;
    text_add(text, "; queue \"%s\" had %s", queue->label,
             flight->list->batch ? "a streamed batch" : "list ");
    if (!flight->list->batch)
        text_add(text, "\"%s\"", flight->list->label);
    text_add(text, " in flight, with ");
    report->comma = "";
    named = each_launch(report, set, MOST_NAMED, name_launch);
    if (named == 0)
        text_add(text, "no known launch");
    else if (named < set->launches)
        text_add(text, " and %" PRIu32 " launches more", set->launches - named);
}

/* ---- The report ----------------------------------------------------------------------------- */

static void add_launch(struct report *report, const struct set *set, uint32_t i,
                       const struct gantry_field_info *stray)
{
    const uint8_t *args;
    struct command command = read_launch(set, i, &args);

    text_add(&report->text, stray ? "  * " : "    ");
    launch_text(&report->text, &report->live, &command, set->bytes, args);
    text_add(&report->text, "\n");
    report->lines++;
}

static void add_set(struct report *report, const struct flight *flight, const struct set *set)
{
    struct text *text = &report->text;
    uint32_t left = MOST_LINES - report->lines;
    uint32_t listed;

    if (set->launches == 0)
        text_add(text, set->count == flight->count ? ", no launches\n" : "\n");
    else if (set->launches == 1 && set->count == flight->count)
        text_add(text, ", this launch:\n");
    else
        text_add(text, ", one of these %" PRIu32 " launches (the driver does not tell which%s):\n",
                 set->launches, set->strays ? "; * has a pointer to no live buffer" : "");
    listed = each_launch(report, set, left < MOST_LAUNCHES ? left : MOST_LAUNCHES, add_launch);
    if (listed < set->launches)
        text_add(text, "    and %" PRIu32 " launches more, of commands up to %" PRIu32 "\n",
                 set->launches - listed, set->commands[set->count - 1].id);
    if (set->count < flight->count)
        text_add(text,
                 "    of its %" PRIu32 " commands only the first %" PRIu32
                 " were kept; a finished list keeps all\n",
                 flight->count, set->count);
}

static void add_flight(struct report *report, const struct gantry_queue *queue,
                       const struct flight *flight, const struct set *set)
{
    struct text *text = &report->text;

    if (flight->first == flight->last)
        text_add(text, "  point %" PRIu64 ": ", flight->first);
    else
        text_add(text, "  points %" PRIu64 " to %" PRIu64 ", each: ", flight->first, flight->last);
    if (flight->list->batch)
        text_add(text, "streamed batch");
    else
        text_add(text, "%s list \"%s\"", flight->finished ? "finished" : "one-shot",
                 flight->list->label);
    if (flight->last > atomic_load(&queue->submitted))
        text_add(text, ", which was just being submitted");
    add_set(report, flight, set);
}

/* What the backend knows to have completed, which may be more than anyone has asked for. */
static uint64_t last_completed(struct gantry_queue *queue)
{
    uint64_t seen = atomic_load(&queue->completed), value = 0;

    if (!queue->drv)
        return seen;
    queue->object.device->ops->queue_completed(queue->drv, &value);
    return value > seen && value <= atomic_load(&queue->submitted) ? value : seen;
}

static void add_flights(struct report *report, struct gantry_queue *queue, uint64_t completed)
{
    const struct flights *flights = &queue->flights;
    uint32_t told = 0;

    for (uint32_t i = 0; i < flights->count; i++) {
        struct flight flight = *flights_at(flights, i);
        struct set set;

        if (flight.last <= completed)
            continue;
        if (flight.first <= completed)
            flight.first = completed + 1;
        if (told++ == MOST_FLIGHTS) {
            text_add(&report->text, "  and more, behind these\n");
            return;
        }
        set = read_set(report, &flight);
        if (told == 1)
            add_to_sentence(report, queue, &flight, &set);
        add_flight(report, queue, &flight, &set);
    }
    if (told == 0)
        text_add(&report->text, "  nothing in flight\n");
}

static void add_queue(struct report *report, struct gantry_queue *queue)
{
    uint64_t completed = last_completed(queue);

    lock_take(&queue->flights.lock);
    text_add(&report->text, "queue \"%s\", points up to %" PRIu64 " were reached:\n", queue->label,
             completed);
    add_flights(report, queue, completed);
    lock_release(&queue->flights.lock);
}

static void add_cause(struct report *report, const char *said, const char *during, const char *name)
{
    struct gantry_device *device = report->device;
    char fault[FAULT_SIZE] = "";

    text_add(&report->text, "device \"%s\" (%s) was lost\n", device->label, device->backend);
    text_add(&report->text, "found while %s%s%s%s\n", during, name ? " \"" : "", name ? name : "",
             name ? "\"" : "");
    text_add(&report->text, "the driver: %s\n", said);
    if (device->ops->device_fault)
        device->ops->device_fault(device->drv, fault, sizeof(fault));
    if (fault[0])
        text_add(&report->text, "%s\n", fault);
}

void loss_report(struct gantry_device *device, const char *during, const char *name)
{
    struct report report = {.device = device};
    char *said = strdup(gantry_last_error());

    live_take(&report.live, device);
    add_cause(&report, said ? said : "", during, name);
    for (struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next)
        add_queue(&report, (struct gantry_queue *)o);
    fail(GANTRY_E_DEVICE_LOST, "%s%s; gantry_device_loss() tells all that is known",
         said ? said : gantry_status_text(GANTRY_E_DEVICE_LOST), text_get(&report.sentence));
    live_free(&report.live);
    text_free(&report.sentence);
    free(said);
    device->loss = text_take(&report.text);
    device->loss_sentence = strdup(gantry_last_error());
    log_write(&device->g->log, GANTRY_LOG_ERROR, "device \"%s\" was lost: %s", device->label,
              gantry_last_error());
}

const char *gantry_device_loss(struct gantry_device *device)
{
    const char *text;

    if (!device || device_forked(device) || !atomic_load(&device->lost))
        return NULL;
    pthread_mutex_lock(&device->lock); /* whoever found the loss has written the report */
    text = device->loss ? device->loss : "the device was lost, and there was no memory to say more";
    pthread_mutex_unlock(&device->lock);
    return text;
}
