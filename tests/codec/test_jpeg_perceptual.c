/* --jpeg-encoder=perceptual: ordinary JPEGs, smaller than libjpeg's at the same score, with the
 * same bytes for any number of threads. */
#include "codec/codec_test.h"

#include <jpeglib.h>

#include "codec/jpeg/jpeg_header.h"
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
    const size_t count = getenv("GF_TEST_SMALL") ? 1 : sizeof qualities / sizeof *qualities;
    for (size_t i = 0; i < count; i++) {
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

/* ---- the codes of a GPU's scans ---- */

/* The table that libjpeg makes for a gray picture of blocks with one AC coefficient each, of which
 * numbers[symbol] have that symbol. Adds the end of each block to `numbers`. */
static struct gf_jpeg_huffman table_of_libjpeg(uint32_t *numbers)
{
    enum { ACROSS = 64 };
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct gf_jpeg_huffman table = {.counts = {0}};
    unsigned char *data = NULL;
    unsigned long size = 0;
    JDIMENSION blocks = 0, next = 0;
    for (int symbol = 1; symbol < GF_JPEG_AC_SYMBOLS; symbol++)
        blocks += numbers[symbol];
    const JDIMENSION rows = (blocks + ACROSS - 1) / ACROSS;
    numbers[0] = rows * ACROSS;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &data, &size);
    jpeg.image_width = ACROSS * DCTSIZE;
    jpeg.image_height = rows * DCTSIZE;
    jpeg.input_components = 1;
    jpeg.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg.optimize_coding = TRUE;
#if JPEG_LIB_VERSION >= 70
    jpeg.jpeg_width = jpeg.image_width;
    jpeg.jpeg_height = jpeg.image_height;
    jpeg.min_DCT_h_scaled_size = jpeg.min_DCT_v_scaled_size = DCTSIZE;
#endif
    jvirt_barray_ptr array =
        jpeg.mem->request_virt_barray((j_common_ptr)&jpeg, JPOOL_IMAGE, TRUE, ACROSS, rows, 1);
    jpeg_write_coefficients(&jpeg, &array);
    for (int symbol = 1; symbol < GF_JPEG_AC_SYMBOLS; symbol++) {
        for (uint32_t i = 0; i < numbers[symbol]; i++) {
            JBLOCK *const block =
                *jpeg.mem->access_virt_barray((j_common_ptr)&jpeg, array, next / ACROSS, 1, TRUE);
            block[next++ % ACROSS][gf_jpeg_natural_order[1 + (symbol >> 4)]] =
                (JCOEF)(1 << ((symbol & 15) - 1));
        }
    }
    jpeg_finish_compress(&jpeg);
    const JHUFF_TBL *const made = jpeg.ac_huff_tbl_ptrs[0];
    int symbols = 0;
    for (int length = 1; length <= 16; length++)
        symbols += table.counts[length] = made->bits[length];
    memcpy(table.symbols, made->huffval, (size_t)symbols);
    jpeg_destroy_compress(&jpeg);
    free(data);
    return table;
}

/* Few symbols, symbols that are as frequent, and codes that have to be shortened. */
static void test_codes(void **state)
{
    for (int kind = 0; kind < 12; kind++) {
        uint32_t numbers[GF_JPEG_AC_SYMBOLS] = {0}, one = 1, other = 2;
        unsigned seed = (unsigned)kind;
        struct gf_jpeg_huffman own;
        for (int i = 0; i < (kind ? 21 : 1); i++) {
            const int symbol = (i * 7 % 15) << 4 | (1 + (i + kind) % 10);
            const uint32_t number = kind % 3 == 1 ? one : 1 + next_random(&seed) % (kind % 3 + 2);
            numbers[symbol] += number;
            other += one;
            one = other - one;
        }
        const struct gf_jpeg_huffman expected = table_of_libjpeg(numbers);
        assert_true(gf_jpeg_codes_optimise(numbers, GF_JPEG_AC_SYMBOLS, &own));
        assert_memory_equal(own.counts, expected.counts, sizeof own.counts);
        assert_memory_equal(own.symbols, expected.symbols, sizeof own.symbols);
    }
}

/* More than libjpeg counts, and codes that are longer than it has. */
static void test_no_codes(void **state)
{
    uint32_t numbers[GF_JPEG_AC_SYMBOLS] = {0};
    struct gf_jpeg_huffman table;
    numbers[0] = 600000000;
    assert_true(gf_jpeg_codes_optimise(numbers, GF_JPEG_AC_SYMBOLS, &table));
    numbers[1] = 600000000;
    assert_false(gf_jpeg_codes_optimise(numbers, GF_JPEG_AC_SYMBOLS, &table));
    for (int i = 0; i < 40; i++)
        numbers[i] = i < 2 ? (uint32_t)i + 1 : numbers[i - 1] + numbers[i - 2];
    assert_false(gf_jpeg_codes_optimise(numbers, GF_JPEG_AC_SYMBOLS, &table));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smaller_at_the_same_score),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_the_definition),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_no_codes),
    };
    return cmocka_run_group_tests_name("jpeg perceptual", tests, make_folder, remove_folder);
}
