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
#include <stdint.h>

#include "base/elementary.h"
#include "base/host_device.h"

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
    return v < 127.0f ? v > -128.0f ? v : -128.0f : 127.0f;
}

/* Of 4:2:2 and 4:2:0 chroma is a mean of samples. */
GF_LOOK_FORMULA float gf_look_mean(float a, float b, float c, float d)
{
    return 0.25f * ((a + b) + (c + d));
}

/* 4:2:0: decoders make a sample of the nearest one and those beside it, which softens chroma. What
 * that will take from the means is added to them; the arguments point to the means around. */
GF_LOOK_FORMULA float gf_look_fine(const float *above, const float *row, const float *below)
{
    const float before = (above[-1] + below[-1]) + 6.0f * row[-1],
                here = (above[0] + below[0]) + 6.0f * row[0],
                after = (above[1] + below[1]) + 6.0f * row[1];
    return gf_look_sample(2.0f * row[0] - ((before + after) + 6.0f * here) * (1.0f / 64));
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
    float seen_r = (y + 128.0f) + 1.402f * seen_cr,
          seen_g = (y + 128.0f) - 0.344136f * seen_cb - 0.714136f * seen_cr,
          seen_b = (y + 128.0f) + 1.772f * seen_cb;
    seen_r = seen_r > 0 ? seen_r < 255.0f ? seen_r : 255.0f : 0;
    seen_g = seen_g > 0 ? seen_g < 255.0f ? seen_g : 255.0f : 0;
    seen_b = seen_b > 0 ? seen_b < 255.0f ? seen_b : 255.0f : 0;
    const float lost = 0.2126f * ((r - seen_r) * (r + seen_r)) +
                       0.7152f * ((g - seen_g) * (g + seen_g)) +
                       0.0722f * ((b - seen_b) * (b + seen_b));
    const float slope = 2.0f * ((0.2126f * seen_r + 0.7152f * seen_g + 0.0722f * seen_b) + bias);
    const float change = lost / slope;
    return gf_look_sample(y + (change < most ? change > -most ? change : -most : most));
}

/* ---- the DCT ---- */

/* Transforms eight values that are GF_LOOK_SIDE apart, as are the results. A block is transformed
 * by columns, transposed, and transformed by columns again. */
GF_LOOK_FORMULA void gf_look_dct(const float *from, float *to)
{
    /* cos(i pi / 16) / 2 */
    const float c1 = 0.490392640f, c2 = 0.461939766f, c3 = 0.415734806f, c4 = 0.353553391f,
                c5 = 0.277785117f, c6 = 0.191341716f, c7 = 0.0975451610f;
    const float s0 = from[0] + from[56], s1 = from[8] + from[48], s2 = from[16] + from[40],
                s3 = from[24] + from[32], d0 = from[0] - from[56], d1 = from[8] - from[48],
                d2 = from[16] - from[40], d3 = from[24] - from[32];
    const float e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
    to[0] = (e0 + e1) * c4;
    to[8] = (c1 * d0 + c3 * d1) + (c5 * d2 + c7 * d3);
    to[16] = c2 * e3 + c6 * e2;
    to[24] = (c3 * d0 - c7 * d1) - (c1 * d2 + c5 * d3);
    to[32] = (e0 - e1) * c4;
    to[40] = (c5 * d0 - c1 * d1) + (c7 * d2 + c3 * d3);
    to[48] = c6 * e3 - c2 * e2;
    to[56] = (c7 * d0 - c5 * d1) + (c3 * d2 - c1 * d3);
}

/* ---- activity ---- */

/* Returns the factor of what a bit is worth in a block of luma, of its samples: it grows with their
 * standard deviation. */
GF_LOOK_FORMULA float gf_look_busy(const float *samples, int pitch)
{
    const float flat = 1.6f, usual = 10.0f, greatest = 5.0f;
    float sum = 0, squares = 0;
    for (int y = 0; y < GF_LOOK_SIDE; y++) {
        const float *const v = samples + y * pitch;
        sum += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
        squares += ((v[0] * v[0] + v[1] * v[1]) + (v[2] * v[2] + v[3] * v[3])) +
                   ((v[4] * v[4] + v[5] * v[5]) + (v[6] * v[6] + v[7] * v[7]));
    }
    const float mean = sum * (1.0f / GF_LOOK_BLOCK),
                variance = squares * (1.0f / GF_LOOK_BLOCK) - mean * mean;
    const float busy = (sqrtf(variance > 0 ? variance : 0) + flat) / usual;
    return busy < greatest ? busy : greatest;
}

