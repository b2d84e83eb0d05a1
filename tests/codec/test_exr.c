/* OpenEXR: files made here byte by byte, without compression, beside values that are computed here;
 * and what the program writes. */
#include "codec/codec_test.h"

#include <math.h>

#include "codec/formats.h"
#include "pixel/floats.h"

#ifdef GF_LIBRARY_OpenEXRCore

enum { UINT, HALF, FLOAT };
enum { TILED = 0x200, DEEP = 0x800, PARTS = 0x1000, COMPRESSION_ZIPS = 2, COMPRESSION_DWAA = 8 };

struct channel {
    const char *name;
    int type, step; /* step: of a subsampled channel 2 */
};

/* A part. Boxes are first and last columns and rows; tile: the side of its tiles, 0: scan lines. */
struct part {
    const char *name;
    int data[4], display[4], tile, compression;
    bool is_deep;
    struct channel channel[6];
};

static void put(struct bytes *file, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        append(file, &(unsigned char){(unsigned char)value}, 1);
}

static void put_attribute(struct bytes *file, const char *name, const char *type, const void *data,
                          size_t size)
{
    append(file, name, strlen(name) + 1);
    append(file, type, strlen(type) + 1);
    put(file, size, 4);
    append(file, data, size);
}

static int chunks_of(const struct part *part)
{
    const int width = part->data[2] - part->data[0] + 1, height = part->data[3] - part->data[1] + 1;
    const int side = part->tile;
    return side ? ((width + side - 1) / side) * ((height + side - 1) / side) : height;
}

static void put_header(struct bytes *file, const struct part *part, bool is_one_of_many)
{
    static const float one = 1, zeros[2];
    const unsigned char compression = (unsigned char)part->compression, order = 0;
    const char *const type = part->is_deep ? "deepscanline"
                             : part->tile  ? "tiledimage"
                                           : "scanlineimage";
    struct bytes list = {0};
    for (const struct channel *c = part->channel; c->name; c++) {
        append(&list, c->name, strlen(c->name) + 1);
        put(&list, (uint64_t)c->type, 4);
        put(&list, 0, 4);
        put(&list, c->step ? 2 : 1, 4);
        put(&list, c->step ? 2 : 1, 4);
    }
    put(&list, 0, 1);
    put_attribute(file, "channels", "chlist", list.data, list.size);
    put_attribute(file, "compression", "compression", &compression, 1);
    put_attribute(file, "dataWindow", "box2i", part->data, 16);
    put_attribute(file, "displayWindow", "box2i", part->display, 16);
    put_attribute(file, "lineOrder", "lineOrder", &order, 1);
    put_attribute(file, "pixelAspectRatio", "float", &one, 4);
    put_attribute(file, "screenWindowCenter", "v2f", zeros, 8);
    put_attribute(file, "screenWindowWidth", "float", &one, 4);
    if (part->tile) {
        const unsigned tiles[] = {(unsigned)part->tile, (unsigned)part->tile, 0};
        put_attribute(file, "tiles", "tiledesc", tiles, 9);
    }
    if (is_one_of_many || part->is_deep) {
        const int chunks = chunks_of(part), version = 1;
        put_attribute(file, "name", "string", part->name, strlen(part->name));
        put_attribute(file, "type", "string", type, strlen(type));
        put_attribute(file, "chunkCount", "int", &chunks, 4);
        if (part->is_deep)
            put_attribute(file, "version", "int", &version, 4);
    }
    put(file, 0, 1);
    free(list.data);
}

/* The value of channel c at a place of the data window, which a half has exactly. */
static double value_at(int c, int x, int y)
{
    return (x % 16) / 16. + y % 8 + 8 * c - 4;
}

static void put_sample(struct bytes *file, int type, double value)
{
    if (type == UINT)
        put(file, (uint64_t)fabs(value) + 70000, 4);
    else
        put(file, type == HALF ? gf_half_of_float((float)value) : gf_bits_of_float((float)value),
            type == HALF ? 2 : 4);
}

