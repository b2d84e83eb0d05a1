#include <string.h>

#include "chain/plan.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"
#include "pixel/region/region.h"

const struct gf_filter *gf_plan_stage_filter(const struct gf_stage *stage, int i)
{
    if (stage->filter == &gf_point) {
        const struct gf_point_run *const run = stage->params;
        return i < run->count ? run->item[i].filter : NULL;
    }
    if (stage->filter == &gf_region)
        return i ? NULL : ((const struct gf_region_run *)stage->params)->written;
    if (stage->filter != &gf_fused)
        return i ? NULL : stage->filter;
    const struct gf_fused_run *const run = stage->params;
    for (int part = 0; part < GF_FUSED_PARTS; part++) {
        const int count = run->part[part].filter ? gf_plan_stage_filters(&run->part[part]) : 0;
        if (i < count)
            return gf_plan_stage_filter(&run->part[part], i);
        i -= count;
    }
    return NULL;
}

int gf_plan_stage_filters(const struct gf_stage *stage)
{
    int count = 0;
    while (gf_plan_stage_filter(stage, count))
        count++;
    return count;
}

/* This function uses strlen(), because each run names its stages: snprintf() would take a third of
 * a tiny picture's time. */
void gf_plan_stage_name(const struct gf_stage *stage, char *name, size_t size)
{
    const struct gf_filter *filter;
    size_t length = 0;
    for (int i = 0; (filter = gf_plan_stage_filter(stage, i)); i++) {
        if (i && length + 1 < size)
            name[length++] = '+';
        const size_t letters = strlen(filter->name), room = size - 1 - length;
        memcpy(name + length, filter->name, letters < room ? letters : room);
        length += letters < room ? letters : room;
    }
    name[length] = '\0';
}
