/* Small kernels on one stream, where they run one after the other, and on several, where they run
 * at the same time (Best Practices Guide, 10.5). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256, STREAMS_MOST = 32;
constexpr int STEPS = 40000; /* steps that depend on each other, and take long compared with a
                              * launch */

static __host__ __device__ __forceinline__ float step(float x)
{
    return fmaf(x, 0.75f, 0.125f);
}

static __global__ void __launch_bounds__(THREADS)
    work_kernel(const float *in, float *out, int count)
{
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < count;
         i += (int)(gridDim.x * THREADS)) {
        float x = in[i % THREADS];
#pragma unroll 16
        for (int k = 0; k < STEPS; k++)
            x = step(x);
        out[i] = x;
    }
}

struct concurrent_bench {
    const struct gf_lab_run *run;
    lab_memory<float> in{run, THREADS, 1};
    /* They synchronise with the default stream, so that its events enclose their work. */
    std::vector<lab_stream> streams;
    std::vector<float> right = in.host();

    explicit concurrent_bench(const struct gf_lab_run *run_) : run(run_)
    {
        for (int i = 0; i < STREAMS_MOST; i++)
            streams.emplace_back(run, cudaStreamDefault);
        for (float &x : right) {
            for (int k = 0; k < STEPS; k++)
                x = step(x);
        }
    }
    /* Times `kernels` kernels of so many blocks on in_use streams, which get kernels in turns; 0 is
     * the default stream. */
    double us(int kernels, int blocks, int in_use) const
    {
        const int count = blocks * THREADS;
        const lab_memory<float> out(run, (size_t)kernels * count);
        out.poison();
        const struct lab_time time = lab_time(run, [&] {
            for (int k = 0; k < kernels; k++)
                work_kernel<<<blocks, THREADS, 0, in_use ? streams[k % in_use].handle : NULL>>>(
                    in.data, out.data + (size_t)k * count, count);
        });
        const std::vector<float> values = out.host();
        for (size_t i = 0; i < values.size(); i++)
            gf_lab_count(run, values[i] != right[i % count % THREADS]);
        return time.us();
    }
};

static void run(const struct gf_lab_run *run)
{
    const int kernels = run->param[0], blocks = run->param[1];
    const struct concurrent_bench bench(run);
    double one = 0.0, us = 0.0, gain_of_two = 0.0;
    snprintf(run->result->rows_name, GF_LAB_NAME_SIZE, "%d kernels on", kernels);
    for (int streams = 1; streams <= STREAMS_MOST; streams *= 2) {
        us = bench.us(kernels, blocks, streams);
        one = streams == 1 ? us : one;
        gain_of_two = streams == 2 ? one / us : gain_of_two;
        lab_row(run, streams, {us, one / us}, "%d stream%s", streams, streams == 1 ? "" : "s");
    }
    const double most = one / us, on_default = bench.us(kernels, blocks, 0) / one;
    lab_row(run, NAN, {on_default * one, 1.0 / on_default}, "the default stream");

    /* Kernels that fill the whole GPU cannot run at the same time. */
    int of_each = 0;
    LAB_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, work_kernel, THREADS, 0));
    const int filling = of_each * run->device.multiprocessors;
    const double large_one = bench.us(4, filling, 1), large = bench.us(4, filling, 4);
    lab_row(run, NAN, {large_one, 1.0}, "1 stream, 4 that fill the GPU");
    lab_row(run, NAN, {large, large_one / large}, "a stream each, 4 that fill the GPU");

    if (!lab_attribute(run, cudaDevAttrConcurrentKernels))
        gf_lab_note(run, "this GPU says that it runs one kernel at a time (concurrentKernels)");
    if (kernels > 1)
        gf_lab_claim(run, gain_of_two > 1.5 && most > 1.5,
                     "kernels on different streams run at the same time: 2 streams %.2f, %d "
                     "streams %.1f times "
                     "as fast",
                     gain_of_two, STREAMS_MOST, most);
    gf_lab_above(run, 0.9, "kernels on the default stream do not: %.2f of one stream's time",
                 on_default);
    gf_lab_below(run, 1.2, "kernels that fill the GPU gain nothing (%.2f times)",
                 large_one / large);
}
#endif

const struct gf_lab gf_lab_concurrent = {
    .name = "concurrent",
    .summary = "small kernels on one stream and on several",
    .guide = "4, 10.5",
    .figure = "kernels on different non-default streams can run at the same time",
    .params = {GF_LAB_INT("kernels", 32, 1, 128, "independent kernels"),
               GF_LAB_INT("blocks", 1, 1, 64, "blocks of each, of 256 threads")},
    .columns = {{"time", "us", 0}, {"speed-up", "times", 2}},
    .right = "every kernel's results equal the CPU's (%llu do not)",
    .axes = {"streams", "", "time", "us", GF_LAB_LOG_X},
    .run = GF_LAB_RUN(run),
};
