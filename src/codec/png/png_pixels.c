#include "codec/png/png_read.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/ordered.h"
#include "codec/common/checks.h"
#include "codec/common/rows/samples.h"
#include "codec/png/deflate/deflate.h"
#include "codec/png/png_filter.h"

enum { BUFFER_BYTES = 64 << 10, SURPLUS_BYTES = 1024, SURPLUS_MOST = 16 << 20 };

struct gf_png_idat {
    struct gf_input *input;
    const struct gf_options *options;
    struct gf_inflate *inflate;
    uint32_t left, crc;                    /* the bytes left of the current chunk, and its checksum
                                            * so far */
    unsigned char head[GF_PNG_HEAD_BYTES]; /* head of the current chunk, if it was read here and not
                                            * by libpng */
    bool behind;                           /* the current chunk comes after the last IDAT */
    bool headless; /* a fault prevented reading the head of the current chunk */
    struct gf_png_fault why;
    const char *surplus; /* describes data in the stream after the rows; NULL: there is none */
    char message[80];    /* memory for the text of a fault */
    unsigned char buffer[BUFFER_BYTES]; /* not cleared, so that a small picture touches little */
};

static bool is_type(const unsigned char *head, const char *type)
{
    return !memcmp(head + 4, type, 4);
}

static bool corrupt(struct gf_png_fault *fault, const char *text)
{
    *fault = (struct gf_png_fault){.text = text};
    return false;
}

static bool corrupt_stream(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    snprintf(idat->message, sizeof idat->message, "IDAT: %s", gf_inflate_message(idat->inflate));
    return corrupt(fault, idat->message);
}

/* Opens a reader. `length` is the length of the first IDAT chunk. Returns NULL when out of
 * memory. */
static struct gf_png_idat *png_idat_open(struct gf_input *input, const struct gf_options *options,
                                         uint32_t length)
{
    struct gf_png_idat *const idat = malloc(sizeof *idat);
    if (!idat)
        return NULL;
    memset(idat, 0, offsetof(struct gf_png_idat, buffer));
    idat->input = input;
    idat->options = options;
    idat->left = length;
    idat->crc = gf_crc32(0, (const uint8_t *)"IDAT", 4);
    idat->inflate = gf_inflate_open();
    if (idat->inflate)
        return idat;
    free(idat);
    return NULL;
}

static bool read_up_to(struct gf_png_idat *idat, void *data, size_t size, size_t *got,
                       struct gf_png_fault *fault)
{
    *fault = (struct gf_png_fault){0};
    fault->status = gf_input_read(idat->input, data, size, got, &fault->error);
    return !fault->status;
}

static bool read_exactly(struct gf_png_idat *idat, void *data, size_t size,
                         struct gf_png_fault *fault)
{
    size_t got;
    if (!read_up_to(idat, data, size, &got, fault))
        return false;
    fault->truncated = got < size;
    return !fault->truncated;
}

static bool read_head(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    if (!read_exactly(idat, idat->head, GF_PNG_HEAD_BYTES, fault))
        return false;
    for (int i = 4; i < GF_PNG_HEAD_BYTES; i++)
        if (!isalpha(idat->head[i]))
            return corrupt(fault, "invalid chunk type");
    idat->left = gf_png_get_be32(idat->head);
    if (idat->left > GF_PNG_CHUNK_LONGEST)
        return corrupt(fault, "PNG unsigned integer out of range");
    idat->crc = gf_crc32(0, idat->head + 4, 4);
    return true;
}

/* Reads some of the chunk's remaining bytes. From a truncated file it reads the bytes that
 * exist. */
static bool read_some(struct gf_png_idat *idat, size_t *size, struct gf_png_fault *fault)
{
    const size_t most = idat->left < BUFFER_BYTES ? idat->left : BUFFER_BYTES;
    if (!read_up_to(idat, idat->buffer, most, size, fault))
        return false;
    fault->truncated = !*size;
    idat->crc = gf_crc32(idat->crc, idat->buffer, *size);
    idat->left -= (uint32_t)*size;
    return *size;
}

