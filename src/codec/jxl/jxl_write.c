#include "codec/jxl/jxl_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/colour/colour.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"
#include "icc/icc.h"
#include "pixel/float_rows.h"

enum { OUTPUT_BYTES = 1 << 18, SIDE_MAX = 1 << 24 };
enum { PQ_NITS = 10000, HLG_NITS = 1000 }; /* brightness of the largest sample, in cd/m2 */

struct coder {
    JxlEncoder *encoder;
    void *runner;
};

static enum gf_status fail(const struct gf_whole_sink *sink, const char *what,
                           struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: libjxl: %s", gf_output_name(sink->output), what);
}

/* Returns libjxl's "distance": the difference from the picture in steps that an eye just notices.
 * The mapping from a quality on JPEG's scale is that of cjxl 0.7, except that 100 is not lossless
 * here. */
static float distance_of(int quality)
{
    const float q = (float)quality;
    return quality >= 30 ? 0.1f + (100 - q) * 0.09f : 6.4f + (30 - q) * (30 - q) * 0.0103f;
}

/* Returns the luminance of the largest sample for libjxl, in cd/m2: for PQ that of the brightest
 * pixel, if known; for HLG a constant, which determines how light becomes samples. */
static float intensity_of(const struct gf_colour_tags *tags)
{
    const double most = gf_colour_tags_light(tags, 0);
    if (tags->cicp[1] != JXL_TRANSFER_FUNCTION_PQ)
        return HLG_NITS;
    return most > 0 && most < PQ_NITS ? (float)most : PQ_NITS;
}

/* Returns the bits of the exponent of a format's floats; 0 for integers. */
static uint32_t exponent_bits(struct gf_format format)
{
    return !gf_is_float(format) ? 0 : format.bits == 16 ? 5 : 8;
}

static bool set_header(const struct gf_whole_sink *sink, JxlEncoder *encoder)
{
    const struct gf_format format = sink->format;
    JxlBasicInfo info;
    gf_jxl.JxlEncoderInitBasicInfo(&info);
    info.xsize = (uint32_t)format.width;
    info.ysize = (uint32_t)format.height;
    const uint32_t bits = (uint32_t)(gf_is_float(format) ? format.bits : sink->options.depth);
    info.bits_per_sample = bits;
    info.exponent_bits_per_sample = exponent_bits(format);
    info.num_color_channels = (uint32_t)gf_colour_channels(format);
    info.uses_original_profile = sink->options.lossless;
    info.orientation = (JxlOrientation)sink->metadata.orientation;
    if (sink->animated) {
        info.have_animation = JXL_TRUE;
        info.animation.tps_numerator = sink->per_second;
        info.animation.tps_denominator = 1;
        info.animation.num_loops = sink->loops;
    }
    if (sink->metadata.colour.has_cicp && gf_curve_is_hdr(sink->metadata.colour.cicp[1]))
        info.intensity_target = intensity_of(&sink->metadata.colour);
    if (gf_has_alpha(format)) {
        info.num_extra_channels = 1;
        info.alpha_bits = bits;
        info.alpha_exponent_bits = exponent_bits(format);
    }
    if (gf_jxl.JxlEncoderSetBasicInfo(encoder, &info) != JXL_ENC_SUCCESS)
        return false;
    const int level = gf_jxl.JxlEncoderGetRequiredCodestreamLevel(encoder);
    return level <= 5 || gf_jxl.JxlEncoderSetCodestreamLevel(encoder, level) == JXL_ENC_SUCCESS;
}

