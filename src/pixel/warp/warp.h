/* Sampling a picture at any positions, for rotate, affine, perspective and lens. A map gives the
 * position in the input for each pixel of the result; a kernel (nearest, linear, cubic, Lanczos
 * with 3 lobes) computes the value from the pixels around that position. Outside of the picture is
 * one colour, transparency, or the nearest edge pixel. Samples are computed in integers and
 * positions in a fixed order, so that both backends give the same bits.
 *
 * Where the map shrinks, a pixel of the result covers more than one pixel of the input. It is then
 * the mean of nx x ny samples spread evenly over it, as many as are needed for neighbouring samples
 * to be at most 1.25 pixels of the input apart (but at most 64 x 64): a box in the result's space,
 * as in Heckbert, Fundamentals of Texture Mapping and Image Warping, 1989, 3.5. If the map is not
 * straight, it shrinks some parts of the picture more than others. Each zone of the result then has
 * its own numbers of samples. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/host_device.h"
#include "stage/stage.h"

GF_C_BEGIN

enum gf_warp_kernel { GF_WARP_LINEAR, GF_WARP_CUBIC, GF_WARP_LANCZOS3, GF_WARP_NEAREST };
extern const char *const gf_warp_kernel_names[];

/* What is outside of the picture: a colour, the nearest edge pixel, or transparency. These are
 * values of colour.word in struct gf_warp_params, in the order of pad's words. */
enum gf_warp_beyond { GF_WARP_COLOUR, GF_WARP_EDGE, GF_WARP_TRANSPARENT };

/* Positions count pixels: the centre of column 0 is 0. From (x, y) of the result to (u, v) of the
 * input:
 * AFFINE       u = c0 x + c1 y + c2, v = c3 x + c4 y + c5
 * PERSPECTIVE  w = c6 x + c7 y + c8, u = (c0 x + c1 y + c2) / w, v = (c3 x + c4 y + c5) / w;
 *              where w <= 0 there is no picture
 * LENS         d = (x - c0, y - c1) c6, r2 = |d|^2 c2, (u, v) = (c3, c4) + d (1 + r2 (k1 + r2 k2)),
 *              k1 = c7, k2 = c8 */
enum gf_warp_kind { GF_WARP_AFFINE, GF_WARP_PERSPECTIVE, GF_WARP_LENS };

struct gf_warp_map {
    int kind;
    double c[9];
};

struct gf_warp_params {
    struct gf_warp_map map;
    int width, height; /* the size of the result in pixels */
    int kernel;
    int nx, ny; /* the most samples of a pixel across and down; set by gf_warp_plan() */
    bool whole; /* a band needs much of the input, which is then kept as a whole; set by
                 * gf_warp_plan() */
    /* What is outside of the picture; with TRANSPARENT the input must have alpha. */
    struct gf_colour colour;
};

/* The entry for GF_CUDA(), the list of kernels, of a filter that warps. */
extern gf_launcher gf_warp_cuda;
#define GF_WARP_KERNEL \
    { \
        GF_VARIANT("tiled", gf_warp_cuda, \
                   "a tile of the input in shared memory, of which a block makes 32 x 32 pixels, " \
                   "where the map is straight and does not shrink, or colour is linear in 8 bits " \
                   "(Best Practices 9.2.3)") \
    }

enum gf_status gf_warp_shape(const void *params, struct gf_format in, struct gf_format *out,
                             struct gf_error *error) GF_CHECKED;
void gf_warp_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end);
bool gf_warp_needs_whole(const void *params);
enum gf_fusing gf_warp_fuses(const void *params);
enum gf_status gf_warp_prepare(struct gf_stage *stage, struct gf_error *error) GF_CHECKED;
void gf_warp_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                 void *scratch);

/* Declares the part of the filter name_ that does the warp. Its params are a struct
 * gf_warp_params. */
#define GF_WARP_STAGE(name_) \
    { \
        .name = name_, .params_size = sizeof(struct gf_warp_params), .kind = GF_STENCIL, \
        .cost = {.pixel = 4}, .takes_floats = true, .shape = gf_warp_shape, \
        .input_rows = gf_warp_input_rows, .needs_whole = gf_warp_needs_whole, \
        .prepare = gf_warp_prepare, .cpu = gf_warp_cpu, .cpu_intrinsics = true, \
        .cuda = GF_CUDA(GF_WARP_KERNEL), .fuses = gf_warp_fuses, \
        .cuda_fused = GF_LAUNCHER(gf_warp_cuda), \
    }

/* Sets nx, ny and `whole` of the parameters, for an input of in_width x in_height pixels. */
void gf_warp_plan(struct gf_warp_params *params, int in_width, int in_height);

enum {
    GF_WARP_PHASES = 1024, /* positions between two pixels in the tables of weights */
    GF_WARP_TAPS = 8,      /* the weights of a phase in the table; those from `taps` on are 0 */
    GF_WARP_SAMPLES_MAX = 64,
    GF_WARP_STRETCH = 256, /* the most pixels of a row that the CPU computes at once, a stretch */
    GF_WARP_ZONES_ACROSS = 32, /* the most zones of a result in each direction */
    GF_WARP_ZONES_DOWN = 64,
    /* The exponent of a zone's least width: 2^8 columns, so that a stretch is in one zone. */
    GF_WARP_ZONE_WIDTH = 8,
    GF_WARP_ZONE_HEIGHT = 5, /* the exponent of a zone's least height: 2^5 rows */
    GF_WARP_ONE_ZONE = 31,
};

