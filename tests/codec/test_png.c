/* PNG's own parts: filters, deflate, stripes and their joints, rows unpacked beside libpng. */
#include "codec/libpng_files.h"

#include <signal.h>

#include <zlib.h>

#include "codec/common/rows/source.h"
#include "codec/io/output.h"
#include "codec/png/deflate/deflate.h"
#include "codec/png/png_filter.h"

/* ---- filters ---- */

static int predicted(int filter, int left, int above, int corner)
{
    const int p = left + above - corner;
    const int pa = abs(p - left), pb = abs(p - above), pc = abs(p - corner);
    switch (filter) {
    case 1:
        return left;
    case 2:
        return above;
    case 3:
        return (left + above) / 2;
    case 4:
        return pa <= pb && pa <= pc ? left : pb <= pc ? above : corner;
    default:
        return 0;
    }
}

enum { ROW_MAX = 400 };

struct row_test {
    uint8_t row[ROW_MAX + 2 * GF_PNG_MARGIN], above[ROW_MAX + 2 * GF_PNG_MARGIN];
    uint8_t wanted[ROW_MAX], got[ROW_MAX + GF_PNG_MARGIN];
    uint64_t sums[GF_PNG_FILTERS];
};

/* kind 0: anything; 1: only extremes, where differences wrap; 2: neighbours that are nearly equal.
 */
static void fill_rows(struct row_test *test, size_t bytes, int kind, unsigned *seed)
{
    memset(test, 0, sizeof *test);
    for (size_t i = 0; i < bytes; i++) {
        static const uint8_t extremes[] = {0, 255, 127, 128, 1, 254};
        const unsigned a = next_random(seed), b = next_random(seed);
        test->row[GF_PNG_MARGIN + i] = (uint8_t)(kind == 0   ? a
                                                 : kind == 1 ? extremes[a % 6]
                                                             : 100 + a % 4);
        test->above[GF_PNG_MARGIN + i] = (uint8_t)(kind == 0   ? b
                                                   : kind == 1 ? extremes[b % 6]
                                                               : 100 + b % 4);
    }
}

static void check_filter(const struct gf_png_filters *filters, struct row_test *test, int filter,
                         size_t bytes, int bpp)
{
    uint8_t *const row = test->row + GF_PNG_MARGIN, *const above = test->above + GF_PNG_MARGIN;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i++) {
        const int guess = predicted(filter, *(row + i - bpp), above[i], *(above + i - bpp));
        test->wanted[i] = (uint8_t)(row[i] - guess);
        sum += (uint64_t)abs((int8_t)test->wanted[i]);
    }
    assert_int_equal(test->sums[filter], sum);
    memset(test->got, 0xa5, sizeof test->got);
    filters->apply((enum gf_png_filter)filter, row, above, bytes, bpp, test->got);
    assert_memory_equal(test->got, test->wanted, bytes);
    assert_int_equal(test->got[bytes], 0xa5);
    /* What stands before the rows must not matter, nor what stands behind them change. */
    memset(test->above, 0x33, GF_PNG_MARGIN);
    filters->undo((enum gf_png_filter)filter, test->got, above, bytes, bpp);
    memset(test->above, 0, GF_PNG_MARGIN);
    assert_memory_equal(test->got, row, bytes);
    assert_int_equal(test->got[bytes], 0xa5);
}

static void test_filters(void **state)
{
    static const int pixels[] = {1, 2, 3, 4, 6, 8};
    unsigned seed = 77;
    struct row_test test;
    const struct gf_png_filters *filters;
    for (int level = 0; (filters = gf_png_filters_level(level)); level++)
        for (int p = 0; p < 6; p++)
            for (size_t width = 1; width * (size_t)pixels[p] <= ROW_MAX; width += 1 + width / 5)
                for (int kind = 0; kind < 3; kind++) {
                    const size_t bytes = width * (size_t)pixels[p];
                    fill_rows(&test, bytes, kind, &seed);
                    filters->sums(test.row + GF_PNG_MARGIN, test.above + GF_PNG_MARGIN, bytes,
                                  pixels[p], test.sums);
                    for (int filter = 0; filter < GF_PNG_FILTERS; filter++)
                        check_filter(filters, &test, filter, bytes, pixels[p]);
                }
}

