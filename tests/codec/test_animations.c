/* Animations of the formats that are written by a library: what is written is read again. */
#include "codec/codec_test.h"

#include <math.h>

#include "codec/formats.h"

static const struct gf_file_type *type; /* of the present test */

/* Returns "a.EXTENSION" and what follows it. */
static const char *name_of(const char *pages)
{
    static char name[40];
    snprintf(name, sizeof name, "a.%s%s", gf_file_format_extension(type->format), pages);
    return in_folder(name);
}

static bool has_library(enum gf_file_format format)
{
    type = gf_file_type(format);
    return type->library && type->animates &&
           !gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &failure);
}

static void check_kept(struct gf_format format)
{
    struct gf_options options = plain_options();
    struct frames frames =
                      random_frames(5, format.width, format.height, format.channels, format.bits),
                  back, part;
    options.lossless = true;
    frames.loops = 0;
    frames.duration[3] = (struct gf_duration){1001, 30000};
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(name_of("[all]"), &options, &back), GF_OK);
    assert_same_frames(&frames, &back, 100);
    assert_int_equal(back.loops, 0);
    assert_int_equal(decode_frames(name_of("[1..3]"), &options, &part), GF_OK);
    assert_int_equal(part.count, 3);
    for (int i = 0; i < part.count; i++) {
        struct picture picture;
        char pages[20];
        snprintf(pages, sizeof pages, "[%d]", i + 1);
        assert_same_pixels(&part.picture[i], &back.picture[i + 1]);
        assert_int_equal(decode(name_of(pages), &options, &picture), GF_OK);
        assert_same_pixels(&picture, &back.picture[i + 1]);
        free_picture(&picture);
    }
    assert_refused(name_of("[5..6]"), &options, "holds 5 pictures, counted from 0");
    assert_int_equal(warnings, 0);
    free_frames(&part);
    free_frames(&back);
    free_frames(&frames);
}

static void check_all_kept(void)
{
    for (int channels = type->gray ? 1 : 3; channels <= 4; channels++)
        for (int bits = 8; bits <= (type->lossless_bits > 8 ? 16 : 8); bits += 8)
            check_kept((struct gf_format){37, 23, channels, bits, GF_SAMPLES_INTEGER});
}

/* The deep samples of lossy formats are near to what they were. */
static void check_deep(int depth)
{
    struct gf_options options = plain_options();
    struct frames frames = {.count = 3}, back;
    options.depth = depth;
    for (int i = 0; i < frames.count; i++) {
        frames.picture[i] = smooth_picture(64, 48, 4, 16);
        frames.picture[i].data[1] = (unsigned char)(i * 40);
        frames.duration[i] = (struct gf_duration){1, 25};
    }
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(name_of("[all]"), &options, &back), GF_OK);
    assert_int_equal(back.count, frames.count);
    for (int i = 0; i < back.count; i++) {
        const struct picture *const picture = &back.picture[i];
        assert_memory_equal(&picture->format, &frames.picture[i].format, sizeof picture->format);
        assert_int_equal(back.duration[i].count * 25, back.duration[i].per_second);
        for (size_t at = 9; at < picture_bytes(picture->format); at += 2)
            assert_in_range(picture->data[at] + 20 - frames.picture[i].data[at], 0, 40);
    }
    free_frames(&back);
    free_frames(&frames);
}

/* A cut file is refused, or it is damaged behind the frames that are wanted. Where it may be
 * truncated its complete frames are read. */
static void check_cuts(void)
{
    struct gf_options options = plain_options();
    struct frames frames = random_frames(4, 37, 23, 3, 8), back;
    int found = 0;
    options.lossless = true;
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    const struct bytes file = load(name_of(""));
    for (size_t size = file.size * 3 / 10; size < file.size - 8; size += 1 + file.size / 60) {
        save(name_of(""), file.data, size);
        options.allow_truncated = false;
        assert_int_equal(decode_frames(name_of("[all]"), &options, &back), GF_ERROR_INPUT);
        assert_failure_says("damaged");
        options.allow_truncated = true;
        warnings = 0;
        if (decode_frames(name_of("[all]"), &options, &back) == GF_OK) {
            assert_int_equal(warnings, 1);
            assert_non_null(strstr(last_warning, "damaged behind its first "));
            assert_true(back.count >= found && back.count <= frames.count);
            found = back.count;
            for (int i = 0; i < back.count; i++)
                assert_same_pixels(&back.picture[i], &frames.picture[i]);
            free_frames(&back);
        }
    }
    assert_true(found >= 2);
    free(file.data);
    free_frames(&frames);
}

