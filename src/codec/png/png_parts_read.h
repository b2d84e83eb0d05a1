/* Reads the rows of a large PNG of anybody's on several threads. Its zlib stream is cut into parts,
 * which are unpacked side by side from guessed places on (inflate_part.h); then each takes over
 * from the part before it, and undoes the filters of its rows a few columns behind it. Where a
 * guess was wrong, or anything is damaged, reading ends: the caller reads the file anew as any
 * other. */
#ifndef GF_CODEC_PNG_PNG_PARTS_READ_H
#define GF_CODEC_PNG_PNG_PARTS_READ_H

#include "codec/io/input.h"
#include "codec/png/png_idat.h"
#include "gpufilter/pipeline.h"

enum {
    GF_PNG_PART_BYTES = 256 << 10,       /* packed; a block is rarely a quarter as long */
    GF_PNG_PARTS_STREAM_LEAST = 20 << 20 /* a shorter stream is not worth it */
};

struct gf_png_parts_reader;

/* `idat` stands at the beginning of the stream and must stay; `packed_bytes` is about the stream's
 * length. *reader is NULL where there are too few threads, or too
 * little memory for them, or the rows are too long. */
void gf_png_parts_read_open(struct gf_png_idat *idat, struct gf_format format,
                            uint64_t packed_bytes, size_t part_bytes,
                            const struct gf_options *options, struct gf_png_parts_reader **reader);
void gf_png_parts_read_close(struct gf_png_parts_reader *reader);
/* The most memory that it uses. */
uint64_t gf_png_parts_read_memory(const struct gf_png_parts_reader *reader);

/* Reads the next rows and returns their number. Fewer come where the file must be read anew. */
int gf_png_parts_read(struct gf_png_parts_reader *reader, int rows, unsigned char *dst,
                      size_t pitch);

#endif
