/* Constant memory serves one address at a time. It is as fast as a register if all lanes read one
 * address, and slower by the number of different addresses otherwise (Best Practices Guide, 9.2.6;
 * Programming Guide, 2.2.3.5). */
#include "study/labs/lab.h"

struct constant {
    int loads;
};

static const struct gf_param constant_params[] = {
    GF_PARAM_INT(struct constant, loads, 4096, 64, 1000000,
                 "of each thread, rounded up to a multiple of 64"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int WARP = 32;
constexpr int SWEEP = 64;
constexpr int APART = 9; /* words; odd, so that shared memory has no conflicts */
constexpr int WORDS =
    (WARP - 1) * APART + SWEEP + 2; /* 1.4 KB, which fits the first-level constant cache */
constexpr int BLOCKS_OF_SM = 8;

static __constant__ uint32_t constant_table[WORDS];

/* The memories that are compared. FIXED is constant memory at addresses that the compiler knows,
 * which are operands of instructions. REGISTER loads nothing. For both, addresses cannot differ. */
enum memory { CONSTANT, GLOBAL, SHARED, FIXED, REGISTER, MEMORIES };
constexpr uint32_t FACTOR = 0x9e3779b1u;

/* Returns the index at which a lane begins. The lanes of a warp have `different` indices. */
static __host__ __device__ __forceinline__ int base_of(int lane, int different)
{
    return lane % different * APART;
}

/* Returns the index at which sweep k begins. Unless the address is fixed it changes, so that the
 * compiler does not merge the sweeps. */
static __host__ __device__ __forceinline__ int first_of(int memory, int base, int k)
{
    return memory == FIXED || memory == REGISTER ? 0 : base + k % 3;
}

/* Does one multiplication and addition for each value, so that the result depends on the order of
 * the values. */
template <int MEMORY>
static __global__ void __launch_bounds__(THREADS)
    read_kernel(const uint32_t *__restrict__ global_table, uint32_t *sums, int different,
                int sweeps, uint32_t factor)
{
    __shared__ uint32_t shared_table[MEMORY == SHARED ? WORDS : 1];
    if (MEMORY == SHARED) {
        for (int i = threadIdx.x; i < WORDS; i += THREADS)
            shared_table[i] = global_table[i];
        __syncthreads();
    }
    const int base = base_of(threadIdx.x % WARP, different);
    const uint32_t held = global_table[0];
    uint32_t sum = 0;
#pragma unroll 1
    for (int k = 0; k < sweeps; k++) {
        const int first = first_of(MEMORY, base, k);
#pragma unroll
        for (int i = 0; i < SWEEP; i++) {
            uint32_t value = held;
            if (MEMORY == CONSTANT || MEMORY == FIXED)
                value = constant_table[first + i];
            else if (MEMORY == GLOBAL)
                value = __ldg(global_table + first + i);
            else if (MEMORY == SHARED)
                value = shared_table[first + i];
            sum = sum * factor + value;
        }
    }
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* Computes a lane's sum on the CPU. */
static uint32_t expected(const uint32_t *table, int memory, int lane, int different, int sweeps)
{
    uint32_t sum = 0;
    for (int k = 0; k < sweeps; k++) {
        const int first = first_of(memory, base_of(lane, different), k);
        for (int i = 0; i < SWEEP; i++)
            sum = sum * FACTOR + table[memory == REGISTER ? 0 : first + i];
    }
    return sum;
}

typedef void kernel(const uint32_t *table, uint32_t *sums, int different, int sweeps,
                    uint32_t factor);

static kernel *const kernels[] = {read_kernel<CONSTANT>, read_kernel<GLOBAL>, read_kernel<SHARED>,
                                  read_kernel<FIXED>, read_kernel<REGISTER>};
static const char *const names[] = {"constant", "global (L1)", "shared", "constant, fixed",
                                    "register"};

struct constant_bench {
    int sweeps;
    unsigned int blocks;
    uint32_t host_table[WORDS];
    lab_memory<uint32_t> table, sums;
    std::vector<uint32_t> host_sums;
    size_t wrong;
};

static enum gf_status fill(const struct gf_lab_run *run, struct constant_bench &bench)
{
    const struct constant *const params = (const struct constant *)run->params;
    lab_memory<uint32_t> &table = bench.table;
    bench.sweeps = (params->loads + SWEEP - 1) / SWEEP;
    bench.blocks = (unsigned int)(run->device.multiprocessors * BLOCKS_OF_SM);
    bench.host_sums.resize((size_t)bench.blocks * THREADS);
    GF_TRY(table.random(run, WORDS, 1));
    LAB_TRY(
        cudaMemcpyToSymbol(constant_table, table.data, table.bytes(), 0, cudaMemcpyDeviceToDevice));
    LAB_TRY(cudaMemcpy(bench.host_table, table.data, table.bytes(), cudaMemcpyDeviceToHost));
    return GF_OK;
}

/* Measures a kind of memory. *rate is in 10^9 loads per second. */
static enum gf_status measure(const struct gf_lab_run *run, struct constant_bench &bench,
                              int memory, int different, double *rate)
{
    const size_t threads = bench.host_sums.size();
    const auto work = [&] {
        kernels[memory]<<<bench.blocks, THREADS>>>(bench.table.data, bench.sums.data, different,
                                                   bench.sweeps, FACTOR);
    };
    struct lab_time time;
    uint32_t right[WARP];
    for (int lane = 0; lane < WARP; lane++)
        right[lane] = expected(bench.host_table, memory, lane, different, bench.sweeps);
    GF_TRY(bench.sums.poison(run, threads));
    work();
    LAB_TRY(cudaMemcpy(bench.host_sums.data(), bench.sums.data, bench.sums.bytes(),
                       cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < threads; i++)
        bench.wrong += bench.host_sums[i] != right[i % WARP];
    GF_TRY(lab_time(run, LAB_WARM, work, &time));
    *rate = (double)threads * bench.sweeps * SWEEP / time.median_s * 1e-9;
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    struct constant_bench bench = {};
    double rates[MEMORIES][6];
    GF_TRY(fill(run, bench));
    gf_lab_rows(run, "different addresses in a warp");
    for (int memory = 0; memory < MEMORIES; memory++)
        gf_lab_column(run, names[memory], "G loads/s", 0);
    const int slower = gf_lab_column(run, "constant, over 1", "times", 2);
    for (int row = 0; row < 6; row++) {
        gf_lab_row(run, 1 << row, "%d", 1 << row);
        for (int memory = 0; memory < (row ? FIXED : MEMORIES); memory++) {
            GF_TRY(measure(run, bench, memory, 1 << row, &rates[memory][row]));
            gf_lab_value(run, memory, rates[memory][row]);
        }
        gf_lab_value(run, slower, rates[CONSTANT][0] / rates[CONSTANT][row]);
    }
    gf_lab_check(run, !bench.wrong, "every thread's sum is the host's (%zu differ)", bench.wrong);
    gf_lab_claim(run, rates[FIXED][0] > 0.9 * rates[REGISTER][0],
                 "as fast as a register, where the compiler knows the address: %.2f of its rate",
                 rates[FIXED][0] / rates[REGISTER][0]);
    gf_lab_claim(run, rates[CONSTANT][0] > 0.9 * rates[SHARED][0],
                 "and where it is computed, but one for all lanes: %.2f of shared memory's rate",
                 rates[CONSTANT][0] / rates[SHARED][0]);
    gf_lab_claim(
        run, rates[CONSTANT][0] > 8.0 * rates[CONSTANT][5],
        "different addresses are served one after the other: 32 take %.1f times as long as 1",
        rates[CONSTANT][0] / rates[CONSTANT][5]);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_constant = {
    .name = "constant",
    .summary =
        "constant memory with one address in a warp and with several, beside global and shared",
    .guide = "4, 9.2.6; 5, 2.2.3.5",
    .figure = "as fast as a register where lanes agree; the cost is linear in different addresses",
    GF_PARAMS(struct constant, constant_params),
    .axes = {.x = "different addresses in a warp",
             .x_unit = "",
             .y = "loads of all threads",
             .y_unit = "G loads/s",
             .log_x = true,
             .log_y = true},
    .run = GF_LAB_RUN(run),
};
