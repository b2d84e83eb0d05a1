#include "engine/engine.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/memory/grow.h"

enum place { ON_DEVICE, ON_HOST, SHARED /* on the host, with other pools */ };

struct gf_buffer {
    void *data; /* NULL: an unused entry of the table */
    size_t size;
    enum place place;
    bool pinned, taken;
    bool used; /* the buffer was used since the last trimming */
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
    if (buffer->place == SHARED)
        calls->unshare(pool->backend, buffer->data);
    else if (buffer->place == ON_HOST)
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

/* Returns the smallest free buffer that is large enough, but not far too large. */
static struct gf_buffer *find(const struct gf_buffer_pool *pool, enum place place, size_t size)
{
    enum { SLACK = 4, SMALL = 1 << 20 };
    struct gf_buffer *best = NULL;
    for (int i = 0; i < pool->count; i++) {
        struct gf_buffer *const buffer = &pool->buffer[i];
        if (buffer->data && !buffer->taken && buffer->place == place && buffer->size >= size &&
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

static void *allocate(struct gf_buffer_pool *pool, enum place place, size_t size)
{
    const struct gf_backend_calls *const calls = pool->backend->calls;
    return place == ON_HOST  ? gf_pages_alloc(size)
           : place == SHARED ? calls->share(pool->backend, size)
                             : calls->alloc(pool->backend, size);
}

void gf_buffer_pool_clear(struct gf_buffer_pool *pool)
{
    for (int i = 0; i < pool->count; i++) {
        if (pool->buffer[i].data && !pool->buffer[i].taken)
            drop(pool, &pool->buffer[i]);
    }
}

static void *take(struct gf_buffer_pool *pool, enum place place, size_t size)
{
    struct gf_buffer *buffer = find(pool, place, size);
    if (!buffer) {
        void *data = allocate(pool, place, size);
        if (!data) { /* the pool's own free buffers may use the memory that is missing */
            gf_buffer_pool_clear(pool);
            data = allocate(pool, place, size);
        }
        buffer = data ? new_entry(pool) : NULL;
        if (!buffer) {
            if (data)
                drop(pool, &(struct gf_buffer){.data = data, .size = size, .place = place});
            return NULL;
        }
        *buffer = (struct gf_buffer){.data = data, .size = size, .place = place};
    }
    buffer->taken = buffer->used = true;
    return buffer->data;
}

void *gf_buffer_pool_take_host(struct gf_buffer_pool *pool, size_t size)
{
    return take(pool, pool->shares && pool->backend->calls->share ? SHARED : ON_HOST, size);
}

void *gf_buffer_pool_take(struct gf_buffer_pool *pool, size_t size)
{
    return take(pool, ON_DEVICE, size);
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

void gf_buffer_pool_pin_shared(struct gf_buffer_pool *pool)
{
    if (pool->shares && pool->backend->calls->pin_shared)
        pool->backend->calls->pin_shared(pool->backend);
}

uint64_t gf_buffer_pool_free_bytes(const struct gf_buffer_pool *pool, uint64_t enough)
{
    uint64_t bytes = 0;
    for (int i = 0; i < pool->count; i++) {
        const struct gf_buffer *const buffer = &pool->buffer[i];
        if (buffer->data && !buffer->taken && buffer->place == ON_DEVICE)
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
        bytes +=
            pool->buffer[i].data && pool->buffer[i].place == ON_DEVICE ? pool->buffer[i].size : 0;
    return bytes;
}

enum gf_status gf_buffer_pool_lane(struct gf_buffer_pool *pool, int index, struct gf_spans *spans,
                                   struct gf_lane **lane, struct gf_error *error)
{
    if (index >= pool->lanes) {
        struct gf_lane **const grown = realloc(pool->lane, ((size_t)index + 1) * sizeof *grown);
        GF_ALLOCATED(grown, error);
        pool->lane = grown;
        GF_TRY(pool->backend->calls->lane_open(pool->backend, index, spans, &pool->lane[index],
                                               error));
        pool->lanes = index + 1;
    }
    *lane = pool->lane[index];
    return GF_OK;
}
