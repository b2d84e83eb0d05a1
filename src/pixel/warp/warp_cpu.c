/* Warps pictures on the CPU: for a stretch of pixels, first their positions in the input. */
#include "pixel/warp/warp_cpu.h"

#include "base/simd.h"
#include "pixel/float_rows.h"
#include "pixel/sample.h"

/* Computes positions by third differences, in integers of 2^-44 pixels, which differ slightly from
 * those of gf_warp_at(). If a position is so close to the next 1/4096 of a pixel that the
 * difference could matter, gf_warp_at() computes it again. */

#if GF_X86

/* A stretch consists of pieces of PIECE pixels. A piece has a polynomial, which is computed from
 * the positions of NODES pixels that are SPACING apart. */
enum { PIECE = 64, NODES = 4, SPACING = 21, PIECES = GF_WARP_STRETCH / PIECE };

static const double ONE = 17592186044416.0; /* one pixel in units of 2^-44 */
static const double REACH = 1 << 17;        /* positions must be less than this, in pixels */
/* Beyond this difference, in 2^-44 pixels, too many positions would be computed twice. */
static const double UNSURE_MOST = 1 << 24;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Returns the factor of the fourth derivative in the error of a polynomial through four points that
 * are SPACING apart. */
static double of_fourth_derivative(void)
{
    return (double)SPACING * SPACING * SPACING * SPACING / 24;
}

/* Returns the most by which positions of a perspective map can differ from gf_warp_at()'s. The
 * derivative of (a x + b) / (g x + h) is D / w^2, where D = a h - g b and w = g x + h; the fourth
 * derivative is -24 D g^3 / w^5. Rounding of sums adds to the bound. */
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

/* Returns the same bound for a lens map. Only the term k2 r2^2 has a fourth derivative, whose
 * largest part comes from d r2^2. */
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

/* For each piece, the polynomials p(k) = a[0] + a[1] k + a[2] k^2 + a[3] k^3 of both coordinates at
 * its pixel k, in 2^-44 pixels: those of u for all pieces, then those of v. */
struct polynomials {
    double a[NODES][2 * PIECES];
};

/* Fits the polynomials to the values at the nodes, which are in pixels, and adds `unsure`. The
 * value at node n of piece s has the index n * PIECES + s. */
GF_INLINE void fill(const double *value, double unsure, int first, struct polynomials *to)
{
    const double per = 1.0 / SPACING;
    for (int s = 0; s < PIECES; s++) {
        const double p0 = value[s], p1 = value[PIECES + s], p2 = value[2 * PIECES + s],
                     p3 = value[3 * PIECES + s];
        const double d1 = p1 - p0, d2 = p2 - 2 * p1 + p0, d3 = p3 - 3 * p2 + 3 * p1 - p0;
        to->a[0][first + s] = p0 * ONE + unsure;
        to->a[1][first + s] = (d1 - d2 * 0.5 + d3 * (1.0 / 3)) * (per * ONE);
        to->a[2][first + s] = (d2 - d3) * (per * per * ONE / 2);
        to->a[3][first + s] = d3 * (per * per * per * ONE / 6);
    }
}

/* Computes the positions at the nodes. Callers pass the kind of the map as a constant, so that
 * compilers vectorise the loop. */
GF_INLINE void nodes_by(const struct gf_warp *warp, int kind, int x, int y, double *u, double *v)
{
    struct gf_warp_map map = warp->map;
    map.kind = kind;
    for (int i = 0; i < PIECES * NODES; i++) {
        double column, row;
        gf_warp_source(&map, x + (i % PIECES * PIECE + i / PIECES * SPACING), y, &column, &row);
        u[i] = column + warp->bias;
        v[i] = row + warp->bias;
    }
}

GF_INLINE bool are_within(const double *values, double most)
{
    int64_t beyond = 0;
    for (int i = 0; i < PIECES * NODES; i++)
        beyond |= -(int64_t) !(fabs(values[i]) < most);
    return !beyond;
}

