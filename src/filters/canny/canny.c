/* canny: draws thin, connected edges. */
#include "filters/canny/edges.h"

#include <limits.h>
#include <math.h>

#include "filters/canny/hysteresis.h"
#include "pixel/stencil.h"
#include "stage/stage.h"

struct canny {
    double low, high;
};

static const struct gf_param params[] = {
    GF_PARAM(struct canny, low, 50, 0, 1500,
             "gradient above which a pixel is a weak edge, in 8-bit steps of Sobel's sums"),
    GF_PARAM(struct canny, high, 150, 0, 1500,
             "gradient above which a pixel is a strong edge, in the same unit; low and high may be "
             "exchanged"),
    {0},
};

/* ---- gradients, and the pixels where they are largest ---- */

static enum gf_status thin_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    *out = (struct gf_format){
        .width = 8 * gf_bit_words(in.width), .height = in.height, .channels = 1, .bits = 8};
    return GF_OK;
}

static void thin_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    *first = y0 > GF_EDGE_REACH ? y0 - GF_EDGE_REACH : 0;
    *end = y1 < stage->in.height - GF_EDGE_REACH ? y1 + GF_EDGE_REACH : stage->in.height;
}

static int64_t square_of(double threshold, int bits)
{
    const double scaled = bits == 8 ? threshold : threshold * 257;
    return (int64_t)floor(scaled * scaled);
}

static enum gf_status thin_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct canny *const canny = stage->params;
    *(struct gf_edge_limits *)stage->constants =
        (struct gf_edge_limits){.low = square_of(fmin(canny->low, canny->high), stage->in.bits),
                                .high = square_of(fmax(canny->low, canny->high), stage->in.bits)};
    return GF_OK;
}

static size_t thin_scratch(const struct gf_stage *stage, int rows)
{
    return gf_edge_scratch(stage->in);
}

static void thin_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    gf_edge_rows(in, stage->constants, out, scratch);
}

extern gf_launcher gf_canny_thin_cuda, gf_canny_link_cuda, gf_canny_draw_cuda;

static const struct gf_filter thin = {
    .name = "canny-thin",
    .kind = GF_STRAIGHT,
    .cost = {.pixel = 5},
    .params_size = sizeof(struct canny),
    .shape = thin_shape,
    .input_rows = thin_rows,
    .constants_size = sizeof(struct gf_edge_limits),
    .prepare = thin_prepare,
    .cpu_scratch = thin_scratch,
    .cpu = thin_cpu,
    .cuda =
        GF_CUDA({GF_VARIANT("march", gf_canny_thin_cuda,
                            "8 bits without alpha: four columns a lane, in registers; otherwise "
                            "a thread a column, and a ring of rows of gradients in shared "
                            "memory")}),
};

/* The picture of bits is declared as one long row, so that no part of it can be requested without
 * the rest. */
static enum gf_status link_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    const int64_t width = (int64_t)in.width / 2 * in.height;
    if (width > INT_MAX)
        return gf_fail(error, GF_ERROR_INPUT, "the picture is too large");
    out->width = (int)width;
    out->height = 1;
    return GF_OK;
}

static bool always_whole(const void *params_)
{
    return true;
}

static void all_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    *first = 0;
    *end = stage->in.height;
}

static size_t link_scratch(const struct gf_stage *stage, int rows)
{
    return gf_hysteresis_scratch(stage->in);
}

static size_t link_device_scratch(const struct gf_stage *stage, int rows)
{
    return gf_hysteresis_device_scratch(stage->in);
}

static void link_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    gf_hysteresis(in, out->data, scratch);
}

static const struct gf_filter link = {
    .name = "canny-link",
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 0.1},
    .shape = link_shape,
    .needs_whole = always_whole,
    .input_rows = all_rows,
    .cpu_scratch = link_scratch,
    .cuda_scratch = link_device_scratch,
    .cpu = link_cpu,
    .cuda = GF_CUDA({GF_VARIANT("union-find", gf_canny_link_cuda,
                                "tiles are flooded in registers; what is left is joined into trees "
                                "by compare-and-swap, in a fixed number of launches")}),
};

/* ---- the third part: bits become samples ---- */

static enum gf_status draw_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    const struct gf_canny_picture *const picture = params_;
    *out = (struct gf_format){
        .width = picture->width, .height = picture->height, .channels = 1, .bits = picture->bits};
    return GF_OK;
}

static void draw_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_format format = out->format;
    const size_t pitch = (size_t)gf_bit_words(format.width) * 4;
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const bits = in->data + (size_t)y * pitch;
        unsigned char *const to = gf_view_row(out, y);
        for (int x = 0; x < format.width; x++) {
            const unsigned v = bits[x / 8] >> x % 8 & 1;
            if (format.bits == 8)
                to[x] = (unsigned char)(0 - v);
            else
                ((gf_u16_any *)to)[x] = (uint16_t)(0 - v);
        }
    }
}

static const struct gf_filter draw = {
    .name = "canny-draw",
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 0.5},
    .shape = draw_shape,
    .needs_whole = always_whole,
    .input_rows = all_rows,
    .cpu = draw_cpu,
    .cuda = GF_CUDA({GF_VARIANT("bits", gf_canny_draw_cuda, "16 bytes of samples a thread")}),
};

/* ---- the filter that consists of these parts ---- */

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct gf_canny_picture picture = {extent->width, extent->height, extent->bits};
    gf_parts_add(parts, &thin, params_, sizeof(struct canny));
    gf_parts_add(parts, &link, NULL, 0);
    gf_parts_add(parts, &draw, &picture, sizeof picture);
}

const struct gf_filter gf_canny_filter = {
    .name = "canny",
    .synonyms = "edge edges edgedetect contour",
    .summary = "edges, thin and connected, by Canny",
    .example = "blur=1,canny",
    .definition = "M where the gradient (3x3 Sobel, border=edge) exceeds low and is larger than "
                  "the gradients of the two neighbours across the edge, and where such pixels "
                  "connect the pixel with one whose gradient exceeds high; else 0. The result is "
                  "gray, and that of OpenCV's Canny with L2gradient. The channel with the largest "
                  "gradient counts. A picture with alpha counts as laid on black.",
    GF_PARAMS(struct canny, params),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .expand = expand,
};
