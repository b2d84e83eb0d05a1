/* A JPEG that several threads decode or encode strip by strip, beside one thread: the same pixels,
 * bytes, messages and warnings. The strips are made small, so that small pictures have many. */
#include "codec/codec_test.h"

#include <jpeglib.h>

#include "base/threads/times.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_strips.h"

enum { THREADS = 3 };

static unsigned seed = 1;

static int below(int bound)
{
    return (int)(next_random(&seed) % (unsigned)bound);
}

/* Noise over shades: blocks with many coefficients and with none. */
static void fill(unsigned char *data, size_t width, size_t height, size_t samples)
{
    const int noise = below(4) ? below(60) : 255;
    for (size_t y = 0; y < height; y++) {
        for (size_t i = 0; i < width * samples; i++) {
            const int calm = (int)((y / 24 + i / 90) % 2);
            data[y * width * samples + i] =
                (unsigned char)(100 + (int)(y + i) % 80 + (calm ? 0 : below(noise + 1)));
        }
    }
}

/* ---- decoding ---- */

struct kind {
    int width, height, quality;
    int h[3], v[3]; /* of three components; h[0] is 0: gray */
    int restart_interval;
    bool optimised, rgb;
    unsigned char *data;
    size_t size;
};

static void configure(struct jpeg_compress_struct *jpeg, const struct kind *kind)
{
    jpeg->image_width = (JDIMENSION)kind->width;
    jpeg->image_height = (JDIMENSION)kind->height;
    jpeg->input_components = kind->h[0] ? 3 : 1;
    jpeg->in_color_space = kind->h[0] ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(jpeg);
    if (kind->rgb && kind->h[0])
        jpeg_set_colorspace(jpeg, JCS_RGB);
    jpeg_set_quality(jpeg, kind->quality, below(2));
    for (int c = 0; kind->h[0] && c < 3; c++) {
        jpeg->comp_info[c].h_samp_factor = kind->h[c];
        jpeg->comp_info[c].v_samp_factor = kind->v[c];
    }
    jpeg->restart_interval = (unsigned)kind->restart_interval;
    jpeg->optimize_coding = kind->optimised;
}

static void ignore_message(j_common_ptr jpeg, int level)
{
}

static void make(struct kind *kind)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    const size_t samples = kind->h[0] ? 3 : 1, row = (size_t)kind->width * samples;
    unsigned char *const pixels = malloc(row * (size_t)kind->height);
    assert_non_null(pixels);
    fill(pixels, (size_t)kind->width, (size_t)kind->height, samples);
    kind->data = NULL;
    jpeg.err = jpeg_std_error(&errors);
    errors.emit_message = ignore_message;
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &kind->data, &size);
    configure(&jpeg, kind);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW line = pixels + jpeg.next_scanline * row;
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(pixels);
    kind->size = size;
}

static const struct {
    int h[3], v[3];
} samplings[] = {
    {{0}, {0}},
    {{1, 1, 1}, {1, 1, 1}},
    {{2, 1, 1}, {1, 1, 1}},
    {{2, 1, 1}, {2, 1, 1}},
    {{1, 1, 1}, {2, 1, 1}},
    {{4, 1, 1}, {1, 1, 1}},
    {{1, 1, 1}, {4, 1, 1}},
    {{4, 1, 1}, {2, 1, 1}},
    {{2, 2, 1}, {2, 1, 1}},
    {{2, 1, 2}, {1, 1, 1}},
    {{1, 2, 1}, {1, 2, 1}},
    {{3, 1, 1}, {1, 1, 1}},
    {{2, 1, 1}, {2, 2, 1}},
    {{3, 1, 1}, {2, 1, 1}},
};
enum { SAMPLINGS = sizeof samplings / sizeof *samplings };

