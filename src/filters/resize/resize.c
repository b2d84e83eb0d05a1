/* resize, and pixelate, which consists of two of it. */
#include "filters/resize/resize.h"

#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "filters/crop/crop.h"
#include "filters/pad/pad.h"
#include "filters/resize/opencv.h"
#include "filters/resize/pillow.h"
#include "pixel/resample/resample.h"
#include "stage/filter.h"

/* The last name of kernels[] is another one of area. */
static enum gf_resample_kernel kernel_of(const void *params)
{
    const int kernel = ((const struct gf_resize_params *)params)->kernel;
    return kernel > GF_RESAMPLE_HAMMING ? GF_RESAMPLE_AREA : (enum gf_resample_kernel)kernel;
}

/* ---- the size of the result, and the parts around the scaling ---- */

extern const struct gf_filter gf_pad_filter;

/* Multiplies `side` by the factor that makes `whole` as long as `length` says. Only the result is
 * rounded, so that a percentage means the same for both sides. */
static double scaled(struct gf_length length, int whole, int side)
{
    const double exact = length.value * side / (length.unit == GF_PERCENT ? 100 : (double)whole);
    return fmax(floor(exact + 0.5), 1);
}

/* A side that is not given follows from the other side. */
struct gf_resize_size gf_resize_asked(const struct gf_resize_params *resize, int width, int height)
{
    const bool has_w = resize->w.unit != GF_UNSET, has_h = resize->h.unit != GF_UNSET;
    struct gf_resize_size size = {.in_w = width, .in_h = height};
    size.w = has_w ? scaled(resize->w, width, width) : scaled(resize->h, height, width);
    size.h = has_h ? scaled(resize->h, height, height) : scaled(resize->w, width, height);
    size.full_w = size.w;
    size.full_h = size.h;
    return size;
}

static double scale_of(struct gf_length length, int whole)
{
    return length.value / (length.unit == GF_PERCENT ? 100 : whole);
}

/* A gravity that looks for a part of the picture makes fill, the default, cover. */
static enum gf_fit fit_of(const struct gf_resize_params *resize)
{
    return gf_gravity_is_found(resize->gravity) && resize->fit == GF_FIT_FILL
               ? GF_FIT_COVER
               : (enum gf_fit)resize->fit;
}

static bool keeps_shape(const struct gf_resize_params *resize)
{
    return fit_of(resize) != GF_FIT_FILL && resize->w.unit != GF_UNSET &&
           resize->h.unit != GF_UNSET;
}

/* Applies the parameter only= to the scaled size. Where the proportions are kept, the picture is
 * either scaled or not scaled at all. */
static void limit_size(const struct gf_resize_params *resize, int width, int height,
                       struct gf_resize_size *size)
{
    const int sign = resize->only == GF_RESIZE_SHRINK ? 1 : -1;
    const bool w_exceeds = sign * (size->full_w - width) > 0,
               h_exceeds = sign * (size->full_h - height) > 0;
    const bool fixed =
        keeps_shape(resize) || resize->w.unit == GF_UNSET || resize->h.unit == GF_UNSET;
    if (resize->only == GF_RESIZE_ANY)
        return;
    if (w_exceeds || (fixed && h_exceeds))
        size->full_w = width;
    if (h_exceeds || (fixed && w_exceeds))
        size->full_h = height;
    const bool cuts = keeps_shape(resize) && fit_of(resize) == GF_FIT_COVER;
    size->w = cuts && size->w < size->full_w ? size->w : size->full_w;
    size->h = cuts && size->h < size->full_h ? size->h : size->full_h;
}

struct gf_resize_size gf_resize_size_of(const struct gf_resize_params *resize, int width,
                                        int height)
{
    if (resize->size.w > 0)
        return resize->size;
    struct gf_resize_size size = gf_resize_asked(resize, width, height);
    const bool covers = fit_of(resize) == GF_FIT_COVER;
    if (keeps_shape(resize)) {
        const bool width_is_nearer = scale_of(resize->w, width) < scale_of(resize->h, height);
        if (width_is_nearer != covers)
            size.full_h = scaled(resize->w, width, height);
        else
            size.full_w = scaled(resize->h, height, width);
        if (!covers) {
            size.w = size.full_w;
            size.h = size.full_h;
        }
    }
    limit_size(resize, width, height, &size);
    return size;
}

