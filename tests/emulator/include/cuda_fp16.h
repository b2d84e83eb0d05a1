/* Pairs of numbers of half precision, by arithmetic of double precision, in which each operation is exact before it is
 * rounded, except for sums of numbers of very different size. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "emulated_vectors.h"

struct alignas(4) __half2 {
    uint16_t x, y;
};

namespace emulated
{

static inline double half_value(uint16_t half)
{
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    const double size = exponent == 31 ? mantissa ? NAN : INFINITY
                        : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                       : ldexp(mantissa, -24);
    return half >> 15 ? -size : size;
}

/* To the nearest, of two the even one. */
static inline uint16_t to_half(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return sign | 0x7E00;
    if (fabs(value) >= 65520)
        return sign | 0x7C00;
    const int exponent = fabs(value) < 0x1p-14 ? -14 : ilogb(value);
    const int steps = (int)nearbyint(ldexp(fabs(value), 10 - exponent)); /* up to 2048 */
    return (uint16_t)(sign + ((exponent + 14) << 10) + steps);
}

template <class Function> __half2 by_halves(__half2 a, __half2 b, __half2 c, const Function &function)
{
    return {to_half(function(half_value(a.x), half_value(b.x), half_value(c.x))),
            to_half(function(half_value(a.y), half_value(b.y), half_value(c.y)))};
}

} // namespace emulated

static inline __half2 __hadd2(__half2 a, __half2 b)
{
    return emulated::by_halves(a, b, b, [](double x, double y, double) { return x + y; });
}
static inline __half2 __hsub2(__half2 a, __half2 b)
{
    return emulated::by_halves(a, b, b, [](double x, double y, double) { return x - y; });
}
static inline __half2 __hmul2(__half2 a, __half2 b)
{
    return emulated::by_halves(a, b, b, [](double x, double y, double) { return x * y; });
}
static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
    return emulated::by_halves(a, b, c, [](double x, double y, double z) { return x * y + z; });
}
static inline __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c)
{
    return emulated::by_halves(a, b, c, [](double x, double y, double z) { return fmin(fmax(x * y + z, 0), 1); });
}
static inline __half2 __floats2half2_rn(float x, float y) { return {emulated::to_half(x), emulated::to_half(y)}; }
static inline float2 __half22float2(__half2 v)
{
    return {(float)emulated::half_value(v.x), (float)emulated::half_value(v.y)};
}
