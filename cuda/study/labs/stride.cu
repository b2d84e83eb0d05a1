/* Copies every s-th float. A warp touches s times the sectors that its data would fill, until every
 * lane has a sector of its own (Best Practices Guide, 9.2.1.4). */
#include "study/labs/lab.h"

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

static void run(const struct gf_lab_run *run)
{
    const int most = run->param[1];
    const size_t span = run->param[0] * LAB_MB / sizeof(float);
    const lab_memory<float> in(run, span, 1), out(run, span);
    const lab_counter wrong(run);
    double first = 0.0, second = 0.0, rate = 0.0;
    for (int stride = 1; stride <= most; stride++) {
        const int count = (int)(span / stride);
        const auto copy = [&] {
            copy_kernel<<<lab_blocks(count, THREADS), THREADS>>>(in.data, out.data, count, stride);
        };
        out.poison();
        copy();
        check_kernel<<<lab_blocks(span, THREADS), THREADS>>>(
            (const uint32_t *)in.data, (const uint32_t *)out.data, span, stride, count, wrong.data);
        const struct lab_time time = lab_time(run, copy);
        rate = time.gb_s(2.0 * sizeof(float) * count);
        first = stride == 1 ? rate : first;
        second = stride == 2 ? rate : second;
        lab_row(run, stride,
                {rate, time.spread, 100.0 * rate / first, 100.0 / std::min(stride, SECTOR)}, "%d",
                stride);
    }
    gf_lab_count(run, wrong.value());
    gf_lab_claim(run, second > 0.4 * first && second < 0.6 * first,
                 "stride 2 reaches %.2f of stride 1 (guide: 0.50)", second / first);
    gf_lab_claim(run, rate < second, "coalesced beats strided: stride %d reaches %.3f of stride 1",
                 most, rate / first);
}
#endif

const struct gf_lab gf_lab_stride = {
    .name = "stride",
    .summary = "coalescing: what a copy of every s-th float reaches",
    .guide = "4, 9.2.1.4; 2",
    .figure =
        "V100: stride 2 uses 50 % of what is loaded, falling until 32 sectors serve 32 threads",
    .params = {GF_LAB_INT("size", 512, 1, 4096, "spanned in each of the two arrays, in MB"),
               GF_LAB_INT("most", 32, 2, 64, "the largest stride, in floats")},
    .rows = "stride (floats)",
    .columns = {{"copy", "GB/s", 0},
                {"spread", "%", 1},
                {"of stride 1", "%", 1},
                {"used of sectors", "%", 1}},
    .right = "every copy took each stride-th float and no other (%llu are wrong)",
    .axes = {.x = "stride", .x_unit = "floats", .y = "effective bandwidth", .y_unit = "GB/s"},
    .run = GF_LAB_RUN(run),
};
