/* Pictures as the floating-point numbers that networks take. */
#include "pixel/floats.h"

#include <math.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/image.h"

/* How the samples of one channel become numbers; `table` has those of all 8-bit samples. */
struct scale {
    float mean, deviation, table[256];
};

static float number_of(const struct scale *scale, int sample, int most)
{
    return ((float)sample / (float)most - scale->mean) / scale->deviation;
}

static void make_scales(const struct gf_float_form *form, struct scale *scale)
{
    for (int c = 0; c < form->channels; c++) {
        scale[c].mean = form->mean[c];
        scale[c].deviation = form->deviation[c];
        for (int v = 0; v < 256; v++)
            scale[c].table[v] = number_of(&scale[c], v, 255);
    }
}

enum gf_status gf_float_form_make(struct gf_format format, enum gf_floats layout, int channels,
                                  const float *mean, const float *deviation,
                                  struct gf_float_form *form, struct gf_error *error)
{
    *form =
        (struct gf_float_form){.layout = layout, .channels = channels ? channels : format.channels};
    if (form->channels != format.channels && !(channels == 3 && format.channels == 1))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "picture: %d channels do not become %d: use grayscale or flatten",
                       format.channels, channels);
    if (layout != GF_FLOATS_NHWC && layout != GF_FLOATS_NCHW)
        return gf_fail(error, GF_ERROR_USAGE, "layout=%d is no layout", (int)layout);
    for (int c = 0; c < form->channels; c++) {
        form->mean[c] = mean ? mean[c] : 0;
        form->deviation[c] = deviation ? deviation[c] : 1;
        if (!isfinite(form->mean[c]))
            return gf_fail(error, GF_ERROR_USAGE, "mean=%g of channel %d is not finite",
                           (double)form->mean[c], c);
        if (!(form->deviation[c] > 0 && isfinite(form->deviation[c])))
            return gf_fail(error, GF_ERROR_USAGE,
                           "deviation=%g of channel %d is not a finite positive number",
                           (double)form->deviation[c], c);
    }
    return GF_OK;
}

/* Writes `count` samples, `channels` samples apart, as numbers that are `step` numbers apart. */
GF_INLINE void write_bytes(const unsigned char *sample, int channels, const struct scale *scale,
                           float *value, size_t step, int count)
{
    GF_INDEPENDENT
    for (int x = 0; x < count; x++)
        value[(size_t)x * step] = scale->table[sample[x * channels]];
}

GF_INLINE void write_words(const uint16_t *sample, int channels, const struct scale *scale,
                           float *value, size_t step, int count)
{
    GF_INDEPENDENT
    for (int x = 0; x < count; x++)
        value[(size_t)x * step] = number_of(scale, sample[x * channels], 65535);
}

/* Writes `count` channels of a row, `plane` numbers apart; those of a gray picture are equal. */
GF_TARGET_CLONES static void write_row(const unsigned char *row, struct gf_format format, int count,
                                       const struct scale *scale, float *value, size_t plane)
{
    GF_BY_CHANNELS(
        format.channels, channels, for (int c = 0; c < count; c++) {
            const int from = channels == 1 ? 0 : c;
            float *const first = value + (plane ? (size_t)c * plane : (size_t)c);
            const size_t step = plane ? 1 : (size_t)count;
            if (format.bits == 8)
                write_bytes(row + from, channels, &scale[c], first, step, format.width);
            else
                write_words((const uint16_t *)row + from, channels, &scale[c], first, step,
                            format.width);
        })
}

enum gf_status gf_image_to_floats(const struct gf_image *image, enum gf_floats layout, int channels,
                                  const float *mean, const float *deviation, float *values,
                                  struct gf_error *error)
{
    GF_NOT_NULL(image, error);
    GF_NOT_NULL(values, error);
    struct scale scale[4];
    struct gf_float_form form;
    GF_TRY(gf_image_check(image, "picture", error));
    GF_TRY(gf_float_form_make(image->format, layout, channels, mean, deviation, &form, error));
    make_scales(&form, scale);
    const struct gf_format format = image->format;
    const int count = form.channels;
    const size_t plane =
        layout == GF_FLOATS_NCHW ? (size_t)format.width * (size_t)format.height : 0;
    const size_t row = (size_t)format.width * (plane ? 1 : (size_t)count);
    for (int y = 0; y < format.height; y++)
        write_row(image->data + (size_t)y * image->pitch, format, count, scale,
                  values + (size_t)y * row, plane);
    return GF_OK;
}
