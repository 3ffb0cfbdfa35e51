/* The command line: runs worlds, one after the other or in threads, and narrows a difference down.
 */
#include "model.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: %s [--device SELECTOR] [--seed S] [--steps N] [--from F] [--worlds W] [--threads T]\n"
    "       [--trace]\n"
    "\n"
    "Runs W worlds (1) with the seeds S, S + 1, …, N steps each (2000), of which the first F are\n"
    "left out, T at a time on one device (1). A difference is printed with the options that show\n"
    "it again.\n";

enum { SKIPPED = 77, MOST_THREADS = 16 };

struct options {
    const char *device;
    uint64_t seed, steps, from, worlds, threads;
    bool trace;
};

struct machine {
    struct gantry *g;
    struct gantry_device *device, *foreign;
};

/* ---- The device ------------------------------------------------------------------------------ */

/* Small batches, few chains, and what else may change nothing: the seed decides. */
static void write_policy(uint64_t seed, char text[256])
{
    static const char *const batches[] = {"1", "3", "8", "64"}, *const on[] = {"on", "off"};

    snprintf(text, 256,
             "[policy]\nbatch_size = %s\nstaging_mib = 1\nchains = %" PRIu64
             "\nfold = %s\nprogrammatic = %s\n",
             batches[seed % 4], 1 + seed / 4 % 5, on[seed / 20 % 2], on[seed / 40 % 2]);
}

static void close_machine(struct machine *machine)
{
    gantry_device_close(&machine->foreign);
    gantry_device_close(&machine->device);
    gantry_close(&machine->g);
}

/* Whether the selector is BACKEND:NUMBER and the backend sees no such device here. */
static bool is_absent(const struct options *options, struct gantry *g)
{
    const char *colon = options->device ? strchr(options->device, ':') : NULL;
    size_t length = colon ? (size_t)(colon - options->device) : 0;
    struct gantry_backend_info info;

    for (uint32_t i = 0; colon && gantry_backend_describe(g, i, &info) == GANTRY_OK; i++)
        if (strlen(info.name) == length && strncmp(info.name, options->device, length) == 0)
            return info.device_count <= strtoul(colon + 1, NULL, 10);
    return colon != NULL;
}

