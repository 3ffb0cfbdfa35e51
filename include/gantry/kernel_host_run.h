/* How the host target runs a grid: kernel_host.h says what for.
 *
 * One OS thread runs a grid, block after block. A block's threads share a few fibers: a fiber runs
 * one thread after another, and only a thread that has to wait, in BARRIER or in a subgroup
 * operation, keeps its fiber while another one carries on. So a kernel that never waits needs one
 * fiber, and atomics need no atomic instructions. Blocks and threads run in a scrambled order,
 * shared memory starts with garbage, and threads that have returned count for no barrier: as on a
 * GPU. */
#ifndef GANTRY_KERNEL_HOST_RUN_H
#define GANTRY_KERNEL_HOST_RUN_H

#include <stdint.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define GANTRY_HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GANTRY_HOST_ASAN 1
#endif
#endif
#ifdef GANTRY_HOST_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

/* Two images in one process must not share the runtime's variables. */
#pragma GCC visibility push(hidden)

namespace gantry_host
{

/* ---- Fibers ---------------------------------------------------------------------------------- */

constexpr uint32_t max_lanes = 64;
#ifdef GANTRY_HOST_ASAN
constexpr size_t stack_bytes = 512 << 10;
#else
constexpr size_t stack_bytes = 128 << 10;
#endif
constexpr size_t guard_bytes = 4096;

struct fiber {
    ucontext_t context;
    unsigned char *stack;
    void *fake_stack; /* AddressSanitizer's */
    uint32_t thread;  /* linear number of the thread that it runs */
    fiber *next;      /* in the one list that holds it */
};

struct fiber_list {
    fiber *first = nullptr, *last = nullptr;

    void push(fiber *f)
    {
        f->next = nullptr;
        (last ? last->next : first) = f;
        last = f;
    }

    fiber *pop()
    {
        fiber *f = first;
        if (f) {
            first = f->next;
            if (!first)
                last = nullptr;
        }
        return f;
    }

    void append(fiber_list *other)
    {
        while (fiber *f = other->pop())
            push(f);
    }
};

/* What the lanes of one subgroup tell each other. There are two sets of values because a lane may
 * deposit its next one while others have yet to read this one; it can't be two ahead. */
struct subgroup {
    uint64_t live;    /* lanes that have not returned */
    uint64_t arrived; /* lanes that wait for this round */
    uint32_t round;
    fiber_list waiting;
    uint64_t active[2];
    alignas(16) unsigned char values[2][max_lanes][16];
};

struct size3 {
    uint32_t x, y, z;
};

inline uint64_t volume(size3 s)
{
    return uint64_t(s.x) * s.y * s.z;
}

/* Visits 0 … count - 1 in an order that nobody may rely on, the same in each run. */
class scramble
{
  public:
    explicit scramble(uint64_t count) : count(count), step(count - uint64_t(double(count) * 0.382))
    {
        while (gcd(step, count) != 1)
            step--;
    }

    uint64_t after(uint64_t at) const
    {
        return at >= count - step ? at - (count - step) : at + step;
    }

  private:
    static uint64_t gcd(uint64_t a, uint64_t b)
    {
        return b ? gcd(b, a % b) : a;
    }

    uint64_t count, step;
};

/* ---- A grid's run ---------------------------------------------------------------------------- */

/* The fixed shared arrays of the image lie behind each other in a section of their own. Where there
 * are none, the linker leaves both addresses zero. */
extern "C" {
extern unsigned char shared_begin[] __asm__("__start_gantry_shared") __attribute__((weak));
extern unsigned char shared_end[] __asm__("__stop_gantry_shared") __attribute__((weak));
}

/* They exist once, so one grid of the image runs at a time. */
inline pthread_mutex_t image_lock = PTHREAD_MUTEX_INITIALIZER;

class runner
{
  public:
    /* What the builtins read. */
    size3 thread_id, block_id, block_size, block_count;
    uint32_t thread, subgroup_size;
    unsigned char *shared; /* SHARED_BLOCK's array */

