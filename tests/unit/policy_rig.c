/* A policy of a test's own sources. */
#include "policy_rig.h"

#include <stdlib.h>
#include <unistd.h>

#include "scratch.h"
#include "unit.h"

struct policy_rig rig;

const struct policy_subject h200 = {
    .name = "NVIDIA H200",
    .uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef",
    .pci = "0000:01:00.0",
    .arch = "sm_90",
    .vendor_id = 0x10de,
    .type = GANTRY_DEVICE_DISCRETE,
    .backend = "cuda",
};

static void keep(void *user, enum gantry_log_level level, const char *text)
{
    size_t length = strlen(rig.logged);

    (void)user;
    snprintf(rig.logged + length, sizeof(rig.logged) - length, "%s: %s\n", log_level_name(level),
             text);
}

static const struct log test_log = {.callback = keep, .level = GANTRY_LOG_WARNING};

static void clear_environment(void)
{
    for (char **variable = environ; *variable;) {
        char name[128];

        if (strncmp(*variable, "GANTRY_", 7) != 0) {
            variable++;
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*variable, "="), *variable);
        unsetenv(name);
    }
}

int rig_open(void **state)
{
    static char shipped[512], system_dir[512];

    scratch_open(state);
    clear_environment();
    snprintf(shipped, sizeof(shipped), "%s", scratch_path("shipped"));
    snprintf(system_dir, sizeof(system_dir), "%s", scratch_path("system"));
    setenv("XDG_CONFIG_HOME", scratch_path("user"), 1);
    setenv("HOME", scratch_path("home"), 1);
    rig.params =
        (struct policy_params){.shipped_dir = shipped, .system_dir = system_dir, .log = &test_log};
    rig.logged[0] = '\0';
    return 0;
}

int rig_close(void **state)
{
    policy_close(&rig.policy);
    return scratch_close(state);
}

enum gantry_status rig_try(void)
{
    policy_close(&rig.policy);
    rig.logged[0] = '\0';
    return policy_open(&rig.params, &rig.policy);
}

void rig_read(void)
{
    if (rig_try() != GANTRY_OK) {
        print_error("policy_open: %s\n", gantry_last_error());
        _fail(__FILE__, __LINE__);
    }
}

void rig_read_text(const char *text)
{
    rig.params.config_text = text;
    rig_read();
}

void rig_fails(const char *part)
{
    assert_int_equal(rig_try(), GANTRY_E_CONFIG);
    assert_null(rig.policy);
    assert_contains(gantry_last_error(), part);
}

void rig_text_fails(const char *text, const char *part)
{
    rig.params.config_text = text;
    rig_fails(part);
}

uint32_t chains_of(const struct policy_subject *subject)
{
    struct policy_device values;

    policy_for_device(rig.policy, subject, &values);
    return values.chains;
}

uint32_t chains(void)
{
    return chains_of(&h200);
}

struct gantry_config_value value_of(const struct policy_subject *subject, const char *key)
{
    struct gantry_config_value value = {0};
    uint32_t count = policy_value_count(rig.policy, subject);

    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(policy_value(rig.policy, subject, i, &value), GANTRY_OK);
        if (strcmp(value.key, key) == 0)
            return value;
    }
    print_error("there is no value \"%s\"\n", key);
    _fail(__FILE__, __LINE__);
    return value;
}
