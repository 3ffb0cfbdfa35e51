/* C11, C12, C13: kernel images, drivers and compilers that don't fit each other.
 *
 * mismatch driver TEXT...: the driver can't be used, and the reason contains the texts.
 * mismatch CASE: takes the images of the kernel mark out of launch.gpk, spoils some, and looks at
 * what is used, or at the sentence. The environment has the driver, and libnvrtc. Skipped, with the
 * reason, where there is no CUDA device or no image of the kind. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gantry/gantry.h>

#include "tests/unit/gpk_builder.h"

enum { EXIT_SKIP = 77, MOST = 16 };

#define CHECK(condition, ...)                                       \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "%s:%d: FAILED: ", __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__);                           \
            fprintf(stderr, "\n  %s\n", gantry_last_error());       \
            exit(EXIT_FAILURE);                                     \
        }                                                           \
    } while (0)

/* Which images the package has: the kernel's own, or spoiled ones. */
enum {
    CUBIN = 1,     /* for this device */
    FOREIGN = 2,   /* the same, said to be for another */
    NEW_PTX = 4,   /* .version 99.0, and honest about it */
    LYING_PTX = 8, /* the same, but the package says 6.3 */
    PTX = 16,
    SOURCE = 32,
    BAD_SOURCE = 64, /* with a syntax error in its first line */
};

