/* A program of its own. JPEG, PNG and frames of YCbCr coded on a device. The device is
 * tests/fake_device.h; its decoders and encoders are fakes, too (fake_coders.h). The rows of a
 * picture that they take do not cross to the host; a picture that they decline or fail at goes
 * through the CPU's codec. The file is the same, byte by byte. */
#include <stdio.h>
#include <unistd.h>

#include "codec/formats.h"
#include "codec/heic_files.h"
#include "device/fake_coders.h"
#include "temp_folder.h"

/* ---- runs ---- */

struct trial {
    const char *chain, *input, *output; /* defaults: blur,equalize, in.jpg, out.jpg */
    enum gf_codec codec;
    enum gf_subsampling subsampling;
    enum gf_jpeg_maker jpeg_encoder;
    bool optimize, progressive; /* of a JPEG */
    double target, target_ssim; /* the first of SSIMULACRA2 */
    uint64_t max_bytes;
    int png_level; /* 0: the usual one */
    bool png_palette;
    uint64_t memory_bytes, device_bytes;
    bool serial, in_memory, keeps_slow;
    double timeout_s;
    /* Results. */
    enum gf_status status;
    int warnings, runs;
    size_t crossed; /* bytes of rows, up and down */
    size_t shared;  /* bytes of files in memory that pipelines share */
    bool device_decoded, device_encoded;
    int tries;
    struct gf_error error;
};

static void count_warning(void *context, const char *text)
{
    ++*(int *)context;
}

static struct gf_pipeline *open_cpu(const char *chain, const struct gf_options *options)
{
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    assert_ok(chain, gf_pipeline_open(chain, options, &pipeline, &error), &error);
    return pipeline;
}

/* The same from bytes to bytes. */
static enum gf_status run_in_memory(struct gf_pipeline *pipeline, struct trial *trial)
{
    void *result;
    size_t size;
    struct bytes in = load(in_folder(trial->input));
    const enum gf_status status = gf_pipeline_run_bytes(pipeline, in.data, in.size, GF_FILE_AUTO,
                                                        &result, &size, &trial->error);
    free(in.data);
    if (status)
        return status;
    save(in_folder(trial->output), result, size);
    gf_free(result);
    return GF_OK;
}

static struct gf_options options_of(const struct trial *trial)
{
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU; /* does not start a real one */
    options.subsampling = trial->subsampling;
    options.jpeg_encoder = trial->jpeg_encoder;
    options.optimize = trial->optimize;
    options.progressive = trial->progressive;
    options.target_ssimulacra2 = trial->target;
    options.target_ssim = trial->target_ssim;
    options.max_bytes = trial->max_bytes;
    options.png_level = trial->png_level ? trial->png_level : options.png_level;
    options.png_palette = trial->png_palette;
    options.timeout_s = trial->timeout_s;
    return options;
}

static void run_trial(struct trial *trial)
{
    struct fake_device device;
    struct gf_options options = options_of(trial);
    trial->chain = trial->chain ? trial->chain : "blur,equalize";
    trial->input = trial->input ? trial->input : "in.jpg";
    trial->output = trial->output ? trial->output : "out.jpg";
    options.warn = count_warning;
    options.warn_context = &trial->warnings;
    options.memory_bytes = trial->memory_bytes;
    options.serial = trial->serial;
    struct gf_pipeline *const pipeline = open_cpu(trial->chain, &options);
    fake_open(&device);
    device.calls.coders = open_coders;
    device.memory_bytes = trial->device_bytes;
    gf_pipeline_replace_backend(pipeline, &device.base, true);
    if (trial->keeps_slow)
        gf_pipeline_keep_slow_files(pipeline);
    gf_pipeline_options(pipeline)->codec = trial->codec;
    gf_pipeline_options(pipeline)->device = GF_DEVICE_CUDA;
    fake.decoded = fake.encoded = 0;
    trial->status = trial->in_memory
                        ? run_in_memory(pipeline, trial)
                        : gf_pipeline_run_file(pipeline, in_folder(trial->input),
                                               in_folder(trial->output), &trial->error);
    trial->device_decoded = gf_pipeline_profile(pipeline)->device_decoded;
    trial->device_encoded = gf_pipeline_profile(pipeline)->device_encoded;
    trial->tries = gf_pipeline_profile(pipeline)->tries;
    gf_pipeline_close(pipeline);
    close_coders();
    fake_assert_clean(trial->chain, &device);
    trial->runs = device.runs;
    trial->crossed = device.upload_bytes + device.download_bytes;
    trial->shared = device.shared_bytes;
}

/* The same by the CPU. */
static void run_on_cpu(const struct trial *trial, const char *output)
{
    const struct gf_options options = options_of(trial);
    struct gf_error error = {0};
    struct gf_pipeline *const pipeline = open_cpu(trial->chain, &options);
    assert_ok(trial->chain,
              gf_pipeline_run_file(pipeline, in_folder(trial->input), in_folder(output), &error),
              &error);
    gf_pipeline_close(pipeline);
}

static void on_cpu(const char *chain, const char *input, const char *output,
                   enum gf_subsampling subsampling)
{
    const struct trial trial = {.chain = chain, .input = input, .subsampling = subsampling};
    run_on_cpu(&trial, output);
}

/* The name of the CPU's file in place of that one. */
static const char *name_on_cpu(const char *name)
{
    static char made[20];
    snprintf(made, sizeof made, "cpu%s", strrchr(name, '.'));
    return made;
}

