#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/cmyk.h"
#include "codec/common/opening.h"
#include "codec/common/whole_source.h"
#include "codec/jxl/jxl_header.h"

struct jxl_source {
    struct gf_whole_source whole;
    struct gf_jxl_header header;
    const char *damage;  /* the damage that ended the walk over the file; NULL: none */
    JxlDecoder *decoder; /* NULL before the first frame */
    void *runner;
    struct gf_cmyk inks;  /* if the header has black ink */
    unsigned char *black; /* its samples */
};

static JxlPixelFormat samples_of(struct gf_format format, int channels)
{
    return (JxlPixelFormat){.num_channels = (uint32_t)channels,
                            .data_type = format.bits == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                            .endianness = JXL_NATIVE_ENDIAN};
}

static size_t black_bytes(struct gf_format format)
{
    return (size_t)format.width * (size_t)format.height * (size_t)(format.bits / 8);
}

static void jxl_release(struct gf_whole_source *source)
{
    struct jxl_source *const jxl = (struct jxl_source *)source;
    gf_jxl.JxlDecoderDestroy(jxl->decoder);
    gf_jxl.JxlThreadParallelRunnerDestroy(jxl->runner);
    gf_cmyk_close(&jxl->inks);
    free(jxl->black);
}

static void set_duration(struct jxl_source *jxl)
{
    const JxlAnimationHeader *const animation = &jxl->header.info.animation;
    JxlFrameHeader frame;
    if (jxl->header.info.have_animation &&
        gf_jxl.JxlDecoderGetFrameHeader(jxl->decoder, &frame) == JXL_DEC_SUCCESS)
        jxl->whole.base.duration = gf_duration_of(
            (uint64_t)frame.duration * animation->tps_denominator, animation->tps_numerator);
}

/* Decodes the next picture. Returns NULL, or a text that describes the damage. */
static const char *decode(struct jxl_source *jxl, unsigned char *pixels)
{
    JxlDecoder *const decoder = jxl->decoder;
    const struct gf_format format = jxl->whole.base.format;
    const size_t bytes = gf_row_bytes(format) * (size_t)format.height;
    const JxlPixelFormat pixel = samples_of(format, format.channels), ink = samples_of(format, 1);
    size_t needed;
    for (;;) {
        switch (gf_jxl.JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_COLOR_ENCODING:
            gf_jxl_prefer_own_colours(decoder, &jxl->header.info);
            break;
        case JXL_DEC_FRAME:
            set_duration(jxl);
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (gf_jxl.JxlDecoderImageOutBufferSize(decoder, &pixel, &needed) != JXL_DEC_SUCCESS ||
                needed != bytes ||
                gf_jxl.JxlDecoderSetImageOutBuffer(decoder, &pixel, pixels, bytes) !=
                    JXL_DEC_SUCCESS)
                return "its picture has another size than its header says";
            if (jxl->black && gf_jxl.JxlDecoderSetExtraChannelBuffer(
                                  decoder, &ink, jxl->black, black_bytes(format),
                                  (uint32_t)jxl->header.black) != JXL_DEC_SUCCESS)
                return "its black ink cannot be decoded";
            break;
        case JXL_DEC_FULL_IMAGE:
            return NULL;
        case JXL_DEC_NEED_MORE_INPUT:
            return "it is truncated";
        case JXL_DEC_SUCCESS:
            return "a picture is missing";
        default:
            return "its pixels cannot be decoded";
        }
    }
}

/* Makes RGB of CMY and black, in which the largest sample is no ink (ISO 18181-1, annex on extra
 * channels). */
static enum gf_status convert_inks(const struct jxl_source *jxl, unsigned char *pixels,
                                   struct gf_error *error)
{
    const unsigned char *black = jxl->black;
    const struct gf_format format = jxl->whole.base.format;
    const size_t sample = (size_t)format.bits / 8, pixel = sample * (size_t)format.channels,
                 width = (size_t)format.width;
    unsigned char *const inks = malloc(7 * sample * width);
    if (!inks)
        return gf_fail_memory(error);
    unsigned char *const rgb = inks + 4 * sample * width;
    for (int y = 0; y < format.height; y++, pixels += width * pixel, black += width * sample) {
        for (size_t x = 0; x < width; x++) {
            memcpy(inks + 4 * sample * x, pixels + pixel * x, 3 * sample);
            memcpy(inks + (4 * x + 3) * sample, black + sample * x, sample);
        }
        gf_cmyk_convert(&jxl->inks, inks, true, rgb, format.width);
        for (size_t x = 0; x < width; x++)
            memcpy(pixels + pixel * x, rgb + 3 * sample * x, 3 * sample);
    }
    free(inks);
    return GF_OK;
}

