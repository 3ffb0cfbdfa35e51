/* How libFuzzer changes a package: as it likes, and then the sums are mended, or nothing behind the
 * hash would ever be reached. One in 32 is left as it came. */
#include "fuzz.h"

#include <inttypes.h>
#include <string.h>

#include <gantry/gantry.h>

#include "core/package_format.h"
#include "core/package_hash.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static bool lies_inside(uint64_t offset, uint64_t size, size_t whole)
{
    return offset <= whole && size <= whole - offset;
}

/* ---- Words of the records ------------------------------------------------------------------- */

/* Numbers that mean something in some place: counts, kinds, offsets, edges. */
static uint32_t telling_number(const struct gpk_header *header, size_t size, uint32_t *seed)
{
    static const uint32_t edges[] = {0,  1,    2,    3,          7,          8,
                                     16, 1023, 1024, 0x7fffffff, 0x80000000, 0xffffffff};

    switch (next_random(seed) % 4) {
    case 0:
        return edges[next_random(seed) % (sizeof(edges) / sizeof(edges[0]))];
    case 1:
        return next_random(seed) % 64;
    case 2:
        return next_random(seed) % (header->strings.count | 1);
    default:
        return next_random(seed) % ((uint32_t)size + 16);
    }
}

/* Changes a word of the header or of a record. */
static void change_word(uint8_t *data, size_t size, uint32_t *seed)
{
    struct gpk_header header;
    const struct gpk_table *tables[] = {&header.kernels, &header.fields, &header.images};
    const uint32_t records[] = {sizeof(struct gpk_kernel), sizeof(struct gpk_field),
                                sizeof(struct gpk_image)};
    uint32_t which = next_random(seed) % 4, number;
    uint64_t at = 4 * (next_random(seed) % (sizeof(header) / 4));

    memcpy(&header, data, sizeof(header));
    number = telling_number(&header, size, seed);
    if (which < 3 && tables[which]->count)
        at = tables[which]->offset +
             (uint64_t)(next_random(seed) % tables[which]->count) * records[which] +
             4 * (next_random(seed) % (records[which] / 4));
    if (lies_inside(at, sizeof(number), size))
        memcpy(data + at, &number, sizeof(number));
}

/* ---- Sums ----------------------------------------------------------------------------------- */

/* A text that may be hashed: "" for one that is out of range. */
static const char *text_at(const uint8_t *data, size_t size, const struct gpk_header *header,
                           uint32_t at)
{
    const struct gpk_table *strings = &header->strings;

    if (at >= strings->count || !lies_inside(strings->offset, strings->count, size) ||
        data[strings->offset + strings->count - 1] != '\0')
        return "";
    return (const char *)data + strings->offset + at;
}

static size_t field_size(const struct gpk_header *header)
{
    return header->version == 1 ? GPK_FIELD_SIZE_1 : sizeof(struct gpk_field);
}

/* As the format says, for the fields that lie inside the file. */
static uint64_t layout_hash(const uint8_t *data, size_t size, const struct gpk_header *header,
                            const struct gpk_kernel *kernel)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    uint64_t hash;

    HOLDS(out);
    fprintf(out, "%s\n", text_at(data, size, header, kernel->args_name));
    for (uint32_t i = 0; i < kernel->field_count && i < 64; i++) {
        uint64_t at =
            header->fields.offset + ((uint64_t)kernel->first_field + i) * field_size(header);
        struct gpk_field field = {0};

        if (!lies_inside(at, field_size(header), size))
            break;
        memcpy(&field, data + at, field_size(header));
        fprintf(out, "%s %s %" PRIu32 " %" PRIu32 " %s\n", text_at(data, size, header, field.name),
                gantry_scalar_name((enum gantry_scalar)field.type), field.offset, field.count,
                text_at(data, size, header, field.pointee));
    }
    fprintf(out, "%" PRIu32 "\n", kernel->args_size);
    fclose(out);
    hash = XXH64(text, length, 0);
    free(text);
    return hash;
}

static void mend_kernels(uint8_t *data, size_t size, const struct gpk_header *header)
{
    for (uint32_t i = 0; i < header->kernels.count && i < 64; i++) {
        uint64_t at = header->kernels.offset + (uint64_t)i * sizeof(struct gpk_kernel);
        struct gpk_kernel kernel;

        if (!lies_inside(at, sizeof(kernel), size))
            return;
        memcpy(&kernel, data + at, sizeof(kernel));
        kernel.layout_hash = layout_hash(data, size, header, &kernel);
        memcpy(data + at, &kernel, sizeof(kernel));
    }
}

static void mend(uint8_t *data, size_t size)
{
    struct gpk_header header;

    memcpy(&header, data, sizeof(header));
    memcpy(header.magic, GPK_MAGIC, sizeof(header.magic));
    header.version = header.version == 1 ? 1 : GPK_VERSION;
    header.header_size = sizeof(header);
    header.file_size = size;
    memcpy(data, &header, sizeof(header));
    mend_kernels(data, size, &header);
    memcpy(&header, data, sizeof(header)); /* tables may overlap it */
    header.hash = gpk_hash(data, size);
    memcpy(data, &header, sizeof(header));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint32_t random = seed, way = next_random(&random) % 32;

    if (way < 16 && size >= sizeof(struct gpk_header)) {
        for (uint32_t n = 1 + next_random(&random) % 3; n; n--)
            change_word(data, size, &random);
    } else {
        size = LLVMFuzzerMutate(data, size, most);
    }
    if (way != 31 && size >= sizeof(struct gpk_header))
        mend(data, size);
    return size;
}
