/* Moves the coefficients of a JPEG to another JPEG: options.lossless with a chain that only turns
 * the picture and cuts it at borders of its units (MCUs). */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "filters/crop/crop.h"
#include "pipeline/picture/branches.h"

bool gf_pipeline_moves(const struct gf_pipeline *pipeline, const struct gf_picture_task *task)
{
    const struct gf_destination *const destination = task->destination;
    const struct gf_options *const options = &pipeline->options;
    if (!options->lossless || !destination || !task->input)
        return false;
    if (task->own_format != GF_FILE_JPEG || (!destination->bytes && !destination->pattern))
        return false;
    enum gf_file_format written = options->format;
    if (destination->bytes && destination->bytes->format)
        written = destination->bytes->format;
    if (!written && destination->pattern)
        written = gf_file_format_named(destination->pattern);
    return !written || written == GF_FILE_JPEG;
}

extern const struct gf_filter gf_crop_filter;

/* Fails if a filter does more than turn and cut. */
static enum gf_status check_filters(const struct gf_pipeline *pipeline, const char *name,
                                    const struct gf_place *place, struct gf_error *error)
{
    const struct gf_chain *const chain = &pipeline->chain;
    const int box = gf_chain_next_box(chain, 0);
    const char *const other = box < chain->count   ? chain->item[box].filter->name
                              : *place->recoloured ? place->recoloured
                              : *place->lost       ? place->lost
                                                   : place->resampled;
    for (int i = 0; *other && i < chain->count; i++) {
        const struct gf_crop_params *const crop = chain->item[i].params;
        if (chain->item[i].filter == &gf_crop_filter && gf_gravity_is_found(crop->gravity))
            return gf_fail(error, GF_ERROR_UNFIT,
                           "%s: crop's gravity=%s looks for its part in decoded pixels: a JPEG "
                           "keeps its own with another gravity (options.lossless)",
                           name, gf_window_names[crop->gravity]);
    }
    return *other ? gf_fail(error, GF_ERROR_UNFIT,
                            "%s: %s computes pixels: a JPEG keeps its own with rotate=90, 180 and "
                            "270, hflip, vflip, transpose and crop alone (options.lossless)",
                            name, other)
                  : GF_OK;
}

/* Sets *move from the place of the result, of which *cut columns and rows cannot be had at its left
 * and top: a result begins at a border of units. */
static void find_move(const struct gf_source *source, const struct gf_place *place,
                      struct gf_format result, struct gf_coefficients_move *move, int cut[2])
{
    const int sides[2] = {result.width, result.height};
    *move = (struct gf_coefficients_move){.from = source->coefficients,
                                          .side = {source->format.width, source->format.height},
                                          .turned = place->turned};
    for (int i = 0; i < 2; i++) {
        const int axis = place->turned ? !i : i,
                  unit = gf_coefficients_unit(source->coefficients, axis),
                  first = (int)place->first[i];
        const bool mirrors = place->step[i] < 0;
        cut[i] = mirrors ? first % unit : (unit - first % unit) % unit;
        move->mirrors[axis] = mirrors;
        move->first[axis] = (mirrors ? first - cut[i] : first + cut[i]) / unit;
        move->result[i] = sides[i] - cut[i];
    }
}

static enum gf_status check_borders(const struct gf_pipeline *pipeline, const char *name,
                                    const struct gf_coefficients_move *move, const int cut[2],
                                    struct gf_error *error)
{
    const int *const sides = move->result;
    if (sides[0] < 1 || sides[1] < 1)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: no whole unit of %dx%d is in the result", name,
                       gf_coefficients_unit(move->from, 0), gf_coefficients_unit(move->from, 1));
    if (!cut[0] && !cut[1])
        return GF_OK;
    if (pipeline->options.lossless_trim) {
        gf_warn(&pipeline->options,
                "%s: the result is %dx%d, without %d column%s at its left and %d row%s at its top, "
                "which are no whole units of %dx%d (options.lossless=trim)",
                name, sides[0], sides[1], cut[0], cut[0] == 1 ? "" : "s", cut[1],
                cut[1] == 1 ? "" : "s", gf_coefficients_unit(move->from, 0),
                gf_coefficients_unit(move->from, 1));
        return GF_OK;
    }
    return gf_fail(error, GF_ERROR_UNFIT,
                   "%s: the result's %s cannot lie within units of %dx%d: end the chain with "
                   "crop=%d:%d:%d:%d, which options.lossless=trim does",
                   name,
                   !cut[1]  ? "left edge"
                   : cut[0] ? "left and top edges"
                            : "top edge",
                   gf_coefficients_unit(move->from, 0), gf_coefficients_unit(move->from, 1),
                   sides[0], sides[1], cut[0], cut[1]);
}