/* How many samples each pixel of a zone has across and down. */
struct gf_warp_counts {
    uint8_t nx, ny;
};

/* The constants of a warp. `table` bytes after the beginning of the struct is the table of weights,
 * int16_t[PHASES][TAPS], in units of 1/2^14; `zones` bytes after it are the numbers of samples in
 * each zone, struct gf_warp_counts[][zones_across]. */
struct gf_warp {
    struct gf_warp_map map;
    int kernel, taps, nx, ny; /* nx and ny are the most samples of a pixel */
    int in_width, in_height;
    bool edge;          /* outside of the picture is the nearest edge pixel instead of `beyond` */
    uint16_t beyond[4]; /* the samples of a pixel outside of the picture */
    float beyond_floats[4];
    double bias;   /* is added to positions before they are truncated, so that they are rounded */
    double one_of; /* AFFINE: 1 / (256 nx ny) */
    int64_t u, ux, uy, v, vx, vy; /* AFFINE: the position u + ux x + uy y, v + vx x + vy y in 2^-32
                                   * pixels, with the bias */
    /* Half of the distance from one sample of a pixel to the next. */
    int64_t part_ux, part_uy, part_vx, part_vy;
    int zone_width, zone_height, zones_across; /* the exponents of a zone's sides, which are powers
                                                * of two; the zones in a row of them */
    size_t table, zones;
};

/* The positions of a stretch of pixels: the whole pixel at or before each position, and the
 * fraction in 1/4096. */
struct gf_warp_stretch {
    int32_t x[GF_WARP_STRETCH], y[GF_WARP_STRETCH];
    uint16_t f[GF_WARP_STRETCH], g[GF_WARP_STRETCH];
};
/* Computes pixels first .. first + count - 1 of the stretch with vector instructions, for 8-bit
 * gray or RGB, and stores them at `out`. Their windows, and GF_WARP_BESIDE columns to the right of
 * them, must be inside the picture. Returns how many pixels were computed. Needs GF_CPU_AVX2. */
enum { GF_WARP_BESIDE = 2 };
GF_X86_ONLY int gf_warp_simd_rgb8(const struct gf_warp *warp, const struct gf_view *in,
                                  const struct gf_warp_stretch *stretch, int first, int count,
                                  uint8_t *out);
GF_X86_ONLY int gf_warp_simd_gray8(const struct gf_warp *warp, const struct gf_view *in,
                                   const struct gf_warp_stretch *stretch, int first, int count,
                                   uint8_t *out);

/* A position in the input: whole pixels, and fractions in 1/4096. */
struct gf_warp_at {
    int x, y;
    unsigned f, g;
};

/* The limit of positions, which is far outside of any picture, and for which windows still have
 * valid indices. */
#define GF_WARP_FAR 1.0e9

GF_HOST_DEVICE double gf_warp_bounded(double v)
{
    const double floored = v > -GF_WARP_FAR ? v : -GF_WARP_FAR; /* NaN gives -FAR */
    return floored < GF_WARP_FAR ? floored : GF_WARP_FAR;
}

GF_HOST_DEVICE void gf_warp_source(const struct gf_warp_map *map, double x, double y, double *u,
                                   double *v)
{
    const double *const c = map->c;
    if (map->kind == GF_WARP_LENS) {
        const double dx = (x - c[0]) * c[6], dy = (y - c[1]) * c[6];
        const double r2 = (dx * dx + dy * dy) * c[2];
        const double stretch = 1 + r2 * (c[7] + r2 * c[8]);
        *u = gf_warp_bounded(c[3] + dx * stretch);
        *v = gf_warp_bounded(c[4] + dy * stretch);
        return;
    }
    const double top = c[0] * x + c[1] * y + c[2], left = c[3] * x + c[4] * y + c[5];
    const double w = map->kind == GF_WARP_PERSPECTIVE ? c[6] * x + c[7] * y + c[8] : 1;
    *u = w > 0 ? gf_warp_bounded(top / w) : -GF_WARP_FAR;
    *v = w > 0 ? gf_warp_bounded(left / w) : -GF_WARP_FAR;
}

/* gf_warp_part_u() and gf_warp_part_v() return the position of sample (i, j) of a pixel under an
 * affine map, relative to the pixel's centre, in 2^-32 pixels. */
GF_HOST_DEVICE int64_t gf_warp_part_u(const struct gf_warp *warp, int i, int j)
{
    return (2 * i + 1 - warp->nx) * warp->part_ux + (2 * j + 1 - warp->ny) * warp->part_uy;
}

GF_HOST_DEVICE int64_t gf_warp_part_v(const struct gf_warp *warp, int i, int j)
{
    return (2 * i + 1 - warp->nx) * warp->part_vx + (2 * j + 1 - warp->ny) * warp->part_vy;
}

