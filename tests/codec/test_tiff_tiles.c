/* TIFFs of tiles: each level has the pixels that the pyramid gives, whatever the order of the
 * file's layout, the compression and the kind of pixels. */
#include "codec/codec_test.h"

#ifdef GF_LIBRARY_tiff
#include <math.h>

#include "codec/common/pyramid/pyramid.h"
#include "codec/formats.h"
#include "codec/tiff/tiff.h"

enum { TAG_KIND = 254, TAG_WIDTH = 256, TAG_HEIGHT, TAG_SIDE = 322, TAG_OFFSETS = 324, TAG_SIZES };
enum { TAG_BELOW = 330 };

static const enum gf_pyramid_layout layouts[] = {GF_LAYOUT_ANY, GF_LAYOUT_SUBIFDS, GF_LAYOUT_COG};

/* A store that keeps the pixels of all tiles, and hands them on. */
struct witness {
    struct gf_tile_store base, *inner;
    struct gf_pyramid pyramid;
    struct picture level[GF_PYRAMID_LEVELS_MAX];
};

static enum gf_status witness_encode(struct gf_tile_store *store, int worker,
                                     const struct gf_tile *tile, struct gf_coded *coded,
                                     struct gf_error *error)
{
    struct gf_tile_store *const inner = ((struct witness *)store)->inner;
    return inner->encode(inner, worker, tile, coded, error);
}

static enum gf_status witness_put(struct gf_tile_store *store, const struct gf_tile *tile,
                                  const struct gf_coded *coded, struct gf_error *error)
{
    struct witness *const witness = (struct witness *)store;
    struct picture *const level = &witness->level[tile->level];
    const size_t row = gf_row_bytes(tile->format), pixel = row / (size_t)tile->format.width;
    for (int y = 0; y < tile->format.height; y++)
        memcpy(level->data + (size_t)(tile->y + y) * gf_row_bytes(level->format) +
                   (size_t)tile->x * pixel,
               tile->pixels + (size_t)y * tile->pitch, row);
    return witness->inner->put(witness->inner, tile, coded, error);
}

static enum gf_status witness_finish(struct gf_tile_store *store, struct gf_error *error)
{
    struct gf_tile_store *const inner = ((struct witness *)store)->inner;
    return inner->finish(inner, error);
}

static void witness_close(struct gf_tile_store *store)
{
    struct gf_tile_store *const inner = ((struct witness *)store)->inner;
    inner->close(inner);
}

static void free_witness(struct witness *witness)
{
    for (int i = 0; i < witness->pyramid.levels; i++)
        free_picture(&witness->level[i]);
}

/* Writes the picture to a.tif. The witness is to be freed if that succeeds. */
static enum gf_status write_tiles(const struct picture *picture, const struct gf_options *options,
                                  struct witness *witness)
{
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    const size_t row = gf_row_bytes(picture->format);
    *witness = (struct witness){.base = {.encode = witness_encode,
                                         .put = witness_put,
                                         .finish = witness_finish,
                                         .close = witness_close}};
    assert_int_equal(gf_output_open(in_folder("a.tif"), &output, &failure), GF_OK);
    const struct gf_sink_order order = {output, picture->format, &picture->metadata, options};
    enum gf_status status =
        gf_tiff_store_open(&order, &witness->pyramid, &witness->inner, &failure);
    for (int i = 0; !status && i < witness->pyramid.levels; i++)
        witness->level[i] =
            random_picture(witness->pyramid.level[i].width, witness->pyramid.level[i].height,
                           picture->format.channels, picture->format.bits);
    if (!status)
        status = gf_pyramid_sink_open(&witness->pyramid, options->threads, &witness->base, &sink,
                                      &failure);
    if (!status)
        status = sink->write(sink, picture->format.height, picture->data, row, &failure);
    if (!status)
        status = sink->finish(sink, &failure);
    if (sink)
        sink->close(sink);
    if (!status)
        status = gf_output_commit(output, &failure);
    gf_output_close(output);
    return status;
}

static struct gf_options options_of(enum gf_tiff_compression compression, int depth)
{
    struct gf_options options = plain_options();
    options.tiff_compression = compression;
    options.depth = depth;
    options.threads = 3;
    return options;
}

/* ---- the directories of a.tif ---- */

struct file {
    struct gf_input *input;
    struct gf_ifd_reader reader;
    uint64_t directory[GF_PYRAMID_LEVELS_MAX];
    int directories;
};

static uint64_t number(const struct file *file, int directory, uint16_t tag)
{
    uint64_t value = 0;
    (void)gf_ifd_numbers(&file->reader, file->directory[directory], tag, &value, 1);
    return value;
}

