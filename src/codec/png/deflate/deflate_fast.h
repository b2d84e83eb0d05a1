/* Deflate for PNG's level 1: literals and the matches of deflate_cells.h, with one prefix code for
 * the whole piece, fitted to all of it. README.md defines the bytes, which GPUs write as well. */
#ifndef GF_CODEC_PNG_DEFLATE_DEFLATE_FAST_H
#define GF_CODEC_PNG_DEFLATE_DEFLATE_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The room that `out` must have. */
size_t gf_deflate_fast_bound(size_t size);
/* The room that `scratch` must have. */
size_t gf_deflate_fast_scratch(size_t size);

/* Writes blocks of a raw deflate stream and returns their size. They end at a byte's end, so that
 * others can follow, unless they are the last ones. They refer to nothing before `data`, which has
 * at least one byte. */
size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, void *scratch, uint8_t *out);

#endif
