/* What kernels can say: each word of the kernel language that a driver could get wrong. */
#include <math.h>
#include <string.h>

#include "block.h"
#include "conform.h"
#include "types.h"

#define N 1000

/* ---- Blocks --------------------------------------------------------------------------------- */

static struct gantry_buffer *make_input(struct conform *c, uint32_t *words, uint32_t count,
                                        uint32_t seed)
{
    struct gantry_buffer *buffer = make_buffer(c, 4 * (uint64_t)count);

    for (uint32_t i = 0; i < count; i++)
        words[i] = next_random(&seed);
    write_buffer(c, buffer, 0, words, 4 * (uint64_t)count);
    return buffer;
}

/* Launches a kernel of fold_args over `threads` threads and brings back `count` words. */
static void run_fold(struct conform *c, const char *name, struct gantry_buffer *x, uint32_t n,
                     uint32_t threads, uint32_t *found, uint32_t count)
{
    struct gantry_buffer *sums = make_buffer(c, 4 * (uint64_t)count);
    struct fold_args args = {.x = gantry_buffer_address(x),
                             .sums = gantry_buffer_address(sums),
                             .n = n};
    struct gantry_list *list = make_list(c);

    LAUNCH(list, make_kernel(c, "block", name), threads, &args);
    RECORD(gantry_list_download(list, sums, 0, found, 4 * (uint64_t)count));
    submit_and_wait(c, list);
}

static void shared_block(struct conform *c)
{
    uint32_t words[N], found, expected = 0;
    struct gantry_buffer *x = make_input(c, words, N, 5);

    for (uint32_t i = 0; i < N; i++)
        expected += words[i];
    run_fold(c, "sum_block", x, N, N, &found, 1);
    EQUAL(&found, &expected, 1);
}

/* Every block size that the rules of the kernel allow. */
static void shared_block_sizes(struct conform *c)
{
    uint32_t words[N], expected = 0;
    struct gantry_buffer *x = make_input(c, words, N, 6);

    for (uint32_t i = 0; i < N; i++)
        expected += words[i];
    for (uint32_t size = 1; size <= 256 && size <= c->info.limits.max_threads_per_block;
         size *= 2) {
        struct gantry_kernel_params params = {.block = {size, 1, 1}};
        struct gantry_buffer *sums = make_buffer(c, 4);
        struct fold_args args = {.x = gantry_buffer_address(x),
                                 .sums = gantry_buffer_address(sums),
                                 .n = N};
        struct gantry_list *list = make_list(c);
        struct gantry_kernel *kernel;
        uint32_t found;

        OK(gantry_kernel_create(load_module(c, "block"), "sum_block", &params, &kernel));
        LAUNCH(list, kernel, N, &args);
        gantry_kernel_destroy(&kernel);
        RECORD(gantry_list_download(list, sums, 0, &found, 4));
        submit_and_wait(c, list);
        CHECK(found == expected, "blocks of %u: the sum is %u instead of %u", size, found,
              expected);
    }
}

static void shared_array(struct conform *c)
{
    uint32_t words[1024], found[1024], expected[1024];
    struct gantry_buffer *x = make_input(c, words, 1024, 7);

    for (uint32_t i = 0; i < 1024; i++)
        expected[i] = words[i / 256 * 256 + 255 - i % 256];
    run_fold(c, "reverse_block", x, 1024, 1024, found, 1024);
    EQUAL(found, expected, 1024);
}

static void barrier_orders_global_memory(struct conform *c)
{
    uint32_t words[1024], next[128], found[1024];
    struct gantry_buffer *x = make_input(c, words, 1024, 8);

    run_fold(c, "pass_on", x, 1024, 1024, found, 1);
    for (uint32_t *block = words; block < words + 1024; block += 128)
        for (uint32_t round = 0; round < 8; round++) {
            for (uint32_t t = 0; t < 128; t++)
                next[t] = block[(t + 1) % 128] * 3 + round;
            memcpy(block, next, sizeof(next));
        }
    read_buffer(c, x, 0, found, sizeof(found));
    EQUAL(found, words, 1024);
}

