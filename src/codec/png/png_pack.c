#include "codec/png/png_pack.h"

#include <stdlib.h>
#include <string.h>

#include "codec/png/adler.h"
#include "codec/png/deflate_fast.h"

enum {
    STRIPE_BYTES = 256 << 10, /* small enough for 16 threads to share two megapixels */
    HEAD_BYTES = 8,           /* of a chunk; its checksum takes 4 more */
    TAIL_BYTES = 4,
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4,
    LEVEL_OF_DRAWINGS = 4, /* zlib's, for the stripes that the fast level leaves to it */
    WINDOW_BITS = 15,
    MEMORY_LEVEL = 8,
    FLUSH_BYTES = 16 /* that an empty block and a few bits can take */
};

static int at_least_one(size_t count)
{
    return count > 1 ? (int)count : 1;
}

struct gf_png_cut gf_png_cut_make(int height, size_t row_bytes, int bpp, int level)
{
    struct gf_png_cut cut = {.height = height, .bpp = bpp, .level = level, .row_bytes = row_bytes};
    const size_t filtered = row_bytes + 1;
    cut.pitch = (row_bytes + 2 * GF_PNG_MARGIN + 31) / 32 * 32;
    cut.rows = at_least_one(STRIPE_BYTES / filtered);
    cut.rows = cut.rows < height ? cut.rows : height;
    cut.count = (height + cut.rows - 1) / cut.rows;
    if (level)
        cut.window_rows = (int)((GF_PNG_WINDOW + filtered - 1) / filtered);
    if (cut.window_rows > height)
        cut.window_rows = height;
    cut.raw_bytes = cut.pitch * (size_t)(1 + cut.window_rows + cut.rows);
    cut.filtered_bytes = filtered * (size_t)(cut.window_rows + cut.rows) + GF_PNG_MARGIN;
    const size_t stripe_bytes = filtered * (size_t)cut.rows;
    const size_t packed = level == GF_PNG_FAST_LEVEL
                              ? gf_deflate_fast_bound(stripe_bytes)
                              : compressBound((uLong)stripe_bytes) + stripe_bytes / 1000;
    cut.chunk_bytes =
        HEAD_BYTES + ZLIB_HEAD_BYTES + packed + FLUSH_BYTES + ADLER_BYTES + TAIL_BYTES;
    return cut;
}

int gf_png_stripe_above(const struct gf_png_cut *cut, int index)
{
    const int64_t before = (int64_t)index * cut->rows;
    return before < cut->window_rows + 1 ? (int)before : cut->window_rows + 1;
}

int gf_png_stripe_rows(const struct gf_png_cut *cut, int index)
{
    const int rest = cut->height - index * cut->rows;
    return rest < cut->rows ? rest : cut->rows;
}

bool gf_png_packer_open(struct gf_png_packer *packer, const struct gf_png_cut *cut)
{
    const int level = cut->level == GF_PNG_FAST_LEVEL ? LEVEL_OF_DRAWINGS : cut->level;
    packer->filters = gf_png_filters();
    packer->filtered = malloc(cut->filtered_bytes);
    packer->other = malloc(cut->chunk_bytes);
    /* The strategy that libpng takes for filtered rows: from level 4 on smaller than the default
     * one. */
    packer->zlib_open = deflateInit2(&packer->zlib, level, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL,
                                     Z_FILTERED) == Z_OK;
    return packer->filtered && packer->other && packer->zlib_open;
}

void gf_png_packer_close(struct gf_png_packer *packer)
{
    if (packer->zlib_open)
        deflateEnd(&packer->zlib);
    free(packer->filtered);
    free(packer->other);
}

/* Rows from `first` on, which count from the stripe's own first, to where they belong. */
static uint8_t *filter_rows(const struct gf_png_packer *packer, const struct gf_png_cut *cut,
                            const struct gf_png_stripe *stripe, int first, int end)
{
    const size_t filtered = cut->row_bytes + 1;
    uint8_t *const begin = packer->filtered + filtered * (size_t)(cut->window_rows + first);
    uint8_t *out = begin;
    for (int y = first; y < end; y++, out += filtered) {
        const uint8_t *const row = gf_png_stripe_row(cut, stripe, y);
        if (cut->level) {
            gf_png_filter_row(packer->filters, row, row - cut->pitch, cut->row_bytes, cut->bpp,
                              out);
        } else {
            out[0] = GF_PNG_NONE;
            memcpy(out + 1, row, cut->row_bytes);
        }
    }
    return begin;
}

