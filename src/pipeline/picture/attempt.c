/* Filters one picture by a pipeline, in as many attempts as its device needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "engine/engine.h"
#include "pipeline/pipeline_state.h"
#include "pixel/histogram/smooth.h"

/* A part of the chain. Its input is the source, or the picture that the previous part has
 * computed. */
struct part {
    struct gf_chain chain; /* a copy of the pipeline's items */
    struct gf_source *source;
    const struct gf_image *in;
    struct gf_plan_request request;
    bool is_frame;                      /* the source has several frames to read */
    const struct gf_duration *duration; /* the source's */
    bool recoloured;       /* a filter has given the picture the profile of the request */
    struct gf_place place; /* of the part's input in the file's picture */
};

static struct gf_format format_before(const struct part *part)
{
    return part->source ? part->source->format : part->in->format;
}

/* Attempts a part whose whole result is needed before the next part can be planned. Sets the part's
 * profile to the result's profile. */
static enum gf_status attempt_part(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                                   struct part *part, struct gf_image *image,
                                   struct gf_error *error)
{
    struct gf_picture_task own = *task;
    struct gf_plan plan = {0};
    own.destination = NULL;
    own.output = NULL;
    own.file_format = GF_FILE_AUTO;
    own.image_in = part->in;
    own.in_on_device &= part->in == task->image_in;
    own.image_out = image;
    own.out_is_callers = false;
    enum gf_status status = gf_pipeline_plan_part(pipeline, &own, &part->chain, format_before(part),
                                                  &part->request, &plan, error);
    if (!status)
        status = gf_pipeline_check_memory(pipeline, &own, part->source, &plan, error);
    if (!status)
        status = gf_image_alloc(image, plan.out, error);
    if (!status) {
        own.image_bytes += image->pitch * (size_t)image->format.height;
        status = gf_pipeline_schedule(pipeline, &plan, part->source, NULL, &own, error);
    }
    if (!status && part->place.width)
        status = gf_place_follow(&part->place, &plan, error);
    part->request.icc = plan.icc;
    part->recoloured |= plan.recoloured;
    gf_plan_free(&plan);
    return status;
}

/* Allocates the caller's picture, or checks the picture that the caller has given. */
static enum gf_status check_or_allocate(const struct gf_pipeline *pipeline,
                                        const struct gf_picture_task *task, struct gf_format format,
                                        struct gf_error *error)
{
    struct gf_image *const image = task->image_out;
    if (!image->data)
        return task->out_is_callers ? gf_pipeline_alloc_image(pipeline, format, image, error)
                                    : gf_image_alloc(image, format, error);
    return !memcmp(&image->format, &format, sizeof format)
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "output: the result is %dx%dx%d of %d bits, which depends on the picture: "
                         "leave the memory to the library",
                         format.width, format.height, format.channels, format.bits);
}

enum gf_status gf_pipeline_open_sink(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, struct gf_format format,
                                     const struct gf_place *place, const struct gf_icc *icc,
                                     bool filtered, const struct gf_metadata *metadata,
                                     struct gf_sink **sink, struct gf_error *error)
{
    struct gf_metadata changed = *metadata; /* its blobs belong to the source or to the plan */
    if (icc)
        gf_pipeline_recolour(&changed, icc);
    if (place->turned) {
        changed.density_x = metadata->density_y;
        changed.density_y = metadata->density_x;
    }
    changed.filtered = filtered;
    changed.colour.has_clli &= gf_chain_keeps_light(&pipeline->chain);
    char colours[GF_COLOURS_TEXT_SIZE];
    changed.colour.told = gf_chain_converts(&pipeline->chain) &&
                          gf_colour_tags_unsaid(&changed.colour, changed.icc.size, colours);
    if (changed.colour.told)
        gf_warn(&pipeline->options,
                "%s: nothing converts %s: the samples keep it and count as sRGB",
                gf_output_name(task->output), colours);
    if (filtered)
        changed.palette = (struct gf_blob){0};
    const struct gf_options options = gf_pipeline_sink_options(pipeline, task);
    enum gf_status status = gf_pipeline_move_gain_map(
        pipeline, task, place, format, &metadata->gain_map, &changed.gain_map, error);
    if (!status && task->sink)
        status = gf_sink_turn(task->sink, task->output, task->file_format, format, &changed,
                              &options, error);
    else if (!status)
        status =
            gf_sink_open(task->output, task->file_format, format, &changed, &options, sink, error);
    free(changed.gain_map.data);
    return status;
}

/* Warns of PQ and HLG if the result is an image in memory, since such an image says nothing about
 * its colours. */
