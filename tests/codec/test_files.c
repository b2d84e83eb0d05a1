/* A program of its own. Inputs that are read twice, outputs that appear complete or not at all. */
#include "codec/codec_test.h"
#include "codec/io/input.h"
#include "codec/io/output.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

/* The library asks for this one path before it writes without a name: saying no makes it take a
 * named temporary file, as it does where the file system cannot do without. */
static bool named_only;
int access(const char *path, int mode)
{
    if (named_only && !strcmp(path, "/proc/self/fd")) {
        errno = ENOENT;
        return -1;
    }
    return faccessat(AT_FDCWD, path, mode, 0);
}

/* The permissions of files just before they are set. */
static mode_t mode_before;
int fchmod(int fd, mode_t mode)
{
    struct stat file;
    if (!fstat(fd, &file))
        mode_before |= file.st_mode & 07777;
    return (int)syscall(SYS_fchmod, fd, mode);
}

/* Files that can get no other owner and group, and a target that is mounted by itself. */
static bool failing_chown, is_mounted;
int fchown(int fd, uid_t owner, gid_t group)
{
    if (!failing_chown)
        return (int)syscall(SYS_fchown, fd, owner, group);
    errno = EPERM;
    return -1;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (!is_mounted)
        return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    errno = EBUSY;
    return -1;
}

/* A close() that reports what a server only then found wrong. */
static bool failing_close;
int close(int fd)
{
    const int closed = (int)syscall(SYS_close, fd);
    if (!failing_close)
        return closed;
    errno = EIO;
    return -1;
}

/* ---- inputs ---- */

enum { LONG_BYTES = 1 << 20 };

static unsigned char *long_text(void)
{
    unsigned char *const text = malloc(LONG_BYTES);
    unsigned seed = 9;
    for (int i = 0; i < LONG_BYTES; i++)
        text[i] = (unsigned char)next_random(&seed);
    return text;
}

static void check_reading(struct gf_input *input, const unsigned char *text, size_t size)
{
    unsigned char *const back = malloc(LONG_BYTES + 1);
    static const size_t pieces[] = {1, 100, 300000, 7, 70000};
    size_t at = 0, got;
    assert_int_equal(gf_input_peek(input, back, 10, &got, &failure), GF_OK);
    assert_memory_equal(back, text, 10);
    for (int i = 0; at < size; i++) {
        const size_t piece = size - at < pieces[i % 5] ? size - at : pieces[i % 5];
        assert_int_equal(gf_input_read(input, back + at, piece, &got, &failure), GF_OK);
        assert_int_equal(got, piece);
        at += got;
        if (i == 2) {
            assert_int_equal(gf_input_peek(input, back + at, 50, &got, &failure), GF_OK);
            assert_int_equal(got, 50);
        }
    }
    assert_memory_equal(back, text, size);
    free(back);
}

static void check_end(struct gf_input *input)
{
    unsigned char byte;
    size_t got;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gf_input_read(input, &byte, 1, &got, &failure), GF_OK);
        assert_int_equal(got, 0);
    }
}

static void test_input_of_a_file(void **state)
{
    unsigned char *const text = long_text();
    struct gf_input *input = NULL;
    save(in_folder("in"), text, LONG_BYTES);
    assert_int_equal(gf_input_open(in_folder("in"), false, &input, &failure), GF_OK);
    assert_int_equal(gf_input_size(input), LONG_BYTES);
    assert_string_equal(gf_input_name(input), in_folder("in"));
    for (int i = 0; i < 3; i++) {
        check_reading(input, text, i == 1 ? 500000 : LONG_BYTES);
        if (i == 2)
            check_end(input);
        assert_int_equal(gf_input_rewind(input, &failure), GF_OK);
    }
    gf_input_close(input);
    free(text);
    unlink(in_folder("in"));
}

/* Only the bytes that the file had when it was opened are copied. */
static void test_file_that_grows(void **state)
{
    enum { FIRST = 20, LATER = 100 };
    unsigned char bytes[FIRST + LATER], *const text = long_text();
    struct gf_input *input = NULL;
    size_t got;
    save(in_folder("in"), text, FIRST);
    assert_int_equal(gf_input_open(in_folder("in"), false, &input, &failure), GF_OK);
    save(in_folder("in"), text, FIRST + LATER);
    assert_int_equal(gf_input_peek(input, bytes, 2 * FIRST, &got, &failure), GF_OK);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(gf_input_copy(input, bytes, &failure), GF_OK);
    assert_memory_equal(bytes, text, FIRST);
    for (int i = FIRST; i < FIRST + LATER; i++)
        assert_int_equal(bytes[i], 0);
    gf_input_close(input);
    free(text);
    unlink(in_folder("in"));
}

