/* Sources and sinks that hold a whole picture, for formats whose library decodes or encodes it only
 * as a whole. */
#include "codec/common/rows/whole_picture.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/rows/samples.h"

void gf_source_take_page(struct gf_source *source, struct gf_source *page)
{
    const int count = source->stored.pages;
    gf_metadata_free(&source->metadata);
    source->format = page->format;
    source->stored = page->stored;
    source->stored.pages = count;
    source->stored.is_animation = count > 1;
    source->metadata = page->metadata;
    page->metadata = (struct gf_metadata){.orientation = 1};
    source->memory = page->memory;
}

int gf_source_reduction(const struct gf_source *source, int most)
{
    int reduction = 1;
    for (int i = 1; i < source->levels && source->level[i].divisor <= most; i++)
        reduction = source->damaged >> i & 1 ? reduction : source->level[i].divisor;
    while (2 * reduction <= abs(most) && 2 * reduction <= source->most_reduction)
        reduction *= 2;
    return reduction;
}

int gf_source_level(const struct gf_source *source, int reduction)
{
    int level = source->levels - 1;
    while (level > 0 && source->level[level].divisor != reduction)
        level--;
    return level > 0 ? level : 0;
}

enum gf_status gf_source_reduce(struct gf_source *source, int reduction, struct gf_error *error)
{
    const int level = gf_source_level(source, reduction);
    if (level && source->take_level) {
        const enum gf_status status = source->take_level(source, level, error);
        source->failed = status;
        return status;
    }
    if (reduction > 1)
        source->reduce(source, reduction);
    return GF_OK;
}

enum gf_status gf_source_read_all(struct gf_source *source, struct gf_image *picture,
                                  struct gf_error *error)
{
    if (gf_is_float(source->format))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "its samples are floats, which only a picture's own chain takes");
    GF_TRY(gf_image_alloc(picture, source->format, error));
    GF_TRY(source->read(source, picture->format.height, picture->data, picture->pitch, error));
    if (source->finish)
        GF_TRY(source->finish(source, error));
    return GF_OK;
}

enum gf_status gf_whole_read_more(struct gf_input *input, uint64_t size,
                                  const struct gf_options *options, struct gf_blob *file,
                                  size_t *capacity, struct gf_error *error)
{
    enum { FIRST_BYTES = 1 << 16 };
    const uint64_t most = options->memory_bytes ? options->memory_bytes : SIZE_MAX / 2;
    size_t got = 1;
    enum gf_status status = GF_OK;
    while (!status && got && size) {
        if (file->size == *capacity) {
            const size_t twice = *capacity ? 2 * *capacity : FIRST_BYTES;
            const size_t larger = twice > most && *capacity <= most ? (size_t)most + 1 : twice;
            unsigned char *const grown = realloc(file->data, larger);
            GF_ALLOCATED(grown, error);
            file->data = grown;
            *capacity = larger;
        }
        const size_t room = *capacity - file->size;
        status = gf_input_read(input, file->data + file->size, size < room ? (size_t)size : room,
                               &got, error);
        file->size += got;
        size -= got;
        if (!status && file->size > most)
            return gf_fail(error, GF_ERROR_INPUT,
                           "%s: must be in memory as a whole, and is over the %llu MiB of "
                           "options.memory_bytes",
                           gf_input_name(input), (unsigned long long)(most >> 20));
    }
    return status;
}

enum gf_status gf_whole_file(struct gf_input *input, const struct gf_options *options,
                             struct gf_blob *file, struct gf_error *error)
{
    size_t capacity = 0;
    *file = (struct gf_blob){0};
    if (gf_input_size(input) <= 0)
        return gf_whole_read_more(input, UINT64_MAX, options, file, &capacity, error);
    file->size = (size_t)gf_input_size(input);
    file->data = malloc(file->size);
    return file->data ? gf_input_copy(input, file->data, error) : gf_fail_memory(error);
}

