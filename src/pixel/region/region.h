/* Filters that are limited to a region: how far the region covers a pixel, and which pixel that
 * makes, for host and device. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "base/host_device.h"
#include "pixel/sample.h"
#include "stage/stage.h"

enum { GF_REGION_SHAPES_MAX = 16 };

/* A rectangle, or the ellipse that touches its sides, in pixels. It may lie beyond the picture. */
struct gf_region_shape {
    int is_ellipse;
    int x0, y0, x1, y1; /* the first pixel, and the first pixel behind it */
};

struct gf_region_cover {
    int count;
    float feather; /* the width of the soft edge inside a shape, in pixels */
    struct gf_region_shape shape[GF_REGION_SHAPES_MAX];
};

/* A mask of one channel with 16 bits, which is stretched over the picture. */
struct gf_region_mask {
    const unsigned char *data; /* NULL: the region has no mask */
    size_t pitch;
    int width, height;
    float scale_x, scale_y; /* the mask's size divided by the picture's */
};

GF_HOST_DEVICE float gf_region_least(float a, float b)
{
    return a < b ? a : b;
}

/* Returns the distance of the pixel's middle from the edge of the shape, in pixels; it is below 0
 * outside. In an ellipse it is measured along the smaller half axis, to which the ellipse is
 * scaled. */
GF_HOST_DEVICE float gf_region_depth(const struct gf_region_shape *shape, int x, int y)
{
    const float left = (float)(x - shape->x0) + 0.5f, right = (float)(shape->x1 - x) - 0.5f;
    const float above = (float)(y - shape->y0) + 0.5f, below = (float)(shape->y1 - y) - 0.5f;
    if (!shape->is_ellipse)
        return gf_region_least(gf_region_least(left, right), gf_region_least(above, below));
    const float rx = 0.5f * (float)(shape->x1 - shape->x0);
    const float ry = 0.5f * (float)(shape->y1 - shape->y0);
    const float across = (left - rx) / rx, down = (above - ry) / ry;
    return (1.0f - sqrtf(across * across + down * down)) * gf_region_least(rx, ry);
}

/* Returns a sample of the mask, 0..1. */
GF_HOST_DEVICE float gf_region_mask_sample(const struct gf_region_mask *mask, int x, int y)
{
    const uint16_t *const row =
        (const uint16_t *)(const void *)(mask->data + (size_t)y * mask->pitch);
    return (float)row[x] / 65535.0f;
}

/* Returns the position on the mask of column or row `at` of the picture, limited to the centres of
 * its outermost samples. */
GF_HOST_DEVICE float gf_region_mask_position(int at, float scale, int count)
{
    const float position = ((float)at + 0.5f) * scale - 0.5f;
    const float limited = gf_region_least(position, (float)(count - 1));
    return limited > 0.0f ? limited : 0.0f;
}

/* Returns the mask's value at pixel (x, y) of the picture, 0..1, by bilinear interpolation. */
GF_HOST_DEVICE float gf_region_mask_coverage(const struct gf_region_mask *mask, int x, int y)
{
    const float u = gf_region_mask_position(x, mask->scale_x, mask->width);
    const float v = gf_region_mask_position(y, mask->scale_y, mask->height);
    const int left = (int)u, top = (int)v;
    const int right = left + 1 < mask->width ? left + 1 : left;
    const int bottom = top + 1 < mask->height ? top + 1 : top;
    const float across = u - (float)left, down = v - (float)top;
    const float a = gf_region_mask_sample(mask, left, top);
    const float b = gf_region_mask_sample(mask, right, top);
    const float c = gf_region_mask_sample(mask, left, bottom);
    const float d = gf_region_mask_sample(mask, right, bottom);
    const float upper = a + across * (b - a), lower = c + across * (d - c);
    return upper + down * (lower - upper);
}

/* Returns how far the region covers a pixel, 0..1: by its mask, or the most of all its shapes. */
GF_HOST_DEVICE float gf_region_coverage(const struct gf_region_cover *cover,
                                        const struct gf_region_mask *mask, int x, int y)
{
    float most = 0.0f;
    if (mask->data)
        return gf_region_mask_coverage(mask, x, y);
    for (int i = 0; i < cover->count; i++) {
        const float depth = gf_region_depth(&cover->shape[i], x, y);
        const float part =
            cover->feather > depth ? gf_region_least(depth / cover->feather, 1.0f) : 1.0f;
        if (depth >= 0.0f && part > most)
            most = part;
    }
    return most;
}

/* Defines a function that mixes a pixel of the picture with the filtered pixel; both have straight
 * alpha, and 0 < coverage < 1. Colours are mixed in proportion to their alphas, so that transparent
 * pixels give none. With equal alphas, as without alpha, v becomes v + coverage (filtered - v). */
