/* Shared functions of labs on the device: memory with random or poisoned contents, comparison,
 * timing by events. Within run(const struct gf_lab_run *run):
 * lab_memory<float> in, out; freed at the end of the scope
 * GF_TRY(in.random(run, count, 1)); allocated and filled; floats are in -1..1
 * GF_TRY(out.poison(run, count));
 * copy_kernel<<<blocks, THREADS>>>(...);
 * GF_TRY(lab_different(run, in.data, out.data, count, &different));
 * gf_lab_check(run, !different, "the copy equals its input");
 * GF_TRY(lab_time(run, LAB_WARM, [&] { copy_kernel<<<blocks, THREADS>>>(...); }, &time));
 * gf_lab_value(run, column, lab_gb_s(2.0 * bytes, time)); */
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "cuda/common/check.cuh"
#include "study/labs/lab.h"

/* Returns from the calling function when a CUDA call fails, as GF_TRY does with functions that
 * return enum gf_status. */
#define LAB_TRY(call) GF_CUDA_TRY(call, run->device.index, run->error)
/* Checks for an error after a launch outside of lab_time(). */
#define LAB_LAUNCHED() LAB_TRY(cudaGetLastError())

/* Limits the registers of a thread, in blocks of up to `threads`. Toolkits before 12.4 accept only
 * the number of blocks that a multiprocessor should hold, which has the same effect if that many
 * threads fit. */
#if CUDART_VERSION >= 12040
#define LAB_REGISTERS(threads, most) __maxnreg__(most)
#else
#define LAB_REGISTERS(threads, most) __launch_bounds__(threads, 65536 / ((threads) * (most)))
#endif

constexpr size_t LAB_MB = 1000000; /* a megabyte of 10^6 bytes, as in GB/s */

/* Fill memory with random 32-bit words, or floats in -1..1. The same seed gives the same
 * numbers. */
enum gf_status lab_fill_words(const struct gf_lab_run *run, void *memory, size_t bytes,
                              uint32_t seed);
enum gf_status lab_fill_floats(const struct gf_lab_run *run, float *memory, size_t count,
                               uint32_t seed);
/* Counts the bytes that differ. */
enum gf_status lab_different_bytes(const struct gf_lab_run *run, const void *a, const void *b,
                                   size_t bytes, uint64_t *different);
/* Finds the largest |a - b|; it is infinite if either is NaN. */
enum gf_status lab_worst(const struct gf_lab_run *run, const float *a, const float *b, size_t count,
                         double *worst);
/* Reads enough to evict everything else from L2. Lines that were written would be written back
 * later, during the next measurement. */
enum gf_status lab_flush(const struct gf_lab_run *run);

template <typename T>
static enum gf_status lab_different(const struct gf_lab_run *run, const T *a, const T *b,
                                    size_t count, uint64_t *different)
{
    return lab_different_bytes(run, a, b, count * sizeof(T), different);
}

static inline enum gf_status lab_randomise(const struct gf_lab_run *run, float *memory,
                                           size_t count, uint32_t seed)
{
    return lab_fill_floats(run, memory, count, seed);
}

/* Fills memory of any other type with random bits. */
template <typename T>
static enum gf_status lab_randomise(const struct gf_lab_run *run, T *memory, size_t count,
                                    uint32_t seed)
{
    return lab_fill_words(run, memory, count * sizeof(T), seed);
}

/* Device memory that is freed at the end of the scope. */
template <typename T> struct lab_memory {
    T *data = NULL;
    size_t count = 0;

    lab_memory() = default;
    lab_memory(const lab_memory &) = delete;
    lab_memory &operator=(const lab_memory &) = delete;
    ~lab_memory()
    {
        cudaFree(data);
    }

    size_t bytes() const
    {
        return count * sizeof(T);
    }
    enum gf_status alloc(const struct gf_lab_run *run, size_t elements)
    {
        if (data && elements == count)
            return GF_OK;
        cudaFree(data);
        data = NULL;
        LAB_TRY(cudaMalloc(&data, elements * sizeof(T)));
        count = elements;
        return GF_OK;
    }
    enum gf_status random(const struct gf_lab_run *run, size_t elements, uint32_t seed)
    {
        GF_TRY(alloc(run, elements));
        return lab_randomise(run, data, elements, seed);
    }
    enum gf_status poison(const struct gf_lab_run *run, size_t elements)
    {
        GF_TRY(alloc(run, elements));
        LAB_TRY(cudaMemset(data, 0xa5, bytes()));
        return GF_OK;
    }
};

struct lab_time {
    double median_s = 0; /* the time of one call */
    double spread = 0;   /* (third quartile - first quartile) / median */
};

static inline struct lab_time lab_statistics(std::vector<double> &seconds)
{
    std::sort(seconds.begin(), seconds.end());
    const size_t n = seconds.size();
    const double median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
    return {median, median > 0 ? (seconds[(3 * n - 1) / 4] - seconds[n / 4]) / median : 0.0};
}

static inline double lab_gb_s(double bytes, const struct lab_time &time)
{
    return bytes / time.median_s * 1e-9;
}

