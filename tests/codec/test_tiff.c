/* TIFFs made here byte by byte: what the tags say is what the pixels become. */
#include "codec/codec_test.h"

#include "codec/formats.h"
#include "codec/tiff_files.h"

struct kind {
    unsigned photometric, bits, samples, extra; /* extra: what the last sample is */
    bool separate;
    const unsigned *palette; /* of 3 << bits numbers */
    unsigned format;         /* of the samples; 0: not said */
};

/* A picture of `width` x 2 in one strip (or one a plane); the data is that of the strips, 16 bits
 * in the machine's order. */
static void write_tiff(const struct kind *kind, bool big_endian, bool big_tiff, int width,
                       const void *data, size_t size)
{
    struct tiff tiff = {.big_endian = big_endian, .big_tiff = big_tiff};
    unsigned offsets[4], sizes[4], bits[4];
    const unsigned strips = kind->separate ? kind->samples : 1;
    begin(&tiff);
    for (unsigned i = 0; i < strips; i++) {
        offsets[i] = (unsigned)(tiff.bytes.size + i * size / strips);
        sizes[i] = (unsigned)size / strips;
    }
    for (size_t i = 0; i < size; i += kind->bits == 16 ? 2 : 1)
        put_more(&tiff, kind->bits == 16 ? 2 : 1,
                 kind->bits == 16 ? ((const uint16_t *)data)[i / 2] : ((const uint8_t *)data)[i]);
    for (int i = 0; i < 4; i++)
        bits[i] = kind->bits;
    tag1(&tiff, 256, (unsigned)width);
    tag1(&tiff, 257, 2);
    tag(&tiff, 258, SHORT, (int)kind->samples, bits);
    tag(&tiff, 259, SHORT, 1, (unsigned[]){1});
    tag(&tiff, 262, SHORT, 1, &kind->photometric);
    tag(&tiff, 273, LONG, (int)strips, offsets);
    tag(&tiff, 274, SHORT, 1, (unsigned[]){6});
    tag(&tiff, 277, SHORT, 1, &kind->samples);
    tag1(&tiff, 278, 2);
    tag(&tiff, 279, LONG, (int)strips, sizes);
    tag(&tiff, 284, SHORT, 1, (unsigned[]){kind->separate ? 2 : 1});
    if (kind->palette)
        tag(&tiff, 320, SHORT, 3 << kind->bits, kind->palette);
    if (kind->extra)
        tag(&tiff, 338, SHORT, 1, &kind->extra);
    if (kind->format)
        tag(&tiff, 339, SHORT, 1, &kind->format);
    add_page(&tiff);
    write_file(&tiff);
}

/* The pixels are the wanted ones in both byte orders, in TIFF and in BigTIFF. */
static void check(const struct kind *kind, int width, const void *data, size_t size, int channels,
                  const void *wanted)
{
    for (int variant = 0; variant < 4; variant++) {
        const struct gf_options options = plain_options();
        struct picture back;
        write_tiff(kind, variant & 1, variant & 2, width, data, size);
        if (decode(in_folder("a.tif"), &options, &back))
            fail_msg("%s", failure.text);
        const struct gf_format format = {width, 2, channels, kind->bits == 16 ? 16 : 8,
                                         GF_SAMPLES_INTEGER};
        assert_memory_equal(&back.format, &format, sizeof format);
        assert_memory_equal(back.data, wanted, picture_bytes(format));
        assert_int_equal(back.metadata.orientation, 6);
        free_picture(&back);
    }
}

static void test_gray(void **state)
{
    static const uint16_t wide[] = {0, 1, 65535, 256, 40000, 7},
                          turned[] = {65535, 65534, 0, 65279, 25535, 65528};
    check(&(struct kind){1, 8, 1, 0, false, NULL, 0}, 3, "abcdef", 6, 1, "abcdef");
    check(&(struct kind){0, 8, 1, 0, false, NULL, 0}, 3, "\0\1\2\375\376\377", 6, 1,
          "\377\376\375\2\1\0");
    check(&(struct kind){1, 16, 1, 0, false, NULL, 0}, 3, wide, sizeof wide, 1, wide);
    check(&(struct kind){0, 16, 1, 0, false, NULL, 0}, 3, wide, sizeof wide, 1, turned);
    check(&(struct kind){1, 1, 1, 0, false, NULL, 0}, 3, "\x40\xa0", 2, 1, "\0\377\0\377\0\377");
    check(&(struct kind){0, 1, 1, 0, false, NULL, 0}, 3, "\x40\xa0", 2, 1, "\377\0\377\0\377\0");
    check(&(struct kind){1, 2, 1, 0, false, NULL, 0}, 3, "\x1b\xe4", 2, 1,
          "\0\125\252\377\252\125");
    check(&(struct kind){1, 4, 1, 0, false, NULL, 0}, 3, "\x0f\x10\x23\x40", 4, 1,
          "\0\377\21\42\63\104");
}

