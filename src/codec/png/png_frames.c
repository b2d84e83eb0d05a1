/* Reads an animated PNG (APNG). Each frame is made a PNG of its own, and is drawn over the
 * frames before it, as their fcTL chunks say (PNG, third edition, 11.3.6). */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/source.h"
#include "codec/common/rows/whole_picture.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_read.h"

/* What an fcTL chunk says. */
struct gf_png_control {
    uint32_t width, height, x, y; /* the frame's place on the canvas */
    struct gf_duration duration;
    enum {
        GF_PNG_DISPOSE_NOTHING,
        GF_PNG_DISPOSE_CLEAR, /* the place becomes transparent before the next frame */
        GF_PNG_DISPOSE_UNDER  /* the place becomes what it was below the frame */
    } dispose;
    bool over; /* alpha blends the frame with what is below it; else it replaces that */
};

static struct gf_png_control png_control_of_canvas(const unsigned char *png)
{
    const unsigned char *const ihdr = png + GF_PNG_SIGNATURE_BYTES + GF_PNG_HEAD_BYTES;
    return (struct gf_png_control){.width = gf_png_get_be32(ihdr),
                                   .height = gf_png_get_be32(ihdr + 4)};
}

/* Whether the frame `over` has all pixels of the place of `under`. */
static bool png_control_covers(const struct gf_png_control *over,
                               const struct gf_png_control *under)
{
    return over->x <= under->x && over->y <= under->y &&
           (uint64_t)over->x + over->width >= (uint64_t)under->x + under->width &&
           (uint64_t)over->y + over->height >= (uint64_t)under->y + under->height;
}

/* Reads the data of an fcTL chunk. `png` is the file, which begins with the signature and IHDR.
 * full: the frame must fill the canvas. Returns false if a value is not allowed. */
static bool png_control_read(const unsigned char *data, const unsigned char *png, bool full,
                             struct gf_png_control *control)
{
    enum { HUNDREDTHS = 100, DISPOSE = 24, BLEND = 25 };
    const struct gf_png_control canvas = png_control_of_canvas(png);
    const uint32_t delay = gf_png_get_be32(data + 20), per_second = delay & 0xffff;
    *control =
        (struct gf_png_control){.width = gf_png_get_be32(data + 4),
                                .height = gf_png_get_be32(data + 8),
                                .x = gf_png_get_be32(data + 12),
                                .y = gf_png_get_be32(data + 16),
                                .duration = {delay >> 16, per_second ? per_second : HUNDREDTHS},
                                .dispose = data[DISPOSE],
                                .over = data[BLEND]};
    return control->width && control->height && data[DISPOSE] <= GF_PNG_DISPOSE_UNDER &&
           data[BLEND] <= 1 && png_control_covers(&canvas, control) &&
           (!full || png_control_covers(control, &canvas));
}

static uint64_t sample(const unsigned char *pixel, int channel, int bits)
{
    uint16_t value;
    if (bits == 8)
        return pixel[channel];
    memcpy(&value, pixel + 2 * channel, sizeof value);
    return value;
}

static void set_sample(unsigned char *pixel, int channel, int bits, uint64_t value)
{
    const uint16_t own = (uint16_t)value;
    if (bits == 8)
        pixel[channel] = (unsigned char)value;
    else
        memcpy(pixel + 2 * channel, &own, sizeof own);
}

/* Blends a pixel with the one below it. Colours are not premultiplied. */
static void blend(const unsigned char *from, unsigned char *to, struct gf_format canvas)
{
    const int alpha = canvas.channels - 1, bits = canvas.bits;
    const uint64_t most = bits == 16 ? 65535 : 255, own = sample(from, alpha, bits);
    const uint64_t upper = own * most, lower = (most - own) * sample(to, alpha, bits),
                   both = upper + lower;
    if (!own)
        return;
    for (int c = 0; c < alpha; c++)
        set_sample(to, c, bits,
                   (sample(from, c, bits) * upper + sample(to, c, bits) * lower + both / 2) / both);
    set_sample(to, alpha, bits, (both + most / 2) / most);
}

