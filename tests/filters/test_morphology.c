/* Dilation and erosion against the largest and the least sample under the element, one by one. */
#include "one_stage.h"

/* The element's sample in column x and row y from its middle counts. */
struct element {
    int rx, ry;
    const char *cells; /* of a matrix, row by row, 0 or 1; NULL: a rectangle */
};

static bool counts(const struct element *element, int x, int y)
{
    const int at = (y + element->ry) * (2 * element->rx + 1) + x + element->rx;
    return !element->cells || element->cells[at] == '1';
}

static int extreme(const struct gf_image *in, const struct element *element, bool dilates, int x,
                   int y, int channel, int border)
{
    int found = dilates ? 0 : 65535;
    for (int j = -element->ry; j <= element->ry; j++) {
        for (int i = -element->rx; i <= element->rx; i++) {
            const int v = sample_beyond(in, dilates ? x - i : x + i, dilates ? y - j : y + j,
                                        channel, border);
            if (counts(element, i, j) && (dilates ? v > found : v < found))
                found = v;
        }
    }
    return found;
}

/* "dilate=2:1:rectangle:edge", or the rows of a matrix in place of its sides. */
static void write_chain(char *text, size_t size, const struct element *element, bool dilates,
                        int border)
{
    size_t used = (size_t)snprintf(text, size, "%s=", dilates ? "dilate" : "erode");
    if (!element->cells) {
        snprintf(text + used, size - used, "%d:%d:border=%s", element->rx, element->ry,
                 border_names[border]);
        return;
    }
    const int columns = 2 * element->rx + 1;
    used += (size_t)snprintf(text + used, size - used, "border=%s:shape=", border_names[border]);
    for (int i = 0; element->cells[i]; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%c",
                                 !i            ? ""
                                 : i % columns ? " "
                                               : "/",
                                 element->cells[i]);
}

static void check_element(const struct gf_image *in, const void *context)
{
    const struct element *const element = context;
    for (int i = 0; i < 8; i++) {
        char text[200];
        const bool dilates = i < 4;
        write_chain(text, sizeof text, element, dilates, i % 4);
        struct gf_image out = chain_result(text, in), expected = picture_new(in->format, 0);
        for (int y = 0; y < in->format.height; y++) {
            for (int x = 0; x < in->format.width; x++) {
                for (int c = 0; c < in->format.channels; c++)
                    sample_set(&expected, x, y, c, extreme(in, element, dilates, x, y, c, i % 4));
            }
        }
        assert_same(text, &out, &expected);
        picture_free(&out);
        picture_free(&expected);
    }
}

/* Sides up to 11 have passes of their own; others go by runs. */
static void test_rectangles(void **state)
{
    static const int radii[][2] = {{1, 1}, {2, 1}, {1, 3}, {4, 2}, {3, 5}, {5, 4},
                                   {6, 1}, {1, 6}, {0, 3}, {3, 0}, {9, 8}};
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++) {
        const struct element element = {radii[i][0], radii[i][1], NULL};
        each_stage_picture(4300, check_element, &element);
    }
}

/* Few samples are taken one by one, up to 11 and up to 21 at once; of more there are runs. */
static void test_matrices(void **state)
{
    static const struct element matrices[] = {
        {1, 1, "010111010"},
        {1, 0, "001"},
        {0, 1, "100"},
        {2, 1, "100000010100011"},
        {2, 2, "0010011111111111111100100"},
        {2, 2, "1111111111110111111011111"},
        {0, 5, "10011001101"},
        {4, 1, "111111111000010000100000001"},
    };
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        each_stage_picture(4300, check_element, &matrices[i]);
}

static void check_opening(const struct gf_image *in, const void *context)
{
    const int radius = *(const int *)context;
    for (int i = 0; i < 8; i++) {
        char text[100], parts[100];
        const char *const border = border_names[i % 4];
        snprintf(text, sizeof text, "morphology=%s:%d:border=%s", i < 4 ? "open" : "close", radius,
                 border);
        snprintf(parts, sizeof parts, "%s=%d:border=%s,%s=%d:border=%s", i < 4 ? "erode" : "dilate",
                 radius, border, i < 4 ? "dilate" : "erode", radius, border);
        struct gf_image out = cpu_result(text, in, 16), expected = cpu_result(parts, in, 16);
        assert_same(text, &out, &expected);
        picture_free(&out);
        picture_free(&expected);
    }
}

/* Squares of 3x3 to 9x9 of 8 bits are one stage, others are two. */
static void test_openings(void **state)
{
    for (int radius = 1; radius <= 5; radius++)
        each_stage_picture(4300, check_opening, &radius);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rectangles),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_openings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
