/* Pyramids: all levels are made in one pass, cut to tiles, and put in one order by any number of
 * threads. */
#include "support.h"

#include <math.h>

#include "codec/common/pyramid/pyramid.h"
#include "pixel/float_rows.h"
#include "pixel/resample/halve.h"

static struct gf_error failure;

/* A store that lays the tiles back into the levels. encode() copies pixels. */
struct collector {
    struct gf_tile_store base;
    struct gf_pyramid pyramid;
    struct gf_image level[GF_PYRAMID_LEVELS_MAX];
    uint64_t order; /* a hash of the order of tiles */
    long long count;
    int fails_at; /* the tile that encode() refuses; -1: none */
    bool finished;
    int *closed;
};

static uint64_t mixed(uint64_t hash, int value)
{
    return (hash ^ (uint64_t)value) * UINT64_C(0x100000001b3);
}

static enum gf_status collector_encode(struct gf_tile_store *store, int worker,
                                       const struct gf_tile *tile, struct gf_coded *coded,
                                       struct gf_error *error)
{
    const struct collector *const collector = (const struct collector *)store;
    const size_t row = gf_row_bytes(tile->format);
    assert_in_range(worker, 0, 7);
    if (tile->level == 0 && tile->column == collector->fails_at)
        return gf_fail(error, GF_ERROR_OUTPUT, "no room");
    coded->size = row * (size_t)tile->format.height;
    const enum gf_status status = gf_coded_room(coded, coded->size, error);
    for (int y = 0; y < tile->format.height && !status; y++)
        memcpy(coded->data + (size_t)y * row, tile->pixels + (size_t)y * tile->pitch, row);
    return status;
}

static enum gf_status collector_put(struct gf_tile_store *store, const struct gf_tile *tile,
                                    const struct gf_coded *coded, struct gf_error *error)
{
    struct collector *const collector = (struct collector *)store;
    struct gf_image *const level = &collector->level[tile->level];
    const size_t row = gf_row_bytes(tile->format), pixel = row / (size_t)tile->format.width;
    const struct gf_tile planned =
        gf_pyramid_tile(&collector->pyramid, tile->level, tile->column, tile->row);
    (void)error;
    assert_int_equal(planned.x, tile->x);
    assert_int_equal(planned.y, tile->y);
    collector->count++;
    collector->order = mixed(mixed(mixed(collector->order, tile->level), tile->column), tile->row);
    for (int y = 0; y < tile->format.height; y++)
        memcpy(level->data + (size_t)(tile->y + y) * level->pitch + (size_t)tile->x * pixel,
               coded->data + (size_t)y * row, row);
    return GF_OK;
}

static enum gf_status collector_finish(struct gf_tile_store *store, struct gf_error *error)
{
    (void)error;
    ((struct collector *)store)->finished = true;
    return GF_OK;
}

static void collector_close(struct gf_tile_store *store)
{
    ++*((struct collector *)store)->closed;
}

static struct gf_pyramid plan_of(struct gf_format format, int tile, int overlap,
                                 enum gf_shrink shrink, enum gf_pyramid_end end)
{
    struct gf_pyramid pyramid = {.format = format,
                                 .tile_width = tile,
                                 .tile_height = tile,
                                 .overlap = overlap,
                                 .shrink = shrink};
    gf_pyramid_plan(&pyramid, end);
    return pyramid;
}

/* Makes the pyramid of a picture, whose rows are written `at_once` at a time. */
static enum gf_status collect(struct collector *collector, const struct gf_pyramid *pyramid,
                              const struct gf_image *image, int threads, int at_once, int fails_at)
{
    int closed = 0;
    struct gf_sink *sink;
    *collector = (struct collector){.base = {.encode = collector_encode,
                                             .put = collector_put,
                                             .finish = collector_finish,
                                             .close = collector_close},
                                    .pyramid = *pyramid,
                                    .fails_at = fails_at,
                                    .closed = &closed};
    for (int i = 0; i < pyramid->levels; i++) {
        struct gf_format format = pyramid->format;
        format.width = pyramid->level[i].width;
        format.height = pyramid->level[i].height;
        collector->level[i] = picture_new(format, 0);
    }
    enum gf_status status =
        gf_pyramid_sink_open(pyramid, threads, &collector->base, &sink, &failure);
    assert_int_equal(status, GF_OK);
    for (int y = 0; y < image->format.height && !status; y += at_once) {
        const int left = image->format.height - y;
        status = sink->write(sink, left < at_once ? left : at_once,
                             image->data + (size_t)y * image->pitch, image->pitch, &failure);
    }
    if (!status)
        status = sink->finish(sink, &failure);
    sink->close(sink);
    assert_int_equal(closed, 1);
    return status;
}

