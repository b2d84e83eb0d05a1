/* Colour tags: what a file says of its colours beside an ICC profile. And the conversion of
 * pictures of four inks (CMYK). */
#include "codec/common/colour/colour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "icc/icc.h"
#include "icc/icc_build.h"

static const double LIGHT_UNITS = 1e4; /* 1 cd/m2 in the units of mDCV and cLLI */
/* The number by which H.273 says that primaries or transfer are unspecified. */
enum { UNSPECIFIED = 2 };
enum { BT709 = 1, LINEAR = 8 }; /* primaries and transfer of H.273 */

bool gf_curve_is_hdr(int curve)
{
    return curve == GF_CURVE_PQ || curve == GF_CURVE_HLG;
}

void gf_colour_tags_hdr(const struct gf_colour_tags *tags, unsigned char hdr[2])
{
    struct gf_icc_space space;
    const unsigned char primaries =
        tags->cicp[0] == UNSPECIFIED ? GF_PRIMARIES_BT2020 : tags->cicp[0];
    const bool is_hdr =
        tags->has_cicp && gf_curve_is_hdr(tags->cicp[1]) && gf_icc_primaries(primaries, &space);
    hdr[0] = is_hdr ? primaries : 0;
    hdr[1] = is_hdr ? tags->cicp[1] : 0;
}

void gf_colour_tags_set_cicp(struct gf_colour_tags *tags, int primaries, int curve)
{
    tags->has_cicp = curve != UNSPECIFIED && (primaries != UNSPECIFIED || gf_curve_is_hdr(curve));
    tags->cicp[0] = (unsigned char)primaries;
    tags->cicp[1] = (unsigned char)curve;
    tags->cicp[2] = 0;
    tags->cicp[3] = 1;
}

bool gf_colour_tags_set_linear(struct gf_colour_tags *tags, const float xy[8], bool gray)
{
    static const double usual[] = {.3127, .3290, .64, .33, .30, .60, .15, .06};
    unsigned char profile[GF_ICC_MADE_MOST];
    struct gf_colour_tags own = {.has_gamma = true, .gamma = 100000, .has_chromaticities = true};
    bool is_usual = true, is_sound = true;
    gf_colour_tags_set_cicp(tags, BT709, LINEAR);
    for (int i = 0; xy && i < 8; i++) {
        is_usual &= fabs((double)xy[i] - usual[i]) < 1e-4;
        is_sound &= fabs((double)xy[i]) < 10;
        own.chromaticity[i] = is_sound ? (int32_t)floor((double)xy[i] * 1e5 + .5) : 0;
    }
    if (is_usual)
        return true;
    if (!is_sound || !gf_colour_tags_profile(&own, gray, profile))
        return false;
    *tags = own;
    return true;
}

bool gf_metadata_find_linear(const struct gf_metadata *metadata, struct gf_icc_space *space)
{
    const struct gf_colour_tags *const tags = &metadata->colour;
    double *const point[] = {space->white, space->red, space->green, space->blue};
    const struct gf_icc icc = {.data = metadata->icc.data, .size = metadata->icc.size};
    const struct gf_icc_space *const made = gf_icc_space_of(icc);
    if (made && made->curve == GF_ICC_POWER && made->gamma == 1) {
        *space = *made;
        return true;
    }
    if (tags->has_cicp)
        return tags->cicp[1] == LINEAR && gf_icc_primaries(tags->cicp[0], space);
    if (icc.size)
        return gf_icc_find_linear(icc, space);
    if (!tags->has_gamma || tags->gamma != 100000)
        return false;
    for (int i = 0; tags->has_chromaticities && i < 8; i++)
        point[i / 2][i % 2] = tags->chromaticity[i] / 1e5;
    return true;
}

static void keep_light(const struct gf_colour_tags *tags, struct gf_colour_tags *kept)
{
    kept->has_mdcv = tags->has_mdcv;
    kept->has_clli = tags->has_clli;
    memcpy(kept->mdcv, tags->mdcv, sizeof kept->mdcv);
    memcpy(kept->clli, tags->clli, sizeof kept->clli);
}

