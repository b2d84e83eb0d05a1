#include "codec/tiff/tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"

enum { BELOW_MOST = 16 }; /* the most SubIFDs of the first directory that are searched */

static enum gf_picture_kind kind_of(const struct gf_tiff_handle *handle)
{
    uint32_t kind = 0;
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_SUBFILETYPE, &kind);
    return kind & FILETYPE_MASK           ? GF_PICTURE_MASK
           : kind & FILETYPE_REDUCEDIMAGE ? GF_PICTURE_REDUCED
                                          : GF_PICTURE_PAGE;
}

/* Searches for a picture of full resolution among the pages after the first. TIFFSetDirectory()
 * would start at the first page each time. */
static bool find_full_page(struct gf_tiff_handle *handle, int count,
                           const struct gf_options *options)
{
    for (int i = 1; i < count; i++) {
        if (!gf_tiff.TIFFReadDirectory(handle->tiff) || kind_of(handle) != GF_PICTURE_PAGE)
            continue;
        gf_warn(options, "%s: its first picture is of reduced resolution: %s[%d] is taken",
                handle->name, handle->name, i);
        return true;
    }
    return false;
}

/* Searches for a picture of full resolution in the SubIFDs of the first directory. */
static bool find_full_below(struct gf_tiff_handle *handle, const struct gf_options *options)
{
    uint64_t offset[BELOW_MOST];
    const uint64_t *below = NULL;
    uint16_t count = 0;
    if (!gf_tiff.TIFFSetDirectory(handle->tiff, 0) ||
        !gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_SUBIFD, &count, &below) || count > BELOW_MOST)
        return false;
    memcpy(offset, below, count * sizeof *below);
    for (int i = 0; i < count; i++) {
        if (!gf_tiff.TIFFSetSubDirectory(handle->tiff, offset[i]) ||
            kind_of(handle) != GF_PICTURE_PAGE)
            continue;
        gf_warn(options, "%s: its first picture is of reduced resolution: the full one is taken",
                handle->name);
        return true;
    }
    return false;
}

/* Counts the directories. Directories after a damaged one cannot be found. */
static int count_pages(struct gf_tiff_handle *handle, const struct gf_options *options)
{
    gf_tiff_begin(handle);
    const int linked = (int)gf_tiff.TIFFNumberOfDirectories(handle->tiff);
    /* The first directory was read even if its link to the next is damaged. */
    const int count = linked > 1 ? linked : 1;
    handle->damaged = *handle->why && !handle->error.status;
    if (handle->damaged)
        gf_warn_behind(handle->name, count, handle->why, options);
    return count;
}

/* Goes to the directory of the chosen picture. `wanted` is its number from 0, or -1. Sets
 * tiff->directory to the directory's offset, or 0 for the first. If no number was given, the
 * picture's levels are found. */
static GF_CHECKED enum gf_status tiff_choose(struct gf_tiff_source *tiff, int wanted,
                                             struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[0];
    const struct gf_options *const options = &tiff->options;
    int page = 0, second = 1, count = handle->pages;
    const bool full = wanted >= 0 || kind_of(handle) == GF_PICTURE_PAGE;
    const uint64_t first = gf_tiff.TIFFCurrentDirOffset(handle->tiff);
    if (!full && (find_full_page(handle, count, options) || find_full_below(handle, options))) {
        tiff->directory = gf_tiff.TIFFCurrentDirOffset(handle->tiff);
        gf_tiff_find_levels(tiff, tiff->directory, &second);
        return GF_OK;
    }
    if (!full)
        gf_warn(options, "%s: the picture says that it is of reduced resolution", handle->name);
    enum gf_status status =
        gf_choose_page(handle->name, wanted < 0 ? 0 : wanted, count, options, &page, error);
    if (wanted < 0 && full)
        count -= gf_tiff_find_levels(tiff, first, &second);
    if (wanted < 0)
        gf_warn_pages(handle->name, count, second, options);
    gf_tiff_begin(handle);
    if (!status && (page || !full) && !gf_tiff.TIFFSetDirectory(handle->tiff, (tdir_t)page))
        status = gf_tiff_fail(handle, -1, 0, error);
    const uint64_t chosen = gf_tiff.TIFFCurrentDirOffset(handle->tiff);
    tiff->directory = chosen == first ? 0 : chosen;
    return status;
}

