/* Filters pictures in the caller's memory: pixels to pixels, files to pixels, pixels to files. */
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "base/image.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

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

/* Whether the two overlap: bands of the result are written while the input is still being read. The
 * two may lie side by side in one larger picture. */
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

enum gf_status gf_pipeline_decode_input(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                        struct gf_error *error)
{
    gf_pipeline_begin_profile(pipeline);
    enum gf_status status = gf_input_format(task->input, &task->own_format, error);
    if (!status)
        status = gf_pipeline_filter_task(pipeline, task, error);
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
    return gf_pipeline_decode_input(pipeline, task, error);
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
    if (!status)
        status = gf_output_commit(task->output, error);
    if (!status) {
        gf_pipeline_end_profile(pipeline);
        *result = gf_output_take(task->output, result_size);
    }
    gf_output_close(task->output);
    return status;
}

enum gf_status gf_pipeline_encode_named(struct gf_pipeline *pipeline, const struct gf_image *input,
                                        enum gf_file_format format, const char *name, void **result,
                                        size_t *result_size, struct gf_error *error)
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
    return gf_pipeline_encode_named(pipeline, input, format, "output", result, result_size, error);
}