/* Draws a row of a frame, whose pixels have `channels`, to a row of the canvas, which can have an
 * alpha channel more. */
static void png_draw_row(const struct gf_png_control *control, const unsigned char *from,
                         int channels, unsigned char *canvas_row, struct gf_format canvas)
{
    const size_t bytes = (size_t)canvas.bits / 8, pixel = (size_t)canvas.channels * bytes,
                 own = (size_t)channels * bytes;
    unsigned char *to = canvas_row + pixel * control->x;
    const bool has_alpha = channels == 2 || channels == 4;
    if (own == pixel && !(control->over && has_alpha)) {
        memcpy(to, from, pixel * control->width);
        return;
    }
    for (uint32_t x = 0; x < control->width; x++, from += own, to += pixel) {
        if (own == pixel) {
            blend(from, to, canvas);
            continue;
        }
        memcpy(to, from, own);
        memset(to + own, 0xff, bytes);
    }
}

/* Makes the frame's place on the canvas what the next frame is drawn over. `under` is the canvas
 * before the frame was drawn; NULL, if it is not needed. */
static void png_dispose(const struct gf_png_control *control, const unsigned char *under,
                        unsigned char *pixels, struct gf_format canvas)
{
    const size_t pitch = gf_row_bytes(canvas), pixel = pitch / (size_t)canvas.width;
    const size_t bytes = pixel * control->width;
    for (uint32_t y = control->y; y < control->y + control->height; y++) {
        const size_t at = pitch * y + pixel * control->x;
        if (control->dispose == GF_PNG_DISPOSE_CLEAR)
            memset(pixels + at, 0, bytes);
        else if (control->dispose == GF_PNG_DISPOSE_UNDER)
            memcpy(pixels + at, under + at, bytes);
    }
}

/* Reads an animated PNG into memory, with the chunks alone that its pixels depend on. */

/* A file that grows in memory. */
struct growing {
    struct gf_blob file;
    size_t capacity;
};

static bool append(struct growing *to, const void *data, size_t size)
{
    if (!GF_RESERVE(to->file.data, to->capacity, to->file.size + size))
        return false;
    memcpy(to->file.data + to->file.size, data, size);
    to->file.size += size;
    return true;
}

static bool append_chunk(struct growing *to, const char *type, const void *data, size_t size)
{
    enum { MOST = 3 * 256 };
    unsigned char chunk[MOST + GF_PNG_CHUNK_LEAST];
    memcpy(chunk + GF_PNG_HEAD_BYTES, data, size < MOST ? size : MOST);
    return size <= MOST && append(to, chunk, gf_png_chunk_close(chunk, type, size));
}

/* Writes the chunks before the pixels that the frames depend on, as libpng has read them. */
static bool append_header(struct growing *to, const struct gf_png_source *still)
{
    static const unsigned char signature[GF_PNG_SIGNATURE_BYTES] = {0x89, 'P',  'N',  'G',
                                                                    '\r', '\n', 0x1a, '\n'};
    unsigned char ihdr[GF_PNG_HEADER_BYTES], clear[6], animation[GF_PNG_ANIMATION_BYTES];
    png_structp const png = still->png;
    png_colorp palette = NULL;
    png_bytep alpha = NULL;
    png_color_16p colour = NULL;
    int colours = 0, transparent = 0;
    const int type = png_get_color_type(png, still->info);
    gf_png_make_header(ihdr, still->base.format, png_get_bit_depth(png, still->info), type);
    ihdr[GF_PNG_HEAD_BYTES + 12] = png_get_interlace_type(png, still->info);
    (void)gf_png_chunk_close(ihdr, "IHDR", sizeof ihdr - GF_PNG_CHUNK_LEAST);
    gf_png_put_be32(animation, still->frames);
    gf_png_put_be32(animation + 4, still->loops);
    bool there = append(to, signature, sizeof signature) && append(to, ihdr, sizeof ihdr);
    if (there && type == PNG_COLOR_TYPE_PALETTE &&
        png_get_PLTE(png, still->info, &palette, &colours))
        there = append_chunk(to, "PLTE", palette, sizeof *palette * (size_t)colours);
    if (there && png_get_tRNS(png, still->info, &alpha, &transparent, &colour)) {
        const bool gray = type == PNG_COLOR_TYPE_GRAY;
        const uint16_t samples[3] = {gray ? colour->gray : colour->red, colour->green,
                                     colour->blue};
        gf_samples_big_endian((const unsigned char *)samples, clear, 3);
        there = type == PNG_COLOR_TYPE_PALETTE
                    ? append_chunk(to, "tRNS", alpha, (size_t)transparent)
                    : append_chunk(to, "tRNS", clear, gray ? 2 : sizeof clear);
    }
    return there && append_chunk(to, "acTL", animation, sizeof animation) &&
           (!still->first_is_frame ||
            append_chunk(to, "fcTL", still->control, sizeof still->control));
}

