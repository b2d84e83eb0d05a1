/* Fakes of the device's decoders and encoders: libjpeg behind cuda/jpeg/coders.h,
 * the CPU's PNG behind cuda/png/coders.h, the CPU's conversions of YCbCr behind
 * cuda/yuv, the CPU's SSIMULACRA2 behind cuda/measure. For one test program each. */
#pragma once

#include <unistd.h>

#include "codec/perceptual_files.h"
#include "codec/png_pictures.h"
#include "cuda/heic/coders.h"
#include "cuda/jpeg/coders.h"
#include "cuda/measure/coders.h"
#include "cuda/png/coders.h"
#include "cuda/yuv/coders.h"
#include "fake_device.h"
#include "measure/ssim.h"
#include "measure/ssimulacra2.h"
#include "pipeline/pipeline_state.h"

enum { PICTURE_BYTES = 1000 };

static struct {
    pthread_mutex_t lock;
    /* Set by the test. */
    /* Of a failure; GF_OK: none. */
    enum gf_status start, decode_status, encode_status, score_status;
    bool declines, waits, scores_none; /* waits: each group takes a while */
    bool refuses_av1;
    uint64_t lent_bytes; /* 0: no limit */
    unsigned encode_us;  /* that the encoder takes for a group */
    /* Counted by the fakes. */
    int open, decoded, encoded, scored, largest_group, expected;
    int reduction; /* of the last picture */
    bool too_much_memory;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A thread's coder; gf_free() takes what it has handed out, in the last two runs. */
struct coder {
    pthread_t owner;
    uint64_t bytes;
    int turn;
    void *file[2][64];
};

static void add(int *number, int more)
{
    pthread_mutex_lock(&fake.lock);
    *number += more;
    pthread_mutex_unlock(&fake.lock);
}

static struct coder *create(int device, uint64_t memory_most, struct gf_error *error)
{
    assert_int_equal(device, 0);
    if (fake.start && gf_fail(error, fake.start, "fake: does not start"))
        return NULL;
    struct coder *const coder = calloc(1, sizeof *coder);
    assert_non_null(coder);
    coder->owner = pthread_self();
    coder->bytes = memory_most;
    add(&fake.open, 1);
    return coder;
}

static void begin_group(const struct coder *coder, int count)
{
    assert_true(pthread_equal(coder->owner, pthread_self()));
    if (fake.waits)
        usleep(2000);
    pthread_mutex_lock(&fake.lock);
    fake.largest_group = count > fake.largest_group ? count : fake.largest_group;
    fake.too_much_memory |= (uint64_t)count * PICTURE_BYTES > coder->bytes;
    pthread_mutex_unlock(&fake.lock);
}

/* Begins a run, which may keep the files of the last one. Returns the place for its files. */
static void **drop_files(struct coder *coder, bool keeps)
{
    coder->turn ^= keeps;
    void **const file = coder->file[coder->turn];
    for (size_t i = 0; i < sizeof coder->file[0] / sizeof *file; i++) {
        gf_free(file[i]);
        file[i] = NULL;
    }
    return file;
}

static void destroy(struct coder *coder)
{
    if (!coder)
        return;
    assert_true(pthread_equal(coder->owner, pthread_self()));
    add(&fake.open, -1);
    drop_files(coder, true);
    drop_files(coder, true);
    free(coder);
}

static void expect(const struct coder *coder, int pictures)
{
    assert_true(pthread_equal(coder->owner, pthread_self()));
    assert_true(pictures > 0);
    pthread_mutex_lock(&fake.lock);
    fake.expected = pictures > fake.expected ? pictures : fake.expected;
    pthread_mutex_unlock(&fake.lock);
}

/* One of the kinds of coders. */
#define FAKE_CODER(name) \
    struct name { \
        struct coder coder; \
    }; \
    enum gf_status name##_create(int device, uint64_t memory_most, struct name **made, \
                                 struct gf_error *error) \
    { \
        *made = (struct name *)create(device, memory_most, error); \
        return *made ? GF_OK : fake.start; \
    } \
    void name##_destroy(struct name *made) \
    { \
        destroy((struct coder *)made); \
    } \
    void name##_expect(struct name *made, int pictures) \
    { \
        expect(&made->coder, pictures); \
    }

