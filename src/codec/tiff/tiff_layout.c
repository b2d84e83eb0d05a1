#include "codec/tiff/tiff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
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

/* Returns the text of a list for a number. The last text, of number -1, is for all others. */
static const char *name_of(const struct name *names, int number)
{
    while (names->number >= 0 && names->number != number)
        names++;
    return names->text;
}

/* The colours that cannot be read. */
static const struct name colour_names[] = {{PHOTOMETRIC_ITULAB, "of ITU L*a*b* colours"},
                                           {PHOTOMETRIC_CFA, "of a camera's raw samples"},
                                           {34892, "of a camera's raw samples"},
                                           {-1, "of unknown colours"}};

/* The colours that can be read. */
static const struct {
    int photometric, colours;
    enum gf_tiff_colour colour;
} readable[] = {
    {PHOTOMETRIC_MINISBLACK, 1, GF_TIFF_PLAIN}, {PHOTOMETRIC_MINISWHITE, 1, GF_TIFF_PLAIN},
    {PHOTOMETRIC_MASK, 1, GF_TIFF_PLAIN},       {PHOTOMETRIC_RGB, 3, GF_TIFF_PLAIN},
    {PHOTOMETRIC_PALETTE, 1, GF_TIFF_PALETTE},  {PHOTOMETRIC_SEPARATED, 4, GF_TIFF_CMYK},
    {PHOTOMETRIC_CIELAB, 3, GF_TIFF_CIELAB},    {PHOTOMETRIC_ICCLAB, 3, GF_TIFF_ICCLAB},
    {PHOTOMETRIC_YCBCR, 3, GF_TIFF_DISPLAY},    {PHOTOMETRIC_LOGL, 1, GF_TIFF_DISPLAY},
    {PHOTOMETRIC_LOGLUV, 3, GF_TIFF_DISPLAY}};

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
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    layout->colours = layout->samples;
    /* Libtiff itself adds entries of a kind that no standard has, which do not count. */
    for (int i = 0; i < count; i++)
        layout->colours -= kinds[i] != EXTRASAMPLE_UNSPECIFIED;
    if (gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_INKSET, &inks) && layout->colours == 4) {
        layout->colour = GF_TIFF_CMYK;
        return GF_OK;
    }
    return layout->colours == 1 || layout->colours == 3
               ? GF_OK
               : refuse(handle, error, "that does not say what its %d samples a pixel are",
                        layout->samples);
}

static enum gf_status check_inks(const struct gf_tiff_handle *handle,
                                 const struct gf_tiff_layout *layout, struct gf_error *error)
{
    if (layout->samples < layout->colours)
        return refuse(handle, error, "of %d inks", layout->samples);
    return number(handle, TIFFTAG_INKSET, INKSET_CMYK) == INKSET_CMYK
               ? GF_OK
               : refuse(handle, error, "of inks that are not CMYK");
}

static enum gf_status read_photometric(const struct gf_tiff_handle *handle,
                                       struct gf_tiff_layout *layout, struct gf_error *error)
{
    const int photometric = number(handle, TIFFTAG_PHOTOMETRIC, -1),
              count = (int)(sizeof readable / sizeof *readable);
    int i = 0;
    if (photometric < 0) {
        GF_TRY(guess_colours(handle, layout, error));
        return layout->colour == GF_TIFF_CMYK ? check_inks(handle, layout, error) : GF_OK;
    }
    while (i < count && readable[i].photometric != photometric)
        i++;
    if (i == count)
        return refuse(handle, error, "%s", name_of(colour_names, photometric));
    layout->colour = readable[i].colour;
    layout->colours = readable[i].colours;
    layout->inverted = photometric == PHOTOMETRIC_MINISWHITE;
    /* libtiff's decoder of JPEG gives RGB. */
    if (photometric == PHOTOMETRIC_YCBCR &&
        (layout->compression == COMPRESSION_JPEG || layout->is_jp2))
        layout->colour = GF_TIFF_PLAIN;
    return layout->colour == GF_TIFF_CMYK ? check_inks(handle, layout, error) : GF_OK;
}

