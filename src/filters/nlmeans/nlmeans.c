/* nlmeans: takes means of pixels whose surroundings are similar. */
#include "filters/nlmeans/nlmeans.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "pixel/stencil.h"
#include "stage/border.h"

struct nlmeans {
    double h;
    int search, patch, border;
};

static int reach(const void *params_)
{
    const struct nlmeans *const nlmeans = params_;
    return nlmeans->search + nlmeans->patch;
}

/* The constants, and the weights of 8-bit patches by distance for the CPU. */
struct constants {
    struct gf_nlmeans nlmeans;
    uint32_t weight[GF_NLMEANS_DISTANCES];
};

/* Rounds a number that is not negative to half precision. */
static double round_to_half(double v)
{
    const double denormals = GF_ROUNDING_SHIFT_DOUBLE * 0x1p-24;
    if (v < 0x1p-14)
        return (v + denormals) - denormals;
    const uint64_t bits = gf_bits_of_double(v), lost = ((uint64_t)1 << 42) - 1;
    return gf_double_of_bits((bits + (lost >> 1) + (bits >> 42 & 1)) & ~lost);
}

static uint16_t weight_of(int distance, double slope)
{
    const double u = round_to_half(fmax(0, GF_NLMEANS_TOP - distance * 0x1p-24 * slope));
    double p = round_to_half(u * u + GF_NLMEANS_BEND);
    for (int i = 0; i < 3; i++)
        p = round_to_half(p * p);
    const int root = (int)(p * 0x1p24);
    return (uint16_t)(root * root);
}

/* Sets the constants and the weights for 8 bits. `weighted` is the squared difference of patches
 * whose weight is 1/e. */
static void prepare_8bit(struct constants *constants, double weighted)
{
    const double least = weighted * GF_NLMEANS_ZERO / GF_NLMEANS_DISTANCES;
    int bits;
    frexp(least, &bits); /* 2^bits is more than `least`, and at most twice of it */
    /* The distance, in steps, from which on u (nlmeans.h) is 0. */
    const double steps = ldexp(weighted, -bits) * GF_NLMEANS_REACH;
    const double slope = round_to_half(GF_NLMEANS_TOP * 0x1p24 / steps);
    constants->nlmeans.step_bits = bits;
    constants->nlmeans.slope = (float)slope;
    for (int i = 0; i < GF_NLMEANS_DISTANCES; i++)
        constants->weight[i] = weight_of(i, slope);
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct nlmeans *const asked = stage->params;
    struct constants *const constants = stage->constants;
    struct gf_nlmeans *const nlmeans = &constants->nlmeans;
    const double side = 2 * asked->patch + 1, samples = side * side * stage->in.channels;
    const double scale = gf_is_float(stage->in) ? 1
                         : stage->in.bits == 8  ? 255
                                                : 65535.0 / (1 << GF_NLMEANS_SHORTER);
    const double width = asked->h * scale;
    nlmeans->search = asked->search;
    nlmeans->patch = asked->patch;
    nlmeans->border = asked->border;
    nlmeans->factor = (float)(-2 * 1.4426950408889634 / (width * width * samples));
    if (stage->in.bits == 8)
        prepare_8bit(constants, width * width * samples);
    return GF_OK;
}

/* ---- the CPU compares all pixels of a tile at one shift before the next shift ---- */

enum {
    COLUMNS = 256,
    ROWS = 32,
    REACH_MAX = GF_NLMEANS_SEARCH_MAX + GF_NLMEANS_PATCH_MAX,
    SIDE_MAX = 2 * GF_NLMEANS_PATCH_MAX + 1,
    PITCH = COLUMNS + 2 * REACH_MAX + 6,
    LINES = ROWS + 2 * REACH_MAX,
    COMPARED = COLUMNS + 2 * GF_NLMEANS_PATCH_MAX
};

/* The samples of a tile and its surroundings, and sums for the tile's pixels. Those of floats are
 * differences from the pixel. */
struct tile {
    uint16_t sample[4][LINES][PITCH];
    float floats[4][LINES][PITCH];
    union {
        uint32_t of8[4][ROWS][COLUMNS]; /* for samples of 8 bits */
        uint64_t of16[4][ROWS][COLUMNS];
        float of32[4][ROWS][COLUMNS];
    } sum;
    uint32_t weights[ROWS][COLUMNS];
    float float_weights[ROWS][COLUMNS];
    /* for the current shift: squared differences in each row of a patch, and their sums over the
     * rows */
    uint32_t difference[SIDE_MAX][COMPARED], column[COMPARED], weight[COLUMNS];
    float float_difference[SIDE_MAX][COMPARED];
    uint16_t steps[COMPARED]; /* the sums over the rows of 8 bits, rounded */
};

