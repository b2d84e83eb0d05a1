/* JPEG 2000: what its boxes and markers say, and hostile ones. The files are the project's own,
 * changed here and there. */
#include "codec/codec_test.h"

#if __has_include(<opj_config.h>)
#include <opj_config.h>
#endif

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
        {38, 2, 5, "b.jp2: damaged: the size of its picture makes no sense"},
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

/* CMYK without a profile, of which 0 is no ink. */
static void test_cmyk(void **state)
{
    for (int bits = 8; bits <= 16; bits += 8) {
        struct picture picture = random_picture(20, 10, 4, bits);
        struct bytes file = written(&picture);
        put_be(find(&file, "colr", 4) + 7, 12, 4);
        memset(find(&file, "cdef", 4), 'x', 4);
        warnings = 0;
        struct picture back = read_back(&file);
        assert_int_equal(warnings, 1);
        assert_int_equal(back.format.channels, 3);
        for (size_t i = 0; bits == 8 && i < 200; i++)
            for (size_t c = 0; c < 3; c++)
                assert_int_equal(
                    back.data[3 * i + c],
                    ((255 - picture.data[4 * i + c]) * (255 - picture.data[4 * i + 3]) + 127) /
                        255);
        free_picture(&back);
        free_picture(&picture);
        free(file.data);
    }
}

/* L*a*b* with the standard's ranges, and with others: a* and b* from -128 to 127. The colours are
 * white, and sRGB's red by its published values of 54.29, 80.80 and 69.89. */
static void test_lab(void **state)
{
    static const unsigned char wanted[2][3] = {{255, 255, 255}, {255, 0, 0}},
                               standard[2][3] = {{255, 128, 96}, {138, 249, 185}},
                               other[2][3] = {{255, 128, 128}, {138, 209, 198}};
    for (int kind = 0; kind < 2; kind++) {
        struct picture picture = random_picture(2, 1, 3, 8);
        memcpy(picture.data, kind ? other : standard, 6);
        struct bytes file = written(&picture);
        unsigned char box[8 + 3 + 4 + 28] = "\0\0\0\x2b"
                                            "colr\1";
        static const uint32_t ranges[] = {100, 0, 255, 128, 255, 128, 0x443530};
        put_be(box + 11, 14, 4);
        for (size_t i = 0; i < 7; i++)
            put_be(box + 15 + 4 * i, ranges[i], 4);
        if (kind)
            add_box(&file, box, sizeof box, false);
        else
            put_be(find(&file, "colr", 4) + 7, 14, 4);
        struct picture back = read_back(&file);
        for (int i = 0; i < 6; i++)
            assert_true(abs(back.data[i] - wanted[i / 3][i % 3]) <= 4);
        free_picture(&back);
        free_picture(&picture);
        free(file.data);
    }
}

/* Reads a codestream whose pixels are all alike, with a number of warnings. */
static void assert_one_colour(const void *stream, size_t size, const unsigned char rgb[3],
                              int warnings_wanted)
{
    struct bytes file = {0};
    append(&file, stream, size);
    warnings = 0;
    struct picture back = read_back(&file);
    assert_int_equal(warnings, warnings_wanted);
    assert_int_equal(back.format.channels, 3);
    for (size_t i = 0; i < (size_t)back.format.width * (size_t)back.format.height; i++)
        assert_memory_equal(back.data + 3 * i, rgb, 3);
    free_picture(&back);
    free(file.data);
}

/* A codestream without boxes whose second and third component are subsampled: 60, 90, 200. */
static void test_subsampled_codestream(void **state)
{
    static const char stream[] =
        "\xff\x4f\xff\x51\0\x2f\0\0\0\0\0\4\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\4\0\0\0\0\0\0\0\0"
        "\0\3\7\1\1\7\2\2\7\2\2\xff\x52\0\x0c\0\0\0\1\0\0\4\4\0\1\xff\x5c\0\4\x40\x40"
        "\xff\x90\0\x0a\0\0\0\0\0\x29\0\1\xff\x93\xcf\xb4\x28\x11\x50\x49\x78\xbc\0\x30\x20\xa9\x0f"
        "\xc7\xd4\x08\x08\x8f\x9e\x9d\xcf\xb4\x10\x01\xd7\x89\x43\xff\xd9";
    assert_one_colour(stream, sizeof stream - 1, (const unsigned char[]){161, 22, 0}, 0);
}

