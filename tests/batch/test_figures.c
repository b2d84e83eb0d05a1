/* The figures behind device=auto: which value counts, and the file that keeps them, whatever
 * happens to it. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/devices/figures.h"
#include "support.h"
#include "temp_folder.h"

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fabs(b);
}

/* ---- values ---- */

static void test_table(void **state)
{
    const int count = gf_figure_count();
    assert_true(count > GF_FIGURE_NAMED && count <= GF_FIGURES_MAX);
    /* There is room for every filter. */
    assert_null(gf_filter_at((count - GF_FIGURE_NAMED) / 2));
    for (int i = 0; i < count; i++) {
        const struct gf_figure_info info = gf_figure_info(i);
        assert_true(*info.name && info.declared > 0 && info.least < info.declared &&
                    info.greatest > info.declared);
        assert_true(gf_figure(NULL, i) == info.declared);
        assert_null(strchr(info.name, ' '));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(gf_figure_info(j).name, info.name);
    }
    const struct gf_filter *const blur = gf_filter_find("blur");
    assert_string_equal(gf_figure_info(gf_figure_of_filter(blur, false)).name, "cpu.blur");
    assert_string_equal(gf_figure_info(gf_figure_of_filter(blur, true)).name, "gpu.blur");
}

static void test_sources(void **state)
{
    struct gf_figures figures = {0};
    const int f = GF_FIGURE_JPEG_DECODE;
    assert_true(gf_figure(&figures, f) == gf_figure(NULL, f));
    assert_true(gf_figure_calibrate(&figures, f, 8));
    assert_true(gf_figure(&figures, f) == 8);
    assert_true(gf_figure_calibrate(&figures, f, 7));
    assert_true(gf_figure(&figures, f) == 7);
}

static void test_impossible_values(void **state)
{
    static const double values[] = {0, -1, NAN, INFINITY, 1e300, 1e-300};
    struct gf_figures figures = {0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_false(gf_figure_calibrate(&figures, GF_FIGURE_FILE, values[i]));
    }
    assert_false(gf_figure_calibrate(&figures, GF_FIGURE_SHARE, 1.01));
    assert_true(gf_figure(&figures, GF_FIGURE_FILE) == gf_figure(NULL, GF_FIGURE_FILE));
}

/* ---- the file ---- */

/* A cache folder of its own for each test. */
static void use_cache(const char *name)
{
    assert_int_equal(setenv("XDG_CACHE_HOME", in_folder(name), 1), 0);
}

static bool keep_or_say(double times, struct gf_error *why)
{
    struct gf_figures figures = {0};
    const int count = gf_figure_count();
    for (int i = 0; i < count; i++)
        assert_true(gf_figure_calibrate(&figures, i, gf_figure(NULL, i) * times));
    return gf_figures_keep(&figures, why);
}

static bool keep(double times)
{
    return keep_or_say(times, NULL);
}

/* Whether all figures are those times the declared ones; else they must all be the declared ones.
 */
static bool loads(double times)
{
    struct gf_figures figures;
    gf_figures_load(&figures);
    const int count = gf_figure_count();
    const bool known = figures.calibrated[0] > 0;
    for (int i = 0; i < count; i++)
        assert_true(is_near(gf_figure(&figures, i), gf_figure(NULL, i) * (known ? times : 1)));
    return known;
}

static struct gf_figures_file found(void)
{
    struct gf_figures_file file;
    assert_true(gf_figures_file_find(&file));
    return file;
}

