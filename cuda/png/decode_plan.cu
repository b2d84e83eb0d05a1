/* Computes the memory that a group of pictures needs for decoding, and the addresses of its
 * parts. */
#include "cuda/png/decode_plan.cuh"

#include <zlib.h>

#include "cuda/common/coder.cuh"

enum {
    TYPE_PLACE = 4,
    TYPE_BYTES = 4,
    HEAD_BYTES = 8,
    CRC_BYTES = 4,
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4
};

static unsigned row_bytes_of(const struct gf_png_marked *header)
{
    return (unsigned)(header->width * (header->channels * header->bits / 8)) + 1;
}

struct png_amounts gf_png_amounts(const struct gf_png_marked *header)
{
    const uint64_t stripe = aligned((uint64_t)row_bytes_of(header) * (uint64_t)header->rows);
    return {1, (uint64_t)header->stripes, aligned(header->chunk_bytes),
            stripe * (uint64_t)header->stripes};
}

struct png_amounts gf_png_sum(struct png_amounts a, struct png_amounts b)
{
    return {a.pictures + b.pictures, a.stripes + b.stripes, a.packed + b.packed,
            a.filtered + b.filtered};
}

struct png_layout gf_png_lay_out_stripes(unsigned char *memory, struct png_amounts amounts)
{
    struct arena arena = {memory, 0};
    struct png_layout layout;
    take(&arena, layout.stripes, amounts.stripes);
    take(&arena, layout.targets, amounts.pictures);
    layout.described_bytes = arena.used;
    take(&arena, layout.unpacked, amounts.stripes);
    const uint64_t returned = arena.used;
    take(&arena, layout.adlers, amounts.stripes);
    take(&arena, layout.flags, amounts.pictures);
    layout.returned_bytes = arena.used - returned;
    layout.copied_bytes = arena.used;
    take(&arena, layout.packed, amounts.packed);
    take(&arena, layout.filtered, amounts.filtered);
    layout.bytes = arena.used;
    return layout;
}

extern "C" uint64_t gf_png_decoder_bytes(const struct gf_png_marked *header, size_t size)
{
    (void)size;
    return gf_png_lay_out_stripes(NULL, gf_png_amounts(header)).bytes;
}

static unsigned big_endian(const unsigned char *from)
{
    return (unsigned)from[0] << 24 | (unsigned)from[1] << 16 | (unsigned)from[2] << 8 | from[3];
}

struct png_target gf_png_target(const struct gf_png_decode_picture *picture)
{
    const struct gf_png_marked *const header = picture->header;
    return {picture->out.data, picture->out.pitch, header->width,
            header->channels * header->bits / 8, header->bits == 16};
}

void gf_png_describe(const struct gf_png_decode_picture *picture, int index,
                     const unsigned char *packed, unsigned char *filtered,
                     struct png_stripe *stripes)
{
    const struct gf_png_marked *const header = picture->header;
    const unsigned row_bytes = row_bytes_of(header);
    uint64_t at = 0;
    for (int i = 0; i < header->stripes; i++) {
        const bool last = i + 1 == header->stripes;
        const unsigned size = big_endian(picture->data + header->first + at),
                       head = i ? 0 : ZLIB_HEAD_BYTES, tail = last ? ADLER_BYTES : 0;
        const int row = i * header->rows, rows = last ? header->height - row : header->rows;
        stripes[i] = {packed + at + TYPE_PLACE,
                      TYPE_BYTES + size,
                      packed + at + HEAD_BYTES + head,
                      size - head - tail,
                      filtered,
                      row_bytes * (unsigned)rows,
                      row_bytes,
                      row,
                      rows,
                      index,
                      last};
        filtered += aligned((uint64_t)row_bytes * (uint64_t)header->rows);
        at += HEAD_BYTES + (uint64_t)size + CRC_BYTES;
    }
}

bool gf_png_is_right(const struct gf_png_decode_picture *picture, const struct png_stripe *stripes,
                     const unsigned *adlers)
{
    const struct gf_png_marked *const header = picture->header;
    const unsigned char *const end = picture->data + header->first + header->chunk_bytes;
    uLong adler = 1;
    for (int i = 0; i < header->stripes; i++)
        adler = adler32_combine(adler, adlers[i], (z_off_t)stripes[i].filtered_bytes);
    return big_endian(end - CRC_BYTES - ADLER_BYTES) == adler;
}
