/* The taps of a Gaussian, computed once for both backends: exp(-i^2 / (2 sigma^2)), i = -r..r with
 * r = ceil(3 sigma), normalised. Pictures of 8 bits are blurred in fixed point, so that every
 * machine makes the same picture bit for bit. The taps are scaled by 2^shift, and their sum is
 * exactly 2^shift. The vertical pass comes first, since a band then shares only input rows with its
 * neighbours and computes nothing twice; its result has GF_GAUSS_FRACTION fraction bits (<= 255 *
 * 128, so that it fits a signed 16-bit multiplier). The horizontal sum, including the half for
 * rounding, is below 2^32; sums are exact modulo 2^32, so that their order does not matter.
 * Pictures of 16 bits, and of floats of 32 bits, are blurred in float, and the vertical pass's
 * result stays float. On both backends, both passes begin with tap[0] * s(0) and add tap[k] *
 * (s(-k) + s(k)) for k = 1..r in that order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"
#include "gpufilter/image.h"
#include "stage/stage.h"

GF_C_BEGIN

enum {
    GF_GAUSS_RADIUS_MAX = 750, /* the radius for a sigma of 250 */
    GF_GAUSS_FRACTION = 7,
    GF_GAUSS_SHIFT_MAX = 17,
};

struct gf_gauss {
    int radius;
    int shift; /* the taps are integers in units of 1/2^shift, 14..17 */
    uint16_t fixed[GF_GAUSS_RADIUS_MAX + 1]; /* integer taps, for 8-bit pictures, at most 32767 */
    float real[GF_GAUSS_RADIUS_MAX + 1];
};

static inline int gf_gauss_tap(const struct gf_gauss *gauss, int distance)
{
    distance = distance < 0 ? -distance : distance;
    return distance <= gauss->radius ? gauss->fixed[distance] : 0;
}

int gf_gauss_radius(double sigma);
void gf_gauss_init(struct gf_gauss *gauss, double sigma);
/* gf_gauss_window_sigma() returns the sigma that OpenCV's getGaussianKernel chooses for 2 radius +
 * 1 taps; gf_gauss_init_window() sets the taps that it has for them. */
double gf_gauss_window_sigma(int radius);
void gf_gauss_init_window(struct gf_gauss *gauss, int radius);
/* Makes all taps of floats 1, for means. */
void gf_gauss_init_box(struct gf_gauss *gauss, int radius);

/* The largest radius with which one kernel does both passes on a device, without scratch memory. */
enum { GF_GAUSS_FUSED_MAX = 16 };
/* Returns the bytes from one row to the next of the scratch memory in which, for larger radii, a
 * kernel for the vertical pass leaves its result for another one for the horizontal pass. */
size_t gf_gauss_mid_pitch(struct gf_format format);

/* The largest radius with which one kernel blurs pictures of 16 bits or of floats without scratch
 * memory. */
enum { GF_GAUSS_STRIP_MAX = 6 };
/* Returns whether that kernel reads straight RGBA itself. */
static inline enum gf_fusing gf_gauss_fuses(int radius)
{
    return radius <= GF_GAUSS_STRIP_MAX ? (enum gf_fusing)(GF_FUSES_ALPHA | GF_FUSES_FLOAT_ALPHA)
                                        : GF_FUSES_NOTHING;
}

/* The kernel for tensor cores takes 8-bit pictures without alpha, with a radius up to
 * GF_GAUSS_TENSOR_MAX and a sigma from GF_GAUSS_TENSOR_SIGMA_MIN on; with a smaller one only the
 * tap in the centre is not 0, and the picture does not change. */
enum { GF_GAUSS_TENSOR_MAX = 64 };
#define GF_GAUSS_TENSOR_SIGMA_MIN 0.22

GF_C_END

/* The rest blurs bands on the CPU. The two inner loops for 8 bits exist for several levels of
 * vector instructions, which all compute the same sums. On x86, pmaddwd multiplies two 16-bit
 * samples by two taps and adds the products in 32 bits; vpdpwssd also adds them to the sum. If
 * neighbouring taps differ little, vpdpbusd does this for four 8-bit samples. */

enum {
    GF_GAUSS_LINES = 8,    /* rows that the vertical pass computes together */
    GF_GAUSS_CHUNK = 2048, /* samples of a row that the horizontal pass computes together */
    GF_GAUSS_LEAD = 3,     /* pairs of zero taps before the first one and after the last */
    /* Words behind the last sample that may be read, since zero taps multiply them. */
    GF_GAUSS_BEHIND = 144,
    GF_GAUSS_QUADS = (2 * GF_GAUSS_RADIUS_MAX + GF_GAUSS_LINES + 3) / 4,
};

