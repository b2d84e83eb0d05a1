/* The description of a HEIC or AVIF for decoders beside the libraries, of files whose boxes are
 * made here: what it says, what it leaves to libheif, damage; and the colours against doubles. */
#include <math.h>

#include "codec/common/metadata/heif_coded.h"
#include "codec/heic_files.h"
#include "support.h"
#include "pixel/yuv/heif_colours.h"

static bool read_kind(const struct heic_kind *kind, struct gf_heif_coded *coded)
{
    int item;
    struct heic_bytes file = heic_make(kind, &item);
    const struct gf_blob blob = {file.data, file.size};
    const bool read = gf_heif_coded_read(&blob, (uint32_t)item, coded);
    if (read)
        assert_true(gf_heif_coded_check(coded, file.size));
    free(file.data);
    return read;
}

static const struct heic_kind grid = {
    .columns = 3, .rows = 2, .width = 701, .height = 499, .rotation = 3, .matrix = 9, .full = true};

static void test_frame(void **state)
{
    struct gf_heif_coded coded;
    int item;
    const struct heic_kind kind = {.width = 0};
    struct heic_bytes file = heic_make(&kind, &item);
    const struct gf_blob blob = {file.data, file.size};
    unsigned char stream[200];
    static const unsigned char expected[] =
        "\0\0\0\1\x40\1\xAA\0\0\0\1\x42\1\xBB\0\0\0\1\x44\1\xCC\0\0\0\1\x26\1\xAF\x12\x34";
    assert_true(gf_heif_coded_read(&blob, (uint32_t)item, &coded));
    assert_int_equal(coded.width, 256);
    assert_int_equal(coded.columns * coded.rows, 1);
    assert_int_equal(coded.matrix, -1);
    assert_int_equal(coded.orientation, 1);
    assert_int_equal(coded.bits, 8);
    assert_true(coded.half_width && coded.half_height);
    assert_true(gf_heif_coded_suits_device(&coded));
    assert_true(gf_heif_coded_stream_bytes(&coded, 0) <= sizeof stream);
    assert_int_equal(gf_heif_coded_stream(&coded, file.data, 0, stream), sizeof expected - 1);
    assert_memory_equal(stream, expected, sizeof expected - 1);
    free(file.data);
}

static void test_grid(void **state)
{
    struct gf_heif_coded coded;
    struct heic_kind kind = grid;
    for (int wide = 0; wide < 2; wide++) {
        kind.wide = wide;
        assert_true(read_kind(&kind, &coded));
        assert_int_equal(coded.width, 701);
        assert_int_equal(coded.height, 499);
        assert_int_equal(coded.columns, 3);
        assert_int_equal(coded.rows, 2);
        assert_int_equal(coded.matrix, 9);
        assert_true(coded.full);
        assert_int_equal(coded.orientation, 6);
        assert_int_equal(coded.tile[5].offset, coded.tile[0].offset + 5 * (sizeof heic_frame - 1));
    }
    kind.crops = true;
    memcpy(kind.crop, (const uint32_t[]){601, 1, 401, 1, 2, 1, (uint32_t)-3, 1}, sizeof kind.crop);
    assert_true(read_kind(&kind, &coded));
    assert_int_equal(coded.left, 52);
    assert_int_equal(coded.top, 46);
    assert_int_equal(coded.shown_width, 601);
    assert_int_equal(coded.shown_height, 401);
}

/* Frames of AV1 are handed out as they are, behind those of the box av1C. */
static void test_av1(void **state)
{
    static const unsigned char expected[] = "\x12\0\x0A\1\xAA\x32\2\x12\x34";
    struct heic_kind kind = grid;
    struct gf_heif_coded coded;
    unsigned char stream[200];
    int item;
    kind.av1 = true;
    struct heic_bytes file = heic_make(&kind, &item);
    const struct gf_blob blob = {file.data, file.size};
    assert_int_equal(gf_heif_main_item(&blob), item);
    assert_true(gf_heif_coded_read(&blob, (uint32_t)item, &coded));
    assert_true(coded.av1 && coded.half_width && coded.half_height);
    assert_int_equal(coded.bits, 8);
    assert_int_equal(coded.columns, 3);
    assert_int_equal(coded.matrix, 9);
    assert_true(gf_heif_coded_suits_device(&coded));
    assert_true(gf_heif_coded_stream_bytes(&coded, 5) <= sizeof stream);
    assert_int_equal(gf_heif_coded_stream(&coded, file.data, 5, stream), sizeof expected - 1);
    assert_memory_equal(stream, expected, sizeof expected - 1);
    free(file.data);
}

