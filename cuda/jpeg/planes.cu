/* Components as planes of samples: gray pictures, and what is upsampled later. */
#include "cuda/jpeg/pixels.cuh"

enum {
    STAGE_PITCH = STRIP_PIXELS + 16
}; /* 16 more, so that the rows of a block lie in other banks */

/* Where the samples of a component go. */
struct target {
    unsigned char *data;
    size_t pitch;
    int width, height;
};

static __device__ __forceinline__ void
store_strip(const struct target &target, const unsigned char *stage, int x, int y, int lane)
{
    enum { ACROSS = STRIP_PIXELS / VECTOR };
#pragma unroll
    for (int i = 0; i < BLOCK_SIDE * ACROSS / WARP; i++) {
        const int row = i * (WARP / ACROSS) + lane / ACROSS, column = lane % ACROSS * VECTOR;
        if (y + row < target.height)
            store_vector(target.data + (size_t)(y + row) * target.pitch + x + column,
                         target.width - x - column,
                         *(const uint4 *)(stage + row * STAGE_PITCH + column));
    }
}

/* first: the first component that becomes a plane. With direct, the only one is the picture. */
static __global__ void __launch_bounds__(STRIP_THREADS)
    planes_kernel(const struct launch_pictures launch, const struct group_arrays group, int first,
                  bool direct)
{
    __shared__ __align__(16) unsigned char stages[STRIP_WARPS][BLOCK_SIDE * STAGE_PITCH];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned char *const stage = stages[warp];
    const int at = find_picture(launch);
    const struct jpeg_picture &picture = group.pictures[launch.picture[at]];
    int strip = (blockIdx.x - launch.first[at]) * STRIP_WARPS + warp;
    unsigned char *data = group.scratch + launch.scratch[at];
    int component = first;
    struct plane plane = plane_of(picture, component);
    while (strip >= plane.strips * plane.block_rows) {
        strip -= plane.strips * plane.block_rows;
        data += plane.bytes;
        if (++component >= picture.components)
            return;
        plane = plane_of(picture, component);
    }
    const int row = strip / plane.strips;
    strip -= row * plane.strips;
    struct dct_lane dct;
    dct_set_matrix(dct, lane, dct_plain);
    transform_strip(
        group, dct, group.quantisers + (launch.picture[at] * 3 + component) * 64,
        strip_block(picture, component, strip, row, lane), lane, [&](int b, unsigned samples) {
            *(unsigned short *)(stage + lane / 4 * STAGE_PITCH + b * BLOCK_SIDE + lane % 4 * 2) =
                (unsigned short)__byte_perm(samples >> 2, 0, 0x4420);
        });
    report_range(group, dct, launch.picture[at], lane);
    __syncwarp();
    struct target target = {data, plane.pitch, (int)plane.pitch, plane.block_rows * BLOCK_SIDE};
    if (direct)
        target = {picture.out, picture.pitch, picture.width, picture.height};
    store_strip(target, stage, strip * STRIP_PIXELS, row * BLOCK_SIDE, lane);
}

cudaError_t jpeg_planes(const struct launch_pictures &launch, const struct group_arrays &group,
                        int first, bool direct, cudaStream_t stream)
{
    planes_kernel<<<launch.first[launch.count], STRIP_THREADS, 0, stream>>>(launch, group, first,
                                                                            direct);
    return cudaGetLastError();
}
