/* One address space for the host and all GPUs, and copies between two GPUs that do not go through
 * the host (Best Practices Guide, 9.1.4). */
#include "study/labs/lab.h"

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
static void check_addresses(const struct gf_lab_run *run, const void *device_pointer)
{
    cudaPointerAttributes of_device, of_host;
    void *host, *mapped;
    LAB_TRY(cudaHostAlloc(&host, 4096, cudaHostAllocMapped));
    cudaError_t code = cudaHostGetDevicePointer(&mapped, host, 0);
    code = code ? code : cudaPointerGetAttributes(&of_host, host);
    code = code ? code : cudaPointerGetAttributes(&of_device, device_pointer);
    cudaFreeHost(host);
    LAB_TRY(code);
    if (!lab_attribute(run, cudaDevAttrUnifiedAddressing)) {
        gf_lab_note(run, "this GPU has no unified addresses");
        return;
    }
    gf_lab_check(run,
                 mapped == host && of_host.type == cudaMemoryTypeHost &&
                     of_device.type == cudaMemoryTypeDevice &&
                     of_device.device == run->device.index,
                 "unified addresses: pinned memory has one pointer for both sides, a pointer names "
                 "its device");
}

/* Copies to the other device and back, checks the result, and returns the rate to the other. */
static double measure(const struct gf_lab_run *run, const char *label, bool by_kernel,
                      const struct peer_memory &there, const lab_memory<uint4> &source,
                      const lab_memory<uint4> &target)
{
    const size_t bytes = source.bytes();
    const int here = run->device.index;
    const unsigned int blocks = (unsigned int)run->device.multiprocessors * 8;
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
    target.poison();
    LAB_TRY(cudaMemcpyPeer(there.data, there.other, target.data, here, bytes));
    const struct lab_time to = lab_time(run, send), from = lab_time(run, receive);
    gf_lab_count(run, lab_different(source, target));
    lab_row(run, NAN, {to.gb_s((double)bytes), from.gb_s((double)bytes), to.spread}, "%s", label);
    return to.gb_s((double)bytes);
}

static void measure_peers(const struct gf_lab_run *run, int other, const lab_memory<uint4> &source)
{
    struct peer_memory there = {run->device.index, other};
    const lab_memory<uint4> target(run, source.count);
    int possible = 0;
    LAB_TRY(there.alloc(source.bytes()));
    const double staged = measure(run, "copy through the host", false, there, source, target);
    LAB_TRY(cudaDeviceCanAccessPeer(&possible, run->device.index, other));
    if (!possible) {
        lab_row(run, NAN, {}, "copy from GPU to GPU");
        gf_lab_reason(run, "cuda:%d cannot access cuda:%d's memory", run->device.index, other);
        return;
    }
    LAB_TRY(cudaDeviceEnablePeerAccess(other, 0));
    there.accessible = true;
    const double direct = measure(run, "copy from GPU to GPU", false, there, source, target);
    measure(run, "a kernel's loads and stores", true, there, source, target);
    gf_lab_above(run, 1.0, "past the host is faster: %.2f times", direct / staged);
}

static void run(const struct gf_lab_run *run)
{
    const lab_memory<uint4> source(run, run->param[0] * LAB_MB / sizeof(uint4), 1);
    int count = 0;
    LAB_TRY(cudaGetDeviceCount(&count));
    if (count < 2) {
        lab_row(run, NAN, {}, "copy from GPU to GPU");
        gf_lab_reason(run, "there is one GPU here, and it takes two");
    } else {
        measure_peers(run, run->device.index ? 0 : 1, source);
    }
    check_addresses(run, source.data);
}
#endif

const struct gf_lab gf_lab_peer = {
    .name = "peer",
    .summary = "unified addresses, and copies from GPU to GPU, past the host",
    .guide = "4, 9.1.4",
    .params = {GF_LAB_INT("size", 256, 1, 4096, "of the memory that is copied, in MB")},
    .rows = "way",
    .columns = {{"to the other", "GB/s", 1}, {"from it", "GB/s", 1}, {"spread", "%", 1}},
    .right = "what came back is what was sent (%llu bytes differ)",
    .run = GF_LAB_RUN(run),
};
