/* Reads JPEG XL by libjxl. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/colour/colour.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"
#include "codec/jxl/jxl_calls.h"

struct gf_jxl_calls gf_jxl;
struct gf_library gf_jxl_library = GF_LIBRARY(gf_jxl, GF_JXL_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_jxl),
                                              GF_LIBRARY_TEXT(GF_LIBRARY_jxl_threads));

uint64_t gf_jxl_thread_bytes(uint64_t width, uint64_t height, int planes,
                             const struct gf_options *options)
{
    const uint64_t side = 256, threads = (uint64_t)gf_library_threads(options),
                   parts = (width + side - 1) / side * ((height + side - 1) / side);
    return (parts < threads ? parts : threads) * side * side * (uint64_t)planes * sizeof(float);
}

JxlPixelFormat gf_jxl_samples(struct gf_format format, int channels)
{
    const JxlDataType integers = format.bits == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                      floats = format.bits == 16 ? JXL_TYPE_FLOAT16 : JXL_TYPE_FLOAT;
    return (JxlPixelFormat){.num_channels = (uint32_t)channels,
                            .data_type = gf_is_float(format) ? floats : integers,
                            .endianness = JXL_NATIVE_ENDIAN};
}

/* ---- walking over a JPEG XL file to find its size, colours, metadata and number of pictures
 * ---- */

struct gf_jxl_header {
    JxlBasicInfo info;
    int pages;
    double seconds; /* how long all frames are shown; 0: no animation */
    /* Index of the extra channel with black ink, which makes the colours CMY; -1: none. */
    int black;
};

/* ---- choosing the colours to which the decoder converts a picture stored as XYB, as lossy ones
 * are: those of the picture's profile if libjxl can convert to them, so that no colour is clipped
 * ---- */

/* ---- the primaries of an ICC profile ---- */

/* Reads a tag of three numbers. Returns false if the profile lacks it. (ICC.1:2010, 7.3 and
 * 10.31) */
static bool read_xyz(const struct gf_blob *icc, const char *tag, double xyz[3])
{
    enum { TABLE = 128, ENTRY = 12, XYZ_BYTES = 20 };
    if (icc->size < TABLE + 4)
        return false;
    const size_t count = gf_get_be(icc->data + TABLE, 4);
    for (size_t i = 0; i < count && TABLE + 4 + ENTRY * (i + 1) <= icc->size; i++) {
        const unsigned char *const entry = icc->data + TABLE + 4 + ENTRY * i;
        const size_t at = gf_get_be(entry + 4, 4), size = gf_get_be(entry + 8, 4);
        if (memcmp(entry, tag, 4))
            continue;
        if (size < XYZ_BYTES || at > icc->size || size > icc->size - at ||
            memcmp(icc->data + at, "XYZ ", 4))
            return false;
        for (size_t k = 0; k < 3; k++)
            xyz[k] = (double)(int32_t)gf_get_be(icc->data + at + 8 + 4 * k, 4) / 65536;
        return true;
    }
    return false;
}

/* Computes the chromaticity of a colour, adapted by Bradford's matrix from D50, the white point of
 * profiles, to D65. */
static bool chromaticity(const double v[3], double xy[2])
{
    static const double to_d65[3][3] = {{0.9555766, -0.0230393, 0.0631636},
                                        {-0.0282895, 1.0099416, 0.0210077},
                                        {0.0122982, -0.0204830, 1.3299098}};
    double result[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        result[i] = to_d65[i][0] * v[0] + to_d65[i][1] * v[1] + to_d65[i][2] * v[2];
        sum += result[i];
    }
    xy[0] = sum > 0 ? result[0] / sum : 0;
    xy[1] = sum > 0 ? result[1] / sum : 0;
    return sum > 0;
}

static bool read_primaries(const struct gf_blob *icc, JxlColorEncoding *colour)
{
    double r[3], g[3], b[3];
    return read_xyz(icc, "rXYZ", r) && read_xyz(icc, "gXYZ", g) && read_xyz(icc, "bXYZ", b) &&
           chromaticity(r, colour->primaries_red_xy) &&
           chromaticity(g, colour->primaries_green_xy) &&
           chromaticity(b, colour->primaries_blue_xy);
}

