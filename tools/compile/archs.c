/* Which architectures CUDA images are made for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "settings.h"

enum { OLDEST = 75 };

static void add(struct settings *settings, struct pool *pool, uint32_t number, bool ptx)
{
    for (size_t i = 0; i < settings->architecture_count; i++)
        if (settings->architectures[i].number == number && settings->architectures[i].ptx == ptx)
            return;
    settings->architectures = pool_grow(pool, settings->architectures, settings->architecture_count,
                                        sizeof(*settings->architectures));
    settings->architectures[settings->architecture_count++] = (struct architecture){number, ptx};
}

/* Every real architecture that nvcc knows, PTX for whatever comes later, and PTX that holds
 * griddepcontrol. */
static bool add_all(struct settings *settings, struct pool *pool)
{
    struct text text = text_new(pool);
    struct command command = command_new(pool, settings->nvcc);
    command_add(&command, "--list-gpu-code");
    if (!command_run(&command, OUTPUT_SHOWN, &text))
        return false;
    for (const char *at = text.data; (at = strstr(at, "sm_")); at += 3) {
        unsigned long number = strtoul(at + 3, NULL, 10);
        if (number >= OLDEST && number < 10000)
            add(settings, pool, (uint32_t)number, false);
    }
    add(settings, pool, 75, true);
    add(settings, pool, 90, true);
    return true;
}

bool architectures_read(struct settings *settings, struct pool *pool)
{
    const char *at = settings->archs;
    if (!settings->cuda)
        return true;
    while (*(at += strspn(at, " ,"))) {
        size_t size = strcspn(at, " ,");
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        bool ptx = strncmp(end, "-ptx", 4) == 0;
        end += ptx ? 4 : 0;
        if (size == 3 && strncmp(at, "all", 3) == 0) {
            if (!add_all(settings, pool))
                return false;
        } else if (end == at + size && number >= OLDEST && number < 10000) {
            add(settings, pool, (uint32_t)number, ptx);
        } else {
            fprintf(stderr,
                    "gantry: compile: \"%.*s\" is no CUDA architecture (write 90 for sm_90, 75-ptx "
                    "for PTX of compute_75, or all; the oldest is %d)\n",
                    (int)size, at, OLDEST);
            return false;
        }
        at += size;
    }
    if (settings->architecture_count == 0)
        fprintf(stderr, "gantry: compile: the list of CUDA architectures is empty (write \"90 "
                        "75-ptx\" or all)\n");
    return settings->architecture_count > 0;
}
