/* A program of its own. A server of pictures and its clients: the same files, errors and
 * warnings as without it; who may use it; how it begins and ends. The server is a process with
 * simulated devices. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/process/process.h"
#include "batch/batch.h"
#include "cuda/measure/coders.h"
#include "server/server_roles.h"

/* ---- the parts ---- */

static void test_messages(void **state)
{
    int pair[2], got[GF_SERVER_DESCRIPTORS];
    union gf_server_message message, back;
    struct gf_remote_work work = {
        .chain = "blur", .options = gf_options_default(), .in_name = "a", .out_name = "b"};
    work.options.format = GF_FILE_PNG;
    work.options.quality = 77;
    work.options.allow_truncated = true;
    work.options.lossless = true;
    work.keeps_slow_files = true;
    work.files = 1;
    work.file_name[0] = "c.ppm";
    work.in_offset = 99;
    work.in_pages = (struct gf_pages){-1, -1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_true(gf_server_write_work(&work, &message));
    const int sent[] = {open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY)};
    assert_true(gf_server_send(pair[0], &message, sent, 2));
    assert_int_equal(gf_server_receive(pair[1], &back, got), GF_SERVER_REQUEST);
    assert_true(got[0] > 2 && got[1] > 2);
    gf_server_read_work(&back.request, &work);
    assert_string_equal(work.chain, "blur");
    assert_true(work.files == 1 && work.file[0] < 0);
    assert_string_equal(work.file_name[0], "c.ppm");
    assert_int_equal(work.options.quality, 77);
    assert_true(work.options.allow_truncated && !work.options.strip && work.in_offset == 99);
    assert_true(work.options.lossless && work.in_pages.first == -1 && work.keeps_slow_files);
    for (int i = 0; i < 2; i++) {
        close(got[i]);
        close(sent[i]);
    }
    assert_int_equal(gf_server_receive(pair[1], &back, got), 0);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(send(pair[0], "hello", 5, 0), 5);
    assert_int_equal(gf_server_receive(pair[1], &back, got), 0);
    assert_int_equal(errno, EPROTO);
    close(pair[0]);
    assert_int_equal(gf_server_receive(pair[1], &back, got), 0);
    assert_int_equal(errno, 0);
    close(pair[1]);
}

/* Every byte of the options arrives, or keeps the picture from the server, unless it belongs to a
 * member that one side decides by itself or to no member. */
static void test_every_option_is_handed_over(void **state)
{
#define BYTES(member) \
    { \
        offsetof(struct gf_options, member), \
            offsetof(struct gf_options, member) + sizeof((struct gf_options *)0)->member \
    }
#define GAP(before, after) \
    { \
        offsetof(struct gf_options, before) + sizeof((struct gf_options *)0)->before, \
            offsetof(struct gf_options, after) \
    }
    static const struct {
        size_t begin, end;
    } own[] = {BYTES(size),       BYTES(device),        BYTES(device_index),
               BYTES(no_clobber), BYTES(sync),          BYTES(keep_times),
               BYTES(warn),       BYTES(warn_context),  BYTES(sandbox_program),
               GAP(sync, format), GAP(png_level, warn), GAP(progressive, png_level)};
#undef GAP
#undef BYTES
    for (size_t at = 0; at < sizeof(struct gf_options); at++) {
        struct gf_remote_work work = {.chain = "", .options = gf_options_default()};
        union gf_server_message message;
        bool goes = true;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            goes &= at < own[i].begin || at >= own[i].end;
        unsigned char *const sent = (unsigned char *)&work.options + at;
        const unsigned char changed = *sent ^ 1;
        *sent = changed;
        if (!goes || !gf_server_may_run("invert", &work.options))
            continue;
        assert_true(gf_server_write_work(&work, &message));
        gf_server_read_work(&message.request, &work);
        if (*((unsigned char *)&work.options + at) != changed)
            fail_msg("byte %zu of the options is lost", at);
    }
}