/* Sets linear light of these primaries. Returns false if libjxl does not take them. */
static bool set_linear(const struct gf_icc_space *space, bool gray, JxlEncoder *encoder)
{
    JxlColorEncoding colour;
    gf_jxl.JxlColorEncodingSetToSRGB(&colour, gray);
    colour.transfer_function = JXL_TRANSFER_FUNCTION_LINEAR;
    colour.white_point = JXL_WHITE_POINT_CUSTOM;
    colour.primaries = JXL_PRIMARIES_CUSTOM;
    for (int i = 0; i < 2; i++) {
        colour.white_point_xy[i] = space->white[i];
        colour.primaries_red_xy[i] = space->red[i];
        colour.primaries_green_xy[i] = space->green[i];
        colour.primaries_blue_xy[i] = space->blue[i];
    }
    return gf_jxl.JxlEncoderSetColorEncoding(encoder, &colour) == JXL_ENC_SUCCESS;
}

static bool set_colours(const struct gf_whole_sink *sink, JxlEncoder *encoder)
{
    const struct gf_blob *const icc = &sink->metadata.icc;
    const struct gf_colour_tags *const tags = &sink->metadata.colour;
    const bool gray = gf_colour_channels(sink->format) == 1;
    struct gf_icc_space space = gf_icc_srgb;
    JxlColorEncoding colour;
    struct gf_metadata stated = sink->metadata; /* a copy whose blobs are the sink's */
    if (tags->has_cicp || tags->has_gamma)
        stated.icc.size = 0; /* that was made from the tags */
    /* libjxl decodes a lossy file to linear light only if numbers, and no profile, say so. */
    if (gf_is_float(sink->format) && gf_metadata_find_linear(&stated, &space) &&
        set_linear(&space, gray, encoder))
        return true;
    if (icc->size &&
        gf_jxl.JxlEncoderSetICCProfile(encoder, icc->data, icc->size) == JXL_ENC_SUCCESS)
        return true;
    if (icc->size)
        gf_warn(&sink->options,
                "%s: libjxl does not take the colour profile: it is left out, and the colours "
                "count as sRGB",
                gf_output_name(sink->output));
    gf_jxl.JxlColorEncodingSetToSRGB(&colour, gray);
    if (tags->has_cicp)
        colour.transfer_function = (JxlTransferFunction)tags->cicp[1];
    if (tags->has_cicp && !gray) {
        const bool p3 = tags->cicp[0] >= JXL_PRIMARIES_P3; /* 11 is P3; 12 is P3 with the white
                                                            * D65 */
        if (tags->cicp[0] == JXL_PRIMARIES_P3)
            colour.white_point = JXL_WHITE_POINT_DCI;
        colour.primaries = p3 ? JXL_PRIMARIES_P3 : (JxlPrimaries)tags->cicp[0];
    }
    return gf_jxl.JxlEncoderSetColorEncoding(encoder, &colour) == JXL_ENC_SUCCESS;
}

/* Adds the boxes of metadata. In the box of EXIF an offset of 0 precedes the TIFF structure. */
static bool add_boxes(const struct gf_whole_sink *sink, JxlEncoder *encoder)
{
    const struct gf_blob *const exif = &sink->metadata.exif, *const xmp = &sink->metadata.xmp;
    bool done = true;
    if (exif->size) {
        unsigned char *const box = calloc(1, exif->size + 4);
        if (box)
            memcpy(box + 4, exif->data, exif->size);
        done = box && gf_jxl.JxlEncoderAddBox(encoder, "Exif", box, exif->size + 4, JXL_FALSE) ==
                          JXL_ENC_SUCCESS;
        free(box);
    }
    return done && (!xmp->size || gf_jxl.JxlEncoderAddBox(encoder, "xml ", xmp->data, xmp->size,
                                                          JXL_FALSE) == JXL_ENC_SUCCESS);
}

