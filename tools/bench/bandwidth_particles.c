/* Particles, as an array of structs and as a struct of arrays. */
#include <math.h>

#include "bandwidth.h"

enum {
    STRUCT_FLOATS = 12, /* of a particle; the first three are its position, then its speed */
    MOVING_FLOATS = 6,
};

static const float gravity = 9.81f, bounce = 0.5f, moment = 0.125f;

/* As many as fit an array as structs. */
static uint32_t particles(uint64_t n)
{
    return (uint32_t)(n / STRUCT_FLOATS);
}

/* Position and speed are read; the position, and of the speed the part up and down, written. */
static uint64_t particles_bytes(uint64_t n)
{
    return UINT64_C(4) * (6 + 4) * particles(n);
}

static void structs_record(struct trial *trial, struct gantry_list *list)
{
    const struct gantry_particles_structs_args args = {.particles = trial_a(trial),
                                                       .gravity = gravity,
                                                       .bounce = bounce,
                                                       .time = moment,
                                                       .n = particles(trial->n)};

    gantry_list_launch(list, trial->kernels[0], (struct gantry_size){.x = args.n}, &args,
                       sizeof args);
}

/* Arrays begin at multiples of 16 bytes. */
static uint64_t particle_array(uint64_t n)
{
    return particles(n) / 4 * 4 + 4;
}

static void arrays_record(struct trial *trial, struct gantry_list *list)
{
    uint64_t size = 4 * particle_array(trial->n);
    const struct gantry_particles_arrays_args args = {.x = trial_a(trial),
                                                      .y = trial_a(trial) + size,
                                                      .z = trial_a(trial) + 2 * size,
                                                      .speed_x = trial_a(trial) + 3 * size,
                                                      .speed_y = trial_a(trial) + 4 * size,
                                                      .speed_z = trial_a(trial) + 5 * size,
                                                      .gravity = gravity,
                                                      .bounce = bounce,
                                                      .time = moment,
                                                      .n = particles(trial->n)};
    const struct gantry_size threads = {.x = (args.n + 3) / 4};

    gantry_list_launch(list, trial->kernels[0], threads, &args, sizeof args);
}

/* Float `which` of a particle whose float k is word first + k * step of the pattern. */
static double moved(const struct pattern *pattern, uint64_t first, uint64_t step, uint64_t which)
{
    float value = pattern_float(pattern, first + which * step), speed;

    if (which >= MOVING_FLOATS)
        return value;
    if (which % 3 != 1)
        return which > 2 ? value
                         : value + pattern_float(pattern, first + (which + 3) * step) * moment;
    speed = pattern_float(pattern, first + 4 * step) - gravity * moment;
    value = pattern_float(pattern, first + step) + speed * moment;
    if (which == 1)
        return fabsf(value);
    return value < 0 ? -speed * bounce : speed;
}

static double moved_struct(const void *trial, uint64_t i, double *size)
{
    (void)size;
    return moved(trial_pattern(trial), i / STRUCT_FLOATS * STRUCT_FLOATS, 1, i % STRUCT_FLOATS);
}

static bool structs_check(struct trial *trial)
{
    uint64_t count = (uint64_t)particles(trial->n) * STRUCT_FLOATS;

    return trial_check(trial, trial->bench->arrays.a, count, moved_struct, 1e-5);
}

/* Behind the last particle of an array nothing moves. */
static double moved_array(const void *trial, uint64_t i, double *size)
{
    uint64_t n = ((const struct trial *)trial)->n, length = particle_array(n);

    (void)size;
    if (i % length >= particles(n))
        return pattern_float(trial_pattern(trial), i);
    return moved(trial_pattern(trial), i % length, length, i / length);
}

static bool arrays_moved_check(struct trial *trial)
{
    uint64_t count = MOVING_FLOATS * particle_array(trial->n);

    return trial_check(trial, trial->bench->arrays.a, count, moved_array, 1e-5);
}

const struct bandwidth_case particle_cases[] = {
    {.name = "particles_structs",
     .kernels = {"particles_structs"},
     .bytes = particles_bytes,
     .fill = trial_fill_a,
     .record = structs_record,
     .check = structs_check},
    {.name = "particles_arrays",
     .kernels = {"particles_arrays"},
     .bytes = particles_bytes,
     .fill = trial_fill_a,
     .record = arrays_record,
     .check = arrays_moved_check},
    {.name = NULL},
};
