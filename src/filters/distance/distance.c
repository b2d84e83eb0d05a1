/* distance: computes the distance to the nearest dark pixel. */
#include "filters/distance/distance.h"

#include <math.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "filters/threshold/threshold.h"
#include "pixel/orient/orient.h"
#include "pixel/stencil.h"
#include "stage/stage.h"

/* Computes for each of `width` samples of 8 or 16 bits the distance in pixels to the nearest sample
 * of the row that is 0. A distance of 65535 also stands for a row without such a sample. Needs
 * GF_CPU_AVX512. */
GF_X86_ONLY void gf_distance_along_simd(const unsigned char *row, int bits, int width,
                                        gf_u16_any *to);

/* Computes distances along a row with vectors of 32 pixels. */

#if GF_X86

enum { EACH = 32 };

struct lanes {
    __m512i number;   /* the number of each lane: 0, 1, 2, .. */
    __m512i reversed; /* the numbers of the lanes from the last one on: 31, 30, .. */
};

GF_AVX512 GF_INLINE struct lanes lanes_of(void)
{
    uint16_t number[EACH], reversed[EACH];
    for (int i = 0; i < EACH; i++) {
        number[i] = (uint16_t)i;
        reversed[i] = (uint16_t)(EACH - 1 - i);
    }
    return (struct lanes){_mm512_loadu_si512(number), _mm512_loadu_si512(reversed)};
}

/* Computes the distance to the nearest dark pixel on the left for each of 32 pixels, which are 0 if
 * they are dark, otherwise NONE. The vector is searched in steps of 1, 2, 4, 8 and 16. Dark pixels
 * of earlier vectors are at the distance `before` from the pixel in front of this vector. Sums
 * saturate at NONE, the largest number. */
GF_AVX512 GF_INLINE __m512i spread(__m512i v, __m512i before, __m512i number)
{
    const __m512i none = _mm512_set1_epi16(-1);
    for (int step = 1; step < EACH; step *= 2) {
        const __m512i from = _mm512_sub_epi16(number, _mm512_set1_epi16((short)step));
        const __m512i moved = _mm512_mask_permutexvar_epi16(none, ~(__mmask32)0 << step, from, v);
        v = _mm512_min_epu16(v, _mm512_adds_epu16(moved, _mm512_set1_epi16((short)step)));
    }
    const __m512i further = _mm512_add_epi16(number, _mm512_set1_epi16(1));
    return _mm512_min_epu16(v, _mm512_adds_epu16(before, further));
}

GF_AVX512 GF_INLINE __m512i last_of(__m512i v)
{
    return _mm512_permutexvar_epi16(_mm512_set1_epi16(EACH - 1), v);
}

/* Returns a bit for each of the 32 pixels from x on: whether it is dark. `there` has a bit for each
 * of them that exists. */
GF_AVX512 GF_INLINE __mmask32 dark(const unsigned char *row, int bits, int x, __mmask32 there)
{
    if (bits == 8)
        return (__mmask32)_mm512_mask_testn_epi8_mask(
            there, _mm512_maskz_loadu_epi8(there, row + x), _mm512_set1_epi8(-1));
    const __m512i samples = _mm512_maskz_loadu_epi16(there, row + 2 * (ptrdiff_t)x);
    return _mm512_mask_testn_epi16_mask(there, samples, _mm512_set1_epi16(-1));
}

GF_AVX512 void gf_distance_along_simd(const unsigned char *row, int bits, int width, gf_u16_any *to)
{
    const struct lanes lanes = lanes_of();
    const __m512i none = _mm512_set1_epi16(-1);
    __m512i before = none;
    for (int x = 0; x < width; x += EACH) {
        const __mmask32 there = (__mmask32)gf_first_bits((uint64_t)(width - x));
        const __m512i at = _mm512_mask_set1_epi16(none, dark(row, bits, x, there), 0);
        const __m512i found = spread(at, before, lanes.number);
        _mm512_mask_storeu_epi16(to + x, there, found);
        before = last_of(found);
    }
    /* The row is computed from right to left in the same way; each vector's pixels are reversed. */
    before = none;
    for (int x = (width - 1) / EACH * EACH; x >= 0; x -= EACH) {
        const __mmask32 there = (__mmask32)gf_first_bits((uint64_t)(width - x));
        const __m512i at =
            _mm512_permutexvar_epi16(lanes.reversed, _mm512_mask_loadu_epi16(none, there, to + x));
        const __m512i found = spread(at, before, lanes.number);
        _mm512_mask_storeu_epi16(to + x, there, _mm512_permutexvar_epi16(lanes.reversed, found));
        before = last_of(found);
    }
}

#endif

struct distance {
    double scale, threshold;
};

/* ---- the distance to the nearest background pixel of the same row ---- */

static enum gf_status along_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                  struct gf_error *error)
{
    out->channels = 1;
    out->bits = 16;
    return GF_OK;
}

