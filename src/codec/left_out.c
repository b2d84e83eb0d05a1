#include "codec/left_out.h"

#include <stdio.h>

#include "codec/common/checks.h"
#include "codec/common/keep.h"

static const struct {
    unsigned kind;
    const char *name;
} kinds[] = {{GF_KIND_GAIN_MAP, "gain map"},
             {GF_KIND_PICTURES, "other pictures"},
             {GF_KIND_DEPTH, "depth map"},
             {GF_KIND_AUXILIARY, "auxiliary pictures"},
             {GF_KIND_EXIF, "EXIF"},
             {GF_KIND_XMP, "XMP"},
             {GF_KIND_EXTENDED_XMP, "extended XMP"},
             {GF_KIND_IPTC, "IPTC"},
             {GF_KIND_TEXTS, "texts"},
             {GF_KIND_COMMENTS, "comments"},
             {GF_KIND_DENSITY, "density"},
             {GF_KIND_ASPECT, "pixel aspect ratio"},
             {GF_KIND_ORIENTATION, "orientation"},
             {GF_KIND_LIGHT, "content light level"},
             {GF_KIND_MASTERING, "mastering display"}};

/* Returns the kinds of metadata that the output loses although the user did not ask for that. EXIF
 * may have held nothing but items that the user named. */
static unsigned lost_kinds(const struct gf_file_type *type, const struct gf_metadata *metadata,
                           const struct gf_metadata *kept, const struct gf_options *options)
{
    unsigned lost = (gf_metadata_kinds(metadata) & ~(gf_metadata_kinds(kept) & type->keeps));
    if (options->autorotate)
        lost &= ~(unsigned)GF_KIND_ORIENTATION;
    if (options->stripped && !kept->exif.size && type->keeps & GF_KIND_EXIF)
        lost &= ~(unsigned)GF_KIND_EXIF;
    if (type->keeps & GF_KIND_EXIF && gf_exif_has_density(&kept->exif))
        lost &= ~(unsigned)GF_KIND_DENSITY;
    return lost & ~gf_kinds_unwanted(options);
}

/* Warns if colours look different because the output has no profile (a file without a profile is
 * shown as sRGB), or if the profile is written although it was to be stripped. */
static void warn_of_colours(const char *name, const struct gf_file_type *type,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_metadata *kept, const struct gf_options *options)
{
    char colours[GF_COLOURS_TEXT_SIZE];
    const bool writes = !options->strip && type->keeps & GF_KIND_ICC;
    const bool unsaid = gf_colour_tags_unsaid(&metadata->colour, metadata->icc.size, colours),
               unknown = unsaid && !gf_transfer_is_hdr(metadata->colour.cicp[1]);
    if ((writes && gf_keeps(options, GF_METADATA_ICC)) ||
        gf_metadata_is_srgb(metadata, format, options))
        return;
    if (writes && (!unsaid || kept->colour.has_cicp))
        gf_warn(options, "%s: its colours are not sRGB's and %s%s: what describes them is kept",
                name,
                unknown             ? "nothing converts "
                : options->lossless ? "--lossless keeps the samples"
                                    : "this build does not convert them",
                unknown ? colours : "");
    else if (!unsaid)
        gf_warn(options,
                "%s: it does not say that its colours are not sRGB's, and looks different "
                "(--to-icc=srgb converts it)",
                name);
}

void gf_metadata_kinds_text(unsigned set, char text[GF_METADATA_KINDS_TEXT_SIZE])
{
    size_t length = 0;
    unsigned left = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        left |= set & kinds[i].kind;
    for (size_t i = 0; left; i++) {
        if (!(left & kinds[i].kind))
            continue;
        left &= ~kinds[i].kind;
        const char *const before = !length ? "" : left ? ", " : " and ";
        length += (size_t)snprintf(text + length, GF_METADATA_KINDS_TEXT_SIZE - length, "%s%s",
                                   before, kinds[i].name);
    }
}

void gf_warn_left_out(const char *name, const struct gf_file_type *type, struct gf_format format,
                      const struct gf_metadata *metadata, const struct gf_metadata *kept,
                      const struct gf_options *options)
{
    const unsigned lost = lost_kinds(type, metadata, kept, options);
    char list[GF_METADATA_KINDS_TEXT_SIZE];
    gf_metadata_kinds_text(lost, list);
    if (*list)
        gf_warn(options, "%s: it does not keep the input's %s", name, list);
    if (options->warn)
        warn_of_colours(name, type, format, metadata, kept, options);
}