FAKE_CODER(gf_jpeg_decoder)
FAKE_CODER(gf_jpeg_encoder)
FAKE_CODER(gf_png_decoder)
FAKE_CODER(gf_png_encoder)
FAKE_CODER(gf_heic_decoder)
FAKE_CODER(gf_yuv_decoder)
FAKE_CODER(gf_yuv_encoder)

/* ---- JPEG ---- */

uint64_t gf_jpeg_tiles_bytes(const struct gf_jpeg_decode_picture *picture)
{
    return picture->size;
}

uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size, int reduction)
{
    assert_true(header->width > 0 && size && reduction);
    return PICTURE_BYTES;
}

/* Decodes the tiles of a TIFF, which have tables of their own, one by one. */
static void decode_tiles(const struct gf_jpeg_decode_picture *picture)
{
    const struct gf_tiff_coded *const coded = picture->tiles;
    const int width = coded->tile_width, height = coded->tile_height;
    const size_t row = (size_t)width * (size_t)coded->channels;
    unsigned char *const tile = malloc(row * (size_t)height);
    for (int i = 0; i < coded->columns * coded->rows; i++) {
        const int x = i % coded->columns * width, y = i / coded->columns * height;
        const int wide = coded->width - x < width ? coded->width - x : width;
        size_t offset, size;
        assert_true(gf_tiff_coded_tile(coded, picture->data, picture->size, i, &offset, &size));
        const struct jpeg_file file = {(unsigned char *)picture->data + offset, size};
        assert_true(jpeg_decode_reduced(&file, 1, width, height, tile, row));
        for (int k = 0; k < height && y + k < coded->height; k++)
            memcpy(picture->out.data + (size_t)(y + k) * picture->out.pitch +
                       (size_t)(x * coded->channels),
                   tile + (size_t)k * row, (size_t)(wide * coded->channels));
    }
    free(tile);
}

static void decode_picture(const struct gf_jpeg_decode_picture *picture)
{
    if (picture->tiles) {
        decode_tiles(picture);
        return;
    }
    pthread_mutex_lock(&fake.lock);
    fake.reduction = picture->reduction;
    pthread_mutex_unlock(&fake.lock);
    const struct jpeg_file file = {(unsigned char *)picture->data, picture->size};
    const struct gf_view *const out = &picture->out;
    assert_true(jpeg_decode_reduced(&file, picture->reduction, out->format.width, out->rows,
                                    out->data, out->pitch));
}

enum gf_status gf_jpeg_decoder_run(struct gf_jpeg_decoder *decoder,
                                   struct gf_jpeg_decode_picture *pictures, int count,
                                   struct gf_error *error)
{
    begin_group(&decoder->coder, count);
    if (fake.decode_status)
        return gf_fail(error, fake.decode_status, "fake: decoding fails");
    for (int i = 0; i < count; i++) {
        pictures[i].decoded = !fake.declines;
        if (pictures[i].decoded)
            decode_picture(&pictures[i]);
        add(&fake.decoded, pictures[i].decoded);
    }
    return GF_OK;
}

uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling,
                               bool perceptual)
{
    assert_true(format.width > 0 && subsampling <= GF_SUBSAMPLING_444);
    return PICTURE_BYTES;
}

enum gf_status gf_jpeg_encoder_run(struct gf_jpeg_encoder *encoder,
                                   struct gf_jpeg_encode_picture *pictures, int count,
                                   struct gf_error *error)
{
    begin_group(&encoder->coder, count);
    void **const files = drop_files(&encoder->coder, count > 1);
    usleep(fake.encode_us);
    if (fake.encode_status)
        return gf_fail(error, fake.encode_status, "fake: encoding fails");
    for (int i = 0; i < count; i++) {
        struct jpeg_file file = (pictures[i].perceptual ? perceptual_encoded : jpeg_encoded)(
            &pictures[i].in, pictures[i].quality, pictures[i].subsampling);
        if (pictures[i].perceptual)
            pictures[i].size = perceptual_coded(&file);
        files[i] = file.data;
        pictures[i].scan = pictures[i].perceptual ? file.data : jpeg_scan(&file, &pictures[i].size);
        pictures[i].encoded = true;
        add(&fake.encoded, 1);
    }
    return GF_OK;
}

/* ---- PNG ---- */

bool gf_png_encoder_takes(struct gf_format format)
{
    assert_true(format.width > 0);
    return !fake.declines;
}