static void return_before_a_barrier(struct conform *c)
{
    uint32_t flags[16], found[1024], expected[1024];
    struct gantry_buffer *x = make_buffer(c, sizeof(flags));

    for (uint32_t i = 0; i < 16; i++)
        flags[i] = i % 3 ? i : 0;
    write_buffer(c, x, 0, flags, sizeof(flags));
    for (uint32_t i = 0; i < 1024; i++)
        expected[i] = flags[i / 64] ? 63 - i % 64 + flags[i / 64] : 0;
    run_fold(c, "leave_early", x, 16, 1024, found, 1024);
    EQUAL(found, expected, 1024);
}

static void histogram(struct conform *c)
{
    uint32_t words[N], found[256], expected[256] = {0};
    struct gantry_buffer *x = make_input(c, words, N, 9);

    for (uint32_t i = 0; i < N; i++)
        expected[words[i] & 255]++;
    run_fold(c, "histogram", x, N, N, found, 256);
    EQUAL(found, expected, 256);
}

/* ---- Subgroups ------------------------------------------------------------------------------ */

#define BLOCK 256

/* Where the device has put the threads of each block. */
struct lane {
    uint32_t size, subgroup, lane, present;
};

static void run_lanes(struct conform *c, const char *name, uint32_t *found, uint32_t words)
{
    struct gantry_buffer *to = make_buffer(c, 4 * (uint64_t)words * BLOCK);
    struct lanes_args args = {.to = gantry_buffer_address(to)};
    struct gantry_list *list = make_list(c);

    LAUNCH(list, make_kernel(c, "block", name), BLOCK, &args);
    RECORD(gantry_list_download(list, to, 0, found, 4 * (uint64_t)words * BLOCK));
    submit_and_wait(c, list);
}

static struct lane *find_lanes(struct conform *c)
{
    struct lane *lanes = make_words(c, BLOCK * sizeof(*lanes));

    run_lanes(c, "lanes", (uint32_t *)lanes, 4);
    return lanes;
}

/* The thread at a place of a subgroup. */
static uint32_t thread_at(struct conform *c, const struct lane *lanes, uint32_t subgroup,
                          uint32_t lane)
{
    for (uint32_t t = 0; t < BLOCK; t++)
        if (lanes[t].subgroup == subgroup && lanes[t].lane == lane)
            return t;
    FAIL("subgroup %u has no lane %u", subgroup, lane);
}

static void subgroup_places(struct conform *c)
{
    const struct lane *lanes = find_lanes(c);
    const struct gantry_limits *l = &c->info.limits;

    for (uint32_t t = 0; t < BLOCK; t++) {
        uint32_t size = lanes[t].size;

        CHECK(size >= l->subgroup_min && size <= l->subgroup_max,
              "a subgroup of %u, the device says %u to %u", size, l->subgroup_min, l->subgroup_max);
        CHECK(lanes[t].lane < size && lanes[t].subgroup < BLOCK / size,
              "thread %u is lane %u of subgroup %u", t, lanes[t].lane, lanes[t].subgroup);
        CHECK(lanes[t].present == size, "%u of %u threads voted", lanes[t].present, size);
        CHECK(thread_at(c, lanes, lanes[t].subgroup, lanes[t].lane) == t,
              "two threads are lane %u of subgroup %u", lanes[t].lane, lanes[t].subgroup);
    }
}

static void subgroup_sums(struct conform *c)
{
    const struct lane *lanes = find_lanes(c);
    uint32_t found[3 * BLOCK], expected[3 * BLOCK];

    run_lanes(c, "subgroup_sums", found, 3);
    for (uint32_t t = 0; t < BLOCK; t++) {
        uint32_t *e = &expected[3 * t];

        e[0] = e[2] = 0;
        e[1] = UINT32_MAX;
        for (uint32_t other = 0; other < BLOCK; other++) {
            uint32_t v = other * 7 + 3;

            if (lanes[other].subgroup != lanes[t].subgroup)
                continue;
            e[0] += v;
            e[1] = v < e[1] ? v : e[1];
            e[2] = v > e[2] ? v : e[2];
        }
    }
    EQUAL(found, expected, 3 * BLOCK);
}

