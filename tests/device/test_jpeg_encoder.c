/* JPEG encoded on a GPU against the scans that libjpeg-turbo writes, and against the perceptual
 * encoder's on the CPU: every quality, subsampling, gray, sizes around those of blocks and MCUs,
 * groups of unlike pictures, little memory. Skipped where there is no GPU. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include "codec/perceptual_files.h"
#include "cuda/jpeg/coders.h"

enum { CONTENTS = 5, GROUP = 60, FITS = 1 << 28 };

struct sample {
    struct gf_image image;
    int quality;
    enum gf_subsampling subsampling;
    bool perceptual;
    struct jpeg_file file;
    const unsigned char *scan; /* of the file; before it the tables of its codes, if perceptual */
    size_t size;
};

/* ---- pictures ---- */

static int content_at(int content, int x, int y, int c, uint64_t *random)
{
    const int shade = (x * (3 + c) + y * 5) % 511;
    switch (content) {
    case 0:
        return random_below(random, 256);
    case 1: /* the longest codes */
        return 255 * random_below(random, 2);
    case 2:
        return 77 * (c + 1);
    case 3: /* soft, with edges */
        return (shade < 256 ? shade : 511 - shade) / ((x / 19 + y / 23) % 3 + 1);
    default:
        return (shade < 256 ? shade : 511 - shade) * 7 / 8 + random_below(random, 30);
    }
}

static struct gf_image draw(int width, int height, int channels, int content, uint64_t seed)
{
    struct gf_image image = picture_new(format_of(width, height, channels, 8), 0);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width * channels; x++)
            image.data[(size_t)y * image.pitch + (size_t)x] =
                (unsigned char)content_at(content, x / channels, y, x % channels, &seed);
    }
    return image;
}

static struct sample sample_of(int width, int height, int kind, int quality, int content)
{
    const int channels = kind == 3 ? 1 : 3;
    const uint64_t seed = (uint64_t)(width * 31 + height * 17 + quality);
    struct sample sample = {.image = draw(width, height, channels, content, seed),
                            .quality = quality,
                            .subsampling = (enum gf_subsampling)(kind % 3)};
    const struct gf_view view = gf_image_view(&sample.image);
    sample.file = jpeg_encoded(&view, quality, sample.subsampling);
    sample.scan = jpeg_scan(&sample.file, &sample.size);
    return sample;
}

static struct sample perceptual_of(int width, int height, int kind, int quality, int content)
{
    struct sample sample = sample_of(width, height, kind, quality, content);
    const struct gf_view view = gf_image_view(&sample.image);
    free(sample.file.data);
    sample.perceptual = true;
    sample.file = perceptual_encoded(&view, quality, sample.subsampling);
    sample.size = perceptual_coded(&sample.file);
    sample.scan = sample.file.data;
    return sample;
}

/* ---- comparing ---- */

static void check_scan(const struct sample *sample, const struct gf_jpeg_encode_picture *picture)
{
    const struct gf_format format = sample->image.format;
    if (!picture->encoded || picture->size != sample->size ||
        memcmp(picture->scan, sample->scan, sample->size))
        fail_msg("%dx%d, %d channels, quality %d, subsampling %d: %zu bytes instead of %zu",
                 format.width, format.height, format.channels, sample->quality,
                 (int)sample->subsampling, picture->size, sample->size);
}

/* Encodes the samples as one group and frees them; returns how many the GPU has encoded. */
static int check_group(struct sample *samples, int count, uint64_t memory, bool all)
{
    struct gf_jpeg_encode_picture pictures[GROUP];
    struct gf_jpeg_encoder *encoder = NULL;
    struct gf_error error = {0};
    int encoded = 0;
    for (int i = 0; i < count; i++)
        pictures[i] = (struct gf_jpeg_encode_picture){.in = upload(&samples[i].image),
                                                      .quality = samples[i].quality,
                                                      .subsampling = samples[i].subsampling,
                                                      .perceptual = samples[i].perceptual};
    assert_ok("create", gf_jpeg_encoder_create(0, memory, &encoder, &error), &error);
    assert_ok("run", gf_jpeg_encoder_run(encoder, pictures, count, &error), &error);
    for (int i = 0; i < count; i++) {
        if (all || pictures[i].encoded)
            check_scan(samples + i, pictures + i);
        encoded += pictures[i].encoded;
        cudaFree(pictures[i].in.data);
        free(samples[i].file.data);
        picture_free(&samples[i].image);
    }
    gf_jpeg_encoder_destroy(encoder);
    return encoded;
}

/* ---- tests ---- */

static void test_qualities(void **state)
{
    need_gpu();
    struct sample samples[GROUP];
    int count = 0;
    for (int quality = 1; quality <= GF_QUALITY_MAX; quality++) {
        for (int kind = 0; kind < 4; kind++) {
            samples[count++] = sample_of(61, 45, kind, quality, (quality + kind) % CONTENTS);
            if (count == GROUP)
                count -= check_group(samples, count, FITS, true);
        }
    }
    check_group(samples, count, FITS, true);
}

static void test_sizes(void **state)
{
    static const int sides[] = {1, 7, 8, 9, 15, 16, 17, 24, 33, 130};
    enum { SIDES = sizeof sides / sizeof *sides };
    need_gpu();
    struct sample samples[GROUP];
    int count = 0;
    for (int i = 0; i < SIDES * SIDES * 4; i++) {
        const int width = sides[i / 4 % SIDES], height = sides[i / 4 / SIDES];
        samples[count++] = sample_of(width, height, i % 4, 30 + i % 70, i % CONTENTS);
        if (count == GROUP)
            count -= check_group(samples, count, FITS, true);
    }
    check_group(samples, count, FITS, true);
}