static void warn_of_unsaid(const struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                           const struct gf_metadata *metadata)
{
    char colours[GF_COLOURS_TEXT_SIZE];
    if (gf_colour_tags_unsaid(&metadata->colour, metadata->icc.size, colours))
        gf_warn(&pipeline->options, "%s: nothing converts %s: its samples are taken as they are",
                gf_input_name(task->input), colours);
}

/* Fails unless a frame has the format of those before, and warns if its profile is another. */
static enum gf_status check_frame(const struct gf_pipeline *pipeline,
                                  const struct gf_picture_task *task, struct gf_format frame,
                                  uint64_t profile, struct gf_error *error)
{
    const struct gf_format first = task->frame;
    if (memcmp(&frame, &first, sizeof first) != 0)
        return gf_fail(
            error, GF_ERROR_UNFIT,
            "%s: a frame becomes %dx%dx%d of %d bits and the first one %dx%dx%d of %d: an "
            "animation has one format",
            gf_output_name(task->output), frame.width, frame.height, frame.channels, frame.bits,
            first.width, first.height, first.channels, first.bits);
    if (profile != task->frame_profile)
        gf_warn(&pipeline->options,
                "%s: a frame has another profile than the first one, whose profile is that of all: "
                "its colours will look wrong (icc=srgb)",
                gf_output_name(task->output));
    return GF_OK;
}

/* Opens the sink, or takes that of the frames before. */
static enum gf_status take_sink(const struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                const struct part *part, const struct gf_plan *plan,
                                const struct gf_metadata *metadata, struct gf_sink **sink,
                                struct gf_error *error)
{
    struct gf_metadata own = *metadata; /* its blobs belong to the source */
    own.animated = part->is_frame && gf_format_animates(task->file_format);
    const struct gf_icc *const icc = part->recoloured || plan->recoloured ? &plan->icc : NULL;
    const uint64_t profile =
        gf_hash(GF_HASH_START, icc ? icc->data : own.icc.data, icc ? icc->size : own.icc.size);
    *sink = task->sink;
    if (task->sink && !task->sink->turn)
        return check_frame(pipeline, task, plan->out, profile, error);
    if (part->is_frame && !own.animated)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: %s files hold one picture here: choose one of %s by its number, or "
                       "number the outputs of one input by {n}",
                       gf_output_name(task->output), gf_file_format_name(task->file_format),
                       gf_input_name(task->input));
    GF_TRY(gf_pipeline_open_sink(pipeline, task, plan->out, &part->place, icc,
                                 plan->stage_count || part->in, &own, sink, error));
    if (own.animated && !task->sink) {
        (*sink)->duration = part->duration;
        task->sink = *sink;
        task->frame = plan->out;
        task->frame_profile = profile;
    }
    return GF_OK;
}

/* Keeps the plan for the next picture, which needs the same tables and taps if it has the same
 * format. */
static void keep_plan(struct gf_pipeline *pipeline, struct gf_plan *plan)
{
    gf_plan_free(&pipeline->last_plan);
    pipeline->last_plan = *plan;
}

static enum gf_status attempt_last_part(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                        struct part *part, const struct gf_metadata *metadata,
                                        struct gf_error *error)
{
    struct gf_sink *sink = NULL;
    struct gf_plan plan = {0};
    const struct gf_image *const image_in = task->image_in;
    const bool in_on_device = task->in_on_device;
    task->image_in = part->in;
    task->in_on_device &= part->in == image_in; /* what other parts made is in host memory */
    enum gf_status status = gf_pipeline_plan_part(pipeline, task, &part->chain, format_before(part),
                                                  &part->request, &plan, error);
    if (!status)
        status = gf_pipeline_check_memory(pipeline, task, part->source, &plan, error);
    if (!status && task->image_out && plan.icc.inks)
        status = gf_fail(error, GF_ERROR_UNFIT, "a picture in memory is not CMYK: write a file");
    if (!status && task->image_out)
        status = check_or_allocate(pipeline, task, plan.out, error);
    if (!status && task->image_out && !part->recoloured && !plan.recoloured)
        warn_of_unsaid(pipeline, task, metadata);
    const bool remotely = pipeline->remote != NULL;
    if (!status && remotely)
        status = gf_pipeline_attempt_remotely(pipeline, task, &plan, error);
    if (!status && !remotely && part->place.width)
        status = gf_place_follow(&part->place, &plan, error);
    if (!status && !remotely && task->output)
        status = take_sink(pipeline, task, part, &plan, metadata, &sink, error);
    gf_plan_take_constants(&plan, &pipeline->last_plan);
    if (!status && !remotely)
        status = gf_pipeline_schedule(pipeline, &plan, part->source, sink, task, error);
    if (!status && task->image_out && !task->out_on_device)
        status = gf_pipeline_keep_metadata(pipeline, plan.out,
                                           part->recoloured || plan.recoloured ? &plan.icc : NULL,
                                           metadata, error);
    if (sink && sink != task->sink)
        sink->close(sink);
    keep_plan(pipeline, &plan);
    task->image_in = image_in;
    task->in_on_device = in_on_device;
    return status;
}

