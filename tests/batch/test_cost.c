/* The choice of `auto` against what was measured on real machines: it must be right where the
 * difference is large. */
#include "batch/workers/workers.h"
#include "base/cpu.h"
#include "support.h"
#include "chain/chain.h"
#include "temp_folder.h"

static double filter_ns(const char *text, struct gf_format format)
{
    struct gf_error error = {0};
    struct gf_chain chain;
    struct gf_plan plan;
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text, gf_plan_make(&chain, format, 1, &plan, &error), &error);
    const double ns =
        gf_cost_filter_ns(&plan, NULL, false) / ((double)format.width * format.height);
    gf_plan_free(&plan);
    gf_chain_free(&chain);
    return ns;
}

static enum gf_device_kind decide(const char *chain, struct gf_format format, size_t files,
                                  double decode_ns, double encode_ns, int processors)
{
    char reason[160];
    const struct gf_cost_work work = {.files = files,
                                      .pixels = (double)format.width * format.height,
                                      .filter_ns = filter_ns(chain, format),
                                      .codec = {decode_ns, encode_ns},
                                      .cuda_codec = {decode_ns, encode_ns},
                                      .cuda_ns = 0.15,
                                      .processors = processors};
    const enum gf_device_kind kind = gf_cost_decide(&work, reason, sizeof reason);
    assert_non_null(strstr(reason, "done sooner"));
    return kind;
}

static const struct gf_format frame = {.width = 7680, .height = 4320, .channels = 3, .bits = 8};
static const struct gf_format hd = {.width = 1920, .height = 1080, .channels = 3, .bits = 8};

/* One thread with AVX-512 took so many nanoseconds a pixel. */
static void test_filters(void **state)
{
    static const struct {
        const char *chain;
        double ns;
    } measured[] = {{"blur=2", 1.35},      {"blur=5", 2.25},    {"blur=20", 10.2},
                    {"boxblur=50", 1.55},  {"median=1", 0.43},  {"median=5", 20},
                    {"median=10", 20},     {"bilateral=2", 75}, {"equalize", 1.18},
                    {"saturation=2", 8.5}, {"transpose", 1.29}, {"resize=50%:50%", 3.3},
                    {"invert", 0.78},      {"sobel", 0.84},     {"bilateral=6", 365}};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const double ns = filter_ns(measured[i].chain, frame);
        if (ns > 2.2 * measured[i].ns || ns < measured[i].ns / 2.2)
            fail_msg("%s: %.2f ns, measured %.2f", measured[i].chain, ns, measured[i].ns);
    }
    const struct gf_format gray = {.width = 1920, .height = 1080, .channels = 1, .bits = 8};
    assert_true(filter_ns("blur", gray) < filter_ns("blur", hd) / 2);
}

static void test_one_picture(void **state)
{
    /* 8K PNM, 16 processors: 0.09 s on the CPU, 0.33 s on the GPU. */
    assert_int_equal(decide("blur=2,equalize", frame, 1, 0.5, 1, 16), GF_DEVICE_CPU);
    assert_int_equal(decide("blur=2", hd, 1, 5, 4.2, 2), GF_DEVICE_CPU);
    assert_int_equal(
        decide("blur=2", (struct gf_format){16, 16, 3, 8, GF_SAMPLES_INTEGER}, 1, 5, 4.2, 1),
        GF_DEVICE_CPU);
    /* A bilateral filter of that size takes the CPU a second and more. */
    assert_int_equal(decide("bilateral=2.5", frame, 1, 0.5, 1, 2), GF_DEVICE_CUDA);
    assert_int_equal(decide("bilateral=10", frame, 1, 0.5, 1, 16), GF_DEVICE_CUDA);
}

static void test_many_pictures(void **state)
{
    assert_int_equal(decide("blur=2,equalize", hd, 10, 5, 4.2, 16), GF_DEVICE_CPU);
    assert_int_equal(decide("blur=2,equalize", hd, 100000, 5, 4.2, 2), GF_DEVICE_CUDA);
    /* More of the same never goes back to the CPU. */
    enum gf_device_kind before = GF_DEVICE_CPU;
    for (size_t files = 1; files < 1000000; files *= 2) {
        const enum gf_device_kind kind = decide("blur=2,saturation=1.2", hd, files, 5, 4.2, 8);
        assert_true(kind == GF_DEVICE_CUDA || before == GF_DEVICE_CPU);
        before = kind;
    }
    assert_int_equal(before, GF_DEVICE_CUDA);
}

