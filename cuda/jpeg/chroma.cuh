/* Upsampling of chroma by libjpeg's triangle filter (jdsample.c), and colour, on words that hold a
 * sample of either of two pixels in each half. A lane makes 8 pixels of a row; its words hold
 * pixels 0 and 4, 1 and 5, 2 and 6, 3 and 7. */
#ifndef GF_CUDA_JPEG_CHROMA_CUH
#define GF_CUDA_JPEG_CHROMA_CUH

#include "cuda/jpeg/pixels.cuh"

/* Four samples of a plane's row, with one on either side. */
struct chroma_row {
    unsigned even, odd, ends; /* samples 0 and 2, 1 and 3, -1 and 4 */
};

/* from: sample 0 of the lane in the plane's first row. */
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

/* The filter along the row. even, odd: what is added before the fraction of FRACTION bits is cut
 * off, for even and odd pixels. The upper half of a word has 128 subtracted. */
template <int FRACTION>
static __device__ __forceinline__ void upsample_row(const struct chroma_row &row, unsigned even,
                                                    unsigned odd, unsigned out[4])
{
    constexpr unsigned CENTRE = 128u << (FRACTION + 16);
    const unsigned start = even * 0x10001u - CENTRE, more = (odd - even) * 0x10001u;
    const unsigned of_even = 3 * row.even + start, of_odd = 3 * row.odd + start;
    out[0] = of_even + __byte_perm(row.ends, row.odd, 0x5410);
    out[1] = of_even + row.odd + more;
    out[2] = of_odd + row.even;
    out[3] = of_odd + __byte_perm(row.even, row.ends, 0x7632) + more;
}

/* The two halves of a word of upsample_row(), less 128. */
template <int FRACTION> static __device__ __forceinline__ int low_chroma(unsigned pair)
{
    return (int)(pair * 0x10000u - (128u << (FRACTION + 16))) >> (FRACTION + 16);
}

template <int FRACTION> static __device__ __forceinline__ int high_chroma(unsigned pair)
{
    return (int)pair >> (FRACTION + 16);
}

/* half: COLOUR_HALF, in a register. */
template <int FRACTION>
static __device__ __forceinline__ void pair_to_rgb(unsigned luma, unsigned cb, unsigned cr,
                                                   unsigned half, unsigned rgb[3])
{
    int low[3], high[3];
    to_rgb((int)(luma * 0x10000u + half), low_chroma<FRACTION>(cb), low_chroma<FRACTION>(cr), low);
    to_rgb((int)__byte_perm(luma, half, 0x3254), high_chroma<FRACTION>(cb),
           high_chroma<FRACTION>(cr), high);
#pragma unroll
    for (int c = 0; c < 3; c++)
        rgb[c] = clamp_pair(__byte_perm((unsigned)low[c], (unsigned)high[c], 0x7632), 0u, 255);
}

/* Eight pixels as 24 bytes. */
template <int FRACTION>
static __device__ __forceinline__ void convert_row(const unsigned luma[4], const unsigned cb[4],
                                                   const unsigned cr[4], unsigned half,
                                                   unsigned char *to)
{
    unsigned channel[12]; /* red, green, blue of pixels 0 and 4; of 1 and 5; .. */
    uint2 *const words = (uint2 *)to;
#pragma unroll
    for (int p = 0; p < 4; p++)
        pair_to_rgb<FRACTION>(luma[p], cb[p], cr[p], half, channel + 3 * p);
    unsigned low[3], high[3];
#pragma unroll
    for (int w = 0; w < 3; w++) {
        const unsigned first = channel[4 * w] + channel[4 * w + 1] * 256;
        const unsigned second = channel[4 * w + 2] + channel[4 * w + 3] * 256;
        low[w] = __byte_perm(first, second, 0x5410);
        high[w] = __byte_perm(first, second, 0x7632);
    }
    words[0] = make_uint2(low[0], low[1]);
    words[1] = make_uint2(low[2], high[0]);
    words[2] = make_uint2(high[1], high[2]);
}

#endif
