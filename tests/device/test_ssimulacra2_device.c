/* SSIMULACRA2 and SSIM on a GPU: pictures of every size, depth and number of channels have the
 * CPU's values to the last bit, also where memory is scarce. Skipped where there is no GPU. With
 * GF_TEST_SMALL fewer sizes are tried: for an emulated device. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include "bench/likeness.h"
#include "bench/score.h"
#include "cuda/measure/coders.h"
#include "engine/device_score.h"
#include "temp_folder.h"

enum {
    FITS = 1 << 30,
    MEASURES = (2 << GF_MEASURE_SSIMULACRA2) - 1 /* what a device finds */
};

/* Widths and heights around the tiles of 32, 246 and 256 columns, batches of rows, the blur's ends,
 * and the least sides of SSIM and MS-SSIM; the last ones are for real devices. */
static const int sides[][2] = {
    {10, 11},  {11, 11}, {175, 30}, {176, 180}, {271, 177}, {8, 8},      {9, 8},      {8, 19},
    {13, 12},  {15, 16}, {16, 15},  {17, 33},   {28, 27},   {31, 32},    {33, 31},    {36, 10},
    {37, 64},  {64, 65}, {65, 37},  {92, 11},   {97, 71},   {131, 50},   {255, 9},    {257, 14},
    {260, 33}, {513, 8}, {8, 300},  {301, 207}, {640, 480}, {1023, 769}, {1920, 1080}};
enum { SIZES = sizeof sides / sizeof *sides, SMALL_SIZES = SIZES - 4 };

/* A pair of pictures with padding of two widths between their rows. */
struct pair {
    struct gf_image a, b;
};

static struct pair make_pair(struct gf_format format, uint64_t seed)
{
    const struct pair pair = {picture_random(format, 0, seed), picture_random(format, 6, seed)};
    const int most = (1 << format.bits) - 1;
    for (int i = 0; i < format.width * format.height * format.channels; i++) {
        const int x = i / format.channels % format.width, c = i % format.channels,
                  y = i / format.channels / format.width;
        const int v = sample_at(&pair.b, x, y, c) + random_below(&seed, most / 9) - most / 20;
        sample_set(&pair.b, x, y, c, v < 0 ? 0 : v > most ? most : v);
    }
    return pair;
}

static void free_pair(struct pair *pair)
{
    picture_free(&pair->a);
    picture_free(&pair->b);
}

static struct gf_measure_picture wanted_of(const struct gf_image *a, const struct gf_image *b,
                                           unsigned wanted)
{
    return (struct gf_measure_picture){.original = a, .changed = b, .wanted = wanted};
}

/* Compares with the CPU's measures, to the last bit. */
static void expect_likeness(const struct pair *pair, unsigned measures,
                            const struct gf_likeness *found)
{
    const struct gf_options options = {.device = GF_DEVICE_CPU, .threads = 2};
    const struct gf_format format = pair->a.format;
    struct gf_likeness expected;
    struct gf_error error = {0};
    assert_ok("CPU", gf_likeness_of(&pair->a, &pair->b, measures, &options, &expected, &error),
              &error);
    for (int i = 0; i < GF_MEASURES; i++) {
        if (memcmp(&found->measure[i], &expected.measure[i], sizeof expected.measure[i]) != 0)
            fail_msg("%dx%d, %d channels, %d bits, measure %d: %.17g, not %.17g", format.width,
                     format.height, format.channels, format.bits, i, found->measure[i],
                     expected.measure[i]);
    }
}

/* Compares what was wanted, and what comes of the exact sums. */
static void expect_measures(const struct pair *pair, const struct gf_measure_picture *found)
{
    struct gf_likeness likeness;
    unsigned measures = 0;
    while (gf_likeness_wanted(measures) != found->wanted)
        measures++;
    gf_likeness_set(found, &likeness);
    expect_likeness(pair, measures, &likeness);
}

