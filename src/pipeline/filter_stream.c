/* Filters pictures from and to functions of the caller, which give and take bytes. */
#include "gpufilter/pipeline_stream.h"

#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "base/image.h"
#include "codec/io/input.h"
#include "pipeline/pipeline_state.h"

/* A caller's reader during a call. Its end and its failure stay, whoever asks again. */
struct reading {
    struct gf_reader reader; /* gives read_some() and this struct to the input */
    struct gf_reader callers;
    bool ended;
    struct gf_error failure;
};

/* Makes a function's failure its *error, even if it has written none there. */
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

/* Copies the members that this version knows of a caller's struct, and gives it a name. */
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

/* Returns the status of a call that has read. The reader's failure ends it even if a decoder could
 * do without the bytes. */
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

/* Hands the file over in pieces, and frees it. */
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
    if (pipeline->on_cuda)
        gf_input_keep_all(task.input);
    const enum gf_status status =
        end_reading(&reading, gf_pipeline_decode_input(pipeline, &task, error), error);
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
    GF_TRY(gf_pipeline_encode_named(pipeline, input, format, name_of(writer), &file.data,
                                    &file.size, error));
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
