/* Medians of small windows on the CPU: networks of minima and maxima on rows of the picture. */
#include <string.h>

#include "base/image.h"
#include "base/target_clones.h"
#include "filters/median/median.h"
#include "filters/median/median_simd.h"
#include "pixel/stencil.h"
#include "stage/border.h"

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

/* Copies of both ends of rows together with their borders. Row y is in slot (y + radius) mod (2
 * radius + 1). The middle of a row is read in the picture. Vectors of 64 bytes read up to one
 * sample beyond their end, which must be in the picture or in the slot. */
enum { VECTOR = 64, SHORT = 3 * VECTOR, END = 256, SLOT = END + SHORT + END };

struct work {
    const struct gf_view *in;
    int radius, border, sides;
    int slot_count;                     /* slots for the rows of FOUR windows */
    size_t row_bytes, pixel_bytes, pad; /* pad: bytes of the border */
    unsigned char *slots, *zeros;
    void *planes;
    size_t room; /* samples of a plane */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    const struct gf_median *const median = stage->params;
    const struct gf_format format = stage->in;
    const int sides = 2 * median->radius + 1;
    struct gf_carver carver = {.base = base};
    *work = (struct work){.radius = median->radius,
                          .border = median->border,
                          .sides = sides,
                          .slot_count = sides + FOUR - 1,
                          .row_bytes = gf_row_bytes(format),
                          .pixel_bytes = gf_pixel_bytes(format)};
    work->pad = (size_t)work->radius * work->pixel_bytes;
    work->slots = gf_carve(&carver, (size_t)work->slot_count * SLOT);
    work->zeros = gf_carve(&carver, work->row_bytes);
    work->room = (gf_samples(format) < CHUNK ? gf_samples(format) : CHUNK) + 2 * PAD_MAX;
    work->planes = gf_carve(&carver, (size_t)sides * work->room * (size_t)(format.bits / 8));
    return carver.used;
}

size_t gf_median_small_scratch(const struct gf_stage *stage)
{
    struct work work;
    return carve(&work, NULL, stage);
}

static unsigned char *slot(const struct work *work, int row)
{
    return work->slots + (size_t)((row + work->radius) % work->slot_count) * SLOT;
}

static const unsigned char *row_of(const struct work *work, int row)
{
    const int from = gf_border_index(row, work->in->format.height, work->border);
    return from < 0 ? work->zeros : gf_view_row(work->in, from);
}

/* Fills one side of the border, which begins at `column`. */
static void fill_border(const struct work *work, const unsigned char *row, int column,
                        unsigned char *to)
{
    for (int i = 0; i < work->radius; i++, to += work->pixel_bytes) {
        const int from = gf_border_index(column + i, work->in->format.width, work->border);
        const unsigned char *const pixel =
            from < 0 ? work->zeros : row + (size_t)from * work->pixel_bytes;
        GF_BY_PIXEL_BYTES(work->pixel_bytes, SIZE, memcpy(to, pixel, SIZE));
    }
}

static bool is_short(const struct work *work)
{
    return work->row_bytes < SHORT;
}

/* Returns the byte at which the copied end of a row begins. The vector before it stays within the
 * row. */
static size_t last_end(const struct work *work)
{
    return (work->row_bytes - VECTOR) / VECTOR * VECTOR;
}

static void fill_slot(const struct work *work, int row)
{
    const unsigned char *const from = row_of(work, row);
    unsigned char *const left = slot(work, row), *const right = left + END + SHORT;
    const size_t size = work->row_bytes, pad = work->pad;
    fill_border(work, from, -work->radius, left);
    if (is_short(work)) {
        memcpy(left + pad, from, size);
        fill_border(work, from, work->in->format.width, left + pad + size);
        return;
    }
    unsigned char *const end = right + size - (last_end(work) - pad);
    memcpy(left + pad, from, SHORT);
    memcpy(end - SHORT, from + size - SHORT, SHORT);
    fill_border(work, from, work->in->format.width, end);
}

