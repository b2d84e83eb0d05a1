/* Decodes many files in memory to pictures in a device's memory, and encodes such pictures.
 * Those that the device codes without a filter go to its coders together, and all others through
 * the pipeline. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "gpufilter/pipeline_batch.h"
#include "pipeline/device/batch.h"

struct file {
    struct gf_coding coding; /* the first member, by whose address the file is found */
    struct gf_coder_picture picture;
    struct gf_device_file file;
    struct gf_plan plan;
    struct gf_image decoded; /* what the coders write */
    size_t place;            /* in the pinned memory; NOWHERE: the caller's bytes are pinned */
    bool own;                /* the library allocates the picture */
};

static const size_t NOWHERE = SIZE_MAX;

struct decoding {
    struct gf_device_batch batch;
    const void *const *data;
    const size_t *sizes;
    struct gf_image *images;
    struct file *files;
    unsigned char *pinned; /* for the bytes that are not */
};

static void note_warning(void *context, const char *text)
{
    (void)text;
    *(bool *)context = true;
}

/* Plans the picture as the pipeline does. Leaves whatever is unusual to it: pictures of which it
 * warns, and those whose colours it looks at. */
static bool plan_picture(struct gf_pipeline *quiet, struct gf_input *input,
                         struct gf_source *source, struct gf_image *image, struct gf_plan *plan)
{
    struct gf_plan_request request;
    struct gf_picture_task task = {.input = input, .image_out = image};
    return !gf_pipeline_request(quiet, source, &request, NULL) &&
           !source->metadata.colour.has_cicp && !request.icc.size && !request.icc.hdr[1] &&
           !gf_pipeline_plan_part(quiet, &task, &quiet->chain, source->format, &request, plan,
                                  NULL) &&
           !plan->icc.inks;
}

/* Takes memory for the decoded picture and for the result, which are one if there is nothing to
 * filter. */
static bool take_images(const struct gf_pipeline *pipeline, struct file *file,
                        struct gf_image *image)
{
    if (image->data ? memcmp(&image->format, &file->plan.out, sizeof image->format) ||
                          !gf_device_image_is_aligned(image)
                    : gf_pipeline_alloc_image(pipeline, file->plan.out, image, NULL) != GF_OK)
        return false;
    file->decoded = *image;
    return !file->plan.stage_count ||
           !gf_pipeline_alloc_image(pipeline, file->plan.in, &file->decoded, NULL);
}

/* Opens the file as a source like any other, plans the picture and takes memory for it. Returns
 * whether the device decodes it: not if this fails here, or if the header gives a warning. */
static bool describe(const struct decoding *decoding, int i)
{
    struct file *const file = &decoding->files[i];
    struct gf_pipeline quiet = *decoding->batch.pipeline;
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    bool warned = false;
    quiet.options.serial = true;
    quiet.options.warn = note_warning;
    quiet.options.warn_context = &warned;
    struct gf_options options = quiet.options;
    options.threads = 1;
    const bool described =
        !gf_input_open_memory(decoding->data[i], decoding->sizes[i], "", &input, NULL) &&
        !gf_source_open(input, &options, &source, NULL) &&
        plan_picture(&quiet, input, source, &decoding->images[i], &file->plan) &&
        gf_device_file_describe(decoding->data[i], decoding->sizes[i], source,
                                decoding->batch.pipeline->backend, &file->file);
    if (source)
        source->close(source);
    gf_input_close(input);
    return described && !warned &&
           take_images(decoding->batch.pipeline, file, &decoding->images[i]);
}

static struct gf_coding *prepare_decoding(void *context, int i)
{
    const struct decoding *const decoding = context;
    struct file *const file = &decoding->files[i];
    const struct gf_image *const image = &decoding->images[i];
    file->own = !image->data;
    if (!file->own && gf_device_batch_check(&decoding->batch, image, gf_picture_name(i).text,
                                            &decoding->batch.errors[i])) {
        decoding->batch.ended[i] = true;
        return NULL;
    }
    if (!decoding->batch.coders || !describe(decoding, i))
        return NULL;
    if (file->place != NOWHERE) {
        file->file.data = decoding->pinned + file->place;
        memcpy(file->file.data, decoding->data[i], decoding->sizes[i]);
    }
    file->picture = gf_device_file_work(&file->file, &file->decoded);
    file->coding.picture = &file->picture;
    return &file->coding;
}

