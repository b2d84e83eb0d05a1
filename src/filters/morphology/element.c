#include "filters/morphology/element.h"

#include <string.h>

#include "base/cpu.h"
#include "base/image.h"
#include "pixel/stencil.h"

/* The numbers of the named shapes. In struct gf_element such a shape is a matrix whose only element
 * is its number. */
enum { RECTANGLE = 1, ELLIPSE, CROSS, DIAMOND };
const char *const gf_element_shapes[] = {"rectangle", "ellipse", "cross", "diamond", NULL};
const char *const gf_element_matrices[] = {"1", "2", "3", "4"};

static int shape_of(const struct gf_element *element)
{
    const struct gf_matrix *const shape = &element->shape;
    if (!shape->width)
        return RECTANGLE;
    return shape->width == 1 && shape->height == 1 && shape->value[0] >= 1 ? (int)shape->value[0]
                                                                           : 0;
}

enum gf_status gf_element_check(const struct gf_element *element, struct gf_error *error)
{
    const struct gf_matrix *const shape = &element->shape;
    bool any = false;
    if (shape_of(element))
        return GF_OK;
    if (shape->width % 2 == 0 || shape->height % 2 == 0)
        return gf_fail(error, GF_ERROR_USAGE, "shape is %dx%d; both sides must be odd",
                       shape->width, shape->height);
    for (int i = 0; i < shape->width * shape->height; i++) {
        any |= shape->value[i] > 0;
        if (shape->value[i] > 1)
            return gf_fail(error, GF_ERROR_USAGE, "shape has %g; rows of 0 and 1 are needed",
                           (double)shape->value[i]);
    }
    return any ? GF_OK : gf_fail(error, GF_ERROR_USAGE, "shape has no 1");
}

int gf_element_radius(const struct gf_element *element)
{
    if (!shape_of(element))
        return element->shape.height / 2;
    return element->ry < 0 ? element->rx : element->ry;
}

bool gf_element_is_square(const struct gf_element *element, int radius)
{
    return shape_of(element) == RECTANGLE && element->rx == radius &&
           gf_element_radius(element) == radius;
}

static void add_chord(struct gf_morphology *morphology, int dy, int x, int length)
{
    int level = 0;
    while (length >> (level + 1))
        level++;
    morphology->levels |= 1 << level;
    morphology->chord[morphology->chords++] =
        (struct gf_chord){.dy = (int16_t)dy,
                          .x = (int16_t)x,
                          .last = (int16_t)(x + length - (1 << level)),
                          .level = (int16_t)level};
}

static void add_matrix(struct gf_morphology *morphology, const struct gf_matrix *shape)
{
    for (int row = 0; row < shape->height; row++) {
        const float *const value = shape->value + row * shape->width;
        for (int x = 0, end; x < shape->width; x = end + 1) {
            for (end = x; end < shape->width && value[end] > 0;)
                end++;
            if (end > x)
                add_chord(morphology, row - shape->height / 2, x - shape->width / 2, end - x);
        }
    }
}

/* Returns the number of columns on each side of the middle in row dy of the shape. The ellipse is
 * OpenCV's. */
static int half_width(int shape, int rx, int ry, int dy)
{
    const int far = dy < 0 ? -dy : dy;
    if (shape == RECTANGLE || !ry)
        return rx;
    if (shape == CROSS)
        return dy ? 0 : rx;
    if (shape == DIAMOND)
        return rx * (ry - far) / ry;
    return (int)rint(rx * sqrt((double)(ry * ry - dy * dy) * (1.0 / ((double)ry * ry))));
}

void gf_morphology_init(struct gf_morphology *morphology, const struct gf_element *element,
                        int border)
{
    const int shape = shape_of(element), rx = shape ? element->rx : element->shape.width / 2,
              ry = gf_element_radius(element);
    *morphology = (struct gf_morphology){.rx = rx, .ry = ry, .border = border};
    if (!shape)
        add_matrix(morphology, &element->shape);
    for (int dy = -ry; shape && dy <= ry; dy++) {
        const int half = half_width(shape, rx, ry, dy);
        add_chord(morphology, dy, -half, 2 * half + 1);
    }
    int full = 0;
    for (int i = 0; i < morphology->chords; i++) {
        const struct gf_chord *const chord = &morphology->chord[i];
        full += chord->x == -rx && chord->last + (1 << chord->level) == rx + 1;
    }
    morphology->is_rectangle = full == 2 * ry + 1;
}

