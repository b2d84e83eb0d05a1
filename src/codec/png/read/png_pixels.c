#include "codec/png/read/png_pixels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "codec/common/checks.h"
#include "codec/common/samples.h"
#include "codec/io/input.h"
#include "codec/png/png_filter.h"
#include "codec/png/read/png_stripes_read.h"

enum {
    BLOCK_BYTES = 128 << 10,
    BLOCKS = 4,
    LARGE_BLOCKS = 2,
    LARGE_BYTES = 8 << 20,
    MEMORY_SHARE = 4 /* blocks may take 1/4 of options->memory_bytes */
};

/* A marked file has `stripes`, and the members about blocks are unused. Block b of any other file
 * is in slot b % slots: the thread decompresses it, then the caller reads its rows. */
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
    pthread_t thread;
    bool threaded, running; /* the thread runs from the first read on, because a GPU may read the
                             * file instead */
    pthread_mutex_t lock;   /* guards the members up to `fault` */
    pthread_cond_t changed;
    int unpacked, used; /* numbers of blocks */
    bool ending;
    int whole_rows; /* number of rows before the fault; all rows if there is none */
    struct gf_png_fault fault;
    /* Only the caller uses these members. The filters of the rows before `ready` are undone. */
    int row, ready;
    bool bad_filter;
};

/* Decompresses block b. Returns false after a fault. */
static bool unpack_block(struct gf_png_pixels *pixels, int b)
{
    const int first = b * pixels->block_rows, rest = pixels->format.height - first;
    const int rows = rest < pixels->block_rows ? rest : pixels->block_rows;
    const size_t filtered = pixels->row_bytes + 1;
    struct gf_png_fault fault = {0};
    size_t got;
    bool whole = gf_png_idat_read(pixels->idat, pixels->slot[b % pixels->slots],
                                  filtered * (size_t)rows, &got, &fault);
    if (whole && rows == rest)
        whole = gf_png_idat_end(pixels->idat, &fault);
    int whole_rows = first + (int)(got / filtered);
    whole_rows -= whole_rows == pixels->format.height; /* the last row is valid only if the stream
                                                        * ends without a fault */
    pthread_mutex_lock(&pixels->lock);
    if (!whole) {
        pixels->whole_rows = whole_rows;
        pixels->fault = fault;
    }
    pixels->unpacked = b + 1;
    pthread_cond_signal(&pixels->changed);
    pthread_mutex_unlock(&pixels->lock);
    return whole;
}

static bool wait_for_slot(struct gf_png_pixels *pixels, int b)
{
    pthread_mutex_lock(&pixels->lock);
    while (b >= pixels->used + pixels->slots && !pixels->ending)
        pthread_cond_wait(&pixels->changed, &pixels->lock);
    const bool going = !pixels->ending;
    pthread_mutex_unlock(&pixels->lock);
    return going;
}

static void *thread_main(void *argument)
{
    struct gf_png_pixels *const pixels = argument;
    for (int b = 0; b < pixels->blocks && wait_for_slot(pixels, b) && unpack_block(pixels, b); b++)
        ;
    return NULL;
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
    pixels->idat = gf_png_idat_open(pixels->input, pixels->options, pixels->length);
    return pixels->idat && alloc_blocks(pixels);
}

enum gf_status gf_png_pixels_open(struct gf_input *input, struct gf_format format, uint32_t length,
                                  int stripe_rows, const struct gf_options *options,
                                  struct gf_png_pixels **pixels, struct gf_error *error)
{
    struct gf_png_pixels *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->changed, NULL);
    opened->input = input;
    opened->options = options;
    opened->begin = gf_input_position(input);
    opened->length = length;
    opened->format = format;
    opened->row_bytes = gf_row_bytes(format);
    opened->whole_rows = format.height;
    opened->filters = gf_png_filters();
    gf_png_stripes_read_open(input, format, length, stripe_rows, options, &opened->stripes);
    if (!opened->stripes && !open_blocks(opened)) {
        gf_png_pixels_close(opened);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
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
    pthread_mutex_lock(&pixels->lock);
    pixels->ending = true;
    pthread_cond_signal(&pixels->changed);
    pthread_mutex_unlock(&pixels->lock);
    if (pixels->running)
        pthread_join(pixels->thread, NULL);
    gf_png_stripes_read_close(pixels->stripes);
    for (int i = 0; i < pixels->slots; i++)
        gf_pages_free(pixels->slot[i], pixels->slot_bytes);
    gf_pages_free(pixels->above, pixels->above_bytes);
    gf_png_idat_close(pixels->idat);
    pthread_cond_destroy(&pixels->changed);
    pthread_mutex_destroy(&pixels->lock);
    free(pixels);
}

/* Waits for block b, or decompresses it. Returns the number of the picture's rows that are known to
 * be valid. */
static int reach_block(struct gf_png_pixels *pixels, int b)
{
    if (pixels->threaded && !pixels->running)
        pixels->running = pixels->threaded =
            !pthread_create(&pixels->thread, NULL, thread_main, pixels);
    if (!pixels->threaded && pixels->unpacked == b)
        (void)unpack_block(pixels, b); /* whole_rows shows a fault */
    pthread_mutex_lock(&pixels->lock);
    if (pixels->used < b) {
        pixels->used = b;
        pthread_cond_signal(&pixels->changed);
    }
    while (pixels->unpacked <= b && pixels->whole_rows == pixels->format.height)
        pthread_cond_wait(&pixels->changed, &pixels->lock);
    const int rows = pixels->whole_rows;
    pthread_mutex_unlock(&pixels->lock);
    return rows;
}

/* Undoes the filters of block b, which contains the next rows. */
static void undo_block(struct gf_png_pixels *pixels, int b)
{
    const size_t filtered = pixels->row_bytes + 1;
    const int first = b * pixels->block_rows, rest = reach_block(pixels, b) - first;
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
        if (!y)
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
    fault->status = gf_fail(&fault->error, GF_ERROR_MEMORY, "out of memory");
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
        return gf_png_idat_trailer(pixels->idat, trailer, fault);
    gf_input_go_to(pixels->input, gf_png_stripes_read_end(pixels->stripes));
    pixels->idat = gf_png_idat_open(pixels->input, pixels->options, 0);
    if (pixels->idat)
        return gf_png_idat_skipped(pixels->idat, fault) &&
               gf_png_idat_trailer(pixels->idat, trailer, fault);
    *fault = (struct gf_png_fault){0};
    fault->status = gf_fail(&fault->error, GF_ERROR_MEMORY, "out of memory");
    return false;
}
