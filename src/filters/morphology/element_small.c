/* Dilation and erosion by small elements on the CPU. A rectangle takes the extremes of rows, for
 * two result rows at a time, and then of columns. Any other element takes the extreme of all its
 * samples in one pass. */
#include <string.h>

#include "base/image.h"
#include "base/target_clones.h"
#include "filters/morphology/element.h"
#include "pixel/stencil.h"

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

/* The functions for windows of 3, 5 .. WINDOW_MOST rows. */
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
/* The functions by depth (8 or 16 bits), and by kind of extreme (least or largest). */
static const struct extremes extremes[2][2] = {{BY_WINDOW(least8), BY_WINDOW(largest8)},
                                               {BY_WINDOW(least16), BY_WINDOW(largest16)}};

static int sample_count(const struct gf_morphology *morphology)
{
    int count = 0;
    for (int c = 0; c < morphology->chords; c++)
        count +=
            morphology->chord[c].last - morphology->chord[c].x + (1 << morphology->chord[c].level);
    return count;
}

bool gf_morphology_is_small(const struct gf_morphology *morphology)
{
    if (morphology->is_rectangle)
        return morphology->rx >= 1 && morphology->rx <= RADIUS_MOST && morphology->ry >= 1 &&
               morphology->ry <= RADIUS_MOST;
    return 2 * morphology->ry + 1 <= GF_LEVELS_MAX && sample_count(morphology) <= SAMPLES_MOST;
}

/* Rows of the picture, or of extremes, with the border on both sides. */
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

static void rectangle(const struct padded *of, const struct extremes *by,
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
    const struct extremes *const by = &extremes[format.bits == 16][dilates];
    const struct padded of = {morphology, format, gf_pixel_bytes(format)};
    if (morphology->is_rectangle)
        rectangle(&of, by, rows, out, slots);
    else
        element(&of, dilates, by, rows, out, slots);
}
