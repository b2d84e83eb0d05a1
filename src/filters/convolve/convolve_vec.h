/* Sums of products of bytes for one width of vectors (base/vec.h): VEC_BYTES samples of four rows
 * at a time. */
#include "base/vec.h"

/* Interleaves samples of four rows to words, up to the next multiple of 64. */
VEC_TARGET static void V(make_words)(const unsigned char *const *rows, size_t count, uint32_t *to)
{
    for (size_t x = 0; x < (count + VECTOR - 1) / VECTOR * VECTOR; x += VEC_BYTES) {
        V(bytes) row[LINES], words[4];
        for (int i = 0; i < LINES; i++)
            row[i] = V(load)(rows[i] + x);
        V(interleave)(row, words);
        for (int i = 0; i < 4; i++)
            V(store)(to + x + i * VEC_INTS, words[i]);
    }
}

VEC V(bytes) V(shifted)(const struct gf_convolve_bytes *bytes, const V(ints) * sum)
{
    V(ints) words[4];
    for (int i = 0; i < 4; i++)
        words[i] = sum[i] >> bytes->shift;
    return V(pack)(words);
}

/* Computes gf_round_flat(gf_convolve_finish()) in each lane. */
VEC V(bytes) V(exact)(const struct gf_convolve_bytes *bytes, const V(ints) * sum)
{
    V(ints) words[4];
    for (int i = 0; i < 4; i++) {
        V(floats) v = __builtin_convertvector(sum[i], V(floats)) * bytes->scale;
        if (bytes->divisor != 1.0f)
            v /= bytes->divisor;
        v = V(clamp)(v + bytes->bias, 255.0f);
        words[i] = __builtin_convertvector(v + 0.5f, V(ints));
    }
    return V(pack)(words);
}

VEC V(bytes) V(end_at)(float scale, float shift, const V(ints) * sum)
{
    const V(floats) none = {0};
    V(ints) words[4];
    for (int i = 0; i < 4; i++) {
        const V(floats) v = __builtin_convertvector(sum[i], V(floats));
        words[i] = __builtin_convertvector(V(add_product)(v, none + scale, none + shift), V(ints));
    }
    return V(pack)(words);
}

/* Computes the sums for `parts` vectors of words of each line; with `brief`, in 16 bits. */
VEC void V(sum_parts)(const struct gf_convolve_bytes *bytes, const uint32_t *const *group, int step,
                      size_t x, const bool brief, const int parts, V(ints) (*sums)[4])
{
    const struct gf_convolve_quad *const quad = bytes->quad;
    const V(ints) none = {0}, start = none + bytes->start;
    const int quads = bytes->count;
    V(ints) sum[LINES][4];
#pragma GCC unroll 4
    for (int line = 0; line < LINES; line++)
#pragma GCC unroll 4
        for (int i = 0; i < parts; i++)
            sum[line][i] = brief ? none : start;
    for (int q = 0; q < quads; q++) {
        const uint32_t *const at = group[quad[q].group] + (ptrdiff_t)quad[q].column * step + x;
        V(bytes) words[4];
#pragma GCC unroll 4
        for (int i = 0; i < parts; i++)
            words[i] = V(load)(at + i * VEC_INTS);
#pragma GCC unroll 4
        for (int line = 0; line < LINES; line++) {
            const V(bytes) tap = (V(bytes))(none + quad[q].tap[line]);
#pragma GCC unroll 4
            for (int i = 0; i < parts; i++)
                sum[line][i] =
                    brief ? (V(ints))V(add_short_products)((V(words))sum[line][i], words[i], tap)
                          : V(add_products)(sum[line][i], words[i], tap);
        }
    }
#pragma GCC unroll 4
    for (int line = 0; line < LINES; line++)
#pragma GCC unroll 4
        for (int i = 0; i < parts; i++)
            sums[line][i] = brief ? V(add_words)(start, (V(words))sum[line][i]) : sum[line][i];
}

VEC bool V(lines)(const struct gf_convolve_bytes *bytes, const enum gf_convolve_end end,
                  const bool brief, const uint32_t *const *group, int step, size_t count,
                  unsigned char *const *out, unsigned char *const *doubt)
{
    /* Parts of the sums that are computed at a time, as many as registers allow. */
    enum { PARTS = VEC_BYTES == 64 ? 4 : 2 };
    uint64_t any = 0;
    for (size_t x = 0; x < count; x += VEC_BYTES) {
        V(ints) sum[LINES][4], some[LINES][4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            if (i % PARTS == 0)
                V(sum_parts)(bytes, group, step, x + (size_t)i * VEC_INTS, brief, PARTS, some);
#pragma GCC unroll 4
            for (int line = 0; line < LINES; line++)
                sum[line][i] = some[line][i % PARTS];
        }
#pragma GCC unroll 4
        for (int line = 0; line < LINES; line++) {
            const V(bytes) found = end == GF_CONVOLVE_SHIFT ? V(shifted)(bytes, sum[line])
                                   : end == GF_CONVOLVE_EXACT
                                       ? V(exact)(bytes, sum[line])
                                       : V(end_at)(bytes->scale, bytes->low, sum[line]);
            if (end == GF_CONVOLVE_NEAR) {
                const V(bytes) high = V(end_at)(bytes->scale, bytes->high, sum[line]);
                const uint64_t mask = V(differ)(found, high);
                memcpy(doubt[line] + x / 8, &mask, VEC_BYTES / 8);
                any |= mask;
            }
            if (count - x >= VEC_BYTES)
                V(store)(out[line] + x, found);
            else
                V(store_first)(out[line] + x, count - x, found);
        }
    }
    return any != 0;
}

VEC_TARGET static bool V(convolve)(const struct gf_convolve_bytes *bytes,
                                   const uint32_t *const *group, int step, size_t count,
                                   unsigned char *const *out, unsigned char *const *doubt)
{
    const bool brief = bytes->brief && VEC_BYTES < 64;
#define BY_END(end_) \
    if (bytes->end == (end_)) \
        return brief ? V(lines)(bytes, end_, VEC_BYTES < 64, group, step, count, out, doubt) \
                     : V(lines)(bytes, end_, false, group, step, count, out, doubt);
    BY_END(GF_CONVOLVE_SHIFT)
    BY_END(GF_CONVOLVE_EXACT)
    return V(lines)(bytes, GF_CONVOLVE_NEAR, false, group, step, count, out, doubt);
}

#undef BY_END
#undef VEC_BYTES
