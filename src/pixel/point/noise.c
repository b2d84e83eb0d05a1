/* Noise: the table with which it is added to 8-bit samples, and the operation that adds it. */
#include "pixel/point/noise.h"

#include <math.h>

#include "base/cpu.h"
#include "pixel/point/point_program.h"
#include "pixel/point/point_planes.h"

/* Makes the table for adding normal noise to 8-bit samples. A code is the upper 24 bits of a random
 * word, on which alone the noise depends: it grows with the code. */

enum {
    CODES = 1 << 24,
    BUCKET_CODES = CODES / GF_NOISE_BUCKETS,
    UNITS = 256 >> GF_NOISE_SKIPPED_BITS, /* what one code adds to a sum (gf_noise_sum()) */
    STEPS_MOST = 1500, /* the most steps of the rounded noise on each side of 0, with a margin */
    DOUBT_MOST = BUCKET_CODES / 4
};

static double noise_of(int code, float scale)
{
    return (double)gf_noise_normal(gf_noise_even((uint32_t)code << 8)) * (double)scale;
}

/* Returns the first code from `from` on whose noise is at least `least`; CODES if there is none. */
static int first_code(double least, float scale, int from)
{
    int end = CODES;
    while (from < end) {
        const int middle = from + (end - from) / 2;
        if (noise_of(middle, scale) < least)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* If noise is closer to a step than this, rounding to float can change the result: its sum with a
 * sample is below 256 and is rounded twice, by at most 2^-17 each time. */
static const double doubtful = 0x1p-16;

/* Where the rounded noise changes from k - 1 to k: for codes first .. end - 1 that is uncertain. */
struct step {
    int first, end;
};

static struct step step_to(int k, float scale, int from)
{
    const double at = k - 0.5;
    struct step step;
    step.first = first_code(at - doubtful, scale, from);
    step.end = first_code(at + doubtful, scale, step.first);
    return step;
}

static uint32_t bucket_of(int index, int value, int fraction)
{
    return ((uint32_t)value << GF_NOISE_FRACTION_BITS) + (uint32_t)fraction -
           ((uint32_t)index << (GF_NOISE_REST_BITS - GF_NOISE_SKIPPED_BITS));
}

/* Enters the step in the buckets that contain it. `crossed` counts the steps of each bucket, which
 * can be used only if that is 1. */
static void mark_step(uint32_t *buckets, uint8_t *crossed, struct step step, int k, int doubt)
{
    const int middle = step.first + (step.end - step.first) / 2;
    const int most = step.end > step.first ? step.end - 1 : step.first;
    for (int i = step.first / BUCKET_CODES; i <= most / BUCKET_CODES && i < GF_NOISE_BUCKETS; i++) {
        /* How many codes of the bucket come before its sum gets the next higher noise. */
        const int before = middle - doubt - i * BUCKET_CODES;
        buckets[i] = crossed[i]++
                         ? bucket_of(i, GF_NOISE_UNKNOWN, 0)
                         : bucket_of(i, k - 1, (1 << GF_NOISE_FRACTION_BITS) - before * UNITS);
    }
}

uint32_t gf_noise_buckets(float scale, uint32_t *buckets)
{
    static const int half = 1 << (GF_NOISE_FRACTION_BITS - 2);
    uint8_t crossed[GF_NOISE_BUCKETS] = {0};
    const int least = (int)floor(noise_of(0, scale) + 0.5);
    const int most = (int)floor(noise_of(CODES - 1, scale) + 0.5);
    if (!(scale > 0) || least < -STEPS_MOST || most > STEPS_MOST)
        return 0;
    int doubt = 1, from = 0;
    for (int k = least; k <= most + 1; k++) { /* the steps in the middle have the most codes */
        const struct step step = step_to(k, scale, from);
        while (2 * doubt < step.end - step.first + 2)
            doubt *= 2;
        from = step.first;
    }
    if (doubt > DOUBT_MOST)
        return 0;
    from = 0;
    int bucket = 0;
    for (int k = least; k <= most + 1; k++) {
        const struct step step = step_to(k, scale, from);
        for (; bucket < GF_NOISE_BUCKETS && bucket * BUCKET_CODES < step.first; bucket++) {
            if (!crossed[bucket])
                buckets[bucket] = bucket_of(bucket, k - 1, half);
        }
        if (step.end > 0)
            mark_step(buckets, crossed, step, k, doubt);
        from = step.first;
    }
    for (; bucket < GF_NOISE_BUCKETS; bucket++) {
        if (!crossed[bucket])
            buckets[bucket] = bucket_of(bucket, most, half);
    }
    return 2u * (uint32_t)doubt * UNITS;
}

void gf_point_noise(struct gf_point_builder *builder, const struct gf_point_noise *noise)
{
    const double max = gf_sample_max(builder->format), normal = noise->normal;
    /* Uniform numbers in -1..1 have a standard deviation of sqrt(1/3). */
    const double scale = noise->sigma * max * (normal ? 1 : sqrt(3));
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_NOISE,
                                                  .max = (float)max,
                                                  .a = (float)scale,
                                                  .b = (float)normal,
                                                  .c = (float)noise->seed,
                                                  .d = (float)noise->same});
}

/* Computes the random words of a piece of pixels that begins at column x of row y. */
GF_TARGET_CLONES static void find_words(uint32_t x, uint32_t y, uint32_t seed,
                                        uint32_t (*restrict word)[GF_PIECE])
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_noise noise = gf_noise_at(x + (uint32_t)i, y, seed);
        word[0][i] = noise.word[0];
        word[1][i] = noise.word[1];
        word[2][i] = noise.word[2];
    }
}

GF_TARGET_CLONES static void add_normal(const struct gf_point_op op, const uint32_t *restrict word,
                                        float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_clamp(fmaf(gf_noise_normal(gf_noise_even(word[i])), op.a, v[i]), op.max);
}

GF_TARGET_CLONES static void add_even(const struct gf_point_op op, const uint32_t *restrict word,
                                      float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_clamp(fmaf(gf_noise_even(word[i]), op.a, v[i]), op.max);
}

void gf_planes_noise(const struct gf_point_op *op, int colours, int x, int y, struct gf_planes *p)
{
    uint32_t word[3][GF_PIECE];
    find_words((uint32_t)x, (uint32_t)y, (uint32_t)op->c, word);
    for (int c = 0; c < colours; c++) {
        const uint32_t *const from = word[op->d != 0 ? 0 : c];
        if (op->b != 0)
            add_normal(*op, from, p->colour[c]);
        else
            add_even(*op, from, p->colour[c]);
    }
}
