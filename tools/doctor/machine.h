/* What kind of machine this is, told by files of the kernel's; no driver is asked. */
#ifndef GANTRY_DOCTOR_MACHINE_H
#define GANTRY_DOCTOR_MACHINE_H

#include <stdbool.h>

#include "report.h"

enum { MACHINE_PATH_SIZE = 4096, MACHINE_NAME_SIZE = 128 };

struct machine {
    const char *root; /* whose /dev, /sys, /proc, /run, /etc and /usr are looked at */
    char release[MACHINE_NAME_SIZE];            /* of the kernel; "": unknown */
    unsigned nvidia_gpus, amd_gpus, intel_gpus; /* on the PCI bus */
    bool wsl;
    bool nvidia;                       /* there is an NVIDIA GPU, on the bus or behind WSL */
    char container[MACHINE_PATH_SIZE]; /* the file that tells of a container; "": none */
};

/* `root` is "" for the one that we run in. */
void machine_read(const char *root, struct machine *machine);

/* "ROOT/PATH"; path begins with '/'. */
void machine_path(const struct machine *machine, const char *path, char full[MACHINE_PATH_SIZE]);

/* Whether there is such a file, readable or not. */
bool machine_has(const struct machine *machine, const char *path);

/* Device files that are missing or can't be used, and what WSL and containers have to do with it.
 */
void check_machine(struct report *report, const struct machine *machine);

#endif
