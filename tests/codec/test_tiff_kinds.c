/* TIFFs of all kinds of samples and colours, made here, beside values that are computed here. */
#include "codec/codec_test.h"

#include <math.h>

#include "codec/formats.h"
#include "codec/tiff_files.h"
#include "pixel/floats.h"

#ifdef GF_LIBRARY_tiff
#include "codec/tiff/tiff.h"

enum { UNSIGNED = 1, SIGNED = 2, FLOAT = 3 };
enum { GRAY_FROM_WHITE, GRAY, RGB, PALETTE, CMYK = 5, YCBCR = 6, CIELAB = 8, ICCLAB = 9 };
enum { HEIGHT = 2, TILE = 16, VALUES_MOST = 64 };

struct kind {
    unsigned photometric, bits, samples, format;
    bool separate;
    unsigned extra; /* what the last sample is; 0: colour */
    const unsigned *palette;
};

/* Returns the bits of a number, which the format has exactly. */
static uint64_t float_bits(double value, unsigned exponent_bits, unsigned fraction_bits)
{
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint64_t sign = (uint64_t)(value < 0) << (exponent_bits + fraction_bits);
    if (value == 0)
        return 0;
    return sign | (uint64_t)(exponent - 1 + bias) << fraction_bits |
           (uint64_t)ldexp(2 * fraction - 1, (int)fraction_bits);
}

static uint64_t bits_of(const struct kind *kind, double value)
{
    static const unsigned exponents[] = {[2] = 5, [3] = 7, [4] = 8, [8] = 11};
    if (kind->format == FLOAT)
        return float_bits(value, exponents[kind->bits / 8],
                          kind->bits - 1 - exponents[kind->bits / 8]);
    return (uint64_t)(int64_t)value & (kind->bits < 64 ? ((uint64_t)1 << kind->bits) - 1 : ~0ull);
}

/* Appends a row of samples, every `step`-th of the values. */
static void put_row(struct tiff *tiff, const struct kind *kind, const double *values, int count,
                    int step)
{
    uint64_t held = 0;
    unsigned have = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t bits = bits_of(kind, values[i * step]);
        /* Integers of 24 bits begin with the highest bit, as those of 10, 12 and 14 do. */
        if (kind->bits % 8 == 0 && (kind->bits != 24 || kind->format == FLOAT)) {
            put_more(tiff, (int)kind->bits / 8, bits);
            continue;
        }
        held = held << kind->bits | bits;
        for (have += kind->bits; have >= 8; have -= 8)
            put_more(tiff, 1, held >> (have - 8) & 255);
    }
    if (have)
        put_more(tiff, 1, held << (8 - have) & 255);
}

/* Appends a plane, or all samples interleaved: rows of `width` pixels, or one tile. */
static unsigned put_plane(struct tiff *tiff, const struct kind *kind, const double *values,
                          int width, bool tiled, int plane)
{
    const size_t before = tiff->bytes.size;
    const int samples = (int)kind->samples, each = kind->separate ? 1 : samples;
    for (int y = 0; y < (tiled ? TILE : HEIGHT); y++) {
        double row[TILE * 8] = {0};
        for (int i = 0; y < HEIGHT && i < width * each; i++)
            row[i] = values[kind->separate ? (y * width + i) * samples + plane
                                           : y * width * samples + i];
        put_row(tiff, kind, row, (tiled ? TILE : width) * each, 1);
    }
    return (unsigned)(tiff->bytes.size - before);
}