/* Some are so large that the group is encoded in parts. */
static void test_large(void **state)
{
    need_gpu();
    struct sample samples[] = {
        sample_of(unless_small(4003, 403), unless_small(3001, 301), 0, 80, 4),
        sample_of(unless_small(3001, 301), unless_small(4003, 403), 0, 70, 3),
        sample_of(unless_small(3001, 301), unless_small(1999, 199), 0, 90, 4),
        sample_of(40, unless_small(65500, 6550), 0, 85, 3),
        sample_of(unless_small(65500, 6550), 9, 1, 75, 4),
        sample_of(unless_small(1920, 192), unless_small(1080, 108), 2, 95, 3),
        sample_of(unless_small(2048, 204), unless_small(1100, 110), 3, 60, 4)};
    check_group(samples, sizeof samples / sizeof *samples, FITS, true);
}

/* Noise takes more than the encoder expects, so that it is encoded twice. */
static void test_long_scans(void **state)
{
    need_gpu();
    struct sample samples[] = {sample_of(500, 300, 2, 100, 1), sample_of(500, 300, 0, 100, 0),
                               sample_of(70, 30, 0, 90, 3), sample_of(500, 300, 3, 100, 1)};
    check_group(samples, sizeof samples / sizeof *samples, FITS, true);
}

static void test_little_memory(void **state)
{
    need_gpu();
    struct sample samples[8];
    for (int i = 0; i < 8; i++)
        samples[i] = sample_of(100 + i, 100, i % 4, 80, 3);
    const struct gf_format format = format_of(107, 100, 3, 8);
    const uint64_t largest = gf_jpeg_encoder_bytes(format, GF_SUBSAMPLING_444, false);
    assert_int_equal(check_group(samples, 8, largest, true), 8);
    for (int i = 0; i < 8; i++)
        samples[i] = perceptual_of(100 + i, 100, i % 4, 80, 3);
    assert_int_equal(check_group(samples, 8, largest, false), 0);
    for (int i = 0; i < 8; i++)
        samples[i] = perceptual_of(100 + i, 100, i % 4, 80, 3);
    assert_int_equal(
        check_group(samples, 8, gf_jpeg_encoder_bytes(format, GF_SUBSAMPLING_444, true), true), 8);
    struct sample two[] = {sample_of(300, 300, 0, 80, 3), sample_of(50, 50, 0, 80, 3)};
    assert_int_equal(check_group(two, 2, largest, false), 1);
}

/* Every size, from a group to the next with other qualities; some pictures are libjpeg's. */
static void test_perceptual_sizes(void **state)
{
    static const int sides[] = {1, 2, 7, 8, 9, 15, 16, 17, 33, 130};
    enum { SIDES = sizeof sides / sizeof *sides };
    need_gpu();
    struct sample samples[GROUP];
    int count = 0;
    for (int i = 0; i < SIDES * SIDES * 4; i++) {
        const int width = sides[i / 4 % SIDES], height = sides[i / 4 / SIDES];
        samples[count++] =
            (i % 11 ? perceptual_of : sample_of)(width, height, i % 4, 30 + i % 66, i % CONTENTS);
        if (count == GROUP)
            count -= check_group(samples, count, FITS, true);
    }
    check_group(samples, count, FITS, true);
}

static void test_perceptual_qualities(void **state)
{
    need_gpu();
    struct sample samples[GROUP];
    int count = 0;
    for (int quality = 1; quality <= GF_QUALITY_MAX; quality += quality < 90 ? 7 : 1) {
        for (int kind = 0; kind < 4; kind++) {
            for (int content = 0; content < CONTENTS; content++) {
                samples[count++] = perceptual_of(83, 45, kind, quality, content);
                if (count == GROUP)
                    count -= check_group(samples, count, FITS, true);
            }
        }
    }
    check_group(samples, count, FITS, true);
}

/* Chunks that go on in the next row of MCUs, scans that are longer than expected, and pictures that
 * are encoded in parts. */
static void test_perceptual_large(void **state)
{
    need_gpu();
    struct sample samples[] = {
        perceptual_of(unless_small(1999, 499), 333, 0, 90, 4),
        perceptual_of(40, unless_small(65500, 6550), 0, 85, 3),
        perceptual_of(unless_small(65500, 6550), 9, 1, 75, 4),
        perceptual_of(unless_small(1920, 392), 308, 2, 95, 3),
        perceptual_of(unless_small(2048, 404), 310, 3, 60, 4),
        perceptual_of(500, 300, 2, 100, 1),
        perceptual_of(500, 300, 0, 100, 0),
        perceptual_of(500, 300, 1, 100, 1),
        perceptual_of(500, 300, 3, 100, 1),
        perceptual_of(1000, 700, 0, 90, 2),
        perceptual_of(unless_small(4003, 403), unless_small(4501, 451), 0, 75, 4)};
    check_group(samples, sizeof samples / sizeof *samples, FITS, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qualities),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_long_scans),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_perceptual_sizes),
        cmocka_unit_test(test_perceptual_qualities),
        cmocka_unit_test(test_perceptual_large),
    };
    return cmocka_run_group_tests_name("jpeg_encoder", tests, NULL, NULL);
}
#endif
