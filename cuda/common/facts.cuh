/* What never changes on a device while the process runs. CUDA is asked once, since its answer takes
 * a part of a microsecond, and setting an attribute of a kernel waits for copies on the device. All
 * functions are about the current device; any thread may call them. */
#pragma once

#include <cuda_runtime.h>

cudaError_t gf_cuda_number(enum cudaDeviceAttr attribute, int *value);

/* Finds how many blocks of the kernel a multiprocessor holds at a time. */
cudaError_t gf_cuda_blocks_each(const void *kernel, int threads, size_t shared_bytes, int *blocks);

/* Lets the kernel's launches have that many bytes of dynamic shared memory, or more if another
 * thread needs them for the same kernel. */
cudaError_t gf_cuda_allow_shared(const void *kernel, int bytes);

template <class Kernel> static cudaError_t allow_shared(Kernel *kernel, int bytes)
{
    return gf_cuda_allow_shared((const void *)kernel, bytes);
}
