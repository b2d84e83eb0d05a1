/* A program of its own. Two pictures that a server compares: its numbers are told, and whatever
 * goes wrong, the client goes on by itself. */
#include "bench/likeness.h"
#include "server/server_roles.h"

struct comparison {
    pthread_t thread;
    char path[2][400];
    unsigned measures;
    double limit_s; /* 0: none */
    bool connected, compared;
    struct told told;
    struct gf_likeness likeness;
    enum gf_status status;
    struct gf_error error;
};

/* Has the server compare the files, as --compare does. */
static void *compare_files(void *argument)
{
    struct comparison *const run = argument;
    struct gf_options options = gf_options_default();
    struct gf_reading reading[2] = {{.count = 0}};
    struct gf_device_pair pair = {.remote = gf_server_connect(0, NULL)};
    options.threads = 1;
    options.warn = count_warning;
    options.warn_context = &run->told;
    run->connected = pair.remote != NULL;
    gf_time_limit_set(run->limit_s > 0 ? gf_now() + run->limit_s : 0);
    for (int i = 0; i < 2 && !run->status; i++)
        run->status =
            gf_reading_open(run->path[i], &options, run->measures, &reading[i], &run->error);
    if (!run->status)
        run->status =
            gf_likeness_on_device(&pair, reading, &run->likeness, &run->compared, &run->error);
    gf_time_limit_set(0);
    for (int i = 0; i < 2; i++) /* the client can go on */
        if (!run->status && !run->compared) {
            bool found = false;
            run->status = gf_reading_next(&reading[i], &found, &run->error);
            assert_true(found || run->status);
        }
    gf_device_pair_close(&pair);
    gf_reading_close(&reading[0]);
    gf_reading_close(&reading[1]);
    return NULL;
}

static void name_files(struct comparison *run, const char *a, const char *b)
{
    run->measures |= 1 << GF_MEASURE_SSIMULACRA2;
    snprintf(run->path[0], sizeof run->path[0], "%s", in_folder(a));
    snprintf(run->path[1], sizeof run->path[1], "%s", in_folder(b));
}

static struct comparison compare_now(const char *a, const char *b, unsigned measures)
{
    struct comparison run = {.measures = measures};
    name_files(&run, a, b);
    (void)compare_files(&run);
    assert_ok(b, run.status, &run.error);
    return run;
}

static double bytes_of(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return (double)file.st_size;
}

static void make_file(const char *chain, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s", in_folder(name));
    const struct seen seen = run_alone(chain, in_folder("in.ppm"), path);
    assert_ok(name, seen.status, &seen.error);
}

static void test_a_pair(void **state)
{
    make_file("", "a.jpg");
    make_file("blur=1", "b.jpg");
    make_file("crop=50:50:0:0", "small.jpg");
    assert_false(compare_now("a.jpg", "b.jpg", 0).connected);
    start_server((struct server_role){0});
    const struct comparison run = compare_now("a.jpg", "b.jpg", 0);
    const double *const measure = run.likeness.measure;
    assert_true(run.compared && !run.told.warnings && !run.likeness.of_floats);
    assert_true(measure[GF_MEASURE_LARGEST] == bytes_of(run.path[0]) &&
                measure[GF_MEASURE_MEAN] == bytes_of(run.path[1]));
    assert_true(isinf(measure[GF_MEASURE_PSNR]) && measure[GF_MEASURE_SSIMULACRA2] == -77.25);
    assert_true(measure[GF_MEASURE_SSIM] == GF_SCORE_SSIMULACRA2); /* the request has said that */
    assert_true(isnan(measure[GF_MEASURE_MS_SSIM]) && isnan(measure[GF_MEASURE_DELTAE2000]));
    const struct comparison more = compare_now("a.jpg", "b.jpg", 1 << GF_MEASURE_MS_SSIM);
    assert_true(more.compared && more.likeness.measure[GF_MEASURE_SSIM] == GF_SCORE_ALL);
    assert_int_equal(look_at_server().done, 2);
    assert_true(run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm")).by_server);
    assert_right(in_folder("out.ppm"));
    stop_server();
}

/* Nothing is said of that. */
static void test_pairs_that_it_does_not_compare(void **state)
{
    static const char *const second[] = {"a.jpg", "in.ppm", "small.jpg"};
    start_server((struct server_role){0});
    for (int i = 0; i < 3; i++) {
        const struct comparison run = compare_now("a.jpg", second[i], 0);
        assert_true(run.connected && !run.compared && !run.told.warnings);
    }
    assert_int_equal(look_at_server().done, 0);
    stop_server();
}

/* The client goes on, with one warning that says why. */
static void assert_failed(const struct comparison *run, const char *why)
{
    assert_ok(why, run->status, &run->error);
    assert_true(run->connected && !run->compared);
    assert_int_equal(run->told.warnings, 1);
    if (!strstr(run->told.last, why) || !strstr(run->told.last, "without the server"))
        fail_msg("the warning is '%s'", run->told.last);
}

static void test_a_server_that_is_killed(void **state)
{
    struct comparison run = {0};
    start_server((struct server_role){.delay_us = 60000000});
    name_files(&run, "a.jpg", "b.jpg");
    assert_int_equal(pthread_create(&run.thread, NULL, compare_files, &run), 0);
    wait_for_server(1, 0);
    assert_int_equal(kill_server(), 128 + SIGKILL);
    pthread_join(run.thread, NULL);
    assert_failed(&run, "ended in the middle");
}

static void test_a_device_that_fails(void **state)
{
    start_server((struct server_role){.fail_run = 1});
    const struct comparison run = compare_now("a.jpg", "b.jpg", 0);
    assert_failed(&run, "unspecified launch failure");
    const pid_t process = server;
    server = 0;
    assert_int_equal(end_of(process), 1);
}

/* A server that beats does not keep the client beyond its time. */
static void test_the_time_of_a_pair(void **state)
{
    const double begin_s = gf_now();
    struct comparison run = {.limit_s = 0.2};
    start_server((struct server_role){.delay_us = 60000000});
    name_files(&run, "a.jpg", "b.jpg");
    (void)compare_files(&run);
    assert_int_equal(run.status, GF_ERROR_INPUT);
    assert_true(run.connected && !run.compared && gf_now() < begin_s + DEADLINE_S);
    kill_server();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_pair, end_test),
        cmocka_unit_test_teardown(test_pairs_that_it_does_not_compare, end_test),
        cmocka_unit_test_teardown(test_a_server_that_is_killed, end_test),
        cmocka_unit_test_teardown(test_a_device_that_fails, end_test),
        cmocka_unit_test_teardown(test_the_time_of_a_pair, end_test),
    };
    const int ended = run_role(argc, argv);
    return ended >= 0
               ? ended
               : cmocka_run_group_tests_name("server_compare", tests, make_world, remove_folder);
}
