/* The state of struct gf_resident, for resident.c and resident_batch.c. */
#pragma once

#include <stdint.h>

#include "base/fail.h"
#include "engine/pass.h"
#include "engine/resident.h"

/* The formats of pictures that take turns in a program are few. */
enum { KEPT = 8, VECTOR = 16 };

struct gf_resident_memory {
    unsigned char *data;
    size_t bytes;
};

struct gf_ready_plan {
    struct gf_plan plan;
    struct gf_schedule schedule;
    struct gf_worker worker;
    struct gf_pass *pass;        /* [segment_count] */
    struct gf_placement copy[2]; /* of an input and of an output whose rows are not aligned */
    size_t worker_bytes;
    struct gf_histogram histogram;
    struct gf_resident_memory stacks; /* of pictures between stages, for batches */
    uint64_t turn;                    /* of the last call */
};

struct gf_resident {
    struct gf_backend *backend;
    const struct gf_options *options;
    struct gf_spans spans; /* always off */
    struct gf_lane *lane;
    struct gf_ready_plan *kept[KEPT];
    uint64_t turns;
};

/* Allocates device memory, unless *status is a failure already. */
static inline void *gf_resident_take(const struct gf_resident *resident, size_t bytes,
                                     enum gf_status *status, struct gf_error *error)
{
    void *const memory =
        bytes && !*status ? resident->backend->calls->alloc(resident->backend, bytes) : NULL;
    if (bytes && !*status && !memory)
        *status = gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                          "out of device memory for a buffer of %zu kB", bytes >> 10);
    return memory;
}

static inline void gf_resident_give(const struct gf_resident *resident,
                                    struct gf_resident_memory *memory)
{
    if (memory->data)
        resident->backend->calls->release(resident->backend, memory->data, memory->bytes);
    *memory = (struct gf_resident_memory){0};
}

/* Whether kernels can read and write the rows where they are. */
static inline bool gf_resident_is_aligned(const struct gf_image *image)
{
    return ((uintptr_t)image->data | image->pitch) % VECTOR == 0;
}

/* Queues one picture on the lane, which follows a stream. */
enum gf_status gf_resident_run_one(struct gf_resident *resident, struct gf_ready_plan *ready,
                                   const struct gf_image *in, const struct gf_image *out,
                                   struct gf_error *error) GF_CHECKED;
