/* gantry doctor: what is wrong with a machine, an installation or a package, from the top down. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../arguments.h"
#include "../output.h"
#include "../tool.h"
#include "checks.h"
#include "drivers.h"
#include "isolate.h"

static const char usage[] =
    "usage: gantry doctor [--json] [--device D] [--root DIR] [PACKAGE…]\n"
    "\n"
    "Looks for what keeps gantry from working, from the top down: configuration, plugins,\n"
    "device files, drivers, devices, and for each PACKAGE whether its kernels can be made\n"
    "on each device, image by image. Every finding has a code (docs/doctor.md lists them),\n"
    "and says what can be done. Drivers are tried in processes of their own, so that one\n"
    "that crashes or hangs does no harm.\n"
    "\n"
    "  --json       print one JSON object\n"
    "  --device D   try only this device: an index, a name pattern, uuid:…, pci:…, cuda:0\n"
    "  --root DIR   look for device files, the PCI bus and manifests of drivers below DIR\n"
    "\n"
    "Exit status: 0 nothing must be mended, 1 something must, 2 wrong usage.\n";

enum { PACKAGES = 256, OPEN_SECONDS = 120, PACKAGE_SECONDS = 120 };

/* ---- What needs gantry to be open ----------------------------------------------------------- */

static bool open_with(struct patient *patient)
{
    const struct gantry_params params = {.override_text = patient->override,
                                         .log_level = GANTRY_LOG_OFF};

    return gantry_open(&params, &patient->g) == GANTRY_OK;
}

/* Unsets gantry's variables, but for that which leaves out all files. */
static void forget_variables(bool path_too)
{
    static const char *const kept[] = {"GANTRY_CONFIG=", "GANTRY_PLUGIN_PATH="};
    size_t count = path_too ? 1 : 2;

    for (char **variable = environ; *variable;) {
        bool keep = strncmp(*variable, "GANTRY_", 7) != 0;
        char *name;

        for (size_t i = 0; i < count; i++)
            keep |= strncmp(*variable, kept[i], strlen(kept[i])) == 0;
        name = keep ? NULL : strndup(*variable, strcspn(*variable, "="));
        if (!name)
            variable++;
        else
            unsetenv(name); /* the next one is in its place now */
        free(name);
    }
}

/* Without the files, and if need be the variables, that made it fail. */
static bool open_bare(struct report *report, struct patient *patient)
{
    bool opened;

    if (!patient->refused)
        report_add(report, &(struct finding){CODE_CONFIG_REFUSED, .subject = "gantry_open"},
                   "gantry can't be opened: %s", gantry_last_error());
    setenv("GANTRY_CONFIG", "none", 1);
    opened = open_with(patient);
    for (int path_too = 0; path_too < 2 && !opened; path_too++) {
        forget_variables(path_too);
        opened = open_with(patient);
    }
    if (opened)
        report_add(report, &(struct finding){CODE_CONFIG_LEFT_OUT, .subject = "gantry_open"},
                   "what follows was found without the configuration, which can't be used");
    return opened;
}

static void examine(struct report *report, void *context)
{
    struct patient *patient = context;

    if (!open_with(patient) && !open_bare(report, patient))
        return;
    check_plugins(report, patient);
    check_devices(report, patient);
    check_packages(report, patient);
    gantry_close(&patient->g);
}

/* A driver that has crashed once must not be opened again: its backend is left out. */
static const char *override_for(bool cuda, bool vulkan)
{
    if (cuda && vulkan)
        return NULL;
    if (cuda)
        return "[gantry]\nbackend = cuda\n";
    return vulkan ? "[gantry]\nbackend = vulkan\n" : NO_BACKEND;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static bool config_is_refused(const struct report *report)
{
    return report_has(report, CODE_CONFIG_MISTAKE) || report_has(report, CODE_CONFIG_UNREADABLE) ||
           report_has(report, CODE_CONFIG_VARIABLE) || report_has(report, CODE_CONFIG_REFUSED);
}

static void look_at_all(struct report *report, struct patient *patient)
{
    const struct isolation isolation = {
        .subject = "gantry",
        .crashed = CODE_DEVICES_CRASHED,
        .hangs = CODE_DEVICES_HANG,
        .seconds = OPEN_SECONDS + PACKAGE_SECONDS * (unsigned)patient->packages->count,
    };
    bool cuda, vulkan = true;

    check_config(report);
    check_machine(report, patient->machine);
    cuda = check_cuda(report, patient->machine);
#if GANTRY_DOCTOR_VULKAN /* else there is no Vulkan plugin either */
    vulkan = check_vulkan(report);
    check_icds(report, patient->machine);
#endif
    patient->override = override_for(cuda, vulkan);
    patient->refused = config_is_refused(report);
    isolate(report, &isolation, examine, patient);
}

static bool check_root(const char *root)
{
    struct stat info;

    if (!root || (stat(root, &info) == 0 && S_ISDIR(info.st_mode)))
        return true;
    output_error("doctor: --root %s is no folder (name one that holds dev, sys and etc)", root);
    return false;
}

int cmd_doctor(int argc, char **argv)
{
    const char *items[PACKAGES], *device = NULL, *root = NULL;
    struct argument_list packages = {.items = items, .room = PACKAGES};
    bool json = false;
    const struct argument table[] = {
        {"--json", .flag = &json},
        {"--device", .value = &device},
        {"--root", .value = &root},
        {"PACKAGE", .list = &packages, .optional = true},
    };
    struct report report = {.findings = NULL};
    struct machine machine;
    int status;

    if (!arguments_read(argc, argv, usage, table, sizeof table / sizeof *table, &status))
        return status;
    if (!check_root(root))
        return TOOL_USAGE;
    report.findings = json_array();
    machine_read(root ? root : "", &machine);
    look_at_all(&report,
                &(struct patient){.machine = &machine, .device = device, .packages = &packages});
    status = report_show(&report, json);
    json_decref(report.findings);
    return status;
}
