/* Reads slides, the gigapixels of microscopes, by OpenSlide, which opens files by their names. A
 * level is read in pieces of about a tile, which lie on a grid of the level, so that a pixel does
 * not depend on the rows and columns that are read with it. */
#include <limits.h>
#include <math.h>
#include <openslide/openslide.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/process/library.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"

/* clang-format off */
#define SLIDE_CALLS(CALL) \
    CALL(openslide_detect_vendor) CALL(openslide_open) CALL(openslide_close) \
    CALL(openslide_get_error) CALL(openslide_get_version) CALL(openslide_get_level_count) \
    CALL(openslide_get_level_dimensions) CALL(openslide_get_level_downsample) CALL(openslide_read_region) \
    CALL(openslide_get_property_value) CALL(openslide_get_associated_image_names)
/* Version 4 has these. */
#define ICC_CALLS(CALL) CALL(openslide_get_icc_profile_size) CALL(openslide_read_icc_profile)
/* clang-format on */

static struct {
    SLIDE_CALLS(GF_LIBRARY_CALL)
} calls;
static struct {
    int64_t (*openslide_get_icc_profile_size)(openslide_t *slide);
    void (*openslide_read_icc_profile)(openslide_t *slide, void *profile);
} icc_calls;

struct gf_library gf_slide_library =
    GF_LIBRARY(calls, SLIDE_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_openslide));
static struct gf_library icc_library =
    GF_LIBRARY(icc_calls, ICC_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_openslide));

struct slide_source {
    struct gf_source base;
    struct gf_options options;
    const char *name;
    openslide_t *slide;
    unsigned background[3];
    int number[GF_LEVELS_MOST];  /* OpenSlide's number of each of base.level */
    int level;                   /* OpenSlide's number of the level that is read */
    double downsample;           /* the pixels of level 0 in one of its pixels */
    int piece_width, piece_rows; /* the size of the pieces */
    struct gf_rectangle window;  /* the part of the level that read() gives */
    int row;                     /* the next row of the level */
    unsigned char *band;         /* the window's part of a row of pieces; NULL: not read yet */
    int band_first, band_rows;   /* its rows */
    bool damaged;                /* the damage was told: the rows that are missing are zero */
};

/* Fails with what OpenSlide says, or with `otherwise`. */
static enum gf_status fail(const struct slide_source *source, const char *otherwise,
                           struct gf_error *error)
{
    const char *const why = source->slide ? calls.openslide_get_error(source->slide) : NULL;
    return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %.200s%s", source->name,
                   why ? why : otherwise,
                   source->row < 0 ? "" : gf_truncated_hint(&source->options));
}

/* ---- pixels ---- */

/* Lays premultiplied ARGB on the background. */
static void flatten(const struct slide_source *source, const uint32_t *from, int count,
                    unsigned char *to)
{
    enum { OPAQUE = 255 };
    for (int i = 0; i < count; i++) {
        const unsigned clear = OPAQUE - (from[i] >> 24);
        for (int c = 0; c < 3; c++) {
            const unsigned sample = (from[i] >> (16 - 8 * c) & OPAQUE) +
                                    (clear * source->background[c] + OPAQUE / 2) / OPAQUE;
            *to++ = (unsigned char)(sample < OPAQUE ? sample : OPAQUE);
        }
    }
}

/* Reads a piece of the band, which the window may cut. OpenSlide fails at what libjpeg warns of,
 * but does not read to a JPEG's end, so that damage that makes sound codes, as zeros often do, goes
 * untold. */
