/* What the kernels that make pixels share: colour, and stores; and their launchers. */
#ifndef GF_CUDA_JPEG_PIXELS_CUH
#define GF_CUDA_JPEG_PIXELS_CUH

#include "cuda/jpeg/strips.cuh"

/* libjpeg's tables (jdcolor.c) as what they are made of, with 16 bits of fraction. */
enum {
    COLOUR_BITS = 16,
    CR_TO_RED = 91881,
    CB_TO_GREEN = -22554,
    CR_TO_GREEN = -46802,
    CB_TO_BLUE = 116130,
    COLOUR_HALF = 1 << (COLOUR_BITS - 1),
    RED_START = COLOUR_HALF - 128 * CR_TO_RED,
    GREEN_START = COLOUR_HALF - 128 * (CB_TO_GREEN + CR_TO_GREEN),
    BLUE_START = COLOUR_HALF - 128 * CB_TO_BLUE
};

/* Red, green and blue of one pixel with 16 bits of fraction, not clamped. luma: Y << 16. */
static __device__ __forceinline__ void to_rgb(int luma, int cb, int cr, int rgb[3])
{
    rgb[0] = cr * CR_TO_RED + (luma + RED_START);
    rgb[1] = cb * CB_TO_GREEN + (cr * CR_TO_GREEN + (luma + GREEN_START));
    rgb[2] = cb * CB_TO_BLUE + (luma + BLUE_START);
}

/* The channels of two pixels, one in each half of a word, from words that hold a sample of either
 * pixel in each half; those of chroma have `shift` bits of fraction, which is cut off. */
template <int SHIFT>
static __device__ __forceinline__ void pair_to_rgb(unsigned luma, unsigned cb, unsigned cr,
                                                   unsigned rgb[3])
{
    int low[3], high[3];
    to_rgb((int)(luma << 16), cb >> SHIFT & 255, cr >> SHIFT & 255, low);
    to_rgb((int)(luma & 0xFFFF0000u), cb >> (16 + SHIFT), cr >> (16 + SHIFT), high);
#pragma unroll
    for (int c = 0; c < 3; c++)
        rgb[c] = clamp_pair(__byte_perm((unsigned)low[c], (unsigned)high[c], 0x7632), 0, 255);
}

/* Twelve bytes: pixels 0 to 3 from the channels of 0 and 2, and of 1 and 3. */
static __device__ __forceinline__ void interleave(const unsigned even[3], const unsigned odd[3],
                                                  unsigned words[3])
{
    const unsigned rg = even[0] + even[1] * 256; /* of 0 and 2 */
    const unsigned br = even[2] + odd[0] * 256;
    const unsigned gb = odd[1] + odd[2] * 256;
    words[0] = __byte_perm(rg, br, 0x5410);
    words[1] = __byte_perm(gb, rg, 0x7610);
    words[2] = __byte_perm(br, gb, 0x7632);
}

/* Stores the first `rest` of 16 bytes. */
static __device__ __forceinline__ void store_vector(unsigned char *to, int rest, uint4 bytes)
{
    if (rest >= VECTOR) {
        *(uint4 *)to = bytes;
        return;
    }
    const unsigned words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
    for (int b = 0; b < VECTOR; b++) {
        if (b < rest)
            to[b] = (unsigned char)(words[b / 4] >> 8 * (b % 4));
    }
}

/* Makes planes of components first and beyond; direct: of one component, straight into `out`. The
 * blocks of a picture are gf_jpeg_plane_blocks(). (planes.cu) */
cudaError_t jpeg_planes(const struct launch_pictures &launch, const struct group_arrays &group,
                        int first, bool direct, cudaStream_t stream);

/* How the chroma of a picture becomes as large as its luma. */
enum jpeg_sampling { JPEG_GRAY, JPEG_444, JPEG_422, JPEG_420, JPEG_OTHER };

/* Makes pixels of luma's coefficients, and of chroma's coefficients (JPEG_444) or planes.
 * (fused.cu)
 */
cudaError_t jpeg_fused(const struct launch_pictures &launch, const struct group_arrays &group,
                       enum jpeg_sampling sampling, cudaStream_t stream);

/* Makes pixels of three planes with any sampling. (upsample.cu) */
cudaError_t jpeg_upsample(const struct launch_pictures &launch, const struct group_arrays &group,
                          cudaStream_t stream);

#endif