static size_t scratch_bytes(const struct gf_stage *stage, int rows)
{
    return sizeof(struct tile);
}

/* Copies the samples of the tile whose first pixel is at x0, y0, and of its surroundings. */
static void fill_tile(struct tile *tile, const struct gf_nlmeans *nlmeans, const struct gf_view *in,
                      int x0, int y0, int columns, int rows)
{
    const struct gf_format format = in->format;
    const int reach = nlmeans->search + nlmeans->patch, channels = format.channels;
    for (int i = 0; i < rows + 2 * reach; i++) {
        const int y = gf_border_index(y0 - reach + i, format.height, nlmeans->border);
        for (int k = 0; k < columns + 2 * reach; k++) {
            const int x = gf_border_index(x0 - reach + k, format.width, nlmeans->border);
            for (int c = 0; c < channels; c++) {
                const size_t at = (size_t)x * (size_t)channels + (size_t)c;
                if (format.bits == 32) {
                    tile->floats[c][i][k] =
                        x < 0 || y < 0 ? 0 : ((const float *)gf_view_row(in, y))[at];
                    continue;
                }
                tile->sample[c][i][k] = x < 0 || y < 0 ? 0
                                        : format.bits == 8
                                            ? gf_view_row(in, y)[at]
                                            : ((const gf_u16_any *)gf_view_row(in, y))[at];
            }
        }
    }
    memset(&tile->sum, 0, sizeof tile->sum);
    memset(tile->weights, 0, sizeof tile->weights);
    memset(tile->float_weights, 0, sizeof tile->float_weights);
}

/* Compares a row with the same row at a shift. The differences replace the differences of the
 * oldest row. */
GF_INLINE void compare_row(uint16_t (*restrict a)[LINES][PITCH], ptrdiff_t shift, ptrdiff_t at,
                           const int shorter, const int channels, int count,
                           uint32_t *restrict difference, uint32_t *restrict column)
{
    for (int x = 0; x < count; x++) {
        uint32_t sum = 0;
        for (int c = 0; c < channels; c++) {
            const uint16_t *const v = &a[c][0][0] + at + x;
            const int d = (v[0] >> shorter) - (v[shift] >> shorter);
            sum += (uint32_t)(d * d);
        }
        column[x] += sum - difference[x];
        difference[x] = sum;
    }
}

GF_INLINE void find_weights8(const uint32_t *restrict column, const int side, int count,
                             const struct constants *constants, uint16_t *restrict steps,
                             uint32_t *restrict weight)
{
    const float part = gf_float_of_bits((uint32_t)(127 - constants->nlmeans.step_bits) << 23);
    const float most = GF_NLMEANS_DISTANCES;
    for (int x = 0; x < count + side - 1; x++) {
        const float v = (float)(int32_t)column[x] * part;
        steps[x] = (uint16_t)gf_bits_of_float((v < most ? v : most) + GF_ROUNDING_SHIFT);
    }
    for (int x = 0; x < count; x++) {
        uint16_t distance = 0;
        for (int i = 0; i < side; i++)
            distance = (uint16_t)(distance + steps[x + i]);
        steps[x] = distance < GF_NLMEANS_DISTANCES ? distance : GF_NLMEANS_DISTANCES - 1;
    }
    for (int x = 0; x < count; x++)
        weight[x] = constants->weight[steps[x]];
}

GF_INLINE void find_weights16(const uint32_t *restrict column, const int side, int count,
                              float factor, uint32_t *restrict weight)
{
    for (int x = 0; x < count; x++) {
        uint32_t distance = 0;
        for (int i = 0; i < side; i++)
            distance += column[x + i];
        weight[x] = gf_nlmeans_weight(distance, factor);
    }
}

GF_INLINE void compare_floats(float (*restrict a)[LINES][PITCH], ptrdiff_t shift, ptrdiff_t at,
                              const int channels, int count, float *restrict difference)
{
    for (int x = 0; x < count; x++) {
        float sum = 0.0f;
        for (int c = 0; c < channels; c++) {
            const float *const v = &a[c][0][0] + at + x;
            const float d = v[0] - v[shift];
            sum = sum + d * d;
        }
        difference[x] = sum;
    }
}

/* Adds row y of floats. Running sums would carry a NaN along. A weight below 2^-126 is 0, which no
 * difference makes more of, and a NaN in a patch has that weight. */