uint64_t gf_png_encoder_bytes(struct gf_format format)
{
    assert_true(format.width > 0 && format.height > 0);
    return PICTURE_BYTES;
}

enum gf_status gf_png_encoder_run(struct gf_png_encoder *encoder,
                                  struct gf_png_encode_picture *pictures, int count,
                                  struct gf_error *error)
{
    begin_group(&encoder->coder, count);
    void **const files = drop_files(&encoder->coder, false);
    if (fake.encode_status)
        return gf_fail(error, fake.encode_status, "fake: encoding fails");
    for (int i = 0; i < count; i++) {
        const struct gf_view *const in = &pictures[i].in;
        const struct gf_image image = {.format = in->format, .pitch = in->pitch, .data = in->data};
        size_t size;
        files[i] = png_encoded(&image, &size);
        pictures[i].chunks = png_chunks(files[i], size, &pictures[i].size);
        pictures[i].encoded = true;
        if (count == 1 && pictures[i].arrived) { /* in parts, or a part of it */
            const size_t first = pictures[i].size / 3;
            pictures[i].arrived(pictures[i].context, pictures[i].chunks, first);
            if (pictures[i].size % 2)
                pictures[i].arrived(pictures[i].context, pictures[i].chunks + first,
                                    pictures[i].size - first);
        }
        add(&fake.encoded, 1);
    }
    return GF_OK;
}

uint64_t gf_png_decoder_bytes(const struct gf_png_file *header, size_t size)
{
    assert_true(header->stripes > 0 && header->chunk_bytes < size);
    return PICTURE_BYTES;
}

static void read_rows(const struct gf_png_decode_picture *picture)
{
    struct gf_options options = gf_options_default();
    struct gf_input *input;
    struct gf_source *source;
    struct gf_error error = {0};
    const struct gf_view *const out = &picture->out;
    options.threads = 1;
    assert_ok("PNG", gf_input_open_memory(picture->data, picture->size, "memory", &input, &error),
              &error);
    assert_ok("PNG", gf_source_open(input, &options, &source, &error), &error);
    assert_int_equal(source->format.width, out->format.width);
    assert_int_equal(source->format.bits, out->format.bits);
    assert_ok("PNG", source->read(source, out->rows, out->data, out->pitch, &error), &error);
    source->close(source);
    gf_input_close(input);
}

enum gf_status gf_png_decoder_run(struct gf_png_decoder *decoder,
                                  struct gf_png_decode_picture *pictures, int count,
                                  struct gf_error *error)
{
    begin_group(&decoder->coder, count);
    if (fake.decode_status)
        return gf_fail(error, fake.decode_status, "fake: decoding fails");
    for (int i = 0; i < count; i++) {
        pictures[i].decoded = !fake.declines;
        if (pictures[i].decoded)
            read_rows(&pictures[i]);
        add(&fake.decoded, pictures[i].decoded);
    }
    return GF_OK;
}

/* ---- HEIC: each sample becomes the last byte of the last frame ---- */

bool gf_heic_decoder_present(void)
{
    return true;
}

bool gf_heic_decoder_takes_av1(const struct gf_heif_coded *coded)
{
    assert_true(coded->av1);
    return !fake.refuses_av1;
}

uint64_t gf_heic_decoder_bytes(const struct gf_heif_coded *coded)
{
    assert_true(coded->columns > 0);
    return PICTURE_BYTES;
}

enum gf_status gf_heic_decoder_run(struct gf_heic_decoder *decoder,
                                   struct gf_heic_decode_picture *pictures, int count,
                                   struct gf_error *error)
{
    begin_group(&decoder->coder, count);
    if (fake.decode_status)
        return gf_fail(error, fake.decode_status, "fake: decoding fails");
    for (int i = 0; i < count; i++) {
        const struct gf_heif_coded *const coded = pictures[i].coded;
        const struct gf_heif_span last = coded->tile[coded->columns * coded->rows - 1];
        const struct gf_view *const out = &pictures[i].out;
        pictures[i].decoded = !fake.declines;
        for (int y = 0; pictures[i].decoded && y < out->rows; y++)
            memset(gf_view_row(out, y), pictures[i].data[last.offset + last.size - 1],
                   gf_row_bytes(out->format));
        add(&fake.decoded, pictures[i].decoded);
        pictures[i].ended(&pictures[i]);
    }
    return GF_OK;
}

