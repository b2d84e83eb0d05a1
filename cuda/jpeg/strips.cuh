/* How the kernels that make pixels divide a group of pictures: into strips of 16 blocks side by
 * side, a warp each. */
#ifndef GF_CUDA_JPEG_STRIPS_CUH
#define GF_CUDA_JPEG_STRIPS_CUH

#include "cuda/common/launch.cuh"
#include "cuda/jpeg/batch.cuh"
#include "cuda/jpeg/inverse_dct.cuh"

enum {
    BLOCK_SIDE = 8,
    BLOCK_COEFFICIENTS = 64,
    STRIP_BLOCKS = 16,
    STRIP_PIXELS = STRIP_BLOCKS * BLOCK_SIDE,
    STRIP_WARPS = 4, /* of a block of threads */
    STRIP_THREADS = STRIP_WARPS * WARP,
    LAUNCH_PICTURES = 128
};

/* The pictures of one launch. Blocks of threads first[i] .. first[i + 1] - 1 work on picture[i] of
 * the group. */
struct launch_pictures {
    int count;
    unsigned first[LAUNCH_PICTURES + 1];
    int picture[LAUNCH_PICTURES];
    size_t scratch[LAUNCH_PICTURES]; /* offset of the picture's planes */
};

/* The arrays of a group; see batch.cuh. */
struct group_arrays {
    const struct jpeg_picture *pictures;
    const int16_t *coefficients, *dc;
    const uint16_t *quantisers;
    unsigned *flags;
    unsigned char *scratch;
};

/* Which picture this block of threads works on, as an index into launch_pictures. */
static __device__ __forceinline__ int find_picture(const struct launch_pictures &launch)
{
    int low = 0, high = launch.count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (blockIdx.x < launch.first[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

static __host__ __device__ __forceinline__ int largest(const int *values, int count)
{
    int most = values[0];
    for (int i = 1; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

/* A component as samples. The plane has whole strips, so that no store must be cut off. */
struct plane {
    int width, height; /* libjpeg's downsampled_width and downsampled_height */
    int strips, block_rows;
    size_t pitch, bytes;
};

static __host__ __device__ __forceinline__ struct plane plane_of(const struct jpeg_picture &picture,
                                                                 int component)
{
    const int h = picture.h[component], v = picture.v[component];
    struct plane plane;
    plane.width = ceil_div(picture.width * h, largest(picture.h, picture.components));
    plane.height = ceil_div(picture.height * v, largest(picture.v, picture.components));
    plane.strips = ceil_div(plane.width, STRIP_PIXELS);
    plane.block_rows = ceil_div(plane.height, BLOCK_SIDE);
    plane.pitch = (size_t)plane.strips * STRIP_PIXELS;
    plane.bytes = plane.pitch * plane.block_rows * BLOCK_SIDE;
    return plane;
}

/* The lane's block of a strip (lanes 16 to 31 have those of 0 to 15): its index among the group's.
 * Blocks right of the picture are replaced by its last. */
static __device__ __forceinline__ unsigned strip_block(const struct jpeg_picture &picture,
                                                       int component, int strip, int row, int lane)
{
    const unsigned h = picture.h[component], v = picture.v[component];
    const unsigned last = picture.mcus_across * h - 1;
    const unsigned column = min(strip * STRIP_BLOCKS + lane % STRIP_BLOCKS, last);
    const unsigned mcu = row / v * picture.mcus_across + column / h;
    unsigned block = row % v * h + column % h;
    for (int c = 0; c < component; c++)
        block += picture.h[c] * picture.v[c];
    return picture.first_block + mcu * picture.blocks_per_mcu + block;
}

/* Transforms a strip and calls store(b, samples of the lane) for each of its blocks; see
 * dct_transform(). */
template <class Store>
static __device__ __forceinline__ void
transform_strip(const struct group_arrays &group, struct dct_lane &dct, const uint16_t *quantisers,
                unsigned block, int lane, const Store &store)
{
    dct_set_quantisers(dct, lane, quantisers);
    const bool wide = __any_sync(~0u, dct.scale_high != 0);
    const int dc = dct_dc_term(dct, group.dc[block], (int16_t)quantisers[0]);
    const unsigned *const words = (const unsigned *)group.coefficients + lane;
    unsigned pair[STRIP_BLOCKS];
#pragma unroll
    for (int b = 0; b < STRIP_BLOCKS; b++)
        pair[b] = __ldcs(words + (size_t)__shfl_sync(~0u, block, b) * (BLOCK_COEFFICIENTS / 2));
#pragma unroll
    for (int b = 0; b < STRIP_BLOCKS; b += 2) {
        const int terms[2] = {__shfl_sync(~0u, dc, b), __shfl_sync(~0u, dc, b + 1)};
        unsigned samples[2];
        dct_transform(dct, wide, pair + b, terms, samples);
        store(b, samples[0]);
        store(b + 1, samples[1]);
    }
}

static __device__ __forceinline__ void
report_range(const struct group_arrays &group, const struct dct_lane &dct, int picture, int lane)
{
    if (__any_sync(~0u, !dct_in_range(dct)) && lane == 0)
        atomicOr(group.flags + picture, JPEG_OUT_OF_RANGE);
}

#endif
