/* Means of 2 x 2, 4 x 4 or 8 x 8 pixels of 8 bits in whole numbers. The weights of the area kernel
 * are powers of two there, so that its floats round nothing but the result either. */
#include "base/cpu.h"
#include "base/target_clones.h"
#include "pixel/resample.h"
#include "pixel/stencil.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_SIMD 1

/* Of sums of `count` pixels, in place: whole vectors of as many results as both halves hold.
 * Returns how many pixels are made. */
__attribute__((target("avx512f,avx512bw"))) static int halve_simd(uint16_t *sums, int count,
                                                                  int channels)
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
        /* What is written behind the results has been read. */
        _mm512_storeu_si512(sums + (ptrdiff_t)done * channels, sum);
    }
    return done;
}

static bool has_vbmi(void)
{
    return gf_cpu_intrinsics_allowed() && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi");
}

/* Whole vectors of one halving: what is added lies side by side after a permutation of the bytes.
 * Returns how many pixels are made. */
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) static int
halve_once_simd(const unsigned char *a, const unsigned char *b, int count, int channels,
                unsigned char *row)
{
    const int each = 32 / channels;
    unsigned char order[64] = {0};
    for (int i = 0; i < each * channels; i++) {
        const int left = 2 * i - i % channels;
        order[2 * i] = (unsigned char)left;
        order[2 * i + 1] = (unsigned char)(left + channels);
    }
    const __m512i pairs = _mm512_loadu_si512(order), ones = _mm512_set1_epi8(1);
    int done = 0;
    for (; (count - done) * channels >= 32; done += each) {
        const ptrdiff_t at = (ptrdiff_t)2 * done * channels;
        const __m512i above = _mm512_permutexvar_epi8(pairs, _mm512_loadu_si512(a + at));
        const __m512i below = _mm512_permutexvar_epi8(pairs, _mm512_loadu_si512(b + at));
        const __m512i sum =
            _mm512_add_epi16(_mm512_maddubs_epi16(above, ones), _mm512_maddubs_epi16(below, ones));
        const __m512i mean = _mm512_srli_epi16(_mm512_add_epi16(sum, _mm512_set1_epi16(2)), 2);
        _mm256_storeu_si256((void *)(row + (ptrdiff_t)done * channels), _mm512_cvtepi16_epi8(mean));
    }
    return done;
}
#else
#define HAS_SIMD 0
static bool has_vbmi(void)
{
    return false;
}

static int halve_once_simd(const unsigned char *a, const unsigned char *b, int count, int channels,
                           unsigned char *row)
{
    (void)a, (void)b, (void)count, (void)channels, (void)row;
    return 0;
}

static int halve_simd(uint16_t *sums, int count, int channels)
{
    (void)sums, (void)count, (void)channels;
    return 0;
}
#endif

/* sums[i] of `count` pixels become those of 2 i and 2 i + 1. */
static void halve(uint16_t *sums, int count, int channels)
{
    int x = 0;
#if HAS_SIMD
    if (gf_cpu_intrinsics_allowed() && __builtin_cpu_supports("avx512bw"))
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

/* One halving: `count` pixels of two rows. */
static void halve_once(const unsigned char *a, const unsigned char *b, int count, int channels,
                       unsigned char *row)
{
    const ptrdiff_t done = (ptrdiff_t)halve_once_simd(a, b, count, channels, row) * channels;
    for (ptrdiff_t i = done; i < (ptrdiff_t)count * channels; i++) {
        const ptrdiff_t left = 2 * i - i % channels, right = left + channels;
        row[i] = (unsigned char)((a[left] + a[right] + b[left] + b[right] + 2) >> 2);
    }
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
        if (halvings == 1 && has_vbmi()) {
            halve_once(gf_view_row(in, first), gf_view_row(in, first + 1), out->format.width,
                       out->format.channels, gf_view_row(out, y));
            continue;
        }
        begin_sums(gf_view_row(in, first), gf_view_row(in, first + 1), samples, sums);
        for (int i = 2; i < 1 << halvings; i += 2)
            add_rows(gf_view_row(in, first + i), gf_view_row(in, first + i + 1), samples, sums);
        for (int n = 1; n <= halvings; n++)
            halve(sums, in->format.width >> n, in->format.channels);
        finish(sums, 2 * halvings, gf_samples(out->format), gf_view_row(out, y));
    }
}
