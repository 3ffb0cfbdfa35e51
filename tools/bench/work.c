#include "work.h"

#include <stdlib.h>

#include "../output.h"

static struct launch describe(const struct work *work, uint32_t launch, uint64_t y)
{
    uint64_t first = (uint64_t)work_first_block(work, launch) * BLOCK_THREADS;

    return (struct launch){
        .args = {y + first * sizeof(float), 1.0f, work->blocks * BLOCK_THREADS},
        .kernel = work_kernel(work, launch),
    };
}

struct launch *work_launches(const struct work *work, uint64_t y)
{
    struct launch *launches = calloc(work->launches, sizeof *launches);

    if (!launches)
        output_error("%s: out of memory for %u launches", output_subcommand(), work->launches);
    for (uint32_t i = 0; launches && i < work->launches; i++)
        launches[i] = describe(work, i, y);
    return launches;
}
