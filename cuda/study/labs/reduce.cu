/* Methods of summing an array: first within the threads of a block, then over the blocks
 * (Programming Guide 2.2.5, 2.2.6; Best Practices Guide 9.2.3 for the banks). Each thread first
 * adds some vectors of four by itself. The more it adds, the less the method matters. */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

#include "cuda/study/labs/lab.cuh"

namespace cg = cooperative_groups;

constexpr int THREADS = 256, WARP = 32, WARPS = THREADS / WARP;
constexpr int VECTORS_MAX = 32; /* vectors of a thread */

typedef cuda::atomic_ref<unsigned, cuda::thread_scope_device> device_ref;
typedef cuda::atomic_ref<unsigned, cuda::thread_scope_block> block_ref;

enum method { EVERY_THREAD, INTERLEAVED, TREE, SHUFFLE, REDUX, GROUPS, BLOCK_ATOMIC, METHODS };

/* Lets every second thread add its neighbour's value, then every fourth, and so on. Half of each
 * warp is idle from the first step on, and strides of two and more cause bank conflicts. */
static __device__ unsigned sum_interleaved(unsigned sum)
{
    __shared__ unsigned sums[THREADS];
    const int i = (int)threadIdx.x;
    sums[i] = sum;
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        if (i % (2 * distance) == 0)
            sums[i] += sums[i + distance];
    }
    return i == 0 ? sums[0] : 0;
}

/* Lets the lower half of the threads add the values of the upper half. Whole warps become idle, and
 * adjacent threads read adjacent words. */
static __device__ unsigned sum_halves(unsigned sum)
{
    __shared__ unsigned sums[THREADS];
    const int i = (int)threadIdx.x;
    sums[i] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half)
            sums[i] += sums[i + half];
    }
    return i == 0 ? sums[0] : 0;
}

static __device__ __forceinline__ unsigned sum_warp(unsigned sum, bool by_instruction)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (by_instruction)
        return __reduce_add_sync(~0u, sum);
#endif
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    return sum;
}

/* Sums by shuffles within warps; then one warp adds the sums of the warps. */
static __device__ __forceinline__ unsigned sum_by_warps(unsigned sum, bool by_instruction)
{
    __shared__ unsigned sums[WARPS];
    const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    sum = sum_warp(sum, by_instruction);
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    return warp == 0 ? sum_warp(lane < WARPS ? sums[lane] : 0, by_instruction) : 0;
}

static __device__ unsigned sum_groups(unsigned sum)
{
    __shared__ unsigned sums[WARPS];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<WARP>(block);
    sum = cg::reduce(warp, sum, cg::plus<unsigned>());
    if (warp.thread_rank() == 0)
        sums[warp.meta_group_rank()] = sum;
    block.sync();
    const bool any = warp.thread_rank() < warp.meta_group_size();
    return warp.meta_group_rank() == 0
               ? cg::reduce(warp, any ? sums[warp.thread_rank()] : 0u, cg::plus<unsigned>())
               : 0;
}

static __device__ unsigned sum_block_atomic(unsigned sum)
{
    __shared__ unsigned total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    block_ref(total).fetch_add(sum, cuda::memory_order_relaxed);
    __syncthreads();
    return total;
}

/* Computes the block's sum, which thread 0 gets. */
template <int METHOD> static __device__ __forceinline__ unsigned sum_block(unsigned sum)
{
    switch (METHOD) {
    case INTERLEAVED:
        return sum_interleaved(sum);
    case TREE:
        return sum_halves(sum);
    case SHUFFLE:
        return sum_by_warps(sum, false);
    case REDUX:
        return sum_by_warps(sum, true);
    case GROUPS:
        return sum_groups(sum);
    default:
        return sum_block_atomic(sum);
    }
}

static __device__ __forceinline__ unsigned sum_of(unsigned v)
{
    return v;
}

