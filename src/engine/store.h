/* What a pipeline keeps from picture to picture: buffers, pinned where the backend can, and lanes.
 * Mapping, pinning and cudaMalloc take as long as a small picture. Used by one thread at a time. */
#ifndef GF_ENGINE_STORE_H
#define GF_ENGINE_STORE_H

#include "engine/backend.h"

struct gf_block;

struct gf_store {
    struct gf_backend *backend; /* NULL: nothing is kept */
    struct gf_block *block;
    int blocks;
    struct gf_lane **lane;
    int lanes; /* open */
};

void gf_store_open(struct gf_store *store, struct gf_backend *backend);
/* Gives everything back to the backend, which must still be there. */
void gf_store_close(struct gf_store *store);

/* Room of at least `size` bytes with undefined contents: pages of host memory, or the backend's
 * own. NULL where there is none left. */
void *gf_store_take_pages(struct gf_store *store, size_t size);
void *gf_store_take(struct gf_store *store, size_t size);
void gf_store_give(struct gf_store *store, const void *data);
/* Pins pages that were taken, unless they are; after the backend is ready. */
void gf_store_pin(struct gf_store *store, const void *data);
/* What take() could get; the backend is not asked where what is kept is enough already. */
uint64_t gf_store_free_bytes(const struct gf_store *store, uint64_t enough);

enum gf_status gf_store_lane(struct gf_store *store, int index, struct gf_spans *spans,
                             struct gf_lane **lane, struct gf_error *error) GF_CHECKED;

/* Between two pictures: what the last one did not use is given back, so that memory follows the
 * pictures. */
void gf_store_settle(struct gf_store *store);
/* Gives back all that is not taken. */
void gf_store_drop_unused(struct gf_store *store);

#endif
