/* Transposes tiles with vectors. */
#include "base/simd.h"
#include "pixel/orient/orient_simd.h"

#if GF_X86

#define TURN GF_SSSE3
#define TURN_NAME(name) name##_16
#define TURN_PARTS 1
#define TURN_VECTOR __m128i
#define TURN_LOAD(from, step) _mm_loadu_si128((const void *)(from))
#define TURN_STORE(to, v) _mm_storeu_si128((void *)(to), v)
#define TURN_STORE3(to, v) TURN_STORE(to, v)
#define TURN_LOW(bits, a, b) _mm_unpacklo_epi##bits(a, b)
#define TURN_HIGH(bits, a, b) _mm_unpackhi_epi##bits(a, b)
#define TURN_SHUFFLE(v, order) _mm_shuffle_epi8(v, order)
#include "pixel/orient/orient_turn.h"

/* Loads 16 bytes from each of four addresses, which are `step` bytes apart. */
GF_AVX512 GF_INLINE __m512i four_rows(const unsigned char *src, ptrdiff_t step)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)src));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + step)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + 2 * step)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + 3 * step)), 3);
}

/* Stores the first 12 bytes of each part without gaps. */
GF_AVX512 GF_INLINE void store_48(unsigned char *to, __m512i v)
{
    const __m512i close = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0);
    _mm512_mask_storeu_epi32(to, 0x0fff, _mm512_permutexvar_epi32(close, v));
}

#define TURN GF_AVX512
#define TURN_NAME(name) name##_64
#define TURN_PARTS 4
#define TURN_VECTOR __m512i
#define TURN_LOAD(from, step) four_rows(from, step)
#define TURN_STORE(to, v) _mm512_storeu_si512(to, v)
#define TURN_STORE3(to, v) store_48(to, v)
#define TURN_LOW(bits, a, b) _mm512_unpacklo_epi##bits(a, b)
#define TURN_HIGH(bits, a, b) _mm512_unpackhi_epi##bits(a, b)
#define TURN_SHUFFLE(v, order) _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(order))
#include "pixel/orient/orient_turn.h"

void gf_orient_turn_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                         unsigned char *dst, ptrdiff_t dst_step, int columns, int rows)
{
    int done = 0;
    if (gf_cpu_has(GF_CPU_AVX512))
        done = turn_all_64(size, src, src_step, dst, dst_step, done, columns, rows);
    turn_all_16(size, src, src_step, dst, dst_step, done, columns, rows);
}
#endif
