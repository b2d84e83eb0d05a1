/* Writes a picture as tiles, alone or as a pyramid. libtiff codes the tiles, each thread by a
 * handle of its own on a picture of one tile, and writes the directories with their metadata. It
 * cannot write the tiles of several directories in turn. Therefore their bytes are written here, as
 * they come, and at the end libtiff writes each directory as if it had written the tiles, whose
 * offsets it gets as ends of the file (tile_at). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/tiff/tiff.h"

/* Tiles have a side that is a multiple of SIDE (TIFF 6.0, section 15). A tile is coded behind
 * HEAD bytes: the header of a file that nobody reads. In a COG AROUND bytes are on both sides. */
enum { SIDE = 16, HEAD = 16, USUAL_SIDE = 256, COG_SIDE = 512, AROUND = 4 };

struct level {
    int64_t *offset; /* where each tile begins: in the output or, for GF_LAYOUT_COG, in the spool */
    uint32_t *bytes;
    int64_t base; /* offset of the spool's first byte in the file; 0: there is no spool */
    struct gf_output *spool; /* a file without a name; NULL: none */
};

struct coder {
    struct gf_tiff_handle handle;
    struct gf_output *output; /* a coded tile, in memory */
    unsigned char *pixels;    /* a tile, and behind it a row of samples of 8 bits for single bits */
    size_t head;              /* bytes of a JPEG before its scan; 0: not known */
};

struct tiles {
    struct gf_tile_store base;
    struct gf_tiff_coding coding; /* of a picture of one tile */
    struct gf_options options;
    struct gf_metadata metadata; /* a copy, for GF_LAYOUT_COG */
    struct gf_pyramid pyramid;
    enum gf_pyramid_layout layout;
    struct gf_output *output;
    const char *mode;
    struct gf_tiff_handle handle;
    struct level level[GF_PYRAMID_LEVELS_MAX];
    int coders;
    struct coder coder[];
};

/* The bytes of a coded row of a tile, and of a tile. */
static size_t tile_row_bytes(const struct gf_tiff_coding *coding)
{
    return gf_tiff_row_bytes(coding->format, coding->bits);
}

static size_t tile_bytes(const struct gf_tiff_coding *coding)
{
    return tile_row_bytes(coding) * (size_t)coding->tile_height;
}

/* ---- coding tiles ---- */

static enum gf_status open_coder(struct tiles *tiles, struct coder *coder, struct gf_error *error)
{
    const struct gf_tiff_coding *const coding = &tiles->coding;
    coder->pixels = malloc(tile_bytes(coding) + gf_row_bytes(coding->format));
    GF_ALLOCATED(coder->pixels, error);
    GF_TRY(gf_output_open_memory(gf_output_name(tiles->output), &coder->output, error));
    GF_TRY(gf_tiff_open(&coder->handle, NULL, coder->output, tiles->mode, 0, error));
    return gf_tiff_set_coding(&coder->handle, coding) ? GF_OK
                                                      : gf_tiff_fail(&coder->handle, -1, 0, error);
}

/* Copies the pixels to a whole tile. Beyond the picture's edges the last pixels are repeated, which
 * takes few bytes. */
static void fill(const struct gf_tiff_coding *coding, const struct gf_tile *tile,
                 unsigned char *pixels)
{
    const size_t row_bytes = tile_row_bytes(coding),
                 pixel = (size_t)tile->format.channels * (size_t)tile->format.bits / 8,
                 wide = (size_t)coding->tile_width * pixel,
                 own = (size_t)tile->format.width * pixel;
    unsigned char *const apart = pixels + tile_bytes(coding);
    for (int y = 0; y < coding->tile_height; y++) {
        unsigned char *const to = pixels + row_bytes * (size_t)y, *const row = coding->bits == 1
                                                                                   ? apart
                                                                                   : to;
        if (y >= tile->format.height) {
            memcpy(to, to - row_bytes, row_bytes);
            continue;
        }
        memcpy(row, tile->pixels + tile->pitch * (size_t)y, own);
        for (size_t at = own; at < wide; at++)
            row[at] = row[at - pixel];
        if (coding->bits == 1)
            gf_samples_to_bits(row, to, (size_t)coding->tile_width, tile->format.bits);
    }
}

