/* Filters pictures from files, streams and memory to files, streams and memory; also those of
 * another process, which has opened the files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/files.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

/* Lets the input be read as an animation, with all its frames, if its output can be one or each
 * frame has an output of its own, unless the user chose pictures by number. */
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

/* Goes on to the next frame of the source, if there is one (*found). Another attempt at that frame
 * begins with it, not with the first. */
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

/* Lets one page of the input be read, if several outputs have names for each. They may read it at
 * several fractions of its size, so that each page begins with another source. */
static void choose_page(struct gf_picture_task *task, int count)
{
    struct gf_pages pages = gf_input_pages(task->input);
    bool each = true;
    for (int i = 0; i < count; i++)
        each &= task[i].destination->each;
    if (pages.first < 0 && gf_format_animates(task->own_format))
        pages = (struct gf_pages){0, GF_PAGES_ALL};
    task->last_page = each ? pages.last : -1;
    if (task->last_page >= 0)
        gf_input_choose_pages(task->input, (struct gf_pages){pages.first + task->page, -1});
}

/* Goes back for the next page that choose_page() may choose, if there is one (*found). */
static enum gf_status find_page(struct gf_picture_task *task, bool *found, struct gf_error *error)
{
    const int next = gf_input_page(task->input) + 1;
    *found = task->last_page >= next && next < task->pages;
    task->page = *found ? task->page + 1 : 0;
    return *found ? gf_input_rewind(task->input, error) : GF_OK;
}

/* Prepares the tasks of the input's next picture, one for each output. The picture may be a frame
 * of the source that is open. */
static enum gf_status begin_tasks(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                  int count)
{
    enum gf_file_format format = task->own_format;
    struct gf_error why = {0};
    const enum gf_status status =
        task->source ? GF_OK : gf_input_format(task->input, &format, &why);
    for (int i = 0; i < count; i++) {
        struct gf_picture_task *const own = &task[i];
        gf_pipeline_renew_limits(own);
        own->number++;
        own->own_format = format;
        own->ended = own->destination->left_out || status;
        own->status = status;
        own->error = why;
    }
    if (!status && !task->source && count == 1)
        choose_frames(pipeline, task);
    if (!status && count > 1)
        choose_page(task, count);
    return status;
}

/* Filters one picture. Of the frames of an animation only the first warns; pages, which have
 * properties of their own, all may. */
static void filter_next(struct gf_pipeline *pipeline, struct gf_picture_task *task, int count)
{
    void (*const warn)(void *context, const char *text) = pipeline->options.warn;
    if (task->source && !task->source->renews)
        pipeline->options.warn = NULL;
    gf_pipeline_filter_tasks(pipeline, task, count);
    pipeline->options.warn = warn;
    for (int i = 0; i < count; i++) {
        if (!task[i].status && task[i].output)
            gf_pipeline_describe_files(count > 1 ? &task[i].profile : &pipeline->profile, &task[i]);
    }
}

/* Warns if something follows the only picture for which the outputs have names. If an output has
 * failed, reading may have stopped before the picture's end, and it does not look. */
static void look_behind(struct gf_pipeline *pipeline, struct gf_picture_task *task, int count)
{
    struct gf_error why = {0};
    bool made = false, more;
    for (int i = 0; i < count; i++) {
        if (task[i].status)
            return;
        made |= task[i].output != NULL;
    }
    const enum gf_status status = made ? gf_pipeline_find_next(pipeline, task, &more, &why) : GF_OK;
    for (int i = 0; status && i < count; i++) {
        task[i].status = task[i].output ? status : GF_OK;
        task[i].error = why;
    }
}

/* Puts one output in its place and calls done(), with the output's own profile if there are
 * several. */
static void deliver_output(struct gf_pipeline *pipeline, struct gf_picture_task *task, bool several)
{
    const struct gf_destination *const destination = task->destination;
    if (several)
        pipeline->profile = task->profile;
    if (several && pipeline->spans.item)
        pipeline->profile.spans = pipeline->spans.item + task->first_span;
    task->status = gf_output_commit(task->output, &task->error);
    if (!task->status && !several)
        gf_pipeline_end_profile(pipeline);
    if (!task->status && destination->bytes)
        destination->bytes->data = gf_output_take(task->output, &destination->bytes->size);
    if (!task->status && destination->done)
        destination->done(destination->context, task->number, task->path, &pipeline->profile);
    if (several) /* the stages and the spans in it belong to the task */
        pipeline->profile.stage_count = pipeline->profile.span_count = 0;
}

/* Delivers the outputs that have succeeded, and closes the others. Returns the status, with its
 * error, of the first output that failed, or rather of one that failed because of the device. */
