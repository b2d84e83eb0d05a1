#include "codec/webp/webp_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/whole_picture.h"

struct gf_webp_calls gf_webp;
struct gf_library gf_webp_library =
    GF_LIBRARY(gf_webp, GF_WEBP_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_webp),
               GF_LIBRARY_TEXT(GF_LIBRARY_webpdemux), GF_LIBRARY_TEXT(GF_LIBRARY_webpmux));

struct webp_source {
    struct gf_whole_source whole;
    WebPDemuxer *demuxer;
    WebPAnimDecoder *decoder; /* decodes an animation; NULL before its first frame */
    int drawn;                /* number of frames that `decoder` has composed */
    bool animated, alpha;
};

static void webp_release(struct gf_whole_source *source)
{
    struct webp_source *const webp = (struct webp_source *)source;
    gf_webp.WebPDemuxDelete(webp->demuxer);
    gf_webp.WebPAnimDecoderDelete(webp->decoder);
}

static const char *status_text(VP8StatusCode status)
{
    return status == VP8_STATUS_NOT_ENOUGH_DATA       ? "it is truncated"
           : status == VP8_STATUS_UNSUPPORTED_FEATURE ? "a feature that libwebp does not know"
                                                      : "its pixels cannot be decoded";
}

static enum gf_status decode_still(struct webp_source *webp, unsigned char *pixels,
                                   struct gf_error *error)
{
    const struct gf_format format = webp->whole.base.format;
    WebPDecoderConfig config;
    WebPIterator frame;
    if (!gf_webp.WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION) ||
        !gf_webp.WebPDemuxGetFrame(webp->demuxer, 1, &frame))
        return gf_whole_source_fail(&webp->whole, "it holds no picture", error);
    config.options.use_threads = gf_library_threads(&webp->whole.options) > 1;
    config.output.colorspace = webp->alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){.rgba = pixels,
                                            .stride = (int)gf_row_bytes(format),
                                            .size = gf_row_bytes(format) * (size_t)format.height};
    VP8StatusCode status = VP8_STATUS_BITSTREAM_ERROR;
    /* A frame whose size differs from the file's header would not fill the picture. */
    if (frame.width == format.width && frame.height == format.height)
        status = gf_webp.WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
    gf_webp.WebPDemuxReleaseIterator(&frame);
    if (status == VP8_STATUS_OUT_OF_MEMORY)
        return gf_fail_memory(error);
    return status ? gf_whole_source_fail(&webp->whole, status_text(status), error) : GF_OK;
}

static bool begin_animation(struct webp_source *webp)
{
    const WebPData data = {webp->whole.file.data, webp->whole.file.size};
    WebPAnimDecoderOptions options;
    if (!gf_webp.WebPAnimDecoderOptionsInitInternal(&options, WEBP_DEMUX_ABI_VERSION))
        return false;
    options.color_mode = MODE_RGBA;
    options.use_threads = gf_library_threads(&webp->whole.options) > 1;
    webp->decoder = gf_webp.WebPAnimDecoderNewInternal(&data, &options, WEBP_DEMUX_ABI_VERSION);
    return webp->decoder;
}

static void set_duration(struct webp_source *webp)
{
    WebPIterator frame;
    if (!gf_webp.WebPDemuxGetFrame(webp->demuxer, webp->drawn, &frame))
        return;
    webp->whole.base.duration = (struct gf_duration){(uint32_t)frame.duration, 1000};
    gf_webp.WebPDemuxReleaseIterator(&frame);
}

/* Decodes an animation: composes the frames up to the wanted one. */
static enum gf_status decode_animated(struct webp_source *webp, unsigned char *pixels,
                                      struct gf_error *error)
{
    const struct gf_format format = webp->whole.base.format;
    const size_t count = (size_t)format.width * (size_t)format.height;
    uint8_t *canvas = NULL;
    int time;
    bool got = webp->decoder || begin_animation(webp);
    for (; got && webp->drawn <= webp->whole.frame; webp->drawn++)
        got = gf_webp.WebPAnimDecoderGetNext(webp->decoder, &canvas, &time);
    if (!got)
        return gf_whole_source_fail(&webp->whole, "a picture of its animation cannot be decoded",
                                    error);
    if (webp->alpha)
        memcpy(pixels, canvas, 4 * count);
    else
        gf_pixels_drop_alpha(canvas, pixels, count, 4, 8);
    set_duration(webp);
    return GF_OK;
}

