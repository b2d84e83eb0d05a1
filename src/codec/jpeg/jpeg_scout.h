/* Walks over segments of a scan side by side, each from a guess: that a unit (MCU) begins with the
 * segment's first bit. Huffman codes bring a wrong guess into step after some units, so that most
 * of what a scout finds holds for the true walk, once that comes to one of the same positions. */
#ifndef GF_CODEC_JPEG_JPEG_SCOUT_H
#define GF_CODEC_JPEG_JPEG_SCOUT_H

#include "codec/jpeg/jpeg_walk.h"

/* Where a unit begins, if the guess was right. */
struct gf_jpeg_mark {
    int64_t bit;                    /* in the input, whose stuffed zeros count, too */
    int32_t dc[GF_JPEG_COMPONENTS]; /* sums of the differences before it, from any value on */
};

struct gf_jpeg_segment {
    int64_t end;               /* the offset in the input of the next segment */
    int count, room;           /* of marks; there may be none */
    struct gf_jpeg_mark *mark; /* one after another, without a gap */
};

struct gf_jpeg_scouts;

/* `begin` is the offset of the scan in the input. NULL where scouts are of no use, or out of
 * memory. */
struct gf_jpeg_scouts *gf_jpeg_scouts_open(const struct gf_jpeg_unit *unit, struct gf_input *input,
                                           int64_t begin, int threads, int segment_bytes);
void gf_jpeg_scouts_close(struct gf_jpeg_scouts *scouts);
/* Waits for the next segment; the last one is no longer valid. NULL behind the end. */
const struct gf_jpeg_segment *gf_jpeg_scouts_next(struct gf_jpeg_scouts *scouts);

#endif