static void check_pipe(bool keep)
{
    unsigned char *const text = long_text();
    struct gf_input *input = NULL;
    struct feed feed = {.pause_ms = 0};
    feed_begin(&feed, in_folder("pipe"), (struct bytes){text, LONG_BYTES});
    assert_int_equal(gf_input_open(feed.path, keep, &input, &failure), GF_OK);
    assert_int_equal(gf_input_size(input), -1);
    for (int i = 0; i < 4; i++) {
        check_reading(input, text, i == 0 ? 90 : i == 1 ? 400000 : LONG_BYTES);
        if (i == 0 || keep) { /* the beginning is still in the buffer */
            if (i == 3)
                check_end(input);
            assert_int_equal(gf_input_rewind(input, &failure), GF_OK);
            continue;
        }
        assert_int_equal(gf_input_rewind(input, &failure), GF_ERROR_READ);
        assert_failure_says("cannot be read a second time");
        break;
    }
    unsigned char rest[4096];
    size_t got = 1;
    while (got)
        assert_int_equal(gf_input_read(input, rest, sizeof rest, &got, &failure), GF_OK);
    feed_end(&feed);
    gf_input_close(input);
    free(text);
}

/* More bytes than one thread's piece, from an odd offset on, and beyond the end. */
static void test_large_input_by_several_threads(void **state)
{
    enum { COPIES = 19, BYTES = COPIES * LONG_BYTES, BEFORE = 4097 };
    unsigned char *const text = long_text();
    unsigned char *const large = malloc(BYTES), *const back = malloc(BYTES);
    struct gf_input *input = NULL;
    size_t got;
    for (int i = 0; i < COPIES; i++) {
        text[i] ^= 0x55;
        memcpy(large + (size_t)i * LONG_BYTES, text, LONG_BYTES);
    }
    save(in_folder("in"), large, BYTES);
    for (int threads = 0; threads <= 64; threads = 3 * threads + 1) {
        assert_int_equal(gf_input_open(in_folder("in"), false, &input, &failure), GF_OK);
        gf_input_set_threads(input, threads);
        assert_int_equal(gf_input_read(input, back, BEFORE, &got, &failure), GF_OK);
        assert_int_equal(got, BEFORE);
        assert_int_equal(gf_input_read(input, back + BEFORE, BYTES, &got, &failure), GF_OK);
        assert_int_equal(got, BYTES - BEFORE);
        assert_memory_equal(back, large, BYTES);
        check_end(input);
        gf_input_close(input);
    }
    free(text);
    free(large);
    free(back);
    unlink(in_folder("in"));
}

static void test_input_of_a_pipe(void **state)
{
    check_pipe(true);
    check_pipe(false);
}

/* A large file that another process cuts while it is read is an error, and not the program's end.
 */
static void test_file_that_is_cut(void **state)
{
    static const char header[] = "YUV4MPEG2 W2000 H1000 F25:1 Cmono\nFRAME\n"; /* even */
    const struct gf_options options = plain_options();
    unsigned char row[2000], *const frame = calloc(2000, 1000);
    struct bytes film = {0};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    assert_non_null(frame);
    append(&film, header, sizeof header - 1);
    append(&film, frame, 2000 * 1000);
    save(in_folder("in"), film.data, film.size);
    assert_int_equal(gf_input_open(in_folder("in"), false, &input, &failure), GF_OK);
    assert_int_equal(gf_source_open(input, &options, &source, &failure), GF_OK);
    assert_int_equal(truncate(in_folder("in"), 0), 0);
    assert_int_equal(source->read(source, 1, row, sizeof row, &failure), GF_ERROR_READ);
    assert_non_null(strstr(failure.text, "in: became shorter while it was read"));
    source->close(source);
    gf_input_close(input);
    free(film.data);
    free(frame);
    unlink(in_folder("in"));
}

