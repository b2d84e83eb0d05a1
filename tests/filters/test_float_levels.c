/* Filters by the histogram or the extremes of floats: against references in double precision, NaN,
 * infinities and halves; histograms whose parts are added up. */
#include "float_pictures.h"

#include <math.h>

#include "pixel/histogram/histogram.h"

enum { LEVELS = GF_FLOAT_LEVELS, PIXELS = WIDTH * HEIGHT };

static double limited(double v)
{
    return fmin(fmax(v, 0), 1);
}

/* In single precision, as the numbers are: which of two levels is nearer decides what is counted.
 */
static int level_of(double v)
{
    return (int)rintf((float)limited(v) * (LEVELS - 1));
}

static double luma_at(const struct gf_image *in, int x, int y)
{
    if (in->format.channels < 3)
        return (double)get(in, x, y, 0);
    const float r = get(in, x, y, 0), g = get(in, x, y, 1), b = get(in, x, y, 2);
    return (double)(((r * 19595 + g * 38470) + b * 7471) / 65536);
}

/* A channel's sample, or the luma where the channel is -1. */
static double value_at(const struct gf_image *in, int i, int channel)
{
    const int x = i % WIDTH, y = i / WIDTH;
    return channel < 0 ? luma_at(in, x, y) : (double)get(in, x, y, channel);
}

/* Numbers that are not finite, beside large ones. */
static void put_odd(const struct gf_image *in)
{
    put(in, 5, 5, 0, NAN);
    put(in, 6, 5, 0, INFINITY);
    put(in, 7, 5, 1, -INFINITY);
    put(in, 8, 5, 2, 1000);
}

static void count(const struct gf_image *in, int channel, uint64_t *counts)
{
    memset(counts, 0, LEVELS * sizeof *counts);
    for (int i = 0; i < PIXELS; i++) {
        const double v = value_at(in, i, channel);
        const bool clear =
            gf_has_alpha(in->format) && get(in, i % WIDTH, i / WIDTH, in->format.channels - 1) == 0;
        if (!isnan(v) && !clear)
            counts[level_of(v)]++;
    }
}

static void check(const char *chain, const struct gf_image *out, int x, int y, int c, double v,
                  double most)
{
    const double made = (double)get(out, x, y, c);
    if (isnan(v) ? !isnan(made) : !(made == v || fabs(made - v) <= most * fmax(1, fabs(v))))
        fail_msg("%s at %d,%d,%d: %.9g, not %.9g", chain, x, y, c, made, v);
}

/* ---- normalize ---- */

static void check_normalize(const char *chain, double clip, bool luma)
{
    static uint64_t counts[LEVELS];
    struct gf_image in = make(3, 32);
    put_odd(&in);
    struct gf_image out = run(chain, &in);
    for (int c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < PIXELS; i++) {
            const double v = value_at(&in, i, luma ? -1 : c);
            if (isfinite(v))
                low = fmin(low, v), high = fmax(high, v);
        }
        if (clip > 0) {
            int first = -1, last = LEVELS;
            double below = 0, above = 0, all = 0;
            count(&in, luma ? -1 : c, counts);
            for (int i = 0; i < LEVELS; i++)
                all += (double)counts[i];
            while (!(below > all * clip / 100))
                below += (double)counts[++first];
            while (!(above > all * clip / 100))
                above += (double)counts[--last];
            low = (double)first / (LEVELS - 1), high = (double)last / (LEVELS - 1);
        }
        for (int i = 0; i < PIXELS; i++)
            check(chain, &out, i % WIDTH, i / WIDTH, c,
                  ((double)get(&in, i % WIDTH, i / WIDTH, c) - low) / (high - low), 1e-6);
    }
    gf_image_free(&in);
    gf_image_free(&out);
}

static void test_normalize(void **state)
{
    check_normalize("normalize", 0, false);
    check_normalize("normalize=mode=luma", 0, true);
    check_normalize("normalize=2", 2, false);
    check_normalize("normalize=2:luma", 2, true);
}

/* ---- threshold ---- */

static double otsu(const struct gf_image *in)
{
    static uint64_t counts[LEVELS];
    double all = 0, sum = 0, below = 0, sum_below = 0, best = -1, split = 0;
    count(in, -1, counts);
    for (int i = 0; i < LEVELS; i++)
        all += (double)counts[i], sum += (double)counts[i] * i;
    for (int i = 0; i < LEVELS - 1; i++) {
        below += (double)counts[i], sum_below += (double)counts[i] * i;
        const double distance = sum_below / below - (sum - sum_below) / (all - below);
        const double variance = below * (all - below) * distance * distance;
        if (counts[i] && variance > best * (1 + 1e-9))
            best = variance, split = i;
    }
    return (split + 0.5) / (LEVELS - 1);
}