/* The trial's file is the CPU's. */
static void assert_same_result(const struct trial *trial)
{
    const char *const expected = name_on_cpu(trial->output);
    assert_ok(trial->chain, trial->status, &trial->error);
    run_on_cpu(trial, expected);
    if (!same_file(in_folder(trial->output), in_folder(expected)))
        fail_msg("%s: %s differs", trial->chain, trial->output);
}

/* The CPU's codec did it, after a failure that was worth so many warnings. */
static void assert_done_by_cpu(const struct trial *trial, int warnings)
{
    assert_same_result(trial);
    assert_false(trial->device_decoded || trial->device_encoded);
    assert_int_equal(trial->warnings, warnings);
}

static void test_nothing_crosses(void **state)
{
    static const char *const chains[] = {"invert",    "blur,equalize", "transpose,resize=50%:50%",
                                         "grayscale", "equalize",      "normalize,rotate=180"};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        for (int serial = 0; serial < 2; serial++) {
            struct trial trial = {.chain = chains[i], .serial = serial};
            run_trial(&trial);
            assert_same_result(&trial);
            assert_int_equal(fake.decoded, 1);
            assert_int_equal(fake.encoded, 1);
            assert_int_equal(trial.crossed, 0);
            assert_int_equal(trial.warnings, 0);
            assert_int_equal(trial.shared > 0, serial);
        }
    }
}

#ifdef GF_LIBRARY_tiff
/* Writes a BigTIFF of 2 x 2 tiles that are JPEGs, as in.tif. Its lists lie before the tiles. */
static void write_tiles(int width, int height)
{
    enum { TILE = 64, TILES = 4, TAGS = 11, LISTS = 16 + 8 + 20 * TAGS + 8 };
    const struct jpeg_kind kind = {.width = TILE,
                                   .height = TILE,
                                   .components = 3,
                                   .h = {2, 1, 1},
                                   .v = {2, 1, 1},
                                   .quality = 80};
    const uint64_t tags[TAGS][4] = {{256, 4, 1, (uint64_t)width},
                                    {257, 4, 1, (uint64_t)height},
                                    {258, 3, 3, 8 | 8 << 16 | (uint64_t)8 << 32},
                                    {259, 3, 1, 7},
                                    {262, 3, 1, 6},
                                    {277, 3, 1, 3},
                                    {322, 4, 1, TILE},
                                    {323, 4, 1, TILE},
                                    {324, 16, TILES, LISTS},
                                    {325, 16, TILES, LISTS + 8 * TILES},
                                    {530, 3, 2, 2 | 2 << 16}};
    unsigned char file[60000] = "II\x2b\0\x08\0\0\0\x10";
    size_t at = LISTS + 16 * TILES;
    uint64_t seed = 3;
    file[16] = TAGS;
    for (int i = 0; i < TAGS; i++) {
        memcpy(file + 24 + 20 * i, &tags[i][0], 2);
        memcpy(file + 26 + 20 * i, &tags[i][1], 2);
        memcpy(file + 28 + 20 * i, &tags[i][2], 16);
    }
    for (int i = 0; i < TILES; i++) {
        const struct jpeg_file tile = jpeg_make(&kind, &seed);
        assert_in_range(at + tile.size, 0, sizeof file);
        memcpy(file + LISTS + 8 * i, &at, 8);
        memcpy(file + LISTS + 8 * (TILES + i), &tile.size, 8);
        memcpy(file + at, tile.data, tile.size);
        at += tile.size;
        free(tile.data);
    }
    save(in_folder("in.tif"), file, at);
}
#endif

/* All tiles of a TIFF are decoded on the device, or all on the CPU. */
static void test_tiles(void **state)
{
#ifdef GF_LIBRARY_tiff
    write_tiles(100, 70);
    for (int declines = 0; declines < 2; declines++) {
        struct trial trial = {.chain = "invert", .input = "in.tif", .output = "out.png"};
        fake.declines = declines;
        run_trial(&trial);
        fake.declines = false;
        assert_same_result(&trial);
        assert_int_equal(fake.decoded, !declines);
        assert_int_equal(trial.device_decoded, !declines);
        assert_int_equal(trial.warnings, 0);
    }
#else
    skip();
#endif
}

/* Files are not in shared memory, which grows by more than a file, if memory is limited. */
static void test_limited(void **state)
{
    struct trial trial = {.serial = true, .memory_bytes = 64 << 20};
    run_trial(&trial);
    assert_same_result(&trial);
    assert_int_equal(fake.decoded, 1);
    assert_int_equal(trial.shared, 0);
}

static void test_one_end(void **state)
{
    struct trial down = {.output = "out.ppm"}, up = {.input = "in.ppm"};
    run_trial(&down);
    assert_same_result(&down);
    assert_int_equal(fake.decoded, 1);
    run_trial(&up);
    assert_same_result(&up);
    assert_int_equal(fake.encoded, 1);
    struct trial neither = {.input = "in.ppm", .output = "out.ppm"};
    run_trial(&neither);
    assert_same_result(&neither);
    assert_int_equal(fake.decoded + fake.encoded, 0);
}

static void test_conversion(void **state)
{
    struct trial trial = {.chain = ""};
    run_trial(&trial);
    assert_same_result(&trial);
    assert_int_equal(fake.decoded, 1);
    assert_int_equal(fake.encoded, 1);
    assert_int_equal(trial.runs, 0);
    struct trial other = {.chain = "", .output = "out.ppm"};
    run_trial(&other);
    assert_same_result(&other);
    assert_int_equal(fake.decoded, 0);
}

/* A perceptual JPEG has tables of its own behind the metadata. One of several scans is the CPU's.
 */
