/* Damaged and hostile picture files: one clear line each, neither memory nor time spent on them. */
#include "codec/codec_test.h"
#include "codec/common/rows/source.h"
#include "codec/formats.h"
#include "codec/io/input.h"

#include <png.h>
#include <sys/wait.h>

static struct bytes encoded(const char *name, int width, int height, int channels, bool progressive)
{
    struct gf_options options = plain_options();
    options.progressive = progressive;
    struct picture picture = smooth_picture(width, height, channels, 8);
    assert_int_equal(encode(in_folder(name), &picture, &options), GF_OK);
    free_picture(&picture);
    return load(in_folder(name));
}

/* An Adam7 PNG of 16x16 gray pixels: libpng is not asked to write it, so that the test says what is
 * in it. */
static struct bytes interlaced_png(void)
{
    static const int widths[] = {2, 2, 4, 4, 8, 8, 16}, heights[] = {2, 2, 2, 4, 4, 8, 8};
    unsigned char header[13] = {0, 0, 0, 16, 0, 0, 0, 16, 8, 0, 0, 0, 1}, rows[512] = {0},
                  packed[600];
    size_t size = 0;
    uLongf packed_size = sizeof packed;
    unsigned seed = 3;
    for (int pass = 0; pass < 7; pass++)
        for (int y = 0; y < heights[pass]; y++) {
            rows[size++] = 0;
            for (int x = 0; x < widths[pass]; x++)
                rows[size++] = (unsigned char)next_random(&seed);
        }
    assert_int_equal(compress(packed, &packed_size, rows, size), Z_OK);
    struct bytes png = png_beginning(header);
    append_chunk(&png, "IDAT", packed, packed_size);
    append_chunk(&png, "IEND", "", 0);
    return png;
}

/* ---- cut off ---- */

enum { IEND_BYTES = 12 };

static void check_cuts(const char *name, struct bytes file, size_t until, bool may_be_allowed)
{
    struct gf_options options = plain_options();
    const size_t magic = gf_file_type(gf_file_format_named(name))->magic[0].length;
    for (size_t size = magic > 8 ? magic : 8; size < until; size += 1 + until / 97) {
        save(in_folder(name), file.data, size);
        assert_refused(in_folder(name), &options, "truncated");
    }
    options.allow_truncated = true;
    for (size_t size = until / 3; may_be_allowed && size < until; size += until / 7) {
        struct picture picture;
        warnings = 0;
        save(in_folder(name), file.data, size);
        if (decode(in_folder(name), &options, &picture))
            fail_msg("%zu bytes: %s", size, failure.text);
        assert_int_equal(warnings, 1);
        assert_non_null(strstr(last_warning, "truncated"));
        free_picture(&picture);
    }
    free(file.data);
}

/* The next format of the table that needs no library, from *index on, and the name of its files. */
static const struct gf_file_type *next_own(int *index, char name[20])
{
    const struct gf_file_type *type;
    while ((type = gf_file_type_at((*index)++)) && (type->library || !type->create))
        ;
    if (type)
        snprintf(name, 20, "a.%s", gf_file_format_extension(type->format));
    return type;
}

static void test_truncated_files(void **state)
{
    const struct gf_file_type *type;
    char name[20];
    struct bytes file = encoded("a.png", 300, 200, 3, false);
    check_cuts("a.png", file, file.size - IEND_BYTES, true);
    file = interlaced_png();
    check_cuts("a.png", file, file.size - IEND_BYTES, true);
    file = encoded("a.jpg", 300, 200, 3, false);
    check_cuts("a.jpg", file, file.size, true);
    file = encoded("a.jpg", 300, 200, 3, true);
    check_cuts("a.jpg", file, file.size, true);
    for (int i = 0; (type = next_own(&i, name));) {
        file = encoded(name, 30, 20, type->alpha ? 4 : 3, false);
        check_cuts(name, file, file.size - (type->format == GF_FILE_PNG ? IEND_BYTES : 0), false);
    }
    file = (struct bytes){0};
    append(&file, "P3 4 4 255", 10);
    for (int i = 0; i < 48; i++)
        append(&file, " 255", 4);
    check_cuts("a.ppm", file, file.size - 3, false); /* "2" is a number, too */
}

static void test_messages_name_the_row(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes file = encoded("a.pgm", 10, 9, 1, false);
    save(in_folder("a.pgm"), file.data, file.size - 51);
    assert_refused(in_folder("a.pgm"), &options, "truncated after row 3 of 9");
    free(file.data);
    file = interlaced_png();
    save(in_folder("a.png"), file.data, 8 + 25 + 8 + 30);
    assert_refused(in_folder("a.png"), &options, "truncated in pass");
    free(file.data);
    struct picture noise = random_picture(100, 500, 3, 8), back;
    assert_int_equal(encode(in_folder("a.png"), &noise, &options), GF_OK);
    file = load(in_folder("a.png"));
    save(in_folder("a.png"), file.data, file.size / 2);
    if (decode(in_folder("a.png"), &options, &back) != GF_ERROR_INPUT)
        fail();
    int row = 0, rows = 0;
    assert_int_equal(
        sscanf(strstr(failure.text, "truncated"), "truncated after row %d of %d", &row, &rows), 2);
    assert_in_range(row, 240, 260);
    assert_int_equal(rows, 500);
    free(file.data);
    free_picture(&noise);
}

