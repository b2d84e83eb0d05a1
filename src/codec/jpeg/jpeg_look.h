/* The arithmetic of --jpeg-encoder=perceptual: from the samples of a block to its quantised
 * coefficients. It is plain float arithmetic in a fixed order, so that host and device make the
 * same coefficients.
 *
 * A coefficient is rounded by what it costs. Each quantised value, and zero, has a loss, the
 * squared error in quantisers, and a number of bits that depends on the zeros before it; the least
 * sum of both over the block is found by dynamic programming. What a bit is worth grows with the
 * block's activity, since the errors of a busy block are seen less. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/elementary.h"
#include "base/host_device.h"
#include "codec/jpeg/jpeg_header.h"

/* Always inlined: what a clone for newer processors calls would be code for old ones. */
#define GF_LOOK_FORMULA GF_HOST_DEVICE __attribute__((always_inline))

enum { GF_LOOK_SIDE = 8, GF_LOOK_BLOCK = 64, GF_LOOK_RUNS = 16, GF_LOOK_SIZES = 11 };

/* A component. Blocks are here in columns: element 8 * u + v is frequency u across and v down. */
struct gf_look {
    float reciprocal[GF_LOOK_BLOCK];         /* of the quantisers, in the zigzag order */
    float bits[GF_LOOK_SIZES][GF_LOOK_RUNS]; /* of a value with so many bits of its own and so many
                                              * zeros before it; [0][15]: 16 zeros */
    float end;                               /* bits of the end of a block */
    float worth;                             /* what a bit is worth in a flat block */
    uint8_t place[GF_LOOK_BLOCK];            /* the element of a place in the zigzag order */
};

/* ---- samples ---- */

/* Y, Cb and Cr, less 128, of R, G and B. */
GF_LOOK_FORMULA float gf_look_y(float r, float g, float b)
{
    return 0.299f * r + 0.587f * g + 0.114f * b - 128.0f;
}

GF_LOOK_FORMULA float gf_look_cb(float r, float g, float b)
{
    return 0.5f * b - 0.168735892f * r - 0.331264108f * g;
}

GF_LOOK_FORMULA float gf_look_cr(float r, float g, float b)
{
    return 0.5f * r - 0.418687589f * g - 0.081312411f * b;
}

/* Keeps what is added to a sample within what decoders have. */
GF_LOOK_FORMULA float gf_look_sample(float v)
{
    return gf_limited(v, -128.0f, 127.0f);
}

/* Of 4:2:2 and 4:2:0 chroma is a mean of samples. */
GF_LOOK_FORMULA float gf_look_mean(float a, float b, float c, float d)
{
    return 0.25f * ((a + b) + (c + d));
}

/* 4:2:0: decoders make a sample of the nearest one and those beside it, which softens chroma. What
 * that will take from the means is added to them: from sums over the mean above, of the row and
 * below, before the mean, at its column and after it. */
GF_LOOK_FORMULA float gf_look_upright(float above, float row, float below)
{
    return (above + below) + 6.0f * row;
}

GF_LOOK_FORMULA float gf_look_fine(float mean, float before, float here, float after)
{
    return gf_look_sample(2.0f * mean - ((before + after) + 6.0f * here) * (1.0f / 64));
}

/* Between two samples of chroma, as decoders interpolate. */
GF_LOOK_FORMULA float gf_look_between(float near, float far)
{
    return 0.75f * near + 0.25f * far;
}

/* Corrects luma for what chroma at half the size changes: so that the pixel is as bright as it was
 * in linear light, for which squares of R, G and B do. The last two arguments are the chroma that a
 * decoder will have. */
