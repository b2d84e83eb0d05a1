/* Stands in for the CUDA backend in a build without CUDA: each function fails or says that there is
 * no device. */
#include "base/fail.h"
#include "engine/backend.h"

#ifndef GF_WITH_CUDA
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const char reason[] = "this program was built without CUDA";

bool gf_backend_cuda_node(const char **why_not)
{
    *why_not = reason;
    return false;
}

bool gf_backend_cuda_likely(const char **why_not)
{
    *why_not = reason;
    return false;
}

void gf_backend_cuda_begin(int device)
{
}

bool gf_backend_cuda_started(bool *shared)
{
    *shared = true;
    return false;
}

enum gf_status gf_backend_cuda_open(const struct gf_cuda_options *options, struct gf_spans *spans,
                                    struct gf_backend **backend, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "options.device=cuda: %s", reason);
}

int gf_device_count(const char **why)
{
    if (why)
        *why = reason;
    return 0;
}

enum gf_status gf_device_describe(int index, struct gf_device_info *info, struct gf_error *error)
{
    GF_NOT_NULL(info, error);
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: %s", index, reason);
}

enum gf_status gf_device_code(int index, int *architecture, bool *built_in, struct gf_error *error)
{
    GF_NOT_NULL(architecture, error);
    GF_NOT_NULL(built_in, error);
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: %s", index, reason);
}

#endif
