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
    int load;
};

enum { SIDE_MAX = 65535 };
enum { LOAD_REDUCED, LOAD_FULL };

static const char *const fits[] = {"inside", "cover", "contain", NULL};
static const char *const loads[] = {"reduced", "full", NULL};

static const struct gf_param thumbnail_params[] = {
    GF_PARAM_LENGTH(struct thumbnail, w, 0.001, SIDE_MAX, "columns at most"),
    GF_PARAM_LENGTH(struct thumbnail, h, 0.001, SIDE_MAX,
                    "rows at most; by default as many as columns"),
    GF_PARAM_CHOICE(struct thumbnail, fit, 0, fits,
                    "inside: the largest picture within the size; cover: the size is filled and "
                    "the rest cut off; contain: the picture is padded to the size"),
    GF_PARAM_GRAVITY(struct thumbnail,
                     "which part fit=cover keeps; where fit=contain places the picture"),
    GF_PARAM_COLOUR(struct thumbnail, colour, 0xffffff, gf_pad_words,
                    "colour of the padding, as for pad"),
    GF_PARAM(struct thumbnail, sharpen, 0, 0, 10, "the amount of unsharp with a sigma of 0.7"),
    GF_PARAM_CHOICE(struct thumbnail, load, LOAD_REDUCED, loads,
                    "reduced: a JPEG is decoded at 1/2, 1/4 or 1/8 where that is at least twice "
                    "the size, if the filter is the first of its chain"),
    {0},
};

static enum gf_status check(const void *params, struct gf_error *error)
{
    const struct thumbnail *const thumbnail = params;
    if (thumbnail->w.unit == GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE, "w is missing: thumbnail=SIZE");
    return GF_OK;
}

static struct gf_resize_params resize_of(const struct thumbnail *thumbnail)
{
    static const int fit[] = {GF_FIT_INSIDE, GF_FIT_COVER, GF_FIT_CONTAIN};
    return (struct gf_resize_params){
        .w = thumbnail->w,
        .h = thumbnail->h.unit == GF_UNSET ? thumbnail->w : thumbnail->h,
        .kernel = GF_RESAMPLE_LANCZOS3,
        .fit = fit[thumbnail->fit],
        .only = GF_RESIZE_SHRINK,
        .gravity = thumbnail->gravity,
        .colour = thumbnail->colour,
        .load = thumbnail->load == LOAD_REDUCED ? GF_LOAD_REDUCED : GF_LOAD_FULL,
    };
}

extern const struct gf_filter gf_resize_filter, gf_unsharp_filter;

/* The padding comes last, since sharpening after it would change the picture's edge. The padding's
 * colour is in sRGB. */
static void expand(const void *params, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct thumbnail *const thumbnail = params;
    const struct gf_resize_params asked = resize_of(thumbnail);
    const struct gf_unsharp_params unsharp = {.sigma = 0.7, .amount = thumbnail->sharpen};
    struct gf_resize_params resize = asked;
    if (asked.fit == GF_FIT_CONTAIN)
        resize.fit = GF_FIT_INSIDE;
    gf_parts_add(parts, &gf_resize_filter, &resize, sizeof resize);
    if (thumbnail->sharpen > 0)
        gf_parts_add(parts, &gf_unsharp_filter, &unsharp, sizeof unsharp);
    gf_parts_add(parts, &gf_icc_to_srgb, NULL, 0);
    gf_resize_add_padding(&asked, extent, parts);
}

static int reduction(const void *params, int width, int height)
{
    const struct gf_resize_params resize = resize_of(params);
    return gf_resize_reduction(&resize, width, height);
}

const struct gf_filter gf_thumbnail_filter = {
    .name = "thumbnail",
    .synonyms = "thumb preview vipsthumbnail",
    .summary = "a small picture for the web",
    .definition = "resize=w:h:fit=inside:only=shrink:load=reduced by the lanczos3 kernel, then "
                  "unsharp if sharpen is above 0. The colours become sRGB. The EXIF orientation is "
                  "applied before, as for every chain. A file gets samples of 8 bits; --depth=16 "
                  "keeps those of 16.",
    .example = "thumbnail=120",
    GF_PARAMS(struct thumbnail, thumbnail_params),
    .kind = GF_STENCIL,
    .takes_no_region = true,
    .for_screens = true,
    .check = check,
    .expand = expand,
    .reduction = reduction,
};
