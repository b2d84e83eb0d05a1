#include <stdlib.h>

#include "base/fail.h"
#include "base/time_limit.h"
#include "codec/common/ordered_work.h"
#include "codec/common/palette/palette_parts.h"

/* A variance, in squared levels, that halves the weight of a block, and the least weight, that of
 * text. With greater ones, smooth areas take fewer of the colours. */
enum { BUSY = 128, WEIGHT_LEAST = 16 };

/* The sums of a cell's pixels. */
struct sums {
    int64_t weight, at[GF_PALETTE_AXES];
};

struct weighing {
    const struct gf_image *picture;
    const struct gf_palette_weights *weights;
    int parts, down; /* `down`: rows of blocks */
    size_t cells;
    struct sums *sums; /* of each part */
};

/* Returns the weight of a block of that variance. */
static int weight_of(int64_t variance)
{
    const int64_t weight = (GF_PALETTE_WEIGHT * BUSY + variance / 2) / (BUSY + variance);
    return weight > WEIGHT_LEAST ? (int)weight : WEIGHT_LEAST;
}

/* Returns the mean variance of the four axes, in squared levels. */
static int64_t variance_of(const int64_t *sum, const int64_t *square, int64_t pixels)
{
    int64_t variance = 0;
    for (int i = 0; i < GF_PALETTE_AXES; i++)
        variance += (square[i] * pixels - sum[i] * sum[i]) / (pixels * pixels);
    return variance / (3 * GF_PALETTE_SCALE * GF_PALETTE_SCALE);
}

static void weigh_block(const struct weighing *weighing, struct sums *sums, int column, int row)
{
    enum { SIDE = GF_PALETTE_BLOCK };
    const struct gf_image *const picture = weighing->picture;
    const struct gf_format format = picture->format;
    const int left = column * SIDE, top = row * SIDE;
    struct gf_palette_point point[SIDE * SIDE];
    uint32_t cell[SIDE * SIDE];
    int64_t sum[GF_PALETTE_AXES] = {0}, square[GF_PALETTE_AXES] = {0};
    int pixels = 0;
    for (int y = top; y < top + SIDE && y < format.height; y++) {
        const unsigned char *const from = picture->data + (size_t)y * picture->pitch;
        for (int x = left; x < left + SIDE && x < format.width; x++) {
            unsigned char rgba[4];
            gf_palette_rgba_of(from + (size_t)x * (size_t)format.channels, format.channels, rgba);
            if (weighing->weights->opaque && !rgba[3])
                continue;
            point[pixels] = gf_palette_point_of(rgba);
            cell[pixels] = format.channels == 1 ? from[x] : gf_palette_cell(point[pixels]);
            for (int i = 0; i < GF_PALETTE_AXES; i++) {
                sum[i] += point[pixels].at[i];
                square[i] += point[pixels].at[i] * point[pixels].at[i];
            }
            pixels++;
        }
    }
    const int weight = weight_of(pixels ? variance_of(sum, square, pixels) : 0);
    weighing->weights->weight[(size_t)row * (size_t)weighing->weights->across + (size_t)column] =
        (unsigned char)weight;
    for (int p = 0; sums && p < pixels; p++) {
        struct sums *const of = &sums[cell[p]];
        of->weight += weight;
        for (int i = 0; i < GF_PALETTE_AXES; i++)
            of->at[i] += weight * point[p].at[i];
    }
}

static bool weigh_part(void *context, int thread, int part)
{
    const struct weighing *const weighing = context;
    (void)thread;
    const int64_t down = weighing->down;
    const int first = (int)(down * part / weighing->parts),
              end = (int)(down * (part + 1) / weighing->parts);
    int row = first;
    for (; row < end && !gf_time_is_up(); row++) {
        for (int column = 0; column < weighing->weights->across; column++)
            weigh_block(weighing,
                        weighing->sums ? weighing->sums + (size_t)part * weighing->cells : NULL,
                        column, row);
    }
    return row == end;
}

static size_t cells_of(struct gf_format format)
{
    return gf_has_alpha(format) ? GF_PALETTE_CELLS : GF_PALETTE_OPAQUE_CELLS;
}

/* Returns the number of parts; those of a small picture would cost more than they save. */
static int parts_of(struct gf_format format, int threads)
{
    enum { PIXELS = 1 << 20 };
    const int64_t pixels = (int64_t)format.width * format.height, most = 1 + pixels / PIXELS;
    const int parts = gf_palette_parts(threads);
    return most < parts ? (int)most : parts;
}

static int16_t mean_of(int64_t sum, int64_t weight)
{
    const int64_t half = weight / 2;
    return (int16_t)(sum < 0 ? -((half - sum) / weight) : (sum + half) / weight);
}

/* Adds up the parts, and lists the cells that have pixels. */
static enum gf_status gather(const struct weighing *weighing, struct gf_palette_cells *cells,
                             struct gf_error *error)
{
    for (size_t c = 0; c < weighing->cells; c++) {
        struct sums *const of = &weighing->sums[c];
        for (int part = 1; part < weighing->parts; part++) {
            const struct sums *const more = &weighing->sums[(size_t)part * weighing->cells + c];
            of->weight += more->weight;
            for (int i = 0; i < GF_PALETTE_AXES; i++)
                of->at[i] += more->at[i];
        }
        cells->count += of->weight > 0;
    }
    cells->mean = malloc((size_t)cells->count * sizeof *cells->mean);
    cells->weight = malloc((size_t)cells->count * sizeof *cells->weight);
    if (!cells->mean || !cells->weight)
        return gf_fail_memory(error);
    for (size_t c = 0, at = 0; c < weighing->cells; c++) {
        const struct sums *const of = &weighing->sums[c];
        if (!of->weight)
            continue;
        for (int i = 0; i < GF_PALETTE_AXES; i++)
            cells->mean[at].at[i] = mean_of(of->at[i], of->weight);
        cells->weight[at++] = of->weight;
    }
    return GF_OK;
}

enum gf_status gf_palette_weigh(const struct gf_image *picture, int threads,
                                struct gf_palette_weights *weights, struct gf_palette_cells *cells,
                                struct gf_error *error)
{
    const struct gf_format format = picture->format;
    struct weighing weighing = {.picture = picture, .weights = weights};
    weighing.parts = parts_of(format, threads);
    weighing.down = (format.height + GF_PALETTE_BLOCK - 1) / GF_PALETTE_BLOCK;
    weighing.cells = weights->opaque ? GF_PALETTE_OPAQUE_CELLS : cells_of(format);
    weights->across = (format.width + GF_PALETTE_BLOCK - 1) / GF_PALETTE_BLOCK;
    weights->weight = malloc((size_t)weights->across * (size_t)weighing.down);
    if (cells)
        weighing.sums = calloc((size_t)weighing.parts * weighing.cells, sizeof *weighing.sums);
    enum gf_status status =
        weights->weight && (weighing.sums || !cells) ? GF_OK : gf_fail_memory(error);
    if (!status)
        status = gf_ordered_work_run(weighing.parts, weighing.parts, weigh_part, &weighing, error);
    if (!status && cells)
        status = gather(&weighing, cells, error);
    free(weighing.sums);
    return status;
}

uint64_t gf_palette_cells_memory(struct gf_format format, int threads)
{
    const uint64_t listed = sizeof(struct gf_palette_point) + sizeof(int64_t) + sizeof(int32_t);
    return cells_of(format) * ((uint64_t)parts_of(format, threads) * sizeof(struct sums) + listed);
}
