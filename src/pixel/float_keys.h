/* Keys of floats: integers that rise with them. All NaN have one key, which is the largest. */
#pragma once

#include "base/elementary.h"

/* The key of a float has a sign, and that of 0 is 0. */
GF_HOST_DEVICE int32_t gf_key_of_float(float v)
{
    const uint32_t bits = gf_bits_of_float(v),
                   one = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
    return (int32_t)(one ^ (0u - (one >> 31)) >> 1);
}

GF_HOST_DEVICE float gf_float_of_key(int32_t key)
{
    const uint32_t bits = (uint32_t)key;
    return gf_float_of_bits(bits ^ (0u - (bits >> 31)) >> 1);
}

GF_HOST_DEVICE uint16_t gf_key_of_half(uint16_t half)
{
    const uint32_t bits = (half & 0x7fff) > 0x7c00 ? 0x7e00 : half;
    return (uint16_t)(bits & 0x8000 ? ~bits : bits | 0x8000);
}

GF_HOST_DEVICE uint16_t gf_half_of_key(uint16_t key)
{
    return (uint16_t)(key & 0x8000 ? key & 0x7fff : ~key);
}
