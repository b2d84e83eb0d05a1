/* Warps pictures on the CPU: computes the positions of a run of pixels, then their values. */
#include <string.h>

#include "base/image.h"
#include "base/target_clones.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "pixel/warp/warp_cpu.h"

enum { CHANNELS_MAX = 4, WINDOW_MAX = 6 };

GF_TARGET_CLONES static void straight_positions(const struct gf_warp *warp, int x, int y, int i,
                                                int j, int count, struct gf_warp_run *run)
{
    const int64_t u0 = warp->u + x * warp->ux + y * warp->uy + gf_warp_part_u(warp, i, j);
    const int64_t v0 = warp->v + x * warp->vx + y * warp->vy + gf_warp_part_v(warp, i, j);
    for (int k = 0; k < count; k++) {
        const int64_t u = u0 + k * warp->ux, v = v0 + k * warp->vx;
        run->x[k] = (int32_t)(u >> 32), run->y[k] = (int32_t)(v >> 32);
        run->f[k] = (uint16_t)((uint32_t)u >> 20), run->g[k] = (uint16_t)((uint32_t)v >> 20);
    }
}

/* Computes positions. Each caller passes a constant kind of map, so that compilers vectorise the
 * loop. */
GF_INLINE void positions_by(const struct gf_warp *warp, int kind, int x, int y, int i, int j,
                            int count, struct gf_warp_run *run)
{
    const double first = gf_warp_offset(i, warp->nx, gf_warp_half(warp->nx));
    const double row = y + gf_warp_offset(j, warp->ny, gf_warp_half(warp->ny));
    struct gf_warp_map map = warp->map;
    map.kind = kind;
    for (int k = 0; k < count; k++) {
        double u, v;
        gf_warp_source(&map, (x + k) + first, row, &u, &v);
        const struct gf_warp_at at = gf_warp_split(u + warp->bias, v + warp->bias);
        run->x[k] = at.x, run->y[k] = at.y;
        run->f[k] = (uint16_t)at.f, run->g[k] = (uint16_t)at.g;
    }
}

GF_TARGET_CLONES static void perspective_positions(const struct gf_warp *warp, int x, int y, int i,
                                                   int j, int count, struct gf_warp_run *run)
{
    positions_by(warp, GF_WARP_PERSPECTIVE, x, y, i, j, count, run);
}

GF_TARGET_CLONES static void lens_positions(const struct gf_warp *warp, int x, int y, int i, int j,
                                            int count, struct gf_warp_run *run)
{
    positions_by(warp, GF_WARP_LENS, x, y, i, j, count, run);
}

static void positions(const struct gf_warp *warp, int x, int y, int sample, int count,
                      struct gf_warp_run *run)
{
    const int i = sample % warp->nx, j = sample / warp->nx;
    if (gf_cpu_has(GF_CPU_AVX512) && gf_warp_steps(warp, x, y, count, run))
        return;
    if (warp->map.kind == GF_WARP_AFFINE)
        straight_positions(warp, x, y, i, j, count, run);
    else if (warp->map.kind == GF_WARP_PERSPECTIVE)
        perspective_positions(warp, x, y, i, j, count, run);
    else
        lens_positions(warp, x, y, i, j, count, run);
}

/* The samples of a pixel's window. */
struct window {
    const unsigned char *at;
    ptrdiff_t pitch; /* the distance between rows, in bytes */
};

