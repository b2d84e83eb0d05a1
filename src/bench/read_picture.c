#include "bench/read_picture.h"

#include "base/fail.h"
#include "base/memory_budget.h"
#include "base/pages.h"
#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/source.h"
#include "codec/io/input.h"

/* Runs a stage on the whole picture, in one band. */
static enum gf_status run_stage(struct gf_stage *stage, const struct gf_image *in,
                                const struct gf_image *out, struct gf_error *error)
{
    const struct gf_filter *const filter = stage->filter;
    const struct gf_view from = gf_image_view(in), to = gf_image_view(out);
    const size_t bytes = filter->cpu_scratch ? filter->cpu_scratch(stage, to.rows) : 0;
    void *const scratch = gf_pages_alloc(bytes);
    if (!scratch)
        return gf_fail_memory(error);
    filter->cpu(stage, &from, &to, scratch);
    gf_pages_free(scratch, bytes);
    return GF_OK;
}

static enum gf_status turn_upright(struct gf_image *picture, int orientation,
                                   struct gf_error *error)
{
    const struct gf_chain nothing = {0};
    struct gf_plan plan;
    struct gf_image upright = {0};
    enum gf_status status = gf_plan_make(&nothing, picture->format, orientation, &plan, error);
    if (!status && plan.stage_count) {
        status = gf_stage_prepare(&plan.stage[0], error);
        if (!status)
            status = gf_image_alloc(&upright, plan.out, error);
        if (!status)
            status = run_stage(&plan.stage[0], picture, &upright, error);
        gf_image_free(picture);
        *picture = upright;
    }
    gf_plan_free(&plan);
    return status;
}

static enum gf_status check_memory(const char *path, const struct gf_options *options,
                                   const struct gf_source *source, bool compared,
                                   struct gf_error *error)
{
    const uint64_t pixels = (uint64_t)source->format.width * (uint64_t)source->format.height,
                   bytes = (uint64_t)gf_row_bytes(source->format) * (uint64_t)source->format.height;
    const bool turns = options->autorotate && source->metadata.orientation > 1;
    return gf_memory_check(
        path, compared ? "it is compared as a whole" : "it is read as a whole",
        source->memory.bytes + bytes * (1U + turns + compared) +
            (compared ? 2 * pixels * sizeof(float) : 0),
        options->memory_bytes ? options->memory_bytes : gf_memory_picture_bytes(), options, error);
}

enum gf_status gf_read_picture(const char *path, const struct gf_options *options, bool compared,
                               struct gf_image *picture, struct gf_error *error)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    enum gf_status status = gf_input_open(path, false, &input, error);
    if (!status)
        status = gf_source_open(input, options, &source, error);
    if (!status)
        status = gf_memory_check_proportion(source, input, options, error);
    if (!status)
        status = check_memory(path, options, source, compared, error);
    if (!status)
        status = gf_source_read_all(source, picture, error);
    if (!status && options->autorotate)
        status = turn_upright(picture, source->metadata.orientation, error);
    if (source)
        source->close(source);
    if (input)
        gf_input_close(input);
    return status;
}
