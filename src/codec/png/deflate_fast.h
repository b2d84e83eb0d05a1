/* Deflate in one pass for what is left of a photograph after PNG's filters, in which there is
 * little to find again: literals and runs of one byte, with one prefix code for the whole piece,
 * fitted to a sample of it. */
#ifndef GF_CODEC_PNG_DEFLATE_FAST_H
#define GF_CODEC_PNG_DEFLATE_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room that `out` must have. */
size_t gf_deflate_fast_bound(size_t size);

/* Blocks of a raw deflate stream that end at a byte's end: the last ones of the stream, or such
 * that others can follow. Refers to nothing before `data`. Returns their size. */
size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, uint8_t *out);

/* Whether four fifths of it are runs, by a sample: then it is no photograph but something drawn, in
 * which a search for repetitions finds more, in little time. */
bool gf_deflate_mostly_runs(const uint8_t *data, size_t size);

#endif
