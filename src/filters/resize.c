/* resize: another size. */
#include "pixel/resample.h"
#include "pixel/stencil.h"
#include "stage/texture_layout.h"

enum { SIDE_MAX = 65535 };
enum fit { FIT_FILL, FIT_INSIDE, FIT_COVER };

struct resize {
    struct gf_length w, h;
    int kernel, light, fit;
};

/* In the order of enum gf_resample_kernel and enum fit. */
static const char *const kernels[] = {"lanczos3", "cubic", "linear", "nearest", "area", NULL};
static const char *const lights[] = {"srgb", "linear", NULL};
static const char *const fits[] = {"fill", "inside", "cover", NULL};

static const struct gf_param resize_params[] = {
    GF_PARAM_LENGTH(struct resize, w, 0.001, SIDE_MAX,
                    "columns, pixels or % (by h, keeping the shape)"),
    GF_PARAM_LENGTH(struct resize, h, 0.001, SIDE_MAX,
                    "rows, pixels or % (by w, keeping the shape)"),
    GF_PARAM_CHOICE(struct resize, kernel, GF_RESAMPLE_LANCZOS3, kernels,
                    "what a pixel is averaged with"),
    GF_PARAM_CHOICE(struct resize, light, 0, lights,
                    "what is averaged: sRGB values or linear light"),
    GF_PARAM_CHOICE(struct resize, fit, FIT_FILL, fits,
                    "with w and h: exactly that, the largest inside, or cut to cover it"),
    {0},
};

static enum gf_status resize_check(const void *params, struct gf_error *error)
{
    const struct resize *const resize = params;
    if (resize->w.unit == GF_UNSET && resize->h.unit == GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE, "w or h is missing: pixels, or per cent as in 50%%");
    return GF_OK;
}

static double pixels(struct gf_length length, int whole)
{
    const double side =
        length.unit == GF_PERCENT ? floor(length.value * whole / 100 + 0.5) : length.value;
    return side < 1 ? 1 : side;
}

/* The side that goes with `side` on the other axis. */
static double in_proportion(double side, int whole, int other_whole)
{
    const double other = floor(side * other_whole / whole + 0.5);
    return other < 1 ? 1 : other;
}

/* The picture is scaled to full_w x full_h, of which the middle w x h is made. */
struct size {
    double w, h, full_w, full_h;
};

static struct size size_of(const struct resize *resize, struct gf_format in)
{
    struct size size = {0};
    if (resize->w.unit != GF_UNSET)
        size.w = pixels(resize->w, in.width);
    if (resize->h.unit != GF_UNSET)
        size.h = pixels(resize->h, in.height);
    if (resize->w.unit == GF_UNSET)
        size.w = in_proportion(size.h, in.height, in.width);
    else if (resize->h.unit == GF_UNSET)
        size.h = in_proportion(size.w, in.width, in.height);
    size.full_w = size.w;
    size.full_h = size.h;
    if (resize->fit == FIT_FILL || resize->w.unit == GF_UNSET || resize->h.unit == GF_UNSET)
        return size;
    const bool width_is_nearer = size.w * in.height < size.h * in.width;
    if (width_is_nearer == (resize->fit == FIT_INSIDE))
        size.full_h = in_proportion(size.w, in.width, in.height);
    else
        size.full_w = in_proportion(size.h, in.height, in.width);
    if (resize->fit == FIT_INSIDE) {
        size.w = size.full_w;
        size.h = size.full_h;
    }
    return size;
}

static enum gf_status resize_shape(const void *params, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    const struct size size = size_of(params, in);
    if (size.w > SIDE_MAX || size.h > SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%.0fx%.0f is larger than %d pixels a side", size.w,
                       size.h, SIDE_MAX);
    if (size.full_w > 1e9 || size.full_h > 1e9)
        return gf_fail(error, GF_ERROR_USAGE, "%dx%d is too narrow to cover %.0fx%.0f", in.width,
                       in.height, size.w, size.h);
    out->width = (int)size.w;
    out->height = (int)size.h;
    return GF_OK;
}

static struct gf_resample_axis axis_of(int in, double out, double full)
{
    return (struct gf_resample_axis){.in = in,
                                     .out = (int)out,
                                     .offset = (int)floor((full - out) / 2),
                                     .scale = (double)in / full};
}

static struct gf_resample_axis row_axis(const struct gf_stage *stage)
{
    const struct size size = size_of(stage->params, stage->in);
    return axis_of(stage->in.height, size.h, size.full_h);
}

