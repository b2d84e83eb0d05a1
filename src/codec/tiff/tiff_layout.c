#include "codec/tiff/tiff_layout.h"

#include <stdarg.h>
#include <stdio.h>

#include "codec/common/checks.h"

/* Fails for an unsupported kind of TIFF, which the message names: "of CMYK inks". */
GF_PRINTF(3, 4)
static enum gf_status refuse(const struct gf_tiff_handle *handle, struct gf_error *error,
                             const char *format, ...)
{
    char kind[100];
    va_list values;
    va_start(values, format);
    vsnprintf(kind, sizeof kind, format, values);
    va_end(values);
    return gf_fail(error, GF_ERROR_INPUT, "%s: a TIFF %s, which is not read", handle->name, kind);
}

struct name {
    int number;
    const char *text;
};

/* Returns the text for a number. The last text of the list is for all other numbers. */
static const char *name_of(const struct name *names, int number)
{
    while (names->number >= 0 && names->number != number)
        names++;
    return names->text;
}

static const struct name colour_names[] = {{PHOTOMETRIC_MASK, "that is a mask"},
                                           {PHOTOMETRIC_SEPARATED, "of CMYK or other inks"},
                                           {PHOTOMETRIC_YCBCR, "of YCbCr without JPEG"},
                                           {PHOTOMETRIC_CIELAB, "of CIE L*a*b* colours"},
                                           {PHOTOMETRIC_ICCLAB, "of ICC L*a*b* colours"},
                                           {PHOTOMETRIC_ITULAB, "of ITU L*a*b* colours"},
                                           {PHOTOMETRIC_CFA, "of a camera's raw samples"},
                                           {PHOTOMETRIC_LOGL, "of LogL luminance"},
                                           {PHOTOMETRIC_LOGLUV, "of LogLuv colours"},
                                           {-1, "of unknown colours"}};

static const struct name sample_names[] = {{SAMPLEFORMAT_INT, "of signed integers"},
                                           {SAMPLEFORMAT_IEEEFP, "of floating-point numbers"},
                                           {SAMPLEFORMAT_COMPLEXINT, "of complex numbers"},
                                           {SAMPLEFORMAT_COMPLEXIEEEFP, "of complex numbers"},
                                           {-1, "of unknown numbers"}};

static int number(const struct gf_tiff_handle *handle, uint32_t tag, int missing)
{
    uint16_t value = (uint16_t)missing;
    return gf_tiff.TIFFGetFieldDefaulted(handle->tiff, tag, &value) ? value : missing;
}

/* Guesses the photometric interpretation, which some writers forget, from the number of samples.
 * Fails if the meaning of a sample would remain unknown. */
static enum gf_status guess_colours(const struct gf_tiff_handle *handle,
                                    struct gf_tiff_layout *layout, struct gf_error *error)
{
    uint16_t count = 0, inks, *kinds = NULL;
    if (gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_INKSET, &inks))
        return refuse(handle, error, "%s", name_of(colour_names, PHOTOMETRIC_SEPARATED));
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    layout->colours = layout->samples;
    for (int i = 0; i < count; i++) /* does not count kinds that libtiff adds and no standard has */
        layout->colours -= kinds[i] != EXTRASAMPLE_UNSPECIFIED;
    return layout->colours == 1 || layout->colours == 3
               ? GF_OK
               : refuse(handle, error, "that does not say what its %d samples a pixel are",
                        layout->samples);
}

static enum gf_status read_photometric(const struct gf_tiff_handle *handle,
                                       struct gf_tiff_layout *layout, struct gf_error *error)
{
    const int photometric = number(handle, TIFFTAG_PHOTOMETRIC, -1);
    layout->colours = photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR ? 3 : 1;
    layout->inverted = photometric == PHOTOMETRIC_MINISWHITE;
    layout->has_palette = photometric == PHOTOMETRIC_PALETTE;
    const bool jpeg = layout->compression == COMPRESSION_JPEG;
    if (photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE ||
        photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_PALETTE ||
        (photometric == PHOTOMETRIC_YCBCR && jpeg))
        return GF_OK;
    return photometric < 0 ? guess_colours(handle, layout, error)
                           : refuse(handle, error, "%s", name_of(colour_names, photometric));
}

static enum gf_status read_palette(const struct gf_tiff_handle *handle,
                                   struct gf_tiff_layout *layout, struct gf_error *error)
{
    uint16_t *colour[3];
    const int count = 1 << layout->bits;
    unsigned greatest = 0;
    if (layout->bits > 8 || layout->samples != 1)
        return refuse(handle, error, "of a palette with %d samples a pixel of %d bits",
                      layout->samples, layout->bits);
    if (!gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_COLORMAP, &colour[0], &colour[1], &colour[2]))
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: its palette is missing", handle->name);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            greatest = colour[c][i] > greatest ? colour[c][i] : greatest;
    /* Some writers store 8 bits although the format has 16. */
    const unsigned most = greatest > 255 ? 65535 : 255;
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            layout->palette[i][c] = (unsigned char)((colour[c][i] * 255u + most / 2) / most);
    return GF_OK;
}

