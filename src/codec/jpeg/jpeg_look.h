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

/* Returns a * b + c where a * b is exact: one instruction of the device, with the same result. */
GF_LOOK_FORMULA float gf_look_add_exact(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* ---- samples ---- */

/* Y, Cb and Cr, less 128, of R, G and B. */
GF_LOOK_FORMULA float gf_look_y(float r, float g, float b)
{
    return 0.299f * r + 0.587f * g + 0.114f * b - 128.0f;
}

GF_LOOK_FORMULA float gf_look_cb(float r, float g, float b)
{
    return gf_look_add_exact(0.5f, b, -(0.168735892f * r)) - 0.331264108f * g;
}

GF_LOOK_FORMULA float gf_look_cr(float r, float g, float b)
{
    return gf_look_add_exact(0.5f, r, -(0.418687589f * g)) - 0.081312411f * b;
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
    return gf_look_sample(
        gf_look_add_exact((before + after) + 6.0f * here, -1.0f / 64, 2.0f * mean));
}

/* Between two samples of chroma, as decoders interpolate. */
GF_LOOK_FORMULA float gf_look_between(float near, float far)
{
    return gf_look_add_exact(0.25f, far, 0.75f * near);
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
    const float slope =
        (2.0f * 0.2126f * seen_r + 2.0f * 0.7152f * seen_g + 2.0f * 0.0722f * seen_b) + 2.0f * bias;
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
#define GF_LOOK_ZERO 0.44999993f /* the greatest number that is always zero: 1 - 0.55, rounded */
enum { GF_LOOK_MOST = 1023 };    /* the greatest coefficient of a baseline JPEG */

/* The first coefficient has no dead zone. */
GF_LOOK_FORMULA int gf_look_round(float ratio)
{
    const int value = (int)(fabsf(ratio) + 0.5f);
    return ratio < 0 ? -value : value;
}

/* Returns how many bits a whole number has, from 1 on. */
GF_LOOK_FORMULA int gf_look_size(float value)
{
    return (int)(gf_bits_of_float(value) >> 23) - 126;
}

/* Returns the place of the highest bit that is set. */
GF_LOOK_FORMULA int gf_look_last(uint64_t set)
{
#ifdef __CUDA_ARCH__
    const uint32_t high = (uint32_t)(set >> 32);
    return 31 - __clz((int)(high ? high : (uint32_t)set)) + (high ? 32 : 0);
#else
    return 63 - __builtin_clzll(set);
#endif
}

/* Chosen values have these bits for the place of the value before; 0: there is none. */
enum { GF_LOOK_PLACES = 6 };

/* Chooses the values of a block but the first. `ratio` has the coefficients in quantisers, in the
 * zigzag order, of any sign. Its elements are so many apart: threads of the device have theirs
 * beside each other. `tried` has those that are beyond GF_LOOK_ZERO: bit 63 - k is that of place k.
 * `busy` is the block's factor of what a bit is worth. Returns the place of the last value in
 * `chosen`; all that lead to it are the block's, without their signs. `ratio` is used up. Zeros
 * behind the last value are free. */
GF_LOOK_FORMULA int gf_look_choose(float *ratio, uint64_t tried, uint16_t *chosen, int apart,
                                   const struct gf_look *look, float busy)
{
    const float bits_of_loss = gf_quotient(1.0f, look->worth * busy), end = look->end,
                bits_of_zeros = look->bits[0][GF_LOOK_RUNS - 1];
    float best = end;
    int last = 0;
    /* The value before, and the least bits and losses up to it. */
    int before = 0;
    float cost = 0;
    /* Earlier values from which the next may go on, each with less bits than those behind it: one
     * that is nearer and has no more bits is better, so that few remain. `ratio` has their bits. */
    uint64_t open = 0;
    float next = fabsf(ratio[(GF_LOOK_BLOCK - 1 - gf_look_last(tried | 1)) * apart]);
    while (tried) {
        const int rest = gf_look_last(tried), k = GF_LOOK_BLOCK - 1 - rest;
        const float exact = next;
        tried ^= (uint64_t)1 << rest;
        next = fabsf(ratio[(GF_LOOK_BLOCK - 1 - gf_look_last(tried | 1)) * apart]);
        const int rounded = (int)(exact + GF_LOOK_ROUND),
                  most = rounded < GF_LOOK_MOST ? rounded : GF_LOOK_MOST;
        /* the number, and the one below it */
        const float v = (float)most, lower = v - 1.0f;
        const float *const bits = look->bits[gf_look_size(v)],
                           *const bits_lower = look->bits[gf_look_size(most > 1 ? lower : v)];
        unsigned run = (unsigned)(k - before - 1);
        float start = cost + (float)(run / GF_LOOK_RUNS) * bits_of_zeros;
        float path = start + bits[run % GF_LOOK_RUNS],
              path_lower = start + bits_lower[run % GF_LOOK_RUNS];
        int from = before, from_lower = before;
        for (uint64_t others = open; others;) {
            const int i = gf_look_last(others);
            const bool better = ratio[i * apart] < cost;
            run = (unsigned)(k - i - 1);
            start = ratio[i * apart] + (float)(run / GF_LOOK_RUNS) * bits_of_zeros;
            const float way = start + bits[run % GF_LOOK_RUNS],
                        way_lower = start + bits_lower[run % GF_LOOK_RUNS];
            from = better && way < path ? i : from;
            path = better && way < path ? way : path;
            from_lower = better && way_lower < path_lower ? i : from_lower;
            path_lower = better && way_lower < path_lower ? way_lower : path_lower;
            others ^= (uint64_t)1 << i;
            open = better ? open : others;
        }
        const float whole = path + v * (v - 2.0f * exact) * bits_of_loss,
                    whole_lower = path_lower + lower * (lower - 2.0f * exact) * bits_of_loss;
        const bool less = most > 1 && whole_lower < whole;
        const float least = less ? whole_lower : whole, ended = least + (rest ? end : 0);
        chosen[k] = (uint16_t)(less ? (most - 1) << GF_LOOK_PLACES | from_lower
                                    : most << GF_LOOK_PLACES | from);
        last = ended < best ? k : last;
        best = ended < best ? ended : best;
        if (cost < least) {
            ratio[before * apart] = cost;
            open |= (uint64_t)1 << before;
        }
        before = k;
        cost = least;
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
