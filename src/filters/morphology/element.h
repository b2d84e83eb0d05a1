/* Dilation takes the largest sample under a structuring element, erosion the smallest; other
 * operations consist of both (J. Serra, Image Analysis and Mathematical Morphology, 1982). Erosion
 * takes the samples at p + s for all s of the element, dilation takes the samples at p - s, so that
 * an opening never exceeds the picture and a closing is never below it. A rectangle is computed by
 * columns, then by rows. Other elements are divided into chords, which are runs of a row (E. R.
 * Urbach and M. H. F. Wilkinson, Efficient 2-D grayscale morphological transformations with
 * arbitrary flat structuring elements, 2008). The extreme of a chord of n samples is the extreme of
 * two runs of 2^level samples, level = floor(log2 n), one at each end. */
#pragma once

#include <stdint.h>

#include "base/host_device.h"
#include "base/image.h"
#include "stage/stage.h"

GF_C_BEGIN

enum {
    GF_MORPHOLOGY_RADIUS_MAX = 250,
    /* The largest radius of a square whose opening or closing of 8 bits is a single stage. */
    GF_OPENING_RADIUS = 4,
    /* The most chords: one in each row of a shape. A matrix of up to 31x31 has at most 31 * 16. */
    GF_CHORDS_MAX = 2 * GF_MORPHOLOGY_RADIUS_MAX + 1,
    GF_LEVELS_MAX = 9, /* levels 0 to 8: the longest chord has 501 samples, and 2^8 <= 501 < 2^9 */
    /* An element is near, see gf_morphology_is_near(), if it has at most so many chords and reaches
     * at most so far. */
    GF_NEAR_CHORDS = 64,
    GF_NEAR_RADIUS = 16, /* in rows above and below the element's middle */
    GF_NEAR_BYTES = 96,  /* in bytes of a row on either side of its middle */
};

/* The element as the filters' parameters describe it. */
struct gf_element {
    int rx, ry; /* columns and rows on either side of the middle; ry < 0: as many rows as columns */
    /* One of three: width 0; one number of gf_element_shapes; or a matrix with 1 for each sample of
     * the element. */
    struct gf_matrix shape;
};

extern const char *const gf_element_shapes[]; /* "rectangle", "ellipse", "cross", "diamond" */
extern const char *const gf_element_matrices[];

/* The parameters of an element. `type_` must have a member struct gf_element element. */
#define GF_PARAM_ELEMENT(type_) \
    {.name = "rx", \
     .type = GF_TYPE_INT, \
     .offset = offsetof(type_, element.rx), \
     .value = 1, \
     .greatest = GF_MORPHOLOGY_RADIUS_MAX, \
     .help = "columns of the element on either side of its middle"}, \
        {.name = "ry", \
         .type = GF_TYPE_INT, \
         .offset = offsetof(type_, element.ry), \
         .value = -1, \
         .least = -1, \
         .greatest = GF_MORPHOLOGY_RADIUS_MAX, \
         .help = "rows of the element above and below its middle; -1: as many as rx"}, \
    { \
        .name = "shape", .type = GF_TYPE_MATRIX, .offset = offsetof(type_, element.shape), \
        .least = 0, .greatest = 4, .choices = gf_element_shapes, .matrices = gf_element_matrices, \
        .help = "a shape of the size of rx and ry, by default a rectangle; or in place of rx and " \
                "ry a matrix of 0 and 1 such as 0 1 0/1 1 1/0 1 0, with odd sides up to 31" \
    }

/* A run in the element's row dy that begins at column x; both are relative to the middle. */
struct gf_chord {
    int16_t dy, x;
    int16_t last; /* the column where the second of the chord's two runs of 2^level begins */
    int16_t level;
};

/* A structuring element as the constants of a stage, for both backends: its chords, unless it is a
 * rectangle. */
struct gf_morphology {
    int rx, ry, border;
    int is_rectangle;
    int levels; /* bit k is set if a chord has level k */
    int chords;
    struct gf_chord chord[GF_CHORDS_MAX];
};

/* Checks a matrix: both sides are odd, and it consists of 0 and 1 with at least one 1. */
enum gf_status gf_element_check(const struct gf_element *element,
                                struct gf_error *error) GF_CHECKED;
