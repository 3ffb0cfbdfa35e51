/* The kernel language's types and mathematics on the host: kernel_host.h says what for. */
#ifndef GANTRY_KERNEL_HOST_MATH_H
#define GANTRY_KERNEL_HOST_MATH_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned int uint;
typedef int8_t int8;
typedef uint8_t uint8;
typedef int16_t int16;
typedef uint16_t uint16;
typedef int64_t int64;
typedef uint64_t uint64;

/* GLSL's suffix of a double. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wuser-defined-literals"
#else
#pragma GCC diagnostic ignored "-Wliteral-suffix"
#endif
constexpr double operator"" lf(long double value)
{
    return double(value);
}
#pragma GCC diagnostic pop

#pragma GCC visibility push(hidden)

namespace gantry_host
{

template <class To, class From> To bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    memcpy(static_cast<void *>(&to), &from, sizeof(to));
    return to;
}

/* Keeps a parameter out of template argument deduction, so that a scalar is converted to T. */
template <class T> struct same {
    typedef T type;
};

} // namespace gantry_host

/* ---- Half ------------------------------------------------------------------------------------ */

/* IEEE binary16 in software. Arithmetic goes through float, whose result, rounded again, is the
 * correctly rounded one. */
class half
{
  public:
    half() = default;

    template <class T> explicit half(T value) : bits(round(double(value)))
    {
    }

    operator float() const
    {
        uint32_t sign = uint32_t(bits >> 15) << 31, exponent = bits >> 10 & 31,
                 digits = bits & 1023;
        if (exponent == 31)
            return gantry_host::bits<float>(sign | 0x7f800000u | digits << 13);
        float size = exponent ? ldexpf(float(digits | 1024), int(exponent) - 25)
                              : ldexpf(float(digits), -24);
        return sign ? -size : size;
    }

  private:
    uint16_t bits;

    static uint16_t round(double value)
    {
        uint16_t sign = signbit(value) ? 0x8000 : 0;
        double size = fabs(value);
        if (isnan(value))
            return uint16_t(sign | 0x7e00);
        if (size >= 65520.0)
            return uint16_t(sign | 0x7c00);
        if (size == 0.0) /* has no exponent */
            return sign;
        int exponent;
        frexp(size, &exponent);
        int scale = exponent < -13 ? 24 : 11 - exponent;
        uint32_t digits = uint32_t(nearbyint(ldexp(size, scale)));
        uint32_t base = exponent < -13 ? 0 : uint32_t(exponent + 13) << 10;
        return uint16_t(sign | (base + digits));
    }
};

#define GANTRY_HOST_HALF(sign)                     \
    inline half operator sign(half a, half b)      \
    {                                              \
        return half(float(a) sign float(b));       \
    }                                              \
    inline half &operator sign##=(half &a, half b) \
    {                                              \
        return a = a sign b;                       \
    }
GANTRY_HOST_HALF(+)
GANTRY_HOST_HALF(-)
GANTRY_HOST_HALF(*)
GANTRY_HOST_HALF(/)

/* ---- Vectors --------------------------------------------------------------------------------- */

namespace gantry_host
{

template <class T, int N> struct vec;

template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
    T x, y;

    vec() = default;
    constexpr explicit vec(T a) : x(a), y(a)
    {
    }
    constexpr vec(T a, T b) : x(a), y(b)
    {
    }
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
    T x, y, z, w;

    vec() = default;
    constexpr explicit vec(T a) : x(a), y(a), z(a), w(a)
    {
    }
    constexpr vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d)
    {
    }
};

template <class F, class T, class... V> vec<T, 2> map(F f, vec<T, 2> a, V... b)
{
    return vec<T, 2>(f(a.x, b.x...), f(a.y, b.y...));
}

template <class F, class T, class... V> vec<T, 4> map(F f, vec<T, 4> a, V... b)
{
    return vec<T, 4>(f(a.x, b.x...), f(a.y, b.y...), f(a.z, b.z...), f(a.w, b.w...));
}

#define GANTRY_HOST_VECTOR(sign)                                                             \
    template <class T, int N> vec<T, N> operator sign(vec<T, N> a, vec<T, N> b)              \
    {                                                                                        \
        return map([](T x, T y) { return T(x sign y); }, a, b);                              \
    }                                                                                        \
    template <class T, int N> vec<T, N> operator sign(vec<T, N> a, typename same<T>::type b) \
    {                                                                                        \
        return a sign vec<T, N>(b);                                                          \
    }                                                                                        \
    template <class T, int N> vec<T, N> operator sign(typename same<T>::type a, vec<T, N> b) \
    {                                                                                        \
        return vec<T, N>(a) sign b;                                                          \
    }                                                                                        \
    template <class T, int N, class B> vec<T, N> &operator sign##=(vec<T, N> &a, B b)        \
    {                                                                                        \
        return a = a sign b;                                                                 \
    }
