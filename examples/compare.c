#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* What every run shares. */
struct comparison {
    struct gantry *g;
    uint32_t repeat;
    const struct filter_params *params;
    struct filter_findings found;
    struct reference reference;
};

static uint32_t difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Of all samples. */
static uint32_t largest_difference(const struct comparison *comparison)
{
    uint32_t largest = 0;

    for (size_t i = 0; i < picture_words(comparison->params->to); i++) {
        uint32_t a = comparison->params->to->pixels[i], b = comparison->reference.painted[i];
        uint32_t low = difference(a & 0xffff, b & 0xffff), high = difference(a >> 16, b >> 16);

        largest = low > largest ? low : largest;
        largest = high > largest ? high : largest;
    }
    return largest;
}

/* The first of the integers that differs, NULL when all agree. */
static const char *wrong_integers(const struct comparison *comparison)
{
    const struct filter_findings *found = &comparison->found;
    const struct reference *reference = &comparison->reference;
    size_t pixels = picture_words(comparison->params->from) / 2;

    if (memcmp(found->luma, reference->luma, pixels * sizeof *found->luma) != 0)
        return "luma";
    if (memcmp(found->bins, reference->bins, sizeof found->bins) != 0)
        return "histogram";
    if (memcmp(found->levels, reference->levels, sizeof found->levels) != 0)
        return "levels";
    return NULL;
}

static bool print_agreement(const struct comparison *comparison, const struct filter_times *times)
{
    const char *wrong = wrong_integers(comparison);
    uint32_t largest = largest_difference(comparison);
    bool agrees = !wrong && largest <= COMPARE_TOLERANCE;

    printf("%10.3f %10.3f %8g   ", times->first_ms, times->frame_ms, times->launches_per_submit);
    if (wrong)
        printf("%s differs, ", wrong);
    printf("largest difference %u of 65535: %s\n", largest, agrees ? "agrees" : "WRONG");
    return agrees;
}

static bool run_on(struct comparison *comparison, struct gantry_device *device)
{
    struct filter_times times;
    struct filter filter;
    enum gantry_status status = filter_open(&filter, device, comparison->params);
    bool agrees = false;

    if (status == GANTRY_OK)
        status = filter_run(&filter, comparison->repeat, &times);
    if (status == GANTRY_OK)
        status = filter_fetch(&filter, &comparison->found);
    if (status == GANTRY_OK)
        agrees = print_agreement(comparison, &times);
    else
        printf("failed: %s\n", gantry_last_error());
    filter_close(&filter);
    return agrees;
}

/* A device through one backend; one that can't be used there is no failure. */
static bool compare_view(struct comparison *comparison, const struct gantry_device_info *info,
                         uint32_t view)
{
    struct gantry_device_params params = {0};
    struct gantry_device *device;
    char selector[64];
    bool agrees;

    snprintf(selector, sizeof selector, "%s:%u", info->backends[view].backend,
             info->backends[view].index);
    printf("%-10s %-36.36s ", selector, info->name);
    if (info->backends[view].skipped) {
        printf("skipped: %s\n", info->backends[view].skipped);
        return true;
    }
    params.device = selector;
    if (gantry_device_open(comparison->g, &params, &device) != GANTRY_OK) {
        printf("failed: %s\n", gantry_last_error());
        return false;
    }
    agrees = run_on(comparison, device);
    gantry_device_close(&device);
    return agrees;
}

static bool compare_devices(struct comparison *comparison)
{
    uint32_t count = gantry_device_count(comparison->g);
    struct gantry_device_info info;
    bool agree = true;

    printf("%-10s %-36s %10s %10s %8s\n", "", "", "first ms", "ms a frame", "launches");
    for (uint32_t i = 0; i < count; i++) {
        gantry_device_describe(comparison->g, i, &info);
        for (uint32_t view = 0; view < info.backend_count; view++)
            agree &= compare_view(comparison, &info, view);
    }
    return agree;
}

bool compare_all(struct gantry *g, uint32_t repeat, const struct filter_params *params)
{
    struct comparison comparison = {.g = g, .repeat = repeat, .params = params};
    size_t pixels = picture_words(params->from) / 2;
    bool agree = false;

    if (gantry_device_count(g) == 0) {
        fputs("edge: --all: there is no device (gantry info says why)\n", stderr);
        return false;
    }
    comparison.found.luma = malloc(pixels * sizeof *comparison.found.luma);
    if (reference_make(&comparison.reference, params->from, params->threshold) &&
        comparison.found.luma)
        agree = compare_devices(&comparison);
    else
        fputs("edge: --all: out of memory\n", stderr);
    reference_free(&comparison.reference);
    free(comparison.found.luma);
    return agree;
}
