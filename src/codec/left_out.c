#include "codec/left_out.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/common/checks.h"
#include "icc/icc_build.h"

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
             {GF_KIND_ORIENTATION, "orientation"}};

/* Returns the kinds of metadata that the output loses although the user did not ask for that.
 * --strip asks for it, except for the orientation of a picture that has to be turned. */
static unsigned lost_kinds(const struct gf_file_type *type, const struct gf_metadata *metadata,
                           const struct gf_metadata *kept, const struct gf_options *options)
{
    unsigned lost = (gf_metadata_kinds(metadata) & ~(gf_metadata_kinds(kept) & type->keeps));
    if (options->autorotate)
        lost &= ~(unsigned)GF_KIND_ORIENTATION;
    return options->strip ? lost & GF_KIND_ORIENTATION : lost;
}

/* Whether the picture's colours hardly differ from sRGB. A gamma of 2.2 with sRGB's primaries
 * counts as sRGB: it differs by up to 7 of 255 in dark colours, and every program shows it as sRGB.
 * An unusable profile also counts as sRGB; a profile that the program cannot interpret does not. */
static bool is_srgb(struct gf_icc icc, int channels)
{
    enum { STEPS_MOST = 8, STEP = 17, LEVELS = 16, PIXELS = LEVELS * LEVELS * LEVELS };
    const struct gf_icc srgb = gf_icc_named("srgb", channels == 1);
    const struct gf_icc_wish wish = {.from = icc,
                                     .to = srgb,
                                     .inputs = channels,
                                     .outputs = channels,
                                     .bits = 8,
                                     .intent = GF_ICC_RELATIVE};
    struct gf_icc_transform *transform = NULL;
    unsigned char in[PIXELS * 3], out[PIXELS * 3];
    bool same = true;
    if (!icc.size || gf_icc_same(icc, srgb))
        return true;
    const enum gf_status status = gf_icc_build(&wish, &transform, NULL);
    if (status)
        return status == GF_ERROR_INPUT;
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0, level = i; c < channels; c++, level /= LEVELS)
            in[i * channels + c] = (unsigned char)(level % LEVELS * STEP);
    gf_icc_convert(transform, in, channels, out, channels, PIXELS);
    for (int i = 0; i < PIXELS * channels; i++)
        same &= abs(in[i] - out[i]) <= STEPS_MOST;
    free(transform);
    return same;
}

/* Warns if colours look different because the output has no profile: a file without a profile is
 * shown as sRGB. */
static void warn_of_colours(const char *name, const struct gf_file_type *type,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_options *options)
{
    struct gf_metadata stated = *metadata;
    if (!options->strip && type->keeps & GF_KIND_ICC)
        return;
    if (!is_srgb(gf_metadata_icc(&stated, format), gf_colour_channels(format)))
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
        warn_of_colours(name, type, format, metadata, options);
}
