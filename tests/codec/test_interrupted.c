/* A program of its own. A signal handler removes outputs while other threads are in the middle of
 * making them: the calls of the system below take their time when a test asks for it. */
#include "codec/codec_test.h"
#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { LONG_MS = 60 };

static const char *_Atomic slow = ""; /* the call that takes its time */
static atomic_int slow_from;          /* not before it has been called so many times */
static atomic_bool is_slow;           /* it has begun */

static void linger(const char *call)
{
    if (strcmp(slow, call) || atomic_fetch_sub(&slow_from, 1) > 0)
        return;
    is_slow = true;
    usleep(LONG_MS * 1000);
}

int mkdir(const char *path, mode_t mode)
{
    linger("mkdir");
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int within, const char *path, mode_t mode)
{
    linger("mkdirat");
    return (int)syscall(SYS_mkdirat, within, path, mode);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    linger("linkat");
    return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int unlinkat(int within, const char *path, int flags)
{
    linger("unlinkat");
    return (int)syscall(SYS_unlinkat, within, path, flags);
}

static void slow_down(const char *call, int from)
{
    is_slow = false;
    slow_from = from;
    slow = call;
}

static struct gf_output *output;

static void open_output(void)
{
    output = NULL;
    assert_int_equal(gf_output_open(in_folder("p.dzi"), &output, &failure), GF_OK);
    assert_int_equal(gf_output_write(output, "new", 3, &failure), GF_OK);
}

static enum gf_status add_folder(void)
{
    return gf_output_add_folder(output, in_folder("p_files"), NULL);
}

static enum gf_status put_tile(void)
{
    return gf_output_put_file(output, "0/0_0.png", "tile", 4, NULL);
}

static enum gf_status commit(void)
{
    return gf_output_commit(output, NULL);
}

/* Puts tiles until one fails, because its folder is gone. */
static enum gf_status put_many(void)
{
    enum gf_status status = GF_OK;
    for (int i = 0; i < 100000 && !status; i++) {
        char name[40];
        snprintf(name, sizeof name, "%d/0_%d.png", i % 5, i);
        status = gf_output_put_file(output, name, "tile", 4, NULL);
    }
    return status;
}

static void *in_a_thread(void *step)
{
    enum gf_status (*const *const call)(void) = step;
    (void)(*call)();
    return NULL;
}

/* Takes the step in a thread, and removes what it makes in the middle of its slow call. Returns how
 * many entries the folder then has. */
static int entries_left(enum gf_status (*step)(void), const char *call)
{
    pthread_t thread;
    slow_down(call, 0);
    assert_int_equal(pthread_create(&thread, NULL, in_a_thread, &step), 0);
    while (*call && !is_slow)
        sched_yield();
    gf_abandon_outputs();
    slow = "";
    pthread_join(thread, NULL);
    const int left = entries_in_folder();
    gf_output_close(output);
    assert_int_equal(entries_in_folder(), left); /* closing has not removed the rest either */
    return left;
}

static void test_a_folder_that_is_being_made(void **state)
{
    open_output();
    assert_int_equal(entries_left(add_folder, "mkdir"), 0);
}

static void test_a_tile_that_is_being_made(void **state)
{
    open_output();
    assert_int_equal(add_folder(), GF_OK);
    assert_int_equal(entries_left(put_tile, "mkdirat"), 0);
    for (int i = 0; i < 20; i++) {
        open_output();
        assert_int_equal(add_folder(), GF_OK);
        assert_int_equal(entries_left(put_many, ""), 0);
    }
}

static void test_a_name_that_is_being_made(void **state)
{
    save_text(in_folder("p.dzi"), "old");
    open_output();
    assert_int_equal(entries_left(commit, "linkat"), 1);
    const struct bytes bytes = load(in_folder("p.dzi")); /* the old one or the new one */
    unlink(in_folder("p.dzi"));
    assert_int_equal(bytes.size, 3);
    free(bytes.data);
}

static void *abandon(void *unused)
{
    gf_abandon_outputs();
    return NULL;
}

/* The folder gets its name before its files are removed, or never: not in the middle. */
static void test_a_folder_that_is_removed_while_it_gets_its_name(void **state)
{
    for (int from = 0; from < 4; from++) {
        pthread_t thread;
        open_output();
        assert_int_equal(add_folder(), GF_OK);
        assert_int_equal(put_tile(), GF_OK);
        slow_down("unlinkat", from);
        assert_int_equal(pthread_create(&thread, NULL, abandon, NULL), 0);
        while (!is_slow)
            sched_yield();
        assert_int_equal(commit(), GF_ERROR_OUTPUT);
        slow = "";
        pthread_join(thread, NULL);
        gf_output_close(output);
        assert_int_equal(entries_in_folder(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_folder_that_is_being_made),
        cmocka_unit_test(test_a_tile_that_is_being_made),
        cmocka_unit_test(test_a_name_that_is_being_made),
        cmocka_unit_test(test_a_folder_that_is_removed_while_it_gets_its_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