#define VEC_WIDE_TARGET GF_AVX512
#define VEC_BYTES 32
#include "pixel/warp/warp_vec.h"
#define VEC_BYTES 64
#include "pixel/warp/warp_vec.h"
#define BY_WIDTH(name) (gf_cpu_has(GF_CPU_AVX512) ? name##_64 : name##_32)

static bool straight_steps(const struct gf_warp *warp, int x, int y, int count,
                           struct gf_warp_stretch *stretch)
{
    const int64_t u = warp->u + x * warp->ux + y * warp->uy,
                  v = warp->v + x * warp->vx + y * warp->vy;
    const int64_t u1 = u + GF_WARP_STRETCH * warp->ux, v1 = v + GF_WARP_STRETCH * warp->vx;
    const int64_t most = (int64_t)REACH << 32;
    if (u < -most || u > most || v < -most || v > most || u1 < -most || u1 > most || v1 < -most ||
        v1 > most)
        return false;
    BY_WIDTH(straight_steps)(warp, u, v, count, stretch);
    return true;
}

bool gf_warp_steps(const struct gf_warp *warp, int x, int y, int count,
                   struct gf_warp_stretch *stretch)
{
    if (warp->nx * warp->ny > 1)
        return false;
    return warp->map.kind == GF_WARP_AFFINE ? straight_steps(warp, x, y, count, stretch)
                                            : BY_WIDTH(curved_steps)(warp, x, y, count, stretch);
}
#endif

enum { CHANNELS_MAX = 4 };

GF_TARGET_CLONES static void straight_positions(const struct gf_warp *warp, int x, int y, int i,
                                                int j, int count, struct gf_warp_stretch *stretch)
{
    const int64_t u0 = warp->u + x * warp->ux + y * warp->uy + gf_warp_part_u(warp, i, j);
    const int64_t v0 = warp->v + x * warp->vx + y * warp->vy + gf_warp_part_v(warp, i, j);
    for (int k = 0; k < count; k++) {
        const int64_t u = u0 + k * warp->ux, v = v0 + k * warp->vx;
        stretch->x[k] = (int32_t)(u >> 32), stretch->y[k] = (int32_t)(v >> 32);
        stretch->f[k] = (uint16_t)((uint32_t)u >> 20),
        stretch->g[k] = (uint16_t)((uint32_t)v >> 20);
    }
}

/* Computes the positions of a stretch. Callers pass the kind of the map as a constant, so that
 * compilers vectorise the loop. */
GF_INLINE void positions_by(const struct gf_warp *warp, int kind, int x, int y, int i, int j,
                            int count, struct gf_warp_stretch *stretch)
{
    const double first = gf_warp_offset(i, warp->nx, gf_warp_half(warp->nx));
    const double row = y + gf_warp_offset(j, warp->ny, gf_warp_half(warp->ny));
    struct gf_warp_map map = warp->map;
    map.kind = kind;
    for (int k = 0; k < count; k++) {
        double u, v;
        gf_warp_source(&map, (x + k) + first, row, &u, &v);
        const struct gf_warp_at at = gf_warp_split(u + warp->bias, v + warp->bias);
        stretch->x[k] = at.x, stretch->y[k] = at.y;
        stretch->f[k] = (uint16_t)at.f, stretch->g[k] = (uint16_t)at.g;
    }
}

GF_TARGET_CLONES static void perspective_positions(const struct gf_warp *warp, int x, int y, int i,
                                                   int j, int count,
                                                   struct gf_warp_stretch *stretch)
{
    positions_by(warp, GF_WARP_PERSPECTIVE, x, y, i, j, count, stretch);
}

GF_TARGET_CLONES static void lens_positions(const struct gf_warp *warp, int x, int y, int i, int j,
                                            int count, struct gf_warp_stretch *stretch)
{
    positions_by(warp, GF_WARP_LENS, x, y, i, j, count, stretch);
}

