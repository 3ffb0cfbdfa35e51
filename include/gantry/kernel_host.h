/* The kernel language's host target: what a .gk file becomes for the processor that runs the
 * program. It is for tests and for trying a kernel under a debugger; docs/kernel-language.md says
 * what each word means.
 *
 * The first part, in C, is for whoever runs host images. The rest, in C++17, is for kernel.h. */
#ifndef GANTRY_KERNEL_HOST_H
#define GANTRY_KERNEL_HOST_H

#include <stdint.h>

/* Runs a whole grid before it returns: NULL, or a sentence that says why nothing was run. args are
 * the argument struct's bytes or, for a folded or chained entry, those of a struct
 * gantry_fold_args. All axes
 * are at least 1; subgroup_size is a power of two up to 64. Any thread may call.
 *
 * A host image is an ELF shared object that exports one such function for each entry of its
 * kernels, under the entry's name behind the prefix: gantry_host_saxpy, gantry_host_saxpy_folded,
 * gantry_host_saxpy_chained. */
typedef const char *gantry_host_entry(const void *args, const uint32_t blocks[3],
                                      const uint32_t block[3], uint32_t shared_bytes,
                                      uint32_t subgroup_size);

#define GANTRY_HOST_PREFIX "gantry_host_"

#if defined(__cplusplus) && defined(GANTRY_KERNEL_H)

#include <gantry/kernel_host_math.h>
#include <gantry/kernel_host_run.h>

#pragma GCC visibility push(hidden)

namespace gantry_host
{

/* ---- Pointers -------------------------------------------------------------------------------- */

template <class T> struct pointer {
    uint64_t address;
};

template <class T, class I> pointer<T> offset(pointer<T> p, I i)
{
    return {p.address + uint64_t(int64_t(i)) * sizeof(T)};
}

template <class T, class I> T &at(pointer<T> p, I i)
{
    return *reinterpret_cast<T *>(offset(p, i).address);
}

template <class T> struct shared_block {
    template <class I> T &operator[](I i) const
    {
        return reinterpret_cast<T *>(runner::current->shared)[i];
    }
};

/* ---- The grid -------------------------------------------------------------------------------- */

inline size3 global_id()
{
    const runner &r = *runner::current;
    return {r.block_id.x * r.block_size.x + r.thread_id.x,
            r.block_id.y * r.block_size.y + r.thread_id.y,
            r.block_id.z * r.block_size.z + r.thread_id.z};
}

inline uint64_t grid_first()
{
    const runner &r = *runner::current;
    return uint64_t(r.block_id.x) * r.block_size.x + r.thread_id.x;
}

inline uint64_t grid_step()
{
    const runner &r = *runner::current;
    return uint64_t(r.block_count.x) * r.block_size.x;
}

template <class N> uint64_t grid_end(N n)
{
    return n > 0 ? uint64_t(n) : 0;
}

/* ---- Subgroups ------------------------------------------------------------------------------- */

/* The values of a subgroup's existing lanes. */
template <class T> class lanes
{
  public:
    explicit lanes(T own) : own(own), values(runner::current->exchange(&own, sizeof(own), &active))
    {
    }

    bool exists(uint32_t lane) const
    {
        return lane < runner::current->subgroup_size && (active >> lane & 1);
    }

    T at(uint32_t lane) const
    {
        T value = own;
        if (exists(lane))
            memcpy(&value, values[lane], sizeof(value));
        return value;
    }

    template <class F> T reduce(F combine) const
    {
        uint32_t lane = uint32_t(__builtin_ctzll(active));
        T result = at(lane);
        while (++lane < runner::current->subgroup_size)
            if (exists(lane))
                result = combine(result, at(lane));
        return result;
    }

  private:
    T own;
    uint64_t active = 0;
    const unsigned char (*values)[16];
};

template <class T> T shuffle(T v, uint32_t lane)
{
    return lanes<T>(v).at(lane);
}

/* What subgroup operations and atomics do with two values; integers wrap. */
struct add {
    template <class T> T operator()(T a, T b) const
    {
        return a + b;
    }
    int32_t operator()(int32_t a, int32_t b) const
    {
        return int32_t(uint32_t(a) + uint32_t(b));
    }
    int64_t operator()(int64_t a, int64_t b) const
    {
        return int64_t(uint64_t(a) + uint64_t(b));
    }
};

#define GANTRY_HOST_OPERATION(name, expression)         \
    struct name {                                       \
        template <class T> T operator()(T a, T b) const \
        {                                               \
            (void)a;                                    \
            return expression;                          \
        }                                               \
    };
GANTRY_HOST_OPERATION(lesser, b < a ? b : a)
GANTRY_HOST_OPERATION(greater, a < b ? b : a)
GANTRY_HOST_OPERATION(conjunction, a &b)
GANTRY_HOST_OPERATION(disjunction, a | b)
GANTRY_HOST_OPERATION(difference, a ^ b)
GANTRY_HOST_OPERATION(second, b)

template <class Operation, class T> T reduce(T v)
{
    return lanes<T>(v).reduce(Operation());
}

inline bool any(bool c)
{
    return reduce<disjunction>(uint32_t(c)) != 0;
}

inline bool all(bool c)
{
    return reduce<conjunction>(uint32_t(c)) != 0;
}

/* Atomic, because one OS thread runs the grid. */
template <class Operation, class T, class V> T update(T &x, V v)
{
    T old = x;
    x = Operation()(old, T(v));
    return old;
}

template <class T, class E, class V> T compare_and_swap(T &x, E expected, V v)
{
    T old = x;
    if (old == T(expected))
        x = T(v);
    return old;
}

} // namespace gantry_host

/* Visibility stays hidden for the rest of the kernel's file: entries alone are exported. */