/* Scores pairs of all sizes in one group. Returns how many the device has measured. */
static int measure_group(int channels, int bits, uint64_t memory)
{
    struct gf_measurer *measurer = NULL;
    struct gf_error error = {0};
    struct pair pairs[SIZES];
    struct gf_measure_picture pictures[SIZES];
    const int count = unless_small(SIZES, SMALL_SIZES);
    int measured = 0;
    for (int i = 0; i < count; i++) {
        pairs[i] = make_pair(format_of(sides[i][0], sides[i][1], channels, bits), (uint64_t)i + 1);
        pictures[i] = wanted_of(&pairs[i].a, &pairs[i].b, GF_SCORE_ALL);
    }
    assert_ok("create", gf_measurer_create(0, memory, &measurer, &error), &error);
    assert_ok("run", gf_measurer_run(measurer, pictures, count, &error), &error);
    gf_measurer_destroy(measurer);
    for (int i = 0; i < count; i++) {
        if (pictures[i].measured)
            expect_measures(&pairs[i], &pictures[i]);
        measured += pictures[i].measured;
        free_pair(&pairs[i]);
    }
    return measured;
}

static void scores_are_the_cpus(void **state)
{
    need_gpu();
    for (int channels = 1; channels <= 4; channels++) {
        for (int bits = 8; bits <= 16; bits += 8)
            assert_int_equal(measure_group(channels, bits, FITS), unless_small(SIZES, SMALL_SIZES));
    }
}

/* 64x65 pixels take 400 KB, and 200 KB if a channel at a time is blurred. */
static void scarce_memory_is_enough_or_left_to_the_cpu(void **state)
{
    need_gpu();
    const int few = measure_group(3, 8, 100000), some = measure_group(3, 8, 300000);
    assert_in_range(few, 1, some - 1);
    assert_in_range(some, few + 1, unless_small(SIZES, SMALL_SIZES) - 1);
}

static void pictures_may_be_in_the_devices_memory(void **state)
{
    need_gpu();
    struct pair pair = make_pair(format_of(97, 71, 3, 8), 5);
    const struct gf_view a = upload(&pair.a), b = upload(&pair.b);
    const struct gf_image there_a = {.format = a.format, .data = a.data, .pitch = a.pitch},
                          there_b = {.format = b.format, .data = b.data, .pitch = b.pitch};
    struct gf_measurer *measurer = NULL;
    struct gf_error error = {0};
    assert_ok("create", gf_measurer_create(0, FITS, &measurer, &error), &error);
    for (unsigned wanted = 0; wanted <= GF_SCORE_ALL; wanted++) {
        struct gf_measure_picture picture = wanted_of(&there_a, &there_b, wanted);
        if (wanted & GF_SCORE_MS_SSIM && !(wanted & GF_SCORE_SSIM))
            continue;
        assert_ok("run", gf_measurer_run(measurer, &picture, 1, &error), &error);
        assert_true(picture.measured);
        expect_measures(&pair, &picture);
    }
    gf_measurer_destroy(measurer);
    cudaFree(a.data);
    cudaFree(b.data);
    free_pair(&pair);
}

/* A grid has fewer rows of blocks than such a picture needs. */
static void pictures_may_be_very_tall(void **state)
{
    need_gpu();
    struct gf_image tall =
        picture_random(format_of(11, unless_small(1 << 20, 1 << 9) + 40, 1, 8), 0, 3);
    struct gf_measure_picture picture = wanted_of(&tall, &tall, GF_SCORE_ALL);
    struct gf_measurer *measurer = NULL;
    struct gf_error error = {0};
    assert_ok("create", gf_measurer_create(0, UINT64_MAX, &measurer, &error), &error);
    assert_ok("run", gf_measurer_run(measurer, &picture, 1, &error), &error);
    if (picture.measured)
        assert_true(picture.score == 100 && picture.ssim == 1);
    gf_measurer_destroy(measurer);
    picture_free(&tall);
}

