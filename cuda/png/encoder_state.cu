/* The encoder's buffers grow to the largest group. */
#include "cuda/png/encoder_state.cuh"

#include <stdlib.h>

#include "base/fail.h"
#include "cuda/common/check.cuh"
#include "cuda/common/coder_memory.cuh"

enum gf_status gf_png_reserve_device(struct gf_png_encoder *encoder, uint64_t size,
                                     struct gf_error *error)
{
    if (size <= encoder->memory_size)
        return GF_OK;
    return grow_device(
        encoder->device, size,
        room_for(size, encoder->placed_count, encoder->expected, encoder->memory_most),
        &encoder->memory, &encoder->memory_size, error);
}

enum gf_status gf_png_reserve_chunks(struct gf_png_encoder *encoder, uint64_t size,
                                     struct gf_error *error)
{
    if (size <= encoder->chunks.size)
        return GF_OK;
    return grow_kept(
        encoder->device,
        room_for(size + size / 4, encoder->placed_count, encoder->expected, UINT64_MAX),
        encoder->chunks_used, &encoder->chunks, error);
}

void gf_png_free_group(struct gf_png_encoder *encoder)
{
    free(encoder->indices);
    free(encoder->parts);
    encoder->indices = NULL;
    encoder->parts = NULL;
    encoder->capacity = 0;
}

enum gf_status gf_png_reserve_group(struct gf_png_encoder *encoder, int count,
                                    struct gf_error *error)
{
    if (count <= encoder->capacity)
        return GF_OK;
    gf_png_free_group(encoder);
    encoder->indices = (int *)malloc((size_t)count * sizeof *encoder->indices);
    encoder->parts = (struct part *)malloc((size_t)count * sizeof *encoder->parts);
    if (!encoder->indices || !encoder->parts)
        return gf_fail_memory(error);
    encoder->capacity = count;
    return GF_OK;
}

enum gf_status gf_png_reserve_descriptions(struct gf_png_encoder *encoder, int pictures,
                                           unsigned stripes, struct gf_error *error)
{
    const uint64_t first = aligned((uint64_t)pictures * sizeof *encoder->pictures),
                   second = aligned((uint64_t)stripes * sizeof *encoder->stripes),
                   size = first + second + ((uint64_t)stripes + 1) * sizeof *encoder->starts;
    if (size > encoder->descriptions_size) {
        cudaFreeHost(encoder->descriptions);
        encoder->descriptions = NULL;
        encoder->descriptions_size = 0;
        GF_CUDA_TRY(cudaMallocHost(&encoder->descriptions, size + size / 2), encoder->device,
                    error);
        encoder->descriptions_size = size + size / 2;
    }
    encoder->pictures = (struct png_picture *)encoder->descriptions;
    encoder->stripes = (struct png_stripe *)(encoder->descriptions + first);
    encoder->starts = (uint64_t *)(encoder->descriptions + first + second);
    return GF_OK;
}