static struct kind random_kind(int sampling)
{
    static const int qualities[] = {1, 10, 50, 75, 90, 95, 100};
    struct kind kind = {.width = 1 + below(90),
                        .height = 1 + below(120),
                        .quality = qualities[below(7)],
                        .optimised = below(2),
                        .rgb = !below(6)};
    memcpy(kind.h, samplings[sampling].h, sizeof kind.h);
    memcpy(kind.v, samplings[sampling].v, sizeof kind.v);
    /* Heights around the ends of strips. */
    if (!below(3))
        kind.height = 16 * (1 + below(6)) + below(3) - 1;
    const int widest = kind.h[1] > kind.h[0] ? kind.h[1] : kind.h[0] ? kind.h[0] : 1;
    const int across = (kind.width + 8 * widest - 1) / (8 * widest);
    const int intervals[] = {0, 0, across, 2 * across, 1, 2, 5};
    kind.restart_interval = intervals[below(7)];
    make(&kind);
    return kind;
}

struct decoded {
    enum gf_status status;
    struct gf_error error;
    struct gf_codec_memory memory;
    struct picture picture;
    int warnings;
    char warning[sizeof last_warning];
};

static struct decoded decode_strips(const unsigned char *data, size_t size, int threads,
                                    int strip_rows, bool allow_truncated)
{
    struct decoded decoded = {0};
    struct gf_options options = plain_options();
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    options.threads = threads;
    options.allow_truncated = allow_truncated;
    memset(&failure, 0, sizeof failure);
    assert_int_equal(gf_input_open_memory(data, size, "in", &input, &failure), GF_OK);
    decoded.status = gf_jpeg_source_open(input, &options, strip_rows, &source, &failure);
    if (!decoded.status) {
        decoded.memory = source->memory;
        decoded.picture.format = source->format;
        decoded.picture.data = calloc(1, picture_bytes(source->format));
        assert_non_null(decoded.picture.data);
        decoded.status = read_rows_of(source, decoded.picture.data);
        source->close(source);
    }
    gf_input_close(input);
    decoded.error = failure;
    decoded.warnings = warnings;
    memcpy(decoded.warning, last_warning, sizeof last_warning);
    return decoded;
}

static void assert_decoded_alike(const unsigned char *data, size_t size, int strip_rows,
                                 bool allow_truncated)
{
    const struct decoded one = decode_strips(data, size, 1, 0, allow_truncated),
                         several = decode_strips(data, size, THREADS, strip_rows, allow_truncated);
    assert_int_equal(several.status, one.status);
    assert_string_equal(several.error.text, one.error.text);
    assert_int_equal(several.warnings, one.warnings);
    assert_string_equal(several.warning, one.warning);
    if (!one.status)
        assert_same_pixels(&several.picture, &one.picture);
    free(one.picture.data);
    free(several.picture.data);
}

/* How many rows come by strips; -1: the file is not decoded in strips. */
static int rows_by_strips(const struct kind *kind, int strip_rows)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct gf_options options = plain_options();
    struct gf_input *input = NULL;
    options.threads = THREADS;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, kind->data, kind->size);
    jpeg_read_header(&jpeg, TRUE);
    assert_int_equal(gf_input_open_memory(kind->data, kind->size, "in", &input, &failure), GF_OK);
    const int64_t begin = (int64_t)kind->size - (int64_t)jpeg.src->bytes_in_buffer;
    struct gf_jpeg_strips_reader *const reader =
        gf_jpeg_strips_reader_open(&jpeg, input, begin, &options, strip_rows);
    const size_t pitch = (size_t)kind->width * (size_t)jpeg.num_components;
    unsigned char *const pixels = malloc(pitch * (size_t)kind->height);
    const int rows = reader ? gf_jpeg_strips_read(reader, kind->height, pixels, pitch) : -1;
    gf_jpeg_strips_reader_close(reader);
    gf_input_close(input);
    jpeg_destroy_decompress(&jpeg);
    free(pixels);
    return rows;
}

