/* Upsamples chroma by libjpeg's triangle filter (jdsample.c) and converts colours. Each half of a
 * word holds a sample of one pixel, so that an instruction on a word works on two pixels. A lane
 * computes 8 pixels of a row; its words hold pixels 0 and 4, 1 and 5, 2 and 6, 3 and 7. */
#pragma once

#include "cuda/jpeg/pixels.cuh"

/* Four samples of a row of a plane, and the two samples beside them. */
struct chroma_row {
    unsigned even, odd, ends; /* samples 0 and 2, 1 and 3, -1 and 4 */
};

/* Loads four samples of row `row`. `from` points to the lane's sample 0 in the plane's first
 * row. */
static __device__ __forceinline__ struct chroma_row load_chroma(const struct surface &plane,
                                                                const unsigned char *from, int row)
{
    const unsigned inside = min(max(row, 0), plane.height - 1);
    const unsigned char *const line = as_it_is(from + (size_t)inside * plane.pitch);
    const unsigned own = __ldg((const unsigned *)line);
    return {own & 0x00FF00FFu, __byte_perm(own, 0, 0x4341),
            __ldg(line - 1) + __ldg(line + 4) * 0x10000u};
}

static __device__ __forceinline__ struct chroma_row mix_rows(const struct chroma_row &near,
                                                             const struct chroma_row &far)
{
    return {3 * near.even + far.even, 3 * near.odd + far.odd, 3 * near.ends + far.ends};
}

/* Filters along the row and returns eight samples in `out`. Each sample is in the upper eight bits
 * of half a word, as a signed number minus 128. The sums have FRACTION fraction bits; `even` and
 * `odd` are added for even and odd pixels before the fraction is dropped. */
template <int FRACTION>
static __device__ __forceinline__ void upsample_row(const struct chroma_row &row, unsigned even,
                                                    unsigned odd, unsigned out[4])
{
    constexpr unsigned SCALE = 1 << (8 - FRACTION);
    /* A carry from the lower half of a word into its upper half changes only bits that are
     * dropped. */
    const unsigned even_start = (even * SCALE + 0x8000) * 0x10001u;
    const unsigned odd_start = (odd * SCALE + 0x8000) * 0x10001u;
    const unsigned before = __byte_perm(row.ends, row.odd, 0x5410);
    const unsigned behind = __byte_perm(row.even, row.ends, 0x7632);
    out[0] = 3 * SCALE * row.even + even_start + SCALE * before;
    out[1] = 3 * SCALE * row.even + odd_start + SCALE * row.odd;
    out[2] = 3 * SCALE * row.odd + even_start + SCALE * row.even;
    out[3] = 3 * SCALE * row.odd + odd_start + SCALE * behind;
}

/* Computes red, green and blue of two pixels, before clamping and rounding. `cb` and `cr` are
 * results of upsample_row(); `half` is COLOUR_HALF, in a register. */
static __device__ __forceinline__ void pair_to_rgb(unsigned luma, unsigned cb, unsigned cr,
                                                   unsigned half, int low[3], int high[3])
{
    to_rgb((int)(luma * 0x10000u + half), signed_second_byte(cb), signed_second_byte(cr), low);
    to_rgb((int)__byte_perm(luma, half, 0x3254), (int)cb >> 24, (int)cr >> 24, high);
}

/* Packs four pixels into twelve bytes. */
static __device__ __forceinline__ void pack_rgb(const int rgb[12], unsigned words[3])
{
    unsigned pairs[6];
#pragma unroll
    for (int p = 0; p < 6; p++)
        pairs[p] = clamp_pair(__byte_perm((unsigned)rgb[2 * p], (unsigned)rgb[2 * p + 1], 0x7632),
                              0u, 255);
#pragma unroll
    for (int w = 0; w < 3; w++)
        words[w] = __byte_perm(pairs[2 * w], pairs[2 * w + 1], 0x6420);
}

/* Converts eight pixels to 24 bytes. */
static __device__ __forceinline__ void convert_row(const unsigned luma[4], const unsigned cb[4],
                                                   const unsigned cr[4], unsigned half,
                                                   unsigned char *to)
{
    int rgb[2][12];
    unsigned words[2][3];
#pragma unroll
    for (int p = 0; p < 4; p++)
        pair_to_rgb(luma[p], cb[p], cr[p], half, rgb[0] + 3 * p, rgb[1] + 3 * p);
    pack_rgb(rgb[0], words[0]);
    pack_rgb(rgb[1], words[1]);
    ((uint2 *)to)[0] = make_uint2(words[0][0], words[0][1]);
    ((uint2 *)to)[1] = make_uint2(words[0][2], words[1][0]);
    ((uint2 *)to)[2] = make_uint2(words[1][1], words[1][2]);
}
