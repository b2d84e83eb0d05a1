/* Measures how many elements a thread should process, how many blocks a grid should have, and the
 * cost of a last wave of few blocks (Legresley, grid size heuristics; Performance Issues, grid and
 * block size). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;

static __host__ __device__ __forceinline__ float increment(float x)
{
    /* The work of Legresley's example: reads a float, increments it, and writes it. */
    return x + 1.0f;
}

static __device__ __forceinline__ float4 increment(const float4 &v)
{
    return make_float4(increment(v.x), increment(v.y), increment(v.z), increment(v.w));
}

/* Processes ELEMENTS values of T in each thread. They are a block apart, so that each access of a
 * warp is contiguous; all are loaded before the first is written. */
template <typename T, int ELEMENTS>
static __global__ void __launch_bounds__(THREADS) elements_kernel(const T *in, T *out, int count)
{
    const int first = (int)(blockIdx.x * (THREADS * ELEMENTS) + threadIdx.x);
    T value[ELEMENTS];
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        if (first + k * THREADS < count)
            value[k] = in[first + k * THREADS];
    }
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        if (first + k * THREADS < count)
            out[first + k * THREADS] = increment(value[k]);
    }
}

/* Processes the array by a grid of any size, whose threads stride over it. */
static __global__ void __launch_bounds__(THREADS)
    stride_kernel(const float *in, float *out, int count)
{
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < count;
         i += (int)(gridDim.x * THREADS))
        out[i] = increment(in[i]);
}

/* The steps of a kernel that does only arithmetic, equally much in each block, so that the time
 * depends on the number of waves. */
constexpr int STEPS = 20000;
static __host__ __device__ __forceinline__ float step(float x)
{
    return fmaf(x, 0.75f, 0.125f);
}

static __global__ void __launch_bounds__(THREADS) arithmetic_kernel(const float *in, float *out)
{
    float x = in[threadIdx.x];
#pragma unroll 16
    for (int i = 0; i < STEPS; i++)
        x = step(x);
    out[blockIdx.x * THREADS + threadIdx.x] = x;
}

struct work_per_thread_bench {
    const struct gf_lab_run *run;
    int count = (int)(run->param[0] * LAB_MB / sizeof(float4) * 4);
    lab_memory<float> in{run, (size_t)count, 1}, out{run, (size_t)count},
        expected{run, (size_t)count};
    double copy_gb_s;

    explicit work_per_thread_bench(const struct gf_lab_run *run_) : run(run_)
    {
        std::vector<float> values = in.host();
        for (float &value : values)
            value = increment(value);
        expected.set(values);
        const struct lab_time time = lab_time(run, [&] {
            LAB_TRY(cudaMemcpyAsync(out.data, in.data, in.bytes(), cudaMemcpyDeviceToDevice));
        });
        copy_gb_s = time.gb_s(2.0 * in.bytes());
    }

    /* Adds the row of a kernel, and returns its rate. */
    template <typename Launch>
    double row(const char *name, unsigned int blocks, Launch launch) const
    {
        out.poison();
        const double gb_s = lab_time(run, launch).gb_s(2.0 * in.bytes());
        gf_lab_count(run, lab_different(expected, out));
        lab_row(run, NAN, {(double)blocks, gb_s, 100.0 * gb_s / copy_gb_s}, "%s", name);
        return gb_s;
    }

    template <typename T, int ELEMENTS> double elements(const char *name) const
    {
        const int many = (int)(count * sizeof(float) / sizeof(T));
        const unsigned int blocks = lab_blocks(many, THREADS * ELEMENTS);
        return row(name, blocks, [&] {
            elements_kernel<T, ELEMENTS>
                <<<blocks, THREADS>>>((const T *)in.data, (T *)out.data, many);
        });
    }
};

