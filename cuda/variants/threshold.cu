/* threshold, one thread a pixel, by three ways of choosing between black and white (Best Practices
 * Guide 12.1 and 12.2). */
#include "cuda/common/band.cuh"
#include "pixel/point.h"
#include "pixel/sample.h"

enum {
    THRESHOLD_THREADS = 256,
    LAUNCH_PIXELS = 1 << 30, /* so that indices fit 32 bits */
};

template <class SAMPLE> constexpr int MOST = sizeof(SAMPLE) == 1 ? 255 : 65535;

template <class SAMPLE> static __device__ __noinline__ void put_white(SAMPLE *to)
{
    *to = (SAMPLE)MOST<SAMPLE>;
}

template <class SAMPLE> static __device__ __noinline__ void put_black(SAMPLE *to)
{
    *to = 0;
}

/* A warp whose pixels differ goes both ways, one after the other. The ways are functions of their
 * own: what is short enough the compiler predicates. */
struct branch {
    template <class SAMPLE>
    static __device__ __forceinline__ void put(SAMPLE *to, int luma, int least)
    {
        if (luma >= least)
            put_white(to);
        else
            put_black(to);
    }
};

/* The same condition over so little that it becomes a predicate: one instruction for all lanes. */
struct predicated {
    template <class SAMPLE>
    static __device__ __forceinline__ void put(SAMPLE *to, int luma, int least)
    {
        int v = 0;
        if (luma >= least)
            v = MOST<SAMPLE>;
        *to = (SAMPLE)v;
    }
};

/* No condition at all: the sign of a difference, spread over the word. */
struct branch_free {
    template <class SAMPLE>
    static __device__ __forceinline__ void put(SAMPLE *to, int luma, int least)
    {
        *to = (SAMPLE)((least - 1 - luma) >> 31 & MOST<SAMPLE>);
    }
};

template <class WAY, class SAMPLE>
__global__ void __launch_bounds__(THRESHOLD_THREADS)
    threshold_kernel(const struct band band, int channels, int least)
{
    const unsigned i = blockIdx.x * THRESHOLD_THREADS + threadIdx.x;
    if (i >= band.rows * band.width)
        return;
    const struct position at = position_of(i, band.rows, band.width);
    const bool alpha = channels % 2 == 0;
    const SAMPLE *const from =
        (const SAMPLE *)(band.in + at.row * band.in_pitch) + (size_t)at.column * channels;
    SAMPLE *const to =
        (SAMPLE *)(band.out + at.row * band.out_pitch) + (size_t)at.column * (alpha ? 2 : 1);
    const int luma = channels < 3 ? from[0] : gf_luma601(from[0], from[1], from[2]);
    WAY::put(to, luma, least);
    if (alpha)
        to[1] = from[channels - 1];
}

/* The least level that becomes white: in the program, or, where that is a table, the first that is
 * not black there; M + 1 if there is none. */
static int least_white(const struct gf_point_program *program, int bits)
{
    if (program->table != GF_POINT_SAMPLES)
        return (int)program->op[program->count - 1].a;
    const void *const table = gf_point_block(program, program->table_at);
    int low = 0, high = 1 << bits;
    while (low < high) {
        const int middle = (low + high) / 2;
        const bool white =
            bits == 8 ? ((const uint8_t *)table)[middle] : ((const uint16_t *)table)[middle];
        if (white)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

template <class WAY> static int launch_threshold(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct band whole = band_of(launch);
    const int least =
        least_white((const struct gf_point_program *)stage->constants, stage->in.bits);
    const unsigned most = LAUNCH_PIXELS / whole.width;
    for (unsigned first = 0; first < whole.rows; first += most) {
        const struct band band = join_rows(rows_of(&whole, first, most), gf_row_bytes(stage->in),
                                           gf_row_bytes(stage->out));
        const unsigned blocks = blocks_for(band.rows * band.width, THRESHOLD_THREADS);
        const cudaStream_t stream = (cudaStream_t)launch->stream;
        if (stage->in.bits == 8)
            threshold_kernel<WAY, uint8_t>
                <<<blocks, THRESHOLD_THREADS, 0, stream>>>(band, stage->in.channels, least);
        else
            threshold_kernel<WAY, uint16_t>
                <<<blocks, THRESHOLD_THREADS, 0, stream>>>(band, stage->in.channels, least);
    }
    return cudaGetLastError();
}

extern "C" int gf_threshold_branch_cuda(const struct gf_launch *launch)
{
    return launch_threshold<branch>(launch);
}

extern "C" int gf_threshold_predicated_cuda(const struct gf_launch *launch)
{
    return launch_threshold<predicated>(launch);
}

extern "C" int gf_threshold_branch_free_cuda(const struct gf_launch *launch)
{
    return launch_threshold<branch_free>(launch);
}