static bool read_crc(struct gf_png_idat *idat, const char *wrong, struct gf_png_fault *fault)
{
    unsigned char crc[GF_PNG_CRC_BYTES];
    if (!read_exactly(idat, crc, sizeof crc, fault))
        return false;
    return !wrong || gf_png_get_be32(crc) == idat->crc || corrupt(fault, wrong);
}

/* Goes to the next bytes of an IDAT chunk. Sets `behind` if no IDAT chunk follows. */
static bool reach_data(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    while (!idat->left && !idat->behind) {
        if (!read_crc(idat, "IDAT: CRC error", fault) || !read_head(idat, fault))
            return false;
        idat->behind = !is_type(idat->head, "IDAT");
    }
    return true;
}

static bool feed(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    size_t size;
    if (!reach_data(idat, fault))
        return false;
    if (idat->behind)
        return corrupt(fault, "Not enough image data");
    if (!read_some(idat, &size, fault))
        return false;
    gf_inflate_feed(idat->inflate, idat->buffer, size);
    return true;
}

/* Decompresses the next `size` bytes to `out`. Returns false after a fault, with only *got
 * bytes. */
static bool png_idat_read(struct gf_png_idat *idat, uint8_t *out, size_t size, size_t *got,
                          struct gf_png_fault *fault)
{
    *got = 0;
    while (*got < size) {
        size_t some;
        const size_t room = size - *got < INT32_MAX ? size - *got : INT32_MAX;
        const enum gf_inflate_result result =
            gf_inflate_run(idat->inflate, out + *got, room, &some);
        *got += some;
        if (result == GF_INFLATE_ERROR)
            return corrupt_stream(idat, fault);
        if (result == GF_INFLATE_END && *got < size)
            return corrupt(fault, "Not enough image data");
        if (result == GF_INFLATE_NEEDS_INPUT && !feed(idat, fault))
            return false;
    }
    return true;
}

/* Skips the rest of the last IDAT. A fault after its checksum does not damage the pixels;
 * png_idat_trailer() reports it. */
static bool skip_idat(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    size_t size;
    while (!idat->behind) {
        while (idat->left)
            if (!read_some(idat, &size, fault))
                return false;
        if (!read_crc(idat, "IDAT: CRC error", fault))
            return false;
        idat->headless = !read_head(idat, &idat->why);
        idat->behind = idat->headless || !is_type(idat->head, "IDAT");
    }
    return true;
}

/* Surplus data is decompressed, too, up to a limit, because it may show that the rows are
 * damaged. */
static bool png_idat_end(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    uint8_t more[SURPLUS_BYTES];
    size_t surplus = 0;
    enum gf_inflate_result result;
    do {
        size_t got;
        result = gf_inflate_run(idat->inflate, more, sizeof more, &got);
        surplus += got;
        if (result == GF_INFLATE_ERROR)
            return corrupt_stream(idat, fault);
        if (result == GF_INFLATE_NEEDS_INPUT && !feed(idat, fault))
            return false;
    } while (result != GF_INFLATE_END && surplus < SURPLUS_MOST);
    if (surplus)
        idat->surplus = "Too much image data";
    else if (gf_inflate_left(idat->inflate) || idat->left)
        idat->surplus = "Extra compressed data";
    return skip_idat(idat, fault);
}

/* Replaces png_idat_end() if another reader has read all rows. The input's next byte is the
 * first one after the last IDAT chunk. */
static bool png_idat_skipped(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    idat->behind = true;
    return read_head(idat, fault);
}

/* Checks a chunk after the pixels as libpng does: the checksum of a critical chunk must be right,
 * and only one PLTE may occur. Contents and checksums of ancillary chunks are not checked. */
