#include "codec/png/png_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/ordered.h"
#include "codec/common/checks.h"
#include "codec/common/rows/samples.h"
#include "codec/png/deflate/deflate.h"
#include "codec/png/png_chunk.h"

enum {
    STRIPE_BYTES = 256 << 10, /* small enough for 16 threads to share a picture of 2 megapixels */
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4,
    WINDOW_BITS = 15,
    MEMORY_LEVEL = 8,
    FLUSH_BYTES = 16 /* the most bytes of an empty block and a few bits */
};

static struct gf_png_layout png_layout_make(int height, size_t row_bytes, int bpp, int level)
{
    struct gf_png_layout layout = {
        .height = height, .bpp = bpp, .level = level, .row_bytes = row_bytes};
    const size_t filtered = row_bytes + 1;
    layout.pitch = (row_bytes + 2 * GF_PNG_MARGIN + 31) / 32 * 32;
    if (level == GF_PNG_FAST_LEVEL)
        layout.rows = gf_png_mark_rows(row_bytes, height);
    else
        layout.rows = filtered < STRIPE_BYTES ? (int)(STRIPE_BYTES / filtered) : 1;
    layout.rows = layout.rows < height ? layout.rows : height;
    layout.count = (height + layout.rows - 1) / layout.rows;
    if (level > GF_PNG_FAST_LEVEL)
        layout.window_rows = (int)((GF_PNG_WINDOW + filtered - 1) / filtered);
    if (layout.window_rows > height)
        layout.window_rows = height;
    layout.raw_bytes = layout.pitch * (size_t)(1 + layout.window_rows + layout.rows);
    layout.filtered_bytes = filtered * (size_t)(layout.window_rows + layout.rows) + GF_PNG_MARGIN;
    const size_t stripe_bytes = filtered * (size_t)layout.rows;
    const size_t packed = level == GF_PNG_FAST_LEVEL
                              ? gf_deflate_fast_bound(stripe_bytes)
                              : compressBound((uLong)stripe_bytes) + stripe_bytes / 1000;
    layout.chunk_bytes =
        GF_PNG_HEAD_BYTES + ZLIB_HEAD_BYTES + packed + FLUSH_BYTES + ADLER_BYTES + GF_PNG_CRC_BYTES;
    return layout;
}

/* Returns the number of rows before its own that stripe `index` keeps: the window and the row above
 * it, if the picture has them. A row of zeros is above the picture's first row. */
static int png_stripe_above(const struct gf_png_layout *layout, int index)
{
    const int64_t before = (int64_t)index * layout->rows;
    if (layout->level <= GF_PNG_FAST_LEVEL)
        return 0;
    return before < layout->window_rows + 1 ? (int)before : layout->window_rows + 1;
}

/* Returns the number of rows of the stripe itself. */
static int png_stripe_rows(const struct gf_png_layout *layout, int index)
{
    const int rest = layout->height - index * layout->rows;
    return rest < layout->rows ? rest : layout->rows;
}

static bool png_packer_open(struct gf_png_packer *packer, const struct gf_png_layout *layout)
{
    packer->filters = gf_png_filters();
    packer->filtered = malloc(layout->filtered_bytes);
    if (layout->level == GF_PNG_FAST_LEVEL) {
        packer->scratch =
            malloc(gf_deflate_fast_scratch((layout->row_bytes + 1) * (size_t)layout->rows));
        return packer->filtered && packer->scratch;
    }
    /* libpng also uses this strategy for filtered rows; files become smaller from level 4 on. */
    packer->zlib_open =
        deflateInit2(&packer->zlib, layout->level, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL,
                     layout->indices ? Z_DEFAULT_STRATEGY : Z_FILTERED) == Z_OK;
    return packer->filtered && packer->zlib_open;
}

static void png_packer_close(struct gf_png_packer *packer)
{
    if (packer->zlib_open)
        deflateEnd(&packer->zlib);
    free(packer->filtered);
    free(packer->scratch);
}

/* Filters rows first .. end - 1, counted from the stripe's first row, to their place in
 * `filtered`. */