static void test_decoding(void **state)
{
    enum { ROUNDS = 60 };
    int by_strips = 0;
    for (int i = 0; i < ROUNDS * SAMPLINGS; i++) {
        struct kind kind = random_kind(i % SAMPLINGS);
        const int strip_rows = 1 + below(3), rows = rows_by_strips(&kind, strip_rows);
        if (rows >= 0 && rows != kind.height)
            fail_msg("%dx%d, sampling %d, restart interval %d: %d rows", kind.width, kind.height,
                     i % SAMPLINGS, kind.restart_interval, rows);
        by_strips += rows >= 0;
        assert_decoded_alike(kind.data, kind.size, strip_rows, false);
        free(kind.data);
    }
    assert_true(by_strips > ROUNDS * SAMPLINGS / 2); /* the others have a strip only, or intervals
                                                        that end nowhere with a row of units */
}

/* Intervals of a row of units are what telephones write. */
static void test_usual_kinds_come_by_strips(void **state)
{
    struct kind kind = {.width = 100, .height = 133, .quality = 90, .h = {2, 1, 1}, .v = {2, 1, 1}};
    for (int i = 0; i < 4; i++) {
        kind.restart_interval = i & 1 ? 7 : 0;
        kind.optimised = i & 2;
        make(&kind);
        assert_int_equal(rows_by_strips(&kind, 2), 133);
        free(kind.data);
    }
}

/* Files that the ordinary way decodes, and pictures that are not worth the threads. */
static void test_what_is_left_alone(void **state)
{
    struct kind kind = {.width = 100, .height = 133, .quality = 90, .h = {2, 1, 1}, .v = {2, 1, 1}};
    make(&kind);
    assert_int_equal(rows_by_strips(&kind, 0), -1);
    free(kind.data);
    struct picture picture = smooth_picture(200, 300, 3, 8);
    struct gf_options options = plain_options();
    options.progressive = true;
    assert_int_equal(gf_jpeg_strips_layout(picture.format, &options, 1).strips, 0);
    options.progressive = false;
    assert_int_equal(gf_jpeg_strips_layout(picture.format, &options, 0).strips, 0);
    options.threads = 1;
    assert_int_equal(gf_jpeg_strips_layout(picture.format, &options, 1).strips, 0);
    free_picture(&picture);
}

/* ---- damage ---- */

static void test_truncated(void **state)
{
    for (int i = 0; i < 2 * SAMPLINGS; i++) {
        struct kind kind = random_kind(i % SAMPLINGS);
        for (int cut = 0; cut < 12; cut++) {
            const size_t size = kind.size - (size_t)below((int)kind.size < 700 ? 100 : 600);
            assert_decoded_alike(kind.data, size, 1 + cut % 3, cut % 2);
        }
        for (size_t less = 1; less < 5; less++)
            assert_decoded_alike(kind.data, kind.size - less, 1, less % 2);
        free(kind.data);
    }
}

static void test_damaged(void **state)
{
    enum { ROUNDS = 900 };
    for (int i = 0; i < ROUNDS; i++) {
        struct kind kind = random_kind(i % SAMPLINGS);
        for (int changes = 1 + below(3); changes; changes--) {
            const int at =
                below(4) ? (int)kind.size - 1 - below((int)kind.size - 20) : below((int)kind.size);
            kind.data[at] =
                (unsigned char)(below(3) ? kind.data[at] ^ 1 << below(8) : 0xd0 + below(16));
        }
        assert_decoded_alike(kind.data, kind.size, 1 + below(3), i % 2);
        free(kind.data);
    }
}

/* Bytes behind the end marker are nothing; bytes before it are damage that a strip must not hide.
 */
static void test_more_bytes(void **state)
{
    struct kind kind = {.width = 60, .height = 100, .quality = 90, .h = {2, 1, 1}, .v = {2, 1, 1}};
    make(&kind);
    struct bytes more = {0};
    append(&more, kind.data, kind.size);
    append(&more, "more", 4);
    assert_decoded_alike(more.data, more.size, 1, false);
    more.size = kind.size - 2;
    append(&more, "more\xff\xd9", 6);
    assert_decoded_alike(more.data, more.size, 1, false);
    assert_decoded_alike(more.data, more.size, 1, true);
    free(more.data);
    free(kind.data);
}