/* ---- frames of YCbCr ---- */

enum gf_status gf_yuv_decoder_run(struct gf_yuv_decoder *decoder,
                                  struct gf_yuv_decode_picture *pictures, int count,
                                  struct gf_error *error)
{
    begin_group(&decoder->coder, count);
    if (fake.decode_status)
        return gf_fail(error, fake.decode_status, "fake: decoding fails");
    for (int i = 0; i < count; i++) {
        const struct gf_view *const out = &pictures[i].out;
        pictures[i].decoded = !fake.declines;
        struct gf_yuv_reader *const reader = gf_yuv_reader_open(pictures[i].yuv);
        assert_non_null(reader);
        for (int y = 0; pictures[i].decoded && y < out->rows; y++)
            gf_yuv_reader_row(reader, pictures[i].data, y, gf_view_row(out, y));
        gf_yuv_reader_close(reader);
        add(&fake.decoded, pictures[i].decoded);
    }
    return GF_OK;
}

enum gf_status gf_yuv_encoder_run(struct gf_yuv_encoder *encoder,
                                  struct gf_yuv_encode_picture *pictures, int count,
                                  struct gf_error *error)
{
    begin_group(&encoder->coder, count);
    void **const files = drop_files(&encoder->coder, false);
    if (fake.encode_status)
        return gf_fail(error, fake.encode_status, "fake: encoding fails");
    for (int i = 0; i < count; i++) {
        const struct gf_view *const in = &pictures[i].in;
        assert_false(gf_has_alpha(in->format));
        struct gf_yuv_writer *const writer =
            gf_yuv_writer_open(pictures[i].yuv, in->format.channels, in->format.bits);
        pictures[i].size = gf_yuv_frame_bytes(pictures[i].yuv);
        unsigned char *const frame = malloc(pictures[i].size);
        assert_true(writer && frame);
        for (int y = 0; y < in->rows; y++)
            gf_yuv_writer_row(writer, gf_view_row(in, y), y, frame);
        gf_yuv_writer_close(writer);
        files[i] = frame;
        pictures[i].frame = frame;
        pictures[i].encoded = true;
        add(&fake.encoded, 1);
    }
    return GF_OK;
}

/* ---- scores: a measurer stays until the program ends, and threads take it in turn ---- */

enum gf_status gf_measurer_create(int device, uint64_t memory_most, struct gf_measurer **made,
                                  struct gf_error *error)
{
    static int one;
    *made = (struct gf_measurer *)&one;
    return GF_OK;
}

void gf_measurer_destroy(struct gf_measurer *measurer)
{
}

void gf_measurer_expect(struct gf_measurer *measurer, int pictures)
{
}

enum gf_status gf_measurer_run(struct gf_measurer *measurer, struct gf_measure_picture *pictures,
                               int count, struct gf_error *error)
{
    add(&fake.scored, 1);
    if (fake.score_status)
        return gf_fail(error, fake.score_status, "fake: scoring fails");
    pictures->measured = !fake.scores_none;
    return pictures->wanted == GF_SCORE_SSIM
               ? gf_ssim(pictures->original, pictures->changed, 1, &pictures->ssim, NULL, error)
               : gf_ssimulacra2(pictures->original, pictures->changed, 1, &pictures->score, error);
}

/* The coders of the fake device. */
static struct gf_device_coders *opened;

static enum gf_status open_coders(struct gf_backend *backend, struct gf_device_coders **coders,
                                  struct gf_error *error)
{
    const enum gf_status status =
        opened ? GF_OK : gf_device_coders_open(0, fake.lent_bytes, &opened, error);
    *coders = opened;
    return status;
}

static void close_coders(void)
{
    gf_device_coders_close(opened, fake.lent_bytes);
    opened = NULL;
    assert_int_equal(fake.open, 0);
    assert_false(fake.too_much_memory);
}

static void reset_fake(void)
{
    fake.start = fake.decode_status = fake.encode_status = fake.score_status = GF_OK;
    fake.declines = fake.waits = fake.scores_none = false;
    fake.lent_bytes = 0;
    fake.encode_us = 0;
    fake.decoded = fake.encoded = fake.largest_group = fake.expected = 0;
}
