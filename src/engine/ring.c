#include "engine/ring.h"

enum { PAGE = 4096 };

static struct gf_ring shape(size_t slot_bytes, int count)
{
    return (struct gf_ring){.slot_bytes = (slot_bytes + PAGE - 1) / PAGE * PAGE, .count = count};
}

enum gf_status gf_ring_alloc(struct gf_ring *ring, struct gf_buffer_pool *buffers,
                             size_t slot_bytes, int count, struct gf_error *error)
{
    *ring = shape(slot_bytes, count);
    ring->data = gf_buffer_pool_take_host(buffers, ring->slot_bytes * (size_t)count);
    return ring->data ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory for band buffers");
}

bool gf_ring_borrow(struct gf_ring *ring, const struct gf_ring *lender, size_t slot_bytes,
                    int count)
{
    struct gf_ring borrowed = shape(slot_bytes, count);
    if (borrowed.slot_bytes * (size_t)count > lender->slot_bytes * (size_t)lender->count)
        return false;
    borrowed.data = lender->data;
    borrowed.borrowed = true;
    *ring = borrowed;
    return true;
}

void gf_ring_free(struct gf_ring *ring, struct gf_buffer_pool *buffers)
{
    gf_pages_ahead_end(&ring->ahead);
    if (!ring->borrowed)
        gf_buffer_pool_return(buffers, ring->data);
    *ring = (struct gf_ring){0};
}