static void release(struct gf_whole_source *source)
{
    if (!source->released && source->calls->release)
        source->calls->release(source);
    source->released = true;
    if (!source->borrowed)
        free(source->file.data);
    source->file = (struct gf_blob){0};
}

static enum gf_status decode(struct gf_whole_source *source, struct gf_error *error)
{
    const struct gf_format format = source->base.format;
    const size_t row_bytes = gf_row_bytes(format), rows = (size_t)format.height;
    if (!source->pixels)
        source->pixels = source->calls->blank ? calloc(rows, row_bytes) : malloc(rows * row_bytes);
    GF_ALLOCATED(source->pixels, error);
    source->decoded = true;
    errno = 0; /* gf_whole_source_fail() reads errno */
    const enum gf_status status = source->calls->decode(source, source->pixels, error);
    if (source->frame >= source->last && !source->base.window)
        release(source);
    return status;
}

/* Goes to the next frame. A frame of which no row was read is decoded nevertheless, since later
 * frames are drawn over it. */
static enum gf_status whole_next(struct gf_source *base, bool *found, struct gf_error *error)
{
    struct gf_whole_source *const source = (struct gf_whole_source *)base;
    enum gf_status status = source->decoded ? GF_OK : decode(source, error);
    *found = !status && source->frame < source->last;
    if (!*found)
        return status;
    source->frame++;
    source->row = 0;
    source->decoded = false;
    /* Only decoding shows whether a truncated file has this frame. */
    if (source->options.allow_truncated)
        status = decode(source, error);
    *found = source->frame <= source->last;
    return status;
}

static enum gf_status whole_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                 struct gf_error *error)
{
    struct gf_whole_source *const source = (struct gf_whole_source *)base;
    const size_t row_bytes = gf_row_bytes(base->format);
    if (!source->decoded)
        GF_TRY(decode(source, error));
    for (int y = 0; y < rows; y++, source->row++)
        memcpy(dst + (size_t)y * pitch, source->pixels + (size_t)source->row * row_bytes,
               row_bytes);
    return GF_OK;
}

static void whole_reduce(struct gf_source *base, int reduction)
{
    base->reduction = reduction;
    base->format.width = (base->format.width + reduction - 1) / reduction;
    base->format.height = (base->format.height + reduction - 1) / reduction;
}

static void count_memory(struct gf_whole_source *source, double library_bytes)
{
    const struct gf_format format = source->base.format;
    const double pixels = (double)format.width * (double)format.height;
    const double file = source->borrowed ? 0 : (double)source->file.size;
    source->base.memory = (struct gf_codec_memory){
        (uint64_t)(file * format.height / source->height +
                   pixels * (format.channels * format.bits / 8 + library_bytes)),
        "it is decoded as a whole"};
}

static enum gf_status whole_window(struct gf_source *base, struct gf_rectangle window, int more,
                                   struct gf_error *error)
{
    struct gf_whole_source *const source = (struct gf_whole_source *)base;
    free(source->pixels);
    source->pixels = NULL;
    source->decoded = false;
    source->row = 0;
    source->window = window;
    base->format.width = window.width;
    base->format.height = window.height;
    count_memory(source, 0);
    return GF_OK;
}

static void whole_source_close(struct gf_source *base)
{
    struct gf_whole_source *const source = (struct gf_whole_source *)base;
    release(source);
    gf_metadata_free(&base->metadata);
    free(source->pixels);
    free(source);
}

enum gf_status gf_whole_source_describe(struct gf_whole_source *source, uint64_t width,
                                        uint64_t height, int channels, int bits,
                                        double library_bytes, struct gf_error *error)
{
    struct gf_source *const base = &source->base;
    GF_TRY(gf_size_check(source->name, width, height, &source->options, error));
    base->format = (struct gf_format){(int)width, (int)height, channels, bits, GF_SAMPLES_INTEGER};
    source->window = (struct gf_rectangle){.width = (int)width, .height = (int)height};
    source->height = (int)height;
    base->file_bytes = source->file.size;
    count_memory(source, library_bytes);
    return GF_OK;
}

