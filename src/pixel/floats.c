/* Pictures as the numbers that networks take, and numbers as pictures. */
#include "pixel/floats.h"

#include <math.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/image.h"
#include "pixel/float_rows.h"

/* How the samples of one channel become numbers; `table` has the bits of those of all 8-bit
 * samples. */
struct scale {
    float scale, mean, deviation;
    uint32_t table[256];
};

static float number_of(const struct scale *scale, float sample, float most)
{
    return (sample * scale->scale / most - scale->mean) / scale->deviation;
}

static void make_scales(const struct gf_float_form *form, struct scale *scale)
{
    for (int c = 0; c < form->channels; c++) {
        scale[c].scale = form->scale;
        scale[c].mean = form->mean[c];
        scale[c].deviation = form->deviation[c];
        for (int v = 0; v < 256; v++)
            scale[c].table[v] = gf_number_of_float(form->type, number_of(&scale[c], (float)v, 255));
    }
}

/* Checks what gf_float_form_make() has made. */
static enum gf_status check_form(const struct gf_float_form *form, struct gf_error *error)
{
    if (!(form->scale > 0 && isfinite(form->scale)))
        return gf_fail(error, GF_ERROR_USAGE, "scale=%g is not a finite positive number",
                       (double)form->scale);
    for (int c = 0; c < form->channels; c++) {
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

/* Sets the members of the layout PATCHES. */
static enum gf_status set_patches(struct gf_format format, const struct gf_numbers *numbers,
                                  struct gf_float_form *form, struct gf_error *error)
{
    const int patch = numbers->patch, merge = numbers->merge ? numbers->merge : 1,
              temporal = numbers->temporal ? numbers->temporal : 1;
    const bool has_patches = form->layout == GF_FLOATS_PATCHES;
    if (has_patches ? patch < 1 || merge < 1 || temporal < 1 || temporal > 1024
                    : patch || numbers->merge || numbers->temporal)
        return gf_fail(error, GF_ERROR_USAGE,
                       "patch=%d, merge=%d and temporal=%d are not those of the layout %s", patch,
                       numbers->merge, numbers->temporal,
                       has_patches                      ? "PATCHES"
                       : form->layout == GF_FLOATS_NCHW ? "NCHW"
                                                        : "NHWC");
    const int64_t block = (int64_t)patch * merge;
    if (has_patches && (format.width % block || format.height % block))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "picture: %dx%d pixels are no multiples of patch=%d x merge=%d",
                       format.width, format.height, patch, merge);
    form->patch = patch;
    form->merge = merge;
    form->temporal = temporal;
    return GF_OK;
}

enum gf_status gf_float_form_make(struct gf_format format, const struct gf_numbers *numbers,
                                  struct gf_float_form *form, struct gf_error *error)
{
    const int channels = numbers->channels;
    const bool bytes = numbers->type == GF_NUMBER_UINT8;
    *form = (struct gf_float_form){.type = numbers->type,
                                   .layout = numbers->layout,
                                   .channels = channels ? channels : format.channels,
                                   .scale = bytes                 ? 255
                                            : numbers->scale != 0 ? numbers->scale
                                                                  : 1};
    if (form->channels != format.channels && !(channels == 3 && format.channels == 1))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "picture: %d channels do not become %d: use grayscale or flatten",
                       format.channels, channels);
    if ((unsigned)form->layout > GF_FLOATS_PATCHES)
        return gf_fail(error, GF_ERROR_USAGE, "layout=%d is no layout", (int)form->layout);
    if ((unsigned)form->type > GF_NUMBER_UINT8)
        return gf_fail(error, GF_ERROR_USAGE, "type=%d is no type of numbers", (int)form->type);
    if (bytes && (numbers->mean || numbers->deviation || numbers->scale != 0))
        return gf_fail(error, GF_ERROR_USAGE,
                       "bytes have no scale, mean and deviation: floats have them");
    for (int c = 0; c < form->channels; c++) {
        form->mean[c] = numbers->mean ? numbers->mean[c] : 0;
        form->deviation[c] = numbers->deviation ? numbers->deviation[c] : 1;
    }
    GF_TRY(set_patches(format, numbers, form, error));
    return check_form(form, error);
}

#define BY_SAMPLES(number, name, ...) \
    switch (number) { \
        GF_CASE_(8, name, __VA_ARGS__) \
        GF_CASE_(16, name, __VA_ARGS__) \
        GF_CASE_(32, name, __VA_ARGS__) \
    }