static void test_bad_messages(void **state)
{
    union gf_server_message message;
    struct gf_remote_work work = {.chain = "", .options = gf_options_default()};
    const size_t size = sizeof message.request;
    work.files = 1;
    work.file_name[0] = "a.ppm";
    work.options.format = GF_FILE_PNG;
    assert_true(gf_server_write_work(&work, &message));
    assert_int_equal(gf_server_check(&message, size), GF_SERVER_REQUEST);
    assert_int_equal(gf_server_check(&message, size - 1), 0);
    message.request.word[GF_SERVER_WARN] = 2;
    assert_int_equal(gf_server_check(&message, size), 0);
    message.request.word[GF_SERVER_WARN] = 1;
    const struct gf_option_member *member;
    for (int i = 0; (member = gf_option_member_at(i)); i++) {
        if (member->word <= 0 || member->type != GF_OPTION_SWITCH)
            continue;
        message.request.word[member->word - 1] |= 2;
        assert_int_equal(gf_server_check(&message, size), 0);
        message.request.word[member->word - 1] &= 1;
    }
    message.request.files = GF_REMOTE_FILES + 1;
    assert_int_equal(gf_server_check(&message, size), 0);
    message.request.files = 1;
    memset(message.request.file_name[0], 'x', sizeof message.request.file_name[0]);
    assert_int_equal(gf_server_check(&message, size), 0);
    message.request.file_name[0][1] = '\0';
    assert_int_equal(gf_server_check(&message, size), GF_SERVER_REQUEST);
    memset(message.request.chain, 'x', sizeof message.request.chain);
    assert_int_equal(gf_server_check(&message, size), 0);
    char long_chain[GF_SERVER_CHAIN_SIZE + 1];
    memset(long_chain, 'x', sizeof long_chain);
    long_chain[GF_SERVER_CHAIN_SIZE] = '\0';
    work.chain = long_chain;
    assert_false(gf_server_write_work(&work, &message));
    gf_server_prepare(&message, GF_SERVER_RESULT);
    message.result.status = GF_STATUS_COUNT;
    assert_int_equal(gf_server_check(&message, sizeof message.result), 0);
    message.result.status = GF_OK;
    message.result.picture.spans[0].sum_s = -1;
    assert_int_equal(gf_server_check(&message, sizeof message.result), 0);
}

/* Two pictures to compare have no chain and no output's format, and what is found are numbers. */
static void test_messages_of_pairs(void **state)
{
    union gf_server_message message;
    struct gf_remote_work work = {.options = gf_options_default(), .compares = GF_SCORE_ALL};
    struct gf_remote_result result = {
        .largest = 3, .mean = 0.5, .psnr = INFINITY, .ssim = NAN, .ms_ssim = NAN, .score = NAN};
    const size_t size = sizeof message.request;
    assert_true(gf_server_write_work(&work, &message));
    assert_int_equal(gf_server_check(&message, size), GF_SERVER_REQUEST);
    gf_server_read_work(&message.request, &work);
    assert_int_equal(work.compares, GF_SCORE_ALL);
    message.request.compares = 0;
    assert_int_equal(gf_server_check(&message, size), 0); /* the output has no format */
    message.request.compares = GF_SCORE_ALL + 1;
    assert_int_equal(gf_server_check(&message, size), 0);
    message.request.compares = GF_SCORE_MS_SSIM; /* without SSIM */
    assert_int_equal(gf_server_check(&message, size), 0);
    message.request.compares = GF_SCORE_SSIM;
    assert_int_equal(gf_server_check(&message, size), GF_SERVER_REQUEST);
    message.request.in_offset = 1;
    assert_int_equal(gf_server_check(&message, size), 0);
    message.request.in_offset = 0;
    message.request.files = 1;
    assert_int_equal(gf_server_check(&message, size), 0);
    message.request.files = 0;
    message.request.chain[0] = 'x';
    assert_int_equal(gf_server_check(&message, size), 0);
    double *const numbers[] = {&result.largest, &result.mean,    &result.psnr,
                               &result.ssim,    &result.ms_ssim, &result.score};
    for (int i = 0; i < 7; i++) { /* one of them is wrong, after the first time */
        gf_server_write_result(GF_OK, NULL, &result, &message);
        assert_int_equal(gf_server_check(&message, sizeof message.result),
                         i ? 0 : GF_SERVER_RESULT);
        if (i)
            *numbers[i - 1] = 1;
        if (i < 6)
            *numbers[i] = i < 3 ? NAN : -INFINITY;
    }
}