static enum gf_status read_piece(void *context, int thread, int item, struct gf_error *error)
{
    const struct slide_source *const source = context;
    const struct gf_rectangle window = source->window;
    const int x = (window.x / source->piece_width + item) * source->piece_width,
              left = x > window.x ? x : window.x,
              end = x + source->piece_width < window.x + window.width ? x + source->piece_width
                                                                      : window.x + window.width,
              width = end - x;
    uint32_t *const pixels = malloc((size_t)width * (size_t)source->band_rows * sizeof *pixels);
    (void)thread;
    GF_ALLOCATED(pixels, error);
    calls.openslide_read_region(source->slide, pixels, llround(x * source->downsample),
                                llround(source->band_first * source->downsample), source->level,
                                width, source->band_rows);
    enum gf_status status =
        calls.openslide_get_error(source->slide) ? fail(source, "", error) : gf_time_check(error);
    for (int y = 0; !status && y < source->band_rows; y++)
        flatten(source, pixels + (size_t)y * (size_t)width + (left - x), end - left,
                source->band + ((size_t)y * (size_t)window.width + (size_t)(left - window.x)) * 3);
    free(pixels);
    return status;
}

/* Reads the row of pieces in which the next row lies. */
static enum gf_status read_band(struct slide_source *source, struct gf_error *error)
{
    const struct gf_rectangle window = source->window;
    const int bottom = window.y + window.height, first = window.x / source->piece_width,
              last = (window.x + window.width - 1) / source->piece_width;
    const size_t row_bytes = gf_row_bytes(source->base.format);
    if (!source->band)
        source->band = malloc(row_bytes * (size_t)source->piece_rows);
    GF_ALLOCATED(source->band, error);
    source->band_first = source->row / source->piece_rows * source->piece_rows;
    source->band_rows = bottom - source->band_first < source->piece_rows
                            ? bottom - source->band_first
                            : source->piece_rows;
    if (source->damaged)
        memset(source->band, 0, row_bytes * (size_t)source->band_rows);
    enum gf_status status = source->damaged
                                ? GF_OK
                                : gf_ordered_run(gf_library_threads(&source->options),
                                                 last - first + 1, read_piece, source, error);
    if (status == GF_ERROR_INPUT && source->options.allow_truncated) {
        gf_warn(&source->options, "%s", error->text);
        source->damaged = true;
        memset(source->band, 0, row_bytes * (size_t)source->band_rows);
        status = GF_OK;
    }
    return status;
}

static enum gf_status slide_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                 struct gf_error *error)
{
    struct slide_source *const source = (struct slide_source *)base;
    const size_t row_bytes = gf_row_bytes(base->format);
    for (; rows; rows--, source->row++, dst += pitch) {
        if (source->row >= source->band_first + source->band_rows)
            GF_TRY(read_band(source, error));
        memcpy(dst, source->band + (size_t)(source->row - source->band_first) * row_bytes,
               row_bytes);
    }
    return GF_OK;
}

/* ---- the header ---- */

static double property(const struct slide_source *source, const char *name)
{
    const char *const text = calls.openslide_get_property_value(source->slide, name);
    const double value = text ? strtod(text, NULL) : 0;
    return value > 0 && isfinite(value) ? value : 0;
}

/* Returns the side of a piece: some tiles of the level. */
static int piece_side(const struct slide_source *source, const char *what, int level)
{
    enum { LEAST = 256, MOST = 1024 };
    char name[60];
    snprintf(name, sizeof name, "openslide.level[%d].tile-%s", level, what);
    const double tile = property(source, name);
    int side = tile >= 1 && tile <= MOST ? (int)tile : MOST;
    while (side < LEAST)
        side *= 2;
    return side;
}

/* Makes read() give the part of the level from its first row on. */
static void begin_window(struct slide_source *source, struct gf_rectangle window)
{
    enum { CACHE = 32 << 20, OWN = 16 << 20 };
    const uint64_t threads = (uint64_t)gf_library_threads(&source->options);
    free(source->band);
    source->band = NULL;
    source->band_first = source->band_rows = 0;
    source->window = window;
    source->base.format = (struct gf_format){window.width, window.height, 3, 8, GF_SAMPLES_INTEGER};
    source->base.memory = (struct gf_codec_memory){
        CACHE + OWN +
            (uint64_t)source->piece_rows *
                (3 * (uint64_t)window.width + 8 * threads * (uint64_t)source->piece_width),
        "a row of its tiles is decoded at a time"};
}