/* Reads the chunks up to IEND, or what there is of them. */
static enum gf_status read_chunks(struct gf_png_source *still, struct growing *to,
                                  struct gf_error *error)
{
    const unsigned char *head = still->chunk_head;
    enum gf_status status = append(to, head, GF_PNG_HEAD_BYTES) ? GF_OK : gf_fail_memory(error);
    bool more = true;
    while (!status && more) {
        const bool last = !memcmp(head + 4, "IEND", 4);
        const uint64_t body = (uint64_t)gf_png_get_be32(head) + GF_PNG_CRC_BYTES,
                       wanted = body + (last ? 0 : GF_PNG_HEAD_BYTES);
        const size_t before = to->file.size;
        status = gf_whole_read_more(still->input, wanted, &still->options, &to->file, &to->capacity,
                                    error);
        more = !last && to->file.size - before == wanted;
        head = to->file.data + to->file.size - GF_PNG_HEAD_BYTES;
    }
    return status;
}

/* Adds the metadata that a stream has behind its pixels. */
static enum gf_status add_late_metadata(struct gf_png_source *still, const struct gf_blob *file,
                                        struct gf_error *error)
{
    struct gf_input *input = NULL;
    bool frameless;
    enum gf_status status =
        gf_input_open_memory(file->data, file->size, gf_png_name(still), &input, error);
    if (!status && !gf_png_add_late_metadata(&still->base.metadata, input, GF_PNG_SIGNATURE_BYTES,
                                             &still->options, &frameless))
        status = gf_fail_memory(error);
    gf_input_close(input);
    return status;
}

/* Reads the file: the header, PLTE and tRNS, acTL, the first fcTL if it is before the pixels, and
 * all chunks from the first IDAT on, up to IEND or as far as they are there. `still` has read up to
 * the head of the first IDAT chunk; the input is then behind IEND. The caller frees the bytes. */
static GF_CHECKED enum gf_status png_frames_load(struct gf_png_source *still, struct gf_blob *file,
                                                 struct gf_error *error)
{
    struct growing read = {0};
    enum gf_status status = append_header(&read, still) ? GF_OK : gf_fail_memory(error);
    GF_THEN(status, read_chunks(still, &read, error));
    if (!status && gf_input_is_stream(still->input))
        status = add_late_metadata(still, &read.file, error);
    if (status)
        free(read.file.data);
    else
        *file = read.file;
    return status;
}

/* A frame, and where its chunks are in the file. */
struct frame {
    struct gf_png_control control;
    size_t first, end;
};

struct frames_source {
    struct gf_whole_source whole;
    struct frame *frame;
    int stated, found; /* numbers of frames: by acTL, and in the file */
    int before;        /* 1: picture 0 is no frame */
    /* The bytes before the first frame's chunks in the file, with which the PNG of each frame
     * begins, too. */
    size_t head_bytes;
    int drawn; /* how many frames have been drawn on the canvas */
    unsigned char *png, *row;
    unsigned char *under; /* the canvas below the last frame */
};