/* Whether several rows are decoded at a time, into tiff->band. */
static bool in_bands(const struct gf_tiff_source *tiff)
{
    return tiff->layout.tile_width || tiff->layout.colour == GF_TIFF_DISPLAY;
}

/* Copies the window's part of the next row, which is in the band. */
static void copy_row(const struct gf_tiff_source *tiff, unsigned char *dst)
{
    const size_t pixel_bytes = gf_pixel_bytes(tiff->layout.format);
    const size_t above = (size_t)(tiff->row - tiff->band_first) * gf_tiff_band_pitch(tiff);
    const int end = tiff->window.x + tiff->window.width;
    for (int x = tiff->window.x; x < end;) {
        const int left = x % tiff->side, rest = tiff->side - left;
        const size_t pixels = (size_t)(rest < end - x ? rest : end - x);
        memcpy(dst, gf_tiff_place(tiff, x / tiff->side) + above + (size_t)left * pixel_bytes,
               pixels * pixel_bytes);
        dst += pixels * pixel_bytes;
        x += (int)pixels;
    }
}

/* Reads the next row. The next band is decoded once all rows of the present one were copied. */
static enum gf_status read_row(struct gf_tiff_source *tiff, unsigned char *dst,
                               struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (!in_bands(tiff))
        status = gf_tiff_read_strip_row(tiff, dst, error);
    else if (tiff->row >= tiff->band_first + tiff->band_rows)
        status = tiff->layout.colour == GF_TIFF_DISPLAY ? gf_tiff_read_display(tiff, error)
                                                        : gf_tiff_read_tiles(tiff, error);
    if (!status && in_bands(tiff))
        copy_row(tiff, dst);
    tiff->row++;
    return status;
}

/* Warns, once, that samples are outside the range low..high. */
static void warn_beyond(struct gf_tiff_source *tiff)
{
    bool beyond = false;
    for (int i = 0; i < tiff->handles; i++)
        beyond |= tiff->beyond[i];
    const bool usual =
        !tiff->options.range_percentile && tiff->options.range_low >= tiff->options.range_high;
    if (beyond && !tiff->warned && usual)
        gf_warn(&tiff->options, "%s: samples outside %.9g..%.9g become black or white",
                tiff->handle[0].name, tiff->layout.low, tiff->layout.high);
    tiff->warned |= beyond;
}

/* Closes the handles and frees what reading the rows of the layout took. */
static void stop_reading(struct gf_tiff_source *tiff)
{
    gf_ordered_close(tiff->ordered);
    tiff->ordered = NULL;
    for (int i = 0; i < GF_TIFF_HANDLES_MAX; i++) {
        gf_tiff_close(&tiff->handle[i]);
        if (tiff->layout.tile_width || !i)
            free(tiff->buffer[i]);
        free(tiff->scratch[i]);
        tiff->buffer[i] = tiff->scratch[i] = NULL;
    }
    gf_tiff_forget(tiff);
    free(tiff->band);
    free(tiff->wanted);
    free(tiff->line);
    free(tiff->raster);
    tiff->band = tiff->line = NULL;
    tiff->wanted = NULL;
    tiff->raster = NULL;
}

static void tiff_close(struct gf_source *source)
{
    struct gf_tiff_source *const tiff = (struct gf_tiff_source *)source;
    stop_reading(tiff);
    gf_input_close(tiff->memory);
    gf_metadata_free(&source->metadata);
    free(tiff->file.data);
    gf_tiff_layout_free(&tiff->layout);
    free(tiff);
}

static enum gf_stored_colour stored_colour(const struct gf_tiff_layout *layout)
{
    return layout->colour == GF_TIFF_PALETTE ? GF_STORED_PALETTE
           : layout->colour == GF_TIFF_CMYK  ? GF_STORED_CMYK
                                             : GF_STORED_PLAIN;
}

/* Prepares the conversion of CMYK and L*a*b* to sRGB, and drops the file's ICC profile, which does
 * not describe the converted rows. */
