/* Computes the positions of pixels with vectors of one width (base/vec.h). */
#include "base/vec.h"

/* Fits the polynomials of a stretch that begins at pixel (x, y). Returns false if positions in the
 * input are too far away. */
VEC_TARGET static bool V(fit_polynomials)(const struct gf_warp *warp, int x, int y, double unsure,
                                          struct polynomials *to)
{
    double u[PIECES * NODES], v[PIECES * NODES];
    if (warp->map.kind == GF_WARP_LENS)
        nodes_by(warp, GF_WARP_LENS, x, y, u, v);
    else
        nodes_by(warp, GF_WARP_PERSPECTIVE, x, y, u, v);
    fill(u, unsure, 0, to);
    fill(v, unsure, PIECES, to);
    return are_within(u, REACH / 2) && are_within(v, REACH / 2);
}

/* One coordinate of VEC_LONGS neighbouring pixels, in 2^-44 pixels, and its first, second and third
 * differences to the pixels that are VEC_LONGS further to the right. */
struct V(track) {
    V(longs) at, first, second, third;
};

VEC struct V(track) V(track_of)(const struct polynomials *from, int i)
{
    const double n = VEC_LONGS;
    const V(doubles) none = {0};
    const V(doubles) a1 = none + from->a[1][i], a2 = none + from->a[2][i],
                     a3 = none + from->a[3][i];
    V(doubles) k;
    for (int lane = 0; lane < VEC_LONGS; lane++)
        k[lane] = lane;
    const V(doubles) at = from->a[0][i] + k * (a1 + k * (a2 + k * a3));
    const V(doubles) first =
        n * a1 + (2 * n * k + n * n) * a2 + (3 * n * k * k + 3 * n * n * k + n * n * n) * a3;
    const V(doubles) second = 2 * n * n * a2 + 6 * n * n * (k + n) * a3;
    return (struct V(track)){__builtin_convertvector(at, V(longs)),
                             __builtin_convertvector(first, V(longs)),
                             __builtin_convertvector(second, V(longs)),
                             __builtin_convertvector(6 * n * n * n * a3, V(longs))};
}

/* Returns the track of a straight line, whose position and step are given in 2^-32 pixels. */
VEC struct V(track) V(straight)(int64_t at, int64_t step)
{
    V(longs) lane;
    for (int i = 0; i < VEC_LONGS; i++)
        lane[i] = (at + i * step) * 4096;
    return (struct V(track)){lane, (V(longs)){0} + VEC_LONGS * 4096 * step, {0}, {0}};
}

VEC void V(advance)(struct V(track) * track, const bool is_straight)
{
    track->at += track->first;
    if (is_straight)
        return;
    track->first += track->second;
    track->second += track->third;
}

/* Computes VEC_INTS positions: their whole pixels in `whole`, and unless `part` is NULL, their
 * fractions in 1/4096 in `part`. Returns a mask of the positions that gf_warp_at() must compute
 * again. */
VEC unsigned V(next)(struct V(track) * track, const bool is_straight, uint32_t twice_unsure,
                     int32_t *whole, uint16_t *part)
{
    const V(longs) low = track->at;
    V(advance)(track, is_straight);
    const V(longs) high = track->at;
    V(advance)(track, is_straight);
    const V(ints) at = V(upper_halves)(low, high);
    V(store)(whole, (V(bytes))(at >> 12));
    if (part)
        V(store_narrow)(part, at & 4095);
    return is_straight
               ? 0
               : V(are_below)(low, twice_unsure) | V(are_below)(high, twice_unsure) << VEC_LONGS;
}

/* Computes again, by gf_warp_at(), positions from pixel k on whose bits in `which` are set. */
VEC_TARGET static void V(make_anew)(const struct gf_warp *warp, int x, int y, unsigned which, int k,
                                    struct gf_warp_stretch *stretch)
{
    for (; which; which >>= 1, k++) {
        if (!(which & 1))
            continue;
        const struct gf_warp_at at = gf_warp_at(warp, x + k, y, 0, 0);
        stretch->x[k] = at.x, stretch->y[k] = at.y;
        stretch->f[k] = (uint16_t)at.f, stretch->g[k] = (uint16_t)at.g;
    }
}

VEC_TARGET static void V(straight_steps)(const struct gf_warp *warp, int64_t u, int64_t v,
                                         int count, struct gf_warp_stretch *stretch)
{
    const bool has_parts = warp->kernel != GF_WARP_NEAREST;
    struct V(track) across = V(straight)(u, warp->ux), down = V(straight)(v, warp->vx);
    for (int k = 0; k < count; k += VEC_INTS) {
        V(next)(&across, true, 0, stretch->x + k, has_parts ? stretch->f + k : NULL);
        V(next)(&down, true, 0, stretch->y + k, has_parts ? stretch->g + k : NULL);
    }
}

VEC_TARGET static bool V(curved_steps)(const struct gf_warp *warp, int x, int y, int count,
                                       struct gf_warp_stretch *stretch)
{
    const bool is_lens = warp->map.kind == GF_WARP_LENS;
    const double pixels =
        (is_lens ? unsure_lens : unsure_perspective)(warp->map.c, x, x + GF_WARP_STRETCH, y);
    /* The bound includes the rounding of the polynomial itself. */
    const double unsure = ceil(pixels * ONE) + 4096;
    struct polynomials polynomials;
    if (!(unsure < UNSURE_MOST) || !V(fit_polynomials)(warp, x, y, unsure, &polynomials))
        return false;
    const uint32_t twice = 2 * (uint32_t)unsure;
    for (int s = 0; s * PIECE < count; s++) {
        struct V(track) across = V(track_of)(&polynomials, s);
        struct V(track) down = V(track_of)(&polynomials, PIECES + s);
        for (int k = s * PIECE; k < (s + 1) * PIECE; k += VEC_INTS) {
            const unsigned which = V(next)(&across, false, twice, stretch->x + k, stretch->f + k) |
                                   V(next)(&down, false, twice, stretch->y + k, stretch->g + k);
            if (which)
                V(make_anew)(warp, x, y, which, k, stretch);
        }
    }
    return true;
}

#undef VEC_BYTES