/* ---- rounding ---- */

/* A coefficient is tried as the number of quantisers to which it is rounded up from this fraction
 * on, as the number below it, and as zero. */
#define GF_LOOK_ROUND 0.55f
enum { GF_LOOK_MOST = 1023 }; /* the greatest coefficient of a baseline JPEG */

/* Returns how many bits a value has, from 1 on. */
GF_LOOK_FORMULA int gf_look_size(int value)
{
    return (int)(gf_bits_of_float((float)value) >> 23) - 126;
}

/* A value that a block may have. */
struct gf_look_value {
    float least; /* the bits and losses of all up to this one; zeros behind it are free */
    int16_t value;
    uint8_t place;  /* in the zigzag order */
    uint8_t before; /* the index of the value before it; 0: there is none */
};

/* Quantises a block of frequencies, and writes it in the usual order, by rows. `busy` is the
 * block's factor of what a bit is worth. */
GF_LOOK_FORMULA void gf_look_quantise(const float *block, const struct gf_look *look, float busy,
                                      int16_t *to)
{
    float ratio[GF_LOOK_BLOCK];
    struct gf_look_value values[GF_LOOK_BLOCK];
    /* Values from which the next may go on, each with less bits than those behind it: one that is
     * nearer and has no more bits is better, so that few remain. */
    uint8_t open[GF_LOOK_BLOCK];
    const float bits_of_loss = 1.0f / (look->worth * busy);
    int count = 1, opened = 1, last = 0, end = 0;
    float best = look->end;
    for (int i = 0; i < GF_LOOK_BLOCK; i++)
        to[i] = 0;
    for (int k = 0; k < GF_LOOK_BLOCK; k++)
        ratio[k] = fabsf(block[look->place[k]]) * look->reciprocal[k];
    for (int k = 1; k < GF_LOOK_BLOCK; k++) {
        const int counts = ratio[k] + GF_LOOK_ROUND >= 1.0f ? k : 0;
        end = counts > end ? counts : end;
    }
    const int dc = (int)(ratio[0] + 0.5f);
    to[0] = (int16_t)(block[0] < 0 ? -dc : dc);
    values[0].least = 0;
    values[0].place = 0;
    open[0] = 0;
    for (int k = 1; k <= end; k++) {
        if (ratio[k] + GF_LOOK_ROUND < 1.0f)
            continue;
        const int rounded = (int)(ratio[k] + GF_LOOK_ROUND),
                  most = rounded < GF_LOOK_MOST ? rounded : GF_LOOK_MOST;
        struct gf_look_value next = {1e30f, 0, (uint8_t)k, 0};
        float path = 0;
        int size = 0, before = 0;
        for (int v = most; v > 0 && v >= most - 1; v--) {
            if (gf_look_size(v) != size) {
                size = gf_look_size(v);
                path = 1e30f;
                for (int i = opened - 1; i >= 0; i--) {
                    const int run = k - values[open[i]].place - 1;
                    const float bits =
                        values[open[i]].least +
                        (float)(run / GF_LOOK_RUNS) * look->bits[0][GF_LOOK_RUNS - 1] +
                        look->bits[size][run % GF_LOOK_RUNS];
                    before = bits < path ? open[i] : before;
                    path = bits < path ? bits : path;
                }
            }
            const float least = path + (float)v * ((float)v - 2.0f * ratio[k]) * bits_of_loss;
            if (least < next.least) {
                next.least = least;
                next.value = (int16_t)v;
                next.before = (uint8_t)before;
            }
        }
        const float whole = next.least + (k < GF_LOOK_BLOCK - 1 ? look->end : 0);
        last = whole < best ? count : last;
        best = whole < best ? whole : best;
        while (opened && values[open[opened - 1]].least >= next.least)
            opened--;
        open[opened++] = (uint8_t)count;
        values[count++] = next;
    }
    for (; last; last = values[last].before) {
        const int i = look->place[values[last].place];
        const int minus = block[i] < 0;
        to[i % GF_LOOK_SIDE * GF_LOOK_SIDE + i / GF_LOOK_SIDE] =
            (int16_t)((values[last].value ^ -minus) + minus);
    }
}
