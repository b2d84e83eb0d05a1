/* Filters pictures from files, streams and memory to files, streams and memory. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

/* Reads an input as an animation if its output is one, or each frame has an output, unless pictures
 * were chosen by number. */
static void choose_frames(const struct gf_pipeline *pipeline, struct gf_picture_task *task)
{
    const struct gf_destination *const destination = task->destination;
    struct gf_options options = pipeline->options;
    if (destination->bytes && destination->bytes->format)
        options.format = destination->bytes->format;
    const bool frames = destination->each
                            ? gf_format_animates(task->own_format)
                            : gf_output_animates(destination->pattern, &options, task->own_format);
    if (gf_input_page(task->input) < 0 && frames)
        gf_input_choose_pages(task->input, (struct gf_pages){0, GF_PAGES_ALL});
    task->each = destination->each && gf_input_pages(task->input).last >= 0;
}

/* Filters a frame of the source that is open, or a picture that begins in the input. Of frames the
 * first one alone warns, unless they are pages with properties of their own. */
static enum gf_status filter_next(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                  struct gf_error *error)
{
    void (*const warn)(void *context, const char *text) = pipeline->options.warn;
    enum gf_status status = GF_OK;
    if (task->source) {
        pipeline->options.warn = task->source->renews ? warn : NULL;
    } else {
        status = gf_input_format(task->input, &task->own_format, error);
        if (!status)
            choose_frames(pipeline, task);
    }
    if (!status)
        status = gf_pipeline_filter_task(pipeline, task, error);
    pipeline->options.warn = warn;
    return status;
}

/* Goes to the next frame. Another attempt at it begins with it. */
static enum gf_status find_frame(const struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                 bool *found, struct gf_error *error)
{
    const struct gf_pages pages = gf_input_pages(task->input);
    const double outer = gf_pipeline_begin_time(pipeline, task);
    enum gf_status status = gf_source_next(task->source, found, error);
    status = gf_pipeline_tell_time(pipeline, task, status, error);
    gf_pipeline_end_time(task, outer);
    gf_input_choose_pages(task->input, (struct gf_pages){pages.first + 1, pages.last});
    task->frames++;
    if (!*found) {
        task->source->close(task->source);
        task->source = NULL;
    }
    return status;
}

static enum gf_status filter_picture(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                     bool *more, struct gf_error *error)
{
    const struct gf_destination *const destination = task->destination;
    *more = false;
    enum gf_status status = filter_next(pipeline, task, error);
    if (!status)
        gf_pipeline_describe_files(pipeline, task);
    if (!status && !destination->several)
        status = gf_pipeline_find_next(pipeline, task, more, error);
    if (!status)
        status = gf_output_commit(task->output, error);
    if (!status)
        gf_pipeline_end_profile(pipeline);
    if (!status && destination->bytes)
        destination->bytes->data = gf_output_take(task->output, &destination->bytes->size);
    if (!status && destination->done)
        destination->done(destination->context, task->number, task->path, &pipeline->profile);
    task->bytes_before += task->output ? (uint64_t)gf_output_size(task->output) : 0;
    gf_output_close(task->output);
    task->output = NULL;
    /* The next picture is looked for only after this output is in place, since a live stream may
     * send it much later. */
    if (!status && task->source)
        status = find_frame(pipeline, task, more, error);
    return status || *more || !destination->several
               ? status
               : gf_pipeline_find_next(pipeline, task, more, error);
}

/* The profile of the first picture has begun. */
static enum gf_status filter_all(struct gf_pipeline *pipeline, struct gf_input *input,
                                 const struct gf_destination *destination, struct gf_error *error)
{
    struct gf_picture_task task = {.input = input, .destination = destination};
    const struct gf_pages pages = gf_input_pages(input);
    enum gf_status status = GF_OK;
    bool more = true;
    while (!status && more) {
        if (task.number++)
            gf_pipeline_begin_next_profile(pipeline);
        gf_pipeline_renew_limits(&task);
        if (!task.source)
            gf_input_choose_pages(input, pages);
        status = filter_picture(pipeline, &task, &more, error);
    }
    if (task.source)
        task.source->close(task.source);
    return status;
}

/* A stream is kept for another attempt on a device, and for outputs that take other fractions of
 * the size. */
