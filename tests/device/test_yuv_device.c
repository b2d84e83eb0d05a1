/* Frames of YCbCr on a GPU: of every sampling, siting, depth, matrix and range they become the
 * samples that the CPU makes, and pictures of any channels become its frames. Skipped where there
 * is no GPU. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include "cuda/yuv/coders.h"

enum { KINDS = 4, SITINGS = 3, DEPTHS = 5, GROUP = KINDS * SITINGS * DEPTHS, FITS = 1 << 26 };

static const int sides[][2] = {{1, 1}, {2, 2}, {3, 5}, {131, 18}, {128, 9}, {250, 7}, {64, 34}};
enum { SIZES = sizeof sides / sizeof *sides };

static struct gf_yuv frame_kind(const int side[2], int number)
{
    static const int depths[DEPTHS] = {8, 10, 9, 12, 16};
    const int kind = number % KINDS;
    return (struct gf_yuv){.width = side[0],
                           .height = side[1],
                           .bits = depths[number / KINDS % DEPTHS],
                           .mono = kind == 3,
                           .half_width = kind < 2,
                           .half_height = kind < 1,
                           .full = number % 2,
                           .siting = (enum gf_yuv_siting)(number / KINDS / DEPTHS),
                           .matrix = (enum gf_yuv_matrix)(number % 3)};
}

static void fail_kind(const struct gf_yuv *yuv, const char *what)
{
    fail_msg("%dx%d, %d bits, chroma %d%d%d, siting %d: %s", yuv->width, yuv->height, yuv->bits,
             yuv->mono, yuv->half_width, yuv->half_height, (int)yuv->siting, what);
}

/* Samples of YCbCr that lie around the middle of some colour, or anywhere. */
static unsigned char *random_frame(const struct gf_yuv *yuv, uint64_t *random)
{
    const size_t size = gf_yuv_frame_bytes(yuv);
    void *pinned;
    assert_int_equal(cudaMallocHost(&pinned, size), cudaSuccess);
    unsigned char *const frame = pinned;
    for (size_t i = 0; i < size; i++)
        frame[i] = (unsigned char)random_below(random, 256);
    return frame;
}

/* ---- to RGB ---- */

