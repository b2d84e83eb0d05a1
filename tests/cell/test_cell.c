/* A program of its own. Cells for decoders, with decoders that are hostile: the test program is
 * its own cell, and opens "pictures" whose first bytes are a GIF's and whose next word says what
 * to try. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#include "base/fail.h"
#include "base/process/process.h"
#include "base/threads/times.h"
#include "codec/cell/cell.h"
#include "codec/cell/process.h"
#include "codec/codec.h"
#include "icc/icc_build.h"

/* ---- in the cell ---- */

static struct gf_source hostile;
static char word[32];
static int kept; /* of pictures before, in the same process */

static bool is(const char *wanted)
{
    return !strcmp(word, wanted);
}

static void stay(void)
{
    for (;;)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}

/* Sends a message as it is, or only its beginning. */
static void send_raw(const void *message, size_t size)
{
    (void)gf_socket_send(GF_CELL_SOCKET, message, size, NULL, 0, 0);
}

static void allocate_without_end(void)
{
    for (;;) {
        char *const block = malloc(16 << 20);
        if (!block)
            break;
        memset(block, 1, 16 << 20);
    }
}

static void write_to_all(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        const ssize_t written = fd == STDERR_FILENO ? 0 : write(fd, "x", 1);
        (void)written;
    }
}

/* True if something worked that must not. */
static bool reach_out(void)
{
    struct stat file;
    return open("/etc/passwd", O_RDONLY) >= 0 || open("/tmp/x", O_CREAT | O_WRONLY, 0600) >= 0 ||
           !stat("/etc/passwd", &file) || syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0) >= 0 ||
           !access("/", F_OK) || !fcntl(GF_CELL_SOCKET, F_SETFL, 0);
}

static void flood(void)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_WARNING);
    for (int i = 0; i < 100000; i++)
        send_raw(&message, message.head.size);
}

/* Headers that contradict themselves or the program's limits. */
static void lie(void)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_HEADER);
    message.header.width = is("wide") ? 1 << 24 : 10;
    message.header.height = is("wide") ? 1 << 24 : 10;
    message.header.channels = is("channels") ? 5 : 3;
    message.header.bits = 8;
    message.header.orientation = 1;
    message.header.blob[0] = is("blob") ? (uint64_t)1 << 40 : 0;
    message.header.texts = is("texts") ? 1000000 : 0;
    message.header.coded.columns = is("coded") ? 1 << 30 : 0;
    message.header.status = is("status") ? GF_ERROR_UNAVAILABLE : GF_OK;
    memset(message.header.why, is("endless") ? 'x' : 0, sizeof message.header.why);
    send_raw(&message, is("short") ? sizeof message.head : message.head.size);
    stay();
}

/* Memory that RLIMIT_DATA does not count, in a cell that may have 256 MiB and a little. */
static void map_uncounted(void)
{
    const int flags = (is("shared") ? MAP_SHARED : MAP_PRIVATE) | (is("grows") ? MAP_GROWSDOWN : 0);
    for (int i = 0; i < 48; i++) {
        char *const block =
            mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            return;
        memset(block, 1, 1 << 20);
    }
    raise(SIGUSR1); /* all of it can be had */
}

static void *wait_in_thread(void *argument)
{
    stay();
    return argument;
}

/* More threads than a cell may have with two for its picture. The system may not give as many. */
static void start_threads(void)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    for (int i = 0; i < 200; i++) {
        if (pthread_create(&thread, &small, wait_in_thread, NULL) && i < 100)
            raise(SIGUSR2);
    }
    stay();
}

static void act_hostile(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
    if (is("crash"))
        raise(SIGSEGV);
    if (is("hang"))
        stay();
    if (is("allocate"))
        allocate_without_end();
    if (is("abort"))
        abort();
    if (is("connect"))
        (void)connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&address, sizeof address);
    if (is("fork") && !fork())
        _exit(0);
    if (is("kill"))
        kill(getppid(), SIGKILL);
    if (is("trace"))
        ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
    if (is("execute"))
        execl("/bin/true", "true", NULL);
    if (is("code"))
        (void)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0);
    if (is("write"))
        write_to_all();
    if (is("resize"))
        syscall(SYS_ftruncate, GF_CELL_MEMORY, 0);
    if (is("flood"))
        flood();
    if (is("exit"))
        _exit(0);
    if (is("shared") || is("grows") || is("private"))
        map_uncounted();
    if (is("threads"))
        start_threads();
    if (is("keep"))
        kept++;
}

