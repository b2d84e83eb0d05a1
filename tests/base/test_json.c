/* The JSON writer: its layouts, strings that need escapes, and numbers that JSON does not have. */
#include "printed.h"

#include <math.h>

#include "base/text/json.h"

/* Writes the same members in one layout, nested and empty ones included. */
static void assert_layout(enum gf_json_layout layout, const char *expected)
{
    struct gf_json json = gf_json_begin(print_begin());
    gf_json_object(&json, NULL, layout);
    gf_json_number(&json, "a", 1.25, 1);
    gf_json_array(&json, "b", layout);
    gf_json_bool(&json, NULL, true);
    gf_json_object(&json, NULL, GF_JSON_INLINE);
    gf_json_figure(&json, "c", 61.75);
    gf_json_string(&json, "d", NULL);
    gf_json_end(&json);
    gf_json_end(&json);
    gf_json_array(&json, "e", layout);
    gf_json_end(&json);
    gf_json_end(&json);
    char *const text = print_end();
    assert_string_equal(text, expected);
    free(text);
}

static void test_layouts(void **state)
{
    assert_layout(GF_JSON_COMPACT,
                  "{\"a\":1.2,\"b\":[true,{\"c\": 61.75, \"d\": null}],\"e\":[]}\n");
    assert_layout(GF_JSON_INLINE,
                  "{\"a\": 1.2, \"b\": [true, {\"c\": 61.75, \"d\": null}], \"e\": []}\n");
    assert_layout(GF_JSON_LINES, "{\n"
                                 "  \"a\": 1.2,\n"
                                 "  \"b\": [\n"
                                 "    true,\n"
                                 "    {\"c\": 61.75, \"d\": null}\n"
                                 "  ],\n"
                                 "  \"e\": [\n"
                                 "  ]\n"
                                 "}\n");
    assert_layout(GF_JSON_LINES_OPEN, "{\n"
                                      "  \"a\": 1.2,\n"
                                      "  \"b\": [\n"
                                      "    true,\n"
                                      "    {\"c\": 61.75, \"d\": null}],\n"
                                      "  \"e\": []}\n");
}

static void test_values(void **state)
{
    static const struct {
        const char *text, *expected;
    } strings[] = {{"", "\"\"\n"},
                   {"a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\"\n"},
                   {"\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"\n"},
                   {"\xc3\xa9 \xf0\x9f\x98\x80", "\"\xc3\xa9 \xf0\x9f\x98\x80\"\n"},
                   {"\xff\xc3", "\"\\udcff\\udcc3\"\n"},
                   {"\xed\xa0\x80", "\"\\udced\\udca0\\udc80\"\n"}};
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char text[80] = "";
        FILE *const file = fmemopen(text, sizeof text, "w");
        assert_non_null(file);
        struct gf_json json = gf_json_begin(file);
        gf_json_string(&json, NULL, strings[i].text);
        putc('\n', file);
        fclose(file);
        assert_string_equal(text, strings[i].expected);
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char text[80] = "";
        FILE *const file = fmemopen(text, sizeof text, "w");
        assert_non_null(file);
        struct gf_json json = gf_json_begin(file);
        gf_json_number(&json, NULL, odd[i], 3);
        gf_json_figure(&json, NULL, odd[i]);
        fclose(file);
        assert_string_equal(text, "nullnull");
    }
}

/* ---- the reader ---- */

static void assert_reads(const char *text, enum gf_json_type type)
{
    struct gf_json_tree tree;
    struct gf_error error = {0};
    if (gf_json_read("f.json", 1, text, strlen(text), &tree, &error))
        fail_msg("'%s': %s", text, error.text);
    assert_int_equal(tree.value->type, type);
    gf_json_tree_free(&tree);
}

static void assert_refuses(const char *text, size_t size, const char *message)
{
    struct gf_json_tree tree;
    struct gf_error error = {0};
    assert_int_equal(gf_json_read("f.json", 1, text, size, &tree, &error), GF_ERROR_INPUT);
    if (!strstr(error.text, message))
        fail_msg("'%s' says '%s', not '%s'", text, error.text, message);
    assert_null(tree.value);
}

static void test_reads(void **state)
{
    assert_reads(" 12 ", GF_JSON_NUMBER);
    assert_reads("-1.5e-3", GF_JSON_NUMBER);
    assert_reads("null", GF_JSON_NULL);
    assert_reads("\t\r\n[ ]\n", GF_JSON_ARRAY);
    assert_reads("{}", GF_JSON_OBJECT);
    assert_reads("[[],[1,[2,{\"a\":[]}]],true,false]", GF_JSON_ARRAY);
}

