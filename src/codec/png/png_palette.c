/* Writes a PNG with a palette. The first part of the file holds a whole picture whose colours are
 * to be reduced to a palette, and reduces them. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/palette/palette.h"
#include "codec/common/rows/samples.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_write.h"
#include "gpufilter/options.h"

struct gf_png_held {
    struct gf_image picture; /* has samples of 8 bits; its data is NULL if no picture is held */
    int rows;                /* the number of rows so far */
    /* A sample of 16 bits was rounded, because no 8-bit sample stands for the same value. */
    bool rounded;
    struct gf_palette palette;
};

static GF_CHECKED enum gf_status png_hold_open(struct gf_png_held *held, struct gf_format format,
                                               struct gf_error *error)
{
    format.bits = 8;
    return gf_image_alloc(&held->picture, format, error);
}

/* Sets the palette and the index of each pixel, and frees the picture. Returns GF_ERROR_UNFIT if
 * options->lossless is set, and colours have changed. */
static GF_CHECKED enum gf_status png_reduce(struct gf_png_held *held, const char *name,
                                            const struct gf_options *options,
                                            unsigned char *indices, struct gf_error *error)
{
    const int most = options->png_colours;
    const enum gf_status status =
        gf_palette_make(&held->picture, most, gf_codec_threads(options), !options->no_dither,
                        &held->palette, indices, error);
    gf_image_free(&held->picture);
    if (status)
        return status;
    return options->lossless && (held->rounded || !held->palette.exact)
               ? gf_fail(error, GF_ERROR_UNFIT,
                         "%s: a palette of %d colours of 8 bits is not lossless for this picture",
                         name, most)
               : GF_OK;
}

static bool are_levels_of_8(const unsigned char *row, size_t samples)
{
    for (size_t i = 0; i < samples; i++) {
        if (row[2 * i] != row[2 * i + 1])
            return false;
    }
    return true;
}

/* Adds the next rows, whose samples have 8 or 16 bits. */
static void png_hold_rows(struct gf_png_held *held, int bits, int rows, const unsigned char *src,
                          size_t pitch)
{
    const struct gf_image *const picture = &held->picture;
    const size_t samples = gf_row_bytes(picture->format);
    for (int y = 0; y < rows; y++, held->rows++) {
        const unsigned char *const row = src + (size_t)y * pitch;
        unsigned char *const to = picture->data + (size_t)held->rows * picture->pitch;
        if (bits == 8) {
            memcpy(to, row, samples);
        } else {
            gf_samples_narrow(row, to, samples);
            held->rounded = held->rounded || !are_levels_of_8(row, samples);
        }
    }
}

/* Returns the least number of bits, 1 to 8, with which gray samples can have all levels of the
 * palette. Returns 0 if the palette has colours or alpha, or if an index has fewer bits, `bits`,
 * than that. */
static int png_gray_bits(const struct gf_palette *palette, int bits)
{
    int least = 1;
    for (int i = 0; i < palette->colours; i++) {
        const unsigned char *const rgba = palette->rgba[i];
        if (rgba[0] != rgba[1] || rgba[0] != rgba[2] || rgba[3] != 255)
            return 0;
        while (rgba[0] % (255 / ((1 << least) - 1)))
            least *= 2;
    }
    return least <= bits ? least : 0;
}

enum { COLOURS_MOST = GF_PALETTE_MOST, GRAY_TYPE = 0, PALETTE_TYPE = 3 };
enum { HELD_MOST = 8 << 20 }; /* pixels whose indices are held in memory that is not counted */

struct palette_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_options options;
    struct gf_format format;
    struct gf_palette_table table;
    bool fixed;             /* the palette is the input's and does not grow */
    int bits;               /* bits of an index, when all colours are known */
    int gray_bits;          /* the bits of an index if indices are samples of gray; otherwise 0 */
    int row;                /* the next row */
    unsigned char *indices; /* the indices of all rows so far, or of one row if the palette is
                             * fixed */
    unsigned char *packed;  /* one row, packed for the file */
    struct gf_png_stripes *stripes; /* NULL: colours are still being collected */
    bool plain;                     /* too many colours: rows are written without a palette */
    bool gray_profile;              /* the metadata has an ICC profile of gray */
    struct gf_png_held held;        /* the rows, if the colours are to be reduced */
};