/* Copies the ICC profile to memory from malloc(). Returns false if there is none. */
static bool jxl_read_icc(JxlDecoder *decoder, JxlColorProfileTarget target, struct gf_blob *icc,
                         bool *out_of_memory)
{
    size_t size = 0;
    *icc = (struct gf_blob){0};
    if (gf_jxl.JxlDecoderGetICCProfileSize(decoder, GF_JXL_UNUSED target, &size) !=
            JXL_DEC_SUCCESS ||
        !size || size > GF_METADATA_MAX)
        return false;
    *icc = (struct gf_blob){malloc(size), size};
    *out_of_memory |= !icc->data;
    if (icc->data && gf_jxl.JxlDecoderGetColorAsICCProfile(decoder, GF_JXL_UNUSED target, icc->data,
                                                           size) == JXL_DEC_SUCCESS)
        return true;
    free(icc->data);
    *icc = (struct gf_blob){0};
    return false;
}

/* Whether the transfer function follows the eye's sensitivity, so that samples of 8 or 16 bits show
 * no visible steps. */
static bool is_for_the_eye(JxlTransferFunction curve)
{
    return gf_curve_is_hdr((int)curve) || curve == JXL_TRANSFER_FUNCTION_709 ||
           curve == JXL_TRANSFER_FUNCTION_SRGB || curve == JXL_TRANSFER_FUNCTION_GAMMA ||
           curve == JXL_TRANSFER_FUNCTION_DCI;
}

/* Chooses the decoder's output colours. It must be called after JXL_DEC_COLOR_ENCODING. A picture
 * that can be decoded to any colours gets the primaries of its profile. It gets sRGB if the profile
 * has no usable primaries, and for gray that is not HDR. */
static void jxl_prefer_own_colours(JxlDecoder *decoder, const JxlBasicInfo *info)
{
    JxlColorEncoding srgb, own;
    struct gf_blob icc;
    bool no_memory = false;
    if (info->uses_original_profile)
        return;
    const bool gray = info->num_color_channels == 1;
    gf_jxl.JxlColorEncodingSetToSRGB(&srgb, gray);
    (void)gf_jxl.JxlDecoderSetPreferredColorProfile(decoder, &srgb);
    bool known =
        gf_jxl.JxlDecoderGetColorAsEncodedProfile(
            decoder, GF_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_ORIGINAL, &own) == JXL_DEC_SUCCESS &&
        (gray ? gf_curve_is_hdr((int)own.transfer_function) || info->exponent_bits_per_sample
              : own.color_space == JXL_COLOR_SPACE_RGB);
    if (known && !info->exponent_bits_per_sample && !is_for_the_eye(own.transfer_function))
        own.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
    if (!known && !gray &&
        jxl_read_icc(decoder, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &icc, &no_memory)) {
        own = srgb;
        own.primaries = JXL_PRIMARIES_CUSTOM;
        known = read_primaries(&icc, &own);
        free(icc.data);
    }
    /* If the decoder rejects the profile, sRGB remains the choice. */
    if (known)
        (void)gf_jxl.JxlDecoderSetPreferredColorProfile(decoder, &own);
}

enum { BOX_FIRST = 1 << 16 };

struct walk {
    JxlDecoder *decoder;
    struct gf_jxl_header *header;
    struct gf_metadata *metadata;
    JxlBoxType type;
    struct gf_blob box; /* the metadata box that is being read; box.size is the allocated size */
    bool in_box, out_of_memory;
};

static bool is_srgb(const JxlColorEncoding *colour)
{
    return (colour->color_space == JXL_COLOR_SPACE_GRAY ||
            (colour->color_space == JXL_COLOR_SPACE_RGB &&
             colour->primaries == JXL_PRIMARIES_SRGB)) &&
           colour->white_point == JXL_WHITE_POINT_D65 &&
           colour->transfer_function == JXL_TRANSFER_FUNCTION_SRGB;
}

/* Keeps the colours of an HDR picture as cICP. JPEG XL has the same numbers for primaries and
 * transfer functions as cICP, except for P3 with the white point D65. */
