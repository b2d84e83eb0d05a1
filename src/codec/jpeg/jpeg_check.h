/* Checks that a JPEG is of the most usual kind and sound to its last bit. nvJPEG needs this: it
 * neither reports damaged data nor survives all of it. A file that is odd in any way goes to
 * libjpeg, which says what is wrong. */
#ifndef GF_CODEC_JPEG_JPEG_CHECK_H
#define GF_CODEC_JPEG_JPEG_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct gf_jpeg_info {
    int width, height;
    int components; /* 1, or 3: YCbCr */
    int h, v;       /* sampling factors of Y against Cb and Cr: 1x1, 2x1, 2x2 */
    size_t tables;  /* the offset of the first segment that is neither APPn nor COM */
    size_t end;     /* the offset behind the end marker */
};

/* True for a baseline JPEG of 8 bits and one scan, gray or YCbCr in 4:4:4, 4:2:2 or 4:2:0, whose
 * entropy-coded data holds valid codes only and exactly as many as the picture has blocks. (ITU-T
 * T.81, annexes B and F) */
bool gf_jpeg_check(const unsigned char *data, size_t size, struct gf_jpeg_info *info);

#endif
