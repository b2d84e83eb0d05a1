/* Vectors of one width, for code that is written once for all widths. Such code lies in a file that
 * is included once for each width; it includes this file at its beginning. Before each inclusion
 * define VEC_BYTES: 64 for GF_CPU_VBMI, 32 for GF_CPU_AVX2, and 16 for GF_CPU_SSSE3 and for all
 * processors that are not x86. VEC_WIDE_TARGET may be defined as GF_VNNI for code that permutes no
 * bytes, or as GF_AVX512 for code that does not multiply them either. With VEC_PLAIN, nothing needs
 * more than the compiler's vectors. The file that includes this one undefines VEC_BYTES at its end.
 *
 * V(name) is the name of a type or function for this width, and VEC declares a function that is
 * inlined; functions that are called from outside are declared VEC_TARGET. Vectors are the
 * compiler's: operators work on them, casts keep their bits, and __builtin_convertvector() converts
 * their numbers. */

#include <string.h>

#include "base/simd.h"

#undef VEC_TARGET
#undef VEC_PERMUTES
#undef VEC_PRODUCTS
#undef VEC_X86
#ifdef VEC_PLAIN
#define VEC_X86 0
#else
#define VEC_X86 GF_X86
#endif
#ifndef VEC
#define VEC VEC_TARGET GF_INLINE
#define VEC_WIDE (VEC_X86 && VEC_BYTES == 64)
#define VEC_AVX2 (VEC_X86 && VEC_BYTES == 32)
#define VEC_SSSE3 (VEC_X86 && VEC_BYTES == 16)
#if defined(__aarch64__) && !defined(VEC_PLAIN)
#include <arm_neon.h>
#define VEC_NEON (VEC_BYTES == 16)
#else
#define VEC_NEON 0
#endif
#define VEC_NAMED(name, bytes) name##_##bytes
#define VEC_NAME(name, bytes) VEC_NAMED(name, bytes)
#define V(name) VEC_NAME(name, VEC_BYTES)
/* A group is the bytes among which one permutation can select: VEC_GROUP bytes, VEC_GROUPS times in
 * a vector. */
#define VEC_GROUP (VEC_BYTES == 64 ? 64 : 16)
#define VEC_GROUPS (VEC_BYTES / VEC_GROUP)
#define VEC_INTS (VEC_BYTES / 4)
#define VEC_LONGS (VEC_BYTES / 8)
#endif

#if VEC_WIDE
#ifndef VEC_WIDE_TARGET
#define VEC_WIDE_TARGET GF_VBMI
#endif
#define VEC_TARGET VEC_WIDE_TARGET
#define VEC_PERMUTES GF_VBMI GF_INLINE
#define VEC_PRODUCTS GF_VNNI GF_INLINE
#elif VEC_AVX2
#define VEC_TARGET GF_AVX2
#elif VEC_SSSE3
#define VEC_TARGET GF_SSSE3
#else
#define VEC_TARGET
#endif
#ifndef VEC_PERMUTES
#define VEC_PERMUTES VEC
#define VEC_PRODUCTS VEC
#endif

typedef uint8_t V(bytes) __attribute__((vector_size(VEC_BYTES)));
typedef uint16_t V(words) __attribute__((vector_size(VEC_BYTES)));
typedef int32_t V(ints) __attribute__((vector_size(VEC_BYTES)));
typedef float V(floats) __attribute__((vector_size(VEC_BYTES)));
typedef int64_t V(longs) __attribute__((vector_size(VEC_BYTES)));
typedef double V(doubles) __attribute__((vector_size(VEC_BYTES)));
typedef uint16_t V(half_words) __attribute__((vector_size(VEC_BYTES / 2)));

VEC V(bytes) V(load)(const void *from)
{
    V(bytes) v;
    memcpy(&v, from, sizeof v);
    return v;
}

VEC V(floats) V(load_floats)(const float *from)
{
    return (V(floats))V(load)(from);
}

VEC void V(store)(void *to, V(bytes) v)
{
    memcpy(to, &v, sizeof v);
}

VEC void V(store_floats)(float *to, V(floats) v)
{
    V(store)(to, (V(bytes))v);
}

