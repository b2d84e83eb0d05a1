/* Functions that are instructions of the device: of the CUDA Math API, and those that assembler text names. */
#pragma once

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emulated_vectors.h"

namespace emulated
{

template <class To, class From> To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "bits_as() keeps the size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

/* Calls function(lane of a, of b, of c) for each part of a word, `Part` wide. */
template <class Part, class Function> uint32_t by_parts(uint32_t a, uint32_t b, uint32_t c, const Function &function)
{
    enum { PARTS = 4 / sizeof(Part) };
    Part x[PARTS], y[PARTS], z[PARTS];
    memcpy(x, &a, 4), memcpy(y, &b, 4), memcpy(z, &c, 4);
    for (int i = 0; i < PARTS; i++)
        x[i] = (Part)function(x[i], y[i], z[i]);
    memcpy(&a, x, 4);
    return a;
}

template <class A, class B> uint32_t dot(uint32_t a, uint32_t b, uint32_t sum, int first = 0)
{
    A x[4 / sizeof(A)];
    B y[4 / sizeof(B)];
    memcpy(x, &a, 4), memcpy(y, &b, 4);
    for (size_t i = 0; i < 4 / sizeof(A); i++)
        sum += (uint32_t)((int64_t)x[i] * y[i + first]);
    return sum;
}

/* The sum rounded towards zero. That of doubles is rounded, and what is missing is exact (Knuth's two-sum). */
static inline float add_rz(double a, double b)
{
    const double sum = a + b, part = sum - a, missing = (a - (sum - part)) + (b - part);
    float rounded = (float)sum;
    if (rounded != 0 && rounded - rounded == 0) {
        const double too_much = rounded == sum ? -missing : rounded - sum;
        if (rounded > 0 ? too_much > 0 : too_much < 0)
            rounded = bits_as<float>(bits_as<uint32_t>(rounded) - 1);
    }
    return rounded;
}

/* PTX's prmt: bit 3 of a selector asks for the sign of the byte. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t to = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned selector = selectors >> 4 * i & 15;
        const uint32_t byte = bytes >> 8 * (selector & 7) & 255;
        to |= (selector & 8 ? byte >> 7 ? 255u : 0u : byte) << 8 * i;
    }
    return to;
}

/* An operand of assembler text: of one that is written, where it is; of one that is read, its value. */
struct operand {
    void *at;
    size_t bytes;
    uint64_t value;
};

template <class T> operand out(T &to)
{
    operand operand = {&to, sizeof to, 0};
    memcpy(&operand.value, &to, sizeof to);
    return operand;
}

template <class T> operand in(const T &from)
{
    operand operand = {nullptr, sizeof from, 0};
    memcpy(&operand.value, &from, sizeof from);
    return operand;
}

struct instruction;
const instruction *parse_ptx(const char *text);
void run_ptx(const instruction *instruction, operand *operands, int count);

/* Site is the type of a lambda that is written there, so that the text is parsed once. */
template <class Site, class... Operands> void ptx(Site, const char *text, Operands... operands)
{
    static const instruction *const parsed = parse_ptx(text);
    operand all[] = {operands..., {}};
    if (parsed)
        run_ptx(parsed, all, sizeof...(operands));
}

/* A shared address as the device's instructions take it: see shared_at(). */
uint32_t shared_address(const void *at);

} // namespace emulated

static inline size_t __cvta_generic_to_shared(const void *at) { return emulated::shared_address(at); }

static inline void __trap(void) { abort(); }

template <class T> T __ldg(const T *at) { return *at; }
template <class T> T __ldcs(const T *at) { return *at; }
template <class T> T __ldcg(const T *at) { return *at; }
template <class T> void __stcg(T *at, T value) { *at = value; }
template <class T> void __stcs(T *at, T value) { *at = value; }

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v)
{
    unsigned to = 0;
    for (int i = 0; i < 32; i++)
        to |= (v >> i & 1) << (31 - i);
    return to;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selectors)
{
    return emulated::permute(a, b, selectors & 0x7777);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)((((uint64_t)high << 32 | low) << (by & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)((((uint64_t)high << 32 | low) << min(by, 32u)) >> 32);
}
static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> min(by, 32u));
}

static inline unsigned __vabsdiffu4(unsigned a, unsigned b)
{
    unsigned result = 0;
    for (int i = 0; i < 32; i += 8) {
        const int apart = (int)(a >> i & 255) - (int)(b >> i & 255);
        result |= (unsigned)(apart < 0 ? -apart : apart) << i;
    }
    return result;
}