static bool keep_hdr(const JxlColorEncoding *colour, struct gf_colour_tags *tags)
{
    enum { P3_D65 = 12 };
    struct gf_colour_tags all = {0};
    const bool gray = colour->color_space == JXL_COLOR_SPACE_GRAY,
               p3 = colour->primaries == JXL_PRIMARIES_P3,
               d65 = colour->white_point == JXL_WHITE_POINT_D65;
    gf_colour_tags_set_cicp(&all,
                            gray        ? JXL_PRIMARIES_SRGB
                            : p3 && d65 ? P3_D65
                                        : (int)colour->primaries,
                            (int)colour->transfer_function);
    return (d65 || (p3 && colour->white_point == JXL_WHITE_POINT_DCI)) &&
           gf_colour_tags_keep_cicp(&all, GF_TAGS_HDR, tags);
}

/* Keeps the luminance of the brightest pixel of a PQ picture, in cd/m2, unless it is 10000, the
 * largest that PQ has. */
static void keep_light(float luminance, struct gf_colour_tags *tags)
{
    const float most = 10000;
    if (tags->has_cicp && tags->cicp[1] == JXL_TRANSFER_FUNCTION_PQ && luminance > 0 &&
        luminance < most)
        gf_colour_tags_set_light(tags, luminance, 0);
}

/* Keeps the colours of floats that are linear light. */
static bool keep_linear(const JxlColorEncoding *colour, struct gf_colour_tags *tags)
{
    const double *const point[] = {colour->white_point_xy, colour->primaries_red_xy,
                                   colour->primaries_green_xy, colour->primaries_blue_xy};
    const bool gray = colour->color_space == JXL_COLOR_SPACE_GRAY;
    struct gf_colour_tags linear = {0};
    float xy[8];
    for (int i = 0; i < 8; i++)
        xy[i] = (float)point[i / 2][i % 2];
    if (colour->transfer_function != JXL_TRANSFER_FUNCTION_LINEAR ||
        !gf_colour_tags_set_linear(&linear, gray ? NULL : xy, gray))
        return false;
    *tags = linear;
    return true;
}

static void read_colours(struct walk *walk)
{
    const JxlBasicInfo *const info = &walk->header->info;
    JxlColorEncoding colour;
    struct gf_blob icc;
    jxl_prefer_own_colours(walk->decoder, info);
    if (gf_jxl.JxlDecoderGetColorAsEncodedProfile(walk->decoder,
                                                  GF_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_DATA,
                                                  &colour) == JXL_DEC_SUCCESS &&
        (is_srgb(&colour) || keep_hdr(&colour, &walk->metadata->colour) ||
         (info->exponent_bits_per_sample && keep_linear(&colour, &walk->metadata->colour))))
        return;
    if (!jxl_read_icc(walk->decoder, JXL_COLOR_PROFILE_TARGET_DATA, &icc, &walk->out_of_memory))
        return;
    free(walk->metadata->icc.data);
    walk->metadata->icc = icc;
}

static bool is_type(const JxlBoxType type, const char *name)
{
    return !memcmp(type, name, 4);
}

static void end_box(struct walk *walk)
{
    if (!walk->in_box)
        return;
    const size_t size = walk->box.size - gf_jxl.JxlDecoderReleaseBoxBuffer(walk->decoder);
    walk->in_box = false;
    bool done = true;
    if (size && is_type(walk->type, "Exif"))
        done = gf_metadata_add_exif_box(walk->metadata, walk->box.data, size);
    else if (size && !walk->metadata->xmp.size)
        done = gf_blob_set(&walk->metadata->xmp, walk->box.data, size);
    walk->out_of_memory |= !done;
}

