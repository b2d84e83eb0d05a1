/* median: replaces each pixel by the median of a square window. */
#include "filters/median/median.h"

#include <string.h>

#include "base/cpu.h"
#include "base/image.h"
#include "pixel/stencil.h"
#include "stage/border.h"

/* Medians of small windows on the CPU: networks of minima and maxima on rows of the picture. */

/* The number of a row's samples that are computed together, so that their planes stay in the first-
 * level cache. */
enum { CHUNK = 1024, SIDES_MAX = 2 * GF_MEDIAN_NETWORK_MAX + 1 };
enum { PAD_MAX = GF_MEDIAN_NETWORK_MAX * 8, FOUR = 4 };

#define SAMPLE uint8_t
#define SAMPLE_ANY uint8_t
#define SAMPLE_NAME(name) name##_8
#include "filters/median/median_small.h"
#define SAMPLE uint16_t
#define SAMPLE_ANY gf_u16_any
#define SAMPLE_NAME(name) name##_16
#include "filters/median/median_small.h"
#define SAMPLE int32_t
#define SAMPLE_ANY int32_t
#define SAMPLE_NAME(name) name##_32
#include "filters/median/median_small.h"

/* Copies of both ends of rows together with their borders. Row y is in slot (y + radius) mod
 * slot_count. The middle of a row is read in the picture. Vectors of 64 bytes read up to one sample
 * beyond their end, which must be in the picture or in the slot. */
enum { VECTOR = 64, SHORT = 3 * VECTOR, END = 256, SLOT = END + SHORT + END };

struct small {
    const struct gf_view *in;
    int radius, border, sides;
    int slot_count;                     /* slots for the rows of FOUR windows */
    size_t row_bytes, pixel_bytes, pad; /* pad: bytes of the border */
    unsigned char *slots, *zeros;
    void *planes;
    size_t room; /* samples that each plane has room for */
};

static size_t carve_small(struct small *small, void *base, const struct gf_stage *stage)
{
    const struct gf_median *const median = stage->params;
    const struct gf_format format = stage->in;
    const int sides = 2 * median->radius + 1;
    struct gf_carver carver = {.base = base};
    *small = (struct small){.radius = median->radius,
                            .border = median->border,
                            .sides = sides,
                            .slot_count = sides + FOUR - 1,
                            .row_bytes = gf_row_bytes(format),
                            .pixel_bytes = gf_pixel_bytes(format)};
    small->pad = (size_t)small->radius * small->pixel_bytes;
    small->slots = gf_carve(&carver, (size_t)small->slot_count * SLOT);
    small->zeros = gf_carve(&carver, small->row_bytes);
    small->room = (gf_samples(format) < CHUNK ? gf_samples(format) : CHUNK) + 2 * PAD_MAX;
    small->planes = gf_carve(&carver, (size_t)sides * small->room * (size_t)(format.bits / 8));
    return carver.used;
}

static unsigned char *small_slot(const struct small *small, int row)
{
    return small->slots + (size_t)((row + small->radius) % small->slot_count) * SLOT;
}

static const unsigned char *row_of(const struct small *small, int row)
{
    const int from = gf_border_index(row, small->in->format.height, small->border);
    return from < 0 ? small->zeros : gf_view_row(small->in, from);
}

/* Fills one side of the border: `radius` pixels from `column` on, which is outside of the row. */
static void fill_border(const struct small *small, const unsigned char *row, int column,
                        unsigned char *to)
{
    for (int i = 0; i < small->radius; i++, to += small->pixel_bytes) {
        const int from = gf_border_index(column + i, small->in->format.width, small->border);
        const unsigned char *const pixel =
            from < 0 ? small->zeros : row + (size_t)from * small->pixel_bytes;
        GF_BY_PIXEL_BYTES(small->pixel_bytes, SIZE, memcpy(to, pixel, SIZE));
    }
}

