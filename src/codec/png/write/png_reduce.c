#include "codec/png/write/png_reduce.h"

#include <string.h>

#include "codec/common/checks.h"
#include "codec/common/samples.h"

enum gf_status gf_png_hold_open(struct gf_png_held *held, struct gf_format format,
                                struct gf_error *error)
{
    format.bits = 8;
    return gf_image_alloc(&held->picture, format, error);
}

static bool are_levels_of_8(const unsigned char *row, size_t samples)
{
    for (size_t i = 0; i < samples; i++) {
        if (row[2 * i] != row[2 * i + 1])
            return false;
    }
    return true;
}

void gf_png_hold_rows(struct gf_png_held *held, int bits, int rows, const unsigned char *src,
                      size_t pitch)
{
    const struct gf_image *const picture = &held->picture;
    const size_t samples = gf_row_bytes(picture->format);
    for (int y = 0; y < rows; y++, held->rows++) {
        const unsigned char *const row = src + (size_t)y * pitch;
        unsigned char *const to = picture->data + (size_t)held->rows * picture->pitch;
        if (bits == 8) {
            memcpy(to, row, samples);
        } else {
            gf_samples_narrow(row, to, samples);
            held->rounded = held->rounded || !are_levels_of_8(row, samples);
        }
    }
}

enum gf_status gf_png_reduce(struct gf_png_held *held, const char *name,
                             const struct gf_options *options, unsigned char *indices,
                             struct gf_error *error)
{
    const int most = options->png_colours;
    const enum gf_status status = gf_palette_make(&held->picture, most, gf_codec_threads(options),
                                                  &held->palette, indices, error);
    gf_image_free(&held->picture);
    if (status)
        return status;
    return options->lossless && (held->rounded || !held->palette.exact)
               ? gf_fail(error, GF_ERROR_UNFIT,
                         "%s: a palette of %d colours of 8 bits is not lossless for this picture",
                         name, most)
               : GF_OK;
}

int gf_png_gray_bits(const struct gf_palette *palette, int bits)
{
    int least = 1;
    for (int i = 0; i < palette->colours; i++) {
        const unsigned char *const rgba = palette->rgba[i];
        if (rgba[0] != rgba[1] || rgba[0] != rgba[2] || rgba[3] != 255)
            return 0;
        while (rgba[0] % (255 / ((1 << least) - 1)))
            least *= 2;
    }
    return least <= bits ? least : 0;
}
