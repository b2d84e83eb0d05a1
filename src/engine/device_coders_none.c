/* Replaces the coders of cuda/jpeg and cuda/png in a build without CUDA. */
#include "cuda/jpeg/decoder.h"
#include "cuda/jpeg/encoder.h"
#include "cuda/png/decoder.h"
#include "cuda/png/encoder.h"

#ifndef GF_WITH_CUDA

static const char reason[] = "this program was built without CUDA";

enum gf_status gf_jpeg_decoder_create(int device, uint64_t memory_most,
                                      struct gf_jpeg_decoder **decoder, struct gf_error *error)
{
    (void)device;
    (void)memory_most;
    (void)decoder;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

void gf_jpeg_decoder_destroy(struct gf_jpeg_decoder *decoder)
{
    (void)decoder;
}

void gf_jpeg_decoder_expect(struct gf_jpeg_decoder *decoder, int pictures)
{
    (void)decoder;
    (void)pictures;
}

enum gf_status gf_jpeg_decoder_run(struct gf_jpeg_decoder *decoder,
                                   struct gf_jpeg_decode_picture *pictures, int count,
                                   struct gf_error *error)
{
    (void)decoder;
    (void)pictures;
    (void)count;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size)
{
    (void)header;
    return size;
}

enum gf_status gf_jpeg_encoder_create(int device, uint64_t memory_most,
                                      struct gf_jpeg_encoder **encoder, struct gf_error *error)
{
    (void)device;
    (void)memory_most;
    (void)encoder;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

void gf_jpeg_encoder_destroy(struct gf_jpeg_encoder *encoder)
{
    (void)encoder;
}

void gf_jpeg_encoder_expect(struct gf_jpeg_encoder *encoder, int pictures)
{
    (void)encoder;
    (void)pictures;
}

enum gf_status gf_jpeg_encoder_run(struct gf_jpeg_encoder *encoder,
                                   struct gf_jpeg_encode_picture *pictures, int count,
                                   struct gf_error *error)
{
    (void)encoder;
    (void)pictures;
    (void)count;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling)
{
    (void)subsampling;
    return (uint64_t)format.width;
}

enum gf_status gf_png_decoder_create(int device, uint64_t memory_most,
                                     struct gf_png_decoder **decoder, struct gf_error *error)
{
    (void)device;
    (void)memory_most;
    (void)decoder;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

void gf_png_decoder_destroy(struct gf_png_decoder *decoder)
{
    (void)decoder;
}

void gf_png_decoder_expect(struct gf_png_decoder *decoder, int pictures)
{
    (void)decoder;
    (void)pictures;
}

enum gf_status gf_png_decoder_run(struct gf_png_decoder *decoder,
                                  struct gf_png_decode_picture *pictures, int count,
                                  struct gf_error *error)
{
    (void)decoder;
    (void)pictures;
    (void)count;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

void gf_png_decoder_measure(struct gf_png_decoder *decoder, struct gf_png_decode_steps *steps)
{
    (void)decoder;
    (void)steps;
}

uint64_t gf_png_decoder_bytes(const struct gf_png_marked *header, size_t size)
{
    (void)header;
    return size;
}

enum gf_status gf_png_encoder_create(int device, uint64_t memory_most,
                                     struct gf_png_encoder **encoder, struct gf_error *error)
{
    (void)device;
    (void)memory_most;
    (void)encoder;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

void gf_png_encoder_destroy(struct gf_png_encoder *encoder)
{
    (void)encoder;
}

void gf_png_encoder_expect(struct gf_png_encoder *encoder, int pictures)
{
    (void)encoder;
    (void)pictures;
}

enum gf_status gf_png_encoder_run(struct gf_png_encoder *encoder,
                                  struct gf_png_encode_picture *pictures, int count,
                                  struct gf_error *error)
{
    (void)encoder;
    (void)pictures;
    (void)count;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, reason);
}

uint64_t gf_png_encoder_bytes(struct gf_format format)
{
    return (uint64_t)format.width;
}

bool gf_png_encoder_takes(struct gf_format format)
{
    (void)format;
    return false;
}

void gf_png_encoder_measure(struct gf_png_encoder *encoder, struct gf_png_encode_steps *steps)
{
    (void)encoder;
    (void)steps;
}

#endif
