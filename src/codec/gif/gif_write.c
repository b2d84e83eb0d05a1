/* Writes GIF. A frame is held back until the next one is known, because only that decides what
 * happens to the frame's pixels (its disposal). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/gif/gif.h"

#define THINNED "partly transparent pixels"
#define REDUCED "more than 256 colours in a frame"
#define SHORTENED "delays over 655 s"

/* Least delay, in hundredths of a second, that browsers obey; they show shorter ones for 10. */
enum { SHOWN_LEAST = 2 };

struct gif_sink {
    struct gf_sink base;
    struct gf_options options;
    struct gf_format rows; /* the format of the rows that write() gets */
    struct gf_gif_file file;
    struct gf_gif_colours colours;
    struct gf_gif_coding coding;
    unsigned char *row; /* a row converted to 8 bits */
    int y;
    /* Canvases: `source` has the last frame as it was given; `wanted` the next frame; `shown` what
     * the held frame shows, and `before` what was there before it. A single picture has only
     * `wanted`. */
    uint32_t *source, *wanted, *shown, *before;
    uint32_t *cleared; /* a row for row_below() */
    struct gf_gif_frame held, next;
    bool has_held, has_written;
    double late;  /* by how many hundredths of a second the frames so far are too short */
    bool thinned; /* partly transparent pixels became opaque or transparent */
    bool shortened, slowed, brief; /* what happened to delays, for warn() */
};

static size_t pixels_of(const struct gif_sink *sink)
{
    return (size_t)sink->rows.width * (size_t)sink->rows.height;
}

/* ---- rows of the next frame ---- */

/* Adds a row to the next frame. A pixel that equals the frame before in the source keeps the colour
 * that it was given there, so that dithering does not flicker. */
static void take_row(struct gif_sink *sink, const unsigned char *row)
{
    const size_t width = (size_t)sink->rows.width, first = (size_t)sink->y++ * width;
    const int channels = sink->rows.channels;
    if (sink->rows.bits > 8) {
        gf_samples_narrow(row, sink->row, width * (size_t)channels);
        row = sink->row;
    }
    for (size_t at = first; at < first + width; at++, row += channels) {
        unsigned char rgba[4];
        uint32_t pixel = 0;
        gf_palette_rgba_of(row, channels, rgba);
        sink->thinned |= rgba[3] && rgba[3] < 255;
        if (rgba[3] >= 128) {
            rgba[3] = 255;
            memcpy(&pixel, rgba, sizeof pixel);
        }
        sink->wanted[at] = sink->source && sink->source[at] == pixel ? sink->shown[at] : pixel;
        if (sink->source)
            sink->source[at] = pixel;
    }
}

static enum gf_status gif_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct gif_sink *const sink = (struct gif_sink *)base;
    (void)error;
    for (int y = 0; y < rows; y++)
        take_row(sink, src + (size_t)y * pitch);
    return GF_OK;
}

/* ---- what must be drawn, and what happens to the frame before ---- */

static struct gf_rectangle joined(struct gf_rectangle a, struct gf_rectangle b)
{
    const int right = a.x + a.width > b.x + b.width ? a.x + a.width : b.x + b.width,
              bottom = a.y + a.height > b.y + b.height ? a.y + a.height : b.y + b.height;
    const int left = a.x < b.x ? a.x : b.x, top = a.y < b.y ? a.y : b.y;
    return (struct gf_rectangle){left, top, right - left, bottom - top};
}

/* Returns row y of the canvas on which the next frame is drawn if the held frame has that
 * disposal. */
static const uint32_t *row_below(const struct gif_sink *sink, enum gf_gif_disposal disposal, int y)
{
    const struct gf_rectangle area = sink->held.area;
    const size_t width = (size_t)sink->rows.width, first = (size_t)y * width;
    if (!sink->shown)
        return sink->cleared;
    if (disposal == GF_GIF_RESTORE)
        return sink->before + first;
    if (disposal == GF_GIF_STAY || y < area.y || y >= area.y + area.height)
        return sink->shown + first;
    memcpy(sink->cleared, sink->shown + first, width * sizeof *sink->cleared);
    memset(sink->cleared + area.x, 0, (size_t)area.width * sizeof *sink->cleared);
    return sink->cleared;
}

/* Counts the pixels that the next frame must change if the held frame has that disposal. Pixels
 * cannot be drawn transparent: *gone becomes the area of those that would have to be. */
