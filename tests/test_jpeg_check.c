/* What may be given to a JPEG decoder that tells no damage: everything common, and nothing that
 * libjpeg complains of. */
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h> /* whose codes depend on the version that jpeglib.h tells */

#include "codec/jpeg/jpeg_check.h"
#include "support.h"

struct kind {
    int width, height, components, h, v, quality, restart_blocks;
    bool optimised, progressive;
};

struct escape {
    struct jpeg_error_mgr errors;
    jmp_buf back;
    int warnings;
};

static uint64_t random_state = 88172645463325252u;

static unsigned next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 32);
}

static unsigned long encode(struct kind kind, unsigned char **data)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    *data = NULL;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, data, &size);
    jpeg.image_width = (JDIMENSION)kind.width;
    jpeg.image_height = (JDIMENSION)kind.height;
    jpeg.input_components = kind.components;
    jpeg.in_color_space = kind.components == 1   ? JCS_GRAYSCALE
                          : kind.components == 4 ? JCS_CMYK
                                                 : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, kind.quality, TRUE);
    if (kind.components == 3) {
        jpeg.comp_info[0].h_samp_factor = kind.h;
        jpeg.comp_info[0].v_samp_factor = kind.v;
    }
    jpeg.restart_interval = (unsigned)kind.restart_blocks;
    jpeg.optimize_coding = kind.optimised;
    if (kind.progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    unsigned char *const row = malloc((size_t)kind.width * (size_t)kind.components);
    assert_non_null(row);
    while (jpeg.next_scanline < jpeg.image_height) {
        for (int i = 0; i < kind.width * kind.components; i++)
            row[i] = (unsigned char)(128 + (int)(next_random() % 100) - 50 +
                                     (int)jpeg.next_scanline % 60);
        JSAMPROW line = row;
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    free(row);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return size;
}

static void leave(j_common_ptr jpeg)
{
    longjmp(((struct escape *)jpeg->err)->back, 1);
}

static void count_warning(j_common_ptr jpeg, int level)
{
    const int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_JFIF_MAJOR &&
        code != JWRN_ADOBE_XFORM) /* these leave the pixels alone */
        ((struct escape *)jpeg->err)->warnings++;
}

/* Whether libjpeg decodes it without a word. */
static bool libjpeg_is_content(const unsigned char *data, size_t size)
{
    struct jpeg_decompress_struct jpeg;
    struct escape escape = {.warnings = 0};
    static unsigned char row[4 * 4096];
    jpeg.err = jpeg_std_error(&escape.errors);
    escape.errors.error_exit = leave;
    escape.errors.emit_message = count_warning;
    jpeg_create_decompress(&jpeg);
    if (setjmp(escape.back)) {
        jpeg_destroy_decompress(&jpeg);
        return false;
    }
    jpeg_mem_src(&jpeg, data, size);
    jpeg_read_header(&jpeg, TRUE);
    if (jpeg.image_width > 4096)
        longjmp(escape.back, 1);
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW line = row;
        jpeg_read_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return !escape.warnings;
}

static const struct kind common[] = {
    {1, 1, 1, 1, 1, 90, 0, false, false},    {8, 8, 3, 1, 1, 90, 0, false, false},
    {17, 33, 3, 2, 1, 50, 0, true, false},   {100, 61, 3, 2, 2, 95, 0, false, false},
    {200, 75, 3, 2, 2, 75, 3, true, false},  {33, 90, 1, 1, 1, 100, 2, true, false},
    {64, 200, 3, 1, 1, 1, 11, false, false},
};

static void test_common(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        struct gf_jpeg_info info;
        unsigned char *data;
        const unsigned long size = encode(common[i], &data);
        if (!gf_jpeg_check(data, size, &info))
            fail_msg("kind %zu is not taken", i);
        assert_int_equal(info.width, common[i].width);
        assert_int_equal(info.height, common[i].height);
        assert_int_equal(info.components, common[i].components);
        assert_int_equal(info.h, common[i].h);
        assert_int_equal(info.v, common[i].v);
        assert_int_equal(info.end, size);
        assert_int_equal(data[info.tables], 0xff);
        assert_int_equal(data[info.tables + 1], 0xdb);
        free(data);
    }
}