void gf_pipeline_find(struct gf_pipeline *pipeline, const struct gf_chain_item *item,
                      const struct gf_view *picture, struct gf_found *found)
{
    *found = (struct gf_found){.is_known = false};
    item->filter->find(item->params, picture, found);
    if (*found->text)
        snprintf(pipeline->profile.found, sizeof pipeline->profile.found, "%s", found->text);
}

/* Attempts the chain in parts. A part ends before each filter that needs a finished picture; that
 * filter finds what it needs in the picture and begins the next part. */
static enum gf_status attempt_picture(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                      struct gf_source *source, struct gf_error *error)
{
    const struct gf_chain *const chain = &pipeline->chain;
    struct gf_image made[2] = {{.data = NULL}, {.data = NULL}};
    struct part part = {.source = source,
                        .is_frame = source && source->next && !task->each,
                        .duration = source ? &source->duration : NULL,
                        .in = task->image_in,
                        .request = {.orientation = 1}};
    const struct gf_metadata *const metadata = source ? &source->metadata : &pipeline->given;
    enum gf_status status = GF_OK;
    int begin = 0, end, parts = 0;
    if (pipeline->progress) {
        pipeline->progress->frame = task->frames - 1;
        pipeline->progress->frames = task->frames_wanted;
    }
    gf_pipeline_note_facts(pipeline, task, source);
    if (source) {
        part.request = gf_pipeline_request(pipeline, source);
        if (gf_metadata_moves(&source->metadata))
            gf_place_begin(&part.place, source->format, source->reduction);
    } else
        part.request = gf_pipeline_request_of_image(pipeline, task->image_in->format);
    if (source && source->metadata.icc.size && !part.request.icc.size && !part.request.icc.hdr[1] &&
        gf_chain_converts(chain))
        gf_warn(&pipeline->options, "%s: its ICC profile is of no use: its colours count as sRGB",
                gf_input_name(task->input));
    task->reduction = part.request.reduction;
    task->width = part.request.width;
    task->height = part.request.height;
    while (!status && (end = gf_chain_next_box(chain, begin + (parts > 0))) < chain->count) {
        struct gf_image *const image = &made[parts % 2];
        part.chain = gf_chain_part(chain, begin, end);
        status = attempt_part(pipeline, task, &part, image, error);
        gf_image_free(&made[++parts % 2]);
        if (status)
            break;
        const struct gf_view view = gf_image_view(image);
        part = (struct part){.in = image,
                             .is_frame = part.is_frame,
                             .duration = part.duration,
                             .request = {.orientation = 1,
                                         .icc = part.request.icc,
                                         .to_srgb = part.request.to_srgb,
                                         .bits = part.request.bits},
                             .recoloured = part.recoloured,
                             .place = part.place};
        gf_pipeline_find(pipeline, &chain->item[end], &view, &part.request.found);
        task->image_bytes = image->pitch * (size_t)image->format.height;
        begin = end;
    }
    part.chain = gf_chain_part(chain, begin, chain->count);
    if (!status)
        status = attempt_last_part(pipeline, task, &part, metadata, error);
    gf_image_free(&made[0]);
    gf_image_free(&made[1]);
    task->image_bytes = 0;
    return status;
}

/* Attempts the frames after the first, which has opened the sink. Pages have properties of their
 * own, of which they may warn; of other frames the first one alone does. */
static enum gf_status attempt_frames(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                     struct gf_source *source, struct gf_error *error)
{
    void (*const warn)(void *context, const char *text) = pipeline->options.warn;
    enum gf_status status = GF_OK;
    bool found = true;
    while (!status && found) {
        status = gf_source_next(source, &found, error);
        if (status || !found)
            break;
        task->frames++;
        pipeline->stages_done = pipeline->segments_done = 0;
        pipeline->options.warn = source->renews ? warn : NULL;
        status = attempt_picture(pipeline, task, source, error);
        pipeline->options.warn = warn;
    }
    if (status)
        return status;
    const double begin_s = gf_now();
    status = task->sink->end(task->sink, error);
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(), 0);
    return status;
}

