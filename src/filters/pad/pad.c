/* pad, which enlarges the picture by a border, and border and tile. */
#include "filters/pad/pad.h"

#include <string.h>

#include "base/image.h"
#include "pixel/float_rows.h"
#include "pixel/point/point.h"
#include "pixel/sample.h"
#include "stage/filter.h"
#include "stage/stage.h"

const char *const gf_pad_words[] = {"edge", "transparent", NULL};

static enum gf_status check(const void *params, struct gf_error *error)
{
    const struct gf_pad_params *const pad = params;
    if (pad->w.unit == GF_UNSET && pad->h.unit == GF_UNSET && !(pad->aspect > 0))
        return gf_fail(error, GF_ERROR_USAGE,
                       "neither w nor h nor aspect is given: pad=WIDTH:HEIGHT or pad=aspect=16/9");
    return GF_OK;
}

static double side(struct gf_length length, int whole)
{
    const double given =
        length.unit == GF_PERCENT ? floor(length.value * whole / 100 + 0.5) : length.value;
    return length.unit == GF_UNSET || given < whole ? whole : given;
}

static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct gf_pad_params *const pad = params;
    const double w = side(pad->w, in.width), h = side(pad->h, in.height);
    const double width = pad->aspect > 0 ? fmax(w, floor(h * pad->aspect + 0.5)) : w;
    const double height = pad->aspect > 0 ? fmax(h, floor(w / pad->aspect + 0.5)) : h;
    if (width > GF_SIDE_MAX || height > GF_SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%.0fx%.0f is larger than %d pixels a side", width,
                       height, GF_SIDE_MAX);
    out->width = (int)width;
    out->height = (int)height;
    if (pad->colour.word == GF_PAD_TRANSPARENT && !gf_has_alpha(in))
        out->channels++;
    return GF_OK;
}

/* Whether the requested side is shorter than the picture's side `whole`. */
static bool is_less(struct gf_length length, int whole)
{
    return length.unit != GF_UNSET &&
           (length.unit == GF_PERCENT ? length.value * whole / 100 : length.value) < whole;
}

static const char *idle(const struct gf_stage *stage)
{
    const struct gf_pad_params *const pad = stage->params;
    const bool same = stage->in.width == stage->out.width && stage->in.height == stage->out.height;
    return same && (is_less(pad->w, stage->in.width) || is_less(pad->h, stage->in.height))
               ? "w and h are the size of the result; border=10 adds 10 pixels on each side"
               : NULL;
}

static int clamp(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

static int rows_above(const struct gf_stage *stage)
{
    const struct gf_pad_params *const pad = stage->params;
    return gf_gravity_y(pad->gravity, stage->out.height - stage->in.height);
}

static bool needs_whole(const void *params)
{
    return ((const struct gf_pad_params *)params)->colour.word == GF_PAD_REPEAT;
}

/* Sets the input rows *first .. *end - 1 that result rows y0 .. y1 - 1 need. Rows of the padding
 * need the picture's nearest row. */
static void input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const int above = rows_above(stage), height = stage->in.height;
    if (needs_whole(stage->params)) {
        *first = 0;
        *end = height;
        return;
    }
    *first = clamp(y0 - above, 0, height - 1);
    *end = clamp(y1 - above, 1, height);
}

/* Returns the bits of a sample, which is a part of the largest one. */
static uint32_t bits_of(struct gf_format format, float part)
{
    uint32_t bits = 0;
    gf_floats_to_row(&part, format, 1, &bits);
    return bits;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_pad_params *const pad = stage->params;
    const struct gf_format format = stage->out;
    const int colours = gf_colour_channels(format);
    const bool is_float = gf_is_float(format);
    int sample[3];
    double part[3];
    struct gf_pad *const constants = stage->constants;
    gf_fill_samples(&pad->colour, format, sample);
    gf_point_colour_of(format, &pad->colour, part);
    *constants = (struct gf_pad){
        .x = gf_gravity_x(pad->gravity, format.width - stage->in.width),
        .y = rows_above(stage),
        .edge = pad->colour.word == GF_PAD_EDGE,
        .repeat = pad->colour.word == GF_PAD_REPEAT,
        .opaque = is_float ? bits_of(format, 1) : (uint32_t)gf_sample_max(format),
    };
    for (int c = 0; c < 4 && pad->colour.word == GF_PAD_COLOUR; c++)
        constants->sample[c] = c >= colours ? constants->opaque
                               : is_float   ? bits_of(format, (float)part[c])
                                            : (uint32_t)sample[c];
    return GF_OK;
}