static double mean_around(const struct gf_image *in, int x, int y, int radius, double sigma)
{
    double sum = 0, weights = 0;
    for (int j = -radius; j <= radius; j++) {
        for (int i = -radius; i <= radius; i++) {
            const int column = (int)fmin(fmax(x + i, 0), WIDTH - 1),
                      row = (int)fmin(fmax(y + j, 0), HEIGHT - 1);
            const double weight = sigma > 0 ? exp(-(i * i + j * j) / (2 * sigma * sigma)) : 1;
            sum += weight * luma_at(in, column, row);
            weights += weight;
        }
    }
    return sum / weights;
}

/* radius: that of a mean, whose sigma is 0 if all weights are alike; 0: one threshold. */
static void check_threshold(const char *chain, double least, int radius, double sigma)
{
    struct gf_image in = make(3, 32);
    if (!radius)
        put_odd(&in);
    struct gf_image out = run(chain, &in);
    assert_int_equal(out.format.channels, 1);
    for (int i = 0; i < PIXELS; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        const double v = luma_at(&in, x, y);
        const double at = radius      ? mean_around(&in, x, y, radius, sigma) - 0.03
                          : least < 0 ? otsu(&in)
                                      : least;
        if (fabs(v - at) > 1e-6 || isnan(v))
            check(chain, &out, x, y, 0, isnan(v) ? v : v >= at, 0);
        if (!radius && least < 0 && i == 60)
            break; /* the reference is slow */
    }
    gf_image_free(&in);
    gf_image_free(&out);
}

static void test_threshold(void **state)
{
    check_threshold("threshold", 0.5, 0, 0);
    check_threshold("threshold=0.75", 0.75, 0, 0);
    check_threshold("threshold=otsu", -1, 0, 0);
    check_threshold("threshold=adaptive:radius=5", 0, 5, 0);
    check_threshold("threshold=gaussian:radius=6", 0, 6, 0.3 * 6 + 0.5);
}

/* ---- whitebalance, equalize ---- */

static double decode(double v)
{
    const double t = fabs(v);
    return copysign(t <= 0.04045 ? t / 12.92 : pow((t + 0.055) / 1.055, 2.4), v);
}

static double encode(double v)
{
    const double t = fabs(v);
    return copysign(t <= 0.0031308 ? t * 12.92 : 1.055 * pow(t, 1 / 2.4) - 0.055, v);
}

static void check_whitebalance(const char *chain, bool white)
{
    static uint64_t counts[LEVELS];
    struct gf_image in = make(3, 32);
    for (int i = 0; i < PIXELS; i++) /* most are within 0..1 */
        for (int c = 0; c < 3; c++)
            put(&in, i % WIDTH, i / WIDTH, c, get(&in, i % WIDTH, i / WIDTH, c) / (float)(3 + c));
    put_odd(&in);
    struct gf_image out = run(chain, &in);
    double light[3];
    for (int c = 0; c < 3; c++) {
        double all = 0, sum = 0, above = 0;
        int high = LEVELS;
        count(&in, c, counts);
        for (int i = 0; i < LEVELS; i++)
            all += (double)counts[i], sum += (double)counts[i] * decode((double)i / (LEVELS - 1));
        while (!(above > all / 100))
            above += (double)counts[--high];
        light[c] = white ? decode((double)high / (LEVELS - 1)) : sum / all;
    }
    const double to = white ? fmax(light[0], fmax(light[1], light[2]))
                            : 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
    for (int i = 0; i < 3 * PIXELS; i++) {
        const int x = i / 3 % WIDTH, y = i / 3 / WIDTH, c = i % 3;
        const double v = (double)get(&in, x, y, c);
        check(chain, &out, x, y, c, isfinite(v) ? encode(decode(v) * (to / light[c])) : v, 4e-6);
    }
    gf_image_free(&in);
    gf_image_free(&out);
}

static double interpolated(const double *table, double v)
{
    const double at = limited(v) * (LEVELS - 1);
    const int i = at < LEVELS - 2 ? (int)at : LEVELS - 2;
    return (table[i] + (table[i + 1] - table[i]) * (at - i)) / (LEVELS - 1);
}