static void write_kind(const struct kind *kind, unsigned variant, int width, const double *values)
{
    struct tiff tiff = {.big_endian = variant & 1, .big_tiff = variant & 2};
    const bool tiled = variant & 4;
    const int planes = kind->separate ? (int)kind->samples : 1;
    unsigned offsets[8], sizes[8], same[8], formats[8];
    begin(&tiff);
    for (int i = 0; i < planes; i++) {
        offsets[i] = (unsigned)tiff.bytes.size;
        sizes[i] = put_plane(&tiff, kind, values, width, tiled, i);
    }
    for (int i = 0; i < 8; i++) {
        same[i] = kind->bits;
        formats[i] = kind->format;
    }
    tag1(&tiff, 256, (unsigned)width);
    tag1(&tiff, 257, HEIGHT);
    tag(&tiff, 258, SHORT, (int)kind->samples, same);
    tag(&tiff, 262, SHORT, 1, &kind->photometric);
    if (!tiled)
        tag(&tiff, 273, LONG, planes, offsets);
    tag(&tiff, 277, SHORT, 1, &kind->samples);
    if (!tiled)
        tag(&tiff, 279, LONG, planes, sizes);
    tag(&tiff, 284, SHORT, 1, (unsigned[]){kind->separate ? 2 : 1});
    if (kind->palette)
        tag(&tiff, 320, SHORT, 3 << kind->bits, kind->palette);
    if (tiled) {
        tag1(&tiff, 322, TILE);
        tag1(&tiff, 323, TILE);
        tag(&tiff, 324, LONG, planes, offsets);
        tag(&tiff, 325, LONG, planes, sizes);
    }
    if (kind->extra)
        tag(&tiff, 338, SHORT, 1, &kind->extra);
    tag(&tiff, 339, SHORT, (int)kind->samples, formats);
    add_page(&tiff);
    write_file(&tiff);
}

/* The sample of the picture that is read, as a number. */
static double read_sample(const struct picture *picture, int i)
{
    if (gf_is_float(picture->format))
        return (double)gf_number_at(
            picture->data, picture->format.bits == 16 ? GF_NUMBER_FLOAT16 : GF_NUMBER_FLOAT32,
            (size_t)i);
    return picture->format.bits == 16 ? ((const uint16_t *)(const void *)picture->data)[i]
                                      : picture->data[i];
}

/* Reads the kind in both byte orders, as TIFF and BigTIFF, in strips and in tiles, and compares
 * with `wanted`. */
static void check(const struct kind *kind, int width, const double *values, int channels, int bits,
                  const double *wanted, double tolerance)
{
    for (unsigned variant = 0; variant < 8; variant++) {
        const struct gf_options options = plain_options();
        const bool floats = kind->format == FLOAT,
                   half = kind->bits == 16 && kind->photometric && kind->extra != 1;
        const struct gf_format format = {width, HEIGHT, channels,
                                         !floats ? bits
                                         : half  ? 16
                                                 : 32,
                                         floats ? GF_SAMPLES_FLOAT : GF_SAMPLES_INTEGER};
        struct picture back;
        write_kind(kind, variant, width, values);
        if (decode(in_folder("a.tif"), &options, &back))
            fail_msg("%u bits: %s", kind->bits, failure.text);
        assert_memory_equal(&back.format, &format, sizeof format);
        for (int i = 0; i < width * HEIGHT * channels; i++) {
            if (fabs(read_sample(&back, i) - wanted[i]) > tolerance)
                fail_msg("photometric %u, %u bits, variant %u: sample %d is %g, not %g",
                         kind->photometric, kind->bits, variant, i, read_sample(&back, i),
                         wanted[i]);
        }
        free_picture(&back);
    }
}

/* The value at a fraction of the type's range, a whole number unless it is a float. */
static double value_at(const struct kind *kind, double fraction)
{
    const double most = ldexp(1, (int)kind->bits) - 1,
                 least = kind->format == SIGNED ? -ldexp(1, (int)kind->bits - 1) : 0;
    /* Steps of 1/128 are exact in all formats of floating-point numbers. */
    return kind->format == FLOAT ? floor(fraction * 128) / 128
                                 : floor(least + fraction * most + 0.25);
}

static double wanted_of(const struct kind *kind, double value, double top)
{
    const double most = ldexp(1, (int)kind->bits) - 1,
                 least = kind->format == SIGNED ? -ldexp(1, (int)kind->bits - 1) : 0;
    return kind->format == FLOAT ? value : floor((value - least) / most * top + 0.5);
}

