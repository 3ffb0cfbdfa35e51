/* What is copied: other bytes each time, and each is looked at. */
#include <inttypes.h>
#include <string.h>

#include "../output.h"
#include "copy.h"

static uint32_t word_at(uint32_t seed, uint64_t i)
{
    return (uint32_t)i * 2654435761u + seed;
}

static void write_words(uint32_t *words, uint64_t count, uint32_t seed)
{
    for (uint64_t i = 0; i < count; i++)
        words[i] = word_at(seed, i);
}

/* Rows `pitch` bytes apart hold the words one after the other. */
static bool words_match(const uint32_t *words, const struct copy_shape *shape, uint64_t pitch,
                        uint32_t seed)
{
    uint64_t width = shape->width / 4;

    for (uint64_t row = 0; row < shape->rows; row++) {
        for (uint64_t i = 0; i < width; i++) {
            uint32_t expected = word_at(seed, row * width + i);

            if (words[row * (pitch / 4) + i] == expected)
                continue;
            output_error("bench: word %" PRIu64 " of row %" PRIu64 " is %#x, and must be %#x", i,
                         row, words[row * (pitch / 4) + i], expected);
            return false;
        }
    }
    return true;
}

bool copy_prepare(const struct copy *copy)
{
    struct copy_bench *bench = copy->bench;
    struct gantry_queue *queue = bench->side.queue;
    const struct gantry_rect rect = {copy->shape.width, copy->shape.rows, copy->shape.pitch,
                                     copy->shape.width};
    uint64_t room = copy->shape.rows * copy->shape.pitch;
    struct gantry_point point;

    bench->seed++;
    if (copy->test->route == RAW_UP) {
        write_words(copy->host, copy->size / 4, bench->seed);
        return copy_wait(gantry_queue_fill(queue, bench->device[0], 0, room, 0, &point), &point);
    }
    write_words(bench->host[0], copy->size / 4, bench->seed);
    if (!copy_wait(gantry_queue_upload_rect(queue, bench->device[0], 0, bench->host[0], &rect,
                                            &point),
                   &point))
        return false;
    if (copy->test->route == RAW_DOWN) {
        memset(copy->host, 0, copy->size);
        return true;
    }
    return copy_wait(gantry_queue_fill(queue, bench->device[1], 0, copy->size, 0, &point), &point);
}

bool copy_check(const struct copy *copy)
{
    const struct copy_bench *bench = copy->bench;
    const struct copy_shape *shape = &copy->shape;
    bool up = copy->test->route == RAW_UP;
    uint64_t pitch = up ? shape->pitch : shape->width;
    struct gantry_point point;

    if (copy->test->route == RAW_DOWN)
        return words_match(copy->host, shape, pitch, bench->seed);
    return copy_wait(gantry_queue_copy(bench->side.queue, bench->readback, 0, bench->device[!up], 0,
                                       shape->rows * pitch, &point),
                     &point) &&
           words_match(gantry_buffer_host(bench->readback), shape, pitch, bench->seed);
}
