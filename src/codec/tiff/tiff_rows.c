/* The three ways to read a TIFF's rows. The first: strips are read row by row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/tiff/tiff.h"

/* Swaps the bytes of samples of 16, 24, 32 or 64 bits, as libtiff does after decoding. */
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

/* A part of a row of strips: the columns that are read begin with a whole byte of the file. */
struct part {
    int first, columns;
    size_t at, bytes; /* where its bytes begin in a row of the file, and their number */
};

static struct part part_of(const struct gf_tiff_source *tiff)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const size_t bits = (size_t)layout->bits * (size_t)(layout->separate ? 1 : layout->samples);
    const int first = tiff->window.x / 8 * 8, end = tiff->window.x + tiff->window.width;
    const size_t at = (size_t)first / 8 * bits, stop = ((size_t)end * bits + 7) / 8;
    return (struct part){first, end - first, at, stop - at};
}

/* Reads the uncompressed part of a row of a plane from its offset in the file. Returns false after
 * a failure. */
static bool read_raw(struct gf_tiff_source *tiff, struct gf_tiff_handle *handle,
                     const struct part *part, int plane)
{
    const uint32_t strip =
        gf_tiff.TIFFComputeStrip(handle->tiff, (uint32_t)tiff->row, (uint16_t)plane);
    uint32_t strip_rows = 0;
    size_t got = 0;
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_ROWSPERSTRIP, &strip_rows);
    const uint64_t skipped = (uint64_t)((uint32_t)tiff->row % strip_rows) * tiff->block_bytes;
    const uint64_t offset = gf_tiff.TIFFGetStrileOffset(handle->tiff, strip) + skipped;
    unsigned char *const to = tiff->buffer[plane] + part->at;
    if (offset > INT64_MAX - tiff->block_bytes ||
        skipped + tiff->block_bytes > gf_tiff.TIFFGetStrileByteCount(handle->tiff, strip) ||
        gf_input_read_at(tiff->input, (int64_t)(offset + part->at), to, part->bytes, &got,
                         &handle->error))
        return false;
    if (gf_tiff.TIFFIsByteSwapped(handle->tiff))
        swap(&tiff->layout, to, part->bytes);
    return got == part->bytes;
}

/* Decodes a row of a plane. libtiff cannot go to a row within a compressed strip, so that those
 * above the window are decoded, too. */
static bool read_coded(struct gf_tiff_source *tiff, struct gf_tiff_handle *handle, int plane)
{
    const int row = tiff->row, rows = tiff->block_rows;
    bool done = true;
    for (int y = row == tiff->window.y ? row / rows * rows : row; done && y <= row; y++)
        done = !gf_time_check(&handle->error) &&
               gf_tiff.TIFFReadScanline(handle->tiff, tiff->buffer[plane], (uint32_t)y,
                                        (uint16_t)plane) >= 0;
    return done;
}

enum gf_status gf_tiff_read_strip_row(struct gf_tiff_source *tiff, unsigned char *dst,
                                      struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const struct part part = part_of(tiff);
    const size_t row_bytes = gf_row_bytes(tiff->base.format);
    const size_t pixel_bytes = row_bytes / (size_t)tiff->window.width;
    const bool begins = part.columns == tiff->window.width;
    for (int p = 0; p < layout->planes; p++) {
        if (!gf_tiff_needs(layout, p))
            continue;
        struct gf_tiff_handle *const handle = &tiff->handle[p];
        gf_tiff_begin(handle);
        const bool done =
            tiff->raw ? read_raw(tiff, handle, &part, p) : read_coded(tiff, handle, p);
        if (!done && tiff->raw && !handle->error.status)
            return gf_fail_truncated(error, handle->name, tiff->row, layout->format.height);
        if (!done)
            return gf_tiff_fail(handle, tiff->row, layout->format.height, error);
    }
    /* The buffers of the planes follow each other in memory, block_bytes apart. */
    if (!gf_tiff_convert(layout, tiff->buffer[0] + part.at, tiff->block_bytes, tiff->scratch[0],
                         begins ? dst : tiff->line, part.columns))
        tiff->beyond[0] = true;
    if (!begins)
        memcpy(dst, tiff->line + (size_t)(tiff->window.x - part.first) * pixel_bytes, row_bytes);
    return GF_OK;
}

