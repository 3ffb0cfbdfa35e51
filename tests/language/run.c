/* Runs the functions, atomics and addresses of the kernel language on the device that the
 * configuration chooses, and compares with C. What a driver could get wrong beyond these is the
 * conformance suite's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/gantry.h>

#include "address.h"
#include "atomics.h"
#include "maths.h"

enum { N = 512, ROWS = 24, SKIPPED = 77 };

static struct gantry *g;
static struct gantry_device *device;
static struct gantry_queue *queue;

static void check(enum gantry_status status)
{
    if (status != GANTRY_OK)
        fail_msg("%s", gantry_last_error());
}

static struct gantry_module *load(const char *name)
{
    char path[4096];
    struct gantry_module *module;
    snprintf(path, sizeof(path), "%s/%s.gpk", getenv("PACKAGES"), name);
    struct gantry_module_params params = {.file = path};
    check(gantry_module_load(device, &params, &module));
    return module;
}

/* Memory that host and device see. */
static struct gantry_buffer *make(size_t size, const void *contents)
{
    struct gantry_buffer *buffer;
    struct gantry_buffer_params params = {.size = size,
                                          .memory = GANTRY_MEMORY_READBACK,
                                          .zero = true};
    check(gantry_buffer_create(device, &params, &buffer));
    if (contents)
        memcpy(gantry_buffer_host(buffer), contents, size);
    return buffer;
}

static gantry_ptr address(const struct gantry_buffer *buffer)
{
    return gantry_buffer_address(buffer);
}

/* One launch on a list of its own, waited for. */
static void launch(struct gantry_kernel *kernel, uint32_t threads, const void *args, size_t size)
{
    struct gantry_list *list;
    struct gantry_point point;
    check(gantry_list_create(device, NULL, &list));
    if (!gantry_list_launch(list, kernel, (struct gantry_size){threads, 1, 1}, args, size))
        fail_msg("%s", gantry_last_error());
    check(gantry_queue_submit(queue, list, NULL, 0, &point));
    check(gantry_wait(point, GANTRY_FOREVER));
    gantry_list_destroy(&list);
}

/* ---- Mathematics ---------------------------------------------------------------------------- */

static float clampf(float v, float low, float high)
{
    return fminf(fmaxf(v, low), high);
}

static float signf(float v)
{
    return (float)((v > 0.0f) - (v < 0.0f));
}

static float fractf(float v)
{
    return v - floorf(v);
}

