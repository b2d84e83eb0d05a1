/* SSIMULACRA2 of two pictures, on the CPU.
 *
 * At each of six scales both pictures are converted from linear light to XYB; the channels are
 * moved so that they are positive. Three maps are computed for each channel: the structural
 * difference, and where the changed picture has more detail than the original, and where less. The
 * score is made of the mean of each map and of the fourth root of the mean of its fourth powers.
 * Each scale consists of the means of 2x2 pixels of the scale before, in linear light.
 *
 * The arithmetic (ssimulacra2_formula.h) is defined so that other devices can compute the same
 * bits. The recursions of the blur are those of the tool, step by step, because their rounding
 * errors are a part of the score: where pictures are smooth, they are larger than what is measured.
 */
#include "measure/ssimulacra2.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "measure/ssimulacra2_formula.h"
#include "pixel/sample.h"

enum {
    SCALES = GF_S2_SCALES,
    CHANNELS = GF_S2_CHANNELS,
    PLANES = GF_S2_PLANES,
    QUANTITIES = GF_S2_QUANTITIES,
    SERIES = CHANNELS * QUANTITIES,
    WOVEN = 16, /* the series side by side, for whole vectors; the last one is 0 */
    SUMS = GF_S2_SUMS,
    TILE = GF_S2_TILE,
    LANES = GF_S2_LANES,
    BATCH = 32, /* rows that threads read before they are taken down the columns */
    REACH = GF_S2_REACH,
    TERMS = GF_S2_TERMS,
    RING = BATCH + 2 * REACH, /* rows that are kept */
    MARGIN = 2 * REACH        /* columns of zeros on either side of a row */
};

/* The blur: Charalampidis, "Recursive Implementation of the Gaussian Filter Using Truncated Cosine
 * Functions", 2016, with sigma = 1.5: the sum of three recursions, y(n) = feed (x(n - N - 1) + x(n
 * + N - 1)) + back y(n - 1) - y(n - 2), whose frequencies are pi / 10, 3 pi / 10 and pi / 2. What
 * is outside the picture counts as 0. */
static const double feed[TERMS] = {0.05529523572608663, -0.05883668702694999, 0.012955819110517089};
static const double back[TERMS] = {1.902113032590307, 1.1755705045849463, 0};

/* The weights of the definition, from ssimulacra2.cc of its repository: a row for each channel and
 * scale, with the weights of the maps' means and then of their 4-norms. */
static const double weight[CHANNELS * SCALES][SUMS] = {
    {0, 0.0007376606707406586, 0, 0, 0.0007793481682867309, 0},
    {0, 0.0004371155730107379, 0, 1.1041726426657346, 0.00066284834129271, 0.00015231632783718752},
    {0, 0.0016406437456599754, 0, 1.8422455520539298, 11.441172603757666, 0},
    {0.0007989109436015163, 0.000176816438078653, 0, 1.8787594979546387, 10.94906990605142, 0},
    {0.0007289346991508072, 0.9677937080626833, 0, 0.00014003424285435884, 0.9981766977854967,
     0.00031949755934435053},
    {0.0004550992113792063, 0, 0, 0.0013648766163243398, 0, 0},
    {0, 0, 0, 7.466890328078848, 0, 17.445833984131262},
    {0.0006235601634041466, 0, 0, 6.683678146179332, 0.00037724407979611296, 1.027889937768264},
    {225.20515300849274, 0, 0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985},
    {176.39317598450694, 0, 0, 24.43300999870476, 0.28520802612117757, 0.0004485436923833408},
    {0, 0, 0, 34.77906344483772, 44.835625328877896, 0},
    {0, 0, 0, 0, 0, 0},
    {0, 0.0008680556573291698, 0, 0, 0, 0},
    {0, 0.0005313191874358747, 0, 0.00016533814161379112, 0, 0},
    {0, 0, 0, 0.0004179171803251336, 0.0017290828234722833, 0},
    {0.0020827005846636437, 0, 0, 8.826982764996862, 23.19243343998926, 0},
    {95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493,
     171.2667255897307, 0.9807858872435379},
    {0, 0, 0, 0.0005130064588990679, 0, 0.00010854057858411537},
};

