/* Filters pictures in the caller's memory: pixels to pixels, files to pixels, pixels to files, also
 * by functions of the caller that give and take bytes. Counts the levels of a result. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/pipeline_stream.h"
#include "pipeline/pipeline_state.h"
#include "pixel/histogram/histogram.h"
#include "pixel/point/point.h"

enum gf_status gf_pipeline_format(struct gf_pipeline *pipeline, struct gf_format input,
                                  struct gf_format *output, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(output, error);
    struct gf_plan plan;
    GF_TRY(gf_format_check(input, "input", error));
    GF_TRY(gf_plan_make(&pipeline->chain, input, 1, &plan, error));
    *output = plan.out;
    gf_plan_free(&plan);
    return GF_OK;
}

static uintptr_t end_of(const struct gf_image *image)
{
    return (uintptr_t)image->data + image->pitch * (size_t)(image->format.height - 1) +
           gf_row_bytes(image->format);
}

/* Whether two pictures share samples, which is not allowed, because bands of the result are written
 * while the input is still being read. The two may lie side by side in one larger picture. */
static bool overlap(const struct gf_image *a, const struct gf_image *b)
{
    const struct gf_image *const low = a->data < b->data ? a : b, *const high = low == a ? b : a;
    if ((uintptr_t)high->data >= end_of(low))
        return false;
    const size_t column = (size_t)(high->data - low->data) % low->pitch;
    return low->pitch != high->pitch || column < gf_row_bytes(low->format) ||
           column + gf_row_bytes(high->format) > low->pitch;
}

enum gf_status gf_pipeline_check_output(const struct gf_image *input, const struct gf_image *output,
                                        struct gf_format result, struct gf_error *error)
{
    if (memcmp(&output->format, &result, sizeof result))
        return gf_fail(error, GF_ERROR_USAGE, "output: its format is not that of the result");
    GF_TRY(gf_image_check(output, "output", error));
    return overlap(input, output) ? gf_fail(error, GF_ERROR_USAGE, "output: overlaps the input")
                                  : GF_OK;
}

enum gf_status gf_pipeline_run_image(struct gf_pipeline *pipeline, const struct gf_image *input,
                                     struct gf_image *output, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(input, error);
    GF_NOT_NULL(output, error);
    struct gf_format format = {0};
    GF_TRY(gf_image_check(input, "input", error));
    GF_TRY(gf_pipeline_format(pipeline, input->format, &format, error));
    const bool own = !output->data;
    if (own)
        output->format = format;
    else
        GF_TRY(gf_pipeline_check_output(input, output, format, error));
    gf_pipeline_begin_profile(pipeline);
    struct gf_picture_task task = {.image_in = input, .image_out = output};
    const enum gf_status status = gf_pipeline_filter_task(pipeline, &task, error);
    if (!status)
        gf_pipeline_end_profile(pipeline);
    else if (own)
        gf_image_free(output);
    return status;
}

/* Does what gf_pipeline_decode() does for a task whose input is open, and closes the input. */
static GF_CHECKED enum gf_status pipeline_decode_input(struct gf_pipeline *pipeline,
                                                       struct gf_picture_task *task,
                                                       struct gf_error *error)
{
    gf_pipeline_begin_profile(pipeline);
    enum gf_status status = gf_input_format(task->input, &task->own_format, error);
    GF_THEN(status, gf_pipeline_filter_task(pipeline, task, error));
    if (!status)
        gf_pipeline_end_profile(pipeline);
    gf_input_close(task->input);
    return status;
}

enum gf_status gf_pipeline_decode_task(struct gf_pipeline *pipeline, const void *data, size_t size,
                                       const char *name, struct gf_picture_task *task,
                                       struct gf_error *error)
{
    GF_TRY(gf_input_open_memory(data, size, name, &task->input, error));
    return pipeline_decode_input(pipeline, task, error);
}