/* Finds places in pinned memory for the files from `first` on, up to `most` bytes, or for one; not
 * for many if they are decoded to memory of their own. Returns the number of files; *bytes becomes
 * what they need. */
static int find_places(const struct decoding *decoding, int first, uint64_t most, size_t *bytes)
{
    enum { ALIGNMENT = 64, FILTERED_MOST = 64 };
    struct gf_backend *const backend = decoding->batch.pipeline->backend;
    const int end = decoding->batch.pipeline->chain.count ? first + FILTERED_MOST : INT_MAX;
    int i = first;
    *bytes = 0;
    for (; i < decoding->batch.count && i < end; i++) {
        const size_t size = (decoding->sizes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        decoding->files[i].place = NOWHERE;
        if (backend->calls->is_pinned(backend, decoding->data[i]))
            continue;
        if (i > first && *bytes + size > most)
            break;
        decoding->files[i].place = *bytes;
        *bytes += size;
    }
    return i - first;
}

/* Runs the chain on a decoded picture. */
static enum gf_status filter(struct gf_pipeline *pipeline, struct file *file,
                             struct gf_image *image)
{
    struct gf_picture_task task = {.image_in = &file->decoded,
                                   .image_out = image,
                                   .in_on_device = true,
                                   .out_is_callers = true};
    gf_pipeline_begin_profile(pipeline);
    pipeline->band_rows = pipeline->options.band_rows;
    pipeline->stages_done = pipeline->segments_done = 0;
    gf_plan_take_constants(&file->plan, &pipeline->last_plan);
    const enum gf_status status =
        gf_pipeline_schedule(pipeline, &file->plan, NULL, NULL, &task, NULL);
    gf_plan_free(&pipeline->last_plan);
    pipeline->last_plan = file->plan;
    file->plan = (struct gf_plan){0};
    return status;
}

static void take_decoded(void *context, struct gf_coding *coding)
{
    struct decoding *const decoding = context;
    struct file *const file = (struct file *)coding;
    const ptrdiff_t i = file - decoding->files;
    bool ended = !file->coding.status && file->picture.done;
    if (ended && file->plan.stage_count)
        ended = !filter(decoding->batch.pipeline, file, &decoding->images[i]);
    decoding->batch.ended[i] = ended;
}

/* Frees what was only needed on the way. */
static void drop_file(struct decoding *decoding, int i)
{
    struct file *const file = &decoding->files[i];
    const struct gf_backend *const backend = decoding->batch.pipeline->backend;
    if (file->decoded.data && file->decoded.data != decoding->images[i].data)
        backend->calls->release(decoding->batch.pipeline->backend, file->decoded.data,
                                file->decoded.pitch * (size_t)file->decoded.format.height);
    gf_plan_free(&file->plan);
}

/* Decodes some files from `first` on by the coders. Returns how many were looked at. */
static enum gf_status decode_some(struct decoding *decoding, int first, int *count,
                                  struct gf_error *error)
{
    struct gf_device_batch *const batch = &decoding->batch;
    struct gf_buffer_pool *const buffers = &batch->pipeline->buffers;
    size_t bytes;
    *count = find_places(decoding, first, gf_pipeline_file_bytes_most(batch->pipeline), &bytes);
    /* Pinning waits for the device: pipelines beside others share what is pinned. */
    buffers->shares = batch->pipeline->options.serial && !batch->pipeline->options.memory_bytes;
    if (bytes && batch->coders) {
        decoding->pinned = gf_buffer_pool_take_host(buffers, bytes);
        GF_ALLOCATED(decoding->pinned, error);
        gf_buffer_pool_pin(buffers, decoding->pinned);
    }
    batch->pipeline->holds_buffers = true;
    const enum gf_status status = gf_device_batch_code(batch, first, *count, prepare_decoding,
                                                       take_decoded, false, decoding, error);
    batch->pipeline->holds_buffers = false;
    for (int i = first; i < first + *count; i++)
        drop_file(decoding, i);
    gf_buffer_pool_return(buffers, decoding->pinned);
    decoding->pinned = NULL;
    return status;
}

static enum gf_status decode_file(const struct decoding *decoding, struct gf_pipeline *pipeline,
                                  int i, struct gf_image *image, struct gf_error *error)
{
    struct gf_picture_task task = {.image_out = image, .out_is_callers = true};
    return gf_pipeline_decode_task(pipeline, decoding->data[i], decoding->sizes[i],
                                   gf_picture_name(i).text, &task, error);
}

/* Decodes a file to a picture of the caller's whose rows are not aligned. */
static enum gf_status decode_and_copy(const struct decoding *decoding, struct gf_pipeline *pipeline,
                                      int i, struct gf_error *error)
{
    const struct gf_image *const image = &decoding->images[i];
    struct gf_image aligned = {.data = NULL};
    enum gf_status status = decode_file(decoding, pipeline, i, &aligned, error);
    if (!status && memcmp(&aligned.format, &image->format, sizeof aligned.format))
        status = gf_fail(error, GF_ERROR_USAGE, "%s: its format is not that of the result",
                         gf_picture_name(i).text);
    GF_THEN(status, gf_device_batch_copy(pipeline, image, &aligned, error));
    gf_pipeline_free_images(pipeline, &aligned, 1);
    return status;
}

static void decode_alone(void *context, struct gf_pipeline *pipeline, int i)
{
    const struct decoding *const decoding = context;
    struct gf_image *const image = &decoding->images[i];
    struct gf_error *const error = &decoding->batch.errors[i];
    const enum gf_status status = !image->data || gf_device_image_is_aligned(image)
                                      ? decode_file(decoding, pipeline, i, image, error)
                                      : decode_and_copy(decoding, pipeline, i, error);
    if (status && decoding->files[i].own)
        gf_pipeline_free_images(pipeline, image, 1);
}

/* Waits for the caller's work on the pictures whose memory is the caller's. */
static enum gf_status await(const struct decoding *decoding, struct gf_error *error)
{
    for (int i = 0; i < decoding->batch.count; i++) {
        if (decoding->images[i].data)
            return gf_device_batch_await(&decoding->batch, error);
    }
    return GF_OK;
}

enum gf_status gf_decode_batch(struct gf_pipeline *pipeline, int count, const void *const *data,
                               const size_t *sizes, struct gf_image *images, void *stream,
                               struct gf_error *errors, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(data, error);
    GF_NOT_NULL(sizes, error);
    GF_NOT_NULL(images, error);
    struct decoding decoding = {.data = data, .sizes = sizes, .images = images};
    GF_TRY(gf_device_batch_open(&decoding.batch, pipeline, count, stream, errors, error));
    decoding.files = calloc((size_t)count + 1, sizeof *decoding.files);
    enum gf_status status = decoding.files ? await(&decoding, error) : gf_fail_memory(error);
    for (int first = 0, some; !status && first < count; first += some)
        status = decode_some(&decoding, first, &some, error);
    GF_THEN(status, gf_device_batch_finish(&decoding.batch, decode_alone, &decoding, error));
    free(decoding.files);
    const enum gf_status failed = gf_device_batch_close(&decoding.batch, status ? NULL : error);
    return status ? status : failed;
}

/* Encodes many pictures in a device's memory to files in memory. Those that the device encodes
 * without a filter go to its coders together, and all others through the pipeline. */

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

static struct gf_coding *prepare_encoding(void *context, int i)
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
    /* Pictures that the coders do not take are left to the CPU. The coders report no progress. */
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
static void take_encoded(void *context, struct gf_coding *coding)
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
        GF_THEN(status, gf_output_commit(output, &why));
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
    GF_THEN(status, gf_device_batch_copy(pipeline, &aligned, image, error));
    GF_THEN(status, encode_picture(encoding, pipeline, i, &aligned, error));
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
    GF_TRY(gf_device_batch_code(batch, 0, batch->count, prepare_encoding, take_encoded, true,
                                encoding, error));
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
