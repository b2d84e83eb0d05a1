/* Finds the lowest and the highest level of each channel, for filters that need no other part of a
 * histogram. */
#include "base/target_clones.h"
#include "pixel/histogram/histogram.h"
#include "pixel/stencil.h"

/* LANES is a multiple of the vector length and of 3, so that a lane always belongs to the same
 * channel. */
enum { LANES = 192 };

struct extremes {
    uint16_t low[LANES], high[LANES];
};

#define EXTREMES(name_, type_) \
    GF_TARGET_CLONES static void name_(const unsigned char *row, size_t samples, \
                                       struct extremes *extremes) \
    { \
        type_ low[LANES], high[LANES]; \
        const type_ *const in = (const type_ *)(const void *)row; \
        size_t i = 0; \
        for (int k = 0; k < LANES; k++) \
            low[k] = (type_)extremes->low[k], high[k] = (type_)extremes->high[k]; \
        for (; i + LANES <= samples; i += LANES) { \
            for (int k = 0; k < LANES; k++) { \
                const type_ v = in[i + (size_t)k]; \
                low[k] = v < low[k] ? v : low[k]; \
                high[k] = v > high[k] ? v : high[k]; \
            } \
        } \
        for (int k = 0; i < samples; k++, i++) { \
            low[k] = in[i] < low[k] ? in[i] : low[k]; \
            high[k] = in[i] > high[k] ? in[i] : high[k]; \
        } \
        for (int k = 0; k < LANES; k++) \
            extremes->low[k] = low[k], extremes->high[k] = high[k]; \
    }
EXTREMES(find_8, uint8_t)
EXTREMES(find_16, uint16_t)

bool gf_histogram_mark_extremes(const struct gf_view *view, enum gf_statistic statistic,
                                struct gf_histogram *histogram)
{
    const struct gf_format format = view->format;
    struct extremes extremes;
    if (statistic != GF_STATISTIC_CHANNELS || gf_has_alpha(format) || !view->rows)
        return false;
    for (int k = 0; k < LANES; k++)
        extremes.low[k] = (uint16_t)(histogram->bins - 1), extremes.high[k] = 0;
    /* Rows without gaps between them are treated as one row. */
    const bool are_one = view->pitch == gf_row_bytes(format);
    const size_t samples = gf_samples(format) * (size_t)(are_one ? view->rows : 1);
    for (int y = view->y; y < view->y + (are_one ? 1 : view->rows); y++)
        (format.bits == 8 ? find_8 : find_16)(gf_view_row(view, y), samples, &extremes);
    for (int c = 0; c < format.channels; c++) {
        int low = histogram->bins - 1, high = 0;
        for (int k = c; k < LANES; k += format.channels) {
            low = extremes.low[k] < low ? extremes.low[k] : low;
            high = extremes.high[k] > high ? extremes.high[k] : high;
        }
        histogram->count[c * histogram->bins + low]++;
        histogram->count[c * histogram->bins + high]++;
    }
    return true;
}