/* ---- finding the frames ---- */

/* Sets the chunk at *at, and moves behind it. Returns false at the end, also of a file that ends
 * within the chunk. */
static bool next_chunk(const struct gf_blob *file, size_t *at, struct gf_png_chunk *chunk)
{
    const size_t left = file->size - *at;
    const unsigned char *const head = file->data + *at;
    if (left < GF_PNG_CHUNK_LEAST || gf_png_get_be32(head) > left - GF_PNG_CHUNK_LEAST)
        return false;
    chunk->type = (const char *)head + 4;
    chunk->size = gf_png_get_be32(head);
    chunk->data = head + GF_PNG_HEAD_BYTES;
    chunk->crc = gf_png_get_be32(chunk->data + chunk->size);
    *at += GF_PNG_CHUNK_LEAST + chunk->size;
    return true;
}

static bool is(const struct gf_png_chunk *chunk, const char *type)
{
    return !memcmp(chunk->type, type, 4);
}

/* Adds the frame that the fcTL chunk begins. Returns what is wrong with it; NULL: nothing. */
static const char *add_frame(struct frames_source *source, const struct gf_png_chunk *chunk,
                             size_t first)
{
    const int known = source->found;
    if (known == source->stated)
        return "it has more frames than its header counts";
    if (!GF_GROW(source->frame, known))
        return "out of memory"; /* errno says so, too */
    struct frame *const frame = &source->frame[known];
    *frame = (struct frame){.first = first, .end = source->whole.file.size};
    const bool full = !known && !source->before;
    if (chunk->size != GF_PNG_CONTROL_BYTES ||
        !png_control_read(chunk->data, source->whole.file.data, full, &frame->control))
        return "a frame has a wrong size, place or way of drawing";
    source->found++;
    return NULL;
}

static const char *chunk_fault(const struct gf_png_chunk *chunk, uint32_t sequence)
{
    return !gf_png_chunk_is_sound(chunk) ? "a chunk of its frames has a wrong checksum"
           : chunk->size < GF_PNG_SEQUENCE_BYTES || gf_png_get_be32(chunk->data) != sequence
               ? "a chunk of its frames is missing"
               : NULL;
}

/* Makes the picture that is no frame the only one: an animation without frames is a still picture.
 */
static const char *take_still(struct frames_source *source)
{
    if (!GF_GROW(source->frame, 0))
        return "out of memory";
    if (source->stated > 1)
        gf_warn(&source->whole.options,
                "%s: its %d frames are missing: it is read as a still picture", source->whole.name,
                source->stated);
    source->frame[0] = (struct frame){png_control_of_canvas(source->whole.file.data),
                                      source->head_bytes, source->whole.file.size};
    source->frame[0].control.duration.per_second = 1;
    source->stated = source->found = 1;
    source->before = source->whole.page = source->whole.last = 0;
    return NULL;
}

/* Finds the frames and checks the order of the chunks. Returns the damage that was found behind
 * them; NULL: there is none. */
static const char *find_frames(struct frames_source *source)
{
    const struct gf_blob *const file = &source->whole.file;
    struct gf_png_chunk chunk = {.type = "IDAT"};
    size_t at = source->head_bytes, begin = at;
    uint32_t sequence = 0;
    while (next_chunk(file, &at, &chunk) && !is(&chunk, "IEND")) {
        const bool control = is(&chunk, "fcTL"), data = is(&chunk, "fdAT");
        if (control && source->found)
            source->frame[source->found - 1].end = begin;
        begin = at;
        if (!control && !data)
            continue;
        const char *const wrong = chunk_fault(&chunk, sequence++);
        source->found -= wrong && data && source->found;
        const char *const fault = wrong || data ? wrong : add_frame(source, &chunk, at);
        if (fault)
            return fault;
    }
    if (!sequence && source->before && is(&chunk, "IEND"))
        return take_still(source);
    /* The last frame counts only if the file has at least one byte of its pixels. */
    source->found -= source->found && file->size - source->frame[source->found - 1].first <=
                                          GF_PNG_HEAD_BYTES + GF_PNG_SEQUENCE_BYTES;
    return source->found < source->stated ? "some of its frames are missing" : NULL;
}