/* Large buffers of floats: what threads work on, work_size() for each; [RING][PLANES + SERIES], the
 * rows of XYB and those that are blurred across; [SERIES][2][TERMS], the last two results of the
 * recursions down the columns; the planes of the second and fourth scale, and of the others. */
enum { WORK, ROWS, STATE, PLANES_ODD, PLANES_EVEN, PARTS };

/* A scale. Its planes in linear light lie one behind the other. A row of a buffer has `stride`
 * floats. */
struct scale {
    const struct gf_image *const *image; /* both pictures, for the first scale */
    float background;                    /* what pictures with alpha are blended on */
    const float *from;                   /* the planes of this scale; NULL for the first */
    float *to;                           /* the planes of the next scale; NULL: there is none */
    int width, height;
    int top, first; /* the first row of the batch; the first row that is not read yet */
    size_t stride;
    struct gf_s2_blur blur;
    float *part[PARTS];
    double (*sums)[CHANNELS][SUMS]; /* one for each tile */
};

/* ---- a row in linear light ---- */

static inline int sample_of(const unsigned char *row, int bits, size_t at)
{
    return bits == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
}

GF_TARGET_CLONES static void decode(float *row, size_t width)
{
    for (size_t x = 0; x < width; x++)
        row[x] = gf_s2_linear(row[x]);
}

/* Reads a row of a picture as linear light, to three planes. */
static void read_row(const struct gf_image *image, float background, int y, float *to,
                     size_t stride)
{
    const struct gf_format format = image->format;
    const unsigned char *const row = image->data + (size_t)y * image->pitch;
    const size_t channels = (size_t)format.channels, width = (size_t)format.width;
    const float unit = 1.0f / (float)gf_sample_max(format);
    for (size_t c = 0; c < CHANNELS; c++, to += stride) {
        const size_t begin = gf_colour_channels(format) == 1 ? 0 : c;
        for (size_t x = 0; x < width; x++)
            to[x] = (float)sample_of(row, format.bits, x * channels + begin) * unit;
        for (size_t x = 0; x < width && gf_has_alpha(format); x++) {
            const size_t last = x * channels + channels - 1;
            const float alpha = (float)sample_of(row, format.bits, last) * unit;
            to[x] = gf_s2_blend(to[x], alpha, background);
        }
        decode(to, width);
    }
}

static void take_row(const struct scale *scale, int y, float *to)
{
    const size_t width = (size_t)scale->width, height = (size_t)scale->height;
    for (size_t p = 0; p < PLANES && scale->from; p++)
        memcpy(to + p * scale->stride, scale->from + (p * height + (size_t)y) * width,
               width * sizeof(float));
    for (size_t i = 0; i < 2 && !scale->from; i++)
        read_row(scale->image[i], scale->background, y, to + i * CHANNELS * scale->stride,
                 scale->stride);
}

GF_TARGET_CLONES static void halve(const float *restrict above, const float *restrict below,
                                   int count, float *restrict to)
{
    for (int x = 0; x < count; x++)
        to[x] = gf_s2_mean(above[2 * x], above[2 * x + 1], below[2 * x], below[2 * x + 1]);
}

/* Writes the row of the next scale that is made of row y and the one below, `pair`. A last column
 * or row without a partner counts twice. */
static void shrink(const struct scale *scale, int y, float *pair)
{
    const size_t width = (size_t)(scale->width + 1) / 2, height = (size_t)(scale->height + 1) / 2;
    for (size_t p = 0; p < PLANES; p++) {
        float *const above = pair + p * scale->stride;
        float *const below = y + 1 < scale->height ? above + PLANES * scale->stride : above;
        if (scale->width & 1) {
            above[scale->width] = above[scale->width - 1];
            below[scale->width] = below[scale->width - 1];
        }
        halve(above, below, (int)width, scale->to + (p * height + (size_t)(y / 2)) * width);
    }
}

/* ---- rows: XYB, and the blur across ---- */