static void test_cgroups(void **state)
{
    char session[] = "0::/user.slice/user-7.slice/session-3.scope\n",
         other[] = "0::/user.slice/user-77.slice/session-3.scope\n",
         job[] = "0::/slurm/uid_7/job_5/step_0\n";
    gf_server_shorten_cgroup(session, 7);
    gf_server_shorten_cgroup(other, 7);
    gf_server_shorten_cgroup(job, 7);
    assert_string_equal(session, "0::/user.slice/user-7.slice");
    assert_string_equal(other, "0::/user.slice/user-77.slice/session-3.scope\n");
    assert_string_equal(job, "0::/slurm/uid_7/job_5/step_0\n");
}

static void test_runs_that_no_server_may_do(void **state)
{
    struct gf_options options = gf_options_default();
    assert_true(gf_server_may_run("blur", &options));
    assert_true(gf_server_may_run(NULL, &options));
    assert_false(gf_server_may_run("blur,trim", &options));
    options.device_memory_bytes = 1 << 20;
    assert_false(gf_server_may_run("blur", &options));
    options.device_memory_bytes = 0;
    options.profile = true;
    assert_false(gf_server_may_run("blur", &options));
}

/* ---- pictures ---- */

static void test_a_picture(void **state)
{
    start_server((struct server_role){0});
    const struct seen seen = run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm"));
    assert_ok("picture", seen.status, &seen.error);
    assert_true(seen.by_server);
    assert_int_equal(seen.told.warnings, 0);
    assert_right(in_folder("out.ppm"));
    struct gf_server_welcome after = look_at_server();
    assert_int_equal(after.done, 1);
    assert_int_equal(after.clients, 1); /* the one that looks */
    assert_true(after.host_bytes > 0 && after.device_bytes > 0);
    stop_server();
    assert_false(gf_server_present(0));
}

static void test_formats_and_errors(void **state)
{
    static const char *const outputs[] = {"a.png", "a.jpg", "a.pam", "nowhere/a.png"};
    start_server((struct server_role){0});
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char alone_name[60];
        snprintf(alone_name, sizeof alone_name, "%s.alone.%s", outputs[i],
                 strrchr(outputs[i], '.') + 1);
        const struct seen seen = run_client("invert", in_folder("in.ppm"), in_folder(outputs[i]));
        const struct seen alone = run_alone("invert", in_folder("in.ppm"), in_folder(alone_name));
        assert_int_equal(seen.status, alone.status);
        assert_true(seen.status || seen.by_server);
        assert_true(seen.status || same_file(in_folder(outputs[i]), in_folder(alone_name)));
    }
    /* What the header leads to is said once. */
    save_text(in_folder("clear.pam"), "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\n"
                                      "TUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh");
    const struct seen laid = run_client("invert", in_folder("clear.pam"), in_folder("laid.jpg"));
    assert_int_equal(laid.told.warnings, 1);
    assert_true(laid.by_server && strstr(laid.told.last, "laid on white"));
    const struct seen cut = run_client("trim", in_folder("in.ppm"), in_folder("cut.ppm"));
    assert_true(!cut.status && cut.connected && !cut.by_server && !cut.told.warnings);
    /* Damage in the middle is found by the server, and said in the same words. */
    assert_int_equal(truncate(in_folder("a.png"), 20000), 0);
    const struct seen damaged = run_client("invert", in_folder("a.png"), in_folder("b.png"));
    const struct seen alone = run_alone("invert", in_folder("a.png"), in_folder("b.png"));
    assert_int_equal(damaged.status, GF_ERROR_INPUT);
    assert_int_equal(alone.status, GF_ERROR_INPUT);
    assert_string_equal(damaged.error.text, alone.error.text);
    assert_int_equal(damaged.told.warnings, 0);
    assert_int_equal(access(in_folder("b.png"), F_OK), -1);
    stop_server();
}