/* Loads the first `count` bytes, at most VEC_BYTES, and fills the vector with zeros. */
VEC V(bytes) V(load_first)(const void *from, size_t count)
{
#if VEC_WIDE
    return (V(bytes))_mm512_maskz_loadu_epi8(gf_first_bits(count), from);
#else
    V(bytes) v = {0};
    memcpy(&v, from, count < VEC_BYTES ? count : VEC_BYTES);
    return v;
#endif
}

/* Stores the first `count` bytes of the vector, at most VEC_BYTES. */
VEC void V(store_first)(void *to, size_t count, V(bytes) v)
{
#if VEC_WIDE
    _mm512_mask_storeu_epi8(to, gf_first_bits(count), (__m512i)v);
#else
    memcpy(to, &v, count < VEC_BYTES ? count : VEC_BYTES);
#endif
}

/* Loads one group of VEC_GROUP bytes from each from + offset[i]. */
VEC V(bytes) V(load_groups)(const uint8_t *from, const int *offset)
{
#if VEC_WIDE
    return V(load)(from + offset[0]);
#elif VEC_AVX2
    return (V(bytes))_mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const void *)(from + offset[0]))),
        _mm_loadu_si128((const void *)(from + offset[1])), 1);
#else
    V(bytes) v;
    for (int i = 0; i < VEC_GROUPS; i++)
        memcpy((uint8_t *)&v + VEC_GROUP * i, from + offset[i], VEC_GROUP);
    return v;
#endif
}

/* Does what V(load_groups)() does, but reads no more than the first `count` bytes after `from`;
 * zeros stand for the rest. */
VEC V(bytes) V(load_first_groups)(const uint8_t *from, const int *offset, size_t count)
{
#if VEC_WIDE
    return V(load_first)(from + offset[0], count);
#else
    uint8_t some[2 * VEC_BYTES] = {0};
    memcpy(some, from, count < 2 * VEC_BYTES ? count : 2 * VEC_BYTES);
    return V(load_groups)(some, offset);
#endif
}

/* Selects within each group: byte i of the result is byte order[i] of v. order[i] must be less than
 * VEC_GROUP, or 255 for a zero, which is not allowed in groups of 64. */
VEC_PERMUTES V(bytes) V(permute)(V(bytes) v, V(bytes) order)
{
#if VEC_WIDE
    return (V(bytes))_mm512_permutexvar_epi8((__m512i)order, (__m512i)v);
#elif VEC_AVX2
    return (V(bytes))_mm256_shuffle_epi8((__m256i)v, (__m256i)order);
#elif VEC_SSSE3
    return (V(bytes))_mm_shuffle_epi8((__m128i)v, (__m128i)order);
#elif VEC_NEON
    return (V(bytes))vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)order);
#else
    V(bytes) to;
    for (int i = 0; i < VEC_BYTES; i++)
        to[i] = order[i] < VEC_GROUP ? v[i / VEC_GROUP * VEC_GROUP + order[i]] : 0;
    return to;
#endif
}

/* Prepares V(select)(): integer i of its result is byte order[i] of a group, extended by zeros. */
VEC V(ints) V(selection)(const uint8_t *order)
{
#if VEC_WIDE
    return (V(ints))_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)order));
#else
    V(ints) v;
    for (int i = 0; i < VEC_INTS; i++)
        v[i] = order[i] | ~255;
    return v;
#endif
}

VEC_PERMUTES V(ints) V(select)(V(bytes) v, V(ints) selection)
{
#if VEC_WIDE
    return (V(ints))_mm512_maskz_permutexvar_epi8(0x1111111111111111, (__m512i)selection,
                                                  (__m512i)v);
#else
    return (V(ints))V(permute)(v, (V(bytes))selection);
#endif
}

/* Clamps each number to 0..most. NaN becomes 0. */
VEC V(floats) V(clamp)(V(floats) v, float most)
{
    const V(floats) none = {0}, all = none + most;
#if VEC_WIDE
    return (V(floats))_mm512_min_ps(_mm512_max_ps((__m512)v, (__m512)none), (__m512)all);
#elif VEC_AVX2
    return (V(floats))_mm256_min_ps(_mm256_max_ps((__m256)v, (__m256)none), (__m256)all);
#else
    const V(floats) positive = (V(floats))((V(ints))v & (v > none));
    const V(ints) over = positive > all;
    return (V(floats))(((V(ints))all & over) | ((V(ints))positive & ~over));
#endif
}

