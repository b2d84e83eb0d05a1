#include "engine/device_codec.h"

#include "base/fail.h"
#include "codec/jpeg/jpeg.h"
#include "engine/bands.h"

static bool suits(const struct gf_jpeg_header *header, struct gf_format format)
{
    return header->width == format.width && header->height == format.height &&
           header->components == format.channels;
}

static struct gf_view view_of(const struct gf_image *image)
{
    return (struct gf_view){.data = image->data,
                            .pitch = image->pitch,
                            .format = image->format,
                            .rows = image->format.height};
}

/* Sizes are rounded up, so that the next file can have the same buffer. */
static size_t rounded(size_t size)
{
    enum { STEP = 256 << 10 };
    return (size + STEP - 1) / STEP * STEP;
}

enum gf_status gf_device_file_read(struct gf_input *input, struct gf_format format,
                                   uint64_t bytes_most, struct gf_buffer_pool *buffers,
                                   struct gf_device_file *file, struct gf_error *error)
{
    const int64_t size = gf_input_size(input);
    file->data = NULL;
    if (size < 0 || rounded((size_t)size) > bytes_most)
        return GF_OK;
    unsigned char *const data = gf_buffer_pool_take_host(buffers, rounded((size_t)size));
    if (!data)
        return gf_fail_memory(error);
    const enum gf_status status = gf_input_copy(input, data, error);
    if (status || !gf_jpeg_header_read(data, (size_t)size, &file->header) ||
        !suits(&file->header, format)) {
        gf_buffer_pool_return(buffers, data);
        return status;
    }
    file->data = data;
    file->size = (size_t)size;
    return GF_OK;
}

enum gf_status gf_device_file_decode(struct gf_jpeg_device *codec, struct gf_device_file *file,
                                     struct gf_format format, struct gf_buffer_pool *buffers,
                                     struct gf_image *image, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    bool decoded = false;
    *image = (struct gf_image){.format = format, .pitch = gf_band_pitch(buffers->backend, format)};
    image->data = gf_buffer_pool_take(buffers, image->pitch * (size_t)format.height);
    if (image->data) {
        const struct gf_view view = view_of(image);
        gf_buffer_pool_pin(buffers, file->data);
        status = gf_jpeg_device_decode(codec, &file->header, file->data, file->size, &view,
                                       &decoded, error);
    }
    gf_buffer_pool_return(buffers, file->data);
    file->data = NULL;
    if (decoded)
        return GF_OK;
    gf_buffer_pool_return(buffers, image->data);
    image->data = NULL;
    return status;
}

bool gf_device_encodes(enum gf_file_format file_format, struct gf_format format,
                       const struct gf_options *options)
{
    return file_format == GF_FILE_JPEG && format.bits == 8 &&
           (format.channels == 1 || format.channels == 3) && !options->progressive &&
           !options->optimize;
}

enum gf_status gf_device_encode(struct gf_jpeg_device *codec, const struct gf_image *image,
                                struct gf_sink *sink, const struct gf_options *options,
                                struct gf_error *error)
{
    const struct gf_view view = view_of(image);
    struct gf_jpeg_scan scan;
    enum gf_status status = gf_jpeg_device_encode(codec, &view, options, &scan, error);
    if (!status)
        status = gf_jpeg_sink_splice(sink, scan.data, scan.size, error);
    gf_jpeg_scan_return(&scan);
    return status;
}
