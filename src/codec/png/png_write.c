/* Writes PNG: one picture, or an animation of several. */
#include "codec/png/png_write.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/whole_picture.h"
#include "codec/png/png_chunk.h"

/* One picture: gray or RGB, with or without alpha, of 8 or 16 bits. png_chunk.c writes the
 * metadata, png_stripes.c the pixels. */

struct png_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_format format;
    unsigned char *packed; /* a row of single bits; NULL: samples have 8 or 16 bits */
    struct gf_options options;
    struct gf_png_stripes *stripes; /* NULL before the first row, because a GPU may encode the
                                     * picture */
};

/* Returns the format of the stripes' rows, which are bytes if samples are single bits. */
static struct gf_format stripes_format(struct gf_format format, int depth)
{
    if (depth != 1)
        return format;
    return (struct gf_format){
        .width = (format.width + 7) / 8, .height = format.height, .channels = 1, .bits = 8};
}

/* Writes rows of single bits, which are not filtered. */
static enum gf_status write_bits(struct png_sink *sink, int rows, const unsigned char *src,
                                 size_t pitch, struct gf_error *error)
{
    const size_t width = (size_t)sink->format.width;
    for (int y = 0; y < rows; y++) {
        gf_samples_to_bits(src + (size_t)y * pitch, sink->packed, width, sink->format.bits);
        GF_TRY(gf_png_stripes_write(sink->stripes, 1, sink->packed, (width + 7) / 8, error));
    }
    return GF_OK;
}

static enum gf_status png_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    if (!sink->stripes)
        GF_TRY(gf_png_stripes_open(sink->output, stripes_format(sink->format, sink->options.depth),
                                   sink->packed, &sink->options, &sink->stripes, error));
    if (sink->packed)
        return write_bits(sink, rows, src, pitch, error);
    return gf_png_stripes_write(sink->stripes, rows, src, pitch, error);
}

static enum gf_status png_finish(struct gf_sink *base, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    GF_TRY(gf_png_stripes_finish(sink->stripes, error));
    return gf_png_chunk_write(sink->output, "IEND", NULL, 0, error);
}

/* Writes coded bytes, which are whole IDAT chunks. */
static enum gf_status png_splice(struct gf_sink *base, const unsigned char *coded, size_t size,
                                 bool last, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    GF_TRY(gf_output_write(sink->output, coded, size, error));
    return last ? gf_png_chunk_write(sink->output, "IEND", NULL, 0, error) : GF_OK;
}

static void png_close(struct gf_sink *base)
{
    struct png_sink *const sink = (struct png_sink *)base;
    gf_png_stripes_close(sink->stripes);
    free(sink->packed);
    free(sink);
}

struct gf_codec_memory gf_png_sink_memory(struct gf_format format, const struct gf_options *options)
{
    enum { USUAL_BYTES = 8 << 20 };
    const uint64_t counted = gf_png_palette_memory(format, options),
                   bytes = gf_png_stripes_memory(format, options) + counted;
    return (struct gf_codec_memory){bytes > USUAL_BYTES ? bytes : 0,
                                    counted ? "its colours are counted before it is written"
                                            : "several of its long rows are packed at once"};
}

static enum gf_status png_picture_sink_open(const struct gf_sink_order *order,
                                            struct gf_sink **sink, struct gf_error *error)
{
    const struct gf_format format = order->format;
    if (order->options->depth != 1 &&
        gf_png_wants_palette(order->output, format, order->metadata, order->options))
        return gf_png_palette_sink_open(order, sink, error);
    const struct gf_format packed = stripes_format(format, order->options->depth);
    GF_NEW(struct png_sink, opened, error);
    opened->base = (struct gf_sink){.write = png_write,
                                    .finish = png_finish,
                                    .close = png_close,
                                    .splice = order->options->depth == 1 ? NULL : png_splice};
    opened->output = order->output;
    opened->format = format;
    opened->options = *order->options;
    enum gf_status status = gf_png_write_header(order->output, format, order->options->depth,
                                                gf_png_colour_type(format), error);
    if (order->options->depth == 1 && !(opened->packed = malloc(gf_row_bytes(packed))) && !status)
        status = gf_fail_memory(error);
    GF_THEN(status, gf_png_write_metadata(order->output, order->metadata, error));
    if (!status && order->options->png_level == GF_PNG_FAST_LEVEL)
        status = gf_png_mark_write(order->output,
                                   gf_png_mark_rows(gf_row_bytes(packed), format.height), error);
    GF_OPENED(status, png_close, &opened->base, sink);
}

/* Writes an animated PNG (APNG). A frame is written as the box of the pixels that have changed
 * since the frame before; the writer of single PNGs makes its chunks. A frame that changes nothing
 * only lengthens the frame before. */

