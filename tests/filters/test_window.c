/* gravity=attention and entropy of crop take the window that a plain computation of the definition
 * takes; of equal windows, those in their middle. */
#include <math.h>

#include "support.h"

enum { CELLS = 128 };

/* The copy of a picture: the mean colour and the mean alpha of each cell, 0..255. */
struct plain {
    int columns, rows, side;
    int colour[CELLS][CELLS][3], luma[CELLS][CELLS], alpha[CELLS][CELLS];
    int worth[CELLS][CELLS]; /* attention: the interest; entropy: the level of luma, or -1 */
};

static void read_cell(const struct gf_image *image, struct plain *plain, int x, int y)
{
    const struct gf_format format = image->format;
    const bool has_alpha = format.channels % 2 == 0;
    const int unit = format.bits == 8 ? 1 : 256;
    double sum[3] = {0}, weight = 0, pixels = 0;
    for (int j = y * plain->side; j < (y + 1) * plain->side && j < format.height; j++) {
        for (int i = x * plain->side; i < (x + 1) * plain->side && i < format.width; i++) {
            const double alpha = has_alpha ? sample_at(image, i, j, format.channels - 1) : 1;
            for (int c = 0; c < 3; c++)
                sum[c] += alpha * sample_at(image, i, j, format.channels < 3 ? 0 : c);
            weight += alpha;
            pixels++;
        }
    }
    int *const colour = plain->colour[y][x];
    for (int c = 0; c < 3; c++)
        colour[c] = weight > 0 ? (int)floor(floor(sum[c] / weight) / unit) : 0;
    plain->luma[y][x] = (77 * colour[0] + 150 * colour[1] + 29 * colour[2] + 128) / 256;
    plain->alpha[y][x] = has_alpha ? (int)floor(weight / pixels / unit) : 255;
}

