#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/whole_source.h"
#include "codec/tiff/tiff_metadata.h"
#include "codec/tiff/tiff_page.h"
#include "codec/tiff/tiff_source.h"

/* Whether several rows are decoded at a time. */
static bool in_bands(const struct gf_tiff_source *tiff)
{
    return tiff->layout.tile_width || tiff->layout.colour == GF_TIFF_DISPLAY;
}

/* Reads the next row. A band is read anew when it has been copied. */
static enum gf_status read_row(struct gf_tiff_source *tiff, unsigned char *dst,
                               struct gf_error *error)
{
    const size_t row_bytes = gf_row_bytes(tiff->base.format);
    enum gf_status status = GF_OK;
    if (!in_bands(tiff))
        status = gf_tiff_read_strip_row(tiff, dst, error);
    else if (tiff->row == tiff->band_first + tiff->band_rows)
        status = tiff->layout.colour == GF_TIFF_DISPLAY ? gf_tiff_read_display(tiff, error)
                                                        : gf_tiff_read_tiles(tiff, error);
    if (!status && in_bands(tiff))
        memcpy(dst, tiff->band + (size_t)(tiff->row - tiff->band_first) * row_bytes, row_bytes);
    tiff->row++;
    return status;
}

/* Says once that samples are outside the range. */
static void warn_beyond(struct gf_tiff_source *tiff)
{
    bool beyond = false;
    for (int i = 0; i < tiff->handles; i++)
        beyond |= tiff->beyond[i];
    const bool usual =
        !tiff->options.range_percentile && tiff->options.range_low >= tiff->options.range_high;
    if (beyond && !tiff->warned && usual)
        gf_warn(&tiff->options, "%s: samples outside %.9g..%.9g become black or white",
                tiff->handle[0].name, tiff->layout.low, tiff->layout.high);
    tiff->warned |= beyond;
}

static enum gf_status tiff_read(struct gf_source *source, int rows, unsigned char *dst,
                                size_t pitch, struct gf_error *error)
{
    struct gf_tiff_source *const tiff = (struct gf_tiff_source *)source;
    enum gf_status status = GF_OK;
    if (!tiff->begun && tiff->options.range_percentile && gf_tiff_is_wide(&tiff->layout) &&
        tiff->layout.colour != GF_TIFF_DISPLAY)
        status = gf_tiff_find_range(tiff, read_row, error);
    tiff->begun = true;
    for (int y = 0; !status && y < rows; y++)
        status = read_row(tiff, dst + (size_t)y * pitch, error);
    warn_beyond(tiff);
    return status;
}

static void tiff_close(struct gf_source *source)
{
    struct gf_tiff_source *const tiff = (struct gf_tiff_source *)source;
    gf_ordered_work_close(tiff->work);
    for (int i = 0; i < GF_TIFF_HANDLES_MAX; i++) {
        gf_tiff_close(&tiff->handle[i]);
        if (tiff->layout.tile_width || !i)
            free(tiff->buffer[i]);
        free(tiff->scratch[i]);
    }
    gf_input_close(tiff->memory);
    gf_metadata_free(&source->metadata);
    pthread_mutex_destroy(&tiff->lock);
    free(tiff->file.data);
    free(tiff->band);
    free(tiff->raster);
    gf_tiff_layout_free(&tiff->layout);
    free(tiff);
}

static enum gf_status open_other(struct gf_tiff_source *tiff, int index, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[index];
    GF_TRY(gf_tiff_open(handle, tiff->input, NULL, "rm", tiff->directory, error));
    gf_tiff_prepare(handle, &tiff->layout);
    return GF_OK;
}

static enum gf_stored_colour stored_colour(const struct gf_tiff_layout *layout)
{
    return layout->colour == GF_TIFF_PALETTE ? GF_STORED_PALETTE
           : layout->colour == GF_TIFF_CMYK  ? GF_STORED_CMYK
                                             : GF_STORED_PLAIN;
}

