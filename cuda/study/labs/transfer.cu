/* Transfers from host memory to device memory and back: of pageable and pinned memory, in one piece
 * and in many, and by a kernel that accesses host memory directly (Best Practices Guide, 9.1). And
 * one address space for the host and all GPUs, and copies between two GPUs that do not go through
 * the host (9.1.4). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include <stdlib.h>
#include <string.h>

#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr size_t SMALL_BYTES =
    16 * LAB_MB; /* fewer bytes are copied in small pieces, because these take long */

/* Copies by a kernel and not by a transfer, from or to host memory (zero copy) or another GPU's
 * memory. Accesses are coalesced, and each element is accessed once. */
static __global__ void __launch_bounds__(THREADS)
    copy_kernel(const uint4 *in, uint4 *out, size_t count)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count;
         i += (size_t)gridDim.x * THREADS)
        out[i] = in[i];
}

/* Host memory that is freed at the end of the scope. */
struct host_memory {
    enum kind { PAGEABLE, PINNED, REGISTERED } kind;
    void *data = NULL;

    host_memory(const struct gf_lab_run *run, size_t bytes, enum kind kind_) : kind(kind_)
    {
        constexpr size_t PAGE = 4096;
        const size_t whole_pages = (bytes + PAGE - 1) / PAGE * PAGE;
        if (kind == PINNED) {
            LAB_TRY(cudaHostAlloc(&data, bytes, cudaHostAllocMapped));
            return;
        }
        data = aligned_alloc(PAGE, whole_pages);
        if (!data)
            throw std::bad_alloc();
        const cudaError_t code = kind == REGISTERED
                                     ? cudaHostRegister(data, whole_pages, cudaHostRegisterMapped)
                                     : cudaSuccess;
        if (code != cudaSuccess)
            free(data);
        LAB_TRY(code);
    }
    host_memory(const host_memory &) = delete;
    ~host_memory()
    {
        if (kind == REGISTERED)
            cudaHostUnregister(data);
        if (kind == PINNED)
            cudaFreeHost(data);
        else
            free(data);
    }
};

struct transfer_method {
    const char *label;
    enum host_memory::kind memory;
    size_t piece; /* bytes of a piece; 0: all in one */
    bool kernel;  /* a kernel accesses host memory, instead of copies */
};

static const struct transfer_method methods[] = {
    {"pageable, one copy", host_memory::PAGEABLE, 0, false},
    {"registered, one copy", host_memory::REGISTERED, 0, false},
    {"pinned, one copy", host_memory::PINNED, 0, false},
    {"pinned, pieces of 1 MB", host_memory::PINNED, 1000000, false},
    {"pinned, pieces of 64 KB", host_memory::PINNED, 65536, false},
    {"pinned, pieces of 4 KB", host_memory::PINNED, 4096, false},
    {"zero copy, by a kernel", host_memory::PINNED, 0, true},
};
enum {
    PAGEABLE_ONE,
    REGISTERED_ONE,
    PINNED_ONE,
    PIECES_1M,
    PIECES_64K,
    PIECES_4K,
    ZERO_COPY,
    METHODS
};

static void move(const struct gf_lab_run *run, const struct transfer_method &method, void *to,
                 const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (method.kernel) {
        copy_kernel<<<run->device.multiprocessors * 8, THREADS, 0, stream>>>(
            (const uint4 *)from, (uint4 *)to, bytes / sizeof(uint4));
        LAB_LAUNCHED();
        return;
    }
    const size_t piece = method.piece ? method.piece : bytes;
    for (size_t at = 0; at < bytes; at += piece)
        LAB_TRY(cudaMemcpyAsync((char *)to + at, (const char *)from + at,
                                std::min(piece, bytes - at), kind, stream));
}

/* Adds the row of a method, with the times of both directions, and returns its rate to the device.
 */
static double add_row(const struct gf_lab_run *run, const char *label, double bytes,
                      const struct lab_time &up, const struct lab_time &down)
{
    lab_row(run, NAN, {up.gb_s(bytes), down.gb_s(bytes), up.spread}, "%s", label);
    return up.gb_s(bytes);
}

