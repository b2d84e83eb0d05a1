/* Inverse DCT, upsampling of chroma and colour in one kernel, for the usual samplings. A warp makes
 * a strip of 8 rows of 128 pixels; a lane makes 8 pixels of each of 4 of its rows. */
#include "cuda/jpeg/pixels.cuh"

enum {
    LANE_PIXELS = 8,
    LANE_ROWS = 4,
    ROW_LANES = STRIP_PIXELS / LANE_PIXELS,
    /* A row of samples, 16 bits each; 16 bytes more, so that the rows of a block lie in other
       banks. */
    SAMPLES_PITCH = STRIP_PIXELS * 2 + 16,
    ROW_BYTES = STRIP_PIXELS * 3,
    STEP_ROWS = 2, /* of a lane, between two stores; those of the strip are twice as many */
    PAIRS = 5
};

/* One plane of chroma, as a lane reads it: words of four samples, and how to choose bytes of them
 * so that samples beyond the component's edges are those at the edge. */
struct chroma {
    const unsigned char *data;
    size_t pitch;
    int rows;
    int left, own, right;    /* offsets of words in a row */
    unsigned before, behind; /* selectors */
};

static __device__ __forceinline__ struct chroma find_chroma(const struct plane &plane,
                                                            const unsigned char *data, int column)
{
    struct chroma chroma = {data,
                            plane.pitch,
                            plane.height,
                            max(column - 4, 0),
                            column,
                            min(column + 4, (int)plane.pitch - 4),
                            0,
                            0};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int first = min(max(column + k - 1, 0), plane.width - 1) - column;
        const int second = min(column + k + 1, plane.width - 1) - column;
        chroma.before |= (unsigned)max(first + 4, 0) << 4 * k;
        chroma.behind |= (unsigned)max(second, 0) << 4 * k;
    }
    return chroma;
}

/* Samples -1 and 0, 0 and 1, 1 and 2, 2 and 3, 3 and 4, counted from the lane's own first. */
static __device__ __forceinline__ void load_chroma(const struct chroma &chroma, int row,
                                                   unsigned pairs[PAIRS])
{
    const unsigned char *const line =
        chroma.data + min(max(row, 0), chroma.rows - 1) * chroma.pitch;
    const unsigned left = *(const unsigned *)(line + chroma.left);
    const unsigned own = *(const unsigned *)(line + chroma.own);
    const unsigned right = *(const unsigned *)(line + chroma.right);
    const unsigned first = __byte_perm(left, own, chroma.before);
    const unsigned second = __byte_perm(own, right, chroma.behind);
    pairs[0] = __byte_perm(first, 0, 0x4140);
    pairs[1] = __byte_perm(first, 0, 0x4241);
    pairs[2] = __byte_perm(first, 0, 0x4342);
    pairs[3] = __byte_perm(second, 0, 0x4241);
    pairs[4] = __byte_perm(second, 0, 0x4342);
}

/* libjpeg's triangle filter along a row, with its alternating rounding: upsampled chroma of pixels
 * 0 and 2, 1 and 3, 4 and 6, 5 and 7. */
static __device__ __forceinline__ void upsample_row(const unsigned pairs[PAIRS], unsigned even,
                                                    unsigned odd, unsigned out[4])
{
#pragma unroll
    for (int g = 0; g < 2; g++) {
        const unsigned own = 3 * pairs[2 * g + 1];
        out[2 * g] = own + pairs[2 * g] + even * 0x10001u;
        out[2 * g + 1] = own + pairs[2 * g + 2] + odd * 0x10001u;
    }
}

/* Upsampled chroma of STEP_ROWS rows of the lane; row: the first of them. */
template <int SAMPLING>
static __device__ __forceinline__ void upsample(const struct chroma &chroma, int row,
                                                unsigned out[STEP_ROWS][4])
{
    if (SAMPLING == JPEG_422) {
#pragma unroll
        for (int r = 0; r < STEP_ROWS; r++) {
            unsigned pairs[PAIRS];
            load_chroma(chroma, row + r, pairs);
            upsample_row(pairs, 1, 2, out[r]);
        }
    } else {
        unsigned own[PAIRS];
        load_chroma(chroma, row / 2, own);
#pragma unroll
        for (int r = 0; r < STEP_ROWS; r++) {
            unsigned other[PAIRS];
            load_chroma(chroma, row / 2 + (r ? 1 : -1), other);
#pragma unroll
            for (int p = 0; p < PAIRS; p++)
                other[p] += 3 * own[p];
            upsample_row(other, 8, 7, out[r]);
        }
    }
}

/* Where a lane stores the strip's pixels, 16 bytes at a time. */
struct strip_out {
    unsigned char *data; /* the strip's first pixel */
    size_t pitch;
    int rows, bytes; /* of the picture, from the strip's first on */
};

/* Stores STEP_ROWS rows of the upper and of the lower half of the strip. row: the first. */
static __device__ __forceinline__ void store_rows(const struct strip_out &out,
                                                  const unsigned char *rgb, int row, int lane)
{
    enum { ACROSS = ROW_BYTES / VECTOR, ROWS = 2 * STEP_ROWS };
#pragma unroll
    for (int i = 0; i < ROWS * ACROSS / WARP; i++) {
        const unsigned at = i * WARP + lane, line = at / ACROSS, byte = at % ACROSS * VECTOR;
        const int y = row + line % STEP_ROWS + line / STEP_ROWS * LANE_ROWS;
        if (y < out.rows)
            store_vector(out.data + y * out.pitch + byte, out.bytes - (int)byte,
                         *(const uint4 *)(rgb + at * VECTOR));
    }
}

