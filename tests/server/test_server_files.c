/* A program of its own. Files that a chain names, by a server: the client opens them, and the
 * server, which stands in another folder, reads what it was handed and nothing else. */
#include <errno.h>

#include "base/process/files.h"
#include "icc/icc.h"
#include "server/server_roles.h"
#include "text/text.h"
#include "text/text_fonts.h"

/* Starts a server and goes to the folder of the pictures. */
static int start_elsewhere(void)
{
    const int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(before >= 0);
    start_server((struct server_role){0});
    assert_int_equal(chdir(folder), 0);
    return before;
}

static void go_back(int before)
{
    assert_int_equal(fchdir(before), 0);
    close(before);
}

/* The server's result is that of a run without it. false: this build has not what the chain needs.
 */
static bool assert_the_same(const char *chain)
{
    const struct seen alone = run_alone(chain, "in.ppm", "alone.ppm");
    if (alone.status == GF_ERROR_UNAVAILABLE) {
        print_message("# %s: %s\n", chain, alone.error.text);
        return false;
    }
    assert_ok(chain, alone.status, &alone.error);
    const struct seen seen = run_client(chain, "in.ppm", "out.ppm");
    assert_ok(chain, seen.status, &seen.error);
    assert_true(seen.by_server);
    assert_int_equal(seen.told.warnings, alone.told.warnings);
    if (alone.told.warnings)
        assert_string_equal(strchr(seen.told.last, ':'), strchr(alone.told.last, ':'));
    assert_true(same_file("out.ppm", "alone.ppm"));
    return true;
}

static void write_font(const char *name)
{
    unsigned char *font = NULL;
    size_t size = 0;
    struct gf_error error = {0};
    assert_ok("font", gf_text_font_make(&font, &size, &error), &error);
    save(name, font, size);
    free(font);
}

static void test_chains_with_files(void **state)
{
    unsigned char profile[GF_ICC_MADE_MOST];
    const int before = start_elsewhere();
    save_text("layer.ppm", "P6\n2 2\n255\nabcdefghijkl");
    save_text("soft.pgm", "P5\n2 1\n255\n\xff\x40");
    save_text("warm.cube", "LUT_1D_SIZE 2\n0.2 0.1 0\n1 0.9 0.8\n");
    save_text("words.txt", "two\nlines\n");
    save("p3.icc", profile, gf_icc_make(&gf_icc_display_p3, false, profile));
    assert_true(assert_the_same("overlay=layer.ppm:x=3:y=5"));
    assert_true(assert_the_same("blur=1,mask=soft.pgm,lut=warm.cube,overlay=layer.ppm"));
    (void)assert_the_same("icc=p3.icc");
    (void)assert_the_same("icc=display-p3");
    struct gf_error why;
    if (!gf_text_available(&why)) {
        write_font("font.ttf");
        assert_true(assert_the_same("text=words:size=20"));
        assert_true(assert_the_same("text={stem} {n} {w}:fields=yes:size=20"));
        assert_true(assert_the_same("text={name} {date}:fields=yes:size=20"));
        assert_true(assert_the_same("text=words:font.ttf:size=20"));
        assert_true(assert_the_same("text=file=words.txt:font=font.ttf:size=20,overlay=layer.ppm"));
    }
    go_back(before);
    stop_server();
}

/* The server keeps nothing under a name. */
static void test_files_that_change(void **state)
{
    const int before = start_elsewhere();
    for (int i = 0; i < 3; i++) {
        char layer[40];
        snprintf(layer, sizeof layer, "P6\n1 2\n255\n%d%d%d%d%d%d", i, i, i, i, i, i);
        save_text("next.ppm", layer);
        assert_int_equal(rename("next.ppm", "layer.ppm"), 0);
        assert_true(assert_the_same("overlay=layer.ppm"));
    }
    go_back(before);
    stop_server();
}

/* What cannot be handed over is done here, and what is wrong is said as ever. */
static void test_files_that_stay_here(void **state)
{
    const struct gf_options options = gf_options_default();
    char chain[400] = "invert";
    const int before = start_elsewhere();
    save_text("layer.ppm", "P6\n1 1\n255\nabc");
    for (int i = 0; i < GF_REMOTE_FILES; i++)
        strcat(chain, ",overlay=layer.ppm");
    assert_true(gf_server_may_run(chain, &options));
    assert_true(assert_the_same(chain));
    strcat(chain, ",overlay=layer.ppm");
    assert_false(gf_server_may_run(chain, &options));
    static const char *const wrong[] = {"overlay=none.ppm", "lut=layer.ppm"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct seen seen = run_client(wrong[i], "in.ppm", "bad.ppm"),
                          alone = run_alone(wrong[i], "in.ppm", "bad.ppm");
        assert_int_equal(seen.status, i ? GF_ERROR_USAGE : GF_ERROR_READ);
        assert_string_equal(seen.error.text, alone.error.text);
        assert_int_equal(access("bad.ppm", F_OK), -1);
    }
    go_back(before);
    stop_server();
}

/* A text in a font of this machine is drawn here, since the server opens no file by itself. */
static void test_fonts_that_stay_here(void **state)
{
    static const char *const chains[] = {"text=\xc3\xa9:size=20", "text={stem}\xc3\xa9:fields=yes",
                                         "text=a:font=DejaVu Sans"};
    const int before = start_elsewhere();
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const struct seen alone = run_alone(chains[i], "in.ppm", "alone.ppm"),
                          seen = run_client(chains[i], "in.ppm", "out.ppm");
        assert_int_equal(seen.status, alone.status);
        assert_string_equal(seen.error.text, alone.error.text);
        assert_false(seen.by_server);
        if (!alone.status)
            assert_true(same_file("out.ppm", "alone.ppm"));
    }
    go_back(before);
    stop_server();
}

static void test_handed_files(void **state)
{
    char got[8] = "";
    save_text(in_folder("a.txt"), "file a");
    const int fd = open(in_folder("a.txt"), O_RDONLY | O_CLOEXEC);
    const char *const path = "b.txt";
    const struct gf_handed_files handed = {1, &path, &fd};
    assert_true(fd >= 0);
    gf_named_files_hand(&handed);
    for (int i = 0; i < 2; i++) {
        const int copy = gf_named_file_open("b.txt", 0);
        assert_true(copy >= 0 && copy != fd);
        assert_int_equal(read(copy, got, sizeof got), 6);
        assert_memory_equal(got, "file a", 6);
        close(copy);
    }
    assert_int_equal(gf_named_file_open(in_folder("a.txt"), 0), -1);
    assert_int_equal(errno, EACCES);
    gf_named_files_hand(NULL);
    const int opened = gf_named_file_open(in_folder("a.txt"), 0);
    assert_true(opened >= 0);
    close(opened);
    close(fd);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handed_files),
        cmocka_unit_test_teardown(test_chains_with_files, end_test),
        cmocka_unit_test_teardown(test_fonts_that_stay_here, end_test),
        cmocka_unit_test_teardown(test_files_that_change, end_test),
        cmocka_unit_test_teardown(test_files_that_stay_here, end_test),
    };
    const int ended = run_role(argc, argv);
    return ended >= 0
               ? ended
               : cmocka_run_group_tests_name("server_files", tests, make_world, remove_folder);
}
