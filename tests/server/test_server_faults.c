/* A program of its own. What goes wrong around a server of pictures: it is killed, stands still,
 * runs out of memory, loses its device; clients die, stand still, come in crowds, send nonsense.
 * Every picture is complete and right, or absent. GF_SERVER_KILLS=200 kills as many servers,
 * which are else as many as 20 s allow, GF_SERVER_CROWD=500 sends as many clients,
 * GF_SERVER_STOPPED=60 stops one for as many seconds; the whole may then take
 * GF_SERVER_SECONDS=1000. `make test-server` does all that. */
#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cuda/measure/coders.h"
#include "server/server_roles.h"

static int from_environment(const char *name, int usual)
{
    const char *const text = getenv(name);
    return text && atoi(text) > 0 ? atoi(text) : usual;
}

/* ---- folders and sockets ---- */

static void test_folders(void **state)
{
    const int fd = gf_server_folder_open(in_folder("own"), true);
    assert_true(fd >= 0);
    close(fd);
    static const mode_t bad[] = {0755, 0710, 0707, 0770};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(chmod(in_folder("own"), bad[i]), 0);
        assert_int_equal(gf_server_folder_open(in_folder("own"), true), -1);
        assert_int_equal(errno, EPERM);
    }
    assert_int_equal(chmod(in_folder("own"), 0700), 0);
    assert_int_equal(symlink("own", in_folder("link")), 0);
    assert_int_equal(gf_server_folder_open(in_folder("link"), true), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(gf_server_folder_open(in_folder("in.ppm"), true), -1);
    assert_int_equal(gf_server_folder_open(in_folder("none"), false), -1);
    assert_int_equal(errno, ENOENT);
    if (!chown(in_folder("own"), geteuid() + 1, (gid_t)-1)) { /* only a superuser may */
        assert_int_equal(gf_server_folder_open(in_folder("own"), true), -1);
        assert_int_equal(errno, EPERM);
    }
    /* Such a folder of the system is not used at all. */
    char path[400];
    assert_int_equal(chmod(folder, 0777), 0);
    gf_server_folder_path(path, sizeof path);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(strncmp(path, "/tmp/gpufilter-", 15), 0);
    assert_null(strstr(path, folder));
}

static void test_a_bad_folder(void **state)
{
    assert_int_equal(gf_server_folder_open(in_folder("gpufilter"), true) >= 0, true);
    assert_int_equal(chmod(in_folder("gpufilter"), 0755), 0);
    char parent[20];
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    char *words[] = {"test", "serve", parent, "0", "0", "0", "0", "0", "1", NULL};
    assert_int_equal(end_of(start_role(words)), 1);
    assert_false(gf_server_present(0));
    assert_int_equal(chmod(in_folder("gpufilter"), 0700), 0);
}