static void add_alpha(const unsigned char *from, unsigned char *to, struct gf_format in,
                      uint32_t opaque)
{
    const size_t size = gf_pixel_bytes(in), alpha = (size_t)in.bits / 8;
    for (int x = 0; x < in.width; x++) {
        memcpy(to, from, size);
        memcpy(to + size, &opaque, alpha);
        from += size;
        to += size + alpha;
    }
}

/* Copies the input's row to each result row. Copying from a row that was just written would wait
 * for the write. A narrow result row is instead filled by copies that double it. */
static void repeat_rows(const struct gf_view *in, const struct gf_view *out)
{
    const size_t width = gf_row_bytes(in->format), whole = gf_row_bytes(out->format);
    const bool narrow = width < 512;
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const from = gf_view_row(in, y % in->format.height);
        unsigned char *const to = gf_view_row(out, y);
        memcpy(to, from, width);
        for (size_t done = width, piece; done < whole; done += piece) {
            piece = narrow ? done : width;
            if (piece > whole - done)
                piece = whole - done;
            memcpy(to + done, narrow ? to : from, piece);
        }
    }
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    const struct gf_pad *const pad = stage->constants;
    const size_t size = gf_pixel_bytes(out->format), width = (size_t)in->format.width;
    const size_t left = (size_t)pad->x, right = (size_t)out->format.width - width - left;
    const size_t before = left * size, behind = right * size;
    unsigned char pixel[16];
    struct gf_pattern pattern;
    if (pad->repeat) {
        repeat_rows(in, out);
        return;
    }
    for (int c = 0; c < out->format.channels; c++)
        memcpy(pixel + c * out->format.bits / 8, &pad->sample[c], (size_t)out->format.bits / 8);
    gf_pattern_make(&pattern, pixel, size);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const int row = clamp(y - pad->y, 0, in->format.height - 1);
        unsigned char *const to = gf_view_row(out, y), *const middle = to + left * size;
        if (row != y - pad->y && !pad->edge) {
            gf_pattern_put(&pattern, to, gf_row_bytes(out->format));
            continue;
        }
        if (out->format.channels > in->format.channels)
            add_alpha(gf_view_row(in, row), middle, in->format, pad->opaque);
        else
            memcpy(middle, gf_view_row(in, row), width * size);
        if (pad->edge)
            gf_pattern_make(&pattern, middle, size);
        gf_pattern_put(&pattern, to, before);
        if (pad->edge)
            gf_pattern_make(&pattern, middle + (width - 1) * size, size);
        gf_pattern_put(&pattern, middle + width * size, behind);
    }
}

extern gf_launcher gf_pad_cuda;

const struct gf_filter gf_pad_filter = {
    .name = "pad",
    .synonyms = "extend canvas letterbox extent embed",
    .summary = "a larger picture with this one in it",
    .definition = "A side that is already larger stays as it is: nothing is cut. Where the padding "
                  "is odd, the part on the right or below is larger by one. With aspect the "
                  "result is the smallest picture of that shape that has the other size.",
    .example = "pad=120%:120%:colour=orange",
    GF_TAKES(struct gf_pad_params,
             GF_PARAM_LENGTH(struct gf_pad_params, w, 0.001, GF_SIDE_MAX,
                             "columns of the result; fewer than the picture's do not change it"),
             GF_PARAM_LENGTH(struct gf_pad_params, h, 0.001, GF_SIDE_MAX,
                             "rows of the result, likewise"),
             GF_PARAM_GRAVITY(struct gf_pad_params, "where the picture lies in it"),
             GF_PARAM_COLOUR(
                 struct gf_pad_params, colour, 0xffffff, gf_pad_words,
                 "what is added: white, #ff8800; edge repeats the nearest pixel; transparent "
                 "adds an alpha channel where there is none"),
             GF_PARAM_WORD(struct gf_pad_params, aspect, NAN, 0.0001, 10000, GF_WORDS("any"),
                           "width divided by height, as 16/9 or 1: one side grows until it is so")),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .takes_floats = true,
    .check = check,
    .shape = shape,
    .input_rows = input_rows,
    .idle = idle,
    .needs_whole = needs_whole,
    .constants_size = sizeof(struct gf_pad),
    .prepare = prepare,
    .cpu = cpu,
    .cuda =
        GF_CUDA({GF_VARIANT("vectors", gf_pad_cuda,
                            "a thread for 16 bytes of the result; for 4 where alpha is added")}),
    .cuda_floats = GF_CUDA_FLOATS(gf_pad_cuda, NULL),
};

