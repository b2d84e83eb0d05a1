/* --jpeg-encoder=perceptual: ordinary JPEGs, smaller than libjpeg's at the same score, with the
 * same bytes for any number of threads. */
#include "codec/codec_test.h"

#include "measure/ssimulacra2.h"

/* Shades, edges and grain, as photographs have them. */
static struct picture photograph(int width, int height, int channels, int bits)
{
    struct picture picture = smooth_picture(width, height, channels, bits);
    unsigned seed = 5;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width * channels; x++) {
            const int pixel = x / channels, grain = (pixel / 40 + y / 40) % 3 * 8 + 3;
            const size_t at = (size_t)y * (size_t)(width * channels) + (size_t)x;
            const int value = ((pixel - y) / 23 % 2 ? 20 : 0) + (pixel * pixel / 200 + y) % 17 +
                              (int)(next_random(&seed) % (unsigned)grain);
            if (bits == 16)
                ((uint16_t *)(void *)picture.data)[at] += (uint16_t)(value * 257);
            else
                picture.data[at] = (unsigned char)(picture.data[at] + value);
        }
    }
    return picture;
}

static struct bytes encoded(const struct picture *picture, const struct gf_options *options)
{
    assert_int_equal(encode(in_folder("a.jpg"), picture, options), GF_OK);
    return load(in_folder("a.jpg"));
}

static struct gf_options perceptual_options(int quality, enum gf_subsampling subsampling)
{
    struct gf_options options = plain_options();
    options.jpeg_encoder = GF_JPEG_PERCEPTUAL;
    options.quality = quality;
    options.subsampling = subsampling;
    return options;
}

/* The score of the file that was written last. */
static double score(struct picture *picture)
{
    const struct gf_options options = plain_options();
    struct picture back;
    struct gf_image images[2];
    double result = 0;
    assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
    for (int i = 0; i < 2; i++) {
        struct picture *const of = i ? &back : picture;
        images[i] = (struct gf_image){
            .format = of->format, .data = of->data, .pitch = gf_row_bytes(of->format)};
    }
    assert_int_equal(gf_ssimulacra2(&images[0], &images[1], 1, &result, &failure), GF_OK);
    free_picture(&back);
    return result;
}

static void test_smaller_at_the_same_score(void **state)
{
    static const int qualities[] = {60, 75, 85, 92, 96};
    struct picture picture = photograph(320, 240, 3, 8);
    for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++) {
        struct gf_options options = perceptual_options(qualities[i], GF_SUBSAMPLING_AUTO);
        struct bytes own = encoded(&picture, &options);
        const double own_score = score(&picture);
        double their_score = 0;
        struct bytes theirs = {0};
        options.jpeg_encoder = GF_JPEG_LIBJPEG;
        options.optimize = true;
        for (options.quality = 30; their_score < own_score && options.quality < 100;
             options.quality++) {
            free(theirs.data);
            theirs = encoded(&picture, &options);
            their_score = score(&picture);
        }
        if (own.size > theirs.size * 9 / 10)
            fail_msg("quality %d: %zu bytes, score %f; libjpeg's quality %d: %zu bytes, score %f",
                     qualities[i], own.size, own_score, options.quality - 1, theirs.size,
                     their_score);
        free(own.data);
        free(theirs.data);
    }
    free_picture(&picture);
}

static void test_shapes(void **state)
{
    static const int sides[][2] = {{1, 1}, {8, 8}, {16, 17}, {33, 15}, {203, 50}, {50, 203}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        for (int channels = 1; channels <= 4; channels++) {
            for (int subsampling = 0; subsampling < GF_SUBSAMPLING_AUTO; subsampling++) {
                struct picture picture =
                    smooth_picture(sides[i][0], sides[i][1], channels, 8 + 8 * (int)(i % 2));
                struct gf_options options =
                    perceptual_options(97, (enum gf_subsampling)subsampling);
                options.progressive = i % 3 == 0;
                struct bytes jpeg = encoded(&picture, &options);
                struct picture back;
                assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
                assert_int_equal(back.format.width, sides[i][0]);
                assert_int_equal(back.format.height, sides[i][1]);
                assert_int_equal(back.format.channels, channels < 3 ? 1 : 3);
                const int wide = picture.format.bits == 16;
                for (int p = 0; p < sides[i][0] * sides[i][1]; p++) {
                    const int was = wide ? ((uint16_t *)(void *)picture.data)[p * channels] / 257
                                         : picture.data[p * channels];
                    assert_in_range(back.data[p * back.format.channels] + 12 - was, 0, 24);
                }
                free(jpeg.data);
                free_picture(&picture);
                free_picture(&back);
            }
        }
    }
}

/* Noise has the greatest coefficients. */
static void test_noise(void **state)
{
    for (int quality = 1; quality <= 100; quality += 33) {
        for (int subsampling = 0; subsampling <= GF_SUBSAMPLING_AUTO; subsampling++) {
            struct picture picture = random_picture(101, 67, 3, 8);
            struct gf_options options =
                perceptual_options(quality, (enum gf_subsampling)subsampling);
            for (size_t i = 0; i < picture_bytes(picture.format); i++)
                picture.data[i] = picture.data[i] & 1 ? 255 : 0;
            struct bytes jpeg = encoded(&picture, &options);
            if (quality == 100 && subsampling >= GF_SUBSAMPLING_444)
                assert_true(score(&picture) > 90);
            free(jpeg.data);
            free_picture(&picture);
        }
    }
}

static void test_threads_change_nothing(void **state)
{
    struct picture picture = photograph(700, 611, 3, 8);
    for (int subsampling = 0; subsampling < GF_SUBSAMPLING_AUTO; subsampling++) {
        struct gf_options options = perceptual_options(88, (enum gf_subsampling)subsampling);
        options.threads = 1;
        struct bytes one = encoded(&picture, &options);
        options.threads = 5;
        struct bytes five = encoded(&picture, &options);
        assert_int_equal(one.size, five.size);
        assert_memory_equal(one.data, five.data, one.size);
        free(one.data);
        free(five.data);
    }
    free_picture(&picture);
}

/* The encoder is the same on every processor and by every compiler. Who changes its numbers on
 * purpose writes the new hash here. */
static void test_the_definition(void **state)
{
    struct picture picture = photograph(333, 111, 3, 8);
    uint64_t hash = 0;
    for (int quality = 50; quality <= 98; quality += 12) {
        const struct gf_options options = perceptual_options(quality, GF_SUBSAMPLING_AUTO);
        struct bytes jpeg = encoded(&picture, &options);
        for (size_t i = 0; i < jpeg.size; i++)
            hash = (hash ^ jpeg.data[i]) * 0x100000001b3;
        free(jpeg.data);
    }
    free_picture(&picture);
    if (hash != 0x7f8eb59feaac2e4b)
        fail_msg("the hash is %#llx", (unsigned long long)hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smaller_at_the_same_score),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_the_definition),
    };
    return cmocka_run_group_tests_name("jpeg perceptual", tests, make_folder, remove_folder);
}