enum gf_status gf_pipeline_decode(struct gf_pipeline *pipeline, const void *data, size_t size,
                                  struct gf_image *output, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(data, error);
    GF_NOT_NULL(output, error);
    const bool own = !output->data;
    struct gf_picture_task task = {.image_out = output};
    if (!own)
        GF_TRY(gf_image_check(output, "output", error));
    const enum gf_status status =
        gf_pipeline_decode_task(pipeline, data, size, "input", &task, error);
    if (status && own)
        gf_image_free(output);
    return status;
}

enum gf_status gf_pipeline_encode_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       void **result, size_t *result_size, struct gf_error *error)
{
    gf_pipeline_begin_profile(pipeline);
    enum gf_status status = gf_pipeline_filter_task(pipeline, task, error);
    GF_THEN(status, gf_output_commit(task->output, error));
    if (!status) {
        gf_pipeline_end_profile(pipeline);
        *result = gf_output_take(task->output, result_size);
    }
    gf_output_close(task->output);
    return status;
}

/* Does what gf_pipeline_encode() does. Messages call the output `name`. */
static GF_CHECKED enum gf_status pipeline_encode_named(struct gf_pipeline *pipeline,
                                                       const struct gf_image *input,
                                                       enum gf_file_format format, const char *name,
                                                       void **result, size_t *result_size,
                                                       struct gf_error *error)
{
    struct gf_bytes bytes = {.format = format, .name = name};
    const struct gf_destination destination = {.bytes = &bytes};
    struct gf_picture_task task = {
        .image_in = input, .destination = &destination, .own_format = GF_FILE_PNG};
    GF_TRY(gf_pipeline_check_format(format, error));
    GF_TRY(gf_image_check(input, "input", error));
    return gf_pipeline_encode_task(pipeline, &task, result, result_size, error);
}

enum gf_status gf_pipeline_encode(struct gf_pipeline *pipeline, const struct gf_image *input,
                                  enum gf_file_format format, void **result, size_t *result_size,
                                  struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(input, error);
    GF_NOT_NULL(result, error);
    GF_NOT_NULL(result_size, error);
    return pipeline_encode_named(pipeline, input, format, "output", result, result_size, error);
}

/* Filtering pictures that functions of the caller give and take as bytes. */

/* A caller's reader during a call. Once it has ended or failed, it is not called again. */
struct reading {
    struct gf_reader reader; /* the reader that the input calls: read_some() with this struct */
    struct gf_reader callers;
    bool ended;
    struct gf_error failure;
};

/* Gives the error of a caller's function a text if it has written none. Returns its status. */
static enum gf_status tell(const char *name, enum gf_status status, struct gf_error *failure)
{
    if (status && !*failure->text)
        (void)gf_fail(failure, status, "%s: %s", name, gf_status_meaning(status));
    failure->status = status;
    return status;
}

static enum gf_status read_some(void *context, void *data, size_t size, size_t *got,
                                struct gf_error *error)
{
    struct reading *const reading = context;
    const char *const name = reading->reader.name;
    struct gf_error *const failure = &reading->failure;
    *got = 0;
    if (!reading->ended && !failure->status) {
        enum gf_status status =
            reading->callers.read(reading->callers.context, data, size, got, failure);
        if (!status && *got > size)
            status = gf_fail(failure, GF_ERROR_READ, "%s: its function gave %zu bytes of %zu", name,
                             *got, size);
        (void)tell(name, status, failure);
        reading->ended = !*got;
    }
    if (failure->status && error)
        *error = *failure;
    return failure->status;
}

/* Opens an input that reads from the caller's reader. Copies the members of the caller's struct
 * that this version knows, and the name, or "input". */
static enum gf_status begin_reading(const struct gf_reader *given, struct reading *reading,
                                    struct gf_input **input, struct gf_error *error)
{
    if (given->size < sizeof *given || !given->read)
        return gf_fail(error, GF_ERROR_USAGE, "reader: it has no size or no function");
    *reading = (struct reading){.callers = *given};
    reading->reader = (struct gf_reader){.size = sizeof *given,
                                         .read = read_some,
                                         .context = reading,
                                         .name = given->name ? given->name : "input"};
    return gf_input_open_reader(&reading->reader, input, error);
}

