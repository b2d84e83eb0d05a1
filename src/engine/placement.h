/* The placement of a segment's input or result in memory. */
#pragma once

#include "engine/buffer_pool.h"

enum gf_placement_kind {
    GF_PLACEMENT_STREAM,  /* band by band in a ring; the whole picture is never in memory */
    GF_PLACEMENT_BACKEND, /* whole, in memory that the backend's stages can read and write */
    GF_PLACEMENT_HOST,    /* whole, in host memory: bands are copied to the device and back */
};

struct gf_placement {
    enum gf_placement_kind kind;
    struct gf_view view; /* the whole picture */
    bool from_pool;      /* its memory belongs to the buffer pool */
    bool pinned;         /* the memory is the caller's, and is pinned until gf_placement_free() */
    bool waits;          /* copies from or to this memory are synchronous */
};

/* Allocates a whole picture. on_device: in the backend's memory, where GF_ERROR_DEVICE_MEMORY means
 * that no memory is left. */
enum gf_status gf_placement_alloc(struct gf_buffer_pool *buffers, struct gf_format format,
                                  bool on_device, struct gf_placement *placement,
                                  struct gf_error *error) GF_CHECKED;
/* Describes the caller's picture, which is in host memory or in the backend's memory
 * (on_device). */
struct gf_placement gf_placement_image(struct gf_backend *backend, const struct gf_image *image,
                                       bool on_device);
/* Returns the same picture for a user that must not free it. */
struct gf_placement gf_placement_borrow(const struct gf_placement *placement);
void gf_placement_free(struct gf_buffer_pool *buffers, struct gf_placement *placement);
