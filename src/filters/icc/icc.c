/* icc, which converts colours from the picture's ICC profile to another one, and tonemap. src/icc
 * makes the tables. */
#include "filters/icc/icc.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "icc/icc_build.h"
#include "icc/icc_hdr.h"
#include "pixel/histogram/histogram.h"
#include "stage/stage.h"

struct icc {
    char to[GF_FILE_NAME_SIZE];
    int intent, black_point;
    char from[GF_FILE_NAME_SIZE];
};

static const char *const switches[] = {"off", "on", NULL};

static bool is_gray(struct gf_format format)
{
    return gf_colour_channels(format) == 1;
}

static enum gf_status check(const void *params, struct gf_error *error)
{
    const struct icc *const icc = params;
    struct gf_icc to = {0}, from = {0};
    struct gf_error why = {0};
    enum gf_status status = *icc->to ? gf_icc_load_target(icc->to, false, &to, &why) : GF_OK;
    if (!status && *icc->from)
        status = gf_icc_load(icc->from, false, &from, &why);
    if (status)
        /* a wrong name is a wrong parameter */
        return gf_fail(error, status == GF_ERROR_INPUT ? GF_ERROR_USAGE : status, "%s", why.text);
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

static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    struct gf_icc to;
    GF_TRY(target(params, in, &to, error));
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

static enum gf_status icc_colours(const void *params, struct gf_format in, struct gf_icc *from,
                                  struct gf_icc *to, struct gf_error *error)
{
    GF_TRY(origin(params, in, *from, from, error));
    GF_TRY(target(params, in, to, error));
    if (!gf_icc_same(*from, *to) && !gf_icc_available())
        return gf_fail(error, GF_ERROR_UNAVAILABLE,
                       "icc: this build converts no colours: it was made without Little CMS "
                       "(liblcms2)");
    if (to->inks && gf_is_float(in))
        return gf_fail(error, GF_ERROR_USAGE,
                       "icc: floats become no CMYK; the filter integer before it makes samples of "
                       "16 bits");
    if (gf_icc_is_link(*to)) /* no profile says what the colours are now */
        *to = (struct gf_icc){.inks = to->inks};
    return GF_OK;
}

static enum gf_status build(struct gf_stage *stage, const struct icc *icc, struct gf_error *error)
{
    struct gf_icc_wish wish = {.from = stage->icc,
                               .inputs = gf_colour_channels(stage->in),
                               .bits = gf_is_float(stage->in) ? 32 : stage->in.bits,
                               .intent = icc->intent,
                               .black_point = icc->black_point};
    struct gf_icc_transform *transform;
    struct gf_error detail = {0};
    if (!gf_icc_fits(wish.from, wish.inputs)) /* the planner has not bound the stage, so that its
                                                 profile is unknown: sRGB */
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

static enum gf_status icc_prepare(struct gf_stage *stage, struct gf_error *error)
{
    return build(stage, stage->params, error);
}

/* The function cpu() of icc and tonemap, whose constants are a struct gf_icc_transform. */
static void icc_cpu(const struct gf_stage *stage, const struct gf_view *in,
                    const struct gf_view *out, void *scratch)
{
    for (int y = out->y; y < out->y + out->rows; y++)
        gf_icc_convert(stage->constants, gf_view_row(in, y), in->format.channels,
                       gf_view_row(out, y), out->format.channels, out->format.width);
}

extern gf_launcher gf_icc_cuda;

static void icc_floats(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    for (int y = out->y; y < out->y + out->rows; y++)
        gf_icc_convert_floats(stage->constants, (const float *)gf_view_row(in, y),
                              in->format.channels, (float *)gf_view_row(out, y),
                              out->format.channels, out->format.width);
}

const struct gf_filter gf_icc_filter = {
    .name = "icc",
    .synonyms = "colour color profile colorspace colourspace srgb display-p3 linear icc_transform "
                "tocolourspace tocolorspace",
    .summary = "the picture in the colours of another ICC profile",
    .definition =
        "Converts from the picture's profile to the named profile, which the output then "
        "carries. Between profiles of a matrix and curves the conversion is curves, a "
        "matrix and curves; tables of L*a*b* are interpolated at their own nodes; between "
        "others it is tetrahedral interpolation in a table of up to 49x49x49 colours. "
        "Little CMS reads the profiles. A picture without a profile is sRGB. A gray "
        "picture stays gray with the names. The profile of a press makes CMYK, "
        "for JPEG and TIFF, as the last filter. A device link converts alone.\n"
        "Floats go through the curves and matrices as formulas, to 1 part in 65536, negatives by "
        "the mirrored curve; through tables with 16 bits of 0..1.",
    .example = "icc=srgb:from=display-p3",
    GF_TAKES(
        struct icc,
        GF_PARAM_FILE(struct icc, to, gf_icc_names, "the profile of the result; by default srgb"),
        GF_PARAM_CHOICE(
            struct icc, intent, GF_ICC_RELATIVE,
            GF_WORDS("perceptual", "relative", "saturation", "absolute"),
            "rendering intent: what becomes of colours that the profile cannot represent"),
        {.name = "bpc",
         .type = GF_TYPE_CHOICE,
         .offset = offsetof(struct icc, black_point),
         .value = 1,
         .choices = switches,
         .help = "black point compensation: the darkest colour becomes the darkest"},
        GF_PARAM_FILE(
            struct icc, from, gf_icc_names,
            "the profile of the picture, in place of its own; by default its own, or sRGB if "
            "it has none")),
    .kind = GF_COLOUR,
    .cost = {.pixel = 3},
    .takes_floats = true,
    .check = check,
    .colours = icc_colours,
    .shape = shape,
    .prepare = icc_prepare,
    .cpu = icc_cpu,
    .floats = icc_floats,
    .cuda = GF_CUDA({GF_VARIANT("tables", gf_icc_cuda, "curves in shared memory")}),
};

static const struct icc to_srgb = {.intent = GF_ICC_RELATIVE, .black_point = 1};

static enum gf_status srgb_shape(const void *params, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    return shape(&to_srgb, in, out, error);
}

static enum gf_status srgb_colours(const void *params, struct gf_format in, struct gf_icc *from,
                                   struct gf_icc *to, struct gf_error *error)
{
    *to = *from;
    return gf_icc_available() ? target(&to_srgb, in, to, error) : GF_OK;
}

static enum gf_status srgb_prepare(struct gf_stage *stage, struct gf_error *error)
{
    return build(stage, &to_srgb, error);
}

static const struct icc to_light = {
    .to = "linear-srgb", .intent = GF_ICC_RELATIVE, .black_point = 1};
const void *const gf_icc_to_light = &to_light;

const struct gf_filter gf_icc_to_srgb = {
    .name = "icc",
    .kind = GF_COLOUR,
    .cost = {.pixel = 3},
    .takes_floats = true,
    .colours = srgb_colours,
    .shape = srgb_shape,
    .prepare = srgb_prepare,
    .cpu = icc_cpu,
    .floats = icc_floats,
    .cuda = GF_CUDA({GF_VARIANT("tables", gf_icc_cuda, "curves in shared memory")}),
};

/* tonemap: HDR colours (PQ and HLG) become those of an ordinary picture. src/icc/icc_hdr.c makes
 * the tables. */

enum { SRGB = 0, FROM_AUTO = 0, FROM_PQ = 1, FIND_MEASURED = 0, FIND_SAID = 1 };

/* The part of the pixels that may be brighter than the peak that is measured, as in libplacebo's
 * measurement: a few hot pixels do not darken a picture. */
static const double beyond_peak = 0.00005, peak_most = 10000;

static const char *const screens[] = {"srgb", "display-p3", NULL}; /* as in gf_icc_names */

const struct gf_tonemap gf_tonemap_to_srgb = {.white = 203, .to = SRGB};
const struct gf_tonemap gf_tonemap_to_display_p3 = {.white = 203, .to = SRGB + 1};

/* Sets *from to the colours that the parameter from= claims: BT.2020 primaries, unless the picture
 * names others, and the transfer function PQ or HLG. from=auto keeps *from. */
static void find_hdr(const struct gf_tonemap *tonemap, struct gf_icc *from)
{
    if (tonemap->from == FROM_AUTO)
        return;
    *from = (struct gf_icc){.unsaid = true,
                            .peak = from->peak,
                            .hdr = {from->hdr[0] ? from->hdr[0] : GF_PRIMARIES_BT2020,
                                    tonemap->from == FROM_PQ ? GF_CURVE_PQ : GF_CURVE_HLG}};
}

static enum gf_status tonemap_colours(const void *params, struct gf_format in, struct gf_icc *from,
                                      struct gf_icc *to, struct gf_error *error)
{
    const struct gf_tonemap *const tonemap = params;
    find_hdr(tonemap, from);
    if (gf_is_float(in) && !from->hdr[1])
        *from = (struct gf_icc){.hdr = {GF_PRIMARIES_BT709, GF_CURVE_LINEAR}};
    *to =
        from->hdr[1] ? gf_icc_named(gf_icc_names[tonemap->to], gf_colour_channels(in) == 1) : *from;
    return GF_OK;
}

static enum gf_statistic statistic(const void *params)
{
    const struct gf_tonemap *const tonemap = params;
    return tonemap->peak > 0 ? GF_STATISTIC_NONE : GF_STATISTIC_CHANNELS;
}

/* Returns the highest level of a channel with more than the part beyond_peak of `total` pixels at
 * or above it. */
static int highest(const uint64_t *count, int bins, double total)
{
    double above = 0;
    int level = bins - 1;
    for (; level > 0; level--) {
        above += (double)count[level];
        if (above > total * beyond_peak)
            break;
    }
    return level;
}

/* Returns the highest number of a channel of floats, by their upper bits: where the exact counters
 * do not show the very number, the least one with greater upper bits. */
static double highest_of_floats(const struct gf_histogram *histogram, int channel, double total)
{
    const int level = highest(gf_histogram_exact(histogram, channel) + GF_EXACT_UPPER,
                              GF_EXACT - GF_EXACT_UPPER, total);
    const double next = (double)gf_float_of_bits(((uint32_t)level + 1) << GF_UPPER_SHIFT);
    return fmax(fmin(next, (double)histogram->high[channel]), 0);
}

static double measured_peak(const struct gf_histogram *histogram, int curve, bool floats)
{
    double most = 0;
    for (int c = 0; c < histogram->channels; c++) {
        const uint64_t *const count = histogram->count + (size_t)c * (size_t)histogram->bins;
        double total = 0;
        for (int i = 0; i < histogram->bins; i++)
            total += (double)count[i];
        const double v =
            floats ? highest_of_floats(histogram, c, total)
                   : (double)highest(count, histogram->bins, total) / (histogram->bins - 1);
        most = fmax(most, v);
    }
    return fmin(gf_tone_luminance(curve, curve == GF_CURVE_LINEAR ? most : fmin(most, 1)),
                peak_most);
}

static double peak_of(const struct gf_tonemap *tonemap, const struct gf_stage *stage, int curve)
{
    const double said = fmin(stage->icc.peak, peak_most);
    if (tonemap->peak > 0)
        return tonemap->peak;
    return tonemap->find == FIND_SAID && said > 0
               ? said
               : measured_peak(stage->histogram, curve, gf_is_float(stage->in));
}

static enum gf_status tonemap_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_tonemap *const tonemap = stage->params;
    struct gf_icc from = stage->icc;
    find_hdr(tonemap, &from);
    if (!from.hdr[1]) /* the planner has not bound the stage, so that its curve is unknown: PQ */
        memcpy(from.hdr, (unsigned char[]){GF_PRIMARIES_BT2020, GF_CURVE_PQ}, sizeof from.hdr);
    const struct gf_tone_wish wish = {.hdr = {from.hdr[0], from.hdr[1]},
                                      .to = tonemap->to == SRGB ? &gf_icc_srgb : &gf_icc_display_p3,
                                      .inputs = gf_colour_channels(stage->in),
                                      .bits = gf_is_float(stage->in) ? 32 : stage->in.bits,
                                      .curve = tonemap->curve,
                                      .white = tonemap->white,
                                      .peak = peak_of(tonemap, stage, from.hdr[1])};
    struct gf_icc_transform *transform;
    GF_TRY(gf_tone_build(&wish, &transform, error));
    stage->constants = transform;
    stage->constants_size = transform->bytes;
    return GF_OK;
}

const struct gf_filter gf_tonemap_filter = {
    .name = "tonemap",
    .synonyms = "hdr sdr tone_map tonemapping tonemap_opencl libplacebo zscale",
    .summary = "HDR colours become those of an ordinary picture",
    .definition =
        "PQ (SMPTE ST 2084) or HLG (ITU-R BT.2100, a display of 1,000 cd/m2) becomes light. Its "
        "luminance goes through the curve; bt2390 is the EETF of ITU-R BT.2390, whose goal is "
        "white, reinhard is L (1 + L / peak^2) / (1 + L). Colours outside of the result's gamut "
        "move towards the gray of their luminance. White is 203 cd/m2 (ITU-R BT.2408). The peak "
        "is the level with 0.005 % of the pixels above it. A picture that is not HDR stays as it "
        "is. thumbnail, icc and --to-icc do the same.\n"
        "Floats that are not HDR are light by their profile, whose 1 is 203 cd/m2, of up to 10,000 "
        "cd/m2. A NaN makes its pixel NaN.",
    .example = "tonemap=from=hlg",
    GF_TAKES(struct gf_tonemap,
             GF_PARAM_CHOICE(
                 struct gf_tonemap, curve, GF_TONE_BT2390, GF_WORDS("bt2390", "reinhard", "clip"),
                 "what becomes of light above white: bt2390 and reinhard compress light so that "
                 "the peak becomes white, clip cuts it off"),
             GF_PARAM(struct gf_tonemap, white, 203, 50, 1000,
                      "the luminance in cd/m2 of the result's white"),
             GF_PARAM(struct gf_tonemap, peak, 0, 0, 10000,
                      "the highest luminance in cd/m2; 0: as `find` says"),
             {.name = "to",
              .type = GF_TYPE_CHOICE,
              .offset = offsetof(struct gf_tonemap, to),
              .choices = screens,
              .help = "the colours of the result"},
             GF_PARAM_CHOICE(struct gf_tonemap, from, FROM_AUTO, GF_WORDS("auto", "pq", "hlg"),
                             "the transfer function of the picture; auto: as its file says"),
             GF_PARAM_CHOICE(
                 struct gf_tonemap, find, FIND_MEASURED, GF_WORDS("measured", "said"),
                 "how the peak is found: measured on the picture; said: by the file's content "
                 "light level, or its mastering display, or measured where it has neither")),
    .kind = GF_COLOUR,
    .cost = {.pixel = 9},
    .takes_floats = true,
    .colours = tonemap_colours,
    .statistic = statistic,
    .prepare = tonemap_prepare,
    .cpu = icc_cpu,
    .floats = icc_floats,
    .cuda = GF_CUDA({GF_VARIANT("tables", gf_icc_cuda, "curves and a gain from tables")}),
};