static enum gf_status prepare_colours(struct gf_tiff_source *tiff, struct gf_error *error)
{
    struct gf_metadata *const metadata = &tiff->base.metadata;
    const enum gf_tiff_colour colour = tiff->layout.colour;
    if (colour == GF_TIFF_CMYK)
        return gf_cmyk_open(metadata, tiff->layout.format.bits, tiff->handle[0].name,
                            &tiff->options, &tiff->layout.cmyk, error);
    if (colour == GF_TIFF_CIELAB || colour == GF_TIFF_ICCLAB) {
        free(metadata->icc.data);
        metadata->icc = (struct gf_blob){0};
    }
    return GF_OK;
}

/* Opens the directory again if the sizes of its uncompressed strips are wrong, as some writers'
 * are: libtiff calculates them when it reads the whole list at opening. */
static enum gf_status check_strips(struct gf_tiff_source *tiff, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[0];
    const struct gf_tiff_handle before = *handle;
    uint16_t compression = COMPRESSION_NONE;
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_COMPRESSION, &compression);
    tiff->mode = GF_TIFF_READ;
    if (gf_tiff.TIFFIsTiled(handle->tiff) || compression != COMPRESSION_NONE ||
        gf_tiff.TIFFNumberOfStrips(handle->tiff) <= 2 ||
        gf_tiff.TIFFGetStrileByteCount(handle->tiff, 0) ==
            gf_tiff.TIFFGetStrileByteCount(handle->tiff, 1))
        return GF_OK;
    tiff->mode = "rm";
    gf_tiff_close(handle);
    GF_TRY(gf_tiff_open(handle, tiff->input, NULL, tiff->mode, tiff->directory, error));
    handle->name = before.name;
    handle->pages = before.pages;
    handle->damaged = before.damaged;
    return GF_OK;
}

static enum gf_status open_first(struct gf_tiff_source *tiff, int wanted, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[0];
    const enum gf_picture_kind kind = gf_page_kind(wanted);
    struct gf_stored stored = {0};
    GF_TRY(gf_tiff_open(handle, tiff->input, NULL, GF_TIFF_READ, tiff->directory, error));
    if (!tiff->directory)
        handle->pages = count_pages(handle, &tiff->options);
    if (kind < GF_PICTURE_KINDS || gf_input_headers_only(tiff->input)) {
        const int found = gf_tiff_count_kinds(handle, kind, stored.pictures);
        if (kind < GF_PICTURE_KINDS && kind != GF_PICTURE_MAIN && found < 0)
            return gf_fail_page(handle->name, wanted, 0, error);
        wanted = found < 0 ? wanted : found;
    }
    if (!tiff->directory)
        GF_TRY(tiff_choose(tiff, wanted, error));
    GF_TRY(check_strips(tiff, error));
    GF_TRY(gf_tiff_read_layout(handle, &tiff->options, &tiff->layout, error));
    tiff->base.format = tiff->layout.format;
    stored.pages = handle->pages;
    stored.bits = tiff->layout.bits;
    stored.colour = stored_colour(&tiff->layout);
    stored.is_float = tiff->layout.number == GF_TIFF_FLOAT;
    tiff->base.stored = stored;
    gf_tiff_prepare(handle, &tiff->layout);
    gf_tiff_describe_tiles(tiff);
    return gf_tiff_read_metadata(handle, &tiff->options, &tiff->base.metadata)
               ? prepare_colours(tiff, error)
               : gf_fail_memory(error);
}

/* Returns the size in bytes of the largest compressed strip. libtiff holds a whole strip in memory
 * while it decodes the rows. */
