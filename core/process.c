/* Telling the process that made an object from its forked children. */
#include "process.h"

#include <stdatomic.h>
#include <string.h>

#include "status.h"

pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;

static atomic_uint generation = 1;
static atomic_bool watching;

static void in_child(void)
{
    atomic_fetch_add(&generation, 1);
    process_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

uint32_t process_id(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
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
