/* Two ways to shrink: the means of 2 x 2 pixels (pixel/resample/halve.h), and what the filter
 * resize does with its kernel lanczos3, alpha premultiplied to 16 bits. */
#include "codec/common/pyramid/pyramid.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "pixel/resample/halve.h"
#include "pixel/resample/resample.h"

/* Rows are resized LANCZOS_AT_ONCE at a time, since rows of the first pass are then shared; the
 * rows that these depend on, and some more, are kept. */
enum { LANCZOS_AT_ONCE = 16, LANCZOS_ROWS = 64 };

struct gf_shrinker {
    enum gf_shrink shrink;
    struct gf_format from, to; /* of rows that are taken and made */
    int taken, made;           /* how many rows */
    /* For means the last row of an even number. For lanczos3 the rows first .. taken - 1, in the
     * format stage.in. */
    unsigned char *rows;
    const unsigned char *last; /* for means: the row that was taken last */
    /* lanczos3 */
    int first, resized; /* the first row that is kept; the end of the rows in `batch` */
    struct gf_stage stage;
    void *scratch;
    unsigned char *batch; /* the last rows that were resized, in the format stage.out */
};

static struct gf_resample_axis axis_of(int side)
{
    return (struct gf_resample_axis){
        .in = side, .out = gf_halved(side), .scale = (double)side / gf_halved(side)};
}

static struct gf_format halved(struct gf_format format)
{
    format.width = gf_halved(format.width);
    format.height = gf_halved(format.height);
    return format;
}

/* The format in which lanczos3 weighs pixels. */
static struct gf_format weighed(struct gf_format format)
{
    format.bits = gf_has_alpha(format) ? 16 : format.bits;
    return format;
}

static enum gf_status open_lanczos(struct gf_shrinker *shrinker, struct gf_error *error)
{
    const struct gf_resample_axis columns = axis_of(shrinker->from.width),
                                  rows = axis_of(shrinker->from.height);
    struct gf_stage *const stage = &shrinker->stage;
    stage->in = weighed(shrinker->from);
    stage->out = weighed(shrinker->to);
    GF_TRY(gf_resample_prepare(stage, GF_RESAMPLE_LANCZOS3, false, &columns, &rows, error));
    const size_t scratch = gf_resample_scratch(stage, GF_RESAMPLE_LANCZOS3, false, &columns, &rows);
    shrinker->scratch = aligned_alloc(64, (scratch + 63) / 64 * 64);
    shrinker->batch = malloc(LANCZOS_AT_ONCE * gf_row_bytes(stage->out));
    return shrinker->scratch && shrinker->batch ? GF_OK : gf_fail_memory(error);
}

static size_t kept_bytes(enum gf_shrink shrink, struct gf_format from)
{
    return shrink == GF_SHRINK_AREA ? gf_row_bytes(from)
                                    : LANCZOS_ROWS * gf_row_bytes(weighed(from));
}

enum gf_status gf_shrinker_open(enum gf_shrink shrink, struct gf_format from,
                                struct gf_shrinker **shrinker, struct gf_error *error)
{
    GF_NEW(struct gf_shrinker, opened, error);
    opened->shrink = shrink;
    opened->from = from;
    opened->to = halved(from);
    opened->rows = malloc(kept_bytes(shrink, from));
    enum gf_status status = opened->rows ? GF_OK : gf_fail_memory(error);
    if (!status && shrink == GF_SHRINK_LANCZOS3)
        status = open_lanczos(opened, error);
    GF_OPENED(status, gf_shrinker_close, opened, shrinker);
}

/* ---- lanczos3 ---- */

static int sample_at(const void *row, int bits, size_t i)
{
    return bits == 8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
}

static void premultiply(struct gf_format format, const unsigned char *row, uint16_t *to)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels,
                 alpha_at = (size_t)format.channels - 1;
    const float max = format.bits == 8 ? 255.0f : 65535.0f;
    for (size_t i = 0; i < samples; i++) {
        const size_t last = i - i % (size_t)format.channels + alpha_at;
        const int v = sample_at(row, format.bits, i), alpha = sample_at(row, format.bits, last);
        to[i] = (uint16_t)(i == last ? v * (format.bits == 8 ? 257 : 1)
                                     : gf_halve_premultiply(v, alpha, max));
    }
}

static void unpremultiply(struct gf_format format, const uint16_t *row, unsigned char *to)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels,
                 alpha_at = (size_t)format.channels - 1;
    const float max = format.bits == 8 ? 255.0f : 65535.0f;
    for (size_t i = 0; i < samples; i++) {
        const size_t last = i - i % (size_t)format.channels + alpha_at;
        const int sample = i == last ? gf_halve_alpha(row[i], max)
                                     : gf_halve_unpremultiply(row[i], row[last], max);
        if (format.bits == 8)
            to[i] = (unsigned char)sample;
        else
            ((uint16_t *)(void *)to)[i] = (uint16_t)sample;
    }
}

