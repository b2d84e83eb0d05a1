/* Measures the steps of decoding and encoding a group of JPEGs on the GPU, and the time of finding
 * where blocks begin for several lengths of the subsequences that divide a stream. */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include <cmath>
#include <cstring>
#include <memory>

#include "cuda/jpeg/coders.h"
#include "cuda/study/labs/lab.cuh"
#include "gpufilter/pipeline.h"

constexpr int ALIGNMENT = 16;                 /* alignment of rows in device memory */
constexpr size_t BLOCK_BYTES = 64 * 2 + 2;    /* bytes of a block's coefficients, and of its
                                               * separate DC value */
constexpr uint64_t MEMORY_MOST = 4000000000u; /* device memory for the decoder, and for the
                                               * encoder */

/* ---- a picture, and its JPEG by libjpeg-turbo ---- */

static unsigned hash(unsigned x, unsigned y, unsigned seed)
{
    unsigned h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    return h ^ h >> 13;
}

/* Returns interpolated random values in -1..1. */
static float noise(float x, float y, unsigned seed)
{
    const int left = (int)x, top = (int)y;
    const float u = x - (float)left, v = y - (float)top;
    float corner[4];
    for (int i = 0; i < 4; i++)
        corner[i] = (float)(hash(left + i % 2, top + i / 2, seed) >> 16) / 32768.0f - 1.0f;
    return (corner[0] * (1 - u) + corner[1] * u) * (1 - v) +
           (corner[2] * (1 - u) + corner[3] * u) * v;
}

/* Paints a picture that has less contrast in finer detail, like a photograph. */
static void paint(unsigned char *rgb, int width, int height)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++, rgb += 3) {
            float light = 128.0f;
            for (int octave = 0; octave <= 8; octave++) {
                const float size = (float)(1 << octave);
                light += 2.6f * sqrtf(size) * noise((float)x / size, (float)y / size, octave);
            }
            for (int c = 0; c < 3; c++) {
                const float tint = 30.0f * noise((float)x / 90.0f, (float)y / 90.0f, 20 + c);
                rgb[c] = (unsigned char)std::min(std::max(light + tint, 0.0f), 255.0f);
            }
        }
    }
}

/* Bytes that gf_free() frees at the end of the scope. */
struct file {
    void *data = NULL;
    size_t size = 0;
    ~file()
    {
        gf_free(data);
    }
    const unsigned char *bytes() const
    {
        return (const unsigned char *)data;
    }
};

/* Converts a picture on the CPU. */
static enum gf_status convert(const void *data, size_t size, enum gf_file_format format,
                              int quality, struct file *result, struct gf_error *error)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    options.device = GF_DEVICE_CPU;
    options.quality = quality;
    enum gf_status status = gf_pipeline_open("", &options, &pipeline, error);
    GF_THEN(status, gf_pipeline_run_bytes(pipeline, data, size, format, &result->data,
                                          &result->size, error));
    gf_pipeline_close(pipeline);
    return status;
}

