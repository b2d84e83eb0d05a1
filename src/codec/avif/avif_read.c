#include "codec/avif/avif_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/heif_boxes.h"
#include "codec/common/metadata/heif_coded.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/whole_picture.h"
#include "pixel/yuv/heif_colours.h"
#include "pixel/yuv/yuv.h"

struct gf_avif_calls gf_avif;
struct gf_library gf_avif_library =
    GF_LIBRARY(gf_avif, GF_AVIF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_avif));

#if AVIF_VERSION_MAJOR >= 1
#define MIRROR(image) (image)->imir.axis
#else
#define MIRROR(image) (image)->imir.mode
#endif

/* Returns the EXIF orientation, 1..8, that has the same effect as the picture's rotation and
 * mirroring. */
static int avif_orientation(const avifImage *image)
{
    return gf_heif_turn_orientation((struct gf_heif_turn){
        image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0,
        image->transformFlags & AVIF_TRANSFORM_IMIR ? MIRROR(image) & 1 : GF_NO_MIRROR});
}

void gf_avif_set_orientation(avifImage *image, int orientation)
{
    const struct gf_heif_turn turn = gf_heif_turn_of(orientation);
    image->transformFlags &= ~(avifTransformFlags)(AVIF_TRANSFORM_IROT | AVIF_TRANSFORM_IMIR);
    if (turn.angle) {
        image->transformFlags |= AVIF_TRANSFORM_IROT;
        image->irot.angle = (uint8_t)turn.angle;
    }
    if (turn.mirror != GF_NO_MIRROR) {
        image->transformFlags |= AVIF_TRANSFORM_IMIR;
        MIRROR(image) = (uint8_t)turn.mirror;
    }
}

uint64_t gf_avif_thread_bytes(const struct gf_options *options)
{
    const uint64_t THREAD_BYTES = 384 << 10; /* bytes that one thread takes, measured */
    return (uint64_t)gf_library_threads(options) * THREAD_BYTES;
}

struct avif_source {
    struct gf_whole_source whole;
    avifDecoder *decoder;
    bool cut;                /* the file ends before the data that its header describes */
    int left, top;           /* position of the cropped picture in the stored picture, in pixels */
    struct gf_format stored; /* format of the stored picture after libavif's conversion to RGB */
    struct gf_heif_coded coded;
};

static void avif_release(struct gf_whole_source *source)
{
    struct avif_source *const avif = (struct avif_source *)source;
    if (avif->decoder)
        gf_avif.avifDecoderDestroy(avif->decoder);
}

static bool has_mark(const void *file, const char *mark)
{
    return strcmp(mark, "meta") ? gf_heif_has_track(file, mark) : gf_heif_meta_is_open(file);
}

/* Whether the first 64 KiB of the file name the type of an auxiliary picture, such as that of
 * alpha. */
static bool has_auxiliary(const struct gf_blob *file, const char *type)
{
    enum { BOXES_MOST = 64 << 10 };
    const size_t size = file->size < BOXES_MOST ? file->size : BOXES_MOST;
    return memmem(file->data, size, type, strlen(type) + 1);
}

/* Whether the file really has alpha where libavif reports some: in a film libavif takes any
 * auxiliary track for alpha. */
static bool has_alpha(const struct avif_source *avif)
{
    const struct gf_blob *const file = &avif->whole.file;
    const bool is_film = file->size >= 12 && memcmp(file->data + 8, "avif", 4) != 0;
    const struct gf_blob type = is_film ? gf_heif_auxiliary_track(file) : (struct gf_blob){0};
    return avif->decoder->alphaPresent &&
           (!type.size || !gf_auxiliary_kind((const char *)type.data, type.size));
}

/* Whether an older libavif would decode the file to wrong pixels: it takes the pictures of a grid
 * in the order of their numbers, and does not see alpha that each picture of a grid has. */
static bool is_misread(const void *context, const char *mark)
{
    const struct avif_source *const avif = context;
    const struct gf_blob *const file = &avif->whole.file;
    return !strcmp(mark, "dimg")
               ? gf_heif_grid_is_mixed(file)
               : !strcmp(mark, "grid") && !avif->decoder->alphaPresent &&
                     gf_heif_items(file, mark) && has_auxiliary(file, "auxiliary:alpha");
}

