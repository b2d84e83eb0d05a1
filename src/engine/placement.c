#include "engine/placement.h"

#include "engine/bands.h"

enum gf_status gf_placement_alloc(struct gf_store *store, struct gf_format format, bool on_device,
                              struct gf_placement *place, struct gf_error *error)
{
    const bool in_memory = store->backend->calls->unified || on_device;
    const size_t pitch = gf_band_pitch(store->backend, format);
    const size_t bytes = pitch * (size_t)format.height;
    void *const data = in_memory ? gf_store_take(store, bytes) : gf_store_take_pages(store, bytes);
    *place = (struct gf_placement){.kind = in_memory ? GF_PLACEMENT_MEMORY : GF_PLACEMENT_HOST};
    if (!data)
        return gf_fail(error,
                       !store->backend->calls->unified && on_device ? GF_ERROR_DEVICE_MEMORY
                                                                    : GF_ERROR_MEMORY,
                       "out of memory for a picture of %dx%d", format.width, format.height);
    if (!in_memory)
        gf_store_pin(store, data);
    place->stored = true;
    place->view = gf_view_make(data, pitch, format, (struct gf_rows){0, format.height});
    return GF_OK;
}

struct gf_placement gf_placement_image(struct gf_backend *backend, const struct gf_image *image,
                               bool on_device)
{
    const struct gf_rows rows = {0, image->format.height};
    return (struct gf_placement){
        .kind = backend->calls->unified || on_device ? GF_PLACEMENT_MEMORY : GF_PLACEMENT_HOST,
        .view = gf_view_make(image->data, image->pitch, image->format, rows),
        .pinned =
            !on_device && backend->calls->pin(backend, image->data,
                                              image->pitch * (size_t)(image->format.height - 1) +
                                                  gf_row_bytes(image->format)),
    };
}

struct gf_placement gf_placement_borrow(const struct gf_placement *place)
{
    return (struct gf_placement){.kind = place->kind, .view = place->view};
}

void gf_placement_free(struct gf_store *store, struct gf_placement *place)
{
    if (place->pinned)
        store->backend->calls->unpin(store->backend, place->view.data);
    if (place->stored)
        gf_store_give(store, place->view.data);
    *place = (struct gf_placement){0};
}
