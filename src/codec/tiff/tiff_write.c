#include "codec/tiff/tiff.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"

enum { STRIP_BYTES = 256 << 10, JPEG_ROWS = 16 };

struct tiff_sink {
    struct gf_sink base;
    struct gf_tiff_handle handle;
    struct gf_tiff_coding coding;
    size_t row_bytes; /* bytes of a row in the file */
    int held;         /* rows in the buffer `rows` */
    uint32_t strip;   /* number of the next strip */
    unsigned char *rows;
    bool paged; /* several pages are written */
};

static enum gf_status write_strip(struct tiff_sink *tiff, struct gf_error *error)
{
    const size_t bytes = tiff->row_bytes * (size_t)tiff->held;
    tiff->held = 0;
    gf_tiff_begin(&tiff->handle);
    if (gf_tiff.TIFFWriteEncodedStrip(tiff->handle.tiff, tiff->strip++, tiff->rows,
                                      (tmsize_t)bytes) < 0)
        return gf_tiff_fail(&tiff->handle, -1, 0, error);
    return GF_OK;
}

static enum gf_status tiff_write(struct gf_sink *sink, int rows, const unsigned char *src,
                                 size_t pitch, struct gf_error *error)
{
    struct tiff_sink *const tiff = (struct tiff_sink *)sink;
    for (int y = 0; y < rows; y++) {
        const unsigned char *const from = src + (size_t)y * pitch;
        unsigned char *const to = tiff->rows + (size_t)tiff->held++ * tiff->row_bytes;
        if (tiff->coding.bits == 1)
            gf_samples_to_bits(from, to, (size_t)tiff->coding.format.width,
                               tiff->coding.format.bits);
        else
            memcpy(to, from, tiff->row_bytes);
        if (tiff->held == tiff->coding.strip_rows)
            GF_TRY(write_strip(tiff, error));
    }
    return GF_OK;
}

static enum gf_status tiff_finish(struct gf_sink *sink, struct gf_error *error)
{
    struct tiff_sink *const tiff = (struct tiff_sink *)sink;
    const enum gf_status status = tiff->held ? write_strip(tiff, error) : GF_OK;
    if (!status && !gf_tiff.TIFFWriteDirectory(tiff->handle.tiff))
        return gf_tiff_fail(&tiff->handle, -1, 0, error);
    tiff->strip = 0;
    return status;
}

static enum gf_status tiff_end(struct gf_sink *sink, struct gf_error *error)
{
    (void)sink;
    (void)error;
    return GF_OK;
}

/* Closes the sink. libtiff writes the directory when a handle is closed; it must not do so if the
 * output is abandoned. */
static void tiff_close(struct gf_sink *sink)
{
    struct tiff_sink *const tiff = (struct tiff_sink *)sink;
    tiff->handle.output = NULL;
    gf_tiff_close(&tiff->handle);
    free(tiff->rows);
    free(tiff);
}

static int strip_rows_of(struct gf_format format, const struct gf_options *options)
{
    const size_t rows = STRIP_BYTES / gf_tiff_row_bytes(format, gf_tiff_bits(format, options));
    const int most = rows > (size_t)format.height ? format.height : rows ? (int)rows : 1;
    return options->tiff_compression == GF_TIFF_JPEG
               ? (most + JPEG_ROWS - 1) / JPEG_ROWS * JPEG_ROWS
               : most;
}

struct gf_codec_memory gf_tiff_sink_memory(struct gf_format format,
                                           const struct gf_options *options)
{
    enum { USUAL = 8 << 20 };
    if (options->pyramid || options->tile_size)
        return gf_tiff_store_memory(format, options);
    const uint64_t bytes = 3 * (uint64_t)gf_tiff_row_bytes(format, gf_tiff_bits(format, options)) *
                           (unsigned)strip_rows_of(format, options);
    return (struct gf_codec_memory){bytes > USUAL ? bytes : 0, "a strip of it is packed at a time"};
}

/* Sets the tags and metadata of a page, and allocates memory for a strip. */
static enum gf_status tiff_turn(struct gf_sink *sink, const struct gf_sink_order *order,
                                struct gf_error *error)
{
    struct tiff_sink *const tiff = (struct tiff_sink *)sink;
    struct gf_tiff_handle *const handle = &tiff->handle;
    GF_TRY(gf_tiff_coding_of(order, &tiff->coding, error));
    tiff->coding.subfile = tiff->paged ? FILETYPE_PAGE : 0;
    tiff->coding.strip_rows = strip_rows_of(order->format, order->options);
    tiff->row_bytes = gf_tiff_row_bytes(order->format, tiff->coding.bits);
    free(tiff->rows);
    tiff->rows = malloc(tiff->row_bytes * (size_t)tiff->coding.strip_rows);
    GF_ALLOCATED(tiff->rows, error);
    const uint64_t bytes = (uint64_t)tiff->row_bytes * (unsigned)order->format.height;
    if (!handle->tiff)
        GF_TRY(gf_tiff_open(handle, NULL, order->output,
                            gf_tiff_mode(bytes, order->options->tiff_compression, order->metadata),
                            0, error));
    return gf_tiff_set_coding(handle, &tiff->coding)
               ? gf_tiff_write_metadata(handle, order->metadata, order->options, error)
               : gf_tiff_fail(handle, -1, 0, error);
}

static enum gf_status open_tiles(const struct gf_sink_order *order, struct gf_sink **sink,
                                 struct gf_error *error)
{
    struct gf_pyramid pyramid;
    struct gf_tile_store *store;
    GF_TRY(gf_tiff_store_open(order, &pyramid, &store, error));
    return gf_pyramid_sink_open(&pyramid, gf_codec_threads(order->options), store, sink, error);
}

enum gf_status gf_tiff_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                 struct gf_error *error)
{
    if (order->options->pyramid || order->options->tile_size)
        return open_tiles(order, sink, error);
    GF_NEW(struct tiff_sink, tiff, error);
    tiff->base = (struct gf_sink){.write = tiff_write, .finish = tiff_finish, .close = tiff_close};
    tiff->paged = order->metadata && order->metadata->animated;
    if (tiff->paged) {
        tiff->base.end = tiff_end;
        tiff->base.turn = tiff_turn;
    }
    GF_OPENED(tiff_turn(&tiff->base, order, error), tiff_close, &tiff->base, sink);
}
