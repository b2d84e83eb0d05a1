/* Finds, describes and starts the CUDA devices. A device starts once for all backends. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/machine.h"
#include "base/threads/times.h"
#include "cuda/backend/backend.cuh"
#include "cuda/common/check.cuh"
#include "engine/backend.h"

static bool started, exclusive; /* a device has started; a started device may be open to one process
                                   alone. Both are atomic. */

extern "C" bool gf_backend_cuda_started(bool *shared)
{
    *shared = !__atomic_load_n(&exclusive, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&started, __ATOMIC_ACQUIRE);
}

extern "C" void gf_backend_cuda_begin(int device)
{
    /* If the start fails, a backend that opens the device reports the failure. */
    (void)!gf_device_start(device, gf_cuda_device_starter, NULL);
}

static enum gf_status note_start(int device, struct gf_error *error)
{
    int mode = cudaComputeModeDefault;
    GF_CUDA_TRY(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, gf_device_ordinal(device)),
                device, error);
    if (mode != cudaComputeModeDefault)
        __atomic_store_n(&exclusive, true, __ATOMIC_RELEASE);
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
    return GF_OK;
}

static enum gf_status start_driver(int index, struct gf_error *error)
{
    const double begin_s = gf_now();
    const char *why;
    const int count = gf_device_count(&why);
    gf_start_note(GF_START_DRIVER, begin_s);
    if (!count)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    return index < count
               ? GF_OK
               : gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device (there %s %d)",
                         index, count == 1 ? "is" : "are", count);
}

static enum gf_status create_context(int index, struct gf_error *error)
{
    const double begin_s = gf_now();
    GF_CUDA_TRY(cudaSetDevice(gf_device_ordinal(index)), index, error);
    GF_CUDA_TRY(cudaFree(NULL), index, error); /* creates the primary context */
    gf_start_note(GF_START_CONTEXT, begin_s);
    return note_start(index, error);
}

/* The description of a device. describe() makes it while the context is created, since it needs no
 * context. */
struct description {
    int index;
    struct gf_device_info info;
    enum gf_status status;
    struct gf_error error;
};

static void *describe(void *argument)
{
    struct description *const description = (struct description *)argument;
    const double begin_s = gf_now();
    description->status =
        gf_device_describe(description->index, &description->info, &description->error);
    gf_start_note(GF_START_DESCRIBE, begin_s);
    return NULL;
}

static enum gf_status start_clock(int index, struct cuda_device *device, struct gf_error *error)
{
    const double begin_s = gf_now();
    if (!device->base_event)
        GF_CUDA_TRY(cudaEventCreate(&device->base_event), index, error);
    GF_CUDA_TRY(cudaEventRecord(device->base_event, 0), index, error);
    GF_CUDA_TRY(cudaEventSynchronize(device->base_event), index, error);
    device->base_s = gf_now();
    gf_start_note(GF_START_CLOCK, begin_s);
    return GF_OK;
}

enum gf_status gf_cuda_device_starter(int index, struct gf_error *error)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    struct description description = {};
    pthread_t describer;
    device->begin_s = gf_now();
    GF_TRY(start_driver(index, error));
    description.index = index;
    const bool beside = !pthread_create(&describer, NULL, describe, &description);
    enum gf_status status = create_context(index, error);
    if (beside)
        pthread_join(describer, NULL);
    else
        describe(&description);
    if (!status && description.status) {
        status = description.status;
        *error = description.error;
    }
    GF_THEN(status, start_clock(index, device, error));
    if (status)
        return status;
    memcpy(device->name, description.info.name, sizeof device->name);
    device->numa_node = description.info.numa_node;
    device->architecture = description.info.code_architecture;
    device->end_s = gf_now();
    return GF_OK;
}

/* Finds and describes the CUDA devices, if possible without creating a context. */

/* An empty kernel. Its attributes show whether the driver runs machine code or compiles PTX, which
 * is the same for every kernel. */
__global__ void __launch_bounds__(32) probe_kernel()
{
}

/* Whether the driver's device nodes exist, on Linux, WSL 2 or Tegra. */
extern "C" bool gf_backend_cuda_node(const char **why_not)
{
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu",
                                        "/dev/nvgpu/igpu0/ctrl"};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        if (!access(nodes[i], F_OK))
            return true;
    }
    *why_not = "there is no NVIDIA GPU";
    return false;
}

/* look() stores here why no GPU can be used, or leaves NULL. It runs only once, because the search
 * for the driver takes milliseconds. The library is not closed, since it will probably be used. */
static const char *why_unlikely;

