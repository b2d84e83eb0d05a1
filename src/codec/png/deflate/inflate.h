/* Decompresses a zlib stream in pieces: by ISA-L if the build finds it, otherwise by zlib. ISA-L
 * takes half of zlib's time for photographs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_inflate;

enum gf_inflate_result {
    GF_INFLATE_NEEDS_INPUT, /* all input is used */
    GF_INFLATE_OUTPUT_FULL, /* the output is full, and there may be more */
    GF_INFLATE_END,         /* the stream has ended and its checksum is right */
    GF_INFLATE_ERROR
};

struct gf_inflate *gf_inflate_open(void); /* NULL when out of memory */
void gf_inflate_close(struct gf_inflate *inflate);
/* Sets the next input, after the last input is used. The bytes must stay in memory until they are
 * used. */
void gf_inflate_feed(struct gf_inflate *inflate, const uint8_t *data, size_t size);
/* Decompresses up to `room` bytes to `out`, as far as the input suffices. *got becomes their
 * number. */
enum gf_inflate_result gf_inflate_run(struct gf_inflate *inflate, uint8_t *out, size_t room,
                                      size_t *got);
/* Returns the number of input bytes that are not used yet. */
size_t gf_inflate_left(const struct gf_inflate *inflate);
/* Describes the stream's damage in zlib's words. */
const char *gf_inflate_message(const struct gf_inflate *inflate);

/* Continues PNG's checksum, CRC-32, over `size` more bytes. */
uint32_t gf_crc32(uint32_t crc, const uint8_t *data, size_t size);
/* Computes Adler-32, zlib's checksum, in a form that compilers vectorise. */
uint32_t gf_adler32(const uint8_t *data, size_t size);

/* The name of the library in use: "zlib" or "ISA-L". */
extern const char gf_inflate_name[];

/* Decompresses a stripe of a marked PNG: a piece of a raw deflate stream that refers to nothing
 * before it. The decoder knows only the kinds of blocks that level 1 writes. It is faster than
 * gf_inflate_run(), which decompresses other data, because one look-up in its table gives two
 * literals. */

/* The number of bytes after `data` that must be readable, and after `out` that may be
 * overwritten. */
enum { GF_INFLATE_STRIPE_MARGIN = 16 };

/* Decompresses `size` bytes to `room` bytes. Returns false unless the data consists of blocks that
 * give exactly these bytes and end at a whole byte, and the final block is marked as such only if
 * the stripe is the `last`. */
bool gf_inflate_stripe(const uint8_t *data, size_t size, bool last, uint8_t *out, size_t room);
