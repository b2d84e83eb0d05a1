#include "engine/placement.h"

#include "engine/bands.h"

enum gf_status gf_placement_alloc(struct gf_buffer_pool *buffers, struct gf_format format,
                                  bool on_device, struct gf_placement *placement,
                                  struct gf_error *error)
{
    const bool in_memory = buffers->backend->calls->unified || on_device;
    const size_t pitch = gf_band_pitch(buffers->backend, format);
    const size_t bytes = pitch * (size_t)format.height;
    void *const data =
        in_memory ? gf_buffer_pool_take(buffers, bytes) : gf_buffer_pool_take_host(buffers, bytes);
    *placement =
        (struct gf_placement){.kind = in_memory ? GF_PLACEMENT_BACKEND : GF_PLACEMENT_HOST};
    if (!data)
        return gf_fail(error,
                       !buffers->backend->calls->unified && on_device ? GF_ERROR_DEVICE_MEMORY
                                                                      : GF_ERROR_MEMORY,
                       "out of memory for a picture of %dx%d", format.width, format.height);
    if (!in_memory)
        gf_buffer_pool_pin(buffers, data);
    placement->from_pool = true;
    placement->view = gf_view_make(data, pitch, format, (struct gf_rows){0, format.height});
    return GF_OK;
}

struct gf_placement gf_placement_image(struct gf_backend *backend, const struct gf_image *image,
                                       bool on_device)
{
    const struct gf_rows rows = {0, image->format.height};
    const size_t bytes =
        image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
    const enum gf_pinning pinning =
        on_device ? GF_NOT_PINNED : backend->calls->pin(backend, image->data, bytes);
    return (struct gf_placement){
        .kind = backend->calls->unified || on_device ? GF_PLACEMENT_BACKEND : GF_PLACEMENT_HOST,
        .view = gf_view_make(image->data, image->pitch, image->format, rows),
        .pinned = pinning == GF_PINNED,
        .waits = !on_device && pinning == GF_NOT_PINNED,
    };
}

struct gf_placement gf_placement_borrow(const struct gf_placement *placement)
{
    return (struct gf_placement){
        .kind = placement->kind, .view = placement->view, .waits = placement->waits};
}

void gf_placement_free(struct gf_buffer_pool *buffers, struct gf_placement *placement)
{
    if (placement->pinned)
        buffers->backend->calls->unpin(buffers->backend, placement->view.data);
    if (placement->from_pool)
        gf_buffer_pool_return(buffers, placement->view.data);
    *placement = (struct gf_placement){0};
}