static void test_file(void **state)
{
    struct stat stat_of;
    use_cache("a/deeper");
    assert_false(loads(1));
    assert_int_equal(mkdir(in_folder("a"), 0700), 0);
    assert_true(keep(0.5));
    assert_true(loads(0.5));
    assert_true(keep(0.75));
    assert_true(loads(0.75));
    const struct gf_figures_file file = found();
    assert_int_equal(stat(file.path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0777, 0600);
    assert_int_equal(stat(in_folder("a/deeper/gpufilter"), &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0777, 0700);
    assert_non_null(strstr(file.machine, "processors; build "));
}

/* Every length that the file may be cut at, and a change of every byte. */
static void test_damage(void **state)
{
    enum { LONG = 40000 };
    use_cache("damage");
    assert_true(keep(0.5));
    const struct gf_figures_file file = found();
    const struct bytes text = load(file.path);
    unsigned char *const damaged = malloc(LONG);
    assert_true(damaged && text.size < LONG);
    for (size_t length = 0; length < text.size; length += length < 200 ? 1 : 13) {
        save(file.path, text.data, length);
        assert_false(loads(0.5));
    }
    for (size_t i = 0; i < text.size; i += i < 200 ? 1 : 7) {
        memcpy(damaged, text.data, text.size);
        damaged[i] ^= (unsigned char)(1 << i % 8);
        save(file.path, damaged, text.size);
        assert_false(loads(0.5));
    }
    memset(damaged, 'x', LONG);
    save(file.path, damaged, LONG); /* longer than any */
    assert_false(loads(0.5));
    memset(damaged, 0, sizeof damaged);
    save(file.path, damaged, 3000);
    assert_false(loads(0.5));
    /* The next run that has something to keep mends it. */
    assert_true(keep(0.5));
    assert_true(loads(0.5));
    save(file.path, text.data, text.size);
    assert_true(loads(0.5));
    free(text.data);
    free(damaged);
}

/* Writes a file whose first line is right, whatever the others say. */
static void write_checked(const char *path, const char *machine, const char *lines)
{
    char text[4000];
    uint64_t hash = 0xcbf29ce484222325;
    for (const char *at = lines; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
    snprintf(text, sizeof text, "gpufilter figures 3 %016llx\n%s\n%s", (unsigned long long)hash,
             machine, lines);
    save_text(path, text);
}

static void test_wrong_contents(void **state)
{
    static const char *const lines[] = {
        "jpeg-decode 1e9\n",     "jpeg-decode -5\n",       "jpeg-decode 0\n",   "jpeg-decode nan\n",
        "jpeg-decode inf\n",     "jpeg-decode\n",          "jpeg-decode 5 0\n", "unknown 5\n",
        "file 0.1\nprocess 5\n", "process 5\nprocess 5\n",
    };
    struct gf_figures figures;
    use_cache("contents");
    assert_true(keep(0.5));
    struct gf_figures_file file = found();
    write_checked(file.path, file.machine, "jpeg-decode 5.5\n");
    gf_figures_load(&figures);
    assert_true(gf_figure(&figures, GF_FIGURE_JPEG_DECODE) == 5.5);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_checked(file.path, file.machine, lines[i]);
        assert_false(loads(1));
    }
    *file.machine = 'G';
    write_checked(file.path, file.machine, "jpeg-decode 5\n"); /* another machine's */
    assert_false(loads(1));
}

/* What stands where the file or its folder should be is no file of this user's. */
static void test_wrong_kinds(void **state)
{
    struct gf_error why = {0};
    use_cache("kinds");
    assert_true(keep(0.5));
    const struct gf_figures_file file = found();
    assert_int_equal(chmod(file.path, 0622), 0);
    assert_false(loads(0.5));
    assert_int_equal(chmod(file.path, 0600), 0);
    assert_true(loads(0.5));
    assert_int_equal(rename(file.path, in_folder("kept")), 0);
    assert_int_equal(symlink(in_folder("kept"), file.path), 0);
    assert_false(loads(0.5));
    assert_int_equal(unlink(file.path), 0);
    assert_int_equal(mkfifo(file.path, 0600), 0); /* reading it would wait for a writer */
    assert_false(loads(0.5));
    assert_true(keep(0.5));
    assert_true(loads(0.5));
    assert_int_equal(unlink(file.path), 0);
    assert_int_equal(mkdir(file.path, 0700), 0);
    assert_false(loads(0.5));
    assert_false(keep_or_say(0.5, &why));
    assert_non_null(strstr(why.text, "kinds/gpufilter/figures-"));
    assert_int_equal(rmdir(file.path), 0);
    /* A foreign owner: root gives the file away, others cannot make one. */
    if (!geteuid()) {
        assert_true(keep(0.5));
        assert_int_equal(chown(file.path, 12345, 12345), 0);
        assert_false(loads(0.5));
    }
    /* A file in place of the folder. */
    use_cache("kept");
    assert_false(loads(0.5));
    assert_false(keep_or_say(0.5, &why));
}

static void test_unwritable(void **state)
{
    struct gf_error why = {0};
    use_cache("readonly");
    assert_int_equal(mkdir(in_folder("readonly"), 0500), 0);
    if (geteuid()) {
        assert_false(keep_or_say(0.5, &why));
        assert_false(loads(0.5));
    }
    assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/full", 1), 0);
    assert_false(keep_or_say(0.5, &why));
    assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/self/fdinfo", 1), 0);
    assert_false(keep_or_say(0.5, &why));
    assert_false(loads(0.5));
}

static int files_in(const char *path)
{
    char command[500], text[40] = "";
    snprintf(command, sizeof command, "ls '%s' | wc -l", path);
    FILE *const count = popen(command, "r");
    assert_non_null(count);
    assert_non_null(fgets(text, sizeof text, count));
    assert_int_equal(pclose(count), 0);
    return atoi(text);
}

/* A limit of file sizes stands for a full disk: what was there stays, and no part of a new file. */
static void test_full(void **state)
{
    int result = -1;
    use_cache("full");
    assert_true(keep(0.5));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const struct rlimit limit = {.rlim_cur = 100, .rlim_max = 100};
        signal(SIGXFSZ, SIG_IGN);
        _exit(setrlimit(RLIMIT_FSIZE, &limit) || keep(0.75));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_true(loads(0.5));
    assert_int_equal(files_in(in_folder("full/gpufilter")), 1);
}

static void test_places(void **state)
{
    struct gf_figures_file file;
    struct gf_error why = {0};
    char *const home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    assert_int_equal(setenv("HOME", in_folder("home"), 1), 0);
    assert_true(gf_figures_file_find(&file));
    assert_non_null(strstr(file.path, "/home/.cache/gpufilter/figures-"));
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_int_equal(mkdir(in_folder("home"), 0700), 0);
    assert_true(keep(0.5)); /* .cache is made as well */
    assert_true(loads(0.5));
    assert_int_equal(unsetenv("HOME"), 0);
    assert_false(loads(0.5));
    assert_false(keep_or_say(0.5, &why));
    assert_non_null(strstr(why.text, "HOME"));
    if (home)
        assert_int_equal(setenv("HOME", home, 1), 0);
    free(home);
}

/* The file of an earlier build, in this form or an older one, is not read, and is replaced. */
static void test_old_files(void **state)
{
    use_cache("old");
    assert_true(keep(0.5));
    const struct gf_figures_file file = found();
    const struct bytes text = load(file.path);
    memcpy(strstr((char *)text.data, "build ") + 6, "0", 1);
    ((char *)text.data)[strcspn((char *)text.data, "\n") - 1] ^= 1;
    save(file.path, text.data, text.size);
    assert_false(loads(0.5));
    save_text(file.path, "gpufilter figures 2\na machine\ncheck 0123456789abcdef\n");
    assert_false(loads(0.5));
    assert_true(keep(0.5));
    assert_true(loads(0.5));
    assert_int_equal(files_in(in_folder("old/gpufilter")), 1);
    free(text.data);
}

/* Processes that write at the same time, and one that reads: each sees a whole file. */
static void test_concurrent(void **state)
{
    enum { WRITERS = 6, TURNS = 60 };
    pid_t child[WRITERS];
    use_cache("concurrent");
    assert_true(keep(0.5));
    for (int i = 0; i < WRITERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (!child[i]) {
            bool done = true;
            for (int turn = 0; turn < TURNS; turn++)
                done &= keep(0.5);
            _exit(!done);
        }
    }
    for (int turn = 0; turn < WRITERS * TURNS; turn++)
        assert_true(loads(0.5));
    for (int i = 0; i < WRITERS; i++) {
        int result = -1;
        assert_int_equal(waitpid(child[i], &result, 0), child[i]);
        assert_int_equal(result, 0);
    }
    assert_true(loads(0.5));
    assert_int_equal(files_in(in_folder("concurrent/gpufilter")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_impossible_values),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_wrong_contents),
        cmocka_unit_test(test_wrong_kinds),
        cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_old_files),
        cmocka_unit_test(test_concurrent),
    };
    return cmocka_run_group_tests_name("figures", tests, make_folder, remove_folder);
}
