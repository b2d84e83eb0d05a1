#include "codec/common/cmyk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/target_clones.h"
#include "codec/common/checks.h"
#include "icc/icc.h"
#include "icc/icc_build.h"

enum { INKS = 4, COLOURS = 3 };

/* Builds the conversion from the profile. A device link is taken of the user alone, who names it
 * for that. */
static enum gf_status build(struct gf_icc icc, bool links, int bits, struct gf_cmyk *cmyk,
                            struct gf_error *error)
{
    const bool link = gf_icc_is_link(icc);
    const struct gf_icc_wish wish = {.from = link ? (struct gf_icc){0} : icc,
                                     .to = link ? icc : gf_icc_named("srgb", false),
                                     .inputs = INKS,
                                     .outputs = COLOURS,
                                     .bits = bits,
                                     .intent = GF_ICC_RELATIVE,
                                     .black_point = true};
    return gf_icc_fits(icc, INKS) && (links || !link)
               ? gf_icc_build(&wish, &cmyk->transform, error)
               : gf_fail(error, GF_ERROR_INPUT, "it is no profile of CMYK");
}

/* Opens the conversion that replaces the picture's unusable profile: by the profile in the options,
 * or by the simple formula. */
static enum gf_status open_other(const char *name, const char *why, const char *detail,
                                 const struct gf_options *options, struct gf_cmyk *cmyk,
                                 struct gf_error *error)
{
    struct gf_icc icc;
    struct gf_error of_profile = {0};
    if (!options->cmyk_profile) {
        gf_warn(options,
                "%s: %s%s: they become RGB by (1 - ink)(1 - black), which is not exact "
                "(options.cmyk_profile)",
                name, why, detail);
        return GF_OK;
    }
    enum gf_status status = gf_icc_load_inks(options->cmyk_profile, &icc, error);
    if (!status)
        status = build(icc, true, cmyk->bits, cmyk, &of_profile);
    return status && *of_profile.text
               ? gf_fail(error, status, "%s: %s", options->cmyk_profile, of_profile.text)
               : status;
}

enum gf_status gf_cmyk_open(struct gf_metadata *metadata, int bits, const char *name,
                            const struct gf_options *options, struct gf_cmyk *cmyk,
                            struct gf_error *error)
{
    struct gf_error detail = {0};
    char why[sizeof detail.text + 4];
    *cmyk = (struct gf_cmyk){.bits = bits};
    if (!metadata->icc.size)
        return open_other(name, "its CMYK colours have no ICC profile", "", options, cmyk, error);
    enum gf_status status = build((struct gf_icc){.data = metadata->icc.data,
                                                  .size = metadata->icc.size,
                                                  .sandbox = options->sandbox,
                                                  .sandbox_program = options->sandbox_program},
                                  false, bits, cmyk, &detail);
    if (status == GF_ERROR_MEMORY)
        return gf_fail(error, status, "%s", detail.text);
    free(metadata->icc.data);
    metadata->icc = (struct gf_blob){0};
    snprintf(why, sizeof why, " (%s)", detail.text);
    return status ? open_other(name, "the ICC profile of its CMYK colours is not used", why,
                               options, cmyk, error)
                  : GF_OK;
}

void gf_cmyk_close(struct gf_cmyk *cmyk)
{
    free(cmyk->transform);
    cmyk->transform = NULL;
}

GF_TARGET_CLONES static void plain_8(const unsigned char *inks, unsigned char *rgb, int pixels,
                                     unsigned flip)
{
    for (int i = 0; i < pixels; i++, inks += INKS, rgb += COLOURS) {
        const unsigned light = inks[3] ^ flip;
        for (int c = 0; c < COLOURS; c++)
            rgb[c] = (unsigned char)(((inks[c] ^ flip) * light + 127) / 255);
    }
}

static void plain_16(const uint16_t *inks, uint16_t *rgb, int pixels, unsigned flip)
{
    for (int i = 0; i < pixels; i++, inks += INKS, rgb += COLOURS) {
        const uint64_t light = inks[3] ^ flip;
        for (int c = 0; c < COLOURS; c++)
            rgb[c] = (uint16_t)(((inks[c] ^ flip) * light + 32767) / 65535);
    }
}

static void invert(void *inks, int bits, size_t samples)
{
    unsigned char *const bytes = inks;
    for (size_t i = 0; i < samples * (size_t)bits / 8; i++)
        bytes[i] ^= 255;
}

void gf_cmyk_convert(const struct gf_cmyk *cmyk, void *inks, bool inverted, void *rgb, int pixels)
{
    const unsigned most = cmyk->bits == 8 ? 255 : 65535;
    if (cmyk->transform) {
        if (inverted)
            invert(inks, cmyk->bits, (size_t)pixels * INKS);
        gf_icc_convert(cmyk->transform, inks, INKS, rgb, COLOURS, pixels);
    } else if (cmyk->bits == 8) {
        plain_8(inks, rgb, pixels, inverted ? 0 : most);
    } else {
        plain_16(inks, rgb, pixels, inverted ? 0 : most);
    }
}