/* Makes read() give the whole of the level. */
static void begin_level(struct slide_source *source, int level, int width, int height)
{
    source->level = level;
    source->downsample = calls.openslide_get_level_downsample(source->slide, level);
    source->piece_width = piece_side(source, "width", level);
    source->piece_rows = piece_side(source, "height", level);
    begin_window(source, (struct gf_rectangle){.width = width, .height = height});
}

static enum gf_status slide_window(struct gf_source *base, struct gf_rectangle window, int more,
                                   struct gf_error *error)
{
    struct slide_source *const source = (struct slide_source *)base;
    const int wide = source->piece_width, high = source->piece_rows;
    begin_window(source, window);
    source->row = window.y;
    base->blocks = ((window.x + window.width - 1) / wide - window.x / wide + 1) *
                   ((window.y + window.height - 1) / high - window.y / high + 1);
    return GF_OK;
}

static enum gf_status slide_take_level(struct gf_source *base, int level, struct gf_error *error)
{
    struct slide_source *const source = (struct slide_source *)base;
    const struct gf_level taken = base->level[level];
    (void)error;
    begin_level(source, source->number[level], taken.width, taken.height);
    base->reduction = taken.divisor;
    return GF_OK;
}

/* Whether the side is `whole` divided by a number, rounded up or down. */
static bool is_part(int64_t side, int64_t whole, int64_t divisor)
{
    return side == whole / divisor || side == (whole - 1) / divisor + 1;
}

/* Lists the levels whose sides are those of level 0 divided by a whole number. */
static void list_levels(struct slide_source *source)
{
    struct gf_source *const base = &source->base;
    const int count = calls.openslide_get_level_count(source->slide);
    int64_t width = base->format.width, height = base->format.height, last = 0;
    for (int i = 0; i < count && base->levels < GF_LEVELS_MOST; i++) {
        calls.openslide_get_level_dimensions(source->slide, i, &width, &height);
        const int64_t divisor =
            width > 0 && height > 0 ? lround((double)base->format.width / (double)width) : 0;
        if (divisor <= last || !is_part(width, base->format.width, divisor) ||
            !is_part(height, base->format.height, divisor))
            continue;
        source->number[base->levels] = i;
        base->level[base->levels++] = (struct gf_level){(int)width, (int)height, (int)divisor, 0};
        last = divisor;
    }
    base->levels = base->levels > 1 ? base->levels : 0;
}

static bool has_profiles(void)
{
    return !gf_library_load(&icc_library, "", GF_ERROR_LIBRARY, NULL);
}

static enum gf_status read_profile(struct slide_source *source, struct gf_error *error)
{
    struct gf_blob *const icc = &source->base.metadata.icc;
    if (!has_profiles())
        return GF_OK;
    const int64_t size = icc_calls.openslide_get_icc_profile_size(source->slide);
    if (size <= 0 || size > GF_METADATA_MAX)
        return GF_OK;
    *icc = (struct gf_blob){malloc((size_t)size), (size_t)size};
    GF_ALLOCATED(icc->data, error);
    icc_calls.openslide_read_icc_profile(source->slide, icc->data);
    return calls.openslide_get_error(source->slide) ? fail(source, "", error) : GF_OK;
}

/* Reads what OpenSlide says of the slide. Labels and other pictures, and the many texts of its
 * maker, are left out. */
