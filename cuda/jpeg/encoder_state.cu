/* The encoder's buffers grow to the largest group. */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "base/fail.h"
#include "cuda/common/check.cuh"
#include "cuda/common/coder_memory.cuh"
#include "cuda/jpeg/encoder_state.cuh"

enum gf_status gf_jpeg_reserve_device(struct gf_jpeg_encoder *encoder, uint64_t size,
                                      struct gf_error *error)
{
    if (size <= encoder->memory_size)
        return GF_OK;
    return grow_device(encoder->device, size,
                       room_for(size, encoder->placed, encoder->expected, encoder->memory_most),
                       &encoder->memory, &encoder->memory_size, error);
}

enum gf_status gf_jpeg_reserve_scans(struct gf_jpeg_encoder *encoder, uint64_t size,
                                     struct gf_error *error)
{
    if (size <= encoder->scans.size)
        return GF_OK;
    return grow_kept(encoder->device,
                     room_for(size + size / 4, encoder->placed, encoder->expected, UINT64_MAX),
                     encoder->scans_used, &encoder->scans, error);
}

void gf_jpeg_free_group(struct gf_jpeg_encoder *encoder)
{
    cudaFreeHost(encoder->pictures);
    cudaFreeHost(encoder->sizes);
    free(encoder->indices);
    free(encoder->parts);
    encoder->pictures = NULL;
    encoder->sizes = NULL;
    encoder->indices = NULL;
    encoder->parts = NULL;
    encoder->capacity = 0;
}

enum gf_status gf_jpeg_reserve_group(struct gf_jpeg_encoder *encoder, int count,
                                     struct gf_error *error)
{
    if (count <= encoder->capacity)
        return GF_OK;
    gf_jpeg_free_group(encoder);
    const size_t pictures = (size_t)count;
    GF_CUDA_TRY(cudaMallocHost(&encoder->pictures, pictures * sizeof *encoder->pictures),
                encoder->device, error);
    GF_CUDA_TRY(cudaMallocHost(&encoder->sizes, pictures * sizeof *encoder->sizes), encoder->device,
                error);
    encoder->indices = (int *)malloc(pictures * sizeof *encoder->indices);
    encoder->parts = (struct part *)malloc(pictures * sizeof *encoder->parts);
    if (!encoder->indices || !encoder->parts)
        return gf_fail_memory(error);
    encoder->capacity = count;
    return GF_OK;
}

enum gf_status gf_jpeg_make_tables(struct gf_jpeg_encoder *encoder, int quality,
                                   struct gf_error *error)
{
    if (encoder->made[quality])
        return GF_OK;
    struct gf_jpeg_tables from;
    struct encode_tables tables;
    if (!gf_jpeg_tables_make(quality, &from))
        return gf_fail_memory(error);
    gf_jpeg_encode_tables(&from, &tables);
    GF_CUDA_TRY(cudaMemcpyAsync(encoder->tables + quality, &tables, sizeof tables,
                                cudaMemcpyHostToDevice, encoder->stream),
                encoder->device, error);
    GF_CUDA_TRY(cudaStreamSynchronize(encoder->stream), encoder->device, error);
    encoder->made[quality] = true;
    return GF_OK;
}
