/* Marked PNGs decoded on a GPU: pictures of every format and content come back as they were
 * written, by the program's own coder and by zlib in stripes of any height; what is damaged is left
 * to the CPU or has its pixels. Skipped where there is no GPU. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include "codec/png_pictures.h"

#include <zlib.h>

#include "codec/codec.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_filter.h"
#include "cuda/png/coders.h"

enum { GROUP = 24, FITS = 1 << 28, MARGIN = GF_PNG_MARGIN };

struct file {
    struct gf_image image; /* what it shows; its rows have margins for the filters */
    unsigned char *data;   /* pinned */
    size_t size;
    struct gf_png_file header;
};

/* ---- files ---- */

static void keep(struct file *file, const unsigned char *data, size_t size)
{
    void *pinned;
    assert_int_equal(cudaMallocHost(&pinned, size), cudaSuccess);
    memcpy(pinned, data, size);
    file->data = pinned;
    file->size = size;
}

/* As the program writes it. */
static struct file write_own(struct gf_format format, enum png_content content)
{
    struct file file = {.image = png_picture(format, content, 7)};
    size_t size;
    unsigned char *const data = png_encoded(&file.image, &size);
    keep(&file, data, size);
    gf_free(data);
    if (!gf_png_file_read(file.data, file.size, &file.header))
        fail_msg("%dx%d, %d channels of %d bits: not marked", format.width, format.height,
                 format.channels, format.bits);
    return file;
}

static size_t add_chunk(unsigned char *at, const char *type, const void *data, size_t size)
{
    if (size)
        memmove(at + GF_PNG_HEAD_BYTES, data, size);
    return gf_png_chunk_close(at, type, size);
}

static size_t pack(const unsigned char *rows, size_t size, bool last, int level, int strategy,
                   unsigned char *out, size_t room)
{
    z_stream zlib = {.next_in = (unsigned char *)rows, .avail_in = (uInt)size};
    zlib.next_out = out;
    zlib.avail_out = (uInt)room;
    assert_int_equal(deflateInit2(&zlib, level, Z_DEFLATED, -15, 8, strategy), Z_OK);
    assert_int_equal(deflate(&zlib, last ? Z_FINISH : Z_FULL_FLUSH), last ? Z_STREAM_END : Z_OK);
    deflateEnd(&zlib);
    return zlib.total_out;
}

/* In stripes of some rows with random filters, by zlib. */
static struct file write_zlib(struct gf_format format, enum png_content content, int rows,
                              uint64_t *random)
{
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE};
    struct file file = {.image = png_picture(format, content, *random)};
    const size_t row_bytes = gf_row_bytes(format), filtered = row_bytes + 1;
    const int bpp = format.channels * format.bits / 8;
    const size_t room = 1000 + 2 * filtered * (size_t)format.height + 100 * (size_t)format.height;
    unsigned char *const data = malloc(room), *const all = calloc(1, filtered * (size_t)rows);
    unsigned char *const line = calloc(2, row_bytes + 2 * MARGIN);
    unsigned char mark[GF_PNG_MARK_BYTES] = {GF_PNG_MARK_VERSION};
    uLong adler = 1;
    assert_true(data && all && line);
    memcpy(data, "\x89PNG\r\n\x1a\n", 8);
    size_t at = 8;
    gf_png_make_header(data + at, format, format.bits, gf_png_colour_type(format));
    at += GF_PNG_HEADER_BYTES;
    at += add_chunk(data + at, "tEXt", "Comment\0x", 9);
    gf_png_put_be32(mark + 1, (uint32_t)rows);
    at += add_chunk(data + at, GF_PNG_MARK, mark, sizeof mark);
    for (int first = 0; first < format.height; first += rows) {
        const int count = format.height - first < rows ? format.height - first : rows;
        const bool last = first + count == format.height;
        unsigned char *above = line + MARGIN, *row = above + row_bytes + 2 * MARGIN;
        for (int y = 0; y < count; y++) {
            const unsigned char *const from =
                file.image.data + (size_t)(first + y) * file.image.pitch;
            unsigned char *const out = all + (size_t)y * filtered;
            unsigned char *const swapped = row;
            for (size_t i = 0; i < row_bytes; i++)
                row[i] = from[format.bits == 16 ? i ^ 1 : i];
            out[0] = (unsigned char)random_below(random, y ? GF_PNG_FILTERS : GF_PNG_UP);
            gf_png_apply_plain((enum gf_png_filter)out[0], row, above, row_bytes, bpp, out + 1);
            row = above;
            above = swapped;
        }
        const size_t size = filtered * (size_t)count;
        unsigned char *const chunk = data + at + GF_PNG_HEAD_BYTES;
        size_t packed = 0;
        if (!first)
            memcpy(chunk, "\x78\x01", packed = 2);
        packed += pack(all, size, last, random_below(random, 10),
                       strategies[random_below(random, 4)], chunk + packed, room - at - 100);
        adler = adler32(adler, all, (uInt)size);
        if (last) {
            gf_png_put_be32(chunk + packed, (uint32_t)adler);
            packed += 4;
        }
        at += gf_png_chunk_close(data + at, "IDAT", packed);
    }
    at += add_chunk(data + at, "IEND", NULL, 0);
    keep(&file, data, at);
    free(data);
    free(all);
    free(line);
    assert_true(gf_png_file_read(file.data, file.size, &file.header));
    assert_int_equal(file.header.rows, rows);
    return file;
}