static uint64_t count_drawn(const struct gif_sink *sink, enum gf_gif_disposal disposal,
                            struct gf_rectangle *gone)
{
    uint64_t count = 0;
    *gone = (struct gf_rectangle){0, 0, 0, 0};
    for (int y = 0; y < sink->rows.height; y++) {
        const uint32_t *const below = row_below(sink, disposal, y);
        const uint32_t *const wanted = sink->wanted + (size_t)y * (size_t)sink->rows.width;
        int left = -1, right = 0;
        for (int x = 0; x < sink->rows.width; x++) {
            count += wanted[x] != below[x];
            if (wanted[x] || !below[x])
                continue;
            left = left < 0 ? x : left;
            right = x;
        }
        const struct gf_rectangle here = {left, y, right - left + 1, 1};
        if (left >= 0)
            *gone = gone->width ? joined(*gone, here) : here;
    }
    return count;
}

/* Chooses the disposal of the held frame. If that is clearing, the frame's area grows by the area
 * in which pixels become transparent. */
static enum gf_gif_disposal choose_disposal(struct gif_sink *sink)
{
    struct gf_rectangle gone, still_there;
    const uint64_t stay = count_drawn(sink, GF_GIF_STAY, &gone),
                   restore = count_drawn(sink, GF_GIF_RESTORE, &still_there);
    const bool restores = sink->has_written && !still_there.width;
    if (!gone.width)
        return restores && restore < stay - stay / 8 ? GF_GIF_RESTORE : GF_GIF_STAY;
    const struct gf_rectangle area = sink->held.area;
    sink->held.area = joined(area, gone);
    if (!restores || count_drawn(sink, GF_GIF_CLEAR, &gone) < restore)
        return GF_GIF_CLEAR;
    sink->held.area = area;
    return GF_GIF_RESTORE;
}

/* Marks the pixels of the next frame that need not be drawn as GF_GIF_FREE, and finds the area of
 * the others. */
static void mark(struct gif_sink *sink, enum gf_gif_disposal disposal)
{
    struct gf_gif_frame *const next = &sink->next;
    const int width = sink->rows.width;
    next->area = (struct gf_rectangle){0, 0, 0, 0};
    next->drawn = 0;
    for (int y = 0; y < sink->rows.height; y++) {
        const uint32_t *const below = row_below(sink, disposal, y);
        const uint32_t *const wanted = sink->wanted + (size_t)y * (size_t)width;
        int16_t *const index = next->index + (size_t)y * (size_t)width;
        int left = -1, right = 0;
        for (int x = 0; x < width; x++) {
            if (wanted[x] == below[x]) {
                index[x] = GF_GIF_FREE;
                continue;
            }
            next->drawn++;
            left = left < 0 ? x : left;
            right = x;
        }
        const struct gf_rectangle here = {left, y, right - left + 1, 1};
        if (left >= 0)
            next->area = next->area.width ? joined(next->area, here) : here;
    }
    if (!sink->file.animated)
        next->area = (struct gf_rectangle){0, 0, width, sink->rows.height};
    else if (!next->area.width)
        next->area = (struct gf_rectangle){0, 0, 1, 1};
}

/* ---- frames and their delays ---- */

/* Lengthens the held frame's delay if browsers would take it for a tenth of a second. Later frames
 * are shortened for that by at most half a hundredth of a second. */
static void lengthen_held(struct gif_sink *sink)
{
    if (sink->held.delay < sink->held.least) {
        sink->late = fmax(sink->late + sink->held.delay - sink->held.least, -0.5);
        sink->held.delay = sink->held.least;
        sink->slowed = true;
    }
    sink->brief |= sink->held.delay == 1;
}

static enum gf_status write_held(struct gif_sink *sink, enum gf_gif_disposal disposal,
                                 struct gf_error *error)
{
    lengthen_held(sink);
    struct gf_palette_table *const palette =
        sink->held.has_palette ? &sink->held.palette : &sink->colours.palette;
    const struct gf_gif_canvas before = {sink->before, (size_t)sink->rows.width};
    sink->has_written = true;
    return gf_gif_frame_write(&sink->coding, &sink->held, palette, &before, disposal, &sink->file,
                              error);
}

/* Sets the delay of the next frame, rounded so that errors do not add up. Delays of exactly 0 and 1
 * hundredths come from a GIF, and stay. */
static void set_delay(struct gif_sink *sink)
{
    const struct gf_duration *const duration = sink->base.duration;
    sink->next.delay = sink->next.least = 0;
    if (!duration || !duration->per_second)
        return;
    const double given = duration->count * 100.0 / duration->per_second;
    const double wanted = given + sink->late;
    const double delay = fmin(fmax(nearbyint(wanted), 0), GF_GIF_DELAY_MOST);
    sink->shortened |= wanted >= GF_GIF_DELAY_MOST + 1;
    sink->late = delay < GF_GIF_DELAY_MOST ? wanted - delay : 0;
    sink->next.delay = (int)delay;
    sink->next.least = given == 0 || given == 1 ? 0 : SHOWN_LEAST;
}

