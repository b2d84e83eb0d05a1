/* The list of all filters, functions that find a filter by its name, and the CUDA kernels of a
 * filter. */
#include "chain/chain.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "cuda/study/variants/variants.h"
#include "gpufilter/filter.h"
#include "pixel/histogram/histogram.h"
#include "pixel/point/point.h"
#include "stage/stage.h"

#define GF_FILTER(stem) extern const struct gf_filter gf_##stem##_filter;
#include "filters/filters.def"
#undef GF_FILTER

static const struct gf_filter *const filters[] = {
#define GF_FILTER(stem) &gf_##stem##_filter,
#include "filters/filters.def"
#undef GF_FILTER
};
enum { FILTER_COUNT = sizeof filters / sizeof *filters };

const struct gf_filter *gf_filter_at(int index)
{
    return index >= 0 && index < FILTER_COUNT ? filters[index] : NULL;
}

const struct gf_filter *gf_filter_find(const char *name)
{
    for (int i = 0; name && i < FILTER_COUNT; i++) {
        if (gf_suggest_same(name, filters[i]->name) || gf_suggest_listed(filters[i]->alias, name) ||
            gf_suggest_listed(filters[i]->names, name))
            return filters[i];
    }
    return NULL;
}

/* Returns the names of the filters that have the word as a synonym, such as "median, bilateral" for
 * "denoise"; NULL if there is none. They are valid until the thread's next call. */
static const char *find_synonym(const char *word)
{
    static _Thread_local char names[100];
    *names = '\0';
    for (int i = 0; i < FILTER_COUNT; i++) {
        if (gf_suggest_listed(filters[i]->synonyms, word))
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                     *names ? "' or '" : "", filters[i]->name);
    }
    return *names ? names : NULL;
}

const char *gf_filter_suggest(const char *name)
{
    const char *best = name ? find_synonym(name) : NULL;
    int distance = 0;
    if (best)
        return best;
    for (int i = 0; name && i < FILTER_COUNT; i++) {
        gf_suggest_consider(name, filters[i]->name, &best, &distance);
        if (filters[i]->alias)
            gf_suggest_consider(name, filters[i]->alias, &best, &distance);
    }
    return best;
}

const char *gf_filter_name(const struct gf_filter *filter)
{
    return filter ? filter->name : NULL;
}

const char *gf_filter_alias(const struct gf_filter *filter)
{
    return filter ? filter->alias : NULL;
}

const char *gf_filter_summary(const struct gf_filter *filter)
{
    return filter ? filter->summary : NULL;
}

const char *gf_filter_definition(const struct gf_filter *filter)
{
    return filter ? filter->definition : NULL;
}

const char *gf_filter_example(const struct gf_filter *filter)
{
    return filter ? filter->example : NULL;
}

const struct gf_param *gf_filter_params(const struct gf_filter *filter)
{
    static const struct gf_param none[] = {{0}};
    if (!filter)
        return NULL;
    return filter->params ? filter->params : none;
}

/* The CUDA kernels of a filter, and the kernel that a stage runs. */

/* Returns the element *index of the list. Returns NULL if the list is shorter, and subtracts its
 * length from *index, so that the next list can be searched. */
static const struct gf_variant *element(const struct gf_variant *list, int *index)
{
    for (; list && list->name; list++) {
        if (!(*index)--)
            return list;
    }
    return NULL;
}

const struct gf_variant *gf_filter_variant_at(const struct gf_filter *filter, int index)
{
    const struct gf_filter *const owners[] = {&gf_point, filter};
    const struct gf_variant *found = NULL, *list;
    for (int i = filter->kind == GF_POINT && filter != &gf_point ? 0 : 1; !found && i < 2; i++) {
        found = element(owners[i]->cuda, &index);
        for (int k = 0; !found && (list = gf_studied_variants(owners[i], k)); k++)
            found = element(list, &index);
    }
    return found;
}

const struct gf_variant *gf_filter_naive(const struct gf_filter *filter)
{
    return gf_filter_variant_at(filter, 1);
}

const char *gf_filter_variant(const struct gf_filter *filter, int index, const char **summary)
{
    const struct gf_variant *const variant =
        filter && index >= 0 ? gf_filter_variant_at(filter, index) : NULL;
    if (summary)
        *summary = variant ? variant->summary : NULL;
    return variant ? variant->name : NULL;
}

const struct gf_filter *gf_stage_variants(const struct gf_stage *stage)
{
    const struct gf_point_list *const points = stage->filter == &gf_point ? stage->params : NULL;
    return points && points->count == 1 ? points->item[0].filter : stage->filter;
}

gf_launcher *gf_stage_launcher(const struct gf_stage *stage)
{
    if (stage->variant && stage->variant->launch)
        return stage->variant->launch;
    return gf_stage_has_floats(stage) || !stage->filter->cuda ? stage->filter->cuda_floats->launch
                                                              : stage->filter->cuda[0].launch;
}

enum gf_status gf_filter_check_kernels(const struct gf_filter *filter, struct gf_error *error)
{
    if (!filter->cpu || filter->cuda || filter->cuda_floats)
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "%s has no CUDA kernel and runs on the CPU only",
                   filter->name);
}

enum gf_status gf_chain_check_kernels(const struct gf_chain *chain, struct gf_error *error)
{
    for (int i = 0; i < chain->count; i++)
        GF_TRY(gf_filter_check_kernels(chain->item[i].filter, error));
    return GF_OK;
}

bool gf_stage_needs_extremes(const struct gf_stage *stage)
{
    if (stage->filter != &gf_point)
        return false;
    const struct gf_point_list *const points = stage->params;
    const struct gf_filter *const filter = points->item[0].filter;
    return filter->extremes && filter->extremes(points->item[0].params);
}

bool gf_stage_marks_extremes(const struct gf_stage *stage)
{
    return stage->variant && stage->variant->count ? stage->variant->count_extremes
                                                   : gf_stage_needs_extremes(stage);
}

gf_counter *gf_stage_counter(const struct gf_stage *stage)
{
    if (stage->variant && stage->variant->count)
        return stage->variant->count;
    return gf_stage_needs_extremes(stage) ? GF_LAUNCHER(gf_extremes_cuda)
                                          : GF_LAUNCHER(gf_histogram_cuda);
}