static void check_equalize(const char *chain, int channels, bool luma)
{
    static uint64_t counts[LEVELS];
    static double table[LEVELS];
    struct gf_image in = make(channels, 32);
    if (channels == 3)
        put_odd(&in);
    else
        put(&in, 9, 9, 3, 0); /* is not counted */
    struct gf_image out = run(chain, &in);
    for (int c = 0; c < 3; c++) {
        uint64_t all = 0, passed = 0;
        int first = 0;
        count(&in, luma ? -1 : c, counts);
        while (!counts[first])
            first++;
        for (int i = first + 1; i < LEVELS; i++)
            all += counts[i];
        for (int i = 0; i < LEVELS; i++) {
            passed += i > first ? counts[i] : 0;
            table[i] = floor((double)passed * (LEVELS - 1) / (double)all + 0.5);
        }
        for (int i = 0; i < PIXELS; i++) {
            const double v = (double)get(&in, i % WIDTH, i / WIDTH, c);
            check(chain, &out, i % WIDTH, i / WIDTH, c, isnan(v) ? v : interpolated(table, v),
                  1e-5);
        }
    }
    gf_image_free(&in);
    gf_image_free(&out);
}

static void test_colours(void **state)
{
    check_whitebalance("whitebalance", false);
    check_whitebalance("whitebalance=white", true);
    check_equalize("equalize", 3, true);
    check_equalize("equalize=channel", 3, false);
    check_equalize("equalize=channel", 4, false);
}

/* ---- clahe ---- */

static int reflected(int i, int n)
{
    return i < n ? i : 2 * (n - 1) - i;
}

/* The table of a tile of 27 x 21 pixels, of which there are 2 x 2. */
static void fill_tile(const struct gf_image *in, int tile, double clip, double *table)
{
    static uint64_t counts[LEVELS];
    uint64_t cut = 0, all = 0, sum = 0;
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < 27 * 21; i++) {
        const int x = reflected(tile % 2 * 27 + i % 27, WIDTH),
                  y = reflected(tile / 2 * 21 + i / 27, HEIGHT);
        const double v = luma_at(in, x, y);
        counts[level_of(v)] += !isnan(v);
        all += !isnan(v);
    }
    const uint64_t limit = (uint64_t)fmax(1, floor(clip * (double)all / LEVELS));
    for (int i = 0; i < LEVELS; i++) {
        cut += counts[i] > limit ? counts[i] - limit : 0;
        counts[i] = counts[i] > limit ? limit : counts[i];
    }
    const uint64_t step = cut % LEVELS ? LEVELS / (cut % LEVELS) : 1;
    for (uint64_t i = 0, rest = cut % LEVELS; i < LEVELS; i++) {
        counts[i] += cut / LEVELS + (i % step == 0 && rest);
        rest -= i % step == 0 && rest;
        sum += counts[i];
        table[i] = rint((double)sum * (LEVELS - 1) / (double)all);
    }
}

static void test_clahe(void **state)
{
    static double table[4][LEVELS];
    const int channels[] = {1, 3, 4};
    for (int k = 0; k < 3; k++) {
        struct gf_image in = make(channels[k], 32);
        const int colours = channels[k] < 3 ? 1 : 3;
        if (colours == 3)
            put_odd(&in);
        struct gf_image out = run("clahe=200:2:2", &in);
        for (int tile = 0; tile < 4; tile++)
            fill_tile(&in, tile, 200, table[tile]);
        for (int i = 0; i < PIXELS; i++) {
            const int x = i % WIDTH, y = i / WIDTH;
            const double right = limited(x / 27.0 - 0.5), below = limited(y / 21.0 - 0.5);
            const double luma = luma_at(&in, x, y);
            double v[4];
            for (int tile = 0; tile < 4; tile++)
                v[tile] = interpolated(table[tile], luma);
            const double made = (v[0] * (1 - right) + v[1] * right) * (1 - below) +
                                (v[2] * (1 - right) + v[3] * right) * below;
            const double change = isnan(luma) ? luma : made - limited(luma);
            for (int c = 0; c < channels[k]; c++)
                check("clahe", &out, x, y, c,
                      (double)get(&in, x, y, c) + (c < colours ? change : 0), 3e-5);
        }
        gf_image_free(&in);
        gf_image_free(&out);
    }
}

/* ---- histograms, halves, what is refused ---- */

