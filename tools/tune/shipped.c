#include "shipped.h"

/* A GPU gets enough threads for several waves, a CPU enough to be worth starting. Samples of a
 * picture have 16 bits, two in a uint. */
#define GPU_LINE      \
    {                 \
        .x = 1u << 20 \
    }
#define CPU_LINE      \
    {                 \
        .x = 1u << 15 \
    }
#define GPU_PICTURE   \
    {                 \
        1024, 1024, 1 \
    }
#define CPU_PICTURE \
    {               \
        256, 128, 1 \
    }
#define ANY_BITS ":4294967296"

static const struct shipped all[] = {
    {"saxpy", "saxpy", {.x = 1u << 23}, {.x = 1u << 17}, {"a=0.5", "x=:1", "y=:1"}},
    {"edge", "luma", GPU_LINE, CPU_LINE, {"pixels=" ANY_BITS}},
    {"edge", "histogram", GPU_LINE, CPU_LINE, {"luma=:65536", "bins=256"}},
    {"edge", "sobel", GPU_PICTURE, CPU_PICTURE, {"blurred=:65536"}},
    {"edge",
     "blend",
     GPU_LINE,
     CPU_LINE,
     {"pixels=" ANY_BITS, "levels=2:65536", "edges=:4096", "threshold=0.06"}},
};

const struct shipped *shipped_at(size_t index)
{
    return index < sizeof all / sizeof *all ? &all[index] : NULL;
}