#define GF_REGION_MIX(name_, sample_) \
    GF_HOST_DEVICE void name_(sample_ *pixel, const sample_ *filtered, int channels, float max, \
                              float coverage) \
    { \
        const int alpha = channels % 2 == 0 ? channels - 1 : channels; \
        float part = coverage; \
        if (alpha < channels && pixel[alpha] != filtered[alpha]) { \
            const float a = (float)pixel[alpha], b = (float)filtered[alpha]; \
            const float of_filtered = coverage * b; \
            part = of_filtered / ((1.0f - coverage) * a + of_filtered); \
            pixel[alpha] = (sample_)gf_round_sample(a + coverage * (b - a), max); \
        } \
        for (int c = 0; c < alpha; c++) { \
            const float v = (float)pixel[c]; \
            pixel[c] = (sample_)gf_round_sample(v + part * ((float)filtered[c] - v), max); \
        } \
    }
GF_REGION_MIX(gf_region_mix_bytes, uint8_t)
GF_REGION_MIX(gf_region_mix_words, uint16_t)

/* Mixes a pixel of floats so, without limits. Equal numbers stay. */
GF_HOST_DEVICE void gf_region_mix_floats(float *pixel, const float *filtered, int channels,
                                         float coverage)
{
    const int alpha = channels % 2 == 0 ? channels - 1 : channels;
    float part = coverage;
    if (alpha < channels && pixel[alpha] != filtered[alpha]) {
        const float of_pixel = (1.0f - coverage) * pixel[alpha];
        const float of_filtered = coverage * filtered[alpha];
        part = of_filtered / (of_pixel + of_filtered);
        pixel[alpha] = of_pixel + of_filtered;
    }
    for (int c = 0; c < alpha && part != 0.0f; c++) {
        const float mixed = (1.0f - part) * pixel[c] + part * filtered[c];
        pixel[c] = part == 1.0f || filtered[c] == pixel[c] ? filtered[c] : mixed;
    }
}

/* The filter gf_region: the stages of the filter that is limited run for the rows that the region
 * touches, and their result replaces the picture's pixels as far as the region covers them. All
 * other pixels are copied. */

GF_C_BEGIN

enum { GF_REGION_STAGES_MAX = 64 };

/* A rectangle within the picture that contains shapes of the region. Boxes do not overlap. The
 * stages stage[first] .. stage[first + count - 1] of struct gf_region_parts are the box's; they
 * filter columns from .. from + columns - 1 of the picture, as if it had no others. */
struct gf_region_box {
    struct gf_rectangle at;
    int first, count;
    int from, columns;
    bool covered; /* whether each pixel of the box is replaced entirely */
};

/* The parameters of gf_region, which the planner makes (gf_region_plan()). */
struct gf_region_parts {
    struct gf_region_cover cover;
    /* One channel of 16 bits, which counts instead of the shapes; NULL: there is none. */
    const struct gf_picture *mask;
    const struct gf_filter *written; /* the filter of the chain that is limited, for messages */
    int boxes, stages;
    struct gf_region_box box[GF_REGION_SHAPES_MAX];
    struct gf_stage stage[GF_REGION_STAGES_MAX];
};

/* The constants of gf_region: the offset in bytes of each stage's constants, a multiple of 256. */
struct gf_region_constants {
    size_t at[GF_REGION_STAGES_MAX];
};

extern const struct gf_filter gf_region;

/* The rows of one box in a band. cut[0] are the rows that the box's first stage reads, cut[i + 1]
 * those that its stage i makes; the last ones are put into the result. */
struct gf_region_band {
    const struct gf_region_box *box;
    struct gf_rows cut[GF_REGION_STAGES_MAX + 1];
    /* Parts of the scratch memory: some columns of the input, the results of the stages in turn,
     * and the scratch memory of each stage. */
    unsigned char *columns, *made[2], *scratch;
};

/* Finds the rows of box number `box` in a band of the result. Returns false if there are none.
 * `scratch` is the memory that gf_region's cpu_scratch() or cuda_scratch() asks for. */
bool gf_region_band(const struct gf_stage *stage, int box, const struct gf_view *out, void *scratch,
                    struct gf_region_band *band);
/* Returns stage i of the box with its constants, and its result's view in scratch memory, *out. */
struct gf_stage gf_region_stage(const struct gf_stage *stage, const struct gf_region_band *band,
                                int i, struct gf_view *out);
/* Returns the bytes from one row to the next of views in scratch memory. */
size_t gf_region_pitch(struct gf_format format);
/* Returns the mask for a picture of the format, whose samples are in `view`, on host or device. */
struct gf_region_mask gf_region_mask_of(const struct gf_region_parts *parts,
                                        struct gf_format picture, const struct gf_view *view);

/* Reads a mask's file: one channel of 16 bits, the luma of each pixel times its alpha. A file is
 * read once and shared. The caller returns the mask by gf_region_mask_release(). */
enum gf_status gf_region_mask_load(const char *path, const struct gf_picture **mask,
                                   struct gf_error *error) GF_CHECKED;
void gf_region_mask_release(const struct gf_picture *mask);

GF_C_END