static void test_colour(void **state)
{
    static const uint16_t wide[] = {1, 2, 3, 400, 500, 600, 7, 8, 9, 65535, 0, 30000},
                          planes[] = {1, 400, 7, 65535, 2, 500, 8, 0, 3, 600, 9, 30000};
    check(&(struct kind){2, 8, 3, 0, false, NULL, 0}, 2, "abcdefghijkl", 12, 3, "abcdefghijkl");
    check(&(struct kind){2, 8, 3, 0, true, NULL, 0}, 2, "adgjbehkcfil", 12, 3, "abcdefghijkl");
    check(&(struct kind){2, 16, 3, 0, false, NULL, 0}, 2, wide, sizeof wide, 3, wide);
    check(&(struct kind){2, 16, 3, 0, true, NULL, 0}, 2, planes, sizeof planes, 3, wide);
}

static void test_palette(void **state)
{
    static const unsigned palette[] = {0, 65535, 257, 2570, 1, 65535, 0, 0, 65535, 65535, 65535, 0},
                          narrow[] = {0, 255, 1, 10, 1, 255, 0, 0, 255, 255, 255, 0};
    check(&(struct kind){3, 2, 1, 0, false, palette, 0}, 2, "\x10\xb0", 2, 3,
          "\0\0\377\377\377\377\1\0\377\12\0\0");
    check(&(struct kind){3, 2, 1, 0, false, narrow, 0}, 2, "\x10\xb0", 2, 3,
          "\0\1\377\377\377\377\1\0\377\12\0\0");
}

static void test_alpha(void **state)
{
    static const uint16_t wide[] = {100, 200, 0, 0, 32768, 65535, 5, 2},
                          undone[] = {32768, 200, 0, 0, 32768, 65535, 65535, 2};
    check(&(struct kind){1, 8, 2, 2, false, NULL, 0}, 2, "abcdefgh", 8, 2, "abcdefgh");
    check(&(struct kind){2, 8, 4, 2, false, NULL, 0}, 1, "abcdefgh", 8, 4, "abcdefgh");
    check(&(struct kind){1, 8, 2, 1, false, NULL, 0}, 2, "\100\200\0\0\12\377\17\12", 8, 2,
          "\200\200\0\0\12\377\377\12");
    check(&(struct kind){1, 16, 2, 1, false, NULL, 0}, 2, wide, sizeof wide, 2, undone);
}

/* A sample beyond the colours that is not said to be alpha is left out. */
static void test_unknown_samples(void **state)
{
    const struct gf_options options = plain_options();
    struct picture back;
    write_tiff(&(struct kind){2, 8, 4, 0, false, NULL, 0}, false, false, 1, "abcdefgh", 8);
    assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
    assert_int_equal(back.format.channels, 3);
    assert_memory_equal(back.data, "abcefg", 6);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "neither colour nor alpha: left out"));
    free_picture(&back);
}

/* The tags of a gray picture of 2x1 pixels of that value. */
static void tag_gray(struct tiff *tiff, unsigned kind, int value)
{
    const unsigned at = (unsigned)tiff->bytes.size;
    put_more(tiff, 1, (unsigned)value);
    put_more(tiff, 1, (unsigned)value);
    tag1(tiff, 254, kind);
    tag1(tiff, 256, 2);
    tag1(tiff, 257, 1);
    tag1(tiff, 258, 8);
    tag1(tiff, 262, 1);
    tag1(tiff, 273, at);
    tag1(tiff, 279, 2);
}

static void check_first(const char *name, int value, const char *warning)
{
    const struct gf_options options = plain_options();
    struct picture back;
    if (decode(in_folder(name), &options, &back))
        fail_msg("%s", failure.text);
    assert_int_equal(back.data[0], value);
    free_picture(&back);
    if (!strstr(last_warning, warning))
        fail_msg("\"%s\" does not say \"%s\"", last_warning, warning);
}