/* Whether the tile's pixels can be coded as they lie there. */
static bool is_whole(const struct gf_tiff_coding *coding, const struct gf_tile *tile)
{
    return coding->bits != 1 && tile->pitch == tile_row_bytes(coding) &&
           tile->format.width == coding->tile_width && tile->format.height == coding->tile_height;
}

/* Codes the pixels of a whole tile, which libtiff does not change. */
static enum gf_status code(const struct tiles *tiles, struct coder *coder,
                           const unsigned char *pixels, struct gf_coded *coded,
                           struct gf_error *error)
{
    static const unsigned char head[HEAD];
    const tmsize_t bytes = (tmsize_t)tile_bytes(&tiles->coding);
    GF_TRY(gf_output_rewind(coder->output, error));
    GF_TRY(gf_output_write(coder->output, head, sizeof head, error));
    gf_tiff_begin(&coder->handle);
    if (gf_tiff.TIFFWriteEncodedTile(coder->handle.tiff, 0, (void *)pixels, bytes) < 0)
        return gf_tiff_fail(&coder->handle, -1, 0, error);
    const size_t size = (size_t)gf_output_size(coder->output) - sizeof head;
    GF_TRY(gf_coded_room(coded, size, error));
    coded->size = size;
    return gf_output_read_at(coder->output, sizeof head, coded->data, size, error);
}

/* Returns the offset of a JPEG's scan; 0: it has none. */
static size_t scan_of(const struct gf_coded *jpeg)
{
    enum { SOI = 2, MARKER = 2, SOS = 0xDA };
    for (size_t at = SOI; at + 2 * MARKER <= jpeg->size;) {
        const unsigned char *const marker = jpeg->data + at;
        at += MARKER + (size_t)(marker[2] << 8 | marker[3]);
        if (marker[1] == SOS)
            return at <= jpeg->size ? at : 0;
    }
    return 0;
}

/* Makes a tile of the scan that a GPU has made. All tiles have the same size, and so the same bytes
 * before the scan, which those of an empty tile tell. */
static enum gf_status splice(const struct tiles *tiles, struct coder *coder,
                             const struct gf_tile *tile, struct gf_coded *coded,
                             struct gf_error *error)
{
    static const unsigned char end[] = {0xFF, 0xD9};
    const size_t pixels = tile_bytes(&tiles->coding);
    if (!coder->head) {
        memset(coder->pixels, 0, pixels);
        GF_TRY(code(tiles, coder, coder->pixels, coded, error));
        coder->head = scan_of(coded);
        if (!coder->head || coder->head > pixels)
            return gf_fail(error, GF_ERROR_OUTPUT, "%s: libtiff made a JPEG without a scan",
                           gf_output_name(tiles->output));
        memcpy(coder->pixels, coded->data, coder->head); /* no other pixels come */
    }
    GF_TRY(gf_coded_room(coded, coder->head + tile->coded_size + sizeof end, error));
    memcpy(coded->data, coder->pixels, coder->head);
    memcpy(coded->data + coder->head, tile->coded, tile->coded_size);
    memcpy(coded->data + coder->head + tile->coded_size, end, sizeof end);
    coded->size = coder->head + tile->coded_size + sizeof end;
    return GF_OK;
}

static enum gf_status tiles_encode(struct gf_tile_store *store, int worker,
                                   const struct gf_tile *tile, struct gf_coded *coded,
                                   struct gf_error *error)
{
    struct tiles *const tiles = (struct tiles *)store;
    struct coder *const coder = &tiles->coder[worker];
    if (!coder->handle.tiff)
        GF_TRY(open_coder(tiles, coder, error));
    if (tile->coded)
        return splice(tiles, coder, tile, coded, error);
    const bool whole = is_whole(&tiles->coding, tile);
    if (!whole)
        fill(&tiles->coding, tile, coder->pixels);
    return code(tiles, coder, whole ? tile->pixels : coder->pixels, coded, error);
}

