/* Writes an animated PNG (APNG). Each frame is the box of what has changed since the frame before,
 * which the writer of PNG makes. Frames that change nothing only lengthen the one before. */

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/changed.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_metadata.h"
#include "codec/png/write/png_picture.h"

struct animation_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_options options;
    struct gf_format format;
    unsigned loops;
    struct gf_image shown;   /* the last frame, which is not written yet */
    struct gf_rectangle box; /* what it has changed; without height: there is no frame yet */
    struct gf_duration duration;
    struct gf_image next; /* the frame that is being given, of which there are `rows` */
    int rows;
    uint32_t frames, sequence; /* what is written: the frames; the fcTL and fdAT chunks */
    int64_t count_at;          /* where acTL is in the output */
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
static size_t make_count(const struct animation_sink *sink, unsigned char *chunk)
{
    gf_png_put_be32(chunk + GF_PNG_HEAD_BYTES, sink->frames);
    gf_png_put_be32(chunk + GF_PNG_HEAD_BYTES + 4, sink->loops);
    return gf_png_chunk_close(chunk, "acTL", GF_PNG_ANIMATION_BYTES);
}

static enum gf_status write_control(struct animation_sink *sink, struct gf_error *error)
{
    enum { TIME_MOST = 65535, HUNDREDTHS = 100 };
    const struct gf_duration duration = sink->duration;
    const struct gf_duration time =
        fraction(duration.count, duration.per_second ? duration.per_second : HUNDREDTHS, TIME_MOST);
    unsigned char control[GF_PNG_CONTROL_BYTES] = {0}; /* at its end: replace, and do not clear */
    gf_png_put_be32(control, sink->sequence++);
    gf_png_put_be32(control + 4, (uint32_t)sink->box.width);
    gf_png_put_be32(control + 8, (uint32_t)sink->box.height);
    gf_png_put_be32(control + 12, (uint32_t)sink->box.x);
    gf_png_put_be32(control + 16, (uint32_t)sink->box.y);
    gf_png_put_be32(control + 20, time.count << 16 | time.per_second);
    return gf_png_chunk_write(sink->output, "fcTL", control, sizeof control, error);
}

/* Writes the pixels of a frame's PNG, which changes: the number of an fdAT chunk is put before its
 * data. */
static enum gf_status write_pixels(struct animation_sink *sink, unsigned char *png, size_t size,
                                   struct gf_error *error)
{
    enum gf_status status = GF_OK;
    size_t bytes;
    for (size_t at = GF_PNG_SIGNATURE_BYTES; !status && at < size;
         at += GF_PNG_CHUNK_LEAST + bytes) {
        unsigned char *const chunk = png + at;
        bytes = gf_png_get_be32(chunk);
        if (memcmp(chunk + 4, "IDAT", 4) != 0)
            continue;
        if (!sink->frames) {
            status = gf_output_write(sink->output, chunk, GF_PNG_CHUNK_LEAST + bytes, error);
            continue;
        }
        unsigned char *const longer = chunk - GF_PNG_SEQUENCE_BYTES;
        gf_png_put_be32(longer + GF_PNG_HEAD_BYTES, sink->sequence++);
        status = gf_output_write(sink->output, longer,
                                 gf_png_chunk_close(longer, "fdAT", GF_PNG_SEQUENCE_BYTES + bytes),
                                 error);
    }
    return status;
}

/* Makes a PNG of what the frame has changed. */
static enum gf_status make_png(const struct animation_sink *sink, struct gf_output *png,
                               struct gf_error *error)
{
    static const struct gf_metadata nothing = {.orientation = 1};
    const struct gf_rectangle box = sink->box;
    const struct gf_image *const image = &sink->shown;
    const size_t pixel = gf_row_bytes(sink->format) / (size_t)sink->format.width;
    const struct gf_format format = {box.width, box.height, sink->format.channels,
                                     sink->format.bits};
    struct gf_sink *frame = NULL;
    enum gf_status status =
        gf_png_picture_sink_open(png, format, &nothing, &sink->options, &frame, error);
    if (!status)
        status = frame->write(frame, box.height,
                              image->data + (size_t)box.y * image->pitch + (size_t)box.x * pixel,
                              image->pitch, error);
    if (!status)
        status = frame->finish(frame, error);
    if (frame)
        frame->close(frame);
    return status;
}

static enum gf_status write_frame(struct animation_sink *sink, struct gf_error *error)
{
    struct gf_output *png = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    enum gf_status status = gf_output_open_memory(gf_output_name(sink->output), &png, error);
    if (!status)
        status = make_png(sink, png, error);
    if (!status)
        status = gf_output_commit(png, error);
    if (!status)
        status = write_control(sink, error);
    if (!status) {
        bytes = gf_output_take(png, &size);
        status = write_pixels(sink, bytes, size, error);
    }
    free(bytes);
    gf_output_close(png);
    sink->frames++;
    return status;
}