/* All bits and kinds of numbers, gray and RGB, interleaved and in planes, are scaled to the whole
 * range. */
static void test_numbers(void **state)
{
    static const unsigned bits[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 31, 32};
    for (unsigned n = 0; n < 3 * (sizeof bits / sizeof *bits) + 4; n++) {
        static const unsigned float_sizes[] = {16, 24, 32, 64};
        const unsigned size = sizeof bits / sizeof *bits, sort = n % 3;
        struct kind kind = {.bits = bits[n / 3 % size], .format = n % 2 ? SIGNED : UNSIGNED};
        if (n >= 3 * size)
            kind = (struct kind){.bits = float_sizes[n - 3 * size], .format = FLOAT};
        kind.photometric = sort ? RGB : n % 4 ? GRAY : GRAY_FROM_WHITE;
        kind.samples = sort ? 3 : 1;
        kind.separate = sort == 2;
        const int width = 5, count = width * HEIGHT * (int)kind.samples,
                  depth = kind.format == FLOAT || kind.bits > 8 ? 16 : 8;
        const double top = kind.format == FLOAT ? 1 : depth == 16 ? 65535 : 255;
        double values[VALUES_MOST], wanted[VALUES_MOST];
        for (int i = 0; i < count; i++) {
            values[i] = value_at(&kind, (double)(i * 7 % count) / (count - 1));
            wanted[i] = wanted_of(&kind, values[i], top);
            if (kind.photometric == GRAY_FROM_WHITE)
                wanted[i] = top - wanted[i];
        }
        check(&kind, width, values, (int)kind.samples, depth, wanted, 0);
    }
}

/* Alpha and samples without a meaning, of fewer and more than 8 bits, and floats. */
static void test_extra_samples(void **state)
{
    static const struct kind kinds[] = {{RGB, 4, 4, UNSIGNED, false, 2, NULL},
                                        {RGB, 1, 4, UNSIGNED, true, 2, NULL},
                                        {GRAY, 12, 2, UNSIGNED, false, 2, NULL},
                                        {RGB, 32, 4, FLOAT, false, 2, NULL}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct kind *const kind = &kinds[k];
        const int count = 3 * HEIGHT * (int)kind->samples, depth = kind->bits > 8 ? 16 : 8;
        double values[VALUES_MOST], wanted[VALUES_MOST];
        for (int i = 0; i < count; i++) {
            values[i] = value_at(kind, (double)(i * 5 % count) / (count - 1));
            wanted[i] = wanted_of(kind, values[i], depth == 16 ? 65535 : 255);
        }
        check(kind, 3, values, (int)kind->samples, depth, wanted, 0);
    }
    const double half[] = {64. / 128, 32. / 128, 1, 96. / 128}, undone[] = {2, 0.25, 4 / 3., 0.75};
    check(&(struct kind){GRAY, 16, 2, FLOAT, false, 1, NULL}, 1, half, 2, 32, undone, 1e-7);
    check(&(struct kind){GRAY, 32, 2, FLOAT, true, 1, NULL}, 1, half, 2, 32, undone, 1e-7);
}

/* Without a profile inks become RGB by (1 - ink)(1 - black). */
static void test_inks(void **state)
{
    static const double values[] = {0, 10, 200, 30, 255, 0, 0, 0, 1, 2, 3, 255, 0, 0, 0, 100};
    for (int sort = 0; sort < 4; sort++) {
        const struct kind kind = {CMYK, sort & 1 ? 16 : 8, 4, UNSIGNED, sort & 2, 0, NULL};
        const double scale = sort & 1 ? 257 : 1;
        double inks[16], wanted[12];
        for (int i = 0; i < 16; i++)
            inks[i] = values[i] * scale;
        for (int i = 0; i < 12; i++) {
            const double *const pixel = values + i / 3 * 4;
            wanted[i] = floor((255 - pixel[i % 3]) * (255 - pixel[3]) / 255 * scale + 0.5);
        }
        check(&kind, 2, inks, 3, sort & 1 ? 16 : 8, wanted, 0);
        assert_non_null(strstr(last_warning, "have no ICC profile"));
    }
    struct gf_options options = plain_options();
    double five[20];
    for (int i = 0; i < 20; i++)
        five[i] = i % 5 == 4 ? 77 : 0;
    write_kind(&(struct kind){CMYK, 8, 5, UNSIGNED, false, 2, NULL}, 0, 2, five);
    struct picture back;
    assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
    assert_int_equal(back.format.channels, 4);
    assert_memory_equal(back.data, "\377\377\377\115\377\377\377\115", 8);
    free_picture(&back);
}

