/* How the pixels of a TIFF are coded: what fits a compression, and the tags that say it. */
#include "codec/common/checks.h"
#include "codec/tiff/tiff.h"

static bool is_jpeg(const struct gf_options *options)
{
    return options->tiff_compression == GF_TIFF_JPEG;
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
static bool set_other(const struct gf_tiff_handle *handle, const struct gf_tiff_coding *coding,
                      const struct gf_options *options)
{
    const int predictor =
        gf_is_float(coding->format) ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL;
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
           (compression == COMPRESSION_NONE || coding->bits == 1 ||
            set(handle, TIFFTAG_PREDICTOR, predictor)) &&
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
           (!gf_is_float(format) || set(handle, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP)) &&
           set(handle, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
           set(handle, TIFFTAG_PHOTOMETRIC, photometric) &&
           (!coding->inks || set(handle, TIFFTAG_INKSET, INKSET_CMYK)) &&
           (!gf_has_alpha(format) || coding->inks ||
            gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha)) &&
           (is_jpeg(coding->options) ? set_jpeg(handle, coding)
                                     : set_other(handle, coding, coding->options)) &&
           set_blocks(handle, coding);
}

const char *gf_tiff_mode(uint64_t bytes, enum gf_tiff_compression compression,
                         const struct gf_metadata *metadata)
{
    static const char *const modes[2][2] = {{"w", "w8"}, {"wb", "w8b"}};
    /* How many times its bytes noise may take. LZW has up to 12 bits for a byte, and G4 12 for two
     * pixels. The lists of tiles, and what Deflate adds, take less than a sixteenth. */
    static const int growth[] = {
        [GF_TIFF_DEFLATE] = 1, [GF_TIFF_LZW] = 2, [GF_TIFF_NONE] = 1, [GF_TIFF_JPEG] = 2,
        [GF_TIFF_ZSTD] = 1,    [GF_TIFF_G4] = 6,  [GF_TIFF_WEBP] = 2};
    uint64_t first = 0;
    const bool big_endian = metadata && gf_exif_reader(&metadata->exif, &first).big_endian;
    return modes[big_endian][(bytes + bytes / 16) * (uint64_t)growth[compression] > UINT32_MAX];
}

enum gf_status gf_tiff_coding_of(const struct gf_sink_order *order, struct gf_tiff_coding *coding,
                                 struct gf_error *error)
{
    const char *const name = gf_output_name(order->output);
    const struct gf_options *const options = order->options;
    *coding = (struct gf_tiff_coding){.format = order->format,
                                      .inks = order->metadata && order->metadata->inks,
                                      .bits = gf_tiff_bits(order->format, options),
                                      .options = options};
    if (options->tiff_compression == GF_TIFF_G4 && coding->bits != 1)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: G4 is for 1 bit (options.depth)", name);
    /* Before version 4.5.1 libtiff lets libwebp change the colours of what is transparent. */
    if (options->tiff_compression == GF_TIFF_WEBP &&
        (coding->bits != 8 || coding->inks || gf_colour_channels(coding->format) < 3 ||
         (options->lossless && gf_has_alpha(coding->format))))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: WebP in TIFF has RGB of 8 bits, and alpha unless it is lossless", name);
    if (!is_jpeg(options))
        return GF_OK;
    if (options->lossless)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: JPEG in TIFF is never lossless", name);
    if (coding->bits == 8 && (coding->inks || !gf_has_alpha(coding->format)))
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNFIT, "%s: JPEG in TIFF has 8 bits and no alpha", name);
}
