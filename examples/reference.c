#include <math.h>
#include <stdlib.h>

#include "reference.h"

void edge_weights(float weights[EDGE_RADIUS + 1])
{
    const double sigma = 1.6;
    double values[EDGE_RADIUS + 1], sum = 0;

    for (int d = 0; d <= EDGE_RADIUS; d++) {
        values[d] = exp(-d * d / (2 * sigma * sigma));
        sum += d ? 2 * values[d] : values[d];
    }
    for (int d = 0; d <= EDGE_RADIUS; d++)
        weights[d] = (float)(values[d] / sum);
}

static void make_luma(struct reference *reference, const struct picture *picture, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t low = picture->pixels[2 * i], high = picture->pixels[2 * i + 1];
        uint32_t red = low & 0xffff, green = low >> 16, blue = high & 0xffff, alpha = high >> 16;
        uint32_t y = (13933 * red + 46871 * green + 4732 * blue + 32768) >> 16;

        reference->luma[i] = (y * alpha + 32767) / 65535;
    }
}

static void make_levels(struct reference *reference, size_t count)
{
    uint32_t cut = (uint32_t)count / 100, below = 0;

    for (size_t i = 0; i < count; i++)
        reference->bins[reference->luma[i] >> 8]++;
    for (uint32_t bin = 0; bin < EDGE_BINS; bin++) {
        uint32_t upto = below + reference->bins[bin];

        if (below <= cut && cut < upto)
            reference->levels[0] = bin << 8;
        if (below < count - cut && count - cut <= upto)
            reference->levels[1] = (bin << 8) + 255;
        below = upto;
    }
}

static int64_t clamp(int64_t value, int64_t end)
{
    return value < 0 ? 0 : value >= end ? end - 1 : value;
}

static void blur_rows(struct reference *reference, const float *weights, int64_t width,
                      int64_t height)
{
    for (int64_t y = 0; y < height; y++) {
        const uint32_t *line = reference->luma + y * width;

        for (int64_t x = 0; x < width; x++) {
            float sum = weights[0] * (float)line[x];

            for (int d = 1; d <= EDGE_RADIUS; d++)
                sum += weights[d] *
                       ((float)line[clamp(x - d, width)] + (float)line[clamp(x + d, width)]);
            reference->rows[y * width + x] = sum;
        }
    }
}

static void blur_columns(struct reference *reference, const float *weights, int64_t width,
                         int64_t height)
{
    const float *rows = reference->rows;

    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            float sum = weights[0] * rows[y * width + x];

            for (int d = 1; d <= EDGE_RADIUS; d++)
                sum += weights[d] * (rows[clamp(y - d, height) * width + x] +
                                     rows[clamp(y + d, height) * width + x]);
            reference->blurred[y * width + x] = sum;
        }
    }
}

static void find_edges(struct reference *reference, int64_t width, int64_t height)
{
    for (int64_t y = 0; y < height; y++) {
        const float *above = reference->blurred + clamp(y - 1, height) * width;
        const float *here = reference->blurred + y * width;
        const float *under = reference->blurred + clamp(y + 1, height) * width;

        for (int64_t x = 0; x < width; x++) {
            int64_t west = clamp(x - 1, width), east = clamp(x + 1, width);
            float across = (above[east] - above[west]) + 2.0f * (here[east] - here[west]) +
                           (under[east] - under[west]);
            float down = (under[west] - above[west]) + 2.0f * (under[x] - above[x]) +
                         (under[east] - above[east]);

            reference->edges[y * width + x] = 0.125f * sqrtf(across * across + down * down);
        }
    }
}

static float clampf(float value, float from, float to)
{
    return fminf(fmaxf(value, from), to);
}

static float smoothstep(float from, float to, float x)
{
    float t = clampf((x - from) / (to - from), 0.0f, 1.0f);

    return t * t * (3.0f - 2.0f * t);
}

static uint32_t paint(uint32_t tone, float low, float gain, float share)
{
    const float white = 65535.0f;
    float value = 0.5f * clampf(((float)tone - low) * gain, 0.0f, white);

    return (uint32_t)(value + (white - value) * share + 0.5f);
}

static void blend(struct reference *reference, const struct picture *picture, float threshold,
                  size_t count)
{
    float low = (float)reference->levels[0];
    float range = fmaxf((float)reference->levels[1] - low, 4096.0f);
    float gain = 65535.0f / range, scale = 1.0f / (threshold * range);

    for (size_t i = 0; i < count; i++) {
        uint32_t first = picture->pixels[2 * i], second = picture->pixels[2 * i + 1];
        float share = smoothstep(0.5f, 1.5f, reference->edges[i] * scale);

        reference->painted[2 * i] =
            paint(first & 0xffff, low, gain, share) | paint(first >> 16, low, gain, share) << 16;
        reference->painted[2 * i + 1] =
            paint(second & 0xffff, low, gain, share) | (second & 0xffff0000);
    }
}

bool reference_make(struct reference *reference, const struct picture *picture, float threshold)
{
    size_t count = (size_t)picture->width * picture->height;
    float weights[EDGE_RADIUS + 1];

    *reference = (struct reference){
        .luma = malloc(count * sizeof *reference->luma),
        .rows = malloc(count * sizeof *reference->rows),
        .blurred = malloc(count * sizeof *reference->blurred),
        .edges = malloc(count * sizeof *reference->edges),
        .painted = malloc(count * 2 * sizeof *reference->painted),
    };
    if (!reference->luma || !reference->rows || !reference->blurred || !reference->edges ||
        !reference->painted)
        return false;
    edge_weights(weights);
    make_luma(reference, picture, count);
    make_levels(reference, count);
    blur_rows(reference, weights, picture->width, picture->height);
    blur_columns(reference, weights, picture->width, picture->height);
    find_edges(reference, picture->width, picture->height);
    blend(reference, picture, threshold, count);
    return true;
}

void reference_free(struct reference *reference)
{
    free(reference->luma);
    free(reference->rows);
    free(reference->blurred);
    free(reference->edges);
    free(reference->painted);
    *reference = (struct reference){0};
}
