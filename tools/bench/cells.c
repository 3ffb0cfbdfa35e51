#include "cells.h"

#include <stdlib.h>
#include <string.h>

#include "../output.h"

bool cells_open(struct cells *cells, uint32_t count)
{
    cells->values = calloc(count, sizeof *cells->values);
    cells->count = count;
    if (!cells->values)
        output_error("%s: out of memory for what %u blocks must hold", output_subcommand(), count);
    return cells->values != NULL;
}

void cells_close(struct cells *cells)
{
    free(cells->values);
    cells->values = NULL;
}

void cells_clear(struct cells *cells)
{
    memset(cells->values, 0, cells->count * sizeof *cells->values);
}

/* The product is exact for the a that are used, 0 and 1, so it does not matter who contracts. */
void cells_launch(struct cells *cells, const struct work *work, uint32_t launch, float a)
{
    float *values = cells->values + work_first_block(work, launch);
    float addend = (float)(work_kernel(work, launch) + 1);

    for (uint32_t i = 0; i < work->blocks; i++)
        values[i] = a * values[i] + addend;
}

void cells_run(struct cells *cells, const struct work *work)
{
    for (uint32_t i = 0; i < work->launches; i++)
        cells_launch(cells, work, i, 1.0f);
}

bool cells_match(const struct cells *cells, const float *memory, const char *who)
{
    for (uint32_t block = 0; block < cells->count; block++) {
        for (uint32_t i = 0; i < BLOCK_THREADS; i++) {
            float found = memory[(size_t)block * BLOCK_THREADS + i];

            if (found == cells->values[block])
                continue;
            output_error("%s: %s: wrong result: float %u of block %u is %g and should be %g",
                         output_subcommand(), who, i, block, (double)found,
                         (double)cells->values[block]);
            return false;
        }
    }
    return true;
}
