/* The sums of sum.gk and scan.gk, addition by addition. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, TILE = 4096, PIECES = TILE / 4 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static float block_sum(const float values[THREADS])
{
    float sum = 0.0f, rows[16];

    for (int thread = 0; thread < 16; thread++) {
        rows[thread] = 0.0f;
        for (int i = 0; i < 16; i++)
            rows[thread] += values[16 * i + thread];
    }
    sum = rows[0];
    for (int i = 1; i < 16; i++)
        sum += rows[i];
    return sum;
}

static float chunk_sum(const float *x, size_t length)
{
    size_t pieces = length / 4;
    float sums[THREADS][4][4], totals[THREADS];

    memset(sums, 0, sizeof(sums));
    for (size_t p = 0; p < pieces; p++)
        for (int k = 0; k < 4; k++)
            sums[p % THREADS][p / THREADS % 4][k] += x[4 * p + k];
    for (size_t thread = 0; thread < THREADS; thread++) {
        float v[4], (*own)[4] = sums[thread];

        for (int k = 0; k < 4; k++)
            v[k] = (own[0][k] + own[1][k]) + (own[2][k] + own[3][k]);
        totals[thread] = (v[0] + v[1]) + (v[2] + v[3]);
        if (4 * pieces + thread < length)
            totals[thread] += x[4 * pieces + thread];
    }
    return block_sum(totals);
}

float ordered_sum(const float *x, size_t n, size_t chunk)
{
    size_t chunks = n ? (n + chunk - 1) / chunk : 1;
    float *sums = calloc(chunks, sizeof(*sums)), sum;

    if (!sums)
        abort();
    for (size_t b = 0; b < chunks; b++)
        sums[b] = chunk_sum(x + b * chunk, least(chunk, n - b * chunk));
    sum = chunks == 1 ? sums[0] : chunk_sum(sums, chunks);
    free(sums);
    return sum;
}

float ordered_dot(const float *x, const float *y, size_t n, size_t chunk)
{
    float *products = calloc(n ? n : 1, sizeof(*products)), sum;

    if (!products)
        abort();
    for (size_t i = 0; i < n; i++)
        products[i] = x[i] * y[i];
    sum = ordered_sum(products, n, chunk);
    free(products);
    return sum;
}

/* ---- Prefix sums ---------------------------------------------------------------------------- */

struct tile {
    float inside[PIECES][4], pieces[PIECES], rows[PIECES / 16], layers[4];
};

/* What lies before each of 16 sums; returns what all of them are. */
static float before_each(float sums[16])
{
    float sum = 0.0f;

    for (int i = 0; i < 16; i++) {
        float v = sums[i];

        sums[i] = sum;
        sum += v;
    }
    return sum;
}

static void add_inside(struct tile *tile, const float *from, size_t left)
{
    memset(tile, 0, sizeof(*tile));
    memcpy(tile->inside, from, left * sizeof(*from));
    for (int p = 0; p < PIECES; p++) {
        for (int k = 1; k < 4; k++)
            tile->inside[p][k] += tile->inside[p][k - 1];
        tile->pieces[p] = tile->inside[p][3];
    }
    for (int row = 0; row < PIECES / 16; row++)
        tile->rows[row] = before_each(&tile->pieces[16 * row]);
    for (int layer = 0; layer < 4; layer++)
        tile->layers[layer] = before_each(&tile->rows[16 * layer]);
}

static void scan_tile(float *to, const float *from, size_t left, float offset, bool exclusive)
{
    static struct tile tile;

    add_inside(&tile, from, left);
    for (size_t i = 0; i < left; i++) {
        size_t piece = i / 4, layer = piece / THREADS;
        float before = offset, inside = tile.inside[piece][i % 4];

        for (size_t l = 0; l < layer; l++)
            before += tile.layers[l];
        before += tile.rows[piece / 16] + tile.pieces[piece];
        if (exclusive)
            inside = i % 4 ? tile.inside[piece][i % 4 - 1] : 0.0f;
        to[i] = before + inside;
    }
}

void ordered_scan(float *to, const float *from, size_t n, bool exclusive)
{
    size_t tiles = (n + TILE - 1) / TILE;
    float *offsets = calloc(tiles ? tiles : 1, sizeof(*offsets));

    if (!offsets)
        abort();
    for (size_t t = 0; t < tiles && tiles > 1; t++)
        offsets[t] = chunk_sum(from + t * TILE, least(TILE, n - t * TILE));
    if (tiles > 1)
        ordered_scan(offsets, offsets, tiles, true);
    for (size_t t = 0; t < tiles; t++)
        scan_tile(to + t * TILE, from + t * TILE, least(TILE, n - t * TILE), offsets[t], exclusive);
    free(offsets);
}