/* ---- Types ----------------------------------------------------------------------------------- */

#define PTR(T)       gantry_host::pointer<T>
#define ARGS(name)   struct name
#define STRUCT(name) struct name
#define POINTEE(name, size, align)                                    \
    static_assert(sizeof(name) == (size) && alignof(name) == (align), \
                  #name " has not the size and alignment that POINTEE states")

/* ---- Kernels --------------------------------------------------------------------------------- */

#define FN                [[maybe_unused]] static inline
#define INOUT(T)          T &
#define TABLE(T, name, n) static constexpr T name[n]
#define UNROLL
#define KERNEL(name, args_t) FN void gantry_body_##name([[maybe_unused]] const args_t &args)

#define GANTRY_ANY_THREADS
#define GANTRY_MAX_THREADS(n)
#define GANTRY_RESIDENT_THREADS(n, blocks)
#define GANTRY_ENTRY(symbol, name, args_t, which)                                          \
    extern "C" __attribute__((visibility("default")))                                      \
    const char *gantry_host_##symbol(const void *args, const uint32_t blocks[3],           \
                                     const uint32_t block[3], uint32_t shared_bytes,       \
                                     uint32_t subgroup_size)                               \
    {                                                                                      \
        return gantry_host::kernel<args_t, gantry_body_##name>::which(args, blocks, block, \
                                                                      shared_bytes,        \
                                                                      subgroup_size);      \
    }
#define GANTRY_ENTRIES(name, args_t, bound)  \
    GANTRY_ENTRY(name, name, args_t, direct) \
    GANTRY_ENTRY(name##_folded, name, args_t, folded)
#define GANTRY_CHAINED_ENTRY(name, args_t, bound) \
    GANTRY_ENTRY(name##_chained, name, args_t, chained)
#define GANTRY_CHECK_SIZE(type, bytes, align) \
    static_assert(sizeof(type) == (bytes) && alignof(type) == (align), "layout of " #type)
#define GANTRY_CHECK_OFFSET(type, member, bytes) \
    static_assert(offsetof(type, member) == (bytes), "layout of " #type)

/* ---- The grid -------------------------------------------------------------------------------- */

#define THREAD_ID   (gantry_host::runner::current->thread_id)
#define BLOCK_ID    (gantry_host::runner::current->block_id)
#define BLOCK_SIZE  (gantry_host::runner::current->block_size)
#define BLOCK_COUNT (gantry_host::runner::current->block_count)
#define GLOBAL_ID   (gantry_host::global_id())
#define FOR_GRID(i, n)                                                             \
    for (uint64 i = gantry_host::grid_first(), i##_end = gantry_host::grid_end(n), \
                i##_step = gantry_host::grid_step();                               \
         i < i##_end; i += i##_step)

/* ---- Memory ---------------------------------------------------------------------------------- */

#define AT(p, i)              (gantry_host::at((p), (i)))
#define OFFSET(p, i)          (gantry_host::offset((p), (i)))
#define CAST(T, p)            (gantry_host::pointer<T>{(p).address})
#define ADDRESS(p)            ((p).address)
#define SHARED                [[maybe_unused]] static __attribute__((section("gantry_shared")))
#define SHARED_BLOCK(T, name) [[maybe_unused]] static const gantry_host::shared_block<T> name
#define BARRIER()             (gantry_host::runner::current->barrier())

/* ---- Subgroups and atomics ------------------------------------------------------------------- */

#define SUBGROUP_SIZE                 (gantry_host::runner::current->subgroup_size)
#define SUBGROUP_LANE                 (gantry_host::runner::current->lane())
#define SUBGROUP_COUNT                (gantry_host::runner::current->subgroup_count())
#define SUBGROUP_ID                   (gantry_host::runner::current->thread / SUBGROUP_SIZE)
#define SUBGROUP_ADD(v)               (gantry_host::reduce<gantry_host::add>(v))
#define SUBGROUP_MIN(v)               (gantry_host::reduce<gantry_host::lesser>(v))
#define SUBGROUP_MAX(v)               (gantry_host::reduce<gantry_host::greater>(v))
#define SUBGROUP_SHUFFLE(v, lane)     (gantry_host::shuffle((v), uint(lane)))
#define SUBGROUP_SHUFFLE_XOR(v, mask) (gantry_host::shuffle((v), SUBGROUP_LANE ^ uint(mask)))
#define SUBGROUP_BROADCAST(v, lane)   (gantry_host::shuffle((v), uint(lane)))
#define SUBGROUP_ANY(c)               (gantry_host::any(c))
#define SUBGROUP_ALL(c)               (gantry_host::all(c))
#define SUBGROUP_BALLOT_COUNT(c)      (gantry_host::reduce<gantry_host::add>(uint(bool(c))))

#define ATOMIC_ADD(x, v)           (gantry_host::update<gantry_host::add>((x), (v)))
#define ATOMIC_MIN(x, v)           (gantry_host::update<gantry_host::lesser>((x), (v)))
#define ATOMIC_MAX(x, v)           (gantry_host::update<gantry_host::greater>((x), (v)))
#define ATOMIC_AND(x, v)           (gantry_host::update<gantry_host::conjunction>((x), (v)))
#define ATOMIC_OR(x, v)            (gantry_host::update<gantry_host::disjunction>((x), (v)))
#define ATOMIC_XOR(x, v)           (gantry_host::update<gantry_host::difference>((x), (v)))
#define ATOMIC_EXCHANGE(x, v)      (gantry_host::update<gantry_host::second>((x), (v)))
#define ATOMIC_CAS(x, expected, v) (gantry_host::compare_and_swap((x), (expected), (v)))
#define ATOMIC_FADD(p, i, v)       ATOMIC_ADD(AT(p, i), v)

#endif /* C++ */

#endif
