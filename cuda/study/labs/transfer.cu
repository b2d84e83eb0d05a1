/* Measures transfers from host memory to device memory and back: of pageable and pinned memory, in
 * one piece and in many, and by a kernel that accesses host memory directly (Best Practices Guide,
 * 9.1). */
#include "study/labs/lab.h"

struct transfer {
    int size;
};

static const struct gf_param transfer_params[] = {
    GF_PARAM_INT(struct transfer, size, 128, 16, 4096, "of the memory that is copied, in MB"),
    {0},
};

#ifdef __CUDACC__
#include <stdlib.h>

#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr size_t SMALL_BYTES =
    16 * LAB_MB; /* fewer bytes are copied in small pieces, because these take long */

/* Copies host memory without a transfer (zero copy): accesses are coalesced, each element once. */
static __global__ void __launch_bounds__(THREADS)
    copy_kernel(const uint4 *in, uint4 *out, size_t count)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count;
         i += (size_t)gridDim.x * THREADS)
        out[i] = in[i];
}

/* Host memory that is freed at the end of the scope. */
struct host_memory {
    void *data = NULL;
    bool pinned = false, registered = false;

    ~host_memory()
    {
        if (registered)
            cudaHostUnregister(data);
        if (pinned)
            cudaFreeHost(data);
        else
            free(data);
    }
};

struct transfer_buffers {
    struct host_memory pageable, pinned, registered, back;
    lab_memory<unsigned char> source, target;
    size_t bytes;
    cudaStream_t up = NULL, down = NULL;

    ~transfer_buffers()
    {
        if (up)
            cudaStreamDestroy(up);
        if (down)
            cudaStreamDestroy(down);
    }
};

static enum gf_status open_buffers(const struct gf_lab_run *run, size_t bytes,
                                   struct transfer_buffers *buffers)
{
    constexpr size_t PAGE = 4096;
    const size_t whole_pages = (bytes + PAGE - 1) / PAGE * PAGE;
    buffers->bytes = bytes;
    GF_TRY(buffers->source.random(run, bytes, 1));
    GF_TRY(buffers->target.alloc(run, bytes));
    LAB_TRY(cudaHostAlloc(&buffers->pinned.data, bytes, cudaHostAllocMapped));
    buffers->pinned.pinned = true;
    LAB_TRY(cudaHostAlloc(&buffers->back.data, bytes, cudaHostAllocMapped));
    buffers->back.pinned = true;
    buffers->pageable.data = aligned_alloc(PAGE, whole_pages);
    buffers->registered.data = aligned_alloc(PAGE, whole_pages);
    if (!buffers->pageable.data || !buffers->registered.data)
        return gf_fail(run->error, GF_ERROR_MEMORY, "out of memory");
    LAB_TRY(cudaHostRegister(buffers->registered.data, whole_pages, cudaHostRegisterMapped));
    buffers->registered.registered = true;
    LAB_TRY(cudaStreamCreateWithFlags(&buffers->up, cudaStreamNonBlocking));
    LAB_TRY(cudaStreamCreateWithFlags(&buffers->down, cudaStreamNonBlocking));
    return GF_OK;
}

/* A method of copying. */
struct method {
    const char *label;
    enum { PAGEABLE, PINNED, REGISTERED } memory;
    size_t piece; /* bytes of a piece; 0: all in one */
    bool kernel;  /* a kernel accesses host memory, instead of copies */
};