template <int SHIFT>
static __device__ __forceinline__ void convert_row(const unsigned luma[4], const unsigned cb[4],
                                                   const unsigned cr[4], unsigned char *to)
{
    unsigned words[2][3];
#pragma unroll
    for (int g = 0; g < 2; g++) {
        unsigned even[3], odd[3];
        pair_to_rgb<SHIFT>(luma[2 * g], cb[2 * g], cr[2 * g], even);
        pair_to_rgb<SHIFT>(luma[2 * g + 1], cb[2 * g + 1], cr[2 * g + 1], odd);
        interleave(even, odd, words[g]);
    }
    ((uint2 *)to)[0] = make_uint2(words[0][0], words[0][1]);
    ((uint2 *)to)[1] = make_uint2(words[0][2], words[1][0]);
    ((uint2 *)to)[2] = make_uint2(words[1][1], words[1][2]);
}

/* What a warp keeps in shared memory. */
template <int COMPONENTS> struct stage {
    __align__(16) unsigned char samples[COMPONENTS][BLOCK_SIDE * SAMPLES_PITCH];
    __align__(16) unsigned char rgb[2 * STEP_ROWS * ROW_BYTES];
};

template <int SAMPLING>
static __global__ void __launch_bounds__(STRIP_THREADS)
    fused_kernel(const struct launch_pictures launch, const struct group_arrays group)
{
    constexpr int COMPONENTS = SAMPLING == JPEG_444 ? 3 : 1;
    constexpr int SHIFT = SAMPLING == JPEG_444 ? 0 : SAMPLING == JPEG_422 ? 2 : 4;
    __shared__ struct stage<COMPONENTS> stages[STRIP_WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    struct stage<COMPONENTS> &stage = stages[warp];
    const int at = find_picture(launch), index = launch.picture[at];
    const struct jpeg_picture &picture = group.pictures[index];
    const struct plane luma = plane_of(picture, 0);
    int strip = (blockIdx.x - launch.first[at]) * STRIP_WARPS + warp;
    const int row = strip / luma.strips;
    strip -= row * luma.strips;
    if (row >= luma.block_rows)
        return;
    struct dct_lane dct;
    dct_set_matrix(dct, lane, dct_spread);
#pragma unroll 1
    for (int c = 0; c < COMPONENTS; c++) {
        unsigned char *const samples =
            stage.samples[c] + lane / 4 * SAMPLES_PITCH + lane % 4 * sizeof(unsigned);
        transform_strip(group, dct, group.quantisers + (index * 3 + c) * 64,
                        strip_block(picture, c, strip, row, lane), lane, [&](int b, unsigned pair) {
                            *(unsigned *)(samples + b * BLOCK_SIDE * 2) = pair >> 2 & 0x00FF00FFu;
                        });
    }
    report_range(group, dct, index, lane);
    __syncwarp();
    const int column = lane % ROW_LANES, half = lane / ROW_LANES * LANE_ROWS;
    struct chroma cb = {}, cr = {};
    if (SAMPLING != JPEG_444) {
        const struct plane plane = plane_of(picture, 1);
        const unsigned char *const data = group.scratch + launch.scratch[at];
        cb = find_chroma(plane, data, (strip * ROW_LANES + column) * 4);
        cr = cb;
        cr.data += plane.bytes;
    }
    const struct strip_out out = {
        picture.out + (size_t)row * BLOCK_SIDE * picture.pitch + (size_t)strip * ROW_BYTES,
        picture.pitch, picture.height - row * BLOCK_SIDE, picture.width * 3 - strip * ROW_BYTES};
#pragma unroll
    for (int step = 0; step < LANE_ROWS; step += STEP_ROWS) {
        unsigned blue[STEP_ROWS][4], red[STEP_ROWS][4];
        if (SAMPLING != JPEG_444) {
            upsample<SAMPLING>(cb, row * BLOCK_SIDE + half + step, blue);
            upsample<SAMPLING>(cr, row * BLOCK_SIDE + half + step, red);
        }
#pragma unroll
        for (int r = 0; r < STEP_ROWS; r++) {
            const int from = (half + step + r) * SAMPLES_PITCH + column * LANE_PIXELS * 2;
            unsigned luma_words[4];
            unpack(*(const uint4 *)(stage.samples[0] + from), luma_words);
            if (SAMPLING == JPEG_444) {
                unpack(*(const uint4 *)(stage.samples[COMPONENTS / 2] + from), blue[r]);
                unpack(*(const uint4 *)(stage.samples[COMPONENTS - 1] + from), red[r]);
            }
            convert_row<SHIFT>(luma_words, blue[r], red[r],
                               stage.rgb + (half / LANE_ROWS * STEP_ROWS + r) * ROW_BYTES +
                                   column * LANE_PIXELS * 3);
        }
        __syncwarp();
        store_rows(out, stage.rgb, step, lane);
        __syncwarp();
    }
}

cudaError_t jpeg_fused(const struct launch_pictures &launch, const struct group_arrays &group,
                       enum jpeg_sampling sampling, cudaStream_t stream)
{
    const unsigned blocks = launch.first[launch.count];
    if (sampling == JPEG_444)
        fused_kernel<JPEG_444><<<blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    else if (sampling == JPEG_422)
        fused_kernel<JPEG_422><<<blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    else
        fused_kernel<JPEG_420><<<blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    return cudaGetLastError();
}
