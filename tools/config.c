/* gantry config: every value of the configuration, what set it, and what that beat. */
#include <stdio.h>

#include "arguments.h"
#include "device.h"
#include "output.h"
#include "tool.h"

static const char usage[] =
    "usage: gantry config [--device D] [--json]\n"
    "\n"
    "Shows every effective value with the line or variable that set it and what it\n"
    "overrode: for one device, or without --device those that no device section changes.\n"
    "\n"
    "  --device D   an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --json       print one JSON object\n";

/* What the values are asked for; index UINT32_MAX: for no device in particular. */
struct scope {
    uint32_t index;
    const char *name, *backend;
};

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_value(const struct gantry_config_value *value)
{
    printf("  %-24s %-20s %s", value->key, value->value, value->origin);
    if (value->section)
        printf(", %s", value->section);
    putchar('\n');
    for (uint32_t i = 0; i < value->override_count; i++)
        printf("  %-24s   overrides %s\n", "", value->overrides[i]);
}

static int print_text(struct gantry *g, const struct scope *scope)
{
    uint32_t count = gantry_config_count(g, scope->index);
    struct gantry_config_value value;

    if (scope->name)
        printf("Device %u: %s, opened through %s\n\n", scope->index, scope->name, scope->backend);
    print_config_files(g);
    puts("\nValues");
    for (uint32_t i = 0; i < count; i++) {
        if (gantry_config_get(g, scope->index, i, &value) != GANTRY_OK)
            return output_failure("config");
        print_value(&value);
    }
    return output_finish(TOOL_DONE);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *describe_value(const struct gantry_config_value *value)
{
    json_t *overrides = json_array();

    for (uint32_t i = 0; i < value->override_count; i++)
        overrides = json_list_add(overrides, json_string(value->overrides[i]));
    return json_pack("{s:s, s:s, s:s, s:s?, s:o}", "key", value->key, "value", value->value,
                     "origin", value->origin, "section", value->section, "overrides", overrides);
}

static int print_json(struct gantry *g, const struct scope *scope)
{
    uint32_t count = gantry_config_count(g, scope->index);
    json_t *values = json_array(), *device = json_null();
    struct gantry_config_value value;

    for (uint32_t i = 0; i < count; i++) {
        if (gantry_config_get(g, scope->index, i, &value) != GANTRY_OK) {
            json_decref(values);
            return output_failure("config");
        }
        values = json_list_add(values, describe_value(&value));
    }
    if (scope->name)
        device = json_pack("{s:I, s:s, s:s}", "index", (json_int_t)scope->index, "name",
                           scope->name, "backend", scope->backend);
    return output_json(json_pack("{s:o, s:o, s:o}", "device", device, "files", json_config_files(g),
                                 "values", values),
                       TOOL_DONE);
}

/* ---- The subcommand ------------------------------------------------------------------------- */

int cmd_config(int argc, char **argv)
{
    bool json = false;
    const char *selector = NULL;
    const struct argument table[] = {{"--json", .flag = &json}, {"--device", .value = &selector}};
    struct scope scope = {.index = UINT32_MAX};
    struct gantry *g = NULL;
    struct gantry_device *device = NULL;
    struct gantry_device_info info;
    int status;

    if (!arguments_read(argc, argv, usage, table, 2, &status))
        return status;
    if (selector) {
        if (!device_open("config", selector, &g, &device, &info))
            return TOOL_FAILED;
        scope = (struct scope){info.index, info.name, info.chosen_backend};
    } else if (gantry_open(NULL, &g) != GANTRY_OK) {
        return output_failure("config");
    }
    status = json ? print_json(g, &scope) : print_text(g, &scope);
    gantry_device_close(&device);
    gantry_close(&g);
    return status;
}