/* Finds the alpha: the first sample after the colours that is declared as alpha. */
static void find_alpha(const struct gf_tiff_handle *handle, const struct gf_options *options,
                       struct gf_tiff_layout *layout)
{
    uint16_t count = 0, *kinds = NULL;
    const int more = layout->samples - layout->colours;
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    for (int i = 0; i < more && i < count && !layout->alpha_at; i++) {
        if (kinds[i] == EXTRASAMPLE_ASSOCALPHA || kinds[i] == EXTRASAMPLE_UNASSALPHA)
            layout->alpha_at = layout->colours + i;
        layout->associated = kinds[i] == EXTRASAMPLE_ASSOCALPHA;
    }
    layout->associated &= layout->alpha_at > 0;
    if (more > !!layout->alpha_at)
        gf_warn(options, "%s: %d of its samples a pixel are neither colour nor alpha: left out",
                handle->name, more - !!layout->alpha_at);
}

static enum gf_status check_bits(const struct gf_tiff_handle *handle,
                                 const struct gf_tiff_layout *layout, struct gf_error *error)
{
    const int kind = number(handle, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT), bits = layout->bits;
    if (kind != SAMPLEFORMAT_UINT && kind != SAMPLEFORMAT_VOID)
        return refuse(handle, error, "%s", name_of(sample_names, kind));
    if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16)
        return refuse(handle, error, "of samples of %d bits", bits);
    if (bits < 8 && layout->samples > 1)
        return refuse(handle, error, "of %d samples a pixel of %d bits", layout->samples, bits);
    if (layout->samples < layout->colours || layout->samples > 64)
        return refuse(handle, error, "of %d samples a pixel", layout->samples);
    if (gf_tiff.TIFFIsCODECConfigured(layout->compression))
        return GF_OK;
    const TIFFCodec *const codec = gf_tiff.TIFFFindCODEC(layout->compression);
    return codec ? refuse(handle, error, "packed by %s", codec->name)
                 : refuse(handle, error, "of compression %d", layout->compression);
}

/* Reads the size of tiles. Tiles may exceed the picture, but a damaged header must not cause large
 * allocations. */
static enum gf_status read_tiles(const struct gf_tiff_handle *handle, uint32_t width,
                                 uint32_t height, struct gf_tiff_layout *layout,
                                 struct gf_error *error)
{
    enum { USUAL = 1024 };
    uint32_t across = 0, down = 0;
    if (!gf_tiff.TIFFIsTiled(handle->tiff))
        return GF_OK;
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_TILEWIDTH, &across);
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_TILELENGTH, &down);
    if (!across || !down || across > width + USUAL || down > height + USUAL)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: tiles of %ux%u in a picture of %ux%u",
                       handle->name, across, down, width, height);
    layout->tile_width = (int)across;
    layout->tile_height = (int)down;
    return GF_OK;
}

enum gf_status gf_tiff_read_layout(const struct gf_tiff_handle *handle,
                                   const struct gf_options *options, struct gf_tiff_layout *layout,
                                   struct gf_error *error)
{
    uint32_t width = 0, height = 0;
    *layout = (struct gf_tiff_layout){
        .samples = number(handle, TIFFTAG_SAMPLESPERPIXEL, 1),
        .bits = number(handle, TIFFTAG_BITSPERSAMPLE, 1),
        .compression = (uint16_t)number(handle, TIFFTAG_COMPRESSION, COMPRESSION_NONE)};
    layout->separate = layout->samples > 1 && number(handle, TIFFTAG_PLANARCONFIG,
                                                     PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
    layout->planes = layout->separate ? layout->samples : 1;
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_IMAGEWIDTH, &width);
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_IMAGELENGTH, &height);
    enum gf_status status = gf_size_check(handle->name, width, height, options, error);
    if (!status)
        status = read_photometric(handle, layout, error);
    if (!status)
        status = check_bits(handle, layout, error);
    if (!status && layout->has_palette)
        status = read_palette(handle, layout, error);
    if (!status)
        status = read_tiles(handle, width, height, layout, error);
    if (status)
        return status;
    find_alpha(handle, options, layout);
    layout->format = (struct gf_format){
        .width = (int)width,
        .height = (int)height,
        .channels = layout->has_palette ? 3 : layout->colours + !!layout->alpha_at,
        .bits = layout->bits == 16 ? 16 : 8};
    return GF_OK;
}

void gf_tiff_prepare(const struct gf_tiff_handle *handle, const struct gf_tiff_layout *layout)
{
    if (layout->compression == COMPRESSION_JPEG && layout->colours == 3)
        gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}