/* Of a device that is asked for, and with a budget in which no picture fits. */
static void the_chosen_device_scores(void **state)
{
    need_gpu();
    struct pair pair = make_pair(format_of(131, 50, 4, 16), 7);
    struct gf_options options = {.device = GF_DEVICE_CUDA, .threads = 1};
    for (int i = 0; i < 3; i++) {
        struct gf_likeness likeness;
        struct gf_error error = {0};
        options.device_memory_bytes = i == 1 ? 1000 : 0;
        options.device = i == 2 ? GF_DEVICE_AUTO : GF_DEVICE_CUDA;
        assert_ok("measures",
                  gf_likeness_of(&pair.a, &pair.b, MEASURES, &options, &likeness, &error), &error);
        expect_likeness(&pair, MEASURES, &likeness);
    }
    options = (struct gf_options){.device = GF_DEVICE_CUDA, .device_index = 63};
    struct gf_error error = {0};
    struct gf_measure_picture picture = wanted_of(&pair.a, &pair.b, GF_SCORE_ALL);
    assert_int_equal(gf_score_pair(&picture, &options, &error), GF_ERROR_UNAVAILABLE);
    free_pair(&pair);
}

static void write_picture(const struct gf_image *picture, enum gf_file_format format,
                          const char *path)
{
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    void *data;
    size_t size;
    assert_ok("open", gf_pipeline_open("", NULL, &pipeline, &error), &error);
    assert_ok("encode", gf_pipeline_encode(pipeline, picture, format, &data, &size, &error),
              &error);
    save(path, data, size);
    gf_free(data);
    gf_pipeline_close(pipeline);
}

/* Compares two files, on the device first if it is there. Returns whether that has compared. */
static bool compare_files(struct gf_device_pair *pair, const char *const path[2], unsigned measures,
                          struct gf_likeness *likeness)
{
    struct gf_options options = gf_options_default();
    struct gf_reading reading[2] = {{.count = 0}};
    struct gf_error error = {0};
    bool compared = false, found;
    options.device = pair ? GF_DEVICE_CUDA : GF_DEVICE_CPU;
    if (pair && pair->remote)
        options.device = GF_DEVICE_AUTO;
    options.threads = 1;
    for (int i = 0; i < 2; i++)
        assert_ok(path[i], gf_reading_open(path[i], &options, measures, &reading[i], &error),
                  &error);
    if (pair)
        assert_ok("device", gf_likeness_on_device(pair, reading, likeness, &compared, &error),
                  &error);
    for (int i = 0; i < 2 && !compared; i++)
        assert_ok(path[i], gf_reading_next(&reading[i], &found, &error), &error);
    if (!compared)
        assert_ok("CPU", gf_likeness_of_readings(reading, likeness, &error), &error);
    gf_reading_close(&reading[0]);
    gf_reading_close(&reading[1]);
    return compared;
}

/* A server in this process: its worker's pipeline, and how many pairs it has compared. */
struct near {
    struct gf_remote base;
    struct gf_pipeline *pipeline;
    struct gf_memory_budget budget;
    int compared;
};

static enum gf_remote_outcome compare_near(struct gf_remote *remote,
                                           const struct gf_remote_work *work,
                                           struct gf_remote_result *result, enum gf_status *status,
                                           struct gf_error *error)
{
    struct near *const near = (struct near *)remote;
    struct gf_remote_work own = *work;
    own.in = dup(work->in);
    own.out = dup(work->out);
    own.in_name = "in";
    *status = gf_likeness_for_client(near->pipeline, &near->budget, &own, result, error);
    near->compared += !*status;
    return GF_REMOTE_DONE;
}

static void leave_near(struct gf_remote *remote)
{
    (void)remote;
}

static void open_near(struct near *near)
{
    struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    *near = (struct near){.base = {.filter = compare_near, .close = leave_near}};
    options.device = GF_DEVICE_CUDA;
    gf_memory_budget_open(&near->budget, 1 << 30, 1);
    assert_ok("server", gf_pipeline_open(NULL, &options, &near->pipeline, &error), &error);
}

