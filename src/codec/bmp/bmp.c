/* Reads and writes BMP. Microsoft, "Bitmap Storage" and "BITMAPV5HEADER structure", Windows GDI. */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"

enum {
    GF_BMP_FILE_HEADER = 14, /* bytes before the header proper, which begins with its own size */
    GF_BMP_OS2 = 12,         /* this and the next are sizes of the header proper */
    GF_BMP_INFO = 40,
    GF_BMP_MASKED = 52, /* a header of this size or more holds the masks */
    GF_BMP_V4 = 108,
    GF_BMP_V5 = 124,
    GF_BMP_AT_DENSITY = 24, /* this and the next are offsets within the header proper */
    GF_BMP_AT_MASKS = 40,
    GF_BMP_AT_COLOURS = 56,
    GF_BMP_AT_PROFILE = 112
};

enum gf_bmp_compression {
    GF_BMP_PLAIN,
    GF_BMP_RLE8,
    GF_BMP_RLE4,
    GF_BMP_MASKS,
    GF_BMP_MASKS_WITH_ALPHA = 6
};

#define GF_BMP_SRGB 0x73524742u     /* colour space "sRGB": the colours are sRGB */
#define GF_BMP_EMBEDDED 0x4d424544u /* colour space "MBED": the file has an ICC profile */

/* Returns the bytes of a row of `depth` bits for each pixel, padded to whole words of 32 bits. */
static inline uint64_t bmp_stride(int width, int depth)
{
    return ((uint64_t)width * (uint64_t)depth + 31) / 32 * 4;
}

/* ---- reading: palettes of 1, 2, 4 and 8 bits, RLE4 and RLE8, and 16, 24 and 32 bits with and
 * without masks, from the header of OS/2 to the one of version 5 ---- */

enum { PALETTE_MOST = 256, MASKS_BYTES = 16 };

/* Where a sample lies in a pixel of 16 or 32 bits. */
struct mask {
    /* bits: the sample's bits in the pixel; most: its largest value, 0 if there is no such
     * sample. */
    uint32_t bits, most;
    int shift;
};

struct bmp {
    struct gf_whole_source whole;
    bool top_down; /* the first row in the file is the upper one */
    int depth;     /* bits of a pixel in the file */
    uint32_t compression;
    struct mask mask[4];
    unsigned char palette[PALETTE_MOST][3]; /* RGB; black from number `colours` on */
    unsigned colours;                       /* number of entries of the palette */
    bool beyond;       /* a pixel has had an index beyond the end of the palette */
    size_t data;       /* offset of the pixels in the file */
    int width, height; /* the size of the whole picture */
};

static const unsigned char *header_of(const struct bmp *bmp)
{
    return bmp->whole.file.data + GF_BMP_FILE_HEADER;
}

static uint32_t u16(const unsigned char *at)
{
    return (uint32_t)(at[0] | at[1] << 8);
}

static uint32_t u32(const unsigned char *at)
{
    return u16(at) | u16(at + 2) << 16;
}

static enum gf_status fail(const struct bmp *bmp, const char *why, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %s", bmp->whole.name, why);
}

/* ---- the header ---- */

static bool holds_pixels(uint32_t compression, int depth)
{
    switch (compression) {
    case GF_BMP_PLAIN:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16 || depth == 24 ||
               depth == 32;
    case GF_BMP_RLE8:
        return depth == 8;
    case GF_BMP_RLE4:
        return depth == 4;
    default:
        return depth == 16 || depth == 32;
    }
}

static enum gf_status read_depth(struct bmp *bmp, uint32_t header, struct gf_error *error)
{
    const unsigned char *const at = header_of(bmp);
    /* 16 and 64 are sizes of OS/2 2's header, which gives compressions above 2 another meaning. */
    const bool is_os2 = header == 16 || header == 64;
    bmp->depth = (int)u16(at + (header == GF_BMP_OS2 ? 10 : 14));
    bmp->compression = header == GF_BMP_OS2 || header < 20 ? GF_BMP_PLAIN : u32(at + 16);
    if (bmp->compression > GF_BMP_MASKS_WITH_ALPHA || bmp->compression == 4 ||
        bmp->compression == 5 || (is_os2 && bmp->compression > GF_BMP_RLE4))
        return gf_fail(error, GF_ERROR_INPUT, "%s: a BMP of compression %u is not read",
                       bmp->whole.name, (unsigned)bmp->compression);
    if (!holds_pixels(bmp->compression, bmp->depth))
        return gf_fail(error, GF_ERROR_INPUT, "%s: a BMP of %d bits and compression %u is not read",
                       bmp->whole.name, bmp->depth, (unsigned)bmp->compression);
    return GF_OK;
}

