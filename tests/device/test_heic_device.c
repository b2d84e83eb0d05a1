/* A program of its own. HEIC and AVIF that a GPU decodes have the pixels that the CPU makes: frames
 * and grids, turned and cropped, of several matrices, depths and chroma. Skipped where there is no
 * GPU, no NVDEC or no encoder. Files as arguments are compared instead, with a line for each. */
#include "gpu_test.h"

#if defined GF_WITH_CUDA && defined GF_LIBRARY_heif
#include <semaphore.h>

#include "base/threads/times.h"
#include "codec/codec.h"
#ifdef GF_LIBRARY_avif
#include "codec/avif/avif_calls.h"
#include "codec/formats.h"
#endif
#include "codec/heic_frames.h"
#include "cuda/heic/coders.h"

enum { GROUP = 48 };
static const uint64_t ROOM = (uint64_t)4 << 30;

/* ---- both decoders ---- */

struct both {
    struct gf_input *input;
    struct gf_source *source;
    struct gf_image here; /* the CPU's pixels */
    struct gf_view out;   /* the GPU's */
};

/* Opens a file and decodes it by the CPU. Returns false if its coded frames have no description. */
static bool open_both(const struct heic_bytes *file, bool autorotate, struct both *both)
{
    struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    options.autorotate = autorotate;
    assert_ok("input", gf_input_open_memory(file->data, file->size, "memory", &both->input, &error),
              &error);
    assert_ok("open", gf_source_open(both->input, &options, &both->source, &error), &error);
    if (!both->source->coded)
        return false;
    both->here = picture_new(both->source->format, 0);
    both->out = rows_on_device(both->source->format);
    assert_ok("read",
              both->source->read(both->source, both->here.format.height, both->here.data,
                                 both->here.pitch, &error),
              &error);
    return true;
}

static void close_both(struct both *both)
{
    if (both->here.data) {
        picture_free(&both->here);
        cudaFree(both->out.data);
    }
    both->source->close(both->source);
    gf_input_close(both->input);
}

