/* Conversions from HDR (PQ and HLG) to the colours of ordinary pictures, as tables. They need no
 * Little CMS. */
#pragma once

#include <stdint.h>

#include "gpufilter/status.h"
#include "icc/icc.h"
#include "icc/icc_transform.h"

enum { GF_TONE_WHITE = 203 }; /* cd/m2 of a usual white, by ITU-R BT.2408-7, 3.1 */

enum gf_tone_curve {
    GF_TONE_BT2390,   /* the EETF of ITU-R BT.2390-11, 5.1.4, with a black of 0 */
    GF_TONE_REINHARD, /* L (1 + L / peak^2) / (1 + L), L = 1 is white */
    GF_TONE_CLIP
};

struct gf_tone_wish {
    /* The primaries and the transfer function of the picture, as in struct gf_icc; of floats also
     * GF_CURVE_LINEAR, whose 1 is 203 cd/m2. */
    unsigned char hdr[2];
    const struct gf_icc_space *to; /* the colours of the result; has the curve of sRGB */
    int inputs;                    /* colour channels, 1 or 3 */
    int bits;                      /* bits of a sample, 8 or 16; 32: floats */
    int curve;                     /* enum gf_tone_curve */
    double white; /* the luminance in cd/m2 that becomes white, 203 in ITU-R BT.2408-7, 3.1 */
    double peak;  /* the highest luminance of the picture in cd/m2 */
};

/* Returns the luminance in cd/m2 of a gray sample, 0..1 of the full scale, by the curve GF_CURVE_PQ
 * (SMPTE ST 2084) or GF_CURVE_HLG (ITU-R BT.2100-2 on a display of 1000 cd/m2); of any light by
 * GF_CURVE_LINEAR. */
double gf_tone_luminance(int curve, double sample);

/* Makes the transform, a block from malloc() that the caller frees. */
enum gf_status gf_tone_build(const struct gf_tone_wish *wish, struct gf_icc_transform **transform,
                             struct gf_error *error) GF_CHECKED;

/* The rest makes HDR from an ordinary picture and its gain map, by tables for ISO 21496-1 and Ultra
 * HDR 1.0. The result is PQ with the primaries of BT.2020; the white of the picture is 203 cd/m2.
 * Only the CPU computes it, in a fixed order of operations. */

/* What the samples of one channel of the gain map mean. The light of the result is (light +
 * base_offset) factor - offset, where the factor is
 * 2^(least + (most - least) sample^(1 / gamma)) or, if headroom is not 0, as Apple defines it,
 * 1 + (headroom - 1) (light of the sample by BT.709's curve). */
struct gf_gain_channel {
    double least, most, gamma, base_offset, offset, headroom;
};
/* Returns the factor that a sample of the gain map, 0..1, stands for. */
double gf_gain_factor(const struct gf_gain_channel *channel, double sample);

struct gf_gain_wish {
    struct gf_gain_channel channel[3];
    struct gf_icc base;    /* the profile of the picture without its gain map; size 0: sRGB */
    struct gf_icc colours; /* the profile of the colours in which light is multiplied; size 0: that
                            * of the picture */
};

struct gf_gain;

/* Makes the tables, which gf_gain_free() frees. Fails if a profile consists of more than curves and
 * a matrix, and in a build without Little CMS for any profile. */
enum gf_status gf_gain_build(const struct gf_gain_wish *wish, struct gf_gain **gain,
                             struct gf_error *error) GF_CHECKED;
void gf_gain_free(struct gf_gain *gain);

/* The number of steps between two 8-bit levels in the samples of a resized map. */
enum { GF_GAIN_ONE = 256 };

/* Converts a row of `width` pixels. base: the picture, with 1 or 3 channels of 8 bits; map: the
 * gain map in the size of the picture, with 1 or 3 channels, whose largest sample is 255
 * GF_GAIN_ONE; result: RGB of 16 bits. */
void gf_gain_row(const struct gf_gain *gain, const unsigned char *base, int base_channels,
                 const uint16_t *map, int map_channels, int width, uint16_t *result);