/* Dilation and erosion by small elements on the CPU. A rectangle takes the extremes of rows, for
 * two result rows at a time, and then of columns. Any other element takes the extreme of all its
 * samples in one pass. */

enum { RADIUS_MOST = 5, WINDOW_MOST = 2 * RADIUS_MOST + 1, SAMPLES_MOST = 2 * WINDOW_MOST - 1 };

/* Sets to[i] to the extreme of row[k][i] for all k < window; `to` may be one of the rows. */
#define EXTREME(name, window, type, compare) \
    GF_TARGET_CLONES static void name(const unsigned char *const *rows, unsigned char *to_, \
                                      size_t count) \
    { \
        const type *from[window]; \
        type *const to = (type *)(void *)to_; \
        for (int k = 0; k < (window); k++) \
            from[k] = (const type *)(const void *)rows[k]; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) \
        { \
            type most = from[0][i]; \
            for (int k = 1; k < (window); k++) \
                most = from[k][i] compare most ? from[k][i] : most; \
            to[i] = most; \
        } \
    }
/* Does the same for two result rows, `to` and `below`. */
#define EXTREME_OF_TWO(name, window, type, compare) \
    GF_TARGET_CLONES static void name(const unsigned char *const *rows, unsigned char *to_, \
                                      unsigned char *below_, size_t count) \
    { \
        const type *from[(window) + 1]; \
        type *const to = (type *)(void *)to_, *const below = (type *)(void *)below_; \
        for (int k = 0; k <= (window); k++) \
            from[k] = (const type *)(const void *)rows[k]; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) \
        { \
            type most = from[1][i]; \
            for (int k = 2; k < (window); k++) \
                most = from[k][i] compare most ? from[k][i] : most; \
            to[i] = from[0][i] compare most ? from[0][i] : most; \
            below[i] = from[window][i] compare most ? from[window][i] : most; \
        } \
    }