/* Appends the pixels of a block, line by line, channel by channel, and notes where it begins. */
static void put_chunk(struct bytes *file, const struct part *part, int number, bool many, int chunk,
                      uint64_t *offset)
{
    const int width = part->data[2] - part->data[0] + 1, height = part->data[3] - part->data[1] + 1;
    const int side = part->tile, across = side ? (width + side - 1) / side : 1;
    const int x = side ? chunk % across * side : 0, y = side ? chunk / across * side : chunk;
    struct bytes pixels = {0};
    for (int v = y; v < height && v < y + (side ? side : 1); v++)
        for (int c = 0; part->channel[c].name; c++)
            for (int u = x; u < width && u < x + (side ? side : width); u++)
                put_sample(&pixels, part->channel[c].type, value_at(c, u, v));
    *offset = file->size;
    if (many)
        put(file, (uint64_t)number, 4);
    put(file, side ? (uint64_t)(chunk % across) : (uint64_t)(part->data[1] + y), 4);
    if (side) {
        put(file, (uint64_t)(chunk / across), 4);
        put(file, 0, 8);
    }
    put(file, pixels.size, 4);
    append(file, pixels.data, pixels.size);
    free(pixels.data);
}

static struct bytes exr_of(const struct part *part, int parts)
{
    enum { CHUNKS = 200 };
    struct bytes file = {0};
    uint64_t offset[4][CHUNKS] = {{0}};
    append(&file, "\x76\x2f\x31\x01", 4);
    put(&file, 2u | (parts > 1 ? PARTS : part->tile ? TILED : 0u) | (part->is_deep ? DEEP : 0u), 4);
    for (int i = 0; i < parts; i++)
        put_header(&file, &part[i], parts > 1);
    if (parts > 1)
        put(&file, 0, 1);
    const size_t table = file.size;
    for (int i = 0; i < parts; i++)
        for (int k = 0; k < chunks_of(&part[i]); k++)
            put(&file, 0, 8);
    for (int i = 0; i < parts; i++)
        for (int k = 0; k < chunks_of(&part[i]) && !part[i].is_deep; k++)
            put_chunk(&file, &part[i], i, parts > 1, k, &offset[i][k]);
    size_t at = table;
    for (int i = 0; i < parts; i++) {
        memcpy(file.data + at, offset[i], 8 * (size_t)chunks_of(&part[i]));
        at += 8 * (size_t)chunks_of(&part[i]);
    }
    return file;
}

static const char *saved(const struct part *part, int parts, const char *suffix)
{
    static char path[300];
    struct bytes file = exr_of(part, parts);
    save(in_folder("a.exr"), file.data, file.size);
    free(file.data);
    snprintf(path, sizeof path, "%s%s", in_folder("a.exr"), suffix);
    return path;
}

static double sample_of(const struct picture *picture, int x, int y, int c)
{
    const struct gf_format format = picture->format;
    return (double)gf_number_at(picture->data,
                                format.bits == 16 ? GF_NUMBER_FLOAT16 : GF_NUMBER_FLOAT32,
                                (size_t)((y * format.width + x) * format.channels + c));
}

/* Reads the part and compares all pixels. order[c]: which of the part's channels is channel c. */
static void check_part(const char *path, const struct part *part, int bits, const int *order,
                       int channels)
{
    const struct gf_options options = plain_options();
    const int width = part->display[2] - part->display[0] + 1,
              height = part->display[3] - part->display[1] + 1;
    struct picture back;
    if (decode(path, &options, &back))
        fail_msg("%s", failure.text);
    assert_int_equal(back.format.width, width);
    assert_int_equal(back.format.height, height);
    assert_int_equal(back.format.channels, channels);
    assert_int_equal(back.format.bits, bits);
    assert_true(gf_is_float(back.format));
    for (int i = 0; i < width * height * channels; i++) {
        const int x = i / channels % width + part->display[0] - part->data[0],
                  y = i / channels / width + part->display[1] - part->data[1],
                  c = order[i % channels];
        const bool inside = x >= 0 && y >= 0 && x <= part->data[2] - part->data[0] &&
                            y <= part->data[3] - part->data[1];
        const double alpha = inside && channels % 2 == 0 ? value_at(order[channels - 1], x, y) : 1;
        double wanted = inside ? value_at(c, x, y) : 0;
        if (i % channels < channels - 1 || channels % 2)
            wanted = inside && alpha != 0 ? (double)((float)wanted / (float)alpha) : wanted;
        const double got =
            sample_of(&back, i / channels % width, i / channels / width, i % channels);
        if (got != wanted)
            fail_msg("%s: sample %d is %.9g, not %.9g", path, i, got, wanted);
    }
    free_picture(&back);
}

#define BOX(x0, y0, x1, y1) \
    { \
        x0, y0, x1, y1 \
    }
