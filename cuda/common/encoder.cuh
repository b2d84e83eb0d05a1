/* Shared parts of encoders of pictures. They encode the pictures of a group in rounds, as many at a
 * time as memory allows. The results follow each other in pinned memory. */
#pragma once

#include <string.h>

#include "cuda/common/coder.cuh"
#include "cuda/common/pinned.cuh"

/* The most pictures of a round, limited by a grid's size. */
enum { ENCODER_PICTURES_MOST = 4096 };

enum part_state { WAITING, CHOSEN, ENDED };

/* A picture of the group. An encoder's own struct for a picture begins with it. */
struct encoder_part {
    enum part_state state;
    uint64_t offset, size; /* the position and size of the result on the host; size 0: none */
};

template <class Part> struct encoder : coder {
    struct pinned_memory coded; /* results */
    struct pinned_memory last;  /* those of the last run, if they are kept */
    uint64_t coded_used;
    /* The next members have room for the largest group. */
    int capacity;
    int *indices; /* the indices in the group of the round's pictures */
    Part *parts;
    int placed; /* the number of pictures that were chosen for the round */
};

template <class Part>
static enum gf_status begin_group(struct encoder<Part> *encoder, int count, struct gf_error *error)
{
    encoder->coded_used = 0;
    coder_begin_times(encoder);
    if (count <= encoder->capacity)
        return GF_OK;
    encoder->capacity = 0;
    free(encoder->indices);
    free(encoder->parts);
    encoder->indices = (int *)malloc((size_t)count * sizeof *encoder->indices);
    encoder->parts = (Part *)malloc((size_t)count * sizeof *encoder->parts);
    if (!encoder->indices || !encoder->parts)
        return gf_fail_memory(error);
    encoder->capacity = count;
    return GF_OK;
}

/* Keeps the results of the last run during this one. */
template <class Part> static void keep_results(struct encoder<Part> *encoder)
{
    const struct pinned_memory coded = encoder->coded;
    encoder->coded = encoder->last;
    encoder->last = coded;
}

template <class Part> static void clear_encoder(struct encoder<Part> *encoder)
{
    free(encoder->indices);
    free(encoder->parts);
    gf_cuda_pinned_free(&encoder->coded);
    gf_cuda_pinned_free(&encoder->last);
}

/* Chooses waiting pictures while memory suffices, and marks pictures that would never fit. A round
 * needs `fixed` bytes and bytes_of(part) bytes for each picture. Returns the bytes of the round; 0
 * if no picture is left. */
template <class Part, class Bytes>
static uint64_t choose_pictures(struct encoder<Part> *encoder, int count, uint64_t fixed,
                                const Bytes &bytes_of)
{
    uint64_t bytes = fixed;
    encoder->placed = 0;
    for (int i = 0; i < count; i++) {
        Part *const part = encoder->parts + i;
        const uint64_t own = bytes_of(part);
        if (part->state != WAITING)
            continue;
        if (fixed + own > encoder->memory_most)
            part->state = ENDED;
        else if (encoder->placed < ENCODER_PICTURES_MOST && bytes + own <= encoder->memory_most) {
            part->state = CHOSEN;
            bytes += own;
            encoder->placed++;
        }
    }
    return encoder->placed ? bytes : 0;
}

/* Makes sure that there is memory for `size` bytes of results in all, and keeps the existing
 * results. */
template <class Part>
static enum gf_status reserve_coded(struct encoder<Part> *encoder, uint64_t size,
                                    struct gf_error *error)
{
    struct pinned_memory larger;
    if (size <= encoder->coded.size)
        return GF_OK;
    const uint64_t roomy = coder_room(encoder, size + size / 4, encoder->placed, UINT64_MAX);
    GF_CUDA_TRY(gf_cuda_pinned_alloc(roomy, &larger), encoder->device, error);
    if (encoder->coded_used)
        memcpy(larger.data, encoder->coded.data, encoder->coded_used);
    gf_cuda_pinned_free(&encoder->coded);
    encoder->coded = larger;
    return GF_OK;
}
