/* Level 1 of PNG: its streams, its files of random pictures, its mark, and marks that lie. */
#include "codec/libpng_files.h"

#include "base/cpu.h"
#include "codec/png/deflate/deflate.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_read.h"

/* ---- contents ---- */

enum { NOISE, CONSTANT, GRADIENT, DRAWING, GRAIN, MANY, CONTENTS };

/* Bytes that are alike as the filtered rows of such pictures are. */
static void fill(uint8_t *data, size_t size, size_t row, int content, unsigned *seed)
{
    const unsigned shade = next_random(seed), step = 1 + next_random(seed) % 7;
    for (size_t i = 0; i < size; i++) {
        const size_t x = i % row, y = i / row;
        const bool stroke = (x / 9 + y) % 23 < 3 || (x * 3 + y * 5) % 97 < 4;
        data[i] = (uint8_t)(content == NOISE      ? next_random(seed)
                            : content == CONSTANT ? shade
                            : content == GRADIENT ? shade + x / step + 2 * y
                            : content == DRAWING  ? (stroke ? shade / 2 + x % 9 : shade)
                            : content == MANY     ? next_random(seed) % 180 /* codes of 7, 8 bits */
                                                  : shade + next_random(seed) % 4);
    }
}

/* ---- streams ---- */

/* Whether zlib takes the bytes as a whole raw stream, or as a part that ends at a block's end. */
static bool zlib_takes(const uint8_t *packed, size_t size, bool last, const uint8_t *wanted,
                       size_t room)
{
    uint8_t *const back = malloc(room + 1);
    z_stream stream = {.next_in = (uint8_t *)packed,
                       .avail_in = (uInt)size,
                       .next_out = back,
                       .avail_out = (uInt)room + 1};
    assert_int_equal(inflateInit2(&stream, -15), Z_OK);
    const int result = inflate(&stream, Z_SYNC_FLUSH);
    const bool taken = (last ? result == Z_STREAM_END : result == Z_OK || result == Z_BUF_ERROR) &&
                       !stream.avail_in && stream.total_out == room && !memcmp(back, wanted, room);
    inflateEnd(&stream);
    free(back);
    return taken;
}

static bool takes(const uint8_t *packed, size_t size, bool last, uint8_t *back, size_t room)
{
    uint8_t *const copy = malloc(size + GF_INFLATE_STRIPE_MARGIN);
    memcpy(copy, packed, size);
    memset(copy + size, 0xa5, GF_INFLATE_STRIPE_MARGIN);
    const bool taken = gf_inflate_stripe(copy, size, last, back, room);
    free(copy);
    return taken;
}

static void check_stream(const uint8_t *data, size_t size, bool last)
{
    uint8_t *const packed = malloc(gf_deflate_fast_bound(size));
    uint8_t *const plain = malloc(gf_deflate_fast_bound(size));
    uint8_t *const back = malloc(size + 1 + GF_INFLATE_STRIPE_MARGIN);
    void *const scratch = malloc(gf_deflate_fast_scratch(size));
    const size_t length = gf_deflate_fast(data, size, last, scratch, packed);
    assert_true(length <= gf_deflate_fast_bound(size));
    assert_true(zlib_takes(packed, length, last, data, size));
    assert_true(takes(packed, length, last, back, size));
    assert_memory_equal(back, data, size);
    assert_false(takes(packed, length, !last, back, size));
    assert_false(takes(packed, length, last, back, size - 1));
    assert_false(takes(packed, length, last, back, size + 1));
    assert_false(takes(packed, length - 1, last, back, size));
    gf_cpu_allow_intrinsics(false);
    assert_int_equal(gf_deflate_fast(data, size, last, scratch, plain), length);
    gf_cpu_allow_intrinsics(true);
    assert_memory_equal(plain, packed, length);
    free(scratch);
    free(plain);
    free(packed);
    free(back);
}

static void test_streams(void **state)
{
    enum { MOST = 300000 };
    uint8_t *const data = malloc(MOST);
    unsigned seed = 41;
    for (int content = 0; content < CONTENTS; content++) {
        for (size_t size = 1; size < 300; size++) {
            fill(data, size, 31, content, &seed);
            check_stream(data, size, size % 2);
        }
        for (size_t size = 1000; size < MOST; size *= 3) {
            fill(data, size, 777, content, &seed);
            check_stream(data, size, content % 2);
        }
    }
    free(data);
}