static void test_every_paeth(void **state)
{
    const struct gf_png_filters *filters;
    for (int level = 0; (filters = gf_png_filters_level(level)); level++)
        for (int corner = 0; corner < 256; corner += 3)
            for (int left = 0; left < 256; left++) {
                struct row_test test = {0};
                /* A pixel of 8 bytes left of another: 8 values of `above` at once. */
                for (int above = 0; above < 256; above += 8) {
                    uint8_t row[16 + 2 * GF_PNG_MARGIN] = {0}, up[16 + 2 * GF_PNG_MARGIN] = {0};
                    for (int i = 0; i < 8; i++) {
                        row[GF_PNG_MARGIN + i] = (uint8_t)left;
                        up[GF_PNG_MARGIN + i] = (uint8_t)corner;
                        up[GF_PNG_MARGIN + 8 + i] = (uint8_t)(above + i);
                    }
                    filters->apply(GF_PNG_PAETH, row + GF_PNG_MARGIN, up + GF_PNG_MARGIN, 16, 8,
                                   test.got);
                    for (int i = 0; i < 8; i++)
                        assert_int_equal(test.got[8 + i],
                                         (uint8_t)-predicted(4, left, above + i, corner));
                    filters->undo(GF_PNG_PAETH, test.got, up + GF_PNG_MARGIN, 16, 8);
                    assert_memory_equal(test.got, row + GF_PNG_MARGIN, 16);
                }
            }
}

/* Rows one below the other, by twos where they allow it: filters that follow one another in every
 * order. */
static void test_undoing_rows(void **state)
{
    static const int pixels[] = {1, 2, 3, 4, 6, 8};
    enum { ROWS = 60, WIDTH = 13, ROW = WIDTH * 8 };
    const struct gf_png_filters *filters;
    unsigned seed = 21;
    for (int level = 0; (filters = gf_png_filters_level(level)); level++)
        for (int p = 0; p < 6; p++)
            for (int width = 1; width <= WIDTH; width += 4) {
                const size_t bytes = (size_t)(pixels[p] * width), step = bytes + 1;
                uint8_t wanted[(ROWS + 1) * (ROW + 2 * GF_PNG_MARGIN)] = {0};
                uint8_t rows[ROWS * (ROW + 1) + GF_PNG_MARGIN] = {0},
                                                zeros[ROW + GF_PNG_MARGIN] = {0};
                const size_t pitch = bytes + 2 * GF_PNG_MARGIN;
                for (int y = 0; y < ROWS; y++) {
                    uint8_t *const row = wanted + (size_t)(y + 1) * pitch + GF_PNG_MARGIN;
                    const unsigned any = next_random(&seed);
                    for (size_t i = 0; i < bytes; i++)
                        row[i] = (uint8_t)next_random(&seed);
                    rows[(size_t)y * step] = any % 3 ? GF_PNG_PAETH : any / 3 % 5;
                    filters->apply(rows[(size_t)y * step], row, row - pitch, bytes, pixels[p],
                                   rows + (size_t)y * step + 1);
                }
                assert_int_equal(gf_png_undo_rows(filters, rows, ROWS, zeros, bytes, pixels[p]),
                                 ROWS);
                for (int y = 0; y < ROWS; y++)
                    assert_memory_equal(rows + (size_t)y * step + 1,
                                        wanted + (size_t)(y + 1) * pitch + GF_PNG_MARGIN, bytes);
            }
}

/* ---- deflate ---- */

static void check_lengths(const uint32_t *frequency, int symbols, int longest)
{
    uint8_t lengths[GF_HUFFMAN_SYMBOLS];
    uint32_t taken = 0;
    gf_huffman_lengths(frequency, symbols, longest, lengths);
    for (int s = 0; s < symbols; s++) {
        assert_int_equal(lengths[s] != 0, frequency[s] != 0);
        assert_true(lengths[s] <= longest);
        if (lengths[s])
            taken += 1u << (longest - lengths[s]);
        for (int other = 0; other < s; other++) /* the more frequent is never the longer */
            if (frequency[s] > frequency[other] && frequency[other])
                assert_true(lengths[s] <= lengths[other]);
    }
    assert_int_equal(taken, 1u << longest); /* a complete code, and no more */
}

