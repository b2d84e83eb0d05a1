#include "codec/layouts/layouts.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/text/json.h"
#include "codec/common/checks.h"
#include "codec/formats.h"
#include "codec/layouts/zip.h"

enum { NAME_SIZE = 200, BACKGROUND = 255, NEARLY = 5 }; /* samples of blank tiles: 250..255 */

struct layout_store {
    struct gf_tile_store base;
    struct gf_output *output;
    enum gf_pyramid_layout layout;
    bool in_zip;
    struct gf_pyramid pyramid;
    const char *id;
    enum gf_file_format file_format;
    struct gf_options options;   /* for each tile */
    struct gf_metadata metadata; /* of each tile */
    struct gf_zip zip;
};

/* Returns the layout if it is one of files. */
static enum gf_pyramid_layout layout_of(const char *name, const struct gf_options *options)
{
    enum gf_pyramid_layout layout;
    return gf_pyramid_layout_of(name, options, &layout, &(struct gf_error){0}) ||
                   layout >= GF_LAYOUT_COG
               ? GF_LAYOUT_NONE
               : layout;
}

bool gf_tiles_named(const char *name, const struct gf_options *options)
{
    return layout_of(name, options) != GF_LAYOUT_NONE;
}

/* Sets the plan of the pyramid, and returns true; returns false if the output is none. */
static bool tiles_plan(const char *name, struct gf_format format, const struct gf_options *options,
                       struct gf_pyramid *pyramid)
{
    static const int usual[] = {[GF_LAYOUT_DZ] = 254, 256, 256, 512, 512};
    struct gf_pyramid_choice choice;
    const enum gf_pyramid_layout layout = layout_of(name, options);
    const bool is_dz = layout == GF_LAYOUT_DZ;
    if (!layout || gf_pyramid_choose(options, &choice, &(struct gf_error){0}))
        return false;
    const int tile = options->tile_size ? options->tile_size : usual[layout];
    *pyramid = (struct gf_pyramid){.format = format,
                                   .tile_width = tile,
                                   .tile_height = tile,
                                   .overlap = !is_dz               ? 0
                                              : choice.overlap < 0 ? tile > 1
                                                                   : choice.overlap,
                                   .shrink = choice.shrink};
    gf_pyramid_plan(pyramid, is_dz ? GF_PYRAMID_TO_PIXEL : GF_PYRAMID_TO_TILE);
    return true;
}

struct gf_codec_memory gf_tiles_memory(const char *name, enum gf_file_format file_format,
                                       struct gf_format format, const struct gf_options *options)
{
    struct gf_pyramid pyramid;
    return tiles_plan(name, format, options, &pyramid)
               ? gf_pyramid_memory(&pyramid, gf_codec_threads(options))
               : gf_sink_memory(file_format, format, options);
}

/* Returns the folder of tiles, there or not, of the output of that name, which may be a symbolic
 * link: the tiles lie beside the file that describes them. The caller frees it. */
static char *folder_of(const char *name, bool is_folder)
{
    char *const path = gf_output_resolve(name);
    if (is_folder || !path)
        return path;
    char *const folder = gf_pyramid_folder(path);
    free(path);
    return folder;
}

/* What lies in a folder of tiles. */
struct found {
    int64_t bytes;     /* of all files; negative: something is no file, or cannot be read */
    bool tiles, blank; /* any tile; the one that stands for those that are left out */
};

/* Looks into a folder of tiles, until the first of them unless `all` is set. */
static struct found look_into(const char *folder, bool all)
{
    char *const paths[] = {(char *)folder, NULL};
    FTS *const tree = folder ? fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    struct found found = {.bytes = tree ? 0 : -1};
    for (FTSENT *entry; tree && (all || !found.tiles) && (entry = fts_read(tree));) {
        if (entry->fts_info == FTS_F) {
            found.bytes += entry->fts_statp->st_size;
            found.tiles |= entry->fts_level > 1;
            found.blank |= !strcmp(entry->fts_name, "blank.png");
        } else if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP) {
            found.bytes = INT64_MIN / 2;
        }
    }
    if (tree)
        fts_close(tree);
    return found;
}

