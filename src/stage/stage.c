/* Binds a filter to a format, and evaluates the filter's declaration for the stage. */
#include "stage/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "stage/border.h"

const char *const gf_border_names[] = {"edge", "reflect", "wrap", "constant", NULL};
#define GRAVITIES \
    "centre", "north", "northeast", "east", "southeast", "south", "southwest", "west", \
        "northwest", "center"
const char *const gf_gravity_names[] = {GRAVITIES, NULL};
const char *const gf_window_names[] = {GRAVITIES, "attention", "entropy", NULL};

enum gf_status gf_stage_bind(struct gf_stage *stage, const struct gf_filter *filter,
                             const void *params, struct gf_format in, struct gf_error *error)
{
    *stage = (struct gf_stage){.filter = filter, .params = params, .in = in, .out = in};
    if (!filter->shape)
        return GF_OK;
    struct gf_error detail = {0};
    const enum gf_status status = filter->shape(params, in, &stage->out, &detail);
    return status ? gf_fail(error, status, "%s: %s", filter->name, detail.text) : GF_OK;
}

enum gf_statistic gf_stage_statistic(const struct gf_stage *stage)
{
    return stage->filter->statistic ? stage->filter->statistic(stage->params) : GF_STATISTIC_NONE;
}

enum gf_status gf_stage_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_filter *const filter = stage->filter;
    gf_stage_release(stage);
    if (filter->constants_size)
        GF_TRY(gf_stage_constants(stage, filter->constants_size, error));
    return filter->prepare ? filter->prepare(stage, error) : GF_OK;
}

void gf_stage_release(struct gf_stage *stage)
{
    free(stage->constants);
    stage->constants = NULL;
    stage->constants_size = 0;
}

enum gf_status gf_stage_constants(struct gf_stage *stage, size_t size, struct gf_error *error)
{
    free(stage->constants);
    stage->constants = calloc(1, size);
    stage->constants_size = stage->constants ? size : 0;
    return stage->constants ? GF_OK : gf_fail_memory(error);
}

enum gf_status gf_stage_prepare_parts(struct gf_stage *stage, struct gf_stage *part, int parts,
                                      size_t *at, size_t at_bytes, struct gf_error *error)
{
    size_t size = gf_part_bytes(at_bytes);
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < parts; i++) {
        if (part[i].filter)
            status = gf_stage_prepare(&part[i], error);
        at[i] = size;
        size += gf_part_bytes(part[i].constants_size);
    }
    GF_THEN(status, gf_stage_constants(stage, size, error));
    if (!status)
        memcpy(stage->constants, at, at_bytes);
    for (int i = 0; i < parts; i++) {
        if (!status && part[i].constants_size)
            memcpy((char *)stage->constants + at[i], part[i].constants, part[i].constants_size);
        gf_stage_release(&part[i]);
    }
    return status;
}

size_t gf_stage_cuda_scratch(const struct gf_stage *stage, int rows)
{
    if (stage->variant && stage->variant->scratch)
        return stage->variant->scratch(stage, rows);
    if (gf_stage_has_floats(stage))
        return stage->filter->cuda_floats->scratch
                   ? stage->filter->cuda_floats->scratch(stage, rows)
                   : 0;
    return stage->filter->cuda_scratch ? stage->filter->cuda_scratch(stage, rows) : 0;
}

int gf_stage_pictures(const struct gf_stage *stage,
                      const struct gf_picture *list[GF_STAGE_PICTURES_MAX])
{
    return stage->filter->pictures ? stage->filter->pictures(stage->params, list) : 0;
}

int gf_stage_border(const struct gf_stage *stage)
{
    for (const struct gf_param *param = stage->filter->params; param && param->name; param++) {
        if (param->choices == gf_border_names)
            return *(const int *)((const char *)stage->params + param->offset);
    }
    return GF_BORDER_EDGE;
}

int gf_filter_smooth(const struct gf_filter *filter, const void *params)
{
    if (filter->smooth)
        return filter->smooth(params);
    for (const struct gf_param *param = filter->params; param && param->name; param++) {
        if (param->greatest == GF_SMOOTH_MOST && !strcmp(param->name, "smooth"))
            return *(const int *)((const char *)params + param->offset);
    }
    return 1;
}

bool gf_stage_needs_whole(const struct gf_stage *stage)
{
    if (stage->filter->radius)
        return gf_stage_border(stage) == GF_BORDER_WRAP;
    return stage->filter->needs_whole && stage->filter->needs_whole(stage->params);
}

bool gf_stage_rows_known(const struct gf_stage *stage)
{
    return stage->filter->radius || stage->filter->input_rows_most;
}

int gf_stage_radius(const struct gf_stage *stage)
{
    return stage->filter->radius ? stage->filter->radius(stage->params) : 0;
}

static void rows_in_reach(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const int radius = gf_stage_radius(stage), height = stage->in.height;
    const bool is_beyond = y0 < radius || y1 + radius > height;
    const bool wraps = is_beyond && gf_stage_border(stage) == GF_BORDER_WRAP;
    *first = y0 - radius < 0 || wraps ? 0 : y0 - radius;
    *end = y1 + radius > height || wraps ? height : y1 + radius;
}

void gf_stage_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    *first = y0;
    *end = y1;
    if (stage->filter->radius)
        rows_in_reach(stage, y0, y1, first, end);
    else if (stage->filter->input_rows)
        stage->filter->input_rows(stage, y0, y1, first, end);
}