static enum gf_status check_lossless(const struct gif_sink *sink, struct gf_error *error)
{
    if (!sink->options.lossless || (!sink->thinned && !sink->colours.reduced))
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNFIT, "%s: a GIF is not lossless for %s",
                   gf_output_name(sink->file.output), sink->thinned ? THINNED : REDUCED);
}

/* Updates `shown` and `before` to what they are once the next frame is drawn. */
static void draw(struct gif_sink *sink, enum gf_gif_disposal disposal)
{
    const size_t bytes = pixels_of(sink) * sizeof *sink->shown;
    for (int y = 0; sink->has_held && disposal == GF_GIF_CLEAR && y < sink->held.area.height; y++)
        memset(sink->shown + (size_t)(sink->held.area.y + y) * (size_t)sink->rows.width +
                   sink->held.area.x,
               0, (size_t)sink->held.area.width * sizeof *sink->shown);
    if (disposal != GF_GIF_RESTORE)
        memcpy(sink->before, sink->shown, bytes);
    memcpy(sink->shown, sink->wanted, bytes);
}

/* Writes the held frame with that disposal, and makes the next frame the held one. */
static enum gf_status advance(struct gif_sink *sink, enum gf_gif_disposal disposal,
                              struct gf_error *error)
{
    if (sink->has_held)
        GF_TRY(write_held(sink, disposal, error));
    if (sink->shown)
        draw(sink, disposal);
    const struct gf_gif_frame before = sink->held;
    sink->held = sink->next;
    sink->next = before;
    sink->has_held = true;
    return GF_OK;
}

static bool can_join(const struct gif_sink *sink)
{
    return sink->has_held && !sink->next.drawn &&
           sink->held.delay + sink->next.delay <= GF_GIF_DELAY_MOST;
}

/* Ends the next frame. One that changes nothing only lengthens the held frame. */
static enum gf_status take_frame(struct gif_sink *sink, struct gf_error *error)
{
    const struct gf_gif_canvas canvas = {sink->wanted, (size_t)sink->rows.width};
    const enum gf_gif_disposal disposal = sink->has_held ? choose_disposal(sink) : GF_GIF_STAY;
    enum gf_status status = gf_time_check(error);
    set_delay(sink);
    sink->next.repeats = disposal != GF_GIF_STAY;
    memset(sink->next.index, 0, pixels_of(sink) * sizeof *sink->next.index);
    mark(sink, disposal);
    if (!status && sink->next.drawn)
        status = gf_gif_colours_set(&sink->colours, &canvas, &sink->next, error);
    GF_THEN(status, check_lossless(sink, error));
    if (status)
        return status;
    mark(sink, disposal);
    if (disposal != GF_GIF_STAY || !can_join(sink))
        return advance(sink, disposal, error);
    sink->held.delay += sink->next.delay;
    sink->held.least |= sink->next.least;
    return GF_OK;
}

/* Warns of what was lost. Fewer colours are no loss if the user asked for them. */
static void warn(const struct gif_sink *sink)
{
    const char *lost[3];
    int count = 0;
    if (sink->colours.reduced && !sink->options.png_colours)
        lost[count++] = REDUCED;
    if (sink->thinned)
        lost[count++] = THINNED;
    if (sink->shortened)
        lost[count++] = SHORTENED;
    if (count)
        gf_warn(&sink->options, "%s: a GIF does not keep %s%s%s%s%s",
                gf_output_name(sink->file.output), lost[0], count > 2 ? ", " : "",
                count > 2 ? lost[1] : "", count > 1 ? " and " : "",
                count > 1 ? lost[count - 1] : "");
    if (sink->slowed || sink->brief)
        gf_warn(&sink->options, "%s: %s: browsers show frames of less than 0.02 s for 0.1 s",
                gf_output_name(sink->file.output),
                sink->slowed ? "each frame is shown for 0.02 s at least, so that it is slower"
                             : "it has frames of 0.01 s");
}

static enum gf_status gif_end(struct gf_sink *base, struct gf_error *error)
{
    struct gif_sink *const sink = (struct gif_sink *)base;
    GF_TRY(write_held(sink, GF_GIF_STAY, error));
    GF_TRY(gf_gif_file_end(&sink->file, &sink->colours.palette, error));
    warn(sink);
    return GF_OK;
}

