/* The use of the device by the benchmark itself: memory, the copies whose rate is the peak, and
 * timing by events. */
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <stdlib.h>

#include "bench.h"

enum { THREADS = 256, WARM_UP = 5, BATCH = 4 };

/* ---- kernels ---- */

/* Blocks the stream until the host has queued all that is timed, so that no launch waits for the
 * host. */
__global__ __launch_bounds__(1) void delay_kernel(unsigned long long nanoseconds)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < nanoseconds);
}

void bench_delay(void *stream, unsigned long long nanoseconds)
{
    delay_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(nanoseconds);
}

__global__ __launch_bounds__(THREADS) void copy_kernel(const uint4 *src, uint4 *dst, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        dst[i] = src[i];
}

/* ---- memory ---- */

void *bench_alloc(size_t size)
{
    void *memory = NULL;
    if (cudaMalloc(&memory, size) == cudaSuccess)
        return memory;
    cudaGetLastError();
    return NULL;
}

void bench_free(void *memory)
{
    cudaFree(memory);
}

bool bench_fill(void *memory, int byte, size_t size)
{
    return cudaMemset(memory, byte, size) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

bool bench_copy_in(void *device, const void *host, size_t size)
{
    return cudaMemcpy(device, host, size, cudaMemcpyHostToDevice) == cudaSuccess;
}

bool bench_copy_out(void *host, const void *device, size_t size)
{
    return cudaMemcpy(host, device, size, cudaMemcpyDeviceToHost) == cudaSuccess;
}

bool bench_pin(void *host, size_t size)
{
    const bool pinned = cudaHostRegister(host, size, cudaHostRegisterDefault) == cudaSuccess;
    cudaGetLastError();
    return pinned;
}

void bench_unpin(void *host)
{
    cudaHostUnregister(host);
}

/* ---- copies ---- */

int bench_copy_kernel(void *context, int turn, void *stream)
{
    const struct bench_copy *const copy = (const struct bench_copy *)context;
    const size_t count = copy->bytes / sizeof(uint4);
    copy_kernel<<<(unsigned int)((count + THREADS - 1) / THREADS), THREADS, 0,
                  (cudaStream_t)stream>>>((const uint4 *)copy->src[turn], (uint4 *)copy->dst[turn],
                                          count);
    return cudaGetLastError();
}

static int copy_by_runtime(const void *context, int turn, void *stream, enum cudaMemcpyKind kind)
{
    const struct bench_copy *const copy = (const struct bench_copy *)context;
    return cudaMemcpyAsync(copy->dst[turn], copy->src[turn], copy->bytes, kind,
                           (cudaStream_t)stream);
}

int bench_copy_device(void *context, int turn, void *stream)
{
    return copy_by_runtime(context, turn, stream, cudaMemcpyDeviceToDevice);
}

int bench_copy_up(void *context, int turn, void *stream)
{
    return copy_by_runtime(context, turn, stream, cudaMemcpyHostToDevice);
}

int bench_copy_down(void *context, int turn, void *stream)
{
    return copy_by_runtime(context, turn, stream, cudaMemcpyDeviceToHost);
}

/* The copy to the host runs on a stream of its own, which starts and ends with the other copy. */
int bench_copy_both(void *context, int turn, void *stream)
{
    static cudaStream_t down;
    static cudaEvent_t begin, end;
    const struct bench_copy *const copy = (const struct bench_copy *)context;
    int code = 0;
    if (!down) {
        code = cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking);
        if (!code)
            code = cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
        if (!code)
            code = cudaEventCreateWithFlags(&end, cudaEventDisableTiming);
    }
    if (!code)
        code = cudaEventRecord(begin, (cudaStream_t)stream);
    if (!code)
        code = cudaStreamWaitEvent(down, begin, 0);
    if (!code)
        code = cudaMemcpyAsync(copy->back_dst[turn], copy->back_src[turn], copy->bytes,
                               cudaMemcpyDeviceToHost, down);
    if (!code)
        code = bench_copy_up(context, turn, stream);
    if (!code)
        code = cudaEventRecord(end, down);
    return code ? code : (int)cudaStreamWaitEvent((cudaStream_t)stream, end, 0);
}

/* ---- timing ---- */

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Queues all samples, then waits. A pair of events encloses `batch` calls, so that the events take
 * little of the time. */
