/* The kernel language's GLSL target; included by kernel.h. */
#ifndef GANTRY_KERNEL_GLSL_H
#define GANTRY_KERNEL_GLSL_H

/* clang-format would take this for C. */
/* clang-format off */

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require

/* The chained entry runs under the Vulkan memory model, where a barrier orders other threads'
 * accesses through pointers only if they are not private. */
#ifdef GANTRY_CHAINED
#pragma use_vulkan_memory_model
#define GANTRY_ACCESS nonprivate
#define GANTRY_BARRIER_SEMANTICS                                                                   \
    (gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible)
#else
#define GANTRY_ACCESS
#define GANTRY_BARRIER_SEMANTICS gl_SemanticsAcquireRelease
#endif

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

/* ---- Types ---------------------------------------------------------------------------------- */

#define int8 int8_t
#define uint8 uint8_t
#define int16 int16_t
#define uint16 uint16_t
#define int64 int64_t
#define uint64 uint64_t
#define half float16_t
#define float2 vec2
#define float4 vec4
#define int2 ivec2
#define int4 ivec4
#define uint2 uvec2
#define uint4 uvec4

#define ARGS(name) struct name
#define STRUCT(name) struct name
#define FN
#define INOUT(T) inout T
#define TABLE(T, name, n) const T name[n]
#define UNROLL [[unroll]]

/* ---- Pointers ------------------------------------------------------------------------------- */

int64_t gantry_index_(int i) { return int64_t(i); }
int64_t gantry_index_(uint i) { return int64_t(uint64_t(i)); }
int64_t gantry_index_(int64_t i) { return i; }
int64_t gantry_index_(uint64_t i) { return int64_t(i); }

/* The reference is wrapped in a struct because functions can't be overloaded on references, and
 * because variables of a bare reference need a decoration that spirv-opt forgets when it inlines. */
#define GANTRY_POINTER(T, size, align)                                                             \
    layout(buffer_reference, scalar, buffer_reference_align = align) buffer gantry_ref_##T         \
    {                                                                                              \
        GANTRY_ACCESS T at_[];                                                                     \
    };                                                                                             \
    struct gantry_ptr_##T {                                                                        \
        gantry_ref_##T ref_;                                                                       \
    };                                                                                             \
    gantry_ptr_##T gantry_offset_(gantry_ptr_##T p, int64_t i)                                     \
    {                                                                                              \
        uint64_t address = uint64_t(p.ref_) + uint64_t(i) * uint64_t(size);                        \
        return gantry_ptr_##T(gantry_ref_##T(address));                                            \
    }

GANTRY_POINTER(int8, 1, 1)
GANTRY_POINTER(uint8, 1, 1)
GANTRY_POINTER(int16, 2, 2)
GANTRY_POINTER(uint16, 2, 2)
GANTRY_POINTER(int, 4, 4)
GANTRY_POINTER(uint, 4, 4)
GANTRY_POINTER(int64, 8, 8)
GANTRY_POINTER(uint64, 8, 8)
GANTRY_POINTER(half, 2, 2)
GANTRY_POINTER(float, 4, 4)
GANTRY_POINTER(double, 8, 8)
GANTRY_POINTER(float2, 8, 8)
GANTRY_POINTER(float4, 16, 16)
GANTRY_POINTER(int2, 8, 8)
GANTRY_POINTER(int4, 16, 16)
GANTRY_POINTER(uint2, 8, 8)
GANTRY_POINTER(uint4, 16, 16)

#define POINTEE(name, size, align) GANTRY_POINTER(name, size, align)
#define PTR(T) gantry_ptr_##T
#define OFFSET(p, i) gantry_offset_((p), gantry_index_(i))
#define AT(p, i) (OFFSET(p, i).ref_.at_[0])
#define CAST(T, p) gantry_ptr_##T(gantry_ref_##T(uint64_t((p).ref_)))
#define ADDRESS(p) uint64_t((p).ref_)

/* ---- Shared memory -------------------------------------------------------------------------- */

#define SHARED shared
#define SHARED_BLOCK(T, name)                                                                      \
    shared T name[gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z]

/* Plain barrier() orders shared memory only. */
#define BARRIER()                                                                                  \
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,                                           \
                   gl_StorageSemanticsShared | gl_StorageSemanticsBuffer,                          \
                   GANTRY_BARRIER_SEMANTICS)

/* ---- Subgroups ------------------------------------------------------------------------------ */