/* ---- decoding ---- */

static struct gf_png_decode_picture picture_of(const struct file *file)
{
    return (struct gf_png_decode_picture){.header = &file->header,
                                          .data = file->data,
                                          .size = file->size,
                                          .out = rows_on_device(file->image.format)};
}

static bool is_same(const struct file *file, const struct gf_png_decode_picture *picture)
{
    const size_t row = gf_row_bytes(file->image.format);
    struct gf_image back = picture_new(file->image.format, 0);
    assert_int_equal(cudaMemcpy2D(back.data, back.pitch, picture->out.data, picture->out.pitch, row,
                                  (size_t)back.format.height, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    const bool same = !memcmp(back.data, file->image.data, picture_bytes(&back));
    picture_free(&back);
    return same;
}

static void drop(struct file *file)
{
    cudaFreeHost(file->data);
    picture_free(&file->image);
}

/* Decodes the files as one group; what is decoded must be right. Returns how many are. */
static int decode(struct file *files, int count, uint64_t memory)
{
    struct gf_png_decode_picture pictures[GROUP];
    struct gf_png_decoder *decoder = NULL;
    struct gf_error error = {0};
    int decoded = 0;
    for (int i = 0; i < count; i++)
        pictures[i] = picture_of(files + i);
    assert_ok("create", gf_png_decoder_create(0, memory, &decoder, &error), &error);
    gf_png_decoder_expect(decoder, count);
    assert_ok("run", gf_png_decoder_run(decoder, pictures, count, &error), &error);
    for (int i = 0; i < count; i++) {
        const struct gf_format format = files[i].image.format;
        if (pictures[i].decoded && !is_same(files + i, pictures + i))
            fail_msg("%dx%d, %d channels of %d bits: other pixels", format.width, format.height,
                     format.channels, format.bits);
        decoded += pictures[i].decoded;
        cudaFree(pictures[i].out.data);
    }
    gf_png_decoder_destroy(decoder);
    return decoded;
}

static void drop_all(struct file *files, int count)
{
    for (int i = 0; i < count; i++)
        drop(files + i);
}

/* ---- tests ---- */

static struct gf_format format_number(int width, int height, int number)
{
    return format_of(width, height, number / 2 % 4 + 1, number % 2 ? 16 : 8);
}

static void test_own_files(void **state)
{
    static const int sides[][2] = {{1, 1}, {1, 70}, {33, 1}, {31, 33}, {64, 65}, {100, 40}};
    enum { SIZES = sizeof sides / sizeof *sides };
    need_gpu();
    struct file files[GROUP];
    int count = 0;
    for (int i = 0; i < SIZES * PNG_CONTENTS * 8; i++) {
        const int *const side = sides[i / PNG_CONTENTS / 8];
        files[count++] = write_own(format_number(side[0], side[1], i % 8), i / 8 % PNG_CONTENTS);
        if (count == GROUP) {
            assert_int_equal(decode(files, count, FITS), count);
            drop_all(files, count);
            count = 0;
        }
    }
}

/* Several stripes of the usual size, among them a drawing with repeats. */
static void test_large(void **state)
{
    need_gpu();
    struct file files[] = {write_own(format_of(700, 300, 3, 8), PNG_PHOTOGRAPH),
                           write_own(format_of(700, 300, 4, 8), PNG_DRAWING),
                           write_own(format_of(400, 500, 3, 16), PNG_GRADIENT),
                           write_own(format_of(2000, 200, 1, 8), PNG_NOISE),
                           write_own(format_of(900, 300, 1, 8), PNG_UNLIKE),
                           write_own(format_of(900, 300, 2, 16), PNG_RUNS),
                           write_own(format_of(1100, 300, 3, 8), PNG_FLAT),
                           write_own(format_of(700, 300, 1, 16), PNG_FEW)};
    enum { FILES = sizeof files / sizeof *files };
    assert_int_equal(decode(files, FILES, FITS), FILES);
    drop_all(files, FILES);
}

/* Whatever zlib does, but for its fixed codes, which the CPU reads. */
static void test_other_stripes(void **state)
{
    uint64_t random = 11;
    int decoded = 0, all = 0;
    need_gpu();
    for (int round = 0; round < 8; round++) {
        struct file files[GROUP];
        for (int i = 0; i < GROUP; i++) {
            const int width = random_below(&random, 90) + 1, height = random_below(&random, 90) + 1;
            files[i] =
                write_zlib(format_number(width, height, i % 8), random_below(&random, PNG_CONTENTS),
                           random_below(&random, height) + 1, &random);
        }
        decoded += decode(files, GROUP, FITS);
        all += GROUP;
        drop_all(files, GROUP);
    }
    print_message("%d of %d decoded\n", decoded, all);
    assert_true(decoded > all / 3);
}

static void repair_checksum(unsigned char *chunk)
{
    const size_t size = gf_png_get_be32(chunk);
    gf_png_put_be32(chunk + GF_PNG_HEAD_BYTES + size,
                    (uint32_t)crc32(0, chunk + 4, (uInt)(4 + size)));
}

/* A byte is changed, and its chunk's checksum made right: Adler-32 notices. */
static void test_damage(void **state)
{
    uint64_t random = 5;
    int decoded = 0;
    need_gpu();
    for (int round = 0; round < 12; round++) {
        struct file files[GROUP];
        for (int i = 0; i < GROUP; i++) {
            struct file *const file = files + i;
            *file = i % 2 ? write_own(format_number(40, 30, i % 8), i % PNG_CONTENTS)
                          : write_zlib(format_number(40, 30, i % 8), i % PNG_CONTENTS, 7, &random);
            unsigned char *const chunk = file->data + file->header.first;
            const size_t size = gf_png_get_be32(chunk);
            for (int n = random_below(&random, 3); n >= 0; n--)
                chunk[GF_PNG_HEAD_BYTES + 2 + (size_t)random_below(&random, (int)size - 2)] ^=
                    (unsigned char)(1 << random_below(&random, 8));
            repair_checksum(chunk);
            if (!gf_png_file_read(file->data, file->size, &file->header))
                fail_msg("the checksum was not made right");
        }
        decoded += decode(files, GROUP, FITS);
        drop_all(files, GROUP);
    }
    print_message("%d decoded\n", decoded);
    assert_true(decoded < 12); /* a bit behind the end may not matter */
}

/* All is right but a chunk's checksum: the CPU names it. */
static void test_checksums(void **state)
{
    need_gpu();
    struct file files[GROUP];
    for (int i = 0; i < GROUP; i++) {
        files[i] =
            write_own(format_number(200 + i, 100, i % 8), (enum png_content)(i % PNG_CONTENTS));
        unsigned char *const chunk = files[i].data + files[i].header.first;
        if (i % 2)
            chunk[GF_PNG_HEAD_BYTES + gf_png_get_be32(chunk) + (unsigned)i % GF_PNG_CRC_BYTES] ^= 1;
    }
    assert_int_equal(decode(files, GROUP, FITS), GROUP / 2);
    drop_all(files, GROUP);
}

/* Pictures go through one after another; one that is too large is left. */
static void test_little_memory(void **state)
{
    need_gpu();
    struct file files[6];
    for (int i = 0; i < 6; i++)
        files[i] = write_own(format_of(60, 60 + i % 3, 3, 8), (enum png_content)i);
    const uint64_t largest = gf_png_decoder_bytes(&files[2].header, files[2].size) + 20000;
    assert_int_equal(decode(files, 6, largest), 6);
    drop_all(files, 6);
    struct file two[] = {write_own(format_of(400, 100, 3, 8), PNG_GRADIENT),
                         write_own(format_of(60, 60, 3, 8), PNG_GRADIENT)};
    assert_int_equal(decode(two, 2, largest), 1);
    drop_all(two, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_files),     cmocka_unit_test(test_large),
        cmocka_unit_test(test_other_stripes), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_little_memory), cmocka_unit_test(test_checksums),
    };
    return cmocka_run_group_tests_name("png_decoder", tests, NULL, NULL);
}
#endif