/* DC values beyond what 8-bit samples give, which a strip cannot begin with: the quantisers are 1,
 * and the differences add up. */
static void test_dc_overflow(void **state)
{
    struct kind kind = {.width = 8, .height = 400, .quality = 50, .h = {0}, .v = {0}};
    make(&kind);
    size_t scan = 2;
    while (kind.data[scan + 1] != 0xda)
        scan += 2 + (size_t)(kind.data[scan + 2] << 8 | kind.data[scan + 3]);
    scan += 10;
    struct bytes made = {0};
    append(&made, kind.data, scan);
    /* The standard tables: 111111110 and 11 bits are a difference of 11 bits, 1010 ends a block. */
    uint64_t bits = 0;
    int count = 0;
    for (int block = 0; block < 50; block++) {
        const unsigned codes[2][2] = {{0x1fe, 9}, {0x7ff << 4 | 0xa, 15}};
        for (int i = 0; i < 2; i++) {
            bits = bits << codes[i][1] | codes[i][0];
            for (count += (int)codes[i][1]; count >= 8; count -= 8) {
                const unsigned char byte = (unsigned char)(bits >> (count - 8));
                append(&made, &byte, 1);
                if (byte == 0xff)
                    append(&made, "", 1);
            }
        }
    }
    append(&made, "\xff\xd9", 2); /* 1,200 bits are whole bytes */
    for (int rows = 1; rows < 4; rows++)
        assert_decoded_alike(made.data, made.size, rows, false);
    free(made.data);
    free(kind.data);
}

/* ---- encoding ---- */

static struct bytes encode_strips(const struct picture *picture, struct gf_options options,
                                  int threads, int strip_rows)
{
    struct bytes bytes = {0};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    const size_t row = gf_row_bytes(picture->format);
    options.threads = threads;
    assert_int_equal(gf_output_open_memory("out", &output, &failure), GF_OK);
    assert_int_equal(gf_jpeg_sink_open(output, picture->format, &picture->metadata, &options,
                                       strip_rows, &sink, &failure),
                     GF_OK);
    for (int y = 0, rows; y < picture->format.height; y += rows) {
        rows = 1 + y % 7;
        rows = picture->format.height - y < rows ? picture->format.height - y : rows;
        assert_int_equal(sink->write(sink, rows, picture->data + (size_t)y * row, row, &failure),
                         GF_OK);
    }
    assert_int_equal(sink->finish(sink, &failure), GF_OK);
    sink->close(sink);
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    bytes.data = gf_output_take(output, &bytes.size);
    gf_output_close(output);
    return bytes;
}

static void assert_encoded_alike(const struct picture *picture, const struct gf_options *options,
                                 int strip_rows)
{
    struct bytes one = encode_strips(picture, *options, 1, 0),
                 several = encode_strips(picture, *options, THREADS, strip_rows);
    if (several.size != one.size || memcmp(several.data, one.data, one.size) != 0)
        fail_msg("%dx%d, %d channels of %d bits, quality %d, subsampling %d, strips of %d",
                 picture->format.width, picture->format.height, picture->format.channels,
                 picture->format.bits, options->quality, (int)options->subsampling, strip_rows);
    free(one.data);
    free(several.data);
}

static void test_encoding(void **state)
{
    enum { ROUNDS = 800 };
    int by_strips = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct gf_options options = plain_options();
        struct picture picture =
            random_picture(1 + below(90), 1 + below(120), 1 + i % 4, i / 4 % 4 ? 8 : 16);
        const size_t row = gf_row_bytes(picture.format);
        if (i % 3)
            fill(picture.data, row, (size_t)picture.format.height, 1);
        options.quality = below(4) ? 1 + i % 100 : 100;
        options.subsampling = (enum gf_subsampling)(i / 16 % 3);
        const int strip_rows = 1 + below(3);
        options.threads = THREADS;
        by_strips += gf_jpeg_strips_layout(picture.format, &options, strip_rows).strips > 0;
        assert_encoded_alike(&picture, &options, strip_rows);
        free_picture(&picture);
    }
    assert_true(by_strips > ROUNDS / 2);
}

