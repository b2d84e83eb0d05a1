/* Chains that a program writes: what gf_chain_add() makes is read as it was meant, and mistakes
 * leave the chain as it is. */
#include "support.h"

#include <locale.h>
#include <math.h>

#include "chain/chain.h"
#include "gpufilter/gpufilter.h"
#include "temp_folder.h"

static struct gf_error failure;

/* Where the filter text keeps its first parameter, the text. */
static size_t text_offset(void)
{
    return gf_filter_params(gf_filter_find("text"))->offset;
}

static void assert_chain(char *chain, const char *expected)
{
    struct gf_pipeline *pipeline;
    assert_string_equal(chain, expected);
    assert_int_equal(gf_pipeline_open(chain, NULL, &pipeline, &failure), GF_OK);
    gf_pipeline_close(pipeline);
    gf_free(chain);
}

static void test_chain(void **state)
{
    char *chain = NULL;
    assert_int_equal(gf_chain_add(&chain, "blur",
                                  GF_ARGUMENTS(gf_argument_number("sigma", 2.5),
                                               gf_argument_text("border", "wrap")),
                                  &failure),
                     GF_OK);
    assert_int_equal(gf_chain_add(&chain, "Invert", NULL, 0, &failure), GF_OK);
    assert_int_equal(
        gf_chain_add(&chain, "resize", GF_ARGUMENTS(gf_argument_text("w", "50%")), NULL), GF_OK);
    assert_chain(chain, "blur=sigma=2.5:border=\"wrap\",invert,resize=w=\"50%\"");
}

static void test_texts(void **state)
{
    static const char *const texts[] = {
        "a, b: c=d", "it's", "say \"it's\"", "back\\slash", "12:30", "\\", "'", "\"", "a", "é {n}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *chain = NULL;
        assert_int_equal(gf_chain_add(&chain, "text",
                                      GF_ARGUMENTS(gf_argument_text("text", texts[i])), &failure),
                         GF_OK);
        assert_int_equal(gf_chain_add(&chain, "invert", NULL, 0, &failure), GF_OK);
        struct gf_chain parsed;
        assert_int_equal(gf_chain_parse(chain, &parsed, &failure), GF_OK);
        assert_int_equal(parsed.count, 2);
        assert_string_equal((const char *)parsed.item[0].params + text_offset(), texts[i]);
        gf_chain_free(&parsed);
        gf_free(chain);
    }
}

static void test_numbers(void **state)
{
    static const struct {
        double number;
        const char *text;
    } table[] = {
        {2, "2"}, {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"}, {100, "1e+02"}, {-0.25, "-0.25"}};
    /* A locale with a decimal comma changes nothing, where there is one. */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *chain = NULL, expected[80];
        assert_int_equal(gf_chain_add(&chain, "rotate",
                                      GF_ARGUMENTS(gf_argument_number("angle", table[i].number)),
                                      &failure),
                         GF_OK);
        snprintf(expected, sizeof expected, "rotate=angle=%s", table[i].text);
        assert_chain(chain, expected);
    }
    (void)setlocale(LC_ALL, "C");
}

static void assert_refused(const char *filter, const struct gf_argument *arguments, size_t count,
                           const char *words)
{
    char *chain = NULL;
    assert_int_equal(gf_chain_add(&chain, "blur", NULL, 0, &failure), GF_OK);
    const char *const before = chain;
    assert_int_equal(gf_chain_add(&chain, filter, arguments, count, &failure), GF_ERROR_USAGE);
    if (!strstr(failure.text, words))
        fail_msg("\"%s\" does not say \"%s\"", failure.text, words);
    assert_ptr_equal(chain, before);
    assert_string_equal(chain, "blur");
    gf_free(chain);
}

static void test_mistakes(void **state)
{
    assert_refused("blurr", NULL, 0, "did you mean 'blur'?");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_number("radius", 2)), "radius");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_number("sigma", 999)), "sigma=999");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_number("sigma", NAN)), "sigma");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_number("sigma", INFINITY)), "sigma");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_text("border", "round")), "border");
    assert_refused("blur",
                   GF_ARGUMENTS(gf_argument_number("sigma", 1), gf_argument_number("sigma", 1)),
                   "sigma");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_text("border", NULL)),
                   "the text of border is NULL");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_number(NULL, 1)), "argument 0 has no name");
    assert_refused("blur", GF_ARGUMENTS(gf_argument_number("sigma=1,invert:x", 1)),
                   "argument 0 has no name");
    assert_refused("colormatrix", NULL, 0, "matrix");
    assert_refused("blur", NULL, 1, "arguments is NULL");
    assert_refused(NULL, NULL, 0, "filter is NULL");
    assert_int_equal(gf_chain_add(NULL, "blur", NULL, 0, NULL), GF_ERROR_USAGE);
    char *chain = NULL, long_text[40000];
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    assert_int_equal(
        gf_chain_add(&chain, "text", GF_ARGUMENTS(gf_argument_text("text", long_text)), &failure),
        GF_ERROR_USAGE);
    assert_null(chain);
}

/* The number of a chain's files is another one when they change. */
static void test_files(void **state)
{
    (void)state;
    static const char *const alone[] = {NULL, "", "blur=2,equalize", "lut",
                                        "invert:region=5 5 20 10"};
    static const char *const wrong[] = {"lut=missing.cube", "wobble", "blur=x"};
    static const char *const files[] = {"blur,overlay='at'", "invert:region=at", "text:file=at",
                                        "Mask=at", "icc=at"};
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (gf_chain_stamp(alone[i]) != 1)
            fail_msg("'%s' reads a file", alone[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(gf_chain_stamp(wrong[i]), 0);
    assert_int_equal(gf_chain_stamp("icc=sRGB"), gf_chain_stamp("icc=srgb"));
    save("a.pgm", "no picture", 10); /* the files are not read: nothing limits that */
    save("b.pgm", "P5 1 1 255 y", 12);
    assert_int_equal(symlink("a.pgm", "at"), 0);
    assert_int_equal(gf_chain_stamp(files[0]), 0); /* it is too new */
    for (int tries = 0; tries < 100 && !gf_chain_stamp("overlay=b.pgm"); tries++)
        usleep(100000);
    struct stat file;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(stat("b.pgm", &file), 0);
    assert_true((now.tv_sec - file.st_ctim.tv_sec) * 1000000000LL + now.tv_nsec >=
                file.st_ctim.tv_nsec + 2000000000LL);
    uint64_t stamp[sizeof files / sizeof *files];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        stamp[i] = gf_chain_stamp(files[i]);
        if (stamp[i] <= 1 || stamp[i] != gf_chain_stamp(files[i]))
            fail_msg("'%s' reads no file", files[i]);
    }
    assert_int_equal(unlink("at") || symlink("b.pgm", "at"), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(gf_chain_stamp(files[i]) > 1 && gf_chain_stamp(files[i]) != stamp[i]);
    save("b.pgm", "P5 1 1 255 z", 12);
    assert_int_equal(gf_chain_stamp(files[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain), cmocka_unit_test(test_texts), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_mistakes), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests_name("chain_add", tests, make_folder, remove_folder);
}
