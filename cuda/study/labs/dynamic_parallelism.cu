/* Kernels that launch kernels: if only the device knows the amount of work, it launches the work
 * itself, and the host need not read the amount back (Performance Issues, guideline 19). The
 * Makefile links this file on its own, since device code that launches kernels needs the device
 * runtime. */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include <cstring>

#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 128;
constexpr int STEPS = 64;
/* The largest number of floats that a child kernel changes. The number of a child, 1 to 16 blocks,
 * is made from its random word. */
constexpr int CHILD_MOST = 16 * THREADS;

static __host__ __device__ __forceinline__ int size_of(uint32_t word)
{
    return (int)(word % 16 + 1) * THREADS;
}

static __host__ __device__ __forceinline__ float changed(float x)
{
    for (int i = 0; i < STEPS; i++)
        x = fmaf(x, 0.75f, 0.125f);
    return x;
}

static __global__ void __launch_bounds__(THREADS) child_kernel(const float *in, float *out)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    out[i] = changed(in[i]);
}

/* A stream in which the children of a block may overlap; before CUDA 12.0 they run in order. */
#if CUDART_VERSION >= 12000
#define CHILD_STREAM cudaStreamFireAndForget
#else
#define CHILD_STREAM 0
#endif

static __global__ void __launch_bounds__(THREADS)
    parent_kernel(const uint32_t *sizes, const float *in, float *out, int children)
{
    const int child = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (child < children) {
        const size_t at = (size_t)child * CHILD_MOST;
        child_kernel<<<size_of(sizes[child]) / THREADS, THREADS, 0, CHILD_STREAM>>>(in + at,
                                                                                    out + at);
    }
}

/* Does the work in one grid with room for the largest child for each of them, whose superfluous
 * blocks end at once. Neither the device nor the host launches more. */
static __global__ void __launch_bounds__(THREADS)
    flat_kernel(const uint32_t *sizes, const float *in, float *out)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    const size_t at = (size_t)blockIdx.y * CHILD_MOST + i;
    if (i < size_of(sizes[blockIdx.y]))
        out[at] = changed(in[at]);
}

struct dynamic_parallelism_bench {
    const struct gf_lab_run *run;
    size_t most = (size_t)run->param[0];
    lab_memory<uint32_t> sizes{run, most, 1};
    lab_memory<float> in{run, most *CHILD_MOST, 2}, out{run, in.count};
    std::vector<float> right = in.host();
    std::vector<lab_stream> streams;

    explicit dynamic_parallelism_bench(const struct gf_lab_run *run_) : run(run_)
    {
        for (float &x : right)
            x = changed(x);
        for (int i = 0; i < 8; i++)
            streams.emplace_back(run, cudaStreamDefault);
    }

    /* Copies the sizes to the host, and launches the children from there on several streams. */
    void from_host(int children) const
    {
        const std::vector<uint32_t> host_sizes = sizes.host(children);
        for (int k = 0; k < children; k++) {
            const size_t at = (size_t)k * CHILD_MOST;
            child_kernel<<<size_of(host_sizes[k]) / THREADS, THREADS, 0,
                           streams[k % streams.size()].handle>>>(in.data + at, out.data + at);
        }
        LAB_LAUNCHED();
    }

    void from_device(int children) const
    {
        /* Blocks are small, so that several multiprocessors launch. */
        constexpr int LAUNCHING = 32;
        parent_kernel<<<lab_blocks(children, LAUNCHING), LAUNCHING>>>(sizes.data, in.data, out.data,
                                                                      children);
        LAB_LAUNCHED();
    }

    void flat(int children) const
    {
        flat_kernel<<<dim3(CHILD_MOST / THREADS, children), THREADS>>>(sizes.data, in.data,
                                                                       out.data);
        LAB_LAUNCHED();
    }

    /* Times work by the host's clock, from an idle device to an idle device, because the round trip
     * to the host counts. */
    double us(void (dynamic_parallelism_bench::*work)(int) const, int children) const
    {
        uint64_t wrong = 0;
        out.poison();
        const struct lab_time time = lab_time_host(run, [&] { (this->*work)(children); });
        const std::vector<float> after = out.host();
        const std::vector<uint32_t> host_sizes = sizes.host();
        for (size_t i = 0; i < after.size(); i++) {
            const size_t child = i / CHILD_MOST;
            const bool written =
                (int)child < children && (int)(i % CHILD_MOST) < size_of(host_sizes[child]);
            uint32_t bits;
            memcpy(&bits, &after[i], sizeof bits);
            wrong += written ? after[i] != right[i] : bits != 0xa5a5a5a5u;
        }
        gf_lab_count(run, wrong);
        return time.us();
    }
};

static void run(const struct gf_lab_run *run)
{
    struct cudaFuncAttributes attributes;
    double host = 0.0, device = 0.0, flat = 0.0, host_one = 0.0, device_one = 0.0;
    if (cudaFuncGetAttributes(&attributes, parent_kernel) != cudaSuccess) {
        cudaGetLastError();
        gf_lab_note(
            run,
            "sm_%d%d has no machine code here, and PTX cannot be linked with the device's runtime",
            run->device.major, run->device.minor);
        return;
    }
    const struct dynamic_parallelism_bench bench(run);
    for (int children = 1; children <= run->param[0]; children *= 4) {
        host = bench.us(&dynamic_parallelism_bench::from_host, children);
        device = bench.us(&dynamic_parallelism_bench::from_device, children);
        flat = bench.us(&dynamic_parallelism_bench::flat, children);
        host_one = children == 1 ? host : host_one;
        device_one = children == 1 ? device : device_one;
        lab_row(run, children, {host, device, flat, host / device}, "%d", children);
    }
    gf_lab_above(run, 1.0,
                 "launches of the device spare the host's part: at the last row %.2f times as fast",
                 host / device);
    gf_lab_note(run, "one child takes %.1f us from the device, %.1f from the host", device_one,
                host_one);
    gf_lab_note(run, "one grid with blocks to spare takes 1/%.1f of the device's launches' time",
                device / flat);
}
#endif

const struct gf_lab gf_lab_dynamic_parallelism = {
    .name = "dynamic-parallelism",
    .summary = "kernels launched by kernels, by the host, and one grid for all",
    .guide = "3, guideline 19",
    .figure = "less CPU intervention, better locality",
    .params = {GF_LAB_INT("most", 1024, 1, 2048, "the most children that are launched")},
    .rows = "children",
    .columns = {{"by the host", "us", 1},
                {"by the device", "us", 1},
                {"one flat grid", "us", 1},
                {"device over host", "times", 2}},
    .right = "the children's results equal the CPU's, and nothing else is written (%llu)",
    .axes = {"children", "", "time", "us", GF_LAB_LOG_X | GF_LAB_LOG_Y},
    .run = GF_LAB_RUN(run),
};
