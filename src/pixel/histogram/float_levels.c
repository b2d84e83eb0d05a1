/* The levels of floats in histograms, and what is exact beside them (stage/histogram.h): counts,
 * and sums of the significands of each exponent, are integers and add up alike in any order. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "pixel/float_rows.h"
#include "pixel/histogram/histogram.h"
#include "pixel/point/point_program.h"

enum { PIECE = 1024, CHANNELS_MAX = 4, SIGNIFICAND = 1 << 23, EXPONENTS = 255 };

/* Finds the number of each pixel that is counted, and its level. The level of pixels that are not
 * counted, and of NaN, is beyond the bins. */
GF_TARGET_CLONES static void find_levels(const float *in, int n, int channels, bool luma,
                                         int channel, float *restrict value, uint32_t *restrict bin)
{
    const struct gf_point_op weights = gf_point_luma_of_floats();
    for (int i = 0; i < n; i++) {
        const float *const p = in + i * channels;
        const float v = luma ? gf_point_gray_of(&weights, p[0], p[1], p[2]) : p[channel];
        const float high = v > 0.0f ? v : 0.0f, limited = high < 1.0f ? high : 1.0f;
        const bool counts = channels % 2 || p[channels - 1] != 0.0f;
        const uint32_t level = gf_bits_of_float(limited * 65535.0f + GF_ROUNDING_SHIFT) & 0xffff;
        value[i] = v;
        bin[i] = !counts ? GF_FLOAT_LEVELS + 1 : v != v ? GF_FLOAT_LEVELS : level;
    }
}

static void note(const float *value, const uint32_t *bin, int n, struct gf_histogram *histogram,
                 int channel)
{
    uint64_t unused[GF_EXACT_UPPER];
    uint64_t *const exact = gf_histogram_exact(histogram, channel);
    uint64_t *const sums = exact ? exact : unused;
    if (!exact)
        memset(unused, 0, sizeof unused);
    float low = histogram->low[channel], high = histogram->high[channel];
    for (int i = 0; i < n; i++) {
        const float v = value[i] + 0.0f; /* -0 becomes 0: which came first must not tell */
        const uint32_t bits = gf_bits_of_float(v), exponent = bits >> 23 & 255;
        const uint64_t part = (bits & (SIGNIFICAND - 1)) | (exponent ? SIGNIFICAND : 0);
        if (bin[i] > GF_FLOAT_LEVELS)
            continue;
        if (exponent == EXPONENTS) {
            sums[v != v ? GF_EXACT_NAN : GF_EXACT_INFINITE]++;
            continue;
        }
        low = v < low ? v : low;
        high = v > high ? v : high;
        sums[exponent] += bits >> 31 ? 0 - part : part;
        if (exact && v > 0)
            exact[GF_EXACT_UPPER + (bits >> GF_UPPER_SHIFT)]++;
    }
    histogram->low[channel] = low;
    histogram->high[channel] = high;
}

void gf_histogram_floats(const void *in, int n, struct gf_format format, bool luma, int channel,
                         uint32_t *bin, struct gf_histogram *histogram, int to)
{
    float samples[PIECE * CHANNELS_MAX], value[PIECE];
    gf_floats_of_row(in, format, (size_t)(n * format.channels), samples);
    find_levels(samples, n, format.channels, luma && format.channels >= 3, channel, value, bin);
    if (histogram)
        note(value, bin, n, histogram, to);
}

double gf_histogram_sum(const struct gf_histogram *histogram, int channel)
{
    const uint64_t *const sums = gf_histogram_exact(histogram, channel);
    double sum = 0;
    for (int i = 0; sums && i < EXPONENTS; i++)
        sum += ldexp((double)(int64_t)sums[i], (i ? i : 1) - 150);
    return sum;
}