int64_t gf_tiles_bytes(const char *name)
{
    struct stat file;
    if (stat(name, &file))
        return -1;
    const bool is_folder = S_ISDIR(file.st_mode);
    if (!is_folder && (!S_ISREG(file.st_mode) || !gf_pyramid_named(name, ".dzi")))
        return S_ISREG(file.st_mode) ? file.st_size : -1;
    char *const folder = folder_of(name, is_folder);
    const int64_t bytes = look_into(folder, true).bytes;
    free(folder);
    return bytes < 0 ? -1 : bytes + (is_folder ? 0 : file.st_size);
}

bool gf_tiles_there(const char *name, bool is_folder)
{
    if (!is_folder && !gf_pyramid_named(name, ".dzi"))
        return true;
    char *const folder = folder_of(name, is_folder);
    const struct found found = look_into(folder, false);
    free(folder);
    return found.tiles || found.blank;
}

/* ---- names ---- */

static const char *extension(const struct layout_store *store)
{
    if (store->file_format != GF_FILE_JPEG)
        return gf_file_type(store->file_format)->choice;
    return store->layout == GF_LAYOUT_DZ ? "jpeg" : "jpg";
}

/* Zoomify counts tiles from the smallest level on. */
static long long number_of(const struct gf_pyramid *pyramid, const struct gf_tile *tile)
{
    long long number = (long long)tile->row * pyramid->level[tile->level].columns + tile->column;
    for (int i = tile->level + 1; i < pyramid->levels; i++)
        number += (long long)pyramid->level[i].columns * pyramid->level[i].rows;
    return number;
}

/* IIIF names a part of the picture, and the size to which it is scaled. By the `other` name a
 * viewer asks for the whole picture, and for what has the picture's width. */
static void name_iiif(const struct layout_store *store, const struct gf_tile *tile, bool other,
                      char *name)
{
    const struct gf_format whole = store->pyramid.format, format = tile->format;
    const bool is_3 = store->layout == GF_LAYOUT_IIIF3;
    const long long scale = 1LL << tile->level, x = tile->x * scale, y = tile->y * scale,
                    side = store->pyramid.tile_width * scale;
    char part[80] = "full", size[30] = "";
    if (!other || tile->level + 1 < store->pyramid.levels)
        snprintf(part, sizeof part, "%lld,%lld,%lld,%lld", x, y,
                 side < whole.width - x ? side : whole.width - x,
                 side < whole.height - y ? side : whole.height - y);
    if (other && !tile->level && format.width == whole.width &&
        (!is_3 || format.height == whole.height))
        strcpy(size, is_3 ? "max" : "full");
    else if (is_3)
        snprintf(size, sizeof size, "%d,%d", format.width, format.height);
    else
        snprintf(size, sizeof size, "%d,", format.width);
    snprintf(name, NAME_SIZE, "%s/%s/0/default.%s", part, size, extension(store));
}

/* Whether no file is the whole picture at its full size, which level 0 of IIIF demands up to the
 * limit that the description states. The level of a single tile is then full/max, the largest whole
 * picture that is there. */
static bool has_limit(const struct layout_store *store)
{
    return store->layout >= GF_LAYOUT_IIIF && store->pyramid.levels > 1;
}

