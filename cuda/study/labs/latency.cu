/* Little's law: bandwidth is the bytes in flight over the latency, until the memory is saturated
 * (Performance Issues, latency hiding). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int WARP = 32, BLOCK_MOST = 1024;

/* The nodes of a chain of dependent loads: each load returns the address of the next. */
constexpr int NODES = 1 << 18, NODE = 32 /* words: a line each */, HOPS = 4096;

static __global__ void __launch_bounds__(1) chase_kernel(const uint32_t *chain, uint32_t *end)
{
    uint32_t at = 0;
#pragma unroll 1
    for (int hop = 0; hop < HOPS; hop++)
        at = chain[(size_t)at * NODE];
    *end = at;
}

static __device__ __forceinline__ uint32_t sum_of(uint32_t v)
{
    return v;
}

static __device__ __forceinline__ uint32_t sum_of(const uint4 &v)
{
    return v.x + v.y + v.z + v.w;
}

/* Reads memory with LOADS loads of T in flight in every thread, and no more: they are summed before
 * the next loads are issued. (A multiprocessor issues the instructions of a warp in order.) */
template <typename T, int LOADS>
static __global__ void __launch_bounds__(BLOCK_MOST)
    read_kernel(const T *in, uint32_t *out, size_t count)
{
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
#pragma unroll 1
    for (size_t i = thread; i < count; i += LOADS * threads) {
        T value[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            value[k] = i + k * threads < count ? in[i + k * threads] : T();
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            sum += sum_of(value[k]);
    }
    out[thread] = sum;
}

template <typename T, int LOADS>
static void launch(int blocks, int threads, const uint32_t *in, uint32_t *out, size_t words)
{
    read_kernel<T, LOADS><<<blocks, threads>>>((const T *)in, out, words * sizeof *in / sizeof(T));
}

static const struct {
    int bytes; /* bytes that a thread has in flight */
    void (*launch)(int blocks, int threads, const uint32_t *in, uint32_t *out, size_t words);
} methods[] = {
    {4, launch<uint32_t, 1>},
    {16, launch<uint4, 1>},
    {64, launch<uint4, 4>},
};
constexpr int METHODS = sizeof methods / sizeof *methods;

/* Returns a random cycle through all nodes (Sattolo's shuffle). */
static std::vector<uint32_t> cycle(void)
{
    std::vector<uint32_t> next(NODES);
    uint32_t random = 1;
    for (int i = 0; i < NODES; i++)
        next[i] = i;
    for (int i = NODES - 1; i > 0; i--) {
        random = random * 1664525u + 1013904223u;
        std::swap(next[i], next[(random >> 8) % i]);
    }
    return next;
}

/* Checks the chain, and returns the latency of device memory or, warm, of L2, in ns. */
static double time_chain(const struct gf_lab_run *run, const std::vector<uint32_t> &next,
                         enum lab_cache cache)
{
    const lab_memory<uint32_t> chain(run, (size_t)NODES * NODE), end(run, 1);
    uint32_t expected = 0;
    LAB_TRY(cudaMemcpy2D(chain.data, NODE * sizeof(uint32_t), next.data(), sizeof(uint32_t),
                         sizeof(uint32_t), NODES, cudaMemcpyHostToDevice));
    end.poison();
    const auto chase = [&] { chase_kernel<<<1, 1>>>(chain.data, end.data); };
    const struct lab_time time = lab_time(run, chase, cache);
    for (int hop = 0; hop < HOPS; hop++)
        expected = next[expected];
    gf_lab_count(run, end.host()[0] != expected);
    return time.median_s * 1e9 / HOPS;
}

/* Times reads with `warps` warps on a multiprocessor, and returns their rate. */
static double time_read(const struct gf_lab_run *run, int method, int warps,
                        const lab_memory<uint32_t> &in, uint32_t expected)
{
    const int threads = std::min(warps * WARP, BLOCK_MOST);
    const int blocks = run->device.multiprocessors * (warps * WARP / threads);
    const lab_memory<uint32_t> out(run, (size_t)blocks * threads);
    uint32_t sum = 0;
    out.poison();
    const struct lab_time time = lab_time(
        run, [&] { methods[method].launch(blocks, threads, in.data, out.data, in.count); });
    for (const uint32_t part : out.host())
        sum += part;
    gf_lab_count(run, sum != expected);
    return time.gb_s((double)in.bytes());
}

static void run(const struct gf_lab_run *run)
{
    const int most_threads = lab_attribute(run, cudaDevAttrMaxThreadsPerMultiProcessor);
    const double multiprocessors = run->device.multiprocessors;
    const lab_memory<uint32_t> in(
        run, run->param[0] * LAB_MB / sizeof(uint4) * (sizeof(uint4) / sizeof(uint32_t)), 1);
    const std::vector<uint32_t> next = cycle();
    const double memory_ns = time_chain(run, next, LAB_COLD);
    const double l2_ns = time_chain(run, next, LAB_WARM);
    double best_gb_s = 0.0, best_of_4_gb_s = 0.0, first_gb_s = 0.0;
    uint32_t expected = 0;
    for (const uint32_t value : in.host())
        expected += value;
    const int first_bytes = WARP * methods[0].bytes; /* the fewest on a multiprocessor */
    for (int bytes = first_bytes; bytes <= most_threads * methods[METHODS - 1].bytes; bytes *= 2) {
        std::vector<double> rates(METHODS, NAN);
        for (int method = 0; method < METHODS; method++) {
            const int warps = bytes / WARP / methods[method].bytes;
            if (warps < 1 || warps * WARP > most_threads)
                continue;
            rates[method] = time_read(run, method, warps, in, expected);
            best_gb_s = std::max(best_gb_s, rates[method]);
        }
        best_of_4_gb_s = std::max(best_of_4_gb_s, std::isnan(rates[0]) ? 0.0 : rates[0]);
        first_gb_s = bytes == first_bytes ? rates[0] : first_gb_s;
        lab_row(run, bytes, rates, "%d", bytes);
    }
    double knee_bytes = 0.0; /* the fewest bytes that reach 9/10 of the best bandwidth */
    for (int i = run->result->rows - 1; i >= 0; i--) {
        for (int method = 0; method < METHODS; method++) {
            if (run->result->row[i].value[method] >= 0.9 * best_gb_s)
                knee_bytes = run->result->row[i].x;
        }
    }
    const double needed = memory_ns * best_gb_s; /* ns * GB/s = bytes */
    const double predicted = first_bytes * multiprocessors / memory_ns;
    gf_lab_note(run, "latency: %.0f ns from device memory, %.0f ns from L2", memory_ns, l2_ns);
    gf_lab_claim(
        run, fabs(first_gb_s / predicted - 1.0) < 0.25,
        "%d bytes in flight of each multiprocessor over %.0f ns are %.1f GB/s; measured: %.1f",
        first_bytes, memory_ns, predicted, first_gb_s);
    gf_lab_claim(
        run,
        knee_bytes * multiprocessors > 0.5 * needed && knee_bytes * multiprocessors < 4.0 * needed,
        "saturation needs %.0f ns x %.0f GB/s = %.0f KB in flight, %.1f of a "
        "multiprocessor (guide: 74 KB "
        "in all); 9/10 is reached with %.0f KB",
        memory_ns, best_gb_s, needed / 1024, needed / 1024 / multiprocessors, knee_bytes / 1024);
    gf_lab_claim(run, best_of_4_gb_s > 0.9 * best_gb_s,
                 "threads of 4 bytes are enough (guide: 18,500; here %.0f): as many as there can "
                 "be reach %.0f of "
                 "%.0f GB/s",
                 needed / 4, best_of_4_gb_s, best_gb_s);
}
#endif

const struct gf_lab gf_lab_latency = {
    .name = "latency",
    .summary = "Little's law: bytes in flight against bandwidth",
    .guide = "3, latency hiding; 4, 10.1",
    .figure = "144 GB/s at 1.566 GHz: 92 B/cycle, in 800 cycles 74 KB or 18,500 threads of 4 bytes",
    .marks = {{"guide 3, peak of 144 GB/s", "4 B a thread", NULL, 144}},
    .params = {GF_LAB_INT("size", 256, 1, 4096, "of the array that is read, in MB")},
    .rows = "in flight (B per SM)",
    .columns = {{"4 B a thread", "GB/s", 0},
                {"16 B a thread", "GB/s", 0},
                {"64 B a thread", "GB/s", 0}},
    .right = "the chain ends where the CPU's does, and all sums are its (%llu are not)",
    .axes = {"bytes in flight of a multiprocessor", "B", "bandwidth", "GB/s", GF_LAB_LOG_X},
    .run = GF_LAB_RUN(run),
};
