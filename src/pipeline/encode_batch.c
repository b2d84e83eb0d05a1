/* Encodes many pictures in a device's memory to files in memory. Those that the device encodes
 * without a filter go to its coders together, and all others through the pipeline. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "base/pages.h"
#include "gpufilter/pipeline_batch.h"
#include "pipeline/device_batch.h"

enum { HEADERS_MOST = 4096 }; /* usually; a file may have more */

struct picture {
    struct gf_coding coding; /* the first member, by whose address the picture is found */
    struct gf_coder_picture picture;
    struct gf_picture_task task;
    struct gf_sink *sink;
};

struct encoding {
    struct gf_device_batch batch;
    const struct gf_image *images;
    void **results;
    size_t *sizes;
    struct picture *pictures;
    struct gf_destination destination;
    struct gf_bytes bytes;
    enum gf_file_format file_format;
};

static void close_output(struct picture *picture)
{
    if (picture->sink)
        picture->sink->close(picture->sink);
    gf_output_close(picture->task.output);
    picture->sink = NULL;
    picture->task.output = NULL;
}

static struct gf_picture_task task_of(const struct gf_destination *destination,
                                      const struct gf_image *image)
{
    return (struct gf_picture_task){.image_in = image,
                                    .destination = destination,
                                    .own_format = GF_FILE_PNG,
                                    .in_on_device = true};
}

/* Plans the picture and opens its output as the pipeline does. Leaves whatever is unusual to it. */
static bool open_output(const struct encoding *encoding, int i)
{
    static const struct gf_place nowhere;
    struct gf_pipeline *const pipeline = encoding->batch.pipeline;
    struct picture *const picture = &encoding->pictures[i];
    const struct gf_plan_request request = {.orientation = 1};
    struct gf_plan plan = {0};
    picture->task = task_of(&encoding->destination, &encoding->images[i]);
    const bool planned = !gf_pipeline_plan_part(pipeline, &picture->task, &pipeline->chain,
                                                encoding->images[i].format, &request, &plan, NULL);
    const bool opened = planned && !plan.stage_count &&
                        !gf_pipeline_open_sink(pipeline, &picture->task, plan.out, &nowhere, NULL,
                                               false, &gf_no_metadata, &picture->sink, NULL);
    gf_plan_free(&plan);
    if (opened && picture->sink->splice)
        return true;
    close_output(picture);
    return false;
}

static struct gf_coding *prepare(void *context, int i)
{
    const struct encoding *const encoding = context;
    const struct gf_pipeline *const pipeline = encoding->batch.pipeline;
    const struct gf_image *const image = &encoding->images[i];
    struct picture *const picture = &encoding->pictures[i];
    if (gf_device_batch_check(&encoding->batch, image, gf_picture_name(i).text,
                              &encoding->batch.errors[i])) {
        encoding->batch.ended[i] = true;
        return NULL;
    }
    /* The coders tell no progress. */
    if (!encoding->batch.coders || pipeline->chain.count || pipeline->progress ||
        !gf_device_image_is_aligned(image) ||
        !gf_device_encodes(encoding->file_format, image->format, &pipeline->options) ||
        gf_device_encoded_bytes(encoding->file_format, image->format) >
            gf_pipeline_file_bytes_most(pipeline) ||
        !open_output(encoding, i))
        return NULL;
    picture->picture = gf_device_encoding_work(encoding->file_format, image, &pipeline->options);
    picture->coding.picture = &picture->picture;
    return &picture->coding;
}

static void note_failure(const struct encoding *encoding, int i, enum gf_status status,
                         const struct gf_error *why)
{
    (void)gf_fail(&encoding->batch.errors[i], status, "%s: %s", gf_picture_name(i).text, why->text);
}

/* Gives the caller a file, in its memory if it has lent some. */
static void deliver(const struct encoding *encoding, int i, void *file, size_t size)
{
    void *const lent = encoding->results[i];
    const size_t room = encoding->sizes[i];
    if (!lent)
        encoding->results[i] = file;
    if (!lent || size <= room)
        encoding->sizes[i] = size;
    else
        (void)gf_fail(&encoding->batch.errors[i], GF_ERROR_UNFIT,
                      "%s: the file has %zu bytes, and the memory for it %zu",
                      gf_picture_name(i).text, size, room);
    if (lent && lent != file) {
        memcpy(lent, file, size <= room ? size : 0);
        free(file);
    }
}

