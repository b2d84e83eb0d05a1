/* lensblur and motionblur: the mean of the pixels under a large shape. A row of results continues
 * from the row above it: the taps are where the weights of a row of the shape differ from the
 * weights of the row above. */
#include "filters/convolve/spread.h"

#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "base/image.h"
#include "filters/convolve/convolve.h"
#include "pixel/stencil.h"
#include "stage/filter.h"
#include "stage/stage.h"

enum {
    STRETCH = 768, /* samples whose sums are computed at a time */
    STRIP = 1024,
    WEIGHTS_MAX =
        32767 /* sizes of taps in one call add up to this at most: 65535 times it fits in 32 bits */
};

static int spread_rows(const void *params)
{
    return gf_coverage_rows(&((const struct gf_spread_params *)params)->coverage);
}

static int spread_columns(const void *params)
{
    return gf_coverage_columns(&((const struct gf_spread_params *)params)->coverage);
}

/* A tap of a result row: a weight, and where the sample that it multiplies is in the shape. Row 0
 * is above the shape's first row. */
struct tap {
    short row, column, weight;
};

/* Lists the taps of the weights, or (`next`) of their changes from the row above. Returns their
 * number. `taps` may be NULL. */
static int list_taps(const struct gf_spread_weights *weights, bool next, struct tap *taps)
{
    int count = 0;
    for (int row = 0; row <= weights->height; row++) {
        for (int column = 0; column < weights->width; column++) {
            const int weight = gf_spread_weight(weights, row - 1, column) -
                               (next ? gf_spread_weight(weights, row, column) : 0);
            if (weight && taps)
                taps[count] = (struct tap){(short)row, (short)column, (short)weight};
            count += weight != 0;
        }
    }
    return count;
}

static enum gf_status spread_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_spread_params *const params = stage->params;
    const int columns = spread_columns(params), rows = spread_rows(params);
    struct gf_spread *const spread = stage->constants;
    struct gf_spread_weights *const weights = &spread->weights;
    int sum = 0;
    weights->width = 2 * columns + 1;
    weights->height = 2 * rows + 1;
    for (int i = 0; i < weights->width * weights->height; i++) {
        const int x = i % weights->width - columns, y = i / weights->width - rows;
        weights->weight[i] = (signed char)gf_coverage_weight(&params->coverage, x, y);
        sum += weights->weight[i];
    }
    spread->border = params->border;
    spread->half = sum / 2.0 + 0.25;
    spread->scale = 1.0 / sum;
    gf_spread_list(weights, 1, false, &spread->all);
    gf_spread_list(weights, 1, true, &spread->next);
    spread->lead = spread->next.count < spread->all.count;
    if (!spread->lead)
        gf_spread_list(weights, 0, false, &spread->all);
    return GF_OK;
}

/* Scratch memory for a strip of columns: its rows in a ring, with the border on both sides, and the
 * sums of a row of results, which are integers. */
struct work {
    const struct gf_spread *spread;
    const struct gf_view *in, *out;
    int first, columns;
    int slots;    /* rows of the ring */
    size_t pitch; /* bytes of a row of the ring */
    unsigned char *zeros, *ring;
    struct tap *taps;
    const void **from; /* for each tap the samples that it multiplies */
    int32_t *weight;
    double *sums;
};

static size_t carve(struct work *work, void *base, struct gf_format format, int width, int height)
{
    struct gf_carver carver = {.base = base};
    const size_t taps = (size_t)(2 * width * height), channels = (size_t)format.channels;
    work->columns = format.width < STRIP ? format.width : STRIP;
    work->slots = height + 1;
    work->pitch = (size_t)(work->columns + width - 1) * channels * (size_t)(format.bits / 8);
    work->zeros = gf_carve(&carver, gf_row_bytes(format));
    work->ring = gf_carve(&carver, (size_t)work->slots * work->pitch);
    work->taps = gf_carve(&carver, taps * sizeof *work->taps);
    work->from = gf_carve(&carver, taps * sizeof *work->from);
    work->weight = gf_carve(&carver, taps * sizeof *work->weight);
    work->sums = gf_carve(&carver, (size_t)work->columns * channels * sizeof *work->sums);
    return carver.used;
}

static size_t spread_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage->in, 2 * spread_columns(stage->params) + 1,
                 2 * spread_rows(stage->params) + 1);
}

