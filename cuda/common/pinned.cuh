/* Large pinned memory of the host, which the device reads and writes by the host's addresses. */
#ifndef GF_CUDA_COMMON_PINNED_CUH
#define GF_CUDA_COMMON_PINNED_CUH

#include <cuda_runtime.h>

struct pinned_memory {
    unsigned char *data; /* NULL: there is none */
    size_t size;
    bool registered; /* pages of the kernel; else the driver's own */
};

/* Undefined contents, for the current device. Pages that are provided by several threads and then
 * registered are there in a part of cudaMallocHost()'s time. */
cudaError_t gf_cuda_pinned_alloc(size_t size, struct pinned_memory *memory);
void gf_cuda_pinned_free(struct pinned_memory *memory);

#endif
