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
    };
    return cmocka_run_group_tests_name("webp", tests, make_folder, remove_folder);
}
