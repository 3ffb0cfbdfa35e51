/* The plugin's books: what is alive, and what core did wrong. */
#include <stdarg.h>
#include <stdio.h>

#include "host.h"

void fault(struct gantry_drv_instance *instance, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    atomic_fetch_add(&instance->books.faults, 1);
    instance->services->log(instance->services->context, GANTRY_LOG_ERROR, "broken contract: %s",
                            text);
}

/* Each closed instance adds its lines. */
static void write_report(struct gantry_drv_instance *instance)
{
    const char *path = setting("REPORT");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    if (atomic_load(&instance->books.faults))
        fprintf(file, "fault: %ld broken promises\n", atomic_load(&instance->books.faults));
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (atomic_load(&instance->failures.calls[i]))
            fprintf(file, "calls: %s %llu\n", entry_names[i],
                    (unsigned long long)atomic_load(&instance->failures.calls[i]));
    fclose(file);
}

void books_close(struct gantry_drv_instance *instance)
{
    struct books *books = &instance->books;
    const struct {
        const char *kind;
        long count;
    } left[] = {
        {"devices", atomic_load(&books->devices)},
        {"blocks of memory", atomic_load(&books->memories)},
        {"kernels", atomic_load(&books->kernels)},
        {"queues", atomic_load(&books->queues)},
        {"plans", atomic_load(&books->plans)},
        {"submissions", atomic_load(&books->submissions)},
    };
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        if (left[i].count)
            fault(instance, "the instance was closed with %ld %s left", left[i].count,
                  left[i].kind);
    write_report(instance);
}