/* Bytes that were taken from a pipe, and could not be kept, do not become a gap. */
static void test_pipe_that_cannot_be_kept(void **state)
{
    const struct rlimit small = {300000, RLIM_INFINITY};
    struct rlimit before;
    unsigned char *const text = long_text(), *const back = malloc(LONG_BYTES);
    struct gf_input *input = NULL;
    struct feed feed = {.pause_ms = 0};
    size_t got, all = 0;
    enum gf_status status = GF_OK;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    feed_begin(&feed, in_folder("pipe"), (struct bytes){text, LONG_BYTES});
    assert_int_equal(gf_input_open(feed.path, true, &input, &failure), GF_OK);
    assert_int_equal(gf_input_peek(input, back, 10, &got, &failure), GF_OK);
    setrlimit(RLIMIT_FSIZE, &small);
    assert_false(gf_input_ends_within(input, LONG_BYTES, 1000));
    setrlimit(RLIMIT_FSIZE, &before);
    for (got = 1; !status && got; all += got)
        status = gf_input_read(input, back + all, LONG_BYTES - all, &got, &failure);
    assert_memory_equal(back, text, all);
    assert_int_equal(status, GF_ERROR_READ);
    assert_failure_says("cannot be held back");
    assert_failure_says(strerror(EFBIG));
    gf_input_close(input);
    feed_end(&feed);
    free(text);
    free(back);
}

static void test_empty_pipe(void **state)
{
    struct feed feed = {.pause_ms = 0};
    struct picture picture;
    const struct gf_options options = plain_options();
    feed_begin(&feed, in_folder("pipe"), (struct bytes){0});
    assert_int_equal(decode(feed.path, &options, &picture), GF_ERROR_INPUT);
    assert_failure_says("empty file");
    feed_end(&feed);
}

/* ---- outputs ---- */

static struct gf_output *opened(const char *path)
{
    struct gf_output *output = NULL;
    if (gf_output_open(path, &output, &failure))
        fail_msg("%s", failure.text);
    return output;
}

static void put(struct gf_output *output, const char *text)
{
    assert_int_equal(gf_output_write(output, text, strlen(text), &failure), GF_OK);
}

static void assert_content(const char *path, const char *text)
{
    struct bytes bytes = load(path);
    assert_int_equal(bytes.size, strlen(text));
    assert_memory_equal(bytes.data, text, bytes.size);
    free(bytes.data);
}

static mode_t mode_of(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return file.st_mode & 07777;
}

/* Every test of outputs runs with and without a name for what is being written. */
static int with_names(void **state)
{
    named_only = true;
    return 0;
}

static char whole_folder[sizeof folder];

static int without_names(void **state)
{
    named_only = false;
    return 0;
}

static void test_output_appears_by_commit(void **state)
{
    const char *const path = in_folder("out");
    const mode_t mask = umask(027);
    struct gf_output *output = opened(path);
    assert_string_equal(gf_output_name(output), path);
    put(output, "new");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(entries_in_folder(), named_only);
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    umask(mask);
    assert_content(path, "new");
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(entries_in_folder(), 1);
    unlink(path);
}

static void test_output_that_is_abandoned(void **state)
{
    const char *const path = in_folder("out");
    for (int exists = 0; exists <= 1; exists++) {
        if (exists)
            save(path, "old", 3);
        struct gf_output *output = opened(path);
        put(output, "new");
        gf_output_close(output);
        assert_int_equal(entries_in_folder(), exists);
        if (exists)
            assert_content(path, "old");
    }
    unlink(path);
}

static void test_output_over_another(void **state)
{
    const char *const path = in_folder("out");
    save(path, "old", 3);
    chmod(path, 0604);
    struct gf_output *output = opened(path);
    put(output, "dropped");
    assert_int_equal(gf_output_rewind(output, &failure), GF_OK);
    put(output, "new");
    assert_content(path, "old");
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    assert_content(path, "new");
    assert_int_equal(mode_of(path), 0604);
    assert_int_equal(entries_in_folder(), 1);
    unlink(path);
}

/* Nobody may open what will replace a private file, not even for a moment. */
static void test_permissions_while_it_is_written(void **state)
{
    const char *const path = in_folder("out");
    save(path, "old", 3);
    chmod(path, 0640);
    const mode_t mask = umask(0);
    mode_before = 0;
    struct gf_output *const output = opened(path);
    umask(mask);
    put(output, "new");
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    assert_int_equal(mode_before, 0600);
    assert_int_equal(mode_of(path), 0640);
    unlink(path);
}

static const char access_list[] = "system.posix_acl_access",
                  default_list[] = "system.posix_acl_default";

/* Sets a list by which its owner and user 1 may read and write a file, and the group may nothing.
 * Returns false where the file system has no such lists. */
