#include "codec/png/write/png_pack.h"

#include <stdlib.h>
#include <string.h>

#include "codec/png/deflate/deflate_fast.h"
#include "codec/png/inflate/inflate.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_mark.h"

enum {
    STRIPE_BYTES = 256 << 10, /* small enough for 16 threads to share a picture of 2 megapixels */
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4,
    WINDOW_BITS = 15,
    MEMORY_LEVEL = 8,
    FLUSH_BYTES = 16 /* the most bytes of an empty block and a few bits */
};

static int at_least_one(size_t count)
{
    return count > 1 ? (int)count : 1;
}

struct gf_png_layout gf_png_layout_make(int height, size_t row_bytes, int bpp, int level)
{
    struct gf_png_layout layout = {
        .height = height, .bpp = bpp, .level = level, .row_bytes = row_bytes};
    const size_t filtered = row_bytes + 1;
    layout.pitch = (row_bytes + 2 * GF_PNG_MARGIN + 31) / 32 * 32;
    if (level == GF_PNG_FAST_LEVEL)
        layout.rows = gf_png_mark_rows(row_bytes, height);
    else
        layout.rows = at_least_one(STRIPE_BYTES / filtered);
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

int gf_png_stripe_above(const struct gf_png_layout *layout, int index)
{
    const int64_t before = (int64_t)index * layout->rows;
    if (layout->level <= GF_PNG_FAST_LEVEL)
        return 0;
    return before < layout->window_rows + 1 ? (int)before : layout->window_rows + 1;
}

int gf_png_stripe_rows(const struct gf_png_layout *layout, int index)
{
    const int rest = layout->height - index * layout->rows;
    return rest < layout->rows ? rest : layout->rows;
}

bool gf_png_packer_open(struct gf_png_packer *packer, const struct gf_png_layout *layout)
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

void gf_png_packer_close(struct gf_png_packer *packer)
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
    const int above = gf_png_stripe_above(layout, stripe->index);
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

void gf_png_stripe_end(struct gf_png_stripe *stripe, uint32_t adler)
{
    gf_png_put_be32(stripe->chunk + GF_PNG_HEAD_BYTES + stripe->data_bytes, adler);
    stripe->chunk_bytes =
        gf_png_chunk_close(stripe->chunk, "IDAT", stripe->data_bytes + ADLER_BYTES);
}

bool gf_png_pack(struct gf_png_packer *packer, const struct gf_png_layout *layout,
                 struct gf_png_stripe *stripe)
{
    const int rows = gf_png_stripe_rows(layout, stripe->index);
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
