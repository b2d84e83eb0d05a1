/* The parameters of threshold, and the arithmetic of its local thresholds for both backends. */
#pragma once

#include <math.h>

#include "base/host_device.h"
#include "filters/blur/blur.h"
#include "filters/boxblur/boxblur.h"
#include "stage/filter.h"
#include "stage/stage.h"

/* The words of the parameter value. */
enum gf_threshold_word {
    GF_THRESHOLD_OTSU,
    GF_THRESHOLD_MEAN,
    GF_THRESHOLD_GAUSSIAN,
    GF_THRESHOLD_SAUVOLA
};

struct gf_threshold {
    double value; /* the threshold; NaN or more than 1: a word (see gf_param_word()) */
    int radius;   /* radius in pixels of the windows of local thresholds */
    double offset, k;
    int border;
};

/* The longest radius: the sum of a window of 16-bit samples, or of squares of 8-bit samples, is
 * below 2^32. */
enum { GF_THRESHOLD_RADIUS_MAX = 127 };

/* The filter that makes the means of the windows, boxblur or blur, as a stage. */
struct gf_threshold_means {
    struct gf_stage stage;
    union {
        struct gf_boxblur_params box;
        struct gf_blur_params blur;
    } params;
};
GF_C_BEGIN
void gf_threshold_means_of(const struct gf_stage *stage, struct gf_threshold_means *means);
/* Returns the offset in samples, rounded up, as OpenCV rounds it. */
int gf_threshold_offset(const struct gf_stage *stage);
GF_C_END

GF_HOST_DEVICE int gf_threshold_above(int v, int mean, int offset, int max)
{
    return v > mean - offset ? max : 0;
}

/* The constants of Sauvola's threshold m (1 + k (s / R - 1)), where m and s are the mean and the
 * standard deviation of the n samples of a window, and R is M / 2. */
struct gf_sauvola {
    int radius, border;
    double count; /* n, the samples of a window */
    double part;  /* 1 - k */
    double scale; /* (k / (n R))^2, the factor of n squares - sum^2 */
};

/* Whether v exceeds the threshold. Doubles hold the sums exactly. The inequality, times n, is
 * n v - (1 - k) sum > sum k s / R; both sides are squared, since n^2 s^2 = n squares - sum^2. */
GF_HOST_DEVICE int gf_sauvola_above(const struct gf_sauvola *sauvola, double v, double sum,
                                    double squares)
{
    const double difference = sauvola->count * squares - sum * sum;
    const double variance = difference > 0.0 ? difference : 0.0;
    const double left = sauvola->count * v - sauvola->part * sum;
    return (left > 0.0) & (left * left > sauvola->scale * (sum * sum) * variance);
}

extern const struct gf_param gf_threshold_params[];
extern const struct gf_filter gf_threshold_local, gf_threshold_sauvola;
