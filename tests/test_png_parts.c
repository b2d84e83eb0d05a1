/* Large PNGs of anybody's: parts of deflate streams that are unpacked from guessed places on, the
 * reader that joins them, and files whose parts do not fit. */
#include "libpng_files.h"

#include <zlib.h>

#include "codec/png/inflate.h"
#include "codec/png/inflate_part.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_idat.h"
#include "codec/png/png_parts_read.h"

/* ---- streams ---- */

enum { ROUGH, TEXT, FLAT, MIXED, CONTENTS };

static void fill(uint8_t *data, size_t size, int content, unsigned *seed)
{
    for (size_t i = 0; i < size; i++) {
        const int kind = content == MIXED ? (int)(i / 3000 % 3) : content;
        data[i] = (uint8_t)(kind == ROUGH  ? next_random(seed) % 48
                            : kind == TEXT ? (i % 300 < 7 ? next_random(seed) : i % 61)
                                           : 5 + (next_random(seed) % 90 == 0));
    }
}

/* A raw stream in blocks of some size, with margin. */
static uint8_t *pack(const uint8_t *data, size_t size, int level, int strategy, size_t *packed)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -15, 4, strategy), Z_OK);
    const size_t room = deflateBound(&stream, (uLong)size) + size / 8 + 1000;
    uint8_t *const out = calloc(1, room + GF_INFLATE_MARGIN);
    stream.next_in = (uint8_t *)data;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    for (size_t at = 0, n = 0; at < size; at += n) {
        n = size - at < 20000 ? size - at : 20000;
        stream.avail_in = (uInt)n;
        assert_int_equal(deflate(&stream, at % 7 ? Z_NO_FLUSH : Z_SYNC_FLUSH), Z_OK);
    }
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *packed = stream.total_out;
    deflateEnd(&stream);
    return out;
}

/* Walks over a stream part by part, each from a guess. Returns how many guesses were right. */
static int check_parts(const uint8_t *data, size_t size, const uint8_t *packed, size_t packed_bytes,
                       size_t part_bytes, int *parts)
{
    static struct gf_inflate_decoder decoder;
    static struct gf_inflate_table table;
    uint16_t *const samples =
        malloc((GF_INFLATE_WINDOW + size + GF_INFLATE_PART_MARGIN) * sizeof *samples);
    uint8_t *const back = malloc(size);
    struct gf_inflate_part part = {.first = true, .last = false};
    size_t done = 0;
    int right = 0;
    gf_inflate_table_init(&table);
    for (*parts = 0; !part.last; ++*parts) {
        const uint64_t real = part.end;
        part.begin = (uint64_t)*parts * part_bytes * 8;
        part.stop = part.begin + part_bytes * 8;
        if (*parts && gf_inflate_find_block(packed, packed_bytes, &decoder, &part))
            right += part.begin == real;
        part.begin = real;
        assert_true(gf_inflate_part(packed, packed_bytes, &decoder, &part,
                                    samples + GF_INFLATE_WINDOW, size - done));
        for (size_t i = 0; i < GF_INFLATE_WINDOW; i++)
            table.byte[GF_INFLATE_UNKNOWN + i] =
                (uint8_t)(done + i < GF_INFLATE_WINDOW ? 0 : data[done + i - GF_INFLATE_WINDOW]);
        gf_inflate_resolve(samples + GF_INFLATE_WINDOW, part.count, &table, back);
        assert_memory_equal(back, data + done, part.count);
        done += part.count;
        part.first = false;
    }
    assert_int_equal(done, size);
    assert_int_equal((part.end + 7) / 8, packed_bytes);
    free(samples);
    free(back);
    return right;
}

static void test_streams(void **state)
{
    enum { SIZE = 200000 };
    uint8_t *const data = malloc(SIZE);
    unsigned seed = 61;
    int right = 0, all = 0;
    for (int content = 0; content < CONTENTS; content++)
        for (int level = 0; level <= 9; level += 3)
            for (int strategy = Z_DEFAULT_STRATEGY; strategy <= Z_FIXED; strategy++) {
                size_t packed;
                int parts;
                fill(data, SIZE, content, &seed);
                uint8_t *const stream = pack(data, SIZE, level, strategy, &packed);
                const int found = check_parts(data, SIZE, stream, packed, packed / 5 + 1, &parts);
                if (level && strategy != Z_FIXED && content != FLAT) {
                    right += found;
                    all += parts - 1;
                }
                free(stream);
            }
    assert_int_equal(right, all);
    free(data);
}