/* Writes the name of a tile within the folder of tiles. */
static void name_tile(const struct layout_store *store, const struct gf_tile *tile, char *name)
{
    const int level = store->pyramid.levels - 1 - tile->level;
    switch (store->layout) {
    case GF_LAYOUT_DZ:
        snprintf(name, NAME_SIZE, "%d/%d_%d.%s", level, tile->column, tile->row, extension(store));
        break;
    case GF_LAYOUT_ZOOMIFY:
        snprintf(name, NAME_SIZE, "TileGroup%lld/%d-%d-%d.%s",
                 number_of(&store->pyramid, tile) / 256, level, tile->column, tile->row,
                 extension(store));
        break;
    case GF_LAYOUT_GOOGLE:
        snprintf(name, NAME_SIZE, "%d/%d/%d.%s", level, tile->row, tile->column, extension(store));
        break;
    default:
        name_iiif(store, tile, false, name);
    }
}

/* Whether the tile of the level before that begins there has the same name in IIIF: a strip of the
 * right or lower edge may be the same part, in as many pixels. Viewers then show the finer one. */
static bool is_named_before(const struct layout_store *store, const struct gf_tile *tile,
                            const char *name)
{
    const struct gf_pyramid *const pyramid = &store->pyramid;
    struct gf_tile finer = *tile;
    char other[NAME_SIZE];
    if (store->layout < GF_LAYOUT_IIIF || !tile->level)
        return false;
    finer.level--;
    finer.x *= 2;
    finer.y *= 2;
    const int width = pyramid->level[finer.level].width - finer.x,
              height = pyramid->level[finer.level].height - finer.y;
    finer.format.width = width < pyramid->tile_width ? width : pyramid->tile_width;
    finer.format.height = height < pyramid->tile_height ? height : pyramid->tile_height;
    name_iiif(store, &finer, false, other);
    return !strcmp(name, other);
}

/* Returns the last part of the output's name, and its length without the extension of a file. */
static const char *stem_of(const struct layout_store *store, int *length)
{
    const char *const name = gf_output_name(store->output), *const slash = strrchr(name, '/'),
                      *const last = slash ? slash + 1 : name;
    const bool is_file = store->layout == GF_LAYOUT_DZ || store->in_zip;
    *length = (int)(strlen(last) - (is_file ? strlen(".dzi") : 0));
    return last;
}

/* Puts a file into the zip: into the folder of the stem, or one within it of the stem's name with
 * that ending. */
static enum gf_status put_in_zip(struct layout_store *store, const char *ending, const char *name,
                                 const void *data, size_t size, struct gf_error *error)
{
    int stem;
    char *path;
    const char *const last = stem_of(store, &stem);
    if (asprintf(&path, "%.*s/%.*s%s%s", stem, last, *ending ? stem : 0, last, ending, name) < 0)
        return gf_fail_memory(error);
    const enum gf_status status = gf_zip_put(&store->zip, path, data, size, error);
    free(path);
    return status;
}

static enum gf_status put_file(struct layout_store *store, const char *name, const void *data,
                               size_t size, struct gf_error *error)
{
    return store->in_zip ? put_in_zip(store, store->layout == GF_LAYOUT_DZ ? "_files/" : "", name,
                                      data, size, error)
                         : gf_output_put_file(store->output, name, data, size, error);
}

/* ---- tiles ---- */

static enum gf_status write_picture(struct gf_output *output, const struct layout_store *store,
                                    enum gf_file_format file_format, const struct gf_tile *tile,
                                    struct gf_error *error)
{
    struct gf_sink *sink;
    GF_TRY(gf_sink_open(output, file_format, tile->format, &store->metadata, &store->options, &sink,
                        error));
    enum gf_status status =
        tile->coded ? sink->splice(sink, tile->coded, tile->coded_size, true, error)
                    : sink->write(sink, tile->format.height, tile->pixels, tile->pitch, error);
    if (!status && !tile->coded)
        status = sink->finish(sink, error);
    sink->close(sink);
    return status ? status : gf_output_commit(output, error);
}