static bool read_trailing_chunk(struct gf_png_idat *idat, struct gf_png_trailer *trailer,
                                struct gf_png_fault *fault)
{
    const bool palette = is_type(idat->head, "PLTE"), critical = isupper(idat->head[4]);
    if (critical && !palette && !is_type(idat->head, "IDAT") && !is_type(idat->head, "IEND"))
        return corrupt(fault, "unhandled critical chunk");
    if (palette && trailer->has_palette)
        return corrupt(fault, "PLTE: duplicate");
    trailer->has_exif |= is_type(idat->head, "eXIf");
    size_t size;
    while (idat->left)
        if (!read_some(idat, &size, fault))
            return false;
    snprintf(idat->message, sizeof idat->message, "%.4s: CRC error", (const char *)idat->head + 4);
    return read_crc(idat, critical ? idat->message : NULL, fault);
}

/* Checks the remaining chunks up to IEND. It must be called after png_idat_end() or
 * png_idat_skipped(). */
static bool png_idat_trailer(struct gf_png_idat *idat, struct gf_png_trailer *trailer,
                             struct gf_png_fault *fault)
{
    if (idat->surplus)
        gf_warn(idat->options, "%s: %s", gf_input_name(idat->input), idat->surplus);
    if (idat->headless) {
        *fault = idat->why;
        return false;
    }
    for (;;) {
        const bool last = is_type(idat->head, "IEND");
        if (!read_trailing_chunk(idat, trailer, fault)) {
            fault->in_idat = is_type(idat->head, "IDAT");
            return false;
        }
        if (last)
            return true;
        if (!read_head(idat, fault))
            return false;
    }
}

enum {
    BLOCK_BYTES = 128 << 10,
    BLOCKS = 4,
    LARGE_BLOCKS = 2,
    LARGE_BYTES = 8 << 20,
    MEMORY_SHARE = 4 /* blocks may take 1/4 of options->memory_bytes */
};

/* A marked file has `stripes`, and the members about blocks are unused. Block b of any other file
 * is in slot b % slots: a thread decompresses it, then the caller reads its rows. */
struct gf_png_pixels {
    struct gf_format format;
    size_t row_bytes;
    struct gf_input *input;
    const struct gf_options *options;
    int64_t begin;   /* offset of the data of the first IDAT chunk */
    uint32_t length; /* bytes of data in that chunk */
    struct gf_png_stripes_reader *stripes;
    struct gf_png_idat *idat;
    const struct gf_png_filters *filters;
    uint8_t *slot[BLOCKS];
    uint8_t *above; /* last row of the block before, after its filter was undone */
    int slots, block_rows, blocks;
    size_t slot_bytes, above_bytes;
    bool threaded;
    struct gf_ordered *ordered;
    /* The fault, and the number of rows before it, for the caller once the block has failed. */
    struct gf_png_fault fault;
    int whole_rows;
    /* Only the caller uses these members. The filters of the rows before `ready` are undone. */
    int row, ready;
    bool bad_filter;
};

static enum gf_status unpack_block(void *context, int thread, int b, struct gf_error *error)
{
    struct gf_png_pixels *const pixels = context;
    const int first = b * pixels->block_rows, rest = pixels->format.height - first;
    const int rows = rest < pixels->block_rows ? rest : pixels->block_rows;
    const size_t filtered = pixels->row_bytes + 1;
    size_t got;
    if (png_idat_read(pixels->idat, pixels->slot[b % pixels->slots], filtered * (size_t)rows, &got,
                      &pixels->fault) &&
        (rows < rest || png_idat_end(pixels->idat, &pixels->fault)))
        return GF_OK;
    pixels->whole_rows = first + (int)(got / filtered);
    if (pixels->whole_rows == pixels->format.height)
        pixels->whole_rows--; /* the last row is valid only if the stream ends without a fault */
    return GF_ERROR_INPUT;
}

