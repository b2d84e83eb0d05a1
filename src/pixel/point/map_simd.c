#include "pixel/point/point_planes.h"

#include <string.h>

#include "base/simd.h"

#if GF_X86

/* A table of 256 bytes takes four registers. vpermi2b looks up 64 samples in two registers at a
 * time. */

enum { WIDTH = 64, CHANNELS_MAX = 4, PHASES_MAX = 3 };

struct lookup {
    __m512i table[CHANNELS_MAX][4];
    __mmask64 lanes[PHASES_MAX]
                   [CHANNELS_MAX]; /* the lanes of each channel, for each vector of a period */
};

GF_VBMI GF_INLINE void init(struct lookup *lookup, const uint8_t *table, int channels)
{
    for (int c = 0; c < channels; c++)
        for (int quarter = 0; quarter < 4; quarter++)
            lookup->table[c][quarter] = _mm512_loadu_si512(table + 256 * c + WIDTH * quarter);
}

/* Sets the lanes for a row whose first sample belongs to `channel`. */
GF_VBMI GF_INLINE void begin_with(struct lookup *lookup, int phases, int channels, size_t channel)
{
    memset(lookup->lanes, 0, sizeof lookup->lanes);
    for (int i = 0; i < phases * WIDTH && channels > 1; i++)
        lookup->lanes[i / WIDTH][(channel + (size_t)i) % (size_t)channels] |= (__mmask64)1
                                                                              << i % WIDTH;
}

GF_VBMI GF_INLINE __m512i look_up(const struct lookup *lookup, int phase, const int channels,
                                  __m512i from)
{
    const __mmask64 upper = _mm512_movepi8_mask(from);
    __m512i to = from;
    for (int c = 0; c < channels; c++) {
        const __m512i *const table = lookup->table[c];
        const __m512i low = _mm512_permutex2var_epi8(table[0], from, table[1]);
        const __m512i high = _mm512_permutex2var_epi8(table[2], from, table[3]);
        const __m512i found = _mm512_mask_mov_epi8(low, upper, high);
        to = channels == 1 ? found : _mm512_mask_mov_epi8(to, lookup->lanes[phase][c], found);
    }
    return to;
}

/* Maps up to 64 samples. */
GF_VBMI GF_INLINE void map_some(const struct lookup *lookup, int phase, const int channels,
                                const uint8_t *in, uint8_t *out, size_t count)
{
    const __mmask64 some = count < WIDTH ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0;
    const __m512i from = _mm512_maskz_loadu_epi8(some, in);
    _mm512_mask_storeu_epi8(out, some, look_up(lookup, phase, channels, from));
}

/* Maps a row. Except for the first samples, stores are aligned to cache lines. */
GF_VBMI GF_INLINE void map(const uint8_t *in, uint8_t *out, size_t count, const int channels,
                           const uint8_t *table)
{
    const int phases = channels == 3 ? 3 : 1; /* the number of vectors after which a vector begins
                                               * with channel 0 again */
    const size_t period = (size_t)phases * WIDTH, odd = (uintptr_t)out % WIDTH;
    const size_t head = !odd ? 0 : count < WIDTH - odd ? count : WIDTH - odd;
    struct lookup lookup;
    init(&lookup, table, channels);
    begin_with(&lookup, phases, channels, 0);
    map_some(&lookup, 0, channels, in, out, head);
    begin_with(&lookup, phases, channels, head);
    size_t i = head;
    for (; i + period <= count; i += period) {
        for (int phase = 0; phase < phases; phase++) {
            const size_t at = i + (size_t)phase * WIDTH;
            _mm512_storeu_si512(out + at,
                                look_up(&lookup, phase, channels, _mm512_loadu_si512(in + at)));
        }
    }
    for (int phase = 0; phase < phases && i < count; phase++, i += WIDTH)
        map_some(&lookup, phase, channels, in + i, out + i, count - i);
}

GF_VBMI void gf_map_simd(const uint8_t *in, uint8_t *out, size_t count, int channels,
                         const uint8_t *table)
{
    bool same = true;
    for (int c = 1; c < channels; c++)
        same &= !memcmp(table, table + 256 * (size_t)c, 256);
    GF_BY_CHANNELS(same ? 1 : channels, CHANNELS, map(in, out, count, CHANNELS, table));
}

#endif