/* Encodes pixels to the memory of `coded`, which the output may replace by more. */
static enum gf_status encode_picture(const struct layout_store *store,
                                     enum gf_file_format file_format, const struct gf_tile *tile,
                                     struct gf_coded *coded, struct gf_error *error)
{
    struct gf_output *output;
    GF_TRY(gf_coded_room(coded, 64 << 10, error));
    GF_TRY(gf_output_open_memory(gf_output_name(store->output), &output, error));
    gf_output_borrow(output, coded->data, coded->room);
    const enum gf_status status = write_picture(output, store, file_format, tile, error);
    unsigned char *const data = status ? coded->data : gf_output_take(output, &coded->size);
    if (data != coded->data) {
        free(coded->data);
        coded->data = data;
        coded->room = coded->size;
    }
    gf_output_close(output);
    return status;
}

/* Copies a tile of the edge to one of the full size, on the background. The caller frees the
 * pixels. */
static unsigned char *pad(const struct gf_pyramid *pyramid, struct gf_tile *tile)
{
    const size_t bytes = gf_row_bytes(tile->format);
    tile->format.width = pyramid->tile_width;
    const size_t pitch = gf_row_bytes(tile->format);
    unsigned char *const padded = malloc(pitch * (size_t)pyramid->tile_height);
    if (!padded)
        return NULL;
    memset(padded, BACKGROUND, pitch * (size_t)pyramid->tile_height);
    for (int y = 0; y < tile->format.height && tile->pixels; y++)
        memcpy(padded + (size_t)y * pitch, tile->pixels + (size_t)y * tile->pitch, bytes);
    tile->format.height = pyramid->tile_height;
    tile->pitch = pitch;
    tile->pixels = padded;
    return padded;
}

/* Whether a tile is nearly the background. */
static bool is_blank(const struct gf_tile *tile)
{
    const size_t samples = (size_t)tile->format.width * (size_t)tile->format.channels;
    for (int y = 0; y < tile->format.height; y++) {
        const unsigned char *const row = tile->pixels + (size_t)y * tile->pitch;
        const uint16_t *const wide = (const uint16_t *)(const void *)row;
        for (size_t i = 0; i < samples; i++)
            if ((tile->format.bits == 8 ? row[i] : wide[i] >> 8) < BACKGROUND - NEARLY)
                return false;
    }
    return true;
}

static enum gf_status layout_encode(struct gf_tile_store *base, int worker,
                                    const struct gf_tile *given, struct gf_coded *coded,
                                    struct gf_error *error)
{
    const struct layout_store *const store = (const struct layout_store *)base;
    const struct gf_pyramid *const pyramid = &store->pyramid;
    struct gf_tile tile = *given;
    unsigned char *padded = NULL;
    coded->size = 0; /* a blank tile has no file */
    if (store->layout == GF_LAYOUT_GOOGLE) {
        if (is_blank(&tile))
            return GF_OK;
        const bool is_less =
            tile.format.width < pyramid->tile_width || tile.format.height < pyramid->tile_height;
        padded = is_less ? pad(pyramid, &tile) : NULL;
        if (is_less && !padded)
            return gf_fail_memory(error);
    }
    const enum gf_status status = encode_picture(store, store->file_format, &tile, coded, error);
    free(padded);
    return status;
}

static enum gf_status layout_put(struct gf_tile_store *base, const struct gf_tile *tile,
                                 const struct gf_coded *coded, struct gf_error *error)
{
    struct layout_store *const store = (struct layout_store *)base;
    char name[NAME_SIZE], other[NAME_SIZE];
    name_tile(store, tile, name);
    if (!coded->size || is_named_before(store, tile, name))
        return GF_OK;
    GF_TRY(put_file(store, name, coded->data, coded->size, error));
    if (store->layout < GF_LAYOUT_IIIF)
        return GF_OK;
    name_iiif(store, tile, true, other);
    if (strcmp(name, other))
        GF_TRY(put_file(store, other, coded->data, coded->size, error));
    if (!has_limit(store) || tile->level + 1 < store->pyramid.levels)
        return GF_OK;
    snprintf(other, sizeof other, "full/max/0/default.%s", extension(store));
    return put_file(store, other, coded->data, coded->size, error);
}