/* JPEGs of 1080p on 16 processors: 2,000 take 4 s without a GPU, 3 s with one and the CPU's codec,
 * and less than 0.6 s with its own. */
static void test_device_codec(void **state)
{
    struct gf_cost_work work = {.pixels = 1920 * 1080,
                                .filter_ns = filter_ns("blur=2,equalize", hd),
                                .codec = {5, 4.2},
                                .cuda_codec = {5, 4.2},
                                .cuda_ns = 0.15,
                                .processors = 16};
    char reason[160];
    work.files = 200;
    assert_int_equal(gf_cost_decide(&work, reason, sizeof reason), GF_DEVICE_CPU);
    const double plain_s = gf_cost_cuda_s(&work);
    work.cuda_codec = (struct gf_cost_codec){.decode_ns = 0.12, .encode_ns = 0.12};
    work.cuda_ns = 0.05;
    assert_true(gf_cost_cuda_s(&work) < plain_s);
    work.files = 1;
    assert_int_equal(gf_cost_decide(&work, reason, sizeof reason), GF_DEVICE_CPU);
    work.files = 2000;
    assert_int_equal(gf_cost_decide(&work, reason, sizeof reason), GF_DEVICE_CUDA);
    assert_true(gf_cost_cuda_s(&work) < 0.7);
}

static struct gf_cost_work jpegs(size_t files, const struct gf_figures *figures)
{
    return (struct gf_cost_work){.files = files,
                                 .pixels = 1920 * 1080,
                                 .filter_ns = filter_ns("blur=2,equalize", hd),
                                 .codec = {.decode_ns = 5, .encode_ns = 4.2},
                                 .cuda_codec = {.decode_ns = 0.12, .encode_ns = 0.12},
                                 .cuda_ns = 0.12,
                                 .device_codec = true,
                                 .processors = 16,
                                 .figures = figures};
}

/* The least number of pictures that go to the GPU. */
static size_t turning_point(const struct gf_figures *figures, bool server)
{
    char reason[160];
    for (size_t files = 1; files < 100000; files++) {
        struct gf_cost_work work = jpegs(files, figures);
        work.server = server ? GF_COST_SERVER_WORKS : GF_COST_NO_SERVER;
        if (gf_cost_decide(&work, reason, sizeof reason) == GF_DEVICE_CUDA)
            return files;
    }
    return 0;
}

/* A machine whose GPU starts sooner uses it for fewer pictures; a slower one for more. */
static void test_figures(void **state)
{
    struct gf_figures quick = {0}, slow = {0};
    char reason[160];
    assert_true(gf_figure_calibrate(&quick, GF_FIGURE_CUDA_START, 50));
    assert_true(gf_figure_calibrate(&slow, GF_FIGURE_CUDA_START, 2000));
    const size_t declared = turning_point(NULL, false);
    assert_true(declared > 50 && declared < 400);
    assert_true(turning_point(&quick, false) < declared / 2);
    assert_true(turning_point(&slow, false) > 4 * declared);
    const struct gf_cost_work work = jpegs(1000, &quick);
    (void)gf_cost_decide(&work, reason, sizeof reason);
    assert_non_null(strstr(reason, "by figures calibrated here"));
}

/* A server has started the GPU: few pictures are enough. */
static void test_server(void **state)
{
    assert_true(turning_point(NULL, true) < turning_point(NULL, false) / 10);
    struct gf_cost_work work = jpegs(1, NULL);
    const double alone_s = gf_cost_cuda_s(&work);
    work.server = GF_COST_SERVER_BESIDE;
    const double beside_s = gf_cost_cuda_s(&work);
    assert_true(beside_s < alone_s);
    work.server = GF_COST_SERVER_WORKS;
    assert_true(gf_cost_cuda_s(&work) < beside_s);
    const double more_s =
        (gf_figure(NULL, GF_FIGURE_CUDA_START) + gf_figure(NULL, GF_FIGURE_CUDA_END)) * 1e-3;
    assert_true(gf_cost_cuda_s(&work) < alone_s - 0.95 * more_s);
}

