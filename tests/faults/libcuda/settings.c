/* What the environment asks for: README.md has the table. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

static bool parse_uuid(const char *text, unsigned char uuid[16])
{
    int digits = 0;
    for (; *text; text++) {
        if (*text == '-')
            continue;
        if (!isxdigit((unsigned char)*text) || digits == 32)
            return false;
        char digit[] = {*text, '\0'};
        unsigned value = (unsigned)strtoul(digit, NULL, 16);
        uuid[digits / 2] = (unsigned char)(uuid[digits / 2] << 4 | value);
        digits++;
    }
    return digits == 32;
}

static bool parse_memory(const char *text, uint64_t *memory)
{
    char *end;
    *memory = strtoull(text, &end, 10);
    if (*end == 'G' || *end == 'M')
        *memory <<= *end++ == 'G' ? 30 : 20;
    return end != text && *end == '\0';
}

/* "attribute.122=0" */
static bool parse_override(const char *key, const char *value, struct device *device)
{
    if (device->override_count == MAX_OVERRIDES)
        return false;
    device->overrides[device->override_count].attribute = atoi(key);
    device->overrides[device->override_count].value = atoi(value);
    device->override_count++;
    return true;
}

static bool parse_key(const char *key, const char *value, struct device *device)
{
    char rest;
    int function;
    if (strcmp(key, "uuid") == 0)
        return parse_uuid(value, device->uuid);
    if (strcmp(key, "pci") == 0)
        return sscanf(value, "%x:%x:%x.%x%c", (unsigned *)&device->pci_domain,
                      (unsigned *)&device->pci_bus, (unsigned *)&device->pci_device,
                      (unsigned *)&function, &rest) == 4;
    if (strcmp(key, "memory") == 0)
        return parse_memory(value, &device->memory);
    if (strncmp(key, "attribute.", 10) == 0)
        return parse_override(key + 10, value, device);
    return false;
}

/* "NVIDIA H200,sm_90,uuid=…,pci=0000:01:00.0,memory=8G" */
static bool parse_device(char *text, int number, struct device *device)
{
    char *rest = text, *name = strsep(&rest, ","), *arch = strsep(&rest, ","), *pair;
    char tail;
    *device = (struct device){.pci_bus = number + 1, .memory = UINT64_C(8) << 30};
    snprintf(device->name, sizeof(device->name), "%s", name);
    memcpy(device->uuid, "stand-in GPU   ", sizeof(device->uuid) - 1);
    device->uuid[sizeof(device->uuid) - 1] = (unsigned char)number;
    if (!arch || sscanf(arch, "sm_%d%c", &device->arch, &tail) != 1)
        return false;
    while ((pair = strsep(&rest, ",")) != NULL) {
        char *value = strchr(pair, '=');
        if (!value)
            return false;
        *value++ = '\0';
        if (strcmp(pair, "uuid") == 0)
            memset(device->uuid, 0, sizeof(device->uuid));
        if (!parse_key(pair, value, device))
            return false;
    }
    return true;
}

static int parse_devices(const char *text, struct device *devices)
{
    char *copy = strdup(text), *rest = copy, *one;
    int count = 0;
    while (copy && count < MAX_DEVICES && (one = strsep(&rest, ";")) != NULL) {
        if (!*one)
            continue;
        if (parse_device(one, count, &devices[count]))
            count++;
        else
            fault("STANDIN_DEVICES: device %d can't be understood", count);
    }
    free(copy);
    return count;
}

/* ---- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------- */

static bool has_uuid(const struct device *device, const char *text)
{
    char written[33];
    int length = 0;
    for (int i = 0; i < 16; i++)
        snprintf(written + 2 * i, 3, "%02x", device->uuid[i]);
    for (; *text; text++)
        if (*text != '-' && (length == 32 || tolower((unsigned char)*text) != written[length++]))
            return false;
    return length > 0;
}

static int find_visible(const char *text, const struct device *devices, int count)
{
    char *end;
    long index = strtol(text, &end, 10);
    if (end != text && *end == '\0')
        return index >= 0 && index < count ? (int)index : -1;
    for (int i = 0; i < count; i++)
        if (strncmp(text, "GPU-", 4) == 0 && has_uuid(&devices[i], text + 4))
            return i;
    return -1;
}

/* As the driver does: the first entry that names no device, or one again, ends the list. */
static int pick_visible(const char *text, struct device *devices, int count)
{
    struct device all[MAX_DEVICES];
    bool taken[MAX_DEVICES] = {false};
    char *copy = strdup(text), *rest = copy, *one;
    int picked = 0;
    memcpy(all, devices, sizeof(all));
    while (copy && (one = strsep(&rest, ",")) != NULL) {
        int index = find_visible(one, all, count);
        if (index < 0 || taken[index])
            break;
        taken[index] = true;
        devices[picked++] = all[index];
    }
    free(copy);
    return picked;
}

/* ---- All ------------------------------------------------------------------------------------- */

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

const struct settings *settings(void)
{
    static struct settings read;
    static bool done;
    if (done)
        return &read;
    done = true;
    const char *devices = getenv("STANDIN_DEVICES");
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    read.device_count = parse_devices(devices ? devices : "Stand-in GPU,sm_90", read.devices);
    if (visible)
        read.device_count = pick_visible(visible, read.devices, read.device_count);
    read.driver = (int)number("STANDIN_DRIVER", 13000);
    read.seed = (uint64_t)number("STANDIN_SEED", 1);
    read.eager = number("STANDIN_EAGER", 0) != 0;
    read.strict = number("STANDIN_STRICT", 0) != 0;
    return &read;
}
