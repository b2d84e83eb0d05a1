/* Blurs bands by a Gaussian on the CPU. The caller finishes the sums: blur rounds them, unsharp
 * compares them with the picture. */
#ifndef GF_PIXEL_GAUSS_GAUSS_ROWS_H
#define GF_PIXEL_GAUSS_GAUSS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pixel/gauss/gauss.h"
#include "stage/stage.h"

/* The two inner loops of the fixed-point Gaussian on the CPU. All levels compute the same sums and
 * differ in speed. On x86, pmaddwd multiplies two samples of 16 bits by two taps and adds the
 * products in 32 bits; vpdpwssd also adds them to the sum. Where the taps change slowly from one to
 * the next, vpdpbusd does this for four samples of 8 bits. */

enum {
    GF_GAUSS_LINES = 8,    /* rows that the vertical pass computes at a time */
    GF_GAUSS_CHUNK = 2048, /* samples of a row that the horizontal pass computes at a time */
    GF_GAUSS_LEAD = 3,     /* pairs of zero taps before the first tap */
    GF_GAUSS_BEHIND = 144, /* words behind the last sample, which meet zero taps */
    GF_GAUSS_QUADS = (2 * GF_GAUSS_RADIUS_MAX + GF_GAUSS_LINES + 3) / 4,
};

/* The taps of a Gaussian whose neighbouring taps differ little, in groups of four bytes, the
 * topmost row's in the lowest byte. The first row of a block is the sum of its samples times 256
 * high + low. Each other row is the row above plus the sum of its samples times differences of
 * neighbouring taps. difference[p] begins p rows later. */
struct gf_gauss_quads {
    bool fit; /* the differences fit into a byte */
    int32_t high[GF_GAUSS_QUADS], low[GF_GAUSS_QUADS];
    int32_t difference[4][GF_GAUSS_QUADS + 1]; /* begins with a zero */
};

/* The taps in pairs, the upper row's in the lower half: even[GF_GAUSS_LEAD + m] contains taps 2m
 * and 2m + 1 (0 is the topmost one), odd[...] contains taps 2m - 1 and 2m. Because of zero taps
 * before and behind, each of the GF_GAUSS_LINES rows of a block can use every pair of input
 * rows. */
struct gf_gauss_pairs {
    const struct gf_gauss *gauss;
    int32_t even[GF_GAUSS_RADIUS_MAX + 1 + 2 * GF_GAUSS_LEAD];
    int32_t odd[GF_GAUSS_RADIUS_MAX + 1 + 2 * GF_GAUSS_LEAD];
    struct gf_gauss_quads quads;
};

/* The number of input rows for a block of GF_GAUSS_LINES rows, rounded up; the last ones are
 * multiplied by zeros. */
static inline int gf_gauss_reach(const struct gf_gauss *gauss)
{
    return (2 * gauss->radius + GF_GAUSS_LINES + 3) / 4 * 4;
}

void gf_gauss_pairs_init(struct gf_gauss_pairs *pairs, const struct gf_gauss *gauss);

struct gf_gauss_simd {
    const char *name;
    /* Computes output rows i < GF_GAUSS_LINES at mid + i * mid_pitch from rows[i] .. rows[i + 2
     * radius]. `rows` has gf_gauss_reach() elements. */
    void (*vertical)(const struct gf_gauss_pairs *pairs, const unsigned char *const *rows,
                     uint16_t *mid, size_t mid_pitch, size_t count);
    /* Computes sums[i] for i < count <= GF_GAUSS_CHUNK over the samples mid[i + k * channels], k =
     * 0..2 radius. mid has (2 radius + 1) * channels samples behind count; work has room for
     * GF_GAUSS_CHUNK + 2 radius * channels + GF_GAUSS_BEHIND words, sums for GF_GAUSS_CHUNK. */
    void (*horizontal)(const struct gf_gauss_pairs *pairs, const uint16_t *mid, int channels,
                       uint32_t *work, uint32_t *sums, size_t count);
};

/* The functions of a level; 0 is plain C, and higher levels are faster. NULL where this processor
 * lacks the level or gf_cpu_allow_intrinsics() forbids it. */
const struct gf_gauss_simd *gf_gauss_simd_level(int level);
/* The functions of the fastest level. */
const struct gf_gauss_simd *gf_gauss_simd_best(void);

struct gf_gauss_request {
    const struct gf_gauss *gauss;
    int border;
    const struct gf_view *in, *out;   /* both have the same format */
    void *scratch;                    /* memory of gf_gauss_scratch bytes */
    const struct gf_gauss_simd *simd; /* NULL: the fastest one */
    const void *context;
    /* For 8 bits: finishes samples first .. first + count - 1 of a row; a blurred sample is sums[i]
     * / 2^(shift + GF_GAUSS_FRACTION). */
    void (*finish8)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                    const uint32_t *sums);
    /* For 16 bits: finishes the blurred samples, which are floats. */
    void (*finish16)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                     const float *blurred);
};

size_t gf_gauss_scratch(struct gf_format format, int radius);
/* Implementations of cpu_scratch() and cuda_scratch() for a filter that blurs by a Gaussian. */
size_t gf_gauss_cpu_scratch(const struct gf_stage *stage, int rows);
size_t gf_gauss_cuda_scratch(const struct gf_stage *stage, int rows);
/* Implementation of refuses() for the variant that walks down strips; its scratch() is 0. */
const char *gf_gauss_strip_refuses(const struct gf_stage *stage);
/* Implementations of scratch() and refuses() for the tensor-core variant. */
size_t gf_gauss_tensor_scratch(const struct gf_stage *stage, int rows);
const char *gf_gauss_tensor_refuses(const struct gf_stage *stage, double sigma);
void gf_gauss_run(const struct gf_gauss_request *request);

#endif