static void test_members(void **state)
{
    static const char text[] =
        "{\"n\": 2.5, \"t\": \"x\", \"yes\": true, \"none\": null, \"list\": [1, 2, 3], \"n\": 9}";
    struct gf_json_tree tree;
    struct gf_error error = {0};
    assert_int_equal(gf_json_read("f", 1, text, strlen(text), &tree, &error), GF_OK);
    const struct gf_json_value *const root = tree.value;
    assert_true(gf_json_number_of(root, "n") == 2.5); /* the first of that name */
    assert_true(isnan(gf_json_number_of(root, "t")) && isnan(gf_json_number_of(root, "none")));
    assert_true(isnan(gf_json_number_of(NULL, "n")) && isnan(gf_json_number_of(root->first, "n")));
    assert_int_equal(gf_json_int_of(root, "n", 0, 5, -1), 2);
    assert_int_equal(gf_json_int_of(root, "n", 3, 5, -1), -1);
    assert_string_equal(gf_json_text_of(root, "t"), "x");
    assert_string_equal(gf_json_text_of(root, "n"), "");
    assert_int_equal(gf_json_member(root, "yes")->type, GF_JSON_BOOL);
    assert_true(gf_json_member(root, "yes")->number != 0);
    assert_int_equal(gf_json_member(root, "none")->type, GF_JSON_NULL);
    assert_int_equal(gf_json_count(gf_json_first_of(root, "list")), 3);
    assert_null(gf_json_first_of(root, "t"));
    gf_json_tree_free(&tree);
}

static void test_refusals(void **state)
{
    static const char *const damaged[] = {
        "{\"a\" 1}", "[1 2]",    "[1,]",    "{\"a\":1,}",  "{1:2}",       "nul",   "+1",
        "1 2",       "\"\x01\"", "\"\\q\"", "\"\\u12g4\"", "\"\\u0000\"", "1e999", "\x80",
        "<html>",    "[1}",      "{\"a\"]", "'a'",         "-",           "NaN",   ".5"};
    static const char *const torn[] = {"", " ", "[", "{\"a\"", "{\"a\":", "\"abc", "[1,", "tru"};
    char deep[200];
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        assert_refuses(damaged[i], strlen(damaged[i]), "f.json: line 1 is no JSON: damaged");
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++)
        assert_refuses(torn[i], strlen(torn[i]), "f.json: line 1 is no JSON: ");
    assert_refuses("[1,\n\n", 5, "line 3 is no JSON: the file ends before its value does");
    assert_refuses("[1,\n2,\n3 4]", 11, "line 3 is no JSON: damaged");
    assert_refuses("1\0", 2, "damaged");
    memset(deep, '[', sizeof deep);
    assert_refuses(deep, sizeof deep, "nested too deeply");
    memset(deep, '[', GF_JSON_READ_DEPTH_MAX);
    memset(deep + GF_JSON_READ_DEPTH_MAX, ']', GF_JSON_READ_DEPTH_MAX);
    deep[2 * GF_JSON_READ_DEPTH_MAX] = '\0';
    assert_reads(deep, GF_JSON_ARRAY);
}

/* Whatever bytes a text has, what the writer writes the reader reads. */
static void test_round_trip(void **state)
{
    static const char *const texts[] = {"",
                                        "plain",
                                        "\"\\/\b\f\n\r\t\x01\x7f",
                                        "\xff\xfe \xc3",
                                        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
                                        "\xed\xa0\x80",
                                        "</script>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gf_json json = gf_json_begin(print_begin());
        gf_json_object(&json, NULL, GF_JSON_COMPACT);
        gf_json_string(&json, texts[i], texts[i]);
        gf_json_end(&json);
        char *const text = print_end();
        struct gf_json_tree tree;
        struct gf_error error = {0};
        assert_int_equal(gf_json_read("f", 1, text, strlen(text), &tree, &error), GF_OK);
        assert_string_equal(gf_json_text_of(tree.value, texts[i]), texts[i]);
        gf_json_tree_free(&tree);
        free(text);
    }
}

static void test_escapes(void **state)
{
    static const char text[] = "\"\\u00e4\\u20ac\\ud83d\\ude00\\ud83dx\\udcff\\/\"";
    struct gf_json_tree tree;
    struct gf_error error = {0};
    assert_int_equal(gf_json_read("f", 1, text, strlen(text), &tree, &error), GF_OK);
    assert_string_equal(tree.value->text, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx\xff/");
    gf_json_tree_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_reads),    cmocka_unit_test(test_members),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
