/* What the plugin's devices claim to be, read from a text such as
 * "name=Big GPU,type=discrete,uuid=00112233-…,pci=0000:01:00.0;name=Small GPU,type=integrated". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const struct spec plain = {
    .info =
        {
            .name = "gantry host",
            .type = GANTRY_DEVICE_CPU,
            .driver_version = "1.0",
            .features = GANTRY_FEATURE_HALF | GANTRY_FEATURE_DOUBLE | GANTRY_FEATURE_INT64 |
                        GANTRY_FEATURE_INT8 | GANTRY_FEATURE_INT16 |
                        GANTRY_FEATURE_SUBGROUP_BALLOT | GANTRY_FEATURE_SUBGROUP_SHUFFLE |
                        GANTRY_FEATURE_SUBGROUP_ARITHMETIC | GANTRY_FEATURE_ATOMIC_FLOAT_ADD |
                        GANTRY_FEATURE_ATOMIC_INT64 | GANTRY_FEATURE_MEMORY_MODEL,
            .limits =
                {
                    .max_buffer_size = UINT64_C(1) << 40,
                    .memory_size = UINT64_C(16) << 30,
                    .max_threads_per_block = 1024,
                    .max_block = {1024, 1024, 64},
                    .max_blocks = {0x7fffffff, 65535, 65535},
                    .max_shared_bytes = 48 << 10,
                    .max_args_bytes = 4096,
                    .inline_args_bytes = 256,
                    .subgroup_size = 8,
                    .subgroup_min = 8,
                    .subgroup_max = 8,
                    .compute_units = 2,
                    .threads_per_unit = 2048,
                },
            .memory_alignment = 256,
        },
    .waits = true,
};

/* ---- Values ---------------------------------------------------------------------------------- */

static bool number(const char *text, uint64_t limit, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 0);
    if (end == text)
        return false;
    const char *const units = "KMGT";
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        *value <<= 10 * (unit - units + 1);
        end++;
    }
    return *end == '\0' && *value <= limit;
}

static bool set_u32(void *field, const char *text)
{
    uint64_t value;
    if (!number(text, UINT32_MAX, &value))
        return false;
    *(uint32_t *)field = (uint32_t)value;
    return true;
}

static bool set_u64(void *field, const char *text)
{
    return number(text, UINT64_MAX, field);
}

static bool set_bool(void *field, const char *text)
{
    uint64_t value;
    if (!number(text, 1, &value))
        return false;
    *(bool *)field = value != 0;
    return true;
}

/* "1024x1024x64" */
static bool set_size(void *field, const char *text)
{
    struct gantry_size *size = field;
    char rest;
    return sscanf(text, "%ux%ux%u%c", &size->x, &size->y, &size->z, &rest) == 3;
}

static bool set_type(void *field, const char *text)
{
    static const char *const names[] = {"other", "integrated", "discrete", "virtual", "cpu"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *(enum gantry_device_type *)field = (enum gantry_device_type)i;
            return true;
        }
    }
    return false;
}

static bool set_uuid(void *field, const char *text)
{
    struct gantry_backend_device_info *info = field;
    size_t digits = 0;
    for (; *text; text++) {
        if (*text == '-')
            continue;
        if (!isxdigit((unsigned char)*text) || digits == 32)
            return false;
        char digit[] = {*text, '\0'};
        uint8_t value = (uint8_t)strtoul(digit, NULL, 16);
        uint8_t *byte = &info->uuid[digits / 2];
        *byte = (uint8_t)(digits % 2 ? *byte << 4 | value : value);
        digits++;
    }
    info->has_uuid = digits == 32;
    return info->has_uuid;
}

static bool set_pci(void *field, const char *text)
{
    struct gantry_backend_device_info *info = field;
    char rest;
    info->has_pci = sscanf(text, "%x:%x:%x.%x%c", &info->pci_domain, &info->pci_bus,
                           &info->pci_device, &info->pci_function, &rest) == 4;
    return info->has_pci;
}

static bool set_arch(void *field, const char *text)
{
    struct gantry_backend_device_info *info = field;
    char rest;
    snprintf(info->arch, sizeof(info->arch), "%s", text);
    return sscanf(text, "sm_%u%c", &info->arch_number, &rest) == 1;
}

#define TEXT(name, field)                                 \
    static bool set_##name(void *info, const char *text)  \
    {                                                     \
        struct gantry_backend_device_info *i = info;      \
        snprintf(i->field, sizeof(i->field), "%s", text); \
        return strlen(text) < sizeof(i->field);           \
    }
