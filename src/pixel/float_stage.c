#include "pixel/float_stage.h"

#include "base/image.h"
#include "pixel/float_rows.h"
#include "pixel/stencil.h"

static bool runs_floats(const struct gf_stage *stage)
{
    return gf_is_float(stage->in) && stage->filter->floats;
}

static struct gf_format widened(struct gf_format format)
{
    format.bits = gf_is_float(format) ? 32 : format.bits;
    return format;
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

/* Memory for the rows of a stage of halves as floats. */
struct work {
    float *in, *out;
    void *own; /* the filter's */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage, int rows)
{
    struct gf_carver carver = {.base = base};
    const struct gf_filter *const filter = stage->filter;
    *work = (struct work){.in = NULL};
    if (stage->in.bits == 16)
        work->in = gf_carve(&carver, gf_row_bytes(widened(stage->in)) *
                                         (size_t)input_rows_most(stage, rows));
    if (stage->in.bits == 16)
        work->out = gf_carve(&carver, gf_row_bytes(widened(stage->out)) * (size_t)rows);
    work->own = gf_carve(&carver, 0);
    struct gf_stage wide = *stage;
    wide.in = widened(stage->in);
    wide.out = widened(stage->out);
    if (filter->floats_scratch)
        gf_carve(&carver, filter->floats_scratch(&wide, rows));
    return carver.used;
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
    if (stage->in.bits == 32) {
        stage->filter->floats(stage, in, out, work.own);
        return;
    }
    struct gf_rows rows;
    struct gf_stage wide = *stage;
    wide.in = widened(stage->in);
    wide.out = widened(stage->out);
    gf_stage_input_rows(stage, out->y, out->y + out->rows, &rows.first, &rows.end);
    const struct gf_view from =
        gf_view_make((unsigned char *)work.in, gf_row_bytes(wide.in), wide.in, rows);
    const struct gf_view to = gf_view_make((unsigned char *)work.out, gf_row_bytes(wide.out),
                                           wide.out, (struct gf_rows){out->y, out->y + out->rows});
    for (int y = rows.first; y < rows.end; y++)
        gf_floats_of_row(gf_view_row(in, y), stage->in, gf_samples(stage->in),
                         (float *)gf_view_row(&from, y));
    stage->filter->floats(&wide, &from, &to, work.own);
    for (int y = out->y; y < out->y + out->rows; y++)
        gf_floats_to_row((const float *)gf_view_row(&to, y), stage->out, gf_samples(stage->out),
                         gf_view_row(out, y));
}
