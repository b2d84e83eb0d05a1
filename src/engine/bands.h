/* Cuts a segment into bands for a backend and computes how much memory a band takes. */
#pragma once

#include "chain/plan.h"
#include "engine/backend.h"

static inline size_t gf_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

struct gf_bands {
    int rows;     /* the rows of a band of the result; the last band may have fewer */
    int count;    /* the number of bands */
    bool tapered; /* the first two and the last two bands are smaller */
    int in_rows;  /* the largest number of input rows that a band needs */
    size_t in_pitch, out_pitch;
    size_t in_bytes, out_bytes; /* the bytes of a band's input and of its result, with these
                                 * pitches */
    size_t between_bytes;       /* the bytes of the largest result of a stage; two such buffers are
                                 * used in turns */
    size_t scratch_bytes;
};

/* Returns the pitch of a band's rows. In device memory rows begin at multiples of 16 bytes; on a
 * unified backend they are packed. */
size_t gf_band_pitch(const struct gf_backend *backend, struct gf_format format);

/* The host memory for the bands that are worked on: for the rings between the codecs and the lanes,
 * and on a unified backend for the stages' buffers. */
struct gf_bands_budget {
    uint64_t bytes;
    bool is_limit; /* the budget holds even if bands become so small that halos dominate */
    bool streams_in, streams_out; /* the segment reads from a codec; it writes to a codec */
};

/* Cuts a segment into bands of `rows` rows; 0: the backend and the budget determine the rows. */
struct gf_bands gf_bands_cut(const struct gf_plan *plan, const struct gf_segment *segment,
                             const struct gf_backend *backend, int rows, int lanes,
                             const struct gf_bands_budget *budget);

/* Returns the rows of the result that belong to band b. */
struct gf_rows gf_bands_rows(const struct gf_bands *bands, const struct gf_segment *segment, int b);