void gf_colour_tags_set_light(struct gf_colour_tags *tags, double most, double mean)
{
    const double numbers[] = {most, mean};
    for (int i = 0; i < 2; i++) {
        const uint32_t value = (uint32_t)(fmin(fmax(numbers[i], 0), 1e5) * LIGHT_UNITS + 0.5);
        for (int b = 0; b < 4; b++)
            tags->clli[4 * i + b] = (unsigned char)(value >> (24 - 8 * b));
    }
    tags->has_clli = true;
}

double gf_colour_tags_light(const struct gf_colour_tags *tags, int which)
{
    return tags->has_clli ? gf_get_be(tags->clli + 4 * which, 4) / LIGHT_UNITS : 0;
}

double gf_colour_tags_peak(const struct gf_colour_tags *tags)
{
    const double light = gf_colour_tags_light(tags, 0);
    return light > 0 ? light : tags->has_mdcv ? gf_get_be(tags->mdcv + 16, 4) / LIGHT_UNITS : 0;
}

/* The box mdcv (ISO/IEC 14496-12, 12.1.7) is like PNG's chunk mDCV but lists the primaries as
 * green, blue, red; the box clli (12.1.6) has whole cd/m2. */
void gf_colour_tags_add_heif(struct gf_colour_tags *tags, const unsigned char *boxes, size_t size)
{
    enum { HEAD = 8, MDCV = 24, CLLI = 4, POINT = 4 };
    const unsigned char *const end = boxes + size,
                               *const mdcv = memmem(boxes, size, "\0\0\0\x20mdcv", HEAD),
                               *const clli = memmem(boxes, size,
                                                    "\0\0\0\x0c"
                                                    "clli",
                                                    HEAD);
    if (!tags->has_cicp || !gf_curve_is_hdr(tags->cicp[1]))
        return;
    if (mdcv && end - mdcv >= HEAD + MDCV) {
        memcpy(tags->mdcv, mdcv + HEAD + (size_t)2 * POINT, POINT);
        memcpy(tags->mdcv + POINT, mdcv + HEAD, (size_t)2 * POINT);
        memcpy(tags->mdcv + 3 * POINT, mdcv + HEAD + 3 * POINT, MDCV - 3 * POINT);
        tags->has_mdcv = true;
    }
    if (clli && end - clli >= HEAD + CLLI)
        gf_colour_tags_set_light(tags, gf_get_be(clli + HEAD, 2), gf_get_be(clli + HEAD + 2, 2));
}

/* Copies the cICP. GF_TAGS_HDR stands for JPEG XL, which only keeps its own primaries: BT.709,
 * BT.2020, and P3 with either of its white points. */
bool gf_colour_tags_keep_cicp(const struct gf_colour_tags *tags, enum gf_tags_room room,
                              struct gf_colour_tags *kept)
{
    static const unsigned char primaries[] = {1, 9, 11, 12};
    const unsigned char *const cicp = tags->cicp;
    const bool fits = room > GF_TAGS_HDR || (room == GF_TAGS_HDR && gf_curve_is_hdr(cicp[1]) &&
                                             memchr(primaries, cicp[0], sizeof primaries));
    kept->has_cicp = tags->has_cicp && fits && !cicp[2] && cicp[3];
    memcpy(kept->cicp, cicp, sizeof kept->cicp);
    if (kept->has_cicp)
        keep_light(tags, kept);
    return kept->has_cicp;
}

/* Converts the primaries and the transfer function of a cICP to a colour space that an ICC profile
 * can describe. Returns false if there is none. */
static bool space_of_cicp(const unsigned char *cicp, struct gf_icc_space *space)
{
    static const struct {
        unsigned char number;
        enum gf_icc_curve curve;
        double gamma;
    } known[] = {{1, GF_ICC_BT709, 0},  {4, GF_ICC_POWER, 2.2}, {5, GF_ICC_POWER, 2.8},
                 {6, GF_ICC_BT709, 0},  {8, GF_ICC_POWER, 1},   {13, GF_ICC_SRGB, 0},
                 {14, GF_ICC_BT709, 0}, {15, GF_ICC_BT709, 0}};
    size_t t = 0;
    while (t < sizeof known / sizeof *known && known[t].number != cicp[1])
        t++;
    if (t == sizeof known / sizeof *known || cicp[2] || !cicp[3] ||
        !gf_icc_primaries(cicp[0], space))
        return false;
    space->curve = known[t].curve;
    space->gamma = known[t].gamma;
    if (cicp[0] == BT709 && cicp[1] == LINEAR)
        *space = gf_icc_linear_srgb;
    return true;
}

