/* icc: converts colours from the picture's ICC profile to another one. src/icc makes the tables. */
#include "filters/icc/icc.h"

#include "base/fail.h"
#include "icc/icc_build.h"
#include "stage/stage.h"

struct icc {
    char to[GF_FILE_NAME_SIZE];
    int intent, black_point;
    char from[GF_FILE_NAME_SIZE];
};

static const char *const intents[] = {"perceptual", "relative", "saturation", "absolute", NULL};
static const char *const switches[] = {"off", "on", NULL};

static const struct gf_param params[] = {
    GF_PARAM_FILE(struct icc, to, gf_icc_names, "the profile of the result; by default srgb"),
    GF_PARAM_CHOICE(struct icc, intent, GF_ICC_RELATIVE, intents,
                    "rendering intent: what becomes of colours that the profile cannot represent"),
    {.name = "bpc",
     .type = GF_TYPE_CHOICE,
     .offset = offsetof(struct icc, black_point),
     .value = 1,
     .choices = switches,
     .help = "black point compensation: the darkest colour becomes the darkest"},
    GF_PARAM_FILE(struct icc, from, gf_icc_names,
                  "the profile of the picture, in place of its own; by default its own, or sRGB if "
                  "it has none"),
    {0},
};

static bool is_gray(struct gf_format format)
{
    return gf_colour_channels(format) == 1;
}

/* A wrong name is reported as a wrong parameter. */
static enum gf_status fail_named(enum gf_status status, const struct gf_error *why,
                                 struct gf_error *error)
{
    return gf_fail(error, status == GF_ERROR_INPUT ? GF_ERROR_USAGE : status, "%s", why->text);
}

static enum gf_status check(const void *params_, struct gf_error *error)
{
    const struct icc *const icc = params_;
    struct gf_icc to = {0}, from = {0};
    struct gf_error why = {0};
    enum gf_status status = *icc->to ? gf_icc_load_target(icc->to, false, &to, &why) : GF_OK;
    if (!status && *icc->from)
        status = gf_icc_load(icc->from, false, &from, &why);
    if (status)
        return fail_named(status, &why, error);
    if ((to.size && !gf_icc_is_target(to)) || (from.size && !gf_icc_is_sound(from)))
        return gf_fail(error, GF_ERROR_USAGE, "%s: Little CMS cannot %s this profile",
                       from.size && !gf_icc_is_sound(from) ? icc->from : icc->to,
                       from.size && !gf_icc_is_sound(from) ? "read" : "convert to");
    if (gf_icc_is_link(to) && *icc->from)
        return gf_fail(error, GF_ERROR_USAGE, "%s: a device link takes no profile (from=%s)",
                       icc->to, icc->from);
    return GF_OK;
}

/* Finds the profile that colours are converted to. */
static enum gf_status target(const struct icc *icc, struct gf_format in, struct gf_icc *to,
                             struct gf_error *error)
{
    GF_TRY(gf_icc_load_target(*icc->to ? icc->to : gf_icc_names[0], is_gray(in), to, error));
    if (gf_icc_is_link(*to) && !gf_icc_fits(*to, gf_colour_channels(in)))
        return gf_fail(error, GF_ERROR_INPUT,
                       "icc: %s is no device link from %s, which the picture is", icc->to,
                       is_gray(in) ? "gray" : "RGB");
    return GF_OK;
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    struct gf_icc to;
    GF_TRY(target(params_, in, &to, error));
    out->channels = gf_icc_channels_after(to) + (gf_has_alpha(in) && !to.inks);
    return GF_OK;
}

/* Finds the input's profile. The profile of the parameter from= replaces the picture's own profile
 * if it fits the picture's channels. */
static enum gf_status origin(const struct icc *icc, struct gf_format in, struct gf_icc given,
                             struct gf_icc *from, struct gf_error *error)
{
    *from = given;
    if (!*icc->from)
        return GF_OK;
    GF_TRY(gf_icc_load(icc->from, is_gray(in), from, error));
    if (!gf_icc_fits(*from, gf_colour_channels(in)))
        return gf_fail(error, GF_ERROR_INPUT,
                       "icc: from=%s is no profile of %s, which the picture is", icc->from,
                       is_gray(in) ? "gray" : "RGB");
    return GF_OK;
}

