/* How a zlib stream is mutated: mostly a new one is made of random bytes by zlib at a random level
 * and strategy, and then perhaps damaged. libFuzzer sees nothing of what the libraries do with a
 * stream, so that it would keep none of those that take much to find. */
#pragma once

#include <zlib.h>

#include "random.h"

/* Bytes in which there is something to find again, more or less often. */
static size_t make_raw(uint8_t *raw, size_t most)
{
    const size_t size = random_below(2) ? random_below((unsigned)most + 1) : random_below(100);
    const unsigned letters = 1u << random_below(9), repeats = random_below(20);
    for (size_t i = 0; i < size; i++) {
        size_t length = i && random_below(20) < repeats ? 3 + random_below(300) : 0;
        const size_t back = 1 + (i ? random_below((unsigned)i) : 0);
        raw[i] = (uint8_t)(random_below(letters) * 7);
        for (; length && i < size; length--, i++)
            raw[i] = raw[i - back];
    }
    return size;
}

/* Several blocks, of several levels and strategies. */
static size_t make_stream(uint8_t *data, size_t max_size)
{
    static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK};
    static uint8_t raw[3000];
    const size_t size = make_raw(raw, sizeof raw);
    z_stream stream = {.next_in = raw, .next_out = data, .avail_out = (uInt)max_size};
    if (deflateInit2(&stream, (int)random_below(10), Z_DEFLATED, 15, 1 + (int)random_below(3),
                     (int)random_below(5)) != Z_OK)
        return 0;
    while (stream.total_in < size && stream.avail_out) {
        stream.avail_in = 1 + random_below((unsigned)(size - stream.total_in));
        if (deflate(&stream, flushes[random_below(5)]) != Z_OK)
            break;
        if (!random_below(3))
            (void)deflateParams(&stream, (int)random_below(10), (int)random_below(5));
    }
    (void)deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return max_size - stream.avail_out;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    random_start(seed);
    if (random_below(4))
        size = make_stream(data, max_size);
    for (unsigned i = random_below(4); i; i--)
        size = LLVMFuzzerMutate(data, size, max_size);
    return size ? size : LLVMFuzzerMutate(data, size, max_size);
}
