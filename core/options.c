/* The table of keys, and finding them by name. */
#include "options.h"

#include "ascii.h"

const struct option options[OPTION_COUNT] = {
    [OPTION_BACKEND] =
        {
            .name = "backend",
            .scope = OPTION_OF_PROGRAM,
            .type = OPTION_NAMES,
            .words = {"auto"},
            .fallback = "cuda, vulkan",
            .effect = "Backends in order of preference. A device is opened through the first "
                      "one that can use it; a backend that is not listed is not used. auto is "
                      "the default order.",
        },
    [OPTION_DEVICE] =
        {
            .name = "device",
            .scope = OPTION_OF_PROGRAM,
            .type = OPTION_SELECTOR,
            .words = {"auto"},
            .fallback = "auto",
            .effect = "The device to open when the program names none: its index, cuda:0, a "
                      "name or pattern, uuid:… or pci:…. auto takes the first usable one, and "
                      "a CPU device only where there is no other.",
        },
    [OPTION_PLUGIN_PATH] =
        {
            .name = "plugin_path",
            .scope = OPTION_OF_PROGRAM,
            .type = OPTION_PATHS,
            .fallback = "",
            .effect = "Folders that are searched for plugins before libgantry's own.",
        },
    [OPTION_CACHE_DIR] =
        {
            .name = "cache_dir",
            .scope = OPTION_OF_PROGRAM,
            .type = OPTION_PATH,
            .words = {"auto", "off"},
            .fallback = "auto",
            .effect = "Folder for compiled kernels. auto is $XDG_CACHE_HOME/gantry or "
                      "~/.cache/gantry; off keeps nothing.",
            .pending = true,
        },
    [OPTION_LOG] =
        {
            .name = "log",
            .scope = OPTION_OF_PROGRAM,
            .type = OPTION_LEVEL,
            .words = {"off", "error", "warning", "info", "debug"},
            .fallback = "off",
            .effect = "Least severe messages that a program's log callback gets when the "
                      "program asks for no level. The variable GANTRY_LOG also prints to "
                      "standard error when the program has no callback.",
        },
    [OPTION_TRACE] =
        {
            .name = "trace",
            .scope = OPTION_OF_PROGRAM,
            .type = OPTION_PATH,
            .words = {"off"},
            .fallback = "off",
            .effect = "File to which a trace of all submissions is written.",
            .pending = true,
        },
    [OPTION_BATCH_SIZE] =
        {
            .name = "batch_size",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .min = 1,
            .max = 65536,
            .unit = "launches",
            .fallback = "16",
            .effect = "Commands that a queue's open batch collects before it is submitted. At 16 "
                      "most of what collecting saves is saved, and the first launch is not kept "
                      "long.",
        },
    [OPTION_BATCH_MAX_MS] =
        {
            .name = "batch_max_ms",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_DECIMAL,
            .min = 10,
            .max = 1000000,
            .unit = "ms",
            .fallback = "10",
            .effect = "Longest estimated time of a batch and of a fold. 10 leaves a desktop "
                      "that draws on the same device its frames, and is far from the seconds "
                      "after which drivers reset a device.",
        },
    [OPTION_BLOCK_SIZE] =
        {
            .name = "block_size",
            .scope = OPTION_OF_KERNEL,
            .type = OPTION_BLOCK,
            .words = {"auto"},
            .min = 1,
            .max = 1024,
            .unit = "threads",
            .fallback = "auto",
            .effect = "Threads of a block, for kernels whose source does not fix them. "
                      "block_size.KERNEL is for one kernel, block_size.PACKAGE/KERNEL where "
                      "two packages have one of that name. auto asks the device for the best "
                      "occupancy. A value that a kernel can't take is reported and not used.",
        },
    [OPTION_BLOCKS_PER_CU] =
        {
            .name = "blocks_per_cu",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .words = {"auto"},
            .min = 1,
            .max = 1024,
            .unit = "blocks",
            .fallback = "auto",
            .effect = "Most blocks per compute unit of a launch whose kernel is marked "
                      "GRID_STRIDE; its threads loop over the rest. auto is what fits on the "
                      "device at once.",
        },
    [OPTION_QUEUE_FAMILY] =
        {
            .name = "queue_family",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .words = {"auto", "compute", "graphics"},
            .min = 0,
            .max = 63,
            .unit = "index",
            .fallback = "auto",
            .effect = "Queue family of compute queues (Vulkan). compute is one that does not "
                      "draw, graphics one that does; auto is the backend's choice.",
        },
    [OPTION_TRANSFER_FAMILY] =
        {
            .name = "transfer_family",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .words = {"auto", "compute", "graphics"},
            .min = 0,
            .max = 63,
            .unit = "index",
            .fallback = "auto",
            .effect = "Queue family of transfer queues (Vulkan), likewise.",
        },
    [OPTION_CHAINS] =
        {
            .name = "chains",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .min = 1,
            .max = 64,
            .unit = "chains",
            .fallback = "8",
            .effect = "Chains on which independent operations are laid. More overlap more, but "
                      "each costs an edge per stage; 8 was best for wide stages.",
        },
    [OPTION_FOLD] =
        {
            .name = "fold",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_SWITCH,
            .fallback = "on",
            .effect = "Fold small launches of one kernel into one launch over a table: those that "
                      "are independent side by side, those of one block each that wait for each "
                      "other into a chain. Results are the same.",
        },
    [OPTION_PROGRAMMATIC] =
        {
            .name = "programmatic",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_SWITCH,
            .fallback = "on",
            .effect = "Let a kernel start while the one before it ends, where driver and "
                      "kernel image can (CUDA from sm_90 on). Results are the same.",
        },
    [OPTION_SUBMIT] =
        {
            .name = "submit",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WORD,
            .words = {"auto", "graph", "stream"},
            .fallback = "auto",
            .effect = "How finished lists reach the driver (CUDA): always as a graph, always "
                      "as single launches, or whichever is faster for their length.",
        },
    [OPTION_SPIN_US] =
        {
            .name = "spin_us",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .min = 0,
            .max = 1000000,
            .unit = "µs",
            .fallback = "1000",
            .effect = "How long a wait spins before it sleeps. Waking up from a sleep took 50 to "
                      "270 µs on an H200, so 1000 keeps that below a quarter of the wait, at the "
                      "price of a millisecond of one processor. 0 sleeps at once.",
        },
    [OPTION_POOL_BLOCK_MIB] =
        {
            .name = "pool_block_mib",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .min = 0,
            .max = 4096,
            .unit = "MiB",
            .fallback = "64",
            .effect = "Size of the blocks of memory from which buffers of up to half of it are "
                      "cut; twice as much is kept for new buffers when it is free. A block holds "
                      "a sixteenth of the device's memory at most. 0 gives each buffer memory of "
                      "its own, so that tools see accesses past its end.",
        },
    [OPTION_STAGING_MIB] =
        {
            .name = "staging_mib",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_WHOLE,
            .min = 1,
            .max = 4096,
            .unit = "MiB",
            .fallback = "16",
            .effect = "Size of the host memory through which a queue's streamed uploads go, and as "
                      "much again for its downloads. More in flight must wait.",
        },
    [OPTION_VALIDATE] =
        {
            .name = "validate",
            .scope = OPTION_OF_DEVICE,
            .type = OPTION_SWITCH,
            .words = {"auto"},
            .fallback = "auto",
            .effect = "Check every pointer argument against the live buffers at each "
                      "submission. auto does so on CPU devices, where a wrong address ends the "
                      "program.",
        },
};