/* One picture in every form. The group has it many times. */
struct sample {
    const struct gf_lab_run *run;
    int count = run->param[0], quality = run->param[3];
    struct gf_format format = {run->param[1], run->param[2], 3, 8, GF_SAMPLES_INTEGER};
    size_t row = gf_row_bytes(format), rows = (size_t)format.height;
    size_t pitch = (row + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, bytes = pitch * rows;
    double pixels = (double)count * (double)row * (double)rows; /* bytes of the group's pixels */
    struct file jpeg, expected;
    unsigned char *upload = NULL; /* the JPEG, from where the device copies at full speed */
    struct gf_jpeg_header header;
    lab_memory<unsigned char> painted{run, bytes},
        decoded{run, bytes *count}; /* has room for all pictures of the group */

    explicit sample(const struct gf_lab_run *run_) : run(run_)
    {
        char head[64];
        snprintf(head, sizeof head, "P6\n%d %d\n255\n", format.width, format.height);
        std::vector<unsigned char> ppm(strlen(head) + row * rows);
        unsigned char *const rgb = ppm.data() + strlen(head);
        memcpy(ppm.data(), head, strlen(head));
        paint(rgb, format.width, format.height);
        LAB_TRY(convert(ppm.data(), ppm.size(), GF_FILE_JPEG, quality, &jpeg, run->error));
        LAB_TRY(convert(jpeg.data, jpeg.size, GF_FILE_PNM, quality, &expected, run->error));
        if (!gf_jpeg_header_read(jpeg.bytes(), jpeg.size, &header))
            LAB_TRY(gf_fail(run->error, GF_ERROR_INPUT, "jpeg: the lab's own JPEG is not taken"));
        painted.poison();
        decoded.poison();
        LAB_TRY(cudaMemcpy2D(painted.data, pitch, rgb, row, row, rows, cudaMemcpyHostToDevice));
        LAB_TRY(cudaHostAlloc((void **)&upload, jpeg.size, 0));
        memcpy(upload, jpeg.data, jpeg.size);
    }
    ~sample()
    {
        cudaFreeHost(upload);
    }

    /* Counts the pictures that differ from the result of libjpeg-turbo, whose pixels follow PPM's
     * header. */
    int different() const
    {
        const lab_memory<unsigned char> right(run, bytes);
        int different = 0;
        right.poison();
        LAB_TRY(cudaMemcpy2D(right.data, pitch, expected.bytes() + (expected.size - row * rows),
                             row, row, rows, cudaMemcpyHostToDevice));
        for (int i = 0; i < count; i++)
            different += lab_different_bytes(run, right.data, decoded.data + i * bytes, bytes) != 0;
        return different;
    }

    /* Adds the row of a step. `moved` is the least number of bytes that the step must read and
     * write for the group. */
    void add_row(const char *name, double ms, double moved) const
    {
        lab_row(run, NAN, {ms, 1e3 * ms / count, moved / ms * 1e-6}, "%s", name);
    }
};

enum { DECODE_STEPS = 6 };

static double median_of(std::vector<float> &values)
{
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2.0;
}

/* Measures the medians of the decoder's steps, in the order of struct gf_jpeg_decode_steps. */
static void time_decoder(const struct gf_lab_run *run, struct gf_jpeg_decoder *decoder,
                         std::vector<struct gf_jpeg_decode_picture> &pictures,
                         unsigned subsequence_bits, double ms[DECODE_STEPS])
{
    struct gf_jpeg_decode_steps steps;
    std::vector<float> values[DECODE_STEPS];
    gf_jpeg_decoder_measure(decoder, &steps);
    gf_jpeg_decoder_cut(decoder, subsequence_bits);
    for (int i = -1; i < run->runs; i++) { /* the first run allocates */
        LAB_TRY(gf_jpeg_decoder_run(decoder, pictures.data(), (int)pictures.size(), run->error));
        const float all[DECODE_STEPS] = {steps.upload, steps.unstuff, steps.synchronise,
                                         steps.decode, steps.dc,      steps.pixels};
        for (int s = 0; s < DECODE_STEPS && i >= 0; s++)
            values[s].push_back(all[s]);
    }
    for (int s = 0; s < DECODE_STEPS; s++)
        ms[s] = median_of(values[s]);
}

static void decode(const struct sample &sample)
{
    const struct gf_lab_run *const run = sample.run;
    struct gf_jpeg_decoder *decoder = NULL;
    LAB_TRY(gf_jpeg_decoder_create(run->device.index, MEMORY_MOST, &decoder, run->error));
    const std::unique_ptr<struct gf_jpeg_decoder, decltype(&gf_jpeg_decoder_destroy)> owner(
        decoder, gf_jpeg_decoder_destroy);
    static const char *const names[DECODE_STEPS] = {"upload", "unstuff", "synchronise",
                                                    "decode", "DC sums", "IDCT and colour"};
    static const unsigned lengths[] = {512, 1024, 2048};
    std::vector<struct gf_jpeg_decode_picture> pictures(sample.count);
    for (int i = 0; i < sample.count; i++) {
        pictures[i].header = &sample.header;
        pictures[i].data = sample.upload;
        pictures[i].size = sample.jpeg.size;
        pictures[i].reduction = 1;
        pictures[i].out = gf_view_make(sample.decoded.data + i * sample.bytes, sample.pitch,
                                       sample.format, {0, sample.format.height});
    }
    const double scan = (double)sample.count * (double)(sample.jpeg.size - sample.header.scan);
    const double blocks = (double)sample.count * ceil(sample.format.width / 16.0) *
                          ceil(sample.format.height / 16.0) * 6; /* for 4:2:0 */
    const double bytes[DECODE_STEPS] = {scan,           2 * scan,
                                        scan,           scan + blocks * BLOCK_BYTES,
                                        2 * 2 * blocks, blocks * BLOCK_BYTES + sample.pixels};
    double ms[DECODE_STEPS], sum = 0;
    time_decoder(run, decoder, pictures, 0, ms);
    for (int s = 0; s < DECODE_STEPS; s++) {
        sample.add_row(names[s], ms[s], bytes[s]);
        sum += s ? ms[s] : 0;
    }
    sample.add_row("decoding, upload not counted", sum, scan + sample.pixels);
    for (unsigned length : lengths) {
        char name[GF_LAB_NAME_SIZE];
        time_decoder(run, decoder, pictures, length, ms);
        snprintf(name, sizeof name, "synchronise, %u bits", length);
        sample.add_row(name, ms[2], bytes[2]);
        snprintf(name, sizeof name, "decode, %u bits", length);
        sample.add_row(name, ms[3], bytes[3]);
    }
    const int different = sample.different();
    int left = 0;
    for (const struct gf_jpeg_decode_picture &picture : pictures)
        left += !picture.decoded;
    gf_lab_check(run, !different && !left,
                 "the decoder took every picture and made libjpeg-turbo's pixels (%d left, "
                 "%d different)",
                 left, different);
}

static void encode(const struct sample &sample)
{
    const struct gf_lab_run *const run = sample.run;
    struct gf_jpeg_encoder *encoder = NULL;
    LAB_TRY(gf_jpeg_encoder_create(run->device.index, MEMORY_MOST, &encoder, run->error));
    const std::unique_ptr<struct gf_jpeg_encoder, decltype(&gf_jpeg_encoder_destroy)> owner(
        encoder, gf_jpeg_encoder_destroy);
    struct gf_jpeg_encode_steps steps;
    std::vector<float> kernels, downloads;
    std::vector<struct gf_jpeg_encode_picture> pictures(sample.count);
    for (struct gf_jpeg_encode_picture &picture : pictures) {
        picture.in = gf_view_make(sample.painted.data, sample.pitch, sample.format,
                                  {0, sample.format.height});
        picture.quality = sample.quality;
        picture.subsampling = GF_SUBSAMPLING_420;
    }
    gf_jpeg_encoder_measure(encoder, &steps);
    for (int i = -1; i < run->runs; i++) { /* the first run allocates */
        LAB_TRY(gf_jpeg_encoder_run(encoder, pictures.data(), sample.count, run->error));
        if (i >= 0) {
            kernels.push_back(steps.encode);
            downloads.push_back(steps.download);
        }
    }
    const size_t size = sample.jpeg.size - sample.header.scan - 2; /* without EOI */
    const double scan = (double)sample.count * (double)size;
    sample.add_row("encode", median_of(kernels), sample.pixels + scan);
    sample.add_row("download", median_of(downloads), scan);
    int different = 0;
    for (const struct gf_jpeg_encode_picture &picture : pictures)
        different += !picture.encoded || picture.size != size ||
                     memcmp(picture.scan, sample.jpeg.bytes() + sample.header.scan, size) != 0;
    gf_lab_check(run, !different,
                 "the encoder wrote libjpeg-turbo's bytes for every picture (%d are different)",
                 different);
}

static void run(const struct gf_lab_run *run)
{
    const struct sample sample(run);
    gf_lab_note(run, "the JPEG has %.0f kB; encoding is one kernel from pixels to codes",
                1e-3 * (double)sample.jpeg.size);
    decode(sample);
    encode(sample);
}
#endif

const struct gf_lab gf_lab_jpeg = {
    .name = "jpeg",
    .summary = "JPEG on the GPU: what each step takes, and synchronising by subsequence length",
    .guide = "4, 8.2.2",
    .params = {GF_LAB_INT("pictures", 64, 1, 256, "of a group"),
               GF_LAB_INT("width", 1920, 16, 8192, "in pixels"),
               GF_LAB_INT("height", 1080, 16, 8192, "in pixels"),
               GF_LAB_INT("quality", 90, 1, 100, "of the JPEG")},
    .rows = "step",
    .columns = {{"time", "ms", 3}, {"a picture", "us", 1}, {"bandwidth", "GB/s", 0}},
    .run = GF_LAB_RUN(run),
};