static __device__ __forceinline__ unsigned sum_of(uint4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

/* Sums an array. A block adds THREADS * each vectors, or single elements. */
template <int METHOD, typename VECTOR>
static __global__ void __launch_bounds__(THREADS)
    sum_kernel(const VECTOR *in, int count, int each, unsigned *total)
{
    const int first = (int)blockIdx.x * THREADS * each + (int)threadIdx.x;
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < each; k++) {
        const int i = first + k * THREADS;
        sum += i < count ? sum_of(in[i]) : 0;
    }
    if (METHOD == EVERY_THREAD) {
        device_ref(*total).fetch_add(sum, cuda::memory_order_relaxed);
        return;
    }
    sum = sum_block<METHOD>(sum);
    if (threadIdx.x == 0)
        device_ref(*total).fetch_add(sum, cuda::memory_order_relaxed);
}

/* Sums an array by the blocks that run at once. They go through the array together and synchronise;
 * then the first block adds the sums of all blocks, without atomic operations. */
static __global__ void __launch_bounds__(THREADS)
    sum_grid_kernel(const uint4 *in, int count, unsigned *sums, unsigned *total)
{
    const cg::grid_group grid = cg::this_grid();
    const int stride = (int)(gridDim.x * THREADS);
    unsigned sum = 0;
#pragma unroll 4
    for (int i = (int)grid.thread_rank(); i < count; i += stride)
        sum += sum_of(in[i]);
    sum = sum_block<SHUFFLE>(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
    grid.sync();
    if (blockIdx.x)
        return;
    sum = 0;
    for (int i = (int)threadIdx.x; i < (int)gridDim.x; i += THREADS)
        sum += sums[i];
    sum = sum_block<SHUFFLE>(sum);
    if (threadIdx.x == 0)
        *total = sum;
}

/* Sums an array by as many blocks as in sum_grid_kernel(), without synchronisation: each block adds
 * its sum to the total by an atomic operation. */
static __global__ void __launch_bounds__(THREADS)
    sum_stride_kernel(const uint4 *in, int count, unsigned *total)
{
    const int stride = (int)(gridDim.x * THREADS);
    unsigned sum = 0;
#pragma unroll 4
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < count; i += stride)
        sum += sum_of(in[i]);
    sum = sum_block<SHUFFLE>(sum);
    if (threadIdx.x == 0)
        device_ref(*total).fetch_add(sum, cuda::memory_order_relaxed);
}

struct reduce_bench {
    const struct gf_lab_run *run;
    int vectors = (int)(run->param[0] * LAB_MB / sizeof(uint4));
    lab_memory<unsigned> in{run, (size_t)vectors * 4, 1}, total{run, 1};
    unsigned right = 0;

    explicit reduce_bench(const struct gf_lab_run *run_) : run(run_)
    {
        for (const unsigned value : in.host())
            right += value;
    }

    /* Checks one sum, then times the kernel, and returns the rate. The total is not reset while
     * timing, which does not change the time. */
    template <typename Launch> double measure(Launch launch) const
    {
        total.set_bytes(0);
        launch();
        gf_lab_count(run, total.host()[0] != right);
        return lab_time(run, launch).gb_s((double)in.bytes());
    }

    /* Adds a row with the rates of all methods, and returns them. */
    template <typename VECTOR> std::vector<double> measure_methods(int each) const
    {
        static void (*const kernels[METHODS])(const VECTOR *, int, int, unsigned *) = {
            sum_kernel<EVERY_THREAD, VECTOR>, sum_kernel<INTERLEAVED, VECTOR>,
            sum_kernel<TREE, VECTOR>,         sum_kernel<SHUFFLE, VECTOR>,
            sum_kernel<REDUX, VECTOR>,        sum_kernel<GROUPS, VECTOR>,
            sum_kernel<BLOCK_ATOMIC, VECTOR>};
        const int count = (int)(in.bytes() / sizeof(VECTOR));
        const int elements = each * (int)(sizeof(VECTOR) / sizeof(unsigned));
        std::vector<double> gb_s;
        for (const auto kernel : kernels)
            gb_s.push_back(measure([&] {
                kernel<<<lab_blocks(count, (size_t)THREADS * each), THREADS>>>(
                    (const VECTOR *)in.data, count, each, total.data);
            }));
        lab_row(run, elements, gb_s, "%d", elements);
        return gb_s;
    }