static void test_perceptual(void **state)
{
    static const char *const inputs[] = {"in.jpg", "gray.jpg", "in.ppm"};
    reset_fake();
    for (int i = 0; i < 18; i++) {
        struct trial trial = {.chain = i % 2 ? "blur=2" : "",
                              .input = inputs[i / 2 % 3],
                              .subsampling = i / 6 ? GF_SUBSAMPLING_AUTO : GF_SUBSAMPLING_422,
                              .jpeg_encoder = GF_JPEG_PERCEPTUAL,
                              .optimize = i % 3 == 0,
                              .progressive = i / 6 == 2};
        run_trial(&trial);
        assert_same_result(&trial);
        assert_int_equal(trial.warnings, 0);
        assert_int_equal(fake.encoded, trial.chain[0] || i / 2 % 3 < 2 ? !trial.progressive : 0);
    }
}

/* Every try of a quality is encoded, decoded and scored on the device. Where that cannot score, the
 * CPU tries. */
static void test_search(void **state)
{
    static const char *const inputs[] = {"in.jpg", "gray.jpg", "in.ppm"};
    for (int i = 0; i < 18; i++) {
        struct trial trial = {.chain = "blur=2",
                              .input = inputs[i % 3],
                              .jpeg_encoder = i / 3 % 2 ? GF_JPEG_PERCEPTUAL : GF_JPEG_LIBJPEG,
                              .target = i / 6 % 2 ? 60 : 0,
                              .target_ssim = i / 6 == 2 ? 0.9 : 0,
                              .max_bytes = i / 6 < 2 ? 3000 : 0,
                              .serial = i % 2};
        reset_fake();
        fake.scored = 0;
        fake.scores_none = i == 13;
        run_trial(&trial);
        assert_same_result(&trial);
        if (fake.scores_none) {
            assert_done_by_cpu(&trial, 0);
            continue;
        }
        assert_in_range(trial.tries, 2, 10);
        assert_int_equal(fake.encoded, trial.tries);
        assert_int_equal(fake.scored > 0, i / 6 > 0);
        assert_int_equal(trial.crossed > 0, i % 3 == 2); /* the PPM alone is uploaded */
    }
}

/* A device that fails while a quality is searched for leaves the search to the CPU's codecs. */
static void test_search_fails(void **state)
{
    static const enum gf_status failures[] = {GF_ERROR_DEVICE, GF_ERROR_DEVICE_MEMORY};
    for (int i = 0; i < 6; i++) {
        struct trial trial = {.chain = "blur=2", .input = "in.ppm", .target = 60};
        reset_fake();
        *(i % 3 == 0   ? &fake.encode_status
          : i % 3 == 1 ? &fake.decode_status
                       : &fake.score_status) = failures[i / 3];
        run_trial(&trial);
        assert_done_by_cpu(&trial, i < 3);
        assert_in_range(trial.tries, 2, 10);
    }
    reset_fake();
}

/* A picture with alpha is flattened before the device encodes it. Where the chain finds a box, its
 * first part may be decoded there, and its last part encoded. */
static void test_sizes(void **state)
{
    static const char *const chains[] = {"blur=2,trim=tolerance=0.3,invert",
                                         "trim=tolerance=0.2",
                                         "trim=black:0,blur",
                                         "invert,trim,trim=white:0.3,transpose",
                                         "pad=200:160:colour=transparent,blur",
                                         "chromakey=#808080:0.3",
                                         "resize=100:100:fit=contain:colour=transparent"};
    reset_fake();
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct trial trial = {.chain = chains[i]};
        run_trial(&trial);
        assert_same_result(&trial);
        if (fake.encoded != 1)
            fail_msg("%s: %d encoded", chains[i], fake.encoded);
    }
}

/* What is decoded at a fraction of its size has the pixels that libjpeg gives it, by the device or,
 * where that declines, by libjpeg. */
static void test_reduced(void **state)
{
    static const char *const chains[] = {"thumbnail=100", "thumbnail=30", "thumbnail=18",
                                         "resize=w=8:load=reduced"};
    for (int i = 0; i < 16; i++) {
        struct trial trial = {
            .chain = chains[i / 4], .input = i % 2 ? "gray.jpg" : "in.jpg", .in_memory = i / 2 % 2};
        reset_fake();
        run_trial(&trial);
        assert_same_result(&trial);
        assert_int_equal(fake.decoded, 1);
        assert_int_equal(fake.encoded, 1);
        assert_int_equal(fake.reduction, 1 << i / 4);
        assert_int_equal(trial.crossed, 0);
        fake.declines = true;
        run_trial(&trial);
        assert_same_result(&trial);
        assert_int_equal(fake.decoded, 0);
        assert_int_equal(trial.warnings, 0);
    }
    reset_fake();
}

/* A picture that takes too long fails, also if the device's encoder is last. */
static void test_timeout(void **state)
{
    struct trial trial = {.chain = "invert", .timeout_s = 1};
    reset_fake();
    fake.encode_us = 1200000;
    run_trial(&trial);
    assert_int_equal(trial.status, GF_ERROR_INPUT);
    assert_non_null(strstr(trial.error.text, "in.jpg: takes longer than options.timeout_s=1"));
    assert_int_equal(fake.encoded, 1);
    reset_fake();
}

/* A second attempt reads the bytes and writes the result from the start. */
static void test_in_memory(void **state)
{
    struct trial trial = {.in_memory = true}, failing = {.in_memory = true};
    run_trial(&trial);
    assert_same_result(&trial);
    assert_int_equal(fake.decoded, 1);
    assert_int_equal(fake.encoded, 1);
    fake.encode_status = GF_ERROR_DEVICE;
    run_trial(&failing);
    assert_done_by_cpu(&failing, 1);
}

