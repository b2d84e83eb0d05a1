/* tonemap: HDR colours (PQ and HLG) become those of an ordinary picture. src/icc/icc_tone.c makes
 * the tables. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "filters/icc/icc.h"
#include "icc/icc_tone.h"
#include "stage/stage.h"

enum { SRGB = 0, FROM_AUTO = 0, FROM_PQ = 1, FIND_MEASURED = 0, FIND_SAID = 1 };

/* The part of the pixels that may be brighter than the peak that is measured, as in libplacebo's
 * measurement: a few hot pixels do not darken a picture. */
static const double beyond_peak = 0.00005;

static const char *const curves[] = {"bt2390", "reinhard", "clip", NULL};
static const char *const sources[] = {"auto", "pq", "hlg", NULL};

static const char *const finds[] = {"measured", "said", NULL};

static const struct gf_param params[] = {
    GF_PARAM_CHOICE(struct gf_tonemap, curve, GF_TONE_BT2390, curves,
                    "what becomes of light above white: bt2390 and reinhard compress light so that "
                    "the peak becomes white, clip cuts it off"),
    GF_PARAM(struct gf_tonemap, white, 203, 50, 1000,
             "the luminance in cd/m2 of the result's white"),
    GF_PARAM(struct gf_tonemap, peak, 0, 0, 10000,
             "the highest luminance in cd/m2; 0: as `find` says"),
    {.name = "to",
     .type = GF_TYPE_CHOICE,
     .offset = offsetof(struct gf_tonemap, to),
     .choices = gf_icc_names,
     .help = "the colours of the result"},
    GF_PARAM_CHOICE(struct gf_tonemap, from, FROM_AUTO, sources,
                    "the transfer function of the picture; auto: as its file says"),
    GF_PARAM_CHOICE(struct gf_tonemap, find, FIND_MEASURED, finds,
                    "how the peak is found: measured on the picture; said: by the file's content "
                    "light level, or its mastering display, or measured where it has neither"),
    {0},
};

const struct gf_tonemap gf_tonemap_to_srgb = {.white = 203, .to = SRGB};
const struct gf_tonemap gf_tonemap_to_display_p3 = {.white = 203, .to = SRGB + 1};

/* Sets what the picture's colours are; `from` names the transfer function, with BT.2020. */
static void find_hdr(const struct gf_tonemap *tonemap, struct gf_icc *from)
{
    if (tonemap->from == FROM_AUTO)
        return;
    *from = (struct gf_icc){.unsaid = true,
                            .peak = from->peak,
                            .hdr = {from->hdr[0] ? from->hdr[0] : GF_PRIMARIES_BT2020,
                                    tonemap->from == FROM_PQ ? GF_TRANSFER_PQ : GF_TRANSFER_HLG}};
}

static enum gf_status colours(const void *params_, struct gf_format in, struct gf_icc *from,
                              struct gf_icc *to, struct gf_error *error)
{
    const struct gf_tonemap *const tonemap = params_;
    find_hdr(tonemap, from);
    *to =
        from->hdr[1] ? gf_icc_named(gf_icc_names[tonemap->to], gf_colour_channels(in) == 1) : *from;
    return GF_OK;
}

static enum gf_statistic statistic(const void *params_)
{
    const struct gf_tonemap *const tonemap = params_;
    return tonemap->peak > 0 ? GF_STATISTIC_NONE : GF_STATISTIC_CHANNELS;
}

/* Returns the highest level of a channel with more than that part of the pixels at or above it. */
static int highest(const uint64_t *count, int bins)
{
    double total = 0, above = 0;
    for (int v = 0; v < bins; v++)
        total += (double)count[v];
    int level = bins - 1;
    for (; level > 0; level--) {
        above += (double)count[level];
        if (above > total * beyond_peak)
            break;
    }
    return level;
}

static double measured_peak(const struct gf_histogram *histogram, int transfer)
{
    int most = 0;
    for (int c = 0; c < histogram->channels; c++) {
        const int level =
            highest(histogram->count + (size_t)c * (size_t)histogram->bins, histogram->bins);
        most = level > most ? level : most;
    }
    return gf_tone_luminance(transfer, (double)most / (histogram->bins - 1));
}

static double peak_of(const struct gf_tonemap *tonemap, const struct gf_stage *stage, int transfer)
{
    const double most = 10000, said = fmin(stage->icc.peak, most);
    if (tonemap->peak > 0)
        return tonemap->peak;
    return tonemap->find == FIND_SAID && said > 0 ? said
                                                  : measured_peak(stage->histogram, transfer);
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_tonemap *const tonemap = stage->params;
    struct gf_icc from = stage->icc;
    find_hdr(tonemap, &from);
    if (!from.hdr[1]) /* the stage was not bound by the planner */
        memcpy(from.hdr, (unsigned char[]){GF_PRIMARIES_BT2020, GF_TRANSFER_PQ}, sizeof from.hdr);
    const struct gf_tone_wish wish = {.hdr = {from.hdr[0], from.hdr[1]},
                                      .to = tonemap->to == SRGB ? &gf_icc_srgb : &gf_icc_display_p3,
                                      .inputs = gf_colour_channels(stage->in),
                                      .bits = stage->in.bits,
                                      .curve = tonemap->curve,
                                      .white = tonemap->white,
                                      .peak = peak_of(tonemap, stage, from.hdr[1])};
    struct gf_icc_transform *transform;
    GF_TRY(gf_tone_build(&wish, &transform, error));
    stage->constants = transform;
    stage->constants_size = transform->bytes;
    return GF_OK;
}

extern gf_launcher gf_icc_cuda;

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
        "is. thumbnail, icc and --to-icc do the same.",
    .example = "tonemap=from=hlg",
    GF_PARAMS(struct gf_tonemap, params),
    .kind = GF_COLOUR,
    .cost = {.pixel = 9},
    .colours = colours,
    .statistic = statistic,
    .prepare = prepare,
    .cpu = gf_icc_cpu,
    .cuda = GF_CUDA({GF_VARIANT("tables", gf_icc_cuda, "curves and a gain from tables")}),
};
