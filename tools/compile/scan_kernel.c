#include "scan.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK = 1024, MAX_RESIDENT = 32 };

/* Threads of a fixed block, 0 for none. */
static uint32_t block_threads(const struct kernel *kernel)
{
    return kernel->block[0] * kernel->block[1] * kernel->block[2];
}

/* "16x16" */
static void read_block(struct unit *unit, struct kernel *kernel, struct place place,
                       const char *text)
{
    uint32_t block[3] = {1, 1, 1}, axes = 0;
    const char *at = text;
    char *end = (char *)at;
    while (axes < 3 && *at >= '0' && *at <= '9') {
        unsigned long size = strtoul(at, &end, 10);
        block[axes++] = size > MAX_BLOCK ? MAX_BLOCK + 1 : (uint32_t)size;
        if (*end != 'x')
            break;
        at = end + 1;
    }
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (axes == 0 || *end || end == at || threads == 0 || threads > MAX_BLOCK) {
        mistake(unit, place, "BLOCK(%s): write 256, 16x16 or 8x8x4, with 1 to %d threads in all",
                text, MAX_BLOCK);
        return;
    }
    memcpy(kernel->block, block, sizeof(block));
    if (kernel->dimensions == 0)
        kernel->dimensions = axes;
    else if (kernel->dimensions < axes)
        mistake(unit, place, "BLOCK(%s) has more axes than DIMENSIONS(%u)", text,
                kernel->dimensions);
}

static void read_dimensions(struct unit *unit, struct kernel *kernel, struct place place,
                            const char *text)
{
    uint32_t axes = kernel->block[2] > 1 ? 3 : kernel->block[1] > 1 ? 2 : 1;
    if (scan_number(unit, place, "DIMENSIONS", text, 3, &kernel->dimensions) &&
        kernel->dimensions < axes)
        mistake(unit, place, "DIMENSIONS(%s) is less than the axes of BLOCK", text);
}

static void read_tolerance(struct unit *unit, struct kernel *kernel, struct place place,
                           const char *text)
{
    char *end;
    kernel->tolerance = strtod(text, &end);
    if (!*text || *end || !(kernel->tolerance >= 0.0 && kernel->tolerance <= 1.0))
        mistake(unit, place, "TOLERANCE(%s): a number from 0 to 1 without suffix is needed", text);
}

static void read_multiple(struct unit *unit, struct kernel *kernel, struct place place,
                          const char *text)
{
    scan_number(unit, place, "BLOCK_MULTIPLE", text, MAX_BLOCK, &kernel->block_multiple);
}

static void read_max(struct unit *unit, struct kernel *kernel, struct place place, const char *text)
{
    scan_number(unit, place, "BLOCK_MAX", text, MAX_BLOCK, &kernel->block_max);
}

static void read_resident(struct unit *unit, struct kernel *kernel, struct place place,
                          const char *text)
{
    scan_number(unit, place, "RESIDENT", text, MAX_RESIDENT, &kernel->resident);
}

static void read_pow2(struct unit *unit, struct kernel *kernel, struct place place,
                      const char *text)
{
    (void)unit, (void)place, (void)text;
    kernel->block_pow2 = true;
}

static void read_grid_stride(struct unit *unit, struct kernel *kernel, struct place place,
                             const char *text)
{
    (void)unit, (void)place, (void)text;
    kernel->grid_stride = true;
}

static const struct attribute {
    const char *word;
    bool argument;
    bool again; /* may be given again, for another pointer */
    void (*read)(struct unit *unit, struct kernel *kernel, struct place place, const char *text);
} attributes[] = {
    {"BLOCK", true, false, read_block},
    {"BLOCK_MULTIPLE", true, false, read_multiple},
    {"BLOCK_MAX", true, false, read_max},
    {"RESIDENT", true, false, read_resident},
    {"BLOCK_POW2", false, false, read_pow2},
    {"GRID_STRIDE", false, false, read_grid_stride},
    {"DIMENSIONS", true, false, read_dimensions},
    {"TOLERANCE", true, false, read_tolerance},
    {"REACH", true, true, scan_reach},
    {"MAY_BE_NULL", true, true, scan_may_be_null},
};

enum { ATTRIBUTE_COUNT = sizeof(attributes) / sizeof(attributes[0]) };

static bool pow2(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static void check_fixed_block(struct unit *unit, const struct kernel *kernel)
{
    uint32_t threads = block_threads(kernel);
    if (kernel->block_multiple && threads % kernel->block_multiple)
        mistake(unit, kernel->place, "%s: BLOCK has %u threads, no multiple of BLOCK_MULTIPLE(%u)",
                kernel->name, threads, kernel->block_multiple);
    if (kernel->block_max && threads > kernel->block_max)
        mistake(unit, kernel->place, "%s: BLOCK has %u threads, more than BLOCK_MAX(%u)",
                kernel->name, threads, kernel->block_max);
    if (kernel->block_pow2 && !pow2(threads))
        mistake(unit, kernel->place, "%s: BLOCK has %u threads, no power of two as BLOCK_POW2 asks",
                kernel->name, threads);
}

/* Whether any block can satisfy all the rules. */
static void check_open_block(struct unit *unit, const struct kernel *kernel)
{
    if (kernel->block_multiple > 1 && kernel->block_pow2 && !pow2(kernel->block_multiple))
        mistake(unit, kernel->place,
                "%s: no power of two is a multiple of %u: BLOCK_MULTIPLE and BLOCK_POW2 contradict",
                kernel->name, kernel->block_multiple);
    if (kernel->block_max && kernel->block_multiple > kernel->block_max)
        mistake(unit, kernel->place, "%s: BLOCK_MULTIPLE(%u) is more than BLOCK_MAX(%u)",
                kernel->name, kernel->block_multiple, kernel->block_max);
}

size_t scan_attributes(struct unit *unit, struct kernel *kernel, size_t at)
{
    bool seen[ATTRIBUTE_COUNT] = {false};
    while (unit->tokens[at].kind == TOKEN_WORD) {
        const struct token *word = &unit->tokens[at++];
        const char *text = "";
        size_t i = 0;
        while (i < ATTRIBUTE_COUNT && !token_is(word, attributes[i].word))
            i++;
        if (i == ATTRIBUTE_COUNT) {
            mistake(unit, word->place, "%s: \"%s\" is no attribute of a kernel", kernel->name,
                    word->text);
            continue;
        }
        if (attributes[i].argument)
            text = scan_argument(unit, at, &at);
        if (seen[i])
            mistake(unit, word->place, "%s: %s is given twice", kernel->name, word->text);
        else if (text)
            attributes[i].read(unit, kernel, word->place, text);
        seen[i] = !attributes[i].again;
    }
    if (kernel->dimensions == 0)
        kernel->dimensions = 1;
    if (kernel->resident && !block_threads(kernel) && !kernel->block_max)
        mistake(unit, kernel->place, "%s: RESIDENT needs BLOCK or BLOCK_MAX beside it",
                kernel->name);
    if (block_threads(kernel))
        check_fixed_block(unit, kernel);
    else
        check_open_block(unit, kernel);
    return at;
}
