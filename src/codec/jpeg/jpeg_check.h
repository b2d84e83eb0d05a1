/* Whether a JPEG is of the common kind, and sound to its last bit, so that it may be given to a
 * decoder that forgives or dies: nvJPEG neither tells damaged data nor survives all of it. What is
 * odd in any way is libjpeg's, which knows how to say what is wrong. */
#ifndef GF_CODEC_JPEG_JPEG_CHECK_H
#define GF_CODEC_JPEG_JPEG_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct gf_jpeg_nature {
    int width, height;
    int components; /* 1, or 3: YCbCr */
    int h, v;       /* sampling factors of Y against Cb and Cr: 1x1, 2x1, 2x2 */
    size_t tables;  /* where the first segment begins that is no application's */
    size_t end;     /* behind the end marker */
};

/* Baseline, 8 bits, gray or YCbCr of 4:4:4, 4:2:2 or 4:2:0, one scan; every code of its
 * entropy-coded data is valid, and there are exactly as many as the picture has blocks. (ITU-T
 * T.81, annexes B and F) */
bool gf_jpeg_check(const unsigned char *data, size_t size, struct gf_jpeg_nature *nature);

#endif
