/* normalmap: computes normals of the picture as a height field. */
#include "filters/normalmap/normalmap.h"

#include <string.h>

#include "base/cpu.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

struct normalmap {
    double strength;
    int border;
};

static int normalmap_radius(const void *params)
{
    return 1;
}

static enum gf_status normalmap_shape(const void *params, struct gf_format in,
                                      struct gf_format *out, struct gf_error *error)
{
    out->channels = gf_has_alpha(in) ? 4 : 3;
    return GF_OK;
}

static enum gf_status normalmap_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct normalmap *const params = stage->params;
    const double max = gf_sample_max(stage->in);
    *(struct gf_normalmap *)stage->constants = (struct gf_normalmap){
        .slope = (float)(params->strength / (8 * 256 * max)), .border = params->border};
    return GF_OK;
}

/* Three rows of heights (int32_t, or float for floats), each one pixel wider on both sides, and
 * three rows of results. */
struct work {
    unsigned char *zeros;
    void *height[3];
    float *normal[3];
};

static size_t carve(struct work *work, void *base, struct gf_format format)
{
    struct gf_carver carver = {.base = base};
    const size_t width = (size_t)format.width;
    work->zeros = gf_carve(&carver, gf_row_bytes(format));
    for (int i = 0; i < 3; i++) {
        work->height[i] = gf_carve(&carver, (width + 2) * sizeof(int32_t));
        work->normal[i] = gf_carve(&carver, width * sizeof **work->normal);
    }
    return carver.used;
}

static size_t normalmap_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage->in);
}

GF_INLINE int sample(const void *row, const int bits, ptrdiff_t at)
{
    return bits == 8 ? ((const uint8_t *)row)[at] : ((const gf_u16_any *)row)[at];
}

GF_INLINE void heights_of(const void *row, const int bits, const int channels,
                          int32_t *restrict height, int width)
{
    for (ptrdiff_t x = 0; x < width; x++) {
        const int first = sample(row, bits, channels * x);
        height[x] = channels < 3 ? 256 * first
                                 : gf_luma601_fine(first, sample(row, bits, channels * x + 1),
                                                   sample(row, bits, channels * x + 2));
    }
}

GF_TARGET_CLONES static void heights(const void *row, struct gf_format format,
                                     int32_t *restrict height)
{
    GF_BY_DEPTH(format.bits, BITS,
                GF_BY_CHANNELS(format.channels, CHANNELS,
                               heights_of(row, BITS, CHANNELS, height, format.width)));
}

GF_TARGET_CLONES static void float_heights(const float *row, int channels, float *restrict height,
                                           int width)
{
    for (ptrdiff_t x = 0; x < width; x++) {
        const float *const v = row + channels * x;
        height[x] = channels < 3 ? 256.0f * v[0] : 77.0f * v[0] + 150.0f * v[1] + 29.0f * v[2];
    }
}

static void fill_heights(const struct gf_normalmap *normalmap, const struct work *work,
                         const struct gf_view *in, int row, void *height)
{
    const struct gf_format format = in->format;
    const unsigned char *from;
    gf_stencil_rows(in, row, 1, normalmap->border, work->zeros, &from);
    if (format.bits == 32)
        float_heights((const float *)from, format.channels, (float *)height + 1, format.width);
    else
        heights(from, format, (int32_t *)height + 1);
    gf_stencil_pad((int32_t *)height + 1, format.width, 1, sizeof(int32_t), normalmap->border);
}

#define NORMALS(name, type) \
    GF_TARGET_CLONES static void name(const struct work *work, int width, float slope) \
    { \
        const type *const above = work->height[0], *const here = work->height[1]; \
        const type *const below = work->height[2]; \
        float *restrict const red = work->normal[0]; \
        float *restrict const green = work->normal[1]; \
        float *restrict const blue = work->normal[2]; \
        for (int i = 0; i < width; i++) { \
            const type gx = \
                above[i + 2] - above[i] + 2 * (here[i + 2] - here[i]) + below[i + 2] - below[i]; \
            const type gy = below[i] + 2 * below[i + 1] + below[i + 2] - above[i] - \
                            2 * above[i + 1] - above[i + 2]; \
            const float x = -(slope * (float)gx), y = -(slope * (float)gy); \
            const float reciprocal = 1.0f / sqrtf(gf_normal_square(x, y)); \
            red[i] = x * reciprocal; \
            green[i] = y * reciprocal; \
            blue[i] = reciprocal; \
        } \
    }
NORMALS(normals, int32_t)
NORMALS(float_normals, float)

#define STORE(name, type, half) \
    GF_TARGET_CLONES static void name(const struct work *work, type *restrict to, int width) \
    { \
        const float *const red = work->normal[0], *const green = work->normal[1]; \
        const float *const blue = work->normal[2]; \
        for (ptrdiff_t x = 0; x < width; x++) { \
            to[3 * x] = (type)(int)gf_normal_rounded(red[x], half); \
            to[3 * x + 1] = (type)(int)gf_normal_rounded(green[x], half); \
            to[3 * x + 2] = (type)(int)gf_normal_rounded(blue[x], half); \
        } \
    }