enum gf_status gf_pipeline_filter_pictures(struct gf_pipeline *pipeline, const char *input,
                                           const struct gf_file_bytes *bytes,
                                           struct gf_destination *destination,
                                           struct gf_error *error)
{
    struct gf_input *opened = bytes ? bytes->opened : NULL;
    const bool keeps = pipeline->on_cuda || pipeline->outputs;
    gf_pipeline_begin_profile(pipeline);
    if (opened && keeps)
        gf_input_keep_all(opened);
    enum gf_status status =
        opened  ? GF_OK
        : bytes ? gf_input_open_memory(bytes->data, bytes->size, input, &opened, error)
                : gf_input_open(input, keeps, &opened, error);
    if (!status)
        status = pipeline->outputs
                     ? gf_pipeline_filter_to_outputs(pipeline, opened, destination, error)
                     : filter_all(pipeline, opened, destination, error);
    gf_input_close(opened);
    return status;
}

static enum gf_status choose_fixed(void *context, int number, enum gf_file_format content,
                                   struct gf_format result, const char **path,
                                   struct gf_error *error)
{
    (void)number;
    (void)content;
    (void)result;
    (void)error;
    *path = context;
    return GF_OK;
}

enum gf_status gf_pipeline_run_file(struct gf_pipeline *pipeline, const char *input,
                                    const char *output, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(input, error);
    GF_NOT_NULL(output, error);
    struct gf_destination destination = {.choose = choose_fixed,
                                         .several = !strcmp(output, "-"),
                                         .several_hint = "write to -",
                                         .pattern = output,
                                         .context = (void *)output};
    return gf_pipeline_filter_pictures(pipeline, input, NULL, &destination, error);
}

enum gf_status gf_pipeline_check_format(enum gf_file_format format, struct gf_error *error)
{
    return (int)format >= 0 && format <= GF_FILE_Y4M
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE, "format=%d is outside 0..%d", (int)format,
                         GF_FILE_Y4M);
}

enum gf_status gf_pipeline_run_to_bytes(struct gf_pipeline *pipeline, const char *name,
                                        const struct gf_file_bytes *input, struct gf_bytes *result,
                                        struct gf_error *error)
{
    struct gf_destination destination = {.bytes = result,
                                         .first_alone = input->opened,
                                         .several_hint = "give one picture at a time"};
    return gf_pipeline_filter_pictures(pipeline, name, input, &destination, error);
}

enum gf_status gf_pipeline_run_bytes(struct gf_pipeline *pipeline, const void *data, size_t size,
                                     enum gf_file_format format, void **result, size_t *result_size,
                                     struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(data, error);
    GF_NOT_NULL(result, error);
    GF_NOT_NULL(result_size, error);
    struct gf_bytes bytes = {.format = format, .name = "output"};
    const struct gf_file_bytes input = {data, size, NULL};
    GF_TRY(gf_pipeline_check_format(format, error));
    GF_TRY(gf_pipeline_run_to_bytes(pipeline, "input", &input, &bytes, error));
    *result = bytes.data;
    *result_size = bytes.size;
    return GF_OK;
}

void gf_free(void *memory)
{
    free(memory);
}

/* Finds the format of a result whose size depends on the pixels. For this the picture is filtered,
 * and the result is dropped. */
static enum gf_status find_format(struct gf_pipeline *pipeline, struct gf_input *input,
                                  enum gf_file_format content, struct gf_format *format,
                                  struct gf_error *error)
{
    struct gf_image image = {.data = NULL};
    struct gf_picture_task task = {.input = input, .own_format = content, .image_out = &image};
    const enum gf_status status = gf_pipeline_filter_task(pipeline, &task, error);
    *format = image.format;
    gf_image_free(&image);
    return status;
}

enum gf_status gf_pipeline_peek(struct gf_pipeline *pipeline, const char *path,
                                struct gf_peek *peek, struct gf_error *error)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    struct gf_plan plan = {0};
    enum gf_status status = gf_input_open(path, false, &input, error);
    if (!status)
        status = gf_input_format(input, &peek->content, error);
    if (!status)
        status = gf_source_open(input, &pipeline->options, &source, error);
    if (!status)
        status = gf_plan_make(&pipeline->chain, source->format,
                              pipeline->options.autorotate ? source->metadata.orientation : 1,
                              &plan, error);
    if (!status) {
        peek->in = source->format;
        peek->out = plan.out;
        gf_plan_free(&plan);
    }
    if (source)
        source->close(source);
    if (!status && gf_chain_next_box(&pipeline->chain, 0) < pipeline->chain.count) {
        status = gf_input_rewind(input, error);
        if (!status)
            status = find_format(pipeline, input, peek->content, &peek->out, error);
    }
    gf_input_close(input);
    return status;
}