static enum gf_status read_header(struct slide_source *source, struct gf_error *error)
{
    enum { MICROMETRES = 1000000 };
    struct gf_source *const base = &source->base;
    const char *const vendor =
        calls.openslide_get_property_value(source->slide, OPENSLIDE_PROPERTY_NAME_VENDOR);
    const char *const colour =
        calls.openslide_get_property_value(source->slide, OPENSLIDE_PROPERTY_NAME_BACKGROUND_COLOR);
    const double power = property(source, OPENSLIDE_PROPERTY_NAME_OBJECTIVE_POWER),
                 x = property(source, OPENSLIDE_PROPERTY_NAME_MPP_X),
                 y = property(source, OPENSLIDE_PROPERTY_NAME_MPP_Y);
    unsigned *const background = source->background;
    int64_t width = 0, height = 0;
    calls.openslide_get_level_dimensions(source->slide, 0, &width, &height);
    GF_TRY(gf_size_check(source->name, width > 0 ? (uint64_t)width : 0,
                         height > 0 ? (uint64_t)height : 0, &source->options, error));
    begin_level(source, 0, (int)width, (int)height);
    list_levels(source);
    if (!colour || sscanf(colour, "%2x%2x%2x", &background[0], &background[1], &background[2]) != 3)
        background[0] = background[1] = background[2] = 255;
    snprintf(base->stored.kind, sizeof base->stored.kind, power ? "%.12s, %.3gx" : "%.12s",
             vendor ? vendor : "", power);
    base->stored.pages = 1;
    if (x && y) {
        base->metadata.density_x = MICROMETRES / x;
        base->metadata.density_y = MICROMETRES / y;
    }
    base->metadata.unread = GF_KIND_TEXTS;
    if (*calls.openslide_get_associated_image_names(source->slide))
        base->metadata.unread |= GF_KIND_PICTURES;
    return read_profile(source, error);
}

/* ---- opening ---- */

void gf_slide_folder(char *path)
{
    char *const dot = strrchr(path, '.'), *const slash = strrchr(path, '/');
    const char *const several[] = {".vms", ".vmu", ".dcm"};
    bool beside = !dot;
    for (size_t i = 0; dot && i < sizeof several / sizeof *several; i++)
        beside |= !strcasecmp(dot, several[i]);
    if (beside && slash)
        *slash = '\0';
    else if (dot)
        *(strcasecmp(dot, ".mrxs") ? path : dot) = '\0';
}

static void slide_close(struct gf_source *base)
{
    struct slide_source *const source = (struct slide_source *)base;
    if (source->slide)
        calls.openslide_close(source->slide);
    gf_metadata_free(&base->metadata);
    free(source->band);
    free(source);
}

enum gf_status gf_slide_source_open(struct gf_input *input, const struct gf_options *options,
                                    struct gf_source **source, struct gf_error *error)
{
    char path[PATH_MAX];
    const char *const name = gf_input_name(input);
    if (!gf_input_path(input, path, sizeof path)) {
        /* The process that forks cells comes here: now the libraries load what they load late. */
        (void)calls.openslide_detect_vendor("/dev/null");
        (void)has_profiles();
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: a slide is read from a file with a name, not from a stream, an archive "
                       "or memory",
                       name);
    }
    GF_NEW(struct slide_source, opened, error);
    *opened = (struct slide_source){.base = {.metadata = {.orientation = 1},
                                             .read = slide_read,
                                             .take_level = slide_take_level,
                                             .window = slide_window,
                                             .close = slide_close},
                                    .options = *options,
                                    .name = name,
                                    .row = -1};
    opened->slide = calls.openslide_open(path);
    enum gf_status status =
        !opened->slide                             ? gf_fail(error, GF_ERROR_INPUT,
                                                             "%s: OpenSlide %s finds no slide: it is damaged, files beside it "
                                                                                         "are missing, or a newer OpenSlide reads it (4.0 DICOM and CZI)",
                                                             name, calls.openslide_get_version())
        : calls.openslide_get_error(opened->slide) ? fail(opened, "", error)
                                                   : read_header(opened, error);
    opened->row = 0;
    GF_OPENED(status, slide_close, &opened->base, source);
}
