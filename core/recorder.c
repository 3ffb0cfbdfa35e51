/* Places in a list's arrays, and what its commands hold. */
#include "recorder.h"

#include <stdlib.h>

#include "buffer.h"
#include "module.h"
#include "status.h"

bool recorder_grow(void **array, uint32_t count, uint32_t *capacity, size_t element)
{
    uint32_t wanted = *capacity ? 2 * *capacity : 64;
    void *grown;

    if (count < *capacity)
        return true;
    if (*capacity > UINT32_MAX / 2)
        return false;
    grown = realloc(*array, wanted * element);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Lists use few kernels and buffers many times: looking at the latest ones finds nearly all
 * repeats, and one that is held twice does no harm. */
#define LATEST 8

static bool is_held(void *const *held, uint32_t count, const void *object)
{
    for (uint32_t i = count; i > 0 && i + LATEST > count; i--)
        if (held[i - 1] == object)
            return true;
    return false;
}

bool recorder_hold_kernel(struct gantry_list *list, struct gantry_kernel *kernel)
{
    if (list->batch || is_held((void **)list->kernels, list->kernel_count, kernel))
        return true;
    if (!recorder_reserve((void **)&list->kernels, list->kernel_count, &list->kernel_capacity,
                          sizeof(*list->kernels)))
        return false;
    kernel_ref(kernel);
    list->kernels[list->kernel_count++] = kernel;
    return true;
}

bool recorder_hold_buffer(struct gantry_list *list, struct gantry_buffer *buffer)
{
    if (list->batch || is_held((void **)list->buffers, list->buffer_count, buffer))
        return true;
    if (!recorder_reserve((void **)&list->buffers, list->buffer_count, &list->buffer_capacity,
                          sizeof(*list->buffers)))
        return false;
    buffer_ref(buffer);
    list->buffers[list->buffer_count++] = buffer;
    return true;
}

enum gantry_status recorder_no_room(const struct gantry_list *list, const char *what)
{
    if (list->next_id == UINT32_MAX)
        return fail(GANTRY_E_LIMIT, "%s: list \"%s\" is full: %u commands", what, list->label,
                    UINT32_MAX - 1);
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "%s: no host memory for command %u of \"%s\"", what,
                list->next_id, list->label);
}

uint32_t recorder_fail(struct gantry_list *list, enum gantry_status status)
{
    if (list && list->state == LIST_RECORDING && status != GANTRY_E_FORKED)
        list_latch(list, status);
    return 0;
}
