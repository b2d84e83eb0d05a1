/* The raw photographs of cameras: DNGs made here, whose pixels can be computed. The camera's
 * colours are those of linear sRGB. */
#include "codec/codec_test.h"

#include <math.h>

#include "base/threads/times.h"
#include "codec/formats.h"
#include "codec/tiff_files.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { WIDTH = 64, HEIGHT = 48, WHITE = 4000 };

/* A scene: what each colour of the sensor sees. The right half sees `right` of 256 of that. */
struct scene {
    unsigned colour[3], right;
    unsigned neutral[3]; /* what the camera sees of white, in 1/8 */
    unsigned orientation;
    bool big_endian;
};
static const struct scene gray = {{2000, 2000, 2000}, 256, {8, 8, 8}, 1, false};

static bool has_raw(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_RAW);
    return type->library &&
           !gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &failure);
}

/* Adds the tags of the sensor's samples, in the pattern RGGB. */
static void tag_sensor(struct tiff *tiff, const struct scene *scene)
{
    const unsigned at = (unsigned)tiff->bytes.size;
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            put_more(tiff, 2,
                     scene->colour[x % 2 + y % 2] * (x < WIDTH / 2 ? 256 : scene->right) / 256);
    tag1(tiff, 254, 0);
    tag1(tiff, 256, WIDTH);
    tag1(tiff, 257, HEIGHT);
    tag(tiff, 258, SHORT, 1, (unsigned[]){16});
    tag(tiff, 259, SHORT, 1, (unsigned[]){1});
    tag(tiff, 262, SHORT, 1, (unsigned[]){32803});
    tag1(tiff, 273, at);
    tag(tiff, 277, SHORT, 1, (unsigned[]){1});
    tag1(tiff, 278, HEIGHT);
    tag1(tiff, 279, 2 * WIDTH * HEIGHT);
    tag(tiff, 33421, SHORT, 2, (unsigned[]){2, 2});
    tag(tiff, 33422, BYTE, 4, (unsigned[]){0, 1, 1, 2});
    tag1(tiff, 50714, 0);
    tag1(tiff, 50717, WHITE);
}

/* Adds the tags of the camera: its name and colours. */
static void tag_camera(struct tiff *tiff, const struct scene *scene)
{
    static const int of_xyz[] = {32405, -15371, -4985, -9693, 18760, 416, 556, -2040, 10572};
    unsigned matrix[18], neutral[6];
    for (int i = 0; i < 9; i++) {
        matrix[2 * i] = (unsigned)of_xyz[i];
        matrix[2 * i + 1] = 10000;
    }
    for (int i = 0; i < 3; i++) {
        neutral[2 * i] = scene->neutral[i];
        neutral[2 * i + 1] = 8;
    }
    tag_text(tiff, 271, "Maker");
    tag_text(tiff, 272, "Model 1");
    tag(tiff, 274, SHORT, 1, &scene->orientation);
    tag(tiff, 50706, BYTE, 4, (unsigned[]){1, 4, 0, 0});
    tag_text(tiff, 50708, "Maker Model 1");
    tag(tiff, 50721, SIGNED_RATIONAL, 9, matrix);
    tag(tiff, 50728, RATIONAL, 3, neutral);
    tag(tiff, 50778, SHORT, 1, (unsigned[]){21});
}

static struct bytes make_dng(const struct scene *scene)
{
    struct tiff tiff = {.big_endian = scene->big_endian};
    begin(&tiff);
    tag1(&tiff, 40961, 65535); /* EXIF says that the colours are not sRGB */
    const unsigned exif = (unsigned)add_directory(&tiff);
    tag_sensor(&tiff, scene);
    tag_camera(&tiff, scene);
    tag(&tiff, 700, BYTE, 4, (unsigned[]){'<', 'x', '/', '>'});
    tag1(&tiff, 34665, exif);
    add_page(&tiff);
    return tiff.bytes;
}

static const char *saved(struct bytes file)
{
    save(in_folder("a.dng"), file.data, file.size);
    free(file.data);
    return in_folder("a.dng");
}

static struct picture developed(const struct scene *scene, const struct gf_options *options)
{
    struct picture back;
    if (decode(saved(make_dng(scene)), options, &back))
        fail_msg("%s", failure.text);
    assert_int_equal(back.format.channels, 3);
    assert_int_equal(back.format.bits, 16);
    return back;
}

static double curve(double linear)
{
    return 65535 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055);
}

/* A pixel has the colours that the sensor sees in part of its white. */
static void assert_pixel(const struct picture *picture, int x, int y, double red, double green,
                         double blue)
{
    const double wanted[] = {curve(red), curve(green), curve(blue)};
    const uint16_t *const pixel = (const uint16_t *)(const void *)picture->data +
                                  ((size_t)y * (size_t)picture->format.width + (size_t)x) * 3;
    for (int c = 0; c < 3; c++) {
        if (fabs(pixel[c] - wanted[c]) > 40)
            fail_msg("%d,%d: sample %d is %d instead of %.1f", x, y, c, pixel[c], wanted[c]);
    }
}

