/* Compiles a package's source images with NVRTC, from memory alone, as the CUDA plugin does where
 * no other image fits. Needs libnvrtc but no GPU. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gantry/gantry.h>

enum { SKIPPED = 77, MAX_FILES = 64 };

typedef struct nvrtc_program *nvrtc_program;

static struct {
    int (*create)(nvrtc_program *program, const char *source, const char *name, int count,
                  const char *const *headers, const char *const *names);
    int (*compile)(nvrtc_program program, int count, const char *const *options);
    int (*log_size)(nvrtc_program program, size_t *size);
    int (*log)(nvrtc_program program, char *text);
    int (*ptx_size)(nvrtc_program program, size_t *size);
    int (*ptx)(nvrtc_program program, char *text);
    int (*destroy)(nvrtc_program *program);
} nvrtc;

static bool load_symbol(void *library, const char *name, void *entry)
{
    void *symbol = dlsym(library, name);
    memcpy(entry, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static bool load(const char *folder)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "libnvrtc.so"};
    char path[4096];
    void *library = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++) {
        snprintf(path, sizeof(path), "%s/lib64/%s", folder, names[i]);
        library = dlopen(path, RTLD_NOW);
        library = library ? library : dlopen(names[i], RTLD_NOW);
    }
    return library && load_symbol(library, "nvrtcCreateProgram", &nvrtc.create) &&
           load_symbol(library, "nvrtcCompileProgram", &nvrtc.compile) &&
           load_symbol(library, "nvrtcGetProgramLogSize", &nvrtc.log_size) &&
           load_symbol(library, "nvrtcGetProgramLog", &nvrtc.log) &&
           load_symbol(library, "nvrtcGetPTXSize", &nvrtc.ptx_size) &&
           load_symbol(library, "nvrtcGetPTX", &nvrtc.ptx) &&
           load_symbol(library, "nvrtcDestroyProgram", &nvrtc.destroy);
}

/* The package's source images as strings: the main file first. */
static int collect(struct gantry_package *package, char **texts, const char **names)
{
    int count = 0;
    for (uint32_t i = 0; i < gantry_package_image_count(package); i++) {
        struct gantry_image_info image;
        const void *data;
        if (gantry_package_image(package, i, &image, &data) || image.kind != GANTRY_IMAGE_SOURCE ||
            count == MAX_FILES)
            continue;
        texts[count] = calloc(1, image.size + 1);
        memcpy(texts[count], data, image.size);
        names[count++] = image.name;
    }
    return count;
}

static bool has_entry(nvrtc_program program, const char *kernel, const char *suffix)
{
    char entry[256];
    size_t size = 0;
    snprintf(entry, sizeof(entry), ".entry %s%s(", kernel, suffix);
    if (nvrtc.ptx_size(program, &size))
        return false;
    char *ptx = calloc(1, size + 1);
    bool found = !nvrtc.ptx(program, ptx) && strstr(ptx, entry);
    free(ptx);
    if (!found)
        printf("no \"%s\" in the PTX\n", entry);
    return found;
}

static bool check_entries(struct gantry_package *package, nvrtc_program program)
{
    bool good = true;
    for (uint32_t i = 0; i < gantry_package_kernel_count(package); i++) {
        struct gantry_kernel_source kernel;
        good = good && !gantry_package_kernel(package, i, &kernel) &&
               has_entry(program, kernel.name, "") && has_entry(program, kernel.name, "_folded");
    }
    return good;
}

static bool compile(struct gantry_package *package, const char *arch)
{
    char *texts[MAX_FILES] = {0};
    const char *names[MAX_FILES];
    int count = collect(package, texts, names);
    nvrtc_program program = NULL;
    bool good = count > 1 && nvrtc.create(&program, texts[0], names[0], count - 1,
                                          (const char *const *)texts + 1, names + 1) == 0;
    if (good && nvrtc.compile(program, 1, &arch)) {
        size_t size = 0;
        nvrtc.log_size(program, &size);
        char *log = calloc(1, size + 1);
        nvrtc.log(program, log);
        printf("%s: %s\n", arch, log);
        free(log);
        good = false;
    }
    good = good && check_entries(package, program);
    if (program)
        nvrtc.destroy(&program);
    for (int i = 0; i < count; i++)
        free(texts[i]);
    return good;
}

/* nvrtc CUDA-FOLDER PACKAGE… */
int main(int argc, char **argv)
{
    int failures = 0;
    if (argc < 3 || !load(argv[1])) {
        printf("skipped: there is no libnvrtc\n");
        return SKIPPED;
    }
    for (int i = 2; i < argc; i++) {
        struct gantry_package_params params = {.file = argv[i]};
        struct gantry_package *package;
        if (gantry_package_open(&params, &package)) {
            printf("%s\n", gantry_last_error());
            return 1;
        }
        bool good = compile(package, "-arch=compute_75") && compile(package, "-arch=compute_90");
        printf("%s: %s\n", argv[i], good ? "compiled" : "FAILED");
        failures += !good;
        gantry_package_close(&package);
    }
    return failures ? 1 : 0;
}
