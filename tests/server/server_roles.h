/* A server of pictures on simulated devices, and its clients, as processes: the test program runs
 * itself again in a role. Every process of a role has its own streams, dies with the test, and dies
 * by itself after a while; every wait has a deadline, after which the test fails. */
#pragma once

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "fake_device.h"
#include "server/protocol.h"
#include "server/server.h"
#include "temp_folder.h"

enum { ROLE_SECONDS = 100, DEADLINE_S = 30, TEST_SECONDS = 150 };

extern char **environ;

/* ---- in the processes ---- */

struct server_role {
    int delay_us; /* before each wait for the device */
    int start_us; /* that a device takes to start */
    int fail_run;
    unsigned long long memory_bytes;
    int rest_ms, idle_s, workers;
    void (*describe)(struct gf_backend *backend, char *text, size_t size);
};

static struct server_role role;

static enum gf_status slow_wait(struct gf_lane *lane, struct gf_error *error)
{
    usleep((useconds_t)role.delay_us);
    return fake_wait(lane, error);
}

static enum gf_status slow_ready(struct gf_backend *backend, struct gf_error *error)
{
    usleep((useconds_t)role.start_us);
    return fake_ready(backend, error);
}

/* Closing the pipeline is the last use of its device. */
static void close_and_free(struct gf_backend *backend)
{
    pthread_mutex_destroy(&((struct fake_device *)backend)->lock);
    free(backend);
}

static inline enum gf_status open_simulated(void *context, const char *chain,
                                            const struct gf_options *options,
                                            struct gf_pipeline **pipeline, struct gf_error *error)
{
    struct gf_options own = *options;
    own.device = GF_DEVICE_CPU;
    const enum gf_status status = gf_pipeline_open(chain, &own, pipeline, error);
    if (status)
        return status;
    struct fake_device *const device = malloc(sizeof *device);
    assert_non_null(device);
    fake_open(device);
    device->fail_run = role.fail_run;
    device->memory_bytes = role.memory_bytes;
    device->calls.close = close_and_free;
    if (role.delay_us)
        device->calls.wait = slow_wait;
    if (role.start_us)
        device->calls.ready = slow_ready;
    if (role.describe)
        device->calls.describe = role.describe;
    gf_pipeline_options(*pipeline)->device = GF_DEVICE_CUDA;
    gf_pipeline_replace_backend(*pipeline, &device->base, true);
    return status;
}

/* Tells the sizes of both files as what it has found, and nothing of a file and itself. */
static enum gf_status compare_simulated(struct gf_pipeline *pipeline,
                                        struct gf_memory_budget *budget,
                                        const struct gf_remote_work *work,
                                        struct gf_remote_result *result, struct gf_error *error)
{
    struct stat first, second;
    assert_true(pipeline && budget);
    assert_true(!fstat(work->in, &first) && !fstat(work->out, &second));
    close(work->in);
    close(work->out);
    usleep((useconds_t)role.delay_us);
    if (first.st_ino == second.st_ino)
        return gf_fail(error, GF_ERROR_UNFIT, "one file");
    if (role.fail_run)
        return gf_fail(error, GF_ERROR_DEVICE, "unspecified launch failure");
    *result = (struct gf_remote_result){.largest = (double)first.st_size,
                                        .mean = (double)second.st_size,
                                        .psnr = INFINITY,
                                        .ssim = work->compares,
                                        .ms_ssim = NAN,
                                        .score = -77.25};
    return GF_OK;
}

static void die_with(const char *parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(ROLE_SECONDS);
    if (getppid() != atoi(parent))
        _exit(99);
}

/* serve PARENT DELAY FAIL_RUN MEMORY REST IDLE WORKERS; activated: with a listening socket as
 * descriptor 3, as systemd hands it over. */
static int serve(char **word, bool activated)
{
    struct gf_error error = {0};
    char process[20];
    die_with(word[0]);
    snprintf(process, sizeof process, "%d", (int)getpid());
    if (activated) {
        setenv("LISTEN_PID", process, 1);
        setenv("LISTEN_FDS", "1", 1);
    }
    role = (struct server_role){.delay_us = atoi(word[1]),
                                .fail_run = atoi(word[2]),
                                .memory_bytes = strtoull(word[3], NULL, 10),
                                .rest_ms = atoi(word[4]),
                                .idle_s = atoi(word[5]),
                                .workers = atoi(word[6])};
    const struct gf_server_settings settings = {.workers = role.workers,
                                                .idle_s = role.idle_s,
                                                .rest_ms = role.rest_ms,
                                                .compare = compare_simulated,
                                                .open = open_simulated};
    const enum gf_status status = gf_serve(&settings, &error);
    if (status)
        fprintf(stderr, "%s\n", error.text);
    return status ? 1 : 0;
}

