/* Large pinned memory of the host, which the device reads and writes by the host's addresses. */
#pragma once

#include <cuda_runtime.h>

struct pinned_memory {
    unsigned char *data; /* NULL: no memory is allocated */
    size_t size;
    bool registered; /* the memory is registered pages, not the driver's own memory */
};

/* Allocates memory with undefined contents, for the current device. If several threads provide the
 * pages and CUDA then registers them, it takes a part of the time of cudaMallocHost(). */
cudaError_t gf_cuda_pinned_alloc(size_t size, struct pinned_memory *memory);
void gf_cuda_pinned_free(struct pinned_memory *memory);
