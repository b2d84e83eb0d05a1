/* Deflate for PNG: packing at compression level 1, and unpacking. First Huffman codes with a
 * limited length (RFC 1951). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GF_HUFFMAN_SYMBOLS = 288, GF_HUFFMAN_LONGEST = 15 };

/* Finds the code lengths of symbols that occur `frequency` times: at most `longest` bits, 0 for a
 * symbol that does not occur. At least two symbols must occur. */
void gf_huffman_lengths(const uint32_t *frequency, int symbols, int longest, uint8_t *lengths);

/* Makes the codes with these lengths. The first bit of a code is its lowest bit, as in deflate. */
void gf_huffman_codes(const uint8_t *lengths, int symbols, uint16_t *codes);

/* The coder writes literals and matches in one block whose Huffman codes are fitted to the whole
 * piece. README.md defines the bytes, which GPUs write, too. */

/* Returns the bytes for which `out` must have room. */
size_t gf_deflate_fast_bound(size_t size);
/* Returns the bytes for which `scratch` must have room. */
size_t gf_deflate_fast_scratch(size_t size);

/* Writes blocks of a raw deflate stream and returns their size in bytes. Unless they are the `last`
 * blocks of the stream, they end at a whole byte, so that others can follow. They refer to nothing
 * before `data`, which has at least one byte. */
size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, void *scratch, uint8_t *out);

/* Finds the matches for level 1. Matches begin at granules of eight bytes, so that every thread of
 * a GPU can search independently; README.md defines them. */

enum { GF_DEFLATE_GRANULE = 8, GF_DEFLATE_LONGEST = 258, GF_DEFLATE_SHORTEST = 3 };

/* A match: the `length` bytes from `start` on equal the bytes `distance` before them. */
struct gf_deflate_match {
    uint32_t start, length, distance;
};

/* A piece of data and its matches in order, at most one for each whole granule. All other bytes are
 * literals. */
struct gf_deflate_piece {
    const uint8_t *data;
    size_t size;
    struct gf_deflate_match *match;
    size_t matches;
};

/* Returns the length of the next part of a long match. The rest is never too short for a match. */
static inline size_t gf_deflate_part(size_t length)
{
    if (length <= GF_DEFLATE_LONGEST)
        return length;
    return length - GF_DEFLATE_LONGEST < GF_DEFLATE_SHORTEST
               ? GF_DEFLATE_LONGEST - GF_DEFLATE_SHORTEST
               : GF_DEFLATE_LONGEST;
}

/* The Huffman codes of a level 1 block, which are fitted to its contents and written in its
 * head. */
enum {
    GF_DEFLATE_END = 256, /* symbol that ends a block */
    GF_DEFLATE_SYMBOLS = 286,
    GF_DEFLATE_DISTANCES = 30,
    GF_DEFLATE_LENGTHS = 19,  /* number of symbols of the code for the code lengths */
    GF_DEFLATE_CODE_BITS = 14 /* four codes and seven older bits fit in a word */
};

/* Bits that are not written yet. The lowest bit is the next. */
struct gf_deflate_bits {
    uint64_t held;
    unsigned count; /* number of bits; below 8 after gf_deflate_flush() */
    uint8_t *out;
};

static inline void gf_deflate_put(struct gf_deflate_bits *bits, uint64_t value, unsigned count)
{
    bits->held |= value << bits->count;
    bits->count += count;
}

/* Writes the whole bytes. The seven bytes after them are overwritten, too. */
static inline void gf_deflate_flush(struct gf_deflate_bits *bits)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t word = __builtin_bswap64(bits->held);
#else
    const uint64_t word = bits->held;
#endif
    memcpy(bits->out, &word, sizeof word);
    bits->out += bits->count >> 3;
    bits->held >>= bits->count & ~7u;
    bits->count &= 7;
}

/* Code lengths in bits; 0 for a symbol that does not occur. */
struct gf_deflate_code {
    uint8_t literal[GF_DEFLATE_SYMBOLS], distance[GF_DEFLATE_DISTANCES];
    uint64_t bits; /* size of the whole block: head, data and end */
    /* The head: the symbols for the code lengths, each with its extra bits. */
    int literals, distances, tokens;
    struct {
        uint8_t symbol, extra, rest;
    } token[GF_DEFLATE_SYMBOLS + GF_DEFLATE_DISTANCES];
    uint8_t length[GF_DEFLATE_LENGTHS];
};

/* Fits a code to literals and matches. repeats: matches have any distance; otherwise only the
 * distance 1. */
void gf_deflate_fit(const struct gf_deflate_piece *piece, bool repeats,
                    struct gf_deflate_code *code);
/* Writes the head of the block. */
void gf_deflate_put_head(struct gf_deflate_bits *bits, const struct gf_deflate_code *code,
                         bool last);

/* Return the symbols of a match's length and of its distance; `extra` bits follow a symbol and
 * contain `rest`. */
int gf_deflate_length_symbol(size_t length, unsigned *extra, unsigned *rest);
int gf_deflate_distance_symbol(uint32_t distance, unsigned *extra, unsigned *rest);

/* The Huffman codes of literals. Literals are written 64 at a time on processors with AVX-512
 * VBMI. */

struct gf_deflate_symbol {
    uint16_t bits, count;
};

enum { GF_DEFLATE_LITERALS = 256 };
/* The literals' codes as tables for AVX-512: the lower bytes, the upper bytes, and the numbers of
 * bits. */
enum { GF_DEFLATE_LOW, GF_DEFLATE_HIGH, GF_DEFLATE_COUNT, GF_DEFLATE_TABLES };

struct gf_deflate_literals {
    struct gf_deflate_symbol symbol[GF_DEFLATE_END + 1];
    uint8_t table[GF_DEFLATE_TABLES][GF_DEFLATE_LITERALS];
    bool vbmi; /* the processor has VBMI, and the tables are filled */
};

/* Fills the tables. `length` and `code` have an element for each literal and for the symbol that
 * ends the block. */
void gf_deflate_literals_fill(const uint8_t *length, const uint16_t *code,
                              struct gf_deflate_literals *literals);
/* Writes the literals from `at` to `end`. */
void gf_deflate_put_literals(struct gf_deflate_bits *bits,
                             const struct gf_deflate_literals *literals, const uint8_t *at,
                             const uint8_t *end);

static inline void gf_deflate_put_symbol(struct gf_deflate_bits *bits,
                                         struct gf_deflate_symbol symbol)
{
    gf_deflate_put(bits, symbol.bits, symbol.count);
    gf_deflate_flush(bits);
}

/* ---- unpacking (inflate.c, inflate_stripe.c) ---- */

/* Decompresses a zlib stream in pieces: by ISA-L if the build finds it, otherwise by zlib. ISA-L
 * takes half of zlib's time for photographs. */

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