static enum gf_status fail(const struct avif_source *avif, avifResult result,
                           struct gf_error *error)
{
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
        return gf_fail_memory(error);
    if (result == AVIF_RESULT_TRUNCATED_DATA || result == AVIF_RESULT_IO_ERROR)
        return gf_whole_source_fail(&avif->whole, "it is truncated", error);
    GF_TRY(gf_fail_needs(avif->whole.name, "libavif", gf_avif.avifVersion(), has_mark,
                         &avif->whole.file, error));
    return gf_whole_source_fail(&avif->whole, gf_avif.avifResultToString(result), error);
}

/* Copies the cropped area of the decoded picture `made` to `pixels`. A gray picture, which libavif
 * decodes to RGB, becomes one channel again. */
static void take_out(const struct avif_source *avif, const unsigned char *made,
                     unsigned char *pixels)
{
    const struct gf_format format = avif->whole.base.format, stored = avif->stored;
    const size_t row = gf_row_bytes(format), pixel = (size_t)(stored.channels * stored.bits / 8);
    for (int y = 0; y < format.height; y++, pixels += row) {
        const unsigned char *const from =
            made + (size_t)(avif->top + y) * gf_row_bytes(stored) + (size_t)avif->left * pixel;
        if (gf_colour_channels(format) == 1)
            gf_pixels_rgb_to_gray(from, pixels, (size_t)format.width, stored.channels, stored.bits);
        else
            memcpy(pixels, from, row);
    }
}

/* Describes the planes of the decoded picture for our conversion. Returns false if it is libavif's:
 * of colours that are multiplied by alpha, or of other matrices. */
static bool describe_planes(const struct avif_source *avif, struct gf_yuv *yuv)
{
    const avifImage *const image = avif->decoder->image;
    const struct gf_format format = avif->whole.base.format;
    const bool mono = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400;
    *yuv = (struct gf_yuv){.width = (int)image->width,
                           .height = (int)image->height,
                           .bits = (int)image->depth,
                           .mono = mono,
                           .half_width = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420 ||
                                         image->yuvFormat == AVIF_PIXEL_FORMAT_YUV422,
                           .half_height = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420,
                           .full = image->yuvRange == AVIF_RANGE_FULL,
                           .siting = GF_YUV_CENTRE};
    return gf_yuv_matrix_of((int)image->matrixCoefficients, &yuv->matrix) &&
           image->yuvFormat != AVIF_PIXEL_FORMAT_NONE &&
           (image->depth > 8) == (format.bits == 16) && mono == (gf_colour_channels(format) == 1) &&
           image->yuvPlanes[0] && (mono || (image->yuvPlanes[1] && image->yuvPlanes[2])) &&
           (!gf_has_alpha(format) || (image->alphaPlane && !image->alphaPremultiplied));
}

/* Puts pixels of the colours in `from` and of `alpha`, whose samples are 0..most. */
static void join(const unsigned char *from, const unsigned char *alpha, unsigned most,
                 struct gf_format format, unsigned char *to)
{
    const size_t bytes = (size_t)format.bits / 8,
                 colours = (size_t)gf_colour_channels(format) * bytes;
    for (int x = 0; x < format.width; x++, from += colours, alpha += bytes, to += colours + bytes) {
        uint16_t wide;
        memcpy(to, from, colours);
        to[colours] = *alpha;
        if (bytes == 1)
            continue;
        memcpy(&wide, alpha, bytes);
        wide = (uint16_t)gf_heif_widened(wide < most ? wide : most, most);
        memcpy(to + colours, &wide, bytes);
    }
}

