/* Compares saved reports of one kind: the same time in each report, and whether it changed. */
#pragma once

#include "study/saved/saved.h"

enum gf_change { GF_CHANGE_UNKNOWN, GF_CHANGE_NONE, GF_CHANGE_FASTER, GF_CHANGE_SLOWER };

/* Returns whether b is faster or slower than a: only if no run of one lies within the range of the
 * other's runs, from the least to the most. The answer is unknown if either has fewer than two
 * runs. */
enum gf_change gf_change_of(const struct gf_timing *a, const struct gf_timing *b);

/* A time that several reports contain, under the same names. */
struct gf_side_row {
    char group[112], name[112];
    struct gf_timing *side; /* a time for each report; runs is 0 if the report lacks it */
};

struct gf_sides {
    struct gf_side_row *row;
    int rows;
};

/* Collects the rows, in the order of the first report that has them. All reports are of one kind:
 * runs or comparisons. */
enum gf_status gf_sides_make(const struct gf_saved *const *saved, int count, struct gf_sides *sides,
                             struct gf_error *error) GF_CHECKED;
void gf_sides_free(struct gf_sides *sides);

/* Writes the part of the page. `id` consists of letters and digits. */
enum gf_status gf_sides_html(FILE *file, const struct gf_saved *const *saved, int count,
                             const char *id, const char *heading,
                             struct gf_error *error) GF_CHECKED;
