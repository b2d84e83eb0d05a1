/* The hash that names data, and the name of a build. */
#include "base/bytes.h"
#include "base/process/program.h"
#include "support.h"

/* From the authors' own test vectors. */
static void test_vectors(void **state)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = {
        {"", 0xcbf29ce484222325}, {"a", 0xaf63dc4c8601ec8c}, {"foobar", 0x85944171f73967e8}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(gf_hash(GF_HASH_START, known[i].text, strlen(known[i].text)) == known[i].hash);
    assert_true(gf_hash(gf_hash(GF_HASH_START, "foo", 3), "bar", 3) == known[2].hash);
}

static void test_build(void **state)
{
    char first[GF_BUILD_ID_SIZE], second[GF_BUILD_ID_SIZE];
    char of_version_only[GF_BUILD_ID_SIZE];
    assert_string_equal(gf_build_id(first), gf_build_id(second));
    assert_int_equal(strspn(first, "0123456789abcdef"), GF_BUILD_ID_SIZE - 1);
    snprintf(of_version_only, sizeof of_version_only, "%016llx",
             (unsigned long long)gf_hash(GF_HASH_START, gf_version(), strlen(gf_version()) + 1));
    assert_string_not_equal(first, of_version_only);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_build)};
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