/* Decides which frames are read. Damage behind them is only warned of. */
static enum gf_status choose_frames(struct frames_source *source, const char *damage,
                                    struct gf_error *error)
{
    struct gf_whole_source *const whole = &source->whole;
    const int found = source->before + source->found;
    enum gf_status status = gf_choose_frames(whole, source->before + source->stated, error);
    for (int i = 0; !damage && i < source->found; i++) {
        const struct gf_duration shown = source->frame[i].control.duration;
        whole->base.stored.seconds += (double)shown.count / shown.per_second;
    }
    if (status || !damage || whole->headers_only)
        return status;
    whole->sound = found;
    if (!gf_whole_source_suffices(whole))
        return gf_whole_source_fail(whole, damage, error);
    gf_warn_behind(whole->name, found, damage, &whole->options);
    whole->last = whole->last < found ? whole->last : found - 1;
    return gf_choose_frames(whole, found, error);
}

/* Whether a frame leaves pixels transparent whatever its colours are: it is the first one and does
 * not fill the canvas, or the next one does not fill the place that it clears. */
static bool shows_nothing(const struct frames_source *source, int last)
{
    const struct gf_png_control canvas = png_control_of_canvas(source->whole.file.data);
    bool any = source->found && !png_control_covers(&source->frame[0].control, &canvas);
    for (int i = 0; i < last && i + 1 < source->found; i++) {
        const struct gf_png_control *const control = &source->frame[i].control;
        any |= (control->dispose == GF_PNG_DISPOSE_CLEAR ||
                (!i && control->dispose == GF_PNG_DISPOSE_UNDER)) &&
               !png_control_covers(&source->frame[i + 1].control, control);
    }
    return any;
}

/* Describes the source. The memory is that of the canvas, the canvas below the last frame, a PNG of
 * the frame and, if that is interlaced, its pixels. */
static enum gf_status describe(struct frames_source *source, bool transparent,
                               struct gf_error *error)
{
    struct gf_whole_source *const whole = &source->whole;
    const unsigned char *const ihdr = whole->file.data + GF_PNG_SIGNATURE_BYTES + GF_PNG_HEAD_BYTES;
    const int bits = ihdr[8] == 16 ? 16 : 8, colours = ihdr[9] & PNG_COLOR_MASK_COLOR ? 3 : 1;
    const bool alpha = transparent || (ihdr[9] & PNG_COLOR_MASK_ALPHA);
    const bool more = !alpha && shows_nothing(source, whole->last - source->before);
    const int channels = colours + (alpha || more);
    const double copies = 1 + (ihdr[12] != 0);
    const enum gf_status status =
        gf_whole_source_describe(whole, gf_png_get_be32(ihdr), gf_png_get_be32(ihdr + 4), channels,
                                 bits, copies * channels * bits / 8, error);
    whole->base.memory.bytes += whole->file.size;
    return status;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    struct frames_source *const source = (struct frames_source *)whole;
    struct gf_png_chunk chunk = {0};
    bool transparent = false;
    for (size_t at = GF_PNG_SIGNATURE_BYTES;
         next_chunk(&whole->file, &at, &chunk) && !is(&chunk, "acTL"); source->head_bytes = at)
        transparent |= is(&chunk, "tRNS");
    source->stated =
        gf_png_get_be32(chunk.data) < INT_MAX ? (int)gf_png_get_be32(chunk.data) : INT_MAX - 1;
    const size_t behind = source->head_bytes + GF_PNG_CHUNK_LEAST + GF_PNG_ANIMATION_BYTES;
    source->before = memcmp(whole->file.data + behind + 4, "fcTL", 4) != 0;
    const char *const damage = find_frames(source);
    GF_TRY(choose_frames(source, damage, error));
    return describe(source, transparent, error);
}

/* ---- drawing ---- */