static void compare_rows(const struct gf_yuv_decode_picture *picture)
{
    const struct gf_format format = picture->out.format;
    const size_t row = gf_row_bytes(format);
    struct gf_image there = picture_new(format, 0);
    unsigned char *const here = malloc(row);
    struct gf_yuv_reader *const reader = gf_yuv_reader_open(picture->yuv);
    assert_true(reader && here);
    assert_int_equal(cudaMemcpy2D(there.data, there.pitch, picture->out.data, picture->out.pitch,
                                  row, (size_t)format.height, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (int y = 0; y < format.height; y++) {
        gf_yuv_reader_row(reader, picture->data, y, here);
        if (memcmp(here, there.data + (size_t)y * there.pitch, row) != 0)
            fail_kind(picture->yuv, "other samples");
    }
    gf_yuv_reader_close(reader);
    free(here);
    picture_free(&there);
}

/* Returns how many frames are converted. */
static int decode_group(const int side[2], uint64_t memory, uint64_t *random)
{
    struct gf_yuv yuv[GROUP];
    unsigned char *frames[GROUP];
    struct gf_yuv_decode_picture pictures[GROUP];
    struct gf_yuv_decoder *decoder = NULL;
    struct gf_error error = {0};
    int decoded = 0;
    for (int i = 0; i < GROUP; i++) {
        yuv[i] = frame_kind(side, i);
        frames[i] = random_frame(&yuv[i], random);
        const struct gf_format format =
            format_of(side[0], side[1], yuv[i].mono ? 1 : 3, yuv[i].bits > 8 ? 16 : 8);
        pictures[i] = (struct gf_yuv_decode_picture){
            .yuv = &yuv[i], .data = frames[i], .out = rows_on_device(format)};
    }
    assert_ok("create", gf_yuv_decoder_create(0, memory, &decoder, &error), &error);
    gf_yuv_decoder_expect(decoder, GROUP);
    assert_ok("run", gf_yuv_decoder_run(decoder, pictures, GROUP, &error), &error);
    for (int i = 0; i < GROUP; i++) {
        if (pictures[i].decoded)
            compare_rows(&pictures[i]);
        decoded += pictures[i].decoded;
        cudaFree(pictures[i].out.data);
        cudaFreeHost(frames[i]);
    }
    gf_yuv_decoder_destroy(decoder);
    return decoded;
}

static void test_to_rgb(void **state)
{
    uint64_t random = 3;
    need_gpu();
    for (int i = 0; i < SIZES; i++)
        assert_int_equal(decode_group(sides[i], FITS, &random), GROUP);
    const int decoded = decode_group(sides[SIZES - 1], 40000, &random);
    assert_in_range(decoded, 1, GROUP - 1);
}

/* ---- from RGB ---- */

static void compare_frame(const struct gf_yuv_encode_picture *picture, const struct gf_image *image)
{
    const size_t size = gf_yuv_frame_bytes(picture->yuv);
    const struct gf_format format = image->format;
    const int colours = gf_colour_channels(format), bytes = format.bits / 8;
    unsigned char *const here = malloc(size), *const row = malloc(gf_row_bytes(format));
    struct gf_yuv_writer *const writer = gf_yuv_writer_open(picture->yuv, colours, format.bits);
    assert_true(here && row && writer);
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const from = image->data + (size_t)y * image->pitch;
        for (int x = 0; x < format.width; x++)
            memcpy(row + x * colours * bytes, from + x * format.channels * bytes,
                   (size_t)(colours * bytes));
        gf_yuv_writer_row(writer, row, y, here);
    }
    assert_int_equal(picture->size, size);
    if (memcmp(here, picture->frame, size) != 0)
        fail_kind(picture->yuv, "another frame");
    gf_yuv_writer_close(writer);
    free(here);
    free(row);
}

static int encode_group(const int side[2], int number, uint64_t memory)
{
    struct gf_yuv yuv[GROUP];
    struct gf_image images[GROUP];
    struct gf_yuv_encode_picture pictures[GROUP];
    struct gf_yuv_encoder *encoder = NULL;
    struct gf_error error = {0};
    int encoded = 0;
    for (int i = 0; i < GROUP; i++) {
        yuv[i] = frame_kind(side, i);
        const int channels = yuv[i].mono ? (i + number) % 2 + 1 : (i + number) % 4 + 1;
        images[i] =
            picture_random(format_of(side[0], side[1], channels, (i / KINDS + number) % 2 ? 16 : 8),
                           0, (uint64_t)(i + number));
        pictures[i] = (struct gf_yuv_encode_picture){.yuv = &yuv[i], .in = upload(&images[i])};
    }
    assert_ok("create", gf_yuv_encoder_create(0, memory, &encoder, &error), &error);
    gf_yuv_encoder_expect(encoder, GROUP);
    assert_ok("run", gf_yuv_encoder_run(encoder, pictures, GROUP, &error), &error);
    for (int i = 0; i < GROUP; i++) {
        if (pictures[i].encoded)
            compare_frame(&pictures[i], &images[i]);
        encoded += pictures[i].encoded;
        cudaFree(pictures[i].in.data);
        picture_free(&images[i]);
    }
    gf_yuv_encoder_destroy(encoder);
    return encoded;
}

static void test_from_rgb(void **state)
{
    need_gpu();
    for (int i = 0; i < 4 * SIZES; i++)
        assert_int_equal(encode_group(sides[i / 4], i % 4, FITS), GROUP);
    const int encoded = encode_group(sides[SIZES - 1], 0, 40000);
    assert_in_range(encoded, 1, GROUP - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_to_rgb),
                                       cmocka_unit_test(test_from_rgb)};
    return cmocka_run_group_tests_name("yuv_device", tests, NULL, NULL);
}
#endif
