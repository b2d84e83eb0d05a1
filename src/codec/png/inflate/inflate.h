/* Decompresses a zlib stream piece by piece: by ISA-L where the build finds it, else by zlib. ISA-L
 * takes half of zlib's time for photographs. */
#ifndef GF_CODEC_PNG_INFLATE_INFLATE_H
#define GF_CODEC_PNG_INFLATE_INFLATE_H

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
/* Sets the next input, after the last one is used. The bytes must stay in memory until they are
 * used. */
void gf_inflate_feed(struct gf_inflate *inflate, const uint8_t *data, size_t size);
/* Decompresses up to `room` bytes to `out`, as far as the input suffices; *got is their number. */
enum gf_inflate_result gf_inflate_run(struct gf_inflate *inflate, uint8_t *out, size_t room,
                                      size_t *got);
/* The number of bytes of the input that are not used yet. */
size_t gf_inflate_left(const struct gf_inflate *inflate);
/* What is wrong with the stream, in zlib's words. */
const char *gf_inflate_message(const struct gf_inflate *inflate);

/* Continues PNG's checksum, CRC-32, over `size` more bytes. */
uint32_t gf_crc32(uint32_t crc, const uint8_t *data, size_t size);
/* Adler-32, zlib's checksum, in a form that compilers vectorise. (adler.c) */
uint32_t gf_adler32(const uint8_t *data, size_t size);

/* The library in use: "zlib" or "ISA-L". */
extern const char gf_inflate_name[];

/* Decompresses a stripe of a marked PNG: a piece of a raw deflate stream that refers to nothing
 * before it. The decoder knows only the kinds of blocks that level 1 writes, and is faster than
 * inflate.h at them, since one look at its table gives two literals. Other data is left to
 * inflate.h. */

/* Number of bytes behind `data` that must be readable, and behind `out` that may be overwritten. */
enum { GF_INFLATE_STRIPE_MARGIN = 16 };

/* Decompresses `size` bytes to `room` bytes. False unless the data consists of blocks that give
 * exactly these bytes and end at a whole byte, and the final block is marked as such only where the
 * stripe is `last`. */
bool gf_inflate_stripe(const uint8_t *data, size_t size, bool last, uint8_t *out, size_t room);

#endif
