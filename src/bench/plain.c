/* Compiled only into the copy that plain.h describes; the names of the filters here are those of
 * the copy. */
#ifdef GF_PLAIN
#include "bench/plain.h"

#include <string.h>

#include "pixel/histogram.h"
#include "pixel/orient.h"
#include "pixel/point.h"

#define GF_FILTER(stem) extern const struct gf_filter gf_##stem##_filter;
#include "filters/filters.def"
#undef GF_FILTER

const struct gf_filter *gf_plain_filter(const char *name)
{
    static const struct gf_filter *const filters[] = {
        &gf_point,
        &gf_orient,
#define GF_FILTER(stem) &gf_##stem##_filter,
#include "filters/filters.def"
#undef GF_FILTER
    };
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if (!strcmp(filters[i]->name, name))
            return filters[i];
    }
    return NULL;
}

void gf_plain_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                            struct gf_histogram *histogram)
{
    gf_histogram_add(view, statistic, histogram);
}
#endif
