/* Finds the next picture of an input, plans a picture, and opens its output. */
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/formats.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/layouts/layouts.h"
#include "pipeline/pipeline_state.h"

/* Reads past the line breaks, blanks and zeros that may follow a picture. */
static enum gf_status pass_gap(struct gf_input *input, struct gf_error *error)
{
    unsigned char next, taken;
    size_t got;
    GF_TRY(gf_input_peek(input, &next, 1, &got, error));
    while (got && memchr("\n\r ", next, 4)) {
        GF_TRY(gf_input_read(input, &taken, 1, &got, error));
        GF_TRY(gf_input_peek(input, &next, 1, &got, error));
    }
    return GF_OK;
}

enum gf_status gf_pipeline_find_next(const struct gf_pipeline *pipeline,
                                     struct gf_picture_task *task, bool *found,
                                     struct gf_error *error)
{
    unsigned char head[256];
    size_t got = 0;
    struct gf_input *const input = task->input;
    const char *const name = gf_input_name(input);
    /* Whether programs take the file for one picture. Only previews that the header does not name
     * follow it then, and data that only the makers of cameras read. */
    const bool lone = (!gf_input_is_stream(input) || task->destination->bytes) &&
                      task->own_format != GF_FILE_PNM && task->own_format != GF_FILE_PAM;
    const char *const kind = lone ? gf_file_format_name(task->own_format) : "picture";
    *found = false;
    if (!gf_file_format_has_end(task->own_format) || task->destination->first_alone)
        return GF_OK;
    gf_input_start_here(input);
    enum gf_status status = pass_gap(input, error);
    gf_input_start_here(input);
    GF_THEN(status, gf_input_peek(input, head, sizeof head, &got, error));
    if (status || !got)
        return status;
    const enum gf_file_format format = gf_file_format_of(head, got);
    /* A picture of a format that cannot be read counts as found; opening it fails. */
    *found = lone ? format == task->own_format : format || gf_foreign_format(head, got);
    if (!*found && !(lone && format == GF_FILE_AUTO))
        gf_warn(&pipeline->options, "%s: what follows picture %d is no %s: left out", name,
                task->number, kind);
    if (*found && !task->destination->several) {
        gf_warn(&pipeline->options, "%s: another %s follows picture %d: left out (to have it: %s)",
                name, kind, task->number, task->destination->several_hint);
        *found = false;
    }
    return GF_OK;
}

/* Planning a picture and opening its output, together, since each depends on the other. */

void gf_pipeline_limit_output(const struct gf_pipeline *pipeline,
                              const struct gf_picture_task *task)
{
    const struct gf_options *const options = &pipeline->options;
    gf_output_set_options(
        task->output, (struct gf_output_options){options->no_clobber, options->sync,
                                                 options->max_output_bytes, task->bytes_before});
    struct timespec times[2];
    if (options->keep_times && task->input && gf_input_times(task->input, times))
        gf_output_set_times(task->output, times);
}

static enum gf_status open_bytes(const struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                 struct gf_error *error)
{
    const enum gf_file_format wanted = task->destination->bytes->format;
    struct gf_options options = pipeline->options;
    options.format = wanted ? wanted : options.format;
    GF_TRY(gf_sink_format(NULL, &options, task->own_format, &task->file_format, error));
    GF_TRY(gf_output_open_memory(task->destination->bytes->name, &task->output, error));
    gf_pipeline_limit_output(pipeline, task);
    return GF_OK;
}

enum gf_status gf_pipeline_open_output(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       struct gf_format result, struct gf_error *error)
{
    const struct gf_destination *const destination = task->destination;
    if (destination->bytes)
        return open_bytes(pipeline, task, error);
    GF_TRY(destination->choose(destination->context, task->number, task->own_format, result,
                               &task->path, error));
    GF_TRY(gf_sink_format(task->path, &pipeline->options, task->own_format, &task->file_format,
                          error));
    GF_TRY(gf_tiles_output_open(task->path, &pipeline->options, &task->output, error));
    gf_pipeline_limit_output(pipeline, task);
    return GF_OK;
}

/* Returns what the planner needs to know about a picture of that format with these metadata. */
static struct gf_plan_request request_of(const struct gf_pipeline *pipeline,
                                         struct gf_format format, struct gf_metadata *metadata)
{
    struct gf_plan_request request = {.orientation = 1,
                                      .width = format.width,
                                      .height = format.height,
                                      .bits = metadata->bits,
                                      .to_srgb = gf_converts_for_output(&pipeline->options)};
    const struct gf_colour_tags *const colour = &metadata->colour;
    if (gf_chain_converts(&pipeline->chain) || request.to_srgb ||
        (colour->has_cicp && gf_curve_is_hdr(colour->cicp[1])))
        request.icc = gf_metadata_icc(metadata, format, &pipeline->options);
    return request;
}

