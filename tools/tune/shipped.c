#include "shipped.h"

/* A GPU gets enough threads for several waves, a CPU enough to be worth starting. Samples of a
 * picture have 16 bits, two in a uint. */
enum { GPU = 1 << 20, CPU = 1 << 15 };

#define ANY_BITS ":4294967296"

static const struct shipped all[] = {
    {.package = "gantry-kernels",
     .kernel = "copy",
     .threads = {.x = GPU},
     .few = {.x = CPU},
     .per_thread = 16,
     .args = {"from=" ANY_BITS}},
    {.package = "gantry-kernels",
     .kernel = "saxpy",
     .threads = {.x = GPU},
     .few = {.x = CPU},
     .per_thread = 16,
     .args = {"x=:1", "y=:1", "a=0.5"}},
    {.package = "edge",
     .kernel = "luma",
     .threads = {.x = GPU},
     .few = {.x = CPU},
     .args = {"pixels=" ANY_BITS}},
    {.package = "edge",
     .kernel = "histogram",
     .threads = {.x = GPU},
     .few = {.x = CPU},
     .args = {"luma=:65536", "bins=256"}},
    {.package = "edge",
     .kernel = "sobel",
     .threads = {1024, 1024, 1},
     .few = {256, 128, 1},
     .args = {"blurred=:65536"}},
    {.package = "edge",
     .kernel = "blend",
     .threads = {.x = GPU},
     .few = {.x = CPU},
     .args = {"pixels=" ANY_BITS, "levels=2:65536", "edges=:4096", "threshold=0.06"}},
};

const struct shipped *shipped_at(size_t index)
{
    return index < sizeof all / sizeof *all ? &all[index] : NULL;
}