static void begin_box(struct walk *walk)
{
    end_box(walk);
    if (gf_jxl.JxlDecoderGetBoxType(walk->decoder, walk->type, JXL_TRUE) != JXL_DEC_SUCCESS)
        return;
    if (is_type(walk->type, "jhgm"))
        walk->metadata->unread |= GF_KIND_GAIN_MAP;
    if ((!is_type(walk->type, "Exif") && !is_type(walk->type, "xml ")))
        return;
    free(walk->box.data);
    walk->box = (struct gf_blob){malloc(BOX_FIRST), BOX_FIRST};
    walk->out_of_memory |= !walk->box.data;
    walk->in_box = walk->box.data && gf_jxl.JxlDecoderSetBoxBuffer(walk->decoder, walk->box.data,
                                                                   BOX_FIRST) == JXL_DEC_SUCCESS;
}

/* Continues to read a box, or drops it if it is too large. */
static void continue_box(struct walk *walk)
{
    const size_t got = walk->box.size - gf_jxl.JxlDecoderReleaseBoxBuffer(walk->decoder);
    unsigned char *const grown =
        walk->box.size > GF_METADATA_MAX ? NULL : realloc(walk->box.data, 2 * walk->box.size);
    walk->in_box = false;
    if (!grown)
        return;
    walk->box = (struct gf_blob){grown, 2 * walk->box.size};
    walk->in_box = gf_jxl.JxlDecoderSetBoxBuffer(walk->decoder, grown + got,
                                                 walk->box.size - got) == JXL_DEC_SUCCESS;
}

static void find_black(struct walk *walk)
{
    JxlExtraChannelInfo extra;
    const int channels = (int)walk->header->info.num_extra_channels;
    for (int i = 0; i < channels && walk->header->black < 0; i++) {
        if (gf_jxl.JxlDecoderGetExtraChannelInfo(walk->decoder, (size_t)i, &extra) ==
                JXL_DEC_SUCCESS &&
            extra.type == JXL_CHANNEL_BLACK)
            walk->header->black = i;
    }
}

static void add_duration(struct walk *walk)
{
    const JxlBasicInfo *const info = &walk->header->info;
    JxlFrameHeader frame;
    if (info->have_animation && info->animation.tps_numerator &&
        gf_jxl.JxlDecoderGetFrameHeader(walk->decoder, &frame) == JXL_DEC_SUCCESS)
        walk->header->seconds += (double)frame.duration * info->animation.tps_denominator /
                                 info->animation.tps_numerator;
}

static const char *walk_on(struct walk *walk)
{
    for (;;) {
        switch (gf_jxl.JxlDecoderProcessInput(walk->decoder)) {
        case JXL_DEC_BASIC_INFO:
            if (gf_jxl.JxlDecoderGetBasicInfo(walk->decoder, &walk->header->info) !=
                JXL_DEC_SUCCESS)
                return "its header cannot be read";
            find_black(walk);
            break;
        case JXL_DEC_COLOR_ENCODING:
            read_colours(walk);
            break;
        case JXL_DEC_FRAME:
            walk->header->pages++;
            add_duration(walk);
            break;
        case JXL_DEC_BOX:
            begin_box(walk);
            break;
        case JXL_DEC_BOX_NEED_MORE_OUTPUT:
            continue_box(walk);
            if (!walk->in_box)
                return walk->header->pages ? NULL : "a box of it is too large";
            break;
        case JXL_DEC_SUCCESS:
            end_box(walk);
            return walk->header->pages ? NULL : "it holds no picture";
        case JXL_DEC_NEED_MORE_INPUT:
            return "it is truncated";
        default:
            return "libjxl cannot read it";
        }
    }
}

/* Reads the header. Returns NULL, or a text that describes the damage. *out_of_memory is set if
 * memory ran out. */
