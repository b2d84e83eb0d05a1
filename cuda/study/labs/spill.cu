/* Runs the same kernel with enough registers and with fewer and fewer. Values that do not fit are
 * spilled to local memory, which is off the chip (Best Practices Guide, 9.2.4 and 9.2.7.1;
 * Programming Guide, 2.2.3.4). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int VALUES = 64; /* values of a thread; all are used until the end of the kernel */
constexpr int ROUNDS = 64;

/* Combines a value with its neighbour, so that all values are needed until the end. */
static __host__ __device__ __forceinline__ float mixed(float a, float b)
{
    return fmaf(a, 0.5f, 0.25f * b);
}

template <int MOST>
static __global__ void LAB_REGISTERS(THREADS, MOST)
    mix_kernel(const float *in, float *out, int rounds)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    const int threads = (int)(gridDim.x * THREADS);
    float value[VALUES];
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        value[k] = in[k * threads + i];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < VALUES; k++)
            value[k] = mixed(value[k], value[(k + 1) % VALUES]);
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        sum += value[k];
    out[i] = sum;
}

/* Does the same with an index that the compiler does not know. Registers cannot be indexed, so that
 * the array is in local memory however many registers are free. */
static __global__ void LAB_REGISTERS(THREADS, 255)
    indexed_kernel(const float *in, float *out, int rounds)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    const int threads = (int)(gridDim.x * THREADS);
    float value[VALUES];
#pragma unroll 1
    for (int k = 0; k < VALUES; k++)
        value[k] = in[k * threads + i];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll 4
        for (int k = 0; k < VALUES; k++)
            value[k] = mixed(value[k], value[(k + 1) % VALUES]);
    }
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < VALUES; k++)
        sum += value[k];
    out[i] = sum;
}

typedef void mix(const float *in, float *out, int rounds);

constexpr int CHECKED = 1024; /* threads whose sum is computed on the CPU */

static float on_cpu(const std::vector<float> &in, int i)
{
    float value[VALUES], sum = 0.0f;
    for (int k = 0; k < VALUES; k++)
        value[k] = in[k * CHECKED + i];
    for (int r = 0; r < ROUNDS; r++) {
        for (int k = 0; k < VALUES; k++)
            value[k] = mixed(value[k], value[(k + 1) % VALUES]);
    }
    for (int k = 0; k < VALUES; k++)
        sum += value[k];
    return sum;
}

static const struct {
    const char *name;
    mix *kernel;
} methods[] = {
    {"255, the most there are", mix_kernel<255>},
    {"80", mix_kernel<80>},
    {"64", mix_kernel<64>},
    {"48", mix_kernel<48>},
    {"40", mix_kernel<40>},
    {"32", mix_kernel<32>},
    {"255, an index of the run", indexed_kernel},
};
constexpr int METHODS = sizeof methods / sizeof *methods, BOUND = METHODS - 1;

static void run(const struct gf_lab_run *run)
{
    const int blocks = std::max(run->param[0] * run->device.multiprocessors, CHECKED / THREADS);
    const int threads = blocks * THREADS;
    const int most = lab_attribute(run, cudaDevAttrMaxThreadsPerMultiProcessor);
    const lab_memory<float> in(run, (size_t)threads * VALUES, 1), first(run, threads),
        out(run, threads);
    struct lab_time times[METHODS];
    int bytes[METHODS], wrong = 0;
    uint64_t different = 0;
    for (int i = 0; i < METHODS; i++) {
        const lab_memory<float> &written = i ? out : first;
        struct cudaFuncAttributes attributes;
        int active;
        written.poison();
        LAB_TRY(cudaFuncGetAttributes(&attributes, methods[i].kernel));
        LAB_TRY(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, methods[i].kernel, THREADS, 0));
        times[i] = lab_time(
            run, [&] { methods[i].kernel<<<blocks, THREADS>>>(in.data, written.data, ROUNDS); });
        different += i ? lab_different(first, out) : 0;
        bytes[i] = (int)attributes.localSizeBytes;
        lab_row(run, NAN,
                {(double)attributes.numRegs, (double)bytes[i], 100.0 * active * THREADS / most,
                 times[i].us(), times[i] / times[0]},
                "%s", methods[i].name);
    }
    /* The sums of the first threads are computed on the CPU, too, row by row of the input. */
    std::vector<float> before(VALUES * CHECKED);
    const std::vector<float> after = first.host(CHECKED);
    LAB_TRY(cudaMemcpy2D(before.data(), CHECKED * sizeof(float), in.data, threads * sizeof(float),
                         CHECKED * sizeof(float), VALUES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CHECKED; i++)
        wrong += after[i] != on_cpu(before, i);
    gf_lab_check(
        run, !wrong && !different,
        "%d sums are the CPU's (%d are not), all others the first kernel's (%llu bytes differ)",
        CHECKED, wrong, (unsigned long long)different);
    gf_lab_claim(
        run, times[BOUND - 1] / times[0] > 1.2,
        "spilling of %d bytes a thread takes %.1f times as long, in spite of the occupancy",
        bytes[BOUND - 1], times[BOUND - 1] / times[0]);
    gf_lab_claim(
        run, times[BOUND] / times[0] > 1.2,
        "an array with an index of the run lies in local memory (%d bytes): %.1f times as long",
        bytes[BOUND], times[BOUND] / times[0]);
}
#endif

const struct gf_lab gf_lab_spill = {
    .name = "spill",
    .summary = "registers enough, and too few: what the spilling to local memory costs",
    .guide = "4, 9.2.4 and 9.2.7.1; 5, 2.2.3.4; 1",
    .figure = "local memory is as expensive as global memory",
    .params = {GF_LAB_INT("blocks", 16, 1, 256, "blocks of 256 threads for each multiprocessor")},
    .rows = "registers at most",
    .columns = {{"registers", "a thread", 0},
                {"local", "B/thread", 0},
                {"occupancy", "%", 0},
                {"time", "us", 1},
                {"of the first", "times", 2}},
    .run = GF_LAB_RUN(run),
};
