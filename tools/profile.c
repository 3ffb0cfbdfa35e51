/* Reading the profile of a machine: strictly, since a slip would pass for an unknown limit. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "profile.h"

/* Where the reader is, for messages: "devices[0].limits". */
struct reader {
    const char *what, *file;
    char place[64];
};

enum need { OPTIONAL, REQUIRED };

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "unknown";
}

/* Always false. */
static bool refuse(const struct reader *reader, const char *key, const char *is, const char *right)
{
    output_error("%s: %s: %s%s%s %s (%s)", reader->what, reader->file, reader->place,
                 reader->place[0] ? "." : "", key, is, right);
    return false;
}

static bool refuse_type(const struct reader *reader, const char *key, const json_t *value,
                        const char *right)
{
    char is[32];

    snprintf(is, sizeof is, "is %s", type_name(value));
    return refuse(reader, key, is, right);
}

/* ---- Members -------------------------------------------------------------------------------- */

/* *value gets NULL for a member that is missing or null, when it may be. */
static bool find(const struct reader *reader, const json_t *object, const char *key, enum need need,
                 const json_t **value)
{
    *value = json_object_get(object, key);
    if (json_is_null(*value))
        *value = NULL;
    return *value || need == OPTIONAL ||
           refuse(reader, key, "is missing", "write it as gantry info --json does");
}

static bool read_text(const struct reader *reader, const json_t *object, const char *key,
                      enum need need, const char **text)
{
    const json_t *value;

    if (!find(reader, object, key, need, &value))
        return false;
    if (value && !json_is_string(value))
        return refuse_type(reader, key, value, "write a text");
    *text = value ? json_string_value(value) : NULL;
    return true;
}

static bool take_number(const struct reader *reader, const char *key, const json_t *value,
                        uint64_t most, uint64_t *number)
{
    char right[64];
    json_int_t found = json_integer_value(value);

    snprintf(right, sizeof right, "write a whole number from 0 to %" PRIu64, most);
    if (!json_is_integer(value))
        return refuse_type(reader, key, value, right);
    if (found < 0 || (uint64_t)found > most)
        return refuse(reader, key, found < 0 ? "is negative" : "is too large", right);
    *number = (uint64_t)found;
    return true;
}

/* A number that is missing stays as it is. */
static bool read_number(const struct reader *reader, const json_t *object, const char *key,
                        uint64_t most, uint64_t *number)
{
    const json_t *value;

    return find(reader, object, key, OPTIONAL, &value) &&
           (!value || take_number(reader, key, value, most, number));
}

static bool read_small(const struct reader *reader, const json_t *object, const char *key,
                       uint32_t *number)
{
    uint64_t wide = *number;
    bool read = read_number(reader, object, key, UINT32_MAX, &wide);

    *number = (uint32_t)wide;
    return read;
}

static bool read_size(const struct reader *reader, const json_t *object, const char *key,
                      struct gantry_size *size)
{
    uint64_t axes[3];
    const json_t *value;

    if (!find(reader, object, key, OPTIONAL, &value))
        return false;
    if (!value)
        return true;
    if (json_array_size(value) != 3)
        return refuse(reader, key, "is no list of three", "write [X, Y, Z]");
    for (size_t i = 0; i < 3; i++) {
        if (!take_number(reader, key, json_array_get(value, i), UINT32_MAX, &axes[i]))
            return false;
    }
    *size = (struct gantry_size){(uint32_t)axes[0], (uint32_t)axes[1], (uint32_t)axes[2]};
    return true;
}

/* ---- Parts of a device ---------------------------------------------------------------------- */

static bool read_type(const struct reader *reader, const json_t *object,
                      enum gantry_device_type *type)
{
    const char *name;

    if (!read_text(reader, object, "type", REQUIRED, &name))
        return false;
    for (int i = GANTRY_DEVICE_OTHER; i <= GANTRY_DEVICE_CPU; i++) {
        *type = (enum gantry_device_type)i;
        if (strcmp(gantry_device_type_name(*type), name) == 0)
            return true;
    }
    return refuse(reader, "type", "is none", "discrete, integrated, virtual, cpu or other");
}

