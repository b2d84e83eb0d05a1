/* .cube files: text. What is taken has all its values. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "pixel/files/cube.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct gf_cube cube;
    struct gf_error error = {0};
    if (fuzz_ok(gf_cube_parse(text, size, &cube, &error), &error)) {
        const size_t side = (size_t)cube.size, count = side * side * side;
        FUZZ_CHECK(cube.size >= 2 || cube.points >= 2, "a size of %d", cube.size);
        for (int c = 0; c < 3; c++)
            FUZZ_CHECK(cube.domain.least[c] < cube.domain.greatest[c], "a domain from %g",
                       cube.domain.least[c]);
        unsigned sum = 0;
        for (size_t i = 0; i < 3 * count; i++)
            sum += cube.nodes.node[i];
        for (size_t i = 0; i < 3 * (size_t)cube.points; i++)
            FUZZ_CHECK(cube.value[i] >= -1e6f && cube.value[i] <= 1e6f, "value %zu", i);
        (void)sum;
        gf_cube_free(&cube);
    }
    free(text);
    return 0;
}
