/* Short programs that add alpha to 8-bit RGB. */
#pragma once

#include "cuda/filters/point/point_short.cuh"

/* ---- operations: each computes a vector from four pixels in three words ---- */

struct short_fade {
    static constexpr bool POSITION = true;
    static __device__ __forceinline__ void alphas(const struct short_run &run, unsigned x,
                                                  float row, const unsigned *, float alpha[4])
    {
        float column[4];
        unpack(*(const float4 *)(run.columns + x), column);
        fields_at(run, column, row, alpha);
    }
};

/* Computes gf_point_key_of(). Most pixels are so far from the colour, or so near to it, that their
 * result needs no root. A margin of a ten-thousandth on either side exceeds any rounding error. */
struct short_key {
    static constexpr bool POSITION = false;
    static __device__ __forceinline__ void alphas(const struct short_run &run, unsigned, float,
                                                  const unsigned *w, float alpha[4])
    {
        const struct gf_point_op &op = run.op[1];
        const float least = op.c * 0.9999f, most = (op.c + 1.0f / op.d) * 1.0001f;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float r = byte_of(w[3 * i / 4], 3 * i % 4, run.exponent);
            const float g = byte_of(w[(3 * i + 1) / 4], (3 * i + 1) % 4, run.exponent);
            const float b = byte_of(w[(3 * i + 2) / 4], (3 * i + 2) % 4, run.exponent);
            const float y = fmaf(0.299f, r, fmaf(0.587f, g, 0.114f * b));
            const float cb = (b - y) * 0.56433409f - op.a, cr = (r - y) * 0.71326676f - op.b;
            const float square = fmaf(cb, cb, cr * cr);
            alpha[i] = square > most * most ? 1.0f : 0.0f;
            if (square >= least * least && square <= most * most)
                alpha[i] = limited((sqrtf(square) - op.c) * op.d, 1.0f);
        }
    }
};

template <class OPERATION>
static __device__ __forceinline__ uint4 with_alpha(const struct short_run &run, unsigned x,
                                                   float row, const unsigned w[3])
{
    const float max = run.op[0].max;
    float alpha[4];
    OPERATION::alphas(run, x, row, w, alpha);
    const unsigned a = samples_of(max * alpha[0], max * alpha[1], max * alpha[2], max * alpha[3]);
    return make_uint4(
        __byte_perm(w[0], a, 0x4210), __byte_perm(__byte_perm(w[0], w[1], 0x0543), a, 0x5210),
        __byte_perm(__byte_perm(w[1], w[2], 0x0432), a, 0x6210), __byte_perm(w[2], a, 0x7321));
}

/* Neighbouring threads process neighbouring groups of four pixels; the result of a group is a
 * vector. The last pixels of a row, fewer than four, are read and written one by one. */
template <class OPERATION>
__global__ void __launch_bounds__(SHORT_WARPS *WARP)
    short8_alpha_kernel(const __grid_constant__ struct short_run run)
{
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * SHORT_WARPS + warp;
    early_next();
    early_wait();
    if (index >= (unsigned)run.band.rows * run.row_tiles)
        return;
    const struct tile tile = short_tile(run, index);
    const unsigned char *const in =
        run.band.in + tile.row * run.band.in_pitch + (size_t)tile.first * 3;
    unsigned char *const out =
        run.band.out + tile.row * run.band.out_pitch + (size_t)tile.first * 4;
    const float row = OPERATION::POSITION ? run.rows[run.first_row + tile.row] : 0.0f;
    unsigned w[SHORT_GROUPS][3];
    take_groups<3>(in, lane, tile.pixels, w);
#pragma unroll
    for (int k = 0; k < SHORT_GROUPS; k++) {
        const unsigned pixel = (lane + k * WARP) * 4;
        if (pixel >= tile.pixels)
            break;
        const uint4 v = with_alpha<OPERATION>(run, tile.first + pixel, row, w[k]);
        if (pixel + 4 <= tile.pixels) {
            *(uint4 *)(out + pixel * 4) = v;
        } else {
            unsigned *const words = (unsigned *)(out + pixel * 4);
            words[0] = v.x;
            if (pixel + 1 < tile.pixels)
                words[1] = v.y;
            if (pixel + 2 < tile.pixels)
                words[2] = v.z;
        }
    }
}
