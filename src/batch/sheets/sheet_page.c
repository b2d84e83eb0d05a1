#include "batch/sheets/sheet_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory_budget.h"
#include "codec/common/checks.h"
#include "pixel/fill.h"

enum { BAND_ROWS = 32 };

static int get(const unsigned char *row, int bits, size_t index)
{
    return bits == 8 ? row[index] : ((const uint16_t *)(const void *)row)[index];
}

static void put(unsigned char *row, int bits, size_t index, int sample)
{
    if (bits == 8)
        row[index] = (unsigned char)sample;
    else
        ((uint16_t *)(void *)row)[index] = (uint16_t)sample;
}

/* Changes a sample's depth as the codecs do. */
static int with_bits(int sample, int from, int to)
{
    if (from == to)
        return sample;
    return to == 16 ? sample * 257 : (int)(((unsigned)sample * 255 + 32767) / 65535);
}

/* Sets the pixel of the background. Without alpha it is white where it should be transparent. */
static void set_background(struct gf_page *page, const struct gf_colour *colour)
{
    static const struct gf_colour white = {.part = {1, 1, 1}};
    const struct gf_format format = page->format;
    const int colours = gf_colour_channels(format);
    int sample[3] = {0};
    if (!colour->word || !gf_has_alpha(format))
        gf_fill_samples(colour->word ? &white : colour, format, sample);
    for (int c = 0; c < colours; c++)
        put(page->background, format.bits, (size_t)c, sample[c]);
    if (gf_has_alpha(format))
        put(page->background, format.bits, (size_t)colours,
            colour->word ? 0 : gf_sample_max(format));
}

/* Lays a sample of that alpha on the background. */
static int lay(int sample, int alpha, int background, int max)
{
    return (int)(((unsigned)sample * (unsigned)alpha +
                  (unsigned)background * (unsigned)(max - alpha) + (unsigned)max / 2) /
                 (unsigned)max);
}

/* Converts a row of a picture to the page's format. */
static void convert_row(const struct gf_page *page, const struct gf_format *in,
                        const unsigned char *from, unsigned char *to)
{
    const struct gf_format out = page->format;
    const int colours = gf_colour_channels(out), max = gf_sample_max(out);
    const bool gray = gf_colour_channels(*in) == 1, alpha_in = gf_has_alpha(*in),
               lays = alpha_in && !gf_has_alpha(out);
    for (size_t x = 0; x < (size_t)in->width; x++) {
        const size_t pixel = x * (size_t)in->channels, at = x * (size_t)out.channels;
        const int alpha = alpha_in
                              ? with_bits(get(from, in->bits, pixel + (size_t)in->channels - 1),
                                          in->bits, out.bits)
                              : max;
        for (int c = 0; c < colours; c++) {
            const int sample =
                with_bits(get(from, in->bits, pixel + (size_t)(gray ? 0 : c)), in->bits, out.bits);
            put(to, out.bits, at + (size_t)c,
                lays ? lay(sample, alpha, get(page->background, out.bits, (size_t)c), max)
                     : sample);
        }
        if (gf_has_alpha(out))
            put(to, out.bits, at + (size_t)colours, alpha);
    }
}

static void paint(const struct gf_page *page, const struct gf_placed *placed, int row,
                  unsigned char *to)
{
    const struct gf_format in = placed->image.format, out = page->format;
    const unsigned char *const from =
        placed->image.data + (size_t)(row - placed->y) * placed->image.pitch;
    to += (size_t)placed->x * gf_row_bytes(out) / (size_t)out.width;
    if (in.channels == out.channels && in.bits == out.bits)
        memcpy(to, from, gf_row_bytes(in));
    else
        convert_row(page, &in, from, to);
}

static enum gf_status check_size(const struct gf_page *page, const char *path,
                                 enum gf_file_format file_format, const struct gf_options *options,
                                 struct gf_error *error)
{
    const struct gf_codec_memory memory = gf_sink_memory(file_format, page->format, options);
    GF_TRY(gf_size_check(path, (uint64_t)page->format.width, (uint64_t)page->format.height, options,
                         error));
    return gf_memory_check(
        path, memory.why ? memory.why : "", memory.bytes,
        options->memory_bytes ? options->memory_bytes : gf_memory_picture_bytes(), options, error);
}

enum gf_status gf_page_open(struct gf_page *page, const char *path, struct gf_format format,
                            const struct gf_colour *background, const struct gf_options *options,
                            struct gf_error *error)
{
    const struct gf_metadata nothing = {.orientation = 1};
    enum gf_file_format file_format;
    enum gf_status status = gf_sink_format(path, options, GF_FILE_PNG, &file_format, error);
    *page = (struct gf_page){.format = format};
    if (status)
        return status;
    if (gf_has_alpha(format) && !gf_has_alpha(gf_format_in_file(file_format, format)))
        page->format.channels--;
    set_background(page, background);
    status = check_size(page, path, file_format, options, error);
    page->rows = status ? NULL : malloc(BAND_ROWS * gf_row_bytes(page->format));
    if (!status && !page->rows)
        status = gf_fail_memory(error);
    if (!status)
        status = gf_output_open(path, &page->output, error);
    if (status)
        return status;
    gf_output_set_options(page->output,
                          (struct gf_output_options){options->no_clobber, options->sync,
                                                     options->max_output_bytes, 0});
    return gf_sink_open(page->output, file_format, page->format, &nothing, options, &page->sink,
                        error);
}

enum gf_status gf_page_write(struct gf_page *page, const struct gf_placed *placed, size_t count,
                             int end, struct gf_error *error)
{
    const size_t bytes = gf_row_bytes(page->format);
    struct gf_pattern pattern;
    enum gf_status status = GF_OK;
    gf_pattern_make(&pattern, page->background, bytes / (size_t)page->format.width);
    while (!status && page->done < end) {
        const int rows = end - page->done < BAND_ROWS ? end - page->done : BAND_ROWS;
        for (int r = 0; r < rows; r++) {
            const int row = page->done + r;
            unsigned char *const to = page->rows + (size_t)r * bytes;
            gf_pattern_put(&pattern, to, bytes);
            for (size_t i = 0; i < count; i++) {
                if (row >= placed[i].y && row - placed[i].y < placed[i].image.format.height)
                    paint(page, &placed[i], row, to);
            }
        }
        status = page->sink->write(page->sink, rows, page->rows, bytes, error);
        page->done += rows;
    }
    return status;
}

enum gf_status gf_page_finish(struct gf_page *page, struct gf_error *error)
{
    GF_TRY(page->sink->finish(page->sink, error));
    return gf_output_commit(page->output, error);
}

void gf_page_close(struct gf_page *page)
{
    if (page->sink)
        page->sink->close(page->sink);
    if (page->output)
        gf_output_close(page->output);
    free(page->rows);
    *page = (struct gf_page){0};
}