#define SUBGROUP_SIZE gl_SubgroupSize
#define SUBGROUP_LANE gl_SubgroupInvocationID
#define SUBGROUP_COUNT gl_NumSubgroups
#define SUBGROUP_ID gl_SubgroupID
#define SUBGROUP_ADD(v) subgroupAdd(v)
#define SUBGROUP_MIN(v) subgroupMin(v)
#define SUBGROUP_MAX(v) subgroupMax(v)
#define SUBGROUP_SHUFFLE(v, lane) subgroupShuffle(v, uint(lane))
#define SUBGROUP_SHUFFLE_XOR(v, mask) subgroupShuffleXor(v, uint(mask))
#define SUBGROUP_BROADCAST(v, lane) subgroupShuffle(v, uint(lane))
#define SUBGROUP_ANY(c) subgroupAny(c)
#define SUBGROUP_ALL(c) subgroupAll(c)
#define SUBGROUP_BALLOT_COUNT(c) subgroupBallotBitCount(subgroupBallot(c))

/* ---- Atomics -------------------------------------------------------------------------------- */

#define ATOMIC_ADD(x, v) atomicAdd(x, v)
#define ATOMIC_MIN(x, v) atomicMin(x, v)
#define ATOMIC_MAX(x, v) atomicMax(x, v)
#define ATOMIC_AND(x, v) atomicAnd(x, v)
#define ATOMIC_OR(x, v) atomicOr(x, v)
#define ATOMIC_XOR(x, v) atomicXor(x, v)
#define ATOMIC_EXCHANGE(x, v) atomicExchange(x, v)
#define ATOMIC_CAS(x, expected, v) atomicCompSwap(x, expected, v)
#define ATOMIC_FADD(p, i, v) gantry_fadd_((p), gantry_index_(i), v)

#ifdef GANTRY_NATIVE_FLOAT_ATOMICS
float gantry_fadd_(gantry_ptr_float p, int64_t i, float v)
{
    return atomicAdd(gantry_offset_(p, i).ref_.at_[0], v);
}
#else
float gantry_fadd_(gantry_ptr_float p, int64_t i, float v)
{
    gantry_ptr_uint bits = CAST(uint, gantry_offset_(p, i));
    uint seen = bits.ref_.at_[0];
    uint expected;
    do {
        expected = seen;
        uint sum = floatBitsToUint(uintBitsToFloat(expected) + v);
        seen = atomicCompSwap(bits.ref_.at_[0], expected, sum);
    } while (seen != expected);
    return uintBitsToFloat(seen);
}
#endif

/* ---- Mathematics that GLSL lacks ------------------------------------------------------------ */

/* GLSL leaves % of negative numbers open. */
int gantry_rem_(int a, int b) { return a - b * (a / b); }
int64_t gantry_rem_(int64_t a, int64_t b) { return a - b * (a / b); }
#define REM(a, b) gantry_rem_(a, b)

/* ---- The grid ------------------------------------------------------------------------------- */

#define THREAD_ID gl_LocalInvocationID
#define BLOCK_SIZE gl_WorkGroupSize
#define GLOBAL_ID (BLOCK_ID * BLOCK_SIZE + THREAD_ID)

uint64_t gantry_count_(int n) { return uint64_t(int64_t(max(n, 0))); }
uint64_t gantry_count_(uint n) { return uint64_t(n); }
uint64_t gantry_count_(int64_t n) { return n < 0L ? 0UL : uint64_t(n); }
uint64_t gantry_count_(uint64_t n) { return n; }

