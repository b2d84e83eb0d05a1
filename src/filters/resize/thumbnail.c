/* thumbnail: makes a small picture for the web, as vipsthumbnail does. */
#include "filters/icc/icc.h"
#include "filters/pad/pad.h"
#include "filters/resize/resize.h"
#include "filters/unsharp/unsharp.h"
#include "pixel/resample/resample.h"

struct thumbnail {
    struct gf_length w, h;
    int fit, gravity;
    struct gf_colour colour;
    double sharpen;
    int load, like;
};

enum { THUMBNAIL_INSIDE, THUMBNAIL_COVER, THUMBNAIL_CONTAIN };
enum { LOAD_REDUCED, LOAD_FULL };

static const char *const thumbnail_fits[] = {"inside", "cover", "contain", NULL};
static const char *const thumbnail_loads[] = {"reduced", "full", NULL};
static const char *const thumbnail_likes[] = {"none", "pillow", "PIL", "pillow13", NULL};

static const struct gf_param thumbnail_params[] = {
    GF_PARAM_LENGTH(struct thumbnail, w, 0.001, GF_RESIZE_SIDE_MAX, "columns at most"),
    GF_PARAM_LENGTH(struct thumbnail, h, 0.001, GF_RESIZE_SIDE_MAX,
                    "rows at most; by default as many as columns"),
    GF_PARAM_CHOICE(struct thumbnail, fit, 0, thumbnail_fits,
                    "inside: the largest picture within the size; cover: the size is filled and "
                    "the rest cut off, but nothing is enlarged; contain: the picture is padded to "
                    "the size"),
    GF_PARAM_WINDOW(struct thumbnail,
                    "which part fit=cover keeps; where fit=contain places the picture"),
    GF_PARAM_COLOUR(struct thumbnail, colour, 0xffffff, gf_pad_words,
                    "colour of the padding, as for pad"),
    GF_PARAM(struct thumbnail, sharpen, 0, 0, 10, "the amount of unsharp with a sigma of 0.7"),
    GF_PARAM_CHOICE(struct thumbnail, load, LOAD_REDUCED, thumbnail_loads,
                    "reduced: a chain's first filter gets a JPEG at 1/2, 1/4 or 1/8, or a level "
                    "of the file, that is at least twice the size"),
    GF_PARAM_CHOICE(struct thumbnail, like, GF_LIKE_NONE, thumbnail_likes,
                    "the very samples of Pillow's Image.thumbnail()"),
    {0},
};

/* Returns the side of Pillow's thumbnail that is asked for, of a picture with a side of `whole`. */
static double pillow_side(const struct thumbnail *thumbnail, bool height, int whole)
{
    const struct gf_length side =
        height && thumbnail->h.unit != GF_UNSET ? thumbnail->h : thumbnail->w;
    return side.unit == GF_PERCENT ? fmax(floor(side.value / 100 * whole), 1) : side.value;
}

static enum gf_status check(const void *params, struct gf_error *error)
{
    const struct thumbnail *const thumbnail = params;
    if (thumbnail->w.unit == GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE, "w is missing: thumbnail=SIZE");
    if (thumbnail->like != GF_LIKE_NONE &&
        (thumbnail->fit != THUMBNAIL_INSIDE || gf_gravity_is_found(thumbnail->gravity) ||
         pillow_side(thumbnail, false, 1) < 1 || pillow_side(thumbnail, true, 1) < 1))
        return gf_fail(error, GF_ERROR_USAGE, "like=pillow takes fit=inside, and sides from 1 on");
    return gf_resize_check_gravity(thumbnail->gravity, thumbnail->fit == THUMBNAIL_CONTAIN, error);
}

static struct gf_resize_params resize_of(const struct thumbnail *thumbnail)
{
    static const int fit[] = {GF_FIT_INSIDE, GF_FIT_COVER, GF_FIT_CONTAIN};
    const bool finds = gf_gravity_is_found(thumbnail->gravity);
    return (struct gf_resize_params){
        .w = thumbnail->w,
        .h = thumbnail->h.unit == GF_UNSET ? thumbnail->w : thumbnail->h,
        .kernel = GF_RESAMPLE_LANCZOS3,
        .fit = finds ? GF_FIT_COVER : fit[thumbnail->fit],
        .only = GF_RESIZE_SHRINK,
        .gravity = thumbnail->gravity,
        .colour = thumbnail->colour,
        .load = thumbnail->load == LOAD_REDUCED ? GF_LOAD_REDUCED : GF_LOAD_FULL,
    };
}

/* Returns which of the two integers around `exact` gives the picture's aspect best: the lower one
 * if they are alike. `other` is the other side, which the number is above or below of. */
