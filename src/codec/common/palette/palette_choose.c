/* Chooses the entries of a palette: weighs the colours of a picture, divides them into boxes, and
 * moves the boxes' means, the entries. */
#include <stdlib.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "codec/common/palette/palette_parts.h"

/* BUSY is the variance, in squared levels of 0..255, that halves the weight of a block.
 * WEIGHT_LEAST is the least weight, which blocks of text have. Greater values leave smooth areas
 * fewer of the colours. */
enum { BUSY = 128, WEIGHT_LEAST = 16 };

/* The sums over the pixels of a bin: of their weights, and of their weighted coordinates. */
struct sums {
    int64_t weight, at[GF_PALETTE_AXES];
};

struct weighing {
    const struct gf_image *picture;
    const struct gf_palette_weights *weights;
    int parts, down; /* parts: of the picture, for threads; down: rows of blocks */
    size_t bins;
    struct sums *sums; /* the sums of each part and bin: [parts][bins] */
};

/* Returns the weight of a block whose pixels have that variance. */
static int weight_of(int64_t variance)
{
    const int64_t weight = (GF_PALETTE_WEIGHT * BUSY + variance / 2) / (BUSY + variance);
    return weight > WEIGHT_LEAST ? (int)weight : WEIGHT_LEAST;
}

/* Returns the variance of the pixels, the sum over the four axes divided by 3, in squared
 * levels. */
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
    uint32_t bin[SIDE * SIDE];
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
            bin[pixels] = format.channels == 1 ? from[x] : gf_palette_bin(point[pixels]);
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
        struct sums *const of = &sums[bin[p]];
        of->weight += weight;
        for (int i = 0; i < GF_PALETTE_AXES; i++)
            of->at[i] += weight * point[p].at[i];
    }
}

static enum gf_status weigh_part(void *context, int thread, int part, struct gf_error *error)
{
    const struct weighing *const weighing = context;
    const int64_t down = weighing->down;
    const int first = (int)(down * part / weighing->parts),
              end = (int)(down * (part + 1) / weighing->parts);
    int row = first;
    for (; row < end && !gf_time_is_up(); row++) {
        for (int column = 0; column < weighing->weights->across; column++)
            weigh_block(weighing,
                        weighing->sums ? weighing->sums + (size_t)part * weighing->bins : NULL,
                        column, row);
    }
    return row == end ? GF_OK : gf_time_check(error);
}

static size_t bins_of(struct gf_format format)
{
    return gf_has_alpha(format) ? GF_PALETTE_BINS : GF_PALETTE_OPAQUE_BINS;
}

/* Returns into how many parts the picture is divided: one for each 2^20 pixels, since smaller parts
 * cost more than they save. */
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

/* Adds up the sums of all parts, and lists the bins that have pixels with their means. */
static enum gf_status gather(const struct weighing *weighing, struct gf_palette_bins *bins,
                             struct gf_error *error)
{
    for (size_t c = 0; c < weighing->bins; c++) {
        struct sums *const of = &weighing->sums[c];
        for (int part = 1; part < weighing->parts; part++) {
            const struct sums *const more = &weighing->sums[(size_t)part * weighing->bins + c];
            of->weight += more->weight;
            for (int i = 0; i < GF_PALETTE_AXES; i++)
                of->at[i] += more->at[i];
        }
        bins->count += of->weight > 0;
    }
    bins->mean = malloc((size_t)bins->count * sizeof *bins->mean);
    bins->weight = malloc((size_t)bins->count * sizeof *bins->weight);
    GF_ALLOCATED(bins->mean && bins->weight, error);
    for (size_t c = 0, at = 0; c < weighing->bins; c++) {
        const struct sums *const of = &weighing->sums[c];
        if (!of->weight)
            continue;
        for (int i = 0; i < GF_PALETTE_AXES; i++)
            bins->mean[at].at[i] = mean_of(of->at[i], of->weight);
        bins->weight[at++] = of->weight;
    }
    return GF_OK;
}

enum gf_status gf_palette_weigh(const struct gf_image *picture, int threads,
                                struct gf_palette_weights *weights, struct gf_palette_bins *bins,
                                struct gf_error *error)
{
    const struct gf_format format = picture->format;
    struct weighing weighing = {.picture = picture, .weights = weights};
    weighing.parts = parts_of(format, threads);
    weighing.down = (format.height + GF_PALETTE_BLOCK - 1) / GF_PALETTE_BLOCK;
    weighing.bins = weights->opaque ? GF_PALETTE_OPAQUE_BINS : bins_of(format);
    weights->across = (format.width + GF_PALETTE_BLOCK - 1) / GF_PALETTE_BLOCK;
    weights->weight = malloc((size_t)weights->across * (size_t)weighing.down);
    if (bins)
        weighing.sums = calloc((size_t)weighing.parts * weighing.bins, sizeof *weighing.sums);
    enum gf_status status =
        weights->weight && (weighing.sums || !bins) ? GF_OK : gf_fail_memory(error);
    GF_THEN(status, gf_ordered_run(weighing.parts, weighing.parts, weigh_part, &weighing, error));
    if (!status && bins)
        status = gather(&weighing, bins, error);
    free(weighing.sums);
    return status;
}

