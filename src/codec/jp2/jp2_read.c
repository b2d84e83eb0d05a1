#include "codec/jp2/jp2.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/colour/colour.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/whole_picture.h"

struct jp2_source {
    struct gf_whole_source whole;
    struct gf_jp2_header header;
    struct gf_cmyk inks; /* the conversion of CMYK colours to RGB */
};

static void jp2_release(struct gf_whole_source *source)
{
    gf_cmyk_close(&((struct jp2_source *)source)->inks);
}

/* ---- the samples ---- */

static unsigned greatest(int bits)
{
    return bits >= 32 ? ~0u : (1u << bits) - 1;
}

/* Converts a sample from `bits` bits to `to` bits: round(value * M_to / M_bits), where M is the
 * largest number of so many bits. */
static unsigned widened(int64_t value, int bits, int to)
{
    const int64_t most = greatest(bits), wanted = greatest(to);
    value = value < 0 ? 0 : value > most ? most : value;
    return (unsigned)(bits == to ? value : (value * wanted + most / 2) / most);
}

static void put(unsigned char *pixels, size_t at, int bits, unsigned value)
{
    const uint16_t wide = (uint16_t)value;
    if (bits == 16)
        memcpy(pixels + 2 * at, &wide, 2);
    else
        pixels[at] = (unsigned char)value;
}

static int64_t sample_at(const unsigned char *pixels, size_t at, int bits)
{
    uint16_t wide;
    memcpy(&wide, pixels + (bits == 16 ? 2 * at : 0), 2);
    return bits == 16 ? wide : pixels[at];
}

/* Returns the index of the component's sample for a column or row of the picture. The component has
 * `count` samples in that direction, one for each `step` columns or rows. `origin` is where the
 * picture begins on the reference grid. */
static uint32_t index_of(uint32_t origin, uint32_t at, uint32_t step, uint32_t count)
{
    const uint64_t place = ((uint64_t)origin + at) / step,
                   first = ((uint64_t)origin + step - 1) / step;
    const uint64_t index = place > first ? place - first : 0;
    return index < count ? (uint32_t)index : count - 1;
}

/* Converts row y of the component that is channel c to every `step`-th sample of `row`. */
static void copy_row(const struct jp2_source *jp2, int c, const opj_image_t *image, int y,
                     unsigned char *row, int step)
{
    const struct gf_jp2_header *const header = &jp2->header;
    const struct gf_format format = jp2->whole.base.format;
    const struct gf_jp2_component component = gf_jp2_component(header, header->order[c]);
    const opj_image_comp_t *const from = &image->comps[header->order[c]];
    const int64_t zero = component.is_signed ? (int64_t)1 << (component.bits - 1) : 0;
    const OPJ_INT32 *const samples =
        from->data +
        (size_t)index_of(header->y0, (uint32_t)y, (uint32_t)component.dy, from->h) * from->w;
    for (int x = 0; x < format.width; x++) {
        const uint32_t at =
            component.dx == 1 ? (uint32_t)x
                              : index_of(header->x0, (uint32_t)x, (uint32_t)component.dx, from->w);
        put(row, (size_t)x * (size_t)step, format.bits,
            widened(samples[at] + zero, component.bits, format.bits));
    }
}

/* Converts pixels of three samples L*, a*, b* to sRGB. */
static void lab_to_rgb(const struct gf_jp2_header *header, const unsigned char *lab, int bits,
                       unsigned char *rgb, int pixels)
{
    static const double ranges[] = {100, 170, 200}, zeros[] = {0, 1 / 2., 3 / 8.};
    double range[3], low[3];
    for (int c = 0; c < 3; c++) {
        const double most = greatest(gf_jp2_component(header, header->order[c]).bits),
                     zero = header->lab ? gf_get_be(header->lab + 8 * c + 4, 4)
                                        : zeros[c] * (most + 1);
        range[c] = header->lab ? gf_get_be(header->lab + 8 * c, 4) : ranges[c];
        low[c] = -range[c] * zero / most;
        range[c] /= greatest(bits);
    }
    for (size_t i = 0; i < 3 * (size_t)pixels; i += 3) {
        float value[3], colour[3];
        for (size_t c = 0; c < 3; c++)
            value[c] = (float)(low[c] + range[c] * (double)sample_at(lab, i + c, bits));
        gf_lab_to_srgb(value[0], value[1], value[2], colour);
        for (size_t c = 0; c < 3; c++)
            put(rgb, i + c, bits, (unsigned)(colour[c] * (float)greatest(bits) + 0.5f));
    }
}

