/* What a PNG file's chunks say about the decoding of its pixels on a GPU, to which the file is
 * given unchanged. All checksums but those of the IDAT chunks are checked here; the GPU checks
 * these. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_png_file {
    int width, height;
    int channels, bits; /* the format of the decoded picture, in which the CPU decodes it, too */
    /* The rows in the file: bits of a sample and colour type, as in IHDR, and bytes of a row. */
    int depth, colour_type;
    size_t row_bytes;
    /* A file with the mark (README.md) has independent stripes of `rows` rows, an IDAT chunk each.
     * Any other file is one stripe, whose stream may be cut into chunks anywhere. */
    bool marked;
    int rows, stripes, chunks;
    size_t first;        /* offset of the first IDAT chunk */
    size_t chunk_bytes;  /* bytes of all IDAT chunks together */
    size_t stream_bytes; /* bytes of their data */
    uint32_t adler;      /* the last four of these: the checksum of all rows */
    /* Offset and bytes of the data of PLTE and tRNS; 0 bytes: there is no such chunk. */
    size_t palette, palette_bytes, transparent, transparent_bytes;
};

/* Reads the chunks. Returns false if the CPU must decode the file: interlaced pictures,
 * animations, and whatever is unusual or damaged. */
bool gf_png_file_read(const unsigned char *data, size_t size, struct gf_png_file *file);

/* Whether a zlib stream that begins with the byte, and contains `raw` bytes, may refer to any of
 * its last 32 KB. */
bool gf_png_whole_window(unsigned char first, uint64_t raw);

/* Whether the rows in the file are those of the picture, but for the order of a sample's bytes. */
static inline bool gf_png_is_plain(const struct gf_png_file *file)
{
    return file->depth >= 8 && file->colour_type != 3 && !file->transparent_bytes;
}