/* Whatever the bits are: the memory holds, and what is taken is what zlib unpacks. */
static void test_damaged_streams(void **state)
{
    enum { SIZE = 20000, ROUNDS = 800 };
    static struct gf_inflate_decoder decoder;
    uint8_t *const data = malloc(SIZE), *const back = malloc(SIZE);
    uint16_t *const samples =
        malloc((GF_INFLATE_WINDOW + SIZE + GF_INFLATE_PART_MARGIN) * sizeof *samples);
    struct gf_inflate_table table = {0};
    unsigned seed = 67;
    int taken = 0;
    gf_inflate_table_init(&table);
    for (int round = 0; round < ROUNDS; round++) {
        size_t packed;
        fill(data, SIZE, round % CONTENTS, &seed);
        uint8_t *const stream = pack(data, SIZE, 1 + round % 9, round % 5, &packed);
        const size_t at = next_random(&seed) % packed;
        const size_t size = round % 3 ? packed : at;
        stream[at] ^= (uint8_t)(1u << round % 8);
        struct gf_inflate_part part = {.stop = (uint64_t)size * 8, .first = true};
        z_stream zlib = {
            .next_in = stream, .avail_in = (uInt)size, .next_out = back, .avail_out = SIZE};
        if (gf_inflate_part(stream, size, &decoder, &part, samples + GF_INFLATE_WINDOW, SIZE)) {
            assert_int_equal(inflateInit2(&zlib, -15), Z_OK);
            (void)inflate(&zlib, Z_SYNC_FLUSH);
            assert_int_equal(zlib.total_out, part.count);
            inflateEnd(&zlib);
            for (size_t i = 0; i < part.count; i++)
                assert_int_equal(samples[GF_INFLATE_WINDOW + i], back[i]);
            taken++;
        }
        part = (struct gf_inflate_part){.begin = at % 100, .stop = (uint64_t)size * 8};
        while (gf_inflate_find_block(stream, size, &decoder, &part)) {
            if (gf_inflate_part(stream, size, &decoder, &part, samples + GF_INFLATE_WINDOW, SIZE))
                gf_inflate_resolve(samples + GF_INFLATE_WINDOW, part.count, &table, back);
            part.begin++;
        }
        free(stream);
    }
    assert_in_range(taken, 20, ROUNDS - 20);
    free(samples);
    free(data);
    free(back);
}

/* ---- files ---- */

static struct bytes written_by_libpng(const struct picture *picture, int level, size_t chunk)
{
    write_by_libpng(in_folder("l.png"), picture, PNG_ALL_FILTERS, level, chunk);
    return load(in_folder("l.png"));
}

/* Slopes with grain, and areas of one colour. */
static struct picture grainy_picture(int width, int height, int channels, int bits)
{
    struct picture picture = random_picture(width, height, channels, bits);
    const size_t row = gf_row_bytes(picture.format);
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < row; i++) {
            uint8_t *const byte = picture.data + (size_t)y * row + i;
            *byte = (uint8_t)(y % 50 < 5 ? 77 : i / 16 + (size_t)y + *byte % 8);
        }
    return picture;
}

/* How many rows the reader of parts itself gives, which must be right where `sound`; -1: it does
 * not open. */
static int rows_of_parts(const struct bytes *file, size_t part_bytes, int threads,
                         const struct picture *wanted, bool sound)
{
    struct gf_options options = plain_options();
    struct gf_input *input = NULL;
    struct gf_png_parts_reader *reader;
    const size_t row = gf_row_bytes(wanted->format);
    unsigned char *const data = malloc(picture_bytes(wanted->format));
    size_t at = 8;
    int rows = -1;
    options.threads = threads;
    while (memcmp(file->data + at + 4, "IDAT", 4) != 0)
        at += gf_png_get_be32(file->data + at) + 12;
    assert_int_equal(gf_input_open_memory(file->data, file->size, "bytes", &input, &failure),
                     GF_OK);
    gf_input_go_to(input, (int64_t)at + 8);
    struct gf_png_idat *const idat =
        gf_png_idat_open(input, &options, gf_png_get_be32(file->data + at));
    gf_png_parts_read_open(idat, wanted->format, file->size, part_bytes, &options, &reader);
    if (reader) {
        rows = gf_png_parts_read(reader, wanted->format.height, data, row);
        if (sound)
            assert_memory_equal(data, wanted->data, (size_t)rows * row);
        gf_png_parts_read_close(reader);
    }
    gf_png_idat_close(idat);
    gf_input_close(input);
    free(data);
    return rows;
}

