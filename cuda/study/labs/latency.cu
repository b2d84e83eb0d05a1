/* Little's law: bandwidth is the bytes in flight over the latency, until the memory is saturated
 * (Performance Issues, latency hiding). */
#include "study/labs/lab.h"

struct latency {
    int size;
};

static const struct gf_param latency_params[] = {
    GF_PARAM_INT(struct latency, size, 256, 1, 4096, "of the array that is read, in MB"),
    {0},
};

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

/* Measures the latency of device memory and of L2. */
static enum gf_status time_chain(const struct gf_lab_run *run, double *memory_ns, double *l2_ns,
                                 bool *right)
{
    const std::vector<uint32_t> next = cycle();
    lab_memory<uint32_t> chain, end;
    struct lab_time cold, warm;
    uint32_t found, expected = 0;
    GF_TRY(chain.alloc(run, (size_t)NODES * NODE));
    GF_TRY(end.poison(run, 1));
    LAB_TRY(cudaMemcpy2D(chain.data, NODE * sizeof(uint32_t), next.data(), sizeof(uint32_t),
                         sizeof(uint32_t), NODES, cudaMemcpyHostToDevice));
    GF_TRY(lab_time(
        run, LAB_COLD, [&] { chase_kernel<<<1, 1>>>(chain.data, end.data); }, &cold));
    GF_TRY(lab_time(
        run, LAB_WARM, [&] { chase_kernel<<<1, 1>>>(chain.data, end.data); }, &warm));
    LAB_TRY(cudaMemcpy(&found, end.data, sizeof found, cudaMemcpyDeviceToHost));
    for (int hop = 0; hop < HOPS; hop++)
        expected = next[expected];
    *right = found == expected;
    *memory_ns = cold.median_s * 1e9 / HOPS;
    *l2_ns = warm.median_s * 1e9 / HOPS;
    return GF_OK;
}

/* Times reads with `warps` warps on a multiprocessor. *wrong counts wrong sums. */
static enum gf_status time_read(const struct gf_lab_run *run, int method, int warps,
                                const lab_memory<uint32_t> &in, uint32_t expected, double *gb_s,
                                int *wrong)
{
    const int threads = std::min(warps * WARP, BLOCK_MOST);
    const int blocks = run->device.multiprocessors * (warps * WARP / threads);
    lab_memory<uint32_t> out;
    std::vector<uint32_t> sums((size_t)blocks * threads);
    struct lab_time time;
    uint32_t sum = 0;
    GF_TRY(out.poison(run, sums.size()));
    GF_TRY(lab_time(
        run, LAB_WARM,
        [&] { methods[method].launch(blocks, threads, in.data, out.data, in.count); }, &time));
    LAB_TRY(cudaMemcpy(sums.data(), out.data, out.bytes(), cudaMemcpyDeviceToHost));
    for (const uint32_t part : sums)
        sum += part;
    *wrong += sum != expected;
    *gb_s = lab_gb_s((double)in.bytes(), time);
    return GF_OK;
}

struct little {
    double memory_ns, best_gb_s, first_gb_s, best_of_4_gb_s;
    int first_bytes; /* the fewest bytes in flight on a multiprocessor, and their bandwidth */
    int knee_bytes;  /* the fewest bytes that reach 9/10 of the best bandwidth */
};

