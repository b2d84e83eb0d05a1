/* Where a segment's input or result lies: passing by in bands, or whole in memory. */
#ifndef GF_PLACE_H
#define GF_PLACE_H

#include "plan.h"
#include "store.h"

enum gf_place_kind {
    GF_PLACE_STREAM, /* passes by in the bands of a ring */
    GF_PLACE_MEMORY, /* whole, where stages read and write */
    GF_PLACE_HOST,   /* whole, in host memory: bands are copied to the device and back */
};

struct gf_place {
    enum gf_place_kind kind;
    struct gf_view view; /* the whole picture */
    bool stored;         /* in memory of the store */
    bool pinned;         /* the caller's, for as long as the place is there */
};

/* Room for a whole picture. on_device: in the backend's memory; where that has none left any more,
 * GF_ERROR_DEVICE_MEMORY. */
enum gf_status gf_place_alloc(struct gf_store *store, struct gf_format format, bool on_device,
                              struct gf_place *place, struct gf_error *error) GF_CHECKED;
/* The caller's picture where it lies: in host memory, or on_device. */
struct gf_place gf_place_image(struct gf_backend *backend, const struct gf_image *image,
                               bool on_device);
/* The same place for somebody who does not free it. */
struct gf_place gf_place_borrow(const struct gf_place *place);
void gf_place_free(struct gf_store *store, struct gf_place *place);

static inline struct gf_view gf_view_make(unsigned char *data, size_t pitch,
                                          struct gf_format format, struct gf_rows rows)
{
    return (struct gf_view){.data = data,
                            .pitch = pitch,
                            .format = format,
                            .y = rows.first,
                            .rows = rows.end - rows.first};
}

static inline struct gf_view gf_view_part(const struct gf_view *whole, struct gf_rows rows)
{
    return gf_view_make(gf_view_row(whole, rows.first), whole->pitch, whole->format, rows);
}

static inline size_t gf_view_bytes(const struct gf_view *view)
{
    return gf_row_bytes(view->format) * (size_t)view->rows;
}

#endif
