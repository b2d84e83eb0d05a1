/* resize: changes the size. */
#include "filters/resize/resize.h"

#include <string.h>

#include "filters/crop/crop.h"
#include "filters/pad/pad.h"
#include "pixel/resample/resample.h"
#include "pixel/stencil.h"
#include "stage/texture_layout.h"

enum { SIDE_MAX = 65535 };

/* The names are in the order of enum gf_resample_kernel and of the enums of resize.h. */
static const char *const kernels[] = {"lanczos3", "cubic", "linear", "nearest", "area", NULL};
static const char *const lights[] = {"srgb", "linear", NULL};
static const char *const fits[] = {"fill", "inside", "cover", "contain", NULL};
static const char *const onlies[] = {"any", "shrink", "enlarge", NULL};
static const char *const loads[] = {"full", "reduced", NULL};

static const struct gf_param resize_params[] = {
    GF_PARAM_LENGTH(struct gf_resize_params, w, 0.001, SIDE_MAX,
                    "columns; by default they follow from h, and the picture keeps its shape"),
    GF_PARAM_LENGTH(struct gf_resize_params, h, 0.001, SIDE_MAX,
                    "rows; by default they follow from w, and the picture keeps its shape"),
    GF_PARAM_CHOICE(struct gf_resize_params, kernel, GF_RESAMPLE_LANCZOS3, kernels,
                    "the weights by which pixels are averaged"),
    GF_PARAM_CHOICE(struct gf_resize_params, light, 0, lights,
                    "what is averaged: sRGB values or linear light"),
    GF_PARAM_CHOICE(struct gf_resize_params, fit, GF_FIT_FILL, fits,
                    "with w and h: fill distorts the picture to this size; inside makes the "
                    "largest picture within it; cover fills it and cuts the rest off; contain pads "
                    "the largest picture within it"),
    GF_PARAM_CHOICE(struct gf_resize_params, only, GF_RESIZE_ANY, onlies,
                    "shrink never makes a side larger, enlarge none smaller"),
    GF_PARAM_GRAVITY(struct gf_resize_params,
                     "which part fit=cover keeps; where fit=contain places the picture"),
    GF_PARAM_COLOUR(struct gf_resize_params, colour, 0xffffff, gf_pad_words,
                    "colour of the padding, as for pad"),
    GF_PARAM_CHOICE(struct gf_resize_params, load, GF_LOAD_FULL, loads,
                    "reduced: a JPEG is decoded at 1/2, 1/4 or 1/8 where that is at least twice "
                    "the size, if the filter is the first of its chain"),
    {0},
};

static enum gf_status resize_check(const void *params, struct gf_error *error)
{
    const struct gf_resize_params *const resize = params;
    if (resize->w.unit == GF_UNSET && resize->h.unit == GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE, "w or h is missing: pixels, or per cent as in 50%%");
    return GF_OK;
}

static enum gf_status resize_shape(const void *params, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    const struct gf_resize_size size = gf_resize_size_of(params, in.width, in.height);
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

static struct gf_resample_axis column_axis(const struct gf_stage *stage)
{
    const struct gf_resize_params *const resize = stage->params;
    const struct gf_resize_size size = gf_resize_size_of(resize, stage->in.width, stage->in.height);
    return (struct gf_resample_axis){.in = stage->in.width,
                                     .out = (int)size.w,
                                     .offset = gf_gravity_x(resize->gravity, size.full_w - size.w),
                                     .scale = size.in_w / size.full_w};
}

static struct gf_resample_axis row_axis(const struct gf_stage *stage)
{
    const struct gf_resize_params *const resize = stage->params;
    const struct gf_resize_size size = gf_resize_size_of(resize, stage->in.width, stage->in.height);
    return (struct gf_resample_axis){.in = stage->in.height,
                                     .out = (int)size.h,
                                     .offset = gf_gravity_y(resize->gravity, size.full_h - size.h),
                                     .scale = size.in_h / size.full_h};
}

static void resize_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct gf_resize_params *const resize = stage->params;
    const struct gf_resample_axis axis = row_axis(stage);
    gf_resample_inputs((enum gf_resample_kernel)resize->kernel, &axis, y0, y1, first, end);
}

static enum gf_status resize_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_resize_params *const resize = stage->params;
    const struct gf_resample_axis columns = column_axis(stage);
    const struct gf_resample_axis rows = row_axis(stage);
    return gf_resample_prepare(stage, (enum gf_resample_kernel)resize->kernel, resize->light == 1,
                               &columns, &rows, error);
}

static size_t resize_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_resize_params *const resize = stage->params;
    const struct gf_resample_axis columns = column_axis(stage), axis = row_axis(stage);
    return gf_resample_scratch(stage, (enum gf_resample_kernel)resize->kernel, resize->light == 1,
                               &columns, &axis);
}

extern gf_launcher gf_resize_cuda, gf_resize_stacked_cuda, gf_resize_fused_cuda,
    gf_resize_direct_cuda, gf_resize_texture_cuda, gf_resize_separable_cuda, gf_resize_shared_cuda;

static const char *refuses_nearest(const struct gf_stage *stage)
{
    return ((const struct gf_resize_params *)stage->params)->kernel == GF_RESAMPLE_NEAREST
               ? "does not take kernel=nearest, which sums nothing"
               : NULL;
}