static const struct method methods[] = {
    {"pageable, one copy", method::PAGEABLE, 0, false},
    {"registered, one copy", method::REGISTERED, 0, false},
    {"pinned, one copy", method::PINNED, 0, false},
    {"pinned, pieces of 1 MB", method::PINNED, 1000000, false},
    {"pinned, pieces of 64 KB", method::PINNED, 65536, false},
    {"pinned, pieces of 4 KB", method::PINNED, 4096, false},
    {"zero copy, by a kernel", method::PINNED, 0, true},
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

static enum gf_status move(const struct gf_lab_run *run, const struct method &method, void *to,
                           const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (method.kernel) {
        copy_kernel<<<run->device.multiprocessors * 8, THREADS, 0, stream>>>(
            (const uint4 *)from, (uint4 *)to, bytes / sizeof(uint4));
        LAB_LAUNCHED();
        return GF_OK;
    }
    const size_t piece = method.piece ? method.piece : bytes;
    for (size_t at = 0; at < bytes; at += piece)
        LAB_TRY(cudaMemcpyAsync((char *)to + at, (const char *)from + at,
                                std::min(piece, bytes - at), kind, stream));
    return GF_OK;
}

/* Copies the random source to the host and from there to the poisoned target, which should then
 * equal the source. */
static enum gf_status measure(const struct gf_lab_run *run, const struct method &method,
                              struct transfer_buffers &buffers, struct lab_time *up,
                              struct lab_time *down, size_t *bytes, uint64_t *wrong)
{
    void *const host = method.memory == method::PAGEABLE     ? buffers.pageable.data
                       : method.memory == method::REGISTERED ? buffers.registered.data
                                                             : buffers.pinned.data;
    uint64_t different;
    *bytes = method.piece ? std::min(SMALL_BYTES, buffers.bytes) : buffers.bytes;
    memset(host, 0xa5, buffers.bytes);
    LAB_TRY(cudaMemset(buffers.target.data, 0x5a, buffers.bytes));
    const auto to_host = [&] {
        return move(run, method, host, buffers.source.data, *bytes, cudaMemcpyDeviceToHost,
                    buffers.down);
    };
    const auto to_device = [&] {
        return move(run, method, buffers.target.data, host, *bytes, cudaMemcpyHostToDevice,
                    buffers.up);
    };
    GF_TRY(lab_time_host(run, to_host, down));
    GF_TRY(lab_time_host(run, to_device, up));
    GF_TRY(lab_different(run, buffers.source.data, buffers.target.data, *bytes, &different));
    *wrong += different;
    return GF_OK;
}

/* Copies in both directions at once and returns the rate of each. */
static enum gf_status measure_both(const struct gf_lab_run *run, struct transfer_buffers &buffers,
                                   struct lab_time *time, uint64_t *wrong)
{
    uint64_t different;
    lab_memory<unsigned char> second;
    LAB_TRY(cudaMemcpy(buffers.pinned.data, buffers.source.data, buffers.bytes,
                       cudaMemcpyDeviceToHost));
    LAB_TRY(cudaMemset(buffers.target.data, 0x5a, buffers.bytes));
    memset(buffers.back.data, 0xa5, buffers.bytes);
    const auto both = [&]() -> enum gf_status {
        LAB_TRY(cudaMemcpyAsync(buffers.target.data, buffers.pinned.data, buffers.bytes,
                                cudaMemcpyHostToDevice, buffers.up));
        LAB_TRY(cudaMemcpyAsync(buffers.back.data, buffers.source.data, buffers.bytes,
                                cudaMemcpyDeviceToHost, buffers.down));
        return GF_OK;
    };
    GF_TRY(lab_time_host(run, both, time));
    GF_TRY(lab_different(run, buffers.source.data, buffers.target.data, buffers.bytes, &different));
    *wrong += different;
    *wrong += memcmp(buffers.back.data, buffers.pinned.data, buffers.bytes) != 0;
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct transfer *const params = (const struct transfer *)run->params;
    struct transfer_buffers buffers;
    struct lab_time both;
    double up_rates[METHODS];
    uint64_t wrong = 0;
    GF_TRY(open_buffers(run, params->size * LAB_MB, &buffers));
    gf_lab_rows(run, "host memory");
    const int up_column = gf_lab_column(run, "to device", "GB/s", 2);
    const int down_column = gf_lab_column(run, "from device", "GB/s", 2);
    const int spread = gf_lab_column(run, "spread up", "%", 1);
    for (int i = 0; i < METHODS; i++) {
        struct lab_time up, down;
        size_t bytes;
        GF_TRY(measure(run, methods[i], buffers, &up, &down, &bytes, &wrong));
        up_rates[i] = lab_gb_s((double)bytes, up);
        gf_lab_row(run, NAN, "%s", methods[i].label);
        gf_lab_value(run, up_column, up_rates[i]);
        gf_lab_value(run, down_column, lab_gb_s((double)bytes, down));
        gf_lab_value(run, spread, 100.0 * up.spread);
    }
    GF_TRY(measure_both(run, buffers, &both, &wrong));
    gf_lab_row(run, NAN, "pinned, both ways at once");
    gf_lab_value(run, up_column, lab_gb_s((double)buffers.bytes, both));
    gf_lab_value(run, down_column, lab_gb_s((double)buffers.bytes, both));
    gf_lab_value(run, spread, 100.0 * both.spread);
    gf_lab_check(run, !wrong, "what came back is what was sent, by every way (%llu bytes differ)",
                 (unsigned long long)wrong);
    gf_lab_claim(run, up_rates[PINNED_ONE] > up_rates[PAGEABLE_ONE],
                 "pinned beats pageable memory: %.2f times as fast",
                 up_rates[PINNED_ONE] / up_rates[PAGEABLE_ONE]);
    gf_lab_claim(run, up_rates[PINNED_ONE] > up_rates[PIECES_4K],
                 "one large copy beats many small: %.1f times pieces of 4 KB, %.2f times 64 KB",
                 up_rates[PINNED_ONE] / up_rates[PIECES_4K],
                 up_rates[PINNED_ONE] / up_rates[PIECES_64K]);
    gf_lab_note(run,
                "zero copy reaches %.2f of the copy, and overlaps with the kernel that uses it",
                up_rates[ZERO_COPY] / up_rates[PINNED_ONE]);
    return GF_OK;
}
#endif

static const struct gf_lab_mark transfer_marks[] = {
    {"PCIe 3 x16", "to device", "pinned, one copy", 12}, {0}};

const struct gf_lab gf_lab_transfer = {
    .name = "transfer",
    .summary = "copies between host and device: pageable, pinned, in pieces, and zero copy",
    .guide = "4, 9.1, 9.1.1, 9.1.3; 1",
    .figure = "PCIe 3 x16: about 12 GB/s from pinned memory (of 16)",
    .marks = transfer_marks,
    GF_PARAMS(struct transfer, transfer_params),
    .run = GF_LAB_RUN(run),
};
