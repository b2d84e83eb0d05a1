#include "engine/device_codec.h"

#include "base/fail.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/jpeg/jpeg.h"
#include "engine/bands.h"

enum gf_status gf_device_codec_open(struct gf_device_codec *codec, int device,
                                    struct gf_error *error)
{
    *codec = (struct gf_device_codec){0};
    return gf_jpeg_device_open(device, &codec->jpeg, error);
}

void gf_device_codec_close(struct gf_device_codec *codec)
{
    gf_jpeg_device_close(codec->jpeg);
    *codec = (struct gf_device_codec){0};
}

enum gf_status gf_device_codec_ready(struct gf_device_codec *codec, bool if_fast,
                                     struct gf_error *error)
{
    int engines;
    const enum gf_status status = gf_jpeg_device_engines(codec->jpeg, &engines, error);
    if (!if_fast || (!status && engines))
        return status;
    gf_device_codec_close(codec);
    return GF_OK;
}

static bool suits(const struct gf_jpeg_info *info, struct gf_format format)
{
    return info->width == format.width && info->height == format.height &&
           info->components == format.channels;
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
    enum { STEP = 1 << 20 };
    return (size + STEP - 1) / STEP * STEP;
}

/* A buffer for a file's bytes. It is pinned, or the driver would copy the bytes to pinned memory of
 * its own, for one thread at a time. */
static unsigned char *take_bytes(struct gf_buffer_pool *buffers, size_t size,
                                 struct gf_error *error)
{
    unsigned char *const data = gf_buffer_pool_take_host(buffers, rounded(size));
    if (data)
        gf_buffer_pool_pin(buffers, data);
    else
        (void)gf_fail_memory(error);
    return data;
}

static enum gf_status decode_bytes(struct gf_device_codec *codec, unsigned char *data, size_t size,
                                   struct gf_buffer_pool *buffers, struct gf_image *image,
                                   struct gf_error *error)
{
    struct gf_jpeg_info info;
    if (!gf_jpeg_check(data, size, &info) || !suits(&info, image->format))
        return GF_OK;
    image->data = gf_buffer_pool_take(buffers, image->pitch * (size_t)image->format.height);
    if (!image->data)
        return GF_OK;
    const struct gf_view view = view_of(image);
    const enum gf_status status = gf_jpeg_device_decode(codec->jpeg, data, &info, &view, error);
    if (!status)
        return GF_OK;
    gf_buffer_pool_return(buffers, image->data);
    image->data = NULL;
    return status == GF_ERROR_INPUT ? GF_OK : status;
}

enum gf_status gf_device_codec_decode(struct gf_device_codec *codec, struct gf_input *input,
                                      struct gf_format format, uint64_t bytes_most,
                                      struct gf_buffer_pool *buffers, struct gf_image *image,
                                      struct gf_error *error)
{
    const int64_t size = gf_input_size(input);
    const struct gf_jpeg_info info = {.width = format.width, .height = format.height};
    *image = (struct gf_image){.format = format, .pitch = gf_band_pitch(buffers->backend, format)};
    if (!codec->jpeg || size < 0 || rounded((size_t)size) > bytes_most ||
        !gf_jpeg_device_takes(&info))
        return GF_OK;
    unsigned char *const data = take_bytes(buffers, (size_t)size, error);
    if (!data)
        return GF_ERROR_MEMORY;
    enum gf_status status = gf_input_copy(input, data, error);
    if (!status)
        status = decode_bytes(codec, data, (size_t)size, buffers, image, error);
    gf_buffer_pool_return(buffers, data);
    return status;
}

bool gf_device_codec_encodes(const struct gf_device_codec *codec, enum gf_file_format file_format,
                             struct gf_format format, const struct gf_options *options)
{
    const struct gf_jpeg_info info = {
        .width = format.width, .height = format.height, .components = format.channels};
    return codec->jpeg && file_format == GF_FILE_JPEG && format.bits == 8 &&
           (format.channels == 1 || format.channels == 3) && !options->progressive &&
           gf_jpeg_device_takes(&info);
}

void gf_device_codec_acquire(struct gf_device_codec *codec)
{
    if (codec->jpeg && !codec->lease)
        codec->lease = gf_jpeg_lease_acquire(codec->jpeg);
}

void gf_device_codec_release(struct gf_device_codec *codec)
{
    if (codec->lease)
        gf_jpeg_lease_release(codec->jpeg, codec->lease);
    codec->lease = NULL;
}

enum gf_status gf_device_codec_encode(struct gf_device_codec *codec, const struct gf_image *image,
                                      struct gf_buffer_pool *buffers, struct gf_sink *sink,
                                      const struct gf_options *options, struct gf_error *error)
{
    const struct gf_view view = view_of(image);
    unsigned char *data = NULL;
    size_t size;
    enum gf_status status =
        gf_jpeg_device_encode(codec->jpeg, codec->lease, &view, options, &size, error);
    if (!status) {
        data = take_bytes(buffers, size, error);
        status = data ? gf_jpeg_device_fetch(codec->jpeg, codec->lease, data, size, error)
                      : GF_ERROR_MEMORY;
    }
    gf_device_codec_release(codec);
    if (!status)
        status = gf_jpeg_sink_splice(sink, data, size, error);
    gf_buffer_pool_return(buffers, data);
    return status;
}