/* Copies what the file has of its last chunk, if that has pixels of the frame. */
static size_t put_cut_chunk(const struct gf_blob *file, size_t at, bool pixels, unsigned char *to)
{
    const size_t left = file->size - at, skipped = pixels ? 0 : GF_PNG_SEQUENCE_BYTES;
    const unsigned char *const chunk = file->data + at;
    if (left <= GF_PNG_HEAD_BYTES + skipped || memcmp(chunk + 4, pixels ? "IDAT" : "fdAT", 4) != 0)
        return 0;
    gf_png_put_be32(to, gf_png_get_be32(chunk) - (uint32_t)skipped);
    memcpy(to + 4, "IDAT", 4);
    memcpy(to + GF_PNG_HEAD_BYTES, chunk + GF_PNG_HEAD_BYTES + skipped,
           left - GF_PNG_HEAD_BYTES - skipped);
    return left - skipped;
}

/* Makes a PNG of a frame's chunks. A last chunk that is cut off stays so. */
static size_t make_png(struct frames_source *source, const struct frame *frame)
{
    const struct gf_blob *const file = &source->whole.file;
    const bool pixels = frame == source->frame && !source->before;
    unsigned char *const ihdr = source->png + GF_PNG_SIGNATURE_BYTES,
                         *to = source->png + source->head_bytes;
    struct gf_png_chunk chunk;
    size_t at = frame->first;
    memcpy(source->png, file->data, source->head_bytes);
    gf_png_put_be32(ihdr + GF_PNG_HEAD_BYTES, frame->control.width);
    gf_png_put_be32(ihdr + GF_PNG_HEAD_BYTES + 4, frame->control.height);
    (void)gf_png_chunk_close(ihdr, "IHDR", GF_PNG_HEADER_BYTES - GF_PNG_CHUNK_LEAST);
    while (at < frame->end && next_chunk(file, &at, &chunk)) {
        const size_t skipped = pixels ? 0 : GF_PNG_SEQUENCE_BYTES;
        if (!is(&chunk, pixels ? "IDAT" : "fdAT"))
            continue;
        memcpy(to + GF_PNG_HEAD_BYTES, chunk.data + skipped, chunk.size - skipped);
        const size_t size = gf_png_chunk_close(to, "IDAT", chunk.size - skipped);
        if (pixels)
            gf_png_put_be32(to + size - GF_PNG_CRC_BYTES, chunk.crc);
        to += size;
    }
    if (at >= frame->end)
        to += gf_png_chunk_close(to, "IEND", 0);
    else
        to += put_cut_chunk(file, at, pixels, to);
    return (size_t)(to - source->png);
}

static enum gf_status draw_rows(struct frames_source *source, const struct frame *frame,
                                struct gf_source *png, unsigned char *canvas,
                                struct gf_error *error)
{
    const struct gf_format format = source->whole.base.format;
    const struct gf_png_control *const control = &frame->control;
    for (uint32_t y = 0; y < control->height; y++) {
        unsigned char *const to = canvas + gf_row_bytes(format) * (control->y + y);
        GF_TRY(png->read(png, 1, source->row, gf_row_bytes(png->format), error));
        png_draw_row(control, source->row, png->format.channels, to, format);
    }
    return png->finish(png, error);
}

static enum gf_status decode_frame(struct frames_source *source, const struct frame *frame,
                                   unsigned char *canvas, struct gf_error *error)
{
    const struct gf_whole_source *const whole = &source->whole;
    struct gf_input *input = NULL;
    struct gf_png_source *png = NULL;
    char name[300];
    struct gf_pages pages;
    const size_t length = gf_input_split_pages(whole->name, &pages);
    snprintf(name, sizeof name, "%.*s[%d]", length && length < 280 ? (int)length : 280, whole->name,
             (int)(frame - source->frame) + source->before);
    enum gf_status status =
        gf_input_open_memory(source->png, make_png(source, frame), name, &input, error);
    GF_THEN(status, gf_png_header_open(input, &whole->options, &png, error));
    GF_THEN(status, gf_png_start(png, error));
    GF_THEN(status, draw_rows(source, frame, &png->base, canvas, error));
    if (png)
        png->base.close(&png->base);
    gf_input_close(input);
    return status;
}

