/* canny: draws thin, connected edges. */
#include "filters/canny/canny.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/threads/times.h"
#include "pixel/stencil.h"
#include "stage/stage.h"

/* Rows of the gradient's values. Squares and directions are int32_t for 8-bit samples and int64_t
 * for 16-bit samples. */
struct work {
    void *colour[3];      /* three rows of the picture laid on black, if the picture has alpha */
    void *smooth, *slope; /* smooth: above + 2 here + below; slope: below - above; both are one
                           * pixel wider on each side */
    unsigned char *square[3], *direction[3]; /* rings of three rows; square has a zero on each
                                              * side */
    unsigned char *weak, *strong;            /* 0 or 1 for each pixel */
};

static size_t wide(struct gf_format format)
{
    return format.bits == 8 ? sizeof(int32_t) : sizeof(int64_t);
}

static size_t carve_edges(struct work *work, void *base, struct gf_format format)
{
    struct gf_carver carver = {.base = base};
    const size_t width = (size_t)format.width, samples = gf_samples(format) + 8;
    for (int i = 0; i < 3; i++) {
        work->colour[i] = gf_carve(&carver, gf_row_bytes(format));
        work->square[i] = gf_carve(&carver, (width + 2) * wide(format));
        work->direction[i] = gf_carve(&carver, width * wide(format));
    }
    work->smooth = gf_carve(&carver, samples * wide(format) / 2);
    work->slope = gf_carve(&carver, samples * wide(format) / 2);
    work->weak = gf_carve(&carver, (width + 63) / 64 * 64);
    work->strong = gf_carve(&carver, (width + 63) / 64 * 64);
    return carver.used;
}

#define KERNELS(bits, sample, sum, square_t, direction_of) \
    static void over_black##bits(const sample *from, sample *to, int channels, int width) \
    { \
        for (int x = 0; x < width; x++) { \
            const unsigned alpha = from[x * channels + channels - 1]; \
            for (int c = 0; c < channels - 1; c++) \
                to[x * (channels - 1) + c] = \
                    (sample)gf_edge_over_black(from[x * channels + c], alpha, (1u << bits) - 1); \
        } \
    } \
    GF_TARGET_CLONES static void columns##bits(const sample *above, const sample *here, \
                                               const sample *below, sum *restrict smooth, \
                                               sum *restrict slope, size_t count) \
    { \
        for (size_t i = 0; i < count; i++) { \
            smooth[i] = (sum)(above[i] + 2 * here[i] + below[i]); \
            slope[i] = (sum)(below[i] - above[i]); \
        } \
    } \
    /* Of several channels with the largest gradient the first one is used. */ \
    GF_TARGET_CLONES static void gradients##bits(const sum *smooth, const sum *slope, \
                                                 ptrdiff_t channels, square_t *restrict square, \
                                                 square_t *restrict direction, ptrdiff_t width) \
    { \
        for (ptrdiff_t x = 0; channels == 1 && x < width; x++) { \
            const square_t dx = smooth[x + 1] - smooth[x - 1]; \
            const square_t dy = slope[x - 1] + 2 * slope[x] + slope[x + 1]; \
            square[x] = dx * dx + dy * dy; \
            direction[x] = direction_of(dx, dy); \
        } \
        for (ptrdiff_t x = 0; channels == 3 && x < width; x++) { \
            square_t most = -1, best_x = 0, best_y = 0; \
            for (ptrdiff_t c = 0; c < 3; c++) { \
                const ptrdiff_t i = 3 * x + c; \
                const square_t dx = smooth[i + 3] - smooth[i - 3]; \
                const square_t dy = slope[i - 3] + 2 * slope[i] + slope[i + 3]; \
                const square_t v = dx * dx + dy * dy; \
                best_x = v > most ? dx : best_x; \
                best_y = v > most ? dy : best_y; \
                most = v > most ? v : most; \
            } \
            square[x] = most; \
            direction[x] = direction_of(best_x, best_y); \
        } \
    } \
    GF_TARGET_CLONES static void thin##bits( \
        const square_t *above, const square_t *here, const square_t *below, \
        const square_t *direction, const struct gf_edge_limits *limits, \
        unsigned char *restrict weak, unsigned char *restrict strong, ptrdiff_t width) \
    { \
        const square_t low = (square_t)limits->low, high = (square_t)limits->high; \
        for (ptrdiff_t x = 0; x < width; x++) { \
            const square_t v = here[x], way = direction[x]; \
            const square_t first = way == GF_EDGE_ACROSS ? here[x - 1] \
                                   : way == GF_EDGE_DOWN ? above[x] \
                                   : way == GF_EDGE_FALL ? above[x - 1] \
                                                         : above[x + 1]; \
            const square_t second = way == GF_EDGE_ACROSS ? here[x + 1] \
                                    : way == GF_EDGE_DOWN ? below[x] \
                                    : way == GF_EDGE_FALL ? below[x + 1] \
                                                          : below[x - 1]; \
            const square_t least = second + (way >= GF_EDGE_FALL); /* diagonals: v > second */ \
            const int is_edge = (v > low) & (v > first) & (v >= least); \
            weak[x] = (unsigned char)is_edge; \
            strong[x] = (unsigned char)(is_edge & (v > high)); \
        } \
    }
