/* Constant memory serves one address at a time. It is as fast as a register if all lanes read one
 * address, and slower by the number of different addresses otherwise (Best Practices Guide, 9.2.6;
 * Programming Guide, 2.2.3.5). */
#include "study/labs/lab.h"

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
/* Measures a kind of memory, in 10^9 loads per second. */
static double measure(const struct gf_lab_run *run, const lab_memory<uint32_t> &table,
                      const std::vector<uint32_t> &host_table, int memory, int different)
{
    const int sweeps = (run->param[0] + SWEEP - 1) / SWEEP;
    const unsigned int blocks = (unsigned int)(run->device.multiprocessors * BLOCKS_OF_SM);
    const lab_memory<uint32_t> sums(run, (size_t)blocks * THREADS);
    const auto work = [&] {
        kernels[memory]<<<blocks, THREADS>>>(table.data, sums.data, different, sweeps, FACTOR);
    };
    uint32_t right[WARP];
    for (int lane = 0; lane < WARP; lane++)
        right[lane] = expected(host_table.data(), memory, lane, different, sweeps);
    sums.poison();
    work();
    const std::vector<uint32_t> values = sums.host();
    for (size_t i = 0; i < values.size(); i++)
        gf_lab_count(run, values[i] != right[i % WARP]);
    return (double)values.size() * sweeps * SWEEP / lab_time(run, work).median_s * 1e-9;
}

static void run(const struct gf_lab_run *run)
{
    const lab_memory<uint32_t> table(run, WORDS, 1);
    const std::vector<uint32_t> host_table = table.host();
    std::vector<double> first, last;
    LAB_TRY(
        cudaMemcpyToSymbol(constant_table, table.data, table.bytes(), 0, cudaMemcpyDeviceToDevice));
    for (int different = 1; different <= WARP; different *= 2) {
        last.assign(MEMORIES, NAN);
        for (int memory = 0; memory < (different == 1 ? MEMORIES : FIXED); memory++)
            last[memory] = measure(run, table, host_table, memory, different);
        if (different == 1)
            first = last;
        last.push_back(first[CONSTANT] / last[CONSTANT]);
        lab_row(run, different, last, "%d", different);
    }
    gf_lab_above(run, 0.9,
                 "as fast as a register, where the compiler knows the address: %.2f of "
                 "its rate",
                 first[FIXED] / first[REGISTER]);
    gf_lab_above(run, 0.9,
                 "and where it is computed, but one for all lanes: %.2f of shared memory's rate",
                 first[CONSTANT] / first[SHARED]);
    gf_lab_above(
        run, 8.0,
        "different addresses are served one after the other: 32 take %.1f times as long as 1",
        first[CONSTANT] / last[CONSTANT]);
}
#endif

const struct gf_lab gf_lab_constant = {
    .name = "constant",
    .summary =
        "constant memory with one address in a warp and with several, beside global and shared",
    .guide = "4, 9.2.6; 5, 2.2.3.5",
    .figure = "as fast as a register where lanes agree; the cost is linear in different addresses",
    .params = {GF_LAB_INT("loads", 4096, 64, 1000000,
                          "of each thread, rounded up to a multiple of 64")},
    .rows = "different addresses in a warp",
    .columns = {{"constant", "G loads/s", 0},
                {"global (L1)", "G loads/s", 0},
                {"shared", "G loads/s", 0},
                {"constant, fixed", "G loads/s", 0},
                {"register", "G loads/s", 0},
                {"constant, over 1", "times", 2}},
    .right = "every thread's sum is the host's (%llu differ)",
    .axes = {"different addresses in a warp", "", "loads of all threads", "G loads/s",
             GF_LAB_LOG_X | GF_LAB_LOG_Y},
    .run = GF_LAB_RUN(run),
};