static uint8_t *filter_rows(const struct gf_png_packer *packer, const struct gf_png_layout *layout,
                            const struct gf_png_stripe *stripe, int first, int end)
{
    const size_t filtered = layout->row_bytes + 1;
    uint8_t *const begin = packer->filtered + filtered * (size_t)(layout->window_rows + first);
    uint8_t *out = begin;
    for (int y = first; y < end; y++, out += filtered) {
        const uint8_t *const row = gf_png_stripe_row(layout, stripe, y);
        if (layout->level && !layout->indices) {
            gf_png_filter_row(packer->filters, row,
                              y || layout->level > GF_PNG_FAST_LEVEL ? row - layout->pitch : NULL,
                              layout->row_bytes, layout->bpp, out);
        } else {
            out[0] = GF_PNG_NONE;
            memcpy(out + 1, row, layout->row_bytes);
        }
    }
    return begin;
}

/* Compresses the stripe by zlib, which may refer to the window. Returns 0 if the result is larger
 * than `room`. */
static size_t deflate_rows(struct gf_png_packer *packer, const struct gf_png_layout *layout,
                           const struct gf_png_stripe *stripe, const uint8_t *own, uint8_t *out,
                           size_t room)
{
    z_stream *const zlib = &packer->zlib;
    const int above = png_stripe_above(layout, stripe->index);
    const int rows = above < layout->window_rows ? above : layout->window_rows;
    const size_t before = (size_t)(own - filter_rows(packer, layout, stripe, -rows, 0));
    const size_t window = before < GF_PNG_WINDOW ? before : GF_PNG_WINDOW;
    const bool last = stripe->index + 1 == layout->count;
    if (deflateReset(zlib) != Z_OK ||
        (window && deflateSetDictionary(zlib, own - window, (uInt)window) != Z_OK))
        return 0;
    zlib->next_in = (unsigned char *)own;
    zlib->avail_in = (uInt)stripe->filtered_bytes;
    zlib->next_out = out;
    zlib->avail_out = (uInt)room;
    const int result = deflate(zlib, last ? Z_FINISH : Z_SYNC_FLUSH);
    const bool done = last ? result == Z_STREAM_END : result == Z_OK && zlib->avail_out;
    return done ? room - zlib->avail_out : 0;
}

/* Writes the head of the zlib stream: deflate, a window of 32 KB and the level. As a number the
 * head must be a multiple of 31. */
static void put_zlib_head(uint8_t *out, int level)
{
    const int effort = level <= 1 ? 0 : level <= 5 ? 1 : level == 6 ? 2 : 3;
    const int head = 0x78 << 8 | effort << 6;
    out[0] = 0x78;
    out[1] = (uint8_t)(head + 31 - head % 31);
}

/* Completes the last stripe's chunk with the checksum of the whole zlib stream. */
static void png_stripe_end(struct gf_png_stripe *stripe, uint32_t adler)
{
    gf_png_put_be32(stripe->chunk + GF_PNG_HEAD_BYTES + stripe->data_bytes, adler);
    stripe->chunk_bytes =
        gf_png_chunk_close(stripe->chunk, "IDAT", stripe->data_bytes + ADLER_BYTES);
}

/* Makes the stripe's chunk. False when out of memory. */
static bool png_pack(struct gf_png_packer *packer, const struct gf_png_layout *layout,
                     struct gf_png_stripe *stripe)
{
    const int rows = png_stripe_rows(layout, stripe->index);
    const uint8_t *const own = filter_rows(packer, layout, stripe, 0, rows);
    uint8_t *const data = stripe->chunk + GF_PNG_HEAD_BYTES;
    const size_t head = stripe->index ? 0 : ZLIB_HEAD_BYTES;
    if (head)
        put_zlib_head(data, layout->level);
    stripe->filtered_bytes = (size_t)rows * (layout->row_bytes + 1);
    stripe->adler = gf_adler32(own, stripe->filtered_bytes);
    const size_t room =
        layout->chunk_bytes - GF_PNG_HEAD_BYTES - head - ADLER_BYTES - GF_PNG_CRC_BYTES;
    const size_t packed =
        layout->level == GF_PNG_FAST_LEVEL
            ? gf_deflate_fast(own, stripe->filtered_bytes, stripe->index + 1 == layout->count,
                              packer->scratch, data + head)
            : deflate_rows(packer, layout, stripe, own, data + head, room);
    stripe->data_bytes = head + packed;
    if (stripe->index + 1 < layout->count)
        stripe->chunk_bytes = gf_png_chunk_close(stripe->chunk, "IDAT", stripe->data_bytes);
    return packed > 0;
}