static void positions(const struct gf_warp *warp, int x, int y, int sample, int count,
                      struct gf_warp_stretch *stretch)
{
    const int i = sample % warp->nx, j = sample / warp->nx;
    if (gf_cpu_has(GF_CPU_AVX2) && gf_warp_steps(warp, x, y, count, stretch))
        return;
    if (warp->map.kind == GF_WARP_AFFINE)
        straight_positions(warp, x, y, i, j, count, stretch);
    else if (warp->map.kind == GF_WARP_PERSPECTIVE)
        perspective_positions(warp, x, y, i, j, count, stretch);
    else
        lens_positions(warp, x, y, i, j, count, stretch);
}

GF_INLINE int sample_of(const unsigned char *at, int bits, int i)
{
    return bits == 8 ? at[i] : ((const gf_u16_any *)(const void *)at)[i];
}

enum method { NEAREST, LINEAR, TABLE };

GF_INLINE int64_t table_value(const struct gf_warp_sampler *s, struct gf_warp_window window,
                              unsigned f, unsigned g, int bits, int channels, int c)
{
    const int taps = s->warp->taps;
    const int16_t *const across = s->weights + (f >> 2) * GF_WARP_TAPS;
    const int16_t *const down = s->weights + (g >> 2) * GF_WARP_TAPS;
    int64_t sum = 0;
    for (int j = 0; j < taps; j++) {
        int row = 0;
        for (int i = 0; i < taps; i++)
            row += across[i] * sample_of(window.at + j * window.pitch, bits, i * channels + c);
        sum += (int64_t)down[j] * gf_warp_round_row(row);
    }
    return sum;
}

GF_INLINE int64_t value_of(const struct gf_warp_sampler *s, struct gf_warp_window window,
                           unsigned f, unsigned g, int bits, int channels, enum method method,
                           int c)
{
    const unsigned char *const top = window.at, *const bottom = window.at + window.pitch;
    if (method == NEAREST)
        return sample_of(top, bits, c);
    if (method == TABLE)
        return table_value(s, window, f, g, bits, channels, c);
    const uint32_t a = (uint32_t)sample_of(top, bits, c);
    const uint32_t b = (uint32_t)sample_of(top, bits, channels + c);
    const uint32_t d = (uint32_t)sample_of(bottom, bits, c);
    const uint32_t e = (uint32_t)sample_of(bottom, bits, channels + c);
    return bits == 8 ? gf_warp_linear8(a, b, d, e, f, g) : gf_warp_linear16(a, b, d, e, f, g);
}

GF_INLINE void store(unsigned char *out, int bits, int i, int v)
{
    if (bits == 8)
        out[i] = (unsigned char)v;
    else
        ((gf_u16_any *)(void *)out)[i] = (uint16_t)v;
}

/* Computes pixel k of the stretch, and stores it at `out` or, if a pixel has several samples, adds
 * it to the sums. */
GF_INLINE void make_pixel(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                          int k, int bits, int channels, enum method method, unsigned char *out,
                          int64_t *sums)
{
    const struct gf_warp *const warp = s->warp;
    const int fraction = method == NEAREST ? 0 : method == TABLE ? 20 : bits == 8 ? 24 : 16;
    const int max = bits == 8 ? 255 : 65535;
    unsigned char copy[GF_WARP_WINDOW_BYTES];
    const struct gf_warp_window window = gf_warp_window_of(s, stretch, k, copy);
    for (int c = 0; c < channels; c++) {
        const int64_t v =
            window.at ? value_of(s, window, stretch->f[k], stretch->g[k], bits, channels, method, c)
                      : (int64_t)warp->beyond[c] << fraction;
        if (sums)
            sums[k * channels + c] += gf_warp_fine(v, fraction);
        else
            store(out, bits, k * channels + c,
                  method == NEAREST ? (int)v : gf_warp_sample(v, fraction, max));
    }
}