static inline int __dp4a(int a, int b, int sum)
{
    return (int)emulated::dot<int8_t, int8_t>((uint32_t)a, (uint32_t)b, (uint32_t)sum);
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
    return emulated::dot<uint8_t, uint8_t>(a, b, sum);
}
static inline int __dp2a_lo(int a, int b, int sum)
{
    return (int)emulated::dot<int16_t, int8_t>((uint32_t)a, (uint32_t)b, (uint32_t)sum);
}
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum)
{
    return emulated::dot<uint16_t, uint8_t>(a, b, sum);
}
static inline int __dp2a_hi(int a, int b, int sum)
{
    return (int)emulated::dot<int16_t, int8_t>((uint32_t)a, (uint32_t)b, (uint32_t)sum, 2);
}
static inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum)
{
    return emulated::dot<uint16_t, uint8_t>(a, b, sum, 2);
}

static inline unsigned __vmaxu2(unsigned a, unsigned b)
{
    return emulated::by_parts<uint16_t>(a, b, 0, [](int x, int y, int) { return x > y ? x : y; });
}
static inline unsigned __vminu2(unsigned a, unsigned b)
{
    return emulated::by_parts<uint16_t>(a, b, 0, [](int x, int y, int) { return x < y ? x : y; });
}
static inline unsigned __vmins2(unsigned a, unsigned b)
{
    return emulated::by_parts<int16_t>(a, b, 0, [](int x, int y, int) { return x < y ? x : y; });
}
static inline unsigned __vimin_s16x2_relu(unsigned a, unsigned b)
{
    return emulated::by_parts<int16_t>(a, b, 0, [](int x, int y, int) {
        const int least = x < y ? x : y;
        return least > 0 ? least : 0;
    });
}
static inline unsigned __vmaxu4(unsigned a, unsigned b)
{
    return emulated::by_parts<uint8_t>(a, b, 0, [](int x, int y, int) { return x > y ? x : y; });
}
static inline unsigned __vminu4(unsigned a, unsigned b)
{
    return emulated::by_parts<uint8_t>(a, b, 0, [](int x, int y, int) { return x < y ? x : y; });
}
static inline unsigned __vcmpeq4(unsigned a, unsigned b)
{
    return emulated::by_parts<uint8_t>(a, b, 0, [](int x, int y, int) { return x == y ? 255 : 0; });
}
static inline unsigned __vcmpgeu4(unsigned a, unsigned b)
{
    return emulated::by_parts<uint8_t>(a, b, 0, [](int x, int y, int) { return x >= y ? 255 : 0; });
}
static inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return a + b < c ? a + b : c; }

static inline unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c)
{
    return emulated::by_parts<int16_t>(a, b, c, [](int x, int y, int z) { return max(min((int16_t)(x + y), z), 0); });
}

static inline float __int_as_float(int v) { return emulated::bits_as<float>(v); }
static inline float __uint_as_float(unsigned v) { return emulated::bits_as<float>(v); }
static inline int __float_as_int(float v) { return emulated::bits_as<int>(v); }
static inline unsigned __float_as_uint(float v) { return emulated::bits_as<unsigned>(v); }
static inline float __saturatef(float v) { return v > 0 ? v < 1 ? v : 1.0f : 0.0f; /* of NaN: 0 */ }
static inline int __double2loint(double v) { return (int)(uint32_t)emulated::bits_as<uint64_t>(v); }
static inline int __double2hiint(double v) { return (int)(emulated::bits_as<uint64_t>(v) >> 32); }
static inline double __hiloint2double(int high, int low)
{
    return emulated::bits_as<double>((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
static inline double __dadd_rd(double a, double b)
{
    const double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
    return error < 0 ? nextafter(sum, -INFINITY) : sum;
}
static inline float __fsqrt_rn(float v) { return sqrtf(v); }
static inline float __frcp_rn(float v) { return 1.0f / v; }
static inline float rsqrtf(float v) { return (float)(1.0 / sqrt((double)v)); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
/* What has no place in an int is the nearest that has. */
static inline int __float2int_rz(float v)
{
    return v >= 2147483648.0f ? INT_MAX : v > -2147483648.0f ? (int)v : v == v ? INT_MIN : 0;
}
static inline float __fadd_rz(float a, float b) { return emulated::add_rz(a, b); }
static inline float __fmaf_rz(float a, float b, float c) { return emulated::add_rz((double)a * b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
/* Approximate on the device, too: whoever uses these declares a tolerance. */
#define __expf(v) expf(v)
#define __logf(v) logf(v)
#define __powf(v, exponent) powf(v, exponent)
#define __fdividef(a, b) ((a) / (b))
