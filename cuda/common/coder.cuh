/* What decoders and encoders of pictures on the device share: pinned memory, a stream, memory that
 * grows, times, and the rounds of an encoder. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cuda/common/check.cuh"
#include "cuda/common/coder.h"

/* Large pinned memory of the host, which the device reads and writes by the host's addresses. */

struct pinned_memory {
    unsigned char *data; /* NULL: no memory is allocated */
    size_t size;
    bool registered; /* the memory is registered pages, not the driver's own memory */
};

/* Allocates memory with undefined contents, for the current device. If several threads provide the
 * pages and CUDA then registers them, it takes a part of the time of cudaMallocHost(). */
cudaError_t gf_cuda_pinned_alloc(size_t size, struct pinned_memory *memory);
void gf_cuda_pinned_free(struct pinned_memory *memory);

/* Shared parts of decoders and encoders of pictures: a stream, memory that grows, and times. A
 * coder begins with a struct coder. A coder of zeros is not open. */

enum { CODER_MARKS_MOST = 7 };

struct coder {
    int device;
    uint64_t memory_most;
    int expected; /* the number of pictures that will come together, from expect(); 0: unknown */
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
        GF_NEW(struct gf_##NAME##r, made, error); \
        enum gf_status status = coder_open(made, device, memory_most, marks, error); \
        GF_THEN(status, prepare(made, error)); \
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
        if (pictures > 1) \
            pin_ahead(coder); \
    } \
    extern "C" void gf_##NAME##r_measure(struct gf_##NAME##r *coder, \
                                         struct gf_##NAME##_steps *steps) \
    { \
        coder->times = (float *)steps; \
    }

/* For coders that have no other members to create and to free. */
static inline enum gf_status prepare_nothing(struct coder *, struct gf_error *)
{
    return GF_OK;
}

static inline void clear_nothing(struct coder *)
{
}

/* Returns an error from the calling function, which must have a parameter `error`, if the CUDA call
 * fails. */
#define CODER_TRY(coder, call) GF_CUDA_TRY(call, (coder)->device, error)

/* Waits until all launched work has ended. */
cudaError_t coder_wait(const struct coder *coder);

/* The copies of a group's files to the device. CUDA 13 makes all of them by one call, because calls
 * of many threads wait for one another in the driver. */
enum { CODER_COPIES_MOST = 32 };
struct coder_copies {
    void *to[CODER_COPIES_MOST];
    const void *from[CODER_COPIES_MOST];
    size_t size[CODER_COPIES_MOST];
    int count;
};

/* Adds a copy of `size` bytes. If there is no room for another one, queues all that were added. */
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

/* Pins memory for the descriptions of several pictures, before the device has work for which that
 * would wait. If it fails, the next run tries again and reports it. */
static inline void pin_ahead(struct coder *coder)
{
    enum { DESCRIBED_LEAST = 1 << 20 };
    (void)!coder_reserve_pinned(coder, DESCRIBED_LEAST, 0, 0, NULL);
}

enum { CODER_ALIGNMENT = 256 };

static inline uint64_t aligned(uint64_t size)
{
    return (size + CODER_ALIGNMENT - 1) / CODER_ALIGNMENT * CODER_ALIGNMENT;
}

/* Memory from which take() cuts aligned pieces. */
struct arena {
    unsigned char *memory; /* NULL: the pieces are only counted */
    uint64_t used;
};

template <class T> static void take(struct arena *arena, T *&array, uint64_t count)
{
    array = (T *)(arena->memory + arena->used);
    arena->used += aligned(count * sizeof(T));
}

/* Shared parts of encoders of pictures. They encode the pictures of a group in rounds, as many at a
 * time as memory allows. The results follow each other in pinned memory. */

/* The most pictures of a round, limited by a grid's size. */
enum { ENCODER_PICTURES_MOST = 4096 };

enum part_state { WAITING, CHOSEN, ENDED };

/* A picture of the group. The struct that an encoder has for a picture begins with this one. */
struct encoder_part {
    enum part_state state;
    uint64_t offset, size; /* the position and size of the result on the host; size 0: none */
};

template <class Part> struct encoder : coder {
    struct pinned_memory coded; /* the encoded pictures of this run */
    /* The encoded pictures of the last run, if keep_results() was called. */
    struct pinned_memory last;
    uint64_t coded_used;
    /* The next members have room for the largest group. */
    int capacity;
    int *indices; /* for each picture of the round, its index in the group */
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
    GF_ALLOCATED(encoder->indices && encoder->parts, error);
    encoder->capacity = count;
    return GF_OK;
}

/* Pins memory for the results of several pictures of this run and of the last one. */
template <class Part> static void pin_ahead(struct encoder<Part> *encoder)
{
    enum { CODED_LEAST = 4 << 20 };
    pin_ahead((struct coder *)encoder);
    if (!encoder->coded.data)
        (void)gf_cuda_pinned_alloc(CODED_LEAST, &encoder->coded);
    if (!encoder->last.data)
        (void)gf_cuda_pinned_alloc(CODED_LEAST, &encoder->last);
    (void)cudaGetLastError(); /* the next launch must not report a failure of these */
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