/* Makes layout->palette: RGB of 8 bits, or of 16 bits if the indices have more than 8. */
static enum gf_status read_palette(const struct gf_tiff_handle *handle,
                                   struct gf_tiff_layout *layout, struct gf_error *error)
{
    uint16_t *colour[3];
    unsigned greatest = 0;
    if (layout->bits > 16 || layout->number != GF_TIFF_UNSIGNED)
        return refuse(handle, error, "of a palette with samples of %d bits", layout->bits);
    if (!gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_COLORMAP, &colour[0], &colour[1], &colour[2]))
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: its palette is missing", handle->name);
    const int count = 1 << layout->bits, bits = layout->bits > 8 ? 16 : 8;
    const unsigned wanted = bits == 16 ? 65535 : 255;
    /* The table has an entry for each value of 8 or 16 bits, so that no damaged index lies beyond
     * it. */
    unsigned char *const narrow = calloc(bits == 16 ? 65536 : 256, bits == 16 ? 6 : 3);
    uint16_t *const words = (uint16_t *)(void *)narrow;
    GF_ALLOCATED(layout->palette = narrow, error);
    for (int i = 0; i < 3 * count; i++)
        greatest = colour[i % 3][i / 3] > greatest ? colour[i % 3][i / 3] : greatest;
    /* Some writers store 8 bits although a TIFF's palette has 16. */
    const unsigned most = greatest > 255 ? 65535 : 255;
    for (int i = 0; i < 3 * count; i++) {
        const uint64_t value = ((uint64_t)colour[i % 3][i / 3] * wanted + most / 2) / most;
        if (bits == 16)
            words[i] = (uint16_t)value;
        else
            narrow[i] = (unsigned char)value;
    }
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

