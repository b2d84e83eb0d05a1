/* Writes animations. A frame has the rectangle that differs from the frame before it. Where most of
 * that is the same, too, the same pixels become transparent, so that those of the frame before show
 * through. Frames that are the same stay frames of their own, and each is coded once, unlike those
 * of libwebp's WebPAnimEncoder, whose memory cannot be known either. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/changed.h"
#include "codec/webp/webp_write.h"

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

/* Returns the rectangle that differs from the frame before, which begins at even numbers. If
 * nothing does it is one pixel. */
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

/* Makes the pixels transparent that are as before: single ones, or blocks, if the coding is lossy.
 * Returns false if these are few, or if a pixel that differs is not opaque itself; the picture is
 * then worthless. */
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
    return gf_webp_prepare(sink, area.x, area.y, area.width, area.height, encoder, error);
}

/* Encodes the rectangle. *blends becomes whether it is drawn over the frame before. */
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
    return gf_webp_encode(sink, encoder, status, error);
}

static enum gf_status begin(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    struct animation *const animation = calloc(1, sizeof *animation);
    if (!animation)
        return gf_fail_memory(error);
    sink->animation = animation;
    animation->before = malloc(gf_row_bytes(format) * (size_t)format.height);
    animation->mux = gf_webp.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    if (!animation->before || !animation->mux)
        return gf_fail_memory(error);
    const WebPMuxAnimParams params = {
        .loop_count = (int)(sink->loops < LOOPS_MOST ? sink->loops : LOOPS_MOST)};
    return gf_webp.WebPMuxSetAnimationParams(animation->mux, &params) == WEBP_MUX_OK &&
                   gf_webp.WebPMuxSetCanvasSize(animation->mux, format.width, format.height) ==
                       WEBP_MUX_OK
               ? GF_OK
               : gf_webp_fail(sink, "the animation cannot be begun", error);
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
               : gf_webp_fail(sink, "a frame cannot be added", error);
}

enum gf_status gf_webp_add(struct gf_whole_sink *sink, struct gf_error *error)
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
    if (!status)
        status = push(sink, area, blends, &encoder.writer, error);
    gf_webp.WebPMemoryWriterClear(&encoder.writer);
    unsigned char *const before = ((struct animation *)sink->animation)->before;
    ((struct animation *)sink->animation)->before = sink->pixels;
    sink->pixels = before;
    return status;
}

enum gf_status gf_webp_end(struct gf_whole_sink *sink, struct gf_error *error)
{
    struct animation *const animation = sink->animation;
    return gf_webp_write_muxed(sink, animation->mux, error);
}

void gf_webp_release(struct gf_whole_sink *sink)
{
    struct animation *const animation = sink->animation;
    if (!animation)
        return;
    gf_webp.WebPMuxDelete(animation->mux);
    free(animation->before);
    free(animation);
}
