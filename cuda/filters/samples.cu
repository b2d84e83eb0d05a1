/* float and integer: the type of samples changes, and nothing else. */
#include "cuda/common/floats.cuh"
#include "cuda/common/view_pair.cuh"

enum {
    THREADS = 256,
    AT_ONCE = 4, /* samples of a thread: 4 to 16 bytes */
};

template <class Integer> static __device__ __forceinline__ float float_of(Integer v)
{
    return (float)(int)v / sample_max<Integer>::value;
}

/* A thread converts neighbouring samples, with one access for each side where the row has all of
 * them. `row_items` is the number of threads of a row, and `samples` that of its samples. */
template <class From, class To>
static __global__ void __launch_bounds__(THREADS)
    convert_kernel(const __grid_constant__ struct view_pair p, unsigned row_items, unsigned samples)
{
    const unsigned item = blockIdx.x * THREADS + threadIdx.x;
    if (item >= (unsigned)p.rows * row_items)
        return;
    const struct position at = position_of(item, p.rows, row_items);
    const unsigned first = at.column * AT_ONCE;
    const From *const from = (const From *)(p.in + at.row * p.in_pitch) + first;
    To *const to = (To *)(p.out + at.row * p.out_pitch) + first;
    if (first + AT_ONCE > samples) {
        for (unsigned i = 0; first + i < samples; i++)
            store_float(to + i, float_of(from[i]));
        return;
    }
    const samples_of<From, AT_ONCE> read = *(const samples_of<From, AT_ONCE> *)from;
    samples_of<To, AT_ONCE> made;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        store_float(made.sample + i, float_of(read.sample[i]));
    *(samples_of<To, AT_ONCE> *)to = made;
}

template <class From, class To>
static int convert(const struct view_pair &band, unsigned samples, cudaStream_t stream)
{
    const unsigned row_items = blocks_for(samples, AT_ONCE);
    const unsigned most = ~0u / 2 / row_items;
    return for_parts_of_rows(band, most ? most : 1, [&](const struct view_pair &p) {
        const unsigned blocks = blocks_for((unsigned)p.rows * row_items, THREADS);
        return launch_kernel(convert_kernel<From, To>, blocks, THREADS, 0, stream, p, row_items,
                             samples);
    });
}

extern "C" int gf_samples_cuda(const struct gf_launch *launch)
{
    const struct gf_format in = launch->in.format, out = launch->out.format;
    const struct view_pair band = aligned_views(launch);
    const unsigned samples = (unsigned)in.width * (unsigned)in.channels;
    return for_sample_type(in, [&](auto from) {
        return for_sample_type(out, [&](auto to) {
            return convert<decltype(from), decltype(to)>(band, samples, launch->stream);
        });
    });
}