/* Returns a b + c, which may be rounded once or twice. */
VEC V(floats) V(add_product)(V(floats) a, V(floats) b, V(floats) c)
{
#if VEC_WIDE
    return (V(floats))_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif VEC_AVX2
    return (V(floats))_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

/* Packs four vectors of integers, in order, to one of bytes, with saturation to 0..255. */
VEC V(bytes) V(pack)(const V(ints) from[4])
{
#if VEC_WIDE
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i low = _mm512_packs_epi32((__m512i)from[0], (__m512i)from[1]);
    const __m512i high = _mm512_packs_epi32((__m512i)from[2], (__m512i)from[3]);
    return (V(bytes))_mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
#elif VEC_AVX2
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i low = _mm256_packs_epi32((__m256i)from[0], (__m256i)from[1]);
    const __m256i high = _mm256_packs_epi32((__m256i)from[2], (__m256i)from[3]);
    return (V(bytes))_mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
#elif VEC_SSSE3
    return (V(bytes))_mm_packus_epi16(_mm_packs_epi32((__m128i)from[0], (__m128i)from[1]),
                                      _mm_packs_epi32((__m128i)from[2], (__m128i)from[3]));
#else
    V(bytes) to;
    for (int i = 0; i < VEC_BYTES; i++) {
        const int v = from[i / VEC_INTS][i % VEC_INTS];
        to[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
    return to;
#endif
}

/* Packs two vectors of words below 32768, in order, to one of bytes, with saturation to 255. */
VEC V(bytes) V(pack_words)(V(words) low, V(words) high)
{
#if VEC_WIDE
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return (V(bytes))_mm512_permutexvar_epi64(order,
                                              _mm512_packus_epi16((__m512i)low, (__m512i)high));
#elif VEC_AVX2
    const __m256i packed = _mm256_packus_epi16((__m256i)low, (__m256i)high);
    return (V(bytes))_mm256_permute4x64_epi64(packed, 0xD8);
#elif VEC_SSSE3
    return (V(bytes))_mm_packus_epi16((__m128i)low, (__m128i)high);
#else
    V(bytes) to;
    for (int i = 0; i < VEC_BYTES; i++) {
        const int v = i < VEC_BYTES / 2 ? low[i] : high[i - VEC_BYTES / 2];
        to[i] = (uint8_t)(v > 255 ? 255 : v);
    }
    return to;
#endif
}

/* Returns the sums of bytes 0 and 1, 2 and 3, and so on, as words. */
VEC V(words) V(add_pairs)(V(bytes) v)
{
#if VEC_WIDE
    return (V(words))_mm512_maddubs_epi16((__m512i)v, _mm512_set1_epi8(1));
#elif VEC_AVX2
    return (V(words))_mm256_maddubs_epi16((__m256i)v, _mm256_set1_epi8(1));
#else
    return ((V(words))v & 255) + ((V(words))v >> 8);
#endif
}

/* A table of 256 bytes, for V(look_up)(). With permutations of 64 bytes it is 4 vectors, otherwise
 * 16 parts of 16 bytes. On x86 such a part is stored XOR the part before it in the same half of the
 * table, since V(look_up_half)() XORs parts. */
struct V(table) {
    V(bytes) part[256 / VEC_GROUP];
};

VEC struct V(table) V(load_table)(const uint8_t *from)
{
    struct V(table) table;
    for (int k = 0; k < 256 / VEC_GROUP; k++) {
#if VEC_WIDE
        table.part[k] = V(load)(from + VEC_GROUP * k);
#else
        const bool adds = (VEC_AVX2 || VEC_SSSE3) && k % 8;
        uint8_t part[VEC_BYTES];
        for (int i = 0; i < VEC_BYTES; i++) {
            const int at = VEC_GROUP * k + i % VEC_GROUP;
            part[i] = from[at] ^ (adds ? from[at - VEC_GROUP] : 0);
        }
        table.part[k] = V(load)(part);
#endif
    }
    return table;
}

#if VEC_AVX2 || VEC_SSSE3
/* Looks up bytes below 128 in eight parts of 16 bytes: the XOR of entry v % 16 of the parts 0 to v
 * / 16 is the table's entry. Step k subtracts 16 k with saturation; vpshufb makes zeros of negative
 * bytes, and so of those from 128 on. */
VEC V(bytes) V(look_up_half)(const V(bytes) * part, V(bytes) v)
{
    V(bytes) to = V(permute)(part[0], v);
    for (int k = 1; k < 8; k++) {
#if VEC_AVX2
        v = (V(bytes))_mm256_subs_epi8((__m256i)v, _mm256_set1_epi8(16));
#else
        v = (V(bytes))_mm_subs_epi8((__m128i)v, _mm_set1_epi8(16));
#endif
        to ^= V(permute)(part[k], v);
    }
    return to;
}
#endif

/* Replaces each byte by its entry in the table. */
VEC_PERMUTES V(bytes) V(look_up)(const struct V(table) * table, V(bytes) v)
{
#if VEC_WIDE
    const V(bytes) *const part = table->part;
    const __m512i low = _mm512_permutex2var_epi8((__m512i)part[0], (__m512i)v, (__m512i)part[1]);
    const __m512i high = _mm512_permutex2var_epi8((__m512i)part[2], (__m512i)v, (__m512i)part[3]);
    return (V(bytes))_mm512_mask_mov_epi8(low, _mm512_movepi8_mask((__m512i)v), high);
#elif VEC_AVX2 || VEC_SSSE3
    return V(look_up_half)(table->part, v) | V(look_up_half)(table->part + 8, v ^ 128);
#else
    V(bytes) to;
    for (int i = 0; i < VEC_BYTES; i++)
        to[i] = table->part[v[i] / VEC_GROUP][v[i] % VEC_GROUP];
    return to;
#endif
}

/* Adds to each integer the sum of its four bytes of v times the four signed bytes of weights. The
 * products of bytes 0 and 1 must have a sum within -32768..32767, and so must those of 2 and 3. */
VEC_PRODUCTS V(ints) V(add_products)(V(ints) sum, V(bytes) v, V(bytes) weights)
{
#if VEC_WIDE
    return (V(ints))_mm512_dpbusd_epi32((__m512i)sum, (__m512i)v, (__m512i)weights);
#elif VEC_AVX2
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)v, (__m256i)weights);
    return sum + (V(ints))_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#elif VEC_SSSE3
    const __m128i pairs = _mm_maddubs_epi16((__m128i)v, (__m128i)weights);
    return sum + (V(ints))_mm_madd_epi16(pairs, _mm_set1_epi16(1));
#else
    for (int k = 0; k < 32; k += 8)
        sum += ((V(ints))v >> k & 255) * ((V(ints))weights << (24 - k) >> 24);
    return sum;
#endif
}

/* Returns a mask whose bit i is set if byte i of a and b differ. */
VEC uint64_t V(differ)(V(bytes) a, V(bytes) b)
{
#if VEC_WIDE
    return _mm512_cmpneq_epi8_mask((__m512i)a, (__m512i)b);
#elif VEC_AVX2
    return ~(uint32_t)_mm256_movemask_epi8((__m256i)(a == b));
#else
    uint64_t mask = 0;
    for (int i = 0; i < VEC_BYTES; i++)
        mask |= (uint64_t)(a[i] != b[i]) << i;
    return mask;
#endif
}

/* Interleaves four vectors of bytes: byte 0 of each of from[0] to from[3], then byte 1 of each, and
 * so on. */
VEC void V(interleave)(const V(bytes) from[4], V(bytes) to[4])
{
#if VEC_WIDE
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i v[4];
    for (int i = 0; i < 4; i++)
        v[i] = _mm512_permutexvar_epi32(order, (__m512i)from[i]);
    const __m512i upper0 = _mm512_unpacklo_epi8(v[0], v[1]);
    const __m512i upper1 = _mm512_unpackhi_epi8(v[0], v[1]);
    const __m512i lower0 = _mm512_unpacklo_epi8(v[2], v[3]);
    const __m512i lower1 = _mm512_unpackhi_epi8(v[2], v[3]);
    to[0] = (V(bytes))_mm512_unpacklo_epi16(upper0, lower0);
    to[1] = (V(bytes))_mm512_unpackhi_epi16(upper0, lower0);
    to[2] = (V(bytes))_mm512_unpacklo_epi16(upper1, lower1);
    to[3] = (V(bytes))_mm512_unpackhi_epi16(upper1, lower1);
#elif VEC_AVX2
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    __m256i v[4];
    for (int i = 0; i < 4; i++)
        v[i] = _mm256_permutevar8x32_epi32((__m256i)from[i], order);
    const __m256i upper0 = _mm256_unpacklo_epi8(v[0], v[1]);
    const __m256i upper1 = _mm256_unpackhi_epi8(v[0], v[1]);
    const __m256i lower0 = _mm256_unpacklo_epi8(v[2], v[3]);
    const __m256i lower1 = _mm256_unpackhi_epi8(v[2], v[3]);
    to[0] = (V(bytes))_mm256_unpacklo_epi16(upper0, lower0);
    to[1] = (V(bytes))_mm256_unpackhi_epi16(upper0, lower0);
    to[2] = (V(bytes))_mm256_unpacklo_epi16(upper1, lower1);
    to[3] = (V(bytes))_mm256_unpackhi_epi16(upper1, lower1);
#else
    for (int i = 0; i < 4 * VEC_BYTES; i++)
        to[i / VEC_BYTES][i % VEC_BYTES] = from[i % 4][i / 4];
#endif
}

/* Adds to each word the sum of its two bytes of v times the two signed bytes of weights. The sum of
 * the two products must be within -32768..32767. */
VEC V(words) V(add_short_products)(V(words) sum, V(bytes) v, V(bytes) weights)
{
#if VEC_AVX2
    return sum + (V(words))_mm256_maddubs_epi16((__m256i)v, (__m256i)weights);
#else
    for (int k = 0; k < 16; k += 8)
        sum += ((V(words))v >> k & 255) * ((((V(words))weights >> k & 255) ^ 128) - 128);
    return sum;
#endif
}

/* Adds to integer i the words 2 i and 2 i + 1 of v, which are signed. */
VEC V(ints) V(add_words)(V(ints) sum, V(words) v)
{
#if VEC_AVX2
    return sum + (V(ints))_mm256_madd_epi16((__m256i)v, _mm256_set1_epi16(1));
#else
    return sum + ((V(ints))v << 16 >> 16) + ((V(ints))v >> 16);
#endif
}

/* Stores the lower 16 bits of each integer. */
VEC void V(store_narrow)(uint16_t *to, V(ints) v)
{
#if VEC_WIDE
    _mm256_storeu_si256((void *)to, _mm512_cvtepi32_epi16((__m512i)v));
#else
    const V(half_words) words = __builtin_convertvector(v, V(half_words));
    memcpy(to, &words, sizeof words);
#endif
}

/* Returns the upper 32 bits of each number of `first`, then of `second`. */
VEC V(ints) V(upper_halves)(V(longs) first, V(longs) second)
{
#if VEC_WIDE
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return (V(ints))_mm512_permutex2var_epi32((__m512i)first, odd, (__m512i)second);
#elif VEC_AVX2
    const __m256 odd = _mm256_shuffle_ps((__m256)first, (__m256)second, 0xDD);
    return (V(ints))_mm256_permute4x64_epi64((__m256i)odd, 0xD8);
#else
    V(ints) to;
    for (int i = 0; i < VEC_INTS; i++)
        to[i] = (int32_t)((i < VEC_LONGS ? first[i] : second[i - VEC_LONGS]) >> 32);
    return to;
#endif
}

/* Returns a mask whose bit i is set if the lower 32 bits of number i are less than `limit`. */
VEC unsigned V(are_below)(V(longs) v, uint32_t limit)
{
    const V(longs) lower = v & 0xffffffff;
#if VEC_WIDE
    return _mm512_cmplt_epi64_mask((__m512i)lower, _mm512_set1_epi64(limit));
#elif VEC_AVX2
    return (unsigned)_mm256_movemask_pd((__m256d)(lower - limit));
#else
    unsigned mask = 0;
    for (int i = 0; i < VEC_LONGS; i++)
        mask |= (unsigned)(lower[i] < limit) << i;
    return mask;
#endif
}