/* The taps in groups of four bytes, if neighbouring ones differ little; the lowest byte is for the
 * topmost row. The first row of a block is the sum of its samples times 256 high + low. Each other
 * row is the row above it plus the sum of its samples times the differences of neighbouring taps,
 * of which difference[p] begins p rows further down. */
struct gf_gauss_quads {
    bool fit; /* whether the differences fit into a byte */
    int32_t high[GF_GAUSS_QUADS], low[GF_GAUSS_QUADS];
    int32_t difference[4][GF_GAUSS_QUADS + 1]; /* each of the four begins with a zero */
};

/* The taps in pairs; the lower half of a word is for the upper row. even[GF_GAUSS_LEAD + m] has
 * taps 2m and 2m + 1 (tap 0 is the topmost one), odd[GF_GAUSS_LEAD + m] has taps 2m - 1 and 2m.
 * With zero taps on both sides, each of the GF_GAUSS_LINES rows of a block can use every pair of
 * input rows. */
struct gf_gauss_pairs {
    const struct gf_gauss *gauss;
    int32_t even[GF_GAUSS_RADIUS_MAX + 1 + 2 * GF_GAUSS_LEAD];
    int32_t odd[GF_GAUSS_RADIUS_MAX + 1 + 2 * GF_GAUSS_LEAD];
    struct gf_gauss_quads quads;
};

/* Returns the number of input rows that a block of GF_GAUSS_LINES rows reads, rounded up to a
 * multiple of 4. Zero taps multiply the rows beyond those that are needed. */
static inline int gf_gauss_reach(const struct gf_gauss *gauss)
{
    return (2 * gauss->radius + GF_GAUSS_LINES + 3) / 4 * 4;
}

void gf_gauss_pairs_init(struct gf_gauss_pairs *pairs, const struct gf_gauss *gauss);

struct gf_gauss_simd {
    const char *name;
    /* Computes row i < GF_GAUSS_LINES of the vertical pass, `count` samples at mid + i * mid_pitch,
     * from rows[i] .. rows[i + 2 radius]. `rows` has gf_gauss_reach() elements. */
    void (*vertical)(const struct gf_gauss_pairs *pairs, const unsigned char *const *rows,
                     uint16_t *mid, size_t mid_pitch, size_t count);
    /* Computes sums[i], i < count <= GF_GAUSS_CHUNK, of the horizontal pass over the samples mid[i
     * + k * channels], k = 0..2 radius. mid has (2 radius + 1) * channels more samples than
     * `count`; work has room for GF_GAUSS_CHUNK + 2 radius * channels + GF_GAUSS_BEHIND words; sums
     * has room for GF_GAUSS_CHUNK. */
    void (*horizontal)(const struct gf_gauss_pairs *pairs, const uint16_t *mid, int channels,
                       uint32_t *work, uint32_t *sums, size_t count);
};

/* Returns the loops of a level: 0 is plain C, and higher levels are faster. Returns NULL if this
 * processor lacks the level or gf_cpu_allow_intrinsics() forbids it. */
const struct gf_gauss_simd *gf_gauss_simd_level(int level);
/* Returns the loops of the fastest level that is available. */
const struct gf_gauss_simd *gf_gauss_simd_best(void);

struct gf_gauss_request {
    const struct gf_gauss *gauss;
    int border;
    const struct gf_view *in, *out;   /* both have the same format */
    void *scratch;                    /* gf_gauss_scratch() bytes */
    const struct gf_gauss_simd *simd; /* NULL: the fastest loops */
    const void *context;
    /* For 8 bits: makes the result's samples first .. first + count - 1 of a row, of blurred
     * samples that are sums[i] / 2^(shift + GF_GAUSS_FRACTION): blur rounds them, unsharp compares
     * them with the picture. */
    void (*finish8)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                    const uint32_t *sums);
    /* For 16 bits and floats: makes samples first .. first + count - 1 of a row of the result, of
     * blurred samples that are floats. */
    void (*finish16)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                     const float *blurred);
};

size_t gf_gauss_scratch(struct gf_format format, int radius);
/* The functions cpu_scratch() and cuda_scratch() of filters that blur by a Gaussian. */
size_t gf_gauss_cpu_scratch(const struct gf_stage *stage, int rows);
size_t gf_gauss_cuda_scratch(const struct gf_stage *stage, int rows);
size_t gf_gauss_floats_scratch(const struct gf_stage *stage, int rows); /* cuda_floats */
void gf_gauss_blur(const struct gf_gauss_request *request);