/* Writes `count` samples, `channels` samples apart, as numbers that are `step` numbers apart. */
GF_INLINE void write_samples(const void *row, int from, int bits, int channels,
                             const struct scale *scale, int type, void *values, size_t first,
                             size_t step, int count)
{
    const unsigned char *const bytes = (const unsigned char *)row + from;
    const uint16_t *const words = (const uint16_t *)row + from;
    const float *const floats = (const float *)row + from;
    GF_INDEPENDENT
    for (int x = 0; x < count; x++) {
        const uint32_t number =
            bits == 8 ? scale->table[bytes[x * channels]]
            : bits == 16
                ? gf_number_of_float((enum gf_number)type,
                                     number_of(scale, (float)words[x * channels], 65535))
                : gf_number_of_any((enum gf_number)type, number_of(scale, floats[x * channels], 1));
        const size_t at = first + (size_t)x * step;
        if (type == GF_NUMBER_FLOAT32)
            ((float *)values)[at] = gf_float_of_bits(number);
        else if (type == GF_NUMBER_UINT8)
            ((unsigned char *)values)[at] = (unsigned char)number;
        else
            ((uint16_t *)values)[at] = (uint16_t)number;
    }
}

#define BY_TYPE(number, name, ...) \
    switch (number) { \
        GF_CASE_(GF_NUMBER_FLOAT32, name, __VA_ARGS__) \
        GF_CASE_(GF_NUMBER_FLOAT16, name, __VA_ARGS__) \
        GF_CASE_(GF_NUMBER_BFLOAT16, name, __VA_ARGS__) \
        GF_CASE_(GF_NUMBER_UINT8, name, __VA_ARGS__) \
    }

/* Writes the channels of a row of format.width pixels, `plane` numbers apart, from number `first`
 * on; those of a gray picture are equal. Floats have 32 bits. */
GF_TARGET_CLONES static void write_piece(const unsigned char *row, struct gf_format format,
                                         const struct gf_float_form *form,
                                         const struct scale *scale, void *values, size_t first,
                                         size_t plane)
{
    const size_t step = plane ? 1 : (size_t)form->channels;
    for (int c = 0; c < form->channels; c++) {
        const int from = format.channels == 1 ? 0 : c;
        const size_t at = first + (size_t)c * (plane ? plane : 1);
        BY_TYPE(form->type, type,
                GF_BY_CHANNELS(format.channels, channels,
                               BY_SAMPLES(format.bits, bits,
                                          write_samples(row, from, bits, channels, &scale[c], type,
                                                        values, at, step, format.width))))
    }
}

/* Does the same for a row of any samples: floats become pieces of 32 bits. */
static void write_row(const unsigned char *row, struct gf_format format,
                      const struct gf_float_form *form, const struct scale *scale, void *values,
                      size_t first, size_t plane)
{
    enum { PIECE = 512 };
    float wide[PIECE * 4];
    struct gf_format piece = format;
    piece.bits = gf_is_float(format) ? 32 : format.bits;
    for (int x = 0; x < format.width && gf_is_float(format); x += PIECE) {
        piece.width = format.width - x < PIECE ? format.width - x : PIECE;
        gf_floats_of_row(row + (size_t)x * gf_pixel_bytes(format), format,
                         (size_t)(piece.width * format.channels), wide);
        write_piece((const unsigned char *)wide, piece, form, scale, values,
                    first + (size_t)x * (plane ? 1 : (size_t)form->channels), plane);
    }
    if (!gf_is_float(format))
        write_piece(row, format, form, scale, values, first, plane);
}

/* Writes row y of a picture of patches. */
static void write_patches(const struct gf_image *image, int y, const struct gf_float_form *form,
                          const struct scale *scale, void *values)
{
    const int patch = form->patch;
    const size_t square = (size_t)patch * (size_t)patch;
    const unsigned char *row = image->data + (size_t)y * image->pitch;
    struct gf_format part = image->format;
    part.width = patch;
    for (int x = 0; x < image->format.width; x += patch, row += gf_row_bytes(part)) {
        const size_t first = gf_patch_place(patch, form->merge, form->channels * form->temporal,
                                            image->format.width, x, y);
        for (int t = 0; t < form->temporal; t++)
            write_row(row, part, form, scale, values, first + (size_t)t * square,
                      (size_t)form->temporal * square);
    }
}

enum gf_status gf_image_to_floats(const struct gf_image *image, enum gf_floats layout, int channels,
                                  const float *mean, const float *deviation, float *values,
                                  struct gf_error *error)
{
    GF_NOT_NULL(image, error);
    GF_NOT_NULL(values, error);
    const struct gf_numbers form = {
        .layout = layout, .channels = channels, .mean = mean, .deviation = deviation};
    return gf_image_to_numbers(image, &form, values, error);
}

