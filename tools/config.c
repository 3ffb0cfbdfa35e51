/* gantry config: every value of the configuration, what set it, what that beat, and what a device
 * makes of it. */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "config_check.h"
#include "output.h"
#include "profile.h"
#include "tool.h"
#include "tune/stale.h"

static const char usage[] =
    "usage: gantry config [--device D] [--backend B] [--json]\n"
    "       gantry config --profile FILE [--index N | --device D] [--backend B] [--json]\n"
    "       gantry config --check FILE… [--package P]… [--json]\n"
    "\n"
    "Shows every effective value with the line or variable that set it, what it overrode,\n"
    "and what the device's limits make of it: for the device that would be opened, or\n"
    "when nothing names one, the values that no device section changes. No device is\n"
    "opened.\n"
    "\n"
    "  --device D      an index, a name pattern, uuid:…, pci:…, auto, or cuda:0, which is\n"
    "                  the device as that backend sees it\n"
    "  --backend B     as seen through this backend\n"
    "  --profile FILE  of the machine that FILE describes, which is the output of\n"
    "                  gantry info --json on it\n"
    "  --index N       its Nth device, from 0, instead of the one that would be opened\n"
    "  --json          print one JSON object\n";

struct request {
    const char *device, *backend, *profile, *index;
    bool json;
};

/* What the values are asked for. */
struct scope {
    struct gantry *g;
    uint32_t index; /* UINT32_MAX: for no device in particular */
    struct gantry_device_info device;
    const char *profile;       /* the machine's file; NULL: it is this one */
    const uint32_t *described; /* its devices */
    uint32_t described_count;
};

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_device(const struct gantry_device_info *info)
{
    printf("%s (%s), ", info->name, gantry_device_type_name(info->type));
    if (info->chosen_backend)
        printf("opened through %s, policy %s\n", info->chosen_backend, info->chosen_section);
    else
        puts("can't be opened");
    for (uint32_t i = 0; i < info->backend_count; i++) {
        if (info->backends[i].skipped)
            printf("     %s:%u can't be used: %s\n", info->backends[i].backend,
                   info->backends[i].index, info->backends[i].skipped);
    }
}

static void print_machine(const struct scope *scope)
{
    struct gantry_device_info info;

    if (!scope->profile)
        return;
    printf("Devices of %s\n", scope->profile);
    for (uint32_t i = 0; i < scope->described_count; i++) {
        gantry_device_describe(scope->g, scope->described[i], &info);
        printf("  %u  ", info.index);
        print_device(&info);
    }
    putchar('\n');
}

static void print_value(const struct gantry_config_value *value)
{
    printf("  %-24s %-20s %s", value->key, value->value, value->origin);
    if (value->section)
        printf(", %s", value->section);
    putchar('\n');
    if (value->clamped)
        printf("  %-24s   here %s\n", "", value->clamped);
    for (uint32_t i = 0; i < value->override_count; i++)
        printf("  %-24s   overrides %s\n", "", value->overrides[i]);
}

static int print_text(const struct scope *scope)
{
    uint32_t count = gantry_config_count(scope->g, scope->index);
    struct gantry_config_value value;

    print_machine(scope);
    if (scope->index != UINT32_MAX) {
        printf("Device %u: ", scope->device.index);
        print_device(&scope->device);
        putchar('\n');
    }
    print_config_files(scope->g);
    puts("\nValues");
    for (uint32_t i = 0; i < count; i++) {
        if (gantry_config_get(scope->g, scope->index, i, &value) != GANTRY_OK)
            return output_failure("config");
        print_value(&value);
    }
    if (scope->index != UINT32_MAX && !scope->profile)
        stale_print(scope->g, &scope->device);
    return output_finish(TOOL_DONE);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *describe_device(const struct gantry_device_info *info)
{
    return json_pack("{s:I, s:s, s:s, s:s?, s:s?}", "index", (json_int_t)info->index, "name",
                     info->name, "type", gantry_device_type_name(info->type), "backend",
                     info->chosen_backend, "section", info->chosen_section);
}

static json_t *describe_machine(const struct scope *scope)
{
    json_t *devices = json_array();
    struct gantry_device_info info;

    for (uint32_t i = 0; i < scope->described_count; i++) {
        gantry_device_describe(scope->g, scope->described[i], &info);
        devices = json_list_add(devices, describe_device(&info));
    }
    return json_pack("{s:s, s:o}", "file", scope->profile, "devices", devices);
}

static json_t *describe_value(const struct gantry_config_value *value)
{
    json_t *overrides = json_array();

    for (uint32_t i = 0; i < value->override_count; i++)
        overrides = json_list_add(overrides, json_string(value->overrides[i]));
    return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:o}", "key", value->key, "value", value->value,
                     "origin", value->origin, "section", value->section, "clamped", value->clamped,
                     "overrides", overrides);
}