/* Pictures that follow one another in a file: each begins where the server has read to. */
static enum gf_status choose_numbered(void *context, int number, enum gf_file_format content,
                                      struct gf_format result, const char **path,
                                      struct gf_error *error)
{
    static char name[500];
    snprintf(name, sizeof name, "%s/picture.%d.ppm", folder, number);
    *path = name;
    return GF_OK;
}

static void test_several_pictures_in_a_file(void **state)
{
    struct gf_error error = {0};
    struct gf_pipeline *pipeline = NULL;
    struct told told = {0};
    struct gf_options options = gf_options_default();
    char command[900];
    struct gf_destination destination = {.choose = choose_numbered, .several = true};
    options.warn = count_warning;
    options.warn_context = &told;
    snprintf(command, sizeof command, "cat %s/in.ppm %s/in.ppm %s/in.ppm >%s/three.ppm", folder,
             folder, folder, folder);
    assert_int_equal(system(command), 0);
    start_server((struct server_role){0});
    struct gf_remote *const remote = gf_server_connect(0, NULL);
    assert_non_null(remote);
    assert_ok("open", gf_pipeline_open_remote(test_chain, &options, remote, &pipeline, &error),
              &error);
    assert_ok(
        "run",
        gf_pipeline_filter_pictures(pipeline, in_folder("three.ppm"), NULL, &destination, &error),
        &error);
    gf_pipeline_close(pipeline);
    assert_int_equal(look_at_server().done, 3);
    assert_int_equal(told.warnings, 0);
    assert_right(in_folder("picture.1.ppm"));
    assert_right(in_folder("picture.2.ppm"));
    assert_right(in_folder("picture.3.ppm"));
    stop_server();
}

/* Writes an animation of three frames of one colour each. */
static void save_animation(const char *path)
{
    const struct gf_format format = {.width = 5, .height = 1, .channels = 3, .bits = 8};
    const struct gf_metadata metadata = {.orientation = 1, .animated = true, .loops = 2};
    const struct gf_duration duration = {1, 25};
    struct gf_options options = gf_options_default();
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    struct gf_error error = {0};
    assert_ok("open", gf_output_open(path, &output, &error), &error);
    assert_ok("sink", gf_sink_open(output, GF_FILE_PNG, format, &metadata, &options, &sink, &error),
              &error);
    sink->duration = &duration;
    for (int i = 0; i < 3; i++) {
        unsigned char row[15];
        memset(row, 60 * i, sizeof row);
        assert_ok("write", sink->write(sink, 1, row, sizeof row, &error), &error);
        assert_ok("finish", sink->finish(sink, &error), &error);
    }
    assert_ok("end", sink->end(sink, &error), &error);
    sink->close(sink);
    assert_ok("commit", gf_output_commit(output, &error), &error);
    gf_output_close(output);
}

/* The server filters an animation as a whole. Frames that become files are filtered here. */
static void test_animations(void **state)
{
    struct gf_error error = {0};
    struct gf_pipeline *pipeline = NULL;
    const struct gf_options options = gf_options_default();
    struct gf_destination each = {.choose = choose_numbered, .several = true, .each = true};
    save_animation(in_folder("moving.png"));
    start_server((struct server_role){0});
    const struct seen seen = run_client("invert", in_folder("moving.png"), in_folder("by.png"));
    assert_ok("client", seen.status, &seen.error);
    assert_true(seen.by_server);
    assert_int_equal(seen.told.warnings, 0);
    assert_int_equal(run_alone("invert", in_folder("moving.png"), in_folder("own.png")).status, 0);
    assert_true(same_file(in_folder("by.png"), in_folder("own.png")));
    struct gf_remote *const remote = gf_server_connect(0, NULL);
    assert_non_null(remote);
    assert_ok("open", gf_pipeline_open_remote("invert", &options, remote, &pipeline, &error),
              &error);
    assert_ok("each",
              gf_pipeline_filter_pictures(pipeline, in_folder("moving.png"), NULL, &each, &error),
              &error);
    gf_pipeline_close(pipeline);
    for (int i = 0; i < 3; i++) {
        char one[40], wanted[40];
        snprintf(one, sizeof one, "moving.png[%d]", i);
        snprintf(wanted, sizeof wanted, "picture.%d.ppm", i + 1);
        assert_int_equal(run_alone("invert", in_folder(one), in_folder("one.ppm")).status, 0);
        assert_true(same_file(in_folder(wanted), in_folder("one.ppm")));
    }
    stop_server();
}

