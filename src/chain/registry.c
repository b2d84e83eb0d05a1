/* The list of all filters, and functions that find a filter by its name. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "gpufilter/filter.h"
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
 * "denoise"; NULL if there is none. */
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
