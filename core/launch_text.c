/* Recorded launches in words. */
#include "launch_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "module.h"

/* Elements of an array that are written out. */
enum { MOST_ELEMENTS = 8 };

/* ---- Live buffers --------------------------------------------------------------------------- */

static uint64_t address_of(const struct gantry_buffer *buffer)
{
    return memory_address(&buffer->memory);
}

static int by_address(const void *left, const void *right)
{
    uint64_t a = address_of(*(const struct gantry_buffer *const *)left);
    uint64_t b = address_of(*(const struct gantry_buffer *const *)right);

    return (a > b) - (a < b);
}

void live_take(struct live *live, const struct gantry_device *device)
{
    const struct object *first = device->objects[OBJECT_BUFFER];
    size_t count = 0;

    for (const struct object *o = first; o; o = o->next)
        count++;
    live->all = malloc((count + 1) * sizeof(struct gantry_buffer *));
    live->count = 0;
    if (!live->all)
        return;
    for (const struct object *o = first; o; o = o->next)
        live->all[live->count++] = (const struct gantry_buffer *)o;
    qsort(live->all, live->count, sizeof(struct gantry_buffer *), by_address);
}

void live_free(struct live *live)
{
    free(live->all);
}

static const struct gantry_buffer *find(const struct live *live, uint64_t address)
{
    uint32_t low = 0, high = live->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (address_of(live->all[middle]) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - address_of(live->all[low - 1]) >= live->all[low - 1]->size)
        return NULL;
    return live->all[low - 1];
}

/* ---- Values --------------------------------------------------------------------------------- */

static uint64_t read_address(const uint8_t *at)
{
    uint64_t address;

    memcpy(&address, at, sizeof(address));
    return address;
}

static void add_address(struct text *text, const struct live *live, uint64_t address)
{
    const struct gantry_buffer *buffer = find(live, address);

    if (address == 0)
        text_add(text, "NULL");
    else if (buffer && address == address_of(buffer))
        text_add(text, "%#" PRIx64 " (buffer \"%s\")", address, buffer->label);
    else if (buffer)
        text_add(text, "%#" PRIx64 " (buffer \"%s\" + %" PRIu64 ")", address, buffer->label,
                 address - address_of(buffer));
    else if (live->all)
        text_add(text, "%#" PRIx64 " (in no live buffer)", address);
    else
        text_add(text, "%#" PRIx64, address);
}

static void add_element(struct text *text, const struct live *live, enum gantry_scalar type,
                        const uint8_t *at)
{
#define ELEMENT(scalar, ctype, format)    \
    case GANTRY_SCALAR_##scalar: {        \
        ctype value;                      \
        memcpy(&value, at, sizeof value); \
        text_add(text, format, value);    \
        break;                            \
    }
    switch (type) {
    case GANTRY_SCALAR_POINTER:
        add_address(text, live, read_address(at));
        break;
        ELEMENT(INT8, int8_t, "%" PRId8)
        ELEMENT(UINT8, uint8_t, "%" PRIu8)
        ELEMENT(INT16, int16_t, "%" PRId16)
        ELEMENT(UINT16, uint16_t, "%" PRIu16)
        ELEMENT(INT32, int32_t, "%" PRId32)
        ELEMENT(UINT32, uint32_t, "%" PRIu32)
        ELEMENT(INT64, int64_t, "%" PRId64)
        ELEMENT(UINT64, uint64_t, "%" PRIu64)
        ELEMENT(HALF, uint16_t, "half %#06" PRIx16)
        ELEMENT(FLOAT, float, "%.9g")
        ELEMENT(DOUBLE, double, "%.17g")
    }
#undef ELEMENT
}

static void add_field(struct text *text, const struct live *live,
                      const struct gantry_field_info *field, const uint8_t *args)
{
    uint32_t count = field->count ? field->count : 1, size = field->size / count;

    text_add(text, "%s = %s", field->name, count > 1 ? "{" : "");
    for (uint32_t i = 0; i < count && i < MOST_ELEMENTS; i++) {
        text_add(text, "%s", i ? ", " : "");
        add_element(text, live, field->type, args + field->offset + i * size);
    }
    if (count > MOST_ELEMENTS)
        text_add(text, ", and %" PRIu32 " more", count - MOST_ELEMENTS);
    text_add(text, "%s", count > 1 ? "}" : "");
}

/* ---- Launches ------------------------------------------------------------------------------- */

void launch_text(struct text *text, const struct live *live, const struct command *command,
                 const uint8_t *bytes, const uint8_t *args)
{
    const struct command_launch *launch = &command->launch;
    const struct gantry_kernel *kernel = launch->kernel;
    const struct gantry_kernel_source *source = kernel->source;

    text_add(text, "command %" PRIu32 ": kernel %s", command->id, source->name);
    if (command->label != NO_LABEL)
        text_add(text, " \"%s\"", (const char *)bytes + command->label);
    text_add(text,
             ", %" PRIu32 " x %" PRIu32 " x %" PRIu32 " blocks of %" PRIu32 " x %" PRIu32
             " x %" PRIu32 " threads",
             launch->blocks.x, launch->blocks.y, launch->blocks.z, kernel->block.x, kernel->block.y,
             kernel->block.z);
    for (uint32_t i = 0; i < source->field_count; i++) {
        text_add(text, "%s", i ? ", " : ": ");
        add_field(text, live, &source->fields[i], args);
    }
    if (source->field_count == 0 && launch->args_size)
        text_add(text, ": %" PRIu32 " bytes of arguments", launch->args_size);
}

const struct gantry_field_info *launch_stray(const struct live *live, const struct command *command,
                                             const uint8_t *args)
{
    const struct gantry_kernel_source *source = command->launch.kernel->source;

    for (uint32_t i = 0; live->all && i < source->field_count; i++) {
        const struct gantry_field_info *field = &source->fields[i];

        for (uint32_t k = 0; field->type == GANTRY_SCALAR_POINTER && k < field->count; k++) {
            uint64_t address = read_address(args + field->offset + k * sizeof(address));

            if (address ? !find(live, address) : !field->may_be_null)
                return field;
        }
    }
    return NULL;
}