/* Parts that are counted apart and added in any order are the whole, sums included. */
static void test_merging(void **state)
{
    struct gf_histogram whole, upper, lower;
    struct gf_image in = make(3, 32);
    put_odd(&in);
    put(&in, 1, 39, 0, 0x1p-149f);
    put(&in, 2, 39, 0, -3e38f);
    /* The least of green is 0 and -0, whose order must not tell. */
    for (int i = 0; i < PIXELS; i++)
        put(&in, i % WIDTH, i / WIDTH, 1, fabsf(get(&in, i % WIDTH, i / WIDTH, 1)));
    put(&in, 0, 0, 1, -0.0f);
    put(&in, 0, 39, 1, 0.0f);
    const struct gf_view view = gf_image_view(&in);
    const struct gf_view above = gf_view_part(&view, (struct gf_rows){0, 20}),
                         below = gf_view_part(&view, (struct gf_rows){20, HEIGHT});
    struct gf_histogram *const all[] = {&whole, &upper, &lower};
    for (int i = 0; i < 3; i++)
        assert_ok("room", gf_histogram_alloc(all[i], GF_STATISTIC_CHANNELS, in.format, &error),
                  &error);
    gf_histogram_add(&view, GF_STATISTIC_CHANNELS, &whole);
    gf_histogram_add(&above, GF_STATISTIC_CHANNELS, &upper);
    gf_histogram_add(&below, GF_STATISTIC_CHANNELS, &lower);
    gf_histogram_merge(&lower, &upper);
    assert_memory_equal(whole.count, lower.count, gf_histogram_counters(&whole) * 8);
    assert_memory_equal(whole.low, lower.low, sizeof whole.low);
    assert_memory_equal(whole.high, lower.high, sizeof whole.high);
    assert_true(whole.low[0] == -3e38f && whole.high[2] == 1000);
    assert_true(whole.low[1] == 0 && !signbit(whole.low[1]));
    const uint64_t *const exact = gf_histogram_exact(&whole, 0);
    assert_true(exact[GF_EXACT_NAN] == 1 && exact[GF_EXACT_INFINITE] == 1);
    double sum = 0;
    for (int i = 0; i < PIXELS; i++)
        sum += (double)get(&in, i % WIDTH, i / WIDTH, 2);
    assert_true(fabs(gf_histogram_sum(&whole, 2) - sum) < 1e-9 * sum);
    assert_true(gf_histogram_sum(&whole, 0) == (double)-3e38f);
    for (int i = 0; i < 3; i++)
        free(all[i]->count);
    gf_image_free(&in);
}

static void test_halves(void **state)
{
    static const char *const chains[] = {
        "normalize",    "normalize=1:luma", "threshold=otsu", "threshold=adaptive",
        "whitebalance", "equalize=joint",   "clahe"};
    for (size_t k = 0; k < sizeof chains / sizeof *chains; k++) {
        struct gf_image half = make(3, 16), single = make(3, 32);
        struct gf_image a = run(chains[k], &half), b = run(chains[k], &single);
        for (int i = 0; i < PIXELS * a.format.channels; i++) {
            const int c = i % a.format.channels, x = i / a.format.channels % WIDTH,
                      y = i / a.format.channels / WIDTH;
            float v = get(&b, x, y, c);
            uint16_t bits;
            gf_floats_to_row(&v, a.format, 1, &bits);
            gf_floats_of_row(&bits, a.format, 1, &v);
            assert_true(get(&a, x, y, c) == v);
        }
        gf_image_free(&half);
        gf_image_free(&single);
        gf_image_free(&a);
        gf_image_free(&b);
    }
}

static void test_refusals(void **state)
{
    struct gf_image in = make(3, 32), out;
    assert_int_equal(try("equalize=lightness", &in, &out), GF_ERROR_UNFIT);
    assert_string_equal(error.text, "equalize: mode=lightness takes no floats; the filter integer "
                                    "before it makes samples of 16 bits");
    assert_int_equal(try("threshold=sauvola", &in, &out), GF_ERROR_UNFIT);
    assert_string_equal(error.text,
                        "threshold (threshold-sauvola): takes no floats; the filter integer before "
                        "it makes samples of 16 bits");
    gf_image_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalize), cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_colours),   cmocka_unit_test(test_clahe),
        cmocka_unit_test(test_merging),   cmocka_unit_test(test_halves),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("levels of floats", tests, NULL, NULL);
}
