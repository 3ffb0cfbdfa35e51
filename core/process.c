/* Telling the process that made an object from its forked children. */
#include "process.h"

#include <string.h>

#include "status.h"

pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;

atomic_uint process_generation = 1;
static atomic_bool watching;

static void in_child(void)
{
    atomic_fetch_add(&process_generation, 1);
    process_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
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