static bool is_short(const struct small *small)
{
    return small->row_bytes < SHORT;
}

/* Returns the byte at which the copied end of a row begins. The vector before it stays within the
 * row. */
static size_t last_end(const struct small *small)
{
    return (small->row_bytes - VECTOR) / VECTOR * VECTOR;
}

static void fill_small_slot(const struct small *small, int row)
{
    const unsigned char *const from = row_of(small, row);
    unsigned char *const left = small_slot(small, row), *const right = left + END + SHORT;
    const size_t size = small->row_bytes, pad = small->pad;
    fill_border(small, from, -small->radius, left);
    if (is_short(small)) {
        memcpy(left + pad, from, size);
        fill_border(small, from, small->in->format.width, left + pad + size);
        return;
    }
    unsigned char *const end = right + size - (last_end(small) - pad);
    memcpy(left + pad, from, SHORT);
    memcpy(end - SHORT, from + size - SHORT, SHORT);
    fill_border(small, from, small->in->format.width, end);
}

/* Computes `size` bytes of a result row. rows[i] begins `radius` columns left of the first
 * result. */
static void part_of_row(const struct small *small, const unsigned char *const *rows,
                        unsigned char *out, size_t size)
{
    const struct gf_format format = small->in->format;
    (format.bits == 8    ? median_row_8
     : format.bits == 16 ? median_row_16
                         : median_row_32)(rows, small->radius, small->planes, small->room, out,
                                          size / (size_t)(format.bits / 8),
                                          (size_t)format.channels);
}

static struct gf_median_rows rows_from(const struct small *small, int first, int count)
{
    struct gf_median_rows rows = {.end = is_short(small) ? 0 : last_end(small)};
    for (int i = 0; i < count; i++) {
        rows.left[i] = small_slot(small, first + i);
        rows.right[i] = is_short(small) ? rows.left[i] : rows.left[i] + END + SHORT;
        rows.between[i] = row_of(small, first + i) + VECTOR - small->pad;
    }
    return rows;
}

static bool has_simd(const struct small *small)
{
    return small->in->format.bits <= 16 && gf_cpu_has(GF_CPU_VBMI);
}

static void four_rows(const struct small *small, int y, const struct gf_view *out)
{
    const struct gf_median_rows rows = rows_from(small, y - 1, FOUR + 2);
    unsigned char *results[FOUR];
    for (int i = 0; i < FOUR; i++)
        results[i] = gf_view_row(out, y + i);
    gf_median_simd_four(small->in->format.bits, &rows, results, small->row_bytes,
                        (int)small->pixel_bytes);
}

static void small_row(const struct small *small, int y, unsigned char *out)
{
    const struct gf_median_rows rows = rows_from(small, y - small->radius, small->sides);
    if (has_simd(small)) {
        gf_median_simd(small->radius, small->in->format.bits, &rows, out, small->row_bytes,
                       (int)small->pixel_bytes);
        return;
    }
    if (rows.end) {
        part_of_row(small, rows.left, out, VECTOR);
        part_of_row(small, rows.between, out + VECTOR, rows.end - VECTOR);
    }
    part_of_row(small, rows.right, out + rows.end, small->row_bytes - rows.end);
}

/* The functions cpu() and cpu_scratch() for radii up to GF_MEDIAN_NETWORK_MAX. */
static void median_small_cpu(const struct gf_stage *stage, const struct gf_view *in,
                             const struct gf_view *out, void *scratch)
{
    struct small small;
    carve_small(&small, scratch, stage);
    small.in = in;
    memset(small.slots, 0, (size_t)small.slot_count * SLOT);
    memset(small.zeros, 0, small.row_bytes);
    for (int row = out->y - small.radius; row < out->y + small.radius; row++)
        fill_small_slot(&small, row);
    int y = out->y;
    for (; y + FOUR <= out->y + out->rows && small.radius == 1 && has_simd(&small); y += FOUR) {
        for (int i = 0; i < FOUR; i++)
            fill_small_slot(&small, y + 1 + i);
        four_rows(&small, y, out);
    }
    for (; y < out->y + out->rows; y++) {
        fill_small_slot(&small, y + small.radius);
        small_row(&small, y, gf_view_row(out, y));
    }
}

