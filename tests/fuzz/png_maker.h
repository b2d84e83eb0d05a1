/* Makes a sound PNG of any kind, of random bytes. */
#pragma once

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "random.h"

enum { MADE_SIDE_MAX = 24, MADE_RAW_MAX = 8 * MADE_SIDE_MAX * MADE_SIDE_MAX * 2 + 1024 };

struct made_png {
    uint8_t *data;
    size_t size, max_size;
};

static void put_word(uint8_t *at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void put_chunk(struct made_png *png, const char *type, const uint8_t *data, size_t size)
{
    if (png->max_size - png->size < size + 12)
        return;
    uint8_t *const at = png->data + png->size;
    put_word(at, (uint32_t)size);
    memcpy(at + 4, type, 4);
    memcpy(at + 8, data, size);
    put_word(at + 8 + size, (uint32_t)crc32(0, at + 4, (uInt)size + 4));
    png->size += size + 12;
}

/* Rows of `width` pixels of so many bits, each behind a filter's number. */
static size_t make_rows(uint8_t *raw, size_t bits, unsigned width, unsigned height)
{
    const size_t row = 1 + (width * bits + 7) / 8;
    if (!width)
        return 0;
    random_fill(raw, row * height);
    for (unsigned y = 0; y < height; y++)
        raw[y * row] = (uint8_t)random_below(5);
    return row * height;
}

/* The rows of Adam7's passes. */
static size_t make_passes(uint8_t *raw, size_t bits, unsigned width, unsigned height)
{
    static const unsigned first_x[] = {0, 4, 0, 2, 0, 1, 0}, first_y[] = {0, 0, 4, 0, 2, 0, 1};
    static const unsigned step_x[] = {8, 8, 4, 4, 2, 2, 1}, step_y[] = {8, 8, 8, 4, 4, 2, 2};
    size_t size = 0;
    for (int pass = 0; pass < 7; pass++)
        size +=
            make_rows(raw + size, bits, (width + step_x[pass] - 1 - first_x[pass]) / step_x[pass],
                      (height + step_y[pass] - 1 - first_y[pass]) / step_y[pass]);
    return size;
}

/* As the program's level 1 has it: independent stripes, each an IDAT, behind a mark, which
 * sometimes lies. */
static void put_stripes(struct made_png *png, uint8_t *raw, size_t row, unsigned height)
{
    static uint8_t packed[2 * MADE_RAW_MAX];
    const unsigned rows = 1 + random_below(height);
    uint8_t mark[5] = {1};
    z_stream stream = {.next_out = packed, .avail_out = sizeof packed};
    put_word(mark + 1, random_below(8) ? rows : random_below(height + 2));
    put_chunk(png, "gfST", mark, sizeof mark);
    if (deflateInit(&stream, (int)random_below(2)) != Z_OK)
        return;
    for (unsigned y = 0; y < height; y += rows) {
        const unsigned count = height - y < rows ? height - y : rows;
        uint8_t *const begin = stream.next_out;
        stream.next_in = raw + y * row;
        stream.avail_in = (uInt)(count * row);
        if (random_below(20))
            raw[y * row] %= 2; /* a filter that looks at no row above */
        (void)deflate(&stream, y + count == height ? Z_FINISH
                               : random_below(8)   ? Z_FULL_FLUSH
                                                   : Z_SYNC_FLUSH);
        put_chunk(png, "IDAT", begin, (size_t)(stream.next_out - begin));
    }
    deflateEnd(&stream);
}

/* In several IDATs, mostly by a stream with the largest window. */
static void put_pixels(struct made_png *png, uint8_t *raw, size_t size)
{
    static uint8_t packed[2 * MADE_RAW_MAX];
    z_stream stream = {
        .next_in = raw, .avail_in = (uInt)size, .next_out = packed, .avail_out = sizeof packed};
    if (deflateInit2(&stream, (int)random_below(10), Z_DEFLATED,
                     random_below(4) ? 15 : 9 + (int)random_below(7), 1 + (int)random_below(3),
                     (int)random_below(5)) != Z_OK)
        return;
    (void)deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    const size_t piece = random_below(2) ? stream.total_out : 1 + random_below(200);
    for (size_t at = 0; at < stream.total_out; at += piece)
        put_chunk(png, "IDAT", packed + at,
                  stream.total_out - at < piece ? stream.total_out - at : piece);
}

static void put_extras(struct made_png *png, unsigned colour)
{
    static const char *const types[] = {"gAMA", "pHYs", "eXIf", "tEXt", "tIME", "bKGD", "iCCP"};
    uint8_t bytes[768];
    random_fill(bytes, sizeof bytes);
    if (colour == 3 || (colour & 2 && !random_below(8)))
        put_chunk(png, "PLTE", bytes, 3 * (1 + random_below(256)));
    for (size_t i = 0; i < 8; i++) /* samples of 16 bits that small depths can have, too */
        bytes[i] = i % 2 ? bytes[i] & 1 : 0;
    if (!(colour & 4) && !random_below(3))
        put_chunk(png, "tRNS", bytes, colour == 3 ? 1 + random_below(4) : colour == 2 ? 6 : 2);
    if (!random_below(4))
        put_chunk(png, types[random_below(7)], bytes, random_below(40));
}

static size_t make_png(uint8_t *data, size_t max_size)
{
    static const uint8_t kinds[][2] = {{0, 1}, {0, 2},  {0, 4},  {0, 8}, {0, 16},
                                       {2, 8}, {2, 16}, {3, 1},  {3, 2}, {3, 4},
                                       {3, 8}, {4, 8},  {4, 16}, {6, 8}, {6, 16}};
    static const uint8_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    static uint8_t raw[MADE_RAW_MAX];
    const uint8_t *const kind = kinds[random_below(sizeof kinds / sizeof *kinds)];
    const unsigned width = 1 + random_below(MADE_SIDE_MAX),
                   height = 1 + random_below(MADE_SIDE_MAX);
    const bool interlaced = !random_below(4);
    struct made_png png = {.data = data, .size = 8, .max_size = max_size};
    uint8_t header[13] = {0};
    if (max_size < 8)
        return 0;
    put_word(header, width);
    put_word(header + 4, height);
    memcpy(header + 8, (const uint8_t[]){kind[1], kind[0], 0, 0, interlaced}, 5);
    memcpy(data, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(&png, "IHDR", header, sizeof header);
    put_extras(&png, kind[0]);
    const size_t bits = (size_t)kind[1] * channels[kind[0]];
    const size_t raw_bytes =
        interlaced ? make_passes(raw, bits, width, height) : make_rows(raw, bits, width, height);
    if (!interlaced && !random_below(3))
        put_stripes(&png, raw, raw_bytes / height, height);
    else
        put_pixels(&png, raw, raw_bytes);
    if (!random_below(8))
        put_chunk(&png, "tEXt", header, random_below(13));
    put_chunk(&png, "IEND", header, 0);
    return png.size;
}
