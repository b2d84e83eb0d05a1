#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/ordered_work.h"
#include "codec/common/samples.h"
#include "codec/common/whole_source.h"
#include "codec/tiff/tiff_layout.h"
#include "codec/tiff/tiff_metadata.h"
#include "codec/tiff/tiff_page.h"

enum { THREADS_MAX = 32, HANDLES_MAX = THREADS_MAX > 64 ? THREADS_MAX : 64 };

struct tiff_source {
    struct gf_source base;
    struct gf_tiff_layout layout;
    struct gf_options options;
    struct gf_input *input, *memory; /* memory: holds a stream's bytes and then is also `input` */
    struct gf_blob file;
    uint64_t directory; /* offset of the picture's directory; 0: the first */
    /* One handle for each thread (tiles), or for each plane (strips). */
    struct gf_tiff_handle handle[HANDLES_MAX];
    unsigned char *buffer[HANDLES_MAX]; /* a tile of each plane, or a row of the plane */
    unsigned char *joined[HANDLES_MAX]; /* a row of interleaved pixels */
    int handles;
    size_t block_bytes; /* bytes of a tile, or of a row, in one plane */
    bool raw;           /* uncompressed strips, which are read without libtiff */
    int row;            /* the next row */
    /* Only for tiles: a row of tiles, converted. */
    unsigned char *band;
    int band_first, band_rows, columns;
    struct gf_ordered_work *work;
    struct gf_error failure; /* the first failure in a band */
    pthread_mutex_t lock;
};

static enum gf_status fail_row(struct tiff_source *tiff, const struct gf_tiff_handle *handle,
                               int row, struct gf_error *error)
{
    return gf_tiff_fail(handle, row, tiff->base.format.height, error);
}

/* Decodes a tile of the band and copies its pixels to their place. */
static bool read_tile(void *context, int thread, int item)
{
    struct tiff_source *const tiff = context;
    const int column = item % tiff->columns;
    const struct gf_tiff_layout *const layout = &tiff->layout;
    struct gf_tiff_handle *const handle = &tiff->handle[thread];
    const int x = column * layout->tile_width, width = layout->format.width;
    const int pixels = width - x < layout->tile_width ? width - x : layout->tile_width;
    const size_t pixel_bytes = gf_row_bytes(layout->format) / (size_t)width,
                 tile_row = tiff->block_bytes / (size_t)layout->tile_height;
    unsigned char *const tile = tiff->buffer[thread];
    for (int p = 0; p < layout->planes; p++) {
        const uint32_t number = gf_tiff.TIFFComputeTile(handle->tiff, (uint32_t)x,
                                                        (uint32_t)tiff->band_first, 0, (uint16_t)p);
        gf_tiff_begin(handle);
        if (gf_tiff.TIFFReadEncodedTile(handle->tiff, number, tile + (size_t)p * tiff->block_bytes,
                                        (tmsize_t)tiff->block_bytes) !=
            (tmsize_t)tiff->block_bytes) {
            pthread_mutex_lock(&tiff->lock);
            if (!tiff->failure.status)
                (void)fail_row(tiff, handle, tiff->band_first, &tiff->failure);
            pthread_mutex_unlock(&tiff->lock);
            return false;
        }
    }
    for (int y = 0; y < tiff->band_rows; y++) {
        const unsigned char *from = tile + (size_t)y * tile_row;
        if (layout->separate) {
            gf_tiff_interleave(layout, from, tiff->block_bytes, tiff->joined[thread], pixels);
            from = tiff->joined[thread];
        }
        gf_tiff_convert(layout, from,
                        tiff->band + (size_t)y * gf_row_bytes(layout->format) +
                            (size_t)x * pixel_bytes,
                        pixels);
    }
    return true;
}

/* Decodes the row of tiles that contains the next row of pixels. */
static enum gf_status read_band(struct tiff_source *tiff, struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const int columns = tiff->columns, left = layout->format.height - tiff->row;
    bool failed = false;
    tiff->band_first = tiff->row;
    tiff->band_rows = left < layout->tile_height ? left : layout->tile_height;
    if (!tiff->work) {
        const enum gf_status status =
            gf_ordered_work_open(tiff->handles, columns, read_tile, tiff, &tiff->work, error);
        if (status)
            return status;
    }
    for (int i = 0; i < columns; i++)
        gf_ordered_work_submit(tiff->work);
    for (int i = 0; i < columns; i++)
        (void)gf_ordered_work_take(tiff->work, true, &failed);
    if (tiff->failure.status && error)
        *error = tiff->failure;
    return tiff->failure.status;
}