static bool give_list(const char *path, const char *attribute)
{
    /* The version, then the kind, the rights and the user of each entry: of the owner, of a user,
     * of the group, the most of user and group, of others. */
    static const char list[] = "\2\0\0\0"
                               "\1\0\6\0\377\377\377\377"
                               "\2\0\6\0\1\0\0\0"
                               "\4\0\0\0\377\377\377\377"
                               "\20\0\6\0\377\377\377\377"
                               "\40\0\0\0\377\377\377\377";
    return !setxattr(path, attribute, list, sizeof list - 1, 0) || errno != ENOTSUP;
}

static void replace_by_new(const char *path)
{
    struct gf_output *const output = opened(path);
    put(output, "new");
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    assert_content(path, "new");
}

static void test_access_list_and_attributes_stay(void **state)
{
    const char *const path = in_folder("out");
    char before[256], after[256], note[8];
    save(path, "old", 3);
    if (!give_list(path, access_list)) {
        unlink(path);
        skip();
    }
    const bool has_notes = !setxattr(path, "user.note", "kept", 4, 0);
    const ssize_t size = getxattr(path, access_list, before, sizeof before);
    assert_true(size > 0);
    replace_by_new(path);
    assert_int_equal(getxattr(path, access_list, after, sizeof after), size);
    assert_memory_equal(after, before, size);
    assert_int_equal(mode_of(path), 0660);
    if (has_notes) {
        assert_int_equal(getxattr(path, "user.note", note, sizeof note), 4);
        assert_memory_equal(note, "kept", 4);
    }
    unlink(path);
}

/* A folder's list is for new files, and not for one that was there without a list. */
static void test_access_list_of_the_folder(void **state)
{
    const char *const path = in_folder("out");
    char list[256];
    save(path, "old", 3);
    chmod(path, 0640);
    if (!give_list(folder, default_list)) {
        unlink(path);
        skip();
    }
    replace_by_new(path);
    removexattr(folder, default_list);
    assert_int_equal(getxattr(path, access_list, list, sizeof list), -1);
    assert_int_equal(mode_of(path), 0640);
    unlink(path);
}

/* The rights of a group are not those of another one that the file gets. */
static void test_group_that_cannot_be_kept(void **state)
{
    const char *const path = in_folder("out");
    struct gf_output *output = NULL;
    save(path, "old", 3);
    chmod(path, 0664);
    if (chown(path, (uid_t)-1, getegid() + 1)) {
        unlink(path);
        skip();
    }
    failing_chown = true;
    replace_by_new(path);
    assert_int_equal(mode_of(path), 0644);
    assert_int_equal(chown(path, (uid_t)-1, getegid() + 1), 0);
    if (give_list(path, access_list)) {
        assert_int_equal(gf_output_open(path, &output, &failure), GF_ERROR_OUTPUT);
        assert_failure_says("out: its access control list cannot be kept");
        assert_content(path, "new");
    }
    failing_chown = false;
    unlink(path);
}

static void test_file_that_is_mounted(void **state)
{
    const char *const path = in_folder("out");
    save(path, "old", 3);
    struct gf_output *const output = opened(path);
    put(output, "new");
    is_mounted = true;
    assert_int_equal(gf_output_commit(output, &failure), GF_ERROR_OUTPUT);
    is_mounted = false;
    assert_failure_says("out: is mounted by itself");
    gf_output_close(output);
    assert_content(path, "old");
    assert_int_equal(entries_in_folder(), 1);
    unlink(path);
}

static void test_last_close_fails(void **state)
{
    const char *const path = in_folder("out");
    for (int exists = 0; exists <= 1; exists++) {
        if (exists)
            save(path, "old", 3);
        struct gf_output *const output = opened(path);
        put(output, "new");
        failing_close = true;
        const enum gf_status status = gf_output_commit(output, &failure);
        failing_close = false;
        gf_output_close(output);
        assert_int_equal(status, GF_ERROR_OUTPUT);
        assert_failure_says(strerror(EIO));
        assert_int_equal(entries_in_folder(), exists);
        if (exists)
            assert_content(path, "old");
    }
    unlink(path);
}