GF_INLINE void make_stretch(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                            int first, int end, int bits, int channels, enum method method,
                            unsigned char *out, int64_t *sums)
{
    for (int k = first; k < end; k++)
        make_pixel(s, stretch, k, bits, channels, method, out, sums);
}

#define STRETCH_OF(name_, bits_, channels_, method_) \
    GF_TARGET_CLONES static void name_(const struct gf_warp_sampler *s, \
                                       const struct gf_warp_stretch *stretch, int first, int end, \
                                       unsigned char *out, void *sums) \
    { \
        make_stretch(s, stretch, first, end, bits_, channels_, method_, out, sums); \
    }
#define STRETCHES_OF(bits_, channels_) \
    STRETCH_OF(nearest_##bits_##_##channels_, bits_, channels_, NEAREST) \
    STRETCH_OF(linear_##bits_##_##channels_, bits_, channels_, LINEAR) \
    STRETCH_OF(table_##bits_##_##channels_, bits_, channels_, TABLE)
STRETCHES_OF(8, 1)
STRETCHES_OF(8, 3)
STRETCHES_OF(16, 1)
STRETCHES_OF(16, 2)
STRETCHES_OF(16, 3)
STRETCHES_OF(16, 4)

#define MAKERS(bits_, channels_) \
    { \
        nearest_##bits_##_##channels_, linear_##bits_##_##channels_, table_##bits_##_##channels_ \
    }

/* Returns the function for the format. Alpha is premultiplied here, with 16 bits. */
static gf_warp_maker *maker_of(const struct gf_warp *warp, struct gf_format format)
{
    static gf_warp_maker *const makers[6][3] = {MAKERS(8, 1),  MAKERS(8, 3),  MAKERS(16, 1),
                                                MAKERS(16, 2), MAKERS(16, 3), MAKERS(16, 4)};
    if (gf_is_float(format))
        return gf_warp_float_maker(warp, format.channels);
    const enum method method = warp->kernel == GF_WARP_NEAREST  ? NEAREST
                               : warp->kernel == GF_WARP_LINEAR ? LINEAR
                                                                : TABLE;
    return makers[format.bits == 8 ? format.channels / 2 : 1 + format.channels][method];
}

/* Whether the windows of all samples of `count` pixels from (x, y) on lie outside of the picture,
 * where everything has one colour. Under an affine map they lie between the windows of the
 * outermost samples of the first and the last pixel. */
static bool is_beyond(const struct gf_warp *warp, int x, int y, int count)
{
    const int taps = warp->taps, before = taps / 2 - 1;
    bool left = true, right = true, above = true, below = true;
    if (warp->map.kind != GF_WARP_AFFINE || warp->edge)
        return false;
    for (int i = 0; i < 8; i++) {
        const struct gf_warp_at at = gf_warp_at(warp, i & 1 ? x + count - 1 : x, y,
                                                i & 2 ? warp->nx - 1 : 0, i & 4 ? warp->ny - 1 : 0);
        left &= at.x - before <= -taps, right &= at.x - before >= warp->in_width;
        above &= at.y - before <= -taps, below &= at.y - before >= warp->in_height;
    }
    return left || right || above || below;
}

/* Computes `count` pixels, from (x, y) on, as means of samples. `warp` has the numbers of samples
 * of their zone. */
static void make_mean(const struct gf_warp_sampler *s, const struct gf_warp *warp,
                      gf_warp_maker *maker, int x, int y, int count, unsigned char *out)
{
    const int samples = warp->nx * warp->ny, channels = s->in->format.channels;
    const int max = gf_sample_max(s->in->format);
    const bool beyond = is_beyond(warp, x, y, count);
    const int made = beyond ? 1 : samples, pixels = beyond ? 1 : count;
    int64_t sums[GF_WARP_STRETCH * CHANNELS_MAX] = {0};
    struct gf_warp_stretch stretch;
    const double one_of = 1 / (256.0 * samples);
    for (int sample = 0; sample < made; sample++) {
        positions(warp, x, y, sample, pixels, &stretch);
        maker(s, &stretch, 0, pixels, NULL, sums);
    }
    for (int i = 0; i < count * channels; i++) {
        const int64_t sum = beyond ? samples * sums[i % channels] : sums[i];
        store(out, s->in->format.bits, i, gf_warp_mean(samples, one_of, sum, max));
    }
}

/* Does what make_mean() does, for floats: the sums of the rows of samples are added up. */
static void make_float_mean(const struct gf_warp_sampler *s, const struct gf_warp *warp,
                            gf_warp_maker *maker, int x, int y, int count, unsigned char *out)
{
    const int channels = s->in->format.channels;
    const bool beyond = is_beyond(warp, x, y, count);
    const int pixels = beyond ? 1 : count;
    float row[GF_WARP_STRETCH * CHANNELS_MAX], sums[GF_WARP_STRETCH * CHANNELS_MAX] = {0};
    struct gf_warp_stretch stretch;
    for (int j = 0; j < warp->ny; j++) {
        memset(row, 0, sizeof row);
        for (int i = 0; i < warp->nx; i++) {
            positions(warp, x, y, j * warp->nx + i, pixels, &stretch);
            maker(s, &stretch, 0, pixels, NULL, row);
        }
        for (int i = 0; i < pixels * channels; i++)
            sums[i] += row[i];
    }
    for (int i = 0; i < count * channels; i++)
        row[i] = sums[beyond ? i % channels : i] / (float)(warp->nx * warp->ny);
    gf_floats_to_row(row, s->in->format, (size_t)(count * channels), out);
}

/* Makes the bytes of a pixel outside of the picture. */
static void make_beyond(const struct gf_warp *warp, struct gf_format format, unsigned char *pixel)
{
    if (gf_is_float(format))
        gf_floats_to_row(warp->beyond_floats, format, CHANNELS_MAX, pixel);
    for (int c = 0; c < format.channels && !gf_is_float(format); c++)
        store(pixel, format.bits, c, warp->beyond[c]);
}

void gf_warp_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                 void *scratch)
{
    const struct gf_warp *const all = stage->constants;
    const struct gf_warp_counts *const zones = gf_warp_zones(all);
    struct gf_warp warp = *all; /* nx and ny become those of each zone */
    const size_t size = gf_pixel_bytes(in->format);
    unsigned char beyond[CHANNELS_MAX * sizeof(float)];
    const struct gf_warp_sampler sampler = {all, in, gf_warp_weights(all), size, beyond};
    gf_warp_maker *const maker = maker_of(all, in->format);
    const bool has_vectors = in->format.bits == 8, floats = gf_is_float(in->format);
    make_beyond(all, in->format, beyond);
    for (int y = out->y; y < out->y + out->rows; y++) {
        for (int x = 0; x < out->format.width; x += GF_WARP_STRETCH) {
            const int left = out->format.width - x,
                      count = left < GF_WARP_STRETCH ? left : GF_WARP_STRETCH;
            unsigned char *const to = gf_view_row(out, y) + (size_t)x * size;
            struct gf_warp_stretch stretch;
            const struct gf_warp_counts counts = zones[gf_warp_zone(all, x, y)];
            warp.nx = counts.nx, warp.ny = counts.ny;
            if (warp.nx * warp.ny > 1) {
                (floats ? make_float_mean : make_mean)(&sampler, &warp, maker, x, y, count, to);
                continue;
            }
            positions(&warp, x, y, 0, count, &stretch);
            if (has_vectors)
                gf_warp_stretches(&sampler, maker, &stretch, count, to);
            else
                maker(&sampler, &stretch, 0, count, to, NULL);
        }
    }
}
