#include "engine/device_codec.h"

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

/* In whole steps, so that the next file may have the same memory. */
static size_t room_for(size_t size)
{
    enum { STEP = 1 << 20 };
    return (size + STEP - 1) / STEP * STEP;
}

/* Room for a file's bytes in pinned memory: from other memory the driver would copy them there
 * itself, one file after the other. */
static unsigned char *take_bytes(struct gf_store *store, size_t size, struct gf_error *error)
{
    unsigned char *const data = gf_store_take_pages(store, room_for(size));
    if (data)
        gf_store_pin(store, data);
    else
        (void)gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    return data;
}

static enum gf_status decode_bytes(struct gf_device_codec *codec, unsigned char *data, size_t size,
                                   struct gf_store *store, struct gf_image *image,
                                   struct gf_error *error)
{
    struct gf_jpeg_info info;
    if (!gf_jpeg_check(data, size, &info) || !suits(&info, image->format))
        return GF_OK;
    image->data = gf_store_take(store, image->pitch * (size_t)image->format.height);
    if (!image->data)
        return GF_OK;
    const struct gf_view view = view_of(image);
    const enum gf_status status = gf_jpeg_device_decode(codec->jpeg, data, &info, &view, error);
    if (!status)
        return GF_OK;
    gf_store_give(store, image->data);
    image->data = NULL;
    return status == GF_ERROR_INPUT ? GF_OK : status;
}

enum gf_status gf_device_codec_decode(struct gf_device_codec *codec, struct gf_input *input,
                                      struct gf_format format, uint64_t bytes_most,
                                      struct gf_store *store, struct gf_image *image,
                                      struct gf_error *error)
{
    const int64_t size = gf_input_size(input);
    const struct gf_jpeg_info info = {.width = format.width, .height = format.height};
    *image = (struct gf_image){.format = format, .pitch = gf_band_pitch(store->backend, format)};
    if (!codec->jpeg || size < 0 || room_for((size_t)size) > bytes_most ||
        !gf_jpeg_device_takes(&info))
        return GF_OK;
    unsigned char *const data = take_bytes(store, (size_t)size, error);
    if (!data)
        return GF_ERROR_MEMORY;
    enum gf_status status = gf_input_copy(input, data, error);
    if (!status)
        status = decode_bytes(codec, data, (size_t)size, store, image, error);
    gf_store_give(store, data);
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
    if (codec->jpeg && !codec->turn)
        codec->turn = gf_jpeg_device_enter(codec->jpeg);
}

void gf_device_codec_release(struct gf_device_codec *codec)
{
    if (codec->turn)
        gf_jpeg_device_leave(codec->jpeg, codec->turn);
    codec->turn = NULL;
}

enum gf_status gf_device_codec_encode(struct gf_device_codec *codec, const struct gf_image *image,
                                      struct gf_store *store, struct gf_sink *sink,
                                      const struct gf_options *options, struct gf_error *error)
{
    const struct gf_view view = view_of(image);
    unsigned char *data = NULL;
    size_t size;
    enum gf_status status =
        gf_jpeg_device_encode(codec->jpeg, codec->turn, &view, options, &size, error);
    if (!status) {
        data = take_bytes(store, size, error);
        status = data ? gf_jpeg_device_fetch(codec->jpeg, codec->turn, data, size, error)
                      : GF_ERROR_MEMORY;
    }
    gf_device_codec_release(codec); /* before the file is written */
    if (!status)
        status = gf_jpeg_sink_splice(sink, data, size, error);
    gf_store_give(store, data);
    return status;
}
