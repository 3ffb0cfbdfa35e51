/* What the files that record commands share: places in a list's arrays. */
#ifndef GANTRY_CORE_RECORDER_H
#define GANTRY_CORE_RECORDER_H

#include "record.h"

/* Room for one more element; false when there is no memory. */
bool recorder_grow(void **array, uint32_t count, uint32_t *capacity, size_t element);

static inline bool recorder_reserve(void **array, uint32_t count, uint32_t *capacity,
                                    size_t element)
{
    return count < *capacity || recorder_grow(array, count, capacity, element);
}

/* Keeps what a command uses, until the list is reset or freed; false when there is no memory. An
 * open batch holds nothing: what is destroyed while it is open is kept until it has completed
 * (retire.h). */
bool recorder_hold_kernel(struct gantry_list *list, struct gantry_kernel *kernel);
bool recorder_hold_buffer(struct gantry_list *list, struct gantry_buffer *buffer);

/* Why there was no room. */
enum gantry_status recorder_no_room(const struct gantry_list *list, const char *what);

/* The end of every recording call: the id, or 0 and the failure, which stays in the list unless the
 * list could not be recorded into at all. */
uint32_t recorder_fail(struct gantry_list *list, enum gantry_status status);

static inline uint32_t recorder_end(struct gantry_list *list, enum gantry_status status)
{
    return status == GANTRY_OK ? list->next_id - 1 : recorder_fail(list, status);
}

/* The place of the next command, whose kind and contents the caller writes before it takes it;
 * NULL when there is none. */
static inline struct command *recorder_next(struct gantry_list *list)
{
    if (list->next_id == UINT32_MAX ||
        !recorder_reserve((void **)&list->commands, list->command_count, &list->command_capacity,
                          sizeof(*list->commands)))
        return NULL;
    return &list->commands[list->command_count];
}

/* Gives the command its id and its place among the others. */
static inline void recorder_take(struct gantry_list *list, struct command *command)
{
    command->id = list->next_id++;
    command->section = list->section;
    command->strand = list->strand;
    command->label = list->current_label;
    list->command_count++;
    if (!list->concurrent)
        list->section++;
    else if (!list->ordered)
        list->strand++;
}

#endif