/* ---- what describes the tiles ---- */

static void describe_dz(const struct layout_store *store, FILE *file)
{
    const struct gf_pyramid *const pyramid = &store->pyramid;
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<Image xmlns=\"http://schemas.microsoft.com/deepzoom/2008\"\n"
            "  Format=\"%s\"\n  Overlap=\"%d\"\n  TileSize=\"%d\"\n  >\n"
            "  <Size\n    Height=\"%d\"\n    Width=\"%d\"\n  />\n</Image>\n",
            extension(store), pyramid->overlap, pyramid->tile_width, pyramid->format.height,
            pyramid->format.width);
}

static void describe_zoomify(const struct layout_store *store, FILE *file)
{
    const struct gf_pyramid *const pyramid = &store->pyramid;
    fprintf(file,
            "<IMAGE_PROPERTIES WIDTH=\"%d\" HEIGHT=\"%d\" NUMTILES=\"%lld\" NUMIMAGES=\"1\" "
            "VERSION=\"1.8\" TILESIZE=\"%d\" />\n",
            pyramid->format.width, pyramid->format.height, gf_pyramid_tiles(pyramid),
            pyramid->tile_width);
}

static void describe_limit(const struct layout_store *store, struct gf_json *json)
{
    if (has_limit(store)) /* it holds for heights, too */
        gf_json_number(json, "maxWidth", store->pyramid.tile_width, 0);
}

static void describe_profile(const struct layout_store *store, struct gf_json *json)
{
    if (store->layout == GF_LAYOUT_IIIF3) {
        gf_json_string(json, "type", "ImageService3");
        gf_json_string(json, "profile", "level0");
        gf_json_array(json, "extraFormats", GF_JSON_INLINE);
        gf_json_string(json, NULL, extension(store));
        gf_json_end(json);
        if (store->file_format != GF_FILE_JPEG) {
            gf_json_array(json, "preferredFormats", GF_JSON_INLINE);
            gf_json_string(json, NULL, extension(store));
            gf_json_end(json);
        }
        describe_limit(store, json);
        return;
    }
    gf_json_array(json, "profile", GF_JSON_LINES);
    gf_json_string(json, NULL, "http://iiif.io/api/image/2/level0.json");
    gf_json_object(json, NULL, GF_JSON_LINES);
    gf_json_array(json, "formats", GF_JSON_INLINE);
    gf_json_string(json, NULL, extension(store));
    gf_json_end(json);
    gf_json_array(json, "qualities", GF_JSON_INLINE);
    gf_json_string(json, NULL, "default");
    gf_json_end(json);
    describe_limit(store, json);
    gf_json_end(json);
    gf_json_end(json);
}

/* Returns the URL of the output's folder, or NULL: its name follows the id. The caller frees it. */
static char *url_of(const struct layout_store *store)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    const size_t length = strlen(store->id);
    int stem;
    const char *const last = stem_of(store, &stem);
    char *const url = malloc(length + 1 + 3 * (size_t)stem + 1), *to = url;
    if (!url)
        return NULL;
    to += sprintf(to, "%s%s", store->id, store->id[length - 1] == '/' ? "" : "/");
    for (int i = 0; i < stem; i++)
        to += sprintf(to, strchr(plain, last[i]) ? "%c" : "%%%02X", (unsigned char)last[i]);
    return url;
}

/* The level of a single tile is the whole picture, which IIIF
 * names in another way: it is no scale of tiles unless it is the only one. */