enum gf_status gf_whole_source_need(struct gf_whole_source *source, uint64_t at, uint64_t bytes,
                                    struct gf_error *error)
{
    const uint64_t size = source->file.size, begin = at < size ? at : size,
                   wanted = bytes < size - begin ? bytes : size - begin;
    size_t got = 0;
    if (!source->later)
        return GF_OK;
    GF_TRY(gf_input_read_at(source->later, (int64_t)begin, source->file.data + begin,
                            (size_t)wanted, &got, error));
    if (got == wanted)
        return GF_OK;
    GF_TRY(gf_input_check_size(source->later, error));
    return gf_fail_truncated(error, source->name, -1, 0);
}

/* Reads the file, or of one of which parts are decoded its head. */
static enum gf_status read_file(struct gf_whole_source *source, struct gf_input *input,
                                struct gf_error *error)
{
    const int64_t size = gf_input_size(input);
    if (!source->calls->parts || size <= GF_WHOLE_HEAD)
        return gf_whole_file(input, &source->options, &source->file, error);
    source->file = (struct gf_blob){malloc((size_t)size), (size_t)size};
    GF_ALLOCATED(source->file.data, error);
    source->later = input;
    return gf_whole_source_need(source, 0, GF_WHOLE_HEAD, error);
}

enum gf_status gf_whole_source_take(const struct gf_whole_calls *calls, struct gf_input *input,
                                    const struct gf_options *options, struct gf_blob file,
                                    struct gf_source **source, struct gf_error *error)
{
    struct gf_whole_source *const opened = calloc(1, calls->size);
    if (!opened) {
        free(file.data);
        return gf_fail_memory(error);
    }
    opened->base = (struct gf_source){.metadata = {.orientation = 1},
                                      .reduction = 1,
                                      .reduce = whole_reduce,
                                      .read = whole_read,
                                      .close = whole_source_close};
    opened->calls = calls;
    opened->options = *options;
    opened->name = gf_input_name(input);
    opened->page = gf_input_pages(input).first;
    opened->last = gf_input_pages(input).last;
    opened->headers_only = gf_input_headers_only(input);
    opened->file = file;
    opened->base.window = calls->parts ? whole_window : NULL;
    if (!file.data && (opened->headers_only || calls->parts))
        opened->borrowed = gf_input_borrow(input, &opened->file.data, &opened->file.size);
    enum gf_status status = file.data || opened->borrowed ? GF_OK : read_file(opened, input, error);
    errno = 0;
    GF_THEN(status, calls->read_header(opened, error));
    GF_OPENED(status, whole_source_close, &opened->base, source);
}

enum gf_status gf_whole_source_open(const struct gf_whole_calls *calls, struct gf_input *input,
                                    const struct gf_options *options, struct gf_source **source,
                                    struct gf_error *error)
{
    return gf_whole_source_take(calls, input, options, (struct gf_blob){0}, source, error);
}

void gf_warn_pages(const char *name, int count, int second, const struct gf_options *options)
{
    if (count > 1)
        gf_warn(options, "%s: holds %d pictures: the first is taken; %s[%d] is the second", name,
                count, name, second);
}

enum gf_status gf_choose_page(const char *name, int wanted, int count,
                              const struct gf_options *options, int *page, struct gf_error *error)
{
    *page = wanted < 0 || gf_page_kind(wanted) == GF_PICTURE_MAIN ? 0 : wanted;
    if (*page >= count)
        return gf_fail_page(name, wanted, count, error);
    if (wanted < 0)
        gf_warn_pages(name, count, 1, options);
    return GF_OK;
}

