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

static bool is_jpeg(const struct gf_options *options)
{
    return options->tiff_compression == GF_TIFF_JPEG;
}

/* Returns the bytes of a row in the file. */
static size_t row_bytes_of(struct gf_format format, const struct gf_options *options)
{
    return ((size_t)format.width * (size_t)format.channels * (size_t)options->depth + 7) / 8;
}

static int strip_rows_of(struct gf_format format, const struct gf_options *options)
{
    const size_t rows = STRIP_BYTES / row_bytes_of(format, options);
    const int most = rows > (size_t)format.height ? format.height : rows ? (int)rows : 1;
    return is_jpeg(options) ? (most + JPEG_ROWS - 1) / JPEG_ROWS * JPEG_ROWS : most;
}

static bool set(const struct gf_tiff_handle *handle, uint32_t tag, int value)
{
    return gf_tiff.TIFFSetField(handle->tiff, tag, value);
}

static bool set_jpeg(const struct gf_tiff_handle *handle, const struct gf_tiff_coding *coding)
{
    const struct gf_options *const options = coding->options;
    const int across = gf_subsampling_of(options) == GF_SUBSAMPLING_444 ? 1 : 2,
              down = gf_subsampling_of(options) == GF_SUBSAMPLING_420 ? 2 : 1;
    if (!set(handle, TIFFTAG_COMPRESSION, COMPRESSION_JPEG) ||
        !set(handle, TIFFTAG_JPEGQUALITY, options->quality))
        return false;
    return coding->format.channels == 1 || coding->inks ||
           (set(handle, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR) &&
            set(handle, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) &&
            gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_YCBCRSUBSAMPLING, across, down));
}

/* Chooses another compression than JPEG. The predictor stores differences of neighbours, which
 * compress better. */
static bool set_other(const struct gf_tiff_handle *handle, int bits,
                      const struct gf_options *options)
{
    static const int compressions[] = {[GF_TIFF_DEFLATE] = COMPRESSION_ADOBE_DEFLATE,
                                       [GF_TIFF_LZW] = COMPRESSION_LZW,
                                       [GF_TIFF_NONE] = COMPRESSION_NONE,
                                       [GF_TIFF_ZSTD] = COMPRESSION_ZSTD,
                                       [GF_TIFF_G4] = COMPRESSION_CCITTFAX4,
                                       [GF_TIFF_WEBP] = COMPRESSION_WEBP};
    const int compression = compressions[options->tiff_compression];
    if (compression == COMPRESSION_WEBP)
        return set(handle, TIFFTAG_COMPRESSION, compression) &&
               set(handle, TIFFTAG_WEBP_LEVEL, options->quality) &&
               set(handle, TIFFTAG_WEBP_LOSSLESS, options->lossless);
    return set(handle, TIFFTAG_COMPRESSION, compression) &&
           (compression == COMPRESSION_NONE || bits == 1 ||
            set(handle, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL)) &&
           (compression != COMPRESSION_ADOBE_DEFLATE ||
            set(handle, TIFFTAG_ZIPQUALITY, options->png_level ? options->png_level : 1));
}

static bool set_blocks(const struct gf_tiff_handle *handle, const struct gf_tiff_coding *coding)
{
    return coding->tile_width ? set(handle, TIFFTAG_TILEWIDTH, coding->tile_width) &&
                                    set(handle, TIFFTAG_TILELENGTH, coding->tile_height)
                              : set(handle, TIFFTAG_ROWSPERSTRIP, coding->strip_rows);
}

bool gf_tiff_set_coding(const struct gf_tiff_handle *handle, const struct gf_tiff_coding *coding)
{
    const struct gf_format format = coding->format;
    uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    const int photometric = coding->inks                      ? PHOTOMETRIC_SEPARATED
                            : gf_colour_channels(format) == 3 ? PHOTOMETRIC_RGB
                                                              : PHOTOMETRIC_MINISBLACK;
    return (!coding->subfile || set(handle, TIFFTAG_SUBFILETYPE, coding->subfile)) &&
           set(handle, TIFFTAG_IMAGEWIDTH, format.width) &&
           set(handle, TIFFTAG_IMAGELENGTH, format.height) &&
           set(handle, TIFFTAG_BITSPERSAMPLE, coding->bits) &&
           set(handle, TIFFTAG_SAMPLESPERPIXEL, format.channels) &&
           set(handle, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
           set(handle, TIFFTAG_PHOTOMETRIC, photometric) &&
           (!coding->inks || set(handle, TIFFTAG_INKSET, INKSET_CMYK)) &&
           (!gf_has_alpha(format) || coding->inks ||
            gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha)) &&
           (is_jpeg(coding->options) ? set_jpeg(handle, coding)
                                     : set_other(handle, coding->bits, coding->options)) &&
           set_blocks(handle, coding);
}

