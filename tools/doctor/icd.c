/* The manifests of Vulkan drivers: broken, useless on this machine, or shadowed. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/library_file.h"
#include "drivers.h"
#include "icd_search.h"
#include "isolate.h"

/* A manifest that could be read. */
struct icd {
    const char *manifest;
    const char *api_version;
    char library[MACHINE_PATH_SIZE];
};

/* ---- The library ---------------------------------------------------------------------------- */

/* Loading runs the driver's own code. */
static void load(struct report *report, void *context)
{
    const struct icd *icd = context;

    if (dlopen(icd->library, RTLD_NOW | RTLD_LOCAL))
        report_add(report, &(struct finding){CODE_VULKAN_ICD, .subject = icd->manifest},
                   "names %s, of version %s, which can be loaded", icd->library, icd->api_version);
    else
        report_add(report,
                   &(struct finding){CODE_VULKAN_ICD_LIBRARY_MISSING, .subject = icd->manifest,
                                     .why = dlerror()},
                   "its driver %s can't be loaded", icd->library);
}

/* False: the file can't be loaded, which was found. A name without '/' is searched for. */
static bool check_library(struct report *report, const struct icd *icd)
{
    static const enum code codes[] = {
        [LIBRARY_UNREADABLE] = CODE_VULKAN_ICD_LIBRARY_MISSING,
        [LIBRARY_BROKEN] = CODE_VULKAN_ICD_BROKEN,
        [LIBRARY_FOREIGN] = CODE_VULKAN_ICD_WRONG_ARCH,
    };
    char why[LIBRARY_WHY_SIZE];
    enum library_verdict verdict = LIBRARY_FITS;

    if (strchr(icd->library, '/'))
        verdict = library_file_check(icd->library, why);
    if (verdict == LIBRARY_FITS)
        return true;
    report_add(report, &(struct finding){codes[verdict], .subject = icd->manifest},
               "its driver %s %s", icd->library, why);
    return false;
}

static void try_library(struct report *report, struct icd *icd)
{
    const struct isolation isolation = {
        .subject = icd->manifest,
        .crashed = CODE_VULKAN_ICD_CRASHED,
        .hangs = CODE_VULKAN_ICD_CRASHED,
        .seconds = DRIVER_SECONDS,
    };

    if (check_library(report, icd))
        isolate(report, &isolation, load, icd);
}

/* ---- The manifest --------------------------------------------------------------------------- */

/* Relative paths start at the manifest's folder, names without '/' are the dynamic loader's. */
static void find_library(struct icd *icd, const char *path)
{
    const char *slash = strrchr(icd->manifest, '/');

    if (path[0] != '/' && strchr(path, '/') && slash)
        snprintf(icd->library, sizeof icd->library, "%.*s/%s", (int)(slash - icd->manifest),
                 icd->manifest, path);
    else
        snprintf(icd->library, sizeof icd->library, "%s", path);
}

static void read_manifest(struct report *report, const char *path, const json_t *object)
{
    const json_t *body = json_object_get(object, "ICD");
    const char *library = json_string_value(json_object_get(body, "library_path"));
    const char *version = json_string_value(json_object_get(body, "api_version"));
    struct icd icd = {.manifest = path, .api_version = version ? version : "unknown"};

    if (!library) {
        report_add(report, &(struct finding){CODE_VULKAN_ICD_BROKEN, .subject = path},
                   "the manifest has no ICD.library_path");
        return;
    }
    find_library(&icd, library);
    try_library(report, &icd);
}

static void check_manifest(struct report *report, const char *path, const char *variable)
{
    json_error_t error;
    json_t *object;

    if (access(path, R_OK) != 0) {
        enum code code =
            errno == ENOENT && variable ? CODE_VULKAN_ICD_NOT_THERE : CODE_VULKAN_ICD_UNREADABLE;

        report_add(report, &(struct finding){code, .subject = path}, "%s%sit can't be read: %s",
                   variable ? variable : "", variable ? " names it, but " : "", strerror(errno));
        return;
    }
    object = json_load_file(path, 0, &error);
    if (object)
        read_manifest(report, path, object);
    else
        report_add(report, &(struct finding){CODE_VULKAN_ICD_BROKEN, .subject = path},
                   "the manifest is no JSON: line %d: %s", error.line, error.text);
    json_decref(object);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static void report_shadowed(struct report *report, const char *variable,
                            const struct manifests *named, const struct manifests *installed)
{
    char list[1024] = "";
    unsigned count = 0;

    for (size_t i = 0; i < installed->count; i++) {
        size_t used = strlen(list);

        if (icd_contains(named, installed->items[i]))
            continue;
        count++;
        snprintf(list + used, sizeof list - used, "%s%s", used ? "\n" : "", installed->items[i]);
    }
    if (count)
        report_add(report,
                   &(struct finding){CODE_VULKAN_ICD_SHADOWED, .subject = variable, .why = list},
                   "it names the drivers, so that %u installed %s not looked at", count,
                   count == 1 ? "manifest is" : "manifests are");
}

void check_icds(struct report *report, const struct machine *machine)
{
    const char *variable = icd_variable();
    struct manifests named = {.count = 0}, installed = {.count = 0};
    const struct manifests *used = variable ? &named : &installed;

    if (variable)
        icd_find_named(variable, &named);
    icd_find_installed(machine, &installed);
    for (size_t i = 0; i < used->count; i++)
        check_manifest(report, used->items[i], variable);
    if (variable)
        report_shadowed(report, variable, &named, &installed);
    icd_free(&named);
    icd_free(&installed);
}