static void test_long_output(void **state)
{
    unsigned char *const text = long_text();
    struct gf_output *output = opened(in_folder("out"));
    static const size_t pieces[] = {1, 5000, LONG_BYTES, 333333, LONG_BYTES - 1, 17};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(gf_output_write(output, text, pieces[i], &failure), GF_OK);
        if (i == 3)
            assert_int_equal(gf_output_rewind(output, &failure), GF_OK);
    }
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    struct bytes bytes = load(in_folder("out"));
    assert_int_equal(bytes.size, LONG_BYTES - 1 + 17);
    assert_memory_equal(bytes.data, text, LONG_BYTES - 1);
    assert_memory_equal(bytes.data + LONG_BYTES - 1, text, 17);
    free(bytes.data);
    free(text);
    unlink(in_folder("out"));
}

/* What was allocated ahead and not written is given back. */
static void test_output_shorter_than_expected(void **state)
{
    enum { EXPECTED = 64 << 20 };
    unsigned char *const text = long_text();
    struct stat file;
    for (int rewind = 0; rewind <= 1; rewind++) {
        struct gf_output *output = opened(in_folder("out"));
        put(output, "begin");
        gf_output_expect(output, EXPECTED, 2);
        if (rewind) {
            assert_int_equal(gf_output_rewind(output, &failure), GF_OK);
            put(output, "begin");
            gf_output_expect(output, EXPECTED, 2);
        }
        assert_int_equal(gf_output_write(output, text, LONG_BYTES, &failure), GF_OK);
        assert_int_equal(gf_output_commit(output, &failure), GF_OK);
        gf_output_close(output);
        assert_int_equal(stat(in_folder("out"), &file), 0);
        assert_int_equal(file.st_size, 5 + LONG_BYTES);
        assert_true(file.st_blocks * 512 < EXPECTED / 2);
        struct bytes bytes = load(in_folder("out"));
        assert_memory_equal(bytes.data, "begin", 5);
        assert_memory_equal(bytes.data + 5, text, LONG_BYTES);
        free(bytes.data);
    }
    free(text);
    unlink(in_folder("out"));
}

/* In memory, large parts go through a mapping as soon as their place is allocated. */
static void test_large_output_in_memory(void **state)
{
    enum { PARTS = 5, PART_BYTES = (9 << 20) + 77 };
    char path[64];
    struct statvfs system;
    if (statvfs("/dev/shm", &system) || system.f_bavail * system.f_bsize < 4 * PARTS * PART_BYTES)
        skip();
    snprintf(path, sizeof path, "/dev/shm/gpufilter-test-%ld", (long)getpid());
    unsigned char *const text = malloc(PARTS * PART_BYTES);
    unsigned seed = 4;
    for (int i = 0; i < PARTS * PART_BYTES; i++)
        text[i] = (unsigned char)next_random(&seed);
    struct gf_output *output = opened(path);
    put(output, "begin");
    gf_output_expect(output, PARTS * PART_BYTES, 4);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(gf_output_write(output, text + i * PART_BYTES, PART_BYTES, &failure),
                         GF_OK);
    put(output, "end");
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    struct bytes bytes = load(path);
    assert_int_equal(bytes.size, 8 + PARTS * PART_BYTES);
    assert_memory_equal(bytes.data, "begin", 5);
    assert_memory_equal(bytes.data + 5, text, PARTS * PART_BYTES);
    assert_memory_equal(bytes.data + 5 + PARTS * PART_BYTES, "end", 3);
    free(bytes.data);
    free(text);
    unlink(path);
}

static void test_output_through_a_link(void **state)
{
    for (int dangling = 0; dangling <= 1; dangling++) {
        if (!dangling)
            save(in_folder("real"), "old", 3);
        assert_int_equal(symlink("real", in_folder("link")), 0);
        struct gf_output *output = opened(in_folder("link"));
        put(output, "new");
        assert_int_equal(gf_output_commit(output, &failure), GF_OK);
        gf_output_close(output);
        struct stat link;
        assert_int_equal(lstat(in_folder("link"), &link), 0);
        assert_true(S_ISLNK(link.st_mode));
        assert_content(in_folder("real"), "new");
        unlink(in_folder("real"));
        unlink(in_folder("link"));
    }
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    struct gf_output *output = NULL;
    assert_int_equal(gf_output_open(in_folder("loop"), &output, &failure), GF_ERROR_UNFIT);
    assert_failure_says(strerror(ELOOP));
    unlink(in_folder("loop"));
}

static void check_unwritable(const char *path, enum gf_status status, const char *words)
{
    struct gf_output *output = NULL;
    assert_int_equal(gf_output_open(path, &output, &failure), status);
    assert_failure_says(words);
    assert_failure_says(path);
}