/* Finds how blocks move by the plan, whose result gets the size that can be had. */
static enum gf_status choose_move(const struct gf_pipeline *pipeline,
                                  const struct gf_source *source, const char *name,
                                  struct gf_plan *plan, struct gf_place *place,
                                  struct gf_coefficients_move *move, struct gf_error *error)
{
    int cut[2];
    gf_place_begin(place, source->format, 1);
    GF_TRY(gf_place_follow(place, plan, error));
    GF_TRY(check_filters(pipeline, name, place, error));
    find_move(source, place, plan->out, move, cut);
    GF_TRY(check_borders(pipeline, name, move, cut, error));
    for (int i = 0; i < 2; i++)
        place->first[i] += place->step[i] * cut[i];
    plan->out.width = move->result[0];
    plan->out.height = move->result[1];
    return GF_OK;
}

enum gf_status gf_pipeline_check_move(const struct gf_pipeline *pipeline,
                                      const struct gf_source *source, const char *name,
                                      struct gf_plan *plan, struct gf_error *error)
{
    struct gf_coefficients_move move;
    struct gf_place place;
    return choose_move(pipeline, source, name, plan, &place, &move, error);
}

/* Plans the chain, finds how blocks move, and opens the output. */
static enum gf_status plan_move(struct gf_attempt *attempt, struct gf_branch *branch,
                                struct gf_coefficients_move *move, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    const struct gf_source *const source = attempt->source;
    const char *const name = gf_input_name(branch->task->input);
    struct gf_picture_task inner = *branch->task;
    inner.destination = NULL;
    inner.output = NULL;
    const struct gf_options *const options = &pipeline->options;
    const char *const unused = options->quality_chosen                       ? "--quality"
                               : options->subsampling != GF_SUBSAMPLING_AUTO ? "--subsampling"
                               : options->jpeg_encoder == GF_JPEG_PERCEPTUAL ? "--jpeg-encoder"
                                                                             : NULL;
    if (unused)
        gf_warn(options, "%s: stays as it is coded (options.lossless): %s changes nothing", name,
                unused);
    branch->end = pipeline->chain.count;
    if (gf_chain_next_box(&pipeline->chain, 0) < branch->end)
        return check_filters(pipeline, name, &branch->place, error);
    GF_TRY(gf_pipeline_plan_part(pipeline, &inner, &pipeline->chain, source->format,
                                 &branch->request, &branch->plan, error));
    GF_TRY(choose_move(pipeline, source, name, &branch->plan, &branch->place, move, error));
    if (!branch->task->output)
        GF_TRY(gf_pipeline_open_output(pipeline, branch->task, branch->plan.out, error));
    return branch->task->file_format == GF_FILE_JPEG
               ? GF_OK
               : gf_fail(error, GF_ERROR_UNFIT,
                         "%s: its name says %s, but %s is a JPEG: give options.format",
                         gf_output_name(branch->task->output),
                         gf_file_format_name(branch->task->file_format), name);
}

static enum gf_status move_rows(struct gf_pipeline *pipeline, struct gf_source *source,
                                struct gf_sink *sink, struct gf_error *error)
{
    const size_t bytes = gf_source_row_bytes(source);
    const double begin_s = gf_now();
    unsigned char *const row = malloc(bytes);
    enum gf_status status = row ? GF_OK : gf_fail_memory(error);
    for (int i = gf_source_rows(source); !status && i; i--) {
        status = source->read(source, 1, row, bytes, error);
        GF_THEN(status, sink->write(sink, 1, row, bytes, error));
        GF_THEN(status, gf_time_check(error));
    }
    free(row);
    GF_THEN(status, source->finish(source, error));
    gf_spans_add(&pipeline->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(), 0);
    const double coded_s = gf_now();
    GF_THEN(status, sink->finish(sink, error));
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, coded_s, gf_now(), 0);
    return status;
}

enum gf_status gf_branch_move(struct gf_attempt *attempt, struct gf_branch *branch,
                              struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_source *const source = attempt->source;
    struct gf_picture_task *const task = branch->task;
    struct gf_coefficients_move move;
    struct gf_sink *sink = NULL;
    GF_TRY(plan_move(attempt, branch, &move, error));
    GF_TRY(gf_pipeline_check_memory(pipeline, task, source, &branch->plan, error));
    struct gf_metadata metadata = source->metadata; /* a copy; its blobs belong to the source */
    struct gf_format format = branch->plan.out;
    metadata.move = &move;
    metadata.inks = move.from->components == 4;
    format.channels = metadata.inks ? 4 : format.channels;
    gf_pipeline_take_memory(pipeline, task->codec_bytes);
    enum gf_status status =
        gf_pipeline_open_sink(pipeline, task, format, &branch->place, NULL,
                              branch->plan.stage_count > 0, &metadata, &sink, error);
    GF_THEN(status, move_rows(pipeline, source, sink, error));
    if (sink)
        sink->close(sink);
    gf_pipeline_return_memory(pipeline, task->codec_bytes);
    pipeline->profile.lanes = 1;
    pipeline->profile.band_rows = gf_coefficients_unit(move.from, 1);
    return status ? status : gf_pipeline_describe_plan(pipeline, task, &branch->plan, error);
}