/* What the device's codec cannot do, libjpeg does. */
static void test_gives_way(void **state)
{
    struct trial declined = {.chain = "blur"};
    fake.declines = true;
    run_trial(&declined);
    assert_same_result(&declined);
    assert_int_equal(declined.warnings, 0);
    assert_true(declined.device_encoded);
    fake.declines = false;
    static const struct {
        enum gf_status start, decode, encode;
        int warnings;
    } failures[] = {{.encode = GF_ERROR_DEVICE, .warnings = 1},
                    {.encode = GF_ERROR_DEVICE_MEMORY},
                    {.decode = GF_ERROR_DEVICE, .warnings = 1},
                    {.start = GF_ERROR_DEVICE_MEMORY},
                    {.start = GF_ERROR_DEVICE, .warnings = 1}};
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct trial failing = {.chain = "blur"};
        fake.start = failures[i].start;
        fake.decode_status = failures[i].decode;
        fake.encode_status = failures[i].encode;
        run_trial(&failing);
        assert_done_by_cpu(&failing, failures[i].warnings);
    }
    reset_fake();
    struct trial bounded = {.memory_bytes = 256 << 10};
    run_trial(&bounded);
    assert_same_result(&bounded);
    assert_false(bounded.device_decoded);
    struct trial asked = {.codec = GF_CODEC_CPU};
    run_trial(&asked);
    assert_same_result(&asked);
    assert_int_equal(fake.decoded + fake.encoded, 0);
}

/* A PNG of any format that level 1 writes, without a row that crosses, beside the CPU's codecs. */
static void test_png(void **state)
{
    static const char *const inputs[] = {"in.ppm",   "gray.jpg", "in.jpg",  "rgba.pam",
                                         "wide.pam", "in.png",   "wide.png"};
    static const char *const chains[] = {"blur", "grayscale,equalize", "transpose",
                                         "pad=200:160:colour=transparent,invert"};
    reset_fake();
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        for (size_t k = 0; k < sizeof chains / sizeof *chains; k++) {
            const bool decodes = strstr(inputs[i], ".jpg") || strstr(inputs[i], ".png");
            struct trial trial = {
                .chain = chains[k], .input = inputs[i], .output = "out.png", .serial = k % 2};
            run_trial(&trial);
            assert_same_result(&trial);
            assert_true(trial.device_encoded && trial.device_decoded == decodes);
            assert_int_equal(fake.encoded, 1);
            assert_int_equal(trial.warnings, 0);
            assert_true(decodes ? !trial.crossed : trial.crossed > 0);
        }
    }
}

/* What level 1 does not write without a palette is the CPU's, and what fails on the device. */
static void test_png_gives_way(void **state)
{
    reset_fake();
    struct trial trials[] = {{.png_level = 2},
                             {.png_palette = true, .chain = "posterize=2,blur"},
                             {.codec = GF_CODEC_CPU},
                             {.memory_bytes = 64 << 10},
                             {.chain = "", .input = "in.ppm"}};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trials[i].output = "out.png";
        trials[i].input = "in.ppm";
        run_trial(&trials[i]);
        assert_same_result(&trials[i]);
        assert_false(trials[i].device_encoded);
        assert_int_equal(fake.encoded, 0);
    }
    struct trial converted = {.chain = "", .output = "out.png"};
    run_trial(&converted);
    assert_same_result(&converted);
    assert_true(converted.device_decoded && converted.device_encoded);
    /* Decoded on the device: files of any program, unless it declines them. */
    static const char *const inputs[] = {"in.png", "level6.png", "palette.png"};
    struct trial declined = {.input = "in.png", .output = "out.ppm", .serial = true},
                 kept = {.chain = "", .input = "palette.png", .output = "out.png", .serial = true};
    for (int i = 0; i < 6; i++) {
        struct trial taken = {.input = inputs[i / 2], .output = "out.ppm", .serial = i % 2};
        run_trial(&taken);
        assert_same_result(&taken);
        assert_true(taken.device_decoded);
    }
    /* Those of one stream stay with the CPU where it keeps what takes a GPU long. */
    for (int i = 0; i < 2; i++) {
        struct trial slow = {.output = "out.ppm", .serial = true, .keeps_slow = true};
        slow.input = inputs[i];
        run_trial(&slow);
        assert_same_result(&slow);
        assert_true(slow.device_decoded == !i); /* in.png has marked stripes */
    }
    run_trial(&kept); /* with its palette */
    assert_same_result(&kept);
    assert_false(kept.device_encoded);
    fake.declines = true;
    run_trial(&declined);
    fake.declines = false;
    assert_same_result(&declined);
    assert_false(declined.device_decoded);
    static const enum gf_status failures[] = {GF_ERROR_DEVICE, GF_ERROR_DEVICE_MEMORY};
    for (int i = 0; i < 2; i++) {
        struct trial failing = {.chain = "blur", .output = "out.png"};
        fake.encode_status = failures[i];
        run_trial(&failing);
        assert_done_by_cpu(&failing, failures[i] == GF_ERROR_DEVICE);
    }
    reset_fake();
}