static enum gf_remote_outcome take_nothing(struct gf_remote *remote,
                                           const struct gf_remote_work *work,
                                           struct gf_remote_result *result, enum gf_status *status,
                                           struct gf_error *error)
{
    (void)remote, (void)work, (void)result, (void)status, (void)error;
    return GF_REMOTE_ABSENT;
}

static void close_nothing(struct gf_remote *remote)
{
}

/* There is no device of that number: only the CPU can have done it. */
static void test_the_cpu_for_a_server(void **state)
{
    struct gf_error error = {0};
    struct gf_pipeline *pipeline = NULL;
    struct gf_remote remote = {.filter = take_nothing, .close = close_nothing};
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CUDA;
    options.device_index = 1000;
    assert_ok("open", gf_pipeline_open_remote(test_chain, &options, &remote, &pipeline, &error),
              &error);
    assert_int_not_equal(
        gf_pipeline_run_file(pipeline, in_folder("in.ppm"), in_folder("out.ppm"), NULL), GF_OK);
    gf_pipeline_close(pipeline);
    assert_ok("open", gf_pipeline_open_remote(test_chain, &options, &remote, &pipeline, &error),
              &error);
    gf_pipeline_set_cpu_for_remote(pipeline);
    assert_ok("run",
              gf_pipeline_run_file(pipeline, in_folder("in.ppm"), in_folder("out.ppm"), &error),
              &error);
    assert_non_null(strstr(gf_pipeline_profile(pipeline)->device, "cpu"));
    assert_non_null(strstr(gf_pipeline_profile(pipeline)->reason, "sooner than a GPU"));
    gf_pipeline_close(pipeline);
    assert_right(in_folder("out.ppm"));
}

static struct seen run_piped(const char *name, const char *out, int piece_ms, int pause_ms)
{
    struct feed feed = {.piece_ms = piece_ms, .pause_ms = pause_ms};
    const struct bytes file = load(in_folder(name));
    feed_begin(&feed, in_folder("pipe"), file);
    const struct seen seen = run_client(test_chain, feed.path, in_folder(out));
    feed_end(&feed);
    free(file.data);
    assert_ok(name, seen.status, &seen.error);
    assert_int_equal(seen.told.warnings, 0);
    assert_right(in_folder(out));
    return seen;
}

static void test_pipes(void **state)
{
    const struct seen made = run_alone("", in_folder("in.ppm"), in_folder("in.png"));
    assert_ok("in.png", made.status, &made.error);
    start_server((struct server_role){0});
    assert_true(run_piped("in.png", "piped1.ppm", 0, 0).by_server);
    assert_true(run_piped("in.ppm", "piped2.ppm", 0, 0).by_server);
    /* Further pictures may follow in a live stream, which a server would have to wait for. */
    assert_false(run_piped("in.png", "piped3.ppm", 0, 1000).by_server);
    assert_false(run_piped("in.png", "piped4.ppm", 150, 0).by_server);
    unsigned char frame[400] = "YUV4MPEG2 W365 H1 F1:1 Cmono\nFRAME\n";
    struct feed film = {.pause_ms = 1000};
    feed_begin(&film, in_folder("pipe"), (struct bytes){frame, sizeof frame});
    const struct seen first = run_client("invert", film.path, in_folder("first.pgm"));
    feed_end(&film);
    assert_ok("a film", first.status, &first.error);
    assert_false(first.by_server);
    stop_server();
}

/* ---- batches ---- */

static int opened_here;

static enum gf_status open_here(void *context, const char *chain, const struct gf_options *options,
                                struct gf_pipeline **pipeline, struct gf_error *error)
{
    opened_here++;
    return open_simulated(context, chain, options, pipeline, error);
}

static int warnings_of_batch;

