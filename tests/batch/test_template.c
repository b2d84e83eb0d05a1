/* A program of its own. The names of outputs: hostile names of inputs, and memory that runs out. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "batch/names/names.h"

/* The sanitizers bring an allocator of their own, which must not be replaced. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR 1
#else
#define OWN_ALLOCATOR 0
#endif

static int allocations_left = -1; /* the n-th from now on fails; -1: none */

#if !OWN_ALLOCATOR
void *__libc_malloc(size_t);
void *__libc_realloc(void *, size_t);

static bool allocation_fails(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

/* The C library itself must see these, since open_memstream() is what allocates. */
#pragma GCC visibility push(default)
void *malloc(size_t size)
{
    return allocation_fails() ? NULL : __libc_malloc(size);
}

void *realloc(void *data, size_t size)
{
    return allocation_fails() ? NULL : __libc_realloc(data, size);
}
#pragma GCC visibility pop
#endif

static struct gf_template parse(const char *output)
{
    struct gf_template template;
    struct gf_error error = {0};
    if (gf_template_parse(output, &(struct gf_options){0}, true, &template, &error))
        fail_msg("%s: %s", output, error.text);
    return template;
}

static enum gf_status expand(const char *output, const char *input, size_t below, char **path)
{
    /* The name on the heap, where a sanitizer sees what is read behind it. */
    char *const copy = strdup(input);
    struct gf_template template = parse(output);
    const struct gf_input_name name = {.path = copy, .below = below};
    const struct gf_template_values values = {.input = &name, .number = 7};
    const enum gf_status status = gf_template_expand(&template, &values, path, NULL);
    gf_template_free(&template);
    free(copy);
    return status;
}

static void test_names(void **state)
{
    static const struct {
        const char *output, *input, *expected;
        size_t below;
    } cases[] = {
        {"out/{stem}.{ext}", "in/a.b.png", "out/a.b.png", 0},
        {"out/{stem}.{ext}", "in/.png", "out/.png.png", 0},
        {"out/{stem}.{ext}", "in/a.b.gif[2..5]", "out/a.b.png", 0},
        {"out/{stem}.{ext}", "in/.png[all]", "out/.png.png", 0},
        {"out/{stem}.{ext}", ".jpeg", "out/.jpeg.jpeg", 0},
        {"out/{stem}/x.ppm", "in/...png", "out/__/x.ppm", 0},
        {"out/{stem}/x.ppm", "in/..png", "out/_/x.ppm", 0},
        {"out/.{stem}/x.ppm", "in/..png", "out/._/x.ppm", 0},
        {"out/{stem}/x.ppm", "in/....png", "out/___/x.ppm", 0},
        {"out/{stem}/x.ppm", "in/..a.png", "out/..a/x.ppm", 0},
        {"out/{dir}/{stem}.ppm", "../../a.png", "out/a.ppm", 0},
        {"{dir}/{stem}{n:3}.ppm", "a.png", "a007.ppm", 0},
        {"out/{dir}/{stem}.ppm", "in/a/b.png", "out/a/b.ppm", 3},
        {"out/{dir}/{stem}.ppm", "tar:in/a/b.png", "out/a/b.ppm", 7},
        {"out/{dir}/{stem}.ppm", "tar:a/b.png", "out/a/b.ppm", 2},
        {"s3://b/out/{dir}/{stem}.png", "c.png", "s3://b/out/c.png", 0},
        {"s3://b/out/", "s3://b/in/a.png", "s3://b/out/a.png", 0},
        {"{dir}/x{stem}.png", "s3://b/in/a.png", "s3://b/in/xa.png", 0},
        {"out/{dir}/{stem}.png", "s3://b/in/a.png", "out/s3:/b/in/a.png", 0},
        {"out//{stem}.png", "a.png", "out/a.png", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = NULL;
        assert_int_equal(expand(cases[i].output, cases[i].input, cases[i].below, &path), GF_OK);
        assert_string_equal(path, cases[i].expected);
        free(path);
    }
}

static void test_out_of_memory(void **state)
{
    if (OWN_ALLOCATOR)
        skip();
    const struct gf_input_name name = {.path = (char *)"a.png"};
    const struct gf_template_values values = {.input = &name};
    struct gf_template template = parse("out/{stem}.{ext}");
    int failures = 0;
    for (int n = 0; n < 20; n++) {
        char *path = (char *)"unset";
        allocations_left = n;
        const enum gf_status status = gf_template_expand(&template, &values, &path, NULL);
        allocations_left = -1;
        failures += status != GF_OK;
        assert_true(status == GF_OK || status == GF_ERROR_MEMORY);
        if (status)
            assert_null(path);
        else
            assert_string_equal(path, "out/a.png");
        free(path);
    }
    assert_true(failures > 1);
    gf_template_free(&template);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
