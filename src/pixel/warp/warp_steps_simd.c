/* Computes positions by third differences in integers of 2^-44 pixels. They differ slightly from
 * the positions of gf_warp_at(). A position that is so close to the next 1/4096 of a pixel that the
 * difference could matter is computed again by gf_warp_at(). */
#include "pixel/warp/warp_cpu.h"

#include "base/simd.h"

#if GF_X86

/* Each segment of SEGMENT pixels has a polynomial, which is computed from the positions of NODES
 * pixels that are SPACING apart. */
enum { SEGMENT = 64, NODES = 4, SPACING = 21, SEGMENTS = GF_WARP_RUN / SEGMENT, EACH = 16 };

static const double ONE = 17592186044416.0; /* the integer for one pixel: 2^44 */
static const double REACH = 1 << 17;        /* the largest position, in pixels */
static const double UNSURE_MOST = 1 << 24;  /* the largest difference, in 2^-44 pixels, with which
                                             * steps are faster */

/* ---- bounds of the difference from gf_warp_at() ---- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The error of a polynomial through four points SPACING apart is at most this number times the
 * fourth derivative. */
static double of_fourth_derivative(void)
{
    return (double)SPACING * SPACING * SPACING * SPACING / 24;
}

/* Bounds the difference for a perspective map. The derivative of (a x + b) / (g x + h) is D / w^2,
 * where D = a h - g b and w = g x + h; the fourth derivative is -24 D g^3 / w^5. Rounding of sums
 * adds to the bound. */
static double unsure_perspective(const double *c, double x0, double x1, double y)
{
    const double g = c[6], h = c[7] * y + c[8], w0 = g * x0 + h, w1 = g * x1 + h;
    const double least = w0 < w1 ? w0 : w1, far = larger(fabs(x0), fabs(x1));
    const double size = fabs(g) * far + fabs(c[7] * y) + fabs(c[8]);
    if (!(least > 0) || size > 0x1p20 * least)
        return INFINITY;
    double derivative = 0, sums = REACH * size;
    for (int axis = 0; axis < 6; axis += 3) {
        const double b = c[axis + 1] * y + c[axis + 2];
        derivative = larger(derivative, fabs(c[axis] * h - g * b));
        sums = larger(sums, REACH * size + fabs(c[axis]) * far + fabs(c[axis + 1] * y) +
                                fabs(c[axis + 2]));
    }
    const double square = least * least;
    derivative *= 24 * fabs(g * g * g) / (square * square * least);
    return of_fourth_derivative() * derivative + 0x1p-50 * sums / least;
}

/* Bounds the difference for a lens map. Only the term k2 r2^2 of the stretch has a fourth
 * derivative; the largest part of the derivative comes from d r2^2. */
static double unsure_lens(const double *c, double x0, double x1, double y)
{
    const double step = fabs(c[6]), dx = larger(fabs(x0 - c[0]), fabs(x1 - c[0])) * step;
    const double dy = fabs(y - c[1]) * step, far = larger(dx, dy), scale = fabs(c[2]);
    const double r2 = (dx * dx + dy * dy) * scale, squared = step * step * scale;
    const double derivative = 120 * fabs(c[8]) * squared * squared * far;
    const double size =
        larger(fabs(c[3]), fabs(c[4])) + far * (1 + r2 * (fabs(c[7]) + r2 * fabs(c[8])));
    return of_fourth_derivative() * derivative + 0x1p-49 * size;
}

/* One coordinate in eight lanes, and its first, second and third differences to the pixels that are
 * eight further to the right. */
struct track {
    __m512i at, first, second, third;
};

/* The polynomials p(k) = a[0] + a[1] k + a[2] k^2 + a[3] k^3 of both coordinates in each segment, u
 * before v, in 2^-44 pixels. */
struct polynomials {
    double a[NODES][2 * SEGMENTS];
};

/* Fits the polynomials to the nodes' values, which are in pixels, and adds `unsure`. The value at
 * node n of segment s has the index n * SEGMENTS + s. */