/* Returns the number of rows of the element above its middle, which is also the number below. */
int gf_element_radius(const struct gf_element *element);
/* Whether the element is a square with `radius` rows and columns on either side of its middle. */
bool gf_element_is_square(const struct gf_element *element, int radius);
void gf_morphology_init(struct gf_morphology *morphology, const struct gf_element *element,
                        int border);

/* The operations that consist of dilation and erosion. */
enum gf_morphology_make {
    GF_MORPHOLOGY_OPEN,
    GF_MORPHOLOGY_CLOSE,
    GF_MORPHOLOGY_TOPHAT,
    GF_MORPHOLOGY_BLACKHAT,
    GF_MORPHOLOGY_GRADIENT,
};
/* Returns the largest number of rows of the first operation that `rows` rows of the second depend
 * on. */
static inline int gf_morphology_rows(const struct gf_morphology *morphology,
                                     struct gf_format format, int rows)
{
    const int most = rows + 2 * morphology->ry;
    return morphology->border == GF_BORDER_WRAP || most > format.height ? format.height : most;
}

/* Returns the rows of the first operation that rows y .. y + rows - 1 of the second depend on. */
static inline struct gf_rows gf_morphology_reach(const struct gf_morphology *morphology,
                                                 struct gf_format format, int y, int rows)
{
    const int first = y - morphology->ry, end = y + rows + morphology->ry;
    if (morphology->border == GF_BORDER_WRAP && (first < 0 || end > format.height))
        return (struct gf_rows){0, format.height};
    return (struct gf_rows){first < 0 ? 0 : first, end > format.height ? format.height : end};
}

/* Returns the bytes of scratch memory that gf_morphology_cpu() needs for `rows` rows. */
size_t gf_morphology_scratch(const struct gf_element *element, struct gf_format format, int rows);
/* Computes the rows of `out`. `in` contains all rows that they depend on. */
void gf_morphology_cpu(const struct gf_morphology *morphology, bool dilates,
                       const struct gf_view *in, const struct gf_view *out, void *scratch);

/* Dilation and erosion by rectangles of 3 to 11 rows and columns, and by other elements of few
 * samples, on the CPU. rows: the input's rows, from ry rows above the first row of `out` on; slots:
 * GF_LEVELS_MAX slots with room for a padded row. */
void gf_morphology_small(const struct gf_morphology *morphology, bool dilates,
                         const unsigned char *const *rows, const struct gf_view *out,
                         unsigned char *const *slots);

/* The device's tables of runs. The functions return the columns that a table has on each side of
 * the picture, the bytes of a table's row, and the scratch memory for `rows` result rows from
 * `in_rows` input rows. */
/* Returns the number of tables: one for each level from 0 to the highest. */
static inline int gf_morphology_levels(int levels)
{
    int count = 0;
    while (levels >> count)
        count++;
    return count;
}

static inline size_t gf_morphology_pitch(struct gf_format format, int rx)
{
    const size_t pixel = gf_pixel_bytes(format);
    return (((size_t)format.width + 2 * (size_t)rx) * pixel + 255) / 256 * 256;
}

/* Returns whether the device computes an element that is no rectangle in shared memory: 64 KB,
 * which all devices have. */
static inline bool gf_morphology_is_near(const struct gf_morphology *morphology,
                                         struct gf_format format)
{
    return morphology->chords <= GF_NEAR_CHORDS && morphology->ry <= GF_NEAR_RADIUS &&
           morphology->rx * format.channels * format.bits / 8 <= GF_NEAR_BYTES;
}

static inline size_t gf_morphology_device_scratch(const struct gf_morphology *morphology,
                                                  struct gf_format format, int rows, int in_rows)
{
    if (!morphology->is_rectangle && gf_morphology_is_near(morphology, format))
        return 0;
    if (!morphology->is_rectangle)
        return gf_morphology_pitch(format, morphology->rx) * (size_t)in_rows *
               (size_t)gf_morphology_levels(morphology->levels);
    return morphology->rx && morphology->ry ? gf_morphology_pitch(format, 0) * (size_t)rows : 0;
}

GF_C_END
