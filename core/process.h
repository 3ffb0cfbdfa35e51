/* Telling the process that made an object from its forked children, and from its own end. */
#ifndef GANTRY_CORE_PROCESS_H
#define GANTRY_CORE_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <gantry/gantry.h>

/* Grows in the child of each fork, and once more when the process ends: an object with another
 * number is the parent's, or its driver has gone. process_watch() must have been called once
 * before; gantry_open does. Costs no system call. */
extern atomic_uint process_generation;
enum gantry_status process_watch(void);

static inline uint32_t process_id(void)
{
    return atomic_load_explicit(&process_generation, memory_order_relaxed);
}

/* Drivers shut down in exit handlers and destructors of their own, and whatever calls them later
 * crashes. An exit handler that is registered behind theirs runs before them: this one marks the
 * end of the process. To be called when a driver has opened something, which `opened` stands for;
 * the second call with the same pointer does nothing. */
enum gantry_status process_watch_end(const void *opened);

/* GANTRY_OK unless the process is ending; then fails naming `what`, the call. */
enum gantry_status process_check_end(const char *what);

/* Guards what all of the process's struct gantry share. It is free in a forked child, whoever held
 * it in the parent. */
extern pthread_mutex_t process_lock;

#endif
