/* The codes of a GIF's pixels (LZW). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"

struct gf_gif_bytes {
    unsigned char *data;
    size_t size, room;
};

/* Pixels in the order in which they are coded. Each has one of two indices, which may be the same:
 * the coder takes that with which fewer codes follow. Of strings of the same length it takes the
 * newest or, as a rule, that of the earliest pixel with `either`. */
struct gf_gif_pixels {
    const unsigned char *either, *other;
    size_t count;
    bool newest;
};

struct gf_gif_coder;
struct gf_gif_coder *gf_gif_coder_open(void); /* NULL: out of memory */
void gf_gif_coder_close(struct gf_gif_coder *coder);
/* Replaces the bytes by the codes of the pixels, whose indices have so many bits (2..8). */
enum gf_status gf_gif_encode(struct gf_gif_coder *coder, const struct gf_gif_pixels *pixels,
                             int bits, struct gf_gif_bytes *bytes,
                             struct gf_error *error) GF_CHECKED;

/* A decoder for indices of 9 to 11 bits, which giflib refuses: their codes begin with 10 bits or
 * more. (gif_lzw_read.c) */
struct gf_gif_decoder {
    const unsigned char *at, *end; /* of the blocks, each behind its length */
    int left;                      /* bytes of the present block */
    int bits, size;                /* of an index, and of the next code */
    uint32_t value;                /* its first `count` bits are the next ones */
    int count;
    int next, last; /* codes: the next new one, and the one before, -1 after a clear code */
    int depth;      /* number of indices on the stack */
    uint16_t prefix[4096];
    unsigned char suffix[4096], stack[4096];
};

void gf_gif_decoder_open(struct gf_gif_decoder *decoder, int bits, const unsigned char *blocks,
                         const unsigned char *end);
/* Returns false if the codes are damaged or end too early. */
bool gf_gif_decode_line(struct gf_gif_decoder *decoder, unsigned char *line, int pixels);