/* What repeats gets small although nothing of it is a run; what does not repeat is stored. */
static void test_repeats(void **state)
{
    enum { SIZE = 200000, PERIOD = 111, ROW = 1601 };
    uint8_t *const data = malloc(SIZE), *const packed = malloc(gf_deflate_fast_bound(SIZE));
    void *const scratch = malloc(gf_deflate_fast_scratch(SIZE));
    unsigned seed = 47;
    fill(data, SIZE, 31, NOISE, &seed);
    assert_true(gf_deflate_fast(data, SIZE, true, scratch, packed) > SIZE);
    for (int i = PERIOD; i < SIZE; i++)
        data[i] = i % ROW ? data[i - PERIOD] : 2; /* a filter's number begins each row */
    assert_in_range(gf_deflate_fast(data, SIZE, true, scratch, packed), 1, SIZE / 20);
    free(data);
    free(packed);
    free(scratch);
}

/* What zlib writes and what is damaged: where both take it they give the same. */
static void test_foreign_streams(void **state)
{
    enum { SIZE = 3000, ROUNDS = 400 };
    uint8_t data[SIZE], packed[2 * SIZE], back[SIZE + GF_INFLATE_STRIPE_MARGIN];
    unsigned seed = 43;
    int taken = 0, damaged = 0;
    for (int round = 0; round < ROUNDS; round++) {
        static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE,
                                         Z_FIXED};
        z_stream stream = {
            .next_in = data, .avail_in = SIZE, .next_out = packed, .avail_out = sizeof packed};
        fill(data, SIZE, 100, round % CONTENTS, &seed);
        assert_int_equal(
            deflateInit2(&stream, round % 10, Z_DEFLATED, -15, 8, strategies[round / 10 % 5]),
            Z_OK);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        const size_t length = stream.total_out;
        deflateEnd(&stream);
        if (takes(packed, length, true, back, SIZE)) {
            assert_memory_equal(back, data, SIZE);
            taken++;
        }
        for (int i = 0; i < 50; i++) {
            const size_t at = next_random(&seed) % length;
            const uint8_t flip = (uint8_t)(1u << next_random(&seed) % 8);
            packed[at] ^= flip;
            if (takes(packed, length, true, back, SIZE)) {
                assert_true(zlib_takes(packed, length, true, back, SIZE));
                damaged++;
            }
            packed[at] ^= flip;
        }
    }
    assert_in_range(taken, ROUNDS / 2, ROUNDS);
    assert_in_range(damaged, 1, 50 * ROUNDS);
}

/* ---- files ---- */

/* GF_PNG_PICTURES=10000 tries that many. One in 50 has several stripes. */
static void test_random_pictures(void **state)
{
    const char *const wanted = getenv("GF_PNG_PICTURES");
    const int count = wanted ? atoi(wanted) : 400;
    unsigned seed = 47;
    for (int i = 0; i < count; i++) {
        const int channels = 1 + i % 4, bits = i / 4 % 2 ? 16 : 8, most = i % 50 ? 60 : 900;
        const int width = 1 + (int)(next_random(&seed) % (unsigned)most);
        const int height = 1 + (int)(next_random(&seed) % (unsigned)most);
        struct picture picture = random_picture(width, height, channels, bits);
        fill(picture.data, picture_bytes(picture.format), gf_row_bytes(picture.format),
             i / 8 % CONTENTS, &seed);
        check_png(&picture, 1);
        free_picture(&picture);
    }
}

static void test_rows_of_stripes(void **state)
{
    assert_int_equal(gf_png_mark_rows(1, 1), 1);
    assert_int_equal(gf_png_mark_rows(299, 100), 100);
    assert_int_equal(gf_png_mark_rows(299, 20000), 873);
    assert_int_equal(gf_png_mark_rows(299, 60000), 1747); /* more than 16 MB */
    assert_int_equal(gf_png_mark_rows(7680 * 3, 4320), 24);
    assert_int_equal(gf_png_mark_rows(7680 * 8, 4320), 17);
    assert_int_equal(gf_png_mark_rows(2000000, 10), 1);
}

/* ---- marks that lie ---- */

enum { CHUNKS = 40 };

/* A PNG as its chunks, each from its length to its checksum. */
struct chunks {
    struct {
        unsigned char *data; /* the type, and then the data */
        size_t size;         /* of the data */
    } chunk[CHUNKS];
    int count;
};

static void add_chunk(struct chunks *chunks, int at, const char *type, const void *data,
                      size_t size)
{
    assert_true(chunks->count < CHUNKS);
    memmove(chunks->chunk + at + 1, chunks->chunk + at,
            (size_t)(chunks->count++ - at) * sizeof *chunks->chunk);
    chunks->chunk[at].data = malloc(size + 5);
    chunks->chunk[at].size = size;
    memcpy(chunks->chunk[at].data, type, 4);
    memcpy(chunks->chunk[at].data + 4, data, size);
}