enum {
    MEMORY_BYTES = 64 << 20,
    MEMORY_SHARE = 4 /* the writer may use 1/4 of options->memory_bytes */
};

/* The caller fills stripe k in slot k % slots, any thread compresses it, and the caller writes it
 * in order. */
struct gf_png_stripes {
    struct gf_output *output;
    struct gf_format format;
    struct gf_png_layout layout;
    struct gf_png_stripe *slot;
    int slots;
    struct gf_png_packer *packer; /* one for each thread */
    int packers;
    struct gf_ordered *ordered;
    int filled, written; /* numbers of stripes */
    int row;             /* next row of the stripe that is being filled */
    uint32_t adler;
};

static struct gf_png_stripe *slot_of(const struct gf_png_stripes *stripes, int index)
{
    return &stripes->slot[index % stripes->slots];
}

static enum gf_status pack(void *context, int thread, int index, struct gf_error *error)
{
    const struct gf_png_stripes *const stripes = context;
    return png_pack(&stripes->packer[thread], &stripes->layout, slot_of(stripes, index))
               ? GF_OK
               : gf_fail_memory(error);
}

/* Return the memory of one slot, and of a thread's packer; zlib's part is an estimate. */
static uint64_t slot_bytes(const struct gf_png_layout *layout)
{
    return layout->raw_bytes + layout->chunk_bytes;
}

static uint64_t packer_bytes(const struct gf_png_layout *layout)
{
    return layout->filtered_bytes + layout->chunk_bytes + ((uint64_t)256 << 10);
}

static struct gf_png_layout layout_of(struct gf_format format, const struct gf_options *options)
{
    return png_layout_make(format.height, gf_row_bytes(format), format.channels * format.bits / 8,
                           options->png_level);
}

uint64_t gf_png_stripes_memory(struct gf_format format, const struct gf_options *options)
{
    const struct gf_png_layout layout = layout_of(format, options);
    return (layout.count > 1 ? 2 : 1) * slot_bytes(&layout) + packer_bytes(&layout);
}

/* Returns the number of threads: at most one for each stripe, and as many as the memory allows. */
static int packer_count(const struct gf_png_stripes *stripes, const struct gf_options *options)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    const uint64_t slot = slot_bytes(layout);
    const uint64_t each = slot + slot / 2 + packer_bytes(layout);
    const uint64_t affordable = budget > 2 * slot ? (budget - 2 * slot) / each : 1;
    int count = gf_codec_threads(options);
    count = count < layout->count ? count : layout->count;
    count = (uint64_t)count < affordable ? count : (int)affordable;
    return count > 1 ? count : 1;
}

/* Returns the number of slots. One slot is being filled. For every two that are being compressed
 * one more is ready and waits, since stripes are written in order. */
static int slot_count(const struct gf_png_stripes *stripes)
{
    const int count = stripes->packers + stripes->packers / 2 + 1;
    return count < stripes->layout.count ? count : stripes->layout.count;
}

/* Allocates the slots. gf_pages_alloc() returns zeros, which the margins of rows must be. */
static bool open_slots(struct gf_png_stripes *stripes)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    stripes->slot = calloc((size_t)stripes->slots, sizeof *stripes->slot);
    bool there = stripes->slot;
    for (int i = 0; there && i < stripes->slots; i++) {
        stripes->slot[i].raw = gf_pages_alloc(layout->raw_bytes);
        stripes->slot[i].chunk = gf_pages_alloc(layout->chunk_bytes);
        there = stripes->slot[i].raw && stripes->slot[i].chunk;
    }
    return there;
}

static bool open_packers(struct gf_png_stripes *stripes)
{
    stripes->packer = calloc((size_t)stripes->packers, sizeof *stripes->packer);
    bool there = stripes->packer;
    for (int i = 0; there && i < stripes->packers; i++)
        there = png_packer_open(&stripes->packer[i], &stripes->layout);
    return there;
}

