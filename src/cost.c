#include "cost.h"

#include <stdio.h>

#include "backend.h"

enum gf_device_kind gf_cost_choose(const struct gf_batch_request *request, char *reason, size_t size)
{
    const char *why_not = "";
    if (!request->chain || !*request->chain)
        why_not = "there is nothing to filter";
    else if (gf_backend_cuda_likely(&why_not)) {
        snprintf(reason, size, "there is a GPU");
        return GF_DEVICE_CUDA;
    }
    snprintf(reason, size, "%s", why_not);
    return GF_DEVICE_CPU;
}
