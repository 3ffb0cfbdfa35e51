#include "raw.h"

#include <stdio.h>
#include <string.h>

struct raw *raw_open(const struct gantry_side *side, const struct package *package, char *reason)
{
    const char *backend = side->info.chosen_backend;

    if (strcmp(backend, "cuda") == 0)
        return raw_cuda_open(side, package, reason);
#if GANTRY_BENCH_VULKAN
    if (strcmp(backend, "vulkan") == 0)
        return raw_vulkan_open(side, package, reason);
#endif
    snprintf(reason, REASON_SIZE, "there are no raw ways for the backend %s in this build",
             backend);
    return NULL;
}

void raw_close(struct raw **raw)
{
    if (*raw)
        (*raw)->ops->close(*raw);
    *raw = NULL;
}
