/* Kernels that launch kernels: if only the device knows the amount of work, it launches the work
 * itself, and the host need not read the amount back (Performance Issues, guideline 19). The
 * Makefile links this file on its own, since device code that launches kernels needs the device
 * runtime. */
#include "study/labs/lab.h"

struct dynamic_parallelism {
    int most;
};

static const struct gf_param dynamic_parallelism_params[] = {
    GF_PARAM_INT(struct dynamic_parallelism, most, 1024, 1, 2048,
                 "the most children that are launched"),
    {0},
};

#ifdef __CUDACC__
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
    lab_memory<uint32_t> sizes;
    lab_memory<float> in, out;
    std::vector<uint32_t> host_sizes;
    std::vector<float> before, after;
    std::vector<cudaStream_t> streams;
    int wrong = 0;

    ~dynamic_parallelism_bench()
    {
        for (const cudaStream_t stream : streams)
            cudaStreamDestroy(stream);
    }

    enum gf_status begin(int most)
    {
        GF_TRY(sizes.random(run, most, 1));
        GF_TRY(in.random(run, (size_t)most * CHILD_MOST, 2));
        GF_TRY(out.alloc(run, in.count));
        host_sizes.resize(most);
        before.resize(in.count);
        after.resize(in.count);
        LAB_TRY(cudaMemcpy(before.data(), in.data, in.bytes(), cudaMemcpyDeviceToHost));
        for (float &x : before)
            x = changed(x);
        for (int i = 0; i < 8; i++) {
            cudaStream_t stream;
            LAB_TRY(cudaStreamCreate(&stream));
            streams.push_back(stream);
        }
        return GF_OK;
    }

    /* Copies the sizes to the host, and launches the children from there on several streams. */
    enum gf_status from_host(int children)
    {
        LAB_TRY(cudaMemcpy(host_sizes.data(), sizes.data, children * sizeof(uint32_t),
                           cudaMemcpyDeviceToHost));
        for (int k = 0; k < children; k++) {
            const size_t at = (size_t)k * CHILD_MOST;
            child_kernel<<<size_of(host_sizes[k]) / THREADS, THREADS, 0,
                           streams[k % streams.size()]>>>(in.data + at, out.data + at);
        }
        LAB_LAUNCHED();
        return GF_OK;
    }

    enum gf_status from_device(int children)
    {
        /* Blocks are small, so that several multiprocessors launch. */
        constexpr int LAUNCHING = 32;
        parent_kernel<<<lab_blocks(children, LAUNCHING), LAUNCHING>>>(sizes.data, in.data, out.data,
                                                                      children);
        LAB_LAUNCHED();
        return GF_OK;
    }

    enum gf_status flat(int children)
    {
        flat_kernel<<<dim3(CHILD_MOST / THREADS, children), THREADS>>>(sizes.data, in.data,
                                                                       out.data);
        LAB_LAUNCHED();
        return GF_OK;
    }

    /* Times work by the host's clock, from an idle device to an idle device, because the round trip
     * to the host counts. */
    template <typename Work> enum gf_status time(int children, Work work, double *us)
    {
        struct lab_time time;
        LAB_TRY(cudaMemset(out.data, 0xa5, out.bytes()));
        GF_TRY(lab_time_host(run, work, &time));
        LAB_TRY(cudaMemcpy(after.data(), out.data, out.bytes(), cudaMemcpyDeviceToHost));
        LAB_TRY(cudaMemcpy(host_sizes.data(), sizes.data, sizes.bytes(), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < after.size(); i++) {
            const size_t child = i / CHILD_MOST;
            const bool written =
                (int)child < children && (int)(i % CHILD_MOST) < size_of(host_sizes[child]);
            uint32_t bits;
            memcpy(&bits, &after[i], sizeof bits);
            wrong += written ? after[i] != before[i] : bits != 0xa5a5a5a5u;
        }
        *us = time.median_s * 1e6;
        return GF_OK;
    }
};

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct dynamic_parallelism *const params =
        (const struct dynamic_parallelism *)run->params;
    struct dynamic_parallelism_bench bench = {run};
    struct cudaFuncAttributes attributes;
    double host = 0.0, device = 0.0, flat = 0.0, host_one = 0.0, device_one = 0.0;
    if (cudaFuncGetAttributes(&attributes, parent_kernel) != cudaSuccess) {
        cudaGetLastError();
        gf_lab_note(
            run,
            "sm_%d%d has no machine code here, and PTX cannot be linked with the device's runtime",
            run->device.major, run->device.minor);
        return GF_OK;
    }
    GF_TRY(bench.begin(params->most));

    gf_lab_rows(run, "children");
    const int by_host = gf_lab_column(run, "by the host", "us", 1);
    const int by_device = gf_lab_column(run, "by the device", "us", 1);
    const int by_none = gf_lab_column(run, "one flat grid", "us", 1);
    const int gain = gf_lab_column(run, "device over host", "times", 2);
    for (int children = 1; children <= params->most; children *= 4) {
        GF_TRY(bench.time(
            children, [&] { return bench.from_host(children); }, &host));
        GF_TRY(bench.time(
            children, [&] { return bench.from_device(children); }, &device));
        GF_TRY(bench.time(
            children, [&] { return bench.flat(children); }, &flat));
        host_one = children == 1 ? host : host_one;
        device_one = children == 1 ? device : device_one;
        gf_lab_row(run, children, "%d", children);
        gf_lab_value(run, by_host, host);
        gf_lab_value(run, by_device, device);
        gf_lab_value(run, by_none, flat);
        gf_lab_value(run, gain, host / device);
    }
    gf_lab_check(run, !bench.wrong,
                 "the children's results equal the CPU's, and nothing else is written (%d)",
                 bench.wrong);
    gf_lab_claim(run, device < host,
                 "launches of the device spare the host's part: at the last row %.2f times as fast",
                 host / device);
    gf_lab_note(run, "one child takes %.1f us from the device, %.1f from the host", device_one,
                host_one);
    gf_lab_note(run, "one grid with blocks to spare takes 1/%.1f of the device's launches' time",
                device / flat);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_dynamic_parallelism = {
    .name = "dynamic-parallelism",
    .summary = "kernels launched by kernels, by the host, and one grid for all",
    .guide = "3, guideline 19",
    .figure = "less CPU intervention, better locality",
    GF_PARAMS(struct dynamic_parallelism, dynamic_parallelism_params),
    .axes =
        {.x = "children", .x_unit = "", .y = "time", .y_unit = "us", .log_x = true, .log_y = true},
    .run = GF_LAB_RUN(run),
};
