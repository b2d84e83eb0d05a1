/* The buffers, lanes and threads that a pipeline keeps from picture to picture: mapping memory,
 * pinning it and cudaMalloc take as long as a small picture. One thread uses a pool at a time. */
#pragma once

#include "engine/backend.h"
#include "engine/thread_pool.h"

struct gf_buffer;

struct gf_buffer_pool {
    struct gf_backend *backend; /* NULL: the pool is closed */
    struct gf_buffer *buffer;
    int count;
    struct gf_lane **lane;
    int lanes; /* the number of lanes that are open */
    struct gf_thread_pool threads;
};

void gf_buffer_pool_open(struct gf_buffer_pool *buffers, struct gf_backend *backend);
/* Frees everything. Call it while the backend is still open. */
void gf_buffer_pool_close(struct gf_buffer_pool *buffers);

/* Takes a buffer of at least `size` bytes with undefined contents, in host memory or in the
 * backend's own memory. Returns NULL if no memory is left. */
void *gf_buffer_pool_take_host(struct gf_buffer_pool *buffers, size_t size);
void *gf_buffer_pool_take(struct gf_buffer_pool *buffers, size_t size);
void gf_buffer_pool_return(struct gf_buffer_pool *buffers, const void *data);
/* Pins a buffer of host memory, unless it is pinned. The backend must be ready. */
void gf_buffer_pool_pin(struct gf_buffer_pool *buffers, const void *data);
/* Returns how much memory gf_buffer_pool_take() could give. The backend is asked only if the free
 * buffers have less than `enough`. */
uint64_t gf_buffer_pool_free_bytes(const struct gf_buffer_pool *buffers, uint64_t enough);

/* Returns the bytes of the backend's own memory that the pool has. */
uint64_t gf_buffer_pool_held_bytes(const struct gf_buffer_pool *buffers);

/* Returns the lane of that index. The first call opens it. */
enum gf_status gf_buffer_pool_lane(struct gf_buffer_pool *buffers, int index,
                                   struct gf_spans *spans, struct gf_lane **lane,
                                   struct gf_error *error) GF_CHECKED;

/* Frees the buffers that were not used since the last call, so that the pool does not keep buffers
 * of earlier, larger pictures. It is called between two pictures. */
void gf_buffer_pool_trim(struct gf_buffer_pool *buffers);
/* Frees all buffers that are not taken. */
void gf_buffer_pool_clear(struct gf_buffer_pool *buffers);