/* Copies a window that is not entirely inside the picture; its first pixel is (x, y). */
static struct window copy_window(const struct gf_warp_sampler *s, int x, int y, unsigned char *to)
{
    const struct gf_warp *const warp = s->warp;
    const size_t size = s->pixel_bytes;
    unsigned char beyond[8];
    for (int c = 0; c < CHANNELS_MAX; c++) {
        if (s->in->format.bits == 8)
            beyond[c] = (unsigned char)warp->beyond[c];
        else
            memcpy(beyond + 2 * c, &warp->beyond[c], 2);
    }
    for (int j = 0; j < warp->taps; j++) {
        for (int i = 0; i < warp->taps; i++) {
            const int column = gf_border_index(x + i, warp->in_width, GF_BORDER_EDGE);
            const int row = gf_border_index(y + j, warp->in_height, GF_BORDER_EDGE);
            const bool inside = warp->edge || (column == x + i && row == y + j);
            memcpy(to + (size_t)(j * warp->taps + i) * size,
                   inside ? gf_view_row(s->in, row) + (size_t)column * size : beyond, size);
        }
    }
    return (struct window){to, (ptrdiff_t)(size * (size_t)warp->taps)};
}

GF_INLINE int sample_of(const unsigned char *at, int bits, int i)
{
    return bits == 8 ? at[i] : ((const gf_u16_any *)(const void *)at)[i];
}

enum method { NEAREST, LINEAR, TABLE };

GF_INLINE int64_t table_value(const struct gf_warp_sampler *s, struct window window, unsigned f,
                              unsigned g, int bits, int channels, int c)
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

GF_INLINE int64_t value_of(const struct gf_warp_sampler *s, struct window window, unsigned f,
                           unsigned g, int bits, int channels, enum method method, int c)
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

/* Computes pixel k of the run. It is stored at `out`, or added to the sums if a pixel has several
 * samples. */
GF_INLINE void make_pixel(const struct gf_warp_sampler *s, const struct gf_warp_run *run, int k,
                          int bits, int channels, enum method method, unsigned char *out,
                          int64_t *sums)
{
    const struct gf_warp *const warp = s->warp;
    const int before = warp->taps / 2 - (method != NEAREST);
    const int x = run->x[k] - before, y = run->y[k] - before;
    const int fraction = method == NEAREST ? 0 : method == TABLE ? 20 : bits == 8 ? 24 : 16;
    const int max = bits == 8 ? 255 : 65535;
    unsigned char copy[WINDOW_MAX * WINDOW_MAX * CHANNELS_MAX * 2];
    struct window window = {0};
    if (x >= 0 && y >= 0 && x <= warp->in_width - warp->taps && y <= warp->in_height - warp->taps) {
        window.at = gf_view_row(s->in, y) + (size_t)x * s->pixel_bytes;
        window.pitch = (ptrdiff_t)s->in->pitch;
    } else if (warp->edge ||
               (x > -warp->taps && y > -warp->taps && x < warp->in_width && y < warp->in_height)) {
        window = copy_window(s, x, y, copy);
    }
    for (int c = 0; c < channels; c++) {
        const int64_t v = window.at
                              ? value_of(s, window, run->f[k], run->g[k], bits, channels, method, c)
                              : (int64_t)warp->beyond[c] << fraction;
        if (sums)
            sums[k * channels + c] += gf_warp_fine(v, fraction);
        else
            store(out, bits, k * channels + c,
                  method == NEAREST ? (int)v : gf_warp_sample(v, fraction, max));
    }
}

GF_INLINE void make_run(const struct gf_warp_sampler *s, const struct gf_warp_run *run, int first,
                        int end, int bits, int channels, enum method method, unsigned char *out,
                        int64_t *sums)
{
    for (int k = first; k < end; k++)
        make_pixel(s, run, k, bits, channels, method, out, sums);
}

#define RUN_OF(name_, bits_, channels_, method_) \
    GF_TARGET_CLONES static void name_(const struct gf_warp_sampler *s, \
                                       const struct gf_warp_run *run, int first, int end, \
                                       unsigned char *out, int64_t *sums) \
    { \
        make_run(s, run, first, end, bits_, channels_, method_, out, sums); \
    }
