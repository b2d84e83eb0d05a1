#include "ring.h"

#include "pages.h"

enum { PAGE = 4096 };

enum gf_status gf_ring_alloc(struct gf_ring *ring, size_t slot_bytes, int count, struct gf_error *error)
{
    *ring = (struct gf_ring){.slot_bytes = (slot_bytes + PAGE - 1) / PAGE * PAGE, .count = count};
    ring->data = gf_pages_alloc(ring->slot_bytes * (size_t)count);
    return ring->data ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory for band buffers");
}

void gf_ring_pin(struct gf_ring *ring, struct gf_backend *backend)
{
    if (ring->data && !ring->pinned)
        ring->pinned = backend->calls->pin(backend, ring->data, ring->slot_bytes * (size_t)ring->count);
}

void gf_ring_free(struct gf_ring *ring, struct gf_backend *backend)
{
    if (ring->pinned)
        backend->calls->unpin(backend, ring->data);
    gf_pages_free(ring->data, ring->slot_bytes * (size_t)ring->count);
    *ring = (struct gf_ring){0};
}