GF_LOOK_FORMULA float gf_look_correct(float y, float cb, float cr, float seen_cb, float seen_cr)
{
    const float most = 30.0f, bias = 4.0f;
    const float r = (y + 128.0f) + 1.402f * cr, g = (y + 128.0f) - 0.344136f * cb - 0.714136f * cr,
                b = (y + 128.0f) + 1.772f * cb;
    const float seen_r = gf_limited((y + 128.0f) + 1.402f * seen_cr, 0, 255.0f),
                seen_g =
                    gf_limited((y + 128.0f) - 0.344136f * seen_cb - 0.714136f * seen_cr, 0, 255.0f),
                seen_b = gf_limited((y + 128.0f) + 1.772f * seen_cb, 0, 255.0f);
    const float lost = 0.2126f * ((r - seen_r) * (r + seen_r)) +
                       0.7152f * ((g - seen_g) * (g + seen_g)) +
                       0.0722f * ((b - seen_b) * (b + seen_b));
    const float slope = 2.0f * ((0.2126f * seen_r + 0.7152f * seen_g + 0.0722f * seen_b) + bias);
    return gf_look_sample(y + gf_limited(gf_quotient(lost, slope), -most, most));
}

/* ---- the DCT ---- */

/* Transforms eight values that are so many elements apart, as are the results. A block is
 * transformed by columns, and the results by rows. */
GF_LOOK_FORMULA void gf_look_dct(const float *from, float *to, int apart)
{
    /* cos(i pi / 16) / 2 */
    const float c1 = 0.490392640f, c2 = 0.461939766f, c3 = 0.415734806f, c4 = 0.353553391f,
                c5 = 0.277785117f, c6 = 0.191341716f, c7 = 0.0975451610f;
    const float s0 = from[0] + from[7 * apart], s1 = from[apart] + from[6 * apart],
                s2 = from[2 * apart] + from[5 * apart], s3 = from[3 * apart] + from[4 * apart],
                d0 = from[0] - from[7 * apart], d1 = from[apart] - from[6 * apart],
                d2 = from[2 * apart] - from[5 * apart], d3 = from[3 * apart] - from[4 * apart];
    const float e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
    to[0] = (e0 + e1) * c4;
    to[apart] = (c1 * d0 + c3 * d1) + (c5 * d2 + c7 * d3);
    to[2 * apart] = c2 * e3 + c6 * e2;
    to[3 * apart] = (c3 * d0 - c7 * d1) - (c1 * d2 + c5 * d3);
    to[4 * apart] = (e0 - e1) * c4;
    to[5 * apart] = (c5 * d0 - c1 * d1) + (c7 * d2 + c3 * d3);
    to[6 * apart] = c6 * e3 - c2 * e2;
    to[7 * apart] = (c7 * d0 - c5 * d1) + (c3 * d2 - c1 * d3);
}

/* ---- activity ---- */