GF_AVX512 GF_INLINE void fill(const double *u, const double *v, double unsure,
                              struct polynomials *to)
{
    __m512d p[NODES];
    for (int n = 0; n < NODES; n++)
        p[n] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(u + n * SEGMENTS)),
                                  _mm256_loadu_pd(v + n * SEGMENTS), 1);
    const __m512d d1 = p[1] - p[0], d2 = p[2] - 2 * p[1] + p[0];
    const __m512d d3 = p[3] - 3 * p[2] + 3 * p[1] - p[0];
    const double per = 1.0 / SPACING;
    _mm512_storeu_pd(to->a[0], p[0] * ONE + unsure);
    _mm512_storeu_pd(to->a[1], (d1 - d2 * 0.5 + d3 * (1.0 / 3)) * (per * ONE));
    _mm512_storeu_pd(to->a[2], (d2 - d3) * (per * per * ONE / 2));
    _mm512_storeu_pd(to->a[3], d3 * (per * per * per * ONE / 6));
}

GF_AVX512 GF_INLINE struct track track_of(const struct polynomials *from, int i)
{
    const __m512d a0 = _mm512_set1_pd(from->a[0][i]), a1 = _mm512_set1_pd(from->a[1][i]);
    const __m512d a2 = _mm512_set1_pd(from->a[2][i]), a3 = _mm512_set1_pd(from->a[3][i]);
    const __m512d k = _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512d at = a0 + k * (a1 + k * (a2 + k * a3));
    const __m512d first = 8 * a1 + (16 * k + 64) * a2 + (24 * k * k + 192 * k + 512) * a3;
    const __m512d second = 128 * a2 + (384 * k + 3072) * a3;
    return (struct track){_mm512_cvtpd_epi64(at), _mm512_cvtpd_epi64(first),
                          _mm512_cvtpd_epi64(second), _mm512_cvtpd_epi64(3072 * a3)};
}

/* Returns the track of a straight line, which is given in 2^-32 pixels. */
GF_AVX512 GF_INLINE struct track straight(int64_t at, int64_t step)
{
    int64_t lane[8];
    for (int i = 0; i < 8; i++)
        lane[i] = (at + i * step) * 4096;
    return (struct track){_mm512_loadu_si512(lane), _mm512_set1_epi64(8 * 4096 * step),
                          _mm512_setzero_si512(), _mm512_setzero_si512()};
}

GF_AVX512 GF_INLINE void advance(struct track *track, const bool is_straight)
{
    track->at = _mm512_add_epi64(track->at, track->first);
    if (is_straight)
        return;
    track->first = _mm512_add_epi64(track->first, track->second);
    track->second = _mm512_add_epi64(track->second, track->third);
}

/* Computes sixteen positions: whole pixels in `whole`, and fractions in `part` unless it is NULL.
 * Returns a mask of positions that are not certain: bit 2 i stands for pixel i, bit 2 i + 1 for
 * pixel 8 + i. */
GF_AVX512 GF_INLINE unsigned next(struct track *track, const bool is_straight, __m512i twice_unsure,
                                  int32_t *whole, uint16_t *part)
{
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const __m512i low = track->at;
    advance(track, is_straight);
    const __m512i high = track->at;
    advance(track, is_straight);
    const __m512i at = _mm512_permutex2var_epi32(low, odd, high);
    _mm512_storeu_si512(whole, _mm512_srai_epi32(at, 12));
    if (part)
        _mm256_storeu_si256((void *)part,
                            _mm512_cvtepi32_epi16(_mm512_and_si512(at, _mm512_set1_epi32(4095))));
    if (is_straight)
        return 0;
    const unsigned first = _mm512_mask_cmplt_epu32_mask(0x5555, low, twice_unsure);
    const unsigned second = _mm512_mask_cmplt_epu32_mask(0x5555, high, twice_unsure);
    return first | second << 1;
}

static void make_anew(const struct gf_warp *warp, int x, int y, unsigned which, int k,
                      struct gf_warp_run *run)
{
    for (int i = 0; i < EACH; i++) {
        if (!(which >> (2 * i % EACH + i / 8) & 1))
            continue;
        const struct gf_warp_at at = gf_warp_at(warp, x + k + i, y, 0, 0);
        run->x[k + i] = at.x, run->y[k + i] = at.y;
        run->f[k + i] = (uint16_t)at.f, run->g[k + i] = (uint16_t)at.g;
    }
}