static int round_aspect(double exact, double aspect, int other, bool is_width)
{
    const double low = floor(exact), high = ceil(exact);
    const double off_low = is_width   ? fabs(aspect - low / other)
                           : low == 0 ? 0
                                      : fabs(aspect - other / low);
    const double off_high = fabs(aspect - (is_width ? high / other : other / high));
    return (int)fmax(off_high < off_low ? high : low, 1);
}

/* Returns the parameters of resize for what Image.thumbnail() does after draft(). */
static struct gf_resize_params pillow_of(const struct thumbnail *thumbnail,
                                         const struct gf_extent *extent)
{
    const int w = (int)pillow_side(thumbnail, false, extent->width),
              h = (int)pillow_side(thumbnail, true, extent->height);
    const double aspect = (double)extent->width / extent->height;
    struct gf_resize_size size = {.w = w, .h = h};
    if (w >= extent->width && h >= extent->height) {
        size.w = extent->width;
        size.h = extent->height;
    } else if ((double)w / h >= aspect) {
        size.w = round_aspect(h * aspect, aspect, h, true);
    } else {
        size.h = round_aspect(w / aspect, aspect, w, false);
    }
    size.full_w = size.w;
    size.full_h = size.h;
    return (struct gf_resize_params){
        .kernel = GF_RESAMPLE_CUBIC, .like = thumbnail->like, .reducing_gap = 2, .size = size};
}

extern const struct gf_filter gf_resize_filter, gf_unsharp_filter;

/* The padding comes last, since sharpening after it would change the picture's edge. The padding's
 * colour is in sRGB. */
static void thumbnail_expand(const void *params, const struct gf_extent *extent,
                             struct gf_parts *parts)
{
    const struct thumbnail *const thumbnail = params;
    const struct gf_resize_params asked = resize_of(thumbnail);
    const struct gf_unsharp_params unsharp = {.sigma = 0.7, .amount = thumbnail->sharpen};
    const bool like = thumbnail->like != GF_LIKE_NONE;
    struct gf_resize_params resize = like ? pillow_of(thumbnail, extent) : asked;
    if (asked.fit == GF_FIT_CONTAIN)
        resize.fit = GF_FIT_INSIDE;
    gf_parts_add(parts, &gf_resize_filter, &resize, sizeof resize);
    if (thumbnail->sharpen > 0)
        gf_parts_add(parts, &gf_unsharp_filter, &unsharp, sizeof unsharp);
    if (!like)
        gf_parts_add(parts, &gf_icc_to_srgb, NULL, 0);
    gf_resize_pad(&asked, extent, parts);
}

static const char *smaller(const void *params, const struct gf_extent *extent)
{
    const struct gf_resize_params resize = resize_of(params);
    const struct gf_resize_size size = gf_resize_size_of(&resize, extent->width, extent->height),
                                asked = gf_resize_asked(&resize, extent->width, extent->height);
    return resize.fit == GF_FIT_COVER && (size.w < asked.w || size.h < asked.h)
               ? "thumbnail never enlarges, so that it does not fill the size; "
                 "resize=W:H:fit=cover "
                 "does"
               : NULL;
}

static int reduction(const void *params, int width, int height)
{
    const struct thumbnail *const thumbnail = params;
    const struct gf_resize_params resize = resize_of(thumbnail);
    if (thumbnail->like != GF_LIKE_NONE && thumbnail->load == LOAD_REDUCED)
        return -(int)fmin(width / (int)(2 * pillow_side(thumbnail, false, width)),
                          height / (int)(2 * pillow_side(thumbnail, true, height)));
    return thumbnail->like != GF_LIKE_NONE ? 1 : gf_resize_reduction(&resize, width, height);
}

const struct gf_filter gf_thumbnail_filter = {
    .name = "thumbnail",
    .synonyms = "thumb preview vipsthumbnail",
    .summary = "a small picture for the web",
    .definition = "resize=w:h:fit=inside:only=shrink:load=reduced by the lanczos3 kernel, then "
                  "unsharp if sharpen is above 0. gravity=attention or entropy makes fit=cover. "
                  "The colours become sRGB. The EXIF orientation is "
                  "applied before, as for every chain. A file gets samples of 8 bits; --depth=16 "
                  "keeps those of 16.\nlike=pillow: its size, draft() of JPEGs that no orientation "
                  "turns, reducing_gap=2, bicubic; no conversion of colours.",
    .example = "thumbnail=120",
    GF_PARAMS(struct thumbnail, thumbnail_params),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .takes_no_region = true,
    .for_screens = true,
    .check = check,
    .expand = thumbnail_expand,
    .smaller = smaller,
    .reduction = reduction,
};