enum gf_status gf_choose_frames(struct gf_whole_source *source, int count, struct gf_error *error)
{
    const bool several = source->last >= 0;
    const enum gf_status status =
        gf_choose_page(source->name, source->page, count, &source->options, &source->frame, error);
    source->last = several && source->last < count ? source->last
                   : several                       ? count - 1
                                                   : source->frame;
    source->base.next = source->last > source->frame ? whole_next : NULL;
    source->base.stored.is_animation = count > 1;
    return status;
}

struct gf_duration gf_duration_of(uint64_t count, uint64_t per_second)
{
    for (; count > UINT32_MAX || per_second > UINT32_MAX; per_second /= 2)
        count /= 2;
    return (struct gf_duration){(uint32_t)count, (uint32_t)per_second};
}

static int first_of(const struct gf_whole_source *source)
{
    return source->page < 0 ? 0 : source->page;
}

bool gf_whole_source_suffices(const struct gf_whole_source *source)
{
    return source->sound > first_of(source) &&
           (source->sound > source->last || source->options.allow_truncated);
}

bool gf_end_frames(struct gf_whole_source *source, const char *why)
{
    if (!source->options.allow_truncated || source->frame <= first_of(source) || errno == ENOMEM)
        return false;
    source->last = source->frame - 1;
    gf_warn_behind(source->name, source->frame, why, &source->options);
    return true;
}

void gf_warn_behind(const char *name, int pictures, const char *why,
                    const struct gf_options *options)
{
    if (pictures == 1)
        gf_warn(options, "%s: damaged behind its first picture: %s", name, why);
    else
        gf_warn(options, "%s: damaged behind its first %d pictures: %s", name, pictures, why);
}

enum gf_status gf_whole_source_fail(const struct gf_whole_source *source, const char *why,
                                    struct gf_error *error)
{
    if (errno == ENOMEM)
        return gf_fail_memory(error);
    const bool some = source->sound > first_of(source) || source->frame > first_of(source);
    return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %s%s", source->name, why,
                   some ? gf_truncated_hint(&source->options) : "");
}

/* Moves *left and *right, offsets in bytes, apart so that all differences of the two rows lie in
 * left..right - 1. */
static void widen(const unsigned char *a, const unsigned char *b, size_t *left, size_t *right,
                  size_t bytes)
{
    size_t end = bytes;
    for (size_t x = 0; x < *left; x++) {
        if (a[x] != b[x])
            *left = x;
    }
    while (end > *right && a[end - 1] == b[end - 1])
        end--;
    *right = end;
}

struct gf_rectangle gf_changed_between(const struct gf_image *before, const struct gf_image *after)
{
    const struct gf_format format = before->format;
    const size_t bytes = gf_row_bytes(format), pixel = bytes / (size_t)format.width;
    size_t left = bytes, right = 0;
    int top = -1, bottom = -1;
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const a = before->data + (size_t)y * before->pitch,
                                   *const b = after->data + (size_t)y * after->pitch;
        if (!memcmp(a, b, bytes))
            continue;
        top = top < 0 ? y : top;
        bottom = y;
        widen(a, b, &left, &right, bytes);
    }
    const int x = (int)(left / pixel), end = (int)((right + pixel - 1) / pixel);
    return top < 0 ? (struct gf_rectangle){.height = 0}
                   : (struct gf_rectangle){x, top, end - x, bottom - top + 1};
}

static enum gf_status whole_write(struct gf_sink *base, int rows, const unsigned char *src,
                                  size_t pitch, struct gf_error *error)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    const struct gf_format from = sink->rows, to = sink->format;
    const size_t width = (size_t)to.width, row_bytes = gf_row_bytes(to);
    for (int y = 0; y < rows; y++, sink->row++) {
        const unsigned char *const row = src + (size_t)y * pitch;
        unsigned char *const kept = sink->pixels + (size_t)sink->row * row_bytes;
        const size_t samples = width * (size_t)from.channels;
        /* The gray samples are stored at the row's end and then expanded from left to right, which
         * overwrites no sample before it is read. */
        unsigned char *const first = kept + (row_bytes - samples * (size_t)(to.bits / 8));
        if (from.bits > to.bits)
            gf_samples_narrow(row, first, samples);
        else
            memcpy(first, row, samples * (size_t)(to.bits / 8));
        if (from.channels != to.channels)
            gf_pixels_gray_to_rgb(first, kept, width, from.channels, to.bits);
    }
    return GF_OK;
}

