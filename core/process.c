/* Telling the process that made an object from its forked children, and from its own end. */
#include "process.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"

enum { MOST_OPENED = 16 }; /* that are known to be watched; for more, each call registers anew */

pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;

atomic_uint process_generation = 1;
static atomic_bool watching;

/* Guarded by process_lock. */
static const void *before_end[MOST_OPENED];
static uint32_t before_end_count;
static atomic_bool ending;

static void in_child(void)
{
    atomic_fetch_add(&process_generation, 1);
    process_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    before_end_count = 0; /* its drivers register anew */
}

/* Two threads may both register: the number then grows by two, which does no harm. */
enum gantry_status process_watch(void)
{
    int error;

    if (atomic_load(&watching))
        return GANTRY_OK;
    error = pthread_atfork(NULL, NULL, in_child);
    if (error)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "forks can't be watched for: pthread_atfork: %s",
                    strerror(error));
    atomic_store(&watching, true);
    return GANTRY_OK;
}

static void end(void)
{
    if (!atomic_exchange(&ending, true))
        atomic_fetch_add(&process_generation, 1);
}

enum gantry_status process_watch_end(const void *opened)
{
    enum gantry_status status = GANTRY_OK;
    uint32_t i = 0;

    pthread_mutex_lock(&process_lock);
    while (i < before_end_count && before_end[i] != opened)
        i++;
    if (i == before_end_count) {
        if (atexit(end))
            status = fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for an exit handler");
        else if (i < MOST_OPENED)
            before_end[before_end_count++] = opened;
    }
    pthread_mutex_unlock(&process_lock);
    return status;
}

enum gantry_status process_check_end(const char *what)
{
    if (!atomic_load(&ending))
        return GANTRY_OK;
    return fail(GANTRY_E_INVALID_STATE,
                "%s: the process is ending and the driver has shut down, or is about to; use and "
                "close gantry before main() returns, or in a handler registered after the device "
                "was opened",
                what);
}