/* Converts a row of linear light to XYB. */
GF_TARGET_CLONES static void convert(const float *restrict from, size_t stride, int width,
                                     float *restrict to)
{
    const float *const r = from, *const g = from + stride, *const b = from + 2 * stride;
    float *const to_x = to, *const to_y = to + stride, *const to_b = to + 2 * stride;
    for (int x = 0; x < width; x++) {
        const float rgb[CHANNELS] = {r[x], g[x], b[x]};
        float xyb[CHANNELS];
        gf_s2_xyb(rgb, xyb);
        to_x[x] = xyb[0];
        to_y[x] = xyb[1];
        to_b[x] = xyb[2];
    }
}

/* Puts the series of a row side by side: for each channel a, b, a^2, b^2 and a b. */
GF_TARGET_CLONES static void weave(const float *restrict plane, size_t stride, int width,
                                   float *restrict to)
{
    for (int c = 0; c < CHANNELS; c++) {
        const float *const a = plane + (size_t)c * stride, *const b = a + CHANNELS * stride;
        for (int x = 0; x < width; x++) {
            float *const at = to + x * WOVEN + c * QUANTITIES;
            at[0] = a[x];
            at[1] = b[x];
            at[2] = a[x] * a[x];
            at[3] = b[x] * b[x];
            at[4] = a[x] * b[x];
        }
    }
}

GF_TARGET_CLONES static void unweave(const float *restrict from, size_t stride, int width,
                                     float *restrict to)
{
    for (int s = 0; s < SERIES; s++) {
        for (int x = 0; x < width; x++)
            to[(size_t)s * stride + (size_t)x] = from[x * WOVEN + s];
    }
}

/* Takes a step of the recursions. `last` are their last results, `before` those before. */
GF_INLINE void step(const struct gf_s2_four *four, const float *restrict left,
                    const float *restrict right, float (*restrict last)[WOVEN],
                    float (*restrict before)[WOVEN], float *restrict to)
{
    for (int s = 0; s < WOVEN; s++) {
        const float sum = left[s] + right[s];
        float y[TERMS];
#pragma GCC unroll 3
        for (int k = 0; k < TERMS; k++) {
            y[k] = gf_s2_step(&four[k], sum, last[k][s], before[k][s]);
            before[k][s] = last[k][s];
            last[k][s] = y[k];
        }
        to[s] = gf_s2_blurred(y[0], y[1], y[2]);
    }
}

