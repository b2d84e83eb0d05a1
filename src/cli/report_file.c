#include "cli/report_file.h"

#include "base/fail.h"

/* A stream that writes to an output and keeps its first error. */
struct output_stream {
    struct gf_output *output;
    enum gf_status status;
    struct gf_error *error;
};

static ssize_t write_to_output(void *context, const char *data, size_t size)
{
    struct output_stream *const stream = context;
    if (!stream->status)
        stream->status = gf_output_write(stream->output, data, size, stream->error);
    return stream->status ? 0 : (ssize_t)size;
}

enum gf_status gf_report_open(const char *path, struct gf_output **output, struct gf_error *error)
{
    const enum gf_status status = gf_output_open(path, output, error);
    return status == GF_ERROR_UNFIT ? GF_ERROR_USAGE : status;
}

enum gf_status gf_report_write(struct gf_output *output, gf_report_writer *write,
                               const void *context, struct gf_error *error)
{
    struct output_stream stream = {.output = output, .error = error};
    FILE *const file = fopencookie(&stream, "w", (cookie_io_functions_t){.write = write_to_output});
    if (!file)
        return gf_fail_memory(error);
    /* For a stream of pictures the file keeps the report of the last one. */
    enum gf_status status = gf_output_rewind(output, error);
    if (!status)
        status = write(file, context, error);
    if (fclose(file) && !status && !stream.status)
        status = gf_fail_memory(error);
    if (!status)
        status = stream.status;
    return status ? status : gf_output_commit(output, error);
}
