/* A program of its own. A batch whose devices after the first are worked by processes of their
 * own: they are started while the run is at work, where it pays, and whatever becomes of them,
 * the run is done. The devices are simulated, in this process and in helpers, which are this
 * test program in another role. */
#include <sys/time.h>

#include "batch/batch.h"
#include "batch/names/names.h"
#include "batch/workers/workers.h"
#include "runner.h"
#include "server/server.h"
#include "server/server_roles.h"

enum { PICTURES = 120, DEVICES = 3 };

/* ---- a helper ---- */

static void describe_helper(struct gf_backend *backend, char *text, size_t size)
{
    snprintf(text, size, "helper");
}

static int number_in(const char *variable)
{
    const char *const text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* --serve --quiet --device=cuda:N --threads=W --memory=B, as gf_helper_start() executes it. */
static int help(int argc, char **argv)
{
    struct gf_error error = {0};
    alarm(ROLE_SECONDS);
    if (argc != 6 || strncmp(argv[3], "--device=cuda:", 14) || number_in("TEST_NO_START"))
        return 3;
    const struct itimerval death = {.it_value.tv_usec = 1000 * number_in("TEST_DEATH_MS")};
    if (death.it_value.tv_usec)
        setitimer(ITIMER_REAL, &death, NULL);
    const int failing = number_in("TEST_FAIL_DEVICE"); /* 0: all */
    const bool fails = !failing || failing == atoi(argv[3] + 14);
    role = (struct server_role){.delay_us = number_in("TEST_DELAY_US"),
                                .fail_run = fails ? number_in("TEST_FAIL_RUN") : 0,
                                .describe = describe_helper};
    const struct gf_server_settings settings = {.device = atoi(argv[3] + 14),
                                                .workers = atoi(argv[4] + strlen("--threads=")),
                                                .open = open_simulated};
    return gf_serve(&settings, &error) ? 1 : 0;
}

/* ---- the run ---- */

static struct {
    int by_helpers, here, joined, joined_before, warnings, errors;
    char warning[500];
} seen;

static void note(void *context, enum gf_message_kind kind, const char *text)
{
    seen.joined += kind == GF_MESSAGE_CHOICE && strstr(text, " joins after ");
    seen.joined_before += kind == GF_MESSAGE_CHOICE && strstr(text, " when 0 pictures are done");
    seen.warnings += kind == GF_MESSAGE_WARNING;
    seen.errors += kind == GF_MESSAGE_ERROR;
    if (kind == GF_MESSAGE_WARNING)
        snprintf(seen.warning, sizeof seen.warning, "%s", text);
}

static void note_entry(void *context, const struct gf_batch_log_entry *entry)
{
    const char *const device = entry->device ? entry->device : "";
    seen.by_helpers += !strcmp(device, "helper");
    seen.here += !strcmp(device, "fake:0");
}

static void ignore(void *context, const char *text)
{
}

static int make_pictures(void **state)
{
    if (make_world(state))
        return -1;
    mkdir(in_folder("in"), 0700);
    for (int i = 0; i < PICTURES; i++) {
        char name[40];
        snprintf(name, sizeof name, "in/%03d.ppm", i);
        assert_int_equal(link(in_folder("in.ppm"), in_folder(name)), 0);
    }
    static const char *const folders[] = {"proc", "proc/driver", "proc/driver/nvidia",
                                          "proc/driver/nvidia/gpus", "dev"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        mkdir(in_folder(folders[i]), 0700);
    for (int i = 0; i < DEVICES; i++) {
        char name[100], text[60];
        snprintf(name, sizeof name, "proc/driver/nvidia/gpus/%d", i);
        mkdir(in_folder(name), 0700);
        snprintf(name, sizeof name, "proc/driver/nvidia/gpus/%d/information", i);
        snprintf(text, sizeof text, "Device Minor: \t %d\n", i);
        save(in_folder(name), text, strlen(text));
        snprintf(name, sizeof name, "dev/nvidia%d", i);
        save(in_folder(name), "", 0);
    }
    gf_visible_root = strdup(in_folder(""));
    return 0;
}

static void assert_all_right(void)
{
    for (int i = 0; i < PICTURES; i++) {
        char name[40];
        snprintf(name, sizeof name, "out/%03d.ppm", i);
        assert_right(in_folder(name));
        assert_int_equal(unlink(in_folder(name)), 0);
    }
}

static double timeout_s;  /* of each picture; 0: none */
static double blur_times; /* how many times a GPU's blur is expected to take its usual time; 0: 1 */

/* Runs all pictures on three devices; another device pays where that much is left to do. */
static enum gf_status run_from(const char *from, const char *chain, const char *to, double more_s,
                               struct gf_error *error)
{
    static const int index[DEVICES] = {0, 1, 2};
    const char *const argument = in_folder(from);
    const struct gf_inputs_request inputs_request = {.argument = &argument, .count = 1};
    struct gf_figures figures = {.calibrated = {[GF_FIGURE_CUDA_MORE] = 1e3 * more_s}};
    const struct gf_filter *blur;
    struct gf_inputs inputs;
    struct gf_template output;
    struct gf_batch_state state;
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CUDA;
    options.threads = 4;
    options.timeout_s = timeout_s;
    options.warn = ignore;
    assert_ok("blur", gf_filter_named("blur", "", &blur, error), error);
    figures.calibrated[gf_figure_of_filter(blur, true)] = blur_times;
    memset(&seen, 0, sizeof seen);
    assert_ok("inputs", gf_inputs_expand(&inputs_request, &inputs, error), error);
    assert_ok("output",
              gf_archive_named(to)
                  ? gf_template_of_archive(in_folder(to), GF_FILE_AUTO, &output, error)
                  : gf_template_parse(in_folder(to), &(struct gf_options){0}, true, &output, error),
              error);
    const struct gf_batch_request request = {.chain = chain,
                                             .options = options,
                                             .inputs = &inputs,
                                             .output = &output,
                                             .device = index,
                                             .devices = DEVICES,
                                             .helpers = true,
                                             .verbose = true,
                                             .figures = &figures,
                                             .message = note,
                                             .entry = note_entry,
                                             .open = open_simulated};
    const enum gf_status status = gf_batch_run(&request, &state, error);
    gf_template_free(&output);
    gf_inputs_free(&inputs);
    return status;
}

static enum gf_status run(double more_s, struct gf_error *error)
{
    return run_from("in", test_chain, "out/", more_s, error);
}

/* With these delays this process takes some seconds for all pictures, and helpers much less. */
enum { SLOW_US = 8000, QUICK_US = 1000 };

static void behave(int delay_us, int fail_here, const char *variable, const char *value)
{
    char text[20];
    snprintf(text, sizeof text, "%d", QUICK_US);
    setenv("TEST_DELAY_US", text, 1);
    unsetenv("TEST_FAIL_RUN");
    unsetenv("TEST_NO_START");
    unsetenv("TEST_DEATH_MS");
    if (variable)
        setenv(variable, value, 1);
    role = (struct server_role){.delay_us = delay_us, .fail_run = fail_here};
}

static void test_helpers_join(void **state)
{
    struct gf_error error = {0};
    behave(SLOW_US, 0, NULL, NULL);
    assert_ok("run", run(0.1, &error), &error);
    assert_all_right();
    assert_true(seen.joined > 0 && seen.joined < DEVICES);
    assert_int_equal(seen.by_helpers + seen.here, PICTURES);
    assert_true(seen.by_helpers > 0 && seen.here > 0);
    assert_int_equal(seen.warnings + seen.errors, 0);
}

/* Where a long run is expected, the second device starts beside the first. */
static void test_a_helper_begins_with_the_run(void **state)
{
    struct gf_error error = {0};
    behave(SLOW_US, 0, NULL, NULL);
    role.start_us = 1500000;
    blur_times = 1e6;
    const enum gf_status status = run(2, &error);
    blur_times = 0;
    assert_ok("run", status, &error);
    assert_all_right();
    assert_true(seen.joined_before >= 1 && seen.by_helpers > 0);
    assert_int_equal(seen.by_helpers + seen.here, PICTURES);
    assert_int_equal(seen.warnings + seen.errors, 0);
}

/* Members of archives are handed over as files in memory. */
static void test_archives(void **state)
{
#ifdef GF_LIBRARY_archive
    struct gf_error error = {0};
    behave(SLOW_US, 0, NULL, NULL);
    assert_ok("to an archive", run_from("in", test_chain, "made.tar", 0.1, &error), &error);
    assert_true(seen.joined > 0 && seen.by_helpers > 0);
    assert_int_equal(seen.by_helpers + seen.here, PICTURES);
    assert_ok("to another", run_from("made.tar", "invert", "other.tar", 0.1, &error), &error);
    assert_true(seen.joined > 0 && seen.by_helpers > 0);
    assert_int_equal(seen.by_helpers + seen.here, PICTURES);
    assert_ok("to files", run_from("other.tar", "invert", "out/", 0.1, &error), &error);
    assert_true(seen.joined > 0 && seen.by_helpers > 0);
    assert_int_equal(seen.warnings + seen.errors, 0);
    assert_all_right();
#else
    skip();
#endif
}

static void test_a_short_run_starts_none(void **state)
{
    struct gf_error error = {0};
    behave(QUICK_US, 0, NULL, NULL);
    assert_ok("run", run(60, &error), &error);
    assert_all_right();
    assert_int_equal(seen.joined, 0);
    assert_int_equal(seen.here, PICTURES);
}

static void test_helpers_that_fail(void **state)
{
    struct gf_error error = {0};
    behave(SLOW_US, 0, "TEST_FAIL_RUN", "9");
    assert_ok("run", run(0.1, &error), &error);
    assert_all_right();
    assert_int_equal(seen.by_helpers + seen.here, PICTURES);
    assert_int_equal(seen.errors, 0);
    if (seen.warnings < 1 || seen.warnings > DEVICES - 1)
        fail_msg("%d warnings, the last: %s", seen.warnings, seen.warning);
    assert_non_null(strstr(seen.warning, "; the picture is done on "));
}

static void test_helpers_that_do_not_start(void **state)
{
    struct gf_error error = {0};
    behave(SLOW_US / 3, 0, "TEST_NO_START", "1");
    assert_ok("run", run(0.1, &error), &error);
    assert_all_right();
    assert_int_equal(seen.here, PICTURES);
    assert_true(seen.warnings > 0 && seen.warnings < DEVICES);
    assert_non_null(strstr(seen.warning, " does not start; the other devices do its part"));
}

/* However little is left to do, a device that is asleep is better than none. */
static void test_the_first_device_fails(void **state)
{
    struct gf_error error = {0};
    behave(0, 5, NULL, NULL);
    assert_ok("run", run(60, &error), &error);
    assert_all_right();
    assert_true(seen.by_helpers > PICTURES / 2);
    assert_int_equal(seen.errors, 0);
}

/* Whatever a helper is doing when it dies, each picture is made once. */
static void test_helpers_die_at_any_moment(void **state)
{
    for (int ms = 5; ms < 400; ms *= 4) {
        struct gf_error error = {0};
        char text[20];
        snprintf(text, sizeof text, "%d", ms);
        behave(SLOW_US, 0, "TEST_DEATH_MS", text);
        assert_ok(text, run(0.1, &error), &error);
        assert_all_right();
        assert_int_equal(seen.by_helpers + seen.here, PICTURES);
        assert_int_equal(seen.errors, 0);
        assert_true(seen.warnings < DEVICES);
    }
}

/* A picture goes on to the last device that works, whoever has noticed that the others have failed.
 */
static void test_the_last_helper_works(void **state)
{
    struct gf_error error = {0};
    for (int fail_run = 3; fail_run < 30; fail_run += 12) {
        char text[20];
        snprintf(text, sizeof text, "%d", fail_run);
        behave(SLOW_US, 9, "TEST_FAIL_RUN", text);
        setenv("TEST_FAIL_DEVICE", "1", 1);
        const enum gf_status status = run(0.1, &error);
        unsetenv("TEST_FAIL_DEVICE");
        assert_ok("run", status, &error);
        assert_all_right();
        assert_int_equal(seen.errors, 0);
        assert_int_equal(seen.by_helpers + seen.here, PICTURES);
    }
}

/* A device takes longer to start than a picture may take. */
static void test_the_start_is_not_the_time_of_a_picture(void **state)
{
    struct gf_error error = {0};
    behave(0, 0, NULL, NULL);
    role.start_us = 1500000;
    timeout_s = 1;
    const enum gf_status status = run(60, &error);
    timeout_s = 0;
    assert_ok("run", status, &error);
    assert_all_right();
}

/* The helper of a process that has been killed is gone, too. */
static void test_a_helper_dies_with_its_parent(void **state)
{
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    behave(0, 0, NULL, NULL);
    const pid_t parent = fork();
    if (!parent) {
        struct gf_helper *const helper =
            gf_helper_start(&(struct gf_helper_settings){.device = 1, .workers = 2});
        while (helper && gf_helper_look(helper) == GF_HELPER_STARTING)
            usleep(1000);
        const pid_t process = helper ? gf_helper_process(helper) : 0;
        if (write(pair[1], &process, sizeof process) != sizeof process)
            _exit(1);
        pause();
    }
    pid_t process = 0;
    assert_int_equal(read(pair[0], &process, sizeof process), sizeof process);
    assert_true(process > 1 && !kill(process, 0));
    send_signal(parent, SIGKILL);
    end_of(parent);
    const double end_s = gf_now() + DEADLINE_S;
    char path[60];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)process);
    for (char text[20] = "-"; *text; usleep(1000)) { /* a process that has ended has no words */
        FILE *const file = fopen(path, "r");
        *text = '\0';
        if (file && !fgets(text, sizeof text, file))
            *text = '\0';
        if (file)
            fclose(file);
        if (gf_now() > end_s)
            fail_msg("the helper lives");
    }
    close(pair[0]);
    close(pair[1]);
}

