/* Streaming data passes through L2 while a working set is read again and again. An access policy
 * window keeps the working set in L2, with a hit ratio of 1, or with a hit ratio for which the part
 * that persists fits in L2 (Best Practices Guide, 9.2.2). */
#include "study/labs/lab.h"

static enum gf_status check(const int *param, struct gf_error *error)
{
    const int least = param[1], most = param[2];
    if (most < least)
        return gf_fail(error, GF_ERROR_USAGE, "most=%d is less than least=%d", most, least);
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

/* A stream, its access policy window, and the part of L2 that is reserved for the window, until the
 * end of the scope. */
struct window {
    lab_stream stream;
    size_t limit_before = 0;
    bool limited = false;

    ~window()
    {
        if (limited) {
            cudaCtxResetPersistingL2Cache();
            cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, limit_before);
        }
    }
    cudaError_t open(size_t set_aside)
    {
        cudaError_t code = cudaDeviceGetLimit(&limit_before, cudaLimitPersistingL2CacheSize);
        GF_THEN(code, cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside));
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
            cudaStreamSetAttribute(stream.handle, cudaStreamAttributeAccessPolicyWindow, &value);
        return code ? code : cudaCtxResetPersistingL2Cache();
    }
};

enum { WITHOUT, FULL, TUNED, METHODS };

struct l2_window_bench {
    const struct gf_lab_run *run;
    size_t count = run->param[0] * LAB_MB / 2 / sizeof(uint32_t);
    lab_memory<uint32_t> persistent{run, run->param[2] * LAB_MB / sizeof(uint32_t), 1};
    lab_memory<uint32_t> in{run, count, 2}, out{run, count};
    lab_counter wrong{run};

    /* Times the kernel with the window that is set. */
    struct lab_time measure(int persistent_count, cudaStream_t stream) const
    {
        const unsigned int blocks = lab_blocks(count, THREADS);
        out.poison();
        const struct lab_time time = lab_time(run, [&] {
            stream_kernel<<<blocks, THREADS, 0, stream>>>(persistent.data, persistent_count,
                                                          in.data, out.data, (int)count);
        });
        check_kernel<<<blocks, THREADS>>>(persistent.data, persistent_count, in.data, out.data,
                                          (int)count, wrong.data);
        LAB_LAUNCHED();
        return time;
    }
};

static void refuse(const struct gf_lab_run *run, const char *why)
{
    lab_row(run, NAN, {}, "none");
    gf_lab_reason(run, "%s", why);
}

static void run(const struct gf_lab_run *run)
{
    const int set_aside_most = lab_attribute(run, cudaDevAttrMaxPersistingL2CacheSize);
    const int window_most = lab_attribute(run, cudaDevAttrMaxAccessPolicyWindowSize);
    const double tuned_bytes = 2.0 / 3.0 * set_aside_most; /* 20 of 30 MB, as in the guide */
    /* Gains: the largest of sets that fit in the window, the smallest of larger sets. */
    double best = 0.0, past = INFINITY;
    if (!set_aside_most)
        return refuse(run, "this GPU cannot set part of its L2 aside (that begins with sm_80)");
    const struct l2_window_bench bench = {run};
    struct window window = {{run, cudaStreamDefault}};
    const cudaError_t opened = window.open(set_aside_most);
    if (opened == cudaErrorUnsupportedLimit) {
        cudaGetLastError();
        return refuse(
            run, "L2 cannot be set aside here (under MPS or in a MIG slice it is not ours to)");
    }
    LAB_TRY(opened);
    for (int size = run->param[1]; size <= run->param[2]; size += run->param[3]) {
        const size_t bytes = std::min((size_t)size * LAB_MB, (size_t)window_most);
        const float tuned = (float)std::min(1.0, tuned_bytes / (double)bytes);
        const double moved = 3.0 * sizeof(uint32_t) * (double)bench.count;
        struct lab_time times[METHODS];
        for (int method = 0; method < METHODS; method++) {
            LAB_TRY(window.set(bench.persistent.data, method == WITHOUT ? 0 : bytes,
                               method == TUNED ? tuned : 1.0f));
            times[method] =
                bench.measure((int)(size * LAB_MB / sizeof(uint32_t)), window.stream.handle);
        }
        const double gain = times[WITHOUT] / times[FULL] - 1.0;
        lab_row(run, size,
                {times[WITHOUT].gb_s(moved), times[FULL].gb_s(moved), times[TUNED].gb_s(moved),
                 100.0 * gain, 100.0 * (times[WITHOUT] / times[TUNED] - 1.0), tuned},
                "%d", size);
        if (size * LAB_MB <= (size_t)set_aside_most)
            best = std::max(best, gain);
        else
            past = std::min(past, gain);
    }
    gf_lab_count(run, bench.wrong.value());
    gf_lab_above(run, 5.0,
                 "a working set that fits is faster with a window: up to %.0f %% (guide: 50 %%)",
                 100.0 * best);
    if (past < INFINITY)
        gf_lab_below(
            run, 0.0,
            "one that does not fit loses with a hit ratio of 1: %+.0f %% at worst (guide: -10 %%)",
            100.0 * past);
    gf_lab_note(run,
                "%.1f MB of %.1f MB of L2 are set aside; bandwidth counts a read of the working "
                "set for each element",
                set_aside_most * 1e-6, (double)run->device.l2_bytes * 1e-6);
}
#endif

const struct gf_lab gf_lab_l2_window = {
    .name = "l2-window",
    .summary = "keeping a working set in L2 by an access window, and its hit ratio",
    .guide = "4, 9.2.2",
    .figure = "A100: up to 50 % faster where the set fits, 10 % slower where it thrashes",
    .params = {GF_LAB_INT("size", 1024, 64, 8192,
                          "of the streamed data, half read and half written, in MB"),
               GF_LAB_INT("least", 10, 1, 1000, "the smallest working set, in MB"),
               GF_LAB_INT("most", 60, 1, 1000, "the largest working set, in MB"),
               GF_LAB_INT("step", 5, 1, 1000, "from one working set to the next, in MB")},
    .rows = "working set (MB)",
    .columns = {{"no window", "GB/s", 0},
                {"hit ratio 1", "GB/s", 0},
                {"tuned hit ratio", "GB/s", 0},
                {"gain", "%", 1},
                {"tuned gain", "%", 1},
                {"tuned ratio", "", 2}},
    .right = "every element is right, whatever the window (%llu are wrong)",
    .axes = {"working set", "MB", "effective bandwidth", "GB/s", GF_LAB_LINEAR},
    .check = check,
    .run = GF_LAB_RUN(run),
};