static void test_unwritable_outputs(void **state)
{
    check_unwritable(in_folder("none/out.png"), GF_ERROR_OUTPUT, strerror(ENOENT));
    check_unwritable(folder, GF_ERROR_UNFIT, "is a directory");
    check_unwritable(in_folder("out/"), GF_ERROR_OUTPUT, strerror(ENOENT));
    save(in_folder("out"), "old", 3);
    check_unwritable(in_folder("out/x"), GF_ERROR_UNFIT, strerror(ENOTDIR));
    chmod(in_folder("out"), 0444);
    check_unwritable(in_folder("out"), GF_ERROR_OUTPUT, "is read-only");
    assert_content(in_folder("out"), "old");
    unlink(in_folder("out"));
    if (geteuid()) {
        chmod(folder, 0555);
        check_unwritable(in_folder("out"), GF_ERROR_OUTPUT, "its folder takes no new file");
        chmod(folder, 0755);
    }
    assert_int_equal(entries_in_folder(), 0);
}

static void test_full_disk(void **state)
{
    const struct rlimit small = {100000, RLIM_INFINITY};
    struct rlimit before;
    struct gf_options options = plain_options();
    struct picture noise = random_picture(1000, 1000, 3, 8);
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    save(in_folder("a.png"), "old", 3);
    static const char *const names[] = {"a.png", "a.jpg", "a.ppm"};
    for (int i = 0; i < 3; i++) {
        setrlimit(RLIMIT_FSIZE, &small);
        assert_int_equal(encode(in_folder(names[i]), &noise, &options), GF_ERROR_OUTPUT);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_failure_says(strerror(EFBIG));
        assert_failure_says(names[i]);
        assert_int_equal(entries_in_folder(), 1);
    }
    assert_content(in_folder("a.png"), "old");
    unlink(in_folder("a.png"));
    options.format = GF_FILE_PNG;
    assert_int_equal(encode("/dev/full", &noise, &options), GF_ERROR_OUTPUT);
    assert_failure_says(strerror(ENOSPC));
    assert_int_equal(encode("/dev/null", &noise, &options), GF_OK);
    free_picture(&noise);
}

static void test_input_and_output_may_be_the_same(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(40, 30, 3, 8), back;
    assert_int_equal(encode(in_folder("a.ppm"), &picture, &options), GF_OK);
    struct gf_input *input = NULL;
    assert_int_equal(gf_input_open(in_folder("a.ppm"), false, &input, &failure), GF_OK);
    picture.data[0] ^= 1;
    assert_int_equal(encode(in_folder("a.ppm"), &picture, &options), GF_OK);
    assert_int_equal(decode_input(input, &options, &back), GF_OK);
    picture.data[0] ^= 1;
    assert_same_pixels(&picture, &back); /* as it was when it was opened */
    gf_input_close(input);
    free_picture(&back);
    free_picture(&picture);
    unlink(in_folder("a.ppm"));
}

static void test_abandoned_names_are_removed(void **state)
{
    named_only = true;
    struct gf_output *outputs[262];
    for (int i = 0; i < 262; i++)
        outputs[i] = opened(in_folder(i % 2 ? "a" : "b"));
    assert_int_equal(entries_in_folder(), 262);
    gf_abandon_outputs();
    assert_int_equal(entries_in_folder(), 0);
    for (int i = 0; i < 262; i++)
        gf_output_close(outputs[i]);
    assert_int_equal(entries_in_folder(), 0);
    struct gf_output *const output = opened(in_folder("a")); /* the slots are free again */
    gf_abandon_outputs();
    assert_int_equal(entries_in_folder(), 0);
    gf_output_close(output);
    named_only = false;
}

/* ---- what killed processes leave behind ---- */

/* Runs in a process of its own: one looks into a folder only once. */
static void write_in_another_process(const char *path)
{
    const pid_t child = fork();
    if (!child) {
        struct gf_output *output = NULL;
        _exit(gf_output_open(path, &output, &failure) ||
              gf_output_write(output, "new", 3, &failure) || gf_output_commit(output, &failure));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_content(path, "new");
}

/* Opens an output there and is killed. */
static void be_killed_writing(const char *path)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (!child) {
        struct gf_output *output = NULL;
        const enum gf_status status = gf_output_open(path, &output, &failure);
        if (write(ends[1], &status, 1) == 1)
            pause();
        _exit(1);
    }
    char status;
    assert_int_equal(read(ends[0], &status, 1), 1);
    assert_int_equal(status, GF_OK);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
}