void gf_resize_pad(const struct gf_resize_params *resize, const struct gf_extent *extent,
                   struct gf_parts *parts)
{
    const struct gf_resize_size asked = gf_resize_asked(resize, extent->width, extent->height);
    const struct gf_pad_params pad = {.w = gf_in_pixels(asked.w),
                                      .h = gf_in_pixels(asked.h),
                                      .gravity = resize->gravity,
                                      .colour = resize->colour};
    if (resize->fit == GF_FIT_CONTAIN && keeps_shape(resize))
        gf_parts_add(parts, &gf_pad_filter, &pad, sizeof pad);
}

/* Returns the largest number by which a picture's sides may be divided when it is read: it must
 * stay at least twice as large as the result. */
int gf_resize_reduction(const void *params, int width, int height)
{
    const struct gf_resize_params *const resize = params;
    const struct gf_resize_size size = gf_resize_size_of(resize, width, height);
    const double most = fmin(width / (2 * size.full_w), height / (2 * size.full_h));
    if (resize->load == GF_LOAD_FULL || resize->kernel == GF_RESAMPLE_NEAREST)
        return 1;
    return most > 1 ? (int)most : 1;
}

/* ---- resize: changes the size ---- */

/* The names are in the order of enum gf_resample_kernel and of the enums above. */
static const char *const kernels[] = {"lanczos3", "cubic",   "linear", "nearest",
                                      "area",     "hamming", "box",    NULL};
static const char *const lights[] = {"srgb", "linear", NULL};
static const char *const resize_fits[] = {"fill", "inside", "cover", "contain", NULL};
static const char *const onlies[] = {"any", "shrink", "enlarge", NULL};
static const char *const resize_loads[] = {"full", "reduced", NULL};
/* PIL is another name of pillow, and cv2 of opencv. */
static const char *const likes[] = {"none", "pillow", "PIL", "pillow13", "opencv", "cv2", NULL};
static const char *const boxes[] = {"whole", NULL}, *const box_matrices[] = {"0 0 0 0"};

static const struct gf_param resize_params[] = {
    GF_PARAM_LENGTH(struct gf_resize_params, w, 0.001, GF_RESIZE_SIDE_MAX,
                    "columns; by default they follow from h, and the picture keeps its shape"),
    GF_PARAM_LENGTH(struct gf_resize_params, h, 0.001, GF_RESIZE_SIDE_MAX,
                    "rows; by default they follow from w, and the picture keeps its shape"),
    GF_PARAM_CHOICE(struct gf_resize_params, kernel, GF_RESAMPLE_LANCZOS3, kernels,
                    "the weights by which pixels are averaged"),
    GF_PARAM_CHOICE(struct gf_resize_params, light, 0, lights,
                    "what is averaged: sRGB values or linear light"),
    GF_PARAM_CHOICE(struct gf_resize_params, fit, GF_FIT_FILL, resize_fits,
                    "with w and h: fill distorts the picture to this size; inside makes the "
                    "largest picture within it; cover fills it and cuts the rest off; contain pads "
                    "the largest picture within it"),
    GF_PARAM_CHOICE(struct gf_resize_params, only, GF_RESIZE_ANY, onlies,
                    "shrink never makes a side larger, enlarge none smaller"),
    GF_PARAM_WINDOW(struct gf_resize_params,
                    "which part fit=cover keeps; where fit=contain places the picture"),
    GF_PARAM_COLOUR(struct gf_resize_params, colour, 0xffffff, gf_pad_words,
                    "colour of the padding, as for pad"),
    GF_PARAM_CHOICE(struct gf_resize_params, load, GF_LOAD_FULL, resize_loads,
                    "reduced: a chain's first filter gets a JPEG at 1/2, 1/4 or 1/8, or a level "
                    "of the file, that is at least twice the size"),
    GF_PARAM_CHOICE(struct gf_resize_params, like, GF_LIKE_NONE, likes,
                    "the very samples of Image.resize() of Pillow 10 to 12, or 13; of OpenCV's "
                    "x86-64 wheels 4.5 to 5.0, for linear and area of 8 bits"),
    GF_PARAM(struct gf_resize_params, reducing_gap, 0, 0, 100,
             "with like=pillow: its reducing_gap, from 1 on"),
    GF_PARAM_MATRIX_OF(struct gf_resize_params, box, false, 0, GF_RESIZE_SIDE_MAX, boxes,
                       box_matrices,
                       "with like=pillow, w and h: the part that is scaled, left top right bottom"),
    {0},
};

