#include "place.h"

#include "bands.h"
#include "pages.h"

enum gf_status gf_place_alloc(struct gf_backend *backend, struct gf_format format, bool on_device,
                              struct gf_place *place, struct gf_error *error)
{
    const bool unified = backend->calls->unified;
    const size_t pitch = gf_band_pitch(backend, format);
    const size_t bytes = pitch * (size_t)format.height;
    void *const data =
        unified || on_device ? backend->calls->alloc(backend, bytes) : gf_pages_alloc(bytes);
    *place = (struct gf_place){.kind = unified || on_device ? GF_PLACE_MEMORY : GF_PLACE_HOST};
    if (!data)
        return gf_fail(error, !unified && on_device ? GF_ERROR_DEVICE_MEMORY : GF_ERROR_MEMORY,
                       "out of memory for a picture of %dx%d", format.width, format.height);
    place->pinned = place->kind == GF_PLACE_HOST && backend->calls->pin(backend, data, bytes);
    place->owned_bytes = bytes;
    place->view = gf_view_make(data, pitch, format, (struct gf_rows){0, format.height});
    return GF_OK;
}

struct gf_place gf_place_image(struct gf_backend *backend, const struct gf_image *image)
{
    const struct gf_rows rows = {0, image->format.height};
    return (struct gf_place){
        .kind = backend->calls->unified ? GF_PLACE_MEMORY : GF_PLACE_HOST,
        .view = gf_view_make(image->data, image->pitch, image->format, rows),
        .pinned = backend->calls->pin(backend, image->data,
                                      image->pitch * (size_t)(image->format.height - 1) +
                                          gf_row_bytes(image->format)),
    };
}

struct gf_place gf_place_borrow(const struct gf_place *place)
{
    return (struct gf_place){.kind = place->kind, .view = place->view};
}

void gf_place_free(struct gf_backend *backend, struct gf_place *place)
{
    if (place->pinned)
        backend->calls->unpin(backend, place->view.data);
    if (place->owned_bytes && place->kind == GF_PLACE_MEMORY)
        backend->calls->release(backend, place->view.data, place->owned_bytes);
    else if (place->owned_bytes)
        gf_pages_free(place->view.data, place->owned_bytes);
    *place = (struct gf_place){0};
}
