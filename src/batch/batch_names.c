/* Names the outputs of a batch before anything runs. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "batch/batch_work.h"
#include "codec/codec.h"

/* Whether naming the output needs the input's header: for {w}, {h}, or {ext} where the input's name
 * has no known extension. */
static bool needs_header(const struct gf_template *output, const char *input)
{
    if (output->has_size)
        return true;
    for (int i = 0; i < output->parts; i++) {
        if (output->part[i].field == GF_FIELD_EXT && output->format == GF_FILE_AUTO &&
            gf_file_format_named(input) == GF_FILE_AUTO)
            return true;
    }
    return false;
}

enum gf_status gf_batch_open_header_reader(const struct gf_batch *batch,
                                           struct gf_pipeline **reader, struct gf_error *error)
{
    struct gf_options options = batch->options;
    options.device = GF_DEVICE_CPU;
    options.codec = GF_CODEC_CPU;
    return *reader ? GF_OK : gf_pipeline_open(batch->request->chain, &options, reader, error);
}

/* Names the output of one input, if that can be done before the run. */
static enum gf_status name_output(struct gf_batch *batch, size_t index,
                                  struct gf_pipeline **header_reader, struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    const struct gf_template *const output = request->output;
    const struct gf_input_name *const input = &request->inputs->item[index];
    struct gf_template_values values = {.input = input, .number = index + 1};
    const bool alone = request->inputs->count == 1, unread = needs_header(output, input->path);
    if (output->is_stdout || gf_batch_numbers_pictures(batch))
        return GF_OK;
    if (unread && gf_batch_is_stream(input->path)) {
        if (alone)
            return GF_OK;
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: a stream among other inputs needs an output without {w} and {h}, and "
                       "--format for {ext}",
                       input->path);
    }
    if (unread) {
        struct gf_peek peek;
        const enum gf_status status = gf_batch_open_header_reader(batch, header_reader, error);
        if (status)
            return status;
        if (gf_pipeline_peek(*header_reader, input->path, &peek, &(struct gf_error){0}))
            return GF_OK; /* the run will report it */
        values.width = peek.out.width;
        values.height = peek.out.height;
        values.content = peek.content;
    }
    const enum gf_status status =
        gf_template_expand(output, &values, &batch->item[index].output, error);
    enum gf_file_format format;
    /* An unknown extension is an error before the run. */
    return status ? status
                  : gf_sink_format(batch->item[index].output, &batch->options, GF_FILE_AUTO,
                                   &format, error);
}

/* A file that is its own output would be filtered twice if the run before was killed between
 * writing and logging it. */
static enum gf_status check_in_place(const struct gf_batch *batch, size_t index,
                                     struct gf_error *error)
{
    const char *const input = batch->request->inputs->item[index].path;
    const char *const output = batch->item[index].output;
    struct stat a, b;
    if (!batch->request->resume || !output || stat(input, &a) || stat(output, &b) ||
        a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE, "%s: is its own output: --resume could filter it twice",
                   input);
}

/* A log that is an input or an output too would overwrite it, or be overwritten. */
static enum gf_status check_log(const struct gf_batch *batch, size_t index, struct gf_error *error)
{
    const struct gf_batch_log *const log = batch->request->log;
    const char *const input = batch->request->inputs->item[index].path;
    const char *const output = batch->item[index].output;
    const bool is_input = log && gf_batch_log_is(log, input);
    if (!is_input && !(log && output && gf_batch_log_is(log, output)))
        return GF_OK;
    gf_batch_log_withdraw(log);
    return gf_fail(error, GF_ERROR_USAGE, "%s: is an %s and the log", is_input ? input : output,
                   is_input ? "input" : "output");
}

enum gf_status gf_batch_name_outputs(struct gf_batch *batch, struct gf_error *error)
{
    const struct gf_inputs *const inputs = batch->request->inputs;
    struct gf_pipeline *header_reader = NULL;
    enum gf_status status = GF_OK;
    for (size_t i = 0; !status && i < inputs->count; i++) {
        status = name_output(batch, i, &header_reader, error);
        if (!status)
            status = check_in_place(batch, i, error);
        if (!status)
            status = check_log(batch, i, error);
    }
    gf_pipeline_close(header_reader);
    if (status || inputs->count < 2 || batch->request->output->is_stdout)
        return status;
    char **const path = calloc(inputs->count, sizeof *path);
    for (size_t i = 0; path && i < inputs->count; i++)
        path[i] = batch->item[i].output;
    status = path ? gf_outputs_check(inputs, path, error) : gf_fail_memory(error);
    free(path);
    return status;
}