static bool is_near(double a, double b, double most)
{
    return fabs(a - b) <= most;
}

/* What one thread does alone bounds a picture that many share, and does not matter where each has
 * pictures of its own. */
static void test_shared(void **state)
{
    struct gf_cost_work work = {.files = 1,
                                .pixels = 1e7,
                                .filter_ns = 10,
                                .codec = {.decode_ns = 5, .encode_ns = 5, .alone_ns = 2},
                                .processors = 10};
    const double fixed_s =
                     (gf_figure(NULL, GF_FIGURE_PROCESS) + gf_figure(NULL, GF_FIGURE_FILE)) * 1e-3,
                 threads_s = gf_figure(NULL, GF_FIGURE_THREADS) * 1e-3,
                 speed = 10 * gf_figure(NULL, GF_FIGURE_SHARE);
    assert_true(gf_cost_shares(&work));
    assert_true(is_near(gf_cost_cpu_s(&work), fixed_s + threads_s + 0.02 + 0.2 / speed, 1e-6));
    work.in_turn = true;
    assert_true(is_near(
        gf_cost_cpu_s(&work),
        fixed_s + threads_s + 0.02 + 0.2 / speed + 1e-2 * gf_figure(NULL, GF_FIGURE_WHOLE), 1e-6));
    work.in_turn = false;
    work.files = 30; /* three turns */
    assert_false(gf_cost_shares(&work));
    assert_true(is_near(gf_cost_cpu_s(&work), fixed_s + 30 * 0.2 / speed, 5e-3));
    work.files = 31; /* four */
    assert_true(gf_cost_cpu_s(&work) > 0.2 * 39 / speed);
    work.files = 12; /* one each, then two threads each for the others */
    assert_true(is_near(gf_cost_cpu_s(&work), fixed_s + 15 * 0.2 / speed, 5e-3));
    work.processors = 1;
    work.files = 1;
    assert_true(is_near(gf_cost_cpu_s(&work), fixed_s + 0.2, 1e-6));
}

static void test_one_thread_each(void **state)
{
    assert_false(gf_cost_one_thread_each(1, 1)); /* reading and writing have threads of their own */
    assert_true(gf_cost_one_thread_each(16, 16));
    assert_false(gf_cost_one_thread_each(17, 16)); /* 15 would wait for the last */
    assert_true(gf_cost_one_thread_each(24, 16));
    assert_true(gf_cost_one_thread_each(1000, 16));
    assert_true(gf_cost_one_thread_each(5, 1));
}

/* Pictures that take long keep a GPU busy by their number: a few take as long as many, and more
 * than are on their way at once take turns. */
static void test_slow_files(void **state)
{
    const double way_s = 1e-3 * gf_figure(NULL, GF_FIGURE_CUDA_GROUP);
    struct gf_cost_work work = {.pixels = 1e4, .device_codec = true, .processors = 16};
    double before_s = 0;
    for (size_t files = 2; files <= 2560; files *= 2) {
        work.files = files;
        work.slow_files = false;
        const double fast_s = gf_cost_cuda_s(&work);
        work.slow_files = true;
        work.slow_share = 1;
        const double slow_s = gf_cost_cuda_s(&work);
        assert_true(slow_s > fast_s && slow_s >= way_s && slow_s >= before_s);
        if (files <= GF_BATCH_SLOW_WORKERS)
            assert_true(slow_s - fast_s <= way_s);
        work.slow_share = .2; /* the others do not wait for these */
        assert_true(gf_cost_cuda_s(&work) <= slow_s);
        before_s = slow_s;
    }
}

static int workers_for(size_t pictures, bool slow, double pixels)
{
    const struct gf_template output = {.text = (char *)"out.png"};
    const struct gf_batch_request request = {.output = &output};
    const struct gf_batch_devices devices = {
        .count = 1,
        .here = 1,
        .choice = {.device_codec = true, .slow_files = slow, .pixels = pixels}};
    struct gf_options options = gf_options_default();
    struct gf_memory_budget budget;
    const int workers = gf_batch_divide_work(&request, &devices, pictures, &options, &budget);
    gf_memory_budget_close(&budget);
    return workers;
}