/* A smaller copy of a picture is not taken for it, wherever it stands. */
static void test_reduced(void **state)
{
    for (int big = 0; big < 2; big++) {
        struct tiff tiff = {.big_tiff = big};
        begin(&tiff);
        for (unsigned kind = 0; kind < 3; kind++) {
            tag_gray(&tiff, kind > 0, 'a' + (int)kind);
            add_page(&tiff);
        }
        write_file(&tiff);
        check_first("a.tif", 'a', "holds 3 pictures: the first is taken");
        check_first("a.tif[1]", 'b', "");
        check_first("a.tif[reduced]", 'b', "");
        check_first("a.tif[page]", 'a', "");
        const struct gf_options options = plain_options();
        assert_refused(in_folder("a.tif[mask]"), &options, "holds no picture of the kind \"mask\"");
        assert_int_equal(warnings, 0);

        tiff = (struct tiff){.big_tiff = big};
        begin(&tiff);
        for (int i = 0; i < 3; i++) {
            tag_gray(&tiff, i < 2, 'a' + i);
            add_page(&tiff);
        }
        write_file(&tiff);
        check_first("a.tif", 'c', "its first picture is of reduced resolution: ");
        assert_int_equal(warnings, 1);
        check_first("a.tif[0]", 'a', "");

        tiff = (struct tiff){.big_tiff = big};
        begin(&tiff);
        tag_gray(&tiff, 0, 'b');
        const unsigned below = (unsigned)add_directory(&tiff);
        tag_gray(&tiff, 1, 'a');
        tag1(&tiff, 330, below);
        add_page(&tiff);
        write_file(&tiff);
        check_first("a.tif", 'b', "its first picture is of reduced resolution: ");
    }
    struct tiff tiff = {.big_endian = false};
    begin(&tiff);
    tag_gray(&tiff, 0, 'a');
    add_page(&tiff);
    tiff.bytes.size -= 4; /* the link to the next page */
    write_file(&tiff);
    check_first("a.tif", 'a', "damaged behind its first picture");
    tiff = (struct tiff){.big_endian = true};
    begin(&tiff);
    tag_gray(&tiff, 1, 'a');
    add_page(&tiff);
    write_file(&tiff);
    check_first("a.tif", 'a', "the picture says that it is of reduced resolution");
}

/* libtiff passes over an orientation of two numbers. */
static void test_orientation(void **state)
{
    const struct gf_options options = plain_options();
    struct picture back;
    for (int count = 1; count <= 3; count++) {
        struct tiff tiff = {.big_endian = count == 3};
        begin(&tiff);
        tag_gray(&tiff, 0, 'a');
        tag(&tiff, 274, SHORT, count, (const unsigned[]){6, 42, 7});
        add_page(&tiff);
        write_file(&tiff);
        assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
        assert_int_equal(back.metadata.orientation, 6);
        free_picture(&back);
    }
}

/* A comment for which the description of EXIF leaves no room is named. */
static void test_description(void **state)
{
    static const char exif[] = "MM\0\x2a\0\0\0\x08\0\1\1\x0e\0\2\0\0\0\4Abc\0\0\0\0\0";
    static const char *const comments[] = {"hello", "Abc"};
    for (int i = 0; i < 2; i++) {
        const struct gf_options options = plain_options();
        struct picture picture = smooth_picture(4, 4, 3, 8);
        bool left_out = false;
        assert_true(gf_metadata_add_exif(&picture.metadata, exif, sizeof exif - 1));
        assert_true(gf_texts_add_comment(&picture.metadata.texts, comments[i], strlen(comments[i]),
                                         &left_out));
        warnings = 0;
        assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_OK);
        assert_int_equal(warnings, !i);
        assert_true(i || strstr(last_warning, "1 more texts or comments are left out"));
        free_picture(&picture);
    }
}

/* ---- EXIF in the file's own directories ---- */

static void tag_bytes(struct tiff *tiff, unsigned number, int type, const char *bytes, int count)
{
    unsigned values[64];
    for (int i = 0; i < count; i++)
        values[i] = (unsigned char)bytes[i];
    tag(tiff, number, type, count, values);
}

enum { NOTE_SIZE = 32 };