/* Prepares the conversion of colours that become sRGB. Their profile describes the rows no more. */
static enum gf_status prepare_colours(struct gf_tiff_source *tiff, struct gf_error *error)
{
    struct gf_metadata *const metadata = &tiff->base.metadata;
    const enum gf_tiff_colour colour = tiff->layout.colour;
    if (colour == GF_TIFF_CMYK)
        return gf_cmyk_open(metadata, tiff->layout.format.bits, tiff->handle[0].name,
                            &tiff->options, &tiff->layout.cmyk, error);
    if (colour == GF_TIFF_CIELAB || colour == GF_TIFF_ICCLAB) {
        free(metadata->icc.data);
        metadata->icc = (struct gf_blob){0};
    }
    return GF_OK;
}

static enum gf_status open_first(struct gf_tiff_source *tiff, int wanted, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[0];
    const enum gf_picture_kind kind = gf_page_kind(wanted);
    struct gf_stored stored = {0};
    GF_TRY(gf_tiff_open(handle, tiff->input, NULL, "rm", tiff->directory, error));
    if (kind < GF_PICTURE_KINDS || gf_input_headers_only(tiff->input)) {
        const int found = gf_tiff_count_kinds(handle, kind, stored.pictures);
        if (kind < GF_PICTURE_KINDS && kind != GF_PICTURE_MAIN && found < 0)
            return gf_fail_page(handle->name, wanted, 0, error);
        wanted = found < 0 ? wanted : found;
    }
    if (!tiff->directory)
        GF_TRY(gf_tiff_choose(handle, wanted, &tiff->options, &tiff->directory, error));
    GF_TRY(gf_tiff_read_layout(handle, &tiff->options, &tiff->layout, error));
    tiff->base.format = tiff->layout.format;
    stored.pages = handle->pages;
    stored.bits = tiff->layout.bits;
    stored.colour = stored_colour(&tiff->layout);
    stored.is_float = tiff->layout.number == GF_TIFF_FLOAT;
    tiff->base.stored = stored;
    gf_tiff_prepare(handle, &tiff->layout);
    return gf_tiff_read_metadata(handle, &tiff->options, &tiff->base.metadata)
               ? prepare_colours(tiff, error)
               : gf_fail_memory(error);
}

/* Returns the bytes of the largest strip. libtiff holds a whole strip in memory while it decodes
 * the rows. */
static uint64_t largest_strip(const struct gf_tiff_handle *handle)
{
    const uint32_t count = gf_tiff.TIFFNumberOfStrips(handle->tiff);
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bytes = gf_tiff.TIFFGetStrileByteCount(handle->tiff, i);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Returns the bytes of rows, tiles and strips in memory while one thread decodes. */
static uint64_t block_bytes(struct gf_tiff_source *tiff)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    TIFF *const handle = tiff->handle[0].tiff;
    const bool tiled = layout->tile_width > 0;
    const uint64_t width = (unsigned)layout->format.width, row = gf_row_bytes(layout->format);
    uint32_t strip_rows = 0;
    gf_tiff.TIFFGetFieldDefaulted(handle, TIFFTAG_ROWSPERSTRIP, &strip_rows);
    const uint32_t most = (unsigned)layout->format.height;
    tiff->block_rows = tiled ? layout->tile_height : (int)(strip_rows < most ? strip_rows : most);
    const uint64_t rows = (unsigned)tiff->block_rows;
    if (layout->colour == GF_TIFF_DISPLAY) {
        const uint64_t block =
            tiled ? gf_tiff.TIFFTileSize64(handle) : rows * gf_tiff.TIFFScanlineSize64(handle);
        tiff->block_bytes = (size_t)block;
        return block ? rows * (4 * width + row) + 2 * block * (unsigned)layout->planes : 0;
    }
    const uint64_t block =
        tiled ? gf_tiff.TIFFTileSize64(handle) : gf_tiff.TIFFScanlineSize64(handle);
    tiff->block_bytes = (size_t)block;
    return block ? (tiled ? rows * row : 0) + block * (unsigned)layout->planes : 0;
}

/* Decides how the rows are read and how much memory that takes. A file that is too short for its
 * pixels is refused before memory is allocated: no compression makes a file smaller than 1/4096. */
