/* The kernel language's CUDA target, for nvcc and NVRTC; included by kernel.h. */
#ifndef GANTRY_KERNEL_CUDA_H
#define GANTRY_KERNEL_CUDA_H

#define FN static __device__ inline

/* ---- Types ---------------------------------------------------------------------------------- */

typedef unsigned int uint;
typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef long long int64;
typedef unsigned long long uint64;

#ifdef __CUDACC__
#pragma nv_diag_suppress 2506 /* the suffix of GLSL has no underscore */
#endif
__device__ __host__ constexpr double operator"" lf(long double value)
{
    return static_cast<double>(value);
}

/* Keeps a parameter out of template argument deduction, so that a scalar is converted to T. */
template <class T> struct gantry_same_ {
    typedef T type;
};

template <class T> struct alignas(2 * sizeof(T)) gantry_vec2_ {
    typedef T element;
    T x, y;
    gantry_vec2_() = default;
    __device__ __host__ constexpr explicit gantry_vec2_(T a) : x(a), y(a)
    {
    }
    __device__ __host__ constexpr gantry_vec2_(T a, T b) : x(a), y(b)
    {
    }
};

template <class T> struct alignas(4 * sizeof(T)) gantry_vec4_ {
    typedef T element;
    T x, y, z, w;
    gantry_vec4_() = default;
    __device__ __host__ constexpr explicit gantry_vec4_(T a) : x(a), y(a), z(a), w(a)
    {
    }
    __device__ __host__ constexpr gantry_vec4_(T a, T b, T c, T d) : x(a), y(b), z(c), w(d)
    {
    }
};

#define float2 gantry_vec2_<float>
#define float4 gantry_vec4_<float>
#define int2   gantry_vec2_<int>
#define int4   gantry_vec4_<int>
#define uint2  gantry_vec2_<uint>
#define uint4  gantry_vec4_<uint>

/* cuda_fp16.h is not at hand under NVRTC. */
struct alignas(2) gantry_half_ {
    unsigned short bits_;
    gantry_half_() = default;
    __device__ explicit gantry_half_(float value)
    {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits_) : "f"(value));
    }
    __device__ operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits_));
        return value;
    }
};
#define half gantry_half_

#define GANTRY_HALF_OPERATOR(op, instruction)                                         \
    FN half operator op(half a, half b)                                               \
    {                                                                                 \
        half c;                                                                       \
        asm(instruction " %0, %1, %2;" : "=h"(c.bits_) : "h"(a.bits_), "h"(b.bits_)); \
        return c;                                                                     \
    }                                                                                 \
    FN half &operator op##=(half &a, half b)                                          \
    {                                                                                 \
        return a = a op b;                                                            \
    }
GANTRY_HALF_OPERATOR(+, "add.rn.f16")
GANTRY_HALF_OPERATOR(-, "sub.rn.f16")
GANTRY_HALF_OPERATOR(*, "mul.rn.f16")
FN half operator/(half a, half b)
{
    return half(float(a) / float(b));
}
FN half &operator/=(half &a, half b)
{
    return a = a / b;
}
FN half operator-(half a)
{
    return half(-float(a));
}

/* Each element of a vector with the other vector's, or with the scalar. */
#define GANTRY_VECTOR_OPERATOR(V, op, make)                                               \
    template <class T> FN V<T> operator op(V<T> a, V<T> b)                                \
    {                                                                                     \
        return make(op);                                                                  \
    }                                                                                     \
    template <class T> FN V<T> operator op(V<T> a, typename gantry_same_<T>::type b)      \
    {                                                                                     \
        return a op V<T>(b);                                                              \
    }                                                                                     \
    template <class T> FN V<T> operator op(typename gantry_same_<T>::type a, V<T> b)      \
    {                                                                                     \
        return V<T>(a) op b;                                                              \
    }                                                                                     \
    template <class T> FN V<T> &operator op##=(V<T> &a, V<T> b)                           \
    {                                                                                     \
        return a = a op b;                                                                \
    }                                                                                     \
    template <class T> FN V<T> &operator op##=(V<T> &a, typename gantry_same_<T>::type b) \
    {                                                                                     \
        return a = a op b;                                                                \
    }
