/* Computes means of 2 x 2, 4 x 4 or 8 x 8 pixels of 8 bits in integers. The weights of the area
 * kernel are powers of two in this case, so that its float sums are exact, too, and only the result
 * is rounded. */
#include "base/simd.h"
#include "pixel/resample/resample.h"
#include "pixel/stencil.h"

#if GF_X86

/* Adds neighbouring sums of `count` pixels in place: two vectors become one vector. Returns the
 * number of pixels that whole vectors computed. */
GF_AVX512 static int halve_simd(uint16_t *sums, int count, int channels)
{
    const int each = 32 / channels, step = each * channels;
    uint16_t order[32] = {0};
    for (int i = 0; i < step; i++)
        order[i] = (uint16_t)(2 * channels * (i / channels) + i % channels);
    const __m512i even = _mm512_loadu_si512(order);
    const __m512i odd = _mm512_add_epi16(even, _mm512_set1_epi16((short)channels));
    int done = 0;
    for (; 2 * (count - done) * channels >= 64; done += each) {
        const uint16_t *const from = sums + (ptrdiff_t)2 * done * channels;
        const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 32);
        const __m512i sum = _mm512_add_epi16(_mm512_permutex2var_epi16(low, even, high),
                                             _mm512_permutex2var_epi16(low, odd, high));
        /* This store overwrites only sums that have been read. */
        _mm512_storeu_si512(sums + (ptrdiff_t)done * channels, sum);
    }
    return done;
}

/* Returns the means of two pixels in each of two rows, with 16 bits each. The bytes of the two
 * pixels are neighbours. */
GF_VBMI GF_INLINE __m512i means_of_pairs(__m512i above, __m512i below)
{
    const __m512i ones = _mm512_set1_epi8(1);
    const __m512i sum =
        _mm512_add_epi16(_mm512_maddubs_epi16(above, ones), _mm512_maddubs_epi16(below, ones));
    return _mm512_srli_epi16(_mm512_add_epi16(sum, _mm512_set1_epi16(2)), 2);
}

/* Halves a gray row once. The pixels to add are neighbouring bytes. */
GF_VBMI static void halve_once_gray(const unsigned char *a, const unsigned char *b, int count,
                                    unsigned char *row)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    int x = 0;
    for (; x + 64 <= count; x += 64) {
        const __m512i low =
            means_of_pairs(_mm512_loadu_si512(a + 2 * x), _mm512_loadu_si512(b + 2 * x));
        const __m512i high =
            means_of_pairs(_mm512_loadu_si512(a + 2 * x + 64), _mm512_loadu_si512(b + 2 * x + 64));
        _mm512_storeu_si512(row + x,
                            _mm512_permutexvar_epi64(order, _mm512_packus_epi16(low, high)));
    }
    for (; x < count; x += 32) {
        const __mmask64 read = gf_first_bits(2 * (uint64_t)(count - x));
        const __m512i mean = means_of_pairs(_mm512_maskz_loadu_epi8(read, a + 2 * x),
                                            _mm512_maskz_loadu_epi8(read, b + 2 * x));
        _mm512_mask_storeu_epi8(row + x, gf_first_bits((uint64_t)(count - x)) & 0xffffffff,
                                _mm512_castsi256_si512(_mm512_cvtepi16_epi8(mean)));
    }
}

