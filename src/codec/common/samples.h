/* Conversions of samples and pixels that all file formats share. */
#ifndef GF_CODEC_COMMON_SAMPLES_H
#define GF_CODEC_COMMON_SAMPLES_H

#include <stddef.h>

/* Sets the rows that a damaged file does not have to zero. */
void gf_rows_clear(unsigned char *data, size_t pitch, int rows, size_t row_bytes);

/* Samples; src and dst may be the same. */
void gf_samples_narrow(const void *src, void *dst, size_t count); /* 16 bits to 8 */
void gf_samples_big_endian(const void *src, void *dst,
                           size_t count); /* native 16 bits to or from a file's */
/* Pixels without their alpha: 2 channels to 1, 4 to 3. */
void gf_pixels_drop_alpha(const void *src, void *dst, size_t pixels, int channels, int bits);

#endif
