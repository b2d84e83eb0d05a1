/* Second pictures, regions and texts on floats: every mode of overlay and mask against references
 * in double precision, pictures of any samples over pictures of any others, NaN and infinities. */
#include "float_pictures.h"

#include <math.h>
#include <unistd.h>

/* Noise of -1..3, of which a third is 0..1, some are 0 and 1; alpha of 0..1, often 0 or 1. */
static struct gf_image noise(struct gf_format format, uint64_t seed)
{
    struct gf_image image;
    assert_ok("picture", gf_image_alloc(&image, format, &error), &error);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        for (int c = 0; c < format.channels; c++) {
            const float part = (float)random_below(&seed, 1025) / 1024;
            const int kind = random_below(&seed, 6);
            const bool is_alpha = format.channels % 2 == 0 && c == format.channels - 1;
            float v = is_alpha || kind < 2 ? part : 4 * part - 1;
            v = kind == 2 ? 0 : kind == 3 ? 1 : v;
            put(&image, i % WIDTH, i / WIDTH, c, v);
        }
    }
    return image;
}

static char second[] = "/tmp/gpufilter-second-XXXXXX";

/* Writes the picture as the file `second`, a .npy. */
static void save(const struct gf_image *image)
{
    const struct gf_format format = image->format;
    const char *const type = !gf_is_float(format) ? format.bits == 8 ? "|u1" : "<u2"
                             : format.bits == 16  ? "<f2"
                                                  : "<f4";
    char head[128 + 1];
    snprintf(head, sizeof head,
             "XNUMPYXXvX{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d, %d), }", type,
             format.height, format.width, format.channels);
    const size_t used = strlen(head);
    memset(head + used, ' ', 128 - used);
    memcpy(head, "\x93NUMPY\1\0v\0", 10);
    head[127] = '\n';
    FILE *const file = fopen(second, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, 128, file), 128);
    for (int y = 0; y < format.height; y++)
        assert_int_equal(fwrite(address_of(image, 0, y, 0), 1, gf_row_bytes(format), file),
                         gf_row_bytes(format));
    assert_int_equal(fclose(file), 0);
}

/* ---- the modes in double precision ---- */

static bool within(double v)
{
    return v >= 0 && v <= 1;
}

static double screen(double b, double s)
{
    return within(b) && within(s) ? 1 - (1 - b) * (1 - s) : fmax(b, s);
}

static double hard_light(double b, double s)
{
    return s <= 0.5 ? 2 * b * s : screen(b, 2 * s - 1);
}

static double soft_light(double b, double s)
{
    const double lighter = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : sqrt(b);
    if (!within(b))
        return b;
    return s <= 0.5 ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (lighter - b);
}

static double dodge(double b, double s)
{
    return b <= 0 ? b : s >= 1 ? fmax(b, 1) : fmin(b / (1 - s), fmax(b, 1));
}

static double burn(double b, double s)
{
    return b >= 1 ? b : s <= 0 ? fmin(b, 0) : fmax(1 - (1 - b) / s, fmin(b, 0));
}

static double separable(int mode, double b, double s)
{
    switch (mode) {
    case 1:
        return b * s;
    case 2:
        return screen(b, s);
    case 3:
        return hard_light(s, b);
    case 4:
        return fmin(b, s);
    case 5:
        return fmax(b, s);
    case 6:
        return dodge(b, s);
    case 7:
        return burn(b, s);
    case 8:
        return hard_light(b, s);
    case 9:
        return soft_light(b, s);
    case 10:
        return fabs(b - s);
    case 11:
        return within(b) && within(s) ? b + s - 2 * b * s : fabs(b - s);
    default:
        return s;
    }
}

static double lum(const double *p)
{
    return 0.3 * p[0] + 0.59 * p[1] + 0.11 * p[2];
}

static double least(const double *p)
{
    return fmin(p[0], fmin(p[1], p[2]));
}

static double most(const double *p)
{
    return fmax(p[0], fmax(p[1], p[2]));
}