static bool read_limits(struct reader *reader, const json_t *device, struct gantry_limits *limits)
{
    const json_t *object;

    if (!find(reader, device, "limits", OPTIONAL, &object))
        return false;
    if (!object)
        return true;
    if (!json_is_object(object))
        return refuse_type(reader, "limits", object, "write an object");
    strcat(reader->place, ".limits");
#define SMALL(name) read_small(reader, object, #name, &limits->name)
#define WIDE(name)  read_number(reader, object, #name, INT64_MAX, &limits->name)
#define SIZE(name)  read_size(reader, object, #name, &limits->name)
    return WIDE(memory_size) && WIDE(max_buffer_size) && SMALL(max_threads_per_block) &&
           SIZE(max_block) && SIZE(max_blocks) && SMALL(max_shared_bytes) &&
           SMALL(max_args_bytes) && SMALL(inline_args_bytes) && SMALL(subgroup_size) &&
           SMALL(subgroup_min) && SMALL(subgroup_max) && SMALL(compute_units) &&
           SMALL(threads_per_unit);
#undef SMALL
#undef WIDE
#undef SIZE
}

static bool read_view(const struct reader *reader, const json_t *view,
                      struct gantry_device_info *info)
{
    uint32_t i = info->backend_count++;

    if (!json_is_object(view))
        return refuse_type(reader, "views[]", view, "write objects with a backend");
    return read_text(reader, view, "backend", REQUIRED, &info->backends[i].backend) &&
           read_small(reader, view, "index", &info->backends[i].index) &&
           read_text(reader, view, "driver_version", OPTIONAL, &info->backends[i].driver_version) &&
           read_text(reader, view, "arch", OPTIONAL, &info->backends[i].arch) &&
           read_text(reader, view, "skipped", OPTIONAL, &info->backends[i].skipped);
}

static bool read_views(struct reader *reader, const json_t *device, struct gantry_device_info *info)
{
    size_t length = strlen(reader->place);
    const json_t *views;

    if (!find(reader, device, "views", REQUIRED, &views))
        return false;
    if (!json_is_array(views))
        return refuse_type(reader, "views", views, "write a list, with an object for each backend");
    if (json_array_size(views) < 1 || json_array_size(views) > GANTRY_MAX_DEVICE_BACKENDS)
        return refuse(reader, "views", "has too few or too many items",
                      "a device is seen by 1 to 8 backends");
    for (size_t i = 0; i < json_array_size(views); i++) {
        snprintf(reader->place + length, sizeof reader->place - length, ".views[%zu]", i);
        if (!read_view(reader, json_array_get(views, i), info))
            return false;
    }
    reader->place[length] = '\0';
    return true;
}

static bool read_device(struct reader *reader, const json_t *device,
                        struct gantry_device_info *info)
{
    if (!json_is_object(device))
        return refuse_type(reader, "(itself)", device, "write an object");
    return read_text(reader, device, "name", REQUIRED, &info->name) &&
           read_type(reader, device, &info->type) &&
           read_text(reader, device, "uuid", OPTIONAL, &info->uuid) &&
           read_text(reader, device, "pci", OPTIONAL, &info->pci) &&
           read_small(reader, device, "vendor_id", &info->vendor_id) &&
           read_text(reader, device, "occupancy_source", OPTIONAL, &info->occupancy_source) &&
           read_views(reader, device, info) && read_limits(reader, device, &info->limits);
}

/* ---- The whole ------------------------------------------------------------------------------ */

static bool read_devices(struct reader *reader, struct profile *profile)
{
    const json_t *devices;

    if (!json_is_object(profile->root))
        return refuse_type(reader, "the file", profile->root, "it must be an object with devices");
    if (!find(reader, profile->root, "devices", REQUIRED, &devices))
        return false;
    if (!json_is_array(devices))
        return refuse_type(reader, "devices", devices, "write a list");
    if (json_array_size(devices) == 0)
        return refuse(reader, "devices", "has no items", "a profile needs a device");
    if (json_array_size(devices) > PROFILE_DEVICES_MAX)
        return refuse(reader, "devices", "has more than 1024 items", "write fewer");
    profile->devices = calloc(json_array_size(devices), sizeof *profile->devices);
    if (!profile->devices)
        return refuse(reader, "devices", "can't be read", "out of memory");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        snprintf(reader->place, sizeof reader->place, "devices[%zu]", i);
        if (!read_device(reader, json_array_get(devices, i), &profile->devices[i]))
            return false;
        profile->count++;
    }
    return true;
}

bool profile_read(const char *what, const char *file, struct profile *profile)
{
    struct reader reader = {.what = what, .file = file};
    json_error_t error;

    *profile = (struct profile){.root = json_load_file(file, JSON_REJECT_DUPLICATES, &error)};
    if (!profile->root && error.line > 0)
        output_error("%s: %s:%d: %s (it must be the output of gantry info --json)", what, file,
                     error.line, error.text);
    else if (!profile->root)
        output_error("%s: %s", what, error.text);
    else if (read_devices(&reader, profile))
        return true;
    profile_free(profile);
    return false;
}

void profile_free(struct profile *profile)
{
    free(profile->devices);
    json_decref(profile->root);
    *profile = (struct profile){0};
}
