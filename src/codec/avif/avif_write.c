#include "codec/avif/avif_calls.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"

enum { SPEED = 6, SIDE_MAX = 65535 };

static enum gf_status fail(const struct gf_whole_sink *sink, avifResult result,
                           struct gf_error *error)
{
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
        return gf_fail_memory(error);
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: libavif: %s", gf_output_name(sink->output),
                   gf_avif.avifResultToString(result));
}

static avifPixelFormat sampling(const struct gf_whole_sink *sink)
{
    const struct gf_options *const options = &sink->options;
    const enum gf_subsampling subsampling = gf_subsampling_of(options);
    if (gf_colour_channels(sink->format) == 1)
        return AVIF_PIXEL_FORMAT_YUV400;
    return options->lossless || subsampling == GF_SUBSAMPLING_444 ? AVIF_PIXEL_FORMAT_YUV444
           : subsampling == GF_SUBSAMPLING_422                    ? AVIF_PIXEL_FORMAT_YUV422
                                                                  : AVIF_PIXEL_FORMAT_YUV420;
}

/* Describes the picture's colours. Without a profile and colour tags they are sRGB. A lossless file
 * stores RGB itself instead of YCbCr. */
static void describe(const struct gf_whole_sink *sink, avifImage *image)
{
    const bool profile = sink->metadata.icc.size > 0;
    const struct gf_colour_tags *const tags = &sink->metadata.colour;
    image->yuvRange = AVIF_RANGE_FULL;
    image->colorPrimaries = tags->has_cicp ? tags->cicp[0]
                            : profile      ? AVIF_COLOR_PRIMARIES_UNSPECIFIED
                                           : AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics = tags->has_cicp ? tags->cicp[1]
                                     : profile      ? AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED
                                                    : AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    image->matrixCoefficients =
        sink->options.lossless && image->yuvFormat == AVIF_PIXEL_FORMAT_YUV444
            ? AVIF_MATRIX_COEFFICIENTS_IDENTITY
            : AVIF_MATRIX_COEFFICIENTS_BT601;
}

/* States the light levels of HDR (MaxCLL and MaxFALL). libavif before 1.0 has no place for it. */
static void set_light(const struct gf_colour_tags *tags, avifImage *image)
{
#if AVIF_VERSION_MAJOR >= 1
    image->clli.maxCLL = (uint16_t)fmin(gf_colour_tags_light(tags, 0) + 0.5, UINT16_MAX);
    image->clli.maxPALL = (uint16_t)fmin(gf_colour_tags_light(tags, 1) + 0.5, UINT16_MAX);
#else
    (void)tags;
    (void)image;
#endif
}

/* Makes the call, and is its result; some libavif functions return nothing before version 1.0,
 * which counts as success. */
#if AVIF_VERSION_MAJOR >= 1
#define RESULT_OF(call) (call)
#else
#define RESULT_OF(call) ((call), AVIF_RESULT_OK)
#endif

static avifResult set_metadata(const struct gf_whole_sink *sink, avifImage *image)
{
    const struct gf_metadata *const metadata = &sink->metadata;
    avifResult result = AVIF_RESULT_OK;
    if (metadata->icc.size)
        result = RESULT_OF(
            gf_avif.avifImageSetProfileICC(image, metadata->icc.data, metadata->icc.size));
    if (result == AVIF_RESULT_OK && metadata->exif.size)
        result = RESULT_OF(
            gf_avif.avifImageSetMetadataExif(image, metadata->exif.data, metadata->exif.size));
    if (result == AVIF_RESULT_OK && metadata->xmp.size)
        result = RESULT_OF(
            gf_avif.avifImageSetMetadataXMP(image, metadata->xmp.data, metadata->xmp.size));
    set_light(&metadata->colour, image);
    gf_avif_set_orientation(image, metadata->orientation);
    return result;
}

