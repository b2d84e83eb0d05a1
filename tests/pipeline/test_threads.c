/* A program of its own. Where the system gives no further thread, the work is done by those that
 * there are. */
#include <dlfcn.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/batch.h"
#include "runner.h"
#include "temp_folder.h"

static atomic_int threads_left = -1; /* -1: no limit */
static atomic_int refused;
static atomic_int started;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!create)
        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    if (threads_left >= 0 && atomic_fetch_sub(&threads_left, 1) <= 0) {
        threads_left = 0;
        refused++;
        return EAGAIN;
    }
    started++;
    return create(thread, attributes, start, argument);
}

static void test_engine(void **state)
{
    static const char *const chains[] = {"", "blur", "blur,equalize,transpose", "crop=20:5:1:3"};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct gf_image input = picture_random(format_of(40, 60, 3, 8), 0, i);
        struct gf_image expected = reference(chains[i], &input, 0);
        for (int threads = 0; threads < 4; threads++) {
            struct fake_device device;
            struct way way = {.name = "few threads",
                              .lanes = 3,
                              .band_rows = 4,
                              .streams_in = true,
                              .streams_out = true};
            threads_left = threads;
            assert_way(chains[i], way, &input, &expected);
            fake_open(&device);
            way.device = &device;
            threads_left = threads;
            assert_way(chains[i], way, &input, &expected);
            way.source_fails_at = 30;
            struct gf_error error = {0};
            struct gf_image output;
            fake_open(&device);
            threads_left = threads;
            assert_int_equal(run_way(chains[i], &way, &input, &output, &error), GF_ERROR_INPUT);
            picture_free(&output);
        }
        picture_free(&expected);
        picture_free(&input);
    }
    threads_left = -1;
    assert_true(refused > 0);
}

/* The pictures of a pipeline share its threads; a process that was forked starts its own. */
static void test_kept(void **state)
{
    enum { PICTURES = 5, LIMIT_S = 60 };
    struct gf_image input = picture_random(format_of(300, 200, 3, 8), 0, 7);
    struct gf_image expected = reference("blur,equalize", &input, 0);
    struct gf_image output = picture_random(format_of(300, 200, 3, 8), 0, 8);
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    options.threads = 3;
    assert_ok("open", gf_pipeline_open("blur,equalize", &options, &pipeline, &error), &error);
    started = 0;
    for (int i = 0; i < PICTURES; i++)
        assert_ok("run", gf_pipeline_run_image(pipeline, &input, &output, &error), &error);
    assert_same("kept threads", &output, &expected);
    assert_int_equal(started, 2);
#ifndef __SANITIZE_THREAD__ /* after a fork the thread sanitizer starts no thread */
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(LIMIT_S);
        const bool done = !gf_pipeline_run_image(pipeline, &input, &output, &error);
        gf_pipeline_close(pipeline);
        _exit(done && started == 4 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
#endif
    gf_pipeline_close(pipeline);
    picture_free(&output);
    picture_free(&expected);
    picture_free(&input);
}

/* Reading and writing PNG takes threads of its own. */
static void test_files(void **state)
{
    struct gf_image picture = picture_random(format_of(500, 900, 3, 8), 0, 1);
    write_ppm(in_folder("in.ppm"), &picture, picture_bytes(&picture));
    for (int threads = 0; threads < 9; threads++) {
        static const char *const steps[][2] = {
            {"in.ppm", "a.png"}, {"a.png", "b.png"}, {"b.png", "out.ppm"}};
        for (size_t i = 0; i < 3; i++) {
            struct gf_options options = gf_options_default();
            struct gf_pipeline *pipeline;
            struct gf_error error = {0};
            options.device = GF_DEVICE_CPU;
            options.threads = 4;
            assert_ok("open", gf_pipeline_open("", &options, &pipeline, &error), &error);
            threads_left = threads;
            assert_ok(steps[i][1],
                      gf_pipeline_run_file(pipeline, in_folder(steps[i][0]), in_folder(steps[i][1]),
                                           &error),
                      &error);
            threads_left = -1;
            gf_pipeline_close(pipeline);
        }
        struct gf_image out = netpbm_read(in_folder("out.ppm"));
        assert_same("files", &out, &picture);
        picture_free(&out);
    }
    picture_free(&picture);
}

/* The calling thread alone does a small picture, unless threads are asked for. */
static void test_small(void **state)
{
    struct gf_image picture = picture_random(format_of(90, 60, 3, 8), 0, 1);
    write_ppm(in_folder("small.ppm"), &picture, picture_bytes(&picture));
    for (int threads = 0; threads < 3; threads += 2) {
        struct gf_options options = gf_options_default();
        struct gf_pipeline *pipeline;
        struct gf_error error = {0};
        options.device = GF_DEVICE_CPU;
        options.threads = threads;
        assert_ok("open", gf_pipeline_open("blur", &options, &pipeline, &error), &error);
        started = 0;
        assert_ok(
            "run",
            gf_pipeline_run_file(pipeline, in_folder("small.ppm"), in_folder("small.png"), &error),
            &error);
        assert_int_equal(started > 0, threads > 0);
        gf_pipeline_close(pipeline);
    }
    picture_free(&picture);
}

static void test_batch(void **state)
{
    const char *const input = in_folder("in.ppm"), *inputs_of[8];
    for (int i = 0; i < 8; i++)
        inputs_of[i] = input;
    const struct gf_inputs_request named = {.argument = inputs_of, .count = 8};
    for (int threads = 0; threads < 4; threads++) {
        struct gf_inputs inputs;
        struct gf_template output;
        struct gf_options options = gf_options_default();
        struct gf_batch_state batch;
        struct gf_error error = {0};
        assert_ok("inputs", gf_inputs_expand(&named, &inputs, &error), &error);
        assert_ok(
            "output",
            gf_template_parse(in_folder("{n}.ppm"), &(struct gf_options){0}, true, &output, &error),
            &error);
        options.device = GF_DEVICE_CPU;
        options.threads = 3;
        const struct gf_batch_request request = {
            .chain = "invert", .options = options, .inputs = &inputs, .output = &output};
        threads_left = threads;
        assert_ok("batch", gf_batch_run(&request, &batch, &error), &error);
        threads_left = -1;
        assert_int_equal(batch.done, 8);
        gf_template_free(&output);
        gf_inputs_free(&inputs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine), cmocka_unit_test(test_kept),  cmocka_unit_test(test_files),
        cmocka_unit_test(test_small),  cmocka_unit_test(test_batch),
    };
    return cmocka_run_group_tests_name("threads", tests, make_folder, remove_folder);
}
