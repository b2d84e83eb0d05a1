/* Tiles that are JPEG 2000, each decoded as a picture of its own by the reader of that format. */
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/tiff/tiff.h"

enum gf_status gf_tiff_load_jp2(const char *name, struct gf_error *error)
{
#ifdef GF_LIBRARY_openjp2
    return gf_library_load(&gf_jp2_library, name, GF_ERROR_LIBRARY, error);
#else
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: its tiles are JPEG 2000, and this program was built without OpenJPEG",
                   name);
#endif
}

uint64_t gf_tiff_jp2_bytes(const struct gf_tiff_layout *layout)
{
    enum { PIXEL_BYTES = 64, LEAST = 1 << 20 }; /* OpenJPEG's samples and structs, and its file */
    return LEAST + (uint64_t)layout->tile_width * (uint64_t)layout->tile_height * PIXEL_BYTES;
}

/* Aperio's codestreams do not say that they are YCbCr; the reader takes those with subsampled
 * chroma for it, and converts them. */
static enum gf_status decode(struct gf_tiff_source *tiff, struct gf_input *tile,
                             unsigned char *pixels, struct gf_error *error)
{
#ifdef GF_LIBRARY_openjp2
    const struct gf_tiff_layout *const layout = &tiff->layout;
    struct gf_options options = tiff->options;
    struct gf_source *source = NULL;
    options.serial = true;
    options.threads = 1;
    options.allow_truncated = false; /* as with all tiles */
    options.warn = NULL;             /* several threads decode */
    GF_TRY(gf_jp2_source_open(tile, &options, &source, error));
    const struct gf_format format = source->format;
    const bool fits = format.width == layout->tile_width && format.height == layout->tile_height &&
                      format.channels == layout->samples && format.bits == 8;
    const enum gf_status status =
        fits ? source->read(source, format.height, pixels, gf_row_bytes(format), error)
             : gf_fail(error, GF_ERROR_INPUT, "%s: damaged: a tile is of another size or kind",
                       gf_input_name(tile));
    if (!status && layout->compression == GF_TIFF_JP2_YCC && format.channels >= 3 &&
        source->stored.colour != GF_STORED_YCBCR)
        gf_pixels_ycc_to_rgb(pixels, (size_t)format.width * (size_t)format.height, format.channels,
                             format.bits);
    source->close(source);
    return status;
#else
    return gf_tiff_load_jp2(gf_input_name(tile), error);
#endif
}

enum gf_status gf_tiff_read_jp2(struct gf_tiff_source *tiff, int thread, uint32_t number,
                                struct gf_error *error)
{
    const struct gf_tiff_handle *const handle = &tiff->handle[thread];
    const uint64_t offset = gf_tiff.TIFFGetStrileOffset(handle->tiff, number),
                   bytes = gf_tiff.TIFFGetStrileByteCount(handle->tiff, number),
                   all = (uint64_t)gf_input_size(tiff->input);
    struct gf_input *tile = NULL;
    size_t got = 0;
    if (!bytes || offset > all || bytes > all - offset)
        return gf_fail_truncated(error, handle->name, tiff->band_first, tiff->layout.format.height);
    unsigned char *const data = malloc((size_t)bytes);
    enum gf_status status = data ? GF_OK : gf_fail_memory(error);
    GF_THEN(status,
            gf_input_read_at(tiff->input, (int64_t)offset, data, (size_t)bytes, &got, error));
    GF_THEN(status, gf_input_open_memory(data, got, handle->name, &tile, error));
    GF_THEN(status, decode(tiff, tile, tiff->buffer[thread], error));
    gf_input_close(tile);
    free(data);
    return status;
}
