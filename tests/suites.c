/* The tests of a folder in one program. A link to it that is called like a test file runs that
 * file's tests, or those alone that the argument names, where * stands for anything: test_tiff
 * '*pages*'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SUITE(name) int main_of_##name(void);
#include "suites.def"
#undef SUITE

static const struct suite {
    const char *name;
    int (*run)(void);
} suites[] = {
#define SUITE(name) {#name, main_of_##name},
#include "suites.def"
};

int main(int argc, char **argv)
{
    const char *const slash = strrchr(argv[0], '/'), *const name = slash ? slash + 1 : argv[0];
    const struct suite *const end = suites + sizeof suites / sizeof *suites;
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    for (const struct suite *suite = suites; suite < end; suite++)
        if (!strcmp(suite->name, name))
            return suite->run();
    for (const struct suite *suite = suites; suite < end; suite++)
        fprintf(stderr, "%s\n", suite->name);
    return 2;
}
