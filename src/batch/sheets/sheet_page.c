/* The pages of sheets: where tiles lie, rows that are written, and the labels of pictures. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/process/machine.h"
#include "batch/sheets/sheet_run.h"
#include "codec/common/checks.h"
#include "codec/layouts/layouts.h"
#include "pixel/sample.h"
#include "text/text.h"

enum gf_status gf_sheet_layout_begin(struct gf_sheet_layout *layout, int columns, int rows,
                                     struct gf_error *error)
{
    int *const all = calloc(2 * ((size_t)columns + (size_t)rows), sizeof *all);
    *layout = (struct gf_sheet_layout){.columns = columns, .rows = rows};
    GF_ALLOCATED(all, error);
    layout->x = all;
    layout->width = layout->x + columns;
    layout->y = layout->width + columns;
    layout->height = layout->y + rows;
    return GF_OK;
}

static void grow(int *size, int least)
{
    *size = *size < least ? least : *size;
}

void gf_sheet_layout_fit(struct gf_sheet_layout *layout, size_t tile, int width, int height)
{
    grow(&layout->width[tile % (size_t)layout->columns], width);
    grow(&layout->height[tile / (size_t)layout->columns], height);
}

/* Computes where `count` rows or columns of the given sizes begin, with gaps between them and a
 * margin around. Returns the total length in pixels; 0 if it is too large. */
static int place(int *at, const int *size, int count, int gap, int margin)
{
    int64_t end = margin;
    for (int i = 0; i < count; i++) {
        end += i ? gap : 0;
        at[i] = (int)end;
        end += size[i];
        if (end + margin > GF_SIDE_MAX)
            return 0;
    }
    return (int)(end + margin);
}

enum gf_status gf_sheet_layout_end(struct gf_sheet_layout *layout, int gap, int margin,
                                   struct gf_error *error)
{
    layout->page_width = place(layout->x, layout->width, layout->columns, gap, margin);
    layout->page_height = place(layout->y, layout->height, layout->rows, gap, margin);
    if (layout->page_width && layout->page_height)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT, "the pictures in a row or a column have over %d pixels",
                   GF_SIDE_MAX);
}

void gf_sheet_layout_free(struct gf_sheet_layout *layout)
{
    free(layout->x);
    *layout = (struct gf_sheet_layout){0};
}

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

/* Returns a sample composed over the background: (sample * alpha + background * (max - alpha)) /
 * max, rounded. */
static int lay(int sample, int alpha, int background, int max)
{
    return (int)(((unsigned)sample * (unsigned)alpha +
                  (unsigned)background * (unsigned)(max - alpha) + (unsigned)max / 2) /
                 (unsigned)max);
}

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
    const struct gf_codec_memory memory = gf_tiles_memory(path, file_format, page->format, options);
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
    GF_THEN(status, page->rows ? GF_OK : gf_fail_memory(error));
    GF_THEN(status, gf_tiles_output_open(path, options, &page->output, error));
    if (status)
        return status;
    gf_output_set_options(page->output,
                          (struct gf_output_options){options->no_clobber, options->sync,
                                                     options->max_output_bytes, 0});
    return gf_tiles_sink_open(page->output, file_format, page->format, &nothing, options,
                              &page->sink, error);
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
    gf_output_close(page->output);
    free(page->rows);
    *page = (struct gf_page){0};
}

/* ---- labels ---- */

/* Replaces "\n" by a line break, in place. */
static void break_lines(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const bool breaks = at[0] == '\\' && at[1] == 'n';
        *to++ = (char)(breaks ? '\n' : *at);
        at += breaks;
    }
    *to = '\0';
}

static int number_of(const struct gf_colour *colour)
{
    int number = 0;
    for (int c = 0; c < 3; c++)
        number = number << 8 | (int)(colour->part[c] * 255 + 0.5);
    return number;
}

static enum gf_status draw(const struct gf_sheet *sheet, const char *text,
                           const struct gf_picture **picture, struct gf_error *error)
{
    const struct gf_text_style style = {.shadow = -1,
                                        .size = sheet->size,
                                        .spacing = 1,
                                        .align = GF_TEXT_CENTRE,
                                        .colour = number_of(&sheet->colour),
                                        .background = -1};
    return gf_text_load(sheet->font, text, &style, picture, error);
}