static void close_near(struct near *near)
{
    gf_pipeline_close(near->pipeline);
    gf_memory_budget_close(&near->budget);
    gf_score_rest();
}

/* The coders decode JPEGs and marked PNGs; a BMP is the CPU's, and the memory of a pair before is
 * used again. A server finds the same. */
static void files_are_compared_where_they_are_decoded(void **state)
{
    static const int widths[] = {97, 97, 40, 97};
    enum { USUAL = MEASURES & ~(1 << GF_MEASURE_SSIMULACRA2) };
    need_gpu();
    struct gf_device_pair on_device = {.pipeline = NULL};
    struct near near;
    open_near(&near);
    assert_int_equal(make_folder(state), 0);
    for (int i = 0; i < 4; i++) {
        struct pair pair = make_pair(format_of(widths[i], 71, 3, 8), (uint64_t)i + 2);
        const unsigned measures = i == 1 ? USUAL : MEASURES;
        struct gf_likeness expected, likeness;
        const char *const files[] = {in_folder("a.png"), in_folder(i < 3 ? "b.jpg" : "c.bmp")};
        write_picture(&pair.a, GF_FILE_PNG, files[0]);
        write_picture(&pair.b, i < 3 ? GF_FILE_JPEG : GF_FILE_BMP, files[1]);
        assert_false(compare_files(NULL, files, measures, &expected));
        assert_int_equal(compare_files(&on_device, files, measures, &likeness), i < 3);
        assert_memory_equal(likeness.measure, expected.measure, sizeof likeness.measure);
        struct gf_device_pair by_server = {.remote = &near.base};
        assert_int_equal(compare_files(&by_server, files, measures, &likeness), i < 3);
        assert_int_equal(near.compared, i < 3 ? i + 1 : 3);
        assert_memory_equal(likeness.measure, expected.measure, sizeof likeness.measure);
        gf_device_pair_close(&by_server);
        free_pair(&pair);
    }
    gf_device_pair_close(&on_device);
    close_near(&near);
    assert_int_equal(remove_folder(state), 0);
}

/* Prints the milliseconds of pairs, for whoever compares them. */
static void times_are_printed(void **state)
{
    need_gpu();
    const char *const name[] = {"SSIMULACRA2", "SSIM", "SSIM and MS-SSIM"};
    const unsigned wanted[] = {GF_SCORE_SSIMULACRA2, GF_SCORE_SSIM,
                               GF_SCORE_SSIM | GF_SCORE_MS_SSIM};
    const int large[][2] = {{1920, 1080}, {7680, 4320}};
    for (int i = 0; i < unless_small(2, 0); i++) {
        struct pair pair = make_pair(format_of(large[i][0], large[i][1], 3, 8), 1);
        struct gf_measurer *measurer = NULL;
        struct gf_measure_steps steps;
        struct gf_error error = {0};
        assert_ok("create", gf_measurer_create(0, UINT64_MAX, &measurer, &error), &error);
        gf_measurer_measure(measurer, &steps);
        for (int k = 0; k < 9; k++) {
            struct gf_measure_picture picture = wanted_of(&pair.a, &pair.b, wanted[k / 3]);
            assert_ok("run", gf_measurer_run(measurer, &picture, 1, &error), &error);
            if (k % 3 < 2)
                continue;
            print_message("%dx%d, %s: upload %.3f ms, kernels %.3f ms\n", large[i][0], large[i][1],
                          name[k / 3], (double)steps.upload, (double)steps.measure);
            if (picture.measured)
                expect_measures(&pair, &picture);
        }
        gf_measurer_destroy(measurer);
        free_pair(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_the_cpus),
        cmocka_unit_test(scarce_memory_is_enough_or_left_to_the_cpu),
        cmocka_unit_test(pictures_may_be_in_the_devices_memory),
        cmocka_unit_test(pictures_may_be_very_tall),
        cmocka_unit_test(the_chosen_device_scores),
        cmocka_unit_test(files_are_compared_where_they_are_decoded),
        cmocka_unit_test(times_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