static const int rgb[] = {2, 1, 0}, rgba[] = {3, 2, 1, 0}, gray[] = {0};

/* Scan lines and tiles, whose data window is the display window, less, more, and beside it. */
static void test_windows_of_the_file(void **state)
{
    static const int data[][4] = {BOX(0, 0, 18, 12),  BOX(3, 2, 9, 7),         BOX(-5, -6, 30, 40),
                                  BOX(10, -3, 40, 5), BOX(100, 100, 110, 105), BOX(-90, 0, -80, 5)};
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        for (int tile = 0; tile <= 8; tile += 8)
            for (int type = HALF; type <= FLOAT; type++) {
                struct part part = {.display = BOX(0, 0, 18, 12),
                                    .tile = tile,
                                    .channel = {{"B", type, 0}, {"G", type, 0}, {"R", type, 0}}};
                memcpy(part.data, data[i], sizeof part.data);
                check_part(saved(&part, 1, ""), &part, type == HALF ? 16 : 32, rgb, 3);
                part.channel[0].name = "A";
                part.channel[1].name = "B";
                part.channel[2].name = "G";
                part.channel[3] = (struct channel){"R", type, 0};
                check_part(saved(&part, 1, ""), &part, 32, rgba, 4);
            }
    const struct part moved = {
        .data = BOX(7, 9, 20, 21), .display = BOX(5, 5, 20, 20), .channel = {{"Y", HALF, 0}}};
    check_part(saved(&moved, 1, ""), &moved, 16, gray, 1);
}

/* A window of a picture is what the whole has there. */
static void test_windows(void **state)
{
    const struct gf_options options = plain_options();
    for (int tile = 0; tile <= 4; tile += 4) {
        const struct part part = {.data = BOX(2, 1, 20, 11),
                                  .display = BOX(0, 0, 18, 12),
                                  .tile = tile,
                                  .channel = {{"Y", FLOAT, 0}}};
        struct gf_input *input;
        struct gf_source *source;
        struct picture whole;
        const char *const path = saved(&part, 1, "");
        assert_int_equal(decode(path, &options, &whole), GF_OK);
        assert_int_equal(gf_input_open(path, false, &input, &failure), GF_OK);
        gf_input_set_windowed(input);
        assert_int_equal(gf_source_open(input, &options, &source, &failure), GF_OK);
        for (int i = 0; i < 40; i++) {
            const struct gf_rectangle at = {i % 7, i % 5, 1 + i % 11, 1 + i % 7};
            float rows[20 * 20];
            assert_int_equal(source->window(source, at, 1, &failure), GF_OK);
            assert_int_equal(source->read(source, at.height, (unsigned char *)rows,
                                          (size_t)at.width * 4, &failure),
                             GF_OK);
            for (int k = 0; k < at.width * at.height; k++)
                assert_true((double)rows[k] ==
                            sample_of(&whole, at.x + k % at.width, at.y + k / at.width, 0));
        }
        source->close(source);
        gf_input_close(input);
        free_picture(&whole);
    }
}

static void test_parts_and_layers(void **state)
{
    static const struct part parts[] = {{.name = "beauty",
                                         .data = BOX(0, 0, 3, 2),
                                         .display = BOX(0, 0, 3, 2),
                                         .channel = {{"B", HALF, 0},
                                                     {"G", HALF, 0},
                                                     {"R", HALF, 0},
                                                     {"spec.B", FLOAT, 0},
                                                     {"spec.G", HALF, 0}}},
                                        {.name = "far",
                                         .data = BOX(0, 0, 6, 4),
                                         .display = BOX(0, 0, 6, 4),
                                         .channel = {{"depth.Z", FLOAT, 0}}},
                                        {.name = "ids",
                                         .data = BOX(0, 0, 1, 1),
                                         .display = BOX(0, 0, 1, 1),
                                         .channel = {{"id", UINT, 0}}}};
    const struct gf_options options = plain_options();
    struct picture back;
    check_part(saved(parts, 2, ""), &parts[0], 16, rgb, 3);
    assert_int_equal(warnings, 2);
    assert_non_null(strstr(last_warning, "2 of its channels, such as spec.B, are left out"));
    check_part(saved(parts, 2, "[1]"), &parts[1], 32, gray, 1);
    assert_non_null(strstr(last_warning, "the channel depth.Z is read as gray"));
    check_part(saved(parts, 2, "[depth]"), &parts[1], 32, gray, 1);
    check_part(saved(parts, 2, "[far]"), &parts[1], 32, gray, 1);
    check_part(saved(parts, 2, "[beauty]"), &parts[0], 16, rgb, 3);
    check_part(saved(parts, 2, "[spec]"), &parts[0], 32, (const int[]){3}, 1);
    const struct part alpha = {.data = BOX(0, 0, 3, 2),
                               .display = BOX(0, 0, 3, 2),
                               .channel = {{"a.A", HALF, 0}, {"b.R", HALF, 0}}};
    check_part(saved(&alpha, 1, "[a]"), &alpha, 16, gray, 1);
    assert_refused(saved(parts, 2, "[other]"), &options,
                   "a.exr[other]: holds no layer of that name");
    assert_refused(saved(parts, 2, "[2]"), &options, "holds 2 pictures");
    assert_int_equal(decode(saved(&parts[2], 1, ""), &options, &back), GF_OK);
    assert_true(back.format.bits == 32 && sample_of(&back, 1, 1, 0) == 70000 + 2);
    free_picture(&back);
}