static enum gf_status gif_finish(struct gf_sink *base, struct gf_error *error)
{
    struct gif_sink *const sink = (struct gif_sink *)base;
    const enum gf_status status = take_frame(sink, error);
    sink->y = 0;
    return status || sink->file.animated ? status : gif_end(base, error);
}

static void gif_close(struct gf_sink *base)
{
    struct gif_sink *const sink = (struct gif_sink *)base;
    void *const all[] = {sink->file.held.data, sink->file.texts.data, sink->row,    sink->source,
                         sink->wanted,         sink->shown,           sink->before, sink->cleared,
                         sink->held.index,     sink->next.index};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    gf_palette_map_close(sink->colours.map);
    gf_gif_coding_close(&sink->coding);
    free(sink);
}

static bool allocate(struct gif_sink *sink)
{
    const size_t pixels = pixels_of(sink), width = (size_t)sink->rows.width;
    const bool animated = sink->file.animated;
    sink->row = malloc(4 * width);
    sink->cleared = calloc(width, sizeof *sink->cleared);
    sink->wanted = malloc(pixels * sizeof *sink->wanted);
    sink->next.index = malloc(pixels * sizeof *sink->next.index);
    if (animated) {
        sink->held.index = malloc(pixels * sizeof *sink->held.index);
        sink->source = calloc(pixels, sizeof *sink->source);
        sink->shown = calloc(pixels, sizeof *sink->shown);
        sink->before = calloc(pixels, sizeof *sink->before);
    }
    return gf_gif_coding_open(&sink->coding, pixels) && sink->row && sink->cleared &&
           sink->wanted && sink->next.index &&
           (!animated || (sink->held.index && sink->source && sink->shown && sink->before));
}

/* Returns the byte for the shape of pixels, which GIF states from 1:4 to 4:1. */
static unsigned char aspect_of(const struct gf_metadata *metadata, const char *name,
                               const struct gf_options *options)
{
    if (!metadata->density_is_ratio)
        return 0;
    const double byte = nearbyint(64 * metadata->density_y / metadata->density_x) - 15;
    if (byte >= 1 && byte <= 255)
        return (unsigned char)byte;
    gf_warn(options, "%s: its pixel aspect ratio is beyond what GIF can state: it is left out",
            name);
    return 0;
}

enum gf_status gf_gif_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    const struct gf_format format = order->format;
    if (format.width > GF_GIF_SIDE_MOST || format.height > GF_GIF_SIDE_MOST)
        return gf_fail(
            error, GF_ERROR_UNFIT, "%s: %dx%d is too large for GIF, whose sides end at %d",
            gf_output_name(order->output), format.width, format.height, GF_GIF_SIDE_MOST);
    GF_NEW(struct gif_sink, opened, error);
    const bool animated = order->metadata->animated;
    opened->base = (struct gf_sink){.write = gif_write,
                                    .finish = gif_finish,
                                    .close = gif_close,
                                    .end = animated ? gif_end : NULL};
    opened->options = *order->options;
    opened->rows = format;
    opened->file = (struct gf_gif_file){
        .output = order->output,
        .format = format,
        .animated = animated,
        .aspect = aspect_of(order->metadata, gf_output_name(order->output), order->options),
        .loops = order->metadata->loops};
    opened->colours = (struct gf_gif_colours){
        .format = format,
        .most = order->options->png_colours ? order->options->png_colours : GF_PALETTE_MOST,
        .threads = gf_codec_threads(order->options),
        .dithers = !order->options->no_dither,
        .animated = animated};
    gf_palette_table_clear(&opened->colours.palette);
    const enum gf_status status =
        allocate(opened) ? gf_gif_file_set_metadata(&opened->file, order->metadata, error)
                         : gf_fail_memory(error);
    GF_OPENED(status, gif_close, &opened->base, sink);
}

struct gf_codec_memory gf_gif_sink_memory(struct gf_format format, const struct gf_options *options)
{
    /* Bytes for each pixel: four canvases of 4, two frames' indices of 2, two lists of indices to
     * code, a part with its indices (6), and codes of 2. */
    enum { BYTES_FOR_A_PIXEL = 4 * 4 + 2 * 2 + 2 + 6 + 2 };
    format.channels = 4;
    return (struct gf_codec_memory){(uint64_t)format.width * (uint64_t)format.height *
                                            BYTES_FOR_A_PIXEL +
                                        gf_palette_memory(format, gf_codec_threads(options)),
                                    "a GIF's frames are held as a whole"};
}
