/* RGB pixels of 8 bits to planes of floats and back, eight at a time: compilers make no vectors of
 * loops in steps of three bytes. */
#include "base/cpu.h"
#include "pixel/point_planes.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define GF_AVX2 __attribute__((target("avx2")))
#define GF_AVX2_FMA __attribute__((target("avx2,fma")))

/* Eight pixels are read or written as four and four, 16 bytes each, of which 12 count: so two more
 * pixels must follow. */
enum { GROUP = 8, REACH = 10 };

static bool has_avx2(void)
{
    return gf_cpu_intrinsics_allowed() && __builtin_cpu_supports("avx2");
}

struct group {
    __m256 red, green, blue;
};

GF_AVX2 static inline struct group load(const uint8_t *in)
{
    const __m256i red =
        _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1, 0, -1, -1, -1,
                         3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1);
    const __m256i one = _mm256_setr_epi8(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
                                         1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    const __m256i green = _mm256_add_epi8(red, one), blue = _mm256_add_epi8(green, one);
    const __m128i low = _mm_loadu_si128((const __m128i *)in);
    const __m128i high = _mm_loadu_si128((const __m128i *)(in + 12));
    const __m256i v = _mm256_set_m128i(high, low);
    return (struct group){_mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, red)),
                          _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, green)),
                          _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, blue))};
}

GF_AVX2 static inline __m256i rounded(__m256 v)
{
    return _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_set1_ps(0.5f)));
}

GF_AVX2 static inline void store(uint8_t *out, struct group g)
{
    const __m256i pack = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0,
                                          1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const __m256i green = _mm256_slli_epi32(rounded(g.green), 8);
    const __m256i blue = _mm256_slli_epi32(rounded(g.blue), 16);
    const __m256i v =
        _mm256_shuffle_epi8(_mm256_or_si256(_mm256_or_si256(rounded(g.red), green), blue), pack);
    _mm_storeu_si128((__m128i *)out, _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(out + 12), _mm256_extracti128_si256(v, 1));
}

GF_AVX2 static int split(const uint8_t *in, int n, struct gf_planes *p)
{
    int i = 0;
    for (; i + REACH <= n; i += GROUP) {
        const struct group g = load(in + 3 * i);
        _mm256_storeu_ps(p->colour[0] + i, g.red);
        _mm256_storeu_ps(p->colour[1] + i, g.green);
        _mm256_storeu_ps(p->colour[2] + i, g.blue);
    }
    return i;
}

GF_AVX2 static int join(uint8_t *out, int n, const struct gf_planes *p)
{
    int i = 0;
    for (; i + REACH <= n; i += GROUP)
        store(out + 3 * i,
              (struct group){_mm256_loadu_ps(p->colour[0] + i), _mm256_loadu_ps(p->colour[1] + i),
                             _mm256_loadu_ps(p->colour[2] + i)});
    return i;
}

/* gf_point_row_of() of eight pixels. */
GF_AVX2_FMA static inline __m256 row_of(struct gf_point_op op, struct group g)
{
    const __m256 blue = _mm256_fmadd_ps(_mm256_set1_ps(op.c), g.blue, _mm256_set1_ps(op.d));
    const __m256 green = _mm256_fmadd_ps(_mm256_set1_ps(op.b), g.green, blue);
    const __m256 sum = _mm256_fmadd_ps(_mm256_set1_ps(op.a), g.red, green);
    return _mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(op.max));
}

GF_AVX2_FMA static int matrix(const struct gf_point_op *at, const uint8_t *in, int n, uint8_t *out)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    int i = 0;
    for (; i + REACH <= n; i += GROUP) {
        const struct group g = load(in + 3 * i);
        store(out + 3 * i, (struct group){row_of(op[0], g), row_of(op[1], g), row_of(op[2], g)});
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

int gf_planes_matrix_rgb8(const struct gf_point_op *op, const uint8_t *in, int n, uint8_t *out)
{
    return has_avx2() && __builtin_cpu_supports("fma") && in != out ? matrix(op, in, n, out) : 0;
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

int gf_planes_matrix_rgb8(const struct gf_point_op *op, const uint8_t *in, int n, uint8_t *out)
{
    (void)op, (void)in, (void)n, (void)out;
    return 0;
}
#endif