static uint64_t largest_strip(const struct gf_tiff_handle *handle)
{
    const uint32_t count = gf_tiff.TIFFNumberOfStrips(handle->tiff);
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bytes = gf_tiff.TIFFGetStrileByteCount(handle->tiff, i);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Returns how many bytes of rows, tiles and strips are in memory while one thread decodes. */
static uint64_t block_bytes(struct gf_tiff_source *tiff)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    TIFF *const handle = tiff->handle[0].tiff;
    const bool tiled = layout->tile_width > 0;
    const uint64_t width = (unsigned)layout->format.width,
                   row = gf_tiff_band_pitch(tiff) * (uint64_t)tiff->columns;
    uint32_t strip_rows = 0;
    gf_tiff.TIFFGetFieldDefaulted(handle, TIFFTAG_ROWSPERSTRIP, &strip_rows);
    const uint32_t most = (unsigned)layout->format.height;
    tiff->block_rows = tiled ? layout->tile_height : (int)(strip_rows < most ? strip_rows : most);
    const uint64_t rows = (unsigned)tiff->block_rows;
    if (layout->colour == GF_TIFF_DISPLAY) {
        const uint64_t block =
            tiled ? gf_tiff.TIFFTileSize64(handle) : rows * gf_tiff.TIFFScanlineSize64(handle);
        tiff->block_bytes = (size_t)block;
        return block ? rows * (4 * width + row) + 2 * block * (unsigned)layout->planes : 0;
    }
    /* Libtiff would count chroma that is subsampled. */
    const uint64_t block = layout->is_jp2
                               ? (uint64_t)layout->tile_width * rows * (unsigned)layout->samples
                           : tiled ? gf_tiff.TIFFTileSize64(handle)
                                   : gf_tiff.TIFFScanlineSize64(handle);
    tiff->block_bytes = (size_t)block;
    return block ? (tiled ? rows * row : 0) + block * (unsigned)layout->planes : 0;
}

/* Whether the range of the samples is found by reading the whole picture. */
static bool finds_range(const struct gf_tiff_source *tiff)
{
    return tiff->options.range_percentile && gf_tiff_is_wide(&tiff->layout) &&
           tiff->layout.colour != GF_TIFF_DISPLAY;
}

/* Decides how the rows of the window are read and how much memory that takes. Returns the bytes of
 * a row of tiles or strips. */
static uint64_t plan(struct gf_tiff_source *tiff)
{
    enum { USUAL = 8 << 20 };
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const struct gf_tiff_handle *const handle = &tiff->handle[0];
    const bool tiled = layout->tile_width > 0, display = layout->colour == GF_TIFF_DISPLAY;
    const bool in_tiles = tiled && !display && layout->tile_width < layout->format.width;
    const int side = in_tiles ? layout->tile_width : layout->format.width;
    const int first = tiff->window.x / side;
    tiff->columns = (tiff->window.x + tiff->window.width - 1) / side - first + 1;
    tiff->band_x = first * side;
    tiff->side = side;
    const uint64_t block = block_bytes(tiff);
    tiff->as_decoded = in_tiles && !layout->is_jp2 && gf_tiff_converts_nothing(layout) &&
                       tiff->block_bytes == gf_tiff_band_pitch(tiff) * (size_t)tiff->block_rows;
    uint64_t bytes = block;
    uint16_t fill = FILLORDER_MSB2LSB;
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_FILLORDER, &fill);
    tiff->raw =
        !in_bands(tiff) && layout->compression == COMPRESSION_NONE && fill == FILLORDER_MSB2LSB;
    tiff->handles = display ? 1 : layout->planes;
    if (tiled && !display) {
        const int threads = gf_library_threads(&tiff->options);
        tiff->handles = threads < tiff->columns ? threads : tiff->columns;
        tiff->handles = tiff->handles < GF_TIFF_THREADS_MAX ? tiff->handles : GF_TIFF_THREADS_MAX;
        bytes += 2 * tiff->block_bytes * (unsigned)layout->planes * (unsigned)tiff->handles;
        bytes += gf_tiff_plan_kept(tiff);
        bytes += layout->is_jp2 ? gf_tiff_jp2_bytes(layout) * (unsigned)tiff->handles : 0;
    } else if (!tiled && !tiff->raw) {
        bytes += largest_strip(handle) * (unsigned)layout->planes;
    }
    tiff->base.memory = (struct gf_codec_memory){
        bytes > USUAL || tiff->file.size ? bytes + tiff->file.size : 0,
        tiled ? "a row of its tiles is decoded at a time" : "a strip of it is read at a time"};
    return block;
}

/* Plans the whole picture. A file that is too short for its pixels is refused before memory is
 * allocated: no compression makes a file smaller than 1/4096. */
