/* Pictures in memory: samples interleaved, rows `pitch` bytes apart, top row first.
 *
 * A sample is an unsigned integer of 8 or 16 bits (native byte order), v in 0..M with M = 255 or
 * 65535, or a float of 16 or 32 bits (IEEE's half and single), where 0..1 means what 0..M means and
 * any other number may stand, too; M is 1 then. One to four channels: gray, gray + alpha, RGB,
 * RGBA; alpha is straight, not premultiplied.
 */
#ifndef GPUFILTER_IMAGE_H
#define GPUFILTER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gf_samples { GF_SAMPLES_INTEGER, GF_SAMPLES_FLOAT };

struct gf_format {
    int width, height;       /* pixels, 1..16777216 */
    int channels;            /* 1..4 */
    int bits;                /* bits of a sample: integers have 8 or 16, floats 16 or 32 */
    enum gf_samples samples; /* 0: integers */
};

struct gf_image {
    struct gf_format format;
    size_t pitch;        /* bytes from one row to the next, gf_row_bytes or more; whole samples */
    unsigned char *data; /* the first row, at a multiple of a sample's bytes */
    bool owned;          /* gf_image_free() frees the pixels; false: the memory is the caller's */
};

/* Returns the bytes of the samples of a row. */
static inline size_t gf_row_bytes(struct gf_format format)
{
    return (size_t)format.width * (size_t)format.channels * (size_t)(format.bits / 8);
}

/* Returns the number of colour channels, without alpha: 1 or 3. */
static inline int gf_colour_channels(struct gf_format format)
{
    return format.channels >= 3 ? 3 : 1;
}

static inline bool gf_has_alpha(struct gf_format format)
{
    return format.channels % 2 == 0;
}

static inline bool gf_is_float(struct gf_format format)
{
    return format.samples == GF_SAMPLES_FLOAT;
}

/* Allocates a picture of that format, with undefined contents and no gaps between rows. The caller
 * frees it by gf_image_free(); after a failure data is NULL. A pipeline on a GPU copies such a
 * picture at full speed, because it can pin its memory. */
GF_API enum gf_status gf_image_alloc(struct gf_image *image, struct gf_format format,
                                     struct gf_error *error) GF_CHECKED;
/* Frees the pixels if gf_image_alloc() or a pipeline allocated them, and sets data to NULL. */
GF_API void gf_image_free(struct gf_image *image);

/* The order of a picture's numbers: all channels of one pixel after another (NHWC), all pixels of
 * one channel after another (NCHW), or patch after patch (PATCHES, struct gf_numbers). */
enum gf_floats { GF_FLOATS_NHWC, GF_FLOATS_NCHW, GF_FLOATS_PATCHES };

/* Writes what networks take: (v / M - mean) / deviation of each sample v, in single precision,
 * rounded after each operation; M is 1 of floats, which nothing limits. `channels` is 0, for as
 * many as the picture has, or 3; a gray picture then gets three equal ones, and GF_ERROR_UNFIT is
 * returned for a picture with alpha. `mean` and `deviation` have a number for each channel of the
 * result; NULL means 0 and 1. `values` has room for width x height x channels numbers, without gaps
 * between rows. Returns GF_ERROR_USAGE if a mean is not finite or a deviation not a finite positive
 * number. */
GF_API enum gf_status gf_image_to_floats(const struct gf_image *image, enum gf_floats layout,
                                         int channels, const float *mean, const float *deviation,
                                         float *values, struct gf_error *error) GF_CHECKED;

/* The types of numbers. The 16-bit ones are IEEE's half and the upper half of a float. */
enum gf_number {
    GF_NUMBER_FLOAT32,
    GF_NUMBER_FLOAT16,
    GF_NUMBER_BFLOAT16,
    GF_NUMBER_UINT8 /* of scale 255; only without a mean and a deviation */
};

/* What becomes of samples: (v x scale / M - mean) / deviation, in single precision, rounded after
 * each operation, and at last to the nearest number of the type, to an even one between two. A
 * struct of zeros makes 0..1.
 *
 * The layout GF_FLOATS_PATCHES, which Qwen2-VL takes, divides the picture into squares of `patch`
 * pixels. `merge` x `merge` of them form a block, and the picture's sides must be multiples of
 * patch x merge. The patches follow each other row by row within a block, and so do the blocks.
 * Each patch has all pixels of one channel after another, `temporal` times as for so many equal
 * pictures. */
struct gf_numbers {
    enum gf_number type;
    enum gf_floats layout;
    int channels;                  /* see gf_image_to_floats() */
    float scale;                   /* the number of the largest sample; 0: 1, or 255 of bytes */
    const float *mean, *deviation; /* see gf_image_to_floats() */
    int patch;                     /* of the layout GF_FLOATS_PATCHES, 1 or more; else 0 */
    int merge, temporal;           /* of the same layout; 0: 1. temporal is at most 1024 */
};

/* Does what gf_image_to_floats() does, for numbers of that form. Returns GF_ERROR_UNFIT if the
 * picture does not consist of whole blocks of patches. */
GF_API enum gf_status gf_image_to_numbers(const struct gf_image *image,
                                          const struct gf_numbers *form, void *values,
                                          struct gf_error *error) GF_CHECKED;

/* Sets the samples of a picture of 16 bits, which is the caller's, to those of numbers of the
 * layout NHWC without gaps: the nearest ones to 65535 (v - black) / (white - black), to even ones
 * between two, limited to 0..65535. Samples of floats become (v - black) / (white - black), and
 * nothing limits them. Of integers, it returns GF_ERROR_UNFIT for a number that is NaN, or that is
 * farther outside than the range is wide, since its range is another. */
GF_API enum gf_status gf_image_from_numbers(const void *values, enum gf_number type, float black,
                                            float white, const struct gf_image *image,
                                            struct gf_error *error) GF_CHECKED;

/* Sets images[i].data to where the samples of arrays[i] begin, for arrays of a Python package that
 * are alike, which is faster than to ask each one by Python. arrays[i] is the address of an object
 * of the type whose __dlpack_c_exchange_api__ holds `exchange`, a struct DLPackExchangeAPI. The
 * caller holds the interpreter's lock. Returns GF_ERROR_UNFIT if an array has not the device, type,
 * shape and strides of the first one, or if the package cannot describe it, which may set an
 * exception of Python; GF_ERROR_UNAVAILABLE unless `exchange` is of DLPack 1. */
GF_API enum gf_status gf_images_place(const void *exchange, void *const *arrays, int count,
                                      struct gf_image *images, struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
