/* Replaces the CUDA backend in a build without CUDA. */
#include "base/fail.h"
#include "cuda/jpeg/coders.h"
#include "cuda/png/coders.h"
#include "cuda/yuv/coders.h"
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

/* Replaces the coders of cuda/jpeg, cuda/png and cuda/yuv in a build without CUDA. */

#ifndef GF_WITH_CUDA
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Defines the functions of the coder gf_NAMEr; creating it fails. */
#define CODER(NAME) \
    enum gf_status gf_##NAME##r_create(int device, uint64_t memory_most, \
                                       struct gf_##NAME##r **coder, struct gf_error *error) \
    { \
        return gf_fail(error, GF_ERROR_UNAVAILABLE, reason); \
    } \
    void gf_##NAME##r_destroy(struct gf_##NAME##r *coder) \
    { \
    } \
    void gf_##NAME##r_expect(struct gf_##NAME##r *coder, int pictures) \
    { \
    } \
    enum gf_status gf_##NAME##r_run(struct gf_##NAME##r *coder, \
                                    struct gf_##NAME##_picture *pictures, int count, \
                                    struct gf_error *error) \
    { \
        return gf_fail(error, GF_ERROR_UNAVAILABLE, reason); \
    } \
    void gf_##NAME##r_measure(struct gf_##NAME##r *coder, struct gf_##NAME##_steps *steps) \
    { \
    }

CODER(jpeg_decode)
CODER(jpeg_encode)
CODER(png_decode)
CODER(png_encode)
CODER(yuv_decode)
CODER(yuv_encode)

uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size, int reduction)
{
    return size;
}

uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling)
{
    return (uint64_t)format.width;
}

uint64_t gf_png_decoder_bytes(const struct gf_png_marked *header, size_t size)
{
    return size;
}

uint64_t gf_png_encoder_bytes(struct gf_format format)
{
    return (uint64_t)format.width;
}

bool gf_png_encoder_takes(struct gf_format format)
{
    return false;
}

#endif