/* gf_warp_offset() returns the position of sample i of n in a pixel, relative to the pixel's
 * centre. `half` is gf_warp_half(n), half of the distance between two samples. */
GF_HOST_DEVICE double gf_warp_half(int n)
{
    return 0.5 / n;
}

GF_HOST_DEVICE double gf_warp_offset(int i, int n, double half)
{
    return (2 * i + 1 - n) * half;
}

GF_HOST_DEVICE struct gf_warp_at gf_warp_split(double u, double v)
{
    const double column = floor(u), row = floor(v);
    struct gf_warp_at at;
    at.x = (int)column, at.y = (int)row;
    at.f = (unsigned)(int)((u - column) * 4096), at.g = (unsigned)(int)((v - row) * 4096);
    return at;
}

/* Returns the position in the input of sample (i, j) of the result's pixel (x, y). */
GF_HOST_DEVICE struct gf_warp_at gf_warp_at(const struct gf_warp *warp, int x, int y, int i, int j)
{
    struct gf_warp_at at;
    if (warp->map.kind == GF_WARP_AFFINE) {
        const int64_t u = warp->u + x * warp->ux + y * warp->uy + gf_warp_part_u(warp, i, j);
        const int64_t v = warp->v + x * warp->vx + y * warp->vy + gf_warp_part_v(warp, i, j);
        at.x = (int)(u >> 32), at.y = (int)(v >> 32);
        at.f = (uint32_t)u >> 20, at.g = (uint32_t)v >> 20;
        return at;
    }
    double u, v;
    gf_warp_source(&warp->map, x + gf_warp_offset(i, warp->nx, gf_warp_half(warp->nx)),
                   y + gf_warp_offset(j, warp->ny, gf_warp_half(warp->ny)), &u, &v);
    return gf_warp_split(u + warp->bias, v + warp->bias);
}

/* Interpolates linearly between the pixels a and b of a row, c and d of the next row, then between
 * the rows. f and g are the weights of b and of the lower row in 1/4096. The result has a unit of
 * 1/2^24 (8 bits) or 1/2^16 (16 bits), so that a mean of several is rounded only once. */
GF_HOST_DEVICE uint32_t gf_warp_linear8(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t f,
                                        uint32_t g)
{
    const uint32_t top = 4096 * a + f * (b - a), bottom = 4096 * c + f * (d - c);
    return 4096 * top + g * (bottom - top);
}

GF_HOST_DEVICE uint32_t gf_warp_linear16(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t f,
                                         uint32_t g)
{
    const uint32_t top = (4096 * a + f * (b - a) + 128) >> 8;
    const uint32_t bottom = (4096 * c + f * (d - c) + 128) >> 8;
    return 4096 * top + g * (bottom - top);
}

/* Rounds a row's weighted sum, by the cubic or Lanczos kernel, from a unit of 1/2^14 to 1/2^6. The
 * weighted sum of such sums over the rows then has a unit of 1/2^20. */
GF_HOST_DEVICE int gf_warp_round_row(int sum)
{
    return (sum + 128) >> 8;
}

/* gf_warp_sample() rounds a sum with so many fraction bits to a sample, gf_warp_fine() to a sample
 * with 8 fraction bits. */
GF_HOST_DEVICE int gf_warp_sample(int64_t sum, int fraction_bits, int max)
{
    const int64_t rounded = (sum + ((int64_t)1 << (fraction_bits - 1))) >> fraction_bits;
    return rounded < 0 ? 0 : rounded > max ? max : (int)rounded;
}

GF_HOST_DEVICE int64_t gf_warp_fine(int64_t sum, int fraction_bits)
{
    return (sum + ((int64_t)1 << (fraction_bits - 9))) >> (fraction_bits - 8);
}

/* Returns the rounded mean of a pixel's samples, whose `sum` has 8 fraction bits. The quotient is
 * computed by multiplication with one_of = 1 / (256 samples), and corrected by one if that is
 * wrong. */
GF_HOST_DEVICE int gf_warp_mean(int samples, double one_of, int64_t sum, int max)
{
    const int64_t divisor = 256 * (int64_t)samples, rounded = sum + divisor / 2;
    if (rounded <= 0)
        return 0;
    int64_t mean = (int64_t)((double)rounded * one_of);
    mean -= mean * divisor > rounded;
    mean += (mean + 1) * divisor <= rounded;
    return mean > max ? max : (int)mean;
}

/* Returns the index of a pixel's zone in the table of counts. */
GF_HOST_DEVICE int gf_warp_zone(const struct gf_warp *warp, int x, int y)
{
    return (y >> warp->zone_height) * warp->zones_across + (x >> warp->zone_width);
}

static inline const struct gf_warp_counts *gf_warp_zones(const struct gf_warp *warp)
{
    return (const struct gf_warp_counts *)((const char *)warp + warp->zones);
}

static inline const int16_t *gf_warp_weights(const struct gf_warp *warp)
{
    return (const int16_t *)((const char *)warp + warp->table);
}

GF_C_END