static void look(void)
{
    if (gf_backend_cuda_node(&why_unlikely) && !dlopen("libcuda.so.1", RTLD_LAZY))
        why_unlikely = "there is a GPU but no driver library (libcuda.so.1)";
}

extern "C" bool gf_backend_cuda_likely(const char **why_not)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    if (why_unlikely)
        *why_not = why_unlikely;
    return !why_unlikely;
}

extern "C" int gf_device_count(const char **why)
{
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (why)
        *why = code == cudaSuccess ? "" : cudaGetErrorString(code);
    return code == cudaSuccess ? gf_device_count_of(count) : 0;
}

/* The architectures for which the program holds machine code, such as 90; or 0 alone. */
static const int built_for[] = {GF_ARCHITECTURES};

/* Returns the architecture of the machine code that the driver would run: the latest for the
 * device's own major version that is not later than the device. Without such code the driver
 * compiles the PTX. */
static int code_architecture(int device)
{
    int latest = 0;
    for (size_t i = 0; i < sizeof built_for / sizeof *built_for; i++) {
        const int it = built_for[i];
        if (it / 10 == device / 10 && it <= device && it > latest)
            latest = it;
    }
    return latest ? latest : GF_PTX_ARCHITECTURE;
}

static enum gf_status ask(int index, struct gf_device_info *info, struct gf_error *error)
{
    const int ordinal = gf_device_ordinal(index);
    cudaDeviceProp properties;
    GF_CUDA_TRY(cudaGetDeviceProperties(&properties, ordinal), index, error);
    memset(info, 0, sizeof *info);
    info->index = index;
    snprintf(info->name, sizeof info->name, "%.63s", properties.name);
    info->major = properties.major;
    info->minor = properties.minor;
    info->code_architecture = code_architecture(10 * info->major + info->minor);
    info->multiprocessors = properties.multiProcessorCount;
    info->memory_bytes = properties.totalGlobalMem;
    info->l2_bytes = (uint64_t)properties.l2CacheSize;
    info->copy_engines = properties.asyncEngineCount;
    info->ecc = properties.ECCEnabled;
    GF_CUDA_TRY(cudaDeviceGetPCIBusId(info->pci_bus_id, sizeof info->pci_bus_id, ordinal), index,
                error);
    info->numa_node = gf_numa_node(info->pci_bus_id);
    int clock_khz = 0, bus_bits = 0;
    GF_CUDA_TRY(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, ordinal), index,
                error);
    GF_CUDA_TRY(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal), index,
                error);
    /* The bandwidth in bytes per second: two transfers per clock (Best Practices Guide 8.2.1). */
    info->memory_bandwidth = 2e3 * clock_khz * (bus_bits / 8);
    GF_CUDA_TRY(cudaDriverGetVersion(&info->driver_version), index, error);
    GF_CUDA_TRY(cudaRuntimeGetVersion(&info->runtime_version), index, error);
    return GF_OK;
}

static enum gf_status check_index(int index, struct gf_error *error)
{
    const int count = gf_device_count(NULL);
    return index >= 0 && index < count
               ? GF_OK
               : gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device (there are %d)",
                         index, count);
}

/* The description is kept, because it takes milliseconds and every worker of a batch asks for
 * it. */
extern "C" enum gf_status gf_device_describe(int index, struct gf_device_info *info,
                                             struct gf_error *error)
{
    GF_NOT_NULL(info, error);
    enum { KEPT = 64 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct gf_device_info kept[KEPT];
    GF_TRY(check_index(index, error));
    if (index >= KEPT)
        return ask(index, info, error);
    pthread_mutex_lock(&lock);
    const enum gf_status status =
        kept[index].multiprocessors ? GF_OK : ask(index, &kept[index], error);
    *info = kept[index];
    if (status)
        memset(&kept[index], 0, sizeof kept[index]);
    pthread_mutex_unlock(&lock);
    return status;
}

extern "C" enum gf_status gf_device_code(int index, int *architecture, bool *built_in,
                                         struct gf_error *error)
{
    GF_NOT_NULL(architecture, error);
    GF_NOT_NULL(built_in, error);
    struct cudaFuncAttributes attributes;
    GF_TRY(check_index(index, error));
    GF_CUDA_TRY(cudaSetDevice(gf_device_ordinal(index)), index, error);
    GF_CUDA_TRY(cudaFuncGetAttributes(&attributes, probe_kernel), index, error);
    *architecture = attributes.binaryVersion;
    *built_in = false;
    for (size_t i = 0; i < sizeof built_for / sizeof *built_for; i++)
        *built_in |= built_for[i] == attributes.binaryVersion;
    return GF_OK;
}