/* A profile that is larger than the sink's buffer, which then holds a part of the start only. */
static void test_large_metadata(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(60, 120, 3, 8);
    picture.metadata.icc.size = 200000;
    picture.metadata.icc.data = calloc(1, picture.metadata.icc.size);
    picture.metadata.density_x = picture.metadata.density_y = 300 / 0.0254;
    assert_encoded_alike(&picture, &options, 1);
    free_picture(&picture);
}

/* Closing before the last row ends the threads. */
static void test_left_early(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(60, 120, 3, 8);
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    options.threads = THREADS;
    assert_int_equal(gf_output_open_memory("out", &output, &failure), GF_OK);
    assert_int_equal(
        gf_jpeg_sink_open(output, picture.format, &picture.metadata, &options, 1, &sink, &failure),
        GF_OK);
    assert_int_equal(sink->write(sink, 70, picture.data, gf_row_bytes(picture.format), &failure),
                     GF_OK);
    sink->close(sink);
    gf_output_close(output);

    struct bytes jpeg = encode_strips(&picture, options, 1, 0);
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    assert_int_equal(gf_input_open_memory(jpeg.data, jpeg.size, "in", &input, &failure), GF_OK);
    assert_int_equal(gf_jpeg_source_open(input, &options, 1, &source, &failure), GF_OK);
    assert_int_equal(source->read(source, 20, picture.data, gf_row_bytes(picture.format), &failure),
                     GF_OK);
    source->close(source);
    gf_input_close(input);
    free(jpeg.data);
    free_picture(&picture);
}

/* The scans of a progressive JPEG, which libjpeg makes in one call at the end, stop with the time.
 */
static void test_time(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(200, 200, 3, 8);
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    options.progressive = true;
    assert_int_equal(gf_output_open_memory("out", &output, &failure), GF_OK);
    assert_int_equal(
        gf_jpeg_sink_open(output, picture.format, &picture.metadata, &options, 1, &sink, &failure),
        GF_OK);
    assert_int_equal(sink->write(sink, 200, picture.data, gf_row_bytes(picture.format), &failure),
                     GF_OK);
    gf_time_limit_set(gf_now() - 1);
    assert_int_equal(sink->finish(sink, &failure), GF_ERROR_INPUT);
    gf_time_limit_set(0);
    sink->close(sink);
    gf_output_close(output);
    free_picture(&picture);
}

/* Large pictures are cut without being asked, within the memory that is allowed. */
static void test_large(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(1300, 1000, 3, 8);
    fill(picture.data, 1300, 1000, 3);
    options.threads = THREADS;
    assert_true(gf_jpeg_strips_layout(picture.format, &options, 0).strips > THREADS);
    assert_encoded_alike(&picture, &options, 0);
    struct bytes jpeg = encode_strips(&picture, options, THREADS, 0);
    const struct decoded decoded = decode_strips(jpeg.data, jpeg.size, THREADS, 0, false);
    assert_true(decoded.memory.bytes > 0);
    free(decoded.picture.data);
    assert_decoded_alike(jpeg.data, jpeg.size, 0, false);
    options.memory_bytes = 1 << 20;
    assert_int_equal(gf_jpeg_strips_layout(picture.format, &options, 0).strips, 0);
    options.memory_bytes = 40 << 20;
    assert_true(gf_jpeg_strips_layout(picture.format, &options, 0).memory <= 10 << 20);
    free(jpeg.data);
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_usual_kinds_come_by_strips),
        cmocka_unit_test(test_what_is_left_alone),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_more_bytes),
        cmocka_unit_test(test_dc_overflow),
        cmocka_unit_test(test_encoding),
        cmocka_unit_test(test_large_metadata),
        cmocka_unit_test(test_left_early),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
