/* Encodes a picture or a part of it, and writes a file of its metadata and pictures. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/time_limit.h"
#include "codec/common/checks.h"
#include "codec/webp/webp_write.h"

enum gf_status gf_webp_fail(const struct gf_whole_sink *sink, const char *why,
                            struct gf_error *error)
{
    if (errno == ENOMEM)
        return gf_fail_memory(error);
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: libwebp: %s", gf_output_name(sink->output), why);
}

static const char *encoding_error(WebPEncodingError code)
{
    return code == VP8_ENC_ERROR_PARTITION0_OVERFLOW || code == VP8_ENC_ERROR_PARTITION_OVERFLOW
               ? "the picture is too large for this quality"
               : "the picture cannot be encoded";
}

static bool configure(const struct gf_options *options, WebPConfig *config)
{
    enum { LOSSLESS_LEVEL = 6 }; /* libwebp's default, of 0..9 */
    if (!gf_webp.WebPConfigInitInternal(config, WEBP_PRESET_DEFAULT, (float)options->quality,
                                        WEBP_ENCODER_ABI_VERSION) ||
        (options->lossless && !gf_webp.WebPConfigLosslessPreset(config, LOSSLESS_LEVEL)))
        return false;
    config->exact = options->lossless; /* transparent pixels keep their colours */
    config->thread_level = gf_library_threads(options) > 1;
    return true;
}

enum gf_status gf_webp_write_muxed(const struct gf_whole_sink *sink, WebPMux *mux,
                                   struct gf_error *error)
{
    const struct {
        const char *name;
        const struct gf_blob *blob;
    } chunks[] = {{"ICCP", &sink->metadata.icc},
                  {"EXIF", &sink->metadata.exif},
                  {"XMP ", &sink->metadata.xmp}};
    WebPData file = {0};
    bool done = true;
    for (size_t i = 0; done && i < sizeof chunks / sizeof *chunks; i++) {
        const WebPData data = {chunks[i].blob->data, chunks[i].blob->size};
        if (data.size)
            done = gf_webp.WebPMuxSetChunk(mux, chunks[i].name, &data, 0) == WEBP_MUX_OK;
    }
    done = done && gf_webp.WebPMuxAssemble(mux, &file) == WEBP_MUX_OK;
    const enum gf_status status =
        done ? gf_output_write(sink->output, file.bytes, file.size, error)
             : gf_webp_fail(sink, "the file cannot be put together", error);
    gf_webp.WebPFree((void *)file.bytes);
    return status;
}

/* Returns 0 if the time is up. libwebp calls this function after each row of blocks. */
static int goes_on(int percent, const WebPPicture *picture)
{
    (void)percent;
    (void)picture;
    return !gf_time_is_up();
}

enum gf_status gf_webp_prepare(const struct gf_whole_sink *sink, int left, int top, int width,
                               int height, struct gf_webp_encoder *encoder, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    const int stride = (int)gf_row_bytes(format);
    const unsigned char *const pixels =
        sink->pixels + (size_t)top * (size_t)stride + (size_t)left * (size_t)format.channels;
    WebPPicture *const picture = &encoder->picture;
    memset(encoder, 0, sizeof *encoder);
    errno = 0;
    gf_webp.WebPMemoryWriterInit(&encoder->writer);
    if (!configure(&sink->options, &encoder->config) ||
        !gf_webp.WebPPictureInitInternal(picture, WEBP_ENCODER_ABI_VERSION))
        return gf_webp_fail(sink, "another version than the program was built with", error);
    picture->use_argb = 1;
    picture->width = width;
    picture->height = height;
    picture->writer = gf_webp.WebPMemoryWrite;
    picture->custom_ptr = &encoder->writer;
    picture->progress_hook = goes_on;
    const int imported = format.channels == 4
                             ? gf_webp.WebPPictureImportRGBA(picture, pixels, stride)
                             : gf_webp.WebPPictureImportRGB(picture, pixels, stride);
    return imported ? GF_OK : gf_fail_memory(error);
}

enum gf_status gf_webp_encode(const struct gf_whole_sink *sink, struct gf_webp_encoder *encoder,
                              enum gf_status status, struct gf_error *error)
{
    WebPPicture *const picture = &encoder->picture;
    if (!status && !gf_webp.WebPEncode(&encoder->config, picture))
        status = picture->error_code == VP8_ENC_ERROR_USER_ABORT
                     ? gf_time_check(error)
                     : gf_webp_fail(sink, encoding_error(picture->error_code), error);
    gf_webp.WebPPictureFree(picture);
    return status;
}