static void test_allowed_truncation_keeps_what_is_there(void **state)
{
    struct gf_options options = plain_options();
    struct picture noise = random_picture(100, 500, 3, 8), back;
    assert_int_equal(encode(in_folder("a.png"), &noise, &options), GF_OK);
    struct bytes file = load(in_folder("a.png"));
    save(in_folder("a.png"), file.data, file.size / 2);
    options.allow_truncated = true;
    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
    assert_memory_equal(back.data, noise.data, 300 * 240);
    for (size_t i = 300 * 260; i < 300 * 500; i++)
        assert_int_equal(back.data[i], 0);
    free(file.data);
    free_picture(&back);
    free_picture(&noise);
}

static void test_empty_and_missing(void **state)
{
    const struct gf_options options = plain_options();
    save(in_folder("a.png"), "", 0);
    assert_refused(in_folder("a.png"), &options, "a.png: empty file");
    save(in_folder("a.png"), "\x89PN", 3);
    assert_refused(in_folder("a.png"), &options, "not a picture of a known format");
    struct picture picture;
    assert_int_equal(decode(in_folder("none.png"), &options, &picture), GF_ERROR_READ);
    assert_failure_says("No such file or directory");
    assert_int_equal(decode(folder, &options, &picture), GF_ERROR_INPUT);
    assert_failure_says("is a directory");
}

/* ---- corrupt ---- */

static const unsigned char *find_chunk(struct bytes png, const char *name)
{
    for (size_t at = 8; at + 12 <= png.size; at += 12 + get_be32(png.data + at))
        if (!memcmp(png.data + at + 4, name, 4))
            return png.data + at;
    fail_msg("no %s", name);
    return NULL;
}

static void check_flipped(struct bytes file, size_t at, const char *name, const char *words)
{
    const struct gf_options options = plain_options();
    file.data[at] ^= 0x55;
    save(in_folder(name), file.data, file.size);
    assert_refused(in_folder(name), &options, words);
    file.data[at] ^= 0x55;
}

static void test_corrupt_png(void **state)
{
    struct bytes png = encoded("a.png", 64, 64, 3, false);
    const size_t idat = (size_t)(find_chunk(png, "IDAT") - png.data);
    const size_t end = idat + 8 + get_be32(png.data + idat);
    check_flipped(png, 8 + 8 + 13, "a.png", "corrupt in the header"); /* IHDR's checksum */
    check_flipped(png, end, "a.png", "corrupt after row 63 of 64: IDAT: CRC error");
    check_flipped(png, idat + 30, "a.png", "corrupt"); /* deflate's data */
    check_flipped(png, idat + 8, "a.png", "corrupt");  /* zlib's header */
    free(png.data);
    png = interlaced_png();
    check_flipped(png, png.size - IEND_BYTES - 1, "a.png", "IDAT: CRC error");
    free(png.data);
}

/* Once the pixels are whole, what is wrong behind them is a warning. */
static void check_behind(const struct bytes *file, size_t size, const struct picture *wanted)
{
    const struct gf_options options = plain_options();
    struct picture back;
    save(in_folder("a.png"), file->data, size);
    if (decode(in_folder("a.png"), &options, &back))
        fail_msg("%zu bytes: %s", size, failure.text);
    assert_same_pixels(wanted, &back);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.png: "));
    free_picture(&back);
}

static void test_damage_behind(void **state)
{
    for (int kind = 0; kind < 2; kind++) {
        const struct gf_options options = plain_options();
        struct bytes png = kind ? interlaced_png() : encoded("a.png", 64, 64, 3, false);
        struct picture wanted;
        save(in_folder("a.png"), png.data, png.size);
        assert_int_equal(decode(in_folder("a.png"), &options, &wanted), GF_OK);
        for (size_t size = png.size - IEND_BYTES; size < png.size; size++)
            check_behind(&png, size, &wanted);
        for (size_t at = png.size - IEND_BYTES; at < png.size; at++) {
            png.data[at] ^= 0x55;
            check_behind(&png, png.size, &wanted);
            png.data[at] ^= 0x55;
        }
        free_picture(&wanted);
        free(png.data);
    }
}

/* A further IDAT holds no pixel, but one that is damaged is damage of the pixels' stream. */
static void test_damage_of_a_further_idat(void **state)
{
    for (int kind = 0; kind < 4; kind++) {
        const struct gf_options options = plain_options();
        struct bytes png = kind % 2 ? interlaced_png() : encoded("a.png", 64, 64, 3, false);
        struct bytes other = {0};
        struct picture picture;
        append(&other, png.data, png.size - IEND_BYTES);
        if (kind / 2)
            append_chunk(&other, "tIME", "\x07\xd0\1\1\0\0\0", 7);
        append_chunk(&other, "IDAT", "more", 4);
        append_chunk(&other, "IEND", "", 0);
        save(in_folder("a.png"), other.data, other.size);
        assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
        free_picture(&picture);
        other.data[other.size - IEND_BYTES - 1] ^= 1; /* its checksum */
        save(in_folder("a.png"), other.data, other.size);
        assert_refused(in_folder("a.png"), &options, "IDAT: CRC error");
        free(other.data);
        free(png.data);
    }
}