/* A directory with tags that EXIF and TIFF have in common, and with a maker's note. */
static void tag_exif(struct tiff *tiff, const char *note)
{
    tag_bytes(tiff, GF_IFD_NOTE, UNDEFINED, note, NOTE_SIZE);
    const unsigned exif = (unsigned)add_directory(tiff);
    tag_text(tiff, GF_IFD_DOCUMENT, "a document");
    tag_text(tiff, GF_IFD_COMPUTER, "a computer");
    tag(tiff, GF_IFD_RATING, SHORT, 1, (unsigned[]){3});
    tag1(tiff, GF_IFD_EXIF, exif);
    tag_bytes(tiff, GF_IFD_XP_TITLE + 3, BYTE, "k\0e\0y\0\0", 8);
}

/* Returns the offset of the note, which must be where its entry says; 0 if there is none. */
static size_t note_in(const struct gf_blob *exif, const char *note)
{
    uint64_t first;
    struct gf_blob bytes;
    const struct gf_ifd_reader reader = gf_exif_reader(exif, &first);
    assert_true(
        gf_ifd_bytes(&reader, gf_ifd_link(&reader, first, GF_IFD_EXIF), GF_IFD_NOTE, 0, &bytes));
    const unsigned char *const at = memmem(exif->data, exif->size, note, NOTE_SIZE);
    assert_true(!bytes.size == !at);
    assert_true(!at || !memcmp(bytes.data, note, NOTE_SIZE));
    free(bytes.data);
    return at ? (size_t)(at - exif->data) : 0;
}

static void assert_common_tags(const struct gf_blob *exif)
{
    uint64_t first;
    struct gf_blob keys;
    const struct gf_ifd_reader reader = gf_exif_reader(exif, &first);
    char *const document = gf_ifd_text(&reader, first, GF_IFD_DOCUMENT), *const computer =
                                                                             gf_ifd_text(
                                                                                 &reader, first,
                                                                                 GF_IFD_COMPUTER);
    assert_string_equal(document, "a document");
    assert_string_equal(computer, "a computer");
    assert_int_equal(gf_ifd_link(&reader, first, GF_IFD_RATING), 3);
    assert_true(gf_ifd_bytes(&reader, first, GF_IFD_XP_TITLE + 3, 0, &keys));
    assert_int_equal(keys.size, 8);
    assert_memory_equal(keys.data, "k\0e\0y\0\0", 8);
    free(document);
    free(computer);
    free(keys.data);
}

/* Offsets in a maker's note count from the beginning of EXIF: it stays where it was, in the same
 * byte order, from EXIF to TIFF, to TIFF and to EXIF. */
static void test_the_makers_note_stays(void **state)
{
    static const char note[NOTE_SIZE] = "any maker's note";
    for (int big = 0; big <= 1; big++) {
        const struct gf_options options = plain_options();
        struct tiff tiff = {.big_endian = big};
        struct picture picture = smooth_picture(4, 4, 3, 16), back, again;
        begin(&tiff);
        append(&tiff.bytes, "......", 6);
        tag_exif(&tiff, note);
        add_page(&tiff);
        assert_true(gf_metadata_add_exif(&picture.metadata, tiff.bytes.data, tiff.bytes.size));
        warnings = 0;
        assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
        assert_int_equal(encode(in_folder("b.tif"), &back, &options), GF_OK);
        assert_int_equal(decode(in_folder("b.tif"), &options, &again), GF_OK);
        assert_int_equal(warnings, 0);
        assert_same_pixels(&picture, &again);
        assert_int_equal(again.metadata.exif.data[0], big ? 'M' : 'I');
        assert_int_equal(note_in(&picture.metadata.exif, note), 14);
        assert_int_equal(note_in(&again.metadata.exif, note), 14);
        assert_common_tags(&again.metadata.exif);
        free(tiff.bytes.data);
        free_picture(&picture);
        free_picture(&back);
        free_picture(&again);
    }
}

/* Where that is not possible only a note that can be moved is kept. Tags that have no place in
 * EXIF are named. */
