#include "codec/common/cmyk.h"

#include <stdlib.h>

#include "base/target_clones.h"
#include "codec/common/checks.h"
#include "icc/icc_build.h"

enum { INKS = 4, COLOURS = 3 };

static enum gf_status build(const struct gf_metadata *metadata, int bits, struct gf_cmyk *cmyk,
                            struct gf_error *error)
{
    const struct gf_icc_wish wish = {.from = {metadata->icc.data, metadata->icc.size},
                                     .to = gf_icc_named("srgb", false),
                                     .inputs = INKS,
                                     .outputs = COLOURS,
                                     .bits = bits,
                                     .intent = GF_ICC_RELATIVE,
                                     .black_point = true};
    return gf_icc_fits(wish.from, INKS)
               ? gf_icc_build(&wish, &cmyk->transform, error)
               : gf_fail(error, GF_ERROR_INPUT, "it is no profile of CMYK");
}

enum gf_status gf_cmyk_open(struct gf_metadata *metadata, int bits, const char *name,
                            const struct gf_options *options, struct gf_cmyk *cmyk,
                            struct gf_error *error)
{
    static const char plain[] = "they become RGB by (1 - ink)(1 - black), which is not exact";
    struct gf_error detail = {0};
    *cmyk = (struct gf_cmyk){.bits = bits};
    if (!metadata->icc.size) {
        gf_warn(options, "%s: its CMYK colours have no ICC profile: %s", name, plain);
        return GF_OK;
    }
    const enum gf_status status = build(metadata, bits, cmyk, &detail);
    if (status == GF_ERROR_MEMORY)
        return gf_fail(error, status, "%s", detail.text);
    if (status)
        gf_warn(options, "%s: the ICC profile of its CMYK colours is not used (%s): %s", name,
                detail.text, plain);
    free(metadata->icc.data);
    metadata->icc = (struct gf_blob){0};
    return GF_OK;
}

void gf_cmyk_close(struct gf_cmyk *cmyk)
{
    free(cmyk->transform);
    cmyk->transform = NULL;
}

/* ---- rows ---- */

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
