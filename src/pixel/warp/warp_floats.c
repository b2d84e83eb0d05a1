/* The samples of floats in a warp: the tables' weights, which are exact in single precision, one
 * multiplication and one addition for each pixel of a window, in the order of the rows. A pixel of
 * weight 0 is not read, so that NaN and infinities stay where pixels are copied. */
#include <string.h>

#include "pixel/float_rows.h"
#include "pixel/floats.h"
#include "pixel/stencil.h"
#include "pixel/warp/warp_cpu.h"

enum { CHANNELS_MAX = 4, WINDOW_SAMPLES = GF_WARP_WINDOW_BYTES / sizeof(float) };

/* Adds `weight` times each channel of a pixel. */
GF_INLINE void add(float *sum, float weight, const float *pixel, int channels)
{
    for (int c = 0; c < channels && weight != 0; c++)
        sum[c] += weight * pixel[c];
}

GF_INLINE void linear_of(struct gf_warp_window window, unsigned f, unsigned g, int channels,
                         float *value)
{
    const float right = (float)f / 4096, below = (float)g / 4096;
    for (int j = 0; j < 2; j++) {
        const float *const row = (const float *)(const void *)(window.at + j * window.pitch);
        float sum[CHANNELS_MAX] = {0};
        add(sum, 1 - right, row, channels);
        add(sum, right, row + channels, channels);
        add(value, j ? below : 1 - below, sum, channels);
    }
}

GF_INLINE void table_of(const struct gf_warp_sampler *s, struct gf_warp_window window, unsigned f,
                        unsigned g, int channels, float *value)
{
    const int16_t *const across = s->weights + (f >> 2) * GF_WARP_TAPS;
    const int16_t *const down = s->weights + (g >> 2) * GF_WARP_TAPS;
    for (int j = 0; j < s->warp->taps; j++) {
        const float *const row = (const float *)(const void *)(window.at + j * window.pitch);
        float sum[CHANNELS_MAX] = {0};
        for (int i = 0; i < s->warp->taps; i++)
            add(sum, (float)across[i] / 16384, row + i * channels, channels);
        add(value, (float)down[j] / 16384, sum, channels);
    }
}

/* Makes the rows of a window singles. */
static struct gf_warp_window widen(const struct gf_warp_sampler *s, struct gf_warp_window window,
                                   float *to)
{
    const size_t row = (size_t)(s->warp->taps * s->in->format.channels);
    for (int j = 0; j < s->warp->taps; j++) {
        const gf_u16_any *const half = (const void *)(window.at + j * window.pitch);
        for (size_t i = 0; i < row; i++)
            to[(size_t)j * row + i] = gf_float_of_half(half[i]);
    }
    return (struct gf_warp_window){(unsigned char *)to, (ptrdiff_t)(row * sizeof *to)};
}

GF_INLINE void make_stretch(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                            int first, int end, int channels, bool is_linear, unsigned char *out,
                            void *sums)
{
    const struct gf_format format = s->in->format;
    float line[GF_WARP_STRETCH * CHANNELS_MAX];
    for (int k = first; k < end; k++) {
        _Alignas(float) unsigned char copy[GF_WARP_WINDOW_BYTES];
        float wide[WINDOW_SAMPLES], value[CHANNELS_MAX] = {0};
        struct gf_warp_window window = gf_warp_window_of(s, stretch, k, copy);
        if (window.at && format.bits == 16)
            window = widen(s, window, wide);
        if (!window.at)
            memcpy(value, s->warp->beyond_floats, sizeof value);
        else if (is_linear)
            linear_of(window, stretch->f[k], stretch->g[k], channels, value);
        else
            table_of(s, window, stretch->f[k], stretch->g[k], channels, value);
        for (int c = 0; c < channels; c++) {
            if (sums)
                ((float *)sums)[k * channels + c] += value[c];
            else
                line[k * channels + c] = value[c];
        }
    }
    if (!sums)
        gf_floats_to_row(line + first * channels, format, (size_t)((end - first) * channels),
                         out + (size_t)first * s->pixel_bytes);
}

static void nearest(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                    int first, int end, unsigned char *out, void *sums)
{
    for (int k = first; k < end; k++) {
        unsigned char copy[GF_WARP_WINDOW_BYTES];
        const struct gf_warp_window window = gf_warp_window_of(s, stretch, k, copy);
        memcpy(out + (size_t)k * s->pixel_bytes, window.at ? window.at : s->beyond, s->pixel_bytes);
    }
}

#define STRETCH_OF(name_, channels_, is_linear_) \
    GF_TARGET_CLONES static void name_(const struct gf_warp_sampler *s, \
                                       const struct gf_warp_stretch *stretch, int first, int end, \
                                       unsigned char *out, void *sums) \
    { \
        make_stretch(s, stretch, first, end, channels_, is_linear_, out, sums); \
    }
STRETCH_OF(linear_1, 1, true)
STRETCH_OF(linear_2, 2, true)
STRETCH_OF(linear_3, 3, true)
STRETCH_OF(linear_4, 4, true)
STRETCH_OF(table_1, 1, false)
STRETCH_OF(table_2, 2, false)
STRETCH_OF(table_3, 3, false)
STRETCH_OF(table_4, 4, false)

gf_warp_maker *gf_warp_float_maker(const struct gf_warp *warp, int channels)
{
    static gf_warp_maker *const linear[] = {linear_1, linear_2, linear_3, linear_4};
    static gf_warp_maker *const table[] = {table_1, table_2, table_3, table_4};
    return warp->kernel == GF_WARP_NEAREST  ? nearest
           : warp->kernel == GF_WARP_LINEAR ? linear[channels - 1]
                                            : table[channels - 1];
}
