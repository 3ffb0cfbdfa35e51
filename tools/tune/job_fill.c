/* The elements of buffers. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

enum component { FLOAT, HALF, DOUBLE, INTEGER };

struct job_element {
    const char *type;
    enum component component;
    uint32_t size;  /* bytes of a component */
    uint32_t count; /* components */
};

static const struct job_element elements[] = {
    {"float", FLOAT, 4, 1},   {"float2", FLOAT, 4, 2},   {"float4", FLOAT, 4, 4},
    {"half", HALF, 2, 1},     {"double", DOUBLE, 8, 1},  {"int8", INTEGER, 1, 1},
    {"uint8", INTEGER, 1, 1}, {"int16", INTEGER, 2, 1},  {"uint16", INTEGER, 2, 1},
    {"int", INTEGER, 4, 1},   {"uint", INTEGER, 4, 1},   {"int2", INTEGER, 4, 2},
    {"uint2", INTEGER, 4, 2}, {"int4", INTEGER, 4, 4},   {"uint4", INTEGER, 4, 4},
    {"int64", INTEGER, 8, 1}, {"uint64", INTEGER, 8, 1}, {"half2", HALF, 2, 2},
    {"half4", HALF, 2, 4},
};

const struct job_element *job_element_find(const char *type)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (strcmp(elements[i].type, type) == 0)
            return &elements[i];
    }
    return NULL;
}

uint32_t job_element_size(const struct job_element *element)
{
    return element->size * element->count;
}

bool job_element_is_float(const struct job_element *element)
{
    return element->component == FLOAT;
}

uint16_t job_half(float value)
{
    uint32_t bits, sign;
    int exponent;

    memcpy(&bits, &value, sizeof bits);
    sign = bits >> 16 & 0x8000u;
    bits += 0x1000u; /* rounds the digits that are cut off */
    exponent = (int)(bits >> 23 & 0xffu) - 127 + 15;
    if (exponent <= 0)
        return (uint16_t)sign;
    if (exponent >= 31)
        return (uint16_t)(sign | 0x7c00u);
    return (uint16_t)(sign | (uint32_t)exponent << 10 | (bits >> 13 & 0x3ffu));
}

/* xorshift64* */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void fill_one(const struct job_element *element, double below, uint64_t *state,
                     unsigned char *to)
{
    double value = (double)(next_random(state) >> 11) * 0x1p-53 * below;
    float single = (float)value;
    uint64_t whole = (uint64_t)value; /* little endian: its first bytes are a smaller integer */
    uint16_t half = job_half(single);

    switch (element->component) {
    case FLOAT:
        memcpy(to, &single, sizeof single);
        break;
    case HALF:
        memcpy(to, &half, sizeof half);
        break;
    case DOUBLE:
        memcpy(to, &value, sizeof value);
        break;
    case INTEGER:
        memcpy(to, &whole, element->size);
        break;
    }
}

void *job_fill(const struct job_element *element, uint64_t size, double below, uint32_t seed)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1);
    unsigned char *bytes = malloc(size);

    for (uint64_t at = 0; bytes && at + element->size <= size; at += element->size)
        fill_one(element, below, &state, bytes + at);
    return bytes;
}