static enum gf_status hostile_read(struct gf_source *source, int rows, unsigned char *dst,
                                   size_t pitch, struct gf_error *error)
{
    memset(dst, is("reach") ? reach_out() : is("keep") ? kept : 0, pitch * (size_t)rows);
    if (is("late"))
        raise(SIGBUS);
    return is("damaged") ? gf_fail(error, GF_ERROR_INPUT, "a\x1b[31m\nb: damaged") : GF_OK;
}

static enum gf_status hostile_window(struct gf_source *source, struct gf_rectangle window, int more,
                                     struct gf_error *error)
{
    source->format.width = window.width;
    source->format.height = window.height - is("window lies");
    if (is("window crash"))
        raise(SIGSEGV);
    if (is("window hang"))
        stay();
    return is("window fails")    ? gf_fail(error, GF_ERROR_UNFIT, "it is of another kind")
           : is("window memory") ? gf_fail_memory(error)
                                 : GF_OK;
}

static void hostile_close(struct gf_source *source)
{
    (void)source;
    if (is("bye"))
        raise(SIGILL);
    if (is("stay"))
        stay();
}

static enum gf_status hostile_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error)
{
    static const char magic[] = "GIF89a:", *const lies[] = {"wide",    "channels", "blob",
                                                            "texts",   "coded",    "short",
                                                            "endless", "status",   NULL};
    char head[sizeof magic - 1 + sizeof word] = "";
    size_t got;
    if (gf_input_peek(input, head, sizeof head - 1, &got, error) ||
        strncmp(head, magic, sizeof magic - 1) != 0)
        return gf_source_open(input, options, source, error);
    snprintf(word, sizeof word, "%s", head + sizeof magic - 1);
    act_hostile();
    for (int i = 0; lies[i]; i++) {
        if (is(lies[i]))
            lie();
    }
    hostile = (struct gf_source){.format = {64, 48, 3, 8, GF_SAMPLES_INTEGER},
                                 .metadata = {.orientation = 1},
                                 .read = hostile_read,
                                 .window = hostile_window,
                                 .close = hostile_close};
    *source = &hostile;
    return GF_OK;
}

/* Answers with tables that are none: too few bytes, or a grid whose nodes are not there. */
static void lie_about_tables(const struct gf_cell_profile *request, unsigned char *shared)
{
    union gf_cell_message message;
    struct gf_icc_transform *const transform =
        (struct gf_icc_transform *)(void *)(shared + GF_CELL_HALF);
    *transform = (struct gf_icc_transform){.kind = GF_ICC_GRID,
                                           .inputs = request->inputs,
                                           .outputs = request->outputs,
                                           .bits = request->bits,
                                           .grid = 49,
                                           .bytes = sizeof *transform,
                                           .node_at = sizeof *transform,
                                           .place_at = sizeof *transform};
    gf_cell_prepare(&message, GF_CELL_TABLES);
    message.tables.bytes = is("few") ? 10 : is("many") ? GF_CELL_HALF + 1 : sizeof *transform;
    message.tables.is_sound = is("many") ? 7 : 1;
    send_raw(&message, message.head.size);
}

static const char profile_magic[] = "profile:";

/* A cell for profiles. The profile's beginning says what to try; other profiles are read. */
static int serve_profiles(void)
{
    union gf_cell_message message, answer;
    int descriptor;
    if (!gf_zygote_serve(GF_OK, NULL))
        return 0;
    unsigned char *const shared =
        mmap(NULL, 2 * GF_CELL_HALF, PROT_READ | PROT_WRITE, MAP_SHARED, GF_CELL_MEMORY, 0);
    gf_cell_prepare(&message, GF_CELL_READY);
    send_raw(&message, message.head.size);
    while (gf_socket_receive(GF_CELL_SOCKET, &message, sizeof message, &descriptor, 1, 0)) {
        if (memcmp(shared, profile_magic, strlen(profile_magic)) != 0) {
            gf_cell_answer_profile(&message.profile, shared, &answer);
            send_raw(&answer, answer.head.size);
            continue;
        }
        snprintf(word, sizeof word, "%s", (char *)shared + strlen(profile_magic));
        act_hostile();
        lie_about_tables(&message.profile, shared);
    }
    return 0;
}

/* One pixel of white. */
static const char good_gif[] =
    "GIF89a\1\0\1\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;";