/* Fails if a gravity that looks for a part of the picture stands beside a fit that keeps all. */
enum gf_status gf_resize_check_gravity(int gravity, bool keeps_all, struct gf_error *error)
{
    if (keeps_all && gf_gravity_is_found(gravity))
        return gf_fail(error, GF_ERROR_USAGE, "gravity=%s keeps a part of the picture: fit=cover",
                       gf_window_names[gravity]);
    return GF_OK;
}

static bool has_box(const struct gf_resize_params *resize)
{
    const float *const box = resize->box.value;
    return box[0] > 0 || box[1] > 0 || box[2] > 0 || box[3] > 0;
}

static bool is_opencv(const struct gf_resize_params *resize)
{
    return resize->like == GF_LIKE_OPENCV || resize->like == GF_LIKE_CV2;
}

/* Refuses what Pillow and OpenCV do not define. */
static enum gf_status check_like(const struct gf_resize_params *resize, struct gf_error *error)
{
    const float *const box = resize->box.value;
    const char *refused = NULL;
    if (resize->like == GF_LIKE_NONE || is_opencv(resize))
        refused = has_box(resize) ? "box" : resize->reducing_gap > 0 ? "reducing_gap" : NULL;
    if (refused)
        return gf_fail(error, GF_ERROR_USAGE, "%s needs like=pillow", refused);
    if (resize->like != GF_LIKE_NONE)
        refused = resize->light ? "light=linear" : resize->load ? "load=reduced" : NULL;
    if (refused)
        return gf_fail(error, GF_ERROR_USAGE, "%s has no %s: like=%s",
                       is_opencv(resize) ? "OpenCV" : "Pillow", refused, likes[resize->like]);
    if (is_opencv(resize) && kernel_of(resize) != GF_RESAMPLE_LINEAR &&
        kernel_of(resize) != GF_RESAMPLE_AREA)
        return gf_fail(error, GF_ERROR_USAGE, "like=%s needs kernel=linear or kernel=area",
                       likes[resize->like]);
    if (resize->reducing_gap > 0 && resize->reducing_gap < 1)
        return gf_fail(error, GF_ERROR_USAGE, "reducing_gap=%g is less than 1",
                       resize->reducing_gap);
    if (resize->box.width && (resize->box.width != 4 || resize->box.height != 1))
        return gf_fail(error, GF_ERROR_USAGE, "box is not four numbers");
    if (has_box(resize) && (box[0] >= box[2] || box[1] >= box[3]))
        return gf_fail(error, GF_ERROR_USAGE, "box is empty: left top right bottom");
    if (has_box(resize) && (resize->w.unit != GF_PIXELS || resize->h.unit != GF_PIXELS ||
                            resize->fit != GF_FIT_FILL || resize->only != GF_RESIZE_ANY))
        return gf_fail(error, GF_ERROR_USAGE, "box needs w and h in pixels and fit=fill");
    return GF_OK;
}

static enum gf_status resize_check(const void *params, struct gf_error *error)
{
    const struct gf_resize_params *const resize = params;
    if (resize->w.unit == GF_UNSET && resize->h.unit == GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE, "w or h is missing: pixels, or per cent as in 50%%");
    GF_TRY(check_like(resize, error));
    return gf_resize_check_gravity(
        resize->gravity, resize->fit == GF_FIT_INSIDE || resize->fit == GF_FIT_CONTAIN, error);
}

static enum gf_status resize_shape(const void *params, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    const struct gf_resize_size size = gf_resize_size_of(params, in.width, in.height);
    if (size.w > GF_RESIZE_SIDE_MAX || size.h > GF_RESIZE_SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%.0fx%.0f is larger than %d pixels a side", size.w,
                       size.h, GF_RESIZE_SIDE_MAX);
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
    gf_resample_inputs(kernel_of(resize), &axis, y0, y1, first, end);
}

static enum gf_status resize_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_resize_params *const resize = stage->params;
    const struct gf_resample_axis columns = column_axis(stage);
    const struct gf_resample_axis rows = row_axis(stage);
    return gf_resample_prepare(stage, kernel_of(resize), resize->light == 1, &columns, &rows,
                               error);
}