/* Adds the picture; `ticks` is the duration of a frame in the animation's units of time. */
static bool add_picture(const struct gf_whole_sink *sink, JxlEncoder *encoder, uint32_t ticks)
{
    const struct gf_format format = sink->format;
    JxlFrameHeader header;
    gf_jxl.JxlEncoderInitFrameHeader(&header);
    header.duration = ticks;
    const JxlPixelFormat pixel = gf_jxl_samples(format, format.channels);
    JxlEncoderFrameSettings *const settings = gf_jxl.JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (!settings)
        return false;
    const JxlEncoderStatus set =
        sink->options.lossless
            ? gf_jxl.JxlEncoderSetFrameLossless(settings, JXL_TRUE)
            : gf_jxl.JxlEncoderSetFrameDistance(settings, distance_of(sink->options.quality));
    return set == JXL_ENC_SUCCESS &&
           (!sink->animated ||
            gf_jxl.JxlEncoderSetFrameHeader(settings, &header) == JXL_ENC_SUCCESS) &&
           gf_jxl.JxlEncoderAddImageFrame(settings, &pixel, sink->pixels,
                                          gf_row_bytes(format) * (size_t)format.height) ==
               JXL_ENC_SUCCESS;
}

static enum gf_status write_out(const struct gf_whole_sink *sink, JxlEncoder *encoder,
                                struct gf_error *error)
{
    unsigned char *const bytes = malloc(OUTPUT_BYTES);
    JxlEncoderStatus result = JXL_ENC_NEED_MORE_OUTPUT;
    enum gf_status status = bytes ? GF_OK : gf_fail_memory(error);
    while (!status && result == JXL_ENC_NEED_MORE_OUTPUT) {
        unsigned char *next = bytes;
        size_t left = OUTPUT_BYTES;
        result = gf_jxl.JxlEncoderProcessOutput(encoder, &next, &left);
        if (result == JXL_ENC_ERROR)
            status = fail(sink, "the picture cannot be encoded", error);
        else
            status = gf_output_write(sink->output, bytes, (size_t)(next - bytes), error);
    }
    free(bytes);
    return status;
}

static enum gf_status begin(const struct gf_whole_sink *sink, const struct coder *coder,
                            struct gf_error *error)
{
    const struct gf_metadata *const metadata = &sink->metadata;
    JxlEncoder *const encoder = coder->encoder;
    GF_ALLOCATED(encoder && coder->runner, error);
    if (gf_jxl.JxlEncoderSetParallelRunner(encoder, gf_jxl.JxlThreadParallelRunner,
                                           coder->runner) != JXL_ENC_SUCCESS ||
        ((metadata->exif.size || metadata->xmp.size) &&
         gf_jxl.JxlEncoderUseBoxes(encoder) != JXL_ENC_SUCCESS) ||
        !set_header(sink, encoder))
        return fail(sink, "it does not take such a picture", error);
    if (!set_colours(sink, encoder))
        return fail(sink, "it does not take sRGB colours", error);
    return add_boxes(sink, encoder) ? GF_OK : fail(sink, "the picture cannot be encoded", error);
}

static struct coder create(const struct gf_whole_sink *sink)
{
    return (struct coder){
        gf_jxl.JxlEncoderCreate(NULL),
        gf_jxl.JxlThreadParallelRunnerCreate(NULL, (size_t)gf_library_threads(&sink->options))};
}

static void destroy(const struct coder *coder)
{
    gf_jxl.JxlEncoderDestroy(coder->encoder);
    gf_jxl.JxlThreadParallelRunnerDestroy(coder->runner);
}

static enum gf_status end(const struct gf_whole_sink *sink, const struct coder *coder,
                          struct gf_error *error)
{
    gf_jxl.JxlEncoderCloseInput(coder->encoder);
    return write_out(sink, coder->encoder, error);
}

/* Fails if floats would end the process: lossy coding by libjxl 0.7 does not survive NaN,
 * infinities and numbers from 1e10 on. */