/* The IDAT of a file in exchange for another. */
static struct bytes with_idat(struct bytes png, const void *data, size_t size)
{
    struct bytes other = {0};
    const unsigned char *const idat = find_chunk(png, "IDAT");
    append(&other, png.data, (size_t)(idat - png.data));
    append_chunk(&other, "IDAT", data, size);
    append_chunk(&other, "IEND", "", 0);
    return other;
}

static void test_idat_of_the_wrong_length(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes png = encoded("a.png", 8, 8, 1, false), other;
    unsigned char rows[8 * 9 + 100] = {0}, packed[200];
    for (int change = -9; change <= 100; change += 109) {
        uLongf size = sizeof packed;
        assert_int_equal(compress(packed, &size, rows, (uLong)(72 + change)), Z_OK);
        other = with_idat(png, packed, size);
        save(in_folder("a.png"), other.data, other.size);
        free(other.data);
        struct picture picture;
        if (change < 0) {
            assert_refused(in_folder("a.png"), &options, "after row 7 of 8: Not enough image data");
            continue;
        }
        assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
        assert_int_equal(warnings, 1);
        free_picture(&picture);
    }
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, rows, 72), Z_OK);
    packed[size - 1] ^= 1; /* Adler-32 */
    other = with_idat(png, packed, size);
    save(in_folder("a.png"), other.data, other.size);
    assert_refused(in_folder("a.png"), &options, "incorrect data check");
    free(other.data);
    free(png.data);
}

/* The stream's checksum counts, however much lies between the last row and it. */
static void test_idat_of_far_too_much(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes png = encoded("a.png", 8, 8, 1, false);
    unsigned char *const rows = calloc(1, 300000), packed[2000];
    for (int damaged = 0; damaged < 2; damaged++) {
        uLongf size = sizeof packed;
        assert_int_equal(compress(packed, &size, rows, 300000), Z_OK);
        packed[size - 1] ^= damaged;
        struct bytes other = with_idat(png, packed, size);
        struct picture picture;
        save(in_folder("a.png"), other.data, other.size);
        free(other.data);
        warnings = 0;
        if (damaged) {
            assert_refused(in_folder("a.png"), &options, "incorrect data check");
            continue;
        }
        assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
        assert_int_equal(warnings, 1);
        free_picture(&picture);
    }
    free(rows);
    free(png.data);
}

static void test_zlib_window_too_large(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes png = encoded("a.png", 8, 8, 1, false);
    unsigned char rows[8 * 9] = {0}, packed[200];
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, rows, sizeof rows), Z_OK);
    packed[0] = 0x88;
    packed[1] = 0x1c; /* the head's checksum is right */
    struct bytes other = with_idat(png, packed, size);
    save(in_folder("a.png"), other.data, other.size);
    assert_refused(in_folder("a.png"), &options, "invalid window size");
    free(other.data);
    free(png.data);
}

static void test_corrupt_jpeg(void **state)
{
    struct gf_options options = plain_options();
    struct picture noise = random_picture(64, 64, 3, 8), back;
    assert_int_equal(encode(in_folder("a.jpg"), &noise, &options), GF_OK);
    struct bytes jpeg = load(in_folder("a.jpg"));
    memcpy(jpeg.data + jpeg.size / 4, "\xff\x7e", 2); /* no marker that there is */
    save(in_folder("a.jpg"), jpeg.data, jpeg.size);
    assert_refused(in_folder("a.jpg"), &options, "corrupt after row");
    memset(jpeg.data + jpeg.size / 4, 0x7e, 400);
    save(in_folder("a.jpg"), jpeg.data, jpeg.size);
    assert_refused(in_folder("a.jpg"), &options, "corrupt after row");
    options.allow_truncated = true;
    if (decode(in_folder("a.jpg"), &options, &back))
        fail_msg("%s", failure.text);
    assert_int_equal(warnings, 1);
    free_picture(&back);
    free_picture(&noise);
    free(jpeg.data);
}

static unsigned char *frame_header(struct bytes jpeg)
{
    for (size_t at = 2; at + 9 < jpeg.size;
         at += 2 + (size_t)(jpeg.data[at + 2] << 8 | jpeg.data[at + 3]))
        if (jpeg.data[at + 1] == 0xc0 || jpeg.data[at + 1] == 0xc2)
            return jpeg.data + at;
    fail();
    return NULL;
}