/* Of five components the first three are taken. */
static void test_five_components(void **state)
{
    static const char stream[] =
        "\xff\x4f\xff\x51\0\x35\0\0\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\0"
        "\0\5\7\1\1\7\1\1\7\1\1\7\1\1\7\1\1\xff\x52\0\x0c\0\0\0\1\1\0\4\4\0\1\xff\x5c\0\4\x40\x40"
        "\xff\x90\0\x0a\0\0\0\0\0\x32\0\1\xff\x93\xcf\xb4\x14\x08\x84\xde\x7e\x1f\xc1\xf2\x03\x01"
        "\xd4\x39\xc1\xf2\x03\x08\x8c\x4d\xcf\xb4\x14\x08\x8c\xe4\x50\x7f\xcf\xb4\x14\x08\x8f\x9e"
        "\xdb\x1f\xff\xd9";
    assert_one_colour(stream, sizeof stream - 1, (const unsigned char[]){10, 20, 30}, 1);
}

static void assert_read_as(const struct bytes *file, const struct picture *picture,
                           int warnings_wanted)
{
    warnings = 0;
    struct picture back = read_back(file);
    assert_same_pixels(picture, &back);
    assert_int_equal(warnings, warnings_wanted);
    free_picture(&back);
}

/* Writes the tile of a file as two parts. The first ends `first` bytes behind the marker SOD, and
 * each says that the tile has `declared` parts. */
static struct bytes in_two_parts(const struct bytes *file, size_t first, int declared)
{
    enum { HEAD = 14 };
    unsigned char *const part = find_marker(file, 0x90);
    const size_t begin = (size_t)(part - file->data), middle = begin + HEAD + first,
                 size = get_be32(part + 6);
    struct bytes made = {0};
    append(&made, file->data, middle);
    append(&made, part, HEAD);
    append(&made, file->data + middle, file->size - middle);
    put_be(made.data + begin + 6, HEAD + first, 4);
    put_be(made.data + middle + 6, size - first, 4);
    made.data[middle + 10] = 1;
    made.data[begin + 11] = made.data[middle + 11] = (unsigned char)declared;
    return made;
}

/* What OpenJPEG warns of, although all code blocks are decoded. */
static void test_harmless(void **state)
{
    struct picture gray = random_picture(20, 10, 1, 8);
    struct bytes file = written(&gray);
    unsigned char *const coding = find_marker(&file, 0x52);
    coding[4] |= 2; /* SOP markers are allowed, and there are none */
    coding[8] = 1;  /* a transform of colours that there are not */
    assert_read_as(&file, &gray, 0);
    struct bytes parts = {0};
#if OPJ_VERSION_MAJOR == 2 && OPJ_VERSION_MINOR == 5 && OPJ_VERSION_BUILD == 0
    parts = in_two_parts(&file, 30, 1); /* one part fewer than there are; 2.5.3 does not read it */
    assert_read_as(&parts, &gray, 0);
    free(parts.data);
#endif
    parts = in_two_parts(&file, 30, 3);
    assert_file_refused(&parts, "b.jp2: damaged: tiles are missing");
    free(parts.data);
    /* A marker without a segment. */
    struct bytes made = {0};
    const size_t begin = (size_t)(find_marker(&file, 0x90) - file.data);
    append(&made, file.data, begin);
    append(&made, "\xff\x30", 2);
    append(&made, file.data + begin, file.size - begin);
    assert_read_as(&made, &gray, 0);
    free(made.data);
    /* A marker SOP that is at no packet's beginning. */
    made = (struct bytes){0};
    append(&made, file.data, file.size - 2);
    append(&made, "\xff\x91\0\4\0\0\xff\xd9", 8);
    put_be(find_marker(&made, 0x90) + 6, get_be32(find_marker(&file, 0x90) + 6) + 6, 4);
    assert_file_refused(&made, "b.jp2: damaged: Expected SOP marker");
    free(made.data);
    free_picture(&gray);
    free(file.data);
}

