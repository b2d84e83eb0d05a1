/* What the kernels that compute pixels share. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/jpeg/decode.cuh"
#include "cuda/jpeg/inverse_dct.cuh"

/* Divides the work on a group's pixels: a launch has jobs; a job has strips of 16 blocks of 8 x 8
 * samples side by side, or of 32 smaller blocks; a warp computes a strip. */

enum {
    BLOCK_SIDE = 8,
    BLOCK_COEFFICIENTS = 64,
    STRIP_BLOCKS = 16,
    STRIP_PIXELS = STRIP_BLOCKS * BLOCK_SIDE,
    STRIP_WARPS = 2, /* the warps of a thread block */
    STRIP_THREADS = STRIP_WARPS * WARP,
    STRIP_RESIDENT = 16 /* the thread blocks that a multiprocessor should hold */
};

/* Divides numbers below 2^23 by a number below 2^9, without a division. */
struct divisor {
    unsigned by, factor;
};

static inline struct divisor divisor_of(unsigned by)
{
    return {by, by == 1 ? 0 : 0xFFFFFFFFu / by + 1};
}

static __device__ __forceinline__ unsigned divide(unsigned value, const struct divisor &divisor)
{
    return divisor.factor ? __umulhi(value, divisor.factor) : value;
}

/* The positions of a component's blocks. The blocks of the first MCU begin at first_block. */
struct component_blocks {
    struct divisor h, v;
    unsigned last_column, mcus_across, mcu_blocks, first_block;
};

struct surface {
    unsigned char *data;
    unsigned pitch; /* the distance between rows, in bytes */
    int width, height;
};

/* The work on a component of a picture, or on the whole picture. */
struct strip_job {
    unsigned first, end;   /* the job's first thread block, and the end of its thread blocks */
    int picture;           /* the index of the picture in the group */
    int component, side;   /* side: the samples across a block */
    struct divisor strips; /* the number of strips in a row */
    int block_rows;
    struct component_blocks blocks;
    struct surface out;       /* the pixels, or the samples of the component */
    struct surface planes[3]; /* the components to be upsampled */
    bool edges;               /* `out` is a plane that needs edges; see store_edges() */
    /* Members for gf_jpeg_upsample(): the pixels for each sample of the planes, whether samples are
     * filtered, and whether colours are YCbCr. */
    int across[3], down[3];
    bool filtered, ycc;
};

struct strip_launch {
    const struct strip_job *jobs; /* the jobs, in device memory */
    int count;
    unsigned guess; /* the number of jobs for 2^32 thread blocks */
    unsigned blocks;
};

/* The arrays of a group; see decode.cuh. */
struct group_arrays {
    const int16_t *coefficients, *dc;
    const uint16_t *quantisers;
    unsigned *flags;
};

/* Returns the job of this thread block. The search starts at a guess, which is right if all jobs
 * have the same size. */
static __device__ __forceinline__ const struct strip_job &
find_job(const struct strip_launch &launch)
{
    int at = min((int)__umulhi(blockIdx.x, launch.guess), launch.count - 1);
    while (blockIdx.x < launch.jobs[at].first)
        at--;
    while (blockIdx.x >= launch.jobs[at].end)
        at++;
    return launch.jobs[at];
}

/* The position of the warp's strip. Strips are counted along the rows; block_row may be beyond the
 * last row. */
struct strip_place {
    int strip, block_row;
};

static __device__ __forceinline__ struct strip_place find_strip(const struct strip_job &job)
{
    const unsigned at = (blockIdx.x - job.first) * STRIP_WARPS + threadIdx.x / WARP;
    const unsigned row = divide(at, job.strips);
    return {(int)(at - row * job.strips.by), (int)row};
}

/* Whether the warp has a strip to compute. A flagged picture has no strips, since its blocks may
 * never have been written. */
static __device__ __forceinline__ bool
has_strip(const struct strip_job &job, const struct strip_place &place, const unsigned *flags)
{
    return place.block_row < job.block_rows && !__any_sync(~0u, flags[job.picture]);
}

/* Returns the index in the group of the lane's block, in a strip of BLOCKS blocks. In a strip of
 * 16, lanes 16 to 31 have the blocks of lanes 0 to 15. A block to the right of the picture is
 * replaced by the last block of the row. */
template <int BLOCKS = STRIP_BLOCKS>
static __device__ __forceinline__ unsigned strip_block(const struct component_blocks &blocks,
                                                       const struct strip_place &place, int lane)
{
    const unsigned column =
        min((unsigned)(place.strip * BLOCKS + lane % BLOCKS), blocks.last_column);
    const unsigned across = divide(column, blocks.h), down = divide(place.block_row, blocks.v);
    const unsigned within =
        (place.block_row - down * blocks.v.by) * blocks.h.by + column - across * blocks.h.by;
    return blocks.first_block + (down * blocks.mcus_across + across) * blocks.mcu_blocks + within;
}

enum { STRIP_LOADS = 8 }; /* the loads of a lane that are under way at the same time */

/* Loads the lane's words of the next blocks. `words` points to the words of the strip's first
 * block; `offset` is the distance of the lane's own block from there, in bytes. */
static __device__ __forceinline__ void load_words(const char *words, unsigned offset,
                                                  unsigned pair[STRIP_LOADS])
{
#pragma unroll
    for (int b = 0; b < STRIP_LOADS; b++)
        pair[b] = __ldcs((const unsigned *)(words + __shfl_sync(~0u, offset, b)));
}