static enum gf_status begin(struct jxl_source *jxl, struct gf_error *error)
{
    const struct gf_whole_source *const whole = &jxl->whole;
    jxl->runner =
        gf_jxl.JxlThreadParallelRunnerCreate(NULL, (size_t)gf_library_threads(&whole->options));
    jxl->decoder = gf_jxl.JxlDecoderCreate(NULL);
    JxlDecoder *const decoder = jxl->decoder;
    if (jxl->header.black >= 0)
        jxl->black = malloc(black_bytes(whole->base.format));
    if (!decoder || !jxl->runner || (jxl->header.black >= 0 && !jxl->black) ||
        gf_jxl.JxlDecoderSetParallelRunner(decoder, gf_jxl.JxlThreadParallelRunner, jxl->runner) !=
            JXL_DEC_SUCCESS ||
        gf_jxl.JxlDecoderSubscribeEvents(decoder, JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME |
                                                      JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS)
        return gf_fail_memory(error);
    (void)gf_jxl.JxlDecoderSetKeepOrientation(decoder, JXL_TRUE);
    (void)gf_jxl.JxlDecoderSetUnpremultiplyAlpha(decoder, JXL_TRUE);
    (void)gf_jxl.JxlDecoderSetInput(decoder, whole->file.data, whole->file.size);
    if (whole->frame)
        gf_jxl.JxlDecoderSkipFrames(decoder, (size_t)whole->frame);
    return GF_OK;
}

static enum gf_status jxl_decode(struct gf_whole_source *source, unsigned char *pixels,
                                 struct gf_error *error)
{
    struct jxl_source *const jxl = (struct jxl_source *)source;
    if (!jxl->decoder)
        GF_TRY(begin(jxl, error));
    const char *const why = decode(jxl, pixels);
    if (why && jxl->damage && gf_end_frames(source, jxl->damage))
        return GF_OK;
    if (why)
        return gf_whole_source_fail(source, jxl->damage ? jxl->damage : why, error);
    if (jxl->black)
        GF_TRY(convert_inks(jxl, pixels, error));
    if (jxl->damage && source->frame >= source->last)
        gf_warn_behind(source->name, source->frame + 1, jxl->damage, &source->options);
    return GF_OK;
}

/* Returns the bytes for each pixel that libjxl takes, as measured. Lossy pictures with alpha are
 * decoded in floats as a whole; lossless drawings and screens take more than photographs. */
static double library_bytes(const JxlBasicInfo *info, int pages)
{
    const double usual_bytes = 7, large_bytes = 17, floats_bytes = 45, deep_bytes = 10,
                 lossless_bytes = 6;
    const bool deep = info->bits_per_sample > 8, lossless = info->uses_original_profile;
    if (info->alpha_bits && !lossless)
        return floats_bytes + (deep ? deep_bytes : 0);
    return (deep || info->num_color_channels == 1 || pages > 1 ? large_bytes : usual_bytes) +
           (lossless ? lossless_bytes : 0) + (info->alpha_bits ? lossless_bytes : 0);
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    struct jxl_source *const jxl = (struct jxl_source *)whole;
    bool out_of_memory;
    const char *const why =
        gf_jxl_read_header(&whole->file, &jxl->header, &whole->base.metadata, &out_of_memory);
    const JxlBasicInfo *const info = &jxl->header.info;
    if (out_of_memory)
        return gf_fail_memory(error);
    /* Only decoding shows whether the wanted pictures themselves are undamaged. */
    whole->sound = jxl->header.pages;
    const bool enough = gf_whole_source_suffices(whole);
    jxl->damage = enough ? why : NULL;
    if (why && !enough)
        return gf_whole_source_fail(whole, why, error);
    whole->base.stored =
        (struct gf_stored){.pages = jxl->header.pages,
                           .seconds = jxl->header.seconds,
                           .bits = (int)info->bits_per_sample,
                           .colour = jxl->header.black >= 0 ? GF_STORED_CMYK : GF_STORED_PLAIN,
                           .is_float = info->exponent_bits_per_sample > 0};
    const bool inks = jxl->header.black >= 0;
    enum gf_status status = gf_whole_source_describe(
        whole, info->xsize, info->ysize,
        (info->num_color_channels == 1 ? 1 : 3) + (info->alpha_bits > 0),
        info->bits_per_sample > 8 ? 16 : 8,
        library_bytes(info, jxl->header.pages) + inks * info->bits_per_sample / 8, error);
    whole->base.memory.bytes +=
        gf_jxl_thread_bytes(info->xsize, info->ysize, 4 + (info->alpha_bits > 0), &whole->options);
    if (info->have_animation)
        whole->base.metadata.loops = info->animation.num_loops;
    if (!status && inks)
        status = gf_cmyk_open(&whole->base.metadata, whole->base.format.bits, whole->name,
                              &whole->options, &jxl->inks, error);
    return status ? status : gf_choose_frames(whole, jxl->header.pages, error);
}

enum gf_status gf_jxl_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    static const struct gf_whole_calls own = {.size = sizeof(struct jxl_source),
                                              .read_header = read_header,
                                              .decode = jxl_decode,
                                              .release = jxl_release};
    return gf_whole_source_open(&own, input, options, source, error);
}