/* What Little CMS 2.14 computes in double precision from its profile of L*a*b* to sRGB. */
static void test_lab(void **state)
{
    static const double lab[] = {0,   0,   0,  255, 0,  0,    128, 0,   0,   128, 60, 40,
                                 200, -80, 70, 90,  20, -100, 150, -30, -40, 60,  5,  5},
                        rgb[] = {0,      0,      0,     255,   255,    255,    119.41, 119.41,
                                 119.41, 214.28, 60.94, 55.86, 0,      227.56, 28.23,  0,
                                 81.32,  250.22, 0,     158,   211.11, 65.51,  53.28,  48.77};
    double values[24], wanted[24];
    for (int i = 0; i < 24; i++)
        values[i] = lab[i] + (i % 3 && lab[i] < 0 ? 256 : 0);
    check(&(struct kind){CIELAB, 8, 3, UNSIGNED, false, 0, NULL}, 4, values, 3, 8, rgb, 1);
    for (int i = 0; i < 24; i++)
        values[i] = lab[i] + (i % 3 ? 128 : 0);
    check(&(struct kind){ICCLAB, 8, 3, UNSIGNED, true, 0, NULL}, 4, values, 3, 8, rgb, 1);
    for (int i = 0; i < 24; i++) {
        values[i] = i % 3 ? lab[i] * 256 + (lab[i] < 0 ? 65536 : 0) : lab[i] * 257;
        wanted[i] = rgb[i] * 257;
    }
    check(&(struct kind){CIELAB, 16, 3, UNSIGNED, false, 0, NULL}, 4, values, 3, 16, wanted, 3);
    for (int i = 0; i < 24; i++)
        values[i] = i % 3 ? (lab[i] + 128) * 256 : lab[i] * 256;
    check(&(struct kind){ICCLAB, 16, 3, UNSIGNED, false, 0, NULL}, 4, values, 3, 16, wanted, 3);
}

/* Inks and L*a*b* that are multiplied by alpha are divided by it before they become RGB. */
static void test_multiplied_colours(void **state)
{
    const double straight[] = {100, 40, 0, 60, 255, 100, 40, 0, 60, 51},
                 multiplied[] = {100, 40, 0, 60, 255, 20, 8, 0, 12, 51},
                 lab[] = {200, 176, 70, 255, 40, 240, 14, 51}, /* a* is -80 and -16 */
        rgb_of_lab[] = {0, 227.56, 28.23, 255, 0, 227.56, 28.23, 51};
    double wanted[8], values[10];
    for (int deep = 0; deep < 2; deep++) {
        const int bits = deep ? 16 : 8;
        for (int i = 0; i < 8; i++) {
            const double *const pixel = straight + i / 4 * 5;
            wanted[i] =
                i % 4 == 3 ? pixel[4] : floor((255 - pixel[i % 4]) * (255 - pixel[3]) / 255 + 0.5);
            wanted[i] *= deep ? 257 : 1;
        }
        for (int i = 0; i < 10; i++)
            values[i] = multiplied[i] * (deep ? 257 : 1);
        check(&(struct kind){CMYK, (unsigned)bits, 5, UNSIGNED, deep, 1, NULL}, 1, values, 4, bits,
              wanted, deep ? 129 : 0);
    }
    check(&(struct kind){CIELAB, 8, 4, UNSIGNED, false, 1, NULL}, 1, lab, 4, 8, rgb_of_lab, 1);
}

