/* Numbers of half precision and pairs of them, by arithmetic of double precision, in which each operation is exact
 * before it is rounded, except for sums of numbers of very different size. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "emulated_vectors.h"

struct __half {
    uint16_t x;
};
struct alignas(4) __half2 {
    uint16_t x, y;
};

namespace emulated
{

static inline double half_value(uint16_t half)
{
    const uint64_t exponent = half >> 10 & 31, mantissa = half & 1023, sign = (uint64_t)(half >> 15) << 63;
    if (!exponent)
        return sign ? mantissa * -0x1p-24 : mantissa * 0x1p-24;
    const uint64_t bits = sign | (exponent == 31 ? 2047 : exponent + 1023 - 15) << 52 | mantissa << 42;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* To the nearest, of two the even one. */
static inline uint16_t to_half(double value)
{
    enum { LOST = 52 - 10 }; /* bits of a double's mantissa */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = bits >> 48 & 0x8000;
    const double size = fabs(value);
    if (isnan(value))
        return sign | 0x7E00;
    if (size >= 65520)
        return sign | 0x7C00;
    if (size < 0x1p-14)
        return sign | (uint16_t)(size * 0x1p24 + 0x1p52 - 0x1p52); /* of the sum no fraction is left */
    bits = (bits & INT64_MAX) + (1ull << (LOST - 1)) - 1 + (bits >> LOST & 1);
    return (uint16_t)(sign + (bits >> LOST) - ((1023 - 15) << 10));
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
/* Sets the bits of each half that is not equal to the other, or not a number. */
static inline unsigned __hneu2_mask(__half2 a, __half2 b)
{
    const auto differ = [](uint16_t x, uint16_t y) { return emulated::half_value(x) != emulated::half_value(y); };
    return (differ(a.x, b.x) ? 0xFFFFu : 0) | (differ(a.y, b.y) ? 0xFFFF0000u : 0);
}
static inline __half2 __floats2half2_rn(float x, float y) { return {emulated::to_half(x), emulated::to_half(y)}; }
static inline float2 __half22float2(__half2 v)
{
    return {(float)emulated::half_value(v.x), (float)emulated::half_value(v.y)};
}
static inline float __half2float(__half v) { return (float)emulated::half_value(v.x); }
static inline __half __float2half_rn(float v) { return {emulated::to_half(v)}; }
