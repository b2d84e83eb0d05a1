/* Libraries that are missing, and libraries that cannot be loaded now. */
#include <sys/resource.h>
#include <unistd.h>

#include "support.h"

#include "base/process/library.h"

#define CALLS(CALL) CALL(getpid)
static struct {
    CALLS(GF_LIBRARY_CALL)
} calls;
static struct gf_library missing = GF_LIBRARY(calls, CALLS, "libnowhere.so.1=libnowhere1");
/* A library of every system that no program has loaded yet. */
static struct gf_library there = GF_LIBRARY(calls, CALLS, "libutil.so.1=libc6");

static void test_a_missing_library_has_a_package(void **state)
{
    struct gf_error error;
    assert_int_equal(gf_library_load(&missing, "x", GF_ERROR_LIBRARY, &error), GF_ERROR_LIBRARY);
    assert_non_null(strstr(error.text, "(apt-get install libnowhere1)"));
}

/* A want of descriptors says nothing about the library, and the next call tries again. */
static void test_a_library_without_a_descriptor_is_not_missing(void **state)
{
    struct gf_error error;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const enum gf_status status = gf_library_load(&there, "x", GF_ERROR_LIBRARY, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(status, GF_ERROR_MEMORY);
    assert_string_equal(error.text, "x: needs a library that cannot be loaded now: libutil.so.1: "
                                    "cannot open shared object file: Too many open files");
    assert_int_equal(gf_library_load(&there, "x", GF_ERROR_LIBRARY, &error), GF_OK);
    assert_int_equal(calls.getpid(), getpid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_missing_library_has_a_package),
        cmocka_unit_test(test_a_library_without_a_descriptor_is_not_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