struct animation {
    unsigned char *shown;    /* the last frame, which is not written yet */
    struct gf_rectangle box; /* the box of the pixels that this frame changes */
    struct gf_duration duration;
    /* frames: how many were written; sequence: how many fcTL and fdAT chunks were written. */
    uint32_t frames, sequence;
    int64_t count_at; /* where acTL is in the output */
};

/* ---- durations ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Returns the fraction in lowest terms, or close to it, with at most `most` above and below. */
static struct gf_duration fraction(uint64_t count, uint64_t per_second, uint64_t most)
{
    const uint64_t divisor = common_divisor(count, per_second);
    count /= divisor ? divisor : 1;
    per_second /= divisor ? divisor : 1;
    const uint64_t larger = count > per_second ? count : per_second;
    if (larger > most) {
        const double seconds = (double)count / (double)per_second;
        per_second = seconds > 1 ? (uint64_t)((double)most / seconds) : most;
        per_second = per_second ? per_second : 1;
        count = (uint64_t)(seconds * (double)per_second + 0.5);
        count = count < most ? count : most;
    }
    return (struct gf_duration){(uint32_t)count, (uint32_t)per_second};
}

static struct gf_duration sum(struct gf_duration a, struct gf_duration b)
{
    const uint64_t below = a.per_second, other = b.per_second;
    if (!below || !other)
        return below ? a : b;
    return fraction(a.count * other + b.count * below, below * other, UINT32_MAX);
}

/* ---- writing ---- */

/* Makes the acTL chunk, which has the number of frames. */
static size_t make_count(const struct gf_whole_sink *sink, unsigned char *chunk)
{
    const struct animation *const animation = sink->animation;
    gf_png_put_be32(chunk + GF_PNG_HEAD_BYTES, animation->frames);
    gf_png_put_be32(chunk + GF_PNG_HEAD_BYTES + 4, sink->loops);
    return gf_png_chunk_close(chunk, "acTL", GF_PNG_ANIMATION_BYTES);
}

static enum gf_status write_control(const struct gf_whole_sink *sink, struct gf_error *error)
{
    enum { TIME_MOST = 65535, HUNDREDTHS = 100 };
    struct animation *const animation = sink->animation;
    const struct gf_duration duration = animation->duration;
    const struct gf_duration time =
        fraction(duration.count, duration.per_second ? duration.per_second : HUNDREDTHS, TIME_MOST);
    /* Its last two bytes stay 0: the frame replaces what is below it, and its place is not cleared
     * afterwards. */
    unsigned char control[GF_PNG_CONTROL_BYTES] = {0};
    gf_png_put_be32(control, animation->sequence++);
    gf_png_put_be32(control + 4, (uint32_t)animation->box.width);
    gf_png_put_be32(control + 8, (uint32_t)animation->box.height);
    gf_png_put_be32(control + 12, (uint32_t)animation->box.x);
    gf_png_put_be32(control + 16, (uint32_t)animation->box.y);
    gf_png_put_be32(control + 20, time.count << 16 | time.per_second);
    return gf_png_chunk_write(sink->output, "fcTL", control, sizeof control, error);
}

/* Writes the pixels of a frame's PNG, which changes: the number of an fdAT chunk is put before its
 * data. */
static enum gf_status write_pixels(const struct gf_whole_sink *sink, unsigned char *png,
                                   size_t size, struct gf_error *error)
{
    struct animation *const animation = sink->animation;
    enum gf_status status = GF_OK;
    size_t bytes;
    for (size_t at = GF_PNG_SIGNATURE_BYTES; !status && at < size;
         at += GF_PNG_CHUNK_LEAST + bytes) {
        unsigned char *const chunk = png + at;
        bytes = gf_png_get_be32(chunk);
        if (memcmp(chunk + 4, "IDAT", 4) != 0)
            continue;
        if (!animation->frames) {
            status = gf_output_write(sink->output, chunk, GF_PNG_CHUNK_LEAST + bytes, error);
            continue;
        }
        unsigned char *const longer = chunk - GF_PNG_SEQUENCE_BYTES;
        gf_png_put_be32(longer + GF_PNG_HEAD_BYTES, animation->sequence++);
        status = gf_output_write(sink->output, longer,
                                 gf_png_chunk_close(longer, "fdAT", GF_PNG_SEQUENCE_BYTES + bytes),
                                 error);
    }
    return status;
}

/* Makes a PNG of what the frame has changed. */
static enum gf_status make_png(const struct gf_whole_sink *sink, struct gf_output *png,
                               struct gf_error *error)
{
    static const struct gf_metadata nothing = {.orientation = 1};
    const struct animation *const animation = sink->animation;
    const struct gf_rectangle box = animation->box;
    const size_t pitch = gf_row_bytes(sink->format), pixel = pitch / (size_t)sink->format.width;
    const struct gf_sink_order order = {
        png,
        {box.width, box.height, sink->format.channels, sink->format.bits, GF_SAMPLES_INTEGER},
        &nothing,
        &sink->options};
    struct gf_sink *frame = NULL;
    enum gf_status status = png_picture_sink_open(&order, &frame, error);
    GF_THEN(status, frame->write(frame, box.height,
                                 animation->shown + (size_t)box.y * pitch + (size_t)box.x * pixel,
                                 pitch, error));
    GF_THEN(status, frame->finish(frame, error));
    if (frame)
        frame->close(frame);
    return status;
}

