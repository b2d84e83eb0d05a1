/* Converts samples and pixels, for all file formats. */
#pragma once

#include <stddef.h>

/* Sets to zero the rows that a truncated file lacks. */
void gf_rows_clear(unsigned char *data, size_t pitch, int rows, size_t row_bytes);

/* ---- conversions of samples. In the next four functions src and dst may be the same memory
 * ---- */
/* Converts samples of 16 bits to 8: round(v * 255 / 65535). */
void gf_samples_narrow(const void *src, void *dst, size_t count);
/* Converts samples of 16 bits to `depth` bits, as numbers of 16 bits: round(v * M / 65535), where M
 * is the largest number of that many bits. */
void gf_samples_to_depth(const void *src, void *dst, size_t count, int depth);
/* Converts samples of 16 bits from the machine's byte order to big endian, or back. */
void gf_samples_big_endian(const void *src, void *dst, size_t count);
/* Swaps the bytes of `count` samples of 16 bits, in place. */
void gf_samples_swap(void *samples, size_t count);
/* Converts samples of 8 bits to 16. src must not overlap dst. */
void gf_samples_widen(const void *src, void *dst, size_t count);
/* Packs samples of 8 or 16 bits into single bits, the first into the highest bit of a byte: 1 for
 * the upper half of the scale. */
void gf_samples_to_bits(const void *src, void *dst, size_t count, int bits);
/* Drops the alpha of pixels that have 2 or 4 channels. */
void gf_pixels_drop_alpha(const void *src, void *dst, size_t pixels, int channels, int bits);

/* Converts pixels of 1 or 2 channels to pixels of 3 or 4. src may be the end of dst's memory, so
 * that the conversion works in place. */
void gf_pixels_gray_to_rgb(const void *src, void *dst, size_t pixels, int channels, int bits);

/* Converts pixels of 3 or 4 channels to pixels of 1 or 2: the first colour becomes the gray value,
 * and alpha stays. */
void gf_pixels_rgb_to_gray(const void *src, void *dst, size_t pixels, int channels, int bits);

/* Divides colours by alpha, in place, for pixels of 2 or 4 channels: a sample v becomes round(v * M
 * / alpha), limited to M; 0 if alpha is 0; M is the largest value of a sample. */
void gf_pixels_unpremultiply(void *pixels, size_t count, int channels, int bits);

/* Divides colours by alpha, in place; those of pixels whose alpha is 0 stay. */
void gf_floats_unpremultiply(float *pixels, size_t count, int channels);

/* Converts pixels of 3 or 4 channels from sYCC (IEC 61966-2-1, annex F), which is also JFIF's
 * YCbCr, to sRGB, in place. */
void gf_pixels_ycc_to_rgb(void *pixels, size_t count, int channels, int bits);

/* Converts a colour of CIE L*a*b* relative to D50 to sRGB of 0..1, as Little CMS does by "relative
 * colorimetric". L* is 0..100. */
void gf_lab_to_srgb(float l, float a, float b, float rgb[3]);