const char *option_type_name(enum option_type type)
{
    switch (type) {
    case OPTION_WORD:
    case OPTION_LEVEL:
        return "word";
    case OPTION_SWITCH:
        return "switch";
    case OPTION_WHOLE:
        return "whole number";
    case OPTION_DECIMAL:
        return "number";
    case OPTION_BLOCK:
        return "block";
    case OPTION_NAMES:
        return "list of backends";
    case OPTION_SELECTOR:
        return "device";
    case OPTION_PATH:
        return "path";
    case OPTION_PATHS:
        return "list of paths";
    }
    return "unknown";
}

enum option_id option_find(const char *name)
{
    int id = 0;

    while (id < OPTION_COUNT && !ascii_same(options[id].name, name))
        id++;
    return (enum option_id)id;
}

enum option_id option_nearest(const char *name, unsigned scopes)
{
    enum option_id nearest = OPTION_COUNT;
    unsigned least = 0;

    for (int id = 0; id < OPTION_COUNT; id++) {
        unsigned unlike = ascii_unlike(name, options[id].name);

        if (!(options[id].scope & scopes) || !ascii_near(name, unlike))
            continue;
        if (nearest == OPTION_COUNT || unlike < least) {
            nearest = (enum option_id)id;
            least = unlike;
        }
    }
    return nearest;
}
