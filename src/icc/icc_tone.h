/* Conversions from HDR (PQ and HLG) to the colours of ordinary pictures, as tables. They need no
 * Little CMS. */
#pragma once

#include "gpufilter/status.h"
#include "icc/icc.h"
#include "icc/icc_make.h"
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
double gf_tone_luminance(int transfer, double sample);
/* Returns the PQ sample of light, both 0..1; a light of 1 is 10,000 cd/m2. */
double gf_tone_pq(double light);

/* Makes the transform, a block from malloc(). */
enum gf_status gf_tone_build(const struct gf_tone_wish *wish, struct gf_icc_transform **transform,
                             struct gf_error *error) GF_CHECKED;