#define GANTRY_MAKE2(op) gantry_vec2_<T>(a.x op b.x, a.y op b.y)
#define GANTRY_MAKE4(op) gantry_vec4_<T>(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w)
#define GANTRY_VECTOR_OPERATORS(op)                        \
    GANTRY_VECTOR_OPERATOR(gantry_vec2_, op, GANTRY_MAKE2) \
    GANTRY_VECTOR_OPERATOR(gantry_vec4_, op, GANTRY_MAKE4)
GANTRY_VECTOR_OPERATORS(+)
GANTRY_VECTOR_OPERATORS(-)
GANTRY_VECTOR_OPERATORS(*)
GANTRY_VECTOR_OPERATORS(/)
GANTRY_VECTOR_OPERATORS(&)
GANTRY_VECTOR_OPERATORS(|)
GANTRY_VECTOR_OPERATORS(^)

template <class T> FN gantry_vec2_<T> operator-(gantry_vec2_<T> a)
{
    return gantry_vec2_<T>(-a.x, -a.y);
}
template <class T> FN gantry_vec4_<T> operator-(gantry_vec4_<T> a)
{
    return gantry_vec4_<T>(-a.x, -a.y, -a.z, -a.w);
}
template <class T> FN bool operator==(gantry_vec2_<T> a, gantry_vec2_<T> b)
{
    return a.x == b.x && a.y == b.y;
}
template <class T> FN bool operator==(gantry_vec4_<T> a, gantry_vec4_<T> b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}
template <class T> FN bool operator!=(gantry_vec2_<T> a, gantry_vec2_<T> b)
{
    return !(a == b);
}
template <class T> FN bool operator!=(gantry_vec4_<T> a, gantry_vec4_<T> b)
{
    return !(a == b);
}

#define ARGS(name)        struct name
#define STRUCT(name)      struct name
#define INOUT(T)          T &
#define TABLE(T, name, n) __constant__ const T name[n]
#define UNROLL            _Pragma("unroll")

/* ---- Pointers ------------------------------------------------------------------------------- */

template <class T> struct gantry_ptr_ {
    T *base_;
};

