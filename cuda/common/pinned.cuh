/* Large pinned memory of the host, which the device reads and writes by the host's addresses. */
#ifndef GF_CUDA_COMMON_PINNED_CUH
#define GF_CUDA_COMMON_PINNED_CUH

#include <cuda_runtime.h>

struct pinned_memory {
    unsigned char *data; /* NULL: there is none */
    size_t size;
    bool registered; /* pages registered with CUDA, not the driver's own memory */
};

/* Allocates memory with undefined contents, for the current device. Pages that several threads
 * provide and CUDA then registers take a part of the time of cudaMallocHost(). */
cudaError_t gf_cuda_pinned_alloc(size_t size, struct pinned_memory *memory);
void gf_cuda_pinned_free(struct pinned_memory *memory);

#endif
