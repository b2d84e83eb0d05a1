/* What the scheduler takes a filter's word for: the rows it needs suffice, their ends move forward
 * with the band's unless it says that it must see the whole picture, its scratch is as large as it
 * says, and it writes its rows and nothing else. */
#include "chain/plan.h"
#include "support.h"
#include "pixel/histogram/histogram.h"
#include "pixel/point/point.h"
#include "chain/chain.h"

static const struct gf_format formats[] = {
    {.width = 9, .height = 41, .channels = 3, .bits = 8},
    {.width = 40, .height = 13, .channels = 1, .bits = 16},
    {.width = 17, .height = 24, .channels = 4, .bits = 8},
    {.width = 1, .height = 30, .channels = 2, .bits = 16},
    {.width = 12, .height = 1, .channels = 3, .bits = 16},
};

static const char *const more_chains[] = {
    "blur=4",
    "blur=9:wrap",
    "boxblur=7",
    "boxblur=5:reflect",
    "median=3",
    "resize=w=250%:h=250%",
    "resize=w=20%:h=20%:kernel=area",
    "resize=w=100%:h=130%:kernel=nearest",
    "crop=w=50%:h=20%:x=50%:y=80%",
    "convolve=1|2|3|2|1",
    "convolve=1 2 3 4 5:border=wrap",
    "unsharp=3:2:0.1:reflect",
    "bilateral=3:0.4:wrap",
    "gamma=2,invert,saturation=0.5",
    "invert,blur=2,gamma=2",
    "contrast=0.5,sobel=border=reflect",
    "convolve=1 2 1:border=wrap,invert",
};

/* ---- arithmetic ---- */

static void check_range(const char *chain, const struct gf_stage *stage, int y0, int y1, int *first,
                        int *end)
{
    gf_stage_input_rows(stage, y0, y1, first, end);
    if (*first < 0 || *first >= *end || *end > stage->in.height)
        fail_msg("%s: %s needs rows %d..%d of %d for %d..%d", chain, stage->filter->name, *first,
                 *end, stage->in.height, y0, y1);
}

static void check_monotone(const char *chain, const struct gf_stage *stage)
{
    const int height = stage->out.height;
    for (int rows = 1; rows <= height; rows += rows < 5 ? 1 : 11) {
        int before_first = 0, before_end = 0;
        for (int y0 = 0; y0 < height; y0++) {
            int first, end, wider_first, wider_end;
            const int y1 = y0 + rows < height ? y0 + rows : height;
            check_range(chain, stage, y0, y1, &first, &end);
            check_range(chain, stage, y0, height, &wider_first, &wider_end);
            if (wider_first > first || wider_end < end)
                fail_msg("%s: %s needs rows %d..%d for %d..%d, yet only %d..%d for more", chain,
                         stage->filter->name, first, end, y0, y1, wider_first, wider_end);
            if (!gf_stage_needs_whole(stage) && (first < before_first || end < before_end))
                fail_msg(
                    "%s: %s goes back to rows %d..%d for %d..%d but does not say that it is whole",
                    chain, stage->filter->name, first, end, y0, y1);
            before_first = first;
            before_end = end;
        }
    }
}

/* ---- what cpu() reads and writes ---- */

/* Memory of exactly that size, so that a sanitizer sees what lies beyond, with guards for a build
 * without. */
struct buffer {
    unsigned char *block, *data;
    size_t bytes;
};

static struct buffer buffer_new(size_t bytes)
{
    const size_t whole = (bytes + 2 * GUARD_BYTES + 63) / 64 * 64;
    struct buffer buffer = {.block = aligned_alloc(64, whole), .bytes = bytes};
    assert_non_null(buffer.block);
    memset(buffer.block, GUARD_BYTE, whole);
    buffer.data = buffer.block + GUARD_BYTES;
    return buffer;
}

static bool buffer_free(struct buffer *buffer)
{
    bool intact = true;
    for (size_t i = 0; i < GUARD_BYTES; i++)
        intact &= buffer->block[i] == GUARD_BYTE && buffer->data[buffer->bytes + i] == GUARD_BYTE;
    free(buffer->block);
    return intact;
}

static struct gf_view view_of(const struct gf_image *image)
{
    return (struct gf_view){.data = image->data,
                            .pitch = image->pitch,
                            .format = image->format,
                            .rows = image->format.height};
}

