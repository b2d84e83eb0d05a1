/* What a file says of its colours without an ICC profile: a PNG's cICP, sRGB, gAMA and cHRM chunks.
 * An output that has such chunks keeps them; others get an ICC profile made of them. */
#ifndef GF_CODEC_COMMON_COLOUR_TAGS_H
#define GF_CODEC_COMMON_COLOUR_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_colour_tags {
    bool has_cicp, has_srgb, has_gamma, has_chromaticities;
    unsigned char cicp[4]; /* ITU-T H.273: primaries, transfer, matrix, full range */
    unsigned char intent;  /* of sRGB, 0..3 */
    uint32_t gamma;        /* 100,000 times the exponent from light to samples */
    /* 100,000 times x and y of white, red, green, blue; signed. */
    int32_t chromaticity[8];
};

/* Whether the tags say something that an ICC profile of the file does not override: cICP comes
 * first, then the profile, sRGB, and last gAMA with cHRM (PNG, third edition, 4.3). */
bool gf_colour_tags_win(const struct gf_colour_tags *tags, bool has_icc);

/* Makes the profile that the tags stand for, in at most GF_ICC_MADE_MOST bytes, and returns its
 * size; 0 where they say nothing that a profile can, as cICP of HDR. A gamma without chromaticities
 * has sRGB's, chromaticities without a gamma have sRGB's curve. */
size_t gf_colour_tags_profile(const struct gf_colour_tags *tags, bool gray, unsigned char *profile);

#endif
