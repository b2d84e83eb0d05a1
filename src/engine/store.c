#include "engine/store.h"

#include <stdlib.h>

#include "base/pages.h"

struct gf_block {
    void *data; /* NULL: no block */
    size_t size;
    bool on_host, pinned, taken;
    bool wanted; /* since the last settling */
};

void gf_store_open(struct gf_store *store, struct gf_backend *backend)
{
    *store = (struct gf_store){.backend = backend};
}

static void drop(struct gf_store *store, struct gf_block *block)
{
    const struct gf_backend_calls *const calls = store->backend->calls;
    if (block->pinned)
        calls->unpin(store->backend, block->data);
    if (block->on_host)
        gf_pages_free(block->data, block->size);
    else
        calls->release(store->backend, block->data, block->size);
    *block = (struct gf_block){0};
}

void gf_store_close(struct gf_store *store)
{
    if (!store->backend)
        return;
    for (int i = 0; i < store->lanes; i++)
        store->backend->calls->lane_close(store->lane[i]);
    for (int i = 0; i < store->blocks; i++) {
        if (store->block[i].data)
            drop(store, &store->block[i]);
    }
    free(store->lane);
    free(store->block);
    *store = (struct gf_store){0};
}

void gf_store_settle(struct gf_store *store)
{
    for (int i = 0; i < store->blocks; i++) {
        struct gf_block *const block = &store->block[i];
        if (block->data && !block->taken && !block->wanted)
            drop(store, block);
        block->wanted = false;
    }
}

/* The smallest free block that holds it and is not far too large for it. */
static struct gf_block *find(const struct gf_store *store, bool on_host, size_t size)
{
    enum { SLACK = 4, SMALL = 1 << 20 };
    struct gf_block *best = NULL;
    for (int i = 0; i < store->blocks; i++) {
        struct gf_block *const block = &store->block[i];
        if (block->data && !block->taken && block->on_host == on_host && block->size >= size &&
            block->size <= SLACK * size + SMALL && (!best || block->size < best->size))
            best = block;
    }
    return best;
}

/* An entry without memory; the table grows where there is none. */
static struct gf_block *new_entry(struct gf_store *store)
{
    for (int i = 0; i < store->blocks; i++) {
        if (!store->block[i].data)
            return &store->block[i];
    }
    struct gf_block *const grown =
        realloc(store->block, ((size_t)store->blocks + 1) * sizeof *store->block);
    if (!grown)
        return NULL;
    store->block = grown;
    store->block[store->blocks] = (struct gf_block){0};
    return &store->block[store->blocks++];
}

static void *allocate(struct gf_store *store, bool on_host, size_t size)
{
    return on_host ? gf_pages_alloc(size) : store->backend->calls->alloc(store->backend, size);
}

void gf_store_drop_unused(struct gf_store *store)
{
    for (int i = 0; i < store->blocks; i++) {
        if (store->block[i].data && !store->block[i].taken)
            drop(store, &store->block[i]);
    }
}

static void *take(struct gf_store *store, bool on_host, size_t size)
{
    struct gf_block *block = find(store, on_host, size);
    if (!block) {
        void *data = allocate(store, on_host, size);
        if (!data) { /* what lies idle may be in its way */
            gf_store_drop_unused(store);
            data = allocate(store, on_host, size);
        }
        block = data ? new_entry(store) : NULL;
        if (!block) {
            if (data)
                drop(store, &(struct gf_block){.data = data, .size = size, .on_host = on_host});
            return NULL;
        }
        *block = (struct gf_block){.data = data, .size = size, .on_host = on_host};
    }
    block->taken = block->wanted = true;
    return block->data;
}

void *gf_store_take_pages(struct gf_store *store, size_t size)
{
    return take(store, true, size);
}

void *gf_store_take(struct gf_store *store, size_t size)
{
    return take(store, false, size);
}

static struct gf_block *block_of(const struct gf_store *store, const void *data)
{
    for (int i = 0; i < store->blocks; i++) {
        if (store->block[i].data == data)
            return &store->block[i];
    }
    return NULL;
}

void gf_store_give(struct gf_store *store, const void *data)
{
    struct gf_block *const block = data ? block_of(store, data) : NULL;
    if (block)
        block->taken = false;
}

void gf_store_pin(struct gf_store *store, const void *data)
{
    struct gf_block *const block = data ? block_of(store, data) : NULL;
    if (block && !block->pinned)
        block->pinned = store->backend->calls->pin(store->backend, block->data, block->size);
}

uint64_t gf_store_free_bytes(const struct gf_store *store, uint64_t enough)
{
    uint64_t bytes = 0;
    for (int i = 0; i < store->blocks; i++) {
        const struct gf_block *const block = &store->block[i];
        if (block->data && !block->taken && !block->on_host)
            bytes += block->size;
    }
    if (bytes >= enough)
        return bytes;
    const uint64_t more = store->backend->calls->free_bytes(store->backend);
    return bytes <= UINT64_MAX - more ? bytes + more : UINT64_MAX;
}

enum gf_status gf_store_lane(struct gf_store *store, int index, struct gf_spans *spans,
                             struct gf_lane **lane, struct gf_error *error)
{
    if (index >= store->lanes) {
        struct gf_lane **const grown = realloc(store->lane, ((size_t)index + 1) * sizeof *grown);
        if (!grown)
            return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
        store->lane = grown;
        const enum gf_status status = store->backend->calls->lane_open(store->backend, index, spans,
                                                                       &store->lane[index], error);
        if (status)
            return status;
        store->lanes = index + 1;
    }
    *lane = store->lane[index];
    return GF_OK;
}