/* Adds `count` taps to `samples` sums, four taps at a time. */
#define ADD_TAPS(name, type) \
    GF_TARGET_CLONES static void name(const void *const *from, const int32_t *weight, int count, \
                                      size_t first, size_t samples, double *restrict sums) \
    { \
        int32_t sum[STRETCH]; \
        for (size_t i = 0; i < samples; i++) \
            sum[i] = 0; \
        int k = 0; \
        for (; k + 3 < count; k += 4) { \
            const type *const a = (const type *)from[k] + first; \
            const type *const b = (const type *)from[k + 1] + first; \
            const type *const c = (const type *)from[k + 2] + first; \
            const type *const d = (const type *)from[k + 3] + first; \
            for (size_t i = 0; i < samples; i++) \
                sum[i] += weight[k] * a[i] + weight[k + 1] * b[i] + weight[k + 2] * c[i] + \
                          weight[k + 3] * d[i]; \
        } \
        for (; k < count; k++) { \
            const type *const a = (const type *)from[k] + first; \
            for (size_t i = 0; i < samples; i++) \
                sum[i] += weight[k] * a[i]; \
        } \
        for (size_t i = 0; i < samples; i++) \
            sums[first + i] += sum[i]; \
    }
ADD_TAPS(add_taps8, uint8_t)
ADD_TAPS(add_taps16, gf_u16_any)

GF_TARGET_CLONES static void round_sums(const struct gf_spread *spread, const double *sums,
                                        int bits, size_t count, unsigned char *restrict to)
{
    const double half = spread->half, scale = spread->scale;
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            to[i] = (unsigned char)gf_spread_mean(sums[i], half, scale);
    } else {
        for (size_t i = 0; i < count; i++)
            ((gf_u16_any *)to)[i] = (uint16_t)gf_spread_mean(sums[i], half, scale);
    }
}

static unsigned char *slot_of(const struct work *work, int row)
{
    return work->ring + (size_t)(row % work->slots) * work->pitch;
}

/* Copies the strip's columns of a row of the picture to the ring. Rows of the ring are counted from
 * the first row that a result of the band needs. */
static void copy_row(const struct work *work, int row)
{
    const struct gf_spread_weights *const weights = &work->spread->weights;
    const unsigned char *from;
    gf_stencil_rows(work->in, work->out->y - weights->height / 2 + row, 1, work->spread->border,
                    work->zeros, &from);
    gf_stencil_columns(from, work->in->format, work->first - weights->width / 2,
                       work->columns + weights->width - 1, work->spread->border,
                       slot_of(work, row));
}

/* Adds the taps to the sums of row `row` of the band. */
static void add_row(const struct work *work, int row, int taps)
{
    const struct gf_format format = work->in->format;
    const size_t pixel = gf_pixel_bytes(format);
    const size_t samples = (size_t)work->columns * (size_t)format.channels;
    for (int begin = 0, end = 0; begin < taps; begin = end) {
        for (int most = 0; end < taps; end++) {
            const struct tap tap = work->taps[end];
            most += tap.weight < 0 ? -tap.weight : tap.weight;
            if (most > WEIGHTS_MAX)
                break;
            work->weight[end] = tap.weight;
            work->from[end] =
                slot_of(work, row + work->slots + tap.row - 1) + (size_t)tap.column * pixel;
        }
        for (size_t x = 0; x < samples; x += STRETCH) {
            const size_t count = samples - x < STRETCH ? samples - x : STRETCH;
            (format.bits == 8 ? add_taps8 : add_taps16)(work->from + begin, work->weight + begin,
                                                        end - begin, x, count, work->sums);
        }
    }
}

static void spread_strip(struct work *work)
{
    const struct gf_spread_weights *const weights = &work->spread->weights;
    const struct gf_format format = work->in->format;
    const struct gf_view *const out = work->out;
    const size_t samples = (size_t)work->columns * (size_t)format.channels;
    const size_t offset = (size_t)(work->first * format.channels * (format.bits / 8));
    const bool goes_on = list_taps(weights, true, NULL) < list_taps(weights, false, NULL);
    int taps = list_taps(weights, false, work->taps);
    for (int row = 0; row < weights->height - 1; row++)
        copy_row(work, row);
    for (int row = 0; row < out->rows; row++) {
        copy_row(work, row + weights->height - 1);
        if (row == 0 || !goes_on)
            memset(work->sums, 0, samples * sizeof *work->sums);
        add_row(work, row, taps);
        round_sums(work->spread, work->sums, format.bits, samples,
                   gf_view_row(out, out->y + row) + offset);
        if (row == 0 && goes_on)
            taps = list_taps(weights, true, work->taps);
    }
}

static void spread_cpu(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    const struct gf_spread *const spread = stage->constants;
    struct work work = {.spread = spread, .in = in, .out = out};
    carve(&work, scratch, in->format, spread->weights.width, spread->weights.height);
    const int columns = work.columns;
    memset(work.zeros, 0, gf_row_bytes(in->format));
    for (; work.first < in->format.width; work.first += columns) {
        const int rest = in->format.width - work.first;
        work.columns = rest < columns ? rest : columns;
        spread_strip(&work);
    }
}

/* Returns the bytes of the matrices of all windows (see cuda/filters/convolve/spread.cu). */
static size_t spread_device_scratch(const struct gf_stage *stage, int rows)
{
    return 2 * GF_SPREAD_WINDOWS_MAX * GF_SPREAD_WINDOW_BYTES;
}

