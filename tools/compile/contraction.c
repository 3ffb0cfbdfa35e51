#include "contraction.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "file.h"

/* Numbers of the SPIR-V specification: 2.3 (layout), 3.20 (decorations), 3.49 (instructions). */
enum {
    HEADER_WORDS = 5,
    OP_TYPE_FIRST = 19, /* OpTypeVoid */
    OP_TYPE_LAST = 39,  /* OpTypeForwardPointer */
    OP_DECORATE = 71,
    DECORATION_NO_CONTRACTION = 42,
};

struct words {
    const uint32_t *data;
    size_t count;
};

static bool is_float_operation(uint32_t opcode)
{
    switch (opcode) {
    case 127: /* OpFNegate */
    case 129: /* OpFAdd */
    case 131: /* OpFSub */
    case 133: /* OpFMul */
    case 136: /* OpFDiv */
    case 140: /* OpFRem */
    case 141: /* OpFMod */
    case 142: /* OpVectorTimesScalar */
    case 148: /* OpDot */
        return true;
    default:
        return false;
    }
}

/* The words of the instruction at `at`, 0 where the module is cut off. */
static uint32_t length_at(const struct words *words, size_t at)
{
    uint32_t length = words->data[at] >> 16;

    return length <= words->count - at ? length : 0;
}

/* Where the types begin: annotations end there. */
static size_t find_types(const struct words *words)
{
    for (size_t at = HEADER_WORDS; at < words->count;) {
        uint32_t opcode = words->data[at] & 0xffff, length = length_at(words, at);

        if (length == 0 || (opcode >= OP_TYPE_FIRST && opcode <= OP_TYPE_LAST))
            return at;
        at += length;
    }
    return words->count;
}

static void add_decorations(const struct words *words, struct text *out)
{
    for (size_t at = HEADER_WORDS; at < words->count;) {
        uint32_t length = length_at(words, at);

        if (length == 0)
            return;
        if (length > 2 && is_float_operation(words->data[at] & 0xffff)) {
            uint32_t decoration[] = {3u << 16 | OP_DECORATE, words->data[at + 2],
                                     DECORATION_NO_CONTRACTION};

            text_add(out, decoration, sizeof(decoration));
        }
        at += length;
    }
}

bool spirv_forbid_contraction(struct pool *pool, const char *path)
{
    struct text in = text_new(pool), out = text_new(pool);
    struct words words;
    uint32_t *copy;
    size_t types;

    if (!file_read(path, &in))
        return false;
    if (in.size < HEADER_WORDS * sizeof(uint32_t) || in.size % sizeof(uint32_t)) {
        fprintf(stderr, "gantry: compile: %s is no SPIR-V module\n", path);
        return false;
    }
    copy = pool_allocate(pool, in.size, 1);
    memcpy(copy, in.data, in.size);
    words = (struct words){copy, in.size / sizeof(uint32_t)};
    types = find_types(&words);
    text_add(&out, in.data, types * sizeof(uint32_t));
    add_decorations(&words, &out);
    text_add(&out, in.data + types * sizeof(uint32_t), in.size - types * sizeof(uint32_t));
    return file_write(pool, path, out.data, out.size);
}
