/* Opening and closing gantry. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "process.h"
#include "status.h"

enum gantry_status context_usable(const struct gantry *g, const char *what)
{
    if (!g)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the gantry is NULL", what);
    if (process_check_end(what) != GANTRY_OK)
        return GANTRY_E_INVALID_STATE;
    if (g->process != process_id())
        return fail(GANTRY_E_FORKED,
                    "%s: this gantry was opened before fork() by the parent process; open one in "
                    "the child",
                    what);
    return GANTRY_OK;
}

static enum gantry_status check_params(const struct gantry_params *params)
{
    if (params->config_file && params->config_text)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_open: config_file and config_text are both set; set one of them");
    if ((unsigned)params->log_level > GANTRY_LOG_DEBUG)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_open: log_level %d is not one of 0 to %d",
                    (int)params->log_level, GANTRY_LOG_DEBUG);
    return GANTRY_OK;
}

/* What can be logged while the configuration is being read. */
static enum gantry_status open_log(struct gantry *g, const struct gantry_params *params)
{
    g->log.lock = &g->log_lock;
    if (!params->log)
        return log_environment(&g->log.level);
    g->log.callback = params->log;
    g->log.user = params->log_user;
    g->log.level = params->log_level ? params->log_level : GANTRY_LOG_WARNING;
    return GANTRY_OK;
}

/* The configuration's level is for callbacks that ask for none themselves. */
static void adjust_log(struct gantry *g, const struct gantry_params *params)
{
    const char *origin = "built-in";
    const char *level = policy_global(g->policy, "log", &origin);

    if (params->log && !params->log_level && strcmp(origin, "built-in") != 0)
        log_level_parse(level, &g->log.level);
}

static enum gantry_status open_policy(struct gantry *g, const struct gantry_params *params)
{
    char *shipped;
    enum gantry_status status = places_shipped(&shipped);
    struct policy_params policy = {
        .config_file = params->config_file,
        .config_text = params->config_text,
        .override_text = params->override_text,
        .shipped_dir = shipped,
        .system_dir = GANTRY_SYSCONFDIR,
        .log = &g->log,
    };

    if (status == GANTRY_OK)
        status = policy_open(&policy, &g->policy);
    free(shipped);
    if (status == GANTRY_OK)
        adjust_log(g, params);
    return status;
}

static enum gantry_status open_all(struct gantry *g, const struct gantry_params *params)
{
    enum gantry_status status = process_watch();

    g->process = process_id();
    if (status == GANTRY_OK && !g->app_name)
        status = fail(GANTRY_E_OUT_OF_HOST_MEMORY, "gantry_open: out of host memory");
    if (status == GANTRY_OK)
        status = open_log(g, params);
    if (status == GANTRY_OK)
        status = open_policy(g, params);
    if (status == GANTRY_OK)
        status = plugins_open(params->plugin_path, g->policy, g->app_name, &g->log, &g->plugins);
    if (status == GANTRY_OK)
        status = registry_open(&g->plugins, &g->log, &g->registry);
    if (status == GANTRY_OK)
        status = process_watch_end(&process_generation); /* behind the drivers that were found */
    return status;
}

enum gantry_status gantry_open(const struct gantry_params *params, struct gantry **out)
{
    static const struct gantry_params defaults;
    enum gantry_status status;
    char *earlier;
    struct gantry *g;

    if (!out)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_open: the handle's address is NULL");
    *out = NULL;
    params = params ? params : &defaults;
    status = process_check_end("gantry_open");
    if (status == GANTRY_OK)
        status = check_params(params);
    if (status != GANTRY_OK)
        return status;
    g = calloc(1, sizeof(*g));
    if (!g)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "gantry_open: out of host memory");
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->log_lock, NULL);
    interned_init(&g->clamps);
    g->app_name = strdup(params->app_name ? params->app_name : "gantry");
    /* Plugins without a driver have set the thread's sentence, but opening did not fail. */
    earlier = strdup(gantry_last_error());
    status = open_all(g, params);
    if (status != GANTRY_OK)
        gantry_close(&g);
    else if (earlier)
        fail(GANTRY_OK, "%s", earlier);
    free(earlier);
    *out = g;
    return status;
}

void gantry_close(struct gantry **handle)
{
    struct gantry *g = handle ? *handle : NULL;

    if (!g)
        return;
    *handle = NULL;
    if (g->process != process_id())
        return; /* with its locks and its drivers: it can only be forgotten */
    while (g->devices) {
        struct gantry_device *device = g->devices;

        gantry_device_close(&device);
    }
    profiles_close(&g->profiles, &g->log);
    registry_close(&g->registry);
    plugins_close(&g->plugins, &g->log);
    policy_close(&g->policy);
    free(g->app_name);
    interned_release(&g->clamps);
    pthread_mutex_destroy(&g->log_lock);
    pthread_mutex_destroy(&g->lock);
    free(g);
}
