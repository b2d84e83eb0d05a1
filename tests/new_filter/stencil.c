/* NAME: each sample is mixed with the mean of its neighbourhood. */
#include <string.h>

#include "pixel/stencil.h"
#include "stage/border.h"

enum { RADIUS = 1, ROWS = 2 * RADIUS + 1 };

struct NAME {
    double strength;
    int border;
};

/* The filter's own formula. row[RADIUS][0] is the sample, row[0][-step] that above it to the left,
 * and so on up to row[2 RADIUS][RADIUS step]. Samples are 0..255, or 0..65535. */
static float formula(const struct NAME *NAME, const float *const row[ROWS], int step)
{
    float sum = 0;
    for (int y = 0; y < ROWS; y++) {
        for (int x = -RADIUS; x <= RADIUS; x++)
            sum += row[y][x * step];
    }
    const float v = row[RADIUS][0];
    return v + (float)NAME->strength * (sum / (ROWS * ROWS) - v);
}

static int radius(const void *params_)
{
    return RADIUS;
}

/* A row of zeros, for a constant border; rows of floats with RADIUS pixels on either side; a row of
 * results. With a carver that has no base this adds up their size. */
struct scratch {
    unsigned char *zeros;
    float *row[ROWS], *result;
};

static struct scratch carve(struct gf_carver *carver, struct gf_format format)
{
    const size_t sides = 2 * RADIUS * (size_t)format.channels;
    struct scratch scratch;
    scratch.zeros = gf_carve(carver, gf_row_bytes(format));
    for (int i = 0; i < ROWS; i++)
        scratch.row[i] = gf_carve(carver, (gf_samples(format) + sides) * sizeof(float));
    scratch.result = gf_carve(carver, gf_samples(format) * sizeof(float));
    return scratch;
}

static size_t scratch_bytes(const struct gf_stage *stage, int rows)
{
    struct gf_carver carver = {0};
    carve(&carver, stage->in);
    return carver.used;
}

/* A row of the result from the rows around it. */
static void make_row(const struct NAME *NAME, struct gf_format format, struct scratch *scratch,
                     const unsigned char *const rows[ROWS], unsigned char *result)
{
    const int channels = format.channels;
    const size_t pixel_bytes = (size_t)channels * sizeof(float);
    const float *row[ROWS];
    for (int i = 0; i < ROWS; i++) {
        float *const first = scratch->row[i] + RADIUS * channels;
        gf_samples_to_floats(rows[i], format.bits, gf_samples(format), first);
        gf_stencil_pad(first, format.width, RADIUS, pixel_bytes, NAME->border);
        row[i] = first;
    }
    for (size_t i = 0; i < gf_samples(format); i++) {
        scratch->result[i] = formula(NAME, row, channels);
        for (int k = 0; k < ROWS; k++)
            row[k]++;
    }
    gf_floats_to_samples(scratch->result, format.bits, gf_samples(format), result);
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *memory)
{
    const struct NAME *const NAME = stage->params;
    struct gf_carver carver = {memory, 0};
    struct scratch scratch = carve(&carver, in->format);
    memset(scratch.zeros, 0, gf_row_bytes(in->format));
    for (int y = out->y; y < out->y + out->rows; y++) {
        const unsigned char *rows[ROWS];
        unsigned char *const result = gf_view_row(out, y);
        gf_stencil_rows(in, y - RADIUS, ROWS, NAME->border, scratch.zeros, rows);
        make_row(NAME, in->format, &scratch, rows, result);
        if (gf_has_alpha(in->format))
            gf_keep_alpha(rows[RADIUS], result, in->format, gf_row_bytes(in->format));
    }
}

const struct gf_filter gf_NAME_filter = {
    .name = "NAME",
    .summary = "each sample mixed with the mean of its neighbourhood",
    .definition = "v + strength (m - v), m the mean of the 3x3 samples around v. Alpha is kept.",
    GF_TAKES(struct NAME,
             GF_PARAM(struct NAME, strength, 0.5, 0, 1, "how much of the mean there is: 1 is all"),
             GF_PARAM_BORDER(struct NAME)),
    .kind = GF_STENCIL,
    .cost = {.pixel = 20},
    .radius = radius,
    .cpu_scratch = scratch_bytes,
    .cpu = cpu,
};
