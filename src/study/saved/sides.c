#include "study/saved/sides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"

enum gf_change gf_change_of(const struct gf_timing *a, const struct gf_timing *b)
{
    if (a->runs < 2 || b->runs < 2)
        return GF_CHANGE_UNKNOWN;
    if (b->most_s < a->least_s)
        return GF_CHANGE_FASTER;
    return b->least_s > a->most_s ? GF_CHANGE_SLOWER : GF_CHANGE_NONE;
}

/* The state of collecting rows. */
struct collector {
    struct gf_sides *sides;
    int count; /* the number of reports */
    int side;  /* the report that is being read */
    bool full; /* memory has run out */
};

static void add(struct collector *collector, const char *group, const char *name,
                struct gf_timing timing)
{
    struct gf_sides *const sides = collector->sides;
    int at = 0;
    if (!timing.runs)
        return;
    while (at < sides->rows &&
           (strcmp(sides->row[at].group, group) || strcmp(sides->row[at].name, name)))
        at++;
    if (at == sides->rows) {
        struct gf_timing *const side = calloc((size_t)collector->count, sizeof *side);
        if (!side || !GF_GROW(sides->row, sides->rows)) {
            free(side);
            collector->full = true;
            return;
        }
        struct gf_side_row *const row = &sides->row[at];
        *row = (struct gf_side_row){.side = side};
        snprintf(row->group, sizeof row->group, "%s", group);
        snprintf(row->name, sizeof row->name, "%s", name);
        sides->rows++;
    }
    sides->row[at].side[collector->side] = timing;
}

static struct gf_timing once(double seconds)
{
    return (struct gf_timing){
        .runs = 1, .median_s = seconds, .least_s = seconds, .most_s = seconds};
}

static void add_run(struct collector *collector, const struct gf_saved *saved)
{
    add(collector, "", "wall time", once(saved->report.elapsed_s));
    for (int i = 0; i < saved->report.count; i++)
        add(collector, "", saved->report.row[i].name, once(saved->report.row[i].busy_s));
}

static void add_comparison(struct collector *collector, const struct gf_comparison *comparison)
{
    for (int g = 0; g < comparison->groups; g++) {
        const struct gf_compare_group *const group = &comparison->group[g];
        for (int i = 0; i < group->rows; i++)
            add(collector, group->name, group->row[i].name, group->row[i].warm);
    }
    for (int i = 0; i < comparison->runs; i++)
        add(collector, "the whole chain", comparison->run[i].name, comparison->run[i].total);
}

/* Adds the times of a batch's pictures: the median, and the middle half as the spread. */
static void add_batch(struct collector *collector, const struct gf_batch_report *batch)
{
    add(collector, "", "a picture", batch->total);
    for (int i = 0; i < GF_BATCH_STAGES; i++) {
        if (batch->stage_ms[i] > 0)
            add(collector, "", gf_batch_stage_name(i), batch->stage[i]);
    }
}

enum gf_status gf_sides_make(const struct gf_saved *const *saved, int count, struct gf_sides *sides,
                             struct gf_error *error)
{
    *sides = (struct gf_sides){0};
    struct collector collector = {.sides = sides, .count = count};
    for (; collector.side < count; collector.side++) {
        const struct gf_saved *const one = saved[collector.side];
        if (one->kind == GF_SAVED_RUN)
            add_run(&collector, one);
        else if (one->kind == GF_SAVED_COMPARISON)
            add_comparison(&collector, &one->comparison);
        else if (one->kind == GF_SAVED_LOG)
            add_batch(&collector, &one->batch);
    }
    if (!collector.full)
        return GF_OK;
    gf_sides_free(sides);
    return gf_fail_memory(error);
}

void gf_sides_free(struct gf_sides *sides)
{
    for (int i = 0; i < sides->rows; i++)
        free(sides->row[i].side);
    free(sides->row);
    *sides = (struct gf_sides){0};
}