/* Replaces each letter beyond ASCII by a question mark, in place. */
static void make_ascii(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const unsigned char byte = (unsigned char)*at;
        if ((byte >= ' ' && byte < 0x7f) || byte == '\n')
            *to++ = *at;
        else if ((byte & 0xc0) != 0x80)
            *to++ = '?';
    }
    *to = '\0';
}

/* Draws a text. If the font lacks letters of it, which is common with file names and the built-in
 * font, draws it with question marks instead. */
static enum gf_status draw_any(struct gf_sheet_writer *writer, char *text,
                               const struct gf_picture **picture, struct gf_error *error)
{
    const struct gf_batch_request *const request = writer->batch->request;
    struct gf_error why;
    if (!draw(writer->sheet, text, picture, &why))
        return GF_OK;
    make_ascii(text);
    const enum gf_status status = draw(writer->sheet, text, picture, error);
    if (!status && !writer->warned && request->options.warn)
        gf_batch_tell(request, GF_MESSAGE_WARNING, "labels: %s: ? stands for it", why.text);
    writer->warned = true;
    return status;
}

/* Shortens the text, whose drawing is `width` pixels wide, to about `most` pixels, in place.
 * Returns false if nothing is left. */
static bool shorten(char *text, int width, int most)
{
    static const char dots[] = "...";
    const size_t length = strlen(text);
    size_t keep = (size_t)((double)length * most / width);
    keep = keep < length ? keep : length - 1;
    while (keep && ((unsigned char)text[keep] & 0xc0) == 0x80)
        keep--;
    if (keep <= strlen(dots) || strchr(text, '\n'))
        return false;
    keep -= strlen(dots);
    while (keep && ((unsigned char)text[keep] & 0xc0) == 0x80)
        keep--;
    memcpy(text + keep, dots, sizeof dots);
    return true;
}

static enum gf_status draw_fitting(struct gf_sheet_writer *writer, char *text,
                                   const struct gf_picture **picture, struct gf_error *error)
{
    const int most = writer->sheet->tile_width;
    GF_TRY(draw_any(writer, text, picture, error));
    while ((*picture)->image.format.width > most &&
           shorten(text, (*picture)->image.format.width, most)) {
        gf_text_release(*picture);
        GF_TRY(draw_any(writer, text, picture, error));
    }
    return GF_OK;
}

enum gf_status gf_sheet_draw_label(struct gf_sheet_writer *writer, size_t index,
                                   const struct gf_sheet_picture *picture, int x, int y,
                                   struct gf_placed *placed, struct gf_error *error)
{
    const struct gf_sheet *const sheet = writer->sheet;
    const struct gf_template_values values = {.input = &writer->batch->request->inputs->item[index],
                                              .number = index + 1,
                                              .width = picture->width,
                                              .height = picture->height};
    char *text = NULL;
    enum gf_status status = gf_template_expand(&sheet->label_template, &values, &text, error);
    if (!status)
        break_lines(text);
    if (!status && *text)
        status = draw_fitting(writer, text, &placed->text, error);
    free(text);
    if (status || !placed->text)
        return status;
    struct gf_image *const image = &placed->image;
    *image = placed->text->image;
    if (image->format.width > sheet->tile_width)
        image->format.width = sheet->tile_width;
    if (image->format.height > sheet->label_height)
        image->format.height = sheet->label_height;
    placed->x = x + (sheet->tile_width - image->format.width) / 2;
    placed->y = y + (sheet->label_height - image->format.height) / 2;
    return GF_OK;
}

enum gf_status gf_sheet_label_height(const struct gf_sheet *sheet, int *height,
                                     struct gf_error *error)
{
    const struct gf_picture *picture;
    char *text = NULL;
    size_t size;
    FILE *const file = open_memstream(&text, &size);
    GF_ALLOCATED(file, error);
    fputs("Ag", file);
    for (const char *at = sheet->label; (at = strstr(at, "\\n")); at += 2)
        fputs("\nAg", file);
    if (fclose(file) || !text) {
        free(text);
        return gf_fail_memory(error);
    }
    const enum gf_status status = draw(sheet, text, &picture, error);
    free(text);
    if (status)
        return status;
    *height = picture->image.format.height;
    gf_text_release(picture);
    return GF_OK;
}
