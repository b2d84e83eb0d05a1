/* The two inner loops of the fixed-point Gaussian on the CPU. Each level computes the same sums;
 * they differ in speed alone. On x86 two taps at a time go through pmaddwd, which multiplies pairs
 * of 16-bit integers and adds them in 32 bits, or through vpdpwssd, which also adds them up; where
 * the taps are flat, four at a time through vpdpbusd, which does the same for bytes. */
#ifndef GF_PIXEL_GAUSS_GAUSS_SIMD_H
#define GF_PIXEL_GAUSS_GAUSS_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pixel/gauss/gauss.h"

enum {
    GF_GAUSS_LINES = 8,    /* rows that the vertical pass makes at once */
    GF_GAUSS_CHUNK = 2048, /* samples of a row that the horizontal pass makes at once */
    GF_GAUSS_LEAD = 3,     /* pairs of zero taps before the first */
    GF_GAUSS_BEHIND = 144, /* words behind the last that zero taps meet */
    GF_GAUSS_QUADS = (2 * GF_GAUSS_RADIUS_MAX + GF_GAUSS_LINES + 3) / 4,
};

/* A flat Gaussian's taps by fours, a byte each, the topmost row's lowest: the first row of a block
 * is the sum of its samples times 256 high + low, and each other row is the row above it and the
 * sum of its samples times the differences of neighbouring taps. difference[p] begins p rows late.
 */
struct gf_gauss_quads {
    bool fit; /* the differences fit a byte */
    int32_t high[GF_GAUSS_QUADS], low[GF_GAUSS_QUADS];
    int32_t difference[4][GF_GAUSS_QUADS + 1]; /* a zero first */
};

/* The taps in pairs, low half first: even[GF_GAUSS_LEAD + m] holds taps 2m and 2m + 1 (counted from
 * the topmost, 0), odd[...] taps 2m - 1 and 2m. Zero taps before and after make every one of the
 * GF_GAUSS_LINES rows of a block take part in every pair of input rows. */
struct gf_gauss_pairs {
    const struct gf_gauss *gauss;
    int32_t even[GF_GAUSS_RADIUS_MAX + 1 + 2 * GF_GAUSS_LEAD];
    int32_t odd[GF_GAUSS_RADIUS_MAX + 1 + 2 * GF_GAUSS_LEAD];
    struct gf_gauss_quads quads;
};

/* The rows that a block of GF_GAUSS_LINES is made of, and up to three more, that count nothing. */
static inline int gf_gauss_reach(const struct gf_gauss *gauss)
{
    return (2 * gauss->radius + GF_GAUSS_LINES + 3) / 4 * 4;
}

void gf_gauss_pairs_init(struct gf_gauss_pairs *pairs, const struct gf_gauss *gauss);

struct gf_gauss_simd {
    const char *name;
    /* Output row i, i < GF_GAUSS_LINES, at mid + i * mid_pitch, from rows[i] .. rows[i + 2 radius];
     * there are gf_gauss_reach() rows. */
    void (*vertical)(const struct gf_gauss_pairs *pairs, const unsigned char *const *rows,
                     uint16_t *mid, size_t mid_pitch, size_t count);
    /* sums[i] for i < count <= GF_GAUSS_CHUNK, over the samples mid[i + k * channels], k = 0..2
     * radius. mid has (2 radius + 1) * channels samples past count; work holds GF_GAUSS_CHUNK + 2
     * radius * channels + GF_GAUSS_BEHIND words, sums GF_GAUSS_CHUNK. */
    void (*horizontal)(const struct gf_gauss_pairs *pairs, const uint16_t *mid, int channels,
                       uint32_t *work, uint32_t *sums, size_t count);
};

/* 0 is plain C; higher levels are faster. NULL where this processor has no such level, or
 * gf_cpu_allow_intrinsics() forbids it. */
const struct gf_gauss_simd *gf_gauss_simd_level(int level);
/* The fastest of them. */
const struct gf_gauss_simd *gf_gauss_simd_best(void);

#endif
