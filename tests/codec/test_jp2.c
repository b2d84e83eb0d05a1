/* JPEG 2000: what its boxes and markers say, and hostile ones. The files are the project's own,
 * changed here and there. */
#include "codec/codec_test.h"

#include "codec/formats.h"

static bool has_jp2(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_JP2);
    return type->library &&
           !gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &failure);
}

/* Writes a picture without loss, and returns the file. */
static struct bytes written(const struct picture *picture)
{
    struct gf_options options = plain_options();
    options.lossless = true;
    if (encode(in_folder("a.jp2"), picture, &options))
        fail_msg("%s", failure.text);
    return load(in_folder("a.jp2"));
}

static unsigned char *find(const struct bytes *file, const char *bytes, size_t size)
{
    unsigned char *const at = memmem(file->data, file->size, bytes, size);
    assert_non_null(at);
    return at;
}

static unsigned char *find_marker(const struct bytes *file, unsigned marker)
{
    const char bytes[] = {(char)0xff, (char)marker};
    return find(file, bytes, 2);
}

static void put_be(unsigned char *at, uint64_t value, int bytes)
{
    while (bytes)
        *at++ = (unsigned char)(value >> 8 * --bytes);
}

static struct picture read_back(const struct bytes *file)
{
    const struct gf_options options = plain_options();
    struct picture back;
    save(in_folder("b.jp2"), file->data, file->size);
    if (decode(in_folder("b.jp2"), &options, &back))
        fail_msg("%s", failure.text);
    return back;
}

static void assert_file_refused(const struct bytes *file, const char *message)
{
    const struct gf_options options = plain_options();
    save(in_folder("b.jp2"), file->data, file->size);
    assert_refused(in_folder("b.jp2"), &options, message);
}

/* Puts a box into the box "jp2h", behind its other boxes or before them. */
static void add_box(struct bytes *file, const void *box, size_t size, bool behind)
{
    unsigned char *const head = find(file, "jp2h", 4) - 4;
    const size_t at = (size_t)(head - file->data), inner = gf_get_be(head, 4);
    const size_t place = at + (behind ? inner : 8 + 22);
    struct bytes made = {0};
    put_be(head, inner + size, 4);
    append(&made, file->data, place);
    append(&made, box, size);
    append(&made, file->data + place, file->size - place);
    free(file->data);
    *file = made;
}

static void test_codestream_alone(void **state)
{
    struct picture picture = random_picture(50, 30, 3, 8);
    struct bytes file = written(&picture);
    unsigned char *const stream = find(&file, "\xff\x4f\xff\x51", 4);
    struct bytes alone = {0};
    append(&alone, stream, file.size - (size_t)(stream - file.data));
    struct picture back = read_back(&alone);
    assert_same_pixels(&picture, &back);
    free_picture(&back);
    append(&alone, "behind", 6); /* what follows the end marker */
    back = read_back(&alone);
    assert_same_pixels(&picture, &back);
    free_picture(&back);
    free_picture(&picture);
    free(alone.data);
    free(file.data);
}

/* The samples are indices: 0 to 3 of a palette, and greater ones, which are the last. */
static void test_palette(void **state)
{
    static const unsigned char box[] =
        "\0\0\0\x1apclr\0\4\3\7\7\7\1\2\3\x10\x20\x30\xff\0\x80\xaa\xbb\xcc"
        "\0\0\0\x14"
        "cmap\0\0\1\0\0\0\1\1\0\0\1\2";
    struct picture picture = random_picture(20, 10, 1, 8);
    for (size_t i = 0; i < 200; i++)
        picture.data[i] %= 6;
    struct bytes file = written(&picture);
    put_be(find(&file, "colr", 4) + 7, 16, 4);
    assert_int_equal(box[3], 26);
    struct bytes plain = {0};
    append(&plain, box, 8 + 3 + 3 + 12);
    plain.data[3] = (unsigned char)plain.size;
    append(&plain, box + 26, sizeof box - 1 - 26);
    add_box(&file, plain.data, plain.size, true);
    struct picture back = read_back(&file);
    assert_int_equal(back.format.channels, 3);
    for (size_t i = 0; i < 200; i++) {
        const unsigned index = picture.data[i] < 3 ? picture.data[i] : 3;
        assert_memory_equal(back.data + 3 * i, box + 14 + 3 * index, 3);
    }
    free_picture(&back);
    free_picture(&picture);
    free(plain.data);
    free(file.data);
}

