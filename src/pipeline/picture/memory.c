/* Computes how many bytes of host memory a picture needs for codecs, stages and second pictures,
 * and how many it may use; and how long it may take. */
#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "engine/layout.h"
#include "codec/layouts/layouts.h"
#include "pipeline/pipeline_state.h"

/* The least limit; a lower one would refuse pictures that fit into a processor's cache. */
#define LIMIT_LEAST ((uint64_t)1 << 20)
/* The bytes that bands get if codecs and pictures use all the rest. */
#define BANDS_LEAST ((uint64_t)8 << 20)

uint64_t gf_pipeline_image_bytes(struct gf_format format)
{
    return (uint64_t)gf_row_bytes(format) * (uint64_t)format.height;
}

uint64_t gf_pipeline_whole_bytes(const struct gf_pipeline *pipeline, const struct gf_plan *plan)
{
    uint64_t most = 0, before = 0;
    if (pipeline->on_cuda) /* whole pictures lie in device memory, if that has room */
        return 0;
    for (int s = 0; s + 1 < plan->segment_count; s++) {
        const uint64_t bytes = gf_pipeline_image_bytes(plan->segment[s].out);
        most = before + bytes > most ? before + bytes : most;
        before = bytes;
    }
    return most;
}

/* If pipelines share a budget, each picture may use all of it: any worker of a batch may get a
 * large one. */
uint64_t gf_pipeline_memory_limit(const struct gf_pipeline *pipeline)
{
    const uint64_t own = pipeline->options.memory_bytes,
                   shared = pipeline->memory_budget ? pipeline->memory_budget->limit : 0;
    const uint64_t limit = !own ? gf_memory_picture_bytes() : shared > own ? shared : own;
    return limit > LIMIT_LEAST ? limit : LIMIT_LEAST;
}

/* Whether the pipeline belongs to a worker of a batch, whose own share of the memory is for bands
 * alone. All that workers hold, bands too, is then taken from the shared budget. */
static bool is_workers(const struct gf_pipeline *pipeline)
{
    return pipeline->memory_budget &&
           pipeline->memory_budget->limit > pipeline->options.memory_bytes;
}

uint64_t gf_pipeline_band_bytes(const struct gf_pipeline *pipeline, uint64_t taken)
{
    const uint64_t own = pipeline->options.memory_bytes, half = own / 2;
    const uint64_t least = half < BANDS_LEAST ? half : BANDS_LEAST,
                   limit = is_workers(pipeline) ? pipeline->memory_budget->limit : own;
    const uint64_t rest = limit > taken && limit - taken > least ? limit - taken : least;
    if (!is_workers(pipeline) || pipeline->memory_held >= limit)
        return rest;
    const uint64_t share = own > taken && own - taken > half ? own - taken : half;
    return rest < share ? rest : share;
}

/* Fails if the picture needs more bytes than it may use; memory.why says for what. */
static enum gf_status check_bytes(const struct gf_pipeline *pipeline, const char *name,
                                  struct gf_codec_memory memory, struct gf_error *error)
{
    return gf_memory_check(name, memory.why, memory.bytes, gf_pipeline_memory_limit(pipeline),
                           &pipeline->options, error);
}

uint64_t gf_pipeline_second_bytes(const struct gf_plan *plan)
{
    uint64_t bytes = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
        const int count = gf_stage_pictures(&plan->stage[s], list);
        for (int i = 0; i < count; i++)
            bytes += gf_picture_bytes(list[i]) +
                     (uint64_t)list[i]->floats.pitch * (uint64_t)list[i]->floats.format.height;
    }
    return bytes;
}

enum gf_status gf_pipeline_check_memory(const struct gf_pipeline *pipeline,
                                        struct gf_picture_task *task,
                                        const struct gf_source *source, const struct gf_plan *plan,
                                        struct gf_error *error)
{
    const char *const name = task->input ? gf_input_name(task->input) : "picture";
    const bool makes_image = task->image_out && !task->image_out->data && !task->out_on_device;
    const struct gf_codec_memory second = {gf_pipeline_second_bytes(plan),
                                           "second pictures are held whole"};
    struct gf_codec_memory in = {0}, out = {0}, whole, all;
    if (source)
        in = source->memory;
    const struct gf_options options = gf_pipeline_sink_options(pipeline, task);
    if (task->output)
        out = source && source->coefficients
                  ? source->memory /* the result has no more blocks than the picture */
                  : gf_tiles_memory(task->path, task->file_format, plan->out, &options);
    whole = (struct gf_codec_memory){gf_pipeline_whole_bytes(pipeline, plan) + task->image_bytes,
                                     "pictures between its filters are held whole"};
    if (!whole.bytes)
        whole.why = "it is held whole";
    whole.bytes += makes_image ? gf_pipeline_image_bytes(plan->out) : 0;
    all = (struct gf_codec_memory){second.bytes + in.bytes + whole.bytes + out.bytes,
                                   "it is decoded, filtered and encoded as a whole"};
    task->codec_bytes = in.bytes + out.bytes;
    task->second_bytes = second.bytes;
    GF_TRY(check_bytes(pipeline, name, second, error));
    if (source)
        GF_TRY(gf_memory_check_proportion(source, task->input, &pipeline->options, error));
    GF_TRY(check_bytes(pipeline, name, in, error));
    GF_TRY(check_bytes(pipeline, name, whole, error));
    if (task->output)
        GF_TRY(check_bytes(pipeline, gf_output_name(task->output), out, error));
    return check_bytes(pipeline, name, all, error);
}

