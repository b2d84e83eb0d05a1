/* Checks and unpacks the contents of a PNG's IDAT chunks, and checks the chunks behind them. It
 * starts where libpng has read the head of the first IDAT chunk. */
#ifndef GF_CODEC_PNG_READ_PNG_IDAT_H
#define GF_CODEC_PNG_READ_PNG_IDAT_H

#include "codec/io/input.h"
#include "gpufilter/pipeline.h"

/* Why reading ended. */
struct gf_png_fault {
    enum gf_status status; /* the input could not be read, or memory ran out: `error` says more */
    struct gf_error error;
    bool truncated;
    bool in_idat;     /* a chunk of packed pixels has it */
    const char *text; /* else what is damaged, in libpng's words; valid until gf_png_idat_close */
};

/* What the chunks behind the pixels are like. */
struct gf_png_trailer {
    bool has_palette; /* in: a PLTE chunk stands before the pixels, so that another is an error */
    bool has_exif;    /* out: there is an eXIf chunk */
};

struct gf_png_idat;

/* `length` is that of the first IDAT chunk. NULL when out of memory. */
struct gf_png_idat *gf_png_idat_open(struct gf_input *input, const struct gf_options *options,
                                     uint32_t length);
void gf_png_idat_close(struct gf_png_idat *idat);

/* Unpacks the next `size` bytes; false where a fault leaves only `got` of them. */
bool gf_png_idat_read(struct gf_png_idat *idat, uint8_t *out, size_t size, size_t *got,
                      struct gf_png_fault *fault);
/* To be called when all rows were read: the stream must end here with its checksum. Of more data in
 * it gf_png_idat_trailer() warns: rows may still be damaged. */
bool gf_png_idat_end(struct gf_png_idat *idat, struct gf_png_fault *fault);
/* The same where all rows were read by others: the input's next byte is the first behind the last
 * IDAT chunk. */
bool gf_png_idat_skipped(struct gf_png_idat *idat, struct gf_png_fault *fault);
/* To be called then: checks the chunks up to IEND. */
bool gf_png_idat_trailer(struct gf_png_idat *idat, struct gf_png_trailer *trailer,
                         struct gf_png_fault *fault);

#endif