GF_INLINE void add_floats(struct tile *tile, const int side, float factor, ptrdiff_t shift,
                          ptrdiff_t at, int y, const int channels, int columns)
{
    float column[COMPARED], weight[COLUMNS];
    memcpy(column, tile->float_difference[y % side], (size_t)(columns + side - 1) * sizeof *column);
    for (int i = 1; i < side; i++) {
        const float *const row = tile->float_difference[(y + i) % side];
        for (int x = 0; x < columns + side - 1; x++)
            column[x] = column[x] + row[x];
    }
    memcpy(weight, column, (size_t)columns * sizeof *weight);
    for (int i = 1; i < side; i++) {
        for (int x = 0; x < columns; x++)
            weight[x] = weight[x] + column[x + i];
    }
    for (int x = 0; x < columns; x++) {
        const float power = weight[x] * (0.5f * factor);
        weight[x] = gf_select(power, -126.0f, gf_exp2_coarse(power), 0.0f);
    }
    float *restrict const weights = tile->float_weights[y];
    for (int x = 0; x < columns; x++)
        weights[x] = weights[x] + weight[x];
    for (int c = 0; c < channels; c++) {
        const float *const v = &tile->floats[c][0][0] + at;
        float *restrict const sum = tile->sum.of32[c][y];
        for (int x = 0; x < columns; x++)
            sum[x] = sum[x] + weight[x] * gf_select(weight[x], 0.0f, v[shift + x] - v[x], 0.0f);
    }
}

/* Sets tile->weight for a row of pixels at the current shift. Callers pass a constant `side`, so
 * that the compiler unrolls the loops. */
GF_INLINE void find_weights(struct tile *tile, const int side, int columns,
                            const struct constants *constants, const int bits)
{
    if (bits == 8)
        find_weights8(tile->column, side, columns, constants, tile->steps, tile->weight);
    else
        find_weights16(tile->column, side, columns, constants->nlmeans.factor, tile->weight);
}

/* Adds the weighted pixels at a shift of dx columns and dy rows. */
GF_INLINE void add_shift(struct tile *tile, const struct constants *constants, int dx, int dy,
                         int columns, int rows, const int bits, const int channels)
{
    const int patch = constants->nlmeans.patch, side = 2 * patch + 1;
    const int search = constants->nlmeans.search;
    const ptrdiff_t shift = (ptrdiff_t)dy * PITCH + dx;
    memset(tile->column, 0, sizeof tile->column);
    memset(tile->difference, 0, sizeof tile->difference);
    for (int i = 0; i < rows + 2 * patch; i++) {
        if (bits == 32) {
            const ptrdiff_t at = (ptrdiff_t)(search + i) * PITCH + search;
            compare_floats(tile->floats, shift, at, channels, columns + 2 * patch,
                           tile->float_difference[i % side]);
            if (i >= 2 * patch)
                add_floats(tile, side, constants->nlmeans.factor, shift,
                           at + patch - (ptrdiff_t)patch * PITCH, i - 2 * patch, channels, columns);
            continue;
        }
        compare_row(tile->sample, shift, (ptrdiff_t)(search + i) * PITCH + search,
                    bits == 8 ? 0 : GF_NLMEANS_SHORTER, channels, columns + 2 * patch,
                    tile->difference[i % side], tile->column);
        const int y = i - 2 * patch;
        if (y < 0)
            continue;
        if (patch == 1)
            find_weights(tile, 3, columns, constants, bits);
        else if (patch == 2)
            find_weights(tile, 5, columns, constants, bits);
        else
            find_weights(tile, 7, columns, constants, bits);
        const uint32_t *restrict const weight = tile->weight;
        uint32_t *restrict const weights = tile->weights[y];
        for (int x = 0; x < columns; x++)
            weights[x] += weight[x];
        for (int c = 0; c < channels; c++) {
            const uint16_t *restrict const v =
                &tile->sample[c][search + patch + y + dy][search + patch + dx];
            uint32_t *restrict const of8 = tile->sum.of8[c][y];
            uint64_t *restrict const of16 = tile->sum.of16[c][y];
            for (int x = 0; x < columns; x++) {
                if (bits == 8)
                    of8[x] += weight[x] * v[x];
                else
                    of16[x] += (uint64_t)(weight[x] * (uint32_t)v[x]);
            }
        }
    }
}

