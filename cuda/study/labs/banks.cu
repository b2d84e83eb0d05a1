/* Shared memory has 32 banks of 4 bytes. If a warp reads w words of one bank in one instruction,
 * the access is split into w (Best Practices Guide, 9.2.3.1; Programming Guide, 2.2.4.2). */
#include "study/labs/lab.h"

struct banks {
    int loads;
};

static const struct gf_param banks_params[] = {
    GF_PARAM_INT(struct banks, loads, 8192, 64, 1000000,
                 "of each thread, rounded up to a multiple of 64"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int WARP = 32;
constexpr int SWEEP = 64; /* loads of a sweep, which all have one base address */
constexpr int WORDS =
    (WARP - 1) * 33 + SWEEP + 4; /* words up to the furthest word, and room for moving the base */
constexpr int BLOCKS_OF_SM = 4;

/* Loads words from shared memory and stores only their sum. */
static __global__ void __launch_bounds__(THREADS)
    shared_kernel(const uint32_t *words, uint32_t *sums, int stride, int sweeps)
{
    __shared__ uint32_t tile[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        tile[i] = words[i];
    __syncthreads();
    const int lane = threadIdx.x % WARP;
    uint32_t sum = 0;
#pragma unroll 1
    for (int k = 0; k < sweeps; k++) {
        /* The base of all lanes moves by the same amount, so that their distances stay; without it
         * the compiler would merge the sweeps. */
        const uint32_t *const from = tile + lane * stride + k % 4;
#pragma unroll
        for (int i = 0; i < SWEEP; i++)
            sum += from[i];
    }
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* Computes the same sums from global memory. */
static __global__ void __launch_bounds__(THREADS)
    reference_kernel(const uint32_t *words, uint32_t *sums, int stride, int sweeps)
{
    const int lane = threadIdx.x % WARP;
    uint32_t sum = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t of_sweep = 0;
        for (int i = 0; i < SWEEP; i++)
            of_sweep += words[lane * stride + k + i];
        sum += of_sweep * (uint32_t)(sweeps / 4 + (k < sweeps % 4));
    }
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

static int greatest_divisor(int a, int b)
{
    return b ? greatest_divisor(b, a % b) : a;
}

/* Returns the number of words of one bank that a warp reads with one instruction. */
static int ways_of(int stride)
{
    return stride ? greatest_divisor(stride, WARP) : 1;
}

static const int strides[] = {0, 1, 2, 3, 4, 8, 16, 32, 33};
enum { BROADCAST, PLAIN, TWO, WORST = 7, PADDED, STRIDES };

struct banks_bench {
    int sweeps;
    unsigned int blocks;
    lab_memory<uint32_t> words, sums, reference;
    uint64_t wrong; /* number of wrong bytes */
};

static enum gf_status measure(const struct gf_lab_run *run, struct banks_bench &bench, int stride,
                              struct lab_time *time)
{
    const auto work = [&] {
        shared_kernel<<<bench.blocks, THREADS>>>(bench.words.data, bench.sums.data, stride,
                                                 bench.sweeps);
    };
    uint64_t different;
    GF_TRY(bench.sums.poison(run, bench.reference.count));
    work();
    reference_kernel<<<bench.blocks, THREADS>>>(bench.words.data, bench.reference.data, stride,
                                                bench.sweeps);
    LAB_LAUNCHED();
    GF_TRY(lab_different(run, bench.sums.data, bench.reference.data, bench.sums.count, &different));
    bench.wrong += different;
    return lab_time(run, LAB_WARM, work, time);
}

static void tabulate(const struct gf_lab_run *run, double loads, const struct lab_time *times)
{
    gf_lab_rows(run, "stride (words)");
    const int ways = gf_lab_column(run, "conflict", "ways", 0);
    const int time = gf_lab_column(run, "time", "ms", 3);
    const int spread = gf_lab_column(run, "spread", "%", 1);
    const int rate = gf_lab_column(run, "bandwidth", "GB/s", 0);
    const int slower = gf_lab_column(run, "over stride 1", "times", 2);
    for (int i = 0; i < STRIDES; i++) {
        gf_lab_row(run, NAN,
                   i == BROADCAST ? "0, broadcast"
                   : i == PADDED  ? "33, padded"
                                  : "%d",
                   strides[i]);
        gf_lab_value(run, ways, ways_of(strides[i]));
        gf_lab_value(run, time, 1e3 * times[i].median_s);
        gf_lab_value(run, spread, 100.0 * times[i].spread);
        gf_lab_value(run, rate, lab_gb_s(sizeof(uint32_t) * loads, times[i]));
        gf_lab_value(run, slower, times[i].median_s / times[PLAIN].median_s);
    }
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct banks *const params = (const struct banks *)run->params;
    struct banks_bench bench = {};
    struct lab_time times[STRIDES];
    bench.sweeps = (params->loads + SWEEP - 1) / SWEEP;
    bench.blocks = (unsigned int)(run->device.multiprocessors * BLOCKS_OF_SM);
    const size_t threads = (size_t)bench.blocks * THREADS;
    GF_TRY(bench.words.random(run, WORDS, 1));
    GF_TRY(bench.reference.alloc(run, threads));
    for (int i = 0; i < STRIDES; i++)
        GF_TRY(measure(run, bench, strides[i], &times[i]));
    tabulate(run, (double)bench.sweeps * SWEEP * (double)threads, times);
    const double plain_s = times[PLAIN].median_s;
    gf_lab_check(run, !bench.wrong,
                 "every stride adds up what a sum from global memory does (%llu bytes differ)",
                 (unsigned long long)bench.wrong);
    gf_lab_claim(
        run, times[PADDED].median_s < times[WORST].median_s,
        "padded beats unpadded: stride 32 takes %.1f times as long as 33 (guide: 32 turns)",
        times[WORST].median_s / times[PADDED].median_s);
    gf_lab_claim(run, times[TWO].median_s > 1.5 * plain_s && times[TWO].median_s < 2.5 * plain_s,
                 "two-way conflicts take twice the time: %.2f times",
                 times[TWO].median_s / plain_s);
    gf_lab_claim(run, times[BROADCAST].median_s < 1.1 * plain_s,
                 "one word for all lanes is a broadcast, without conflict: %.2f of stride 1's time",
                 times[BROADCAST].median_s / plain_s);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_banks = {
    .name = "banks",
    .summary = "bank conflicts in shared memory: strides of a warp's reads, and padding",
    .guide = "4, 9.2.3.1; 5, 2.2.4.2; 1; 2",
    .figure = "an access with w words in one bank takes w turns; padding by a word has none",
    GF_PARAMS(struct banks, banks_params),
    .run = GF_LAB_RUN(run),
};
