#include "pixel/warp/warp_cpu.h"

#include <string.h>

#include "base/target_clones.h"

/* The place of a pixel's window: inside the picture, together with the additional columns that
 * vectors read; entirely outside; or at an edge. For a run of pixels MIXED also means that their
 * windows have different places. */
enum place { INSIDE, OUTSIDE, MIXED };

/* Finds the place of each pixel's window in a run. */
GF_TARGET_CLONES static void find_places(const struct gf_warp *warp, const struct gf_warp_run *run,
                                         int count, unsigned char *places)
{
    const int taps = warp->taps, before = taps > 1 ? taps / 2 - 1 : 0, width = warp->in_width,
              height = warp->in_height;
    const int right = width - taps - GF_WARP_BESIDE, bottom = height - taps;
    const unsigned char outside = warp->edge ? MIXED : OUTSIDE;
    for (int k = 0; k < count; k++) {
        const int x = run->x[k] - before, y = run->y[k] - before;
        const bool is_in = (x >= 0) & (y >= 0) & (x <= right) & (y <= bottom);
        const bool is_out = (x <= -taps) | (y <= -taps) | (x >= width) | (y >= height);
        places[k] = is_in ? INSIDE : is_out ? outside : MIXED;
    }
}

struct extremes {
    int left, right, top, bottom;
};

GF_TARGET_CLONES static struct extremes extremes_of(const struct gf_warp_run *run, int count)
{
    int left = run->x[0], right = left, top = run->y[0], bottom = top;
    for (int k = 0; k < count; k++) {
        const int x = run->x[k], y = run->y[k];
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    return (struct extremes){left, right, top, bottom};
}

static struct extremes of_ends(const struct gf_warp_run *run, int last)
{
    const int x0 = run->x[0], x1 = run->x[last], y0 = run->y[0], y1 = run->y[last];
    return (struct extremes){x0 < x1 ? x0 : x1, x0 < x1 ? x1 : x0, y0 < y1 ? y0 : y1,
                             y0 < y1 ? y1 : y0};
}

/* Finds the place of all windows of the run, from the extremes of their positions. Under an affine
 * map these are the run's ends. */
static enum place place_of(const struct gf_warp *warp, const struct gf_warp_run *run, int count)
{
    const int before = warp->taps > 1 ? warp->taps / 2 - 1 : 0, taps = warp->taps;
    const int last = count - 1;
    const bool is_straight = warp->map.kind == GF_WARP_AFFINE;
    const struct extremes e = is_straight ? of_ends(run, last) : extremes_of(run, count);
    const int left = e.left - before, right = e.right - before;
    const int top = e.top - before, bottom = e.bottom - before;
    if (left >= 0 && top >= 0 && right <= warp->in_width - taps - GF_WARP_BESIDE &&
        bottom <= warp->in_height - taps)
        return INSIDE;
    const bool is_out =
        right <= -taps || bottom <= -taps || left >= warp->in_width || top >= warp->in_height;
    return is_out && !warp->edge ? OUTSIDE : MIXED;
}

/* Copies pixels as four bytes each. The next pixel overwrites the fourth byte, so that the last
 * pixel must not be copied this way. */
static void copy_some_rgb8(const struct gf_view *in, const struct gf_warp_run *run, int first,
                           int count, unsigned char *out)
{
    for (int i = 0; i < count; i++)
        memcpy(out + 3 * i, gf_view_row(in, run->y[first + i]) + 3 * (size_t)run->x[first + i], 4);
}

static int copy_rgb8(const struct gf_view *in, const struct gf_warp_run *run, int first, int count,
                     unsigned char *out)
{
    const bool has_near = gf_cpu_has(GF_CPU_VBMI);
    for (int i = 0; i < count - 1; i += GF_WARP_NEAR) {
        if (has_near)
            i += gf_warp_near_rgb8(in, run, first + i, count - 1 - i, out + 3 * i);
        const int left = count - 1 - i;
        copy_some_rgb8(in, run, first + i, left < GF_WARP_NEAR ? left : GF_WARP_NEAR, out + 3 * i);
    }
    return count - 1;
}

static void copy_some_gray8(const struct gf_view *in, const struct gf_warp_run *run, int first,
                            int count, unsigned char *out)
{
    for (int i = 0; i < count; i++)
        out[i] = gf_view_row(in, run->y[first + i])[run->x[first + i]];
}

static int copy_gray8(const struct gf_view *in, const struct gf_warp_run *run, int first, int count,
                      unsigned char *out)
{
    const bool has_near = gf_cpu_has(GF_CPU_VBMI);
    for (int i = 0; i < count; i += GF_WARP_NEAR) {
        if (has_near)
            i += gf_warp_near_gray8(in, run, first + i, count - i, out + i);
        const int left = count - i;
        copy_some_gray8(in, run, first + i, left < GF_WARP_NEAR ? left : GF_WARP_NEAR, out + i);
    }
    return count;
}

static int make_inside(const struct gf_warp_sampler *s, const struct gf_warp_run *run, int first,
                       int count, unsigned char *out)
{
    if (!count)
        return 0;
    const bool is_gray = s->in->format.channels == 1;
    if (s->warp->kernel == GF_WARP_NEAREST)
        return (is_gray ? copy_gray8 : copy_rgb8)(s->in, run, first, count, out);
    if (!gf_cpu_has(GF_CPU_AVX2))
        return 0;
    return (is_gray ? gf_warp_simd_gray8 : gf_warp_simd_rgb8)(s->warp, s->in, run, first, count,
                                                              out);
}

static void fill_beyond(const struct gf_warp_sampler *s, int count, unsigned char *out)
{
    const uint16_t *const beyond = s->warp->beyond;
    if (s->in->format.channels == 1) {
        memset(out, beyond[0], (size_t)count);
        return;
    }
    for (int i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++)
            out[3 * i + c] = (unsigned char)beyond[c];
    }
}

/* Computes a run of 8-bit RGB or gray pixels with one sample each: stretches with windows inside
 * the picture with vectors, stretches outside of the picture as one colour, and the pixels between
 * them one by one. */
void gf_warp_stretches(const struct gf_warp_sampler *s, gf_warp_maker *maker,
                       const struct gf_warp_run *run, int count, unsigned char *out)
{
    const enum place place = place_of(s->warp, run, count);
    unsigned char places[GF_WARP_RUN];
    if (place == MIXED)
        find_places(s->warp, run, count, places);
    for (int k = 0, first = 0; first < count; first = k) {
        const enum place here = place == MIXED ? (enum place)places[first] : place;
        unsigned char *const to = out + (size_t)first * s->pixel_bytes;
        k = place == MIXED ? first + 1 : count;
        while (k < count && places[k] == here)
            k++;
        if (here == OUTSIDE)
            fill_beyond(s, k - first, to);
        else
            maker(s, run,
                  here == INSIDE ? first + make_inside(s, run, first, k - first, to) : first, k,
                  out, NULL);
    }
}
