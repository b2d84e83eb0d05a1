/* Counts bins in several tables by turns: a counter that was just stored cannot be incremented
 * again at once. */
#ifndef GF_PIXEL_HISTOGRAM_HISTOGRAM_TURNS_H
#define GF_PIXEL_HISTOGRAM_HISTOGRAM_TURNS_H

#include <stdint.h>
#include <string.h>

enum { GF_HISTOGRAM_TURNS = 4 };

/* Counts bins 0..255. Bin 256 stands for pixels that do not count. */
static inline void gf_count_8(const uint32_t *bin, int n, uint32_t count[GF_HISTOGRAM_TURNS][257])
{
    int i = 0;
    for (; i + GF_HISTOGRAM_TURNS <= n; i += GF_HISTOGRAM_TURNS) {
        for (int turn = 0; turn < GF_HISTOGRAM_TURNS; turn++)
            count[turn][bin[i + turn]]++;
    }
    for (; i < n; i++)
        count[0][bin[i]]++;
}

/* Counts bytes as bins; one load reads eight. */
static inline void gf_count_bytes(const uint8_t *in, int n, uint32_t count[GF_HISTOGRAM_TURNS][257])
{
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v;
        memcpy(&v, in + i, 8);
        for (int j = 0; j < 8; j++)
            count[j % GF_HISTOGRAM_TURNS][v >> 8 * j & 255]++;
    }
    for (; i < n; i++)
        count[0][in[i]]++;
}

/* Counts bins 0..65535. Larger numbers stand for pixels that do not count. */
static inline void gf_count_16(const uint32_t *bin, int n, uint64_t *count)
{
    for (int i = 0; i < n; i++) {
        if (bin[i] < 65536)
            count[bin[i]]++;
    }
}

#endif