extern gf_launcher gf_spread_cuda;
extern const struct gf_filter gf_convolve_filter;

static const struct gf_filter spread_filter = {
    .name = "spread",
    GF_TAKES(struct gf_spread_params, GF_PARAM_BORDER(struct gf_spread_params)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .within_alpha = true,
    .cost = {.pixel = 20, .row = 2.7},
    .radius = spread_rows,
    .columns = spread_columns,
    .constants_size = sizeof(struct gf_spread),
    .prepare = spread_prepare,
    .cpu_scratch = spread_scratch,
    .cuda_scratch = spread_device_scratch,
    .cpu = spread_cpu,
    .floats = gf_spread_floats,
    .floats_scratch = gf_spread_floats_scratch,
    .cuda = GF_CUDA({GF_VARIANT("tensor", gf_spread_cuda,
                                "products of matrices of bytes on tensor cores, for the weights "
                                "that change from row to row; all weights one by one for shapes "
                                "that exceed shared memory")}),
};

/* Appends the filter that does the work: convolve for shapes that its kernel can hold, else
 * spread. */
static void spread_add(struct gf_parts *parts, const struct gf_spread_params *params)
{
    const int columns = gf_coverage_columns(&params->coverage);
    const int rows = gf_coverage_rows(&params->coverage);
    struct gf_convolve_params convolve = {.kernel = {2 * columns + 1, 2 * rows + 1, {0}},
                                          .border = params->border};
    if (convolve.kernel.width > GF_MATRIX_SIDE_MAX || convolve.kernel.height > GF_MATRIX_SIDE_MAX) {
        gf_parts_add(parts, &spread_filter, params, sizeof *params);
        return;
    }
    for (int y = -rows; y <= rows; y++) {
        for (int x = -columns; x <= columns; x++)
            convolve.kernel.value[(y + rows) * convolve.kernel.width + x + columns] =
                (float)gf_coverage_weight(&params->coverage, x, y);
    }
    gf_parts_add(parts, &gf_convolve_filter, &convolve, sizeof convolve);
}

/* lensblur: blurs like a lens that is out of focus. */

struct lensblur {
    double radius; /* the radius in pixels */
    int border;
};

static void lensblur_expand(const void *params, const struct gf_extent *extent,
                            struct gf_parts *parts)
{
    const struct lensblur *const lensblur = params;
    const struct gf_spread_params spread = {{.half = lensblur->radius}, lensblur->border};
    spread_add(parts, &spread);
}

const struct gf_filter gf_lensblur_filter = {
    .name = "lensblur",
    .synonyms = "bokeh defocus disc disk",
    .summary = "blur by a disc, as a lens out of focus makes it",
    .definition = "The mean over the disc. The weight of a pixel is the part of the pixel that the "
                  "disc covers, in 64ths (by 8 x 8 points of the pixel). Up to 31 x 31 pixels the "
                  "result is that of convolve with these weights; sums over larger discs are "
                  "exact.",
    GF_TAKES(struct lensblur,
             GF_PARAM(struct lensblur, radius, 4, 0.5, 100, "radius of the disc, in pixels"),
             GF_PARAM_BORDER(struct lensblur)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .expand = lensblur_expand,
};

/* motionblur: blurs like a moving camera. */

struct motionblur {
    double length, angle; /* length in pixels, angle in degrees */
    int border;
};

static void motionblur_expand(const void *params, const struct gf_extent *extent,
                              struct gf_parts *parts)
{
    const struct motionblur *const motionblur = params;
    const struct gf_spread_params spread = {
        {.is_line = true,
         .half = motionblur->length / 2,
         .cosine = gf_sin_pi_double(motionblur->angle / 180 + 0.5),
         .sine = gf_sin_pi_double(motionblur->angle / 180)},
        motionblur->border};
    spread_add(parts, &spread);
}

const struct gf_filter gf_motionblur_filter = {
    .name = "motionblur",
    .synonyms = "directional speed shake linear",
    .summary = "blur along a line, as of a moving camera",
    .definition = "The mean over a line one pixel wide with the pixel in its middle. The weight of "
                  "a pixel is the part of the pixel that the line covers, in 64ths (by 8 x 8 "
                  "points of the pixel). Up to 31 x 31 pixels the result is that of convolve with "
                  "these weights; sums over longer lines are exact.",
    .example = "motionblur=15:20",
    GF_TAKES(struct motionblur,
             GF_PARAM(struct motionblur, length, 9, 1, 200, "length of the movement, in pixels"),
             GF_PARAM(struct motionblur, angle, 0, -360, 360,
                      "direction of the movement, in degrees clockwise from the right: 90 is down"),
             GF_PARAM_BORDER(struct motionblur)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .expand = motionblur_expand,
};
