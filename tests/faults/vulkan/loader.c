/* A loader in front of the real one: ../README.md.
 *
 * A layer would not do: vkEnumerateInstanceVersion and its like never reach explicit layers. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

#define EXPORT __attribute__((visibility("default")))

enum command {
#define X(name, ...) COMMAND_##name,
    PLAIN_MAP(X) CREATE_MAP(X)
#undef X
        COMMAND_COUNT
};

enum kind {
#define X(kind, text) KIND_##kind,
    KIND_MAP(X)
#undef X
        KIND_COUNT
};

static const char *const command_names[] = {
#define X(name, ...) #name,
    PLAIN_MAP(X) CREATE_MAP(X)
#undef X
};

static const char *const kind_texts[] = {
#define X(kind, text) text,
    KIND_MAP(X)
#undef X
};

static atomic_ullong calls[COMMAND_COUNT];
static atomic_long living[KIND_COUNT];

/* What comes behind: the real loader's entries, which find the driver by themselves. */
static struct {
#define X(name, ...) PFN_##name name;
    PLAIN_MAP(X) CREATE_MAP(X) DESTROY_MAP(X)
#undef X
} next;

/* ---- Planned failures ------------------------------------------------------------------------ */

/* COMMAND:COUNT[+]:CODE, one. */
static VkResult planned(enum command command)
{
    unsigned long long call = atomic_fetch_add(&calls[command], 1) + 1, first;
    const char *plan = getenv("FAULTS_VULKAN_FAIL"), *name = command_names[command];
    size_t length = strlen(name);
    bool onwards;
    char *end;

    if (!plan || strncmp(plan, name, length) != 0 || plan[length] != ':')
        return VK_SUCCESS;
    first = strtoull(plan + length + 1, &end, 10);
    onwards = *end == '+';
    if (end[onwards] != ':' || call < first || (call > first && !onwards))
        return VK_SUCCESS;
    return (VkResult)strtol(end + onwards + 1, NULL, 10);
}

/* ---- Losing the device ----------------------------------------------------------------------- */

/* The latest device. When it is lost its work is over, so it is finished first: a driver that is
 * fine would go on using what the job destroys. */
static VkDevice device;
static atomic_bool lost;
static PFN_vkGetDeviceProcAddr real_get_device;

static void lose(void)
{
    PFN_vkDeviceWaitIdle wait_idle;

    if (!device)
        return;
    wait_idle = (PFN_vkDeviceWaitIdle)real_get_device(device, "vkDeviceWaitIdle");
    wait_idle(device);
    atomic_store(&lost, true);
}

/* Whether the command tells of a loss for as long as the device is there. */
static bool tells_loss(enum command command)
{
    return command == COMMAND_vkQueueSubmit || command == COMMAND_vkQueueWaitIdle ||
           command == COMMAND_vkWaitSemaphores || command == COMMAND_vkGetSemaphoreCounterValue;
}

static VkResult judge(enum command command)
{
    VkResult result = planned(command);

    if (result == VK_ERROR_DEVICE_LOST)
        lose();
    return result == VK_SUCCESS && atomic_load(&lost) && tells_loss(command) ? VK_ERROR_DEVICE_LOST
                                                                             : result;
}

static void note_made(enum kind kind, const void *handle)
{
    atomic_fetch_add(&living[kind], 1);
    if (kind == KIND_DEVICE)
        device = *(const VkDevice *)handle;
}

static void note_gone(enum kind kind)
{
    atomic_fetch_sub(&living[kind], 1);
    if (kind != KIND_DEVICE)
        return;
    device = VK_NULL_HANDLE;
    atomic_store(&lost, false);
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* VK_INCOMPLETE is said of what has been done. */
#define X(name, parameters, arguments)                         \
    static VKAPI_ATTR VkResult VKAPI_CALL my_##name parameters \
    {                                                          \
        VkResult result = judge(COMMAND_##name);               \
        if (result < VK_SUCCESS)                               \
            return result;                                     \
        if (result == VK_SUCCESS)                              \
            return next.name arguments;                        \
        next.name arguments;                                   \
        return result;                                         \
    }
PLAIN_MAP(X)
#undef X

/* A failed call leaves VK_NULL_HANDLE, as drivers do. */
#define X(name, parameters, arguments, kind)                   \
    static VKAPI_ATTR VkResult VKAPI_CALL my_##name parameters \
    {                                                          \
        VkResult result = judge(COMMAND_##name);               \
        *made = VK_NULL_HANDLE;                                \
        if (result == VK_SUCCESS)                              \
            result = next.name arguments;                      \
        if (result == VK_SUCCESS)                              \
            note_made(KIND_##kind, made);                      \
        return result;                                         \
    }
CREATE_MAP(X)
#undef X

#define X(name, parameters, arguments, object, kind)       \
    static VKAPI_ATTR void VKAPI_CALL my_##name parameters \
    {                                                      \
        if (object != VK_NULL_HANDLE)                      \
            note_gone(KIND_##kind);                        \
        next.name arguments;                               \
    }
DESTROY_MAP(X)
#undef X

/* ---- Finding them ---------------------------------------------------------------------------- */

static PFN_vkGetInstanceProcAddr real_get(void)
{
    static PFN_vkGetInstanceProcAddr found;
    const char *path = getenv("FAULTS_VULKAN_LOADER");
    void *library;

    if (found || !path)
        return found;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&found = dlsym(library, "vkGetInstanceProcAddr");
    return found;
}

/* There is one driver here, which the loader unloads with the last instance: what was found last
 * counts. */
static PFN_vkVoidFunction interpose(const char *name, PFN_vkVoidFunction function)
{
#define X(command, ...)                            \
    if (function && strcmp(name, #command) == 0) { \
        next.command = (PFN_##command)function;    \
        return (PFN_vkVoidFunction)my_##command;   \
    }
    PLAIN_MAP(X)
    CREATE_MAP(X)
    DESTROY_MAP(X)
#undef X
    return function;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    return interpose(name, real_get_device(device, name));
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                      const char *name)
{
    PFN_vkGetInstanceProcAddr real = real_get();
    PFN_vkVoidFunction function = real ? real(instance, name) : NULL;

    if (function && strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
    if (function && strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_get_device = (PFN_vkGetDeviceProcAddr)function;
        return (PFN_vkVoidFunction)get_device;
    }
    return interpose(name, function);
}

/* ---- The report ------------------------------------------------------------------------------ */

__attribute__((destructor)) static void at_exit(void)
{
    const char *path = getenv("FAULTS_VULKAN_REPORT");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    for (int i = 0; i < KIND_COUNT; i++)
        if (atomic_load(&living[i]) != 0)
            fprintf(file, "fault: leaked: %ld %s\n", atomic_load(&living[i]), kind_texts[i]);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (atomic_load(&calls[i]))
            fprintf(file, "calls: %s %llu\n", command_names[i], atomic_load(&calls[i]));
    fclose(file);
}
