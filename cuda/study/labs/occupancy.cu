/* How block size, registers and shared memory limit occupancy, and how much occupancy matters (Best
 * Practices Guide, 10.1 to 10.4; Programming Guide, 2.2.7). */
#include "study/labs/lab.h"

struct occupancy {
    int size;
};

static const struct gf_param occupancy_params[] = {
    GF_PARAM_INT(struct occupancy, size, 256, 1, 4096,
                 "of each of the two arrays that are copied, in MB"),
    {0},
};

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

/* The state that all rows of the table share. */
struct occupancy_bench {
    const struct gf_lab_run *run;
    lab_memory<float> in, out;
    int count, most_threads, shared_of_all, shared_of_block, shared_reserved;
    int registers_column, shared_column, blocks_column, occupancy_column, rate_column;
    uint64_t different = 0;

    enum gf_status begin(int size)
    {
        const int device = run->device.index;
        count = (int)(size * LAB_MB / sizeof(float));
        GF_TRY(in.random(run, count, 1));
        GF_TRY(out.alloc(run, count));
        LAB_TRY(
            cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
        LAB_TRY(cudaDeviceGetAttribute(&shared_of_all, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                       device));
        LAB_TRY(cudaDeviceGetAttribute(&shared_of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       device));
        LAB_TRY(cudaDeviceGetAttribute(&shared_reserved, cudaDevAttrReservedSharedMemoryPerBlock,
                                       device));
        gf_lab_rows(run, "limited by");
        registers_column = gf_lab_column(run, "registers", "a thread", 0);
        shared_column = gf_lab_column(run, "shared", "B/block", 0);
        blocks_column = gf_lab_column(run, "blocks", "per SM", 0);
        occupancy_column = gf_lab_column(run, "occupancy", "%", 1);
        rate_column = gf_lab_column(run, "copy", "GB/s", 0);
        return GF_OK;
    }

    /* Adds the block size and the theoretical occupancy to the current row. */
    enum gf_status theory(kernel *kernel, int block, size_t shared, double *occupancy)
    {
        struct cudaFuncAttributes attributes;
        int blocks;
        LAB_TRY(cudaFuncGetAttributes(&attributes, kernel));
        LAB_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, shared));
        *occupancy = (double)blocks * block / most_threads;
        gf_lab_value(run, registers_column, attributes.numRegs);
        gf_lab_value(run, shared_column, (double)shared);
        gf_lab_value(run, blocks_column, blocks);
        gf_lab_value(run, occupancy_column, 100.0 * *occupancy);
        return GF_OK;
    }

    /* Adds a row with the results of theory() and the time of a kernel that copies. held: the
     * number of floats of a thread. */
    enum gf_status row(kernel *kernel, int block, size_t shared, int held, double *occupancy,
                       double *gb_s)
    {
        struct lab_time time;
        uint64_t these;
        GF_TRY(theory(kernel, block, shared, occupancy));
        LAB_TRY(cudaMemset(out.data, 0xa5, out.bytes()));
        GF_TRY(lab_time(
            run, LAB_WARM,
            [&] {
                kernel<<<lab_blocks(count, (size_t)block * held), block, shared>>>(in.data,
                                                                                   out.data, count);
            },
            &time));
        GF_TRY(lab_different(run, in.data, out.data, count, &these));
        different += these;
        *gb_s = lab_gb_s(2.0 * in.bytes(), time);
        gf_lab_value(run, rate_column, *gb_s);
        return GF_OK;
    }
};

static enum gf_status block_sizes(struct occupancy_bench &bench)
{
    static const int sizes[] = {32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024};
    constexpr int SIZES = sizeof sizes / sizeof *sizes, OF_32 = 0, OF_64 = 1, OF_256 = 5,
                  OF_768 = 10;
    double occupancy[SIZES] = {0.0}, gb_s[SIZES] = {0.0}, best_gb_s = 0.0;
    for (int i = 0; i < SIZES; i++) {
        gf_lab_row(bench.run, sizes[i], "block of %d", sizes[i]);
        GF_TRY(bench.row(copy_kernel, sizes[i], 0, 1, &occupancy[i], &gb_s[i]));
        best_gb_s = std::max(best_gb_s, gb_s[i]);
    }
    gf_lab_claim(bench.run, occupancy[OF_32] == 0.5 && occupancy[OF_768] == 0.75,
                 "blocks of 32 leave %.0f %% (guide 5: 50 %%), blocks of 768 %.0f %% (75 %%)",
                 100.0 * occupancy[OF_32], 100.0 * occupancy[OF_768]);
    gf_lab_claim(bench.run, gb_s[OF_32] < 0.9 * best_gb_s,
                 "blocks of at least 64 threads should be used: 32 reach %.2f of the best",
                 gb_s[OF_32] / best_gb_s);
    /* Each block moves 8 bytes for each thread. */
    const auto blocks_per_us = [&](int i) {
        return gb_s[i] * 1e3 / (2 * sizeof(float) * sizes[i]);
    };
    gf_lab_note(bench.run,
                "small blocks are bound by their start, too: %.0f of 32 threads, %.0f of 64, %.0f "
                "of 256 per us",
                blocks_per_us(OF_32), blocks_per_us(OF_64), blocks_per_us(OF_256));
    gf_lab_claim(bench.run, gb_s[OF_768] > 0.85 * gb_s[OF_256],
                 "more occupancy is not as much more bandwidth with one load of a thread in "
                 "flight: 75 %% reach "
                 "%.2f of 100 %%",
                 gb_s[OF_768] / gb_s[OF_256]);
    return GF_OK;
}

