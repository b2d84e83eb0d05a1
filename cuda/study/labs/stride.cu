/* Copies every s-th float. A warp touches s times the sectors that its data would fill, until every
 * lane has a sector of its own (Best Practices Guide, 9.2.1.4). */
#include "study/labs/lab.h"

struct stride {
    int size, most;
};

static const struct gf_param stride_params[] = {
    GF_PARAM_INT(struct stride, size, 512, 1, 4096, "spanned in each of the two arrays, in MB"),
    GF_PARAM_INT(struct stride, most, 32, 2, 64, "the largest stride, in floats"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int SECTOR = 8; /* floats of 32 bytes */

/* Copies every s-th float, as the kernel of the Best Practices Guide. Every stride spans the same
 * memory, so that L2 never holds it. */
static __global__ void __launch_bounds__(THREADS)
    copy_kernel(const float *in, float *out, int count, int stride)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < count)
        out[(size_t)i * stride] = in[(size_t)i * stride];
}

/* Checks the elements that were copied, and that the poison between them is unchanged. */
static __global__ void __launch_bounds__(THREADS)
    check_kernel(const uint32_t *in, const uint32_t *out, size_t span, int stride, int count,
                 unsigned long long *wrong)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= span)
        return;
    const bool copied = i % stride == 0 && i / stride < (size_t)count;
    if (out[i] != (copied ? in[i] : 0xa5a5a5a5u))
        atomicAdd(wrong, 1);
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct stride *const params = (const struct stride *)run->params;
    const size_t span = params->size * LAB_MB / sizeof(float);
    lab_memory<float> in, out;
    lab_memory<unsigned long long> counter;
    unsigned long long wrong = 0;
    double first = 0.0, second = 0.0, last = 0.0;
    GF_TRY(in.random(run, span, 1));
    GF_TRY(out.alloc(run, span));
    GF_TRY(counter.alloc(run, 1));
    LAB_TRY(cudaMemset(counter.data, 0, counter.bytes()));

    gf_lab_rows(run, "stride (floats)");
    const int rate_column = gf_lab_column(run, "copy", "GB/s", 0);
    const int spread = gf_lab_column(run, "spread", "%", 1);
    const int part = gf_lab_column(run, "of stride 1", "%", 1);
    const int used = gf_lab_column(run, "used of sectors", "%", 1);
    for (int stride = 1; stride <= params->most; stride++) {
        const int count = (int)(span / stride);
        const unsigned int blocks = lab_blocks(count, THREADS);
        const auto copy = [&] {
            copy_kernel<<<blocks, THREADS>>>(in.data, out.data, count, stride);
        };
        struct lab_time time;
        GF_TRY(out.poison(run, span));
        copy();
        check_kernel<<<lab_blocks(span, THREADS), THREADS>>>((const uint32_t *)in.data,
                                                             (const uint32_t *)out.data, span,
                                                             stride, count, counter.data);
        LAB_LAUNCHED();
        GF_TRY(lab_time(run, LAB_WARM, copy, &time));
        const double rate = lab_gb_s(2.0 * sizeof(float) * count, time);
        first = stride == 1 ? rate : first;
        second = stride == 2 ? rate : second;
        last = rate;
        gf_lab_row(run, stride, "%d", stride);
        gf_lab_value(run, rate_column, rate);
        gf_lab_value(run, spread, 100.0 * time.spread);
        gf_lab_value(run, part, 100.0 * rate / first);
        gf_lab_value(run, used, 100.0 / (stride < SECTOR ? stride : SECTOR));
    }
    LAB_TRY(cudaMemcpy(&wrong, counter.data, sizeof wrong, cudaMemcpyDeviceToHost));
    gf_lab_check(run, !wrong, "every copy took each stride-th float and no other (%llu are wrong)",
                 wrong);
    gf_lab_claim(run, second > 0.4 * first && second < 0.6 * first,
                 "stride 2 reaches %.2f of stride 1 (guide: 0.50)", second / first);
    gf_lab_claim(run, last < second, "coalesced beats strided: stride %d reaches %.3f of stride 1",
                 params->most, last / first);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_stride = {
    .name = "stride",
    .summary = "coalescing: what a copy of every s-th float reaches",
    .guide = "4, 9.2.1.4; 2",
    .figure =
        "V100: stride 2 uses 50 % of what is loaded, falling until 32 sectors serve 32 threads",
    GF_PARAMS(struct stride, stride_params),
    .axes = {.x = "stride", .x_unit = "floats", .y = "effective bandwidth", .y_unit = "GB/s"},
    .run = GF_LAB_RUN(run),
};