struct gf_plan_request gf_pipeline_request_of_image(struct gf_pipeline *pipeline,
                                                    struct gf_format format)
{
    return request_of(pipeline, format, &pipeline->given);
}

struct gf_plan_request gf_pipeline_request_of(const struct gf_pipeline *pipeline,
                                              struct gf_source *source)
{
    struct gf_plan_request request = request_of(pipeline, source->format, &source->metadata);
    if (pipeline->options.autorotate)
        request.orientation = source->metadata.orientation;
    request.reduction = gf_source_reduction(
        source, gf_plan_reduction(&pipeline->chain, source->format, request.orientation));
    return request;
}

enum gf_status gf_pipeline_request(const struct gf_pipeline *pipeline, struct gf_source *source,
                                   struct gf_plan_request *request, struct gf_error *error)
{
    *request = gf_pipeline_request_of(pipeline, source);
    return gf_source_reduce(source, request->reduction, error);
}

static enum gf_status check_sizes(const struct gf_pipeline *pipeline, const char *name,
                                  const struct gf_plan *plan, struct gf_error *error)
{
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_format out = plan->stage[i].out;
        const unsigned long long most = pipeline->options.max_pixels,
                                 pixels = (unsigned long long)out.width * (unsigned)out.height;
        const struct gf_filter *const written = plan->stage[i].written;
        char stage[96];
        if (pixels <= most)
            continue;
        gf_plan_stage_name(&plan->stage[i], stage, sizeof stage);
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: %s makes %dx%d, %llu pixels, over options.max_pixels=%llu", name,
                       written ? written->name : stage, out.width, out.height, pixels, most);
    }
    return GF_OK;
}

/* Warns of filters that change nothing, or too little, although the user surely expects more. */
static void warn_of_idle(const struct gf_pipeline *pipeline, const char *name,
                         const struct gf_plan *plan)
{
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_stage *const stage = &plan->stage[i];
        const struct gf_filter *const written = stage->written;
        const char *const hint = written && written->idle ? written->idle(stage) : NULL;
        if (hint)
            gf_warn(&pipeline->options, "%s: %s changes nothing of %dx%d: %s", name, written->name,
                    stage->in.width, stage->in.height, hint);
    }
    if (plan->smaller)
        gf_warn(&pipeline->options, "%s: %s", name, plan->smaller);
}

/* Whether the output is a TIFF whose pixels are coded so. */
static bool is_coded(const struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                     enum gf_tiff_compression compression)
{
    return task->file_format == GF_FILE_TIFF && pipeline->options.tiff_compression == compression;
}

static bool loses_alpha(const struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                        const struct gf_plan *plan)
{
    return !plan->icc.inks && gf_has_alpha(plan->out) &&
           (is_coded(pipeline, task, GF_TIFF_JPEG) ||
            !gf_has_alpha(gf_format_in_file(task->file_format, plan->out)));
}

/* Fails if the result has four inks (CMYK) and the output cannot store them. Warns of what a
 * conversion to inks has left out. */
static enum gf_status check_colours(const struct gf_pipeline *pipeline, const char *name,
                                    const struct gf_picture_task *task, const struct gf_plan *plan,
                                    struct gf_error *error)
{
    if (plan->linked)
        gf_warn(&pipeline->options,
                "%s: the device link converts its samples whatever their profile is, and the "
                "result has none",
                name);
    if (!plan->icc.inks || !task->output)
        return GF_OK;
    if (plan->flattened)
        gf_warn(&pipeline->options,
                "%s: CMYK has no alpha channel: the picture is laid on white (flatten=white)",
                gf_output_name(task->output));
    return gf_sink_check_inks(task->file_format, gf_output_name(task->output), error);
}

/* Makes a plan. Second pictures that its stages read are limited as the pipeline's pictures are,
 * unless the thread has set limits. */
static enum gf_status make_plan(const struct gf_pipeline *pipeline, const struct gf_chain *chain,
                                struct gf_format in, const struct gf_plan_request *request,
                                struct gf_plan *plan, struct gf_error *error)
{
    const struct gf_options *const outer = gf_second_pictures_limits();
    gf_second_pictures_set_limits(outer ? outer : &pipeline->options);
    const enum gf_status status = gf_plan_make_for(chain, in, request, plan, error);
    gf_second_pictures_set_limits(outer);
    return status;
}

