/* The hash function FNV-1a with 64 bits. It identifies data and finds accidental damage; it does
 * not protect against attacks. (G. Fowler, L. C. Noll, K.-P. Vo:
 * http://www.isthe.com/chongo/tech/comp/fnv/) */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GF_HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues `hash` with the bytes. The first call starts with GF_HASH_START. */
static inline uint64_t gf_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *const byte = (const unsigned char *)data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}
