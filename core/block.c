/* The size of a kernel's blocks: what it must satisfy, and finding one that does. */
#include "block.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t block_threads(struct gantry_size block)
{
    uint64_t plane = (uint64_t)block.x * block.y;

    return block.z && plane > UINT64_MAX / block.z ? UINT64_MAX : plane * block.z;
}

const char *block_text(struct gantry_size block, char text[BLOCK_TEXT_SIZE])
{
    if (block.z > 1)
        snprintf(text, BLOCK_TEXT_SIZE, "%ux%ux%u", block.x, block.y, block.z);
    else if (block.y > 1)
        snprintf(text, BLOCK_TEXT_SIZE, "%ux%u", block.x, block.y);
    else
        snprintf(text, BLOCK_TEXT_SIZE, "%u", block.x);
    return text;
}

static uint32_t max_threads(const struct block_rules *rules)
{
    uint32_t most = rules->limits->max_threads_per_block;

    return rules->max_threads && rules->max_threads < most ? rules->max_threads : most;
}

/* ---- Checking ------------------------------------------------------------------------------ */

static bool power_of_two(uint64_t number)
{
    return number && (number & (number - 1)) == 0;
}

static bool axes_allowed(const struct gantry_size *most, struct gantry_size block, char *why)
{
    const struct {
        const char *name;
        uint32_t size, most;
    } axes[] = {{"x", block.x, most->x}, {"y", block.y, most->y}, {"z", block.z, most->z}};

    for (int i = 0; i < 3; i++) {
        if (axes[i].size > axes[i].most) {
            snprintf(why, BLOCK_WHY_SIZE,
                     "has %u threads along %s, more than the %u that the device takes",
                     axes[i].size, axes[i].name, axes[i].most);
            return false;
        }
    }
    return true;
}

static bool threads_allowed(const struct block_rules *rules, uint64_t threads, char *why)
{
    const struct gantry_kernel_source *source = rules->source;

    if (threads > max_threads(rules))
        snprintf(why, BLOCK_WHY_SIZE, "has %" PRIu64 " threads, more than the %u that the %s takes",
                 threads, max_threads(rules),
                 max_threads(rules) < rules->limits->max_threads_per_block ? "kernel on this device"
                                                                           : "device");
    else if (source->block_max && threads > source->block_max)
        snprintf(why, BLOCK_WHY_SIZE,
                 "has %" PRIu64 " threads, more than the kernel's BLOCK_MAX %u", threads,
                 source->block_max);
    else if (source->block_multiple > 1 && threads % source->block_multiple)
        snprintf(why, BLOCK_WHY_SIZE,
                 "has %" PRIu64 " threads, no multiple of the kernel's BLOCK_MULTIPLE %u", threads,
                 source->block_multiple);
    else if (source->block_pow2 && !power_of_two(threads))
        snprintf(why, BLOCK_WHY_SIZE,
                 "has %" PRIu64 " threads, no power of two as the kernel's BLOCK_POW2 wants",
                 threads);
    else
        return true;
    return false;
}

/* Threads along an axis that the kernel does not look at would do one another's work. */
static bool dimensions_allowed(const struct block_rules *rules, struct gantry_size block, char *why)
{
    uint32_t dimensions = rules->source->dimensions;
    bool y = dimensions < 2 && block.y > 1;

    if (!y && (dimensions > 2 || block.z <= 1))
        return true;
    snprintf(why, BLOCK_WHY_SIZE, "has %u threads along %c, but the kernel has DIMENSIONS %u",
             y ? block.y : block.z, y ? 'y' : 'z', dimensions);
    return false;
}

static bool shared_allowed(const struct block_rules *rules, uint64_t threads, char *why)
{
    const struct gantry_kernel_source *source = rules->source;
    uint64_t shared = source->shared_bytes + threads * source->shared_per_thread;

    if (shared <= rules->limits->max_shared_bytes)
        return true;
    snprintf(why, BLOCK_WHY_SIZE,
             "needs %" PRIu64 " bytes of shared memory (%u, and %u for each thread), more than the "
             "%u that the device has",
             shared, source->shared_bytes, source->shared_per_thread,
             rules->limits->max_shared_bytes);
    return false;
}

bool block_allowed(const struct block_rules *rules, struct gantry_size block,
                   char why[BLOCK_WHY_SIZE])
{
    uint64_t threads = block_threads(block);

    return axes_allowed(&rules->limits->max_block, block, why) &&
           threads_allowed(rules, threads, why) && dimensions_allowed(rules, block, why) &&
           shared_allowed(rules, threads, why);
}

/* ---- Finding ------------------------------------------------------------------------------- */

static uint32_t least(uint32_t a, uint64_t b)
{
    return b < a ? (uint32_t)b : a;
}

/* The largest divisor of n that is at most `most` and whose power `times` does not exceed n. */
static uint32_t divisor(uint32_t n, uint32_t most, int times)
{
    uint32_t best = 1;

    for (uint64_t d = 1; d <= most; d++) {
        uint64_t power = times == 3 ? d * d * d : d * d;

        if (power > n)
            break;
        if (n % d == 0)
            best = (uint32_t)d;
    }
    return best;
}

/* As square, or as cubic, as the number of threads and the device's axes permit; x is longest,
 * because neighbours along x lie beside each other in memory. */
static struct gantry_size spread_threads(const struct block_rules *rules, uint32_t threads)
{
    const struct gantry_size *most = &rules->limits->max_block;
    struct gantry_size block = {threads, 1, 1};

    if (rules->source->dimensions > 2)
        block.z = divisor(threads, most->z, 3);
    if (rules->source->dimensions > 1)
        block.y = divisor(threads / block.z, most->y, 2);
    block.x = threads / block.z / block.y;
    return block;
}

static uint32_t thread_limit(const struct block_rules *rules)
{
    const struct gantry_kernel_source *source = rules->source;
    uint32_t most = max_threads(rules), shared = rules->limits->max_shared_bytes;

    if (source->block_max)
        most = least(most, source->block_max);
    if (source->dimensions == 1)
        most = least(most, rules->limits->max_block.x);
    if (source->shared_per_thread && shared >= source->shared_bytes)
        most = least(most, (shared - source->shared_bytes) / source->shared_per_thread);
    return most;
}

static uint32_t round_down(uint32_t number, uint32_t multiple, bool pow2)
{
    if (pow2) {
        uint32_t power = 1;

        while (power <= number / 2)
            power *= 2;
        return number && power >= multiple ? power : 0;
    }
    return multiple > 1 ? number - number % multiple : number;
}

struct gantry_size block_near(const struct block_rules *rules, uint32_t threads)
{
    const struct gantry_kernel_source *source = rules->source;
    uint32_t smallest = source->block_multiple ? source->block_multiple : 1;
    uint32_t wanted = threads > smallest ? threads : smallest;
    uint32_t found = round_down(least(wanted, thread_limit(rules)), smallest, source->block_pow2);
    struct gantry_size none = {0, 0, 0}, block;
    char why[BLOCK_WHY_SIZE];

    if (found == 0)
        return none;
    block = spread_threads(rules, found);
    return block_allowed(rules, block, why) ? block : none;
}

struct gantry_size block_complete(const struct block_rules *rules, struct gantry_size block,
                                  bool spread)
{
    if (spread && block.x && !block.y && !block.z)
        return spread_threads(rules, block.x);
    return (struct gantry_size){
        .x = block.x ? block.x : 1,
        .y = block.y ? block.y : 1,
        .z = block.z ? block.z : 1,
    };
}
