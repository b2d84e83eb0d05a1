#include "pixel/float_stage.h"

#include "base/cpu.h"
#include "pixel/float_keys.h"
#include "pixel/float_rows.h"
#include "pixel/stencil.h"

static bool runs_floats(const struct gf_stage *stage)
{
    return gf_is_float(stage->in) && stage->filter->floats;
}

/* Whether cpu() gets halves as keys. Beyond a constant border it sees 0, which is not the key of
 * 0. */
static bool takes_halves(const struct gf_stage *stage)
{
    return stage->filter->keys == GF_KEYS && stage->in.bits == 16 &&
           gf_stage_border(stage) != GF_BORDER_CONSTANT;
}

/* Returns the stage as the filter's function gets it. */
static struct gf_stage inner_stage(const struct gf_stage *stage)
{
    struct gf_stage inner = *stage;
    if (takes_halves(stage))
        inner.in.samples = inner.out.samples = GF_SAMPLES_INTEGER;
    else if (gf_is_float(inner.out))
        inner.in.bits = inner.out.bits = 32;
    else
        inner.in.bits = 32;
    return inner;
}

/* Returns the largest number of input rows that `rows` rows of the result depend on. */
static int input_rows_most(const struct gf_stage *stage, int rows)
{
    const int height = stage->in.height;
    int most = height;
    if (gf_stage_needs_whole(stage))
        return height;
    if (stage->filter->radius)
        most = rows + 2 * gf_stage_radius(stage);
    else if (stage->filter->input_rows_most)
        most = stage->filter->input_rows_most(stage, rows);
    else if (!stage->filter->input_rows)
        most = rows;
    return most < height ? most : height;
}

/* Memory for the rows of a stage as the filter's function gets them. `out` is NULL where it writes
 * to the result itself. */
struct work {
    void *in, *out;
    void *own; /* the filter's */
};

static bool converts(const struct gf_stage *stage)
{
    return stage->in.bits == 16 || stage->filter->keys;
}

static size_t carve(struct work *work, void *base, const struct gf_stage *stage, int rows)
{
    struct gf_carver carver = {.base = base};
    const struct gf_filter *const filter = stage->filter;
    const struct gf_stage inner = inner_stage(stage);
    size_t (*const scratch)(const struct gf_stage *stage, int rows) =
        takes_halves(stage) ? filter->cpu_scratch : filter->floats_scratch;
    *work = (struct work){.in = NULL};
    if (converts(stage))
        work->in = gf_carve(&carver, gf_row_bytes(inner.in) * (size_t)input_rows_most(stage, rows));
    if (stage->out.bits == 16)
        work->out = gf_carve(&carver, gf_row_bytes(inner.out) * (size_t)rows);
    work->own = gf_carve(&carver, 0);
    if (scratch)
        gf_carve(&carver, scratch(&inner, rows));
    return carver.used;
}

/* Define functions that convert a row; `to` may be `from`. */
#define CONVERT(name, from_type, to_type, convert) \
    GF_TARGET_CLONES static void name(const void *from_, size_t count, void *to_) \
    { \
        const from_type *const from = from_; \
        to_type *const to = to_; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) to[i] = convert(from[i]); \
    }
CONVERT(keys_of_halves, gf_u16_any, gf_u16_any, gf_key_of_half)
CONVERT(halves_of_keys, gf_u16_any, gf_u16_any, gf_half_of_key)
CONVERT(keys_of_floats, float, int32_t, gf_key_of_float)
CONVERT(floats_of_keys, int32_t, float, gf_float_of_key)

static void convert_row(const struct gf_stage *stage, const void *row, size_t count, void *to)
{
    if (takes_halves(stage)) {
        keys_of_halves(row, count, to);
        return;
    }
    gf_floats_of_row(row, stage->in, count, to);
    if (stage->filter->keys)
        keys_of_floats(to, count, to);
}

static void convert_back(const struct gf_stage *stage, void *row, size_t count, void *to)
{
    if (takes_halves(stage)) {
        halves_of_keys(row, count, to);
        return;
    }
    if (stage->filter->keys)
        floats_of_keys(row, count, row);
    if (stage->out.bits == 16)
        gf_floats_to_row(row, stage->out, count, to);
}

size_t gf_stage_cpu_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    if (runs_floats(stage))
        return carve(&work, NULL, stage, rows);
    return stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, rows) : 0;
}

void gf_stage_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                  void *scratch)
{
    struct work work;
    if (!runs_floats(stage)) {
        stage->filter->cpu(stage, in, out, scratch);
        return;
    }
    carve(&work, scratch, stage, out->rows);
    if (!converts(stage)) {
        stage->filter->floats(stage, in, out, work.own);
        return;
    }
    struct gf_rows rows;
    const struct gf_stage inner = inner_stage(stage);
    gf_stage_input_rows(stage, out->y, out->y + out->rows, &rows.first, &rows.end);
    const struct gf_view from = gf_view_make(work.in, gf_row_bytes(inner.in), inner.in, rows);
    const struct gf_view to = work.out ? gf_view_make(work.out, gf_row_bytes(inner.out), inner.out,
                                                      (struct gf_rows){out->y, out->y + out->rows})
                                       : *out;
    for (int y = rows.first; y < rows.end; y++)
        convert_row(stage, gf_view_row(in, y), gf_samples(stage->in), gf_view_row(&from, y));
    (takes_halves(stage) ? stage->filter->cpu : stage->filter->floats)(&inner, &from, &to,
                                                                       work.own);
    for (int y = out->y; y < out->y + out->rows; y++)
        convert_back(stage, gf_view_row(&to, y), gf_samples(stage->out), gf_view_row(out, y));
}