/* A socket without a server: those that were killed leave one. */
static void test_stale_sockets(void **state)
{
    start_server((struct server_role){0});
    assert_int_equal(kill_server(), 128 + SIGKILL);
    bool silent = true;
    assert_null(gf_server_connect(0, &silent));
    assert_false(silent);
    const struct seen seen = run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm"));
    assert_int_equal(seen.status, GF_OK);
    assert_false(seen.connected);
    start_server((struct server_role){0});
    assert_true(run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm")).by_server);
    assert_right(in_folder("out.ppm"));
    stop_server();
}

/* ---- others ---- */

static int connect_to_server(void)
{
    const int fd = gf_server_place_connect();
    assert_true(fd >= 0);
    return fd;
}

/* Waits for a message or the end of the connection. */
static enum gf_server_type next_message(int fd, union gf_server_message *message)
{
    const double end_s = gf_now() + DEADLINE_S;
    int descriptor[GF_SERVER_DESCRIPTORS];
    enum gf_server_type type;
    while (!(type = gf_server_receive(fd, message, descriptor)) && errno == EAGAIN) {
        assert_true(gf_now() < end_s);
        usleep(500);
    }
    return type;
}

static uint32_t verdict_on(const struct gf_server_identity *identity, int device)
{
    union gf_server_message message;
    const int fd = connect_to_server();
    gf_server_prepare(&message, GF_SERVER_HELLO);
    message.hello.identity = *identity;
    message.hello.device = device;
    assert_true(gf_server_send(fd, &message, NULL, 0));
    assert_int_equal(next_message(fd, &message), GF_SERVER_WELCOME);
    close(fd);
    return message.welcome.verdict;
}

static void test_others_are_refused(void **state)
{
    struct gf_server_identity own, other;
    start_server((struct server_role){0});
    gf_server_identify(&own);
    assert_int_equal(verdict_on(&own, 0), GF_SERVER_READY);
    assert_int_equal(verdict_on(&own, 1), GF_SERVER_DIFFERENT);
    other = own;
    other.build++;
    assert_int_equal(verdict_on(&other, 0), GF_SERVER_DIFFERENT);
    other = own;
    other.gpu++;
    assert_int_equal(verdict_on(&other, 0), GF_SERVER_DIFFERENT);
    other = own;
    other.place++;
    assert_int_equal(verdict_on(&other, 0), GF_SERVER_DIFFERENT);
    assert_null(gf_server_connect(1, NULL));
    /* Other GPUs are visible to this process now, and its files are limited. */
    char *const visible =
        getenv("CUDA_VISIBLE_DEVICES") ? strdup(getenv("CUDA_VISIBLE_DEVICES")) : NULL;
    setenv("CUDA_VISIBLE_DEVICES", "5", 1);
    assert_false(gf_server_present(0));
    if (visible)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    else
        unsetenv("CUDA_VISIBLE_DEVICES");
    free(visible);
    struct rlimit before, less;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = before;
    less.rlim_cur = 1 << 30;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    assert_false(gf_server_present(0));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(gf_server_present(0));
    stop_server();
}

/* Sends a request with these descriptors; whether the server takes it. */
static bool takes_work(const struct gf_remote_work *work, const int *descriptor, int descriptors)
{
    union gf_server_message message;
    struct gf_server_identity identity;
    const int fd = connect_to_server();
    gf_server_identify(&identity);
    gf_server_prepare(&message, GF_SERVER_HELLO);
    message.hello.identity = identity;
    assert_true(gf_server_send(fd, &message, NULL, 0));
    assert_int_equal(next_message(fd, &message), GF_SERVER_WELCOME);
    assert_true(gf_server_write_work(work, &message));
    assert_true(gf_server_send(fd, &message, descriptor, descriptors));
    const enum gf_server_type type = next_message(fd, &message);
    while (type && next_message(fd, &message) == GF_SERVER_BEAT)
        ;
    close(fd);
    return type == GF_SERVER_BEAT;
}

/* The same for a request that speaks of so many files of its chain. */
static bool takes_files(int files, const int *descriptor, int descriptors)
{
    struct gf_remote_work work = {
        .chain = "invert", .options = gf_options_default(), .in_name = "in", .out_name = "out"};
    for (int i = 0; i < files; i++)
        work.file_name[i] = "named";
    work.files = files;
    work.options.format = GF_FILE_PNM;
    return takes_work(&work, descriptor, descriptors);
}

static bool takes_pair(int a, int b)
{
    const int descriptor[] = {a, b};
    const struct gf_remote_work work = {.options = gf_options_default(), .compares = GF_SCORE_ALL};
    return takes_work(&work, descriptor, 2);
}

static bool takes(int in, int out)
{
    const int descriptor[] = {in, out};
    return takes_files(0, descriptor, 2);
}

static void test_descriptors(void **state)
{
    int pipes[2];
    start_server((struct server_role){0});
    const int in = open(in_folder("in.ppm"), O_RDONLY),
              out = open(in_folder("raw.ppm"), O_RDWR | O_CREAT, 0600),
              append = open(in_folder("raw.ppm"), O_RDWR | O_APPEND),
              directory = open(folder, O_RDONLY), null = open("/dev/null", O_RDWR);
    assert_int_equal(pipe(pipes), 0);
    assert_false(takes(pipes[0], out));
    assert_false(takes(in, pipes[1]));
    assert_false(takes(in, in)); /* it is not open for writing */
    assert_false(takes(in, append));
    assert_false(takes(directory, out));
    assert_false(takes(null, out));
    assert_true(takes(in, out));
    const int named[] = {in, out, in}, piped[] = {in, out, pipes[0]};
    assert_true(takes_files(1, named, 3));
    assert_false(takes_files(1, named, 2)); /* it is missing */
    assert_false(takes_files(0, named, 3)); /* nothing was said of it */
    assert_false(takes_files(1, piped, 3));
    const int write_only = open(in_folder("raw.ppm"), O_WRONLY), of_three[] = {in, in, in};
    const struct gf_remote_work pair = {.options = gf_options_default(), .compares = GF_SCORE_ALL};
    assert_true(takes_pair(in, in) && takes_pair(in, out)); /* no picture is written */
    assert_false(takes_pair(in, write_only) || takes_pair(write_only, in));
    assert_false(takes_pair(in, pipes[0]) || takes_pair(directory, in) || takes_pair(in, null));
    assert_false(takes_work(&pair, of_three, 3) || takes_work(&pair, of_three, 1));
    const int fds[] = {in, out, write_only, append, directory, null, pipes[0], pipes[1]};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        close(fds[i]);
    stop_server();
}

static void test_nonsense(void **state)
{
    union gf_server_message message;
    uint64_t random = 7;
    start_server((struct server_role){0});
    for (int i = 0; i < 50; i++) {
        const int fd = connect_to_server();
        for (size_t b = 0; b < sizeof message; b++)
            ((unsigned char *)&message)[b] = (unsigned char)random_next(&random);
        if (i % 2)
            gf_server_prepare(&message, GF_SERVER_HELLO + i / 2 % GF_SERVER_RESULT);
        const size_t size = i % 2 ? message.head.size : (size_t)i * 100 + 1;
        const bool hello = i % 2 && message.head.type == GF_SERVER_HELLO;
        assert_int_equal(send(fd, &message, size, MSG_NOSIGNAL), size);
        assert_int_equal(next_message(fd, &message), hello ? GF_SERVER_WELCOME : 0);
        close(fd);
    }
    assert_true(run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm")).by_server);
    stop_server();
}

/* ---- the server fails in the middle ---- */

struct run {
    pthread_t thread;
    char in[400], out[400];
    struct seen seen;
};

static void *run_main(void *argument)
{
    struct run *const run = argument;
    run->seen = run_client(test_chain, run->in, run->out);
    return NULL;
}

static void begin_run(struct run *run)
{
    snprintf(run->in, sizeof run->in, "%s", in_folder("in.ppm"));
    snprintf(run->out, sizeof run->out, "%s", in_folder("middle.ppm"));
    (void)unlink(run->out);
    assert_int_equal(pthread_create(&run->thread, NULL, run_main, run), 0);
    wait_for_server(1, 0);
}

/* The picture is done here, with one warning that says why. */
static void end_run(struct run *run, const char *why)
{
    pthread_join(run->thread, NULL);
    assert_ok(why, run->seen.status, &run->seen.error);
    assert_true(run->seen.connected);
    assert_false(run->seen.by_server);
    assert_int_equal(run->seen.told.warnings, 1);
    if (!strstr(run->seen.told.last, why) || !strstr(run->seen.told.last, "without the server"))
        fail_msg("the warning is '%s'", run->seen.told.last);
    assert_right(in_folder("middle.ppm"));
}

static void test_a_server_that_is_killed(void **state)
{
    struct run run = {0};
    start_server((struct server_role){.delay_us = 1000000});
    begin_run(&run);
    assert_int_equal(kill_server(), 128 + SIGKILL);
    end_run(&run, "ended in the middle");
}

/* It goes on later, and writes to a file that is nobody's any more. */
static void test_a_server_that_stands_still(void **state)
{
    struct run run = {0};
    start_server((struct server_role){.delay_us = 50000});
    gf_server_patience_ms = 2000;
    begin_run(&run);
    send_signal(server, SIGSTOP);
    end_run(&run, "has not answered");
    gf_server_patience_ms = 50;
    bool silent = false;
    assert_null(gf_server_connect(0, &silent));
    assert_true(silent);
    gf_server_patience_ms = 1000 * DEADLINE_S;
    send_signal(server, SIGCONT);
    wait_for_server(0, 0);
    assert_right(in_folder("middle.ppm"));
    stop_server();
}

static void test_memory_runs_out(void **state)
{
    start_server((struct server_role){.memory_bytes = 256});
    for (int i = 0; i < 3; i++) {
        const struct seen seen = run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm"));
        assert_ok("picture", seen.status, &seen.error);
        assert_true(seen.connected && !seen.by_server);
        assert_int_equal(seen.told.warnings, 1);
        assert_non_null(strstr(seen.told.last, "without the server"));
        assert_right(in_folder("out.ppm"));
    }
    stop_server();
}

/* What the server warned of before it failed is warned of here, when it is done again, and once. */
static void test_warnings_of_a_failure(void **state)
{
    const struct seen made = run_client("round=9", in_folder("in.ppm"), in_folder("alpha.png"));
    assert_ok("alpha", made.status, &made.error);
    const struct seen alone = run_client(test_chain, in_folder("alpha.png"), in_folder("1.jpg"));
    assert_int_equal(alone.told.warnings, 1); /* JPEG has no alpha */
    start_server((struct server_role){0});
    struct seen seen = run_client(test_chain, in_folder("alpha.png"), in_folder("2.jpg"));
    assert_true(seen.by_server);
    assert_int_equal(seen.told.warnings, 1);
    stop_server();
    start_server((struct server_role){.memory_bytes = 256});
    seen = run_client(test_chain, in_folder("alpha.png"), in_folder("3.jpg"));
    assert_ok("picture", seen.status, &seen.error);
    assert_false(seen.by_server);
    assert_int_equal(seen.told.warnings, 2);
    stop_server();
}

/* The server ends, so that the next one finds the device as it is then. */
static void test_a_device_that_fails(void **state)
{
    start_server((struct server_role){.fail_run = 2});
    const struct seen seen = run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm"));
    assert_ok("picture", seen.status, &seen.error);
    assert_int_equal(seen.told.warnings, 1);
    assert_non_null(strstr(seen.told.last, "unspecified launch failure"));
    assert_right(in_folder("out.ppm"));
    const pid_t process = server;
    server = 0;
    assert_int_equal(end_of(process), 1);
}

/* ---- clients ---- */

static void test_a_client_that_dies(void **state)
{
    start_server((struct server_role){.delay_us = 400000}); /* a picture takes a minute and more */
    const pid_t process =
        start_client(test_chain, in_folder("in.ppm"), in_folder("dead"), 1, 1000 * DEADLINE_S);
    wait_for_server(1, 0);
    send_signal(process, SIGKILL);
    assert_int_equal(end_of(process), 128 + SIGKILL);
    wait_for_server(0, 0);
    assert_int_equal(look_at_server().done, 0);
    assert_int_equal(access(in_folder("dead.0.ppm"), F_OK), -1);
    stop_server();
}

/* The result waits for it, however long it is stopped. */
static void test_a_client_that_stands_still(void **state)
{
    enum { PATIENCE_MS = 2000 };
    start_server((struct server_role){.delay_us = 5000});
    const pid_t process =
        start_client(test_chain, in_folder("in.ppm"), in_folder("still"), 1, PATIENCE_MS);
    wait_for_server(1, 0);
    send_signal(process, SIGSTOP);
    const double stopped_s = gf_now();
    wait_for_server(0, 1);
    const double stays_s = from_environment("GF_SERVER_STOPPED", 3);
    while (gf_now() < stopped_s + stays_s)
        usleep(10000);
    send_signal(process, SIGCONT);
    assert_int_equal(end_of(process), 0); /* the picture was the server's */
    assert_right(in_folder("still.0.ppm"));
    stop_server();
}

static void test_connections_without_number(void **state)
{
    enum { MANY = 500 };
    static struct gf_remote *remote[MANY];
    start_server((struct server_role){0});
    for (int i = 0; i < MANY; i++) {
        remote[i] = gf_server_connect(0, NULL);
        assert_non_null(remote[i]);
    }
    assert_int_equal(look_at_server().clients, MANY + 1);
    assert_true(run_client(test_chain, in_folder("in.ppm"), in_folder("out.ppm")).by_server);
    for (int i = 0; i < MANY; i++)
        remote[i]->close(remote[i]);
    stop_server();
}

static void test_a_crowd(void **state)
{
    enum { MOST = 1000 };
    static pid_t process[MOST];
    const int count = from_environment("GF_SERVER_CROWD", 40);
    start_server((struct server_role){.workers = 3});
    for (int i = 0; i < count && i < MOST; i++) {
        char name[30];
        snprintf(name, sizeof name, "crowd%d", i);
        process[i] =
            start_client(test_chain, in_folder("in.ppm"), in_folder(name), 1, 1000 * DEADLINE_S);
    }
    for (int i = 0; i < count && i < MOST; i++) {
        char name[30];
        snprintf(name, sizeof name, "crowd%d.0.ppm", i);
        assert_int_equal(end_of(process[i]), 0);
        assert_right(in_folder(name));
    }
    assert_int_equal(look_at_server().done, count);
    stop_server();
}

/* Every file in the folder is a complete result. */
static int count_results(const char *name)
{
    char path[400]; /* in_folder() forgets it */
    int count = 0;
    snprintf(path, sizeof path, "%s", in_folder(name));
    DIR *const entries = opendir(path);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        char file[800];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        assert_right(file);
        count++;
    }
    closedir(entries);
    return count;
}

static void test_kills_at_any_moment(void **state)
{
    enum { CLIENTS = 8, PICTURES = 3, LEAST = 5, MOST = 200, SECONDS = 20 };
    const int asked = from_environment("GF_SERVER_KILLS", 0);
    const double begin_s = gf_now();
    uint64_t random = (uint64_t)getpid();
    int alone = 0, rounds = 0;
    for (; rounds < (asked ? asked : MOST); rounds++) {
        if (!asked && rounds >= LEAST && gf_now() > begin_s + SECONDS)
            break;
        pid_t process[CLIENTS];
        char path[60], name[80];
        snprintf(path, sizeof path, "killed%d", rounds);
        assert_int_equal(mkdir(in_folder(path), 0700), 0);
        start_server((struct server_role){.delay_us = 300});
        for (int i = 0; i < CLIENTS; i++) {
            snprintf(name, sizeof name, "%s/%d", path, i);
            process[i] = start_client(test_chain, in_folder("in.ppm"), in_folder(name), PICTURES,
                                      1000 * DEADLINE_S);
        }
        usleep((useconds_t)random_below(&random, 60000));
        assert_int_equal(kill_server(), 128 + SIGKILL);
        for (int i = 0; i < CLIENTS; i++) {
            const int end = end_of(process[i]);
            assert_true(end == 0 || end == 3);
            alone += end == 3;
        }
        assert_int_equal(count_results(path), CLIENTS * PICTURES);
    }
    print_message("# %d servers killed; %d of %d clients did pictures themselves\n", rounds, alone,
                  CLIENTS * rounds);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_a_bad_folder),
        cmocka_unit_test_teardown(test_stale_sockets, end_test),
        cmocka_unit_test_teardown(test_others_are_refused, end_test),
        cmocka_unit_test_teardown(test_descriptors, end_test),
        cmocka_unit_test_teardown(test_nonsense, end_test),
        cmocka_unit_test_teardown(test_a_server_that_is_killed, end_test),
        cmocka_unit_test_teardown(test_a_server_that_stands_still, end_test),
        cmocka_unit_test_teardown(test_memory_runs_out, end_test),
        cmocka_unit_test_teardown(test_warnings_of_a_failure, end_test),
        cmocka_unit_test_teardown(test_a_device_that_fails, end_test),
        cmocka_unit_test_teardown(test_a_client_that_dies, end_test),
        cmocka_unit_test_teardown(test_a_client_that_stands_still, end_test),
        cmocka_unit_test_teardown(test_connections_without_number, end_test),
        cmocka_unit_test_teardown(test_a_crowd, end_test),
        cmocka_unit_test_teardown(test_kills_at_any_moment, end_test),
    };
    const int ended = run_role(argc, argv);
    return ended >= 0
               ? ended
               : cmocka_run_group_tests_name("server_faults", tests, make_world, remove_folder);
}
