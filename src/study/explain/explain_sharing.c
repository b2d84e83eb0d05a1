/* Finds the stages that the outputs of one picture have in common, by their plans. */

#include "base/fail.h"
#include "study/explain/explain.h"
#include "codec/codec.h"
#include "codec/io/input.h"
#include "pipeline/pipeline_internal.h"

/* The plan of one chain, and the fraction of its size at which the picture is decoded. */
struct way {
    struct gf_pipeline *pipeline;
    struct gf_input *input;
    struct gf_source *source; /* the source of the profile to which the plan refers */
    struct gf_plan plan;
    int reduction;
};

static enum gf_status plan_way(const char *input, const char *chain,
                               const struct gf_options *options, struct way *way,
                               struct gf_error *error)
{
    struct gf_options own = *options;
    own.device = GF_DEVICE_CPU;
    own.codec = GF_CODEC_CPU;
    own.warn = NULL;
    GF_TRY(gf_pipeline_open(chain, &own, &way->pipeline, error));
    GF_TRY(gf_input_open(input, false, &way->input, error));
    GF_TRY(gf_source_open(way->input, &own, &way->source, error));
    struct gf_plan_request request = gf_pipeline_request(way->pipeline, way->source);
    way->reduction = request.reduction;
    request.apart = true;
    return gf_plan_make_for(gf_pipeline_chain(way->pipeline), way->source->format, &request,
                            &way->plan, error);
}

static void close_way(struct way *way)
{
    gf_plan_free(&way->plan);
    if (way->source)
        way->source->close(way->source);
    if (way->input)
        gf_input_close(way->input);
    gf_pipeline_close(way->pipeline);
}

enum gf_status gf_explain_sharing(const char *input, const char *const *chain, int last,
                                  const struct gf_options *options, struct gf_sharing *sharing,
                                  struct gf_error *error)
{
    struct way own = {.pipeline = NULL};
    enum gf_status status = plan_way(input, chain[last], options, &own, error);
    *sharing = (struct gf_sharing){.with = -1};
    for (int i = 0; !status && i < last; i++) {
        struct way other = {.pipeline = NULL};
        status = plan_way(input, chain[i], options, &other, error);
        const int common = status ? 0 : gf_plan_common(&own.plan, 0, &other.plan, 0);
        if (!status && own.reduction == other.reduction &&
            (sharing->with < 0 || common > sharing->stages))
            *sharing = (struct gf_sharing){.with = i, .stages = common};
        close_way(&other);
    }
    close_way(&own);
    return status;
}
