/* guided: what the CPU and the device share. All sums over windows are exact integers. */
#pragma once

#include <stdint.h>

#include "base/elementary.h"

/* The largest numbers of a line. With these limits, window sums stay below 2^31; two numbers of
 * 8-bit pictures are the halves of a word in the device's memory. */
enum { GF_GUIDED_RADIUS_MAX = 50, GF_GUIDED_MOST8 = (1 << 15) - 1, GF_GUIDED_MOST16 = 1 << 17 };

struct gf_guided {
    int radius, border;
    double count;     /* N, the number of pixels of a window */
    float edge;       /* sigma^2 M^2 N^2, where M is the largest sample */
    float mean;       /* 1 / N */
    float most;       /* GF_GUIDED_MOST8 or GF_GUIDED_MOST16 */
    float unit;       /* 1 / most is the unit of gf_guided_line.slope */
    float step;       /* 1 / step is the unit of gf_guided_line.base */
    float mean_slope; /* 1 / (N most): makes the mean slope from a sum of slopes */
    float mean_base;  /* 1 / (N step): makes the mean base from a sum of bases */
};

/* The linear function a v + b of a sample v: slope is a in units of 1 / most, base is b in units of
 * 1 / step. */
struct gf_guided_line {
    int32_t slope, base;
};

/* Returns the number of lines (struct gf_guided_line) in a row of the device's memory: a multiple
 * of the four that a thread accesses at a time. */
GF_HOST_DEVICE int gf_guided_pitch(int width)
{
    return (width + 3) / 4 * 4;
}

/* Returns the line of a window from the sums of its samples and of their squares, which doubles
 * hold exactly. count * squares - sum^2 is count^2 times the variance. */
GF_HOST_DEVICE struct gf_guided_line gf_guided_line_of(const struct gf_guided *guided, double sum,
                                                       double squares)
{
    const double difference = guided->count * squares - sum * sum;
    const float variance = difference > 0.0 ? (float)difference : 0.0f;
    const int32_t slope = (int32_t)(variance / (variance + guided->edge) * guided->most + 0.5f);
    const float rest = 1.0f - (float)slope * guided->unit;
    const float base = (float)sum * guided->mean * rest;
    const struct gf_guided_line line = {slope, (int32_t)(base * guided->step + 0.5f)};
    return line;
}

/* Returns the result before rounding. slopes, bases: sums over the window. */
GF_HOST_DEVICE float gf_guided_of(const struct gf_guided *guided, int32_t slopes, int32_t bases,
                                  float v)
{
    return fmaf((float)slopes * guided->mean_slope, v, (float)bases * guided->mean_base);
}

struct gf_view;
struct gf_stage;
/* The functions floats() and floats_scratch(). */
void gf_guided_floats(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch);
size_t gf_guided_floats_scratch(const struct gf_stage *stage, int rows);
