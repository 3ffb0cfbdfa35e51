/* Does folding ever make anything slower? The same lists on the same device, opened with fold =
 * off. */
#include <stdio.h>
#include <string.h>

#include "../output.h"
#include "bench.h"

enum {
    LAUNCHES = 16,
    WAVES = 4,
    QUICK_BLOCKS = 16,
    MOST_SIZES = 32,
};

static uint32_t largest(const struct bench *bench)
{
    return bench->options.quick ? QUICK_BLOCKS : WAVES * gantry_side_wave(&bench->side);
}

/* Blocks of a launch: powers of two below one wave, then 1, 2 and 4 waves. */
static size_t list_sizes(const struct bench *bench, uint32_t sizes[MOST_SIZES])
{
    uint32_t most = largest(bench), wave = most / WAVES;
    size_t count = 0;

    for (uint32_t blocks = 1; blocks < wave; blocks *= 2)
        sizes[count++] = blocks;
    for (uint32_t blocks = wave ? wave : 1; blocks <= most; blocks *= 2)
        sizes[count++] = blocks;
    return count;
}

/* Through Vulkan, a device that is opened twice has two contexts. */
static bool add(struct ways *ways, struct gantry_side *side, const struct work *work)
{
    struct way *way = gantry_way_replay(side, work);

    if (way)
        way->own_context = true;
    return ways_add(ways, way);
}

static bool measure(struct bench *bench, const struct work *work)
{
    struct row *row = results_add(&bench->results, "sweep", work->launches);
    struct ways folded = {0}, unfolded = {0};
    bool right = row && add(&folded, &bench->side, work) &&
                 add(&unfolded, &bench->unfolded, work) &&
                 ways_measure(folded.items[0], &unfolded, work->launches, bench->repetitions, row);

    ways_destroy(&folded);
    ways_destroy(&unfolded);
    if (!right)
        return false;
    snprintf(row->raw_how, sizeof row->raw_how, "gantry with fold = off");
    row_extra(row, "blocks", work->blocks);
    row_extra(row, "waves", (double)work->blocks / gantry_side_wave(&bench->side));
    row_extra(row, "stages", (double)work->launches / work->width);
    return gantry_side_check(&bench->side) && gantry_side_check(&bench->unfolded);
}

static bool open_with_fold_off(struct bench *bench)
{
    const struct gantry_side_params params = {.device = bench->options.device,
                                              .backend = bench->options.backend,
                                              .package = bench->package.file,
                                              .override = "[policy]\nfold = off\n",
                                              .app = "gantry bench"};

    return gantry_side_open(&bench->unfolded, &params);
}

bool sweep_run(struct bench *bench)
{
    const struct work chain = {.launches = LAUNCHES, .width = 1, .blocks = 1, .kernels = 1};
    struct work work = {.launches = LAUNCHES, .width = LAUNCHES, .kernels = 1};
    uint32_t sizes[MOST_SIZES];
    size_t count = list_sizes(bench, sizes);
    struct gantry_config_value fold;

    if (!gantry_side_config(&bench->side, "fold", &fold))
        return false;
    if (strcmp(fold.value, "on") != 0) {
        output_error(
            "bench: the sweep is left out: it compares fold = on with off, and %s turns it "
            "off",
            fold.origin);
        return true;
    }
    if (!open_with_fold_off(bench) ||
        !gantry_side_reserve(&bench->side, LAUNCHES * largest(bench)) ||
        !gantry_side_reserve(&bench->unfolded, LAUNCHES * largest(bench)))
        return false;
    for (size_t i = 0; i < count; i++) {
        work.blocks = sizes[i];
        if (!measure(bench, &work))
            return false;
    }
    return measure(bench, &chain);
}
