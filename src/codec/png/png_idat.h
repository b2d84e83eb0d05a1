/* The contents of a PNG's IDAT chunks, checked and unpacked, and the chunks behind them. It takes
 * over where libpng has read the head of the first one. */
#ifndef GF_CODEC_PNG_PNG_IDAT_H
#define GF_CODEC_PNG_PNG_IDAT_H

#include "codec/io/input.h"
#include "gpufilter/pipeline.h"

/* Why nothing more comes. */
struct gf_png_fault {
    enum gf_status status; /* of reading the input, or of memory; with `error` */
    struct gf_error error;
    bool truncated;   /* else */
    const char *text; /* what is damaged, as libpng says it; lives as long as the gf_png_idat */
};

struct gf_png_idat;

/* length: of the first chunk. NULL: out of memory. */
struct gf_png_idat *gf_png_idat_open(struct gf_input *input, const struct gf_options *options,
                                     uint32_t length);
void gf_png_idat_close(struct gf_png_idat *idat);

/* The next `size` bytes; false where a fault leaves fewer, `got`. */
bool gf_png_idat_read(struct gf_png_idat *idat, uint8_t *out, size_t size, size_t *got,
                      struct gf_png_fault *fault);
/* When all that is wanted was read: the stream must end, with its checksum. More of it is a
 * warning. */
bool gf_png_idat_end(struct gf_png_idat *idat, struct gf_png_fault *fault);
/* Then: the chunks up to the end of the file. */
bool gf_png_idat_trailer(struct gf_png_idat *idat, struct gf_png_fault *fault);

#endif
