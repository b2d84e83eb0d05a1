/* Pixels from planes with samplings that fused.cu does not handle: libjpeg's triangle filter where
 * the ratio is 2, replication elsewhere. (jdsample.c) */
#include "cuda/jpeg/pixels.cuh"

enum { LANE_PIXELS = STRIP_PIXELS / WARP };

/* A component, and the number of pixels for each sample. */
struct source {
    struct surface plane;
    int across, down;
    bool fancy_across, fancy_down;
};

static __device__ __forceinline__ int largest(const int values[3])
{
    return max(max(values[0], values[1]), values[2]);
}

/* libjpeg does not filter components of at most two columns across. */
static __device__ __forceinline__ struct source source_of(const struct strip_job &job,
                                                          int component)
{
    const int across = largest(job.h) / job.h[component];
    const int down = largest(job.v) / job.v[component];
    const bool wide = across == 2 && down <= 2 && job.planes[component].width > 2;
    return {job.planes[component], across, down, wide, down == 2 && (wide || across == 1)};
}

/* The sample that the triangle filter takes a quarter of; at an edge the sample itself. */
static __device__ __forceinline__ int beside(int pixel, int sample, int samples)
{
    return min(max(pixel % 2 ? sample + 1 : sample - 1, 0), samples - 1);
}

static __device__ __forceinline__ int sample_at(const struct source &source, int x, int y)
{
    const struct surface &plane = source.plane;
    const int column = x / source.across, row = y / source.down;
    const int column2 = source.fancy_across ? beside(x, column, plane.width) : column;
    const int row2 = source.fancy_down ? beside(y, row, plane.height) : row;
    const unsigned char *const line = plane.data + (size_t)row * plane.pitch;
    const unsigned char *const line2 = plane.data + (size_t)row2 * plane.pitch;
    if (source.fancy_across && source.fancy_down) {
        const int near = 3 * line[column] + line2[column];
        return (3 * near + 3 * line[column2] + line2[column2] + (x % 2 ? 7 : 8)) >> 4;
    }
    if (source.fancy_across)
        return (3 * line[column] + line[column2] + (x % 2 ? 2 : 1)) >> 2;
    if (source.fancy_down)
        return (3 * line[column] + line2[column] + (y % 2 ? 2 : 1)) >> 2;
    return line[column];
}

static __global__ void __launch_bounds__(STRIP_THREADS)
    upsample_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    if (!has_strip(job, place, group.flags))
        return;
    const struct surface out = job.out;
    const int left = place.strip * STRIP_PIXELS + threadIdx.x % WARP * LANE_PIXELS;
    const int top = place.block_row * BLOCK_SIDE;
    const bool ycc = job.ycc;
    const struct source sources[3] = {source_of(job, 0), source_of(job, 1), source_of(job, 2)};
    for (int y = top; y < min(top + BLOCK_SIDE, out.height); y++) {
        for (int x = left; x < min(left + LANE_PIXELS, out.width); x++) {
            int rgb[3];
#pragma unroll
            for (int c = 0; c < 3; c++)
                rgb[c] = sample_at(sources[c], x, y);
            if (ycc) {
                to_rgb((rgb[0] << COLOUR_BITS) + COLOUR_HALF, rgb[1] - 128, rgb[2] - 128, rgb);
#pragma unroll
                for (int c = 0; c < 3; c++)
                    rgb[c] = min(max(rgb[c] >> COLOUR_BITS, 0), 255);
            }
            unsigned char *const to = out.data + (size_t)y * out.pitch + (size_t)x * 3;
#pragma unroll
            for (int c = 0; c < 3; c++)
                to[c] = (unsigned char)rgb[c];
        }
    }
}

cudaError_t gf_jpeg_upsample(const struct strip_launch &launch, const struct group_arrays &group,
                             cudaStream_t stream)
{
    upsample_kernel<<<launch.blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    return cudaGetLastError();
}