static enum gf_status animation_write(struct gf_sink *base, int rows, const unsigned char *src,
                                      size_t pitch, struct gf_error *error)
{
    struct animation_sink *const sink = (struct animation_sink *)base;
    struct gf_image *const next = &sink->next;
    (void)error;
    for (int y = 0; y < rows; y++, sink->rows++)
        memcpy(next->data + (size_t)sink->rows * next->pitch, src + (size_t)y * pitch,
               gf_row_bytes(sink->format));
    return GF_OK;
}

static enum gf_status animation_finish(struct gf_sink *base, struct gf_error *error)
{
    struct animation_sink *const sink = (struct animation_sink *)base;
    const struct gf_duration duration =
        base->duration ? *base->duration : (struct gf_duration){0, 0};
    const struct gf_image image = sink->next;
    const bool first = !sink->box.height;
    const struct gf_rectangle box =
        first ? (struct gf_rectangle){0, 0, sink->format.width, sink->format.height}
              : gf_changed_between(&sink->shown, &image);
    sink->rows = 0;
    if (!box.height) {
        sink->duration = sum(sink->duration, duration);
        return GF_OK;
    }
    const enum gf_status status = first ? GF_OK : write_frame(sink, error);
    sink->next = sink->shown;
    sink->shown = image;
    sink->box = box;
    sink->duration = duration;
    return status;
}

static enum gf_status animation_end(struct gf_sink *base, struct gf_error *error)
{
    struct animation_sink *const sink = (struct animation_sink *)base;
    unsigned char count[GF_PNG_CHUNK_LEAST + GF_PNG_ANIMATION_BYTES];
    enum gf_status status = write_frame(sink, error);
    if (!status)
        status = gf_png_chunk_write(sink->output, "IEND", NULL, 0, error);
    return status ? status
                  : gf_output_write_at(sink->output, sink->count_at, count, make_count(sink, count),
                                       error);
}

static void animation_close(struct gf_sink *base)
{
    struct animation_sink *const sink = (struct animation_sink *)base;
    gf_image_free(&sink->shown);
    gf_image_free(&sink->next);
    free(sink);
}

/* Writes what precedes the first frame. The number of frames is written again at the end. */
static enum gf_status start(struct animation_sink *sink, const struct gf_metadata *metadata,
                            struct gf_error *error)
{
    unsigned char count[GF_PNG_CHUNK_LEAST + GF_PNG_ANIMATION_BYTES];
    const struct gf_format format = sink->format;
    const struct gf_options *const options = &sink->options;
    const char *const name = gf_output_name(sink->output);
    const uint64_t memory =
        options->memory_bytes ? options->memory_bytes : gf_bytes_in_proportion(0);
    enum gf_status status =
        gf_memory_check(name, "two frames of its animation are in memory",
                        2 * (uint64_t)gf_row_bytes(format) * (uint64_t)format.height, memory,
                        options, false, error);
    if (!status)
        status = gf_image_alloc(&sink->shown, format, error);
    if (!status)
        status = gf_image_alloc(&sink->next, format, error);
    if (!status)
        status = gf_png_write_header(sink->output, format, options->depth,
                                     gf_png_colour_type(format), error);
    if (!status)
        status = gf_png_write_metadata(sink->output, metadata, error);
    sink->count_at = gf_output_size(sink->output);
    return status ? status : gf_output_write(sink->output, count, make_count(sink, count), error);
}

static enum gf_status open_animation(struct gf_output *output, struct gf_format format,
                                     const struct gf_metadata *metadata,
                                     const struct gf_options *options, struct gf_sink **sink,
                                     struct gf_error *error)
{
    struct animation_sink *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    opened->base = (struct gf_sink){.write = animation_write,
                                    .finish = animation_finish,
                                    .end = animation_end,
                                    .close = animation_close};
    opened->output = output;
    opened->format = format;
    opened->loops = metadata->loops;
    opened->options = *options;
    opened->options.png_palette = false;
    opened->options.png_colours = 0;
    if (options->png_palette || options->png_colours)
        gf_warn(options, "%s: the frames of an animation are written without a palette",
                gf_output_name(output));
    const enum gf_status status = start(opened, metadata, error);
    if (status) {
        animation_close(&opened->base);
        return status;
    }
    *sink = &opened->base;
    return GF_OK;
}

enum gf_status gf_png_sink_open(struct gf_output *output, struct gf_format format,
                                const struct gf_metadata *metadata,
                                const struct gf_options *options, struct gf_sink **sink,
                                struct gf_error *error)
{
    return metadata->animated
               ? open_animation(output, format, metadata, options, sink, error)
               : gf_png_picture_sink_open(output, format, metadata, options, sink, error);
}
