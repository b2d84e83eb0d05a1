#include "pixel/resample_simd.h"

#include "base/cpu.h"

enum { REACH = 64 }; /* bytes that lanes pick from */

bool gf_resample_lanes_fit(const struct gf_resample_axis *columns, struct gf_format in)
{
    /* The pixels of a vector's first and last lane lie 15 / channels apart at most. */
    const double apart = ceil((GF_RESAMPLE_LANES - 1) / in.channels * columns->scale);
    return in.bits == 8 && (apart + 1) * in.channels <= REACH;
}

void gf_resample_lanes_fill(struct gf_resample_lanes *lanes, const struct gf_resample *resample)
{
    const struct gf_resample_table *const table = &resample->columns;
    const int *const start = gf_resample_ints(resample, table->start);
    const int *const count = gf_resample_ints(resample, table->count);
    const float *const weights = gf_resample_floats(resample, table->weight);
    const int channels = lanes->channels, samples = resample->column_axis.out * channels;
    lanes->taps = table->taps;
    lanes->vectors = (samples + GF_RESAMPLE_LANES - 1) / GF_RESAMPLE_LANES;
    memset(lanes->lane, 0, (size_t)lanes->vectors * GF_RESAMPLE_LANES);
    memset(lanes->weight, 0,
           (size_t)lanes->vectors * (size_t)table->taps * GF_RESAMPLE_LANES * sizeof(float));
    for (int at = 0; at < samples; at++) {
        const int b = at / GF_RESAMPLE_LANES, i = at / channels;
        const int from = start[i] * channels + at % channels;
        if (at % GF_RESAMPLE_LANES == 0)
            lanes->base[b] = start[i] * channels;
        lanes->lane[at] = (unsigned char)(from - lanes->base[b]);
        float *const to = lanes->weight + (size_t)b * (size_t)table->taps * GF_RESAMPLE_LANES +
                          at % GF_RESAMPLE_LANES;
        for (int k = 0; k < count[i]; k++)
            to[k * GF_RESAMPLE_LANES] = weights[(size_t)i * (size_t)table->taps + (size_t)k];
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define GF_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define GF_VBMI_INLINE GF_VBMI static inline __attribute__((always_inline))

bool gf_resample_has_simd(void)
{
    return gf_cpu_intrinsics_allowed() && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi");
}

/* `count` bytes; behind them zeros. */
GF_VBMI_INLINE __m512i load_part(const unsigned char *from, ptrdiff_t count)
{
    const __mmask64 most = count >= REACH ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    return _mm512_maskz_loadu_epi8(count > 0 ? most : 0, from);
}

/* Vectors first .. end - 1 of `count` rows; those whose 64 bytes lie inside the rows are `inside`.
 * Both are constants where it is inlined. */
GF_VBMI_INLINE void make_vectors(const struct gf_resample_lanes *lanes, int first, int end,
                                 const int count, const bool inside,
                                 const unsigned char *const *rows, size_t samples, float max,
                                 float *const *out)
{
    const __m512 most = _mm512_set1_ps(max);
    const int taps = lanes->taps;
    for (int b = first; b < end; b++) {
        const __m512i lane = _mm512_cvtepu8_epi32(
            _mm_loadu_si128((const void *)(lanes->lane + (size_t)b * GF_RESAMPLE_LANES)));
        const float *weight = lanes->weight + (size_t)b * (size_t)taps * GF_RESAMPLE_LANES;
        ptrdiff_t at = lanes->base[b];
        __m512 sum[GF_RESAMPLE_LINES];
        for (int i = 0; i < count; i++)
            sum[i] = _mm512_setzero_ps();
        for (int k = 0; k < taps; k++, at += lanes->channels, weight += GF_RESAMPLE_LANES) {
            const __m512 w = _mm512_loadu_ps(weight);
            for (int i = 0; i < count; i++) {
                const __m512i bytes = inside ? _mm512_loadu_si512(rows[i] + at)
                                             : load_part(rows[i] + at, (ptrdiff_t)samples - at);
                const __m512i picked =
                    _mm512_maskz_permutexvar_epi8(0x1111111111111111, lane, bytes);
                sum[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(picked), w, sum[i]);
            }
        }
        for (int i = 0; i < count; i++)
            _mm512_storeu_ps(out[i] + (size_t)b * GF_RESAMPLE_LANES,
                             _mm512_min_ps(_mm512_max_ps(sum[i], _mm512_setzero_ps()), most));
    }
}

GF_VBMI_INLINE void make_lines(const struct gf_resample_lanes *lanes, int inside, const int count,
                               const unsigned char *const *rows, size_t samples, float max,
                               float *const *out)
{
    make_vectors(lanes, 0, inside, count, true, rows, samples, max, out);
    make_vectors(lanes, inside, lanes->vectors, count, false, rows, samples, max, out);
}

GF_VBMI void gf_resample_lanes_rows(const struct gf_resample_lanes *lanes,
                                    const unsigned char *const *rows, int count, size_t samples,
                                    float max, float *const *out)
{
    const ptrdiff_t reach = (ptrdiff_t)(lanes->taps - 1) * lanes->channels + REACH;
    int inside = lanes->vectors;
    while (inside && lanes->base[inside - 1] + reach > (ptrdiff_t)samples)
        inside--;
    if (count == GF_RESAMPLE_LINES) {
        make_lines(lanes, inside, GF_RESAMPLE_LINES, rows, samples, max, out);
        return;
    }
    for (int i = 0; i < count; i++)
        make_lines(lanes, inside, 1, rows + i, samples, max, out + i);
}
#else
bool gf_resample_has_simd(void)
{
    return false;
}

void gf_resample_lanes_rows(const struct gf_resample_lanes *lanes,
                            const unsigned char *const *rows, int count, size_t samples, float max,
                            float *const *out)
{
    (void)lanes, (void)rows, (void)count, (void)samples, (void)max, (void)out;
}
#endif
