/* Copies from global to shared memory: through registers (a load and a store), or by the
 * asynchronous copy, which bypasses registers and, with 16 bytes, also L1 (Best Practices
 * Guide, 9.2.3.4). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include <cuda_pipeline.h>

#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

template <typename T>
static __device__ __forceinline__ uint32_t weigh(const T &element, size_t index)
{
    constexpr int WORDS = sizeof(T) / 4;
    uint32_t words[WORDS], sum = 0;
    memcpy(words, &element, sizeof words);
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        sum += words[i] * (2 * (uint32_t)(index * WORDS + i) + 1);
    return sum;
}

static __device__ __forceinline__ uint32_t add_up(uint32_t sum)
{
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    return sum;
}

/* The guide's kernels, but each thread then sums what it copied. Each word is multiplied by an odd
 * number that depends on its index, so that a word in the wrong place changes the sum. */
template <typename T, bool ASYNC>
static __global__ void __launch_bounds__(THREADS)
    copy_kernel(const T *memory, size_t elements, int count, uint32_t *sums)
{
    extern __shared__ __align__(16) char bytes[];
    T *const shared = (T *)bytes;
    const size_t first = (size_t)blockIdx.x * THREADS * count;
    if (first + (size_t)THREADS * count > elements)
        return; /* the launch covers only whole chunks */
    for (int i = 0; i < count; i++) {
        const int at = THREADS * i + threadIdx.x;
        if (ASYNC)
            __pipeline_memcpy_async(&shared[at], &memory[first + at], sizeof(T));
        else
            shared[at] = memory[first + at];
    }
    if (ASYNC) {
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }
    uint32_t sum = 0;
    for (int i = 0; i < count; i++) {
        const int at = THREADS * i + threadIdx.x;
        sum += weigh(shared[at], first + at);
    }
    sum = add_up(sum);
    if (threadIdx.x % 32 == 0)
        sums[blockIdx.x * WARPS + threadIdx.x / 32] = sum;
}

static __global__ void __launch_bounds__(THREADS)
    reference_kernel(const uint32_t *memory, size_t words, uint32_t *total)
{
    uint32_t sum = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < words;
         i += (size_t)gridDim.x * THREADS)
        sum += weigh(memory[i], i);
    sum = add_up(sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, sum);
}

static __global__ void __launch_bounds__(THREADS)
    total_kernel(const uint32_t *sums, size_t count, uint32_t *total)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t sum = add_up(i < count ? sums[i] : 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, sum);
}

template <typename T, bool ASYNC>
static void launch(const void *memory, size_t bytes, int bytes_of_thread, uint32_t *sums)
{
    const int count = bytes_of_thread / (int)sizeof(T);
    const size_t chunk = (size_t)THREADS * bytes_of_thread;
    copy_kernel<T, ASYNC><<<(unsigned int)(bytes / chunk), THREADS, chunk>>>(
        (const T *)memory, bytes / sizeof(T), count, sums);
}

typedef void launcher(const void *memory, size_t bytes, int bytes_of_thread, uint32_t *sums);

static const struct {
    const char *name;
    launcher *launch;
} methods[] = {
    {"plain 4 B", launch<uint32_t, false>}, {"plain 8 B", launch<uint2, false>},
    {"plain 16 B", launch<uint4, false>},   {"async 4 B", launch<uint32_t, true>},
    {"async 8 B", launch<uint2, true>},     {"async 16 B", launch<uint4, true>},
};
enum { METHODS = 6, PLAIN_METHODS = 3 };

/* Checks and times one method with one size of chunk, and returns its rate. The sum is the sum over
 * all whole chunks. */
static double measure(const struct gf_lab_run *run, int method, const lab_memory<uint4> &memory,
                      int bytes_of_thread, const lab_memory<uint32_t> &sums)
{
    const size_t chunk = (size_t)THREADS * bytes_of_thread;
    const size_t chunks = memory.bytes() / chunk, bytes = chunks * chunk, warps = chunks * WARPS;
    const lab_memory<uint32_t> totals(run, 2);
    const auto work = [&] {
        methods[method].launch(memory.data, bytes, bytes_of_thread, sums.data);
    };
    sums.poison();
    totals.set_bytes(0);
    work();
    total_kernel<<<lab_blocks(warps, THREADS), THREADS>>>(sums.data, warps, totals.data);
    reference_kernel<<<1024, THREADS>>>((const uint32_t *)memory.data, bytes / 4, totals.data + 1);
    const std::vector<uint32_t> total = totals.host();
    gf_lab_count(run, total[0] != total[1]);
    return lab_time(run, work).gb_s((double)bytes);
}

static void run(const struct gf_lab_run *run)
{
    static const int sizes[] = {16, 32,  48, 64,
                                96, 128, 192}; /* bytes of a thread, for blocks of 4 to 48 KB */
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const size_t most = run->param[0] * LAB_MB;
    const lab_memory<uint4> memory(run, most / sizeof(uint4), 1);
    const lab_memory<uint32_t> sums(run, most / (THREADS * sizes[0]) * WARPS);
    int faster = 0, best_async = 0;
    double best[2] = {0.0, 0.0};
    for (const int size : sizes) {
        std::vector<double> rate(METHODS);
        for (int method = 0; method < METHODS; method++) {
            const bool async = method >= PLAIN_METHODS;
            rate[method] = measure(run, method, memory, size, sums);
            faster += async && rate[method] > rate[method - PLAIN_METHODS];
            if (rate[method] > best[async]) {
                best[async] = rate[method];
                best_async = async ? method : best_async;
            }
        }
        lab_row(run, size, rate, "%d", size);
    }
    gf_lab_claim(run, faster > SIZES * PLAIN_METHODS * 3 / 4,
                 "the asynchronous copy is faster in nearly all cases: in %d of %d, at best %.2f "
                 "times the plain one",
                 faster, SIZES * PLAIN_METHODS, best[1] / best[0]);
    gf_lab_claim(run, best_async > PLAIN_METHODS,
                 "8 or 16 bytes an element are best: here it is %s", methods[best_async].name);
    if (run->device.major < 8)
        gf_lab_note(run, "before sm_80 the asynchronous copy is made of a load and a store");
}
#endif

const struct gf_lab gf_lab_async_copy = {
    .name = "async-copy",
    .summary = "asynchronous copies from global to shared memory of 4, 8 and 16 bytes",
    .guide = "4, 9.2.3.4",
    .figure = "A100: asynchronous copies are faster in nearly all cases, best with 8 or 16 bytes",
    .params = {GF_LAB_INT("size", 512, 1, 4096, "of the array that is read, in MB")},
    .rows = "bytes of a thread",
    .columns = {{"plain 4 B", "GB/s", 0},
                {"plain 8 B", "GB/s", 0},
                {"plain 16 B", "GB/s", 0},
                {"async 4 B", "GB/s", 0},
                {"async 8 B", "GB/s", 0},
                {"async 16 B", "GB/s", 0}},
    .right = "every copy's words add up as those of the array (%llu sums differ)",
    .axes = {"copied by a thread", "bytes", "bandwidth", "GB/s", GF_LAB_LINEAR},
    .run = GF_LAB_RUN(run),
};
