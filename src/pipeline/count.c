/* Counts the levels of a result. The pipeline's chain gets two filters at its end: one that takes
 * the histogram, which the engine counts as it does for equalize, and a crop, so that after the
 * counting only one pixel is left to do. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "pipeline/pipeline_state.h"
#include "pixel/histogram/histogram.h"
#include "pixel/point/point.h"

struct taker {
    struct gf_levels *levels;
};

static enum gf_statistic statistic(const void *params)
{
    (void)params;
    return GF_STATISTIC_CHANNELS;
}

/* Copies the histogram that the engine has counted, and changes no pixel. */
static void take(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct taker *const taker = stage->params;
    const struct gf_histogram *const histogram = stage->histogram;
    struct gf_levels *const levels = taker->levels;
    const size_t bytes = gf_histogram_counters(histogram) * sizeof *histogram->count;
    uint64_t *const count = realloc(levels->histogram.count, bytes);
    (void)builder;
    if (!count) {
        gf_point_fail_memory(builder);
        return;
    }
    levels->format = stage->in;
    levels->histogram = *histogram;
    levels->histogram.count = count;
    memcpy(count, histogram->count, bytes);
}

static const struct gf_filter taking = {
    .name = "levels",
    .summary = "takes the histogram of each channel",
    .params_size = sizeof(struct taker),
    .kind = GF_POINT,
    .statistic = statistic,
    .point = take,
};

/* Appends the two filters to the chain. */
static enum gf_status append(struct gf_chain *chain, struct gf_error *error)
{
    struct gf_chain crop;
    GF_TRY(gf_chain_parse("crop=1:1:0:0", &crop, error));
    struct taker *const taker = calloc(1, sizeof *taker);
    struct gf_chain_item *const grown =
        realloc(chain->item, (size_t)(chain->count + 2) * sizeof *grown);
    if (grown)
        chain->item = grown;
    if (!grown || !taker) {
        free(taker);
        gf_chain_free(&crop);
        return gf_fail_memory(error);
    }
    chain->item[chain->count++] = (struct gf_chain_item){.filter = &taking, .params = taker};
    chain->item[chain->count++] = crop.item[0];
    free(crop.item);
    return GF_OK;
}

enum gf_status gf_pipeline_count(struct gf_pipeline *pipeline, struct gf_input *input,
                                 struct gf_levels *levels, struct gf_error *error)
{
    struct gf_chain *const chain = &pipeline->chain;
    struct gf_image image = {.data = NULL};
    struct gf_picture_task task = {.input = input, .image_out = &image};
    const bool appended = chain->count > 1 && chain->item[chain->count - 2].filter == &taking;
    enum gf_status status = appended ? GF_OK : append(chain, error);
    if (!status) {
        ((struct taker *)chain->item[chain->count - 2].params)->levels = levels;
        gf_pipeline_begin_profile(pipeline);
        status = gf_input_format(input, &task.own_format, error);
    }
    if (!status)
        status = gf_pipeline_filter_task(pipeline, &task, error);
    gf_image_free(&image);
    return status;
}