static enum gf_status plan_whole(struct gf_tiff_source *tiff, struct gf_error *error)
{
    enum { SMALL = 16 << 20, DENSEST = 4096 };
    tiff->window.width = tiff->layout.format.width;
    tiff->window.height = tiff->layout.format.height;
    if (finds_range(tiff))
        tiff->base.window = NULL;
    const uint64_t bytes = plan(tiff);
    if (!bytes || bytes > SMALL + (uint64_t)gf_input_size(tiff->input) * DENSEST)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: too short for its %s",
                       tiff->handle[0].name, tiff->layout.tile_width ? "tiles" : "rows");
    return GF_OK;
}

static enum gf_status tiff_window(struct gf_source *source, struct gf_rectangle window, int more,
                                  struct gf_error *error)
{
    struct gf_tiff_source *const tiff = (struct gf_tiff_source *)source;
    gf_ordered_close(tiff->ordered);
    tiff->ordered = NULL;
    source->tiles = NULL; /* a GPU would decode the whole picture */
    source->for_device_codec = false;
    tiff->window = window;
    tiff->row = window.y;
    tiff->band_first = tiff->band_rows = tiff->handed = 0;
    tiff->more = more;
    tiff->begun = false;
    source->format.width = window.width;
    source->format.height = window.height;
    (void)plan(tiff);
    source->blocks = gf_tiff_count_blocks(tiff);
    return GF_OK;
}

/* Allocates the buffers with that index: of one thread for tiles, or of one plane for strips. */
static bool make_buffer(struct gf_tiff_source *tiff, int index)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const bool tiled = layout->tile_width > 0;
    if (tiled || !index)
        tiff->buffer[index] = malloc(tiff->block_bytes * (size_t)layout->planes);
    else
        tiff->buffer[index] = tiff->buffer[0] + (size_t)index * tiff->block_bytes;
    if (tiff->buffer[index] && (tiled || !index))
        tiff->scratch[index] = malloc(
            gf_tiff_scratch_bytes(layout, tiled ? layout->tile_width : layout->format.width));
    return tiff->buffer[index] && (tiff->scratch[index] || !(tiled || !index));
}

static enum gf_status make_buffers(struct gf_tiff_source *tiff, struct gf_error *error)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    const bool display = layout->colour == GF_TIFF_DISPLAY;
    const size_t rows = (size_t)tiff->block_rows;
    free(tiff->band);
    free(tiff->wanted);
    tiff->band = NULL;
    tiff->wanted = calloc((size_t)tiff->columns, sizeof *tiff->wanted);
    bool done = tiff->wanted;
    if (done && in_bands(tiff))
        done = (tiff->band = malloc(gf_tiff_band_pitch(tiff) * (size_t)tiff->columns * rows));
    else if (done && !tiff->line)
        done = (tiff->line = malloc(gf_row_bytes(layout->format)));
    if (done && display && !tiff->raster)
        done = (tiff->raster = malloc((size_t)layout->format.width * rows * sizeof *tiff->raster));
    for (int i = 0; done && !display && i < tiff->handles; i++)
        done = tiff->buffer[i] || make_buffer(tiff, i);
    return done ? GF_OK : gf_fail_memory(error);
}

static enum gf_status open_other(struct gf_tiff_source *tiff, int index, struct gf_error *error)
{
    struct gf_tiff_handle *const handle = &tiff->handle[index];
    GF_TRY(gf_tiff_open(handle, tiff->input, NULL, tiff->mode, tiff->directory, error));
    handle->name = tiff->handle[0].name;
    gf_tiff_prepare(handle, &tiff->layout);
    return GF_OK;
}

/* Opens the handles and allocates the memory that reading the window takes. */
static enum gf_status prepare(struct gf_tiff_source *tiff, struct gf_error *error)
{
    for (int i = 0; i < tiff->handles; i++) {
        if (!tiff->handle[i].tiff)
            GF_TRY(open_other(tiff, i, error));
    }
    return make_buffers(tiff, error);
}

static enum gf_status tiff_read(struct gf_source *source, int rows, unsigned char *dst,
                                size_t pitch, struct gf_error *error)
{
    struct gf_tiff_source *const tiff = (struct gf_tiff_source *)source;
    enum gf_status status = tiff->begun ? GF_OK : prepare(tiff, error);
    if (!status && !tiff->begun && finds_range(tiff))
        status = gf_tiff_find_range(tiff, read_row, error);
    tiff->begun |= !status;
    for (int y = 0; !status && y < rows; y++)
        status = read_row(tiff, dst + (size_t)y * pitch, error);
    warn_beyond(tiff);
    return status;
}

