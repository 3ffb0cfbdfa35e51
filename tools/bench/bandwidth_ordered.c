/* Algorithms of several launches: prefix sums, histogram, sorting. */
#include <stdlib.h>

#include "../output.h"
#include "bandwidth.h"

/* ---- Prefix sums ---------------------------------------------------------------------------- */

/* One read and one write, whatever it takes in between. */
static uint64_t one_in_one_out(uint64_t n)
{
    return 4 * n + 4 * n;
}

static void record_scan(struct trial *trial, struct gantry_list *list, enum gantry_scan_kind kind)
{
    gantry_list_scan(list, &trial->bench->library.algorithms, trial_a(trial), trial_b(trial),
                     trial->n, kind, trial_c(trial));
}

static void inclusive_record(struct trial *trial, struct gantry_list *list)
{
    record_scan(trial, list, GANTRY_SCAN_INCLUSIVE);
}

static void exclusive_record(struct trial *trial, struct gantry_list *list)
{
    record_scan(trial, list, GANTRY_SCAN_EXCLUSIVE);
}

static double inclusive(const void *trial, uint64_t i, double *size)
{
    (void)size;
    return pattern_sum(trial_pattern(trial), i + 1);
}

static double exclusive(const void *trial, uint64_t i, double *size)
{
    (void)size;
    return pattern_sum(trial_pattern(trial), i);
}

static bool inclusive_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, trial->n, inclusive, 1e-3);
}

static bool exclusive_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, trial->n, exclusive, 1e-3);
}

/* ---- Histogram ------------------------------------------------------------------------------ */

enum { SHIFT = 8 }; /* of the bits that are counted */

static uint64_t one_in(uint64_t n)
{
    return 4 * n;
}

static bool fill_a_with_words(struct trial *trial)
{
    struct arrays *arrays = &trial->bench->arrays;

    return arrays_fill(arrays, arrays->a, 0, trial->n, arrays->words, 0);
}

static void histogram_record(struct trial *trial, struct gantry_list *list)
{
    gantry_list_histogram(list, &trial->bench->library.algorithms, trial_a(trial),
                          trial_results(trial), trial->n, SHIFT);
}

static double count_of_bin(const void *bins, uint64_t bin, double *size)
{
    (void)size;
    return (double)((const uint64_t *)bins)[bin];
}

static bool histogram_check(struct trial *trial)
{
    const struct pattern *pattern = trial_pattern(trial);
    struct arrays *arrays = &trial->bench->arrays;
    uint64_t bins[256] = {0};
    const struct expectation expectation = {.words = true, .expect = count_of_bin, .what = bins};

    for (uint32_t i = 0; i < PATTERN_PERIOD; i++)
        bins[pattern->words[i] >> SHIFT & 255] += pattern_count(trial->n, i);
    return arrays_check(arrays, arrays->results, 256, &expectation);
}

/* ---- Sorting -------------------------------------------------------------------------------- */

/* Each of the four passes reads and writes the keys once. */
static uint64_t keys_in_four_passes(uint64_t n)
{
    return UINT64_C(4) * (4 * n + 4 * n);
}

static uint64_t pairs_in_four_passes(uint64_t n)
{
    return 2 * keys_in_four_passes(n);
}

static bool fill_a_and_b_with_words(struct trial *trial)
{
    struct arrays *arrays = &trial->bench->arrays;

    return fill_a_with_words(trial) &&
           arrays_fill(arrays, arrays->b, 0, trial->n, arrays->words, 0);
}

static void record_sort(struct trial *trial, struct gantry_list *list, gantry_ptr values)
{
    gantry_list_sort(list, &trial->bench->library.algorithms, trial_a(trial), values,
                     (uint32_t)trial->n, trial_c(trial));
}

static void sort_keys_record(struct trial *trial, struct gantry_list *list)
{
    record_sort(trial, list, 0);
}

static void sort_pairs_record(struct trial *trial, struct gantry_list *list)
{
    record_sort(trial, list, trial_b(trial));
}

/* The words of the period in ascending order, and how many words of the array are before each. */
struct sorted {
    uint64_t *words; /* below its place in the period */
    uint64_t *before;
};

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static bool sorted_open(struct sorted *sorted, const struct trial *trial)
{
    const struct pattern *pattern = trial_pattern(trial);

    sorted->words = calloc(PATTERN_PERIOD, sizeof *sorted->words);
    sorted->before = calloc(PATTERN_PERIOD + 1, sizeof *sorted->before);
    if (!sorted->words || !sorted->before) {
        output_error("bench: out of memory for sorted words");
        return false;
    }
    for (uint32_t i = 0; i < PATTERN_PERIOD; i++)
        sorted->words[i] = (uint64_t)pattern->words[i] << 32 | i;
    qsort(sorted->words, PATTERN_PERIOD, sizeof *sorted->words, compare);
    for (uint32_t i = 0; i < PATTERN_PERIOD; i++)
        sorted->before[i + 1] =
            sorted->before[i] + pattern_count(trial->n, (uint32_t)sorted->words[i]);
    return true;
}

static void sorted_close(struct sorted *sorted)
{
    free(sorted->words);
    free(sorted->before);
}

/* The last word that has no more than i before it. */
static double sorted_word(const void *what, uint64_t i, double *size)
{
    const struct sorted *sorted = what;
    uint32_t low = 0, high = PATTERN_PERIOD;

    (void)size;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (sorted->before[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return (double)(sorted->words[low] >> 32);
}

static bool check_sorted(struct trial *trial, bool pairs)
{
    struct arrays *arrays = &trial->bench->arrays;
    struct sorted sorted = {0};
    const struct expectation expectation = {.words = true, .expect = sorted_word, .what = &sorted};
    bool right = sorted_open(&sorted, trial) &&
                 arrays_check(arrays, arrays->a, trial->n, &expectation) &&
                 (!pairs || arrays_check(arrays, arrays->b, trial->n, &expectation));

    sorted_close(&sorted);
    return right;
}

static bool sort_keys_check(struct trial *trial)
{
    return check_sorted(trial, false);
}

/* Values were copies of their keys. */
static bool sort_pairs_check(struct trial *trial)
{
    return check_sorted(trial, true);
}

/* ---- All ------------------------------------------------------------------------------------ */

const struct bandwidth_case ordered_cases[] = {
    {.name = "scan_inclusive",
     .bytes = one_in_one_out,
     .fill = trial_fill_a,
     .record = inclusive_record,
     .check = inclusive_check},
    {.name = "scan_exclusive",
     .bytes = one_in_one_out,
     .fill = trial_fill_a,
     .record = exclusive_record,
     .check = exclusive_check},
    {.name = "histogram",
     .bytes = one_in,
     .fill = fill_a_with_words,
     .record = histogram_record,
     .check = histogram_check},
    {.name = "sort",
     .bytes = keys_in_four_passes,
     .fill = fill_a_with_words,
     .restore = fill_a_with_words,
     .record = sort_keys_record,
     .check = sort_keys_check},
    {.name = "sort_pairs",
     .bytes = pairs_in_four_passes,
     .fill = fill_a_and_b_with_words,
     .restore = fill_a_and_b_with_words,
     .record = sort_pairs_record,
     .check = sort_pairs_check},
    {.name = NULL},
};
