/* Reads eight bytes as one number. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Returns eight bytes as a number. The first byte is the lowest, on every machine. */
static inline uint64_t gf_load64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}
