/* Where the rows of units (MCUs) of a JPEG's scan begin in its file. A sequential scan must be
 * walked over to know that; this also finds the first code that is damaged. */
#ifndef GF_CODEC_JPEG_JPEG_INDEX_H
#define GF_CODEC_JPEG_JPEG_INDEX_H

#include "codec/jpeg/jpeg_scout.h"

struct gf_jpeg_index_row {
    int64_t bit;                    /* where the row begins in the input, behind a restart marker */
    int64_t stop;                   /* the offset behind the last byte of the row before */
    int32_t dc[GF_JPEG_COMPONENTS]; /* the DC values that the row's first differences continue */
};

struct gf_jpeg_index {
    const struct gf_jpeg_unit *unit;
    struct gf_input *input;
    int units_across, rows;
    int restart_interval;          /* in units; 0: none */
    struct gf_jpeg_scouts *scouts; /* NULL: the walk goes alone */
    struct gf_jpeg_bits bits;
    int64_t units;                  /* so far, where there are scouts */
    int32_t dc[GF_JPEG_COMPONENTS]; /* before the next unit */
    int until_restart, restarts;
    int known; /* row[0] to row[known] are known; row[rows] is the scan's end */
    bool damaged;
    struct gf_jpeg_index_row row[];
};

/* NULL when out of memory. The scan's first code is at the offset `begin` of the input. With more
 * than one thread, scouts walk ahead; segment_bytes of 0 lets them choose. */
struct gf_jpeg_index *gf_jpeg_index_open(const struct gf_jpeg_unit *unit, int units_across,
                                         int rows, int restart_interval, struct gf_input *input,
                                         int64_t begin, int threads, int segment_bytes);
void gf_jpeg_index_close(struct gf_jpeg_index *index);
/* Walks until it is known where row `row` begins. False where damage, or what is unusual, comes
 * first. The last row is known only if the end marker follows it. */
bool gf_jpeg_index_reach(struct gf_jpeg_index *index, int row);

#endif
