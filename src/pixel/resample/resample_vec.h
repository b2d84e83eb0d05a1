/* Both passes of resize for 8-bit samples, with vectors of one width (base/vec.h). For each tap, a
 * vector of results of the first pass selects its inputs from groups of bytes. The products are
 * exact (pixel/resample/resample.h), so that the sums equal those of the portable code. */
#include "base/vec.h"

/* Computes vectors first .. end - 1 of the first pass for `count` rows, of which rows[i] begins
 * with byte `from` of the picture's row. Callers pass `count` as a constant. */
VEC void V(make_vectors)(const struct lanes *lanes, int first, int end, const int count,
                         const unsigned char *const *rows, ptrdiff_t from, float max,
                         float *const *out)
{
    const int taps = lanes->taps;
    for (int b = first; b < end; b++) {
        const V(ints) lane = V(selection)(lanes->lane + (size_t)b * VEC_INTS);
        const int *const base = lanes->base + (size_t)b * VEC_GROUPS;
        const float *weight = lanes->weight + (size_t)b * (size_t)taps * VEC_INTS;
        ptrdiff_t at = -from;
        V(floats) sum[LINES];
        for (int i = 0; i < count; i++)
            sum[i] = (V(floats)){0};
        for (int k = 0; k < taps; k++, at += lanes->channels, weight += VEC_INTS) {
            const V(floats) w = V(load_floats)(weight);
            for (int i = 0; i < count; i++) {
                const V(ints) picked = V(select)(V(load_groups)(rows[i] + at, base), lane);
                sum[i] = V(add_product)(__builtin_convertvector(picked, V(floats)), w, sum[i]);
            }
        }
        for (int i = 0; i < count; i++)
            V(store_floats)(out[i] + (size_t)b * VEC_INTS, V(clamp)(sum[i], max));
    }
}

/* Computes all vectors of `count` rows. The last vectors read copies of the rows' ends, since their
 * groups of bytes reach beyond the rows. */
VEC void V(make_lines)(const struct lanes *lanes, const int count, const unsigned char *const *rows,
                       size_t samples, float max, float *const *out)
{
    unsigned char ends[LINES][END_ROOM];
    const unsigned char *end[LINES];
    const ptrdiff_t reach = (ptrdiff_t)(lanes->taps - 1) * lanes->channels + VEC_GROUP;
    int inside = lanes->vectors;
    while (inside && lanes->base[inside * VEC_GROUPS - 1] + reach > (ptrdiff_t)samples)
        inside--;
    V(make_vectors)(lanes, 0, inside, count, rows, 0, max, out);
    if (inside == lanes->vectors)
        return;
    const ptrdiff_t from = lanes->base[inside * VEC_GROUPS];
    const size_t left = samples - (size_t)from;
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < left + (size_t)reach; k += VEC_BYTES)
            V(store)(ends[i] + k, V(load_first)(rows[i] + from + k, k < left ? left - k : 0));
        end[i] = ends[i];
    }
    V(make_vectors)(lanes, inside, lanes->vectors, count, end, from, max, out);
}

VEC_TARGET static void V(lanes_rows)(const struct lanes *lanes, const unsigned char *const *rows,
                                     int count, size_t samples, float max, float *const *out)
{
    if (count == LINES) {
        V(make_lines)(lanes, LINES, rows, samples, max, out);
        return;
    }
    for (int i = 0; i < count; i++)
        V(make_lines)(lanes, 1, rows + i, samples, max, out + i);
}

/* Computes VEC_BYTES samples of the second pass, from sample x on. Packing to bytes limits them to
 * 0..255. */
VEC V(bytes) V(sum_of)(const float *const *rows, const float *weight, int count, size_t x)
{
    V(floats) sum[4] = {{0}, {0}, {0}, {0}};
    V(ints) whole[4];
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 4; i++)
            sum[i] += V(load_floats)(rows[k] + x + VEC_INTS * i) * weight[k];
    for (int i = 0; i < 4; i++)
        whole[i] = __builtin_convertvector(sum[i] + 0.5f, V(ints));
    return V(pack)(whole);
}

VEC_TARGET static void V(lanes_sum)(const float *const *rows, const float *weight, int count,
                                    size_t samples, unsigned char *to)
{
    size_t x = 0;
    for (; x + VEC_BYTES <= samples; x += VEC_BYTES)
        V(store)(to + x, V(sum_of)(rows, weight, count, x));
    if (x < samples)
        V(store_first)(to + x, samples - x, V(sum_of)(rows, weight, count, x));
}

/* Returns the means of two pixels in each of two rows, where the bytes of the two pixels are
 * neighbours. */
VEC V(words) V(means_of_pairs)(V(bytes) above, V(bytes) below)
{
    return (V(add_pairs)(above) + V(add_pairs)(below) + 2) >> 2;
}