static enum gf_status open_all(struct gf_tiff_source *tiff, struct gf_input *input, int page,
                               struct gf_error *error)
{
    tiff->input = input;
    if (gf_input_size(input) <= 0) { /* a stream is copied to memory, because libtiff seeks */
        GF_TRY(gf_whole_file(input, &tiff->options, &tiff->file, error));
        GF_TRY(gf_input_open_memory(tiff->file.data, tiff->file.size, gf_input_name(input),
                                    &tiff->memory, error));
        tiff->input = tiff->memory;
    }
    GF_TRY(open_first(tiff, page, error));
    return plan_whole(tiff, error);
}

/* Opens the level's directory in place of the picture's. The level's colours are converted as the
 * picture's are. */
static enum gf_status tiff_take_level(struct gf_source *base, int level, struct gf_error *error)
{
    struct gf_tiff_source *const tiff = (struct gf_tiff_source *)base;
    struct gf_tiff_handle *const handle = &tiff->handle[0];
    const struct gf_cmyk cmyk = tiff->layout.cmyk;
    struct gf_format wanted = base->format;
    struct gf_options quiet = tiff->options;
    quiet.warn = NULL; /* what the first page warned of is true of its levels */
    wanted.width = base->level[level].width;
    wanted.height = base->level[level].height;
    base->reduction = base->level[level].divisor;
    stop_reading(tiff); /* windows of the full size may have been read */
    free(tiff->layout.palette);
    tiff->layout = (struct gf_tiff_layout){.cmyk = cmyk};
    tiff->directory = tiff->level_directory[level];
    snprintf(tiff->level_name, sizeof tiff->level_name, "%s: level %d", gf_input_name(tiff->input),
             level);
    GF_TRY(gf_tiff_open(handle, tiff->input, NULL, GF_TIFF_READ, tiff->directory, error));
    handle->name = tiff->level_name;
    GF_TRY(check_strips(tiff, error));
    const enum gf_status status = gf_tiff_read_layout(handle, &quiet, &tiff->layout, error);
    tiff->layout.cmyk = cmyk;
    if (status)
        return status;
    if (memcmp(&wanted, &tiff->layout.format, sizeof wanted) != 0)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: it is no copy of the first page",
                       handle->name);
    base->format = wanted;
    gf_tiff_prepare(handle, &tiff->layout);
    tiff->base.tiles = NULL;
    tiff->base.for_device_codec = false;
    gf_tiff_describe_tiles(tiff);
    return plan_whole(tiff, error);
}

/* Opens the page with that number; -1: the usual one (tiff_choose()). directory: offset of the
 * page's directory; 0: unknown. */
static GF_CHECKED enum gf_status tiff_open_page(struct gf_input *input, int page,
                                                uint64_t directory,
                                                const struct gf_options *options,
                                                struct gf_source **source, struct gf_error *error)
{
    GF_NEW(struct gf_tiff_source, tiff, error);
    tiff->base = (struct gf_source){.metadata = {.orientation = 1},
                                    .take_level = tiff_take_level,
                                    .window = tiff_window,
                                    .read = tiff_read,
                                    .close = tiff_close};
    tiff->options = *options;
    tiff->directory = directory;
    GF_OPENED(open_all(tiff, input, page, error), tiff_close, &tiff->base, source);
}

/* ---- several pages of a TIFF, read one after another as frames, each by a source of its own
 * ---- */

struct pages_source {
    struct gf_source base;
    struct gf_source *page; /* the source of the present page; NULL after a failure */
    /* A handle at the present page's directory; opened when a second page is wanted. */
    struct gf_tiff_handle walk;
    /* memory: NULL, or the input that holds a stream's bytes and is also `input`. */
    struct gf_input *input, *memory;
    struct gf_blob file;
    struct gf_options options;
    int number, last;
};

