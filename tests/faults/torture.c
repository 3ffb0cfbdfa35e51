/* Lets every entry of a backend fail in turn, at every step of the main job:
 *
 *     torture BUILD INJECTOR [all]
 *
 * A first run counts the calls of each entry. Then some calls of each (the first, the last and a
 * few between, with the codes taken in turn), or with `all` every call of each with every code,
 * fail in a process of their own, which must end by itself, say why, work again, and leave nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "torture.h"

enum {
    SOME_CALLS = 6,    /* of an entry */
    MANY_CALLS = 200,  /* with all */
    SOME_MEMORY = 120, /* where every allocation is a call of one entry */
    MANY_MEMORY = 100000,
};

struct plan {
    const struct injector *injector;
    bool all;
    struct run *runs;
    uint32_t count, capacity;
};

static void add(struct plan *plan, const char *entry, uint64_t count, const struct code *code)
{
    struct run *run;

    if (plan->count == plan->capacity) {
        plan->capacity = plan->capacity ? 2 * plan->capacity : 256;
        plan->runs = realloc(plan->runs, plan->capacity * sizeof(*plan->runs));
        if (!plan->runs)
            abort();
    }
    run = &plan->runs[plan->count++];
    *run = (struct run){.count = count, .code = code};
    snprintf(run->entry, sizeof(run->entry), "%s", entry);
}

static bool suits(const struct code *code, const char *entry)
{
    return !code->beginning || strncmp(entry, code->beginning, strlen(code->beginning)) == 0;
}

/* The i-th of `picks` calls out of `calls`: the first three, the last, and between them at even
 * distances. */
static uint64_t pick(uint64_t calls, uint64_t picks, uint64_t i)
{
    if (picks == calls || i < 3)
        return i + 1;
    return 3 + (calls - 3) * (i - 2) / (picks - 3);
}

static void plan_entry(void *user, const char *entry, uint64_t calls)
{
    struct plan *plan = user;
    bool memory = plan->injector->own_memory;
    uint64_t limit =
        plan->all ? (memory ? MANY_MEMORY : MANY_CALLS) : (memory ? SOME_MEMORY : SOME_CALLS);
    uint64_t picks = calls < limit ? calls : limit, codes = 0, rows;

    while (plan->injector->codes[codes].text)
        codes++;
    rows = plan->all ? picks * codes : (picks > codes ? picks : codes);
    for (uint64_t i = 0; i < rows; i++) {
        const struct code *code = &plan->injector->codes[i % codes];

        if (suits(code, entry))
            add(plan, entry, pick(calls, picks, plan->all ? i / codes : i % picks), code);
    }
}

static int run_plan(const struct plan *plan, const char *job)
{
    struct tally tally = {0};

    runs_do(plan->injector, job, plan->runs, plan->count, &tally);
    printf("reliability: faults/%s faults=%u survived=%u leaked=%u crashed=%u\n",
           plan->injector->name, tally.faults, tally.survived, tally.leaked, tally.crashed);
    return tally.faults > 0 && tally.survived == tally.faults ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    char job[4096];
    int status = 1;

    if (argc > 2)
        plan.injector = injector_find(argv[2]);
    if (!plan.injector) {
        fprintf(stderr,
                "usage: %s BUILD host|cuda|vulkan|memory-host|memory-cuda|memory-vulkan"
                " [all]\n",
                argv[0]);
        return 2;
    }
    plan.all = argc > 3;
    if (!injector_prepare(plan.injector, argv[1]))
        return 77;
    snprintf(job, sizeof(job), "%s/tests/faults/job", argv[1]);
    if (run_record(plan.injector, job, plan_entry, &plan))
        status = run_plan(&plan, job);
    free(plan.runs);
    return status;
}