/* W3C's SetSat() and SetLum(), whose ClipColor() has the range of both colours and 0..1. */
static void joint(int mode, const double *b, const double *s, double *to)
{
    const double *const from = mode == 13 || mode == 15 ? b : s;
    const double l = lum(mode == 15 ? s : b), *const other = mode == 12 ? b : s;
    const double low = fmin(0, fmin(least(b), least(s))), high = fmax(1, fmax(most(b), most(s)));
    const double range = most(from) - least(from), saturation = most(other) - least(other);
    for (int c = 0; c < 3; c++) {
        to[c] = from[c];
        if (mode < 14)
            to[c] = range > 0 ? (from[c] - least(from)) / range * saturation : 0;
    }
    const double shift = l - lum(to);
    for (int c = 0; c < 3; c++)
        to[c] += shift;
    const double bottom = least(to), top = most(to);
    const double by_low = bottom < low ? (l - low) / (l - bottom) : 1;
    const double by_high = top > high ? (high - l) / (top - l) : 1;
    for (int c = 0; c < 3; c++)
        to[c] = l + (to[c] - l) * fmin(by_low, by_high);
}

/* Lays pixel s on pixel b of `channels` channels, with as of the opacity and a mask. */
static void lay(int mode, const double *b, const double *s, double as, int channels, double *to)
{
    double blended[3];
    if (mode < 12) {
        for (int c = 0; c < 3; c++)
            blended[c] = separable(mode, b[c], s[c]);
    } else {
        joint(mode, b, s, blended);
    }
    const double ab = channels == 4 ? b[3] : 1, ao = as + ab * (1 - as);
    for (int c = 0; c < 3; c++)
        to[c] =
            as == 0 ? b[c] : (as * ((1 - ab) * s[c] + ab * blended[c]) + (1 - as) * ab * b[c]) / ao;
    to[3] = ao;
}

static const char *const modes[] = {"normal",     "multiply",   "screen",      "overlay",
                                    "darken",     "lighten",    "color-dodge", "color-burn",
                                    "hard-light", "soft-light", "difference",  "exclusion",
                                    "hue",        "saturation", "color",       "luminosity"};

/* Reads pixel (x, y) as four numbers; beyond the picture they are 0. */
static void pixel(const struct gf_image *image, int x, int y, double *p)
{
    const int channels = image->format.channels;
    memset(p, 0, 4 * sizeof *p);
    if (x < 0 || x >= WIDTH || y < 0 || y >= HEIGHT)
        return;
    for (int c = 0; c < 3; c++)
        p[c] = (double)get(image, x, y, channels > 2 ? c : 0);
    p[3] = channels % 2 == 0 ? (double)get(image, x, y, channels - 1) : 1;
}

static void check(const char *chain, const struct gf_image *out, int x, int y, int c, double right,
                  double most_error)
{
    const double made = (double)get(out, x, y, c);
    if (!(fabs(made - right) <= most_error * fmax(1, fabs(right))))
        fail_msg("%s: channel %d at %d,%d: %.9g, not %.9g", chain, c, x, y, made, right);
}

static void check_mode(int mode, int channels, const struct gf_image *over)
{
    struct gf_image in = noise(floats_of(channels, 32), 3);
    char chain[160];
    snprintf(chain, sizeof chain, "overlay=%s:x=7:y=-3:gravity=northwest:opacity=0.75:mode=%s",
             second, modes[mode]);
    struct gf_image out = run(chain, &in);
    channels += channels < 3 ? 2 : 0;
    assert_true(gf_is_float(out.format) && out.format.channels == channels);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            double b[4], s[4], to[4];
            pixel(&in, x, y, b);
            pixel(over, x - 7, y + 3, s);
            lay(mode, b, s, 0.75 * s[3], channels, to);
            /* A division by a small alpha, or by a burning or dodging number, enlarges errors. */
            for (int c = 0; c < channels; c++)
                check(chain, &out, x, y, c, to[c], 2e-5);
        }
    }
    gf_image_free(&in);
    gf_image_free(&out);
}

static void test_modes(void **state)
{
    const struct gf_format seconds[] = {floats_of(4, 32), floats_of(3, 32), floats_of(4, 16),
                                        format_of(WIDTH, HEIGHT, 4, 8),
                                        format_of(WIDTH, HEIGHT, 3, 16)};
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        struct gf_image over = noise(seconds[i], 11);
        save(&over);
        for (int mode = 0; mode < 16; mode++) {
            for (int channels = 1; channels <= 4; channels++)
                check_mode(mode, channels, &over);
        }
        gf_image_free(&over);
    }
}