/* Sets the masks of the samples from the header or the defaults. Moves *end, the end of the header,
 * behind masks that follow the header. */
static enum gf_status read_masks(struct bmp *bmp, uint32_t header, size_t *end,
                                 struct gf_error *error)
{
    static const uint32_t usual16[4] = {0x7c00, 0x3e0, 0x1f}, usual32[4] = {0xff0000, 0xff00, 0xff};
    const bool given = bmp->compression >= GF_BMP_MASKS;
    /* A header of 52 bytes has no place for a mask of alpha. */
    const bool has_alpha = header < GF_BMP_MASKED ? bmp->compression == GF_BMP_MASKS_WITH_ALPHA
                                                  : header > GF_BMP_MASKED;
    const int count = has_alpha ? 4 : 3;
    const unsigned char *const at = header_of(bmp) + GF_BMP_AT_MASKS;
    if (given && header < GF_BMP_MASKED)
        *end += 4 * (size_t)count;
    if (*end > bmp->whole.file.size)
        return gf_fail_truncated(error, bmp->whole.name, -1, 0);
    for (int c = 0; c < 4; c++) {
        struct mask *const mask = &bmp->mask[c];
        mask->bits = !given      ? (bmp->depth == 16 ? usual16 : usual32)[c]
                     : c < count ? u32(at + 4 * c)
                                 : 0;
        while (mask->bits && !(mask->bits >> mask->shift & 1))
            mask->shift++;
        mask->most = mask->bits >> mask->shift;
        if (mask->most & (mask->most + 1) || (bmp->depth == 16 && mask->bits > UINT16_MAX))
            return fail(bmp, "the bits of a sample are not beside each other", error);
    }
    return GF_OK;
}

/* Reads the palette, which begins at `at` and ends where the pixels begin, at the latest. */
static void read_palette(struct bmp *bmp, uint32_t header, size_t at)
{
    const size_t entry = header == GF_BMP_OS2 ? 3 : 4;
    const size_t room = bmp->data > at ? (bmp->data - at) / entry : 0;
    const uint32_t used = header < 36 ? 0 : u32(header_of(bmp) + 32), most = 1u << bmp->depth;
    size_t count = used && used < most ? used : most;
    count = count < room ? count : room;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *const from = bmp->whole.file.data + at + i * entry;
        for (int c = 0; c < 3; c++)
            bmp->palette[i][c] = from[2 - c];
    }
    bmp->colours = (unsigned)count;
}

static bool is_gray(const struct bmp *bmp)
{
    bool gray = true;
    for (unsigned i = 0; i < bmp->colours; i++)
        gray &=
            bmp->palette[i][0] == bmp->palette[i][1] && bmp->palette[i][1] == bmp->palette[i][2];
    return gray;
}

static enum gf_status read_metadata(struct bmp *bmp, uint32_t header, struct gf_error *error)
{
    struct gf_metadata *const metadata = &bmp->whole.base.metadata;
    const unsigned char *const at = header_of(bmp);
    const size_t size = bmp->whole.file.size - GF_BMP_FILE_HEADER;
    const int32_t x = header < GF_BMP_INFO ? 0 : (int32_t)u32(at + GF_BMP_AT_DENSITY),
                  y = header < GF_BMP_INFO ? 0 : (int32_t)u32(at + GF_BMP_AT_DENSITY + 4);
    if (x > 0 && y > 0) {
        metadata->density_x = x;
        metadata->density_y = y;
    }
    if (header < GF_BMP_V5 || u32(at + GF_BMP_AT_COLOURS) != GF_BMP_EMBEDDED)
        return GF_OK;
    const uint32_t begin = u32(at + GF_BMP_AT_PROFILE), bytes = u32(at + GF_BMP_AT_PROFILE + 4);
    GF_TRY(gf_whole_source_need(&bmp->whole, GF_BMP_FILE_HEADER + (uint64_t)begin, bytes, error));
    if (begin > size || bytes > size - begin)
        gf_warn(&bmp->whole.options, "%s: its ICC profile is cut and left out", bmp->whole.name);
    else if (!gf_blob_set(&metadata->icc, at + begin, bytes))
        return gf_fail_memory(error);
    return GF_OK;
}