/* The start of more workers is worth it for many pictures alone. */
static void test_workers(void **state)
{
    assert_int_equal(workers_for(5, false, 0), 5);
    assert_true(workers_for(4000, false, 0) >= workers_for(150, false, 0));
    if (gf_cpu_count() < GF_BATCH_CODEC_WORKERS)
        assert_int_equal(workers_for(150, false, 2e6), GF_BATCH_CODEC_WORKERS);
    if (gf_cpu_count() < GF_BATCH_MANY_WORKERS)
        assert_int_equal(workers_for(4000, false, 2e6), GF_BATCH_MANY_WORKERS);
    /* If a few pictures take as long as many, all that may have room are on their way at once. */
    assert_int_equal(workers_for(200, true, 2e6), 200);
    if (gf_cpu_count() < GF_BATCH_CODEC_WORKERS) {
        assert_int_equal(workers_for(150, true, 100e6), GF_BATCH_CODEC_WORKERS);
        assert_in_range(workers_for(300, true, 8e6), GF_BATCH_CODEC_WORKERS + 1, 200);
        assert_int_equal(workers_for(300, true, 1e6), GF_BATCH_SLOW_WORKERS);
        assert_in_range(workers_for(4000, true, 2e6), GF_BATCH_SLOW_WORKERS + 1,
                        GF_BATCH_MANY_SLOW_WORKERS - 1);
        assert_int_equal(workers_for(4000, true, 1e6), GF_BATCH_MANY_SLOW_WORKERS);
    }
}

struct lines {
    char text[4000];
    int count;
};

static void add_line(void *context, const char *text)
{
    struct lines *const lines = context;
    assert_true(strlen(text) < 400);
    assert_true(strlen(lines->text) + strlen(text) + 2 < sizeof lines->text);
    strcat(strcat(lines->text, text), "\n");
    lines->count++;
}

static void test_text(void **state)
{
    struct gf_figures figures = {0};
    struct lines lines = {0}, cpu = {0};
    struct gf_cost_work work = jpegs(1, &figures);
    work.uses[GF_FIGURE_JPEG_DECODE] = work.uses[GF_FIGURE_CUDA_DECODE] = true;
    assert_true(gf_figure_calibrate(&figures, GF_FIGURE_CUDA_START, 156));
    gf_cost_describe(&work, true, add_line, &lines);
    assert_int_equal(lines.count, 3);
    assert_non_null(strstr(lines.text, "estimate: CPU 0."));
    assert_non_null(strstr(lines.text, " s, GPU 0."));
    assert_non_null(strstr(lines.text, "\ndeclared: process 14 ms, file 0.15 ms, "));
    assert_non_null(strstr(lines.text, "cuda-jpeg-decode 0.06 ns/pixel"));
    assert_non_null(strstr(lines.text, "\ncalibrated: cuda-start 156 ms\n"));
    gf_cost_describe(&work, false, add_line, &cpu);
    assert_null(strstr(cpu.text, "GPU"));
    assert_null(strstr(cpu.text, "cuda-"));
    /* Everything at once is cut into lines. */
    memset(work.uses, true, sizeof work.uses);
    lines = (struct lines){0};
    for (int i = 0; i < gf_figure_count(); i++)
        assert_true(gf_figure_calibrate(&figures, i, gf_figure(NULL, i)));
    gf_cost_describe(&work, true, add_line, &lines);
    assert_true(lines.count > 3);
    assert_non_null(strstr(lines.text, "gpu.invert"));
}