static enum gf_status whole_finish(struct gf_sink *base, struct gf_error *error)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    if (!sink->animated)
        return sink->encoder->encode(sink, error);
    const struct gf_duration *const duration = base->duration;
    if (!sink->frames)
        sink->per_second = duration && duration->per_second ? duration->per_second : 1000;
    while (!sink->frames && sink->per_second < 1000) /* other frames may need finer units of time */
        sink->per_second *= 10;
    const enum gf_status status = sink->encoder->add(sink, error);
    sink->frames++;
    sink->row = 0;
    return status;
}

static enum gf_status whole_end(struct gf_sink *base, struct gf_error *error)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    return sink->encoder->end(sink, error);
}

static void whole_sink_close(struct gf_sink *base)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    if (sink->animated)
        sink->encoder->release(sink);
    gf_metadata_free(&sink->metadata);
    free(sink->pixels);
    free(sink);
}

enum gf_status gf_whole_sink_open(const struct gf_whole_encoder *encoder,
                                  const struct gf_sink_order *order, struct gf_format in_file,
                                  struct gf_sink **sink, struct gf_error *error)
{
    const struct gf_format format = order->format;
    if (format.width > encoder->side_most || format.height > encoder->side_most)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: %dx%d is too large for %s, whose sides end at %d",
                       gf_output_name(order->output), format.width, format.height, encoder->name,
                       encoder->side_most);
    GF_NEW(struct gf_whole_sink, opened, error);
    opened->base =
        (struct gf_sink){.write = whole_write, .finish = whole_finish, .close = whole_sink_close};
    if (order->metadata && order->metadata->animated && encoder->add) {
        opened->base.end = whole_end;
        opened->animated = true;
        opened->loops = order->metadata->loops;
    }
    opened->output = order->output;
    opened->options = *order->options;
    opened->rows = format;
    opened->format = in_file;
    opened->encoder = encoder;
    opened->pixels = malloc(gf_row_bytes(in_file) * (size_t)in_file.height);
    /* Metadata is chosen when the sink opens. Choosing again later, from a copy of the chosen
     * metadata, would lose more. */
    const enum gf_status status =
        opened->pixels ? gf_metadata_for_output(order->metadata, in_file, GF_TAGS_ALL,
                                                order->options, &opened->metadata, error)
                       : gf_fail_memory(error);
    GF_OPENED(status, whole_sink_close, &opened->base, sink);
}

struct gf_codec_memory gf_whole_sink_memory(struct gf_format in_file, double library_bytes)
{
    const double pixels = (double)in_file.width * in_file.height;
    return (struct gf_codec_memory){
        (uint64_t)(pixels * (in_file.channels * in_file.bits / 8 + library_bytes)),
        "it is encoded as a whole"};
}

uint32_t gf_whole_sink_ticks(struct gf_whole_sink *sink, uint32_t per_second)
{
    const struct gf_duration *const duration = sink->base.duration;
    const double begin = sink->shown;
    if (duration && duration->per_second)
        sink->shown += (double)duration->count / duration->per_second;
    const double ticks = floor(sink->shown * per_second + 0.5) - floor(begin * per_second + 0.5);
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

enum gf_status gf_whole_sink_check(const struct gf_whole_sink *sink, uint64_t coded,
                                   struct gf_error *error)
{
    const struct gf_options *const options = &sink->options;
    return options->memory_bytes
               ? gf_memory_check(gf_output_name(sink->output),
                                 "the frames of an animation are held until its end", coded,
                                 options->memory_bytes, options, error)
               : GF_OK;
}
