/* RGB pixels of 8 bits to planes of floats and back, eight at a time: compilers make no vectors of
 * loops in steps of three bytes. */
#include "base/cpu.h"
#include "pixel/point_planes.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define GF_AVX2 __attribute__((target("avx2")))

/* Eight pixels are read or written as four and four, 16 bytes each, of which 12 count: so two more
 * pixels must follow. */
enum { GROUP = 8, REACH = 10 };

static bool has_avx2(void)
{
    return gf_cpu_intrinsics_allowed() && __builtin_cpu_supports("avx2");
}

GF_AVX2 static int split(const uint8_t *in, int n, struct gf_planes *p)
{
    const __m256i red =
        _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1, 0, -1, -1, -1,
                         3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1);
    const __m256i one = _mm256_setr_epi8(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
                                         1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    const __m256i green = _mm256_add_epi8(red, one), blue = _mm256_add_epi8(green, one);
    int i = 0;
    for (; i + REACH <= n; i += GROUP) {
        const __m128i low = _mm_loadu_si128((const __m128i *)(in + 3 * i));
        const __m128i high = _mm_loadu_si128((const __m128i *)(in + 3 * i + 12));
        const __m256i v = _mm256_set_m128i(high, low);
        _mm256_storeu_ps(p->colour[0] + i, _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, red)));
        _mm256_storeu_ps(p->colour[1] + i, _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, green)));
        _mm256_storeu_ps(p->colour[2] + i, _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, blue)));
    }
    return i;
}

GF_AVX2 static __m256i rounded(const float *v)
{
    return _mm256_cvttps_epi32(_mm256_add_ps(_mm256_loadu_ps(v), _mm256_set1_ps(0.5f)));
}

GF_AVX2 static int join(uint8_t *out, int n, const struct gf_planes *p)
{
    const __m256i pack = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0,
                                          1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    int i = 0;
    for (; i + REACH <= n; i += GROUP) {
        const __m256i red = rounded(p->colour[0] + i);
        const __m256i green = _mm256_slli_epi32(rounded(p->colour[1] + i), 8);
        const __m256i blue = _mm256_slli_epi32(rounded(p->colour[2] + i), 16);
        const __m256i v =
            _mm256_shuffle_epi8(_mm256_or_si256(_mm256_or_si256(red, green), blue), pack);
        _mm_storeu_si128((__m128i *)(out + 3 * i), _mm256_castsi256_si128(v));
        _mm_storeu_si128((__m128i *)(out + 3 * i + 12), _mm256_extracti128_si256(v, 1));
    }
    return i;
}

int gf_planes_split_rgb8(const uint8_t *in, int n, struct gf_planes *p)
{
    return has_avx2() ? split(in, n, p) : 0;
}

int gf_planes_join_rgb8(uint8_t *out, int n, const struct gf_planes *p)
{
    return has_avx2() ? join(out, n, p) : 0;
}
#else
int gf_planes_split_rgb8(const uint8_t *in, int n, struct gf_planes *p)
{
    (void)in, (void)n, (void)p;
    return 0;
}

int gf_planes_join_rgb8(uint8_t *out, int n, const struct gf_planes *p)
{
    (void)out, (void)n, (void)p;
    return 0;
}
#endif