static void space_of_chunks(const struct gf_colour_tags *tags, char *name, size_t size,
                            struct gf_icc_space *space)
{
    double *const point[4] = {space->white, space->red, space->green, space->blue};
    const bool linear = tags->has_gamma && tags->gamma == 100000;
    bool is_acescg = linear && tags->has_chromaticities;
    *space = gf_icc_acescg;
    for (int i = 0; i < 8; i++)
        is_acescg &= fabs(point[i / 2][i % 2] * 1e5 - tags->chromaticity[i]) < 10;
    if (is_acescg)
        return;
    *space = gf_icc_srgb;
    snprintf(name, size, "linear light");
    if (!linear)
        snprintf(name, size, "%s%s%s of a PNG", tags->has_gamma ? "gAMA" : "",
                 tags->has_gamma && tags->has_chromaticities ? " and " : "",
                 tags->has_chromaticities ? "cHRM" : "");
    space->name = name;
    if (tags->has_gamma) {
        space->curve = GF_ICC_POWER;
        space->gamma = tags->gamma ? 1e5 / tags->gamma : 0;
    }
    for (int i = 0; tags->has_chromaticities && i < 8; i++)
        point[i / 2][i % 2] = tags->chromaticity[i] / 1e5;
}

bool gf_colour_tags_win(const struct gf_colour_tags *tags, bool has_icc)
{
    struct gf_icc_space space;
    if (has_icc)
        return tags->has_cicp &&
               (space_of_cicp(tags->cicp, &space) || gf_curve_is_hdr(tags->cicp[1]));
    return tags->has_cicp || tags->has_srgb || tags->has_gamma || tags->has_chromaticities;
}

bool gf_colour_tags_unsaid(const struct gf_colour_tags *tags, bool has_icc,
                           char text[GF_COLOURS_TEXT_SIZE])
{
    struct gf_icc_space space;
    const unsigned char *const cicp = tags->cicp;
    if ((has_icc && !gf_curve_is_hdr(cicp[1])) || !tags->has_cicp || cicp[1] == UNSPECIFIED ||
        space_of_cicp(cicp, &space))
        return false;
    if (gf_curve_is_hdr(cicp[1]))
        snprintf(text, GF_COLOURS_TEXT_SIZE, "the transfer %s",
                 cicp[1] == GF_CURVE_PQ ? "PQ" : "HLG");
    else
        snprintf(text, GF_COLOURS_TEXT_SIZE, "the colours %d/%d/%d/%d of H.273", cicp[0], cicp[1],
                 cicp[2], cicp[3]);
    return true;
}

size_t gf_colour_tags_profile(const struct gf_colour_tags *tags, bool gray, unsigned char *profile)
{
    char name[GF_ICC_NAME_MOST];
    struct gf_icc_space space = gf_icc_srgb;
    if (tags->has_cicp && space_of_cicp(tags->cicp, &space))
        return gf_icc_make(&space, gray, profile);
    if (tags->has_srgb)
        return gf_icc_make(&gf_icc_srgb, gray, profile);
    if (!tags->has_gamma && !tags->has_chromaticities)
        return 0;
    space_of_chunks(tags, name, sizeof name, &space);
    return gf_icc_make(&space, gray, profile);
}

enum { INKS = 4, COLOURS = 3 };

/* Builds the conversion from the profile. A device link, a profile that converts to one other
 * space, is accepted only if `links` is set: the user has named the profile for this purpose. */
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

/* Opens the conversion of a picture without a usable profile: by options->cmyk_profile, or else by
 * the simple formula (1 - ink)(1 - black). `why` and `detail` are for the warning. */
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
    GF_THEN(status, build(icc, true, cmyk->bits, cmyk, &of_profile));
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
