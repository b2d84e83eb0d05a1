/* The declarations of --join and --sheet, their values, and the request for their pictures. */
#include "batch/sheets/sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/names/names.h"
#include "batch/sheets/sheet_run.h"
#include "chain/params.h"
#include "pipeline/pipeline_internal.h"
#include "stage/filter.h"
#include "text/text.h"

enum { SIDE_MAX = 65535, GAP_MAX = 10000, COUNT_MAX = 1000000 };

/* The names after the third are other spellings of the first two. */
static const char *const directions[] = {"across", "down", "grid", "horizontal", "vertical", NULL};

#define PARAM_GAP(gap_) \
    GF_PARAM_INT(struct gf_sheet, gap, gap_, 0, GAP_MAX, "pixels between two pictures")
#define PARAM_MARGIN(margin_) \
    GF_PARAM_INT(struct gf_sheet, margin, margin_, 0, GAP_MAX, "pixels around all pictures")
#define PARAM_BACKGROUND \
    GF_PARAM_COLOUR(struct gf_sheet, background, 0xffffff, GF_WORDS("transparent"), \
                    "colour where no picture is")
#define PARAM_GRAVITY \
    GF_PARAM_GRAVITY(struct gf_sheet, "where a picture lies that is smaller than its place")

#define PARAM_PLACES \
    GF_PARAM_FILE(struct gf_sheet, places, NULL, \
                  "a file that gets the place of each picture, for sprites: .css has a rule " \
                  ".sprite-STEM for each, .json a texture atlas; by default none")

static const struct gf_filter join_declaration = {
    .name = "--join",
    .summary = "one picture of several, each of its own size",
    .definition =
        "The chain makes each picture. A row is as high as its highest picture, a column of a grid "
        "as wide as its widest; a smaller picture lies there by gravity. The result has the "
        "channels and the bits of the picture that has the most: gray becomes RGB, v of 8 bits "
        "becomes 257 v of 16. Samples stay as they are otherwise; alpha stays alpha, and in a "
        "format without alpha the pictures are laid on the background, or on white where that is "
        "transparent. Colours that are not sRGB become sRGB, and metadata are left out. All "
        "pictures are in memory, and more than --memory allows are refused. If a picture fails, "
        "nothing is written.",
    .example = "--join=across:gap=8",
    GF_TAKES(struct gf_sheet,
             GF_PARAM_CHOICE(
                 struct gf_sheet, direction, GF_SHEET_ACROSS, directions,
                 "across: side by side; down: one below the other; grid: in rows and columns"),
             GF_PARAM_INT(struct gf_sheet, columns, 0, 0, COUNT_MAX,
                          "columns of a grid; 0: as many as rows, or one more"),
             PARAM_GAP(0), PARAM_MARGIN(0), PARAM_BACKGROUND, PARAM_GRAVITY, PARAM_PLACES),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
};

static const struct gf_filter sheet_declaration = {
    .name = "--sheet",
    .summary = "contact sheets: pages of small pictures in cells of one size",
    .definition =
        "The chain makes each picture; thumbnail makes it fit into its cell, and never larger. A "
        "row is written when its last picture is there, so that memory does not grow with the "
        "number of pictures. If there are more pictures than cells, there are several pages, which "
        "{n} in -o numbers: sheet-{n}.png. Rows without a picture are left out. A page has RGB of "
        "8 bits; with background=transparent it has alpha where the format has, else it is white. "
        "A label that is too long for its cell is cut. Metadata are left out.",
    .example = "--sheet=6x4:cell=160x120:label={stem}",
    GF_TAKES(
        struct gf_sheet,
        GF_PARAM_TEXT(struct gf_sheet, grid,
                      "columns and rows of a page, 6x4; 6: six columns and as many rows as the "
                      "pictures need; by default 6"),
        GF_PARAM_TEXT(
            struct gf_sheet, cell,
            "width and height of a cell in pixels, 160x120; 160: as high as wide; by default "
            "160"),
        PARAM_GAP(8), PARAM_MARGIN(8),
        GF_PARAM_TEXT(
            struct gf_sheet, label,
            "a text below each picture, with the fields {stem}, {dir}, {ext}, {n}, and {w} "
            "and {h} of the input; \\n begins a line within quotes: '{stem}\\n{w}x{h}'; by default "
            "none"),
        PARAM_BACKGROUND,
        GF_PARAM_COLOUR(struct gf_sheet, colour, 0x000000, NULL, "colour of the label"),
        GF_PARAM_INT(struct gf_sheet, size, 12, 1, 2000, "size of the label's letters in pixels"),
        GF_PARAM_FILE(struct gf_sheet, font, NULL, "the label's font file; by default as for text"),
        PARAM_GRAVITY,
        GF_PARAM_CHOICE(struct gf_sheet, failed, 0, GF_WORDS("refuse", "empty"),
                        "refuse: a page is not written if one of its pictures fails; empty: the "
                        "picture's cell stays empty. The picture counts as failed in both cases"),
        PARAM_PLACES),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
};

const struct gf_filter *gf_sheet_declaration(enum gf_sheet_kind kind)
{
    return kind == GF_SHEET_JOIN ? &join_declaration : &sheet_declaration;
}

const char *gf_sheet_direction(int index)
{
    return index <= GF_SHEET_GRID ? directions[index] : NULL;
}

/* Reads two numbers, "6x4", or one, "6"; *second is then `alone`. Returns false if the text is
 * neither. */
