/* The 3x3 and 5x5 medians of one row, for one sample type. Before each inclusion define SAMPLE, its
 * type in memory SAMPLE_ANY, which needs no alignment, and SAMPLE_NAME(name). The file undefines
 * them at its end. */

#define NET GF_INLINE
#define NET_TYPE SAMPLE
#define NET_MIN(a, b) ((a) < (b) ? (a) : (b))
#define NET_MAX(a, b) ((a) > (b) ? (a) : (b))
#define NET_NAME(name) SAMPLE_NAME(name)
#include "filters/median/median_net.h"

/* Computes a row of medians. rows[i] points to the first sample of the window's row i; columns are
 * `step` samples apart. Each column is sorted once for all windows that contain it. Each rank of
 * the columns has a plane of `room` samples. */
GF_TARGET_CLONES static void SAMPLE_NAME(median3_row)(const SAMPLE_ANY *const *rows,
                                                      SAMPLE *restrict plane, size_t room,
                                                      SAMPLE_ANY *restrict out, size_t count,
                                                      size_t step)
{
    SAMPLE *const low = plane, *const middle = plane + room, *const high = plane + 2 * room;
    const SAMPLE_ANY *const top = rows[0], *const centre = rows[1], *const bottom = rows[2];
    for (size_t i = 0; i < count + 2 * step; i++) {
        SAMPLE v[3] = {top[i], centre[i], bottom[i]};
        SAMPLE_NAME(net_sort3)(v);
        low[i] = v[0];
        middle[i] = v[1];
        high[i] = v[2];
    }
    for (size_t i = 0; i < count; i++) {
        const size_t j = i + step, k = j + step;
        SAMPLE rank[3][3] = {
            {low[i], low[j], low[k]},
            {middle[i], middle[j], middle[k]},
            {high[i], high[j], high[k]},
        };
        out[i] = SAMPLE_NAME(net_median3)(rank);
    }
}

GF_TARGET_CLONES static void SAMPLE_NAME(median5_row)(const SAMPLE_ANY *const *rows,
                                                      SAMPLE *restrict plane, size_t room,
                                                      SAMPLE_ANY *restrict out, size_t count,
                                                      size_t step)
{
    const SAMPLE_ANY *const r0 = rows[0], *const r1 = rows[1], *const r2 = rows[2];
    const SAMPLE_ANY *const r3 = rows[3], *const r4 = rows[4];
    SAMPLE *const p0 = plane, *const p1 = p0 + room, *const p2 = p1 + room;
    SAMPLE *const p3 = p2 + room, *const p4 = p3 + room;
    for (size_t i = 0; i < count + 4 * step; i++) {
        SAMPLE v[5] = {r0[i], r1[i], r2[i], r3[i], r4[i]};
        SAMPLE_NAME(net_sort5)(v);
        p0[i] = v[0];
        p1[i] = v[1];
        p2[i] = v[2];
        p3[i] = v[3];
        p4[i] = v[4];
    }
    for (size_t i = 0; i < count; i++) {
        const size_t j = i + step, k = j + step, l = k + step, m = l + step;
        SAMPLE rank[5][5] = {
            {p0[i], p0[j], p0[k], p0[l], p0[m]}, {p1[i], p1[j], p1[k], p1[l], p1[m]},
            {p2[i], p2[j], p2[k], p2[l], p2[m]}, {p3[i], p3[j], p3[k], p3[l], p3[m]},
            {p4[i], p4[j], p4[k], p4[l], p4[m]},
        };
        out[i] = SAMPLE_NAME(net_median5)(rank);
    }
}

/* Computes a row of medians of windows of 3x3 (radius 1) or 5x5, by chunks whose planes stay in the
 * first-level cache. */
static void SAMPLE_NAME(median_row)(const unsigned char *const *rows, int radius, void *planes,
                                    size_t room, unsigned char *out, size_t samples, size_t step)
{
    for (size_t x = 0; x < samples; x += CHUNK) {
        const SAMPLE_ANY *from[SIDES_MAX];
        for (int i = 0; i < 2 * radius + 1; i++)
            from[i] = (const SAMPLE_ANY *)(const void *)rows[i] + x;
        (radius == 1 ? SAMPLE_NAME(median3_row)
                     : SAMPLE_NAME(median5_row))(from, planes, room, (SAMPLE_ANY *)(void *)out + x,
                                                 samples - x < CHUNK ? samples - x : CHUNK, step);
    }
}

#undef SAMPLE
#undef SAMPLE_ANY
#undef SAMPLE_NAME
