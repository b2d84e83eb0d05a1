#include "codec_device.h"

#include "bands.h"
#include "formats.h"

/* A larger file is a picture too large for the device's decoder. */
enum { FILE_BYTES_MOST = 256 << 20 };

enum gf_status gf_codec_device_open(struct gf_codec_device *codec, int device, struct gf_error *error)
{
    *codec = (struct gf_codec_device){0};
    return gf_jpeg_device_open(device, &codec->jpeg, error);
}

void gf_codec_device_close(struct gf_codec_device *codec)
{
    gf_jpeg_device_close(codec->jpeg);
    free(codec->in.data);
    free(codec->out.data);
    *codec = (struct gf_codec_device){0};
}

static bool suits(const struct gf_jpeg_nature *nature, struct gf_format format)
{
    return nature->width == format.width && nature->height == format.height &&
           nature->components == format.channels && gf_jpeg_device_takes(nature);
}

static struct gf_view view_of(const struct gf_image *image)
{
    return (struct gf_view){
        .data = image->data, .pitch = image->pitch, .format = image->format, .rows = image->format.height};
}

enum gf_status gf_codec_device_decode(struct gf_codec_device *codec, struct gf_input *input,
                                      struct gf_format format, struct gf_store *store, struct gf_image *image,
                                      struct gf_error *error)
{
    const int64_t size = gf_input_size(input);
    *image = (struct gf_image){.format = format, .pitch = gf_band_pitch(store->backend, format)};
    if (!codec->jpeg || size < 0 || size > FILE_BYTES_MOST)
        return GF_OK;
    if (!gf_jpeg_bytes_resize(&codec->in, (size_t)size))
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    enum gf_status status = gf_input_copy(input, codec->in.data, error);
    struct gf_jpeg_nature nature;
    if (status || !gf_jpeg_check(codec->in.data, (size_t)size, &nature) || !suits(&nature, format))
        return status;
    image->data = gf_store_take(store, image->pitch * (size_t)format.height);
    if (!image->data)
        return GF_OK;
    const struct gf_view view = view_of(image);
    status = gf_jpeg_device_decode(codec->jpeg, codec->in.data, &nature, &view, error);
    if (!status)
        return GF_OK;
    gf_store_give(store, image->data);
    image->data = NULL;
    return status == GF_ERROR_INPUT ? GF_OK : status;
}

bool gf_codec_device_encodes(const struct gf_codec_device *codec, enum gf_file_format file_format,
                             struct gf_format format, const struct gf_options *options)
{
    const struct gf_jpeg_nature nature = {
        .width = format.width, .height = format.height, .components = format.channels};
    return codec->jpeg && file_format == GF_FILE_JPEG && format.bits == 8 &&
           (format.channels == 1 || format.channels == 3) && !options->progressive &&
           gf_jpeg_device_takes(&nature);
}

enum gf_status gf_codec_device_encode(struct gf_codec_device *codec, const struct gf_image *image,
                                      struct gf_sink *sink, const struct gf_options *options,
                                      struct gf_error *error)
{
    const struct gf_view view = view_of(image);
    const enum gf_status status =
        gf_jpeg_device_encode(codec->jpeg, &view, options, &codec->out, error);
    return status ? status : gf_jpeg_sink_splice(sink, codec->out.data, codec->out.size, error);
}
