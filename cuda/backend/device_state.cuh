/* The state that all backends of a device share: its start and its memory. */
#pragma once

#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>

#include "base/arena.h"
#include "gpufilter/status.h"

struct cuda_device {
    /* The start sets these members. They are constant afterwards. */
    char name[64];
    int numa_node;
    int architecture;       /* the architecture whose machine code the kernels run: 90 for sm_90 */
    cudaEvent_t base_event; /* recorded at the time base_s of the host's clock; NULL before the
                             * start */
    double base_s;
    double begin_s, end_s; /* begin and end of the successful start */
    struct gf_arena memory;
    struct gf_arena pinned; /* small pieces of host memory for copies */
    pthread_mutex_t lock;   /* guards the members below */
    int users;              /* number of backends */
    /* The driver's last answer about free memory: its time, the free bytes, and the bytes that the
     * arena held then. */
    double asked_s;
    uint64_t said_free, held;
};

/* Returns the state of a device. gf_device_start() has checked that the index is below
 * GF_STARTS_MOST. */
struct cuda_device *gf_cuda_device_state(int index);

/* Starts a device (engine/device_start.h). */
enum gf_status gf_cuda_device_starter(int index, struct gf_error *error);

/* A backend calls these functions when it opens and closes. When the last backend closes, unused
 * memory is freed. */
void gf_cuda_device_enter(int index);
void gf_cuda_device_leave(int index);
bool gf_cuda_device_is_shared(int index); /* whether several backends use the device */

/* Allocates a small piece of pinned memory. Returns NULL when out of memory. */
void *gf_cuda_pinned_piece(int index, size_t size);
void gf_cuda_pinned_piece_free(int index, void *piece);

/* Allocates memory of the current device, which must be device `index`. The memory is part of a few
 * large allocations, or with `own` an allocation of exactly that size. Returns NULL when out of
 * memory. Freed memory may be reused at once: the device must have finished all work on it. */
void *gf_cuda_memory_alloc(int index, size_t size, bool own);
void gf_cuda_memory_free(int index, void *memory, bool own);
/* Returns how many bytes can be allocated. The driver, which answers slowly, is asked seldom. */
uint64_t gf_cuda_memory_available(int index);