static enum gf_status load_library(struct gf_error *error)
{
    const struct gf_options options = gf_options_default();
    struct gf_input *input;
    struct gf_source *source = NULL;
    if (!gf_input_open_memory(good_gif, sizeof good_gif, "good", &input, NULL) &&
        !gf_source_open(input, &options, &source, NULL))
        source->close(source);
    return GF_OK;
}

/* ---- in the test ---- */

static struct gf_error failure;
static int warnings;

static void count_warning(void *context, const char *text)
{
    warnings++;
}

static struct gf_options in_cells(void)
{
    struct gf_options options = gf_options_default();
    options.sandbox = GF_SANDBOX_ALL;
    options.sandbox_program = "/proc/self/exe";
    options.threads = 2;
    options.warn = count_warning;
    return options;
}

static enum gf_status decode_bytes(const void *data, size_t size, const struct gf_options *options,
                                   unsigned *sum)
{
    struct gf_input *input;
    struct gf_source *source = NULL;
    unsigned char row[4096];
    warnings = 0;
    *sum = 0;
    memset(&failure, 0, sizeof failure);
    assert_int_equal(gf_input_open_memory(data, size, "x.gif", &input, &failure), GF_OK);
    enum gf_status status = gf_source_open(input, options, &source, &failure);
    if (!status && strstr(data, ":window"))
        status = source->window(source, (struct gf_rectangle){1, 2, 3, 4}, 0, &failure);
    for (int y = 0; !status && y < source->format.height; y++) {
        assert_true(gf_row_bytes(source->format) <= sizeof row);
        status = source->read(source, 1, row, sizeof row, &failure);
        for (size_t i = 0; !status && i < gf_row_bytes(source->format); i++)
            *sum += row[i];
    }
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}

static enum gf_status decode_word(const char *what, const struct gf_options *options, unsigned *sum)
{
    char file[64];
    snprintf(file, sizeof file, "GIF89a:%s", what);
    return decode_bytes(file, strlen(file) + 1, options, sum);
}

/* The next picture is not harmed. */
static void assert_good(const struct gf_options *options)
{
    unsigned sum;
    assert_int_equal(decode_bytes(good_gif, sizeof good_gif, options, &sum), GF_OK);
    assert_int_equal(sum, 3 * 255);
    assert_string_equal(failure.text, "");
}

static void assert_dies(const char *what, const char *text)
{
    const struct gf_options options = in_cells();
    unsigned sum;
    assert_int_equal(decode_word(what, &options, &sum), GF_ERROR_INPUT);
    /* A sanitizer's report ends the process without a signal. */
    const size_t length = gf_cell_lock_is_real ? sizeof failure.text : strlen("x.gif: the decoder");
    if (strncmp(failure.text, text, length) != 0)
        fail_msg("%s: '%s', not '%s'", what, failure.text, text);
    assert_good(&options);
}

static void test_deaths(void **state)
{
    assert_dies("crash", "x.gif: the decoder died (signal 11)");
    assert_dies("abort", "x.gif: the decoder died (signal 6)");
    assert_dies("late", "x.gif: the decoder died (signal 7)");
    assert_dies("exit", "x.gif: the decoder died");
}

/* A cell maps the file, and dies where the file ends before. */
static void test_a_file_that_becomes_shorter(void **state)
{
    const struct gf_options options = in_cells();
    struct gf_input *input;
    struct gf_source *source;
    unsigned char row[64 * 3];
    const int fd = memfd_create("x.gif", MFD_CLOEXEC);
    assert_int_equal(write(fd, "GIF89a:late", 12), 12);
    assert_int_equal(
        gf_input_open_descriptor(fd, 0, (struct gf_pages){-1, -1}, "x.gif", &input, &failure),
        GF_OK);
    assert_int_equal(gf_source_open(input, &options, &source, &failure), GF_OK);
    assert_int_equal(ftruncate(fd, 10), 0);
    assert_int_equal(source->read(source, 1, row, sizeof row, &failure), GF_ERROR_READ);
    assert_string_equal(failure.text, "x.gif: became shorter while it was read");
    source->close(source);
    gf_input_close(input);
    assert_good(&options);
}

/* A cell that dies after its picture was read fails nothing. */
static void test_death_after_the_picture(void **state)
{
    const struct gf_options options = in_cells();
    unsigned sum;
    assert_int_equal(decode_word("bye", &options, &sum), GF_OK);
    assert_good(&options);
}

