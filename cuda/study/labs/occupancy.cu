/* How block size, registers and shared memory limit occupancy, and how much occupancy matters (Best
 * Practices Guide, 10.1 to 10.4; Programming Guide, 2.2.7). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int BLOCK_MOST = 1024, BLOCK = 256;

/* Copies one float for each thread, so that only other warps can hide the latency. */
static __global__ void __launch_bounds__(BLOCK_MOST)
    copy_kernel(const float *in, float *out, int count)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        out[i] = in[i];
}

/* Copies HELD floats for each thread, which loads all of them into registers before it writes the
 * first. With a larger HELD fewer threads fit, but each has more loads in flight. */
template <int HELD>
static __global__ void __launch_bounds__(BLOCK) held_kernel(const float *in, float *out, int count)
{
    const int i = (int)(blockIdx.x * blockDim.x * HELD + threadIdx.x);
    float value[HELD], most = -INFINITY;
#pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int at = i + k * (int)blockDim.x;
        value[k] = at < count ? in[at] : -INFINITY;
        most = fmaxf(most, value[k]);
    }
#pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int at = i + k * (int)blockDim.x;
        if (at < count && most >= value[k]) /* always true, which keeps all values in registers
                                             * until all are loaded */
            out[at] = value[k];
    }
}

/* The registers of a kernel from the guide. It uses 37 registers and gets 40, because registers are
 * allocated in units of eight. */
constexpr int GUIDE_REGISTERS = 40, GUIDE_HELD = 40;
static __global__ void LAB_REGISTERS(384, GUIDE_REGISTERS)
    guide_kernel(const float *in, float *out, int count)
{
    float value[GUIDE_HELD];
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll
    for (int k = 0; k < GUIDE_HELD; k++)
        value[k] = in[(i + k) % count];
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
#pragma unroll
        for (int k = 0; k < GUIDE_HELD; k++)
            value[k] = fmaf(value[k], 0.5f, value[(k + 7) % GUIDE_HELD]);
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < GUIDE_HELD; k++)
        sum += value[k];
    if (i < count)
        out[i] = sum;
}

typedef void kernel(const float *in, float *out, int count);

/* What all rows of the table share. */
struct occupancy_bench {
    const struct gf_lab_run *run;
    int count = (int)(run->param[0] * LAB_MB / sizeof(float));
    lab_memory<float> in{run, (size_t)count, 1}, out{run, (size_t)count};
    int most_threads = lab_attribute(run, cudaDevAttrMaxThreadsPerMultiProcessor);

    /* Returns the values of the first columns, the last of which is the theoretical occupancy. */
    std::vector<double> theory(kernel *kernel, int block, size_t shared) const
    {
        struct cudaFuncAttributes attributes;
        int blocks;
        LAB_TRY(cudaFuncGetAttributes(&attributes, kernel));
        LAB_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, shared));
        return {(double)attributes.numRegs, (double)shared, (double)blocks,
                100.0 * blocks * block / most_threads};
    }

    /* Returns the values of all columns: those of theory(), and the bandwidth of a kernel that
     * copies. `held` is the number of floats that a thread copies. */
    std::vector<double> measure(kernel *kernel, int block, size_t shared, int held) const
    {
        std::vector<double> values = theory(kernel, block, shared);
        out.poison();
        const struct lab_time time = lab_time(run, [&] {
            kernel<<<lab_blocks(count, (size_t)block * held), block, shared>>>(in.data, out.data,
                                                                               count);
        });
        gf_lab_count(run, lab_different(in, out));
        values.push_back(time.gb_s(2.0 * in.bytes()));
        return values;
    }
};
enum { OCCUPANCY = 3, GB_S }; /* columns */

static void block_sizes(const struct occupancy_bench &bench)
{
    static const int sizes[] = {32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024};
    constexpr int SIZES = sizeof sizes / sizeof *sizes, OF_32 = 0, OF_64 = 1, OF_256 = 5,
                  OF_768 = 10;
    std::vector<double> rows[SIZES];
    double best_gb_s = 0.0;
    for (int i = 0; i < SIZES; i++) {
        rows[i] = bench.measure(copy_kernel, sizes[i], 0, 1);
        lab_row(bench.run, sizes[i], rows[i], "block of %d", sizes[i]);
        best_gb_s = std::max(best_gb_s, rows[i][GB_S]);
    }
    gf_lab_claim(bench.run, rows[OF_32][OCCUPANCY] == 50.0 && rows[OF_768][OCCUPANCY] == 75.0,
                 "blocks of 32 leave %.0f %% (guide 5: 50 %%), blocks of 768 %.0f %% (75 %%)",
                 rows[OF_32][OCCUPANCY], rows[OF_768][OCCUPANCY]);
    gf_lab_below(bench.run, 0.9,
                 "blocks of at least 64 threads should be used: 32 reach %.2f of the best",
                 rows[OF_32][GB_S] / best_gb_s);
    /* Each block moves 8 bytes for each thread. */
    const auto blocks_per_us = [&](int i) {
        return rows[i][GB_S] * 1e3 / (2 * sizeof(float) * sizes[i]);
    };
    gf_lab_note(bench.run,
                "small blocks are bound by their start, too: %.0f of 32 threads, %.0f of 64, %.0f "
                "of 256 per us",
                blocks_per_us(OF_32), blocks_per_us(OF_64), blocks_per_us(OF_256));
    gf_lab_claim(bench.run, rows[OF_768][GB_S] > 0.85 * rows[OF_256][GB_S],
                 "more occupancy is not as much more bandwidth with one load of a thread in "
                 "flight: 75 %% reach "
                 "%.2f of 100 %%",
                 rows[OF_768][GB_S] / rows[OF_256][GB_S]);
}

