/* A program of its own. TIFFs of JPEG tiles that a GPU decodes have the pixels that the CPU makes.
 * Skipped where there is no GPU. Files as arguments are compared instead, with the pixels a second
 * that the GPU decodes. */
#include "gpu_test.h"

#if defined GF_WITH_CUDA && defined GF_LIBRARY_tiff
#include "base/threads/times.h"
#include "codec/codec.h"
#include "codec/jpeg_files.h"
#define picture_bytes format_bytes /* support.h has another */
#include "codec/tiff_files.h"
#undef picture_bytes
#include "cuda/jpeg/coders.h"

static const uint64_t ROOM = (uint64_t)4 << 30;

/* A TIFF of tiles. */
struct tiles {
    int width, height, tile_width, tile_height;
    struct jpeg_kind kind; /* of a tile: components, sampling, quality, restart interval, rgb */
    bool whole;            /* each tile has tables of its own */
    bool big_endian, big_tiff;
    int damaged, missing; /* the number of such a tile, from 1; 0: none */
};

/* ---- files ---- */

/* Appends a JPEG with or without its tables, or its tables alone. */
static size_t add_jpeg(struct tiff *tiff, const struct tiles *tiles, bool tables, bool picture,
                       uint64_t *seed)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_file file = {NULL, 0};
    unsigned long size = 0;
    struct jpeg_kind kind = tiles->kind;
    kind.width = tiles->tile_width;
    kind.height = tiles->tile_height;
    jpeg_begin(&jpeg, &errors, &kind, &file, &size);
    jpeg.write_JFIF_header = jpeg.write_Adobe_marker = FALSE;
    jpeg_set_quality(&jpeg, kind.quality, TRUE);
    if (!picture)
        jpeg_write_tables(&jpeg);
    else {
        jpeg_suppress_tables(&jpeg, !tables);
        jpeg_start_compress(&jpeg, FALSE);
        jpeg_write_rows(&jpeg, &kind, seed);
        jpeg_finish_compress(&jpeg);
    }
    jpeg_destroy_compress(&jpeg);
    append(&tiff->bytes, file.data, size);
    free(file.data);
    return size;
}

static struct tiff make(const struct tiles *tiles)
{
    struct tiff tiff = {.big_endian = tiles->big_endian, .big_tiff = tiles->big_tiff};
    const int columns = (tiles->width - 1) / tiles->tile_width + 1,
              count = columns * ((tiles->height - 1) / tiles->tile_height + 1),
              components = tiles->kind.components;
    const bool ycc = components == 3 && !tiles->kind.rgb;
    unsigned offset[64], bytes[64], table[1000];
    uint64_t seed = 7;
    assert_in_range(count, 1, 64);
    begin(&tiff);
    for (int i = 0; i < count; i++) {
        offset[i] = (unsigned)tiff.bytes.size;
        bytes[i] = (unsigned)add_jpeg(&tiff, tiles, tiles->whole, true, &seed);
        if (tiles->damaged == i + 1)
            memset(tiff.bytes.data + offset[i] + bytes[i] / 2, 0xff, 8);
        if (tiles->missing == i + 1)
            bytes[i] = 0;
    }
    const size_t tables = tiff.bytes.size,
                 tables_bytes = add_jpeg(&tiff, tiles, true, false, &seed);
    for (size_t i = 0; i < tables_bytes; i++)
        table[i] = tiff.bytes.data[tables + i];
    tag1(&tiff, 256, (unsigned)tiles->width);
    tag1(&tiff, 257, (unsigned)tiles->height);
    tag(&tiff, 258, SHORT, components, (const unsigned[]){8, 8, 8});
    tag(&tiff, 259, SHORT, 1, (const unsigned[]){7});
    tag(&tiff, 262, SHORT, 1, (const unsigned[]){ycc ? 6 : components == 3 ? 2 : 1});
    tag(&tiff, 277, SHORT, 1, (const unsigned[]){(unsigned)components});
    tag1(&tiff, 322, (unsigned)tiles->tile_width);
    tag1(&tiff, 323, (unsigned)tiles->tile_height);
    tag(&tiff, 324, LONG, count, offset);
    tag(&tiff, 325, LONG, count, bytes);
    if (!tiles->whole)
        tag(&tiff, 347, UNDEFINED, (int)tables_bytes, table);
    if (ycc)
        tag(&tiff, 530, SHORT, 2,
            (const unsigned[]){(unsigned)tiles->kind.h[0], (unsigned)tiles->kind.v[0]});
    add_page(&tiff);
    return tiff;
}