KERNELS(8, uint8_t, int16_t, int32_t, gf_edge_direction)
KERNELS(16, gf_u16_any, int32_t, int64_t, gf_edge_direction_wide)
#undef KERNELS

/* Computes the squared gradient and the direction of row y into slot y mod 3 of the rings. Outside
 * of the picture the square is 0. */
static void gradient_row(const struct work *work, const struct gf_view *in, int y)
{
    const struct gf_format format = in->format;
    const int channels = format.channels, colours = gf_colour_channels(format), slot = (y + 3) % 3;
    const size_t size = wide(format), pixel = (size_t)colours * size / 2;
    const size_t samples = (size_t)format.width * (size_t)colours;
    unsigned char *const square = work->square[slot];
    memset(square, 0, ((size_t)format.width + 2) * size);
    if (y < 0 || y >= format.height)
        return;
    const unsigned char *rows[3];
    gf_stencil_rows(in, y - 1, 3, GF_BORDER_EDGE, NULL, rows);
    for (int i = 0; i < 3 && colours < channels; i++) {
        if (format.bits == 8)
            over_black8(rows[i], work->colour[i], channels, format.width);
        else
            over_black16((const gf_u16_any *)rows[i], work->colour[i], channels, format.width);
        rows[i] = work->colour[i];
    }
    unsigned char *const smooth = (unsigned char *)work->smooth + pixel;
    unsigned char *const slope = (unsigned char *)work->slope + pixel;
    if (format.bits == 8)
        columns8(rows[0], rows[1], rows[2], (int16_t *)smooth, (int16_t *)slope, samples);
    else
        columns16((const gf_u16_any *)rows[0], (const gf_u16_any *)rows[1],
                  (const gf_u16_any *)rows[2], (int32_t *)smooth, (int32_t *)slope, samples);
    gf_stencil_pad(smooth, format.width, 1, pixel, GF_BORDER_EDGE);
    gf_stencil_pad(slope, format.width, 1, pixel, GF_BORDER_EDGE);
    if (format.bits == 8)
        gradients8((const int16_t *)smooth, (const int16_t *)slope, colours,
                   (int32_t *)(square + size), (int32_t *)work->direction[slot], format.width);
    else
        gradients16((const int32_t *)smooth, (const int32_t *)slope, colours,
                    (int64_t *)(square + size), (int64_t *)work->direction[slot], format.width);
}

/* Packs eight bytes of 0 or 1 into the bits of one byte: the factor moves the bit of byte i to bit
 * 56 + i of the product. */
static void pack(const unsigned char *flags, unsigned char *bits, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * i, sizeof eight);
        bits[i] = (unsigned char)(eight * 0x0102040810204080u >> 56);
    }
}