/* Frames of every kind, between each other and beside pictures of other formats. */
static void test_frames(void **state)
{
    static const char *const inputs[] = {"in.y4m", "wide.y4m", "gray.y4m", "in.jpg", "rgba.pam"};
    static const char *const chains[] = {"blur", "grayscale,equalize", "transpose", "invert"};
    reset_fake();
    for (size_t i = 0; i < 4 * sizeof inputs / sizeof *inputs; i++) {
        const bool wide = i / 4 == 1; /* 16 bits, of which no JPEG is made on the device */
        struct trial trial = {.chain = chains[i % 4],
                              .input = inputs[i / 4],
                              .output = i % 3 || wide ? "out.y4m" : "out.jpg",
                              .subsampling = i % 2 ? GF_SUBSAMPLING_AUTO : GF_SUBSAMPLING_422,
                              .serial = i / 4 % 2,
                              .in_memory = i < 12 && i % 3 && i / 3 % 2};
        run_trial(&trial);
        assert_same_result(&trial);
        assert_true(trial.device_encoded && trial.device_decoded == !strstr(trial.input, ".pam"));
        assert_true(trial.device_decoded ? !trial.crossed : trial.crossed > 0);
        assert_int_equal(trial.warnings, !trial.device_decoded); /* its alpha is flattened */
    }
    struct trial converted = {
        .chain = "", .input = "in.y4m", .output = "out.y4m", .subsampling = GF_SUBSAMPLING_444};
    run_trial(&converted);
    assert_same_result(&converted);
    assert_true(converted.device_decoded && converted.device_encoded);
    struct trial film = {.chain = "blur", .input = "film.y4m", .output = "out.y4m"};
    run_trial(&film);
    assert_same_result(&film);
    assert_int_equal(film.warnings, 1); /* more frames follow */
    struct trial asked = {
        .chain = "blur", .input = "in.y4m", .output = "out.y4m", .codec = GF_CODEC_CPU};
    run_trial(&asked);
    assert_done_by_cpu(&asked, 0);
}

static void test_frames_give_way(void **state)
{
    static const enum gf_status failures[] = {GF_ERROR_DEVICE, GF_ERROR_DEVICE_MEMORY};
    struct trial declined = {.chain = "blur", .input = "in.y4m", .output = "out.y4m"};
    reset_fake();
    fake.declines = true;
    run_trial(&declined);
    assert_same_result(&declined);
    assert_true(!declined.device_decoded && declined.device_encoded);
    fake.declines = false;
    for (int i = 0; i < 4; i++) {
        struct trial failing = {.chain = "blur", .input = "in.y4m", .output = "out.y4m"};
        *(i % 2 ? &fake.encode_status : &fake.decode_status) = failures[i / 2];
        run_trial(&failing);
        assert_done_by_cpu(&failing, failures[i / 2] == GF_ERROR_DEVICE);
        reset_fake();
    }
    struct trial cut = {.chain = "blur", .input = "cut.y4m", .output = "out.y4m"};
    run_trial(&cut);
    assert_int_equal(cut.status, GF_ERROR_INPUT);
    assert_non_null(strstr(cut.error.text, "cut.y4m: truncated: a frame has "));
}

/* The codec's memory: what one picture needs for each of its four threads. */
static void test_lent_memory(void **state)
{
    for (uint64_t pictures = 0; pictures < 3; pictures++) {
        struct trial trial = {.chain = "blur"};
        fake.lent_bytes = 4 * PICTURE_BYTES * pictures + 4;
        run_trial(&trial);
        if (pictures)
            assert_same_result(&trial);
        else
            assert_done_by_cpu(&trial, 0);
        assert_int_equal(trial.device_encoded, pictures > 0);
    }
    reset_fake();
}

/* With little device memory the picture is done, or the error names the file. */
static void test_little_memory(void **state)
{
    int done = 0, refused = 0;
    for (uint64_t bytes = 4096; bytes < 4 << 20; bytes += bytes / 3) {
        struct trial trial = {.chain = "blur", .device_bytes = bytes};
        run_trial(&trial);
        done += !trial.status;
        refused += trial.status == GF_ERROR_DEVICE_MEMORY;
        if (!trial.status)
            assert_same_result(&trial);
        else if (trial.status != GF_ERROR_DEVICE_MEMORY || !strstr(trial.error.text, "in.jpg: "))
            fail_msg("%d bytes: %s", (int)bytes, trial.error.text);
    }
    assert_true(done > 5);
    assert_true(refused > 0);
}

/* ---- many callers ---- */

enum { CALLERS = 24, ROUNDS = 20 };

struct caller {
    pthread_t thread;
    struct gf_device_coders *coders;
    struct bytes file;
    struct gf_image expected;
    enum gf_status status;
    bool differs;
};

static void *call(void *argument)
{
    struct caller *const caller = argument;
    const struct gf_image *const expected = &caller->expected;
    struct gf_image image = {.format = expected->format, .pitch = expected->pitch};
    struct gf_options options = gf_options_default();
    struct gf_jpeg_header header;
    struct gf_error error;
    image.data = malloc(image.pitch * (size_t)image.format.height);
    assert_non_null(image.data);
    assert_true(gf_jpeg_header_read(caller->file.data, caller->file.size, &header));
    for (int i = 0; !caller->status && i < ROUNDS; i++) {
        const struct gf_view view = {.data = image.data,
                                     .pitch = image.pitch,
                                     .format = image.format,
                                     .rows = image.format.height};
        struct gf_coder_picture decode = {.kind = GF_CODER_JPEG_DECODE,
                                          .jpeg_decode = {.header = &header,
                                                          .data = caller->file.data,
                                                          .size = caller->file.size,
                                                          .reduction = 1,
                                                          .out = view}};
        caller->status = gf_device_coders_run(caller->coders, &decode, &error);
        caller->differs |=
            !decode.done || memcmp(image.data, expected->data, picture_bytes(expected));
        for (int png = 0; !caller->status && png < 2; png++) {
            struct gf_coder_picture encode = {.kind =
                                                  png ? GF_CODER_PNG_ENCODE : GF_CODER_JPEG_ENCODE};
            if (png)
                encode.png_encode.in = view;
            else
                encode.jpeg_encode = (struct gf_jpeg_encode_picture){
                    .in = view, .quality = options.quality, .subsampling = GF_SUBSAMPLING_420};
            caller->status = gf_device_coders_run(caller->coders, &encode, &error);
            caller->differs |= !encode.done || !encode.size ||
                               (!png && encode.size > caller->file.size) ||
                               (png && memcmp(encode.data + 4, "IDAT", 4));
            gf_coder_picture_return(&encode);
        }
    }
    free(image.data);
    return NULL;
}

