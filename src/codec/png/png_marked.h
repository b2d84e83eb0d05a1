/* Decides whether a PNG file has independent stripes (the mark of level 1) and can be given to a
 * GPU unchanged: one IDAT chunk for each stripe, and only IEND after them. The checksums of all
 * other chunks are checked here; the GPU checks the checksums of the stripes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gf_png_marked {
    int width, height;
    int channels, bits; /* 1..4 channels of 8 or 16 bits, without palette, interlacing and
                         * transparent colour */
    int rows;           /* rows of a stripe, except the last */
    int stripes;        /* number of stripes, and of IDAT chunks */
    size_t first;       /* offset of the first IDAT chunk */
    size_t chunk_bytes; /* bytes of all IDAT chunks together */
};

/* Reads the mark. Returns false if the file must be read like any other PNG. */
bool gf_png_marked_read(const unsigned char *data, size_t size, struct gf_png_marked *marked);
