/* A lock for a queue, which gantry_queue_launch takes for a few nanoseconds: an uncontended pair is
 * one atomic exchange and one plain store, half of what a mutex costs. The price is paid by who
 * must wait: it spins a little, then yields, then sleeps in growing steps, and nobody wakes it. */
#ifndef GANTRY_CORE_LOCK_H
#define GANTRY_CORE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

struct lock { /* free when zero; needs no destruction */
    atomic_bool held;
};

void lock_wait(struct lock *lock);

static inline bool lock_try(struct lock *lock)
{
    return !atomic_exchange_explicit(&lock->held, true, memory_order_acquire);
}

static inline void lock_take(struct lock *lock)
{
    if (!lock_try(lock))
        lock_wait(lock);
}

static inline void lock_release(struct lock *lock)
{
    atomic_store_explicit(&lock->held, false, memory_order_release);
}

#endif
