#include "nvrtc.h"

#include "status.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef void *nvrtcProgram;

/* X(name, prototype): all of them are in NVRTC from 11.2 on. They return 0, or a number that
 * nvrtcGetErrorString() turns into a text. */
#define NVRTC_MAP(X)                                                                               \
    X(nvrtcVersion, (int *, int *))                                                                \
    X(nvrtcGetNumSupportedArchs, (int *))                                                          \
    X(nvrtcGetSupportedArchs, (int *))                                                             \
    X(nvrtcCreateProgram,                                                                          \
      (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
    X(nvrtcCompileProgram, (nvrtcProgram, int, const char *const *))                               \
    X(nvrtcDestroyProgram, (nvrtcProgram *))                                                       \
    X(nvrtcGetCUBINSize, (nvrtcProgram, size_t *))                                                 \
    X(nvrtcGetCUBIN, (nvrtcProgram, char *))                                                       \
    X(nvrtcGetPTXSize, (nvrtcProgram, size_t *))                                                   \
    X(nvrtcGetPTX, (nvrtcProgram, char *))                                                         \
    X(nvrtcGetProgramLogSize, (nvrtcProgram, size_t *))                                            \
    X(nvrtcGetProgramLog, (nvrtcProgram, char *))

struct nvrtc {
    void *library;
    int major, minor;
    const char *(*nvrtcGetErrorString)(int);
#define X(name, prototype) int(*name) prototype;
    NVRTC_MAP(X)
#undef X
};

static const struct {
    const char *file;
    int major; /* 0: unknown */
} names[] = {{"libnvrtc.so.13", 13},
             {"libnvrtc.so.12", 12},
             {"libnvrtc.so.11.2", 11},
             {"libnvrtc.so", 0}};

static bool open_library(struct gantry_drv_instance *instance, struct nvrtc *nvrtc,
                         struct report *report)
{
    int newest = instance->cu.version / 1000;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !nvrtc->library; i++) {
        if (names[i].major <= newest)
            nvrtc->library = dlopen(names[i].file, RTLD_NOW | RTLD_LOCAL);
    }
    if (!nvrtc->library)
        report_add(report, "NVRTC is not installed (%s)", dlerror());
    return nvrtc->library != NULL;
}

static bool find_symbols(struct nvrtc *nvrtc, struct report *report)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {{"nvrtcGetErrorString", offsetof(struct nvrtc, nvrtcGetErrorString)},
#define X(name, prototype) {#name, offsetof(struct nvrtc, name)},
                NVRTC_MAP(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *address = dlsym(nvrtc->library, rows[i].name);

        if (!address) {
            report_add(report, "NVRTC has no %s; it must be of CUDA 11.2 or later", rows[i].name);
            return false;
        }
        memcpy((char *)nvrtc + rows[i].offset, &address, sizeof(address));
    }
    return true;
}

/* What a later major version makes is refused by the driver. */
static bool check_version(struct gantry_drv_instance *instance, struct nvrtc *nvrtc,
                          struct report *report)
{
    int driver = instance->cu.version;

    if (nvrtc->nvrtcVersion(&nvrtc->major, &nvrtc->minor) == 0 && nvrtc->major <= driver / 1000)
        return true;
    report_add(report, "NVRTC %d.%d is too new for a driver of CUDA %d.%d; install that of CUDA %d",
               nvrtc->major, nvrtc->minor, driver / 1000, driver % 1000 / 10, driver / 1000);
    return false;
}

/* A failure is not remembered: NVRTC may be installed while the program runs. */
static struct nvrtc *get_nvrtc(struct gantry_drv_instance *instance, struct report *report)
{
    struct nvrtc *nvrtc;

    pthread_mutex_lock(&instance->lock);
    nvrtc = instance->nvrtc;
    if (!nvrtc) {
        nvrtc = host_allocate(instance, sizeof(*nvrtc));
        if (nvrtc && open_library(instance, nvrtc, report) && find_symbols(nvrtc, report) &&
            check_version(instance, nvrtc, report)) {
            instance->nvrtc = nvrtc;
        } else {
            host_release(instance, nvrtc);
            nvrtc = NULL;
        }
    }
    pthread_mutex_unlock(&instance->lock);
    return nvrtc;
}

/* The library stays loaded, like the driver that it may have called. */
void nvrtc_close(struct gantry_drv_instance *instance)
{
    host_release(instance, instance->nvrtc);
    instance->nvrtc = NULL;
}

/* The highest architecture that NVRTC knows and that is not above the device's; 0: none. */
static uint32_t choose_arch(struct gantry_drv_instance *instance, const struct nvrtc *nvrtc,
                            uint32_t wanted)
{
    uint32_t best = 0;
    int count = 0, *archs;

    if (nvrtc->nvrtcGetNumSupportedArchs(&count) != 0 || count < 1)
        return 0;
    archs = host_allocate(instance, (size_t)count * sizeof(*archs));
    if (archs && nvrtc->nvrtcGetSupportedArchs(archs) == 0) {
        for (int i = 0; i < count; i++) {
            if ((uint32_t)archs[i] <= wanted && (uint32_t)archs[i] > best)
                best = (uint32_t)archs[i];
        }
    }
    host_release(instance, archs);
    return best;
}

/* A message has no line ends, and the log's limit holds for each line, not for the whole. */
static void log_lines(struct gantry_drv_instance *instance, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        if (length > 0)
            LOG(instance, GANTRY_LOG_WARNING, "NVRTC: %.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void report_log(struct gantry_drv_instance *instance, const struct nvrtc *nvrtc,
                       nvrtcProgram program, int result, struct report *report)
{
    enum { EXCERPT = 1024 };
    size_t size = 0;
    char *text;

    report_add(report, "NVRTC %d.%d: %s", nvrtc->major, nvrtc->minor,
               nvrtc->nvrtcGetErrorString(result));
    if (nvrtc->nvrtcGetProgramLogSize(program, &size) != 0 || size < 2)
        return;
    text = host_allocate(instance, size + 1);
    if (text && nvrtc->nvrtcGetProgramLog(program, text) == 0) {
        report_add(report, ": ");
        report_add_folded(report, text, EXCERPT);
        log_lines(instance, text);
    }
    host_release(instance, text);
}

static bool take_output(struct gantry_drv_instance *instance, const struct nvrtc *nvrtc,
                        nvrtcProgram program, struct nvrtc_output *output, struct report *report)
{
    int result = output->ptx ? nvrtc->nvrtcGetPTXSize(program, &output->size)
                             : nvrtc->nvrtcGetCUBINSize(program, &output->size);

    if (result == 0) {
        output->data = host_allocate(instance, output->size + 1);
        if (!output->data) {
            report_add(report, "no host memory for %zu bytes of NVRTC's output", output->size);
            return false;
        }
        result = output->ptx ? nvrtc->nvrtcGetPTX(program, output->data)
                             : nvrtc->nvrtcGetCUBIN(program, output->data);
    }
    if (result == 0)
        return true;
    report_add(report, "NVRTC gave no output: %s", nvrtc->nvrtcGetErrorString(result));
    host_release(instance, output->data);
    output->data = NULL;
    return false;
}

static bool create_program(struct gantry_drv_instance *instance, const struct nvrtc *nvrtc,
                           const struct nvrtc_source *sources, uint32_t count,
                           nvrtcProgram *program, struct report *report)
{
    const char **texts = host_allocate(instance, count * 2 * sizeof(*texts));
    const char **includes = texts + count;
    int result;

    if (!texts) {
        report_add(report, "no host memory for %u sources", count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        texts[i] = sources[i].text;
        includes[i] = sources[i].name;
    }
    result = nvrtc->nvrtcCreateProgram(program, texts[0], includes[0], (int)count - 1, texts + 1,
                                       includes + 1);
    host_release(instance, texts);
    if (result != 0)
        report_add(report, "NVRTC refused the source: %s", nvrtc->nvrtcGetErrorString(result));
    return result == 0;
}

bool nvrtc_compile(struct gantry_drv_instance *instance, const struct nvrtc_source *sources,
                   uint32_t count, uint32_t arch, struct nvrtc_output *output,
                   struct report *report)
{
    char target[48];
    /* One rounding for each operation, as in the images that gantry compile makes. */
    const char *options[] = {target, "-default-device", "--std=c++17", "--fmad=false"};
    struct nvrtc *nvrtc = get_nvrtc(instance, report);
    nvrtcProgram program = NULL;
    bool done = false;
    int result;

    if (!nvrtc)
        return false;
    memset(output, 0, sizeof(*output));
    output->major = nvrtc->major;
    output->minor = nvrtc->minor;
    output->arch = choose_arch(instance, nvrtc, arch);
    output->ptx = output->arch != arch;
    if (output->arch == 0) {
        report_add(report, "NVRTC %d.%d knows no architecture up to sm_%u", nvrtc->major,
                   nvrtc->minor, arch);
        return false;
    }
    if (!create_program(instance, nvrtc, sources, count, &program, report))
        return false;
    snprintf(target, sizeof(target), "--gpu-architecture=%s_%u", output->ptx ? "compute" : "sm",
             output->arch);
    result = nvrtc->nvrtcCompileProgram(program, sizeof(options) / sizeof(options[0]), options);
    if (result == 0)
        done = take_output(instance, nvrtc, program, output, report);
    else
        report_log(instance, nvrtc, program, result, report);
    nvrtc->nvrtcDestroyProgram(&program);
    return done;
}