/* Halves a row of several channels once. A permutation makes the bytes to add neighbours. */
GF_VBMI static void halve_once_colour(const unsigned char *a, const unsigned char *b, int count,
                                      int channels, unsigned char *row)
{
    const ptrdiff_t each = 32 / channels * channels, samples = (ptrdiff_t)count * channels;
    unsigned char order[64] = {0};
    for (int i = 0; i < each; i++) {
        const int left = 2 * i - i % channels;
        order[2 * i] = (unsigned char)left;
        order[2 * i + 1] = (unsigned char)(left + channels);
    }
    const __m512i pairs = _mm512_loadu_si512(order);
    ptrdiff_t i = 0;
    for (; samples - i >= 32; i += each) {
        const __m512i above = _mm512_permutexvar_epi8(pairs, _mm512_loadu_si512(a + 2 * i));
        const __m512i below = _mm512_permutexvar_epi8(pairs, _mm512_loadu_si512(b + 2 * i));
        _mm256_storeu_si256((void *)(row + i), _mm512_cvtepi16_epi8(means_of_pairs(above, below)));
    }
    for (; i < samples; i += each) {
        const __mmask64 read = gf_first_bits(2 * (uint64_t)(samples - i));
        const __m512i above =
            _mm512_permutexvar_epi8(pairs, _mm512_maskz_loadu_epi8(read, a + 2 * i));
        const __m512i below =
            _mm512_permutexvar_epi8(pairs, _mm512_maskz_loadu_epi8(read, b + 2 * i));
        _mm512_mask_storeu_epi8(
            row + i, gf_first_bits((uint64_t)(samples - i)) & gf_first_bits((uint64_t)each),
            _mm512_castsi256_si512(_mm512_cvtepi16_epi8(means_of_pairs(above, below))));
    }
}

static void halve_once(const unsigned char *a, const unsigned char *b, int count, int channels,
                       unsigned char *row)
{
    if (channels == 1)
        halve_once_gray(a, b, count, row);
    else
        halve_once_colour(a, b, count, channels, row);
}
#endif

/* Adds the sums of pixels 2 i and 2 i + 1 for `count` results. */
static void halve(uint16_t *sums, int count, int channels)
{
    int x = 0;
#if GF_X86
    if (gf_cpu_has(GF_CPU_AVX512))
        x = halve_simd(sums, count, channels);
#endif
    for (; x < count; x++) {
        for (int c = 0; c < channels; c++) {
            const uint16_t *const from = sums + (ptrdiff_t)2 * x * channels + c;
            sums[(ptrdiff_t)x * channels + c] = (uint16_t)(from[0] + from[channels]);
        }
    }
}

GF_TARGET_CLONES static void begin_sums(const unsigned char *restrict a,
                                        const unsigned char *restrict b, size_t count,
                                        uint16_t *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = (uint16_t)(a[i] + b[i]);
}

GF_TARGET_CLONES static void add_rows(const unsigned char *restrict a,
                                      const unsigned char *restrict b, size_t count,
                                      uint16_t *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = (uint16_t)(sums[i] + a[i] + b[i]);
}

GF_TARGET_CLONES static void finish(const uint16_t *restrict sums, int bits, size_t count,
                                    unsigned char *restrict row)
{
    const uint16_t half = (uint16_t)(1u << (bits - 1));
    for (size_t i = 0; i < count; i++)
        row[i] = (unsigned char)((uint16_t)(sums[i] + half) >> bits);
}

static int halvings_of(const struct gf_resample_axis *axis)
{
    for (int n = 1; n <= 3; n++) {
        if (axis->scale == 1 << n && axis->offset == 0 && axis->in == axis->out << n)
            return n;
    }
    return 0;
}

int gf_resample_halvings(const struct gf_resample *resample, struct gf_format format)
{
    const int n = halvings_of(&resample->column_axis);
    const bool takes = resample->kernel == GF_RESAMPLE_AREA && !resample->linear &&
                       format.bits == 8 && n == halvings_of(&resample->row_axis);
    return takes ? n : 0;
}

void gf_resample_halve(int halvings, const struct gf_view *in, const struct gf_view *out,
                       uint16_t *sums)
{
    const size_t samples = gf_samples(in->format);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const int first = y << halvings;
#if GF_X86
        if (halvings == 1 && gf_cpu_has(GF_CPU_VBMI)) {
            halve_once(gf_view_row(in, first), gf_view_row(in, first + 1), out->format.width,
                       out->format.channels, gf_view_row(out, y));
            continue;
        }
#endif
        begin_sums(gf_view_row(in, first), gf_view_row(in, first + 1), samples, sums);
        for (int i = 2; i < 1 << halvings; i += 2)
            add_rows(gf_view_row(in, first + i), gf_view_row(in, first + i + 1), samples, sums);
        for (int n = 1; n <= halvings; n++)
            halve(sums, in->format.width >> n, in->format.channels);
        finish(sums, 2 * halvings, gf_samples(out->format), gf_view_row(out, y));
    }
}
