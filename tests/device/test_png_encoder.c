/* PNG encoded on a GPU against the chunks that the CPU writes at level 1: every format and content,
 * sizes around those of words, cells, stored blocks and stripes, groups of unlike pictures, little
 * memory, thousands of random pictures. Skipped where there is no GPU. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include "codec/png_pictures.h"

#include "cuda/png/coders.h"

enum { FORMATS = 8, GROUP = 40, FITS = 1 << 30 };

struct sample {
    struct gf_image image;
    enum png_content content;
    unsigned char *file;
    const unsigned char *chunks; /* of the file */
    size_t size;
};

static struct gf_format format_number(int i, int width, int height)
{
    return format_of(width, height, i % 4 + 1, i / 4 ? 16 : 8);
}

static struct sample sample_of(struct gf_format format, enum png_content content, uint64_t seed)
{
    struct sample sample = {.image = png_picture(format, content, seed), .content = content};
    size_t size;
    sample.file = png_encoded(&sample.image, &size);
    sample.chunks = png_chunks(sample.file, size, &sample.size);
    return sample;
}

/* ---- comparing ---- */

static void check_chunks(const struct sample *sample, const struct gf_png_encode_picture *picture)
{
    const struct gf_format format = sample->image.format;
    size_t at = 0;
    while (picture->encoded && at < picture->size && at < sample->size &&
           picture->chunks[at] == sample->chunks[at])
        at++;
    if (!picture->encoded || picture->size != sample->size || at < sample->size)
        fail_msg("%dx%d, %d channels, %d bits, content %d: %zu bytes instead of %zu, byte %zu",
                 format.width, format.height, format.channels, format.bits, sample->content,
                 picture->size, sample->size, at);
}

/* Encodes the samples as one group and frees them; returns how many the GPU has encoded. */
static int check_with(struct gf_png_encoder *encoder, struct sample *samples, int count, bool all)
{
    struct gf_png_encode_picture pictures[GROUP];
    struct gf_error error = {0};
    int encoded = 0;
    for (int i = 0; i < count; i++)
        pictures[i] = (struct gf_png_encode_picture){.in = upload(&samples[i].image)};
    assert_ok("run", gf_png_encoder_run(encoder, pictures, count, &error), &error);
    for (int i = 0; i < count; i++) {
        if (all || pictures[i].encoded)
            check_chunks(samples + i, pictures + i);
        encoded += pictures[i].encoded;
        cudaFree(pictures[i].in.data);
        gf_free(samples[i].file);
        picture_free(&samples[i].image);
    }
    return encoded;
}

static struct gf_png_encoder *create(uint64_t memory)
{
    struct gf_png_encoder *encoder = NULL;
    struct gf_error error = {0};
    assert_ok("create", gf_png_encoder_create(0, memory, &encoder, &error), &error);
    return encoder;
}

static int check_group(struct sample *samples, int count, uint64_t memory, bool all)
{
    struct gf_png_encoder *const encoder = create(memory);
    const int encoded = check_with(encoder, samples, count, all);
    gf_png_encoder_destroy(encoder);
    return encoded;
}

/* ---- tests ---- */

static void test_formats(void **state)
{
    need_gpu();
    struct gf_png_encoder *const encoder = create(FITS);
    struct sample samples[GROUP];
    int count = 0;
    for (int i = 0; i < FORMATS * PNG_CONTENTS; i++) {
        samples[count++] = sample_of(format_number(i % FORMATS, 61, 45), i / FORMATS, (uint64_t)i);
        if (count == GROUP)
            count -= check_with(encoder, samples, count, true);
    }
    check_with(encoder, samples, count, true);
    gf_png_encoder_destroy(encoder);
}

static void test_sizes(void **state)
{
    static const int sides[] = {1, 2, 3, 5, 8, 16, 33, 127};
    enum { SIDES = sizeof sides / sizeof *sides };
    need_gpu();
    struct gf_png_encoder *const encoder = create(FITS);
    struct sample samples[GROUP];
    int count = 0;
    for (int i = 0; i < SIDES * SIDES * 2; i++) {
        const int width = sides[i / 2 % SIDES], height = sides[i / 2 / SIDES];
        samples[count++] =
            sample_of(format_number((i * 5 + i / 8) % FORMATS, width, height), i % PNG_CONTENTS, 3);
        if (count == GROUP)
            count -= check_with(encoder, samples, count, true);
    }
    check_with(encoder, samples, count, true);
    gf_png_encoder_destroy(encoder);
}