static uint64_t get(const struct file *file, uint64_t at, int bytes, bool big_endian)
{
    unsigned char text[8];
    uint64_t value = 0;
    assert_true(file->reader.read(file->reader.context, at, text, (size_t)bytes));
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)text[big_endian ? bytes - 1 - i : i] << 8 * i;
    return value;
}

/* Finds the directories: those that follow one another, or those below the first. */
static struct file open_file(bool below)
{
    struct file file = {0};
    uint64_t at;
    assert_int_equal(gf_input_open(in_folder("a.tif"), false, &file.input, &failure), GF_OK);
    file.reader = gf_ifd_reader_of(file.input, &at);
    assert_false(file.reader.big_tiff);
    const bool big_endian = file.reader.big_endian;
    for (; at; at = get(&file, at + 2 + 12 * get(&file, at, 2, big_endian), 4, big_endian))
        file.directory[file.directories++] = at;
    if (below) {
        assert_int_equal(file.directories, 1);
        file.directories += (int)gf_ifd_numbers(&file.reader, file.directory[0], TAG_BELOW,
                                                file.directory + 1, GF_PYRAMID_LEVELS_MAX - 1);
    }
    return file;
}

/* Reads the picture of a directory by a copy of the file whose header names it as the first. */
static void read_level(const struct file *file, int level, struct picture *picture)
{
    const struct gf_options options = plain_options();
    struct bytes bytes = load(in_folder("a.tif"));
    for (int i = 0; i < 4; i++)
        bytes.data[file->reader.big_endian ? 7 - i : 4 + i] =
            (unsigned char)(file->directory[level] >> 8 * i);
    save(in_folder("level.tif"), bytes.data, bytes.size);
    free(bytes.data);
    if (decode(in_folder("level.tif"), &options, picture))
        fail_msg("level %d: %s", level, failure.text);
}

/* Checks the tiles' places: within the file and, for GF_LAYOUT_COG, behind all directories, with
 * the smallest level first and each tile between its size and its last bytes. */
static void check_places(const struct file *file, enum gf_pyramid_layout layout)
{
    uint64_t offset[64], size[64], end = 0;
    for (int i = file->directories - 1; i >= 0; i--) {
        const size_t count =
            gf_ifd_numbers(&file->reader, file->directory[i], TAG_OFFSETS, offset, 64);
        assert_int_equal(gf_ifd_numbers(&file->reader, file->directory[i], TAG_SIZES, size, 64),
                         count);
        for (size_t t = 0; t < count; t++) {
            assert_true(offset[t] + size[t] <= (uint64_t)gf_input_size(file->input));
            if (layout != GF_LAYOUT_COG)
                continue;
            assert_true(offset[t] > file->directory[file->directories - 1]);
            assert_true(offset[t] >= end);
            assert_int_equal(get(file, offset[t] - 4, 4, false), size[t]);
            assert_int_equal(get(file, offset[t] + size[t], 4, false),
                             get(file, offset[t] + size[t] - 4, 4, false));
            end = offset[t] + size[t];
        }
    }
    if (layout != GF_LAYOUT_COG)
        return;
    assert_int_equal(file->directory[0], 8 + 43 + 140 + 1);
    for (int i = 1; i < file->directories; i++)
        assert_true(file->directory[i] > file->directory[i - 1]);
}

/* Checks a.tif: its levels are those that the witness saw, as far as the compression keeps them. */
static void check_file(struct witness *witness, enum gf_pyramid_layout layout, int side,
                       int tolerance)
{
    struct file file = open_file(layout == GF_LAYOUT_SUBIFDS);
    assert_int_equal(file.directories, witness->pyramid.levels);
    check_places(&file, layout);
    for (int i = 0; i < file.directories; i++) {
        struct picture back;
        const struct picture *const level = &witness->level[i];
        assert_int_equal(number(&file, i, TAG_KIND), i > 0);
        assert_int_equal(number(&file, i, TAG_SIDE), side);
        read_level(&file, i, &back);
        assert_memory_equal(&back.format, &level->format, sizeof back.format);
        for (size_t at = 0; at < picture_bytes(back.format); at++)
            if (abs(back.data[at] - level->data[at]) > tolerance)
                fail_msg("level %d, byte %zu: %d, not %d", i, at, back.data[at], level->data[at]);
        free_picture(&back);
    }
    gf_input_close(file.input);
}

static void check(const struct picture *picture, enum gf_tiff_compression compression, int side,
                  enum gf_pyramid_layout layout, int tolerance)
{
    struct gf_options options = options_of(compression, picture->format.bits);
    struct witness witness;
    options.pyramid = layout == GF_LAYOUT_ANY ? "" : gf_pyramid_word((int)(layout - GF_LAYOUT_DZ));
    options.tile_size = side;
    if (write_tiles(picture, &options, &witness))
        fail_msg("%s", failure.text);
    check_file(&witness, layout, side, tolerance);
    free_witness(&witness);
}