/* Palettes with alpha, and with indices of up to 16 bits. */
static void test_palettes(void **state)
{
    static unsigned palette[3 << 16];
    double values[8], wanted[16];
    for (int i = 0; i < 3 << 16; i++)
        palette[i] = (unsigned)i * 40503u >> 3 & 65535;
    for (int i = 0; i < 4; i++) {
        values[2 * i] = 255 - i * 80;
        values[2 * i + 1] = i * 80;
        for (int c = 0; c < 3; c++)
            wanted[4 * i + c] = floor(palette[256 * c + 255 - i * 80] / 257. + 0.5);
        wanted[4 * i + 3] = i * 80;
    }
    check(&(struct kind){PALETTE, 8, 2, UNSIGNED, false, 2, palette}, 2, values, 4, 8, wanted, 0);
    for (int bits = 1; bits <= 15; bits++) {
        const int most = (1 << bits) - 1;
        const bool deep = bits > 8;
        for (int i = 0; i < 4; i++) {
            values[2 * i] = i % 2 * most;
            values[2 * i + 1] = i / 2 * most - (i == 3 && bits > 1);
            for (int c = 0; c < 3; c++) {
                const unsigned colour = palette[(most + 1) * c + (int)values[2 * i]];
                wanted[4 * i + c] = deep ? colour : floor(colour / 257. + 0.5);
            }
            wanted[4 * i + 3] = floor(values[2 * i + 1] * (deep ? 65535 : 255) / most + 0.5);
        }
        for (int separate = 0; separate < 2; separate++)
            check(&(struct kind){PALETTE, (unsigned)bits, 2, UNSIGNED, separate, 2, palette}, 2,
                  values, 4, deep ? 16 : 8, wanted, 0);
    }
    for (int bits = 12; bits <= 16; bits += 4) {
        const int most = (1 << bits) - 1;
        for (int i = 0; i < 4; i++) {
            values[i] = most - i * 777;
            for (int c = 0; c < 3; c++)
                wanted[3 * i + c] = palette[((most + 1) * c) + most - i * 777];
        }
        check(&(struct kind){PALETTE, (unsigned)bits, 1, UNSIGNED, false, 0, palette}, 2, values, 3,
              16, wanted, 0);
    }
}

/* Numbers beyond 0..1 stay, unless a range is given. */
static void test_beyond(void **state)
{
    static const double values[] = {-2, 0.5, 1, 2};
    for (unsigned size = 16; size <= 64; size *= 2) {
        check(&(struct kind){GRAY, size, 1, FLOAT, false, 0, NULL}, 2, values, 1, 16, values, 0);
        assert_int_equal(warnings, 0);
    }
}

/* A range that is given, and percentiles: the range that 0.1 % of the samples are outside of. */
static void test_range(void **state)
{
    const struct kind kinds[] = {{GRAY, 32, 1, FLOAT, false, 0, NULL},
                                 {GRAY, 32, 1, SIGNED, false, 0, NULL},
                                 {GRAY, 64, 1, FLOAT, false, 0, NULL}};
    static const double values[] = {-50, -20, 0, 60, 80, 100};
    for (unsigned n = 0; n < 24; n++) {
        struct gf_options options = plain_options();
        struct picture back;
        options.range_percentile = n >= 12;
        options.range_low = n >= 12 ? 0 : -20;
        options.range_high = n >= 12 ? 0 : 80;
        const double low = n >= 12 ? -50 : -20, high = n >= 12 ? 100 : 80;
        write_kind(&kinds[n % 3], n & 4, 3, values);
        if (decode(in_folder("a.tif"), &options, &back))
            fail_msg("%s", failure.text);
        for (int i = 0; i < 6; i++) {
            const double share = fmin(fmax((values[i] - low) / (high - low), 0), 1);
            assert_true(read_sample(&back, i) == floor(share * 65535 + 0.5));
        }
        assert_int_equal(warnings, n >= 12);
        if (n >= 12)
            assert_non_null(strstr(last_warning, "the range of its samples is -50..100"));
        free_picture(&back);
    }
}

