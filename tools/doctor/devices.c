/* The devices: which can be used and why the others can't, which would be taken, and how much
 * memory is left on those that open. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../tune/stale.h"
#include "checks.h"

void device_selector(uint32_t index, char selector[SELECTOR_SIZE])
{
    snprintf(selector, SELECTOR_SIZE, "%u", index);
}

bool device_wanted(const struct patient *patient, const struct gantry_device_info *info)
{
    uint32_t count = gantry_device_count(patient->g), selected;
    struct gantry_device_info other;

    if (patient->device)
        return gantry_config_device(patient->g,
                                    &(struct gantry_device_params){.device = patient->device},
                                    &selected) == GANTRY_OK &&
               gantry_device_describe(patient->g, selected, &other) == GANTRY_OK &&
               other.index == info->index;
    if (!info->chosen_backend || info->type != GANTRY_DEVICE_CPU)
        return info->chosen_backend != NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (gantry_device_describe(patient->g, i, &other) == GANTRY_OK && other.chosen_backend &&
            other.type != GANTRY_DEVICE_CPU)
            return false;
    }
    return true;
}

/* ---- Each device ---------------------------------------------------------------------------- */

static void report_device(struct report *report, const struct patient *patient,
                          const struct gantry_device_info *info)
{
    const struct machine *machine = patient->machine;
    bool gpu = machine->nvidia || machine->amd_gpus || machine->intel_gpus;
    struct finding finding = {CODE_DEVICE, .subject = info->name};

    if (info->type != GANTRY_DEVICE_CPU) {
        report_add(report, &finding, "can be used (%s), through %s",
                   gantry_device_type_name(info->type), info->chosen_backend);
        return;
    }
    finding.code = gpu ? CODE_DEVICE_SOFTWARE_ONLY : CODE_DEVICE_SOFTWARE;
    report_add(report, &finding,
               "can be used through %s, but is a software device: slow, and taken only when it is "
               "named or there is nothing else%s",
               info->chosen_backend, gpu ? ", though this machine has a GPU" : "");
}

static void report_views(struct report *report, const struct gantry_device_info *info)
{
    for (uint32_t i = 0; i < info->backend_count; i++) {
        const char *backend = info->backends[i].backend, *why = info->backends[i].skipped;
        char subject[320];

        snprintf(subject, sizeof subject, "%s:%u \"%s\"", backend, info->backends[i].index,
                 info->name);
        if (why)
            report_add(report,
                       &(struct finding){info->chosen_backend ? CODE_DEVICE_VIEW_SKIPPED
                                                              : CODE_DEVICE_SKIPPED,
                                         .subject = subject, .why = why},
                       "can't be used through %s, driver %s", backend,
                       info->backends[i].driver_version);
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(info->backends[j].backend, backend) == 0)
                report_add(report, &(struct finding){CODE_DEVICE_TWIN, .subject = subject},
                           "is the same device as %s:%u, seen through another driver", backend,
                           info->backends[j].index);
        }
    }
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void report_memory(struct report *report, const char *name,
                          const struct gantry_memory_info *memory)
{
    enum { MIB_SHIFT = 20, LOW_PERCENT = 10 };
    struct finding finding = {CODE_DEVICE_MEMORY, .subject = name};

    if (!memory->total || !memory->budget)
        return; /* the driver does not tell */
    if (memory->budget / LOW_PERCENT < memory->total / 100)
        finding.code = CODE_DEVICE_MEMORY_LOW;
    report_add(report, &finding, "%" PRIu64 " MiB of %" PRIu64 " MiB of memory are free",
               memory->budget >> MIB_SHIFT, memory->total >> MIB_SHIFT);
}