static void test_ycc(void **state)
{
    struct picture picture = random_picture(20, 10, 4, 8);
    struct bytes file = written(&picture);
    put_be(find(&file, "colr", 4) + 7, 18, 4);
    struct picture back = read_back(&file);
    for (size_t i = 0; i < 200; i++) {
        const unsigned char *const from = picture.data + 4 * i, *const to = back.data + 4 * i;
        const double y = from[0], cb = from[1] - 128.0, cr = from[2] - 128.0;
        const double rgb[] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
        for (int c = 0; c < 3; c++) {
            const double wanted = rgb[c] < 0 ? 0 : rgb[c] > 255 ? 255 : rgb[c];
            assert_true(to[c] - wanted <= 0.51 && wanted - to[c] <= 0.51);
        }
        assert_int_equal(to[3], from[3]);
    }
    free_picture(&back);
    free_picture(&picture);
    free(file.data);
}

/* The box "cdef" may say that the channels are in another order, that alpha was multiplied, and
 * nonsense. */
static void test_order_of_channels(void **state)
{
    static const unsigned char order[4] = {3, 2, 1, 0};
    struct picture picture = random_picture(20, 10, 4, 8);
    struct bytes file = written(&picture);
    unsigned char *const entry = find(&file, "cdef", 4) + 6;
    for (int c = 0; c < 4; c++)
        put_be(entry + 6 * c, order[c], 2);
    struct picture back = read_back(&file);
    for (size_t i = 0; i < 200; i++)
        for (int c = 0; c < 4; c++)
            assert_int_equal(back.data[4 * i + (size_t)c], picture.data[4 * i + order[c]]);
    free_picture(&back);
    for (int c = 0; c < 4; c++)
        put_be(entry + 6 * c, (uint64_t)c, 2);
    put_be(entry + 18 + 2, 2, 2);
    back = read_back(&file);
    for (size_t i = 0; i < 200; i++) {
        const unsigned alpha = picture.data[4 * i + 3],
                       value = alpha ? (picture.data[4 * i] * 255u + alpha / 2) / alpha : 0;
        assert_int_equal(back.data[4 * i], value < 255 ? value : 255);
    }
    free_picture(&back);
    put_be(entry + 18, 1, 2);
    assert_file_refused(&file, "b.jp2: damaged: its channels make no sense");
    free_picture(&picture);
    free(file.data);
}

static void test_boxes_of_unusual_size(void **state)
{
    struct picture picture = random_picture(20, 10, 1, 16);
    struct bytes file = written(&picture);
    unsigned char *const box = find(&file, "jp2c", 4) - 4;
    const size_t before = (size_t)(box - file.data), size = file.size - before;
    struct bytes made = {0};
    append(&made, file.data, before);
    append(&made, "\0\0\0\1jp2c\0\0\0\0\0\0\0\0", 16);
    put_be(made.data + before + 8, size + 8, 8);
    append(&made, box + 8, size - 8);
    append(&made, "\0\0\0\12free..", 10);
    struct picture back = read_back(&made);
    assert_same_pixels(&picture, &back);
    free_picture(&back);
    free(made.data);
    /* A tile's last part may go to the end marker. */
    put_be(find_marker(&file, 0x90) + 6, 0, 4);
    back = read_back(&file);
    assert_same_pixels(&picture, &back);
    free_picture(&back);
    free_picture(&picture);
    free(file.data);
}

