/* particles_structs and particles_arrays: the same bits as plain C, step after step. */
#include <string.h>

#include "dense.h"
#include "reference_dense.h"

enum { STEPS = 3, WORDS = 12 }; /* of a particle */
static const float GRAVITY = 9.81f, BOUNCE = 0.75f, TIME = 0.125f;

/* n particles of twelve floats: place, speed, and what no step changes. */
static float *make_particles(struct conform *c, size_t n, uint32_t seed)
{
    return make_floats(c, n * WORDS, seed);
}

static void step_particles(float *particles, size_t n)
{
    for (size_t i = 0; i < n; i++)
        reference_particle(particles + i * WORDS, particles + i * WORDS + 3, GRAVITY, BOUNCE, TIME);
}

static void check_structs(struct conform *c, struct gantry_kernel *kernel, uint32_t n,
                          unsigned skew)
{
    float *particles = make_particles(c, n, n), *found = make_particles(c, n, 1);
    struct array on = make_array(c, particles, n * sizeof(struct gantry_particle), skew);
    struct gantry_particles_structs_args args = {on.address, GRAVITY, BOUNCE, TIME, n};

    for (int step = 0; step < STEPS; step++) {
        RUN(kernel, n, &args);
        step_particles(particles, n);
    }
    read_array(c, &on, found);
    EQUAL((const uint32_t *)found, (const uint32_t *)particles, (size_t)n * WORDS);
}

static void check_arrays(struct conform *c, struct gantry_kernel *kernel, uint32_t n, unsigned skew)
{
    float *particles = make_particles(c, n, n), *member = make_floats(c, n, 1);
    float *expected = make_floats(c, n, 2);
    struct array on[6];
    struct gantry_particles_arrays_args args = {.gravity = GRAVITY,
                                                .bounce = BOUNCE,
                                                .time = TIME,
                                                .n = n};
    gantry_ptr *const addresses[6] = {&args.x,       &args.y,       &args.z,
                                      &args.speed_x, &args.speed_y, &args.speed_z};

    for (int k = 0; k < 6; k++) {
        for (size_t i = 0; i < n; i++)
            member[i] = particles[i * WORDS + k];
        on[k] = make_array(c, member, n * 4ull, skew);
        *addresses[k] = on[k].address;
    }
    for (int step = 0; step < STEPS; step++) {
        RUN(kernel, n / 4 + 1, &args);
        step_particles(particles, n);
    }
    for (int k = 0; k < 6; k++) {
        for (size_t i = 0; i < n; i++)
            expected[i] = particles[i * WORDS + k];
        read_array(c, &on[k], member);
        EQUAL((const uint32_t *)member, (const uint32_t *)expected, n);
    }
}

static const uint32_t counts[] = {1, 2, 3, 4, 5, 255, 256, 1025};

static void test_structs(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(particles_structs);

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        check_structs(c, kernel, counts[i], skews[i % SKEWS]);
}

static void test_arrays(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(particles_arrays);

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        for (size_t k = 0; k < SKEWS; k++)
            check_arrays(c, kernel, counts[i], skews[k]);
}

const struct conform_case particle_kernel_cases[] = {
    {"particles/structs", NULL, test_structs},
    {"particles/arrays", NULL, test_arrays},
    {NULL, NULL, NULL},
};