/* Copies the rows of a CMYK or L*a*b* picture, converted to RGB. */
static enum gf_status convert_components(const struct jp2_source *jp2, const opj_image_t *image,
                                         unsigned char *pixels, struct gf_error *error)
{
    enum { RGB = 3 };
    const struct gf_jp2_header *const header = &jp2->header;
    const struct gf_format format = jp2->whole.base.format;
    const size_t sample = (size_t)format.bits / 8, width = (size_t)format.width,
                 colours = (size_t)header->colours, pixel = (size_t)format.channels * sample;
    unsigned char *const stored = malloc((colours + RGB) * sample * width);
    GF_ALLOCATED(stored, error);
    unsigned char *const rgb = stored + colours * sample * width;
    for (int y = 0; y < format.height; y++, pixels += gf_row_bytes(format)) {
        for (size_t c = 0; c < colours; c++)
            copy_row(jp2, (int)c, image, y, stored + sample * c, header->colours);
        if (header->space == GF_JP2_CMYK)
            gf_cmyk_convert(&jp2->inks, stored, false, rgb, format.width);
        else
            lab_to_rgb(header, stored, format.bits, rgb, format.width);
        for (size_t x = 0; x < width; x++)
            memcpy(pixels + x * pixel, rgb + RGB * x * sample, RGB * sample);
        if (gf_has_alpha(format))
            copy_row(jp2, header->colours, image, y, pixels + RGB * sample, format.channels);
    }
    free(stored);
    return GF_OK;
}

static void copy_components(const struct jp2_source *jp2, const opj_image_t *image,
                            unsigned char *pixels)
{
    const struct gf_format format = jp2->whole.base.format;
    for (int y = 0; y < format.height; y++, pixels += gf_row_bytes(format))
        for (int c = 0; c < format.channels; c++)
            copy_row(jp2, c, image, y, pixels + c * format.bits / 8, format.channels);
}

/* Replaces the samples of the only component by the colours of the palette. An index beyond its end
 * means the last colour. */
static void copy_palette(const struct gf_jp2_header *header, const opj_image_comp_t *from,
                         struct gf_format format, unsigned char *pixels)
{
    const int bits = header->palette.bits, bytes = bits > 8 ? 2 : 1;
    const size_t count = (size_t)format.width * (size_t)format.height;
    for (size_t i = 0; i < count; i++) {
        const int last = header->palette.entries - 1, index = from->data[i];
        const unsigned char *const entry =
            header->palette.values + (size_t)(index < 0      ? 0
                                              : index > last ? last
                                                             : index) *
                                         (size_t)(header->palette.columns * bytes);
        for (int c = 0; c < format.channels; c++)
            put(pixels, i * (size_t)format.channels + (size_t)c, format.bits,
                widened(gf_get_be(entry + header->order[c] * bytes, bytes), bits, format.bits));
    }
}

/* ---- decoding ---- */

/* Returns how many samples a component has across or down for so many pixels, one for each `step`,
 * after a reduction by 1/reduction. */
static uint32_t samples_of(uint32_t pixels, uint32_t step, int reduction)
{
    return (uint32_t)((((uint64_t)pixels - 1) / step + (uint64_t)reduction) / (uint64_t)reduction);
}

/* Whether the decoded picture has the components and sizes that the header states. */
static bool is_as_declared(const struct gf_jp2_header *header, int reduction,
                           const opj_image_t *image)
{
    bool is = image->numcomps == (OPJ_UINT32)header->components;
    for (int c = 0; is && c < header->components; c++) {
        const opj_image_comp_t *const from = &image->comps[c];
        const struct gf_jp2_component component = gf_jp2_component(header, c);
        const uint32_t dx = (uint32_t)component.dx, dy = (uint32_t)component.dy;
        is =
            from->data && from->prec == (OPJ_UINT32)component.bits &&
            from->w ==
                samples_of(header->x1, dx, reduction) - ((uint64_t)header->x0 + dx - 1) / dx &&
            from->h == samples_of(header->y1, dy, reduction) - ((uint64_t)header->y0 + dy - 1) / dy;
    }
    return is;
}