static enum gf_status read_tiled(struct tiff_source *tiff, int rows, unsigned char *dst,
                                 size_t pitch, struct gf_error *error)
{
    const size_t row_bytes = gf_row_bytes(tiff->base.format);
    for (int y = 0; y < rows; y++, tiff->row++) {
        if (tiff->row == tiff->band_first + tiff->band_rows) {
            const enum gf_status status = read_band(tiff, error);
            if (status)
                return status;
        }
        memcpy(dst + (size_t)y * pitch,
               tiff->band + (size_t)(tiff->row - tiff->band_first) * row_bytes, row_bytes);
    }
    return GF_OK;
}

/* Reads an uncompressed row from its offset in the file. */
static bool read_raw(struct tiff_source *tiff, struct gf_tiff_handle *handle, int plane)
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
    if (tiff->layout.bits == 16 && gf_tiff.TIFFIsByteSwapped(handle->tiff))
        gf_samples_swap(tiff->buffer[plane], tiff->block_bytes / 2);
    return got == tiff->block_bytes;
}

static enum gf_status read_strip_row(struct tiff_source *tiff, unsigned char *dst,
                                     struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const unsigned char *from = tiff->buffer[0];
    for (int p = 0; p < layout->planes; p++) {
        struct gf_tiff_handle *const handle = &tiff->handle[p];
        gf_tiff_begin(handle);
        const bool done = tiff->raw
                              ? read_raw(tiff, handle, p)
                              : gf_tiff.TIFFReadScanline(handle->tiff, tiff->buffer[p],
                                                         (uint32_t)tiff->row, (uint16_t)p) >= 0;
        if (!done && tiff->raw && !handle->error.status)
            return gf_fail_truncated(error, handle->name, tiff->row, layout->format.height);
        if (!done)
            return fail_row(tiff, handle, tiff->row, error);
    }
    if (layout->separate) {
        /* The buffers of the planes follow each other in memory. */
        gf_tiff_interleave(layout, tiff->buffer[0], tiff->block_bytes, tiff->joined[0],
                           layout->format.width);
        from = tiff->joined[0];
    }
    gf_tiff_convert(layout, from, dst, layout->format.width);
    return GF_OK;
}

static enum gf_status tiff_read(struct gf_source *source, int rows, unsigned char *dst,
                                size_t pitch, struct gf_error *error)
{
    struct tiff_source *const tiff = (struct tiff_source *)source;
    enum gf_status status = GF_OK;
    if (tiff->layout.tile_width)
        return read_tiled(tiff, rows, dst, pitch, error);
    for (int y = 0; !status && y < rows; y++, tiff->row++)
        status = read_strip_row(tiff, dst + (size_t)y * pitch, error);
    return status;
}

static void tiff_close(struct gf_source *source)
{
    struct tiff_source *const tiff = (struct tiff_source *)source;
    gf_ordered_work_close(tiff->work);
    for (int i = 0; i < HANDLES_MAX; i++) {
        gf_tiff_close(&tiff->handle[i]);
        if (tiff->layout.tile_width || !i)
            free(tiff->buffer[i]);
        free(tiff->joined[i]);
    }
    gf_input_close(tiff->memory);
    gf_metadata_free(&source->metadata);
    pthread_mutex_destroy(&tiff->lock);
    free(tiff->file.data);
    free(tiff->band);
    free(tiff);
}

static enum gf_status open_other(struct tiff_source *tiff, int index, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[index];
    enum gf_status status = gf_tiff_open(handle, tiff->input, NULL, "rm", error);
    if (!status)
        status = gf_tiff_go_to(handle, tiff->directory, error);
    if (!status)
        gf_tiff_prepare(handle, &tiff->layout);
    return status;
}