/* ---- both decoders ---- */

struct both {
    struct gf_input *input;
    struct gf_source *source;
    struct gf_tiff_coded coded;
    unsigned char *data;  /* what the description means */
    struct gf_image here; /* the CPU's pixels */
    struct gf_view out;   /* the GPU's */
    bool decoded;
    double seconds;
};

static void open_both(struct both *both)
{
    struct gf_options options = plain_options();
    struct gf_error error = {0};
    options.max_pixels = UINT64_MAX;
    assert_ok("open", gf_source_open(both->input, &options, &both->source, &error), &error);
}

/* Reads the file's tiles and decodes them on the GPU. */
static void decode_there(struct both *both, uint64_t room)
{
    struct gf_jpeg_decoder *decoder = NULL;
    struct gf_error error = {0};
    assert_non_null(both->source->tiles);
    assert_true(both->source->for_device_codec);
    both->coded = *both->source->tiles;
    assert_true(gf_tiff_coded_find_part(&both->coded, both->input));
    const size_t size = (size_t)gf_tiff_coded_bytes(&both->coded);
    assert_int_equal(cudaMallocHost((void **)&both->data, size), cudaSuccess);
    assert_ok("copy", gf_tiff_coded_copy(&both->coded, both->input, both->data, &error), &error);
    both->out = rows_on_device(both->source->format);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    struct gf_jpeg_decode_picture picture = {
        .tiles = &both->coded, .data = both->data, .size = size, .reduction = 1, .out = both->out};
    assert_ok("create", gf_jpeg_decoder_create(0, room, &decoder, &error), &error);
    for (int i = 0; i < (room > ROOM ? 3 : 1); i++) { /* the later runs have their memory */
        both->seconds = -gf_now();
        assert_ok("run", gf_jpeg_decoder_run(decoder, &picture, 1, &error), &error);
        both->seconds += gf_now();
    }
    gf_jpeg_decoder_destroy(decoder);
    both->decoded = picture.decoded;
}

static void close_both(struct both *both)
{
    both->source->close(both->source);
    gf_input_close(both->input);
    if (both->out.data)
        cudaFree(both->out.data);
    if (both->data)
        cudaFreeHost(both->data);
    picture_free(&both->here);
}

