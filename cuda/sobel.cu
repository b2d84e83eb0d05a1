/* Sobel's magnitude. What a row has to say of the two others is kept along the row: its slope, right
 * - left, and itself smoothed, left + 2 here + right. */
#include "strip.cuh"
#include "stencils.h"

#ifndef SOBEL_ROWS
#define SOBEL_ROWS 16
#endif
enum { ROWS = SOBEL_ROWS };

struct sobel_args {
    struct picture p;
    float scale;
};

/* The square root as the device has an instruction for it, without care for denormal arguments:
 * there are none. */
static __device__ __forceinline__ float root_of(float square)
{
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
}

/* sqrt(x^2 + y^2) scale, clamped and rounded, in byte 1. Clamping is free in a multiplication that
 * ends in 0..1; the addition truncates to 8 fraction bits, with a half added above them. */
static __device__ __forceinline__ unsigned magnitude8(float x, float y, float scale)
{
    const float root = root_of(__fmaf_rn(x, x, y * y));
    return __float_as_uint(__fmaf_rz(__saturatef(root * scale), 255.0f, 32768.5f));
}

/* The rows of 8-bit samples, in pairs of tiny halves: [w][0] the even samples of word w, [w][1] the
 * odd ones. */
struct sobel8_row {
    __half2 slope[4][2], smooth[4][2];
};

template <int CHANNELS>
static __device__ __forceinline__ void scan_row8(const unsigned word[6], struct sobel8_row *row)
{
    const __half2 two = __floats2half2_rn(2.0f, 2.0f);
    __half2 pair[6][2];
#pragma unroll
    for (int i = 0; i < 12; i++)
        pair[i / 2][i % 2] = tiny_halves(word[i / 2], i % 2);
#pragma unroll
    for (int w = 1; w <= 4; w++) {
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            __half2 left, right;
            if (CHANNELS == 4) {
                left = pair[w - 1][odd];
                right = pair[w + 1][odd];
            } else if (CHANNELS == 2) {
                left = between(pair[w - 1][odd], pair[w][odd]);
                right = between(pair[w][odd], pair[w + 1][odd]);
            } else if (CHANNELS == 3) {
                left = odd ? between(pair[w - 1][0], pair[w][0]) : pair[w - 1][1];
                right = odd ? pair[w + 1][0] : between(pair[w][1], pair[w + 1][1]);
            } else {
                left = odd ? pair[w][0] : between(pair[w - 1][1], pair[w][1]);
                right = odd ? between(pair[w][0], pair[w + 1][0]) : pair[w][1];
            }
            row->slope[w - 1][odd] = __hsub2(right, left);
            row->smooth[w - 1][odd] = __hfma2(two, pair[w][odd], __hadd2(left, right));
        }
    }
}

/* One word of results from the rows above, here and below. */
static __device__ __forceinline__ unsigned magnitudes8(const struct sobel8_row &above,
                                                       const struct sobel8_row &here,
                                                       const struct sobel8_row &below, int w,
                                                       float scale)
{
    const __half2 two = __floats2half2_rn(2.0f, 2.0f);
    unsigned result[2][2];
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
        const float2 x = __half22float2(
            __hadd2(__hfma2(two, here.slope[w][odd], above.slope[w][odd]), below.slope[w][odd]));
        const float2 y = __half22float2(__hsub2(below.smooth[w][odd], above.smooth[w][odd]));
        result[0][odd] = magnitude8(x.x, y.x, scale);
        result[1][odd] = magnitude8(x.y, y.y, scale);
    }
    return __byte_perm(__byte_perm(result[0][0], result[0][1], 0x0051),
                       __byte_perm(result[1][0], result[1][1], 0x0051), 0x5410);
}

/* Three rows take turns in one place each, so that none is ever moved. */
template <int CHANNELS>
__global__ void __launch_bounds__(STRIP_THREADS) sobel8_kernel(const struct sobel_args args)
{
    __shared__ struct strip_tables<unsigned char, 1, ROWS * STRIP_WARPS + 2> tables;
    const struct strip strip = find_strip(args.p, tables, ROWS, 1, 1);
    if (strip.lines <= 0)
        return;
    const unsigned alpha = CHANNELS == 4 ? 0xFF000000u : CHANNELS == 2 ? 0xFF00FF00u : 0;
    struct strip_row<1> next;
    struct sobel8_row row[3];
    unsigned word[6], here[4];
    fetch_row<unsigned char>(strip, 0, &next);
#pragma unroll 1
    for (int base = -2; base < strip.lines; base += 3) {
#pragma unroll
        for (int u = 0; u < 3; u++) {
            const int i = base + u;
            if (i >= strip.lines)
                break;
#pragma unroll
            for (int w = 0; w < 4; w++)
                here[w] = word[w + 1];
            join_row(strip, next, word);
            if (i + 1 < strip.lines)
                fetch_row<unsigned char>(strip, i + 3, &next);
            scan_row8<CHANNELS>(word, &row[u]);
            if (i < 0)
                continue;
            unsigned out[4];
#pragma unroll
            for (int w = 0; w < 4; w++) {
                out[w] = magnitudes8(row[(u + 1) % 3], row[(u + 2) % 3], row[u], w, args.scale);
                out[w] = (out[w] & ~alpha) | (here[w] & alpha);
            }
            store_row(args.p, strip, i, out);
        }
    }
}

