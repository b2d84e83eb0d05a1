/* Device memory for each piece of work: allocated and freed each time, kept and reused, or from a
 * stream-ordered pool (Best Practices Guide, 9.3). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr size_t SIZES[] = {LAB_MB, 16 * LAB_MB, 256 * LAB_MB};
constexpr int SIZE_COUNT = sizeof SIZES / sizeof *SIZES;
constexpr size_t WORDS = 65536; /* words that the work writes at the end of its memory */

/* Does work that takes so little time that only the allocation's time is measured. */
static __global__ void __launch_bounds__(THREADS)
    work_kernel(const uint32_t *in, uint32_t *memory, uint32_t *out)
{
    const unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    memory[i] = in[i] + 1;
    out[i] = memory[i];
}

/* The device's pool, if it has one, whose settings are restored at the end of the scope. */
struct pool {
    cudaMemPool_t handle = NULL;
    uint64_t threshold_before = 0;

    explicit pool(const struct gf_lab_run *run)
    {
        cudaMemPool_t found;
        if (!lab_attribute(run, cudaDevAttrMemoryPoolsSupported))
            return;
        LAB_TRY(cudaDeviceGetDefaultMemPool(&found, run->device.index));
        LAB_TRY(cudaMemPoolGetAttribute(found, cudaMemPoolAttrReleaseThreshold, &threshold_before));
        handle = found;
    }
    ~pool()
    {
        if (handle) {
            cudaMemPoolSetAttribute(handle, cudaMemPoolAttrReleaseThreshold, &threshold_before);
            cudaMemPoolTrimTo(handle, 0);
        }
    }
};

enum { MALLOC, POOL_RELEASING, POOL_KEEPING, REUSE, METHODS };

static const char *const method_names[] = {
    "cudaMalloc, cudaFree",
    "pool, released when idle",
    "pool, kept",
    "allocated once",
};

static void one_piece(const struct gf_lab_run *run, int method, size_t bytes,
                      const lab_memory<uint32_t> &in, const lab_memory<uint32_t> &kept,
                      const lab_memory<uint32_t> &out)
{
    char *memory = (char *)kept.data;
    if (method == MALLOC)
        LAB_TRY(cudaMalloc(&memory, bytes));
    else if (method != REUSE)
        LAB_TRY(cudaMallocAsync(&memory, bytes, 0));
    work_kernel<<<WORDS / THREADS, THREADS>>>(
        in.data, (uint32_t *)(memory + bytes - WORDS * sizeof(uint32_t)), out.data);
    const cudaError_t launched = cudaGetLastError();
    if (method == MALLOC)
        LAB_TRY(cudaFree(memory));
    else if (method != REUSE)
        LAB_TRY(cudaFreeAsync(memory, 0));
    LAB_TRY(launched);
    if (method == POOL_RELEASING)
        LAB_TRY(cudaStreamSynchronize(0));
}

static void run(const struct gf_lab_run *run)
{
    const int rounds = run->param[0];
    const struct pool pool(run);
    const lab_memory<uint32_t> in(run, WORDS, 1), out(run, WORDS), reference(run, WORDS),
        kept(run, SIZES[SIZE_COUNT - 1] / sizeof(uint32_t));
    double us[METHODS][SIZE_COUNT];
    std::vector<uint32_t> words = in.host();
    for (uint32_t &word : words)
        word++;
    reference.set(words);
    for (int method = 0; method < METHODS; method++) {
        if (!pool.handle && (method == POOL_RELEASING || method == POOL_KEEPING)) {
            lab_row(run, NAN, {}, "%s", method_names[method]);
            gf_lab_reason(run, "this driver or GPU has no memory pools");
            continue;
        }
        /* Between timings the device is idle, and a pool then releases memory above its
         * threshold. */
        uint64_t threshold = method == POOL_KEEPING ? UINT64_MAX : 0;
        if (pool.handle)
            LAB_TRY(
                cudaMemPoolSetAttribute(pool.handle, cudaMemPoolAttrReleaseThreshold, &threshold));
        for (int size = 0; size < SIZE_COUNT; size++) {
            out.poison();
            const struct lab_time time = lab_time_host(run, [&] {
                for (int i = 0; i < rounds; i++)
                    one_piece(run, method, SIZES[size], in, kept, out);
            });
            us[method][size] = time.us() / rounds;
            gf_lab_count(run, lab_different(out, reference));
        }
        lab_row(run, NAN, {us[method][0], us[method][1], us[method][2]}, "%s",
                method_names[method]);
    }
    gf_lab_above(run, 1.0,
                 "allocation is expensive: 16 MB each time take %.1f times as long as reusing them",
                 us[MALLOC][1] / us[REUSE][1]);
    if (pool.handle)
        gf_lab_claim(run, us[POOL_KEEPING][1] < us[MALLOC][1],
                     "a pool that keeps its memory is near: %.2f times as long as reusing",
                     us[POOL_KEEPING][1] / us[REUSE][1]);
    gf_lab_note(run,
                "us of the host's clock for one piece of work, allocation, kernel and release; "
                "the pool that releases is synchronised after each");
}
#endif

const struct gf_lab gf_lab_alloc = {
    .name = "alloc",
    .summary = "allocating for each piece of work, from a pool, or once",
    .guide = "4, 9.3",
    .figure = "cudaMalloc and cudaFree are expensive: reuse memory",
    .params = {GF_LAB_INT("rounds", 20, 1, 10000, "pieces of work in each timing")},
    .rows = "memory for each piece of work",
    .columns = {{"1 MB", "us", 1}, {"16 MB", "us", 1}, {"256 MB", "us", 1}},
    .right = "the work has the same result in all memory (%llu bytes differ)",
    .run = GF_LAB_RUN(run),
};