/* A mask counts as far as it is bright, limited to 0..1, on alpha or between two pictures. */
static void check_mask(const char *words, int of_alpha, int inverted, int channels)
{
    struct gf_image in = noise(floats_of(3, 32), 3), mask = noise(floats_of(channels, 32), 5);
    char chain[160];
    save(&mask);
    snprintf(chain, sizeof chain, "mask=%s%s", second, words);
    struct gf_image out = run(chain, &in);
    assert_int_equal(out.format.channels, 4);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            double m[4];
            pixel(&mask, x, y, m);
            const double luma = (77 * m[0] + 150 * m[1] + 29 * m[2]) / 256;
            const double part = of_alpha ? m[3] : luma * m[3];
            check(chain, &out, x, y, 3, fmin(fmax(inverted ? 1 - part : part, 0), 1), 1e-6);
            for (int c = 0; c < 3; c++)
                assert_true(get(&out, x, y, c) == get(&in, x, y, c));
        }
    }
    gf_image_free(&in);
    gf_image_free(&mask);
    gf_image_free(&out);
}

static void test_masks(void **state)
{
    check_mask("", 0, 0, 3);
    check_mask(":inverted=on", 0, 1, 4);
    check_mask(":of=alpha", 1, 0, 4);
    struct gf_image in = noise(floats_of(3, 32), 3), mask = noise(floats_of(1, 32), 5);
    char chain[160];
    save(&mask);
    snprintf(chain, sizeof chain, "mask=%s:base=%s", second, second);
    struct gf_image out = run(chain, &in);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        const double v = (double)get(&mask, x, y, 0), m = fmin(fmax(v, 0), 1);
        for (int c = 0; c < 3; c++)
            check(chain, &out, x, y, c, m * (double)get(&in, x, y, c) + (1 - m) * v, 1e-6);
    }
    gf_image_free(&in);
    gf_image_free(&mask);
    gf_image_free(&out);
}

/* ---- NaN, infinities and other samples ---- */

/* NaN in a picture or a second one is NaN in the result, in every mode, and at no other place. */
static void test_nan(void **state)
{
    for (int mode = 0; mode < 16; mode++) {
        struct gf_image in = noise(floats_of(3, 32), 3), over = noise(floats_of(3, 32), 11);
        char chain[160];
        save(&over);
        snprintf(chain, sizeof chain, "overlay=%s:opacity=0.5:mode=%s", second, modes[mode]);
        struct gf_image clean = run(chain, &in);
        put(&in, 20, 11, 1, NAN);
        put(&over, 9, 4, 1, NAN);
        put(&over, 3, 8, 1, INFINITY);
        save(&over);
        struct gf_image out = run(chain, &in);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const int x = i % WIDTH, y = i / WIDTH;
            for (int c = 0; c < 3; c++) {
                const bool odd = (x == 20 && y == 11) || (x == 9 && y == 4);
                const bool infinite = x == 3 && y == 8;
                if (odd && (c == 1 || mode >= 12) && !isnan(get(&out, x, y, c)))
                    fail_msg("%s: NaN is lost at %d,%d", chain, x, y);
                if (!odd && !infinite && get(&out, x, y, c) != get(&clean, x, y, c))
                    fail_msg("%s: %d,%d changes", chain, x, y);
            }
        }
        gf_image_free(&in);
        gf_image_free(&over);
        gf_image_free(&clean);
        gf_image_free(&out);
    }
    /* What an opaque layer covers does not count, nor does what is beyond the layer. */
    struct gf_image in = noise(floats_of(3, 32), 3), over = noise(floats_of(3, 32), 11);
    char chain[160];
    save(&over);
    snprintf(chain, sizeof chain, "overlay=%s:x=10:gravity=northwest", second);
    put(&in, 20, 11, 0, INFINITY);
    put(&in, 21, 11, 0, NAN);
    put(&in, 5, 5, 0, -INFINITY);
    struct gf_image out = run(chain, &in);
    assert_true(get(&out, 20, 11, 0) == get(&over, 10, 11, 0));
    assert_true(get(&out, 21, 11, 0) == get(&over, 11, 11, 0));
    assert_true(get(&out, 5, 5, 0) == -INFINITY);
    gf_image_free(&in);
    gf_image_free(&over);
    gf_image_free(&out);
}