enum { COARSE_SHIFT = 6, COARSE_BINS = 65536 >> COARSE_SHIFT };

static int median_radius(const void *params)
{
    return ((const struct gf_median *)params)->radius;
}

static bool is_small(const struct gf_stage *stage)
{
    return median_radius(stage->params) <= GF_MEDIAN_NETWORK_MAX;
}

/* A histogram of the window, with a bin for each sample value. With 16 bits, `coarse` has the sums
 * of 64 bins each. */
struct window {
    uint16_t *fine, *coarse;
    int median, below; /* the bin where the last search ended; number of samples below that bin */
};

/* The rows of two windows, one row apart, with their borders. Row y is in slot (y + radius) mod (2
 * radius + 2). */
struct work {
    struct gf_format format;
    int radius, border, sides; /* sides: 2 radius + 1 */
    size_t slot_bytes, pad_bytes;
    unsigned char *slots;
    struct window window;
    void *lists; /* scratch memory of gf_median_lists() */
};

static int step_of(struct gf_format format)
{
    return format.channels * format.bits / 8;
}

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    const struct gf_median *const median = stage->params;
    const struct gf_format format = stage->in;
    struct gf_carver carver = {.base = base};
    *work = (struct work){.format = format, .radius = median->radius, .border = median->border};
    work->sides = 2 * work->radius + 1;
    const size_t sample_bytes = (size_t)format.bits / 8;
    work->pad_bytes = (size_t)(work->radius * format.channels) * sample_bytes;
    const size_t row_bytes = gf_row_bytes(format) + 2 * work->pad_bytes;
    work->slot_bytes = (row_bytes + GF_MEDIAN_LISTS_BEHIND + 63) / 64 * 64;
    work->slots = gf_carve(&carver, work->slot_bytes * (size_t)(work->sides + 1));
    work->window.fine = gf_carve(&carver, sizeof(uint16_t) << format.bits);
    work->window.coarse = gf_carve(&carver, sizeof(uint16_t) * COARSE_BINS);
    if (work->radius <= GF_MEDIAN_LISTS_RADIUS)
        work->lists = gf_carve(&carver, gf_median_lists_scratch(work->radius, step_of(format)));
    return carver.used;
}

static bool may_have_columns(const struct gf_stage *stage)
{
    return stage->in.bits == 8 && median_radius(stage->params) >= GF_MEDIAN_COLUMNS_RADIUS;
}

static size_t median_scratch(const struct gf_stage *stage, int rows)
{
    const int radius = median_radius(stage->params);
    struct work work;
    if (is_small(stage))
        return carve_small(&(struct small){0}, NULL, stage);
    if (stage->in.bits == 32)
        return gf_median_ranks_scratch(stage, rows);
    const size_t size = carve(&work, NULL, stage);
    const size_t columns =
        may_have_columns(stage) ? gf_median_columns_scratch(stage->in, radius) : 0;
    return size > columns ? size : columns;
}

static unsigned char *slot(const struct work *work, int row)
{
    return work->slots + (size_t)((row + work->radius) % (work->sides + 1)) * work->slot_bytes;
}

static void fill_slot(const struct work *work, const struct gf_view *in, int row)
{
    const int from = gf_border_index(row, work->format.height, work->border);
    unsigned char *const samples = slot(work, row) + work->pad_bytes;
    const size_t pixel_bytes = gf_pixel_bytes(work->format);
    if (from < 0)
        memset(samples, 0, gf_row_bytes(work->format));
    else
        memcpy(samples, gf_view_row(in, from), gf_row_bytes(work->format));
    gf_stencil_pad(samples, work->format.width, work->radius, pixel_bytes, work->border);
}

