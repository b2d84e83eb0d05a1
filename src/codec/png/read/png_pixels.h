/* Reads the rows of a PNG of which libpng has read only the header: not interlaced, samples of 8 or
 * 16 bits, no palette, no transparent colour. A thread decompresses; the caller undoes the
 * filters. */
#pragma once

#include "codec/io/input.h"
#include "gpufilter/pipeline.h"

/* Checks and decompresses the contents of a PNG's IDAT chunks, and checks the chunks after them.
 * The reader starts where libpng has read the head of the first IDAT chunk. */

/* A reason why reading ended. */
struct gf_png_fault {
    enum gf_status status; /* set if reading failed or memory ran out; `error` gives the reason */
    struct gf_error error;
    bool truncated;
    bool in_idat;     /* the fault is in an IDAT chunk */
    const char *text; /* otherwise the damage in libpng's words; valid until gf_png_idat_close() */
};

/* The facts about the chunks after the pixels. */
struct gf_png_trailer {
    bool has_palette; /* input: a PLTE chunk precedes the pixels, so that another one is an error */
    bool has_exif;    /* output: there is an eXIf chunk */
};

struct gf_png_idat;

/* Opens a reader. `length` is the length of the first IDAT chunk. Returns NULL when out of
 * memory. */
struct gf_png_idat *gf_png_idat_open(struct gf_input *input, const struct gf_options *options,
                                     uint32_t length);
void gf_png_idat_close(struct gf_png_idat *idat);

/* Decompresses the next `size` bytes to `out`. Returns false after a fault, with only *got
 * bytes. */
bool gf_png_idat_read(struct gf_png_idat *idat, uint8_t *out, size_t size, size_t *got,
                      struct gf_png_fault *fault);
/* Checks that the stream ends here with its checksum. It must be called after the last row. If the
 * stream contains more data, gf_png_idat_trailer() warns, because rows may be damaged
 * nevertheless. */
bool gf_png_idat_end(struct gf_png_idat *idat, struct gf_png_fault *fault);
/* Replaces gf_png_idat_end() if another reader has read all rows. The input's next byte is the
 * first one after the last IDAT chunk. */
bool gf_png_idat_skipped(struct gf_png_idat *idat, struct gf_png_fault *fault);
/* Checks the remaining chunks up to IEND. It must be called after gf_png_idat_end() or
 * gf_png_idat_skipped(). */
bool gf_png_idat_trailer(struct gf_png_idat *idat, struct gf_png_trailer *trailer,
                         struct gf_png_fault *fault);

struct gf_png_pixels;

/* Opens a reader. `length` is the length of the first IDAT chunk, whose head has been read. The
 * options must stay valid. With options->threads of 1 the caller decompresses. stripe_rows is the
 * number of rows in the independent stripes of a file with the mark of png_mark.h, or 0. If the
 * mark is right, all threads decompress stripes. */
enum gf_status gf_png_pixels_open(struct gf_input *input, struct gf_format format, uint32_t length,
                                  int stripe_rows, const struct gf_options *options,
                                  struct gf_png_pixels **pixels, struct gf_error *error) GF_CHECKED;
/* The memory of the reader in bytes. */
uint64_t gf_png_pixels_memory(const struct gf_png_pixels *pixels);
void gf_png_pixels_close(struct gf_png_pixels *pixels);

/* Reads the next rows and returns their number, which is less than `rows` after a fault. The
 * picture's last row is valid only if the stream ends without a fault. */
int gf_png_pixels_read(struct gf_png_pixels *pixels, int rows, unsigned char *dst, size_t pitch,
                       struct gf_png_fault *fault);
/* Checks the chunks after the last row. */
bool gf_png_pixels_finish(struct gf_png_pixels *pixels, struct gf_png_trailer *trailer,
                          struct gf_png_fault *fault);
