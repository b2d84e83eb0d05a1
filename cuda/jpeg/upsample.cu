/* Computes pixels from planes with samplings that fused.cu does not handle: by libjpeg's triangle
 * filter if the ratio is 2, else by replication (jdsample.c). If all planes have the picture's
 * size, as in most reduced pictures, only colours are converted. */
#include "cuda/jpeg/chroma.cuh"

enum { LANE_PIXELS = STRIP_PIXELS / WARP };

/* A component's plane, and the number of pixels for each of its samples. */
struct source {
    struct surface plane;
    int across, down;
    bool fancy_across, fancy_down;
};

/* Returns the plane of a component and its ratios. libjpeg does not filter components of at most
 * two columns. */
static __device__ __forceinline__ struct source source_of(const struct strip_job &job,
                                                          int component)
{
    const int across = job.across[component], down = job.down[component];
    const bool wide = job.filtered && across == 2 && down <= 2 && job.planes[component].width > 2;
    return {job.planes[component], across, down, wide,
            job.filtered && down == 2 && (wide || across == 1)};
}

/* Returns the index of the neighbouring sample, whose weight in the triangle filter is a quarter.
 * At an edge it is the sample itself. */
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

/* Converts as many samples of each plane to LANE_PIXELS pixels of a row. */
static __device__ __forceinline__ void convert_samples(const struct strip_job &job, int x, int y)
{
    unsigned samples[3], words[3];
    int rgb[3 * LANE_PIXELS];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const struct surface &plane = job.planes[c];
        samples[c] = __ldg((const unsigned *)(plane.data + (size_t)y * plane.pitch + x));
    }
#pragma unroll
    for (int p = 0; p < LANE_PIXELS; p++) {
        int own[3];
#pragma unroll
        for (int c = 0; c < 3; c++)
            own[c] = (int)(samples[c] >> 8 * p & 255);
        if (job.ycc)
            to_rgb((own[0] << COLOUR_BITS) + COLOUR_HALF, own[1] - 128, own[2] - 128, rgb + 3 * p);
#pragma unroll
        for (int c = 0; c < 3 && !job.ycc; c++)
            rgb[3 * p + c] = own[c] << COLOUR_BITS;
    }
    pack_rgb(rgb, words);
    unsigned char *const to = job.out.data + (size_t)y * job.out.pitch + (size_t)x * 3;
    const int bytes = (job.out.width - x) * 3;
#pragma unroll
    for (int b = 0; b < 3 * LANE_PIXELS; b += 4) {
        if (bytes >= 3 * LANE_PIXELS)
            *(unsigned *)(to + b) = words[b / 4];
        else
            for (int k = b; k < b + 4 && k < bytes; k++)
                to[k] = (unsigned char)(words[b / 4] >> 8 * (k - b));
    }
}

static __global__ void __launch_bounds__(STRIP_THREADS)
    convert_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    const int x = place.strip * STRIP_PIXELS + threadIdx.x % WARP * LANE_PIXELS;
    const int top = place.block_row * BLOCK_SIDE;
    if (!has_strip(job, place, group.flags) || x >= job.out.width)
        return;
#pragma unroll 4
    for (int y = top; y < min(top + BLOCK_SIDE, job.out.height); y++)
        convert_samples(job, x, y);
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

cudaError_t gf_jpeg_convert(const struct strip_launch &launch, const struct group_arrays &group,
                            cudaStream_t stream)
{
    convert_kernel<<<launch.blocks, STRIP_THREADS, 0, stream>>>(launch, group);
    return cudaGetLastError();
}