struct gf_codec_memory gf_tiff_sink_memory(struct gf_format format,
                                           const struct gf_options *options)
{
    enum { USUAL = 8 << 20 };
    if (options->pyramid || options->tile_size)
        return gf_tiff_store_memory(format, options);
    const uint64_t bytes =
        3 * (uint64_t)row_bytes_of(format, options) * (unsigned)strip_rows_of(format, options);
    return (struct gf_codec_memory){bytes > USUAL ? bytes : 0, "a strip of it is packed at a time"};
}

const char *gf_tiff_mode(uint64_t bytes, const struct gf_metadata *metadata)
{
    static const char *const modes[2][2] = {{"w", "w8"}, {"wb", "w8b"}};
    uint64_t first = 0;
    const bool big_endian = metadata && gf_exif_reader(&metadata->exif, &first).big_endian;
    return modes[big_endian][bytes + bytes / 16 > UINT32_MAX];
}

enum gf_status gf_tiff_coding_of(const struct gf_sink_order *order, struct gf_tiff_coding *coding,
                                 struct gf_error *error)
{
    const char *const name = gf_output_name(order->output);
    const struct gf_options *const options = order->options;
    *coding = (struct gf_tiff_coding){.format = order->format,
                                      .inks = order->metadata && order->metadata->inks,
                                      .bits = options->depth,
                                      .options = options};
    if (options->tiff_compression == GF_TIFF_G4 && coding->bits != 1)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: G4 is for 1 bit (options.depth)", name);
    if (options->tiff_compression == GF_TIFF_WEBP &&
        (coding->bits != 8 || coding->inks || gf_colour_channels(coding->format) < 3))
        return gf_fail(error, GF_ERROR_UNFIT, "%s: WebP in TIFF has RGB of 8 bits", name);
    /* Before version 4.5.1 libtiff lets libwebp change the colours of what is transparent. */
    if (options->tiff_compression == GF_TIFF_WEBP && options->lossless &&
        gf_has_alpha(coding->format))
        return gf_fail(error, GF_ERROR_UNFIT, "%s: WebP in TIFF is not lossless with alpha", name);
    if (!is_jpeg(options))
        return GF_OK;
    if (options->lossless)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: JPEG in TIFF is never lossless", name);
    if (coding->bits == 8 && (coding->inks || !gf_has_alpha(coding->format)))
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNFIT, "%s: JPEG in TIFF has 8 bits and no alpha", name);
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
    tiff->row_bytes = row_bytes_of(order->format, order->options);
    free(tiff->rows);
    tiff->rows = malloc(tiff->row_bytes * (size_t)tiff->coding.strip_rows);
    if (!tiff->rows)
        return gf_fail_memory(error);
    const uint64_t bytes = (uint64_t)tiff->row_bytes * (unsigned)order->format.height;
    if (!handle->tiff)
        GF_TRY(gf_tiff_open(handle, NULL, order->output, gf_tiff_mode(bytes, order->metadata), 0,
                            error));
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
    struct tiff_sink *const tiff = calloc(1, sizeof *tiff);
    if (!tiff)
        return gf_fail_memory(error);
    tiff->base = (struct gf_sink){.write = tiff_write, .finish = tiff_finish, .close = tiff_close};
    tiff->paged = order->metadata && order->metadata->animated;
    if (tiff->paged) {
        tiff->base.end = tiff_end;
        tiff->base.turn = tiff_turn;
    }
    const enum gf_status status = tiff_turn(&tiff->base, order, error);
    if (status)
        tiff_close(&tiff->base);
    else
        *sink = &tiff->base;
    return status;
}
