/* Animated WebPs, put together here of pictures that libwebp wrote. */
#include "codec/codec_test.h"

#include "codec/formats.h"

enum { SIDE = 8, HEAD = 12, ALPHA = 0x10, ANIMATION = 2, TO_BACKGROUND = 1 };

static void append_number(struct bytes *file, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        append(file, &(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

static void begin(struct bytes *file, unsigned flags)
{
    *file = (struct bytes){0};
    append(file, "RIFF\0\0\0\0WEBPVP8X\12\0\0\0", 20);
    append_number(file, flags | ANIMATION, 4);
    append_number(file, SIDE - 1, 3);
    append_number(file, SIDE - 1, 3);
    append(file, "ANIM\6\0\0\0\0\0\0\0\0\0", 14);
}

/* Adds a picture of one colour in the upper left. */
static void add(struct bytes *file, int width, int height, int channels, unsigned char value,
                unsigned disposal)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(width, height, channels, 8);
    options.lossless = true;
    memset(picture.data, value, picture_bytes(picture.format));
    assert_int_equal(encode(in_folder("still.webp"), &picture, &options), GF_OK);
    struct bytes still = load(in_folder("still.webp"));
    append(file, "ANMF", 4);
    append_number(file, (unsigned)(still.size - HEAD + 16), 4);
    append_number(file, 0, 6);
    append_number(file, (unsigned)width - 1, 3);
    append_number(file, (unsigned)height - 1, 3);
    append_number(file, 100, 3);
    append_number(file, disposal, 1);
    append(file, still.data + HEAD, still.size - HEAD);
    free(still.data);
    free_picture(&picture);
}

/* Saves the first `size` bytes of the file, whose header speaks of all. */
static void save_part(struct bytes *file, size_t size)
{
    for (int i = 0; i < 4; i++)
        file->data[4 + i] = (unsigned char)((file->size - 8) >> 8 * i);
    save(in_folder("a.webp"), file->data, size);
}

static void check(const char *name, int channels, unsigned char value)
{
    const struct gf_options options = plain_options();
    struct picture back;
    if (decode(in_folder(name), &options, &back))
        fail_msg("%s: %s", name, failure.text);
    assert_int_equal(back.format.channels, channels);
    assert_int_equal(back.data[0], value);
    free_picture(&back);
}

/* It has alpha where the file says so, or where the canvas shows through. */
static void test_alpha(void **state)
{
    struct bytes file;
    begin(&file, 0);
    add(&file, SIDE, SIDE, 3, 10, 0);
    add(&file, 2, 2, 3, 20, TO_BACKGROUND);
    add(&file, 4, 4, 3, 30, 0);
    save_part(&file, file.size);
    check("a.webp", 3, 10);
    check("a.webp[1]", 3, 20);
    check("a.webp[2]", 4, 30);
    free(file.data);
    begin(&file, 0);
    add(&file, SIDE, 2, 3, 10, 0);
    save_part(&file, file.size);
    check("a.webp", 4, 10);
    free(file.data);
    begin(&file, ALPHA);
    add(&file, SIDE, SIDE, 4, 100, 0);
    save_part(&file, file.size);
    check("a.webp", 4, 100);
    free(file.data);
}

/* A picture that is whole is read, whatever is wrong behind it. */
static void test_damage_behind(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes file;
    begin(&file, 0);
    const size_t head = file.size;
    add(&file, SIDE, SIDE, 3, 10, 0);
    const size_t first = file.size;
    add(&file, SIDE, SIDE, 3, 20, 0);
    for (size_t size = first; size < file.size; size++) {
        save_part(&file, size);
        check("a.webp", 3, 10);
        assert_string_equal(strstr(last_warning, "a.webp: "),
                            "a.webp: damaged behind its first picture: it is truncated");
        assert_refused(in_folder("a.webp[1]"), &options, "a.webp[1]: damaged: it is truncated");
    }
    for (size_t size = head; size < first; size++) {
        save_part(&file, size);
        assert_refused(in_folder("a.webp"), &options, "a.webp: damaged: it is truncated");
    }
    memset(file.data + first + 16, 0xff, 12); /* the second's place and size */
    save_part(&file, file.size);
    check("a.webp", 3, 10);
    assert_non_null(strstr(last_warning, "a.webp: damaged behind its first picture: "));
    free(file.data);
}

/* Frames one after another are the pictures that their numbers give. */
static void test_frames(void **state)
{
    const struct gf_options options = plain_options();
    const unsigned char values[] = {10, 20, 30};
    struct bytes file;
    struct frames frames;
    begin(&file, 0);
    file.data[file.size - 2] = 7; /* times shown */
    add(&file, SIDE, SIDE, 3, values[0], 0);
    add(&file, 2, 2, 3, values[1], TO_BACKGROUND);
    add(&file, 4, 4, 3, values[2], 0);
    save_part(&file, file.size);
    assert_int_equal(decode_frames(in_folder("a.webp[all]"), &options, &frames), GF_OK);
    assert_int_equal(frames.count, 3);
    assert_int_equal(frames.loops, 7);
    for (int i = 0; i < frames.count; i++) {
        assert_int_equal(frames.picture[i].format.channels, 4);
        assert_int_equal(frames.picture[i].data[0], values[i]);
        assert_int_equal(frames.duration[i].count, 100);
        assert_int_equal(frames.duration[i].per_second, 1000);
    }
    assert_int_equal(frames.picture[1].data[4 * 3], values[0]);
    assert_int_equal(frames.picture[2].data[4 * 5 + 3], 255);
    free_frames(&frames);
    assert_int_equal(decode_frames(in_folder("a.webp[0..1]"), &options, &frames), GF_OK);
    assert_int_equal(frames.count, 2);
    assert_int_equal(frames.picture[1].format.channels, 3);
    free_frames(&frames);
    assert_refused(in_folder("a.webp[3..4]"), &options, "holds 3 pictures, counted from 0");
    free(file.data);
}

/* Frames that are complete are read from a file that may be truncated. */
static void test_truncated_frames(void **state)
{
    struct gf_options options = plain_options();
    struct bytes file;
    struct frames frames;
    begin(&file, 0);
    add(&file, SIDE, SIDE, 3, 10, 0);
    add(&file, SIDE, SIDE, 3, 20, 0);
    const size_t second = file.size;
    add(&file, SIDE, SIDE, 3, 30, 0);
    for (size_t size = second; size < file.size; size++) {
        options.allow_truncated = false;
        save_part(&file, size);
        assert_int_equal(decode_frames(in_folder("a.webp[all]"), &options, &frames),
                         GF_ERROR_INPUT);
        assert_failure_says("a.webp[all]: damaged: it is truncated (to keep what there is: "
                            "options.allow_truncated)");
        assert_int_equal(decode_frames(in_folder("a.webp[0..1]"), &options, &frames), GF_OK);
        free_frames(&frames);
        options.allow_truncated = true;
        assert_int_equal(decode_frames(in_folder("a.webp[all]"), &options, &frames), GF_OK);
        assert_non_null(
            strstr(last_warning, "damaged behind its first 2 pictures: it is truncated"));
        assert_int_equal(frames.count, 2);
        assert_int_equal(frames.picture[1].data[0], 20);
        free_frames(&frames);
    }
    free(file.data);
}

static void check_written(int channels)
{
    struct gf_options options = plain_options();
    struct frames frames = random_frames(6, 37, 23, channels, 8), back;
    options.lossless = true;
    frames.duration[4] = (struct gf_duration){1001, 30000};
    assert_int_equal(encode_frames(in_folder("b.webp"), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(in_folder("b.webp[all]"), &options, &back), GF_OK);
    assert_same_frames(&frames, &back, 1000);
    assert_int_equal(back.loops, frames.loops);
    free_frames(&back);
    for (int i = 0; i < frames.count; i++) {
        char name[20];
        snprintf(name, sizeof name, "b.webp[%d]", i);
        struct picture picture;
        assert_int_equal(decode(in_folder(name), &options, &picture), GF_OK);
        assert_memory_equal(picture.data, frames.picture[i].data, 3);
        free_picture(&picture);
    }
    free_frames(&frames);
}

static void test_written(void **state)
{
    check_written(3);
    check_written(4);
}

/* Frames that fade, and frames of which half stays, are near to what they were. */
static void test_written_lossy(void **state)
{
    struct gf_options options = plain_options();
    struct frames frames = {.count = 12}, back;
    for (int i = 0; i < frames.count; i++) {
        frames.picture[i] = smooth_picture(64, 48, 3, 8);
        for (size_t at = 0; at < picture_bytes(frames.picture[i].format) / (i % 2 + 1); at++)
            frames.picture[i].data[at] = (unsigned char)(frames.picture[i].data[at] + i);
        frames.duration[i] = (struct gf_duration){1, 25};
    }
    assert_int_equal(encode_frames(in_folder("b.webp"), &frames, &options), GF_OK);
    assert_int_equal(decode_frames(in_folder("b.webp[all]"), &options, &back), GF_OK);
    assert_int_equal(back.count, frames.count);
    assert_int_equal(back.loops, 0);
    for (int i = 0; i < frames.count; i++) {
        assert_int_equal(back.picture[i].format.channels, 3);
        for (size_t at = 0; at < picture_bytes(frames.picture[i].format); at++)
            assert_in_range(back.picture[i].data[at] + 20 - frames.picture[i].data[at], 0, 40);
    }
    free_frames(&back);
    free_frames(&frames);
}

static void test_written_metadata(void **state)
{
    const struct gf_options options = plain_options();
    struct frames frames = random_frames(2, 8, 8, 3, 8);
    struct picture back;
    struct gf_metadata *const metadata = &frames.picture[0].metadata;
    char profile[200] = {0};
    memcpy(profile + 16, "RGB ", 4);
    assert_true(gf_blob_set(&metadata->icc, profile, sizeof profile));
    assert_true(gf_blob_set(&metadata->exif, "MM\0\x2a\0\0\0\x08\0\0\0\0\0\0", 14));
    assert_true(gf_blob_set(&metadata->xmp, "<x:xmpmeta/>", 12));
    assert_int_equal(encode_frames(in_folder("b.webp"), &frames, &options), GF_OK);
    assert_int_equal(decode(in_folder("b.webp[1]"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.icc.size, sizeof profile);
    assert_int_equal(back.metadata.exif.size, 14);
    assert_int_equal(back.metadata.xmp.size, 12);
    free_picture(&back);
    free_frames(&frames);
}

/* The coded frames count as memory. */
static void test_written_memory(void **state)
{
    struct gf_options options = plain_options();
    struct frames frames = random_frames(2, 300, 300, 3, 8);
    options.lossless = true;
    options.memory_bytes = 400000;
    assert_int_equal(encode_frames(in_folder("c.webp"), &frames, &options), GF_ERROR_INPUT);
    assert_failure_says("c.webp: the frames of an animation are held until its end: that takes");
    options.memory_bytes = 800000;
    assert_int_equal(encode_frames(in_folder("c.webp"), &frames, &options), GF_OK);
    free_frames(&frames);
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_WEBP);
    if (!type->library || gf_library_load(type->library, "WebP", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no libwebp");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_damage_behind),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_truncated_frames),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_written_lossy),
        cmocka_unit_test(test_written_metadata),
        cmocka_unit_test(test_written_memory),
    };
    return cmocka_run_group_tests_name("webp", tests, make_folder, remove_folder);
}