static const struct {
    const char *name;
    int images;
    const char *used;    /* how the image's name begins; NULL: the kernel can't be made, and … */
    const char *said[4]; /* … what the sentence says */
    const char *logged;  /* in some message */
} cases[] = {
    {"foreign", FOREIGN, NULL, {"cubin sm_80: is for another architecture", "sm_90"}, NULL},
    {"foreign-ptx", FOREIGN | PTX, "ptx compute_75", {NULL}, NULL},
    {"foreign-source", FOREIGN | SOURCE, "source, by NVRTC", {NULL}, NULL},
    {"new-ptx", NEW_PTX, NULL, {".version 99.0", "driver of CUDA"}, NULL},
    {"lying-ptx",
     LYING_PTX,
     NULL,
     {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)", "driver of CUDA"},
     NULL},
    {"new-ptx-cubin", LYING_PTX | CUBIN, "cubin sm_90", {NULL}, NULL},
    {"new-ptx-source", LYING_PTX | SOURCE, "source, by NVRTC", {NULL}, NULL},
    {"source", SOURCE, "source, by NVRTC", {NULL}, NULL},
    {"bad-source", BAD_SOURCE, NULL, {"NVRTC ", "error", "(1)"}, "NVRTC: "},
    {"no-nvrtc", SOURCE, NULL, {"source: NVRTC is not installed", "libnvrtc.so"}, NULL},
    {"no-nvrtc-ptx", SOURCE | PTX, "ptx compute_75", {NULL}, NULL},
    {"nvrtc-clamped", SOURCE, "source, by NVRTC 12.0 as compute_80", {NULL}, NULL},
    {"nvrtc-knows-none", SOURCE, NULL, {"NVRTC 13.0 knows no architecture up to sm_90"}, NULL},
    {"nvrtc-too-new",
     SOURCE,
     NULL,
     {"NVRTC 14.1 is too new for a driver of CUDA 13.0", "install that of CUDA 13"},
     NULL},
    {"nvrtc-too-old", SOURCE, NULL, {"NVRTC has no nvrtcGetCUBIN", "CUDA 11.2 or later"}, NULL},
    {"nvrtc-fails",
     SOURCE,
     NULL,
     {"NVRTC 13.0: NVRTC_ERROR_COMPILATION", "launch.gk(12): error: identifier \"x\" is undefined"},
     "NVRTC: the last line of a long log"},
    {"nvrtc-builtins",
     SOURCE,
     NULL,
     {"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "libnvrtc-builtins.so.13.0"},
     NULL},
    {"no-jit",
     PTX,
     NULL,
     {"CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)", "libnvidia-ptxjitcompiler"},
     NULL},
    {"no-jit-cubin", PTX | CUBIN, "cubin sm_90", {NULL}, NULL},
    {0},
};

static char log_text[1 << 16];

static void note_message(void *user, enum gantry_log_level level, const char *text)
{
    size_t used = strlen(log_text);

    (void)user;
    (void)level;
    snprintf(log_text + used, sizeof(log_text) - used, "%s\n", text);
}

static void skip(const char *why)
{
    printf("skipped: %s\n", why);
    exit(EXIT_SKIP);
}

/* ---- Images --------------------------------------------------------------------------------- */

static char *copy_text(const void *data, size_t size)
{
    char *text = calloc(1, size + 64);

    CHECK(text, "no memory");
    memcpy(text, data, size);
    return text;
}

/* The one image of a case that is not the package's own; freed when its package was made. */
static char *made;

static void take_new_ptx(struct gpk_build_image *image)
{
    char *text = copy_text(image->data, image->size), *new = calloc(1, image->size + 64);
    char *version = strstr(text, ".version"), *rest;

    CHECK(new &&version, "no PTX");
    rest = version + strcspn(version, "\n");
    snprintf(new, image->size + 64, "%.*s.version 99.0%s", (int)(version - text), text, rest);
    free(text);
    image->data = made = new;
    image->size = strlen(new);
}

static void take_bad_source(struct gpk_build_image *image)
{
    char *text = calloc(1, image->size + 64);

    CHECK(text, "no memory");
    snprintf(text, image->size + 64, "int f( {\n%.*s", (int)image->size, (const char *)image->data);
    image->data = made = text;
    image->size = strlen(text);
}

/* Adds the image as the case wants it, if it does. */
static uint32_t add_image(int wanted, const struct gantry_image_info *info, const void *data,
                          uint32_t arch, bool main_source, struct gpk_build_image *images)
{
    struct gpk_build_image image = {.kernel = info->kind == GANTRY_IMAGE_PTX ? 0 : UINT32_MAX,
                                    .kind = info->kind,
                                    .entry = info->entry,
                                    .arch = info->arch,
                                    .isa_version = info->isa_version,
                                    .features = info->features,
                                    .name = info->name,
                                    .data = data,
                                    .size = info->size};
    uint32_t count = 0;

    if (info->kind == GANTRY_IMAGE_CUBIN && info->arch == arch) {
        if (wanted & CUBIN)
            images[count++] = image;
        image.arch = 80;
        if (wanted & FOREIGN)
            images[count++] = image;
    } else if (info->kind == GANTRY_IMAGE_PTX && info->arch == 75) {
        if (wanted & PTX)
            images[count++] = image;
        if (wanted & (NEW_PTX | LYING_PTX)) {
            take_new_ptx(&image);
            image.isa_version = wanted & NEW_PTX ? 990 : 63;
            images[count++] = image;
        }
    } else if (info->kind == GANTRY_IMAGE_SOURCE && wanted & (SOURCE | BAD_SOURCE)) {
        if (wanted & BAD_SOURCE && main_source)
            take_bad_source(&image);
        images[count++] = image;
    }
    return count;
}

static uint32_t find_mark(struct gantry_package *package, struct gantry_kernel_source *mark)
{
    uint32_t i = 0;

    while (gantry_package_kernel(package, i, mark) == GANTRY_OK && strcmp(mark->name, "mark") != 0)
        i++;
    CHECK(i < gantry_package_kernel_count(package), "there is no kernel mark");
    return i;
}

static struct gantry_module *load(struct gantry_device *device, struct gantry_package *package,
                                  int wanted, uint32_t arch)
{
    struct gpk_build_image images[MOST];
    struct gantry_kernel_source mark;
    struct gpk_build build = {
        .name = "mismatch", .toolchain = "", .images = images, .kernels = &mark, .kernel_count = 1};
    struct gantry_module_params params = {0};
    struct gantry_module *module = NULL;
    bool main_source = true;

    find_mark(package, &mark);
    for (uint32_t i = 0; i < gantry_package_image_count(package); i++) {
        struct gantry_image_info info;
        const void *data;

        CHECK(gantry_package_image(package, i, &info, &data) == GANTRY_OK, "image %u", i);
        if (info.kernel && strcmp(info.kernel, "mark") != 0)
            continue;
        build.image_count +=
            add_image(wanted, &info, data, arch, main_source, images + build.image_count);
        main_source = main_source && info.kind != GANTRY_IMAGE_SOURCE;
        CHECK(build.image_count < MOST - 2, "too many images");
    }
    if (build.image_count == 0)
        skip("the package was built without such images");
    params.data = gpk_build(&build, &params.size);
    CHECK(params.data, "no memory for a package");
    CHECK(gantry_module_load(device, &params, &module) == GANTRY_OK, "the package can't be read");
    free((void *)params.data);
    free(made);
    return module;
}

/* ---- Main ----------------------------------------------------------------------------------- */

/* The exit status. */
static int check_case(struct gantry_device *device, struct gantry_module *module, uint32_t c)
{
    struct gantry_kernel *kernel = NULL;
    struct gantry_kernel_info info;
    enum gantry_status status = gantry_kernel_create(module, "mark", NULL, &kernel);

    if (status == GANTRY_OK && strcmp(cases[c].name, "no-nvrtc") == 0) {
        printf("skipped: this machine has NVRTC where every program finds it\n");
        gantry_kernel_destroy(&kernel);
        return EXIT_SKIP;
    }
    if (cases[c].used) {
        CHECK(status == GANTRY_OK, "%s expected", cases[c].used);
        CHECK(gantry_kernel_describe(kernel, &info) == GANTRY_OK, "no description");
        printf("used: %s\n", info.image);
        CHECK(strncmp(info.image, cases[c].used, strlen(cases[c].used)) == 0, "%s instead of %s",
              info.image, cases[c].used);
    } else {
        CHECK(status == GANTRY_E_NO_IMAGE, "%s", gantry_status_name(status));
        printf("%s\n", gantry_last_error());
        for (int i = 0; cases[c].said[i]; i++)
            CHECK(strstr(gantry_last_error(), cases[c].said[i]), "\"%s\" is missing",
                  cases[c].said[i]);
    }
    CHECK(!cases[c].logged || strstr(log_text, cases[c].logged), "\"%s\" was not logged:\n%s",
          cases[c].logged, log_text);
    CHECK(!gantry_device_loss(device), "the device was lost");
    gantry_kernel_destroy(&kernel);
    return EXIT_SUCCESS;
}

/* What failed must not come out of what is called next. */
static void check_healthy(struct gantry_device *device)
{
    const struct gantry_buffer_params params = {.size = 64};
    struct gantry_buffer *buffer;
    struct gantry_queue *queue;
    struct gantry_point point;

    CHECK(gantry_buffer_create(device, &params, &buffer) == GANTRY_OK, "no buffer");
    CHECK(gantry_queue_create(device, NULL, &queue) == GANTRY_OK, "no queue");
    CHECK(gantry_queue_fill(queue, buffer, 0, 64, 0, &point) == GANTRY_OK, "no fill");
    CHECK(gantry_wait(point, GANTRY_FOREVER) == GANTRY_OK, "the next work fails");
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

static uint32_t arch_of(struct gantry_device *device)
{
    struct gantry_device_info info;

    CHECK(gantry_device_info(device, &info) == GANTRY_OK, "no description");
    for (uint32_t i = 0; i < info.backend_count; i++)
        if (strcmp(info.backends[i].backend, "cuda") == 0)
            return (uint32_t)atoi(info.backends[i].arch + strlen("sm_"));
    return 0;
}

/* What gantry says of the backend cuda, which can't be used, must contain all of the texts. */
static int check_driver(struct gantry *g, char *const *texts)
{
    struct gantry_backend_info info = {0};

    for (uint32_t i = 0; gantry_backend_describe(g, i, &info) == GANTRY_OK; i++)
        if (strcmp(info.name, "cuda") == 0)
            break;
    CHECK(info.reason, "the backend cuda can be used");
    printf("%s\n", info.reason);
    for (; *texts; texts++)
        CHECK(strstr(info.reason, *texts), "\"%s\" is missing", *texts);
    gantry_close(&g);
    return 0;
}

int main(int argc, char **argv)
{
    const struct gantry_params params = {.app_name = "mismatch",
                                         .log = note_message,
                                         .log_level = GANTRY_LOG_WARNING};
    const struct gantry_device_params first = {.device = "cuda:0"};
    const struct gantry_package_params file = {.file = PACKAGES "/launch.gpk"};
    struct gantry *g;
    struct gantry_device *device;
    struct gantry_package *package;
    struct gantry_module *module;
    uint32_t c = 0;
    int status;

    CHECK(gantry_open(&params, &g) == GANTRY_OK, "gantry can't be opened");
    if (argc > 1 && strcmp(argv[1], "driver") == 0)
        return check_driver(g, argv + 2);
    while (cases[c].name && (argc < 2 || strcmp(cases[c].name, argv[1]) != 0))
        c++;
    if (!cases[c].name) {
        fprintf(stderr, "usage: mismatch CASE | driver TEXT...\n");
        return 2;
    }
    if (gantry_device_open(g, &first, &device) != GANTRY_OK)
        skip(gantry_last_error());
    CHECK(gantry_package_open(&file, &package) == GANTRY_OK, "no package");
    module = load(device, package, cases[c].images, arch_of(device));
    status = check_case(device, module, c);
    check_healthy(device);
    gantry_module_unload(&module);
    gantry_package_close(&package);
    gantry_device_close(&device);
    gantry_close(&g);
    return status;
}