static inline unsigned int lab_blocks(size_t count, size_t of_one_block)
{
    return (unsigned int)((count + of_one_block - 1) / of_one_block);
}

/* The columns of a lab that compares kernels: time, bandwidth, spread, and speed-up. The speed-up
 * refers to the first row that lab_row() adds, or the first after lab_restart(). */
struct lab_columns {
    int time, rate, spread, speedup;
    double first_s;
};

static inline struct lab_columns lab_columns_add(const struct gf_lab_run *run,
                                                 const char *rows_name)
{
    struct lab_columns columns = {};
    gf_lab_rows(run, "%s", rows_name);
    columns.time = gf_lab_column(run, "time", "ms", 3);
    columns.rate = gf_lab_column(run, "bandwidth", "GB/s", 0);
    columns.spread = gf_lab_column(run, "spread", "%", 1);
    columns.speedup = gf_lab_column(run, "speed-up", "times", 2);
    return columns;
}

static inline void lab_restart(struct lab_columns *columns)
{
    columns->first_s = 0.0;
}

/* Adds a row. `bytes` is the least number of bytes that the task must move. */
static inline void lab_row(const struct gf_lab_run *run, struct lab_columns *columns, double x,
                           const char *label, double bytes, const struct lab_time &time)
{
    if (columns->first_s == 0.0)
        columns->first_s = time.median_s;
    gf_lab_row(run, x, "%s", label);
    gf_lab_value(run, columns->time, 1e3 * time.median_s);
    gf_lab_value(run, columns->rate, lab_gb_s(bytes, time));
    gf_lab_value(run, columns->spread, 100.0 * time.spread);
    gf_lab_value(run, columns->speedup, columns->first_s / time.median_s);
}

/* A pair of events that are destroyed at the end of the scope. */
struct lab_interval {
    cudaEvent_t begin = NULL, end = NULL;
    ~lab_interval()
    {
        if (begin)
            cudaEventDestroy(begin);
        if (end)
            cudaEventDestroy(end);
    }
    cudaError_t create()
    {
        const cudaError_t code = cudaEventCreate(&begin);
        return code ? code : cudaEventCreate(&end);
    }
};

/* The intended time between a pair of events, which should be long compared with their resolution,
 * and the most launches in it. */
constexpr double LAB_INTERVAL_S = 200e-6;
constexpr int LAB_LAUNCHES_MAX = 100;

enum lab_cache {
    LAB_WARM, /* L2 has the contents that the last call left; short calls are repeated in an
               * interval */
    LAB_COLD  /* L2 is flushed before each call */
};

/* Times launch() on the default stream (streams without cudaStreamNonBlocking are in its order,
 * too): one call to warm up, one call to see how long it takes, then run->runs intervals. launch()
 * must give the same result however often it is called, and must not synchronise. */
template <typename Launch>
static enum gf_status lab_time(const struct gf_lab_run *run, enum lab_cache cache, Launch launch,
                               struct lab_time *time)
{
    std::vector<lab_interval> intervals(run->runs + 1);
    std::vector<double> seconds;
    float elapsed_ms;
    int calls = 1;
    launch();
    LAB_LAUNCHED();
    for (int i = 0; i <= run->runs; i++) {
        LAB_TRY(intervals[i].create());
        if (cache == LAB_COLD)
            GF_TRY(lab_flush(run));
        LAB_TRY(cudaEventRecord(intervals[i].begin));
        for (int k = 0; k < calls; k++)
            launch();
        LAB_TRY(cudaEventRecord(intervals[i].end));
        LAB_LAUNCHED();
        if (i == 0 && cache == LAB_WARM) {
            LAB_TRY(cudaEventSynchronize(intervals[0].end));
            LAB_TRY(cudaEventElapsedTime(&elapsed_ms, intervals[0].begin, intervals[0].end));
            const double wanted = LAB_INTERVAL_S / std::max(elapsed_ms * 1e-3, 1e-7);
            calls = (int)std::min(std::max(wanted, 1.0), (double)LAB_LAUNCHES_MAX);
        }
    }
    LAB_TRY(cudaDeviceSynchronize());
    for (int i = 1; i <= run->runs; i++) {
        LAB_TRY(cudaEventElapsedTime(&elapsed_ms, intervals[i].begin, intervals[i].end));
        seconds.push_back(elapsed_ms * 1e-3 / calls);
    }
    *time = lab_statistics(seconds);
    return GF_OK;
}

/* Times work that the host takes part in, such as allocations and copies of pageable memory, by the
 * host's clock and from an idle device to an idle device. work() may synchronise and returns an
 * enum gf_status. */
template <typename Work>
static enum gf_status lab_time_host(const struct gf_lab_run *run, Work work, struct lab_time *time)
{
    std::vector<double> seconds;
    GF_TRY(work());
    for (int i = 0; i < run->runs; i++) {
        LAB_TRY(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        GF_TRY(work());
        LAB_TRY(cudaDeviceSynchronize());
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        seconds.push_back(elapsed.count());
    }
    *time = lab_statistics(seconds);
    return GF_OK;
}