/* Of the channels of a pixel some are read, in each number and type. */
static void test_some_of_the_channels(void **state)
{
    static const char *const names[] = {"A", "B", "G", "M", "N"};
    static const int orders[][2] = {{1, 0}, {0, 0}};
    for (int first = 0; first < 2; first++) /* with alpha, and without */
        for (int count = 2; first + count <= 5; count++)
            for (int type = HALF; type <= FLOAT; type++) {
                struct part part = {.data = BOX(0, 0, 18, 12), .display = BOX(0, 0, 18, 12)};
                for (int c = 0; c < count; c++)
                    part.channel[c] = (struct channel){names[first + c], type, 0};
                check_part(saved(&part, 1, ""), &part, type == HALF && first ? 16 : 32,
                           orders[first], 2 - first);
            }
}

static void test_name_of_lines(void **state)
{
    const struct part part = {
        .data = BOX(0, 0, 3, 3), .display = BOX(0, 0, 3, 3), .channel = {{"a\nb", HALF, 0}}};
    check_part(saved(&part, 1, ""), &part, 16, gray, 1);
    assert_non_null(strstr(last_warning, "the channel a is read as gray"));
}

static void test_refusals(void **state)
{
    const struct gf_options options = plain_options();
    struct part part = {.name = "a",
                        .data = BOX(0, 0, 3, 3),
                        .display = BOX(0, 0, 3, 3),
                        .channel = {{"BY", HALF, 2}, {"RY", HALF, 2}, {"Y", HALF, 0}}};
    assert_refused(saved(&part, 1, ""), &options,
                   "of luminance and chroma (RY, BY), which is not read");
    part.channel[0] = (struct channel){"G", HALF, 2};
    part.channel[1].name = NULL;
    assert_refused(saved(&part, 1, ""), &options, "of subsampled channels, which is not read");
    part.channel[0].step = 0;
    part.is_deep = true;
    assert_refused(saved(&part, 1, ""), &options, "of deep pixels, which is not read");
    part.is_deep = false;
    part.compression = COMPRESSION_DWAA;
    struct picture back;
    assert_int_equal(decode(saved(&part, 1, ""), &options, &back), GF_ERROR_INPUT);
    assert_true(strstr(failure.text, "does not read DWAA and DWAB; 3.1.8 does") ||
                strstr(failure.text, "damaged"));
}

/* No cut and no changed byte crashes, and cuts are refused. */
static void test_damage(void **state)
{
    const struct part part = {.data = BOX(0, 0, 9, 5),
                              .display = BOX(0, 0, 9, 5),
                              .compression = 0,
                              .tile = 4,
                              .channel = {{"Y", HALF, 0}}};
    const struct gf_options options = plain_options();
    struct bytes file = exr_of(&part, 1);
    struct picture back;
    for (size_t size = 4; size < file.size; size++) {
        save(in_folder("a.exr"), file.data, size);
        assert_int_equal(decode(in_folder("a.exr"), &options, &back), GF_ERROR_INPUT);
        assert_null(strchr(failure.text, '\n'));
    }
    for (size_t at = 4; at < file.size; at++) {
        const unsigned char before = file.data[at];
        file.data[at] ^= 0x81;
        save(in_folder("a.exr"), file.data, file.size);
        if (!decode(in_folder("a.exr"), &options, &back))
            free_picture(&back);
        else
            assert_null(strchr(failure.text, '\n'));
        file.data[at] = before;
    }
    free(file.data);
}