static void wait_for_coders(int count)
{
    enum { TRIES = 60000 };
    bool open = false;
    for (int i = 0; i < TRIES && !open; i++) {
        pthread_mutex_lock(&fake.lock);
        open = fake.open >= count;
        pthread_mutex_unlock(&fake.lock);
        usleep(open ? 0 : 1000);
    }
    assert_true(open);
}

/* Pictures that wait share a group, and each caller gets its own. */
static void test_groups(void **state)
{
    struct caller caller[CALLERS] = {0};
    struct bytes file[2];
    struct gf_image picture[2];
    struct gf_error error = {0};
    for (int i = 0; i < 2; i++) {
        file[i] = load(in_folder(i ? "in.jpg" : "gray.jpg"));
        on_cpu("", i ? "in.jpg" : "gray.jpg", i ? "cpu.ppm" : "cpu.pgm", GF_SUBSAMPLING_420);
        picture[i] = netpbm_read(in_folder(i ? "cpu.ppm" : "cpu.pgm"));
    }
    fake.waits = true;
    fake.lent_bytes = 4 * 10 * PICTURE_BYTES;
    /* The first lends so much that the coders are not made anew when the others come. */
    const uint64_t first_bytes = fake.lent_bytes * 5 / 8;
    const uint64_t other_bytes = (fake.lent_bytes - first_bytes) / (CALLERS - 1);
    for (int i = 0; i < CALLERS; i++) {
        assert_ok(
            "open",
            gf_device_coders_open(0, i ? other_bytes : first_bytes, &caller[i].coders, &error),
            &error);
        gf_device_coders_prepare(caller[i].coders, GF_CODER_JPEG_DECODE);
        gf_device_coders_prepare(caller[i].coders, GF_CODER_JPEG_ENCODE);
        wait_for_coders(4);
        caller[i].file = file[i % 2];
        caller[i].expected = picture[i % 2];
        assert_ptr_equal(caller[i].coders, caller[0].coders);
    }
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&caller[i].thread, NULL, call, &caller[i]), 0);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(caller[i].thread, NULL);
        assert_ok("call", caller[i].status, &error);
        assert_false(caller[i].differs);
    }
    for (int i = 0; i < CALLERS; i++)
        gf_device_coders_close(caller[i].coders, i ? other_bytes : first_bytes);
    assert_int_equal(fake.open, 0);
    assert_int_equal(fake.decoded, CALLERS * ROUNDS);
    assert_int_equal(fake.encoded, 2 * CALLERS * ROUNDS);
    assert_in_range(fake.largest_group, 2, 10);
    assert_int_equal(fake.expected, CALLERS);
    assert_false(fake.too_much_memory);
    for (int i = 0; i < 2; i++) {
        picture_free(&picture[i]);
        free(file[i].data);
    }
    reset_fake();
}

/* ---- several outputs ---- */

static enum gf_status choose_name(void *context, int number, enum gf_file_format content,
                                  struct gf_format result, const char **path,
                                  struct gf_error *error)
{
    *path = context;
    return GF_OK;
}

/* They have the picture that the device decoded, which does not leave it but to be written. */
static void run_several(const char *input, bool reduced, bool serial, uint64_t device_bytes,
                        size_t *crossed)
{
    static const char *const whole[] = {"", "blur", "blur,sobel", "equalize", "blur,invert"};
    static const char *const small[] = {"thumbnail=30", "blur", "thumbnail=34,blur", "thumbnail=18",
                                        "thumbnail=30,invert"};
    static const char *const names[] = {"s0.jpg", "s1.jpg", "s2.ppm", "s3.jpg", "s4.png"};
    enum { OUTPUTS = 5 };
    struct gf_pipeline_output output[OUTPUTS];
    struct gf_destination destination[OUTPUTS];
    char path[OUTPUTS][400];
    struct gf_pipeline *pipeline;
    struct fake_device device;
    struct gf_error error = {0};
    const char *const *const chains = reduced ? small : whole;
    for (int i = 0; i < OUTPUTS; i++) {
        snprintf(path[i], sizeof path[i], "%s", in_folder(names[i]));
        output[i] = (struct gf_pipeline_output){chains[i], gf_options_default()};
        output[i].options.device = GF_DEVICE_CPU;
        output[i].options.serial = serial;
        output[i].options.subsampling = GF_SUBSAMPLING_420;
        destination[i] = (struct gf_destination){.choose = choose_name, .context = path[i]};
    }
    assert_ok(input, gf_pipeline_open_outputs(output, OUTPUTS, &pipeline, &error), &error);
    fake_open(&device);
    device.calls.coders = open_coders;
    device.memory_bytes = device_bytes;
    gf_pipeline_replace_backend(pipeline, &device.base, true);
    gf_pipeline_options(pipeline)->device = GF_DEVICE_AUTO;
    reset_fake();
    assert_ok(input,
              gf_pipeline_filter_pictures(pipeline, in_folder(input), NULL, destination, &error),
              &error);
    gf_pipeline_close(pipeline);
    close_coders();
    fake_assert_clean(input, &device);
    *crossed = device.upload_bytes + device.download_bytes;
    for (int i = 0; i < OUTPUTS; i++) {
        const char *const expected = name_on_cpu(names[i]);
        on_cpu(chains[i], input, expected, GF_SUBSAMPLING_420);
        if (!same_file(path[i], in_folder(expected)))
            fail_msg("%s: %s differs", chains[i], names[i]);
    }
}

