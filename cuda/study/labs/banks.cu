/* Shared memory has 32 banks of 4 bytes. If a warp reads w words of one bank in one instruction,
 * the access is split into w (Best Practices Guide, 9.2.3.1; Programming Guide, 2.2.4.2). */
#include "study/labs/lab.h"

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

static void run(const struct gf_lab_run *run)
{
    const int sweeps = (run->param[0] + SWEEP - 1) / SWEEP;
    const unsigned int blocks = (unsigned int)(run->device.multiprocessors * BLOCKS_OF_SM);
    const size_t threads = (size_t)blocks * THREADS;
    const double bytes = sizeof(uint32_t) * (double)sweeps * SWEEP * (double)threads;
    const lab_memory<uint32_t> words(run, WORDS, 1), sums(run, threads), reference(run, threads);
    struct lab_time times[STRIDES];
    for (int i = 0; i < STRIDES; i++) {
        const auto work = [&] {
            shared_kernel<<<blocks, THREADS>>>(words.data, sums.data, strides[i], sweeps);
        };
        sums.poison();
        work();
        reference_kernel<<<blocks, THREADS>>>(words.data, reference.data, strides[i], sweeps);
        gf_lab_count(run, lab_different(sums, reference));
        times[i] = lab_time(run, work);
    }
    for (int i = 0; i < STRIDES; i++)
        lab_row(run, NAN,
                {(double)ways_of(strides[i]), times[i].ms(), times[i].spread, times[i].gb_s(bytes),
                 times[i] / times[PLAIN]},
                i == BROADCAST ? "0, broadcast"
                : i == PADDED  ? "33, padded"
                               : "%d",
                strides[i]);
    const double two_ways = times[TWO] / times[PLAIN];
    gf_lab_above(
        run, 1.0,
        "padded beats unpadded: stride 32 takes %.1f times as long as 33 (guide: 32 turns)",
        times[WORST] / times[PADDED]);
    gf_lab_claim(run, two_ways > 1.5 && two_ways < 2.5,
                 "two-way conflicts take twice the time: %.2f times", two_ways);
    gf_lab_below(run, 1.1,
                 "one word for all lanes is a broadcast, without conflict: %.2f of stride 1's time",
                 times[BROADCAST] / times[PLAIN]);
}
#endif

const struct gf_lab gf_lab_banks = {
    .name = "banks",
    .summary = "bank conflicts in shared memory: strides of a warp's reads, and padding",
    .guide = "4, 9.2.3.1; 5, 2.2.4.2; 1; 2",
    .figure = "an access with w words in one bank takes w turns; padding by a word has none",
    .params = {GF_LAB_INT("loads", 8192, 64, 1000000,
                          "of each thread, rounded up to a multiple of 64")},
    .rows = "stride (words)",
    .columns = {{"conflict", "ways", 0},
                {"time", "ms", 3},
                {"spread", "%", 1},
                {"bandwidth", "GB/s", 0},
                {"over stride 1", "times", 2}},
    .right = "every stride adds up what a sum from global memory does (%llu bytes differ)",
    .run = GF_LAB_RUN(run),
};