    runner(size3 block, uint32_t shared_bytes, uint32_t lanes, void (*body)(const void *))
        : block_size(block), subgroup_size(lanes), threads(uint32_t(volume(block))), order(threads),
          body(body), shared_size(shared_bytes ? shared_bytes : 1)
    {
        pthread_mutex_lock(&image_lock);
        shared = static_cast<unsigned char *>(malloc(shared_size));
        subgroups = static_cast<subgroup *>(calloc(subgroup_count(), sizeof(subgroup)));
        fibers = static_cast<fiber *>(calloc(threads, sizeof(fiber)));
        stacks = mmap(nullptr, threads * stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }

    runner(const runner &) = delete;
    runner &operator=(const runner &) = delete;

    ~runner()
    {
        args = nullptr;
        while (fiber *f = idle.pop()) /* it returns from its last block, and ends */
            resume(f);
        if (stacks != MAP_FAILED)
            munmap(stacks, threads * stack_bytes);
        free(fibers);
        free(subgroups);
        free(shared);
        pthread_mutex_unlock(&image_lock);
    }

    bool ready() const
    {
        return shared && subgroups && fibers && stacks != MAP_FAILED;
    }

    void run_block(const void *block_args, size3 id, size3 count)
    {
        args = block_args;
        block_id = id;
        block_count = count;
        started = done = waiting_count = 0;
        next_thread = uint32_t((uint64_t(id.x) * 7 + id.y * 3 + id.z) % threads);
        memset(shared, 0xa7, shared_size);
        memset(shared_begin, 0xa7, size_t(shared_end - shared_begin));
        for (uint32_t i = 0; i < subgroup_count(); i++)
            subgroups[i].live = lanes_of(i);
        while (done < threads)
            resume(choose());
    }

    void barrier()
    {
        if (++waiting_count == threads - done) {
            release_barrier();
            return;
        }
        park(&waiting);
    }

    /* Deposits this lane's value and waits for the other lanes' ones. They stay readable until this
     * thread waits again. */
    const unsigned char (*exchange(const void *value, size_t size, uint64_t *active))[16]
    {
        subgroup *group = &subgroups[thread / subgroup_size];
        uint32_t set = group->round & 1;
        memcpy(group->values[set][lane()], value, size);
        group->arrived |= uint64_t(1) << lane();
        if (group->arrived == group->live)
            release(group);
        else
            park(&group->waiting);
        *active = group->active[set];
        return group->values[set];
    }

    uint32_t subgroup_count() const
    {
        return (threads + subgroup_size - 1) / subgroup_size;
    }

    uint32_t lane() const
    {
        return thread % subgroup_size;
    }

    static thread_local runner *current;

  private:
    uint32_t threads, started = 0, done = 0, waiting_count = 0, next_thread = 0, fiber_count = 0;
    scramble order;
    void (*body)(const void *);
    const void *args = nullptr; /* of the block; NULL: the grid is done */
    size_t shared_size;
    subgroup *subgroups;
    fiber *fibers;
    void *stacks;
    fiber *running = nullptr;
    fiber_list runnable, idle, waiting; /* waiting: in the barrier */
    ucontext_t scheduler;
    const void *scheduler_stack = nullptr; /* AddressSanitizer wants to know */
    size_t scheduler_stack_size = 0;

    uint64_t lanes_of(uint32_t group) const
    {
        uint32_t left = threads - group * subgroup_size;
        uint32_t lanes = left < subgroup_size ? left : subgroup_size;
        return lanes == 64 ? ~uint64_t(0) : (uint64_t(1) << lanes) - 1;
    }

    /* There is always one: when every thread waits and no barrier is complete, some wait in
     * subgroup operations that other lanes never reach, and those lanes count as inactive. */
    fiber *choose()
    {
        if (!runnable.first && started == threads)
            for (uint32_t i = 0; i < subgroup_count(); i++)
                if (subgroups[i].arrived)
                    release(&subgroups[i]);
        if (fiber *f = runnable.pop())
            return f;
        if (fiber *f = idle.pop())
            return f;
        return create();
    }

    fiber *create()
    {
        fiber *f = &fibers[fiber_count];
        f->stack = static_cast<unsigned char *>(stacks) + fiber_count++ * stack_bytes;
        mprotect(f->stack, guard_bytes, PROT_NONE);
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->stack + guard_bytes;
        f->context.uc_stack.ss_size = stack_bytes - guard_bytes;
        f->context.uc_link = &scheduler;
        makecontext(&f->context, fiber_main, 0);
        return f;
    }

    static void fiber_main()
    {
        runner *self = current;
        self->arrive(nullptr, true);
        fiber *f = self->running;
        while (self->args) {
            self->run_threads(f);
            self->park(&self->idle);
        }
#ifdef GANTRY_HOST_ASAN
        __sanitizer_start_switch_fiber(nullptr, self->scheduler_stack, self->scheduler_stack_size);
#endif
    }

    void run_threads(fiber *f)
    {
        while (started < threads) {
            started++;
            f->thread = next_thread;
            next_thread = uint32_t(order.after(next_thread));
            select(f);
            body(args);
            finish();
        }
    }

    void select(fiber *f)
    {
        thread = f->thread;
        thread_id.x = thread % block_size.x;
        thread_id.y = thread / block_size.x % block_size.y;
        thread_id.z = thread / block_size.x / block_size.y;
    }

    /* A thread has returned: those that waited for it alone go on. */
    void finish()
    {
        subgroup *group = &subgroups[thread / subgroup_size];
        group->live &= ~(uint64_t(1) << lane());
        if (group->arrived && group->arrived == group->live)
            release(group);
        done++;
        if (waiting_count && waiting_count == threads - done)
            release_barrier();
    }

    void release(subgroup *group)
    {
        group->active[group->round & 1] = group->arrived;
        group->arrived = 0;
        group->round++;
        runnable.append(&group->waiting);
    }

    void release_barrier()
    {
        waiting_count = 0;
        runnable.append(&waiting);
    }

    void resume(fiber *f)
    {
        void *fake_stack = nullptr;
        runner *outer = current;
        current = this;
        running = f;
        select(f);
        leave(&fake_stack, f->stack + guard_bytes, stack_bytes - guard_bytes);
        swapcontext(&scheduler, &f->context);
        arrive(fake_stack, false);
        current = outer;
    }

    void park(fiber_list *list)
    {
        fiber *self = running;
        list->push(self);
        leave(&self->fake_stack, scheduler_stack, scheduler_stack_size);
        swapcontext(&self->context, &scheduler);
        arrive(self->fake_stack, false);
    }

#ifdef GANTRY_HOST_ASAN
    static void leave(void **fake_stack, const void *stack, size_t size)
    {
        __sanitizer_start_switch_fiber(fake_stack, stack, size);
    }

    void arrive(void *fake_stack, bool from_scheduler)
    {
        const void *stack;
        size_t size;
        __sanitizer_finish_switch_fiber(fake_stack, &stack, &size);
        if (from_scheduler) {
            scheduler_stack = stack;
            scheduler_stack_size = size;
        }
    }
#else
    static void leave(void **, const void *, size_t)
    {
    }

    void arrive(void *, bool)
    {
    }
#endif
};

inline thread_local runner *runner::current = nullptr;

/* ---- Entries --------------------------------------------------------------------------------- */

/* A folded or chained launch's arguments: struct gantry_fold_args and struct gantry_fold_launch of
 * backend.h.
 */
struct fold_args {
    uint64_t launches, args, blocks;
    uint32_t count, stride, equal, reserved;
};

struct fold_launch {
    uint64_t first;
    size3 count;
    uint32_t reserved;
};

static_assert(sizeof(fold_args) == 40 && sizeof(fold_launch) == 24, "as in backend.h");

inline size3 block_at(uint64_t linear, size3 count)
{
    return {uint32_t(linear % count.x), uint32_t(linear / count.x % count.y),
            uint32_t(linear / count.x / count.y)};
}

inline const fold_launch &launch_at(const fold_args &fold, uint32_t which)
{
    return reinterpret_cast<const fold_launch *>(fold.launches)[which];
}

/* The launch that a linear block belongs to: the last one whose first block is not above it. */
inline uint32_t find_launch(const fold_args &fold, uint64_t linear)
{
    if (fold.equal)
        return uint32_t(linear / fold.equal);
    uint32_t low = 0, high = fold.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (launch_at(fold, middle).first <= linear)
            low = middle;
        else
            high = middle;
    }
    return low;
}

template <class Args, void (*Body)(const Args &)> struct kernel {
    static void body(const void *args)
    {
        Body(*static_cast<const Args *>(args));
    }

    static const char *direct(const void *args, const uint32_t blocks[3], const uint32_t block[3],
                              uint32_t shared_bytes, uint32_t subgroup_size)
    {
        runner run({block[0], block[1], block[2]}, shared_bytes, subgroup_size, body);
        if (!run.ready())
            return "no memory is left for a block's stacks and shared arrays";
        Args copy;
        memcpy(static_cast<void *>(&copy), args, sizeof(copy));
        size3 count = {blocks[0], blocks[1], blocks[2]};
        uint64_t total = volume(count), at = total / 2;
        for (scramble order(total); total > 0; total--, at = order.after(at))
            run.run_block(&copy, block_at(at, count), count);
        return nullptr;
    }

    static const char *folded(const void *args, const uint32_t blocks[3], const uint32_t block[3],
                              uint32_t shared_bytes, uint32_t subgroup_size)
    {
        runner run({block[0], block[1], block[2]}, shared_bytes, subgroup_size, body);
        if (!run.ready())
            return "no memory is left for a block's stacks and shared arrays";
        fold_args fold;
        memcpy(&fold, args, sizeof(fold));
        uint64_t total = uint64_t(blocks[0]) * blocks[1] * blocks[2], at = total / 2;
        for (scramble order(total); total > 0; total--, at = order.after(at))
            if (at < fold.blocks)
                folded_block(&run, fold, at);
        return nullptr;
    }

    static const char *chained(const void *args, const uint32_t blocks[3], const uint32_t block[3],
                               uint32_t shared_bytes, uint32_t subgroup_size)
    {
        if (uint64_t(blocks[0]) * blocks[1] * blocks[2] != 1)
            return "a chained entry runs on one block";
        runner run({block[0], block[1], block[2]}, shared_bytes, subgroup_size, body);
        if (!run.ready())
            return "no memory is left for a block's stacks and shared arrays";
        fold_args fold;
        memcpy(&fold, args, sizeof(fold));
        for (uint32_t which = 0; which < fold.count; which++)
            if (volume(launch_at(fold, which).count) > 0)
                run_folded(&run, fold, which, 0);
        return nullptr;
    }

  private:
    static void folded_block(runner *run, const fold_args &fold, uint64_t linear)
    {
        uint32_t which = find_launch(fold, linear);
        const fold_launch &launch = launch_at(fold, which);
        if (linear - launch.first < volume(launch.count))
            run_folded(run, fold, which, linear - launch.first);
    }

    /* One block of one launch of the table. */
    static void run_folded(runner *run, const fold_args &fold, uint32_t which, uint64_t local)
    {
        size3 count = launch_at(fold, which).count;
        Args copy;
        memcpy(static_cast<void *>(&copy),
               reinterpret_cast<const void *>(fold.args + uint64_t(which) * fold.stride),
               sizeof(copy));
        run->run_block(&copy, block_at(local, count), count);
    }
};

} // namespace gantry_host

#pragma GCC visibility pop

#endif
