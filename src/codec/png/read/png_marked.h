/* Looks whether a whole PNG file has stripes that do not depend on each other (the mark of level 1)
 * and can be given to a GPU as it is: one IDAT chunk a stripe, and nothing behind them but the end.
 * The checksums of all other chunks are right; those of the stripes' the GPU compares. */
#ifndef GF_CODEC_PNG_READ_PNG_MARKED_H
#define GF_CODEC_PNG_READ_PNG_MARKED_H

#include <stdbool.h>
#include <stddef.h>

struct gf_png_marked {
    int width, height;
    int channels, bits; /* 1..4, 8 or 16: no palette, no interlacing, no colour that is clear */
    int rows;           /* of a stripe, but for the last */
    int stripes;        /* of the picture, and IDAT chunks of the file */
    size_t first;       /* the place of the first of them */
    size_t chunk_bytes; /* of all of them, which follow each other */
};

/* False: the file is to be read as any other. */
bool gf_png_marked_read(const unsigned char *data, size_t size, struct gf_png_marked *marked);

#endif