static void subgroup_moves(struct conform *c)
{
    const struct lane *lanes = find_lanes(c);
    uint32_t found[3 * BLOCK], expected[3 * BLOCK];

    run_lanes(c, "subgroup_moves", found, 3);
    for (uint32_t t = 0; t < BLOCK; t++) {
        const struct lane *at = &lanes[t];

        if (at->size < 2)
            skip(c, "subgroups have one thread");
        expected[3 * t] = thread_at(c, lanes, at->subgroup, at->lane ^ 1) * 7 + 3;
        expected[3 * t + 1] = thread_at(c, lanes, at->subgroup, at->size - 1 - at->lane) * 7 + 3;
        expected[3 * t + 2] = thread_at(c, lanes, at->subgroup, 0) * 7 + 3;
    }
    EQUAL(found, expected, 3 * BLOCK);
}

/* ---- Atomics -------------------------------------------------------------------------------- */

static void atomics(struct conform *c)
{
    const uint32_t n = 10000;
    struct gantry_buffer *to = make_buffer(c, 40), *least = make_buffer(c, 4);
    struct atomics_args args = {.to = gantry_buffer_address(to),
                                .least = gantry_buffer_address(least),
                                .n = n};
    uint32_t start[10] = {0, UINT32_MAX, 0, 0, UINT32_MAX, 0, 0, 0, 0, 0};
    uint32_t found[10], expected[6] = {n * (n - 1) / 2, 5, n - 1, UINT32_MAX, 0xffff0000, 0};
    struct gantry_list *list = make_list(c);
    int32_t low;

    for (uint32_t i = 0; i < n; i++)
        expected[5] ^= i;
    RECORD(gantry_list_upload(list, to, 0, start, sizeof(start)));
    LAUNCH(list, make_kernel(c, "block", "atomics"), n, &args);
    RECORD(gantry_list_download(list, to, 0, found, sizeof(found)));
    RECORD(gantry_list_download(list, least, 0, &low, 4));
    submit_and_wait(c, list);
    EQUAL(found, expected, 6);
    CHECK(low == 10 - (int32_t)(n - 1), "the least int is %d", low);
    CHECK(found[6] >= 1 && found[6] <= n && found[7] == 1,
          "compare and swap: %u won, the value is %u", found[7], found[6]);
    /* Every value that went in came out once, but for the last one: the sum is what stayed. */
    CHECK(found[9] == found[8] && found[8] >= 1 && found[8] <= n,
          "exchange: %u stayed, the sums differ by %u", found[8], found[9]);
}

static void float_add(struct conform *c)
{
    const uint32_t n = 8000;
    struct gantry_buffer *to = make_buffer(c, 16);
    struct float_args args = {.to = gantry_buffer_address(to), .n = n};
    struct gantry_list *list = make_list(c);
    float found[4];

    LAUNCH(list, make_kernel(c, "block", "float_add"), n, &args);
    RECORD(gantry_list_download(list, to, 0, found, sizeof(found)));
    submit_and_wait(c, list);
    for (uint32_t i = 0; i < 4; i++) {
        float expected = (float)(n / 8 * (i + i + 4));

        CHECK(found[i] == expected, "sum %u is %g instead of %g", i, (double)found[i],
              (double)expected);
    }
}

static void long_atomics(struct conform *c)
{
    const uint32_t n = 10000;
    struct gantry_kernel *kernel = make_kernel(c, "types", "long_atomics");
    struct gantry_buffer *to = make_buffer(c, 8);
    struct long_atomics_args args = {.to = gantry_buffer_address(to), .n = n};
    struct gantry_list *list = make_list(c);
    uint64_t found, expected = (uint64_t)n * (n - 1) / 2 << 24;

    LAUNCH(list, kernel, n, &args);
    RECORD(gantry_list_download(list, to, 0, &found, 8));
    submit_and_wait(c, list);
    CHECK(found == expected, "the sum is %llu instead of %llu", (unsigned long long)found,
          (unsigned long long)expected);
}

/* ---- Types ---------------------------------------------------------------------------------- */

/* A buffer that holds these bytes. */
static struct gantry_buffer *make_filled(struct conform *c, const void *data, uint64_t size)
{
    struct gantry_buffer *buffer = make_buffer(c, size);