static void test_unsupported_jpeg(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes jpeg = encoded("a.jpg", 16, 16, 3, false);
    unsigned char *const header = frame_header(jpeg);
    header[4] = 13; /* bits */
    save(in_folder("a.jpg"), jpeg.data, jpeg.size);
    assert_refused(in_folder("a.jpg"), &options, "precision 13");
    header[4] = 12;
    save(in_folder("a.jpg"), jpeg.data, jpeg.size);
    assert_refused(
        in_folder("a.jpg"), &options,
        "a JPEG of 12 bits a sample, which is not read here; djpeg of libjpeg-turbo 3.0");
    header[4] = 8;
    header[1] = 0xc6;
    save(in_folder("a.jpg"), jpeg.data, jpeg.size);
    assert_refused(in_folder("a.jpg"), &options, "SOF type 0xc6");
    free(jpeg.data);
}

/* ---- larger than they are ---- */

/* AddressSanitizer needs an eighth of all allocated memory for its shadow, touched or not. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { BOMB_KILOBYTES = 1 << 20 };
#else
enum { BOMB_KILOBYTES = 64 << 10 };
#endif

static struct bytes png_of_size(uint32_t width, uint32_t height, bool interlaced)
{
    struct bytes png = interlaced_png();
    put_be32(png.data + 16, width);
    put_be32(png.data + 20, height);
    png.data[25] = 2; /* RGB */
    png.data[28] = interlaced;
    put_be32(png.data + 29, (uint32_t)crc32(0, png.data + 12, 17));
    return png;
}

static void check_bomb(const char *name, struct bytes file, const char *words,
                       const char *words_of_pipe)
{
    const struct gf_options options = plain_options();
    const long before = peak_kilobytes();
    save(in_folder(name), file.data, file.size);
    assert_refused(in_folder(name), &options, words);
    assert_int_equal(unlink(in_folder(name)), 0);
    struct feed feed = {.pause_ms = 0};
    feed_begin(&feed, in_folder(name), file);
    /* Not decode(): it would hold all of the pixels. */
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    assert_int_equal(gf_input_open(feed.path, false, &input, &failure), GF_OK);
    enum gf_status status = gf_source_open(input, &options, &source, &failure);
    if (!status) {
        unsigned char *const row = calloc(4, gf_row_bytes(source->format));
        for (int y = 0; !status && y < source->format.height; y += 2)
            status = source->read(source, 2, row, gf_row_bytes(source->format), &failure);
        free(row);
        source->close(source);
    }
    assert_int_equal(status, GF_ERROR_INPUT);
    assert_failure_says(words_of_pipe);
    gf_input_close(input);
    feed_end(&feed);
    free(file.data);
    assert_in_range(peak_kilobytes() - before, 0, BOMB_KILOBYTES);
}

static void test_header_bombs(void **state)
{
    check_bomb("a.png", png_of_size(30000, 30000, false), "truncated: 30000x30000", "corrupt");
    check_bomb("a.png", png_of_size(30000, 30000, true), "truncated: 30000x30000", "corrupt");
    check_bomb("a.png", png_of_size(70000, 30000, false),
               "70000x30000 is 2100000000 pixels, over options.max_pixels",
               "over options.max_pixels=1000000000");
    check_bomb("a.png", png_of_size(900000000, 1, false), "a side is over", "a side is over");
    check_bomb("a.png", png_of_size(0x7fffffff, 0x7fffffff, true), "over options.max_pixels",
               "over options.max_pixels");
    struct bytes pnm = {0};
    append(&pnm, "P6 30000 30000 255 abc", 22);
    check_bomb("a.ppm", pnm, "truncated after row 0 of 30000", "truncated after row 0 of 30000");
    for (int progressive = 0; progressive <= 1; progressive++) {
        struct bytes jpeg = encoded("a.jpg", 16, 16, 3, progressive);
        memcpy(frame_header(jpeg) + 5, "\x75\x30\x75\x30", 4);
        check_bomb("a.jpg", jpeg, "truncated: 30000x30000", "corrupt");
    }
}

static void test_max_pixels(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(10, 10, 1, 8), back;
    char name[20];
    for (int i = 0; next_own(&i, name);) {
        options.max_pixels = 100;
        assert_int_equal(encode(in_folder(name), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder(name), &options, &back), GF_OK);
        free_picture(&back);
        options.max_pixels = 99;
        assert_refused(in_folder(name), &options,
                       "10x10 is 100 pixels, over options.max_pixels=99");
    }
    free_picture(&picture);
}

/* A gigabyte of zeros in a megabyte: one block of deflate, repeated. */
static struct bytes gigabyte(void)
{
    enum { PIECE = 16 << 20, PIECES = 64 };
    struct bytes packed = {0};
    unsigned char *const zeros = calloc(1, PIECE), *const piece = malloc(PIECE);
    z_stream zlib = {.next_in = zeros, .avail_in = PIECE, .next_out = piece, .avail_out = PIECE};
    assert_int_equal(deflateInit2(&zlib, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&zlib, Z_FULL_FLUSH), Z_OK);
    append(&packed, "\x78\x01", 2);
    for (int i = 0; i < PIECES; i++)
        append(&packed, piece, zlib.total_out);
    append(&packed, "\x03\x00\x00\x00\x40\x01", 6); /* the end; the checksum of zeros */
    deflateEnd(&zlib);
    free(zeros);
    free(piece);
    return packed;
}

