/* The arrays of a group of JPEGs, which the decoder's kernels share. The pictures of a group share
 * launches, whatever their sizes and samplings are. */
#pragma once

#include <stdint.h>

/* The device's arrays for a group of pictures:
 *
 * struct jpeg_picture pictures[count];
 * int16_t coefficients[blocks][64] column by column, 8 * column + row, not dequantised; element 0
 * is undefined
 * int16_t dc[blocks] element 0 of each block, with its prediction added
 * uint16_t quantisers[count][3][64] by component, in natural order
 * unsigned flags[count] not zero: libjpeg-turbo must decode the picture
 * unsigned ends[count] the bytes of each scan, with the end marker
 *
 * The coefficients of a flagged picture are undefined. A kernel that reads them must therefore
 * accept any values. */
struct jpeg_picture {
    int width, height, components; /* the size that the file states, whatever the reduction is */
    int ycc;                       /* the three components are YCbCr, not RGB */
    int h[3], v[3];                /* the sampling factors, which are 1 for a single component */
    /* The picture has 1 / reduction of the file's size. A block of component c has side[c] samples
     * across and down: 8, 4, 2 or 1. */
    int reduction, side[3];
    int mcus_across, mcus_down, blocks_per_mcu;
    unsigned first_block, blocks; /* the picture's blocks in the group's arrays, in the order of the
                                   * MCUs of the scan */
    unsigned char *out;           /* RGB or gray, in device memory */
    size_t pitch;
};

/* The bits of a picture's flags. Each bit is a reason why libjpeg-turbo must decode the picture. */
enum {
    JPEG_BAD_MARKER = 1,    /* a marker is missing, out of order or unexpected */
    JPEG_BAD_CODE = 2,      /* bits that are no code, or too many coefficients in a block */
    JPEG_BAD_LENGTH = 4,    /* the scan has too few or too many blocks or bits */
    JPEG_NOT_IN_STEP = 8,   /* the search for the beginnings of codes reached its limit */
    JPEG_OUT_OF_RANGE = 16, /* a value that libjpeg-turbo's C and SIMD code treat differently */
};