/* Converts the cropped area of the decoded planes to `pixels`. */
static enum gf_status convert_planes(const struct avif_source *avif, const struct gf_yuv *yuv,
                                     unsigned char *pixels, struct gf_error *error)
{
    const avifImage *const image = avif->decoder->image;
    const struct gf_format format = avif->whole.base.format;
    const size_t row = gf_row_bytes(format), bytes = (size_t)format.bits / 8,
                 pixel = (size_t)gf_colour_channels(format) * bytes;
    const struct gf_yuv_frame frame = {
        {image->yuvPlanes[0], image->yuvPlanes[1], image->yuvPlanes[2]},
        {image->yuvRowBytes[0], image->yuvRowBytes[1], image->yuvRowBytes[2]}};
    struct gf_yuv_reader *const reader = gf_yuv_reader_open(yuv);
    unsigned char *const line = malloc((size_t)yuv->width * pixel);
    for (int y = avif->top; reader && line && y < avif->top + format.height; y++, pixels += row) {
        const unsigned char *const from = line + (size_t)avif->left * pixel;
        gf_yuv_reader_planes_row(reader, &frame, y, line);
        if (gf_has_alpha(format))
            join(from,
                 image->alphaPlane + (size_t)y * image->alphaRowBytes + (size_t)avif->left * bytes,
                 (1U << image->depth) - 1, format, pixels);
        else
            memcpy(pixels, from, row);
    }
    gf_yuv_reader_close(reader);
    free(line);
    return reader && line ? GF_OK : gf_fail_memory(error);
}

static enum gf_status convert(const struct avif_source *avif, unsigned char *pixels,
                              struct gf_error *error)
{
    struct gf_yuv yuv;
    if (describe_planes(avif, &yuv))
        return convert_planes(avif, &yuv, pixels, error);
    avifImage *const image = avif->decoder->image;
    uint8_t *const alpha = image->alphaPlane;
    const struct gf_format stored = avif->stored;
    const size_t bytes = gf_row_bytes(stored) * (size_t)stored.height;
    const bool as_is =
        bytes == gf_row_bytes(avif->whole.base.format) * (size_t)avif->whole.base.format.height;
    avifRGBImage rgb;
    gf_avif.avifRGBImageSetDefaults(&rgb, image);
    rgb.depth = (uint32_t)stored.bits;
    rgb.format = gf_has_alpha(stored) ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.ignoreAlpha = !gf_has_alpha(stored);
    rgb.rowBytes = (uint32_t)gf_row_bytes(stored);
    rgb.pixels = as_is ? pixels : malloc(bytes);
    GF_ALLOCATED(rgb.pixels, error);
    /* libavif multiplies the pixels by alpha whenever the picture has a plane of it, even if it is
     * told to ignore alpha. Without a plane it cannot. */
    image->alphaPlane = gf_has_alpha(stored) ? alpha : NULL;
    const avifResult result = gf_avif.avifImageYUVToRGB(image, &rgb);
    image->alphaPlane = alpha;
    if (!as_is && result == AVIF_RESULT_OK)
        take_out(avif, rgb.pixels, pixels);
    if (!as_is)
        free(rgb.pixels);
    return result == AVIF_RESULT_OK ? GF_OK : fail(avif, result, error);
}

static void set_duration(struct avif_source *avif)
{
    const avifImageTiming *const timing = &avif->decoder->imageTiming;
    if (avif->decoder->imageCount > 1)
        avif->whole.base.duration = gf_duration_of(timing->durationInTimescales, timing->timescale);
}

static enum gf_status avif_decode(struct gf_whole_source *source, unsigned char *pixels,
                                  struct gf_error *error)
{
    struct avif_source *const avif = (struct avif_source *)source;
    const struct gf_format stored = avif->stored;
    const avifResult result = gf_avif.avifDecoderNthImage(avif->decoder, (uint32_t)source->frame);
    if (result != AVIF_RESULT_OK && avif->cut && gf_end_frames(source, "it is truncated"))
        return GF_OK;
    if (result != AVIF_RESULT_OK)
        return fail(avif, result, error);
    const avifImage *const image = avif->decoder->image;
    if (image->width != (uint32_t)stored.width || image->height != (uint32_t)stored.height)
        return gf_whole_source_fail(source, "its picture has another size than its header says",
                                    error);
    const enum gf_status status = convert(avif, pixels, error);
    set_duration(avif);
    if (!status && avif->cut && source->frame >= source->last)
        gf_warn_behind(source->name, source->frame + 1, "it is truncated", &source->options);
    return status;
}