static void check_chunk_bomb(const char *chunk, const char *header, size_t header_size, int warned)
{
    const struct gf_options options = plain_options();
    struct bytes png = encoded("a.png", 8, 8, 3, false), packed = gigabyte(), text = {0};
    append(&text, header, header_size);
    append(&text, packed.data, packed.size);
    struct bytes bomb = with_chunk(png, chunk, text.data, text.size);
    save(in_folder("a.png"), bomb.data, bomb.size);
    const long before = peak_kilobytes();
    struct picture picture;
    warnings = 0;
    assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
    assert_int_equal(warnings, warned);
    assert_int_equal(picture.metadata.icc.size + picture.metadata.xmp.size, 0);
    assert_in_range(peak_kilobytes() - before, 0, BOMB_KILOBYTES);
    free_picture(&picture);
    free(png.data);
    free(packed.data);
    free(text.data);
    free(bomb.data);
}

static void test_chunk_bombs(void **state)
{
    check_chunk_bomb("zTXt", "Comment\0", 9, 1);
    check_chunk_bomb("iTXt", "Comment\0\1\0\0", 12, 1);
    check_chunk_bomb("iTXt", "XML:com.adobe.xmp\0\1\0\0", 22, 1);
    check_chunk_bomb("iCCP", "profile\0", 9, 1);
}

static void test_damaged_metadata_is_left_out(void **state)
{
    static const struct {
        const char *chunk, *data;
        size_t size;
    } cases[] = {{"iCCP", "name without end", 16},
                 {"iCCP", "n\0\0not zlib", 11},
                 {"iCCP", "", 0},
                 {"iTXt", "XML:com.adobe.xmp\0\0\0", 20},
                 {"iTXt", "XML:com.adobe.xmp\0\1\0\0\0x", 23},
                 {"eXIf", "XX\0*", 4},
                 {"eXIf", "MM\0*\xff\xff\xff\xff", 8},
                 {"pHYs", "\0\0", 2},
                 {"tEXt", "x", 1},
                 {"zzZz", "unknown", 7}};
    const struct gf_options options = plain_options();
    struct bytes png = encoded("a.png", 8, 8, 3, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = with_chunk(png, cases[i].chunk, cases[i].data, cases[i].size);
        struct picture picture;
        save(in_folder("a.png"), file.data, file.size);
        assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
        assert_int_equal(picture.metadata.icc.size + picture.metadata.xmp.size, 0);
        assert_int_equal(picture.metadata.orientation, 1);
        free_picture(&picture);
        file.data[PNG_HEADER_BYTES + 8 + cases[i].size] ^=
            1; /* the checksum: ancillary, so no error */
        save(in_folder("a.png"), file.data, file.size);
        assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
        free_picture(&picture);
        free(file.data);
    }
    struct bytes file = with_chunk(png, "ZZZZ", "critical", 8);
    save(in_folder("a.png"), file.data, file.size);
    assert_refused(in_folder("a.png"), &options, "corrupt in the header: ZZZZ");
    free(file.data);
    free(png.data);
}

/* Hundreds of scans that repeat the same data. */
static void test_scan_bomb(void **state)
{
    struct gf_options options = plain_options();
    struct bytes jpeg = encoded("a.jpg", 16, 16, 3, true), bomb = {0};
    size_t scan = jpeg.size - 2;
    while (memcmp(jpeg.data + scan, "\xff\xda", 2) != 0)
        scan--;
    append(&bomb, jpeg.data, scan);
    for (int i = 0; i < 500; i++)
        append(&bomb, jpeg.data + scan, jpeg.size - 2 - scan);
    append(&bomb, "\xff\xd9", 2);
    options.allow_truncated = true; /* else it is refused for the first scan that repeats another */
    save(in_folder("a.jpg"), bomb.data, bomb.size);
    assert_refused(in_folder("a.jpg"), &options, "over 100 scans");
    free(bomb.data);
    free(jpeg.data);
}

/* ---- what libpng refuses or leaves out ---- */

/* A TIFF structure of one entry: the orientation. */
static const unsigned char exif_of_6[] = "MM\0\x2a\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0";

static int orientation_of(const char *path, size_t *exif_size)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    if (decode(path, &options, &picture))
        fail_msg("%s", failure.text);
    const int orientation = picture.metadata.orientation;
    *exif_size = picture.metadata.exif.size;
    free_picture(&picture);
    return orientation;
}

static void test_metadata_with_a_wrong_checksum(void **state)
{
    struct bytes png = encoded("a.png", 8, 8, 3, false);
    struct bytes file = with_chunk(png, "eXIf", exif_of_6, sizeof exif_of_6 - 1);
    size_t exif_size;
    save(in_folder("a.png"), file.data, file.size);
    assert_int_equal(orientation_of(in_folder("a.png"), &exif_size), 6);
    assert_int_equal(warnings, 0);
    file.data[PNG_HEADER_BYTES + 8 + 19] = 3; /* the orientation; the checksum is that of 6 */
    save(in_folder("a.png"), file.data, file.size);
    assert_int_equal(orientation_of(in_folder("a.png"), &exif_size), 1);
    assert_int_equal(exif_size, 0);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.png: its eXIf chunk has a wrong checksum"));
    free(file.data);
    free(png.data);
}

