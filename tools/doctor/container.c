/* Device files that are missing or can't be used, and what WSL and containers have to do with it.
 */
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"

static const char *in_container(const struct machine *machine)
{
    return machine->container[0] ? "; this is a container, which sees only what it was given" : "";
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void check_file(struct report *report, enum code code, const char *path)
{
    if (access(path, R_OK | W_OK) != 0)
        report_add(report, &(struct finding){code, .subject = path},
                   "this user can't read and write it: %s", strerror(errno));
}

/* Checks each file of a pattern; returns how many there are. */
static size_t check_files(struct report *report, const struct machine *machine, enum code code,
                          const char *pattern)
{
    char full[MACHINE_PATH_SIZE];
    glob_t found;
    size_t count;

    machine_path(machine, pattern, full);
    if (glob(full, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(report, code, found.gl_pathv[i]);
    count = found.gl_pathc;
    globfree(&found);
    return count;
}

static void check_nvidia(struct report *report, const struct machine *machine)
{
    enum code denied = CODE_NVIDIA_PERMISSION;
    size_t count = check_files(report, machine, denied, "/dev/nvidia[0-9]*");

    check_files(report, machine, denied, "/dev/nvidiactl");
    check_files(report, machine, denied, "/dev/nvidia-uvm");
    if (count == 0 && machine->nvidia_gpus > 0)
        report_add(report,
                   &(struct finding){CODE_NVIDIA_DEVICES_MISSING, .subject = "/dev/nvidia*"},
                   "there is an NVIDIA GPU on the PCI bus, but no file /dev/nvidia0 to reach it "
                   "through%s",
                   in_container(machine));
}

/* NVIDIA's driver computes without render nodes, the others' do not. */
static void check_render_nodes(struct report *report, const struct machine *machine)
{
    size_t count = check_files(report, machine, CODE_RENDER_PERMISSION, "/dev/dri/renderD*");

    if (count == 0 && machine->amd_gpus + machine->intel_gpus > 0)
        report_add(report,
                   &(struct finding){CODE_RENDER_NODE_MISSING, .subject = "/dev/dri/renderD*"},
                   "there is a GPU of %s on the PCI bus, but no render node to reach it through%s",
                   machine->amd_gpus ? "AMD" : "Intel", in_container(machine));
}

/* ---- WSL ------------------------------------------------------------------------------------ */

static void check_wsl(struct report *report, const struct machine *machine)
{
    static const char *const others[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                         "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
                                         "/usr/lib64/libcuda.so.1"};

    report_add(report, &(struct finding){CODE_WSL, .subject = machine->release},
               "this is Linux in Windows (WSL): GPUs are behind /dev/dxg and not on the PCI bus");
    if (!machine_has(machine, "/dev/dxg"))
        report_add(report, &(struct finding){CODE_WSL_DEVICE_MISSING, .subject = "/dev/dxg"},
                   "it is not there, so that no GPU of Windows can be reached%s",
                   in_container(machine));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (machine_has(machine, others[i]) &&
            machine_has(machine, "/usr/lib/wsl/lib/libcuda.so.1"))
            report_add(report, &(struct finding){CODE_WSL_LIBRARY_SHADOWED, .subject = others[i]},
                       "a driver for Linux itself lies beside that of WSL, "
                       "/usr/lib/wsl/lib/libcuda.so.1, and does not work here");
    }
}

void check_machine(struct report *report, const struct machine *machine)
{
    const char *subject = machine->release[0] ? machine->release : "unknown kernel";

    report_add(report, &(struct finding){CODE_MACHINE, .subject = subject},
               "GPUs on the PCI bus: %u of NVIDIA, %u of AMD, %u of Intel", machine->nvidia_gpus,
               machine->amd_gpus, machine->intel_gpus);
    if (machine->container[0])
        report_add(report, &(struct finding){CODE_CONTAINER, .subject = machine->container},
                   "this is a container: it has only the devices and libraries that it was given");
    if (machine->wsl)
        check_wsl(report, machine);
    check_nvidia(report, machine);
    check_render_nodes(report, machine);
}
