/* The chunks of a PNG: their numbers and checksums, functions that write them, the metadata in
 * them, and the mark of independent stripes. */
#pragma once

#include "codec/common/metadata/metadata.h"
#include "codec/io/input.h"
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

enum gf_status gf_png_chunk_write(struct gf_output *output, const char *type, const void *data,
                                  size_t size, struct gf_error *error) GF_CHECKED;

struct gf_png_chunk {
    const char *type; /* four letters and a zero */
    const unsigned char *data;
    size_t size;
    uint32_t crc; /* the checksum in the file */
};

bool gf_png_chunk_is_sound(const struct gf_png_chunk *chunk); /* whether its checksum is right */

/* Adds the metadata of a chunk, if it contains any. Damaged metadata is left out with a warning.
 * Returns false when out of memory. */
bool gf_png_add_metadata(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                         const struct gf_options *options, const char *file);

/* Adds the metadata of the chunks after `offset` in a regular file, up to its end or the first
 * damage. *frameless becomes whether it ends without an fcTL chunk. Returns false when out of
 * memory. */
bool gf_png_add_late_metadata(struct gf_metadata *metadata, struct gf_input *input, int64_t offset,
                              const struct gf_options *options, bool *frameless);

/* Writes the chunks of metadata, which are between the header and the pixels. The metadata is from
 * gf_metadata_for_output(). */
enum gf_status gf_png_write_metadata(struct gf_output *output, const struct gf_metadata *metadata,
                                     struct gf_error *error) GF_CHECKED;

/* ImageMagick and exiftool store EXIF, XMP and IPTC as hexadecimal numbers in tEXt and zTXt chunks
 * whose keyword begins with "Raw profile type". A PNG has no other place for IPTC. */

#define GF_PNG_RAW_PROFILE "Raw profile type " /* beginning of the keyword */

enum { GF_PNG_METADATA_CHUNK_MAX = GF_METADATA_MAX + 4096 }; /* a longer chunk is skipped */

/* The mark (a chunk) of a PNG whose stripes of rows are independent, as compression level 1 writes
 * them; README.md defines it. The chunk precedes the first IDAT. */

#define GF_PNG_MARK "gfST" /* a private ancillary chunk, which no editor copies */

enum { GF_PNG_MARK_VERSION = 1, GF_PNG_MARK_BYTES = 5 };

/* Returns the number of rows of a stripe at level 1. row_bytes does not include the filter's
 * number. */
int gf_png_mark_rows(size_t row_bytes, int height);

/* Writes the chunk. */
enum gf_status gf_png_mark_write(struct gf_output *output, int rows,
                                 struct gf_error *error) GF_CHECKED;

/* Returns the number of rows of a stripe that the mark states; `before` if the chunk is no valid
 * mark. */
int gf_png_mark_read(const struct gf_png_chunk *chunk, int before);
