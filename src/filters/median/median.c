/* median: replaces each pixel by the median of a square window. */
#include "filters/median/median.h"

#include <string.h>

#include "base/image.h"
#include "base/target_clones.h"
#include "filters/median/median_simd.h"
#include "pixel/stencil.h"
#include "stage/border.h"

enum { COARSE_SHIFT = 6, COARSE_BINS = 65536 >> COARSE_SHIFT };

static const struct gf_param median_params[] = {
    GF_PARAM_INT(struct gf_median, radius, 1, 1, GF_MEDIAN_RADIUS_MAX,
                 "in pixels: the window is 2 radius + 1 on a side"),
    GF_PARAM_BORDER(struct gf_median),
    {0},
};

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
        return gf_median_small_scratch(stage);
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
        gf_median_small_cpu(stage, in, out, scratch);
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

static const char *refuses_local(const struct gf_stage *stage)
{
    const struct gf_median *const median = stage->params;
    return median->radius > GF_MEDIAN_LOCAL_MAX
               ? "takes a radius up to 5: a thread has to hold its window, and its work grows with "
                 "the fourth power"
               : NULL;
}

static const char *refuses_registers(const struct gf_stage *stage)
{
    const struct gf_median *const median = stage->params;
    return median->radius > GF_MEDIAN_NETWORK_MAX
               ? "takes radius 1 and 2: there are networks for these"
               : NULL;
}

/* Windows of 3x3 can be fused. */
static enum gf_fusing median_fuses(const void *params)
{
    return median_radius(params) == 1 ? (enum gf_fusing)(GF_FUSES_BOTH | GF_FUSES_ALPHA)
                                      : GF_FUSES_NOTHING;
}

extern gf_launcher gf_median_cuda, gf_median_fused_cuda, gf_median_local_cuda,
    gf_median_registers_cuda, gf_median_shared_cuda;

static const struct gf_variant kernels[] = {
    {GF_VARIANT("network", gf_median_cuda,
                "radius 1 and 2: networks of minima and maxima on pairs of rows, which share what "
                "windows have in common; else a tree of counters for each column")},
    {GF_STUDIED("local", gf_median_local_cuda,
                "a thread a sample, its window sorted by insertion in local memory (Best "
                "Practices 9.2.4)"),
     .refuses = refuses_local},
    {GF_STUDIED("registers", gf_median_registers_cuda,
                "the same by an unrolled network of minima and maxima in registers (Best "
                "Practices 9.2.7)"),
     .refuses = refuses_registers},
    {GF_STUDIED("shared", gf_median_shared_cuda,
                "the same, the window from a tile in shared memory (Best Practices 9.2.3)"),
     .refuses = refuses_registers},
    {0},
};

const struct gf_filter gf_median_filter = {
    .name = "median",
    .synonyms = "denoise despeckle",
    .summary = "median of a square window",
    .definition = "The median of the (2 radius + 1)^2 samples around each sample, every channel by "
                  "itself. Exact, in integers.",
    GF_PARAMS(struct gf_median, median_params),
    .kind = GF_STENCIL,
    .within_alpha = true,
    .cost = {.pixel = -1, /* a straight line through the times measured for the radii 1, 2 and 5 */
             .tap = 0.16,
             .radius_max = GF_MEDIAN_COLUMNS_RADIUS - 1,
             .pixel_beyond = 20},
    .radius = median_radius,
    .columns = median_radius,
    .cpu_scratch = median_scratch,
    .cpu = median_cpu,
    .cpu_intrinsics = true,
    .cuda = kernels,
    .fuses = median_fuses,
    .cuda_fused = GF_LAUNCHER(gf_median_fused_cuda),
};
