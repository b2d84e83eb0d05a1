/* Draws the labels of the pictures on a sheet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/sheets/sheet_state.h"
#include "text/text.h"

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

/* Draws a text, without the letters that the font lacks. Many names of files have letters beyond
 * the built-in font. */
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

/* Shortens the text, of which `width` pixels are drawn, to about `most` pixels, in place. Returns
 * false if nothing is left. */
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
    const int most = writer->sheet->cell_width;
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
    if (image->format.width > sheet->cell_width)
        image->format.width = sheet->cell_width;
    if (image->format.height > sheet->label_height)
        image->format.height = sheet->label_height;
    placed->x = x + (sheet->cell_width - image->format.width) / 2;
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
    if (!file)
        return gf_fail_memory(error);
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