static void describe_iiif(const struct layout_store *store, FILE *file)
{
    const struct gf_pyramid *const pyramid = &store->pyramid;
    const bool is_3 = store->layout == GF_LAYOUT_IIIF3;
    char *const id = url_of(store);
    struct gf_json json = gf_json_begin(file);
    json.indent = 2;
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_string(&json, "@context",
                   is_3 ? "http://iiif.io/api/image/3/context.json"
                        : "http://iiif.io/api/image/2/context.json");
    gf_json_string(&json, is_3 ? "id" : "@id", id);
    describe_profile(store, &json);
    gf_json_string(&json, "protocol", "http://iiif.io/api/image");
    gf_json_array(&json, "tiles", GF_JSON_LINES);
    gf_json_object(&json, NULL, GF_JSON_INLINE);
    gf_json_array(&json, "scaleFactors", GF_JSON_INLINE);
    for (int i = 0; i == 0 || i + 1 < pyramid->levels; i++)
        gf_json_number(&json, NULL, (double)(1 << i), 0);
    gf_json_end(&json);
    gf_json_number(&json, "width", pyramid->tile_width, 0);
    gf_json_end(&json);
    gf_json_end(&json);
    gf_json_number(&json, "width", pyramid->format.width, 0);
    gf_json_number(&json, "height", pyramid->format.height, 0);
    gf_json_end(&json);
    free(id);
}

/* Writes the file that describes the tiles, beside their folder or in it. */
static enum gf_status put_description(struct layout_store *store, const char *text, size_t size,
                                      struct gf_error *error)
{
    if (store->layout != GF_LAYOUT_DZ)
        return put_file(store,
                        store->layout == GF_LAYOUT_ZOOMIFY ? "ImageProperties.xml" : "info.json",
                        text, size, error);
    return store->in_zip ? put_in_zip(store, ".dzi", "", text, size, error)
                         : gf_output_write(store->output, text, size, error);
}

static enum gf_status put_blank(struct layout_store *store, struct gf_error *error)
{
    struct gf_tile tile = {.format = store->pyramid.format};
    struct gf_coded coded = {0};
    tile.format.width = tile.format.height = 1;
    unsigned char *const pixels = pad(&store->pyramid, &tile);
    enum gf_status status =
        pixels ? encode_picture(store, GF_FILE_PNG, &tile, &coded, error) : gf_fail_memory(error);
    GF_THEN(status, put_file(store, "blank.png", coded.data, coded.size, error));
    free(coded.data);
    free(pixels);
    return status;
}

static enum gf_status describe(struct layout_store *store, struct gf_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&text, &size);
    GF_ALLOCATED(file, error);
    if (store->layout == GF_LAYOUT_DZ)
        describe_dz(store, file);
    else if (store->layout == GF_LAYOUT_ZOOMIFY)
        describe_zoomify(store, file);
    else
        describe_iiif(store, file);
    const enum gf_status status =
        fclose(file) ? gf_fail_memory(error) : put_description(store, text, size, error);
    free(text);
    return status;
}

static enum gf_status layout_finish(struct gf_tile_store *base, struct gf_error *error)
{
    struct layout_store *const store = (struct layout_store *)base;
    GF_TRY((store->layout == GF_LAYOUT_GOOGLE ? put_blank : describe)(store, error));
    return store->in_zip ? gf_zip_finish(&store->zip, error) : GF_OK;
}

static void layout_close(struct gf_tile_store *base)
{
    struct layout_store *const store = (struct layout_store *)base;
    gf_metadata_free(&store->metadata);
    free(store->zip.directory);
    free(store);
}

/* ---- opening ---- */

enum gf_status gf_tiles_output_open(const char *name, const struct gf_options *options,
                                    struct gf_output **output, struct gf_error *error)
{
    const bool is_folder = layout_of(name, options) > GF_LAYOUT_DZ && !gf_pyramid_in_zip(name);
    return is_folder ? gf_output_open_memory(name, output, error)
                     : gf_output_open(name, output, error);
}