static void test_colours(void **state)
{
    const struct gf_options options = plain_options();
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct scene scene = gray;
        scene.big_endian = big_endian;
        struct picture back = developed(&scene, &options);
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            assert_pixel(&back, i % WIDTH, i / WIDTH, 0.5, 0.5, 0.5);
        free_picture(&back);
    }
    struct scene scene = {{3000, 0, 0}, 256, {8, 8, 8}, 1, false};
    struct picture back = developed(&scene, &options);
    assert_pixel(&back, 20, 20, 0.75, 0, 0);
    free_picture(&back);
    scene = (struct scene){{100, 200, 400}, 256, {8, 8, 8}, 1, false};
    back = developed(&scene, &options); /* a dark picture stays dark */
    assert_pixel(&back, 20, 20, 0.025, 0.05, 0.1);
    free_picture(&back);
    assert_int_equal(warnings, 0);
}

static void test_white_balance(void **state)
{
    const struct gf_options options = plain_options();
    const struct scene scene = {{1000, 2000, 500}, 256, {4, 8, 2}, 1, false};
    struct picture back = developed(&scene, &options);
    assert_pixel(&back, 10, 10, 0.5, 0.5, 0.5);
    assert_pixel(&back, 50, 40, 0.5, 0.5, 0.5);
    free_picture(&back);
}

/* The pixels are turned once: by the decoder, or by whoever reads the orientation. */
static void test_orientation(void **state)
{
    struct gf_options options = plain_options();
    const struct scene scene = {{2000, 2000, 2000}, 64, {8, 8, 8}, 6, false};
    struct picture back = developed(&scene, &options);
    assert_int_equal(back.format.width, HEIGHT);
    assert_int_equal(back.format.height, WIDTH);
    assert_int_equal(back.metadata.orientation, 1);
    assert_pixel(&back, 20, 10, 0.5, 0.5, 0.5);
    assert_pixel(&back, 20, 50, 0.125, 0.125, 0.125);
    free_picture(&back);
    options.autorotate = false;
    back = developed(&scene, &options);
    assert_int_equal(back.format.width, WIDTH);
    assert_int_equal(back.metadata.orientation, 6);
    assert_pixel(&back, 10, 20, 0.5, 0.5, 0.5);
    assert_pixel(&back, 50, 20, 0.125, 0.125, 0.125);
    free_picture(&back);
}

static struct gf_source *opened(const char *path, struct gf_input **input)
{
    static struct gf_options options;
    struct gf_source *source = NULL;
    options = plain_options();
    if (gf_input_open(path, false, input, &failure) ||
        gf_source_open(*input, &options, &source, &failure))
        fail_msg("%s", failure.text);
    return source;
}

static void test_half_size(void **state)
{
    const struct scene scene = {{1600, 800, 400}, 128, {8, 8, 8}, 8, false};
    struct gf_input *input;
    struct gf_source *const source = opened(saved(make_dng(&scene)), &input);
    assert_int_equal(source->most_reduction, 2);
    source->reduce(source, 2);
    struct picture back = {.format = source->format};
    assert_int_equal(back.format.width, HEIGHT / 2);
    assert_int_equal(back.format.height, WIDTH / 2);
    back.data = malloc(picture_bytes(back.format));
    if (read_rows_of(source, back.data))
        fail_msg("%s", failure.text);
    assert_pixel(&back, 5, 25, 0.4, 0.2, 0.1);
    assert_pixel(&back, 5, 5, 0.2, 0.1, 0.05);
    free_picture(&back);
    source->close(source);
    gf_input_close(input);
}

static void test_header(void **state)
{
    struct gf_input *input;
    struct gf_source *const source = opened(saved(make_dng(&gray)), &input);
    const struct gf_exif_facts facts = gf_exif_read(&source->metadata.exif);
    assert_int_equal(source->file, GF_FILE_RAW);
    assert_string_equal(source->stored.kind, "DNG");
    assert_int_equal(source->stored.colour, GF_STORED_BAYER);
    assert_int_equal(source->stored.bits, 12);
    assert_true(source->memory.bytes >= (uint64_t)WIDTH * HEIGHT * 22);
    assert_string_equal(facts.camera, "Maker Model 1");
    assert_string_equal(facts.colour, "sRGB");
    assert_int_equal(source->metadata.xmp.size, 4);
    source->close(source);
    gf_input_close(input);
}

/* Makes a TIFF whose directories have these photometric interpretations; 0: there is none. */
static struct bytes make_tiff(unsigned first, unsigned below, bool big_tiff)
{
    struct tiff tiff = {.big_endian = below, .big_tiff = big_tiff};
    begin(&tiff);
    tag1(&tiff, 256, 1);
    tag1(&tiff, 262, below);
    const unsigned at = (unsigned)add_directory(&tiff), pixel = (unsigned)tiff.bytes.size;
    put_more(&tiff, 1, 'a');
    tag1(&tiff, 256, 1);
    tag1(&tiff, 257, 1);
    tag1(&tiff, 258, 8);
    tag1(&tiff, 262, first);
    tag1(&tiff, 273, pixel);
    tag1(&tiff, 279, 1);
    if (below)
        tag(&tiff, 330, LONG, 2, (unsigned[]){8, at});
    add_page(&tiff);
    return tiff.bytes;
}