/* Returns the index of a colour. A new colour is added. Returns -1 if the palette is fixed or
 * full. */
static int index_of(struct palette_sink *sink, const unsigned char rgba[4])
{
    return gf_palette_table_find(&sink->table, rgba, sink->fixed ? 0 : COLOURS_MOST);
}

/* Converts a row to indices. Returns false if there are too many colours. A row that is missing in
 * a damaged file may have a colour that a fixed palette lacks; it gets index 0. */
static bool index_row(struct palette_sink *sink, const unsigned char *row, unsigned char *indices)
{
    const int channels = sink->format.channels;
    for (int x = 0; x < sink->format.width; x++) {
        unsigned char rgba[4];
        gf_palette_rgba_of(row + (size_t)x * (size_t)channels, channels, rgba);
        const int index = index_of(sink, rgba);
        if (index < 0 && !sink->fixed)
            return false;
        indices[x] = (unsigned char)(index < 0 ? 0 : index);
    }
    return true;
}

static enum gf_status write_palette(const struct palette_sink *sink, struct gf_error *error)
{
    unsigned char plte[3 * COLOURS_MOST] = {0}, alpha[COLOURS_MOST];
    size_t clear = 0;
    for (int i = 0; i < sink->table.colours; i++) {
        memcpy(plte + 3 * i, sink->table.rgba[i], 3);
        alpha[i] = sink->table.rgba[i][3];
        clear = alpha[i] < 255 ? (size_t)i + 1 : clear;
    }
    GF_TRY(gf_png_chunk_write(sink->output, "PLTE", plte, 3 * (size_t)sink->table.colours, error));
    return clear ? gf_png_chunk_write(sink->output, "tRNS", alpha, clear, error) : GF_OK;
}

/* Writes the palette, and opens the stripes, which compress the rows of packed indices. All colours
 * must be known. */
static enum gf_status begin_indices(struct palette_sink *sink, struct gf_error *error)
{
    struct gf_format packed = {.height = sink->format.height, .channels = 1, .bits = 8};
    /* Gray of many levels compresses better when it is filtered, gray of fewer levels when it is
     * not. */
    const bool filtered = sink->gray_bits == 8 && sink->table.colours > 64;
    packed.width = (sink->format.width * sink->bits + 7) / 8;
    if (!sink->gray_bits)
        GF_TRY(write_palette(sink, error));
    return gf_png_stripes_open(sink->output, packed, !filtered, &sink->options, &sink->stripes,
                               error);
}

static int bits_for(int colours)
{
    return colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8;
}

static enum gf_status write_indices(struct palette_sink *sink, const unsigned char *indices,
                                    struct gf_error *error)
{
    const size_t bytes = ((size_t)sink->format.width * (size_t)sink->bits + 7) / 8;
    memset(sink->packed, 0, bytes);
    for (size_t x = 0; x < (size_t)sink->format.width; x++) {
        const size_t bit = x * (size_t)sink->bits;
        sink->packed[bit / 8] |= (unsigned char)(indices[x] << (8 - (size_t)sink->bits - bit % 8));
    }
    return gf_png_stripes_write(sink->stripes, 1, sink->packed, bytes, error);
}

/* Replaces the header, which follows the signature. */
static enum gf_status set_header(const struct palette_sink *sink, int bits, int type,
                                 struct gf_error *error)
{
    unsigned char header[GF_PNG_HEADER_BYTES];
    gf_png_make_header(header, sink->format, bits, type);
    return gf_output_write_at(sink->output, GF_PNG_SIGNATURE_BYTES, header, sizeof header, error);
}

/* Writes the picture without a palette, because it has too many colours. The earlier rows are
 * restored from their indices. */
