/* Computes inverse DCT, upsampling of chroma and colour conversion in one kernel, for the usual
 * samplings. A lane computes 8 pixels in each of 4 rows of its strip. */
#include "cuda/jpeg/chroma.cuh"

enum {
    LANE_PIXELS = 8,
    LANE_ROWS = 4,
    ROW_LANES = STRIP_PIXELS / LANE_PIXELS,
    STEP_ROWS = 2, /* the rows that a lane computes between two stores */
    ROW_BYTES = STRIP_PIXELS * 3,
    /* The bytes of a row of samples of 16 bits; the 16 extra bytes put a block's rows into
     * different banks. */
    SAMPLES_PITCH = STRIP_PIXELS * 2 + 16
};

/* The shared memory of a warp. */
template <int COMPONENTS> struct stage {
    __align__(16) unsigned char samples[COMPONENTS][BLOCK_SIDE * SAMPLES_PITCH];
    __align__(16) unsigned char rgb[2 * STEP_ROWS * ROW_BYTES];
};

/* Upsamples the chroma of STEP_ROWS rows. `rows` has the plane's rows, with one row above and one
 * below them. */
template <int SAMPLING>
static __device__ __forceinline__ void upsample(const struct chroma_row *rows,
                                                unsigned out[STEP_ROWS][4])
{
    if (SAMPLING == JPEG_422) {
        upsample_row<2>(rows[0], 1, 2, out[0]);
        upsample_row<2>(rows[1], 1, 2, out[1]);
    } else {
        upsample_row<4>(mix_rows(rows[1], rows[0]), 8, 7, out[0]);
        upsample_row<4>(mix_rows(rows[1], rows[2]), 8, 7, out[1]);
    }
}

/* Reads four rows of chroma that is not downsampled. */
static __device__ __forceinline__ void read_chroma(const unsigned char *from, unsigned out[4])
{
    unpack(*(const uint4 *)from, out);
#pragma unroll
    for (int p = 0; p < 4; p++)
        out[p] = (out[p] << 8) ^ 0x80008000u; /* the same form as upsample_row() gives */
}

/* Stores STEP_ROWS rows of the upper half of a strip, and as many of the lower half. `out` begins
 * at the strip's first pixel; `row` is the first row. */
static __device__ __forceinline__ void store_rows(const struct surface &out,
                                                  const unsigned char *rgb, int row, int lane)
{
    enum { ACROSS = ROW_BYTES / VECTOR, ROWS = 2 * STEP_ROWS };
    const bool whole = out.width >= STRIP_PIXELS && out.height >= BLOCK_SIDE;
#pragma unroll
    for (int i = 0; i < ROWS * ACROSS / WARP; i++) {
        const unsigned at = i * WARP + lane, line = at / ACROSS;
        const int x = at % ACROSS * VECTOR, y = line % STEP_ROWS + line / STEP_ROWS * LANE_ROWS;
        unsigned char *const to = out.data + (size_t)(unsigned)(y + row) * out.pitch + x;
        if (whole)
            __stcg((uint4 *)to, *(const uint4 *)(rgb + at * VECTOR));
        else if (y + row < out.height)
            store_vector(to, rgb + at * VECTOR, out.width * 3 - x);
    }
}

/* Shared memory has room for 14 thread blocks of 4:4:4. */
template <int SAMPLING>
static __global__ void __launch_bounds__(STRIP_THREADS, SAMPLING == JPEG_444 ? 14 : STRIP_RESIDENT)
    fused_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    constexpr bool FULL = SAMPLING == JPEG_444;
    constexpr int COMPONENTS = FULL ? 3 : 1;

    __shared__ struct stage<COMPONENTS> stages[STRIP_WARPS];
    const int lane = threadIdx.x % WARP;
    struct stage<COMPONENTS> &stage = stages[threadIdx.x / WARP];
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    if (!has_strip(job, place, group.flags))
        return;
    struct dct_lane dct = {dct_spread.lanes[lane], 0, 0, 0};
    unsigned block = strip_block(job.blocks, place, lane);
#pragma unroll 1
    for (int c = 0; c < COMPONENTS; c++) {
        unsigned char *const samples =
            stage.samples[c] + lane / 4 * SAMPLES_PITCH + lane % 4 * sizeof(unsigned);
        transform_strip(group, dct, group.quantisers + (job.picture * 3 + c) * BLOCK_COEFFICIENTS,
                        block, lane, [&](int b, unsigned pair) {
                            *(unsigned *)(samples + b * BLOCK_SIDE * 2) = pair >> 2 & 0x00FF00FFu;
                        });
        block += job.blocks.h.by * job.blocks.v.by;
    }
    report_range(group, dct, job.picture, lane);
    struct surface out = job.out;
    out.data += (size_t)place.block_row * BLOCK_SIDE * out.pitch + (size_t)place.strip * ROW_BYTES;
    out.width -= place.strip * STRIP_PIXELS;
    out.height -= place.block_row * BLOCK_SIDE;
    const int column = lane % ROW_LANES, half = lane / ROW_LANES;
    /* The number of rows of chroma that are needed, and the number of rows that are new in a
     * step. */
    constexpr int ROWS = SAMPLING == JPEG_420 ? LANE_ROWS / 2 + 2 : LANE_ROWS;
    constexpr int NEW_ROWS = SAMPLING == JPEG_420 ? STEP_ROWS / 2 : STEP_ROWS;
    struct chroma_row rows[2][ROWS];
    if (!FULL) {
        const int y = place.block_row * BLOCK_SIDE + half * LANE_ROWS;
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const struct surface plane = job.planes[c + 1];
            const unsigned char *const from =
                as_it_is(plane.data + (place.strip * ROW_LANES + column) * (LANE_PIXELS / 2));
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                rows[c][r] = load_chroma(plane, from, SAMPLING == JPEG_420 ? y / 2 - 1 + r : y + r);
        }
    }
    __syncwarp();
#pragma unroll
    for (int step = 0; step < LANE_ROWS / STEP_ROWS; step++) {
        unsigned chroma[2][STEP_ROWS][4];
        if (!FULL) {
            upsample<SAMPLING>(rows[0] + step * NEW_ROWS, chroma[0]);
            upsample<SAMPLING>(rows[1] + step * NEW_ROWS, chroma[1]);
        }
#pragma unroll
        for (int r = 0; r < STEP_ROWS; r++) {
            const int from = (half * LANE_ROWS + step * STEP_ROWS + r) * SAMPLES_PITCH +
                             column * LANE_PIXELS * 2;
            unsigned luma[4];
            unpack(*(const uint4 *)(stage.samples[0] + from), luma);
            if (FULL) {
                read_chroma(stage.samples[COMPONENTS / 2] + from, chroma[0][r]);
                read_chroma(stage.samples[COMPONENTS - 1] + from, chroma[1][r]);
            }
            convert_row(luma, chroma[0][r], chroma[1][r], dct.constants.half,
                        stage.rgb + (half * STEP_ROWS + r) * ROW_BYTES + column * LANE_PIXELS * 3);
        }
        __syncwarp();
        store_rows(out, stage.rgb, step * STEP_ROWS, lane);
        __syncwarp();
    }
}

cudaError_t gf_jpeg_make_pixels(const struct strip_launch &launch, const struct group_arrays &group,
                                enum jpeg_launch sampling, cudaStream_t stream)
{
    if (sampling == JPEG_444)
        fused_kernel<JPEG_444><<<launch.blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    else if (sampling == JPEG_422)
        fused_kernel<JPEG_422><<<launch.blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    else
        fused_kernel<JPEG_420><<<launch.blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    return cudaGetLastError();
}
