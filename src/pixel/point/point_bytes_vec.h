/* Converts 8-bit RGB to gray, and maps 8-bit samples by tables, with vectors of one width
 * (base/vec.h). */
#include "base/vec.h"

struct V(gray) {
    V(bytes) pixels;     /* the permutation of bytes to red, green, blue, green */
    V(bytes) weights;    /* the weights of these four bytes */
    V(bytes) least, may; /* for STEP: the least sample that becomes 255; 0 in `may`: none does */
};

VEC struct V(gray) V(gray_init)(const struct weights *weights, const struct gf_point_op *step)
{
    const float least = step ? ceilf(step->a) : 0;
    uint8_t pixels[VEC_BYTES];
    int32_t four;
    memcpy(&four, weights->byte, sizeof four);
    for (int i = 0; i < VEC_BYTES; i++)
        pixels[i] = (uint8_t)(3 * (i % VEC_GROUP / 4) + (i % 4 == 3 ? 1 : i % 4));
    return (struct V(gray)){.pixels = V(load)(pixels),
                            .weights = (V(bytes))((V(ints)){0} + four),
                            .least =
                                (V(bytes)){0} + (uint8_t)(least > 0 && least < 256 ? least : 0),
                            .may = (V(bytes)){0} + (uint8_t)(least > 255 ? 0 : 255)};
}

/* Converts as many pixels as a vector has bytes. `steps`: a STEP follows. Only `count` bytes of
 * `in` may be read, unless `inside` is true. */
VEC V(bytes) V(gray_of)(const struct V(gray) * gray, const bool steps, const bool inside,
                        const uint8_t *in, size_t count)
{
    enum { GROUP = 3 * VEC_GROUP / 4, STEP = GROUP * VEC_GROUPS };
    const int offset[] = {0, GROUP};
    V(ints) sum[4];
    for (size_t k = 0; k < 4; k++) {
        const size_t at = STEP * k;
        const V(bytes) v = inside
                               ? V(load_groups)(in + at, offset)
                               : V(load_first_groups)(in + at, offset, at < count ? count - at : 0);
        sum[k] = V(add_products)((V(ints)){0} + 128, V(permute)(v, gray->pixels), gray->weights);
        sum[k] >>= 8;
    }
    const V(bytes) luma = V(pack)(sum);
    return steps ? (V(bytes))(luma >= gray->least) & gray->may : luma;
}

VEC void V(gray_row)(const struct weights *weights, const struct gf_point_op *step,
                     const bool steps, const uint8_t *in, size_t n, uint8_t *out)
{
    enum { READ = 3 * VEC_BYTES + VEC_GROUP / 4 };
    const struct V(gray) gray = V(gray_init)(weights, step);
    size_t i = 0;
    for (; 3 * i + READ <= 3 * n; i += VEC_BYTES)
        V(store)(out + i, V(gray_of)(&gray, steps, true, in + 3 * i, READ));
    for (; i < n; i += VEC_BYTES)
        V(store_first)(out + i, n - i, V(gray_of)(&gray, steps, false, in + 3 * i, 3 * (n - i)));
}

VEC_TARGET static void V(gray)(const struct weights *weights, const struct gf_point_op *step,
                               const uint8_t *in, size_t n, uint8_t *out)
{
    if (step)
        V(gray_row)(weights, step, true, in, n, out);
    else
        V(gray_row)(weights, step, false, in, n, out);
}

struct V(lookup) {
    struct V(table) table[CHANNELS_MAX];
    V(bytes)
    lanes[PHASES_MAX][CHANNELS_MAX]; /* where each table applies, for each vector of a
                                      * period */
};

/* Sets the lanes for samples of which the first belongs to `channel`. */
VEC void V(begin_with)(struct V(lookup) * lookup, const struct tables *tables, const int count,
                       const int phases, size_t channel)
{
    if (tables->channels == 1) {
        lookup->lanes[0][0] = (V(bytes)){0} - 1;
        return;
    }
    for (int phase = 0; phase < phases; phase++) {
        uint8_t lanes[CHANNELS_MAX][VEC_BYTES];
        for (int i = 0; i < VEC_BYTES; i++) {
            for (int t = 0; t < count; t++)
                lanes[t][i] = tables->applies[t][channel];
            channel = channel + 1 < (size_t)tables->channels ? channel + 1 : 0;
        }
        for (int t = 0; t < count; t++)
            lookup->lanes[phase][t] = V(load)(lanes[t]);
    }
}

VEC V(bytes) V(map_of)(const struct V(lookup) * lookup, const int count, int phase, V(bytes) from)
{
    V(bytes) to = from;
    for (int t = 0; t < count; t++) {
        const V(bytes) lanes = lookup->lanes[phase][t];
        to = (to & ~lanes) | (V(look_up)(&lookup->table[t], from) & lanes);
    }
    return to;
}

/* Maps the first n samples of a vector. */
VEC void V(map_some)(const struct V(lookup) * lookup, const int count, int phase, const uint8_t *in,
                     uint8_t *out, size_t n)
{
    V(store_first)(out, n, V(map_of)(lookup, count, phase, V(load_first)(in, n)));
}

/* Maps a row of n samples. Stores are aligned, but for the first samples'. */
VEC void V(map_row)(const struct tables *tables, const int count, const int phases,
                    const uint8_t *in, uint8_t *out, size_t n)
{
    const size_t period = (size_t)phases * VEC_BYTES, odd = (uintptr_t)out % VEC_BYTES;
    const size_t head = !odd ? 0 : n < VEC_BYTES - odd ? n : VEC_BYTES - odd;
    struct V(lookup) lookup;
    for (int t = 0; t < count; t++)
        lookup.table[t] = V(load_table)(tables->table[t]);
    V(begin_with)(&lookup, tables, count, phases, 0);
    V(map_some)(&lookup, count, 0, in, out, head);
    V(begin_with)(&lookup, tables, count, phases, head % (size_t)tables->channels);
    size_t i = head;
    for (; i + period <= n; i += period) {
        for (int phase = 0; phase < phases; phase++) {
            const size_t at = i + (size_t)phase * VEC_BYTES;
            V(store)(out + at, V(map_of)(&lookup, count, phase, V(load)(in + at)));
        }
    }
    for (int phase = 0; phase < phases && i < n; phase++, i += VEC_BYTES)
        V(map_some)(&lookup, count, phase, in + i, out + i, n - i);
}

VEC_TARGET static void V(map_bytes)(const struct tables *tables, const uint8_t *in, uint8_t *out,
                                    size_t n)
{
    if (tables->channels == 3) {
        GF_BY_CHANNELS(tables->count, COUNT, V(map_row)(tables, COUNT, 3, in, out, n));
    } else {
        GF_BY_CHANNELS(tables->count, COUNT, V(map_row)(tables, COUNT, 1, in, out, n));
    }
}

#undef VEC_BYTES
