/* Pixels of planes whose sampling is not one of those that fused.cu knows: libjpeg's triangle
 * filter where the ratio is 2, replication elsewhere. (jdsample.c) */
#include "cuda/jpeg/pixels.cuh"

enum { LANE_PIXELS = STRIP_PIXELS / WARP };

/* A component, and how many pixels a sample stands for. */
struct source {
    const unsigned char *data;
    size_t pitch;
    int width, height, across, down;
    bool fancy_across, fancy_down;
};

static __device__ __forceinline__ struct source source_of(const struct jpeg_picture &picture,
                                                          const struct plane &plane, int component,
                                                          const unsigned char *data)
{
    const int across = largest(picture.h, 3) / picture.h[component];
    const int down = largest(picture.v, 3) / picture.v[component];
    const bool wide = across == 2 && down <= 2 && plane.width > 2;
    return {data,   plane.pitch, plane.width, plane.height,
            across, down,        wide,        down == 2 && (wide || across == 1)};
}

/* The other sample of which the triangle filter takes a quarter; one at an edge is its own. */
static __device__ __forceinline__ int beside(int pixel, int sample, int samples)
{
    return min(max(pixel % 2 ? sample + 1 : sample - 1, 0), samples - 1);
}

static __device__ __forceinline__ int sample_at(const struct source &source, int x, int y)
{
    const int column = x / source.across, row = y / source.down;
    const int column2 = source.fancy_across ? beside(x, column, source.width) : column;
    const int row2 = source.fancy_down ? beside(y, row, source.height) : row;
    const unsigned char *const line = source.data + row * source.pitch;
    const unsigned char *const line2 = source.data + row2 * source.pitch;
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
    upsample_kernel(const struct launch_pictures launch, const struct group_arrays group)
{
    const int at = find_picture(launch);
    const struct jpeg_picture &picture = group.pictures[launch.picture[at]];
    const int strips = ceil_div(picture.width, STRIP_PIXELS);
    int strip = (blockIdx.x - launch.first[at]) * STRIP_WARPS + threadIdx.x / WARP;
    const int first = strip / strips * BLOCK_SIDE;
    strip -= first / BLOCK_SIDE * strips;
    const int left = strip * STRIP_PIXELS + threadIdx.x % WARP * LANE_PIXELS;
    struct source sources[3];
    const unsigned char *data = group.scratch + launch.scratch[at];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const struct plane plane = plane_of(picture, c);
        sources[c] = source_of(picture, plane, c, data);
        data += plane.bytes;
    }
    for (int y = first; y < min(first + BLOCK_SIDE, picture.height); y++) {
        for (int x = left; x < min(left + LANE_PIXELS, picture.width); x++) {
            int rgb[3];
#pragma unroll
            for (int c = 0; c < 3; c++)
                rgb[c] = sample_at(sources[c], x, y);
            if (picture.ycc) {
                to_rgb(rgb[0] << COLOUR_BITS, rgb[1], rgb[2], rgb);
#pragma unroll
                for (int c = 0; c < 3; c++)
                    rgb[c] = min(max(rgb[c] >> COLOUR_BITS, 0), 255);
            }
            unsigned char *const to = picture.out + y * picture.pitch + (size_t)x * 3;
#pragma unroll
            for (int c = 0; c < 3; c++)
                to[c] = (unsigned char)rgb[c];
        }
    }
}

cudaError_t jpeg_upsample(const struct launch_pictures &launch, const struct group_arrays &group,
                          cudaStream_t stream)
{
    upsample_kernel<<<launch.first[launch.count], STRIP_THREADS, 0, stream>>>(launch, group);
    return cudaGetLastError();
}