static enum gf_status copy_pixels(const struct jp2_source *jp2, const opj_image_t *image,
                                  unsigned char *pixels, struct gf_error *error)
{
    const struct gf_format format = jp2->whole.base.format;
    const struct gf_jp2_header *const header = &jp2->header;
    const size_t count = (size_t)format.width * (size_t)format.height;
    if (gf_jp2_is_converted(header))
        GF_TRY(convert_components(jp2, image, pixels, error));
    else if (header->palette.entries)
        copy_palette(header, &image->comps[0], format, pixels);
    else
        copy_components(jp2, image, pixels);
    if (header->space == GF_JP2_YCC)
        gf_pixels_ycc_to_rgb(pixels, count, format.channels, format.bits);
    if (header->premultiplied)
        gf_pixels_unpremultiply(pixels, count, format.channels, format.bits);
    return GF_OK;
}

/* Decodes the codestream. Ignores warnings about the header, which may be about markers that
 * OpenJPEG does not know. lenient: code blocks whose data are truncated are left out. */
static bool decode_stream(const struct jp2_source *jp2, opj_codec_t *codec, bool lenient,
                          struct gf_jp2_stream *stream, opj_image_t **image)
{
    opj_dparameters_t parameters;
    opj_stream_t *const opened = gf_jp2_stream_open(stream, false);
    gf_jp2.opj_set_default_decoder_parameters(&parameters);
    while (jp2->whole.base.reduction >> (parameters.cp_reduce + 1))
        parameters.cp_reduce++;
    gf_jp2_prepare(codec, stream, gf_library_threads(&jp2->whole.options));
    if (lenient)
        gf_jp2_be_lenient(codec);
    bool done = opened && gf_jp2.opj_setup_decoder(codec, &parameters) &&
                gf_jp2.opj_read_header(opened, codec, image);
    if (done) {
        *stream->why = '\0';
        done = gf_jp2.opj_decode(codec, opened, *image);
    }
    if (opened)
        gf_jp2.opj_stream_destroy(opened);
    return done;
}

/* Decodes the file to *image, which the caller destroys, even after a failure. Returns whether all
 * of it or, if lenient, some of it was decoded; `why` says what is damaged. If the end marker is
 * missing, the bytes that gf_jp2_mend() adds reveal whether packets are missing, too. */
static bool make_image(const struct jp2_source *jp2, bool lenient, opj_image_t **image,
                       char why[GF_JP2_WHY_SIZE])
{
    const struct gf_jp2_header *const header = &jp2->header;
    const struct gf_blob mended = header->lacks
                                      ? gf_jp2_mend(header, !lenient)
                                      : (struct gf_blob){header->stream.data, header->end};
    struct gf_jp2_stream stream = {.data = mended.data, .size = mended.size};
    opj_codec_t *const codec = mended.data ? gf_jp2.opj_create_decompress(OPJ_CODEC_J2K) : NULL;
    stream.needs_sop =
        codec && header->has_sop_alone && memmem(mended.data, mended.size, "\xff\x91\0\4", 4);
    const bool done = codec && decode_stream(jp2, codec, lenient, &stream, image),
               is_whole = done && !*stream.why;
    if (codec)
        gf_jp2.opj_destroy_codec(codec);
    if (header->lacks)
        free(mended.data);
    if (header->lacks && is_whole && !lenient)
        snprintf(why, GF_JP2_WHY_SIZE, "its end marker is missing");
    else if (header->lacks || !is_whole)
        snprintf(why, GF_JP2_WHY_SIZE, "%s",
                 header->lacks ? header->lacks
                 : *stream.why ? stream.why
                               : "OpenJPEG cannot decode it");
    return is_whole || (lenient && done);
}

/* Decodes the whole picture or, if that fails and the options allow truncated files, what there is
 * of it. */
static bool make_some(const struct jp2_source *jp2, opj_image_t **image, char why[GF_JP2_WHY_SIZE])
{
    if (!jp2->header.is_cut && make_image(jp2, false, image, why))
        return true;
    if (*image)
        gf_jp2.opj_image_destroy(*image);
    *image = NULL;
    return jp2->whole.options.allow_truncated && errno != ENOMEM &&
           make_image(jp2, true, image, why);
}

static enum gf_status jp2_decode(struct gf_whole_source *source, unsigned char *pixels,
                                 struct gf_error *error)
{
    const struct jp2_source *const jp2 = (struct jp2_source *)source;
    opj_image_t *image = NULL;
    char why[GF_JP2_WHY_SIZE] = "";
    enum gf_status status = GF_OK;
    if (!make_some(jp2, &image, why))
        status = errno == ENOMEM
                     ? gf_fail_memory(error)
                     : gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %s%s", source->name, why,
                               jp2->header.lacks ? gf_truncated_hint(&source->options) : "");
    else if (!is_as_declared(&jp2->header, source->base.reduction, image))
        status = gf_whole_source_fail(source, "its picture is another than its header says", error);
    else
        status = copy_pixels(jp2, image, pixels, error);
    if (image)
        gf_jp2.opj_image_destroy(image);
    if (!status && *why)
        gf_warn(&source->options, "%s: damaged: %s", source->name, why);
    return status;
}