static void note_message(void *context, enum gf_message_kind kind, const char *text)
{
    assert_int_equal(kind, GF_MESSAGE_WARNING);
    assert_non_null(strstr(text, "the server does not answer"));
    warnings_of_batch++;
}

static void drop_text(void *context, const char *text)
{
    (void)context, (void)text;
}

static void run_batch(enum gf_server_use use)
{
    struct gf_input_name name = {.path = (char *)in_folder("in.ppm")};
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    struct gf_template output = {0};
    struct gf_batch_state result;
    struct gf_error error = {0};
    char out[400];
    snprintf(out, sizeof out, "%s", in_folder("batch.ppm"));
    assert_ok("template", gf_template_parse(out, &(struct gf_options){0}, false, &output, &error),
              &error);
    struct gf_batch_request request = {.chain = test_chain,
                                       .options = gf_options_default(),
                                       .inputs = &inputs,
                                       .output = &output,
                                       .server = use,
                                       .message = note_message,
                                       .open = open_here};
    request.options.device = GF_DEVICE_CUDA;
    request.options.warn = drop_text;
    (void)unlink(out);
    assert_ok("batch", gf_batch_run(&request, &result, &error), &error);
    assert_right(out);
    gf_template_free(&output);
}

static void test_a_batch_of_one(void **state)
{
    start_server((struct server_role){0});
    run_batch(GF_SERVER_AUTO);
    assert_int_equal(opened_here, 0);
    assert_int_equal(look_at_server().done, 1);
    run_batch(GF_SERVER_OFF);
    assert_int_equal(opened_here, 1);
    assert_int_equal(look_at_server().done, 1);
    stop_server();
    run_batch(GF_SERVER_AUTO);
    assert_int_equal(opened_here, 2);
    assert_int_equal(warnings_of_batch, 0);
    /* One that stands still has cost time, of which a warning tells. */
    start_server((struct server_role){0});
    send_signal(server, SIGSTOP);
    gf_server_patience_ms = 50;
    run_batch(GF_SERVER_AUTO);
    gf_server_patience_ms = 1000 * DEADLINE_S;
    send_signal(server, SIGCONT);
    assert_int_equal(opened_here, 3);
    assert_int_equal(warnings_of_batch, 1);
    stop_server();
}

/* ---- the server's life ---- */

static void test_a_second_server(void **state)
{
    char parent[20];
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    char *words[] = {"test", "serve", parent, "0", "0", "0", "0", "0", "1", NULL};
    start_server((struct server_role){0});
    assert_int_equal(end_of(start_role(words)), 1);
    assert_int_equal(look_at_server().process, server);
    stop_server();
}

static void test_the_end_waits_for_work(void **state)
{
    start_server((struct server_role){.delay_us = 20000});
    const pid_t process =
        start_client(test_chain, in_folder("in.ppm"), in_folder("late"), 1, 1000 * DEADLINE_S);
    wait_for_server(1, 0);
    stop_server();
    assert_int_equal(end_of(process), 0);
    assert_right(in_folder("late.0.ppm"));
}

static void test_signals_end_it(void **state)
{
    start_server((struct server_role){0});
    const pid_t process = server;
    server = 0;
    send_signal(process, SIGTERM);
    assert_int_equal(end_of(process), 0);
    assert_false(gf_server_present(0));
}

static void test_it_ends_without_work(void **state)
{
    start_server((struct server_role){.idle_s = 1});
    const pid_t process = server;
    server = 0;
    assert_int_equal(end_of(process), 0);
}

/* As --server=start does: the server holds nothing of the process that starts it. */
static void test_a_server_in_the_background(void **state)
{
    const double end_s = gf_now() + DEADLINE_S;
    char parent[20], path[60], link[400] = "";
    struct gf_server_welcome found;
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    char *words[] = {"test", "serve", parent, "0", "0", "0", "0", "0", "2", NULL};
    (void)gf_spawn(&(struct gf_spawn){
        .arguments = words, .environment = environ, .apart = POSIX_SPAWN_SETSID});
    while (!gf_server_look(&found)) {
        assert_true(gf_now() < end_s);
        usleep(1000);
    }
    server = found.process;
    assert_true(run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm")).by_server);
    assert_int_equal(getsid(server), server);
    for (int fd = 0; fd <= 2; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)server, fd);
        const ssize_t length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        assert_string_equal(link, "/dev/null");
    }
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)server);
    assert_int_equal(readlink(path, link, sizeof link - 1), 1);
    stop_server();
}

