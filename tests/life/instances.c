/* More than one gantry in a process, at once and one after the other. */
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life.h"

enum { WARM_UP = 10, THREADS = 8, OPENINGS = 5 };

/* ---- Several at once ------------------------------------------------------------------------- */

/* Two of them work on one device without seeing each other. */
static void two(void)
{
    struct scene first, second;

    scene_open(&first, NULL);
    scene_open(&second, NULL);
    scene_start(&first);
    scene_start(&second);
    scene_check(&first);
    scene_close(&first);
    scene_check(&second);
    scene_start(&second);
    scene_close(&second);
}

static const char *value_of(const struct scene *scene, const char *key)
{
    struct gantry_config_value value;
    uint32_t device;
    struct gantry_device_params params = {.device = scene_device};

    OK(gantry_config_device(scene->g, &params, &device));
    for (uint32_t i = 0; i < gantry_config_count(scene->g, device); i++) {
        OK(gantry_config_get(scene->g, device, i, &value));
        if (strcmp(value.key, key) == 0)
            return value.value;
    }
    die("there is no key %s", key);
}

static uint64_t batches_of(struct scene *scene)
{
    struct gantry_queue_stats stats;

    OK(gantry_queue_stats(scene->other, &stats));
    return stats.batches[GANTRY_BATCH_FULL];
}

/* Each has the configuration that it was opened with, also what acts on the device. */
static void other_configuration(void)
{
    struct scene plain, single;

    scene_open(&plain, "[policy]\nbatch_size = 1000\nbatch_max_ms = 1000\n");
    scene_open(&single, "[policy]\nbatch_size = 1\n");
    CHECK(strcmp(value_of(&plain, "batch_size"), "1000") == 0 &&
              strcmp(value_of(&single, "batch_size"), "1") == 0,
          "batch_size is %s and %s", value_of(&plain, "batch_size"),
          value_of(&single, "batch_size"));
    scene_start(&plain);
    scene_start(&single);
    CHECK(batches_of(&plain) == 0, "a batch of 1000 was full after a few launches");
    scene_check(&single);
    scene_close(&single);
    scene_check(&plain);
    scene_close(&plain);
}

/* One gantry, the same device twice: objects of one are not taken for the other's. */
static void same_device_twice(void)
{
    struct gantry_device_params params = {.device = scene_device};
    struct gantry_device *again;
    struct gantry_queue *queue;
    struct gantry_point point;
    struct scene scene;

    scene_open(&scene, NULL);
    OK(gantry_device_open(scene.g, &params, &again));
    OK(gantry_queue_create(again, NULL, &queue));
    CHECK(gantry_queue_submit(queue, scene.list, NULL, 0, &point) == GANTRY_E_WRONG_DEVICE,
          "a list of one opening was taken by a queue of another");
    scene_start(&scene);
    gantry_queue_destroy(&queue);
    gantry_device_close(&again);
    scene_check(&scene);
    scene_close(&scene);
}

static void *open_and_close(void *context)
{
    (void)context;
    for (int i = 0; i < OPENINGS; i++)
        scene_whole();
    return NULL;
}

static void threads_at_once(void)
{
    pthread_t threads[THREADS];
    int started = 0;

    while (started < THREADS && !pthread_create(&threads[started], NULL, open_and_close, NULL))
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    CHECK(started == THREADS, "only %d threads could be started", started);
}

/* ---- One after the other (C25) --------------------------------------------------------------- */

/* What a process holds: bytes from malloc that are in use, bytes in memory, open files, threads. */
struct holdings {
    long allocated, resident;
    int files, threads;
};

static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;

    if (!folder)
        skip("the system has no %s", path);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void take_stock(struct holdings *now)
{
    struct mallinfo2 heap = mallinfo2();
    long total, pages;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2)
        skip("the system has no /proc/self/statm");
    fclose(file);
    now->allocated = (long)(heap.uordblks + heap.hblkhd);
    now->resident = pages * sysconf(_SC_PAGESIZE);
    now->files = count_entries("/proc/self/fd");
    now->threads = count_entries("/proc/self/task");
}

static long smaller(long a, long b)
{
    return a < b ? a : b;
}

/* What grows with every round: what came once, in one half of the rounds, counts as nothing. */
static void measure(void (*round)(void), struct holdings *growth)
{
    struct holdings stock[3];

    for (int i = 0; i < WARM_UP; i++)
        round();
    for (int half = 0; half < 3; half++) {
        take_stock(&stock[half]);
        for (unsigned i = 0; half < 2 && i < (life.rounds + 1) / 2; i++)
            round();
    }
    growth->allocated = 2 * smaller(stock[1].allocated - stock[0].allocated,
                                    stock[2].allocated - stock[1].allocated);
    growth->resident =
        2 * smaller(stock[1].resident - stock[0].resident, stock[2].resident - stock[1].resident);
    growth->files = stock[2].files - stock[0].files;
    growth->threads = stock[2].threads - stock[0].threads;
}

/* What a round may hold for longer without being called a leak: drivers keep statistics, the loader
 * names, and the stand-in driver in its books each kernel that there was. */
enum {
    BYTES_A_ROUND = 256,
    BYTES_A_ROUND_WITH_BOOKS = 8192,
    BYTES_ONCE = 64 << 10,
    RESIDENT_SLACK = 4 << 20,
};

static void watch_rounds(const char *name, void (*round)(void))
{
    long each = getenv("STANDIN_KERNELS") ? BYTES_A_ROUND_WITH_BOOKS : BYTES_A_ROUND;
    long allowed = BYTES_ONCE + (long)life.rounds * each;
    struct holdings growth;

    /* Blocks of device memory are mapped one by one: what glibc before 2.38 makes of aligned blocks
     * on its heap looks like a leak. */
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
    measure(round, &growth);
    report_rounds(name, life.rounds, growth.allocated > allowed ? growth.allocated : 0);
    CHECK(growth.files == 0, "%u rounds left %d files open", life.rounds, growth.files);
    CHECK(growth.threads <= 0, "%u rounds left %d threads", life.rounds, growth.threads);
    CHECK(growth.allocated <= allowed, "%u rounds left %ld bytes", life.rounds, growth.allocated);
    CHECK(growth.resident <= allowed + RESIDENT_SLACK, "%u rounds left %ld bytes in memory",
          life.rounds, growth.resident);
}

static void open_only(void)
{
    struct gantry *g;

    OK(gantry_open(NULL, &g));
    gantry_close(&g);
}

static void open_device(void)
{
    struct gantry_device_params params = {.device = scene_device};
    struct gantry_device *device;
    struct gantry *g;

    OK(gantry_open(NULL, &g));
    OK(gantry_device_open(g, &params, &device));
    gantry_device_close(&device);
    gantry_close(&g);
}

static void rounds_of_gantry(void)
{
    watch_rounds("gantry", open_only);
}

static void rounds_of_devices(void)
{
    watch_rounds("device", open_device);
}

static void rounds_of_work(void)
{
    watch_rounds("whole-job", scene_whole);
}

const struct life_case instance_cases[] = {
    {"instances/two", NULL, false, two},
    {"instances/other-configuration", NULL, false, other_configuration},
    {"instances/same-device-twice", NULL, false, same_device_twice},
    {"instances/threads-at-once", "C29", false, threads_at_once},
    {"rounds/gantry", "C25", false, rounds_of_gantry},
    {"rounds/device", "C25", false, rounds_of_devices},
    {"rounds/whole-job", "C25", false, rounds_of_work},
    {0},
};