static enum gf_status plan(struct gf_tiff_source *tiff, struct gf_error *error)
{
    enum { SMALL = 16 << 20, DENSEST = 4096, USUAL = 8 << 20 };
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const struct gf_tiff_handle *const handle = &tiff->handle[0];
    const bool tiled = layout->tile_width > 0, display = layout->colour == GF_TIFF_DISPLAY;
    uint64_t bytes = block_bytes(tiff);
    uint16_t fill = FILLORDER_MSB2LSB;
    if (!bytes || bytes > SMALL + (uint64_t)gf_input_size(tiff->input) * DENSEST)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: too short for its %s", handle->name,
                       tiled ? "tiles" : "rows");
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_FILLORDER, &fill);
    tiff->raw =
        !in_bands(tiff) && layout->compression == COMPRESSION_NONE && fill == FILLORDER_MSB2LSB;
    tiff->handles = display ? 1 : layout->planes;
    if (tiled && !display) {
        const int columns = tiff->columns = (layout->format.width - 1) / layout->tile_width + 1;
        const int threads = gf_library_threads(&tiff->options);
        tiff->handles = threads < columns ? threads : columns;
        tiff->handles = tiff->handles < GF_TIFF_THREADS_MAX ? tiff->handles : GF_TIFF_THREADS_MAX;
        bytes += 2 * tiff->block_bytes * (unsigned)layout->planes * (unsigned)tiff->handles;
    } else if (!tiled && !tiff->raw) {
        bytes += largest_strip(handle) * (unsigned)layout->planes;
    }
    tiff->base.memory = (struct gf_codec_memory){
        bytes > USUAL || tiff->file.size ? bytes + tiff->file.size : 0,
        tiled ? "a row of its tiles is decoded at a time" : "a strip of it is read at a time"};
    return GF_OK;
}

/* Allocates the memory of one thread, or of one plane of strips. */
static bool make_buffer(struct gf_tiff_source *tiff, int index)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const bool tiled = layout->tile_width > 0;
    if (tiled || !index)
        tiff->buffer[index] = malloc(tiff->block_bytes * (size_t)layout->planes);
    else
        tiff->buffer[index] = tiff->buffer[0] + (size_t)index * tiff->block_bytes;
    if (tiff->buffer[index] && (tiled || !index))
        tiff->scratch[index] = malloc(
            gf_tiff_scratch_bytes(layout, tiled ? layout->tile_width : layout->format.width));
    return tiff->buffer[index] && (tiff->scratch[index] || !(tiled || !index));
}

static enum gf_status make_buffers(struct gf_tiff_source *tiff, struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const bool display = layout->colour == GF_TIFF_DISPLAY;
    const size_t rows = (size_t)tiff->block_rows;
    bool done = !in_bands(tiff) || (tiff->band = malloc(gf_row_bytes(layout->format) * rows));
    if (done && display)
        done = (tiff->raster = malloc((size_t)layout->format.width * rows * sizeof *tiff->raster));
    for (int i = 0; done && !display && i < tiff->handles; i++)
        done = make_buffer(tiff, i);
    return done ? GF_OK : gf_fail_memory(error);
}

static enum gf_status open_all(struct gf_tiff_source *tiff, struct gf_input *input, int page,
                               struct gf_error *error)
{
    enum gf_status status = GF_OK;
    tiff->input = input;
    if (gf_input_size(input) <= 0) { /* a stream is copied to memory, because libtiff seeks */
        status = gf_whole_file(input, &tiff->options, &tiff->file, error);
        if (!status)
            status = gf_input_open_memory(tiff->file.data, tiff->file.size, gf_input_name(input),
                                          &tiff->memory, error);
        tiff->input = tiff->memory;
    }
    if (!status)
        status = open_first(tiff, page, error);
    if (!status)
        status = plan(tiff, error);
    for (int i = 1; !status && i < tiff->handles; i++)
        status = open_other(tiff, i, error);
    return status ? status : make_buffers(tiff, error);
}

enum gf_status gf_tiff_open_page(struct gf_input *input, int page, uint64_t directory,
                                 const struct gf_options *options, struct gf_source **source,
                                 struct gf_error *error)
{
    struct gf_tiff_source *const tiff = calloc(1, sizeof *tiff);
    if (!tiff)
        return gf_fail_memory(error);
    tiff->base =
        (struct gf_source){.metadata = {.orientation = 1}, .read = tiff_read, .close = tiff_close};
    tiff->options = *options;
    tiff->directory = directory;
    pthread_mutex_init(&tiff->lock, NULL);
    const enum gf_status status = open_all(tiff, input, page, error);
    if (status) {
        tiff_close(&tiff->base);
        return status;
    }
    *source = &tiff->base;
    return GF_OK;
}
