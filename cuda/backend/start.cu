#include <string.h>

#include "base/device_ordinal.h"
#include "base/spans.h"
#include "base/start_times.h"
#include "cuda/backend/device_state.cuh"
#include "cuda/common/check.cuh"
#include "engine/backend.h"
#include "engine/device_start.h"

static bool started, exclusive; /* atomic state of the process */

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

/* The description of a device. It needs no context, so that it is made while the context is
 * created. */
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
    struct description description;
    pthread_t describer;
    device->begin_s = gf_now();
    GF_TRY(start_driver(index, error));
    memset(&description, 0, sizeof description);
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
    if (!status)
        status = start_clock(index, device, error);
    if (status)
        return status;
    memcpy(device->name, description.info.name, sizeof device->name);
    device->numa_node = description.info.numa_node;
    device->architecture = description.info.code_architecture;
    device->end_s = gf_now();
    return GF_OK;
}