static void check_metadata(void)
{
    const struct gf_options options = plain_options();
    struct frames frames = random_frames(2, 16, 16, 3, 8);
    struct picture back;
    struct gf_metadata *const metadata = &frames.picture[0].metadata;
    assert_true(gf_blob_set(&metadata->exif, "MM\0\x2a\0\0\0\x08\0\0\0\0\0\0", 14));
    assert_true(gf_blob_set(&metadata->xmp, "<x:xmpmeta/>", 12));
    frames.loops = 0;
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    assert_int_equal(decode(name_of("[1]"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.exif.size, 14);
    assert_int_equal(back.metadata.xmp.size, 12);
    free_picture(&back);
    free_frames(&frames);
}

/* Loops are kept, or a warning says that they are not. */
static void check_loops(void)
{
    const struct gf_options options = plain_options();
    struct frames frames = random_frames(2, 16, 16, 3, 8), back;
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(name_of("[all]"), &options, &back), GF_OK);
    if (warnings)
        assert_non_null(strstr(last_warning, "how many times an animation is shown: it was 3"));
    else
        assert_int_equal(back.loops, 3);
    free_frames(&back);
    free_frames(&frames);
}

/* A frame without time, and times that are no multiples of the first one's unit. */
static void check_times(void)
{
    struct gf_options options = plain_options();
    struct frames frames = random_frames(5, 16, 16, 3, 8), back;
    static const struct gf_duration given[] = {{1, 1}, {0, 1}, {1, 10}, {0, 0}, {1, 50}};
    options.lossless = true;
    memcpy(frames.duration, given, sizeof given);
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(name_of("[all]"), &options, &back), GF_OK);
    assert_int_equal(back.count, 5);
    for (int i = 0; i < 5; i++) {
        const double seconds = (double)back.duration[i].count / back.duration[i].per_second;
        assert_same_pixels(&back.picture[i], &frames.picture[i]);
        if (given[i].count)
            assert_float_equal(seconds, (double)given[i].count / given[i].per_second, 1e-9);
        else
            assert_in_range(seconds * 1000 + .5, 0, 100);
    }
    free_frames(&back);
    free_frames(&frames);
}

static void check_format(enum gf_file_format format)
{
    if (!has_library(format))
        skip();
    check_all_kept();
    for (int depth = 10; type->bits > 8 && depth <= 12; depth += 2)
        check_deep(depth);
    check_cuts();
    check_metadata();
    check_loops();
    check_times();
}

static void test_webp(void **state)
{
    check_format(GF_FILE_WEBP);
}

static void test_avif(void **state)
{
    check_format(GF_FILE_AVIF);
}

static void test_jxl(void **state)
{
    check_format(GF_FILE_JXL);
}

/* Makes a page of that size and format, whose profile, density and orientation are its own. */
static struct picture make_page(int number, struct gf_format format)
{
    struct picture page = random_picture(format.width, format.height, format.channels, format.bits);
    char profile[200] = {(char)number};
    memcpy(profile + 16, format.channels < 3 ? "GRAY" : "RGB ", 4);
    assert_true(gf_blob_set(&page.metadata.icc, profile, sizeof profile - (size_t)number));
    page.metadata.orientation = 1 + number;
    page.metadata.density_x = page.metadata.density_y = (100 + number) / 0.0254;
    return page;
}

static void assert_same_page(const struct picture *page, const struct picture *back)
{
    const struct gf_metadata *const a = &page->metadata, *const b = &back->metadata;
    assert_same_pixels(page, back);
    assert_int_equal(a->icc.size, b->icc.size);
    assert_memory_equal(a->icc.data, b->icc.data, a->icc.size);
    assert_int_equal(a->orientation, b->orientation);
    assert_true(fabs(a->density_x - b->density_x) < 1e-3);
}

/* Pages have no time. Each has a size, a format and properties of its own. */
static void check_pages(int first_channels, int first_bits)
{
    struct gf_options options = plain_options();
    struct frames frames = {.count = 5}, back;
    options.autorotate = false;
    for (int i = 0; i < 5; i++)
        frames.picture[i] =
            make_page(i, (struct gf_format){37 + 3 * i, 23 - i, 1 + (first_channels + i) % 4,
                                            (first_bits + i) % 2 ? 8 : 16, GF_SAMPLES_INTEGER});
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(name_of("[all]"), &options, &back), GF_OK);
    assert_int_equal(back.count, 5);
    for (int i = 0; i < 5; i++) {
        struct picture picture;
        char pages[20];
        snprintf(pages, sizeof pages, "[%d]", i);
        assert_int_equal(decode(name_of(pages), &options, &picture), GF_OK);
        assert_same_page(&frames.picture[i], &picture);
        assert_same_page(&frames.picture[i], &back.picture[i]);
        assert_int_equal(back.picture[i].metadata.bits, frames.picture[i].format.bits);
        free_picture(&picture);
    }
    free_frames(&back);
    assert_int_equal(decode_frames(name_of("[2..3]"), &options, &back), GF_OK);
    assert_int_equal(back.count, 2);
    assert_same_page(&frames.picture[2], &back.picture[0]);
    free_frames(&back);
    assert_refused(name_of("[5..6]"), &options, "holds 5 pictures, counted from 0");
    free_frames(&frames);
}

static void check_cut_page(void)
{
    const struct gf_options options = plain_options();
    struct frames frames = random_frames(3, 40, 20, 3, 8), back;
    assert_int_equal(encode_frames(name_of(""), &frames, &options), GF_OK);
    struct bytes file = load(name_of(""));
    save(name_of(""), file.data, file.size - 20);
    assert_int_equal(decode_frames(name_of("[all]"), &options, &back), GF_ERROR_INPUT);
    assert_failure_says("damaged");
    free(file.data);
    free_frames(&frames);
}

static void test_tiff(void **state)
{
    if (!has_library(GF_FILE_TIFF))
        skip();
    for (int i = 0; i < 8; i++)
        check_pages(i % 4, i / 4);
    check_cut_page();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_webp),
        cmocka_unit_test(test_avif),
        cmocka_unit_test(test_jxl),
        cmocka_unit_test(test_tiff),
    };
    return cmocka_run_group_tests_name("animations", tests, make_folder, remove_folder);
}