/* The first pictures of an archive stand for all that are expected. */
static void test_members(void **state)
{
    enum { WIDTH = 64, HEIGHT = 48 };
    static unsigned char file[32 + 3 * WIDTH * HEIGHT];
    const int header = sprintf((char *)file, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    struct gf_input_name name[2];
    for (int i = 0; i < 2; i++)
        name[i] = (struct gf_input_name){.path = (char *)"none.tar/a.ppm",
                                         .data = file,
                                         .size = (size_t)header + 3 * WIDTH * HEIGHT};
    const struct gf_inputs inputs = {.item = name, .count = 2};
    const struct gf_template output = {.text = (char *)"out.tar"};
    const struct gf_batch_request request = {.chain = "blur",
                                             .options = gf_options_default(),
                                             .inputs = &inputs,
                                             .expected = 5000,
                                             .output = &output};
    struct gf_cost_work work;
    assert_true(gf_cost_look(&request, GF_COST_NO_SERVER, &work));
    assert_int_equal(work.files, 5000);
    assert_true(work.pixels == WIDTH * HEIGHT);
    assert_true(work.filter_ns > 0);
}

/* A machine's figure scales all radii of a filter alike: the declaration has to say how they grow.
 */
static void test_radii(void **state)
{
    static const struct {
        const char *small, *large;
        double times; /* by one thread, measured */
    } measured[] = {{"bilateral=2", "bilateral=3", 1.75},
                    {"bilateral=2", "bilateral=5", 4.25},
                    {"bilateral=3", "bilateral=10", 8.8},
                    {"median=5", "median=10", 1.1}};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const double times =
            filter_ns(measured[i].large, frame) / filter_ns(measured[i].small, frame);
        if (times > 1.15 * measured[i].times || times < measured[i].times / 1.15)
            fail_msg("%s: %.2f times %s, measured %.2f", measured[i].large, times,
                     measured[i].small, measured[i].times);
    }
}

/* Writes a square picture. */
static void make_picture(const char *name)
{
    enum { SIDE = 700 };
    struct gf_error error = {0};
    static unsigned char pixels[3 * SIDE * SIDE];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * i >> 9);
    struct gf_image image = {.format = {.width = SIDE, .height = SIDE, .channels = 3, .bits = 8},
                             .pitch = 3 * SIDE,
                             .data = pixels};
    write_ppm(in_folder("a.ppm"), &image, sizeof pixels);
    struct gf_pipeline *pipeline = NULL;
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    assert_ok("open", gf_pipeline_open("", &options, &pipeline, &error), &error);
    assert_ok("run", gf_pipeline_run_file(pipeline, in_folder("a.ppm"), in_folder(name), &error),
              &error);
    gf_pipeline_close(pipeline);
}

/* The GPU decodes a picture at a fraction of its size, too, and the CPU does less than it would by
 * itself. */
static void test_reduced(void **state)
{
    static const char *const chains[] = {"thumbnail=100:load=full", "thumbnail=100"};
    struct gf_cost_work work[2];
    make_picture("a.jpg");
    struct gf_input_name name = {.path = (char *)in_folder("a.jpg")};
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    const struct gf_template output = {.text = (char *)"out.png"};
    for (int i = 0; i < 2; i++) {
        const struct gf_batch_request request = {.chain = chains[i],
                                                 .options = gf_options_default(),
                                                 .inputs = &inputs,
                                                 .output = &output};
        assert_true(gf_cost_look(&request, GF_COST_NO_SERVER, &work[i]));
        assert_true(work[i].device_codec);
        assert_true(work[i].uses[GF_FIGURE_CUDA_DECODE]);
        assert_false(work[i].uses[GF_FIGURE_CUDA_UPLOAD]);
        assert_true(work[i].cuda_codec.decode_ns < work[i].codec.decode_ns);
    }
    assert_true(work[1].cuda_ns < work[0].cuda_ns);
    assert_true(work[1].codec.decode_ns < work[0].codec.decode_ns);
    assert_true(work[1].cuda_codec.decode_ns == work[0].cuda_codec.decode_ns);
}

/* A single PNG whose stripes are marked is the CPU's, unless the GPU is awake. */
static void test_marked_png(void **state)
{
    make_picture("a.png");
    struct gf_input_name name = {.path = (char *)in_folder("a.png")};
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    const struct gf_template output = {.text = (char *)"out.png"};
    const struct gf_batch_request request = {
        .chain = "sobel", .options = gf_options_default(), .inputs = &inputs, .output = &output};
    struct gf_cost_work work;
    assert_true(gf_cost_look(&request, GF_COST_NO_SERVER, &work));
    assert_false(work.device_unpacks);
    assert_false(work.uses[GF_FIGURE_CUDA_PNG_DECODE]);
    assert_true(work.uses[GF_FIGURE_CUDA_UPLOAD]);
    const double read_ns = work.cuda_codec.decode_ns;
    assert_true(gf_cost_look(&request, GF_COST_SERVER_WORKS, &work));
    assert_true(work.device_unpacks);
    assert_true(work.uses[GF_FIGURE_CUDA_PNG_DECODE]);
    assert_false(work.uses[GF_FIGURE_CUDA_UPLOAD]);
    assert_true(work.cuda_codec.decode_ns < read_ns);
}