/* Writes a picture that the coders have encoded to its output. */
static void finish(void *context, struct gf_coding *coding)
{
    struct encoding *const encoding = context;
    struct picture *const picture = (struct picture *)coding;
    const int i = (int)(picture - encoding->pictures);
    if (!picture->coding.status && picture->picture.done) {
        struct gf_output *const output = picture->task.output;
        struct gf_error why = {0};
        size_t size = picture->picture.size;
        if (encoding->results[i]) {
            gf_pages_expect(encoding->results[i],
                            size < encoding->sizes[i] ? size : encoding->sizes[i]);
            gf_output_borrow(output, encoding->results[i], encoding->sizes[i]);
        } else
            gf_output_expect(output, (int64_t)size + HEADERS_MOST, 1);
        enum gf_status status = picture->sink->splice(picture->sink, picture->picture.data,
                                                      picture->picture.size, true, &why);
        if (!status)
            status = gf_output_commit(output, &why);
        if (status)
            note_failure(encoding, i, status, &why);
        void *const file = status ? NULL : gf_output_take(output, &size);
        if (file)
            deliver(encoding, i, file, size);
        encoding->batch.ended[i] = true;
    }
    gf_coder_picture_return(&picture->picture);
    close_output(picture);
}

static enum gf_status encode_picture(const struct encoding *encoding, struct gf_pipeline *pipeline,
                                     int i, const struct gf_image *image, struct gf_error *error)
{
    struct gf_bytes bytes = encoding->bytes;
    const struct gf_destination destination = {.bytes = &bytes};
    struct gf_picture_task task = task_of(&destination, image);
    void *file;
    size_t size;
    GF_TRY(gf_pipeline_encode_task(pipeline, &task, &file, &size, error));
    deliver(encoding, i, file, size);
    return GF_OK;
}

/* Encodes a copy of a picture whose rows are not aligned. */
static enum gf_status copy_and_encode(const struct encoding *encoding, struct gf_pipeline *pipeline,
                                      int i, struct gf_error *error)
{
    const struct gf_image *const image = &encoding->images[i];
    struct gf_image aligned;
    GF_TRY(pipeline->backend->calls->ready(pipeline->backend, error));
    enum gf_status status = gf_pipeline_alloc_image(pipeline, image->format, &aligned, error);
    if (!status)
        status = gf_device_batch_copy(pipeline, &aligned, image, error);
    if (!status)
        status = encode_picture(encoding, pipeline, i, &aligned, error);
    gf_pipeline_free_images(pipeline, &aligned, 1);
    return status;
}

static void encode_alone(void *context, struct gf_pipeline *pipeline, int i)
{
    const struct encoding *const encoding = context;
    const struct gf_image *const image = &encoding->images[i];
    struct gf_error why = {0};
    const enum gf_status status = gf_device_image_is_aligned(image)
                                      ? encode_picture(encoding, pipeline, i, image, &why)
                                      : copy_and_encode(encoding, pipeline, i, &why);
    if (status)
        note_failure(encoding, i, status, &why);
}

static enum gf_status encode_all(struct encoding *encoding, struct gf_error *error)
{
    struct gf_device_batch *const batch = &encoding->batch;
    struct gf_options options = batch->pipeline->options;
    options.format = encoding->bytes.format ? encoding->bytes.format : options.format;
    GF_TRY(gf_sink_format(NULL, &options, GF_FILE_PNG, &encoding->file_format, error));
    GF_TRY(gf_device_batch_await(batch, error));
    GF_TRY(gf_device_batch_code(batch, 0, batch->count, prepare, finish, true, encoding, error));
    return gf_device_batch_finish(batch, encode_alone, encoding, error);
}

enum gf_status gf_encode_batch(struct gf_pipeline *pipeline, int count,
                               const struct gf_image *images, enum gf_file_format format,
                               void **results, size_t *sizes, void *stream, struct gf_error *errors,
                               struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(images, error);
    GF_NOT_NULL(results, error);
    GF_NOT_NULL(sizes, error);
    struct encoding encoding = {.images = images,
                                .results = results,
                                .sizes = sizes,
                                .bytes = {.format = format, .name = "output"}};
    encoding.destination.bytes = &encoding.bytes;
    GF_TRY(gf_pipeline_check_format(format, error));
    GF_TRY(gf_device_batch_open(&encoding.batch, pipeline, count, stream, errors, error));
    encoding.pictures = calloc((size_t)count + 1, sizeof *encoding.pictures);
    const enum gf_status status =
        encoding.pictures ? encode_all(&encoding, error) : gf_fail_memory(error);
    free(encoding.pictures);
    const enum gf_status failed = gf_device_batch_close(&encoding.batch, status ? NULL : error);
    return status ? status : failed;
}