#define GANTRY_CHECK_SIZE(type, bytes, align)                          \
    static_assert(sizeof(type) == (bytes) && alignof(type) == (align), \
                  "struct " #type " has another size or alignment in CUDA")
#ifdef __CUDACC_RTC__ /* has no offsetof */
#define GANTRY_OFFSET_OF(type, member) __INTADDR__(&((type *)0)->member)
#else
#define GANTRY_OFFSET_OF(type, member) __builtin_offsetof(type, member)
#endif
#define GANTRY_CHECK_OFFSET(type, member, bytes)             \
    static_assert(GANTRY_OFFSET_OF(type, member) == (bytes), \
                  #type "." #member " has another offset in CUDA")

#define POINTEE(name, size, align) GANTRY_CHECK_SIZE(name, size, align)
#define PTR(T)                     gantry_ptr_<T>
#define AT(p, i)                   gantry_at_((p), i)
#define OFFSET(p, i)               gantry_offset_((p), i)
#define CAST(T, p)                 (gantry_ptr_<T>{reinterpret_cast<T *>((p).base_)})
#define ADDRESS(p)                 reinterpret_cast<uint64>((p).base_)

/* Pointers that were read from a table are generic to the compiler until it is told better. */
template <class T, class I> FN T &gantry_at_(gantry_ptr_<T> p, I i)
{
    T *element = p.base_ + i;
    __builtin_assume(__isGlobal(element));
    return *element;
}

template <class T, class I> FN gantry_ptr_<T> gantry_offset_(gantry_ptr_<T> p, I i)
{
    return gantry_ptr_<T>{p.base_ + i};
}

/* ---- Shared memory -------------------------------------------------------------------------- */

#define SHARED                __shared__
#define SHARED_BLOCK(T, name) extern __shared__ T name[]
#define BARRIER()             __syncthreads()

/* ---- The grid ------------------------------------------------------------------------------- */

struct gantry_grid_ {
    uint3 id, count;
};

#define THREAD_ID   threadIdx
#define BLOCK_SIZE  blockDim
#define BLOCK_ID    gantry_grid.id
#define BLOCK_COUNT gantry_grid.count
#define GLOBAL_ID   gantry_global_id_(gantry_grid)

FN uint3 gantry_global_id_(gantry_grid_ grid)
{
    uint3 id = {grid.id.x * blockDim.x + threadIdx.x, grid.id.y * blockDim.y + threadIdx.y,
                grid.id.z * blockDim.z + threadIdx.z};
    return id;
}

FN uint64 gantry_count_(int n)
{
    return n < 0 ? 0 : uint64(n);
}
FN uint64 gantry_count_(uint n)
{
    return n;
}
FN uint64 gantry_count_(int64 n)
{
    return n < 0 ? 0 : uint64(n);
}
FN uint64 gantry_count_(uint64 n)
{
    return n;
}

#define FOR_GRID(i, n)                                               \
    for (uint64 i = uint64(BLOCK_ID.x) * BLOCK_SIZE.x + THREAD_ID.x, \
                gantry_end_##i = gantry_count_(n);                   \
         i < gantry_end_##i; i += uint64(BLOCK_COUNT.x) * BLOCK_SIZE.x)

/* ---- Subgroups ------------------------------------------------------------------------------ */

#define SUBGROUP_SIZE                 uint(warpSize)
#define SUBGROUP_LANE                 gantry_lane_()
#define SUBGROUP_COUNT                gantry_warps_()
#define SUBGROUP_ID                   ((gantry_thread_() - gantry_lane_()) / uint(warpSize))
#define SUBGROUP_ADD(v)               gantry_reduce_(v, gantry_add_())
#define SUBGROUP_MIN(v)               gantry_reduce_(v, gantry_min_())
#define SUBGROUP_MAX(v)               gantry_reduce_(v, gantry_max_())
#define SUBGROUP_SHUFFLE(v, lane)     __shfl_sync(gantry_lane_mask_(), v, int(lane))
#define SUBGROUP_SHUFFLE_XOR(v, mask) __shfl_xor_sync(gantry_lane_mask_(), v, int(mask))
#define SUBGROUP_BROADCAST(v, lane)   SUBGROUP_SHUFFLE(v, lane)
#define SUBGROUP_ANY(c)               (__any_sync(gantry_lane_mask_(), c) != 0)
#define SUBGROUP_ALL(c)               (__all_sync(gantry_lane_mask_(), c) != 0)
#define SUBGROUP_BALLOT_COUNT(c)      uint(__popc(__ballot_sync(gantry_lane_mask_(), c)))

FN uint gantry_lane_()
{
    uint lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

FN uint gantry_thread_()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

FN uint gantry_warps_()
{
    return (blockDim.x * blockDim.y * blockDim.z + warpSize - 1) / warpSize;
}

/* Threads in this warp: fewer than its size in the last warp of some blocks. */
FN uint gantry_lanes_()
{
    uint left = blockDim.x * blockDim.y * blockDim.z - (gantry_thread_() - gantry_lane_());
    return left < uint(warpSize) ? left : uint(warpSize);
}

FN uint gantry_lane_mask_()
{
    return 0xffffffffu >> (uint(warpSize) - gantry_lanes_());
}

struct gantry_add_ {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};
struct gantry_min_ {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return min(a, b);
    }
};
struct gantry_max_ {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return max(a, b);
    }
};

template <class T, class Operator> FN T gantry_reduce_(T value, Operator combine)
{
    uint mask = gantry_lane_mask_();
    for (uint step = warpSize / 2; step > 0; step /= 2) {
        T other = __shfl_down_sync(mask, value, step);
        if (gantry_lane_() + step < gantry_lanes_())
            value = combine(value, other);
    }
    return __shfl_sync(mask, value, 0);
}

/* ---- Atomics -------------------------------------------------------------------------------- */

#define ATOMIC_ADD(x, v)           gantry_atomic_add_(x, v)
#define ATOMIC_MIN(x, v)           gantry_atomic_min_(x, v)
#define ATOMIC_MAX(x, v)           gantry_atomic_max_(x, v)
#define ATOMIC_AND(x, v)           gantry_atomic_and_(x, v)
#define ATOMIC_OR(x, v)            gantry_atomic_or_(x, v)
#define ATOMIC_XOR(x, v)           gantry_atomic_xor_(x, v)
#define ATOMIC_EXCHANGE(x, v)      gantry_atomic_exchange_(x, v)
#define ATOMIC_CAS(x, expected, v) gantry_atomic_cas_(x, expected, v)
#define ATOMIC_FADD(p, i, v)       atomicAdd(&AT(p, i), v)

#define GANTRY_ATOMIC(name, call)                                        \
    template <class T> FN T name(T &x, typename gantry_same_<T>::type v) \
    {                                                                    \
        return call(&x, v);                                              \
    }

/* CUDA has these for the unsigned type alone; the bits are the same. */
#define GANTRY_ATOMIC_BITS(name, call)                                 \
    GANTRY_ATOMIC(name, call)                                          \
    FN int64 name(int64 &x, int64 v)                                   \
    {                                                                  \
        return int64(call(reinterpret_cast<uint64 *>(&x), uint64(v))); \
    }

GANTRY_ATOMIC(gantry_atomic_min_, atomicMin)
GANTRY_ATOMIC(gantry_atomic_max_, atomicMax)
GANTRY_ATOMIC_BITS(gantry_atomic_add_, atomicAdd)
GANTRY_ATOMIC_BITS(gantry_atomic_and_, atomicAnd)
GANTRY_ATOMIC_BITS(gantry_atomic_or_, atomicOr)
GANTRY_ATOMIC_BITS(gantry_atomic_xor_, atomicXor)
GANTRY_ATOMIC_BITS(gantry_atomic_exchange_, atomicExch)

template <class T>
FN T gantry_atomic_cas_(T &x, typename gantry_same_<T>::type expected,
                        typename gantry_same_<T>::type v)
{
    return atomicCAS(&x, expected, v);
}
FN int64 gantry_atomic_cas_(int64 &x, int64 expected, int64 v)
{
    return int64(atomicCAS(reinterpret_cast<uint64 *>(&x), uint64(expected), uint64(v)));
}

/* ---- Mathematics that CUDA lacks or names otherwise ----------------------------------------- */

#define REM(a, b) ((a) % (b))

#define GANTRY_CLAMP(T)                \
    FN T clamp(T v, T low, T high)     \
    {                                  \
        return min(max(v, low), high); \
    }
GANTRY_CLAMP(int)
GANTRY_CLAMP(uint)
GANTRY_CLAMP(int64)
GANTRY_CLAMP(uint64)
GANTRY_CLAMP(float)
GANTRY_CLAMP(double)

FN int sign(int v)
{
    return (v > 0) - (v < 0);
}
FN float sign(float v)
{
    return float((v > 0.0f) - (v < 0.0f));
}
FN float roundEven(float v)
{
    return rintf(v);
}
FN double roundEven(double v)
{
    return rint(v);
}
FN float inversesqrt(float v)
{
    return rsqrtf(v);
}
FN double inversesqrt(double v)
{
    return rsqrt(v);
}
FN float fract(float v)
{
    return v - floorf(v);
}
FN double fract(double v)
{
    return v - floor(v);
}
FN float mod(float x, float y)
{
    return x - y * floorf(x / y);
}
FN double mod(double x, double y)
{
    return x - y * floor(x / y);
}
FN float mix(float a, float b, float t)
{
    return a * (1.0f - t) + b * t;
}
FN double mix(double a, double b, double t)
{
    return a * (1.0 - t) + b * t;
}
FN float step(float edge, float v)
{
    return v < edge ? 0.0f : 1.0f;
}
FN float smoothstep(float low, float high, float v)
{
    float t = clamp((v - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
FN float atan(float y, float x)
{
    return atan2f(y, x);
}

FN int floatBitsToInt(float v)
{
    return __float_as_int(v);
}
FN uint floatBitsToUint(float v)
{
    return __float_as_uint(v);
}
FN float intBitsToFloat(int v)
{
    return __int_as_float(v);
}
FN float uintBitsToFloat(uint v)
{
    return __uint_as_float(v);
}
FN float2 unpackHalf2x16(uint v)
{
    half low, high;
    low.bits_ = (unsigned short)(v & 0xffff);
    high.bits_ = (unsigned short)(v >> 16);
    return float2(float(low), float(high));
}
FN uint packHalf2x16(float2 v)
{
    return half(v.x).bits_ | uint(half(v.y).bits_) << 16;
}
FN int bitCount(uint v)
{
    return __popc(v);
}
FN int bitCount(int v)
{
    return __popc(uint(v));
}
FN uint bitfieldReverse(uint v)
{
    return __brev(v);
}
FN int bitfieldReverse(int v)
{
    return int(__brev(uint(v)));
}
FN int findLSB(uint v)
{
    return __ffs(int(v)) - 1;
}
FN int findLSB(int v)
{
    return __ffs(v) - 1;
}
FN int findMSB(uint v)
{
    return 31 - __clz(int(v));
}
FN int findMSB(int v)
{
    return 31 - __clz(v < 0 ? ~v : v);
}

#define GANTRY_MAP(f)                                           \
    template <class T> FN gantry_vec2_<T> f(gantry_vec2_<T> a)  \
    {                                                           \
        return gantry_vec2_<T>(f(a.x), f(a.y));                 \
    }                                                           \
    template <class T> FN gantry_vec4_<T> f(gantry_vec4_<T> a)  \
    {                                                           \
        return gantry_vec4_<T>(f(a.x), f(a.y), f(a.z), f(a.w)); \
    }
#define GANTRY_MAP_VECTOR(V, f, make)                                      \
    template <class T> FN V<T> f(V<T> a, V<T> b)                           \
    {                                                                      \
        return make(f);                                                    \
    }                                                                      \
    template <class T> FN V<T> f(V<T> a, typename gantry_same_<T>::type b) \
    {                                                                      \
        return f(a, V<T>(b));                                              \
    }
#define GANTRY_CALL2(f) gantry_vec2_<T>(f(a.x, b.x), f(a.y, b.y))
#define GANTRY_CALL4(f) gantry_vec4_<T>(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w))
#define GANTRY_MAP_TWO(f)                            \
    GANTRY_MAP_VECTOR(gantry_vec2_, f, GANTRY_CALL2) \
    GANTRY_MAP_VECTOR(gantry_vec4_, f, GANTRY_CALL4)

GANTRY_MAP(abs)
GANTRY_MAP(sign)
GANTRY_MAP(floor)
GANTRY_MAP(ceil)
GANTRY_MAP(trunc)
GANTRY_MAP(roundEven)
GANTRY_MAP(fract)
GANTRY_MAP(sqrt)
GANTRY_MAP(inversesqrt)
GANTRY_MAP(exp)
GANTRY_MAP(exp2)
GANTRY_MAP(log)
GANTRY_MAP(log2)
GANTRY_MAP(sin)
GANTRY_MAP(cos)
GANTRY_MAP_TWO(min)
GANTRY_MAP_TWO(max)
GANTRY_MAP_TWO(mod)
GANTRY_MAP_TWO(pow)

template <class V> FN V clamp(V v, V low, V high)
{
    return min(max(v, low), high);
}
template <class V> FN V clamp(V v, typename V::element low, typename V::element high)
{
    return min(max(v, low), high);
}
template <class T>
FN gantry_vec2_<T> mix(gantry_vec2_<T> a, gantry_vec2_<T> b, typename gantry_same_<T>::type t)
{
    return a * (T(1) - t) + b * t;
}
template <class T>
FN gantry_vec4_<T> mix(gantry_vec4_<T> a, gantry_vec4_<T> b, typename gantry_same_<T>::type t)
{
    return a * (T(1) - t) + b * t;
}
FN float2 fma(float2 a, float2 b, float2 c)
{
    return float2(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y));
}
FN float4 fma(float4 a, float4 b, float4 c)
{
    return float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z),
                  fmaf(a.w, b.w, c.w));
}
FN float dot(float2 a, float2 b)
{
    return a.x * b.x + a.y * b.y;
}
FN float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
FN float length(float2 a)
{
    return sqrtf(dot(a, a));
}
FN float length(float4 a)
{
    return sqrtf(dot(a, a));
}

/* ---- Entries -------------------------------------------------------------------------------- */

/* struct gantry_fold_args and struct gantry_fold_launch of backend.h. */
struct gantry_fold_launch_ {
    uint64 first;
    uint x, y, z;
    uint reserved;
};

struct gantry_fold_args_ {
    const gantry_fold_launch_ *launches;
    const unsigned char *args;
    uint64 blocks;
    uint count;
    uint stride;
    uint equal;
    uint reserved;
};

GANTRY_CHECK_SIZE(gantry_fold_launch_, 24, 8);
GANTRY_CHECK_SIZE(gantry_fold_args_, 40, 8);
GANTRY_CHECK_OFFSET(gantry_fold_args_, count, 24);
GANTRY_CHECK_OFFSET(gantry_fold_args_, equal, 32);

/* Before anything else in every thread: along a programmatic edge the launch before this one may
 * still be running, and the wait is for its end, when all that it wrote can be seen. The launch
 * after this one is let in first, once every block of this one has begun: it waits in the same way,
 * for the end of this one and so of all before it, and its start is hidden. Large grids don't: they
 * have little to hide, and on an H200 the instruction takes short blocks a quarter of their speed.
 */
FN void gantry_begin_()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (gridDim.x <= 8192)
        asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Almost always in 32 bits, which take a fraction of the time. */
FN uint64 gantry_divide_(uint64 a, uint b)
{
    return a >> 32 == 0 ? uint(a) / b : a / b;
}

/* The last launch whose first block is not above this one. */
FN uint gantry_find_launch_(const gantry_fold_args_ &fold, uint64 block)
{
    if (fold.equal != 0)
        return uint(gantry_divide_(block, fold.equal));
    uint low = 0, high = fold.count;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        if (fold.launches[middle].first <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns false when this block is in excess: of the grid, or of its launch. */
FN bool gantry_enter_launch_(const gantry_fold_args_ &fold, uint64 block, uint which,
                             gantry_grid_ &grid)
{
    const gantry_fold_launch_ &launch = fold.launches[which];
    uint64 local = block - launch.first;
    grid.count = uint3{launch.x, launch.y, launch.z};
    if (local >= uint64(grid.count.x) * grid.count.y * grid.count.z)
        return false;
    if (grid.count.y == 1 && grid.count.z == 1) {
        grid.id = uint3{uint(local), 0, 0};
        return true;
    }
    uint64 row = gantry_divide_(local, grid.count.x), layer = gantry_divide_(row, grid.count.y);
    grid.id =
        uint3{uint(local - row * grid.count.x), uint(row - layer * grid.count.y), uint(layer)};
    return true;
}

template <class Args> FN const Args &gantry_args_at_(const gantry_fold_args_ &fold, uint which)
{
    const void *args = __builtin_assume_aligned(fold.args + uint64(which) * fold.stride, 16);
    return *static_cast<const Args *>(args);
}

/* The arguments of one launch. Small ones are copied, into registers mostly, because a copy can't
 * alias what the kernel writes: in pieces of 16 bytes, of which the table has whole ones. Large
 * ones are read where they are. */
template <class Args, bool small = sizeof(Args) <= 64> struct gantry_held_args_ {
    Args args_;
    __device__ explicit gantry_held_args_(const Args &args)
    {
        uint4 pieces[(sizeof(Args) + 15) / 16];
        for (uint i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
            pieces[i] = reinterpret_cast<const uint4 *>(&args)[i];
        memcpy(&args_, pieces, sizeof(args_));
    }
    __device__ operator const Args &() const
    {
        return args_;
    }
};

template <class Args> struct gantry_held_args_<Args, false> {
    const Args *args_;
    __device__ explicit gantry_held_args_(const Args &args) : args_(&args)
    {
    }
    __device__ operator const Args &() const
    {
        return *args_;
    }
};

/* Steps of a chain, which the block reads many at a time into shared memory: read one by one, each
 * would cost the way to the second-level cache, more than a small step takes. Small arguments lie
 * here, large ones stay where they are. */
template <class Args, bool small = sizeof(Args) <= 64> struct gantry_steps_ {
    enum { room = 16 };
    uint4 pieces[room][(sizeof(Args) + 15) / 16];
    bool runs[room];

    __device__ void read(const gantry_fold_args_ &fold, uint first, uint which)
    {
        const uint4 *from =
            reinterpret_cast<const uint4 *>(&gantry_args_at_<Args>(fold, first + which));
        for (uint i = 0; i < sizeof(pieces[0]) / sizeof(pieces[0][0]); i++)
            pieces[which][i] = from[i];
    }
    __device__ const Args &at(const gantry_fold_args_ &, uint, uint which) const
    {
        return *reinterpret_cast<const Args *>(pieces[which]);
    }
};

template <class Args> struct gantry_steps_<Args, false> {
    enum { room = 16 };
    bool runs[room];

    __device__ void read(const gantry_fold_args_ &, uint, uint)
    {
    }
    __device__ const Args &at(const gantry_fold_args_ &fold, uint first, uint which) const
    {
        return gantry_args_at_<Args>(fold, first + which);
    }
};

template <class Steps>
FN void gantry_read_steps_(Steps &steps, const gantry_fold_args_ &fold, uint first, uint count)
{
    uint thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (uint i = thread; i < count; i += blockDim.x * blockDim.y * blockDim.z) {
        const gantry_fold_launch_ &launch = fold.launches[first + i];
        steps.runs[i] = min(launch.x, min(launch.y, launch.z)) != 0;
        steps.read(fold, first, i);
    }
}

#define GANTRY_MAX_THREADS(n)              __launch_bounds__(n)
#define GANTRY_RESIDENT_THREADS(n, blocks) __launch_bounds__(n, blocks)
#define GANTRY_ANY_THREADS

#define KERNEL(name, args_t)                                                         \
    static __device__ __forceinline__ void gantry_body_of_##name(const args_t &args, \
                                                                 const gantry_grid_ &gantry_grid)

#define GANTRY_ENTRIES(name, args_t, bound)                                                        \
    extern "C" __global__ void bound name(const __grid_constant__ args_t args)                     \
    {                                                                                              \
        gantry_begin_();                                                                           \
        gantry_grid_ grid = {{blockIdx.x, blockIdx.y, blockIdx.z},                                 \
                             {gridDim.x, gridDim.y, gridDim.z}};                                   \
        gantry_body_of_##name(args, grid);                                                         \
    }                                                                                              \
    extern "C" __global__ void bound name##_folded(const __grid_constant__ gantry_fold_args_ fold) \
    {                                                                                              \
        gantry_begin_();                                                                           \
        uint64 block = uint64(blockIdx.y) * gridDim.x + blockIdx.x;                                \
        gantry_grid_ grid;                                                                         \
        if (block >= fold.blocks)                                                                  \
            return;                                                                                \
        uint which = gantry_find_launch_(fold, block);                                             \
        const gantry_held_args_<args_t> args(gantry_args_at_<args_t>(fold, which));                \
        if (gantry_enter_launch_(fold, block, which, grid))                                        \
            gantry_body_of_##name(args, grid);                                                     \
    }

/* Not for kernels that can return before a BARRIER, which would pair up with the barrier between
 * the steps, or before a subgroup operation, which would wait for the threads in that barrier. */
#define GANTRY_CHAINED_ENTRY(name, args_t, bound)                          \
    extern "C" __global__ void bound name##_chained(                       \
        const __grid_constant__ gantry_fold_args_ fold)                    \
    {                                                                      \
        gantry_begin_();                                                   \
        __shared__ gantry_steps_<args_t> steps;                            \
        const gantry_grid_ grid = {{0, 0, 0}, {1, 1, 1}};                  \
        for (uint first = 0; first < fold.count; first += steps.room) {    \
            const uint count = min(fold.count - first, uint(steps.room));  \
            gantry_read_steps_(steps, fold, first, count);                 \
            __syncthreads();                                               \
            for (uint i = 0; i < count; i++) {                             \
                if (steps.runs[i])                                         \
                    gantry_body_of_##name(steps.at(fold, first, i), grid); \
                __syncthreads();                                           \
            }                                                              \
        }                                                                  \
    }

#endif /* GANTRY_KERNEL_CUDA_H */