static enum gf_status webp_decode(struct gf_whole_source *source, unsigned char *pixels,
                                  struct gf_error *error)
{
    struct webp_source *const webp = (struct webp_source *)source;
    return webp->animated ? decode_animated(webp, pixels, error)
                          : decode_still(webp, pixels, error);
}

static bool set_chunk(WebPDemuxer *demuxer, const char *name, struct gf_metadata *metadata)
{
    WebPChunkIterator chunk;
    bool done = true;
    if (!gf_webp.WebPDemuxGetChunk(demuxer, name, 1, &chunk))
        return true;
    const uint8_t *const bytes = chunk.chunk.bytes;
    const size_t size = chunk.chunk.size;
    if (size && size <= GF_METADATA_MAX)
        done = name[0] == 'I'   ? gf_blob_set(&metadata->icc, bytes, size)
               : name[0] == 'E' ? gf_metadata_add_exif(metadata, bytes, size)
                                : gf_blob_set(&metadata->xmp, bytes, size);
    gf_webp.WebPDemuxReleaseChunkIterator(&chunk);
    return done;
}

static bool read_metadata(struct webp_source *webp)
{
    struct gf_metadata *const metadata = &webp->whole.base.metadata;
    return set_chunk(webp->demuxer, "ICCP", metadata) &&
           set_chunk(webp->demuxer, "EXIF", metadata) && set_chunk(webp->demuxer, "XMP ", metadata);
}

/* Whether a wanted picture of an animation can have transparent pixels. A frame drawn over an
 * opaque canvas leaves it opaque, unless the frame replaces its pixels. */
static bool shows_through(const struct webp_source *webp, uint32_t width, uint32_t height)
{
    bool opaque = false, found = false;
    WebPIterator frame;
    for (int i = 0; !found && i <= webp->whole.last; i++) {
        if (!gf_webp.WebPDemuxGetFrame(webp->demuxer, i + 1, &frame))
            return true;
        const bool covers = (uint32_t)frame.width == width && (uint32_t)frame.height == height;
        opaque =
            frame.has_alpha ? opaque && frame.blend_method == WEBP_MUX_BLEND : opaque || covers;
        found = !opaque && i >= webp->whole.frame;
        opaque &= frame.dispose_method != WEBP_MUX_DISPOSE_BACKGROUND;
        gf_webp.WebPDemuxReleaseIterator(&frame);
    }
    return found;
}

/* Returns how long all frames are shown, in seconds. */
static double seconds_of(const struct webp_source *webp, int pages)
{
    WebPIterator frame;
    double ms = 0;
    for (int i = 0; webp->animated && i < pages; i++) {
        if (!gf_webp.WebPDemuxGetFrame(webp->demuxer, i + 1, &frame))
            return 0;
        ms += frame.duration;
        gf_webp.WebPDemuxReleaseIterator(&frame);
    }
    return ms / 1000;
}

static bool holds_picture(const unsigned char *chunk)
{
    return !memcmp(chunk, "ANMF", 4) || !memcmp(chunk, "VP8 ", 4) || !memcmp(chunk, "VP8L", 4);
}

/* Returns the offset behind the chunks up to the last wanted picture; 0 if the file lacks a part of
 * them. If an animation may be truncated, the complete frames are enough. */
static size_t end_of_pictures(struct gf_whole_source *whole)
{
    enum { FILE_HEAD = 12, CHUNK_HEAD = 8 };
    const unsigned char *const file = whole->file.data;
    const size_t size = whole->file.size;
    const int first = whole->page < 0 ? 0 : whole->page,
              last = whole->last < 0 ? first : whole->last;
    size_t at = FILE_HEAD, end = 0;
    while (whole->sound <= last && at + CHUNK_HEAD <= size) {
        const unsigned char *const chunk = file + at;
        const uint32_t bytes = chunk[4] | (uint32_t)chunk[5] << 8 | (uint32_t)chunk[6] << 16 |
                               (uint32_t)chunk[7] << 24;
        at += CHUNK_HEAD + (size_t)bytes + bytes % 2;
        if (at <= size && holds_picture(chunk)) {
            end = at;
            whole->sound++;
        }
    }
    return gf_whole_source_suffices(whole) ? end : 0;
}