GF_TARGET_CLONES static void add_shifts(struct tile *tile, const struct constants *constants,
                                        int columns, int rows, struct gf_format format)
{
    const int search = constants->nlmeans.search;
    for (int dy = -search; dy <= search; dy++) {
        for (int dx = -search; dx <= search; dx++) {
            if (format.bits == 32)
                GF_BY_CHANNELS(format.channels, CHANNELS,
                               add_shift(tile, constants, dx, dy, columns, rows, 32, CHANNELS))
            else if (format.bits == 16)
                GF_BY_CHANNELS(format.channels, CHANNELS,
                               add_shift(tile, constants, dx, dy, columns, rows, 16, CHANNELS))
            else if (format.channels == 3) /* pictures with alpha arrive in 16 bits */
                add_shift(tile, constants, dx, dy, columns, rows, 8, 3);
            else
                add_shift(tile, constants, dx, dy, columns, rows, 8, 1);
        }
    }
}

/* `reach`: the rows and columns of a tile on either side of its pixels. */
static void put_tile(const struct tile *tile, const struct gf_view *out, int x0, int y0,
                     int columns, int rows, int reach)
{
    const int channels = out->format.channels;
    for (int y = 0; y < rows; y++) {
        unsigned char *const row = gf_view_row(out, y0 + y);
        for (int i = 0; i < columns * channels; i++) {
            const int x = i / channels, c = i % channels;
            const size_t at = (size_t)x0 * (size_t)channels + (size_t)i;
            if (out->format.bits == 32) {
                ((float *)row)[at] = tile->floats[c][reach + y][reach + x] +
                                     tile->sum.of32[c][y][x] / tile->float_weights[y][x];
                continue;
            }
            const float sum = out->format.bits == 8 ? (float)tile->sum.of8[c][y][x]
                                                    : (float)tile->sum.of16[c][y][x];
            const int v = gf_nlmeans_mean(sum, (float)(int32_t)tile->weights[y][x]);
            if (out->format.bits == 8)
                row[at] = (unsigned char)v;
            else
                ((gf_u16_any *)row)[at] = (uint16_t)v;
        }
    }
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    const struct constants *const constants = stage->constants;
    struct tile *const tile = scratch;
    const int width = stage->in.width, end = out->y + out->rows;
    for (int y = out->y; y < end; y += ROWS) {
        const int rows = end - y < ROWS ? end - y : ROWS;
        for (int x = 0; x < width; x += COLUMNS) {
            const int columns = width - x < COLUMNS ? width - x : COLUMNS;
            fill_tile(tile, &constants->nlmeans, in, x, y, columns, rows);
            add_shifts(tile, constants, columns, rows, stage->in);
            put_tile(tile, out, x, y, columns, rows,
                     constants->nlmeans.search + constants->nlmeans.patch);
        }
    }
}

extern gf_launcher gf_nlmeans_cuda;

const struct gf_filter gf_nlmeans_filter = {
    .name = "nlmeans",
    .synonyms = "denoise non-local-means nlm enhance hqdn3d",
    .summary = "removes noise by averaging similar places",
    .definition =
        "Non-local means (A. Buades, B. Coll and J.-M. Morel, 2005) with uniform patches (J. "
        "Froment, 2014): the mean over a window\n"
        "with weights exp(-d / h^2), d the mean squared difference of the patches' samples in "
        "0..1, the channels together. In 8 bits\n"
        "weights are squares of multiples of 1/180, near the exponential, and d consists of steps "
        "below h^2 / 80. In 16 bits weights are\n"
        "rounded to 2^-15, and patches are compared by the upper 12. Floats follow the formula.",
    .example = "nlmeans=0.05",
    GF_TAKES(
        struct nlmeans,
        GF_PARAM(
            struct nlmeans, h, 0.1, 0.001, 0.5,
            "how far patches may differ, as a part of the full scale: about the noise's standard "
            "deviation, or a little more"),
        GF_PARAM_INT(struct nlmeans, search, 10, 1, GF_NLMEANS_SEARCH_MAX,
                     "radius of the window that is searched: 10 is 21x21 pixels"),
        GF_PARAM_INT(struct nlmeans, patch, 3, 1, GF_NLMEANS_PATCH_MAX,
                     "radius of the patches that are compared: 3 is 7x7"),
        GF_PARAM_BORDER(struct nlmeans)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .within_alpha = true,
    .cost = {.pixel = 1000},
    .radius = reach,
    .columns = reach,
    .constants_size = sizeof(struct constants),
    .prepare = prepare,
    .cpu_scratch = scratch_bytes,
    .cpu = cpu,
    .floats = cpu,
    .floats_scratch = scratch_bytes,
    .cuda = GF_CUDA({GF_VARIANT("columns", gf_nlmeans_cuda,
                                "two columns of pixels a thread; of 8 bits four shifts at once, "
                                "weights in pairs of halves")}),
};