/* ---- keeping them ---- */

/* Appends a tile to the level's spool, between its size and its last bytes, by which GDAL reads it
 * with one request. */
static enum gf_status spool(struct tiles *tiles, struct level *level, const struct gf_coded *coded,
                            struct gf_error *error)
{
    const unsigned char size[AROUND] = {
        (unsigned char)coded->size, (unsigned char)(coded->size >> 8),
        (unsigned char)(coded->size >> 16), (unsigned char)(coded->size >> 24)};
    if (!level->spool) {
        char name[200];
        const int file = gf_spool_open();
        snprintf(name, sizeof name, "%.100s: its tiles in %.80s", gf_output_name(tiles->output),
                 gf_spool_folder());
        if (file < 0)
            return gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", name, strerror(errno));
        GF_TRY(gf_output_open_descriptor(file, name, &level->spool, error));
    }
    GF_TRY(gf_output_write(level->spool, size, AROUND, error));
    GF_TRY(gf_output_write(level->spool, coded->data, coded->size, error));
    return gf_output_write(level->spool, coded->data + coded->size - AROUND, AROUND, error);
}

static enum gf_status tiles_put(struct gf_tile_store *store, const struct gf_tile *tile,
                                const struct gf_coded *coded, struct gf_error *error)
{
    struct tiles *const tiles = (struct tiles *)store;
    struct level *const level = &tiles->level[tile->level];
    const size_t index = (size_t)tile->row * (size_t)tiles->pyramid.level[tile->level].columns +
                         (size_t)tile->column;
    level->bytes[index] = (uint32_t)coded->size;
    if (tiles->layout == GF_LAYOUT_COG) {
        level->offset[index] = (level->spool ? gf_output_size(level->spool) : 0) + AROUND;
        return spool(tiles, level, coded, error);
    }
    level->offset[index] = gf_output_size(tiles->output);
    return gf_output_write(tiles->output, coded->data, coded->size, error);
}

/* ---- directories ---- */

/* Sets the tags of a level's directory, but for its tiles. */
static enum gf_status describe(const struct tiles *tiles, struct gf_tiff_handle *handle, int index,
                               const struct gf_metadata *metadata, const struct gf_options *options,
                               struct gf_error *error)
{
    static const uint64_t links[GF_PYRAMID_LEVELS_MAX];
    struct gf_tiff_coding coding = tiles->coding;
    const int below = tiles->pyramid.levels - 1;
    coding.format.width = tiles->pyramid.level[index].width;
    coding.format.height = tiles->pyramid.level[index].height;
    coding.subfile = index ? FILETYPE_REDUCEDIMAGE : 0;
    gf_tiff_begin(handle);
    if (!gf_tiff_set_coding(handle, &coding) ||
        (!index && below && tiles->layout == GF_LAYOUT_SUBIFDS &&
         !gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_SUBIFD, below, links)))
        return gf_tiff_fail(handle, -1, 0, error);
    return index ? GF_OK : gf_tiff_write_metadata(handle, metadata, options, error);
}

/* Sets the tags that libtiff has set when the first tile was coded as JPEG. */
static bool set_tables(const struct tiles *tiles, const struct gf_tiff_handle *handle)
{
    uint32_t size = 0;
    void *tables = NULL;
    float *reference = NULL;
    const struct coder *coder = tiles->coder;
    if (tiles->options.tiff_compression != GF_TIFF_JPEG)
        return true;
    while (!coder->handle.tiff)
        coder++;
    return gf_tiff.TIFFGetField(coder->handle.tiff, TIFFTAG_JPEGTABLES, &size, &tables) &&
           gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_JPEGTABLES, size, tables) &&
           (!gf_tiff.TIFFGetField(coder->handle.tiff, TIFFTAG_REFERENCEBLACKWHITE, &reference) ||
            gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_REFERENCEBLACKWHITE, reference));
}

