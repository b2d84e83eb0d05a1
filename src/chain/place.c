#include "chain/plan.h"

#include "filters/crop/crop.h"
#include "pixel/orient/orient.h"
#include "pixel/resample/resample.h"
#include "pixel/warp/warp.h"

extern const struct gf_filter gf_crop_filter;

void gf_place_begin(struct gf_place *place, struct gf_format picture, int reduction)
{
    *place = (struct gf_place){.width = picture.width,
                               .height = picture.height,
                               .reduction = reduction > 1 ? reduction : 1,
                               .step = {1, 1}};
}

bool gf_place_is_same(const struct gf_place *place, struct gf_format result)
{
    return !place->turned && place->reduction == 1 && place->first[0] == 0 &&
           place->first[1] == 0 && place->step[0] == 1 && place->step[1] == 1 &&
           result.width == place->width && result.height == place->height;
}

static void move(struct gf_place *place, int axis, double first, double step)
{
    place->first[axis] += first * place->step[axis];
    place->step[axis] *= step;
}

static void orient(struct gf_place *place, struct gf_orient orient, struct gf_format result)
{
    if (orient.transpose) {
        const double first = place->first[0], step = place->step[0];
        place->first[0] = place->first[1];
        place->step[0] = place->step[1];
        place->first[1] = first;
        place->step[1] = step;
        place->turned = !place->turned;
    }
    if (orient.mirror_x)
        move(place, 0, result.width, -1);
    if (orient.mirror_y)
        move(place, 1, result.height, -1);
}

static void resample(struct gf_place *place, const struct gf_resample *resample)
{
    const struct gf_resample_axis *const x = &resample->column_axis, *const y = &resample->row_axis;
    move(place, 0, x->offset * x->scale, x->scale);
    move(place, 1, y->offset * y->scale, y->scale);
}

/* Applies one stage to the place. The constants of the stage say how it moves pixels. */
static void follow(struct gf_place *place, const struct gf_stage *stage)
{
    const struct gf_filter *const filter = stage->filter;
    const struct gf_crop_origin *const origin = stage->constants;
    if (filter->cpu == gf_orient_cpu) {
        orient(place, *(const struct gf_orient *)stage->constants, stage->out);
    } else if (filter->cpu == gf_resample_cpu) {
        resample(place, stage->constants);
    } else {
        move(place, 0, origin->x, 1);
        move(place, 1, origin->y, 1);
    }
}

static bool is_followed(const struct gf_filter *filter)
{
    return filter->cpu == gf_orient_cpu || filter->cpu == gf_resample_cpu ||
           filter == &gf_crop_filter;
}

static bool is_warp(const struct gf_stage *stage)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_plan_stage_filter(stage, i)); i++) {
        if (filter->cpu == gf_warp_cpu)
            return true;
    }
    return false;
}

static bool moves(const struct gf_stage *stage)
{
    return stage->filter->kind == GF_GEOMETRY || is_warp(stage) ||
           stage->in.width != stage->out.width || stage->in.height != stage->out.height;
}

enum gf_status gf_place_follow(struct gf_place *place, const struct gf_plan *plan,
                               struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < plan->stage_count; i++) {
        struct gf_stage stage = plan->stage[i]; /* a copy with constants of its own */
        const bool follows = is_followed(stage.filter);
        char *const name = follows         ? place->resampled
                           : moves(&stage) ? place->lost
                                           : place->recoloured;
        stage.constants = NULL;
        if (follows) {
            status = gf_stage_prepare(&stage, error);
            if (!status)
                follow(place, &stage);
            gf_stage_release(&stage);
        }
        if (!*name && (!follows || stage.filter->cpu == gf_resample_cpu))
            gf_plan_stage_name(&stage, name, GF_PLACE_NAME_SIZE);
    }
    return status;
}