struct told {
    int warnings;
    char last[500];
};

static void count_warning(void *context, const char *text)
{
    struct told *const told = context;
    told->warnings++;
    snprintf(told->last, sizeof told->last, "%s", text);
}

/* What a client has seen of one picture. */
struct seen {
    bool connected, by_server;
    struct told told;
    enum gf_status status;
    struct gf_error error;
};

static inline struct seen run_client(const char *chain, const char *in, const char *out)
{
    struct seen seen = {0};
    struct gf_pipeline *pipeline = NULL;
    struct gf_options options = gf_options_default();
    options.threads = 2;
    options.warn = count_warning;
    options.warn_context = &seen.told;
    struct gf_remote *const remote = gf_server_connect(0, NULL);
    seen.connected = remote != NULL;
    if (!remote)
        options.device = GF_DEVICE_CPU;
    seen.status = remote ? gf_pipeline_open_remote(chain, &options, remote, &pipeline, &seen.error)
                         : gf_pipeline_open(chain, &options, &pipeline, &seen.error);
    if (!seen.status)
        seen.status = gf_pipeline_run_file(pipeline, in, out, &seen.error);
    if (!seen.status)
        seen.by_server = strstr(gf_pipeline_profile(pipeline)->device, "by the server") != NULL;
    gf_pipeline_close(pipeline);
    return seen;
}

/* client PARENT PATIENCE CHAIN IN OUT COUNT: writes OUT.0 ... and ends with 0, or 3 where a picture
 * was not the server's. */
static int client(char **word)
{
    bool by_server = true;
    die_with(word[0]);
    gf_server_patience_ms = atoi(word[1]);
    for (int i = 0; i < atoi(word[5]); i++) {
        char out[400];
        snprintf(out, sizeof out, "%s.%d.ppm", word[4], i);
        const struct seen seen = run_client(word[2], word[3], out);
        if (seen.status || seen.told.warnings > 1) {
            fprintf(stderr, "%s %d: %s, %s\n", out, seen.told.warnings, seen.error.text,
                    seen.told.last);
            return 1;
        }
        by_server &= seen.by_server;
    }
    return by_server ? 0 : 3;
}

/* ---- in the test ---- */

