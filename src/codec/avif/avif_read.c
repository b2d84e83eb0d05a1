#include <stdlib.h>

#include "base/fail.h"
#include "codec/avif/avif_calls.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/samples.h"
#include "codec/common/whole_source.h"

struct avif_source {
    struct gf_whole_source whole;
    avifDecoder *decoder;
    int page;
};

static void avif_release(struct gf_whole_source *source)
{
    struct avif_source *const avif = (struct avif_source *)source;
    if (avif->decoder)
        gf_avif.avifDecoderDestroy(avif->decoder);
}

static enum gf_status fail(const struct avif_source *avif, avifResult result,
                           struct gf_error *error)
{
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
        return gf_fail_memory(error);
    if (result == AVIF_RESULT_TRUNCATED_DATA)
        return gf_whole_source_fail(&avif->whole, "it is truncated", error);
    return gf_whole_source_fail(&avif->whole, gf_avif.avifResultToString(result), error);
}

/* libavif makes RGB of gray, too; one channel of it is taken back. */
static enum gf_status convert(const struct avif_source *avif, unsigned char *pixels,
                              struct gf_error *error)
{
    const avifImage *const image = avif->decoder->image;
    const struct gf_format format = avif->whole.base.format;
    const bool alpha = gf_has_alpha(format), gray = gf_colour_channels(format) == 1;
    struct gf_format made = format;
    made.channels = 3 + alpha;
    avifRGBImage rgb;
    gf_avif.avifRGBImageSetDefaults(&rgb, image);
    rgb.depth = (uint32_t)format.bits;
    rgb.format = alpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.ignoreAlpha = !alpha;
    rgb.rowBytes = (uint32_t)gf_row_bytes(made);
    rgb.pixels = gray ? malloc(gf_row_bytes(made) * (size_t)made.height) : pixels;
    if (!rgb.pixels)
        return gf_fail_memory(error);
    const avifResult result = gf_avif.avifImageYUVToRGB(image, &rgb);
    if (gray && result == AVIF_RESULT_OK)
        gf_pixels_rgb_to_gray(rgb.pixels, pixels, (size_t)format.width * (size_t)format.height,
                              made.channels, format.bits);
    if (gray)
        free(rgb.pixels);
    return result == AVIF_RESULT_OK ? GF_OK : fail(avif, result, error);
}

static enum gf_status avif_decode(struct gf_whole_source *source, unsigned char *pixels,
                                  struct gf_error *error)
{
    struct avif_source *const avif = (struct avif_source *)source;
    const struct gf_format format = source->base.format;
    const avifResult result = gf_avif.avifDecoderNthImage(avif->decoder, (uint32_t)avif->page);
    if (result != AVIF_RESULT_OK)
        return fail(avif, result, error);
    const avifImage *const image = avif->decoder->image;
    if (image->width != (uint32_t)format.width || image->height != (uint32_t)format.height)
        return gf_whole_source_fail(source, "its picture has another size than its header says",
                                    error);
    return convert(avif, pixels, error);
}

/* ---- the header ---- */

static bool read_metadata(struct avif_source *avif)
{
    const avifImage *const image = avif->decoder->image;
    struct gf_metadata *const metadata = &avif->whole.base.metadata;
    const bool untagged =
        image->colorPrimaries == AVIF_COLOR_PRIMARIES_UNSPECIFIED ||
        image->transferCharacteristics == AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED;
    if ((image->icc.size <= GF_METADATA_MAX &&
         !gf_blob_set(&metadata->icc, image->icc.data, image->icc.size)) ||
        (image->xmp.size <= GF_METADATA_MAX &&
         !gf_blob_set(&metadata->xmp, image->xmp.data, image->xmp.size)) ||
        (image->exif.size && image->exif.size <= GF_METADATA_MAX &&
         !gf_metadata_add_exif(metadata, image->exif.data, image->exif.size)))
        return false;
    if (!metadata->icc.size && !untagged) {
        metadata->colour.has_cicp = true;
        metadata->colour.cicp[0] = (unsigned char)image->colorPrimaries;
        metadata->colour.cicp[1] = (unsigned char)image->transferCharacteristics;
        metadata->colour.cicp[3] = 1;
    }
    /* The transformations count, whatever EXIF says. */
    metadata->orientation = gf_avif_orientation(image);
    if (metadata->orientation == 1)
        gf_exif_set_upright(&metadata->exif);
    return true;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    const double library_bytes = 8; /* of a pixel, measured: planes, frames of the AV1 decoder */
    struct avif_source *const avif = (struct avif_source *)whole;
    avif->decoder = gf_avif.avifDecoderCreate();
    if (!avif->decoder)
        return gf_fail_memory(error);
    avif->decoder->maxThreads = gf_library_threads(&whole->options);
    avif->decoder->strictFlags = AVIF_STRICT_DISABLED;
    avifResult result =
        gf_avif.avifDecoderSetIOMemory(avif->decoder, whole->file.data, whole->file.size);
    if (result == AVIF_RESULT_OK)
        result = gf_avif.avifDecoderParse(avif->decoder);
    if (result != AVIF_RESULT_OK)
        return fail(avif, result, error);
    const avifImage *const image = avif->decoder->image;
    const int colours = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3,
              channels = colours + !!avif->decoder->alphaPresent;
    const int bits = image->depth > 8 ? 16 : 8;
    enum gf_status status = gf_whole_source_describe(whole, image->width, image->height, channels,
                                                     bits, library_bytes * bits / 8, error);
    if (!status)
        status = gf_choose_page(whole->name, whole->page, avif->decoder->imageCount,
                                &whole->options, &avif->page, error);
    if (!status && !read_metadata(avif))
        status = gf_fail_memory(error);
    return status;
}

enum gf_status gf_avif_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error)
{
    static const struct gf_whole_calls own = {sizeof(struct avif_source), read_header, avif_decode,
                                              avif_release};
    return gf_whole_source_open(&own, input, options, source, error);
}
