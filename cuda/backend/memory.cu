/* Manages the memory of a device, which all its backends share. */
#include <stdlib.h>

#include "base/spans.h"
#include "base/start_times.h"
#include "cuda/backend/device_state.cuh"
#include "engine/device_start.h"

/* The sizes of allocations. cudaMalloc of megabytes takes a large part of a millisecond, and
 * several calls wait for each other. */
enum {
    CHUNK_LEAST = 32 << 20,
    CHUNK_MOST = 1 << 30,
    PINNED_LEAST = 256 << 10,
    PINNED_MOST = 4 << 20
};

static void *take(void *context, size_t size)
{
    void *memory = NULL;
    const double begin_s = gf_now();
    (void)context;
    if (cudaMalloc(&memory, size) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    gf_start_note(GF_START_MEMORY, begin_s);
    return memory;
}

static void give(void *context, void *memory)
{
    const double begin_s = gf_now();
    (void)context;
    cudaFree(memory);
    gf_start_note(GF_START_MEMORY, begin_s);
}

static void *take_pinned(void *context, size_t size)
{
    void *memory = NULL;
    const double begin_s = gf_now();
    (void)context;
    if (cudaMallocHost(&memory, size) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    gf_start_note(GF_START_PINNED, begin_s);
    return memory;
}

static void give_pinned(void *context, void *memory)
{
    (void)context;
    cudaFreeHost(memory);
}

/* Whether a tool that checks for accesses beyond a buffer is running. It notices them only if each
 * buffer is an allocation of its own. */
static bool is_watched(void)
{
#ifdef GF_EMULATED
    return true;
#else
    return getenv("CUDA_INJECTION64_PATH") || getenv("LD_PRELOAD");
#endif
}

static struct cuda_device devices[GF_STARTS_MOST];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_devices(void)
{
    const bool watched = is_watched();
    for (int i = 0; i < GF_STARTS_MOST; i++) {
        struct gf_arena *const memory = &devices[i].memory, *const pinned = &devices[i].pinned;
        memory->take = take;
        memory->give = give;
        memory->least = watched ? 0 : CHUNK_LEAST;
        memory->most = watched ? 0 : CHUNK_MOST;
        pinned->take = take_pinned;
        pinned->give = give_pinned;
        pinned->least = watched ? 0 : PINNED_LEAST;
        pinned->most = watched ? 0 : PINNED_MOST;
        pthread_mutex_init(&memory->lock, NULL);
        pthread_mutex_init(&pinned->lock, NULL);
        pthread_mutex_init(&devices[i].lock, NULL);
    }
}

struct cuda_device *gf_cuda_device_state(int index)
{
    pthread_once(&once, open_devices);
    return &devices[index];
}

void gf_cuda_device_enter(int index)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    pthread_mutex_lock(&device->lock);
    device->users++;
    pthread_mutex_unlock(&device->lock);
}

void gf_cuda_device_leave(int index)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    pthread_mutex_lock(&device->lock);
    const bool last = !--device->users;
    pthread_mutex_unlock(&device->lock);
    if (last) {
        gf_arena_trim(&device->memory);
        gf_arena_trim(&device->pinned);
    }
}

bool gf_cuda_device_is_shared(int index)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    pthread_mutex_lock(&device->lock);
    const bool shared = device->users > 1;
    pthread_mutex_unlock(&device->lock);
    return shared;
}

void *gf_cuda_pinned_piece(int index, size_t size)
{
    return gf_arena_alloc(&gf_cuda_device_state(index)->pinned, size);
}

void gf_cuda_pinned_piece_free(int index, void *piece)
{
    gf_arena_free(&gf_cuda_device_state(index)->pinned, piece);
}

void *gf_cuda_memory_alloc(int index, size_t size, bool own)
{
    return own ? take(NULL, size) : gf_arena_alloc(&gf_cuda_device_state(index)->memory, size);
}

void gf_cuda_memory_free(int index, void *memory, bool own)
{
    if (!own)
        gf_arena_free(&gf_cuda_device_state(index)->memory, memory);
    else if (memory)
        give(NULL, memory);
}

/* Returns the free memory. A recent answer of the driver is corrected by the memory that the arena
 * has allocated since. */
uint64_t gf_cuda_memory_available(int index)
{
    const double old_s = 0.1;
    struct cuda_device *const device = gf_cuda_device_state(index);
    size_t held, available = 0, total = 0;
    pthread_mutex_lock(&device->lock);
    const uint64_t idle = gf_arena_idle(&device->memory, &held);
    const double now_s = gf_now();
    if (now_s - device->asked_s > old_s) {
        if (cudaMemGetInfo(&available, &total) != cudaSuccess) {
            cudaGetLastError();
            available = 0;
        }
        available -= available / 32; /* the driver needs some memory itself */
        device->said_free = available;
        device->held = held;
        device->asked_s = gf_now();
    }
    const uint64_t before = device->said_free + device->held;
    pthread_mutex_unlock(&device->lock);
    return (before > held ? before - held : 0) + idle;
}
