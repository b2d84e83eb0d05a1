#include "engine/engine.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/memory/grow.h"

struct gf_buffer {
    void *data; /* NULL: an unused entry of the table */
    size_t size;
    bool on_host, pinned, taken;
    bool used; /* the buffer was taken since gf_buffer_pool_trim() was last called */
};

void gf_buffer_pool_open(struct gf_buffer_pool *pool, struct gf_backend *backend)
{
    *pool = (struct gf_buffer_pool){.backend = backend};
}

static void drop(struct gf_buffer_pool *pool, struct gf_buffer *buffer)
{
    const struct gf_backend_calls *const calls = pool->backend->calls;
    if (buffer->pinned)
        calls->unpin(pool->backend, buffer->data);
    if (buffer->on_host)
        gf_pages_free(buffer->data, buffer->size);
    else
        calls->release(pool->backend, buffer->data, buffer->size);
    *buffer = (struct gf_buffer){0};
}

void gf_buffer_pool_close(struct gf_buffer_pool *pool)
{
    if (!pool->backend)
        return;
    gf_thread_pool_close(&pool->threads);
    for (int i = 0; i < pool->lanes; i++)
        pool->backend->calls->lane_close(pool->lane[i]);
    for (int i = 0; i < pool->count; i++) {
        if (pool->buffer[i].data)
            drop(pool, &pool->buffer[i]);
    }
    free(pool->lane);
    free(pool->buffer);
    *pool = (struct gf_buffer_pool){0};
}

void gf_buffer_pool_trim(struct gf_buffer_pool *pool)
{
    for (int i = 0; i < pool->count; i++) {
        struct gf_buffer *const buffer = &pool->buffer[i];
        if (buffer->data && !buffer->taken && !buffer->used)
            drop(pool, buffer);
        buffer->used = false;
    }
}

/* Returns the smallest free buffer that has `size` bytes and not far too many; NULL: there is
 * none. */
static struct gf_buffer *find(const struct gf_buffer_pool *pool, bool on_host, size_t size)
{
    enum { SLACK = 4, SMALL = 1 << 20 };
    struct gf_buffer *best = NULL;
    for (int i = 0; i < pool->count; i++) {
        struct gf_buffer *const buffer = &pool->buffer[i];
        if (buffer->data && !buffer->taken && buffer->on_host == on_host && buffer->size >= size &&
            buffer->size <= SLACK * size + SMALL && (!best || buffer->size < best->size))
            best = buffer;
    }
    return best;
}

/* Returns an unused entry of the table, which grows if it has none. */
static struct gf_buffer *new_entry(struct gf_buffer_pool *pool)
{
    for (int i = 0; i < pool->count; i++) {
        if (!pool->buffer[i].data)
            return &pool->buffer[i];
    }
    if (!GF_GROW(pool->buffer, pool->count))
        return NULL;
    pool->buffer[pool->count] = (struct gf_buffer){0};
    return &pool->buffer[pool->count++];
}

static void *allocate(struct gf_buffer_pool *pool, bool on_host, size_t size)
{
    return on_host ? gf_pages_alloc(size) : pool->backend->calls->alloc(pool->backend, size);
}

void gf_buffer_pool_clear(struct gf_buffer_pool *pool)
{
    for (int i = 0; i < pool->count; i++) {
        if (pool->buffer[i].data && !pool->buffer[i].taken)
            drop(pool, &pool->buffer[i]);
    }
}

static void *take(struct gf_buffer_pool *pool, bool on_host, size_t size)
{
    struct gf_buffer *buffer = find(pool, on_host, size);
    if (!buffer) {
        void *data = allocate(pool, on_host, size);
        if (!data) { /* the pool's free buffers may hold the memory that is missing */
            gf_buffer_pool_clear(pool);
            data = allocate(pool, on_host, size);
        }
        buffer = data ? new_entry(pool) : NULL;
        if (!buffer) {
            if (data)
                drop(pool, &(struct gf_buffer){.data = data, .size = size, .on_host = on_host});
            return NULL;
        }
        *buffer = (struct gf_buffer){.data = data, .size = size, .on_host = on_host};
    }
    buffer->taken = buffer->used = true;
    return buffer->data;
}

void *gf_buffer_pool_take_host(struct gf_buffer_pool *pool, size_t size)
{
    return take(pool, true, size);
}

void *gf_buffer_pool_take(struct gf_buffer_pool *pool, size_t size)
{
    return take(pool, false, size);
}

static struct gf_buffer *buffer_of(const struct gf_buffer_pool *pool, const void *data)
{
    for (int i = 0; i < pool->count; i++) {
        if (pool->buffer[i].data == data)
            return &pool->buffer[i];
    }
    return NULL;
}

void gf_buffer_pool_return(struct gf_buffer_pool *pool, const void *data)
{
    struct gf_buffer *const buffer = data ? buffer_of(pool, data) : NULL;
    if (buffer)
        buffer->taken = false;
}

void gf_buffer_pool_pin(struct gf_buffer_pool *pool, const void *data)
{
    struct gf_buffer *const buffer = data ? buffer_of(pool, data) : NULL;
    if (buffer && !buffer->pinned)
        buffer->pinned =
            pool->backend->calls->pin(pool->backend, buffer->data, buffer->size) == GF_PINNED;
}

uint64_t gf_buffer_pool_free_bytes(const struct gf_buffer_pool *pool, uint64_t enough)
{
    uint64_t bytes = 0;
    for (int i = 0; i < pool->count; i++) {
        const struct gf_buffer *const buffer = &pool->buffer[i];
        if (buffer->data && !buffer->taken && !buffer->on_host)
            bytes += buffer->size;
    }
    if (bytes >= enough)
        return bytes;
    const uint64_t more = pool->backend->calls->free_bytes(pool->backend);
    return bytes <= UINT64_MAX - more ? bytes + more : UINT64_MAX;
}

uint64_t gf_buffer_pool_held_bytes(const struct gf_buffer_pool *pool)
{
    uint64_t bytes = 0;
    for (int i = 0; i < pool->count; i++)
        bytes += pool->buffer[i].data && !pool->buffer[i].on_host ? pool->buffer[i].size : 0;
    return bytes;
}

enum gf_status gf_buffer_pool_lane(struct gf_buffer_pool *pool, int index, struct gf_spans *spans,
                                   struct gf_lane **lane, struct gf_error *error)
{
    if (index >= pool->lanes) {
        struct gf_lane **const grown = realloc(pool->lane, ((size_t)index + 1) * sizeof *grown);
        if (!grown)
            return gf_fail_memory(error);
        pool->lane = grown;
        GF_TRY(pool->backend->calls->lane_open(pool->backend, index, spans, &pool->lane[index],
                                               error));
        pool->lanes = index + 1;
    }
    *lane = pool->lane[index];
    return GF_OK;
}