/* Writes the directory of a level that was described. */
static enum gf_status write_directory(const struct tiles *tiles, struct gf_tiff_handle *handle,
                                      int index, struct gf_error *error)
{
    const struct level *const level = &tiles->level[index];
    const uint32_t count =
        (uint32_t)tiles->pyramid.level[index].columns * (uint32_t)tiles->pyramid.level[index].rows;
    gf_tiff_begin(handle);
    bool done = set_tables(tiles, handle);
    for (uint32_t i = 0; done && i < count; i++) {
        handle->tile_at = level->base + level->offset[i];
        done = gf_tiff.TIFFWriteRawTile(handle->tiff, i, handle, (tmsize_t)level->bytes[i]) >= 0;
    }
    handle->tile_at = 0;
    return done && gf_tiff.TIFFWriteDirectory(handle->tiff) ? GF_OK
                                                            : gf_tiff_fail(handle, -1, 0, error);
}

/* ---- the order of a Cloud Optimized GeoTIFF ---- */

/* What GDAL's driver of COG writes behind the header. */
static enum gf_status write_promises(struct gf_output *head, struct gf_error *error)
{
    static const char promises[] = "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\n"
                                   "BLOCK_LEADER=SIZE_AS_UINT4\n"
                                   "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
                                   "KNOWN_INCOMPATIBLE_EDITION=NO\n ";
    char text[sizeof promises + 60];
    const int length = snprintf(text, sizeof text, "GDAL_STRUCTURAL_METADATA_SIZE=%06zu bytes\n%s",
                                sizeof promises - 1, promises);
    return gf_output_write(head, text, (size_t)length, error);
}

/* Makes the file's bytes before the tiles, `head` and `exif`, for levels whose base is set. */
static enum gf_status make_head(struct tiles *tiles, struct gf_output *head, struct gf_output *exif,
                                int64_t exif_at, bool warns, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiles->handle;
    struct gf_options options = tiles->options;
    options.warn = warns ? options.warn : NULL;
    gf_tiff_close(handle);
    GF_TRY(gf_tiff_open(handle, NULL, head, tiles->mode, 0, error));
    handle->exif = exif;
    handle->exif_at = exif_at;
    enum gf_status status = write_promises(head, error);
    for (int i = 0; !status && i < tiles->pyramid.levels; i++) {
        status = describe(tiles, handle, i, &tiles->metadata, &options, error);
        GF_THEN(status, write_directory(tiles, handle, i, error));
    }
    handle->output = handle->exif = NULL;
    return status;
}

/* Appends what was written to another output. */
static enum gf_status append(struct tiles *tiles, struct gf_output *from, struct gf_error *error)
{
    enum { PIECE = 1 << 20 };
    const int64_t end = gf_output_size(from);
    unsigned char *const piece = malloc(PIECE);
    enum gf_status status = piece ? GF_OK : gf_fail_memory(error);
    for (int64_t at = 0; !status && at < end; at += PIECE) {
        const size_t size = end - at < PIECE ? (size_t)(end - at) : PIECE;
        status = gf_output_read_at(from, at, piece, size, error);
        GF_THEN(status, gf_output_write(tiles->output, piece, size, error));
    }
    free(piece);
    return status;
}

/* Makes the bytes before the tiles until the offsets in them are right. Their number depends on
 * offsets only where EXIF has a maker's note. */
static enum gf_status make_heads(struct tiles *tiles, struct gf_output *head,
                                 struct gf_output *exif, struct gf_error *error)
{
    int64_t exif_at = 0, end = 0, before = -1;
    for (int attempt = 0; end != before; attempt++) {
        int64_t at = before = end;
        for (int i = tiles->pyramid.levels - 1; i >= 0; i--) {
            tiles->level[i].base = at;
            at += gf_output_size(tiles->level[i].spool);
        }
        GF_TRY(gf_output_rewind(head, error));
        GF_TRY(gf_output_rewind(exif, error));
        GF_TRY(make_head(tiles, head, exif, exif_at, attempt == 1, error));
        if (gf_output_size(head) % 2)
            GF_TRY(gf_output_write(head, "", 1, error));
        exif_at = gf_output_size(head);
        end = exif_at + gf_output_size(exif);
    }
    return GF_OK;
}