static bool read_metadata(struct avif_source *avif)
{
    const avifImage *const image = avif->decoder->image;
    struct gf_metadata *const metadata = &avif->whole.base.metadata;
    if ((image->icc.size <= GF_METADATA_MAX &&
         !gf_blob_set(&metadata->icc, image->icc.data, image->icc.size)) ||
        (image->xmp.size <= GF_METADATA_MAX &&
         !gf_blob_set(&metadata->xmp, image->xmp.data, image->xmp.size)) ||
        (image->exif.size && image->exif.size <= GF_METADATA_MAX &&
         !gf_metadata_add_exif(metadata, image->exif.data, image->exif.size)))
        return false;
    if (!metadata->icc.size)
        gf_colour_tags_set_cicp(&metadata->colour, image->colorPrimaries,
                                image->transferCharacteristics);
    /* The rotation and mirroring of the picture are valid, even where EXIF states another
     * orientation. */
    metadata->orientation = avif_orientation(image);
    gf_metadata_note_heif(metadata, &avif->whole.file);
    metadata->loops = GF_AVIF_LOOPS(avif->decoder);
    return true;
}

/* Computes where the crop of one dimension begins and how long it is, in pixels. `size` is the
 * crop's length, and `distance` is the distance from the picture's centre to the crop's; both are
 * fractions (ISO/IEC 14496-12, 12.1.4). Returns false if the crop is not inside the picture. */
static bool crop_of(int length, const uint32_t size[2], const uint32_t distance[2], int *begin,
                    int *cropped)
{
    const int64_t whole = size[1] ? size[0] / size[1] : 0;
    if (!whole || whole > length || !distance[1])
        return false;
    const int64_t below = 2 * (int64_t)distance[1],
                  above = (length - whole) * distance[1] + 2 * (int64_t)(int32_t)distance[0];
    if (above < 0 || above / below + whole > length)
        return false;
    *begin = (int)(above / below);
    *cropped = (int)whole;
    return true;
}

/* Applies the crop (the box "clap"), which precedes the transformations. */
static enum gf_status apply_crop(struct avif_source *avif, struct gf_error *error)
{
    const avifImage *const image = avif->decoder->image;
    const avifCleanApertureBox *const clap = &image->clap;
    struct gf_format *const format = &avif->whole.base.format;
    avif->stored = *format;
    avif->stored.channels = 3 + gf_has_alpha(*format);
    if (!(image->transformFlags & AVIF_TRANSFORM_CLAP) ||
        (crop_of(format->width, (uint32_t[]){clap->widthN, clap->widthD},
                 (uint32_t[]){clap->horizOffN, clap->horizOffD}, &avif->left, &format->width) &&
         crop_of(format->height, (uint32_t[]){clap->heightN, clap->heightD},
                 (uint32_t[]){clap->vertOffN, clap->vertOffD}, &avif->top, &format->height)))
        return GF_OK;
    return gf_whole_source_fail(&avif->whole, "its crop (clap) is not within the picture", error);
}

/* Notes the shape of the pixels if they are not square, and warns if the pixels cannot be read as
 * the file means them. */
static void note_pixels(struct avif_source *avif)
{
    const avifImage *const image = avif->decoder->image;
    if (image->transformFlags & AVIF_TRANSFORM_PASP)
        gf_metadata_set_ratio(&avif->whole.base.metadata, image->pasp.vSpacing,
                              image->pasp.hSpacing);
    if (gf_heif_items(&avif->whole.file, "sato"))
        gf_warn(&avif->whole.options,
                "%s: its finest samples are computed from two pictures (sato), which is not done: "
                "the picture of %d bits is taken",
                avif->whole.name, (int)image->depth);
}

/* Parses the file, which may lack at most `missing` bytes at its end. libavif refuses a file that
 * lacks more, before it allocates memory for the missing bytes. */
static avifResult parse(struct avif_source *avif, uint64_t missing)
{
    const struct gf_whole_source *const whole = &avif->whole;
    avif_release(&avif->whole);
    avif->decoder = gf_avif.avifDecoderCreate();
    if (!avif->decoder)
        return AVIF_RESULT_OUT_OF_MEMORY;
    avif->decoder->maxThreads = gf_library_threads(&whole->options);
    avif->decoder->strictFlags = AVIF_STRICT_DISABLED;
    const avifResult result =
        gf_avif.avifDecoderSetIOMemory(avif->decoder, whole->file.data, whole->file.size);
    if (result != AVIF_RESULT_OK)
        return result;
    avif->decoder->io->sizeHint += missing;
    return gf_avif.avifDecoderParse(avif->decoder);
}

/* Returns how many bytes libavif takes for each pixel of 8-bit samples, as measured: for the planes
 * and the frames of the AV1 decoder, which keeps 8 frames of a sequence, and for the RGB picture if
 * it is cropped afterwards. */