/* The decoder of a code block with predictable termination reads ahead of its last byte. */
static void test_predictable_termination(void **state)
{
    static const char stream[] =
        "\xff\x4f\xff\x51\0\x29\0\0\0\0\0\4\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\4\0\0\0\0\0\0\0\0"
        "\0\1\7\1\1\xff\x52\0\x0c\0\0\0\1\0\0\4\4\x10\1\xff\x5c\0\4\x40\x40"
        "\xff\x90\0\x0a\0\0\0\0\0\x23\0\1\xff\x93\xcf\xb4\x48\x11\x78\x94\xcf\x2b\xbf\xc8\x49\xf1"
        "\x81\xd6\x56\x1b\xc4\xeb\xd7\xd8\xd5\xff\xd9";
    struct bytes file = {0};
    append(&file, stream, sizeof stream - 1);
    warnings = 0;
    struct picture back = read_back(&file);
    assert_memory_equal(back.data,
                        "\x09\xe9\x5c\x1d\xba\x60\x61\x8c\xfe\xc6\xc4\x8c\xcd\x40\x9b\xcd", 16);
    assert_int_equal(warnings, 0);
    file.data[file.size - 20] ^= 0x40;
    assert_file_refused(&file, "b.jp2: damaged: PTERM check failure");
    free_picture(&back);
    free(file.data);
}

/* Only one of two tiles has samples, since there is one in two columns; the other has no part. */
static void test_tile_without_samples(void **state)
{
    struct picture gray = random_picture(10, 10, 1, 8), back;
    struct bytes file = written(&gray);
    unsigned char *const size = find_marker(&file, 0x51);
    put_be(size + 6, 20, 4);
    put_be(size + 22, 19, 4);
    size[41] = 2;
    back = read_back(&file);
    assert_int_equal(back.format.width, 20);
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(back.data[i], gray.data[i / 2]);
    free_picture(&back);
    put_be(size + 22, 18, 4);
    assert_file_refused(&file, "b.jp2: damaged: tiles are missing");
    free_picture(&gray);
    free(file.data);
}

/* Wherever the file ends, within its boxes or within its codestream. Without the end marker alone
 * the picture is whole. */
static void test_every_cut(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(20, 10, 3, 8), back;
    struct bytes file = written(&picture);
    const size_t data = (size_t)(find_marker(&file, 0x93) + 2 - file.data);
    for (size_t size = 12; size < file.size; size++) {
        const bool is_whole = size >= file.size - 2;
        save(in_folder("b.jp2"), file.data, size);
        options.allow_truncated = false;
        warnings = 0;
        if (decode(in_folder("b.jp2"), &options, &back) != (is_whole ? GF_OK : GF_ERROR_INPUT))
            fail_msg("%zu of %zu bytes: %s", size, file.size, failure.text);
        if (is_whole) {
            assert_same_pixels(&picture, &back);
            assert_int_equal(warnings, 1);
            free_picture(&back);
        } else {
            assert_failure_says("b.jp2: damaged: ");
        }
        options.allow_truncated = true;
        if (decode(in_folder("b.jp2"), &options, &back) != (size > data ? GF_OK : GF_ERROR_INPUT))
            fail_msg("%zu of %zu bytes, allowed: %s", size, file.size, failure.text);
        if (size > data)
            free_picture(&back);
    }
    /* The last part may go to the end, behind whose marker there may be more. */
    put_be(find_marker(&file, 0x90) + 6, 0, 4);
    assert_read_as(&file, &picture, 0);
    for (size_t size = data; size < file.size - 2; size++) {
        struct bytes made = {0};
        append(&made, file.data, size);
        assert_file_refused(&made, "b.jp2: damaged: its end is missing");
        free(made.data);
    }
    append(&file, "\0\0\0", 3);
    assert_read_as(&file, &picture, 0);
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
        assert_int_equal(source->levels, 5);
        assert_int_equal(source->level[kind / 8 + 1].divisor, reduction);
        assert_int_equal(gf_source_reduce(source, reduction, &failure), GF_OK);
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
        assert_int_equal(source->levels, kind ? 0 : 2);
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
        cmocka_unit_test(test_cmyk),
        cmocka_unit_test(test_lab),
        cmocka_unit_test(test_subsampled_codestream),
        cmocka_unit_test(test_five_components),
        cmocka_unit_test(test_harmless),
        cmocka_unit_test(test_predictable_termination),
        cmocka_unit_test(test_tile_without_samples),
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