void gf_pipeline_take_memory(struct gf_pipeline *pipeline, uint64_t bytes)
{
    const double begin_s = gf_now();
    const uint64_t bands = is_workers(pipeline) ? pipeline->options.memory_bytes : 0;
    if (!pipeline->memory_budget || !(bytes + bands))
        return;
    pipeline->memory_held = bytes + bands;
    gf_memory_budget_acquire(pipeline->memory_budget, pipeline->memory_held);
    gf_time_limit_excuse(begin_s);
}

void gf_pipeline_return_memory(struct gf_pipeline *pipeline, uint64_t bytes)
{
    struct gf_memory_budget *const budget = pipeline->memory_budget;
    if (!pipeline->memory_held)
        return;
    /* If every pipeline kept its buffers, they would add up to more than the budget. */
    if (pipeline->buffers.backend && (bytes > budget->share || gf_memory_budget_is_awaited(budget)))
        gf_buffer_pool_clear(&pipeline->buffers);
    gf_memory_budget_release(budget, pipeline->memory_held);
    pipeline->memory_held = 0;
}

/* Lets a worker's picture whose bands exceed the worker's share take the whole budget, and thus run
 * alone. Returns false if it has done so already. */
static bool run_alone(struct gf_pipeline *pipeline, uint64_t taken, struct gf_options *options)
{
    if (!is_workers(pipeline) || pipeline->memory_held >= pipeline->memory_budget->limit)
        return false;
    gf_pipeline_return_memory(pipeline, 0);
    gf_pipeline_take_memory(pipeline, pipeline->memory_budget->limit);
    options->memory_bytes = gf_pipeline_band_bytes(pipeline, taken);
    return true;
}

enum gf_status gf_pipeline_fit_bands(struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, uint64_t taken,
                                     struct gf_options *options, struct gf_schedule *schedule,
                                     struct gf_error *error)
{
    const int lanes = schedule->lanes;
    uint64_t bytes = 0;
    bool fits = false;
    enum gf_status status = GF_OK;
    while (!status && !fits) {
        struct gf_layout layout;
        status = gf_layout_make(schedule, &layout, error);
        bytes = status ? 0 : gf_layout_host_bytes(schedule, &layout);
        gf_layout_free(&layout);
        fits = bytes <= options->memory_bytes || schedule->lanes == 1;
        if (!fits)
            schedule->lanes = (schedule->lanes + 1) / 2;
        else if (bytes > options->memory_bytes && run_alone(pipeline, taken, options)) {
            schedule->lanes = lanes;
            fits = false;
        }
    }
    if (status || bytes <= options->memory_bytes + BANDS_LEAST)
        return status;
    const struct gf_codec_memory bands = {bytes + gf_pipeline_memory_limit(pipeline) -
                                              options->memory_bytes,
                                          "its filters need many rows at once"};
    return check_bytes(pipeline, task->input ? gf_input_name(task->input) : "picture", bands,
                       error);
}

double gf_pipeline_begin_time(const struct gf_pipeline *pipeline, struct gf_picture_task *task)
{
    const double outer = gf_time_limit(), seconds = pipeline->options.timeout_s;
    if (seconds > 0 && task->until_s <= 0)
        task->until_s = gf_now() + seconds;
    if (seconds > 0 && (outer <= 0 || task->until_s < outer))
        gf_time_limit_set(task->until_s);
    return outer;
}

void gf_pipeline_end_time(struct gf_picture_task *task, double outer)
{
    if (task->until_s > 0)
        task->until_s = gf_time_limit(); /* waiting for memory has moved the limit */
    gf_time_limit_set(outer);
}

void gf_pipeline_renew_limits(struct gf_picture_task *task)
{
    if (task->source || !gf_input_is_stream(task->input))
        return;
    task->until_s = 0;
    task->bytes_before = 0;
}

enum gf_status gf_pipeline_tell_time(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, enum gf_status status,
                                     struct gf_error *error)
{
    return gf_time_tell(task->input ? gf_input_name(task->input) : "picture",
                        pipeline->options.timeout_s, status, error);
}