/* Of many samples percentiles leave out the one in a thousand that is far away. */
static void test_outliers(void **state)
{
    enum { WIDTH = 2000 };
    struct gf_options options = plain_options();
    struct tiff tiff = {0};
    struct picture back;
    begin(&tiff);
    for (int i = 0; i < WIDTH; i++)
        put_more(&tiff, 4, float_bits(i < 2 ? -1e6 : i > WIDTH - 3 ? 1e9 : 2 + i / 1024.0, 8, 23));
    tag1(&tiff, 256, WIDTH);
    tag1(&tiff, 257, 1);
    tag1(&tiff, 258, 32);
    tag1(&tiff, 262, GRAY);
    tag1(&tiff, 273, 8);
    tag1(&tiff, 279, 4 * WIDTH);
    tag(&tiff, 339, SHORT, 1, (unsigned[]){FLOAT});
    add_page(&tiff);
    write_file(&tiff);
    options.range_percentile = true;
    if (decode(in_folder("a.tif"), &options, &back))
        fail_msg("%s", failure.text);
    for (int i = 2; i < WIDTH - 2; i++)
        assert_true(read_sample(&back, i) == floor((i - 2) / (WIDTH - 5.0) * 65535 + 0.5));
    assert_true(read_sample(&back, 0) == 0 && read_sample(&back, WIDTH - 1) == 65535);
    free_picture(&back);
}

/* Writes YCbCr of 4x2 whose chroma each is for two luminances by `down`. */
static void write_ycbcr(const unsigned char blocks[12], unsigned down)
{
    struct tiff tiff = {0};
    begin(&tiff);
    append(&tiff.bytes, blocks, 12);
    tag1(&tiff, 256, 4);
    tag1(&tiff, 257, 2);
    tag(&tiff, 258, SHORT, 3, (unsigned[]){8, 8, 8});
    tag1(&tiff, 259, 1);
    tag1(&tiff, 262, YCBCR);
    tag1(&tiff, 273, 8);
    tag1(&tiff, 274, 6); /* the orientation must not turn the rows */
    tag1(&tiff, 277, 3);
    tag1(&tiff, 278, 2);
    tag1(&tiff, 279, 12);
    tag(&tiff, 530, SHORT, 2, (unsigned[]){2, down});
    add_page(&tiff);
    write_file(&tiff);
}

/* YCbCr without JPEG, two luminances by two for each chroma: what CCIR 601 says. */
static void test_ycbcr(void **state)
{
    static const unsigned char blocks[] = {50, 100, 150, 200, 90, 160, 128, 128, 0, 255, 128, 128};
    static const int at[8][3] = {{50, 90, 160},  {100, 90, 160}, {128, 128, 128}, {128, 128, 128},
                                 {150, 90, 160}, {200, 90, 160}, {0, 128, 128},   {255, 128, 128}};
    const struct gf_options options = plain_options();
    struct picture back;
    write_ycbcr(blocks, 2);
    if (decode(in_folder("a.tif"), &options, &back))
        fail_msg("%s", failure.text);
    assert_int_equal(back.metadata.orientation, 6);
    for (int i = 0; i < 8; i++) {
        const double y = at[i][0], cb = at[i][1] - 128, cr = at[i][2] - 128;
        const double rgb[] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
        for (int c = 0; c < 3; c++)
            assert_true(fabs(back.data[3 * i + c] - fmin(fmax(rgb[c], 0), 255)) <= 1.5);
    }
    free_picture(&back);
    write_ycbcr(blocks, 4); /* no decoder has that */
    assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_ERROR_INPUT);
    assert_non_null(strstr(failure.text, "can not handle"));
}