#define RUNS_OF(bits_, channels_) \
    RUN_OF(nearest_##bits_##_##channels_, bits_, channels_, NEAREST) \
    RUN_OF(linear_##bits_##_##channels_, bits_, channels_, LINEAR) \
    RUN_OF(table_##bits_##_##channels_, bits_, channels_, TABLE)
RUNS_OF(8, 1)
RUNS_OF(8, 3)
RUNS_OF(16, 1)
RUNS_OF(16, 2)
RUNS_OF(16, 3)
RUNS_OF(16, 4)

#define MAKERS(bits_, channels_) \
    { \
        nearest_##bits_##_##channels_, linear_##bits_##_##channels_, table_##bits_##_##channels_ \
    }

/* Chooses the function for the format. Pictures with alpha are premultiplied and have 16 bits
 * here. */
static gf_warp_maker *maker_of(const struct gf_warp *warp, struct gf_format format)
{
    static gf_warp_maker *const makers[6][3] = {MAKERS(8, 1),  MAKERS(8, 3),  MAKERS(16, 1),
                                                MAKERS(16, 2), MAKERS(16, 3), MAKERS(16, 4)};
    const enum method method = warp->kernel == GF_WARP_NEAREST  ? NEAREST
                               : warp->kernel == GF_WARP_LINEAR ? LINEAR
                                                                : TABLE;
    return makers[format.bits == 8 ? format.channels / 2 : 1 + format.channels][method];
}

/* Whether the windows of all samples are outside of the picture, which has one colour there. Under
 * an affine map they are between the windows of the outermost samples of the first and last
 * pixel. */
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

/* `warp` has the numbers of samples of the pixels' cell. */
static void make_mean(const struct gf_warp_sampler *s, const struct gf_warp *warp,
                      gf_warp_maker *maker, int x, int y, int count, unsigned char *out)
{
    const int samples = warp->nx * warp->ny, channels = s->in->format.channels;
    const int max = gf_sample_max(s->in->format);
    const bool beyond = is_beyond(warp, x, y, count);
    const int made = beyond ? 1 : samples, pixels = beyond ? 1 : count;
    int64_t sums[GF_WARP_RUN * CHANNELS_MAX] = {0};
    struct gf_warp_run run;
    const double one_of = 1 / (256.0 * samples);
    for (int sample = 0; sample < made; sample++) {
        positions(warp, x, y, sample, pixels, &run);
        maker(s, &run, 0, pixels, NULL, sums);
    }
    for (int i = 0; i < count * channels; i++) {
        const int64_t sum = beyond ? samples * sums[i % channels] : sums[i];
        store(out, s->in->format.bits, i, gf_warp_mean(samples, one_of, sum, max));
    }
}

void gf_warp_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                 void *scratch)
{
    const struct gf_warp *const all = stage->constants;
    const struct gf_warp_counts *const cells = gf_warp_cells(all);
    struct gf_warp warp = *all; /* with a cell's numbers of samples */
    const size_t size = gf_pixel_bytes(in->format);
    const struct gf_warp_sampler sampler = {all, in, gf_warp_weights(all), size};
    gf_warp_maker *const maker = maker_of(all, in->format);
    const bool has_vectors = in->format.bits == 8;
    for (int y = out->y; y < out->y + out->rows; y++) {
        for (int x = 0; x < out->format.width; x += GF_WARP_RUN) {
            const int left = out->format.width - x, count = left < GF_WARP_RUN ? left : GF_WARP_RUN;
            unsigned char *const to = gf_view_row(out, y) + (size_t)x * size;
            struct gf_warp_run run;
            const struct gf_warp_counts counts = cells[gf_warp_cell(all, x, y)];
            warp.nx = counts.nx, warp.ny = counts.ny;
            if (warp.nx * warp.ny > 1) {
                make_mean(&sampler, &warp, maker, x, y, count, to);
                continue;
            }
            positions(&warp, x, y, 0, count, &run);
            if (has_vectors)
                gf_warp_stretches(&sampler, maker, &run, count, to);
            else
                maker(&sampler, &run, 0, count, to, NULL);
        }
    }
}