static bool has_runs(const struct bmp *bmp)
{
    return bmp->compression == GF_BMP_RLE4 || bmp->compression == GF_BMP_RLE8;
}

/* Fails if the file is too short for the rows. Run-length coded pixels are checked while they are
 * decoded. */
static enum gf_status check_length(const struct bmp *bmp, int width, int height,
                                   struct gf_error *error)
{
    const uint64_t stride = bmp_stride(width, bmp->depth),
                   last = ((uint64_t)width * (uint64_t)bmp->depth + 7) / 8;
    const uint64_t left = bmp->whole.file.size - bmp->data;
    if (has_runs(bmp) || left >= stride * (uint64_t)(height - 1) + last)
        return GF_OK;
    return gf_fail_truncated(error, bmp->whole.name, (int64_t)(left / stride), height);
}

static void read_size(struct bmp *bmp, uint32_t header, int64_t *width, int64_t *height)
{
    const unsigned char *const at = header_of(bmp);
    const bool is_os2 = header == GF_BMP_OS2;
    *width = is_os2 ? (int32_t)u16(at + 4) : (int32_t)u32(at + 4);
    *height = is_os2 ? (int32_t)u16(at + 6) : (int32_t)u32(at + 8);
    bmp->top_down = *height < 0;
    *height = bmp->top_down ? -*height : *height;
}

static enum gf_status describe(struct bmp *bmp, uint32_t header, struct gf_error *error)
{
    struct gf_stored *const stored = &bmp->whole.base.stored;
    const bool has_palette = bmp->depth <= 8;
    int64_t width, height;
    int channels = bmp->mask[3].most ? 4 : 3;
    if (has_palette)
        channels = is_gray(bmp) ? 1 : 3;
    read_size(bmp, header, &width, &height);
    if (width <= 0)
        return fail(bmp, "its width is not above 0", error);
    enum gf_status status = gf_whole_source_describe(&bmp->whole, (uint64_t)width, (uint64_t)height,
                                                     channels, 8, 0, error);
    GF_THEN(status, check_length(bmp, (int)width, (int)height, error));
    bmp->width = (int)width;
    bmp->height = (int)height;
    if (has_runs(bmp))
        bmp->whole.base.window = NULL;
    stored->bits = has_palette ? bmp->depth : 0;
    stored->colour = has_palette && channels > 1 ? GF_STORED_PALETTE : GF_STORED_PLAIN;
    return status;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    struct bmp *const bmp = (struct bmp *)whole;
    const unsigned char *const file = whole->file.data;
    if (whole->file.size < GF_BMP_FILE_HEADER + 4)
        return gf_fail_truncated(error, whole->name, -1, 0);
    const uint32_t header = u32(header_of(bmp));
    size_t end = GF_BMP_FILE_HEADER + (size_t)header;
    if (end > whole->file.size)
        return gf_fail_truncated(error, whole->name, -1, 0);
    GF_TRY(gf_whole_source_need(whole, end, MASKS_BYTES + 4 * PALETTE_MOST, error));
    bmp->data = u32(file + 10);
    GF_TRY(read_depth(bmp, header, error));
    if (bmp->depth > 8 && bmp->depth != 24)
        GF_TRY(read_masks(bmp, header, &end, error));
    if (bmp->data > whole->file.size)
        return gf_fail_truncated(error, whole->name, -1, 0);
    if (bmp->data < end)
        return fail(bmp, "its pixels begin within its header", error);
    if (bmp->depth <= 8)
        read_palette(bmp, header, end);
    GF_TRY(describe(bmp, header, error));
    return read_metadata(bmp, header, error);
}