static void drop_chunk(struct chunks *chunks, int at)
{
    free(chunks->chunk[at].data);
    memmove(chunks->chunk + at, chunks->chunk + at + 1,
            (size_t)(--chunks->count - at) * sizeof *chunks->chunk);
}

static struct chunks chunks_of(const struct bytes *file)
{
    struct chunks chunks = {0};
    for (size_t at = 8; at < file->size; at += get_be32(file->data + at) + 12)
        add_chunk(&chunks, chunks.count, (const char *)file->data + at + 4, file->data + at + 8,
                  get_be32(file->data + at));
    return chunks;
}

static int find_chunk(const struct chunks *chunks, const char *type)
{
    for (int i = 0; i < chunks->count; i++)
        if (!memcmp(chunks->chunk[i].data, type, 4))
            return i;
    return -1;
}

static struct bytes joined(const struct chunks *chunks)
{
    struct bytes file = {0};
    append(&file, "\x89PNG\r\n\x1a\n", 8);
    for (int i = 0; i < chunks->count; i++) {
        char type[5] = {0};
        memcpy(type, chunks->chunk[i].data, 4);
        append_chunk(&file, type, chunks->chunk[i].data + 4, chunks->chunk[i].size);
    }
    return file;
}

static void free_chunks(struct chunks *chunks)
{
    while (chunks->count)
        drop_chunk(chunks, 0);
}

struct outcome {
    enum gf_status status;
    char text[sizeof failure.text], warning[sizeof last_warning];
    struct picture picture;
};

static struct outcome outcome_of(const struct bytes *file, int threads, bool allow_truncated)
{
    struct gf_options options = plain_options();
    struct outcome outcome = {0};
    options.threads = threads;
    options.allow_truncated = allow_truncated;
    save(in_folder("a.png"), file->data, file->size);
    outcome.status = decode(in_folder("a.png"), &options, &outcome.picture);
    strcpy(outcome.text, failure.text);
    strcpy(outcome.warning, last_warning);
    return outcome;
}

/* The file is read, or refused, as it is without a mark. */
static void check_as_without(const struct bytes *file, const struct bytes *without)
{
    for (int how = 0; how < 4; how++) {
        const int threads = how % 2 ? 3 : 1;
        struct outcome a = outcome_of(file, threads, how / 2),
                       b = outcome_of(without, threads, how / 2);
        assert_int_equal(a.status, b.status);
        assert_string_equal(a.text, b.text);
        assert_string_equal(a.warning, b.warning);
        if (!a.status) {
            assert_same_pixels(&a.picture, &b.picture);
            free_picture(&a.picture);
            free_picture(&b.picture);
        }
    }
}

/* `file` is with a mark. */
static void check_chunks(struct chunks *chunks)
{
    struct bytes file = joined(chunks), without = {0};
    for (int mark; (mark = find_chunk(chunks, GF_PNG_MARK)) >= 0;)
        drop_chunk(chunks, mark);
    without = joined(chunks);
    check_as_without(&file, &without);
    free(file.data);
    free(without.data);
    free_chunks(chunks);
}

/* Four stripes at level 1, or at another one, to which a mark is added. */
static struct bytes marked_file(int level, int rows)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(700, 400, 3, 8);
    unsigned seed = 59;
    for (size_t i = 0; i < picture_bytes(picture.format); i += 7)
        picture.data[i] ^= (unsigned char)(next_random(&seed) % 5); /* it repeats nothing */
    options.png_level = level;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    free_picture(&picture);
    struct bytes file = load(in_folder("a.png"));
    if (level == 1)
        return file;
    struct chunks chunks = chunks_of(&file);
    unsigned char mark[GF_PNG_MARK_BYTES] = {GF_PNG_MARK_VERSION};
    put_be32(mark + 1, (uint32_t)rows);
    chunks.chunk[find_chunk(&chunks, "IDAT")].data[5] = 1; /* zlib's head says level 1 */
    add_chunk(&chunks, find_chunk(&chunks, "IDAT"), GF_PNG_MARK, mark, sizeof mark);
    free(file.data);
    file = joined(&chunks);
    free_chunks(&chunks);
    return file;
}