/* The rows of 16-bit samples in float, whose whole numbers reach to 2^24: the gradients are exact.
 */
struct sobel16_row {
    float slope[8], smooth[8];
};

template <int CHANNELS, int BESIDE>
static __device__ __forceinline__ void scan_row16(const unsigned *word, struct sobel16_row *row)
{
    float v[8 + 4 * BESIDE];
#pragma unroll
    for (int w = 0; w < 4 + 2 * BESIDE; w++) {
        v[2 * w] = float_of_low(word[w]);
        v[2 * w + 1] = float_of_high(word[w]);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const float *const here = v + 2 * BESIDE + i;
        row->slope[i] = here[CHANNELS] - here[-CHANNELS];
        row->smooth[i] = here[CHANNELS] + here[-CHANNELS] + 2.0f * here[0];
    }
}

/* In the lower 16 bits. */
static __device__ __forceinline__ unsigned magnitude16(float x, float y, float scale)
{
    const float result = fminf(root_of(__fmaf_rn(x, x, y * y)) * scale, 65535.0f);
    return __float_as_uint(__fadd_rz(result + 0.5f, 8388608.0f));
}

template <int CHANNELS>
__global__ void __launch_bounds__(STRIP_THREADS) sobel16_kernel(const struct sobel_args args)
{
    enum { BESIDE = CHANNELS > 2 ? 2 : 1 };
    __shared__ struct strip_tables<unsigned short, BESIDE, ROWS * STRIP_WARPS + 2> tables;
    const struct strip strip = find_strip(args.p, tables, ROWS, 1, 1);
    if (strip.lines <= 0)
        return;
    struct strip_row<BESIDE> next;
    struct sobel16_row row[3];
    unsigned word[4 + 2 * BESIDE], here[4];
    fetch_row<unsigned short>(strip, 0, &next);
#pragma unroll 1
    for (int base = -2; base < strip.lines; base += 3) {
#pragma unroll
        for (int u = 0; u < 3; u++) {
            const int i = base + u;
            if (i >= strip.lines)
                break;
#pragma unroll
            for (int w = 0; w < 4; w++)
                here[w] = word[w + BESIDE];
            join_row(strip, next, word);
            if (i + 1 < strip.lines)
                fetch_row<unsigned short>(strip, i + 3, &next);
            scan_row16<CHANNELS, BESIDE>(word, &row[u]);
            if (i < 0)
                continue;
            const struct sobel16_row &above = row[(u + 1) % 3], &middle = row[(u + 2) % 3];
            unsigned out[4];
#pragma unroll
            for (int w = 0; w < 4; w++) {
                unsigned result[2];
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    const int n = 2 * w + k;
                    result[k] =
                        magnitude16(2.0f * middle.slope[n] + above.slope[n] + row[u].slope[n],
                                    row[u].smooth[n] - above.smooth[n], args.scale);
                }
                out[w] = __byte_perm(result[0], result[1], 0x5410);
                if (CHANNELS == 2 || (CHANNELS == 4 && w % 2))
                    out[w] = __byte_perm(out[w], here[w], 0x7610);
            }
            store_row(args.p, strip, i, out);
        }
    }
}

extern "C" int gf_sobel_cuda(const struct gf_launch *launch)
{
    static void (*const kernels[2][4])(const struct sobel_args) = {
        {sobel8_kernel<1>, sobel8_kernel<2>, sobel8_kernel<3>, sobel8_kernel<4>},
        {sobel16_kernel<1>, sobel16_kernel<2>, sobel16_kernel<3>, sobel16_kernel<4>}};
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    const int wide = launch->in.format.bits == 16;
    struct sobel_args args = {};
    args.p = picture_of(launch, sobel->border);
    args.scale = wide ? sobel->scale : sobel->scale * (16777216.0f / 255.0f);
    kernels[wide][args.p.channels - 1]<<<strip_blocks(args.p, wide ? 2 : 1, ROWS), STRIP_THREADS,
                                         0, (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}