static void test_forbidden_calls(void **state)
{
    static const char *const words[] = {"connect", "fork",  "kill",   "trace",  "execute",
                                        "code",    "write", "resize", "shared", "grows"};
    const struct gf_options options = in_cells();
    unsigned sum;
    if (!gf_cell_lock_is_real)
        skip();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_dies(words[i],
                    "x.gif: the decoder died (signal 31): it did what a decoder may not do");
    assert_int_equal(decode_word("reach", &options, &sum), GF_OK);
    assert_int_equal(sum, 0);
}

static void test_memory(void **state)
{
    const struct gf_options options = in_cells();
    unsigned sum;
    if (!gf_cell_lock_is_real)
        skip();
    /* The decoder is told that there is no more, and goes on with what it has. */
    assert_int_equal(decode_word("allocate", &options, &sum), GF_OK);
    assert_int_equal(decode_word("private", &options, &sum), GF_OK);
    assert_good(&options);
}

/* A decoder that does not end is ended when the picture's time is up, and no later. */
static void test_time(void **state)
{
    const struct gf_options options = in_cells();
    unsigned sum;
    const double begin_s = gf_now();
    gf_time_limit_set(begin_s + 0.2);
    assert_int_equal(decode_word("hang", &options, &sum), GF_ERROR_INPUT);
    assert_true(gf_now() - begin_s < 30);
    gf_time_limit_set(0);
    assert_good(&options);
    assert_int_equal(decode_word("stay", &options, &sum), GF_OK); /* does not close */
    assert_true(gf_now() - begin_s < 60);
    assert_good(&options);
}

static void test_lies(void **state)
{
    static const char *const words[] = {"channels", "blob",    "texts", "coded",
                                        "short",    "endless", "status"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_dies(words[i], "x.gif: the decoder gave an answer without sense");
    assert_dies("flood", "x.gif: the decoder gave an answer without sense");
    assert_dies("wide", "x.gif: 16777216x16777216 is 281474976710656 pixels, over "
                        "options.max_pixels=1000000000");
}

/* A window that fails is told as a row would be. */
static void test_windows(void **state)
{
    const struct gf_options options = in_cells();
    unsigned sum;
    assert_dies("window crash", "x.gif: the decoder died (signal 11)");
    assert_dies("window lies", "x.gif: the decoder gave an answer without sense");
    assert_dies("window memory", "x.gif: the decoder took more than the 288 MiB of memory that it "
                                 "was allowed");
    assert_int_equal(decode_word("window fails", &options, &sum), GF_ERROR_UNFIT);
    assert_string_equal(failure.text, "it is of another kind");
    gf_time_limit_set(gf_now() + 0.2);
    assert_int_equal(decode_word("window hang", &options, &sum), GF_ERROR_INPUT);
    assert_string_equal(failure.text, "x.gif: the time for its decoder is up");
    gf_time_limit_set(0);
    assert_int_equal(decode_word("window", &options, &sum), GF_OK);
    assert_good(&options);
}

static void test_text_of_a_failure_is_printable(void **state)
{
    assert_dies("damaged", "a?[31m?b: damaged");
}

static void test_threads(void **state)
{
    const struct gf_options options = in_cells();
    unsigned sum;
    if (!gf_cell_lock_is_real)
        skip();
    gf_time_limit_set(gf_now() + 30); /* so that a cell that is not ended fails here */
    assert_int_equal(decode_word("threads", &options, &sum), GF_ERROR_INPUT);
    gf_time_limit_set(0);
    if (!strcmp(failure.text, "x.gif: the decoder died (signal 12)")) {
        print_message("the system gives a process no 100 threads\n");
        skip();
    }
    assert_string_equal(failure.text, "x.gif: the decoder started more threads than it may");
    assert_good(&options);
}

/* A picture after a picture is decoded by the same process, or by its own one with
 * GF_SANDBOX_ALL. */
static void test_cells_are_used_again(void **state)
{
    struct gf_options options = in_cells();
    unsigned sum;
    gf_cells_join();
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(decode_word("keep", &options, &sum), GF_OK);
        assert_int_equal(sum, 64 * 48 * 3);
    }
    options.sandbox = GF_SANDBOX_AUTO;
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(decode_word("keep", &options, &sum), GF_OK);
        assert_int_equal(sum, 64 * 48 * 3 * i);
    }
    for (int i = 0; i < 20; i++)
        assert_good(&options);
    assert_int_equal(decode_word("damaged", &options, &sum), GF_ERROR_INPUT);
    assert_good(&options);
    siginfo_t ended;
    int children = 0;
    gf_cells_leave(); /* the last user: all of them end, and are waited for */
    while (!waitid(P_ALL, 0, &ended, WEXITED))
        children++;
    assert_int_equal(children, 0);
}