static bool equal(struct both *both)
{
    const struct gf_format format = both->source->format;
    struct gf_error error = {0};
    both->here = picture_new(format, 0);
    struct gf_image there = picture_new(format, 0);
    bool same = true;
    assert_ok(
        "read",
        both->source->read(both->source, format.height, both->here.data, both->here.pitch, &error),
        &error);
    assert_int_equal(cudaMemcpy2D(there.data, there.pitch, both->out.data, both->out.pitch,
                                  gf_row_bytes(format), (size_t)format.height,
                                  cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (int y = 0; y < format.height; y++)
        same &= !memcmp(there.data + (size_t)y * there.pitch,
                        both->here.data + (size_t)y * both->here.pitch, gf_row_bytes(format));
    picture_free(&there);
    return same;
}

static void open_made(const struct tiles *tiles, struct tiff *tiff, struct both *both)
{
    struct gf_error error = {0};
    *tiff = make(tiles);
    assert_ok(
        "input",
        gf_input_open_memory(tiff->bytes.data, tiff->bytes.size, "a.tif", &both->input, &error),
        &error);
    open_both(both);
}

static void compare_made(const struct tiles *tiles, uint64_t room)
{
    struct tiff tiff;
    struct both both = {0};
    open_made(tiles, &tiff, &both);
    decode_there(&both, room);
    assert_true(both.decoded);
    assert_true(equal(&both));
    close_both(&both);
    free(tiff.bytes.data);
}

/* ---- tests ---- */

enum { RGB = 4 };

static struct tiles tiles_of(int width, int height, int tile, int h, int v)
{
    const bool rgb = h == RGB;
    return (struct tiles){width,
                          height,
                          tile,
                          tile,
                          {.components = h ? 3 : 1,
                           .h = {rgb ? 1 : h, 1, 1},
                           .v = {v, 1, 1},
                           .quality = 80,
                           .rgb = rgb}};
}

static void test_kinds(void **state)
{
    static const int sampling[][2] = {{0, 1}, {RGB, 1}, {1, 1}, {2, 1}, {2, 2}, {1, 2}};
    need_gpu();
    for (size_t i = 0; i < sizeof sampling / sizeof *sampling; i++) {
        struct tiles tiles = tiles_of(150, 83, 64, sampling[i][0], sampling[i][1]);
        compare_made(&tiles, ROOM);
        tiles.whole = tiles.big_endian = i % 2;
        tiles.big_tiff = i % 3;
        tiles.kind.restart_interval = 3;
        tiles.tile_width = 80;
        tiles.tile_height = 32;
        compare_made(&tiles, ROOM);
    }
}

/* Less memory than the picture needs in one group. */
static void test_groups(void **state)
{
    need_gpu();
    const struct tiles tiles = tiles_of(200, 200, 64, 2, 2);
    compare_made(&tiles, 300000);
}

static void test_damage(void **state)
{
    struct tiff tiff;
    struct both both = {0};
    struct tiles tiles = tiles_of(200, 200, 64, 2, 2);
    need_gpu();
    tiles.damaged = 6;
    open_made(&tiles, &tiff, &both);
    decode_there(&both, ROOM);
    assert_false(both.decoded);
    close_both(&both);
    free(tiff.bytes.data);
}

static void test_missing_tile(void **state)
{
    struct tiff tiff;
    struct both both = {0};
    struct gf_error error = {0};
    struct tiles tiles = tiles_of(200, 200, 64, 1, 1);
    need_gpu();
    tiles.missing = 6;
    open_made(&tiles, &tiff, &both);
    both.coded = *both.source->tiles;
    assert_false(gf_tiff_coded_find_part(&both.coded, both.input));
    both.here = picture_new(both.source->format, 0);
    assert_int_equal(both.source->read(both.source, 200, both.here.data, both.here.pitch, &error),
                     GF_ERROR_INPUT);
    close_both(&both);
    free(tiff.bytes.data);
}

/* Compares a file, and says how fast the GPU decodes it. */
static bool compare_file(const char *path)
{
    struct both both = {0};
    struct gf_error error = {0};
    assert_ok(path, gf_input_open(path, false, &both.input, &error), &error);
    open_both(&both);
    decode_there(&both, 2 * ROOM);
    const struct gf_format format = both.source->format;
    const bool same = both.decoded && equal(&both);
    printf("%s: %s, %.3f s, %.2f gigapixels/s\n", path,
           !both.decoded ? "left to the CPU"
           : same        ? "equal"
                         : "DIFFERENT",
           both.seconds, (double)format.width * format.height / both.seconds * 1e-9);
    close_both(&both);
    return same;
}

int main(int argc, char **argv)
{
    bool same = true;
    for (int i = 1; i < argc; i++)
        same &= compare_file(argv[i]);
    if (argc > 1)
        return !same;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_missing_tile)};
    return cmocka_run_group_tests_name("tiles_device", tests, make_folder, remove_folder);
}

#elif defined GF_WITH_CUDA
int main(void)
{
    puts("1..1\nok 1 # SKIP built without libtiff");
    return 0;
}
#endif
