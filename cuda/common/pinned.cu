#include "cuda/common/pinned.cuh"

#include "base/pages.h"
#include "base/spans.h"
#include "base/start_times.h"

/* Memory of at least this size consists of huge pages, which several threads allocate. */
static const size_t REGISTERED_LEAST = (size_t)4 << 20;

/* Allocates and registers pages. Returns false if the system cannot do that. */
static bool register_pages(size_t size, struct pinned_memory *memory)
{
    int device = 0, same_address = 0;
    if (size < REGISTERED_LEAST || cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&same_address, cudaDevAttrCanUseHostPointerForRegisteredMem,
                               device) != cudaSuccess ||
        !same_address)
        return false;
    void *const pages = gf_pages_alloc(size);
    if (!pages)
        return false;
    gf_pages_populate(pages, size);
    if (cudaHostRegister(pages, size, cudaHostRegisterDefault) != cudaSuccess) {
        cudaGetLastError();
        gf_pages_free(pages, size);
        return false;
    }
    memory->data = (unsigned char *)pages;
    memory->size = size;
    memory->registered = true;
    return true;
}

cudaError_t gf_cuda_pinned_alloc(size_t size, struct pinned_memory *memory)
{
    const double begin_s = gf_now();
    cudaError_t code = cudaSuccess;
    memory->data = NULL;
    memory->size = 0;
    memory->registered = false;
    if (!register_pages(size, memory)) {
        code = cudaMallocHost((void **)&memory->data, size);
        memory->size = code == cudaSuccess ? size : 0;
    }
    gf_start_note(GF_START_PINNED, begin_s);
    return code;
}

void gf_cuda_pinned_free(struct pinned_memory *memory)
{
    if (memory->registered) {
        (void)cudaHostUnregister(memory->data);
        gf_pages_free(memory->data, memory->size);
    } else if (memory->data) {
        (void)cudaFreeHost(memory->data);
    }
    memory->data = NULL;
    memory->size = 0;
    memory->registered = false;
}
