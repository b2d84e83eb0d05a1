/* Copies an array at addresses shifted by some floats. A warp then touches five sectors of 32 bytes
 * instead of four, and one more line (Best Practices Guide, 9.2.1.3). */
#include "study/labs/lab.h"

struct offset {
    int size, most;
};

static const struct gf_param offset_params[] = {
    GF_PARAM_INT(struct offset, size, 256, 1, 4096, "of each of the two arrays, in MB"),
    GF_PARAM_INT(struct offset, most, 32, 1, 64, "the largest offset, in floats"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int SECTOR = 8; /* floats of 32 bytes */
constexpr int LINE = 32;  /* floats of 128 bytes */
constexpr int FLOATS_MOST = 4;

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
static enum gf_status verify(const struct gf_lab_run *run, const struct copy &copy,
                             const lab_memory<float> &out, uint64_t *wrong)
{
    uint64_t different;
    std::vector<unsigned char> before(copy.out_offset * sizeof(float));
    LAB_TRY(cudaMemset(out.data, 0xa5, out.bytes()));
    copy.launch();
    LAB_LAUNCHED();
    GF_TRY(lab_different(run, copy.in + copy.in_offset, copy.out + copy.out_offset, copy.count,
                         &different));
    LAB_TRY(cudaMemcpy(before.data(), out.data, before.size(), cudaMemcpyDeviceToHost));
    *wrong += different;
    for (const unsigned char byte : before)
        *wrong += byte != 0xa5;
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct offset *const params = (const struct offset *)run->params;
    const int count = (int)(params->size * LAB_MB / sizeof(float));
    const double bytes = 2.0 * count * sizeof(float);
    lab_memory<float> in, out;
    uint64_t wrong = 0;
    /* Rates with one float for each thread: at offset 0, the slowest that starts within a sector,
     * and the slowest that starts within a line. */
    double aligned = 0.0, misaligned = 0.0, sectors = 0.0;
    GF_TRY(in.random(run, count + params->most, 1));
    GF_TRY(out.alloc(run, count + params->most));

    gf_lab_rows(run, "offset (floats)");
    const int both = gf_lab_column(run, "read and write", "GB/s", 0);
    const int spread = gf_lab_column(run, "spread", "%", 1);
    const int part = gf_lab_column(run, "of offset 0", "%", 1);
    const int read = gf_lab_column(run, "read alone", "GB/s", 0);
    const int several = gf_lab_column(run, "4 floats a thread", "GB/s", 0);
    for (int offset = 0; offset <= params->most; offset++) {
        const struct copy copies[] = {{in.data, out.data, count, offset, offset, 1},
                                      {in.data, out.data, count, offset, 0, 1},
                                      {in.data, out.data, count, offset, offset, FLOATS_MOST}};
        struct lab_time times[3];
        for (int method = 0; method < 3; method++) {
            const struct copy &copy = copies[method];
            const auto work = [&] { copy.launch(); };
            GF_TRY(verify(run, copy, out, &wrong));
            GF_TRY(lab_time(run, LAB_WARM, work, &times[method]));
        }
        const double rate = lab_gb_s(bytes, times[0]);
        if (offset == 0)
            aligned = rate;
        else if (offset % SECTOR)
            misaligned = misaligned > 0.0 ? std::min(misaligned, rate) : rate;
        else if (offset % LINE)
            sectors = sectors > 0.0 ? std::min(sectors, rate) : rate;
        gf_lab_row(run, offset, "%d", offset);
        gf_lab_value(run, both, rate);
        gf_lab_value(run, spread, 100.0 * times[0].spread);
        gf_lab_value(run, part, 100.0 * rate / aligned);
        gf_lab_value(run, read, lab_gb_s(bytes, times[1]));
        gf_lab_value(run, several, lab_gb_s(bytes, times[2]));
    }
    gf_lab_check(run, !wrong, "every copy equals its input, shifted (%llu bytes differ)",
                 (unsigned long long)wrong);
    if (misaligned > 0.0)
        gf_lab_claim(
            run, misaligned < 0.97 * aligned,
            "a misaligned copy is slower: the slowest reaches %.2f of offset 0 (guide: about 9/10)",
            misaligned / aligned);
    if (sectors > 0.0)
        gf_lab_claim(
            run, sectors > 0.99 * aligned,
            "multiples of 8 floats cost nothing: within a line of 128 bytes they reach %.2f",
            sectors / aligned);
    return GF_OK;
}
#endif

static const struct gf_lab_mark offset_marks[] = {
    {"V100, offset 0", "read and write", NULL, 790},
    {"V100, other offsets", "read and write", NULL, 0.9 * 790},
    {0}};

const struct gf_lab gf_lab_offset = {
    .name = "offset",
    .summary = "coalescing: what a copy loses when warps do not start at a multiple of 32 bytes",
    .guide = "4, 9.2.1.3; 5, 2.2.4.1; 1; 2",
    .figure = "V100: 790 GB/s at offset 0, about 9/10 of that at others",
    .marks = offset_marks,
    GF_PARAMS(struct offset, offset_params),
    .axes = {.x = "offset", .x_unit = "floats", .y = "effective bandwidth", .y_unit = "GB/s"},
    .run = GF_LAB_RUN(run),
};