GANTRY_HOST_VECTOR(+)
GANTRY_HOST_VECTOR(-)
GANTRY_HOST_VECTOR(*)
GANTRY_HOST_VECTOR(/)
GANTRY_HOST_VECTOR(&)
GANTRY_HOST_VECTOR(|)
GANTRY_HOST_VECTOR(^)

template <class T, int N> vec<T, N> operator-(vec<T, N> a)
{
    return map([](T x) { return T(-x); }, a);
}

template <class T> bool operator==(vec<T, 2> a, vec<T, 2> b)
{
    return a.x == b.x && a.y == b.y;
}

template <class T> bool operator==(vec<T, 4> a, vec<T, 4> b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

template <class T, int N> bool operator!=(vec<T, N> a, vec<T, N> b)
{
    return !(a == b);
}

} // namespace gantry_host

typedef gantry_host::vec<float, 2> float2;
typedef gantry_host::vec<float, 4> float4;
typedef gantry_host::vec<int, 2> int2;
typedef gantry_host::vec<int, 4> int4;
typedef gantry_host::vec<uint, 2> uint2;
typedef gantry_host::vec<uint, 4> uint4;

/* ---- Mathematics of scalars that C++ lacks --------------------------------------------------- */

/* The result has the type that GLSL's implicit conversions give too. */
#define GANTRY_HOST_SUM(A, B) decltype(A() + B())

template <class A, class B> constexpr GANTRY_HOST_SUM(A, B) min(A a, B b)
{
    typedef GANTRY_HOST_SUM(A, B) T;
    return T(b) < T(a) ? T(b) : T(a);
}

template <class A, class B> constexpr GANTRY_HOST_SUM(A, B) max(A a, B b)
{
    typedef GANTRY_HOST_SUM(A, B) T;
    return T(a) < T(b) ? T(b) : T(a);
}

template <class X, class A, class B>
constexpr auto clamp(X x, A low, B high) -> decltype(min(max(x, low), high))
{
    return min(max(x, low), high);
}

#define GANTRY_HOST_FLOATING(T)        \
    inline T roundEven(T x)            \
    {                                  \
        return rint(x);                \
    }                                  \
    inline T fract(T x)                \
    {                                  \
        return x - floor(x);           \
    }                                  \
    inline T inversesqrt(T x)          \
    {                                  \
        return T(1) / sqrt(x);         \
    }                                  \
    inline T mod(T x, T y)             \
    {                                  \
        return x - y * floor(x / y);   \
    }                                  \
    inline T mix(T x, T y, T a)        \
    {                                  \
        return x * (T(1) - a) + y * a; \
    }
GANTRY_HOST_FLOATING(float)
GANTRY_HOST_FLOATING(double)

inline float sign(float x)
{
    return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f;
}

inline float step(float edge, float x)
{
    return x < edge ? 0.0f : 1.0f;
}