static void registers(const struct occupancy_bench &bench)
{
    static const struct {
        int held;
        kernel *kernel;
    } methods[] = {
        {4, held_kernel<4>}, {16, held_kernel<16>}, {48, held_kernel<48>}, {96, held_kernel<96>}};
    constexpr int METHODS = sizeof methods / sizeof *methods, HELD_4 = 0, HELD_48 = 2;
    std::vector<double> rows[METHODS];
    for (int i = 0; i < METHODS; i++) {
        rows[i] = bench.measure(methods[i].kernel, BLOCK, 0, methods[i].held);
        lab_row(bench.run, NAN, rows[i], "%d floats in registers", methods[i].held);
    }
    gf_lab_claim(
        bench.run, rows[HELD_48][GB_S] > 0.85 * rows[HELD_4][GB_S],
        "it matters little with many: %d loads of a thread at %.1f %% reach %.2f of %d at %.0f %%",
        methods[HELD_48].held, rows[HELD_48][OCCUPANCY], rows[HELD_48][GB_S] / rows[HELD_4][GB_S],
        methods[HELD_4].held, rows[HELD_4][OCCUPANCY]);
    const std::vector<double> of_128 = bench.theory(guide_kernel, 128, 0);
    const std::vector<double> of_320 = bench.theory(guide_kernel, 320, 0);
    lab_row(bench.run, NAN, of_128, "40 registers, 128 threads");
    lab_row(bench.run, NAN, of_320, "40 registers, 320 threads");
    gf_lab_claim(
        bench.run, of_128[OCCUPANCY] == 75.0 && of_320[OCCUPANCY] == 62.5,
        "37 to 40 registers: %.0f %% with 128 threads, %.1f %% with 320 (guide: 75 and 63 %%)",
        of_128[OCCUPANCY], of_320[OCCUPANCY]);
}

/* Runs the same kernel with more and more dynamic shared memory, as in the guide. */
static void shared_memory(const struct occupancy_bench &bench)
{
    const struct gf_lab_run *const run = bench.run;
    const int of_block = lab_attribute(run, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int of_all = lab_attribute(run, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    const int reserved = lab_attribute(run, cudaDevAttrReservedSharedMemoryPerBlock);
    std::vector<double> first, last;
    LAB_TRY(
        cudaFuncSetAttribute(copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, of_block));
    for (int blocks = bench.most_threads / BLOCK; blocks >= 1; blocks /= 2) {
        const int shared = std::min(of_all / blocks - reserved, of_block) / 128 * 128;
        last = bench.measure(copy_kernel, BLOCK, shared, 1);
        first = first.empty() ? last : first;
        lab_row(run, NAN, last, "shared memory, %d block%s", blocks, blocks == 1 ? "" : "s");
    }
    gf_lab_claim(
        run, last[GB_S] < 0.7 * first[GB_S],
        "low occupancy cannot hide latency: at %.1f %% %.2f of the bandwidth of full occupancy",
        last[OCCUPANCY], last[GB_S] / first[GB_S]);
}

static void run(const struct gf_lab_run *run)
{
    const struct occupancy_bench bench = {run};
    block_sizes(bench);
    registers(bench);
    shared_memory(bench);
}
#endif

const struct gf_lab gf_lab_occupancy = {
    .name = "occupancy",
    .summary =
        "what block size, registers and shared memory leave of occupancy, and what it is worth",
    .guide = "4, 10.1 to 10.4; 5, 2.2.7; 1; 3",
    .figure = "V100, 37 registers: 75 % with blocks of 128 threads, 63 % with 320",
    .params = {GF_LAB_INT("size", 256, 1, 4096,
                          "of each of the two arrays that are copied, in MB")},
    .rows = "limited by",
    .columns = {{"registers", "a thread", 0},
                {"shared", "B/block", 0},
                {"blocks", "per SM", 0},
                {"occupancy", "%", 1},
                {"copy", "GB/s", 0}},
    .right = "every copy equals its input (%llu bytes differ)",
    .axes = {"block size", "threads", "effective bandwidth", "GB/s", GF_LAB_LINEAR},
    .run = GF_LAB_RUN(run),
};