static enum gf_status add_folder(struct layout_store *store, struct gf_error *error)
{
    if (store->in_zip)
        return GF_OK;
    char *const target = folder_of(gf_output_name(store->output), store->layout != GF_LAYOUT_DZ);
    const enum gf_status status = target ? gf_output_add_folder(store->output, target, error)
                                         : gf_fail(error, GF_ERROR_OUTPUT, "%s: %s",
                                                   gf_output_name(store->output), strerror(errno));
    free(target);
    return status;
}

/* Sets how tiles are written: each by one thread, without metadata but the profile. */
static enum gf_status set_tiles(struct layout_store *store, const struct gf_metadata *metadata,
                                const struct gf_options *options, struct gf_error *error)
{
    store->options = *options;
    store->options.threads = 1;
    store->options.warn = NULL;
    store->options.set = NULL;
    store->options.pyramid = NULL;
    store->options.kept = 1 << GF_METADATA_ICC;
    if (!metadata)
        return GF_OK;
    store->metadata.bits = metadata->bits;
    store->metadata.colour = metadata->colour;
    if (gf_metadata_is_srgb(metadata, store->pyramid.format, options))
        return GF_OK;
    return gf_blob_set(&store->metadata.icc, metadata->icc.data, metadata->icc.size)
               ? GF_OK
               : gf_fail_memory(error);
}

/* Opens a pyramid of floats: its levels and tiles are made of integers. */
static enum gf_status open_for_floats(struct gf_output *output, enum gf_file_format file_format,
                                      struct gf_format format, const struct gf_metadata *metadata,
                                      const struct gf_options *options, struct gf_sink **sink,
                                      struct gf_error *error)
{
    const struct gf_file_type *const type = gf_file_type(file_format);
    const int depth = gf_depth_in_file(type, format, metadata ? metadata->bits : 0, options);
    GF_TRY(gf_tiles_sink_open(output, file_format, gf_depth_rows(type, format, depth), metadata,
                              options, sink, error));
    const struct gf_sink *const tiles = *sink;
    GF_TRY(gf_depth_sink_open(type, format, depth, gf_output_name(output), options, sink, error));
    (*sink)->levels = tiles->levels;
    (*sink)->level_count = tiles->level_count;
    return GF_OK;
}

enum gf_status gf_tiles_sink_open(struct gf_output *output, enum gf_file_format file_format,
                                  struct gf_format format, const struct gf_metadata *metadata,
                                  const struct gf_options *options, struct gf_sink **sink,
                                  struct gf_error *error)
{
    struct gf_pyramid pyramid;
    struct gf_pyramid_choice choice;
    const char *const name = gf_output_name(output);
    if (!tiles_plan(name, format, options, &pyramid))
        return gf_sink_open(output, file_format, format, metadata, options, sink, error);
    if (gf_is_float(format))
        return open_for_floats(output, file_format, format, metadata, options, sink, error);
    GF_TRY(gf_pyramid_choose(options, &choice, error));
    if (metadata && metadata->inks)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: viewers show no tiles of CMYK: --to-icc=srgb",
                       name);
    GF_NEW(struct layout_store, store, error);
    *store = (struct layout_store){.base = {.encode = layout_encode,
                                            .put = layout_put,
                                            .finish = layout_finish,
                                            .close = layout_close},
                                   .output = output,
                                   .layout = layout_of(name, options),
                                   .in_zip = gf_pyramid_in_zip(name),
                                   .pyramid = pyramid,
                                   .id = choice.id,
                                   .file_format = file_format,
                                   .zip = {.output = output}};
    /* Of google's tiles the blank ones are left out, and others are padded. */
    if (file_format == GF_FILE_JPEG && store->layout != GF_LAYOUT_GOOGLE)
        store->base.file = file_format;
    store->base.options = &store->options;
    enum gf_status status = set_tiles(store, metadata, options, error);
    GF_THEN(status, add_folder(store, error));
    if (status) {
        layout_close(&store->base);
        return status;
    }
    return gf_pyramid_sink_open(&pyramid, gf_codec_threads(options), &store->base, sink, error);
}