static void test_leftovers_of_the_killed_are_removed(void **state)
{
    be_killed_writing(in_folder("out"));
    assert_int_equal(entries_in_folder(), 1);
    write_in_another_process(in_folder("other"));
    assert_int_equal(entries_in_folder(), 1);
    unlink(in_folder("other"));
}

static const char *boot_id(void)
{
    static char letters[33];
    struct bytes text = load("/proc/sys/kernel/random/boot_id");
    int count = 0;
    for (size_t i = 0; i < text.size && count < 32; i++)
        if (text.data[i] != '-' && text.data[i] != '\n')
            letters[count++] = (char)text.data[i];
    free(text.data);
    return letters;
}

static pid_t dead_process(void)
{
    const pid_t child = fork();
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    return child;
}

/* Makes a file with the name of a temporary one, of that age. */
static const char *leftover(const char *boot, pid_t pid, const char *end, int age_s)
{
    char name[100];
    snprintf(name, sizeof name, ".x.png.gpufilter-%s-%d-1-%s", boot, pid, end);
    const char *const path = in_folder(name);
    const struct timespec times[2] = {{.tv_sec = time(NULL) - age_s},
                                      {.tv_sec = time(NULL) - age_s}};
    save(path, "part", 4);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return path;
}

/* Whether a later run removes the file. */
static bool is_removed(const char *path)
{
    write_in_another_process(in_folder("other"));
    unlink(in_folder("other"));
    const bool removed = access(path, F_OK);
    unlink(path);
    assert_int_equal(entries_in_folder(), 0);
    return removed;
}

static void test_only_what_is_dead_is_removed(void **state)
{
    static const char other_boot[] = "0123456789abcdef0123456789abcdef";
    const int two_days = 2 * 24 * 60 * 60;
    const pid_t dead = dead_process();
    assert_true(is_removed(leftover(boot_id(), dead, "abcdefgh", 0)));
    assert_true(is_removed(leftover(boot_id(), getpid(), "abcdefgh", 0))); /* it started at 1 */
    assert_true(is_removed(leftover(other_boot, getpid(), "abcdefgh", two_days)));
    assert_false(is_removed(leftover(other_boot, dead, "abcdefgh", 60)));
    assert_false(is_removed(leftover(boot_id(), dead, "abcdefg", two_days)));
    assert_false(is_removed(leftover(boot_id(), dead, "abcdefgh.png", two_days)));
    const char *const locked = leftover(boot_id(), dead, "abcdefgh", 0);
    const int fd = open(locked, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_false(is_removed(locked));
    close(fd);
    struct gf_output *const output = opened(in_folder("out"));
    put(output, "of the living");
    write_in_another_process(in_folder("other"));
    unlink(in_folder("other"));
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    assert_content(in_folder("out"), "of the living");
    unlink(in_folder("out"));
}

/* A folder that this process has not looked into, whose files need names. */
static int in_new_folder(void **state)
{
    snprintf(whole_folder, sizeof whole_folder, "%s", folder);
    snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "/new");
    return mkdir(folder, 0700) || with_names(state);
}

static int in_old_folder(void **state)
{
    const int status = remove_folder(state);
    strcpy(folder, whole_folder);
    return status || without_names(state);
}

/* ---- standard output ---- */

static int redirect_stdout(int to)
{
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    dup2(to, STDOUT_FILENO);
    return saved;
}

static void restore_stdout(int saved)
{
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

static void test_stdout_comes_out_by_commit(void **state)
{
    int ends[2];
    char text[20];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const int saved = redirect_stdout(ends[1]);
    struct gf_output *const output = opened("-");
    put(output, "dropped");
    assert_int_equal(gf_output_rewind(output, &failure), GF_OK);
    put(output, "picture");
    const ssize_t before = read(ends[0], text, sizeof text);
    const enum gf_status status = gf_output_commit(output, &failure);
    gf_output_close(output);
    restore_stdout(saved);
    assert_int_equal(before, -1);
    assert_int_equal(status, GF_OK);
    assert_int_equal(read(ends[0], text, sizeof text), 7);
    assert_memory_equal(text, "picture", 7);
    close(ends[0]);
    close(ends[1]);
}

static void *drain_main(void *argument)
{
    const int fd = *(int *)argument;
    size_t total = 0;
    char block[1000];
    for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;)
        total += (size_t)n;
    return (void *)total;
}