/* What is refused before OpenJPEG sees the file. The offsets are those of the segment SIZ. */
static void test_hostile_sizes(void **state)
{
    static const struct {
        size_t offset;
        int bytes;
        uint64_t value;
        const char *message;
    } cases[] = {
        {6, 4, 0, "b.jp2: damaged: the size of its picture makes no sense"},
        {14, 4, 20, "b.jp2: damaged: the size of its picture makes no sense"},
        {22, 4, 0, "b.jp2: damaged: the size of its picture makes no sense"},
        {30, 4, 1, "b.jp2: damaged: the size of its picture makes no sense"},
        {38, 2, 0, "b.jp2: damaged: the size of its picture makes no sense"},
        {38, 2, 5, "is a JPEG 2000 of more than four channels, which is not read"},
        {40, 1, 31, "is a JPEG 2000 of samples of more than 31 bits, which is not read"},
        {41, 1, 0, "b.jp2: damaged: the size of its picture makes no sense"},
    };
    struct picture picture = random_picture(20, 10, 3, 8);
    struct bytes file = written(&picture);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes copy = {0};
        append(&copy, file.data, file.size);
        unsigned char *const segment = find(&copy, "\xff\x4f\xff\x51", 4) + 2;
        put_be(segment + cases[i].offset, cases[i].value, cases[i].bytes);
        assert_file_refused(&copy, cases[i].message);
        free(copy.data);
    }
    unsigned char *const segment = find(&file, "\xff\x4f\xff\x51", 4) + 2;
    put_be(segment + 6, 0xffffffff, 4);
    put_be(segment + 22, 0xffffffff, 4);
    assert_file_refused(&file, "4294967295x10");
    /* 65536 tiles and more */
    put_be(segment + 6, 257, 4);
    put_be(segment + 10, 257, 4);
    put_be(segment + 22, 1, 4);
    put_be(segment + 26, 1, 4);
    assert_file_refused(&file, "b.jp2: damaged: the size of its picture makes no sense");
    put_be(segment + 6, 255, 4);
    put_be(segment + 10, 255, 4);
    assert_file_refused(&file, "b.jp2: damaged: tiles are missing");
    free_picture(&picture);
    free(file.data);
}

/* Small code blocks and precincts, and many layers, count as memory before anything is decoded. */
static void test_memory_of_small_parts(void **state)
{
    struct picture picture = random_picture(200, 200, 1, 8);
    struct bytes file = written(&picture);
    unsigned char *const coding = find_marker(&file, 0x52);
    uint64_t claim[3];
    for (int i = 0; i < 3; i++) {
        struct gf_options options = plain_options();
        struct gf_input *input = NULL;
        struct gf_source *source = NULL;
        if (i == 1)
            coding[10] = coding[11] = 0; /* code blocks of 4x4 */
        if (i == 2)
            put_be(coding + 6, 65535, 2); /* layers */
        save(in_folder("b.jp2"), file.data, file.size);
        assert_int_equal(gf_input_open(in_folder("b.jp2"), false, &input, &failure), GF_OK);
        if (gf_source_open(input, &options, &source, &failure))
            fail_msg("%s", failure.text);
        claim[i] = source->memory.bytes;
        source->close(source);
        gf_input_close(input);
    }
    assert_true(claim[1] > claim[0] + 40000 * 25);
    assert_true(claim[2] > claim[1] + 65535 * 12);
    coding[9] = 33; /* levels */
    assert_file_refused(&file, "b.jp2: damaged: its markers make no sense");
    free_picture(&picture);
    free(file.data);
}

static void test_cmyk_is_refused(void **state)
{
    struct picture picture = random_picture(20, 10, 4, 8);
    struct bytes file = written(&picture);
    put_be(find(&file, "colr", 4) + 7, 12, 4);
    assert_file_refused(&file, "b.jp2: is a JPEG 2000 of CMYK, which is not read");
    free_picture(&picture);
    free(file.data);
}

/* Wherever the file ends, within its boxes or within its codestream. */
static void test_every_cut(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(20, 10, 3, 8), back;
    struct bytes file = written(&picture);
    for (size_t size = 12; size < file.size; size++) {
        save(in_folder("b.jp2"), file.data, size);
        if (decode(in_folder("b.jp2"), &options, &back) != GF_ERROR_INPUT)
            fail_msg("%zu of %zu bytes were read", size, file.size);
        assert_failure_says("b.jp2: damaged: ");
    }
    free_picture(&picture);
    free(file.data);
}

