/* How a PNG is mutated: its bytes, its order of chunks, or the bytes that its IDAT unpacks to; and
 * half of the time a new one is made before. The checksums are then made right, mostly, since
 * nothing that lies behind them would be reached otherwise. */
#pragma once

#include <stdlib.h>

#include "png_maker.h"

enum { PNG_HEAD = 8, CHUNK_EXTRA = 12, RAW_MAX = 64 << 10 };

static uint32_t get_word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The size of the chunk there with its head and checksum; 0 where none is whole. */
static size_t chunk_size(const uint8_t *data, size_t size, size_t at)
{
    if (at > size || size - at < CHUNK_EXTRA || get_word(data + at) > size - at - CHUNK_EXTRA)
        return 0;
    return get_word(data + at) + CHUNK_EXTRA;
}

static void repair_checksums(uint8_t *data, size_t size)
{
    for (size_t at = PNG_HEAD, n; (n = chunk_size(data, size, at)); at += n)
        put_word(data + at + n - 4, (uint32_t)crc32(0, data + at + 4, (uInt)n - 8));
}

/* Where chunk `index`, modulo their number, begins; 0 where there is none. */
static size_t find_chunk(const uint8_t *data, size_t size, unsigned index)
{
    unsigned count = 0;
    size_t at = PNG_HEAD;
    for (size_t n; (n = chunk_size(data, size, at)); at += n)
        count++;
    at = PNG_HEAD;
    for (unsigned i = 0; count && i < index % count; i++)
        at += chunk_size(data, size, at);
    return count ? at : 0;
}

/* Copies one chunk before another. */
static size_t copy_chunk(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    const size_t from = find_chunk(data, size, seed & 15), to = find_chunk(data, size, seed >> 4);
    const size_t n = from ? chunk_size(data, size, from) : 0;
    if (!n || size + n > max_size)
        return size;
    uint8_t *const copy = malloc(n);
    memcpy(copy, data + from, n);
    memmove(data + to + n, data + to, size - to);
    memcpy(data + to, copy, n);
    free(copy);
    return size + n;
}

static size_t remove_chunk(uint8_t *data, size_t size, unsigned seed)
{
    const size_t at = find_chunk(data, size, seed), n = at ? chunk_size(data, size, at) : 0;
    memmove(data + at, data + at + n, size - at - n);
    return size - n;
}

/* Unpacks the first IDAT, mutates the rows, and packs them again. */
static size_t mutate_rows(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static uint8_t raw[RAW_MAX], packed[RAW_MAX + 1024];
    size_t at = PNG_HEAD, n;
    while ((n = chunk_size(data, size, at)) && memcmp(data + at + 4, "IDAT", 4) != 0)
        at += n;
    if (!n)
        return size;
    z_stream stream = {.next_in = data + at + 8,
                       .avail_in = (uInt)(n - CHUNK_EXTRA),
                       .next_out = raw,
                       .avail_out = RAW_MAX / 2};
    if (inflateInit(&stream) != Z_OK)
        return size;
    (void)inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    const size_t length = LLVMFuzzerMutate(raw, RAW_MAX / 2 - stream.avail_out, RAW_MAX);
    uLongf room = sizeof packed;
    if (compress2(packed, &room, raw, length, (int)(seed % 10)) != Z_OK ||
        size - n + CHUNK_EXTRA + room > max_size)
        return size;
    memmove(data + at + CHUNK_EXTRA + room, data + at + n, size - at - n);
    put_word(data + at, (uint32_t)room);
    memcpy(data + at + 8, packed, room);
    return size - n + CHUNK_EXTRA + room;
}

static size_t mutate_chunks(uint8_t *data, size_t size, size_t max_size, unsigned how)
{
    if (size < PNG_HEAD + CHUNK_EXTRA || how < 7)
        size = LLVMFuzzerMutate(data, size, max_size);
    else if (how < 9)
        size = copy_chunk(data, size, max_size, random_below(256));
    else if (how < 10)
        size = remove_chunk(data, size, random_below(256));
    else
        size = mutate_rows(data, size, max_size, random_below(256));
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    random_start(seed);
    const bool is_new = random_below(2);
    if (is_new)
        size = make_png(data, max_size);
    if (!is_new || random_below(2))
        size = mutate_chunks(data, size, max_size, random_below(14));
    if (size >= PNG_HEAD && random_below(8))
        repair_checksums(data, size);
    return size ? size : 1;
}
