/* Kernels of the plugin's own test, compiled without `gantry compile`: the wrapper that it would write
 * is the last lines. */
#include <gantry/kernel.h>

ARGS(add_args) { PTR(uint) x; uint value; uint n; };

KERNEL(add, add_args) GRID_STRIDE
{
    FOR_GRID (i, args.n)
        AT(args.x, i) += args.value;
}

/* x[i] = 3 * x[i] + value: two of these give different results in either order. */
KERNEL(step, add_args) GRID_STRIDE
{
    FOR_GRID (i, args.n)
        AT(args.x, i) = 3u * AT(args.x, i) + args.value;
}

SHARED_BLOCK(uint, partial);
SHARED uint total;

/* The sum of a block, to every thread; threads from `value` on leave before the first barrier. */
KERNEL(sum, add_args) BLOCK_POW2
{
    uint t = THREAD_ID.x;
    partial[t] = GLOBAL_ID.x < args.n ? AT(args.x, GLOBAL_ID.x) : 0u;
    BARRIER();
    for (uint half_size = BLOCK_SIZE.x / 2u; half_size > 0u; half_size /= 2u) {
        if (t < half_size)
            partial[t] += partial[t + half_size];
        BARRIER();
    }
    if (t == 0u)
        total = partial[0];
    BARRIER();
    if (t >= args.value)
        return;
    BARRIER();
    if (GLOBAL_ID.x < args.n)
        AT(args.x, GLOBAL_ID.x) = total;
}

/* Seven results per thread; thread 3 has left. */
KERNEL(lanes, add_args)
{
    uint t = THREAD_ID.x;
    if (t == 3u)
        return;
    uint at = t * 7u;
    AT(args.x, at) = SUBGROUP_ADD(t);
    AT(args.x, at + 1u) = uint(SUBGROUP_MAX(float(t)));
    AT(args.x, at + 2u) = SUBGROUP_BALLOT_COUNT(t % 2u == 0u);
    BARRIER();
    AT(args.x, at + 3u) = SUBGROUP_BROADCAST(t, 2);
    AT(args.x, at + 4u) = uint(SUBGROUP_ANY(t == 9u));
    AT(args.x, at + 5u) = uint(SUBGROUP_ALL(t < 16u));
    AT(args.x, at + 6u) = SUBGROUP_SIZE * 100u + SUBGROUP_ID * 10u + SUBGROUP_LANE;
}

KERNEL(count, add_args)
{
    if (GLOBAL_ID.x < args.n)
        ATOMIC_ADD(AT(args.x, 0), args.value);
}

KERNEL(overrun, add_args)
{
    AT(args.x, args.n) = args.value;
}

GANTRY_ENTRIES(add, add_args, GANTRY_ANY_THREADS)
GANTRY_ENTRIES(step, add_args, GANTRY_ANY_THREADS)
GANTRY_CHAINED_ENTRY(step, add_args, GANTRY_ANY_THREADS)
GANTRY_ENTRIES(sum, add_args, GANTRY_ANY_THREADS)
GANTRY_ENTRIES(lanes, add_args, GANTRY_ANY_THREADS)
GANTRY_ENTRIES(count, add_args, GANTRY_ANY_THREADS)
GANTRY_ENTRIES(overrun, add_args, GANTRY_ANY_THREADS)
