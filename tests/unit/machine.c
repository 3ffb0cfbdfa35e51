/* A gantry opened on made-up machines: the host plugin under several names, devices as a text. */
#include "machine.h"

#include "unit.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { MESSAGES = 64, MESSAGE_SIZE = 1024, SKIPPED = 77 };

static struct {
    enum gantry_log_level level;
    char text[MESSAGE_SIZE];
} messages[MESSAGES];
static int message_count;

static void keep_message(void *user, enum gantry_log_level level, const char *text)
{
    (void)user;
    if (message_count == MESSAGES)
        return;
    messages[message_count].level = level;
    snprintf(messages[message_count++].text, MESSAGE_SIZE, "%s", text);
}

int machine_reset(void **state)
{
    static const char *const variables[] = {
        "GANTRY_BACKEND",           "GANTRY_DEVICE",
        "GANTRY_PLUGIN_PATH",       "GANTRY_LOG",
        "GANTRY_BLOCK_SIZE",        "GANTRY_POOL_BLOCK_MIB",
        "GANTRY_HOST_DEVICES_CUDA", "GANTRY_HOST_DEVICES",
        "GANTRY_HOST_FAIL_CUDA",    "GANTRY_HOST_DEVICES_VULKAN",
        "GANTRY_HOST_FAIL_VULKAN",  "GANTRY_HOST_FAIL",
    };

    (void)state;
    if (!getenv("GANTRY_BUILD_DIR")) {
        printf("skipped: GANTRY_BUILD_DIR does not name the build folder\n");
        exit(SKIPPED);
    }
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    setenv("GANTRY_CONFIG", "none", 1);
    message_count = 0;
    return 0;
}

void machine_set(const char *cuda, const char *vulkan)
{
    setenv("GANTRY_HOST_DEVICES_CUDA", cuda, 1);
    setenv("GANTRY_HOST_DEVICES_VULKAN", vulkan, 1);
}

const char *machine_folder(const char *name)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/%s", getenv("GANTRY_BUILD_DIR"), name);
    return path;
}

struct gantry *machine_open(void)
{
    const struct gantry_params params = {
        .plugin_path = machine_folder("tests/plugins/twins/.libs"),
        .log = keep_message,
        .log_level = GANTRY_LOG_INFO,
    };
    struct gantry *g;
    enum gantry_status status = gantry_open(&params, &g);

    if (status != GANTRY_OK)
        print_error("%s\n", gantry_last_error());
    assert_int_equal(status, GANTRY_OK);
    return g;
}

/* The plugin is loaded once more, so that it can still be asked when gantry has closed it. */
void machine_close(struct gantry **g, const char *plugin)
{
    char name[128];
    const long *faults;
    void *handle;

    snprintf(name, sizeof(name), "tests/plugins/twins/.libs/gantry-%s.so", plugin);
    handle = dlopen(machine_folder(name), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    gantry_close(g);
    assert_null(*g);
    faults = dlsym(handle, "gantry_host_faults");
    assert_non_null(faults);
    if (*faults)
        for (int i = 0; i < message_count; i++)
            if (messages[i].level == GANTRY_LOG_ERROR)
                print_error("%s\n", messages[i].text);
    assert_int_equal(*faults, 0);
    dlclose(handle);
}

int machine_logged(enum gantry_log_level level, const char *part)
{
    int count = 0;

    for (int i = 0; i < message_count; i++)
        count += messages[i].level == level && strstr(messages[i].text, part) != NULL;
    return count;
}