/* By zlib, with the window. 0 where that takes more than `room`. */
static size_t deflate_rows(struct gf_png_packer *packer, const struct gf_png_cut *cut,
                           const struct gf_png_stripe *stripe, const uint8_t *own, uint8_t *out,
                           size_t room)
{
    z_stream *const zlib = &packer->zlib;
    const int above = gf_png_stripe_above(cut, stripe->index);
    const int rows = above < cut->window_rows ? above : cut->window_rows;
    const size_t before = (size_t)(own - filter_rows(packer, cut, stripe, -rows, 0));
    const size_t window = before < GF_PNG_WINDOW ? before : GF_PNG_WINDOW;
    const bool last = stripe->index + 1 == cut->count;
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

/* In one pass; what is not like a photograph also by zlib, if that turns out smaller. */
static size_t deflate_fast(struct gf_png_packer *packer, const struct gf_png_cut *cut,
                           const struct gf_png_stripe *stripe, const uint8_t *own, uint8_t *out)
{
    const bool last = stripe->index + 1 == cut->count;
    const size_t packed = gf_deflate_fast(own, stripe->filtered_bytes, last, out);
    if (!gf_deflate_mostly_runs(own, stripe->filtered_bytes))
        return packed;
    const size_t smaller = deflate_rows(packer, cut, stripe, own, packer->other, packed - 1);
    if (smaller)
        memcpy(out, packer->other, smaller);
    return smaller ? smaller : packed;
}

/* Deflate, a window of 32 KB, and how hard was tried; together a multiple of 31. */
static void put_zlib_head(uint8_t *out, int level)
{
    const int effort = level <= 1 ? 0 : level <= 5 ? 1 : level == 6 ? 2 : 3;
    const int head = 0x78 << 8 | effort << 6;
    out[0] = 0x78;
    out[1] = (uint8_t)(head + 31 - head % 31);
}

static void put_be32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

size_t gf_png_chunk_close(uint8_t *chunk, const char *type, size_t size)
{
    put_be32(chunk, (uint32_t)size);
    memcpy(chunk + 4, type, 4);
    put_be32(chunk + HEAD_BYTES + size, (uint32_t)crc32_z(0, chunk + 4, size + 4));
    return HEAD_BYTES + size + TAIL_BYTES;
}

void gf_png_stripe_end(struct gf_png_stripe *stripe, uint32_t adler)
{
    put_be32(stripe->chunk + HEAD_BYTES + stripe->data_bytes, adler);
    stripe->chunk_bytes =
        gf_png_chunk_close(stripe->chunk, "IDAT", stripe->data_bytes + ADLER_BYTES);
}

bool gf_png_pack(struct gf_png_packer *packer, const struct gf_png_cut *cut,
                 struct gf_png_stripe *stripe)
{
    const int rows = gf_png_stripe_rows(cut, stripe->index);
    const uint8_t *const own = filter_rows(packer, cut, stripe, 0, rows);
    uint8_t *const data = stripe->chunk + HEAD_BYTES;
    const size_t head = stripe->index ? 0 : ZLIB_HEAD_BYTES;
    if (head)
        put_zlib_head(data, cut->level);
    stripe->filtered_bytes = (size_t)rows * (cut->row_bytes + 1);
    stripe->adler = gf_adler32(own, stripe->filtered_bytes);
    const size_t room = cut->chunk_bytes - HEAD_BYTES - head - ADLER_BYTES - TAIL_BYTES;
    const size_t packed = cut->level == GF_PNG_FAST_LEVEL
                              ? deflate_fast(packer, cut, stripe, own, data + head)
                              : deflate_rows(packer, cut, stripe, own, data + head, room);
    stripe->data_bytes = head + packed;
    if (stripe->index + 1 < cut->count)
        stripe->chunk_bytes = gf_png_chunk_close(stripe->chunk, "IDAT", stripe->data_bytes);
    return packed > 0;
}
