/* Colours that libtiff converts to 8 bits for a screen. */
#include <stdio.h>

#include "codec/tiff/tiff_source.h"

/* Converts the rows of the band to pixels, the first row first. */
static bool fill_raster(struct gf_tiff_source *tiff)
{
    struct gf_tiff_handle *const handle = &tiff->handle[0];
    char why[1024] = "";
    TIFFRGBAImage image;
    gf_tiff_begin(handle);
    if (!gf_tiff.TIFFRGBAImageBegin(&image, handle->tiff, 1, why)) {
        snprintf(handle->why, sizeof handle->why, "%.*s", (int)sizeof handle->why - 1, why);
        return false;
    }
    image.req_orientation = image.orientation; /* libtiff must not flip the rows */
    image.row_offset = tiff->band_first;
    const bool done = gf_tiff.TIFFRGBAImageGet(
        &image, tiff->raster, (uint32_t)tiff->layout.format.width, (uint32_t)tiff->band_rows);
    gf_tiff.TIFFRGBAImageEnd(&image);
    return done && !*handle->why;
}

enum gf_status gf_tiff_read_display(struct gf_tiff_source *tiff, struct gf_error *error)
{
    const struct gf_format format = tiff->layout.format;
    const int left = format.height - tiff->row;
    tiff->band_first = tiff->row;
    tiff->band_rows = left < tiff->block_rows ? left : tiff->block_rows;
    if (!fill_raster(tiff))
        return gf_tiff_fail(&tiff->handle[0], tiff->row, format.height, error);
    const size_t pixels = (size_t)format.width * (size_t)tiff->band_rows;
    unsigned char *to = tiff->band;
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < format.channels; c++)
            *to++ = (unsigned char)(tiff->raster[i] >> 8 * c);
    return GF_OK;
}