/* Draws the next frame over what the one before has left. */
static enum gf_status draw_next(struct frames_source *source, unsigned char *canvas,
                                struct gf_error *error)
{
    const struct gf_format format = source->whole.base.format;
    const struct frame *const frame = &source->frame[source->drawn];
    if (source->drawn)
        png_dispose(&frame[-1].control, source->under, canvas, format);
    if (frame->control.dispose == GF_PNG_DISPOSE_UNDER) {
        const size_t bytes = gf_row_bytes(format) * (size_t)format.height;
        if (!source->under && !(source->under = malloc(bytes)))
            return gf_fail_memory(error);
        memcpy(source->under, canvas, bytes);
    }
    source->drawn++;
    source->whole.base.duration = frame->control.duration;
    GF_TRY(decode_frame(source, frame, canvas, error));
    return gf_time_check(error);
}

static enum gf_status frames_decode(struct gf_whole_source *whole, unsigned char *pixels,
                                    struct gf_error *error)
{
    struct frames_source *const source = (struct frames_source *)whole;
    const size_t row_bytes = gf_row_bytes(whole->base.format);
    if (!source->png)
        source->png = malloc(whole->file.size + GF_PNG_CHUNK_LEAST);
    if (!source->row)
        source->row = malloc(row_bytes);
    GF_ALLOCATED(source->png && source->row, error);
    while (source->drawn <= whole->frame - source->before)
        GF_TRY(draw_next(source, pixels, error));
    return GF_OK;
}

static void frames_release(struct gf_whole_source *whole)
{
    struct frames_source *const source = (struct frames_source *)whole;
    free(source->frame);
    free(source->png);
    free(source->row);
    free(source->under);
}

/* Nothing is left to do, since the input is after the file's end already. The function exists so
 * that a cell (src/codec/cell) reports this position of the input. */
static enum gf_status frames_finish(struct gf_source *base, struct gf_error *error)
{
    (void)base;
    (void)error;
    return GF_OK;
}

/* Opens a source of the pictures that the input chooses. The metadata of `still`, which has read
 * the header, become the source's. */
static enum gf_status open_frames(struct gf_png_source *still, struct gf_source **source,
                                  struct gf_error *error)
{
    static const struct gf_whole_calls own = {.size = sizeof(struct frames_source),
                                              .read_header = read_header,
                                              .blank = true,
                                              .decode = frames_decode,
                                              .release = frames_release};
    struct gf_blob file;
    GF_TRY(png_frames_load(still, &file, error));
    GF_TRY(gf_whole_source_take(&own, still->input, &still->options, file, source, error));
    const struct gf_metadata nothing = {.orientation = 1};
    still->base.stored.seconds = (*source)->stored.seconds;
    (*source)->stored = still->base.stored;
    (*source)->finish = frames_finish;
    (*source)->metadata = still->base.metadata;
    still->base.metadata = nothing;
    return GF_OK;
}

enum gf_status gf_png_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    const struct gf_pages pages = gf_input_pages(input);
    struct gf_png_source *still = NULL;
    int page = 0;
    GF_TRY(gf_png_header_open(input, options, &still, error));
    /* A picture that is no frame is not shown with them. */
    if (still->frames && !still->first_is_frame && !pages.first && pages.last > 0)
        gf_input_choose_pages(input, (struct gf_pages){1, pages.last});
    enum gf_status status = gf_choose_page(gf_png_name(still), gf_input_page(input),
                                           still->base.stored.pages, options, &page, error);
    const bool frames = still->base.stored.is_animation && (page > 0 || pages.last > 0);
    GF_THEN(status, frames ? open_frames(still, source, error) : gf_png_start(still, error));
    if (status || frames)
        still->base.close(&still->base);
    else
        *source = &still->base;
    return status;
}