static const char *jxl_read_header(const struct gf_blob *file, struct gf_jxl_header *header,
                                   struct gf_metadata *metadata, bool *out_of_memory)
{
    struct walk walk = {
        .decoder = gf_jxl.JxlDecoderCreate(NULL), .header = header, .metadata = metadata};
    const char *why = NULL;
    *header = (struct gf_jxl_header){.black = -1};
    if (walk.decoder && gf_jxl.JxlDecoderSubscribeEvents(
                            walk.decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING |
                                              JXL_DEC_FRAME | JXL_DEC_BOX) == JXL_DEC_SUCCESS) {
        (void)gf_jxl.JxlDecoderSetDecompressBoxes(walk.decoder, JXL_TRUE);
        (void)gf_jxl.JxlDecoderSetKeepOrientation(walk.decoder, JXL_TRUE);
        (void)gf_jxl.JxlDecoderSetInput(walk.decoder, file->data, file->size);
        gf_jxl.JxlDecoderCloseInput(walk.decoder);
        why = walk_on(&walk);
    } else {
        walk.out_of_memory = true;
    }
    gf_jxl.JxlDecoderDestroy(walk.decoder);
    free(walk.box.data);
    *out_of_memory = walk.out_of_memory;
    keep_light(header->info.intensity_target, &metadata->colour);
    /* The header's orientation is valid, even where EXIF states another one. */
    metadata->orientation = header->info.orientation >= 1 && header->info.orientation <= 8
                                ? (int)header->info.orientation
                                : 1;
    return why;
}

struct jxl_source {
    struct gf_whole_source whole;
    struct gf_jxl_header header;
    const char *damage;  /* what is damaged behind the counted pictures; NULL: nothing */
    JxlDecoder *decoder; /* decodes frames; NULL before the first one */
    void *runner;
    struct gf_cmyk inks;  /* the conversion to RGB, if the picture has black ink */
    unsigned char *black; /* the samples of the black ink; NULL: the picture has none */
};

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
    const JxlPixelFormat pixel = gf_jxl_samples(format, format.channels),
                         ink = gf_jxl_samples(format, 1);
    size_t needed;
    for (;;) {
        switch (gf_jxl.JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_COLOR_ENCODING:
            jxl_prefer_own_colours(decoder, &jxl->header.info);
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

/* Converts CMY and black, whose largest sample means no ink, to RGB (ISO 18181-1, annex on extra
 * channels). */
static enum gf_status convert_inks(const struct jxl_source *jxl, unsigned char *pixels,
                                   struct gf_error *error)
{
    const unsigned char *black = jxl->black;
    const struct gf_format format = jxl->whole.base.format;
    const size_t sample = (size_t)format.bits / 8, pixel = sample * (size_t)format.channels,
                 width = (size_t)format.width;
    unsigned char *const inks = malloc(7 * sample * width);
    GF_ALLOCATED(inks, error);
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

/* Returns how many bytes libjxl takes for each pixel, as measured. Lossy pictures with alpha are
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

/* Whether halves hold all numbers of the file's floats. */
static bool is_half(const JxlBasicInfo *info)
{
    return info->bits_per_sample <= 16 && info->exponent_bits_per_sample <= 5;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    struct jxl_source *const jxl = (struct jxl_source *)whole;
    bool out_of_memory;
    const char *const why =
        jxl_read_header(&whole->file, &jxl->header, &whole->base.metadata, &out_of_memory);
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
                           .is_lossless = info->uses_original_profile,
                           .is_float = info->exponent_bits_per_sample > 0};
    const bool inks = jxl->header.black >= 0, floats = whole->base.stored.is_float && !inks;
    enum gf_status status = gf_whole_source_describe(
        whole, info->xsize, info->ysize,
        (info->num_color_channels == 1 ? 1 : 3) + (info->alpha_bits > 0),
        floats && !is_half(info)    ? 32
        : info->bits_per_sample > 8 ? 16
                                    : 8,
        library_bytes(info, jxl->header.pages) + inks * info->bits_per_sample / 8, error);
    whole->base.memory.bytes +=
        gf_jxl_thread_bytes(info->xsize, info->ysize, 4 + (info->alpha_bits > 0), &whole->options);
    if (floats)
        whole->base.format.samples = GF_SAMPLES_FLOAT;
    if (info->have_animation)
        whole->base.metadata.loops = info->animation.num_loops;
    if (!status && inks)
        status = gf_cmyk_open(&whole->base.metadata, whole->base.format.bits, whole->name,
                              &whole->options, &jxl->inks, error);
    return status ? status : gf_choose_frames(whole, jxl->header.pages, error);
}

GF_WHOLE_SOURCE(gf_jxl_source_open, .size = sizeof(struct jxl_source), .read_header = read_header,
                .decode = jxl_decode, .release = jxl_release)