/* Halves a gray row once, where neighbouring pixels are neighbouring bytes. */
VEC void V(halve_once_gray)(const unsigned char *a, const unsigned char *b, size_t count,
                            unsigned char *row)
{
    const size_t half = VEC_BYTES / 2;
    size_t x = 0;
    for (; x + VEC_BYTES <= count; x += VEC_BYTES) {
        const unsigned char *const above = a + 2 * x, *const below = b + 2 * x;
        V(store)
        (row + x,
         V(pack_words)(V(means_of_pairs)(V(load)(above), V(load)(below)),
                       V(means_of_pairs)(V(load)(above + VEC_BYTES), V(load)(below + VEC_BYTES))));
    }
    for (; x < count; x += half) {
        const size_t left = 2 * (count - x);
        const V(words) mean =
            V(means_of_pairs)(V(load_first)(a + 2 * x, left), V(load_first)(b + 2 * x, left));
        V(store_first)(row + x, left < VEC_BYTES ? left / 2 : half, V(pack_words)(mean, mean));
    }
}

/* Stores the results of each group, which are in the first half of it: in `v` groups are `apart`
 * bytes apart, and in memory `each` bytes. Only `each` bytes of a half count; the next half
 * overwrites the rest. */
VEC void V(store_halves)(void *to, ptrdiff_t each, V(bytes) v, const int apart)
{
    for (int g = 0; g < VEC_GROUPS; g++)
        memcpy((uint8_t *)to + g * each, (const uint8_t *)&v + g * apart, VEC_GROUP / 2);
}

/* Returns the means of pixels in groups, after the permutation `pairs` has made the bytes to add
 * neighbours. */
VEC V(bytes) V(means_of_groups)(const unsigned char *a, const unsigned char *b, const int *offset,
                                V(bytes) pairs)
{
    const V(words) mean = V(means_of_pairs)(V(permute)(V(load_groups)(a, offset), pairs),
                                            V(permute)(V(load_groups)(b, offset), pairs));
    return V(pack_words)(mean, mean);
}

/* Halves a row of several channels once. A permutation makes the bytes to add neighbours. */
VEC void V(halve_once_colour)(const unsigned char *a, const unsigned char *b, ptrdiff_t samples,
                              int channels, unsigned char *row)
{
    enum { HALF = VEC_GROUP / 2 };
    const int each = HALF / channels * channels, offset[] = {0, 2 * each};
    const ptrdiff_t step = (ptrdiff_t)each * VEC_GROUPS, room = step - each + HALF;
    unsigned char order[VEC_BYTES] = {0}, ends[2][VEC_BYTES], end[VEC_BYTES];
    for (int i = 0; i < VEC_BYTES / 2; i++) {
        const int at = i % HALF, left = 2 * at - at % channels;
        order[2 * i] = (unsigned char)(at < each ? left : 0);
        order[2 * i + 1] = (unsigned char)(at < each ? left + channels : 0);
    }
    const V(bytes) pairs = V(load)(order);
    ptrdiff_t i = 0;
    for (; samples - i >= room; i += step) {
        const V(bytes) mean = V(means_of_groups)(a + 2 * i, b + 2 * i, offset, pairs);
        V(store_halves)(row + i, each, mean, HALF);
    }
    for (; i < samples; i += step) {
        const size_t left = (size_t)(samples - i);
        V(store)(ends[0], V(load_first)(a + 2 * i, 2 * left));
        V(store)(ends[1], V(load_first)(b + 2 * i, 2 * left));
        V(store_halves)(end, each, V(means_of_groups)(ends[0], ends[1], offset, pairs), HALF);
        memcpy(row + i, end, left < (size_t)step ? left : (size_t)step);
    }
}

VEC_TARGET static void V(halve_once)(const unsigned char *a, const unsigned char *b, int count,
                                     int channels, unsigned char *row)
{
    if (channels == 1)
        V(halve_once_gray)(a, b, (size_t)count, row);
    else
        V(halve_once_colour)(a, b, (ptrdiff_t)count * channels, channels, row);
}

/* Adds each two neighbouring pixels of a row of sums, in place, for `count` results. Returns how
 * many whole vectors have made. */
VEC_TARGET static int V(halve)(uint16_t *sums, int count, int channels)
{
    enum { QUARTER = VEC_GROUP / 4 };
    const int each = QUARTER / channels * channels, step = each * VEC_GROUPS;
    const int offset[] = {0, 4 * each};
    uint8_t even[VEC_BYTES] = {0}, odd[VEC_BYTES] = {0};
    for (int i = 0; i < VEC_BYTES; i++) {
        const int at = i % VEC_GROUP / 2, left = 2 * (2 * at - at % channels) + i % 2;
        even[i] = (uint8_t)(at < each ? left : 0);
        odd[i] = (uint8_t)(at < each ? left + 2 * channels : 0);
    }
    const V(bytes) evens = V(load)(even), odds = V(load)(odd);
    const int samples = count * channels;
    int i = 0;
    for (; samples - i >= step - each + QUARTER; i += step) {
        const V(bytes) v = V(load_groups)((const uint8_t *)(sums + 2 * i), offset);
        const V(words) sum = (V(words))V(permute)(v, evens) + (V(words))V(permute)(v, odds);
        /* This store overwrites only sums that have been read. */
        V(store_halves)(sums + i, 2 * each, (V(bytes))sum, VEC_GROUP);
    }
    return i / channels;
}

#undef VEC_BYTES