/* What is written is read again; alpha of powers of two loses nothing. */
static void test_round_trips(void **state)
{
    for (int kind = 0; kind < 16; kind++) {
        const int channels = kind % 4 + 1, depth = kind & 4 ? GF_DEPTH_FLOAT32 : GF_DEPTH_FLOAT16;
        struct gf_options options = plain_options();
        struct picture picture = random_picture(kind & 8 ? 1 : 61, kind & 8 ? 1 : 50, channels, 8),
                       back;
        const size_t samples = picture_bytes(picture.format);
        float *const values = malloc(samples * sizeof *values);
        assert_non_null(values);
        for (size_t i = 0; i < samples; i++)
            values[i] = channels % 2 == 0 && i % (size_t)channels == (size_t)channels - 1
                            ? ldexpf(1, -(picture.data[i] % 4))
                            : (picture.data[i] - 100) / 8.0f;
        free(picture.data);
        picture.data = (unsigned char *)values;
        picture.format.bits = 32;
        picture.format.samples = GF_SAMPLES_FLOAT;
        options.depth = depth;
        if (encode(in_folder("a.exr"), &picture, &options) ||
            decode(in_folder("a.exr"), &options, &back))
            fail_msg("%s", failure.text);
        assert_int_equal(back.format.channels, channels);
        assert_int_equal(back.format.bits, channels % 2 == 0 || kind & 4 ? 32 : 16);
        for (size_t i = 0; i < samples; i++)
            assert_true(gf_number_at(back.data,
                                     back.format.bits == 16 ? GF_NUMBER_FLOAT16 : GF_NUMBER_FLOAT32,
                                     i) == values[i]);
        free_picture(&back);
        free_picture(&picture);
    }
}

static void test_colours(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(5, 4, 3, 8), back;
    const char *const path = in_folder("a.exr");
    picture.metadata.bits = 8;
    assert_int_equal(encode(path, &picture, &options), GF_OK);
    assert_non_null(strstr(last_warning, "OpenEXR means linear light"));
    options = plain_options();
    gf_metadata_set_ratio(&picture.metadata, 1, 2);
    gf_colour_tags_set_cicp(&picture.metadata.colour, GF_PRIMARIES_BT2020, 8);
    assert_int_equal(encode(path, &picture, &options), GF_OK);
    assert_int_equal(warnings, 0);
    assert_int_equal(decode(path, &options, &back), GF_OK);
    assert_true(back.metadata.colour.has_chromaticities && back.metadata.colour.gamma == 100000);
    assert_int_equal(back.metadata.colour.chromaticity[2], 70800);
    assert_true(fabs(back.metadata.density_y / back.metadata.density_x - 2) < 1e-6);
    free_picture(&back);
    free_picture(&picture);
}

/* Of pixels with alpha 0 the colours stay when they are read, and become 0 when they are written.
 */
static void test_no_alpha(void **state)
{
    const struct gf_options options = plain_options();
    const unsigned char pixels[] = {200, 0, 100, 255};
    struct picture picture = {.format = {.width = 2, .height = 1, .channels = 2, .bits = 8},
                              .data = malloc(4)},
                   back;
    memcpy(picture.data, pixels, 4);
    assert_int_equal(encode(in_folder("a.exr"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.exr"), &options, &back), GF_OK);
    assert_true(sample_of(&back, 0, 0, 0) == 0 && sample_of(&back, 0, 0, 1) == 0);
    free_picture(&back);
    picture.metadata.associated = true;
    assert_int_equal(encode(in_folder("a.exr"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.exr"), &options, &back), GF_OK);
    assert_true(back.metadata.associated && sample_of(&back, 0, 0, 0) > 0.7);
    free_picture(&back);
    struct gf_options lossless = options;
    lossless.lossless = true;
    assert_int_equal(encode(in_folder("a.exr"), &picture, &lossless), GF_ERROR_UNFIT);
    assert_failure_says("OpenEXR multiplies colours by alpha: it is not lossless");
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_of_the_file),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_parts_and_layers),
        cmocka_unit_test(test_some_of_the_channels),
        cmocka_unit_test(test_name_of_lines),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_no_alpha),
    };
    return cmocka_run_group_tests_name("exr", tests, make_folder, remove_folder);
}
#else
int main(void)
{
    puts("1..1\nok 1 # SKIP this build has no OpenEXR");
    return 0;
}
#endif