static void test_what_cannot_stay_is_named(void **state)
{
    static const char notes[][NOTE_SIZE] = {"any maker's note", "Nikon\0\2\x10 and more"};
    for (int moves = 0; moves <= 1; moves++)
        for (int strip = 0; strip <= 1; strip++) {
            struct gf_options options = plain_options();
            struct tiff tiff = {0};
            struct picture back;
            options.strip = strip;
            begin(&tiff);
            for (int i = 0; i < 1000; i++)
                append(&tiff.bytes, (char[64]){0}, 64);
            tag_exif(&tiff, notes[moves]);
            tag_gray(&tiff, 0, 'a');
            if (moves)
                tag1(&tiff, 65000, 1);
            add_page(&tiff);
            write_file(&tiff);
            warnings = 0;
            assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
            assert_int_equal(warnings, !strip);
            if (!strip)
                assert_non_null(strstr(last_warning, moves
                                                         ? "a.tif: tags are left out: Tag 65000"
                                                         : "a.tif: the maker's note is left out"));
            assert_int_equal(note_in(&back.metadata.exif, notes[moves]) > 0, moves);
            assert_true(back.metadata.exif.size < 400);
            assert_common_tags(&back.metadata.exif);
            free_picture(&back);
        }
}

/* Many pages, all of them copies: the time is not the square of their number. */
static void test_many_reduced(void **state)
{
    enum { PAGES = 4000 };
    struct tiff tiff = {0};
    begin(&tiff);
    for (int i = 0; i < PAGES; i++) {
        tag_gray(&tiff, 1, 'a');
        add_page(&tiff);
    }
    write_file(&tiff);
    const clock_t start = clock();
    check_first("a.tif", 'a', "holds 4000 pictures: the first is taken");
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
}

/* All of many pages, one after another: the time is not the square of their number. */
static void test_many_pages(void **state)
{
    enum { PAGES = 3000 };
    struct tiff tiff = {.big_endian = true, .big_tiff = true};
    const struct gf_options plain = plain_options(), options = in_cells(&plain);
    struct gf_input *input;
    struct gf_source *source;
    bool found = true;
    begin(&tiff);
    for (int i = 0; i < PAGES; i++) {
        tag_gray(&tiff, 0, i % 251);
        add_page(&tiff);
    }
    write_file(&tiff);
    const clock_t start = clock();
    assert_int_equal(gf_input_open(in_folder("a.tif[all]"), false, &input, &failure), GF_OK);
    assert_int_equal(gf_source_open(input, &options, &source, &failure), GF_OK);
    for (int i = 0; i < PAGES; i++) {
        unsigned char row[2];
        assert_true(found);
        assert_int_equal(source->read(source, 1, row, sizeof row, &failure), GF_OK);
        assert_int_equal(row[0], i % 251);
        assert_int_equal(gf_source_next(source, &found, &failure), GF_OK);
    }
    assert_false(found);
    source->close(source);
    gf_input_close(input);
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
}

/* A picture is read although those behind it cannot be. */
static void test_damage_behind(void **state)
{
    struct tiff tiff = {0};
    begin(&tiff);
    tag_gray(&tiff, 0, 'a');
    add_page(&tiff);
    put(&tiff, tiff.bytes.data + tiff.link, 4, 100000);
    write_file(&tiff);
    check_first("a.tif", 'a', "a.tif: damaged behind its first picture: ");
}

/* Whoever forgets the photometric interpretation must not lose a sample by it. */
static void test_no_photometric(void **state)
{
    static const char *const refusals[] = {
        [2] = "a TIFF that does not say what its 2 samples a pixel are, which is not read",
        [4] = "a TIFF that does not say what its 4 samples a pixel are, which is not read",
        [5] = NULL, /* the set of inks is CMYK */
        [6] = NULL};
    for (unsigned kind = 1; kind <= 6; kind++) {
        const unsigned samples = kind < 4 ? kind : 4;
        const struct gf_options options = plain_options();
        struct tiff tiff = {0};
        struct picture back;
        begin(&tiff);
        const unsigned at = (unsigned)tiff.bytes.size;
        append(&tiff.bytes, "abcd", 4);
        tag1(&tiff, 256, 1);
        tag1(&tiff, 257, 1);
        tag(&tiff, 258, SHORT, (int)samples, (unsigned[]){8, 8, 8, 8});
        tag1(&tiff, 273, at);
        tag1(&tiff, 277, samples);
        tag1(&tiff, 279, samples);
        if (kind == 5)
            tag1(&tiff, 332, 1);
        if (kind == 6)
            tag1(&tiff, 338, 2); /* alpha */
        add_page(&tiff);
        write_file(&tiff);
        if (refusals[kind]) {
            assert_refused(in_folder("a.tif"), &options, refusals[kind]);
            continue;
        }
        assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
        assert_int_equal(back.format.channels, kind == 5 ? 3 : samples);
        if (kind != 5)
            assert_memory_equal(back.data, "abcd", samples);
        free_picture(&back);
    }
}

