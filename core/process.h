/* Telling the process that made an object from its forked children. */
#ifndef GANTRY_CORE_PROCESS_H
#define GANTRY_CORE_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <gantry/gantry.h>

/* Grows in the child of each fork: an object with another number is the parent's. process_watch()
 * must have been called once before; gantry_open does. Costs no system call. */
extern atomic_uint process_generation;
enum gantry_status process_watch(void);

static inline uint32_t process_id(void)
{
    return atomic_load_explicit(&process_generation, memory_order_relaxed);
}

/* Guards what all of the process's struct gantry share. It is free in a forked child, whoever held
 * it in the parent. */
extern pthread_mutex_t process_lock;

#endif