static enum gf_status decode_good(enum gf_sandbox sandbox, const char *program, unsigned *sum)
{
    struct gf_options options = in_cells();
    options.sandbox = sandbox;
    options.sandbox_program = program;
    return decode_bytes(good_gif, sizeof good_gif, &options, sum);
}

/* Where there are no cells, pictures are decoded without, with one warning, unless cells are asked
 * for. */
static int find_no_cells(void)
{
    unsigned sum;
    if (decode_good(GF_SANDBOX_ALL, "/nowhere/gpufilter", &sum) != GF_ERROR_UNAVAILABLE)
        return 1;
    if (decode_good(GF_SANDBOX_AUTO, "/proc/self/exe", &sum) || sum != 3 * 255 || warnings != 1)
        return 2;
    return decode_good(GF_SANDBOX_AUTO, "/proc/self/exe", &sum) || warnings != 0 ? 3 : 0;
}

/* What may pass fails its picture alone: a start that dies, and a want of descriptors. */
static int fail_to_start(void)
{
    struct rlimit limit, few;
    unsigned sum;
    getrlimit(RLIMIT_NOFILE, &limit);
    few = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    if (decode_good(GF_SANDBOX_AUTO, "/bin/true", &sum) != GF_ERROR_MEMORY)
        return 1;
    setrlimit(RLIMIT_NOFILE, &few);
    if (decode_good(GF_SANDBOX_AUTO, "/proc/self/exe", &sum) != GF_ERROR_MEMORY || sum ||
        strncmp(failure.text, "x.gif: no cell for its decoder: ", 32) != 0)
        return 2;
    setrlimit(RLIMIT_NOFILE, &limit);
    gf_cells_join();
    if (decode_good(GF_SANDBOX_AUTO, "/proc/self/exe", &sum) || sum != 3 * 255 || warnings)
        return 3;
    return waitpid(-1, NULL, WNOHANG) == 0 ? 0 : 4; /* there is a cell */
}

/* Runs it in a process that has not started a cell yet, since what that finds out holds for all of
 * it. */
static int run_in_child(int (*run)(void))
{
    int status = -1;
    const pid_t process = fork();
    if (!process)
        _exit(run());
    (void)waitpid(process, &status, 0);
    return status;
}

static int without_cells, without_luck;

static void test_starts_that_fail(void **state)
{
    unsigned sum;
    assert_int_equal(without_cells, 0);
    assert_int_equal(without_luck, 0);
    /* Where cells have worked, no picture is decoded without. */
    assert_int_equal(decode_good(GF_SANDBOX_AUTO, "/nowhere/gpufilter", &sum), GF_ERROR_MEMORY);
}

static struct gf_icc profile_in_cell(const void *data, size_t size)
{
    return (struct gf_icc){
        .data = data, .size = size, .sandbox = GF_SANDBOX_ALL, .sandbox_program = "/proc/self/exe"};
}

static struct gf_icc_wish wish_to_srgb(struct gf_icc from)
{
    return (struct gf_icc_wish){
        .from = from, .to = gf_icc_named("srgb", false), .inputs = 3, .outputs = 3, .bits = 8};
}

/* A profile is Display P3, but for its name, which decides alone whether its tables are kept. */
static struct gf_icc named_p3(unsigned char *profile, char letter)
{
    const struct gf_icc p3 = gf_icc_named("display-p3", false);
    memcpy(profile, p3.data, p3.size);
    unsigned char *const name = memmem(profile, p3.size, "\0D\0i", 4);
    assert_non_null(name);
    name[1] = (unsigned char)letter;
    return profile_in_cell(profile, p3.size);
}

/* The next profile is not harmed, and a cell's tables are those of this process. */
static void assert_good_profile(char letter)
{
    unsigned char profile[4096];
    struct gf_icc_transform *theirs = NULL, *own = NULL;
    struct gf_icc icc = named_p3(profile, letter);
    struct gf_icc_wish wish = wish_to_srgb(icc);
    assert_true(gf_icc_is_sound(icc));
    assert_int_equal(gf_icc_build(&wish, &theirs, &failure), GF_OK);
    icc = named_p3(profile, (char)(letter + 32));
    icc.sandbox = GF_SANDBOX_OFF;
    wish = wish_to_srgb(icc);
    assert_int_equal(gf_icc_build(&wish, &own, &failure), GF_OK);
    assert_int_equal(theirs->bytes, own->bytes);
    assert_memory_equal(theirs, own, own->bytes);
    free(theirs);
    free(own);
}