static enum gf_status check_floats(const struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    size_t beyond = 0;
    if (!gf_is_float(format) || sink->options.lossless)
        return GF_OK;
    float *const row = malloc(samples * sizeof *row);
    GF_ALLOCATED(row, error);
    for (size_t y = 0; y < (size_t)format.height; y++) {
        gf_floats_of_row(sink->pixels + y * gf_row_bytes(format), format, samples, row);
        for (size_t i = 0; i < samples; i++)
            beyond += !(fabsf(row[i]) <= 1e6f);
    }
    free(row);
    return beyond ? gf_fail(error, GF_ERROR_UNFIT,
                            "%s: %zu samples are NaN or beyond 1e6: not for a lossy JPEG XL "
                            "(options.lossless)",
                            gf_output_name(sink->output), beyond)
                  : GF_OK;
}

static enum gf_status jxl_encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    GF_TRY(check_floats(sink, error));
    const struct coder coder = create(sink);
    enum gf_status status = begin(sink, &coder, error);
    if (!status && !add_picture(sink, coder.encoder, 0))
        status = fail(sink, "the picture cannot be encoded", error);
    GF_THEN(status, end(sink, &coder, error));
    destroy(&coder);
    return status;
}

/* Returns the duration of the added frame in the animation's units, at least 1, since 0 would make
 * it a layer of the next frame. A GIF's frame without a delay gets 0.1 s, as in browsers. */
static uint32_t ticks_of(struct gf_whole_sink *sink)
{
    const struct gf_duration *const duration = sink->base.duration;
    const uint32_t ticks = gf_whole_sink_ticks(sink, sink->per_second);
    return ticks ? ticks : duration && duration->count ? 1 : sink->per_second / 10;
}

/* Adds a frame. libjxl must know which frame is the last, so that a frame is only encoded when the
 * next one comes or the file ends. */
static enum gf_status jxl_add(struct gf_whole_sink *sink, struct gf_error *error)
{
    struct coder *coder = sink->animation;
    enum gf_status status = GF_OK;
    if (coder) {
        status = write_out(sink, coder->encoder, error);
    } else {
        sink->animation = coder = malloc(sizeof *coder);
        GF_ALLOCATED(coder, error);
        *coder = create(sink);
        status = begin(sink, coder, error);
    }
    if (!status && !add_picture(sink, coder->encoder, ticks_of(sink)))
        status = fail(sink, "a frame cannot be encoded", error);
    return status;
}

static enum gf_status jxl_end(struct gf_whole_sink *sink, struct gf_error *error)
{
    return end(sink, sink->animation, error);
}

static void jxl_release(struct gf_whole_sink *sink)
{
    if (sink->animation)
        destroy(sink->animation);
    free(sink->animation);
}

struct gf_codec_memory gf_jxl_sink_memory(struct gf_format format, const struct gf_options *options)
{
    /* Measured bytes for each pixel; libjxl uses floats. Lossless coding takes 30 for each channel.
     * Drawings and screenshots take the most, since the encoder keeps lists of repeated parts,
     * above all in gray; photographs take half of that, and in gray a third. */
    const double gray_bytes = 163, colour_bytes = 92, alpha_bytes = 10;
    double bytes = (gf_colour_channels(format) == 1 ? gray_bytes : colour_bytes) +
                   (gf_has_alpha(format) ? alpha_bytes : 0);
    if (options->lossless && gf_colour_channels(format) > 1)
        bytes = (format.bits == 8 ? 15 : 30) + 30 * format.channels;
    struct gf_codec_memory memory = gf_whole_sink_memory(format, bytes);
    /* Planes of floats for each thread, measured with libjxl 0.11. */
    const int planes = options->lossless ? 0 : 8;
    memory.bytes +=
        gf_jxl_thread_bytes((uint64_t)format.width, (uint64_t)format.height, planes, options);
    return memory;
}

enum gf_status gf_jxl_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    static const struct gf_whole_encoder encoder = {.name = "JPEG XL",
                                                    .side_most = SIDE_MAX,
                                                    .encode = jxl_encode,
                                                    .add = jxl_add,
                                                    .end = jxl_end,
                                                    .release = jxl_release};
    return gf_whole_sink_open(&encoder, order, order->format, sink, error);
}