    write_buffer(c, buffer, 0, data, size);
    return buffer;
}

static void small_integers(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "types", "small_integers");
    uint8_t bytes[N], found_bytes[N];
    int16_t words[N], found_words[N];
    int32_t found[N];
    struct gantry_buffer *b, *w, *to = make_buffer(c, sizeof(found));
    struct gantry_list *list = make_list(c);
    struct bytes_args args = {.to = gantry_buffer_address(to), .n = N};

    for (int i = 0; i < N; i++) {
        bytes[i] = (uint8_t)(i * 5);
        words[i] = (int16_t)(i * 61 - 30000);
    }
    b = make_filled(c, bytes, sizeof(bytes));
    w = make_filled(c, words, sizeof(words));
    args.bytes = gantry_buffer_address(b);
    args.words = gantry_buffer_address(w);
    LAUNCH(list, kernel, N, &args);
    RECORD(gantry_list_download(list, to, 0, found, sizeof(found)));
    RECORD(gantry_list_download(list, b, 0, found_bytes, sizeof(found_bytes)));
    RECORD(gantry_list_download(list, w, 0, found_words, sizeof(found_words)));
    submit_and_wait(c, list);
    for (int i = 0; i < N; i++)
        CHECK(found[i] == bytes[i] * 3 + words[i] && found_bytes[i] == (uint8_t)(bytes[i] + 1) &&
                  found_words[i] == -words[i],
              "element %d: %d, %u, %d", i, found[i], found_bytes[i], found_words[i]);
}

static void negative_indices(struct conform *c)
{
    struct gantry_buffer *to = make_buffer(c, 4 * 3 * N);
    struct index_args args = {.to = gantry_buffer_address(to),
                              .inside = gantry_buffer_address(to) + 4 * 2 * N,
                              .back = -N,
                              .n = N / 2};
    struct gantry_list *list = make_list(c);
    uint32_t found[3 * N], expected[3 * N];

    for (uint32_t i = 0; i < 3 * N; i++)
        found[i] = expected[i] = i;
    /* `inside` is element 2N: downwards from 2N - 1, and upwards from N. */
    for (uint32_t i = 0; i < N / 2; i++) {
        expected[2 * N - 1 - i] = i + 100;
        expected[N + i] = i + 7;
    }
    write_buffer(c, to, 0, found, sizeof(found));
    LAUNCH(list, make_kernel(c, "types", "negative_index"), N / 2, &args);
    RECORD(gantry_list_download(list, to, 0, found, sizeof(found)));
    submit_and_wait(c, list);
    EQUAL(found, expected, 3 * N);
}

static void vectors(struct conform *c)
{
    float a[4 * N], b[2 * N], found_a[4 * N];
    int32_t v[4 * N], found_v[4 * N];
    uint32_t d[2 * N], found_d[2 * N], expected_d[2 * N];
    struct gantry_list *list = make_list(c);
    struct vectors_args args = {.scale = 0.5f, .n = N};
    struct gantry_buffer *ab, *vb, *db;

    for (int i = 0; i < 4 * N; i++) {
        a[i] = (float)i;
        v[i] = i * 3 - 7;
    }
    for (int i = 0; i < 2 * N; i++) {
        b[i] = (float)(i % 100) - 50.0f;
        d[i] = (uint32_t)i * 77u;
        expected_d[i] = d[i] ^ (i % 2 ? 2u : 1u);
    }
    ab = make_filled(c, a, sizeof(a));
    vb = make_filled(c, v, sizeof(v));
    db = make_filled(c, d, sizeof(d));
    args.a = gantry_buffer_address(ab);
    args.b = gantry_buffer_address(make_filled(c, b, sizeof(b)));
    args.c = gantry_buffer_address(vb);
    args.d = gantry_buffer_address(db);
    LAUNCH(list, make_kernel(c, "types", "vectors"), N, &args);
    RECORD(gantry_list_download(list, ab, 0, found_a, sizeof(found_a)));
    RECORD(gantry_list_download(list, vb, 0, found_v, sizeof(found_v)));
    RECORD(gantry_list_download(list, db, 0, found_d, sizeof(found_d)));
    submit_and_wait(c, list);
    EQUAL(found_d, expected_d, 2 * N);
    for (int i = 0; i < 4 * N; i++) {
        CHECK(found_a[i] == a[i] * 0.5f + b[i / 4 * 2 + i % 2], "a[%d] is %g", i,
              (double)found_a[i]);
        CHECK(found_v[i] == (i % 4 == 3 ? v[i - 3] + 1 : v[i]), "c[%d] is %d", i, found_v[i]);
    }
}

