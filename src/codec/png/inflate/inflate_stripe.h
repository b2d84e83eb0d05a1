/* Decompresses a stripe of a marked PNG: a piece of a raw deflate stream that refers to nothing
 * before it. The decoder knows only the kinds of blocks that level 1 writes, and is faster than
 * inflate.h at them, since one look at its table gives two literals. Other data is left to
 * inflate.h. */
#ifndef GF_CODEC_PNG_INFLATE_INFLATE_STRIPE_H
#define GF_CODEC_PNG_INFLATE_INFLATE_STRIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of bytes behind `data` that must be readable, and behind `out` that may be overwritten. */
enum { GF_INFLATE_STRIPE_MARGIN = 16 };

/* Decompresses `size` bytes to `room` bytes. False unless the data consists of blocks that give
 * exactly these bytes and end at a whole byte, and the final block is marked as such only where the
 * stripe is `last`. */
bool gf_inflate_stripe(const uint8_t *data, size_t size, bool last, uint8_t *out, size_t room);

#endif