/* Sizes at and beside the side of a tile. */
static void test_sizes(void **state)
{
    static const int sides[] = {1, 15, 16, 17, 63, 64, 65, 130};
    enum { COUNT = sizeof sides / sizeof *sides };
    for (int i = 0; i < COUNT * COUNT; i++) {
        struct picture picture = random_picture(sides[i % COUNT], sides[i / COUNT], 3, 8);
        for (int layout = 0; layout < 3; layout++)
            check(&picture, GF_TIFF_DEFLATE, 64, layouts[layout], 0);
        free_picture(&picture);
    }
}

static void test_kinds(void **state)
{
    static const enum gf_tiff_compression compressions[] = {GF_TIFF_DEFLATE, GF_TIFF_LZW,
                                                            GF_TIFF_NONE, GF_TIFF_ZSTD};
    for (int kind = 0; kind < 32; kind++) {
        struct picture picture = random_picture(150, 97, kind % 4 + 1, kind & 4 ? 16 : 8);
        check(&picture, compressions[kind / 8], 48, layouts[kind % 3], 0);
        free_picture(&picture);
    }
}

static void test_jpeg(void **state)
{
    for (int channels = 1; channels <= 3; channels += 2) {
        struct picture picture = smooth_picture(300, 200, channels, 8);
        for (int layout = 0; layout < 3; layout++)
            check(&picture, GF_TIFF_JPEG, 64, layouts[layout], 8);
        free_picture(&picture);
    }
}

/* WebP without loss, if libtiff has it. */
static void test_webp(void **state)
{
    if (gf_tiff.TIFFIsCODECConfigured(COMPRESSION_WEBP)) {
        struct gf_options options = options_of(GF_TIFF_WEBP, 8);
        struct picture picture = random_picture(150, 97, 3, 8);
        struct witness witness;
        options.pyramid = "";
        options.tile_size = 48;
        options.lossless = true;
        if (write_tiles(&picture, &options, &witness))
            fail_msg("%s", failure.text);
        check_file(&witness, GF_LAYOUT_ANY, 48, 0);
        free_witness(&witness);
        free_picture(&picture);
    }
}

/* Single bits: each level is cut at half of the scale. */
static void test_bits(void **state)
{
    for (int kind = 0; kind < 4; kind++) {
        struct gf_options options = options_of(kind & 1 ? GF_TIFF_G4 : GF_TIFF_DEFLATE, 1);
        struct picture picture = smooth_picture(150, 97, 1, 8);
        struct witness witness;
        options.pyramid = kind & 2 ? "cog" : "";
        options.tile_size = 48;
        if (write_tiles(&picture, &options, &witness))
            fail_msg("%s", failure.text);
        for (int i = 0; i < witness.pyramid.levels; i++)
            for (size_t at = 0; at < picture_bytes(witness.level[i].format); at++)
                witness.level[i].data[at] = witness.level[i].data[at] > 127 ? 255 : 0;
        check_file(&witness, kind & 2 ? GF_LAYOUT_COG : GF_LAYOUT_ANY, 48, 0);
        free_witness(&witness);
        free_picture(&picture);
    }
}

/* A file that could pass 4 GiB becomes a BigTIFF: the guess is not below what noise becomes, which
 * LZW and G4 make larger than its pixels. */
static void test_big(void **state)
{
    enum { SIDE = 1024, KINDS = GF_TIFF_WEBP + 1 };
    for (int kind = 0; kind < KINDS; kind++) {
        const enum gf_tiff_compression compression = (enum gf_tiff_compression)kind;
        const bool bits = compression == GF_TIFF_G4;
        struct gf_options options = options_of(compression, bits ? 1 : 8);
        struct picture picture = random_picture(SIDE, SIDE, bits ? 1 : 3, 8);
        struct witness witness;
        struct gf_input *input = NULL;
        options.tile_size = 256;
        options.quality = 100;
        for (size_t i = 0; bits && i < picture_bytes(picture.format); i++)
            picture.data[i] = i / SIDE % 2 && i % 2 ? 255 : 0;
        uint64_t bytes = bits ? SIDE * SIDE / 8 : SIDE * SIDE * 3, most = bytes;
        while (!strcmp(gf_tiff_mode(most, compression, NULL), "w"))
            most += most / 64;
        assert_in_range(most, 1u << 29, UINT32_MAX);
        if (!write_tiles(&picture, &options, &witness)) {
            assert_int_equal(gf_input_open(in_folder("a.tif"), false, &input, &failure), GF_OK);
            assert_in_range((uint64_t)gf_input_size(input) * (most / bytes), 0, UINT32_MAX);
            gf_input_close(input);
            free_witness(&witness);
        }
        free_picture(&picture);
    }
    assert_string_equal(gf_tiff_mode(3u << 30, GF_TIFF_LZW, NULL), "w8");
    assert_string_equal(gf_tiff_mode(3u << 30, GF_TIFF_NONE, NULL), "w");
    assert_string_equal(gf_tiff_mode(UINT32_MAX, GF_TIFF_NONE, NULL), "w8");
}

