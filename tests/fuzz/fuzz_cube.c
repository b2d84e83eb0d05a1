/* .cube files: text. What is taken has all its values. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "pixel/cube.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct gf_cube cube;
    struct gf_error error = {0};
    if (fuzz_ok(gf_cube_parse(text, size, &cube, &error), &error)) {
        const size_t side = (size_t)cube.size;
        const size_t count = cube.is_3d ? side * side * side : side;
        FUZZ_CHECK(cube.size >= 2, "a size of %d", cube.size);
        for (int c = 0; c < 3; c++)
            FUZZ_CHECK(cube.least[c] < cube.greatest[c], "a domain from %g", cube.least[c]);
        unsigned sum = 0;
        for (size_t i = 0; i < 3 * count; i++) {
            sum += cube.is_3d ? cube.node[i] : 0;
            FUZZ_CHECK(cube.is_3d || (cube.value[i] >= 0 && cube.value[i] <= 1), "value %zu", i);
        }
        (void)sum;
        gf_cube_free(&cube);
    }
    free(text);
    return 0;
}