/* Which kinds of AV1 are described (1), and which a device may have (2). */
static void test_kinds_of_av1(void **state)
{
    static const struct {
        const char *parameters;
        size_t size;
        int matrix, tile_width, wanted;
    } kinds[] = {{"\x81\0\x0C\0", 4, 9, 256, 2},   {"\x81\0\x4C\0", 4, 4, 256, 2}, /* 10 bits */
                 {"\x81\x40\x6C\0", 4, 9, 256, 1}, {"\x81\x20\0\0", 4, 9, 256, 1}, /* 4:4:4 */
                 {"\x81\x40\x08\0", 4, 9, 256, 1}, {"\x81\0\x1C\0", 4, 9, 256, 0}, /* mono */
                 {"\x01\0\x0C\0", 4, 9, 256, 0},   {"\x81\0\x0C", 3, 9, 256, 0},
                 {"\x81\0\x0C\0", 4, 8, 256, 1},   {"\x81\0\x0C\0", 4, 9, 257, 1},
                 {"\x81\0\x0C\0", 4, 9, 128, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct heic_kind kind = {
            .av1 = true,
            .matrix = kinds[i].matrix,
            .tile_width = kinds[i].tile_width,
            .parameters = {(unsigned char *)kinds[i].parameters, kinds[i].size}};
        struct gf_heif_coded coded;
        const bool read = read_kind(&kind, &coded);
        if (read + (read && gf_heif_coded_suits_device(&coded)) != kinds[i].wanted)
            fail_msg("kind %zu", i);
    }
}

/* Each of these goes to libheif alone. */
static void test_unusual(void **state)
{
    struct gf_heif_coded coded;
    unsigned char bytes[1000] = {0};
    struct heic_bytes large[6];
    for (int i = 0; i < 6; i++)
        large[i] = (struct heic_bytes){bytes, sizeof bytes};
    struct heic_kind kinds[] = {grid, grid, grid, grid, grid, grid, grid, grid, grid};
    kinds[0].alpha_of_tile = true;
    kinds[1].other_tile = true;
    kinds[2].essential = true;
    kinds[3].width = 900;  /* more than the tiles cover */
    kinds[4].height = 200; /* tiles outside of the picture */
    kinds[5].crops = true; /* half a pixel: 701 - 600 is odd */
    memcpy(kinds[5].crop, (const uint32_t[]){600, 1, 401, 1, 0, 1, 0, 1}, sizeof kinds[5].crop);
    kinds[6].crops = true; /* a size of no pixel */
    memcpy(kinds[6].crop, (const uint32_t[]){0, 1, 401, 1, 0, 1, 0, 1}, sizeof kinds[6].crop);
    kinds[7].shared = true; /* six frames of a size of which the file has one */
    kinds[7].frames = large;
    kinds[8].properties = 100;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (read_kind(&kinds[i], &coded))
            fail_msg("kind %zu is described", i);
    }
    struct heic_kind small = {.tile_width = 128}, odd = grid;
    assert_true(read_kind(&small, &coded));
    assert_false(gf_heif_coded_suits_device(&coded));
    odd.matrix = 7;
    assert_true(read_kind(&odd, &coded));
    assert_false(gf_heif_coded_suits_device(&coded));
}