static void refuse(const struct kind *kind, const char *why)
{
    const struct gf_options options = plain_options();
    write_tiff(kind, false, false, 1, "abcdefgh", 8);
    assert_refused(in_folder("a.tif"), &options, why);
}

static void test_refusals(void **state)
{
    refuse(&(struct kind){5, 8, 3, 0, false, NULL, 0}, "a TIFF of 3 inks, which is not");
    refuse(&(struct kind){10, 8, 3, 0, false, NULL, 0},
           "a TIFF of ITU L*a*b* colours, which is not");
    refuse(&(struct kind){8, 12, 3, 0, false, NULL, 0},
           "a TIFF of L*a*b* samples of 12 bits, which is not");
    refuse(&(struct kind){.photometric = 1, .bits = 8, .samples = 1, .format = 3},
           "a TIFF of floating-point samples of 8 bits, which is not read");
    refuse(&(struct kind){.photometric = 1, .bits = 8, .samples = 1, .format = 5},
           "a TIFF of complex or unknown numbers, which is not read");
}

/* What libtiff had to say of something else before does not explain a damaged row. */
static void test_damaged_row(void **state)
{
    const struct gf_options options = plain_options();
    struct tiff tiff = {0};
    begin(&tiff);
    tag_gray(&tiff, 0, 'a');
    tag1(&tiff, 259, 8); /* Deflate, which those bytes are not */
    add_page(&tiff);
    put(&tiff, tiff.bytes.data + tiff.link, 4, 100000);
    write_file(&tiff);
    assert_refused(in_folder("a.tif"), &options, "a.tif: damaged at row 1 of 1: ");
    assert_non_null(strstr(last_warning, "directory"));
    assert_null(strstr(failure.text, "directory"));
}

/* What is written with each compression comes back, in bands of any size. */
static void test_compressions(void **state)
{
    static const enum gf_tiff_compression compressions[] = {GF_TIFF_DEFLATE, GF_TIFF_LZW,
                                                            GF_TIFF_NONE, GF_TIFF_ZSTD};
    for (int kind = 0; kind < 32; kind++) {
        struct gf_options options = plain_options();
        struct picture picture = random_picture(300, 700, kind % 4 + 1, kind & 4 ? 16 : 8), back;
        options.tiff_compression = compressions[kind / 8];
        assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_OK);
        if (decode(in_folder("a.tif"), &options, &back))
            fail_msg("%s", failure.text);
        assert_same_pixels(&picture, &back);
        free_picture(&back);
        free_picture(&picture);
    }
    struct gf_options options = plain_options();
    struct picture picture = random_picture(20, 10, 4, 8);
    options.tiff_compression = GF_TIFF_JPEG;
    assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("JPEG in TIFF has 8 bits and no alpha");
    free_picture(&picture);
}

/* Checks what is written with a depth. */
static void check_depth(int bits, int depth, enum gf_tiff_compression compression)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(301, 200, 1, bits), back;
    options.depth = depth;
    options.tiff_compression = compression;
    if (encode(in_folder("a.tif"), &picture, &options) ||
        decode(in_folder("a.tif"), &options, &back))
        fail_msg("%s", failure.text);
    const struct gf_format format = {301, 200, 1, depth == 16 ? 16 : 8, GF_SAMPLES_INTEGER};
    assert_memory_equal(&back.format, &format, sizeof format);
    for (int i = 0; i < 301 * 200; i++) {
        const uint16_t *const deep = (const uint16_t *)(const void *)picture.data,
                              *const read = (const uint16_t *)(const void *)back.data;
        const double value = bits == 16 ? deep[i] / 65535. : picture.data[i] / 255.,
                     got = depth == 16 ? read[i] : back.data[i];
        const double wanted = depth == 1    ? (value < 0.5 ? 0 : 255)
                              : depth == 16 ? value * 65535
                                            : (int)(value * 255 + 0.5);
        assert_true(got - wanted < 0.001 && wanted - got < 0.001);
    }
    free_picture(&picture);
    free_picture(&back);
}

