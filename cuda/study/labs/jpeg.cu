/* Measures the steps of decoding and encoding a group of JPEGs on the GPU, and the time of finding
 * where blocks begin for several lengths of the subsequences that divide a stream. */
#include "study/labs/lab.h"

struct jpeg {
    int pictures, width, height, quality;
};

static const struct gf_param jpeg_params[] = {
    GF_PARAM_INT(struct jpeg, pictures, 64, 1, 256, "of a group"),
    GF_PARAM_INT(struct jpeg, width, 1920, 16, 8192, "in pixels"),
    GF_PARAM_INT(struct jpeg, height, 1080, 16, 8192, "in pixels"),
    GF_PARAM_INT(struct jpeg, quality, 90, 1, 100, "of the JPEG"),
    {0},
};

#ifdef __CUDACC__
#include <cmath>

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
    if (!status)
        status = gf_pipeline_run_bytes(pipeline, data, size, format, &result->data, &result->size,
                                       error);
    gf_pipeline_close(pipeline);
    return status;
}

/* Host memory that the device copies from at full speed. */
struct pinned {
    unsigned char *data = NULL;
    ~pinned()
    {
        cudaFreeHost(data);
    }
};

/* One picture in every form. The group has it many times. */
struct sample {
    struct gf_format format;
    size_t pitch, bytes; /* sizes in device memory */
    struct file jpeg, expected;
    struct pinned upload; /* the JPEG */
    struct gf_jpeg_header header;
    lab_memory<unsigned char> painted, decoded; /* `decoded` has room for all pictures of the
                                                 * group */
};

static const unsigned char *pixels_of(const struct sample *sample)
{
    const size_t bytes = gf_row_bytes(sample->format) * (size_t)sample->format.height;
    return sample->expected.bytes() + (sample->expected.size - bytes); /* the pixels follow PPM's
                                                                        * header */
}