/* Returns the number of frames that the source will give. */
static int count_frames(const struct gf_picture_task *task, const struct gf_source *source)
{
    const struct gf_pages pages = gf_input_pages(task->input);
    const int end = pages.last < source->stored.pages ? pages.last + 1 : source->stored.pages;
    return source->next && end > pages.first ? end - pages.first : 1;
}

enum gf_status gf_pipeline_attempt(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                   struct gf_source *source, struct gf_error *error)
{
    if (!task->each || !task->frames) {
        task->frames = 1;
        task->frames_wanted = source ? count_frames(task, source) : 1;
    }
    const struct gf_options options = pipeline->options;
    struct gf_said said;
    if (source && source->renews && !task->each) /* what all pages warn of is said once */
        pipeline->options = *gf_said_begin(&said, gf_input_name(task->input), &options);
    enum gf_status status = attempt_picture(pipeline, task, source, error);
    if (!status && task->sink)
        status = attempt_frames(pipeline, task, source, error);
    if (task->sink)
        task->sink->close(task->sink);
    task->sink = NULL;
    pipeline->options.warn = options.warn;
    pipeline->options.warn_context = options.warn_context;
    return status;
}

/* Attempts the picture once, with a source and a sink of its own. The source stays open if the
 * next frame is the next picture. */
static enum gf_status attempt_once(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                   struct gf_error *error)
{
    struct gf_source *source = task->source;
    enum gf_status status = GF_OK;
    task->source = NULL;
    pipeline->stages_done = pipeline->segments_done = 0;
    gf_metadata_close(gf_pipeline_take_metadata(pipeline));
    gf_smooth_attempt();
    if (pipeline->remote && gf_chain_next_box(&pipeline->chain, 0) < pipeline->chain.count) {
        task->remote_failed = true; /* the remote needs the output's name, which is not known before
                                     * the result's size */
        return GF_ERROR_UNAVAILABLE;
    }
    pipeline->remote_warn = pipeline->options.warn;
    if (pipeline->remote) /* the remote reads the header, too, and gives its warnings */
        pipeline->options.warn = NULL;
    if (task->input && !source) {
        status = gf_source_open(task->input, &pipeline->options, &source, error);
        task->frames = 0;
    }
    if (source)
        task->own_format = source->file;
    const bool each = source && source->next && task->each;
    task->remote_failed = pipeline->remote && each; /* it would draw the frames before again */
    if (task->remote_failed)
        status = GF_ERROR_UNAVAILABLE;
    if (!status)
        status = gf_pipeline_attempt(pipeline, task, source, error);
    pipeline->options.warn = pipeline->remote_warn;
    if (each && !status)
        task->source = source;
    else if (source)
        source->close(source);
    return status;
}

static enum gf_status rewind_task(const struct gf_picture_task *task, struct gf_error *error)
{
    if (task->input)
        GF_TRY(gf_input_rewind(task->input, error));
    if (task->output)
        GF_TRY(gf_output_rewind(task->output, error));
    return GF_OK;
}

enum gf_status gf_pipeline_filter_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       struct gf_error *error)
{
    struct gf_error failure = {0};
    pipeline->band_rows = pipeline->options.band_rows;
    pipeline->device_codec_used = pipeline->no_device_codec = false;
    pipeline->described_plan = NULL;
    const double outer = gf_pipeline_begin_time(pipeline, task);
    enum gf_status status = attempt_once(pipeline, task, &failure);
    if (task->remote_failed) {
        status = gf_pipeline_leave_remote(pipeline, task, &failure);
        if (!status)
            status = attempt_once(pipeline, task, &failure);
    }
    while (status && !pipeline->remote &&
           gf_pipeline_recover(pipeline, status, &failure, &failure)) {
        status = rewind_task(task, &failure);
        pipeline->spans.count = 0; /* the profile contains only the spans of the attempt that
                                    * succeeds */
        if (!status)
            status = attempt_once(pipeline, task, &failure);
    }
    status = gf_pipeline_tell_time(pipeline, task, status, &failure);
    gf_pipeline_end_time(task, outer);
    if (!status || !error)
        return status;
    *error = failure;
    /* An error of the device does not name the picture; the name is added here. */
    if (task->input && *failure.text &&
        (status == GF_ERROR_DEVICE || status == GF_ERROR_DEVICE_MEMORY))
        (void)gf_fail(error, status, "%s: %s", gf_input_name(task->input), failure.text);
    return status;
}
