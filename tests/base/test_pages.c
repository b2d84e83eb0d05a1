/* Pages that the kernel provides before they are written. */
#include "base/memory/buffers.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

enum { PAGES = 6 };

/* An older kernel refuses to provide pages, and then they come when they are touched. */
static void needs_a_kernel(size_t page)
{
    enum { POPULATE_WRITE = 23 };
    void *const memory = gf_pages_alloc(page);
    const int refused = madvise(memory, page, POPULATE_WRITE);
    gf_pages_free(memory, page);
    if (refused)
        skip();
}

static void check_there(unsigned char *memory, size_t page, const char *expected)
{
    unsigned char there[PAGES];
    assert_int_equal(mincore(memory, PAGES * page, there), 0);
    for (int i = 0; i < PAGES; i++)
        assert_int_equal(there[i] & 1, expected[i] - '0');
}

static void test_whole_pages_are_there(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *const memory = gf_pages_alloc(PAGES * page);
    needs_a_kernel(page);
    assert_non_null(memory);
    gf_pages_expect(memory + 1, page);
    gf_pages_expect(memory, 0);
    check_there(memory, page, "000000");
    memory[2 * page] = 7;
    gf_pages_expect(memory + 1, 2 * page - 1 + page); /* its last page is there */
    check_there(memory, page, "001000");
    gf_pages_expect(memory + 1, 4 * page);
    check_there(memory, page, "011100");
    assert_int_equal(memory[2 * page], 7);
    assert_int_equal(memory[3 * page], 0);
    gf_pages_free(memory, PAGES * page);
}

/* Parts of a large buffer are provided side by side; the last one is shorter. */
static void test_populating(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (25 << 20) / page + 1;
    unsigned char *const memory = gf_pages_alloc(pages * page), *const there = calloc(pages, 1);
    needs_a_kernel(page);
    assert_true(memory && there);
    gf_pages_populate(memory, page); /* is too small for that */
    assert_int_equal(mincore(memory, page, there), 0);
    assert_int_equal(there[0] & 1, 0);
    gf_pages_populate(memory, pages * page);
    assert_int_equal(mincore(memory, pages * page, there), 0);
    for (size_t i = 0; i < pages; i++)
        assert_int_equal(there[i] & 1, 1);
    free(there);
    gf_pages_free(memory, pages * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_pages_are_there),
                                       cmocka_unit_test(test_populating)};
    return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