static enum gf_status give_up(struct palette_sink *sink, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    const int channels = format.channels;
    gf_warn(&sink->options, "%s: has more than %d colours: it is written without a palette",
            gf_output_name(sink->output), COLOURS_MOST);
    enum gf_status status = set_header(sink, 8, gf_png_colour_type(format), error);
    GF_THEN(status, gf_png_stripes_open(sink->output, format, false, &sink->options, &sink->stripes,
                                        error));
    for (int y = 0; !status && y < sink->row; y++) {
        const unsigned char *const indices = sink->indices + (size_t)y * (size_t)format.width;
        for (int x = 0; x < format.width; x++) {
            const unsigned char *const rgba = sink->table.rgba[indices[x]];
            unsigned char *const to = sink->packed + (size_t)x * (size_t)channels;
            memcpy(to, rgba, (size_t)gf_colour_channels(format));
            if (gf_has_alpha(format))
                to[channels - 1] = rgba[3];
        }
        status = gf_png_stripes_write(sink->stripes, 1, sink->packed, gf_row_bytes(format), error);
    }
    sink->plain = true;
    free(sink->indices);
    sink->indices = NULL;
    return status;
}

static enum gf_status palette_write(struct gf_sink *base, int rows, const unsigned char *src,
                                    size_t pitch, struct gf_error *error)
{
    struct palette_sink *const sink = (struct palette_sink *)base;
    const size_t width = (size_t)sink->format.width;
    enum gf_status status = GF_OK;
    if (sink->held.picture.data) {
        png_hold_rows(&sink->held, sink->format.bits, rows, src, pitch);
        return GF_OK;
    }
    for (int y = 0; !status && y < rows; y++, sink->row++) {
        const unsigned char *const row = src + (size_t)y * pitch;
        /* Without a palette no indices are needed; with a fixed palette the indices of one row are
         * needed. */
        unsigned char *const indices =
            sink->plain || sink->fixed ? sink->indices : sink->indices + (size_t)sink->row * width;
        if (!sink->plain && !index_row(sink, row, indices))
            status = give_up(sink, error);
        if (!status && sink->plain)
            status = gf_png_stripes_write(sink->stripes, 1, row, pitch, error);
        else if (!status && sink->fixed)
            status = write_indices(sink, indices, error);
    }
    return status;
}

/* Makes a palette, whose indices become samples of gray where a palette would be larger. */
static enum gf_status reduce_colours(struct palette_sink *sink, struct gf_error *error)
{
    GF_TRY(png_reduce(&sink->held, gf_output_name(sink->output), &sink->options, sink->indices,
                      error));
    const struct gf_palette *const palette = &sink->held.palette;
    sink->table.colours = palette->colours;
    memcpy(sink->table.rgba, palette->rgba, sizeof sink->table.rgba);
    /* A profile of gray does not go with a palette, whose colours are RGB. */
    sink->gray_bits = png_gray_bits(palette, sink->gray_profile ? 8 : bits_for(palette->colours));
    const size_t pixels = (size_t)sink->format.width * (size_t)sink->format.height;
    for (size_t i = 0; sink->gray_bits && i < pixels; i++)
        sink->indices[i] =
            (unsigned char)(palette->rgba[sink->indices[i]][0] >> (8 - sink->gray_bits));
    return GF_OK;
}

static enum gf_status write_counted(struct palette_sink *sink, struct gf_error *error)
{
    if (sink->held.picture.data)
        GF_TRY(reduce_colours(sink, error));
    sink->bits = sink->gray_bits ? sink->gray_bits : bits_for(sink->table.colours);
    GF_TRY(set_header(sink, sink->bits, sink->gray_bits ? GRAY_TYPE : PALETTE_TYPE, error));
    GF_TRY(begin_indices(sink, error));
    for (int y = 0; y < sink->format.height; y++)
        GF_TRY(write_indices(sink, sink->indices + (size_t)y * (size_t)sink->format.width, error));
    return GF_OK;
}