static void try_device(struct report *report, const struct patient *patient,
                       const struct gantry_device_info *info)
{
    struct gantry_device_params params = {.device = patient->device};
    struct gantry_memory_info memory;
    struct gantry_device *device;
    char selector[SELECTOR_SIZE];

    device_selector(info->index, selector);
    if (!params.device)
        params.device = selector;
    if (gantry_device_open(patient->g, &params, &device) != GANTRY_OK) {
        report_add(report,
                   &(struct finding){CODE_DEVICE_OPEN_FAILED, .subject = info->name,
                                     .why = gantry_last_error()},
                   "the driver lists it, but it can't be opened");
        return;
    }
    if (gantry_device_memory(device, &memory) == GANTRY_OK)
        report_memory(report, info->name, &memory);
    gantry_device_close(&device);
}

/* ---- The policy ----------------------------------------------------------------------------- */

/* Values that somebody set and the device can't take as they are. */
static void report_clamped(struct report *report, const struct patient *patient,
                           const struct gantry_device_info *info)
{
    uint32_t count = gantry_config_count(patient->g, info->index);
    struct gantry_config_value value;
    char subject[512];

    for (uint32_t i = 0; i < count; i++) {
        if (gantry_config_get(patient->g, info->index, i, &value) != GANTRY_OK || !value.clamped ||
            strcmp(value.origin, "built-in") == 0)
            continue;
        snprintf(subject, sizeof subject, "%s = %s (%s)", value.key, value.value, value.origin);
        report_add(report, &(struct finding){CODE_POLICY_CLAMPED, .subject = subject},
                   "on \"%s\" it is %s", info->name, value.clamped);
    }
}

static void report_stale(struct report *report, const struct patient *patient,
                         const struct gantry_device_info *info)
{
    json_t *list = stale_sections(patient->g, info), *sentence;
    size_t i;

    json_array_foreach(list, i, sentence)
        report_add(report, &(struct finding){CODE_TUNING_STALE, .subject = info->name}, "%s",
                   json_string_value(sentence));
    json_decref(list);
}

/* ---- The choice ----------------------------------------------------------------------------- */

/* Why no backend has a device: "NAME: WHY", a line each. */
static void collect_reasons(struct gantry *g, char *text, size_t size)
{
    uint32_t count = gantry_backend_count(g);
    struct gantry_backend_info info;
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        if (gantry_backend_describe(g, i, &info) != GANTRY_OK || !info.reason)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s: %s", used ? "\n" : "", info.name,
                                 info.reason);
    }
}

static void report_choice(struct report *report, const struct patient *patient)
{
    const struct gantry_device_params params = {.device = patient->device};
    struct gantry_device_info info;
    char reasons[4096];
    uint32_t index;

    if (gantry_config_device(patient->g, &params, &index) == GANTRY_OK &&
        gantry_device_describe(patient->g, index, &info) == GANTRY_OK) {
        report_add(report, &(struct finding){CODE_DEVICE_CHOSEN, .subject = info.name},
                   "is the device that is taken%s%s%s, through %s, with the policy of %s",
                   patient->device ? " for \"" : " unless a program names another",
                   patient->device ? patient->device : "", patient->device ? "\"" : "",
                   info.chosen_backend ? info.chosen_backend : "no backend",
                   info.chosen_section ? info.chosen_section : "built-in values");
    } else if (gantry_device_count(patient->g) == 0) {
        collect_reasons(patient->g, reasons, sizeof reasons);
        report_add(report,
                   &(struct finding){CODE_DEVICE_NONE, .subject = "devices", .why = reasons},
                   "there is no device that gantry could use");
    } else {
        report_add(report,
                   &(struct finding){CODE_DEVICE_SELECTION, .subject = "devices",
                                     .why = gantry_last_error()},
                   "no device is what was asked for, or none can be used");
    }
}

void check_devices(struct report *report, const struct patient *patient)
{
    uint32_t count = gantry_device_count(patient->g);
    struct gantry_device_info info;

    for (uint32_t i = 0; i < count; i++) {
        gantry_device_describe(patient->g, i, &info);
        if (info.chosen_backend)
            report_device(report, patient, &info);
        report_views(report, &info);
        report_clamped(report, patient, &info);
        report_stale(report, patient, &info);
        if (device_wanted(patient, &info))
            try_device(report, patient, &info);
    }
    report_choice(report, patient);
}