/* border: adds a border of the same width on each side. */

struct border {
    struct gf_length width;
    struct gf_colour colour;
};

static void border_expand(const void *params, const struct gf_extent *extent,
                          struct gf_parts *parts)
{
    const struct border *const border = params;
    const int shorter = extent->width < extent->height ? extent->width : extent->height;
    const struct gf_length width = border->width;
    const double part = width.unit == GF_UNSET ? 5 : width.value,
                 added = width.unit == GF_PIXELS ? part : floor(part * shorter / 100 + 0.5);
    const struct gf_pad_params pad = {
        .w = {.value = extent->width + 2 * added, .unit = GF_PIXELS},
        .h = {.value = extent->height + 2 * added, .unit = GF_PIXELS},
        .colour = border->colour,
    };
    if (added > 0)
        gf_parts_add(parts, &gf_pad_filter, &pad, sizeof pad);
}

const struct gf_filter gf_border_filter = {
    .name = "border",
    .synonyms = "margin splice",
    .summary = "a border added on each side",
    .definition = "The picture in the middle of one that is larger by twice the width; pad makes a "
                  "picture of a given size, frame\ndraws over the edges.",
    .example = "border=10:orange",
    GF_TAKES(
        struct border,
        GF_PARAM_LENGTH(struct border, width, 0, GF_SIDE_MAX,
                        "pixels that are added on each side; per cent are of the picture's shorter "
                        "side; default 5%"),
        GF_PARAM_COLOUR(struct border, colour, 0xffffff, gf_pad_words,
                        "what is added, as with pad")),
    .kind = GF_GEOMETRY,
    .takes_floats = true,
    .takes_no_region = true,
    .expand = border_expand,
};

/* tile: repeats the picture side by side. */

struct tile {
    struct gf_length w, h;
};

static struct gf_length twice(struct gf_length length)
{
    return length.unit == GF_UNSET ? (struct gf_length){200, GF_PERCENT} : length;
}

static void tile_expand(const void *params, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct tile *const tile = params;
    const struct gf_pad_params pad = {
        .w = twice(tile->w),
        .h = twice(tile->h),
        .gravity = GF_GRAVITY_NORTHWEST,
        .colour.word = GF_PAD_REPEAT,
    };
    gf_parts_add(parts, &gf_pad_filter, &pad, sizeof pad);
}

const struct gf_filter gf_tile_filter = {
    .name = "tile",
    .synonyms = "repeat pattern wallpaper replicate mosaic",
    .summary = "the picture repeated side by side",
    .definition = "The pixel (x, y) of the result is (x mod width, y mod height) of the picture; "
                  "the last copies are cut where the\nsize asks for it. A side never gets shorter.",
    .example = "tile",
    GF_TAKES(
        struct tile,
        GF_PARAM_LENGTH(struct tile, w, 0.001, GF_SIDE_MAX,
                        "columns of the result: 300% is three pictures; default 200%"),
        GF_PARAM_LENGTH(struct tile, h, 0.001, GF_SIDE_MAX, "rows of the result; default 200%")),
    .kind = GF_GEOMETRY,
    .takes_floats = true,
    .takes_no_region = true,
    .expand = tile_expand,
};