static enum gf_status decode_stream(const char *path, struct picture *picture)
{
    const struct gf_options options = plain_options();
    struct gf_input *input = NULL;
    char command[300];
    snprintf(command, sizeof command, "cat '%s'", path);
    FILE *const pipe = popen(command, "r");
    snprintf(command, sizeof command, "/dev/fd/%d", fileno(pipe));
    assert_int_equal(gf_input_open(command, false, &input, &failure), GF_OK);
    const enum gf_status status = decode_input(input, &options, picture);
    gf_input_close(input);
    pclose(pipe);
    return status;
}

/* What begins as a TIFF is told by its directories, from a file and from a stream. */
static void test_recognition(void **state)
{
    static const struct {
        unsigned first, below;
        bool raw;
    } kinds[] = {
        {1, 0, false}, {1, 1, false}, {32803, 0, true}, {1, 32803, true}, {1, 34892, true}};
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        struct gf_options options = plain_options();
        struct picture back = {0};
        const char *const path =
            saved(make_tiff(kinds[i / 2].first, kinds[i / 2].below, i % 2 && !kinds[i / 2].raw));
        options.formats = 1u << (kinds[i / 2].raw ? GF_FILE_TIFF : GF_FILE_RAW);
        assert_refused(path, &options,
                       kinds[i / 2].raw ? "a.dng: is camera raw, which is not in"
                                        : "a.dng: is TIFF, which is not in");
        if (kinds[i / 2].raw)
            continue;
        if (decode_stream(path, &back))
            fail_msg("%s", failure.text);
        assert_int_equal(back.data[0], 'a');
        free_picture(&back);
    }
    const struct gf_options options = plain_options();
    struct picture back;
    saved(make_tiff(1, 32803, false));
    if (decode(in_folder("a.dng[0]"), &options, &back)) /* the preview, which was asked for */
        fail_msg("%s", failure.text);
    assert_int_equal(back.data[0], 'a');
    free_picture(&back);
    if (decode_stream(saved(make_dng(&gray)), &back))
        fail_msg("%s", failure.text);
    assert_pixel(&back, 30, 30, 0.5, 0.5, 0.5);
    free_picture(&back);
}

/* Whatever a file lacks, it is refused in a line that names it. */
static void test_damage(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes whole = make_dng(&gray);
    struct tiff tiff = {0};
    begin(&tiff);
    for (size_t i = 0; i < 2; i++)
        tag1(&tiff, 256 + (unsigned)i, 30000);
    tag1(&tiff, 258, 16);
    tag1(&tiff, 262, 32803);
    tag1(&tiff, 273, 8);
    tag1(&tiff, 279, 100);
    tag_camera(&tiff, &gray);
    add_page(&tiff);
    struct gf_options limited = plain_options();
    limited.max_pixels = 1000000;
    assert_refused(saved(tiff.bytes), &limited, "900000000 pixels");
    for (size_t size = 9; size < whole.size; size += 257) {
        struct picture back;
        save(in_folder("a.dng"), whole.data, size);
        if (decode(in_folder("a.dng"), &options, &back) != GF_ERROR_INPUT)
            fail_msg("%zu of %zu bytes were read", size, whole.size);
        assert_failure_says("a.dng");
    }
    /* LibRaw leaves the samples as malloc() gave them, since they are not compressed as the file
     * says. The address sanitizer's malloc() gives no zeros. */
    unsigned char *const compression = memmem(whole.data, whole.size, "\3\1\3\0\1\0\0\0\1", 9);
    assert_non_null(compression);
    compression[8] = 7;
    save(in_folder("a.dng"), whole.data, whole.size);
    if (!SANITIZED)
        assert_refused(in_folder("a.dng"), &options, "a.dng: damaged: its samples make no sense");
    compression[8] = 1;
    /* The samples are beyond the end of the file. */
    const unsigned at = 8 + 2 + 12 + 4;
    unsigned char *entry = memmem(whole.data + at + 2 * WIDTH * HEIGHT, 400, "\x11\1\4\0", 4);
    assert_non_null(entry);
    entry[8 + 1] ^= 8;
    assert_refused(saved(whole), &options, "a.dng: damaged: ");
}

static void test_time(void **state)
{
    const struct gf_options options = plain_options();
    struct picture back;
    const char *const path = saved(make_dng(&gray));
    gf_time_limit_set(gf_now() - 1);
    assert_int_equal(decode(path, &options, &back), GF_ERROR_INPUT);
    gf_time_limit_set(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colours),     cmocka_unit_test(test_white_balance),
        cmocka_unit_test(test_orientation), cmocka_unit_test(test_half_size),
        cmocka_unit_test(test_header),      cmocka_unit_test(test_recognition),
        cmocka_unit_test(test_damage),      cmocka_unit_test(test_time),
    };
    if (!has_raw()) {
        puts("1..1\nok 1 # SKIP built without LibRaw");
        return 0;
    }
    return cmocka_run_group_tests_name("raw", tests, make_folder, remove_folder);
}
