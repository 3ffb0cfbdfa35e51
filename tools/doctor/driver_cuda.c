/* Whether NVIDIA's driver is there and works; the CUDA plugin's own way of opening it is not needed
 * for that, and may fail for other reasons. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers.h"
#include "isolate.h"

/* The driver's numbers, as NVIDIA's cuda.h has them. */
enum { NO_DEVICE = 100, STUB_LIBRARY = 34, OLDEST_DRIVER = 11040 };

typedef int (*init_fn)(unsigned flags);
typedef int (*number_fn)(int *number);

/* What is known of the library so far. */
struct cuda {
    const struct machine *machine;
    void *library;
    char path[MACHINE_PATH_SIZE];
    int version; /* 13000; 0: unknown */
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX says that they look alike.
 */
#define SYMBOL(library, name, function) \
    memcpy(&(function), &(void *){dlsym(library, name)}, sizeof(function))

/* ---- Codes ---------------------------------------------------------------------------------- */

static const struct meaning {
    int code;
    const char *name, *cause, *remedy;
} meanings[] = {
    {2, "OUT_OF_MEMORY", "the driver found no memory for itself",
     "end programs that hold the machine's or the GPU's memory"},
    {3, "NOT_INITIALIZED", "the kernel's driver did not answer",
     "load it (modprobe nvidia nvidia_uvm) and see whether nvidia-smi works"},
    {46, "DEVICE_UNAVAILABLE", "the GPU is in a mode that lets only one program, or none, use it",
     "nvidia-smi -c DEFAULT lets every program use it"},
    {101, "INVALID_DEVICE", "a GPU that the environment names is not there",
     "correct or unset CUDA_VISIBLE_DEVICES"},
    {304, "OPERATING_SYSTEM", "the system refused what the driver asked it for",
     "give this user access to /dev/nvidia*, and look at limits and container options"},
    {801, "NOT_SUPPORTED", "the driver does not support this machine", "update the driver"},
    {802, "SYSTEM_NOT_READY", "the machine's GPU services are not up",
     "start nvidia-fabricmanager (machines with NVSwitch) or nvidia-persistenced"},
    {803, "SYSTEM_DRIVER_MISMATCH",
     "libcuda.so.1 and the kernel's driver are of different versions, as after an update",
     "reboot, or reload the kernel's driver; in a container let its libraries match the host's "
     "driver"},
    {804, "COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "the libcuda.so.1 of a forward-compatibility package does not work with this GPU",
     "take the folder of the package (cuda-compat) out of LD_LIBRARY_PATH, or update the driver"},
    {999, "UNKNOWN", "the kernel's driver gave up",
     "look at the kernel's log (dmesg), reload nvidia_uvm (modprobe -r nvidia_uvm; modprobe "
     "nvidia_uvm) or reboot"},
};

static struct meaning meaning_of(int code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].code == code)
            return meanings[i];
    }
    return (struct meaning){code, "CUDA error", "the driver could not start", NULL};
}

/* ---- The library ---------------------------------------------------------------------------- */

static void find_path(struct cuda *cuda)
{
    struct link_map *map = NULL;

    if (dlinfo(cuda->library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
        snprintf(cuda->path, sizeof cuda->path, "%s", map->l_name);
    else
        snprintf(cuda->path, sizeof cuda->path, "libcuda.so.1");
}

/* Without it. */
static void report_absence(struct report *report, const struct cuda *cuda, const char *error)
{
    struct finding finding = {CODE_CUDA_NOT_NEEDED, .subject = "libcuda.so.1", .why = error};

    if (!strstr(error, "libcuda.so.1: cannot open shared object file: No such file")) {
        finding.code = CODE_CUDA_LIBRARY_BROKEN;
        report_add(report, &finding, "the driver's library is there, but can't be loaded");
    } else if (cuda->machine->nvidia) {
        finding.code = CODE_CUDA_LIBRARY_MISSING;
        report_add(report, &finding,
                   "there is an NVIDIA GPU, but the driver's library is not found");
    } else {
        report_add(report, &finding,
                   "there is no CUDA driver, and no NVIDIA GPU that would need one");
    }
}

static bool report_stub(struct report *report, const struct cuda *cuda, bool told)
{
    if (!told && !strstr(cuda->path, "/stubs/"))
        return false;
    report_add(report,
               &(struct finding){CODE_CUDA_STUB, .subject = cuda->path,
                                 .why = told ? "cuInit() returns STUB_LIBRARY (34)"
                                             : "it lies in a folder called stubs"},
               "this is the toolkit's stub and not the driver");
    return true;
}

/* ---- What it says --------------------------------------------------------------------------- */

/* Words for a library that is there without what it drives; "" otherwise. */
static const char *without_device(const struct cuda *cuda)
{
    if (cuda->machine->wsl || machine_has(cuda->machine, "/dev/nvidiactl"))
        return "";
    return "\nthere is no /dev/nvidiactl: the library is here without the kernel's driver, or this "
           "is "
           "a container that was given the library, but not the device";
}

static void report_failure(struct report *report, const struct cuda *cuda, int code)
{
    struct meaning meaning = meaning_of(code);
    char why[512];

    snprintf(why, sizeof why, "cuInit() returns %s (%d): %s\nthe library is of CUDA %d.%d%s",
             meaning.name, code, meaning.cause, cuda->version / 1000, cuda->version % 1000 / 10,
             without_device(cuda));
    report_add(report,
               &(struct finding){CODE_CUDA_INIT_FAILED, .subject = cuda->path, .why = why,
                                 .remedy = meaning.remedy},
               "the driver is there, but does not start");
}

static void report_no_device(struct report *report, const struct cuda *cuda)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    struct finding finding = {CODE_CUDA_NO_GPU, .subject = cuda->path, .why = without_device(cuda)};

    if (visible && cuda->machine->nvidia) {
        finding.code = CODE_CUDA_DEVICES_HIDDEN;
        report_add(report, &finding, "CUDA_VISIBLE_DEVICES=%s hides every GPU from the driver",
                   visible);
    } else if (cuda->machine->nvidia) {
        finding.code = CODE_CUDA_NO_DEVICE;
        report_add(report, &finding,
                   "the driver works but lists no GPU, though this machine has one");
    } else {
        report_add(report, &finding, "the driver is installed, but there is no NVIDIA GPU%s",
                   visible ? " that CUDA_VISIBLE_DEVICES would show" : "");
    }
}

static void report_lacks(struct report *report, const struct cuda *cuda)
{
    static const struct {
        int version;
        const char *what;
    } rows[] = {
        {12010, "more than 4096 bytes of arguments inline"},
        {12030, "launches that start early inside graphs (programmatic edges)"},
        {12040, "comparing the size of arguments with what an image takes"},
    };
    char what[256] = "";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (cuda->version < rows[i].version)
            snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s (CUDA %d.%d)",
                     what[0] ? ", " : "", rows[i].what, rows[i].version / 1000,
                     rows[i].version % 1000 / 10);
    }
    if (what[0])
        report_add(report, &(struct finding){CODE_CUDA_DRIVER_LACKS, .subject = cuda->path},
                   "the driver, of CUDA %d.%d, is too old for: %s", cuda->version / 1000,
                   cuda->version % 1000 / 10, what);
}