static enum gf_status open_first(struct tiff_source *tiff, int wanted, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[0];
    enum gf_status status = gf_tiff_open(handle, tiff->input, NULL, "rm", error);
    if (!status)
        status = gf_tiff_choose(handle, wanted, &tiff->options, &tiff->directory, error);
    if (!status)
        status = gf_tiff_read_layout(handle, &tiff->options, &tiff->layout, error);
    if (status)
        return status;
    tiff->base.format = tiff->layout.format;
    tiff->base.stored = (struct gf_stored){.pages = handle->pages,
                                           .bits = tiff->layout.bits,
                                           .colour = tiff->layout.has_palette ? GF_STORED_PALETTE
                                                                              : GF_STORED_PLAIN};
    gf_tiff_prepare(handle, &tiff->layout);
    return gf_tiff_read_metadata(handle, &tiff->base.metadata) ? GF_OK : gf_fail_memory(error);
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

/* Decides how the rows are read and how much memory that takes. A file that is too short for its
 * pixels is refused before memory is allocated: no compression makes a file smaller than 1/4096. */
static enum gf_status plan(struct tiff_source *tiff, struct gf_error *error)
{
    enum { SMALL = 16 << 20, DENSEST = 4096 };
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const struct gf_tiff_handle *const handle = &tiff->handle[0];
    const uint64_t file_bytes = (uint64_t)gf_input_size(tiff->input);
    const bool tiled = layout->tile_width > 0;
    const uint64_t block =
        tiled ? gf_tiff.TIFFTileSize64(handle->tiff) : gf_tiff.TIFFScanlineSize64(handle->tiff);
    const uint64_t band =
        tiled ? (uint64_t)gf_row_bytes(layout->format) * (unsigned)layout->tile_height : 0;
    uint64_t bytes = band + block * (unsigned)layout->planes;
    uint16_t fill = FILLORDER_MSB2LSB;
    if (!block || bytes > SMALL + file_bytes * DENSEST)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: too short for its %s", handle->name,
                       tiled ? "tiles" : "rows");
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_FILLORDER, &fill);
    tiff->raw = !tiled && layout->compression == COMPRESSION_NONE && fill == FILLORDER_MSB2LSB;
    tiff->block_bytes = (size_t)block;
    tiff->handles = layout->planes;
    if (tiled) {
        const int columns = tiff->columns = (layout->format.width - 1) / layout->tile_width + 1;
        const int threads = gf_library_threads(&tiff->options);
        tiff->handles = threads < columns ? threads : columns;
        tiff->handles = tiff->handles < THREADS_MAX ? tiff->handles : THREADS_MAX;
        bytes += 2 * block * (unsigned)layout->planes * (unsigned)tiff->handles;
    } else if (!tiff->raw) {
        bytes += largest_strip(handle) * (unsigned)layout->planes;
    }
    enum { USUAL = 8 << 20 };
    tiff->base.memory = (struct gf_codec_memory){
        bytes > USUAL || tiff->file.size ? bytes + tiff->file.size : 0,
        tiled ? "a row of its tiles is decoded at a time" : "a strip of it is read at a time"};
    return GF_OK;
}

static enum gf_status make_buffers(struct tiff_source *tiff, struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const bool tiled = layout->tile_width > 0;
    const size_t planes = (size_t)layout->planes;
    bool done = true;
    if (tiled)
        done = (tiff->band = malloc(gf_row_bytes(layout->format) * (size_t)layout->tile_height));
    for (int i = 0; done && i < tiff->handles; i++) {
        if (tiled || !i)
            done = (tiff->buffer[i] = malloc(tiff->block_bytes * planes));
        else
            tiff->buffer[i] = tiff->buffer[0] + (size_t)i * tiff->block_bytes;
        const size_t row =
            tiled ? tiff->block_bytes / (size_t)layout->tile_height : tiff->block_bytes;
        if (done && layout->separate)
            done = (tiff->joined[i] = malloc(row * planes));
    }
    return done ? GF_OK : gf_fail_memory(error);
}

static enum gf_status open_all(struct tiff_source *tiff, struct gf_input *input,
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
        status = open_first(tiff, gf_input_page(input), error);
    if (!status)
        status = plan(tiff, error);
    for (int i = 1; !status && i < tiff->handles; i++)
        status = open_other(tiff, i, error);
    return status ? status : make_buffers(tiff, error);
}

enum gf_status gf_tiff_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error)
{
    struct tiff_source *const tiff = calloc(1, sizeof *tiff);
    if (!tiff)
        return gf_fail_memory(error);
    tiff->base =
        (struct gf_source){.metadata = {.orientation = 1}, .read = tiff_read, .close = tiff_close};
    tiff->options = *options;
    pthread_mutex_init(&tiff->lock, NULL);
    const enum gf_status status = open_all(tiff, input, error);
    if (status) {
        tiff_close(&tiff->base);
        return status;
    }
    *source = &tiff->base;
    return GF_OK;
}