static const char *refuses_texture(const struct gf_stage *stage)
{
    const bool is_small =
        gf_samples(stage->in) <= GF_TEXTURE_WIDTH_MAX && stage->in.height <= GF_TEXTURE_HEIGHT_MAX;
    return is_small ? refuses_nearest(stage) : "takes up to 131072 samples a row and 65000 rows";
}

/* The largest number of input rows that any `rows` rows of the result depend on. */
static int input_rows_most(const struct gf_stage *stage, int rows)
{
    const struct gf_resample_axis axis = row_axis(stage);
    const double between = ceil((rows - 1) * axis.scale) + 1;
    const double most =
        gf_resample_taps_most(
            (enum gf_resample_kernel)((const struct gf_resize_params *)stage->params)->kernel,
            &axis) +
        between;
    return most < axis.in ? (int)most : axis.in;
}

/* The kernels of nearest pixels and of halves convert straight RGBA themselves. */
static enum gf_fusing resize_fuses(const void *params)
{
    const struct gf_resize_params *const resize = params;
    return resize->kernel == GF_RESAMPLE_NEAREST ||
                   (!resize->light && resize->size.in_w == 2 * resize->size.full_w)
               ? GF_FUSES_ALPHA
               : GF_FUSES_NOTHING;
}

static size_t separable_scratch(const struct gf_stage *stage, int rows)
{
    return gf_samples(stage->out) * sizeof(float) * (size_t)input_rows_most(stage, rows);
}

static size_t texture_scratch(const struct gf_stage *stage, int rows)
{
    return gf_texture_scratch(stage->in, input_rows_most(stage, rows));
}

extern const struct gf_filter gf_resize_filter, gf_crop_filter;

/* Appends the crop of a picture that the parameter only= leaves unscaled. */
static void add_cut(const struct gf_resize_params *resize, const struct gf_resize_size *size,
                    struct gf_parts *parts)
{
    const struct gf_crop_params crop = {
        .w = gf_in_pixels(size->w), .h = gf_in_pixels(size->h), .gravity = resize->gravity};
    if (size->w < size->full_w || size->h < size->full_h)
        gf_parts_add(parts, &gf_crop_filter, &crop, sizeof crop);
}

static void resize_expand(const void *params, const struct gf_extent *extent,
                          struct gf_parts *parts)
{
    struct gf_resize_params resize = *(const struct gf_resize_params *)params;
    resize.size = gf_resize_size_of(&resize, extent->width, extent->height);
    resize.size.in_w = (double)extent->width / extent->reduction;
    resize.size.in_h = (double)extent->height / extent->reduction;
    if (resize.only != GF_RESIZE_ANY && extent->reduction == 1 &&
        resize.size.full_w == extent->width && resize.size.full_h == extent->height)
        add_cut(&resize, &resize.size, parts);
    else
        gf_parts_add(parts, &gf_resize_filter, &resize, sizeof resize);
    gf_resize_add_padding(params, extent, parts);
}

const struct gf_filter gf_resize_filter = {
    .name = "resize",
    .names = "scale",
    .synonyms = "size shrink enlarge fit contain cover",
    .summary = "another size, by a weighted mean of pixels",
    .definition =
        "Pixel centres lie at half integers; when shrinking, the kernel is widened by the ratio; "
        "weights are normalised.\nColumns first, clamped, then rows. Kernels: Lanczos of 3 lobes, "
        "cubic with a = -1/2, linear (triangle), area (box),\nnearest. light=linear averages "
        "linear light instead of sRGB values.",
    GF_PARAMS(struct gf_resize_params, resize_params),
    .kind = GF_STENCIL,
    .takes_no_region = true,
    .example = "resize=50%",
    .cost = {.pixel = 1, .row = 1.1},
    .check = resize_check,
    .expand = resize_expand,
    .reduction = gf_resize_reduction,
    .shape = resize_shape,
    .input_rows = resize_input_rows,
    .input_rows_most = input_rows_most,
    .prepare = resize_prepare,
    .cpu_scratch = resize_scratch,
    .cpu = gf_resample_cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA(
        {GF_VARIANT("tiled", gf_resize_cuda,
                    "both passes at once, by threads that walk down through registers, or by tiles "
                    "in shared memory")},
        {GF_STUDIED("direct", gf_resize_direct_cuda,
                    "one thread a pixel, which sums its whole window from global memory (Best "
                    "Practices 9.2.1)"),
         .refuses = refuses_nearest},
        {GF_STUDIED("texture", gf_resize_texture_cuda,
                    "the same by texture fetches (Best Practices 9.2.5)"),
         .refuses = refuses_texture, .scratch = texture_scratch},
        {GF_STUDIED("separable", gf_resize_separable_cuda,
                    "columns, then rows, through global memory"),
         .refuses = refuses_nearest, .scratch = separable_scratch},
        {GF_STUDIED("shared", gf_resize_shared_cuda,
                    "both passes at once, by tiles in shared memory (Best Practices 9.2.3)"),
         .refuses = refuses_nearest}),
    .fuses = resize_fuses,
    .cuda_fused = GF_LAUNCHER(gf_resize_fused_cuda),
    .cuda_stacked = GF_LAUNCHER(gf_resize_stacked_cuda),
};