enum gf_status gf_image_to_numbers(const struct gf_image *image, const struct gf_numbers *numbers,
                                   void *values, struct gf_error *error)
{
    GF_NOT_NULL(image, error);
    GF_NOT_NULL(numbers, error);
    GF_NOT_NULL(values, error);
    struct scale scale[4];
    struct gf_float_form form;
    GF_TRY(gf_image_check(image, "picture", error));
    GF_TRY(gf_float_form_make(image->format, numbers, &form, error));
    make_scales(&form, scale);
    const struct gf_format format = image->format;
    const size_t plane =
        form.layout == GF_FLOATS_NCHW ? (size_t)format.width * (size_t)format.height : 0;
    const size_t row = (size_t)format.width * (plane ? 1 : (size_t)form.channels);
    for (int y = 0; y < format.height; y++) {
        if (form.layout == GF_FLOATS_PATCHES)
            write_patches(image, y, &form, scale, values);
        else
            write_row(image->data + (size_t)y * image->pitch, format, &form, scale, values,
                      (size_t)y * row, plane);
    }
    return GF_OK;
}

/* ---- numbers as samples ---- */

/* Makes `count` samples of the numbers from `first` on. Returns whether all are near the range. */
GF_INLINE bool read_numbers(const struct gf_float_source *source, enum gf_number type, size_t first,
                            uint16_t *samples, int count)
{
    const void *const values = source->values;
    const double black = source->black, range = source->white - black;
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        const float number = gf_number_at(values, type, first + (size_t)i);
        const double v = gf_float_position(number, black, range);
        wrong |= gf_float_is_far(v);
        samples[i] = gf_float_sample(v);
    }
    return !wrong;
}

GF_TARGET_CLONES static bool read_row(const struct gf_float_source *source, size_t first,
                                      uint16_t *samples, int count)
{
    switch (source->type) {
    case GF_NUMBER_FLOAT32:
        return read_numbers(source, GF_NUMBER_FLOAT32, first, samples, count);
    case GF_NUMBER_FLOAT16:
        return read_numbers(source, GF_NUMBER_FLOAT16, first, samples, count);
    default:
        return read_numbers(source, GF_NUMBER_BFLOAT16, first, samples, count);
    }
}

enum gf_status gf_float_source_check(const struct gf_float_source *source,
                                     const struct gf_image *image, struct gf_error *error)
{
    const double range = (double)source->white - (double)source->black;
    const bool floats = gf_is_float(image->format);
    GF_TRY(gf_image_check(image, "picture", error));
    if ((image->format.bits != 16 && !floats) || (unsigned)source->type > GF_NUMBER_BFLOAT16)
        return gf_fail(error, GF_ERROR_USAGE, "floats become samples of 16 bits or floats");
    if (!(range > 0 && isfinite(range)))
        return gf_fail(error, GF_ERROR_USAGE, "the range %g..%g is none", (double)source->black,
                       (double)source->white);
    return GF_OK;
}

enum gf_status gf_float_source_far(const struct gf_float_source *source,
                                   const struct gf_image *image, size_t at, float number,
                                   struct gf_error *error)
{
    const size_t channels = (size_t)image->format.channels,
                 row = (size_t)image->format.width * channels;
    return gf_fail(error, GF_ERROR_UNFIT,
                   "picture: the number %g at %d,%d is far outside the range %g..%g",
                   (double)number, (int)(at % row / channels), (int)(at / row),
                   (double)source->black, (double)source->white);
}

/* Sets samples of floats, (v - black) / (white - black), which nothing limits. */
static void set_floats(const struct gf_float_source *source, const struct gf_image *image)
{
    enum { PIECE = 1024 };
    const size_t count = (size_t)image->format.width * (size_t)image->format.channels;
    const size_t size = (size_t)image->format.bits / 8;
    const double black = (double)source->black, range = (double)source->white - black;
    float piece[PIECE];
    for (size_t i = 0, n; i < count * (size_t)image->format.height; i += n) {
        const size_t at = i % count;
        n = count - at < PIECE ? count - at : PIECE;
        for (size_t k = 0; k < n; k++)
            piece[k] = (float)(((double)gf_number_at(source->values, source->type, i + k) - black) /
                               range);
        gf_floats_to_row(piece, image->format, n,
                         image->data + i / count * image->pitch + at * size);
    }
}

enum gf_status gf_image_from_numbers(const void *values, enum gf_number type, float black,
                                     float white, const struct gf_image *image,
                                     struct gf_error *error)
{
    GF_NOT_NULL(values, error);
    GF_NOT_NULL(image, error);
    const struct gf_float_source source = {values, type, black, white};
    GF_TRY(gf_float_source_check(&source, image, error));
    if (gf_is_float(image->format)) {
        set_floats(&source, image);
        return GF_OK;
    }
    const int count = image->format.width * image->format.channels;
    for (int y = 0; y < image->format.height; y++) {
        size_t at = (size_t)y * (size_t)count;
        if (read_row(&source, at, (uint16_t *)(image->data + (size_t)y * image->pitch), count))
            continue;
        const double range = (double)white - (double)black;
        while (!gf_float_is_far(gf_float_position(gf_number_at(values, type, at), black, range)))
            at++;
        return gf_float_source_far(&source, image, at, gf_number_at(values, type, at), error);
    }
    return GF_OK;
}
