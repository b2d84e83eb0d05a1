/* Streaming data passes through L2 while a working set is read again and again. An access policy
 * window keeps the working set in L2, with a hit ratio of 1, or with a hit ratio for which the part
 * that persists fits in L2 (Best Practices Guide, 9.2.2). */
#include "study/labs/lab.h"

struct l2_window {
    int size, least, most, step;
};

static const struct gf_param l2_window_params[] = {
    GF_PARAM_INT(struct l2_window, size, 1024, 64, 8192,
                 "of the streamed data, half read and half written, in MB"),
    GF_PARAM_INT(struct l2_window, least, 10, 1, 1000, "the smallest working set, in MB"),
    GF_PARAM_INT(struct l2_window, most, 60, 1, 1000, "the largest working set, in MB"),
    GF_PARAM_INT(struct l2_window, step, 5, 1, 1000, "from one working set to the next, in MB"),
    {0},
};

static enum gf_status check(const void *params, struct gf_error *error)
{
    const struct l2_window *const window = (const struct l2_window *)params;
    if (window->most < window->least)
        return gf_fail(error, GF_ERROR_USAGE, "most=%d is less than least=%d", window->most,
                       window->least);
    return GF_OK;
}

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;

/* Reads the working set. The guide's kernel also writes it, with races between threads; this kernel
 * has a defined result. */
static __global__ void __launch_bounds__(THREADS)
    stream_kernel(const uint32_t *persistent, int persistent_count, const uint32_t *in,
                  uint32_t *out, int count)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < count)
        out[i] = 2 * in[i] + persistent[i % persistent_count];
}

static __global__ void __launch_bounds__(THREADS)
    check_kernel(const uint32_t *persistent, int persistent_count, const uint32_t *in,
                 const uint32_t *out, int count, unsigned long long *wrong)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < count && out[i] != 2 * in[i] + persistent[i % persistent_count])
        atomicAdd(wrong, 1);
}

/* The stream, its access policy window, and the part of L2 that is reserved for the window, until
 * the end of the scope. */
struct window {
    cudaStream_t stream = NULL;
    size_t limit_before = 0;
    bool limited = false;

    ~window()
    {
        if (stream)
            cudaStreamDestroy(stream);
        if (limited) {
            cudaCtxResetPersistingL2Cache();
            cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, limit_before);
        }
    }
    cudaError_t open(size_t set_aside)
    {
        cudaError_t code = cudaStreamCreate(&stream);
        if (!code)
            code = cudaDeviceGetLimit(&limit_before, cudaLimitPersistingL2CacheSize);
        if (!code)
            code = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside);
        limited = !code;
        return code;
    }
    /* Sets the window. A size of 0 removes it. Persisting lines of an earlier window become
     * ordinary lines. */
    cudaError_t set(const void *base, size_t bytes, float hit_ratio) const
    {
        cudaStreamAttrValue value = {};
        value.accessPolicyWindow.base_ptr = (void *)base;
        value.accessPolicyWindow.num_bytes = bytes;
        value.accessPolicyWindow.hitRatio = hit_ratio;
        value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        if (!bytes)
            value.accessPolicyWindow.hitProp = value.accessPolicyWindow.missProp =
                cudaAccessPropertyNormal;
        const cudaError_t code =
            cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
        return code ? code : cudaCtxResetPersistingL2Cache();
    }
};

struct buffers {
    lab_memory<uint32_t> persistent, in, out;
    lab_memory<unsigned long long> wrong;
};

/* Times the kernel with the window that is set. */
static enum gf_status measure(const struct gf_lab_run *run, struct buffers &buffers,
                              int persistent_count, cudaStream_t stream, struct lab_time *time)
{
    const int count = (int)buffers.in.count;
    const unsigned int blocks = lab_blocks(count, THREADS);
    const auto work = [&] {
        stream_kernel<<<blocks, THREADS, 0, stream>>>(buffers.persistent.data, persistent_count,
                                                      buffers.in.data, buffers.out.data, count);
    };
    LAB_TRY(cudaMemset(buffers.out.data, 0xa5, buffers.out.bytes()));
    GF_TRY(lab_time(run, LAB_WARM, work, time));
    check_kernel<<<blocks, THREADS>>>(buffers.persistent.data, persistent_count, buffers.in.data,
                                      buffers.out.data, count, buffers.wrong.data);
    LAB_LAUNCHED();
    return GF_OK;
}

enum { WITHOUT, FULL, TUNED, METHODS };

/* The state that the measurements of this lab share. */
struct l2_window_bench {
    const struct gf_lab_run *run;
    struct buffers buffers;
    struct window window;
    int set_aside_most, window_most;                       /* limits of the device, in bytes */
    int rate[METHODS], full_gain, tuned_gain, tuned_ratio; /* columns */
    double best, past; /* gains: the largest of sets that fit in the window, the smallest of larger
                        * sets */
};

static enum gf_status fill(struct l2_window_bench *bench)
{
    const struct gf_lab_run *const run = bench->run;
    const struct l2_window *const params = (const struct l2_window *)run->params;
    struct buffers &buffers = bench->buffers;
    const size_t count = params->size * LAB_MB / 2 / sizeof(uint32_t);
    GF_TRY(buffers.persistent.random(run, params->most * LAB_MB / sizeof(uint32_t), 1));
    GF_TRY(buffers.in.random(run, count, 2));
    GF_TRY(buffers.out.alloc(run, count));
    GF_TRY(buffers.wrong.alloc(run, 1));
    LAB_TRY(cudaMemset(buffers.wrong.data, 0, buffers.wrong.bytes()));
    return GF_OK;
}

