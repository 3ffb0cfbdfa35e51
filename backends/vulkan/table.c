#include <inttypes.h>
#include <string.h>

#include "driver.h"

enum {
    UNIT = 512,                          /* bytes; a multiple of BLOCK_ALIGNMENT */
    FIRST_UNITS = 512 * 1024 / UNIT,     /* of the first chunk, unless one table needs more */
    MOST_UNITS = 64 * 1024 * 1024 / UNIT /* likewise of any */
};

struct table_chunk {
    struct table_chunk *next;
    struct block block;
    uint32_t unit_count, used_count;
    uint32_t first_free; /* no unit before it is */
    bool used[];         /* each unit */
};

/* The first of `count` units in a row that are free; unit_count: there are none. */
static uint32_t find_units(const struct table_chunk *chunk, uint32_t count)
{
    uint32_t run = 0;

    if (chunk->unit_count - chunk->used_count < count)
        return chunk->unit_count;
    for (uint32_t i = chunk->first_free; i < chunk->unit_count; i++) {
        run = chunk->used[i] ? 0 : run + 1;
        if (run == count)
            return i + 1 - count;
    }
    return chunk->unit_count;
}

static void cut(struct table_chunk *chunk, uint32_t first, uint32_t count, struct table *table)
{
    const struct block *block = &chunk->block;
    struct span whole = {block->buffer, block->shift, block->address, block->host};

    memset(chunk->used + first, true, count);
    chunk->used_count += count;
    if (first == chunk->first_free)
        chunk->first_free += count;
    table->chunk = chunk;
    table->first_unit = first;
    table->unit_count = count;
    table->span = span_from(&whole, (uint64_t)first * UNIT);
}

static enum gantry_status add_chunk(struct gantry_drv_device *device, uint32_t unit_count)
{
    struct table_chunk *chunk =
        host_allocate(device->services, sizeof(*chunk) + unit_count * sizeof(bool), "tables");
    enum gantry_status status;

    if (!chunk)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = block_create(device, USE_TABLE, (uint64_t)unit_count * UNIT, &chunk->block);
    if (status != GANTRY_OK) {
        device->services->release(device->services->context, chunk);
        return status;
    }
    chunk->unit_count = unit_count;
    chunk->next = device->tables;
    device->tables = chunk;
    return GANTRY_OK;
}

/* As much as there is already, so that many tables need few chunks. */
static uint32_t next_size(const struct gantry_drv_device *device)
{
    uint64_t sum = 0;

    for (const struct table_chunk *chunk = device->tables; chunk; chunk = chunk->next)
        sum += chunk->unit_count;
    return sum < FIRST_UNITS ? FIRST_UNITS : sum > MOST_UNITS ? MOST_UNITS : (uint32_t)sum;
}

static enum gantry_status take(struct gantry_drv_device *device, uint32_t count,
                               struct table *table)
{
    struct table_chunk *chunk = device->tables;
    uint32_t size = next_size(device);
    enum gantry_status status;

    for (; chunk; chunk = chunk->next) {
        uint32_t first = find_units(chunk, count);
        if (first < chunk->unit_count) {
            cut(chunk, first, count, table);
            return GANTRY_OK;
        }
    }
    status = add_chunk(device, count > size ? count : size);
    if (status == GANTRY_E_OUT_OF_MEMORY && count < size)
        status = add_chunk(device, count);
    if (status == GANTRY_OK)
        cut(device->tables, 0, count, table);
    return status;
}

enum gantry_status table_take(struct gantry_drv_device *device, uint64_t size, struct table *table)
{
    const struct gantry_backend_services *services = device->services;
    uint64_t count = (size + UNIT - 1) / UNIT;
    enum gantry_status status;

    if (count > UINT32_MAX)
        return services->fail(services->context, GANTRY_E_OUT_OF_MEMORY,
                              "a table of %" PRIu64 " bytes is too large: %" PRIu64 " are the "
                              "limit",
                              size, (uint64_t)UINT32_MAX * UNIT);
    pthread_mutex_lock(&device->lock);
    status = take(device, (uint32_t)count, table);
    pthread_mutex_unlock(&device->lock);
    return status;
}

static void remove_chunk(struct gantry_drv_device *device, struct table_chunk *chunk)
{
    struct table_chunk **link = &device->tables;

    while (*link != chunk)
        link = &(*link)->next;
    *link = chunk->next;
    block_destroy(device, &chunk->block);
    device->services->release(device->services->context, chunk);
}

void table_give(struct gantry_drv_device *device, struct table *table)
{
    struct table_chunk *chunk = table->chunk;

    if (!chunk)
        return;
    pthread_mutex_lock(&device->lock);
    memset(chunk->used + table->first_unit, false, table->unit_count);
    chunk->used_count -= table->unit_count;
    if (table->first_unit < chunk->first_free)
        chunk->first_free = table->first_unit;
    if (chunk->used_count == 0 && (chunk != device->tables || chunk->next))
        remove_chunk(device, chunk); /* the last one stays, for lists that come and go */
    pthread_mutex_unlock(&device->lock);
    memset(table, 0, sizeof(*table));
}

void tables_close(struct gantry_drv_device *device)
{
    while (device->tables)
        remove_chunk(device, device->tables);
}
