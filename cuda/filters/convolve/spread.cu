/* The mean of the pixels under a large shape. */
#include "cuda/filters/convolve/spread_mma.cuh"

struct spread_finish {
    double half, scale;
    __device__ __forceinline__ int operator()(double sum) const
    {
        return gf_spread_mean(sum, half, scale);
    }
};

enum { PLAIN_THREADS = 256 };

/* The kernel for shapes whose rows do not fit in the device's shared memory, which are of 16 bits:
 * those of 8 bits fit in 64 KiB. Each thread adds all weights of a sample. */
__global__ void __launch_bounds__(PLAIN_THREADS)
    spread_plain_kernel(const struct view_pair p, const struct gf_spread *spread)
{
    const struct gf_spread_weights &weights = spread->weights;
    const int samples = p.width * p.channels;
    const struct tile_origin at = block_tile(samples, PLAIN_THREADS, 1);
    const int sample = at.x + (int)threadIdx.x, pixel = sample / p.channels;
    unsigned long long sum = 0;
    if (sample >= samples)
        return;
    for (int j = 0; j < weights.height; j++) {
        const int y =
            gf_border_index(p.out_y + at.row + j - weights.height / 2, p.height, p.border);
        if (y < 0)
            continue;
        const unsigned short *const row =
            (const unsigned short *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
        unsigned line = 0;
        for (int i = 0; i < weights.width; i++) {
            const unsigned weight = (unsigned)weights.weight[j * weights.width + i];
            const int x = gf_border_index(pixel + i - weights.width / 2, p.width, p.border);
            if (weight && x >= 0)
                line +=
                    weight * __ldg(row + (long long)x * p.channels + (sample - pixel * p.channels));
        }
        sum += line;
    }
    ((unsigned short *)(p.out + (size_t)at.row * p.out_pitch))[sample] =
        (unsigned short)gf_spread_mean((double)sum, spread->half, spread->scale);
}

static int launch_plain(const struct gf_launch *launch, int border)
{
    const struct view_pair p = view_pair_of(launch, border);
    const int blocks = tile_blocks(p.width * p.channels, p.rows, PLAIN_THREADS, 1);
    spread_plain_kernel<<<blocks, PLAIN_THREADS, 0, (cudaStream_t)launch->stream>>>(
        p, (const struct gf_spread *)launch->constants);
    return cudaGetLastError();
}

extern "C" int gf_spread_cuda(const struct gf_launch *launch)
{
    const struct gf_spread *const spread = (const struct gf_spread *)launch->stage->constants;
    const struct gf_spread *const there = (const struct gf_spread *)launch->constants;
    const int bits = launch->in.format.bits, all = spread->all.count;
    const int next = spread->lead ? spread->next.count : 0;
    spread_args<spread_finish> args = {};
    args.p = view_pair_of(launch, spread->border);
    args.matrices = {(uint4 *)launch->scratch, &there->all, &there->next, spread->lead};
    args.reach_x = spread->weights.width / 2;
    args.reach_y = spread->weights.height / 2;
    args.finish = {spread->half, spread->scale};
    const int extra = next ? ceil_div(all, next) : 1;
    if (bits == 8)
        return launch_spread<1>(launch, args, &there->weights, all + next, extra);
    const int status = launch_spread<2>(launch, args, &there->weights, all + next, extra);
    return status == cudaErrorNotSupported ? launch_plain(launch, spread->border) : status;
}
