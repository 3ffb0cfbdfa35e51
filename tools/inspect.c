/* gantry inspect: what a kernel package holds, and how its kernels do on a device. */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "device.h"
#include "inspect.h"
#include "output.h"
#include "tool.h"

static const char usage[] =
    "usage: gantry inspect PACKAGE [--device D] [--json]\n"
    "\n"
    "Shows the kernels of a package with their argument structs, block rules and\n"
    "requirements, and the images. With --device each kernel is made on that device, and\n"
    "its block, registers, spills, shared memory and occupancy are shown too; the exit\n"
    "status is 1 when one can't be made there.\n"
    "\n"
    "  --device D   an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --json       print one JSON object\n";

/* Makes one kernel. Only want of memory makes it fail: a kernel that can't be made is a finding. */
static enum gantry_status try_kernel(struct gantry_module *module, const char *name,
                                     struct trial *trial)
{
    enum gantry_status status = gantry_kernel_create(module, name, NULL, &trial->kernel);

    if (status == GANTRY_OK)
        status = gantry_kernel_describe(trial->kernel, &trial->info);
    if (status == GANTRY_OK)
        return GANTRY_OK;
    gantry_kernel_destroy(&trial->kernel);
    trial->failure = strdup(gantry_last_error());
    return trial->failure ? GANTRY_OK : GANTRY_E_OUT_OF_HOST_MEMORY;
}

static int try_kernels(struct inspection *inspection)
{
    const struct gantry_module_params params = {.file = inspection->file};
    uint32_t count = gantry_package_kernel_count(inspection->package);
    struct gantry_kernel_source source;
    struct gantry_module *module;
    int status = TOOL_DONE;

    inspection->trials = calloc(count ? count : 1, sizeof *inspection->trials);
    if (!inspection->trials) {
        output_error("inspect: out of memory");
        return TOOL_FAILED;
    }
    if (gantry_module_load(inspection->device, &params, &module) != GANTRY_OK)
        return output_failure("inspect");
    for (uint32_t i = 0; i < count; i++) {
        gantry_package_kernel(inspection->package, i, &source);
        if (try_kernel(module, source.name, &inspection->trials[i]) != GANTRY_OK)
            status = output_failure("inspect");
    }
    gantry_module_unload(&module);
    return status;
}

/* Says on stderr, too, which kernels can't be made: that is why the exit status is 1. */
static int report_trials(const struct inspection *inspection)
{
    uint32_t count = inspection->trials ? gantry_package_kernel_count(inspection->package) : 0;
    int status = TOOL_DONE;

    for (uint32_t i = 0; i < count; i++) {
        if (inspection->trials[i].failure) {
            output_error("inspect: %s", inspection->trials[i].failure);
            status = TOOL_FAILED;
        }
    }
    return status;
}

static void free_trials(struct inspection *inspection)
{
    uint32_t count = inspection->trials ? gantry_package_kernel_count(inspection->package) : 0;

    for (uint32_t i = 0; i < count; i++) {
        gantry_kernel_destroy(&inspection->trials[i].kernel);
        free(inspection->trials[i].failure);
    }
    free(inspection->trials);
}

static int inspect(struct inspection *inspection, const char *selector, bool json)
{
    const struct gantry_package_params params = {.file = inspection->file};
    struct gantry *g = NULL;
    int status = TOOL_DONE;

    if (gantry_package_open(&params, &inspection->package) != GANTRY_OK)
        return output_failure("inspect");
    if (selector && !device_open("inspect", selector, &g, &inspection->device, &inspection->opened))
        status = TOOL_FAILED;
    else if (selector)
        status = try_kernels(inspection);
    if (status == TOOL_DONE) {
        status = report_trials(inspection);
        if (json) {
            status = inspect_print_json(inspection, status);
        } else {
            inspect_print_text(inspection);
            status = output_finish(status);
        }
    }
    free_trials(inspection);
    gantry_device_close(&inspection->device);
    gantry_close(&g);
    gantry_package_close(&inspection->package);
    return status;
}

int cmd_inspect(int argc, char **argv)
{
    bool json = false;
    const char *file = NULL, *selector = NULL;
    const struct argument table[] = {{"PACKAGE", .value = &file},
                                     {"--device", .value = &selector},
                                     {"--json", .flag = &json}};
    struct inspection inspection;
    int status;

    if (!arguments_read(argc, argv, usage, table, 3, &status))
        return status;
    inspection = (struct inspection){.file = file};
    return inspect(&inspection, selector, json);
}