static void thin_row(const struct work *work, const struct gf_edge_limits *limits,
                     struct gf_format format, int y, unsigned char *to)
{
    const size_t bytes = (size_t)gf_bit_words(format.width) * 4;
    const unsigned char *const above = work->square[(y + 2) % 3] + wide(format);
    const unsigned char *const here = work->square[y % 3] + wide(format);
    const unsigned char *const below = work->square[(y + 1) % 3] + wide(format);
    if (format.bits == 8)
        thin8((const int32_t *)above, (const int32_t *)here, (const int32_t *)below,
              (const int32_t *)work->direction[y % 3], limits, work->weak, work->strong,
              format.width);
    else
        thin16((const int64_t *)above, (const int64_t *)here, (const int64_t *)below,
               (const int64_t *)work->direction[y % 3], limits, work->weak, work->strong,
               format.width);
    pack(work->weak, to, bytes);
    pack(work->strong, to + bytes, bytes);
}

/* Computes the rows of `out` as planes of weak and strong pixels. Hysteresis comes later. scratch:
 * thin_scratch() bytes. */
static void edge_rows(const struct gf_view *in, const struct gf_edge_limits *limits,
                      const struct gf_view *out, void *scratch)
{
    struct work work;
    carve_edges(&work, scratch, in->format);
    const size_t width = (size_t)in->format.width, padded = (width + 63) / 64 * 64;
    memset(work.weak + width, 0, padded - width);
    memset(work.strong + width, 0, padded - width);
    gradient_row(&work, in, out->y - 1);
    gradient_row(&work, in, out->y);
    for (int y = out->y; y < out->y + out->rows; y++) {
        gradient_row(&work, in, y + 1);
        thin_row(&work, limits, in->format, y, gf_view_row(out, y));
    }
}

/* A flood fill over words of 64 pixels, which fills a word's runs of pixels at once. A word is at
 * most once on the stack. It returns to the stack only when it has gained pixels, and so at most 64
 * times. */

struct flood {
    const struct gf_view *in;
    unsigned char *bits;
    size_t words; /* words of 64 pixels in a row */
    size_t *stack;
    size_t depth;
    unsigned char *waits; /* whether a word is on the stack */
};

static size_t carve_flood(struct flood *flood, void *base, struct gf_format planes)
{
    struct gf_carver carver = {.base = base};
    flood->words = (size_t)planes.width / 16;
    const size_t count = flood->words * (size_t)planes.height;
    flood->stack = gf_carve(&carver, count * sizeof *flood->stack);
    flood->waits = gf_carve(&carver, count);
    return carver.used;
}

