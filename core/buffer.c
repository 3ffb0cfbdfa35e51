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

/* The memory is a multiple of 4 bytes, so a size that is none can be rounded up. */
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

enum gantry_status buffer_make(struct gantry_device *device, const struct memory *memory,
                               const char *label, struct gantry_buffer **out)
{
    struct gantry_buffer *buffer = calloc(1, sizeof(*buffer));

    if (!buffer)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a buffer");
    buffer->refs = 1;
    buffer->size = memory->size;
    buffer->label = strdup(label ? label : "buffer");
    if (!buffer->label) {
        free(buffer);
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a buffer");
    }
    buffer->memory = *memory;
    object_link(&buffer->object, device, OBJECT_BUFFER);
    *out = buffer;
    return GANTRY_OK;
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
    if (status != GANTRY_OK) {
        object_unlink(&(*buffer)->object);
        buffer_free(*buffer);
        *buffer = NULL;
    }
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
    if (status != GANTRY_OK)
        return status;
    retire_collect(device);
    return make(device, params, buffer);
}

void buffer_free(struct gantry_buffer *buffer)
{
    registered_forget(buffer);
    memory_free(buffer->object.device, &buffer->memory);
    free(buffer->label);
    free(buffer);
}

/* ---- References ---------------------------------------------------------------------------- */

static void release(struct gantry_device *device, void *object)
{
    (void)device;
    buffer_free(object);
}

void buffer_ref(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;

    pthread_mutex_lock(&device->lock);
    buffer->refs++;
    pthread_mutex_unlock(&device->lock);
}

void buffer_unref(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;
    bool last;

    pthread_mutex_lock(&device->lock);
    last = --buffer->refs == 0;
    pthread_mutex_unlock(&device->lock);
    if (!last)
        return;
    object_unlink(&buffer->object);
    retire(device, release, buffer);
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