GF_INLINE int load(int bits, const unsigned char *row, size_t at)
{
    return bits == 8 ? row[at] : ((const uint16_t *)row)[at];
}

/* Adds one column of the window to the histogram, or subtracts it. */
GF_INLINE void count_column(int bits, struct window *window, const unsigned char *const *rows,
                            int sides, size_t at, int change)
{
    int below = 0;
    for (int i = 0; i < sides; i++) {
        const int v = load(bits, rows[i], at);
        window->fine[v] = (uint16_t)(window->fine[v] + change);
        if (bits > 8)
            window->coarse[v >> COARSE_SHIFT] =
                (uint16_t)(window->coarse[v >> COARSE_SHIFT] + change);
        below += v < window->median;
    }
    window->below += change * below;
}

/* Finds the bin that contains the sample of the rank, from the last bin that was found, skipping
 * whole coarse bins where possible. Neighbouring medians are mostly close (T. S. Huang's
 * algorithm). */
GF_INLINE int find(int bits, struct window *window, int rank)
{
    const int step = 1 << COARSE_SHIFT, mask = step - 1;
    const uint16_t *const fine = window->fine, *const coarse = window->coarse;
    int median = window->median, below = window->below;
    while (below > rank) {
        if (bits > 8 && !(median & mask) && below - coarse[(median >> COARSE_SHIFT) - 1] > rank)
            below -= coarse[(median -= step) >> COARSE_SHIFT];
        else
            below -= fine[--median];
    }
    while (below + fine[median] <= rank) {
        if (bits > 8 && !(median & mask) && below + coarse[median >> COARSE_SHIFT] <= rank) {
            below += coarse[median >> COARSE_SHIFT];
            median += step;
        } else {
            below += fine[median++];
        }
    }
    window->median = median;
    window->below = below;
    return median;
}

/* Computes one channel of a row. The histogram is empty before and afterwards. */
GF_INLINE void slide_channel(int bits, struct work *work, const unsigned char *const *rows,
                             unsigned char *out, int channel)
{
    struct window window = work->window;
    const size_t step = (size_t)work->format.channels;
    const int sides = work->sides, width = work->format.width;
    window.median = window.below = 0;
    size_t at = (size_t)channel;
    for (int i = 0; i < sides - 1; i++)
        count_column(bits, &window, rows, sides, at + (size_t)i * step, 1);
    for (int x = 0; x < width; x++, at += step) {
        count_column(bits, &window, rows, sides, at + (size_t)(sides - 1) * step, 1);
        const int median = find(bits, &window, sides * sides / 2);
        if (bits == 8)
            out[at] = (unsigned char)median;
        else
            ((gf_u16_any *)out)[at] = (uint16_t)median;
        count_column(bits, &window, rows, sides, at, -1);
    }
    for (int i = 0; i < sides - 1; i++)
        count_column(bits, &window, rows, sides, at + (size_t)i * step, -1);
}

static void slide_row(struct work *work, int y, unsigned char *out)
{
    const unsigned char *rows[2 * GF_MEDIAN_RADIUS_MAX + 1];
    for (int i = 0; i < work->sides; i++)
        rows[i] = slot(work, y - work->radius + i);
    for (int channel = 0; channel < work->format.channels; channel++) {
        if (work->format.bits == 8)
            slide_channel(8, work, rows, out, channel);
        else
            slide_channel(16, work, rows, out, channel);
    }
}

/* Computes two rows at a time. NULL replaces the second row if only one is left. */
static void medians_by_lists(struct work *work, const struct gf_view *in, const struct gf_view *out)
{
    const unsigned char *rows[2 * GF_MEDIAN_RADIUS_MAX + 2];
    for (int y = out->y; y < out->y + out->rows; y += 2) {
        const bool has_second = y + 1 < out->y + out->rows;
        unsigned char *const results[2] = {gf_view_row(out, y),
                                           has_second ? gf_view_row(out, y + 1) : NULL};
        for (int row = y + work->radius; row <= y + work->radius + has_second; row++)
            fill_slot(work, in, row);
        for (int i = 0; i <= work->sides; i++)
            rows[i] = slot(work, y - work->radius + i);
        gf_median_lists(work->radius, work->format.bits, step_of(work->format), rows, results,
                        gf_row_bytes(work->format), work->lists);
    }
}

