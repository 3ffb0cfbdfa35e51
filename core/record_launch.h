/* Recording a launch, in the header because gantry_list_launch and gantry_queue_launch do nearly
 * nothing else, some ten nanoseconds long. Other commands are in record.h. */
#ifndef GANTRY_CORE_RECORD_LAUNCH_H
#define GANTRY_CORE_RECORD_LAUNCH_H

#include <string.h>

#include "grid.h"
#include "recorder.h"

#define ARGS_ALIGNMENT 16

static inline size_t aligned(size_t size)
{
    return (size + ARGS_ALIGNMENT - 1) / ARGS_ALIGNMENT * ARGS_ALIGNMENT;
}

static inline bool has_room(const struct gantry_list *list, size_t size)
{
    return list->command_count < list->command_capacity && list->next_id != UINT32_MAX &&
           aligned(list->bytes.size) + aligned(size) <= list->bytes.capacity;
}

/* Copies arguments, for which there is room; the bytes up to the next alignment are zero. */
static inline size_t keep_args(struct bytes *bytes, const void *args, size_t size)
{
    size_t offset = aligned(bytes->size);

    bytes->size = offset + aligned(size);
    if (size) {
        memset(bytes->data + bytes->size - ARGS_ALIGNMENT, 0, ARGS_ALIGNMENT);
        memcpy(bytes->data + offset, args, size);
    }
    return offset;
}

/* A list that is recorded anew finds its memory outside the nearest caches, where its submission
 * has pushed it. Asking for it some lines ahead takes a third off recording a long list. */
static inline void fetch_ahead(uintptr_t next)
{
    __builtin_prefetch((const void *)(next + 512), 1);
}

static inline void put_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                              const struct gantry_size *blocks, const void *args, size_t size,
                              bool folded, uint32_t patchable)
{
    struct command *command = &list->commands[list->command_count];

    fetch_ahead((uintptr_t)command);
    fetch_ahead((uintptr_t)list->bytes.data + list->bytes.size);
    command->kind = COMMAND_LAUNCH;
    command->launch = (struct command_launch){.kernel = kernel,
                                              .blocks = *blocks,
                                              .args = keep_args(&list->bytes, args, size),
                                              .args_size = (uint32_t)size,
                                              .folded = folded,
                                              .patchable = patchable};
    recorder_take(list, command);
    list->launch_count++;
}

/* Where the list remembers that it holds a kernel, so that most launches need not look for it.
 * Kernels are some hundred bytes each. */
static inline struct gantry_kernel **memory_of(struct gantry_list *list,
                                               const struct gantry_kernel *kernel)
{
    return &list->recent[((uintptr_t)kernel >> 8 ^ (uintptr_t)kernel >> 5) % LIST_RECENT];
}

/* The long way: every check, and making room. */
enum gantry_status record_checked(struct gantry_list *list, struct gantry_kernel *kernel,
                                  const struct gantry_size *threads, const void *args, size_t size,
                                  const char *what);

/* A failure, which names `what`, the call, leaves the list as it was; a launch without threads
 * takes an id and nothing else. Nearly every launch is plain: of a kernel that the list holds
 * already, with threads for which the direct entry will do, and there is room. Then there is
 * nothing to check, and recording costs little more than the copy of its arguments. */
static inline enum gantry_status record_launch(struct gantry_list *list,
                                               struct gantry_kernel *kernel,
                                               struct gantry_size threads, const void *args,
                                               size_t size, const char *what)
{
    struct gantry_size blocks;

    if (!kernel || *memory_of(list, kernel) != kernel || size != kernel->plain.args_size || !args ||
        !has_room(list, size) || !grid_is_plain(kernel, &threads, &blocks))
        return record_checked(list, kernel, &threads, args, size, what);
    put_launch(list, kernel, &blocks, args, size, false, 0);
    return GANTRY_OK;
}

#endif