static void cut_blocks(struct gf_png_pixels *pixels, uint64_t memory_bytes)
{
    const size_t filtered = pixels->row_bytes + 1;
    const int height = pixels->format.height;
    const int rows = filtered < BLOCK_BYTES ? (int)(BLOCK_BYTES / filtered) : 1;
    pixels->block_rows = rows < height ? rows : height;
    pixels->blocks = (height + pixels->block_rows - 1) / pixels->block_rows;
    /* Undoing a filter may read a few bytes after a row. */
    pixels->slot_bytes = filtered * (size_t)pixels->block_rows + GF_PNG_MARGIN;
    pixels->above_bytes = pixels->row_bytes + GF_PNG_MARGIN;
    if (memory_bytes && LARGE_BLOCKS * pixels->slot_bytes > memory_bytes / MEMORY_SHARE)
        pixels->threaded = false;
    pixels->slots = !pixels->threaded                  ? 1
                    : pixels->slot_bytes > LARGE_BYTES ? LARGE_BLOCKS
                                                       : BLOCKS;
    pixels->slots = pixels->slots < pixels->blocks ? pixels->slots : pixels->blocks;
}

static bool alloc_blocks(struct gf_png_pixels *pixels)
{
    pixels->above = gf_pages_alloc(pixels->above_bytes);
    bool there = pixels->above;
    for (int i = 0; there && i < pixels->slots; i++) {
        pixels->slot[i] = gf_pages_alloc(pixels->slot_bytes);
        there = pixels->slot[i];
    }
    return there;
}

/* Prepares the reader for blocks. */
static bool open_blocks(struct gf_png_pixels *pixels)
{
    const int threads = gf_codec_threads(pixels->options);
    const bool large = pixels->row_bytes * (size_t)pixels->format.height > BLOCK_BYTES;
    pixels->threaded = threads > 1 && large;
    cut_blocks(pixels, pixels->options->memory_bytes);
    pixels->idat = png_idat_open(pixels->input, pixels->options, pixels->length);
    const struct gf_ordered_setup setup = {.call = unpack_block,
                                           .context = pixels,
                                           .threads = 1,
                                           .aside = pixels->threaded,
                                           .slots = pixels->slots};
    return pixels->idat && alloc_blocks(pixels) && !gf_ordered_open(&setup, &pixels->ordered, NULL);
}

enum gf_status gf_png_pixels_open(struct gf_input *input, struct gf_format format, uint32_t length,
                                  int stripe_rows, const struct gf_options *options,
                                  struct gf_png_pixels **pixels, struct gf_error *error)
{
    GF_NEW(struct gf_png_pixels, opened, error);
    opened->input = input;
    opened->options = options;
    opened->begin = gf_input_position(input);
    opened->length = length;
    opened->format = format;
    opened->row_bytes = gf_row_bytes(format);
    opened->filters = gf_png_filters();
    gf_png_stripes_read_open(input, format, length, stripe_rows, options, &opened->stripes);
    if (!opened->stripes && !open_blocks(opened)) {
        gf_png_pixels_close(opened);
        return gf_fail_memory(error);
    }
    *pixels = opened;
    return GF_OK;
}

uint64_t gf_png_pixels_memory(const struct gf_png_pixels *pixels)
{
    if (pixels->stripes)
        return gf_png_stripes_read_memory(pixels->stripes);
    /* Without a second block `above` needs no memory. */
    const uint64_t above_bytes = pixels->blocks > 1 ? pixels->above_bytes : 0;
    return (uint64_t)pixels->slots * pixels->slot_bytes + above_bytes;
}

void gf_png_pixels_close(struct gf_png_pixels *pixels)
{
    if (!pixels)
        return;
    gf_ordered_close(pixels->ordered);
    gf_png_stripes_read_close(pixels->stripes);
    for (int i = 0; i < pixels->slots; i++)
        gf_pages_free(pixels->slot[i], pixels->slot_bytes);
    gf_pages_free(pixels->above, pixels->above_bytes);
    if (pixels->idat)
        gf_inflate_close(pixels->idat->inflate);
    free(pixels->idat);
    free(pixels);
}