/* 0, SKIPPED when there is no such device, or 1. */
static int open_machine(const struct options *options, struct machine *machine)
{
    const struct gantry_device_params params = {.device = options->device};
    char policy[256];
    const struct gantry_params open = {.config_text = policy};
    enum gantry_status status;
    bool absent;

    *machine = (struct machine){0};
    write_policy(options->seed, policy);
    status = gantry_open(&open, &machine->g);
    if (status == GANTRY_OK)
        status = gantry_device_open(machine->g, &params, &machine->device);
    if (status == GANTRY_OK)
        status = gantry_device_open(machine->g, &params, &machine->foreign);
    if (status == GANTRY_OK)
        return 0;
    absent = status == GANTRY_E_NO_DEVICE || (machine->g && is_absent(options, machine->g));
    printf("%s: %s\n", absent ? "skipped" : "failed", gantry_last_error());
    close_machine(machine);
    return absent ? SKIPPED : 1;
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

struct job {
    const struct options *options;
    const struct machine *machine;
    struct world world;
};

static void *run_job(void *argument)
{
    struct job *job = argument;

    world_open(&job->world, job->machine->device, job->machine->foreign, KERNELS, job->world.seed);
    job->world.trace = job->options->trace;
    if (!job->world.difference[0])
        world_run(&job->world, job->options->from, job->options->steps);
    world_close(&job->world);
    return NULL;
}

/* Runs so many worlds at a time on one device. Returns the first one with a difference, or the
 * first. */
static int run_jobs(const struct options *options, uint64_t count, struct job *jobs)
{
    pthread_t threads[MOST_THREADS];
    struct machine machine;
    int status = open_machine(options, &machine);

    if (status)
        return status;
    for (uint64_t i = 0; i < count; i++)
        jobs[i] = (struct job){options, &machine, {.seed = options->seed + i}};
    for (uint64_t i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, run_job, &jobs[i]) != 0)
            exit(1);
    run_job(&jobs[0]);
    for (uint64_t i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    close_machine(&machine);
    return 0;
}

/* ---- Differences ----------------------------------------------------------------------------- */

static void print_difference(const struct options *options, const struct world *world,
                             uint64_t from)
{
    printf("seed %" PRIu64 ", step %" PRIu64 ": %s\n", world->seed, world->at - 1,
           world->difference);
    printf("again: --seed %" PRIu64 " --from %" PRIu64 " --steps %" PRIu64 " --threads 1%s%s\n",
           world->seed, from, world->at, options->device ? " --device " : "",
           options->device ? options->device : "");
}

/* Leaves out as many steps at the beginning as it can: a difference that needs none of them stays.
 * Not for threads, which do otherwise the next time. */
static void narrow_down(const struct options *options, struct job *job)
{
    struct options shorter = *options;
    uint64_t last = job->world.at, low = options->from, high = last;

    shorter.seed = job->world.seed;
    shorter.steps = last;
    shorter.trace = false;
    while (high - low > 1) {
        shorter.from = low + (high - low) / 2;
        if (run_jobs(&shorter, 1, job) == 0 && job->world.difference[0] && job->world.at == last)
            low = shorter.from;
        else
            high = shorter.from;
    }
    shorter.from = low;
    run_jobs(&shorter, 1, job);
    print_difference(options, &job->world, low);
}

/* The loader keeps its tables for the thread-local memory of kernels' images where only
 * thread-local memory leads to them, which LeakSanitizer does not read (see .ci/run). */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:_dl_resize_dtv\nleak:_dl_add_to_slotinfo\n";
}

/* ---- The command line ------------------------------------------------------------------------ */

static bool parse_number(const char *text, uint64_t *number)
{
    char *end;

    *number = text ? strtoull(text, &end, 10) : 0;
    return text && *text && !*end;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    const struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {{"--seed", &options->seed},
                   {"--steps", &options->steps},
                   {"--from", &options->from},
                   {"--worlds", &options->worlds},
                   {"--threads", &options->threads}};

    for (int i = 1; i < argc; i++) {
        bool known = strcmp(argv[i], "--trace") == 0;

        options->trace |= known;
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            options->device = argv[++i];
            known = true;
        }
        for (size_t n = 0; !known && n < sizeof(numbers) / sizeof(numbers[0]); n++)
            if (strcmp(argv[i], numbers[n].name) == 0)
                known = parse_number(argv[++i], numbers[n].number);
        if (!known)
            return false;
    }
    return options->threads >= 1 && options->threads <= MOST_THREADS;
}

int main(int argc, char **argv)
{
    static struct job jobs[MOST_THREADS];
    struct options options = {.seed = 1, .steps = 2000, .worlds = 1, .threads = 1};
    uint64_t steps = 0, differences = 0;

    if (!parse_options(argc, argv, &options)) {
        fprintf(stderr, usage, argv[0]);
        return 2;
    }
    for (uint64_t done = 0; done < options.worlds && !differences; done += options.threads) {
        int status = run_jobs(&options, options.threads, jobs);

        if (status)
            return status;
        for (uint64_t i = 0; i < options.threads && !differences; i++) {
            steps += jobs[i].world.at - options.from;
            differences += jobs[i].world.difference[0] != '\0';
            if (!jobs[i].world.difference[0])
                continue;
            print_difference(&options, &jobs[i].world, options.from);
            if (options.threads == 1)
                narrow_down(&options, &jobs[i]);
        }
        options.seed += options.threads;
    }
    printf("reliability: model/%s steps=%" PRIu64 " differences=%" PRIu64 "\n",
           options.device ? options.device : "auto", steps, differences);
    return differences ? 1 : 0;
}