uint64_t gf_palette_bins_memory(struct gf_format format, int threads)
{
    const uint64_t listed = sizeof(struct gf_palette_point) + sizeof(int64_t) + sizeof(int32_t);
    return bins_of(format) * ((uint64_t)parts_of(format, threads) * sizeof(struct sums) + listed);
}

/* This is the division of X. Wu, "Color Quantization by Dynamic Programming and Principal
 * Analysis", 1992, without its principal axis: a box is divided where the variances of both halves
 * have the least sum. */

enum { STEP = 8, LEVELS = 2048 / STEP, LEAST = -1024 };

struct moments {
    double weight, at[GF_PALETTE_AXES];
};

/* The bins order[first .. end - 1], and the best way to divide them. */
struct box {
    int first, end, axis;
    int level;   /* bins below this level of the axis go to the first half */
    double gain; /* by how much the division reduces the weighted sum of squared distances */
};

static void add(struct moments *to, const struct moments *more)
{
    to->weight += more->weight;
    for (int i = 0; i < GF_PALETTE_AXES; i++)
        to->at[i] += more->at[i];
}

/* Returns the weight times the squared length of the mean. */
static double moment(const struct moments *moments)
{
    double squares = 0;
    for (int i = 0; i < GF_PALETTE_AXES; i++)
        squares += moments->at[i] * moments->at[i];
    return moments->weight > 0 ? squares / moments->weight : 0;
}

static int level_of(struct gf_palette_point point, int axis)
{
    return (point.at[axis] - LEAST) / STEP;
}

static void sum_levels(const struct gf_palette_bins *bins, const int32_t *order,
                       const struct box *box, int axis, struct moments level[LEVELS])
{
    memset(level, 0, LEVELS * sizeof *level);
    for (int i = box->first; i < box->end; i++) {
        const struct gf_palette_point mean = bins->mean[order[i]];
        const double weight = (double)bins->weight[order[i]];
        struct moments bin = {.weight = weight};
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            bin.at[k] = weight * mean.at[k];
        add(&level[level_of(mean, axis)], &bin);
    }
}

/* Finds the best division of the box along one axis. `level` has the moments of the box's bins at
 * each level. */
static void find_along(const struct moments level[LEVELS], int axis, struct box *box)
{
    struct moments all = {0}, below = {0};
    for (int i = 0; i < LEVELS; i++)
        add(&all, &level[i]);
    for (int i = 0; i < LEVELS - 1; i++) {
        if (level[i].weight <= 0)
            continue;
        add(&below, &level[i]);
        struct moments above = {.weight = all.weight - below.weight};
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            above.at[k] = all.at[k] - below.at[k];
        const double gain = moment(&below) + moment(&above) - moment(&all);
        if (above.weight > 0 && gain > box->gain) {
            box->gain = gain;
            box->axis = axis;
            box->level = i + 1;
        }
    }
}

static void find_division(const struct gf_palette_bins *bins, const int32_t *order, struct box *box)
{
    struct moments level[LEVELS];
    box->gain = 0;
    for (int axis = 0; axis < GF_PALETTE_AXES; axis++) {
        sum_levels(bins, order, box, axis, level);
        find_along(level, axis, box);
    }
}

/* Divides a box: it keeps the bins below its level, and `upper` gets the others. */
static void divide(const struct gf_palette_bins *bins, int32_t *order, struct box *box,
                   struct box *upper)
{
    int first = box->first, end = box->end;
    while (first < end) {
        const int32_t bin = order[first];
        if (level_of(bins->mean[bin], box->axis) < box->level) {
            first++;
        } else {
            order[first] = order[--end];
            order[end] = bin;
        }
    }
    *upper = (struct box){.first = first, .end = box->end};
    box->end = first;
    find_division(bins, order, box);
    find_division(bins, order, upper);
}

static struct gf_palette_point mean_of_box(const struct gf_palette_bins *bins, const int32_t *order,
                                           const struct box *box)
{
    double weight = 0, at[GF_PALETTE_AXES] = {0};
    struct gf_palette_point mean;
    for (int i = box->first; i < box->end; i++) {
        weight += (double)bins->weight[order[i]];
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            at[k] += (double)bins->weight[order[i]] * bins->mean[order[i]].at[k];
    }
    for (int k = 0; k < GF_PALETTE_AXES; k++)
        mean.at[k] = (int16_t)(at[k] / weight);
    return mean;
}

void gf_palette_split(const struct gf_palette_bins *bins, int most, int32_t *order,
                      struct gf_palette_entries *entries)
{
    struct box box[GF_PALETTE_MOST] = {{.end = bins->count}};
    int boxes = 1;
    for (int i = 0; i < bins->count; i++)
        order[i] = i;
    find_division(bins, order, &box[0]);
    for (; boxes < most; boxes++) {
        int best = 0;
        for (int i = 1; i < boxes; i++)
            best = box[i].gain > box[best].gain ? i : best;
        if (box[best].gain <= 0)
            break;
        divide(bins, order, &box[best], &box[boxes]);
    }
    entries->count = boxes;
    for (int i = 0; i < boxes; i++)
        entries->at[i] = mean_of_box(bins, order, &box[i]);
}