static void elements(const struct work_per_thread_bench &bench)
{
    const double one = bench.elements<float, 1>("1 float");
    double several = 0.0;
    several = std::max(several, bench.elements<float, 2>("2 floats"));
    several = std::max(several, bench.elements<float, 4>("4 floats"));
    several = std::max(several, bench.elements<float, 8>("8 floats"));
    several = std::max(several, bench.elements<float, 16>("16 floats"));
    several = std::max(several, bench.elements<float4, 1>("1 float4"));
    several = std::max(several, bench.elements<float4, 2>("2 float4s"));
    several = std::max(several, bench.elements<float4, 4>("4 float4s"));
    gf_lab_claim(
        bench.run, several > 1.02 * one,
        "several elements of a thread are faster than one: the best takes %.2f of its time",
        one / several);
}

static void strides(const struct work_per_thread_bench &bench)
{
    double first = 0.0, two = 0.0, best = 0.0;
    for (int of_each = 1; of_each <= 64; of_each *= 2) {
        char name[48];
        const int blocks = of_each * bench.run->device.multiprocessors;
        snprintf(name, sizeof name, "stride, %d block%s an SM", of_each, of_each == 1 ? "" : "s");
        const double gb_s = bench.row(name, blocks, [&] {
            stride_kernel<<<blocks, THREADS>>>(bench.in.data, bench.out.data, bench.count);
        });
        first = of_each == 1 ? gb_s : first;
        two = of_each == 2 ? gb_s : two;
        best = std::max(best, gb_s);
    }
    gf_lab_claim(bench.run, first < 0.9 * best && two > 1.2 * first,
                 "more than two blocks of each multiprocessor: 1 reaches %.2f, 2 reach %.2f of the "
                 "best grid",
                 first / best, two / best);
}

/* Times as many blocks as run at the same time, and then one block more. */
static void waves(const struct work_per_thread_bench &bench)
{
    const struct gf_lab_run *const run = bench.run;
    int of_each = 0;
    double us[3] = {0.0};
    LAB_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, arithmetic_kernel, THREADS, 0));
    const int wave = of_each * run->device.multiprocessors, grids[] = {wave, wave + 1, 2 * wave};
    static const char *const names[] = {"arithmetic, 1 wave", "1 wave and 1 block", "2 waves"};
    std::vector<float> right = bench.in.host(THREADS);
    for (float &x : right) {
        for (int i = 0; i < STEPS; i++)
            x = step(x);
    }
    for (int i = 0; i < 3; i++) {
        const lab_memory<float> out(run, (size_t)grids[i] * THREADS);
        out.poison();
        const struct lab_time time = lab_time(
            run, [&] { arithmetic_kernel<<<grids[i], THREADS>>>(bench.in.data, out.data); });
        us[i] = time.us();
        const std::vector<float> values = out.host();
        for (size_t at = 0; at < out.count; at++)
            gf_lab_count(run, sizeof(float) * (values[at] != right[at % THREADS]));
        lab_row(run, NAN, {(double)grids[i], NAN, NAN, us[i]}, "%s", names[i]);
    }
    gf_lab_claim(
        run, us[1] > 1.05 * us[0],
        "blocks as a multiple of the multiprocessors: one block more takes %.2f times as long (two "
        "waves: %.2f)",
        us[1] / us[0], us[2] / us[0]);
}

static void run(const struct gf_lab_run *run)
{
    const struct work_per_thread_bench bench(run);
    elements(bench);
    strides(bench);
    waves(bench);
}
#endif

const struct gf_lab gf_lab_work_per_thread = {
    .name = "work-per-thread",
    .summary = "elements a thread, grids that stride, blocks as a multiple of the multiprocessors",
    .guide = "1; 3; 4, 10.3",
    .figure =
        "more than 2 blocks a multiprocessor, more than 100 in all; several elements a thread",
    .params = {GF_LAB_INT("size", 256, 1, 4096, "of each of the two arrays, in MB")},
    .rows = "of a thread",
    .columns = {{"blocks", "", 0},
                {"read and write", "GB/s", 0},
                {"of cudaMemcpy", "%", 1},
                {"time", "us", 1}},
    .right = "every result equals the CPU's (%llu bytes differ)",
    .run = GF_LAB_RUN(run),
};
