/* Adler-32, zlib's checksum, written so that compilers vectorise it. */
#ifndef GF_CODEC_PNG_ADLER_H
#define GF_CODEC_PNG_ADLER_H

#include <stddef.h>
#include <stdint.h>

uint32_t gf_adler32(const uint8_t *data, size_t size);

#endif
