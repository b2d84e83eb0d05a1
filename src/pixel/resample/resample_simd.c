#include "pixel/resample/resample_simd.h"

#include "base/simd.h"

enum { REACH = 64, PICKED = 64 }; /* bytes from which the lanes select */

bool gf_resample_lanes_fit(const struct gf_resample_axis *columns, struct gf_format in)
{
    /* The distance between the pixels of a vector's first and last lane is at most 15 / channels
     * results. */
    const double apart = ceil((GF_RESAMPLE_LANES - 1) / in.channels * columns->scale);
    return in.bits == 8 && (apart + 1) * in.channels <= REACH;
}

/* The lanes after the last sample may hold any values. */
static void fill_lanes(const struct gf_resample_lanes *lanes, const struct gf_resample *resample)
{
    const int *const start = gf_resample_ints(resample, resample->columns.start);
    const int channels = lanes->channels, taps = lanes->taps, out = resample->column_axis.out;
    int pixel = 0, channel = 0;
    for (int b = 0; b < lanes->vectors; b++) {
        unsigned char *const lane = lanes->lane + (size_t)b * GF_RESAMPLE_LANES;
        int *const from = lanes->from + (size_t)b * GF_RESAMPLE_LANES;
        const int base = start[pixel] * channels;
        lanes->base[b] = base;
        for (int i = 0; i < GF_RESAMPLE_LANES; i++) {
            from[i] = pixel * taps;
            lane[i] = (unsigned char)(start[pixel] * channels + channel - base);
            channel++;
            if (channel == channels && pixel + 1 < out) {
                channel = 0;
                pixel++;
            }
        }
    }
}

GF_TARGET_CLONES static void fill_weights(const struct gf_resample_lanes *lanes,
                                          const float *restrict weights, float *restrict to)
{
    for (int b = 0; b < lanes->vectors; b++) {
        const int *const from = lanes->from + (size_t)b * GF_RESAMPLE_LANES;
        for (int k = 0; k < lanes->taps; k++, to += GF_RESAMPLE_LANES)
            for (int i = 0; i < GF_RESAMPLE_LANES; i++)
                to[i] = weights[from[i] + k];
    }
}

void gf_resample_lanes_fill(struct gf_resample_lanes *lanes, const struct gf_resample *resample)
{
    const int samples = resample->column_axis.out * lanes->channels;
    lanes->taps = resample->columns.taps;
    lanes->vectors = (samples + GF_RESAMPLE_LANES - 1) / GF_RESAMPLE_LANES;
    fill_lanes(lanes, resample);
    fill_weights(lanes, gf_resample_floats(resample, resample->columns.weight), lanes->weight);
}

#if GF_X86

/* Loads `count` bytes and fills the vector with zeros. */
GF_VBMI GF_INLINE __m512i load_part(const unsigned char *from, ptrdiff_t count)
{
    return _mm512_maskz_loadu_epi8(gf_first_bits(count < 0 ? 0 : (uint64_t)count), from);
}

/* Computes vectors first .. end - 1 of `count` rows. `inside` says that the 64 bytes of all these
 * vectors are inside the rows. Each caller passes constants for `count` and `inside`. */
GF_VBMI GF_INLINE void make_vectors(const struct gf_resample_lanes *lanes, int first, int end,
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

GF_VBMI GF_INLINE void make_lines(const struct gf_resample_lanes *lanes, int inside,
                                  const int count, const unsigned char *const *rows, size_t samples,
                                  float max, float *const *out)
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
/* Computes samples x .. x + 63 of the second pass. Packing to bytes clamps them to 0..255. */
GF_VBMI GF_INLINE __m512i sum_64(const float *const *rows, const float *weight, int count, size_t x)
{
    enum { PARTS = 4 };
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512 sum[PARTS];
    __m512i whole[PARTS];
    for (int i = 0; i < PARTS; i++)
        sum[i] = _mm512_setzero_ps();
    for (int k = 0; k < count; k++) {
        const __m512 w = _mm512_set1_ps(weight[k]);
        for (int i = 0; i < PARTS; i++)
            sum[i] = _mm512_add_ps(sum[i], _mm512_mul_ps(_mm512_loadu_ps(rows[k] + x + 16 * i), w));
    }
    for (int i = 0; i < PARTS; i++)
        whole[i] = _mm512_cvttps_epi32(_mm512_add_ps(sum[i], _mm512_set1_ps(0.5f)));
    return _mm512_permutexvar_epi32(order,
                                    _mm512_packus_epi16(_mm512_packus_epi32(whole[0], whole[1]),
                                                        _mm512_packus_epi32(whole[2], whole[3])));
}

GF_VBMI void gf_resample_lanes_sum(const float *const *rows, const float *weight, int count,
                                   size_t samples, unsigned char *to)
{
    size_t x = 0;
    for (; x + 64 <= samples; x += 64)
        _mm512_storeu_si512(to + x, sum_64(rows, weight, count, x));
    if (x < samples)
        _mm512_mask_storeu_epi8(to + x, gf_first_bits(samples - x), sum_64(rows, weight, count, x));
}
/* Finds for each of 64 lanes which of 128 bytes it selects. */
bool gf_resample_picks_fill(struct gf_resample_lanes *lanes, const int *start, int count)
{
    lanes->vectors = (count + PICKED - 1) / PICKED;
    for (int i = 0; i < count; i++) {
        const int base = start[i / PICKED * PICKED];
        if (start[i] - base >= 2 * REACH)
            return false;
        lanes->base[i / PICKED] = base;
        lanes->lane[i] = (unsigned char)(start[i] - base);
    }
    return true;
}

GF_VBMI void gf_resample_picks_row(const struct gf_resample_lanes *lanes, const unsigned char *row,
                                   int bytes, int count, unsigned char *to)
{
    for (int b = 0; b < lanes->vectors; b++, to += PICKED) {
        const unsigned char *const from = row + lanes->base[b];
        const ptrdiff_t there = bytes - lanes->base[b];
        const int left = count - b * PICKED;
        const __mmask64 lanes_left = gf_first_bits((uint64_t)left);
        const __m512i lane = _mm512_maskz_loadu_epi8(lanes_left, lanes->lane + b * PICKED);
        const __m512i picked = _mm512_permutex2var_epi8(load_part(from, there), lane,
                                                        load_part(from + REACH, there - REACH));
        if (left < PICKED)
            _mm512_mask_storeu_epi8(to, lanes_left, picked);
        else
            _mm512_storeu_si512(to, picked);
    }
}
#endif