/* The picture's directory has its metadata, wherever EXIF's directories lie, and the warnings are
 * given once. */
static void test_metadata(void **state)
{
    static const char profile[] = "no profile, but bytes";
    for (int layout = 0; layout < 3; layout++) {
        struct gf_options options = options_of(GF_TIFF_DEFLATE, 8);
        struct picture picture = random_picture(200, 100, 3, 8), back;
        struct witness witness;
        bool left_out = false;
        assert_true(gf_metadata_set(&picture.metadata, "artist=Ann\ndate=2024-05-01T12:30:00"));
        assert_true(gf_blob_set(&picture.metadata.icc, profile, sizeof profile));
        assert_true(gf_texts_add_latin1(&picture.metadata.texts, "Source", "a", 1, &left_out));
        picture.metadata.density_x = picture.metadata.density_y = 10000;
        options.pyramid = layout ? gf_pyramid_word((int)(layouts[layout] - GF_LAYOUT_DZ)) : "";
        options.tile_size = 64;
        if (write_tiles(&picture, &options, &witness))
            fail_msg("%s", failure.text);
        assert_int_equal(warnings, 1);
        check_file(&witness, layouts[layout], 64, 0);
        assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
        const struct gf_exif_facts exif = gf_exif_read(&back.metadata.exif);
        assert_string_equal(exif.artist, "Ann");
        assert_string_equal(exif.time, "2024-05-01T12:30:00");
        assert_int_equal(back.metadata.icc.size, sizeof profile);
        assert_memory_equal(back.metadata.icc.data, profile, sizeof profile);
        assert_true(fabs(back.metadata.density_x - 10000) < 0.1);
        free_picture(&back);
        free_picture(&picture);
        free_witness(&witness);
    }
}

/* One level, without a pyramid, by way of the usual call. */
static void test_one_level(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(150, 97, 3, 16), back;
    options.tile_size = 32;
    assert_int_equal(encode(in_folder("a.tif"), &picture, &options), GF_OK);
    struct file file = open_file(false);
    assert_int_equal(file.directories, 1);
    assert_int_equal(number(&file, 0, TAG_SIDE), 32);
    gf_input_close(file.input);
    assert_int_equal(decode(in_folder("a.tif"), &options, &back), GF_OK);
    assert_same_pixels(&picture, &back);
    free_picture(&back);
    free_picture(&picture);
}

static void check_refused(struct picture *picture, const struct gf_options *options,
                          enum gf_status status, const char *why)
{
    assert_int_equal(encode(in_folder("refused.tif"), picture, options), status);
    assert_failure_says(why);
    assert_int_equal(access(in_folder("refused.tif"), F_OK), -1);
}

static void test_refusals(void **state)
{
    struct gf_options options = plain_options();
    struct picture gray = random_picture(20, 10, 1, 8);
    options.pyramid = "";
    options.tile_size = 100;
    check_refused(&gray, &options, GF_ERROR_USAGE, "16 divides the side of a TIFF's tiles");
    options.tile_size = 0;
    options.pyramid = "overlap=1";
    check_refused(&gray, &options, GF_ERROR_USAGE, "a TIFF's tiles do not overlap");
    options.pyramid = "cog";
    options.tiff_compression = GF_TIFF_WEBP;
    check_refused(&gray, &options, GF_ERROR_UNFIT, "WebP in TIFF has RGB of 8 bits");
    options.tiff_compression = GF_TIFF_JPEG;
    options.lossless = true;
    check_refused(&gray, &options, GF_ERROR_UNFIT, "JPEG in TIFF is never lossless");
    options.lossless = false;
    gray.metadata.animated = true;
    check_refused(&gray, &options, GF_ERROR_UNFIT, "one picture is written as tiles");
    free_picture(&gray);
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_TIFF);
    if (gf_library_load(type->library, "TIFF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no libtiff");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_jpeg),     cmocka_unit_test(test_webp),
        cmocka_unit_test(test_big),      cmocka_unit_test(test_bits),
        cmocka_unit_test(test_metadata), cmocka_unit_test(test_one_level),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("tiff tiles", tests, make_folder, remove_folder);
}

#else

int main(void)
{
    puts("1..1\nok 1 # SKIP this build has no libtiff");
    return 0;
}

#endif
