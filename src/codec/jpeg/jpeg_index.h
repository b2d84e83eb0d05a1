/* Finds where the rows of units (MCUs) of a JPEG's scan begin in its file. This requires a walk
 * over all codes of a sequential scan, which also finds the first damaged code. */
#pragma once

#include "codec/jpeg/jpeg_walk.h"

/* Scouts find in parallel where the units (MCUs) of a scan begin. The scan is cut into segments,
 * and a scout walks over each from a guess: that a unit begins with the segment's first bit. After
 * some units Huffman codes resynchronise even from a wrong guess. The positions that a scout has
 * marked are therefore mostly right. They are valid from the first position on that the walk from
 * the scan's start reaches, too. */

/* The beginning of a unit, if the scout's guess was right. */
struct gf_jpeg_mark {
    int64_t bit;                    /* position in the input, with stuffed zeros */
    int32_t dc[GF_JPEG_COMPONENTS]; /* sums of the DC differences since the segment's first mark */
};

struct gf_jpeg_segment {
    int64_t end;               /* offset in the input where the next segment begins */
    int count;                 /* number of marks, which may be 0 */
    size_t room;               /* for marks */
    struct gf_jpeg_mark *mark; /* the beginnings of consecutive units */
};

struct gf_jpeg_scouts;

/* Opens scouts for the scan at the offset `begin` of the input. Returns NULL if scouts do not help,
 * or when out of memory. */
struct gf_jpeg_scouts *gf_jpeg_scouts_open(const struct gf_jpeg_unit *unit, struct gf_input *input,
                                           int64_t begin, int threads, int segment_bytes);
void gf_jpeg_scouts_close(struct gf_jpeg_scouts *scouts);
/* Waits for the next segment, and ends the use of the segment before. Returns NULL after the last
 * one. */
const struct gf_jpeg_segment *gf_jpeg_scouts_next(struct gf_jpeg_scouts *scouts);

struct gf_jpeg_index_row {
    int64_t bit;  /* the row's first bit in the input, after a restart marker */
    int64_t stop; /* the offset in the input after the last byte of the row before */
    /* The DC values to which the row's first differences are added. */
    int32_t dc[GF_JPEG_COMPONENTS];
};

struct gf_jpeg_index {
    const struct gf_jpeg_unit *unit;
    struct gf_input *input;
    int units_across, rows;
    int restart_interval;          /* the units between restart markers; 0: there are no restart
                                    * markers */
    struct gf_jpeg_scouts *scouts; /* NULL: one thread walks over all codes */
    struct gf_jpeg_bits bits;
    int64_t units;                  /* number of units that were walked over; only used with
                                     * scouts */
    int32_t dc[GF_JPEG_COMPONENTS]; /* the DC values before the next unit */
    int until_restart, restarts;
    int known; /* rows 0 to `known` are known; row[rows] is the scan's end */
    bool damaged;
    struct gf_jpeg_index_row row[];
};

/* Opens an index; NULL when out of memory. The scan's first code is at the offset `begin` of the
 * input. With more than one thread, scouts walk ahead; their segments have segment_bytes bytes, or
 * with 0 a size that they choose. */
struct gf_jpeg_index *gf_jpeg_index_open(const struct gf_jpeg_unit *unit, int units_across,
                                         int rows, int restart_interval, struct gf_input *input,
                                         int64_t begin, int threads, int segment_bytes);
void gf_jpeg_index_close(struct gf_jpeg_index *index);
/* Walks until the beginning of row `row` is known. Returns false if damage or anything unusual
 * comes before it. The last row counts as known only if the end marker follows it. */
bool gf_jpeg_index_reach(struct gf_jpeg_index *index, int row);
/* Whether the codes do not end with the last row: the ones that fill its last byte up do not
 * follow, or codes of more units do, up to the end. `index` must be new. */
bool gf_jpeg_index_has_more(struct gf_jpeg_index *index);