/* Undoes the filters of block b, which contains the next rows. */
static void undo_block(struct gf_png_pixels *pixels, int b)
{
    const size_t filtered = pixels->row_bytes + 1;
    const bool whole = !gf_ordered_next(pixels->ordered, pixels->blocks, NULL);
    const int first = b * pixels->block_rows,
              rest = (whole ? pixels->format.height : pixels->whole_rows) - first;
    const int rows = rest < pixels->block_rows ? rest : pixels->block_rows;
    uint8_t *const block = pixels->slot[b % pixels->slots];
    const int done =
        rows < 0 ? 0
                 : gf_png_undo_rows(pixels->filters, block, rows, pixels->above, pixels->row_bytes,
                                    pixels->format.channels * pixels->format.bits / 8);
    pixels->ready = first + done;
    pixels->bad_filter = done < rows;
    if (done == pixels->block_rows && b + 1 < pixels->blocks)
        memcpy(pixels->above, block + filtered * (size_t)done - pixels->row_bytes,
               pixels->row_bytes);
}

/* Reads rows of blocks, or skips them if `dst` is NULL. */
static int read_rows(struct gf_png_pixels *pixels, int rows, unsigned char *dst, size_t pitch,
                     struct gf_png_fault *fault)
{
    for (int done = 0; done < rows; done++, pixels->row++) {
        const int b = pixels->row / pixels->block_rows, y = pixels->row % pixels->block_rows;
        if (!y && !pixels->bad_filter)
            undo_block(pixels, b);
        if (pixels->row >= pixels->ready) {
            /* Unless a filter's number was invalid, decompressing ended with a fault. */
            *fault = pixels->bad_filter ? (struct gf_png_fault){.text = "bad adaptive filter value"}
                                        : pixels->fault;
            return done;
        }
        if (!dst)
            continue;
        const uint8_t *const row =
            pixels->slot[b % pixels->slots] + (pixels->row_bytes + 1) * (size_t)y + 1;
        if (pixels->format.bits == 16)
            gf_samples_big_endian(row, dst + (size_t)done * pitch, pixels->row_bytes / 2);
        else
            memcpy(dst + (size_t)done * pitch, row, pixels->row_bytes);
    }
    return rows;
}

/* Reads the file from the start as an unmarked file, because the mark was wrong, and skips the rows
 * that were read. Returns false after a failure. */
static bool read_anew(struct gf_png_pixels *pixels, struct gf_png_fault *fault)
{
    const int out = pixels->row;
    gf_png_stripes_read_close(pixels->stripes);
    pixels->stripes = NULL;
    pixels->row = 0;
    gf_input_go_to(pixels->input, pixels->begin);
    if (open_blocks(pixels))
        return read_rows(pixels, out, NULL, 0, fault) == out;
    *fault = (struct gf_png_fault){0};
    fault->status = gf_fail_memory(&fault->error);
    return false;
}

int gf_png_pixels_read(struct gf_png_pixels *pixels, int rows, unsigned char *dst, size_t pitch,
                       struct gf_png_fault *fault)
{
    int done = 0;
    if (pixels->stripes) {
        done = gf_png_stripes_read(pixels->stripes, rows, dst, pitch);
        pixels->row += done;
        if (done == rows || !read_anew(pixels, fault))
            return done;
    }
    return done + read_rows(pixels, rows - done, dst + (size_t)done * pitch, pitch, fault);
}

bool gf_png_pixels_finish(struct gf_png_pixels *pixels, struct gf_png_trailer *trailer,
                          struct gf_png_fault *fault)
{
    if (!pixels->stripes)
        return png_idat_trailer(pixels->idat, trailer, fault);
    gf_input_go_to(pixels->input, gf_png_stripes_read_end(pixels->stripes));
    pixels->idat = png_idat_open(pixels->input, pixels->options, 0);
    if (pixels->idat)
        return png_idat_skipped(pixels->idat, fault) &&
               png_idat_trailer(pixels->idat, trailer, fault);
    *fault = (struct gf_png_fault){0};
    fault->status = gf_fail_memory(&fault->error);
    return false;
}