static size_t resize_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_resize_params *const resize = stage->params;
    const struct gf_resample_axis columns = column_axis(stage), axis = row_axis(stage);
    return gf_resample_scratch(stage, kernel_of(resize), resize->light == 1, &columns, &axis);
}

extern gf_launcher gf_resize_cuda, gf_resize_stacked_cuda, gf_resize_fused_cuda,
    gf_resize_floats_cuda;

/* The largest number of input rows that any `rows` rows of the result depend on. */
static int input_rows_most(const struct gf_stage *stage, int rows)
{
    const struct gf_resample_axis axis = row_axis(stage);
    return gf_resample_inputs_most(kernel_of(stage->params), &axis, rows);
}

/* The scratch memory of the kernels for floats. */
static size_t floats_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_resample_axis axis = row_axis(stage);
    return kernel_of(stage->params) == GF_RESAMPLE_NEAREST || !gf_resample_has_mid(&axis)
               ? 0
               : gf_resample_mid_pitch(stage->out) * (size_t)input_rows_most(stage, rows);
}

/* The kernels of nearest pixels and of halves convert straight RGBA themselves, and those of floats
 * always do. */
static enum gf_fusing resize_fuses(const void *params)
{
    const struct gf_resize_params *const resize = params;
    return resize->kernel == GF_RESAMPLE_NEAREST ||
                   (!resize->light && resize->size.in_w == 2 * resize->size.full_w)
               ? (enum gf_fusing)(GF_FUSES_ALPHA | GF_FUSES_FLOAT_ALPHA)
               : GF_FUSES_FLOAT_ALPHA;
}

extern const struct gf_filter gf_resize_filter, gf_crop_filter;

/* Appends the crop of a picture that is scaled, or that the parameter only= leaves unscaled. */
static void add_cut(const struct gf_resize_params *resize, const struct gf_resize_size *size,
                    struct gf_parts *parts)
{
    const struct gf_crop_params crop = {
        .w = gf_in_pixels(size->w), .h = gf_in_pixels(size->h), .gravity = resize->gravity};
    if (size->w < size->full_w || size->h < size->full_h)
        gf_parts_add(parts, &gf_crop_filter, &crop, sizeof crop);
}

/* Appends the stages of like=. A picture that was read at a fraction of its size has sides that are
 * rounded up. */
static void add_like(const struct gf_resize_params *resize, const struct gf_extent *extent,
                     struct gf_parts *parts)
{
    const struct gf_resize_size *const size = &resize->size;
    const int width = (int)ceil(size->in_w), height = (int)ceil(size->in_h);
    struct gf_pillow_params pillow = {.kernel = kernel_of(resize),
                                      .width = gf_at_most(size->full_w, INT_MAX),
                                      .height = gf_at_most(size->full_h, INT_MAX),
                                      .box = {0, 0, (float)size->in_w, (float)size->in_h}};
    if (has_box(resize))
        memcpy(pillow.box, resize->box.value, sizeof pillow.box);
    const bool is_13 = resize->like == GF_LIKE_PILLOW13;
    const double gap =
        extent->has_alpha && !is_13 ? 0 : resize->reducing_gap; /* as Pillow has it */
    const bool is_whole = pillow.box[0] == 0 && pillow.box[1] == 0 &&
                          pillow.box[2] == (float)width && pillow.box[3] == (float)height;
    const struct gf_opencv_params opencv = {kernel_of(resize) == GF_RESAMPLE_AREA, pillow.width,
                                            pillow.height};
    if (pillow.width == width && pillow.height == height && is_whole)
        return;
    if (is_opencv(resize))
        gf_parts_add(parts, &gf_opencv_filter, &opencv, sizeof opencv);
    else
        gf_pillow_parts(&pillow, width, height, gap, is_13 ? 13 : 12, parts);
}

/* Where the picture's content decides which part is kept, the whole picture is scaled, and the part
 * is then looked for in the result. */