/* Several stripes; rows beyond deflate's window; stripes of a single row; stored blocks that begin
 * within a cell; several turns of the download. */
static void test_large(void **state)
{
    need_gpu();
    struct sample samples[] = {
        sample_of(format_of(unless_small(3001, 701), 301, 3, 8), 8, 1),
        sample_of(format_of(unless_small(70000, 66000), 4, 4, 16), 4, 2),
        sample_of(format_of(1, unless_small(300000, 3000), 1, 8), 6, 3),
        sample_of(format_of(700, 400, 3, 8), 0, 4),
        sample_of(format_of(700, 700, 1, 8), 2, 5),
        sample_of(format_of(800, 400, 3, 8), 3, 6),
        sample_of(format_of(800, 400, 3, 8), PNG_TILES, 6),
        sample_of(format_of(700, 500, 3, 8), PNG_LINES, 6),
        sample_of(format_of(500, 400, 1, 16), 6, 7),
        sample_of(format_of(unless_small(4000, 100), unless_small(3000, 30), 3, 8), 8, 8)};
    check_group(samples, sizeof samples / sizeof *samples, FITS, true);
}

struct arrival {
    unsigned char *bytes;
    size_t size, room;
    int parts;
};

static void keep_part(void *context, const unsigned char *part, size_t size)
{
    struct arrival *const arrival = context;
    assert_true(size <= arrival->room - arrival->size);
    memcpy(arrival->bytes + arrival->size, part, size);
    arrival->size += size;
    arrival->parts++;
}

/* A large picture alone is handed on while it is encoded, a small one is not. */
static void test_arrival(void **state)
{
    need_gpu();
    struct gf_png_encoder *const encoder = create(FITS);
    for (int large = 0; large < 2; large++) {
        struct sample sample = sample_of(format_of(4000, large ? unless_small(3000, 30) : 30, 3, 8),
                                         PNG_PHOTOGRAPH, 9);
        struct arrival arrival = {.bytes = malloc(sample.size), .room = sample.size};
        struct gf_png_encode_picture picture = {
            .in = upload(&sample.image), .arrived = keep_part, .context = &arrival};
        struct gf_error error = {0};
        assert_non_null(arrival.bytes);
        assert_ok("run", gf_png_encoder_run(encoder, &picture, 1, &error), &error);
        check_chunks(&sample, &picture);
        assert_int_equal(arrival.parts > 1, large && unless_small(1, 0));
        assert_int_equal(arrival.size, arrival.parts ? sample.size : 0);
        assert_memory_equal(arrival.bytes, sample.chunks, arrival.size);
        free(arrival.bytes);
        cudaFree(picture.in.data);
        gf_free(sample.file);
        picture_free(&sample.image);
    }
    gf_png_encoder_destroy(encoder);
}

static void test_little_memory(void **state)
{
    need_gpu();
    struct sample samples[8];
    for (int i = 0; i < 8; i++)
        samples[i] = sample_of(format_of(100 + i, 100, 3, 8), i % PNG_CONTENTS, 1);
    const uint64_t largest = gf_png_encoder_bytes(format_of(107, 100, 3, 8));
    assert_int_equal(check_group(samples, 8, largest, true), 8);
    struct sample two[] = {sample_of(format_of(300, 300, 3, 8), 8, 1),
                           sample_of(format_of(50, 50, 3, 8), 8, 1)};
    assert_int_equal(check_group(two, 2, largest, false), 1);
}

static void test_random(void **state)
{
    need_gpu();
    struct gf_png_encoder *const encoder = create(FITS);
    struct sample samples[GROUP];
    uint64_t random = 11;
    for (int done = 0; done < unless_small(10000, 80); done += GROUP) {
        for (int i = 0; i < GROUP; i++) {
            const int most = random_below(&random, 20) ? 60 : 400,
                      width = 1 + random_below(&random, most),
                      height = 1 + random_below(&random, most);
            samples[i] = sample_of(format_number((done + i) % FORMATS, width, height),
                                   random_below(&random, PNG_CONTENTS), (uint64_t)(done + i));
        }
        assert_int_equal(check_with(encoder, samples, GROUP, true), GROUP);
    }
    gf_png_encoder_destroy(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_large),   cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_arrival), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("png_encoder", tests, NULL, NULL);
}
#endif