static int queue_samples(bench_call *call, void *context, int batch, cudaStream_t stream,
                         cudaEvent_t *begin, cudaEvent_t *end)
{
    const unsigned long long head_start_ns = 3000000;
    int code = 0;
    delay_kernel<<<1, 1, 0, stream>>>(head_start_ns);
    for (int i = 0; !code && i < BENCH_SAMPLES; i++) {
        code = cudaEventRecord(begin[i], stream);
        for (int k = 0; !code && k < batch; k++)
            code = call(context, (i * batch + k) % BENCH_TURNS, stream);
        if (!code)
            code = cudaEventRecord(end[i], stream);
    }
    const int waited = cudaStreamSynchronize(stream);
    return code ? code : waited;
}

static int warm_up(bench_call *call, void *context, cudaStream_t stream, cudaEvent_t begin,
                   cudaEvent_t end, float *ms)
{
    int code = 0;
    for (int i = 0; !code && i < WARM_UP; i++) {
        if (i == WARM_UP - 1)
            code = cudaEventRecord(begin, stream);
        if (!code)
            code = call(context, i % BENCH_TURNS, stream);
    }
    if (!code)
        code = cudaEventRecord(end, stream);
    const int waited = cudaStreamSynchronize(stream);
    code = code ? code : waited;
    return code ? code : (int)cudaEventElapsedTime(ms, begin, end);
}

/* All turns, the first of them between the marks that `ncu --profile-from-start off` waits for.
 * There is no time then: 0. */
static double profile_once(bench_call *call, void *context, int *code)
{
    *code = 0;
    for (int i = 1; !*code && i < BENCH_TURNS; i++)
        *code = call(context, i, NULL);
    if (*code)
        return -1;
    cudaProfilerStart();
    const bool ok = bench_once(call, context, code);
    cudaProfilerStop();
    return ok ? 0 : -1;
}

bool bench_profiled(void)
{
    return getenv("BENCH_PROFILED") != NULL;
}

double bench_time(bench_call *call, void *context, int *code)
{
    if (bench_profiled())
        return profile_once(call, context, code);
    cudaStream_t stream = NULL;
    cudaEvent_t begin[BENCH_SAMPLES] = {}, end[BENCH_SAMPLES] = {};
    float sample[BENCH_SAMPLES], one_ms = 0;
    *code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; !*code && i < BENCH_SAMPLES; i++) {
        *code = cudaEventCreate(&begin[i]);
        if (!*code)
            *code = cudaEventCreate(&end[i]);
    }
    if (!*code)
        *code = warm_up(call, context, stream, begin[0], end[0], &one_ms);
    const int batch = one_ms > 1.0f ? 1 : BATCH;
    if (!*code)
        *code = queue_samples(call, context, batch, stream, begin, end);
    for (int i = 0; i < BENCH_SAMPLES; i++) {
        if (!*code)
            *code = cudaEventElapsedTime(&sample[i], begin[i], end[i]);
        if (begin[i])
            cudaEventDestroy(begin[i]);
        if (end[i])
            cudaEventDestroy(end[i]);
    }
    if (stream)
        cudaStreamDestroy(stream);
    cudaGetLastError();
    if (*code)
        return -1;
    qsort(sample, BENCH_SAMPLES, sizeof *sample, by_value);
    return (double)sample[BENCH_SAMPLES / 2] / batch;
}

bool bench_once(bench_call *call, void *context, int *code)
{
    *code = call(context, 0, NULL);
    const int waited = cudaDeviceSynchronize();
    if (!*code)
        *code = waited;
    cudaGetLastError();
    return !*code;
}

const char *bench_error_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}

/* ---- the device ---- */

bool bench_device_open(struct bench_device *device, const char **why)
{
    const unsigned long long warm_up_ns =
        300000000; /* an idle GPU runs at a fraction of its clock */
    cudaDeviceProp properties;
    cudaError_t code = cudaSetDevice(0);
    if (code == cudaSuccess)
        code = cudaGetDeviceProperties(&properties, 0);
    if (code == cudaSuccess)
        code = cudaDriverGetVersion(&device->driver_version);
    if (code == cudaSuccess)
        code = cudaRuntimeGetVersion(&device->runtime_version);
    if (code == cudaSuccess) {
        for (size_t i = 0; i < sizeof device->name; i++)
            device->name[i] = i + 1 < sizeof device->name ? properties.name[i] : '\0';
        delay_kernel<<<1, 1>>>(warm_up_ns);
        code = cudaGetLastError();
    }
    if (code == cudaSuccess)
        code = cudaDeviceSynchronize();
    *why = cudaGetErrorString(code);
    return code == cudaSuccess;
}
