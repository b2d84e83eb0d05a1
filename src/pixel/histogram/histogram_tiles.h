/* Counts bins on the CPU, for histograms of whole pictures and of tiles. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "pixel/histogram/histogram.h"

/* The number of tables in which successive bins are counted in turns, because incrementing a
 * counter twice in a row waits for the first store. */

enum { GF_HISTOGRAM_TURNS = 4 };

/* Counts bins 0..255. Bin 256 collects pixels that are not counted. */
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

/* Counts bytes as bins. One load reads eight bytes. */
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

/* Counts bins 0..65535. Pixels with larger numbers are not counted. */
static inline void gf_count_16(const uint32_t *bin, int n, uint64_t *count)
{
    for (int i = 0; i < n; i++) {
        if (bin[i] < 65536)
            count[bin[i]]++;
    }
}

/* Computes the luma of n pixels. A pixel with zero alpha gets M + 1, where M is the largest
 * sample. */
void gf_histogram_luma(const void *in, int n, struct gf_format format, uint32_t *bin);
/* Does gf_histogram_add() for all statistics but TILES. */
void gf_histogram_add_whole(const struct gf_view *view, enum gf_statistic statistic,
                            struct gf_histogram *histogram);