static bool is_dark(const unsigned char *row, struct gf_format format, int x)
{
    const int at = x * format.channels;
    return format.bits == 8 ? !row[at] : !((const gf_u16_any *)row)[at];
}

static void along_cpu(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch)
{
    const struct gf_format format = in->format;
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *const from = gf_view_row(in, y);
        gf_u16_any *const to = (gf_u16_any *)gf_view_row(out, y);
        int far = GF_DISTANCE_NONE;
        if (format.channels == 1 && gf_cpu_has(GF_CPU_AVX512)) {
            gf_distance_along_simd(from, format.bits, format.width, to);
            continue;
        }
        for (int x = 0; x < format.width; x++) {
            far = is_dark(from, format, x) ? 0 : far < GF_DISTANCE_NONE ? far + 1 : far;
            to[x] = (uint16_t)far;
        }
        far = GF_DISTANCE_NONE;
        for (int x = format.width - 1; x >= 0; x--) {
            far = far < GF_DISTANCE_NONE ? far + 1 : far;
            far = to[x] < far ? to[x] : far;
            to[x] = (uint16_t)far;
        }
    }
}

extern gf_launcher gf_distance_along_cuda, gf_distance_across_cuda;

static const struct gf_filter along = {
    .name = "distance-along",
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 0.5},
    .shape = along_shape,
    .cpu = along_cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT("scan", gf_distance_along_cuda,
                                "a warp a row, which carries the nearest pixel either way")}),
};

/* ---- the smallest distance, from the distances along the columns ---- */

static enum gf_status across_shape(const void *params_, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    const struct gf_distance_across *const across = params_;
    out->bits = across->bits;
    return GF_OK;
}

/* BLOCK pixels are computed together. Each considers the columns up to REACH away on either
 * side. */
enum { BLOCK = 64, REACH = 128 };

/* The parabolas (x - column)^2 + height^2 that are the lowest for some x, from left to right. */
struct work {
    int32_t *column, *first; /* first: the first pixel where the parabola is the lowest */
    float *samples;
    /* The squared heights. The REACH elements before them and the REACH + BLOCK elements after them
     * have the value NEVER. */
    uint32_t *squares;
};

static size_t carve(struct work *work, void *base, int width)
{
    struct gf_carver carver = {.base = base};
    const size_t count = (size_t)width;
    work->column = gf_carve(&carver, count * sizeof *work->column);
    work->first = gf_carve(&carver, count * sizeof *work->first);
    work->samples = gf_carve(&carver, (count + BLOCK) * sizeof *work->samples);
    work->squares = gf_carve(&carver, (count + 2 * REACH + BLOCK) * sizeof *work->squares);
    return carver.used;
}

static size_t across_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage->in.width);
}

static int64_t squared_at(const gf_u16_any *height, int column, int x)
{
    return (int64_t)(x - column) * (x - column) + (int64_t)height[column] * height[column];
}

/* Returns the first pixel where the parabola of column b is below the parabola of column a; a is
 * left of b. If the quotient is no integer, it is at least 1 / (2 (b - a)) away from the nearest
 * integer, which is more than the rounding error of a double. */
static double crossing(const gf_u16_any *height, int a, int b)
{
    const int64_t above = squared_at(height, b, 0) - squared_at(height, a, 0);
    return floor((double)above / (double)(2 * (int64_t)(b - a))) + 1;
}

/* A squared height that is never the smallest. Its sum with any square up to REACH^2 fits in 32
 * bits. */
static const uint32_t NEVER = UINT32_MAX - REACH * REACH;

GF_TARGET_CLONES static void fill_squares(const struct work *work, const gf_u16_any *height,
                                          int width)
{
    uint32_t *const squares = work->squares + REACH;
    for (int x = 0; x < width; x++) {
        const uint32_t square = (uint32_t)height[x] * height[x];
        squares[x] = square < NEVER ? square : NEVER;
    }
    for (int x = 0; x < REACH + BLOCK; x++)
        squares[width + x] = NEVER;
    for (int x = 0; x < REACH; x++)
        work->squares[x] = NEVER;
}

/* Lets BLOCK pixels consider columns further and further away until no column can be nearer than
 * the nearest that was found. Returns false if that would exceed REACH. */
GF_TARGET_CLONES static bool near_block(const uint32_t *at, float *samples)
{
    enum { STEPS = 4 };
    uint32_t best[BLOCK], worst = 0;
    for (int i = 0; i < BLOCK; i++) {
        best[i] = at[i];
        worst = best[i] > worst ? best[i] : worst;
    }
    for (int far = 1; (uint32_t)(far * far) < worst; far += STEPS) {
        if (far + STEPS > REACH)
            return false;
        for (int step = far; step < far + STEPS; step++) {
            const uint32_t square = (uint32_t)(step * step);
            for (int i = 0; i < BLOCK; i++) {
                const uint32_t left = at[i - step], right = at[i + step];
                const uint32_t sum = (left < right ? left : right) + square;
                best[i] = sum < best[i] ? sum : best[i];
            }
        }
        worst = 0;
        for (int i = 0; i < BLOCK; i++)
            worst = best[i] > worst ? best[i] : worst;
    }
    for (int i = 0; i < BLOCK; i++)
        samples[i] = gf_distance_squared(best[i], 0);
    return true;
}

