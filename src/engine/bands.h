/* How a segment is cut into bands for a backend, and how much memory one of them takes: arithmetic
 * only. */
#ifndef GF_ENGINE_BANDS_H
#define GF_ENGINE_BANDS_H

#include "chain/plan.h"
#include "engine/backend.h"

struct gf_bands {
    int rows, count; /* rows of a band of the result (the last may have fewer), how many */
    int in_rows;     /* most rows of input that a band needs */
    size_t in_pitch, out_pitch;
    size_t in_bytes; /* of a band's input and of its result, at those pitches */
    size_t out_bytes;
    size_t between_bytes; /* of the largest result of a stage; two such buffers alternate */
    size_t scratch_bytes;
};

/* Rows start at multiples of 16 bytes in device memory, and wherever they end in host memory. */
size_t gf_band_pitch(const struct gf_backend *backend, struct gf_format format);

/* Bytes of host memory that bands in flight may take: those of the rings between the codecs and the
 * lanes, and on a unified backend what the stages need. */
struct gf_bands_budget {
    uint64_t bytes;
    bool is_limit; /* else bands do not become so small that their halos are most of the work */
    bool streams_in, streams_out; /* whether the segment reads from, writes to a codec */
};

/* rows: 0 to choose. */
struct gf_bands gf_bands_cut(const struct gf_plan *plan, const struct gf_segment *segment,
                             const struct gf_backend *backend, int rows, int lanes,
                             const struct gf_bands_budget *budget);

/* Rows of the result of band b. */
struct gf_rows gf_bands_rows(const struct gf_bands *bands, const struct gf_segment *segment, int b);

#endif