/* Whether the result has HDR colours that a file of the format cannot name. */
static bool loses_hdr(enum gf_file_format file_format, const struct gf_plan *plan)
{
    return plan->icc.hdr[1] && !gf_format_names_hdr(file_format);
}

/* Whether the output is an animation that is lossless as its input is: the user chooses no quality,
 * nor how else the file is lossy. */
static bool stays_lossless(const struct gf_picture_task *task, const struct gf_options *options)
{
    const struct gf_file_type *const type = gf_file_type(task->file_format);
    const bool chosen = options->quality_chosen || gf_options_fit(options) || options->depth > 8 ||
                        options->quality != gf_options_default().quality ||
                        options->subsampling != GF_SUBSAMPLING_AUTO;
    return task->lossless && !task->each && !chosen && type && type->lossy == GF_LOSSY_USUALLY &&
           gf_format_animates(task->file_format);
}

struct gf_options gf_pipeline_sink_options(const struct gf_pipeline *pipeline,
                                           const struct gf_picture_task *task)
{
    struct gf_options options = pipeline->options;
    options.depth = task->depth ? task->depth : options.depth;
    /* Pictures from memory have no orientation that could be applied. */
    options.autorotate &= task->input != NULL;
    options.lossless |= stays_lossless(task, &options);
    return options;
}

/* Returns how many bits a sample has in the output's file. `stored`: those in the input's file. */
static int choose_depth(const struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                        const struct gf_plan *plan, int stored)
{
    struct gf_options options = pipeline->options;
    const struct gf_file_type *const type = gf_file_type(task->file_format);
    const bool lossy =
                   is_coded(pipeline, task, GF_TIFF_JPEG) || is_coded(pipeline, task, GF_TIFF_WEBP),
               only_floats = type && gf_depth_is_float(gf_depth_next(type, 0));
    if (!options.depth && !options.lossless && !only_floats &&
        (lossy || (!plan->icc.hdr[1] && gf_chain_is_for_screens(&pipeline->chain))))
        options.depth = 8;
    return gf_depth_of(task->file_format, plan->out, stored, &options);
}

/* Only the output's name tells whether its format stores alpha, HDR or all bits, and the name may
 * depend on the plan. A picture that would lose one of them is therefore planned again, with a
 * conversion. For options.lossless it is not, and a format without alpha refuses the picture. */
enum gf_status gf_pipeline_plan_part(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                     const struct gf_chain *chain, struct gf_format in,
                                     const struct gf_plan_request *asked, struct gf_plan *plan,
                                     struct gf_error *error)
{
    struct gf_plan_request request = *asked;
    request.facts = pipeline->facts.tell ? &pipeline->facts : NULL;
    /* Only the last part of the chain converts to sRGB. */
    request.to_srgb &= task->destination || task->output;
    request.on_device = pipeline->on_cuda;
    enum gf_status status = make_plan(pipeline, chain, in, &request, plan, error);
    if (status == GF_ERROR_UNAVAILABLE && pipeline->on_cuda)
        pipeline->has_floats = true;
    if (status)
        return status;
    const char *const name = task->input ? gf_input_name(task->input) : "picture";
    GF_TRY(check_sizes(pipeline, name, plan, error));
    warn_of_idle(pipeline, name, plan);
    if (task->destination && !task->output)
        GF_TRY(gf_pipeline_open_output(pipeline, task, plan->out, error));
    GF_TRY(check_colours(pipeline, name, task, plan, error));
    if (task->output)
        task->depth = choose_depth(pipeline, task, plan, request.bits);
    if (!task->output || pipeline->options.lossless)
        return GF_OK;
    request.opaque = loses_alpha(pipeline, task, plan);
    const bool tones = loses_hdr(task->file_format, plan);
    if (pipeline->options.dither && !plan->icc.inks && task->depth < 16 &&
        task->depth < plan->out.bits)
        request.levels = 1 << task->depth;
    if (!request.opaque && !tones && !request.levels)
        return GF_OK;
    gf_plan_free(plan);
    request.from_hdr = tones;
    if (request.opaque)
        gf_warn(&pipeline->options,
                "%s: its format has no alpha channel: the picture is laid on white (flatten=white)",
                gf_output_name(task->output));
    if (tones)
        gf_warn(&pipeline->options,
                "%s: its format has no HDR: the colours become those of sRGB (tonemap)",
                gf_output_name(task->output));
    return make_plan(pipeline, chain, in, &request, plan, error);
}