static enum gf_status refuse(struct l2_window_bench *bench, const char *why)
{
    gf_lab_row(bench->run, NAN, "none");
    gf_lab_reason(bench->run, "%s", why);
    return GF_OK;
}

static void add_columns(struct l2_window_bench *bench)
{
    bench->rate[WITHOUT] = gf_lab_column(bench->run, "no window", "GB/s", 0);
    bench->rate[FULL] = gf_lab_column(bench->run, "hit ratio 1", "GB/s", 0);
    bench->rate[TUNED] = gf_lab_column(bench->run, "tuned hit ratio", "GB/s", 0);
    bench->full_gain = gf_lab_column(bench->run, "gain", "%", 1);
    bench->tuned_gain = gf_lab_column(bench->run, "tuned gain", "%", 1);
    bench->tuned_ratio = gf_lab_column(bench->run, "tuned ratio", "", 2);
}

/* Times a working set of `size` MB by all methods. */
static enum gf_status measure_size(struct l2_window_bench *bench, int size)
{
    const struct gf_lab_run *const run = bench->run;
    struct buffers &buffers = bench->buffers;
    const size_t bytes = std::min((size_t)size * LAB_MB, (size_t)bench->window_most);
    const int persistent_count = (int)(size * LAB_MB / sizeof(uint32_t));
    const double tuned_bytes = 2.0 / 3.0 * bench->set_aside_most; /* 20 of 30 MB, as in the guide */
    const float tuned = (float)std::min(1.0, tuned_bytes / (double)bytes);
    const double moved = 3.0 * sizeof(uint32_t) * (double)buffers.in.count;
    struct lab_time times[METHODS];
    gf_lab_row(bench->run, size, "%d", size);
    for (int method = 0; method < METHODS; method++) {
        LAB_TRY(bench->window.set(buffers.persistent.data, method == WITHOUT ? 0 : bytes,
                                  method == TUNED ? tuned : 1.0f));
        GF_TRY(measure(run, buffers, persistent_count, bench->window.stream, &times[method]));
        gf_lab_value(bench->run, bench->rate[method], lab_gb_s(moved, times[method]));
    }
    const double gain = times[WITHOUT].median_s / times[FULL].median_s - 1.0;
    const double by_tuned = times[WITHOUT].median_s / times[TUNED].median_s - 1.0;
    gf_lab_value(bench->run, bench->full_gain, 100.0 * gain);
    gf_lab_value(bench->run, bench->tuned_gain, 100.0 * by_tuned);
    gf_lab_value(bench->run, bench->tuned_ratio, tuned);
    if (size * LAB_MB <= (size_t)bench->set_aside_most)
        bench->best = std::max(bench->best, gain);
    else
        bench->past = std::min(bench->past, gain);
    return GF_OK;
}

static enum gf_status conclude(struct l2_window_bench *bench)
{
    const struct gf_lab_run *const run = bench->run;
    unsigned long long wrong = 0;
    LAB_TRY(cudaMemcpy(&wrong, bench->buffers.wrong.data, sizeof wrong, cudaMemcpyDeviceToHost));
    gf_lab_check(run, !wrong, "every element is right, whatever the window (%llu are wrong)",
                 wrong);
    gf_lab_claim(run, bench->best > 0.05,
                 "a working set that fits is faster with a window: up to %.0f %% (guide: 50 %%)",
                 100.0 * bench->best);
    if (bench->past < 1e9)
        gf_lab_claim(
            run, bench->past < 0.0,
            "one that does not fit loses with a hit ratio of 1: %+.0f %% at worst (guide: -10 %%)",
            100.0 * bench->past);
    gf_lab_note(run,
                "%.1f MB of %.1f MB of L2 are set aside; bandwidth counts a read of the working "
                "set for each element",
                bench->set_aside_most * 1e-6, (double)run->device.l2_bytes * 1e-6);
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct l2_window *const params = (const struct l2_window *)run->params;
    struct l2_window_bench bench = {};
    bench.run = run;
    bench.past = 1e9;
    gf_lab_rows(run, "working set (MB)");
    LAB_TRY(cudaDeviceGetAttribute(&bench.set_aside_most, cudaDevAttrMaxPersistingL2CacheSize,
                                   run->device.index));
    LAB_TRY(cudaDeviceGetAttribute(&bench.window_most, cudaDevAttrMaxAccessPolicyWindowSize,
                                   run->device.index));
    if (!bench.set_aside_most)
        return refuse(&bench, "this GPU cannot set part of its L2 aside (that begins with sm_80)");
    GF_TRY(fill(&bench));
    const cudaError_t opened = bench.window.open(bench.set_aside_most);
    if (opened == cudaErrorUnsupportedLimit) {
        cudaGetLastError();
        return refuse(
            &bench, "L2 cannot be set aside here (under MPS or in a MIG slice it is not ours to)");
    }
    LAB_TRY(opened);
    add_columns(&bench);
    for (int size = params->least; size <= params->most; size += params->step)
        GF_TRY(measure_size(&bench, size));
    return conclude(&bench);
}
#endif

const struct gf_lab gf_lab_l2_window = {
    .name = "l2-window",
    .summary = "keeping a working set in L2 by an access window, and its hit ratio",
    .guide = "4, 9.2.2",
    .figure = "A100: up to 50 % faster where the set fits, 10 % slower where it thrashes",
    GF_PARAMS(struct l2_window, l2_window_params),
    .axes = {.x = "working set", .x_unit = "MB", .y = "effective bandwidth", .y_unit = "GB/s"},
    .check = check,
    .run = GF_LAB_RUN(run),
};
