/* The arrays of a group of JPEGs, which the decoder's kernels share. The pictures of a group share
 * launches, whatever their sizes and samplings are. */
#ifndef GF_CUDA_JPEG_BATCH_CUH
#define GF_CUDA_JPEG_BATCH_CUH

#include <stdint.h>

/* A group lies in arrays of the device:
 *   struct jpeg_picture pictures[count];
 *   int16_t coefficients[blocks][64]    column by column, 8 * column + row, not dequantised;
 *                                       element 0 is undefined
 *   int16_t dc[blocks]                  element 0 of each block, with its prediction added
 *   uint16_t quantisers[count][3][64]   by component, in natural order
 *   unsigned flags[count]               not zero: the picture goes to libjpeg-turbo
 *   unsigned ends[count]                the bytes of each scan, with the end marker
 * A flagged picture's coefficients are undefined, so that what reads them must bear any values. */
struct jpeg_picture {
    int width, height, components; /* the size in the file, whatever the reduction is */
    int ycc;                       /* three components are YCbCr, not RGB */
    int h[3], v[3];                /* sampling factors, which are 1 for a single component */
    /* The picture has 1 / reduction of the file's size, and a block of component c has side[c]
     * samples across and down: 8, 4, 2 or 1. */
    int reduction, side[3];
    int mcus_across, mcus_down, blocks_per_mcu;
    unsigned first_block, blocks; /* in the group's arrays, by MCUs as in the scan */
    unsigned char *out;           /* RGB or gray, in device memory */
    size_t pitch;
};

/* The reasons why libjpeg-turbo must decode a picture; bits of its flags. */
enum {
    JPEG_BAD_MARKER = 1,    /* a marker is missing, out of order or unexpected */
    JPEG_BAD_CODE = 2,      /* bits that are no code, or too many coefficients in a block */
    JPEG_BAD_LENGTH = 4,    /* too few or too many blocks or bits */
    JPEG_NOT_IN_STEP = 8,   /* the search for the beginnings of codes reached its limit */
    JPEG_OUT_OF_RANGE = 16, /* a value that libjpeg-turbo's C and SIMD code treat differently */
};

#endif
