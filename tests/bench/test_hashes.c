/* The hashes of pictures and the groups of near ones. */
#include "base/threads/times.h"
#include "bench/hashes.h"
#include "support.h"

/* ---- hashes ---- */

enum { WIDTH = 101, HEIGHT = 67 };

/* A source that reads rows from a picture in memory. */
struct memory_source {
    struct gf_source base;
    const struct gf_image *image;
    int row;
};

static enum gf_status read_rows(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                struct gf_error *error)
{
    struct memory_source *const source = (struct memory_source *)base;
    const struct gf_image *const image = source->image;
    (void)error;
    assert_true(source->row + rows <= image->format.height);
    for (int i = 0; i < rows; i++, source->row++)
        memcpy(dst + (size_t)i * pitch, image->data + (size_t)source->row * image->pitch,
               gf_row_bytes(image->format));
    return GF_OK;
}

static struct gf_hashes hashes_of(const struct gf_image *image, int orientation)
{
    struct memory_source source = {.base = {.format = image->format,
                                            .metadata = {.orientation = orientation},
                                            .read = read_rows},
                                   .image = image};
    struct gf_hashes hashes;
    struct gf_error error;
    assert_int_equal(gf_hashes_read(&source.base, true, &hashes, &error), GF_OK);
    assert_int_equal(source.row, image->format.height);
    return hashes;
}

static void put(struct gf_image *image, int x, int y, int channel, int value)
{
    unsigned char *const at =
        image->data + (size_t)y * image->pitch +
        (size_t)(x * image->format.channels + channel) * (size_t)(image->format.bits / 8);
    if (image->format.bits == 8)
        *at = (unsigned char)value;
    else
        *(uint16_t *)(void *)at = (uint16_t)(value * 257);
}

/* A value of a smooth picture, in 0..255. */
static int shade(int x, int y)
{
    return (x * x / 37 + 3 * y + x * y / 29) % 200 + (x > 60) * 40;
}

/* Makes the picture that the orientation turns into shade(). */
static struct gf_image shaded(int channels, int bits, int orientation)
{
    const int width = orientation > 4 ? HEIGHT : WIDTH, height = WIDTH + HEIGHT - width;
    struct gf_image image = picture_new(format_of(width, height, channels, bits), 0);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const int right = width - 1 - x, low = height - 1 - y;
            /* Where the stored pixel is seen, by the table of EXIF 2.32, tag 274. */
            const int seen[9][2] = {{0, 0}, {x, y},   {right, y},   {right, low}, {x, low},
                                    {y, x}, {low, x}, {low, right}, {y, right}};
            for (int c = 0; c < channels; c++)
                put(&image, x, y, c,
                    channels % 2 == 0 && c == channels - 1
                        ? 255
                        : shade(seen[orientation][0], seen[orientation][1]));
        }
    }
    return image;
}

static void test_one_picture_has_one_hash(void **state)
{
    struct gf_image image = shaded(1, 8, 1);
    const struct gf_hashes expected = hashes_of(&image, 1);
    (void)state;
    picture_free(&image);
    /* Kept lists of hashes stay valid as long as these are the bits. */
    assert_true(expected.dhash == 0xfcf9f3e6cc9d3b76u);
    assert_true(expected.phash == 0xb6021d7246bd20ffu);
    for (int channels = 1; channels <= 4; channels++) {
        for (int bits = 8; bits <= 16; bits += 8) {
            for (int orientation = 1; orientation <= 8; orientation++) {
                image = shaded(channels, bits, orientation);
                const struct gf_hashes found = hashes_of(&image, orientation);
                picture_free(&image);
                assert_true(found.dhash == expected.dhash);
                assert_true(found.phash == expected.phash);
            }
        }
    }
}

/* A picture is the same if each pixel becomes a square of several; a clear pixel is a white one. */
static void test_size_and_alpha_do_not_count(void **state)
{
    struct gf_image small = picture_new(format_of(20, 10, 1, 8), 0),
                    large = picture_new(format_of(3 * 20, 3 * 10, 1, 8), 0),
                    clear = picture_new(format_of(20, 10, 4, 8), 0);
    (void)state;
    for (int y = 0; y < 3 * 10; y++) {
        for (int x = 0; x < 3 * 20; x++) {
            const int value = x < 30 ? shade(5 * (x / 3), 6 * (y / 3)) : 255;
            put(&small, x / 3, y / 3, 0, value);
            put(&large, x, y, 0, value);
            for (int c = 0; c < 4; c++)
                put(&clear, x / 3, y / 3, c, c == 3 ? 255 * (x < 30) : x < 30 ? value : 7);
        }
    }
    const struct gf_hashes expected = hashes_of(&small, 1), of_large = hashes_of(&large, 1),
                           of_clear = hashes_of(&clear, 1);
    assert_int_equal(gf_hashes_distance(expected, of_large), 0);
    assert_int_equal(gf_hashes_distance(expected, of_clear), 0);
    picture_free(&small);
    picture_free(&large);
    picture_free(&clear);
}

