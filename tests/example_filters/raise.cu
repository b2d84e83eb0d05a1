/* raise: a thread a sample, its neighbours from global memory. */
#include "filters/raise.h"

#include "pixel/sample.h"
#include "stage/border.h"
#include "stage/stage.h"

enum { THREADS = 256 };

template <typename SAMPLE>
static __device__ float at(const struct gf_view &in, int x, int y, int channel, int border)
{
    const int row = gf_border_index(y, in.format.height, border);
    const int column = gf_border_index(x, in.format.width, border);
    if (row < 0 || column < 0)
        return 0.0f;
    const SAMPLE *const samples = (const SAMPLE *)(in.data + (size_t)(row - in.y) * in.pitch);
    return (float)samples[(size_t)column * in.format.channels + channel];
}

template <typename SAMPLE>
static __global__ void __launch_bounds__(THREADS)
    raise_kernel(struct gf_view in, struct gf_view out, struct gf_raise raise)
{
    const int channels = in.format.channels;
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x), x = i / channels, c = i % channels;
    const int y = out.y + (int)blockIdx.y;
    if (x >= in.format.width)
        return;
    const float v = at<SAMPLE>(in, x, y, c, raise.border);
    const float lit = gf_raise_of(v, at<SAMPLE>(in, x - 1, y - 1, c, raise.border),
                                  at<SAMPLE>(in, x + 1, y + 1, c, raise.border), raise.strength);
    const bool is_alpha = channels % 2 == 0 && c == channels - 1;
    SAMPLE *const samples = (SAMPLE *)(out.data + (size_t)blockIdx.y * out.pitch);
    samples[i] = (SAMPLE)gf_round_flat(is_alpha ? v : lit, sizeof(SAMPLE) == 1 ? 255.0f : 65535.0f);
}

extern "C" int gf_raise_cuda(const struct gf_launch *launch)
{
    const struct gf_raise raise = *(const struct gf_raise *)launch->stage->constants;
    const struct gf_format format = launch->in.format;
    const int blocks = (format.width * format.channels + THREADS - 1) / THREADS;
    const int most = 65535; /* rows of a grid */
    for (int first = 0; first < launch->out.rows; first += most) {
        struct gf_view out = launch->out;
        out.data += (size_t)first * out.pitch;
        out.y += first;
        const int rows = launch->out.rows - first < most ? launch->out.rows - first : most;
        const dim3 grid((unsigned)blocks, (unsigned)rows);
        const cudaStream_t stream = (cudaStream_t)launch->stream;
        if (format.bits == 8)
            raise_kernel<unsigned char><<<grid, THREADS, 0, stream>>>(launch->in, out, raise);
        else
            raise_kernel<unsigned short><<<grid, THREADS, 0, stream>>>(launch->in, out, raise);
    }
    return cudaGetLastError();
}
