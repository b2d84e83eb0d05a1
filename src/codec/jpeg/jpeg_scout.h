/* Finds in parallel where the units (MCUs) of a scan begin. The scan is cut into segments, and a
 * scout walks over each from a guess: that a unit begins with the segment's first bit. After some
 * units Huffman codes resynchronise even from a wrong guess. The positions that a scout has marked
 * are therefore mostly right, and valid from the point on where the walk from the scan's start
 * reaches one of them. */
#ifndef GF_CODEC_JPEG_JPEG_SCOUT_H
#define GF_CODEC_JPEG_JPEG_SCOUT_H

#include "codec/jpeg/jpeg_walk.h"

/* The beginning of a unit, if the scout's guess was right. */
struct gf_jpeg_mark {
    int64_t bit;                    /* position in the input, with stuffed zeros */
    int32_t dc[GF_JPEG_COMPONENTS]; /* sums of the DC differences since the segment's first mark */
};

struct gf_jpeg_segment {
    int64_t end;               /* offset in the input where the next segment begins */
    int count, room;           /* number of marks, which may be 0, and room for them */
    struct gf_jpeg_mark *mark; /* the beginnings of consecutive units */
};

struct gf_jpeg_scouts;

/* Opens scouts for the scan at the offset `begin` of the input. NULL where scouts are of no use, or
 * out of memory. */
struct gf_jpeg_scouts *gf_jpeg_scouts_open(const struct gf_jpeg_unit *unit, struct gf_input *input,
                                           int64_t begin, int threads, int segment_bytes);
void gf_jpeg_scouts_close(struct gf_jpeg_scouts *scouts);
/* Waits for the next segment, and ends the use of the one before. NULL behind the last. */
const struct gf_jpeg_segment *gf_jpeg_scouts_next(struct gf_jpeg_scouts *scouts);

#endif
