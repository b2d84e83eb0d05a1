/* What labs share on the device: memory with random or poisoned contents, comparison, timing by
 * events. Within static void run(const struct gf_lab_run *run):
 * const lab_memory<float> in(run, count, 1); random, floats in -1..1; freed at the end of the scope
 * lab_memory<float> out(run, count);
 * out.poison();
 * const auto copy = [&] { copy_kernel<<<blocks, THREADS>>>(in.data, out.data, count); };
 * const struct lab_time time = lab_time(run, copy);
 * gf_lab_count(run, lab_different(in, out));
 * lab_row(run, NAN, {time.us(), time.gb_s(2.0 * in.bytes())}, "copy");
 * A CUDA call that fails ends the lab: it throws what lab_run() catches and returns as a status. */
#pragma once

#include <algorithm>
#include <chrono>
#include <new>
#include <vector>

#include "cuda/common/check.cuh"
#include "study/labs/lab.h"

/* Thrown where a call has failed, with the reason in run->error. With an exception a lab needs no
 * code for errors, and what it holds is freed while the exception passes. */
struct lab_failed {
    enum gf_status status;
};

/* Calls a lab's function, and returns its failure as a status. It is a template, so that
 * GF_LAB_RUN(function) in a lab's declaration is a function. */
template <void (*LAB)(const struct gf_lab_run *)>
static enum gf_status lab_run(const struct gf_lab_run *run)
{
    try {
        LAB(run);
        return GF_OK;
    } catch (const struct lab_failed &failed) {
        return failed.status;
    } catch (const std::bad_alloc &) {
        return gf_fail_memory(run->error);
    }
}

static inline void lab_require(const struct gf_lab_run *run, cudaError_t code, const char *call)
{
    if (code != cudaSuccess)
        throw lab_failed{gf_cuda_fail(run->error, run->device.index, call, code)};
}

static inline void lab_require(const struct gf_lab_run *, enum gf_status status, const char *)
{
    if (status)
        throw lab_failed{status};
}

/* Ends the lab if the call fails, which returns cudaError_t or enum gf_status. */
#define LAB_TRY(call) lab_require(run, call, #call)
/* Ends the lab if an earlier launch has failed. The functions below also check this before they use
 * a result. */
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
void lab_fill(const struct gf_lab_run *run, void *memory, size_t bytes, uint32_t seed);
void lab_fill(const struct gf_lab_run *run, float *memory, size_t bytes, uint32_t seed);
/* Counts the bytes that differ. */
uint64_t lab_different_bytes(const struct gf_lab_run *run, const void *a, const void *b,
                             size_t bytes);
/* Reads enough to evict everything else from L2. Lines that were written would be written back
 * later, during the next measurement. */
void lab_flush(const struct gf_lab_run *run);
/* Adds a row with the values of the first columns; NaN is none. */
void lab_row(const struct gf_lab_run *run, double x, const std::vector<double> &values,
             const char *label, ...) GF_PRINTF(4, 5);

static inline int lab_attribute(const struct gf_lab_run *run, cudaDeviceAttr attribute)
{
    int value = 0;
    LAB_TRY(cudaDeviceGetAttribute(&value, attribute, run->device.index));
    return value;
}

/* Device memory that is freed at the end of the scope. */
template <typename T> struct lab_memory {
    const struct gf_lab_run *const run;
    T *data = NULL;
    const size_t count;

    lab_memory(const struct gf_lab_run *run_, size_t count_) : run(run_), count(count_)
    {
        LAB_TRY(cudaMalloc(&data, bytes()));
    }
    /* Random contents. */
    lab_memory(const struct gf_lab_run *run_, size_t count_, uint32_t seed)
        : lab_memory(run_, count_)
    {
        lab_fill(run, data, bytes(), seed);
    }
    lab_memory(const lab_memory &) = delete;
    ~lab_memory()
    {
        cudaFree(data);
    }

    size_t bytes() const
    {
        return count * sizeof(T);
    }
    void set_bytes(int byte) const
    {
        LAB_TRY(cudaMemset(data, byte, bytes()));
    }
    void poison() const
    {
        set_bytes(0xa5);
    }
    /* The first elements, on the host. */
    std::vector<T> host(size_t first) const
    {
        std::vector<T> values(first);
        LAB_LAUNCHED();
        LAB_TRY(cudaMemcpy(values.data(), data, first * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
    std::vector<T> host() const
    {
        return host(count);
    }
    void set(const std::vector<T> &values) const
    {
        LAB_TRY(cudaMemcpy(data, values.data(), bytes(), cudaMemcpyHostToDevice));
    }
};

template <typename T> static uint64_t lab_different(const lab_memory<T> &a, const lab_memory<T> &b)
{
    return lab_different_bytes(a.run, a.data, b.data, a.bytes());
}

/* Finds the largest |a - b|; it is infinite if either is NaN. */
double lab_worst(const lab_memory<float> &a, const lab_memory<float> &b);

struct lab_stream {
    cudaStream_t handle = NULL;

    lab_stream(const struct gf_lab_run *run, unsigned int flags)
    {
        LAB_TRY(cudaStreamCreateWithFlags(&handle, flags));
    }
    lab_stream(lab_stream &&other)
    {
        std::swap(handle, other.handle);
    }
    ~lab_stream()
    {
        if (handle)
            cudaStreamDestroy(handle);
    }
};

/* A counter for kernels that check results, 0 at first. */
struct lab_counter : lab_memory<unsigned long long> {
    explicit lab_counter(const struct gf_lab_run *run_) : lab_memory(run_, 1)
    {
        set_bytes(0);
    }
    unsigned long long value() const
    {
        return host()[0];
    }
};

struct lab_time {
    double median_s; /* the time of one call */
    double spread;   /* (third quartile - first quartile) / median, in % */

    double ms() const
    {
        return 1e3 * median_s;
    }
    double us() const
    {
        return 1e6 * median_s;
    }
    double gb_s(double bytes) const
    {
        return bytes / median_s * 1e-9;
    }
};

/* Returns how many times as long a takes as b. */
static inline double operator/(const struct lab_time &a, const struct lab_time &b)
{
    return a.median_s / b.median_s;
}

static inline struct lab_time lab_statistics(std::vector<double> &seconds)
{
    std::sort(seconds.begin(), seconds.end());
    const size_t n = seconds.size();
    const double median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
    const double quartiles = seconds[(3 * n - 1) / 4] - seconds[n / 4];
    return {median, median > 0 ? 100.0 * quartiles / median : 0.0};
}

static inline unsigned int lab_blocks(size_t count, size_t of_one_block)
{
    return (unsigned int)((count + of_one_block - 1) / of_one_block);
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
static struct lab_time lab_time(const struct gf_lab_run *run, Launch launch,
                                enum lab_cache cache = LAB_WARM)
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
            lab_flush(run);
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
    return lab_statistics(seconds);
}

/* Times work that the host takes part in, such as allocations and copies of pageable memory, by the
 * host's clock and from an idle device to an idle device. work() may synchronise. */
template <typename Work>
static struct lab_time lab_time_host(const struct gf_lab_run *run, Work work)
{
    std::vector<double> seconds;
    work();
    for (int i = 0; i < run->runs; i++) {
        LAB_TRY(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        work();
        LAB_TRY(cudaDeviceSynchronize());
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        seconds.push_back(elapsed.count());
    }
    return lab_statistics(seconds);
}