/* Rows y0..y1-1 from just the rows that the stage asks for; pitches that no row's size suggests. */
static void check_band(const char *chain, const struct gf_stage *stage,
                       const struct gf_image *input, const struct gf_image *expected, int y0,
                       int y1)
{
    int first, end;
    check_range(chain, stage, y0, y1, &first, &end);
    const size_t row_bytes = gf_row_bytes(stage->in),
                 pitch = row_bytes + 3 * (size_t)(stage->in.bits / 8);
    struct buffer rows = buffer_new(pitch * (size_t)(end - first));
    for (int y = first; y < end; y++)
        memcpy(rows.data + (size_t)(y - first) * pitch, input->data + (size_t)y * input->pitch,
               row_bytes);
    struct gf_format band = stage->out;
    band.height = y1 - y0;
    struct gf_image part = picture_new(band, (size_t)(stage->out.bits / 8));
    const size_t scratch_bytes =
        stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, y1 - y0) : 0;
    struct buffer scratch = buffer_new(scratch_bytes);
    const struct gf_view in = {
        .data = rows.data, .pitch = pitch, .format = stage->in, .y = first, .rows = end - first};
    const struct gf_view out = {
        .data = part.data, .pitch = part.pitch, .format = stage->out, .y = y0, .rows = y1 - y0};
    stage->filter->cpu(stage, &in, &out, scratch.data);
    if (!buffer_free(&scratch))
        fail_msg("%s: %s writes beyond its scratch of %zu bytes for %d rows", chain,
                 stage->filter->name, scratch_bytes, y1 - y0);
    if (!buffer_free(&rows))
        fail_msg("%s: %s writes beyond its input", chain, stage->filter->name);
    char label[300];
    snprintf(label, sizeof label, "%s: %s, rows %d..%d", chain, stage->filter->name, y0, y1);
    const struct gf_image same_rows = {.format = band,
                                       .pitch = expected->pitch,
                                       .data = expected->data + (size_t)y0 * expected->pitch};
    assert_same(label, &part, &same_rows);
    picture_free(&part);
}

static struct gf_image run_whole(const struct gf_stage *stage, const struct gf_image *input)
{
    const struct gf_image output = picture_new(stage->out, 0);
    const struct gf_view in = view_of(input), out = view_of(&output);
    struct buffer scratch = buffer_new(
        stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, stage->out.height) : 0);
    stage->filter->cpu(stage, &in, &out, scratch.data);
    assert_true(buffer_free(&scratch));
    return output;
}

static enum gf_statistic statistic_of(const struct gf_stage *stage)
{
    const struct gf_filter *filter = stage->filter;
    const void *params = stage->params;
    if (filter == &gf_point) {
        const struct gf_point_list *const points = params;
        filter = points->item[0].filter;
        params = points->item[0].params;
    }
    return filter->statistic ? filter->statistic(params) : GF_STATISTIC_NONE;
}

/* Prepares the stage for that input, runs it whole and in bands; returns the whole. */
static struct gf_image check_stage(const char *chain, struct gf_stage *stage,
                                   const struct gf_image *input)
{
    struct gf_histogram histogram = {0};
    struct gf_error error = {0};
    const enum gf_statistic statistic = statistic_of(stage);
    if (statistic) {
        const struct gf_view view = view_of(input);
        histogram.channels = gf_statistic_channels(statistic, stage->in);
        histogram.bins = 1 << stage->in.bits;
        histogram.count = calloc((size_t)histogram.channels << stage->in.bits, sizeof(uint64_t));
        assert_non_null(histogram.count);
        gf_histogram_add(&view, statistic, &histogram);
        stage->histogram = &histogram;
    }
    check_monotone(chain, stage);
    assert_ok(chain, gf_stage_prepare(stage, &error), &error);
    const struct gf_image whole = run_whole(stage, input);
    for (int rows = 1; rows < stage->out.height; rows = rows * 2 + 1) {
        for (int y = 0; y < stage->out.height; y += rows)
            check_band(chain, stage, input, &whole, y,
                       y + rows < stage->out.height ? y + rows : stage->out.height);
    }
    stage->histogram = NULL;
    free(histogram.count);
    return whole;
}

static void check_chain(const char *text, void *context)
{
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        struct gf_chain chain;
        struct gf_plan plan;
        struct gf_error error = {0};
        assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
        if (gf_plan_make(&chain, formats[f], 1, &plan, &error) == GF_OK) {
            struct gf_image picture = picture_random(formats[f], 0, f);
            for (int i = 0; i < plan.stage_count; i++) {
                const struct gf_image next = check_stage(text, &plan.stage[i], &picture);
                picture_free(&picture);
                picture = next;
            }
            picture_free(&picture);
            gf_plan_free(&plan);
        }
        gf_chain_free(&chain);
    }
}

static void test_every_filter(void **state)
{
    each_filter_chain(check_chain, NULL);
}

static void test_more_parameters(void **state)
{
    for (size_t i = 0; i < sizeof more_chains / sizeof *more_chains; i++)
        check_chain(more_chains[i], NULL);
}

/* Of every stencil, or of those that it becomes: only a border that wraps reaches the opposite
 * edge. */
static void check_wrap(const char *text, void *context)
{
    struct gf_chain chain;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    const struct gf_filter *const filter = chain.item[0].filter;
    if (filter->kind == GF_STENCIL && strstr(text, "border=")) {
        const bool wraps = strstr(text, "border=wrap") != NULL;
        struct gf_plan plan;
        bool whole = false;
        assert_ok(text, gf_plan_make(&chain, formats[0], 1, &plan, &error), &error);
        for (int i = 0; i < plan.stage_count; i++)
            whole |= gf_stage_needs_whole(&plan.stage[i]);
        gf_plan_free(&plan);
        if (whole != wraps)
            fail_msg("%s: it %s the whole input", text, wraps ? "does not need" : "needs");
    }
    gf_chain_free(&chain);
}

static void test_wrap_is_whole(void **state)
{
    each_filter_chain(check_wrap, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_filter),
        cmocka_unit_test(test_more_parameters),
        cmocka_unit_test(test_wrap_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
