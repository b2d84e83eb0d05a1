#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/time_limit.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/whole_sink.h"
#include "codec/webp/webp_calls.h"

/* Fails with libwebp's message. libwebp does not always report a lack of memory as such, but
 * malloc() has set errno. */
static enum gf_status fail(const struct gf_whole_sink *sink, const char *why,
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

/* Writes the file: the picture with its metadata. */
static enum gf_status write_muxed(const struct gf_whole_sink *sink, const WebPData *picture,
                                  struct gf_error *error)
{
    const struct {
        const char *name;
        const struct gf_blob *blob;
    } chunks[] = {{"ICCP", &sink->metadata.icc},
                  {"EXIF", &sink->metadata.exif},
                  {"XMP ", &sink->metadata.xmp}};
    WebPMux *const mux = gf_webp.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    WebPData file = {0};
    bool done = mux && gf_webp.WebPMuxSetImage(mux, picture, 0) == WEBP_MUX_OK;
    for (size_t i = 0; done && i < sizeof chunks / sizeof *chunks; i++) {
        const WebPData data = {chunks[i].blob->data, chunks[i].blob->size};
        if (data.size)
            done = gf_webp.WebPMuxSetChunk(mux, chunks[i].name, &data, 0) == WEBP_MUX_OK;
    }
    done = done && gf_webp.WebPMuxAssemble(mux, &file) == WEBP_MUX_OK;
    gf_webp.WebPMuxDelete(mux);
    const enum gf_status status = done ? gf_output_write(sink->output, file.bytes, file.size, error)
                                       : fail(sink, "the file cannot be put together", error);
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

static enum gf_status webp_encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_metadata *const metadata = &sink->metadata;
    const struct gf_format format = sink->format;
    const int stride = (int)gf_row_bytes(format);
    WebPMemoryWriter writer;
    WebPPicture picture;
    WebPConfig config;
    errno = 0;
    if (!configure(&sink->options, &config) ||
        !gf_webp.WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION))
        return fail(sink, "another version than the program was built with", error);
    gf_webp.WebPMemoryWriterInit(&writer);
    picture.use_argb = 1;
    picture.width = format.width;
    picture.height = format.height;
    picture.writer = gf_webp.WebPMemoryWrite;
    picture.custom_ptr = &writer;
    picture.progress_hook = goes_on;
    const int imported = format.channels == 4
                             ? gf_webp.WebPPictureImportRGBA(&picture, sink->pixels, stride)
                             : gf_webp.WebPPictureImportRGB(&picture, sink->pixels, stride);
    free(sink->pixels);
    sink->pixels = NULL;
    enum gf_status status = GF_OK;
    if (!imported)
        status = gf_fail_memory(error);
    else if (!gf_webp.WebPEncode(&config, &picture))
        status = picture.error_code == VP8_ENC_ERROR_USER_ABORT
                     ? gf_time_check(error)
                     : fail(sink, encoding_error(picture.error_code), error);
    gf_webp.WebPPictureFree(&picture);
    const WebPData data = {writer.mem, writer.size};
    const bool bare = !metadata->icc.size && !metadata->exif.size && !metadata->xmp.size;
    if (!status)
        status = bare ? gf_output_write(sink->output, data.bytes, data.size, error)
                      : write_muxed(sink, &data, error);
    gf_webp.WebPMemoryWriterClear(&writer);
    return status;
}

static struct gf_format in_file(struct gf_format format)
{
    format.bits = 8;
    format.channels = gf_has_alpha(format) ? 4 : 3;
    return format;
}

struct gf_codec_memory gf_webp_sink_memory(struct gf_format format,
                                           const struct gf_options *options)
{
    /* Measured bytes for each pixel. Alpha is packed without loss, and noise takes more than twice
     * as much as a photograph. */
    const double lossy_bytes = 23.5, alpha_bytes = 46, lossless_bytes = 37;
    return gf_whole_sink_memory(in_file(format), options->lossless      ? lossless_bytes
                                                 : gf_has_alpha(format) ? alpha_bytes
                                                                        : lossy_bytes);
}

enum gf_status gf_webp_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, struct gf_sink **sink,
                                 struct gf_error *error)
{
    static const struct gf_whole_encoder encoder = {"WebP", WEBP_MAX_DIMENSION, webp_encode};
    return gf_whole_sink_open(&encoder, output, format, in_file(format), metadata, options, sink,
                              error);
}
