/* A ring of equal slots in host memory. Band b uses slot b mod count. */
#pragma once

#include <stddef.h>

#include "base/pages.h"

#include "engine/buffer_pool.h"

struct gf_ring {
    unsigned char *data;
    size_t slot_bytes;
    int count;
    bool borrowed;               /* another ring frees the memory */
    struct gf_pages_ahead ahead; /* touches the memory before the reader and the lanes do */
};

enum gf_status gf_ring_alloc(struct gf_ring *ring, struct gf_buffer_pool *buffers,
                             size_t slot_bytes, int count, struct gf_error *error) GF_CHECKED;
/* Puts a ring into the memory of another ring, which must live longer and must not be used at the
 * same time. Returns false if that memory is too small. */
bool gf_ring_borrow(struct gf_ring *ring, const struct gf_ring *lender, size_t slot_bytes,
                    int count);
void gf_ring_free(struct gf_ring *ring, struct gf_buffer_pool *buffers);

static inline unsigned char *gf_ring_slot(const struct gf_ring *ring, int band)
{
    return ring->data + (size_t)(band % ring->count) * ring->slot_bytes;
}