/* Of several outputs the decoding counts once, where they take the same fraction of the size. */
static void test_several_outputs(void **state)
{
    static unsigned char file[] = "P6\n2 2\n255\n012345678901";
    struct gf_input_name name = {.path = (char *)"a.ppm", .data = file, .size = sizeof file - 1};
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    const struct gf_template output = {.text = (char *)"out.ppm"};
    const struct gf_batch_output more = {"blur", gf_options_default(), &output};
    struct gf_batch_request request = {.chain = "blur",
                                       .options = gf_options_default(),
                                       .inputs = &inputs,
                                       .output = &output,
                                       .more = &more};
    struct gf_cost_work one, two;
    assert_true(gf_cost_look(&request, GF_COST_NO_SERVER, &one));
    request.more_outputs = 1;
    assert_true(gf_cost_look(&request, GF_COST_NO_SERVER, &two));
    assert_int_equal(two.files, 1);
    assert_true(two.pixels == one.pixels);
    assert_true(two.codec.decode_ns == one.codec.decode_ns);
    assert_true(two.codec.encode_ns == 2 * one.codec.encode_ns);
    assert_true(two.filter_ns == 2 * one.filter_ns);
}

/* What a server does is done by the CPU should the server fail, where a GPU would have to be
 * started for it. */
static void test_without_the_server(void **state)
{
    static unsigned char file[32 + 3 * 1000 * 1000];
    const int header = sprintf((char *)file, "P6\n1000 1000\n255\n");
    struct gf_input_name name = {
        .path = (char *)"a.ppm", .data = file, .size = (size_t)header + 3 * 1000 * 1000};
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    const struct gf_template output = {.text = (char *)"out.ppm"};
    struct gf_batch_request request = {.chain = "bilateral=8",
                                       .options = gf_options_default(),
                                       .inputs = &inputs,
                                       .output = &output};
    char reason[160];
    request.options.threads = 16;
    struct gf_cost_choice choice =
        gf_cost_choose(&request, GF_COST_SERVER_WORKS, reason, sizeof reason);
    assert_int_equal(choice.device, GF_DEVICE_CUDA);
    assert_true(choice.cpu_alone);
    request.options.threads = 1;
    choice = gf_cost_choose(&request, GF_COST_SERVER_WORKS, reason, sizeof reason);
    assert_int_equal(choice.device, GF_DEVICE_CUDA);
    assert_false(choice.cpu_alone);
}

/* Returns the bytes of a JPEG of 1080p, which the caller frees with gf_free(). */
static void *make_jpeg(bool progressive, size_t *bytes)
{
    struct gf_options options = gf_options_default();
    struct gf_image image = {0};
    struct gf_error error = {0};
    struct gf_pipeline *pipeline = NULL;
    void *jpeg = NULL;
    options.device = GF_DEVICE_CPU;
    options.progressive = progressive;
    assert_ok("picture", gf_image_alloc(&image, hd, &error), &error);
    assert_ok("open", gf_pipeline_open("addnoise=0.1", &options, &pipeline, &error), &error);
    assert_ok("encode", gf_pipeline_encode(pipeline, &image, GF_FILE_JPEG, &jpeg, bytes, &error),
              &error);
    gf_pipeline_close(pipeline);
    gf_image_free(&image);
    return jpeg;
}

/* Decoding and encoding are work of a GPU, too: many JPEGs that become JPEGs are done there, and
 * pictures of which it decodes and encodes none are not. */