/* Copies a gray picture to the luma plane, since libavif's conversion takes only RGB. */
static avifResult copy_gray(const struct gf_whole_sink *sink, avifImage *image)
{
    const struct gf_format format = sink->format;
    const bool alpha = gf_has_alpha(format);
    const avifResult result = RESULT_OF(
        gf_avif.avifImageAllocatePlanes(image, AVIF_PLANES_YUV | (alpha ? AVIF_PLANES_A : 0)));
    if (result != AVIF_RESULT_OK || !image->yuvPlanes[0] || (alpha && !image->alphaPlane))
        return AVIF_RESULT_OUT_OF_MEMORY;
    const unsigned most = (1u << sink->options.depth) - 1;
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const row = sink->pixels + (size_t)y * gf_row_bytes(format);
        for (int c = 0; c < format.channels; c++) {
            uint8_t *const to = c ? image->alphaPlane + (size_t)y * image->alphaRowBytes
                                  : image->yuvPlanes[0] + (size_t)y * image->yuvRowBytes[0];
            for (int x = 0; x < format.width; x++) {
                const size_t at = (size_t)(x * format.channels + c);
                if (format.bits == 8)
                    to[x] = row[at];
                else
                    ((uint16_t *)(void *)to)[x] =
                        (uint16_t)((((const uint16_t *)(const void *)row)[at] * most + 32767) /
                                   65535);
            }
        }
    }
    return AVIF_RESULT_OK;
}

static avifResult convert(const struct gf_whole_sink *sink, avifImage *image)
{
    const struct gf_format format = sink->format;
    avifRGBImage rgb;
    if (gf_colour_channels(format) == 1)
        return copy_gray(sink, image);
    gf_avif.avifRGBImageSetDefaults(&rgb, image);
    rgb.depth = (uint32_t)format.bits;
    rgb.format = format.channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.rowBytes = (uint32_t)gf_row_bytes(format);
    rgb.pixels = sink->pixels;
    return gf_avif.avifImageRGBToYUV(image, &rgb);
}

/* Sets the encoder's quality. libavif before 1.0 has no scale of qualities and takes quantisers
 * instead. */
static void set_quality(const struct gf_options *options, avifEncoder *encoder)
{
    const int quality = options->lossless ? 100 : options->quality;
#if AVIF_VERSION_MAJOR >= 1
    encoder->quality = encoder->qualityAlpha = quality;
#else
    const int quantizer = ((100 - quality) * AVIF_QUANTIZER_WORST_QUALITY + 50) / 100;
    encoder->minQuantizer = encoder->maxQuantizer = quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = quantizer;
#endif
}

static avifEncoder *make_encoder(const struct gf_whole_sink *sink)
{
    avifEncoder *const encoder = gf_avif.avifEncoderCreate();
    if (!encoder)
        return NULL;
    encoder->maxThreads = gf_library_threads(&sink->options);
    encoder->speed = SPEED;
    set_quality(&sink->options, encoder);
    return encoder;
}

/* Writes the file, unless making it has failed, and frees it. */
static enum gf_status write_file(const struct gf_whole_sink *sink, avifResult result,
                                 avifRWData *file, struct gf_error *error)
{
    const enum gf_status status = result == AVIF_RESULT_OK
                                      ? gf_output_write(sink->output, file->data, file->size, error)
                                      : fail(sink, result, error);
    gf_avif.avifRWDataFree(file);
    return status;
}

static enum gf_status write_image(struct gf_whole_sink *sink, avifImage *image,
                                  struct gf_error *error)
{
    avifRWData file = AVIF_DATA_EMPTY;
    avifEncoder *const encoder = make_encoder(sink);
    GF_ALLOCATED(encoder, error);
    const enum gf_status status =
        write_file(sink, gf_avif.avifEncoderWrite(encoder, image, &file), &file, error);
    gf_avif.avifEncoderDestroy(encoder);
    return status;
}

