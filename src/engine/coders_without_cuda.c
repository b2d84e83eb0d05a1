/* Stands in for the coders of cuda/jpeg, cuda/png, cuda/yuv and cuda/measure in a build without
 * CUDA, and for that of cuda/heic also in one without the headers of ffnvcodec. Tests link coders
 * of their own instead of this file. */
#include "base/fail.h"
#include "cuda/heic/coders.h"
#include "cuda/jpeg/coders.h"
#include "cuda/measure/coders.h"
#include "cuda/png/coders.h"
#include "cuda/yuv/coders.h"

#ifndef GF_WITH_NVDEC
#pragma GCC diagnostic ignored "-Wunused-parameter"

#ifdef GF_WITH_CUDA
static const char reason[] = "this program was built without the headers of ffnvcodec";
#else
static const char reason[] = "this program was built without CUDA";
#endif

/* Defines the functions of the coder struct gf_NAMEr; creating one fails. */
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

CODER(heic_decode)

uint64_t gf_heic_decoder_bytes(const struct gf_heif_coded *coded)
{
    return (uint64_t)coded->width;
}

bool gf_heic_decoder_present(void)
{
    return false;
}

bool gf_heic_decoder_takes_av1(const struct gf_heif_coded *coded)
{
    return false;
}

int gf_heic_decoder_engines(int device)
{
    return 0;
}

#ifndef GF_WITH_CUDA
CODER(jpeg_decode)
CODER(jpeg_encode)
CODER(png_decode)
CODER(png_encode)
CODER(yuv_decode)
CODER(yuv_encode)
CODER(measure)

uint64_t gf_jpeg_tiles_bytes(const struct gf_jpeg_decode_picture *picture)
{
    return picture->size;
}

uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size, int reduction)
{
    return size;
}

uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling,
                               bool perceptual)
{
    return (uint64_t)format.width;
}

uint64_t gf_png_decoder_bytes(const struct gf_png_file *header, size_t size)
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
#endif