static void assert_equal_images(const char *what, const struct gf_image *a,
                                const struct gf_image *b)
{
    assert_int_equal(gf_row_bytes(a->format), gf_row_bytes(b->format));
    for (int y = 0; y < a->format.height; y++) {
        if (memcmp(address_of(a, 0, y, 0), address_of(b, 0, y, 0), gf_row_bytes(a->format)))
            fail_msg("%s: row %d differs", what, y);
    }
}

/* Over integers, floats count as the nearest 16 bits of 0..1. Halves are rounded singles. */
static void test_samples(void **state)
{
    struct gf_image in = noise(format_of(WIDTH, HEIGHT, 3, 8), 3),
                    over = noise(floats_of(4, 32), 11);
    struct gf_image words;
    char chain[200];
    save(&over);
    snprintf(chain, sizeof chain, "overlay=%s:mode=screen,blur=1:region=%s", second, second);
    struct gf_image by_floats = run(chain, &in);
    words = run("integer", &over);
    save(&words);
    struct gf_image by_words = run(chain, &in);
    assert_equal_images(chain, &by_floats, &by_words);

    struct gf_image half = noise(floats_of(3, 16), 3), single = noise(floats_of(3, 32), 3);
    save(&over);
    snprintf(chain, sizeof chain, "overlay=%s:mode=soft-light", second);
    struct gf_image a = run(chain, &half), b = run(chain, &single);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
        const float wide = get(&b, i / 3 % WIDTH, i / 3 / WIDTH, i % 3);
        uint16_t expected;
        gf_floats_to_row(&wide, a.format, 1, &expected);
        assert_memory_equal(address_of(&a, i / 3 % WIDTH, i / 3 / WIDTH, i % 3), &expected, 2);
    }
    gf_image_free(&in);
    gf_image_free(&over);
    gf_image_free(&words);
    gf_image_free(&by_floats);
    gf_image_free(&by_words);
    gf_image_free(&half);
    gf_image_free(&single);
    gf_image_free(&a);
    gf_image_free(&b);
}

/* ---- regions ---- */

/* How far the region of check_region() covers a pixel: an edge of 4 pixels within a rectangle. */
static double coverage(int x, int y)
{
    const double left = x - 5 + 0.5, right = 25 - x - 0.5, above = y - 3 + 0.5,
                 below = 18 - y - 0.5;
    return fmin(fmax(fmin(fmin(left, right), fmin(above, below)) / 4, 0), 1);
}

/* Within a region is what the filter makes of the whole picture, mixed in at the soft edge. */
static void check_region(const char *filter, int channels, int bits)
{
    struct gf_image in = noise(floats_of(channels, bits), 3), whole = run(filter, &in);
    char chain[160];
    snprintf(chain, sizeof chain, "%s%cregion=5 3 20 15:feather=4", filter,
             strchr(filter, '=') ? ':' : '=');
    struct gf_image out = run(chain, &in);
    assert_int_equal(out.format.bits, bits);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            double a[4], b[4];
            const double part = coverage(x, y);
            pixel(&in, x, y, a);
            pixel(&whole, x, y, b);
            const double alpha = (1 - part) * a[3] + part * b[3];
            const double of_b = a[3] == b[3] || part == 0 ? part : part * b[3] / alpha;
            for (int c = 0; c < channels; c++) {
                const double right = c == 3 ? alpha : (1 - of_b) * a[c] + of_b * b[c];
                check(chain, &out, x, y, c, right, bits == 16 ? 1e-3 : 2e-6);
                if (part == 0)
                    assert_true(get(&out, x, y, c) == get(&in, x, y, c));
                if (part == 1)
                    assert_true(get(&out, x, y, c) == get(&whole, x, y, c));
            }
        }
    }
    gf_image_free(&in);
    gf_image_free(&whole);
    gf_image_free(&out);
}