static enum gf_status colours(const void *params_, struct gf_format in, struct gf_icc *from,
                              struct gf_icc *to, struct gf_error *error)
{
    GF_TRY(origin(params_, in, *from, from, error));
    GF_TRY(target(params_, in, to, error));
    if (!gf_icc_same(*from, *to) && !gf_icc_available())
        return gf_fail(error, GF_ERROR_UNAVAILABLE,
                       "icc: this build converts no colours: it was made without Little CMS "
                       "(liblcms2)");
    if (gf_icc_is_link(*to)) /* no profile says what the colours are now */
        *to = (struct gf_icc){.inks = to->inks};
    return GF_OK;
}

static enum gf_status build(struct gf_stage *stage, const struct icc *icc, struct gf_error *error)
{
    struct gf_icc_wish wish = {.from = stage->icc,
                               .inputs = gf_colour_channels(stage->in),
                               .bits = stage->in.bits,
                               .intent = icc->intent,
                               .black_point = icc->black_point};
    struct gf_icc_transform *transform;
    struct gf_error detail = {0};
    if (!gf_icc_fits(wish.from, wish.inputs)) /* the stage was not bound by the planner */
        wish.from = gf_icc_named(gf_icc_names[0], wish.inputs == 1);
    GF_TRY(origin(icc, stage->in, wish.from, &wish.from, error));
    GF_TRY(target(icc, stage->in, &wish.to, error));
    wish.outputs = gf_icc_channels_after(wish.to);
    if (gf_icc_is_link(wish.to))
        wish.from = (struct gf_icc){0};
    const enum gf_status status = gf_icc_build(&wish, &transform, &detail);
    if (status)
        return gf_fail(error, status, "icc: %s", detail.text);
    stage->constants = transform;
    stage->constants_size = transform->bytes;
    return GF_OK;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    return build(stage, stage->params, error);
}

void gf_icc_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    for (int y = out->y; y < out->y + out->rows; y++)
        gf_icc_convert(stage->constants, gf_view_row(in, y), in->format.channels,
                       gf_view_row(out, y), out->format.channels, out->format.width);
}

extern gf_launcher gf_icc_cuda;

const struct gf_filter gf_icc_filter = {
    .name = "icc",
    .synonyms = "colour color profile colorspace colourspace srgb display-p3 icc_transform "
                "tocolourspace tocolorspace",
    .summary = "the picture in the colours of another ICC profile",
    .definition =
        "Converts from the picture's profile to the named profile, which the output then "
        "carries. Between profiles of a matrix and curves the conversion is curves, a "
        "matrix and curves; tables of L*a*b* are interpolated at their own nodes; between "
        "others it is tetrahedral interpolation in a table of up to 49x49x49 colours. "
        "Little CMS reads the profiles. A picture without a profile is sRGB. A gray "
        "picture stays gray with srgb and display-p3. The profile of a press makes CMYK, "
        "for JPEG and TIFF, as the last filter. A device link converts alone.",
    .example = "icc=srgb:from=display-p3",
    GF_PARAMS(struct icc, params),
    .kind = GF_COLOUR,
    .cost = {.pixel = 3},
    .check = check,
    .colours = colours,
    .shape = shape,
    .prepare = prepare,
    .cpu = gf_icc_cpu,
    .cuda = GF_CUDA({GF_VARIANT("tables", gf_icc_cuda, "curves in shared memory")}),
};

static const struct icc to_srgb = {.intent = GF_ICC_RELATIVE, .black_point = 1};

static enum gf_status srgb_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    return shape(&to_srgb, in, out, error);
}

static enum gf_status srgb_colours(const void *params_, struct gf_format in, struct gf_icc *from,
                                   struct gf_icc *to, struct gf_error *error)
{
    *to = *from;
    return gf_icc_available() ? target(&to_srgb, in, to, error) : GF_OK;
}

static enum gf_status srgb_prepare(struct gf_stage *stage, struct gf_error *error)
{
    return build(stage, &to_srgb, error);
}

const struct gf_filter gf_icc_to_srgb = {
    .name = "icc",
    .kind = GF_COLOUR,
    .cost = {.pixel = 3},
    .colours = srgb_colours,
    .shape = srgb_shape,
    .prepare = srgb_prepare,
    .cpu = gf_icc_cpu,
    .cuda = GF_CUDA({GF_VARIANT("tables", gf_icc_cuda, "curves in shared memory")}),
};
