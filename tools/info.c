/* gantry info: what is there, and how it would be used. Describing what is below a count can't
 * fail. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "output.h"
#include "tool.h"

static const char usage[] =
    "usage: gantry info [--json]\n"
    "\n"
    "Shows the configuration files that were read, each backend with the reason when it\n"
    "can't be used and the places that were searched, and each device with the backend\n"
    "and the policy section that it would be opened with. Succeeds without any device.\n"
    "The JSON object is also a profile of the machine for gantry config --profile.\n"
    "\n"
    "  --json   print one JSON object\n";

/* ---- Text ----------------------------------------------------------------------------------- */

/* A reason is a list, when several places were searched: a line each. */
static void print_reason(const char *reason)
{
    const char *end;

    while ((end = strstr(reason, "; "))) {
        printf("           %.*s\n", (int)(end + 1 - reason), reason);
        reason = end + 2;
    }
    printf("           %s\n", reason);
}

static void print_backend(const struct gantry_backend_info *info)
{
    printf("  %-8s %s", info->name, info->loaded ? "loaded" : "not loaded");
    if (info->loaded)
        printf(", %u %s, version %s", info->device_count,
               info->device_count == 1 ? "device" : "devices", info->version);
    putchar('\n');
    if (info->path)
        printf("           %s\n", info->path);
    if (info->reason)
        print_reason(info->reason);
}

static void print_backends(struct gantry *g)
{
    uint32_t count = gantry_backend_count(g);
    struct gantry_backend_info info;

    puts("\nBackends");
    if (count == 0)
        puts("  none is configured");
    for (uint32_t i = 0; i < count; i++) {
        gantry_backend_describe(g, i, &info);
        print_backend(&info);
    }
}

static void print_views(const struct gantry_device_info *info)
{
    for (uint32_t i = 0; i < info->backend_count; i++) {
        printf("     %s:%u", info->backends[i].backend, info->backends[i].index);
        if (info->backends[i].arch[0])
            printf(", %s", info->backends[i].arch);
        printf(", driver %s", info->backends[i].driver_version);
        if (info->backends[i].skipped)
            printf(", can't be used: %s", info->backends[i].skipped);
        putchar('\n');
    }
}

static void print_limits(const struct gantry_limits *limits)
{
    printf("     memory             %" PRIu64 " MiB, buffers up to %" PRIu64 " MiB\n",
           limits->memory_size >> 20, limits->max_buffer_size >> 20);
    printf("     threads per block  %u, at most ", limits->max_threads_per_block);
    print_size(limits->max_block, 3);
    fputs("\n     blocks per launch  ", stdout);
    print_size(limits->max_blocks, 3);
    printf("\n     shared memory      %u bytes per block\n", limits->max_shared_bytes);
    printf("     arguments          %u bytes, %u of them inline\n", limits->max_args_bytes,
           limits->inline_args_bytes);
    printf("     subgroup           %u threads (%u to %u)\n", limits->subgroup_size,
           limits->subgroup_min, limits->subgroup_max);
    if (limits->compute_units)
        printf("     compute units      %u\n", limits->compute_units);
    if (limits->threads_per_unit)
        printf("     threads per unit   %u\n", limits->threads_per_unit);
}

static void print_device(const struct gantry_device_info *info)
{
    printf("  %u  %s (%s)\n", info->index, info->name, gantry_device_type_name(info->type));
    print_views(info);
    if (info->chosen_backend)
        printf("     opened through %s, policy %s\n", info->chosen_backend, info->chosen_section);
    else
        puts("     can't be opened");
    printf("     uuid               %s\n", info->uuid ? info->uuid : "unknown");
    printf("     pci                %s\n", info->pci ? info->pci : "unknown");
    if (info->vendor_id)
        printf("     vendor             0x%04x\n", info->vendor_id);
    print_limits(&info->limits);
    if (info->occupancy_source)
        printf("     blocks and grids   %s\n", info->occupancy_source);
    fputs("     features           ", stdout);
    print_features(info->features);
    putchar('\n');
}

static void print_devices(struct gantry *g)
{
    uint32_t count = gantry_device_count(g);
    struct gantry_device_info info;

    puts("\nDevices");
    if (count == 0)
        puts("  none was found; the reasons stand with the backends above");
    for (uint32_t i = 0; i < count; i++) {
        gantry_device_describe(g, i, &info);
        print_device(&info);
    }
}