static void test_several_outputs(void **state)
{
    enum { BYTES = 150 * 110 * 3 };
    for (int serial = 0; serial < 2; serial++) {
        size_t crossed;
        run_several("in.jpg", false, serial, 0, &crossed);
        assert_int_equal(fake.decoded, 1);
        assert_int_equal(fake.encoded, 4);
        assert_int_equal(crossed, BYTES); /* the one that the CPU writes */
        run_several("in.ppm", false, serial, 0, &crossed);
        assert_int_equal(fake.decoded, 0);
        assert_int_equal(fake.encoded, 4);
        assert_int_equal(crossed, 2 * BYTES);
        run_several("in.jpg", false, serial, 3 * BYTES, &crossed);
        run_several("in.jpg", false, serial, 2 * BYTES, &crossed);
        /* Those of one reduction share a decoding. */
        run_several("in.jpg", true, serial, 0, &crossed);
        assert_int_equal(fake.decoded, 3);
        assert_int_equal(fake.encoded, 4);
    }
}

static int make_pictures(void **state)
{
    struct gf_image picture = picture_random(format_of(150, 110, 3, 8), 0, 5);
    assert_int_equal(make_folder(state), 0);
    write_ppm(in_folder("in.ppm"), &picture, picture_bytes(&picture));
    picture_free(&picture);
    on_cpu("pad=170:130:colour=transparent", "in.ppm", "rgba.pam", GF_SUBSAMPLING_420);
    write_pam(in_folder("wide.pam"), format_of(150, 110, 3, 16), 6);
    const struct trial level6 = {.chain = "", .input = "in.ppm", .png_level = 6};
    const struct trial palette = {.chain = "posterize=2", .input = "in.ppm", .png_palette = true};
    run_on_cpu(&level6, "level6.png");
    run_on_cpu(&palette, "palette.png");
    on_cpu("", "in.ppm", "in.png", GF_SUBSAMPLING_420);
    on_cpu("", "wide.pam", "wide.png", GF_SUBSAMPLING_420);
    on_cpu("blur=3", "in.ppm", "in.jpg", GF_SUBSAMPLING_420);
    on_cpu("blur=3,grayscale", "in.ppm", "gray.jpg", GF_SUBSAMPLING_420);
    on_cpu("blur=3", "in.ppm", "in.y4m", GF_SUBSAMPLING_420);
    on_cpu("blur=3", "wide.pam", "wide.y4m", GF_SUBSAMPLING_444);
    on_cpu("blur=3", "gray.jpg", "gray.y4m", GF_SUBSAMPLING_420);
    const struct bytes frame = load(in_folder("in.y4m"));
    unsigned char *const film = malloc(2 * frame.size);
    assert_non_null(film);
    memcpy(film, frame.data, frame.size);
    memcpy(film + frame.size, frame.data, frame.size);
    save(in_folder("film.y4m"), film, 2 * frame.size);
    save(in_folder("cut.y4m"), film, frame.size - 1);
    free(film);
    free(frame.data);
    return 0;
}

static sem_t slow_ended;

static void note_end(struct gf_coding *coding)
{
    sem_post(&slow_ended);
}

/* Codes that many pictures of a kind that takes long at once, and returns the largest group. */
static int code_slowly(struct gf_device_coders *coders, int count)
{
    enum { MOST = GF_CODER_GROUP_MOST + 10 };
    static struct gf_coder_picture picture[MOST];
    static struct gf_coding coding[MOST], *codings[MOST];
    struct bytes file = load(in_folder("in.jpg"));
    struct gf_image expected = netpbm_read(in_folder("cpu.ppm"));
    struct gf_jpeg_header header;
    assert_true(gf_jpeg_header_read(file.data, file.size, &header));
    fake.largest_group = fake.decoded = 0;
    sem_init(&slow_ended, 0, 0);
    for (int i = 0; i < count; i++) {
        const struct gf_view out = {.data = malloc(expected.pitch * (size_t)expected.format.height),
                                    .pitch = expected.pitch,
                                    .format = expected.format,
                                    .rows = expected.format.height};
        assert_non_null(out.data);
        picture[i] = (struct gf_coder_picture){.kind = GF_CODER_JPEG_SCANS_DECODE,
                                               .jpeg_decode = {.header = &header,
                                                               .data = file.data,
                                                               .size = file.size,
                                                               .reduction = 1,
                                                               .out = out}};
        coding[i] = (struct gf_coding){.picture = &picture[i], .ended = note_end};
        codings[i] = &coding[i];
    }
    gf_device_coders_begin(coders, codings, count);
    for (int i = 0; i < count; i++)
        sem_wait(&slow_ended);
    for (int i = 0; i < count; i++) {
        unsigned char *const data = picture[i].jpeg_decode.out.data;
        assert_int_equal(coding[i].status, GF_OK);
        assert_true(picture[i].done);
        assert_memory_equal(data, expected.data, picture_bytes(&expected));
        free(data);
    }
    assert_int_equal(fake.decoded, count);
    sem_destroy(&slow_ended);
    picture_free(&expected);
    free(file.data);
    return fake.largest_group;
}