/* ---- tiles, which several threads decode, each with a handle of its own ---- */

/* Decodes a tile of a plane. Libtiff would read uncompressed pixels of a missing tile from the
 * file's first bytes. */
static bool decode_tile(struct gf_tiff_source *tiff, struct gf_tiff_handle *handle, int x,
                        int plane, unsigned char *pixels)
{
    const tmsize_t bytes = (tmsize_t)tiff->block_bytes;
    const uint32_t number = gf_tiff.TIFFComputeTile(handle->tiff, (uint32_t)x,
                                                    (uint32_t)tiff->band_first, 0, (uint16_t)plane);
    const uint64_t least = tiff->layout.compression == COMPRESSION_NONE ? tiff->block_bytes : 1;
    gf_tiff_begin(handle);
    if (!gf_tiff.TIFFGetStrileOffset(handle->tiff, number) ||
        gf_tiff.TIFFGetStrileByteCount(handle->tiff, number) < least) {
        snprintf(handle->why, sizeof handle->why, "a tile is missing");
        return false;
    }
    return gf_tiff.TIFFReadEncodedTile(handle->tiff, number, pixels, bytes) == bytes;
}

/* Decodes a tile of the band and converts its pixels to their place. */
static enum gf_status read_tile(void *context, int thread, int item, struct gf_error *error)
{
    struct gf_tiff_source *const tiff = context;
    const int column = tiff->wanted[item - tiff->handed];
    const struct gf_tiff_layout *const layout = &tiff->layout;
    struct gf_tiff_handle *const handle = &tiff->handle[thread];
    const int x = column * layout->tile_width, width = layout->format.width;
    const int pixels = width - x < layout->tile_width ? width - x : layout->tile_width;
    const size_t tile_row = tiff->block_bytes / (size_t)layout->tile_height;
    unsigned char *const place = gf_tiff_place(tiff, column), *const tile =
                                                                  tiff->as_decoded
                                                                      ? place
                                                                      : tiff->buffer[thread];
    for (int p = 0; p < layout->planes; p++) {
        if (!gf_tiff_needs(layout, p))
            continue;
        if (layout->is_jp2) {
            GF_TRY(gf_tiff_read_jp2(tiff, thread,
                                    gf_tiff.TIFFComputeTile(handle->tiff, (uint32_t)x,
                                                            (uint32_t)tiff->band_first, 0, 0),
                                    error));
            continue;
        }
        if (!decode_tile(tiff, handle, x, p, tile + (size_t)p * tiff->block_bytes))
            return gf_tiff_fail(handle, tiff->band_first, layout->format.height, error);
    }
    for (int y = 0; !tiff->as_decoded && y < tiff->band_rows; y++) {
        if (!gf_tiff_convert(layout, tile + (size_t)y * tile_row, tiff->block_bytes,
                             tiff->scratch[thread], place + (size_t)y * gf_tiff_band_pitch(tiff),
                             pixels))
            tiff->beyond[thread] = true;
    }
    return GF_OK;
}

enum gf_status gf_tiff_read_tiles(struct gf_tiff_source *tiff, struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const int first = tiff->band_x / layout->tile_width;
    const struct gf_ordered_setup setup = {
        .call = read_tile, .context = tiff, .threads = tiff->handles, .slots = tiff->columns};
    int count = 0;
    tiff->band_first = tiff->row / layout->tile_height * layout->tile_height;
    const int left = layout->format.height - tiff->band_first;
    tiff->band_rows = left < layout->tile_height ? left : layout->tile_height;
    if (!tiff->ordered)
        GF_TRY(gf_ordered_open(&setup, &tiff->ordered, error));
    for (int i = 0; i < tiff->columns; i++) {
        if (!gf_tiff_take_kept(tiff, first + i))
            tiff->wanted[count++] = first + i;
    }
    for (int i = 0; i < count; i++)
        gf_ordered_submit(tiff->ordered);
    const enum gf_status status = gf_ordered_finish(tiff->ordered, error);
    tiff->handed += count;
    if (!status && tiff->more)
        gf_tiff_keep(tiff, count);
    return status;
}

