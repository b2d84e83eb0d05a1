/* The plan of a pyramid: what the user chooses, the sizes of the levels, and where tiles lie. */
#include "codec/common/pyramid/pyramid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"

const char *gf_pyramid_word(int index)
{
    static const char *const words[] = {"dz",    "zoomify", "google",  "iiif",
                                        "iiif3", "cog",     "subifds", NULL};
    return words[index];
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(at, word, length);
}

/* Reads an item of options->pyramid. Returns false if it is none. */
static bool read_item(const char *at, size_t length, struct gf_pyramid_choice *choice)
{
    const char *word;
    for (int i = 0; choice->layout == GF_LAYOUT_ANY && (word = gf_pyramid_word(i)); i++) {
        if (is_word(at, length, word)) {
            choice->layout = (enum gf_pyramid_layout)(GF_LAYOUT_DZ + i);
            return true;
        }
    }
    if (length > 8 && length < 13 && !strncmp(at, "overlap=", 8)) {
        choice->overlap = atoi(at + 8);
        return strspn(at + 8, "0123456789") == length - 8;
    }
    const bool is_lanczos = is_word(at, length, "shrink=lanczos3");
    choice->shrink = is_lanczos ? GF_SHRINK_LANCZOS3 : GF_SHRINK_AREA;
    return is_lanczos || is_word(at, length, "shrink=area");
}

enum gf_status gf_pyramid_choose(const struct gf_options *options, struct gf_pyramid_choice *choice,
                                 struct gf_error *error)
{
    const char *at = options->pyramid;
    *choice =
        (struct gf_pyramid_choice){.layout = at ? GF_LAYOUT_ANY : GF_LAYOUT_NONE, .overlap = -1};
    if (!at)
        return GF_OK;
    for (size_t length; *at && !choice->id; at += length + (at[length] == ':')) {
        length = strcspn(at, ":");
        if (!strncmp(at, "id=", 3) && at[3]) {
            choice->id = at + 3; /* a URL has colons: it is the last item */
            length = strlen(at);
        } else if (!read_item(at, length, choice)) {
            return gf_fail(
                error, GF_ERROR_USAGE,
                "options.pyramid=%.100s: '%.*s' is none of dz, zoomify, google, iiif, "
                "iiif3, cog, subifds, shrink=area, shrink=lanczos3, overlap=N and, at the end, "
                "id=URL",
                options->pyramid, (int)(length < 60 ? length : 60), at);
        }
    }
    const bool is_iiif = choice->layout == GF_LAYOUT_IIIF || choice->layout == GF_LAYOUT_IIIF3;
    if (is_iiif != (choice->id != NULL))
        return gf_fail(error, GF_ERROR_USAGE, "options.pyramid=%.100s: %s", options->pyramid,
                       is_iiif ? "IIIF needs the URL above the output's folder: "
                                 "iiif:id=https://example.org/iiif"
                               : "id is for iiif and iiif3");
    const int tile = options->tile_size ? options->tile_size : 254;
    if (choice->overlap >= tile)
        return gf_fail(error, GF_ERROR_USAGE, "options.pyramid=%.100s: tiles have %d pixels",
                       options->pyramid, tile);
    if (choice->overlap >= 0 && choice->layout > GF_LAYOUT_DZ)
        return gf_fail(error, GF_ERROR_USAGE, "options.pyramid=%.100s: tiles overlap in dz alone",
                       options->pyramid);
    return GF_OK;
}

bool gf_pyramid_named(const char *name, const char *extension)
{
    const size_t length = name ? strlen(name) : 0, end = strlen(extension);
    return length > end && name[length - end - 1] != '/' &&
           !strcasecmp(name + length - end, extension);
}

bool gf_pyramid_in_zip(const char *name)
{
    return gf_pyramid_named(name, ".szi") || gf_pyramid_named(name, ".zip");
}

char *gf_pyramid_folder(const char *name)
{
    const size_t end = gf_pyramid_named(name, ".dzi") ? strlen(".dzi") : 0;
    char *folder;
    return asprintf(&folder, "%.*s_files", (int)(strlen(name) - end), name) < 0 ? NULL : folder;
}

