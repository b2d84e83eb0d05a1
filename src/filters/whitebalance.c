/* whitebalance: removes the colour of the light. */
#include "pixel/colour.h"
#include "pixel/histogram/histogram_counters.h"
#include "pixel/point/point.h"

struct whitebalance {
    int mode;
    double clip;
    int smooth;
};

enum { GRAY_WORLD, WHITE_PATCH };

static const char *const mode_names[] = {"gray", "white", NULL};

static const struct gf_param params[] = {
    GF_PARAM_CHOICE(struct whitebalance, mode, GRAY_WORLD, mode_names,
                    "gray: the mean colour becomes gray; white: the brightest levels of the "
                    "channels become equal"),
    GF_PARAM(struct whitebalance, clip, 1, 0, 49.9,
             "with white: per cent of the pixels that may be brighter"),
    GF_PARAM_SMOOTH(struct whitebalance),
    {0},
};

static enum gf_statistic statistic(const void *params_)
{
    return GF_STATISTIC_CHANNELS;
}

/* Returns the mean of a channel in linear light, 0..1. */
static double mean(const uint64_t *count, int bins)
{
    double sum = 0, total = 0;
    for (int v = 0; v < bins; v++) {
        if (count[v])
            sum += (double)count[v] * gf_srgb_decode_exact((double)v / (bins - 1));
        total += (double)count[v];
    }
    return total > 0 ? sum / total : 0;
}

/* Returns the highest level, in linear light, with more than `clip` per cent of the pixels at or
 * above it. */
static double brightest(const uint64_t *count, int bins, double clip)
{
    double total = 0, above = 0;
    for (int v = 0; v < bins; v++)
        total += (double)count[v];
    int high = bins - 1;
    for (; high > 0; high--) {
        above += (double)count[high];
        if (above > total * clip / 100)
            break;
    }
    return gf_srgb_decode_exact((double)high / (bins - 1));
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct whitebalance *const balance = stage->params;
    const struct gf_histogram *const histogram = stage->histogram;
    double light[3], gain[3];
    if (histogram->channels != 3)
        return;
    for (int c = 0; c < 3; c++) {
        const uint64_t *const count = histogram->count + c * histogram->bins;
        light[c] = balance->mode == GRAY_WORLD ? mean(count, histogram->bins)
                                               : brightest(count, histogram->bins, balance->clip);
    }
    const double to = balance->mode == GRAY_WORLD
                          ? 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
                          : fmax(fmax(light[0], light[1]), light[2]);
    for (int c = 0; c < 3; c++)
        gain[c] = light[c] > 0 ? to / light[c] : 1;
    gf_point_light_gain(builder, gain);
}

const struct gf_filter gf_whitebalance_filter = {
    .name = "whitebalance",
    .names = "grayworld greyworld",
    .synonyms = "awb autowb white-balance",
    .summary = "takes out a colour cast",
    .definition = "Linear light of each channel times target / light of the channel, clamped. gray "
                  "(gray world, Buchsbaum 1980): the light of a channel is its mean, and the "
                  "target is the luminance of the means. white (white patch, Land 1977): the light "
                  "of a channel is that of the highest level with more than clip % of the pixels "
                  "at or above it, and the target is the largest of the three. Pixels of zero "
                  "alpha are not counted. Gray pictures stay as they are.",
    GF_PARAMS(struct whitebalance, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2.2},
    .statistic = statistic,
    .point = point,
    .cuda = GF_CUDA(GF_HISTOGRAM_COUNTERS(NULL, gf_counter_8_bits, gf_counter_16_bits)),
};
