#include "machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void machine_path(const struct machine *machine, const char *path, char full[MACHINE_PATH_SIZE])
{
    snprintf(full, MACHINE_PATH_SIZE, "%s%s", machine->root, path);
}

bool machine_has(const struct machine *machine, const char *path)
{
    char full[MACHINE_PATH_SIZE];
    struct stat info;

    machine_path(machine, path, full);
    return lstat(full, &info) == 0;
}

/* The first line of a small file; "" when it can't be read. */
static void read_line(const struct machine *machine, const char *path, char *line, size_t size)
{
    char full[MACHINE_PATH_SIZE];
    FILE *file;

    machine_path(machine, path, full);
    file = fopen(full, "r");
    if (!file || !fgets(line, (int)size, file))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* ---- The PCI bus ---------------------------------------------------------------------------- */

static unsigned long read_number(const struct machine *machine, const char *device,
                                 const char *name)
{
    char path[MACHINE_PATH_SIZE], line[32];

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", device, name);
    read_line(machine, path, line, sizeof line);
    return strtoul(line, NULL, 16);
}

/* Of display controllers only those count for which there are drivers that compute: servers have a
 * chip that only draws, virtual machines an adapter that is none. */
static void count_device(struct machine *machine, const char *device)
{
    enum { DISPLAY_CLASS = 0x03, NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086 };

    if (read_number(machine, device, "class") >> 16 != DISPLAY_CLASS)
        return;
    switch (read_number(machine, device, "vendor")) {
    case NVIDIA:
        machine->nvidia_gpus++;
        break;
    case AMD:
        machine->amd_gpus++;
        break;
    case INTEL:
        machine->intel_gpus++;
        break;
    }
}

static void read_pci(struct machine *machine)
{
    char path[MACHINE_PATH_SIZE];
    struct dirent *entry;
    DIR *folder;

    machine_path(machine, "/sys/bus/pci/devices", path);
    folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        count_device(machine, entry->d_name);
    if (folder)
        closedir(folder);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static void read_container(struct machine *machine)
{
    static const char *const signs[] = {"/.dockerenv", "/run/.containerenv",
                                        "/run/systemd/container"};

    for (size_t i = 0; i < sizeof signs / sizeof *signs && !machine->container[0]; i++) {
        if (machine_has(machine, signs[i]))
            machine_path(machine, signs[i], machine->container);
    }
}

void machine_read(const char *root, struct machine *machine)
{
    memset(machine, 0, sizeof *machine);
    machine->root = root;
    read_line(machine, "/proc/sys/kernel/osrelease", machine->release, sizeof machine->release);
    read_pci(machine);
    read_container(machine);
    machine->wsl = strstr(machine->release, "microsoft") || strstr(machine->release, "WSL");
    machine->nvidia = machine->nvidia_gpus > 0 ||
                      machine_has(machine, "/proc/driver/nvidia/version") ||
                      (machine->wsl && machine_has(machine, "/usr/lib/wsl/lib/libcuda.so.1"));
}