static double library_bytes(const avifDecoder *decoder, bool alpha)
{
    const double gray_bytes = 4.2, colour_bytes = 3.2, alpha_bytes = 4.5, crop_bytes = 4,
                 sequence_frames = 12;
    const avifImage *const image = decoder->image;
    const avifPixelFormat format = image->yuvFormat;
    const double planes = (format == AVIF_PIXEL_FORMAT_YUV400   ? 1
                           : format == AVIF_PIXEL_FORMAT_YUV420 ? 1.5
                           : format == AVIF_PIXEL_FORMAT_YUV422 ? 2
                                                                : 3) +
                          alpha;
    return (decoder->imageCount > 1              ? sequence_frames * planes
            : alpha                              ? alpha_bytes
            : format == AVIF_PIXEL_FORMAT_YUV400 ? gray_bytes
                                                 : colour_bytes) +
           (image->transformFlags & AVIF_TRANSFORM_CLAP ? crop_bytes : 0);
}

/* Describes the picture for a GPU's decoder, if it has nothing unusual and libavif understands it
 * the same way. */
static void describe_coded(struct avif_source *avif)
{
    const avifImage *const image = avif->decoder->image;
    struct gf_source *const base = &avif->whole.base;
    const struct gf_blob *const file = &avif->whole.file;
    struct gf_heif_coded *const coded = &avif->coded;
    if (avif->cut || avif->decoder->alphaPresent || avif->decoder->imageCount != 1 ||
        gf_heif_find_box(*file, "moov").size || gf_heif_items(file, "sato") ||
        !gf_heif_coded_read(file, gf_heif_main_item(file), coded) || !coded->av1)
        return;
    coded->orientation = 1;                             /* the rows are as the file stores them */
    coded->matrix = (int32_t)image->matrixCoefficients; /* also where the box colr is missing */
    coded->full = image->yuvRange == AVIF_RANGE_FULL;
    const struct gf_format described = gf_heif_coded_format(coded);
    base->for_device_codec = !memcmp(&described, &base->format, sizeof described) &&
                             coded->left == avif->left && coded->top == avif->top &&
                             coded->bits == (int)image->depth && gf_heif_coded_suits_device(coded);
    base->coded = base->for_device_codec ? coded : NULL;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    const uint64_t missing_most = 64 << 20;
    struct avif_source *const avif = (struct avif_source *)whole;
    avifResult result = parse(avif, 0);
    if (result != AVIF_RESULT_OK && result != AVIF_RESULT_OUT_OF_MEMORY && errno != ENOMEM) {
        avif->cut = parse(avif, missing_most) == AVIF_RESULT_OK;
        result = avif->cut ? AVIF_RESULT_OK : result;
    }
    if (result != AVIF_RESULT_OK)
        return fail(avif, result, error);
    const avifImage *const image = avif->decoder->image;
    GF_TRY(gf_fail_needs(whole->name, "libavif", gf_avif.avifVersion(), is_misread, avif, error));
    const bool alpha = has_alpha(avif);
    const int colours = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3,
              channels = colours + alpha;
    const int bits = image->depth > 8 ? 16 : 8;
    enum gf_status status =
        gf_whole_source_describe(whole, image->width, image->height, channels, bits,
                                 library_bytes(avif->decoder, alpha) * bits / 8, error);
    whole->base.memory.bytes += gf_avif_thread_bytes(&whole->options);
    whole->base.stored = (struct gf_stored){
        .pages = avif->decoder->imageCount,
        .seconds = avif->decoder->imageCount > 1 ? avif->decoder->duration : 0,
        .bits = (int)image->depth,
        .is_lossless = image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_IDENTITY,
        .colour = colours == 1 ? GF_STORED_PLAIN : GF_STORED_YCBCR};
    GF_THEN(status, apply_crop(avif, error));
    GF_THEN(status, gf_choose_frames(whole, avif->decoder->imageCount, error));
    GF_THEN(status, read_metadata(avif) ? GF_OK : gf_fail_memory(error));
    if (!status) {
        note_pixels(avif);
        describe_coded(avif);
    }
    return status;
}

GF_WHOLE_SOURCE(gf_avif_source_open, .size = sizeof(struct avif_source), .read_header = read_header,
                .decode = avif_decode, .release = avif_release)
