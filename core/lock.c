/* Waiting for a lock that another thread holds. */
#include "lock.h"

#include <sched.h>
#include <time.h>

enum {
    SPINS = 100, /* about what recording a launch takes */
    YIELDS = 20, /* with more threads than processors the holder may not be running */
    FIRST_SLEEP = 2000 /* ns; the holder is in the driver */,
    LONGEST_SLEEP = 100000,
};

static bool is_free(struct lock *lock)
{
    return !atomic_load_explicit(&lock->held, memory_order_relaxed);
}

static void pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void lock_wait(struct lock *lock)
{
    struct timespec sleep = {0, FIRST_SLEEP};

    for (int i = 0;; i++) {
        if (is_free(lock) && lock_try(lock))
            return;
        if (i < SPINS) {
            pause_once();
        } else if (i < SPINS + YIELDS) {
            sched_yield();
        } else {
            nanosleep(&sleep, NULL);
            if (sleep.tv_nsec < LONGEST_SLEEP)
                sleep.tv_nsec *= 2;
        }
    }
}
