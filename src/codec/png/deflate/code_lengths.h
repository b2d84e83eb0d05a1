/* The arithmetic of code lengths, which the host's encoder and the device's share. */
#pragma once

#include <stdint.h>

#include "base/host_device.h"

/* Shortens the codes that are too long. of_length is the number of codes of each length; codes
 * longer than `longest` count as `longest`. Shorter codes are lengthened until all codes fit. */
GF_HOST_DEVICE void gf_huffman_bound(int *of_length, int longest)
{
    uint32_t taken = 0; /* the part of the 1 << longest codes that is used */
    for (int length = 1; length <= longest; length++)
        taken += (uint32_t)of_length[length] << (longest - length);
    for (; taken > 1u << longest; taken--) {
        int length = longest - 1;
        while (!of_length[length])
            length--;
        /* Two codes of the next length replace a code of this length. One of them replaces a code
         * of the greatest length, which becomes free. */
        of_length[length]--;
        of_length[length + 1] += 2;
        of_length[longest]--;
    }
}

/* Returns the number of symbols up to the last symbol that occurs, but at least `least`. */
GF_HOST_DEVICE int gf_huffman_used(const uint8_t *lengths, int symbols, int least)
{
    while (symbols > least && !lengths[symbols - 1])
        symbols--;
    return symbols;
}
