/* Device memory for each piece of work: allocated and freed each time, kept and reused, or from a
 * stream-ordered pool (Best Practices Guide, 9.3). */
#include "study/labs/lab.h"

struct alloc {
    int rounds;
};

static const struct gf_param alloc_params[] = {
    GF_PARAM_INT(struct alloc, rounds, 20, 1, 10000, "pieces of work in each timing"),
    {0},
};

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

struct work_buffers {
    lab_memory<uint32_t> in, out, reference, kept;
    cudaMemPool_t pool = NULL;
    uint64_t threshold_before = 0;

    ~work_buffers()
    {
        if (pool) {
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold_before);
            cudaMemPoolTrimTo(pool, 0);
        }
    }
};

/* Computes the work's result on the host. */
static enum gf_status make_reference(const struct gf_lab_run *run, struct work_buffers &buffers)
{
    std::vector<uint32_t> words(WORDS);
    LAB_TRY(cudaMemcpy(words.data(), buffers.in.data, buffers.in.bytes(), cudaMemcpyDeviceToHost));
    for (uint32_t &word : words)
        word++;
    GF_TRY(buffers.reference.alloc(run, WORDS));
    LAB_TRY(cudaMemcpy(buffers.reference.data, words.data(), buffers.in.bytes(),
                       cudaMemcpyHostToDevice));
    return GF_OK;
}

enum { MALLOC, POOL_RELEASING, POOL_KEEPING, REUSE, METHODS };

static const char *const method_names[] = {
    "cudaMalloc, cudaFree",
    "pool, released when idle",
    "pool, kept",
    "allocated once",
};

static enum gf_status one_piece(const struct gf_lab_run *run, int method, size_t bytes,
                                const struct work_buffers &buffers)
{
    char *memory = (char *)buffers.kept.data;
    if (method == MALLOC)
        LAB_TRY(cudaMalloc(&memory, bytes));
    else if (method != REUSE)
        LAB_TRY(cudaMallocAsync(&memory, bytes, 0));
    work_kernel<<<WORDS / THREADS, THREADS>>>(
        buffers.in.data, (uint32_t *)(memory + bytes - WORDS * sizeof(uint32_t)), buffers.out.data);
    const cudaError_t launched = cudaGetLastError();
    if (method == MALLOC)
        LAB_TRY(cudaFree(memory));
    else if (method != REUSE)
        LAB_TRY(cudaFreeAsync(memory, 0));
    LAB_TRY(launched);
    return GF_OK;
}

static enum gf_status all_pieces(const struct gf_lab_run *run, int method, size_t bytes,
                                 const struct work_buffers &buffers)
{
    const int rounds = ((const struct alloc *)run->params)->rounds;
    for (int i = 0; i < rounds; i++) {
        GF_TRY(one_piece(run, method, bytes, buffers));
        if (method == POOL_RELEASING)
            LAB_TRY(cudaStreamSynchronize(0));
    }
    return GF_OK;
}

/* Measures a method. Between timings the device is idle, and a pool then releases memory above its
 * threshold. */
static enum gf_status measure(const struct gf_lab_run *run, int method, size_t bytes,
                              struct work_buffers &buffers, uint64_t *wrong, struct lab_time *time)
{
    const int rounds = ((const struct alloc *)run->params)->rounds;
    uint64_t threshold = method == POOL_KEEPING ? UINT64_MAX : 0, different;
    if (buffers.pool)
        LAB_TRY(cudaMemPoolSetAttribute(buffers.pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    GF_TRY(buffers.out.poison(run, WORDS));
    const auto pieces = [&] { return all_pieces(run, method, bytes, buffers); };
    GF_TRY(lab_time_host(run, pieces, time));
    GF_TRY(lab_different(run, buffers.out.data, buffers.reference.data, WORDS, &different));
    *wrong += different;
    time->median_s /= rounds;
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    struct work_buffers buffers;
    struct lab_time times[METHODS][SIZE_COUNT];
    uint64_t wrong = 0;
    int pools = 0;
    LAB_TRY(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, run->device.index));
    if (pools) {
        cudaMemPool_t pool;
        LAB_TRY(cudaDeviceGetDefaultMemPool(&pool, run->device.index));
        LAB_TRY(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                                        &buffers.threshold_before));
        buffers.pool = pool;
    }
    GF_TRY(buffers.in.random(run, WORDS, 1));
    GF_TRY(buffers.kept.alloc(run, SIZES[SIZE_COUNT - 1] / sizeof(uint32_t)));
    GF_TRY(make_reference(run, buffers));

    gf_lab_rows(run, "memory for each piece of work");
    for (int size = 0; size < SIZE_COUNT; size++) {
        char name[GF_LAB_NAME_SIZE];
        snprintf(name, sizeof name, "%zu MB", SIZES[size] / LAB_MB);
        gf_lab_column(run, name, "us", 1);
    }
    for (int method = 0; method < METHODS; method++) {
        gf_lab_row(run, NAN, "%s", method_names[method]);
        if (!pools && (method == POOL_RELEASING || method == POOL_KEEPING)) {
            gf_lab_reason(run, "this driver or GPU has no memory pools");
            continue;
        }
        for (int size = 0; size < SIZE_COUNT; size++) {
            GF_TRY(measure(run, method, SIZES[size], buffers, &wrong, &times[method][size]));
            gf_lab_value(run, size, 1e6 * times[method][size].median_s);
        }
    }
    gf_lab_check(run, !wrong, "the work has the same result in all memory (%llu bytes differ)",
                 (unsigned long long)wrong);
    gf_lab_claim(run, times[REUSE][1].median_s < times[MALLOC][1].median_s,
                 "allocation is expensive: 16 MB each time take %.1f times as long as reusing them",
                 times[MALLOC][1].median_s / times[REUSE][1].median_s);
    if (pools)
        gf_lab_claim(run, times[POOL_KEEPING][1].median_s < times[MALLOC][1].median_s,
                     "a pool that keeps its memory is near: %.2f times as long as reusing",
                     times[POOL_KEEPING][1].median_s / times[REUSE][1].median_s);
    gf_lab_note(run,
                "us of the host's clock for one piece of work, allocation, kernel and release; "
                "the pool that releases is synchronised after each");
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_alloc = {
    .name = "alloc",
    .summary = "allocating for each piece of work, from a pool, or once",
    .guide = "4, 9.3",
    .figure = "cudaMalloc and cudaFree are expensive: reuse memory",
    GF_PARAMS(struct alloc, alloc_params),
    .run = GF_LAB_RUN(run),
};
