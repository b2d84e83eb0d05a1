/* What a copy loses when the lanes of a warp do not read adjacent addresses of whole lines. At
 * addresses shifted by some floats a warp touches five sectors of 32 bytes instead of four, and one
 * more line (Best Practices Guide, 9.2.1.3). If it copies every s-th float it touches s times the
 * sectors that its data would fill, until every lane has a sector of its own (9.2.1.4). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int SECTOR = 8; /* floats of 32 bytes */
constexpr int LINE = 32;  /* floats of 128 bytes */
constexpr int FLOATS_MOST = 4;

/* ---- shifted ---- */

/* Copies the array. With one float for each thread this is the kernel of the Best Practices Guide.
 * With several, each access of a warp is the same, and more accesses are in flight at once. */
template <int FLOATS>
static __global__ void __launch_bounds__(THREADS)
    copy_kernel(const float *in, float *out, int count, int in_offset, int out_offset)
{
    const int first = (int)(blockIdx.x * THREADS * FLOATS + threadIdx.x);
    float v[FLOATS];
#pragma unroll
    for (int k = 0; k < FLOATS; k++) {
        const int i = first + k * THREADS;
        v[k] = i < count ? in[i + in_offset] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < FLOATS; k++) {
        const int i = first + k * THREADS;
        if (i < count)
            out[i + out_offset] = v[k];
    }
}

struct copy {
    const float *in;
    float *out;
    int count, in_offset, out_offset, floats;

    void launch() const
    {
        const unsigned int blocks = lab_blocks(count, (size_t)THREADS * floats);
        if (floats == 1)
            copy_kernel<1><<<blocks, THREADS>>>(in, out, count, in_offset, out_offset);
        else
            copy_kernel<FLOATS_MOST><<<blocks, THREADS>>>(in, out, count, in_offset, out_offset);
    }
};

/* Checks that the copy is right and that nothing before it was written. */
static void verify(const struct gf_lab_run *run, const struct copy &copy,
                   const lab_memory<float> &out)
{
    std::vector<unsigned char> before(copy.out_offset * sizeof(float));
    out.poison();
    copy.launch();
    gf_lab_count(run, lab_different_bytes(run, copy.in + copy.in_offset, copy.out + copy.out_offset,
                                          copy.count * sizeof(float)));
    LAB_TRY(cudaMemcpy(before.data(), out.data, before.size(), cudaMemcpyDeviceToHost));
    gf_lab_count(run, before.size() - std::count(before.begin(), before.end(), 0xa5));
}

static void run_offset(const struct gf_lab_run *run)
{
    const int most = run->param[1], count = (int)(run->param[0] * LAB_MB / sizeof(float));
    const double bytes = 2.0 * count * sizeof(float);
    const lab_memory<float> in(run, count + most, 1), out(run, count + most);
    /* Rates with one float for each thread: at offset 0, the slowest that starts within a sector,
     * and the slowest that starts within a line. */
    double aligned = 0.0, misaligned = INFINITY, sectors = INFINITY;
    for (int offset = 0; offset <= most; offset++) {
        const struct copy copies[] = {{in.data, out.data, count, offset, offset, 1},
                                      {in.data, out.data, count, offset, 0, 1},
                                      {in.data, out.data, count, offset, offset, FLOATS_MOST}};
        struct lab_time times[3];
        for (int method = 0; method < 3; method++) {
            verify(run, copies[method], out);
            times[method] = lab_time(run, [&] { copies[method].launch(); });
        }
        const double rate = times[0].gb_s(bytes);
        if (offset == 0)
            aligned = rate;
        else if (offset % SECTOR)
            misaligned = std::min(misaligned, rate);
        else if (offset % LINE)
            sectors = std::min(sectors, rate);
        lab_row(run, offset,
                {rate, times[0].spread, 100.0 * rate / aligned, times[1].gb_s(bytes),
                 times[2].gb_s(bytes)},
                "%d", offset);
    }
    if (misaligned < INFINITY)
        gf_lab_below(
            run, 0.97,
            "a misaligned copy is slower: the slowest reaches %.2f of offset 0 (guide: about 9/10)",
            misaligned / aligned);
    if (sectors < INFINITY)
        gf_lab_above(
            run, 0.99,
            "multiples of 8 floats cost nothing: within a line of 128 bytes they reach %.2f",
            sectors / aligned);
}
/* ---- every s-th float ---- */

/* Copies every s-th float, as the kernel of the Best Practices Guide. Every stride spans the same
 * memory, so that L2 never holds it. */
static __global__ void __launch_bounds__(THREADS)
    strided_copy_kernel(const float *in, float *out, int count, int stride)
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

static void run_stride(const struct gf_lab_run *run)
{
    const int most = run->param[1];
    const size_t span = run->param[0] * LAB_MB / sizeof(float);
    const lab_memory<float> in(run, span, 1), out(run, span);
    const lab_counter wrong(run);
    double first = 0.0, second = 0.0, rate = 0.0;
    for (int stride = 1; stride <= most; stride++) {
        const int count = (int)(span / stride);
        const auto copy = [&] {
            strided_copy_kernel<<<lab_blocks(count, THREADS), THREADS>>>(in.data, out.data, count,
                                                                         stride);
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

const struct gf_lab gf_lab_offset = {
    .name = "offset",
    .summary = "coalescing: what a copy loses when warps do not start at a multiple of 32 bytes",
    .guide = "4, 9.2.1.3; 5, 2.2.4.1; 1; 2",
    .figure = "V100: 790 GB/s at offset 0, about 9/10 of that at others",
    .marks = {{"V100, offset 0", "read and write", NULL, 790},
              {"V100, other offsets", "read and write", NULL, 0.9 * 790}},
    .params = {GF_LAB_INT("size", 256, 1, 4096, "of each of the two arrays, in MB"),
               GF_LAB_INT("most", 32, 1, 64, "the largest offset, in floats")},
    .rows = "offset (floats)",
    .columns = {{"read and write", "GB/s", 0},
                {"spread", "%", 1},
                {"of offset 0", "%", 1},
                {"read alone", "GB/s", 0},
                {"4 floats a thread", "GB/s", 0}},
    .right = "every copy equals its input, shifted (%llu bytes differ)",
    .axes = {"offset", "floats", "effective bandwidth", "GB/s", GF_LAB_LINEAR},
    .run = GF_LAB_RUN(run_offset),
};

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
    .axes = {"stride", "floats", "effective bandwidth", "GB/s", GF_LAB_LINEAR},
    .run = GF_LAB_RUN(run_stride),
};
