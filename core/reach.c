#include "reach.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An integer argument as a count, of which less than none is none. Numbers are little-endian. */
static uint64_t read_count(const struct gantry_field_info *field, const uint8_t *args)
{
    bool is_signed = field->type == GANTRY_SCALAR_INT8 || field->type == GANTRY_SCALAR_INT16 ||
                     field->type == GANTRY_SCALAR_INT32 || field->type == GANTRY_SCALAR_INT64;
    uint64_t count = 0;

    memcpy(&count, args + field->offset, field->size);
    return is_signed && count >> (8 * field->size - 1) ? 0 : count;
}

/* As large as 64 bits hold when the product is larger; but nothing times anything is nothing. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t count_elements(const struct gantry_kernel_source *source,
                               const struct gantry_field_info *field, const uint8_t *args)
{
    uint64_t factors[3], elements = 1;

    for (uint32_t i = 0; i < field->reach_count; i++) {
        int32_t member = field->reach[i].field;

        factors[i] =
            member < 0 ? field->reach[i].number : read_count(&source->fields[member], args);
        if (factors[i] == 0)
            return 0;
    }
    for (uint32_t i = 0; i < field->reach_count; i++)
        elements = multiply(elements, factors[i]);
    return elements;
}

bool reach_read(const struct gantry_kernel_source *source, uint32_t i, const uint8_t *args,
                struct reach *reach)
{
    const struct gantry_field_info *field = &source->fields[i];

    if (field->type != GANTRY_SCALAR_POINTER)
        return false;
    reach->field = field;
    memcpy(&reach->address, args + field->offset, sizeof(reach->address));
    reach->elements = count_elements(source, field, args);
    reach->bytes = multiply(reach->elements, field->pointee_size ? field->pointee_size : 1);
    reach->stated = field->reach_count > 0;
    return true;
}

void reach_describe(const struct gantry_kernel_source *source, const struct reach *reach,
                    char *text, unsigned size)
{
    const struct gantry_field_info *field = reach->field;
    int at = 0;

    for (uint32_t i = 0; i < field->reach_count && at >= 0 && (unsigned)at < size; i++) {
        int32_t member = field->reach[i].field;

        if (member < 0)
            at += snprintf(text + at, size - (unsigned)at, "%s%" PRIu64, i ? " * " : "",
                           field->reach[i].number);
        else
            at += snprintf(text + at, size - (unsigned)at, "%s%s", i ? " * " : "",
                           source->fields[member].name);
    }
    if (at >= 0 && (unsigned)at < size)
        snprintf(text + at, size - (unsigned)at, "%s%" PRIu64 " element%s of %u byte%s",
                 at ? " = " : "", reach->elements, reach->elements == 1 ? "" : "s",
                 field->pointee_size ? field->pointee_size : 1, field->pointee_size > 1 ? "s" : "");
}
