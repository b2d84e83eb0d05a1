/* The chunks that a PNG consists of: their numbers, their checksums, and how one is written. */
#ifndef GF_CODEC_PNG_PNG_CHUNK_H
#define GF_CODEC_PNG_PNG_CHUNK_H

#include "codec/io/output.h"
#include "gpufilter/image.h"

enum {
    GF_PNG_HEAD_BYTES = 8,            /* the length and the type of a chunk */
    GF_PNG_SIGNATURE_BYTES = 8,       /* what a file begins with */
    GF_PNG_HEADER_BYTES = 25,         /* the chunk behind it, IHDR */
    GF_PNG_CRC_BYTES = 4,             /* the checksum behind its data */
    GF_PNG_CHUNK_LONGEST = 0x7fffffff /* bytes of data */
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

/* Makes a chunk of the `size` bytes that stand behind GF_PNG_HEAD_BYTES for its head, and before
 * GF_PNG_CRC_BYTES for its checksum. Returns the size of the chunk. */
size_t gf_png_chunk_close(unsigned char *chunk, const char *type, size_t size);

/* PNG's number for pixels without a palette. */
int gf_png_colour_type(struct gf_format format);
/* Makes the IHDR chunk. */
void gf_png_make_header(unsigned char chunk[GF_PNG_HEADER_BYTES], struct gf_format format, int bits,
                        int colour_type);
/* Writes the signature and IHDR. */
enum gf_status gf_png_write_header(struct gf_output *output, struct gf_format format, int bits,
                                   int colour_type, struct gf_error *error) GF_CHECKED;

/* Writes one chunk of any type. */
enum gf_status gf_png_chunk_write(struct gf_output *output, const char *type, const void *data,
                                  size_t size, struct gf_error *error) GF_CHECKED;

#endif