/* A frame that is not exactly one intra frame has no stream. */
static void test_frames(void **state)
{
    static const struct {
        const char *data;
        size_t size;
    } frames[] = {{"\0\0\0\5\x02\1\xAF\x12\x34", 9},            /* not intra */
                  {"\0\0\0\5\x26\1\x2F\x12\x34", 9},            /* a part */
                  {"\0\0\0\3\x26\1\xAF\0\0\0\3\x26\1\xAF", 14}, /* two */
                  {"\0\0\0\3\x42\1\xAF\0\0\0\3\x26\1\xAF", 14}, /* another SPS */
                  {"\0\0\0\6\x26\1\xAF\x12\x34", 9},            /* cut off */
                  {"\0\0\0\3\x4E\1\xAF", 7}};                   /* no slice */
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct heic_bytes frame = {(unsigned char *)frames[i].data, frames[i].size};
        const struct heic_kind kind = {.frames = &frame};
        struct gf_heif_coded coded;
        unsigned char stream[200];
        int item;
        struct heic_bytes file = heic_make(&kind, &item);
        const struct gf_blob blob = {file.data, file.size};
        assert_true(gf_heif_coded_read(&blob, (uint32_t)item, &coded));
        if (gf_heif_coded_stream(&coded, file.data, 0, stream))
            fail_msg("frame %zu is a stream", i);
        free(file.data);
    }
}

/* Files that are cut off, or have other bytes, are never read outside, which the sanitizers see. */
static void assert_damage_is_seen(const struct heic_kind *kind)
{
    int item;
    uint64_t random = 1;
    int described = 0;
    const struct heic_bytes file = heic_make(kind, &item);
    for (int i = 0; i < 20000; i++) {
        const size_t size = i % 4 ? file.size : (size_t)random_below(&random, (int)file.size + 1);
        struct gf_heif_coded coded;
        struct gf_blob copy = {malloc(size + 1), size};
        assert_non_null(copy.data);
        memcpy(copy.data, file.data, size);
        for (int k = random_below(&random, 4); k > 0 && size; k--)
            copy.data[random_below(&random, (int)size)] = (unsigned char)random_below(&random, 256);
        copy.data = realloc(copy.data, size ? size : 1);
        if (gf_heif_coded_read(&copy, (uint32_t)item, &coded)) {
            described++;
            assert_true(gf_heif_coded_check(&coded, size));
            for (int tile = 0; tile < coded.columns * coded.rows; tile++) {
                unsigned char *const stream = malloc(gf_heif_coded_stream_bytes(&coded, tile));
                assert_true(gf_heif_coded_stream(&coded, copy.data, tile, stream) <=
                            gf_heif_coded_stream_bytes(&coded, tile));
                free(stream);
            }
        }
        free(copy.data);
    }
    assert_true(described > 1000);
    free(file.data);
}

static void test_damage(void **state)
{
    struct heic_kind av1 = grid;
    av1.av1 = true;
    assert_damage_is_seen(&grid);
    assert_damage_is_seen(&av1);
}

/* Numbers of a cell that make no sense are seen. */
static void test_check(void **state)
{
    struct gf_heif_coded good, bad;
    enum { BYTES = 1 << 16 };
    assert_true(read_kind(&grid, &good));
    assert_true(gf_heif_coded_check(&good, BYTES));
#define REFUSES(member, value) \
    bad = good; \
    bad.member = value; \
    assert_false(gf_heif_coded_check(&bad, BYTES))
    REFUSES(columns, 0);
    REFUSES(columns, 1 << 30);
    REFUSES(rows, 100);
    REFUSES(width, -1);
    REFUSES(tile_width, 1 << 20);
    REFUSES(tile_width, 255); /* chroma of two frames in one sample */
    REFUSES(bits, 16);
    REFUSES(half_width, 2);
    REFUSES(av1, 2);
    REFUSES(left, -1);
    REFUSES(shown_width, 702);
    REFUSES(top, 1);
    REFUSES(orientation, 9);
    REFUSES(parameters.size, 3);
    REFUSES(tile[5].offset, BYTES);
    REFUSES(tile[5].size, UINT32_MAX);
}

/* Each pixel lies where a turn of the whole picture brings it. */
static void test_placing(void **state)
{
    struct gf_heif_coded coded = {.shown_width = 3, .shown_height = 2};
    static const char *const turned[] = {"abcdef", "cbafed", "fedcba", "defabc",
                                         "adbecf", "daebfc", "fcebda", "cfbead"};
    for (int turn = 1; turn <= 8; turn++) {
        char to[7] = "";
        coded.orientation = turn;
        const struct gf_heif_placing at = gf_heif_coded_placing(&coded, 1, turn < 5 ? 3 : 2);
        for (int i = 0; i < 6; i++)
            to[at.first + i % 3 * at.step + i / 3 * at.row] = (char)('a' + i);
        assert_string_equal(to, turned[turn - 1]);
    }
}