static const unsigned char gray_header[13] = {0, 0, 0, 99, 0, 0, 0, 20, 8};
static const unsigned char palette_header[13] = {0, 0, 0, 99, 0, 0, 0, 20, 8, 3};

/* 20 rows of 99 bytes; the lower ten are those above once more. */
static void fill_rows(unsigned char rows[2000])
{
    unsigned seed = 8;
    for (int i = 0; i < 2000; i++)
        rows[i] = i >= 1000      ? rows[i - 1000]
                  : i % 100 == 0 ? 0
                                 : (unsigned char)(next_random(&seed) % 2);
}

static void append_idat(struct bytes *png)
{
    unsigned char rows[2000], packed[3000];
    uLongf size = sizeof packed;
    fill_rows(rows);
    assert_int_equal(compress(packed, &size, rows, sizeof rows), Z_OK);
    append_chunk(png, "IDAT", packed, size);
}

static void check_refused(struct bytes png, const char *words)
{
    const struct gf_options options = plain_options();
    append_chunk(&png, "IEND", "", 0);
    save(in_folder("a.png"), png.data, png.size);
    free(png.data);
    assert_refused(in_folder("a.png"), &options, words);
}

static void check_warned(struct bytes png, const char *words)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    append_chunk(&png, "IEND", "", 0);
    save(in_folder("a.png"), png.data, png.size);
    free(png.data);
    if (decode(in_folder("a.png"), &options, &picture))
        fail_msg("%s", failure.text);
    free_picture(&picture);
    if (!strstr(last_warning, words))
        fail_msg("\"%s\" does not say \"%s\"", last_warning, words);
}

static void test_header_behind_another_chunk(void **state)
{
    struct bytes png = {0};
    append(&png, "\x89PNG\r\n\x1a\n", 8);
    append_chunk(&png, "tEXt", "Comment\0a", 9);
    append_chunk(&png, "IHDR", gray_header, 13);
    append_idat(&png);
    check_refused(png, "corrupt in the header: tEXt: missing IHDR");
}

static void test_apples_png(void **state)
{
    struct bytes png = {0};
    append(&png, "\x89PNG\r\n\x1a\n", 8);
    append_chunk(&png, "CgBI", "P\0 \6", 4);
    append_chunk(&png, "IHDR", gray_header, 13);
    append_idat(&png);
    check_refused(png, "a.png: Apple's own PNG (CgBI) from an app of iPhones: pngdefry");
}

/* Once before each kind of reader: with a palette libpng's, in gray the project's own. */
static void check_trailing(const char *chunk, bool wrong_crc, bool with_palette, const char *words)
{
    struct bytes png = png_beginning(with_palette ? palette_header : gray_header);
    if (with_palette)
        append_chunk(&png, "PLTE", "abcdef", 6);
    append_idat(&png);
    append_chunk(&png, "tEXt", "Comment\0a", 9);
    append_chunk(&png, chunk, "abcdef", strcmp(chunk, "IDAT") ? 6 : 0);
    png.data[png.size - 1] ^= wrong_crc;
    (wrong_crc ? check_refused : check_warned)(png, words);
}

static void test_critical_chunks_behind_the_pixels(void **state)
{
    for (int palette = 0; palette < 2; palette++) {
        check_trailing("BABa", false, palette, "corrupt after row 20 of 20");
        check_trailing("IDAT", true, palette, "IDAT: CRC error");
    }
    check_trailing("PLTE", false, true, "PLTE: duplicate");
    struct bytes png = png_beginning((const unsigned char[13]){0, 0, 0, 1, 0, 0, 0, 1, 8, 2});
    append_chunk(&png, "PLTE", "abcdef", 6);
    append_chunk(&png, "IDAT", "\x78\x01\x63\x60\x60\x60\0\0\0\4\0\1", 12); /* four zeros */
    append_chunk(&png, "PLTE", "abcdef", 6);
    check_warned(png, "corrupt after row 1 of 1: PLTE: duplicate");
}

/* The stream refers to what is 1000 bytes back and states a window of 256. */
static void test_zlib_window_too_small(void **state)
{
    unsigned char rows[2000], packed[3000];
    uLongf size = sizeof packed;
    struct bytes png = png_beginning(gray_header);
    fill_rows(rows);
    assert_int_equal(compress2(packed, &size, rows, sizeof rows, 9), Z_OK);
    packed[0] = 0x08;
    packed[1] = 31 - 0x0800 % 31;
    append_chunk(&png, "IDAT", packed, size);
    check_refused(png, "invalid distance too far back");
}