static enum gf_status palette_finish(struct gf_sink *base, struct gf_error *error)
{
    struct palette_sink *const sink = (struct palette_sink *)base;
    if (!sink->stripes)
        GF_TRY(write_counted(sink, error));
    GF_TRY(gf_png_stripes_finish(sink->stripes, error));
    return gf_png_chunk_write(sink->output, "IEND", NULL, 0, error);
}

static void palette_close(struct gf_sink *base)
{
    struct palette_sink *const sink = (struct palette_sink *)base;
    gf_png_stripes_close(sink->stripes);
    gf_image_free(&sink->held.picture);
    free(sink->indices);
    free(sink->packed);
    free(sink);
}

bool gf_png_wants_palette(const struct gf_output *output, struct gf_format format,
                          const struct gf_metadata *metadata, const struct gf_options *options)
{
    if (options->png_colours)
        return true;
    if (options->png_palette && format.bits != 8)
        gf_warn(options, "%s: a palette has 8 bits: a picture of 16 is written without one",
                gf_output_name(output));
    return format.bits == 8 && (metadata->palette.size || options->png_palette);
}

uint64_t gf_png_palette_memory(struct gf_format format, const struct gf_options *options)
{
    const uint64_t pixels = (uint64_t)format.width * (uint64_t)format.height;
    if (options->png_colours)
        return pixels * (uint64_t)(format.channels + 1) +
               gf_palette_memory(format, gf_codec_threads(options));
    return options->png_palette && format.bits == 8 ? pixels : 0;
}

/* Decides whether the input's palette is fixed. An index beyond the palette is black. If the
 * palette lacks black and has room for it, indices are held until all colours are known; the
 * palette of a large picture gets black in any case. */
static void fix_palette(struct palette_sink *sink)
{
    static const unsigned char black[4] = {[3] = 255};
    sink->fixed = sink->table.colours > 0;
    if (!sink->fixed || sink->table.colours == COLOURS_MOST || index_of(sink, black) >= 0)
        return;
    sink->fixed = false;
    if ((int64_t)sink->format.width * sink->format.height > HELD_MOST)
        sink->fixed = index_of(sink, black) >= 0;
}

/* Whether the colours are to be reduced. If the input has a palette of no more colours than wanted,
 * that palette stays. */
static bool reduces_colours(const struct palette_sink *sink, const struct gf_metadata *metadata)
{
    const size_t most = (size_t)sink->options.png_colours;
    return most &&
           (sink->format.bits != 8 || !metadata->palette.size || metadata->palette.size / 4 > most);
}

static enum gf_status start(struct palette_sink *sink, const struct gf_metadata *metadata,
                            struct gf_error *error)
{
    const size_t width = (size_t)sink->format.width;
    gf_palette_table_clear(&sink->table);
    const bool reduces = reduces_colours(sink, metadata);
    for (size_t i = 0; !reduces && i + 4 <= metadata->palette.size; i += 4)
        (void)index_of(sink, metadata->palette.data + i);
    fix_palette(sink);
    sink->gray_profile = sink->format.channels == 1 && metadata->icc.size;
    sink->bits = sink->fixed ? bits_for(sink->table.colours) : 8;
    sink->indices = malloc(sink->fixed ? width : width * (size_t)sink->format.height);
    sink->packed = malloc(width * 4);
    GF_ALLOCATED(sink->indices && sink->packed, error);
    if (reduces)
        GF_TRY(png_hold_open(&sink->held, sink->format, error));
    GF_TRY(gf_png_write_header(sink->output, sink->format, sink->bits, PALETTE_TYPE, error));
    GF_TRY(gf_png_write_metadata(sink->output, metadata, error));
    if (sink->fixed)
        GF_TRY(begin_indices(sink, error));
    return GF_OK;
}

enum gf_status gf_png_palette_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                        struct gf_error *error)
{
    GF_NEW(struct palette_sink, opened, error);
    opened->base =
        (struct gf_sink){.write = palette_write, .finish = palette_finish, .close = palette_close};
    opened->output = order->output;
    opened->options = *order->options;
    opened->format = order->format;
    GF_OPENED(start(opened, order->metadata, error), palette_close, &opened->base, sink);
}