/* Reads the type of the samples' numbers and checks that this code can convert them. */
static enum gf_status read_numbers(const struct gf_tiff_handle *handle,
                                   const struct gf_options *options, struct gf_tiff_layout *layout,
                                   struct gf_error *error)
{
    const int kind = number(handle, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    const bool lab = layout->colour == GF_TIFF_CIELAB || layout->colour == GF_TIFF_ICCLAB;
    if (kind != SAMPLEFORMAT_UINT && kind != SAMPLEFORMAT_VOID && kind != SAMPLEFORMAT_INT &&
        kind != SAMPLEFORMAT_IEEEFP)
        return refuse(handle, error, "of complex or unknown numbers");
    layout->number = kind == SAMPLEFORMAT_IEEEFP        ? GF_TIFF_FLOAT
                     : kind == SAMPLEFORMAT_INT && !lab ? GF_TIFF_SIGNED
                                                        : GF_TIFF_UNSIGNED;
    if (!gf_tiff_can_unpack(layout) || (lab && (gf_tiff_is_wide(layout) || layout->bits % 8)))
        return refuse(handle, error, "of %ssamples of %d bits",
                      layout->number == GF_TIFF_FLOAT ? "floating-point "
                      : lab                           ? "L*a*b* "
                                                      : "",
                      layout->bits);
    layout->is_reversed = layout->bits == 24 && layout->number != GF_TIFF_FLOAT &&
                          gf_tiff.TIFFIsByteSwapped(handle->tiff);
    gf_tiff_usual_range(layout, &layout->low, &layout->high);
    if (gf_tiff_is_wide(layout) && options->range_low < options->range_high) {
        layout->low = options->range_low;
        layout->high = options->range_high;
    }
    return GF_OK;
}

static bool is_compression(const void *compression, const char *mark)
{
    return *(const uint16_t *)compression == strtol(mark, NULL, 10);
}

static enum gf_status check_kind(const struct gf_tiff_handle *handle,
                                 const struct gf_tiff_layout *layout, struct gf_error *error)
{
    if (layout->samples < layout->colours || layout->samples > 64)
        return refuse(handle, error, "of %d samples a pixel", layout->samples);
    if (layout->compression == COMPRESSION_JPEG && layout->bits != 8)
        return refuse(handle, error, "of JPEG with samples of %d bits", layout->bits);
    if (layout->is_jp2 && gf_tiff.TIFFIsTiled(handle->tiff) && layout->bits == 8 &&
        layout->planes == 1 && layout->number == GF_TIFF_UNSIGNED)
        return gf_tiff_load_jp2(handle->name, error);
    if (gf_tiff.TIFFIsCODECConfigured(layout->compression))
        return GF_OK;
    const TIFFCodec *const codec = gf_tiff.TIFFFindCODEC(layout->compression);
    GF_TRY(gf_fail_needs(handle->name, "libtiff", gf_tiff.TIFFGetVersion(), is_compression,
                         &layout->compression, error));
    if (codec)
        return gf_fail(error, GF_ERROR_INPUT, "%s: libtiff was built without %s here", handle->name,
                       codec->name);
    return refuse(handle, error, "of compression %d", layout->compression);
}

/* Asks libtiff whether it can convert the picture. */
static enum gf_status check_display(const struct gf_tiff_handle *handle, struct gf_error *error)
{
    char why[1024] = "";
    return gf_tiff.TIFFRGBAImageOK(handle->tiff, why)
               ? GF_OK
               : refuse(handle, error, "of a kind of YCbCr or LogLuv (%.70s)", why);
}

/* Reads the size of tiles. Tiles may exceed the picture, but a damaged header must not cause large
 * allocations. Levels of a pyramid are often far smaller than a tile. */
static enum gf_status read_tiles(const struct gf_tiff_handle *handle, uint32_t width,
                                 uint32_t height, struct gf_tiff_layout *layout,
                                 struct gf_error *error)
{
    uint32_t across = 0, down = 0;
    if (!gf_tiff.TIFFIsTiled(handle->tiff))
        return GF_OK;
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_TILEWIDTH, &across);
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_TILELENGTH, &down);
    if (!across || !down || across > width + GF_TILE_SIZE_MAX || down > height + GF_TILE_SIZE_MAX)
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
    layout->is_jp2 =
        layout->compression == GF_TIFF_JP2_YCC || layout->compression == GF_TIFF_JP2_RGB;
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_IMAGEWIDTH, &width);
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_IMAGELENGTH, &height);
    enum gf_status status = gf_size_check(handle->name, width, height, options, error);
    GF_THEN(status, read_photometric(handle, layout, error));
    if (!status && layout->colour == GF_TIFF_DISPLAY)
        status = check_display(handle, error);
    else if (!status)
        status = read_numbers(handle, options, layout, error);
    GF_THEN(status, check_kind(handle, layout, error));
    if (!status && layout->colour == GF_TIFF_PALETTE)
        status = read_palette(handle, layout, error);
    GF_THEN(status, read_tiles(handle, width, height, layout, error));
    if (status)
        return status;
    if (layout->colour != GF_TIFF_DISPLAY)
        find_alpha(handle, options, layout);
    const bool ranged = options->range_percentile || options->range_low < options->range_high;
    if (layout->associated && gf_tiff_is_wide(layout) && ranged)
        return refuse(handle, error, "by a range whose colours are multiplied by alpha");
    const int colours =
        layout->colour == GF_TIFF_PLAIN || layout->colour == GF_TIFF_DISPLAY ? layout->colours : 3;
    const bool deep =
        layout->colour != GF_TIFF_DISPLAY && (layout->bits > 8 || gf_tiff_is_wide(layout));
    layout->format = (struct gf_format){.width = (int)width,
                                        .height = (int)height,
                                        .channels = colours + !!layout->alpha_at,
                                        .bits = deep ? 16 : 8};
    if (layout->number == GF_TIFF_FLOAT && layout->colour == GF_TIFF_PLAIN && !ranged) {
        layout->format.samples = GF_SAMPLES_FLOAT;
        layout->format.bits =
            layout->bits == 16 && !layout->inverted && !layout->associated ? 16 : 32;
    }
    return GF_OK;
}

void gf_tiff_layout_free(struct gf_tiff_layout *layout)
{
    free(layout->palette);
    layout->palette = NULL;
    gf_cmyk_close(&layout->cmyk);
}

void gf_tiff_prepare(const struct gf_tiff_handle *handle, const struct gf_tiff_layout *layout)
{
    if (layout->compression == COMPRESSION_JPEG && layout->colours == 3)
        gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}
