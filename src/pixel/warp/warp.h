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

/* What is outside of the picture: the values of colour.word in struct gf_warp_params, in the order
 * of pad's words. */
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
    bool whole; /* a band needs much of the input, which is then held whole; set by
                 * gf_warp_plan() */
    struct gf_colour colour; /* with TRANSPARENT the input must have alpha */
};

/* The kernel for the list .cuda of a filter that is a warp. */
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
        .cost = {.pixel = 4}, .shape = gf_warp_shape, .input_rows = gf_warp_input_rows, \
        .needs_whole = gf_warp_needs_whole, .prepare = gf_warp_prepare, .cpu = gf_warp_cpu, \
        .cpu_intrinsics = true, .cuda = GF_CUDA(GF_WARP_KERNEL), .fuses = gf_warp_fuses, \
        .cuda_fused = GF_LAUNCHER(gf_warp_cuda), \
    }

/* Sets nx, ny and `whole` for an input of in_width x in_height pixels. */
void gf_warp_plan(struct gf_warp_params *params, int in_width, int in_height);

enum {
    GF_WARP_PHASES = 1024, /* positions between two pixels in the tables of weights */
    GF_WARP_TAPS = 8,      /* the weights of a phase in the table; weights after `taps` are 0 */
    GF_WARP_SAMPLES_MAX = 64,
    GF_WARP_STRETCH = 256,     /* the pixels that the CPU computes at once */
    GF_WARP_ZONES_ACROSS = 32, /* the most zones of a result */
    GF_WARP_ZONES_DOWN = 64,
    GF_WARP_ZONE_WIDTH = 8,  /* 2^8 columns or more, so that a stretch is in one zone */
    GF_WARP_ZONE_HEIGHT = 5, /* 2^5 rows or more */
    GF_WARP_ONE_ZONE = 31,
};

/* The number of samples of a pixel, across and down. */
struct gf_warp_counts {
    uint8_t nx, ny;
};

/* The constants of a warp. The table of weights is at an offset of `table` bytes:
 * int16_t[PHASES][TAPS], in units of 1/2^14. The counts of zones are at an offset of `zones` bytes:
 * struct gf_warp_counts[][zones_across]. */
struct gf_warp {
    struct gf_warp_map map;
    int kernel, taps, nx, ny; /* nx and ny are the most samples of a pixel */
    int in_width, in_height;
    bool edge;                    /* the nearest edge pixel replaces `beyond` */
    uint16_t beyond[4];           /* a pixel outside of the picture */
    double bias;                  /* added to positions, so that truncation rounds */
    double one_of;                /* AFFINE: 1 / (256 nx ny) */
    int64_t u, ux, uy, v, vx, vy; /* AFFINE: u + ux x + uy y in 2^-32 pixels, with the bias */
    int64_t part_ux, part_uy, part_vx, part_vy; /* half of the distance between two samples of a
                                                 * pixel */
    int zone_width, zone_height, zones_across;  /* the sizes of a zone are powers of two, of which
                                                 * these are the exponents */
    size_t table, zones;
};

/* The positions of a stretch of pixels: the whole pixel at or before each position, and the
 * fraction in 1/4096. */
struct gf_warp_stretch {
    int32_t x[GF_WARP_STRETCH], y[GF_WARP_STRETCH];
    uint16_t f[GF_WARP_STRETCH], g[GF_WARP_STRETCH];
};
/* Computes pixels first .. first + count - 1 of the stretch to `out` with vector instructions, for
 * 8-bit gray or RGB. Their windows, and GF_WARP_BESIDE columns to the right of them, must be inside
 * the picture. Returns how many pixels were computed. Needs GF_CPU_AVX2. */
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

/* Positions are limited to this one, far outside of any picture, for which windows still have valid
 * indices. */
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

/* Returns the position of sample (i, j) of a pixel under an affine map, relative to the pixel's
 * centre. */
GF_HOST_DEVICE int64_t gf_warp_part_u(const struct gf_warp *warp, int i, int j)
{
    return (2 * i + 1 - warp->nx) * warp->part_ux + (2 * j + 1 - warp->ny) * warp->part_uy;
}

GF_HOST_DEVICE int64_t gf_warp_part_v(const struct gf_warp *warp, int i, int j)
{
    return (2 * i + 1 - warp->nx) * warp->part_vx + (2 * j + 1 - warp->ny) * warp->part_vy;
}

/* Returns the position of sample i of n in a pixel, relative to the pixel's centre. `half` is half
 * of the distance between two samples, gf_warp_half(n). */
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

/* Returns the position of sample (i, j) of the result's pixel (x, y). */
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

/* ---- values, with enough fraction bits for a mean to be rounded only once ---- */

/* Interpolates linearly in two rows, then between them. The unit of the result is 1/2^24 (8 bits)
 * or 1/2^16 (16 bits). */
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

/* Rounds the cubic and Lanczos kernels' sums of a row from units of 1/2^14 to units of 1/2^6. Sums
 * of columns then have units of 1/2^20. */
GF_HOST_DEVICE int gf_warp_round_row(int sum)
{
    return (sum + 128) >> 8;
}

/* Returns a sum as a rounded sample, or as a sample with 8 fraction bits. */
GF_HOST_DEVICE int gf_warp_sample(int64_t sum, int fraction_bits, int max)
{
    const int64_t rounded = (sum + ((int64_t)1 << (fraction_bits - 1))) >> fraction_bits;
    return rounded < 0 ? 0 : rounded > max ? max : (int)rounded;
}

GF_HOST_DEVICE int64_t gf_warp_fine(int64_t sum, int fraction_bits)
{
    return (sum + ((int64_t)1 << (fraction_bits - 9))) >> (fraction_bits - 8);
}

/* Returns the mean of a pixel's samples, which have 8 fraction bits, as a rounded sample. The
 * quotient is found by a multiplication by one_of = 1 / (256 samples), whose error is at most
 * one. */
GF_HOST_DEVICE int gf_warp_mean(int samples, double one_of, int64_t sum, int max)
{
    const int64_t divisor = 256 * (int64_t)samples;
    const int64_t rounded = sum + divisor / 2;
    if (rounded <= 0)
        return 0;
    int64_t mean = (int64_t)((double)rounded * one_of);
    mean -= mean * divisor > rounded;
    mean += (mean + 1) * divisor <= rounded;
    return mean > max ? max : (int)mean;
}

/* Returns the place of a pixel's zone in the table of counts. */
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
