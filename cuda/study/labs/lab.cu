/* Memory, comparison and flushing for labs. */
#include "cuda/study/labs/lab.cuh"

#include <cstdarg>
#include <cstdio>
#include <cstring>

constexpr int THREADS = 256;
constexpr int BLOCKS_MAX = 4096; /* the kernels stride over the other elements */

/* Returns a hash: every bit of the index affects every bit of the result. */
static __device__ __forceinline__ uint32_t hash(uint64_t index, uint32_t seed)
{
    uint32_t x = (uint32_t)index ^ (uint32_t)(index >> 32) * 0x85ebca6bu ^ seed * 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static __device__ __forceinline__ size_t first_index(void)
{
    return (size_t)blockIdx.x * THREADS + threadIdx.x;
}

static __device__ __forceinline__ size_t stride(void)
{
    return (size_t)gridDim.x * THREADS;
}

static __global__ void __launch_bounds__(THREADS)
    fill_bytes_kernel(unsigned char *memory, size_t bytes, uint32_t seed)
{
    for (size_t i = first_index(); i < bytes; i += stride())
        memory[i] = (unsigned char)(hash(i / 4, seed) >> i % 4 * 8);
}

static __global__ void __launch_bounds__(THREADS)
    fill_floats_kernel(float *memory, size_t count, uint32_t seed)
{
    for (size_t i = first_index(); i < count; i += stride())
        memory[i] = (float)(int)(hash(i, seed) >> 7) * 0x1p-24f - 1.0f;
}

static __global__ void __launch_bounds__(THREADS)
    different_kernel(const unsigned char *a, const unsigned char *b, size_t bytes,
                     unsigned long long *different)
{
    unsigned int count = 0;
    for (size_t i = first_index(); i < bytes; i += stride())
        count += a[i] != b[i];
    if (count)
        atomicAdd(different, count);
}

/* Finds the largest difference. The bits of positive floats have the order of the floats. */
static __global__ void __launch_bounds__(THREADS)
    worst_kernel(const float *a, const float *b, size_t count, unsigned int *worst)
{
    float most = 0.0f;
    for (size_t i = first_index(); i < count; i += stride()) {
        const float difference = fabsf(a[i] - b[i]);
        most = difference >= 0.0f ? fmaxf(most, difference) : INFINITY;
    }
    if (most > 0.0f)
        atomicMax(worst, __float_as_uint(most));
}

static __global__ void __launch_bounds__(THREADS)
    read_kernel(const uint4 *memory, size_t count, uint32_t *never)
{
    uint32_t sum = 0;
    for (size_t i = first_index(); i < count; i += stride()) {
        const uint4 v = memory[i];
        sum |= v.x | v.y | v.z | v.w;
    }
    if (sum == 1) /* never true, because every byte of the memory is 0xa5 */
        *never = sum;
}

static unsigned int blocks_for(size_t count)
{
    return std::min(lab_blocks(count, THREADS), (unsigned int)BLOCKS_MAX);
}

void lab_fill(const struct gf_lab_run *run, void *memory, size_t bytes, uint32_t seed)
{
    fill_bytes_kernel<<<blocks_for(bytes), THREADS>>>((unsigned char *)memory, bytes, seed);
    LAB_LAUNCHED();
}

void lab_fill(const struct gf_lab_run *run, float *memory, size_t bytes, uint32_t seed)
{
    const size_t count = bytes / sizeof *memory;
    fill_floats_kernel<<<blocks_for(count), THREADS>>>(memory, count, seed);
    LAB_LAUNCHED();
}

uint64_t lab_different_bytes(const struct gf_lab_run *run, const void *a, const void *b,
                             size_t bytes)
{
    const lab_counter different(run);
    LAB_LAUNCHED();
    different_kernel<<<blocks_for(bytes), THREADS>>>(
        (const unsigned char *)a, (const unsigned char *)b, bytes, different.data);
    return different.value();
}

double lab_worst(const lab_memory<float> &a, const lab_memory<float> &b)
{
    const struct gf_lab_run *const run = a.run;
    const lab_memory<unsigned int> greatest(run, 1);
    float value;
    greatest.set_bytes(0);
    LAB_LAUNCHED();
    worst_kernel<<<blocks_for(a.count), THREADS>>>(a.data, b.data, a.count, greatest.data);
    memcpy(&value, greatest.host().data(), sizeof value);
    return value;
}

void lab_row(const struct gf_lab_run *run, double x, const std::vector<double> &values,
             const char *label, ...)
{
    char text[GF_LAB_NAME_SIZE];
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(text, sizeof text, label, arguments);
    va_end(arguments);
    const size_t columns = (size_t)gf_lab_columns(run->lab);
    run->result->full = run->result->full || values.size() > columns;
    std::copy_n(values.begin(), std::min(values.size(), columns), gf_lab_row(run, x, "%s", text));
}

/* Memory for lab_flush(). It is kept until the end of the lab, because an allocation would
 * synchronise. */
static uint4 *flushing;
static size_t flushing_bytes;

void lab_flush(const struct gf_lab_run *run)
{
    if (!flushing) {
        flushing_bytes = 2 * (size_t)run->device.l2_bytes / sizeof(uint4) * sizeof(uint4);
        LAB_TRY(cudaMalloc(&flushing, flushing_bytes));
        LAB_TRY(cudaMemset(flushing, 0xa5, flushing_bytes));
    }
    const size_t count = flushing_bytes / sizeof(uint4);
    read_kernel<<<blocks_for(count), THREADS>>>(flushing, count, (uint32_t *)flushing);
    LAB_LAUNCHED();
}

extern "C" enum gf_status gf_lab_device_begin(int device, struct gf_error *error)
{
    GF_CUDA_TRY(cudaSetDevice(device), device, error);
    GF_CUDA_TRY(cudaFree(NULL), device,
                error); /* this creates the context, so that no lab measures its creation */
    return GF_OK;
}

extern "C" enum gf_status gf_lab_device_end(int device, struct gf_error *error)
{
    cudaFree(flushing);
    flushing = NULL;
    const cudaError_t code = cudaDeviceSynchronize();
    if (code == cudaSuccess)
        return GF_OK;
    /* The error stays with the context, so that only a new context works. */
    const enum gf_status status = gf_cuda_fail(error, device, "cudaDeviceSynchronize", code);
    cudaDeviceReset();
    return status;
}