static enum gf_status write_frame(const struct gf_whole_sink *sink, struct gf_error *error)
{
    struct gf_output *png = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    enum gf_status status = gf_output_open_memory(gf_output_name(sink->output), &png, error);
    GF_THEN(status, make_png(sink, png, error));
    GF_THEN(status, gf_output_commit(png, error));
    GF_THEN(status, write_control(sink, error));
    if (!status) {
        bytes = gf_output_take(png, &size);
        status = write_pixels(sink, bytes, size, error);
    }
    free(bytes);
    gf_output_close(png);
    ((struct animation *)sink->animation)->frames++;
    return status;
}

/* Writes what precedes the first frame. The number of frames is written again at the end. */
static enum gf_status begin(struct gf_whole_sink *sink, struct gf_error *error)
{
    unsigned char count[GF_PNG_CHUNK_LEAST + GF_PNG_ANIMATION_BYTES];
    const struct gf_format format = sink->format;
    GF_NEW(struct animation, animation, error);
    sink->animation = animation;
    animation->shown = malloc(gf_row_bytes(format) * (size_t)format.height);
    GF_ALLOCATED(animation->shown, error);
    enum gf_status status = gf_png_write_header(sink->output, format, sink->options.depth,
                                                gf_png_colour_type(format), error);
    GF_THEN(status, gf_png_write_metadata(sink->output, &sink->metadata, error));
    animation->count_at = gf_output_size(sink->output);
    return status ? status : gf_output_write(sink->output, count, make_count(sink, count), error);
}

static enum gf_status animation_add(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_duration *const given = sink->base.duration;
    const struct gf_duration duration = given ? *given : (struct gf_duration){0, 0};
    const struct gf_format format = sink->format;
    GF_TRY(sink->animation ? GF_OK : begin(sink, error));
    enum gf_status status = GF_OK;
    struct animation *const animation = sink->animation;
    struct gf_image before = {.format = format, .pitch = gf_row_bytes(format)}, after = before;
    before.data = animation->shown;
    after.data = sink->pixels;
    const struct gf_rectangle box = sink->frames
                                        ? gf_changed_between(&before, &after)
                                        : (struct gf_rectangle){0, 0, format.width, format.height};
    if (!box.height) {
        animation->duration = sum(animation->duration, duration);
        return GF_OK;
    }
    if (sink->frames)
        status = write_frame(sink, error);
    sink->pixels = before.data;
    animation->shown = after.data;
    animation->box = box;
    animation->duration = duration;
    return status;
}

static enum gf_status animation_end(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct animation *const animation = sink->animation;
    unsigned char count[GF_PNG_CHUNK_LEAST + GF_PNG_ANIMATION_BYTES];
    GF_TRY(write_frame(sink, error));
    GF_TRY(gf_png_chunk_write(sink->output, "IEND", NULL, 0, error));
    return gf_output_write_at(sink->output, animation->count_at, count, make_count(sink, count),
                              error);
}

static void animation_release(struct gf_whole_sink *sink)
{
    struct animation *const animation = sink->animation;
    if (animation)
        free(animation->shown);
    free(animation);
}

static enum gf_status open_animation(const struct gf_sink_order *order, struct gf_sink **sink,
                                     struct gf_error *error)
{
    const struct gf_format format = order->format;
    static const struct gf_whole_encoder encoder = {.name = "PNG",
                                                    .side_most = INT_MAX,
                                                    .add = animation_add,
                                                    .end = animation_end,
                                                    .release = animation_release};
    const char *const name = gf_output_name(order->output);
    struct gf_options options = *order->options;
    struct gf_sink_order own = *order;
    options.png_palette = false;
    options.png_colours = 0;
    own.options = &options;
    if (order->options->png_palette || order->options->png_colours)
        gf_warn(order->options, "%s: the frames of an animation are written without a palette",
                name);
    const uint64_t memory =
        order->options->memory_bytes ? order->options->memory_bytes : gf_bytes_in_proportion(0);
    GF_TRY(gf_memory_check(name, "two frames of its animation are in memory",
                           2 * (uint64_t)gf_row_bytes(format) * (uint64_t)format.height, memory,
                           order->options, error));
    return gf_whole_sink_open(&encoder, &own, format, sink, error);
}

enum gf_status gf_png_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    return order->metadata->animated ? open_animation(order, sink, error)
                                     : png_picture_sink_open(order, sink, error);
}
