/* Unpacks a stripe of a marked PNG: a whole piece of a raw deflate stream that refers to nothing
 * before it. It knows what level 1 writes and a little more, and is faster than inflate.h at it:
 * one look at its table gives two literals. What it does not take is inflate.h's to judge. */
#ifndef GF_CODEC_PNG_INFLATE_INFLATE_STRIPE_H
#define GF_CODEC_PNG_INFLATE_INFLATE_STRIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many bytes behind `data` are readable, and behind `out` writable. */
enum { GF_INFLATE_STRIPE_MARGIN = 16 };

/* False: the data is not `size` bytes of blocks that unpack to `room` bytes and end at a byte's
 * end, the last of them marked as such only where the stripe is `last`. */
bool gf_inflate_stripe(const uint8_t *data, size_t size, bool last, uint8_t *out, size_t room);

#endif
