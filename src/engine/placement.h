/* Where a segment's input or result lies: passing by in bands, or whole in memory. */
#ifndef GF_ENGINE_PLACEMENT_H
#define GF_ENGINE_PLACEMENT_H

#include "chain/plan.h"
#include "engine/store.h"

enum gf_placement_kind {
    GF_PLACEMENT_STREAM, /* passes by in the bands of a ring */
    GF_PLACEMENT_MEMORY, /* whole, where stages read and write */
    GF_PLACEMENT_HOST,   /* whole, in host memory: bands are copied to the device and back */
};

struct gf_placement {
    enum gf_placement_kind kind;
    struct gf_view view; /* the whole picture */
    bool stored;         /* in memory of the store */
    bool pinned;         /* the caller's, for as long as the place is there */
};

/* Room for a whole picture. on_device: in the backend's memory; where that has none left any more,
 * GF_ERROR_DEVICE_MEMORY. */
enum gf_status gf_placement_alloc(struct gf_store *store, struct gf_format format, bool on_device,
                                  struct gf_placement *place, struct gf_error *error) GF_CHECKED;
/* The caller's picture where it lies: in host memory, or on_device. */
struct gf_placement gf_placement_image(struct gf_backend *backend, const struct gf_image *image,
                                       bool on_device);
/* The same place for somebody who does not free it. */
struct gf_placement gf_placement_borrow(const struct gf_placement *place);
void gf_placement_free(struct gf_store *store, struct gf_placement *place);

#endif
