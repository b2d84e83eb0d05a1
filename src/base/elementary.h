/* Elementary functions that give the same bits on every machine; the functions of the C library and
 * of the device do not. They consist of additions, multiplications, divisions, square roots and
 * fused multiply-adds, whose rounding IEEE 754 defines, in a fixed order (both compilers run with
 * contraction off). Functions of single precision work on pixels, on either backend. Functions of
 * double precision make tables on the host; their relative error is below 1e-15, but that of x^y is
 * below 4e-16 (1 + |y log x|). */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/host_device.h"

GF_HOST_DEVICE float gf_float_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

GF_HOST_DEVICE uint32_t gf_bits_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Returns `above` if v > limit, otherwise `below`. Both values are computed before the call: host
 * compilers do not vectorize loops that may leave out a fused multiply-add, and the device's
 * compiler would branch. */
GF_HOST_DEVICE float gf_select(float v, float limit, float above, float below)
{
#ifdef __CUDA_ARCH__
    float result;
    asm("{ .reg .pred p; setp.gt.f32 p, %3, %4; selp.f32 %0, %1, %2, p; }"
        : "=f"(result)
        : "f"(above), "f"(below), "f"(v), "f"(limit));
    return result;
#else
    const uint32_t mask = 0u - (uint32_t)(v > limit);
    return gf_float_of_bits((gf_bits_of_float(above) & mask) | (gf_bits_of_float(below) & ~mask));
#endif
}

/* Returns a / b, rounded, for a = 0 or |a| >= 2^-100, a normal |b| < 2^126 and a normal quotient or
 * 0; the device returns anything for other numbers. Its compiler adds branches for these, and does
 * not interleave the instructions before and behind them; without them it does the same. */
GF_HOST_DEVICE float gf_quotient(float a, float b)
{
#ifdef __CUDA_ARCH__
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(b));
    const float reciprocal = fmaf(near, fmaf(-b, near, 1.0f), near), quotient = a * reciprocal;
    return fmaf(reciprocal, fmaf(-b, quotient, a), quotient);
#else
    return a / b;
#endif
}

/* Returns the square root of a finite v >= 2^-100, rounded, likewise. */
GF_HOST_DEVICE float gf_root(float v)
{
#ifdef __CUDA_ARCH__
    float near;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(v));
    const float root = v * near;
    return fmaf(fmaf(-root, root, v), 0.5f * near, root);
#else
    return sqrtf(v);
#endif
}

/* Limits v to least..most; a NaN becomes `least`. */
GF_HOST_DEVICE float gf_limited(float v, float least, float most)
{
#ifdef __CUDA_ARCH__
    return fminf(fmaxf(v, least), most);
#else
    return v > least ? (v < most ? v : most) : least;
#endif
}

/* Adding this constant to a float rounds it to an integer, which is then in the low bits of the
 * sum. */
#define GF_ROUNDING_SHIFT 12582912.0f /* 1.5 * 2^23 */

/* Returns 2^x for -126 <= x <= 127, with a relative error of 3e-6. The polynomial minimises the
 * relative error of 2^f, |f| <= 1/2, among those that are 1 at 0. */
GF_HOST_DEVICE float gf_exp2_bounded(float x)
{
    const float shifted = x + GF_ROUNDING_SHIFT;
    const float f = x - (shifted - GF_ROUNDING_SHIFT);
    float p = fmaf(0.009582853f, f, 0.055906426f);
    p = fmaf(p, f, 0.24024099f);
    p = fmaf(p, f, 0.6931242f);
    p = fmaf(p, f, 1.0f);
    return gf_float_of_bits(gf_bits_of_float(p) + (gf_bits_of_float(shifted) << 23));
}

/* Returns 2^x for x <= 127. An x below -126 counts as -126. */
GF_HOST_DEVICE float gf_exp2_coarse(float x)
{
    return gf_exp2_bounded(x > -126.0f ? x : -126.0f);
}

/* Returns the cube root of x, by one correction of y, a rough x^(-1/3): h = 1 - x y^3 is in
 * 0.18..0.32, and the polynomial is (1 - h)^(-1/3) with the least relative error. */
GF_HOST_DEVICE float gf_cbrt_from(float x, float y)
{
    const float coarse = x * (y * y); /* the cube root, with the relative error of y^2 */
    const float h = fmaf(-coarse, y, 1.0f);
    float p = fmaf(0.50162244f, h, -0.047746453f);
    p = fmaf(p, h, 0.28252754f);
    p = fmaf(p, h, 0.32550868f);
    p = fmaf(p, h, 1.0003939f);
    return (coarse * p) * p;
}

/* Returns the cube root of x, 2^-126 <= x < 2^128, with a relative error of 5e-7; for 0, a number
 * below 1e-12. It starts from an estimate of x^(-1/3), whose bits (exponent and mantissa read as
 * one integer) are a constant minus a third of x's bits. */
GF_HOST_DEVICE float gf_cbrt(float x)
{
    const uint32_t bits = gf_bits_of_float(x);
#ifdef __CUDA_ARCH__
    const uint32_t third = __umulhi(bits, 0x55555555u);
#else
    const uint32_t third = (uint32_t)((uint64_t)bits * 0x55555555u >> 32);
#endif
    return gf_cbrt_from(x, gf_float_of_bits(0x54900000u - third));
}

