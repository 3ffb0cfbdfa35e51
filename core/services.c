/* What core lends to a plugin, and the plugin's open instance. */
#include "services.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "process.h"
#include "status.h"

enum { MESSAGE_SIZE = 4096 };

/* Guarded by process_lock. A list that an earlier process made is its parent's and is dropped. */
static struct shared_instance *instances;
static uint32_t instances_process;

/* ---- Services ------------------------------------------------------------------------------- */

static void service_log(void *context, enum gantry_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum gantry_status service_fail(void *context, enum gantry_status status, const char *format,
                                       ...) __attribute__((format(printf, 3, 4)));
static void service_refuse(void *context, const struct gantry_backend_image *image,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));

static void service_log(void *context, enum gantry_log_level level, const char *format, ...)
{
    struct shared_instance *instance = context;
    char text[MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pthread_mutex_lock(&instance->lock);
    for (uint32_t i = 0; i < instance->user_count; i++)
        log_write(instance->logs[i], level, "%s: %s", instance->backend->name, text);
    pthread_mutex_unlock(&instance->lock);
}

static enum gantry_status service_fail(void *context, enum gantry_status status, const char *format,
                                       ...)
{
    va_list args;

    (void)context;
    va_start(args, format);
    fail_va(status, format, args);
    va_end(args);
    return status;
}

/* Where this thread wants refusals to go. */
static _Thread_local struct {
    char *text;
    size_t size;
} listener;

void services_listen(char *text, size_t size)
{
    listener.text = text;
    listener.size = size;
    if (size)
        text[0] = '\0';
}

static void service_refuse(void *context, const struct gantry_backend_image *image,
                           const char *format, ...)
{
    va_list args;

    (void)context;
    (void)image; /* who listens has given one only */
    va_start(args, format);
    if (listener.text)
        vsnprintf(listener.text, listener.size, format, args);
    va_end(args);
}

static void *service_allocate(void *context, size_t size)
{
    (void)context;
    return calloc(1, size ? size : 1);
}

static void service_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* ---- Users ---------------------------------------------------------------------------------- */

static enum gantry_status add_user(struct shared_instance *instance, const struct log *log)
{
    const struct log **logs;

    pthread_mutex_lock(&instance->lock);
    logs = realloc(instance->logs, (instance->user_count + 1) * sizeof(*logs));
    if (logs) {
        instance->logs = logs;
        logs[instance->user_count++] = log;
    }
    pthread_mutex_unlock(&instance->lock);
    return logs ? GANTRY_OK
                : fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for the users of a plugin");
}

static void remove_user(struct shared_instance *instance, const struct log *log)
{
    pthread_mutex_lock(&instance->lock);
    for (uint32_t i = 0; i < instance->user_count; i++) {
        if (instance->logs[i] == log) {
            instance->logs[i] = instance->logs[--instance->user_count];
            break;
        }
    }
    pthread_mutex_unlock(&instance->lock);
}

static void free_instance(struct shared_instance *instance)
{
    pthread_mutex_destroy(&instance->lock);
    free(instance->logs);
    free(instance);
}

static enum gantry_status open_new(const struct gantry_backend *backend, const char *app_name,
                                   const struct log *log, struct shared_instance **out)
{
    struct shared_instance *instance = calloc(1, sizeof(*instance));
    enum gantry_status status;

    if (!instance)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for the instance of a plugin");
    pthread_mutex_init(&instance->lock, NULL);
    instance->backend = backend;
    instance->services = (struct gantry_backend_services){
        .size = sizeof(instance->services),
        .context = instance,
        .log = service_log,
        .fail = service_fail,
        .allocate = service_allocate,
        .release = service_release,
        .refuse = service_refuse,
    };
    status = add_user(instance, log);
    if (status == GANTRY_OK)
        status = backend->ops->instance_open(&instance->services, app_name, &instance->drv);
    if (status != GANTRY_OK) {
        free_instance(instance);
        return status;
    }
    instance->next = instances;
    instances = instance;
    *out = instance;
    return GANTRY_OK;
}

static struct shared_instance *find(const struct gantry_backend *backend)
{
    struct shared_instance *instance;

    if (instances_process != process_id()) {
        instances = NULL;
        instances_process = process_id();
    }
    for (instance = instances; instance; instance = instance->next) {
        if (instance->backend == backend)
            break;
    }
    return instance;
}

enum gantry_status shared_join(const struct gantry_backend *backend, const char *app_name,
                               const struct log *log, struct shared_instance **out)
{
    struct shared_instance *instance;
    enum gantry_status status;

    pthread_mutex_lock(&process_lock);
    instance = find(backend);
    if (instance)
        status = add_user(instance, log);
    else
        status = open_new(backend, app_name, log, &instance);
    pthread_mutex_unlock(&process_lock);
    *out = status == GANTRY_OK ? instance : NULL;
    return status;
}

void shared_leave(struct shared_instance **handle, const struct log *log)
{
    struct shared_instance *instance = *handle;
    struct shared_instance **link = &instances;

    *handle = NULL;
    if (!instance)
        return;
    pthread_mutex_lock(&process_lock);
    remove_user(instance, log);
    if (instance->user_count == 0) {
        while (*link != instance)
            link = &(*link)->next;
        *link = instance->next;
        instance->backend->ops->instance_close(instance->drv);
        free_instance(instance);
    }
    pthread_mutex_unlock(&process_lock);
}