static bool read_pair(const char *text, int most, int alone, int *first, int *second)
{
    char *end;
    const long a = strtol(text, &end, 10);
    const bool has_second = *end == 'x' || *end == 'X';
    const char *const rest = end + has_second;
    const long b = has_second ? strtol(rest, &end, 10) : alone ? alone : a;
    *first = (int)a;
    *second = (int)b;
    return *text >= '0' && *text <= '9' && !*end && a >= 1 && a <= most &&
           (!has_second || (*rest >= '0' && *rest <= '9' && b >= 1 && b <= most));
}

static enum gf_status read_sizes(struct gf_sheet *sheet, struct gf_error *error)
{
    if (!read_pair(*sheet->grid ? sheet->grid : "6", COUNT_MAX, COUNT_MAX, &sheet->columns,
                   &sheet->rows))
        return gf_fail(error, GF_ERROR_USAGE, "--sheet: '%.60s' is not COLUMNSxROWS, as 6x4",
                       sheet->grid);
    if (!read_pair(*sheet->cell ? sheet->cell : "160", SIDE_MAX, 0, &sheet->tile_width,
                   &sheet->tile_height))
        return gf_fail(error, GF_ERROR_USAGE,
                       "--sheet: cell=%.60s is not WIDTHxHEIGHT of 1..%d pixels, as 160x120",
                       sheet->cell, SIDE_MAX);
    return GF_OK;
}

static enum gf_status read_label(struct gf_sheet *sheet, struct gf_error *error)
{
    if (!*sheet->label)
        return GF_OK;
    GF_TRY(gf_template_of_text(sheet->label, "--sheet: label", &sheet->label_template, error));
    GF_TRY(gf_text_available(error));
    return gf_sheet_label_height(sheet, &sheet->label_height, error);
}

enum gf_status gf_sheet_parse(enum gf_sheet_kind kind, const char *value, struct gf_sheet *sheet,
                              struct gf_error *error)
{
    const struct gf_filter *const declaration = gf_sheet_declaration(kind);
    char *text = NULL;
    *sheet = (struct gf_sheet){.kind = kind};
    if (asprintf(&text, "=%s", value) < 0)
        return gf_fail_memory(error);
    const char *at = text;
    enum gf_status status = gf_params_parse(declaration, &at, sheet, NULL, error);
    if (!status && *at)
        status = gf_fail(error, GF_ERROR_USAGE,
                         "%s: parameters are separated by colons, and a value with a comma is "
                         "quoted: '%.60s'",
                         declaration->name, at);
    free(text);
    sheet->direction %= GF_SHEET_GRID + 1;
    if (!status && sheet->columns && sheet->direction != GF_SHEET_GRID)
        status = gf_fail(error, GF_ERROR_USAGE, "--join: columns are for --join=grid");
    if (!status && *sheet->places && !gf_places_named(sheet->places))
        status = gf_fail(error, GF_ERROR_USAGE, "%s: places=%.120s is no .css and no .json",
                         declaration->name, sheet->places);
    if (status || kind == GF_SHEET_JOIN)
        return status;
    status = read_sizes(sheet, error);
    return status ? status : read_label(sheet, error);
}

void gf_sheet_free(struct gf_sheet *sheet)
{
    gf_template_free(&sheet->label_template);
    gf_template_free(&sheet->picture_name);
    free(sheet->chain);
    sheet->chain = NULL;
}

/* Fails if inputs or outputs are archives or names that a page cannot have. */
static enum gf_status check_names(const struct gf_batch_request *request, const char *option,
                                  struct gf_error *error)
{
    const struct gf_inputs *const inputs = request->inputs;
    for (size_t i = 0; i < inputs->count; i++) {
        if (gf_archive_named(inputs->item[i].path))
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s takes pictures, folders and lists, and no archive: '%.120s'", option,
                           inputs->item[i].path);
    }
    if (request->output->is_archive)
        return gf_fail(error, GF_ERROR_USAGE, "%s writes pictures, and no archive: '%.120s'",
                       option, request->output->text);
    for (int i = 0; i < request->output->parts; i++) {
        const enum gf_template_field field = request->output->part[i].field;
        if (field != GF_FIELD_TEXT && field != GF_FIELD_NUMBER)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: -o names the file of a picture, and {n} is the number of a page: "
                           "'%.120s'",
                           option, request->output->text);
    }
    return GF_OK;
}

enum gf_status gf_sheet_prepare(struct gf_sheet *sheet, struct gf_batch_request *request,
                                struct gf_error *error)
{
    struct gf_options plain = gf_options_default();
    const char *const chain = request->chain ? request->chain : "";
    GF_TRY(check_names(request, gf_sheet_declaration(sheet->kind)->name, error));
    sheet->name = request->output;
    sheet->options = request->options;
    /* The results for sheets are PAMs in memory without metadata, so that their colours become
     * sRGB. */
    plain.format = GF_FILE_PAM;
    plain.stripped = ((uint64_t)1 << GF_METADATA_ITEMS) - 1;
    gf_options_of_output(&request->options, &plain);
    request->options.no_clobber = request->options.sync = false;
    request->options.max_output_bytes = 0;
    request->options.set = NULL;
    const int made = sheet->kind == GF_SHEET_JOIN
                         ? asprintf(&sheet->chain, "%s", chain)
                         : asprintf(&sheet->chain, "%s%sthumbnail=%d:%d", chain, *chain ? "," : "",
                                    sheet->tile_width, sheet->tile_height);
    sheet->picture_name.text = strdup(request->output->text);
    if (made < 0) /* asprintf() then leaves the pointer undefined */
        sheet->chain = NULL;
    GF_ALLOCATED(sheet->chain && sheet->picture_name.text, error);
    request->chain = sheet->chain;
    request->output = &sheet->picture_name;
    request->sheet = sheet;
    return GF_OK;
}
