/* Kernels for pyramids whose tiles the coders encode: the levels of a picture in device memory, and
 * its tiles as pictures with aligned rows. */
#include "cuda/backend/backend.cuh"
#include "cuda/common/check.cuh"
#include "cuda/common/launch.cuh"
#include "pixel/resample/halve.h"

enum { BLOCK = 128 };

/* Each thread makes a pixel of the level below. */
static __global__ void __launch_bounds__(BLOCK) halve_kernel(struct gf_view in, struct gf_view out)
{
    const int channels = in.format.channels, x = (int)(blockIdx.x * BLOCK + threadIdx.x);
    if (x >= out.format.width)
        return;
    const int right = 2 * x + 1 < in.format.width ? channels : 0;
    for (int y = (int)blockIdx.y; y < out.format.height; y += (int)gridDim.y) {
        const unsigned char *const a =
            in.data + (size_t)(2 * y) * in.pitch + (size_t)(2 * x) * (size_t)channels;
        const unsigned char *const b = 2 * y + 1 < in.format.height ? a + in.pitch : a;
        unsigned char *const to = out.data + (size_t)y * out.pitch + (size_t)x * (size_t)channels;
        for (int c = 0; c < channels; c++)
            to[c] = (unsigned char)gf_halve(a[c], a[right + c], b[c], b[right + c]);
    }
}

/* Copies a row of a tile. The tile is blockIdx.y. */
static __global__ void __launch_bounds__(BLOCK)
    cut_kernel(struct gf_view level, struct gf_tile_cut cut)
{
    const int column = cut.column + (int)blockIdx.y, channels = level.format.channels;
    const int x0 = max(column * cut.width - cut.overlap, 0),
              x1 = min((column + 1) * cut.width + cut.overlap, level.format.width),
              y0 = max(cut.row * cut.height - cut.overlap, 0),
              y1 = min((cut.row + 1) * cut.height + cut.overlap, level.format.height);
    const int own = (x1 - x0) * channels, bytes = cut.whole ? cut.width * channels : own,
              rows = cut.whole ? cut.height : y1 - y0;
    for (int y = (int)blockIdx.x; y < rows; y += (int)gridDim.x) {
        const unsigned char *const from =
            level.data + (size_t)min(y0 + y, y1 - 1) * level.pitch + (size_t)x0 * (size_t)channels;
        unsigned char *const to = cut.to + blockIdx.y * cut.tile_bytes + (size_t)y * cut.pitch;
        for (int i = (int)threadIdx.x; i < bytes; i += BLOCK)
            to[i] = from[i < own ? i : own - channels + i % channels];
    }
}

static cudaError_t halve_all(const struct gf_view *levels, int count)
{
    cudaError_t status = cudaSuccess;
    for (int i = 0; i + 1 < count && status == cudaSuccess; i++) {
        const struct gf_format format = levels[i + 1].format;
        status =
            launch_kernel(halve_kernel, grid_of_rows(ceil_div(format.width, BLOCK), format.height),
                          BLOCK, 0, cudaStreamPerThread, levels[i], levels[i + 1]);
    }
    return status == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : status;
}

static cudaError_t cut_tiles(const struct gf_view *level, const struct gf_tile_cut *cut)
{
    const int rows = cut->height + 2 * cut->overlap;
    const cudaError_t status = launch_kernel(cut_kernel, dim3((unsigned)rows, (unsigned)cut->count),
                                             BLOCK, 0, cudaStreamPerThread, *level, *cut);
    return status == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : status;
}

template <class Work>
static enum gf_status bound(struct gf_backend *backend, const char *name, struct gf_error *error,
                            const Work &work)
{
    const int before = gf_cuda_bind(backend);
    const cudaError_t status = work();
    gf_cuda_unbind(backend, before);
    return status == cudaSuccess
               ? GF_OK
               : gf_cuda_fail(error, backend_of(backend)->options.device, name, status);
}

enum gf_status gf_cuda_halve(struct gf_backend *backend, const struct gf_view *levels, int count,
                             struct gf_error *error)
{
    return bound(backend, "halve", error, [&] { return halve_all(levels, count); });
}

enum gf_status gf_cuda_cut_tiles(struct gf_backend *backend, const struct gf_view *level,
                                 const struct gf_tile_cut *cut, struct gf_error *error)
{
    return bound(backend, "cut tiles", error, [&] { return cut_tiles(level, cut); });
}
