/* Measures how many elements a thread should process, how many blocks a grid should have, and the
 * cost of a last wave of few blocks (Legresley, grid size heuristics; Performance Issues, grid and
 * block size). */
#include "study/labs/lab.h"

struct work_per_thread {
    int size;
};

static const struct gf_param work_per_thread_params[] = {
    GF_PARAM_INT(struct work_per_thread, size, 256, 1, 4096, "of each of the two arrays, in MB"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;

static __host__ __device__ __forceinline__ float increment(float x)
{
    return x + 1.0f; /* the work of guide 1: reads a float, increments it, and writes it */
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
    int count, blocks_column, rate_column, part_column, time_column;
    double copy_gb_s;
    lab_memory<float> in, out, expected;
    uint64_t wrong = 0; /* number of wrong bytes */

    template <typename Launch>
    enum gf_status row(const char *name, double blocks, Launch launch, double *gb_s)
    {
        struct lab_time time;
        uint64_t different;
        LAB_TRY(cudaMemset(out.data, 0xa5, out.bytes()));
        GF_TRY(lab_time(run, LAB_WARM, launch, &time));
        GF_TRY(lab_different(run, expected.data, out.data, count, &different));
        wrong += different;
        *gb_s = lab_gb_s(2.0 * in.bytes(), time);
        gf_lab_row(run, NAN, "%s", name);
        gf_lab_value(run, blocks_column, blocks);
        gf_lab_value(run, rate_column, *gb_s);
        gf_lab_value(run, part_column, 100.0 * *gb_s / copy_gb_s);
        return GF_OK;
    }

    template <typename T, int ELEMENTS> enum gf_status elements(const char *name, double *gb_s)
    {
        const int many = (int)(count * sizeof(float) / sizeof(T));
        const unsigned int blocks = lab_blocks(many, THREADS * ELEMENTS);
        return row(
            name, blocks,
            [&] {
                elements_kernel<T, ELEMENTS>
                    <<<blocks, THREADS>>>((const T *)in.data, (T *)out.data, many);
            },
            gb_s);
    }
};

static enum gf_status begin(struct work_per_thread_bench &bench, int size)
{
    const struct gf_lab_run *const run = bench.run;
    struct lab_time time;
    bench.count = (int)(size * LAB_MB / sizeof(float4) * 4);
    GF_TRY(bench.in.random(run, bench.count, 1));
    GF_TRY(bench.out.alloc(run, bench.count));
    GF_TRY(bench.expected.alloc(run, bench.count));
    std::vector<float> values(bench.count);
    LAB_TRY(cudaMemcpy(values.data(), bench.in.data, bench.in.bytes(), cudaMemcpyDeviceToHost));
    for (float &value : values)
        value = increment(value);
    LAB_TRY(
        cudaMemcpy(bench.expected.data, values.data(), bench.in.bytes(), cudaMemcpyHostToDevice));
    const auto copy = [&] {
        cudaMemcpyAsync(bench.out.data, bench.in.data, bench.in.bytes(), cudaMemcpyDeviceToDevice);
    };
    GF_TRY(lab_time(run, LAB_WARM, copy, &time));
    bench.copy_gb_s = lab_gb_s(2.0 * bench.in.bytes(), time);
    gf_lab_rows(bench.run, "of a thread");
    bench.blocks_column = gf_lab_column(bench.run, "blocks", "", 0);
    bench.rate_column = gf_lab_column(bench.run, "read and write", "GB/s", 0);
    bench.part_column = gf_lab_column(bench.run, "of cudaMemcpy", "%", 1);
    bench.time_column = gf_lab_column(bench.run, "time", "us", 1);
    return GF_OK;
}

static enum gf_status elements(struct work_per_thread_bench &bench)
{
    double one = 0.0, several = 0.0, gb_s = 0.0;
    GF_TRY((bench.elements<float, 1>("1 float", &one)));
    GF_TRY((bench.elements<float, 2>("2 floats", &gb_s)));
    several = std::max(several, gb_s);
    GF_TRY((bench.elements<float, 4>("4 floats", &gb_s)));
    several = std::max(several, gb_s);
    GF_TRY((bench.elements<float, 8>("8 floats", &gb_s)));
    several = std::max(several, gb_s);
    GF_TRY((bench.elements<float, 16>("16 floats", &gb_s)));
    several = std::max(several, gb_s);
    GF_TRY((bench.elements<float4, 1>("1 float4", &gb_s)));
    several = std::max(several, gb_s);
    GF_TRY((bench.elements<float4, 2>("2 float4s", &gb_s)));
    several = std::max(several, gb_s);
    GF_TRY((bench.elements<float4, 4>("4 float4s", &gb_s)));
    several = std::max(several, gb_s);
    gf_lab_claim(
        bench.run, several > 1.02 * one,
        "several elements of a thread are faster than one: the best takes %.2f of its time",
        one / several);
    return GF_OK;
}

static enum gf_status strides(struct work_per_thread_bench &bench)
{
    double first = 0.0, two = 0.0, best = 0.0, gb_s = 0.0;
    for (int of_each = 1; of_each <= 64; of_each *= 2) {
        char name[48];
        const int blocks = of_each * bench.run->device.multiprocessors;
        snprintf(name, sizeof name, "stride, %d block%s an SM", of_each, of_each == 1 ? "" : "s");
        GF_TRY(bench.row(
            name, blocks,
            [&] { stride_kernel<<<blocks, THREADS>>>(bench.in.data, bench.out.data, bench.count); },
            &gb_s));
        first = of_each == 1 ? gb_s : first;
        two = of_each == 2 ? gb_s : two;
        best = std::max(best, gb_s);
    }
    gf_lab_claim(bench.run, first < 0.9 * best && two > 1.2 * first,
                 "more than two blocks of each multiprocessor: 1 reaches %.2f, 2 reach %.2f of the "
                 "best grid",
                 first / best, two / best);
    return GF_OK;
}

/* Times as many blocks as run at the same time, and then one block more. */
static enum gf_status waves(struct work_per_thread_bench &bench)
{
    const struct gf_lab_run *const run = bench.run;
    int of_each = 0;
    double us[3] = {0.0};
    LAB_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, arithmetic_kernel, THREADS, 0));
    const int wave = of_each * run->device.multiprocessors, grids[] = {wave, wave + 1, 2 * wave};
    static const char *const names[] = {"arithmetic, 1 wave", "1 wave and 1 block", "2 waves"};
    std::vector<float> right(THREADS), values((size_t)2 * wave * THREADS);
    LAB_TRY(
        cudaMemcpy(right.data(), bench.in.data, THREADS * sizeof(float), cudaMemcpyDeviceToHost));
    for (float &x : right) {
        for (int i = 0; i < STEPS; i++)
            x = step(x);
    }
    for (int i = 0; i < 3; i++) {
        struct lab_time time;
        lab_memory<float> out;
        GF_TRY(out.poison(run, (size_t)grids[i] * THREADS));
        GF_TRY(lab_time(
            run, LAB_WARM,
            [&] { arithmetic_kernel<<<grids[i], THREADS>>>(bench.in.data, out.data); }, &time));
        LAB_TRY(cudaMemcpy(values.data(), out.data, out.bytes(), cudaMemcpyDeviceToHost));
        for (size_t at = 0; at < out.count; at++)
            bench.wrong += values[at] != right[at % THREADS];
        us[i] = time.median_s * 1e6;
        gf_lab_row(bench.run, NAN, "%s", names[i]);
        gf_lab_value(bench.run, bench.blocks_column, grids[i]);
        gf_lab_value(bench.run, bench.time_column, us[i]);
    }
    gf_lab_claim(
        bench.run, us[1] > 1.05 * us[0],
        "blocks as a multiple of the multiprocessors: one block more takes %.2f times as long (two "
        "waves: %.2f)",
        us[1] / us[0], us[2] / us[0]);
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct work_per_thread *const params = (const struct work_per_thread *)run->params;
    struct work_per_thread_bench bench = {run};
    GF_TRY(begin(bench, params->size));
    GF_TRY(elements(bench));
    GF_TRY(strides(bench));
    GF_TRY(waves(bench));
    gf_lab_check(run, !bench.wrong, "every result equals the CPU's (%llu bytes differ)",
                 (unsigned long long)bench.wrong);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_work_per_thread = {
    .name = "work-per-thread",
    .summary = "elements a thread, grids that stride, blocks as a multiple of the multiprocessors",
    .guide = "1; 3; 4, 10.3",
    .figure =
        "more than 2 blocks a multiprocessor, more than 100 in all; several elements a thread",
    GF_PARAMS(struct work_per_thread, work_per_thread_params),
    .run = GF_LAB_RUN(run),
};