static uint64_t load(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static uint64_t candidates(const struct flood *flood, size_t row, size_t word)
{
    return load(gf_view_row(flood->in, (int)row) + word * sizeof(uint64_t));
}

static unsigned char *strong(const struct flood *flood, size_t row, size_t word)
{
    return flood->bits + (row * flood->words + word) * sizeof(uint64_t);
}

/* Returns the runs of ones in `among` that contain a bit of `seeds`. All bits of `seeds` are also
 * in `among`. */
static uint64_t fill_runs(uint64_t seeds, uint64_t among)
{
    uint64_t filled = (among & ~(among + seeds)) | seeds; /* the addition's carry fills the run
                                                           * above a seed */
    for (int step = 1; step < 64; step *= 2) {
        filled |= among & (filled >> step);
        among &= among >> step;
    }
    return filled;
}

static void push(struct flood *flood, size_t at)
{
    if (!flood->waits[at])
        flood->stack[flood->depth++] = at;
    flood->waits[at] = 1;
}

/* Makes those of the pixels `seeds` of a word strong that are weak, with all weak pixels of the
 * word that are connected with them. */
static void reach(struct flood *flood, size_t row, size_t word, uint64_t seeds)
{
    const uint64_t among = candidates(flood, row, word);
    const uint64_t before = load(strong(flood, row, word));
    if (!(seeds & among & ~before))
        return;
    const uint64_t after = fill_runs((seeds & among) | before, among);
    memcpy(strong(flood, row, word), &after, sizeof after);
    push(flood, row * flood->words + word);
}

static void spread(struct flood *flood, size_t at)
{
    const size_t row = at / flood->words, word = at % flood->words;
    const size_t rows = (size_t)flood->in->format.height;
    const uint64_t bits = load(strong(flood, row, word));
    const size_t first = row ? row - 1 : 0, end = row + 2 < rows ? row + 2 : rows;
    for (size_t y = first; y < end; y++) {
        reach(flood, y, word, bits | bits << 1 | bits >> 1);
        if (bits & 1 && word)
            reach(flood, y, word - 1, (uint64_t)1 << 63);
        if (bits >> 63 && word + 1 < flood->words)
            reach(flood, y, word + 1, 1);
    }
}

/* Links the edges by hysteresis. in: all rows of the planes, declared as gray samples of 8 bits.
 * bits: [rows][words / 2], the result: strong pixels and all that are connected with them. scratch:
 * link_scratch() bytes. */
static void hysteresis(const struct gf_view *in, unsigned char *bits, void *scratch)
{
    struct flood flood = {.in = in, .bits = bits};
    carve_flood(&flood, scratch, in->format);
    const size_t words = flood.words, rows = (size_t)in->format.height;
    memset(flood.waits, 0, words * rows);
    for (size_t y = 0; y < rows; y++)
        memcpy(strong(&flood, y, 0), gf_view_row(in, (int)y) + words * sizeof(uint64_t),
               words * sizeof(uint64_t));
    for (size_t at = 0; at < words * rows; at++) {
        const uint64_t before = load(strong(&flood, at / words, at % words));
        if (at % words == 0 && gf_time_is_up())
            return;
        if (!before)
            continue;
        const uint64_t after = fill_runs(before, candidates(&flood, at / words, at % words));
        memcpy(strong(&flood, at / words, at % words), &after, sizeof after);
        push(&flood, at);
        while (flood.depth) {
            const size_t next = flood.stack[--flood.depth];
            flood.waits[next] = 0;
            spread(&flood, next);
        }
    }
}

struct canny {
    double low, high;
};

/* ---- gradients, and the pixels where they are largest ---- */

static enum gf_status thin_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    *out = (struct gf_format){
        .width = 8 * gf_bit_words(in.width), .height = in.height, .channels = 1, .bits = 8};
    return GF_OK;
}

static void thin_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    *first = y0 > GF_EDGE_REACH ? y0 - GF_EDGE_REACH : 0;
    *end = y1 < stage->in.height - GF_EDGE_REACH ? y1 + GF_EDGE_REACH : stage->in.height;
}

static int64_t square_of(double threshold, int bits)
{
    const double scaled = bits == 8 ? threshold : threshold * 257;
    return (int64_t)floor(scaled * scaled);
}

static enum gf_status thin_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct canny *const canny = stage->params;
    *(struct gf_edge_limits *)stage->constants =
        (struct gf_edge_limits){.low = square_of(fmin(canny->low, canny->high), stage->in.bits),
                                .high = square_of(fmax(canny->low, canny->high), stage->in.bits)};
    return GF_OK;
}

static size_t thin_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve_edges(&work, NULL, stage->in);
}

static void thin_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    edge_rows(in, stage->constants, out, scratch);
}

extern gf_launcher gf_canny_thin_cuda, gf_canny_link_cuda, gf_canny_draw_cuda;

static const struct gf_filter thin = {
    .name = "canny-thin",
    .kind = GF_STRAIGHT,
    .cost = {.pixel = 5},
    .params_size = sizeof(struct canny),
    .shape = thin_shape,
    .input_rows = thin_rows,
    .constants_size = sizeof(struct gf_edge_limits),
    .prepare = thin_prepare,
    .cpu_scratch = thin_scratch,
    .cpu = thin_cpu,
    .cuda =
        GF_CUDA({GF_VARIANT("march", gf_canny_thin_cuda,
                            "8 bits without alpha: four columns a lane, in registers; otherwise "
                            "a thread a column, and a ring of rows of gradients in shared "
                            "memory")}),
};