static struct gf_icc hostile_profile(const char *what)
{
    static char profile[64];
    snprintf(profile, sizeof profile, "%s%s", profile_magic, what);
    return profile_in_cell(profile, strlen(profile) + 1);
}

static void assert_no_tables(const char *what, const char *text)
{
    const struct gf_icc_wish wish = wish_to_srgb(hostile_profile(what));
    struct gf_icc_transform *transform = NULL;
    assert_int_equal(gf_icc_build(&wish, &transform, &failure), GF_ERROR_INPUT);
    assert_string_equal(failure.text, text);
    assert_null(transform);
}

/* A profile that takes Little CMS over harms no other, and counts as unsound. */
static void test_profiles(void **state)
{
    if (!gf_icc_available())
        skip();
    assert_good_profile('A');
    assert_false(gf_icc_is_sound(hostile_profile("crash")));
    assert_false(gf_icc_is_sound(hostile_profile("many")));
    assert_no_tables("few", "the decoder gave an answer without sense");
    assert_no_tables("many", "the decoder gave an answer without sense");
    assert_no_tables("outside", "the decoder gave an answer without sense");
    if (gf_cell_lock_is_real)
        assert_no_tables("crash", "the decoder died (signal 11)");
    assert_good_profile('B');
    /* A picture's time says nothing about the profile. */
    gf_time_limit_set(gf_now() + 0.2);
    assert_true(gf_icc_is_sound(hostile_profile("hang")));
    assert_no_tables("hang", "the time for its decoder is up");
    gf_time_limit_set(0);
    assert_good_profile('C');
}

/* A cell whose program has gone ends, even in the middle of its work, with the zygote, also where
 * another process holds what the program held. */
static void test_orphans_end(void **state)
{
    const struct gf_options options = in_cells();
    unsigned sum;
    int status;
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    gf_cells_join();
    gf_cells_leave();
    const pid_t program = fork();
    if (!program) {
        assert_int_equal(setpgid(0, 0), 0);
        (void)decode_word("keep", &options, &sum);
        if (!fork())
            stay();
        (void)!write(ready[1], &byte, 1);
        _exit((int)decode_word("hang", &options, &sum));
    }
    assert_int_equal(read(ready[0], &byte, 1), 1); /* all three processes are there */
    close(ready[0]);
    close(ready[1]);
    usleep(300000);
    assert_int_equal(kill(program, SIGKILL), 0);
    assert_int_equal(waitpid(program, &status, 0), program);
    for (int i = 0; i < 2; i++)
        assert_true(wait(&status) > 0);           /* the alarm ends the test if they do not end */
    assert_int_equal(kill(-program, SIGKILL), 0); /* the process that holds its descriptors */
    assert_true(wait(&status) > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_that_fail),
        cmocka_unit_test(test_deaths),
        cmocka_unit_test(test_a_file_that_becomes_shorter),
        cmocka_unit_test(test_death_after_the_picture),
        cmocka_unit_test(test_forbidden_calls),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_text_of_a_failure_is_printable),
        cmocka_unit_test(test_cells_are_used_again),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_orphans_end),
    };
    struct gf_options options = in_cells();
    if (argc == 3 && !strcmp(argv[1], GF_CELL_ARGUMENT) && !strcmp(argv[2], "icc"))
        return serve_profiles();
    if (argc == 3 && !strcmp(argv[1], GF_CELL_ARGUMENT))
        return gf_cell_serve(
            &(struct gf_cell_work){.threads = true, .open = hostile_open, .warm = load_library});
    alarm(120);
    without_cells = run_in_child(find_no_cells);
    without_luck = run_in_child(fail_to_start);
    if (!gf_file_format_of((const unsigned char *)good_gif, sizeof good_gif) ||
        gf_cell_try(&options, NULL, &failure)) {
        printf("1..1\nok 1 # SKIP no cells here: %s\n", failure.text);
        return 0;
    }
    gf_cells_read_profiles();
    gf_cells_join();
    gf_cells_leave(); /* the cell of the question ends */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