static void test_nothing_to_filter(void **state)
{
    size_t bytes;
    void *const jpeg = make_jpeg(false, &bytes);
    struct gf_options options = gf_options_default();
    options.threads = 16;
    struct gf_input_name name[2] = {{.path = (char *)"a.jpg", .data = jpeg, .size = bytes},
                                    {.path = (char *)"b.jpg", .data = jpeg, .size = bytes}};
    const struct gf_inputs inputs = {.item = name, .count = 2};
    const struct gf_template output = {.text = (char *)"out/{stem}.jpg", .is_pattern = true};
    struct gf_batch_request request = {
        .chain = "", .options = options, .inputs = &inputs, .expected = 64000, .output = &output};
    char reason[160];
    assert_int_equal(gf_cost_choose(&request, GF_COST_SERVER_BESIDE, reason, sizeof reason).device,
                     GF_DEVICE_CUDA);
    request.expected = 4;
    assert_int_equal(gf_cost_choose(&request, GF_COST_SERVER_BESIDE, reason, sizeof reason).device,
                     GF_DEVICE_CPU);
    /* A single one goes to a server, whose GPU is awake, and to no GPU that starts for it. */
    request.expected = 1;
    assert_int_equal(gf_cost_choose(&request, GF_COST_SERVER_WORKS, reason, sizeof reason).device,
                     GF_DEVICE_CUDA);
    assert_int_equal(gf_cost_choose(&request, GF_COST_SERVER_BESIDE, reason, sizeof reason).device,
                     GF_DEVICE_CPU);
    request.expected = 64000;
    request.options.codec = GF_CODEC_CPU;
    assert_int_equal(gf_cost_choose(&request, GF_COST_SERVER_BESIDE, reason, sizeof reason).device,
                     GF_DEVICE_CPU);
    assert_non_null(strstr(reason, "it should be done sooner"));
    gf_free(jpeg);
}

static const struct gf_template jpegs_out = {.text = (char *)"out/{stem}.jpg", .is_pattern = true};

/* Before the first picture the estimate says which lists pay for a second GPU, and which for a
 * third one later. On two H200s 16,000 JPEGs of 1080p took longer than on one. */
static void test_which_lists_pay_for_more(void **state)
{
    static const struct {
        const char *chain;
        size_t files;
        bool progressive, webp;
        int processors;
        bool second, third;
    } lists[] = {{"thumbnail=256", 64000, false, false, 32, true, false},
                 {"thumbnail=256", 64000, false, false, 16, false, false}, /* these are busy */
                 {"thumbnail=256", 16000, false, false, 32, false, false},
                 {"blur=2,equalize", 64000, false, false, 32, true, true},
                 {"blur=2,equalize", 16000, false, false, 32, false, false},
                 {"", 64000, false, false, 32, true, true},
                 {"", 16000, false, false, 32, false, false},
                 {"", 64000, false, true, 32, false, false}, /* the processors encode */
                 {"nlmeans", 2000, false, false, 32, true, false},
                 {"nlmeans", 500, false, false, 32, false, false},
                 {"bilateral=4", 8700, false, false, 32, true, false},
                 {"thumbnail=256", 10000, true, false, 32, true, false},
                 {"thumbnail=256", 1000, true, false, 32, false, false}};
    size_t bytes[2];
    void *const jpeg[2] = {make_jpeg(false, &bytes[0]), make_jpeg(true, &bytes[1])};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const int kind = lists[i].progressive;
        struct gf_input_name name = {
            .path = (char *)"a.jpg", .data = jpeg[kind], .size = bytes[kind]};
        const struct gf_inputs inputs = {.item = &name, .count = 1};
        struct gf_batch_request request = {.chain = lists[i].chain,
                                           .options = gf_options_default(),
                                           .inputs = &inputs,
                                           .expected = lists[i].files,
                                           .output = &jpegs_out};
        struct gf_cost_work work;
        request.options.threads = lists[i].processors;
        request.options.format = lists[i].webp ? GF_FILE_WEBP : GF_FILE_AUTO;
        assert_true(gf_cost_look(&request, GF_COST_NO_SERVER, &work));
        const struct gf_batch_pace pace = gf_cost_pace(&work);
        const bool second = gf_batch_device_pays(&pace, 1, lists[i].files, true, NULL),
                   third = gf_batch_device_pays(&pace, 2, lists[i].files, false, NULL);
        if (second != lists[i].second || third != lists[i].third)
            fail_msg("%s, %zu files, %d processors: %d %d, %.0f/s, busy %.2f", lists[i].chain,
                     lists[i].files, lists[i].processors, second, third, pace.inputs_a_second,
                     pace.busy);
    }
    gf_free(jpeg[0]);
    gf_free(jpeg[1]);
}

/* Slow files are reckoned as those decode them that the workers let decode them: the CPU, unless
 * they are most of a batch or the batch is long. */