static void test_odd(void **state)
{
    (void)state;
    static const struct kind odd[] = {
        {40, 30, 4, 1, 1, 90, 0, false, false}, /* CMYK */
        {40, 30, 3, 2, 2, 90, 0, false, true},  /* progressive */
        {40, 30, 3, 1, 2, 90, 0, false, false}, /* 4:4:0 */
        {40, 30, 3, 4, 1, 90, 0, false, false}, /* 4:1:1 */
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct gf_jpeg_info info;
        unsigned char *data;
        const unsigned long size = encode(odd[i], &data);
        assert_true(libjpeg_is_content(data, size));
        if (gf_jpeg_check(data, size, &info))
            fail_msg("kind %zu is taken", i);
        free(data);
    }
}

/* JFIF says that it is YCbCr; a decoder that is not shown that segment takes it for RGB. */
static void test_components_named_rgb(void **state)
{
    (void)state;
    struct gf_jpeg_info info;
    unsigned char *data;
    const unsigned long size = encode(common[3], &data);
    assert_true(gf_jpeg_check(data, size, &info));
    for (unsigned long i = 0; i + 20 < size; i++) {
        const bool frame = data[i] == 0xff && data[i + 1] == 0xc0,
                   scan = data[i] == 0xff && data[i + 1] == 0xda;
        for (int c = 0; (frame || scan) && c < 3; c++)
            data[i + (frame ? 10 + 3 * (unsigned)c : 5 + 2 * (unsigned)c)] =
                (unsigned char)"RGB"[c];
    }
    assert_true(libjpeg_is_content(data, size));
    assert_false(gf_jpeg_check(data, size, &info));
    free(data);
}

static void test_truncated(void **state)
{
    (void)state;
    struct gf_jpeg_info info;
    unsigned char *data;
    const unsigned long size = encode(common[4], &data);
    for (unsigned long cut = 0; cut < size; cut++)
        assert_false(gf_jpeg_check(data, cut, &info));
    free(data);
}

/* Bits turned over, bytes replaced, dropped: what libjpeg complains of is not taken. */
static void test_damaged(void **state)
{
    (void)state;
    int complaints = 0, taken = 0;
    for (int round = 0; round < 14000; round++) {
        struct gf_jpeg_info info;
        unsigned char *data;
        unsigned long size = encode(common[round % 7], &data);
        const unsigned long at = 2 + next_random() % (size - 4);
        switch (round / 7 % 3) {
        case 0:
            data[at] ^= (unsigned char)(1u << next_random() % 8);
            break;
        case 1:
            data[at] = (unsigned char)next_random();
            break;
        default:
            memmove(data + at, data + at + 1, --size - at);
            break;
        }
        const bool sound = gf_jpeg_check(data, size, &info),
                   content = libjpeg_is_content(data, size);
        complaints += !content;
        taken += sound;
        if (sound && !content)
            fail_msg("round %d: libjpeg complains of what is taken (byte %lu of %lu)", round, at,
                     size);
        free(data);
    }
    assert_true(complaints > 1000); /* the test has teeth */
    assert_true(taken > 100);
}

/* Every single bit turned over. */
static void test_each_bit(void **state)
{
    (void)state;
    struct gf_jpeg_info info;
    unsigned char *data;
    const unsigned long size = encode(common[2], &data);
    unsigned long complaints = 0;
    for (unsigned long bit = 0; bit < 8 * size; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const bool content = libjpeg_is_content(data, size);
        complaints += !content;
        if (!content && gf_jpeg_check(data, size, &info))
            fail_msg("libjpeg complains of what is taken (bit %lu of byte %lu)", bit % 8, bit / 8);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_true(complaints > 100);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_components_named_rgb),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_each_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