/* ---- the pixels ---- */

static inline void put_index(struct bmp *bmp, unsigned index, unsigned char *to)
{
    bmp->beyond |= index >= bmp->colours;
    memcpy(to, bmp->palette[index], (size_t)bmp->whole.base.format.channels);
}

/* Decodes a row of the window from one of the file. */
static void decode_row(struct bmp *bmp, const unsigned char *row, unsigned char *to)
{
    const struct gf_format format = bmp->whole.base.format;
    const size_t depth = (size_t)bmp->depth, per_byte = depth < 8 ? 8 / depth : 1,
                 first = (size_t)bmp->whole.window.x, end = first + (size_t)format.width;
    for (size_t x = first; x < end; x++, to += format.channels) {
        if (depth <= 8) {
            const size_t shift = 8 - depth - x % per_byte * depth;
            put_index(bmp, row[x / per_byte] >> shift & ((1u << depth) - 1), to);
        } else if (depth == 24) {
            for (int c = 0; c < 3; c++)
                to[c] = row[3 * x + 2 - (size_t)c];
        } else {
            const uint32_t pixel = depth == 16 ? u16(row + 2 * x) : u32(row + 4 * x);
            for (int c = 0; c < format.channels; c++) {
                const struct mask *const mask = &bmp->mask[c];
                const uint64_t most = mask->most ? mask->most : 1;
                const uint64_t value = (pixel & mask->bits) >> mask->shift;
                to[c] = (unsigned char)((2 * value * 255 + most) / (2 * most));
            }
        }
    }
}

/* The state while runs are decoded: the coded bytes that are left, and the column and row of the
 * next pixel. Rows count in the order of the file. */
struct runs {
    const unsigned char *at, *end;
    int x, y;
};

static unsigned char *pixel_at(const struct bmp *bmp, unsigned char *pixels, int x, int y)
{
    const struct gf_format format = bmp->whole.base.format;
    const size_t row = (size_t)(bmp->top_down ? y : format.height - 1 - y);
    return pixels + row * gf_row_bytes(format) + (size_t)x * (size_t)format.channels;
}

/* Writes the `count` pixels of a run, whose indices are packed in the bytes at `from`; if
 * `one_value` is set, one byte holds them all. Runs by ImageMagick also contain the pixels that pad
 * a row. */
static enum gf_status put_run(struct bmp *bmp, struct runs *runs, unsigned count,
                              const unsigned char *from, bool one_value, unsigned char *pixels,
                              struct gf_error *error)
{
    const struct gf_format format = bmp->whole.base.format;
    const uint64_t end = (uint64_t)runs->x + count;
    const unsigned room = runs->x < format.width ? (unsigned)(format.width - runs->x) : 0,
                   shown = count < room ? count : room;
    if (end > bmp_stride(format.width, bmp->depth) * 8 / (uint64_t)bmp->depth)
        return fail(bmp, "a run goes beyond its row", error);
    unsigned char *to = shown ? pixel_at(bmp, pixels, runs->x, runs->y) : NULL;
    runs->x = (int)end;
    for (unsigned i = 0; i < shown; i++, to += format.channels) {
        const unsigned byte = from[one_value ? 0 : bmp->depth == 8 ? i : i / 2];
        put_index(bmp, bmp->depth == 8 ? byte : i % 2 ? byte & 15 : byte >> 4, to);
    }
    return GF_OK;
}

/* Handles the code `what`, which follows a zero byte: the end of the row (0) or of the picture (1),
 * a step across and up (2), or that many pixels without a run. */