inline float smoothstep(float low, float high, float x)
{
    float t = clamp((x - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

inline float atan(float y, float x)
{
    return atan2f(y, x);
}

/* The remainder with the sign of a. Dividing the least int by -1 traps, so it is not done. */
template <class T> T gantry_host_rem(T a, T b)
{
    return b == T(-1) ? T(0) : T(a % b);
}
#define REM(a, b) (gantry_host_rem<decltype((a) + (b))>((a), (b)))

/* ---- Mathematics of vectors ------------------------------------------------------------------ */

namespace gantry_host
{

#define GANTRY_HOST_MATH1(name)                           \
    template <class T, int N> vec<T, N> name(vec<T, N> v) \
    {                                                     \
        return map([](T x) { return T(::name(x)); }, v);  \
    }
GANTRY_HOST_MATH1(abs)
GANTRY_HOST_MATH1(sign)
GANTRY_HOST_MATH1(floor)
GANTRY_HOST_MATH1(ceil)
GANTRY_HOST_MATH1(trunc)
GANTRY_HOST_MATH1(roundEven)
GANTRY_HOST_MATH1(fract)
GANTRY_HOST_MATH1(sqrt)
GANTRY_HOST_MATH1(inversesqrt)
GANTRY_HOST_MATH1(exp)
GANTRY_HOST_MATH1(exp2)
GANTRY_HOST_MATH1(log)
GANTRY_HOST_MATH1(log2)
GANTRY_HOST_MATH1(sin)
GANTRY_HOST_MATH1(cos)
GANTRY_HOST_MATH1(tan)
GANTRY_HOST_MATH1(asin)
GANTRY_HOST_MATH1(acos)
GANTRY_HOST_MATH1(atan)
GANTRY_HOST_MATH1(sinh)
GANTRY_HOST_MATH1(cosh)
GANTRY_HOST_MATH1(tanh)

#define GANTRY_HOST_MATH2(name)                                                     \
    template <class T, int N> vec<T, N> name(vec<T, N> v, vec<T, N> w)              \
    {                                                                               \
        return map([](T x, T y) { return T(::name(x, y)); }, v, w);                 \
    }                                                                               \
    template <class T, int N> vec<T, N> name(vec<T, N> v, typename same<T>::type w) \
    {                                                                               \
        return name(v, vec<T, N>(w));                                               \
    }
GANTRY_HOST_MATH2(min)
GANTRY_HOST_MATH2(max)
GANTRY_HOST_MATH2(mod)
GANTRY_HOST_MATH2(pow)
GANTRY_HOST_MATH2(atan)
GANTRY_HOST_MATH2(step)

template <class T, int N> vec<T, N> step(typename same<T>::type edge, vec<T, N> v)
{
    return step(vec<T, N>(edge), v);
}

#define GANTRY_HOST_MATH3(name)                                                     \
    template <class T, int N> vec<T, N> name(vec<T, N> u, vec<T, N> v, vec<T, N> w) \
    {                                                                               \
        return map([](T x, T y, T z) { return T(::name(x, y, z)); }, u, v, w);      \
    }
GANTRY_HOST_MATH3(clamp)
GANTRY_HOST_MATH3(mix)
GANTRY_HOST_MATH3(smoothstep)
GANTRY_HOST_MATH3(fma)

template <class T, int N>
vec<T, N> clamp(vec<T, N> v, typename same<T>::type low, typename same<T>::type high)
{
    return clamp(v, vec<T, N>(low), vec<T, N>(high));
}

template <class T, int N> vec<T, N> mix(vec<T, N> v, vec<T, N> w, typename same<T>::type a)
{
    return mix(v, w, vec<T, N>(a));
}

template <class T, int N>
vec<T, N> smoothstep(typename same<T>::type low, typename same<T>::type high, vec<T, N> v)
{
    return smoothstep(vec<T, N>(low), vec<T, N>(high), v);
}

template <class T> T dot(vec<T, 2> v, vec<T, 2> w)
{
    return v.x * w.x + v.y * w.y;
}

template <class T> T dot(vec<T, 4> v, vec<T, 4> w)
{
    return v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
}

template <class T, int N> T length(vec<T, N> v)
{
    return ::sqrt(dot(v, v));
}

} // namespace gantry_host

/* ---- Bits ------------------------------------------------------------------------------------ */

inline int floatBitsToInt(float x)
{
    return gantry_host::bits<int>(x);
}

inline uint floatBitsToUint(float x)
{
    return gantry_host::bits<uint>(x);
}

inline uint packHalf2x16(float2 v)
{
    return gantry_host::bits<uint16_t>(half(v.x)) | uint(gantry_host::bits<uint16_t>(half(v.y)))
                                                        << 16;
}

inline float2 unpackHalf2x16(uint v)
{
    return float2(gantry_host::bits<half>(uint16_t(v)), gantry_host::bits<half>(uint16_t(v >> 16)));
}

inline float intBitsToFloat(int x)
{
    return gantry_host::bits<float>(x);
}

inline float uintBitsToFloat(uint x)
{
    return gantry_host::bits<float>(x);
}

template <class T> int bitCount(T x)
{
    return __builtin_popcount(uint(x));
}

template <class T> T bitfieldReverse(T x)
{
    uint from = uint(x), to = 0;
    for (int i = 0; i < 32; i++, from >>= 1)
        to = to << 1 | (from & 1);
    return T(to);
}

template <class T> int findLSB(T x)
{
    return x == 0 ? -1 : __builtin_ctz(uint(x));
}

/* Of a negative int: the highest bit that differs from the sign. */
template <class T> int findMSB(T x)
{
    uint digits = x < T(0) ? ~uint(x) : uint(x);
    return digits == 0 ? -1 : 31 - __builtin_clz(digits);
}

#pragma GCC visibility pop

#endif