static void run(const struct gf_lab_run *run)
{
    const size_t all = run->param[0] * LAB_MB;
    const lab_memory<unsigned char> source(run, all, 1), target(run, all);
    const struct host_memory memory[] = {{run, all, host_memory::PAGEABLE},
                                         {run, all, host_memory::PINNED},
                                         {run, all, host_memory::REGISTERED}},
                             back(run, all, host_memory::PINNED);
    const lab_stream to_device(run, cudaStreamNonBlocking), to_host(run, cudaStreamNonBlocking);
    double up_rates[METHODS];
    /* The random source is copied to the host and from there to the poisoned target, which should
     * then equal the source. */
    for (int i = 0; i < METHODS; i++) {
        const struct transfer_method &method = methods[i];
        void *const host = memory[method.memory].data;
        const size_t bytes = method.piece ? std::min(SMALL_BYTES, all) : all;
        memset(host, 0xa5, all);
        target.set_bytes(0x5a);
        const struct lab_time down = lab_time_host(run, [&] {
            move(run, method, host, source.data, bytes, cudaMemcpyDeviceToHost, to_host.handle);
        });
        const struct lab_time up = lab_time_host(run, [&] {
            move(run, method, target.data, host, bytes, cudaMemcpyHostToDevice, to_device.handle);
        });
        gf_lab_count(run, lab_different_bytes(run, source.data, target.data, bytes));
        up_rates[i] = add_row(run, method.label, (double)bytes, up, down);
    }
    void *const pinned = memory[host_memory::PINNED].data;
    LAB_TRY(cudaMemcpy(pinned, source.data, all, cudaMemcpyDeviceToHost));
    target.set_bytes(0x5a);
    memset(back.data, 0xa5, all);
    const struct lab_time both = lab_time_host(run, [&] {
        LAB_TRY(
            cudaMemcpyAsync(target.data, pinned, all, cudaMemcpyHostToDevice, to_device.handle));
        LAB_TRY(
            cudaMemcpyAsync(back.data, source.data, all, cudaMemcpyDeviceToHost, to_host.handle));
    });
    gf_lab_count(run, lab_different(source, target));
    gf_lab_count(run, memcmp(back.data, pinned, all) != 0);
    add_row(run, "pinned, both ways at once", (double)all, both, both);
    gf_lab_above(run, 1.0, "pinned beats pageable memory: %.2f times as fast",
                 up_rates[PINNED_ONE] / up_rates[PAGEABLE_ONE]);
    gf_lab_above(
        run, 1.0, "one large copy beats many small: %.1f times pieces of 4 KB, %.2f times 64 KB",
        up_rates[PINNED_ONE] / up_rates[PIECES_4K], up_rates[PINNED_ONE] / up_rates[PIECES_64K]);
    gf_lab_note(run,
                "zero copy reaches %.2f of the copy, and overlaps with the kernel that uses it",
                up_rates[ZERO_COPY] / up_rates[PINNED_ONE]);
}

/* ---- between two GPUs ---- */

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
        GF_THEN(code, cudaMalloc(&data, bytes));
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
            LAB_TRY(cudaMemcpyPeerAsync(there.data, there.other, source.data, here, bytes, 0));
    };
    const auto receive = [&] {
        if (by_kernel)
            copy_kernel<<<blocks, THREADS>>>(there.data, target.data, source.count);
        else
            LAB_TRY(cudaMemcpyPeerAsync(target.data, here, there.data, there.other, bytes, 0));
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

static void run_peer(const struct gf_lab_run *run)
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

const struct gf_lab gf_lab_transfer = {
    .name = "transfer",
    .summary = "copies between host and device: pageable, pinned, in pieces, and zero copy",
    .guide = "4, 9.1, 9.1.1, 9.1.3; 1",
    .figure = "PCIe 3 x16: about 12 GB/s from pinned memory (of 16)",
    .marks = {{"PCIe 3 x16", "to device", "pinned, one copy", 12}},
    .params = {GF_LAB_INT("size", 128, 16, 4096, "of the memory that is copied, in MB")},
    .rows = "host memory",
    .columns = {{"to device", "GB/s", 2}, {"from device", "GB/s", 2}, {"spread up", "%", 1}},
    .right = "what came back is what was sent, by every way (%llu bytes differ)",
    .run = GF_LAB_RUN(run),
};

const struct gf_lab gf_lab_peer = {
    .name = "peer",
    .summary = "unified addresses, and copies from GPU to GPU, past the host",
    .guide = "4, 9.1.4",
    .params = {GF_LAB_INT("size", 256, 1, 4096, "of the memory that is copied, in MB")},
    .rows = "way",
    .columns = {{"to the other", "GB/s", 1}, {"from it", "GB/s", 1}, {"spread", "%", 1}},
    .right = "what came back is what was sent (%llu bytes differ)",
    .run = GF_LAB_RUN(run_peer),
};
