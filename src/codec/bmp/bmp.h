/* What reading and writing BMP share: offsets within the file. Microsoft, "Bitmap Storage" and
 * "BITMAPV5HEADER structure", Windows GDI. */
#pragma once

#include <stdint.h>

enum {
    GF_BMP_FILE_HEADER = 14, /* what follows is the header proper, which begins with its size */
    GF_BMP_OS2 = 12,         /* sizes of the header proper */
    GF_BMP_INFO = 40,
    GF_BMP_MASKED = 52, /* from this size on the header holds the masks */
    GF_BMP_V4 = 108,
    GF_BMP_V5 = 124,
    GF_BMP_AT_DENSITY = 24, /* offsets within the header proper */
    GF_BMP_AT_MASKS = 40,
    GF_BMP_AT_COLOURS = 56,
    GF_BMP_AT_PROFILE = 112
};

enum gf_bmp_compression {
    GF_BMP_PLAIN,
    GF_BMP_RLE8,
    GF_BMP_RLE4,
    GF_BMP_MASKS,
    GF_BMP_MASKS_WITH_ALPHA = 6
};

#define GF_BMP_SRGB 0x73524742u     /* 'sRGB': the colours are sRGB's */
#define GF_BMP_EMBEDDED 0x4d424544u /* 'MBED': an ICC profile is in the file */

/* Bytes of a row: whole words of 32 bits. */
static inline uint64_t gf_bmp_stride(int width, int depth)
{
    return ((uint64_t)width * (uint64_t)depth + 31) / 32 * 4;
}
