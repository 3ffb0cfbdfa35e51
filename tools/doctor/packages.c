/* Packages, kernel by kernel and device by device: the image that would be used, and why each other
 * one can't be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

/* A package on a device. */
struct visit {
    struct report *report;
    const char *file, *device; /* its name */
    const char *backend;
    struct gantry_module *module;
};

/* What became of one kernel's images. */
struct images {
    const char *backend;
    FILE *refused;    /* "IMAGE: WHY", a line each */
    char used[96];    /* "": none */
    unsigned other;   /* that could be used, too */
    unsigned foreign; /* for other backends */
};

/* ---- Images --------------------------------------------------------------------------------- */

/* The images of the shipped backends; any other backend may read what it likes. */
static bool is_foreign(const char *backend, enum gantry_image_kind kind)
{
    if (strcmp(backend, "vulkan") == 0)
        return kind != GANTRY_IMAGE_SPIRV;
    if (strcmp(backend, "cuda") == 0)
        return kind == GANTRY_IMAGE_SPIRV || kind == GANTRY_IMAGE_HOST;
    return false;
}

/* "cubin sm_90", "ptx compute_75 .version 6.3", "spirv 1.5". */
static void name_image(const struct gantry_image_info *image, char *name, size_t size)
{
    const char *kind = gantry_image_kind_name(image->kind);
    unsigned major = image->isa_version / 10, minor = image->isa_version % 10;

    if (image->kind == GANTRY_IMAGE_PTX)
        snprintf(name, size, "%s compute_%u .version %u.%u", kind, image->arch, major, minor);
    else if (image->arch)
        snprintf(name, size, "%s sm_%u", kind, image->arch);
    else if (image->isa_version)
        snprintf(name, size, "%s %u.%u", kind, major, minor);
    else
        snprintf(name, size, "%s%s", kind, image->features ? " with optional features" : "");
}

static void take_verdict(void *user, const struct gantry_image_verdict *verdict)
{
    struct images *images = user;
    char name[96];

    name_image(&verdict->image, name, sizeof name);
    if (verdict->used)
        snprintf(images->used, sizeof images->used, "%s", name);
    else if (is_foreign(images->backend, verdict->image.kind))
        images->foreign++;
    else if (!verdict->text)
        images->other++;
    else
        fprintf(images->refused, "%s%s: %s", ftell(images->refused) ? "\n" : "", name,
                verdict->text);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static enum code code_of(enum gantry_status status)
{
    switch (status) {
    case GANTRY_E_NO_IMAGE:
        return CODE_PACKAGE_NO_IMAGE;
    case GANTRY_E_UNSUPPORTED:
        return CODE_PACKAGE_REQUIREMENT;
    case GANTRY_E_LIMIT:
        return CODE_PACKAGE_LIMIT;
    default:
        return CODE_PACKAGE_KERNEL_FAILED;
    }
}

static void report_usable(const struct visit *visit, const char *subject,
                          const struct images *images, const char *refused)
{
    report_add(visit->report,
               &(struct finding){CODE_PACKAGE_KERNEL, .subject = subject, .why = refused},
               "uses %s; %u more could be used, %u %s for other backends", images->used,
               images->other, images->foreign, images->foreign == 1 ? "is" : "are");
}

static void report_unusable(const struct visit *visit, const char *subject,
                            enum gantry_status status, const struct images *images,
                            const char *refused)
{
    struct finding finding = {code_of(status), .subject = subject, .why = gantry_last_error()};

    if (status != GANTRY_E_NO_IMAGE) {
        report_add(visit->report, &finding, "the kernel can't be made on this device");
        return;
    }
    if (refused[0])
        finding.why = refused;
    report_add(visit->report, &finding,
               "no image of the kernel can be used; %u %s for other backends", images->foreign,
               images->foreign == 1 ? "is" : "are");
}

static void check_kernel(const struct visit *visit, const char *kernel)
{
    struct images images = {.backend = visit->backend};
    enum gantry_status status;
    char subject[512], *refused = NULL;
    size_t size;

    snprintf(subject, sizeof subject, "%s, kernel %s on \"%s\" through %s", visit->file, kernel,
             visit->device, visit->backend);
    images.refused = open_memstream(&refused, &size);
    if (!images.refused)
        return; /* report_add() finds no memory either, and that is said at the end */
    status = gantry_module_examine(visit->module, kernel, take_verdict, &images);
    if (fclose(images.refused) == 0 && status == GANTRY_OK)
        report_usable(visit, subject, &images, refused);
    else if (refused)
        report_unusable(visit, subject, status, &images, refused);
    free(refused);
}

/* ---- Packages ------------------------------------------------------------------------------- */

static void visit_device(struct visit *visit, const struct gantry_package *package,
                         struct gantry_device *device)
{
    const struct gantry_module_params params = {.file = visit->file};
    uint32_t count = gantry_package_kernel_count(package);
    struct gantry_kernel_source source;

    if (gantry_module_load(device, &params, &visit->module) != GANTRY_OK) {
        report_add(visit->report, &(struct finding){CODE_PACKAGE_BAD, .subject = visit->file},
                   "the package can't be loaded: %s", gantry_last_error());
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (gantry_package_kernel(package, i, &source) == GANTRY_OK)
            check_kernel(visit, source.name);
    }
    gantry_module_unload(&visit->module);
}

/* Returns whether the device could be opened; that it could not was found before. */
static bool try_device(struct report *report, const struct patient *patient, const char *file,
                       const struct gantry_package *package, uint32_t index)
{
    struct gantry_device_params params = {.device = patient->device};
    struct visit visit = {.report = report, .file = file};
    struct gantry_device_info info;
    struct gantry_device *device;
    char selector[SELECTOR_SIZE];

    device_selector(index, selector);
    if (!params.device)
        params.device = selector;
    if (gantry_device_open(patient->g, &params, &device) != GANTRY_OK)
        return false;
    gantry_device_info(device, &info);
    visit.device = info.name;
    visit.backend = info.chosen_backend;
    visit_device(&visit, package, device);
    gantry_device_close(&device);
    return true;
}

static void check_package(struct report *report, const struct patient *patient, const char *file)
{
    const struct gantry_package_params params = {.file = file};
    uint32_t count = gantry_device_count(patient->g);
    struct gantry_package *package;
    struct gantry_device_info info;
    uint32_t kernels;
    bool tried = false;

    if (gantry_package_open(&params, &package) != GANTRY_OK) {
        report_add(report, &(struct finding){CODE_PACKAGE_BAD, .subject = file},
                   "it is no package that can be used: %s", gantry_last_error());
        return;
    }
    kernels = gantry_package_kernel_count(package);
    report_add(report, &(struct finding){CODE_PACKAGE, .subject = file},
               "the package %s holds %u kernel%s in %u images", gantry_package_name(package),
               kernels, kernels == 1 ? "" : "s", gantry_package_image_count(package));
    for (uint32_t i = 0; i < count; i++) {
        if (gantry_device_describe(patient->g, i, &info) == GANTRY_OK &&
            device_wanted(patient, &info))
            tried |= try_device(report, patient, file, package, i);
    }
    if (!tried)
        report_add(report, &(struct finding){CODE_PACKAGE_NO_DEVICE, .subject = file},
                   "there is no device to try its kernels on");
    gantry_package_close(&package);
}

void check_packages(struct report *report, const struct patient *patient)
{
    for (size_t i = 0; i < patient->packages->count; i++)
        check_package(report, patient, patient->packages->items[i]);
}
