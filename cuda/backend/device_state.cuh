/* What all backends of a device share: its start and its memory. */
#ifndef GF_CUDA_BACKEND_DEVICE_STATE_CUH
#define GF_CUDA_BACKEND_DEVICE_STATE_CUH

#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>

#include "base/arena.h"
#include "gpufilter/status.h"

struct cuda_device {
    /* Set by the start, and constant from then on. */
    char name[64];
    int numa_node;
    int architecture;       /* the architecture whose machine code the kernels run: 90 for sm_90 */
    cudaEvent_t base_event; /* recorded at base_s of the host's clock; NULL until the start */
    double base_s;
    double begin_s, end_s; /* of the start that succeeded */
    struct gf_arena memory;
    struct gf_arena pinned; /* small pieces of host memory, which the device copies to and from */
    pthread_mutex_t lock;   /* guards what follows */
    int users;              /* backends */
    /* How much memory the driver last said was free, when that was, and how much the arena held
     * then. */
    double asked_s;
    uint64_t said_free, held;
};

/* The index is below GF_STARTS_MOST, as gf_device_start() has checked. */
struct cuda_device *gf_cuda_device_state(int index);

/* The starter of every device (engine/device_start.h). */
enum gf_status gf_cuda_device_starter(int index, struct gf_error *error);

/* Note that a backend comes or goes; with the last one goes the memory that is not in use. */
void gf_cuda_device_enter(int index);
void gf_cuda_device_leave(int index);
bool gf_cuda_device_is_shared(int index); /* by several */

/* Small pieces of pinned memory; NULL where none is left. */
void *gf_cuda_pinned_piece(int index, size_t size);
void gf_cuda_pinned_piece_free(int index, void *piece);

/* Memory of the current device, which must be device `index`, cut from a few large allocations;
 * `own`: from an allocation of its own, exactly as large. NULL where no memory is left. Freed
 * memory may be used again at once: the device must have ended all work on it. */
void *gf_cuda_memory_alloc(int index, size_t size, bool own);
void gf_cuda_memory_free(int index, void *memory, bool own);
/* How many bytes can be allocated. The driver, which is slow to answer, is asked seldom. */
uint64_t gf_cuda_memory_available(int index);

#endif