/* ---- pictures that libtiff converts to 8 bits ---- */

/* Lets libtiff convert the rows of the band to pixels in tiff->raster, the first row first. */
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
    tiff->band_first = tiff->row / tiff->block_rows * tiff->block_rows;
    const int left = format.height - tiff->band_first;
    tiff->band_rows = left < tiff->block_rows ? left : tiff->block_rows;
    if (!fill_raster(tiff))
        return gf_tiff_fail(&tiff->handle[0], tiff->band_first, format.height, error);
    const size_t pixels = (size_t)format.width * (size_t)tiff->band_rows;
    unsigned char *to = tiff->band;
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < format.channels; c++)
            *to++ = (unsigned char)(tiff->raster[i] >> 8 * c);
    return GF_OK;
}

/* ---- percentiles of the samples as the range from black to white ---- */

/* Reads all rows, so that their samples are counted in layout.counts. */
static enum gf_status count_rows(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                 unsigned char *row, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    memset(tiff->layout.counts->count, 0, sizeof tiff->layout.counts->count);
    for (int y = 0; !status && y < tiff->base.format.height; y++)
        status = read(tiff, row, error);
    tiff->row = tiff->band_first = tiff->band_rows = 0;
    return status;
}

/* Returns the number i for which the sample of rank *rank (0: the least) is counted in count[i],
 * and makes *rank its rank among the samples in count[i]. */
static uint16_t find(const uint64_t count[GF_TIFF_COUNTS], uint64_t *rank)
{
    int i = 0;
    while (i < GF_TIFF_COUNTS - 1 && *rank >= count[i])
        *rank -= count[i++];
    return (uint16_t)i;
}

static double value_of(uint16_t upper, uint16_t lower)
{
    const uint32_t key = (uint32_t)upper << 16 | lower;
    return (double)gf_float_of_bits(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

static enum gf_status find_percentiles(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                       unsigned char *row, struct gf_error *error)
{
    enum { PER_MILLE = 1000 };
    struct gf_tiff_counts *const counts = tiff->layout.counts;
    uint64_t total = 0;
    enum gf_status status = count_rows(tiff, read, row, error);
    for (int i = 0; i < GF_TIFF_COUNTS; i++)
        total += counts->count[0][i];
    if (status || !total)
        return status;
    uint64_t rank[2] = {total / PER_MILLE, total - 1 - total / PER_MILLE};
    for (int i = 0; i < 2; i++)
        counts->upper[i] = find(counts->count[0], &rank[i]);
    counts->fine = true;
    status = count_rows(tiff, read, row, error);
    if (status)
        return status;
    const double low = value_of(counts->upper[0], find(counts->count[0], &rank[0])),
                 high = value_of(counts->upper[1], find(counts->count[1], &rank[1]));
    if (low < high) { /* if all samples are equal the usual range stays */
        tiff->layout.low = low;
        tiff->layout.high = high;
    }
    return GF_OK;
}

enum gf_status gf_tiff_find_range(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                  struct gf_error *error)
{
    unsigned char *const row = malloc(gf_row_bytes(tiff->base.format));
    tiff->layout.counts = calloc(1, sizeof *tiff->layout.counts);
    const enum gf_status status = row && tiff->layout.counts
                                      ? find_percentiles(tiff, read, row, error)
                                      : gf_fail_memory(error);
    free(tiff->layout.counts);
    tiff->layout.counts = NULL;
    free(row);
    if (!status)
        gf_warn(&tiff->options, "%s: the range of its samples is %.9g..%.9g", tiff->handle[0].name,
                tiff->layout.low, tiff->layout.high);
    return status;
}