static void resize_expand(const void *params, const struct gf_extent *extent,
                          struct gf_parts *parts)
{
    struct gf_resize_params resize = *(const struct gf_resize_params *)params;
    resize.size = gf_resize_size_of(&resize, extent->width, extent->height);
    resize.size.in_w = (double)extent->width / extent->reduction;
    resize.size.in_h = (double)extent->height / extent->reduction;
    const struct gf_resize_size size = resize.size;
    const bool finds = gf_gravity_is_found(resize.gravity);
    const bool unscaled = resize.only != GF_RESIZE_ANY && extent->reduction == 1 &&
                          size.full_w == extent->width && size.full_h == extent->height;
    resize.size.w = finds ? size.full_w : size.w;
    resize.size.h = finds ? size.full_h : size.h;
    if (resize.like != GF_LIKE_NONE)
        add_like(&resize, extent, parts);
    else if (!unscaled)
        gf_parts_add(parts, &gf_resize_filter, &resize, sizeof resize);
    if (unscaled || finds || resize.like != GF_LIKE_NONE)
        add_cut(&resize, &size, parts);
    gf_resize_pad(params, extent, parts);
}

const struct gf_filter gf_resize_filter = {
    .name = "resize",
    .names = "scale",
    .synonyms = "size shrink enlarge fit contain cover",
    .summary = "another size, by a weighted mean of pixels",
    .definition =
        "Pixel centres lie at half integers; when shrinking, the kernel is widened by the ratio; "
        "weights are normalised.\nColumns first, clamped, then rows. Kernels: Lanczos of 3 lobes, "
        "cubic with a = -1/2, linear (triangle), area (box),\nnearest, hamming. light=linear "
        "averages "
        "linear light instead of sRGB values.\ngravity=attention or entropy makes fit=cover of "
        "fill: the whole picture is scaled, and crop finds the part in the result.",
    GF_PARAMS(struct gf_resize_params, resize_params),
    .kind = GF_STENCIL,
    .takes_floats = true,
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
    .floats = gf_resample_cpu,
    .floats_scratch = resize_scratch,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA(
        {GF_VARIANT("tiled", gf_resize_cuda,
                    "both passes at once, by threads that walk down through registers, or by tiles "
                    "in shared memory")}),
    .cuda_floats = GF_CUDA_FLOATS(gf_resize_floats_cuda, floats_scratch),
    .fuses = resize_fuses,
    .cuda_fused = GF_LAUNCHER(gf_resize_fused_cuda),
    .cuda_stacked = GF_LAUNCHER(gf_resize_stacked_cuda),
};

/* pixelate: replaces blocks by their mean colour. */

struct pixelate {
    int size; /* the side of a block, in pixels */
};

static const struct gf_param params[] = {
    GF_PARAM_INT(struct pixelate, size, 8, 1, 10000, "side of a block, in pixels"),
    {0},
};

/* Returns the parameters of a resize that makes a pixel from each block. Blocks at the edges may be
 * partly outside of the picture. */
static struct gf_resize_params means(double size, double width, double height)
{
    return (struct gf_resize_params){
        .kernel = GF_RESAMPLE_AREA,
        .gravity = GF_GRAVITY_NORTHWEST, /* the first block begins at the picture's corner */
        .size = {.w = ceil(width / size),
                 .h = ceil(height / size),
                 .full_w = width / size,
                 .full_h = height / size,
                 .in_w = width,
                 .in_h = height},
    };
}

static void pixelate_expand(const void *params_, const struct gf_extent *extent,
                            struct gf_parts *parts)
{
    const double size = ((const struct pixelate *)params_)->size;
    const struct gf_resize_params small = means(size, extent->width, extent->height);
    struct gf_resize_params large = small;
    large.kernel = GF_RESAMPLE_NEAREST;
    large.size = (struct gf_resize_size){
        .w = extent->width,
        .h = extent->height,
        .full_w = small.size.w * size,
        .full_h = small.size.h * size,
        .in_w = small.size.w,
        .in_h = small.size.h,
    };
    if (size == 1)
        return;
    gf_parts_add(parts, &gf_resize_filter, &small, sizeof small);
    gf_parts_add(parts, &gf_resize_filter, &large, sizeof large);
}

const struct gf_filter gf_pixelate_filter = {
    .name = "pixelate",
    .names = "pixelize pixelise",
    .synonyms = "mosaic block censor anonymise",
    .summary = "blocks of one colour",
    .definition = "Each block of size x size pixels becomes its mean; blocks at the right and "
                  "lower edge may be smaller.",
    .example = "pixelate=6",
    GF_PARAMS(struct pixelate, params),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .expand = pixelate_expand,
};