/* Finds the rows that rows made .. end - 1 of the result depend on. */
static struct gf_rows needs(const struct gf_shrinker *shrinker, int end)
{
    const struct gf_resample_axis rows = axis_of(shrinker->from.height);
    struct gf_rows range;
    gf_resample_inputs(GF_RESAMPLE_LANCZOS3, &rows, shrinker->made, end, &range.first, &range.end);
    return range;
}

static void take_lanczos(struct gf_shrinker *shrinker, const unsigned char *row)
{
    const size_t pitch = gf_row_bytes(shrinker->stage.in);
    if (shrinker->taken - shrinker->first == LANCZOS_ROWS) {
        const int first = needs(shrinker, shrinker->made + 1).first;
        memmove(shrinker->rows, shrinker->rows + (size_t)(first - shrinker->first) * pitch,
                (size_t)(shrinker->taken - first) * pitch);
        shrinker->first = first;
    }
    unsigned char *const to = shrinker->rows + (size_t)(shrinker->taken - shrinker->first) * pitch;
    if (gf_has_alpha(shrinker->from))
        premultiply(shrinker->from, row, (uint16_t *)(void *)to);
    else
        memcpy(to, row, pitch);
}

static bool can_lanczos(struct gf_shrinker *shrinker)
{
    const struct gf_stage *const stage = &shrinker->stage;
    const int left = shrinker->to.height - shrinker->made,
              end = shrinker->made + (left < LANCZOS_AT_ONCE ? left : LANCZOS_AT_ONCE);
    if (shrinker->made < shrinker->resized)
        return true;
    if (!left || needs(shrinker, end).end > shrinker->taken)
        return false;
    const struct gf_view in = gf_view_make(shrinker->rows, gf_row_bytes(stage->in), stage->in,
                                           (struct gf_rows){shrinker->first, shrinker->taken});
    const struct gf_view out = gf_view_make(shrinker->batch, gf_row_bytes(stage->out), stage->out,
                                            (struct gf_rows){shrinker->made, end});
    gf_resample_cpu(stage, &in, &out, shrinker->scratch);
    shrinker->resized = end;
    return true;
}

static void make_lanczos(struct gf_shrinker *shrinker, unsigned char *row)
{
    const size_t pitch = gf_row_bytes(shrinker->stage.out);
    const unsigned char *const from =
        shrinker->batch + (size_t)(shrinker->made % LANCZOS_AT_ONCE) * pitch;
    if (gf_has_alpha(shrinker->from))
        unpremultiply(shrinker->to, (const uint16_t *)(const void *)from, row);
    else
        memcpy(row, from, pitch);
}

/* ---- both ---- */

void gf_shrinker_take(struct gf_shrinker *shrinker, const unsigned char *row)
{
    shrinker->last = row;
    if (shrinker->shrink == GF_SHRINK_LANCZOS3)
        take_lanczos(shrinker, row);
    else if (shrinker->taken % 2 == 0)
        memcpy(shrinker->rows, row, gf_row_bytes(shrinker->from));
    shrinker->taken++;
}

bool gf_shrinker_can(struct gf_shrinker *shrinker)
{
    if (shrinker->shrink == GF_SHRINK_LANCZOS3)
        return can_lanczos(shrinker);
    return shrinker->made < gf_halved(shrinker->taken) &&
           (shrinker->taken % 2 == 0 || shrinker->taken == shrinker->from.height);
}

void gf_shrinker_make(struct gf_shrinker *shrinker, unsigned char *row)
{
    if (shrinker->shrink == GF_SHRINK_LANCZOS3)
        make_lanczos(shrinker, row);
    else
        gf_halve_rows(shrinker->from, shrinker->rows, shrinker->last, row);
    shrinker->made++;
}

uint64_t gf_shrinker_bytes(enum gf_shrink shrink, struct gf_format from)
{
    const uint64_t rows = kept_bytes(shrink, from);
    /* Beside the rows lanczos3 keeps some 30 rows as floats, and weights. */
    return shrink == GF_SHRINK_AREA ? rows : 5 * rows;
}

void gf_shrinker_close(struct gf_shrinker *shrinker)
{
    if (!shrinker)
        return;
    free(shrinker->stage.constants);
    free(shrinker->rows);
    free(shrinker->scratch);
    free(shrinker->batch);
    free(shrinker);
}
