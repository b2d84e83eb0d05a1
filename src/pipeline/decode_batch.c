/* Decodes many files in memory to pictures in a device's memory. Those that the device decodes
 * without a filter go to its coders together, and all others through the pipeline. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "gpufilter/pipeline_batch.h"
#include "pipeline/device_batch.h"

struct file {
    struct gf_coding coding; /* the first member, by whose address the file is found */
    struct gf_coder_picture picture;
    struct gf_device_file file;
    size_t place; /* in the pinned memory; NOWHERE: the caller's bytes are pinned */
    bool own;     /* the library allocates the picture */
    bool ended;   /* the picture is decoded, or has failed */
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

/* Whether the picture needs nothing but its decoding, and has no colours of which the pipeline
 * warns. */
static bool is_plain(const struct gf_pipeline *pipeline, const struct gf_source *source)
{
    return !source->metadata.colour.has_cicp &&
           (!pipeline->options.autorotate || source->metadata.orientation == 1);
}

/* Reads the header as that of any file. Leaves whatever is unusual to the pipeline. */
static bool describe(const struct decoding *decoding, int i)
{
    const struct gf_pipeline *const pipeline = decoding->batch.pipeline;
    struct gf_options options = pipeline->options;
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    bool warned = false;
    options.threads = 1;
    options.serial = true;
    options.warn = note_warning;
    options.warn_context = &warned;
    const bool opened =
        !gf_input_open_memory(decoding->data[i], decoding->sizes[i], "", &input, NULL) &&
        !gf_source_open(input, &options, &source, NULL);
    const bool described = opened && is_plain(pipeline, source) &&
                           gf_device_file_describe(decoding->data[i], decoding->sizes[i], source,
                                                   &decoding->files[i].file);
    const struct gf_format format = opened ? source->format : (struct gf_format){0};
    if (source)
        source->close(source);
    gf_input_close(input);
    if (!described || warned)
        return false;
    struct gf_image *const image = &decoding->images[i];
    return image->data ? !memcmp(&image->format, &format, sizeof format) &&
                             gf_device_image_is_aligned(image)
                       : !gf_pipeline_alloc_image(pipeline, format, image, NULL);
}

static struct gf_coding *prepare(void *context, int i)
{
    const struct decoding *const decoding = context;
    struct file *const file = &decoding->files[i];
    const struct gf_image *const image = &decoding->images[i];
    file->own = !image->data;
    if (!file->own && gf_device_batch_receive(&decoding->batch, image, gf_picture_name(i).text,
                                              &decoding->batch.errors[i])) {
        file->ended = true;
        return NULL;
    }
    if (!decoding->batch.coders || !describe(decoding, i))
        return NULL;
    if (file->place != NOWHERE) {
        file->file.data = decoding->pinned + file->place;
        memcpy(file->file.data, decoding->data[i], decoding->sizes[i]);
    }
    file->picture = gf_device_file_work(&file->file, image);
    file->coding.picture = &file->picture;
    return &file->coding;
}

/* Finds places in pinned memory for the files from `first` on, up to `most` bytes, or for one.
 * Returns the number of files; *bytes becomes what they need. */
static int find_places(const struct decoding *decoding, int first, uint64_t most, size_t *bytes)
{
    enum { ALIGNMENT = 64 };
    struct gf_backend *const backend = decoding->batch.pipeline->backend;
    int i = first;
    *bytes = 0;
    for (; i < decoding->batch.count; i++) {
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

/* Decodes some files from `first` on by the coders. Returns how many were looked at. */
static enum gf_status decode_some(struct decoding *decoding, int first, int *count,
                                  struct gf_error *error)
{
    struct gf_device_batch *const batch = &decoding->batch;
    struct gf_buffer_pool *const buffers = &batch->pipeline->buffers;
    size_t bytes;
    int begun = 0;
    *count = find_places(decoding, first, gf_pipeline_file_bytes_most(batch->pipeline), &bytes);
    if (bytes && batch->coders) {
        decoding->pinned = gf_buffer_pool_take_host(buffers, bytes);
        if (!decoding->pinned)
            return gf_fail_memory(error);
        gf_buffer_pool_pin(buffers, decoding->pinned);
    }
    const enum gf_status status =
        gf_device_batch_begin(batch, first, *count, prepare, decoding, &begun, error);
    while (begun--) {
        struct file *const file = (struct file *)gf_device_batch_take(batch);
        file->ended = !file->coding.status && file->picture.done;
    }
    gf_buffer_pool_return(buffers, decoding->pinned);
    decoding->pinned = NULL;
    return status;
}

/* Decodes a file as gf_pipeline_decode() does. */
static enum gf_status decode_file(struct decoding *decoding, int i, struct gf_image *image,
                                  struct gf_error *error)
{
    struct gf_pipeline *const pipeline = decoding->batch.pipeline;
    struct gf_picture_task task = {.image_out = image, .out_is_callers = true};
    gf_pipeline_begin_profile(pipeline);
    enum gf_status status = gf_input_open_memory(decoding->data[i], decoding->sizes[i],
                                                 gf_picture_name(i).text, &task.input, error);
    if (!status)
        status = gf_pipeline_recognise(task.input, &task.own_format, error);
    if (!status)
        status = gf_pipeline_filter_task(pipeline, &task, error);
    if (!status)
        gf_pipeline_end_profile(pipeline);
    gf_input_close(task.input);
    return status;
}

/* Decodes a file to a picture of the caller's whose rows are not aligned. */
static enum gf_status decode_and_copy(struct decoding *decoding, int i, struct gf_error *error)
{
    const struct gf_image *const image = &decoding->images[i];
    struct gf_image aligned = {.data = NULL};
    enum gf_status status = decode_file(decoding, i, &aligned, error);
    if (!status && memcmp(&aligned.format, &image->format, sizeof aligned.format))
        status = gf_fail(error, GF_ERROR_USAGE, "%s: its format is not that of the result",
                         gf_picture_name(i).text);
    if (!status)
        status = gf_device_batch_copy(&decoding->batch, image, &aligned, error);
    gf_pipeline_free_images(decoding->batch.pipeline, &aligned, 1);
    return status;
}

static void decode_rest(struct decoding *decoding)
{
    for (int i = 0; i < decoding->batch.count; i++) {
        struct gf_image *const image = &decoding->images[i];
        struct gf_error *const error = &decoding->batch.errors[i];
        const struct file *const file = &decoding->files[i];
        if (file->ended)
            continue;
        const enum gf_status status = !image->data || gf_device_image_is_aligned(image)
                                          ? decode_file(decoding, i, image, error)
                                          : decode_and_copy(decoding, i, error);
        if (status && file->own)
            gf_pipeline_free_images(decoding->batch.pipeline, image, 1);
    }
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
    enum gf_status status =
        gf_device_batch_open(&decoding.batch, pipeline, count, stream, errors, error);
    if (status)
        return status;
    decoding.files = calloc((size_t)count + 1, sizeof *decoding.files);
    if (!decoding.files)
        status = gf_fail_memory(error);
    for (int first = 0, some; !status && first < count; first += some)
        status = decode_some(&decoding, first, &some, error);
    if (!status)
        decode_rest(&decoding);
    free(decoding.files);
    const enum gf_status failed = gf_device_batch_close(&decoding.batch, status ? NULL : error);
    return status ? status : failed;
}