/* Returns x^y for x >= 0 and 0 < y <= 100, with a relative error of 1e-6 for y <= 16 and 5e-6
 * beyond. Numbers below 2^-126 count as 0, or become 2^-126. log2 x is an integer k plus the
 * logarithm of m, sqrt(1/2) <= m < sqrt(2), by the series in (m - 1) / (m + 1). The logarithm is a
 * sum of two floats, so that a large y does not enlarge its rounding error. */
GF_HOST_DEVICE float gf_pow(float x, float y)
{
    const uint32_t bits = gf_bits_of_float(x);
    const int k = (int)(bits - 0x3f3504f3u) >> 23;
    const float m = gf_float_of_bits(bits - ((uint32_t)k << 23));
    const float s = gf_quotient(m - 1.0f, m + 1.0f), square = s * s;
    float series = fmaf(0.43426385f, square, 0.5765842f);
    series = fmaf(series, square, 0.96180076f);
    /* The constant is 2 / ln 2 minus 2.8853900. */
    const float low = fmaf(series * square, s, s * 1.925963e-8f);
    const float high = s * 2.88539f, log_m = high + low;
    const float log_high = (float)k + log_m;
    const float log_low = ((float)k - log_high) + log_m, product = y * log_high;
    const float rest = fmaf(y, log_high, -product) + y * log_low;
    const float bounded = gf_limited(product, -126.0f, 127.0f);
    const float shifted = bounded + GF_ROUNDING_SHIFT;
    const float f = (bounded - (shifted - GF_ROUNDING_SHIFT)) + rest;
    float p = fmaf(0.00015353361f, f, 0.0013398875f);
    p = fmaf(p, f, 0.009618437f);
    p = fmaf(p, f, 0.055503324f);
    p = fmaf(p, f, 0.24022648f);
    p = fmaf(p, f, 0.6931472f);
    p = fmaf(p, f, 1.0f);
    const float power = gf_float_of_bits(gf_bits_of_float(p) + (gf_bits_of_float(shifted) << 23));
    return gf_select(x, 1.17549435e-38f, power, 0.0f);
}

static inline double gf_double_of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Adding this constant to a double rounds it to an integer, which is then in the low bits of the
 * sum. */
#define GF_ROUNDING_SHIFT_DOUBLE 6755399441055744.0 /* 1.5 * 2^52 */

GF_HOST_DEVICE uint64_t gf_bits_of_double(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Returns e^x, x <= 708; 0 below -708. x = k ln 2 + r, and e^r, |r| <= ln(2) / 2, is computed by
 * its power series. */
static inline double gf_exp_double(double x)
{
    static const double term[15] = {1.0 / 87178291200,
                                    1.0 / 6227020800,
                                    1.0 / 479001600,
                                    1.0 / 39916800,
                                    1.0 / 3628800,
                                    1.0 / 362880,
                                    1.0 / 40320,
                                    1.0 / 5040,
                                    1.0 / 720,
                                    1.0 / 120,
                                    1.0 / 24,
                                    1.0 / 6,
                                    1.0 / 2,
                                    1,
                                    1};
    const double bounded = x > -708 ? x : -708;
    const double k = floor(bounded * 1.4426950408889634 + 0.5);
    const double r = (bounded - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double sum = 0;
    for (int n = 0; n < 15; n++)
        sum = sum * r + term[n];
    const uint64_t integer = gf_bits_of_double(k + GF_ROUNDING_SHIFT_DOUBLE);
    const double power = gf_double_of_bits(gf_bits_of_double(sum) + (integer << 52));
    return x < -708 ? 0 : power;
}

/* Returns the natural logarithm of a normal x > 0: 2 atanh((m - 1) / (m + 1)) by its series, plus
 * the exponent times ln 2. */
static inline double gf_log_double(double x)
{
    /* `exponent` is k + 1024, where x = m 2^k and sqrt(1/2) <= m < sqrt(2). */
    const uint64_t bits = gf_bits_of_double(x), from = 0x3fe6a09e667f3bcdu;
    const uint64_t exponent = (bits - from + ((uint64_t)1024 << 52)) >> 52;
    const double k =
        gf_double_of_bits(0x4330000000000000u + exponent) - (4503599627370496.0 + 1024);
    const double m = gf_double_of_bits(bits - (exponent << 52) + ((uint64_t)1024 << 52));
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 0;
    for (int n = 23; n >= 3; n -= 2)
        sum = (sum + 1.0 / n) * square;
    const double log_m = 2 * (s + s * sum);
    return k * 0.693147180369123816490 + (k * 1.90821492927058770002e-10 + log_m);
}

/* Returns x^y for x >= 0, y > 0. */
static inline double gf_pow_double(double x, double y)
{
    return x < 2.2250738585072014e-308 ? 0 : gf_exp_double(y * gf_log_double(x));
}

/* Returns sin(pi x), |x| < 2^31, by its power series. */
static inline double gf_sin_pi_double(double x)
{
    const double k = floor(x + 0.5);
    const double r = (x - k) * 3.14159265358979323846, square = r * r;
    double sum = 1;
    for (int n = 22; n > 0; n -= 2)
        sum = 1 - square / (n * (n + 1)) * sum;
    return (int64_t)k & 1 ? -r * sum : r * sum;
}