GF_AVX512 static bool straight_steps(const struct gf_warp *warp, int x, int y, int count,
                                     struct gf_warp_run *run)
{
    const int64_t u = warp->u + x * warp->ux + y * warp->uy,
                  v = warp->v + x * warp->vx + y * warp->vy;
    const int64_t u1 = u + GF_WARP_RUN * warp->ux, v1 = v + GF_WARP_RUN * warp->vx;
    const int64_t most = (int64_t)REACH << 32;
    if (u < -most || u > most || v < -most || v > most || u1 < -most || u1 > most || v1 < -most ||
        v1 > most)
        return false;
    const bool has_parts = warp->kernel != GF_WARP_NEAREST;
    struct track across = straight(u, warp->ux), down = straight(v, warp->vx);
    for (int k = 0; k < count; k += EACH) {
        next(&across, true, _mm512_setzero_si512(), run->x + k, has_parts ? run->f + k : NULL);
        next(&down, true, _mm512_setzero_si512(), run->y + k, has_parts ? run->g + k : NULL);
    }
    return true;
}

/* Computes positions at nodes. Each caller passes a constant kind of map, so that compilers
 * vectorise the loop. */
GF_AVX512 GF_INLINE void nodes_by(const struct gf_warp *warp, int kind, int x, int y, double *u,
                                  double *v)
{
    struct gf_warp_map map = warp->map;
    map.kind = kind;
    for (int i = 0; i < SEGMENTS * NODES; i++) {
        double column, row;
        gf_warp_source(&map, x + (i % SEGMENTS * SEGMENT + i / SEGMENTS * SPACING), y, &column,
                       &row);
        u[i] = column + warp->bias;
        v[i] = row + warp->bias;
    }
}

GF_AVX512 GF_INLINE bool are_within(const double *values, int count, double most)
{
    __mmask8 are = 0xff;
    for (int i = 0; i < count; i += 8)
        are &= _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_loadu_pd(values + i)), _mm512_set1_pd(most),
                                  _CMP_LT_OQ);
    return are == 0xff;
}

GF_AVX512 static bool curved_steps(const struct gf_warp *warp, int x, int y, int count,
                                   struct gf_warp_run *run)
{
    const bool is_lens = warp->map.kind == GF_WARP_LENS;
    const double pixels =
        (is_lens ? unsure_lens : unsure_perspective)(warp->map.c, x, x + GF_WARP_RUN, y);
    const double unsure = ceil(pixels * ONE) + 4096; /* includes the rounding of the polynomial
                                                      * itself */
    double u[SEGMENTS * NODES], v[SEGMENTS * NODES];
    struct polynomials polynomials;
    if (!(unsure < UNSURE_MOST))
        return false;
    if (is_lens)
        nodes_by(warp, GF_WARP_LENS, x, y, u, v);
    else
        nodes_by(warp, GF_WARP_PERSPECTIVE, x, y, u, v);
    if (!are_within(u, SEGMENTS * NODES, REACH / 2) || !are_within(v, SEGMENTS * NODES, REACH / 2))
        return false;
    fill(u, v, unsure, &polynomials);
    const __m512i twice = _mm512_set1_epi32(2 * (int)unsure);
    for (int s = 0; s * SEGMENT < count; s++) {
        struct track across = track_of(&polynomials, s);
        struct track down = track_of(&polynomials, SEGMENTS + s);
        for (int k = s * SEGMENT; k < (s + 1) * SEGMENT; k += EACH) {
            const unsigned which = next(&across, false, twice, run->x + k, run->f + k) |
                                   next(&down, false, twice, run->y + k, run->g + k);
            if (which)
                make_anew(warp, x, y, which, k, run);
        }
    }
    return true;
}

bool gf_warp_steps(const struct gf_warp *warp, int x, int y, int count, struct gf_warp_run *run)
{
    if (warp->nx * warp->ny > 1)
        return false;
    return warp->map.kind == GF_WARP_AFFINE ? straight_steps(warp, x, y, count, run)
                                            : curved_steps(warp, x, y, count, run);
}
#endif