static float smoothstepf(float low, float high, float v)
{
    float t = clampf((v - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

static uint32_t reversed(uint32_t bits)
{
    uint32_t result = 0;
    for (int i = 0; i < 32; i++)
        result |= (bits >> i & 1) << (31 - i);
    return result;
}

static float vector_row(float x, float y)
{
    float v[4] = {x, y, x + y, x - y}, sum = 0.0f, weight = 1.0f;
    for (int i = 0; i < 4; i++, weight *= 2.0f) {
        float c = clampf(v[i] * 2.0f + 1.0f, -3.0f, 3.0f);
        c = fminf(fmaxf(c, 0.5f), 2.5f);
        sum += weight * (c * 0.5f + sqrtf(c) * 0.5f);
    }
    return sum;
}

/* Halves between 0.5 and 1, and -1. */
static float half_row(uint32_t bits)
{
    float sum[2] = {0.0f, 0.0f};
    for (uint32_t k = 0; k < 4; k++)
        sum[k % 2] += 0.5f + (float)((bits & 1023) ^ k) / 2048.0f - 1.0f;
    return sum[0] + sum[1] * 2.0f;
}

/* Row r of maths.gk. */
static float expected(int row, float x, float y)
{
    static const float weights[] = {0.5f, 0.25f, 0.125f, 0.0625f}, scale[] = {1.5f, 2.5f, 3.5f};
    uint32_t bits = (uint32_t)(fabsf(x) * 1000.0f) + 1u;
    switch (row) {
    case 0:
        return fabsf(x) + signf(y);
    case 1:
        return fminf(x, y) + fmaxf(x, y) * 2.0f;
    case 2:
        return clampf(x, -1.0f, 1.0f) + floorf(x) + ceilf(y) * 4.0f;
    case 3:
        return truncf(x) + rintf(y) * 8.0f + fractf(x);
    case 4:
        return x - 3.0f * floorf(x / 3.0f);
    case 5:
        return x * 0.75f + y * 0.25f + (y < x ? 0.0f : 1.0f) + smoothstepf(0.0f, 2.0f, x);
    case 6:
        return sqrtf(fabsf(x)) + 1.0f / sqrtf(fabsf(y) + 1.0f);
    case 7:
        return expf(x * 0.25f) + exp2f(y * 0.25f);
    case 8:
        return logf(fabsf(x) + 1.0f) + log2f(fabsf(y) + 1.0f);
    case 9:
        return powf(fabsf(x) + 0.5f, 1.5f);
    case 10:
        return sinf(x) + cosf(y) + tanf(x * 0.25f);
    case 11:
        return asinf(clampf(x, -1.0f, 1.0f)) + acosf(clampf(y, -1.0f, 1.0f));
    case 12:
        return atan2f(y, x) + atanf(x);
    case 13:
        return sinhf(x * 0.25f) + coshf(y * 0.25f) + tanhf(x);
    case 14:
        return fmaf(x, y, 0.75f);
    case 15:
        return 0.0f; /* none of the inputs is infinite or no number */
    case 16:
        return x * 2.0f + y * 3.0f + sqrtf(x * x + y * y + 5.0f);
    case 17:
        return -x + y;
    case 18:
        return (float)(__builtin_popcount(bits) + __builtin_ctz(bits) * 100 +
                       (31 - __builtin_clz(bits)) * 10000);
    case 19:
        return (float)(reversed(bits) >> 8);
    case 20:
        return (float)((int)(x * 10.0f) % 7);
    case 21:
        return floorf(y) * weights[bits & 3] + fractf(y) * scale[bits % 3];
    case 22:
        return vector_row(x, y);
    default:
        return half_row(bits);
    }
}

static void test_maths(void **state)
{
    (void)state;
    float x[N], y[N];
    for (int i = 0; i < N; i++) {
        /* Steps that avoid whole numbers and ties, where one rounding more shows. */
        x[i] = (float)(i - N / 2) * 0.0137f + 0.0011f;
        y[i] = (float)((i * 37) % N - N / 2) * 0.0113f + 0.0007f;
    }
    struct gantry_module *module = load("maths");
    struct gantry_kernel *kernel;
    struct gantry_buffer *xs = make(sizeof(x), x), *ys = make(sizeof(y), y);
    struct gantry_buffer *rows = make(sizeof(float) * ROWS * N, NULL);
    struct maths_args args = {address(xs), address(ys), address(rows), N, {1.5f, 2.5f, 3.5f}};
    check(maths_create(module, (struct gantry_size){0, 0, 0}, &kernel));
    launch(kernel, N, &args, sizeof(args));
    const float *found = gantry_buffer_host(rows);
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < N; i++) {
            float want = expected(row, x[i], y[i]), got = found[row * N + i];
            /* Vulkan allows sin, asin and their like 4096 units in the last place. */
            if (!(fabsf(want - got) <= 1e-3f * fmaxf(1.0f, fabsf(want))))
                fail_msg("row %d of x = %.9g, y = %.9g is %.9g, not %.9g", row, x[i], y[i], got,
                         want);
        }
    gantry_buffer_destroy(&xs);
    gantry_buffer_destroy(&ys);
    gantry_buffer_destroy(&rows);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
}

static void test_rounding(void **state)
{
    enum { ROUNDED_ROWS = 10 };
    (void)state;
    float x[N], y[N], products[N];
    for (int i = 0; i < N; i++) {
        /* Whose product never fits 24 bits. */
        x[i] = 1.0f + (float)(2 * i + 1) / 8192.0f;
        y[i] = 1.0f + (float)(2 * (i * 37 % N) + 1) / 16384.0f;
        products[i] = x[i] * y[i];
        assert_true(fmaf(x[i], y[i], -products[i]) != 0.0f);
    }
    struct gantry_module *module = load("maths");
    struct gantry_kernel *kernel;
    struct gantry_buffer *xs = make(sizeof(x), x), *ys = make(sizeof(y), y);
    struct gantry_buffer *rounded = make(sizeof(products), products);
    struct gantry_buffer *rows = make(sizeof(float) * ROUNDED_ROWS * N, NULL);
    float *found = gantry_buffer_host(rows);
    struct rounded_args args = {address(xs), address(ys), address(rounded), address(rows), N, 5};
    for (int i = 0; i < ROUNDED_ROWS * N; i++)
        found[i] = 1.0f;
    check(rounded_create(module, (struct gantry_size){0, 0, 0}, &kernel));
    launch(kernel, N, &args, sizeof(args));
    for (int i = 0; i < ROUNDED_ROWS * N; i++)
        if (found[i] != 0.0f)
            fail_msg("row %d of x = %.9g, y = %.9g is %.9g: a product was not rounded", i / N,
                     x[i % N], y[i % N], found[i]);
    gantry_buffer_destroy(&xs);
    gantry_buffer_destroy(&ys);
    gantry_buffer_destroy(&rounded);
    gantry_buffer_destroy(&rows);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
}

/* ---- Atomics -------------------------------------------------------------------------------- */

static void test_atomics(void **state)
{
    (void)state;
    const uint32_t totals[8] = {10, 1000000, 0, 0xffffffffu, 0, 0, 5, 0};
    uint32_t xored = 0;
    for (uint32_t i = 0; i < N; i++)
        xored ^= i;
    const uint32_t want[8] = {10 + N, 0, N - 1, 0, 0xffffffffu, xored, 77, 1};
    struct gantry_module *module = load("atomics");
    struct gantry_kernel *kernel;
    struct gantry_buffer *all = make(sizeof(totals), totals), *least = make(4, NULL);
    struct gantry_buffer *old = make(4, NULL), *sum = make(4, NULL), *bins = make(64, NULL);
    struct atomics_args args = {address(all), address(least), address(old),
                                address(sum), address(bins),  N};
    check(atomics_create(module, (struct gantry_size){0, 0, 0}, &kernel));
    launch(kernel, N, &args, sizeof(args));
    const uint32_t *found = gantry_buffer_host(all);
    for (int i = 0; i < 7; i++)
        if (found[i] != want[i])
            fail_msg("total %d is %u, not %u", i, found[i], want[i]);
    /* The swaps chain on from 0 as far as the threads happen to come in order. */
    assert_in_range(found[7], 1, N);
    assert_int_equal(*(int32_t *)gantry_buffer_host(least), -(N - 1));
    assert_int_equal(*(uint32_t *)gantry_buffer_host(old), 10 * N + N * (N - 1) / 2);
    assert_true(*(float *)gantry_buffer_host(sum) == 0.5f * N);
    for (int i = 0; i < 16; i++)
        assert_int_equal(((uint32_t *)gantry_buffer_host(bins))[i], N / 16);
    gantry_buffer_destroy(&all);
    gantry_buffer_destroy(&least);
    gantry_buffer_destroy(&old);
    gantry_buffer_destroy(&sum);
    gantry_buffer_destroy(&bins);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
}

/* ---- Addresses and loops -------------------------------------------------------------------- */

static void test_addresses(void **state)
{
    (void)state;
    uint32_t values[16];
    for (uint32_t i = 0; i < 16; i++)
        values[i] = 100 + i;
    struct gantry_module *module = load("address");
    struct gantry_kernel *kernel;
    struct gantry_buffer *x = make(sizeof(values), values), *found = make(24, NULL);
    struct around_args args = {address(x) + 32, address(found), -3, 5, 7};
    check(around_create(module, (struct gantry_size){0, 0, 0}, &kernel));
    launch(kernel, 1, &args, sizeof(args));
    const uint32_t want[6] = {105, 113, 115, 104, 12, 1};
    assert_memory_equal(gantry_buffer_host(found), want, sizeof(want));
    gantry_buffer_destroy(&x);
    gantry_buffer_destroy(&found);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
}

static uint32_t signed_rounds(struct gantry_kernel *kernel, struct gantry_buffer *rounds, int32_t n)
{
    struct signed_loop_args args = {address(rounds), n};
    memset(gantry_buffer_host(rounds), 0, 4);
    launch(kernel, 100, &args, sizeof(args));
    return *(uint32_t *)gantry_buffer_host(rounds);
}

static void test_signed_loop(void **state)
{
    (void)state;
    struct gantry_module *module = load("address");
    struct gantry_kernel *kernel;
    struct gantry_buffer *rounds = make(4, NULL);
    check(signed_loop_create(module, (struct gantry_size){0, 0, 0}, &kernel));
    assert_int_equal(signed_rounds(kernel, rounds, 1000), 1000 * 1001 / 2);
    assert_int_equal(signed_rounds(kernel, rounds, 0), 0);
    assert_int_equal(signed_rounds(kernel, rounds, -1), 0);
    assert_int_equal(signed_rounds(kernel, rounds, INT32_MIN), 0);
    gantry_buffer_destroy(&rounds);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
}

/* ---- The device ----------------------------------------------------------------------------- */

static int open_device(void)
{
    if (gantry_open(NULL, &g)) {
        printf("%s\n", gantry_last_error());
        return 1;
    }
    enum gantry_status status = gantry_device_open(g, NULL, &device);
    if (status == GANTRY_E_NO_DEVICE) {
        printf("skipped: %s\n", gantry_last_error());
        gantry_close(&g);
        return SKIPPED;
    }
    if (status || gantry_queue_create(device, NULL, &queue)) {
        printf("%s\n", gantry_last_error());
        return 1;
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maths),       cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_atomics),     cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_signed_loop),
    };
    int status = open_device();
    if (status)
        return status;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    gantry_queue_destroy(&queue);
    gantry_device_close(&device);
    gantry_close(&g);
    return status;
}