static int print_text(struct gantry *g)
{
    printf("gantry %s\n\n", gantry_version());
    print_config_files(g);
    print_backends(g);
    print_devices(g);
    return output_finish(TOOL_DONE);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *describe_backends(struct gantry *g)
{
    json_t *backends = json_array();
    uint32_t count = gantry_backend_count(g);
    struct gantry_backend_info info;

    for (uint32_t i = 0; i < count; i++) {
        gantry_backend_describe(g, i, &info);
        backends =
            json_list_add(backends, json_pack("{s:s, s:b, s:s?, s:s?, s:s?, s:I}", "name",
                                              info.name, "loaded", info.loaded, "path", info.path,
                                              "version", info.version, "reason", info.reason,
                                              "device_count", (json_int_t)info.device_count));
    }
    return backends;
}

static json_t *describe_views(const struct gantry_device_info *info)
{
    json_t *views = json_array();

    for (uint32_t i = 0; i < info->backend_count; i++)
        views = json_list_add(views, json_pack("{s:s, s:I, s:s, s:s, s:s?}", "backend",
                                               info->backends[i].backend, "index",
                                               (json_int_t)info->backends[i].index,
                                               "driver_version", info->backends[i].driver_version,
                                               "arch", info->backends[i].arch, "skipped",
                                               info->backends[i].skipped));
    return views;
}

static json_t *describe_view_names(const struct gantry_device_info *info)
{
    json_t *names = json_array();

    for (uint32_t i = 0; i < info->backend_count; i++)
        names = json_list_add(names, json_string(info->backends[i].backend));
    return names;
}

static json_t *describe_limits(const struct gantry_limits *limits)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                     "memory_size", (json_int_t)limits->memory_size, "max_buffer_size",
                     (json_int_t)limits->max_buffer_size, "max_threads_per_block",
                     (json_int_t)limits->max_threads_per_block, "max_block",
                     json_size(limits->max_block), "max_blocks", json_size(limits->max_blocks),
                     "max_shared_bytes", (json_int_t)limits->max_shared_bytes, "max_args_bytes",
                     (json_int_t)limits->max_args_bytes, "inline_args_bytes",
                     (json_int_t)limits->inline_args_bytes, "subgroup_size",
                     (json_int_t)limits->subgroup_size, "subgroup_min",
                     (json_int_t)limits->subgroup_min, "subgroup_max",
                     (json_int_t)limits->subgroup_max, "compute_units",
                     (json_int_t)limits->compute_units, "threads_per_unit",
                     (json_int_t)limits->threads_per_unit);
}

static json_t *describe_devices(struct gantry *g)
{
    json_t *devices = json_array();
    uint32_t count = gantry_device_count(g);
    struct gantry_device_info info;

    for (uint32_t i = 0; i < count; i++) {
        gantry_device_describe(g, i, &info);
        devices = json_list_add(
            devices,
            json_pack("{s:I, s:s, s:s, s:s?, s:s?, s:o, s:o, s:o, s:{s:s?, s:s?}, s:o, s:s?, s:o}",
                      "index", (json_int_t)info.index, "name", info.name, "type",
                      gantry_device_type_name(info.type), "uuid", info.uuid, "pci", info.pci,
                      "vendor_id", info.vendor_id ? json_integer(info.vendor_id) : json_null(),
                      "backends", describe_view_names(&info), "views", describe_views(&info),
                      "chosen", "backend", info.chosen_backend, "section", info.chosen_section,
                      "limits", describe_limits(&info.limits), "occupancy_source",
                      info.occupancy_source, "features", json_features(info.features)));
    }
    return devices;
}

static int print_json(struct gantry *g)
{
    return output_json(json_pack("{s:s, s:o, s:o, s:o}", "version", gantry_version(), "config",
                                 json_config_files(g), "backends", describe_backends(g), "devices",
                                 describe_devices(g)),
                       TOOL_DONE);
}

/* ---- The subcommand ------------------------------------------------------------------------- */

int cmd_info(int argc, char **argv)
{
    bool json = false;
    const struct argument table[] = {{"--json", .flag = &json}};
    struct gantry *g;
    int status;

    if (!arguments_read(argc, argv, usage, table, 1, &status))
        return status;
    if (gantry_open(NULL, &g) != GANTRY_OK)
        return output_failure("info");
    status = json ? print_json(g) : print_text(g);
    gantry_close(&g);
    return status;
}