static void test_depths(void **state)
{
    for (int bits = 8; bits <= 16; bits += 8) {
        check_depth(bits, 1, GF_TIFF_G4);
        check_depth(bits, 1, GF_TIFF_DEFLATE);
        check_depth(bits, 8, GF_TIFF_DEFLATE);
        check_depth(bits, 16, GF_TIFF_ZSTD);
    }
    struct gf_options options = plain_options();
    struct picture picture = random_picture(20, 10, 3, 8);
    options.tiff_compression = GF_TIFF_G4;
    assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("a.tif: G4 is for 1 bit (options.depth)");
    options.depth = 1;
    assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("a.tif: a TIFF of 1 bit is gray without alpha");
    free_picture(&picture);
}

/* IPTC under a tag of its own, whose type is a matter of opinion. Numbers are in the order of the
 * machine that wrote the records into them, whatever the file's is. */
static void test_iptc_alone(void **state)
{
    static const char records[] = "\x1c\2\x19\0\7apples\0"; /* 12 bytes */
    static const int types[] = {BYTE, UNDEFINED, LONG};
    for (int i = 0; i < 12; i++) {
        struct tiff tiff = {.big_endian = i & 1, .big_tiff = i & 2};
        const int type = types[i / 4], count = type == LONG ? 3 : 12;
        const struct gf_options options = plain_options();
        unsigned values[12];
        struct picture picture;
        for (int v = 0; v < count; v++)
            values[v] = type != LONG ? (unsigned char)records[v]
                                     : (unsigned char)records[4 * v] |
                                           (unsigned char)records[4 * v + 1] << 8 |
                                           (unsigned char)records[4 * v + 2] << 16 |
                                           (unsigned)(unsigned char)records[4 * v + 3] << 24;
        begin(&tiff);
        put_more(&tiff, 2, 0);
        tag1(&tiff, 256, 1);
        tag1(&tiff, 257, 1);
        tag(&tiff, 258, SHORT, 1, (unsigned[]){8});
        tag(&tiff, 262, SHORT, 1, (unsigned[]){1});
        tag1(&tiff, 273, tiff.big_tiff ? 16 : 8);
        tag1(&tiff, 279, 1);
        tag(&tiff, 33723, type, count, values);
        add_page(&tiff);
        write_file(&tiff);
        if (decode(in_folder("a.tif"), &options, &picture))
            fail_msg("%s", failure.text);
        assert_int_equal(warnings, 0);
        assert_int_equal(picture.metadata.iptc.size, 24);
        assert_memory_equal(picture.metadata.iptc.data + 12, records, 12);
        free_picture(&picture);
    }
}

/* A profile or XMP that the file does not have as a whole is named. */
static void test_cut_metadata(void **state)
{
    static const struct {
        unsigned tag;
        const char *warning;
    } blocks[] = {{34675, "a.tif: its ICC profile is damaged: left out"},
                  {700, "a.tif: its XMP is damaged: left out"}};
    enum { WHOLE, BEHIND, LONGER, VARIANTS };
    for (int i = 0; i < 2 * 4 * VARIANTS; i++) {
        const int block = i % 2, variant = i / 8;
        struct tiff tiff = {.big_endian = i & 2, .big_tiff = i & 4};
        const struct gf_options options = plain_options();
        const int word = tiff.big_tiff ? 8 : 4;
        unsigned values[40] = {0};
        struct picture picture;
        begin(&tiff);
        tag_gray(&tiff, 0, 'a');
        unsigned char *const entry = tiff.entries + tiff.count * (4 + 2 * word);
        tag(&tiff, blocks[block].tag, UNDEFINED, 40, values);
        if (variant == BEHIND)
            put(&tiff, entry + 4 + word, word, 100000);
        if (variant == LONGER)
            put(&tiff, entry + 4, word, 1 << 24);
        add_page(&tiff);
        write_file(&tiff);
        if (decode(in_folder("a.tif"), &options, &picture))
            fail_msg("%s", failure.text);
        assert_int_equal(warnings, variant != WHOLE);
        if (warnings)
            assert_non_null(strstr(last_warning, blocks[block].warning));
        assert_int_equal(picture.metadata.icc.size, variant == WHOLE && !block ? 40 : 0);
        assert_int_equal(picture.metadata.xmp.size, variant == WHOLE && block ? 40 : 0);
        free_picture(&picture);
    }
}

/* A stranger's EXIF may have several maker's notes, and notes that begin at offset 0: each has the
 * room of its own size in the copy. */