static enum gf_status escape(struct bmp *bmp, struct runs *runs, unsigned what,
                             unsigned char *pixels, struct gf_error *error)
{
    const int height = bmp->whole.base.format.height;
    const size_t bytes = what < 2                          ? 0
                         : what == 2                       ? 2
                         : bmp->compression == GF_BMP_RLE8 ? what
                                                           : (what + 1) / 2;
    if ((size_t)(runs->end - runs->at) < bytes)
        return gf_fail_truncated(error, bmp->whole.name, runs->y, height);
    const unsigned char *const from = runs->at;
    runs->at += bytes;
    if (what == 0) {
        runs->x = 0;
        runs->y++;
    } else if (what == 1) {
        runs->y = height;
    } else if (what == 2) {
        runs->x += from[0];
        runs->y += from[1];
        if (runs->x > bmp->whole.base.format.width)
            return fail(bmp, "a step goes beyond its row", error);
    } else {
        runs->at += bytes % 2 && runs->at < runs->end;
        return put_run(bmp, runs, what, from, false, pixels, error);
    }
    return GF_OK;
}

/* Decodes run-length coded pixels. Pixels that no run sets get the palette's first colour. */
static enum gf_status decode_runs(struct bmp *bmp, unsigned char *pixels, struct gf_error *error)
{
    const struct gf_format format = bmp->whole.base.format;
    const size_t count = (size_t)format.width * (size_t)format.height;
    struct runs runs = {.at = bmp->whole.file.data + bmp->data,
                        .end = bmp->whole.file.data + bmp->whole.file.size};
    for (size_t i = 0; bmp->palette[0][0] | bmp->palette[0][1] | bmp->palette[0][2] && i < count;
         i++)
        put_index(bmp, 0, pixels + i * (size_t)format.channels);
    while (runs.y < format.height) {
        if (runs.end - runs.at < 2)
            return runs.y == format.height - 1 && runs.x >= format.width
                       ? GF_OK
                       : gf_fail_truncated(error, bmp->whole.name, runs.y, format.height);
        const unsigned length = *runs.at++, what = *runs.at++;
        GF_TRY(length ? put_run(bmp, &runs, length, runs.at - 1, true, pixels, error)
                      : escape(bmp, &runs, what, pixels, error));
    }
    return GF_OK;
}

static enum gf_status decode(struct gf_whole_source *whole, unsigned char *pixels,
                             struct gf_error *error)
{
    struct bmp *const bmp = (struct bmp *)whole;
    const struct gf_format format = whole->base.format;
    const uint64_t stride = bmp_stride(bmp->width, bmp->depth);
    const int first =
        bmp->top_down ? whole->window.y : bmp->height - whole->window.y - format.height;
    const uint64_t at = bmp->data + (has_runs(bmp) ? 0 : stride * (uint64_t)first);
    GF_TRY(gf_whole_source_need(
        whole, at, has_runs(bmp) ? UINT64_MAX : stride * (uint64_t)format.height, error));
    const enum gf_status status = has_runs(bmp) ? decode_runs(bmp, pixels, error) : GF_OK;
    for (int y = 0; y < format.height && !has_runs(bmp); y++) {
        const int row = bmp->top_down ? y : format.height - 1 - y;
        decode_row(bmp, whole->file.data + at + stride * (uint64_t)row,
                   pixels + (size_t)y * gf_row_bytes(format));
    }
    if (!status && bmp->depth <= 8 && bmp->beyond)
        gf_warn(&whole->options,
                "%s: some of its pixels have an index beyond its palette of %u: they are black",
                whole->name, bmp->colours);
    return status;
}

GF_WHOLE_SOURCE(gf_bmp_source_open, .size = sizeof(struct bmp), .read_header = read_header,
                .decode = decode, .blank = true, .parts = true)

/* ---- writing: gray of 8 bits with a palette, RGB of 24 bits, and alpha in 32 bits with the header
 * of version 4. The lowest row comes first, which all programs can read ---- */

enum { GRAYS = 256, HEADERS_MOST = GF_BMP_FILE_HEADER + GF_BMP_INFO + 4 * GRAYS };

static void put16(unsigned char *to, uint32_t value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *to, uint32_t value)
{
    put16(to, value);
    put16(to + 2, value >> 16);
}

static uint32_t density_of(double density)
{
    return density > 0 && density < INT_MAX ? (uint32_t)nearbyint(density) : 0;
}