static void test_who_decodes_slow_files(void **state)
{
    enum { FILES = 4 };
    size_t bytes[2];
    void *const jpeg[2] = {make_jpeg(false, &bytes[0]), make_jpeg(true, &bytes[1])};
    double before_ns = 0;
    for (int turn = 0; turn <= 2 * FILES; turn++) {
        const bool is_long = turn > FILES;
        const int slow = is_long ? turn - FILES : turn;
        struct gf_input_name name[FILES];
        for (int i = 0; i < FILES; i++)
            name[i] = (struct gf_input_name){
                .path = (char *)"a.jpg", .data = jpeg[i < slow], .size = bytes[i < slow]};
        const struct gf_inputs inputs = {.item = name, .count = FILES};
        const struct gf_batch_request request = {.chain = "blur",
                                                 .options = gf_options_default(),
                                                 .inputs = &inputs,
                                                 .expected = is_long ? 4000 : 1000,
                                                 .output = &jpegs_out};
        struct gf_cost_work work;
        assert_true(gf_cost_look(&request, GF_COST_NO_SERVER, &work));
        assert_true(is_near(work.slow_share, (double)slow / FILES, 1e-9));
        const bool gpu = gf_cost_takes_slow(false, work.slow_files);
        assert_int_equal(gpu, is_long || 2 * slow > FILES);
        const double cpu_ns = gf_figure(NULL, GF_FIGURE_CUDA_FILE);
        if (gpu || !slow)
            assert_true(is_near(work.cuda_codec.decode_ns, cpu_ns, 1e-9));
        else
            assert_true(work.cuda_codec.decode_ns > before_ns + 1);
        before_ns = work.cuda_codec.decode_ns;
    }
    assert_true(gf_cost_takes_slow(true, false));
    gf_free(jpeg[0]);
    gf_free(jpeg[1]);
}

/* A long list of files that a GPU decodes gets more queues; of TIFFs their first pages tell. */
static void test_queues(void **state)
{
    static const char *const variable = "CUDA_DEVICE_MAX_CONNECTIONS";
    static struct gf_input_name name[GF_BATCH_MANY_PICTURES];
    const struct gf_template output = {.text = (char *)"out/{stem}.ppm", .is_pattern = true};
    struct gf_image image = {0};
    struct gf_error error = {0};
    assert_ok("picture", gf_image_alloc(&image, hd, &error), &error);
    for (int tiled = 0; tiled < 2; tiled++) {
        struct gf_options options = gf_options_default();
        struct gf_pipeline *pipeline = NULL;
        size_t bytes;
        void *tiff = NULL;
        options.device = GF_DEVICE_CPU;
        options.tiff_compression = tiled ? GF_TIFF_JPEG : GF_TIFF_NONE;
        options.tile_size = 256;
        assert_ok("open", gf_pipeline_open("", &options, &pipeline, &error), &error);
        const enum gf_status status =
            gf_pipeline_encode(pipeline, &image, GF_FILE_TIFF, &tiff, &bytes, &error);
        gf_pipeline_close(pipeline);
        if (status == GF_ERROR_UNAVAILABLE)
            break;
        assert_ok("encode", status, &error);
        for (int i = 0; i < GF_BATCH_MANY_PICTURES; i++)
            name[i] = (struct gf_input_name){.path = (char *)"a.tif", .data = tiff, .size = bytes};
        const struct gf_inputs inputs = {.item = name, .count = GF_BATCH_MANY_PICTURES};
        options.device = GF_DEVICE_CUDA;
        const struct gf_batch_request request = {
            .chain = "blur", .options = options, .inputs = &inputs, .output = &output};
        (void)unsetenv(variable);
        gf_batch_choose_queues(&request);
        assert_string_equal(getenv(variable), tiled ? "8" : "2");
        gf_free(tiff);
    }
    (void)unsetenv(variable);
    gf_image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_several_outputs),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_one_picture),
        cmocka_unit_test(test_many_pictures),
        cmocka_unit_test(test_device_codec),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_one_thread_each),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_without_the_server),
        cmocka_unit_test(test_slow_files),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_radii),
        cmocka_unit_test(test_marked_png),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_nothing_to_filter),
        cmocka_unit_test(test_which_lists_pay_for_more),
        cmocka_unit_test(test_who_decodes_slow_files),
    };
    return cmocka_run_group_tests_name("cost", tests, make_folder, remove_folder);
}