/* The socket stays when the server ends, and the next one goes on with it. */
static void test_activation(void **state)
{
    char parent[20];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    assert_in_range(
        snprintf(address.sun_path, sizeof address.sun_path, "%s/gpufilter/server", folder), 1,
        sizeof address.sun_path - 1);
    char *words[] = {"test", "activated", parent, "0", "0", "0", "0", "0", "2", NULL};
    const int made = gf_server_folder_open(in_folder("gpufilter"), true);
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(made >= 0 && listener >= 0);
    close(made);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 8), 0);
    for (int i = 0; i < 2; i++) {
        server = start_role_with(words, listener);
        /* The client may come first: the socket keeps it. */
        const struct seen seen = run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm"));
        assert_true(seen.by_server);
        assert_right(in_folder("out.ppm"));
        assert_int_equal(look_at_server().process, server);
        stop_server();
        assert_int_equal(access(address.sun_path, F_OK), 0);
    }
    close(listener);
    assert_int_equal(unlink(address.sun_path), 0);
}

static unsigned long long processor_ticks(pid_t process)
{
    char path[60], text[1024] = "";
    unsigned long long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_int_equal(sscanf(strrchr(text, ')') + 1,
                            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                            &system),
                     2);
    return user + system;
}

/* While it waits nothing in it runs, also with a client that is connected and says nothing. */
static void test_an_idle_server_sleeps(void **state)
{
    start_server((struct server_role){.rest_ms = 20});
    struct gf_remote *const remote = gf_server_connect(0, NULL);
    assert_non_null(remote);
    usleep(200000); /* it gives its memory back */
    const unsigned long long before = processor_ticks(server);
    usleep(500000);
    assert_true(processor_ticks(server) <= before + 5); /* of 50 that a loop would take */
    remote->close(remote);
    stop_server();
}

static void test_idle_memory_is_given_back(void **state)
{
    const double end_s = gf_now() + DEADLINE_S;
    start_server((struct server_role){.rest_ms = 20});
    const struct seen seen = run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm"));
    assert_true(seen.by_server);
    while (look_at_server().device_bytes) {
        assert_true(gf_now() < end_s);
        usleep(1000);
    }
    assert_true(run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm")).by_server);
    stop_server();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_every_option_is_handed_over),
        cmocka_unit_test(test_bad_messages),
        cmocka_unit_test(test_messages_of_pairs),
        cmocka_unit_test(test_cgroups),
        cmocka_unit_test(test_runs_that_no_server_may_do),
        cmocka_unit_test_teardown(test_a_picture, end_test),
        cmocka_unit_test_teardown(test_formats_and_errors, end_test),
        cmocka_unit_test_teardown(test_several_pictures_in_a_file, end_test),
        cmocka_unit_test_teardown(test_animations, end_test),
        cmocka_unit_test_teardown(test_the_cpu_for_a_server, end_test),
        cmocka_unit_test_teardown(test_pipes, end_test),
        cmocka_unit_test_teardown(test_a_batch_of_one, end_test),
        cmocka_unit_test_teardown(test_a_second_server, end_test),
        cmocka_unit_test_teardown(test_the_end_waits_for_work, end_test),
        cmocka_unit_test_teardown(test_signals_end_it, end_test),
        cmocka_unit_test_teardown(test_it_ends_without_work, end_test),
        cmocka_unit_test_teardown(test_a_server_in_the_background, end_test),
        cmocka_unit_test_teardown(test_activation, end_test),
        cmocka_unit_test_teardown(test_an_idle_server_sleeps, end_test),
        cmocka_unit_test_teardown(test_idle_memory_is_given_back, end_test),
    };
    const int ended = run_role(argc, argv);
    return ended >= 0 ? ended
                      : cmocka_run_group_tests_name("server", tests, make_world, remove_folder);
}