/* Takes four steps of the recursions at once. */
GF_INLINE void four_steps(const struct gf_s2_four *four, const float *restrict left,
                          const float *restrict right, float (*restrict last)[WOVEN],
                          float (*restrict before)[WOVEN], float *restrict to)
{
    for (int s = 0; s < WOVEN; s++) {
        float sum[4], y[TERMS][4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            sum[i] = left[i * WOVEN + s] + right[i * WOVEN + s];
#pragma GCC unroll 3
        for (int k = 0; k < TERMS; k++) {
            gf_s2_four_steps(&four[k], sum, last[k][s], before[k][s], y[k]);
            before[k][s] = y[k][2];
            last[k][s] = y[k][3];
        }
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            to[j * WOVEN + s] = gf_s2_blurred(y[0][j], y[1][j], y[2][j]);
    }
}

/* Blurs the woven series of a row. As in the tool, four steps are taken at once where all that they
 * read is in the row. */
GF_TARGET_CLONES static void blur_across(const struct gf_s2_four four[TERMS],
                                         const float *restrict from, int width, float *restrict to)
{
    float last[TERMS][WOVEN] = {{0}}, before[TERMS][WOVEN] = {{0}}, nothing[WOVEN] = {0};
    for (int n = 1 - REACH, steps; n < width; n += steps) {
        const float *const left = from + (n - REACH - 1) * WOVEN, *const right =
                                                                      from +
                                                                      (n + REACH - 1) * WOVEN;
        steps = gf_s2_takes_four(n, width) ? 4 : 1;
        if (steps == 4)
            four_steps(four, left, right, last, before, to + n * WOVEN);
        else
            step(four, left, right, last, before, n < 0 ? nothing : to + n * WOVEN);
    }
}

static float *row_of(const struct scale *scale, int y)
{
    return scale->part[ROWS] + (size_t)(y % RING) * (PLANES + SERIES) * scale->stride;
}

/* Returns the number of floats that a thread works on: two rows in linear light, a woven row with
 * its margins, and the same, blurred. */
static size_t work_size(size_t stride)
{
    return 2 * PLANES * stride + (2 * stride + 2 * MARGIN) * WOVEN;
}

/* Reads two rows, the first ones that are left and those below. */
static enum gf_status read_rows(void *context, int thread, int item, struct gf_error *error)
{
    const struct scale *const scale = context;
    const size_t stride = scale->stride, planes = PLANES * stride;
    float *const work = scale->part[WORK] + (size_t)thread * work_size(stride);
    float *const woven = work + 2 * planes + MARGIN * WOVEN;
    float *const blurred = woven + (stride + MARGIN) * WOVEN;
    const int first = scale->first + 2 * item;
    memset(woven - MARGIN * WOVEN, 0, MARGIN * WOVEN * sizeof *woven);
    memset(woven + scale->width * WOVEN, 0, MARGIN * WOVEN * sizeof *woven);
    for (int i = 0; i < 2 && first + i < scale->height; i++) {
        float *const linear = work + (size_t)i * planes, *const row = row_of(scale, first + i);
        take_row(scale, first + i, linear);
        convert(linear, stride, scale->width, row);
        convert(linear + CHANNELS * stride, stride, scale->width, row + CHANNELS * stride);
        weave(row, stride, scale->width, woven);
        blur_across(scale->blur.term, woven, scale->width, blurred);
        unweave(blurred, stride, scale->width, row + planes);
    }
    if (scale->to)
        shrink(scale, first, work);
    return gf_time_check(error);
}

/* ---- columns: the blur down, and the maps ---- */

/* Takes a step of the recursions down the columns. */
GF_TARGET_CLONES static void blur_down(const struct gf_s2_four four[TERMS],
                                       const float *restrict top, const float *restrict bottom,
                                       const float *restrict last, float *restrict before,
                                       size_t stride, float *restrict to)
{
    const struct gf_s2_four term[TERMS] = {four[0], four[1], four[2]};
    for (size_t x = 0; x < TILE; x++) {
        const float sum = top[x] + bottom[x];
        float y[TERMS];
#pragma GCC unroll 3
        for (size_t k = 0; k < TERMS; k++)
            y[k] = gf_s2_step_down(&term[k], sum, last[k * stride + x], before[k * stride + x]);
#pragma GCC unroll 3
        for (size_t k = 0; k < TERMS; k++)
            before[k * stride + x] = y[k];
        to[x] = gf_s2_blurred(y[0], y[1], y[2]);
    }
}

/* Computes a row of a channel's maps from the blurred series and the channel's samples. */
GF_TARGET_CLONES static void map_row(const float (*restrict blurred)[TILE], const float *restrict a,
                                     const float *restrict b, float *restrict structure,
                                     float *restrict detail)
{
    for (int x = 0; x < TILE; x++)
        gf_s2_maps(blurred[0][x], blurred[1][x], blurred[2][x], blurred[3][x], blurred[4][x], a[x],
                   b[x], &structure[x], &detail[x]);
}

typedef float lane_floats __attribute__((vector_size(LANES * sizeof(float))));
typedef double lane_doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lane_masks __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Adds the sums of a row of a channel's maps. */
GF_TARGET_CLONES static void add_row(const float *structure, const float *detail, double sums[SUMS])
{
    lane_doubles lanes[SUMS] = {{0}};
    for (int x = 0; x < TILE; x += LANES) {
        lane_floats floats[2];
        memcpy(&floats[0], structure + x, sizeof floats[0]);
        memcpy(&floats[1], detail + x, sizeof floats[1]);
        const lane_doubles d = __builtin_convertvector(floats[0], lane_doubles);
        const lane_doubles both = __builtin_convertvector(floats[1], lane_doubles);
        const lane_doubles more = (lane_doubles)((lane_masks)both & (both > 0));
        const lane_doubles less = more - both;
        GF_S2_ADD(lanes, d, more, less);
    }
    for (int i = 0; i < SUMS; i++) {
        const lane_doubles v = lanes[i];
        sums[i] += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    }
}

/* Takes the blur of a channel's series down to row y. */
static void blur_channel(const struct scale *scale, int y, int channel, size_t x, float (*to)[TILE])
{
    static const float nothing[TILE];
    const size_t stride = scale->stride;
    const int top = y - REACH - 1, bottom = y + REACH - 1;
    for (int q = 0; q < QUANTITIES; q++) {
        const size_t series = (size_t)(channel * QUANTITIES + q);
        const size_t at = (PLANES + series) * stride + x;
        float *const state = scale->part[STATE] + series * 2 * TERMS * stride + x;
        const size_t odd = y & 1 ? TERMS * stride : 0;
        blur_down(scale->blur.term, top < 0 ? nothing : row_of(scale, top) + at,
                  bottom < scale->height ? row_of(scale, bottom) + at : nothing,
                  state + (TERMS * stride - odd), state + odd, stride, to[q]);
    }
}

/* Takes a tile of the batch down, and adds its maps. */
static enum gf_status measure_tile(void *context, int thread, int item, struct gf_error *error)
{
    const struct scale *const scale = context;
    const int first = item * TILE, left = scale->width - first, end = scale->top + BATCH;
    float blurred[QUANTITIES][TILE], structure[TILE], detail[TILE];
    for (int y = scale->top ? scale->top : 1 - REACH; y < end && y < scale->height; y++) {
        for (int c = 0; c < CHANNELS; c++) {
            blur_channel(scale, y, c, (size_t)first, blurred);
            if (y < 0)
                continue;
            const float *const a = row_of(scale, y) + (size_t)c * scale->stride + first;
            map_row(blurred, a, a + CHANNELS * scale->stride, structure, detail);
            for (int x = left; x < TILE; x++)
                structure[x] = detail[x] = 0;
            add_row(structure, detail, scale->sums[item][c]);
        }
    }
    (void)thread;
    return gf_time_check(error);
}

/* ---- the score ---- */

/* Returns the score by the norms of `scales` scales, three maps' means and 4-norms each. As in the
 * tool, the weights of a picture with fewer scales are taken one after another, whatever channel
 * they were meant for. */
double gf_s2_score(double norms[SCALES][CHANNELS][SUMS], int scales)
{
    double sum = 0;
    for (int i = 0; i < CHANNELS * scales; i++) {
        for (int k = 0; k < SUMS; k++)
            sum += weight[i][k] * norms[i % scales][i / scales][k];
    }
    sum *= 0.9562382616834844;
    const double error =
        (6.248496625763138e-05 * sum - 0.020884521182843837) * sum * sum + 2.326765642916932 * sum;
    return error > 0 ? 100 - 10 * gf_pow_double(error, 0.6276336467831387) : 100;
}

bool gf_s2_is_last(int number, int width, int height)
{
    return number == SCALES - 1 || width < GF_SSIMULACRA2_SIDE || height < GF_SSIMULACRA2_SIDE;
}

static int tiles_of(int width)
{
    return (width + TILE - 1) / TILE;
}

void gf_s2_norms(const double (*sums)[CHANNELS][SUMS], int width, int height,
                 double norms[CHANNELS][SUMS])
{
    const double pixels = (double)width * height;
    for (int i = 0; i < CHANNELS * SUMS; i++) {
        const int c = i / SUMS, k = i % SUMS;
        double mean = 0;
        for (int tile = 0; tile < tiles_of(width); tile++)
            mean += sums[tile][c][k] / pixels;
        norms[c][k] = k < 3 ? mean : sqrt(sqrt(mean));
    }
}

/* Finds the factors of four steps. Those of the last two results are, like those of the inputs,
 * the response to one input, 1, some steps later. */
static void find_factors(struct gf_s2_four *four, double of_input, double of_last)
{
    double response = 1, before = 0;
    for (int j = 0; j < 4; j++) {
        const double next = of_last * response - before;
        four->in[j] = (float)(of_input * response);
        four->last[j] = (float)next;
        four->before[j] = -(float)response;
        before = response;
        response = next;
    }
}

struct gf_s2_blur gf_s2_blur_make(void)
{
    struct gf_s2_blur blur;
    for (int k = 0; k < TERMS; k++)
        find_factors(&blur.term[k], feed[k], back[k]);
    return blur;
}

/* Returns the number of floats of all planes at a scale that is half as wide and high. */
static size_t half_size(int width, int height)
{
    return PLANES * ((size_t)(width + 1) / 2) * ((size_t)(height + 1) / 2);
}

static size_t stride_of(int width)
{
    return (size_t)tiles_of(width) * TILE;
}

static void find_sizes(int width, int height, int threads, size_t size[PARTS])
{
    const size_t stride = stride_of(width);
    size[WORK] = (size_t)threads * work_size(stride);
    size[ROWS] = RING * (PLANES + SERIES) * stride;
    size[STATE] = SERIES * 2 * TERMS * stride;
    size[PLANES_ODD] = half_size(width, height);
    size[PLANES_EVEN] = half_size((width + 1) / 2, (height + 1) / 2);
}

/* Measures one scale. */
static enum gf_status measure_scale(struct scale *scale, int threads, double norms[CHANNELS][SUMS],
                                    struct gf_error *error)
{
    const int tiles = tiles_of(scale->width);
    scale->stride = stride_of(scale->width);
    memset(scale->part[STATE], 0, SERIES * 2 * TERMS * scale->stride * sizeof *scale->part[STATE]);
    memset(scale->sums, 0, (size_t)tiles * sizeof *scale->sums);
    scale->first = 0;
    for (scale->top = 0; scale->top < scale->height; scale->top += BATCH) {
        const int ahead = scale->top + BATCH + REACH - 1;
        const int end = ahead < scale->height ? ahead : scale->height;
        GF_TRY(gf_ordered_run(threads, (end - scale->first + 1) / 2, read_rows, scale, error));
        scale->first = end;
        GF_TRY(gf_ordered_run(threads, tiles, measure_tile, scale, error));
    }
    gf_s2_norms(scale->sums, scale->width, scale->height, norms);
    return GF_OK;
}

static enum gf_status measure(struct scale scale, int threads, double *score,
                              struct gf_error *error)
{
    double norms[SCALES][CHANNELS][SUMS] = {{{0}}};
    int scales = 0;
    scale.blur = gf_s2_blur_make();
    for (bool last = false; !last; scales++) {
        last = gf_s2_is_last(scales, scale.width, scale.height);
        scale.to = last ? NULL : scale.part[PLANES_ODD + scales % 2];
        GF_TRY(measure_scale(&scale, threads, norms[scales], error));
        scale.from = scale.to;
        scale.width = (scale.width + 1) / 2;
        scale.height = (scale.height + 1) / 2;
    }
    *score = gf_s2_score(norms, scales);
    return GF_OK;
}

uint64_t gf_ssimulacra2_bytes(int width, int height, int threads)
{
    size_t size[PARTS], floats = 0;
    find_sizes(width, height, threads, size);
    for (int i = 0; i < PARTS; i++)
        floats += size[i];
    return floats * sizeof(float) + (size_t)tiles_of(width) * sizeof(double[CHANNELS][SUMS]);
}

enum gf_status gf_ssimulacra2(const struct gf_image *original, const struct gf_image *changed,
                              int threads, double *score, struct gf_error *error)
{
    const int width = original->format.width, height = original->format.height;
    *score = NAN;
    if (width < GF_SSIMULACRA2_SIDE || height < GF_SSIMULACRA2_SIDE)
        return GF_OK;
    const struct gf_image *const image[2] = {original, changed};
    const bool alpha = gf_has_alpha(original->format);
    struct scale scale = {.image = image,
                          .background = alpha ? 0.1f : 0.5f,
                          .width = width,
                          .height = height,
                          .sums = malloc((size_t)tiles_of(width) * sizeof *scale.sums)};
    bool complete = scale.sums != NULL;
    size_t size[PARTS];
    find_sizes(width, height, threads, size);
    for (int i = 0; i < PARTS; i++)
        complete &= (scale.part[i] = calloc(size[i], sizeof(float))) != NULL;
    double bright = INFINITY;
    enum gf_status status =
        complete ? measure(scale, threads, score, error) : gf_fail_memory(error);
    scale.background = 0.9f;
    if (!status && alpha)
        status = measure(scale, threads, &bright, error);
    *score = bright < *score ? bright : *score;
    for (int i = 0; i < PARTS; i++)
        free(scale.part[i]);
    free(scale.sums);
    return status;
}