/* Returns the largest difference of a sample; *count becomes how many differ. */
static int difference(const struct both *both, size_t *count)
{
    const struct gf_format format = both->here.format;
    struct gf_image there = picture_new(format, 0);
    const size_t samples = gf_row_bytes(format) * (size_t)format.height * 8 / (size_t)format.bits;
    int most = 0;
    *count = 0;
    assert_int_equal(cudaMemcpy2D(there.data, there.pitch, both->out.data, both->out.pitch,
                                  gf_row_bytes(format), (size_t)format.height,
                                  cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (size_t i = 0; i < samples; i++) {
        const int a = format.bits == 16 ? ((uint16_t *)both->here.data)[i] : both->here.data[i],
                  b = format.bits == 16 ? ((uint16_t *)there.data)[i] : there.data[i];
        *count += a != b;
        most = abs(a - b) > most ? abs(a - b) : most;
    }
    picture_free(&there);
    return most;
}

static void count_ended(struct gf_heic_decode_picture *picture)
{
    sem_post(picture->context);
}

/* Decodes pictures on the GPU, and waits for all of them. */
static enum gf_status run_all(struct gf_heic_decoder *decoder,
                              struct gf_heic_decode_picture *pictures, int count,
                              struct gf_error *error)
{
    sem_t ended;
    sem_init(&ended, 0, 0);
    for (int i = 0; i < count; i++) {
        pictures[i].ended = count_ended;
        pictures[i].context = &ended;
    }
    const enum gf_status status = gf_heic_decoder_run(decoder, pictures, count, error);
    for (int i = 0; i < count && !status; i++)
        sem_wait(&ended);
    sem_destroy(&ended);
    return status;
}

/* ---- files that are made here ---- */

/* Decodes a group of all kinds on the GPU, and compares. */
static void compare_group(struct heic_frames *frames, int bits,
                          struct heic_kind (*kind_at)(int number, struct heic_frames *frames))
{
    static struct both both[GROUP];
    static struct gf_heic_decode_picture pictures[GROUP];
    struct heic_bytes file[GROUP];
    struct gf_heic_decoder *decoder = NULL;
    struct gf_error error = {0};
    size_t count;
    int item;
    for (int i = 0; i < GROUP; i++) {
        struct heic_kind kind = kind_at(i, frames);
        kind.mirror = bits > 8 ? 0 : kind.mirror; /* libheif up to 1.18 mirrors 8 bits alone */
        file[i] = heic_make(&kind, &item);
        both[i] = (struct both){.input = NULL};
        if (!open_both(&file[i], i % 7 != 3, &both[i]))
            fail_msg("file %d has no description", i);
        pictures[i] = (struct gf_heic_decode_picture){
            .coded = both[i].source->coded, .data = file[i].data, .out = both[i].out};
    }
    assert_ok("create", gf_heic_decoder_create(0, ROOM, &decoder, &error), &error);
    gf_heic_decoder_expect(decoder, GROUP);
    for (int round = 0; round < 2; round++) { /* the decoders of the first are used again */
        assert_ok("run", run_all(decoder, pictures, GROUP, &error), &error);
        for (int i = 0; i < GROUP; i++) {
            if (!pictures[i].decoded)
                fail_msg("%d bits, file %d is not decoded: %s", bits, i, pictures[i].why);
            const int most = difference(&both[i], &count);
            if (most)
                fail_msg("%d bits, file %d: %zu samples differ, by %d at most", bits, i, count,
                         most);
        }
    }
    gf_heic_decoder_destroy(decoder);
    for (int i = 0; i < GROUP; i++) {
        close_both(&both[i]);
        free(file[i].data);
    }
}

static void compare_heic(int bits, bool full_chroma)
{
    struct heic_frames frames = {.parameters = {NULL, 0}};
    heic_encode_frames(bits, full_chroma, &frames);
    compare_group(&frames, bits, heic_kind_of);
    heic_free_frames(&frames);
}

/* Skips the test where nothing decodes 4:2:0 with 8 bits. */
static void need_nvdec(void)
{
    need_gpu();
    if (!gf_heic_decoder_present()) {
        print_message("no NVDEC: libnvcuvid.so.1 is missing, or the build has no ffnvcodec\n");
        skip();
    }
}

/* Skips the test where nothing encodes or decodes HEVC. */
static void need_hevc(void)
{
    need_nvdec();
    if (!can_encode()) {
        print_message("libheif has no encoder of HEVC here\n");
        skip();
    }
}

static void test_8_bits(void **state)
{
    need_hevc();
    compare_heic(8, false);
}

static void test_10_bits(void **state)
{
    need_hevc();
    compare_heic(10, false);
}

static void test_full_chroma(void **state)
{
    need_hevc();
    compare_heic(8, true);
}

/* Damaged frames, and pictures that need more memory than there is, are left to the CPU; the others
 * of their group are not. */
static void test_gives_way(void **state)
{
    struct heic_frames frames = {.parameters = {NULL, 0}};
    struct gf_heic_decoder *decoder = NULL;
    struct gf_error error = {0};
    struct both both = {.input = NULL};
    size_t count;
    int item;
    need_hevc();
    heic_encode_frames(8, false, &frames);
    const struct heic_kind kind = heic_kind_of(4, &frames);
    struct heic_bytes good = heic_make(&kind, &item), bad = heic_make(&kind, &item);
    assert_true(open_both(&good, true, &both));
    const struct gf_heif_span span = both.source->coded->tile[0];
    memset(bad.data + span.offset + span.size / 2, 0xFF, span.size / 2);
    struct gf_view other = rows_on_device(both.here.format);
    struct gf_heic_decode_picture pictures[] = {
        {.coded = both.source->coded, .data = bad.data, .out = other},
        {.coded = both.source->coded, .data = good.data, .out = both.out}};
    assert_ok("create", gf_heic_decoder_create(0, ROOM, &decoder, &error), &error);
    assert_ok("run", run_all(decoder, pictures, 1, &error), &error);
    print_message("a damaged frame: decoded %d, %s\n", pictures[0].decoded, pictures[0].why);
    assert_ok("run", run_all(decoder, pictures + 1, 1, &error), &error);
    if (!pictures[1].decoded)
        fail_msg("after damage: %s", pictures[1].why);
    assert_int_equal(difference(&both, &count), 0);
    gf_heic_decoder_destroy(decoder);
    assert_ok("create", gf_heic_decoder_create(0, 1 << 16, &decoder, &error), &error);
    assert_ok("run", run_all(decoder, pictures + 1, 1, &error), &error);
    assert_false(pictures[1].decoded);
    assert_non_null(strstr(pictures[1].why, "memory"));
    gf_heic_decoder_destroy(decoder);
    cudaFree(other.data);
    close_both(&both);
    free(good.data);
    free(bad.data);
    heic_free_frames(&frames);
}

#ifdef GF_LIBRARY_avif
/* ---- AVIF ---- */

#define AVIF_CALLS(CALL) CALL(avifEncoderSetCodecSpecificOption)
static struct {
    AVIF_CALLS(GF_LIBRARY_CALL)
} more;

/* Encodes noise on gradients as AV1, and finds its frame and parameters. */
static void encode_av1(int bits, bool full, bool grain, uint64_t seed, struct heic_bytes *frame,
                       struct heic_bytes *parameters)
{
    avifImage *const image = gf_avif.avifImageCreate(SIDE, SIDE, bits, AVIF_PIXEL_FORMAT_YUV420);
    avifEncoder *const encoder = gf_avif.avifEncoderCreate();
    avifRWData file = AVIF_DATA_EMPTY;
    struct gf_heif_coded coded;
    assert_true(image && encoder);
    image->yuvRange = full ? AVIF_RANGE_FULL : AVIF_RANGE_LIMITED;
    image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
    (void)gf_avif.avifImageAllocatePlanes(image, AVIF_PLANES_YUV);
    for (int plane = 0; plane < 3; plane++)
        for (int i = 0; i < SIDE * SIDE / (plane ? 4 : 1); i++) {
            const int width = plane ? SIDE / 2 : SIDE, x = i % width, y = i / width,
                      most = (1 << bits) - 1,
                      value = (x + (plane + 1) * y) * most / (5 * SIDE) +
                              random_below(&seed, 1 + most / 8);
            uint8_t *const row = image->yuvPlanes[plane] + (size_t)y * image->yuvRowBytes[plane];
            if (bits > 8)
                ((uint16_t *)row)[x] = (uint16_t)value;
            else
                row[x] = (uint8_t)value;
        }
    encoder->speed = 10;
    if (grain)
        more.avifEncoderSetCodecSpecificOption(encoder, "film-grain-test", "1");
    assert_int_equal(gf_avif.avifEncoderWrite(encoder, image, &file), AVIF_RESULT_OK);
    const struct gf_blob blob = {file.data, file.size};
    assert_true(gf_heif_coded_read(&blob, gf_heif_main_item(&blob), &coded));
    *frame = (struct heic_bytes){malloc(coded.tile[0].size), coded.tile[0].size};
    *parameters = (struct heic_bytes){malloc(coded.parameters.size), coded.parameters.size};
    memcpy(frame->data, file.data + coded.tile[0].offset, frame->size);
    memcpy(parameters->data, file.data + coded.parameters.offset, parameters->size);
    gf_avif.avifRWDataFree(&file);
    gf_avif.avifEncoderDestroy(encoder);
    gf_avif.avifImageDestroy(image);
}

static void encode_all_av1(int bits, bool full, struct heic_frames *frames)
{
    for (int i = 0; i < TILES; i++) {
        free(frames->parameters.data);
        encode_av1(bits, full, false, (uint64_t)(i + bits), &frames->frame[i], &frames->parameters);
    }
}

/* The same kinds for AV1, whose grids have even sides. */
static struct heic_kind av1_kind_of(int number, struct heic_frames *frames)
{
    static const int matrices[] = {1, 2, 4, 5, 6, 7, 9, 0};
    struct heic_kind kind = heic_kind_of(number, frames);
    kind.av1 = true;
    kind.width = 3 * SIDE - 2 * number;
    kind.height = 2 * SIDE - 2 * number;
    kind.matrix = matrices[number % 8];
    if (kind.crops) {
        kind.crop[0] = (uint32_t)(kind.columns ? kind.width : SIDE) - 101;
        kind.crop[2] = (uint32_t)(kind.columns ? kind.height : SIDE) - 57;
    }
    return kind;
}

static struct heic_kind limited_kind_of(int number, struct heic_frames *frames)
{
    struct heic_kind kind = av1_kind_of(number, frames);
    kind.full = false;
    return kind;
}

static struct heic_kind full_kind_of(int number, struct heic_frames *frames)
{
    struct heic_kind kind = av1_kind_of(number, frames);
    kind.full = true;
    return kind;
}

/* Skips the test where nothing decodes or encodes AV1. */
static void need_av1(int bits)
{
    const struct gf_heif_coded coded = {.av1 = 1, .bits = bits};
    struct gf_library library = GF_LIBRARY(more, AVIF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_avif));
    need_nvdec();
    if (gf_library_load(&gf_avif_library, "AVIF", GF_ERROR_UNAVAILABLE, NULL) ||
        gf_library_load(&library, "AVIF", GF_ERROR_UNAVAILABLE, NULL) ||
        cudaFree(NULL) != cudaSuccess || !gf_heic_decoder_takes_av1(&coded)) {
        print_message("no libavif, or this GPU decodes no AV1 of %d bits\n", bits);
        skip();
    }
}

static void compare_avif(int bits)
{
    need_av1(bits);
    for (int full = 0; full < 2; full++) {
        struct heic_frames frames = {.parameters = {NULL, 0}};
        encode_all_av1(bits, full, &frames);
        compare_group(&frames, bits, full ? full_kind_of : limited_kind_of);
        heic_free_frames(&frames);
    }
}

static void test_av1_8_bits(void **state)
{
    compare_avif(8);
}

static void test_av1_10_bits(void **state)
{
    compare_avif(10);
}

/* Frames with film grain, and with another range than the file says, are left to the CPU, as are
 * grids for whose planes there is no memory. */
static void test_av1_gives_way(void **state)
{
    static const char *const whys[] = {"film grain", "another range", "planes of a grid"};
    need_av1(8);
    for (int i = 0; i < 3; i++) {
        struct heic_bytes frame[TILES], parameters = {NULL, 0};
        struct gf_heic_decoder *decoder = NULL;
        struct gf_error error = {0};
        struct both both = {.input = NULL};
        int item;
        encode_av1(8, true, i == 0, 1, &frame[0], &parameters);
        for (int k = 1; k < TILES; k++)
            frame[k] = frame[0];
        const struct heic_kind kind = {.av1 = true,
                                       .columns = i == 2 ? 3 : 0,
                                       .rows = 2,
                                       .width = 3 * SIDE,
                                       .height = 2 * SIDE,
                                       .tile_width = SIDE,
                                       .tile_height = SIDE,
                                       .matrix = 6,
                                       .full = i != 1,
                                       .parameters = parameters,
                                       .frames = frame};
        struct heic_bytes file = heic_make(&kind, &item);
        assert_true(open_both(&file, true, &both));
        struct gf_heic_decode_picture picture = {
            .coded = both.source->coded, .data = file.data, .out = both.out};
        assert_ok("create", gf_heic_decoder_create(0, i == 2 ? 1 << 20 : ROOM, &decoder, &error),
                  &error);
        assert_ok("run", run_all(decoder, &picture, 1, &error), &error);
        assert_false(picture.decoded);
        if (!strstr(picture.why, whys[i]))
            fail_msg("%d: %s", i, picture.why);
        gf_heic_decoder_destroy(decoder);
        close_both(&both);
        free(file.data);
        free(frame[0].data);
        free(parameters.data);
    }
}
#endif

/* Compares a file, and prints what comes of it. Returns 1 if the GPU makes other pixels. */
static int compare_file(struct gf_heic_decoder *decoder, const char *path)
{
    const struct bytes file = load(path);
    const struct heic_bytes bytes = {file.data, file.size};
    struct both both = {.input = NULL};
    struct gf_error error = {0};
    size_t count = 0;
    int most = 0;
    if (open_both(&bytes, true, &both)) {
        struct gf_heic_decode_picture picture = {
            .coded = both.source->coded, .data = file.data, .out = both.out};
        const double begin_s = gf_now();
        const enum gf_status status = run_all(decoder, &picture, 1, &error);
        const double ms = (gf_now() - begin_s) * 1e3;
        if (status || !picture.decoded)
            printf("%s: not decoded: %s%s\n", path, status ? error.text : "", picture.why);
        else if ((most = difference(&both, &count)) != 0)
            printf("%s: %zu samples DIFFER, by %d at most\n", path, count, most);
        else
            printf("%s: same, %.1f ms\n", path, ms);
    } else {
        printf("%s: not described: it is the CPU's\n", path);
    }
    close_both(&both);
    free(file.data);
    return most != 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        struct gf_heic_decoder *decoder = NULL;
        struct gf_error error = {0};
        int differ = 0;
        if (gf_heic_decoder_create(0, ROOM, &decoder, &error)) {
            puts(error.text);
            return 1;
        }
        for (int i = 1; i < argc; i++)
            differ += compare_file(decoder, argv[i]);
        gf_heic_decoder_destroy(decoder);
        return differ > 0;
    }
    const struct CMUnitTest tests[] = {
#ifdef GF_LIBRARY_avif
        cmocka_unit_test(test_av1_8_bits),    cmocka_unit_test(test_av1_10_bits),
        cmocka_unit_test(test_av1_gives_way),
#endif
        cmocka_unit_test(test_8_bits),        cmocka_unit_test(test_10_bits),
        cmocka_unit_test(test_full_chroma),   cmocka_unit_test(test_gives_way)};
    return cmocka_run_group_tests_name("heic_device", tests, make_folder, remove_folder);
}

#elif defined GF_WITH_CUDA
int main(void)
{
    puts("1..1\nok 1 # SKIP built without libheif");
    return 0;
}
#endif