static WebPDemuxState demux(struct webp_source *webp)
{
    const WebPData data = {webp->whole.file.data, webp->whole.file.size};
    WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
    gf_webp.WebPDemuxDelete(webp->demuxer);
    webp->demuxer = gf_webp.WebPDemuxInternal(&data, 1, &state, WEBP_DEMUX_ABI_VERSION);
    return webp->demuxer ? state : WEBP_DEMUX_PARSE_ERROR;
}

/* Opens the file. Damaged chunks after the wanted pictures are left out. */
static WebPDemuxState open_demuxer(struct webp_source *webp)
{
    struct gf_whole_source *const whole = &webp->whole;
    const WebPDemuxState state = demux(webp);
    const bool damaged = state != WEBP_DEMUX_DONE && errno != ENOMEM;
    const size_t end = damaged ? end_of_pictures(whole) : 0;
    if (!end)
        return state;
    whole->file.size = end;
    /* Writes the new size into the header, which does not count the first 8 bytes. */
    for (int i = 0; i < 4; i++)
        whole->file.data[4 + i] = (unsigned char)((end - 8) >> 8 * i);
    const WebPDemuxState again = demux(webp);
    if (again == WEBP_DEMUX_DONE)
        gf_warn_behind(whole->name, whole->sound,
                       state == WEBP_DEMUX_PARSE_ERROR ? "libwebp cannot read it"
                                                       : "it is truncated",
                       &whole->options);
    return again;
}

/* Returns how many bytes libwebp takes for each pixel, as measured: lossless pictures are decoded
 * to 32 bits and with tables, animations on two canvases. */
static double library_bytes(const struct webp_source *webp)
{
    const double opaque_bytes = 1, alpha_bytes = 5.5, lossless_bytes = 4.5, animated_bytes = 12;
    return webp->animated                        ? animated_bytes
           : webp->whole.base.stored.is_lossless ? lossless_bytes
           : webp->alpha                         ? alpha_bytes
                                                 : opaque_bytes;
}

/* Whether the first picture is lossless. */
static bool is_lossless(const struct webp_source *webp)
{
    WebPIterator frame;
    if (!gf_webp.WebPDemuxGetFrame(webp->demuxer, 1, &frame))
        return false;
    const bool lossless = frame.fragment.size >= 4 && !memcmp(frame.fragment.bytes, "VP8L", 4);
    gf_webp.WebPDemuxReleaseIterator(&frame);
    return lossless;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    struct webp_source *const webp = (struct webp_source *)whole;
    const WebPDemuxState state = open_demuxer(webp);
    if (state == WEBP_DEMUX_PARSING_HEADER)
        return gf_fail_truncated(error, whole->name, -1, 0);
    if (!webp->demuxer)
        return gf_whole_source_fail(whole, "its header cannot be read", error);
    const uint32_t flags = gf_webp.WebPDemuxGetI(webp->demuxer, WEBP_FF_FORMAT_FLAGS),
                   width = gf_webp.WebPDemuxGetI(webp->demuxer, WEBP_FF_CANVAS_WIDTH),
                   height = gf_webp.WebPDemuxGetI(webp->demuxer, WEBP_FF_CANVAS_HEIGHT);
    const int pages = (int)gf_webp.WebPDemuxGetI(webp->demuxer, WEBP_FF_FRAME_COUNT);
    webp->animated = flags & ANIMATION_FLAG;
    GF_TRY(gf_size_check(whole->name, width, height, &whole->options, error));
    if (state != WEBP_DEMUX_DONE)
        return gf_whole_source_fail(whole, "it is truncated", error);
    if (pages < 1)
        return gf_whole_source_fail(whole, "it holds no picture", error);
    GF_TRY(gf_choose_frames(whole, pages, error));
    whole->base.stored.pages = pages;
    whole->base.stored.is_lossless = is_lossless(webp);
    whole->base.stored.seconds = seconds_of(webp, pages);
    whole->base.metadata.loops = gf_webp.WebPDemuxGetI(webp->demuxer, WEBP_FF_LOOP_COUNT);
    webp->alpha = webp->animated ? shows_through(webp, width, height) : flags & ALPHA_FLAG;
    GF_TRY(gf_whole_source_describe(whole, width, height, webp->alpha ? 4 : 3, 8,
                                    library_bytes(webp), error));
    GF_ALLOCATED(read_metadata(webp), error);
    return GF_OK;
}

GF_WHOLE_SOURCE(gf_webp_source_open, .size = sizeof(struct webp_source), .read_header = read_header,
                .decode = webp_decode, .release = webp_release)
