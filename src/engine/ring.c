#include "engine/ring.h"

enum { PAGE = 4096 };

enum gf_status gf_ring_alloc(struct gf_ring *ring, struct gf_buffer_pool *buffers,
                             size_t slot_bytes, int count, struct gf_error *error)
{
    *ring = (struct gf_ring){.slot_bytes = (slot_bytes + PAGE - 1) / PAGE * PAGE, .count = count};
    ring->data = gf_buffer_pool_take_host(buffers, ring->slot_bytes * (size_t)count);
    return ring->data ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory for band buffers");
}

void gf_ring_free(struct gf_ring *ring, struct gf_buffer_pool *buffers)
{
    gf_pages_ahead_end(&ring->ahead);
    gf_buffer_pool_return(buffers, ring->data);
    *ring = (struct gf_ring){0};
}