enum gf_status gf_pyramid_layout_of(const char *name, const struct gf_options *options,
                                    enum gf_pyramid_layout *layout, struct gf_error *error)
{
    struct gf_pyramid_choice choice;
    GF_TRY(gf_pyramid_choose(options, &choice, error));
    const bool is_dz = gf_pyramid_named(name, ".dzi") || gf_pyramid_named(name, ".szi"),
               is_tiff =
                   !is_dz && (options->format == GF_FILE_TIFF || gf_pyramid_named(name, ".tif") ||
                              gf_pyramid_named(name, ".tiff"));
    const bool has_name = name && strcmp(name, "-");
    *layout = choice.layout;
    if (is_dz && *layout < GF_LAYOUT_DZ)
        *layout = GF_LAYOUT_DZ;
    else if (is_tiff && *layout == GF_LAYOUT_ANY)
        *layout = GF_LAYOUT_COG;
    if (!*layout || (*layout >= GF_LAYOUT_COG ? is_tiff
                                              : has_name && *layout != GF_LAYOUT_ANY && !is_tiff &&
                                                    (is_dz == (*layout == GF_LAYOUT_DZ) ||
                                                     gf_pyramid_named(name, ".zip"))))
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE,
                   "%s: options.pyramid=%.60s does not fit this output: dz is a file .dzi or .szi, "
                   "cog and subifds a file .tif, each other layout the name of a folder; .zip is "
                   "for all but TIFFs",
                   name ? name : "output", options->pyramid);
}

static int parts_of(int whole, int part)
{
    return (whole + part - 1) / part;
}

void gf_pyramid_plan(struct gf_pyramid *pyramid, enum gf_pyramid_end end)
{
    const int most_width = end == GF_PYRAMID_TO_TILE ? pyramid->tile_width : 1,
              most_height = end == GF_PYRAMID_TO_TILE ? pyramid->tile_height : 1;
    int width = pyramid->format.width, height = pyramid->format.height;
    pyramid->levels = 0;
    for (;; width = parts_of(width, 2), height = parts_of(height, 2)) {
        pyramid->level[pyramid->levels++] = (struct gf_pyramid_level){
            .width = width,
            .height = height,
            .columns = parts_of(width, pyramid->tile_width),
            .rows = parts_of(height, pyramid->tile_height),
        };
        if (width <= most_width && height <= most_height)
            return;
    }
}

/* Sets where a tile begins along one side and how long it is. */
static void place(int index, int tile, int overlap, int whole, int *first, int *length)
{
    const long long least = (long long)index * tile - overlap,
                    end = ((long long)index + 1) * tile + overlap;
    *first = least > 0 ? (int)least : 0;
    *length = (end < whole ? (int)end : whole) - *first;
}

struct gf_tile gf_pyramid_tile(const struct gf_pyramid *pyramid, int level, int column, int row)
{
    const struct gf_pyramid_level *const of = &pyramid->level[level];
    struct gf_tile tile = {.level = level, .column = column, .row = row, .format = pyramid->format};
    place(column, pyramid->tile_width, pyramid->overlap, of->width, &tile.x, &tile.format.width);
    place(row, pyramid->tile_height, pyramid->overlap, of->height, &tile.y, &tile.format.height);
    return tile;
}

long long gf_pyramid_tiles(const struct gf_pyramid *pyramid)
{
    long long tiles = 0;
    for (int i = 0; i < pyramid->levels; i++)
        tiles += (long long)pyramid->level[i].columns * pyramid->level[i].rows;
    return tiles;
}

/* ---- the order of the tiles ---- */

struct walk {
    const struct gf_pyramid *pyramid;
    int y[GF_PYRAMID_LEVELS_MAX], row[GF_PYRAMID_LEVELS_MAX]; /* the rows and rows of tiles done */
    struct gf_tile_row *list;
    int count;
};

/* Counts a row of a level, as row_is_made() of the sink does. */
static void pass_row(struct walk *walk, int level)
{
    const struct gf_pyramid *const pyramid = walk->pyramid;
    const struct gf_pyramid_level *const of = &pyramid->level[level];
    const int y = ++walk->y[level];
    if (level + 1 < pyramid->levels && (y % 2 == 0 || y == of->height))
        pass_row(walk, level + 1);
    while (walk->row[level] < of->rows &&
           (y == of->height ||
            y >= ((long long)walk->row[level] + 1) * pyramid->tile_height + pyramid->overlap))
        walk->list[walk->count++] = (struct gf_tile_row){level, walk->row[level]++};
}

struct gf_tile_row *gf_pyramid_order(const struct gf_pyramid *pyramid, int *count)
{
    size_t rows = 0;
    for (int i = 0; i < pyramid->levels; i++)
        rows += (size_t)pyramid->level[i].rows;
    struct walk walk = {.pyramid = pyramid, .list = malloc(rows * sizeof *walk.list)};
    for (int y = 0; walk.list && y < pyramid->format.height; y++)
        pass_row(&walk, 0);
    *count = walk.count;
    return walk.list;
}

enum gf_status gf_coded_room(struct gf_coded *coded, size_t size, struct gf_error *error)
{
    if (size <= coded->room)
        return GF_OK;
    free(coded->data);
    coded->data = malloc(size);
    coded->room = coded->data ? size : 0;
    return coded->data ? GF_OK : gf_fail_memory(error);
}
