/* Conversions from HDR (PQ and HLG) to the colours of ordinary pictures, as tables. They need no
 * Little CMS. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "icc/icc.h"
#include "icc/icc_transform.h"

enum gf_tone_curve {
    GF_TONE_BT2390,   /* the EETF of ITU-R BT.2390-11, 5.1.4, with a black of 0 */
    GF_TONE_REINHARD, /* L (1 + L / peak^2) / (1 + L), L = 1 is white */
    GF_TONE_CLIP
};

struct gf_tone_wish {
    unsigned char hdr[2];          /* as in struct gf_icc */
    const struct gf_icc_space *to; /* has the curve of sRGB */
    int inputs;                    /* colour channels, 1 or 3 */
    int bits;                      /* 8 or 16 */
    int curve;                     /* enum gf_tone_curve */
    double white; /* the luminance in cd/m2 that becomes white, 203 in ITU-R BT.2408-7, 3.1 */
    double peak;  /* the highest luminance of the picture in cd/m2 */
};

/* Returns the luminance in cd/m2 of a gray sample, which is a part of the full scale. PQ is that of
 * SMPTE ST 2084; HLG that of ITU-R BT.2100-2 on a display of 1000 cd/m2. */
double gf_tone_luminance(int curve, double sample);

/* Makes the transform, a block from malloc(). */
enum gf_status gf_tone_build(const struct gf_tone_wish *wish, struct gf_icc_transform **transform,
                             struct gf_error *error) GF_CHECKED;

/* HDR from an ordinary picture and its gain map, by tables that stand for ISO 21496-1 and Ultra
 * HDR 1.0. The result is PQ with the primaries of BT.2020; the white of the picture is 203 cd/m2.
 * Only the CPU computes it, in a fixed order of operations. */

/* What the samples of one channel of the map mean. The light of the result is
 * (light + base_offset) factor - offset, where the factor is
 * 2^(least + (most - least) sample^(1 / gamma)) or, if there is a headroom, as Apple defines it,
 * 1 + (headroom - 1) light of the sample by BT.709. */
struct gf_gain_channel {
    double least, most, gamma, base_offset, offset, headroom;
};
/* Returns the factor of a sample, 0..1. */
double gf_gain_factor(const struct gf_gain_channel *channel, double sample);

struct gf_gain_wish {
    struct gf_gain_channel channel[3];
    struct gf_icc base;    /* the profile of the picture; size 0: sRGB */
    struct gf_icc colours; /* the profile of the light that is multiplied; size 0: that of the
                            * picture */
};

struct gf_gain;

/* Makes the tables, which gf_gain_free() frees. Fails for profiles that are not curves and a
 * matrix, and in a build without Little CMS for any profile. */
enum gf_status gf_gain_build(const struct gf_gain_wish *wish, struct gf_gain **gain,
                             struct gf_error *error) GF_CHECKED;
void gf_gain_free(struct gf_gain *gain);

enum { GF_GAIN_ONE = 256 }; /* the unit of the map's samples between two pixels */

/* Converts a row. base: 1 or 3 channels of 8 bits; map: its row of as many pixels, in which 255
 * GF_GAIN_ONE is the most, with 1 or 3 channels; result: RGB of 16 bits. */
void gf_gain_row(const struct gf_gain *gain, const unsigned char *base, int base_channels,
                 const uint16_t *map, int map_channels, int width, uint16_t *result);