#define FOR_GRID(i, n)                                                                             \
    for (uint64_t i = uint64_t(BLOCK_ID.x) * BLOCK_SIZE.x + THREAD_ID.x,                           \
                  gantry_end_##i = gantry_count_(n);                                               \
         i < gantry_end_##i; i += uint64_t(BLOCK_COUNT.x) * BLOCK_SIZE.x)

/* ---- Entries -------------------------------------------------------------------------------- */

#define KERNEL(name, args_t) GANTRY_KERNEL_##name(name, args_t)
#define GANTRY_KERNEL_OTHER(name, args_t) void gantry_body_of_##name(args_t args)

#if !defined(GANTRY_FOLDED) && !defined(GANTRY_CHAINED)

#define BLOCK_ID gl_WorkGroupID
#define BLOCK_COUNT gl_NumWorkGroups

#define GANTRY_KERNEL_THIS(name, args_t)                                                           \
    layout(push_constant, scalar) uniform gantry_push_ { args_t args; };                           \
    void gantry_body_()

#define GANTRY_MAIN                                                                                \
    void main() { gantry_body_(); }

#else

/* struct gantry_fold_args and struct gantry_fold_launch of backend.h. */
layout(push_constant, scalar) uniform gantry_push_
{
    uint64_t launches;
    uint64_t args;
    uint64_t blocks;
    uint count;
    uint stride;
    uint equal;
    uint reserved;
} gantry_fold_;

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer gantry_launch_
{
    GANTRY_ACCESS uint64_t first;
    GANTRY_ACCESS uint x, y, z;
    uint reserved;
};

gantry_launch_ gantry_launch_at_(uint which)
{
    return gantry_launch_(gantry_fold_.launches + uint64_t(which) * 24UL);
}

/* Copied before the launch itself is looked at, so that neither read waits for the other. */
#define GANTRY_ARGS_REFERENCE(args_t)                                                              \
    layout(buffer_reference, scalar, buffer_reference_align = 16) buffer gantry_ref_args_          \
    {                                                                                              \
        GANTRY_ACCESS args_t args_;                                                                \
    };
#define GANTRY_ARGS_AT(which)                                                                      \
    (gantry_ref_args_(gantry_fold_.args + uint64_t(which) * gantry_fold_.stride).args_)

#ifdef GANTRY_FOLDED

#define BLOCK_ID gantry_block_id_
#define BLOCK_COUNT gantry_block_count_

uvec3 gantry_block_id_;
uvec3 gantry_block_count_;

/* Almost always in 32 bits, which take a fraction of the time. */
uint64_t gantry_divide_(uint64_t a, uint b)
{
    return (a >> 32) == 0UL ? uint64_t(uint(a) / b) : a / uint64_t(b);
}

/* The last launch whose first block is not above this one. */
uint gantry_find_launch_(uint64_t block)
{
    if (gantry_fold_.equal != 0u)
        return uint(gantry_divide_(block, gantry_fold_.equal));
    uint low = 0u;
    uint high = gantry_fold_.count;
    while (high - low > 1u) {
        uint middle = low + (high - low) / 2u;
        if (gantry_launch_at_(middle).first <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns false when this block is in excess: of the grid, or of its launch. */
bool gantry_enter_launch_(uint64_t block, uint which)
{
    gantry_launch_ launch = gantry_launch_at_(which);
    uvec3 count = uvec3(launch.x, launch.y, launch.z);
    uint64_t local = block - launch.first;
    if (local >= uint64_t(count.x) * uint64_t(count.y) * uint64_t(count.z))
        return false;
    gantry_block_count_ = count;
    if (count.y == 1u && count.z == 1u) {
        gantry_block_id_ = uvec3(uint(local), 0u, 0u);
        return true;
    }
    uint64_t row = gantry_divide_(local, count.x);
    uint64_t layer = gantry_divide_(row, count.y);
    gantry_block_id_ = uvec3(uint(local - row * uint64_t(count.x)),
                             uint(row - layer * uint64_t(count.y)), uint(layer));
    return true;
}

#define GANTRY_KERNEL_THIS(name, args_t)                                                           \
    args_t args;                                                                                   \
    GANTRY_ARGS_REFERENCE(args_t)                                                                  \
    void gantry_body_()

#define GANTRY_MAIN                                                                                \
    void main()                                                                                    \
    {                                                                                              \
        uint64_t block = uint64_t(gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;       \
        if (block >= gantry_fold_.blocks)                                                          \
            return;                                                                                \
        uint which = gantry_find_launch_(block);                                                   \
        args = GANTRY_ARGS_AT(which);                                                              \
        if (gantry_enter_launch_(block, which))                                                    \
            gantry_body_();                                                                        \
    }

#else /* GANTRY_CHAINED */

#define BLOCK_ID uvec3(0u, 0u, 0u)
#define BLOCK_COUNT uvec3(1u, 1u, 1u)

bool gantry_step_runs_(uint which)
{
    gantry_launch_ launch = gantry_launch_at_(which);
    return min(launch.x, min(launch.y, launch.z)) != 0u;
}

#define GANTRY_KERNEL_THIS(name, args_t)                                                           \
    args_t args;                                                                                   \
    args_t gantry_next_args_;                                                                      \
    GANTRY_ARGS_REFERENCE(args_t)                                                                  \
    void gantry_body_()

#if GANTRY_ARGS_SIZE <= 64

/* A step is read while the one before it runs. */
#define GANTRY_MAIN                                                                                \
    void main()                                                                                    \
    {                                                                                              \
        bool next_runs = gantry_step_runs_(0u);                                                    \
        gantry_next_args_ = GANTRY_ARGS_AT(0u);                                                    \
        for (uint step = 1u; step <= gantry_fold_.count; step++) {                                 \
            bool runs = next_runs;                                                                 \
            args = gantry_next_args_;                                                              \
            uint next = min(step, gantry_fold_.count - 1u);                                        \
            next_runs = gantry_step_runs_(next);                                                   \
            gantry_next_args_ = GANTRY_ARGS_AT(next);                                              \
            if (runs)                                                                              \
                gantry_body_();                                                                    \
            BARRIER();                                                                             \
        }                                                                                          \
    }

#else /* arguments that would take too many registers twice */

#define GANTRY_MAIN                                                                                \
    void main()                                                                                    \
    {                                                                                              \
        for (uint step = 0u; step < gantry_fold_.count; step++) {                                  \
            args = GANTRY_ARGS_AT(step);                                                           \
            if (gantry_step_runs_(step))                                                           \
                gantry_body_();                                                                    \
            BARRIER();                                                                             \
        }                                                                                          \
    }

#endif

#endif /* GANTRY_CHAINED */

#endif /* not the direct entry */

#endif /* GANTRY_KERNEL_GLSL_H */