STORE(store8, uint8_t, 127.5f)
STORE(store16, gf_u16_any, 32767.5f)

/* Stores a row of a picture with alpha: alpha is copied, and the normals are multiplied by it,
 * since the result is premultiplied like the input. */
GF_TARGET_CLONES static void store_alpha(const struct work *work, const struct gf_view *in,
                                         const struct gf_view *out, int y)
{
    const int channels = in->format.channels;
    const float max = (float)gf_sample_max(in->format);
    const unsigned char *const from = gf_view_row(in, y);
    unsigned char *const to = gf_view_row(out, y);
    for (ptrdiff_t x = 0; x < in->format.width; x++) {
        const ptrdiff_t at = x * channels + channels - 1;
        const int alpha = in->format.bits == 8 ? from[at] : ((const gf_u16_any *)from)[at];
        const float weight = (float)alpha / max;
        for (int c = 0; c < 4; c++) {
            const int v =
                c == 3 ? alpha
                       : gf_round_flat(gf_normal_unrounded(work->normal[c][x], 0.5f * max) * weight,
                                       max);
            if (in->format.bits == 8)
                to[4 * x + c] = (unsigned char)v;
            else
                ((gf_u16_any *)to)[4 * x + c] = (uint16_t)v;
        }
    }
}

GF_TARGET_CLONES static void store_floats(const struct work *work, const float *in, int channels,
                                          float *restrict to, int width)
{
    const bool has_alpha = channels % 2 == 0;
    for (ptrdiff_t x = 0, at = 0; x < width; x++) {
        const float alpha = has_alpha ? in[channels * x + channels - 1] : 1.0f;
        for (int c = 0; c < 3; c++)
            to[at++] = gf_normal_unrounded(work->normal[c][x], 0.5f) * alpha;
        if (has_alpha)
            to[at++] = alpha;
    }
}

static void normalmap_cpu(const struct gf_stage *stage, const struct gf_view *in,
                          const struct gf_view *out, void *scratch)
{
    const struct gf_normalmap *const normalmap = stage->constants;
    const int width = in->format.width;
    struct work work;
    carve(&work, scratch, in->format);
    memset(work.zeros, 0, gf_row_bytes(in->format));
    fill_heights(normalmap, &work, in, out->y - 1, work.height[1]);
    fill_heights(normalmap, &work, in, out->y, work.height[2]);
    for (int y = out->y; y < out->y + out->rows; y++) {
        void *const oldest = work.height[0];
        work.height[0] = work.height[1];
        work.height[1] = work.height[2];
        work.height[2] = oldest;
        fill_heights(normalmap, &work, in, y + 1, work.height[2]);
        (in->format.bits == 32 ? float_normals : normals)(&work, width, normalmap->slope);
        if (in->format.bits == 32)
            store_floats(&work, (const float *)gf_view_row(in, y), in->format.channels,
                         (float *)gf_view_row(out, y), width);
        else if (gf_has_alpha(in->format))
            store_alpha(&work, in, out, y);
        else if (in->format.bits == 8)
            store8(&work, gf_view_row(out, y), width);
        else
            store16(&work, (gf_u16_any *)gf_view_row(out, y), width);
    }
}

extern gf_launcher gf_normalmap_cuda;

const struct gf_filter gf_normalmap_filter = {
    .name = "normalmap",
    .synonyms = "bump",
    .summary = "normals of the picture taken as a height field",
    .example = "normalmap=8",
    .definition =
        "Unit normal (-s gx, -s gy, 1), out = (n / 2 + 1/2) M in R, G, B; gx (to the right) and gy "
        "(downwards) are\nSobel differences / 8 of v / M, v the bt601 luma, not rounded. Alpha is "
        "kept.",
    GF_TAKES(struct normalmap,
             GF_PARAM(struct normalmap, strength, 1, 0, 1000, "multiplies the slope"),
             GF_PARAM_BORDER(struct normalmap)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .within_alpha = true,
    .cost = {.pixel = 0.8},
    .shape = normalmap_shape,
    .radius = normalmap_radius,
    .columns = normalmap_radius,
    .constants_size = sizeof(struct gf_normalmap),
    .prepare = normalmap_prepare,
    .cpu_scratch = normalmap_scratch,
    .cpu = normalmap_cpu,
    .floats = normalmap_cpu,
    .floats_scratch = normalmap_scratch,
    .cuda = GF_CUDA({GF_VARIANT(
        "tiled", gf_normalmap_cuda,
        "each height once, in shared memory and registers, rsqrtf corrected (Best Practices "
        "11.1.3)")}),
};