static void test_what_the_bits_say(void **state)
{
    struct gf_image image = picture_new(format_of(144, 72, 1, 8), 0);
    (void)state;
    for (int pass = 0; pass < 3; pass++) {
        for (int y = 0; y < 72; y++) {
            for (int x = 0; x < 144; x++)
                put(&image, x, y, 0, pass == 0 ? 99 : pass == 1 ? x : y < 36 ? x : 144 - x);
        }
        const struct gf_hashes found = hashes_of(&image, 1);
        static const uint64_t differences[] = {0, UINT64_MAX, 0xffffffff00000000u};
        assert_true(found.dhash == differences[pass]);
        if (!pass)
            assert_true(found.phash == (uint64_t)1 << 63);
    }
    picture_free(&image);
}

/* ---- groups ---- */

static uint64_t flipped(uint64_t hash, int bits, uint64_t *state)
{
    for (uint64_t done = 0; bits;) {
        const uint64_t bit = (uint64_t)1 << random_below(state, 64);
        bits -= !(done & bit);
        hash ^= done & bit ? 0 : bit;
        done |= bit;
    }
    return hash;
}

/* Random hashes, of which every third is near an earlier one: up to three bits nearer, or farther,
 * than `most`. */
static struct gf_hashes *random_hashes(size_t count, int most, uint64_t seed)
{
    struct gf_hashes *const hashes = malloc(count * sizeof *hashes);
    assert_non_null(hashes);
    for (size_t i = 0; i < count; i++) {
        hashes[i] = (struct gf_hashes){random_next(&seed), random_next(&seed)};
        if (i % 3 || !i)
            continue;
        const struct gf_hashes near = hashes[random_next(&seed) % i];
        const int far = most + random_below(&seed, 7) - 3, less = random_below(&seed, most + 1);
        hashes[i].phash = flipped(near.phash, far < 0 ? 0 : far, &seed);
        hashes[i].dhash = flipped(near.dhash, less, &seed);
    }
    return hashes;
}

static size_t root(const size_t *group, size_t i)
{
    while (group[i] != i)
        i = group[i];
    return i;
}

static void test_groups_are_those_of_all_pairs(void **state)
{
    enum { COUNT = 20000 };
    static const int mosts[] = {0, 2, GF_ALIKE_USUAL, GF_ALIKE_MOST};
    size_t *const expected = malloc(COUNT * sizeof *expected), *const found =
                                                                   malloc(COUNT * sizeof *found);
    struct gf_error error;
    (void)state;
    assert_true(expected && found);
    for (size_t m = 0; m < sizeof mosts / sizeof *mosts; m++) {
        struct gf_hashes *const hashes = random_hashes(COUNT, mosts[m], m);
        size_t joined = 0;
        for (size_t i = 0; i < COUNT; i++) {
            expected[i] = i;
            for (size_t j = 0; j < i; j++) {
                if (gf_hashes_distance(hashes[i], hashes[j]) > mosts[m])
                    continue;
                const size_t a = root(expected, i), b = root(expected, j);
                expected[a > b ? a : b] = a > b ? b : a;
                joined += a != b;
            }
        }
        assert_in_range(joined, COUNT / 10, COUNT / 3);
        assert_int_equal(gf_hashes_group(hashes, COUNT, mosts[m], found, &error), GF_OK);
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(found[i], root(expected, i));
        free(hashes);
    }
    free(expected);
    free(found);
}

static void test_a_million_takes_less_than_a_minute(void **state)
{
    enum { COUNT = 1000000 };
    struct gf_hashes *const hashes = random_hashes(COUNT, GF_ALIKE_USUAL, 7);
    size_t *const group = malloc(COUNT * sizeof *group);
    struct gf_error error;
    (void)state;
    assert_non_null(group);
    for (size_t i = 0; i < COUNT / 10; i++)
        hashes[i] = hashes[0]; /* blank pages */
    const double begin_s = gf_now();
    assert_int_equal(gf_hashes_group(hashes, COUNT, GF_ALIKE_USUAL, group, &error), GF_OK);
    const double seconds = gf_now() - begin_s;
    print_message("a million hashes: %.1f s\n", seconds);
    assert_true(seconds < 60);
    free(hashes);
    free(group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_picture_has_one_hash),
        cmocka_unit_test(test_size_and_alpha_do_not_count),
        cmocka_unit_test(test_what_the_bits_say),
        cmocka_unit_test(test_groups_are_those_of_all_pairs),
        cmocka_unit_test(test_a_million_takes_less_than_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
