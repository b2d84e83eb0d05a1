/* raise: light from the upper left. */
#include "filters/raise.h"

#include <string.h>

#include "pixel/stencil.h"
#include "stage/border.h"

struct raise {
    double strength;
    int border;
};

static int radius(const void *params_)
{
    return 1;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct raise *const raise = stage->params;
    *(struct gf_raise *)stage->constants =
        (struct gf_raise){.strength = (float)raise->strength, .border = raise->border};
    return GF_OK;
}

/* A row of zeros, for a constant border, and a row of results. */
static size_t scratch_bytes(const struct gf_stage *stage, int rows)
{
    return gf_samples(stage->in) * (sizeof(float) + 2);
}

static float sample(const unsigned char *row, struct gf_format format, int x, int channel,
                    int border)
{
    const int column = gf_border_index(x, format.width, border);
    const int at = column * format.channels + channel;
    if (column < 0)
        return 0;
    return format.bits == 8 ? row[at] : ((const gf_u16_any *)row)[at];
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    const struct gf_raise *const raise = stage->constants;
    const struct gf_format format = in->format;
    float *const sums = scratch;
    unsigned char *const zeros = (unsigned char *)(sums + gf_samples(format));
    memset(zeros, 0, gf_row_bytes(format));
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *rows[3];
        gf_stencil_rows(in, y - 1, 3, raise->border, zeros, rows);
        for (int x = 0; x < format.width; x++) {
            for (int c = 0; c < format.channels; c++)
                sums[x * format.channels + c] =
                    gf_raise_of(sample(rows[1], format, x, c, raise->border),
                                sample(rows[0], format, x - 1, c, raise->border),
                                sample(rows[2], format, x + 1, c, raise->border), raise->strength);
        }
        gf_floats_to_samples(sums, format.bits, gf_samples(format), gf_view_row(out, y));
        if (gf_has_alpha(format))
            gf_keep_alpha(rows[1], gf_view_row(out, y), format, gf_row_bytes(format));
    }
}

extern gf_launcher gf_raise_cuda;

const struct gf_filter gf_raise_filter = {
    .name = "raise",
    .summary = "relief, lit from the upper left",
    .definition = "v + strength * (the sample below right - the sample above left). Alpha is kept.",
    GF_TAKES(struct raise,
             GF_PARAM(struct raise, strength, 1, 0, 10, "how much of the difference is added"),
             GF_PARAM_BORDER(struct raise)),
    .kind = GF_STENCIL,
    .cost = {.pixel = 20},
    .radius = radius,
    .constants_size = sizeof(struct gf_raise),
    .prepare = prepare,
    .cpu_scratch = scratch_bytes,
    .cpu = cpu,
    .cuda = GF_CUDA({GF_VARIANT("global", gf_raise_cuda, "a thread a sample")}),
};
