/* Mirrors rows with vectors. */
#include "pixel/orient/orient_simd.h"

#include <stdint.h>

#include "base/simd.h"

#if GF_X86

/* Computes the permutation of a vector of `width` bytes that mirrors its whole pixels, from the
 * upper end downwards. The next vector overwrites the bytes after these pixels. */
static void mirror_order(int width, int size, unsigned char *order)
{
    const int used = width / size * size;
    for (int i = 0; i < width; i++)
        order[i] = (unsigned char)(i < used ? width - size * (i / size + 1) + i % size : 0);
}

GF_SSSE3 static int mirror_16(int size, __m128i shuffle, const unsigned char *end,
                              unsigned char *dst, int count)
{
    const int each = 16 / size, step = each * size;
    int done = 0;
    for (; (count - done) * size >= 16; done += each, end -= step, dst += step) {
        const __m128i pixels = _mm_loadu_si128((const void *)(end - 16));
        _mm_storeu_si128((void *)dst, _mm_shuffle_epi8(pixels, shuffle));
    }
    return done;
}

/* The permutations that mirror a row by vectors. The vectors are aligned to cache lines, and may
 * begin within a pixel. */
struct mirror {
    int size;
    unsigned char whole[64]; /* the permutation of a vector that begins with a whole pixel */
    /* For vectors that begin with byte 0, 1, .. of a pixel. begin: where the input's pixels for the
     * vector begin, relative to their end. order: a permutation of the 64 bytes from there and the
     * last 64 bytes. */
    ptrdiff_t begin[8];
    unsigned char order[8][64];
};

static void mirror_prepare(struct mirror *mirror, int size)
{
    mirror->size = size;
    mirror_order(64, size, mirror->whole);
    for (int phase = 0; phase < size; phase++) {
        const int bytes = ((phase + 63) / size + 1) * size;
        mirror->begin[phase] = -bytes;
        for (int i = 0; i < 64; i++) {
            const int from = bytes - size * ((phase + i) / size + 1) + (phase + i) % size;
            mirror->order[phase][i] = (unsigned char)(from < 64 ? from : from - bytes + 128);
        }
    }
}

/* Mirrors pixels first .. last - 1 of the result; a vector holds `each` pixels. */
GF_VBMI static void mirror_some(const struct mirror *mirror, const unsigned char *end,
                                unsigned char *dst, int first, int last)
{
    const int size = mirror->size, each = 64 / size;
    const __m512i order = _mm512_loadu_si512(mirror->whole);
    for (int x = first; x < last; x += each) {
        const int bytes = (last - x < each ? last - x : each) * size;
        const __mmask64 low = ~UINT64_C(0) >> (64 - bytes);
        const unsigned char *const from = end - (ptrdiff_t)x * size - 64;
        const __m512i pixels = _mm512_maskz_loadu_epi8(low << (64 - bytes), from);
        _mm512_mask_storeu_epi8(dst + (ptrdiff_t)x * size, low,
                                _mm512_permutexvar_epi8(order, pixels));
    }
}

/* Mirrors a row. `parts` says that pixels can cross the ends of vectors; each caller passes a
 * constant. */
GF_VBMI GF_INLINE void mirror_64(const struct mirror *mirror, const bool parts,
                                 const unsigned char *end, unsigned char *dst, int count)
{
    enum { TURNS = 3 };
    const int size = mirror->size;
    const ptrdiff_t bytes = (ptrdiff_t)count * size;
    ptrdiff_t at = (ptrdiff_t)(-(uintptr_t)dst % 64);
    mirror_some(mirror, end, dst, 0, at < bytes ? (int)((at + size - 1) / size) : count);
    const unsigned char *behind[TURNS];
    __m512i order[TURNS];
    ptrdiff_t begin[TURNS];
    for (int i = 0; i < TURNS; i++) {
        const ptrdiff_t phase = (at + 64 * i) % size;
        order[i] = _mm512_loadu_si512(mirror->order[parts ? phase : 0]);
        begin[i] = mirror->begin[parts ? phase : 0];
        behind[i] = end - (at + 64 * i - phase);
    }
    for (; at + 64 * TURNS <= bytes; at += 64 * TURNS) {
        for (int i = 0; i < TURNS; i++, behind[i - 1] -= 64 * TURNS) {
            const __m512i low = _mm512_loadu_si512(behind[i] + begin[i]);
            const __m512i high = parts ? _mm512_loadu_si512(behind[i] - 64) : low;
            _mm512_store_si512(dst + at + 64 * i, _mm512_permutex2var_epi8(low, order[i], high));
        }
    }
    mirror_some(mirror, end, dst, (int)(at / size), count);
}

GF_VBMI static void mirror_rows_64(int size, const unsigned char *src, ptrdiff_t src_step,
                                   unsigned char *dst, ptrdiff_t dst_step, int count, int rows)
{
    struct mirror mirror;
    mirror_prepare(&mirror, size);
    for (int y = 0; y < rows; y++, src += src_step, dst += dst_step) {
        if (64 % size || (uintptr_t)dst % (uintptr_t)size)
            mirror_64(&mirror, true, src + (ptrdiff_t)count * size, dst, count);
        else
            mirror_64(&mirror, false, src + (ptrdiff_t)count * size, dst, count);
    }
}

GF_SSSE3 static int mirror_rows_16(int size, const unsigned char *src, ptrdiff_t src_step,
                                   unsigned char *dst, ptrdiff_t dst_step, int count, int rows)
{
    unsigned char order[16];
    int done = 0;
    mirror_order(16, size, order);
    for (int y = 0; y < rows; y++, src += src_step, dst += dst_step)
        done = mirror_16(size, _mm_loadu_si128((const void *)order), src + (ptrdiff_t)count * size,
                         dst, count);
    return done;
}

int gf_orient_mirror_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                          unsigned char *dst, ptrdiff_t dst_step, int count, int rows)
{
    if (!gf_cpu_has(GF_CPU_VBMI))
        return mirror_rows_16((int)size, src, src_step, dst, dst_step, count, rows);
    mirror_rows_64((int)size, src, src_step, dst, dst_step, count, rows);
    return count;
}
#endif