/* The picture of bits is declared as one long row, so that no part of it can be requested without
 * the rest. */
static enum gf_status link_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    const int64_t width = (int64_t)in.width / 2 * in.height;
    if (width > INT_MAX)
        return gf_fail(error, GF_ERROR_INPUT, "the picture is too large");
    out->width = (int)width;
    out->height = 1;
    return GF_OK;
}

static bool always_whole(const void *params_)
{
    return true;
}

static void all_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    *first = 0;
    *end = stage->in.height;
}

static size_t link_scratch(const struct gf_stage *stage, int rows)
{
    struct flood flood;
    return carve_flood(&flood, NULL, stage->in);
}

static size_t link_device_scratch(const struct gf_stage *stage, int rows)
{
    return gf_hysteresis_device_scratch(stage->in);
}

static void link_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    hysteresis(in, out->data, scratch);
}

static const struct gf_filter link = {
    .name = "canny-link",
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 0.1},
    .shape = link_shape,
    .needs_whole = always_whole,
    .input_rows = all_rows,
    .cpu_scratch = link_scratch,
    .cuda_scratch = link_device_scratch,
    .cpu = link_cpu,
    .cuda = GF_CUDA({GF_VARIANT("union-find", gf_canny_link_cuda,
                                "tiles are flooded in registers; what is left is joined into trees "
                                "by compare-and-swap, in a fixed number of launches")}),
};

/* ---- the third part: bits become samples ---- */

static enum gf_status draw_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    const struct gf_canny_picture *const picture = params_;
    *out = (struct gf_format){
        .width = picture->width, .height = picture->height, .channels = 1, .bits = picture->bits};
    return GF_OK;
}

static void draw_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_format format = out->format;
    const size_t pitch = (size_t)gf_bit_words(format.width) * 4;
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const bits = in->data + (size_t)y * pitch;
        unsigned char *const to = gf_view_row(out, y);
        for (int x = 0; x < format.width; x++) {
            const unsigned v = bits[x / 8] >> x % 8 & 1;
            if (format.bits == 8)
                to[x] = (unsigned char)(0 - v);
            else
                ((gf_u16_any *)to)[x] = (uint16_t)(0 - v);
        }
    }
}

static const struct gf_filter draw = {
    .name = "canny-draw",
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 0.5},
    .shape = draw_shape,
    .needs_whole = always_whole,
    .input_rows = all_rows,
    .cpu = draw_cpu,
    .cuda = GF_CUDA({GF_VARIANT("bits", gf_canny_draw_cuda, "16 bytes of samples a thread")}),
};

/* ---- the filter that consists of these parts ---- */

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct gf_canny_picture picture = {extent->width, extent->height, extent->bits};
    gf_parts_add(parts, &thin, params_, sizeof(struct canny));
    gf_parts_add(parts, &link, NULL, 0);
    gf_parts_add(parts, &draw, &picture, sizeof picture);
}

const struct gf_filter gf_canny_filter = {
    .name = "canny",
    .synonyms = "edge edges edgedetect contour",
    .summary = "edges, thin and connected, by Canny",
    .example = "blur=1,canny",
    .definition = "M where the gradient (3x3 Sobel, border=edge) exceeds low and is larger than "
                  "the gradients of the two neighbours across the edge, and where such pixels "
                  "connect the pixel with one whose gradient exceeds high; else 0. The result is "
                  "gray, and that of OpenCV's Canny with L2gradient. The channel with the largest "
                  "gradient counts. A picture with alpha counts as laid on black.",
    GF_TAKES(
        struct canny,
        GF_PARAM(struct canny, low, 50, 0, 1500,
                 "gradient above which a pixel is a weak edge, in 8-bit steps of Sobel's sums"),
        GF_PARAM(
            struct canny, high, 150, 0, 1500,
            "gradient above which a pixel is a strong edge, in the same unit; low and high may be "
            "exchanged")),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .expand = expand,
};
