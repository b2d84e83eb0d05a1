#include "codec/common/palette/palette_parts.h"

/* This is the division of X. Wu, "Color Quantization by Dynamic Programming and Principal
 * Analysis", 1992, without its principal axis: a box is divided where the variances of both halves
 * have the least sum. */

enum { STEP = 8, LEVELS = 2048 / STEP, LEAST = -1024 };

struct sums {
    double weight, at[GF_PALETTE_AXES];
};

/* The cells order[first .. end - 1], and the best way to divide them. */
struct box {
    int first, end, axis;
    int level;   /* cells below it are in the first half */
    double gain; /* what the division takes off the weighted sum of squares */
};

static void add(struct sums *to, const struct sums *more)
{
    to->weight += more->weight;
    for (int i = 0; i < GF_PALETTE_AXES; i++)
        to->at[i] += more->at[i];
}

/* Returns weight times the square of the mean. */
static double moment(const struct sums *sums)
{
    double squares = 0;
    for (int i = 0; i < GF_PALETTE_AXES; i++)
        squares += sums->at[i] * sums->at[i];
    return sums->weight > 0 ? squares / sums->weight : 0;
}

static int level_of(struct gf_palette_point point, int axis)
{
    return (point.at[axis] - LEAST) / STEP;
}

static void sum_levels(const struct gf_palette_cells *cells, const int32_t *order,
                       const struct box *box, int axis, struct sums level[LEVELS])
{
    memset(level, 0, LEVELS * sizeof *level);
    for (int i = box->first; i < box->end; i++) {
        const struct gf_palette_point mean = cells->mean[order[i]];
        const double weight = (double)cells->weight[order[i]];
        struct sums cell = {.weight = weight};
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            cell.at[k] = weight * mean.at[k];
        add(&level[level_of(mean, axis)], &cell);
    }
}

/* Finds the best division along one axis. */
static void find_along(const struct sums level[LEVELS], int axis, struct box *box)
{
    struct sums all = {0}, below = {0};
    for (int i = 0; i < LEVELS; i++)
        add(&all, &level[i]);
    for (int i = 0; i < LEVELS - 1; i++) {
        if (level[i].weight <= 0)
            continue;
        add(&below, &level[i]);
        struct sums above = {.weight = all.weight - below.weight};
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

static void find_division(const struct gf_palette_cells *cells, const int32_t *order,
                          struct box *box)
{
    struct sums level[LEVELS];
    box->gain = 0;
    for (int axis = 0; axis < GF_PALETTE_AXES; axis++) {
        sum_levels(cells, order, box, axis, level);
        find_along(level, axis, box);
    }
}

/* Divides a box into itself and `upper`. */
static void divide(const struct gf_palette_cells *cells, int32_t *order, struct box *box,
                   struct box *upper)
{
    int first = box->first, end = box->end;
    while (first < end) {
        const int32_t cell = order[first];
        if (level_of(cells->mean[cell], box->axis) < box->level) {
            first++;
        } else {
            order[first] = order[--end];
            order[end] = cell;
        }
    }
    *upper = (struct box){.first = first, .end = box->end};
    box->end = first;
    find_division(cells, order, box);
    find_division(cells, order, upper);
}

static struct gf_palette_point mean_of(const struct gf_palette_cells *cells, const int32_t *order,
                                       const struct box *box)
{
    double weight = 0, at[GF_PALETTE_AXES] = {0};
    struct gf_palette_point mean;
    for (int i = box->first; i < box->end; i++) {
        weight += (double)cells->weight[order[i]];
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            at[k] += (double)cells->weight[order[i]] * cells->mean[order[i]].at[k];
    }
    for (int k = 0; k < GF_PALETTE_AXES; k++)
        mean.at[k] = (int16_t)(at[k] / weight);
    return mean;
}

void gf_palette_split(const struct gf_palette_cells *cells, int most, int32_t *order,
                      struct gf_palette_entries *entries)
{
    struct box box[GF_PALETTE_MOST] = {{.end = cells->count}};
    int boxes = 1;
    for (int i = 0; i < cells->count; i++)
        order[i] = i;
    find_division(cells, order, &box[0]);
    for (; boxes < most; boxes++) {
        int best = 0;
        for (int i = 1; i < boxes; i++)
            best = box[i].gain > box[best].gain ? i : best;
        if (box[best].gain <= 0)
            break;
        divide(cells, order, &box[best], &box[boxes]);
    }
    entries->count = boxes;
    for (int i = 0; i < boxes; i++)
        entries->at[i] = mean_of(cells, order, &box[i]);
}