static void test_prefix_codes(void **state)
{
    uint32_t frequency[GF_HUFFMAN_SYMBOLS] = {1, 1};
    unsigned seed = 5;
    for (int s = 2; s < 30; s++)
        frequency[s] = frequency[s - 1] + frequency[s - 2]; /* as deep as can be */
    check_lengths(frequency, 2, 7);
    check_lengths(frequency, 19, 7);
    check_lengths(frequency, 30, 15);
    check_lengths(frequency, 30, 14);
    check_lengths(frequency, 30, 5);
    for (int round = 0; round < 100; round++) {
        for (int s = 0; s < 286; s++)
            frequency[s] =
                next_random(&seed) % 3 ? 1 + (next_random(&seed) >> (next_random(&seed) % 24)) : 0;
        frequency[0] = frequency[285] = 1;
        check_lengths(frequency, 286, 9 + round % 7);
    }
}

/* Two pieces one behind the other, the first of `first` bytes, as stripes are. */
static void check_deflate(const uint8_t *data, size_t size, size_t first)
{
    uint8_t *const packed =
        malloc(gf_deflate_fast_bound(first) + gf_deflate_fast_bound(size - first));
    uint8_t *const back = malloc(size + 1);
    void *const scratch = malloc(gf_deflate_fast_scratch(size));
    assert_true(packed && back && scratch);
    size_t length = 0;
    if (first) {
        length = gf_deflate_fast(data, first, first == size, scratch, packed);
        assert_true(length <= gf_deflate_fast_bound(first));
    }
    if (first < size)
        length += gf_deflate_fast(data + first, size - first, true, scratch, packed + length);
    z_stream stream = {
        .next_in = packed, .avail_in = (uInt)length, .next_out = back, .avail_out = (uInt)size + 1};
    assert_int_equal(inflateInit2(&stream, -15), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    assert_int_equal(stream.avail_in, 0);
    assert_memory_equal(back, data, size);
    inflateEnd(&stream);
    free(scratch);
    free(packed);
    free(back);
}

enum { DEFLATE_BYTES = 200000 };

static void test_deflate_fast(void **state)
{
    uint8_t *const data = malloc(DEFLATE_BYTES);
    unsigned seed = 9;
    memset(data, 7, DEFLATE_BYTES);
    for (size_t size = 1; size < 1200; size++) /* one run, cut by every length */
        check_deflate(data, size, size / 2);
    size_t at = 0;
    for (size_t run = 1; at + run < DEFLATE_BYTES; at += run, run = run % 530 + 1)
        memset(data + at, (int)(run * 37), run);
    check_deflate(data, at, at);
    check_deflate(data, at, 65536);
    for (size_t size = 1; size < 64; size++)
        check_deflate(data + 300, size, 0);
    for (size_t i = 0; i < DEFLATE_BYTES; i++)
        data[i] = (uint8_t)next_random(&seed); /* nothing to gain: stored */
    check_deflate(data, DEFLATE_BYTES, 0);
    check_deflate(data, DEFLATE_BYTES, 65535);
    check_deflate(data, 2 * 65535, 65535);
    /* The sample is all zeros, the rest is not: codes of any length must fit. */
    for (size_t i = 0; i < DEFLATE_BYTES; i++)
        if (i / 2048 % 4 == 0)
            data[i] = 0;
    check_deflate(data, DEFLATE_BYTES, 100000);
    free(data);
}

static void test_adler(void **state)
{
    enum { SIZE = 1000003 };
    uint8_t *const data = malloc(SIZE);
    memset(data, 255, SIZE);
    assert_int_equal(gf_adler32(data, SIZE), adler32(1, data, SIZE));
    unsigned seed = 3;
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)next_random(&seed);
    assert_int_equal(gf_adler32(data, SIZE), adler32(1, data, SIZE));
    for (uInt size = 0; size < 300; size++)
        assert_int_equal(gf_adler32(data + size, size), adler32(1, data + size, size));
    free(data);
}

