/* Shared parts of decoders and encoders of pictures: a stream, memory that grows, and times. A
 * coder begins with a struct coder. A coder of zeros is not open. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "cuda/common/check.cuh"
#include "cuda/common/coder.h"

enum { CODER_MARKS_MOST = 7 };

struct coder {
    int device;
    uint64_t memory_most;
    int expected; /* the number of pictures that will come together */
    cudaStream_t stream;
    cudaEvent_t ended; /* waiting for this event does not keep the processor busy */
    int marks;
    cudaEvent_t mark[CODER_MARKS_MOST];
    float *times;          /* marks - 1 times, each from a mark to the next; NULL: times are not
                            * measured */
    unsigned char *memory; /* device memory */
    unsigned char *pinned; /* pinned host memory from the driver, for copies */
    uint64_t memory_bytes, pinned_bytes;
};

/* marks: the number of points in time that a run marks. coder_close() also accepts a coder whose
 * opening failed. */
enum gf_status coder_open(struct coder *coder, int device, uint64_t memory_most, int marks,
                          struct gf_error *error);
void coder_close(struct coder *coder);

/* Defines the functions of coder.h except run(). prepare(coder, error) creates the members of this
 * kind of coder other than the struct coder, and clear(coder) frees them. struct gf_NAME_steps has
 * a float for each step, which lasts from one mark to the next. */
#define DEFINE_CODER(NAME, prepare, clear) \
    extern "C" enum gf_status gf_##NAME##r_create( \
        int device, uint64_t memory_most, struct gf_##NAME##r **coder, struct gf_error *error) \
    { \
        const int marks = sizeof(struct gf_##NAME##_steps) / sizeof(float) + 1; \
        static_assert(marks <= CODER_MARKS_MOST, "a coder holds all marks"); \
        struct gf_##NAME##r *const made = (struct gf_##NAME##r *)calloc(1, sizeof *made); \
        if (!made) \
            return gf_fail_memory(error); \
        enum gf_status status = coder_open(made, device, memory_most, marks, error); \
        if (!status) \
            status = prepare(made, error); \
        if (status) \
            gf_##NAME##r_destroy(made); \
        else \
            *coder = made; \
        return status; \
    } \
    extern "C" void gf_##NAME##r_destroy(struct gf_##NAME##r *coder) \
    { \
        if (!coder) \
            return; \
        clear(coder); \
        coder_close(coder); \
        free(coder); \
    } \
    extern "C" void gf_##NAME##r_expect(struct gf_##NAME##r *coder, int pictures) \
    { \
        coder->expected = pictures; \
    } \
    extern "C" void gf_##NAME##r_measure(struct gf_##NAME##r *coder, \
                                         struct gf_##NAME##_steps *steps) \
    { \
        coder->times = (float *)steps; \
    }

/* Returns from the calling function, a coder's with an `error`, when the call fails. */
#define CODER_TRY(coder, call) GF_CUDA_TRY(call, (coder)->device, error)

/* Waits until all launched work has ended. */
cudaError_t coder_wait(const struct coder *coder);

/* The copies of a group's files to the device, which CUDA 13 makes by one call: the calls of many
 * threads wait for one another in the driver. */
enum { CODER_COPIES_MOST = 32 };
struct coder_copies {
    void *to[CODER_COPIES_MOST];
    const void *from[CODER_COPIES_MOST];
    size_t size[CODER_COPIES_MOST];
    int count;
};

/* Adds a copy; all copies are queued when there is no room for another one. */
cudaError_t coder_copy(const struct coder *coder, struct coder_copies *copies, void *to,
                       const void *from, size_t size);
/* Queues the copies that have been added. */
cudaError_t coder_queue_copies(const struct coder *coder, struct coder_copies *copies);

/* Marks the point in the stream where a step ends, if times are measured. coder_add_times() adds
 * the steps' milliseconds to the times. */
cudaError_t coder_mark(const struct coder *coder, int i, cudaStream_t stream);
void coder_begin_times(const struct coder *coder);
enum gf_status coder_add_times(const struct coder *coder, struct gf_error *error);

/* Returns the bytes to allocate for the expected pictures if `count` pictures need `bytes`: at
 * least `bytes`, and otherwise at most `most`. Memory that grew picture by picture would wait for
 * the device each time. */
uint64_t coder_room(const struct coder *coder, uint64_t bytes, int count, uint64_t most);

/* Each of these functions makes sure that there is memory for at least `bytes` bytes, whose
 * contents are lost, and for the expected pictures, if `count` pictures need `bytes`. spare:
 * additional bytes if the memory has to grow. */
enum gf_status coder_reserve(struct coder *coder, uint64_t bytes, int count,
                             struct gf_error *error);
enum gf_status coder_reserve_pinned(struct coder *coder, uint64_t bytes, uint64_t spare, int count,
                                    struct gf_error *error);

enum { CODER_ALIGNMENT = 256 };

static inline uint64_t aligned(uint64_t size)
{
    return (size + CODER_ALIGNMENT - 1) / CODER_ALIGNMENT * CODER_ALIGNMENT;
}

/* Memory that is divided into pieces. */
struct arena {
    unsigned char *memory; /* NULL: the pieces are only counted */
    uint64_t used;
};

template <class T> static void take(struct arena *arena, T *&array, uint64_t count)
{
    array = (T *)(arena->memory + arena->used);
    arena->used += aligned(count * sizeof(T));
}