static bool pays(int awake, double rest_of_one_s, double busy_of_one)
{
    const struct gf_batch_pace pace = {.inputs_a_second = 1000, .busy = busy_of_one};
    return gf_batch_device_pays(&pace, awake, (size_t)(1000 * rest_of_one_s), false, NULL);
}

static void test_which_devices_pay(void **state)
{
    const struct gf_batch_pace unknown = {0};
    assert_false(pays(1, 1.4, 0.1));
    assert_true(pays(1, 1.6, 0.1));
    assert_false(pays(2, 2.9, 0.1)); /* two devices have 1.45 s left */
    assert_true(pays(2, 3.1, 0.1));
    assert_true(pays(1, 60, 0.5));
    assert_false(pays(2, 60, 0.5)); /* two devices keep all processors busy */
    assert_false(pays(1, 60, 0.9));
    assert_false(gf_batch_device_pays(&unknown, 1, 1000, true, NULL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_devices_pay),
        cmocka_unit_test(test_helpers_join),
        cmocka_unit_test(test_a_helper_begins_with_the_run),
        cmocka_unit_test(test_archives),
        cmocka_unit_test(test_a_short_run_starts_none),
        cmocka_unit_test(test_helpers_that_fail),
        cmocka_unit_test(test_helpers_that_do_not_start),
        cmocka_unit_test(test_the_first_device_fails),
        cmocka_unit_test(test_helpers_die_at_any_moment),
        cmocka_unit_test(test_the_last_helper_works),
        cmocka_unit_test(test_the_start_is_not_the_time_of_a_picture),
        cmocka_unit_test(test_a_helper_dies_with_its_parent),
    };
    signal(SIGPIPE, SIG_IGN);
    if (argc > 1 && !strcmp(argv[1], "--serve"))
        return help(argc, argv);
    return cmocka_run_group_tests_name("helpers", tests, make_pictures, remove_folder);
}
