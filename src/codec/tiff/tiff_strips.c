/* Strips, which are read row by row. */
#include "codec/common/checks.h"
#include "codec/tiff/tiff_source.h"

/* Swaps the bytes of samples that are whole bytes, as libtiff does after decoding. */
static void swap(const struct gf_tiff_layout *layout, void *row, size_t bytes)
{
    const tmsize_t count = (tmsize_t)bytes / (layout->bits > 7 ? layout->bits / 8 : 1);
    if (layout->bits == 16)
        gf_tiff.TIFFSwabArrayOfShort(row, count);
    else if (layout->bits == 24)
        gf_tiff.TIFFSwabArrayOfTriples(row, count);
    else if (layout->bits == 32)
        gf_tiff.TIFFSwabArrayOfLong(row, count);
    else if (layout->bits == 64)
        gf_tiff.TIFFSwabArrayOfLong8(row, count);
}

/* Reads an uncompressed row from its offset in the file. */
static bool read_raw(struct gf_tiff_source *tiff, struct gf_tiff_handle *handle, int plane)
{
    const uint32_t strip =
        gf_tiff.TIFFComputeStrip(handle->tiff, (uint32_t)tiff->row, (uint16_t)plane);
    uint32_t strip_rows = 0;
    size_t got = 0;
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_ROWSPERSTRIP, &strip_rows);
    const uint64_t skipped = (uint64_t)((uint32_t)tiff->row % strip_rows) * tiff->block_bytes;
    const uint64_t offset = gf_tiff.TIFFGetStrileOffset(handle->tiff, strip) + skipped;
    if (offset > INT64_MAX - tiff->block_bytes ||
        skipped + tiff->block_bytes > gf_tiff.TIFFGetStrileByteCount(handle->tiff, strip) ||
        gf_input_read_at(tiff->input, (int64_t)offset, tiff->buffer[plane], tiff->block_bytes, &got,
                         &handle->error))
        return false;
    if (gf_tiff.TIFFIsByteSwapped(handle->tiff))
        swap(&tiff->layout, tiff->buffer[plane], tiff->block_bytes);
    return got == tiff->block_bytes;
}

enum gf_status gf_tiff_read_strip_row(struct gf_tiff_source *tiff, unsigned char *dst,
                                      struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    for (int p = 0; p < layout->planes; p++) {
        if (!gf_tiff_needs(layout, p))
            continue;
        struct gf_tiff_handle *const handle = &tiff->handle[p];
        gf_tiff_begin(handle);
        const bool done = tiff->raw
                              ? read_raw(tiff, handle, p)
                              : gf_tiff.TIFFReadScanline(handle->tiff, tiff->buffer[p],
                                                         (uint32_t)tiff->row, (uint16_t)p) >= 0;
        if (!done && tiff->raw && !handle->error.status)
            return gf_fail_truncated(error, handle->name, tiff->row, layout->format.height);
        if (!done)
            return gf_tiff_fail(handle, tiff->row, layout->format.height, error);
    }
    /* The buffers of the planes follow each other in memory. */
    if (!gf_tiff_convert(layout, tiff->buffer[0], tiff->block_bytes, tiff->scratch[0], dst,
                         layout->format.width))
        tiff->beyond[0] = true;
    return GF_OK;
}
