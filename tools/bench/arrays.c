#include "arrays.h"

#include <inttypes.h>
#include <math.h>

#include "../output.h"

enum {
    WINDOWS = 32, /* samples of an array */
    WINDOW = 64,  /* words of each */
};

/* ---- Making --------------------------------------------------------------------------------- */

uint64_t arrays_size(uint64_t n, uint64_t c_size)
{
    return 2 * 4 * n + c_size + 2 * 2 * 4 * (uint64_t)PATTERN_PERIOD;
}

static bool make(struct arrays *arrays, uint64_t size, const char *label,
                 struct gantry_buffer **buffer)
{
    const struct gantry_buffer_params params = {.size = size, .label = label};

    return gantry_buffer_create(arrays->side->device, &params, buffer) == GANTRY_OK ||
           gantry_side_failed();
}

/* Twice, so that a period can be copied from any of its words on. */
static bool upload_pattern(struct arrays *arrays, struct gantry_buffer *to, const void *period)
{
    const uint64_t size = 4 * (uint64_t)PATTERN_PERIOD;
    struct gantry_queue *queue = arrays->side->queue;
    struct gantry_point point;

    return ((gantry_queue_upload(queue, to, 0, period, size, NULL) == GANTRY_OK &&
             gantry_queue_upload(queue, to, size, period, size, &point) == GANTRY_OK) ||
            gantry_side_failed()) &&
           gantry_side_wait(point);
}

bool arrays_open(struct arrays *arrays, struct gantry_side *side, const struct pattern *pattern,
                 uint64_t n, uint64_t c_size)
{
    const struct gantry_buffer_params sample = {.size = WINDOWS * WINDOW * 4,
                                                .memory = GANTRY_MEMORY_READBACK,
                                                .label = "samples"};
    const uint64_t two_periods = 2 * 4 * (uint64_t)PATTERN_PERIOD;

    arrays->side = side;
    return make(arrays, 4 * n, "a", &arrays->a) && make(arrays, 4 * n, "b", &arrays->b) &&
           make(arrays, c_size, "c", &arrays->c) &&
           make(arrays, 4 * ARRAYS_RESULTS, "results", &arrays->results) &&
           make(arrays, two_periods, "floats", &arrays->floats) &&
           make(arrays, two_periods, "words", &arrays->words) &&
           (gantry_buffer_create(side->device, &sample, &arrays->sample) == GANTRY_OK ||
            gantry_side_failed()) &&
           upload_pattern(arrays, arrays->floats, pattern->floats) &&
           upload_pattern(arrays, arrays->words, pattern->words);
}

void arrays_close(struct arrays *arrays)
{
    gantry_buffer_destroy(&arrays->a);
    gantry_buffer_destroy(&arrays->b);
    gantry_buffer_destroy(&arrays->c);
    gantry_buffer_destroy(&arrays->results);
    gantry_buffer_destroy(&arrays->floats);
    gantry_buffer_destroy(&arrays->words);
    gantry_buffer_destroy(&arrays->sample);
}

/* Submits what was recorded, once, and waits. */
static bool run(struct arrays *arrays, struct gantry_list *list)
{
    struct gantry_point point;

    return (gantry_queue_submit(arrays->side->queue, list, NULL, 0, &point) == GANTRY_OK ||
            gantry_side_failed()) &&
           gantry_side_wait(point);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A period, then what is there behind itself, until all is full: twice as much each time. */
static void record_fill(struct gantry_list *list, struct gantry_buffer *to, uint64_t at,
                        uint64_t count, struct gantry_buffer *pattern, uint32_t shift)
{
    uint64_t done = smaller(count, PATTERN_PERIOD), more;

    gantry_list_copy(list, to, 4 * at, pattern, 4 * (uint64_t)shift, 4 * done);
    for (; done < count; done += more) {
        more = smaller(count - done, done);
        gantry_list_copy(list, to, 4 * (at + done), to, 4 * at, 4 * more);
    }
}

bool arrays_fill(struct arrays *arrays, struct gantry_buffer *to, uint64_t at, uint64_t count,
                 struct gantry_buffer *pattern, uint32_t shift)
{
    struct gantry_list *list;
    bool done;

    if (gantry_list_create(arrays->side->device, NULL, &list) != GANTRY_OK)
        return gantry_side_failed();
    record_fill(list, to, at, count, pattern, shift);
    done = run(arrays, list);
    gantry_list_destroy(&list);
    return done;
}

/* ---- Looking -------------------------------------------------------------------------------- */

/* The first and the last word are among the samples. */
static uint64_t window_start(uint64_t count, uint64_t length, unsigned window)
{
    uint64_t room = count - length;

    return room / (WINDOWS - 1) * window + room % (WINDOWS - 1) * window / (WINDOWS - 1);
}

static bool read_samples(struct arrays *arrays, struct gantry_buffer *array, uint64_t count,
                         uint64_t length)
{
    struct gantry_list *list;
    bool done;

    if (gantry_list_create(arrays->side->device, NULL, &list) != GANTRY_OK)
        return gantry_side_failed();
    for (unsigned i = 0; i < WINDOWS; i++)
        gantry_list_copy(list, arrays->sample, i * 4 * length, array,
                         4 * window_start(count, length, i), 4 * length);
    done = run(arrays, list);
    gantry_list_destroy(&list);
    return done;
}

static bool is_right(double found, const struct expectation *expectation, uint64_t i)
{
    double size = 1, expected = expectation->expect(expectation->what, i, &size);

    /* A NaN is never right. */
    if (fabs(found - expected) <= expectation->tolerance * size)
        return true;
    output_error("bench: element %" PRIu64 " is %.9g, and must be %.9g", i, found, expected);
    return false;
}

bool arrays_check(struct arrays *arrays, struct gantry_buffer *array, uint64_t count,
                  const struct expectation *expectation)
{
    uint64_t length = smaller(count, WINDOW);
    const uint32_t *words = gantry_buffer_host(arrays->sample);
    const float *floats = gantry_buffer_host(arrays->sample);

    if (!read_samples(arrays, array, count, length))
        return false;
    for (uint64_t at = 0; at < WINDOWS * length; at++) {
        uint64_t i = window_start(count, length, (unsigned)(at / length)) + at % length;

        if (!is_right(expectation->words ? words[at] : (double)floats[at], expectation, i))
            return false;
    }
    return true;
}