static enum gf_status registers(struct occupancy_bench &bench)
{
    static const struct {
        int held;
        kernel *kernel;
    } methods[] = {
        {4, held_kernel<4>}, {16, held_kernel<16>}, {48, held_kernel<48>}, {96, held_kernel<96>}};
    constexpr int METHODS = sizeof methods / sizeof *methods, HELD_4 = 0, HELD_48 = 2;
    double occupancy[METHODS] = {0.0}, gb_s[METHODS] = {0.0}, of_128 = 0.0, of_320 = 0.0;
    for (int i = 0; i < METHODS; i++) {
        gf_lab_row(bench.run, NAN, "%d floats in registers", methods[i].held);
        GF_TRY(bench.row(methods[i].kernel, BLOCK, 0, methods[i].held, &occupancy[i], &gb_s[i]));
    }
    gf_lab_claim(
        bench.run, gb_s[HELD_48] > 0.85 * gb_s[HELD_4],
        "it matters little with many: %d loads of a thread at %.1f %% reach %.2f of %d at %.0f %%",
        methods[HELD_48].held, 100.0 * occupancy[HELD_48], gb_s[HELD_48] / gb_s[HELD_4],
        methods[HELD_4].held, 100.0 * occupancy[HELD_4]);
    gf_lab_row(bench.run, NAN, "40 registers, 128 threads");
    GF_TRY(bench.theory(guide_kernel, 128, 0, &of_128));
    gf_lab_row(bench.run, NAN, "40 registers, 320 threads");
    GF_TRY(bench.theory(guide_kernel, 320, 0, &of_320));
    gf_lab_claim(
        bench.run, of_128 == 0.75 && of_320 == 0.625,
        "37 to 40 registers: %.0f %% with 128 threads, %.1f %% with 320 (guide: 75 and 63 %%)",
        100.0 * of_128, 100.0 * of_320);
    return GF_OK;
}

/* Runs the same kernel with more and more dynamic shared memory, as in the guide. */
static enum gf_status shared_memory(struct occupancy_bench &bench)
{
    const struct gf_lab_run *const run = bench.run;
    double occupancy = 0.0, gb_s = 0.0, first = 0.0;
    LAB_TRY(cudaFuncSetAttribute(copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 bench.shared_of_block));
    for (int blocks = bench.most_threads / BLOCK; blocks >= 1; blocks /= 2) {
        const int shared =
            std::min(bench.shared_of_all / blocks - bench.shared_reserved, bench.shared_of_block) /
            128 * 128;
        gf_lab_row(bench.run, NAN, "shared memory, %d block%s", blocks, blocks == 1 ? "" : "s");
        GF_TRY(bench.row(copy_kernel, BLOCK, shared, 1, &occupancy, &gb_s));
        first = first == 0.0 ? gb_s : first;
    }
    gf_lab_claim(
        bench.run, gb_s < 0.7 * first,
        "low occupancy cannot hide latency: at %.1f %% %.2f of the bandwidth of full occupancy",
        100.0 * occupancy, gb_s / first);
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct occupancy *const params = (const struct occupancy *)run->params;
    struct occupancy_bench bench = {run};
    GF_TRY(bench.begin(params->size));
    GF_TRY(block_sizes(bench));
    GF_TRY(registers(bench));
    GF_TRY(shared_memory(bench));
    gf_lab_check(run, !bench.different, "every copy equals its input (%llu bytes differ)",
                 (unsigned long long)bench.different);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_occupancy = {
    .name = "occupancy",
    .summary =
        "what block size, registers and shared memory leave of occupancy, and what it is worth",
    .guide = "4, 10.1 to 10.4; 5, 2.2.7; 1; 3",
    .figure = "V100, 37 registers: 75 % with blocks of 128 threads, 63 % with 320",
    GF_PARAMS(struct occupancy, occupancy_params),
    .axes = {.x = "block size", .x_unit = "threads", .y = "effective bandwidth", .y_unit = "GB/s"},
    .run = GF_LAB_RUN(run),
};