static int print_json(const struct scope *scope)
{
    uint32_t count = gantry_config_count(scope->g, scope->index);
    bool here = scope->index != UINT32_MAX && !scope->profile;
    json_t *values = json_array();
    struct gantry_config_value value;

    for (uint32_t i = 0; i < count; i++) {
        if (gantry_config_get(scope->g, scope->index, i, &value) != GANTRY_OK) {
            json_decref(values);
            return output_failure("config");
        }
        values = json_list_add(values, describe_value(&value));
    }
    return output_json(json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "profile",
                                 scope->profile ? describe_machine(scope) : json_null(), "device",
                                 scope->index == UINT32_MAX ? json_null()
                                                            : describe_device(&scope->device),
                                 "files", json_config_files(scope->g), "values", values, "tuned",
                                 here ? current_sections(scope->g, &scope->device) : json_array(),
                                 "stale",
                                 here ? stale_sections(scope->g, &scope->device) : json_array()),
                       TOOL_DONE);
}

/* ---- What is asked about -------------------------------------------------------------------- */

static int print(const struct request *request, struct scope *scope)
{
    if (scope->index != UINT32_MAX &&
        gantry_device_describe(scope->g, scope->index, &scope->device) != GANTRY_OK)
        return output_failure("config");
    return request->json ? print_json(scope) : print_text(scope);
}

static int print_here(const struct request *request, struct scope *scope)
{
    const struct gantry_device_params params = {.device = request->device,
                                                .backend = request->backend};

    if ((request->device || request->backend) &&
        gantry_config_device(scope->g, &params, &scope->index) != GANTRY_OK)
        return output_failure("config");
    return print(request, scope);
}

/* All devices of the profile, or the one that is asked for. */
static bool add_devices(const struct request *request, struct profile *profile, uint32_t number,
                        struct gantry *g, uint32_t *indices)
{
    uint32_t first = request->index ? number : 0;
    uint32_t end = request->index ? number + 1 : profile->count;

    for (uint32_t i = first; i < end; i++) {
        if (request->index)
            profile->devices[i].chosen_backend = request->backend;
        if (gantry_config_profile(g, &profile->devices[i], indices++) != GANTRY_OK) {
            output_error("config: %s: devices[%u]: %s", request->profile, i, gantry_last_error());
            return false;
        }
    }
    return true;
}

static bool choose(const struct request *request, struct scope *scope)
{
    const struct gantry_device_params params = {.device = request->device,
                                                .backend = request->backend};

    if (request->index) {
        scope->index = scope->described[0];
        return true;
    }
    if (gantry_config_device(scope->g, &params, &scope->index) == GANTRY_OK)
        return true;
    output_failure("config");
    return false;
}

static bool read_index(const char *text, uint32_t count, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *number = (uint32_t)value;
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && value < count)
        return true;
    output_error("config: --index '%s' names no device of the profile (write 0 to %u)", text,
                 count - 1);
    return false;
}

static int print_profile(const struct request *request, struct scope *scope)
{
    struct profile profile;
    uint32_t number = 0;
    uint32_t *indices = NULL;
    int status = TOOL_FAILED;

    if (!profile_read("config", request->profile, &profile))
        return TOOL_FAILED;
    indices = calloc(profile.count, sizeof *indices);
    if (!indices)
        output_error("config: out of memory");
    if (indices && (!request->index || read_index(request->index, profile.count, &number)) &&
        add_devices(request, &profile, number, scope->g, indices)) {
        scope->profile = request->profile;
        scope->described = indices;
        scope->described_count = request->index ? 1 : profile.count;
        status = choose(request, scope) ? print(request, scope) : TOOL_FAILED;
    }
    free(indices);
    profile_free(&profile);
    return status;
}

/* ---- The subcommand ------------------------------------------------------------------------- */

static bool check(const struct request *request)
{
    if (request->index && !request->profile)
        output_error("config: --index is for the devices of a --profile (use --device)");
    else if (request->index && request->device)
        output_error("config: --index and --device both name a device (leave one out)");
    else
        return true;
    return false;
}

int cmd_config(int argc, char **argv)
{
    struct request request = {0};
    const struct argument table[] = {{"--json", .flag = &request.json},
                                     {"--device", .value = &request.device},
                                     {"--backend", .value = &request.backend},
                                     {"--profile", .value = &request.profile},
                                     {"--index", .value = &request.index}};
    struct scope scope = {.index = UINT32_MAX};
    int status;

    if (config_check_asked(argc, argv))
        return config_check(argc, argv);
    if (!arguments_read(argc, argv, usage, table, sizeof table / sizeof *table, &status))
        return status;
    if (!check(&request))
        return TOOL_USAGE;
    if (gantry_open(NULL, &scope.g) != GANTRY_OK)
        return output_failure("config");
    status = request.profile ? print_profile(&request, &scope) : print_here(&request, &scope);
    gantry_close(&scope.g);
    return status;
}
