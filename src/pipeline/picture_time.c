#include "base/time_limit.h"
#include "codec/io/input.h"
#include "pipeline/pipeline_state.h"

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
        task->until_s = gf_time_limit(); /* waiting has moved it */
    gf_time_limit_set(outer);
}

void gf_pipeline_renew_limits(struct gf_picture_task *task)
{
    if (task->source || !gf_input_is_stream(task->input))
        return;
    task->until_s = 0;
    task->bytes_before = 0;
}

/* Replaces the error if the time is up: a decoder whose input ends with the time reports a damaged
 * picture. */
enum gf_status gf_pipeline_tell_time(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, enum gf_status status,
                                     struct gf_error *error)
{
    if (status != GF_ERROR_INPUT || pipeline->options.timeout_s <= 0 || !gf_time_is_up())
        return status;
    return gf_fail(error, GF_ERROR_INPUT, "%s: takes longer than options.timeout_s=%g",
                   task->input ? gf_input_name(task->input) : "picture",
                   pipeline->options.timeout_s);
}
