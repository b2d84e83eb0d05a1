/* The constants of boxblur, its division by the window's size, and the size of its scratch memory
 * on the device. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/host_device.h"
#include "gpufilter/image.h"

struct gf_boxblur_params {
    int radius, border;
};

/* Divides the sum of n samples by n, rounded (a half up): (sum + n / 2) / n in integers, by a
 * multiplication, for odd n up to 1001 x 1001. With m = floor(2^(31 + shift) / n) + 1 and shift =
 * floor(log2 n), the error of num * m / 2^(31 + shift) is below 1 / n as long as 256 n < 2^30. The
 * numerator num is doubled, so that the shift is by 32 bits. It also divides sums of 16-bit samples
 * for n up to 127 x 127, where 65536 n^2 < 2^(31 + shift). */
struct gf_box_mean {
    uint32_t half; /* n / 2, for rounding */
    uint32_t multiplier;
    int shift;
    uint64_t multiplier16; /* the multiplier for sums of 16-bit samples, made from 2^(63 + shift) */
    double reciprocal;     /* 1 / n */
    /* The multiplier 2^(16 + shift) / n, rounded up, for sums of 8-bit samples with a radius up to
     * 7; 0 for larger radii. The quotient is the upper half of sum * multiplier, shifted. */
    uint32_t multiplier_small;
};

GF_HOST_DEVICE int gf_box_mean8(const struct gf_box_mean *mean, uint32_t sum)
{
    const uint32_t num = 2 * (sum + mean->half);
#ifdef __CUDA_ARCH__
    return (int)(__umulhi(num, mean->multiplier) >> mean->shift);
#else
    return (int)((uint64_t)num * mean->multiplier >> (32 + mean->shift));
#endif
}

#if defined(__CUDA_ARCH__) || defined(__SIZEOF_INT128__)
GF_HOST_DEVICE int gf_box_mean16(const struct gf_box_mean *mean, uint64_t sum)
{
    const uint64_t num = 2 * (sum + mean->half);
#ifdef __CUDA_ARCH__
    return (int)(__umul64hi(num, mean->multiplier16) >> mean->shift);
#else
    return (int)((uint64_t)((unsigned __int128)num * mean->multiplier16 >> 64) >> mean->shift);
#endif
}
#endif

/* Computes gf_box_mean16() in doubles, which hold the sums exactly, so that compilers vectorise it
 * for the CPU. The half unit that is added to num exceeds the rounding errors of the reciprocal and
 * the product, and is too small to reach the next integer. */
GF_HOST_DEVICE int gf_box_mean_double(const struct gf_box_mean *mean, double sum)
{
    return (int)((sum + ((double)mean->half + 0.5)) * mean->reciprocal);
}

struct gf_box {
    struct gf_box_mean mean;
    int radius, border;
};

/* Returns the number of pixels of a window. */
static inline float gf_box_area(const struct gf_box *box)
{
    return (float)((2 * box->radius + 1) * (2 * box->radius + 1));
}

/* Computes the means of 8-bit rows on the CPU where column sums fit in 16 bits: for a radius of
 * 1..GF_BOX_SMALL_MAX, or for any radius where gf_box_slide_simd() can be used. zeros: a row of
 * zeros; columns: memory for a padded row and one more vector. */
/* Computes `count` means of a row from its padded column sums. Up to 32 bytes after the sums are
 * read. Needs GF_CPU_AVX512. */
GF_X86_ONLY void gf_box_slide_simd(const uint16_t *columns, int radius, int channels, size_t count,
                                   const struct gf_box_mean *mean, unsigned char *row);

/* Whether one kernel without scratch memory suffices on the device: the sums of whole windows fit
 * in 16 bits, or in 24 bits where samples have 16. */
enum { GF_BOX_SMALL_MAX = 7 };
static inline int gf_box_small(struct gf_format format, int radius)
{
    return (format.bits == 16 || format.channels % 2 == 1) && radius >= 1 &&
           radius <= GF_BOX_SMALL_MAX;
}

/* Whether the device can use the kernel for radii above GF_BOX_SMALL_MAX: column sums fit in 16
 * bits, and rows of them fit in shared memory. */
enum { GF_BOX_PREFIX_MAX = 127 };
static inline int gf_box_prefix(struct gf_format format, int radius)
{
    return format.bits == 8 && format.channels % 2 == 1 && radius > GF_BOX_SMALL_MAX &&
           radius <= GF_BOX_PREFIX_MAX;
}

/* Whether a column's sum over the window's rows fits in 16 bits, so that the device stores 16
 * bits. */
static inline int gf_box_narrow(struct gf_format format, int radius)
{
    return format.bits == 8 && (2 * radius + 1) * 255 <= 65535;
}

/* Bytes from one row of column sums to the next in the device's scratch memory. */
static inline size_t gf_box_device_pitch(struct gf_format format, int radius)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    return (samples * (gf_box_narrow(format, radius) ? 2 : 4) + 255) / 256 * 256;
}

/* Bytes from one row of 32-bit column sums to the next. */
static inline size_t gf_box_wide_pitch(struct gf_format format)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    return (samples * 4 + 255) / 256 * 256;
}