static void test_reader(void **state)
{
    static const size_t chunk[] = {300, 8192, 10000000};
    for (int i = 0; i < 16; i++) {
        const int channels = 1 + i % 4, bits = i % 8 < 4 ? 8 : 16, height = 400 + i;
        struct picture picture = grainy_picture(900 / channels + i, height, channels, bits);
        struct bytes file = written_by_libpng(&picture, 1 + i % 5, chunk[i % 3]);
        assert_int_equal(
            rows_of_parts(&file, 40000, gf_inflate_parts_threads + i % 3, &picture, true), height);
        assert_int_equal(rows_of_parts(&file, file.size, gf_inflate_parts_threads, &picture, true),
                         height); /* one part */
        assert_int_equal(rows_of_parts(&file, 40000, gf_inflate_parts_threads - 1, &picture, true),
                         -1);
        free(file.data);
        free_picture(&picture);
    }
}

/* Bits that flip, with the chunks' checksums as they were and right for them; cuts in the second
 * half, as the reader does not open what would unpack to far more than it holds. */
static void test_damage(void **state)
{
    struct picture picture = grainy_picture(900, 500, 3, 8);
    struct bytes file = written_by_libpng(&picture, 6, 10000000);
    const size_t begin = 8 + 25 + 8, size = gf_png_get_be32(file.data + 33);
    unsigned seed = 71;
    for (int i = 0; i < 80; i++) {
        struct bytes bad = {0};
        const size_t least = i % 4 ? 0 : size / 2;
        const size_t at = begin + least + ((size_t)next_random(&seed) << 8 | i) % (size - least);
        append(&bad, file.data, i % 4 ? file.size : at);
        if (i % 4)
            bad.data[at] ^= (unsigned char)(1u << i % 8);
        if (i % 4 > 1)
            gf_png_put_be32(bad.data + begin + size,
                            (uint32_t)crc32(0, bad.data + begin - 4, (uInt)size + 4));
        assert_in_range(rows_of_parts(&bad, 40000, gf_inflate_parts_threads, &picture, i % 4 == 0),
                        0, picture.format.height - 1);
        free(bad.data);
    }
    free(file.data);
    free_picture(&picture);
}

/* A stream with rows that the picture does not have: one thread warns of them, so that no part but
 * the last may end with the picture's last row. */
static void test_surplus(void **state)
{
    struct picture picture = grainy_picture(900, 500, 3, 8);
    struct bytes file = written_by_libpng(&picture, 6, 10000000);
    for (int height = 60; height < 260; height++) {
        struct picture fewer = picture;
        fewer.format.height = height;
        assert_in_range(rows_of_parts(&file, 40000, gf_inflate_parts_threads, &fewer, true), 0,
                        height - 1);
    }
    free(file.data);
    free_picture(&picture);
}

/* A stream of more than 20 MB, which is read in parts where there are threads, whole and damaged:
 * the pixels, the verdict and the warnings are those of one thread. */
static void test_large_files(void **state)
{
    struct picture picture = random_picture(3000, 2800, 3, 8), one, several;
    struct gf_options options = plain_options();
    for (size_t i = 0; i < picture_bytes(picture.format); i++)
        picture.data[i] &= 0xf7;
    options.png_level = 2;
    options.threads = 4;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    struct bytes file = load(in_folder("a.png"));
    assert_in_range(file.size, GF_PNG_PARTS_STREAM_LEAST + 1000, 2 * GF_PNG_PARTS_STREAM_LEAST);
    assert_int_equal(
        rows_of_parts(&file, GF_PNG_PART_BYTES, gf_inflate_parts_threads, &picture, true), 2800);
    for (int i = 0; i < 4; i++) {
        struct gf_error wanted;
        if (i)
            file.data[file.size / 4 * (size_t)i] ^= 16;
        if (i == 3)
            save(in_folder("a.png"), file.data, file.size - 12); /* without IEND as well */
        else
            save(in_folder("a.png"), file.data, file.size);
        options.allow_truncated = i == 2;
        options.threads = 1;
        const enum gf_status status = decode(in_folder("a.png"), &options, &one);
        wanted = failure;
        options.threads = gf_inflate_parts_threads;
        assert_int_equal(decode(in_folder("a.png"), &options, &several), status);
        if (i % 2)
            assert_string_equal(failure.text, wanted.text);
        else
            assert_same_pixels(&one, &several);
        if (!status) {
            free_picture(&one);
            free_picture(&several);
        }
    }
    free(file.data);
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams), cmocka_unit_test(test_damaged_streams),
        cmocka_unit_test(test_reader),  cmocka_unit_test(test_damage),
        cmocka_unit_test(test_surplus), cmocka_unit_test(test_large_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