static enum gf_status finish_cog(struct tiles *tiles, struct gf_error *error)
{
    const char *const name = gf_output_name(tiles->output);
    struct gf_output *head = NULL, *exif = NULL;
    enum gf_status status = gf_output_open_memory(name, &head, error);
    GF_THEN(status, gf_output_open_memory(name, &exif, error));
    GF_THEN(status, make_heads(tiles, head, exif, error));
    GF_THEN(status, append(tiles, head, error));
    GF_THEN(status, append(tiles, exif, error));
    for (int i = tiles->pyramid.levels - 1; !status && i >= 0; i--)
        status = append(tiles, tiles->level[i].spool, error);
    gf_output_close(head);
    gf_output_close(exif);
    return status;
}

static enum gf_status tiles_finish(struct gf_tile_store *store, struct gf_error *error)
{
    struct tiles *const tiles = (struct tiles *)store;
    if (tiles->layout == GF_LAYOUT_COG)
        return finish_cog(tiles, error);
    GF_TRY(write_directory(tiles, &tiles->handle, 0, error));
    for (int i = 1; i < tiles->pyramid.levels; i++) {
        GF_TRY(describe(tiles, &tiles->handle, i, NULL, NULL, error));
        GF_TRY(write_directory(tiles, &tiles->handle, i, error));
    }
    return GF_OK;
}

/* ---- opening ---- */

static void tiles_close(struct gf_tile_store *store)
{
    struct tiles *const tiles = (struct tiles *)store;
    for (int i = 0; i < tiles->coders; i++) {
        struct coder *const coder = &tiles->coder[i];
        coder->handle.output = NULL;
        gf_tiff_close(&coder->handle);
        gf_output_close(coder->output);
        free(coder->pixels);
    }
    for (int i = 0; i < tiles->pyramid.levels; i++) {
        gf_output_close(tiles->level[i].spool);
        free(tiles->level[i].offset);
        free(tiles->level[i].bytes);
    }
    tiles->handle.output = NULL;
    gf_tiff_close(&tiles->handle);
    gf_metadata_free(&tiles->metadata);
    free(tiles);
}

/* Allocates the tables of the levels, and returns the bytes of all tiles in *bytes. */
static bool make_levels(struct tiles *tiles, uint64_t *bytes)
{
    bool done = true;
    *bytes = tile_bytes(&tiles->coding) * (uint64_t)gf_pyramid_tiles(&tiles->pyramid);
    for (int i = 0; i < tiles->pyramid.levels; i++) {
        struct level *const level = &tiles->level[i];
        const size_t count =
            (size_t)tiles->pyramid.level[i].columns * (size_t)tiles->pyramid.level[i].rows;
        level->offset = calloc(count, sizeof *level->offset);
        level->bytes = calloc(count, sizeof *level->bytes);
        done &= level->offset && level->bytes;
    }
    return done;
}

static enum gf_status begin(struct tiles *tiles, const struct gf_sink_order *order,
                            struct gf_error *error)
{
    uint64_t bytes;
    GF_TRY(make_levels(tiles, &bytes) ? GF_OK : gf_fail_memory(error));
    tiles->mode = gf_tiff_mode(bytes, tiles->options.tiff_compression, order->metadata);
    if (tiles->layout == GF_LAYOUT_COG) {
        const struct gf_options all = {.size = sizeof all};
        return gf_metadata_for_output(order->metadata, order->format, GF_TAGS_ALL, &all,
                                      &tiles->metadata, error);
    }
    GF_TRY(gf_tiff_open(&tiles->handle, NULL, order->output, tiles->mode, 0, error));
    return describe(tiles, &tiles->handle, 0, order->metadata, order->options, error);
}

static struct gf_pyramid plan(struct gf_format format, const struct gf_pyramid_choice *choice,
                              const struct gf_options *options)
{
    const int side = options->tile_size                ? options->tile_size
                     : choice->layout == GF_LAYOUT_COG ? COG_SIDE
                                                       : USUAL_SIDE;
    struct gf_pyramid pyramid = {
        .format = format, .tile_width = side, .tile_height = side, .shrink = choice->shrink};
    pyramid.whole_tiles = true;
    gf_pyramid_plan(&pyramid, GF_PYRAMID_TO_TILE);
    pyramid.levels = choice->layout == GF_LAYOUT_NONE ? 1 : pyramid.levels;
    return pyramid;
}

