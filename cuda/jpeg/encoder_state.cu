/* The encoder's buffers grow to the largest group. */
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cuda/common/check.cuh"
#include "cuda/jpeg/encoder_state.cuh"

enum gf_status gf_jpeg_reserve_device(struct gf_jpeg_encoder *encoder, uint64_t size,
                                      struct gf_error *error)
{
    if (size <= encoder->memory_size)
        return GF_OK;
    GF_CUDA_TRY(cudaFree(encoder->memory), encoder->device, error);
    encoder->memory = NULL;
    encoder->memory_size = 0;
    GF_CUDA_TRY(cudaMalloc(&encoder->memory, size), encoder->device, error);
    encoder->memory_size = size;
    return GF_OK;
}

enum gf_status gf_jpeg_reserve_scans(struct gf_jpeg_encoder *encoder, uint64_t size,
                                     struct gf_error *error)
{
    if (size <= encoder->scans_size)
        return GF_OK;
    const uint64_t larger = size + size / 4;
    unsigned char *scans;
    GF_CUDA_TRY(cudaMallocHost(&scans, larger), encoder->device, error);
    if (encoder->scans_used)
        memcpy(scans, encoder->scans, encoder->scans_used);
    cudaFreeHost(encoder->scans);
    encoder->scans = scans;
    encoder->scans_size = larger;
    return GF_OK;
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
