/* The histograms that a stage may ask for of its input. */
#ifndef GF_STAGE_HISTOGRAM_H
#define GF_STAGE_HISTOGRAM_H

#include <stdint.h>

#include "gpufilter/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is counted. Pixels of zero alpha never are. */
enum gf_statistic {
    GF_STATISTIC_NONE,
    GF_STATISTIC_CHANNELS,  /* each colour channel by itself */
    GF_STATISTIC_LUMA,      /* gf_luma601, or the gray channel */
    GF_STATISTIC_JOINT,     /* all colour channels in one */
    GF_STATISTIC_LIGHTNESS, /* CIELAB L* scaled to 0..M; a gray sample counts as a gray RGB pixel */
    GF_STATISTIC_KINDS
};

struct gf_histogram {
    int channels;    /* colour channels for CHANNELS, else 1 */
    int bins;        /* M + 1 */
    uint64_t *count; /* [channels][bins] */
};

#ifdef __cplusplus
}
#endif
#endif