/* Compresses 20 rows as if 500 bytes stood before them, which row 15 repeats. */
static size_t pack_beyond_the_start(const unsigned char rows[2000], const unsigned char before[500],
                                    unsigned char packed[3000])
{
    z_stream stream = {.next_in = (unsigned char *)rows,
                       .avail_in = 2000,
                       .next_out = packed + 2,
                       .avail_out = 2998};
    packed[0] = 0x78;
    packed[1] = 0x01;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflateSetDictionary(&stream, before, 500), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return 3000 - stream.avail_out;
}

/* With allow_truncated, a row is the file's or zeros, and never bytes that the decoder did not
 * write. ISA-L does not tell where the last 769 bytes before the damage begin. */
static void test_zlib_distance_beyond_the_start(void **state)
{
    static const unsigned char zeros[99];
    unsigned char rows[2000], before[500], packed[3000];
    unsigned seed = 5;
    for (int i = 0; i < 500; i++)
        before[i] = (unsigned char)next_random(&seed);
    for (int i = 0; i < 2000; i++)
        rows[i] = i % 100 == 0 ? 0 : (unsigned char)next_random(&seed);
    memcpy(rows + 1501, before, 99);
    struct bytes png = png_beginning(gray_header);
    append_chunk(&png, "IDAT", packed, pack_beyond_the_start(rows, before, packed));
    check_refused(png, "invalid distance too far back");
    struct gf_options options = plain_options();
    struct picture picture;
    options.allow_truncated = true;
    assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
    for (int y = 0; y < 20; y++) {
        const unsigned char *const row = picture.data + (size_t)y * 99;
        assert_memory_equal(row, y < 7 ? rows + 100 * y + 1 : zeros, y < 7 || y > 14 ? 99 : 0);
    }
    free_picture(&picture);
}

static void test_transparency_with_a_wrong_checksum(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    struct bytes png = png_beginning(gray_header);
    append_chunk(&png, "tRNS", "\0\1", 2);
    png.data[png.size - 1] ^= 1;
    append_idat(&png);
    append_chunk(&png, "IEND", "", 0);
    save(in_folder("a.png"), png.data, png.size);
    free(png.data);
    assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
    assert_int_equal(picture.format.channels, 1);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "its tRNS chunk is left out: CRC error"));
    free_picture(&picture);
}

/* ---- metadata behind the pixels ---- */

/* In memory, too, where chunks may lie beyond the end. */
static void check_late_exif_in_memory(struct bytes late)
{
    const struct gf_options options = plain_options();
    for (size_t size = late.size; size > 60; size -= 1 + size / 50) {
        unsigned char *const part = malloc(size); /* a sanitizer sees its end */
        struct gf_input *input;
        struct gf_source *source = NULL;
        memcpy(part, late.data, size);
        assert_int_equal(gf_input_open_memory(part, size, "memory", &input, &failure), GF_OK);
        const enum gf_status status = gf_source_open(input, &options, &source, &failure);
        if (size == late.size)
            assert_int_equal(source->metadata.orientation, 6);
        if (!status)
            source->close(source);
        gf_input_close(input);
        free(part);
    }
}

static void check_late_exif(struct bytes png)
{
    struct bytes late = {0};
    size_t exif_size;
    append(&late, png.data, png.size - 12); /* IEND */
    append_chunk(&late, "tEXt", "Comment\0a", 9);
    append_chunk(&late, "eXIf", exif_of_6, sizeof exif_of_6 - 1);
    append_chunk(&late, "IEND", "", 0);
    save(in_folder("a.png"), late.data, late.size);
    assert_int_equal(orientation_of(in_folder("a.png"), &exif_size), 6);
    assert_int_equal(warnings, 0);
    check_late_exif_in_memory(late);
    unlink(in_folder("a.png"));
    struct feed feed = {.pause_ms = 0};
    feed_begin(&feed, in_folder("a.png"), late);
    assert_int_equal(orientation_of(feed.path, &exif_size), 1);
    feed_end(&feed);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.png: its EXIF stands behind the pixels"));
    free(late.data);
    free(png.data);
}

static void test_exif_behind_the_pixels(void **state)
{
    check_late_exif(encoded("a.png", 300, 200, 3, false));
    check_late_exif(interlaced_png());
}

/* ---- the budget of memory ---- */

static void write_interlaced(const char *path, int side)
{
    FILE *const file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    unsigned char *const row = calloc(1, (size_t)side);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)side, (png_uint_32)side, 8, PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_ADAM7, 0, 0);
    png_write_info(png, info);
    for (int i = png_set_interlace_handling(png) * side; i; i--)
        png_write_row(png, row);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    free(row);
    fclose(file);
}

static void check_budget(const char *from, const char *to, const char *words)
{
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    options.progressive = true;
    for (options.memory_bytes = 0; options.memory_bytes <= 64 << 20;
         options.memory_bytes = options.memory_bytes ? 16 * options.memory_bytes : 4 << 20) {
        struct gf_pipeline *pipeline;
        memset(&failure, 0, sizeof failure);
        assert_int_equal(gf_pipeline_open("", &options, &pipeline, &failure), GF_OK);
        const enum gf_status status =
            gf_pipeline_run_file(pipeline, in_folder(from), in_folder(to), &failure);
        gf_pipeline_close(pipeline);
        if (options.memory_bytes != 4 << 20) {
            assert_string_equal(failure.text, "");
            continue;
        }
        assert_int_equal(status, GF_ERROR_INPUT);
        assert_failure_says(words);
        assert_failure_says("over the 4 MiB of options.memory_bytes");
    }
}