/* ---- colours ---- */

static double limited_to(double value, double most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

static void test_colours(void **state)
{
    static const struct {
        int matrix;
        double kr, kb;
    } matrices[] = {{1, .2126, .0722}, {2, .299, .114}, {6, .299, .114}, {9, .2627, .0593}};
    uint64_t random = 5;
    for (int i = 0; i < 200000; i++) {
        const int bits = (int[]){8, 10, 12}[i % 3], full = i / 3 % 2, m = i / 6 % 4;
        const double kr = matrices[m].kr, kb = matrices[m].kb, most = (1 << bits) - 1;
        const int y = random_below(&random, 1 << bits), u = random_below(&random, 1 << bits),
                  v = random_below(&random, 1 << bits);
        struct gf_heif_colours colours;
        assert_true(gf_heif_colours_of(matrices[m].matrix, full, bits, &colours));
        const double unit = 1 << (bits - 8), luma = full ? y : (y - 16 * unit) * 256 / 219,
                     scale = full ? 1 : 256 / 224., cb = (u - 128 * unit) * scale,
                     cr = (v - 128 * unit) * scale;
        const double rgb[] = {luma + 2 * (1 - kr) * cr,
                              luma -
                                  (2 * (1 - kb) * kb * cb + 2 * (1 - kr) * kr * cr) / (1 - kr - kb),
                              luma + 2 * (1 - kb) * cb};
        const struct gf_yuv_pixel pixel = gf_heif_pixel_of(&colours, y, u, v);
        const int got[] = {pixel.red, pixel.green, pixel.blue};
        for (int c = 0; c < 3; c++) /* the factors have four places: 12 bits have more */
            if (fabs(got[c] - limited_to(rgb[c], most)) > (bits > 8 && !full ? 1 : .6))
                fail_msg("%d bits, matrix %d: %d for %f", bits, matrices[m].matrix, got[c], rgb[c]);
    }
    struct gf_heif_colours none;
    assert_false(gf_heif_colours_of(0, true, 8, &none));
}

/* A row has the pixels of gf_heif_pixel_of(), with chroma of both widths. */
static void test_rows(void **state)
{
    enum { WIDTH = 77 };
    uint64_t random = 9;
    for (int kind = 0; kind < 4; kind++) {
        const bool wide = kind & 1, half = kind & 2;
        uint8_t narrow[3][WIDTH], rgb[3 * WIDTH];
        uint16_t deep[3][WIDTH], rgb_deep[3 * WIDTH];
        struct gf_heif_colours colours;
        assert_true(gf_heif_colours_of(6, true, wide ? 10 : 8, &colours));
        for (int i = 0; i < 3 * WIDTH; i++) {
            deep[i / WIDTH][i % WIDTH] = (uint16_t)random_below(&random, wide ? 1024 : 256);
            narrow[i / WIDTH][i % WIDTH] = (uint8_t)deep[i / WIDTH][i % WIDTH];
        }
        if (wide)
            gf_heif_colours_row(&colours, wide, half, deep[0], deep[1], deep[2], WIDTH, rgb_deep);
        else
            gf_heif_colours_row(&colours, wide, half, narrow[0], narrow[1], narrow[2], WIDTH, rgb);
        for (int x = 0; x < WIDTH; x++) {
            const int k = half ? x / 2 : x;
            const struct gf_yuv_pixel pixel =
                gf_heif_pixel_of(&colours, deep[0][x], deep[1][k], deep[2][k]);
            assert_int_equal(wide ? rgb_deep[3 * x + 1] : rgb[3 * x + 1],
                             wide ? (pixel.green * 65535 + 511) / 1023 : pixel.green);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame),   cmocka_unit_test(test_grid),
        cmocka_unit_test(test_av1),     cmocka_unit_test(test_kinds_of_av1),
        cmocka_unit_test(test_unusual), cmocka_unit_test(test_frames),
        cmocka_unit_test(test_damage),  cmocka_unit_test(test_check),
        cmocka_unit_test(test_placing), cmocka_unit_test(test_colours),
        cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