/* Pictures that take long are a group, up to the largest one. The first waits for others, but not
 * for ever, and not if all callers wait. */
static void test_slow_groups(void **state)
{
    const int most = GF_CODER_GROUP_MOST;
    struct gf_device_coders *coders;
    struct gf_error error = {0};
    on_cpu("", "in.jpg", "cpu.ppm", GF_SUBSAMPLING_420);
    assert_ok("open", gf_device_coders_open(0, 0, &coders, &error), &error);
    assert_int_equal(code_slowly(coders, 40), 40);
    assert_int_equal(code_slowly(coders, most + 10), most);
    gf_device_coders_expect(coders, most);
    const double begin_s = gf_now();
    assert_int_equal(code_slowly(coders, 5), 5);
    assert_true(gf_now() - begin_s >= 2e-3);
    gf_device_coders_expect(coders, -most);
    gf_device_coders_close(coders, 0);
    assert_int_equal(fake.open, 0);
    reset_fake();
}

/* What the device is told of a HEIC is the file's own copy, since the source may be closed. */
static void assert_description_stays(const struct heic_bytes *bytes)
{
    const struct gf_options options = gf_options_default();
    struct gf_device_file file;
    struct gf_error error = {0};
    struct gf_input *input;
    struct gf_source *source;
    assert_ok("input", gf_input_open_memory(bytes->data, bytes->size, "a", &input, &error), &error);
    assert_ok("open", gf_source_open(input, &options, &source, &error), &error);
    assert_true(gf_device_file_describe(bytes->data, bytes->size, source, NULL, &file));
    source->close(source);
    gf_input_close(input);
    const struct gf_image image = {.format = gf_heif_coded_format(&file.coded)};
    const struct gf_coder_picture picture = gf_device_file_work(&file, &image);
    assert_ptr_equal(picture.heic_decode.coded, &file.coded);
    assert_int_equal(picture.heic_decode.coded->columns, 3);
}

/* A HEIC whose boxes are sound is decoded on the device; where that declines, libheif finds that
 * its frames are none. Each frame ends with the byte 0x34. */
static void test_heic(void **state)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_HEIC);
    const struct heic_kind kind = {
        .columns = 3, .rows = 2, .width = 701, .height = 499, .rotation = 1, .matrix = 6};
    struct trial trial = {.chain = "invert", .input = "in.heic", .output = "out.ppm"};
    struct trial in_memory = trial;
    int item;
    if (!type->open) {
        print_message("without libheif\n");
        skip();
    }
    const struct heic_bytes file = heic_make(&kind, &item);
    save(in_folder("in.heic"), file.data, file.size);
    assert_description_stays(&file);
    free(file.data);
    in_memory.in_memory = true;
    run_trial(&trial);
    assert_ok("HEIC", trial.status, &trial.error);
    assert_true(trial.device_decoded);
    const struct bytes out = load(in_folder("out.ppm"));
    assert_memory_equal(out.data, "P6\n499 701\n255\n", 15);
    assert_int_equal(out.size, 15 + 3 * 499 * 701);
    assert_int_equal(out.data[15], 255 - 0x34);
    assert_int_equal(out.data[out.size - 1], 255 - 0x34);
    free(out.data);
    run_trial(&in_memory);
    assert_ok("HEIC in memory", in_memory.status, &in_memory.error);
    assert_true(in_memory.device_decoded);
    struct trial declined = trial;
    fake.declines = true;
    run_trial(&declined);
    assert_int_equal(declined.status, GF_ERROR_INPUT);
    assert_false(declined.device_decoded);
    struct trial by_cpu = trial;
    by_cpu.codec = GF_CODEC_CPU;
    fake.declines = false;
    run_trial(&by_cpu);
    assert_int_equal(by_cpu.status, GF_ERROR_INPUT);
    reset_fake();
}

/* An AVIF whose boxes are sound is decoded on the device if that decodes AV1; else libavif finds
 * that its frames are none. */
static void test_avif(void **state)
{
    const struct heic_kind kind = {
        .columns = 3, .rows = 2, .width = 701, .height = 499, .matrix = 6, .av1 = true};
    const struct trial trial = {.chain = "invert", .input = "in.avif", .output = "out.ppm"};
    int item;
    if (!gf_file_type(GF_FILE_AVIF)->open) {
        print_message("without libavif\n");
        skip();
    }
    const struct heic_bytes file = heic_make(&kind, &item);
    save(in_folder("in.avif"), file.data, file.size);
    free(file.data);
    for (int refused = 0; refused < 2; refused++) {
        struct trial one = trial;
        fake.refuses_av1 = refused;
        run_trial(&one);
        assert_int_equal(one.device_decoded, !refused);
        assert_int_equal(one.status, refused ? GF_ERROR_INPUT : GF_OK);
    }
    reset_fake();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_crosses),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_several_outputs),
        cmocka_unit_test(test_limited),
        cmocka_unit_test(test_one_end),
        cmocka_unit_test(test_conversion),
        cmocka_unit_test(test_perceptual),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_search_fails),
        cmocka_unit_test(test_gives_way),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_lent_memory),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_slow_groups),
        cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_png),
        cmocka_unit_test(test_png_gives_way),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_frames_give_way),
        cmocka_unit_test(test_heic),
        cmocka_unit_test(test_avif),
    };
    return cmocka_run_group_tests_name("device_codec", tests, make_pictures, remove_folder);
}
