#include <string.h>

#include "base/image.h"
#include "base/target_clones.h"
#include "filters/morphology/element.h"
#include "pixel/stencil.h"

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
#define EXTREMES(name, type, compare) \
    GF_TARGET_CLONES static void name(const void *a_, const void *b_, void *to_, size_t count) \
    { \
        const type *const a = a_, *const b = b_; \
        type *const to = to_; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) to[i] = a[i] compare b[i] ? a[i] : b[i]; \
    }
EXTREMES(largest8, uint8_t, >)
EXTREMES(least8, uint8_t, <)
EXTREMES(largest16, gf_u16_any, >)
EXTREMES(least16, gf_u16_any, <)

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

typedef void extreme_function(const void *a, const void *b, void *to, size_t count);

struct operation {
    extreme_function *extreme, *of_both;
    size_t sample_bytes;
};

/* The operations by depth (8 or 16 bits), and by kind of extreme (least or largest). */
static const struct operation operations[2][2] = {
    {{least8, least_of_both8, 1}, {largest8, largest_of_both8, 1}},
    {{least16, least_of_both16, 2}, {largest16, largest_of_both16, 2}}};

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

/* Computes the extremes of each input row's chords for all result rows whose element contains
 * them. */
static void chords(const struct gf_morphology *morphology, bool dilates,
                   const struct operation *operation, const struct work *work,
                   const struct gf_view *out)
{
    const int ry = morphology->ry;
    for (int y = out->y; y < out->y + out->rows; y++)
        memset(gf_view_row(out, y), dilates ? 0 : 0xFF, work->row_bytes);
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
    const struct operation *const operation = &operations[in->format.bits == 16][dilates];
    struct work work;
    carve(&work, scratch, morphology->rx, morphology->ry, in->format, out->rows);
    memset(work.zeros, 0, work.row_bytes);
    gf_stencil_rows(in, out->y - morphology->ry, out->rows + 2 * morphology->ry, morphology->border,
                    work.zeros, work.rows);
    if (gf_morphology_is_small(morphology))
        gf_morphology_small(morphology, dilates, work.rows, out, work.run);
    else if (morphology->is_rectangle)
        rectangle(morphology, operation, &work, out);
    else
        chords(morphology, dilates, operation, &work, out);
}
