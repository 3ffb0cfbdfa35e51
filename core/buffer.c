/* Buffers: ranges of memory that one device can address. */
#include "buffer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"
#include "host_register.h"
#include "queue.h"
#include "retire.h"
#include "status.h"

/* ---- Checks --------------------------------------------------------------------------------- */

static enum gantry_status check_params(const struct gantry_device *device,
                                       const struct gantry_buffer_params *params)
{
    const struct gantry_limits *limits = &device->info.limits;

    if (!params || params->size == 0)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_buffer_create: size 0: a buffer has at least one byte");
    if ((unsigned)params->memory > GANTRY_MEMORY_READBACK)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_buffer_create: memory %d is not one of 0 to %d", (int)params->memory,
                    GANTRY_MEMORY_READBACK);
    if (params->size > limits->max_buffer_size)
        return fail(GANTRY_E_LIMIT,
                    "gantry_buffer_create: %" PRIu64 " bytes are more than max_buffer_size of "
                    "device \"%s\", %" PRIu64 "; use several buffers",
                    params->size, device->label, limits->max_buffer_size);
    return GANTRY_OK;
}

/* ---- Making --------------------------------------------------------------------------------- */

/* Enough for buffers that come and go; more would only hold memory. */
#define MOST_SPARE 64

/* The label of buffers without one. */
static char unnamed[] = "buffer";

/* With the device's lock held. */
static struct gantry_buffer *get_struct(struct gantry_device *device)
{
    struct gantry_buffer *buffer = device->spare_buffers;

    if (!buffer)
        return malloc(sizeof(*buffer));
    device->spare_buffers = (struct gantry_buffer *)buffer->object.next;
    device->spare_buffer_count--;
    return buffer;
}

static void put_struct(struct gantry_device *device, struct gantry_buffer *buffer)
{
    if (buffer->label != unnamed)
        free(buffer->label);
    if (device->spare_buffer_count == MOST_SPARE) {
        free(buffer);
        return;
    }
    buffer->object.next = (struct object *)device->spare_buffers;
    device->spare_buffers = buffer;
    device->spare_buffer_count++;
}

void buffers_close(struct gantry_device *device)
{
    while (device->spare_buffers)
        free(get_struct(device));
}

enum gantry_status buffer_make(struct gantry_device *device, const struct memory *memory,
                               const char *label, struct gantry_buffer **out)
{
    char *copy = label ? strdup(label) : unnamed;
    struct gantry_buffer *buffer;

    pthread_mutex_lock(&device->lock);
    buffer = copy ? get_struct(device) : NULL;
    if (buffer) {
        *buffer = (struct gantry_buffer){.size = memory->size,
                                         .memory = *memory,
                                         .label = copy,
                                         .refs = 1};
        if (device->policy.validate && !addresses_add(&device->addresses, buffer)) {
            buffer->label = unnamed;
            put_struct(device, buffer);
            buffer = NULL;
        } else {
            object_link_locked(&buffer->object, device, OBJECT_BUFFER);
            device->buffer_count++;
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (!buffer) {
        if (label)
            free(copy);
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a buffer");
    }
    *out = buffer;
    return GANTRY_OK;
}

/* The memory is whole granules, so a size that is no multiple of 4 can be rounded up. */
static enum gantry_status fill_with_zeros(struct gantry_buffer *buffer)
{
    void *place = memory_host(&buffer->memory);

    if (!place)
        place = direct_place(buffer->object.device, &buffer->memory, buffer->size);
    if (place) {
        memset(place, 0, buffer->size);
        return GANTRY_OK;
    }
    return queue_fill_now(buffer->object.device, buffer_block(buffer), buffer_offset(buffer, 0),
                          (buffer->size + 3) & ~UINT64_C(3), 0);
}

static enum gantry_status make(struct gantry_device *device,
                               const struct gantry_buffer_params *params,
                               struct gantry_buffer **buffer)
{
    struct memory memory;
    enum gantry_status status =
        memory_allocate(device, params->memory, params->size, "gantry_buffer_create", &memory);

    if (status != GANTRY_OK)
        return status;
    status = buffer_make(device, &memory, params->label, buffer);
    if (status != GANTRY_OK) {
        memory_free(device, &memory);
        return status;
    }
    if (params->zero)
        status = fill_with_zeros(*buffer);
    if (status != GANTRY_OK)
        gantry_buffer_destroy(buffer);
    return status;
}

enum gantry_status gantry_buffer_create(struct gantry_device *device,
                                        const struct gantry_buffer_params *params,
                                        struct gantry_buffer **buffer)
{
    enum gantry_status status = device_usable(device, "gantry_buffer_create");

    if (buffer)
        *buffer = NULL;
    if (status != GANTRY_OK)
        return status;
    if (!buffer)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_buffer_create: the handle's address is NULL");
    status = check_params(device, params);
    return status == GANTRY_OK ? make(device, params, buffer) : status;
}

/* ---- Freeing -------------------------------------------------------------------------------- */

/* With the device's lock held, for memory of a pool. True: memory_trim() has something to do. */
static bool free_locked(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;
    bool excess = memory_give(device, &buffer->memory);

    put_struct(device, buffer);
    return excess;
}

void buffer_free(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;

    registered_forget(buffer);
    memory_free(device, &buffer->memory);
    pthread_mutex_lock(&device->lock);
    put_struct(device, buffer);
    pthread_mutex_unlock(&device->lock);
}

void buffer_ref(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;

    pthread_mutex_lock(&device->lock);
    buffer->refs++;
    pthread_mutex_unlock(&device->lock);
}

/* On an idle device the memory is free at once, without a moment and in one turn with the lock. */
void buffer_unref(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;
    bool last, idle = false, excess = false;

    pthread_mutex_lock(&device->lock);
    last = --buffer->refs == 0;
    if (last) {
        object_unlink_locked(&buffer->object);
        device->buffer_count--;
        idle = buffer->memory.range && queues_are_idle(device);
    }
    if (idle)
        excess = free_locked(buffer);
    pthread_mutex_unlock(&device->lock);
    if (last && !idle)
        retire(&buffer->object);
    if (excess)
        memory_trim(device, false);
}

/* For validation it is gone now, though lists may still hold it. */
static void forget_address(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;

    pthread_mutex_lock(&device->lock);
    addresses_remove(&device->addresses, buffer);
    pthread_mutex_unlock(&device->lock);
}

void gantry_buffer_destroy(struct gantry_buffer **handle)
{
    struct gantry_buffer *buffer = handle ? *handle : NULL;

    if (!buffer)
        return;
    *handle = NULL;
    if (device_forked(buffer->object.device))
        return;
    buffer->destroyed = true;
    if (buffer->object.device->policy.validate)
        forget_address(buffer);
    if (buffer_kind(buffer) == GANTRY_MEMORY_REGISTERED)
        registered_drop(buffer);
    buffer_unref(buffer);
}

/* ---- Asking -------------------------------------------------------------------------------- */

gantry_ptr gantry_buffer_address(const struct gantry_buffer *buffer)
{
    return buffer ? memory_address(&buffer->memory) : 0;
}

void *gantry_buffer_host(const struct gantry_buffer *buffer)
{
    return buffer ? memory_host(&buffer->memory) : NULL;
}

uint64_t gantry_buffer_size(const struct gantry_buffer *buffer)
{
    return buffer ? buffer->size : 0;
}