static int luma_at(const struct plain *plain, int x, int y)
{
    const int column = x < 0 ? 0 : x < plain->columns ? x : plain->columns - 1;
    const int row = y < 0 ? 0 : y < plain->rows ? y : plain->rows - 1;
    return plain->luma[row][column];
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

static int interest_at(const struct plain *plain, const int mean[3], int x, int y)
{
    const int *const p = plain->colour[y][x];
    const int luma = plain->luma[y][x], sum = p[0] + p[1] + p[2] + 1;
    const int edges = abs(luma_at(plain, x + 1, y) - luma_at(plain, x - 1, y)) +
                      abs(luma_at(plain, x, y + 1) - luma_at(plain, x, y - 1));
    const int most = p[0] > p[1] ? (p[0] > p[2] ? p[0] : p[2]) : p[1] > p[2] ? p[1] : p[2];
    const int least = least_of(p[0], least_of(p[1], p[2]));
    const int skin = 255 - 10 * (abs(256 * p[0] / sum - 112) + abs(256 * p[1] / sum - 82));
    const int away = (abs(p[0] - mean[0]) + abs(p[1] - mean[1]) + abs(p[2] - mean[2])) / 2;
    const int all = least_of(edges, 255) + most - least +
                    (luma > 40 && luma < 235 && skin > 0 ? skin : 0) + least_of(away, 255);
    return all * plain->alpha[y][x] / 255;
}

static struct plain *copy_of(const struct gf_image *image, bool entropy)
{
    struct plain *const plain = calloc(1, sizeof *plain);
    assert_non_null(plain);
    const int width = image->format.width, height = image->format.height;
    plain->side = ((width > height ? width : height) + CELLS - 1) / CELLS;
    plain->columns = (width + plain->side - 1) / plain->side;
    plain->rows = (height + plain->side - 1) / plain->side;
    double sum[3] = {0}, weight = 0;
    for (int y = 0; y < plain->rows; y++) {
        for (int x = 0; x < plain->columns; x++) {
            read_cell(image, plain, x, y);
            for (int c = 0; c < 3; c++)
                sum[c] += (double)plain->colour[y][x][c] * plain->alpha[y][x];
            weight += plain->alpha[y][x];
        }
    }
    int mean[3];
    for (int c = 0; c < 3; c++)
        mean[c] = weight > 0 ? (int)floor(sum[c] / weight) : 0;
    for (int y = 0; y < plain->rows; y++) {
        for (int x = 0; x < plain->columns; x++)
            plain->worth[y][x] = !entropy                 ? interest_at(plain, mean, x, y)
                                 : plain->alpha[y][x] > 0 ? plain->luma[y][x] / 8
                                                          : -1;
    }
    return plain;
}

static double log_of(int n)
{
    return n ? floor(log2(n) * 65536) : 0;
}

static double worth_of_box(const struct plain *plain, bool entropy, int x0, int y0, int w, int h)
{
    int count[32] = {0}, cells = 0;
    double sum = 0;
    for (int y = y0; y < y0 + h; y++) {
        for (int x = x0; x < x0 + w; x++) {
            const int worth = plain->worth[y][x];
            if (!entropy)
                sum += worth;
            else if (worth >= 0)
                count[worth]++, cells++;
        }
    }
    for (int k = 0; entropy && k < 32; k++)
        sum -= count[k] * log_of(count[k]);
    return entropy && cells ? floor((sum + cells * log_of(cells)) / cells) : sum;
}

static double worth_at(const struct plain *plain, bool entropy, int x, int y, int w, int h)
{
    const int inner_w = w < plain->columns ? w / 2 : w, inner_h = h < plain->rows ? h / 2 : h;
    return worth_of_box(plain, entropy, x, y, w, h) +
           worth_of_box(plain, entropy, x + (w - inner_w) / 2, y + (h - inner_h) / 2, inner_w,
                        inner_h);
}

static void find_plainly(const struct gf_image *image, bool entropy, int width, int height, int *x,
                         int *y)
{
    struct plain *const plain = copy_of(image, entropy);
    const int whole_w = image->format.width, whole_h = image->format.height;
    int w = (int)floor((double)width * plain->columns / whole_w + 0.5),
        h = (int)floor((double)height * plain->rows / whole_h + 0.5);
    w = w ? w : 1;
    h = h ? h : 1;
    double best = -1;
    int x0 = 0, y0 = 0;
    for (int j = 0; j <= plain->rows - h; j++) {
        for (int i = 0; i <= plain->columns - w; i++) {
            const double worth = worth_at(plain, entropy, i, j, w, h);
            if (worth > best)
                best = worth, x0 = i, y0 = j;
        }
    }
    int x1 = x0, y1 = y0;
    while (x1 < plain->columns - w && worth_at(plain, entropy, x1 + 1, y0, w, h) == best)
        x1++;
    while (y1 < plain->rows - h && worth_at(plain, entropy, (x0 + x1) / 2, y1 + 1, w, h) == best)
        y1++;
    const int room_x = plain->columns - w, room_y = plain->rows - h;
    *x = room_x ? (x0 + x1) * (whole_w - width) / (2 * room_x) : (whole_w - width) / 2;
    *y = room_y ? (y0 + y1) * (whole_h - height) / (2 * room_y) : (whole_h - height) / 2;
    free(plain);
}

static void check_window(const struct gf_image *image, bool entropy, int w, int h)
{
    char found[80], given[80];
    int x, y;
    find_plainly(image, entropy, w, h, &x, &y);
    snprintf(found, sizeof found, "crop=%d:%d:gravity=%s", w, h, entropy ? "entropy" : "attention");
    snprintf(given, sizeof given, "crop=%d:%d:%d:%d", w, h, x, y);
    struct gf_image expected = cpu_result(given, image, 0);
    for (int band_rows = 0; band_rows <= 7; band_rows += 7) {
        struct gf_image is = cpu_result(found, image, band_rows);
        assert_same(found, &is, &expected);
        picture_free(&is);
    }
    picture_free(&expected);
}

/* Patches of colours, some of them like skin, on noise, so that windows differ. */
static struct gf_image draw(struct gf_format format, uint64_t seed)
{
    struct gf_image image = picture_random(format, 6, seed);
    uint64_t state = seed + 1;
    const int most = format.bits == 8 ? 255 : 65535;
    for (int patch = 0; patch < 6; patch++) {
        const int left = random_below(&state, format.width),
                  top = random_below(&state, format.height);
        const int w = 1 + format.width / 5, h = 1 + format.height / 4;
        int colour[4] = {most * 3 / 4, most * 11 / 20, most * 2 / 5, most / (1 + patch % 2)};
        for (int c = 0; c < 4 && patch % 3; c++)
            colour[c] = random_below(&state, most + 1);
        for (int y = top; y < top + h && y < format.height; y++) {
            for (int x = left; x < left + w && x < format.width; x++) {
                for (int c = 0; c < format.channels; c++)
                    sample_set(&image, x, y, c, colour[c == format.channels - 1 && c % 2 ? 3 : c]);
            }
        }
    }
    return image;
}

static void test_plain(void **state)
{
    static const int sizes[][4] = {{1, 1, 1, 1},         {9, 5, 4, 5},        {5, 9, 2, 2},
                                   {77, 55, 31, 55},     {128, 129, 40, 70},  {300, 100, 299, 99},
                                   {290, 511, 290, 163}, {700, 260, 146, 260}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int channels = 1; channels <= 4; channels++) {
            for (int bits = 8; bits <= 16; bits += 8) {
                struct gf_image image =
                    draw(format_of(sizes[s][0], sizes[s][1], channels, bits), s + (size_t)channels);
                check_window(&image, false, sizes[s][2], sizes[s][3]);
                check_window(&image, true, sizes[s][2], sizes[s][3]);
                picture_free(&image);
            }
        }
    }
}

/* What is hidden under transparent pixels has no interest. */
static void test_transparent(void **state)
{
    struct gf_image image = picture_new(format_of(200, 40, 4, 8), 0), shown;
    for (int y = 0; y < 40; y++) {
        for (int x = 0; x < 200; x++) {
            const bool hidden = x < 100, object = x >= 150 && x < 160 && y > 10 && y < 20;
            for (int c = 0; c < 3; c++)
                sample_set(&image, x, y, c,
                           hidden         ? (x * 7 + y * 31 * c) % 256
                           : object && !c ? 220
                                          : 90);
            sample_set(&image, x, y, 3, hidden ? 0 : 255);
        }
    }
    shown = cpu_result("crop=40:40:gravity=attention", &image, 0);
    int red = 0;
    for (int y = 0; y < 40; y++) {
        for (int x = 0; x < 40; x++)
            red += sample_at(&shown, x, y, 0) == 220 && sample_at(&shown, x, y, 3) == 255;
    }
    assert_int_equal(red, 90);
    picture_free(&shown);
    picture_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_transparent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