static void claims(const struct gf_lab_run *run, const struct little &found)
{
    const int multiprocessors = run->device.multiprocessors;
    const double needed = found.memory_ns * found.best_gb_s; /* ns * GB/s = bytes */
    const double predicted = found.first_bytes * multiprocessors / found.memory_ns;
    gf_lab_claim(
        run, fabs(found.first_gb_s / predicted - 1.0) < 0.25,
        "%d bytes in flight of each multiprocessor over %.0f ns are %.1f GB/s; measured: %.1f",
        found.first_bytes, found.memory_ns, predicted, found.first_gb_s);
    gf_lab_claim(run,
                 found.knee_bytes * multiprocessors > 0.5 * needed &&
                     found.knee_bytes * multiprocessors < 4.0 * needed,
                 "saturation needs %.0f ns x %.0f GB/s = %.0f KB in flight, %.1f of a "
                 "multiprocessor (guide: 74 KB "
                 "in all); 9/10 is reached with %.0f KB",
                 found.memory_ns, found.best_gb_s, needed / 1024, needed / 1024 / multiprocessors,
                 found.knee_bytes / 1024.0);
    gf_lab_claim(run, found.best_of_4_gb_s > 0.9 * found.best_gb_s,
                 "threads of 4 bytes are enough (guide: 18,500; here %.0f): as many as there can "
                 "be reach %.0f of "
                 "%.0f GB/s",
                 needed / 4, found.best_of_4_gb_s, found.best_gb_s);
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct latency *const params = (const struct latency *)run->params;
    lab_memory<uint32_t> in;
    struct little found = {};
    double l2_ns = 0.0, rates[METHODS] = {0.0};
    bool right = false;
    int wrong = 0, most_threads = 0, columns[METHODS];
    uint32_t expected = 0;
    LAB_TRY(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor,
                                   run->device.index));
    GF_TRY(in.random(
        run, params->size * LAB_MB / sizeof(uint4) * (sizeof(uint4) / sizeof(uint32_t)), 1));
    std::vector<uint32_t> values(in.count);
    LAB_TRY(cudaMemcpy(values.data(), in.data, in.bytes(), cudaMemcpyDeviceToHost));
    for (const uint32_t value : values)
        expected += value;
    GF_TRY(time_chain(run, &found.memory_ns, &l2_ns, &right));

    gf_lab_rows(run, "in flight (B per SM)");
    for (int method = 0; method < METHODS; method++) {
        char name[32];
        snprintf(name, sizeof name, "%d B a thread", methods[method].bytes);
        columns[method] = gf_lab_column(run, name, "GB/s", 0);
    }
    for (int bytes = WARP * methods[0].bytes; bytes <= most_threads * methods[METHODS - 1].bytes;
         bytes *= 2) {
        gf_lab_row(run, bytes, "%d", bytes);
        for (int method = 0; method < METHODS; method++) {
            const int warps = bytes / WARP / methods[method].bytes;
            if (warps < 1 || warps * WARP > most_threads)
                continue;
            GF_TRY(time_read(run, method, warps, in, expected, &rates[method], &wrong));
            gf_lab_value(run, columns[method], rates[method]);
            found.best_gb_s = std::max(found.best_gb_s, rates[method]);
            if (method == 0)
                found.best_of_4_gb_s = std::max(found.best_of_4_gb_s, rates[0]);
            if (!found.first_bytes) {
                found.first_bytes = bytes;
                found.first_gb_s = rates[method];
            }
        }
    }
    for (int i = run->result->rows - 1; i >= 0; i--) {
        for (int method = 0; method < METHODS; method++) {
            if (run->result->row[i].value[columns[method]] >= 0.9 * found.best_gb_s)
                found.knee_bytes = (int)run->result->row[i].x;
        }
    }
    gf_lab_check(run, right && !wrong,
                 "the chain ends where the CPU's does, and all sums are its (%d are not)", wrong);
    gf_lab_note(run, "latency: %.0f ns from device memory, %.0f ns from L2", found.memory_ns,
                l2_ns);
    claims(run, found);
    return GF_OK;
}
#endif

static const struct gf_lab_mark latency_marks[] = {
    {"guide 3, peak of 144 GB/s", "4 B a thread", NULL, 144}, {0}};

const struct gf_lab gf_lab_latency = {
    .name = "latency",
    .summary = "Little's law: bytes in flight against bandwidth",
    .guide = "3, latency hiding; 4, 10.1",
    .figure = "144 GB/s at 1.566 GHz: 92 B/cycle, in 800 cycles 74 KB or 18,500 threads of 4 bytes",
    .marks = latency_marks,
    GF_PARAMS(struct latency, latency_params),
    .axes = {.x = "bytes in flight of a multiprocessor",
             .x_unit = "B",
             .y = "bandwidth",
             .y_unit = "GB/s",
             .log_x = true},
    .run = GF_LAB_RUN(run),
};