static enum gf_status conclude_picture(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       int count, struct gf_destination *destination,
                                       struct gf_error *error)
{
    enum gf_status first = GF_OK;
    for (int i = 0; i < count; i++) {
        if (destination[i].left_out)
            continue;
        if (!task[i].status)
            deliver_output(pipeline, &task[i], count > 1);
        destination[i].status = task[i].status;
        destination[i].error = task[i].error;
        destination[i].delivered = !task[i].status;
        /* A failure of the device takes precedence: the caller then tries another device. */
        const bool of_device = task[i].status == GF_ERROR_DEVICE ||
                               task[i].status == GF_ERROR_DEVICE_MEMORY ||
                               task[i].status == GF_ERROR_UNAVAILABLE;
        if (task[i].status && (!first || of_device)) {
            first = task[i].status;
            if (error)
                *error = task[i].error;
        }
        free((void *)task[i].profile.stages);
        task[i].profile.stages = NULL;
        task[i].bytes_before += task[i].output ? (uint64_t)gf_output_size(task[i].output) : 0;
        gf_output_close(task[i].output);
        task[i].output = NULL;
    }
    return first;
}

/* Filters the input's next picture to all outputs. */
static enum gf_status filter_picture(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                     int count, struct gf_destination *destination, bool *more,
                                     struct gf_error *error)
{
    *more = false;
    if (!begin_tasks(pipeline, task, count))
        filter_next(pipeline, task, count);
    if (!destination->several)
        look_behind(pipeline, task, count);
    enum gf_status status = conclude_picture(pipeline, task, count, destination, error);
    /* The next picture is looked for only after this one's output is in place, since a live stream
     * may send it much later. */
    if (!status && task->source)
        status = find_frame(pipeline, task, more, error);
    else if (!status && count > 1)
        status = find_page(task, more, error);
    return status || *more || !destination->several
               ? status
               : gf_pipeline_find_next(pipeline, task, more, error);
}

/* Filters all pictures of the input. The profile of the first one has begun. */
static enum gf_status filter_all(struct gf_pipeline *pipeline, struct gf_input *input,
                                 struct gf_destination *destination, struct gf_error *error)
{
    const int count = pipeline->outputs ? pipeline->outputs : 1;
    const struct gf_pages pages = gf_input_pages(input);
    struct gf_picture_task *const task = calloc((size_t)count, sizeof *task);
    enum gf_status status = task ? GF_OK : gf_fail_memory(error);
    bool more = !status;
    for (int i = 0; !status && i < count; i++)
        task[i] = (struct gf_picture_task){.input = input, .destination = &destination[i]};
    while (!status && more) {
        if (task->number)
            gf_pipeline_begin_next_profile(pipeline);
        if (!task->source)
            gf_input_choose_pages(input, pages);
        status = filter_picture(pipeline, task, count, destination, &more, error);
    }
    if (task && task->source)
        task->source->close(task->source);
    free(task);
    return status;
}

/* The bytes of a stream are kept, for another attempt on a device, and for outputs that decode it
 * at another fraction of its size. */
enum gf_status gf_pipeline_filter_pictures(struct gf_pipeline *pipeline, const char *input,
                                           const struct gf_file_bytes *bytes,
                                           struct gf_destination *destination,
                                           struct gf_error *error)
{
    struct gf_input *opened = bytes ? bytes->opened : NULL;
    const bool keeps = pipeline->on_cuda || pipeline->returns || pipeline->outputs;
    gf_pipeline_begin_profile(pipeline);
    if (opened && keeps)
        gf_input_keep_all(opened);
    enum gf_status status =
        opened  ? GF_OK
        : bytes ? gf_input_open_memory(bytes->data, bytes->size, input, &opened, error)
                : gf_input_open(input, keeps, &opened, error);
    if (!status && bytes && bytes->is_timed)
        gf_input_set_time(opened, bytes->changed);
    GF_THEN(status, filter_all(pipeline, opened, destination, error));
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
    return (int)format >= 0 && format < GF_FILE_COUNT
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE, "format=%d is outside 0..%d", (int)format,
                         GF_FILE_COUNT - 1);
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
    const struct gf_file_bytes input = {.data = data, .size = size};
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

/* Finds the format of a result whose size depends on the pixels, by filtering the picture and
 * dropping the result. */
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
    const struct gf_destination destination = {.pattern = peek->pattern};
    enum gf_status status = gf_input_open(path, false, &input, error);
    GF_THEN(status, gf_input_format(input, &peek->content, error));
    const struct gf_picture_task task = {
        .input = input, .destination = &destination, .own_format = peek->content};
    if (!status)
        gf_input_set_coefficients(input, gf_pipeline_moves(pipeline, &task));
    GF_THEN(status, gf_source_open(input, &pipeline->options, &source, error));
    GF_THEN(status, gf_plan_make(&pipeline->chain, source->format,
                                 pipeline->options.autorotate ? source->metadata.orientation : 1,
                                 &plan, error));
    if (!status && source->coefficients)
        status = gf_pipeline_check_move(pipeline, source, path, &plan, error);
    if (!status) {
        peek->in = source->format;
        peek->out = plan.out;
    }
    gf_plan_free(&plan);
    if (source)
        source->close(source);
    if (!status && gf_chain_next_box(&pipeline->chain, 0) < pipeline->chain.count) {
        status = gf_input_rewind(input, error);
        GF_THEN(status, find_format(pipeline, input, peek->content, &peek->out, error));
    }
    gf_input_close(input);
    return status;
}