/* ---- whole files ---- */

/* Flat areas, ramps, grain and repetitions by turns: every filter and every kind of match. */
static struct picture varied_picture(int width, int height, int channels, int bits)
{
    struct picture picture = random_picture(width, height, channels, bits);
    const size_t row = gf_row_bytes(picture.format), step = (size_t)(channels * bits / 8);
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < row; i++) {
            uint8_t *const byte = picture.data + (size_t)y * row + i;
            const int kind = y / 7 % 5;
            *byte = (uint8_t)(kind == 0   ? 90
                              : kind == 1 ? i / step + 3 * (size_t)y
                              : kind == 2 ? *byte
                              : kind == 3 ? (i * i / 900 + *byte % 3)
                                          : i / step % 16 * 16 + *byte % 2);
        }
    return picture;
}

static void test_files(void **state)
{
    static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {3, 3}, {77, 55}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int channels = 1; channels <= 4; channels++)
            for (int bits = 8; bits <= 16; bits += 8) {
                struct picture picture = varied_picture(sizes[s][0], sizes[s][1], channels, bits);
                for (int level = 0; level <= 9; level++)
                    check_png(&picture, level);
                free_picture(&picture);
            }
}

/* Of several stripes; of rows longer than deflate's window, and than a stripe; a last stripe of one
 * row. */
static void test_stripes(void **state)
{
    static const struct {
        int width, height, channels, bits;
    } formats[] = {{700, 400, 3, 8},  {301, 290, 4, 16}, {999, 1311, 1, 8}, {257, 601, 2, 8},
                   {40000, 17, 1, 8}, {20000, 23, 3, 8}, {150000, 5, 2, 8}, {1, 140000, 1, 16},
                   {400, 219, 3, 8},  {70000, 9, 4, 16}};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        static const int levels[] = {0, 1, 2, 6};
        struct picture picture = varied_picture(formats[f].width, formats[f].height,
                                                formats[f].channels, formats[f].bits);
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
            check_png(&picture, levels[l]);
        free_picture(&picture);
    }
}

/* Stripes refer to what is before them: what repeats costs nothing at their joints. */
static void test_stripes_know_the_window(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(100, 60000, 3, 8);
    const size_t row = gf_row_bytes(picture.format);
    for (int y = 50; y < picture.format.height; y++) /* noise that comes again each 50 rows */
        memcpy(picture.data + (size_t)y * row, picture.data + (size_t)(y - 50) * row, row);
    options.png_level = 6;
    options.threads = 2;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    struct bytes file = load(in_folder("a.png"));
    /* 69 stripes; 15 KB of noise packed once, not once for each. */
    assert_in_range(file.size, 15000, 300000);
    free(file.data);
    free_picture(&picture);
}

/* A source that is closed after some rows ends its threads and leaves nothing. */
static void test_closing_early(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(700, 2000, 3, 8);
    const size_t row = gf_row_bytes(picture.format);
    for (options.threads = 1; options.threads <= 5; options.threads += 2)
        for (int rows = 0; rows <= 2000; rows += 250) {
            struct gf_output *output = NULL;
            struct gf_sink *sink = NULL;
            assert_int_equal(gf_output_open(in_folder("gone.png"), &output, &failure), GF_OK);
            assert_int_equal(gf_sink_open(output, GF_FILE_PNG, picture.format, &picture.metadata,
                                          &options, &sink, &failure),
                             GF_OK);
            assert_int_equal(sink->write(sink, rows, picture.data, row, &failure), GF_OK);
            sink->close(sink);
            gf_output_close(output);
            assert_int_equal(access(in_folder("gone.png"), F_OK), -1);
        }
    free_picture(&picture);
}

