/* Runs point filters that are a table of 8-bit samples, and counts the histogram of their result.
 * The next filter's statistic then needs no pass over the picture. */
#include "cuda/filters/histogram/histogram.cuh"
#include "cuda/filters/point/point_table.cuh"
#include "pixel/point/point_program.h"

enum { COUNTING_THREADS = 1024 };

/* The arguments of a launch, with constants that each thread would otherwise compute again. */
struct counting {
    struct view_pair band;
    unsigned full, tail; /* whole items of a row, and the pixels after them */
    unsigned items;      /* the number of whole items of all rows */
    const unsigned *tables;
    unsigned long long *count;
};

/* Counts and looks up the pixels after a row's whole items. */
template <int SOURCE, int CHANNELS, int TABLES>
static __device__ __forceinline__ void count_tail(unsigned *counters, unsigned copy,
                                                  const unsigned char *own, const unsigned char *in,
                                                  unsigned char *out, unsigned pixels)
{
#pragma unroll 1
    for (unsigned i = 0; i < pixels; i++) {
        unsigned word[1] = {0};
#pragma unroll
        for (unsigned c = 0; c < CHANNELS; c++) {
            const unsigned v = look_up<CHANNELS, TABLES>(own, *in++, c);
            *out++ = (unsigned char)v;
            word[0] |= v << 8 * c;
        }
        count_pixel<SOURCE, CHANNELS>(counters, copy, word, 0, (const struct lightness_8 *)NULL);
    }
}

/* Counts and looks up all pixels. An item has whole pixels in whole vectors: three vectors for RGB,
 * otherwise one. Rows are processed from the first to the last, so that the kernel of the next
 * filter, which begins with the last row, finds the rows in the cache. */
template <int SOURCE, int CHANNELS, int TABLES>
__global__ void __launch_bounds__(COUNTING_THREADS) counting8_kernel(const struct counting args)
{
    const struct view_pair &band = args.band;
    constexpr int vectors = CHANNELS == 3 ? 3 : 1, pixels = vectors * VECTOR / CHANNELS;
    extern __shared__ __align__(16) unsigned counters[];
    uint4 *const copies = (uint4 *)(counters + layout<SOURCE>::counters);
    early_next();
    for (int i = (int)threadIdx.x; i < layout<SOURCE>::counters / 4; i += COUNTING_THREADS)
        ((uint4 *)counters)[i] = make_uint4(0, 0, 0, 0);
    for (int i = (int)threadIdx.x; i < TABLES * TABLE_WORDS / 4; i += COUNTING_THREADS) {
        const unsigned word = args.tables[i / (WARP / 4)];
        copies[i] = make_uint4(word, word, word, word);
    }
    early_wait();
    __syncthreads();
    const unsigned lane = 4 * (threadIdx.x % WARP), copy = lane % (4 * layout<SOURCE>::copies);
    const unsigned char *const own = (const unsigned char *)copies + lane;
    const unsigned first = blockIdx.x * COUNTING_THREADS + threadIdx.x;
    for (unsigned item = first; item < args.items; item += gridDim.x * COUNTING_THREADS) {
        const struct position at = position_of(item, band.rows, args.full);
        const size_t offset = (size_t)at.column * vectors * VECTOR;
        const unsigned char *const in = band.in + at.row * band.in_pitch + offset;
        unsigned char *const out = band.out + at.row * band.out_pitch + offset;
        uint4 v[vectors];
        unsigned w[vectors * 4];
#pragma unroll
        for (int i = 0; i < vectors; i++)
            v[i] = ((const uint4 *)in)[i];
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            v[i] = look_up<CHANNELS, TABLES>(own, v[i], (unsigned)i);
            ((uint4 *)out)[i] = v[i];
            unpack(v[i], w + 4 * i);
        }
#pragma unroll
        for (int i = 0; i < pixels; i++)
            count_pixel<SOURCE, CHANNELS>(counters, copy, w, i * CHANNELS,
                                          (const struct lightness_8 *)NULL);
    }
    for (unsigned row = first; args.tail && row < band.rows; row += gridDim.x * COUNTING_THREADS) {
        const size_t offset = (size_t)args.full * vectors * VECTOR;
        count_tail<SOURCE, CHANNELS, TABLES>(counters, copy, own,
                                             band.in + row * band.in_pitch + offset,
                                             band.out + row * band.out_pitch + offset, args.tail);
    }
    __syncthreads();
    add_up<SOURCE>(counters, args.count);
}

/* Starts as many blocks as the GPU holds at once, if a block gets its shared memory. */
template <int SOURCE, int CHANNELS, int TABLES>
static int launch_counting(counting args, cudaStream_t stream)
{
    constexpr unsigned pixels = (CHANNELS == 3 ? 3 : 1) * VECTOR / CHANNELS;
    constexpr int bytes = layout<SOURCE>::bytes + TABLES * TABLE_WORDS * 4;
    args.full = args.band.width / pixels;
    args.tail = args.band.width % pixels;
    args.items = args.band.rows * args.full;
    const unsigned blocks =
        blocks_for(args.items + (args.tail ? args.band.rows : 0), COUNTING_THREADS);
    int most = 0;
    const cudaError_t status = shared_most(&most);
    if (status == cudaSuccess && bytes > most)
        return cudaErrorNotSupported;
    return status != cudaSuccess ? status
                                 : launch_resident(counting8_kernel<SOURCE, CHANNELS, TABLES>,
                                                   blocks, COUNTING_THREADS, bytes, stream, args);
}

/* Launches the kernel with one table for all channels, or one for each. */
template <int SOURCE>
static int launch_colour(const counting &args, int channels, int tables, cudaStream_t stream)
{
    return channels == 4 ? launch_counting<SOURCE, 4, 4>(args, stream)
           : tables == 1 ? launch_counting<SOURCE, 3, 1>(args, stream)
                         : launch_counting<SOURCE, 3, 3>(args, stream);
}

extern "C" int gf_point_counting_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    const int channels = stage->out.channels;
    if (stage->out.bits != 8 || program->table != GF_POINT_SAMPLES || !launch->out.rows ||
        launch->statistic == GF_STATISTIC_LIGHTNESS ||
        gf_statistic_kind(launch->statistic) >= GF_STATISTIC_KINDS)
        return cudaErrorNotSupported;
    const size_t row_bytes = gf_row_bytes(stage->out);
    counting args = {};
    args.band = join_rows(aligned_views(launch), row_bytes, row_bytes);
    args.tables = (const unsigned *)((const unsigned char *)launch->constants + program->table_at);
    args.count = launch->count;
    switch (source_of(launch->statistic, stage->out)) {
    case SAMPLE:
        return channels == 1 ? launch_counting<SAMPLE, 1, 1>(args, launch->stream)
                             : launch_counting<SAMPLE, 2, 2>(args, launch->stream);
    case LUMA:
        return launch_colour<LUMA>(args, channels, program->tables, launch->stream);
    case CHANNELS:
        return launch_colour<CHANNELS>(args, channels, program->tables, launch->stream);
    default:
        return launch_colour<JOINT>(args, channels, program->tables, launch->stream);
    }
}