/* The sums of a row of samples, and of their squares. */
GF_LOOK_FORMULA float gf_look_sum(const float *v)
{
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

GF_LOOK_FORMULA float gf_look_squares(const float *v)
{
    return ((v[0] * v[0] + v[1] * v[1]) + (v[2] * v[2] + v[3] * v[3])) +
           ((v[4] * v[4] + v[5] * v[5]) + (v[6] * v[6] + v[7] * v[7]));
}

/* Returns the factor of what a bit is worth in a block of luma. It grows with the standard
 * deviation of the samples, of which the arguments are the sums over the rows, from the first. */
GF_LOOK_FORMULA float gf_look_busy(float sum, float squares)
{
    const float flat = 1.6f, usual = 10.0f, greatest = 5.0f;
    const float mean = sum * (1.0f / GF_LOOK_BLOCK),
                variance = squares * (1.0f / GF_LOOK_BLOCK) - mean * mean;
    const float busy = gf_quotient(sqrtf(variance > 0 ? variance : 0) + flat, usual);
    return busy < greatest ? busy : greatest;
}

/* ---- rounding ---- */

/* A coefficient is tried as the number of quantisers to which it is rounded up from this fraction
 * on, as the number below it, and as zero. */
#define GF_LOOK_ROUND 0.55f
enum { GF_LOOK_MOST = 1023 }; /* the greatest coefficient of a baseline JPEG */

/* The first coefficient has no dead zone. */
GF_LOOK_FORMULA int gf_look_round(float ratio)
{
    const int value = (int)(fabsf(ratio) + 0.5f);
    return ratio < 0 ? -value : value;
}

/* Returns how many bits a value has, from 1 on. */
GF_LOOK_FORMULA int gf_look_size(int value)
{
    return (int)(gf_bits_of_float((float)value) >> 23) - 126;
}

/* Returns the place of the highest bit that is set. */
GF_LOOK_FORMULA int gf_look_last(uint64_t set)
{
#ifdef __CUDA_ARCH__
    return 63 - __clzll((long long)set);
#else
    return 63 - __builtin_clzll(set);
#endif
}

/* Chosen values have these bits for the place of the value before; 0: there is none. */
enum { GF_LOOK_PLACES = 6 };

/* Chooses the values of a block but the first. `ratio` has the coefficients in quantisers, in the
 * zigzag order, of any sign. Its elements are so many apart: threads of the device have theirs
 * beside each other. `busy` is the block's factor of what a bit is worth. Returns the place of the
 * last value in `chosen`; all that lead to it are the block's, without their signs. `ratio` is used
 * up: a place then has the least bits and losses up to it, if it has a value. Zeros behind it are
 * free. */
GF_LOOK_FORMULA int gf_look_choose(float *ratio, uint16_t *chosen, int apart,
                                   const struct gf_look *look, float busy)
{
    const float bits_of_loss = gf_quotient(1.0f, look->worth * busy);
    float best = look->end;
    int last = 0;
    /* Values from which the next may go on, each with less bits than those behind it: one that is
     * nearer and has no more bits is better, so that few remain. */
    uint64_t open = 1, tried = 0;
    for (int half = 0; half < GF_LOOK_BLOCK; half += 32) {
        uint32_t set = 0;
        for (int i = 0; i < 32; i++) {
            const float up = fabsf(ratio[(half + i) * apart]) + GF_LOOK_ROUND;
            set |= up >= 1.0f ? (uint32_t)1 << i : 0;
        }
        tried |= (uint64_t)set << half;
    }
    tried &= ~(uint64_t)1;
    ratio[0] = 0;
    for (; tried; tried &= tried - 1) {
        const int k = gf_look_last(tried & -tried);
        const float exact = fabsf(ratio[k * apart]);
        const int rounded = (int)(exact + GF_LOOK_ROUND),
                  most = rounded < GF_LOOK_MOST ? rounded : GF_LOOK_MOST;
        float least = 1e30f, path = 0;
        int size = 0, before = 0, next = 0;
        for (int v = most; v > 0 && v >= most - 1; v--) {
            if (gf_look_size(v) != size) {
                size = gf_look_size(v);
                path = 1e30f;
                for (uint64_t rest = open; rest;) {
                    const int i = gf_look_last(rest);
                    const unsigned run = (unsigned)(k - i - 1);
                    const float bits =
                        ratio[i * apart] +
                        (float)(run / GF_LOOK_RUNS) * look->bits[0][GF_LOOK_RUNS - 1] +
                        look->bits[size][run % GF_LOOK_RUNS];
                    before = bits < path ? i : before;
                    path = bits < path ? bits : path;
                    rest ^= (uint64_t)1 << i;
                }
            }
            const float whole = path + (float)v * ((float)v - 2.0f * exact) * bits_of_loss;
            if (whole < least) {
                least = whole;
                next = v << GF_LOOK_PLACES | before;
            }
        }
        const float whole = least + (k < GF_LOOK_BLOCK - 1 ? look->end : 0);
        last = whole < best ? k : last;
        best = whole < best ? whole : best;
        while (open && ratio[gf_look_last(open) * apart] >= least)
            open ^= (uint64_t)1 << gf_look_last(open);
        open |= (uint64_t)1 << k;
        ratio[k * apart] = least;
        chosen[k] = (uint16_t)next;
    }
    return last;
}

/* ---- tables ---- */

GF_C_BEGIN

/* Sets what a component (0 to 2) needs for a quality, and its quantisers in the usual order.
 * halved: chroma has half the columns. `codes` are libjpeg's first Huffman codes of AC symbols. */
void gf_look_make(struct gf_look *look, int component, bool halved, int quality,
                  const struct gf_jpeg_code *codes, uint16_t *quantisers);

GF_C_END
