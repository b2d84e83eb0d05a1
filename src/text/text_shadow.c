#ifdef GF_LIBRARY_freetype
#include <stdlib.h>

#include "base/fail.h"
#include "pixel/gauss/gauss.h"
#include "text/text_shape.h"

/* The sum of the values of one column or row, `step` apart, weighted by the taps around `at`. */
static float weigh(const struct gf_gauss *gauss, const float *values, size_t step, int at,
                   int count)
{
    float sum = gauss->real[0] * values[(size_t)at * step];
    for (int k = 1; k <= gauss->radius; k++) {
        const float before = at >= k ? values[(size_t)(at - k) * step] : 0;
        const float behind = at + k < count ? values[(size_t)(at + k) * step] : 0;
        sum += gauss->real[k] * (before + behind);
    }
    return sum;
}

/* Blurs the coverage in place. */
static enum gf_status blur(unsigned char *coverage, int width, int height, double soft,
                           struct gf_error *error)
{
    const size_t pixels = (size_t)width * (size_t)height;
    struct gf_gauss *const gauss = malloc(sizeof *gauss);
    float *const from = malloc(pixels * sizeof *from), *const mid = malloc(pixels * sizeof *mid);
    const bool good = gauss && from && mid;
    if (good)
        gf_gauss_init(gauss, soft);
    for (size_t i = 0; good && i < pixels; i++)
        from[i] = coverage[i];
    for (size_t i = 0; good && i < pixels; i++)
        mid[i] =
            weigh(gauss, from + i % (size_t)width, (size_t)width, (int)(i / (size_t)width), height);
    for (size_t i = 0; good && i < pixels; i++)
        coverage[i] = (unsigned char)(weigh(gauss, mid + i / (size_t)width * (size_t)width, 1,
                                            (int)(i % (size_t)width), width) +
                                      0.5f);
    free(gauss);
    free(from);
    free(mid);
    return good ? GF_OK : gf_fail_memory(error);
}

enum gf_status gf_text_shade(const unsigned char *fill, const unsigned char *edge, int width,
                             int height, const struct gf_text_style *style, unsigned char **shade,
                             struct gf_error *error)
{
    const int away = style->distance;
    *shade = calloc((size_t)width * (size_t)height, 1);
    if (!*shade)
        return gf_fail_memory(error);
    for (int y = away; y < height; y++) {
        const size_t from = (size_t)(y - away) * (size_t)width;
        unsigned char *const to = *shade + (size_t)y * (size_t)width;
        for (int x = away; x < width; x++) {
            const unsigned char a = fill[from + (size_t)(x - away)];
            const unsigned char b = edge ? edge[from + (size_t)(x - away)] : 0;
            to[x] = a > b ? a : b;
        }
    }
    return style->soft > 0 ? blur(*shade, width, height, style->soft, error) : GF_OK;
}
#endif