static void test_regions(void **state)
{
    static const char *const filters[] = {"blur=1", "invert", "exposure=1", "unsharp=1",
                                          "boxblur=2"};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        check_region(filters[i], 3, 32);
        check_region(filters[i], 4, 32);
        check_region(filters[i], 3, 16);
    }
    /* NaN beside the region and infinities at its edge stay where they are. */
    struct gf_image in = noise(floats_of(3, 32), 3);
    put(&in, 2, 2, 1, NAN);
    put(&in, 6, 10, 0, INFINITY);
    struct gf_image out = run("brightness=0.5:region=5 3 20 15:feather=4", &in);
    assert_true(isnan(get(&out, 2, 2, 1)) && get(&out, 6, 10, 0) == INFINITY);
    assert_true(get(&out, 2, 2, 0) == get(&in, 2, 2, 0) && isfinite(get(&out, 6, 10, 1)));
    gf_image_free(&out);
    assert_int_equal(try("threshold=sauvola:region=5 3 20 15", &in, &out), GF_ERROR_UNFIT);
    gf_image_free(&in);
}

/* ---- text ---- */

/* A text is laid over the picture: its alpha is what a white one is on black. */
static void test_text(void **state)
{
    struct gf_error none;
    if (gf_text_available(&none))
        skip();
    struct gf_image in = noise(floats_of(3, 32), 3), black = noise(floats_of(1, 32), 3);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        put(&black, i % WIDTH, i / WIDTH, 0, 0);
    put(&in, 0, HEIGHT - 1, 1, NAN);
    struct gf_image alpha = run("text=ab:size=30:opacity=0.5", &black);
    struct gf_image out = run("text=ab:size=30:opacity=0.5:colour=#ff8000", &in);
    const double colour[3] = {1, 128 / 255.0, 0};
    double sum = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        const double as = (double)get(&alpha, x, y, 0);
        sum += as;
        for (int c = 0; c < 3; c++) {
            if (x == 0 && y == HEIGHT - 1 && c == 1)
                assert_true(isnan(get(&out, x, y, c)) && as == 0);
            else
                check("text", &out, x, y, c, as * colour[c] + (1 - as) * (double)get(&in, x, y, c),
                      1e-6);
        }
    }
    assert_true(sum > 20);
    gf_image_free(&in);
    gf_image_free(&black);
    gf_image_free(&alpha);
    gf_image_free(&out);
}

/* ---- what a picture's content decides ---- */

/* The window is that of the integers, and its samples are the picture's own. */
static void test_content(void **state)
{
    static const char *const filters[] = {"crop=11:9:gravity=attention",
                                          "crop=11:9:gravity=entropy"};
    for (size_t i = 0; i < 4 * sizeof filters / sizeof *filters; i++) {
        const char *const filter = filters[i / 4];
        struct gf_image in = noise(floats_of(i % 2 ? 4 : 3, i % 4 / 2 ? 16 : 32), 9);
        for (int k = 0; k < WIDTH * HEIGHT; k++) {
            const int x = k % WIDTH, y = k / WIDTH;
            for (int c = 0; c < in.format.channels && (x < 7 || y < 5 || y > 19); c++)
                put(&in, x, y, c, 2);
        }
        put(&in, 20, 11, 1, NAN);
        put(&in, 15, 12, 0, INFINITY);
        struct gf_image out = run(filter, &in), words = run("integer", &in);
        struct gf_image window = run(filter, &words), made = run("integer", &out);
        assert_int_equal(out.format.bits, in.format.bits);
        assert_true(gf_is_float(out.format) && out.format.width < WIDTH);
        assert_int_equal(made.format.height, window.format.height);
        assert_equal_images(filter, &made, &window);
        gf_image_free(&in);
        gf_image_free(&out);
        gf_image_free(&words);
        gf_image_free(&window);
        gf_image_free(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),   cmocka_unit_test(test_masks),   cmocka_unit_test(test_nan),
        cmocka_unit_test(test_samples), cmocka_unit_test(test_regions), cmocka_unit_test(test_text),
        cmocka_unit_test(test_content),
    };
    const int descriptor = mkstemp(second);
    if (descriptor < 0 || close(descriptor))
        return 1;
    const int failed = cmocka_run_group_tests_name("floats of layers", tests, NULL, NULL);
    unlink(second);
    return failed;
}
