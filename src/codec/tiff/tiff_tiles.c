/* Tiles, which several threads decode, each with a handle of its own. */
#include "base/fail.h"
#include "codec/tiff/tiff_source.h"

/* Decodes a tile of the band and copies its pixels to their place. */
static bool read_tile(void *context, int thread, int item)
{
    struct gf_tiff_source *const tiff = context;
    const int column = item % tiff->columns;
    const struct gf_tiff_layout *const layout = &tiff->layout;
    struct gf_tiff_handle *const handle = &tiff->handle[thread];
    const int x = column * layout->tile_width, width = layout->format.width;
    const int pixels = width - x < layout->tile_width ? width - x : layout->tile_width;
    const size_t pixel_bytes = gf_row_bytes(layout->format) / (size_t)width,
                 tile_row = tiff->block_bytes / (size_t)layout->tile_height;
    unsigned char *const tile = tiff->buffer[thread];
    for (int p = 0; p < layout->planes; p++) {
        if (!gf_tiff_needs(layout, p))
            continue;
        const uint32_t number = gf_tiff.TIFFComputeTile(handle->tiff, (uint32_t)x,
                                                        (uint32_t)tiff->band_first, 0, (uint16_t)p);
        gf_tiff_begin(handle);
        if (gf_tiff.TIFFReadEncodedTile(handle->tiff, number, tile + (size_t)p * tiff->block_bytes,
                                        (tmsize_t)tiff->block_bytes) !=
            (tmsize_t)tiff->block_bytes) {
            pthread_mutex_lock(&tiff->lock);
            if (!tiff->failure.status)
                (void)gf_tiff_fail(handle, tiff->band_first, layout->format.height, &tiff->failure);
            pthread_mutex_unlock(&tiff->lock);
            return false;
        }
    }
    for (int y = 0; y < tiff->band_rows; y++) {
        unsigned char *const to =
            tiff->band + (size_t)y * gf_row_bytes(layout->format) + (size_t)x * pixel_bytes;
        if (!gf_tiff_convert(layout, tile + (size_t)y * tile_row, tiff->block_bytes,
                             tiff->scratch[thread], to, pixels))
            tiff->beyond[thread] = true;
    }
    return true;
}

enum gf_status gf_tiff_read_tiles(struct gf_tiff_source *tiff, struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const int columns = tiff->columns, left = layout->format.height - tiff->row;
    bool failed = false;
    tiff->band_first = tiff->row;
    tiff->band_rows = left < layout->tile_height ? left : layout->tile_height;
    if (!tiff->work) {
        GF_TRY(gf_ordered_work_open(tiff->handles, columns, read_tile, tiff, &tiff->work, error));
    }
    for (int i = 0; i < columns; i++)
        gf_ordered_work_submit(tiff->work);
    for (int i = 0; i < columns; i++)
        (void)gf_ordered_work_take(tiff->work, true, &failed);
    if (tiff->failure.status && error)
        *error = tiff->failure;
    return tiff->failure.status;
}