/* As POINTEE(particle, 48, 16) states it. */
struct host_particle {
    float position[4];
    float velocity[2];
    float mass[2];
    gantry_ptr trace;
    uint32_t id, moves;
};
_Static_assert(sizeof(struct host_particle) == 48, "no padding");

static void structs(struct conform *c)
{
    struct host_particle *all = make_words(c, N * sizeof(*all));
    struct gantry_buffer *trace = make_buffer(c, 4 * N), *buffer;
    struct gantry_list *list = make_list(c);
    struct particles_args args = {.step = 2.0f, .n = N};
    uint32_t found[N];

    for (uint32_t i = 0; i < N; i++)
        all[i] = (struct host_particle){.position = {(float)i, 1, 2, 3},
                                        .velocity = {(float)(i % 10), 9},
                                        .mass = {1.5f, (float)i},
                                        .trace = gantry_buffer_address(trace),
                                        .id = N - 1 - i,
                                        .moves = i};
    buffer = make_filled(c, all, N * sizeof(*all));
    args.all = gantry_buffer_address(buffer);
    LAUNCH(list, make_kernel(c, "types", "particles"), N, &args);
    RECORD(gantry_list_download(list, buffer, 0, all, N * sizeof(*all)));
    RECORD(gantry_list_download(list, trace, 0, found, sizeof(found)));
    submit_and_wait(c, list);
    for (uint32_t i = 0; i < N; i++) {
        const struct host_particle *p = &all[i];

        CHECK(p->position[0] == (float)i + 2.0f * (float)(i % 10) && p->position[1] == 1 &&
                  p->position[3] == 1.5f + (float)i && p->velocity[1] == 9 && p->id == N - 1 - i &&
                  p->moves == i + 1,
              "particle %u: (%g, %g, %g), %u moves", i, (double)p->position[0],
              (double)p->position[1], (double)p->position[3], p->moves);
        CHECK(found[N - 1 - i] == i + 1, "the trace of particle %u is %u", i, found[N - 1 - i]);
    }
}

static void tables(struct conform *c)
{
    static const int32_t weights[] = {1, -4, 6, -4, 1};
    int32_t x[N], found[N];
    struct gantry_buffer *to = make_buffer(c, sizeof(x));
    struct gantry_list *list = make_list(c);
    struct table_args args = {.to = gantry_buffer_address(to), .n = N};

    for (int i = 0; i < N; i++)
        x[i] = (i * i * 37) % 1009 - 500;
    args.x = gantry_buffer_address(make_filled(c, x, sizeof(x)));
    LAUNCH(list, make_kernel(c, "types", "difference"), N, &args);
    RECORD(gantry_list_download(list, to, 0, found, sizeof(found)));
    submit_and_wait(c, list);
    for (int i = 0; i + 4 < N; i++) {
        int32_t sum = 0;

        for (int k = 0; k < 5; k++)
            sum += weights[k] * x[i + k];
        CHECK(found[i] == sum, "difference %d is %d instead of %d", i, found[i], sum);
    }
}

/* ---- Optional types ------------------------------------------------------------------------- */

