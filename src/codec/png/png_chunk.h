/* The chunks of a PNG: their numbers and checksums, and functions that write them. */
#pragma once

#include "codec/io/output.h"
#include "gpufilter/image.h"

enum {
    GF_PNG_HEAD_BYTES = 8,      /* the length and the type of a chunk */
    GF_PNG_SIGNATURE_BYTES = 8, /* the bytes with which every PNG begins */
    GF_PNG_HEADER_BYTES = 25,   /* the whole IHDR chunk */
    GF_PNG_CRC_BYTES = 4,       /* the checksum after a chunk's data */
    GF_PNG_CHUNK_LEAST = GF_PNG_HEAD_BYTES + GF_PNG_CRC_BYTES,
    GF_PNG_ANIMATION_BYTES = 8,       /* the data of acTL: the numbers of frames and of loops */
    GF_PNG_CONTROL_BYTES = 26,        /* the data of fcTL, before each frame of an animation */
    GF_PNG_SEQUENCE_BYTES = 4,        /* the number with which fcTL and fdAT begin */
    GF_PNG_CHUNK_LONGEST = 0x7fffffff /* the most bytes of data in a chunk */
};

static inline uint32_t gf_png_get_be32(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static inline void gf_png_put_be32(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Completes a chunk whose `size` bytes of data have GF_PNG_HEAD_BYTES bytes before them and
 * GF_PNG_CRC_BYTES bytes after them. Returns the size of the chunk in bytes. */
size_t gf_png_chunk_close(unsigned char *chunk, const char *type, size_t size);

/* Returns PNG's colour type of pixels without a palette. */
int gf_png_colour_type(struct gf_format format);
/* Makes the IHDR chunk. */
void gf_png_make_header(unsigned char chunk[GF_PNG_HEADER_BYTES], struct gf_format format, int bits,
                        int colour_type);
/* Writes the signature and the IHDR chunk. */
enum gf_status gf_png_write_header(struct gf_output *output, struct gf_format format, int bits,
                                   int colour_type, struct gf_error *error) GF_CHECKED;

/* Writes one chunk of any type. */
enum gf_status gf_png_chunk_write(struct gf_output *output, const char *type, const void *data,
                                  size_t size, struct gf_error *error) GF_CHECKED;
