/* Fuzz target: the profile of a machine, as `gantry info --json` writes it. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/profile.h"

/* What the reader has accepted may still be like no device, but it is safe to ask. */
static void check_device(struct gantry *g, const struct gantry_device_info *device)
{
    struct gantry_device_info told;
    uint32_t index;
    enum gantry_status status;

    HOLDS(device->name && device->backend_count <= GANTRY_MAX_DEVICE_BACKENDS);
    HOLDS(!device->chosen_backend);
    for (uint32_t i = 0; i < device->backend_count; i++)
        HOLDS(device->backends[i].backend);
    status = gantry_config_profile(g, device, &index);
    HOLDS(status == GANTRY_OK || status == GANTRY_E_INVALID_ARGUMENT);
    if (status != GANTRY_OK)
        return;
    HOLDS(gantry_device_describe(g, index, &told) == GANTRY_OK);
    HOLDS(strcmp(told.name, device->name) == 0 && told.type == device->type);
    HOLDS(gantry_config_count(g, index) > 0);
}

static void check_file(const char *path)
{
    struct profile profile;
    struct gantry *g;

    if (!profile_read("fuzz", path, &profile))
        return;
    HOLDS(profile.count >= 1 && profile.count <= PROFILE_DEVICES_MAX);
    HOLDS(gantry_open(NULL, &g) == GANTRY_OK);
    for (uint32_t i = 0; i < profile.count; i++)
        check_device(g, &profile.devices[i]);
    gantry_close(&g);
    profile_free(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("profile", MFD_CLOEXEC);
    char path[64];

    HOLDS(file >= 0 && write(file, data, size) == (ssize_t)size);
    be_quiet();
    setenv("GANTRY_CONFIG", "none", 1);
    setenv("GANTRY_BACKEND", "paper", 1); /* so that no plugin is loaded */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    check_file(path);
    close(file);
    return 0;
}
