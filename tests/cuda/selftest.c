/* Drives the CUDA plugin through its table, without core:
 *
 *   selftest PLUGIN [auto|graph|stream|lost|wrong|refused|rebuilt|torture|bench [untimed]]
 *
 * auto, graph and stream run everything: plans as the plugin likes, as graphs, or as single
 * launches; lost ends with a lost device; wrong expects the chain's result to be wrong, as with a
 * plugin that drops the order; refused expects a driver that refuses programmatic edges, rebuilt
 * one that refuses to change graphs, torture one that fails somewhere. bench prints what things
 * cost. untimed leaves out what a driver without a GPU can't show. Exit status 77, with the reason,
 * where there is no CUDA device. */
#include "harness.h"

static void print_device(const struct bench *bench)
{
    printf("cuda:%u %s, %s, driver of CUDA %s, %u units, %u bytes of shared memory\n", bench->index,
           bench->info.name, bench->info.arch, bench->info.driver_version,
           bench->info.limits.compute_units, bench->info.limits.max_shared_bytes);
    CHECK(bench->info.has_uuid && bench->info.has_pci && bench->info.vendor_id == 0x10de);
    CHECK(bench->info.arch_number >= 75 && bench->info.memory_alignment >= 256);
    CHECK(bench->info.limits.subgroup_size == 32 && bench->info.limits.max_threads_per_block > 0);
    CHECK(bench->info.limits.max_blocks.x >= 65535 && bench->info.limits.memory_size > 0);
}

static void run_all(struct bench *bench)
{
    static const struct {
        const char *name;
        void (*run)(struct bench *bench);
    } tests[] = {
        {"memory", test_memory}, {"kernel", test_kernel}, {"plan", test_plan},
        {"table", test_table},   {"once", test_once},     {"queue", test_queue},
    };

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        printf("%s\n", tests[i].name);
        fflush(stdout);
        tests[i].run(bench);
    }
}

static void run_mode(struct bench *bench, const char *mode)
{
    if (strcmp(mode, "lost") == 0)
        test_lost(bench);
    else if (strcmp(mode, "wrong") == 0)
        test_unordered(bench);
    else if (strcmp(mode, "refused") == 0)
        test_refused(bench);
    else if (strcmp(mode, "rebuilt") == 0)
        test_rebuilt(bench);
    else if (strcmp(mode, "bench") == 0)
        measure(bench);
    else
        run_all(bench);
}

static enum gantry_submit_mode submit_mode(const char *mode)
{
    if (strcmp(mode, "stream") == 0)
        return GANTRY_SUBMIT_STREAM;
    return strcmp(mode, "graph") == 0 ? GANTRY_SUBMIT_GRAPH : GANTRY_SUBMIT_AUTO;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[2] : "auto";
    struct bench bench;

    if (argc < 2) {
        fprintf(stderr,
                "usage: %s PLUGIN "
                "[auto|graph|stream|lost|wrong|refused|rebuilt|torture|bench [untimed]]\n",
                argv[0]);
        return 2;
    }
    if (strcmp(mode, "torture") == 0) {
        test_torture(argv[1]);
        printf("passed\n");
        return 0;
    }
    bench_open(&bench, argv[1], submit_mode(mode));
    bench.untimed = argc > 3 && strcmp(argv[3], "untimed") == 0;
    print_device(&bench);
    run_mode(&bench, mode);
    bench_close(&bench);
    printf("passed\n");
    return 0;
}