static void median_cpu(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    struct work work;
    if (is_small(stage)) {
        median_small_cpu(stage, in, out, scratch);
        return;
    }
    if (stage->in.bits == 32) {
        gf_median_ranks(stage, in, out, scratch);
        return;
    }
    if (may_have_columns(stage) && gf_cpu_has(GF_CPU_AVX2)) {
        const struct gf_median *const median = stage->params;
        gf_median_columns(in, out, median->radius, median->border, scratch);
        return;
    }
    carve(&work, scratch, stage);
    memset(work.window.fine, 0, sizeof(uint16_t) << work.format.bits);
    memset(work.window.coarse, 0, sizeof(uint16_t) * COARSE_BINS);
    for (int row = out->y - work.radius; row < out->y + work.radius; row++)
        fill_slot(&work, in, row);
    if (work.radius <= GF_MEDIAN_LISTS_RADIUS && gf_cpu_has(GF_CPU_AVX2)) {
        medians_by_lists(&work, in, out);
        return;
    }
    for (int y = out->y; y < out->y + out->rows; y++) {
        fill_slot(&work, in, y + work.radius);
        slide_row(&work, y, gf_view_row(out, y));
    }
}

/* The kernels for windows of 3x3 can apply tables, and convert straight RGBA. */
static enum gf_fusing median_fuses(const void *params)
{
    return median_radius(params) == 1
               ? (enum gf_fusing)(GF_FUSES_BOTH | GF_FUSES_ALPHA | GF_FUSES_FLOAT_ALPHA)
               : GF_FUSES_NOTHING;
}

static const char *refuses_floats(const struct gf_stage *stage)
{
    return median_radius(stage->params) > GF_MEDIAN_NETWORK_MAX ? "takes radius 1 and 2 of floats"
                                                                : NULL;
}

extern gf_launcher gf_median_cuda, gf_median_fused_cuda, gf_median_floats_cuda;

const struct gf_filter gf_median_filter = {
    .name = "median",
    .synonyms = "denoise despeckle",
    .summary = "median of a square window",
    .definition = "The median of the (2 radius + 1)^2 samples around each sample, every channel by "
                  "itself. Exact; NaN is the largest.",
    GF_TAKES(struct gf_median,
             GF_PARAM_INT(struct gf_median, radius, 1, 1, GF_MEDIAN_RADIUS_MAX,
                          "in pixels: the window is 2 radius + 1 on a side"),
             GF_PARAM_BORDER(struct gf_median)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .within_alpha = true,
    .cost = {.pixel = -1, /* a straight line through the times measured for the radii 1, 2 and 5 */
             .tap = 0.16,
             .radius_max = GF_MEDIAN_COLUMNS_RADIUS - 1,
             .pixel_beyond = 20},
    .radius = median_radius,
    .columns = median_radius,
    .cpu_scratch = median_scratch,
    .cpu = median_cpu,
    .floats = median_cpu,
    .floats_scratch = median_scratch,
    .keys = GF_KEYS,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT(
        "network", gf_median_cuda,
        "radius 1 and 2: networks of minima and maxima on pairs of rows, which share what "
        "windows have in common; else a tree of counters for each column")}),
    .cuda_floats = &(const struct gf_variant){.launch = GF_LAUNCHER(gf_median_floats_cuda),
                                              .refuses = refuses_floats},
    .fuses = median_fuses,
    .cuda_fused = GF_LAUNCHER(gf_median_fused_cuda),
};
