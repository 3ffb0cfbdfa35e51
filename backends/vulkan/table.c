#include <inttypes.h>
#include <string.h>

#include "driver.h"

enum {
    UNIT = 512,         /* bytes; a multiple of BLOCK_ALIGNMENT */
    CHUNK_UNITS = 1024, /* of a chunk, unless one table needs more */
};

struct table_chunk {
    struct table_chunk *next;
    struct block block;
    uint32_t unit_count, used_count;
    bool used[]; /* each unit */
};

/* The first of `count` units in a row that are free; unit_count: there are none. */
static uint32_t find_units(const struct table_chunk *chunk, uint32_t count)
{
    uint32_t run = 0;

    for (uint32_t i = 0; i < chunk->unit_count; i++) {
        run = chunk->used[i] ? 0 : run + 1;
        if (run == count)
            return i + 1 - count;
    }
    return chunk->unit_count;
}

static void cut(struct table_chunk *chunk, uint32_t first, uint32_t count, struct table *table)
{
    memset(chunk->used + first, true, count);
    chunk->used_count += count;
    table->chunk = chunk;
    table->first_unit = first;
    table->unit_count = count;
    table->span = block_span(&chunk->block, (uint64_t)first * UNIT);
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

static enum gantry_status take(struct gantry_drv_device *device, uint32_t count,
                               struct table *table)
{
    struct table_chunk *chunk = device->tables;
    enum gantry_status status;

    for (; chunk; chunk = chunk->next) {
        uint32_t first = find_units(chunk, count);
        if (first < chunk->unit_count) {
            cut(chunk, first, count, table);
            return GANTRY_OK;
        }
    }
    status = add_chunk(device, count > CHUNK_UNITS ? count : CHUNK_UNITS);
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