static void collector_free(struct collector *collector)
{
    for (int i = 0; i < collector->pyramid.levels; i++)
        picture_free(&collector->level[i]);
}

static int sample(const struct gf_image *image, int x, int y, int c)
{
    const struct gf_format format = image->format;
    x = x < format.width ? x : format.width - 1;
    y = y < format.height ? y : format.height - 1;
    const unsigned char *const row = image->data + (size_t)y * image->pitch;
    const int i = x * format.channels + c;
    return format.bits == 8 ? row[i] : ((const uint16_t *)(const void *)row)[i];
}

/* The definition, pixel by pixel. */
static int shrunk(const struct gf_image *image, int x, int y, int c)
{
    const struct gf_format format = image->format;
    const int last = format.channels - 1, scale = format.bits == 8 ? 257 : 1;
    const float max = (float)(65535 / scale);
    int v[4], alpha[4];
    for (int i = 0; i < 4; i++) {
        v[i] = sample(image, 2 * x + i % 2, 2 * y + i / 2, c);
        alpha[i] = sample(image, 2 * x + i % 2, 2 * y + i / 2, last);
    }
    if (format.channels % 2)
        return (v[0] + v[1] + v[2] + v[3] + 2) / 4;
    const int sum =
        (alpha[0] * scale + alpha[1] * scale + alpha[2] * scale + alpha[3] * scale + 2) / 4;
    if (c == last)
        return (int)((float)sum / (float)scale + 0.5f);
    int mean = 2;
    for (int i = 0; i < 4; i++)
        mean += (int)((float)v[i] * (float)scale * (float)alpha[i] / max + 0.5f);
    const float straight = sum ? (float)(mean / 4) * max / (float)sum : 0;
    return (int)((straight < max ? straight : max) + 0.5f);
}

static void check_levels(const struct collector *collector, const struct gf_image *image)
{
    for (int i = 0; i < collector->pyramid.levels; i++) {
        const struct gf_image *const level = &collector->level[i];
        assert_true(guards_intact(level));
        for (int y = 0; y < level->format.height; y++)
            for (int x = 0; x < level->format.width; x++)
                for (int c = 0; c < level->format.channels; c++) {
                    const int expected =
                        i ? shrunk(&collector->level[i - 1], x, y, c) : sample(image, x, y, c);
                    if (sample(level, x, y, c) != expected)
                        fail_msg("%dx%d, %d channels, %d bits: level %d, %d %d: %d, not %d",
                                 image->format.width, image->format.height, level->format.channels,
                                 level->format.bits, i, x, y, sample(level, x, y, c), expected);
                }
    }
}

static struct gf_image noise(struct gf_format format, uint64_t seed)
{
    struct gf_image image = picture_new(format, 0);
    for (size_t i = 0; i < picture_bytes(&image); i++)
        image.data[i] = (unsigned char)random_next(&seed);
    return image;
}

/* The hash of the order that gf_pyramid_order() tells. */
static uint64_t order_of(const struct gf_pyramid *pyramid)
{
    uint64_t order = 0;
    int count;
    struct gf_tile_row *const rows = gf_pyramid_order(pyramid, &count);
    assert_non_null(rows);
    for (int i = 0; i < count; i++)
        for (int column = 0; column < pyramid->level[rows[i].level].columns; column++)
            order = mixed(mixed(mixed(order, rows[i].level), column), rows[i].row);
    free(rows);
    return order;
}

