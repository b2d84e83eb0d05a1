/* The JSON writer: its layouts, strings that need escapes, and numbers that JSON does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"

/* Writes the same members in one layout, nested and empty ones included. */
static void assert_layout(enum gf_json_layout layout, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&text, &size);
    assert_non_null(file);
    struct gf_json json = gf_json_begin(file);
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
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void test_layouts(void **state)
{
    (void)state;
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
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
