/* One address space for the host and all GPUs, and copies between two GPUs that do not go through
 * the host (Best Practices Guide, 9.1.4). */
#include "study/labs/lab.h"

struct peer {
    int size;
};

static const struct gf_param peer_params[] = {
    GF_PARAM_INT(struct peer, size, 256, 1, 4096, "of the memory that is copied, in MB"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;

static __global__ void __launch_bounds__(THREADS)
    copy_kernel(const uint4 *in, uint4 *out, size_t count)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count;
         i += (size_t)gridDim.x * THREADS)
        out[i] = in[i];
}

/* Memory of the other device. The lab's device is the current one before and after each call. */
struct peer_memory {
    int device, other;
    uint4 *data = NULL;
    bool accessible = false;

    ~peer_memory()
    {
        if (accessible)
            cudaDeviceDisablePeerAccess(other);
        cudaSetDevice(other);
        cudaFree(data);
        cudaSetDevice(device);
    }
    cudaError_t alloc(size_t bytes)
    {
        cudaError_t code = cudaSetDevice(other);
        if (!code)
            code = cudaMalloc(&data, bytes);
        const cudaError_t back = cudaSetDevice(device);
        return code ? code : back;
    }
};

/* Checks unified addressing: the runtime knows to which memory a pointer points, and pinned memory
 * has the same address on the host and the device. */
static enum gf_status check_addresses(const struct gf_lab_run *run, const void *device_pointer)
{
    cudaPointerAttributes of_device, of_host;
    void *host, *mapped;
    int unified = 0;
    LAB_TRY(cudaDeviceGetAttribute(&unified, cudaDevAttrUnifiedAddressing, run->device.index));
    LAB_TRY(cudaHostAlloc(&host, 4096, cudaHostAllocMapped));
    cudaError_t code = cudaHostGetDevicePointer(&mapped, host, 0);
    code = code ? code : cudaPointerGetAttributes(&of_host, host);
    code = code ? code : cudaPointerGetAttributes(&of_device, device_pointer);
    cudaFreeHost(host);
    LAB_TRY(code);
    if (!unified) {
        gf_lab_note(run, "this GPU has no unified addresses");
        return GF_OK;
    }
    gf_lab_check(run,
                 mapped == host && of_host.type == cudaMemoryTypeHost &&
                     of_device.type == cudaMemoryTypeDevice &&
                     of_device.device == run->device.index,
                 "unified addresses: pinned memory has one pointer for both sides, a pointer names "
                 "its device");
    return GF_OK;
}

struct peer_columns {
    int to, from, spread;
};

/* Copies to the other device and back, and checks the result. */
static enum gf_status measure(const struct gf_lab_run *run, const char *label, bool by_kernel,
                              const struct peer_memory &there, const lab_memory<uint4> &source,
                              lab_memory<uint4> &target, const struct peer_columns &columns,
                              uint64_t *wrong, double *rate)
{
    const size_t bytes = source.bytes();
    const int here = run->device.index;
    const unsigned int blocks = (unsigned int)run->device.multiprocessors * 8;
    struct lab_time to, from;
    uint64_t different;
    const auto send = [&] {
        if (by_kernel)
            copy_kernel<<<blocks, THREADS>>>(source.data, there.data, source.count);
        else
            cudaMemcpyPeerAsync(there.data, there.other, source.data, here, bytes, 0);
    };
    const auto receive = [&] {
        if (by_kernel)
            copy_kernel<<<blocks, THREADS>>>(there.data, target.data, source.count);
        else
            cudaMemcpyPeerAsync(target.data, here, there.data, there.other, bytes, 0);
    };
    /* The target is poisoned, so that an earlier method's result cannot be taken for this
     * method's. */
    LAB_TRY(cudaMemset(target.data, 0xa5, bytes));
    LAB_TRY(cudaMemcpyPeer(there.data, there.other, target.data, here, bytes));
    GF_TRY(lab_time(run, LAB_WARM, send, &to));
    GF_TRY(lab_time(run, LAB_WARM, receive, &from));
    GF_TRY(lab_different(run, source.data, target.data, source.count, &different));
    *wrong += different;
    *rate = lab_gb_s((double)bytes, to);
    gf_lab_row(run, NAN, "%s", label);
    gf_lab_value(run, columns.to, *rate);
    gf_lab_value(run, columns.from, lab_gb_s((double)bytes, from));
    gf_lab_value(run, columns.spread, 100.0 * to.spread);
    return GF_OK;
}

static enum gf_status measure_peers(const struct gf_lab_run *run, int other,
                                    const lab_memory<uint4> &source,
                                    const struct peer_columns &columns)
{
    struct peer_memory there = {run->device.index, other};
    lab_memory<uint4> target;
    double staged, direct, loads;
    uint64_t wrong = 0;
    int possible = 0;
    GF_TRY(target.alloc(run, source.count));
    LAB_TRY(there.alloc(source.bytes()));
    GF_TRY(measure(run, "copy through the host", false, there, source, target, columns, &wrong,
                   &staged));
    LAB_TRY(cudaDeviceCanAccessPeer(&possible, run->device.index, other));
    if (possible) {
        LAB_TRY(cudaDeviceEnablePeerAccess(other, 0));
        there.accessible = true;
        GF_TRY(measure(run, "copy from GPU to GPU", false, there, source, target, columns, &wrong,
                       &direct));
        GF_TRY(measure(run, "a kernel's loads and stores", true, there, source, target, columns,
                       &wrong, &loads));
        gf_lab_claim(run, direct > staged, "past the host is faster: %.2f times", direct / staged);
    } else {
        gf_lab_row(run, NAN, "copy from GPU to GPU");
        gf_lab_reason(run, "cuda:%d cannot access cuda:%d's memory", run->device.index, other);
    }
    gf_lab_check(run, !wrong, "what came back is what was sent (%llu bytes differ)",
                 (unsigned long long)wrong);
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct peer *const params = (const struct peer *)run->params;
    lab_memory<uint4> source;
    int count = 0;
    LAB_TRY(cudaGetDeviceCount(&count));
    GF_TRY(source.random(run, params->size * LAB_MB / sizeof(uint4), 1));
    gf_lab_rows(run, "way");
    const struct peer_columns columns = {gf_lab_column(run, "to the other", "GB/s", 1),
                                         gf_lab_column(run, "from it", "GB/s", 1),
                                         gf_lab_column(run, "spread", "%", 1)};
    if (count < 2) {
        gf_lab_row(run, NAN, "copy from GPU to GPU");
        gf_lab_reason(run, "there is one GPU here, and it takes two");
    } else {
        GF_TRY(measure_peers(run, run->device.index ? 0 : 1, source, columns));
    }
    return check_addresses(run, source.data);
}
#endif

const struct gf_lab gf_lab_peer = {
    .name = "peer",
    .summary = "unified addresses, and copies from GPU to GPU, past the host",
    .guide = "4, 9.1.4",
    GF_PARAMS(struct peer, peer_params),
    .run = GF_LAB_RUN(run),
};
