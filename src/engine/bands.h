/* Cuts a segment into bands for a backend and computes how much memory a band takes. */
#ifndef GF_ENGINE_BANDS_H
#define GF_ENGINE_BANDS_H

#include "chain/plan.h"
#include "engine/backend.h"

static inline size_t gf_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

struct gf_bands {
    int rows;     /* of a band of the result; the last band may have fewer */
    int count;    /* of bands */
    bool tapered; /* the first two and the last two bands are smaller */
    int in_rows;  /* the most rows of input that a band needs */
    size_t in_pitch, out_pitch;
    size_t in_bytes, out_bytes; /* the size of a band's input and of its result, at those pitches */
    size_t between_bytes;       /* the size of the largest result of a stage; two such buffers
                                 * alternate */
    size_t scratch_bytes;
};

/* Rows begin at multiples of 16 bytes in device memory; on a unified backend they are packed. */
size_t gf_band_pitch(const struct gf_backend *backend, struct gf_format format);

/* How much host memory the bands in flight may take: the rings between the codecs and the lanes,
 * and on a unified backend the stages' buffers. */
struct gf_bands_budget {
    uint64_t bytes;
    bool is_limit; /* the budget holds even where bands become so small that halos dominate */
    bool streams_in, streams_out; /* the segment reads from a codec, writes to a codec */
};

/* `rows` is the number of rows of a band; 0 lets the backend and the budget decide. */
struct gf_bands gf_bands_cut(const struct gf_plan *plan, const struct gf_segment *segment,
                             const struct gf_backend *backend, int rows, int lanes,
                             const struct gf_bands_budget *budget);

/* The rows of the result that belong to band b. */
struct gf_rows gf_bands_rows(const struct gf_bands *bands, const struct gf_segment *segment, int b);

#endif
