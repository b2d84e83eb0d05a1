/* Reads the picture that is compared. */
#include "study/compare/compare.h"
#include "chain/chain.h"
#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"

static enum gf_status read_rows(struct gf_source *source, struct gf_image *picture,
                                struct gf_error *error)
{
    enum gf_status status = gf_image_alloc(picture, source->format, error);
    if (!status)
        status = source->read(source, picture->format.height, picture->data, picture->pitch, error);
    if (!status && source->finish)
        status = source->finish(source, error);
    return status;
}

/* The stages see the picture upright, as they would in a run. */
static enum gf_status turn_upright(struct gf_image *picture, int orientation,
                                   struct gf_error *error)
{
    const struct gf_chain nothing = {0};
    struct gf_plan plan;
    struct gf_image upright = {0};
    struct gf_timing timing;
    enum gf_status status = gf_plan_make(&nothing, picture->format, orientation, &plan, error);
    if (!status && plan.stage_count) {
        const struct gf_compare_subject subject = {.stage = &plan.stage[0], .in = picture};
        status = gf_stage_prepare(&plan.stage[0], error);
        if (!status)
            status = gf_image_alloc(&upright, plan.out, error);
        if (!status)
            status = gf_compare_cpu_time(&subject, 1, 0, &upright, NULL, &timing, error);
        gf_image_free(picture);
        *picture = upright;
    }
    gf_plan_free(&plan);
    return status;
}

enum gf_status gf_compare_read(const char *path, const struct gf_options *options,
                               struct gf_image *picture, struct gf_error *error)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    enum gf_status status = gf_input_open(path, false, &input, error);
    if (!status)
        status = gf_source_open(input, options, &source, error);
    if (!status)
        status = read_rows(source, picture, error);
    if (!status && options->autorotate)
        status = turn_upright(picture, source->metadata.orientation, error);
    if (source)
        source->close(source);
    if (input)
        gf_input_close(input);
    return status;
}
