/* Writes WebP pictures and animations by libwebp. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"
#include "codec/webp/webp_calls.h"

struct gf_webp_encoder {
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer; /* the coded picture; the caller clears it */
};

/* ---- encoding a picture or a part of it, and writing a file of metadata and pictures ---- */

/* Fails with libwebp's message. libwebp does not always report a lack of memory as such, but
 * malloc() has set errno. */
static enum gf_status webp_fail(const struct gf_whole_sink *sink, const char *why,
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
    enum { LOSSLESS_LEVEL = 6 }; /* libwebp's default; the levels are 0 to 9 */
    if (!gf_webp.WebPConfigInitInternal(config, WEBP_PRESET_DEFAULT, (float)options->quality,
                                        WEBP_ENCODER_ABI_VERSION) ||
        (options->lossless && !gf_webp.WebPConfigLosslessPreset(config, LOSSLESS_LEVEL)))
        return false;
    config->exact = options->lossless; /* transparent pixels keep their colours */
    config->thread_level = gf_library_threads(options) > 1;
    return true;
}

/* Adds the metadata and writes the file. */
static GF_CHECKED enum gf_status webp_write_muxed(const struct gf_whole_sink *sink, WebPMux *mux,
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
    const enum gf_status status = done ? gf_output_write(sink->output, file.bytes, file.size, error)
                                       : webp_fail(sink, "the file cannot be put together", error);
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

/* Prepares to encode `width` x `height` of the sink's pixels, from the column `left` and the row
 * `top` on. The caller must call encode_picture() afterwards, even after a failure. */
static GF_CHECKED enum gf_status webp_prepare(const struct gf_whole_sink *sink, int left, int top,
                                              int width, int height,
                                              struct gf_webp_encoder *encoder,
                                              struct gf_error *error)
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
        return webp_fail(sink, "another version than the program was built with", error);
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

/* Encodes the picture, unless `status` says that preparing it has failed, and frees it. */
static GF_CHECKED enum gf_status encode_picture(const struct gf_whole_sink *sink,
                                                struct gf_webp_encoder *encoder,
                                                enum gf_status status, struct gf_error *error)
{
    WebPPicture *const picture = &encoder->picture;
    if (!status && !gf_webp.WebPEncode(&encoder->config, picture))
        status = picture->error_code == VP8_ENC_ERROR_USER_ABORT
                     ? gf_time_check(error)
                     : webp_fail(sink, encoding_error(picture->error_code), error);
    gf_webp.WebPPictureFree(picture);
    return status;
}

/* ---- animations. A frame is the rectangle that differs from the frame before. If most pixels in
 * it are unchanged, too, they become transparent, so that the frame before shows through. Repeated
 * frames stay frames, and each is coded once; libwebp's WebPAnimEncoder merges them, codes some
 * twice, and takes an unknown amount of memory ---- */

enum { DURATION_MOST = (1 << 24) - 1, LOOPS_MOST = 65535 };

struct animation {
    WebPMux *mux;
    unsigned char *before; /* the pixels of the frame before */
    uint64_t coded;        /* bytes of the frames so far */
};

static const unsigned char *pixel_at(const struct gf_whole_sink *sink, const unsigned char *pixels,
                                     int x, int y)
{
    return pixels + (size_t)y * gf_row_bytes(sink->format) +
           (size_t)x * (size_t)sink->format.channels;
}

static bool is_same(const struct gf_whole_sink *sink, int x, int y, int count)
{
    const struct animation *const animation = sink->animation;
    return !memcmp(pixel_at(sink, sink->pixels, x, y), pixel_at(sink, animation->before, x, y),
                   (size_t)count * (size_t)sink->format.channels);
}

/* Returns the rectangle that differs from the frame before, which begins at an even column and row.
 * It is one pixel if nothing differs. */
static struct gf_rectangle find_area(const struct gf_whole_sink *sink)
{
    const struct animation *const animation = sink->animation;
    struct gf_image before = {.format = sink->format, .pitch = gf_row_bytes(sink->format)},
                    after = before;
    before.data = animation->before;
    after.data = sink->pixels;
    const struct gf_rectangle changed = gf_changed_between(&before, &after);
    const int odd_x = changed.x % 2, odd_y = changed.y % 2;
    return changed.height ? (struct gf_rectangle){changed.x - odd_x, changed.y - odd_y,
                                                  changed.width + odd_x, changed.height + odd_y}
                          : (struct gf_rectangle){0, 0, 1, 1};
}

static bool is_opaque(const struct gf_whole_sink *sink, int x, int y, int count)
{
    const unsigned char *at = pixel_at(sink, sink->pixels, x, y);
    for (int i = 0; gf_has_alpha(sink->format) && i < count; i++, at += sink->format.channels) {
        if (at[sink->format.channels - 1] != 255)
            return false;
    }
    return true;
}

/* Makes unchanged pixels transparent: single pixels, or whole blocks if the coding is lossy.
 * Returns false, and leaves an unusable picture, if they are too few or if a changed pixel is not
 * opaque. */
static bool show_through(const struct gf_whole_sink *sink, struct gf_rectangle area,
                         WebPPicture *picture)
{
    enum { LOSSY_BLOCK = 16 };
    const int side = sink->options.lossless ? 1 : LOSSY_BLOCK;
    int64_t cleared = 0;
    for (int top = 0; top < area.height; top += side) {
        const int rows = area.height - top < side ? area.height - top : side;
        for (int left = 0; left < area.width; left += side) {
            const int columns = area.width - left < side ? area.width - left : side;
            bool same = true, opaque = true;
            for (int y = top; y < top + rows; y++) {
                same &= is_same(sink, area.x + left, area.y + y, columns);
                opaque &= is_opaque(sink, area.x + left, area.y + y, columns);
            }
            if (!same && !opaque)
                return false;
            for (int y = top; same && y < top + rows; y++)
                memset(picture->argb + (ptrdiff_t)y * picture->argb_stride + left, 0,
                       (size_t)columns * sizeof *picture->argb);
            cleared += same ? rows * columns : 0;
        }
    }
    return 2 * cleared >= (int64_t)area.width * area.height;
}

static enum gf_status prepare(const struct gf_whole_sink *sink, struct gf_rectangle area,
                              struct gf_webp_encoder *encoder, struct gf_error *error)
{
    return webp_prepare(sink, area.x, area.y, area.width, area.height, encoder, error);
}

/* Encodes the rectangle. *blends becomes whether the frame before shows through its transparent
 * pixels. */
static enum gf_status encode(const struct gf_whole_sink *sink, struct gf_rectangle area,
                             bool *blends, struct gf_webp_encoder *encoder, struct gf_error *error)
{
    *blends = false;
    enum gf_status status = prepare(sink, area, encoder, error);
    if (!status && sink->frames) {
        *blends = show_through(sink, area, &encoder->picture);
        if (!*blends) {
            gf_webp.WebPPictureFree(&encoder->picture);
            status = prepare(sink, area, encoder, error);
        }
    }
    return encode_picture(sink, encoder, status, error);
}

static enum gf_status begin(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    GF_NEW(struct animation, animation, error);
    sink->animation = animation;
    animation->before = malloc(gf_row_bytes(format) * (size_t)format.height);
    animation->mux = gf_webp.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    GF_ALLOCATED(animation->before && animation->mux, error);
    const WebPMuxAnimParams params = {
        .loop_count = (int)(sink->loops < LOOPS_MOST ? sink->loops : LOOPS_MOST)};
    return gf_webp.WebPMuxSetAnimationParams(animation->mux, &params) == WEBP_MUX_OK &&
                   gf_webp.WebPMuxSetCanvasSize(animation->mux, format.width, format.height) ==
                       WEBP_MUX_OK
               ? GF_OK
               : webp_fail(sink, "the animation cannot be begun", error);
}

static enum gf_status push(struct gf_whole_sink *sink, struct gf_rectangle area, bool blends,
                           const WebPMemoryWriter *writer, struct gf_error *error)
{
    struct animation *const animation = sink->animation;
    const uint32_t duration = gf_whole_sink_ticks(sink, 1000);
    const WebPMuxFrameInfo frame = {.bitstream = {writer->mem, writer->size},
                                    .x_offset = area.x,
                                    .y_offset = area.y,
                                    .duration =
                                        (int)(duration < DURATION_MOST ? duration : DURATION_MOST),
                                    .id = WEBP_CHUNK_ANMF,
                                    .dispose_method = WEBP_MUX_DISPOSE_NONE,
                                    .blend_method = blends ? WEBP_MUX_BLEND : WEBP_MUX_NO_BLEND};
    animation->coded += writer->size;
    return gf_webp.WebPMuxPushFrame(animation->mux, &frame, 1) == WEBP_MUX_OK
               ? gf_whole_sink_check(sink, 2 * animation->coded, error)
               : webp_fail(sink, "a frame cannot be added", error);
}

static enum gf_status webp_add(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    struct gf_webp_encoder encoder;
    struct gf_rectangle area = {0, 0, format.width, format.height};
    bool blends;
    if (!sink->animation)
        GF_TRY(begin(sink, error));
    if (sink->frames)
        area = find_area(sink);
    enum gf_status status = encode(sink, area, &blends, &encoder, error);
    GF_THEN(status, push(sink, area, blends, &encoder.writer, error));
    gf_webp.WebPMemoryWriterClear(&encoder.writer);
    unsigned char *const before = ((struct animation *)sink->animation)->before;
    ((struct animation *)sink->animation)->before = sink->pixels;
    sink->pixels = before;
    return status;
}

static enum gf_status webp_end(struct gf_whole_sink *sink, struct gf_error *error)
{
    struct animation *const animation = sink->animation;
    return webp_write_muxed(sink, animation->mux, error);
}

/* ---- the functions of an animation (struct gf_whole_encoder) ---- */
static void webp_release(struct gf_whole_sink *sink)
{
    struct animation *const animation = sink->animation;
    if (!animation)
        return;
    gf_webp.WebPMuxDelete(animation->mux);
    free(animation->before);
    free(animation);
}

static enum gf_status write_with_metadata(const struct gf_whole_sink *sink, const WebPData *picture,
                                          struct gf_error *error)
{
    WebPMux *const mux = gf_webp.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    const enum gf_status status = mux && gf_webp.WebPMuxSetImage(mux, picture, 0) == WEBP_MUX_OK
                                      ? webp_write_muxed(sink, mux, error)
                                      : webp_fail(sink, "the file cannot be put together", error);
    gf_webp.WebPMuxDelete(mux);
    return status;
}

static enum gf_status webp_encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_metadata *const metadata = &sink->metadata;
    const struct gf_format format = sink->format;
    struct gf_webp_encoder encoder;
    enum gf_status status = webp_prepare(sink, 0, 0, format.width, format.height, &encoder, error);
    free(sink->pixels);
    sink->pixels = NULL;
    status = encode_picture(sink, &encoder, status, error);
    const WebPData data = {encoder.writer.mem, encoder.writer.size};
    const bool bare = !metadata->icc.size && !metadata->exif.size && !metadata->xmp.size;
    GF_THEN(status, bare ? gf_output_write(sink->output, data.bytes, data.size, error)
                         : write_with_metadata(sink, &data, error));
    gf_webp.WebPMemoryWriterClear(&encoder.writer);
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
    /* Measured bytes for each pixel. Alpha is coded without loss, where noise takes more than twice
     * as much as a photograph. */
    const double lossy_bytes = 23.5, alpha_bytes = 46, lossless_bytes = 37;
    return gf_whole_sink_memory(in_file(format), options->lossless      ? lossless_bytes
                                                 : gf_has_alpha(format) ? alpha_bytes
                                                                        : lossy_bytes);
}

enum gf_status gf_webp_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                 struct gf_error *error)
{
    static const struct gf_whole_encoder encoder = {.name = "WebP",
                                                    .side_most = WEBP_MAX_DIMENSION,
                                                    .encode = webp_encode,
                                                    .add = webp_add,
                                                    .end = webp_end,
                                                    .release = webp_release};
    return gf_whole_sink_open(&encoder, order, in_file(order->format), sink, error);
}