/* Computes a row in blocks; the last block overlaps the block before it. Returns false if a pixel's
 * nearest column may be further away than REACH. */
static bool near_row(const struct work *work, const gf_u16_any *height, int width)
{
    fill_squares(work, height, width);
    for (int x = 0; x < width; x += BLOCK) {
        const int first = x + BLOCK <= width || width < BLOCK ? x : width - BLOCK;
        if (!near_block(work->squares + REACH + first, work->samples + first))
            return false;
    }
    return true;
}

/* Computes the distances of a row by the second phase of A. Meijster, J. B. T. M. Roerdink, W. H.
 * Hesselink: A general algorithm for computing distance transforms in linear time, 2000. */
static void across_row(const struct work *work, const gf_u16_any *height, int width)
{
    int last = -1;
    for (int x = 0; x < width; x++) {
        if (height[x] == GF_DISTANCE_NONE)
            continue;
        while (last >= 0 && squared_at(height, work->column[last], work->first[last]) >
                                squared_at(height, x, work->first[last]))
            last--;
        const double first = last < 0 ? 0 : crossing(height, work->column[last], x);
        if (first < width) {
            work->column[++last] = x;
            work->first[last] = (int32_t)first;
        }
    }
    for (int x = width - 1; x >= 0; x--) {
        const int64_t squared = last < 0 ? 0 : squared_at(height, work->column[last], x);
        work->samples[x] = gf_distance_squared((uint64_t)squared, last < 0);
        if (last >= 0 && x == work->first[last])
            last--;
    }
}

GF_TARGET_CLONES static void roots(float *samples, float scale, size_t count)
{
    for (size_t i = 0; i < count; i++)
        samples[i] = sqrtf(samples[i]) * scale;
}

static void across_cpu(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    const struct gf_distance_across *const across = stage->params;
    const int width = in->format.width;
    struct work work;
    carve(&work, scratch, width);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const gf_u16_any *const height = (const gf_u16_any *)gf_view_row(in, y);
        if (!near_row(&work, height, width))
            across_row(&work, height, width);
        roots(work.samples, across->scale, (size_t)width);
        gf_floats_to_samples(work.samples, across->bits, (size_t)width, gf_view_row(out, y));
    }
}

/* Returns the bytes of the device's scratch memory, which keeps the nearest column of every
 * GF_DISTANCE_STEP-th pixel. */
static size_t across_device_scratch(const struct gf_stage *stage, int rows)
{
    return gf_distance_pitch(stage->in) * sizeof(uint32_t) * (size_t)rows;
}

static const struct gf_filter across = {
    .name = "distance-across",
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 8}, /* measured where distances are large; where they are short the cost is
                           * 1 */
    .shape = across_shape,
    .cpu_scratch = across_scratch,
    .cuda_scratch = across_device_scratch,
    .cpu = across_cpu,
    .cuda = GF_CUDA({GF_VARIANT("nearest", gf_distance_across_cuda,
                                "a block a row: pixels further and further apart bound the columns "
                                "that those between them look at")}),
};

/* ---- the filter that consists of these parts ---- */

extern const struct gf_filter gf_threshold_filter;

/* Appends the parts. The distance along columns is computed along the rows of the transposed
 * picture. */
static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    static const struct gf_orient transpose = {.transpose = true};
    const struct distance *const distance = params_;
    const struct gf_threshold threshold = {.value = distance->threshold};
    const struct gf_distance_across last = {.scale = (float)distance->scale, .bits = extent->bits};
    gf_parts_add(parts, &gf_threshold_filter, &threshold, sizeof threshold);
    gf_parts_add(parts, &gf_orient, &transpose, sizeof transpose);
    gf_parts_add(parts, &along, NULL, 0);
    gf_parts_add(parts, &gf_orient, &transpose, sizeof transpose);
    gf_parts_add(parts, &across, &last, sizeof last);
}

const struct gf_filter gf_distance_filter = {
    .name = "distance",
    .synonyms = "edt distancetransform euclidean",
    .summary = "the distance to the nearest dark pixel",
    .example = "distance=6:0.2",
    .definition =
        "scale * sqrt(dx^2 + dy^2) to the nearest pixel whose luma is below the threshold, exact, "
        "in gray; M where there is no such pixel. Distances above 65535 pixels count as 65535. "
        "Alpha is dropped. Two steps of the filter need the whole picture.",
    GF_TAKES(
        struct distance,
        GF_PARAM(struct distance, scale, 1, 0.001, 65535,
                 "steps of a sample for each pixel of distance; the result ends at the full scale"),
        GF_PARAM(struct distance, threshold, 0.5, 0, 1,
                 "pixels whose luma is below this part of the full scale are dark")),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .expand = expand,
};
