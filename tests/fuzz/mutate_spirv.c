/* How libFuzzer changes SPIR-V: a word of an instruction becomes another small number, which is an
 * id or a literal, or an instruction goes; what is left to chance is nearly always refused. */
#include "fuzz.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { HEADER_WORDS = 5 };

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* The start of a random instruction; `words` when there is none. */
static size_t draw_instruction(const uint32_t *code, size_t words, uint32_t *seed)
{
    size_t chosen = words;
    uint32_t count = 0;

    for (size_t at = HEADER_WORDS; at < words;) {
        uint32_t length = code[at] >> 16;

        if (length == 0 || length > words - at)
            break;
        if (next_random(seed) % ++count == 0)
            chosen = at;
        at += length;
    }
    return chosen;
}

static void change_operand(uint32_t *code, size_t words, uint32_t *seed)
{
    size_t at = draw_instruction(code, words, seed);
    uint32_t length = at < words ? code[at] >> 16 : 0;

    if (length < 2)
        return;
    at += 1 + next_random(seed) % (length - 1);
    if (next_random(seed) % 4 == 0)
        code[at] ^= 1u << next_random(seed) % 32;
    else
        code[at] = next_random(seed) % (next_random(seed) % 2 ? 16 : code[3] | 1);
}

/* Takes an instruction out. Returns how many words are left. */
static size_t drop_instruction(uint32_t *code, size_t words, uint32_t *seed)
{
    size_t at = draw_instruction(code, words, seed), length;

    if (at == words)
        return words;
    length = code[at] >> 16;
    memmove(code + at, code + at + length, 4 * (words - at - length));
    return words - length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint32_t random = seed, way = next_random(&random) % 16;
    size_t words = size / 4;
    uint32_t *code;

    if (way == 0 || words <= HEADER_WORDS)
        return LLVMFuzzerMutate(data, size, most);
    code = malloc(size);
    HOLDS(code);
    memcpy(code, data, 4 * words);
    if (way < 4)
        words = drop_instruction(code, words, &random);
    for (uint32_t n = way < 4 ? 0 : 1 + next_random(&random) % 2; n; n--)
        change_operand(code, words, &random);
    memcpy(data, code, 4 * words);
    free(code);
    return 4 * words;
}
