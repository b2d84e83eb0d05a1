/* Pictures that are compared: where they come from, and how far apart two of them are. */
#include <math.h>
#include <stdlib.h>

#include "bench/compare.h"
#include "chain/chain.h"
#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"

/* ---- differences ---- */

static int row_difference8(const unsigned char *a, const unsigned char *b, size_t count)
{
    unsigned char worst = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        worst = d > worst ? d : worst;
    }
    return worst;
}

static int row_difference16(const uint16_t *a, const uint16_t *b, size_t count)
{
    uint16_t worst = 0;
    for (size_t i = 0; i < count; i++) {
        const uint16_t d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        worst = d > worst ? d : worst;
    }
    return worst;
}

int gf_compare_images(const struct gf_image *a, const struct gf_image *b)
{
    const size_t samples = (size_t)a->format.width * (size_t)a->format.channels;
    int worst = 0;
    for (int y = 0; y < a->format.height; y++) {
        const unsigned char *const p = a->data + (size_t)y * a->pitch, *const q =
                                                                           b->data +
                                                                           (size_t)y * b->pitch;
        const int d = a->format.bits == 8
                          ? row_difference8(p, q, samples)
                          : row_difference16((const void *)p, (const void *)q, samples);
        worst = d > worst ? d : worst;
    }
    return worst;
}

/* The lowest and the highest level that are there, as a histogram of two levels would say it. */
static void keep_extremes(const uint64_t *count, int bins, int extreme[2])
{
    extreme[0] = extreme[1] = -1;
    for (int i = 0; i < bins; i++) {
        if (!count[i])
            continue;
        extreme[0] = extreme[0] < 0 ? i : extreme[0];
        extreme[1] = i;
    }
}

double gf_compare_histograms(const struct gf_histogram *a, const struct gf_histogram *b,
                             bool extremes_only)
{
    double worst = 0;
    for (int c = 0; c < a->channels; c++) {
        const uint64_t *const p = a->count + (size_t)c * (size_t)a->bins;
        const uint64_t *const q = b->count + (size_t)c * (size_t)a->bins;
        int x[2], y[2];
        keep_extremes(p, a->bins, x);
        keep_extremes(q, a->bins, y);
        for (int i = 0; extremes_only && i < 2; i++)
            worst = fmax(worst, abs(x[i] - y[i]));
        for (int i = 0; !extremes_only && i < a->bins; i++)
            worst = fmax(worst, p[i] > q[i] ? (double)(p[i] - q[i]) : (double)(q[i] - p[i]));
    }
    return worst;
}

/* ---- reading one ---- */

static enum gf_status read_rows(struct gf_source *source, struct gf_image *picture,
                                struct gf_error *error)
{
    enum gf_status status = gf_image_alloc(picture, source->format, error);
    if (!status)
        status = source->read(source, picture->format.height, picture->data, picture->pitch, error);
    if (!status && source->finish)
        status = source->finish(source, error);
    return status;
}

/* The stages see the picture upright, as they would in a run. */
static enum gf_status turn_upright(struct gf_image *picture, int orientation,
                                   struct gf_error *error)
{
    const struct gf_chain nothing = {0};
    struct gf_plan plan;
    struct gf_image upright = {0};
    struct gf_timing times;
    enum gf_status status = gf_plan_make(&nothing, picture->format, orientation, &plan, error);
    if (!status && plan.stage_count) {
        const struct gf_compare_case what = {.stage = &plan.stage[0], .in = picture};
        status = gf_image_alloc(&upright, plan.out, error);
        if (!status)
            status = gf_compare_cpu_time(&what, false, 1, 0, &upright, NULL, &times, error);
        gf_image_free(picture);
        *picture = upright;
    }
    gf_plan_free(&plan);
    return status;
}

enum gf_status gf_compare_read(const char *path, const struct gf_options *options,
                               struct gf_image *picture, struct gf_error *error)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    enum gf_status status = gf_input_open(path, false, &input, error);
    if (!status)
        status = gf_source_open(input, options, &source, error);
    if (!status)
        status = read_rows(source, picture, error);
    if (!status && options->autorotate)
        status = turn_upright(picture, source->metadata.orientation, error);
    if (source)
        source->close(source);
    if (input)
        gf_input_close(input);
    return status;
}