    /* Adds a row that is no point of the curve: a grid with as many blocks as the device holds at
     * once. Returns the rate. */
    template <typename Kernel, typename Launch>
    double measure_grid(Kernel kernel, const char *label, const char *reason, Launch launch) const
    {
        int each = 0;
        LAB_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, THREADS, 0));
        const int blocks = each * lab_attribute(run, cudaDevAttrMultiProcessorCount);
        const lab_memory<unsigned> sums(run, blocks);
        sums.poison();
        std::vector<double> values(METHODS, NAN);
        values[SHUFFLE] = measure([&] { launch(blocks, sums.data); });
        lab_row(run, NAN, values, "%s", label);
        gf_lab_reason(run, reason, blocks);
        return values[SHUFFLE];
    }
};

static void run(const struct gf_lab_run *run)
{
    const struct reduce_bench bench(run);
    const uint4 *vectors = (const uint4 *)bench.in.data;
    std::vector<double> gb_s;
    const std::vector<double> first = bench.measure_methods<unsigned>(1);
    for (int each = 1; each <= VECTORS_MAX; each *= 2)
        gb_s = bench.measure_methods<uint4>(each);
    const double added = bench.measure_grid(
        sum_stride_kernel, "resident blocks", "%d blocks, each adds to the total",
        [&](int blocks, unsigned *) {
            sum_stride_kernel<<<blocks, THREADS>>>(vectors, bench.vectors, bench.total.data);
        });
    const double met = bench.measure_grid(
        sum_grid_kernel, "grid.sync()", "%d blocks meet, the first adds up",
        [&](int blocks, unsigned *sums) {
            int count = bench.vectors;
            unsigned *total = bench.total.data;
            void *arguments[] = {&vectors, &count, &sums, &total};
            LAB_TRY(cudaLaunchCooperativeKernel((const void *)sum_grid_kernel, blocks, THREADS,
                                                arguments, 0, NULL));
        });
    gf_lab_note(run, "meeting by grid.sync() takes %.2f of the time of one atomic a block",
                added / met);
    gf_lab_above(
        run, 1.05,
        "halves, without bank conflicts and idle lanes: %.2f times as fast as modulo (1 element)",
        first[TREE] / first[INTERLEAVED]);
    gf_lab_below(run, 1.0,
                 "atomics sparingly: one a thread reaches %.3f of one a block's (1 element)",
                 first[EVERY_THREAD] / first[SHUFFLE]);
    gf_lab_note(
        run, "shuffles against halves in shared memory: %.2f times as fast (1 element), %.2f (%d)",
        first[SHUFFLE] / first[TREE], gb_s[SHUFFLE] / gb_s[TREE], 4 * VECTORS_MAX);
}
#endif

const struct gf_lab gf_lab_reduce = {
    .name = "reduce",
    .summary = "a sum: threads of a block by shared memory, shuffles, cooperative groups, "
               "cuda::atomic_ref",
    .guide = "5, 2.2.5; 5, 2.2.6; 4, 9.2.3.1",
    .params = {GF_LAB_INT("size", 256, 1, 4096, "of the array, in MB")},
    .rows = "elements a thread",
    .columns = {{"atomic_ref a thread", "GB/s", 0},
                {"shared, modulo", "GB/s", 0},
                {"shared, halves", "GB/s", 0},
                {"shuffles", "GB/s", 0},
                {"reduce.add", "GB/s", 0},
                {"cg::reduce", "GB/s", 0},
                {"block's atomic_ref", "GB/s", 0}},
    .right = "every sum is the CPU's (%llu differ)",
    .axes = {"elements a thread adds up first", "", "array read", "GB/s", GF_LAB_LOG_X},
    .run = GF_LAB_RUN(run),
};