/* A full disk, in the midst of it. */
static void test_failing_output(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(700, 2000, 3, 8);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (options.threads = 1; options.threads <= 5; options.threads += 2) {
        const struct rlimit small = {.rlim_cur = 2000000, .rlim_max = before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        const enum gf_status status = encode(in_folder("full.png"), &picture, &options);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, GF_ERROR_OUTPUT);
        assert_failure_says("File too large");
        assert_int_equal(access(in_folder("full.png"), F_OK), -1);
    }
    free_picture(&picture);
}

static int64_t size_of(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return file.st_size;
}

/* What is drawn, on an even ground and with shapes that come again, is not much larger at level 1
 * than what libpng writes: with runs alone it would be twice as large. */
static void test_drawings(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(1200, 900, 3, 8),
                   letters = random_picture(1200, 12, 3, 8);
    const size_t row = gf_row_bytes(picture.format);
    memset(picture.data, 240, picture_bytes(picture.format));
    for (int y = 0; y < 900; y++)
        for (int x = 0; x < 1200; x += 100)
            if (y % 60 < 12)
                memcpy(picture.data + (size_t)y * row + (size_t)x * 3,
                       letters.data + (size_t)(y % 60) * row, 24);
    check_png(&picture, 1);
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    write_by_libpng(in_folder("b.png"), &picture, PNG_ALL_FILTERS, -1, 8192);
    assert_true(size_of(in_folder("a.png")) < 3 * size_of(in_folder("b.png")) / 2);
    free_picture(&letters);
    free_picture(&picture);
}

/* ---- reading what others write ---- */

static void test_reading_filters(void **state)
{
    static const int filters[] = {PNG_FILTER_NONE, PNG_FILTER_SUB,   PNG_FILTER_UP,
                                  PNG_FILTER_AVG,  PNG_FILTER_PAETH, PNG_ALL_FILTERS};
    for (int channels = 1; channels <= 4; channels++)
        for (int bits = 8; bits <= 16; bits += 8)
            for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
                struct gf_options options = plain_options();
                struct picture picture = varied_picture(211, 333, channels, bits), back;
                write_by_libpng(in_folder("a.png"), &picture, filters[f], -1, f % 2 ? 8192 : 101);
                for (options.threads = 1; options.threads <= 2; options.threads++) {
                    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
                    assert_same_pixels(&picture, &back);
                    free_picture(&back);
                }
                free_picture(&picture);
            }
}

/* The same rows come, and the same message, whether a thread unpacks or the caller. */
static void test_damage_by_threads(void **state)
{
    struct gf_options options = plain_options();
    struct picture noise = random_picture(400, 700, 3, 8), back[2];
    assert_int_equal(encode(in_folder("a.png"), &noise, &options), GF_OK);
    struct bytes file = load(in_folder("a.png"));
    for (size_t cut = 2000; cut < file.size; cut += file.size / 23) {
        char text[2][sizeof failure.text];
        for (int i = 0; i < 2; i++) {
            options.threads = i ? 3 : 1;
            if (cut % 2)
                save(in_folder("a.png"), file.data, cut);
            else {
                file.data[cut] ^= 0x10;
                save(in_folder("a.png"), file.data, file.size);
                file.data[cut] ^= 0x10;
            }
            options.allow_truncated = false;
            assert_int_equal(decode(in_folder("a.png"), &options, &back[i]), GF_ERROR_INPUT);
            strcpy(text[i], failure.text);
            options.allow_truncated = true;
            assert_int_equal(decode(in_folder("a.png"), &options, &back[i]), GF_OK);
            assert_memory_equal(last_warning, text[i], strlen(last_warning));
            assert_string_equal(text[i] + strlen(last_warning),
                                " (to keep what there is: options.allow_truncated)");
        }
        assert_string_equal(text[0], text[1]);
        assert_same_pixels(&back[0], &back[1]);
        free_picture(&back[0]);
        free_picture(&back[1]);
    }
    free(file.data);
    free_picture(&noise);
}

/* The beginning of a PNG of 4x2 gray pixels. */
static struct bytes small_png(void)
{
    return png_beginning((const unsigned char[13]){0, 0, 0, 4, 0, 0, 0, 2, 8});
}

