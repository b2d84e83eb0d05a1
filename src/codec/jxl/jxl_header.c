#include "codec/jxl/jxl_header.h"

#include <stdlib.h>
#include <string.h>

enum { BOX_FIRST = 1 << 16 };

struct walk {
    JxlDecoder *decoder;
    struct gf_jxl_header *header;
    struct gf_metadata *metadata;
    JxlBoxType type;
    struct gf_blob box; /* the metadata box that is being read; its size is the size of the
                         * allocated memory */
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

/* Keeps the luminance of PQ's brightest pixel, unless it is that of the largest sample. */
static void keep_light(float luminance, struct gf_colour_tags *tags)
{
    const float most = 10000;
    if (tags->has_cicp && tags->cicp[1] == JXL_TRANSFER_FUNCTION_PQ && luminance > 0 &&
        luminance < most)
        gf_colour_tags_set_light(tags, luminance, 0);
}

static void read_colours(struct walk *walk)
{
    JxlColorEncoding colour;
    struct gf_blob icc;
    gf_jxl_prefer_own_colours(walk->decoder, &walk->header->info);
    if (gf_jxl.JxlDecoderGetColorAsEncodedProfile(walk->decoder,
                                                  GF_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_DATA,
                                                  &colour) == JXL_DEC_SUCCESS &&
        (is_srgb(&colour) || keep_hdr(&colour, &walk->metadata->colour)))
        return;
    if (!gf_jxl_read_icc(walk->decoder, JXL_COLOR_PROFILE_TARGET_DATA, &icc, &walk->out_of_memory))
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

const char *gf_jxl_read_header(const struct gf_blob *file, struct gf_jxl_header *header,
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