/* Transforms a strip and calls store(b, samples) for each of its blocks b, with the lane's samples
 * from dct_transform(). `block` is the result of strip_block(). */
template <class Store>
static __device__ __forceinline__ void
transform_strip(const struct group_arrays &group, struct dct_lane &dct, const uint16_t *quantisers,
                unsigned block, int lane, const Store &store)
{
    const unsigned first_block = __shfl_sync(~0u, block, 0);
    const char *const words =
        (const char *)(group.coefficients + (size_t)first_block * BLOCK_COEFFICIENTS) +
        lane * sizeof(unsigned);
    unsigned offset = (block - first_block) * (BLOCK_COEFFICIENTS * sizeof(int16_t));
    unsigned pair[STRIP_LOADS];
    load_words(words, offset, pair); /* the loads begin before the code below, which takes time */
    dct_set_quantisers(dct, lane, quantisers);
    const bool wide = __any_sync(~0u, dct.scale_high != 0);
    int dc = dct_dc_term(dct, group.dc[block], (int16_t)quantisers[0]);
#pragma unroll 1
    for (int first = 0;;) {
#pragma unroll
        for (int b = 0; b < STRIP_LOADS; b += DCT_BLOCKS) {
            int terms[DCT_BLOCKS];
            unsigned samples[DCT_BLOCKS];
#pragma unroll
            for (int k = 0; k < DCT_BLOCKS; k++)
                terms[k] = __shfl_sync(~0u, dc, b + k);
            dct_transform(dct, wide, pair + b, terms, samples);
#pragma unroll
            for (int k = 0; k < DCT_BLOCKS; k++)
                store(first + b + k, samples[k]);
        }
        first += STRIP_LOADS;
        if (first == STRIP_BLOCKS)
            break;
        offset = __shfl_down_sync(~0u, offset, STRIP_LOADS);
        dc = __shfl_down_sync(~0u, dc, STRIP_LOADS);
        load_words(words, offset, pair);
    }
}

static __device__ __forceinline__ void
report_range(const struct group_arrays &group, const struct dct_lane &dct, int picture, int lane)
{
    if (__any_sync(~0u, dct.beyond != 0) && lane == 0)
        atomicOr(group.flags + picture, JPEG_OUT_OF_RANGE);
}

/* Copies 16 bytes of a row from shared memory to the surface, up to the row's end. */
static __device__ __forceinline__ void store_vector(unsigned char *to, const unsigned char *from,
                                                    int rest)
{
    if (rest >= VECTOR) {
        __stcg((uint4 *)to, *(const uint4 *)from);
        return;
    }
#pragma unroll 1
    for (int b = 0; b < rest; b++)
        to[b] = from[b];
}

/* Declares the kernels that compute pixels, and converts colours. */

/* The factors of libjpeg's tables (jdcolor.c), with 16 fraction bits. */
enum {
    COLOUR_BITS = 16,
    COLOUR_HALF = 1 << (COLOUR_BITS - 1),
    CR_TO_RED = 91881,
    CB_TO_GREEN = -22554,
    CR_TO_GREEN = -46802,
    CB_TO_BLUE = 116130
};

/* Computes red, green and blue with 16 fraction bits, before clamping. `luma` has 16 fraction bits,
 * and half of the last digit has been added to it; 128 has been subtracted from `cb` and `cr`. */
static __device__ __forceinline__ void to_rgb(int luma, int cb, int cr, int rgb[3])
{
    rgb[0] = luma + cr * CR_TO_RED;
    rgb[1] = luma + cr * CR_TO_GREEN + cb * CB_TO_GREEN;
    rgb[2] = luma + cb * CB_TO_BLUE;
}

/* Computes planes of components with blocks of 8 x 8 samples, and gray pictures. (planes.cu) */
cudaError_t gf_jpeg_make_planes(const struct strip_launch &launch, const struct group_arrays &group,
                                cudaStream_t stream);

/* Computes planes of components with blocks of 4 x 4, 2 x 2 and 1 x 1 samples, and gray pictures.
 * (planes.cu) */
cudaError_t gf_jpeg_make_reduced_planes(const struct strip_launch &launch,
                                        const struct group_arrays &group, cudaStream_t stream);

/* The launches in their order: first all planes and gray pictures, then one launch for each
 * sampling of chroma. */
enum jpeg_launch {
    JPEG_PLANES,
    JPEG_REDUCED_PLANES,
    JPEG_444,
    JPEG_422,
    JPEG_420,
    JPEG_OTHER,
    JPEG_EQUAL, /* the planes have the picture's size */
    JPEG_LAUNCHES
};

/* Computes pixels from the coefficients of luma, and from the coefficients (JPEG_444) or the planes
 * of chroma. (fused.cu) */
cudaError_t gf_jpeg_make_pixels(const struct strip_launch &launch, const struct group_arrays &group,
                                enum jpeg_launch sampling, cudaStream_t stream);

/* Computes pixels from three planes of any sampling. (upsample.cu) */
cudaError_t gf_jpeg_upsample(const struct strip_launch &launch, const struct group_arrays &group,
                             cudaStream_t stream);

/* Computes pixels from planes of the picture's size. (upsample.cu) */
cudaError_t gf_jpeg_convert(const struct strip_launch &launch, const struct group_arrays &group,
                            cudaStream_t stream);