/* Returns the status of a call that has read from a caller's reader. If the reader has failed, the
 * call fails, too, even if the decoder did not need the missing bytes. */
static enum gf_status end_reading(const struct reading *reading, enum gf_status status,
                                  struct gf_error *error)
{
    if (!reading->failure.status)
        return status;
    if (error)
        *error = reading->failure;
    return reading->failure.status;
}

static enum gf_status check_writer(const struct gf_writer *writer, struct gf_error *error)
{
    return writer->size < sizeof *writer || !writer->write
               ? gf_fail(error, GF_ERROR_USAGE, "writer: it has no size or no function")
               : GF_OK;
}

static const char *name_of(const struct gf_writer *writer)
{
    return writer->name ? writer->name : "output";
}

/* Hands the file over to the caller's writer in pieces, and frees it. */
static enum gf_status write_all(const struct gf_writer *writer, struct gf_bytes *file,
                                struct gf_error *error)
{
    enum { PIECE_BYTES = 1 << 20 };
    struct gf_error failure = {0};
    enum gf_status status = GF_OK;
    for (size_t done = 0, some; !status && done < file->size; done += some) {
        some = file->size - done < PIECE_BYTES ? file->size - done : PIECE_BYTES;
        status = writer->write(writer->context, (const char *)file->data + done, some, &failure);
    }
    gf_free(file->data);
    if (tell(name_of(writer), status, &failure) && error)
        *error = failure;
    return status;
}

enum gf_status gf_pipeline_decode_from(struct gf_pipeline *pipeline, const struct gf_reader *reader,
                                       struct gf_image *output, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(reader, error);
    GF_NOT_NULL(output, error);
    const bool own = !output->data;
    struct gf_picture_task task = {.image_out = output};
    struct reading reading;
    if (!own)
        GF_TRY(gf_image_check(output, "output", error));
    GF_TRY(begin_reading(reader, &reading, &task.input, error));
    if (pipeline->on_cuda || pipeline->returns)
        gf_input_keep_all(task.input);
    const enum gf_status status =
        end_reading(&reading, pipeline_decode_input(pipeline, &task, error), error);
    if (status && own)
        gf_image_free(output);
    return status;
}

enum gf_status gf_pipeline_encode_to(struct gf_pipeline *pipeline, const struct gf_image *input,
                                     enum gf_file_format format, const struct gf_writer *writer,
                                     struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(input, error);
    GF_NOT_NULL(writer, error);
    struct gf_bytes file = {.data = NULL};
    GF_TRY(check_writer(writer, error));
    GF_TRY(pipeline_encode_named(pipeline, input, format, name_of(writer), &file.data, &file.size,
                                 error));
    return write_all(writer, &file, error);
}

enum gf_status gf_pipeline_run_stream(struct gf_pipeline *pipeline, const struct gf_reader *reader,
                                      enum gf_file_format format, const struct gf_writer *writer,
                                      struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(reader, error);
    GF_NOT_NULL(writer, error);
    struct reading reading;
    struct gf_file_bytes input = {.data = NULL};
    struct gf_bytes file = {.format = format, .name = name_of(writer)};
    GF_TRY(gf_pipeline_check_format(format, error));
    GF_TRY(check_writer(writer, error));
    GF_TRY(begin_reading(reader, &reading, &input.opened, error));
    const enum gf_status status = end_reading(
        &reading, gf_pipeline_run_to_bytes(pipeline, reading.reader.name, &input, &file, error),
        error);
    if (!status)
        return write_all(writer, &file, error);
    gf_free(file.data);
    return status;
}

/* Counting the levels of a result. Two filters are put at the end of the pipeline's chain: one that
 * takes the histogram, which the engine counts as it does for equalize, and a crop, so that after
 * the counting only one pixel is computed. */

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
    .takes_floats = true,
    .statistic = statistic,
    .point = take,
};

/* Appends the filter that takes the histogram, and the crop, to the chain. */
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
    GF_THEN(status, gf_pipeline_filter_task(pipeline, &task, error));
    gf_image_free(&image);
    return status;
}
