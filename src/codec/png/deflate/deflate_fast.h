/* Deflate for PNG's compression level 1: literals and the matches of deflate_code.h in one block
 * whose Huffman codes are fitted to the whole piece. README.md defines the bytes, which GPUs write,
 * too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes for which `out` must have room. */
size_t gf_deflate_fast_bound(size_t size);
/* Returns the bytes for which `scratch` must have room. */
size_t gf_deflate_fast_scratch(size_t size);

/* Writes blocks of a raw deflate stream and returns their size in bytes. Unless they are the `last`
 * blocks of the stream, they end at a whole byte, so that others can follow. They refer to nothing
 * before `data`, which has at least one byte. */
size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, void *scratch, uint8_t *out);