/* Writes the headers and the palette to `file`, and returns their size in bytes. */
static size_t make_headers(const struct gf_whole_sink *sink, unsigned char *file)
{
    static const uint32_t masks[4] = {0xff0000, 0xff00, 0xff, 0xff000000};
    const struct gf_format format = sink->format;
    unsigned char *const header = file + GF_BMP_FILE_HEADER;
    const size_t size = format.channels == 4 ? GF_BMP_V4 : GF_BMP_INFO,
                 palette = format.channels == 1 ? 4 * GRAYS : 0;
    const size_t begin = GF_BMP_FILE_HEADER + size + palette;
    const uint64_t rows = bmp_stride(format.width, 8 * format.channels) * (uint64_t)format.height;
    memset(file, 0, HEADERS_MOST);
    memcpy(file, "BM", 2);
    put32(file + 2, (uint32_t)(begin + rows));
    put32(file + 10, (uint32_t)begin);
    put32(header, (uint32_t)size);
    put32(header + 4, (uint32_t)format.width);
    put32(header + 8, (uint32_t)format.height);
    put16(header + 12, 1);
    put16(header + 14, (uint32_t)(8 * format.channels));
    put32(header + 16, format.channels == 4 ? GF_BMP_MASKS : GF_BMP_PLAIN);
    put32(header + 20, (uint32_t)rows);
    put32(header + GF_BMP_AT_DENSITY, density_of(sink->metadata.density_x));
    put32(header + GF_BMP_AT_DENSITY + 4, density_of(sink->metadata.density_y));
    for (int i = 0; format.channels == 4 && i < 4; i++)
        put32(header + GF_BMP_AT_MASKS + 4 * i, masks[i]);
    if (format.channels == 4)
        put32(header + GF_BMP_AT_COLOURS, GF_BMP_SRGB);
    for (uint32_t i = 0; palette && i < GRAYS; i++)
        put32(header + size + 4 * i, i << 16 | i << 8 | i);
    return begin;
}

static void reverse_colours(const unsigned char *from, unsigned char *to, struct gf_format format)
{
    const size_t channels = (size_t)format.channels;
    if (channels == 1)
        memcpy(to, from, (size_t)format.width);
    for (size_t x = 0; channels > 1 && x < (size_t)format.width;
         x++, from += channels, to += channels) {
        const unsigned char red = from[0], green = from[1], blue = from[2];
        if (channels == 4)
            to[3] = from[3];
        to[0] = blue;
        to[1] = green;
        to[2] = red;
    }
}

static enum gf_status encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    const size_t stride = (size_t)bmp_stride(format.width, 8 * format.channels);
    unsigned char headers[HEADERS_MOST];
    unsigned char *const row = calloc(1, stride);
    GF_ALLOCATED(row, error);
    enum gf_status status =
        gf_output_write(sink->output, headers, make_headers(sink, headers), error);
    for (int y = format.height - 1; y >= 0 && !status; y--) {
        reverse_colours(sink->pixels + (size_t)y * gf_row_bytes(format), row, format);
        status = gf_output_write(sink->output, row, stride, error);
    }
    free(row);
    return status;
}

/* Returns the format in the file for a picture of `format`: 8 bits; gray with alpha becomes
 * RGBA. */
static struct gf_format in_file(struct gf_format format)
{
    format.bits = 8;
    format.channels = format.channels == 2 ? 4 : format.channels;
    return format;
}

struct gf_codec_memory gf_bmp_sink_memory(struct gf_format format, const struct gf_options *options)
{
    return gf_whole_sink_memory(in_file(format), 0);
}

enum gf_status gf_bmp_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    const struct gf_format format = order->format;
    static const struct gf_whole_encoder encoder = {
        .name = "BMP", .side_most = INT_MAX, .encode = encode};
    const struct gf_format written = in_file(format);
    const uint64_t rows = bmp_stride(format.width, 8 * written.channels) * (uint64_t)format.height;
    if (rows > UINT32_MAX - HEADERS_MOST)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: %dx%d is too large for BMP, which ends at 4 GiB",
                       gf_output_name(order->output), format.width, format.height);
    return gf_whole_sink_open(&encoder, order, written, sink, error);
}
