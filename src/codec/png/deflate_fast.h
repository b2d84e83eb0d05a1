/* Deflate in one pass, for photographs after PNG's filters: little in them repeats. It writes only
 * literals and runs of one byte, with one prefix code for the whole piece, fitted to a sample. */
#ifndef GF_CODEC_PNG_DEFLATE_FAST_H
#define GF_CODEC_PNG_DEFLATE_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The room that `out` must have. */
size_t gf_deflate_fast_bound(size_t size);

/* Writes blocks of a raw deflate stream and returns their size. They end at a byte's end, so that
 * others can follow, unless they are the last ones. They refer to nothing before `data`. */
size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, uint8_t *out);

/* Whether four fifths of a sample are runs. The picture is then a drawing, for which a search for
 * repetitions takes little time and saves more. */
bool gf_deflate_mostly_runs(const uint8_t *data, size_t size);

#endif