enum { ROUNDS = 12 };

/* The sums over the bins nearest to an entry, and the heaviest of these bins with its weight. */
struct totals {
    int64_t weight, at[GF_PALETTE_AXES];
    int64_t heaviest;
    int bin;
};

struct refining {
    const struct gf_palette_bins *bins;
    int parts;
    int16_t at[GF_PALETTE_AXES][GF_PALETTE_MOST]; /* the entries' coordinates, [axis][entry] */
    /* The totals of each entry, for each of the `parts` parts of the bins, which threads sum up
     * separately: [parts][GF_PALETTE_MOST]. */
    struct totals (*sums)[GF_PALETTE_MOST];
};

/* Returns 256 times the squared distance to the nearest entry, plus its index. Of equally near
 * entries it takes the lowest index. It looks at all GF_PALETTE_MOST entries, so that vectors
 * can. */
GF_TARGET_CLONES static uint32_t nearest(int16_t (*at)[GF_PALETTE_MOST],
                                         struct gf_palette_point point)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < GF_PALETTE_MOST; i++) {
        uint32_t sum = 0;
        for (int k = 0; k < GF_PALETTE_AXES; k++) {
            const int difference = at[k][i] - point.at[k];
            sum += (uint32_t)(difference * difference);
        }
        const uint32_t key = sum << 8 | i;
        least = key < least ? key : least;
    }
    return least;
}

static enum gf_status refine_part(void *context, int thread, int part, struct gf_error *error)
{
    struct refining *const refining = context;
    const struct gf_palette_bins *const bins = refining->bins;
    struct totals *const totals = refining->sums[part];
    memset(totals, 0, sizeof *refining->sums);
    const int64_t count = bins->count;
    const int first = (int)(count * part / refining->parts),
              end = (int)(count * (part + 1) / refining->parts);
    for (int c = first; c < end; c++) {
        struct totals *const of = &totals[nearest(refining->at, bins->mean[c]) % GF_PALETTE_MOST];
        of->weight += bins->weight[c];
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            of->at[k] += bins->weight[c] * bins->mean[c].at[k];
        if (bins->weight[c] > of->heaviest) {
            of->heaviest = bins->weight[c];
            of->bin = c;
        }
    }
    return GF_OK;
}

static void set_coordinates(struct refining *refining, const struct gf_palette_entries *entries)
{
    /* Places beyond the last entry repeat the first entry, whose lower index wins. */
    for (int i = 0; i < GF_PALETTE_MOST; i++) {
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            refining->at[k][i] = entries->at[i < entries->count ? i : 0].at[k];
    }
}

static struct totals add_parts(const struct refining *refining, int entry)
{
    struct totals all = {0};
    for (int part = 0; part < refining->parts; part++) {
        const struct totals *const more = &refining->sums[part][entry];
        all.weight += more->weight;
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            all.at[k] += more->at[k];
        if (more->heaviest > all.heaviest) {
            all.heaviest = more->heaviest;
            all.bin = more->bin;
        }
    }
    return all;
}

/* Moves each entry to the mean of the bins nearest to it. Returns whether any has moved. */
static bool move(const struct refining *refining, struct gf_palette_entries *entries)
{
    bool moved = false;
    for (int i = 0; i < entries->count; i++) {
        const struct totals all = add_parts(refining, i);
        for (int k = 0; all.weight && k < GF_PALETTE_AXES; k++) {
            const int16_t mean = (int16_t)(all.at[k] / all.weight);
            moved |= mean != entries->at[i].at[k];
            entries->at[i].at[k] = mean;
        }
    }
    return moved;
}

static void settle(const struct refining *refining, struct gf_palette_entries *entries)
{
    for (int i = 0; i < entries->count; i++) {
        const struct totals all = add_parts(refining, i);
        if (all.heaviest > all.weight / 2)
            entries->at[i] = refining->bins->mean[all.bin];
    }
}

enum gf_status gf_palette_refine(const struct gf_palette_bins *bins, int threads,
                                 struct gf_palette_entries *entries, struct gf_error *error)
{
    struct refining refining = {.bins = bins, .parts = gf_palette_parts(threads)};
    refining.sums = malloc((size_t)refining.parts * sizeof *refining.sums);
    enum gf_status status = refining.sums ? GF_OK : gf_fail_memory(error);
    bool moved = true;
    for (int round = 0; !status && moved && round < ROUNDS; round++) {
        set_coordinates(&refining, entries);
        status = gf_ordered_run(threads, refining.parts, refine_part, &refining, error);
        if (!status)
            moved = move(&refining, entries);
    }
    if (!status)
        settle(&refining, entries);
    free(refining.sums);
    return status;
}
