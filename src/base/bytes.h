/* Bytes as numbers: a hash of many, a few big-endian ones, and eight as one 64-bit word. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash function FNV-1a with 64 bits. It identifies data and finds accidental damage; it does
 * not protect against attacks. (G. Fowler, L. C. Noll, K.-P. Vo:
 * http://www.isthe.com/chongo/tech/comp/fnv/) */
#define GF_HASH_START UINT64_C(0xcbf29ce484222325)

/* Returns the hash of everything that `hash` stands for, followed by these bytes. Begin with
 * GF_HASH_START. */
static inline uint64_t gf_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *const byte = (const unsigned char *)data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Reads a big-endian number of up to 4 bytes. */
static inline uint32_t gf_get_be(const unsigned char *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

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