/* Old-style JPEG: a JPEG file within the TIFF, which two tags find. */
static void test_old_jpeg(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(32, 16, 3, 8), jpeg, back;
    options.subsampling = GF_SUBSAMPLING_444;
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.jpg"), &options, &jpeg), GF_OK);
    FILE *const file = fopen(in_folder("a.jpg"), "rb");
    unsigned char bytes[8192];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct tiff tiff = {0};
    begin(&tiff);
    append(&tiff.bytes, bytes, size);
    tag1(&tiff, 256, 32);
    tag1(&tiff, 257, 16);
    tag(&tiff, 258, SHORT, 3, (unsigned[]){8, 8, 8});
    tag1(&tiff, 259, 6);
    tag1(&tiff, 262, YCBCR);
    tag1(&tiff, 273, 8);
    tag1(&tiff, 277, 3);
    tag1(&tiff, 278, 16);
    tag1(&tiff, 279, (unsigned)size);
    tag1(&tiff, 513, 8);
    tag1(&tiff, 514, (unsigned)size);
    tag(&tiff, 530, SHORT, 2, (unsigned[]){1, 1});
    add_page(&tiff);
    write_file(&tiff);
    if (decode(in_folder("a.tif"), &options, &back))
        fail_msg("%s", failure.text);
    for (size_t i = 0; i < picture_bytes(back.format); i++)
        assert_true(abs(back.data[i] - jpeg.data[i]) <= 2);
    free_picture(&picture);
    free_picture(&jpeg);
    free_picture(&back);
}

static void pack(const char *path, int compression, const struct picture *picture)
{
    struct gf_output *output = NULL;
    struct gf_tiff_handle handle;
    assert_int_equal(gf_output_open(path, &output, &failure), GF_OK);
    assert_int_equal(gf_tiff_open(&handle, NULL, output, "w", 0, &failure), GF_OK);
    const struct {
        uint32_t tag;
        int value;
    } tags[] = {{256, picture->format.width},
                {257, picture->format.height},
                {258, 8},
                {277, 3},
                {284, 1},
                {262, 2},
                {259, compression},
                {278, picture->format.height}};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        assert_int_equal(gf_tiff.TIFFSetField(handle.tiff, tags[i].tag, tags[i].value), 1);
    if (compression == COMPRESSION_WEBP)
        assert_int_equal(gf_tiff.TIFFSetField(handle.tiff, TIFFTAG_WEBP_LOSSLESS, 1), 1);
    assert_true(gf_tiff.TIFFWriteEncodedStrip(handle.tiff, 0, picture->data,
                                              (tmsize_t)picture_bytes(picture->format)) > 0);
    assert_int_equal(gf_tiff.TIFFWriteDirectory(handle.tiff), 1);
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    handle.output = NULL;
    gf_tiff_close(&handle);
    gf_output_close(output);
}

/* What libtiff can unpack is read. */
static void test_packed(void **state)
{
    static const int compressions[] = {COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD,
                                       COMPRESSION_WEBP, COMPRESSION_LERC};
    const struct gf_options options = plain_options();
    struct picture picture = smooth_picture(40, 30, 3, 8), back;
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++) {
        if (!gf_tiff.TIFFIsCODECConfigured((uint16_t)compressions[i]))
            continue;
        pack(in_folder("a.tif"), compressions[i], &picture);
        if (decode(in_folder("a.tif"), &options, &back))
            fail_msg("%s", failure.text);
        assert_same_pixels(&picture, &back);
        free_picture(&back);
    }
    free_picture(&picture);
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_TIFF);
    if (!type->library || gf_library_load(type->library, "TIFF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no libtiff");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_extra_samples),
        cmocka_unit_test(test_inks),
        cmocka_unit_test(test_lab),
        cmocka_unit_test(test_multiplied_colours),
        cmocka_unit_test(test_palettes),
        cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_ycbcr),
        cmocka_unit_test(test_old_jpeg),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_packed),
    };
    return cmocka_run_group_tests_name("tiff kinds", tests, make_folder, remove_folder);
}

#else

int main(void)
{
    puts("1..1\nok 1 # SKIP this build has no TIFF");
    return 0;
}

#endif