static enum gf_status pages_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                 struct gf_error *error)
{
    struct pages_source *const pages = (struct pages_source *)base;
    return pages->page->read(pages->page, rows, dst, pitch, error);
}

static void close_page(struct pages_source *pages)
{
    if (pages->page)
        pages->page->close(pages->page);
    pages->page = NULL;
}

/* Finds the directory of the next page. Following the present directory's link avoids the walk over
 * all directories that finding a page by its number takes. */
static enum gf_status find_next(struct pages_source *pages, uint64_t *directory,
                                struct gf_error *error)
{
    struct gf_tiff_handle *const walk = &pages->walk;
    const struct gf_tiff_source *const page = (struct gf_tiff_source *)pages->page;
    GF_TRY(walk->tiff ? GF_OK
                      : gf_tiff_open(walk, pages->input, NULL, "rmD", page->directory, error));
    gf_tiff_begin(walk);
    if (!gf_tiff.TIFFReadDirectory(walk->tiff))
        return gf_tiff_fail(walk, -1, 0, error);
    *directory = gf_tiff.TIFFCurrentDirOffset(walk->tiff);
    return GF_OK;
}

static void take_page(struct pages_source *pages)
{
    gf_source_take_page(&pages->base, pages->page);
    pages->base.memory.bytes += pages->file.size;
}

static enum gf_status pages_next(struct gf_source *base, bool *found, struct gf_error *error)
{
    struct pages_source *const pages = (struct pages_source *)base;
    uint64_t directory = 0;
    *found = pages->number < pages->last;
    if (!*found)
        return GF_OK;
    enum gf_status status = find_next(pages, &directory, error);
    close_page(pages);
    pages->number++;
    GF_THEN(status, tiff_open_page(pages->input, pages->number, directory, &pages->options,
                                   &pages->page, error));
    if (!status)
        take_page(pages);
    return status;
}

static void pages_close(struct gf_source *base)
{
    struct pages_source *const pages = (struct pages_source *)base;
    close_page(pages);
    gf_tiff_close(&pages->walk);
    gf_metadata_free(&base->metadata);
    gf_input_close(pages->memory);
    free(pages->file.data);
    free(pages);
}

/* Opens the first page, and finds how many there are. Pages have no duration; in an animation each
 * is shown for a tenth of a second. */
static enum gf_status begin(struct pages_source *pages, struct gf_pages wanted,
                            struct gf_error *error)
{
    struct gf_source *const base = &pages->base;
    if (gf_input_size(pages->input) <= 0) {
        GF_TRY(gf_whole_file(pages->input, &pages->options, &pages->file, error));
        GF_TRY(gf_input_open_memory(pages->file.data, pages->file.size, gf_input_name(pages->input),
                                    &pages->memory, error));
        pages->input = pages->memory;
    }
    pages->number = wanted.first;
    GF_TRY(tiff_open_page(pages->input, pages->number, 0, &pages->options, &pages->page, error));
    const struct gf_tiff_handle *const handle = &((struct gf_tiff_source *)pages->page)->handle[0];
    if (handle->damaged && wanted.last >= handle->pages && !pages->options.allow_truncated)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged behind its first %d pictures%s",
                       handle->name, handle->pages, gf_truncated_hint(&pages->options));
    pages->last = wanted.last < handle->pages ? wanted.last : handle->pages - 1;
    base->stored.pages = handle->pages;
    take_page(pages);
    base->duration = (struct gf_duration){1, 10};
    base->next = pages->last > pages->number ? pages_next : NULL;
    base->renews = true;
    return GF_OK;
}

static enum gf_status open_pages(struct gf_input *input, const struct gf_options *options,
                                 struct gf_source **source, struct gf_error *error)
{
    GF_NEW(struct pages_source, pages, error);
    pages->base = (struct gf_source){
        .metadata = {.orientation = 1}, .read = pages_read, .close = pages_close};
    pages->input = input;
    pages->options = *options;
    GF_OPENED(begin(pages, gf_input_pages(input), error), pages_close, &pages->base, source);
}

enum gf_status gf_tiff_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error)
{
    return gf_input_pages(input).last < 0
               ? tiff_open_page(input, gf_input_page(input), 0, options, source, error)
               : open_pages(input, options, source, error);
}