enum gf_status gf_png_stripes_open(struct gf_output *output, struct gf_format format, bool indices,
                                   const struct gf_options *options,
                                   struct gf_png_stripes **stripes, struct gf_error *error)
{
    GF_NEW(struct gf_png_stripes, opened, error);
    opened->output = output;
    opened->format = format;
    opened->adler = 1;
    opened->layout = layout_of(format, options);
    opened->layout.indices = indices;
    opened->packers = packer_count(opened, options);
    opened->slots = slot_count(opened);
    enum gf_status status =
        open_slots(opened) && open_packers(opened) ? GF_OK : gf_fail_memory(error);
    const struct gf_ordered_setup setup = {
        .call = pack, .context = opened, .threads = opened->packers, .slots = opened->slots};
    GF_THEN(status, gf_ordered_open(&setup, &opened->ordered, error));
    GF_OPENED(status, gf_png_stripes_close, opened, stripes);
}

void gf_png_stripes_close(struct gf_png_stripes *stripes)
{
    if (!stripes)
        return;
    gf_ordered_close(stripes->ordered);
    for (int i = 0; stripes->packer && i < stripes->packers; i++)
        png_packer_close(&stripes->packer[i]);
    for (int i = 0; stripes->slot && i < stripes->slots; i++) {
        gf_pages_free(stripes->slot[i].raw, stripes->layout.raw_bytes);
        gf_pages_free(stripes->slot[i].chunk, stripes->layout.chunk_bytes);
    }
    free(stripes->packer);
    free(stripes->slot);
    free(stripes);
}

/* Writes the next compressed stripes, and waits until at most `most` stripes are not written
 * yet. */
static enum gf_status write_packed(struct gf_png_stripes *stripes, int most, struct gf_error *error)
{
    while (gf_ordered_is_due(stripes->ordered, most)) {
        GF_TRY(gf_ordered_take(stripes->ordered, error));
        struct gf_png_stripe *const stripe = slot_of(stripes, stripes->written++);
        stripes->adler = (uint32_t)adler32_combine(stripes->adler, stripe->adler,
                                                   (z_off_t)stripe->filtered_bytes);
        if (stripes->written == stripes->layout.count)
            png_stripe_end(stripe, stripes->adler);
        GF_TRY(gf_output_write(stripes->output, stripe->chunk, stripe->chunk_bytes, error));
    }
    return GF_OK;
}

/* Copies the rows to which the new stripe may refer from the slot of the last stripe. */
static void begin_stripe(struct gf_png_stripes *stripes, int index)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    struct gf_png_stripe *const stripe = slot_of(stripes, index);
    const int above = png_stripe_above(layout, index);
    stripe->index = index;
    if (above <= layout->window_rows)
        memset(gf_png_stripe_row(layout, stripe, -above - 1), 0, layout->row_bytes);
    for (int row = -above; row < 0; row++)
        memcpy(gf_png_stripe_row(layout, stripe, row),
               gf_png_stripe_row(layout, slot_of(stripes, index - 1), row + layout->rows),
               layout->row_bytes);
}

static enum gf_status write_row(struct gf_png_stripes *stripes, const unsigned char *src,
                                struct gf_error *error)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    if (!stripes->row) {
        GF_TRY(write_packed(stripes, stripes->slots - 1, error));
        begin_stripe(stripes, stripes->filled);
    }
    unsigned char *const row =
        gf_png_stripe_row(layout, slot_of(stripes, stripes->filled), stripes->row++);
    if (stripes->format.bits == 16)
        gf_samples_big_endian(src, row, layout->row_bytes / 2);
    else
        memcpy(row, src, layout->row_bytes);
    if (stripes->row == png_stripe_rows(layout, stripes->filled)) {
        gf_ordered_submit(stripes->ordered);
        stripes->filled++;
        stripes->row = 0;
    }
    return GF_OK;
}

enum gf_status gf_png_stripes_write(struct gf_png_stripes *stripes, int rows,
                                    const unsigned char *src, size_t pitch, struct gf_error *error)
{
    for (int y = 0; y < rows; y++)
        GF_TRY(write_row(stripes, src + (size_t)y * pitch, error));
    return GF_OK;
}

enum gf_status gf_png_stripes_finish(struct gf_png_stripes *stripes, struct gf_error *error)
{
    return write_packed(stripes, 0, error);
}