/* Filtering a picture for another process (a client), which has opened the files. */

uint64_t gf_pipeline_held_bytes(const struct gf_pipeline *pipeline)
{
    return gf_buffer_pool_held_bytes(&pipeline->buffers);
}

static void sum_spans(const struct gf_spans *spans, struct gf_times *times)
{
    for (size_t i = 0; i < spans->count; i++) {
        const struct gf_span *const span = &spans->item[i];
        /* The start of the device is not part of the picture's work. */
        if (span->kind != GF_SPAN_START)
            gf_times_add(&times[span->kind], span->begin_s, span->end_s);
    }
}

static void fill_result(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                        struct gf_remote_result *result)
{
    const struct gf_profile *const profile = &pipeline->profile;
    *result = (struct gf_remote_result){.in_end = gf_input_position(task->input),
                                        .out_bytes = gf_output_size(task->output),
                                        .lanes = profile->lanes,
                                        .band_rows = profile->band_rows,
                                        .device_decoded = profile->device_decoded,
                                        .device_encoded = profile->device_encoded,
                                        .quality = profile->quality,
                                        .tries = profile->tries,
                                        .score = profile->score,
                                        .frames = profile->frames};
    memcpy(result->device, profile->device, sizeof result->device);
    sum_spans(&pipeline->spans, result->spans);
    result->run_s = gf_now() - pipeline->spans.origin_s;
}

static enum gf_status open_files(const struct gf_remote_work *work, struct gf_picture_task *task,
                                 struct gf_error *error)
{
    enum gf_status status =
        gf_output_open_descriptor(work->out, work->out_name, &task->output, error);
    if (status) {
        close(work->in);
        return status;
    }
    return gf_input_open_descriptor(work->in, work->in_offset, work->in_pages, work->in_name,
                                    &task->input, error);
}

/* A client sends many pictures with one chain, so that the parsed chain is kept with the constants
 * of its last plan, unless it names files. */
enum gf_status gf_pipeline_take_work(struct gf_pipeline *pipeline,
                                     const struct gf_remote_work *work, struct gf_error *error)
{
    const char *const chain = work->chain ? work->chain : "";
    const struct gf_options own = pipeline->options;
    struct gf_options options = work->options;
    options.device = own.device;
    options.device_index = own.device_index;
    options.device_memory_bytes = own.device_memory_bytes;
    options.host_memory = own.host_memory;
    options.transfer = own.transfer;
    options.sandbox_program = own.sandbox_program;
    options.sandbox = own.sandbox > options.sandbox ? own.sandbox : options.sandbox;
    if (!work->files && pipeline->chain_text && !strcmp(pipeline->chain_text, chain))
        return gf_pipeline_set_options(pipeline, &options, error);
    free(pipeline->chain_text);
    pipeline->chain_text = NULL;
    GF_TRY(gf_pipeline_configure(pipeline, chain, &options, error));
    if (!work->files)
        pipeline->chain_text = strdup(chain);
    return GF_OK;
}

enum gf_status gf_pipeline_filter_remote_work(struct gf_pipeline *pipeline,
                                              const struct gf_remote_work *work,
                                              struct gf_remote_result *result,
                                              struct gf_error *error)
{
    const struct gf_destination nowhere = {.number = work->number};
    struct gf_picture_task task = {
        .destination = &nowhere, .number = 1, .file_format = work->options.format};
    /* All facts count as warned of, since the client warns of those that the picture lacks. */
    atomic_uint missed = ~0u;
    const struct gf_handed_files handed = {work->files, work->file_name, work->file};
    pipeline->keeps_slow_files = work->keeps_slow_files;
    gf_pipeline_share_progress(pipeline, work->progress);
    gf_pipeline_share_missed(pipeline, &missed);
    gf_named_files_hand(&handed);
    enum gf_status status = open_files(work, &task, error);
    GF_THEN(status, gf_pipeline_take_work(pipeline, work, error));
    if (!status) {
        gf_pipeline_limit_output(pipeline, &task);
        gf_spans_restart(&pipeline->spans, work->options.spans);
        status = gf_input_format(task.input, &task.own_format, error);
    }
    GF_THEN(status, gf_pipeline_filter_task(pipeline, &task, error));
    GF_THEN(status, gf_output_commit(task.output, error));
    if (!status)
        fill_result(pipeline, &task, result);
    gf_output_close(task.output);
    gf_input_close(task.input);
    gf_named_files_hand(NULL);
    gf_pipeline_share_progress(pipeline, NULL);
    gf_pipeline_share_missed(pipeline, NULL);
    return status;
}
