#include "bench/likeness.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/ssim.h"
#include "pixel/sample.h"

static int sample_of(const struct gf_image *image, int y, size_t at)
{
    const unsigned char *const row = image->data + (size_t)y * image->pitch;
    return image->format.bits == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
}

/* Finds the largest difference, and adds the differences and their squares. The sums are exact,
 * because they are below 2^64. */
static void add_differences(const struct gf_image *a, const struct gf_image *b,
                            struct gf_likeness *likeness)
{
    const struct gf_format format = a->format;
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    int largest = 0;
    double sum = 0, squares = 0;
    for (int y = 0; y < format.height; y++) {
        uint64_t row_sum = 0, row_squares = 0;
        for (size_t i = 0; i < samples; i++) {
            const int d = abs(sample_of(a, y, i) - sample_of(b, y, i));
            largest = d > largest ? d : largest;
            row_sum += (uint64_t)d;
            row_squares += (uint64_t)d * (uint64_t)d;
        }
        sum += (double)row_sum;
        squares += (double)row_squares;
    }
    const double max = gf_sample_max(format), count = (double)samples * format.height;
    likeness->largest = largest;
    likeness->mean = sum / count;
    likeness->psnr = largest ? 10 * log10(max * max * count / squares) : INFINITY;
}

enum gf_status gf_likeness_of(const struct gf_image *a, const struct gf_image *b, int threads,
                              struct gf_likeness *likeness, struct gf_error *error)
{
    add_differences(a, b, likeness);
    return gf_ssim(a, b, threads, &likeness->ssim, &likeness->ms_ssim, error);
}

/* Writes the differences of a row times the scale. With a scale of 0 it only finds the largest
 * difference. */
static int draw_row(const struct gf_image *a, const struct gf_image *b, int y, double scale,
                    struct gf_image *picture)
{
    const struct gf_format format = a->format;
    const int channels = format.channels, colours = gf_colour_channels(format);
    unsigned char *const row = scale > 0 ? picture->data + (size_t)y * picture->pitch : NULL;
    int largest = 0;
    for (int i = 0; i < format.width * colours; i++) {
        const size_t pixel = (size_t)(i / colours) * (size_t)channels;
        const size_t last = pixel + (size_t)channels - 1, at = pixel + (size_t)(i % colours);
        const int colour = abs(sample_of(a, y, at) - sample_of(b, y, at));
        const int alpha =
            gf_has_alpha(format) ? abs(sample_of(a, y, last) - sample_of(b, y, last)) : 0;
        const int d = colour > alpha ? colour : alpha;
        largest = d > largest ? d : largest;
        if (row && format.bits == 8)
            row[i] = (unsigned char)(d * scale + 0.5);
        else if (row)
            ((uint16_t *)(void *)row)[i] = (uint16_t)(d * scale + 0.5);
    }
    return largest;
}

enum gf_status gf_likeness_draw(const struct gf_image *a, const struct gf_image *b,
                                struct gf_image *picture, struct gf_error *error)
{
    struct gf_format format = a->format;
    int largest = 1;
    for (int y = 0; y < format.height; y++) {
        const int d = draw_row(a, b, y, 0, NULL);
        largest = d > largest ? d : largest;
    }
    format.channels = gf_colour_channels(format);
    GF_TRY(gf_image_alloc(picture, format, error));
    for (int y = 0; y < format.height; y++)
        draw_row(a, b, y, (double)gf_sample_max(format) / largest, picture);
    return GF_OK;
}