struct gf_codec_memory gf_tiff_store_memory(struct gf_format format,
                                            const struct gf_options *options)
{
    struct gf_pyramid_choice choice;
    if (gf_pyramid_choose(options, &choice, NULL))
        return (struct gf_codec_memory){0};
    const struct gf_pyramid pyramid = plan(format, &choice, options);
    const uint64_t threads = (uint64_t)gf_codec_threads(options),
                   side = (uint64_t)pyramid.tile_width,
                   pixel = (uint64_t)format.channels * (uint64_t)format.bits / 8,
                   tables = 3 * (sizeof(int64_t) + sizeof(uint32_t)); /* libtiff has its own */
    struct gf_codec_memory memory = gf_pyramid_memory(&pyramid, (int)threads);
    /* A coder has a tile, the coded tile and libtiff's; a spool has a buffer. */
    memory.bytes +=
        (uint64_t)gf_pyramid_tiles(&pyramid) * tables + 3 * side * side * pixel * threads;
    memory.bytes += choice.layout == GF_LAYOUT_COG ? (uint64_t)pyramid.levels << 20 : 0;
    return memory;
}

/* Refuses tiles that no TIFF has. */
static enum gf_status check(const struct gf_sink_order *order,
                            const struct gf_pyramid_choice *choice, int side,
                            struct gf_error *error)
{
    const char *const name = gf_output_name(order->output);
    if (gf_is_float(order->format) && choice->shrink != GF_SHRINK_AREA)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: levels of floats are means: shrink=area, or integers (options.depth)",
                       name);
    if (choice->overlap >= 0)
        return gf_fail(error, GF_ERROR_USAGE, "%s: a TIFF's tiles do not overlap", name);
    if (side % SIDE)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: %d divides the side of a TIFF's tiles, but not options.tile_size=%d",
                       name, SIDE, side);
    if (order->metadata && order->metadata->animated)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: one picture is written as tiles, not several",
                       name);
    return GF_OK;
}

enum gf_status gf_tiff_store_open(const struct gf_sink_order *order, struct gf_pyramid *pyramid,
                                  struct gf_tile_store **store, struct gf_error *error)
{
    const int threads = gf_codec_threads(order->options);
    struct gf_tiff_coding coding;
    struct gf_pyramid_choice choice;
    GF_TRY(gf_pyramid_choose(order->options, &choice, error));
    *pyramid = plan(order->format, &choice, order->options);
    GF_TRY(check(order, &choice, pyramid->tile_width, error));
    GF_TRY(gf_tiff_coding_of(order, &coding, error));
    struct tiles *const tiles = calloc(1, sizeof *tiles + (size_t)threads * sizeof *tiles->coder);
    GF_ALLOCATED(tiles, error);
    tiles->base = (struct gf_tile_store){.options = &tiles->options,
                                         .encode = tiles_encode,
                                         .put = tiles_put,
                                         .finish = tiles_finish,
                                         .close = tiles_close};
    tiles->options = *order->options;
    tiles->options.jpeg_encoder = GF_JPEG_LIBJPEG; /* libtiff's */
    /* At a lower quality libtiff's steps are longer than those of baseline JPEGs. */
    if (tiles->options.tiff_compression == GF_TIFF_JPEG && tiles->options.quality >= 25 &&
        !coding.inks)
        tiles->base.file = GF_FILE_JPEG;
    tiles->coding = coding;
    tiles->coding.format.width = tiles->coding.tile_width = pyramid->tile_width;
    tiles->coding.format.height = tiles->coding.tile_height = pyramid->tile_height;
    tiles->coding.options = &tiles->options;
    tiles->pyramid = *pyramid;
    tiles->layout = choice.layout;
    tiles->output = order->output;
    tiles->coders = threads;
    GF_OPENED(begin(tiles, order, error), tiles_close, &tiles->base, store);
}