/* Makes libavif's picture of the pixels. The caller frees it, even after a failure. */
static enum gf_status make_image(const struct gf_whole_sink *sink, avifImage **image,
                                 struct gf_error *error)
{
    const struct gf_format format = sink->format;
    *image = gf_avif.avifImageCreate((uint32_t)format.width, (uint32_t)format.height,
                                     (uint32_t)sink->options.depth, sampling(sink));
    GF_ALLOCATED(*image, error);
    describe(sink, *image);
    avifResult result = set_metadata(sink, *image);
    if (result == AVIF_RESULT_OK)
        result = convert(sink, *image);
    return result == AVIF_RESULT_OK ? GF_OK : fail(sink, result, error);
}

static enum gf_status avif_encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    avifImage *image;
    enum gf_status status = make_image(sink, &image, error);
    free(sink->pixels);
    sink->pixels = NULL;
    GF_THEN(status, write_image(sink, image, error));
    if (image)
        gf_avif.avifImageDestroy(image);
    return status;
}

static enum gf_status begin(struct gf_whole_sink *sink, struct gf_error *error)
{
    avifEncoder *const encoder = make_encoder(sink);
    sink->animation = encoder;
    GF_ALLOCATED(encoder, error);
    encoder->timescale = sink->per_second;
    if (!GF_AVIF_SET_LOOPS(encoder, sink->loops))
        gf_warn(&sink->options,
                "%s: libavif before 1.0 does not write how many times an animation is shown: it "
                "was %u",
                gf_output_name(sink->output), sink->loops);
    /* Measured bytes for each pixel of the frames that the encoder reads ahead. */
    const double ahead_bytes = 300;
    const struct gf_format format = sink->format;
    const double pixels = (double)format.width * format.height;
    return gf_whole_sink_check(sink,
                               gf_avif_sink_memory(format, &sink->options).bytes +
                                   (uint64_t)(ahead_bytes * pixels * format.bits / 8),
                               error);
}

static enum gf_status avif_add(struct gf_whole_sink *sink, struct gf_error *error)
{
    avifImage *image = NULL;
    enum gf_status status = sink->animation ? GF_OK : begin(sink, error);
    GF_THEN(status, make_image(sink, &image, error));
    if (!status) {
        const avifResult result = gf_avif.avifEncoderAddImage(
            sink->animation, image, gf_whole_sink_ticks(sink, sink->per_second),
            AVIF_ADD_IMAGE_FLAG_NONE);
        status = result == AVIF_RESULT_OK ? gf_time_check(error) : fail(sink, result, error);
    }
    if (image)
        gf_avif.avifImageDestroy(image);
    return status;
}

static enum gf_status avif_end(struct gf_whole_sink *sink, struct gf_error *error)
{
    avifRWData file = AVIF_DATA_EMPTY;
    return write_file(sink, gf_avif.avifEncoderFinish(sink->animation, &file), &file, error);
}

static void avif_release(struct gf_whole_sink *sink)
{
    if (sink->animation)
        gf_avif.avifEncoderDestroy(sink->animation);
}

struct gf_codec_memory gf_avif_sink_memory(struct gf_format format,
                                           const struct gf_options *options)
{
    /* Measured bytes for each pixel of drawings and screenshots; photographs take a quarter. For
     * drawings the encoder also keeps tables that grow up to TABLES_MOST. */
    const double library_bytes = 80, table_bytes = 600;
    const uint64_t TABLES_MOST = (uint64_t)56 << 20;
    struct gf_codec_memory memory = gf_whole_sink_memory(format, library_bytes);
    const double tables = table_bytes * format.width * format.height;
    memory.bytes += tables < (double)TABLES_MOST ? (uint64_t)tables : TABLES_MOST;
    memory.bytes += gf_avif_thread_bytes(options);
    return memory;
}

enum gf_status gf_avif_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                 struct gf_error *error)
{
    static const struct gf_whole_encoder encoder = {.name = "AVIF",
                                                    .side_most = SIDE_MAX,
                                                    .encode = avif_encode,
                                                    .add = avif_add,
                                                    .end = avif_end,
                                                    .release = avif_release};
    return gf_whole_sink_open(&encoder, order, order->format, sink, error);
}