static void levels_are_means(void **state)
{
    static const int sizes[][4] = {/* width, height, tile, overlap */
                                   {1, 1, 16, 0},    {2, 3, 16, 1},     {301, 5, 64, 1},
                                   {5, 301, 64, 0},  {257, 255, 64, 1}, {128, 128, 16, 3},
                                   {97, 133, 31, 0}, {65, 66, 64, 1},   {130, 67, 33, 32}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int bits = 8; bits <= 16; bits += 8) {
                struct gf_image image =
                    noise(format_of(sizes[i][0], sizes[i][1], channels, bits), i);
                const struct gf_pyramid pyramid =
                    plan_of(image.format, sizes[i][2], sizes[i][3], GF_SHRINK_AREA,
                            i % 2 ? GF_PYRAMID_TO_PIXEL : GF_PYRAMID_TO_TILE);
                struct collector one, many;
                assert_int_equal(collect(&one, &pyramid, &image, 1, 1, -1), GF_OK);
                assert_int_equal(collect(&many, &pyramid, &image, 8, 50, -1), GF_OK);
                assert_true(one.finished);
                assert_int_equal(one.count, gf_pyramid_tiles(&pyramid));
                assert_int_equal(many.count, one.count);
                assert_true(one.order == many.order);
                assert_true(one.order == order_of(&pyramid));
                check_levels(&one, &image);
                check_levels(&many, &image);
                collector_free(&one);
                collector_free(&many);
                picture_free(&image);
            }
}

static void plans_end_where_they_should(void **state)
{

    struct gf_pyramid pyramid =
        plan_of(format_of(257, 255, 3, 8), 64, 1, GF_SHRINK_AREA, GF_PYRAMID_TO_PIXEL);
    assert_int_equal(pyramid.levels, 10);
    assert_int_equal(pyramid.level[1].width, 129);
    assert_int_equal(pyramid.level[1].height, 128);
    assert_int_equal(pyramid.level[1].columns, 3);
    assert_int_equal(pyramid.level[1].rows, 2);
    assert_int_equal(pyramid.level[9].width, 1);
    pyramid = plan_of(format_of(257, 255, 3, 8), 64, 0, GF_SHRINK_AREA, GF_PYRAMID_TO_TILE);
    assert_int_equal(pyramid.levels, 4);
    assert_int_equal(pyramid.level[3].width, 33);
    pyramid =
        plan_of(format_of(1 << 24, 1 << 24, 4, 16), 1, 0, GF_SHRINK_AREA, GF_PYRAMID_TO_PIXEL);
    assert_int_equal(pyramid.levels, GF_PYRAMID_LEVELS_MAX);
    const struct gf_tile tile = gf_pyramid_tile(&pyramid, 0, (1 << 24) - 1, 3);
    assert_int_equal(tile.x, (1 << 24) - 1);
    assert_int_equal(tile.format.width, 1);
}

/* Each level is what the filter resize makes of the one before. */
static void check_filter(struct gf_format format, enum gf_shrink shrink, const char *kernel)
{
    struct gf_image image = noise(format, 7);
    const struct gf_pyramid pyramid = plan_of(format, 64, 1, shrink, GF_PYRAMID_TO_PIXEL);
    struct collector collector;
    assert_int_equal(collect(&collector, &pyramid, &image, 3, 17, -1), GF_OK);
    for (int i = 1; i < pyramid.levels; i++) {
        char chain[80];
        struct gf_pipeline *pipeline;
        struct gf_options options = gf_options_default();
        struct gf_image result = {0};
        options.device = GF_DEVICE_CPU;
        snprintf(chain, sizeof chain, "resize=%d:%d:kernel=%s", pyramid.level[i].width,
                 pyramid.level[i].height, kernel);
        assert_int_equal(gf_pipeline_open(chain, &options, &pipeline, &failure), GF_OK);
        assert_int_equal(
            gf_pipeline_run_image(pipeline, &collector.level[i - 1], &result, &failure), GF_OK);
        for (int y = 0; y < result.format.height; y++)
            if (memcmp(result.data + (size_t)y * result.pitch,
                       collector.level[i].data + (size_t)y * collector.level[i].pitch,
                       gf_row_bytes(result.format)) != 0)
                fail_msg("%s of %d channels, %d bits: level %d differs in row %d", kernel,
                         format.channels, format.bits, i, y);
        gf_image_free(&result);
        gf_pipeline_close(pipeline);
    }
    collector_free(&collector);
    picture_free(&image);
}