/* Whatever the codec needs is refused where it is more than the caller allows, with its size. */
static void test_memory_of_codecs(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(2500, 2500, 3, 8);
    options.progressive = true;
    write_interlaced(in_folder("a.png"), 2500);
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
    assert_int_equal(encode(in_folder("a.ppm"), &picture, &options), GF_OK);
    check_budget("a.png", "b.ppm", "an interlaced PNG is decoded as a whole: that takes 6 MiB");
    check_budget("a.jpg", "b.ppm", "a JPEG of several scans is decoded as a whole: that takes 19 ");
    check_budget("a.ppm", "b.jpg", "a progressive JPEG is encoded as a whole: that takes 19 MiB");
    free_picture(&picture);
}

/* A picture of one long row takes that row in the codec and once with its reader. */
static void test_memory_of_a_wide_picture(void **state)
{
    enum { WIDTH = 16000000 };
    const struct gf_options options = plain_options();
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    unsigned char *const row = calloc(1, WIDTH);
    const struct picture picture = {{WIDTH, 1, 1, 8, GF_SAMPLES_INTEGER}, row, {.orientation = 1}};
    const pid_t child = fork(); /* whose memory does not count */
    if (!child)
        _exit(encode(in_folder("a.png"), &picture, &options));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(gf_input_open(in_folder("a.png"), false, &input, &failure), GF_OK);
    assert_int_equal(gf_source_open(input, &options, &source, &failure), GF_OK);
    assert_in_range(source->memory.bytes, WIDTH, WIDTH + 1000);
    const long before = peak_kilobytes();
    assert_int_equal(source->read(source, 1, row, WIDTH, &failure), GF_OK);
    assert_in_range(peak_kilobytes() - before, 0, WIDTH / 1000 * 5 / 2);
    source->close(source);
    gf_input_close(input);
    free(row);
}

/* ---- what can still be decoded ---- */

/* Of an interlaced picture of 300 bytes as much as of a large one: all passes before the cut. */
static void test_allowed_truncation_of_an_interlaced_picture(void **state)
{
    struct gf_options options = plain_options();
    struct bytes png = interlaced_png();
    struct picture whole, part;
    save(in_folder("a.png"), png.data, png.size);
    assert_int_equal(decode(in_folder("a.png"), &options, &whole), GF_OK);
    options.allow_truncated = true;
    save(in_folder("a.png"), png.data, png.size * 79 / 100);
    assert_int_equal(decode(in_folder("a.png"), &options, &part), GF_OK);
    for (int y = 0; y < 16; y += 2) /* six of seven passes make up the even rows */
        for (int x = 0; x < 16; x++)
            if (y < 8 || x % 2 == 0)
                assert_int_equal(part.data[16 * y + x], whole.data[16 * y + x]);
    free_picture(&whole);
    free_picture(&part);
    free(png.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* These come first: the peak of memory never falls again. */
        cmocka_unit_test(test_memory_of_a_wide_picture),
        cmocka_unit_test(test_header_bombs),
        cmocka_unit_test(test_chunk_bombs),
        cmocka_unit_test(test_truncated_files),
        cmocka_unit_test(test_messages_name_the_row),
        cmocka_unit_test(test_allowed_truncation_keeps_what_is_there),
        cmocka_unit_test(test_empty_and_missing),
        cmocka_unit_test(test_corrupt_png),
        cmocka_unit_test(test_damage_behind),
        cmocka_unit_test(test_damage_of_a_further_idat),
        cmocka_unit_test(test_idat_of_the_wrong_length),
        cmocka_unit_test(test_idat_of_far_too_much),
        cmocka_unit_test(test_zlib_window_too_large),
        cmocka_unit_test(test_corrupt_jpeg),
        cmocka_unit_test(test_unsupported_jpeg),
        cmocka_unit_test(test_max_pixels),
        cmocka_unit_test(test_damaged_metadata_is_left_out),
        cmocka_unit_test(test_scan_bomb),
        cmocka_unit_test(test_metadata_with_a_wrong_checksum),
        cmocka_unit_test(test_header_behind_another_chunk),
        cmocka_unit_test(test_apples_png),
        cmocka_unit_test(test_critical_chunks_behind_the_pixels),
        cmocka_unit_test(test_zlib_window_too_small),
        cmocka_unit_test(test_zlib_distance_beyond_the_start),
        cmocka_unit_test(test_transparency_with_a_wrong_checksum),
        cmocka_unit_test(test_exif_behind_the_pixels),
        cmocka_unit_test(test_memory_of_codecs),
        cmocka_unit_test(test_allowed_truncation_of_an_interlaced_picture),
    };
    return cmocka_run_group_tests_name("damage", tests, make_folder, remove_folder);
}