TEXT(name, name)
TEXT(driver, driver_version)
TEXT(skipped, skipped)

/* ---- Keys ------------------------------------------------------------------------------------ */

#define INFO(field)  offsetof(struct spec, info.field)
#define LIMIT(field) offsetof(struct spec, info.limits.field)

static const struct {
    const char *key;
    bool (*set)(void *field, const char *text);
    size_t offset;
} keys[] = {
    {"name", set_name, offsetof(struct spec, info)},
    {"type", set_type, INFO(type)},
    {"uuid", set_uuid, offsetof(struct spec, info)},
    {"pci", set_pci, offsetof(struct spec, info)},
    {"vendor", set_u32, INFO(vendor_id)},
    {"arch", set_arch, offsetof(struct spec, info)},
    {"driver", set_driver, offsetof(struct spec, info)},
    {"skipped", set_skipped, offsetof(struct spec, info)},
    {"features", set_u32, INFO(features)},
    {"alignment", set_u32, INFO(memory_alignment)},
    {"programmatic", set_bool, INFO(programmatic)},
    {"families", set_u32, INFO(family_count)},
    {"waits", set_bool, offsetof(struct spec, waits)},
    {"direct", set_bool, offsetof(struct spec, direct)},
    {"max_buffer_size", set_u64, LIMIT(max_buffer_size)},
    {"memory_size", set_u64, LIMIT(memory_size)},
    {"max_threads_per_block", set_u32, LIMIT(max_threads_per_block)},
    {"max_block", set_size, LIMIT(max_block)},
    {"max_blocks", set_size, LIMIT(max_blocks)},
    {"max_shared_bytes", set_u32, LIMIT(max_shared_bytes)},
    {"max_args_bytes", set_u32, LIMIT(max_args_bytes)},
    {"inline_args_bytes", set_u32, LIMIT(inline_args_bytes)},
    {"subgroup_size", set_u32, LIMIT(subgroup_size)},
    {"subgroup_min", set_u32, LIMIT(subgroup_min)},
    {"subgroup_max", set_u32, LIMIT(subgroup_max)},
    {"compute_units", set_u32, LIMIT(compute_units)},
    {"threads_per_unit", set_u32, LIMIT(threads_per_unit)},
};

static bool set_key(struct spec *spec, const char *key, const char *value, char *error,
                    size_t error_size)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i].key, key) != 0)
            continue;
        if (keys[i].set((char *)spec + keys[i].offset, value))
            return true;
        snprintf(error, error_size, "%s can't be \"%s\"", key, value);
        return false;
    }
    snprintf(error, error_size, "there is no key \"%s\"", key);
    return false;
}

static bool parse_device(char *text, struct spec *spec, char *error, size_t error_size)
{
    char *rest = text;
    *spec = plain;
    for (char *pair; (pair = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(pair, '=');
        if (!value) {
            snprintf(error, error_size, "\"%s\" is not KEY=VALUE", pair);
            return false;
        }
        *value++ = '\0';
        if (!set_key(spec, pair, value, error, error_size))
            return false;
    }
    return true;
}

int spec_parse(const char *text, struct spec specs[HOST_MAX_DEVICES], char *error,
               size_t error_size)
{
    if (!*text) {
        specs[0] = plain;
        return 1;
    }
    if (strcmp(text, "none") == 0)
        return 0;
    char *copy = strdup(text), *rest = copy, *device;
    int count = 0;
    if (!copy) {
        snprintf(error, error_size, "no host memory for a copy of it");
        return -1;
    }
    while (count >= 0 && (device = strsep(&rest, ";")) != NULL) {
        if (count == HOST_MAX_DEVICES) {
            snprintf(error, error_size, "more than %d devices", HOST_MAX_DEVICES);
            count = -1;
        } else {
            count = parse_device(device, &specs[count], error, error_size) ? count + 1 : -1;
        }
    }
    free(copy);
    return count;
}

const char *setting(const char *key)
{
    char own[96], common[64];
    snprintf(common, sizeof(common), "GANTRY_HOST_%s", key);
    size_t length = (size_t)snprintf(own, sizeof(own), "%s_" GANTRY_HOST_NAME, common);
    for (size_t i = 0; i < length; i++)
        own[i] = (char)toupper((unsigned char)own[i]);
    const char *value = getenv(own);
    return value ? value : getenv(common);
}
