/* Small kernels on one stream, where they run one after the other, and on several, where they run
 * at the same time (Best Practices Guide, 10.5). */
#include "study/labs/lab.h"

struct concurrent {
    int kernels, blocks;
};

static const struct gf_param concurrent_params[] = {
    GF_PARAM_INT(struct concurrent, kernels, 32, 1, 128, "independent kernels"),
    GF_PARAM_INT(struct concurrent, blocks, 1, 1, 64, "blocks of each, of 256 threads"),
    {0},
};

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

/* Streams that synchronise with the default stream, so that events in the default stream enclose
 * their work. */
struct streams {
    std::vector<cudaStream_t> all;

    ~streams()
    {
        for (const cudaStream_t stream : all)
            cudaStreamDestroy(stream);
    }
    enum gf_status create(const struct gf_lab_run *run, int count)
    {
        for (int i = 0; i < count; i++) {
            cudaStream_t stream;
            LAB_TRY(cudaStreamCreate(&stream));
            all.push_back(stream);
        }
        return GF_OK;
    }
};

struct concurrent_bench {
    const struct gf_lab_run *run;
    int kernels, blocks;
    lab_memory<float> in, out;
    std::vector<float> right, values;
    struct streams streams;
    int wrong = 0;

    /* Times the launches. `count` is the number of elements of each kernel's output. */
    template <typename Launch> enum gf_status time(int count, Launch launch, double *us)
    {
        struct lab_time time;
        GF_TRY(out.poison(run, (size_t)kernels * count));
        GF_TRY(lab_time(run, LAB_WARM, launch, &time));
        values.resize(out.count);
        LAB_TRY(cudaMemcpy(values.data(), out.data, out.bytes(), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < values.size(); i++)
            wrong += values[i] != right[i % count % THREADS];
        *us = time.median_s * 1e6;
        return GF_OK;
    }

    /* Times `count` kernels on in_use streams, which get kernels in turns; 0 is the default
     * stream. */
    enum gf_status on_streams(int count, int in_use, int blocks_of_each, double *us)
    {
        return time(
            count,
            [&] {
                for (int k = 0; k < kernels; k++)
                    work_kernel<<<blocks_of_each, THREADS, 0,
                                  in_use ? streams.all[k % in_use] : NULL>>>(
                        in.data, out.data + (size_t)k * count, count);
            },
            us);
    }

    enum gf_status begin()
    {
        right.resize(THREADS);
        GF_TRY(streams.create(run, STREAMS_MOST));
        GF_TRY(in.random(run, THREADS, 1));
        LAB_TRY(cudaMemcpy(right.data(), in.data, in.bytes(), cudaMemcpyDeviceToHost));
        for (float &x : right) {
            for (int k = 0; k < STEPS; k++)
                x = step(x);
        }
        return GF_OK;
    }
};

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct concurrent *const params = (const struct concurrent *)run->params;
    struct concurrent_bench bench = {run, params->kernels, params->blocks};
    const int count = params->blocks * THREADS;
    double one = 0.0, us = 0.0, most = 0.0, gain_of_two = 0.0, on_default = 0.0, large_one = 0.0;
    int capable = 0, of_each = 0;
    LAB_TRY(cudaDeviceGetAttribute(&capable, cudaDevAttrConcurrentKernels, run->device.index));
    GF_TRY(bench.begin());

    gf_lab_rows(run, "%d kernels on", params->kernels);
    const int time = gf_lab_column(run, "time", "us", 0);
    const int gain = gf_lab_column(run, "speed-up", "times", 2);
    const auto row = [&](double x, const char *name, double base) {
        gf_lab_row(run, x, "%s", name);
        gf_lab_value(run, time, us);
        gf_lab_value(run, gain, base / us);
    };
    for (int streams = 1; streams <= STREAMS_MOST; streams *= 2) {
        char name[32];
        GF_TRY(bench.on_streams(count, streams, params->blocks, &us));
        one = streams == 1 ? us : one;
        gain_of_two = streams == 2 ? one / us : gain_of_two;
        most = one / us;
        snprintf(name, sizeof name, "%d stream%s", streams, streams == 1 ? "" : "s");
        row(streams, name, one);
    }
    GF_TRY(bench.on_streams(count, 0, params->blocks, &us));
    on_default = us / one;
    row(NAN, "the default stream", one);

    /* Kernels that fill the whole GPU cannot run at the same time. */
    LAB_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, work_kernel, THREADS, 0));
    const int filling = of_each * run->device.multiprocessors;
    bench.kernels = 4;
    GF_TRY(bench.on_streams(filling * THREADS, 1, filling, &large_one));
    us = large_one;
    row(NAN, "1 stream, 4 that fill the GPU", large_one);
    GF_TRY(bench.on_streams(filling * THREADS, bench.kernels, filling, &us));
    row(NAN, "a stream each, 4 that fill the GPU", large_one);

    gf_lab_check(run, !bench.wrong, "every kernel's results equal the CPU's (%d do not)",
                 bench.wrong);
    if (!capable)
        gf_lab_note(run, "this GPU says that it runs one kernel at a time (concurrentKernels)");
    if (params->kernels > 1)
        gf_lab_claim(run, gain_of_two > 1.5 && most > 1.5,
                     "kernels on different streams run at the same time: 2 streams %.2f, %d "
                     "streams %.1f times "
                     "as fast",
                     gain_of_two, STREAMS_MOST, most);
    gf_lab_claim(run, on_default > 0.9,
                 "kernels on the default stream do not: %.2f of one stream's time", on_default);
    gf_lab_claim(run, large_one / us < 1.2, "kernels that fill the GPU gain nothing (%.2f times)",
                 large_one / us);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_concurrent = {
    .name = "concurrent",
    .summary = "small kernels on one stream and on several",
    .guide = "4, 10.5",
    .figure = "kernels on different non-default streams can run at the same time",
    GF_PARAMS(struct concurrent, concurrent_params),
    .axes = {.x = "streams", .x_unit = "", .y = "time", .y_unit = "us", .log_x = true},
    .run = GF_LAB_RUN(run),
};
