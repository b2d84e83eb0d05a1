/* The encoder's buffers grow to the largest group. */
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/spans.h"
#include "base/start_times.h"
#include "cuda/common/check.cuh"
#include "cuda/jpeg/encoder_state.cuh"
#include "cuda/jpeg/room.cuh"

enum gf_status gf_jpeg_reserve_device(struct gf_jpeg_encoder *encoder, uint64_t size,
                                      struct gf_error *error)
{
    if (size <= encoder->memory_size)
        return GF_OK;
    const double begin_s = gf_now();
    const uint64_t roomy =
        room_for(size, encoder->placed, encoder->expected, encoder->memory_most);
    GF_CUDA_TRY(cudaFree(encoder->memory), encoder->device, error);
    encoder->memory = NULL;
    encoder->memory_size = 0;
    if (roomy > size && cudaMalloc(&encoder->memory, roomy) == cudaSuccess) {
        encoder->memory_size = roomy;
    } else {
        (void)cudaGetLastError();
        GF_CUDA_TRY(cudaMalloc(&encoder->memory, size), encoder->device, error);
        encoder->memory_size = size;
    }
    gf_start_note(GF_START_MEMORY, begin_s);
    return GF_OK;
}

enum gf_status gf_jpeg_reserve_scans(struct gf_jpeg_encoder *encoder, uint64_t size,
                                     struct gf_error *error)
{
    if (size <= encoder->scans.size)
        return GF_OK;
    const uint64_t larger = size + size / 4;
    struct pinned_memory scans;
    GF_CUDA_TRY(gf_cuda_pinned_alloc(
                    room_for(larger, encoder->placed, encoder->expected, UINT64_MAX), &scans),
                encoder->device, error);
    if (encoder->scans_used)
        memcpy(scans.data, encoder->scans.data, encoder->scans_used);
    gf_cuda_pinned_free(&encoder->scans);
    encoder->scans = scans;
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
