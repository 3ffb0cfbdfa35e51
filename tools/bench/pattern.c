#include "pattern.h"

#include <stdlib.h>

#include "../output.h"

/* PCG, Melissa O'Neill: a word from the state of a linear congruential generator. */
static uint32_t next_word(uint64_t *state)
{
    uint64_t old = *state;
    uint32_t mixed = (uint32_t)((old >> 18 ^ old) >> 27), turn = (uint32_t)(old >> 59);

    *state = old * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return mixed >> turn | mixed << (-turn & 31);
}

/* In steps of 1/128, then moved by one step here and there until they add up to 0. */
static void make_floats(float *floats, uint64_t *state)
{
    const float step = 1.0f / 128;
    int64_t steps = 0;

    for (uint32_t i = 0; i < PATTERN_PERIOD; i++) {
        int32_t value = (int32_t)(next_word(state) >> 24) - 128;

        floats[i] = (float)value * step;
        steps += value;
    }
    for (uint32_t i = 0; steps != 0; i = (i + 1) % PATTERN_PERIOD) {
        if (steps > 0 && floats[i] > -1.0f) {
            floats[i] -= step;
            steps--;
        } else if (steps < 0 && floats[i] < 1.0f) {
            floats[i] += step;
            steps++;
        }
    }
}

bool pattern_open(struct pattern *pattern)
{
    uint64_t state = 1;

    pattern->floats = calloc(PATTERN_PERIOD, sizeof *pattern->floats);
    pattern->sums = calloc(PATTERN_PERIOD + 1, sizeof *pattern->sums);
    pattern->words = calloc(PATTERN_PERIOD, sizeof *pattern->words);
    if (!pattern->floats || !pattern->sums || !pattern->words) {
        output_error("bench: out of memory for the contents of arrays");
        return false;
    }
    make_floats(pattern->floats, &state);
    for (uint32_t i = 0; i < PATTERN_PERIOD; i++) {
        pattern->sums[i + 1] = pattern->sums[i] + pattern->floats[i];
        pattern->words[i] = next_word(&state);
    }
    return true;
}

void pattern_close(struct pattern *pattern)
{
    free(pattern->floats);
    free(pattern->sums);
    free(pattern->words);
}
