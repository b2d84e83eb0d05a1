/* Saved reports of one kind side by side: the same time in each, and whether it changed. */
#ifndef GF_STUDY_SAVED_SIDES_H
#define GF_STUDY_SAVED_SIDES_H

#include "study/saved/saved.h"

enum gf_change { GF_CHANGE_UNKNOWN, GF_CHANGE_NONE, GF_CHANGE_FASTER, GF_CHANGE_SLOWER };

/* Whether b is faster or slower than a: only where no run of one lies within the range of the
 * other's runs, from the least to the most. Unknown where either has fewer than two runs. */
enum gf_change gf_change_of(const struct gf_timing *a, const struct gf_timing *b);

/* A time that several reports have, under the same names. */
struct gf_side_row {
    char group[112], name[112];
    struct gf_timing *side; /* one for each report; runs is 0 where it has none */
};

struct gf_sides {
    struct gf_side_row *row;
    int rows;
};

/* The rows that were measured, in the order of the first report that has them. All reports are of
 * one kind, which is that of runs or of comparisons. */
enum gf_status gf_sides_make(const struct gf_saved *const *saved, int count, struct gf_sides *sides,
                             struct gf_error *error) GF_CHECKED;
void gf_sides_free(struct gf_sides *sides);

/* The part of the page. id: letters and digits. */
enum gf_status gf_sides_html(FILE *file, const struct gf_saved *const *saved, int count,
                             const char *id, const char *heading,
                             struct gf_error *error) GF_CHECKED;

#endif
