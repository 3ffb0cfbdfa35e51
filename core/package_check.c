/* What must hold for a kernel and its images, whoever states them: a package file or a program. */
#include "package_check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "status.h"

enum { IDENTIFIER_MAX = 127, POINTEE_SIZE_MAX = 1 << 20 };

#define X(name, bit, text) | GANTRY_FEATURE_##name
static const uint32_t known_features = 0 GANTRY_FEATURE_MAP(X);
#undef X

uint32_t scalar_size(enum gantry_scalar type)
{
    switch (type) {
    case GANTRY_SCALAR_INT8:
    case GANTRY_SCALAR_UINT8:
        return 1;
    case GANTRY_SCALAR_INT16:
    case GANTRY_SCALAR_UINT16:
    case GANTRY_SCALAR_HALF:
        return 2;
    case GANTRY_SCALAR_INT32:
    case GANTRY_SCALAR_UINT32:
    case GANTRY_SCALAR_FLOAT:
        return 4;
    case GANTRY_SCALAR_POINTER:
    case GANTRY_SCALAR_INT64:
    case GANTRY_SCALAR_UINT64:
    case GANTRY_SCALAR_DOUBLE:
        return 8;
    }
    return 0;
}

bool is_identifier(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_");

    return length > 0 && length <= IDENTIFIER_MAX && text[length] == '\0' &&
           !(text[0] >= '0' && text[0] <= '9');
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static enum gantry_status check_field_name(const struct gantry_kernel_source *kernel, uint32_t i,
                                           enum gantry_status status, const char *where)
{
    const char *name = kernel->fields[i].name;

    if (!name || !is_identifier(name))
        return fail(status, "%s: the name of field %u, \"%s\", is no identifier", where, i,
                    name ? name : "");
    for (uint32_t other = 0; other < i; other++) {
        if (strcmp(kernel->fields[other].name, name) == 0)
            return fail(status, "%s: fields %u and %u are both called \"%s\"", where, other, i,
                        name);
    }
    return GANTRY_OK;
}

/* `end` is where the field before it ends; gets where this one does. */
static enum gantry_status check_field(const struct gantry_field_info *field, uint32_t args_size,
                                      uint64_t *end, enum gantry_status status, const char *where)
{
    uint32_t element = scalar_size(field->type);

    if (element == 0)
        return fail(status, "%s: field \"%s\" has type %d, which does not exist", where,
                    field->name, (int)field->type);
    if (field->count == 0 || field->size != (uint64_t)field->count * element)
        return fail(status, "%s: field \"%s\" is %u bytes, but %u elements of type %s are %" PRIu64,
                    where, field->name, field->size, field->count, gantry_scalar_name(field->type),
                    (uint64_t)field->count * element);
    if (field->offset % element != 0)
        return fail(status, "%s: field \"%s\" lies at byte %u, which is no multiple of %u", where,
                    field->name, field->offset, element);
    if (field->offset < *end)
        return fail(status,
                    "%s: field \"%s\" at byte %u overlaps the one before it, which ends at "
                    "%" PRIu64,
                    where, field->name, field->offset, *end);
    *end = (uint64_t)field->offset + field->size;
    if (*end > args_size)
        return fail(status,
                    "%s: field \"%s\" ends at byte %" PRIu64 " of an argument struct of %u bytes",
                    where, field->name, *end, args_size);
    if (!field->pointee || (field->type != GANTRY_SCALAR_POINTER && field->pointee[0]))
        return fail(status, "%s: field \"%s\" has a pointee that does not fit its type", where,
                    field->name);
    return GANTRY_OK;
}

static bool is_integer(enum gantry_scalar type)
{
    return type >= GANTRY_SCALAR_INT8 && type <= GANTRY_SCALAR_UINT64;
}

static bool factor_is_good(const struct gantry_kernel_source *kernel, int32_t field,
                           uint64_t number)
{
    if (field == -1)
        return number > 0;
    return field >= 0 && (uint32_t)field < kernel->field_count &&
           is_integer(kernel->fields[field].type) && kernel->fields[field].count == 1;
}

/* What is said of a pointer, which all other types leave at zero. */
static enum gantry_status check_pointer(const struct gantry_kernel_source *kernel,
                                        const struct gantry_field_info *field,
                                        enum gantry_status status, const char *where)
{
    const uint32_t most = sizeof(field->reach) / sizeof(field->reach[0]);

    if (field->type != GANTRY_SCALAR_POINTER &&
        (field->pointee_size || field->may_be_null || field->written || field->reach_count))
        return fail(status, "%s: field \"%s\" is no pointer, but what is said of it is a pointer's",
                    where, field->name);
    if (field->pointee_size > POINTEE_SIZE_MAX)
        return fail(status, "%s: field \"%s\" points to elements of %u bytes, more than %d", where,
                    field->name, field->pointee_size, POINTEE_SIZE_MAX);
    if (field->reach_count > most)
        return fail(status, "%s: the reach of field \"%s\" has %u factors, more than %u", where,
                    field->name, field->reach_count, most);
    for (uint32_t i = 0; i < field->reach_count; i++) {
        if (!factor_is_good(kernel, field->reach[i].field, field->reach[i].number))
            return fail(status,
                        "%s: factor %u of the reach of field \"%s\" is neither a plain integer of "
                        "the struct nor a number above 0",
                        where, i, field->name);
    }
    return GANTRY_OK;
}

static enum gantry_status check_fields(const struct gantry_kernel_source *kernel,
                                       enum gantry_status status, const char *where)
{
    uint32_t alignment = 1;
    uint64_t end = 0;

    for (uint32_t i = 0; i < kernel->field_count; i++) {
        const struct gantry_field_info *field = &kernel->fields[i];
        enum gantry_status result = check_field_name(kernel, i, status, where);

        if (result == GANTRY_OK)
            result = check_field(field, kernel->args_size, &end, status, where);
        if (result == GANTRY_OK)
            result = check_pointer(kernel, field, status, where);
        if (result != GANTRY_OK)
            return result;
        if (scalar_size(field->type) > alignment)
            alignment = scalar_size(field->type);
    }
    if (kernel->args_size % alignment != 0)
        return fail(status, "%s: an argument struct of %u bytes is no multiple of its alignment %u",
                    where, kernel->args_size, alignment);
    return GANTRY_OK;
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static bool power_of_two(uint64_t number)
{
    return number && (number & (number - 1)) == 0;
}

static enum gantry_status check_rules(const struct gantry_kernel_source *kernel,
                                      enum gantry_status status, const char *where)
{
    uint32_t multiple = kernel->block_multiple, max = kernel->block_max;

    if (kernel->block_pow2 && multiple > 1 && !power_of_two(multiple))
        return fail(status, "%s: no block is a power of two and a multiple of BLOCK_MULTIPLE %u",
                    where, multiple);
    if (max && multiple > max)
        return fail(status, "%s: BLOCK_MULTIPLE %u is more than BLOCK_MAX %u", where, multiple,
                    max);
    return GANTRY_OK;
}

static enum gantry_status check_block(const struct gantry_kernel_source *kernel,
                                      enum gantry_status status, const char *where)
{
    struct gantry_size block = kernel->block;
    uint64_t plane = (uint64_t)block.x * block.y;

    if (!block.x && !block.y && !block.z)
        return GANTRY_OK;
    if (!block.x || !block.y || !block.z)
        return fail(status, "%s: BLOCK %ux%ux%u has an axis of 0", where, block.x, block.y,
                    block.z);
    if (plane > UINT32_MAX || plane * block.z > UINT32_MAX)
        return fail(status, "%s: BLOCK %ux%ux%u has more threads than 32 bits count", where,
                    block.x, block.y, block.z);
    if (kernel->block_multiple > 1 && plane * block.z % kernel->block_multiple)
        return fail(status, "%s: BLOCK %ux%ux%u is no multiple of BLOCK_MULTIPLE %u", where,
                    block.x, block.y, block.z, kernel->block_multiple);
    if (kernel->block_pow2 && !power_of_two(plane * block.z))
        return fail(status, "%s: BLOCK %ux%ux%u is no power of two, as BLOCK_POW2 wants", where,
                    block.x, block.y, block.z);
    if (kernel->block_max && plane * block.z > kernel->block_max)
        return fail(status, "%s: BLOCK %ux%ux%u has more threads than BLOCK_MAX %u", where, block.x,
                    block.y, block.z, kernel->block_max);
    return GANTRY_OK;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static enum gantry_status check_features(uint32_t features, enum gantry_status status,
                                         const char *where)
{
    if (features & ~known_features)
        return fail(status, "%s: needs features 0x%x, which gantry %s does not know", where,
                    features & ~known_features, gantry_version());
    return GANTRY_OK;
}

enum gantry_status check_kernel(const struct gantry_kernel_source *kernel,
                                enum gantry_status status, const char *where)
{
    enum gantry_status result;

    if (!kernel->name || !is_identifier(kernel->name))
        return fail(status, "%s: the kernel's name \"%s\" is no identifier", where,
                    kernel->name ? kernel->name : "");
    if (kernel->args_name[0] && !is_identifier(kernel->args_name))
        return fail(status, "%s: the argument struct's name \"%s\" is no identifier", where,
                    kernel->args_name);
    if (kernel->dimensions < 1 || kernel->dimensions > 3)
        return fail(status, "%s: %u dimensions; a kernel has 1 to 3", where, kernel->dimensions);
    if (!isfinite(kernel->tolerance) || kernel->tolerance < 0)
        return fail(status, "%s: the tolerance is negative or no number", where);
    result = check_features(kernel->features, status, where);
    if (result == GANTRY_OK)
        result = check_fields(kernel, status, where);
    if (result == GANTRY_OK)
        result = check_rules(kernel, status, where);
    if (result == GANTRY_OK)
        result = check_block(kernel, status, where);
    return result;
}

/* ---- Images -------------------------------------------------------------------------------- */

/* Drivers get what at least begins as its kind does. */
static bool begins_right(const struct gantry_backend_image *image)
{
    static const uint8_t spirv[] = {0x03, 0x02, 0x23, 0x07}, elf[] = {0x7f, 'E', 'L', 'F'};
    static const uint8_t fatbin[] = {0x50, 0xed, 0x55, 0xba};
    const uint8_t *magic;

    switch (image->kind) {
    case GANTRY_IMAGE_SPIRV:
        magic = spirv;
        break;
    case GANTRY_IMAGE_CUBIN:
    case GANTRY_IMAGE_HOST:
        magic = elf;
        break;
    case GANTRY_IMAGE_FATBIN:
        magic = fatbin;
        break;
    case GANTRY_IMAGE_PTX:
    case GANTRY_IMAGE_SOURCE:
        return true;
    default:
        return false;
    }
    return image->size >= 4 && memcmp(image->data, magic, 4) == 0;
}

static bool known_kind(enum gantry_image_kind kind)
{
    return kind >= GANTRY_IMAGE_SPIRV && kind <= GANTRY_IMAGE_HOST;
}

enum gantry_status check_image(const struct gantry_backend_image *image, enum gantry_status status,
                               const char *where)
{
    if (!known_kind(image->kind))
        return fail(status, "%s: kind %d does not exist", where, (int)image->kind);
    if (image->entry < GANTRY_ENTRY_DIRECT || image->entry > GANTRY_ENTRY_CHAINED)
        return fail(status, "%s: entry %d does not exist", where, (int)image->entry);
    if (image->size == 0)
        return fail(status, "%s: the %s image is empty", where,
                    gantry_image_kind_name(image->kind));
    if (image->kind == GANTRY_IMAGE_SPIRV && image->size % 4 != 0)
        return fail(status, "%s: %zu bytes of SPIR-V are no multiple of 4", where, image->size);
    if (!begins_right(image))
        return fail(status, "%s: the bytes do not begin as a %s image does", where,
                    gantry_image_kind_name(image->kind));
    if (image->kind == GANTRY_IMAGE_SPIRV && image->entry == GANTRY_ENTRY_ALL)
        return fail(status, "%s: SPIR-V holds one entry, not all", where);
    if (image->kind == GANTRY_IMAGE_SOURCE && !image->name[0])
        return fail(status, "%s: a source file has no name", where);
    return check_features(image->features, status, where);
}