static void report_works(struct report *report, const struct cuda *cuda, int count)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    report_add(report, &(struct finding){CODE_CUDA_DRIVER, .subject = cuda->path},
               "works: CUDA %d.%d, %d %s", cuda->version / 1000, cuda->version % 1000 / 10, count,
               count == 1 ? "GPU" : "GPUs");
    if (visible)
        report_add(report,
                   &(struct finding){CODE_CUDA_DEVICES_HIDDEN, .subject = "CUDA_VISIBLE_DEVICES"},
                   "it is \"%s\", so that the driver shows %d of this machine's GPUs, numbered in "
                   "that order",
                   visible, count);
    report_lacks(report, cuda);
}

/* ---- The probe ------------------------------------------------------------------------------ */

/* False: it is too old, or does not even tell its version, and that was found. */
static bool check_version(struct report *report, struct cuda *cuda)
{
    number_fn get_version;

    SYMBOL(cuda->library, "cuDriverGetVersion", get_version);
    if (get_version && get_version(&cuda->version) != 0)
        cuda->version = 0;
    if (!get_version) {
        report_add(report, &(struct finding){CODE_CUDA_LIBRARY_BROKEN, .subject = cuda->path},
                   "the library has no cuDriverGetVersion: it is not NVIDIA's driver");
        return false;
    }
    if (cuda->version == 0 || cuda->version >= OLDEST_DRIVER)
        return true; /* a driver that can't tell will fail to start, and say more */
    report_add(report, &(struct finding){CODE_CUDA_DRIVER_OLD, .subject = cuda->path},
               "the driver supports CUDA %d.%d, gantry needs %d.%d or later", cuda->version / 1000,
               cuda->version % 1000 / 10, OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10);
    return false;
}

static void start(struct report *report, struct cuda *cuda)
{
    number_fn get_count;
    init_fn init;
    int code, count = 0;

    SYMBOL(cuda->library, "cuInit", init);
    SYMBOL(cuda->library, "cuDeviceGetCount", get_count);
    code = init ? init(0) : STUB_LIBRARY;
    if (code == 0 && get_count)
        code = get_count(&count);
    if (code == STUB_LIBRARY)
        report_stub(report, cuda, true);
    else if (code == NO_DEVICE || (code == 0 && count == 0))
        report_no_device(report, cuda);
    else if (code != 0)
        report_failure(report, cuda, code);
    else
        report_works(report, cuda, count);
}

static void probe(struct report *report, void *context)
{
    struct cuda cuda = {.machine = context};

    cuda.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda.library) {
        report_absence(report, &cuda, dlerror());
        return;
    }
    find_path(&cuda);
    if (!report_stub(report, &cuda, false) && check_version(report, &cuda))
        start(report, &cuda);
}

bool check_cuda(struct report *report, const struct machine *machine)
{
    static const struct isolation isolation = {
        .subject = "libcuda.so.1",
        .crashed = CODE_CUDA_CRASHED,
        .hangs = CODE_CUDA_HANGS,
        .seconds = DRIVER_SECONDS,
    };

    return isolate(report, &isolation, probe, (void *)(uintptr_t)machine);
}