/* rows[i] begins `radius` columns left of the first result. */
static void part_of_row(const struct work *work, const unsigned char *const *rows,
                        unsigned char *out, size_t size)
{
    const size_t step = (size_t)work->in->format.channels;
    const int bits = work->in->format.bits;
    const size_t samples = size / (size_t)(bits / 8);
    for (size_t x = 0; x < samples; x += CHUNK) {
        const size_t count = samples - x < CHUNK ? samples - x : CHUNK;
        const uint8_t *rows8[SIDES_MAX];
        const gf_u16_any *rows16[SIDES_MAX];
        for (int i = 0; i < work->sides; i++) {
            rows8[i] = rows[i] + x;
            rows16[i] = (const gf_u16_any *)rows[i] + x;
        }
        gf_u16_any *const wide_out = (gf_u16_any *)out + x;
        if (work->radius == 1 && bits == 16)
            median3_row_16(rows16, work->planes, work->room, wide_out, count, step);
        else if (work->radius == 1)
            median3_row_8(rows8, work->planes, work->room, out + x, count, step);
        else if (bits == 16)
            median5_row_16(rows16, work->planes, work->room, wide_out, count, step);
        else
            median5_row_8(rows8, work->planes, work->room, out + x, count, step);
    }
}

static struct gf_median_rows rows_from(const struct work *work, int first, int count)
{
    struct gf_median_rows rows = {.end = is_short(work) ? 0 : last_end(work)};
    for (int i = 0; i < count; i++) {
        rows.left[i] = slot(work, first + i);
        rows.right[i] = is_short(work) ? rows.left[i] : rows.left[i] + END + SHORT;
        rows.between[i] = row_of(work, first + i) + VECTOR - work->pad;
    }
    return rows;
}

static void four_rows(const struct work *work, int y, const struct gf_view *out)
{
    const struct gf_median_rows rows = rows_from(work, y - 1, FOUR + 2);
    unsigned char *results[FOUR];
    for (int i = 0; i < FOUR; i++)
        results[i] = gf_view_row(out, y + i);
    gf_median_simd_four(work->in->format.bits, &rows, results, work->row_bytes,
                        (int)work->pixel_bytes);
}

static void small_row(const struct work *work, int y, unsigned char *out)
{
    const struct gf_median_rows rows = rows_from(work, y - work->radius, work->sides);
    if (gf_cpu_has(GF_CPU_VBMI)) {
        gf_median_simd(work->radius, work->in->format.bits, &rows, out, work->row_bytes,
                       (int)work->pixel_bytes);
        return;
    }
    if (rows.end) {
        part_of_row(work, rows.left, out, VECTOR);
        part_of_row(work, rows.between, out + VECTOR, rows.end - VECTOR);
    }
    part_of_row(work, rows.right, out + rows.end, work->row_bytes - rows.end);
}

void gf_median_small_cpu(const struct gf_stage *stage, const struct gf_view *in,
                         const struct gf_view *out, void *scratch)
{
    struct work work;
    carve(&work, scratch, stage);
    work.in = in;
    memset(work.slots, 0, (size_t)work.slot_count * SLOT);
    memset(work.zeros, 0, work.row_bytes);
    for (int row = out->y - work.radius; row < out->y + work.radius; row++)
        fill_slot(&work, row);
    int y = out->y;
    for (; y + FOUR <= out->y + out->rows && work.radius == 1 && gf_cpu_has(GF_CPU_VBMI);
         y += FOUR) {
        for (int i = 0; i < FOUR; i++)
            fill_slot(&work, y + 1 + i);
        four_rows(&work, y, out);
    }
    for (; y < out->y + out->rows; y++) {
        fill_slot(&work, y + work.radius);
        small_row(&work, y, gf_view_row(out, y));
    }
}