static void save_png(struct bytes *png)
{
    append_chunk(png, "IEND", "", 0);
    save(in_folder("a.png"), png->data, png->size);
    free(png->data);
}

/* A row with a filter that does not exist; chunks behind the pixels. */
static void check_rows(unsigned char filter, const char *chunk, const char *words)
{
    const struct gf_options options = plain_options();
    const unsigned char rows[10] = {0, 1, 2, 3, 4, filter, 5, 6, 7, 8};
    unsigned char packed[64];
    uLongf size = sizeof packed;
    struct picture picture;
    assert_int_equal(compress(packed, &size, rows, sizeof rows), Z_OK);
    struct bytes png = small_png();
    append_chunk(&png, "IDAT", packed, 5);
    append_chunk(&png, "IDAT", packed, 0);
    append_chunk(&png, "IDAT", packed + 5, size - 5);
    if (chunk)
        append_chunk(&png, chunk, "text", 4);
    save_png(&png);
    if (filter) {
        assert_refused(in_folder("a.png"), &options, words);
        return;
    }
    assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
    assert_memory_equal(picture.data, "\1\2\3\4\5\6\7\10", 8);
    assert_non_null(strstr(last_warning, words));
    free_picture(&picture);
}

/* All rows are there and a few bytes more, but neither the stream's end nor its checksum: more than
 * likely the damage is in what was unpacked. */
static void check_endless_stream(void)
{
    const struct gf_options options = plain_options();
    unsigned char rows[14] = {0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 250, 251, 252, 253}, packed[64];
    uLongf size = sizeof packed;
    assert_int_equal(compress2(packed, &size, rows, sizeof rows, 0), Z_OK);
    struct bytes png = small_png();
    append_chunk(&png, "IDAT", packed, size - 5);
    save_png(&png);
    assert_refused(in_folder("a.png"), &options, "after row 1 of 2: Not enough image data");
}

/* More bytes than the rows have are a warning, but not of a picture that is refused: a thread that
 * unpacks may have come to them or not. */
static void check_surplus(unsigned char filter, bool sound)
{
    const struct gf_options options = plain_options();
    const unsigned char rows[14] = {0, 1, 2, 3, 4, filter, 5, 6, 7, 8, 250, 251, 252, 253};
    unsigned char packed[64];
    uLongf size = sizeof packed;
    struct picture picture;
    assert_int_equal(compress(packed, &size, rows, sizeof rows), Z_OK);
    struct bytes png = small_png();
    append_chunk(&png, "IDAT", packed, size);
    save_png(&png);
    assert_int_equal(decode(in_folder("a.png"), &options, &picture),
                     sound ? GF_OK : GF_ERROR_INPUT);
    assert_int_equal(warnings, sound);
    if (sound) {
        assert_non_null(strstr(last_warning, "Too much image data"));
        free_picture(&picture);
    }
}

static void test_odd_files(void **state)
{
    check_endless_stream();
    check_surplus(0, true);
    check_surplus(5, false);
    check_rows(0, NULL, "");
    check_rows(0, "tEXt", "");
    check_rows(5, NULL, "corrupt after row 1 of 2: bad adaptive filter value");
    check_rows(255, NULL, "corrupt after row 1 of 2: bad adaptive filter value");
    check_rows(0, "ABCD", "corrupt after row 2 of 2: unhandled critical chunk");
    check_rows(0, "a1cd", "corrupt after row 2 of 2: invalid chunk type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_every_paeth),
        cmocka_unit_test(test_undoing_rows),
        cmocka_unit_test(test_prefix_codes),
        cmocka_unit_test(test_deflate_fast),
        cmocka_unit_test(test_adler),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_stripes),
        cmocka_unit_test(test_stripes_know_the_window),
        cmocka_unit_test(test_closing_early),
        cmocka_unit_test(test_failing_output),
        cmocka_unit_test(test_drawings),
        cmocka_unit_test(test_reading_filters),
        cmocka_unit_test(test_damage_by_threads),
        cmocka_unit_test(test_odd_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
