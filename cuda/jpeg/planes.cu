/* Computes planes of samples from components: gray pictures, and components that are upsampled
 * later. */
#include "cuda/jpeg/pixels.cuh"

enum {
    STAGE_PITCH = STRIP_PIXELS + 16
}; /* the 16 extra samples put a block's rows into different
    * banks */

static __device__ __forceinline__ void
store_strip(const struct surface &out, const unsigned char *stage, int x, int y, int lane)
{
    enum { ACROSS = STRIP_PIXELS / VECTOR };
    const int column = lane % ACROSS * VECTOR;
#pragma unroll
    for (int i = 0; i < BLOCK_SIDE * ACROSS / WARP; i++) {
        const int row = i * (WARP / ACROSS) + lane / ACROSS;
        if (y + row < out.height)
            store_vector(out.data + (size_t)(y + row) * out.pitch + x + column,
                         stage + row * STAGE_PITCH + column, out.width - x - column);
    }
}

/* Repeats a plane's first sample before each row and its last sample after each row, for the
 * triangle filter. The byte after the last strip is read, too, but only for pixels that are not
 * stored. */
static __device__ __forceinline__ void
store_edges(const struct surface &out, const unsigned char *stage, int x, int y, int lane)
{
    const int row = lane % BLOCK_SIDE, last = out.width - 1 - x;
    unsigned char *const line = out.data + (size_t)(y + row) * out.pitch;
    if (y + row >= out.height)
        return;
    if (lane < BLOCK_SIDE && x == 0)
        line[-1] = stage[row * STAGE_PITCH];
    else if (lane >= BLOCK_SIDE && lane < 2 * BLOCK_SIDE && last < STRIP_PIXELS)
        line[out.width] = stage[row * STAGE_PITCH + last];
    else if (lane >= 2 * BLOCK_SIDE && lane < 3 * BLOCK_SIDE && last < STRIP_PIXELS - 1)
        line[x + STRIP_PIXELS] = 0;
}

static __global__ void __launch_bounds__(STRIP_THREADS, STRIP_RESIDENT)
    planes_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    __shared__ __align__(16) unsigned char stages[STRIP_WARPS][BLOCK_SIDE * STAGE_PITCH];
    const int lane = threadIdx.x % WARP;
    unsigned char *const stage = stages[threadIdx.x / WARP];
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    if (!has_strip(job, place, group.flags))
        return;
    struct dct_lane dct = {dct_plain.lanes[lane], 0, 0, 0};
    unsigned char *const samples = stage + lane / 4 * STAGE_PITCH + lane % 4 * 2;
    transform_strip(group, dct,
                    group.quantisers + (job.picture * 3 + job.component) * BLOCK_COEFFICIENTS,
                    strip_block(job.blocks, place, lane), lane, [&](int b, unsigned pair) {
                        *(unsigned short *)(samples + b * BLOCK_SIDE) =
                            (unsigned short)__byte_perm(pair >> 2, 0, 0x4420);
                    });
    report_range(group, dct, job.picture, lane);
    __syncwarp();
    const int x = place.strip * STRIP_PIXELS, y = place.block_row * BLOCK_SIDE;
    struct surface out = job.out;
    if (job.edges)
        out.width = x + STRIP_PIXELS; /* a plane has room for whole strips */
    store_strip(out, stage, x, y, lane);
    if (!job.edges)
        return;
    __syncwarp();
    store_edges(job.out, stage, x, y, lane);
}

cudaError_t gf_jpeg_make_planes(const struct strip_launch &launch, const struct group_arrays &group,
                                cudaStream_t stream)
{
    planes_kernel<<<launch.blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    return cudaGetLastError();
}
