/* Planned failures: "memory_allocate:3:E_OUT_OF_MEMORY,submit:2+:E_DEVICE_LOST". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

const char *const entry_names[ENTRY_COUNT] = {
#define X(name) #name,
    ENTRY_MAP(X)
#undef X
};

static bool find_entry(const char *name, enum entry *entry)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (strcmp(entry_names[i], name) == 0) {
            *entry = (enum entry)i;
            return true;
        }
    }
    return false;
}

static bool find_status(const char *name, enum gantry_status *status)
{
    static const struct {
        const char *name;
        enum gantry_status status;
    } names[] = {
#define X(name, value, text) {#name, GANTRY_##name},
        GANTRY_STATUS_MAP(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].name, name) == 0) {
            *status = names[i].status;
            return true;
        }
    }
    return false;
}

static bool parse_one(char *text, struct failures *failures)
{
    char *rest = text, *name = strsep(&rest, ":"), *count = strsep(&rest, ":"), *end;
    enum entry entry;
    struct failure failure = {.status = GANTRY_E_DRIVER};
    if (!count || !find_entry(name, &entry))
        return false;
    failure.first = strtoull(count, &end, 10);
    failure.onwards = *end == '+';
    if (failure.first == 0 || end[failure.onwards] != '\0')
        return false;
    if (rest && !find_status(rest, &failure.status))
        return false;
    failures->planned[entry] = failure;
    return true;
}

bool failures_parse(const char *text, struct failures *failures, char *error, size_t error_size)
{
    char *copy = strdup(text), *rest = copy, *one;
    bool good = true;
    if (!copy) {
        snprintf(error, error_size, "no host memory for a copy of it");
        return false;
    }
    while (good && (one = strsep(&rest, ",")) != NULL) {
        if (!*one)
            continue;
        char shown[64];
        snprintf(shown, sizeof(shown), "%s", one);
        good = parse_one(one, failures);
        if (!good)
            snprintf(error, error_size, "\"%s\" is not ENTRY:COUNT[+][:STATUS]", shown);
    }
    free(copy);
    return good;
}

enum gantry_status enter(struct gantry_drv_instance *instance, struct gantry_drv_device *device,
                         enum entry entry)
{
    const struct failure *failure = &instance->failures.planned[entry];
    uint64_t call = atomic_fetch_add(&instance->failures.calls[entry], 1) + 1;
    if (failure->first && (call == failure->first || (failure->onwards && call > failure->first))) {
        if (device && failure->status == GANTRY_E_DEVICE_LOST)
            atomic_store(&device->lost, true);
        return FAIL(instance, failure->status, "call %llu failed as GANTRY_HOST_FAIL asks",
                    (unsigned long long)call);
    }
    if (device && atomic_load(&device->lost))
        return FAIL(instance, GANTRY_E_DEVICE_LOST, "the device was lost");
    return GANTRY_OK;
}