/* handed: a descriptor that becomes the process's descriptor 3; -1: none. */
static inline pid_t start_role_with(char **words, int handed)
{
    posix_spawn_file_actions_t files;
    pid_t process = 0;
    assert_int_equal(posix_spawn_file_actions_init(&files), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0), 0);
    for (int fd = 1; fd <= 2; fd++)
        assert_int_equal(posix_spawn_file_actions_addopen(&files, fd, in_folder("said"),
                                                          O_WRONLY | O_CREAT | O_APPEND, 0600),
                         0);
    if (handed >= 0)
        assert_int_equal(posix_spawn_file_actions_adddup2(&files, handed, 3), 0);
    assert_int_equal(posix_spawn_file_actions_addclosefrom_np(&files, handed >= 0 ? 4 : 3), 0);
    assert_int_equal(posix_spawn(&process, "/proc/self/exe", &files, NULL, words, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    assert_true(process > 1);
    return process;
}

static inline pid_t start_role(char **words)
{
    return start_role_with(words, -1);
}

static inline void send_signal(pid_t process, int number)
{
    assert_true(process > 1);
    kill(process, number);
}

/* The status by which the process ended: of exit(), or 128 + a signal's number. */
static inline int end_of(pid_t process)
{
    const double end_s = gf_now() + DEADLINE_S;
    int status = 0;
    while (waitpid(process, &status, WNOHANG) != process) {
        if (gf_now() > end_s) {
            send_signal(process, SIGKILL);
            waitpid(process, &status, 0);
            fail_msg("a process did not end");
        }
        usleep(1000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static pid_t server; /* 0: none */

static inline struct gf_server_welcome look_at_server(void)
{
    struct gf_server_welcome state = {0};
    if (!gf_server_look(&state))
        fail_msg("the server does not answer");
    return state;
}

static inline void start_server(struct server_role as)
{
    char parent[20], number[6][30];
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    snprintf(number[0], sizeof number[0], "%d", as.delay_us);
    snprintf(number[1], sizeof number[1], "%d", as.fail_run);
    snprintf(number[2], sizeof number[2], "%llu", as.memory_bytes);
    snprintf(number[3], sizeof number[3], "%d", as.rest_ms);
    snprintf(number[4], sizeof number[4], "%d", as.idle_s);
    snprintf(number[5], sizeof number[5], "%d", as.workers ? as.workers : 4);
    char *words[] = {"test",    "serve",   parent,    number[0], number[1],
                     number[2], number[3], number[4], number[5], NULL};
    const double end_s = gf_now() + DEADLINE_S;
    struct gf_server_welcome state;
    server = start_role(words);
    while (!gf_server_look(&state)) {
        if (gf_now() > end_s)
            fail_msg("the server does not begin");
        usleep(1000);
    }
    assert_int_equal(state.process, server);
}

static inline pid_t start_client(const char *chain, const char *in, const char *out, int count,
                                 int patience_ms)
{
    char parent[20], patience[20], number[20];
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    snprintf(patience, sizeof patience, "%d", patience_ms);
    snprintf(number, sizeof number, "%d", count);
    char *words[] = {"test",     "client",    parent, patience, (char *)chain,
                     (char *)in, (char *)out, number, NULL};
    return start_role(words);
}

/* Waits until so many pictures are at work and so many are done. */
static inline void wait_for_server(unsigned running, unsigned long long done)
{
    const double end_s = gf_now() + DEADLINE_S;
    for (;;) {
        const struct gf_server_welcome state = look_at_server();
        if (state.running == running && state.done >= done)
            return;
        if (gf_now() > end_s)
            fail_msg("%u at work, %llu done", state.running, (unsigned long long)state.done);
        usleep(1000);
    }
}

static inline int kill_server(void)
{
    const pid_t process = server;
    server = 0;
    send_signal(process, SIGKILL);
    return end_of(process);
}

static inline void stop_server(void)
{
    struct gf_error error = {0};
    bool was_there;
    const pid_t process = server;
    server = 0;
    assert_ok("stop", gf_server_stop(&was_there, &error), &error);
    assert_true(was_there);
    assert_int_equal(end_of(process), 0);
}

/* ---- pictures ---- */

enum { WIDTH = 61, HEIGHT = 300 };
static const char test_chain[] = "blur=1,equalize";

/* What the chain makes of the file without a server, with its warnings. */
static inline struct seen run_alone(const char *chain, const char *in, const char *out)
{
    struct seen seen = {0};
    struct gf_pipeline *pipeline = NULL;
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    options.threads = 2;
    options.warn = count_warning;
    options.warn_context = &seen.told;
    seen.status = gf_pipeline_open(chain, &options, &pipeline, &seen.error);
    if (!seen.status)
        seen.status = gf_pipeline_run_file(pipeline, in, out, &seen.error);
    gf_pipeline_close(pipeline);
    return seen;
}

/* The folder, where servers are looked for too, with a picture and its result. */
static inline int make_world(void **state)
{
    const char *const more = getenv("GF_SERVER_SECONDS"); /* for tests that are asked to do more */
    alarm(more && atoi(more) > 0 ? (unsigned)atoi(more) : TEST_SECONDS);
    gf_server_patience_ms = 1000 * DEADLINE_S;
    if (make_folder(state))
        return -1;
    setenv("XDG_RUNTIME_DIR", folder, 1);
    struct gf_image image = picture_random(
        (struct gf_format){.width = WIDTH, .height = HEIGHT, .channels = 3, .bits = 8}, 0, 1);
    write_ppm(in_folder("in.ppm"), &image, picture_bytes(&image));
    picture_free(&image);
    const struct seen seen = run_alone(test_chain, in_folder("in.ppm"), in_folder("right.ppm"));
    return (int)seen.status;
}

/* A test that failed has left its server. */
static inline int end_test(void **state)
{
    if (server)
        kill_server();
    gf_server_patience_ms = 1000 * DEADLINE_S;
    return 0;
}

static inline void assert_right(const char *path)
{
    if (!same_file(path, in_folder("right.ppm")))
        fail_msg("%s is not what it should be", path);
}

/* Runs the role that the arguments name; -1: they name none. */
static inline int run_role(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc > 8 && !strcmp(argv[1], "serve"))
        return serve(argv + 2, false);
    if (argc > 8 && !strcmp(argv[1], "activated"))
        return serve(argv + 2, true);
    if (argc > 7 && !strcmp(argv[1], "client"))
        return client(argv + 2);
    return -1;
}
