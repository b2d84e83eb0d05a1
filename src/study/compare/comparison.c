#include "study/compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

struct gf_compare_row *gf_compare_add_row(struct gf_compare_group *group, const char *name)
{
    if (!GF_GROW(group->row, group->rows))
        return NULL;
    struct gf_compare_row *const row = &group->row[group->rows++];
    *row = (struct gf_compare_row){.rate = NAN,
                                   .copy_percent = NAN,
                                   .over_naive = NAN,
                                   .over_cpu = NAN,
                                   .difference = NAN,
                                   .instructions = NAN};
    snprintf(row->name, sizeof row->name, "%.39s", name);
    return row;
}

enum gf_status gf_compare_judge(const struct gf_comparison *comparison, struct gf_error *error)
{
    for (int g = 0; g < comparison->groups; g++) {
        const struct gf_compare_group *const group = &comparison->group[g];
        for (int i = 0; i < group->rows; i++) {
            const struct gf_compare_row *const row = &group->row[i];
            if (row->difference > row->tolerance)
                return gf_fail(error, GF_ERROR_DIFFERENT,
                               "%s: wrong result: %s differs from the CPU's by %.0f, more than %d",
                               group->name, row->name, row->difference, row->tolerance);
        }
    }
    return GF_OK;
}

void gf_comparison_free(struct gf_comparison *comparison)
{
    for (int i = 0; i < comparison->groups; i++) {
        for (int k = 0; k < comparison->group[i].rows; k++)
            free(comparison->group[i].row[k].spot);
        free(comparison->group[i].row);
    }
    free(comparison->group);
    free(comparison->run);
    *comparison = (struct gf_comparison){0};
}
