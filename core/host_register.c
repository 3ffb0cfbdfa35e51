#include "host_register.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "queue.h"
#include "retire.h"
#include "status.h"

/* ---- What is registered --------------------------------------------------------------------- */

static uintptr_t start_of(const struct gantry_buffer *buffer)
{
    return (uintptr_t)buffer->memory.block->host;
}

/* With the device's lock held: the place of the first range that ends behind the address. */
static uint32_t find_place(const struct registered *set, uintptr_t address)
{
    uint32_t low = 0, high = set->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gantry_buffer *buffer = set->all[middle];

        if (address - start_of(buffer) < buffer->size || address < start_of(buffer))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct gantry_buffer *registered_find(struct gantry_device *device, const void *pointer,
                                      uint64_t size, uint64_t *offset)
{
    struct registered *set = &device->registered;
    struct gantry_buffer *found = NULL;
    uintptr_t address = (uintptr_t)pointer;
    uint32_t place;

    pthread_mutex_lock(&device->lock);
    place = find_place(set, address);
    if (place < set->count && start_of(set->all[place]) <= address) {
        *offset = address - start_of(set->all[place]);
        if (size <= set->all[place]->size - *offset) {
            found = set->all[place];
            found->refs++;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return found;
}

static bool reserve(struct registered *set)
{
    uint32_t capacity = set->capacity ? 2 * set->capacity : 16;
    struct gantry_buffer **grown;

    if (set->count < set->capacity)
        return true;
    grown = realloc(set->all, capacity * sizeof(*grown));
    if (!grown)
        return false;
    set->all = grown;
    set->capacity = capacity;
    return true;
}

/* With the device's lock held; there is no other range over it. */
static enum gantry_status insert(struct registered *set, struct gantry_buffer *buffer)
{
    uint32_t place = find_place(set, start_of(buffer));

    if (!reserve(set))
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a buffer");
    memmove(set->all + place + 1, set->all + place, (set->count - place) * sizeof(*set->all));
    set->all[place] = buffer;
    set->count++;
    return GANTRY_OK;
}

void registered_forget(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;
    struct registered *set = &device->registered;
    uint32_t place;

    if (!buffer->memory.block || buffer_kind(buffer) != GANTRY_MEMORY_REGISTERED)
        return;
    pthread_mutex_lock(&device->lock);
    place = find_place(set, start_of(buffer));
    if (place < set->count && set->all[place] == buffer) {
        set->count--;
        memmove(set->all + place, set->all + place + 1, (set->count - place) * sizeof(*set->all));
    }
    pthread_mutex_unlock(&device->lock);
}

void registered_free(struct gantry_device *device)
{
    free(device->registered.all);
}

/* ---- Destroying ----------------------------------------------------------------------------- */

void registered_drop(struct gantry_buffer *buffer)
{
    struct gantry_device *device = buffer->object.device;

    registered_forget(buffer);
    queue_idle_all(device);
    memory_free(device, &buffer->memory);
}

/* ---- Registering ---------------------------------------------------------------------------- */

static enum gantry_status check_params(const struct gantry_device *device,
                                       const struct gantry_host_params *params)
{
    uint64_t most = device->info.limits.max_buffer_size;

    if (!params || !params->pointer)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_host_register: the %s NULL",
                    params ? "memory's pointer is" : "params are");
    if (params->size == 0)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_host_register: size 0: a buffer has at least one byte");
    if (params->size > UINTPTR_MAX - (uintptr_t)params->pointer)
        return fail(GANTRY_E_OVERFLOW,
                    "gantry_host_register: %" PRIu64 " bytes at %p exceed the address space",
                    params->size, params->pointer);
    if (params->size > most)
        return fail(GANTRY_E_LIMIT,
                    "gantry_host_register: %" PRIu64 " bytes are more than max_buffer_size of "
                    "device \"%s\", %" PRIu64 "; register it in parts",
                    params->size, device->label, most);
    return GANTRY_OK;
}

/* Whether a registered buffer has a byte of it already; its label. */
static bool is_taken(struct gantry_device *device, const struct gantry_host_params *params,
                     char *label, size_t label_size)
{
    const struct registered *set = &device->registered;
    uintptr_t start = (uintptr_t)params->pointer;
    const struct gantry_buffer *other = NULL;
    uint32_t place;

    pthread_mutex_lock(&device->lock);
    place = find_place(set, start);
    if (place < set->count && start_of(set->all[place]) < start + params->size)
        other = set->all[place];
    if (other) {
        strncpy(label, other->label, label_size - 1);
        label[label_size - 1] = '\0';
    }
    pthread_mutex_unlock(&device->lock);
    return other;
}

static enum gantry_status call_plugin(struct gantry_device *device,
                                      const struct gantry_host_params *params,
                                      struct gantry_drv_memory *block)
{
    enum gantry_status status;
    char label[64];

    if (!device->ops->memory_register)
        return fail(GANTRY_E_UNSUPPORTED,
                    "gantry_host_register: the backend %s of device \"%s\" takes no memory of the "
                    "caller's; copy through an upload or readback buffer",
                    device->backend, device->label);
    if (is_taken(device, params, label, sizeof(label)))
        return fail(GANTRY_E_INVALID_STATE,
                    "gantry_host_register: bytes of the %" PRIu64 " at %p are in the registered "
                    "buffer \"%s\" already; use or destroy that one",
                    params->size, params->pointer, label);
    status = device_check(device,
                          device->ops->memory_register(device->drv, params->pointer, params->size,
                                                       block),
                          "registering memory", NULL);
    if (status != GANTRY_OK)
        fail_context("gantry_host_register: %" PRIu64 " bytes at %p", params->size,
                     params->pointer);
    return status;
}

static enum gantry_status make(struct gantry_device *device,
                               const struct gantry_host_params *params,
                               struct gantry_drv_memory *block, struct gantry_buffer **buffer)
{
    struct memory memory;
    enum gantry_status status = memory_adopt(device, block, params->size, &memory);

    if (status != GANTRY_OK) {
        device->ops->memory_free(device->drv, block);
        return status;
    }
    status =
        buffer_make(device, &memory, params->label ? params->label : "registered memory", buffer);
    if (status != GANTRY_OK) {
        memory_free(device, &memory);
        return status;
    }
    pthread_mutex_lock(&device->lock);
    status = insert(&device->registered, *buffer);
    pthread_mutex_unlock(&device->lock);
    if (status != GANTRY_OK)
        gantry_buffer_destroy(buffer);
    return status;
}

enum gantry_status gantry_host_register(struct gantry_device *device,
                                        const struct gantry_host_params *params,
                                        struct gantry_buffer **buffer)
{
    struct gantry_drv_memory block;
    enum gantry_status status;

    if (buffer)
        *buffer = NULL;
    status = device_usable(device, "gantry_host_register");
    if (status != GANTRY_OK)
        return status;
    if (!buffer)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_host_register: the handle's address is NULL");
    status = check_params(device, params);
    if (status != GANTRY_OK)
        return status;
    retire_collect(device);
    status = call_plugin(device, params, &block);
    return status == GANTRY_OK ? make(device, params, &block, buffer) : status;
}