static void halves(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "types", "halves");
    /* The smallest normal number is among them; `out` is 2x + 1. */
    static const uint16_t in[] = {0x0000, 0x3c00, 0xc000, 0x3800, 0x0400, 0x3555};
    static const float values[] = {0.0f, 1.0f, -2.0f, 0.5f, 0x1p-14f, 0x1.554p-2f};
    static const uint16_t out[] = {0x3c00, 0x4200, 0xc200, 0x4000, 0x3c00, 0x3eaa};
    enum { COUNT = sizeof(in) / sizeof(in[0]) };
    struct gantry_buffer *x = make_filled(c, in, sizeof(in)), *to = make_buffer(c, 4 * COUNT);
    struct halves_args args = {.x = gantry_buffer_address(x),
                               .to = gantry_buffer_address(to),
                               .n = COUNT};
    struct gantry_list *list = make_list(c);
    float found[COUNT];
    uint16_t back[COUNT];

    LAUNCH(list, kernel, COUNT, &args);
    RECORD(gantry_list_download(list, to, 0, found, sizeof(found)));
    RECORD(gantry_list_download(list, x, 0, back, sizeof(back)));
    submit_and_wait(c, list);
    for (int i = 0; i < COUNT; i++) {
        CHECK(found[i] == values[i], "half 0x%04x is %g", in[i], (double)found[i]);
        /* One unit in the last place: a backend may fuse the two operations. */
        CHECK(back[i] + 1 >= out[i] && back[i] <= out[i] + 1, "2 * %g + 1 is 0x%04x, not 0x%04x",
              (double)values[i], back[i], out[i]);
    }
}

static void doubles(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "types", "doubles");
    double x[N], found[N];
    struct gantry_list *list = make_list(c);
    struct doubles_args args = {.scale = 1.0 / 3.0, .n = N};
    struct gantry_buffer *buffer;

    for (int i = 0; i < N; i++)
        x[i] = i * 1.25 + 1e-3;
    buffer = make_filled(c, x, sizeof(x));
    args.x = gantry_buffer_address(buffer);
    LAUNCH(list, kernel, N, &args);
    RECORD(gantry_list_download(list, buffer, 0, found, sizeof(found)));
    submit_and_wait(c, list);
    for (int i = 0; i < N; i++) {
        double expected = sqrt(x[i]) / 3.0 + 0.5;

        CHECK(fabs(found[i] - expected) <= 1e-14 * expected, "element %d is %.17g, not %.17g", i,
              found[i], expected);
    }
}

static void longs(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "types", "longs");
    int64_t x[N], found_x[N];
    uint64_t y[N], found_y[N];
    struct gantry_list *list = make_list(c);
    struct longs_args args = {.add = INT64_C(-12345678901234), .n = N};
    struct gantry_buffer *xb, *yb;

    for (int i = 0; i < N; i++) {
        x[i] = (int64_t)i * 1000003 - 7;
        y[i] = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    }
    xb = make_filled(c, x, sizeof(x));
    yb = make_filled(c, y, sizeof(y));
    args.x = gantry_buffer_address(xb);
    args.y = gantry_buffer_address(yb);
    LAUNCH(list, kernel, N, &args);
    RECORD(gantry_list_download(list, xb, 0, found_x, sizeof(found_x)));
    RECORD(gantry_list_download(list, yb, 0, found_y, sizeof(found_y)));
    submit_and_wait(c, list);
    for (int i = 0; i < N; i++)
        CHECK(found_x[i] == x[i] * x[i] + args.add && found_y[i] == ((y[i] >> 7) ^ (y[i] << 40)),
              "element %d: %lld, %llu", i, (long long)found_x[i], (unsigned long long)found_y[i]);
}

const struct conform_case language_cases[] = {
    {"language/shared-block", NULL, shared_block},
    {"language/shared-block-sizes", NULL, shared_block_sizes},
    {"language/shared-array", NULL, shared_array},
    {"language/barrier-orders-global-memory", NULL, barrier_orders_global_memory},
    {"language/return-before-a-barrier", NULL, return_before_a_barrier},
    {"language/histogram", NULL, histogram},
    {"language/subgroup-places", "C14", subgroup_places},
    {"language/subgroup-sums", "C14", subgroup_sums},
    {"language/subgroup-moves", "C14", subgroup_moves},
    {"language/atomics", NULL, atomics},
    {"language/float-add", NULL, float_add},
    {"language/long-atomics", NULL, long_atomics},
    {"language/small-integers", NULL, small_integers},
    {"language/negative-indices", NULL, negative_indices},
    {"language/vectors", NULL, vectors},
    {"language/structs", NULL, structs},
    {"language/tables", NULL, tables},
    {"language/halves", NULL, halves},
    {"language/doubles", NULL, doubles},
    {"language/longs", NULL, longs},
    {0},
};