static void test_notes_at_odd_places(void **state)
{
    static const unsigned cases[][2][2] = {
        {{1 << 20, 0}, {0}}, {{100, 0}, {0}}, {{64, 400}, {1 << 20, 400}}, {{64, 400}, {120, 400}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gf_options options = plain_options();
        struct picture picture = smooth_picture(4, 4, 3, 8), back;
        unsigned char exif[1000] = "II*\0\x8\0\0\0\x1\0\x69\x87\4\0\1\0\0\0\x1a";
        const int notes = cases[i][1][0] ? 2 : 1;
        exif[26] = (unsigned char)notes;
        for (int k = 0; k < notes; k++) {
            const uint32_t entry[] = {0x0007927c, cases[i][k][0], cases[i][k][1]};
            memcpy(exif + 28 + 12 * k, entry, sizeof entry);
        }
        assert_true(gf_metadata_add_exif(&picture.metadata, exif, sizeof exif));
        assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
        assert_same_pixels(&picture, &back);
        free_picture(&picture);
        free_picture(&back);
    }
}

static void check_value(const struct gf_ifd_reader *reader, uint64_t directory, unsigned tag,
                        int type, const void *wanted, size_t size)
{
    struct gf_blob value;
    assert_true(gf_ifd_bytes(reader, directory, (uint16_t)tag, type, &value));
    assert_int_equal(value.size, size);
    if (size)
        assert_memory_equal(value.data, wanted, size);
    free(value.data);
}

/* GeoTIFF's tags are read in either byte order and written; one of a wrong type is left out. */
static void test_geo(void **state)
{
    static const unsigned short keys[] = {1, 1, 0, 1, 1024, 0, 1, 2};
    static const double scale[] = {10, 20, 0};
    for (int i = 0; i < 8; i++) {
        struct tiff tiff = {.big_endian = i & 1, .big_tiff = i & 2};
        struct gf_options options = plain_options();
        struct picture picture;
        struct gf_input *input;
        unsigned values[8];
        uint64_t first;
        begin(&tiff);
        tag_gray(&tiff, 0, 'a');
        tag(&tiff, 33550, DOUBLE, 3, (unsigned[]){10, 20, 0});
        tag(&tiff, 33922, LONG, 6, (unsigned[]){0, 0, 0, 1, 1, 0});
        for (int v = 0; v < 8; v++)
            values[v] = keys[v];
        tag(&tiff, 34735, SHORT, 8, values);
        tag_text(&tiff, 34737, "WGS 84|");
        tag_text(&tiff, 42113, "7");
        add_page(&tiff);
        write_file(&tiff);
        assert_int_equal(decode(in_folder("a.tif"), &options, &picture), GF_OK);
        assert_int_equal(warnings, 0);
        options.stripped = i & 4 ? 1 << GF_METADATA_GEO : 0;
        assert_int_equal(encode(in_folder("b.tif"), &picture, &options), GF_OK);
        assert_int_equal(warnings, 0);
        free_picture(&picture);
        assert_int_equal(gf_input_open(in_folder("b.tif"), false, &input, &failure), GF_OK);
        const struct gf_ifd_reader reader = gf_ifd_reader_of(input, &first);
        const bool kept = !options.stripped;
        check_value(&reader, first, 33550, DOUBLE, scale, kept ? sizeof scale : 0);
        check_value(&reader, first, 33922, 0, NULL, 0);
        check_value(&reader, first, 34735, SHORT, keys, kept ? sizeof keys : 0);
        check_value(&reader, first, 34737, TEXT, "WGS 84|", kept ? 8 : 0);
        check_value(&reader, first, 42113, TEXT, "7", kept ? 2 : 0);
        gf_input_close(input);
    }
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_TIFF);
    if (!type->library || gf_library_load(type->library, "TIFF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no libtiff");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gray),
        cmocka_unit_test(test_colour),
        cmocka_unit_test(test_palette),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_unknown_samples),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_the_makers_note_stays),
        cmocka_unit_test(test_notes_at_odd_places),
        cmocka_unit_test(test_what_cannot_stay_is_named),
        cmocka_unit_test(test_many_reduced),
        cmocka_unit_test(test_many_pages),
        cmocka_unit_test(test_damage_behind),
        cmocka_unit_test(test_no_photometric),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged_row),
        cmocka_unit_test(test_compressions),
        cmocka_unit_test(test_depths),
        cmocka_unit_test(test_iptc_alone),
        cmocka_unit_test(test_geo),
        cmocka_unit_test(test_cut_metadata),
    };
    return cmocka_run_group_tests_name("tiff", tests, make_folder, remove_folder);
}