static void test_density(void **state)
{
    static const double densities[][2] = {{300 / 0.0254, 300 / 0.0254}, {5000, 2500}};
    for (int i = 0; i < 2; i++) {
        struct picture picture = random_picture(20, 10, 3, 8);
        picture.metadata.density_x = densities[i][0];
        picture.metadata.density_y = densities[i][1];
        struct bytes file = written(&picture);
        struct picture back = read_back(&file);
        assert_true(back.metadata.density_x - densities[i][0] < 1e-6 &&
                    densities[i][0] - back.metadata.density_x < 1e-6);
        assert_true(back.metadata.density_y - densities[i][1] < 1e-6 &&
                    densities[i][1] - back.metadata.density_y < 1e-6);
        free_picture(&back);
        free_picture(&picture);
        free(file.data);
    }
}

/* A source at a fraction of the size of b.jp2. */
static struct gf_source *opened(struct gf_input **input)
{
    static struct gf_options options;
    struct gf_source *source = NULL;
    options = plain_options();
    if (gf_input_open(in_folder("b.jp2"), false, input, &failure) ||
        gf_source_open(*input, &options, &source, &failure))
        fail_msg("%s", failure.text);
    return source;
}

/* Each half of the size is what a level of the wavelets has, of all kinds of pixels. */
static void test_reduced(void **state)
{
    for (int kind = 0; kind < 24; kind++) {
        const int reduction = 1 << (kind / 8 + 1), channels = kind % 4 + 1,
                  bits = kind & 4 ? 16 : 8;
        struct picture picture = smooth_picture(50, 31, channels, bits);
        struct bytes file = written(&picture);
        struct gf_input *input;
        save(in_folder("b.jp2"), file.data, file.size);
        struct gf_source *const source = opened(&input);
        assert_int_equal(source->most_reduction, 8);
        source->reduce(source, reduction);
        struct picture back = {.format = source->format};
        assert_int_equal(back.format.width, (50 + reduction - 1) / reduction);
        assert_int_equal(back.format.height, (31 + reduction - 1) / reduction);
        back.data = malloc(picture_bytes(back.format));
        if (read_rows_of(source, back.data))
            fail_msg("%s", failure.text);
        const size_t pixel = gf_row_bytes(back.format) / (size_t)back.format.width,
                     high = bits == 16; /* the high byte of a sample, on this machine */
        for (size_t y = 1; y + 1 < (size_t)back.format.height; y++)
            for (size_t at = pixel + high; at + pixel < gf_row_bytes(back.format); at += 1 + high) {
                const size_t x = at / pixel;
                const int is = back.data[y * gf_row_bytes(back.format) + at],
                          was = picture.data[y * (size_t)reduction * gf_row_bytes(picture.format) +
                                             x * (size_t)reduction * pixel + at % pixel];
                if (abs(is - was) > 4 * reduction)
                    fail_msg("1/%d, %zu,%zu: %d instead of %d", reduction, x, y, is, was);
            }
        source->close(source);
        gf_input_close(input);
        free_picture(&back);
        free_picture(&picture);
        free(file.data);
    }
}

/* What has fewer levels, indices of a palette, or begins elsewhere on the grid. */
static void test_not_reduced(void **state)
{
    struct picture picture = random_picture(20, 3, 1, 8);
    struct bytes file = written(&picture);
    for (int kind = 0; kind < 2; kind++) {
        struct gf_input *input;
        if (kind) {
            unsigned char *const size = find_marker(&file, 0x51);
            put_be(size + 6, 20, 4); /* the picture is the last column of its grid */
            put_be(size + 14, 19, 4);
        }
        save(in_folder("b.jp2"), file.data, file.size);
        struct gf_source *const source = opened(&input);
        assert_int_equal(source->most_reduction, kind ? 0 : 2);
        source->close(source);
        gf_input_close(input);
    }
    free_picture(&picture);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codestream_alone),
        cmocka_unit_test(test_palette),
        cmocka_unit_test(test_ycc),
        cmocka_unit_test(test_order_of_channels),
        cmocka_unit_test(test_boxes_of_unusual_size),
        cmocka_unit_test(test_hostile_sizes),
        cmocka_unit_test(test_memory_of_small_parts),
        cmocka_unit_test(test_cmyk_is_refused),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_not_reduced),
    };
    if (!has_jp2()) {
        puts("1..1\nok 1 # SKIP built without OpenJPEG");
        return 0;
    }
    return cmocka_run_group_tests_name("jp2", tests, make_folder, remove_folder);
}