static void levels_are_those_of_resize(void **state)
{

    for (int channels = 1; channels <= 4; channels++)
        for (int bits = 8; bits <= 16; bits += 8) {
            check_filter(format_of(128, 256, channels, bits), GF_SHRINK_AREA, "area");
            check_filter(format_of(157, 201, channels, bits), GF_SHRINK_LANCZOS3, "lanczos3");
        }
}

/* Returns sample c of the result's pixel x by double precision. */
static double mean_of(int width, int channels, const float *a, const float *b, int x, int c)
{
    double sum = 0, alphas = 0;
    const int last = channels - 1;
    for (int i = 0; i < 4; i++) {
        const int column = 2 * x + i % 2 < width ? 2 * x + i % 2 : width - 1;
        const float *const p = (i < 2 ? a : b) + (ptrdiff_t)column * channels;
        const double alpha = channels % 2 || c == last ? 1 : (double)p[last];
        sum += (double)p[c] * alpha;
        alphas += alpha;
    }
    return alphas > 0 ? sum / alphas : 0;
}

static void floats_are_means(void **state)
{
    enum { WIDTH = 613, MOST = 4 * WIDTH };
    float a[MOST], b[MOST], made[MOST];
    uint16_t low[2][MOST], made_low[MOST];
    uint64_t seed = 3;
    for (int channels = 1; channels <= 4; channels++) {
        const struct gf_format single = {WIDTH, 2, channels, 32, GF_SAMPLES_FLOAT},
                               half = {WIDTH, 2, channels, 16, GF_SAMPLES_FLOAT};
        const size_t count = (size_t)WIDTH * (size_t)channels;
        for (size_t i = 0; i < count; i++) {
            const bool alpha = channels % 2 == 0 && i % (size_t)channels == (size_t)channels - 1;
            a[i] = (float)random_below(&seed, 1000) / 500 - (alpha ? 0 : 1);
            b[i] = (float)random_below(&seed, 1000) / 500 - (alpha ? 0 : 1);
        }
        gf_floats_to_row(a, half, count, low[0]);
        gf_floats_to_row(b, half, count, low[1]);
        gf_floats_of_row(low[0], half, count, a);
        gf_floats_of_row(low[1], half, count, b);
        gf_halve_rows(single, a, b, made);
        const size_t halved = (size_t)gf_halved(WIDTH) * (size_t)channels;
        for (size_t i = 0; i < halved; i++) {
            const int x = (int)i / channels, c = (int)i % channels;
            const double right = mean_of(WIDTH, channels, a, b, x, c);
            assert_true(fabs((double)made[i] - right) <= 1e-6);
        }
        gf_halve_rows(half, low[0], low[1], made_low);
        uint16_t rounded[MOST];
        gf_floats_to_row(made, half, halved, rounded);
        assert_memory_equal(made_low, rounded, halved * sizeof *rounded);
        a[0] = NAN;
        gf_halve_rows(single, a, b, made);
        assert_true(isnan(made[0]) && !isnan(made[channels]));
    }
}

static void a_failure_ends_the_pyramid(void **state)
{
    struct gf_image image = noise(format_of(300, 200, 3, 8), 1);
    const struct gf_pyramid pyramid =
        plan_of(image.format, 16, 0, GF_SHRINK_AREA, GF_PYRAMID_TO_PIXEL);
    struct collector collector;

    for (int threads = 1; threads <= 4; threads += 3) {
        assert_int_equal(collect(&collector, &pyramid, &image, threads, 32, 9), GF_ERROR_OUTPUT);
        assert_string_equal(failure.text, "no room");
        assert_false(collector.finished);
        collector_free(&collector);
    }
    picture_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_means),           cmocka_unit_test(plans_end_where_they_should),
        cmocka_unit_test(levels_are_those_of_resize), cmocka_unit_test(floats_are_means),
        cmocka_unit_test(a_failure_ends_the_pyramid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
