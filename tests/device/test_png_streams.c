/* PNGs of other programs decoded on a GPU: streams of all kinds of blocks, in any number of chunks,
 * of all colour types and depths. The pixels are those of the CPU's reader; where that fails or
 * warns, the picture is left to it. Skipped where there is no GPU. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include <time.h>
#include <zlib.h>

#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "codec/png/png_chunk.h"
#include "cuda/png/coders.h"

enum { GROUP = 16, FITS = 1 << 28 };

/* What a file has before its pixels. */
struct kind {
    int colour_type, depth, channels; /* channels: in the file */
    int colours;                      /* of the palette */
    bool clear;                       /* with tRNS */
};

static const struct kind kinds[] = {
    {0, 1, 1, 0, false},  {0, 2, 1, 0, false},  {0, 4, 1, 0, false},   {0, 8, 1, 0, false},
    {0, 16, 1, 0, false}, {0, 1, 1, 0, true},   {0, 2, 1, 0, true},    {0, 4, 1, 0, true},
    {0, 8, 1, 0, true},   {0, 16, 1, 0, true},  {2, 8, 3, 0, false},   {2, 16, 3, 0, false},
    {2, 8, 3, 0, true},   {2, 16, 3, 0, true},  {3, 1, 1, 2, false},   {3, 2, 1, 4, true},
    {3, 4, 1, 16, false}, {3, 8, 1, 256, true}, {3, 8, 1, 256, false}, {4, 8, 2, 0, false},
    {4, 16, 2, 0, false}, {6, 8, 4, 0, false},  {6, 16, 4, 0, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct bytes {
    unsigned char *data;
    size_t size, room;
};

static void add(struct bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > bytes->room) {
        bytes->room = 2 * (bytes->size + size) + 100;
        bytes->data = realloc(bytes->data, bytes->room);
        assert_non_null(bytes->data);
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void add_chunk(struct bytes *bytes, const char *type, const void *data, size_t size)
{
    unsigned char head[8], crc[4];
    gf_png_put_be32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uLong sum = crc32(0, head + 4, 4);
    if (size)
        sum = crc32(sum, data, (uInt)size);
    gf_png_put_be32(crc, (uint32_t)sum);
    add(bytes, head, sizeof head);
    add(bytes, data, size);
    add(bytes, crc, sizeof crc);
}

/* ---- rows ---- */

static size_t row_bytes(const struct kind *kind, int width)
{
    return ((size_t)width * (size_t)(kind->channels * kind->depth) + 7) / 8;
}

/* Rows after their filters. Any bytes are. */
static struct bytes make_rows(const struct kind *kind, int width, int height, uint64_t *random)
{
    const size_t row = row_bytes(kind, width) + 1, size = row * (size_t)height;
    const int content = random_below(random, 6), far = random_below(random, 32768) + 1;
    struct bytes rows = {.data = malloc(size + 1), .size = size, .room = size};
    assert_non_null(rows.data);
    for (size_t i = 0; i < size; i++) {
        unsigned char *const to = rows.data + i;
        const bool again = i >= (size_t)far && random_below(random, 200);
        *to = (unsigned char)(content == 0   ? random_below(random, 256)
                              : content == 1 ? random_below(random, 3)
                              : content == 2 ? (again ? to[-far] : random_below(random, 256))
                              : content == 3
                                  ? (i && random_below(random, 900) ? to[-1] : (int)(i % 256))
                              : content == 4
                                  ? __builtin_ctz(1U << 12 | (unsigned)random_below(random, 4096))
                                  : (int)(i % 7) * random_below(random, 2));
        if (i % row == 0)
            *to = (unsigned char)random_below(random, 5);
    }
    return rows;
}

/* ---- streams ---- */

/* A stream by zlib, of any level, strategy, window and flushes. */
static struct bytes by_zlib(const struct bytes *rows, uint64_t *random)
{
    static const int flushes[] = {Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK};
    z_stream zlib = {0};
    const int window = random_below(random, 3) ? 15 : 9 + random_below(random, 7);
    struct bytes out = {.data = malloc(2 * rows->size + 100000), .room = 2 * rows->size + 100000};
    assert_non_null(out.data);
    assert_int_equal(deflateInit2(&zlib, random_below(random, 10), Z_DEFLATED, window,
                                  random_below(random, 9) + 1, random_below(random, 5)),
                     Z_OK);
    zlib.next_out = out.data;
    zlib.avail_out = (uInt)out.room;
    for (size_t at = 0; at < rows->size;) {
        const size_t rest = rows->size - at,
                     some = random_below(random, 3) ? rest
                                                    : (size_t)random_below(random, (int)rest) + 1;
        zlib.next_in = rows->data + at;
        zlib.avail_in = (uInt)some;
        at += some;
        for (int i = at < rows->size ? random_below(random, 3) : 0; i >= 0; i--)
            assert_true(
                deflate(&zlib, at == rows->size ? Z_FINISH : flushes[random_below(random, 4)]) >=
                Z_BUF_ERROR);
    }
    out.size = zlib.total_out;
    deflateEnd(&zlib);
    return out;
}

static void put_bits(struct bytes *out, int *bit, unsigned value, int count)
{
    for (int i = 0; i < count; i++, *bit = (*bit + 1) % 8) {
        if (!*bit)
            add(out, "", 1);
        out->data[out->size - 1] |= (unsigned char)((value >> i & 1) << *bit);
    }
}

/* A code, whose first bit is the highest. */
static void put_code(struct bytes *out, int *bit, unsigned code, int count)
{
    for (int i = count - 1; i >= 0; i--)
        put_bits(out, bit, code >> i & 1, 1);
}

static void put_fixed(struct bytes *out, int *bit, int symbol)
{
    if (symbol < 144)
        put_code(out, bit, 0x30 + (unsigned)symbol, 8);
    else if (symbol < 256)
        put_code(out, bit, 0x190 + (unsigned)symbol - 144, 9);
    else if (symbol < 280)
        put_code(out, bit, (unsigned)symbol - 256, 7);
    else
        put_code(out, bit, 0xc0 + (unsigned)symbol - 280, 8);
}

static void put_match(struct bytes *out, int *bit, int length, int distance)
{
    int symbol = 0, extra = 0, base = 3;
    for (;; symbol++, base += 1 << extra) {
        extra = symbol < 8 ? 0 : symbol / 4 - 1;
        if (length == 258) {
            symbol = 28;
            base = 258;
            extra = 0;
        }
        if (length < base + (1 << extra))
            break;
    }
    put_fixed(out, bit, 257 + symbol);
    put_bits(out, bit, (unsigned)(length - base), extra);
    for (symbol = 0, base = 1;; symbol++, base += 1 << extra) {
        extra = symbol < 4 ? 0 : symbol / 2 - 1;
        if (distance < base + (1 << extra))
            break;
    }
    put_code(out, bit, (unsigned)symbol, 5);
    put_bits(out, bit, (unsigned)(distance - base), extra);
}

/* A stream of fixed codes, with matches of any length and distance, and stored and empty blocks
 * between; the rows become what it holds. */
static struct bytes by_hand(const struct kind *kind, int width, struct bytes *rows,
                            uint64_t *random)
{
    const size_t row = row_bytes(kind, width) + 1;
    struct bytes out = {.size = 0};
    size_t at = 0;
    int bit = 0;
    add(&out, "\x78\x9c", 2);
    while (at < rows->size) {
        const size_t rest = rows->size - at, most = rest < 50000 ? rest : 50000;
        size_t some = (size_t)random_below(random, (int)most + 1);
        if (random_below(random, 2)) { /* stored */
            put_bits(&out, &bit, 0, 3);
            bit = 0;
            const unsigned char head[] = {some & 255, some >> 8, ~some & 255, ~some >> 8 & 255};
            add(&out, head, sizeof head);
            add(&out, rows->data + at, some);
            at += some;
            continue;
        }
        put_bits(&out, &bit, 2, 3);
        while (some) {
            const bool is_number = at % row == 0; /* of a filter */
            const size_t length = random_below(random, 9) ? 3 + (size_t)random_below(random, 20)
                                                          : 3 + (size_t)random_below(random, 256),
                         distance = random_below(random, 2)
                                        ? 1 + (size_t)random_below(random, 9)
                                        : (size_t)random_below(random, 32768) + 1;
            if (is_number || length > some || distance > at || length > row - at % row ||
                random_below(random, 3)) {
                put_fixed(&out, &bit, rows->data[at++]);
                some--;
                continue;
            }
            put_match(&out, &bit, (int)length, (int)distance);
            for (size_t i = 0; i < length; i++, at++)
                rows->data[at] = rows->data[at - distance];
            some -= length;
        }
        put_fixed(&out, &bit, 256);
    }
    put_bits(&out, &bit, 3, 3);
    put_fixed(&out, &bit, 256);
    unsigned char adler[4];
    gf_png_put_be32(adler, (uint32_t)adler32(1, rows->data, (uInt)rows->size));
    add(&out, adler, sizeof adler);
    return out;
}

/* ---- files ---- */

static struct bytes make_file(const struct kind *kind, int width, int height,
                              const struct bytes *stream, uint64_t *random)
{
    unsigned char header[13] = {0}, colours[768], clear[256];
    struct bytes file = {.size = 0};
    add(&file, "\x89PNG\r\n\x1a\n", 8);
    gf_png_put_be32(header, (uint32_t)width);
    gf_png_put_be32(header + 4, (uint32_t)height);
    header[8] = (unsigned char)kind->depth;
    header[9] = (unsigned char)kind->colour_type;
    add_chunk(&file, "IHDR", header, sizeof header);
    for (int i = 0; i < 768; i++)
        colours[i] = (unsigned char)random_below(random, 256);
    memcpy(clear, colours, sizeof clear);
    for (int i = 0; i < 6 && kind->depth < 16; i++) /* samples of 16 bits, the high byte first */
        clear[i] = i % 2 ? clear[i] & ((1U << kind->depth) - 1) : 0;
    if (kind->colours)
        add_chunk(&file, "PLTE", colours, 3 * (size_t)kind->colours);
    if (kind->clear)
        add_chunk(&file, "tRNS", clear,
                  kind->colours ? (size_t)random_below(random, kind->colours) + 1
                                : 2 * (size_t)kind->channels);
    const int most = random_below(random, 2) ? (int)stream->size : 50;
    for (size_t at = 0; at < stream->size;) {
        size_t some = (size_t)random_below(random, most) + (at ? 1 : 2);
        some = some < stream->size - at ? some : stream->size - at;
        add_chunk(&file, "IDAT", stream->data + at, some);
        at += some;
    }
    if (random_below(random, 2))
        add_chunk(&file, "tEXt", "Comment\0after the pixels", 24);
    add_chunk(&file, "IEND", NULL, 0);
    return file;
}

static struct bytes random_file(const struct kind *kind, int side, uint64_t *random)
{
    const int width = random_below(random, side) + 1, height = random_below(random, side) + 1;
    struct bytes rows = make_rows(kind, width, height, random),
                 stream = random_below(random, 3) ? by_zlib(&rows, random)
                                                  : by_hand(kind, width, &rows, random),
                 file = make_file(kind, width, height, &stream, random);
    free(rows.data);
    free(stream.data);
    return file;
}

/* ---- decoding ---- */

static void note_warning(void *context, const char *text)
{
    (void)text;
    *(bool *)context = true;
}

/* What the CPU makes of the file; NULL if it fails or warns. */
static unsigned char *by_cpu(const struct bytes *file, struct gf_format *format)
{
    bool warned = false;
    struct gf_options options = gf_options_default();
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    struct gf_error error;
    unsigned char *pixels = NULL;
    options.threads = 1;
    options.warn = note_warning;
    options.warn_context = &warned;
    enum gf_status status =
        gf_input_open_memory(file->data, file->size, "picture.png", &input, &error);
    assert_int_equal(status, GF_OK);
    status = gf_source_open(input, &options, &source, &error);
    if (!status) {
        const size_t row = gf_row_bytes(source->format);
        *format = source->format;
        pixels = malloc(row * (size_t)format->height);
        assert_non_null(pixels);
        status = source->read(source, format->height, pixels, row, &error);
        if (!status)
            status = source->finish(source, &error);
        source->close(source);
    }
    gf_input_close(input);
    if (status || warned) {
        free(pixels);
        pixels = NULL;
    }
    return pixels;
}

/* Decodes the files as one group, and frees them. What is decoded must be as by the CPU. Returns
 * how many are. */
static int decode(struct bytes *files, int count)
{
    struct gf_png_decode_picture pictures[GROUP];
    struct gf_png_file headers[GROUP];
    void *pinned[GROUP];
    struct gf_png_decoder *decoder = NULL;
    struct gf_error error = {0};
    int taken = 0, decoded = 0, which[GROUP];
    assert_ok("create", gf_png_decoder_create(0, FITS, &decoder, &error), &error);
    for (int i = 0; i < count; i++) {
        struct gf_png_file *const header = headers + taken;
        if (!gf_png_file_read(files[i].data, files[i].size, header))
            continue;
        assert_int_equal(cudaMallocHost(&pinned[taken], files[i].size), cudaSuccess);
        memcpy(pinned[taken], files[i].data, files[i].size);
        const struct gf_format format = {header->width, header->height, header->channels,
                                         header->bits, GF_SAMPLES_INTEGER};
        pictures[taken] = (struct gf_png_decode_picture){.header = header,
                                                         .data = pinned[taken],
                                                         .size = files[i].size,
                                                         .out = rows_on_device(format)};
        which[taken++] = i;
    }
    assert_ok("run", gf_png_decoder_run(decoder, pictures, taken, &error), &error);
    for (int i = 0; i < taken; i++) {
        struct gf_format format;
        const struct gf_view *const out = &pictures[i].out;
        unsigned char *const expected = by_cpu(files + which[i], &format);
        if (pictures[i].decoded) {
            const size_t row = gf_row_bytes(out->format), size = row * (size_t)out->format.height;
            unsigned char *const back = malloc(size);
            assert_non_null(back);
            assert_int_equal(cudaMemcpy2D(back, row, out->data, out->pitch, row,
                                          (size_t)out->format.height, cudaMemcpyDeviceToHost),
                             cudaSuccess);
            if (!expected || memcmp(&format, &out->format, sizeof format) ||
                memcmp(back, expected, size))
                fail_msg("%dx%d, colour type %d of %d bits: %s", format.width, format.height,
                         headers[i].colour_type, headers[i].depth,
                         expected ? "other pixels" : "the CPU refuses or warns");
            free(back);
        }
        decoded += pictures[i].decoded;
        free(expected);
        cudaFree(out->data);
        cudaFreeHost(pinned[i]);
    }
    for (int i = 0; i < count; i++)
        free(files[i].data);
    gf_png_decoder_destroy(decoder);
    return decoded;
}

/* ---- tests ---- */

/* Streams that state a small window are the CPU's. */
static bool has_window(const struct bytes *file)
{
    struct gf_png_file header;
    return gf_png_file_read(file->data, file->size, &header);
}

static void decode_sound(int side, int rounds, uint64_t random)
{
    int fit = 0, decoded = 0;
    for (int round = 0; round < rounds; round++) {
        struct bytes files[GROUP];
        for (int i = 0; i < GROUP; i++) {
            files[i] = random_file(&kinds[(round * GROUP + i) % KINDS], side, &random);
            fit += has_window(files + i);
        }
        decoded += decode(files, GROUP);
    }
    assert_int_equal(decoded, fit);
    assert_true(fit > rounds * GROUP * 2 / 3);
}

static void test_small(void **state)
{
    need_gpu();
    decode_sound(40, 8, 3);
}

/* Of several windows, whose matches are far. */
static void test_large(void **state)
{
    need_gpu();
    decode_sound(320, 2, 4);
}

/* Bits are changed, or the end is cut off, with and without a right checksum. GF_PNG_DAMAGED=N: so
 * many files. */
static void test_damage(void **state)
{
    const char *const asked = getenv("GF_PNG_DAMAGED");
    const int rounds = asked ? atoi(asked) / GROUP : 12;
    uint64_t random = asked ? (uint64_t)time(NULL) : 17;
    int decoded = 0;
    need_gpu();
    print_message("from %llu\n", (unsigned long long)random);
    for (int round = 0; round < rounds; round++) {
        struct bytes files[GROUP];
        for (int i = 0; i < GROUP; i++) {
            const struct kind *const kind = &kinds[random_below(&random, KINDS)];
            const int width = random_below(&random, 60) + 1, height = random_below(&random, 60) + 1;
            struct bytes rows = make_rows(kind, width, height, &random),
                         stream = random_below(&random, 3) ? by_zlib(&rows, &random)
                                                           : by_hand(kind, width, &rows, &random);
            const int what = random_below(&random, 8), part = what < 4 ? 30 : (int)stream.size;
            for (int n = what < 6 ? random_below(&random, 3) : -1; n >= 0; n--)
                stream.data[random_below(&random,
                                         part < (int)stream.size ? part : (int)stream.size)] ^=
                    (unsigned char)(1 << random_below(&random, 8));
            if (what == 6)
                stream.size -= (size_t)random_below(&random, (int)stream.size / 2);
            else if (what == 7)
                add(&stream, "\1\2\3", (size_t)random_below(&random, 3) + 1);
            files[i] = make_file(kind, width, height, &stream, &random);
            if (!random_below(&random, 8))
                files[i].data[random_below(&random, (int)files[i].size)] ^= 8;
            free(rows.data);
            free(stream.data);
        }
        decoded += decode(files, GROUP);
    }
    print_message("%d decoded\n", decoded);
    assert_true(decoded <= rounds * 2); /* a bit behind the end may not matter */
}

/* An index beyond the palette, of which the CPU warns. */
static void test_beyond_palette(void **state)
{
    const struct kind kind = {3, 8, 1, 200, false};
    uint64_t random = 1;
    int decoded = 0;
    need_gpu();
    for (int round = 0; round < 4; round++) {
        struct bytes files[2];
        for (int i = 0; i < 2; i++) {
            struct bytes rows = make_rows(&kind, 40, 40, &random);
            for (size_t at = 0; at < rows.size; at++)
                rows.data[at] = (unsigned char)(at % 41 ? at % 199 : 0);
            rows.data[41 * 20 + 7] = i ? 199 : 200;
            struct bytes stream = by_zlib(&rows, &random);
            files[i] = make_file(&kind, 40, 40, &stream, &random);
            free(rows.data);
            free(stream.data);
        }
        decoded += decode(files, 2);
    }
    assert_true(decoded > 0 && decoded <= 4);
}

/* A stream of a picture of 2 rows of 8 zeros, one of those that the GPU must leave to the CPU. */
static struct bytes left_to_cpu(int which)
{
    enum { ROW = 9, EMPTY_BLOCKS = 3000 };
    static const unsigned char zeros[2 * ROW];
    struct bytes out = {.size = 0};
    unsigned char adler[4];
    int bit = 0;
    add(&out, which == 0 ? "\x88\x1c" : "\x78\x9c", 2); /* 0: a window larger than any */
    for (int i = 0; which == 1 && i < EMPTY_BLOCKS; i++) {
        put_bits(&out, &bit, 2, 3);
        put_fixed(&out, &bit, 256);
    }
    put_bits(&out, &bit, 3, 3);
    for (int i = 0; i < ROW; i++)
        put_fixed(&out, &bit, 0);
    if (which == 2) { /* a distance of no meaning; the bits behind it are one that has */
        put_fixed(&out, &bit, 257 + ROW - 3);
        put_code(&out, &bit, 31, 5);
        put_code(&out, &bit, 0, 5);
    } else {
        if (which == 3) /* a symbol of no meaning */
            put_fixed(&out, &bit, 286);
        put_match(&out, &bit, ROW, 1);
    }
    put_fixed(&out, &bit, 256);
    gf_png_put_be32(adler, (uint32_t)adler32(1, zeros, sizeof zeros));
    add(&out, adler, sizeof adler);
    return out;
}

static void test_left_to_cpu(void **state)
{
    enum { STREAMS = 4 };
    uint64_t random = 1;
    struct bytes files[STREAMS];
    need_gpu();
    for (int i = 0; i < STREAMS; i++) {
        struct bytes stream = left_to_cpu(i);
        files[i] = make_file(&kinds[3], 8, 2, &stream, &random);
        free(stream.data);
    }
    assert_int_equal(decode(files, STREAMS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_to_cpu),    cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),          cmocka_unit_test(test_damage),
        cmocka_unit_test(test_beyond_palette),
    };
    return cmocka_run_group_tests_name("png_streams", tests, NULL, NULL);
}
#endif