#define EXTREMES_OF(window, name, type, compare) \
    EXTREME(name##_##window, window, type, compare) \
    EXTREME_OF_TWO(two_##name##_##window, window, type, compare)
#define EXTREMES(name, type, compare) \
    EXTREMES_OF(3, name, type, compare) \
    EXTREMES_OF(5, name, type, compare) \
    EXTREMES_OF(7, name, type, compare) \
    EXTREMES_OF(9, name, type, compare) \
    EXTREMES_OF(11, name, type, compare)
EXTREMES(least8, uint8_t, <)
EXTREMES(largest8, uint8_t, >)
EXTREMES(least16, gf_u16_any, <)
EXTREMES(largest16, gf_u16_any, >)
EXTREMES(least32, int32_t, <)
EXTREMES(largest32, int32_t, >)

/* For windows of 3, 5 .. WINDOW_MOST rows: the functions that compute one result row, and two. */
struct extremes {
    void (*of[RADIUS_MOST])(const unsigned char *const *rows, unsigned char *to, size_t count);
    void (*of_two[RADIUS_MOST])(const unsigned char *const *rows, unsigned char *to,
                                unsigned char *below, size_t count);
};
#define BY_WINDOW(name) \
    { \
        {name##_3, name##_5, name##_7, name##_9, name##_11}, \
        { \
            two_##name##_3, two_##name##_5, two_##name##_7, two_##name##_9, two_##name##_11 \
        } \
    }
/* The functions by depth (8 or 16 bits, or 32 of keys), and by kind of extreme (least or
 * largest). */
static const struct extremes extremes[3][2] = {{BY_WINDOW(least8), BY_WINDOW(largest8)},
                                               {BY_WINDOW(least16), BY_WINDOW(largest16)},
                                               {BY_WINDOW(least32), BY_WINDOW(largest32)}};

static int sample_count(const struct gf_morphology *morphology)
{
    int count = 0;
    for (int c = 0; c < morphology->chords; c++)
        count +=
            morphology->chord[c].last - morphology->chord[c].x + (1 << morphology->chord[c].level);
    return count;
}

static bool morphology_is_small(const struct gf_morphology *morphology)
{
    if (morphology->is_rectangle)
        return morphology->rx >= 1 && morphology->rx <= RADIUS_MOST && morphology->ry >= 1 &&
               morphology->ry <= RADIUS_MOST;
    return 2 * morphology->ry + 1 <= GF_LEVELS_MAX && sample_count(morphology) <= SAMPLES_MOST;
}

/* Describes rows of the picture, or of the extremes of columns, that have rx pixels of border on
 * both sides. */
struct padded {
    const struct gf_morphology *morphology;
    struct gf_format format;
    size_t pixel_bytes;
};

static void pad(const struct padded *of, unsigned char *row)
{
    gf_stencil_pad(row + (size_t)of->morphology->rx * of->pixel_bytes, of->format.width,
                   of->morphology->rx, of->pixel_bytes, of->morphology->border);
}

static void along(const struct padded *of, const struct extremes *by, const unsigned char *row,
                  unsigned char *to)
{
    const unsigned char *columns[WINDOW_MOST];
    for (int i = 0; i < 2 * of->morphology->rx + 1; i++)
        columns[i] = row + (size_t)i * of->pixel_bytes;
    by->of[of->morphology->rx - 1](columns, to, gf_samples(of->format));
}

static void small_rectangle(const struct padded *of, const struct extremes *by,
                            const unsigned char *const *rows, const struct gf_view *out,
                            unsigned char *const *slots)
{
    const int ry = of->morphology->ry;
    const size_t left = (size_t)of->morphology->rx * of->pixel_bytes;
    for (int i = 0; i < out->rows; i += 2) {
        const bool has_second = i + 1 < out->rows;
        if (has_second)
            by->of_two[ry - 1](rows + i, slots[0] + left, slots[1] + left, gf_samples(of->format));
        else
            by->of[ry - 1](rows + i, slots[0] + left, gf_samples(of->format));
        for (int k = 0; k < 1 + has_second; k++) {
            pad(of, slots[k]);
            along(of, by, slots[k], gf_view_row(out, out->y + i + k));
        }
    }
}

/* Computes a row. The first step takes the extreme of as many of the element's samples as a
 * function accepts; each further step adds more samples to that extreme. Where too few samples are
 * left, the first one is repeated. */
static void element_row(const struct padded *of, const struct extremes *by,
                        const unsigned char *const *samples, int count, unsigned char *to)
{
    const unsigned char *some[WINDOW_MOST];
    for (int done = 0; done < count;) {
        int taken = 0;
        if (done)
            some[taken++] = to;
        while (taken < WINDOW_MOST && done < count)
            some[taken++] = samples[done++];
        const int window = taken < 3 ? 3 : taken | 1;
        while (taken < window)
            some[taken++] = some[0];
        by->of[window / 2 - 1](some, to, gf_samples(of->format));
    }
}

/* Computes a picture's rows by an element. Row i of the input is in slot i mod (2 ry + 1). */
static void element(const struct padded *of, bool dilates, const struct extremes *by,
                    const unsigned char *const *rows, const struct gf_view *out,
                    unsigned char *const *slots)
{
    const struct gf_morphology *const morphology = of->morphology;
    const int rx = morphology->rx, ry = morphology->ry, sides = 2 * ry + 1;
    for (int i = 0; i < out->rows + 2 * ry; i++) {
        memcpy(slots[i % sides] + (size_t)rx * of->pixel_bytes, rows[i], gf_row_bytes(of->format));
        pad(of, slots[i % sides]);
        if (i < 2 * ry)
            continue;
        const unsigned char *samples[SAMPLES_MOST];
        int count = 0;
        for (int c = 0; c < morphology->chords; c++) {
            const struct gf_chord *const chord = &morphology->chord[c];
            const int end = chord->last + (1 << chord->level);
            const int row = i - ry + (dilates ? -chord->dy : chord->dy);
            for (int x = chord->x; x < end; x++)
                samples[count++] =
                    slots[row % sides] + (size_t)(rx + (dilates ? -x : x)) * of->pixel_bytes;
        }
        element_row(of, by, samples, count, gf_view_row(out, out->y + i - 2 * ry));
    }
}

void gf_morphology_small(const struct gf_morphology *morphology, bool dilates,
                         const unsigned char *const *rows, const struct gf_view *out,
                         unsigned char *const *slots)
{
    const struct gf_format format = out->format;
    const struct extremes *const by = &extremes[format.bits / 16][dilates];
    const struct padded of = {morphology, format, gf_pixel_bytes(format)};
    if (morphology->is_rectangle)
        small_rectangle(&of, by, rows, out, slots);
    else
        element(&of, dilates, by, rows, out, slots);
}

/* The bytes of a strip's row. A chunk of a strip's rows stays in the cache. */
enum { STRIP = 1024 };

struct work {
    unsigned char *zeros;
    unsigned char *chunk; /* extremes of the chunk's rows, from each row to the last */
    unsigned char *most;  /* the extremes of the rows after the chunk */
    unsigned char *row;   /* a row of the picture with its border */
    /* run[level]: for each pixel of the row the extreme of 2^level pixels, of which it is the
     * first */
    unsigned char *run[GF_LEVELS_MAX];
    const unsigned char **rows;         /* rows of the input */
    size_t pixel_bytes, row_bytes, pad; /* pad: bytes of the border on one side */
};

static size_t carve(struct work *work, void *base, int rx, int ry, struct gf_format format,
                    int rows)
{
    struct gf_carver carver = {.base = base};
    const size_t most = (size_t)(rows < 2 * ry + 1 ? rows : 2 * ry + 1);
    work->pixel_bytes = gf_pixel_bytes(format);
    work->row_bytes = gf_row_bytes(format);
    work->pad = (size_t)rx * work->pixel_bytes;
    work->zeros = gf_carve(&carver, work->row_bytes);
    work->chunk = gf_carve(&carver, most * STRIP);
    work->most = gf_carve(&carver, STRIP);
    work->rows = gf_carve(&carver, ((size_t)rows + 2 * (size_t)ry) * sizeof *work->rows);
    for (int k = 0; k < GF_LEVELS_MAX; k++)
        work->run[k] = gf_carve(&carver, work->row_bytes + 2 * work->pad);
    work->row = work->run[0];
    return carver.used;
}

size_t gf_morphology_scratch(const struct gf_element *element, struct gf_format format, int rows)
{
    struct work work;
    struct gf_morphology morphology;
    gf_morphology_init(&morphology, element, 0);
    return carve(&work, NULL, morphology.rx, morphology.ry, format, rows);
}

/* Sets to[i] to the extreme of a[i] and b[i]. The memory of `to` may begin at or before a and b. */
#define EXTREMES_OF_TWO(name, type, compare) \
    GF_TARGET_CLONES static void name(const void *a_, const void *b_, void *to_, size_t count) \
    { \
        const type *const a = a_, *const b = b_; \
        type *const to = to_; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) to[i] = a[i] compare b[i] ? a[i] : b[i]; \
    }
EXTREMES_OF_TWO(largest8, uint8_t, >)
EXTREMES_OF_TWO(least8, uint8_t, <)
EXTREMES_OF_TWO(largest16, gf_u16_any, >)
EXTREMES_OF_TWO(least16, gf_u16_any, <)
EXTREMES_OF_TWO(largest32, int32_t, >)
EXTREMES_OF_TWO(least32, int32_t, <)

/* Sets to[i] to the extreme of to[i], a[i] and b[i]. */
#define EXTREMES_OF_BOTH(name, type, compare) \
    GF_TARGET_CLONES static void name(const void *a_, const void *b_, void *to_, size_t count) \
    { \
        const type *const a = a_, *const b = b_; \
        type *const to = to_; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) \
        { \
            const type both = a[i] compare b[i] ? a[i] : b[i]; \
            to[i] = to[i] compare both ? to[i] : both; \
        } \
    }
EXTREMES_OF_BOTH(largest_of_both8, uint8_t, >)
EXTREMES_OF_BOTH(least_of_both8, uint8_t, <)
EXTREMES_OF_BOTH(largest_of_both16, gf_u16_any, >)
EXTREMES_OF_BOTH(least_of_both16, gf_u16_any, <)
EXTREMES_OF_BOTH(largest_of_both32, int32_t, >)
EXTREMES_OF_BOTH(least_of_both32, int32_t, <)

typedef void extreme_function(const void *a, const void *b, void *to, size_t count);

struct operation {
    extreme_function *extreme, *of_both;
    size_t sample_bytes;
};

/* The operations by depth, and by kind of extreme, as of `extremes`. */
static const struct operation operations[3][2] = {
    {{least8, least_of_both8, 1}, {largest8, largest_of_both8, 1}},
    {{least16, least_of_both16, 2}, {largest16, largest_of_both16, 2}},
    {{least32, least_of_both32, 4}, {largest32, largest_of_both32, 4}}};

static void take(const struct operation *operation, const void *a, const void *b, void *to,
                 size_t bytes)
{
    operation->extreme(a, b, to, bytes / operation->sample_bytes);
}

/* Computes `count` rows of a strip, from row y on, by the algorithm of van Herk, and of Gil and
 * Werman. rows[0] is the first row of row y's window; `count` is at most the window's height. A
 * row's window consists of the last rows of a chunk of `count` rows, and of rows after the
 * chunk. */
static void columns_chunk(const struct operation *operation, const struct work *work,
                          const unsigned char *const *rows, int window, int count, size_t at,
                          size_t bytes, const struct gf_view *out, int y)
{
    const unsigned char *most = NULL;
    memcpy(work->chunk + (size_t)(count - 1) * STRIP, rows[count - 1] + at, bytes);
    for (int i = count - 2; i >= 0; i--)
        take(operation, rows[i] + at, work->chunk + (size_t)(i + 1) * STRIP,
             work->chunk + (size_t)i * STRIP, bytes);
    for (int i = count; i < window + count - 1; i++) {
        if (count == window && i == count) /* the window of the first row is the chunk itself */
            memcpy(gf_view_row(out, y) + at, work->chunk, bytes);
        if (most)
            take(operation, most, rows[i] + at, work->most, bytes);
        most = most ? work->most : rows[i] + at;
        if (i >= window - 1)
            take(operation, work->chunk + (size_t)(i - window + 1) * STRIP, most,
                 gf_view_row(out, y + i - window + 1) + at, bytes);
    }
}

static void columns(const struct operation *operation, const struct work *work, int ry,
                    const struct gf_view *out)
{
    const int window = 2 * ry + 1;
    for (size_t at = 0; at < work->row_bytes; at += STRIP) {
        const size_t bytes = work->row_bytes - at < STRIP ? work->row_bytes - at : STRIP;
        for (int done = 0; done < out->rows;) {
            const int rest = out->rows - done, count = rest < window ? rest : window;
            columns_chunk(operation, work, work->rows + done, window, count, at, bytes, out,
                          out->y + done);
            done += count;
        }
    }
}

/* Computes the extremes of 2^level samples of a padded row from the extremes of half as many
 * samples. */
static void double_runs(const struct operation *operation, const struct work *work,
                        const unsigned char *half, unsigned char *to, int level)
{
    const size_t offset = ((size_t)1 << (level - 1)) * work->pixel_bytes;
    const size_t length = work->row_bytes + 2 * work->pad;
    if (length > 2 * offset - work->pixel_bytes)
        take(operation, half, half + offset, to, length - (2 * offset - work->pixel_bytes));
}

/* Computes the extremes along a row, in place. */
static void along_row(const struct operation *operation, const struct work *work, int rx,
                      int border, int width, unsigned char *row)
{
    const int window = 2 * rx + 1;
    int level = 0;
    memcpy(work->row + work->pad, row, work->row_bytes);
    gf_stencil_pad(work->row + work->pad, width, rx, work->pixel_bytes, border);
    while (window >> (level + 1))
        double_runs(operation, work, work->row, work->row, ++level);
    take(operation, work->row, work->row + (size_t)(window - (1 << level)) * work->pixel_bytes, row,
         work->row_bytes);
}

static void rectangle(const struct gf_morphology *morphology, const struct operation *operation,
                      const struct work *work, const struct gf_view *out)
{
    if (morphology->ry) {
        columns(operation, work, morphology->ry, out);
    } else {
        for (int i = 0; i < out->rows; i++)
            memcpy(gf_view_row(out, out->y + i), work->rows[i], work->row_bytes);
    }
    for (int y = out->y; morphology->rx && y < out->y + out->rows; y++)
        along_row(operation, work, morphology->rx, morphology->border, out->format.width,
                  gf_view_row(out, y));
}

/* Sets all samples of a row to the least one, or to the largest one; keys have a sign. */
static void fill_row(unsigned char *row, size_t bytes, int bits, bool largest)
{
    const int32_t key = largest ? INT32_MAX : INT32_MIN;
    if (bits < 32)
        memset(row, largest ? 0xFF : 0, bytes);
    for (size_t at = 0; bits == 32 && at < bytes; at += sizeof key)
        memcpy(row + at, &key, sizeof key);
}

/* Computes the extremes of each input row's chords for all result rows whose element contains
 * them. */
static void chords(const struct gf_morphology *morphology, bool dilates,
                   const struct operation *operation, const struct work *work,
                   const struct gf_view *out)
{
    const int ry = morphology->ry;
    for (int y = out->y; y < out->y + out->rows; y++)
        fill_row(gf_view_row(out, y), work->row_bytes, out->format.bits, !dilates);
    for (int i = 0; i < out->rows + 2 * ry; i++) {
        memcpy(work->row + work->pad, work->rows[i], work->row_bytes);
        gf_stencil_pad(work->row + work->pad, out->format.width, morphology->rx, work->pixel_bytes,
                       morphology->border);
        for (int k = 1; morphology->levels >> k; k++)
            double_runs(operation, work, work->run[k - 1], work->run[k], k);
        for (int c = 0; c < morphology->chords; c++) {
            const struct gf_chord *const chord = &morphology->chord[c];
            const int line = i - ry - (dilates ? -chord->dy : chord->dy);
            if (line < 0 || line >= out->rows)
                continue;
            const int back = 1 - (1 << chord->level);
            const int x = dilates ? back - chord->last : chord->x;
            const int last = dilates ? back - chord->x : chord->last;
            const unsigned char *const run =
                work->run[chord->level] + work->pad + x * (ptrdiff_t)work->pixel_bytes;
            unsigned char *const to = gf_view_row(out, out->y + line);
            operation->of_both(run, run + (last - x) * (ptrdiff_t)work->pixel_bytes, to,
                               work->row_bytes / operation->sample_bytes);
        }
    }
}

void gf_morphology_cpu(const struct gf_morphology *morphology, bool dilates,
                       const struct gf_view *in, const struct gf_view *out, void *scratch)
{
    const struct operation *const operation = &operations[in->format.bits / 16][dilates];
    struct work work;
    carve(&work, scratch, morphology->rx, morphology->ry, in->format, out->rows);
    memset(work.zeros, 0, work.row_bytes);
    gf_stencil_rows(in, out->y - morphology->ry, out->rows + 2 * morphology->ry, morphology->border,
                    work.zeros, work.rows);
    if (morphology_is_small(morphology))
        gf_morphology_small(morphology, dilates, work.rows, out, work.run);
    else if (morphology->is_rectangle)
        rectangle(morphology, operation, &work, out);
    else
        chords(morphology, dilates, operation, &work, out);
}