static void test_false_marks(void **state)
{
    static const uint32_t rows[] = {0, 1, 99, 123, 125, 400, 401, 0x7fffffff, 0xffffffff};
    struct bytes file = marked_file(1, 0);
    struct chunks chunks = chunks_of(&file);
    const int mark = find_chunk(&chunks, GF_PNG_MARK);
    assert_true(mark > 0 && !memcmp(chunks.chunk[mark + 1].data, "IDAT", 4));
    assert_int_equal(get_be32(chunks.chunk[mark].data + 5), gf_png_mark_rows(2100, 400));
    check_chunks(&chunks);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        chunks = chunks_of(&file);
        put_be32(chunks.chunk[mark].data + 5, rows[i]);
        check_chunks(&chunks);
    }
    for (int change = 0; change < 4; change++) {
        chunks = chunks_of(&file);
        if (change == 0)
            chunks.chunk[mark].data[4] = 2; /* a later version */
        else if (change == 1)
            chunks.chunk[mark].size = 4;
        else if (change == 2)
            add_chunk(&chunks, mark, GF_PNG_MARK, "\1\0\0\0\7", 5);
        else
            add_chunk(&chunks, mark + 1, "tEXt", "a\0b", 3);
        check_chunks(&chunks);
    }
    free(file.data);
    file = marked_file(6, 124); /* stripes of that many rows, which refer to those above */
    chunks = chunks_of(&file);
    check_chunks(&chunks);
    free(file.data);
}

/* The same stream in other chunks. */
static void test_other_chunks(void **state)
{
    struct bytes file = marked_file(1, 0);
    const char *const type = "IDAT";
    for (int change = 0; change < 7; change++) {
        struct chunks chunks = chunks_of(&file);
        const int first = find_chunk(&chunks, type), second = first + 1;
        const size_t size = chunks.chunk[first].size;
        if (change < 2) { /* one byte, or most of them, go to the chunk behind */
            const size_t kept = change ? 1 : size - 1;
            struct bytes more = {0};
            append(&more, chunks.chunk[first].data + 4 + kept, size - kept);
            append(&more, chunks.chunk[second].data + 4, chunks.chunk[second].size);
            chunks.chunk[first].size = kept;
            drop_chunk(&chunks, second);
            add_chunk(&chunks, second, type, more.data, more.size);
            free(more.data);
        } else if (change == 2) {
            add_chunk(&chunks, first, type, "", 0);
        } else if (change == 3) { /* a stripe is missing */
            drop_chunk(&chunks, second);
        } else if (change == 4) { /* or twice there */
            add_chunk(&chunks, second, type, chunks.chunk[second].data + 4,
                      chunks.chunk[second].size);
        } else if (change == 5) { /* two are exchanged, which their checksums do not show */
            const unsigned char *const data = chunks.chunk[second].data;
            add_chunk(&chunks, second + 2, type, data + 4, chunks.chunk[second].size);
            drop_chunk(&chunks, second);
        } else { /* the last one goes on */
            const int last = chunks.count - 2;
            chunks.chunk[last].data = realloc(chunks.chunk[last].data, chunks.chunk[last].size + 9);
            memset(chunks.chunk[last].data + 4 + chunks.chunk[last].size, 7, 5);
            chunks.chunk[last].size += 5;
        }
        check_chunks(&chunks);
    }
    free(file.data);
}

static void put_mark_out(struct bytes *file)
{
    for (size_t at = 8; at < file->size; at += get_be32(file->data + at) + 12)
        if (!memcmp(file->data + at + 4, GF_PNG_MARK, 4)) {
            const size_t size = get_be32(file->data + at) + 12;
            memmove(file->data + at, file->data + at + size, file->size - at - size);
            file->size -= size;
            return;
        }
}

/* Bits that flip behind the header, with checksums that are right for them and with the old ones;
 * files that end too early. */
static void test_damage(void **state)
{
    struct bytes file = marked_file(1, 0);
    unsigned seed = 53;
    for (int round = 0; round < 60; round++) {
        struct chunks chunks = chunks_of(&file);
        const int mark = find_chunk(&chunks, GF_PNG_MARK);
        const int at = mark + 1 + round % (chunks.count - 2 - mark);
        const size_t size = chunks.chunk[at].size;
        const size_t byte = round % 3 == 0   ? next_random(&seed) % size
                            : round % 3 == 1 ? size - 1 - next_random(&seed) % 9
                                             : next_random(&seed) % 90;
        chunks.chunk[at].data[4 + byte] ^= (unsigned char)(1u << round % 8);
        check_chunks(&chunks);
        struct bytes damaged = {0}, without = {0};
        const size_t place = 100 + ((size_t)next_random(&seed) << 8 | (next_random(&seed) & 255)) %
                                       (file.size - 100);
        append(&damaged, file.data, round % 2 ? file.size : place);
        if (round % 2)
            damaged.data[place] ^= 0x40;
        append(&without, damaged.data, damaged.size);
        put_mark_out(&without);
        check_as_without(&damaged, &without);
        free(damaged.data);
        free(without.data);
    }
    free(file.data);
}

