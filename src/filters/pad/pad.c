/* pad: enlarges the picture by a border. */
#include "filters/pad/pad.h"

#include <string.h>

#include "base/image.h"
#include "pixel/fill.h"
#include "stage/stage.h"

const char *const gf_pad_words[] = {"edge", "transparent", NULL};

static const char *const any[] = {"any", NULL};

static const struct gf_param params[] = {
    GF_PARAM_LENGTH(struct gf_pad_params, w, 0.001, GF_SIDE_MAX,
                    "columns of the result; fewer than the picture's do not change it"),
    GF_PARAM_LENGTH(struct gf_pad_params, h, 0.001, GF_SIDE_MAX, "rows of the result, likewise"),
    GF_PARAM_GRAVITY(struct gf_pad_params, "where the picture lies in it"),
    GF_PARAM_COLOUR(struct gf_pad_params, colour, 0xffffff, gf_pad_words,
                    "what is added: white, #ff8800; edge repeats the nearest pixel; transparent "
                    "adds an alpha channel where there is none"),
    GF_PARAM_WORD(struct gf_pad_params, aspect, NAN, 0.0001, 10000, any,
                  "width divided by height, as 16/9 or 1: one side grows until it is so"),
    {0},
};

static enum gf_status check(const void *params_, struct gf_error *error)
{
    const struct gf_pad_params *const pad = params_;
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

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct gf_pad_params *const pad = params_;
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

/* Whether the picture is larger than what is asked for. */
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

static bool needs_whole(const void *params_)
{
    return ((const struct gf_pad_params *)params_)->colour.word == GF_PAD_REPEAT;
}

/* A band inside the padding reads the row that is nearest to it. */
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

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_pad_params *const pad = stage->params;
    const int colours = gf_colour_channels(stage->out), max = gf_sample_max(stage->out);
    int sample[3];
    struct gf_pad *const constants = stage->constants;
    gf_fill_samples(&pad->colour, stage->out, sample);
    *constants = (struct gf_pad){
        .x = gf_gravity_x(pad->gravity, stage->out.width - stage->in.width),
        .y = rows_above(stage),
        .edge = pad->colour.word == GF_PAD_EDGE,
        .repeat = pad->colour.word == GF_PAD_REPEAT,
        .opaque = max,
    };
    if (pad->colour.word != GF_PAD_COLOUR)
        return GF_OK;
    for (int c = 0; c < 4; c++)
        constants->sample[c] = (uint16_t)(c < colours ? sample[c] : max);
    return GF_OK;
}

static void add_alpha(const unsigned char *from, unsigned char *to, struct gf_format in, int opaque)
{
    const size_t size = gf_pixel_bytes(in), alpha = (size_t)in.bits / 8;
    for (int x = 0; x < in.width; x++) {
        memcpy(to, from, size);
        memset(to + size, opaque & 255, alpha); /* an opaque pixel's alpha has all bits set */
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
    unsigned char pixel[8];
    struct gf_pattern pattern;
    if (pad->repeat) {
        repeat_rows(in, out);
        return;
    }
    for (int c = 0; c < 4; c++) {
        if (out->format.bits == 8)
            pixel[c] = (unsigned char)pad->sample[c];
        else
            memcpy(pixel + 2 * c, &pad->sample[c], 2);
    }
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
    GF_PARAMS(struct gf_pad_params, params),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
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
};