static enum gf_status make_sample(const struct gf_lab_run *run, const struct jpeg *params,
                                  struct sample *sample)
{
    char head[64];
    sample->format = {params->width, params->height, 3, 8};
    const size_t row = gf_row_bytes(sample->format), rows = (size_t)params->height;
    sample->pitch = (row + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    sample->bytes = sample->pitch * rows;
    snprintf(head, sizeof head, "P6\n%d %d\n255\n", params->width, params->height);
    std::vector<unsigned char> ppm(strlen(head) + row * rows);
    unsigned char *const rgb = ppm.data() + strlen(head);
    memcpy(ppm.data(), head, strlen(head));
    paint(rgb, params->width, params->height);
    GF_TRY(
        convert(ppm.data(), ppm.size(), GF_FILE_JPEG, params->quality, &sample->jpeg, run->error));
    GF_TRY(convert(sample->jpeg.data, sample->jpeg.size, GF_FILE_PNM, params->quality,
                   &sample->expected, run->error));
    if (!gf_jpeg_header_read(sample->jpeg.bytes(), sample->jpeg.size, &sample->header))
        return gf_fail(run->error, GF_ERROR_INPUT, "jpeg: the lab's own JPEG is not taken");
    LAB_TRY(cudaHostAlloc((void **)&sample->upload.data, sample->jpeg.size, 0));
    memcpy(sample->upload.data, sample->jpeg.data, sample->jpeg.size);
    GF_TRY(sample->painted.poison(run, sample->bytes));
    GF_TRY(sample->decoded.poison(run, sample->bytes * params->pictures));
    LAB_TRY(cudaMemcpy2D(sample->painted.data, sample->pitch, rgb, row, row, rows,
                         cudaMemcpyHostToDevice));
    return GF_OK;
}

/* Counts the pictures that differ from the result of libjpeg-turbo. */
static enum gf_status count_different(const struct gf_lab_run *run, const struct sample *sample,
                                      int pictures, int *different)
{
    lab_memory<unsigned char> expected;
    const size_t row = gf_row_bytes(sample->format);
    GF_TRY(expected.poison(run, sample->bytes));
    LAB_TRY(cudaMemcpy2D(expected.data, sample->pitch, pixels_of(sample), row, row,
                         (size_t)sample->format.height, cudaMemcpyHostToDevice));
    *different = 0;
    for (int i = 0; i < pictures; i++) {
        uint64_t bytes;
        GF_TRY(lab_different(run, expected.data, sample->decoded.data + i * sample->bytes,
                             sample->bytes, &bytes));
        *different += bytes != 0;
    }
    return GF_OK;
}

enum { DECODE_STEPS = 6, ENCODE_STEPS = 2 };

static double median_of(std::vector<float> &values)
{
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2.0;
}

struct columns {
    int time, picture, rate;
};

/* Adds the row of a step. `bytes` is the least number of bytes that the step must read and write
 * for the group. */
static void add_row(const struct gf_lab_run *run, const struct columns *columns, const char *name,
                    double ms, int pictures, double bytes)
{
    gf_lab_row(run, NAN, "%s", name);
    gf_lab_value(run, columns->time, ms);
    gf_lab_value(run, columns->picture, 1e3 * ms / pictures);
    gf_lab_value(run, columns->rate, bytes / ms * 1e-6);
}

/* Measures the medians of the decoder's steps, in the order of struct gf_jpeg_decode_steps. */
static enum gf_status time_decoder(const struct gf_lab_run *run, struct gf_jpeg_decoder *decoder,
                                   std::vector<struct gf_jpeg_decode_picture> &pictures,
                                   unsigned subsequence_bits, double ms[DECODE_STEPS])
{
    struct gf_jpeg_decode_steps steps;
    std::vector<float> values[DECODE_STEPS];
    gf_jpeg_decoder_measure(decoder, &steps);
    gf_jpeg_decoder_cut(decoder, subsequence_bits);
    for (int i = -1; i < run->runs; i++) { /* the first run allocates */
        GF_TRY(gf_jpeg_decoder_run(decoder, pictures.data(), (int)pictures.size(), run->error));
        const float all[DECODE_STEPS] = {steps.upload, steps.unstuff, steps.synchronise,
                                         steps.decode, steps.dc,      steps.pixels};
        for (int s = 0; s < DECODE_STEPS && i >= 0; s++)
            values[s].push_back(all[s]);
    }
    for (int s = 0; s < DECODE_STEPS; s++)
        ms[s] = median_of(values[s]);
    return GF_OK;
}

static enum gf_status decode(const struct gf_lab_run *run, struct gf_jpeg_decoder *decoder,
                             const struct sample *sample, const struct columns *columns)
{
    static const char *const names[DECODE_STEPS] = {"upload", "unstuff", "synchronise",
                                                    "decode", "DC sums", "IDCT and colour"};
    static const unsigned lengths[] = {512, 1024, 2048};
    const int count = ((const struct jpeg *)run->params)->pictures;
    std::vector<struct gf_jpeg_decode_picture> pictures(count);
    for (int i = 0; i < count; i++) {
        pictures[i].header = &sample->header;
        pictures[i].data = sample->upload.data;
        pictures[i].size = sample->jpeg.size;
        pictures[i].reduction = 1;
        pictures[i].out = gf_view_make(sample->decoded.data + i * sample->bytes, sample->pitch,
                                       sample->format, {0, sample->format.height});
    }
    const double scan = (double)count * (double)(sample->jpeg.size - sample->header.scan);
    const double blocks = (double)count * ceil(sample->format.width / 16.0) *
                          ceil(sample->format.height / 16.0) * 6; /* for 4:2:0 */
    const double pixels =
        (double)count * (double)gf_row_bytes(sample->format) * sample->format.height;
    const double bytes[DECODE_STEPS] = {scan,           2 * scan,
                                        scan,           scan + blocks * BLOCK_BYTES,
                                        2 * 2 * blocks, blocks * BLOCK_BYTES + pixels};
    double ms[DECODE_STEPS], sum = 0;
    GF_TRY(time_decoder(run, decoder, pictures, 0, ms));
    for (int s = 0; s < DECODE_STEPS; s++) {
        add_row(run, columns, names[s], ms[s], count, bytes[s]);
        sum += s ? ms[s] : 0;
    }
    add_row(run, columns, "decoding, upload not counted", sum, count, scan + pixels);
    for (unsigned length : lengths) {
        char name[GF_LAB_NAME_SIZE];
        GF_TRY(time_decoder(run, decoder, pictures, length, ms));
        snprintf(name, sizeof name, "synchronise, %u bits", length);
        add_row(run, columns, name, ms[2], count, bytes[2]);
        snprintf(name, sizeof name, "decode, %u bits", length);
        add_row(run, columns, name, ms[3], count, bytes[3]);
    }
    int different = 0, left = 0;
    GF_TRY(count_different(run, sample, count, &different));
    for (const struct gf_jpeg_decode_picture &picture : pictures)
        left += !picture.decoded;
    gf_lab_check(run, !different && !left,
                 "the decoder took every picture and made libjpeg-turbo's pixels (%d left, "
                 "%d different)",
                 left, different);
    return GF_OK;
}

static enum gf_status encode(const struct gf_lab_run *run, struct gf_jpeg_encoder *encoder,
                             const struct sample *sample, const struct columns *columns)
{
    const struct jpeg *const params = (const struct jpeg *)run->params;
    const int count = params->pictures;
    struct gf_jpeg_encode_steps steps;
    std::vector<float> kernels, downloads;
    std::vector<struct gf_jpeg_encode_picture> pictures(count);
    for (struct gf_jpeg_encode_picture &picture : pictures) {
        picture.in = gf_view_make(sample->painted.data, sample->pitch, sample->format,
                                  {0, sample->format.height});
        picture.quality = params->quality;
        picture.subsampling = GF_SUBSAMPLING_420;
    }
    gf_jpeg_encoder_measure(encoder, &steps);
    for (int i = -1; i < run->runs; i++) { /* the first run allocates */
        GF_TRY(gf_jpeg_encoder_run(encoder, pictures.data(), count, run->error));
        if (i >= 0) {
            kernels.push_back(steps.encode);
            downloads.push_back(steps.download);
        }
    }
    const size_t size = sample->jpeg.size - sample->header.scan - 2; /* without EOI */
    const double scan = (double)count * (double)size;
    const double pixels =
        (double)count * (double)gf_row_bytes(sample->format) * sample->format.height;
    add_row(run, columns, "encode", median_of(kernels), count, pixels + scan);
    add_row(run, columns, "download", median_of(downloads), count, scan);
    int different = 0;
    for (const struct gf_jpeg_encode_picture &picture : pictures)
        different += !picture.encoded || picture.size != size ||
                     memcmp(picture.scan, sample->jpeg.bytes() + sample->header.scan, size) != 0;
    gf_lab_check(run, !different,
                 "the encoder wrote libjpeg-turbo's bytes for every picture (%d are different)",
                 different);
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    struct sample sample;
    struct gf_jpeg_decoder *decoder = NULL;
    struct gf_jpeg_encoder *encoder = NULL;
    GF_TRY(make_sample(run, (const struct jpeg *)run->params, &sample));
    gf_lab_rows(run, "step");
    struct columns columns;
    columns.time = gf_lab_column(run, "time", "ms", 3);
    columns.picture = gf_lab_column(run, "a picture", "us", 1);
    columns.rate = gf_lab_column(run, "bandwidth", "GB/s", 0);
    gf_lab_note(run, "the JPEG has %.0f kB; encoding is one kernel from pixels to codes",
                1e-3 * (double)sample.jpeg.size);
    enum gf_status status =
        gf_jpeg_decoder_create(run->device.index, MEMORY_MOST, &decoder, run->error);
    if (!status)
        status = decode(run, decoder, &sample, &columns);
    gf_jpeg_decoder_destroy(decoder);
    if (!status)
        status = gf_jpeg_encoder_create(run->device.index, MEMORY_MOST, &encoder, run->error);
    if (!status)
        status = encode(run, encoder, &sample, &columns);
    gf_jpeg_encoder_destroy(encoder);
    return status;
}
#endif

const struct gf_lab gf_lab_jpeg = {
    .name = "jpeg",
    .summary = "JPEG on the GPU: what each step takes, and synchronising by subsequence length",
    .guide = "4, 8.2.2",
    GF_PARAMS(struct jpeg, jpeg_params),
    .run = GF_LAB_RUN(run),
};