/* ---- the header ---- */

/* Returns how many bytes OpenJPEG takes for each pixel, beside the file: samples of four bytes in
 * the picture and, unless the only tile becomes the picture, in a tile; structs of tiles, levels,
 * precincts and code blocks; the list of packets. */
static double library_bytes(const struct gf_jp2_header *header)
{
    enum { SAMPLE = 4, TILE_BYTES = 8000, TILE_CHANNEL_BYTES = 1300, LEVEL_BYTES = 1024 };
    const double width = header->x1 - header->x0, height = header->y1 - header->y0;
    const double wide = header->tile_dx < width ? header->tile_dx : width,
                 high = header->tile_dy < height ? header->tile_dy : height;
    double samples = 0;
    for (int c = 0; c < header->components; c++)
        samples += 1.0 / (gf_jp2_component(header, c).dx * gf_jp2_component(header, c).dy);
    const double tile = header->tiles > 1 ? wide * high : 0;
    const double packets = 2.0 * header->layers * header->components * (header->levels + 1) *
                           (1 + wide * high * header->includes);
    const double levels = (double)header->components * (header->levels + 1) * LEVEL_BYTES;
    return samples * SAMPLE +
           (levels + samples * tile * SAMPLE + samples * wide * high * header->structs +
            (double)header->tiles * (TILE_BYTES + TILE_CHANNEL_BYTES * header->components) +
            packets + (double)header->stream.size * (header->lacks ? 2 : 1)) /
               (width * height);
}

/* Lists the sizes that lack levels of the wavelets. There are none of palettes, since the mean of
 * indices is meaningless, nor of pictures that do not begin at 0, 0 of the grid, since their halves
 * are rounded differently. */
static void list_levels(const struct gf_jp2_header *header, struct gf_source *base)
{
    const struct gf_format full = base->format;
    if (!header->least_levels || header->palette.entries || header->x0 || header->y0)
        return;
    for (int i = 0; i <= header->least_levels && i < GF_LEVELS_MOST; i++)
        base->level[base->levels++] = (struct gf_level){.width = ((full.width - 1) >> i) + 1,
                                                        .height = ((full.height - 1) >> i) + 1,
                                                        .divisor = 1 << i};
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    struct gf_jp2_header *const header = &((struct jp2_source *)whole)->header;
    GF_TRY(gf_jp2_header_read(&whole->file, whole->name, &whole->options, header,
                              &whole->base.metadata, error));
    int bits = header->palette.entries ? header->palette.bits : 0;
    for (int c = 0; !header->palette.entries && c < header->components; c++)
        bits = gf_jp2_component(header, c).bits > bits ? gf_jp2_component(header, c).bits : bits;
    whole->base.stored =
        (struct gf_stored){.pages = 1,
                           .bits = bits,
                           .colour = header->palette.entries        ? GF_STORED_PALETTE
                                     : header->space == GF_JP2_YCC  ? GF_STORED_YCBCR
                                     : header->space == GF_JP2_CMYK ? GF_STORED_CMYK
                                                                    : GF_STORED_PLAIN};
    const int colours = header->colours == 1 ? 1 : 3, channels = colours + (header->alpha >= 0);
    GF_TRY(gf_whole_source_describe(whole, header->x1 - header->x0, header->y1 - header->y0,
                                    channels, bits > 8 ? 16 : 8, library_bytes(header), error));
    list_levels(header, &whole->base);
    if (header->channels > header->colours + (header->alpha >= 0))
        gf_warn(&whole->options, "%s: has %d channels: the first %d%s are taken", whole->name,
                header->channels, header->colours, header->alpha >= 0 ? " and alpha" : "");
    return header->space == GF_JP2_CMYK
               ? gf_cmyk_open(&whole->base.metadata, whole->base.format.bits, whole->name,
                              &whole->options, &((struct jp2_source *)whole)->inks, error)
               : GF_OK;
}

GF_WHOLE_SOURCE(gf_jp2_source_open, .size = sizeof(struct jp2_source), .read_header = read_header,
                .decode = jp2_decode, .release = jp2_release)