static void resize_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct resize *const resize = stage->params;
    const struct gf_resample_axis axis = row_axis(stage);
    gf_resample_inputs((enum gf_resample_kernel)resize->kernel, &axis, y0, y1, first, end);
}

static enum gf_status resize_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct resize *const resize = stage->params;
    const struct size size = size_of(resize, stage->in);
    const struct gf_resample_axis columns = axis_of(stage->in.width, size.w, size.full_w);
    const struct gf_resample_axis rows = row_axis(stage);
    return gf_resample_prepare(stage, (enum gf_resample_kernel)resize->kernel, resize->light == 1,
                               &columns, &rows, error);
}

static size_t resize_scratch(const struct gf_stage *stage, int rows)
{
    const struct resize *const resize = stage->params;
    const struct gf_resample_axis axis = row_axis(stage);
    (void)rows;
    return gf_resample_scratch(stage, (enum gf_resample_kernel)resize->kernel, &axis);
}

extern gf_launcher gf_resize_cuda, gf_resize_direct_cuda, gf_resize_texture_cuda,
    gf_resize_separable_cuda, gf_resize_shared_cuda;

static const char *refuses_nearest(const struct gf_stage *stage)
{
    return ((const struct resize *)stage->params)->kernel == GF_RESAMPLE_NEAREST
               ? "does not take kernel=nearest, which sums nothing"
               : NULL;
}

static const char *refuses_texture(const struct gf_stage *stage)
{
    const bool is_small =
        gf_samples(stage->in) <= GF_TEXTURE_WIDTH_MAX && stage->in.height <= GF_TEXTURE_HEIGHT_MAX;
    return is_small ? refuses_nearest(stage) : "takes up to 131072 samples a row and 65000 rows";
}

/* No fewer rows of the input than that many of the result are made of, wherever they lie. */
static int input_rows_most(const struct gf_stage *stage, int rows)
{
    const struct gf_resample_axis axis = row_axis(stage);
    const double between = ceil((rows - 1) * axis.scale) + 1;
    const double most =
        gf_resample_taps_most(
            (enum gf_resample_kernel)((const struct resize *)stage->params)->kernel, &axis) +
        between;
    return most < axis.in ? (int)most : axis.in;
}

static size_t separable_scratch(const struct gf_stage *stage, int rows)
{
    return gf_samples(stage->out) * sizeof(float) * (size_t)input_rows_most(stage, rows);
}

static size_t texture_scratch(const struct gf_stage *stage, int rows)
{
    return gf_texture_scratch(stage->in, input_rows_most(stage, rows));
}

const struct gf_filter gf_resize_filter = {
    .name = "resize",
    .synonyms = "scale thumbnail size",
    .summary = "Another size, by a weighted mean of pixels",
    .definition =
        "Pixel centres lie at half integers; when shrinking, the kernel is widened by the ratio; "
        "weights are normalised.\nColumns first, clamped, then rows. Kernels: Lanczos of 3 lobes, "
        "cubic with a = -1/2, linear (triangle), area (box),\nnearest. light=linear averages "
        "linear light instead of sRGB values.",
    .params = resize_params,
    .params_size = sizeof(struct resize),
    .kind = GF_STENCIL,
    .cost = {.pixel = 1, .row = 2.2},
    .check = resize_check,
    .shape = resize_shape,
    .input_rows = resize_input_rows,
    .prepare = resize_prepare,
    .cpu_scratch = resize_scratch,
    .cpu = gf_resample_cpu,
    .cuda = GF_CUDA(
        {GF_VARIANT("tiled", gf_resize_cuda,
                    "both passes at once, by threads that walk down through registers, or by tiles "
                    "in shared memory")},
        {GF_VARIANT("direct", gf_resize_direct_cuda,
                    "one thread a pixel, which sums its whole window from global memory (Best "
                    "Practices 9.2.1)"),
         .refuses = refuses_nearest},
        {GF_VARIANT("texture", gf_resize_texture_cuda,
                    "the same by texture fetches (Best Practices 9.2.5)"),
         .refuses = refuses_texture, .scratch = texture_scratch},
        {GF_VARIANT("separable", gf_resize_separable_cuda,
                    "columns, then rows, through global memory"),
         .refuses = refuses_nearest, .scratch = separable_scratch},
        {GF_VARIANT("shared", gf_resize_shared_cuda,
                    "both passes at once, by tiles in shared memory (Best Practices 9.2.3)"),
         .refuses = refuses_nearest}),
};