/* How many rows the reader of stripes itself gives; -1: it does not take the file. */
static int rows_of_stripes(const struct bytes *file, int stripe_rows, const struct picture *wanted)
{
    struct gf_options options = plain_options();
    struct gf_input *input = NULL;
    struct gf_png_stripes_reader *reader;
    const size_t row = gf_row_bytes(wanted->format);
    unsigned char *const data = malloc(picture_bytes(wanted->format));
    size_t at = 8;
    int rows = -1;
    options.threads = 2;
    while (memcmp(file->data + at + 4, "IDAT", 4) != 0)
        at += get_be32(file->data + at) + 12;
    save(in_folder("a.png"), file->data, file->size);
    assert_int_equal(gf_input_open(in_folder("a.png"), false, &input, &failure), GF_OK);
    gf_input_go_to(input, (int64_t)at + 8);
    gf_png_stripes_read_open(input, wanted->format, get_be32(file->data + at), stripe_rows,
                             &options, &reader);
    if (reader) {
        rows = gf_png_stripes_read(reader, wanted->format.height, data, row);
        assert_memory_equal(data, wanted->data, (size_t)rows * row);
        assert_int_equal(gf_png_stripes_read_end(reader), (int64_t)file->size - 12);
        gf_png_stripes_read_close(reader);
    }
    gf_input_close(input);
    free(data);
    return rows;
}

static void test_reader_of_stripes(void **state)
{
    struct gf_options options = plain_options();
    struct bytes file = marked_file(1, 0);
    struct picture picture;
    save(in_folder("a.png"), file.data, file.size);
    assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
    assert_int_equal(rows_of_stripes(&file, 124, &picture), 400);
    assert_int_equal(rows_of_stripes(&file, 123, &picture), 0); /* as many stripes */
    assert_int_equal(rows_of_stripes(&file, 200, &picture), -1);
    assert_int_equal(rows_of_stripes(&file, 0, &picture), -1);
    file.data[file.size - 12 - 4 - 100] ^= 1; /* in the last stripe */
    assert_int_equal(rows_of_stripes(&file, 124, &picture), 372);
    file.data[file.size - 12 - 4 - 100] ^= 1;
    file.data[file.size - 12 - 5] ^= 1; /* Adler-32, with a checksum that is right for it */
    struct chunks chunks = chunks_of(&file);
    free(file.data);
    file = joined(&chunks);
    free_chunks(&chunks);
    assert_int_equal(rows_of_stripes(&file, 124, &picture), 372);
    free(file.data);
    file = marked_file(6, 124);
    assert_int_equal(rows_of_stripes(&file, 124, &picture), 124); /* the second needs the first */
    free(file.data);
    free_picture(&picture);
}

/* A small budget, a pipe, and a file that is closed early. */
static void test_other_ways_in(void **state)
{
    struct bytes file = marked_file(1, 0);
    struct gf_options options = plain_options();
    struct picture whole, back;
    save(in_folder("a.png"), file.data, file.size);
    assert_int_equal(decode(in_folder("a.png"), &options, &whole), GF_OK);
    for (options.memory_bytes = 1 << 20; options.memory_bytes <= 64 << 20;
         options.memory_bytes *= 4) {
        assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
        assert_same_pixels(&whole, &back);
        free_picture(&back);
    }
    options.memory_bytes = 0;
    struct gf_input *input = NULL;
    assert_int_equal(gf_input_open_memory(file.data, file.size, "bytes", &input, &failure), GF_OK);
    assert_int_equal(decode_input(input, &options, &back), GF_OK);
    assert_same_pixels(&whole, &back);
    free_picture(&back);
    gf_input_close(input);
    for (int rows = 0; rows <= 400; rows += 80) {
        struct gf_source *source = NULL;
        assert_int_equal(gf_input_open(in_folder("a.png"), false, &input, &failure), GF_OK);
        assert_int_equal(gf_source_open(input, &options, &source, &failure), GF_OK);
        unsigned char *const data = malloc(picture_bytes(source->format));
        assert_int_equal(source->read(source, rows, data, gf_row_bytes(source->format), &failure),
                         GF_OK);
        source->close(source);
        gf_input_close(input);
        free(data);
    }
    free_picture(&whole);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),         cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_foreign_streams), cmocka_unit_test(test_random_pictures),
        cmocka_unit_test(test_rows_of_stripes), cmocka_unit_test(test_false_marks),
        cmocka_unit_test(test_other_chunks),    cmocka_unit_test(test_reader_of_stripes),
        cmocka_unit_test(test_damage),          cmocka_unit_test(test_other_ways_in),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