static void test_stdout_that_does_not_block(void **state)
{
    int ends[2];
    unsigned char *const text = long_text();
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drain_main, &ends[0]), 0);
    const int saved = redirect_stdout(ends[1]);
    struct gf_output *const output = opened("-");
    enum gf_status status = gf_output_write(output, text, LONG_BYTES, &failure);
    if (!status)
        status = gf_output_commit(output, &failure);
    gf_output_close(output);
    restore_stdout(saved);
    close(ends[1]);
    void *total;
    pthread_join(thread, &total);
    assert_int_equal(status, GF_OK);
    assert_int_equal((size_t)total, LONG_BYTES);
    close(ends[0]);
    free(text);
}

static void test_closed_pipe(void **state)
{
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    const int saved = redirect_stdout(ends[1]);
    struct gf_output *output = opened("-");
    put(output, "picture");
    const enum gf_status status = gf_output_commit(output, &failure);
    gf_output_close(output);
    close(STDOUT_FILENO);
    struct gf_error closed = {0};
    output = NULL;
    const enum gf_status status_of_closed = gf_output_open("-", &output, &closed);
    restore_stdout(saved);
    assert_int_equal(status, GF_ERROR_OUTPUT);
    assert_failure_says("stdout: Broken pipe");
    assert_int_equal(status_of_closed, GF_ERROR_OUTPUT);
    assert_string_equal(closed.text, "stdout: Bad file descriptor");
    close(ends[1]);
}

/* Replaces a file of that size, and finds the new one; whether an old one is kept then. */
static bool keeps_after(const unsigned char *old, size_t size)
{
    const char *const path = in_folder("out");
    save(path, old, size);
    struct gf_output *const output = opened(path);
    put(output, "new");
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    assert_content(path, "new");
    assert_int_equal(entries_in_folder(), 1);
    unlink(path);
    return gf_output_keeps_replaced();
}

/* Only where that is wished for, and only a large one. */
static void test_a_replaced_file_is_kept(void **state)
{
    enum { LARGE = 17 << 20 };
    unsigned char *const old = malloc(LARGE);
    assert_non_null(old);
    memset(old, 7, LARGE);
    assert_false(keeps_after(old, LARGE));
    gf_output_keep_replaced();
    assert_false(keeps_after(old, 1000));
    assert_true(keeps_after(old, LARGE));
    assert_true(keeps_after(old, LARGE)); /* the first stays, the second goes */
    free(old);
}

#define BOTH_WAYS(test) \
    cmocka_unit_test(test), cmocka_unit_test_setup_teardown(test, with_names, without_names)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input_of_a_file),
        cmocka_unit_test(test_file_that_grows),
        cmocka_unit_test(test_large_input_by_several_threads),
        cmocka_unit_test(test_input_of_a_pipe),
        cmocka_unit_test(test_file_that_is_cut),
        cmocka_unit_test(test_pipe_that_cannot_be_kept),
        cmocka_unit_test(test_empty_pipe),
        BOTH_WAYS(test_output_appears_by_commit),
        BOTH_WAYS(test_output_that_is_abandoned),
        BOTH_WAYS(test_output_over_another),
        BOTH_WAYS(test_permissions_while_it_is_written),
        BOTH_WAYS(test_access_list_and_attributes_stay),
        BOTH_WAYS(test_access_list_of_the_folder),
        BOTH_WAYS(test_group_that_cannot_be_kept),
        BOTH_WAYS(test_file_that_is_mounted),
        BOTH_WAYS(test_last_close_fails),
        BOTH_WAYS(test_long_output),
        BOTH_WAYS(test_output_shorter_than_expected),
        BOTH_WAYS(test_large_output_in_memory),
        BOTH_WAYS(test_output_through_a_link),
        BOTH_WAYS(test_unwritable_outputs),
        BOTH_WAYS(test_full_disk),
        BOTH_WAYS(test_input_and_output_may_be_the_same),
        cmocka_unit_test(test_abandoned_names_are_removed),
        cmocka_unit_test_setup_teardown(test_leftovers_of_the_killed_are_removed, in_new_folder,
                                        in_old_folder),
        cmocka_unit_test_setup_teardown(test_only_what_is_dead_is_removed, in_new_folder,
                                        in_old_folder),
        cmocka_unit_test(test_stdout_comes_out_by_commit),
        cmocka_unit_test(test_stdout_that_does_not_block),
        cmocka_unit_test(test_closed_pipe),
        cmocka_unit_test(test_a_replaced_file_is_kept),
    };
    return cmocka_run_group_tests_name("files", tests, make_folder, remove_folder);
}
